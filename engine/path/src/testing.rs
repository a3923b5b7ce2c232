//! What tests ask about the critical path of a trace made by hand.

use crate::critical_path::attribution::Attribution;
use crate::critical_path::segment::{Segment, What};
use crate::critical_path::window::{self, Window, WindowChoice};
use crate::partition::pieces::Pieces;
use crate::partition::{group_by, scope};
use crate::waits::wakers::Wakers;
use trace::store::index::TaskId;
use trace::store::table::Table;
use trace::store::trace::Trace;

/// The windows of all of a trace, and the critical path through them.
pub fn walked(trace: &Trace) -> (Vec<Window>, Attribution) {
    let windows = window::windows(trace, &WindowChoice::default());
    let attribution = Attribution::walked(trace, &Wakers::new(trace), &windows);
    (windows, attribution)
}

/// Nanoseconds on the critical path of each task, in calls and between them.
pub fn on_path(trace: &Trace) -> Vec<i64> {
    let (_, attribution) = walked(trace);
    let of_row = |row: &u32| attribution.in_call_ns(*row) + attribution.gap_after_ns(*row);
    let of_task = |task: TaskId| trace.rows_of(task).iter().map(of_row).sum();
    trace.tasks.keys().map(of_task).collect()
}

/// The partition of the windows, the largest charge first: per capture it sums to the length of its window.
pub fn partition(trace: &Trace, wakers: &Wakers, windows: &[Window]) -> Table {
    let programs = trace.program_index();
    let pieces = Pieces::new(
        trace,
        programs,
        &Attribution::walked(trace, wakers, windows),
        windows,
    );
    group_by::group_by(trace, &pieces, &scope::GroupQuery::default())
}

/// Time on the path charged to each task, by its number.
pub fn exclusive_by_task(trace: &Trace, segments: &[Segment]) -> Vec<i64> {
    let mut exclusive_ns = vec![0; trace.tasks.len()];
    segments
        .iter()
        .for_each(|segment| exclusive_ns[segment.task.index()] += segment.dur_ns());
    exclusive_ns
}

/// Time on the path charged to each event that has some, in order of rows: calls with their resumption, messages.
pub fn charges(segments: &[Segment]) -> Vec<(u32, i64)> {
    let charged = |segment: &Segment| match segment.what {
        What::Call(row) | What::Resume(row) | What::Silence(row) => Some((row, segment.dur_ns())),
        What::Gap(_) | What::Spawn(_) => None,
    };
    let mut charges: Vec<(u32, i64)> = segments.iter().filter_map(charged).collect();
    charges.sort_unstable();
    charges.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    charges
}
