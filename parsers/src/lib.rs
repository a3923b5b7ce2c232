//! Readers: from the bytes of a capture to [`Line`]s, one per physical line.
//!
//! In:   the text of strace, truss, kernel logs …, in chunks of whole lines
//! Out:  one [`Line`] per physical line, with texts interned per chunk
//!
//! Everything here depends on one line only. What needs other lines (joining halves, clocks that pass midnight, reused ids)
//! is done by the assembler in the engine. So chunks can be read on all cores in any order.
#![deny(missing_docs)]

pub mod cached_lines;
pub mod call;
pub mod capture_facts;
pub mod dtruss;
mod elision;
mod envelope;
pub mod error_names;
pub mod facts;
pub mod format;
pub mod format_list;
pub mod fs_usage;
pub mod gvisor;
pub mod input;
pub mod interner;
mod json_text;
pub mod kdump;
pub mod kernel_log;
pub mod line;
pub mod line_cache;
pub mod ltrace;
mod other_format;
pub mod other_tools;
pub mod perf_data;
pub mod perf_file;
pub mod perf_trace;
pub mod procmon;
mod prompt;
mod quoting;
pub mod random_name;
pub mod scan;
pub mod sched;
mod stack;
pub mod strace;
pub mod strace_macos;
pub mod syscalls;
pub mod sysdig;
pub mod text;
pub mod truss_aix;
mod truss_common;
pub mod truss_freebsd;
pub mod truss_solaris;

pub use cached_lines::{CachedLines, ChunkLines, Content, LineRef};
pub use capture_facts::{CaptureFacts, Clock, DurKind, EnvelopeFacts, LEAP_YEAR_NS, StampMoment};
pub use elision::is_elision;
pub use envelope::choose_reader;
pub use facts::Fact;
pub use format::{Format, Head, LineReader, Parsed, Recognition};
pub use format_list::{FORMATS, by_name, recognise};
pub use interner::{Interner, NewTexts};
pub use line::{CallPart, Extra, Line, LineKind, NO_ID, NO_NS, Outcome};
pub use line_cache::LineParts;
pub use text::Text;
