//! What shows that a task was in a call, where the duration is only an upper bound.

use crate::table_support::context::TableContext;
use parsers::{DurKind, NO_NS, Outcome};
use trace::store::facts::SeenAsleep;
use trace::store::heuristics::MAX_KERNEL_RATIO;
use trace::store::time_limits::reached_limit;

/// Whether most of the duration may be the program's own time, before or after the call.
///
/// It is the call's if the tracer measured it, saw the task sleep in it, or printed as much CPU time of the kernel, and if
/// the call reached its time limit.
pub fn may_be_outside(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let cpu_ns = events.cpu_ns(row);
    let computed = cpu_ns != NO_NS && cpu_ns.saturating_mul(MAX_KERNEL_RATIO) >= events.dur_ns(row);
    let is_bound = match events.dur_kind(row) {
        DurKind::UpperBound => true,
        // It returned, and its task has no later line: nothing shows when.
        DurKind::None => matches!(events.outcome(row), Outcome::Ok | Outcome::Failed),
        _ => false,
    };
    is_bound && !computed && !events.facts.has::<SeenAsleep>(row) && !reached_limit(events, row)
}
