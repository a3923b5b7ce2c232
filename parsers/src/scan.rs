//! Scanners over bytes: each reads the start of a text and returns the rest. They neither panic nor allocate.

pub(crate) const NS_PER_S: i64 = 1_000_000_000;

/// A decimal number at the start, and the rest. `None` without a digit or above 19 digits.
pub fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    if end == 0 || end > 19 {
        return None;
    }
    let value = text[..end].iter().try_fold(0i64, |value, byte| {
        value.checked_mul(10)?.checked_add(i64::from(byte - b'0'))
    });
    Some((value?, &text[end..]))
}

/// A decimal number with an optional minus sign.
pub fn signed(text: &[u8]) -> Option<(i64, &[u8])> {
    match text.strip_prefix(b"-") {
        Some(rest) => number(rest).map(|(value, rest)| (-value, rest)),
        None => number(text),
    }
}

/// A value as tracers print it: `-3`, `0x1f`, `022` (octal). Unsigned values above `i64::MAX` keep their bits.
pub fn value(text: &[u8]) -> Option<(i64, &[u8])> {
    if let Some(hex) = text
        .strip_prefix(b"0x")
        .or_else(|| text.strip_prefix(b"0X"))
    {
        let end = hex
            .iter()
            .position(|byte| !byte.is_ascii_hexdigit())
            .unwrap_or(hex.len());
        let digits = std::str::from_utf8(hex.get(..end)?).ok()?;
        let value = u64::from_str_radix(digits, 16).ok()?;
        return Some((value as i64, &hex[end..]));
    }
    if text.len() > 1 && text[0] == b'0' && (b'0'..=b'7').contains(&text[1]) {
        let end = text
            .iter()
            .position(|byte| !(b'0'..=b'7').contains(byte))
            .unwrap_or(text.len());
        let digits = std::str::from_utf8(&text[..end]).ok()?;
        return Some((i64::from_str_radix(digits, 8).ok()?, &text[end..]));
    }
    match signed(text) {
        Some(found) => Some(found),
        None => {
            let end = text
                .iter()
                .position(|byte| !byte.is_ascii_digit())
                .unwrap_or(text.len());
            let digits = std::str::from_utf8(&text[..end]).ok()?;
            digits
                .parse::<u64>()
                .ok()
                .map(|value| (value as i64, &text[end..]))
        }
    }
}

/// Seconds with an optional fraction: nanoseconds, number of relevant digits of the fraction, rest. Programs that
/// compute with floating point print more than nine digits; the other digits are below a nanosecond.
pub fn seconds(text: &[u8]) -> Option<(i64, usize, &[u8])> {
    let (whole, rest) = number(text)?;
    let whole_ns = whole.checked_mul(NS_PER_S)?;
    let Some(fraction) = rest.strip_prefix(b".") else {
        return Some((whole_ns, 0, rest));
    };
    let (fraction_ns, digits, rest) = fraction_ns(fraction)?;
    Some((whole_ns.checked_add(fraction_ns)?, digits, rest))
}

/// The digits after a decimal point, as nanoseconds.
fn fraction_ns(text: &[u8]) -> Option<(i64, usize, &[u8])> {
    let (mut value, mut digits) = (0i64, 0usize);
    while let Some(byte) = text
        .get(digits)
        .filter(|byte| byte.is_ascii_digit() && digits < 9)
    {
        value = value * 10 + i64::from(byte - b'0');
        digits += 1;
    }
    let smaller = text[digits..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    const SCALE: [i64; 10] = [
        NS_PER_S,
        100_000_000,
        10_000_000,
        1_000_000,
        100_000,
        10_000,
        1_000,
        100,
        10,
        1,
    ];
    (digits > 0).then(|| (value * SCALE[digits], digits, &text[digits + smaller..]))
}

/// `HH:MM:SS` with an optional fraction: nanoseconds since midnight, number of digits of the fraction, rest.
pub fn time_of_day(text: &[u8]) -> Option<(i64, usize, &[u8])> {
    let two = |at: usize| match text.get(at..at + 2)? {
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => Some(i64::from(a - b'0') * 10 + i64::from(b - b'0')),
        _ => None,
    };
    let (hours, minutes, seconds) = (two(0)?, two(3)?, two(6)?);
    if text[2] != b':' || text[5] != b':' || hours > 24 || minutes > 59 || seconds > 60 {
        return None;
    }
    let whole_ns = (hours * 3600 + minutes * 60 + seconds) * NS_PER_S;
    match text[8..].strip_prefix(b".") {
        Some(fraction) => {
            fraction_ns(fraction).map(|(ns, digits, rest)| (whole_ns + ns, digits, rest))
        }
        None => Some((whole_ns, 0, &text[8..])),
    }
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Eight decimal digits, the first in the lowest byte, converted to a number at once.
#[inline]
pub(crate) fn eight_digits(digits: u64) -> Option<i64> {
    let values = digits ^ ZEROS;
    is_below_ten(values, values.wrapping_add(TO_SIXTEEN)).then(|| joined(values))
}

/// The same for two times eight digits.
#[inline]
pub(crate) fn twice_eight_digits(digits: [u64; 2]) -> Option<[i64; 2]> {
    let [one, other] = digits.map(|digits| digits ^ ZEROS);
    let sums = one.wrapping_add(TO_SIXTEEN) | other.wrapping_add(TO_SIXTEEN);
    is_below_ten(one | other, sums).then(|| [joined(one), joined(other)])
}

/// Added to a value of ten or more, it gives sixteen or more.
const TO_SIXTEEN: u64 = 0x0606_0606_0606_0606;

/// Whether each byte is a value below ten; `sums` are the bytes plus six.
#[inline]
fn is_below_ten(values: u64, sums: u64) -> bool {
    (values | sums) & 0xF0F0_F0F0_F0F0_F0F0 == 0
}

/// Eight values below ten as one number: digits are joined to pairs, pairs to fours, fours to eight.
#[inline]
fn joined(values: u64) -> i64 {
    let pairs = values.wrapping_mul(10 << 8 | 1) >> 8;
    let fours = (pairs & 0x00FF_00FF_00FF_00FF).wrapping_mul(100 << 16 | 1) >> 16;
    ((fours & 0x0000_FFFF_0000_FFFF).wrapping_mul(10_000 << 32 | 1) >> 32) as i64
}

/// The number of one to seven digits at the start of a text, and its number of digits, converted at once.
#[inline]
pub(crate) fn short_number(text: [u8; 8]) -> Option<(i32, usize)> {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let values = u64::from_le_bytes(text) ^ ZEROS;
    // Sets the high bit of each byte that is not a digit: values of ten and more reach it by the sum, 128 and more have
    // it already.
    let sums = (values & !HIGH) + 0x7676_7676_7676_7676;
    let others = (sums | values) & HIGH;
    let digits = (others.trailing_zeros() / 8) as usize;
    if digits == 0 || others == 0 {
        return None;
    }
    // Shift the digits to the highest bytes; the zeros below act as leading zeros.
    Some((joined(values << (64 - 8 * digits)) as i32, digits))
}

/// The resolution of a clock that prints this number of digits after the point.
pub fn tick_ns(digits: usize) -> i64 {
    10i64.pow(9 - digits.min(9) as u32)
}

/// Longer texts are worth a searcher.
const SHORT_BYTES: usize = 512;

/// Where a word begins that is not empty. For a short text, a searcher takes longer to make than to use.
pub fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    let first = word.first().filter(|_| text.len() < SHORT_BYTES);
    let Some(first) = first else {
        return memchr::memmem::find(text, word);
    };
    memchr::memchr_iter(*first, text).find(|&at| text[at..].starts_with(word))
}

/// The text without blanks and tabs at its start.
pub fn skip_blanks(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t'))
        .unwrap_or(text.len());
    &text[end..]
}

/// The text without blanks, tabs and carriage returns at its end.
pub fn trim_end(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))
        .map_or(0, |at| at + 1);
    &text[..end]
}

/// The text without blanks and tabs at both ends.
pub fn trim(text: &[u8]) -> &[u8] {
    trim_end(skip_blanks(text))
}

/// A name at the start: letters, digits and underscores; the first is not a digit.
pub fn name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
        .unwrap_or(text.len());
    (end > 0 && !text[0].is_ascii_digit()).then(|| text.split_at(end))
}

/// Length of the decoration at the start: `</etc/passwd>`, `<TCP:[a->b]>`, `</dev/null<char 1:3>>`; 0 if there is none.
pub fn decoration_len(text: &[u8]) -> usize {
    match text {
        [b'<', b'/', ..] => path_decoration_len(text),
        [b'<', ..] => other_decoration_len(text),
        _ => 0,
    }
}

/// Angle brackets in paths are escaped, but not before strace 4.22. Only a device has a nested decoration.
fn path_decoration_len(text: &[u8]) -> usize {
    let (mut at, mut depth) = (1, 1usize);
    while let Some(found) = memchr::memchr2(b'<', b'>', &text[at..]) {
        at += found + 1;
        if text[at - 1] == b'>' {
            depth -= 1;
            if depth == 0 {
                return at;
            }
        } else if text[at..].starts_with(b"char ") || text[at..].starts_with(b"block ") {
            depth += 1;
        }
    }
    0
}

fn other_decoration_len(text: &[u8]) -> usize {
    let (mut at, mut depth, mut closes) = (0, 0usize, true);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'<' => depth += 1,
            b'>' if depth == 1 => return at + 1,
            b'>' => depth -= 1,
            b'\\' => at += 1,
            // Addresses contain `->`, names of local sockets any text in quotes. A bracket that never closes is
            // searched for only once.
            b'[' if closes && text[at - 1] == b':' => {
                let len = square_len(&text[at..]);
                closes = len > 0;
                at += len.saturating_sub(1);
            }
            _ => {}
        }
        at += 1;
    }
    0
}

/// Length of a text in square brackets, ignoring quoted brackets; 0 if it does not end.
fn square_len(text: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0usize);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'[' => depth += 1,
            b']' if depth <= 1 => return at + 1,
            b']' => depth -= 1,
            b'"' => at += 1 + string_end(text.get(at + 1..).unwrap_or(b"")),
            _ => {}
        }
        at += 1;
    }
    0
}

/// The position of the closing quote of a string without its opening quote; the length of the text if there is none.
pub fn string_end(inner: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = inner
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        if inner[at + found] == b'"' {
            return at + found;
        }
        at += found + 2;
    }
    inner.len()
}

/// Arguments after the eighth are ignored.
pub const MAX_ARGS: usize = 8;

/// The texts between the commas outside brackets, trimmed, and their number.
///
/// `nests` are the opening and closing brackets that count. `string` returns the length of a string with its closing
/// quote but without its opening quote; its second argument is whether the string is inside brackets. Tracers quote
/// differently.
pub fn arguments<'a>(
    args: &'a [u8],
    nests: (&[u8], &[u8]),
    string: impl Fn(&'a [u8], bool) -> usize,
) -> ([&'a [u8]; MAX_ARGS], usize) {
    let (mut found, mut count): ([&[u8]; MAX_ARGS], usize) = ([b""; MAX_ARGS], 0);
    let (mut start, mut at, mut depth) = (0, 0, 0i32);
    while let Some(&byte) = args.get(at) {
        at += 1;
        match byte {
            b'"' => at += string(args.get(at..).unwrap_or(b""), depth > 0),
            b',' if depth <= 0 && count + 1 < MAX_ARGS => {
                found[count] = trim(args.get(start..at - 1).unwrap_or(b""));
                count += 1;
                start = at;
            }
            byte if nests.0.contains(&byte) => depth += 1,
            byte if nests.1.contains(&byte) => depth -= 1,
            _ => {}
        }
    }
    let last = trim(args.get(start..).unwrap_or(b""));
    if count > 0 || !last.is_empty() {
        found[count] = last;
        count += 1;
    }
    (found, count)
}

/// Whether a line is the head of the table that ltrace -c prints. A terminal shows the key that ended it before the head.
pub(crate) fn heads_library_table(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"^C").unwrap_or(line);
    line.starts_with(b"% time") && line.ends_with(b"function")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_found_as_in_long_texts(text in "[ab]{0,20}", word in "[ab]{1,3}", filler in prop::bool::ANY) {
            let text = format!("{text}{}", if filler { "c".repeat(SHORT_BYTES) } else { String::new() });
            prop_assert_eq!(find(text.as_bytes(), word.as_bytes()), text.find(&word));
        }
    }

    #[test]
    fn numbers_and_times_are_read_from_the_start() {
        assert_eq!(number(b"12 x"), Some((12, &b" x"[..])));
        assert_eq!(number(b"x"), None);
        assert_eq!(number(b"99999999999999999999"), None);
        assert_eq!(value(b"0x7f)"), Some((127, &b")"[..])));
        assert_eq!(value(b"0xffffffffffffffff"), Some((-1, &b""[..])));
        assert_eq!(value(b"022"), Some((18, &b""[..])));
        assert_eq!(value(b"-1 E"), Some((-1, &b" E"[..])));
        assert_eq!(value(b"18446744073709551615"), Some((-1, &b""[..])));
        assert_eq!(seconds(b"3.7245 "), Some((3_724_500_000, 4, &b" "[..])));
        assert_eq!(
            seconds(b"1.0999999999999996>"),
            Some((1_099_999_999, 9, &b">"[..]))
        );
        assert_eq!(
            seconds(b"1795224170.658193 r"),
            Some((1_795_224_170_658_193_000, 6, &b" r"[..]))
        );
        assert_eq!(
            time_of_day(b"01:23:30.170323 i"),
            Some((5_010_170_323_000, 6, &b" i"[..]))
        );
        assert_eq!(time_of_day(b"01:23:3"), None);
        assert_eq!(tick_ns(4), 100_000);
    }

    #[test]
    fn a_short_number_ends_at_the_first_other_byte() {
        for after in [b' ', b'/', b':', b'.', b'\n', 0, 0x80, 0xB0, 0xFF] {
            for (number, digits) in [
                (7, 1),
                (10, 2),
                (999, 3),
                (4711, 4),
                (12_345, 5),
                (400_000, 6),
                (9_876_543, 7),
            ] {
                let mut text = [after; 8];
                text[..digits].copy_from_slice(number.to_string().as_bytes());
                assert_eq!(short_number(text), Some((number, digits)), "{text:?}");
                // The bytes after that do not matter.
                text[digits + 1..].fill(b'5');
                assert_eq!(short_number(text), Some((number, digits)), "{text:?}");
            }
            assert_eq!(short_number([after; 8]), None);
        }
        assert_eq!(short_number(*b"12345678"), None);
        assert_eq!(short_number(*b"0000007 "), Some((7, 7)));
    }

    #[test]
    fn only_eight_digits_are_a_number() {
        assert_eq!(
            eight_digits(u64::from_le_bytes(*b"12345678")),
            Some(12_345_678)
        );
        assert_eq!(eight_digits(u64::from_le_bytes(*b"00000009")), Some(9));
        for wrong in [b'/', b':', b' ', b'p', 0xB5, 0] {
            for at in 0..8 {
                let mut text = *b"12345678";
                text[at] = wrong;
                assert_eq!(eight_digits(u64::from_le_bytes(text)), None, "{wrong} {at}");
            }
        }
    }
}
