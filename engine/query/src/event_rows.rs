//! The event table as columns for people and for Arrow, a piece at a time.

use crate::selection::Selection;
use parsers::{NO_ID, NO_NS, Outcome, Text};
use std::ops::Range;
use trace::store::event::{self, EventKind, SEGMENT_ROWS};
use trace::store::index::ShapeId;
use trace::store::schema::schema;
use trace::store::table::{Table, TextColumn, Values, ints, some_ints};
use trace::store::text_columns::{self, push_text};
use trace::store::trace::Trace;

schema! {
    pub EVENTS: events "The events.";
    times: Calls;
    columns {
        line: EventLine (Min) "Line in the file, from 1.",
        file: Text "File that contains the line.",
        tid: Id "Thread id.",
        pid: Id "Process id.",
        task: Index "Number of the task; a reused id is another task.",
        program: Text "Program at that moment.",
        start_ns: Moment "Start time, on the capture's clock.",
        end_ns: Moment "End time.",
        dur_ns: Ns "Duration; dur_kind says how exact it is.",
        cpu_ns: Ns "CPU time, where the tracer prints it.",
        requested_ns: Ns (Same) "Requested duration of a sleep, or timeout of a wait.",
        kind: Text "call, signal, exit, process or log.",
        syscall: Text "Name of the system call, name of the signal, or subsystem of a log message.",
        op: Text "Sub-operation: ioctl request, fcntl command, futex operation.",
        target: Text "What the call works on: path, peer, pipe, address; for a log message, its text.",
        shape: Text "Call, sub-operation, normalized target and outcome combined.",
        ret: Number "Return value.",
        errno: Text "Name of the error.",
        bytes: Bytes "Bytes moved.",
        outcome: Text "ok, failed, interrupted, noreturn, open or unavailable.",
        dur_kind: Text "exact, upper-bound (may include user time), gap or none.",
        function: Text "Function of the program that made the call: the innermost frame of its stack that is not of a runtime; missing without a stack.",
        source: Text "Source file and line of that frame, where the tracer prints them.",
        module: Text "File that contains that function: the program or one of its libraries.",
        args: Text "Arguments as printed; read from the file only when this column is requested by name.",
    }
}

/// The rows of an event table as pieces of at most [`SEGMENT_ROWS`].
pub fn pieces(trace: &Trace) -> impl Iterator<Item = Range<u32>> + use<> {
    let rows = trace.events.len();
    (0..rows)
        .step_by(SEGMENT_ROWS)
        .map(move |from| from..rows.min(from.saturating_add(SEGMENT_ROWS as u32)))
}

/// The same rows in one part per core, but no more than `most`. A part consists of whole pieces.
pub fn parts(trace: &Trace, most: usize) -> Vec<Range<u32>> {
    let (rows, parts) = (
        trace.events.len() as usize,
        rayon::current_num_threads().min(most).max(1),
    );
    let of_part = rows.div_ceil(SEGMENT_ROWS).div_ceil(parts).max(1) * SEGMENT_ROWS;
    (0..rows)
        .step_by(of_part)
        .map(|from| from as u32..(from + of_part).min(rows) as u32)
        .collect()
}

/// These rows as a table with all columns but the arguments.
pub fn of_rows(trace: &Trace, selection: &Selection<'_>, rows: &[u32]) -> Table {
    let events = &trace.events;
    let of = |value: &dyn Fn(u32) -> i64| {
        some_ints(rows.iter().map(|&row| value(row)).collect::<Vec<_>>())
    };
    let word = |value: &dyn Fn(u32) -> &'static str| {
        let mut column = TextColumn::default();
        rows.iter().for_each(|&row| column.push(Some(value(row))));
        column.finish()
    };
    let column = |text: &dyn Fn(u32) -> Text| {
        let mut column = TextColumn::default();
        rows.iter()
            .for_each(|&row| push_text(&mut column, events, text(row)));
        column.finish()
    };
    let task = |row: u32| &trace.tasks[events.task(row)];
    let id = |id: i32| if id == NO_ID { NO_NS } else { i64::from(id) };
    let program = |row: u32| {
        selection
            .program_index
            .at(events.task(row), events.start_ns(row))
    };
    let columns = vec![
        (
            "line",
            ints(rows.iter().map(|&row| i64::from(events.line(row)))),
        ),
        ("file", file_column(trace, rows)),
        ("tid", of(&|row| id(task(row).tid_at(events.line(row))))),
        ("pid", of(&|row| id(task(row).pid))),
        ("task", of(&|row| i64::from(events.task(row)))),
        (
            "program",
            column(&|row| program(row).map_or(Text::NONE, |program| program.path)),
        ),
        ("start_ns", of(&|row| events.start_ns(row))),
        ("end_ns", of(&|row| events.end_ns(row).unwrap_or(NO_NS))),
        ("dur_ns", of(&|row| events.dur_ns(row))),
        ("cpu_ns", of(&|row| events.event(row).cpu_ns)),
        (
            "requested_ns",
            of(&|row| events.requested_ns(row).unwrap_or(NO_NS)),
        ),
        ("kind", word(&|row| events.kind(row).name())),
        ("syscall", column(&|row| events.shape(row).syscall)),
        ("op", column(&|row| events.shape(row).op)),
        ("target", column(&|row| events.target(row))),
        ("shape", shape_column(trace, rows)),
        ("ret", of(&|row| events.ret(row))),
        ("errno", column(&|row| events.shape(row).errno)),
        ("bytes", of(&|row| events.bytes(row).unwrap_or(NO_NS))),
        ("outcome", outcome_column(trace, rows)),
        ("dur_kind", word(&|row| events.dur_kind(row).name())),
        (
            "function",
            column(&|row| events.stacks.user_frame(row).function),
        ),
        (
            "source",
            column(&|row| events.stacks.user_frame(row).source),
        ),
        (
            "module",
            column(&|row| events.stacks.user_frame(row).module),
        ),
    ];
    Table::new("events", columns)
}

fn file_column(trace: &Trace, rows: &[u32]) -> Values {
    let mut column = TextColumn::default();
    // The runs of one file are captures with the same path, which Arrow dictionaries must contain only once.
    let files = trace.captures.iter().flat_map(|capture| &capture.files);
    let numbers: Vec<u32> = files.map(|file| column.number(file)).collect();
    rows.iter()
        .map(|&row| {
            numbers
                .get(trace.events.event(row).file as usize)
                .copied()
                .unwrap_or(event::NONE)
        })
        .for_each(|number| column.push_number(number));
    column.finish()
}

fn outcome_column(trace: &Trace, rows: &[u32]) -> Values {
    let outcome = |&row: &u32| match trace.events.kind(row) {
        EventKind::Call => trace.events.outcome(row) as u32,
        _ => event::NONE,
    };
    let words = Outcome::ALL
        .iter()
        .map(|outcome| outcome.name().to_owned())
        .collect();
    Values::Text {
        keys: rows.iter().map(outcome).collect(),
        words,
    }
}

fn shape_column(trace: &Trace, rows: &[u32]) -> Values {
    let mut column = TextColumn::default();
    let mut numbers: Vec<ShapeId> = rows
        .iter()
        .map(|&row| trace.events.shape_number(row))
        .collect();
    let places = numbers.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let names: Vec<String> = numbers
        .iter()
        .map(|&number| text_columns::shape_text(&trace.events, number))
        .collect();
    for number in places {
        let at = numbers.binary_search(&number).unwrap_or(0);
        column.push(names.get(at).map(String::as_str));
    }
    column.finish()
}
