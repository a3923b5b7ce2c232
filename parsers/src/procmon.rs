//! CSV of Process Monitor (Windows).
//!
//! ```text
//! In:   "Time of Day","Process Name","PID","Operation","Path","Result","Detail","TID","Duration"
//!       "9:53:32.8219063 AM","app.exe","4711","ReadFile","C:\app\a.ini","SUCCESS","Offset: 0, Length: 512","4720","0.0000123"
//! Out:  pid 4711 of `app.exe`, start 9:53:32.8219063, dur 12300 ns, ReadFile, target C:\app\a.ini, ret 512
//! ```
//!
//! The first line names the columns, which users choose. The time is that of the start, in the form of the country; the
//! duration is exact, but not among the default columns. `Process Start` names the creator, `Process Create` the child,
//! `Process Exit` the status. Events are those of processes: the first thread of a process is created by a thread of another one,
//! and no thread has the number of its process. Results are words: those of missing files have the names that other
//! systems give them, and those that announce the end of a list or of a file are no failures.
//!
//! Source: the help of Process Monitor, and captures that people published.

mod clock;
mod columns;
mod detail;

use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{Ended, Extra, Line, LineKind, NO_ID, NO_NS, Outcome};
use crate::scan;
use crate::syscalls;
pub use clock::{is_half_of_day, is_time};
pub use columns::{Column, ProcmonColumns, ProcmonField, fields};

/// The format.
pub struct Procmon;

impl Format for Procmon {
    fn name(&self) -> &'static str {
        "procmon"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        if head
            .lines()
            .any(|line| ProcmonColumns::of_header(line).is_some())
        {
            return Recognition::Yes;
        }
        Recognition::by_lines(head, is_line)
    }

    fn is_own_line(&self, line: &[u8]) -> bool {
        is_line(line)
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        let named = head.lines().find_map(ProcmonColumns::of_header);
        let columns = named.unwrap_or_default();
        let first = head.lines().find_map(|line| columns.time(&fields(line)?));
        Box::new(ProcmonReader {
            digits: first.map_or(clock::DIGITS, |(_, digits)| digits),
            columns,
        })
    }
}

/// Whether a line certainly is one with the default columns.
fn is_line(line: &[u8]) -> bool {
    let columns = ProcmonColumns::default();
    fields(line).is_some_and(|fields| {
        fields.len() == columns.len()
            && columns.time(&fields).is_some()
            && columns.id(Column::Pid, &fields) != NO_ID
            && is_name(columns.get(Column::Operation, &fields))
            && is_result(columns.get(Column::Result, &fields))
    })
}

/// `RegOpenKey`, `Load Image`.
fn is_name(name: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_');
    name.first().is_some_and(u8::is_ascii_uppercase) && name.iter().all(is_part)
}

/// `SUCCESS`, `NAME NOT FOUND`, `0xC0000022`, or nothing.
fn is_result(result: &[u8]) -> bool {
    let is_part = |byte: &u8| !byte.is_ascii_lowercase() || matches!(byte, b'x' | b'a'..=b'f');
    result.iter().all(is_part)
}

struct ProcmonReader {
    columns: ProcmonColumns,
    digits: usize,
}

impl LineReader for ProcmonReader {
    fn facts(&self) -> CaptureFacts {
        let has_durations = self.columns.has(Column::Duration);
        let has_times = self.columns.has(Column::Time);
        CaptureFacts {
            stamp: if has_times {
                StampMoment::Start
            } else {
                StampMoment::None
            },
            clock: if has_times {
                Clock::TimeOfDay
            } else {
                Clock::None
            },
            tick_ns: scan::tick_ns(self.digits),
            // The operations of several threads mix, so the next one of a process says nothing about the end of this one.
            dur_kind: if has_durations {
                DurKind::Exact
            } else {
                DurKind::None
            },
            has_durations,
            has_ids: true,
            names_processes: true,
            is_of_windows: true,
            prints_waits: false,
            ..CaptureFacts::PLAIN
        }
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        if let Some(line) = blank(line) {
            return line;
        }
        let Some(fields) = fields(line) else {
            // A quoted text may contain line ends, and a file may end within one.
            return Line::of(if line.starts_with(b"\"") {
                LineKind::Damaged
            } else {
                LineKind::Foreign
            });
        };
        if self.columns.time(&fields).is_none() && ProcmonColumns::of_header(line).is_some() {
            return Line::of(LineKind::Notice);
        }
        let operation = self.columns.get(Column::Operation, &fields);
        let pid = self.columns.id(Column::Pid, &fields);
        if fields.len() < self.columns.len() || pid == NO_ID || !is_name(operation) {
            return Line::of(LineKind::Damaged);
        }
        self.event(operation, pid, &fields, parsed)
    }
}

impl ProcmonReader {
    fn event(
        &self,
        operation: &[u8],
        pid: i32,
        fields: &[ProcmonField<'_>],
        parsed: &mut Parsed,
    ) -> Line {
        let mut line = Line {
            stamp_ns: self.columns.time(fields).map_or(NO_NS, |(ns, _)| ns),
            tid: pid,
            ..Line::of(LineKind::Notice)
        };
        let text = self.columns.get(Column::Detail, fields);
        match operation {
            b"Process Start" => started(text, &mut line, parsed),
            b"Process Exit" => ended(text, &mut line, parsed),
            // Threads, samples of what a process used so far, and requests that wait for whatever happens.
            b"Thread Create"
            | b"Thread Exit"
            | b"Process Profiling"
            | b"Thread Profiling"
            | b"Process Statistics"
            | b"System Statistics"
            | b"NotifyChangeDirectory" => {}
            _ => self.called(operation, text, fields, &mut line, parsed),
        }
        let name = self.columns.get(Column::Name, fields);
        if line.kind != LineKind::Notice && !name.is_empty() {
            parsed.name_program(&mut line, name);
        }
        line
    }

    fn called(
        &self,
        operation: &[u8],
        text: &[u8],
        fields: &[ProcmonField<'_>],
        line: &mut Line,
        parsed: &mut Parsed,
    ) {
        line.kind = LineKind::Call;
        line.name = parsed.texts.add(operation);
        let duration = clock::duration(self.columns.get(Column::Duration, fields));
        line.dur_ns = duration.unwrap_or(NO_NS);
        let path = self.columns.get(Column::Path, fields);
        if !path.is_empty() {
            line.target = parsed.texts.add(path);
        }
        result(self.columns.get(Column::Result, fields), line, parsed);
        match self.columns.get(Column::Result, fields) {
            b"END OF FILE" => line.ret = 0,
            _ if line.outcome == Outcome::Ok => returned(operation, text, line, parsed),
            _ => {}
        }
    }
}

/// `Parent PID: 3188, Command line: app.exe -v, Current directory: C:\, Environment: …`
fn started(text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    line.kind = LineKind::Process;
    line.extra = parsed.keep(Extra::Born {
        creator_pid: detail::id(text, b"Parent PID"),
        thread: false,
    });
}

/// `Exit Status: 0, User Time: 0.0156250 seconds, …`
fn ended(text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let status = detail::number(text, b"Exit Status").unwrap_or(0);
    line.kind = LineKind::Exit;
    line.extra = parsed.keep(Extra::End(Ended::Exited(status as i32)));
}

/// What a call that succeeded returned: a process, or a number of bytes.
fn returned(operation: &[u8], text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    if operation != b"Process Create" {
        if syscalls::action_of(line.name).returns_bytes() {
            line.ret = detail::number(text, b"Length").unwrap_or(NO_NS);
        }
        return;
    }
    let child = detail::id(text, b"PID");
    if child != NO_ID {
        line.ret = i64::from(child);
        line.extra = parsed.keep(Extra::Spawn {
            child,
            thread: false,
            vfork: false,
            shares_files: false,
        });
    }
}

/// Results that are no failures: the end of a list or of a file, a buffer that is too small for a size that is returned,
/// and answers to questions.
const SUCCESSES: [&[u8]; 11] = [
    b"SUCCESS",
    b"",
    b"REPARSE",
    b"BUFFER OVERFLOW",
    b"BUFFER TOO SMALL",
    b"NO MORE ENTRIES",
    b"NO MORE FILES",
    b"END OF FILE",
    b"FILE LOCKED WITH ONLY READERS",
    b"FILE LOCKED WITH WRITERS",
    b"FAST IO DISALLOWED",
];
/// Failures for which other systems have a name.
const ERRORS: [(&[u8], &str); 10] = [
    (b"NAME NOT FOUND", "ENOENT"),
    (b"PATH NOT FOUND", "ENOENT"),
    (b"NO SUCH FILE", "ENOENT"),
    (b"OBJECT NAME NOT FOUND", "ENOENT"),
    (b"ACCESS DENIED", "EACCES"),
    (b"PRIVILEGE NOT HELD", "EPERM"),
    (b"NAME COLLISION", "EEXIST"),
    (b"SHARING VIOLATION", "EBUSY"),
    (b"DIRECTORY NOT EMPTY", "ENOTEMPTY"),
    (b"DISK FULL", "ENOSPC"),
];
/// The request is still being worked on when the line is printed.
const PENDING: &[u8] = b"PENDING";

fn result(result: &[u8], line: &mut Line, parsed: &mut Parsed) {
    if SUCCESSES.contains(&result) {
        return;
    }
    if result == PENDING {
        line.outcome = Outcome::Unavailable;
        return;
    }
    let known = ERRORS.iter().find(|(name, _)| *name == result);
    (line.outcome, line.ret) = (Outcome::Failed, -1);
    line.errno = parsed
        .texts
        .add(known.map_or(result, |(_, name)| name.as_bytes()));
}
