//! Text of ltrace with system calls (-S).
//!
//! ```text
//! In:   28680 1795246864.811465 usleep(3000 <unfinished ...>
//!       28680 1795246864.812055 SYS_clock_nanosleep(0, 0, 0x7fcf7fcc9e80, 0) = 0 <0.003141>
//!       28680 1795246864.815219 <... usleep resumed> )   = <void> <0.003753>
//! Out:  tid 28680, start …812055000 ns, dur 3141000 ns, clock_nanosleep, ret 0
//! ```
//!
//! Only system calls count as calls. Library calls enclose them, so their durations include those of the system calls,
//! and counting both would count time twice. Lines of library calls are notices: recognised, but not used. Prefixes and
//! clocks are those of strace. A failed call shows the kernel's negative number. Calls without a name show their
//! number, which is converted to a name if all machines agree on it.

mod names;

use crate::call;
use crate::capture_facts::CaptureFacts;
use crate::error_names::{self, System};
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{CallPart, Ended, Extra, Line, LineKind, NO_ID, NO_NS, Outcome};
use crate::line_cache::LineParts;
use crate::scan;
use crate::stack;
use crate::strace::arguments::{self, ArgumentList};
use crate::strace::layout::{StraceLayout, StracePrefix};
use crate::strace::{events, result, resumed_name, table};
use crate::syscalls;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Errors of the kernel are the values from this to -1.
const LOWEST_ERROR: i64 = -4095;

/// Functions that print a text for people.
const PRINTING: [&[u8]; 16] = [
    b"puts",
    b"fputs",
    b"perror",
    b"printf",
    b"fprintf",
    b"vfprintf",
    b"__printf_chk",
    b"__fprintf_chk",
    b"__vfprintf_chk",
    b"error",
    b"err",
    b"errx",
    b"warn",
    b"warnx",
    b"syslog",
    // Its result is the text.
    b"strerror",
];

/// Functions that reach for something with a name, and whether they return a pointer: null, or else -1, if it is not there.
const REACHING: [(&[u8], bool); 15] = [
    (b"fopen", true),
    (b"fopen64", true),
    (b"freopen", true),
    (b"opendir", true),
    (b"dlopen", true),
    (b"getpwnam", true),
    (b"gethostbyname", true),
    (b"sem_open", true),
    (b"open", false),
    (b"open64", false),
    (b"access", false),
    (b"stat", false),
    (b"chdir", false),
    (b"connect", false),
    (b"bind", false),
];

/// The format.
pub struct Ltrace;

impl Format for Ltrace {
    fn name(&self) -> &'static str {
        "ltrace"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        let (mut own, mut other) = (0usize, 0usize);
        for line in head.lines() {
            own += usize::from(is_sign(line));
            other += usize::from(is_other(line));
        }
        match () {
            () if own > other => Recognition::Yes,
            () if head.bytes.trim_ascii().is_empty() && !head.complete => Recognition::NeedMore,
            () => Recognition::No,
        }
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        let mut plain = Vec::with_capacity(head.bytes.len());
        for line in head.lines() {
            without_marks(line, &mut plain);
        }
        Box::new(LtraceReader {
            layout: StraceLayout::of(Head {
                bytes: &plain,
                complete: head.complete,
            }),
        })
    }
}

struct LtraceReader {
    layout: StraceLayout,
}

/// Where the text after ids, clocks and an instruction pointer begins: the last word before the parenthesis.
fn word_start(line: &[u8]) -> Option<usize> {
    let end = memchr::memchr2(b'(', b'"', line).filter(|&at| line.get(at) == Some(&b'('))?;
    Some(
        line.get(..end)?
            .iter()
            .rposition(|&byte| byte == b' ')
            .map_or(0, |at| at + 1),
    )
}

/// Every line of every head is searched for these, so the searches are prepared once.
static RESUMED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"<... SYS_"));
static FAILED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b") = -1 E"));

/// A line that only ltrace writes.
fn is_sign(line: &[u8]) -> bool {
    let line = scan::trim_end(line);
    let word = word_start(line)
        .and_then(|start| line.get(start..))
        .unwrap_or(b"");
    let is_call = names::of_call(word).is_some();
    let resumed = RESUMED.find(line).is_some_and(|at| at < 64);
    let is_table = scan::heads_library_table(line);
    let ended = line.ends_with(b") +++")
        && memchr::memmem::find(line, b"+++ exited (status ").is_some_and(|at| at < 64);
    is_call || resumed || is_table || ended || line.ends_with(b"<no return ...>")
}

/// A line that only strace writes.
fn is_other(line: &[u8]) -> bool {
    let line = scan::trim_end(line);
    let failed = FAILED.find(line).is_some();
    let ended = line.ends_with(b" +++")
        && memchr::memmem::find(line, b"+++ exited with ").is_some_and(|at| at < 64);
    (failed && line.contains(&b')') && word_start(line).is_some()) || ended
}

/// A line as strace would print it, so that strace's layout can be used.
fn without_marks(line: &[u8], out: &mut Vec<u8>) {
    let word = word_start(line).filter(|&start| {
        line.get(start..)
            .is_some_and(|word| word.starts_with(b"SYS_"))
    });
    match word.and_then(|start| Some((line.get(..start)?, line.get(start + 4..)?))) {
        Some((before, call)) => {
            out.extend_from_slice(without_pointer(before));
            out.extend_from_slice(if call.first().is_some_and(u8::is_ascii_digit) {
                b"nr_"
            } else {
                b""
            });
            out.extend_from_slice(call);
        }
        None => out.extend_from_slice(line),
    }
    out.push(b'\n');
}

/// The text without `[0x400547] ` of -i at its end.
fn without_pointer(before: &[u8]) -> &[u8] {
    match memchr::memmem::rfind(before, b"[0x") {
        Some(at) if before.ends_with(b"] ") => before.get(..at).unwrap_or(before),
        _ => before,
    }
}

impl LineReader for LtraceReader {
    fn facts(&self) -> CaptureFacts {
        self.layout.facts()
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(found) = blank(line).or_else(|| in_table(line, parsed)) {
            return found;
        }
        if let Some(frame) = stack::of_strace(line) {
            return frame.line(parsed);
        }
        let Some(prefix) = self.layout.prefix(line) else {
            return Line::of(LineKind::Foreign);
        };
        let body = after_pointer(prefix.body);
        let mut read = Line {
            tid: prefix.tid,
            stamp_ns: prefix.stamp_ns,
            ..Line::of(LineKind::Call)
        };
        if event(body, &mut read, parsed) {
            return read;
        }
        self.unusable(&prefix, line)
    }

    fn parts<'a>(&self, line: &'a [u8]) -> Option<LineParts<'a>> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let StracePrefix {
            tid,
            stamp_ns,
            body,
        } = self.layout.prefix(line)?;
        let body = after_pointer(body);
        // The body alone does not decide whether a line is a row of a table.
        if memchr::memchr(b'(', body).is_none() || body.ends_with(b" total") {
            return None;
        }
        let (dur_ns, body) = result::duration(body).unwrap_or((NO_NS, body));
        Some(LineParts {
            tid,
            stamp_ns,
            dur_ns,
            body,
            pid: NO_ID,
            cpu_ns: NO_NS,
        })
    }
}

impl LtraceReader {
    fn unusable(&self, prefix: &StracePrefix<'_>, line: &[u8]) -> Line {
        let has_prefix = prefix.body.len() < line.len();
        match has_prefix {
            true => Line {
                tid: prefix.tid,
                stamp_ns: prefix.stamp_ns,
                ..Line::of(LineKind::Damaged)
            },
            false => Line::of(LineKind::Foreign),
        }
    }
}

fn after_pointer(body: &[u8]) -> &[u8] {
    let rest = body
        .strip_prefix(b"[0x")
        .and_then(|rest| rest.get(memchr::memchr(b']', rest)? + 1..));
    rest.map_or(body, scan::skip_blanks)
}

/// A row of `-c`. Library calls are in the same table and are not counted.
fn in_table(line: &[u8], parsed: &mut Parsed) -> Option<Line> {
    let is_head = scan::heads_library_table(line);
    let is_total = line.starts_with(b"100.00 ") && line.ends_with(b" total");
    if is_head || is_total {
        return Some(Line::of(LineKind::SummaryTable));
    }
    // Nearly all lines are not rows, and have parentheses.
    if memchr::memchr2(b'(', b')', line).is_some() {
        return None;
    }
    let mut row = table::read(line, None, parsed)?;
    let name = line.rsplit(|&byte| byte == b' ').next().unwrap_or(b"");
    match names::of_row(name, &mut parsed.scratch) {
        true => row.name = parsed.texts.add(&parsed.scratch),
        false => row = Line::of(LineKind::SummaryTable),
    }
    Some(row)
}

fn event(body: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    match body.first() {
        Some(b'<') => resumed(body, line, parsed),
        Some(b'-') => note(body, line, parsed),
        Some(b'+') => ended(body, line, parsed),
        _ => match names::of_call(body) {
            Some((name, rest)) => called(name, rest, line, parsed),
            None => {
                line.kind = LineKind::Notice;
                line.name = parsed.texts.add(telling(body));
                is_library_call(body)
            }
        },
    }
}

/// `puts("hi" <unfinished ...>`, `prog->puts("hi") = 3`, `operator new(unsigned long)(8) = 0x…`, `libc.so.6->free(…`.
fn is_library_call(body: &[u8]) -> bool {
    let Some(open) = memchr::memchr(b'(', body).filter(|&at| at > 0) else {
        return false;
    };
    let starts = body.first().is_some_and(|byte| {
        byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'/' | b'~')
    });
    let ends = body.ends_with(b" ...>")
        || memchr::memmem::find(body.get(open..).unwrap_or(b""), b" = ").is_some();
    starts && ends
}

/// The name of a function that prints a text, `puts("cannot open") = 12`, or that failed to reach what it names,
/// `fopen("/etc/key", "r") = 0`. Empty for other functions.
fn telling(body: &[u8]) -> &[u8] {
    let open = memchr::memchr(b'(', body).unwrap_or(0);
    let name = body.get(..open).unwrap_or(b"");
    let name = match memchr::memmem::rfind(name, b"->") {
        Some(at) => name.get(at + 2..).unwrap_or(name),
        None => name,
    };
    let reaches = REACHING.iter().find(|(known, _)| *known == name);
    let failed = reaches.is_some_and(|&(_, is_pointer)| has_failed(body, is_pointer));
    if failed || PRINTING.contains(&name) {
        name
    } else {
        b""
    }
}

/// Whether a function returned a null pointer, or -1.
fn has_failed(body: &[u8], is_pointer: bool) -> bool {
    let body = result::duration(body).map_or(body, |(_, rest)| rest);
    let value = memchr::memmem::rfind(body, b" = ").and_then(|at| body.get(at + 3..));
    match value {
        Some(b"0" | b"nil" | b"NULL") => is_pointer,
        Some(b"-1" | b"0xffffffff") => !is_pointer,
        _ => false,
    }
}

/// `--- SIGCHLD (Child exited) ---`, `--- Called exec() ---`.
fn note(body: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    if body == b"--- Called exec() ---" {
        line.kind = LineKind::Notice;
        return true;
    }
    events::signal(body, line, parsed)
}

/// `+++ exited (status 3) +++`, `+++ killed by SIGKILL +++`.
fn ended(body: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    let status = body
        .strip_prefix(b"+++ exited (status ")
        .and_then(scan::signed);
    let Some((status, _)) = status.filter(|_| body.ends_with(b" +++")) else {
        return events::end(body, line, parsed);
    };
    line.kind = LineKind::Exit;
    line.extra = parsed.keep(Extra::End(Ended::Exited(status as i32)));
    true
}

/// A call from its name on: whole, its first half, or one that does not return.
fn called(name: &[u8], rest: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    set_name(name, line, parsed);
    let mut args = ArgumentList::default();
    let gone = rest.strip_suffix(b"<no return ...>");
    let cut = gone.or_else(|| rest.strip_suffix(b"<unfinished ...>"));
    let result = match cut {
        Some(before) => {
            arguments::split(scan::trim_end(before), &mut args);
            None
        }
        None => arguments::split(rest, &mut args),
    };
    match (result, gone) {
        (Some(result), _) if value(result, line, parsed) => {}
        // The tracer continues with the new program. A failing execve returns, and is printed whole.
        (None, Some(_)) if matches!(name, b"execve" | b"execveat") => line.ret = 0,
        (None, Some(_)) => {
            line.outcome = Outcome::NoReturn;
            // The arguments of clone3 are behind an address, so the end must show what it created.
            if name == b"exit" {
                line.extra = parsed.keep(Extra::ThreadEnd);
            }
        }
        (None, None) if cut.is_some() => {
            (line.kind, line.part, line.outcome) =
                (LineKind::CallStart, CallPart::Begun, Outcome::Open);
        }
        _ => return false,
    }
    if let Some(call) = syscalls::by_text(line.name) {
        let mut plain = ArgumentList::default();
        for (at, arg) in args.list().iter().enumerate() {
            plain.push(if at == 1 && name == b"futex" {
                names::futex_op(arg)
            } else {
                arg
            });
        }
        call::describe(call, plain.list(), line, parsed);
    }
    true
}

fn resumed(body: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    let Some((name, rest)) = resumed_name(body) else {
        return false;
    };
    let Some(name) = names::of_system(name) else {
        line.kind = LineKind::Notice;
        return true;
    };
    set_name(name, line, parsed);
    (line.kind, line.part) = (LineKind::CallEnd, CallPart::Resumed);
    let mut args = ArgumentList::default();
    let Some(result) = arguments::split(rest, &mut args) else {
        return false;
    };
    if !value(result, line, parsed) {
        return false;
    }
    if let Some(call) = syscalls::by_text(line.name) {
        call::describe_rest(call, args.list(), line, parsed);
    }
    true
}

fn set_name(name: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let Parsed { texts, scratch, .. } = parsed;
    line.name = texts.add(names::common_name(name, scratch));
}

/// Read a result; the kernel's negative numbers are errors.
fn value(text: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    if result::read(text, line, parsed) == result::ReadResult::Cut {
        return false;
    }
    if line.ret == NO_NS || !(LOWEST_ERROR..0).contains(&line.ret) {
        return true;
    }
    let number = -line.ret;
    line.ret = -1;
    let name = restart(number).or_else(|| error_names::name(System::Linux, number));
    line.outcome = if restart(number).is_some() {
        Outcome::Interrupted
    } else {
        Outcome::Failed
    };
    line.errno = match name {
        Some(name) => parsed.texts.add(name.as_bytes()),
        None => parsed.texts.add(format!("ERRNO_{number}").as_bytes()),
    };
    true
}

/// Numbers that the program never sees: the call is restarted.
fn restart(number: i64) -> Option<&'static str> {
    match number {
        512 => Some("ERESTARTSYS"),
        513 => Some("ERESTARTNOINTR"),
        514 => Some("ERESTARTNOHAND"),
        516 => Some("ERESTART_RESTARTBLOCK"),
        _ => None,
    }
}
