//! The details of an operation of Process Monitor: `Offset: 2,275,840, Length: 16,384, I/O Flags: Non-cached`.

use crate::line::NO_ID;
use crate::scan;
use memchr::memmem;

/// The value of a detail, and whatever follows it.
fn value<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let is_key = |at: &usize| {
        let before = text.get(..*at).unwrap_or(b"");
        let is_first = before.is_empty() || before.ends_with(b", ");
        is_first
            && text
                .get(at + key.len()..)
                .is_some_and(|rest| rest.starts_with(b": "))
    };
    let at = memmem::find_iter(text, key).find(is_key)?;
    text.get(at + key.len() + 2..)
}

/// A process or thread.
pub(super) fn id(text: &[u8], key: &[u8]) -> i32 {
    let found = value(text, key).and_then(scan::number);
    found
        .and_then(|(id, _)| i32::try_from(id).ok())
        .unwrap_or(NO_ID)
}

/// A number, whose thousands are apart in the way of the country.
pub(super) fn number(text: &[u8], key: &[u8]) -> Option<i64> {
    let text = value(text, key)?;
    let (minus, text) = match text.strip_prefix(b"-") {
        Some(text) => (-1, text),
        None => (1, text),
    };
    let (mut number, mut rest) = scan::number(text)?;
    while let Some((thousand, after)) = thousand(rest) {
        number = number.checked_mul(1000)?.checked_add(thousand)?;
        rest = after;
    }
    number.checked_mul(minus)
}

/// Three digits after a separator: a point, a comma, an apostrophe, or a blank of any width.
fn thousand(text: &[u8]) -> Option<(i64, &[u8])> {
    const SEPARATORS: [&[u8]; 7] = [
        b",",
        b".",
        b"'",
        b" ",
        b"\xc2\xa0",
        b"\xe2\x80\xaf",
        b"\xe2\x80\x99",
    ];
    let rest = SEPARATORS
        .iter()
        .find_map(|separator| text.strip_prefix(*separator))?;
    let (digits, after) = rest.split_at_checked(3)?;
    let (value, none) = scan::number(digits)?;
    let is_group = none.is_empty() && !after.first().is_some_and(u8::is_ascii_digit);
    is_group.then_some((value, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart_in_any_way() {
        for text in [
            "Offset: 0, Length: 16,384, Priority: Normal",
            "Offset: 0, Length: 16.384, Priority: Normal",
            "Length: 16 384",
            "Length: 16\u{a0}384, I/O Flags: Non-cached",
            "Length: 16384, Data: 7",
        ] {
            assert_eq!(number(text.as_bytes(), b"Length"), Some(16_384), "{text}");
        }
        assert_eq!(number(b"Length: 16, 384", b"Length"), Some(16));
        assert_eq!(
            number(b"Exit Status: -1073741510, User", b"Exit Status"),
            Some(-1_073_741_510)
        );
        assert_eq!(number(b"MaxLength: 5", b"Length"), None);
        assert_eq!(number(b"Length: 9223372036854775807,999", b"Length"), None);
        assert_eq!(id(b"Parent PID: 12, PID: 13", b"PID"), 13);
        assert_eq!(id(b"x", b"PID"), NO_ID);
    }
}
