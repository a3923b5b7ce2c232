//! The prefix of a log line: its stamps, in the log's own form or in that of a program.
//!
//! ```text
//! In:   Mar  5 19:43:34 host kernel: [    1.486287] md: stopping all md devices.
//! Out:  since new year 5_514_214 s; since boot 1.486287 s; text `md: stopping all md devices.`
//! ```

use super::date::DateOrder;
use super::programs;
use super::stamp::{self, LogPrefix, MessageForm, StampBase, skip_colour};
use super::stamp_place::StampGrammar;
use crate::scan;

/// The prefix of a line; `None` without a stamp.
pub(super) fn read(line: &[u8], grammar: StampGrammar) -> Option<LogPrefix<'_>> {
    let order = grammar.order;
    let text = scan::trim_end(skip_colour(
        line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
    ));
    let (text, is_structured) = stamp::skip_level(text);
    if let Some(prefix) = stamp::raw(text) {
        return Some(prefix);
    }
    let own = if text.first() == Some(&b'[') {
        stamp::bracketed(text, order)
    } else {
        // A date without a year is more than a date in logcat, which prints ids after it.
        programs::logcat(text).or_else(|| stamp::bare(text, order))
    };
    let mut prefix = own
        .or_else(|| programs::prefix(text, order))
        .or_else(|| grammar.place.find(text, order))?;
    if is_structured {
        prefix.form = MessageForm::Structured;
    }
    prefix.text = skip_colour(prefix.text);
    // Of several stamps, those of another clock are read too; a second one of the same clock is part of the message.
    while prefix.text.first() == Some(&b'[') {
        let Some(more) = stamp::bracketed(prefix.text, order) else {
            break;
        };
        let Some(stamp) = more.stamps[0].filter(|stamp| prefix.at(stamp.base).is_none()) else {
            break;
        };
        prefix.add(stamp);
        prefix.text = skip_colour(more.text);
    }
    inner(&mut prefix, order);
    prefix.text = skip_caller(prefix.text);
    prefix.text = without_unified_columns(prefix.text).unwrap_or(prefix.text);
    Some(prefix)
}

/// The text of a line of macOS' unified log without the columns between the stamp and the process:
/// `0x1a2b  Default  0x0  71  0  loginwindow: text`, with thread, type, activity, process id and lifetime.
fn without_unified_columns(text: &[u8]) -> Option<&[u8]> {
    const TYPES: [&[u8]; 7] = [
        b"Default",
        b"Info",
        b"Debug",
        b"Error",
        b"Fault",
        b"Activity",
        b"State",
    ];
    let mut rest = text;
    let mut column = || {
        let end = memchr::memchr(b' ', rest)?;
        let (word, after) = (rest.get(..end)?, rest.get(end..)?);
        rest = scan::skip_blanks(after);
        Some(word)
    };
    let is_hex = |word: &[u8]| word.starts_with(b"0x");
    let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let fits = column().is_some_and(is_hex)
        && column().is_some_and(|word| TYPES.contains(&word))
        && column().is_some_and(is_hex)
        && column().is_some_and(is_number)
        && column().is_some_and(is_number);
    fits.then_some(rest)
}

/// `kernel: [    1.486287] text` inside syslog: the kernel's own time.
fn inner(prefix: &mut LogPrefix<'_>, order: DateOrder) {
    let Some(at) = memchr::memmem::find(prefix.text.get(..80).unwrap_or(prefix.text), b"kernel: [")
    else {
        return;
    };
    let Some(text) = prefix.text.get(at + 8..) else {
        return;
    };
    if let Some(found) = stamp::bracketed(text, order)
        && let Some(stamp) = found.stamps[0]
            .filter(|stamp| stamp.base == StampBase::Boot && prefix.at(StampBase::Boot).is_none())
    {
        prefix.add(stamp);
        prefix.text = found.text;
        prefix.form = MessageForm::Plain;
    }
}

/// The text without `[   T12] `, the id of the task that logged it.
fn skip_caller(text: &[u8]) -> &[u8] {
    let caller = || {
        let inside = scan::skip_blanks(text.strip_prefix(b"[")?);
        let id = inside
            .strip_prefix(b"T")
            .or_else(|| inside.strip_prefix(b"C"))?;
        Some(scan::skip_blanks(scan::number(id)?.1.strip_prefix(b"]")?))
    };
    caller().unwrap_or(text)
}
