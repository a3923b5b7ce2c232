//! The tasks that have a lane, and their order: a process before its threads and children.

use crate::picture::lane::LaneSource;
use crate::picture::overview::ClassSums;
use std::cmp::Reverse;
use trace::store::event::NONE;
use trace::store::index::{TaskId, TiVec, ti_vec};
use trace::store::task_relations::creators;
use trace::store::trace::Trace;

/// The lanes of a picture.
pub struct Lanes {
    /// The task of each lane, in tree order.
    pub tasks: Vec<TaskId>,
    /// The lifetime of each lane inside the window.
    pub lives: Vec<(i64, i64)>,
    /// The lane of the nearest creator that has one, or [`NONE`].
    pub parents: Vec<u32>,
    /// The lane of each task of the trace, or [`NONE`].
    pub of_task: TiVec<TaskId, u32>,
}

/// The tasks of a capture that live in the window.
pub fn inside(source: &LaneSource<'_>, tasks: impl Iterator<Item = TaskId>) -> Vec<TaskId> {
    tasks.filter(|&task| source.life(task).is_some()).collect()
}

/// The tasks with most time on the critical path, then with the longest life, at most `most`; and their sums, which the
/// caller has for each of `tasks`.
pub fn chosen(
    source: &LaneSource<'_>,
    tasks: &[TaskId],
    on_path_ns: &[i64],
    most: usize,
) -> Vec<TaskId> {
    let life_ns = |task: TaskId| {
        source
            .life(task)
            .map_or(0, |(start_ns, end_ns)| end_ns - start_ns)
    };
    let mut chosen = tasks.to_vec();
    if most < chosen.len() {
        let rank = |&task: &TaskId| {
            let on_path_ns = on_path_ns.get(task.index()).copied().unwrap_or(0);
            (Reverse(on_path_ns), Reverse(life_ns(task)), task)
        };
        chosen.select_nth_unstable_by_key(most, rank);
        chosen.truncate(most);
    }
    chosen
}

impl Lanes {
    /// Lanes for these tasks.
    pub fn new(source: &LaneSource<'_>, chosen: Vec<TaskId>) -> Lanes {
        let trace = source.trace;
        let mut has_lane = ti_vec![false; trace.tasks.len()];
        chosen.iter().for_each(|&task| has_lane[task] = true);
        let parent = |task: TaskId| {
            creators(trace, task)
                .skip(1)
                .find(|&up| has_lane[up])
                .unwrap_or(TaskId::NONE)
        };
        let tasks = tree_order(trace, &chosen, parent);
        let mut of_task = ti_vec![NONE; trace.tasks.len()];
        (0..)
            .zip(&tasks)
            .for_each(|(lane, &task)| of_task[task] = lane);
        let lane_of = |task: TaskId| {
            if task == TaskId::NONE {
                NONE
            } else {
                of_task[task]
            }
        };
        let parents = tasks.iter().map(|&task| lane_of(parent(task))).collect();
        let lives = tasks.iter().filter_map(|&task| source.life(task)).collect();
        Lanes {
            tasks,
            lives,
            parents,
            of_task,
        }
    }

    /// The sums of the lanes, and of all other tasks together.
    pub fn sums(&self, tasks: &[TaskId], sums: &[ClassSums]) -> (Vec<ClassSums>, ClassSums) {
        let mut of_lanes = vec![ClassSums::default(); self.tasks.len()];
        let mut folded = ClassSums::default();
        for (&task, sums) in tasks.iter().zip(sums) {
            match self.of_task[task] {
                NONE => folded
                    .iter_mut()
                    .zip(sums)
                    .for_each(|(sum, more)| *sum += more),
                lane => of_lanes[lane as usize] = *sums,
            }
        }
        (of_lanes, folded)
    }
}

/// Creators first; of the tasks of one creator its threads, then the others, each by birth. Tasks in a cycle of creators
/// come last.
fn tree_order(trace: &Trace, chosen: &[TaskId], parent: impl Fn(TaskId) -> TaskId) -> Vec<TaskId> {
    let mut edges: Vec<(TaskId, TaskId)> =
        chosen.iter().map(|&task| (parent(task), task)).collect();
    edges.sort_by_key(|&(up, task)| (up, birth_rank(trace, task)));
    let children = |up: TaskId| {
        let from = edges.partition_point(|&(other, _)| other < up);
        edges[from..]
            .iter()
            .take_while(move |&&(other, _)| other == up)
            .map(|&(_, task)| task)
    };
    let (mut order, mut is_done) = (
        Vec::with_capacity(chosen.len()),
        ti_vec![false; trace.tasks.len()],
    );
    let roots: Vec<TaskId> = children(TaskId::NONE)
        .chain(chosen.iter().copied())
        .collect();
    for root in roots {
        let mut stack = vec![root];
        while let Some(task) = stack.pop() {
            if !std::mem::replace(&mut is_done[task], true) {
                order.push(task);
                let from = stack.len();
                stack.extend(children(task).filter(|&child| !is_done[child]));
                stack[from..].reverse();
            }
        }
    }
    order
}

fn birth_rank(trace: &Trace, task: TaskId) -> (bool, i64, TaskId) {
    let known = &trace.tasks[task];
    (!known.is_thread, known.birth_ns, task)
}
