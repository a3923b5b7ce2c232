//! Texts of a picture, each once. Number 0 is the empty text.

use crate::picture::codec::{deflated, push_number};
use parsers::Text;
use rustc_hash::FxHashMap;
use trace::store::trace::Trace;

/// Characters of a text that are retained, if there is space.
const MAX_CHARACTERS: usize = 400;

/// Numbers of texts, in the order of their first use.
pub struct StringIndex<'trace> {
    trace: &'trace Trace,
    numbers: FxHashMap<(Text, Text), u64>,
    strings: Vec<String>,
}

/// The texts, compressed.
pub struct Strings {
    /// Number of texts.
    pub count: usize,
    /// Number of bytes before compression.
    pub raw_bytes: usize,
    /// Each with its length in bytes before it.
    pub bytes: Vec<u8>,
    /// Longer texts end after this number of characters, with an ellipsis.
    pub max_characters: usize,
}

impl<'trace> StringIndex<'trace> {
    /// Only the empty text.
    pub fn new(trace: &'trace Trace) -> StringIndex<'trace> {
        StringIndex {
            trace,
            numbers: FxHashMap::default(),
            strings: vec![String::new()],
        }
    }

    /// The number of a text.
    pub fn number(&mut self, text: Text) -> u64 {
        self.number_of(text, Text::NONE)
    }

    /// The number of two texts with a blank between them.
    pub fn number_of(&mut self, first: Text, second: Text) -> u64 {
        if !first.is_some() && !second.is_some() {
            return 0;
        }
        let StringIndex {
            trace,
            numbers,
            strings,
        } = self;
        *numbers.entry((first, second)).or_insert_with(|| {
            let parts = [first, second].map(|text| trace.events.texts.string(text));
            strings.push(
                parts
                    .join(" ")
                    .trim()
                    .chars()
                    .take(MAX_CHARACTERS + 1)
                    .collect(),
            );
            strings.len() as u64 - 1
        })
    }

    /// Compress them into at most `max_bytes`: if that is too little, long texts are truncated.
    pub fn finish(self, max_bytes: usize) -> Strings {
        let mut max_characters = MAX_CHARACTERS;
        loop {
            let raw = encoded(&self.strings, max_characters);
            let limit = if max_characters == 0 {
                usize::MAX
            } else {
                max_bytes
            };
            if let Some(bytes) = deflated(&raw, limit) {
                return Strings {
                    count: self.strings.len(),
                    raw_bytes: raw.len(),
                    bytes,
                    max_characters,
                };
            }
            max_characters = if max_characters <= 6 {
                0
            } else {
                max_characters / 2
            };
        }
    }
}

fn encoded(strings: &[String], max_characters: usize) -> Vec<u8> {
    let mut raw = Vec::new();
    for string in strings {
        let is_long = string.chars().nth(max_characters).is_some();
        let ends = if is_long && max_characters > 0 {
            "…"
        } else {
            ""
        };
        let short: String = string.chars().take(max_characters).collect();
        push_number(&mut raw, (short.len() + ends.len()) as u64);
        raw.extend_from_slice(short.as_bytes());
        raw.extend_from_slice(ends.as_bytes());
    }
    raw
}
