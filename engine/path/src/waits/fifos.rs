//! Fifos that existed before the capture: no line identifies them, but calls on them give evidence.
//!
//! ```text
//! reader   |------ open(path, O_RDONLY) ------|
//! writer        |-- work --|open(path, O_WRONLY)|      the first open lasts until the second one starts
//! ```
//!
//! A path is also a fifo if a call on it fails with ESPIPE (no seeking), or if an open for writing fails with ENXIO (no
//! reader), or if its metadata shows it. It is not a fifo if a call succeeds on it that needs a file offset.

use crate::waits::shape_facts::{Effect, ShapeFacts};
use crate::waits::times::{end_ns, tick_ns};
use parsers::facts::Access;
use parsers::facts::{IsFifo, OpenedFor};
use parsers::syscalls::{Action, action_of};
use parsers::{Outcome, Text};
use rustc_hash::FxHashSet;
use trace::store::event::Shape;
use trace::store::heuristics::{EXIT_TOLERANCE_NS, MIN_BLOCKED_OPEN_NS, MIN_BLOCKED_OPEN_RATIO};
use trace::store::index::{ShapeId, TiSlice, TiVec};
use trace::store::targets::ACCEPTED;
use trace::store::trace::Trace;

/// Fifos by their names, and by their names in shapes.
#[derive(Default)]
pub(super) struct Fifos {
    pub names: Vec<Text>,
    pub shapes: FxHashSet<Text>,
}

/// The evidence about a target from the shapes of calls.
#[derive(Clone, Copy, Default)]
struct FifoUse {
    /// An open succeeded.
    opened: bool,
    /// An open for writing succeeded.
    written: bool,
    /// A call failed in the way typical of a fifo.
    fails: bool,
    /// A call succeeded that fails on a fifo.
    refuted: bool,
}

/// The fifos of a trace, as far as calls show. Sockets have names, too; these are `addresses`.
pub(super) fn fifos(
    trace: &Trace,
    shapes: &TiSlice<ShapeId, ShapeFacts>,
    addresses: &FxHashSet<Text>,
) -> Fifos {
    let told = told(trace, shapes);
    let (mut opens, mut failed): (Vec<u32>, Vec<u32>) = Default::default();
    let asked: TiVec<ShapeId, bool> = (shapes.iter().zip(trace.events.shapes()))
        .map(|(known, shape)| {
            let is_asked = told[shape.target.0 as usize].may_be_fifo();
            is_asked
                && (opens_well(known) || fails_as_at_fifo(trace, known, shape))
                && !addresses.contains(&shape.target)
                && may_be_fifo(trace.events.texts.bytes(shape.target))
        })
        .collect();
    for &(row, number) in trace.events.calls_of_shapes(&asked).iter().flatten() {
        let list = if opens_well(&shapes[number]) {
            &mut opens
        } else {
            &mut failed
        };
        list.push(row);
    }
    let mut found = by_opens(trace, &opens);
    let opened: FxHashSet<Text> = opens.iter().map(|&row| trace.events.target(row)).collect();
    found.extend(failed.into_iter().filter(|&row| {
        opened.contains(&trace.events.target(row))
            || (failed_with_espipe(trace, row) && is_path(trace, row))
    }));
    let fifos = trace.events.facts.all::<IsFifo>().iter();
    found.extend(fifos.map(|&(row, ())| row).filter(|&row| {
        let target = trace.events.shape(row).target;
        is_path(trace, row)
            && !told[target.0 as usize].refuted
            && !addresses.contains(&target)
            && may_be_fifo(trace.events.texts.bytes(target))
    }));
    let mut names: Vec<Text> = found.iter().map(|&row| trace.events.target(row)).collect();
    names.sort_unstable();
    names.dedup();
    Fifos {
        names,
        shapes: found
            .iter()
            .map(|&row| trace.events.shape(row).target)
            .collect(),
    }
}

fn failed_with_espipe(trace: &Trace, row: u32) -> bool {
    trace.events.texts.bytes(trace.events.shape(row).errno) == b"ESPIPE"
}

fn is_path(trace: &Trace, row: u32) -> bool {
    trace
        .events
        .texts
        .bytes(trace.events.target(row))
        .starts_with(b"/")
}

impl FifoUse {
    fn may_be_fifo(self) -> bool {
        !self.refuted && (self.fails || (self.opened && self.written))
    }
}

/// The evidence about each target, by the number of its text.
fn told(trace: &Trace, shapes: &TiSlice<ShapeId, ShapeFacts>) -> Vec<FifoUse> {
    let events = &trace.events;
    let mut told = vec![FifoUse::default(); events.texts.len()];
    for &(row, _) in events.facts.all::<OpenedFor>() {
        told[events.shape(row).target.0 as usize].written = true;
    }
    for (known, shape) in shapes.iter().zip(events.shapes()) {
        let (opened, fails) = (opens_well(known), fails_as_at_fifo(trace, known, shape));
        let refuted = known.outcome == Outcome::Ok && needs_place(action_of(shape.syscall));
        if opened || fails || refuted {
            let told = &mut told[shape.target.0 as usize];
            (told.opened, told.fails, told.refuted) = (
                told.opened | opened,
                told.fails | fails,
                told.refuted | refuted,
            );
        }
    }
    told
}

fn opens_well(known: &ShapeFacts) -> bool {
    known.deed == Effect::Opens && known.outcome == Outcome::Ok
}

fn fails_as_at_fifo(trace: &Trace, known: &ShapeFacts, shape: &Shape) -> bool {
    match trace.events.texts.bytes(shape.errno) {
        b"ESPIPE" => true,
        b"ENXIO" => known.deed == Effect::Opens,
        _ => false,
    }
}

/// Whether the operation needs a file offset.
fn needs_place(action: Action) -> bool {
    matches!(
        action,
        Action::Seeks
            | Action::ReadsAt
            | Action::WritesAt
            | Action::Maps
            | Action::Resizes
            | Action::Prefetches
            | Action::Syncs
            | Action::Lists
            | Action::Execs
    )
}

/// Whether a target can be the name of a fifo. Devices reject seeks, too.
fn may_be_fifo(target: &[u8]) -> bool {
    let is_device = target.starts_with(b"/dev/") && !target.starts_with(b"/dev/shm/");
    let is_of_system = target.starts_with(b"/proc/") || target.starts_with(b"/sys/");
    !target.is_empty() && !is_device && !is_of_system && !target.ends_with(ACCEPTED)
}

/// The opens that lasted until another task opened the same path for the other side.
fn by_opens(trace: &Trace, opens: &[u32]) -> Vec<u32> {
    let events = &trace.events;
    let lasts_ns = |row: u32| end_ns(trace, row).saturating_sub(events.start_ns(row));
    let (held_up, mut others): (Vec<u32>, Vec<u32>) = opens
        .iter()
        .partition(|&&row| lasts_ns(row) >= MIN_BLOCKED_OPEN_NS);
    let names: FxHashSet<Text> = held_up.iter().map(|&row| events.target(row)).collect();
    // The awaited opener may itself be delayed on the way.
    others.extend(&held_up);
    others.retain(|&row| names.contains(&events.target(row)));
    others.sort_by_key(|&row| (events.target(row), events.start_ns(row)));
    let is_let_go = |&row: &u32| {
        let (start_ns, stop_ns) = (events.start_ns(row), end_ns(trace, row));
        let tick_ns = tick_ns(trace, events.task(row));
        let near_ns = (lasts_ns(row) / MIN_BLOCKED_OPEN_RATIO).min(EXIT_TOLERANCE_NS.max(tick_ns));
        let from = (
            events.target(row),
            stop_ns
                .saturating_sub(near_ns)
                .max(start_ns.saturating_add(1)),
        );
        let at =
            others.partition_point(|&other| (events.target(other), events.start_ns(other)) < from);
        let near = others[at..].iter().take_while(|&&other| {
            events.target(other) == events.target(row)
                && events.start_ns(other) <= stop_ns.saturating_add(tick_ns)
        });
        near.copied().any(|other| {
            let is_short = end_ns(trace, other) <= stop_ns.saturating_add(near_ns.max(tick_ns));
            is_short && events.task(other) != events.task(row) && are_two_sides(trace, row, other)
        })
    };
    held_up.into_iter().filter(is_let_go).collect()
}

/// Whether an open waits for another one at a fifo: only for the opposite side. An open for both sides does not block.
pub(super) fn are_two_sides(trace: &Trace, waiter: u32, other: u32) -> bool {
    let waits_as = access(trace, waiter);
    waits_as != Access::Both && access(trace, other) != waits_as
}

fn access(trace: &Trace, row: u32) -> Access {
    let access = trace.events.facts.get::<OpenedFor>(row);
    access.copied().unwrap_or(Access::Reads)
}
