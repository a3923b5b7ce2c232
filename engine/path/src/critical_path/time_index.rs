//! Time on the path by task, program and kind of call: upper bounds for tables, computed before building their rows.
//!
//! ```text
//! task 7   sh: fork 3, wait4 1, gaps 2 | gcc, from its execve on: openat 9, mmap 4, gaps 30
//! ```
//! The units of a task are its programs one after the other; kinds of calls are syscalls with the class of their targets.

use crate::critical_path::attribution::Attribution;
use parsers::Text;
use parsers::syscalls::Class;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::OnceLock;
use trace::store::index::{ShapeId, TaskId, TiSlice, TiVec};
use trace::store::tasks::Program;
use trace::store::trace::Trace;

/// A kind of call.
pub type CallKind = (Text, Class);

/// What a task did as one program.
#[derive(Clone, Debug)]
pub struct ProgramTime {
    /// The task.
    pub task: TaskId,
    /// The program.
    pub program: Text,
    /// How many events.
    pub rows: u32,
    /// Time in calls.
    pub calls_ns: i64,
    /// Time behind calls.
    pub gaps_ns: i64,
    entries: Range<u32>,
}

/// The sums.
#[derive(Debug, Default)]
pub struct TimeIndex {
    parts: Vec<CallKind>,
    /// Those of the first [`TASKS_AT_ONCE`] tasks, of the next ones, and so on. In one list they would exist twice for a while.
    chunks: Vec<TimesOfTasks>,
    /// Time of each kind of call in all units, and time after calls; see [`TimeIndex::max_ns`].
    totals_ns: Vec<i64>,
    gaps_ns: i64,
    /// See [`TimeIndex::programs`].
    programs: OnceLock<(Vec<u32>, usize)>,
}

/// Number of tasks that a core adds up at a time.
const TASKS_AT_ONCE: usize = 256;

/// The units of some tasks and their entries.
#[derive(Debug, Default)]
struct TimesOfTasks {
    /// Those of a task together and in order, tasks in order.
    units: Vec<ProgramTime>,
    /// Where the units of each task end.
    ends: Vec<u32>,
    /// Kind of call and its time, grouped by unit.
    entries: Vec<(u32, i64)>,
}

impl TimeIndex {
    /// Add up: one pass over the events.
    pub fn new(trace: &Trace, attribution: &Attribution) -> TimeIndex {
        // Computed before all cores request it at once.
        trace.program_index();
        let (parts, of_shape) = parts(trace);
        let scratch = || Scratch {
            of_shape: &of_shape,
            sums: vec![0; parts.len()],
            used: Vec::new(),
        };
        let tasks: Vec<TaskId> = trace.tasks.keys().collect();
        let some = |scratch: &mut Scratch<'_>, tasks: &[TaskId]| {
            let mut times = TimesOfTasks::default();
            for &task in tasks {
                scratch.of_task(trace, attribution, task, &mut times);
                times.ends.push(times.units.len() as u32);
            }
            times.units.shrink_to_fit();
            times.entries.shrink_to_fit();
            times
        };
        let chunks = tasks
            .par_chunks(TASKS_AT_ONCE)
            .map_init(scratch, some)
            .collect();
        let mut spent = TimeIndex {
            parts,
            chunks,
            ..TimeIndex::default()
        };
        spent.add_up();
        spent
    }

    fn add_up(&mut self) {
        let (mut totals_ns, mut gaps_ns) = (vec![0; self.parts.len()], 0);
        for seen in self.seen() {
            self.entries_of(seen)
                .iter()
                .for_each(|&(part, ns)| totals_ns[part as usize] += ns);
            gaps_ns += seen.gaps_ns;
        }
        (self.totals_ns, self.gaps_ns) = (totals_ns, gaps_ns);
    }

    /// The traced time of each unit. A program with no event but its execve has the time of that call.
    pub fn seen(&self) -> impl Iterator<Item = &ProgramTime> {
        self.units()
            .scan(None, |before: &mut Option<&ProgramTime>, unit| {
                let seen = before
                    .filter(|before| unit.rows == 0 && before.task == unit.task)
                    .unwrap_or(unit);
                *before = Some(seen);
                Some(seen)
            })
    }

    /// Time in calls of these kinds, and after calls if gaps count. It is an upper bound for any row built from it.
    pub fn max_ns(&self, is_such: &[bool], gaps: bool) -> i64 {
        let such = self
            .totals_ns
            .iter()
            .zip(is_such)
            .filter(|&(_, &is_such)| is_such);
        such.map(|(&ns, _)| ns).sum::<i64>() + if gaps { self.gaps_ns } else { 0 }
    }

    /// The kinds of calls, by number.
    pub fn parts(&self) -> &[CallKind] {
        &self.parts
    }

    /// What each task did as each of its programs.
    pub fn units(&self) -> impl Iterator<Item = &ProgramTime> {
        self.chunks.iter().flat_map(|times| &times.units)
    }

    /// What a task did as each of its programs, one for each program that the index of programs knows.
    pub fn units_of(&self, task: TaskId) -> &[ProgramTime] {
        let (chunk, at) = (task.index() / TASKS_AT_ONCE, task.index() % TASKS_AT_ONCE);
        let Some(TimesOfTasks { units, ends, .. }) = self.chunks.get(chunk) else {
            return &[];
        };
        let from = at
            .checked_sub(1)
            .and_then(|before| ends.get(before))
            .copied()
            .unwrap_or(0);
        let to = ends.get(at).copied().unwrap_or(from);
        units.get(from as usize..to as usize).unwrap_or(&[])
    }

    /// For each unit the number of its program, counted by capture, and how many there are.
    pub fn programs(&self, trace: &Trace) -> (&[u32], usize) {
        let (numbers, count) = self.programs.get_or_init(|| {
            let mut known: FxHashMap<(u32, Text), u32> = FxHashMap::default();
            let number = |unit: &ProgramTime| {
                let next = known.len() as u32;
                *known
                    .entry((trace.tasks[unit.task].capture, unit.program))
                    .or_insert(next)
            };
            let numbers = self.units().map(number).collect();
            (numbers, known.len())
        });
        (numbers, *count)
    }

    /// Time of a unit in calls of these kinds.
    pub fn in_calls_ns(&self, unit: &ProgramTime, is_such: &[bool]) -> i64 {
        self.entries_of(unit)
            .iter()
            .filter(|&&(part, _)| is_such.get(part as usize) == Some(&true))
            .map(|&(_, ns)| ns)
            .sum()
    }

    fn entries_of(&self, unit: &ProgramTime) -> &[(u32, i64)] {
        let chunk = self.chunks.get(unit.task.index() / TASKS_AT_ONCE);
        let entries = chunk.and_then(|chunk| {
            chunk
                .entries
                .get(unit.entries.start as usize..unit.entries.end as usize)
        });
        entries.unwrap_or(&[])
    }

    /// Time on the path of each task, in its calls and after them.
    pub fn by_task(&self, tasks: usize) -> Vec<i64> {
        let mut sums = vec![0; tasks];
        for unit in self.units() {
            sums[unit.task.index()] += unit.calls_ns + unit.gaps_ns;
        }
        sums
    }
}

/// The kinds of calls, and that of each shape.
fn parts(trace: &Trace) -> (Vec<CallKind>, TiVec<ShapeId, u32>) {
    let known = trace.shape_parts();
    let mut numbers: FxHashMap<CallKind, u32> = FxHashMap::default();
    let mut parts = Vec::new();
    let of_shape = trace
        .events
        .shapes()
        .iter_enumerated()
        .map(|(number, shape)| {
            let part = (shape.syscall, known.class_of(number));
            *numbers.entry(part).or_insert_with(|| {
                parts.push(part);
                parts.len() as u32 - 1
            })
        });
    let of_shape = of_shape.collect();
    (parts, of_shape)
}

/// Sums of a unit while it is added up: kept between tasks, so that it is made once a thread.
struct Scratch<'a> {
    of_shape: &'a TiSlice<ShapeId, u32>,
    sums: Vec<i64>,
    used: Vec<u32>,
}

impl Scratch<'_> {
    fn of_task(
        &mut self,
        trace: &Trace,
        attribution: &Attribution,
        task: TaskId,
        times: &mut TimesOfTasks,
    ) {
        let events = &trace.events;
        let programs = trace.program_index().of(task);
        let new = |program| ProgramTime {
            task,
            program,
            rows: 0,
            calls_ns: 0,
            gaps_ns: 0,
            entries: 0..0,
        };
        let (rows, shapes) = (trace.rows_of(task), trace.shapes_of(task));
        // Where the next program begins, among the rows of the task.
        let end_of = |from: usize, later: Option<&Program>| match later {
            Some(later) => {
                from + rows[from..].partition_point(|&row| events.start_ns(row) < later.from_ns)
            }
            None => rows.len(),
        };
        let mut places = attribution.places(trace, task).peekable();
        let mut unit = new(programs.first().map_or(Text::NONE, |first| first.path));
        let (mut next, mut first) = (1, 0);
        loop {
            let end = end_of(first, programs.get(next));
            unit.rows = (end - first) as u32;
            while let Some(at) = places.next_if(|&at| at < end) {
                self.add(attribution.of_row(rows[at]), shapes[at], &mut unit);
            }
            times.units.push(self.ended(unit, &mut times.entries));
            let Some(later) = programs.get(next).filter(|_| end < rows.len()) else {
                break;
            };
            (unit, first, next) = (new(later.path), end, next + 1);
        }
        times.units.extend(
            programs
                .get(next..)
                .unwrap_or(&[])
                .iter()
                .map(|program| new(program.path)),
        );
    }

    fn add(&mut self, (ns, gap_after_ns): (i64, i64), shape: ShapeId, unit: &mut ProgramTime) {
        unit.calls_ns += ns;
        unit.gaps_ns += gap_after_ns;
        if ns > 0 {
            let part = self.of_shape[shape];
            if self.sums[part as usize] == 0 {
                self.used.push(part);
            }
            self.sums[part as usize] += ns;
        }
    }

    fn ended(&mut self, unit: ProgramTime, entries: &mut Vec<(u32, i64)>) -> ProgramTime {
        let first = entries.len() as u32;
        entries.extend(
            self.used
                .drain(..)
                .map(|part| (part, std::mem::take(&mut self.sums[part as usize]))),
        );
        ProgramTime {
            entries: first..entries.len() as u32,
            ..unit
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TimeIndex;
    use crate::testing::walked;
    use trace::testing::{build, task};

    #[test]
    fn time_by_program_and_kind_of_call_sums_to_the_path() {
        let plan = task(1)
            .exec(0, 1, "/bin/sh")
            .call("read", 10, 15)
            .call("read", 20, 25);
        let plan = plan
            .exec(30, 31, "/bin/gzip")
            .call("write", 40, 70)
            .exit(80);
        let trace = build(vec![plan]);
        let (_, attribution) = walked(&trace);
        let spent = TimeIndex::new(&trace, &attribution);
        let texts = &trace.events.texts;
        let is_read: Vec<bool> = spent
            .parts()
            .iter()
            .map(|part| texts.bytes(part.0) == b"read")
            .collect();
        let units = spent.units().map(|unit| {
            let name = texts.string(unit.program).into_owned();
            (
                name,
                spent.in_calls_ns(unit, &is_read),
                unit.calls_ns,
                unit.gaps_ns,
            )
        });
        let units: Vec<_> = units.collect();
        assert_eq!(units[units.len() - 1], ("/bin/gzip".to_owned(), 0, 30, 10));
        assert!(
            units.contains(&("/bin/sh".to_owned(), 10, 12, 28)),
            "{units:?}"
        );
        assert_eq!(spent.by_task(1), [80]);
    }
}
