//! The text of one call: name, arguments, and how it ended.

use crate::scan;
use crate::truss_common::{CallText, read_call};
use memchr::memmem;

/// The text after the arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FreebsdEnd {
    /// `= value (0xvalue)`.
    Value(i64),
    /// `ERR#number 'text'`.
    Error(i64),
    /// `ERESTART`: the next line of the thread repeats the call.
    Restarts,
    /// `EJUSTRETURN`: success without a value.
    JustReturns,
    /// Nothing.
    Nothing,
}

/// Read a text without blanks at its ends.
pub(super) fn read(text: &[u8]) -> CallText<'_, FreebsdEnd> {
    read_call(text, name, ending)
}

/// A call's name: `compat11.stat` belongs to an older kernel, `#580` has no name.
fn name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'#' | b'.');
    let end = text.iter().position(|byte| !is_part(byte))?;
    (end > 0 && !text.first()?.is_ascii_digit() && text.first() != Some(&b'.'))
        .then(|| text.split_at(end))
}

/// The name without the mark of another kernel or ABI.
pub(super) fn plain_name(name: &[u8]) -> &[u8] {
    let own = memchr::memrchr(b'.', name)
        .and_then(|at| name.get(at + 1..))
        .unwrap_or(name);
    [&b"linux_"[..], b"freebsd32_"]
        .iter()
        .find_map(|mark| own.strip_prefix(*mark))
        .unwrap_or(own)
}

/// Structures contain commas, parentheses and equals signs, and strings any text, so the result is searched for from
/// the right.
fn ending(inside: &[u8]) -> Option<(&[u8], FreebsdEnd)> {
    if let Some(text) = inside.strip_suffix(b"'") {
        let at = memmem::rfind(text, b"ERR#")?;
        let (number, rest) = scan::number(text.get(at + 4..)?)?;
        return rest.starts_with(b" '").then(|| {
            Some((
                arguments_before(text.get(..at)?)?,
                FreebsdEnd::Error(number),
            ))
        })?;
    }
    for (word, end) in [
        (&b"ERESTART"[..], FreebsdEnd::Restarts),
        (b"EJUSTRETURN", FreebsdEnd::JustReturns),
    ] {
        if let Some(front) = inside.strip_suffix(word) {
            return Some((arguments_before(front)?, end));
        }
    }
    let text = inside.strip_suffix(b")")?;
    match value(text) {
        Some(found) => found,
        None => Some((text, FreebsdEnd::Nothing)),
    }
}

/// `…) = 3 (0x3`; `Some(None)` if the two numbers differ, which happens only in damaged lines.
fn value(text: &[u8]) -> Option<Option<(&[u8], FreebsdEnd)>> {
    let at = memmem::rfind(text, b" (0x")?;
    let (hex, rest) = scan::value(text.get(at + 2..)?)?;
    let front = text.get(..at)?;
    let start = front.iter().rposition(|byte| !byte.is_ascii_digit())?;
    let start = if front.get(start) == Some(&b'-') {
        start
    } else {
        start + 1
    };
    let (decimal, _) = scan::signed(front.get(start..)?)?;
    let args = arguments_before(front.get(..start)?.strip_suffix(b"= ")?)?;
    // 32-bit programs.
    let equal = decimal == hex || (decimal as u32 == hex as u32 && u32::try_from(hex).is_ok());
    Some((rest.is_empty() && equal).then_some((args, FreebsdEnd::Value(decimal))))
}

/// The text before `)` and at least one blank or tab.
fn arguments_before(text: &[u8]) -> Option<&[u8]> {
    let trimmed = scan::trim_end(text);
    (trimmed.len() < text.len()).then(|| trimmed.strip_suffix(b")"))?
}

/// The texts between the bare commas, and their number.
pub(super) fn arguments(args: &[u8]) -> ([&[u8]; scan::MAX_ARGS], usize) {
    scan::arguments(args, (b"([{", b")]}"), string)
}

/// Length of a string with its closing quote, without its opening quote. A quote inside is not escaped, so the string
/// ends at a quote that is followed by the end of an argument.
fn string(text: &[u8], nested: bool) -> usize {
    let closes = |at: &usize| {
        let rest = text.get(at + 1..).unwrap_or(b"");
        let rest = rest.strip_prefix(b"...").unwrap_or(rest);
        match rest.first() {
            None | Some(b',') => true,
            Some(b' ' | b']' | b'}') => nested,
            _ => false,
        }
    };
    memchr::memchr_iter(b'"', text)
        .find(closes)
        .map_or(text.len(), |at| at + 1)
}
