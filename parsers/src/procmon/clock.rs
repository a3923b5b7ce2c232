//! Times of Process Monitor, in the forms of all countries.
//!
//! ```text
//! In:   `9:53:32.8219063 PM`, `21:53:32,8219063`, `21.53.32,8219063`, `오후 9:53:32.8219063`
//! Out:  21:53:32.8219063 as nanoseconds since midnight, 7 digits
//! ```

use crate::scan::{self, NS_PER_S};

/// Digits after the point, unless somebody removed them.
pub(super) const DIGITS: usize = 7;

/// Words for the second half of the day, in small letters.
const AFTERNOON: [&str; 9] = [
    "pm", "p.m.", "오후", "下午", "午後", "م", "μ.μ.", "ch", "du.",
];
/// Words for the first half of the day.
const MORNING: [&str; 9] = [
    "am", "a.m.", "오전", "上午", "午前", "ص", "π.μ.", "sa", "de.",
];

/// Nanoseconds since midnight, and the number of digits after the point.
pub(super) fn time_of_day(text: &[u8]) -> Option<(i64, usize)> {
    let start = text.iter().position(u8::is_ascii_digit)?;
    let (before, text) = text.split_at_checked(start)?;
    let (hours, rest) = scan::number(text)?;
    let (minutes, rest) = scan::number(after(rest, b":.")?)?;
    let (seconds, rest) = scan::number(after(rest, b":.")?)?;
    let (fraction_ns, digits, rest) = match after(rest, b".,") {
        Some(fraction) => fraction_of(fraction)?,
        None => (0, 0, rest),
    };
    let is = |words: &[&str]| is_word(before, words) || is_word(rest, words);
    let hours = match (is(&MORNING), is(&AFTERNOON)) {
        (true, _) => hours % 12,
        (_, true) => hours % 12 + 12,
        _ => hours,
    };
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let whole_s = hours * 3600 + minutes * 60 + seconds;
    Some((whole_s * NS_PER_S + fraction_ns, digits))
}

fn is_word(text: &[u8], words: &[&str]) -> bool {
    let word = String::from_utf8_lossy(text).trim().to_lowercase();
    words.contains(&word.as_str())
}

/// Whether a text is a word for a half of the day.
pub fn is_half_of_day(text: &[u8]) -> bool {
    is_word(text, &MORNING) || is_word(text, &AFTERNOON)
}

/// Whether a text is a time.
pub fn is_time(text: &[u8]) -> bool {
    time_of_day(text).is_some()
}

/// `0.0000123`, `0,0000123`.
pub(super) fn duration(text: &[u8]) -> Option<i64> {
    let (whole, rest) = scan::number(scan::trim(text))?;
    let (fraction_ns, _, rest) = match after(rest, b".,") {
        Some(fraction) => fraction_of(fraction)?,
        None => (0, 0, rest),
    };
    let whole_ns = whole.checked_mul(NS_PER_S)?;
    rest.is_empty()
        .then(|| whole_ns.checked_add(fraction_ns))
        .flatten()
}

/// The text after one of these bytes.
fn after<'a>(text: &'a [u8], marks: &[u8]) -> Option<&'a [u8]> {
    let (mark, rest) = text.split_first()?;
    marks.contains(mark).then_some(rest)
}

/// The digits after a decimal point as nanoseconds, their number, and the rest.
fn fraction_of(text: &[u8]) -> Option<(i64, usize, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (value, rest) = scan::number(text).filter(|_| digits <= 9)?;
    Some((value * scan::tick_ns(digits), digits, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_countries_are_read() {
        const MORNING_NS: i64 = (9 * 3600 + 53 * 60 + 32) * NS_PER_S + 821_906_300;
        const EVENING_NS: i64 = MORNING_NS + 12 * 3600 * NS_PER_S;
        let cases = [
            ("9:53:32.8219063 AM", MORNING_NS),
            ("9:53:32.8219063 PM", EVENING_NS),
            ("09:53:32.8219063 p.m.", EVENING_NS),
            ("21:53:32,8219063", EVENING_NS),
            ("21.53.32,8219063", EVENING_NS),
            ("오후 9:53:32.8219063", EVENING_NS),
            ("上午 09:53:32.8219063", MORNING_NS),
            ("9:53:32.8219063\u{202f}PM", EVENING_NS),
        ];
        for (text, ns) in cases {
            assert_eq!(time_of_day(text.as_bytes()), Some((ns, 7)), "{text}");
        }
        assert_eq!(time_of_day(b"12:00:00 AM"), Some((0, 0)));
        assert_eq!(time_of_day(b"12:00:00 PM"), Some((12 * 3600 * NS_PER_S, 0)));
        for text in ["", "AM", "9:53", "25:00:00", "9:61:00", "9:53:32."] {
            assert_eq!(time_of_day(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn durations_have_a_point_or_a_comma() {
        assert_eq!(duration(b"0.0000123"), Some(12_300));
        assert_eq!(duration(b"1,5000000"), Some(1_500_000_000));
        assert_eq!(duration(b""), None);
        assert_eq!(duration(b"1.5 s"), None);
        assert_eq!(duration(b"9999999999999999999"), None);
    }
}
