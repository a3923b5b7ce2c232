//! Builds a table row by row, including the columns that many tables share.
//!
//! A row is a struct ([`TableBuilder::add`]), or its columns are set one by one in the order of the table's declaration,
//! followed by [`TableBuilder::members`].

use crate::table_support::call_stats::CallStats;
use crate::table_support::context::TableContext;
use crate::table_support::grouping::CallGroup;
use crate::table_support::provenance::Provenance;
use parsers::{NO_ID, NO_NS, Text};
use trace::store::index::TaskId;
use trace::store::schema::TableSchema;
use trace::store::table::{Table, TextColumn, Values};

/// A finished table, with the events that each of its rows covers.
pub struct BuiltTable {
    /// The table.
    pub table: Table,
    /// The events of each row, in row order.
    pub members: Vec<Provenance>,
}

/// A row of a table, as [`crate::table_support::kit`] generates it.
pub trait Row {
    /// Appends the values to the columns.
    fn write(self, builder: &mut TableBuilder<'_>);
}

enum ColumnBuilder {
    Int(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
    Text(TextColumn),
    List(Vec<Vec<String>>),
}

/// A table under construction.
pub struct TableBuilder<'context> {
    context: &'context TableContext<'context>,
    name: &'static str,
    columns: Vec<(&'static str, ColumnBuilder)>,
    /// Index of the next column to set.
    at: usize,
    members: Vec<Provenance>,
    wall_ns: i64,
}

impl<'context> TableBuilder<'context> {
    /// Starts a table.
    pub fn new(
        context: &'context TableContext<'context>,
        schema: &TableSchema,
    ) -> TableBuilder<'context> {
        let columns = schema.columns().map(|column| {
            let values = match column.kind {
                "dict" => ColumnBuilder::Text(TextColumn::default()),
                "f64" => ColumnBuilder::Float(Vec::new()),
                "bool" => ColumnBuilder::Bool(Vec::new()),
                "list" => ColumnBuilder::List(Vec::new()),
                _ => ColumnBuilder::Int(Vec::new()),
            };
            (column.name, values)
        });
        TableBuilder {
            context,
            name: schema.name,
            columns: columns.collect(),
            at: 0,
            members: Vec::new(),
            wall_ns: 0,
        }
    }

    /// Adds a row, with the events that it covers.
    pub fn add(&mut self, row: impl Row, members: Provenance) {
        row.write(self);
        self.members(members);
    }

    /// The next five columns: capture, task, pid, tid, and the program at the time of `row`.
    pub(super) fn next_task(&mut self, task: TaskId, row: u32) {
        self.task_columns(task, row);
    }

    /// The next six columns: those of a task, then the number of processes. Ids are missing if there are several.
    pub(super) fn next_processes(&mut self, task: TaskId, program: Text, processes: i64) {
        let known = &self.context.trace.tasks[task];
        let (pid, tid) = (known.pid, known.tid);
        let of_one = |value: i64| (processes == 1).then_some(value);
        self.wall_ns = self.context.wall_ns(known.capture);
        self.int("capture", i64::from(known.capture));
        self.some_int("task", of_one(i64::from(task)));
        for (name, id) in [("pid", pid), ("tid", tid)] {
            self.some_int(name, of_one(i64::from(id)).filter(|_| id != NO_ID));
        }
        self.text("program", program);
        self.int("processes", processes);
    }

    /// The next nine columns: sums over calls.
    pub(super) fn next_sum(&mut self, sum: &CallStats) {
        self.sum(sum);
    }

    /// The next two columns: time on the critical path, and its share of the window.
    pub(super) fn next_path_ns(&mut self, exclusive_ns: i64) {
        self.path_ns(exclusive_ns);
    }

    /// The next column: the capture, whose window shares refer to.
    pub(super) fn next_capture(&mut self, capture: u32) {
        self.wall_ns = self.context.wall_ns(capture);
        self.next_int(Some(i64::from(capture)));
    }

    /// The next column: the line of an event.
    pub(super) fn next_line(&mut self, row: u32) {
        let line = self.context.trace.events.line(row);
        self.next_int(Some(i64::from(line)));
    }

    /// The next column: an integer.
    pub(super) fn next_int(&mut self, value: Option<i64>) {
        if let Some(ColumnBuilder::Int(values)) = self.next() {
            values.push(value);
        }
    }

    /// The next column: a share or a ratio.
    pub(super) fn next_float(&mut self, value: Option<f64>) {
        if let Some(ColumnBuilder::Float(values)) = self.next() {
            values.push(value);
        }
    }

    /// The next column: yes or no.
    pub(super) fn next_bool(&mut self, value: bool) {
        if let Some(ColumnBuilder::Bool(values)) = self.next() {
            values.push(Some(value));
        }
    }

    /// The next column: an interned text.
    pub(super) fn next_text(&mut self, value: Text) {
        let text = value
            .is_some()
            .then(|| self.context.trace.events.texts.string(value));
        self.next_string(text.as_deref());
    }

    /// The next column: a text that may be missing.
    pub(super) fn next_string(&mut self, value: Option<&str>) {
        if let Some(ColumnBuilder::Text(values)) = self.next() {
            values.push(value);
        }
    }

    /// The next column: a list of texts.
    pub(super) fn next_list(&mut self, value: Vec<String>) {
        if let Some(ColumnBuilder::List(values)) = self.next() {
            values.push(value);
        }
    }

    /// Sets capture, task, pid, tid and program from the task, with its program at the time of `row`.
    pub fn task_columns(&mut self, task: TaskId, row: u32) {
        let (context, known) = (self.context, &self.context.trace.tasks[task]);
        self.wall_ns = context.wall_ns(known.capture);
        self.int("capture", i64::from(known.capture));
        self.int("task", i64::from(task));
        self.id("pid", known.pid);
        self.id("tid", known.tid);
        self.text("program", context.program(task, row));
    }

    /// Sets capture, for rows that describe no single task.
    pub fn capture(&mut self, capture: u32) {
        self.wall_ns = self.context.wall_ns(capture);
        self.int("capture", i64::from(capture));
    }

    /// Sets the columns of [`TableBuilder::task_columns`], then processes. Ids are missing when the group has several
    /// processes.
    pub fn group_columns<K>(&mut self, group: &CallGroup<K>) {
        self.next_processes(group.task, group.program, group.processes);
    }

    /// Sets the sums of the calls: calls, failed, total_ns, exclusive_ns, share, max_ns, bytes, first_line, last_line.
    pub fn sum(&mut self, sum: &CallStats) {
        self.int("calls", sum.calls);
        self.int("failed", sum.failed);
        self.ns("total_ns", sum.total_ns);
        self.path_ns(sum.exclusive_ns);
        self.ns("max_ns", sum.max_ns);
        self.int("bytes", sum.bytes);
        self.lines(sum.first_row, sum.last_row);
    }

    /// Sets exclusive_ns and share: the time on the critical path, and its share of the window.
    pub fn path_ns(&mut self, exclusive_ns: i64) {
        self.int("exclusive_ns", exclusive_ns);
        let share = (self.wall_ns > 0).then(|| exclusive_ns as f64 / self.wall_ns as f64);
        self.float("share", share);
    }

    /// Sets first_line and last_line.
    pub fn lines(&mut self, first_row: u32, last_row: u32) {
        let events = &self.context.trace.events;
        self.int("first_line", i64::from(events.line(first_row)));
        self.int("last_line", i64::from(events.line(last_row)));
    }

    /// Sets an integer.
    pub fn int(&mut self, name: &'static str, value: i64) {
        self.some_int(name, Some(value));
    }

    /// Sets a duration or timestamp; [`NO_NS`] means missing.
    pub fn ns(&mut self, name: &'static str, value: i64) {
        self.some_int(name, (value != NO_NS).then_some(value));
    }

    /// Sets an id; [`NO_ID`] means missing.
    pub fn id(&mut self, name: &'static str, value: i32) {
        self.some_int(name, (value != NO_ID).then_some(i64::from(value)));
    }

    /// Sets an optional integer.
    pub fn some_int(&mut self, name: &'static str, value: Option<i64>) {
        self.expect(name);
        self.next_int(value);
    }

    /// Sets a share or a mean.
    pub fn float(&mut self, name: &'static str, value: Option<f64>) {
        self.expect(name);
        self.next_float(value);
    }

    /// Sets a boolean.
    pub fn bool(&mut self, name: &'static str, value: bool) {
        self.expect(name);
        self.next_bool(value);
    }

    /// Sets an interned text.
    pub fn text(&mut self, name: &'static str, value: Text) {
        self.expect(name);
        self.next_text(value);
    }

    /// Sets an optional string.
    pub fn string(&mut self, name: &'static str, value: Option<&str>) {
        self.expect(name);
        self.next_string(value);
    }

    /// Sets a list of strings.
    pub fn list(&mut self, name: &'static str, value: Vec<String>) {
        self.expect(name);
        self.next_list(value);
    }

    /// Ends the row with the events that it covers.
    pub fn members(&mut self, members: Provenance) {
        debug_assert_eq!(
            self.at,
            self.columns.len(),
            "{}: a row must set all columns",
            self.name
        );
        self.at = 0;
        self.members.push(members);
    }

    /// Returns the finished table.
    pub fn finish(self) -> BuiltTable {
        let values = |column| match column {
            ColumnBuilder::Int(values) => Values::Int(values),
            ColumnBuilder::Float(values) => Values::Float(values),
            ColumnBuilder::Bool(values) => Values::Bool(values),
            ColumnBuilder::Text(values) => values.finish(),
            ColumnBuilder::List(values) => Values::List(values),
        };
        let columns = self
            .columns
            .into_iter()
            .map(|(name, column)| (name, values(column)))
            .collect();
        BuiltTable {
            table: Table::new(self.name, columns),
            members: self.members,
        }
    }

    /// Checks that the column comes next.
    fn expect(&self, name: &'static str) {
        debug_assert_eq!(
            self.columns.get(self.at).map(|(known, _)| *known),
            Some(name),
            "{}: columns must follow the order of the declaration",
            self.name
        );
    }

    fn next(&mut self) -> Option<&mut ColumnBuilder> {
        let (_, column) = self.columns.get_mut(self.at)?;
        self.at += 1;
        Some(column)
    }
}
