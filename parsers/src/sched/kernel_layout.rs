//! The layout of kernel events: perf.data contains the descriptions of the kernel that recorded it.
//!
//! In:   name: sched_switch, ID: 372, field:pid_t prev_pid; offset:24; size:4; signed:1;
//! Out:  event 372 is a switch, and `prev_pid` is a number of 4 bytes at 24

use crate::perf_file::{Described, FieldPlace, described_events, event_type};
use crate::sched::{Comm, Context, Left, Named, SchedChange, comm};
use rustc_hash::FxHashMap;

/// Bytes at the beginning of each event: its number, its flags, and the thread that ran.
const FLAGS_AT: usize = 2;
// `include/linux/trace_events.h`.
const FLAG_HARDIRQ: u8 = 0x08;
const FLAG_SOFTIRQ: u8 = 0x10;
// `fs/proc/array.c` and `include/linux/sched.h`: bits of the state in which a task is switched out.
const STATE_UNINTERRUPTIBLE: i64 = 0x02;
const STATE_TRACED: i64 = 0x08;
const STATE_DEAD: i64 = 0x10 | 0x20;
const STATE_REPORTED: i64 = 0xff;

/// Where a switch has the facts of a thread.
#[derive(Clone, Copy)]
struct NamedPlace {
    comm: FieldPlace,
    tid: FieldPlace,
    /// Not in every kernel's description.
    priority: Option<FieldPlace>,
}

#[derive(Clone, Copy)]
enum Layout {
    Switch {
        from: NamedPlace,
        state: FieldPlace,
        to: NamedPlace,
    },
    Waking(FieldPlace),
    Woken(FieldPlace),
    Fork(FieldPlace),
    Exec,
    Exit,
    Fault,
}

/// The events that are understood, by their numbers.
#[derive(Default)]
pub(super) struct KernelLayouts {
    by_type: FxHashMap<u16, Layout>,
    is_big_endian: bool,
}

impl KernelLayouts {
    /// From the descriptions in a file.
    pub(super) fn new(described: &[u8], is_big_endian: bool) -> KernelLayouts {
        let mut layouts = KernelLayouts {
            is_big_endian,
            ..KernelLayouts::default()
        };
        described_events(described, |described| {
            if let Some(layout) = layout(described) {
                layouts.by_type.insert(described.number, layout);
            }
        });
        layouts
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_type.is_empty()
    }

    /// What an event says, and where it happened.
    pub(super) fn change(&self, raw: &[u8]) -> Option<(SchedChange, Context)> {
        let number = event_type(raw, self.is_big_endian)?;
        let layout = self.by_type.get(&number)?;
        let int = |field: FieldPlace| i32::try_from(self.number(raw, field)?).ok();
        let named = |place: NamedPlace| {
            Some(Named {
                tid: int(place.tid)?,
                comm: text(raw, place.comm),
                priority: place.priority.and_then(int),
            })
        };
        let change = match *layout {
            Layout::Switch { from, state, to } => SchedChange::Switch {
                from: named(from)?,
                left: left(self.number(raw, state)?),
                to: named(to)?,
            },
            Layout::Waking(field) => SchedChange::Waking(int(field)?),
            Layout::Woken(field) => SchedChange::Woken(int(field)?),
            Layout::Fork(field) => SchedChange::Fork(int(field)?),
            Layout::Exec => SchedChange::Exec,
            Layout::Exit => SchedChange::Exit,
            Layout::Fault => SchedChange::Fault,
        };
        Some((change, context(*raw.get(FLAGS_AT)?)))
    }

    fn number(&self, raw: &[u8], field: FieldPlace) -> Option<i64> {
        field.number(raw, self.is_big_endian)
    }
}

fn text(raw: &[u8], field: FieldPlace) -> Comm {
    let bytes = field.bytes(raw).unwrap_or(&[]);
    comm(bytes.split(|&byte| byte == 0).next().unwrap_or(&[]))
}

fn context(flags: u8) -> Context {
    match flags {
        flags if flags & FLAG_HARDIRQ != 0 => Context::HardInterrupt,
        flags if flags & FLAG_SOFTIRQ != 0 => Context::SoftInterrupt,
        _ => Context::Thread,
    }
}

fn left(state: i64) -> Left {
    match state & STATE_REPORTED {
        0 => Left::Preempted,
        state if state & STATE_DEAD != 0 => Left::Dead,
        state if state & STATE_TRACED != 0 => Left::Traced,
        state if state & STATE_UNINTERRUPTIBLE != 0 => Left::Uninterruptible,
        _ => Left::Blocked,
    }
}

/// The layout of one description.
fn layout(described: &Described<'_>) -> Option<Layout> {
    let of = |name: &str| described.field(name);
    let named = |side: &str| {
        Some(NamedPlace {
            comm: of(&format!("{side}comm"))?,
            tid: of(&format!("{side}pid"))?,
            priority: of(&format!("{side}prio")),
        })
    };
    Some(match described.name {
        "sched_switch" => Layout::Switch {
            from: named("prev_")?,
            state: of("prev_state")?,
            to: named("next_")?,
        },
        "sched_waking" => Layout::Waking(of("pid")?),
        "sched_wakeup" | "sched_wakeup_new" => Layout::Woken(of("pid")?),
        "sched_process_fork" => Layout::Fork(of("child_pid")?),
        "sched_process_exec" => Layout::Exec,
        "sched_process_exit" => Layout::Exit,
        "page_fault_user" => Layout::Fault,
        _ => return None,
    })
}
