//! Text of fs_usage of macOS, in its wide form (`fs_usage -w`, or a wide window).
//!
//! ```text
//! In:   19:43:34.201733  read              F=3    B=0x200                   0.076120 W ls.1234
//! Out:  tid 1234 of `ls`, end 19:43:34.201733, dur 76120000 ns, read, fd 3, ret 512
//! ```
//!
//! A line is printed when the call returned: its time is the end. The duration is wall time, rounded up to microseconds. `W`
//! means that the thread did not run all of that time; without it, the duration is CPU time, too. The number after the name of
//! the process is that of the thread, and process ids are not printed. A number in brackets is an error.
//!
//! Names with capitals (`RdData[A]`, `PAGE_IN_FILE`) are parts of a call or of the thread's own run: requests to a disk, page
//! faults. They are within the time of a call that is also printed, so they are notices. Where no calls are printed (`-f diskio`),
//! the requests to disks are what the thread did.
//!
//! Source: `format_print` and `print_open` of fs_usage.c (apple-oss-distributions/system_cmds), and lines that people posted
//! (keybase/client issue 4237; magnusviri.com/fs_usage).

mod columns;

use crate::call;
use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::error_names::{self, System};
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{Line, LineKind, NO_ID, NO_NS, Outcome};
use crate::scan;
use crate::syscalls::{self, Action};
use columns::{FsUsageColumns, FsUsageLine};

/// The format.
pub struct FsUsage;

impl Format for FsUsage {
    fn name(&self) -> &'static str {
        "fs-usage"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        Recognition::by_lines(head, is_line)
    }

    fn is_own_line(&self, line: &[u8]) -> bool {
        is_line(line)
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        let mut lines = head.lines().filter_map(columns::read);
        Box::new(FsUsageReader {
            has_calls: lines.any(|found| is_call(found.name)),
        })
    }
}

/// Whether a line certainly has this form.
fn is_line(line: &[u8]) -> bool {
    columns::read(line).is_some()
}

/// Only calls have names without capitals.
fn is_call(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_lowercase) && !name.iter().any(u8::is_ascii_uppercase)
}

struct FsUsageReader {
    has_calls: bool,
}

impl LineReader for FsUsageReader {
    fn facts(&self) -> CaptureFacts {
        CaptureFacts {
            stamp: StampMoment::End,
            clock: Clock::TimeOfDay,
            tick_ns: 1_000,
            dur_kind: DurKind::Exact,
            has_durations: true,
            has_ids: true,
            prints_waits: false,
            ..CaptureFacts::PLAIN
        }
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        if let Some(line) = blank(line) {
            return line;
        }
        match columns::read(line) {
            Some(found) => self.event(&found, parsed),
            None => Line::of(if columns::begins(line) {
                LineKind::Damaged
            } else {
                LineKind::Foreign
            }),
        }
    }
}

/// A line with the thread and the times of what was printed.
fn times(found: &FsUsageLine<'_>, kind: LineKind) -> Line {
    Line {
        tid: found.tid,
        stamp_ns: found.end_ns,
        dur_ns: found.dur_ns,
        cpu_ns: if found.has_waited {
            NO_NS
        } else {
            found.dur_ns
        },
        ..Line::of(kind)
    }
}

impl FsUsageReader {
    fn event(&self, found: &FsUsageLine<'_>, parsed: &mut Parsed) -> Line {
        let columns = FsUsageColumns::of(found.columns);
        if is_call(found.name) {
            return call(found, &columns, parsed);
        }
        if !self.has_calls && columns.is_disk_request {
            return request(found, &columns, parsed);
        }
        Line {
            name: parsed.texts.add(found.name),
            dur_ns: NO_NS,
            cpu_ns: NO_NS,
            ..times(found, LineKind::Notice)
        }
    }
}

/// `RdData[A]  D=0x001ce0c4  B=0x1000   /dev/disk1s2  /usr/bin/ls`: the letters in brackets are how it was requested.
fn request(found: &FsUsageLine<'_>, columns: &FsUsageColumns<'_>, parsed: &mut Parsed) -> Line {
    let mut line = Line {
        cpu_ns: NO_NS,
        ..times(found, LineKind::Call)
    };
    let name = found.name.split(|&byte| byte == b'[').next();
    line.name = parsed.texts.add(name.unwrap_or(found.name));
    line.ret = columns.bytes.unwrap_or(NO_NS);
    let disk = columns.path.unwrap_or(b"");
    let file = memchr::memmem::find(disk, b"  ").and_then(|at| disk.get(at..));
    let target = scan::skip_blanks(file.unwrap_or(disk));
    if !target.is_empty() {
        line.target = parsed.texts.add(target);
    }
    parsed.name_program(&mut line, found.comm);
    line
}

fn call(found: &FsUsageLine<'_>, columns: &FsUsageColumns<'_>, parsed: &mut Parsed) -> Line {
    let mut line = times(found, LineKind::Call);
    line.name = parsed.texts.add(found.name);
    outcome(columns, &mut line, parsed);
    described(columns, &mut line, parsed);
    parsed.name_program(&mut line, found.comm);
    line
}

/// What the call returned: an error, the number of bytes, or a new descriptor.
fn outcome(columns: &FsUsageColumns<'_>, line: &mut Line, parsed: &mut Parsed) {
    if let Some(number) = columns.error {
        line.outcome = Outcome::Failed;
        line.ret = -1;
        line.errno = match error_names::name(System::MacOs, number) {
            Some(name) => parsed.texts.add(name.as_bytes()),
            None => parsed.texts.add(format!("errno {number}").as_bytes()),
        };
        return;
    }
    let action = syscalls::action_of(line.name);
    let (returns_bytes, makes) = (|| action.returns_bytes(), || makes_descriptor(action));
    line.ret = match columns.bytes {
        Some(bytes) if returns_bytes() => bytes,
        _ if makes() => columns.made.or(columns.fd).unwrap_or(NO_NS),
        _ => columns.ready.unwrap_or(NO_NS),
    };
}

/// Whether `F=` is what such a call returned.
fn makes_descriptor(action: Action) -> bool {
    matches!(
        action,
        Action::Opens | Action::MakesSocket | Action::Accepts | Action::Duplicates
    )
}

/// Arguments in the order of the call, as other tracers print them.
fn described(columns: &FsUsageColumns<'_>, line: &mut Line, parsed: &mut Parsed) {
    let Some(call) = syscalls::by_text(line.name) else {
        line.target = columns
            .path
            .map_or(line.target, |path| parsed.texts.add(path));
        line.fd = columns.number(columns.fd);
        return;
    };
    let texts = columns.arguments(call, makes_descriptor(call.action));
    let args: Vec<&[u8]> = texts.iter().map(|text| text.as_slice()).collect();
    // A path is what the kernel looked up: nothing in it is escaped.
    if let Some(path) = columns.path {
        line.target = parsed.texts.add(path);
    }
    call::describe(call, &args, line, parsed);
    if line.fd == NO_ID && !makes_descriptor(call.action) {
        line.fd = columns.number(columns.fd);
    }
}
