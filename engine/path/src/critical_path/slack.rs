//! Slack: how much longer each process could have gone on without moving the end of the window.
//!
//! ```text
//! waiter  |- wait a -|--- work ---|----- wait b -----|-- on the path again --|
//! a       |----------|            |~~~~~ slack ~~~~~~|       a later end of a moves the waiter's work, and that the
//! b       |------------------------------------------|       wait for b, which takes up as much as it is long
//! ```
//!
//! Slack is the time of the waiter's own waits between the moment at which it waited for the end and the next moment at
//! which the path is in the waiter. Where the path never returns, the waiter's own slack counts too. Children that the
//! waiter created in between would start later, so their slack is a limit. Slack is unknown for a process if no task
//! awaited its end, if tasks other than its waiter read from it or waited for it on the path, or if it depends on such a
//! process.

use crate::critical_path::wait_graph::link_sums::WaitPairs;
use crate::waits::wakers::Wakers;
use parsers::NO_NS;
use parsers::facts::WaitedChild;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::parallel;
use trace::store::event::NONE;
use trace::store::grouped::Grouped;
use trace::store::index::{TaskId, TiSlice, TiVec, ti_vec};
use trace::store::lives_by_id::LivesById;
use trace::store::trace::{Capture, Trace};

/// A process that another one waited for, and the moment at which the waiter may continue.
#[derive(Debug)]
pub(crate) struct SlackQuery {
    /// Whose end it is: a main task.
    pub(crate) process: TaskId,
    /// The main task of the waiter.
    pub(crate) waiter: TaskId,
    /// The task that waits.
    task: TaskId,
    ended_ns: i64,
    /// From when the path may be in the waiter.
    pub(crate) from_ns: i64,
    /// When the path is next in the waiter; [`NO_NS`] if never.
    pub(crate) next_ns: i64,
}

/// The processes of a capture whose ends were awaited, by the moment at which their waiters may continue.
pub(crate) fn slack_queries(
    trace: &Trace,
    mains: &TiSlice<TaskId, TaskId>,
    capture: u32,
) -> Vec<SlackQuery> {
    let events = &trace.events;
    let Some(Capture { rows, tasks, .. }) = trace.captures.get(capture as usize) else {
        return Vec::new();
    };
    let lives = LivesById::new(&trace.tasks, tasks.clone());
    let mut queries: Vec<SlackQuery> = events
        .facts
        .all::<WaitedChild>()
        .par_iter()
        .filter(|(row, _)| rows.contains(row))
        .filter_map(|&(row, pid)| {
            let (start_ns, end_ns) = (events.start_ns(row), events.end_ns(row)?);
            let process = lives.at(capture, pid, end_ns)?;
            let ended_ns = trace.tasks[process].end_ns().min(end_ns);
            let task = events.task(row);
            let waiter = *mains.get(task)?;
            Some(SlackQuery {
                process,
                waiter,
                task,
                ended_ns,
                from_ns: ended_ns.max(start_ns),
                next_ns: NO_NS,
            })
        })
        .collect();
    // Who waits ends after those it waited for.
    queries.par_sort_by_key(|query| (query.from_ns, query.ended_ns));
    queries
}

/// What is known of a waiter while its askings are gone through, the latest first.
struct Waiter {
    /// Its waits that others ended: when each ended, and the sum of all up to there.
    waits: Vec<(i64, i64, i64)>,
    /// Its children by birth. Those after `left` are done.
    children: Vec<(i64, TaskId)>,
    left: usize,
    /// The least that a child limits it to, with the sum of waits up to the birth.
    limit_ns: i64,
    /// Birth of the earliest visited child with unknown slack.
    unknown_ns: i64,
}

impl Waiter {
    fn new(trace: &Trace, wakers: &Wakers, task: TaskId, children: Vec<(i64, TaskId)>) -> Waiter {
        let mut sum_ns = 0;
        let ended = wakers
            .outline()
            .looked_at(trace, task)
            .filter_map(|(at, span)| {
                let edge = wakers
                    .needs_waker(trace, span.row)
                    .then(|| wakers.waker(trace, task, at, span))??;
                Some((span.start_ns, edge.at_ns.min(span.end_ns)))
            });
        let waits =
            ended
                .filter(|(start_ns, end_ns)| start_ns < end_ns)
                .map(|(start_ns, end_ns)| {
                    sum_ns += end_ns - start_ns;
                    (start_ns, end_ns, sum_ns)
                });
        let waits = waits.collect();
        Waiter {
            waits,
            left: children.len(),
            children,
            limit_ns: i64::MAX,
            unknown_ns: i64::MAX,
        }
    }

    /// How long it waited up to a moment.
    fn waited_ns(&self, until_ns: i64) -> i64 {
        let after = self
            .waits
            .partition_point(|&(start_ns, ..)| start_ns < until_ns);
        let last = after.checked_sub(1).and_then(|last| self.waits.get(last));
        last.map_or(0, |&(_, end_ns, sum_ns)| {
            sum_ns - (end_ns - until_ns).max(0)
        })
    }

    /// Look at the children that were born after a moment.
    fn look_at_children(&mut self, from_ns: i64, slacks: &TiSlice<TaskId, i64>) {
        while let Some(&(born_ns, child)) = self
            .left
            .checked_sub(1)
            .and_then(|last| self.children.get(last))
        {
            if born_ns <= from_ns {
                break;
            }
            match slacks[child] {
                NO_NS => self.unknown_ns = born_ns,
                slack_ns => {
                    self.limit_ns = self
                        .limit_ns
                        .min(self.waited_ns(born_ns).saturating_add(slack_ns))
                }
            }
            self.left -= 1;
        }
    }

    /// How much later than at this moment it could go on.
    fn slack_ns(&self, query: &SlackQuery, slacks: &TiSlice<TaskId, i64>) -> Option<i64> {
        let is_never = query.next_ns == NO_NS;
        let until_ns = if is_never { i64::MAX } else { query.next_ns };
        if self.unknown_ns < until_ns {
            return None;
        }
        let own_ns = if is_never {
            Some(slacks[query.waiter]).filter(|&ns| ns != NO_NS)?
        } else {
            0
        };
        let until = self
            .waited_ns(until_ns)
            .saturating_add(own_ns)
            .min(self.limit_ns);
        Some((until - self.waited_ns(query.from_ns)).max(0))
    }
}

/// The known slacks, by process. `queries` are in order of `from_ns`. `waited` has pairs of processes: the first waited for
/// the second on the path.
pub(crate) fn slacks(
    trace: &Trace,
    wakers: &Wakers,
    mains: &TiSlice<TaskId, TaskId>,
    queries: &[SlackQuery],
    waited: &WaitPairs,
) -> FxHashMap<TaskId, i64> {
    if queries.is_empty() {
        return FxHashMap::default();
    }
    let mut waiter_of = ti_vec![TaskId::NONE; trace.tasks.len()];
    queries
        .iter()
        .for_each(|query| waiter_of[query.process] = query.waiter);
    let needed = needed(trace, wakers, mains, waited, &waiter_of);
    let (places, mut waiters) = waiters(trace, wakers, mains, queries);
    let mut slacks = ti_vec![NO_NS; trace.tasks.len()];
    for query in queries.iter().rev() {
        let Some(waiter) = waiters.get_mut(places[query.task] as usize) else {
            continue;
        };
        waiter.look_at_children(query.from_ns, &slacks);
        if let Some(slack_ns) = waiter
            .slack_ns(query, &slacks)
            .filter(|_| !needed.contains(&query.process))
        {
            slacks[query.process] = query.from_ns - query.ended_ns + slack_ns;
        }
    }
    slacks
        .into_iter_enumerated()
        .filter(|&(_, slack_ns)| slack_ns != NO_NS)
        .collect()
}

/// The place of each task among the waiting tasks, and the waiting tasks.
fn waiters(
    trace: &Trace,
    wakers: &Wakers,
    mains: &TiSlice<TaskId, TaskId>,
    queries: &[SlackQuery],
) -> (TiVec<TaskId, u32>, Vec<Waiter>) {
    let children: Grouped<TaskId, TaskId> = Grouped::new(
        trace.tasks.len(),
        trace
            .tasks
            .iter()
            .map(|task| mains.get(task.creator).copied().filter(|_| !task.is_thread)),
    );
    let (mut places, mut waiting) = (ti_vec![NONE; trace.tasks.len()], Vec::new());
    for query in queries {
        let place = &mut places[query.task];
        if *place == NONE {
            *place = waiting.len() as u32;
            waiting.push((query.task, query.waiter));
        }
    }
    let waiters = parallel::map(&waiting, |&(task, process)| {
        let born = children
            .of(process)
            .iter()
            .map(|&child| (trace.tasks[child].birth_ns, child));
        let mut born: Vec<(i64, TaskId)> = born.collect();
        born.sort_unstable();
        Waiter::new(trace, wakers, task, born)
    });
    (places, waiters)
}

/// The processes that others than their waiters needed: these waited for them on the path, or read from them.
fn needed(
    trace: &Trace,
    wakers: &Wakers,
    mains: &TiSlice<TaskId, TaskId>,
    waited: &WaitPairs,
    waiter_of: &TiSlice<TaskId, TaskId>,
) -> FxHashSet<TaskId> {
    let main = |task: TaskId| mains.get(task).copied().unwrap_or(task);
    let is_other =
        |who: TaskId, process: TaskId| who != process && waiter_of.get(process) != Some(&who);
    let on_path = waited
        .iter()
        .filter(|&(who, process)| is_other(who, process))
        .map(|(_, process)| process);
    let mut needed: FxHashSet<TaskId> = on_path.collect();
    for (readers, users) in wakers.readers_and_users(trace) {
        let readers: FxHashSet<TaskId> = readers.into_iter().map(main).collect();
        let users: FxHashSet<TaskId> = users.iter().copied().map(main).collect();
        needed.extend(
            users
                .into_iter()
                .filter(|&user| readers.iter().any(|&reader| is_other(reader, user))),
        );
    }
    needed
}
