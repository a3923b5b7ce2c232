//! Tables of how a run ended: the last calls of each process, what failed, and what was still open. Each is one file and
//! one name in the list below.

kit::tables! {
    captures,
    pub endings,
    entropy_waits,
    error_counts,
    excerpts,
    open_calls,
    ;
    endings::calls,
    endings::cycles,
    endings::failures,
    endings::foreign_lines,
    endings::questions,
    endings::targets,
    endings::texts,
}
