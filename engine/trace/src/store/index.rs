//! Indexes that cannot be mistaken for each other, nor for counts, ids and lines.

pub use typed_index_collections::{TiSlice, TiVec, ti_vec};

/// What is counted from 0: an index, or a plain number that has no type of its own.
pub trait Number: Copy {
    /// With this number.
    fn from_number(number: u32) -> Self;
    /// The number.
    fn number(self) -> u32;
}

impl Number for u32 {
    #[inline]
    fn from_number(number: u32) -> u32 {
        number
    }

    #[inline]
    fn number(self) -> u32 {
        self
    }
}

/// Define an index: as large as a `u32`, and with a value for "none", as columns store it.
macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// No such thing.
            pub const NONE: $name = $name(u32::MAX);

            /// The index with this number.
            #[inline]
            pub const fn new(number: u32) -> $name {
                $name(number)
            }

            /// Its number, for columns and for other programs.
            #[inline]
            pub const fn raw(self) -> u32 {
                self.0
            }

            /// Its number, as an index into lists of other lists' things.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Whether it is not [`Self::NONE`].
            #[inline]
            pub const fn is_some(self) -> bool {
                self.0 != u32::MAX
            }

            /// It, unless it is [`Self::NONE`].
            #[inline]
            pub fn some(self) -> Option<$name> {
                self.is_some().then_some(self)
            }

            /// The next one.
            #[inline]
            pub const fn next(self) -> $name {
                $name(self.0 + 1)
            }

            /// All of a range.
            pub fn all(range: Range<$name>) -> impl DoubleEndedIterator<Item = $name> + Clone + use<> {
                (range.start.0..range.end.0).map($name)
            }
        }

        impl Number for $name {
            #[inline]
            fn from_number(number: u32) -> $name {
                $name(number)
            }

            #[inline]
            fn number(self) -> u32 {
                self.0
            }
        }

        impl From<usize> for $name {
            #[inline]
            fn from(number: usize) -> $name {
                $name(number as u32)
            }
        }

        impl From<$name> for i64 {
            #[inline]
            fn from(index: $name) -> i64 {
                i64::from(index.0)
            }
        }

        impl From<$name> for usize {
            #[inline]
            fn from(index: $name) -> usize {
                index.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

use std::ops::Range;

index_type! {
    /// A task of [`crate::store::trace::Trace::tasks`].
    TaskId
}

index_type! {
    /// A shape of [`crate::store::events::EventTable::shapes`].
    ShapeId
}

index_type! {
    /// A task among those of its capture.
    OwnTask
}

impl TaskId {
    /// Its place among the tasks of a capture, given the first one.
    #[inline]
    pub(crate) const fn since(self, first: TaskId) -> OwnTask {
        OwnTask(self.0 - first.0)
    }
}
