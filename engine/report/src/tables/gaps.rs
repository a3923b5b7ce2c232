//! Gaps between two calls of a task (user code, or calls missing from the capture), and silences of a log.

use parsers::{NO_ID, NO_NS, Text};
use query::selection::Selection;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::schema::schema;
use trace::store::spans::Span;
use trace::store::table::{Table, TextColumn, ints, some_ints};
use trace::store::text_columns::{self, push_text};
use trace::store::trace::Trace;

schema! {
    pub GAPS: gaps "Spans of a task between two of its calls.";
    times: Calls;
    columns {
        of: OfTask { program "Program at that moment." },
        start_ns: Moment "Start time of the gap.",
        dur_ns: Ns "Duration of the gap.",
        before: Text "Call or message before the gap.",
        after: Text "Call or message after the gap.",
        line: FirstLine "Line of the event before the gap.",
        next_line: LastLine "Line of the event after the gap.",
    }
}

/// A gap and the events around it.
struct Gap {
    task: TaskId,
    start_ns: i64,
    dur_ns: i64,
    before: u32,
    after: Option<u32>,
}

/// Gaps of at least `at_least_ns`, the longest first. The time before a task's first event and after its last is not a
/// gap.
pub fn gaps(trace: &Trace, selection: &Selection<'_>, at_least_ns: i64) -> Table {
    let mut found: Vec<Gap> = Vec::new();
    for task in trace.tasks.keys().filter(|&task| selection.has_task(task)) {
        between_calls(trace, task, at_least_ns, &mut found);
        silences(trace, task, at_least_ns, &mut found);
    }
    found.retain(|gap| selection.is_all() || selection.has(gap.before));
    found.sort_by_key(|gap| (std::cmp::Reverse(gap.dur_ns), gap.start_ns));
    table(trace, selection, &found)
}

fn between_calls(trace: &Trace, task: TaskId, at_least_ns: i64, found: &mut Vec<Gap>) {
    let mut before: Option<Span> = None;
    for span in trace.spans(task) {
        if let Some(before) =
            before.filter(|before| span.start_ns - before.end_ns >= at_least_ns.max(1))
        {
            let dur_ns = span.start_ns - before.end_ns;
            found.push(Gap {
                task,
                start_ns: before.end_ns,
                dur_ns,
                before: before.row,
                after: Some(span.row),
            });
        }
        before = Some(span);
    }
}

/// Sorted by timestamp, like the partition, because log lines may be out of order.
fn silences(trace: &Trace, task: TaskId, at_least_ns: i64, found: &mut Vec<Gap>) {
    let events = &trace.events;
    let mut rows: Vec<u32> = trace
        .rows_of(task)
        .iter()
        .copied()
        .filter(|&row| events.kind(row) == EventKind::Log && events.start_ns(row) != NO_NS)
        .collect();
    rows.sort_by_key(|&row| events.start_ns(row));
    for pair in rows.windows(2) {
        let start_ns = events.start_ns(pair[0]);
        let dur_ns = events.start_ns(pair[1]) - start_ns;
        if dur_ns >= at_least_ns.max(1) && !events.is_repeat(pair[1]) {
            found.push(Gap {
                task,
                start_ns,
                dur_ns,
                before: pair[0],
                after: Some(pair[1]),
            });
        }
    }
}

fn table(trace: &Trace, selection: &Selection<'_>, found: &[Gap]) -> Table {
    let events = &trace.events;
    let (mut programs, mut before, mut after) = (
        TextColumn::default(),
        TextColumn::default(),
        TextColumn::default(),
    );
    let what = |row: u32| match events.kind(row) {
        EventKind::Log => events.texts.string(events.target(row)).into_owned(),
        _ => text_columns::shape_text(events, events.shape_number(row)),
    };
    for gap in found {
        let program = selection.program_index.at(gap.task, gap.start_ns);
        push_text(
            &mut programs,
            events,
            program.map_or(Text::NONE, |program| program.path),
        );
        before.push(Some(&what(gap.before)));
        after.push(gap.after.map(&what).as_deref());
    }
    let id = |id: i32| if id == NO_ID { NO_NS } else { i64::from(id) };
    let task = |gap: &Gap| &trace.tasks[gap.task];
    let columns = vec![
        (
            "capture",
            ints(found.iter().map(|gap| i64::from(task(gap).capture))),
        ),
        ("task", ints(found.iter().map(|gap| i64::from(gap.task)))),
        ("pid", some_ints(found.iter().map(|gap| id(task(gap).pid)))),
        ("tid", some_ints(found.iter().map(|gap| id(task(gap).tid)))),
        ("program", programs.finish()),
        ("start_ns", ints(found.iter().map(|gap| gap.start_ns))),
        ("dur_ns", ints(found.iter().map(|gap| gap.dur_ns))),
        ("before", before.finish()),
        ("after", after.finish()),
        (
            "line",
            ints(found.iter().map(|gap| i64::from(events.line(gap.before)))),
        ),
        (
            "next_line",
            some_ints(
                found
                    .iter()
                    .map(|gap| gap.after.map_or(NO_NS, |row| i64::from(events.line(row)))),
            ),
        ),
    ];
    Table::new("gaps", columns)
}
