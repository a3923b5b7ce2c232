//! Columns as filters see them: values by row, texts by number.

use std::borrow::Cow;
use trace::store::event::NONE;
use trace::store::table::{Table, Values};

/// Gives the value of a column in a row; `None` is missing.
pub type ValueOf<'rows, T> = Box<dyn Fn(u32) -> Option<T> + Send + Sync + 'rows>;

/// What has columns.
pub trait RowSource {
    /// The values of a column of this name.
    fn cells(&self, name: &str) -> Option<ColumnValues<'_>>;
}

/// The values of a column.
pub enum ColumnValues<'rows> {
    /// Whole numbers.
    Int(ValueOf<'rows, i64>),
    /// Numbers.
    Float(ValueOf<'rows, f64>),
    /// Yes or no.
    Bool(ValueOf<'rows, bool>),
    /// Texts that repeat themselves, so that each is looked at once.
    Words(TextValues<'rows>),
    /// Texts that do not.
    Loose(ValueOf<'rows, String>),
    /// Lists of texts, missing where empty.
    Lists(ValueOf<'rows, &'rows [String]>),
}

/// Texts by numbers.
pub struct TextValues<'rows> {
    /// How many numbers there are.
    pub numbers: usize,
    /// The number in a row; [`NONE`] is missing.
    pub of: Box<dyn Fn(u32) -> u32 + Send + Sync + 'rows>,
    /// The text of a number; a number may stand for no text.
    pub word: Box<dyn Fn(u32) -> Option<Cow<'rows, str>> + Send + Sync + 'rows>,
}

impl<'rows> TextValues<'rows> {
    /// The text in a row.
    pub fn at(&self, row: u32) -> Option<Cow<'rows, str>> {
        Some((self.of)(row))
            .filter(|&number| number != NONE)
            .and_then(|number| (self.word)(number))
    }
}

impl RowSource for Table {
    fn cells(&self, name: &str) -> Option<ColumnValues<'_>> {
        Some(match self.column(name)? {
            Values::Int(values) => {
                ColumnValues::Int(Box::new(|row| values.get(row as usize).copied().flatten()))
            }
            Values::Float(values) => ColumnValues::Float(Box::new(|row| {
                values
                    .get(row as usize)
                    .copied()
                    .flatten()
                    .filter(|value| value.is_finite())
            })),
            Values::Bool(values) => {
                ColumnValues::Bool(Box::new(|row| values.get(row as usize).copied().flatten()))
            }
            Values::List(values) => ColumnValues::Lists(Box::new(|row| {
                values
                    .get(row as usize)
                    .map(Vec::as_slice)
                    .filter(|list| !list.is_empty())
            })),
            Values::Text { keys, words } => ColumnValues::Words(TextValues {
                numbers: words.len(),
                of: Box::new(|row| keys.get(row as usize).copied().unwrap_or(NONE)),
                word: Box::new(|number| {
                    words
                        .get(number as usize)
                        .map(|word| Cow::Borrowed(word.as_str()))
                }),
            }),
        })
    }
}
