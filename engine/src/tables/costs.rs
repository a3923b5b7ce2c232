//! The calls and gaps that contribute to the rows of each table, so that rows below a threshold need not be built; see
//! [`crate::table_support::pruning`]. Tables that are not listed are always built completely: their rows include time
//! of other tasks, or building them is cheap.

use crate::table_support::pruning::{Cost, Joins};
use crate::table_support::threshold::CostScope;
use parsers::syscalls::{Action, Class, Transfer, Wait};

/// One row per process and program.
const OF_PROCESS: Cost = Cost {
    calls: |_, _| true,
    gaps: false,
    of: CostScope::Process,
    joins: Joins::Few,
    of_program: true,
    apart: true,
};

/// One row per task, with the time of all programs that it ran.
const OF_TASK: Cost = Cost {
    of: CostScope::Task,
    joins: Joins::Never,
    of_program: false,
    ..OF_PROCESS
};

/// Sorted by table name.
#[rustfmt::skip]
pub(super) const COSTS: &[(&str, Cost)] = &[
    ("ancestor_walks", Cost { calls: |action, _| action.lookup().is_some(), joins: Joins::Costliest(Some(2)), ..OF_PROCESS }),
    ("children", Cost { calls: |action, _| action.wait() == Some(Wait::Child), ..OF_TASK }),
    ("commands", Cost { gaps: true, of: CostScope::Program, joins: Joins::Never, ..OF_PROCESS }),
    ("connects", Cost { calls: |action, _| action == Action::Connects || action.wait() == Some(Wait::Poll), ..OF_TASK }),
    ("copies", Cost { gaps: true, of: CostScope::Process, ..OF_TASK }),
    ("cpu", Cost { calls: |_, _| false, gaps: true, of: CostScope::Process, ..OF_TASK }),
    ("fd_sweeps", Cost { calls: |action, _| super::fd_sweeps::sweeps(action), ..OF_PROCESS }),
    ("io", Cost { calls: |action, _| action.transfer().is_some(), ..OF_PROCESS }),
    ("lookups", Cost { calls: |action, _| action.lookup().is_some(), ..OF_PROCESS }),
    ("loops", Cost { gaps: true, ..OF_TASK }),
    ("metadata", Cost { calls: |action, _| super::metadata::queries(action), joins: Joins::Costliest(None), ..OF_PROCESS }),
    ("outliers", Cost { of: CostScope::Call, joins: Joins::Never, apart: false, ..OF_PROCESS }),
    ("ready_spins", Cost { gaps: true, ..OF_TASK }),
    ("rereads", Cost { calls: |action, _| reads(action), of: CostScope::Target, apart: false, ..OF_TASK }),
    ("rescans", Cost { calls: |action, _| reads(action) || action == Action::ControlsDevice, of_program: false, apart: false, ..OF_PROCESS }),
    ("slow_targets", Cost { calls: |_, class| on_disk_or_network(class), joins: Joins::Costliest(Some(1)), ..OF_PROCESS }),
    ("syncs", Cost { calls: |action, _| super::syncs::may_sync(action), ..OF_PROCESS }),
    ("timeouts", Cost { calls: |action, _| action.wait().is_some(), apart: false, ..OF_TASK }),
];

/// Whether the action opens, reads or seeks.
fn reads(action: Action) -> bool {
    matches!(action, Action::Opens | Action::Seeks)
        || matches!(action.transfer(), Some(Transfer::Read | Transfer::List))
}

fn on_disk_or_network(class: Class) -> bool {
    matches!(class, Class::Disk | Class::Network)
}
