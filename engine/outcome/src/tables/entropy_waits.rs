//! Waits for random numbers: calls that deliver them, and the silences of a log until the kernel has them.
//!
//! ```text
//! random: uninitialized urandom read │ 1 s │ usb 1-1: new device │ 40 s │ random: crng init done │ Started sshd
//! pselect6 = 1, 14 s │ read /dev/random                                                          the same in calls
//! one wait of 41 s: it begins with a lack, ends when the generator is ready, and work continues after it
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::call_stats::CallStats;
use kit::table_support::context::TableContext;
use kit::table_support::grouping::{self, CallGroup, Grouping};
use kit::table_support::kit::{ProcessesOf, table};
use kit::table_support::messages::messages;
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::{ShapeIndex, processes};
use logs::messages::entropy::{Entropy, continues, entropy};
use parsers::facts::Fds;
use parsers::syscalls::Action;
use parsers::{DurKind, Text};
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::events::EventTable;
use trace::store::heuristics::{MAX_BYSTANDERS, MAX_RESUME_NS};
use trace::store::index::{ShapeId, TaskId};

table! {
    entropy_waits "Waits for random numbers, by process, call and target, or by message.";
    times: Calls;
    row {
        group: OfProcesses { task "Number of the main task of the process; missing for a log, like the other ids." },
        syscall: Text "The system call; missing for a log.",
        target: Text "The file if all calls share it; in a log, the message that random numbers are lacking.",
        until: Text "In a log, the message that random numbers are available.",
        sum: CallSums { calls "Number of calls on the critical path, or of silences." },
    }
}

/// Calls that deliver random numbers.
const CALLS: &[&[u8]] = &[b"getrandom", b"getentropy"];
/// Files and devices that do.
const FILES: &[&[u8]] = &[b"/dev/random", b"/dev/urandom", b"/dev/hwrng"];
/// Those whose reads wait until there are enough.
const BLOCKING_FILES: &[&[u8]] = &[b"/dev/random", b"/dev/hwrng"];

/// Builds the table of waits for random numbers, by process, call and target, or by message.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let texts = &context.trace.events.texts;
    let known = |names: &[&[u8]]| {
        names
            .iter()
            .filter_map(|name| texts.find(name))
            .collect::<Vec<Text>>()
    };
    let (calls, files) = (known(CALLS), known(FILES));
    let kinds = ShapeIndex::by_target(
        context,
        |_, part| !files.is_empty() || calls.contains(&part.syscall),
        |_, _, shape| {
            (calls.contains(&shape.syscall) || files.contains(&shape.target)).then_some(())
        },
    );
    let processes = if kinds.any(|()| true) {
        processes(context)
    } else {
        Vec::new()
    };
    let groups = parallel::flat_map(&processes, |tasks| of_process(context, &kinds, tasks));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in grouping::limit_groups(context, groups, |&(syscall, _)| (syscall, Text::NONE)) {
        let row = TableRow {
            group: (&group).into(),
            syscall: group.key.0,
            target: grouping::only_target(context, &group.rows),
            until: Text::NONE,
            sum: group.sum(context),
        };
        builder.add(row, Provenance::Rows(group.rows));
    }
    for (number, capture) in (0u32..).zip(&context.trace.captures) {
        if capture.facts.dur_kind == DurKind::Gap {
            for wait in waits(context, &messages(context, capture)) {
                write(context, number, wait, &mut builder);
            }
        }
    }
    builder.finish()
}

/// The file that a read or poll waits for, if it delivers random numbers and the call waits for nothing else.
pub(super) fn awaited_source(context: &TableContext<'_>, row: u32) -> Option<Text> {
    let events = &context.trace.events;
    let polled = events.polled(row);
    match polled {
        [] => Some(events.target(row)).filter(|&target| is_blocking_file(events, target)),
        // Descriptors without a known name may be what it waits for.
        &[first, ..] if polled.len() == fds(context, row) => polled
            .iter()
            .all(|&target| is_blocking_file(events, target))
            .then_some(first),
        _ => None,
    }
}

fn is_blocking_file(events: &EventTable, target: Text) -> bool {
    BLOCKING_FILES.contains(&events.texts.bytes(target))
}

/// The number of descriptors that a poll waits for.
fn fds(context: &TableContext<'_>, row: u32) -> usize {
    let fds = context.trace.events.facts.get::<Fds>(row);
    fds.map_or(0, |fds| fds.len())
}

/// The calls of a process that delayed the end of the window.
fn of_process(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<()>,
    tasks: &[TaskId],
) -> Vec<CallGroup<(Text, Text)>> {
    let events = &context.trace.events;
    let mut groups: Grouping<(Text, (Text, Text))> = Grouping::default();
    for call in kinds.calls_of(context, tasks, |row| context.exclusive_ns(row) > 0) {
        groups.add(
            (
                call.program,
                (events.shape(call.row).syscall, events.target(call.row)),
            ),
            call.row,
        );
    }
    for (program, row) in tasks.iter().flat_map(|&task| polls(context, kinds, task)) {
        groups.add(
            (program, (events.shape(row).syscall, events.target(row))),
            row,
        );
    }
    let groups = groups.groups.into_iter();
    groups
        .map(|((program, key), rows)| CallGroup::of_one(tasks[0], program, key, rows))
        .collect()
}

/// Polls that found one descriptor ready, which the next call reads random numbers from. Few tracers print the descriptor.
fn polls(context: &TableContext<'_>, kinds: &ShapeIndex<()>, task: TaskId) -> Vec<(Text, u32)> {
    let events = &context.trace.events;
    let (rows, shapes) = (context.trace.rows_of(task), context.trace.shapes_of(task));
    let is_source = |shape: ShapeId| kinds.of_shape(shape).is_some();
    let is_poll = |row: u32| {
        let waits = events.action(row) == Action::Polls
            && events.ret(row) == 1
            && context.exclusive_ns(row) > 0;
        waits && context.selection.has(row)
    };
    let pairs = rows.windows(2).zip(shapes.windows(2));
    let pairs = pairs
        .filter(|(_, shapes)| is_source(shapes[1]) && !is_source(shapes[0]))
        .map(|(rows, _)| rows);
    let waits = pairs.filter(|pair| events.action(pair[1]) == Action::Reads && is_poll(pair[0]));
    waits
        .map(|pair| (context.program(task, pair[0]), pair[0]))
        .collect()
}

/// A wait in a log: the message of a lack, the one that ends it, and the messages before its silences.
#[derive(Default)]
struct Wait {
    lack: Option<u32>,
    ready: Option<u32>,
    rows: Vec<u32>,
}

/// The waits in a log, in order.
fn waits(context: &TableContext<'_>, rows: &[u32]) -> Vec<Wait> {
    let events = &context.trace.events;
    let mut known: FxHashMap<Text, Option<Entropy>> = FxHashMap::default();
    let (mut waits, mut lack): (Vec<Wait>, Option<usize>) = (Vec::new(), None);
    for (at, &row) in rows.iter().enumerate() {
        let text = events.target(row);
        match *known
            .entry(text)
            .or_insert_with(|| entropy(&events.texts.string(text)))
        {
            Some(Entropy::Lacks) => {
                lack = Some(at);
                waits.push(Wait {
                    lack: Some(row),
                    ready: None,
                    rows: vec![row],
                });
            }
            Some(Entropy::Ready) => {
                let begin = lack.take().filter(|begin| at - begin <= MAX_BYSTANDERS + 1);
                let first = begin.unwrap_or(at.saturating_sub(1));
                if first < at && resumes(context, &rows[at..]) {
                    if begin.is_some() {
                        waits.pop();
                    }
                    let lack = begin.map(|begin| rows[begin]);
                    waits.push(Wait {
                        lack,
                        ready: Some(row),
                        rows: rows[first..at].to_vec(),
                    });
                }
            }
            None => {}
        }
    }
    waits
}

/// Whether work continues soon after the first of these messages: what waited for it goes on.
fn resumes(context: &TableContext<'_>, rows: &[u32]) -> bool {
    let events = &context.trace.events;
    let Some((&ready, later)) = rows.split_first() else {
        return false;
    };
    let end_ns = events.start_ns(ready).saturating_add(MAX_RESUME_NS);
    let mut soon = later
        .iter()
        .take_while(|&&row| events.start_ns(row) <= end_ns);
    soon.any(|&row| continues(&events.texts.string(events.target(row))))
}

fn write(context: &TableContext<'_>, capture: u32, wait: Wait, builder: &mut TableBuilder<'_>) {
    let events = &context.trace.events;
    let Some((&first, &last)) = wait.rows.first().zip(wait.rows.last()) else {
        return;
    };
    let sum: CallStats = grouping::sum(context, &wait.rows);
    let row = TableRow {
        group: ProcessesOf::NoProcess { capture },
        syscall: Text::NONE,
        target: message(events, wait.lack),
        until: message(events, wait.ready),
        sum: CallStats {
            first_row: wait.lack.unwrap_or(first),
            last_row: wait.ready.unwrap_or(last),
            ..sum
        },
    };
    builder.add(row, Provenance::Rows(wait.rows));
}

fn message(events: &EventTable, row: Option<u32>) -> Text {
    row.map_or(Text::NONE, |row| events.target(row))
}
