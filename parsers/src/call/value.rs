//! Single arguments: descriptors, paths, sub-operations, times.

use crate::facts::Access;
use crate::scan;
use memchr::{memchr, memchr_iter, memmem, memrchr};

const NS_PER_S: i64 = 1_000_000_000;
/// Longest sub-operation. A longer text is a structure in an unexpected place.
const MAX_OP_BYTES: usize = 120;

/// Descriptors read from one list; the rest is ignored.
const MAX_FDS: usize = 1024;
/// Longest decoration in a list: a path with each byte escaped.
const MAX_DECORATION_BYTES: usize = 4 * 4096;

/// Whether this is the metadata of a file, in the form `{st_mode=…}`.
pub fn is_metadata(arg: &[u8]) -> bool {
    arg.starts_with(b"{st_")
}

/// Whether the metadata of a file, `{st_mode=S_IFIFO|0644, …}`, is that of a fifo or pipe.
pub fn is_fifo(metadata: &[u8]) -> bool {
    // It is short, and has hardly another S.
    memchr_iter(b'S', metadata).any(|at| metadata[at..].starts_with(b"S_IFIFO"))
}

/// What is registered with a descriptor at an epoll, from `{events=EPOLLIN, data={u32=7, u64=7}}`, or from a list of
/// one such event.
pub fn event_data(event: &[u8]) -> Option<u64> {
    let at = memmem::find(event, b"u64=")?;
    let digits = &event[at + 4..];
    let end = digits
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(digits.len());
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

/// Whether an event is registered so that each change of its descriptor is reported only once.
pub fn is_edge_triggered(event: &[u8]) -> bool {
    memmem::find(event, b"EPOLLET").is_some() || memmem::find(event, b"EPOLLONESHOT").is_some()
}

/// A timeout as printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timeout {
    /// NULL or -1.
    Never,
    /// Nanoseconds, not negative.
    After(i64),
}

/// A descriptor: `3`, `3</etc/passwd>`, `0x3`. `AT_FDCWD</srv>` is not a descriptor.
pub fn fd(arg: &[u8]) -> Option<i32> {
    if let [digit @ b'0'..=b'9', b'<', ..] | [digit @ b'0'..=b'9'] = arg {
        return Some(i32::from(digit - b'0'));
    }
    let (value, rest) = scan::value(arg)?;
    let ends = matches!(
        rest.first(),
        None | Some(b'<' | b' ' | b'/' | b',' | b']' | b'}')
    );
    // Raw 32-bit values: 0xffffffff is -1.
    (ends && (0..=i64::from(i32::MAX)).contains(&value)).then_some(value as i32)
}

/// How a file is opened by these flags: names (perf prints them without `O_`) or a number.
pub fn access(flags: &[u8]) -> Access {
    let has = |word: &[u8]| memmem::find(flags, word).is_some();
    let number = || scan::value(flags).map_or(0, |(flags, _)| flags & 3);
    match () {
        () if flags.starts_with(b"O_RDONLY") => Access::Reads,
        () if has(b"WRONLY") => Access::Writes,
        () if has(b"RDWR") => Access::Both,
        () => [Access::Reads, Access::Writes, Access::Both, Access::Reads][number() as usize & 3],
    }
}

/// Whether each write to a file opened with these flags waits until the data is on disk. Flags printed as a number do
/// not show it.
pub fn syncs_writes(flags: &[u8]) -> bool {
    let word = |word: &[u8]| {
        matches!(
            word,
            b"O_SYNC" | b"O_DSYNC" | b"O_FSYNC" | b"SYNC" | b"DSYNC"
        )
    };
    flags
        .split(|&byte| byte == b'|')
        .any(|flag| word(flag.trim_ascii()))
}

/// Whether the flags of a mapping, printed as a number, include MAP_SHARED or MAP_SHARED_VALIDATE.
pub fn shares_memory(flags: &[u8]) -> bool {
    flags.first().is_some_and(u8::is_ascii_digit)
        && scan::value(flags).is_some_and(|(flags, _)| flags & 1 != 0)
}

/// The text in the angle brackets of `3</etc/passwd>`, without a nested device `<char 1:3>`.
pub fn decoration(arg: &[u8]) -> Option<&[u8]> {
    // The number before it is short.
    let start = arg.iter().position(|&byte| byte == b'<')? + 1;
    // `/* AT_FDCWD */<…>` is a decoration; `<... resuming` and `<unfinished` are not.
    let before = arg.get(start.checked_sub(2)?)?;
    if !(before.is_ascii_alphanumeric() || *before == b'/') {
        return None;
    }
    let end = arg
        .iter()
        .rposition(|&byte| byte == b'>')
        .filter(|&end| end > start)?;
    let inner = &arg[start..end];
    if inner.last() != Some(&b'>') {
        return Some(inner);
    }
    let device = memmem::rfind(inner, b"<char ").or_else(|| memmem::rfind(inner, b"<block "));
    Some(device.filter(|&at| at > 0).map_or(inner, |at| &inner[..at]))
}

/// The text of a quoted path, still escaped; `None` if it is not a string.
pub fn path_text(arg: &[u8]) -> Option<&[u8]> {
    let inner = arg.strip_prefix(b"\"")?;
    let text = memrchr(b'"', inner).map(|end| &inner[..end])?;
    // dtruss prints the terminating zero as `\0`. After another backslash, it is the digit 0.
    Some(
        text.strip_suffix(b"\\0")
            .filter(|path| path.last() != Some(&b'\\'))
            .unwrap_or(text),
    )
}

/// Whether a path, still escaped, begins at the root.
pub fn is_absolute(path: &[u8]) -> bool {
    path.starts_with(b"/") || path.starts_with(b"\\x2f") || path.starts_with(b"\\57")
}

/// Append a text with its escapes (`\n`, `\"`, octal, `\x…`) decoded.
pub fn unescape(mut text: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = memchr(b'\\', text) {
        out.extend_from_slice(&text[..at]);
        let (byte, rest) = escape(&text[at + 1..]);
        out.push(byte);
        text = rest;
    }
    out.extend_from_slice(text);
}

/// The byte that an escape represents, and the text after it. A lone backslash at the end represents itself.
fn escape(text: &[u8]) -> (u8, &[u8]) {
    let Some((&first, rest)) = text.split_first() else {
        return (b'\\', text);
    };
    match first {
        b'n' => (b'\n', rest),
        b't' => (b'\t', rest),
        b'r' => (b'\r', rest),
        b'v' => (11, rest),
        b'f' => (12, rest),
        b'a' => (7, rest),
        b'b' => (8, rest),
        b'0'..=b'7' => digits(text, 8, 3),
        b'x' if rest.first().is_some_and(u8::is_ascii_hexdigit) => digits(rest, 16, 2),
        _ => (first, rest),
    }
}

fn digits(text: &[u8], radix: u32, max: usize) -> (u8, &[u8]) {
    let (mut value, mut used) = (0u32, 0);
    while let Some(digit) = text
        .get(used)
        .filter(|_| used < max)
        .and_then(|&byte| (byte as char).to_digit(radix))
    {
        value = value * radix + digit;
        used += 1;
    }
    (value as u8, &text[used..])
}

/// A sub-operation: the name of an ioctl request without its alternatives, a futex operation without its flags.
pub fn op_text(arg: &[u8]) -> &[u8] {
    if arg.first().is_some_and(u8::is_ascii_digit) {
        // -X verbose: `0x5401 /* TCGETS */`.
        return comment(arg).map_or_else(|| word(arg), without_clock);
    }
    let arg = without_clock(&arg[..arg.len().min(MAX_OP_BYTES)]);
    if arg.starts_with(b"FUTEX_") {
        return arg;
    }
    if !arg.first().is_some_and(u8::is_ascii_uppercase) {
        return if matches!(arg.first(), Some(b'_' | b'(' | b'-')) {
            arg
        } else {
            b""
        };
    }
    match memmem::find(arg, b" or ") {
        None => arg,
        // In `SNDCTL_TMR_TIMEBASE or TCGETS`, the request of terminals is nearly always meant.
        Some(first_end) => {
            let last = &arg[memmem::rfind(arg, b" or ").map_or(0, |at| at + 4)..];
            if last.starts_with(b"TC") || last.starts_with(b"TIOC") {
                last
            } else {
                &arg[..first_end]
            }
        }
    }
}

/// The name of a futex operation, without its flags.
fn without_clock(op: &[u8]) -> &[u8] {
    if op.starts_with(b"FUTEX_") {
        &op[..memchr(b'|', op).unwrap_or(op.len())]
    } else {
        op
    }
}

/// The text inside `/* … */`.
fn comment(arg: &[u8]) -> Option<&[u8]> {
    let start = memmem::find(arg, b" /* ")? + 4;
    let inner = &arg[start..];
    memmem::find(inner, b" */").map(|end| &inner[..end])
}

/// The text up to a blank or a decoration.
pub fn word(arg: &[u8]) -> &[u8] {
    let end = arg
        .iter()
        .position(|byte| matches!(byte, b' ' | b'<' | b','))
        .unwrap_or(arg.len());
    &arg[..end]
}

/// An id: that of the tracer's view if both are printed. "Any" (-1) is not an id.
pub fn id_text(arg: &[u8]) -> &[u8] {
    let own = word(arg);
    if own == b"-1"
        || !own
            .iter()
            .all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'-' | b'x'))
    {
        return b"";
    }
    match comment(arg) {
        Some(inner) if tracer_id(arg).is_some() => word(inner),
        _ => own,
    }
}

/// The id in `/* 12276 in strace's PID NS */`.
pub fn tracer_id(text: &[u8]) -> Option<i32> {
    let (id, rest) = scan::number(comment(text)?)?;
    rest.starts_with(b" in ")
        .then(|| i32::try_from(id).ok())
        .flatten()
}

/// A timeout in a structure: `{tv_sec=0, tv_nsec=20000000}`, `{0, 20000000}`, `{ 0.020000000 }`; NULL means never.
/// `small_ns` is the unit of the second number.
pub fn timeout(arg: &[u8], small_ns: i64) -> Option<Timeout> {
    if arg == b"NULL" || arg == b"0x0" || arg == b"0x00000000" {
        return Some(Timeout::Never);
    }
    let inner = arg.strip_prefix(b"{")?;
    let (seconds, rest) = first_number(inner)?;
    let whole_ns = seconds.checked_mul(NS_PER_S)?;
    if rest.first() == Some(&b'.') {
        let start = inner.iter().position(u8::is_ascii_digit)?;
        return scan::seconds(&inner[start..]).map(|(ns, ..)| Timeout::After(ns));
    }
    let (small, _) = first_number(&rest[memchr(b',', rest)?..])?;
    let ns = whole_ns.checked_add(small.checked_mul(small_ns)?)?;
    Some(Timeout::After(ns.max(0)))
}

fn first_number(text: &[u8]) -> Option<(i64, &[u8])> {
    let start = text
        .iter()
        .position(|byte| byte.is_ascii_digit() || *byte == b'-')?;
    scan::signed(&text[start..])
}

/// A timeout in milliseconds; a negative one means never.
pub fn milliseconds(arg: &[u8]) -> Option<Timeout> {
    let (value, rest) = scan::value(arg)?;
    // Raw or unsigned: 0xffffffff and 4294967295 are -1.
    let value = if value > i64::from(i32::MAX) {
        i64::from(value as i32)
    } else {
        value
    };
    let ends = rest.is_empty() || rest.starts_with(b" ");
    ends.then(|| {
        if value < 0 {
            Timeout::Never
        } else {
            Timeout::After(value * 1_000_000)
        }
    })
}

/// The inside of a string at the start, still escaped.
pub fn string(text: &[u8]) -> &[u8] {
    let Some(inner) = text.strip_prefix(b"\"") else {
        return b"";
    };
    &inner[..scan::string_end(inner)]
}

/// Each descriptor of a list, with its text: `[{fd=3<…>, events=…}, …]` where `polled`, else `[3<…> 4<…>]`, `[3, 4]`, `5`.
pub fn each_fd<'a>(arg: &'a [u8], polled: bool, mut found: impl FnMut(i32, &'a [u8])) {
    let mut rest = arg;
    if polled && memmem::find(arg, b"fd=").is_some() {
        for _ in 0..MAX_FDS {
            let Some(at) = memmem::find(rest, b"fd=") else {
                return;
            };
            rest = item(&rest[at + 3..], &mut found);
        }
        return;
    }
    for _ in 0..MAX_FDS {
        let start = rest
            .iter()
            .position(|byte| !matches!(byte, b'[' | b']' | b'{' | b'}' | b' ' | b','));
        let Some(start) = start.filter(|&start| rest[start].is_ascii_digit()) else {
            return;
        };
        rest = item(&rest[start..], &mut found);
        let next = rest
            .iter()
            .position(|byte| matches!(byte, b' ' | b','))
            .unwrap_or(rest.len());
        rest = &rest[next..];
    }
}

/// Read a descriptor and its decoration at the start; returns the rest.
fn item<'a>(text: &'a [u8], found: &mut impl FnMut(i32, &'a [u8])) -> &'a [u8] {
    let digits = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let decoration = &text[digits..];
    let end =
        digits + scan::decoration_len(&decoration[..decoration.len().min(MAX_DECORATION_BYTES)]);
    if let Some(fd) =
        scan::number(&text[..digits]).and_then(|(number, _)| i32::try_from(number).ok())
    {
        found(fd, &text[..end]);
    }
    &text[end..]
}
