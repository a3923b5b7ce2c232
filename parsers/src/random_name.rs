//! The generated part of the names of temporary files. It differs in each run.
//!
//! Outside of the directories of temporary files, a name must have the form of a library that makes such names next to the
//! file that it will replace:
//!
//! ```text
//! tmpk3j2_x9a   .tmpZ8jrmD   tmp.Xa81kQ0b2c   tmp_obj_4fQz1B   settings.json.K7ZB41
//!    --------       ------       ----------           ------                 ------
//! ```

use std::ops::{Range, RangeInclusive};

/// Directories of temporary files.
pub const TEMPORARY: [&[u8]; 5] = [
    b"/tmp/",
    b"/var/tmp/",
    b"/dev/shm/",
    b"/usr/tmp/",
    b"/private/tmp/",
];
/// What the names of several libraries begin with.
pub const TMP: &[u8] = b"tmp";
/// What precedes a generated part without a separator: `tmpfile(3)` and Rust's tempfile, gcc.
pub const BEFORE_RANDOM: [&[u8]; 2] = [TMP, b"cc"];
/// Characters of a name of Python's tempfile, after `tmp`: lower case, digits, underscores.
const PYTHON_LENGTH: usize = 8;
/// Characters that `mkstemp(3)` replaces. GLib, Qt and rsync append them to the name of the file that they replace.
const MKSTEMP_LENGTH: usize = 6;
/// Lengths of the random part of a temporary name.
/// Source: `mkstemp(3)` replaces six characters, `mktemp(1)` and OpenSSH ten.
const RANDOM_LENGTHS: RangeInclusive<usize> = 6..=12;
/// Minimum number of changes between capital letters, small letters and digits in a random part.
/// Source: nine in ten random names of six letters and digits have at least two; a capitalised word has one.
const MIN_RANDOM_ALTERNATIONS: usize = 2;

/// The generated part of a name, which is a component of a path outside of the directories of temporary files.
pub fn generated_part(name: &[u8]) -> Option<Range<usize>> {
    marked(name).or_else(|| appended(name))
}

/// Whether Python's tempfile generates these characters.
pub fn is_python_random(rest: &[u8]) -> bool {
    rest.len() == PYTHON_LENGTH && rest.iter().all(is_of_python)
}

/// The generated part of a name that begins with `tmp` or `.tmp`. People also choose such names (`tmpfiles.d`, `tmpwatch12`,
/// `tmpDataFile`), so words and words with a number stay.
pub fn marked(name: &[u8]) -> Option<Range<usize>> {
    let start = name.len() - name.strip_prefix(b".").unwrap_or(name).len() + TMP.len();
    let rest = name.get(start..).filter(|_| name[..start].ends_with(TMP))?;
    let stem = rest
        .iter()
        .position(|byte| !is_of_python(byte))
        .unwrap_or(rest.len());
    let is_python = stem == PYTHON_LENGTH && matches!(rest.get(stem), None | Some(b'.'));
    if is_python && has_inner_digit(&rest[..stem]) {
        return Some(start..start + stem);
    }
    let is_separator = |byte: &u8| matches!(byte, b'.' | b'_' | b'-');
    let word = rest.iter().rposition(is_separator).map_or(0, |at| at + 1);
    is_generated(&rest[word..]).then_some(start + word..name.len())
}

/// The six characters at the end of a name: `settings.json.K7ZB41`.
pub fn appended(name: &[u8]) -> Option<Range<usize>> {
    let start = name.len().checked_sub(MKSTEMP_LENGTH)?;
    // The dash is that of `.goutputstream-K7ZB41`. After others, people write versions and names of builds.
    let is_known = name[..start].ends_with(b".") || name[..start].ends_with(b"stream-");
    let word = &name[start..];
    let is_suffix = start > 1 && is_known && word.iter().any(u8::is_ascii_digit);
    (is_suffix && is_generated(word)).then_some(start..name.len())
}

/// Whether Python's tempfile generates this character.
fn is_of_python(byte: &u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_'
}

/// Whether a digit is followed by another character. A word with a number has its digits at the end.
fn has_inner_digit(word: &[u8]) -> bool {
    let number = word.iter().rev().take_while(|byte| byte.is_ascii_digit());
    word[..word.len() - number.count()]
        .iter()
        .any(u8::is_ascii_digit)
}

/// Whether a word looks generated, and not like a name in camel case.
fn is_generated(word: &[u8]) -> bool {
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let letters = &word[..word.len() - digits.count()];
    let is_camel_case = letters.iter().all(u8::is_ascii_alphabetic)
        && letters
            .windows(2)
            .all(|pair| pair.iter().any(u8::is_ascii_lowercase));
    is_random(word) && !is_camel_case
}

/// Whether a word looks generated.
pub fn is_random(word: &[u8]) -> bool {
    let kind = |byte: &u8| (byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let alternations = word
        .windows(2)
        .filter(|pair| kind(&pair[0]) != kind(&pair[1]))
        .count();
    word.iter().all(u8::is_ascii_alphanumeric)
        && RANDOM_LENGTHS.contains(&word.len())
        && alternations >= MIN_RANDOM_ALTERNATIONS
        && word.iter().any(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::generated_part;

    #[test]
    fn only_the_generated_part_is_found() {
        let cases = [
            ("tmpk3j2_x9a", "k3j2_x9a"),
            ("tmpk3j2_x9a.json", "k3j2_x9a"),
            (".tmpZ8jrmD", "Z8jrmD"),
            ("tmp_obj_4fQz1B", "4fQz1B"),
            ("tmp.Xa81kQ0b2c", "Xa81kQ0b2c"),
            ("settings.json.K7ZB41", "K7ZB41"),
            (".goutputstream-K7ZB41", "K7ZB41"),
            ("tmpfiles.d", ""),
            ("tmpDataFile", ""),
            ("K7ZB41", ""),
            ("tmp", ""),
            ("", ""),
        ];
        for (name, expected) in cases {
            let found = generated_part(name.as_bytes()).map_or("", |range| &name[range]);
            assert_eq!(found, expected, "{name}");
        }
    }
}
