//! Stops: tasks that a signal stopped until another signal continued them, processes killed by a signal, and those that went on
//! after the signal that asked them to end.
//!
//! ```text
//! task     |-- call --|SIGSTOP ~~~~~~~~ SIGCONT|-- call --|        stopped: 1 stop, the time up to SIGCONT
//! killer   kill TERM ……… 5 s ……… kill KILL                         killed: the sender, 5 s after the SIGTERM
//! victim   SIGTERM ……… 30 s ……… killed by SIGKILL                   killed: by somebody else, 30 s after the SIGTERM
//! killer   kill TERM | poll 1 s | poll 1 s …                        asked: both live when the capture ends
//! victim   SIGTERM ……… 22 s ………
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::process_ends::ProcessEnds;
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::ShapeIndex;
use parsers::line::Ended;
use parsers::syscalls::Action;
use parsers::{NO_NS, Outcome, Text};
use path::waits::signal::sent_to;
use path::waits::stops::is_stop_name;
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::event::{EventKind, NONE};
use trace::store::index::{ShapeId, TaskId};
use trace::store::trace::Trace;

table! {
    stops "Tasks that were stopped, and processes that were killed or asked to end.";
    times: Calls;
    row {
        of: OfTask { program "Program at that moment." },
        kind: Words "stopped, killed, or asked: it went on after SIGTERM until the capture ended.",
        signal: Text "The signal.",
        script: Words "Script that the program interprets.",
        stops: Count "Number of stops.",
        lasts: Flag "Whether it is still stopped when the capture ends.",
        total_ns: Ns "Time it was stopped.",
        max_ns: Ns (Max) "Longest stop.",
        sender_pid: MaybeId "Process that sent the signal, if the capture shows it.",
        sender_program: Text "Program of that process.",
        after_term_ns: Ns "Time from a SIGTERM to the SIGKILL for the same process.",
        asked: Text "Signal that had asked the process to end before SIGKILL did.",
        asked_line: LastLineNumber "Line of its delivery.",
        deaf_ns: Ns "Time from that delivery to the end of the process or capture, if the capture does not show who sent SIGKILL.",
        path: PathTime { exclusive_ns "Critical-path time in which it was stopped." },
        lines: Lines {
            first_line "Line of the first stop, or of the call that killed it.",
            last_line "Line of the last stop, or of its exit.",
        },
    }
}

/// Calls that sent a signal, by capture and target id, in order.
type Sent = FxHashMap<(u32, i32), Vec<u32>>;

/// The effect of a signal on a task.
struct Stop {
    task: TaskId,
    signal: Text,
    stops: i64,
    total_ns: i64,
    longest_ns: i64,
    exclusive_ns: i64,
    /// Latest possible time of sending.
    at_ns: i64,
    after_term_ns: i64,
    /// The signal that asked the process to end, [`NONE`] if there is none.
    asked: u32,
    first_row: u32,
    last_row: u32,
    /// Calls after which the task was stopped.
    gaps: Vec<u32>,
}

/// Builds the table of tasks that were stopped and of processes that were killed.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let stops = stop_signals(context);
    let tasks: Vec<TaskId> = context.tasks().collect();
    let mut stopped: Vec<Stop> = if stops.is_empty() {
        Vec::new()
    } else {
        parallel::flat_map(&tasks, |&task| stopped(context, &stops, task))
    };
    stopped.sort_by_key(|stop| (std::cmp::Reverse(stop.exclusive_ns), stop.first_row));
    let killed: Vec<Stop> = tasks
        .iter()
        .filter_map(|&task| killed(context, task))
        .collect();
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    let ends = ProcessEnds::new(context);
    let outlived = |&task: &TaskId| Some((task, ends.outlived(context, task)?));
    let asked: Vec<(TaskId, u32)> = tasks.iter().filter_map(outlived).collect();
    if stopped.is_empty() && killed.is_empty() && asked.is_empty() {
        return builder.finish();
    }
    let sent = sent(context);
    stopped
        .into_iter()
        .for_each(|stop| write(context, &sent, "stopped", stop, &mut builder));
    for mut stop in killed {
        stop.after_term_ns = after_term_ns(context.trace, &sent, &stop);
        stop.asked = ends.ignored(context, stop.task).unwrap_or(NONE);
        write(context, &sent, "killed", stop, &mut builder);
    }
    for (task, row) in asked {
        if let Some(stop) = goes_on(context, &sent, task, row) {
            write(context, &sent, "asked", stop, &mut builder);
        }
    }
    builder.finish()
}

/// A process that goes on after it was asked to end, if the one that asked it does, too: it may wait for that.
fn goes_on(context: &TableContext<'_>, sent: &Sent, task: TaskId, asked: u32) -> Option<Stop> {
    let trace = context.trace;
    let (events, known) = (&trace.events, &trace.tasks[task]);
    let &last_row = trace.rows_of(task).last()?;
    let stop = Stop {
        stops: 1,
        asked,
        last_row,
        ..Stop::new(
            task,
            events.shape(asked).syscall,
            asked,
            events.start_ns(asked),
        )
    };
    let by = sender(trace, sent, &stop, b"SIGTERM", stop.at_ns)?;
    let waits = &trace.tasks[events.task(by)];
    let is_other = waits.pid != known.pid && waits.death_ns == NO_NS && waits.ended.is_none();
    (is_other && !known.is_thread).then_some(stop)
}

/// Shapes of the lines that report a stop, in order.
fn stop_signals(context: &TableContext<'_>) -> Vec<ShapeId> {
    let events = &context.trace.events;
    events
        .shapes()
        .iter_enumerated()
        .filter(|(_, shape)| is_stop_name(events.texts.bytes(shape.syscall)))
        .map(|(at, _)| at)
        .collect()
}

/// The stops of a task by signal.
fn stopped(context: &TableContext<'_>, stops: &[ShapeId], task: TaskId) -> Vec<Stop> {
    let (events, rows) = (&context.trace.events, context.trace.rows_of(task));
    let mut found: Vec<Stop> = Vec::new();
    let mut before = NONE;
    for (at, &row) in rows.iter().enumerate() {
        if events.kind(row) == EventKind::Call {
            before = row;
        }
        let is_stop = events.kind(row) == EventKind::Process
            && stops.binary_search(&events.shape_number(row)).is_ok();
        if !is_stop || !context.selection.has(row) {
            continue;
        }
        let signal = events.shape(row).syscall;
        let start_ns = events.start_ns(row);
        let next_ns = rows
            .get(at + 1)
            .map_or(NO_NS, |&next| events.start_ns(next));
        let dur_ns = if start_ns == NO_NS || next_ns == NO_NS {
            0
        } else {
            (next_ns - start_ns).max(0)
        };
        let known = found.iter().position(|stop| stop.signal == signal);
        let place = known.unwrap_or_else(|| {
            found.push(Stop::new(task, signal, row, start_ns));
            found.len() - 1
        });
        let stop = &mut found[place];
        stop.stops += 1;
        stop.total_ns = stop.total_ns.saturating_add(dur_ns);
        stop.longest_ns = stop.longest_ns.max(dur_ns);
        stop.last_row = row;
        if before != NONE && stop.gaps.last() != Some(&before) {
            stop.exclusive_ns = stop
                .exclusive_ns
                .saturating_add(context.attribution.stopped_ns(before));
            stop.gaps.push(before);
        }
    }
    found
}

impl Stop {
    fn new(task: TaskId, signal: Text, row: u32, at_ns: i64) -> Stop {
        Stop {
            task,
            signal,
            stops: 0,
            total_ns: 0,
            longest_ns: 0,
            exclusive_ns: 0,
            at_ns,
            after_term_ns: NO_NS,
            asked: NONE,
            first_row: row,
            last_row: row,
            gaps: Vec::new(),
        }
    }
}

fn killed(context: &TableContext<'_>, task: TaskId) -> Option<Stop> {
    let known = &context.trace.tasks[task];
    let Some(Ended::Killed(signal)) = known.ended.filter(|_| !known.is_thread) else {
        return None;
    };
    let &row = context.trace.rows_of(task).last()?;
    Some(Stop {
        stops: 1,
        ..Stop::new(task, signal, row, known.end_ns())
    })
}

fn sent(context: &TableContext<'_>) -> Sent {
    let events = &context.trace.events;
    let kills = ShapeIndex::new(context, |action, shape| {
        (action == Action::Signals && shape.outcome == Outcome::Ok).then_some(())
    });
    let mut sent: Sent = FxHashMap::default();
    for task in context.trace.tasks.keys() {
        for (row, ()) in kills.calls(context, task) {
            let Some(to) = sent_to(context.trace, row) else {
                continue;
            };
            sent.entry((context.trace.tasks[task].capture, to))
                .or_default()
                .push(row);
        }
    }
    sent.values_mut()
        .for_each(|rows| rows.sort_by_key(|&row| (events.start_ns(row), row)));
    sent
}

/// The last call that sent a signal to a process up to a given time.
fn sender(trace: &Trace, sent: &Sent, stop: &Stop, signal: &[u8], until_ns: i64) -> Option<u32> {
    let known = trace.tasks.get(stop.task)?;
    let to = |id: i32| {
        let rows = sent.get(&(known.capture, id))?;
        rows.iter()
            .rev()
            .filter(|&&row| trace.events.start_ns(row) <= until_ns)
            .find(|row| trace.events.texts.bytes(trace.events.shape(**row).op) == signal)
            .copied()
    };
    // A negative id addresses the process group of that leader.
    to(known.pid)
        .or_else(|| to(known.tid))
        .or_else(|| to(known.pid.checked_neg()?))
}

/// Time from the last SIGTERM to the SIGKILL, in nanoseconds; [`NO_NS`] without both.
fn after_term_ns(trace: &Trace, sent: &Sent, stop: &Stop) -> i64 {
    let signal = trace.events.texts.bytes(stop.signal);
    let kill = sender(trace, sent, stop, signal, stop.at_ns);
    let Some(kill) = kill.filter(|_| signal == b"SIGKILL") else {
        return NO_NS;
    };
    let kill_ns = trace.events.start_ns(kill);
    sender(trace, sent, stop, b"SIGTERM", kill_ns)
        .map_or(NO_NS, |term| kill_ns - trace.events.start_ns(term))
}

fn write(
    context: &TableContext<'_>,
    sent: &Sent,
    kind: &'static str,
    stop: Stop,
    builder: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    let by = sender(
        context.trace,
        sent,
        &stop,
        events.texts.bytes(stop.signal),
        stop.at_ns,
    );
    let sender = by.map(|row| (events.task(row), row));
    let first = by.filter(|_| kind == "killed").unwrap_or(stop.first_row);
    let asked = Some(stop.asked).filter(|&row| row != NONE);
    // Until the capture ends, or the process.
    let until_ns = match kind {
        "asked" => context.capture_of(stop.task).map_or(NO_NS, |it| it.last_ns),
        _ => stop.at_ns,
    };
    let is_deaf = kind == "asked" || by.is_none();
    let deaf_ns = |row: u32| match (events.start_ns(row), until_ns) {
        (NO_NS, _) | (_, NO_NS) => NO_NS,
        (asked_ns, end_ns) => (end_ns - asked_ns).max(0),
    };
    let row = TableRow {
        of: TaskAt {
            task: stop.task,
            row: stop.first_row,
        },
        kind: Some(kind.to_owned()),
        signal: stop.signal,
        script: context.script(stop.task, stop.last_row),
        stops: stop.stops,
        lasts: kind == "stopped" && lasts(context, &stop),
        total_ns: stop.total_ns,
        max_ns: stop.longest_ns,
        sender_pid: sender.map(|(task, _)| i64::from(context.trace.tasks[task].pid)),
        sender_program: sender.map_or(Text::NONE, |(task, row)| context.program(task, row)),
        after_term_ns: stop.after_term_ns,
        asked: asked.map_or(Text::NONE, |row| events.shape(row).syscall),
        asked_line: asked.map(|row| i64::from(events.line(row))),
        deaf_ns: asked.filter(|_| is_deaf).map_or(NO_NS, deaf_ns),
        path: stop.exclusive_ns,
        lines: LinesOf {
            first_row: first,
            last_row: stop.last_row,
        },
    };
    builder.add(row, Provenance::Gaps(stop.gaps));
}

/// Whether the task has not continued when the capture ends.
fn lasts(context: &TableContext<'_>, stop: &Stop) -> bool {
    let known = &context.trace.tasks[stop.task];
    let is_alive = known.death_ns == NO_NS && known.ended.is_none() && !known.superseded;
    is_alive && context.trace.rows_of(stop.task).last() == Some(&stop.last_row)
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{build, task};

    #[test]
    fn a_stop_without_a_later_line_lasts() {
        let plans = vec![
            task(1).call("read", 0, 5).stop("SIGTTIN", 10),
            task(2)
                .call("read", 0, 5)
                .stop("SIGTTIN", 10)
                .signal("SIGCONT", 60),
        ];
        assert_eq!(
            rows(&build(plans), super::build, &["pid", "lasts"]),
            ["2 false", "1 true"]
        );
    }

    #[test]
    fn a_stop_lasts_until_the_task_continues() {
        let plan = task(1)
            .call("read", 0, 5)
            .stop("SIGSTOP", 10)
            .signal("SIGCONT", 60)
            .call("read", 61, 70)
            .exit(71);
        let columns = [
            "kind",
            "signal",
            "stops",
            "total_ns",
            "exclusive_ns",
            "sender_pid",
        ];
        assert_eq!(
            rows(&build(vec![plan]), super::build, &columns),
            ["stopped SIGSTOP 1 50 50 -"]
        );
    }

    #[test]
    fn a_stop_is_timed_anywhere_within_a_gap() {
        let exclusive = |stop: i64, go_on: i64| {
            let plan = task(1)
                .call("read", 0, 5)
                .stop("SIGSTOP", stop)
                .signal("SIGCONT", go_on);
            rows(
                &build(vec![plan.call("read", 61, 70).exit(71)]),
                super::build,
                &["exclusive_ns"],
            )
        };
        assert_eq!(
            [exclusive(5, 30), exclusive(30, 61), exclusive(5, 61)],
            [["25"], ["31"], ["56"]]
        );
    }

    #[test]
    fn the_sender_through_a_pidfd_is_reported() {
        let plan = task(1)
            .call("read", 0, 5)
            .stop("SIGSTOP", 10)
            .signal("SIGCONT", 60)
            .call("read", 61, 70)
            .exit(71);
        let sender = task(2)
            .call("pidfd_send_signal", 8, 9)
            .on("pid:1")
            .op("SIGSTOP")
            .exit(90);
        assert_eq!(
            rows(&build(vec![plan, sender]), super::build, &["sender_pid"]),
            ["2"]
        );
    }

    #[test]
    fn a_delivered_signal_alone_is_not_a_stop() {
        let plan = task(1)
            .call("read", 0, 5)
            .signal("SIGSTOP", 10)
            .call("read", 61, 70)
            .exit(71);
        assert_eq!(
            rows(&build(vec![plan]), super::build, &["kind"]),
            Vec::<String>::new()
        );
    }
}
