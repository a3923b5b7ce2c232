//! The result after `) = `: value, error, duration.

use crate::call;
use crate::format::Parsed;
use crate::line::{Line, Outcome};
use crate::scan;

/// No duration has more characters.
const MAX_DURATION_BYTES: usize = 48;

/// How much of a result could be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadResult {
    /// All of it, with the value in the tracer's own PID namespace if that is printed too.
    Whole(Option<i32>),
    /// Nothing: it is cut or missing.
    Cut,
}

/// The duration at the end of a line, and the text before it: `3 <0.000012>`.
#[inline]
pub fn duration(text: &[u8]) -> Option<(i64, &[u8])> {
    match short_duration(text) {
        None if text.last() != Some(&b'>') => None,
        None => any_duration(text),
        found => found,
    }
}

/// A duration below ten seconds, with six digits after the point.
#[inline]
fn short_duration(text: &[u8]) -> Option<(i64, &[u8])> {
    let (before, short) = text.split_last_chunk()?;
    Some((short_ns(short)?, before))
}

/// The same at the start of a text, and the text after it.
#[inline]
pub(crate) fn leading_duration(text: &[u8]) -> Option<(i64, &[u8])> {
    let (short, after) = text.split_first_chunk()?;
    Some((short_ns(short)?, after))
}

#[inline]
fn short_ns(short: &[u8; 11]) -> Option<i64> {
    if short[..2] != *b" <" || short[3] != b'.' || short[10] != b'>' {
        return None;
    }
    let seven = u64::from_le_bytes(*short[2..].first_chunk()?);
    // The digit before the point replaces the point, and a zero replaces the digit.
    Some(scan::eight_digits(seven & !0xFFFF | (seven & 0xFF) << 8 | u64::from(b'0'))? * 1000)
}

fn any_duration(text: &[u8]) -> Option<(i64, &[u8])> {
    let inner = text.strip_suffix(b">")?;
    let near = inner.len().saturating_sub(MAX_DURATION_BYTES);
    let open = near + memchr::memrchr(b'<', &inner[near..])?;
    // Only the blank before it distinguishes it from the decoration of a value.
    let before = inner[..open].strip_suffix(b" ")?;
    let printed = &inner[open + 1..];
    // Before 4.22, a step of the wall clock could make a duration negative.
    let (ns, _, rest) = scan::seconds(printed.strip_prefix(b"-").unwrap_or(printed))?;
    rest.is_empty()
        .then_some((if printed.starts_with(b"-") { 0 } else { ns }, before))
}

/// Read a result into the line.
pub fn read(text: &[u8], line: &mut Line, parsed: &mut Parsed) -> ReadResult {
    let text = match duration(text) {
        Some((ns, before)) => {
            line.dur_ns = ns;
            before
        }
        None => text,
    };
    if let Some(rest) = text.strip_prefix(b"?") {
        unknown(rest, line, parsed);
        return ReadResult::Whole(None);
    }
    let Some((value, rest)) = small(text).or_else(|| scan::value(text)) else {
        return ReadResult::Cut;
    };
    line.ret = value;
    if rest.is_empty() {
        // The name of the error is lost: in a mail, it is on the next line.
        if value == -1 {
            line.outcome = Outcome::Failed;
        }
        return ReadResult::Whole(None);
    }
    // Some tracers print the number of the error: `= -111 ECONNREFUSED (…)`.
    if value == -1 || value < 0 && rest.starts_with(b" E") {
        failure(rest, line, parsed);
    }
    ReadResult::Whole(if rest.ends_with(b" */") {
        call::tracer_id(rest)
    } else {
        None
    })
}

/// A short decimal number: the form of most results.
fn small(text: &[u8]) -> Option<(i64, &[u8])> {
    let mut value = 0i64;
    for (at, &byte) in text.iter().enumerate().take(9) {
        match byte {
            b'0'..=b'9' => value = value * 10 + i64::from(byte - b'0'),
            _ if at == 0 || (text[0] == b'0' && at > 1) || byte == b'x' => return None,
            _ => return Some((value, &text[at..])),
        }
    }
    // A leading zero means octal.
    let decimal = text.len() == 1 || text.first().is_some_and(|&byte| byte != b'0');
    (text.len() < 9 && decimal).then_some((value, b""))
}

/// `?`, `? <unavailable>`, `? ERESTARTSYS (…)`, and from old tracers `? (mask now [])`.
fn unknown(rest: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let rest = scan::skip_blanks(rest);
    line.outcome = if rest.starts_with(b"<unavailable>") {
        Outcome::Unavailable
    } else if rest.starts_with(b"ERESTART") {
        line.errno = parsed.texts.add(error_name(rest));
        Outcome::Interrupted
    } else if rest.starts_with(b"(mask now") {
        Outcome::Ok
    } else {
        Outcome::NoReturn
    };
}

/// ` ENOENT (No such file or directory)`, ` (errno 999)`, ` ERRNO_999 (Unknown error 999)`. Any other text is not an
/// error.
fn failure(rest: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let rest = scan::skip_blanks(rest);
    if rest.first() == Some(&b'E') {
        let name = error_name(rest);
        line.errno = parsed.texts.add(name);
        line.outcome = if name.starts_with(b"ERESTART") {
            Outcome::Interrupted
        } else {
            Outcome::Failed
        };
    } else if let Some(number) = rest.strip_prefix(b"(errno ") {
        let digits = number
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(number.len());
        parsed.scratch.clear();
        parsed.scratch.extend_from_slice(b"ERRNO_");
        parsed.scratch.extend_from_slice(&number[..digits]);
        line.errno = parsed.texts.add(&parsed.scratch);
        line.outcome = Outcome::Failed;
    }
}

/// The only descriptor that a poll or select found ready: `1 ([{fd=5, revents=POLLIN}])`, `1 (in [5], left {…})`.
pub fn only_ready(text: &[u8]) -> Option<i32> {
    let found = text.strip_prefix(b"1 (")?;
    let names = [&b"[{fd="[..], b"in [", b"out [", b"except ["];
    let number = names
        .into_iter()
        .find_map(|name| found.strip_prefix(name))?;
    scan::number(number).and_then(|(fd, _)| i32::try_from(fd).ok())
}

fn error_name(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
        .unwrap_or(text.len());
    &text[..end]
}
