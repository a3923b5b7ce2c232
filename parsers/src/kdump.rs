//! kdump text: the records of ktrace on FreeBSD, OpenBSD and NetBSD.
//!
//! ```text
//! In:     2769 rmdir    1300000000.000100 CALL  rmdir(0x7fffffffed5e)
//!         2769 rmdir    1300000000.000110 NAMI  "test_folder"
//!         2769 rmdir    1300000000.000150 RET   rmdir 0
//! Out:  pid 2769, start …000100000 ns, dur 50000 ns, rmdir, target test_folder, ret 0
//! ```
//!
//! A call is one record when it is entered and one when it returns; the assembler joins them. Records between them (the
//! path, the data) belong to the call. The path of a new program is in a NAMI record, and counts if the execve
//! succeeds. Without thread ids (FreeBSD and OpenBSD print them with -H), a return belongs to the newest open call of
//! its name. If two threads are in the same call at once, the sum of their durations is right, but each one is a guess.
//! NetBSD adds versions to names (`__wait450`); if the rest is a known call, that is the name.

mod head;
mod records;

use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::error_names::{self, System};
use crate::facts::Fact;
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{CallPart, Extra, Line, LineKind, NO_ID, NO_NS, Outcome};
use crate::scan;
use crate::strace::arguments::{self, ArgumentList};
use crate::syscalls::{self, Syscall};
use crate::text::Text;
use crate::{call, line::Ended};
use head::{KdumpLayout, KdumpRecord};

/// The format.
pub struct Kdump;

impl Format for Kdump {
    fn name(&self) -> &'static str {
        "kdump"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        let (mut lines, mut records) = (0usize, 0usize);
        for line in head
            .lines()
            .filter(|line| !is_data(line) && blank(line).is_none())
        {
            lines += 1;
            records += usize::from(head::record(line, false).is_some());
        }
        match (records, lines) {
            (0, 0) if !head.complete => Recognition::NeedMore,
            (0, _) => Recognition::No,
            _ if records * 2 > lines => Recognition::Yes,
            _ => Recognition::Maybe((records * 100 / lines) as u8),
        }
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        Box::new(KdumpReader {
            layout: KdumpLayout::of(head),
        })
    }
}

struct KdumpReader {
    layout: KdumpLayout,
}

impl LineReader for KdumpReader {
    fn facts(&self) -> CaptureFacts {
        let timed = self.layout.clock != Clock::None;
        CaptureFacts {
            stamp: if timed {
                StampMoment::Start
            } else {
                StampMoment::None
            },
            clock: self.layout.clock,
            tick_ns: scan::tick_ns(self.layout.digits),
            dur_kind: if timed { DurKind::Exact } else { DurKind::None },
            // The time between the two records of a call: no record contains a duration.
            has_durations: timed,
            has_ids: true,
            mixes_threads: !self.layout.has_tids,
            names_processes: !self.layout.has_tids,
            ..CaptureFacts::PLAIN
        }
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let record = if is_data(text) {
            None
        } else {
            head::record(text, self.layout.has_tids)
        };
        match record {
            Some(record) => self.record(&record, parsed),
            None => apart(text),
        }
    }
}

/// Data of a GIO record, indented further than any head.
fn is_data(line: &[u8]) -> bool {
    line.starts_with(b"\t") || line.starts_with(b"       ")
}

/// A line that is not a record.
fn apart(line: &[u8]) -> Line {
    if let Some(blank) = blank(line) {
        return blank;
    }
    let text = scan::skip_blanks(line);
    let is_item = text.starts_with(b"[") && memchr::memmem::find(text, b"] = \"").is_some();
    Line::of(match text {
        b"Events dropped." => LineKind::Dropped,
        _ if is_data(line) || text.starts_with(b"\"") || is_item => LineKind::Continuation,
        _ if head::begins(text) => LineKind::Damaged,
        _ if line.starts_with(b" ") => LineKind::Continuation,
        _ if text.starts_with(b"kdump: ") => LineKind::Notice,
        _ => LineKind::Foreign,
    })
}

impl KdumpReader {
    fn record(&self, record: &KdumpRecord<'_>, parsed: &mut Parsed) -> Line {
        if matches!(record.kind, b"CALL" | b"RET") && name(record.text).0.is_empty() {
            return Line::of(LineKind::Damaged);
        }
        let mut line = Line::of(LineKind::Notice);
        line.pid = record.pid;
        line.tid = if record.tid == NO_ID {
            record.pid
        } else {
            record.tid
        };
        line.stamp_ns = record
            .stamps()
            .first()
            .map_or(NO_NS, |&(time_ns, _)| time_ns);
        match record.kind {
            b"CALL" => self.entered(record, &mut line, parsed),
            b"RET" => returned(record, &mut line, parsed),
            _ => records::other(record, &mut line, parsed),
        }
        if line.extra == 0 && matches!(line.kind, LineKind::Call | LineKind::CallStart) {
            let program = parsed.texts.add(record.comm);
            line.extra = parsed.keep(Extra::Program {
                name: program,
                with: None,
            });
        }
        line
    }

    fn entered(&self, record: &KdumpRecord<'_>, line: &mut Line, parsed: &mut Parsed) {
        let (name, rest) = name(record.text);
        let name = canonical(name);
        (line.kind, line.part, line.outcome) =
            (LineKind::CallStart, CallPart::Begun, Outcome::Open);
        line.name = parsed.texts.add(name);
        let mut args = ArgumentList::default();
        let inner = rest.strip_prefix(b"(").unwrap_or(b"");
        arguments::split(inner.strip_suffix(b")").unwrap_or(inner), &mut args);
        if let Some(call) = syscalls::by_text(line.name) {
            let mut id = String::new();
            call::describe(
                call,
                with_decimal_id(call, &args, &mut id).list(),
                line,
                parsed,
            );
        }
        match name {
            b"execve" | b"fexecve" => {
                line.extra = parsed.keep(Extra::Exec {
                    path: Text::NONE,
                    argv: Text::NONE,
                });
            }
            b"exit" | b"_exit" => self.leaves(args.list(), true, line, parsed),
            b"thr_exit" | b"__threxit" | b"_lwp_exit" => self.leaves(&[], false, line, parsed),
            _ => {}
        }
    }

    /// A call that never returns. The call that ends a thread ends a task only if lines have thread ids.
    fn leaves(&self, args: &[&[u8]], is_process: bool, line: &mut Line, parsed: &mut Parsed) {
        (line.kind, line.part, line.outcome) = (LineKind::Call, CallPart::Whole, Outcome::NoReturn);
        if !is_process {
            line.extra = if self.layout.has_tids {
                parsed.keep(Extra::ThreadEnd)
            } else {
                0
            };
        } else {
            let status = args
                .first()
                .and_then(|arg| scan::value(arg))
                .map_or(0, |(status, _)| status);
            line.extra = parsed.keep(Extra::GroupEnd(Ended::Exited((status & 0xff) as i32)));
        }
    }
}

/// Ids are printed in hexadecimal, -1 as `0xffffffff`. Other formats print them in decimal.
fn with_decimal_id<'a>(
    call: &Syscall,
    args: &ArgumentList<'a>,
    id: &'a mut String,
) -> ArgumentList<'a> {
    let mut plain = ArgumentList::default();
    let value = args
        .list()
        .first()
        .filter(|arg| call.args.starts_with('i') && arg.starts_with(b"0x"));
    match value.and_then(|arg| scan::value(arg)) {
        Some((value, b"")) => {
            *id = (value as i32).to_string();
            plain.push(id.as_bytes());
            args.list().iter().skip(1).for_each(|arg| plain.push(arg));
        }
        _ => args.list().iter().for_each(|arg| plain.push(arg)),
    }
    plain
}

/// The name of a call and the text after it; numbers of unknown calls are in brackets.
fn name(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text
        .iter()
        .position(|byte| matches!(byte, b'(' | b' ' | b'\t'))
        .unwrap_or(text.len());
    text.split_at(end)
}

/// A name without the version that keeps old programs working: `__wait450`, `compat11.fstat`, `compat_50_stat`.
fn canonical(name: &[u8]) -> &[u8] {
    if syscalls::by_name(name).is_some() {
        return name;
    }
    let plain = match name.iter().rposition(|&byte| byte == b'.') {
        Some(point) => name.get(point + 1..).unwrap_or(name),
        None => unversioned(name),
    };
    if syscalls::by_name(plain).is_some() {
        plain
    } else {
        name
    }
}

fn unversioned(name: &[u8]) -> &[u8] {
    if let Some((_, rest)) = name.strip_prefix(b"compat_").and_then(scan::number) {
        return rest.strip_prefix(b"_").unwrap_or(name);
    }
    let start = name.iter().position(|&byte| byte != b'_').unwrap_or(0);
    let Some((unversioned, version)) = name
        .get(start..)
        .and_then(|rest| rest.split_at_checked(rest.len().saturating_sub(2)))
    else {
        return name;
    };
    let is_version = start > 1 && version.iter().all(u8::is_ascii_digit);
    if is_version { unversioned } else { name }
}

/// `fork 4712/0x1268`, `open -1 errno 2 No such file or directory`, `execve JUSTRETURN`, `pipe 3, 4`.
fn returned(record: &KdumpRecord<'_>, line: &mut Line, parsed: &mut Parsed) {
    let (name, rest) = name(record.text);
    let name = canonical(name);
    let rest = scan::skip_blanks(rest);
    (line.kind, line.part) = (LineKind::CallEnd, CallPart::Resumed);
    line.name = parsed.texts.add(name);
    match scan::value(rest) {
        Some((value, rest)) => {
            line.ret = value;
            match rest.strip_prefix(b" errno ") {
                Some(error) => failed(error, line, parsed),
                None => second(name, value, rest, line, parsed),
            }
        }
        None if rest.starts_with(b"RESTART") => {
            (line.outcome, line.errno) = (Outcome::Interrupted, parsed.texts.add(b"ERESTART"));
        }
        None if rest.starts_with(b"JUSTRETURN") => line.ret = 0,
        None => line.outcome = Outcome::Unavailable,
    }
    if line.outcome == Outcome::Ok {
        succeeded(name, record.comm, line, parsed);
    }
}

fn failed(error: &[u8], line: &mut Line, parsed: &mut Parsed) {
    line.outcome = Outcome::Failed;
    let Some((number, text)) = scan::number(error) else {
        return;
    };
    line.errno =
        match error_names::name(System::FreeBsd, number).filter(|_| number <= LAST_COMMON_ERROR) {
            Some(name) => parsed.texts.add(name.as_bytes()),
            None => match records::error_by_text(scan::trim(text)) {
                Some(name) => parsed.texts.add(name.as_bytes()),
                None => parsed.texts.add(format!("errno {number}").as_bytes()),
            },
        };
}

/// Above this, the three systems number errors differently, and the text decides.
const LAST_COMMON_ERROR: i64 = 81;

/// The second value of a pipe.
fn second(name: &[u8], first: i64, rest: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let Some(at) = memchr::memmem::find(rest, b", ").filter(|_| name == b"pipe") else {
        return;
    };
    let other = rest
        .get(at + 2..)
        .and_then(scan::value)
        .and_then(|(value, _)| i32::try_from(value).ok());
    if let (Ok(first), Some(other)) = (i32::try_from(first), other) {
        line.extra = parsed.keep(Fact::Fds(Box::new([first, other])));
    }
}

fn succeeded(name: &[u8], comm: &[u8], line: &mut Line, parsed: &mut Parsed) {
    match name {
        b"execve" | b"fexecve" => {
            let path = parsed.texts.add(comm);
            line.extra = parsed.keep(Extra::Exec {
                path,
                argv: Text::NONE,
            });
        }
        b"fork" | b"vfork" | b"rfork" | b"pdfork" | b"__clone" | b"clone" if line.ret == 0 => {
            line.extra = parsed.keep(Extra::Born {
                creator_pid: NO_ID,
                thread: false,
            });
        }
        // A process that the tracer starts records the end of the call that began the trace; one that it attaches to
        // does not.
        b"ktrace" | b"fktrace" => {
            line.extra = parsed.keep(Extra::Born {
                creator_pid: NO_ID,
                thread: false,
            });
        }
        _ if line.extra == 0 => {
            if let Some(call) = syscalls::by_text(line.name) {
                call::describe_rest(call, &[], line, parsed);
            }
        }
        _ => {}
    }
}
