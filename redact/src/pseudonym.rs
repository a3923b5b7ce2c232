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
use rustc_hash::FxHashSet;

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
/// Numbers with up to this many digits are permuted once.
const MAX_REMEMBERED_DIGITS: usize = 4;
/// Longest word that is changed to small letters without a copy on the heap.
const MAX_SHORT_BYTES: usize = 64;
/// Words that are known to be in the map take up to about this.
const MAX_MAPPED_BYTES: usize = 16 << 20;
const MAPPED_ENTRY_BYTES: usize = 48;

/// Words and what replaces them.
pub type Translations = Vec<(Box<[u8]>, Box<[u8]>)>;

/// Makes pseudonyms.
pub(crate) struct Pseudonyms {
    key: Key,
    /// By number of digits, the replacement of each number; `u16::MAX` until it is computed.
    numbers: [Vec<u16>; MAX_REMEMBERED_DIGITS + 1],
    map: Option<Map>,
}

/// Words and their pseudonyms, if somebody wants them.
#[derive(Default)]
struct Map {
    /// Words whose translations were recorded.
    recorded: FxHashSet<Box<[u8]>>,
    recorded_bytes: usize,
    /// Since the last time they were taken.
    translations: Translations,
}

impl Map {
    fn record(&mut self, word: &[u8], made: &[u8]) {
        if made == word || self.recorded.contains(word) {
            return;
        }
        if self.recorded_bytes > MAX_MAPPED_BYTES {
            self.recorded.clear();
            self.recorded_bytes = 0;
        }
        self.recorded_bytes += word.len() + MAPPED_ENTRY_BYTES;
        self.recorded.insert(word.into());
        self.translations.push((word.into(), made.into()));
    }
}

impl Pseudonyms {
    pub fn new(key: Key, has_map: bool) -> Pseudonyms {
        let numbers = std::array::from_fn(|digits| vec![u16::MAX; 10usize.pow(digits as u32)]);
        Pseudonyms {
            key,
            numbers,
            map: has_map.then(Map::default),
        }
    }

    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The translations since the last call.
    pub fn take_translations(&mut self) -> Translations {
        self.map
            .as_mut()
            .map(|map| std::mem::take(&mut map.translations))
            .unwrap_or_default()
    }

    /// Record what a text that is not a word became.
    pub fn note(&mut self, original: &[u8], replacement: &[u8]) {
        if let Some(map) = &mut self.map {
            map.translations.push((original.into(), replacement.into()));
        }
    }

    /// Append the pseudonym of a word: letters, digits, and bytes above 127. Making one costs less than finding one that
    /// was made among many.
    pub fn word(&mut self, word: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        self.made(word, out);
        if let Some(map) = &mut self.map {
            map.record(word, &out[start..]);
        }
    }

    fn made(&mut self, word: &[u8], out: &mut Vec<u8>) {
        let prefixed = word
            .strip_prefix(b"0x")
            .filter(|rest| !rest.is_empty() && all_hex(rest));
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
    fn parts(&mut self, word: &[u8], out: &mut Vec<u8>) {
        for run in word.chunk_by(|one, other| one.is_ascii_digit() == other.is_ascii_digit()) {
            if run[0].is_ascii_digit() {
                self.digits(run, out)
            } else {
                self.letters(run, out)
            }
        }
    }

    /// Append the pseudonym of letters.
    fn letters(&self, run: &[u8], out: &mut Vec<u8>) {
        if is_pseudonym(run) {
            return out.extend_from_slice(run);
        }
        let case = Case::of(run);
        let hash = match case {
            // Words with capitals inside are another word than the same one without.
            Case::Lower | Case::Mixed => self.key.hash("letters", run),
            Case::Capital | Case::Upper => self.hash_of_lower(run),
        };
        let start = out.len();
        push_letters(hash, BODY, out);
        push_letters(check(&out[start..]), CHECK, out);
        match case {
            Case::Upper => out[start..].make_ascii_uppercase(),
            Case::Capital => out[start..=start].make_ascii_uppercase(),
            Case::Lower | Case::Mixed => {}
        }
    }

    fn hash_of_lower(&self, run: &[u8]) -> u64 {
        let mut short = [0; MAX_SHORT_BYTES];
        let Some(lower) = short.get_mut(..run.len()) else {
            return self.key.hash("letters", &run.to_ascii_lowercase());
        };
        lower.copy_from_slice(run);
        lower.make_ascii_lowercase();
        self.key.hash("letters", lower)
    }

    /// Append another number with as many digits.
    fn digits(&mut self, run: &[u8], out: &mut Vec<u8>) {
        for part in run.chunks(MAX_DIGITS) {
            let value = part
                .iter()
                .fold(0u64, |value, &byte| value * 10 + u64::from(byte - b'0'));
            let mut value = self.number(part.len(), value);
            let start = out.len();
            out.extend_from_slice(part);
            for byte in out[start..].iter_mut().rev() {
                *byte = b'0' + (value % 10) as u8;
                value /= 10;
            }
        }
    }

    /// Another number with this many digits.
    fn number(&mut self, digits: usize, value: u64) -> u64 {
        let size = 10u128.pow(digits as u32);
        let Some(made) = self
            .numbers
            .get_mut(digits)
            .and_then(|numbers| numbers.get_mut(value as usize))
        else {
            return self.key.permute("digits", size, u128::from(value)) as u64;
        };
        if *made == u16::MAX {
            *made = self.key.permute("digits", size, u128::from(value)) as u16;
        }
        u64::from(*made)
    }

    fn hex(&self, word: &[u8], with_decimal: bool, out: &mut Vec<u8>) {
        let is_upper = word.iter().any(u8::is_ascii_uppercase);
        let start = out.len();
        out.extend(word.iter().map(u8::to_ascii_lowercase));
        loop {
            let before = out.split_off(start);
            for part in before.chunks(MAX_DIGITS) {
                let value = part.iter().fold(0u128, |value, &byte| {
                    value << 4 | u128::from(hex_value(byte))
                });
                let value = self.key.permute("hex", 1 << (4 * part.len()), value);
                out.extend(
                    (0..part.len())
                        .rev()
                        .map(|at| b"0123456789abcdef"[(value >> (4 * at)) as usize & 15]),
                );
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
            self.in_classes(part, out);
        }
    }

    fn in_classes(&self, part: &[u8], out: &mut Vec<u8>) {
        let size: u128 = part.iter().map(|&byte| class(byte).1).product();
        let value = part.iter().fold(0u128, |value, &byte| {
            value * class(byte).1 + u128::from(byte - class(byte).0)
        });
        let mut value = self.key.permute("random", size, value);
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
    let hash = body.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
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
