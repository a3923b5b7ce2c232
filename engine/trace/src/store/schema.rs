//! How tables describe their columns. Each table declares its own, in the file that builds it.
//!
//! ```text
//! schema! {                                                   in critical_path/wait_graph.rs
//!     pub CHAIN: chain "What each process was blocked on.";
//!     times: Calls;
//!     columns {
//!         pid: Id "Process id.",                              type and sentence
//!         inclusive_ns: Ns (Same) "Critical-path time …",     how values merge, unless the type says it
//!     }
//! }
//! ```
//! The types are those of [`types`]. A type also gives the unit, and how the values of several rows merge into one. Types
//! such as [`types::CallSums`] are several columns that many tables have, with sentences that a table may replace.

/// How the values of several rows become one, where a rule groups rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Merge {
    /// The value that all rows have; missing if they differ.
    Same,
    /// The sum.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The values of all lists, each once.
    Union,
}

impl Merge {
    /// The name that Python uses.
    pub fn name(self) -> &'static str {
        match self {
            Merge::Same => "same",
            Merge::Sum => "sum",
            Merge::Min => "min",
            Merge::Max => "max",
            Merge::Union => "union",
        }
    }
}

/// Whose times a table has. It decides how exact they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Times {
    /// Calls, so exact durations make them exact.
    Calls,
    /// Time between calls, which only timestamps measure.
    Gaps,
    /// Lifetimes of tasks. It is unknown how much of the tracing overhead outside of calls they contain.
    Lives,
}

impl Times {
    /// The name that Python uses.
    pub fn name(self) -> &'static str {
        match self {
            Times::Calls => "calls",
            Times::Gaps => "gaps",
            Times::Lives => "lives",
        }
    }
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The name.
    pub name: &'static str,
    /// Arrow type: `i64`, `i32`, `u32`, `u64`, `f64`, `bool`, `dict` (texts) or `list` (of texts).
    pub kind: &'static str,
    /// Unit: `ns`, `bytes`, `share`, `count`, or empty.
    pub unit: &'static str,
    /// How the values of several rows become one.
    pub merge: Merge,
    /// One sentence.
    pub says: &'static str,
}

/// A table as it describes itself.
#[derive(Debug, Clone, Copy)]
pub struct TableSchema {
    /// The name that users and rules refer to.
    pub name: &'static str,
    /// What its rows are, in one sentence.
    pub says: &'static str,
    /// Whose times it has.
    pub times: Times,
    /// The columns, in order; see [`TableSchema::columns`].
    pub parts: &'static [&'static [Column]],
}

impl TableSchema {
    /// The columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = &'static Column> + use<> {
        self.parts.iter().copied().flatten()
    }

    /// Arrow type of a column; 64-bit integer if the table does not have it.
    pub fn kind_of(&self, name: &str) -> &'static str {
        self.columns()
            .find(|column| column.name == name)
            .map_or("i64", |column| column.kind)
    }
}

/// What a declaration says about a column, or about several that belong together.
#[derive(Clone, Copy)]
pub struct Wording {
    /// The sentence.
    pub says: &'static str,
    /// How values merge, if not as the type says. At most one.
    pub merge: &'static [Merge],
    /// Sentences of single columns of a group, by their names.
    pub of: &'static [(&'static str, &'static str)],
}

impl Wording {
    const fn column(
        self,
        name: &'static str,
        (kind, unit, merge): (&'static str, &'static str, Merge),
    ) -> [Column; 1] {
        assert!(!self.says.is_empty(), "a column needs a sentence");
        assert!(self.of.is_empty(), "only groups have sentences by name");
        let merge = match self.merge {
            [merge, ..] => *merge,
            [] => merge,
        };
        [Column {
            name,
            kind,
            unit,
            merge,
            says: self.says,
        }]
    }

    /// The columns of a group, with the sentences of this table.
    const fn of_group<const N: usize>(self, mut columns: [Column; N]) -> [Column; N] {
        let mut at = 0;
        while at < self.of.len() {
            let (name, says) = self.of[at];
            let mut number = 0;
            while !is_same(columns[number].name, name) {
                // Past the end, this fails the build: the group has no such column.
                number += 1;
            }
            columns[number].says = says;
            at += 1;
        }
        columns
    }
}

const fn is_same(name: &str, other: &str) -> bool {
    let (name, other) = (name.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < name.len() && at < other.len() && name[at] == other[at] {
        at += 1;
    }
    at == name.len() && at == other.len()
}

/// The types of columns.
pub mod types {
    use super::{Column, Merge, Wording};

    macro_rules! types {
        ($($(#[$doc:meta])* $name:ident $kind:literal $unit:literal $merge:ident;)*) => {$(
            $(#[$doc])*
            pub struct $name;

            impl $name {
                /// The column.
                pub const fn columns(name: &'static str, words: Wording) -> [Column; 1] {
                    words.column(name, ($kind, $unit, Merge::$merge))
                }
            }
        )*};
    }

    types! {
        /// An interned text.
        Text "dict" "" Same;
        /// A text made for the table; may be missing.
        Words "dict" "" Same;
        /// A list of texts.
        List "list" "" Union;
        /// Yes or no.
        Flag "bool" "" Same;
        /// A number of things.
        Count "i64" "count" Sum;
        /// A number of things; may be missing.
        MaybeCount "i64" "count" Sum;
        /// A number without a unit. A rule can compare it with any other one.
        Number "i64" "" Sum;
        /// A number without a unit; may be missing.
        MaybeNumber "i64" "" Sum;
        /// A small number without a unit.
        SmallNumber "i32" "" Same;
        /// A small number without a unit; may be missing.
        MaybeSmallNumber "i32" "" Same;
        /// A duration; [`parsers::NO_NS`] is missing.
        Ns "i64" "ns" Sum;
        /// A moment on the clock of the capture; [`parsers::NO_NS`] is missing.
        Moment "i64" "ns" Same;
        /// A size.
        Bytes "i64" "bytes" Sum;
        /// A size; may be missing.
        MaybeBytes "i64" "bytes" Sum;
        /// A part of a whole; may be missing.
        Share "f64" "share" Sum;
        /// A ratio of two amounts; may be missing.
        Ratio "f64" "" Same;
        /// The id of a process or thread; [`parsers::NO_ID`] is missing.
        Id "i32" "" Same;
        /// The id of a process or thread; may be missing.
        MaybeId "i32" "" Same;
        /// The number of a task.
        Index "u32" "" Same;
        /// The number of the capture, for rows that describe no single task.
        Capture "u32" "" Same;
        /// The first line of several.
        FirstLine "i64" "" Min;
        /// The last line of several.
        LastLine "i64" "" Max;
        /// The first line of several, by its number; may be missing.
        FirstLineNumber "i64" "" Min;
        /// The last line of several, by its number; may be missing.
        LastLineNumber "i64" "" Max;
        /// A line of any file, however long.
        EventLine "u64" "" Same;
    }

    macro_rules! groups {
        ($($(#[$doc:meta])* $name:ident [$count:literal] {
            $($column:ident $type:ident $says:literal;)*
        })*) => {$(
            $(#[$doc])*
            pub struct $name;

            impl $name {
                /// The columns.
                pub const fn columns(_: &'static str, words: Wording) -> [Column; $count] {
                    words.of_group([$({
                        let words = Wording { says: $says, merge: &[], of: &[] };
                        let [column] = $type::columns(stringify!($column), words);
                        column
                    }),*])
                }
            }
        )*};
    }

    groups! {
        /// The task that a row is about.
        OfTask [5] {
            capture Index "Number of the capture.";
            task Index "Number of the task.";
            pid Id "Process id.";
            tid Id "Thread id.";
            program Text "Program at the first of them.";
        }
        /// The process that a row is about, or several of one program.
        OfProcesses [6] {
            capture Index "Number of the capture.";
            task Index "Number of the main task of the process.";
            pid Id "Process id; missing where several processes are combined.";
            tid Id "Thread id of that task.";
            program Text "Program that made the first of these calls.";
            processes Number "Number of processes combined: 1, or several of one program with little time each.";
        }
        /// Sums over calls.
        CallSums [9] {
            calls Count "Number of calls.";
            failed Count "Number of these calls that failed.";
            total_ns Ns "Sum of the durations.";
            exclusive_ns Ns "Critical-path time.";
            share Share "exclusive_ns as a share of the window.";
            max_ns LongestNs "Longest duration.";
            bytes Bytes "Bytes moved.";
            first_line FirstLine "First line.";
            last_line LastLine "Last line.";
        }
        /// Time on the critical path.
        PathTime [2] {
            exclusive_ns Ns "Critical-path time.";
            share Share "exclusive_ns as a share of the window.";
        }
        /// The first and the last line.
        Lines [2] {
            first_line FirstLine "First line.";
            last_line LastLine "Last line.";
        }
    }

    types! {
        /// The longest of several durations.
        LongestNs "i64" "ns" Max;
    }
}

/// The columns of a declaration, as parts of a [`TableSchema`].
#[macro_export]
macro_rules! column_parts {
    ($(
        $name:ident : $type:ident $(($merge:ident))? $($says:literal)?
            $({ $($of:ident $words:literal),* $(,)? })?
    ),* $(,)?) => {
        &[$(
            &$crate::store::schema::types::$type::columns(
                stringify!($name),
                $crate::store::schema::Wording {
                    says: concat!($($says)?),
                    merge: &[$($crate::store::schema::Merge::$merge)?],
                    of: &[$($((stringify!($of), $words)),*)?],
                },
            ) as &[$crate::store::schema::Column]
        ),*]
    };
}
pub use column_parts;

/// Declares a table that rules cannot request by name alone; see [`crate::store::schema`].
#[macro_export]
macro_rules! schema {
    (
        $visibility:vis $constant:ident: $name:ident $says:literal;
        times: $times:ident;
        columns { $($columns:tt)* }
    ) => {
        #[doc = $says]
        $visibility const $constant: $crate::store::schema::TableSchema = $crate::store::schema::TableSchema {
            name: stringify!($name),
            says: $says,
            times: $crate::store::schema::Times::$times,
            parts: $crate::store::schema::column_parts!($($columns)*),
        };
    };
}
pub use schema;
