//! Classifies calls by shape. Each shape is classified once, so classifying an event is a lookup in an array.

use crate::table_support::context::TableContext;
use crate::table_support::limits::MAX_PROCESSES;
use parsers::Text;
use parsers::syscalls::{Action, action_of};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;
use trace::store::event::Shape;
use trace::store::index::{ShapeId, TaskId};
use trace::store::shape_parts::ShapeParts;

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
    kinds: Kinds<K>,
    parts: Arc<ShapeParts>,
    /// Whether no shape is relevant.
    is_empty: bool,
    /// Whether all relevant shapes are of rare parts. The rows of rare parts are listed.
    is_rare: bool,
}

enum Kinds<K> {
    OfShapes(Vec<Option<K>>),
    /// Of shapes without their targets.
    OfParts(Vec<Option<K>>),
}

impl<K: Copy + Send + Sync> ShapeIndex<K> {
    /// Classifies each shape by the action of its syscall and by its other properties apart from its target. There may be
    /// very many shapes, but there are few without their targets.
    pub fn new(
        context: &TableContext<'_>,
        classify: impl Fn(Action, &Shape) -> Option<K>,
    ) -> ShapeIndex<K> {
        let parts = Arc::clone(context.trace.shape_parts());
        let kinds = parts
            .parts()
            .iter()
            .map(|part| classify(action_of(part.syscall), part));
        let kinds: Vec<Option<K>> = kinds.collect();
        let relevant: Vec<usize> = (0..kinds.len())
            .filter(|&part| kinds[part].is_some())
            .collect();
        ShapeIndex::of(Kinds::OfParts(kinds), parts, &relevant)
    }

    /// The same by number of the shape and by its target, too. If `may_be` is false for a shape, it is not relevant with
    /// any target.
    pub fn by_target(
        context: &TableContext<'_>,
        may_be: impl Fn(Action, &Shape) -> bool,
        classify: impl Fn(ShapeId, Action, &Shape) -> Option<K> + Sync,
    ) -> ShapeIndex<K> {
        let parts = Arc::clone(context.trace.shape_parts());
        let may_be = |part: &Shape| may_be(action_of(part.syscall), part);
        let may_be: Vec<bool> = parts.parts().iter().map(may_be).collect();
        let shapes = context
            .trace
            .events
            .shapes()
            .raw
            .par_iter()
            .zip(&parts.of_shapes().raw)
            .enumerate();
        let kinds = shapes.map(|(number, (shape, &part))| match may_be[part as usize] {
            true => classify(number.into(), action_of(shape.syscall), shape),
            false => None,
        });
        let kinds: Vec<Option<K>> = kinds.collect();
        let mut is_relevant = vec![false; may_be.len()];
        let relevant = kinds
            .iter()
            .zip(parts.of_shapes())
            .filter(|(kind, _)| kind.is_some());
        relevant.for_each(|(_, &part)| is_relevant[part as usize] = true);
        let relevant: Vec<usize> = (0..may_be.len())
            .filter(|&part| is_relevant[part])
            .collect();
        ShapeIndex::of(Kinds::OfShapes(kinds), parts, &relevant)
    }

    fn of(kinds: Kinds<K>, parts: Arc<ShapeParts>, relevant: &[usize]) -> ShapeIndex<K> {
        let is_rare = relevant.iter().all(|&part| parts.is_rare(part));
        ShapeIndex {
            kinds,
            parts,
            is_empty: relevant.is_empty(),
            is_rare,
        }
    }

    /// Whether the trace has shapes of such a kind.
    pub fn any(&self, is_such: impl Fn(K) -> bool) -> bool {
        let (Kinds::OfShapes(kinds) | Kinds::OfParts(kinds)) = &self.kinds;
        !self.is_empty && kinds.iter().copied().flatten().any(is_such)
    }

    /// The kind of a shape. The event type is not checked.
    #[inline]
    pub fn of_shape(&self, number: ShapeId) -> Option<K> {
        match &self.kinds {
            Kinds::OfShapes(kinds) => kinds.get(number.index()).copied().flatten(),
            Kinds::OfParts(kinds) => kinds[self.parts.of_shape(number) as usize],
        }
    }

    /// The relevant selected calls of a task, ordered by start.
    pub fn calls<'a>(
        &'a self,
        context: &'a TableContext<'_>,
        task: TaskId,
    ) -> impl Iterator<Item = (u32, K)> + 'a {
        let (rows, shapes) = (context.trace.rows_of(task), context.trace.shapes_of(task));
        let is_call = context.trace.are_calls(task);
        let rare = if self.is_rare && !self.is_empty {
            context.trace.rare_places(task)
        } else {
            None
        };
        let all = if self.is_empty || rare.is_some() {
            0..0
        } else {
            0..rows.len()
        };
        rare.into_iter().flatten().chain(all).filter_map(move |at| {
            let kind = self.of_shape(shapes[at])?;
            (is_call(at) && context.selection.has(rows[at])).then(|| (rows[at], kind))
        })
    }

    /// Like [`ShapeIndex::calls`], with the program that makes each call.
    pub fn by_program<'a>(
        &'a self,
        context: &'a TableContext<'_>,
        task: TaskId,
    ) -> impl Iterator<Item = ClassifiedCall<K>> + 'a {
        let events = &context.trace.events;
        let programs = context.selection.program_index.of(task);
        let (mut program, mut next) = (programs.first().map_or(Text::NONE, |first| first.path), 1);
        self.calls(context, task).map(move |(row, kind)| {
            while let Some(later) = programs
                .get(next)
                .filter(|later| later.from_ns <= events.start_ns(row))
            {
                (program, next) = (later.path, next + 1);
            }
            ClassifiedCall { row, kind, program }
        })
    }

    /// The relevant calls of all tasks of one process, ordered by start.
    pub fn calls_of(
        &self,
        context: &TableContext<'_>,
        tasks: &[TaskId],
        matters: impl Fn(u32) -> bool,
    ) -> Vec<ClassifiedCall<K>> {
        let calls = tasks
            .iter()
            .flat_map(|&task| self.by_program(context, task));
        let mut calls: Vec<ClassifiedCall<K>> = calls.filter(|call| matters(call.row)).collect();
        if tasks.len() > 1 {
            // Without timestamps all starts are equal, and the order of the lines decides.
            calls.sort_by_key(|call| (context.trace.events.start_ns(call.row), call.row));
        }
        calls
    }
}

/// The tasks of a process.
pub type ProcessTasks<'all> = Cow<'all, [TaskId]>;

/// The selected tasks by process. Each list starts with the main task if that one is selected.
pub fn processes<'all>(context: &'all TableContext<'_>) -> Vec<ProcessTasks<'all>> {
    let all = context.selected_processes();
    if context.matters.is_none() {
        return all.groups().map(Cow::Borrowed).collect();
    }
    let that_matter =
        |tasks: &'all [TaskId]| match tasks.iter().filter(|&&task| context.matters(task)).count() {
            0 => None,
            some if some == tasks.len() => Some(Cow::Borrowed(tasks)),
            _ => Some(
                tasks
                    .iter()
                    .copied()
                    .filter(|&task| context.matters(task))
                    .collect(),
            ),
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
        let (ns, calls) = calls.fold((0i64, 0u32), |(ns, calls), (row, _)| {
            (ns + context.exclusive_ns(row), calls + 1)
        });
        std::cmp::Reverse((ns, calls))
    };
    let mut order: Vec<_> = processes
        .par_iter()
        .map(weight)
        .zip(0..processes.len())
        .collect();
    order.sort_unstable();
    let mut chosen: Vec<usize> = order.into_iter().take(limit).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    chosen
        .into_iter()
        .filter_map(|at| processes.get_mut(at).map(std::mem::take))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::look;
    use trace::testing::{build, task};

    #[test]
    fn calls_of_covers_all_threads_and_skips_signals() {
        let plans = vec![
            task(1).spawn("clone3", 0, 1, 2).call("read", 5, 6).exit(20),
            task(2)
                .of_process(1)
                .call("read", 3, 4)
                .signal("read", 4)
                .call("write", 5, 6)
                .exit(9),
            task(3).call("read", 1, 2).exit(9),
        ];
        look(&build(plans), |context| {
            let reads =
                ShapeIndex::new(context, |action, _| (action == Action::Reads).then_some(()));
            let processes = processes(context);
            assert_eq!(
                processes,
                [vec![0, 1], vec![2]]
                    .map(|tasks| tasks.into_iter().map(TaskId::new).collect::<Vec<_>>())
            );
            let starts = reads
                .calls_of(context, &processes[0], |_| true)
                .into_iter()
                .map(|call| context.trace.events.start_ns(call.row));
            assert_eq!(starts.collect::<Vec<_>>(), [3, 5]);
        });
    }
}
