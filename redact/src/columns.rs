//! What stands before, between and after names in lines of fs_usage, gVisor, kdump, perf trace, sysdig and Process Monitor:
//! letters that readers look for. Names of threads and files have no quotes there, so numbers are parts of them.
//!
//! ```text
//! In:   19:43:34.201733  read   F=3   B=0x200   /Users/alice/x   0.076120 W ls.1234
//!       I0928 00:18:54.794008  365 strace.go:593] [  6:  7] alice E close(0x3 /Users/alice/x)
//! Out:  19:43:34.201733  read   F=3   B=0x200   /Users/gkz…/x   0.076120 W ls.1234
//!       I0928 00:18:54.794008  365 strace.go:593] [  6:  7] gkz… E close(0x3 /Users/gkz…/x)
//! ```

use crate::bare::{self, Context};
use crate::names::Names;
use crate::{known, log};
use parsers::scan;
use std::ops::Range;

/// Append a line of fs_usage. Its columns are words between blanks: a stamp, a call, numbers, a path, a duration, a thread.
pub(crate) fn fs_usage(names: &mut Names, line: &[u8], context: Context, out: &mut Vec<u8>) {
    let Some(duration) = last_duration(line) else {
        return words(names, line, is_column, context, out);
    };
    let (columns, rest) = line.split_at(duration);
    let (stamp_and_call, columns) = columns.split_at(words_len(columns, 2));
    let (duration, thread) = rest.split_at(words_len(rest, 1));
    words(names, stamp_and_call, is_column, context, out);
    let is_kept = |word: &[u8]| is_column(word) || is_error(word);
    // `[-2]/x`: a path below a descriptor.
    let name = memchr::memmem::find(columns, b"]/").map_or(0, |at| at + 1);
    words(names, &columns[..name], is_kept, context, out);
    words(names, &columns[name..], is_kept, context.of_name(), out);
    out.extend_from_slice(duration);
    let id = thread.iter().rposition(|&byte| byte == b'.');
    let (thread, id) = thread.split_at(id.unwrap_or(thread.len()));
    words(names, thread, is_column, context.of_name(), out);
    bare::text(names, id, context, out);
}

/// Where the last word begins that is a duration: `0.076120`.
fn last_duration(line: &[u8]) -> Option<usize> {
    let mut end = line.len();
    while let Some(blank) = line[..end].iter().rposition(|&byte| byte == b' ') {
        let word = &line[blank + 1..end];
        let is_duration = word.len() > 7
            && word[word.len() - 7] == b'.'
            && word
                .iter()
                .all(|&byte| byte == b'.' || byte.is_ascii_digit());
        if is_duration {
            return Some(blank + 1);
        }
        end = blank;
    }
    None
}

/// The length of so many words at the beginning of a text, with the blanks around them.
fn words_len(text: &[u8], count: usize) -> usize {
    let is_blank = |byte: &u8| *byte == b' ';
    let skip = |at: usize, wanted: bool| {
        let rest = &text[at..];
        at + rest
            .iter()
            .position(|byte| is_blank(byte) != wanted)
            .unwrap_or(rest.len())
    };
    (0..count).fold(skip(0, true), |at, _| skip(skip(at, false), true))
}

/// `[`, `2]`: an error after the number of a descriptor.
fn is_error(word: &[u8]) -> bool {
    let number = word.strip_prefix(b"[").unwrap_or(word);
    let digits = number.strip_suffix(b"]").unwrap_or(number);
    number.len() < word.len() && digits.is_empty()
        || digits.len() < number.len() && digits.len() <= 3 && digits.iter().all(u8::is_ascii_digit)
}

/// Append a line of gVisor: a call, or a message of the sandbox.
pub(crate) fn gvisor(names: &mut Names, line: &[u8], context: Context, out: &mut Vec<u8>) {
    if let Some(message) = message_of_gvisor(line) {
        words(names, &line[..message], is_head, context, out);
        return log::message(names, &line[message..], out);
    }
    let Some((thread, arguments)) = thread_of_gvisor(line) else {
        let message = memchr::memmem::rfind(line, b"] ").map_or(line.len(), |at| at + 2);
        let context_of_message = match has_unknown_word(&line[message..]) {
            true => context.of_name(),
            false => context,
        };
        words(names, &line[..message], is_head, context, out);
        return bare::text(names, &line[message..], context_of_message, out);
    };
    words(names, &line[..thread.start], is_head, context, out);
    bare::text(names, &line[thread.clone()], context.of_name(), out);
    words(names, &line[thread.end..arguments], is_head, context, out);
    arguments_of_gvisor(names, &line[arguments..], context, out);
}

/// Whether a text has a word that is neither known nor a number: then its numbers are parts of names.
fn has_unknown_word(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    text.split(|byte| !is_part(byte))
        .any(|word| !(word.is_empty() || bare::is_number(word) || known::is_word(word)))
}

/// Where a message begins that is none of a task.
fn message_of_gvisor(line: &[u8]) -> Option<usize> {
    const OF_TASKS: [&[u8]; 2] = [b"strace.go:", b"task_"];
    let end = memchr::memmem::find(line, b"] ")? + 2;
    let start = line[..end - 2].iter().rposition(|&byte| byte == b' ')? + 1;
    let source = &line[start..end];
    let is_message = memchr::memmem::find(source, b".go:").is_some()
        && !OF_TASKS.iter().any(|file| source.starts_with(file));
    is_message.then_some(end)
}

/// Where the name of a thread stands, which precedes ` E ` or ` X `, and where the arguments of its call begin.
fn thread_of_gvisor(line: &[u8]) -> Option<(Range<usize>, usize)> {
    // Ids of tasks in brackets: `[   6:   7] `.
    let open = memchr::memchr(b'[', line)?;
    let start = open + memchr::memmem::find(&line[open..], b"] ")? + 2;
    let mut end = start;
    loop {
        end += memchr::memchr(b' ', &line[end..])?;
        let call = line[end..]
            .strip_prefix(b" E ")
            .or(line[end..].strip_prefix(b" X "));
        if let Some((_, rest)) = call.and_then(scan::name)
            && rest.starts_with(b"(")
        {
            return Some((start..end, line.len() - rest.len()));
        }
        end += 1;
    }
}

/// Append arguments, of which a path begins after a pointer and a blank, and goes on to a comma or the end.
fn arguments_of_gvisor(names: &mut Names, text: &[u8], context: Context, out: &mut Vec<u8>) {
    let last = memchr::memmem::rfind(text, b") = ").or(memchr::memrchr(b')', text));
    let last = last.unwrap_or(text.len());
    let (mut done, mut at) = (0, 0);
    while at < last {
        let start = at + 1;
        if text[at] == b'"' {
            at = start + scan::string_end(&text[start..]);
        } else if text[at] == b' ' && is_pointer(&text[done..at]) && !is_other(&text[start..last]) {
            bare::text(names, &text[done..start], context, out);
            done = start + end_of_path(&text[start..last]);
            bare::text(names, &text[start..done], context.of_name(), out);
            at = done;
            continue;
        }
        at += 1;
    }
    bare::text(names, &text[done..], context, out);
}

/// Whether a text ends with what precedes a path.
fn is_pointer(text: &[u8]) -> bool {
    let word = text
        .rsplit(|byte| b" (,".contains(byte))
        .next()
        .unwrap_or(b"");
    word.starts_with(b"0x") || word == b"AT_FDCWD"
}

/// Whether an argument after a pointer is no path: a string, a structure, a list, or a socket such as `pipe:[5]`.
fn is_other(text: &[u8]) -> bool {
    let argument = &text[..end_of_path(text)];
    let is_open = matches!(argument.first(), None | Some(b'"' | b'{' | b'['));
    is_open || argument.ends_with(b"]") && memchr::memmem::find(argument, b":[").is_some()
}

/// Where the next argument begins. A name may have commas, and no argument is a decimal number.
fn end_of_path(text: &[u8]) -> usize {
    let is_decimal = |argument: &[u8]| matches!(argument, [b'0'..=b'9', next, ..] if !next.is_ascii_alphabetic());
    let ends = |&comma: &usize| !is_decimal(&text[comma + 2..]);
    memchr::memmem::find_iter(text, b", ")
        .find(ends)
        .unwrap_or(text.len())
}

/// Append a record of kdump: ids, the name of a thread, perhaps a stamp, the kind of the record.
pub(crate) fn kdump(names: &mut Names, line: &[u8], context: Context, out: &mut Vec<u8>) {
    const KINDS: [&[u8]; 10] = [
        b" CALL ", b" RET ", b" NAMI ", b" GIO ", b" STRU ", b" USER ", b" ARGS ", b" CAP ",
        b" PLDG ", b" PSIG ",
    ];
    // Of a process and of a thread.
    const MAX_IDS: usize = 2;
    let kind = KINDS
        .iter()
        .filter_map(|kind| memchr::memmem::find(line, kind))
        .min();
    let (head, rest) = line.split_at(kind.unwrap_or(0));
    let (mut context_of_name, mut ids, mut has_name) = (context, 0, false);
    for word in head.split_inclusive(|&byte| byte == b' ') {
        let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b' ');
        let has_point = word.contains(&b'.');
        // A stamp follows the name. A number after the ids or the first word of a name is a part of it.
        let is_stamp = word.iter().all(is_number) && has_point && (has_name || ids > 1);
        ids += usize::from(word.iter().any(u8::is_ascii_digit) && !has_point);
        has_name |= !is_stamp && (!word.iter().all(is_number) || has_point || ids > MAX_IDS);
        if has_name {
            context_of_name = context.of_name();
        }
        let context = match is_stamp {
            true => context,
            false => context_of_name,
        };
        bare::text(names, word, context, out);
    }
    // The path of a local socket has no quotes, and data of users has any form.
    let path = memchr::memmem::find(rest, b"AF_LOCAL, ");
    let is_data = [&b" USER "[..], b" ARGS ", b" CAP "]
        .iter()
        .any(|kind| rest.starts_with(kind));
    let data = path
        .or(is_data.then_some(5))
        .or(error_text(rest))
        .unwrap_or(rest.len());
    bare::text(names, &rest[..data], context, out);
    bare::text(names, &rest[data..], context.of_name(), out);
}

/// Where the text of an error begins: ` RET   open -1 errno 2 No such file`.
fn error_text(rest: &[u8]) -> Option<usize> {
    let number = memchr::memmem::find(rest, b" errno ")? + 7;
    let digits = rest[number..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    Some(number + digits.count())
        .filter(|_| rest.starts_with(b" RET ") || rest.starts_with(b" PLDG "))
}

/// Append a line of perf trace: `0.014 ( 0.004 ms): worker 1/71 openat(filename: /srv/a b, …`.
pub(crate) fn perf_trace(names: &mut Names, line: &[u8], context: Context, out: &mut Vec<u8>) {
    let start = memchr::memmem::find(line, b"): ").map_or(0, |at| at + 3);
    let (head, rest) = line.split_at(start);
    let thread = thread_len(rest);
    bare::text(names, head, context, out);
    bare::text(names, &rest[..thread], context.of_name(), out);
    // The slash and the id are no path.
    let id = rest[thread..].iter().position(|&byte| byte == b' ');
    let (id, mut rest) = rest[thread..].split_at(id.filter(|_| thread > 0).unwrap_or(0));
    out.extend_from_slice(id);
    while let Some(at) = name_in_perf(rest) {
        let (before, value) = rest.split_at(at);
        let end = match value.first() {
            Some(b'"') => 0,
            _ => next_field(value)
                .or(memchr::memrchr(b')', value))
                .unwrap_or(value.len()),
        };
        bare::text(names, before, context, out);
        let is_pointer = value.starts_with(b"0x") && bare::is_number(&value[..end]);
        let context = match is_pointer {
            true => context,
            false => context.of_name(),
        };
        bare::text(names, &value[..end], context, out);
        rest = &value[end..];
    }
    // The name of a process in parentheses follows the result of a call that created it.
    let thread = memchr::memmem::rfind(rest, b" = ")
        .and_then(|result| Some(result + memchr::memmem::find(&rest[result..], b" (")?))
        .unwrap_or(rest.len());
    bare::text(names, &rest[..thread], context, out);
    bare::text(names, &rest[thread..], context.of_name(), out);
}

/// Where the next field begins: `, flags: `. A name may have commas.
fn next_field(text: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(text, b", ").find(|&comma| {
        let name = text[comma + 2..]
            .iter()
            .take_while(|byte| byte.is_ascii_lowercase() || **byte == b'_' || **byte == b'.');
        let end = comma + 2 + name.count();
        text[end..].starts_with(b": ") && end > comma + 2
    })
}

/// Where the value of the first field begins that is a name: `filename: `, `path: `, `next_comm: `.
fn name_in_perf(text: &[u8]) -> Option<usize> {
    let is_name = |field: &[u8]| {
        [&b"name"[..], b"path", b"comm"]
            .iter()
            .any(|name| field.ends_with(name))
    };
    memchr::memmem::find_iter(text, b": ")
        .find(|&at| is_name(&text[..at]))
        .map(|at| at + 2)
}

/// The length of the name of a thread before a slash, its id, and a call.
fn thread_len(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(slash) = memchr::memchr(b'/', &text[at..]).map(|slash| at + slash) {
        if scan::number(&text[slash + 1..]).is_some_and(|(_, rest)| rest.starts_with(b" ")) {
            return slash;
        }
        at = slash + 1;
    }
    0
}

/// Fields of sysdig whose values are texts of the traced program.
const TEXTS: [&[u8]; 21] = [
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
    b"dev",
    b"key",
    b"value",
];

/// Append a line of sysdig. Its fields are `name=value`; data that is read or written is the last one.
pub(crate) fn sysdig(names: &mut Names, line: &[u8], context: Context, out: &mut Vec<u8>) {
    let (mut is_text, mut is_data, mut is_peer) = (false, false, false);
    // Number, time and processor precede the name of the thread, its id in parentheses follows.
    let start = words_len(line, 3);
    let thread = memchr::memmem::find(&line[start..], b" (").unwrap_or(0);
    let (head, line) = line.split_at(start);
    let (thread, line) = line.split_at(thread);
    bare::text(names, head, context, out);
    bare::text(names, thread, context.of_name(), out);
    let mut context = context;
    for word in line.split_inclusive(|&byte| byte == b' ') {
        let (inside, blank) = word.split_at(word.strip_suffix(b" ").unwrap_or(word).len());
        let equals = memchr::memchr(b'=', inside);
        match equals {
            // Data may look like fields.
            Some(at) if !is_data && known::is_word(&inside[..at]) => {
                is_data = &inside[..at] == b"data";
                is_text = TEXTS.contains(&&inside[..at]);
                out.extend_from_slice(&inside[..=at]);
                let text = &inside[at + 1..];
                // Blanks in the name of a file do not end it.
                is_peer = matches!(&inside[..at], b"addr" | b"tuple");
                let is_path =
                    &inside[..at] == b"addr" && names.address(text, 0, &mut Vec::new()).is_none();
                context.is_name = is_file(text)
                    || is_thread(text)
                    || is_path
                    || has_unknown_word(text)
                    || text.contains(&b'=');
                value(names, text, is_text, context, out);
            }
            _ => {
                // Two addresses, then the path of a local socket.
                context.is_name |= is_peer && inside.starts_with(b"/");
                // A field whose name is not known, or a further word of one.
                let has_name = equals.is_some_and(|at| is_thread(&inside[at + 1..]));
                let is_name = has_name || has_unknown_word(&inside[equals.unwrap_or(0)..]);
                context.is_name = is_name || context.is_name && equals.is_none();
                value(names, inside, is_text, context, out);
            }
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
        let number = match number_len(rest) {
            // Digits after a comma may be a part of a name.
            _ if out.last() != Some(&b'"') && !rest.starts_with(b" ") => 0,
            number => number,
        };
        let (item, mark) = match rest.split_at_checked(number) {
            Some((number, mark)) if number.len() > item.len() => (number, mark),
            _ => (item, mark),
        };
        if number == item.len() && number > 0 {
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
            b"syscall" if !is_key => bare::text(names, inside, context.of_name(), out),
            b"return" if !is_key => result(names, inside, context, out),
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

/// Append a result such as `-1 ENOENT (No such file or directory)`: its number stays.
fn result(names: &mut Names, text: &[u8], context: Context, out: &mut Vec<u8>) {
    let number = memchr::memchr(b' ', text).unwrap_or(text.len());
    let digits = text[..number].strip_prefix(b"-").unwrap_or(&text[..number]);
    let number = if bare::is_number(digits) { number } else { 0 };
    bare::text(names, &text[..number], context, out);
    bare::text(names, &text[number..], context.of_name(), out);
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
    // The first octets of a list seem to be a time.
    if !time
        .iter()
        .all(|byte| byte.is_ascii_digit() || b":.,".contains(byte))
    {
        return false;
    }
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
    let start = match is_thread(text) {
        true => memchr::memchr(b'(', text).unwrap_or(0),
        false => kind_end(text),
    };
    let (before, text) = text.split_at(start);
    out.extend_from_slice(before);
    bare::text(names, text, context, out);
}

/// `3(<f>/etc/passwd`: a descriptor of a file, a directory or a local socket.
fn is_file(text: &[u8]) -> bool {
    let kind = &text[..kind_end(text)];
    [&b"<f>"[..], b"<d>", b"<u>"]
        .iter()
        .any(|file| kind.ends_with(file))
}

/// `71(sh)`: an id and a name.
fn is_thread(text: &[u8]) -> bool {
    let number = scan::number(text);
    number.is_some_and(|(_, rest)| rest.starts_with(b"(") && !rest.starts_with(b"(<"))
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
    is_kept: impl Fn(&[u8]) -> bool,
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
    const FILES: [&[u8]; 5] = [
        b"strace",
        b"config",
        b"task_exit",
        b"task_signals",
        b"task_run",
    ];
    let number = word.strip_suffix(b"]").unwrap_or(word);
    FILES.iter().any(|file| {
        let rest = number
            .strip_prefix(*file)
            .and_then(|rest| rest.strip_prefix(b".go:"));
        rest.is_some_and(bare::is_number)
    })
}
