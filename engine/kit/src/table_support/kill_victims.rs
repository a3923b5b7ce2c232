//! The tasks that received the signals which calls sent.

use crate::table_support::context::TableContext;
use parsers::NO_NS;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use trace::store::index::TaskId;

/// Finds tasks by the ids that signals are sent to.
pub struct Victims<'all> {
    context: &'all TableContext<'all>,
    /// By capture and id; built for the first signal.
    by_id: OnceCell<FxHashMap<(u32, i32), Vec<TaskId>>>,
}

impl<'all> Victims<'all> {
    /// Those of the context.
    pub fn new(context: &'all TableContext<'all>) -> Victims<'all> {
        Victims {
            context,
            by_id: OnceCell::new(),
        }
    }

    /// The task that had the id when a call of `task` sent the signal.
    pub fn of(&self, task: TaskId, row: u32) -> Option<TaskId> {
        let (trace, events) = (self.context.trace, &self.context.trace.events);
        let (id, _) = parsers::scan::number(events.texts.bytes(events.target(row)))?;
        let capture = trace.tasks.get(task)?.capture;
        let sent_ns = events.start_ns(row);
        let lived = |&&number: &&TaskId| {
            let known = &trace.tasks[number];
            known.birth_ns <= sent_ns && (known.death_ns == NO_NS || known.death_ns >= sent_ns)
        };
        self.by_id()
            .get(&(capture, i32::try_from(id).ok()?))?
            .iter()
            .find(lived)
            .copied()
    }

    fn by_id(&self) -> &FxHashMap<(u32, i32), Vec<TaskId>> {
        self.by_id.get_or_init(|| {
            let mut by_id: FxHashMap<(u32, i32), Vec<TaskId>> = FxHashMap::default();
            for (number, task) in self.context.trace.tasks.iter_enumerated() {
                by_id
                    .entry((task.capture, task.tid))
                    .or_default()
                    .push(number);
            }
            by_id
        })
    }
}
