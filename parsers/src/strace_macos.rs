//! JSON lines of strace-macos (`strace --json`), which traces with the debugger of macOS.
//!
//! ```text
//! In:   {"syscall": "open", "args": ["/etc/x", "O_RDONLY"], "return": "-1 ENOENT (No such file or directory)", "pid": 47,
//!        "timestamp": 1764374400.25}
//! Out:  pid 47, start 1764374400.25, open, target /etc/x, ENOENT
//! ```
//!
//! A line is printed when the call returns, with the time of its start. Durations and threads are not printed. Arguments have
//! types instead of quotes: those that a call has as paths are strings, and constants are strings, too.
//!
//! Source: `JSONFormatter` and `_handle_syscall_entry` of Mic92/strace-macos.

use crate::call;
use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::json_text::{self, inside, unescaped};
use crate::line::{Line, LineKind, NO_NS, Outcome};
use crate::quoting::in_quotes;
use crate::scan;
use crate::syscalls::{self, Syscall};
use std::borrow::Cow;

/// The format.
pub struct StraceMacos;

impl Format for StraceMacos {
    fn name(&self) -> &'static str {
        "strace-macos"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        Recognition::by_lines(head, is_line)
    }

    fn is_own_line(&self, line: &[u8]) -> bool {
        is_line(line)
    }

    fn reader(&self, _head: Head<'_>) -> Box<dyn LineReader> {
        Box::new(StraceMacosReader)
    }
}

/// Whether a line certainly has this form.
fn is_line(line: &[u8]) -> bool {
    Record::of(line).is_some()
}

/// The fields of a line, as they are printed.
struct Record<'a> {
    name: Cow<'a, [u8]>,
    args: &'a [u8],
    result: &'a [u8],
    pid: i32,
    stamp_ns: i64,
}

impl<'a> Record<'a> {
    /// `None` if a field is missing or has another type.
    fn of(line: &'a [u8]) -> Option<Record<'a>> {
        let mut rest = scan::trim(line).strip_prefix(b"{\"syscall\"")?;
        rest = scan::skip_blanks(rest).strip_prefix(b":")?;
        let (name, mut rest) = json_text::string(scan::skip_blanks(rest))?;
        let (mut args, mut result, mut pid, mut stamp) = (None, None, None, None);
        while let Some((key, value, after)) = json_text::field(rest) {
            match key {
                b"args" => args = Some(value),
                b"return" => result = Some(value),
                b"pid" => pid = Some(value),
                b"timestamp" => stamp = Some(value),
                _ => {}
            }
            rest = after;
        }
        let (pid, _) = scan::number(pid?)?;
        let (stamp_ns, ..) = scan::seconds(stamp?)?;
        Some(Record {
            name: unescaped(inside(name)),
            args: args?.strip_prefix(b"[")?.strip_suffix(b"]")?,
            result: result?,
            pid: i32::try_from(pid).ok()?,
            stamp_ns,
        })
    }
}

struct StraceMacosReader;

impl LineReader for StraceMacosReader {
    fn facts(&self) -> CaptureFacts {
        CaptureFacts {
            stamp: StampMoment::Start,
            clock: Clock::Epoch,
            tick_ns: 1_000,
            dur_kind: DurKind::UpperBound,
            has_ids: true,
            names_processes: true,
            ..CaptureFacts::PLAIN
        }
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        if let Some(line) = blank(line) {
            return line;
        }
        let Some(record) = Record::of(line) else {
            return Line::of(if line.starts_with(b"{\"syscall\"") {
                LineKind::Damaged
            } else {
                LineKind::Foreign
            });
        };
        let mut line = Line {
            stamp_ns: record.stamp_ns,
            tid: record.pid,
            name: parsed.texts.add(&record.name),
            ..Line::of(LineKind::Call)
        };
        result(&unescaped(inside(record.result)), &mut line, parsed);
        if let Some(call) = syscalls::by_text(line.name) {
            let texts = arguments(call, record.args);
            let texts: Vec<&[u8]> = texts.iter().map(Cow::as_ref).collect();
            call::describe(call, &texts, &mut line, parsed);
        }
        line
    }
}

/// `3`, `-1 ENOENT (No such file or directory)`, `-93`, `0x7 (…)`, `?`.
fn result(text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let Some((value, rest)) = scan::value(text) else {
        line.outcome = Outcome::Unavailable;
        return;
    };
    let errno = scan::skip_blanks(rest);
    match scan::name(errno).filter(|(name, _)| name.starts_with(b"E")) {
        Some((name, _)) if value < 0 => {
            (line.outcome, line.ret) = (Outcome::Failed, -1);
            line.errno = parsed.texts.add(name);
        }
        _ => line.ret = if value == NO_NS { NO_NS + 1 } else { value },
    }
}

/// The arguments in the form of strace. Those that are ignored stay as they are.
fn arguments<'a>(call: &Syscall, list: &'a [u8]) -> Vec<Cow<'a, [u8]>> {
    let mut args = Vec::new();
    let mut rest = list;
    for letter in call.args.bytes() {
        let Some((value, after)) = json_text::element(rest) else {
            break;
        };
        args.push(argument(letter, value));
        rest = after;
    }
    args
}

fn argument(letter: u8, value: &[u8]) -> Cow<'_, [u8]> {
    let is_string = value.starts_with(b"\"");
    match letter {
        b'p' | b'n' if is_string => Cow::Owned(in_quotes(&unescaped(inside(value)))),
        b's' if value.starts_with(b"{") => Cow::Owned(address(value)),
        _ if is_string => unescaped(inside(value)),
        _ => Cow::Borrowed(value),
    }
}

/// `{"sa_family": "AF_INET", "sin_port": 80, "sin_addr": "10.0.0.1"}` as `{sa_family=AF_INET, sin_port=htons(80), …}`.
fn address(object: &[u8]) -> Vec<u8> {
    let (mut port, mut host, mut path) = (None, None, None);
    let mut rest = object.get(1..).unwrap_or(b"");
    while let Some((key, value, after)) = json_text::field(rest) {
        let value = unescaped(inside(value));
        match key {
            b"sin_port" | b"sin6_port" => port = Some(value),
            b"sin_addr" | b"sin6_addr" => host = Some((key == b"sin6_addr", value)),
            b"sun_path" => path = Some(value),
            _ => {}
        }
        rest = after;
    }
    if let Some(path) = path {
        return [b"{sun_path=", in_quotes(unquoted(&path)).as_slice(), b"}"].concat();
    }
    let port = port.as_deref().and_then(number_inside).unwrap_or(0);
    match host {
        Some((true, host)) => format!(
            "{{sin6_port=htons({port}), inet_pton(AF_INET6, \"{}\")}}",
            String::from_utf8_lossy(unquoted(&host))
        ),
        Some((false, host)) => format!(
            "{{sin_port=htons({port}), sin_addr=inet_addr(\"{}\")}}",
            String::from_utf8_lossy(unquoted(&host))
        ),
        None => return b"{}".to_vec(),
    }
    .into_bytes()
}

/// The text of a field that has quotes, or a function around quotes, within its string: `inet_addr("10.0.0.1")`.
fn unquoted(text: &[u8]) -> &[u8] {
    let mut parts = text.split(|&byte| byte == b'"');
    let before = parts.next().unwrap_or(text);
    parts.next().unwrap_or(before)
}

/// `80`, `htons(80)`.
fn number_inside(text: &[u8]) -> Option<i64> {
    let start = text.iter().position(u8::is_ascii_digit)?;
    scan::number(text.get(start..)?).map(|(number, _)| number)
}
