//! Recognises strace. One line that only strace prints is enough, unless there are as many signs of another tracer.

use super::layout::{Relative, StraceLayout, WallClock, without_colours};
use super::{BYTE_ORDER_MARK, arguments, call_name, events, table};
use crate::format::{Head, Recognition};
use crate::prompt;
use crate::quoting;
use crate::scan;
use crate::syscalls;
use memchr::memmem;
use std::sync::LazyLock;

/// Lines looked at.
const MAX_LINES: usize = 2000;
/// How sure a single call without a result is: the minimum, so that any other format with a sign of its own wins.
const OPEN_CALL_PERCENT: u8 = 30;

/// Lines of a capture of a process that hangs, with the command that a person typed and what they wrote about it.
const MAX_LINES_AROUND_CALL: usize = 20;

/// What a line shows about the format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StraceSign {
    /// Only strace prints this.
    Own,
    /// strace prints this, and also ltrace, which has signs of its own.
    Sure,
    /// A call as strace prints it, but other tracers may print it too.
    Fits,
    /// Of no format in particular.
    Neutral,
    /// Not strace's.
    Unlike,
    /// Another tracer's mark.
    Other,
}

/// Whether a head is of strace.
pub fn recognise(head: Head<'_>) -> Recognition {
    let (mut own, mut other, mut sure, mut fits, mut lines) =
        (0usize, 0usize, 0usize, 0usize, 0usize);
    let mut stamped_begins = 0;
    let mut wrapped = WrappedCall::default();
    for line in head
        .lines()
        .filter(|line| !line.trim_ascii().is_empty())
        .take(MAX_LINES)
    {
        let line = without_colours(line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line));
        let line = quoting::inline_code(&line).unwrap_or(&line);
        let sign = sign(line);
        let (sign, parts) = match sign {
            StraceSign::Unlike => wrapped.add(line),
            sign => {
                wrapped.end();
                (sign, 1)
            }
        };
        match sign {
            StraceSign::Own => own += parts,
            StraceSign::Sure => sure += parts,
            StraceSign::Fits => fits += parts,
            StraceSign::Unlike => stamped_begins += usize::from(is_stamped_begin_of_call(line)),
            StraceSign::Neutral => continue,
            StraceSign::Other => other += 1,
        }
        lines += 1;
    }
    match () {
        // The program under strace may print lines of another tracer.
        () if other > own => Recognition::No,
        () if own + sure > 0 => Recognition::Yes,
        () if fits > 0 => Recognition::Maybe((fits * 100 / lines).min(100) as u8),
        () if lines == 0 && !head.complete => Recognition::NeedMore,
        // Logs have stamps, too, but no message is the beginning of a system call.
        () if stamped_begins > 0 && stamped_begins == lines && head.complete => Recognition::Yes,
        () if lines <= MAX_LINES_AROUND_CALL && head.complete && ends_in_call(head) => {
            Recognition::Maybe(OPEN_CALL_PERCENT)
        }
        () => Recognition::No,
    }
}

/// A call that a mail or a terminal wrapped: its lines, joined, are a call as strace prints it.
#[derive(Default)]
struct WrappedCall {
    text: Vec<u8>,
    parts: usize,
}

impl WrappedCall {
    const MAX_PARTS: usize = 8;
    const MAX_BYTES: usize = 4096;

    /// Add a line that shows nothing by itself. Returns the sign of the call that it completes, and the number of lines.
    fn add(&mut self, line: &[u8]) -> (StraceSign, usize) {
        let is_full =
            self.parts >= Self::MAX_PARTS || self.text.len() + line.len() > Self::MAX_BYTES;
        if is_begin_of_call(line) || is_full {
            self.end();
        }
        if self.parts == 0 && !is_begin_of_call(line) {
            return (StraceSign::Unlike, 1);
        }
        // Wrapping at a blank removes it.
        self.text
            .extend_from_slice(if self.parts == 0 { b"" } else { b" " });
        self.text.extend_from_slice(line.trim_ascii());
        self.parts += 1;
        match sign(&self.text) {
            StraceSign::Unlike => (StraceSign::Unlike, 1),
            joined => (joined, self.end()),
        }
    }

    /// Forget the call. Returns the number of its lines.
    fn end(&mut self) -> usize {
        self.text.clear();
        std::mem::take(&mut self.parts)
    }
}

/// Whether a line begins a known call and does not end it.
fn is_begin_of_call(line: &[u8]) -> bool {
    let body =
        StraceLayout::guess(line).and_then(|layout| layout.prefix(line).map(|prefix| prefix.body));
    let mut args = arguments::ArgumentList::default();
    body.and_then(call_name).is_some_and(|(name, rest)| {
        syscalls::by_name(name).is_some()
            && arguments::split(rest, &mut args).is_none()
            && !line.contains(&b'\t')
    })
}

/// The same after a wall clock.
fn is_stamped_begin_of_call(line: &[u8]) -> bool {
    StraceLayout::guess(line).is_some_and(|layout| layout.clock != WallClock::None)
        && is_begin_of_call(line)
}

/// Whether a capture of a process that hangs has nothing but its call: `flock(3, LOCK_EX`, without a result.
fn ends_in_call(head: Head<'_>) -> bool {
    // Other tracers print a tab before the result. A fence ends a quotation.
    let is_text = |line: &&[u8]| {
        !line.trim_ascii().is_empty() && !line.contains(&b'\t') && !line.starts_with(b"```")
    };
    let last = head.lines().filter(is_text).last();
    let body =
        last.and_then(|line| body_of(without_colours(line).trim_ascii_end()).map(<[u8]>::to_vec));
    let call = body.as_deref().and_then(call_name);
    call.is_some_and(|(name, rest)| {
        let mut args = arguments::ArgumentList::default();
        syscalls::by_name(name).is_some() && arguments::split(rest, &mut args).is_none()
    })
}

fn sign(line: &[u8]) -> StraceSign {
    if is_other(line) {
        return StraceSign::Other;
    }
    if events::is_auxiliary(line) || table::is_rule(line) || prompt::is_tracer_command(line) {
        return StraceSign::Neutral;
    }
    if table::is_head(line) || table::is_row(line) {
        return StraceSign::Sure;
    }
    match StraceLayout::guess(line) {
        Some(layout) => {
            let sign = layout
                .prefix(line)
                .map_or(StraceSign::Unlike, |prefix| body_sign(prefix.body));
            // No other tracer, and no log, prints a difference in parentheses after a clock.
            let is_sure = sign == StraceSign::Fits && layout.relative == Relative::NextToClock;
            if is_sure { StraceSign::Sure } else { sign }
        }
        None if memmem::find(line, b"strace: Process ").is_some() => StraceSign::Own,
        None => StraceSign::Unlike,
    }
}

/// Part of the first line of dtruss. Every line is searched for it, so the search is prepared once.
static DTRUSS_HEAD: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(b"SYSCALL(args)"));

/// Lines that only ltrace, truss or dtruss print.
fn is_other(line: &[u8]) -> bool {
    let ltrace = line.ends_with(b"<no return ...>")
        || line.ends_with(b" +++") && memmem::find(line, b"+++ exited (status ").is_some();
    let library_table = scan::heads_library_table(line);
    let text = line.trim_ascii_start();
    let truss_table = text.starts_with(b"sys totals:") || text.starts_with(b"usr time:");
    let library_call = word_before_parenthesis(line)
        .is_some_and(|word| word.starts_with(b"SYS_") || word.ends_with(b"@SYS"));
    ltrace
        || library_table
        || truss_table
        || library_call
        || line.starts_with(b"Base time stamp:  ")
        || DTRUSS_HEAD
            .find(line)
            .is_some_and(|at| !line[..at].contains(&b'"'))
}

/// `SYS_openat` of `4712 SYS_openat(0xffffff9c, …`.
fn word_before_parenthesis(line: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr(b'(', line)?;
    line[..end].rsplit(|&byte| byte == b' ').next()
}

/// The text after the prefix, whatever the prefix is.
fn body_of(line: &[u8]) -> Option<&[u8]> {
    StraceLayout::guess(line)?
        .prefix(line)
        .map(|prefix| prefix.body)
}

fn body_sign(body: &[u8]) -> StraceSign {
    match body.first() {
        Some(b'<') if memmem::find(body, b" resumed").is_some() => StraceSign::Sure,
        Some(b'+') if body.starts_with(b"+++ exited with") => StraceSign::Own,
        Some(b'+') if body.starts_with(b"+++ killed by") => StraceSign::Sure,
        Some(b'+') if body.starts_with(b"+++ superseded") => StraceSign::Own,
        Some(b'-') if body.starts_with(b"--- stopped by SIG") => StraceSign::Own,
        Some(b'-') if body.starts_with(b"--- SIG") && memmem::find(body, b" {si_").is_some() => {
            StraceSign::Own
        }
        Some(b'-' | b'[') => StraceSign::Fits,
        _ => call_sign(body),
    }
}

fn call_sign(body: &[u8]) -> StraceSign {
    let Some((_, rest)) = call_name(body) else {
        return StraceSign::Unlike;
    };
    let mut args = arguments::ArgumentList::default();
    let Some(result) = arguments::split(rest, &mut args) else {
        let cut = body.ends_with(b" <unfinished ...>") || body.ends_with(b" <detached ...>");
        return if cut {
            StraceSign::Sure
        } else {
            StraceSign::Unlike
        };
    };
    // Commas without blanks are FreeBSD's, capital hexadecimal digits Solaris'.
    let bare_comma = args.list().len() == 1 && bare_comma_outside(args.last());
    if bare_comma || memchr::memchr(b'\t', rest).is_some() {
        return StraceSign::Unlike;
    }
    result_sign(result)
}

/// `3,O_RDONLY,0666`: FreeBSD's commas have no blank after them. The splitter accepts both, so this looks at the text.
fn bare_comma_outside(text: &[u8]) -> bool {
    !text.starts_with(b"\"") && text.contains(&b',')
}

fn result_sign(result: &[u8]) -> StraceSign {
    let (text, timed) = match super::result::duration(result) {
        Some((_, before)) => (before, true),
        None => (result, false),
    };
    if let Some(rest) = text.strip_prefix(b"?") {
        return if rest.is_empty() || rest.starts_with(b" ERESTART") {
            StraceSign::Fits
        } else {
            StraceSign::Unlike
        };
    }
    let Some((value, rest)) = scan::value(text) else {
        return StraceSign::Unlike;
    };
    let printed = &text[..text.len() - rest.len()];
    if printed.starts_with(b"0x") && printed.iter().any(u8::is_ascii_uppercase) {
        return StraceSign::Unlike;
    }
    if value < 0 && rest.starts_with(b" E") && rest.contains(&b'(') && rest.ends_with(b")") {
        return StraceSign::Own;
    }
    let fits = rest.is_empty()
        || rest.starts_with(b"<")
        || rest.starts_with(b" /* ")
        || (rest.starts_with(b" (") && !rest.starts_with(b" (0x"));
    if fits || timed && rest.is_empty() {
        StraceSign::Fits
    } else {
        StraceSign::Unlike
    }
}
