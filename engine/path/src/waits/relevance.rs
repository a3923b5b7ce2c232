//! The calls that the walk must examine, selected by shape: most calls neither end a wait nor wait for another task.
//!
//! A normalised target starts and ends like the printed one wherever a name has no digits, so it shows the kind of
//! object. If a shape leaves it open, its calls are examined one by one.

use crate::waits::file_watch::changes::Changes;
use crate::waits::shape_facts::{Effect, ShapeFacts};
use parsers::Outcome;
use parsers::syscalls::{Class, Wait};
use trace::store::targets::{
    TerminalSide, is_eventfd, is_signalfd, may_be_stream, side, tells_changes,
};

/// Facts about a trace that precede the examination of its calls.
#[derive(Clone, Copy)]
pub(super) struct Makes {
    /// Some call creates a fifo, so that any path may be one.
    pub fifos: bool,
    /// The file changes that watches request.
    pub watched: Changes,
}

impl Makes {
    fn may_be_stream(self, target: &[u8]) -> bool {
        !target.is_empty() && (self.fifos || may_be_stream(target))
    }
}

/// Whether calls of a shape are evidence for wakers; see the `take` of each kind of waker.
pub(super) fn is_told(known: &ShapeFacts, target: &[u8], makes: Makes) -> bool {
    let by_deed = match known.deed {
        Effect::Nothing | Effect::Closes => false,
        Effect::Writes => side(target) != TerminalSide::Other,
        Effect::Opens => side(target) == TerminalSide::Master,
        _ => true,
    };
    let fails = known.outcome != Outcome::Ok && known.check.is_hindered();
    let watched = known.changes.meets(makes.watched) || known.makes.meets(makes.watched);
    by_deed
        || watched
        || fails
        || known.may_sleep
        || known.at_address
        || makes.may_be_stream(target)
}

/// Whether no other task ends calls of a shape: they work until they are done.
///
/// Calls that may end a poll loop, or wait for a vfork child, need a separate check.
pub(super) fn works(known: &ShapeFacts, target: &[u8], makes: Makes) -> bool {
    match known.wait {
        None if known.deed == Effect::Opens => !makes.fifos,
        // The destination of the move is not part of its shape.
        None if known.deed == Effect::Moves => false,
        None if known.deed == Effect::Counts => false,
        None => known.deed != Effect::Writes || !makes.may_be_stream(target),
        Some(Wait::Read) => {
            let of_file = !matches!(known.class, Class::Ipc | Class::Terminal | Class::Network);
            let by_others = known.at_address
                || makes.may_be_stream(target)
                || is_eventfd(target)
                || is_signalfd(target)
                || tells_changes(target);
            of_file && !known.interrupted && !by_others && side(target) == TerminalSide::Other
        }
        Some(_) => false,
    }
}
