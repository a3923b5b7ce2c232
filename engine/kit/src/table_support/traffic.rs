//! Traffic: the data that each task read and wrote. It shows which tasks depend on the output of others.

use crate::table_support::context::TableContext;
use crate::table_support::moved::{Moved, is_pipe};
use crate::table_support::shape_index::ShapeIndex;
use parsers::syscalls::{Action, Transfer};
use parsers::{Outcome, Text};
use rustc_hash::FxHashSet;
use trace::store::grouped::Grouped;
use trace::store::index::TaskId;

/// The data that each task transferred, computed on first use, and the children of each task.
pub struct Traffic<'a> {
    context: &'a TableContext<'a>,
    kinds: ShapeIndex<Transfer>,
    children: Grouped<TaskId, TaskId>,
}

impl<'a> Traffic<'a> {
    /// Finds the calls that move data, and each task's children.
    pub fn new(context: &'a TableContext<'a>) -> Traffic<'a> {
        let kinds = ShapeIndex::new(context, |action, shape| {
            (shape.outcome == Outcome::Ok).then(|| moved_way(action))?
        });
        let tasks = &context.trace.tasks;
        let children = Grouped::new(
            tasks.len(),
            tasks
                .iter()
                .map(|task| Some(task.creator).filter(|&creator| creator.index() < tasks.len())),
        );
        Traffic {
            context,
            kinds,
            children,
        }
    }

    /// The data that a task transferred.
    pub(super) fn of(&self, task: TaskId) -> &Moved {
        self.context.memo.moved[task.index()]
            .get_or_init(|| Box::new(moved(self.context, &self.kinds, task)))
    }

    /// The data that these tasks and all their descendants transferred.
    pub fn of_families(&self, tasks: &[TaskId]) -> Moved {
        let mut sum = Moved::default();
        self.family(tasks)
            .into_iter()
            .for_each(|task| sum.add(self.of(task)));
        sum
    }

    /// These tasks and all their descendants.
    pub fn family(&self, tasks: &[TaskId]) -> Vec<TaskId> {
        let (mut all, mut seen) = (
            tasks.to_vec(),
            tasks.iter().copied().collect::<FxHashSet<TaskId>>(),
        );
        let mut at = 0;
        while let Some(&task) = all.get(at) {
            all.extend(
                self.children
                    .of(task)
                    .iter()
                    .copied()
                    .filter(|&child| seen.insert(child)),
            );
            at += 1;
        }
        all
    }

    /// Number of children, given in order of birth, that could not have started earlier according to files and pipes.
    /// Either the creator read output of the previous child, or the child reads a file that an earlier one wrote.
    pub fn dependent(
        &self,
        context: &TableContext<'_>,
        creator: TaskId,
        children: &[TaskId],
    ) -> usize {
        let creators = &self.of(creator).sources;
        let mut written: FxHashSet<Text> = FxHashSet::default();
        let (mut dependent, mut was_read) = (0, false);
        for &child in children {
            let here = self.of_families(&[child]);
            let continues = here.sources.intersection(&written).next().is_some();
            dependent += usize::from(continues || was_read);
            was_read = here
                .sinks
                .intersection(creators)
                .any(|&target| is_pipe(context.trace, target));
            written.extend(
                here.sinks
                    .iter()
                    .filter(|&&target| is_file(context, target)),
            );
        }
        dependent
    }
}

fn moved_way(action: Action) -> Option<Transfer> {
    action
        .transfer()
        .filter(|&way| matches!(way, Transfer::Read | Transfer::Write))
}

fn moved(context: &TableContext<'_>, kinds: &ShapeIndex<Transfer>, task: TaskId) -> Moved {
    let events = &context.trace.events;
    let mut moved = Moved::default();
    let mut last = (None, Text::NONE);
    for (row, way) in kinds.calls(context, task) {
        let bytes = events.ret(row).max(0);
        if bytes == 0 {
            continue;
        }
        let (sum, targets) = match way {
            Transfer::Write => (&mut moved.written_bytes, &mut moved.sinks),
            _ => (&mut moved.read_bytes, &mut moved.sources),
        };
        *sum += bytes;
        // Consecutive calls often have the same target.
        let target = events.target(row);
        if last != (Some(way), target) {
            targets.insert(target);
        }
        last = (Some(way), target);
    }
    moved
}

fn is_file(context: &TableContext<'_>, target: Text) -> bool {
    let path = context.trace.events.texts.bytes(target);
    path.starts_with(b"/")
        && ![&b"/dev/"[..], b"/proc/", b"/sys/"]
            .iter()
            .any(|above| path.starts_with(above))
}
