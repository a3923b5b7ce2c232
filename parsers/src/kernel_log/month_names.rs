//! Names of months and weekdays, in English and as `strftime` abbreviates them in other languages.

use crate::scan;
use std::str;

const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];
const WEEKDAYS: [&[u8]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];

/// `%b` in the locales of glibc of these languages, in lower case and without the point: Catalan, Czech, Danish, Dutch,
/// Finnish, French, German, Hungarian, Italian, Norwegian, Polish, Portuguese, Romanian, Russian, Spanish, Swedish,
/// Turkish, Ukrainian. No abbreviation has two meanings among them.
#[rustfmt::skip]
const LOCALISED: [&[&str]; 12] = [
    &["jan", "jän", "janv", "ene", "gen", "gener", "ian", "led", "sty", "tammi", "oca", "янв", "січ"],
    &["feb", "febr", "févr", "fév", "fev", "úno", "lut", "helmi", "şub", "фев", "лют"],
    &["mar", "mär", "märz", "mars", "mrt", "març", "márc", "bře", "maalis", "мар", "бер"],
    &["apr", "avril", "avr", "abr", "abril", "ápr", "dub", "kwi", "huhti", "nis", "апр", "кві"],
    &["may", "mai", "mag", "mei", "maj", "mayo", "maio", "maig", "máj", "kvě", "touko", "мая", "май", "тра"],
    &["jun", "juni", "juin", "giu", "juny", "jún", "iun", "čen", "cze", "kesä", "haz", "июн", "чер"],
    &["jul", "juli", "juil", "lug", "jul", "júl", "iul", "čec", "lip", "heinä", "tem", "июл", "лип"],
    &["aug", "août", "ago", "ag", "srp", "sie", "elo", "ağu", "авг", "сер"],
    &["sep", "sept", "set", "szept", "zář", "wrz", "syys", "eyl", "сен", "вер"],
    &["oct", "okt", "ott", "out", "říj", "paź", "loka", "eki", "окт", "жов"],
    &["nov", "lis", "marras", "kas", "ноя", "лис"],
    &["dec", "dez", "déc", "dic", "des", "pro", "gru", "joulu", "ara", "дек", "гру"],
];
/// Longest of them in bytes, with its point.
const MAX_BYTES: usize = 16;

/// `Mar`: 1 to 12. Also `Mär`, `mars`, `févr.` and ` 3月`.
pub(super) fn month(text: &[u8]) -> Option<(i64, &[u8])> {
    let (name, rest) = text.split_at_checked(3)?;
    match MONTHS.iter().position(|month| *month == name) {
        // `[Mar05 19:43]`: dmesg prints the day right after it.
        Some(at)
            if rest
                .first()
                .is_none_or(|byte| !byte.is_ascii_alphabetic() && byte.is_ascii()) =>
        {
            Some((at as i64 + 1, rest.strip_prefix(b".").unwrap_or(rest)))
        }
        _ => localised(text).or_else(|| numbered(text)),
    }
}

fn localised(text: &[u8]) -> Option<(i64, &[u8])> {
    let (name, rest) = word(text)?;
    let at = LOCALISED
        .iter()
        .position(|names| names.iter().any(|known| is_same(name, known)))?;
    Some((at as i64 + 1, rest.strip_prefix(b".").unwrap_or(rest)))
}

/// `3月`, `3월`, of Chinese, Japanese and Korean.
fn numbered(text: &[u8]) -> Option<(i64, &[u8])> {
    let (month, rest) = scan::number(scan::skip_blanks(text))?;
    let rest = rest
        .strip_prefix("月".as_bytes())
        .or_else(|| rest.strip_prefix("월".as_bytes()))?;
    (1..=12).contains(&month).then_some((month, rest))
}

/// The letters at the start of a text, in UTF-8 or Latin-1, and what follows them.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let end = text
        .iter()
        .take(MAX_BYTES)
        .position(|byte| !is_letter(byte))
        .filter(|&end| end > 1)?;
    text.split_at_checked(end)
}

/// Whether a word is this name, in upper or lower case.
fn is_same(word: &[u8], name: &str) -> bool {
    let lower = |letter: char| letter.to_lowercase().next().unwrap_or(letter);
    match str::from_utf8(word) {
        Ok(word) => word.chars().map(lower).eq(name.chars()),
        // Each byte of Latin-1 is the character of its number.
        Err(_) => word
            .iter()
            .map(|&byte| lower(char::from(byte)))
            .eq(name.chars()),
    }
}

/// The text after `Thu `, or after the short name of a weekday in another language if a month follows.
pub(super) fn weekday(text: &[u8]) -> Option<&[u8]> {
    let (name, rest) = text.split_at_checked(3)?;
    if WEEKDAYS.contains(&name) {
        return rest.strip_prefix(b" ");
    }
    let (_, rest) = word(text)?;
    let rest = rest.strip_prefix(b".").unwrap_or(rest).strip_prefix(b" ")?;
    localised(rest).or_else(|| numbered(rest)).map(|_| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_of_many_languages_have_their_number() {
        let cases: [(&[u8], i64); 18] = [
            (b"Mar 05", 3),
            (b"Mar05", 3),
            ("Mär 05".as_bytes(), 3),
            ("MÄR 05".as_bytes(), 3),
            (b"M\xe4r 05", 3),
            (b"Okt 05", 10),
            (b"Dez 05", 12),
            (b"mars 05", 3),
            ("févr. 05".as_bytes(), 2),
            (b"f\xe9vr. 05", 2),
            ("août 05".as_bytes(), 8),
            (b"juil. 05", 7),
            (b"ene 05", 1),
            (b"gen 05", 1),
            (b"mrt 05", 3),
            (b"out 05", 10),
            (" 3月 05".as_bytes(), 3),
            ("дек 05".as_bytes(), 12),
        ];
        for (text, expected) in cases {
            let shown = String::from_utf8_lossy(text).into_owned();
            assert_eq!(
                month(text).map(|(month, _)| month),
                Some(expected),
                "{shown}"
            );
        }
    }

    #[test]
    fn other_words_are_no_months() {
        for text in [
            "Marvin 05",
            "May",
            "Mayor 05",
            "march 05",
            "13月 05",
            "Mä",
            "x",
            "",
        ] {
            let found = month(text.as_bytes()).filter(|(_, rest)| !rest.is_empty());
            assert_eq!(found, None, "{text}");
        }
    }

    #[test]
    fn no_abbreviation_means_two_months() {
        let all: Vec<&str> = LOCALISED
            .iter()
            .flat_map(|names| names.iter().copied())
            .collect();
        for (at, names) in LOCALISED.iter().enumerate() {
            for name in *names {
                let found = month(format!("{name} 05").as_bytes()).map(|(month, _)| month);
                assert_eq!(found, Some(at as i64 + 1), "{name}");
                assert!(name.len() < MAX_BYTES && all.contains(name));
            }
        }
    }
}
