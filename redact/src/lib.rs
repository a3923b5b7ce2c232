//! Removes secrets from captures, so that they can be shared, and keeps what the analysis needs.
//!
//! In:   a capture of any format, in any envelope, and a key
//! Out:  a capture with as many lines, of the same kinds, with pseudonyms
//!
//! ```text
//! capture ─► stream ─► line ─┬─ structured? head as it is, body ─► bare ─┬─ numbers, known words ─────────► as they are
//!                            ├─ log message ────────────────────► log ───┼─ unknown words, paths ─► names ─► pseudonyms
//!                            ├─ in an envelope ─► wrapper ─► line        ├─ buffers of read, write … ──────► fillers
//!                            └─ not understood ─────────────────────────┴────────────────────────────────► pseudonyms
//! ```
//!
//! Nothing stays unless it is known: the grammar of a format decides only how a text is replaced, never whether. Where
//! a line is misread (a quote inside of a string, a cut line, output of the program in the middle), its words are still
//! not in the lists of `known`, so they are replaced. What stays without being in a list are numbers outside strings.
//!
//! The readers must see the same capture afterwards, so pseudonyms keep what they and the engine depend on: equal texts
//! stay equal and different ones different, paths keep their depth and extensions, digits stay digits (`normalise.rs`
//! replaces them), addresses stay in their networks, buffers keep their lengths. A line that is not understood is
//! replaced whole, and checked to be of the same kind as before.
//!
//! A pseudonym proves itself by a sum over its letters. So a capture that was redacted already stays as it is (numbers in
//! names and addresses excepted: they get new ones), and `verify`, which shares nothing with the code that rewrites but
//! the lists, recognises each token.
#![deny(missing_docs)]

mod address;
mod bare;
mod columns;
mod key;
mod known;
mod line;
mod log;
mod names;
mod pseudonym;
mod quoted;
mod recent;
pub mod stream;
mod token;
pub mod verify;
mod wrapper;

pub use key::Key;
pub use pseudonym::Translations;
pub use stream::Redactor;

/// What to keep, and under which key.
pub struct Options {
    /// The key of the pseudonyms.
    pub key: Key,
    /// Texts and words that match this regular expression as a whole stay.
    pub keep: Option<String>,
    /// Names of programs stay.
    pub keeps_programs: bool,
    /// The name of the format, if the user names it.
    pub format: Option<String>,
    /// Words and their pseudonyms are recorded for [`Redactor::take_translations`].
    pub has_map: bool,
}

/// The pattern is not a valid regular expression: why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidPattern(pub String);

/// No format fits the beginning of a capture. An error of reading has this as its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownFormat;

impl std::fmt::Display for UnknownFormat {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("no format fits")
    }
}

impl std::error::Error for UnknownFormat {}
