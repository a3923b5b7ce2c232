//! All tests of the engine in one program: linking one per file took longer than running them.

mod appended_runs;
mod attached;
mod cases;
mod claims;
mod coarse_clock;
mod copied_stderr;
mod cores;
mod critical_path;
mod damaged_captures;
mod files_per_task;
mod format_cases;
mod formats;
mod live;
mod other_formats;
mod picture;
mod random;
mod speculation;
mod threshold;
mod time_limits;
mod truss;
mod trust;
mod wait_graph;
mod waiting_tables;
mod wakers;
mod whole;
mod work_spans;
