//! Facts about the calls of one shape, computed once per shape: there are few shapes and many calls.

use super::fifos::{Fifos, fifos};
use super::relevance::{self, Makes};
use super::wait_kinds::{
    RESET, fails_at_once, found_no_child, is_broken_off, is_probe, is_timer, resumed,
    resumes_unknown,
};
use crate::waits::candidates::WhenToCheck;
use crate::waits::condition::{self, check_of};
use crate::waits::file_watch::changes::Changes;
use crate::waits::shape_facts::{Effect, ShapeFacts, object_of};
use parsers::syscalls::{Action, Class, Wait, action_of};
use parsers::{Outcome, Text};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use trace::store::classes::class_of;
use trace::store::event::Shape;
use trace::store::index::{ShapeId, TiSlice, TiVec};
use trace::store::targets::{ACCEPTED, is_eventfd, is_host_and_port};
use trace::store::trace::Trace;

/// The shapes of a trace, by number.
#[derive(Default)]
pub(super) struct ShapeEffects {
    known: TiVec<ShapeId, ShapeFacts>,
    /// Their classes in a separate array, because most calls need nothing else.
    classes: TiVec<ShapeId, Class>,
    fifos: Fifos,
    unnamed_pipes: bool,
}

impl ShapeEffects {
    pub(super) fn new(trace: &Trace) -> ShapeEffects {
        let all = trace.events.shapes();
        let shapes = all.raw.par_iter().map(|shape| known(trace, shape));
        let mut shapes = TiVec::from(shapes.collect::<Vec<ShapeFacts>>());
        let watched = shapes
            .iter()
            .zip(trace.events.shapes())
            .filter(|(known, _)| known.deed == Effect::Watches);
        let asked =
            watched.map(|(_, shape)| Changes::asked(trace.events.texts.bytes(shape.op)).told_by());
        let watched = asked.fold(Changes::default(), Changes::with);
        let unnamed_pipes = trace.events.shapes().iter().any(is_unnamed_pipe);
        let makes = Makes {
            fifos: shapes.iter().any(|known| known.deed == Effect::MakesFifo),
            watched,
        };
        let addresses = addresses(trace, &shapes);
        let fifos = fifos(trace, &shapes, &addresses);
        shapes
            .raw
            .par_iter_mut()
            .zip(&all.raw)
            .for_each(|(known, shape)| {
                let texts = &trace.events.texts;
                let target = texts.bytes(shape.target);
                if addresses.contains(&shape.target) || target.ends_with(ACCEPTED) {
                    known.at_address = true;
                    let is_used = known.class == Class::Disk
                        && (known.wait.is_some() || known.deed == Effect::Writes);
                    known.class = if is_used { Class::Ipc } else { known.class };
                }
                let is_fifo = fifos.shapes.contains(&shape.target);
                if is_fifo
                    && (known.wait.is_some()
                        || matches!(known.deed, Effect::Opens | Effect::Writes))
                {
                    known.class = Class::Ipc;
                }
                let makes = Makes {
                    fifos: makes.fifos || is_fifo,
                    ..makes
                };
                known.is_told = relevance::is_told(known, target, makes);
                known.works = relevance::works(known, target, makes);
            });
        let targets = trace.events.shapes().iter().map(|shape| shape.target);
        let checks: Vec<_> = targets
            .zip(&shapes)
            .map(|(target, known)| (target, known.check))
            .collect();
        for (known, may_end_poll) in shapes.iter_mut().zip(condition::ending(&checks)) {
            known.may_end_poll = may_end_poll;
        }
        let classes = shapes.iter().map(|known| known.class).collect();
        ShapeEffects {
            classes,
            known: shapes,
            fifos,
            unnamed_pipes,
        }
    }

    /// Whether some call creates a pipe whose descriptors are not printed (`-s 0`), so that writes to descriptors without
    /// names may go there.
    pub(super) fn has_unnamed_pipes(&self) -> bool {
        self.unnamed_pipes
    }

    /// Paths that were not created in the capture but are fifos.
    pub(super) fn fifos(&self) -> &[Text] {
        &self.fifos.names
    }

    #[inline]
    pub(super) fn of(&self, trace: &Trace, row: u32) -> ShapeFacts {
        let number = trace.events.shape_number(row);
        self.known
            .get(number)
            .copied()
            .unwrap_or_else(|| known(trace, &trace.events.shape(row)))
    }

    /// The wait class of the calls of a shape.
    #[inline]
    pub(super) fn class_of(&self, number: ShapeId) -> Class {
        self.classes.get(number).copied().unwrap_or(Class::Other)
    }

    /// Record calls in which the creator waits for the child.
    pub(super) fn take_vforks(&mut self, trace: &Trace, rows: impl Iterator<Item = u32>) {
        for row in rows {
            if let Some(known) = self.known.get_mut(trace.events.shape_number(row)) {
                known.may_vfork = true;
            }
        }
    }

    /// For each shape, whether the walk examines its calls.
    pub(super) fn looks(&self) -> TiVec<ShapeId, WhenToCheck> {
        self.known.iter().map(when_to_check).collect()
    }

    /// The rows of calls with evidence about the waits of others, in order.
    pub(super) fn told(&self, trace: &Trace) -> EffectIndex<'_> {
        // Nearly all calls pass through here without evidence, so one byte per shape decides.
        let is_told: TiVec<ShapeId, bool> = self.known.iter().map(|known| known.is_told).collect();
        EffectIndex {
            shapes: self,
            rows: trace.events.calls_of_shapes(&is_told),
        }
    }

    /// Whether a wait ended with a timeout.
    #[inline]
    pub(super) fn timed_out(&self, trace: &Trace, row: u32) -> bool {
        let known = self.of(trace, row);
        known.fails_late
            || (known.named == Some(Wait::Poll)
                && trace.events.ret(row) == 0
                && trace.events.outcome(row) == Outcome::Ok)
    }

    /// Whether a wait would have blocked, or found nothing to wait for.
    #[inline]
    pub(super) fn failed_at_once(&self, trace: &Trace, row: u32) -> bool {
        let known = self.of(trace, row);
        known.fails_at_once
            || (known.named == Some(Wait::Child) && found_no_child(&trace.events, row))
    }

    /// Whether a row read to the end of its input, or its peer had closed.
    #[inline]
    pub(super) fn found_end(&self, trace: &Trace, row: u32) -> bool {
        let known = self.of(trace, row);
        known.reset || (known.named == Some(Wait::Read) && trace.events.ret(row) == 0)
    }
}

fn when_to_check(known: &ShapeFacts) -> WhenToCheck {
    match known {
        known if known.is_quick_write() => WhenToCheck::Long,
        known if !known.works || known.may_vfork => WhenToCheck::Always,
        known if known.may_end_poll => WhenToCheck::Checks,
        _ => WhenToCheck::Never,
    }
}

/// The rows of calls with evidence about the waits of others, with their shapes, in order.
pub(super) struct EffectIndex<'shapes> {
    shapes: &'shapes ShapeEffects,
    rows: Vec<Vec<(u32, ShapeId)>>,
}

impl EffectIndex<'_> {
    /// Iterate over them, with the facts about their shapes.
    pub(super) fn each(&self, mut take: impl FnMut(u32, ShapeFacts)) {
        self.rows
            .iter()
            .flatten()
            .for_each(|&(row, shape)| take(row, self.shapes.known[shape]));
    }
}

/// The addresses of sockets that have a path. Unnamed sockets would all share one address.
fn addresses(trace: &Trace, shapes: &TiSlice<ShapeId, ShapeFacts>) -> FxHashSet<Text> {
    let at_sockets = shapes
        .iter()
        .zip(trace.events.shapes())
        .filter(|(known, shape)| {
            let name = trace.events.texts.bytes(shape.target);
            let is_named = !name.is_empty() && !name.starts_with(b"socket:") && !known.at_address;
            is_named && matches!(known.deed, Effect::Connects | Effect::Binds)
        });
    at_sockets.map(|(_, shape)| shape.target).collect()
}

fn is_unnamed_pipe(shape: &Shape) -> bool {
    let makes = matches!(
        action_of(shape.syscall),
        Action::MakesPipe | Action::MakesSocketPair
    );
    makes && shape.outcome == Outcome::Ok && !shape.target.is_some()
}

fn known(trace: &Trace, shape: &Shape) -> ShapeFacts {
    let texts = &trace.events.texts;
    let (op, target) = (texts.bytes(shape.op), texts.bytes(shape.target));
    let syscall = resumed(shape.syscall, shape.op);
    let action = action_of(syscall);
    let deed = match deed(action, op) {
        Effect::Writes if is_eventfd(target) => Effect::Counts,
        deed => deed,
    };
    let is_unknown = resumes_unknown(shape.syscall, shape.op);
    let wait = if is_unknown {
        Some(Wait::Poll)
    } else {
        wait_of_shape(action, op, target, deed)
    };
    let class = match wait {
        Some(Wait::Lock) => Class::Lock,
        Some(Wait::Message) if action == Action::EntersRing => Class::Poll,
        _ if is_unknown => Class::Poll,
        None if is_timer(target) && action.wait() == Some(Wait::Read) => Class::Sleep,
        _ => class_of(syscall, target),
    };
    let counts = op.starts_with(b"FUTEX_") && !op.starts_with(b"FUTEX_UNLOCK_PI");
    let (outcome, at_address, check) = (
        shape.outcome,
        is_host_and_port(target),
        check_of(texts, shape),
    );
    let (named, fails_late) = (
        action.wait(),
        matches!(texts.bytes(shape.errno), b"ETIMEDOUT" | b"ETIME"),
    );
    let may_sleep = fails_late || matches!(wait, Some(Wait::Sleep | Wait::Poll));
    ShapeFacts {
        wait,
        class,
        deed,
        outcome,
        counts,
        at_address,
        check,
        may_end_poll: false,
        may_sleep,
        changes: Changes::of_target(action),
        makes: Changes::of_made(action),
        named,
        fails_late,
        fails_at_once: fails_at_once(texts.bytes(shape.errno)),
        reset: texts.bytes(shape.errno) == RESET,
        is_told: true,
        works: false,
        interrupted: is_broken_off(shape.outcome, texts.bytes(shape.errno)),
        restarts: action_of(shape.syscall) == Action::Restarts,
        upkeep: action.keeps_signals(),
        creates: action.creates_task(),
        may_vfork: false,
    }
}

/// The wait class of the calls of a shape. Some syscalls block only with some sub-operations or targets.
fn wait_of_shape(action: Action, op: &[u8], target: &[u8], deed: Effect) -> Option<Wait> {
    match action.wait() {
        Some(Wait::Lock)
            if matches!(deed, Effect::Wakes { .. } | Effect::Unlocks)
                || has_word(op, b"LOCK_NB") =>
        {
            None
        }
        Some(Wait::Read) if is_timer(target) => None,
        Some(Wait::Message) if action == Action::EntersRing && !has_word(op, b"GETEVENTS") => None,
        None if is_waiting_fcntl(action, op) => Some(Wait::Lock),
        wait => wait,
    }
}

/// Whether a call waits for a lock of fcntl.
pub fn is_waiting_fcntl(action: Action, op: &[u8]) -> bool {
    action == Action::ControlsFile && matches!(op, b"F_SETLKW" | b"F_SETLKW64" | b"F_OFD_SETLKW")
}

fn has_word(op: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(op, word).is_some()
}

/// The effect of a call on other tasks.
pub fn deed(action: Action, op: &[u8]) -> Effect {
    match action {
        Action::Writes | Action::Sends | Action::SendsMany => Effect::Writes,
        Action::SendsFile | Action::Splices => Effect::Moves,
        Action::Closes | Action::ShutsDown => Effect::Closes,
        Action::MakesNode => Effect::MakesFifo,
        Action::Signals if is_probe(op) => Effect::Nothing,
        Action::Signals | Action::SignalsThread => Effect::Signals,
        Action::Opens => Effect::Opens,
        Action::Connects => Effect::Connects,
        Action::Accepts => Effect::Accepts,
        Action::Binds => Effect::Binds,
        Action::Listens => Effect::Listens,
        Action::WatchesPath => Effect::Watches,
        Action::Makes | Action::Creates => Effect::Makes,
        Action::Removes | Action::RemovesDirectory | Action::Renames => Effect::Removes,
        Action::Wakes => Effect::Wakes { shared: false },
        Action::UsesFutex => futex_deed(op),
        Action::UsesUmtx => umtx_deed(op),
        Action::LocksFile if has_word(op, b"LOCK_UN") => Effect::Unlocks,
        Action::LocksFile => Effect::Locks,
        Action::ControlsFile => fcntl_deed(op),
        _ => object_of(action).map_or(Effect::Nothing, Effect::Handles),
    }
}

fn futex_deed(op: &[u8]) -> Effect {
    const WAKES: [&[u8]; 4] = [
        b"FUTEX_WAKE",
        b"FUTEX_CMP_REQUEUE",
        b"FUTEX_REQUEUE",
        b"FUTEX_UNLOCK_PI",
    ];
    match WAKES.iter().any(|wakes| op.starts_with(wakes)) {
        true => Effect::Wakes {
            shared: !op.ends_with(b"PRIVATE"),
        },
        false => Effect::Nothing,
    }
}

fn umtx_deed(op: &[u8]) -> Effect {
    const WAKES: [&[u8]; 4] = [b"WAKE", b"UNLOCK", b"SIGNAL", b"BROADCAST"];
    match WAKES.iter().any(|wakes| has_word(op, wakes)) {
        true => Effect::Wakes {
            shared: !op.ends_with(b"PRIVATE"),
        },
        false => Effect::Nothing,
    }
}

fn fcntl_deed(op: &[u8]) -> Effect {
    match op {
        b"F_SETLK" | b"F_SETLK64" | b"F_OFD_SETLK" | b"F_SETLKW" | b"F_SETLKW64"
        | b"F_OFD_SETLKW" => Effect::Locks,
        _ => Effect::Nothing,
    }
}
