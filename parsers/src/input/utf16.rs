//! UTF-16 text, as some shells write it to redirected files, decoded to UTF-8.

use std::io::{self, Read};

/// Bytes decoded at a time.
const PIECE_BYTES: usize = 1 << 14;

/// The byte order of text with the mark of UTF-16: whether the low byte comes first. `None` without the mark.
pub(super) fn mark(head: &[u8]) -> Option<bool> {
    match head {
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some(true),
        [0xfe, 0xff, ..] => Some(false),
        _ => None,
    }
}

/// Decodes what it reads. Invalid units become the replacement character; half a unit at the end is dropped.
pub(super) struct Utf16<R> {
    source: R,
    is_low_first: bool,
    /// Bytes not decoded yet: half a unit, or the first unit of a pair.
    raw: Vec<u8>,
    text: Vec<u8>,
    given: usize,
    is_first: bool,
}

impl<R: Read> Utf16<R> {
    pub(super) fn new(source: R, is_low_first: bool) -> Utf16<R> {
        Utf16 {
            source,
            is_low_first,
            raw: Vec::new(),
            text: Vec::new(),
            given: 0,
            is_first: true,
        }
    }

    /// Decode the next piece; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let before = self.raw.len();
        (&mut self.source)
            .take(PIECE_BYTES as u64)
            .read_to_end(&mut self.raw)?;
        let is_end = self.raw.len() == before;
        self.text.clear();
        self.given = 0;
        let unit = |pair: &[u8]| match (pair, self.is_low_first) {
            (&[low, high], true) | (&[high, low], false) => u16::from_be_bytes([high, low]),
            _ => 0,
        };
        let mut units: Vec<u16> = self.raw.chunks_exact(2).map(unit).collect();
        // The second unit of a pair may be in the next piece.
        if !is_end
            && units
                .last()
                .is_some_and(|last| (0xD800..0xDC00).contains(last))
        {
            units.pop();
        }
        self.raw.drain(
            ..if is_end {
                self.raw.len()
            } else {
                units.len() * 2
            },
        );
        if std::mem::take(&mut self.is_first) && units.first() == Some(&0xFEFF) {
            units.remove(0);
        }
        for letter in char::decode_utf16(units) {
            let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.text
                .extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(!is_end)
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() {
            let goes_on = self.fill()?;
            if !goes_on && self.text.is_empty() {
                return Ok(0);
            }
        }
        let rest = &self.text[self.given..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}
