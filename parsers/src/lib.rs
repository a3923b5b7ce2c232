//! Readers: the bytes of a capture to [`Line`]s, one per physical line.
//!
//! In:   the text of strace, truss, kernel logs …, in chunks of whole lines
//! Out:  one [`Line`] per physical line, texts interned per chunk
//!
//! Everything here is local to a line. What needs memory of other lines (joining halves, clocks that run over midnight,
//! reused ids) is the work of the assembler in the engine. So chunks can be read on all cores in any order.
#![deny(missing_docs)]

pub mod bodies;
pub mod call;
pub mod dtruss;
pub mod error_names;
pub mod format;
pub mod input;
pub mod kdump;
pub mod kernel_log;
pub mod line;
pub mod ltrace;
pub mod memo;
mod pasted;
pub mod perf_trace;
pub mod scan;
pub mod strace;
pub mod syscalls;
pub mod text;
pub mod truss_aix;
pub mod truss_freebsd;
pub mod truss_solaris;
mod wrapped;

pub use bodies::{Bodies, Lines, Says, Told};
pub use format::{Answer, Clock, DurKind, FORMATS, Facts, Format, Head, LineReader, Parsed, Stamp, by_name, recognise};
pub use line::{Extra, Kind, Line, NO_ID, NO_NS, Outcome, Part};
pub use memo::Parts;
pub use text::{Interner, NewTexts, Text};
pub use wrapped::{Wrapping, reader_of};
