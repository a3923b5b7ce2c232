//! A table while it is written: row by row, with the columns that many tables have in common.

use crate::store::schema;
use crate::store::table::{Table, TextColumn, Values};
use crate::table_support::call_stats::CallStats;
use crate::table_support::context::TableContext;
use crate::table_support::grouping::CallGroup;
use crate::table_support::provenance::Provenance;
use parsers::{NO_ID, NO_NS, Text};

/// A table, and the events behind each of its rows.
pub struct BuiltTable {
    /// The table.
    pub table: Table,
    /// What each row is about, in the order of rows.
    pub members: Vec<Provenance>,
}

enum ColumnBuilder {
    Int(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
    Text(TextColumn),
    List(Vec<Vec<String>>),
}

/// A table while it is written. Each row gives the same columns in the same order, and ends with its members.
pub struct TableBuilder<'context> {
    context: &'context TableContext<'context>,
    name: &'static str,
    columns: Vec<(&'static str, ColumnBuilder)>,
    /// The column that comes next.
    at: usize,
    members: Vec<Provenance>,
    wall_ns: i64,
}

impl<'context> TableBuilder<'context> {
    /// A table of this name; see [`crate::store::schema`].
    pub fn new(context: &'context TableContext<'context>, name: &'static str) -> TableBuilder<'context> {
        let mut sheet = TableBuilder { context, name, columns: Vec::new(), at: 0, members: Vec::new(), wall_ns: 0 };
        for column in schema::COLUMNS.iter().filter(|column| column.table == name) {
            let values = match column.kind {
                "dict" => ColumnBuilder::Text(TextColumn::default()),
                "f64" => ColumnBuilder::Float(Vec::new()),
                "bool" => ColumnBuilder::Bool(Vec::new()),
                "list" => ColumnBuilder::List(Vec::new()),
                _ => ColumnBuilder::Int(Vec::new()),
            };
            sheet.columns.push((column.name, values));
        }
        sheet
    }

    /// capture, task, pid, tid, program: whose the row is.
    pub fn task_columns(&mut self, task: u32, row: u32) {
        let (context, known) = (self.context, &self.context.trace.tasks[task as usize]);
        self.wall_ns = context.wall_ns(known.capture);
        self.int("capture", i64::from(known.capture));
        self.int("task", i64::from(task));
        self.id("pid", known.pid);
        self.id("tid", known.tid);
        self.text("program", context.program(task, row));
    }

    /// capture: of a row that is about no task.
    pub fn capture(&mut self, capture: u32) {
        self.wall_ns = self.context.wall_ns(capture);
        self.int("capture", i64::from(capture));
    }

    /// As [`TableBuilder::task_columns`] of a group, then processes. Of several processes with one program no ids are told.
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

    /// The sums of calls: calls, failed, total_ns, exclusive_ns, share, max_ns, bytes, first_line, last_line.
    pub fn sum(&mut self, sum: &CallStats) {
        self.int("calls", sum.calls);
        self.int("failed", sum.failed);
        self.ns("total_ns", sum.total_ns);
        self.path_ns(sum.exclusive_ns);
        self.ns("max_ns", sum.max_ns);
        self.int("bytes", sum.bytes);
        self.lines(sum.first_row, sum.last_row);
    }

    /// exclusive_ns, share: time on the path, and the part of the window that it is.
    pub fn path_ns(&mut self, exclusive_ns: i64) {
        self.int("exclusive_ns", exclusive_ns);
        let share = (self.wall_ns > 0).then(|| exclusive_ns as f64 / self.wall_ns as f64);
        self.float("share", share);
    }

    /// first_line, last_line.
    pub fn lines(&mut self, first_row: u32, last_row: u32) {
        let events = &self.context.trace.events;
        self.int("first_line", i64::from(events.line(first_row)));
        self.int("last_line", i64::from(events.line(last_row)));
    }

    /// A number that is there.
    pub fn int(&mut self, name: &'static str, value: i64) {
        self.some_int(name, Some(value));
    }

    /// A length or moment; [`NO_NS`] is missing.
    pub fn ns(&mut self, name: &'static str, value: i64) {
        self.some_int(name, (value != NO_NS).then_some(value));
    }

    /// An id; [`NO_ID`] is missing.
    pub fn id(&mut self, name: &'static str, value: i32) {
        self.some_int(name, (value != NO_ID).then_some(i64::from(value)));
    }

    /// A number.
    pub fn some_int(&mut self, name: &'static str, value: Option<i64>) {
        if let Some(ColumnBuilder::Int(values)) = self.column(name) {
            values.push(value);
        }
    }

    /// A share or a mean.
    pub fn float(&mut self, name: &'static str, value: Option<f64>) {
        if let Some(ColumnBuilder::Float(values)) = self.column(name) {
            values.push(value);
        }
    }

    /// Yes or no.
    pub fn bool(&mut self, name: &'static str, value: bool) {
        if let Some(ColumnBuilder::Bool(values)) = self.column(name) {
            values.push(Some(value));
        }
    }

    /// A text of the trace.
    pub fn text(&mut self, name: &'static str, value: Text) {
        let text = value.is_some().then(|| self.context.trace.events.texts.string(value));
        if let Some(ColumnBuilder::Text(values)) = self.column(name) {
            values.push(text.as_deref());
        }
    }

    /// A text.
    pub fn string(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(ColumnBuilder::Text(values)) = self.column(name) {
            values.push(value);
        }
    }

    /// Texts.
    pub fn list(&mut self, name: &'static str, value: Vec<String>) {
        if let Some(ColumnBuilder::List(values)) = self.column(name) {
            values.push(value);
        }
    }

    /// The end of a row: what it is about.
    pub fn members(&mut self, members: Provenance) {
        debug_assert_eq!(self.at, self.columns.len(), "{}: a row has all columns", self.name);
        self.at = 0;
        self.members.push(members);
    }

    /// The table, the costliest rows first where they have time on the path.
    pub fn finish(self) -> BuiltTable {
        let values = |column| match column {
            ColumnBuilder::Int(values) => Values::Int(values),
            ColumnBuilder::Float(values) => Values::Float(values),
            ColumnBuilder::Bool(values) => Values::Bool(values),
            ColumnBuilder::Text(values) => values.finish(),
            ColumnBuilder::List(values) => Values::List(values),
        };
        let columns = self.columns.into_iter().map(|(name, column)| (name, values(column))).collect();
        BuiltTable { table: Table::new(self.name, columns), members: self.members }
    }

    fn column(&mut self, name: &'static str) -> Option<&mut ColumnBuilder> {
        let (known, column) = self.columns.get_mut(self.at)?;
        debug_assert_eq!(*known, name, "{}: columns come in the order of the schema", self.name);
        self.at += 1;
        Some(column)
    }
}
