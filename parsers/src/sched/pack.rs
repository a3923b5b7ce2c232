//! Scheduler events that stay with a capture: those that traced threads need, as compressed text.

use crate::sched::text::{write_event, write_offset};
use crate::sched::{self, Comm, Left, Named, SchedChange, SchedEvent, SchedSource};
use flate2::Compression;
use flate2::write::GzEncoder;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io;

/// Names of threads of the kernel that do what others left to them.
const DEPUTIES: [&[u8]; 2] = [b"kworker/", b"ksoftirqd/"];

/// The events that a capture of traced threads needs: all switches, and what concerns these threads. Names of threads are
/// written once. Without `traced`, the threads are those that a tracer stopped.
///
/// # Errors
/// Those of [`sched::read`].
pub fn pack(source: &SchedSource<'_>, traced: &[i32]) -> io::Result<Vec<u8>> {
    let mut events = Vec::new();
    let facts = sched::read(source, &mut |event| events.push(event))?;
    events.sort_by_key(|event| event.time_ns);
    let needed = Needed::new(&events, traced);
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    if let Some(offset_ns) = facts.epoch_offset_ns {
        write_offset(&mut out, offset_ns)?;
    }
    let mut names = FxHashMap::default();
    for event in events.iter().filter(|event| needed.has(event)) {
        write_event(&mut out, &with_new_names(event, &mut names))?;
    }
    out.finish()
}

#[derive(Default)]
struct Needed {
    traced: FxHashSet<i32>,
    deputies: FxHashSet<i32>,
    range_ns: (i64, i64),
}

impl Needed {
    fn new(events: &[SchedEvent], traced: &[i32]) -> Needed {
        let mut needed = Needed {
            traced: traced.iter().copied().collect(),
            range_ns: (i64::MAX, i64::MIN),
            ..Needed::default()
        };
        for event in events {
            let SchedChange::Switch { from, left, to } = event.change else {
                continue;
            };
            if traced.is_empty() && left == Left::Traced {
                needed.traced.insert(from.tid);
            }
            let is_deputy = DEPUTIES.iter().any(|name| to.comm.starts_with(name));
            if is_deputy {
                needed.deputies.insert(to.tid);
            }
        }
        if !traced.is_empty() {
            // All of it was recorded for these threads. One of them may wait from its beginning on.
            needed.range_ns = (i64::MIN, i64::MAX);
            return needed;
        }
        let (first_ns, last_ns) = &mut needed.range_ns;
        for event in events {
            let is_own = match event.change {
                SchedChange::Fork(child) => needed.traced.contains(&child),
                _ => needed.traced.contains(&event.tid),
            };
            if is_own {
                *first_ns = event.time_ns.min(*first_ns);
                *last_ns = event.time_ns.max(*last_ns);
            }
        }
        needed
    }

    fn has(&self, event: &SchedEvent) -> bool {
        let (first_ns, last_ns) = self.range_ns;
        if event.time_ns < first_ns || event.time_ns > last_ns {
            return false;
        }
        match event.change {
            SchedChange::Switch { .. } | SchedChange::Lost(_) => true,
            SchedChange::Waking(tid) | SchedChange::Woken(tid) => {
                self.traced.contains(&tid) || self.deputies.contains(&tid)
            }
            SchedChange::Fork(child) => self.traced.contains(&child),
            SchedChange::Exec | SchedChange::Exit | SchedChange::Fault => {
                self.traced.contains(&event.tid)
            }
        }
    }
}

/// The event without the names and priorities that are known already.
fn with_new_names(
    event: &SchedEvent,
    names: &mut FxHashMap<i32, (Comm, Option<i32>)>,
) -> SchedEvent {
    let mut new_name = |named: Named| {
        let facts = (named.comm, named.priority);
        if names.insert(named.tid, facts) != Some(facts) {
            return named;
        }
        Named {
            comm: [0; 16],
            priority: None,
            ..named
        }
    };
    let change = match event.change {
        SchedChange::Switch { from, left, to } => SchedChange::Switch {
            from: new_name(from),
            left,
            to: new_name(to),
        },
        change => change,
    };
    SchedEvent { change, ..*event }
}
