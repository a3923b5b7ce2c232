//! Which calls the walk has to look at twice, told by their shapes: most calls neither end a wait nor are ended by anybody.
//!
//! A normalised target begins and ends as the printed one does wherever a name has no digits, so it tells what kind of thing
//! it is. Where a shape leaves it open, its calls are looked at one by one.

use crate::store::targets::{TerminalSide, is_eventfd, is_signalfd, may_be_stream, side, tells_changes};
use crate::waits::file_watch::changes::Changes;
use crate::waits::shape_facts::{Effect, ShapeFacts};
use parsers::Outcome;
use parsers::syscalls::{Class, Wait};

/// What is known of a trace before its calls are looked at.
#[derive(Clone, Copy)]
pub(super) struct Makes {
    /// Some call makes a fifo, so that any path may be one.
    pub fifos: bool,
    /// What somebody asks to be told of files.
    pub watched: Changes,
}

impl Makes {
    fn may_be_stream(self, target: &[u8]) -> bool {
        !target.is_empty() && (self.fifos || may_be_stream(target))
    }
}

/// Whether calls of a shape tell something about who ends the waits of others; see the `take` of each kind of waker.
pub(super) fn is_told(known: &ShapeFacts, target: &[u8], makes: Makes) -> bool {
    let by_deed = match known.deed {
        Effect::Nothing | Effect::Closes => false,
        Effect::Writes => side(target) != TerminalSide::Other,
        Effect::Opens => side(target) == TerminalSide::Master,
        _ => true,
    };
    let fails = known.outcome != Outcome::Ok && known.check.is_hindered();
    let watched = known.changes.meets(makes.watched) || known.makes.meets(makes.watched);
    by_deed || watched || fails || known.may_sleep || known.at_address || makes.may_be_stream(target)
}

/// Whether nobody ends calls of a shape: they work until they are done, whatever others do.
///
/// Of those that may end a poll loop, or wait for a child of vfork, that is to be asked besides.
pub(super) fn works(known: &ShapeFacts, target: &[u8], makes: Makes) -> bool {
    match known.wait {
        None if known.deed == Effect::Opens => !makes.fifos,
        // Where it moves things to is not part of its shape.
        None if known.deed == Effect::Moves => false,
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
