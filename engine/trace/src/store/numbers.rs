//! Numbers in fields that may lack one: an `Option` of such a number takes no more space than the number.

use std::num::NonZeroU32;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            // One more than the number, so that 0 is left for "none". No list is so long that this overflows.
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            #[repr(transparent)]
            pub(crate) struct $name(NonZeroU32);

            impl $name {
                /// With this number.
                #[inline]
                pub(crate) fn new(number: u32) -> $name {
                    $name(NonZeroU32::MIN.saturating_add(number))
                }

                /// The number.
                #[inline]
                pub(crate) fn number(self) -> u32 {
                    self.0.get() - 1
                }
            }
        )*
    };
}

numbers! {
    /// A row of the event table.
    Row;
    /// The place of an open call in the assembler's list.
    OpenPlace;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_none_takes_four_bytes() {
        assert_eq!(size_of::<Option<Row>>(), 4);
        assert_eq!([0, 7].map(|row| Row::new(row).number()), [0, 7]);
    }
}
