//! Builds a table row by row, including the columns that many tables share.

use crate::store::schema;
use crate::store::table::{Table, TextColumn, Values};
use crate::table_support::call_stats::CallStats;
use crate::table_support::context::TableContext;
use crate::table_support::grouping::CallGroup;
use crate::table_support::provenance::Provenance;
use parsers::{NO_ID, NO_NS, Text};

/// A finished table, with the events that each of its rows covers.
pub struct BuiltTable {
    /// The table.
    pub table: Table,
    /// The events of each row, in row order.
    pub members: Vec<Provenance>,
}

enum ColumnBuilder {
    Int(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
    Text(TextColumn),
    List(Vec<Vec<String>>),
}

/// A table under construction. Each row sets all columns in schema order and ends with [`TableBuilder::members`].
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
    /// Starts the table of this name; see [`crate::store::schema`].
    pub fn new(
        context: &'context TableContext<'context>,
        name: &'static str,
    ) -> TableBuilder<'context> {
        let mut builder = TableBuilder {
            context,
            name,
            columns: Vec::new(),
            at: 0,
            members: Vec::new(),
            wall_ns: 0,
        };
        for column in schema::COLUMNS.iter().filter(|column| column.table == name) {
            let values = match column.kind {
                "dict" => ColumnBuilder::Text(TextColumn::default()),
                "f64" => ColumnBuilder::Float(Vec::new()),
                "bool" => ColumnBuilder::Bool(Vec::new()),
                "list" => ColumnBuilder::List(Vec::new()),
                _ => ColumnBuilder::Int(Vec::new()),
            };
            builder.columns.push((column.name, values));
        }
        builder
    }

    /// Sets capture, task, pid, tid and program from the task, with its program at the time of `row`.
    pub fn task_columns(&mut self, task: u32, row: u32) {
        let (context, known) = (self.context, &self.context.trace.tasks[task as usize]);
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
        let known = &self.context.trace.tasks[group.task as usize];
        let of_one = |value: i64| (group.processes == 1).then_some(value);
        self.wall_ns = self.context.wall_ns(known.capture);
        self.int("capture", i64::from(known.capture));
        self.some_int("task", of_one(i64::from(group.task)));
        for (name, id) in [("pid", known.pid), ("tid", known.tid)] {
            self.some_int(name, of_one(i64::from(id)).filter(|_| id != NO_ID));
        }
        self.text("program", group.program);
        self.int("processes", group.processes);
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
        if let Some(ColumnBuilder::Int(values)) = self.column(name) {
            values.push(value);
        }
    }

    /// Sets a share or a mean.
    pub fn float(&mut self, name: &'static str, value: Option<f64>) {
        if let Some(ColumnBuilder::Float(values)) = self.column(name) {
            values.push(value);
        }
    }

    /// Sets a boolean.
    pub fn bool(&mut self, name: &'static str, value: bool) {
        if let Some(ColumnBuilder::Bool(values)) = self.column(name) {
            values.push(Some(value));
        }
    }

    /// Sets an interned text.
    pub fn text(&mut self, name: &'static str, value: Text) {
        let text = value
            .is_some()
            .then(|| self.context.trace.events.texts.string(value));
        if let Some(ColumnBuilder::Text(values)) = self.column(name) {
            values.push(text.as_deref());
        }
    }

    /// Sets an optional string.
    pub fn string(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(ColumnBuilder::Text(values)) = self.column(name) {
            values.push(value);
        }
    }

    /// Sets a list of strings.
    pub fn list(&mut self, name: &'static str, value: Vec<String>) {
        if let Some(ColumnBuilder::List(values)) = self.column(name) {
            values.push(value);
        }
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

    fn column(&mut self, name: &'static str) -> Option<&mut ColumnBuilder> {
        let (known, column) = self.columns.get_mut(self.at)?;
        debug_assert_eq!(
            *known, name,
            "{}: columns must follow the schema order",
            self.name
        );
        self.at += 1;
        Some(column)
    }
}
