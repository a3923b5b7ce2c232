//! Text outside strings, as tracers print it: calls, numbers, constants, decorations of descriptors.
//!
//! ```text
//! In:   openat(AT_FDCWD</home/alice>, "notes.txt", O_RDONLY) = 3</home/alice/notes.txt> <0.000012>
//! Out:  openat(AT_FDCWD</home/gkz…>, "hjm….txt", O_RDONLY) = 3</home/gkz…/hjm….txt> <0.000012>
//! ```
//! Numbers stay, known words stay, everything else is a name or a string.

use crate::known;
use crate::names::{Names, is_word_byte};
use crate::quoted::{self, Quoting, Style};
use crate::token;
use parsers::scan;

/// Calls that move data: their strings are buffers, unless something names an address.
const MOVES_DATA: [&[u8]; 14] = [
    b"read",
    b"write",
    b"send",
    b"recv",
    b"pread",
    b"pwrite",
    b"kread",
    b"kwrite",
    b"getrandom",
    b"getentropy",
    b"msgrcv",
    b"msgsnd",
    b"putmsg",
    b"getmsg",
];
/// Calls that begin with one of these words and are about names.
const NAMES_DATA: [&[u8]; 2] = [b"readlink", b"sendfile"];
/// What precedes the name of an address in a buffer's call.
const BEFORE_NAMES: [&[u8]; 5] = [
    b"sun_path=",
    b"inet_addr(",
    b"inet_pton(AF_INET6, ",
    b"AF_UNIX ",
    b"if_nametoindex(",
];
/// Calls whose first string is a program.
const EXECUTES: [&[u8]; 6] = [
    b"execve",
    b"execveat",
    b"exec",
    b"exece",
    b"posix_spawn",
    b"__mac_execve",
];

/// What is known of a text before it is read.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub quoting: Quoting,
    /// Strings are buffers.
    pub is_payload: bool,
    /// The first string is a program.
    pub is_program: bool,
    /// The text is one of the traced program without quotes: its numbers are parts of names.
    pub is_name: bool,
    /// The text is a frame of a stack: its offsets, addresses and lines are numbers.
    pub is_frame: bool,
}

impl Context {
    /// Of a line with this call.
    pub fn of(quoting: Quoting, call: &[u8]) -> Context {
        let call = call.strip_prefix(b"SYS_").unwrap_or(call);
        let starts = |names: &[&[u8]]| names.iter().any(|name| call.starts_with(name));
        // vmsplice, process_vm_readv, preadv2, mq_timedsend.
        let is_vector =
            call.ends_with(b"readv") || call.ends_with(b"writev") || call.starts_with(b"mq_timed");
        Context {
            quoting,
            is_payload: (starts(&MOVES_DATA) || is_vector) && !starts(&NAMES_DATA),
            is_program: EXECUTES.contains(&call),
            is_name: false,
            is_frame: false,
        }
    }

    /// Of a name without quotes in such a line.
    pub fn of_name(self) -> Context {
        Context {
            is_name: true,
            ..self
        }
    }

    /// Of a frame of a stack.
    pub fn of_frame(self) -> Context {
        Context {
            is_frame: true,
            ..self.of_name()
        }
    }
}

/// Append the text.
pub(crate) fn text(names: &mut Names, text: &[u8], context: Context, out: &mut Vec<u8>) {
    let mut context = context;
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
            b'[' => bytes_of_address(names, text, at, out),
            b'\'' => single_quoted(names, text, at, context, out),
            b'/' if text[at..].starts_with(b"/*") => comment(names, text, at, context, out),
            b'"' => string(names, text, at, &mut context, out),
            b'<' => decoration(names, text, at, context, out),
            b'/' => path(names, text, at, out),
            b'\\' => backslash(text, at, out),
            _ if is_word_byte(byte) || byte == b'_' || byte == b':' => {
                word(names, text, at, context, out)
            }
            0..=8 | 11..=31 | 127 => {
                // Control characters are no part of any format, and of no word. Those of colours stay.
                let color = token::color_len(&text[at..]);
                out.extend_from_slice(&text[at..at + color]);
                if color == 0 {
                    out.push(b' ');
                }
                color.max(1)
            }
            _ => {
                out.push(byte);
                1
            }
        };
    }
}

/// Append the bytes of an address of hardware, as in `sll_addr=[0x58, …]`, or the bracket; returns its length.
fn bytes_of_address(names: &Names, text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let is_address = text[..at].ends_with(b"addr=") || text[..at].ends_with(b"sa_data=");
    let Some((octets, used)) = token::byte_list(&text[at..]).filter(|_| is_address) else {
        out.push(b'[');
        return 1;
    };
    let made: Vec<String> = names
        .hardware(&octets)
        .iter()
        .map(|octet| format!("{octet:#x}"))
        .collect();
    out.extend_from_slice(format!("[{}]", made.join(", ")).as_bytes());
    used
}

/// Append a text in single quotes, such as a message of an error or a character, or the quote; returns its length.
fn single_quoted(
    names: &mut Names,
    text: &[u8],
    at: usize,
    context: Context,
    out: &mut Vec<u8>,
) -> usize {
    let is_apostrophe = at > 0 && is_word_byte(text[at - 1]);
    out.push(b'\'');
    if is_apostrophe {
        return 1;
    }
    // The line may be cut within.
    let rest = &text[at + 1..];
    let length = memchr::memchr(b'\'', rest).map_or(rest.len(), |end| end + 1);
    let inside = rest[..length].strip_suffix(b"'").unwrap_or(rest);
    self::text(names, inside, context.of_name(), out);
    out.extend_from_slice(&rest[inside.len()..length]);
    length + 1
}

/// Append a comment of the tracer, or its beginning; returns its length. A count or a date stays, other numbers are of texts.
fn comment(
    names: &mut Names,
    text: &[u8],
    at: usize,
    context: Context,
    out: &mut Vec<u8>,
) -> usize {
    out.extend_from_slice(b"/*");
    let inside = &text[at + 2..];
    let length = memchr::memmem::find(inside, b"*/").unwrap_or(inside.len());
    let inside = &inside[..length];
    let context = match is_count(inside.trim_ascii()) || is_date(inside.trim_ascii()) {
        true => context,
        false => context.of_name(),
    };
    self::text(names, inside, context, out);
    length + 2
}

/// `35 vars`, `3 entries, 1 more`: each number has a known word after it.
fn is_count(text: &[u8]) -> bool {
    let mut words = text.split(u8::is_ascii_whitespace).peekable();
    while let Some(word) = words.next() {
        let is_counted = words.peek().is_some_and(|next| {
            let word = next.strip_suffix(b",").unwrap_or(next);
            !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic) && known::is_word(word)
        });
        if word.iter().any(u8::is_ascii_digit) && !(is_number(word) && is_counted) {
            return false;
        }
    }
    true
}

/// `2026-11-28T19:43:34+0100`, which strace prints next to seconds.
fn is_date(text: &[u8]) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    const MAX_BYTES: usize = 35;
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    };
    let is_rest = |byte: &u8| byte.is_ascii_digit() || b".+-Z".contains(byte);
    (FORM.len()..=MAX_BYTES).contains(&text.len())
        && text.iter().zip(FORM).all(fits)
        && text[FORM.len()..].iter().all(is_rest)
}

/// Append an escape outside of strings; returns its length. Only control characters are shortened to a letter; a backslash
/// before anything else is doubled, so that it does not escape the first letter of a pseudonym.
pub(crate) fn backslash(text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    out.push(b'\\');
    match text.get(at + 1) {
        Some(&letter) if b"nrtbf\"\\/".contains(&letter) => {
            out.push(letter);
            2
        }
        _ => {
            out.push(b'\\');
            1
        }
    }
}

/// Append a string with its quotes; returns its length.
fn string(
    names: &mut Names,
    text: &[u8],
    at: usize,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> usize {
    let inner = &text[at + 1..];
    let before = &text[..at];
    let before = before.strip_suffix(b"@").unwrap_or(before);
    let is_payload = context.is_payload && !BEFORE_NAMES.iter().any(|name| before.ends_with(name));
    let (length, is_closed) = context.quoting.length(inner, is_payload);
    let inner = &inner[..length];
    out.push(b'"');
    if let Some(made) = socket_address(names, before, inner) {
        quoted::encode(&made, Style::AllHex, context.quoting, out);
    } else if is_payload {
        let (_, style) = quoted::decoded(inner);
        quoted::fill(
            context.quoting.shown_bytes(inner, true),
            style,
            context.quoting,
            out,
        );
    } else {
        name(names, inner, context.is_program, context.quoting, out);
        context.is_program = false;
    }
    if is_closed {
        out.push(b'"');
    }
    length + 1 + usize::from(is_closed)
}

/// What replaces the bytes of a port or an address: `sin_addr="\x7f\x00\x00\x01"`.
fn socket_address(names: &mut Names, before: &[u8], inner: &[u8]) -> Option<Vec<u8>> {
    if !inner.starts_with(b"\\x") {
        return None;
    }
    let (bytes, _) = quoted::decoded(inner);
    match bytes.len() {
        2 if before.ends_with(b"sin_port=") || before.ends_with(b"sin6_port=") => Some(bytes),
        4 if before.ends_with(b"sin_addr=") => names.v4(&bytes),
        16 if before.ends_with(b"sin6_addr=") => names.v6(&bytes),
        _ => None,
    }
}

/// Append what a name with escapes becomes.
pub(crate) fn name(
    names: &mut Names,
    inner: &[u8],
    is_program: bool,
    quoting: Quoting,
    out: &mut Vec<u8>,
) {
    if memchr::memchr(b'\\', inner).is_none() {
        return names.text(inner, is_program, out);
    }
    let (bytes, style) = quoted::decoded(inner);
    let mut made = Vec::with_capacity(bytes.len() * 2);
    names.text(&bytes, is_program, &mut made);
    quoted::encode(&made, style, quoting, out);
}

/// Append a decoration such as `</etc/passwd>`, `<TCP:[…]>` or `<sh>`, or what else begins with this character.
fn decoration(
    names: &mut Names,
    text: &[u8],
    at: usize,
    context: Context,
    out: &mut Vec<u8>,
) -> usize {
    let before = &text[..at];
    let follows = before.last().is_some_and(u8::is_ascii_digit)
        || before.ends_with(b"AT_FDCWD")
        || before.ends_with(b"*/");
    let length = if follows {
        scan::decoration_len(&text[at..])
    } else {
        0
    };
    out.push(b'<');
    if length < 2 {
        return 1;
    }
    let inside = &text[at + 1..at + length - 1];
    decorated(names, inside, context, out);
    out.push(b'>');
    length
}

fn decorated(names: &mut Names, inside: &[u8], context: Context, out: &mut Vec<u8>) {
    // `/dev/pts/2<char 136:2>`, `1234<sh>`.
    if let Some(nested) = memchr::memchr(b'<', inside).filter(|_| inside.ends_with(b">")) {
        decorated(names, &inside[..nested], context, out);
        out.push(b'<');
        decorated(names, &inside[nested + 1..inside.len() - 1], context, out);
        return out.push(b'>');
    }
    let is_kind = || {
        let end = inside
            .iter()
            .position(|&byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
        end.is_some_and(|end| known::is_word(&inside[..end]) && is_of_kind(&inside[end..]))
            || inside.starts_with(b"UNIX-")
            || inside.starts_with(b"{")
    };
    if inside.first() != Some(&b'/') && is_kind() {
        text(
            names,
            inside,
            Context {
                is_payload: false,
                is_program: false,
                ..context
            },
            out,
        );
    } else {
        let (plain, deleted) = match inside.strip_suffix(b" (deleted)") {
            Some(plain) => (plain, &b" (deleted)"[..]),
            None => (inside, &b""[..]),
        };
        name(names, plain, false, Quoting::Backslash, out);
        out.extend_from_slice(deleted);
    }
}

/// Whether what follows a word in a decoration belongs to a kind of descriptor: `socket:[4711]`, `char 136:2`. Names of threads
/// have blanks and colons too.
fn is_of_kind(rest: &[u8]) -> bool {
    match rest {
        [b':', rest @ ..] => !rest.first().is_some_and(u8::is_ascii_digit),
        [b' ', rest @ ..] => {
            let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b':';
            rest.iter().all(is_part)
        }
        _ => false,
    }
}

/// Append a path outside quotes, if one begins here.
fn path(names: &mut Names, text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let before = at.checked_sub(1).map(|before| text[before]);
    let rest = &text[at..];
    let begins = before.is_none_or(|byte| b" \t=(,[{:|@>'".contains(&byte));
    let end = rest
        .iter()
        .position(|byte| b" \t,()<>\"';|&]}\\".contains(byte))
        .unwrap_or(rest.len());
    if !begins || end < 2 || !is_word_byte(rest[1]) && !matches!(rest[1], b'.' | b'_' | b'-') {
        out.push(b'/');
        return 1;
    }
    names.text(&rest[..end], false, out);
    end
}

/// The word at a place, unless something else is there: that is appended, and this is its length.
pub(crate) fn word_at<'a>(
    names: &mut Names,
    text: &'a [u8],
    at: usize,
    out: &mut Vec<u8>,
) -> Result<&'a [u8], usize> {
    if let Some(used) = names.address(text, at, out) {
        return Err(used);
    }
    let rest = &text[at..];
    let end = rest
        .iter()
        .position(|&byte| !(is_word_byte(byte) || byte == b'_'))
        .unwrap_or(rest.len());
    if end == 0 {
        out.push(rest[0]);
        return Err(1);
    }
    Ok(&rest[..end])
}

/// Append a number or a word; returns its length.
fn word(names: &mut Names, text: &[u8], at: usize, context: Context, out: &mut Vec<u8>) -> usize {
    let token = match word_at(names, text, at, out) {
        Ok(token) => token,
        Err(used) => return used,
    };
    let end = token.len();
    let is_pointer = || {
        let around = (
            at.checked_sub(1).map(|before| text[before]),
            text.get(at + end),
        );
        around == (Some(b'['), Some(&b']'))
            && matches!(end, 8 | 16)
            && token.iter().all(u8::is_ascii_hexdigit)
    };
    let is_kept = match context {
        Context { is_frame: true, .. } => is_of_frame(text, at, end),
        Context { is_name: true, .. } => false,
        _ => is_number(token) || is_pointer(),
    };
    if is_kept {
        out.extend_from_slice(token);
    } else {
        identifier(names, token, out);
    }
    end
}

/// Whether the token of a frame at a place is an offset (`+0x12)`), an address (`[0x1eac20]`) or a line (`a.c:12`).
fn is_of_frame(text: &[u8], at: usize, length: usize) -> bool {
    const MAX_LINE_DIGITS: usize = 6;
    let (token, after) = (&text[at..at + length], text.get(at + length));
    let is_hex = token.starts_with(b"0x") && is_number(token);
    match at.checked_sub(1).map(|before| text[before]) {
        Some(b'+') => is_hex && after.is_none_or(|byte| b") \r".contains(byte)),
        Some(b'[') => is_hex && after == Some(&b']'),
        Some(b':') => {
            let is_line = length <= MAX_LINE_DIGITS && token.iter().all(u8::is_ascii_digit);
            is_line && after.is_none_or(|byte| b") \r".contains(byte))
        }
        _ => false,
    }
}

/// Units that follow a number without a blank, and parts of dates.
const UNITS: [&[u8]; 21] = [
    b"",
    b"s",
    b"ms",
    b"us",
    b"ns",
    b"m",
    b"h",
    b"d",
    b"K",
    b"M",
    b"G",
    b"k",
    b"B",
    b"KiB",
    b"MiB",
    b"GiB",
    b"Z",
    b"min",
    b"x",
    "µs".as_bytes(),
    "Âµs".as_bytes(),
];

/// `4711`, `0x7ffd8a10`, `12ms`, `27T20`.
pub(crate) fn is_number(token: &[u8]) -> bool {
    if let Some(hex) = token
        .strip_prefix(b"0x")
        .or_else(|| token.strip_prefix(b"0X"))
    {
        return hex.len() <= 16 && hex.iter().all(u8::is_ascii_hexdigit);
    }
    if let Some(octal) = token.strip_prefix(b"0o") {
        return octal.len() <= 6 && octal.iter().all(|byte| (b'0'..=b'7').contains(byte));
    }
    let digits = token
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(token.len());
    let (number, unit) = token.split_at(digits);
    // 2^64 has 20 digits.
    (1..=20).contains(&digits) && (UNITS.contains(&unit) || number.len() == 2 && is_day_time(unit))
}

/// The end of a day and the hour after it, or an hour and its zone: `T20`, `T20Z`.
fn is_day_time(unit: &[u8]) -> bool {
    matches!(unit, [b'T', b'0'..=b'2', b'0'..=b'9'])
}

/// Append a word that is no number.
pub(crate) fn identifier(names: &mut Names, token: &[u8], out: &mut Vec<u8>) {
    if is_known(token) || known::is_name(token) || names.kept.has(token) {
        return out.extend_from_slice(token);
    }
    each_part(token, out, |part, out| {
        if !part.is_empty() {
            names.unknown(part, out);
        }
    });
}

/// Append underscores, and what is appended for each part between them.
pub(crate) fn each_part(
    token: &[u8],
    out: &mut Vec<u8>,
    mut append: impl FnMut(&[u8], &mut Vec<u8>),
) {
    for (number, part) in token.split(|&byte| byte == b'_').enumerate() {
        if number > 0 {
            out.push(b'_');
        }
        append(part, out);
    }
}

/// A known word, or one with a small number after it: `arg2`, `RT_12`, `CPU0`; an unknown call: `syscall_0x14e`.
fn is_known(token: &[u8]) -> bool {
    const MAX_DIGITS: usize = 3;
    if known::is_word(token) {
        return true;
    }
    if let Some(number) = token.strip_prefix(b"syscall_") {
        return number.len() <= 6 && is_number(number);
    }
    let letters = token
        .iter()
        .rposition(|byte| !byte.is_ascii_digit())
        .map_or(0, |at| at + 1);
    let (word, digits) = token.split_at(letters);
    let is_known = || known::is_word(word) || word.strip_suffix(b"_").is_some_and(known::is_word);
    // `a2` and `e5` may be octets.
    letters > 1 && !digits.is_empty() && digits.len() <= MAX_DIGITS && is_known()
}
