//! Messages of logs: known words and durations stay, other words and numbers become pseudonyms.
//!
//! ```text
//! In:   Mar  5 19:43:34 web1 sshd[812]: session of alice took 12.3 s, 4711 lines
//! Out:  Mar  5 19:43:34 gkz…7 sshd[812]: session of hjm… took 12.3 s, 9046 lines
//! ```
//! Endings that show that something begins or ended stay: `Frobbing` and `frobbed` have the same beginning afterwards.

use crate::names::{Names, is_word_byte};
use crate::{bare, known};
use std::ops::Range;

/// Units of durations, and words after a number that counts messages.
const UNITS: [&[u8]; 34] = [
    b"ns",
    b"us",
    b"ms",
    b"s",
    b"m",
    b"h",
    b"d",
    b"sec",
    b"secs",
    b"msec",
    b"msecs",
    b"usec",
    b"usecs",
    b"nsec",
    b"second",
    b"seconds",
    b"min",
    b"mins",
    b"minute",
    b"minutes",
    b"hour",
    b"hours",
    b"day",
    b"days",
    b"millisecond",
    b"milliseconds",
    b"microseconds",
    b"nanoseconds",
    b"hr",
    b"hrs",
    b"times",
    b"time",
    b"messages",
    b"kernel",
];
/// Words before a number that is a duration without a unit, or a time.
const NAMES_OF_NUMBERS: [&[u8]; 12] = [
    b"query_time",
    b"lock_time",
    b"request_time",
    b"upstream_response_time",
    b"time",
    b"timestamp",
    b"ts",
    b"t",
    b"realtime_timestamp",
    b"asctime",
    b"monotonic_timestamp",
    b"repeated",
];
/// Ends of names of durations.
const UNITS_OF_NAMES: [&[u8]; 12] = [
    b"ns",
    b"us",
    b"ms",
    b"seconds",
    b"secs",
    b"sec",
    b"minutes",
    b"millis",
    b"milliseconds",
    b"micros",
    b"nanos",
    b"s",
];
const MAX_NUMBER_BYTES: usize = 19;
/// ` +0000`, and a fraction of a second before it.
const MAX_ZONE_BYTES: usize = 13;

/// Append the part of a line before its message: stamps, host, sender. Numbers stay where only they stand between blanks.
pub(crate) fn head(names: &mut Names, text: &[u8], out: &mut Vec<u8>) {
    if is_place_in_plot(text) {
        return out.extend_from_slice(text);
    }
    // Fields of JSON have names, and numbers between blanks may be a part of any text.
    if memchr::memchr(b'"', text).is_some() {
        return message(names, text, out);
    }
    // Fields of an access log precede its date, and are of clients.
    let text = match access_date(text) {
        Some(date) => {
            message(names, &text[..date.start], out);
            out.extend_from_slice(&text[date.clone()]);
            &text[date.end..]
        }
        None => text,
    };
    for part in text.split_inclusive(|&byte| byte == b' ') {
        let is_stamp = part
            .iter()
            .all(|&byte| !byte.is_ascii_alphabetic() && byte < 0x80 || matches!(byte, b'T' | b'Z'));
        let is_stamp = is_stamp
            && is_like_a_stamp(part)
            && part
                .iter()
                .filter(|byte| byte.is_ascii_alphabetic())
                .count()
                <= 2;
        if is_stamp
            && names
                .address(part.trim_ascii(), 0, &mut Vec::new())
                .is_none()
        {
            out.extend_from_slice(part);
        } else {
            message(names, part, out);
        }
    }
}

/// `<text class="left" x="1035.034" y="34.000">` and `</text>`, around a unit in a picture of systemd: its place is its time.
fn is_place_in_plot(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let is_coordinate = |value: &[u8]| {
        value.len() <= 12
            && value
                .iter()
                .all(|&byte| byte.is_ascii_digit() || byte == b'.')
    };
    let is_known = |value: &[u8]| matches!(value, b"left" | b"right") || is_coordinate(value);
    let between = |number: usize, part: &[u8]| match number {
        0 => part == b"<text class=",
        2 => part == b" x=",
        4 => part == b" y=",
        6 => part == b">",
        _ => number < 6 && is_known(part),
    };
    let mut parts = text.split(|&byte| byte == b'"').enumerate();
    text == b"</text>" || !text.is_empty() && parts.all(|(number, part)| between(number, part))
}

/// `[10/Oct/2026:13:55:36 +0000]`, as in access logs.
fn access_date(text: &[u8]) -> Option<Range<usize>> {
    const FORM: &[u8] = b"[00/Aaa/0000:00:00:00";
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        b'A' => byte.is_ascii_uppercase(),
        b'a' => byte.is_ascii_lowercase(),
        form => byte == form,
    };
    let is_date = |rest: &[u8]| rest.iter().zip(FORM).all(fits);
    let at = text.windows(FORM.len()).position(is_date)?;
    let after = &text[at + FORM.len()..];
    let zone = memchr::memchr(b']', after).filter(|&zone| zone <= MAX_ZONE_BYTES);
    let is_zone = |byte: &u8| byte.is_ascii_digit() || b" .+-".contains(byte);
    let zone = zone.filter(|&zone| after[..zone].iter().all(is_zone));
    Some(at..at + FORM.len() + zone.unwrap_or(0))
}

/// Whether digits may be a part of a stamp, and no telephone, account or place.
fn is_like_a_stamp(part: &[u8]) -> bool {
    let groups: Vec<&[u8]> = part
        .split(|byte| !byte.is_ascii_digit())
        .filter(|group| !group.is_empty())
        .collect();
    let longest = groups.iter().map(|group| group.len()).max().unwrap_or(0);
    let has = |byte: u8| part.contains(&byte);
    if has(b':') {
        return part
            .split(|&byte| byte == b':')
            .enumerate()
            .all(is_of_clock);
    }
    if groups.len() < 2 && longest <= 8 {
        return true;
    }
    match groups[..] {
        // Since 1970, in seconds or parts of them, perhaps with a fraction; `20261128194334`.
        [whole] | [whole, _] if whole.len() >= 10 => {
            matches!(whole[0], b'1' | b'2') && whole.len() <= 19
        }
        [whole, fraction] => has(b'.') && !has(b',') && whole.len() <= 8 && fraction.len() <= 9,
        // `2026-11-28`, `28.11.26`.
        [first, second, third] => {
            second.len() <= 2 && first.len() + third.len() <= 6 && first.len().max(third.len()) <= 4
        }
        _ => longest <= 2 || has(b'T') && longest <= 4,
    }
}

/// Whether a part between colons may be one of a clock: two digits before the first colon, up to three after others.
fn is_of_clock((number, part): (usize, &[u8])) -> bool {
    let is_other = |byte: &u8| !byte.is_ascii_digit();
    let digits = match number {
        0 => part.iter().rev().position(is_other),
        _ => part.iter().position(is_other),
    };
    digits.unwrap_or(part.len()) <= if number == 0 { 2 } else { 3 }
}

/// Append a message.
pub(crate) fn message(names: &mut Names, text: &[u8], out: &mut Vec<u8>) {
    let has_percent = memchr::memchr(b'%', text).is_some();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if has_percent
            && (is_word_byte(byte) || byte == b'%')
            && let Some(used) = names.percent_encoded(&text[at..], out)
        {
            at += used;
            continue;
        }
        at += match byte {
            b'\\' => bare::backslash(text, at, out),
            b'/' => path(names, text, at, out),
            _ if byte.is_ascii_digit() => number(names, text, at, out),
            _ if is_word_byte(byte) || byte == b'_' || byte == b':' => word(names, text, at, out),
            0..=8 | 11..=26 | 28..=31 | 127 => {
                out.push(b' ');
                1
            }
            _ => {
                out.push(byte);
                1
            }
        };
    }
}

fn path(names: &mut Names, text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let before = at.checked_sub(1).map(|before| text[before]);
    let rest = &text[at..];
    let end = rest
        .iter()
        .position(|byte| b" \t,()<>\"';|&]}=:\\".contains(byte))
        .unwrap_or(rest.len());
    let is_path = before.is_none_or(|byte| b" \t=(,[{:|@>'\"".contains(&byte))
        && end > 1
        && is_word_byte(rest[1]);
    if !is_path {
        out.push(b'/');
        return 1;
    }
    // An address has colons, and a sentence may end after a path.
    let last = rest[..end]
        .iter()
        .rposition(|&byte| byte == b'/')
        .map_or(0, |at| at + 1);
    let address = match rest.get(end) {
        Some(b':') => names.address(&rest[last..], 0, &mut Vec::new()),
        _ => None,
    };
    let end = match address {
        Some(used) => end.max(last + used),
        None => end - usize::from(rest[..end].ends_with(b".")),
    };
    names.text(&rest[..end], false, out);
    end
}

/// Append a word that begins with a digit.
fn number(names: &mut Names, text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    if let Some(used) = names.address(text, at, out) {
        return used;
    }
    let rest = &text[at..];
    let is_apart = |&end: &usize| {
        !(at > 0 && is_word_byte(text[at - 1]) || rest.get(end).copied().is_some_and(is_word_byte))
    };
    if let Some(length) = date_and_time(rest).filter(is_apart) {
        out.extend_from_slice(&rest[..length]);
        return length;
    }
    // `7.25`, `1,532`, `00:01:30.5`.
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b':');
    // A longer one is not kept, wherever it ends.
    let length = rest
        .iter()
        .take(2 * MAX_NUMBER_BYTES)
        .take_while(|byte| is_part(byte))
        .count();
    let length = rest[..length]
        .iter()
        .rposition(u8::is_ascii_digit)
        .map_or(length, |last| last + 1);
    let after = &rest[length..];
    // After a point, comma or colon it is the rest of a number that was replaced.
    let goes_on = at > 1
        && (matches!(text[at - 1], b'.' | b',') && is_word_byte(text[at - 2])
            || text[at - 1] == b':'
                && text[at - 2].is_ascii_hexdigit()
                && is_group(&text[..at - 1]));
    let is_word_start = at == 0 || !is_word_byte(text[at - 1]) && text[at - 1] != b'_' && !goes_on;
    if is_word_start
        && length <= MAX_NUMBER_BYTES
        && is_kept_number(&text[..at], &rest[..length], after)
    {
        // The units of the whole duration: `h2m3s`.
        let unit = after
            .iter()
            .position(|&byte| !is_word_byte(byte))
            .unwrap_or(after.len());
        out.extend_from_slice(&rest[..length + unit]);
        return length + unit;
    }
    let end = rest
        .iter()
        .position(|&byte| !is_word_byte(byte))
        .unwrap_or(rest.len());
    names.unknown(&rest[..end], out);
    end
}

/// Whether a number is a duration, counts messages, is a process id or a clock.
fn is_kept_number(before: &[u8], number: &[u8], after: &[u8]) -> bool {
    let unit = after.strip_prefix(b" ").unwrap_or(after);
    let end = unit
        .iter()
        .position(|&byte| !is_word_byte(byte))
        .unwrap_or(unit.len());
    let mut lower = unit[..end].to_vec();
    lower.make_ascii_lowercase();
    let lower = lower.as_slice();
    let digits = number.iter().filter(|byte| byte.is_ascii_digit()).count();
    let all_digits = digits + lower.iter().filter(|byte| byte.is_ascii_digit()).count();
    // Letters that are no unit belong to a longer word, of which the number is a part.
    // `2748.1857.9271` is no number.
    if number.iter().filter(|&&byte| byte == b'.').count() > 1 {
        return false;
    }
    let is_joined = after.first().copied().is_some_and(is_word_byte);
    // `368d.c964` and `037d-855d` are no numbers of days.
    let goes_on = match unit[end..] {
        [b'.' | b'-', next, ..] => is_word_byte(next),
        _ => false,
    };
    if is_joined && goes_on {
        return false;
    }
    // `271D` is a group of hexadecimal digits.
    let is_letter = is_joined && unit[..end].len() == 1 && unit[0].is_ascii_uppercase();
    if is_letter && lower != b"z" {
        return false;
    }
    let is_duration =
        all_digits <= 12 && are_units(lower) && !number.contains(&b':') && fits(number, lower);
    if is_joined && !is_duration && lower != b"z" {
        return false;
    }
    let is_pid = before.ends_with(b"[") && after.starts_with(b"]") && digits <= 7;
    digits <= 12 && are_units(lower) && fits(number, lower)
        || after.starts_with(b"%") && is_percentage(number)
        || is_clock(number) && !is_list(after)
        || is_pid
        || is_named(before)
}

/// `00:01:30.5`, `127:59:59`: hours, minutes and seconds.
fn is_clock(number: &[u8]) -> bool {
    const MAX_DIGITS: usize = 12;
    let parts: Vec<&[u8]> = number.split(|&byte| byte == b':').collect();
    let [hours, minutes, seconds] = parts[..] else {
        return false;
    };
    let whole = seconds.iter().take_while(|byte| byte.is_ascii_digit());
    let digits = number.iter().filter(|byte| byte.is_ascii_digit()).count();
    (1..=3).contains(&hours.len())
        && minutes.len() == 2
        && whole.count() == 2
        && digits <= MAX_DIGITS
}

/// Whether octets or digits go on after a colon: `33:63:69:be`.
fn is_list(after: &[u8]) -> bool {
    matches!(after, [b':', next, ..] if is_word_byte(*next))
}

/// `99.97`, `1,532`: with one separator, and few digits.
fn is_percentage(number: &[u8]) -> bool {
    const MAX_DIGITS: usize = 5;
    let digits = number.iter().filter(|byte| byte.is_ascii_digit()).count();
    number.len() - digits <= 1 && digits <= MAX_DIGITS && !number.contains(&b':')
}

/// Whether a number is no longer than durations in this unit are: three years.
fn fits(number: &[u8], unit: &[u8]) -> bool {
    let whole = number.split(|&byte| byte == b'.').next().unwrap_or(b"");
    let digits = whole.iter().filter(|byte| byte.is_ascii_digit()).count();
    let max = match unit {
        b"d" | b"day" | b"days" | b"h" | b"hr" | b"hrs" | b"hour" | b"hours" => 5,
        b"m" | b"min" | b"mins" | b"minute" | b"minutes" => 7,
        b"s" | b"sec" | b"secs" | b"second" | b"seconds" => 8,
        _ => 12,
    };
    digits <= max
}

/// Whether a text ends with a group of digits or an octet, not a word: `9497`, `c4`, not `took`.
fn is_group(text: &[u8]) -> bool {
    let start = text
        .iter()
        .rposition(|&byte| !is_word_byte(byte))
        .map_or(0, |at| at + 1);
    let group = &text[start..];
    group.iter().all(u8::is_ascii_hexdigit)
        && (group.len() == 2 || group.iter().any(u8::is_ascii_digit))
}

/// Whether what follows a number is its unit, or units with more numbers, as in `1min30s` and `1h2m3s`.
fn are_units(word: &[u8]) -> bool {
    const LARGEST_FIRST: [&[u8]; 7] = [b"d", b"h", b"m", b"s", b"ms", b"us", b"ns"];
    let parts = || word.chunk_by(|one, other| one.is_ascii_digit() == other.is_ascii_digit());
    let rank = |unit: &&[u8]| LARGEST_FIRST.iter().position(|one| one == unit);
    let units = || parts().filter(|part| !part[0].is_ascii_digit());
    let ranks: Vec<usize> = units().filter_map(|unit| rank(&unit)).collect();
    !word.is_empty()
        && ranks.is_sorted_by(|one, other| one < other)
        && !word[0].is_ascii_digit()
        && word.last().is_some_and(|byte| !byte.is_ascii_digit())
        && parts().all(|part| part[0].is_ascii_digit() || UNITS.contains(&part))
}

/// Whether the word before a number names a duration or a time: `duration_ms=`, `"elapsedSeconds": `.
fn is_named(before: &[u8]) -> bool {
    let before = before
        .strip_suffix(b"\"")
        .unwrap_or(before)
        .trim_ascii_end();
    let Some(before) = before
        .strip_suffix(b"=")
        .or_else(|| before.strip_suffix(b":"))
    else {
        return before.ends_with(b"repeated");
    };
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    let start = before
        .iter()
        .rposition(|&byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))
        .map_or(0, |at| at + 1);
    let name = before[start..].to_ascii_lowercase();
    let plain = name
        .iter()
        .position(|&byte| byte != b'_')
        .map_or(&name[..], |at| &name[at..]);
    NAMES_OF_NUMBERS.contains(&plain)
        || UNITS_OF_NAMES.iter().any(|unit| {
            plain.len() > unit.len() && plain.ends_with(unit) && {
                let at = before.len() - unit.len();
                before[at].is_ascii_uppercase() || before[..at].ends_with(b"_")
            }
        })
}

/// `2021-03-05T19:43:34.123456+01:00`, as far as it reaches.
fn date_and_time(text: &[u8]) -> Option<usize> {
    let fits = |text: &[u8], form: &[u8]| {
        text.len() >= form.len()
            && text.iter().zip(form).all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                b'T' => matches!(byte, b'T' | b' '),
                form => byte == form,
            })
    };
    if !fits(text, b"0000-00-00T00:00:00") {
        return None;
    }
    let mut at = 19;
    if matches!(text.get(at), Some(b'.' | b',')) {
        at += 1 + text[at + 1..]
            .iter()
            .take(9)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
    }
    let zone = [&b"+00:00"[..], b"-00:00", b"+0000", b"-0000", b"Z"]
        .into_iter()
        .find(|zone| fits(&text[at..], zone));
    Some(at + zone.map_or(0, <[u8]>::len))
}

/// Append a word; returns its length.
fn word(names: &mut Names, text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let token = match bare::word_at(names, text, at, out) {
        Ok(token) => token,
        Err(used) => return used,
    };
    if names.kept.has(token) {
        out.extend_from_slice(token);
    } else if is_octet(text, at, token) {
        names.unknown(token, out);
    } else if is_kept(token) {
        out.extend_from_slice(token);
    } else {
        bare::each_part(token, out, |part, out| part_of_word(names, part, out));
    }
    token.len()
}

/// `de` in `c4:de:75`, which is a word elsewhere.
fn is_octet(text: &[u8], at: usize, token: &[u8]) -> bool {
    let is_hex = token.len() == 2 && token.iter().all(u8::is_ascii_hexdigit);
    let follows = matches!(text[..at], [.., before, b':'] if is_word_byte(before));
    is_hex && (follows || is_list(&text[at + token.len()..]))
}

fn is_kept(token: &[u8]) -> bool {
    known::is_word(token) || known::is_common(token) || known::is_name(token) || is_joined(token)
}

/// `elapsedSeconds`: words with capitals.
fn is_joined(token: &[u8]) -> bool {
    let mut humps = token.chunk_by(|_, next| !next.is_ascii_uppercase());
    token.iter().all(u8::is_ascii_alphabetic)
        && humps.all(|hump| hump.len() > 1 && known::is_common(hump))
}

/// Append a part of a word: known, or a pseudonym that begins or ends like it.
fn part_of_word(names: &mut Names, part: &[u8], out: &mut Vec<u8>) {
    if part.is_empty() || is_kept(part) {
        return out.extend_from_slice(part);
    }
    let ending = [&b"ing"[..], b"ed"]
        .into_iter()
        .find(|ending| part.ends_with(ending) && part.len() > ending.len() + 1);
    let ending = ending
        .filter(|_| part.iter().all(u8::is_ascii_alphabetic))
        .unwrap_or(b"");
    names.unknown(&part[..part.len() - ending.len()], out);
    out.extend_from_slice(ending);
}
