//! Declares a table where it is built: its name, columns and costs, and the struct of its rows.
//!
//! ```text
//! table! {
//!     metadata "Metadata queries that repeat an earlier one, by process and syscall.";
//!     times: Calls;                                            whose times: Calls, Gaps or Lives
//!     costs: Cost { calls: |action, _| queries(action), ..Cost::OF_PROCESS };
//!     row {
//!         group: OfProcesses,                                  capture, task, pid, tid, program, processes
//!         syscall: Text "The system call.",                    type and sentence; the type gives unit and merge
//!         paths: Count "Number of different paths.",
//!         sum: CallSums { calls "Number of repeated calls." }, calls to last_line; one has its own sentence
//!     }
//! }
//!
//! pub fn build(context: &TableContext<'_>) -> BuiltTable {
//!     let mut builder = TableBuilder::new(context, &TABLE.schema);
//!     builder.add(TableRow { group, syscall, paths, sum }, members);
//!     builder.finish()
//! }
//! ```
//! `costs` says which calls and gaps contribute to the time of the rows. It lets [`crate::table_support::pruning`] skip
//! rows below the threshold of all rules. Without it the table is always built completely: its rows include time of other
//! tasks, or building them is cheap.
//!
//! `row` generates the struct `TableRow` with a field per line, whose type follows from the type of the column
//! ([`Cell::Value`]). A table with `columns` instead sets the columns of a row one by one, through the setters of
//! [`TableBuilder`].
//!
//! The table's only other mention in the engine is its name in the list [`tables!`](crate::tables) of its folder.

use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::call_stats::CallStats;
use crate::table_support::context::TableContext;
use crate::table_support::grouping::CallGroup;
use crate::table_support::pruning::Cost;
use parsers::{NO_ID, NO_NS, Text};
use trace::store::index::TaskId;
use trace::store::schema::{TableSchema, types};

/// Builds a table.
pub type Make = fn(&TableContext<'_>) -> BuiltTable;

/// A table that rules can request.
pub struct TableSpec {
    /// Name and columns.
    pub schema: TableSchema,
    /// Builds it.
    pub build: Make,
    /// The calls and gaps that contribute to the time of its rows; `None` if it is always built completely.
    pub costs: Option<Cost>,
}

/// The type of a column, or of several that belong together.
pub trait Cell {
    /// What a row contains.
    type Value;

    /// Appends the value to the next column or columns.
    fn write(value: Self::Value, builder: &mut TableBuilder<'_>);
}

macro_rules! cells {
    ($($type:ident: $value:ty, |$builder:ident, $name:ident| $write:expr;)*) => {$(
        impl Cell for types::$type {
            type Value = $value;

            fn write($name: $value, $builder: &mut TableBuilder<'_>) {
                $write;
            }
        }
    )*};
}

cells! {
    Text: Text, |builder, value| builder.next_text(value);
    Words: Option<String>, |builder, value| builder.next_string(value.as_deref());
    List: Vec<String>, |builder, value| builder.next_list(value);
    Flag: bool, |builder, value| builder.next_bool(value);
    Count: i64, |builder, value| builder.next_int(Some(value));
    MaybeCount: Option<i64>, |builder, value| builder.next_int(value);
    Number: i64, |builder, value| builder.next_int(Some(value));
    MaybeNumber: Option<i64>, |builder, value| builder.next_int(value);
    Ns: i64, |builder, value| builder.next_int((value != NO_NS).then_some(value));
    LongestNs: i64, |builder, value| builder.next_int((value != NO_NS).then_some(value));
    Moment: i64, |builder, value| builder.next_int((value != NO_NS).then_some(value));
    Bytes: i64, |builder, value| builder.next_int(Some(value));
    MaybeBytes: Option<i64>, |builder, value| builder.next_int(value);
    Share: Option<f64>, |builder, value| builder.next_float(value);
    Ratio: Option<f64>, |builder, value| builder.next_float(value);
    Id: i32, |builder, value| builder.next_int((value != NO_ID).then_some(i64::from(value)));
    Index: u32, |builder, value| builder.next_int(Some(i64::from(value)));
    MaybeId: Option<i64>, |builder, value| builder.next_int(value);
    Capture: u32, |builder, capture| builder.next_capture(capture);
    MaybeSmallNumber: Option<i64>, |builder, value| builder.next_int(value);
    SmallNumber: i64, |builder, value| builder.next_int(Some(value));
    FirstLineNumber: Option<i64>, |builder, line| builder.next_int(line);
    LastLineNumber: Option<i64>, |builder, line| builder.next_int(line);
    FirstLine: u32, |builder, row| builder.next_line(row);
    LastLine: u32, |builder, row| builder.next_line(row);
    OfTask: TaskAt, |builder, value| builder.next_task(value.task, value.row);
    OfProcesses: ProcessesOf, |builder, value| write_processes(value, builder);
    CallSums: CallStats, |builder, value| builder.next_sum(&value);
    PathTime: i64, |builder, exclusive_ns| builder.next_path_ns(exclusive_ns);
    Lines: LinesOf, |builder, rows| {
        builder.next_line(rows.first_row);
        builder.next_line(rows.last_row);
    };
}

/// A task, with its program at the time of an event.
#[derive(Clone, Copy)]
pub struct TaskAt {
    /// The task.
    pub task: TaskId,
    /// Row of the event.
    pub row: u32,
}

/// The first and the last event of a row, whose lines it shows.
#[derive(Clone, Copy)]
pub struct LinesOf {
    /// Row of the first.
    pub first_row: u32,
    /// Row of the last.
    pub last_row: u32,
}

/// The processes that a row is about.
#[derive(Clone, Copy)]
pub enum ProcessesOf {
    /// One process, or several of one program.
    Processes {
        /// The main task of the process, or of the first.
        task: TaskId,
        /// The program of the first call.
        program: Text,
        /// Number of processes.
        processes: i64,
    },
    /// None: a row about messages of a log.
    NoProcess {
        /// The capture.
        capture: u32,
    },
}

impl<K> From<&CallGroup<K>> for ProcessesOf {
    fn from(group: &CallGroup<K>) -> ProcessesOf {
        ProcessesOf::Processes {
            task: group.task,
            program: group.program,
            processes: group.processes,
        }
    }
}

fn write_processes(value: ProcessesOf, builder: &mut TableBuilder<'_>) {
    match value {
        ProcessesOf::Processes {
            task,
            program,
            processes,
        } => builder.next_processes(task, program, processes),
        ProcessesOf::NoProcess { capture } => {
            builder.next_capture(capture);
            for _ in ["task", "pid", "tid"] {
                builder.next_int(None);
            }
            builder.next_text(Text::NONE);
            builder.next_int(Some(0));
        }
    }
}

/// Declares a table; see [`crate::table_support::kit`].
#[macro_export]
macro_rules! table {
    (
        $name:ident $says:literal;
        times: $times:ident;
        $(costs: $costs:expr;)?
        columns { $($columns:tt)* }
    ) => {
        #[doc = $says]
        pub static TABLE: $crate::table_support::kit::TableSpec = $crate::table_support::kit::TableSpec {
            schema: ::trace::store::schema::TableSchema {
                name: stringify!($name),
                says: $says,
                times: ::trace::store::schema::Times::$times,
                parts: ::trace::store::schema::column_parts!($($columns)*),
            },
            build,
            costs: $crate::table_support::kit::optional!($($costs)?),
        };
    };
    (
        $name:ident $says:literal;
        times: $times:ident;
        $(costs: $costs:expr;)?
        row { $($columns:tt)* }
    ) => {
        $crate::table_support::kit::table! {
            $name $says;
            times: $times;
            $(costs: $costs;)?
            columns { $($columns)* }
        }
        $crate::table_support::kit::row! { $($columns)* }
    };
}
pub use table;

/// The struct of a row, and how it is written.
/// Declares the modules of tables, and lists what they declare, then what modules within them declare.
#[macro_export]
macro_rules! tables {
    ($($visibility:vis $name:ident,)*; $($outer:ident::$inner:ident,)*) => {
        $($visibility mod $name;)*

        /// The tables of this folder.
        pub static TABLES: &[&$crate::table_support::kit::TableSpec] =
            &[$(&$name::TABLE,)* $(&$outer::$inner::TABLE),*];
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! row {
    ($(
        $field:ident : $type:ident $(($merge:ident))? $($says:literal)?
            $({ $($of:ident $words:literal),* $(,)? })?
    ),* $(,)?) => {
        /// A row of the table.
        struct TableRow {
            $($field: <::trace::store::schema::types::$type as $crate::table_support::kit::Cell>::Value),*
        }

        impl $crate::table_support::builder::Row for TableRow {
            fn write(self, builder: &mut $crate::table_support::builder::TableBuilder<'_>) {
                $(<::trace::store::schema::types::$type as $crate::table_support::kit::Cell>::write(
                    self.$field,
                    builder,
                );)*
            }
        }
    };
}
pub use row;

/// A value that may be left out, as an option.
#[macro_export]
macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}
pub use optional;
