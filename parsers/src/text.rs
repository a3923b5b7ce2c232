//! Interned text: equal bytes, equal number.
//!
//! A chunk interns on its own, so that chunks can be read at the same time; the engine then maps the numbers of a chunk to
//! those of the trace. Words that every trace uses (names of syscalls and errors) have fixed numbers below
//! [`Text::first_free`] and need no mapping.

use crate::syscalls;
use hashbrown::HashTable;
use std::hash::Hasher;

/// A text by its number. 0 is "no text".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Text(pub u32);

impl Text {
    /// No text.
    pub const NONE: Text = Text(0);

    /// Whether there is a text.
    pub fn is_some(self) -> bool {
        self.0 != 0
    }

    /// The first number that is not a fixed word.
    pub const fn first_free() -> u32 {
        syscalls::WORDS_LEN
    }
}

const BLOCK_BYTES: usize = 1 << 18;
/// No fixed word is longer than this many bytes.
const LONGEST_WORD: usize = 32;

/// A set of texts with dense numbers, starting with the fixed words.
///
/// Texts lie in blocks that never move, so growing costs no copy of what is there.
#[derive(Default)]
pub struct Interner {
    blocks: Vec<Vec<u8>>,
    spans: Vec<Span>,
    table: HashTable<u32>,
}

#[derive(Clone, Copy)]
struct Span {
    block: u32,
    start: u32,
    len: u32,
    hash: u32,
}

/// Texts that a piece added to those of the pieces before it.
#[derive(Default)]
pub struct NewTexts {
    /// The numbers begin anew: these texts are all there are.
    pub afresh: bool,
    bytes: Vec<u8>,
    /// End of each in the bytes, and its hash.
    ends: Vec<(u32, u32)>,
}

impl NewTexts {
    /// The texts in the order of their numbers, with their hashes.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, hash)| {
            let text = &self.bytes[start..end as usize];
            start = end as usize;
            (text, hash)
        })
    }
}

/// The hash that all interners use, so that one can hand its hashes to another.
pub fn hash_bytes(bytes: &[u8]) -> u32 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(bytes);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

/// Fixed words are names: they begin with a letter or underscore and are short.
fn may_be_word(bytes: &[u8]) -> bool {
    bytes.len() <= LONGEST_WORD && bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// hashbrown takes its control byte from the top bits of 64.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Interner {
    /// Number of texts, fixed words included.
    pub fn len(&self) -> usize {
        Text::first_free() as usize + self.spans.len()
    }

    /// Number of texts beside the fixed words.
    pub(crate) fn added_len(&self) -> usize {
        self.spans.len()
    }

    /// Whether no text beside the fixed words was added.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The number of a text, added if it is new. Empty text is [`Text::NONE`].
    pub fn add(&mut self, bytes: &[u8]) -> Text {
        if bytes.is_empty() {
            return Text::NONE;
        }
        // Most texts are paths and addresses; a look at the front saves looking for them among the words.
        if let Some(word) = may_be_word(bytes).then(|| syscalls::word(bytes)).flatten() {
            return word;
        }
        self.add_hashed(bytes, hash_bytes(bytes))
    }

    /// As [`Interner::add`] for a text known to be no fixed word, with its [`hash_bytes`].
    pub fn add_hashed(&mut self, bytes: &[u8], hash: u32) -> Text {
        let first = Text::first_free();
        let (spans, blocks) = (&self.spans, &self.blocks);
        if let Some(&found) = self.table.find(spread(hash), |&at| text_at(blocks, spans[at as usize]) == bytes) {
            return Text(first + found);
        }
        let at = self.spans.len() as u32;
        let span = self.store(bytes, hash);
        self.spans.push(span);
        let spans = &self.spans;
        self.table.insert_unique(spread(hash), at, |&at| spread(spans[at as usize].hash));
        Text(first + at)
    }

    /// The bytes of a text of this interner; of another one's, nothing sensible, but no panic.
    pub fn bytes(&self, text: Text) -> &[u8] {
        match text.0.checked_sub(Text::first_free()) {
            None => syscalls::words()[text.0 as usize].as_bytes(),
            Some(at) => self.spans.get(at as usize).map_or(b"", |&span| text_at(&self.blocks, span)),
        }
    }

    /// The bytes of a text as a string, with what is not UTF-8 replaced.
    pub fn string(&self, text: Text) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(text))
    }

    /// The number of a text if it is there.
    pub fn find(&self, bytes: &[u8]) -> Option<Text> {
        if bytes.is_empty() {
            return Some(Text::NONE);
        }
        if let Some(word) = syscalls::word(bytes) {
            return Some(word);
        }
        let found =
            self.table.find(spread(hash_bytes(bytes)), |&at| text_at(&self.blocks, self.spans[at as usize]) == bytes);
        found.map(|&at| Text(Text::first_free() + at))
    }

    /// The texts that are no fixed words, in the order of their numbers, with their hashes.
    pub fn added(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.spans.iter().map(|&span| (text_at(&self.blocks, span), span.hash))
    }

    /// Copy the texts from this number of added ones on.
    pub(crate) fn copy_new(&self, from: usize, into: &mut NewTexts) {
        into.bytes.clear();
        into.ends.clear();
        for &span in self.spans.get(from..).unwrap_or(&[]) {
            into.bytes.extend_from_slice(text_at(&self.blocks, span));
            into.ends.push((into.bytes.len() as u32, span.hash));
        }
        into.afresh = from == 0;
    }

    /// Memory that the texts take, about.
    pub(crate) fn size_bytes(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Vec::len).sum();
        blocks + self.spans.len() * (size_of::<Span>() + size_of::<u64>())
    }

    /// Forget all added texts, keep the memory.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.table.clear();
        self.blocks.truncate(1);
        if let Some(block) = self.blocks.first_mut() {
            block.clear();
        }
    }

    fn store(&mut self, bytes: &[u8], hash: u32) -> Span {
        let fits = self.blocks.last().is_some_and(|block| block.capacity() - block.len() >= bytes.len());
        if !fits {
            self.blocks.push(Vec::with_capacity(BLOCK_BYTES.max(bytes.len())));
        }
        let block = self.blocks.len() - 1;
        let start = self.blocks[block].len() as u32;
        self.blocks[block].extend_from_slice(bytes);
        Span { block: block as u32, start, len: bytes.len() as u32, hash }
    }
}

fn text_at(blocks: &[Vec<u8>], span: Span) -> &[u8] {
    let start = span.start as usize;
    &blocks[span.block as usize][start..start + span.len as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_numbers_and_words_are_fixed() {
        let mut texts = Interner::default();
        let path = texts.add(b"/etc/passwd");
        assert_eq!(texts.add(b"/etc/passwd"), path);
        assert_ne!(texts.add(b"/etc/group"), path);
        assert_eq!(texts.bytes(path), b"/etc/passwd");
        let fits = |word: &&str| word.is_empty() || may_be_word(word.as_bytes());
        assert!(syscalls::words().iter().all(fits));
        let read = texts.add(b"read");
        assert!(read.0 < Text::first_free());
        assert_eq!(texts.bytes(read), b"read");
        assert_eq!(texts.add(b""), Text::NONE);
        texts.clear();
        assert_eq!(texts.find(b"/etc/group"), None);
    }
}
