//! Calls by what they are to a table: each shape is judged once, so that looking at an event costs a look at a number.

use crate::events::{EventKind, Shape};
use crate::trace::Trace;
use crate::view::View;
use parsers::Text;
use rayon::prelude::*;
use std::sync::OnceLock;

/// A call that matters to a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call<K> {
    /// The event.
    pub row: u32,
    /// What it is to the table.
    pub kind: K,
    /// The program at that moment.
    pub program: Text,
}

/// A kind for each shape that matters.
pub struct Kinds<K> {
    kinds: Vec<Option<K>>,
    /// The rows whose shapes matter, found when they are first asked for.
    rows: OnceLock<ByTask>,
}

/// Rows by task, those of a task in order of their starts.
struct ByTask {
    /// Where the rows of each task begin, and where the last ones end.
    offsets: Vec<u32>,
    rows: Vec<u32>,
}

impl<K: Copy + Send + Sync> Kinds<K> {
    /// Judge each shape by the name of its syscall and by the rest of it.
    pub fn new(view: &View<'_>, judge: impl Fn(&[u8], &Shape) -> Option<K> + Sync) -> Kinds<K> {
        let events = &view.trace.events;
        let shapes = events.shapes().par_iter();
        let kinds = shapes.map(|shape| judge(events.texts.bytes(shape.syscall), shape)).collect();
        Kinds { kinds, rows: OnceLock::new() }
    }

    /// The kind of a row's shape, whether or not it is a call.
    pub fn of_shape(&self, number: u32) -> Option<K> {
        self.kinds.get(number as usize).copied().flatten()
    }

    /// The calls of a task that matter and count, in order of their starts.
    pub fn calls<'a>(&'a self, view: &'a View<'_>, task: u32) -> impl Iterator<Item = (u32, K)> + 'a {
        let events = &view.trace.events;
        let ByTask { offsets, rows } = self.rows.get_or_init(|| self.by_task(view.trace));
        let bounds = offsets.get(task as usize).zip(offsets.get(task as usize + 1));
        let rows = bounds.and_then(|(&from, &to)| rows.get(from as usize..to as usize)).unwrap_or(&[]);
        rows.iter().filter_map(move |&row| {
            let kind = self.of_shape(events.shape_number(row))?;
            (events.kind(row) == EventKind::Call && view.selection.has(row)).then_some((row, kind))
        })
    }

    /// One pass over the numbers of shapes, in the order in which they lie in memory: most tables look at few rows.
    ///
    /// Not on several cores: who waits for this pass must not be given another part of the same table to do meanwhile.
    fn by_task(&self, trace: &Trace) -> ByTask {
        let events = &trace.events;
        let matters: Vec<bool> = self.kinds.iter().map(Option::is_some).collect();
        let mut offsets = vec![0u32; trace.tasks.len() + 1];
        if !matters.contains(&true) {
            return ByTask { offsets, rows: Vec::new() };
        }
        let mut found: Vec<(u32, u32)> = Vec::new();
        for (first_row, shapes, tasks) in events.shapes_and_tasks() {
            let rows = (first_row..).zip(shapes.iter().zip(tasks));
            let mine = rows.filter(|(_, (shape, _))| matters.get(**shape as usize).is_some_and(|&matters| matters));
            found.extend(mine.map(|(row, (_, &task))| (task, row)));
        }
        found.iter().for_each(|&(task, _)| offsets[task as usize + 1] += 1);
        (1..offsets.len()).for_each(|at| offsets[at] += offsets[at - 1]);
        let (mut rows, mut next) = (vec![0u32; found.len()], offsets.clone());
        for (task, row) in found {
            rows[next[task as usize] as usize] = row;
            next[task as usize] += 1;
        }
        for bounds in offsets.windows(2) {
            let rows = &mut rows[bounds[0] as usize..bounds[1] as usize];
            // As in the trace: held-back output places lines at their ends.
            if !rows.is_sorted_by_key(|&row| events.start_ns(row)) {
                rows.sort_by_key(|&row| events.start_ns(row));
            }
        }
        ByTask { offsets, rows }
    }

    /// As [`Kinds::calls`], with the program that makes each call.
    pub fn by_program<'a>(&'a self, view: &'a View<'_>, task: u32) -> impl Iterator<Item = Call<K>> + 'a {
        let events = &view.trace.events;
        let programs = view.selection.program_index.of(task);
        let (mut program, mut next) = (programs.first().map_or(Text::NONE, |first| first.path), 1);
        self.calls(view, task).map(move |(row, kind)| {
            while let Some(later) = programs.get(next).filter(|later| later.from_ns <= events.start_ns(row)) {
                (program, next) = (later.path, next + 1);
            }
            Call { row, kind, program }
        })
    }

    /// The calls of the tasks of one process that matter, in order of their starts.
    pub fn calls_of(&self, view: &View<'_>, tasks: &[u32], matters: impl Fn(u32) -> bool) -> Vec<Call<K>> {
        let calls = tasks.iter().flat_map(|&task| self.by_program(view, task));
        let mut calls: Vec<Call<K>> = calls.filter(|call| matters(call.row)).collect();
        if tasks.len() > 1 {
            // Without a clock all starts are equal, and the order is that of the lines.
            calls.sort_by_key(|call| (view.trace.events.start_ns(call.row), call.row));
        }
        calls
    }
}

/// The tasks that count, by process: each list begins with the main task if this one counts.
pub fn processes(view: &View<'_>) -> Vec<Vec<u32>> {
    let mains = crate::processes::main_tasks(view.trace);
    let mut of_main: rustc_hash::FxHashMap<u32, usize> = rustc_hash::FxHashMap::default();
    let mut processes: Vec<Vec<u32>> = Vec::new();
    for task in view.tasks() {
        let main = mains.get(task as usize).copied().unwrap_or(task);
        let at = *of_main.entry(main).or_insert_with(|| {
            processes.push(Vec::new());
            processes.len() - 1
        });
        if let Some(process) = processes.get_mut(at) {
            process.push(task);
        }
    }
    processes
}

/// Of the processes that count, those whose calls of these kinds have most time on the path, in their order. A process
/// beyond so many has next to nothing of the window, and looking at its calls one by one would cost more than it tells.
pub fn costliest<K: Copy + Send + Sync>(view: &View<'_>, kinds: &Kinds<K>) -> Vec<Vec<u32>> {
    costliest_of(view, kinds, MOST_PROCESSES)
}

fn costliest_of<K: Copy + Send + Sync>(view: &View<'_>, kinds: &Kinds<K>, most: usize) -> Vec<Vec<u32>> {
    let mut processes = processes(view);
    if processes.len() <= most {
        return processes;
    }
    let weight = |tasks: &Vec<u32>| {
        let calls = tasks.iter().flat_map(|&task| kinds.calls(view, task));
        let (ns, calls) = calls.fold((0i64, 0u32), |(ns, calls), (row, _)| (ns + view.exclusive_ns(row), calls + 1));
        std::cmp::Reverse((ns, calls))
    };
    let mut order: Vec<_> = processes.par_iter().map(weight).zip(0..processes.len()).collect();
    order.sort_unstable();
    let mut chosen: Vec<usize> = order.into_iter().take(most).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    chosen.into_iter().filter_map(|at| processes.get_mut(at).map(std::mem::take)).collect()
}

/// See [`costliest`].
pub const MOST_PROCESSES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{build, look, task};

    #[test]
    fn threads_belong_to_their_process_and_a_signal_is_no_call() {
        let plans = vec![
            task(1).spawn("clone3", 0, 1, 2).call("read", 5, 6).exit(20),
            task(2).of_process(1).call("read", 3, 4).signal("read", 4).call("write", 5, 6).exit(9),
            task(3).call("read", 1, 2).exit(9),
        ];
        look(&build(plans), |view| {
            let reads = Kinds::new(view, |syscall, _| (syscall == b"read").then_some(()));
            let processes = processes(view);
            assert_eq!(processes, [vec![0, 1], vec![2]]);
            let starts = reads
                .calls_of(view, &processes[0], |_| true)
                .into_iter()
                .map(|call| view.trace.events.start_ns(call.row));
            assert_eq!(starts.collect::<Vec<_>>(), [3, 5]);
        });
    }
}
