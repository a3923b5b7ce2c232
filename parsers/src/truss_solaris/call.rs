//! The text of one call: name, arguments, and how it ended.

use crate::line::NO_NS;
use crate::scan;
use crate::truss_common::{CallText, read_call};

/// The text after the arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SolarisEnd<'a> {
    /// `= value [value]`; [`NO_NS`] for a value that is not a number.
    Value(i64, i64),
    /// `Err#number NAME`.
    Error(i64, &'a [u8]),
    /// `  argc = number`, on AIX `  argc: number`.
    Exec,
    /// `(sleeping...)` and `(waiting for child to exit()/exec()...)`.
    Sleeping,
    /// `(returning as child ...) = parent`.
    Child(i64),
    /// `(returning as new lwp ...) = 0`.
    NewLwp,
    /// Nothing: a call that does not return to its caller.
    Nothing,
}

/// Read a text without blanks at its ends.
pub(super) fn read(text: &[u8]) -> CallText<'_, SolarisEnd<'_>> {
    read_call(text, name, end)
}

/// The arguments and the end of a call.
fn end(inside: &[u8]) -> Option<(&[u8], SolarisEnd<'_>)> {
    let (args, end) = sleeping(inside)
        .or_else(|| born(inside))
        .or_else(|| returned(inside))?;
    Some((scan::trim(args), end))
}

/// A call's name. Calls unknown to truss are `sys#191`.
fn name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'#')))?;
    (end > 0 && !text.first()?.is_ascii_digit()).then(|| text.split_at(end))
}

fn sleeping(inside: &[u8]) -> Option<(&[u8], SolarisEnd<'_>)> {
    const NOTICES: [&[u8]; 2] = [b"(sleeping...)", b"(waiting for child to exit()/exec()...)"];
    let before = NOTICES
        .iter()
        .find_map(|notice| inside.strip_suffix(*notice))?;
    Some((
        scan::trim_end(before).strip_suffix(b")")?,
        SolarisEnd::Sleeping,
    ))
}

fn born(inside: &[u8]) -> Option<(&[u8], SolarisEnd<'_>)> {
    let tail = scan::skip_blanks(inside.strip_prefix(b")")?);
    let (end, tail) = match tail.strip_prefix(b"(returning as child ...)") {
        Some(tail) => (SolarisEnd::Child(NO_NS), tail),
        None => (
            SolarisEnd::NewLwp,
            tail.strip_prefix(b"(returning as new lwp ...)")?,
        ),
    };
    let Some(SolarisEnd::Value(value, _)) = ending(tail) else {
        return None;
    };
    Some((
        b"",
        if end == SolarisEnd::NewLwp {
            end
        } else {
            SolarisEnd::Child(value)
        },
    ))
}

/// Arguments may contain parentheses, so the result is searched for from the right.
fn returned(inside: &[u8]) -> Option<(&[u8], SolarisEnd<'_>)> {
    memchr::memrchr_iter(b')', inside).find_map(|at| {
        let (args, tail) = (inside.get(..at)?, inside.get(at + 1..)?);
        let end = ending(tail)?;
        // Cut after an inner parenthesis: `fcntl(4, F_SETFL, (no flags)`.
        (end != SolarisEnd::Nothing || is_balanced(args)).then_some((args, end))
    })
}

fn is_balanced(args: &[u8]) -> bool {
    let count = |wanted: u8| args.iter().filter(|&&byte| byte == wanted).count();
    args.contains(&b'"') || count(b'(') == count(b')')
}

fn ending(tail: &[u8]) -> Option<SolarisEnd<'_>> {
    let text = scan::trim(tail);
    if text.is_empty() {
        return Some(SolarisEnd::Nothing);
    }
    if text.len() == scan::trim_end(tail).len() {
        return None;
    }
    if let Some(number) = text.strip_prefix(b"Err#") {
        return error(number);
    }
    if let Some(count) = text
        .strip_prefix(b"argc = ")
        .or_else(|| text.strip_prefix(b"argc: "))
    {
        return scan::number(scan::skip_blanks(count))
            .filter(|(_, rest)| rest.is_empty())
            .map(|_| SolarisEnd::Exec);
    }
    let (value, rest) = result(scan::skip_blanks(text.strip_prefix(b"=")?))?;
    let rest = scan::skip_blanks(rest);
    if rest.is_empty() {
        return Some(SolarisEnd::Value(value, NO_NS));
    }
    let (second, rest) = result(scan::skip_blanks(rest.strip_prefix(b"[")?))?;
    (scan::skip_blanks(rest) == b"]").then_some(SolarisEnd::Value(value, second))
}

/// A number, or a word such as `SIG_DFL`.
fn result(text: &[u8]) -> Option<(i64, &[u8])> {
    let (value, rest) = scan::value(text).or_else(|| {
        let (word, rest) = scan::name(text)?;
        word.first()?.is_ascii_uppercase().then_some((NO_NS, rest))
    })?;
    rest.first()
        .is_none_or(|byte| matches!(byte, b' ' | b'\t' | b']'))
        .then_some((value, rest))
}

fn error(text: &[u8]) -> Option<SolarisEnd<'_>> {
    let (number, rest) = scan::number(text)?;
    let rest = scan::skip_blanks(rest);
    let (name, rest) = scan::name(rest).unwrap_or((b"", rest));
    let privilege = scan::skip_blanks(rest);
    let is_whole =
        privilege.is_empty() || (privilege.starts_with(b"[") && privilege.ends_with(b"]"));
    is_whole.then_some(SolarisEnd::Error(number, name))
}

/// Calls whose strings are buffers: two characters for each byte, and quotes not escaped.
fn shows_buffer(name: &[u8]) -> bool {
    const CALLS: [&[u8]; 12] = [
        b"read",
        b"write",
        b"pread",
        b"pwrite",
        b"pread64",
        b"pwrite64",
        b"send",
        b"sendto",
        b"recv",
        b"recvfrom",
        b"getmsg",
        b"putmsg",
    ];
    CALLS.contains(&name)
}

/// The texts between the commas, and their number.
pub(super) fn arguments<'a>(name: &[u8], args: &'a [u8]) -> ([&'a [u8]; scan::MAX_ARGS], usize) {
    let buffers = shows_buffer(name);
    scan::arguments(args, (b"([{", b")]}"), |text, _| string(text, buffers))
}

/// Length of a string with its closing quote, without its opening quote.
fn string(text: &[u8], is_buffer: bool) -> usize {
    if is_buffer {
        // A quote that begins a pair ends the string, because no byte is printed like that.
        let pairs = text.chunks(2).position(|pair| pair.first() == Some(&b'"'));
        // Folded blanks break up the pairs. Then the last quote must end the string.
        let folded = || memchr::memrchr(b'"', text).unwrap_or(text.len());
        return pairs
            .map_or_else(folded, |pairs| pairs * 2)
            .saturating_add(1);
    }
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' if text.get(at + 1) == Some(&b'"') => at += 2,
            _ => at += 1,
        }
    }
    at
}
