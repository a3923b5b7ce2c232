//! Small tables: named columns of one type each. Python, Arrow and JSON output is built from these.

use crate::store::event;

/// The values of a column. Missing values are `None`.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Integers: nanoseconds, counts, ids, lines.
    Int(Vec<Option<i64>>),
    /// Shares and means.
    Float(Vec<Option<f64>>),
    /// Yes or no.
    Bool(Vec<Option<bool>>),
    /// Texts as indices into `words`; [`crate::store::event::NONE`] is missing.
    Text {
        /// The numbers.
        keys: Vec<u32>,
        /// The distinct texts.
        words: Vec<String>,
    },
    /// Lists of texts.
    List(Vec<Vec<String>>),
}

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::Int(values) => values.len(),
            Values::Float(values) => values.len(),
            Values::Bool(values) => values.len(),
            Values::Text { keys, .. } => keys.len(),
            Values::List(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Builder of a text column.
#[derive(Default)]
pub struct TextColumn {
    keys: Vec<u32>,
    words: Vec<String>,
    numbers: hashbrown::HashMap<String, u32, rustc_hash::FxBuildHasher>,
}

impl TextColumn {
    /// Add a value.
    pub fn push(&mut self, text: Option<&str>) {
        let number = text.map_or(event::NONE, |text| self.number(text));
        self.keys.push(number);
    }

    /// The number of a text, to add it as a value more than once.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.words.len() as u32;
        self.words.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// Add a value by its number; [`crate::store::event::NONE`] is missing.
    pub fn push_number(&mut self, number: u32) {
        self.keys.push(number);
    }

    /// The column.
    pub fn finish(self) -> Values {
        Values::Text {
            keys: self.keys,
            words: self.words,
        }
    }

    /// The numbers of the values, and the distinct texts.
    pub fn into_parts(self) -> (Vec<u32>, Vec<String>) {
        (self.keys, self.words)
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The kind of the table. Its columns are described under this name in [`crate::store::schema`].
    pub name: &'static str,
    /// The columns, all of the same length.
    pub columns: Vec<(String, Values)>,
}

impl Table {
    /// A table of these columns.
    pub fn new(name: &'static str, columns: Vec<(&str, Values)>) -> Table {
        let columns: Vec<_> = columns
            .into_iter()
            .map(|(name, values)| (name.to_owned(), values))
            .collect();
        debug_assert!(
            columns
                .windows(2)
                .all(|pair| pair[0].1.len() == pair[1].1.len())
        );
        Table { name, columns }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values of a column.
    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns
            .iter()
            .find(|(column, _)| column == name)
            .map(|(_, values)| values)
    }
}

/// An integer column without missing values.
pub fn ints(values: impl IntoIterator<Item = i64>) -> Values {
    Values::Int(values.into_iter().map(Some).collect())
}

/// An integer column; [`parsers::NO_NS`] is a missing value.
pub fn some_ints(values: impl IntoIterator<Item = i64>) -> Values {
    Values::Int(
        values
            .into_iter()
            .map(|value| (value != parsers::NO_NS).then_some(value))
            .collect(),
    )
}

/// A text column.
pub fn texts<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> Values {
    let mut column = TextColumn::default();
    values.into_iter().for_each(|value| column.push(value));
    column.finish()
}
