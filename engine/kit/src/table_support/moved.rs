//! Data that tasks read and wrote.

use parsers::Text;
use rustc_hash::FxHashSet;
use trace::store::trace::Trace;

/// Bytes that tasks transferred, with their sources and sinks.
#[derive(Clone, Default, Debug)]
pub struct Moved {
    /// Bytes read.
    pub read_bytes: i64,
    /// Bytes written.
    pub written_bytes: i64,
    /// Targets of the reads.
    pub sources: FxHashSet<Text>,
    /// Targets of the writes.
    pub sinks: FxHashSet<Text>,
}

impl Moved {
    pub(crate) fn add(&mut self, other: &Moved) {
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.sources.extend(&other.sources);
        self.sinks.extend(&other.sinks);
    }

    /// Whether these tasks read from a pipe that other tasks write to.
    pub fn is_fed(&self, trace: &Trace) -> bool {
        self.sources
            .difference(&self.sinks)
            .any(|&target| is_pipe(trace, target))
    }
}

/// Whether the target is a pipe.
pub(crate) fn is_pipe(trace: &Trace, target: Text) -> bool {
    trace.events.texts.bytes(target).starts_with(b"pipe:")
}
