//! Conditions on rows: an expression, checked by whoever wrote it down, is bound to the columns it names and then tested
//! row by row.
//!
//! ```text
//! ("and", ("~", ("column", "target"), "[.]so"), (">=", ("column", "dur_ns"), 1000000))
//!            once for each distinct text               once for each row that is left
//! ```
//!
//! A value that is missing meets no comparison, `!=` and `!~` included. Integers stay integers while they fit into 64
//! bits; division gives a fraction, and by nothing it gives nothing.

pub(crate) mod bind;
pub(crate) mod columns;
pub mod events;
pub mod groups;

use crate::filter::bind::bind;
use std::cmp::Ordering;
use trace::store::table::Table;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// True or false.
    Bool(bool),
    /// The value of a column.
    Column(String),
    /// Whether there is no value.
    Missing(Box<Expr>),
    /// What does not hold.
    Not(Box<Expr>),
    /// All of these hold.
    And(Vec<Expr>),
    /// One of these holds.
    Or(Vec<Expr>),
    /// Two values compared.
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// Two numbers calculated with.
    Calculate(Operation, Box<Expr>, Box<Expr>),
    /// Whether a value is one of several (or none of them).
    Among(Box<Expr>, Vec<Expr>, bool),
    /// Whether a pattern is found in a text (or is not).
    Matches(Box<Expr>, Pattern, bool),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// The sign of each.
    pub const ALL: [(&'static str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::Unequal),
        ("<", Comparison::Less),
        ("<=", Comparison::AtMost),
        (">", Comparison::More),
        (">=", Comparison::AtLeast),
    ];

    /// Whether values in this order meet it.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::Unequal => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::More => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
        }
    }
}

/// What is done with two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

impl Operation {
    /// The sign of each.
    pub const ALL: [(&'static str, Operation); 4] = [
        ("+", Operation::Plus),
        ("-", Operation::Minus),
        ("*", Operation::Times),
        ("/", Operation::Over),
    ];
}

/// A regular expression that is found in a text in time linear to it.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: regex::Regex,
}

/// Why a text is not a valid regular expression.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternError(pub String);

/// Why an expression does not fit its table.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfit {
    /// There is no column of this name.
    Column(String),
    /// Values that cannot be compared or calculated with.
    Types(&'static str),
}

impl Pattern {
    /// Memory that a compiled pattern may take.
    const LARGEST_BYTES: usize = 1 << 20;

    /// A pattern from its text.
    ///
    /// # Errors
    /// [`PatternError`] if it is not a valid regular expression, or would be too large.
    pub fn new(text: &str) -> Result<Pattern, PatternError> {
        let regex = regex::RegexBuilder::new(text)
            .size_limit(Pattern::LARGEST_BYTES)
            .build();
        let why = |error: regex::Error| match error {
            regex::Error::CompiledTooBig(_) => "it would be too large".to_owned(),
            // The last line has the message; the lines above draw the place.
            other => {
                let text = other.to_string();
                let last = text.lines().last().unwrap_or_default();
                last.trim_start_matches("error:").trim().to_owned()
            }
        };
        regex
            .map(|regex| Pattern { regex })
            .map_err(|error| PatternError(why(error)))
    }

    /// Whether it is found anywhere in a text.
    pub fn found_in(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.regex.as_str() == other.regex.as_str()
    }
}

/// Rows of a table that meet a condition, in their order.
///
/// # Errors
/// [`Unfit`] if the expression does not fit the table.
pub fn rows(table: &Table, condition: &Expr) -> Result<Vec<u32>, Unfit> {
    let test = bind(table, condition)?;
    Ok((0..table.len() as u32).filter(|&row| test(row)).collect())
}

#[cfg(test)]
mod tests;
