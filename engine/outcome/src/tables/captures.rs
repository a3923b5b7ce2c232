//! Captures: the data that each capture provides, and the data that it lacks.
//!
//! ```text
//! strace -o a.log sh x.sh          no durations, children not followed: 3 children, none of them traced
//! ```

use crate::tables::open_calls::open_call;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{TaskAt, table};
use kit::table_support::provenance::Provenance;
use parsers::{LineKind, NO_NS, Outcome};
use path::critical_path::window::{Window, WindowChoice, window_of};
use rayon::prelude::*;
use trace::store::index::TaskId;
use trace::store::trace::{Capture, LossCause};

table! {
    captures "Captures that have events.";
    times: Calls;
    row {
        of: OfTask {
            task "Number of the first task.",
            pid "Its process id.",
            tid "Its thread id.",
            program "Program of that process.",
        },
        format: Words "Input format.",
        lines: Count "Number of lines.",
        calls: Count "Number of calls.",
        processes: Count "Number of processes.",
        unseen_children: Count "Children that were created but have no line in the capture.",
        unseen_threads: MaybeCount "Threads among these children; missing if there are none.",
        presumed_children: Count "Children whose ids differ from those their creators know, or whose creation never returned; matched by elimination.",
        unfollowed: Flag "Whether children were created and none of them is in the capture.",
        has_clock: Flag "Whether events have timestamps on one wall clock.",
        has_durations: Flag "Whether the tracer printed call durations.",
        has_ids: Flag "Whether lines contain thread ids.",
        dur_kind: Words "exact, upper-bound (may include user time), gap or none.",
        cut: Flag "Whether the last line is truncated or the compressed file ends early.",
        ends_open: Flag "Whether the last line is a call that waits and did not return: the capture need not be truncated.",
        open_calls: Count "Tasks whose last call was still open when the capture ended.",
        lost_events: Count "Events that the tracer reported as lost.",
        lost_by: Words "Cause of most lost events: full-buffers, no-variable-space, unreadable-argument.",
        unused_lines: Count "Lines that could not be used.",
        unused_share: Share "Unused lines as a share of all lines.",
        backward_steps: Count "Lines with a timestamp earlier than that of a previous line.",
        overhead_floor_ns: Ns "Minimum time that tracing adds to each call.",
        overhead_share: Share "Minimum tracing overhead of all calls as a share of the window.",
        tracing_ns: Ns "What tracing added to the critical path: measured by a run without the tracer, or the calls on it times the mean cost of a call: as the kernel saw it, or estimated from calls that return at once.",
        tracing_measured: Flag "Whether tracing_ns was measured (record --untraced).",
        tracing_share: Share "tracing_ns as a share of the window.",
        filtered: Flag "Whether some families of calls are certainly missing.",
        only_sockets: Flag "Whether all calls are about sockets, and sockets are made that no call waits for or closes.",
        families: List "Families of calls in the capture.",
        first_line: FirstLineNumber "Line of its first event.",
        last_line: LastLineNumber "Line of its last event.",
    }
}

/// Builds the table, one row per capture with events.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (number, capture) in (0u32..).zip(&context.trace.captures) {
        if !capture.rows.is_empty() && !capture.tasks.is_empty() {
            write(context, number, capture, &mut builder);
        }
    }
    builder.finish()
}

fn write(
    context: &TableContext<'_>,
    number: u32,
    capture: &Capture,
    builder: &mut TableBuilder<'_>,
) {
    let (trace, tasks) = (
        context.trace,
        context.trace.tasks.get(capture.tasks.clone()),
    );
    let tasks = tasks.map_or(&[][..], |tasks| &tasks.raw);
    let first = capture.rows.start;
    let trusted = context.trust_of_capture(number);
    let unused = lines_lost(capture);
    let wall_ns = context
        .windows
        .get(number as usize)
        .map_or(0, Window::wall_ns);
    let measured_ns = measured_tracing_ns(context, number, capture);
    let tracing_ns = (wall_ns > 0 && capture.has_wall_clock())
        .then(|| measured_ns.unwrap_or_else(|| tracing_ns(context, capture)));
    let (first_line, last_line) = lines_of(context, capture);
    let row = TableRow {
        of: TaskAt {
            task: trace.events.task(first),
            row: first,
        },
        format: Some(capture.format.to_owned()),
        lines: capture.lines() as i64,
        calls: tasks.iter().map(|task| task.calls as i64).sum(),
        processes: tasks.iter().filter(|task| !task.is_thread).count() as i64,
        unseen_children: capture.unseen_children as i64,
        unseen_threads: (capture.unseen_threads > 0).then_some(capture.unseen_threads as i64),
        presumed_children: capture.presumed_children as i64,
        unfollowed: trusted.is_some_and(|trust| trust.has_unfollowed_children),
        has_clock: capture.has_wall_clock(),
        has_durations: capture.facts.has_durations,
        has_ids: capture.facts.has_ids,
        dur_kind: Some(capture.facts.dur_kind.name().to_owned()),
        cut: capture.cut,
        ends_open: ends_open(context, capture),
        open_calls: open_calls(context, capture),
        lost_events: capture.lost_events as i64,
        lost_by: commonest_loss(capture).map(|cause| cause.name().to_owned()),
        unused_lines: unused as i64,
        unused_share: (capture.lines() > 0).then(|| unused as f64 / capture.lines() as f64),
        backward_steps: capture.backward_steps as i64,
        overhead_floor_ns: trusted
            .and_then(|trust| trust.overhead_floor_ns)
            .unwrap_or(NO_NS),
        overhead_share: trusted.and_then(|trust| trust.overhead_share),
        tracing_ns: tracing_ns.unwrap_or(NO_NS),
        tracing_measured: measured_ns.is_some(),
        tracing_share: tracing_ns.map(|tracing_ns| tracing_ns as f64 / wall_ns as f64),
        filtered: trusted.is_some_and(|trust| trust.filtered),
        only_sockets: trusted.is_some_and(|trust| trust.has_only_sockets),
        families: trusted.map_or_else(Vec::new, |trust| {
            trust.families.iter().map(|&name| name.to_owned()).collect()
        }),
        first_line: Some(first_line),
        last_line: Some(last_line),
    };
    builder.add(row, Provenance::Rows(Vec::new()));
}

/// The cause of most lost events.
fn commonest_loss(capture: &Capture) -> Option<LossCause> {
    capture
        .lost_by
        .iter()
        .zip(LossCause::ALL)
        .max_by_key(|((events, _), _)| *events)
        .filter(|((events, _), _)| *events > 0)
        .map(|(_, cause)| cause)
}

/// The first and the last line: those of losses if events were lost, otherwise those of the events.
fn lines_of(context: &TableContext<'_>, capture: &Capture) -> (i64, i64) {
    let line = |row: u32| i64::from(context.trace.events.line(row));
    match loss_lines(capture) {
        Some((first_line, last_line)) if capture.lost_events > 0 => {
            (first_line as i64, last_line as i64)
        }
        _ => (
            line(capture.rows.start),
            line(capture.rows.end.saturating_sub(1)),
        ),
    }
}

/// How much longer the whole run took than the same command without the tracer, if that was run.
fn measured_tracing_ns(context: &TableContext<'_>, number: u32, capture: &Capture) -> Option<i64> {
    let untraced_ns = capture.recorded.as_ref()?.untraced_ns;
    let whole = window_of(context.trace, number, &WindowChoice::default())?;
    let is_whole = context.windows.get(number as usize) == Some(&whole);
    (is_whole && untraced_ns != NO_NS).then(|| (whole.wall_ns() - untraced_ns).max(0))
}

/// What tracing is estimated to have added to the path.
fn tracing_ns(context: &TableContext<'_>, capture: &Capture) -> i64 {
    let tasks: Vec<TaskId> = capture.task_ids().collect();
    tasks
        .into_par_iter()
        .map(|task| context.traced(task).tracing_ns())
        .sum()
}

/// Lines that could not be used, but have a remedy. A report of lost events is a message that was read.
fn lines_lost(capture: &Capture) -> u64 {
    LineKind::ALL
        .iter()
        .filter(|kind| kind.remedy().is_some() && **kind != LineKind::Dropped)
        .map(|&kind| capture.lines_of(kind))
        .sum()
}

/// The first and the last of the lines that are the first to report a loss, one for each cause.
fn loss_lines(capture: &Capture) -> Option<(u64, u64)> {
    let lines = || {
        capture
            .lost_by
            .iter()
            .map(|&(_, line)| line)
            .filter(|&line| line > 0)
    };
    Some((lines().min()?, lines().max()?))
}

/// Whether the capture ends with a call that waits and did not return.
fn ends_open(context: &TableContext<'_>, capture: &Capture) -> bool {
    let events = &context.trace.events;
    let last = capture.rows.clone().next_back().map(|row| events.task(row));
    let open = last.and_then(|task| open_call(context, task));
    open.filter(|call| call.wait.is_some())
        .is_some_and(|call| u64::from(events.line(call.row)) >= capture.last_line())
}

/// Calls that were unfinished when the capture ended. Only the last call of a task can be.
fn open_calls(context: &TableContext<'_>, capture: &Capture) -> i64 {
    let is_open = |task: &TaskId| {
        let last = context.trace.rows_of(*task).last();
        last.is_some_and(|&row| context.trace.events.outcome(row) == Outcome::Open)
    };
    capture.task_ids().filter(is_open).count() as i64
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{build, task};

    #[test]
    fn build_reports_the_contents_of_a_capture() {
        let plans = vec![
            task(1).call("read", 0, 1).open("read", 5),
            task(2).call("read", 1, 2).exit(3),
        ];
        let columns = [
            "format",
            "calls",
            "processes",
            "has_durations",
            "has_ids",
            "cut",
            "open_calls",
        ];
        let found = rows(&build(plans), super::build, &columns);
        assert_eq!(found.len(), 1);
        assert!(found[0].ends_with("2 true true false 1"), "{found:?}");
    }
}
