//! Converts questions of Python for replays, and their answers.

use super::requests::Claimant;
use super::selection::PySelection;
use pyo3::prelude::*;
use report::replay::question::{Changed, LeftOut, Variant};
use report::replay::scenario::Replayed;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Maximum number of tasks named per replay.
const MAX_TASKS: usize = 16;

/// What changes: the events of claimants, or selected ones.
#[derive(FromPyObject)]
pub(super) enum RequestedChange<'py> {
    Selected(Bound<'py, PySelection>),
    Claims(Vec<Claimant<'py>>),
}

impl RequestedChange<'_> {
    pub(super) fn changed(self) -> PyResult<Changed> {
        match self {
            RequestedChange::Selected(selection) => {
                Ok(Changed::Selected(Box::new(selection.get().0.clone())))
            }
            RequestedChange::Claims(claimants) => {
                let members = claimants.into_iter().map(Claimant::members);
                Ok(Changed::Claims(
                    members.collect::<PyResult<Vec<_>>>()?.concat(),
                ))
            }
        }
    }
}

/// Numbers of changes with the share that remains in millionths, what of tracing is left out (0: nothing, 1: the
/// minimum, else so many percent of the mean), whether serial children run beside each other.
pub(super) type RequestedVariant = (Vec<(usize, i64)>, i64, bool);

pub(super) fn variant((shares, tracing, is_parallel): RequestedVariant) -> Variant {
    Variant {
        shares,
        tracing: match tracing {
            0 => LeftOut::Nothing,
            1 => LeftOut::Least,
            percent => LeftOut::Mean(percent),
        },
        is_parallel,
    }
}

/// Length of the window, and the tasks with most of it: id of the process, program, time.
pub(super) type Answer = (i64, Vec<(i32, Option<String>, i64)>);

pub(super) fn answer(trace: &Trace, replayed: Replayed) -> Answer {
    let of_task = |&(task, ns): &(TaskId, i64)| {
        let program = trace.program_index().name_of(task);
        let path = program.map(|program| trace.events.texts.string(program.path).into_owned());
        (trace.tasks[task].pid, path, ns)
    };
    let tasks = replayed.exclusive_ns.iter().take(MAX_TASKS).map(of_task);
    (replayed.wall_ns, tasks.collect())
}
