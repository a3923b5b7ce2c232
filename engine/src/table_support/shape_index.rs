//! Calls by what they are to a table: each shape is judged once, so that looking at an event costs a look at a number.

use crate::store::event::{EventKind, Shape};
use crate::store::task_relations;
use crate::table_support::context::TableContext;
use crate::table_support::limits::MAX_PROCESSES;
use parsers::Text;
use parsers::syscalls::{Action, action_of};
use rayon::prelude::*;

/// A call that matters to a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassifiedCall<K> {
    /// The event.
    pub row: u32,
    /// What it is to the table.
    pub kind: K,
    /// The program at that moment.
    pub program: Text,
}

/// A kind for each shape that matters.
pub struct ShapeIndex<K> {
    kinds: Vec<Option<K>>,
    /// Whether no shape matters.
    is_empty: bool,
}

impl<K: Copy + Send + Sync> ShapeIndex<K> {
    /// Judge each shape by what its syscall does and by the rest of it.
    pub fn new(context: &TableContext<'_>, judge: impl Fn(Action, &Shape) -> Option<K> + Sync) -> ShapeIndex<K> {
        let events = &context.trace.events;
        let shapes = events.shapes().par_iter();
        let kinds: Vec<Option<K>> = shapes.map(|shape| judge(action_of(shape.syscall), shape)).collect();
        ShapeIndex { is_empty: kinds.iter().all(Option::is_none), kinds }
    }

    /// Whether there are shapes of such a kind.
    pub fn any(&self, is_such: impl Fn(K) -> bool) -> bool {
        self.kinds.iter().copied().flatten().any(is_such)
    }

    /// The kind of a row's shape, whether or not it is a call.
    #[inline]
    pub fn of_shape(&self, number: u32) -> Option<K> {
        self.kinds.get(number as usize).copied().flatten()
    }

    /// The calls of a task that matter and count, in order of their starts.
    pub fn calls<'a>(&'a self, context: &'a TableContext<'_>, task: u32) -> impl Iterator<Item = (u32, K)> + 'a {
        let events = &context.trace.events;
        let shapes = if self.is_empty { &[] } else { context.trace.shapes_of(task) };
        context.trace.rows_of(task).iter().zip(shapes).filter_map(move |(&row, &shape)| {
            let kind = self.of_shape(shape)?;
            (events.kind(row) == EventKind::Call && context.selection.has(row)).then_some((row, kind))
        })
    }

    /// As [`ShapeIndex::calls`], with the program that makes each call.
    pub fn by_program<'a>(
        &'a self,
        context: &'a TableContext<'_>,
        task: u32,
    ) -> impl Iterator<Item = ClassifiedCall<K>> + 'a {
        let events = &context.trace.events;
        let programs = context.selection.program_index.of(task);
        let (mut program, mut next) = (programs.first().map_or(Text::NONE, |first| first.path), 1);
        self.calls(context, task).map(move |(row, kind)| {
            while let Some(later) = programs.get(next).filter(|later| later.from_ns <= events.start_ns(row)) {
                (program, next) = (later.path, next + 1);
            }
            ClassifiedCall { row, kind, program }
        })
    }

    /// The calls of the tasks of one process that matter, in order of their starts.
    pub fn calls_of(
        &self,
        context: &TableContext<'_>,
        tasks: &[u32],
        matters: impl Fn(u32) -> bool,
    ) -> Vec<ClassifiedCall<K>> {
        let calls = tasks.iter().flat_map(|&task| self.by_program(context, task));
        let mut calls: Vec<ClassifiedCall<K>> = calls.filter(|call| matters(call.row)).collect();
        if tasks.len() > 1 {
            // Without a clock all starts are equal, and the order is that of the lines.
            calls.sort_by_key(|call| (context.trace.events.start_ns(call.row), call.row));
        }
        calls
    }
}

/// The tasks that count, by process: each list begins with the main task if this one counts.
pub fn processes(context: &TableContext<'_>) -> Vec<Vec<u32>> {
    let mains = task_relations::main_tasks(context.trace);
    let mut of_main: rustc_hash::FxHashMap<u32, usize> = rustc_hash::FxHashMap::default();
    let mut processes: Vec<Vec<u32>> = Vec::new();
    for task in context.tasks() {
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
pub fn costliest<K: Copy + Send + Sync>(context: &TableContext<'_>, kinds: &ShapeIndex<K>) -> Vec<Vec<u32>> {
    costliest_of(context, kinds, MAX_PROCESSES)
}

fn costliest_of<K: Copy + Send + Sync>(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<K>,
    most: usize,
) -> Vec<Vec<u32>> {
    let mut processes = processes(context);
    if processes.len() <= most {
        return processes;
    }
    let weight = |tasks: &Vec<u32>| {
        let calls = tasks.iter().flat_map(|&task| kinds.calls(context, task));
        let (ns, calls) = calls.fold((0i64, 0u32), |(ns, calls), (row, _)| (ns + context.exclusive_ns(row), calls + 1));
        std::cmp::Reverse((ns, calls))
    };
    let mut order: Vec<_> = processes.par_iter().map(weight).zip(0..processes.len()).collect();
    order.sort_unstable();
    let mut chosen: Vec<usize> = order.into_iter().take(most).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    chosen.into_iter().filter_map(|at| processes.get_mut(at).map(std::mem::take)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, look, task};

    #[test]
    fn threads_belong_to_their_process_and_a_signal_is_no_call() {
        let plans = vec![
            task(1).spawn("clone3", 0, 1, 2).call("read", 5, 6).exit(20),
            task(2).of_process(1).call("read", 3, 4).signal("read", 4).call("write", 5, 6).exit(9),
            task(3).call("read", 1, 2).exit(9),
        ];
        look(&build(plans), |context| {
            let reads = ShapeIndex::new(context, |action, _| (action == Action::Reads).then_some(()));
            let processes = processes(context);
            assert_eq!(processes, [vec![0, 1], vec![2]]);
            let starts = reads
                .calls_of(context, &processes[0], |_| true)
                .into_iter()
                .map(|call| context.trace.events.start_ns(call.row));
            assert_eq!(starts.collect::<Vec<_>>(), [3, 5]);
        });
    }
}
