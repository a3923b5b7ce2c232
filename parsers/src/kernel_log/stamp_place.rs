//! Where the stamps of a file are, and the order of the numbers of their dates.

use super::date::DateOrder;

/// The stamps of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct StampGrammar {
    /// The order of the numbers of dates.
    pub order: DateOrder,
    /// Where lines have their stamps.
    pub place: StampPlace,
}

/// Where lines that do not begin with a stamp in a known form have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum StampPlace {
    /// Nowhere.
    #[default]
    Start,
    /// In this word, counted from 0: it begins there or after a mark such as `:` or `[`.
    Word(u8),
    /// At the start: seconds since an unknown moment.
    Seconds,
    /// In this word, counted from 0: how long ago it was.
    Age(u8),
    /// In the tree of systemd's units, the latest first.
    Chain,
    /// In a picture of systemd's units: where the text of each stands.
    Plot,
    /// After the name of an event of Android's boot.
    BootEvents,
    /// After the time since the previous line: Cygwin's strace.
    Cygwin,
}
