//! Interned text: equal bytes, equal number.
//!
//! Each chunk has its own interner, so chunks can be read in parallel; the engine then maps the numbers of a chunk to those
//! of the trace. Words that every trace uses (names of syscalls and errors) have fixed numbers below
//! [`Interner::first_free`] and need no mapping.

mod slots;

use crate::interner::slots::Slots;
use crate::syscalls;
use crate::text::Text;
use std::hash::Hasher;

const BLOCK_BYTES: usize = 1 << 18;
/// Texts whose places are fetched from memory together.
const ADDED_AT_ONCE: usize = 32;
/// No fixed word is longer.
const MAX_WORD_BYTES: usize = 32;

/// A set of texts with dense numbers, starting with the fixed words.
///
/// Texts are stored in blocks that never move, so the set grows without copying them.
#[derive(Default)]
pub struct Interner {
    blocks: Vec<Vec<u8>>,
    spans: Vec<TextSpan>,
    slots: Slots,
}

#[derive(Clone, Copy)]
struct TextSpan {
    block: u32,
    start: u32,
    len: u32,
    hash: u32,
}

/// The texts that a chunk added to those of earlier chunks.
#[derive(Default)]
pub struct NewTexts {
    /// The interner was cleared: these are all its texts.
    pub afresh: bool,
    bytes: Vec<u8>,
    /// For each text, its end in `bytes` and its hash.
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

/// The hash that all interners use, so that one interner can pass its hashes to another.
pub fn hash_bytes(bytes: &[u8]) -> u32 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(bytes);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

/// Fixed words are names: they are short, and begin with a letter or an underscore.
fn may_be_word(bytes: &[u8]) -> bool {
    bytes.len() <= MAX_WORD_BYTES
        && bytes
            .first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

impl Interner {
    /// The first number that is not a fixed word.
    pub const fn first_free() -> u32 {
        syscalls::WORDS_LEN
    }

    /// Number of texts, fixed words included.
    pub fn len(&self) -> usize {
        Interner::first_free() as usize + self.spans.len()
    }

    /// Number of texts without the fixed words.
    pub(crate) fn added_len(&self) -> usize {
        self.spans.len()
    }

    /// Whether the fixed words are the only texts.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The number of a text, added if it is new. Empty text is [`Text::NONE`].
    pub fn add(&mut self, bytes: &[u8]) -> Text {
        if bytes.is_empty() {
            return Text::NONE;
        }
        // Most texts are paths and addresses. Their first byte excludes them without a lookup among the words.
        if let Some(word) = may_be_word(bytes).then(|| syscalls::word(bytes)).flatten() {
            return word;
        }
        self.add_hashed(bytes, hash_bytes(bytes))
    }

    /// As [`Interner::add`] for a text that is not a fixed word, with its [`hash_bytes`].
    pub fn add_hashed(&mut self, bytes: &[u8], hash: u32) -> Text {
        let first = Interner::first_free();
        let free = match self.slots.find(hash, |at| {
            text_at(&self.blocks, self.spans[at as usize]) == bytes
        }) {
            Ok(found) => return Text(first + found),
            Err(free) => free,
        };
        let at = self.spans.len() as u32;
        let span = self.store(bytes, hash);
        self.spans.push(span);
        self.slots.insert(free, hash, at);
        Text(first + at)
    }

    /// As [`Interner::add_hashed`] for many texts, whose numbers are appended to a list. Their places are looked at together
    /// before: in a large interner, most of them have to be fetched from memory.
    pub fn add_all_hashed<'text>(
        &mut self,
        texts: impl Iterator<Item = (&'text [u8], u32)>,
        numbers: &mut Vec<Text>,
    ) {
        let mut texts = texts.peekable();
        let mut some: Vec<(&[u8], u32)> = Vec::with_capacity(ADDED_AT_ONCE);
        while texts.peek().is_some() {
            some.clear();
            some.extend(texts.by_ref().take(ADDED_AT_ONCE));
            self.slots.fetch(some.iter().map(|&(_, hash)| hash));
            numbers.extend(
                some.iter()
                    .map(|&(bytes, hash)| self.add_hashed(bytes, hash)),
            );
        }
    }

    /// The bytes of a text of this interner. The text of another interner gives wrong bytes, but no panic.
    pub fn bytes(&self, text: Text) -> &[u8] {
        match text.0.checked_sub(Interner::first_free()) {
            None => syscalls::words()[text.0 as usize].as_bytes(),
            Some(at) => self
                .spans
                .get(at as usize)
                .map_or(b"", |&span| text_at(&self.blocks, span)),
        }
    }

    /// A text as a string; bytes that are not UTF-8 are replaced.
    pub fn string(&self, text: Text) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(text))
    }

    /// The number of a text, if it was added or is a fixed word.
    pub fn find(&self, bytes: &[u8]) -> Option<Text> {
        if bytes.is_empty() {
            return Some(Text::NONE);
        }
        if let Some(word) = syscalls::word(bytes) {
            return Some(word);
        }
        let found = self.slots.find(hash_bytes(bytes), |at| {
            text_at(&self.blocks, self.spans[at as usize]) == bytes
        });
        found.ok().map(|at| Text(Interner::first_free() + at))
    }

    /// The texts without the fixed words, in the order of their numbers, with their hashes.
    pub fn added(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.spans
            .iter()
            .map(|&span| (text_at(&self.blocks, span), span.hash))
    }

    /// Copy the added texts from this index on.
    pub(crate) fn copy_new(&self, from: usize, into: &mut NewTexts) {
        into.bytes.clear();
        into.ends.clear();
        for &span in self.spans.get(from..).unwrap_or(&[]) {
            into.bytes.extend_from_slice(text_at(&self.blocks, span));
            into.ends.push((into.bytes.len() as u32, span.hash));
        }
        into.afresh = from == 0;
    }

    /// Memory that the texts take, approximately.
    pub(crate) fn size_bytes(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Vec::len).sum();
        blocks + self.spans.len() * (size_of::<TextSpan>() + size_of::<u64>())
    }

    /// Remove all added texts, but keep the memory.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.slots.clear();
        self.blocks.truncate(1);
        if let Some(block) = self.blocks.first_mut() {
            block.clear();
        }
    }

    fn store(&mut self, bytes: &[u8], hash: u32) -> TextSpan {
        let fits = self
            .blocks
            .last()
            .is_some_and(|block| block.capacity() - block.len() >= bytes.len());
        if !fits {
            self.blocks
                .push(Vec::with_capacity(BLOCK_BYTES.max(bytes.len())));
        }
        let block = self.blocks.len() - 1;
        let start = self.blocks[block].len() as u32;
        self.blocks[block].extend_from_slice(bytes);
        TextSpan {
            block: block as u32,
            start,
            len: bytes.len() as u32,
            hash,
        }
    }
}

fn text_at(blocks: &[Vec<u8>], span: TextSpan) -> &[u8] {
    let start = span.start as usize;
    &blocks[span.block as usize][start..start + span.len as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_numbers() {
        let mut texts = Interner::default();
        let path = texts.add(b"/etc/passwd");
        assert_eq!(texts.add(b"/etc/passwd"), path);
        assert_ne!(texts.add(b"/etc/group"), path);
        assert_eq!(texts.bytes(path), b"/etc/passwd");
        let fits = |word: &&str| word.is_empty() || may_be_word(word.as_bytes());
        assert!(syscalls::words().iter().all(fits));
        let read = texts.add(b"read");
        assert!(read.0 < Interner::first_free());
        assert_eq!(texts.bytes(read), b"read");
        assert_eq!(texts.add(b""), Text::NONE);
        texts.clear();
        assert_eq!(texts.find(b"/etc/group"), None);
    }

    #[test]
    fn many_texts_keep_their_numbers() {
        let texts: Vec<String> = (0..5000).map(|number| format!("/tmp/{number}")).collect();
        let hashed = || {
            texts
                .iter()
                .map(|text| (text.as_bytes(), hash_bytes(text.as_bytes())))
        };
        let mut interner = Interner::default();
        for _ in 0..2 {
            let (mut added, mut again) = (Vec::new(), Vec::new());
            interner.add_all_hashed(hashed(), &mut added);
            interner.add_all_hashed(hashed(), &mut again);
            let numbers: Vec<Text> = (Interner::first_free()..)
                .take(texts.len())
                .map(Text)
                .collect();
            assert!(added == numbers && again == numbers);
            assert!(
                texts
                    .iter()
                    .zip(numbers)
                    .all(|(text, number)| interner.find(text.as_bytes()) == Some(number))
            );
            interner.clear();
            assert_eq!(interner.find(texts[0].as_bytes()), None);
        }
    }

    #[test]
    fn texts_with_the_same_hash_are_distinct() {
        let mut interner = Interner::default();
        let added: Vec<Text> = [&b"/a"[..], b"/b", b"/a"]
            .iter()
            .map(|text| interner.add_hashed(text, u32::MAX))
            .collect();
        assert!(added[0] != added[1] && added[0] == added[2]);
    }
}
