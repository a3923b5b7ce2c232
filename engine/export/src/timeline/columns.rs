//! The columns of a table by their names.

use trace::store::event::NONE;
use trace::store::table::{Table, Values};

/// Looks values up by column and row. A column that the table lacks has no values.
pub struct Columns<'all>(Vec<(&'all str, &'all Values)>);

impl<'all> Columns<'all> {
    /// The columns of a table.
    pub fn new(table: &'all Table) -> Columns<'all> {
        let columns = table.columns.iter();
        Columns(
            columns
                .map(|(name, values)| (name.as_str(), values))
                .collect(),
        )
    }

    fn values(&self, name: &str) -> Option<&'all Values> {
        let found = self.0.iter().find(|(column, _)| *column == name);
        found.map(|&(_, values)| values)
    }

    /// A value of a column of integers.
    pub fn int(&self, name: &str, row: usize) -> Option<i64> {
        match self.values(name) {
            Some(Values::Int(values)) => values.get(row).copied().flatten(),
            _ => None,
        }
    }

    /// A value of a column of texts.
    pub fn text(&self, name: &str, row: usize) -> Option<&'all str> {
        match self.values(name) {
            Some(Values::Text { keys, words }) => {
                let key = keys.get(row).copied().filter(|&key| key != NONE)?;
                words.get(key as usize).map(String::as_str)
            }
            _ => None,
        }
    }

    /// Whether a value is set, in a column of flags.
    pub fn flag(&self, name: &str, row: usize) -> bool {
        match self.values(name) {
            Some(Values::Bool(values)) => values.get(row).copied().flatten() == Some(true),
            _ => false,
        }
    }
}
