//! What stands before, between and after names in lines of fs_usage, gVisor, sysdig and Process Monitor: letters that readers
//! look for.
//!
//! ```text
//! In:   19:43:34.201733  read   F=3   B=0x200   /Users/alice/x   0.076120 W ls.1234
//!       I0928 00:18:54.794008  365 strace.go:593] [  6:  7] alice E close(0x3 /Users/alice/x)
//! Out:  19:43:34.201733  read   F=3   B=0x200   /Users/gkz…/x   0.076120 W ls.1234
//!       I0928 00:18:54.794008  365 strace.go:593] [  6:  7] gkz… E close(0x3 /Users/gkz…/x)
//! ```

use crate::bare::{self, Context};
use crate::known;
use crate::names::Names;
use parsers::scan;

/// Append a line of fs_usage. Its columns are words between blanks.
pub(crate) fn fs_usage(names: &mut Names, line: &[u8], context: Context, out: &mut Vec<u8>) {
    words(names, line, is_column, context, out);
}

/// Append a line of gVisor, whose call begins here if it has one.
pub(crate) fn gvisor(names: &mut Names, line: &[u8], context: Context, out: &mut Vec<u8>) {
    let call = memchr::memchr(b'(', line).unwrap_or(line.len());
    let (head, call) = line.split_at(call);
    words(names, head, is_head, context, out);
    bare::text(names, call, context, out);
}

/// Fields of sysdig whose values are texts of the traced program.
const TEXTS: [&[u8]; 18] = [
    b"data",
    b"args",
    b"env",
    b"exe",
    b"exepath",
    b"trusted_exepath",
    b"cwd",
    b"name",
    b"filename",
    b"path",
    b"oldpath",
    b"newpath",
    b"target",
    b"linkpath",
    b"comm",
    b"cgroups",
    b"container",
    b"sql",
];

/// Append a line of sysdig. Its fields are `name=value`; data that is read or written is the last one.
pub(crate) fn sysdig(names: &mut Names, line: &[u8], context: Context, out: &mut Vec<u8>) {
    let (mut is_text, mut is_data) = (false, false);
    for word in line.split_inclusive(|&byte| byte == b' ') {
        let (inside, blank) = word.split_at(word.strip_suffix(b" ").unwrap_or(word).len());
        let equals = memchr::memchr(b'=', inside);
        match equals {
            // Data may look like fields.
            Some(at) if !is_data && known::is_word(&inside[..at]) => {
                is_data = &inside[..at] == b"data";
                is_text = TEXTS.contains(&&inside[..at]);
                out.extend_from_slice(&inside[..=at]);
                value(names, &inside[at + 1..], is_text, context, out);
            }
            _ => value(names, inside, is_text, context, out),
        }
        out.extend_from_slice(blank);
    }
}

/// Details of Process Monitor that are numbers for readers.
const NUMBERS: [&[u8]; 5] = [
    b"Length",
    b"PID",
    b"Parent PID",
    b"Thread ID",
    b"Exit Status",
];

/// Append a line of Process Monitor. Its fields are in quotes, and in its paths a backslash escapes nothing.
pub(crate) fn procmon(names: &mut Names, line: &[u8], context: Context, out: &mut Vec<u8>) {
    let mut rest = line;
    while !rest.is_empty() {
        let end = memchr::memchr3(b'"', b'\\', b',', rest).unwrap_or(rest.len());
        let (item, mark) = rest.split_at(end);
        // The thousands of a number may be apart by commas.
        let number = number_len(rest);
        let (item, mark) = match rest.split_at_checked(number) {
            Some((number, mark)) if number.len() > item.len() => (number, mark),
            _ => (item, mark),
        };
        if number_len(rest) == item.len() && number > 0 {
            out.extend_from_slice(item);
        } else if !clock(names, item, context, out) {
            known_or_name(names, item, context, out);
        }
        let (mark, after) = mark.split_at(mark.len().min(1));
        out.extend_from_slice(mark);
        rest = after;
    }
}

/// Append a line of JSON of strace-macos, whose strings are names of calls, constants, results and names.
pub(crate) fn strace_macos(names: &mut Names, line: &[u8], context: Context, out: &mut Vec<u8>) {
    let (mut rest, mut key): (&[u8], &[u8]) = (line, b"");
    while let Some(at) = memchr::memchr(b'"', rest) {
        let (before, string) = rest.split_at(at + 1);
        bare::text(names, &before[..at], context, out);
        out.push(b'"');
        let (inside, after) = string.split_at(scan::string_end(string).min(string.len()));
        let is_key = after.starts_with(b"\":");
        match key {
            b"syscall" | b"return" if !is_key => bare::text(names, inside, context, out),
            _ => known_or_name(names, inside, context, out),
        }
        if is_key {
            key = inside;
        }
        let (mark, after) = after.split_at(after.len().min(1));
        out.extend_from_slice(mark);
        rest = after;
    }
    bare::text(names, rest, context, out);
}

/// Append a text whose words are all known, or what its name becomes.
fn known_or_name(names: &mut Names, text: &[u8], context: Context, out: &mut Vec<u8>) {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let mut words = text
        .split(|byte| !is_part(byte))
        .filter(|word| !word.is_empty());
    if words.all(known::is_word) {
        out.extend_from_slice(text);
    } else {
        bare::name(names, text, false, context.quoting, out);
    }
}

/// Length of a number that readers use: a field of its own, or a detail with its name. Longer ones may be secrets.
fn number_len(text: &[u8]) -> usize {
    const MAX_DIGITS: usize = 10;
    let detail = text.strip_prefix(b" ").unwrap_or(text);
    let value = NUMBERS.iter().find_map(|key| {
        let value = detail.strip_prefix(*key)?.strip_prefix(b": ")?;
        Some(value.strip_prefix(b"-").unwrap_or(value))
    });
    let digits = value.unwrap_or(text);
    let is_part = |byte: &u8| byte.is_ascii_digit() || b",.'".contains(byte);
    let len = digits.iter().take_while(|byte| is_part(byte)).count();
    let len = digits[..len]
        .iter()
        .rposition(u8::is_ascii_digit)
        .map_or(0, |at| at + 1);
    let (number, rest) = digits.split_at(len);
    let count = number.iter().filter(|byte| byte.is_ascii_digit()).count();
    let ends = match value {
        Some(_) => matches!(rest.first(), None | Some(b',' | b'"')),
        None => rest.first() == Some(&b'"'),
    };
    if ends && (1..=MAX_DIGITS).contains(&count) {
        text.len() - rest.len()
    } else {
        0
    }
}

/// Append a time, with the word for the half of the day before or after it.
fn clock(names: &mut Names, item: &[u8], context: Context, out: &mut Vec<u8>) -> bool {
    if !parsers::procmon::is_time(item) {
        return false;
    }
    let start = item.iter().position(u8::is_ascii_digit).unwrap_or(0);
    let (before, rest) = item.split_at(start);
    let end = rest
        .iter()
        .rposition(u8::is_ascii_digit)
        .map_or(0, |at| at + 1);
    let (time, after) = rest.split_at(end);
    for (part, is_word) in [(before, true), (time, false), (after, true)] {
        if is_word && !parsers::procmon::is_half_of_day(part) {
            bare::text(names, part, context, out);
        } else {
            out.extend_from_slice(part);
        }
    }
    true
}

fn value(names: &mut Names, text: &[u8], is_text: bool, context: Context, out: &mut Vec<u8>) {
    if matches!(text, b">" | b"<") {
        return out.extend_from_slice(text);
    }
    if is_text {
        return bare::name(names, text, false, context.quoting, out);
    }
    let (before, text) = text.split_at(kind_end(text));
    out.extend_from_slice(before);
    bare::text(names, text, context, out);
}

/// The end of `3(<4t>`: the number and the kind of a descriptor; 0 without them.
fn kind_end(text: &[u8]) -> usize {
    const MAX_KIND_BYTES: usize = 2;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &text[digits..];
    match memchr::memchr(b'>', rest) {
        Some(at) if rest.starts_with(b"(<") && at <= MAX_KIND_BYTES + 2 => digits + at + 1,
        _ => 0,
    }
}

/// Append the words of a text, and the blanks between them.
fn words(
    names: &mut Names,
    text: &[u8],
    is_kept: fn(&[u8]) -> bool,
    context: Context,
    out: &mut Vec<u8>,
) {
    for word in text.split_inclusive(|&byte| byte == b' ') {
        let (inside, blank) = word.split_at(word.strip_suffix(b" ").unwrap_or(word).len());
        if is_kept(inside) {
            out.extend_from_slice(inside);
        } else {
            bare::text(names, inside, context, out);
        }
        out.extend_from_slice(blank);
    }
}

/// `F=3`, `B=0x200`, `F=3`, with an error after it (`F=3[`), `W`, `(RWC___)`, `RdData[A]`, `<GETPATH>`.
fn is_column(word: &[u8]) -> bool {
    const REQUESTS: [&[u8]; 6] = [
        b"RdData", b"WrData", b"RdMeta", b"WrMeta", b"PgIn", b"PgOut",
    ];
    match word {
        b"W" | b"<READ>" | b"<READ|WRITE>" | b"<READ|EXEC>" => true,
        [
            b'F' | b'B' | b'S' | b'O' | b'A' | b'D' | b'N' | b'P',
            b'=',
            value @ ..,
        ] => is_value(value),
        [b'(', flags @ .., b')'] => are_flags(flags),
        [b'<', name @ .., b'>'] => is_request(name),
        _ => REQUESTS
            .iter()
            .any(|name| word.strip_prefix(*name).is_some_and(is_mark)),
    }
}

/// `3`, `0x200`, `3[`.
fn is_value(text: &[u8]) -> bool {
    let text = text.strip_suffix(b"[").unwrap_or(text);
    let text = text.strip_suffix(b"]").unwrap_or(text);
    bare::is_number(text)
}

/// `RWC___`: the letters are those of flags, in their order.
fn are_flags(text: &[u8]) -> bool {
    const FLAGS: &[u8] = b"RWCATENlLFSVXfB";
    let mut places = FLAGS.iter();
    text.iter()
        .filter(|byte| **byte != b'_')
        .all(|letter| places.any(|flag| flag == letter))
        && !text.is_empty()
}

/// `GETPATH`, `SETLKW`, `CMD=0x4004667f`.
fn is_request(text: &[u8]) -> bool {
    if let Some(number) = text.strip_prefix(b"CMD=") {
        return bare::is_number(number);
    }
    [
        "GETPATH",
        "SETLK",
        "SETLKW",
        "GETLK",
        "SETFD",
        "GETFD",
        "SETFL",
        "GETFL",
        "DUPFD",
        "DUPFD_CLOEXEC",
        "FULLFSYNC",
        "BARRIERFSYNC",
    ]
    .iter()
    .any(|name| name.as_bytes() == text)
}

/// `[A]`, `[AT1]`.
fn is_mark(text: &[u8]) -> bool {
    const MAX_MARK_BYTES: usize = 8;
    text.is_empty()
        || text.starts_with(b"[") && text.ends_with(b"]") && text.len() <= MAX_MARK_BYTES
}

/// `I0928`, `strace.go:593]`, `E`, `X`.
fn is_head(word: &[u8]) -> bool {
    match word {
        b"E" | b"X" => true,
        [b'D' | b'I' | b'W' | b'E' | b'F', day @ ..] if day.len() == 4 => {
            day.iter().all(u8::is_ascii_digit)
        }
        _ => is_source(word),
    }
}

/// `strace.go:593]`, `task_exit.go:204]`: files of gVisor.
fn is_source(word: &[u8]) -> bool {
    const FILES: [&[u8]; 6] = [
        b"strace",
        b"config",
        b"task_exit",
        b"task_signals",
        b"task_run",
        b"loader",
    ];
    let number = word.strip_suffix(b"]").unwrap_or(word);
    FILES.iter().any(|file| {
        let rest = number
            .strip_prefix(*file)
            .and_then(|rest| rest.strip_prefix(b".go:"));
        rest.is_some_and(bare::is_number)
    })
}
