//! Pseudonyms of words: equal words have equal ones, and nobody without the key can tell the word.
//!
//! ```text
//! letters        quota        gkzmtrwxhhpnvq      eleven letters for the word, three that prove a pseudonym
//!                Quota QUOTA  Gkz… GKZ…
//! digits         20240131     73310982            a permutation: as many digits, another number for each number
//! hex ids        3f2a9bc01d   90c1b7a2e4          the same with hexadecimal digits; one of them is decimal
//! random names   Xa81kQ       Rb42tW              the same within capitals, small letters and digits
//! mixed          file123      gkz…042             each part for itself
//! ```
//! So whatever depends on the digits of a name (`normalise.rs` of the engine) treats names and pseudonyms alike. The
//! letters are none of `a` to `f`, no pseudonym is taken for a hexadecimal number.

use crate::key::Key;
use rustc_hash::FxHashMap;

/// The letters of pseudonyms.
pub(crate) const LETTERS: &[u8; 16] = b"ghjkmnpqrstvwxyz";
const BODY: usize = 11;
const CHECK: usize = 3;
/// Letters of a pseudonym.
pub(crate) const LENGTH: usize = BODY + CHECK;
/// Shortest id in hexadecimal digits, as in the engine.
pub(crate) const MIN_HEX_DIGITS: usize = 7;
/// Longest part of a number that is permuted at once, so that its places can be counted.
const MAX_DIGITS: usize = 18;
/// Remembered pseudonyms take up to about this.
const MAX_MEMO_BYTES: usize = 16 << 20;
const MEMO_ENTRY_BYTES: usize = 64;

/// Words and what replaces them.
pub type Translations = Vec<(Box<[u8]>, Box<[u8]>)>;

/// Makes pseudonyms and remembers them.
pub(crate) struct Pseudonyms {
    key: Key,
    memo: FxHashMap<Box<[u8]>, Box<[u8]>>,
    memo_bytes: usize,
    /// Words and their pseudonyms since the last time they were taken, if somebody wants them.
    translations: Option<Translations>,
}

impl Pseudonyms {
    pub fn new(key: Key, has_map: bool) -> Pseudonyms {
        let translations = has_map.then(Vec::new);
        Pseudonyms { key, memo: FxHashMap::default(), memo_bytes: 0, translations }
    }

    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The translations since the last call.
    pub fn take_translations(&mut self) -> Translations {
        self.translations.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Record what a text that is not a word became.
    pub fn note(&mut self, original: &[u8], replacement: &[u8]) {
        if let Some(translations) = &mut self.translations {
            translations.push((original.into(), replacement.into()));
        }
    }

    /// Append the pseudonym of a word: letters, digits, and bytes above 127.
    pub fn word(&mut self, word: &[u8], out: &mut Vec<u8>) {
        // Numbers rarely repeat, and permuting one costs as much as remembering it.
        if self.translations.is_none() && word.iter().any(u8::is_ascii_digit) {
            return self.with_digits(word, out);
        }
        self.remembered(word, out);
    }

    /// Append the pseudonym of a word with digits: its letters are remembered.
    fn with_digits(&mut self, word: &[u8], out: &mut Vec<u8>) {
        if word.starts_with(b"0x") || is_hex_id(word) {
            return self.made(word, out);
        }
        for run in word.chunk_by(|one, other| one.is_ascii_digit() == other.is_ascii_digit()) {
            if run[0].is_ascii_digit() { self.digits(run, out) } else { self.remembered(run, out) }
        }
    }

    fn remembered(&mut self, word: &[u8], out: &mut Vec<u8>) {
        if let Some(known) = self.memo.get(word) {
            return out.extend_from_slice(known);
        }
        let start = out.len();
        self.made(word, out);
        let made = &out[start..];
        if self.memo_bytes > MAX_MEMO_BYTES {
            self.memo.clear();
            self.memo_bytes = 0;
        }
        self.memo_bytes += word.len() + made.len() + MEMO_ENTRY_BYTES;
        self.memo.insert(word.into(), made.into());
        if made != word
            && let Some(translations) = &mut self.translations
        {
            translations.push((word.into(), made.into()));
        }
    }

    fn made(&self, word: &[u8], out: &mut Vec<u8>) {
        let prefixed = word.strip_prefix(b"0x").filter(|rest| !rest.is_empty() && all_hex(rest));
        match prefixed {
            Some(hex) => {
                out.extend_from_slice(b"0x");
                self.hex(hex, false, out);
            }
            None if is_hex_id(word) => self.hex(word, true, out),
            None => self.parts(word, out),
        }
    }

    /// Runs of digits and runs of other bytes, each for itself.
    fn parts(&self, word: &[u8], out: &mut Vec<u8>) {
        for run in word.chunk_by(|one, other| one.is_ascii_digit() == other.is_ascii_digit()) {
            if run[0].is_ascii_digit() { self.digits(run, out) } else { self.letters(run, out) }
        }
    }

    /// Append the pseudonym of letters.
    fn letters(&self, run: &[u8], out: &mut Vec<u8>) {
        if is_pseudonym(run) {
            return out.extend_from_slice(run);
        }
        let lower = run.to_ascii_lowercase();
        let case = Case::of(run);
        // Words with capitals inside are another word than the same one without.
        let text = if case == Case::Mixed { run } else { &lower };
        let start = out.len();
        push_letters(self.key.hash("letters", text), BODY, out);
        push_letters(check(&out[start..]), CHECK, out);
        match case {
            Case::Upper => out[start..].make_ascii_uppercase(),
            Case::Capital => out[start..=start].make_ascii_uppercase(),
            Case::Lower | Case::Mixed => {}
        }
    }

    /// Append another number with as many digits.
    fn digits(&self, run: &[u8], out: &mut Vec<u8>) {
        for part in run.chunks(MAX_DIGITS) {
            self.in_classes(part, "digits", out);
        }
    }

    fn hex(&self, word: &[u8], with_decimal: bool, out: &mut Vec<u8>) {
        let is_upper = word.iter().any(u8::is_ascii_uppercase);
        let start = out.len();
        out.extend(word.iter().map(u8::to_ascii_lowercase));
        loop {
            let before = out.split_off(start);
            for part in before.chunks(MAX_DIGITS) {
                let value = part.iter().fold(0u128, |value, &byte| value << 4 | u128::from(hex_value(byte)));
                let value = self.key.permute("hex", 1 << (4 * part.len()), value);
                out.extend((0..part.len()).rev().map(|at| b"0123456789abcdef"[(value >> (4 * at)) as usize & 15]));
            }
            // Without a decimal digit it would be a word. This is reached again from the words with one only.
            if !with_decimal || out[start..].iter().any(u8::is_ascii_digit) {
                break;
            }
        }
        if is_upper {
            out[start..].make_ascii_uppercase();
        }
    }

    /// Append the same pattern of capitals, small letters and digits with other ones. For random names.
    pub fn random(&self, word: &[u8], out: &mut Vec<u8>) {
        for part in word.chunks(MAX_DIGITS) {
            self.in_classes(part, "random", out);
        }
    }

    fn in_classes(&self, part: &[u8], kind: &'static str, out: &mut Vec<u8>) {
        let size: u128 = part.iter().map(|&byte| class(byte).1).product();
        let value = part.iter().fold(0u128, |value, &byte| value * class(byte).1 + u128::from(byte - class(byte).0));
        let mut value = self.key.permute(kind, size, value);
        let start = out.len();
        out.extend_from_slice(part);
        for byte in out[start..].iter_mut().rev() {
            let (first, count) = class(*byte);
            *byte = first + (value % count) as u8;
            value /= count;
        }
    }
}

/// The first of the bytes that may replace this one, and their number.
fn class(byte: u8) -> (u8, u128) {
    match byte {
        b'0'..=b'9' => (b'0', 10),
        b'a'..=b'z' => (b'a', 26),
        b'A'..=b'Z' => (b'A', 26),
        other => (other, 1),
    }
}

fn hex_value(byte: u8) -> u8 {
    (byte as char).to_digit(16).unwrap_or(0) as u8
}

fn all_hex(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_hexdigit)
}

/// Whether the engine takes a word for an id in hexadecimal digits.
fn is_hex_id(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    word.len() >= MIN_HEX_DIGITS && digits > 0 && digits < word.len() && all_hex(word)
}

fn push_letters(value: u64, count: usize, out: &mut Vec<u8>) {
    out.extend((0..count).map(|at| LETTERS[(value >> (4 * at)) as usize & 15]));
}

/// A sum over the letters of a pseudonym, without a key: whoever reads one can see that it is one.
fn check(body: &[u8]) -> u64 {
    // FNV-1a, folded to its lower bits.
    let hash = body
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash ^ (hash >> 24) ^ (hash >> 48)
}

/// Whether letters are a pseudonym already.
pub(crate) fn is_pseudonym(run: &[u8]) -> bool {
    if run.len() != LENGTH || Case::of(run) == Case::Mixed {
        return false;
    }
    let lower = run.to_ascii_lowercase();
    let mut expected = Vec::with_capacity(CHECK);
    push_letters(check(&lower[..BODY]), CHECK, &mut expected);
    lower.iter().all(|byte| LETTERS.contains(byte)) && lower[BODY..] == expected
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Capital,
    Upper,
    Mixed,
}

impl Case {
    fn of(run: &[u8]) -> Case {
        let capitals = run.iter().filter(|byte| byte.is_ascii_uppercase()).count();
        match capitals {
            0 => Case::Lower,
            1 if run[0].is_ascii_uppercase() => Case::Capital,
            all if all == run.len() => Case::Upper,
            _ => Case::Mixed,
        }
    }
}
