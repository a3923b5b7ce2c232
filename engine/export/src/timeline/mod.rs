//! What a timeline consists of: processes and threads, their calls, and the critical path.

pub mod columns;
pub mod owners;
pub mod slices;
pub mod text;

use crate::timeline::columns::Columns;
use crate::timeline::owners::{Owner, Owners};
use crate::timeline::slices::Slice;
use crate::timeline::text::Inert;
use query::selection::Selection;
use trace::store::table::Table;
use trace::store::trace::Trace;

/// All of it.
pub struct Timeline<'all> {
    /// The events.
    pub trace: &'all Trace,
    /// Which of them are drawn.
    pub selection: &'all Selection<'all>,
    /// Calls below this length are taken together with their neighbours.
    pub min_ns: i64,
    /// Whose calls they are.
    pub owners: &'all Owners,
    /// Time 0 of the file, on the capture's clock.
    pub zero_ns: i64,
    /// The critical path, if the capture has one.
    pub path: Option<Path<'all>>,
    /// What the rules found.
    pub moments: &'all [Moment],
    /// How texts of the trace are made harmless.
    pub inert: &'all Inert,
}

impl Timeline<'_> {
    /// Hands over the calls as slices; see [`slices::each`].
    ///
    /// # Errors
    /// The first error of `take`.
    pub fn each_slice<E>(&self, take: impl FnMut(&Slice) -> Result<(), E>) -> Result<(), E> {
        slices::each(self.trace, self.selection, self.min_ns, take)
    }
}

/// The critical path as a table, and the name of each of its rows, which are words for people.
pub struct Path<'all> {
    table: &'all Table,
    names: &'all [String],
}

impl<'all> Path<'all> {
    /// The path of this table. A row without a name is drawn without one.
    pub fn new(table: &'all Table, names: &'all [String]) -> Path<'all> {
        Path { table, names }
    }

    /// Its stretches in order of time.
    pub fn stretches(&self) -> impl Iterator<Item = Stretch<'all>> + use<'all> {
        let (columns, names) = (Columns::new(self.table), self.names);
        (0..self.table.len()).map(move |row| Stretch {
            name: names.get(row).map_or("", String::as_str),
            start_ns: columns.int("start_ns", row).unwrap_or(0),
            dur_ns: columns.int("dur_ns", row).unwrap_or(0),
            task: columns.int("task", row).unwrap_or(-1),
            pid: columns.int("pid", row),
            class: columns.text("class", row).unwrap_or(""),
            target: columns.text("target", row),
            line: columns.int("line", row),
            how: columns.text("how", row),
            sure: columns.text("sure", row),
            waiter_pid: columns.int("waiter_pid", row),
        })
    }
}

/// A row of the critical path. Its columns are described with the table `path`.
#[expect(missing_docs, reason = "the table describes them")]
pub struct Stretch<'all> {
    pub name: &'all str,
    pub start_ns: i64,
    pub dur_ns: i64,
    pub task: i64,
    pub pid: Option<i64>,
    pub class: &'all str,
    pub target: Option<&'all str>,
    pub line: Option<i64>,
    pub how: Option<&'all str>,
    pub sure: Option<&'all str>,
    pub waiter_pid: Option<i64>,
}

impl Stretch<'_> {
    /// The process, in words; nothing for a log.
    pub fn who(&self, owner: Option<&Owner>) -> String {
        let known = owner.zip(self.pid);
        known.map_or_else(String::new, |(owner, pid)| format!("{} {pid}", owner.name))
    }

    /// The process, and what it did.
    pub fn title(&self, owner: Option<&Owner>) -> String {
        format!("{} {}", self.who(owner), self.name)
            .trim()
            .to_owned()
    }
}

/// A finding, at the start of what it is about.
pub struct Moment {
    /// What it says in few words.
    pub title: String,
    /// When, on the capture's clock.
    pub at_ns: i64,
    /// How long what it is about lasts.
    pub dur_ns: i64,
    /// The name of its rule.
    pub rule: String,
    /// What it says.
    pub message: String,
    /// The number of the task that it is about.
    pub task: i64,
}

/// A value of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact<'all> {
    /// A text of the trace, or a word.
    Text(&'all str),
    /// A number.
    Number(i64),
}
