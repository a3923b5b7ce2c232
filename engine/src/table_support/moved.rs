//! What tasks read and wrote.

use crate::store::trace::Trace;
use parsers::Text;
use rustc_hash::FxHashSet;

/// What tasks moved.
#[derive(Clone, Default, Debug)]
pub(crate) struct Moved {
    pub read_bytes: i64,
    pub written_bytes: i64,
    /// What was read.
    pub sources: FxHashSet<Text>,
    /// What was written.
    pub sinks: FxHashSet<Text>,
}

impl Moved {
    pub(crate) fn add(&mut self, other: &Moved) {
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.sources.extend(&other.sources);
        self.sinks.extend(&other.sinks);
    }

    /// Whether somebody else wrote into a pipe what these tasks read.
    pub(crate) fn is_fed(&self, trace: &Trace) -> bool {
        self.sources.difference(&self.sinks).any(|&target| is_pipe(trace, target))
    }
}

/// Whether a target is a pipe.
pub(crate) fn is_pipe(trace: &Trace, target: Text) -> bool {
    trace.events.texts.bytes(target).starts_with(b"pipe:")
}
