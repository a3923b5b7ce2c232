//! The text of a call in a line of any tracer, as far as is needed to put lines together: its arguments, and how it ends.

use crate::scan;
use crate::syscalls;
use memchr::memmem;

/// In front of the name of a call are a prompt, ids, times and a program.
const MAX_PREFIX_BYTES: usize = 120;

/// How the text of a call ends.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum End {
    /// In its arguments, or before its result.
    Open,
    /// With a result.
    Whole,
    /// With -1, so that the error may follow.
    Failed,
}

pub(super) fn end_of(line: &[u8]) -> End {
    let text = scan::trim_end(line);
    if text.ends_with(b"...>") || text.ends_with(b"(sleeping...)") {
        return End::Whole;
    }
    let Some((args, depth)) = arguments_of(text) else {
        return End::Whole;
    };
    let Some(result) = after_arguments(args, depth) else {
        return End::Open;
    };
    let result = scan::trim(result);
    // Of truss: `argc = 1`, `Err#2 ENOENT`, `(returning as child ...)`.
    let says_result = |byte: &u8| b"=#(?".contains(byte);
    if result.ends_with(b"=") || !result.iter().any(says_result) {
        End::Open
    } else if may_name_error(result) {
        End::Failed
    } else {
        let is_quoted = memchr::memchr_iter(b'\'', result).count() % 2 == 1;
        let opened = memchr::memchr_iter(b'(', result).count();
        let timed = memchr::memchr_iter(b'<', result).count();
        let is_open = is_quoted
            || opened > memchr::memchr_iter(b')', result).count()
            || timed > memchr::memchr_iter(b'>', result).count();
        if is_open { End::Open } else { End::Whole }
    }
}

/// Whether a result ends where strace goes on with the name of an error and its meaning: `= -1`, `= -1 ENO`, `= -1 ENOENT`.
fn may_name_error(result: &[u8]) -> bool {
    let name = result.strip_prefix(b"= -1").map(scan::skip_blanks);
    name.is_some_and(|name| name.iter().all(u8::is_ascii_uppercase))
}

/// What follows the bracket that closes these arguments, of which so many are open; `None` if it is missing.
pub(super) fn after_arguments(args: &[u8], mut depth: usize) -> Option<&[u8]> {
    let mut at = 0;
    while let Some(&byte) = args.get(at) {
        at += 1;
        match byte {
            b'"' => at += scan::string_end(args.get(at..).unwrap_or(b"")) + 1,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth > 1 => depth -= 1,
            b')' => return args.get(at..),
            _ => {}
        }
    }
    None
}

/// The arguments of a call from their bracket on, or those of its second half without one: `[pid 7] 12:00:01 read(`,
/// `<... read resumed>`. With the number of brackets that are open before. `None` if the line is neither.
pub(super) fn arguments_of(line: &[u8]) -> Option<(&[u8], usize)> {
    let within = line.get(..MAX_PREFIX_BYTES).unwrap_or(line);
    if let Some(at) = memmem::find(within, b"<... ") {
        let (name, rest) = scan::name(&line[at + 5..])?;
        return syscalls::by_name(name).map(|_| (rest, 1));
    }
    // Frames of stacks have names and brackets, too, and kdump prints results in lines of their own.
    const OTHERS: [&[u8]; 3] = [b" CALL ", b"+0x", b" > /"];
    if OTHERS
        .iter()
        .any(|other| memmem::find(line, other).is_some())
    {
        return None;
    }
    let is_call = |&at: &usize| {
        let before = &line[..at];
        let start = before
            .iter()
            .rposition(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
            .map_or(0, |at| at + 1);
        // A method of an object is none: `socket.bind(`.
        let is_alone = start == 0 || b" \t]|:>".contains(&before[start - 1]);
        is_alone
            && syscalls::by_name(&before[start..]).is_some()
            && memchr::memchr(b'"', before).is_none()
    };
    let at = memchr::memchr_iter(b'(', within).find(is_call)?;
    Some((&line[at..], 0))
}

/// Length of the marks before a quoted line: `> `, `> > `.
pub(super) fn mark_len(line: &[u8]) -> usize {
    let marks = line
        .iter()
        .take_while(|&&byte| byte == b'>' || byte == b' ')
        .count();
    let end = memchr::memrchr(b'>', &line[..marks]).map_or(0, |at| at + 1);
    if end > 0 && line.get(end) == Some(&b' ') {
        end + 1
    } else {
        end
    }
}
