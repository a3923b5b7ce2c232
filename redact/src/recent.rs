//! Recent results: a table of a fixed size. A new entry replaces an old one.
//!
//! A name that a program opens stands in several lines that follow, and then in none. So few entries are enough, and
//! their buffers are used again: neither memory nor time grows with the number of different names.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A power of two.
const ENTRIES: usize = 1 << 12;
/// Longer texts are not remembered.
const MAX_TEXT_BYTES: usize = 512;

#[derive(Clone, Default)]
struct Entry {
    text: Vec<u8>,
    kind: u8,
    made: Vec<u8>,
}

/// Results by text.
pub(crate) struct Recent(Vec<Entry>);

impl Default for Recent {
    fn default() -> Recent {
        Recent(vec![Entry::default(); ENTRIES])
    }
}

impl Recent {
    /// The remembered result for a text of this kind. The text must not be empty.
    pub fn get(&self, text: &[u8], kind: u8) -> Option<&[u8]> {
        let entry = &self.0[place(text, kind)];
        (entry.text == text && entry.kind == kind).then_some(&entry.made)
    }

    /// Remember the result for a text of this kind.
    pub fn insert(&mut self, text: &[u8], kind: u8, made: &[u8]) {
        if text.len().max(made.len()) > MAX_TEXT_BYTES {
            return;
        }
        let entry = &mut self.0[place(text, kind)];
        entry.kind = kind;
        for (buffer, bytes) in [(&mut entry.text, text), (&mut entry.made, made)] {
            buffer.clear();
            buffer.extend_from_slice(bytes);
        }
    }
}

fn place(text: &[u8], kind: u8) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.write_u8(kind);
    hasher.finish() as usize % ENTRIES
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES, Recent};

    #[test]
    fn an_entry_belongs_to_its_text_and_kind() {
        let mut recent = Recent::default();
        for number in 0..4 * ENTRIES {
            let text = number.to_string().into_bytes();
            recent.insert(&text, (number % 2) as u8, &[&text[..], b"!"].concat());
            assert_eq!(
                recent.get(&text, (number % 2) as u8),
                Some(&[&text[..], b"!"].concat()[..])
            );
            assert_eq!(recent.get(&text, 2), None);
        }
        let kept = (0..4 * ENTRIES).filter(|number| {
            recent
                .get(number.to_string().as_bytes(), (number % 2) as u8)
                .is_some()
        });
        assert!((1..=ENTRIES).contains(&kept.count()));
    }

    #[test]
    fn long_texts_are_not_remembered() {
        let mut recent = Recent::default();
        recent.insert(&[b'x'; 1000], 0, b"made");
        assert_eq!(recent.get(&[b'x'; 1000], 0), None);
    }
}
