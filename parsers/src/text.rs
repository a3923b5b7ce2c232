//! The number of an interned text.

/// A text by its number in an [`crate::Interner`]. 0 means "no text".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Text(pub u32);

impl Text {
    /// No text.
    pub const NONE: Text = Text(0);

    /// Whether there is a text.
    pub fn is_some(self) -> bool {
        self.0 != 0
    }
}
