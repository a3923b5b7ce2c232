//! Who waited on whom, per process: what it waited for on the path, and how much longer it could have taken.
//!
//! ```text
//! parent  |-- work --|------- wait -------|          inclusive: all of it; waits for the child
//! child   |---------- work ---------------|          inclusive: what it has on the path
//! other   |-- work --|       slack        |          ended here; the path is in who waits for it again only there
//! ```
//!
//! The slack of a process reaches from its end to the next moment at which the path is in the process that asked for its
//! end, but not before that one asked. Where the path never is there again, that one's own slack counts. So it is how long the
//! process could have gone on without moving the end of the window, as far as only its end was waited for. Nobody asked: no
//! slack is told.

use crate::partition::text_column;
use crate::path::{Listen, Segment, walk_to};
use crate::processes::main_tasks;
use crate::select::{ProgramIndex, Selection};
use crate::table::{Table, ints, some_ints};
use crate::trace::Trace;
use crate::wakers::Wakers;
use crate::window::Window;
use parsers::{NO_ID, NO_NS, Text};
use rustc_hash::FxHashMap;

/// A process that somebody waited for, and the moment from which the path may be in the waiter again.
struct Asked {
    process: u32,
    waiter: u32,
    ended_ns: i64,
    from_ns: i64,
    /// When the path is next in the waiter; [`NO_NS`] if never.
    next_ns: i64,
}

/// For whom each process waited on the path, as a walk tells it.
#[derive(Debug, Default)]
pub struct Waits {
    mains: Vec<u32>,
    sums: FxHashMap<(u32, u32), i64>,
    /// The processes that wait at this moment of the walk, and how often each does.
    waiting: Vec<u32>,
    depths: Vec<u32>,
}

impl Waits {
    /// Nothing is known yet.
    pub fn new(trace: &Trace) -> Waits {
        Waits { mains: main_tasks(trace), depths: vec![0; trace.tasks.len()], ..Waits::default() }
    }

    /// A task begins to wait, as the walk goes: see [`Listen::begins`].
    pub fn begins(&mut self, waiter: u32) {
        let process = self.main(waiter);
        self.waiting.push(process);
        if let Some(depth) = self.depths.get_mut(process as usize) {
            *depth += 1;
        }
    }

    /// The wait has ended, as the walk goes: see [`Listen::ends`].
    pub fn ends(&mut self, waiter: u32, waker: u32, dur_ns: i64) {
        let (waiter, waker) = (self.main(waiter), self.main(waker));
        self.waiting.pop();
        if let Some(depth) = self.depths.get_mut(waiter as usize) {
            *depth = depth.saturating_sub(1);
        }
        // Who reaps a process is waited for by those that look whether it is gone: both wait for the process.
        let is_between = self.waits(waiter);
        let outer = if is_between { self.waiting.last().copied().unwrap_or(waiter) } else { waiter };
        if outer != waker && !self.waits(waker) {
            *self.sums.entry((outer, waker)).or_default() += dur_ns;
        }
    }

    fn main(&self, task: u32) -> u32 {
        self.mains.get(task as usize).copied().unwrap_or(task)
    }

    fn waits(&self, process: u32) -> bool {
        self.depths.get(process as usize).is_some_and(|&depth| depth > 0)
    }

    /// For whom each process waited longest, and how long.
    fn longest(&self) -> FxHashMap<u32, (i64, u32)> {
        let mut longest: FxHashMap<u32, (i64, u32)> = FxHashMap::default();
        for (&(waiter, waker), &ns) in &self.sums {
            let known = longest.entry(waiter).or_insert((ns, waker));
            *known = (*known).max((ns, waker));
        }
        longest
    }
}

/// Listens to a walk for the whole table.
struct Listener<'waits> {
    waits: &'waits mut Waits,
    /// Time on the path in each process, or while it waited.
    inclusive_ns: FxHashMap<u32, i64>,
    /// In order of `from_ns`; those behind `open` are answered.
    asked: Vec<Asked>,
    open: usize,
    /// Where the latest stretch of each process seen so far begins; the walk goes back in time.
    begins_ns: FxHashMap<u32, i64>,
}

impl Listen for Listener<'_> {
    fn charged(&mut self, segment: Segment) {
        let process = self.waits.main(segment.task);
        if !self.waits.waits(process) {
            *self.inclusive_ns.entry(process).or_default() += segment.dur_ns();
        }
        while let Some(asked) = self.open.checked_sub(1).and_then(|last| self.asked.get_mut(last)) {
            if asked.from_ns < segment.start_ns {
                break;
            }
            let here = asked.waiter == process && asked.from_ns <= segment.end_ns;
            let later = self.begins_ns.get(&asked.waiter).copied().unwrap_or(NO_NS);
            asked.next_ns = if here { asked.from_ns } else { later };
            self.open -= 1;
        }
        self.begins_ns.insert(process, segment.start_ns);
    }

    fn begins(&mut self, waiter: u32) {
        self.waits.begins(waiter);
    }

    fn ends(&mut self, waiter: u32, waker: u32, dur_ns: i64) {
        self.waits.ends(waiter, waker, dur_ns);
        let process = self.waits.main(waiter);
        if !self.waits.waits(process) {
            *self.inclusive_ns.entry(process).or_default() += dur_ns;
        }
    }
}

/// The processes whose ends were asked for, by the moment from which their waiters may go on.
fn asked(trace: &Trace, mains: &[u32], window: &Window) -> Vec<Asked> {
    let events = &trace.events;
    let mut by_pid: FxHashMap<i32, Vec<u32>> = FxHashMap::default();
    let Some(capture) = trace.captures.get(window.capture as usize) else { return Vec::new() };
    for task in capture.tasks.clone().filter(|&task| !trace.tasks[task as usize].is_thread) {
        by_pid.entry(trace.tasks[task as usize].pid).or_default().push(task);
    }
    let of_capture = events.waited.iter().filter(|(row, _)| capture.rows.contains(row));
    let mut asked: Vec<Asked> = of_capture
        .filter_map(|&(row, pid)| {
            let (start_ns, end_ns) = (events.start_ns(row), events.end_ns(row)?);
            let lives = by_pid.get(&pid)?.iter().copied();
            // Of several lives under one id, the one that had begun.
            let process = lives.filter(|&task| trace.tasks[task as usize].birth_ns <= end_ns).last()?;
            let ended_ns = trace.tasks[process as usize].end_ns().min(end_ns);
            let waiter = *mains.get(events.task(row) as usize)?;
            Some(Asked { process, waiter, ended_ns, from_ns: ended_ns.max(start_ns), next_ns: NO_NS })
        })
        .collect();
    asked.sort_by_key(|asked| asked.from_ns);
    asked
}

/// One row per process that the selection touches.
pub fn chain(trace: &Trace, wakers: &Wakers, windows: &[Window], selection: &Selection<'_>) -> Table {
    let mut waits = Waits::new(trace);
    let (mut inclusive_ns, mut slacks) = (FxHashMap::default(), FxHashMap::default());
    for window in windows.iter().filter(|window| window.root.is_some()) {
        let asked = asked(trace, &waits.mains, window);
        let open = asked.partition_point(|asked| asked.from_ns <= window.end_ns);
        let begins_ns = FxHashMap::default();
        let mut listener = Listener { waits: &mut waits, inclusive_ns, asked, open, begins_ns };
        walk_to(trace, wakers, window, &mut listener);
        inclusive_ns = listener.inclusive_ns;
        slacks.extend(slacks_of(&listener.asked));
    }
    let chosen = (0..trace.tasks.len() as u32).filter(|&task| selection.touches_task(task));
    let mut rows: Vec<u32> = chosen.map(|task| waits.main(task)).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut table = links_table(trace, selection.program_index, &rows, &waits.longest());
    let of = |values: &FxHashMap<u32, i64>, missing: i64| {
        some_ints(rows.iter().map(|task| values.get(task).copied().unwrap_or(missing)))
    };
    table.columns.push(("inclusive_ns".to_owned(), of(&inclusive_ns, 0)));
    table.columns.push(("slack_ns".to_owned(), of(&slacks, NO_NS)));
    table
}

/// The process at whose end the walk of a window begins, the one for which that waited longest, and so on: a row each.
pub fn longest(trace: &Trace, waits: &Waits, windows: &[Window], programs: &ProgramIndex) -> Table {
    let longest = waits.longest();
    let roots = windows.iter().filter_map(|window| window.root);
    let rows: Vec<u32> = roots.flat_map(|root| links(waits.main(root), &longest)).collect();
    links_table(trace, programs, &rows, &longest)
}

/// A process, the one for which it waited longest, and so on, until one comes again.
fn links(first: u32, longest: &FxHashMap<u32, (i64, u32)>) -> Vec<u32> {
    const LONGEST_CHAIN: usize = 64;
    let mut links = vec![first];
    while let Some(&(_, next)) = links.last().and_then(|last| longest.get(last)) {
        if links.contains(&next) || links.len() == LONGEST_CHAIN {
            break;
        }
        links.push(next);
    }
    links
}

fn slacks_of(asked: &[Asked]) -> FxHashMap<u32, i64> {
    let next: FxHashMap<u32, (i64, u32)> =
        asked.iter().map(|asked| (asked.process, (asked.next_ns, asked.waiter))).collect();
    let moment = |process: u32| {
        let mut at = process;
        for _ in 0..64 {
            match *next.get(&at)? {
                (NO_NS, waiter) => at = waiter,
                (next_ns, _) => return Some(next_ns),
            }
        }
        None
    };
    let slack = |asked: &Asked| Some((asked.process, (moment(asked.process)? - asked.ended_ns).max(0)));
    asked.iter().filter_map(slack).collect()
}

fn links_table(trace: &Trace, programs: &ProgramIndex, rows: &[u32], longest: &FxHashMap<u32, (i64, u32)>) -> Table {
    let pid = |task: u32| match trace.tasks[task as usize].pid {
        NO_ID => NO_NS,
        pid => i64::from(pid),
    };
    let program = |task: u32| programs.name_of(task).map_or(Text::NONE, |program| program.path);
    let waits = |task: u32| longest.get(&task).copied();
    let columns = vec![
        ("task", ints(rows.iter().map(|&task| i64::from(task)))),
        ("capture", ints(rows.iter().map(|&task| i64::from(trace.tasks[task as usize].capture)))),
        ("pid", some_ints(rows.iter().map(|&task| pid(task)))),
        ("program", text_column(trace, rows.iter().map(|&task| program(task)))),
        ("waits_for_task", some_ints(rows.iter().map(|&task| waits(task).map_or(NO_NS, |(_, on)| i64::from(on))))),
        ("waits_for_pid", some_ints(rows.iter().map(|&task| waits(task).map_or(NO_NS, |(_, on)| pid(on))))),
        ("waits_for_ns", some_ints(rows.iter().map(|&task| waits(task).map_or(NO_NS, |(ns, _)| ns)))),
    ];
    Table::new("chain", columns)
}
