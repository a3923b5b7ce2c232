//! Records of two lines: a line with nothing but a date and a time, and the message below it.
//!
//! ```text
//! In:   Mon Nov 29 18:53:46 UTC 2026          Out:  2026-11-29T18:53:46Z Starting the import
//!       Starting the import
//! ```
//! Scripts print them with `date`. Further lines of a record follow as they are.

use crate::scan;

/// Minimum number of records.
const MIN_RECORDS: usize = 3;
/// Most lines of a text per record.
const MAX_LINES: usize = 12;
const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];
const DAYS: [&[u8]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];

/// The text with a date before each message; `None` if its records are not like that.
pub(super) fn joined(text: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let is_message = |line: &&[u8]| !scan::trim(line).is_empty() && date(line).is_none();
    let records = lines
        .windows(2)
        .filter(|pair| date(pair[0]).is_some() && is_message(&pair[1]))
        .count();
    let filled = lines
        .iter()
        .filter(|line| !scan::trim(line).is_empty())
        .count();
    if records < MIN_RECORDS || records * MAX_LINES < filled {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut before: Option<Vec<u8>> = None;
    for line in &lines {
        match (date(line), before.take()) {
            (Some(stamp), earlier) => {
                out.extend(earlier.unwrap_or_default());
                before = Some(stamp);
            }
            (None, Some(stamp)) => {
                // A blank line in the place of the date, so that all lines keep their numbers.
                out.push(b'\n');
                out.extend_from_slice(&stamp);
                out.push(b' ');
                out.extend_from_slice(line);
            }
            (None, None) => out.extend_from_slice(line),
        }
        if before.is_none() {
            out.push(b'\n');
        }
    }
    out.extend(before.unwrap_or_default());
    out.pop_if(|last| *last == b'\n');
    Some(out)
}

/// The date of a line that has nothing else: as it is, but for the form of `date`.
fn date(line: &[u8]) -> Option<Vec<u8>> {
    let text = scan::trim(line);
    if text.len() > 40 || !has_clock(text) {
        return None;
    }
    of_date(text).or_else(|| {
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"-/.:,TZ+ []".contains(byte);
        let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
        (digits >= 10 && text.iter().all(is_part)).then(|| text.to_vec())
    })
}

/// Whether a text has `12:34:56`.
fn has_clock(text: &[u8]) -> bool {
    text.windows(8).any(|part| {
        part.iter().enumerate().all(|(at, byte)| match at {
            2 | 5 => *byte == b':',
            _ => byte.is_ascii_digit(),
        })
    })
}

/// `Mon Nov 29 18:53:46 UTC 2026`, `Mon 29 Nov 2026 06:53:46 PM CET`: the words in any order. A zone other than UTC is left out,
/// because names do not define it; all dates of a text have the same.
fn of_date(text: &[u8]) -> Option<Vec<u8>> {
    let (mut month, mut day, mut year, mut clock, mut is_pm) = (None, None, None, None, None);
    for word in text
        .split(|&byte| byte == b' ')
        .filter(|word| !word.is_empty())
    {
        let number = scan::number(word)
            .filter(|(_, rest)| rest.is_empty())
            .map(|(number, _)| number);
        match (word, number) {
            (_, Some(number)) if word.len() == 4 => year = Some(number),
            (_, Some(number)) if (1..=31).contains(&number) => day = Some(number),
            (b"AM", _) => is_pm = Some(false),
            (b"PM", _) => is_pm = Some(true),
            _ if word.len() == 8 && has_clock(word) => clock = Some(word),
            _ if DAYS.iter().any(|name| word.starts_with(name)) && word.len() <= 10 => {}
            _ => match MONTHS.iter().position(|name| word == *name) {
                Some(number) => month = Some(number + 1),
                None if word.len() <= 5 && word.iter().all(u8::is_ascii_uppercase) => {}
                None => return None,
            },
        }
    }
    let clock = std::str::from_utf8(clock?).ok()?;
    let (hour, rest) = clock.split_at(2);
    let hour: i64 = hour.parse().ok()?;
    let hour = match is_pm {
        Some(is_pm) => hour % 12 + if is_pm { 12 } else { 0 },
        None => hour,
    };
    Some(format!("{}-{:02}-{:02}T{hour:02}{rest}Z", year?, month?, day?).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_moves_before_its_message() {
        let text = "Mon Nov 29 18:53:46 UTC 2026\nStarting\nmore\nMon Nov 29 18:53:48 UTC 2026\nConnected\n\
                    Mon Nov 29 18:55:20 UTC 2026\nDone\n";
        let expected = "\n2026-11-29T18:53:46Z Starting\nmore\n\n2026-11-29T18:53:48Z Connected\n\n2026-11-29T18:55:20Z Done\n";
        assert_eq!(
            joined(text.as_bytes()).as_deref(),
            Some(expected.as_bytes())
        );
    }

    #[test]
    fn dates_have_several_forms() {
        let shown = |text: &str| {
            date(text.as_bytes()).map(|date| String::from_utf8_lossy(&date).into_owned())
        };
        for text in [
            "Mon Nov  9 08:53:46 UTC 2026",
            "Mon 09 Nov 2026 08:53:46 AM CET",
            "Mon Nov 9 08:53:46 CET 2026",
        ] {
            assert_eq!(
                shown(text).as_deref(),
                Some("2026-11-09T08:53:46Z"),
                "{text}"
            );
        }
        assert_eq!(
            shown("[2026-11-29 18:53:46,123]").as_deref(),
            Some("[2026-11-29 18:53:46,123]")
        );
        for text in [
            "18:53:46",
            "at 2026-11-29 18:53:46",
            "Mon Nov 29 2026",
            "",
            "close(3) = 0 12:34:56",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn a_log_with_dates_in_its_lines_stays() {
        let text = "2026-11-29 18:53:46 a\n2026-11-29 18:53:46 b\n2026-11-29 18:53:46 c\n2026-11-29 18:53:46 d";
        assert_eq!(joined(text.as_bytes()), None);
        assert_eq!(
            joined(b"2026-11-29 18:53:46\n2026-11-29 18:53:47\n2026-11-29 18:53:48"),
            None
        );
    }
}
