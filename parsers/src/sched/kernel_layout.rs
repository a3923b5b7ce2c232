//! The layout of kernel events: perf.data contains the descriptions of the kernel that recorded it.
//!
//! In:   name: sched_switch, ID: 372, field:pid_t prev_pid; offset:24; size:4; signed:1;
//! Out:  event 372 is a switch, and `prev_pid` is a number of 4 bytes at 24

use crate::sched::{Comm, Context, Left, Named, SchedChange, comm};
use linux_perf_data::Endianness;
use rustc_hash::FxHashMap;

/// Bytes at the beginning of each event: its number, its flags, and the thread that ran.
const TYPE_BYTES: usize = 2;
const FLAGS_AT: usize = 2;
// `include/linux/trace_events.h`.
const FLAG_HARDIRQ: u8 = 0x08;
const FLAG_SOFTIRQ: u8 = 0x10;
// `fs/proc/array.c` and `include/linux/sched.h`: bits of the state in which a task is switched out.
const STATE_UNINTERRUPTIBLE: i64 = 0x02;
const STATE_TRACED: i64 = 0x08;
const STATE_DEAD: i64 = 0x10 | 0x20;
const STATE_REPORTED: i64 = 0xff;

/// A number within an event.
#[derive(Clone, Copy, Default)]
struct Field {
    at: usize,
    bytes: usize,
}

#[derive(Clone, Copy)]
enum Layout {
    Switch {
        from: [Field; 2],
        state: Field,
        to: [Field; 2],
    },
    Waking(Field),
    Woken(Field),
    Fork(Field),
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
    /// From the descriptions in a file. Text that is not understood describes nothing.
    pub(super) fn new(described: &[u8], endian: Endianness) -> KernelLayouts {
        let mut layouts = KernelLayouts {
            is_big_endian: endian == Endianness::BigEndian,
            ..KernelLayouts::default()
        };
        let starts: Vec<usize> = memchr::memmem::find_iter(described, b"name: ").collect();
        for (number, &start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(described.len());
            let known = described.get(start..end).and_then(layout);
            if let Some((number, layout)) = known {
                layouts.by_type.insert(number, layout);
            }
        }
        layouts
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_type.is_empty()
    }

    /// What an event says, and where it happened.
    pub(super) fn change(&self, raw: &[u8]) -> Option<(SchedChange, Context)> {
        let number = self.number(
            raw,
            Field {
                at: 0,
                bytes: TYPE_BYTES,
            },
        )?;
        let layout = self.by_type.get(&u16::try_from(number).ok()?)?;
        let tid = |field: Field| i32::try_from(self.number(raw, field)?).ok();
        let named = |[name, id]: [Field; 2]| {
            Some(Named {
                tid: tid(id)?,
                comm: text(raw, name),
            })
        };
        let change = match *layout {
            Layout::Switch { from, state, to } => SchedChange::Switch {
                from: named(from)?,
                left: left(self.number(raw, state)?),
                to: named(to)?,
            },
            Layout::Waking(field) => SchedChange::Waking(tid(field)?),
            Layout::Woken(field) => SchedChange::Woken(tid(field)?),
            Layout::Fork(field) => SchedChange::Fork(tid(field)?),
            Layout::Exec => SchedChange::Exec,
            Layout::Exit => SchedChange::Exit,
            Layout::Fault => SchedChange::Fault,
        };
        Some((change, context(*raw.get(FLAGS_AT)?)))
    }

    fn number(&self, raw: &[u8], field: Field) -> Option<i64> {
        let bytes = raw.get(field.at..field.at.checked_add(field.bytes)?)?;
        let mut wide = [0; 8];
        let place = if self.is_big_endian {
            wide.get_mut(8usize.checked_sub(bytes.len())?..)?
        } else {
            wide.get_mut(..bytes.len())?
        };
        place.copy_from_slice(bytes);
        Some(if self.is_big_endian {
            i64::from_be_bytes(wide)
        } else {
            i64::from_le_bytes(wide)
        })
    }
}

fn text(raw: &[u8], field: Field) -> Comm {
    let bytes = field
        .at
        .checked_add(field.bytes)
        .and_then(|end| raw.get(field.at..end));
    let bytes = bytes.unwrap_or(&[]);
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

/// The number and the layout of one description.
fn layout(description: &[u8]) -> Option<(u16, Layout)> {
    let description = String::from_utf8_lossy(description.get(..description.len().min(4096))?);
    let mut lines = description.lines();
    let name = lines.next()?.strip_prefix("name: ")?.trim();
    let number = lines.next()?.strip_prefix("ID: ")?.trim().parse().ok()?;
    let fields: Vec<(&str, Field)> = lines.filter_map(field).collect();
    let of = |name: &str| {
        fields
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, field)| field)
    };
    let layout = match name {
        "sched_switch" => Layout::Switch {
            from: [of("prev_comm")?, of("prev_pid")?],
            state: of("prev_state")?,
            to: [of("next_comm")?, of("next_pid")?],
        },
        "sched_waking" => Layout::Waking(of("pid")?),
        "sched_wakeup" | "sched_wakeup_new" => Layout::Woken(of("pid")?),
        "sched_process_fork" => Layout::Fork(of("child_pid")?),
        "sched_process_exec" => Layout::Exec,
        "sched_process_exit" => Layout::Exit,
        "page_fault_user" => Layout::Fault,
        _ => return None,
    };
    Some((number, layout))
}

/// `field:pid_t prev_pid; offset:24; size:4; signed:1;`
fn field(line: &str) -> Option<(&str, Field)> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';');
    let name = parts.next()?.rsplit(' ').next()?;
    let name = name.split('[').next()?;
    let mut number = |key: &str| {
        parts
            .next()?
            .trim()
            .strip_prefix(key)?
            .parse::<usize>()
            .ok()
    };
    let (at, bytes) = (number("offset:")?, number("size:")?);
    Some((name, Field { at, bytes }))
}
