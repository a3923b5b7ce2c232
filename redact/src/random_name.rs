//! The generated part of the names of temporary files, as the engine recognises it: it keeps its form.
//!
//! ```text
//! tmpk3j2_x9a   .tmpZ8jrmD   tmp.Xa81kQ0b2c   tmp_obj_4fQz1B   settings.json.K7ZB41
//!    --------       ------       ----------           ------                 ------
//! ```

use std::ops::Range;

const TMP: &[u8] = b"tmp";
/// Characters of a name of Python's tempfile, after `tmp`.
const PYTHON_LENGTH: usize = 8;
/// Characters that `mkstemp(3)` replaces.
const MKSTEMP_LENGTH: usize = 6;

/// The generated part of a name outside of the directories of temporary files.
pub(crate) fn generated_part(name: &[u8]) -> Option<Range<usize>> {
    marked(name).or_else(|| appended(name))
}

fn marked(name: &[u8]) -> Option<Range<usize>> {
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

fn appended(name: &[u8]) -> Option<Range<usize>> {
    let start = name.len().checked_sub(MKSTEMP_LENGTH)?;
    let before = name[..start].ends_with(b".") || name[..start].ends_with(b"stream-");
    let word = &name[start..];
    let is_suffix = start > 1 && before && word.iter().any(u8::is_ascii_digit);
    (is_suffix && is_generated(word)).then_some(start..name.len())
}

pub(crate) fn is_of_python(byte: &u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_'
}

fn has_inner_digit(word: &[u8]) -> bool {
    let number = word.iter().rev().take_while(|byte| byte.is_ascii_digit());
    word[..word.len() - number.count()]
        .iter()
        .any(u8::is_ascii_digit)
}

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
pub(crate) fn is_random(word: &[u8]) -> bool {
    let kind = |byte: &u8| (byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let alternations = word
        .windows(2)
        .filter(|pair| kind(&pair[0]) != kind(&pair[1]))
        .count();
    word.iter().all(u8::is_ascii_alphanumeric)
        && (6..=12).contains(&word.len())
        && alternations >= 2
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
