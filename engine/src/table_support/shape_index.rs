//! Classifies calls by shape. Each shape is classified once, so classifying an event is an array lookup.

use crate::store::event::Shape;
use crate::table_support::context::TableContext;
use crate::table_support::limits::MAX_PROCESSES;
use parsers::Text;
use parsers::syscalls::{Action, action_of};
use rayon::prelude::*;
use std::borrow::Cow;

/// A call that is relevant to a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassifiedCall<K> {
    /// Row of the call.
    pub row: u32,
    /// Its class within the table.
    pub kind: K,
    /// The program that makes the call.
    pub program: Text,
}

/// Maps each relevant shape to its kind.
pub struct ShapeIndex<K> {
    kinds: Vec<Option<K>>,
    /// Whether no shape is relevant.
    is_empty: bool,
}

impl<K: Copy + Send + Sync> ShapeIndex<K> {
    /// Classifies each shape by the action of its syscall and by its other properties.
    pub fn new(context: &TableContext<'_>, classify: impl Fn(Action, &Shape) -> Option<K> + Sync) -> ShapeIndex<K> {
        ShapeIndex::numbered(context, |_, action, shape| classify(action, shape))
    }

    /// The same by number of the shape, too.
    pub fn numbered(
        context: &TableContext<'_>,
        classify: impl Fn(u32, Action, &Shape) -> Option<K> + Sync,
    ) -> ShapeIndex<K> {
        let shapes = context.trace.events.shapes().par_iter().enumerate();
        let kinds = shapes.map(|(number, shape)| classify(number as u32, action_of(shape.syscall), shape));
        let kinds: Vec<Option<K>> = kinds.collect();
        ShapeIndex { is_empty: kinds.iter().all(Option::is_none), kinds }
    }

    /// Whether the trace has shapes of such a kind.
    pub fn any(&self, is_such: impl Fn(K) -> bool) -> bool {
        self.kinds.iter().copied().flatten().any(is_such)
    }

    /// The kind of a shape. The event type is not checked.
    #[inline]
    pub fn of_shape(&self, number: u32) -> Option<K> {
        self.kinds.get(number as usize).copied().flatten()
    }

    /// The relevant selected calls of a task, ordered by start.
    pub fn calls<'a>(&'a self, context: &'a TableContext<'_>, task: u32) -> impl Iterator<Item = (u32, K)> + 'a {
        let shapes = if self.is_empty { &[] } else { context.trace.shapes_of(task) };
        let (rows, is_call) = (context.trace.rows_of(task), context.trace.are_calls(task));
        shapes.iter().enumerate().filter_map(move |(at, &shape)| {
            let kind = self.of_shape(shape)?;
            (is_call(at) && context.selection.has(rows[at])).then(|| (rows[at], kind))
        })
    }

    /// Like [`ShapeIndex::calls`], with the program that makes each call.
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

    /// The relevant calls of all tasks of one process, ordered by start.
    pub fn calls_of(
        &self,
        context: &TableContext<'_>,
        tasks: &[u32],
        matters: impl Fn(u32) -> bool,
    ) -> Vec<ClassifiedCall<K>> {
        let calls = tasks.iter().flat_map(|&task| self.by_program(context, task));
        let mut calls: Vec<ClassifiedCall<K>> = calls.filter(|call| matters(call.row)).collect();
        if tasks.len() > 1 {
            // Without timestamps all starts are equal, and the order of the lines decides.
            calls.sort_by_key(|call| (context.trace.events.start_ns(call.row), call.row));
        }
        calls
    }
}

/// The tasks of a process.
pub type ProcessTasks<'all> = Cow<'all, [u32]>;

/// The selected tasks by process. Each list starts with the main task if that one is selected.
pub fn processes<'all>(context: &'all TableContext<'_>) -> Vec<ProcessTasks<'all>> {
    let all = context.selected_processes();
    if context.matters.is_none() {
        return all.groups().map(Cow::Borrowed).collect();
    }
    let that_matter = |tasks: &'all [u32]| match tasks.iter().filter(|&&task| context.matters(task)).count() {
        0 => None,
        some if some == tasks.len() => Some(Cow::Borrowed(tasks)),
        _ => Some(tasks.iter().copied().filter(|&task| context.matters(task)).collect()),
    };
    let mut some: Vec<ProcessTasks<'all>> = all.groups().filter_map(that_matter).collect();
    some.sort_by_key(|tasks| tasks[0]);
    some
}

/// The [`MAX_PROCESSES`] processes whose calls of these kinds have the most time on the critical path, in their
/// original order. The remaining processes hardly contribute to the window, and inspecting their calls one by one would
/// be too slow.
pub fn costliest<'all, K: Copy + Send + Sync>(
    context: &'all TableContext<'_>,
    kinds: &ShapeIndex<K>,
) -> Vec<ProcessTasks<'all>> {
    costliest_of(context, kinds, MAX_PROCESSES)
}

fn costliest_of<'all, K: Copy + Send + Sync>(
    context: &'all TableContext<'_>,
    kinds: &ShapeIndex<K>,
    limit: usize,
) -> Vec<ProcessTasks<'all>> {
    let mut processes = processes(context);
    if processes.len() <= limit {
        return processes;
    }
    let weight = |tasks: &ProcessTasks<'_>| {
        let calls = tasks.iter().flat_map(|&task| kinds.calls(context, task));
        let (ns, calls) = calls.fold((0i64, 0u32), |(ns, calls), (row, _)| (ns + context.exclusive_ns(row), calls + 1));
        std::cmp::Reverse((ns, calls))
    };
    let mut order: Vec<_> = processes.par_iter().map(weight).zip(0..processes.len()).collect();
    order.sort_unstable();
    let mut chosen: Vec<usize> = order.into_iter().take(limit).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    chosen.into_iter().filter_map(|at| processes.get_mut(at).map(std::mem::take)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, look, task};

    #[test]
    fn calls_of_covers_all_threads_and_skips_signals() {
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
