//! The part behind `) = `: value, error, time.

use crate::call;
use crate::format::Parsed;
use crate::line::{Line, Outcome};
use crate::scan;
use memchr::memrchr;

/// What a result says beside what goes into the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Read {
    /// Read; with the value in the tracer's own numbering of processes, where that is printed too.
    Whole(Option<i32>),
    /// Cut off, or no result at all.
    Cut,
}

/// The time at the end of a line, and the text before it: `3 <0.000012>`.
pub fn duration(text: &[u8]) -> Option<(i64, &[u8])> {
    let inner = text.strip_suffix(b">")?;
    let open = memrchr(b'<', inner)?;
    // The blank before it is the only difference to the decoration of a value.
    let before = inner[..open].strip_suffix(b" ")?;
    match scan::seconds(&inner[open + 1..]) {
        Some((ns, _, b"")) => Some((ns, before)),
        _ => negative(&inner[open + 1..]).map(|ns| (ns, before)),
    }
}

/// Before 4.22 a step of the wall clock could make a time negative.
fn negative(text: &[u8]) -> Option<i64> {
    let (_, _, rest) = scan::seconds(text.strip_prefix(b"-")?)?;
    rest.is_empty().then_some(0)
}

/// Read a result into the line.
pub fn read(text: &[u8], line: &mut Line, parsed: &mut Parsed) -> Read {
    let text = match duration(text) {
        Some((ns, before)) => {
            line.dur_ns = ns;
            before
        }
        None => text,
    };
    if let Some(rest) = text.strip_prefix(b"?") {
        unknown(rest, line, parsed);
        return Read::Whole(None);
    }
    let Some((value, rest)) = scan::value(text) else {
        return Read::Cut;
    };
    line.ret = value;
    if rest.is_empty() {
        return Read::Whole(None);
    }
    if value == -1 {
        failure(rest, line, parsed);
    }
    Read::Whole(call::tracer_id(rest))
}

/// `?`, `? <unavailable>`, `? ERESTARTSYS (…)`, and of old tracers `? (mask now [])`.
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

/// ` ENOENT (No such file or directory)`, ` (errno 999)`, ` ERRNO_999 (Unknown error 999)`. Without any it is a value.
fn failure(rest: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let rest = scan::skip_blanks(rest);
    if rest.first() == Some(&b'E') {
        let name = error_name(rest);
        line.errno = parsed.texts.add(name);
        line.outcome = if name.starts_with(b"ERESTART") { Outcome::Interrupted } else { Outcome::Failed };
    } else if let Some(number) = rest.strip_prefix(b"(errno ") {
        let digits = number.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(number.len());
        parsed.scratch.clear();
        parsed.scratch.extend_from_slice(b"ERRNO_");
        parsed.scratch.extend_from_slice(&number[..digits]);
        line.errno = parsed.texts.add(&parsed.scratch);
        line.outcome = Outcome::Failed;
    }
}

fn error_name(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')).unwrap_or(text.len());
    &text[..end]
}
