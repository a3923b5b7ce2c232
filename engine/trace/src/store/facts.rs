//! What is known of few events only, by row: what their lines contain ([`parsers::facts`]), and what the assembler concludes.
//!
//! ```text
//! facts.get::<Timeout>(row)     Some(&5_000_000_000)     a sleep of 5 s
//! facts.get::<Timeout>(other)   None
//! facts.all::<Timeout>()        [(row, 5_000_000_000), …]
//! ```
//!
//! A row of the event table is small because it lacks these: each kind is a list of its own, in the order of rows. A call
//! that ends late is added late, so the lists are sorted once, after everything is read.

use crate::store::event::{Connected, ThreadWait};
use parsers::Text;
use parsers::facts::{self, Fact, FactKind};
use rayon::prelude::*;

/// The facts of one kind, each with its row.
type Column<K> = Vec<(u32, <K as FactKind>::Value)>;

/// A kind that [`Facts`] has a column for.
pub trait Kept: FactKind + Sized {
    #[doc(hidden)]
    fn column(facts: &Facts) -> &Column<Self>;
    #[doc(hidden)]
    fn column_mut(facts: &mut Facts) -> &mut Column<Self>;
}

macro_rules! columns {
    (
        printed { $($(#[$printed_doc:meta])* $printed:ident($printed_value:ty);)* }
        concluded { $($(#[$doc:meta])* $kind:ident($value:ty);)* }
    ) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $kind;

            impl FactKind for $kind {
                type Value = $value;
            }
        )*

        /// All facts of a trace.
        // A column has the name of its kind.
        #[allow(non_snake_case)]
        #[derive(Debug, Default, PartialEq)]
        pub struct Facts {
            $($printed: Column<facts::$printed>,)*
            $($kind: Column<$kind>,)*
        }

        $(columns! { @kept facts::$printed, $printed })*
        $(columns! { @kept $kind, $kind })*

        impl Facts {
            /// Keep a fact of a row.
            pub fn keep(&mut self, row: u32, fact: Fact) {
                match fact {
                    $(Fact::$printed(value) => self.$printed.push((row, value)),)*
                }
            }

            /// Sort all columns by row. The later of two facts of a row stays the later one.
            pub(crate) fn order(&mut self) {
                $(order(&mut self.$printed);)*
                $(order(&mut self.$kind);)*
            }
        }
    };
    (@kept $kind:ty, $field:ident) => {
        impl Kept for $kind {
            fn column(facts: &Facts) -> &Column<Self> {
                &facts.$field
            }

            fn column_mut(facts: &mut Facts) -> &mut Column<Self> {
                &mut facts.$field
            }
        }
    };
}

parsers::list_facts! { columns
    concluded {
        /// The targets of the descriptors of a poll, as far as they are known.
        PolledTargets(Box<[Text]>);
        /// The target of the descriptor that ended a poll of several.
        ReadyTarget(Text);
        /// The descriptor that ended a wait at an epoll was registered to report each change only once.
        EdgeTriggered(());
        /// The second target of a call that moves data from its first target.
        Sink(Text);
        /// The outcome of a connect that was in progress when its call returned.
        ConnectOutcome(Connected);
        /// What is known of a wait of a thread that did not return.
        OpenThreadWait(ThreadWait);
        /// The descriptor without a name of a call that did not return.
        OpenFd(i32);
        /// The line ends within an argument: the call may have returned.
        IsTorn(());
        /// The tracer saw the task sleep in the call: truss reports it.
        SeenAsleep(());
        /// An alarm of the process ended the wait. It lasted from its setting on.
        EndedByAlarm(());
    }
}

impl Facts {
    /// The fact of this kind about a row. Of several, the last one.
    pub fn get<K: Kept>(&self, row: u32) -> Option<&K::Value> {
        let column = K::column(self);
        let end = column.partition_point(|&(other, _)| other <= row);
        let (other, value) = column.get(end.checked_sub(1)?)?;
        (*other == row).then_some(value)
    }

    /// Whether there is a fact of this kind about a row.
    pub fn has<K: Kept>(&self, row: u32) -> bool {
        self.get::<K>(row).is_some()
    }

    /// All facts of a kind with their rows, in order.
    pub fn all<K: Kept>(&self) -> &[(u32, K::Value)] {
        K::column(self)
    }

    /// The facts of a kind about the rows after this one.
    pub fn after<K: Kept>(&self, row: u32) -> &[(u32, K::Value)] {
        let column = K::column(self);
        &column[column.partition_point(|&(other, _)| other <= row)..]
    }

    /// Add a fact about a row.
    pub fn add<K: Kept>(&mut self, row: u32, value: K::Value) {
        K::column_mut(self).push((row, value));
    }

    /// Remove all facts of a kind.
    pub(crate) fn take<K: Kept>(&mut self) -> Vec<(u32, K::Value)> {
        std::mem::take(K::column_mut(self))
    }

    /// Put the facts of a kind back.
    pub(crate) fn put<K: Kept>(&mut self, column: Vec<(u32, K::Value)>) {
        *K::column_mut(self) = column;
    }

    /// Sort the facts of one kind by row, while there may still be new ones.
    pub(crate) fn order_kind<K: Kept>(&mut self) {
        order(K::column_mut(self));
    }

    /// Drop what only waits and tables need. Time limits are needed to read rows.
    pub(crate) fn drop_details(&mut self) {
        let details = std::mem::take(self);
        self.put::<facts::Timeout>(details.Timeout);
        self.put::<facts::Deadline>(details.Deadline);
        self.put::<EndedByAlarm>(details.EndedByAlarm);
    }
}

fn order<T: Send>(column: &mut [(u32, T)]) {
    if !column.is_sorted_by_key(|&(row, _)| row) {
        column.par_sort_by_key(|&(row, _)| row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsers::NO_NS;
    use parsers::facts::{Deadline, Fds, IsFifo, Timeout};

    #[test]
    fn facts_are_found_by_row_once_they_are_in_order() {
        let mut facts = Facts::default();
        facts.add::<Timeout>(9, 90);
        facts.keep(2, Fact::Timeout(NO_NS));
        facts.add::<IsFifo>(5, ());
        facts.order();
        assert_eq!(facts.all::<Timeout>(), [(2, NO_NS), (9, 90)]);
        assert_eq!(facts.get::<Timeout>(9), Some(&90));
        assert_eq!(facts.get::<Timeout>(5), None);
        assert_eq!(facts.after::<Timeout>(2), [(9, 90)]);
        assert!(facts.has::<IsFifo>(5) && !facts.has::<IsFifo>(9));
    }

    #[test]
    fn the_last_of_several_facts_of_a_row_counts() {
        let mut facts = Facts::default();
        facts.add::<Timeout>(7, 1);
        facts.add::<Timeout>(3, 2);
        facts.add::<Timeout>(7, 3);
        facts.order();
        assert_eq!(facts.get::<Timeout>(7), Some(&3));
        assert_eq!(facts.after::<Timeout>(7), []);
    }

    #[test]
    fn only_what_rows_show_outlasts_the_details() {
        let mut facts = Facts::default();
        facts.add::<Timeout>(1, 10);
        facts.add::<Fds>(1, Box::new([3]));
        facts.add::<SeenAsleep>(1, ());
        facts.drop_details();
        assert!(facts.has::<Timeout>(1));
        assert!(!facts.has::<Fds>(1) && !facts.has::<SeenAsleep>(1));
        assert!(facts.all::<Deadline>().is_empty());
    }

    #[test]
    fn a_fact_without_a_value_takes_the_space_of_a_row_number() {
        assert_eq!(size_of::<(u32, <IsFifo as FactKind>::Value)>(), 4);
        assert_eq!(size_of::<parsers::Extra>(), 32);
    }
}
