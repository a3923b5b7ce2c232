//! The log of a gVisor sandbox with its system calls (`runsc --strace --debug-log=…`).
//!
//! ```text
//! In:   I0928 00:18:54.794008     365 strace.go:593] [   6:   7] npm init E close(0x3 /etc/hosts)
//!       I0928 00:18:54.794031     365 strace.go:625] [   6:   7] npm init X close(0x3 /etc/hosts) = 0 (0x0) (11.709µs)
//! Out:  pid 6, tid 7 of `npm init`, start 28 Sep 00:18:54.794008, dur 11709 ns, close, fd 3 of /etc/hosts, ret 0
//! ```
//!
//! A call is one line when it is entered (`E`) and one when it returns (`X`), so the time of the first is its start. The
//! duration is exact. Ids are those of the sandbox; older versions print only that of the thread. Other lines of the log are
//! notices. An address is followed by what it points to: `0x7f015d7865d0 /tmp/a`, `0x3 socket:[2]`.
//!
//! The strace of u-root prints `[pid 7] E close(0x3)`, without a time and a name.
//!
//! Source: `printEnter` and `printExit` of pkg/sentry/strace/strace.go (google/gvisor), and lines in the tests of programs that
//! read them (ossf/package-analysis, internal/strace; JSON of release-20260406.0 in a test of a reader of Exasol's sandbox).

mod arguments;
mod head;

use crate::call;
use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::error_names::{self, System};
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{CallPart, Ended, Extra, Line, LineKind, NO_NS, Outcome};
use crate::scan;
use crate::strace::arguments::{self as list, ArgumentList};
use crate::syscalls::{self, Action, Syscall};
use head::{GvisorEvent, GvisorLine};

/// The format.
pub struct Gvisor;

/// So many lines of calls are enough in a log that has other lines, too.
const MIN_CALLS: usize = 3;

impl Format for Gvisor {
    fn name(&self) -> &'static str {
        "gvisor"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        let (mut lines, mut calls, mut others) = (0usize, 0usize, 0usize);
        for line in head.lines().filter(|line| blank(line).is_none()) {
            lines += 1;
            match head::read(line).map(|found| found.event) {
                Some(GvisorEvent::Other) => others += 1,
                Some(_) => calls += 1,
                None => {}
            }
        }
        match (calls, lines) {
            (0, 0) if !head.complete => Recognition::NeedMore,
            (0, _) => Recognition::No,
            _ if calls * 2 > lines => Recognition::Yes,
            _ if calls >= MIN_CALLS && (calls + others) * 2 > lines => Recognition::Yes,
            _ => Recognition::Maybe((calls * 100 / lines) as u8),
        }
    }

    fn is_own_line(&self, line: &[u8]) -> bool {
        is_line(line)
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        let is_call = |line: &GvisorLine<'_>| !matches!(line.event, GvisorEvent::Other);
        let calls = || head.lines().filter_map(head::read).filter(is_call);
        Box::new(GvisorReader {
            has_stamps: calls().any(|line| line.stamp_ns != NO_NS),
            has_only_returns: calls().next().is_some()
                && calls().all(|line| matches!(line.event, GvisorEvent::Returns(..))),
        })
    }
}

/// Whether a line is certainly that of a call.
fn is_line(line: &[u8]) -> bool {
    head::read(line).is_some_and(|found| !matches!(found.event, GvisorEvent::Other))
}

struct GvisorReader {
    /// Records of JSON have their time in a field of their own.
    has_stamps: bool,
    /// Somebody kept the lines of calls that return: each of them is a whole call.
    has_only_returns: bool,
}

impl LineReader for GvisorReader {
    fn facts(&self) -> CaptureFacts {
        CaptureFacts {
            stamp: match (self.has_stamps, self.has_only_returns) {
                (false, _) => StampMoment::None,
                (true, false) => StampMoment::Start,
                (true, true) => StampMoment::End,
            },
            clock: if self.has_stamps {
                Clock::SinceNewYear
            } else {
                Clock::None
            },
            tick_ns: 1_000,
            dur_kind: DurKind::Exact,
            has_durations: true,
            has_ids: true,
            ..CaptureFacts::PLAIN
        }
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        if let Some(line) = blank(line) {
            return line;
        }
        let Some(found) = head::read(line) else {
            return Line::of(if head::begins(line) {
                LineKind::Damaged
            } else {
                LineKind::Foreign
            });
        };
        let mut line = Line {
            stamp_ns: found.stamp_ns,
            tid: found.tid,
            pid: found.pid,
            ..Line::of(LineKind::Notice)
        };
        match found.event {
            GvisorEvent::Other => {}
            GvisorEvent::Enters(name, text) => entered(name, text, &mut line, parsed),
            GvisorEvent::Returns(name, text) if self.has_only_returns => {
                whole(name, text, &mut line, parsed);
            }
            GvisorEvent::Returns(name, text) => returned(name, text, &mut line, parsed),
        }
        if matches!(
            line.kind,
            LineKind::Call | LineKind::CallStart | LineKind::CallEnd
        ) && !found.comm.is_empty()
        {
            parsed.name_program(&mut line, found.comm);
        }
        line
    }
}

/// The call that a name means, if it is known, with its arguments in the form of other tracers.
fn described(call: Option<&'static Syscall>, args: &ArgumentList<'_>) -> Vec<Vec<u8>> {
    call.map_or_else(Vec::new, |call| {
        arguments::in_common_form(call, args.list())
    })
}

fn entered(name: &[u8], text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    (line.kind, line.part, line.outcome) = (LineKind::CallStart, CallPart::Begun, Outcome::Open);
    line.name = parsed.texts.add(name);
    let mut args = ArgumentList::default();
    list::split(text.strip_suffix(b")").unwrap_or(text), &mut args);
    let call = syscalls::by_text(line.name);
    let texts = described(call, &args);
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    if let Some(call) = call {
        call::describe(call, &texts, line, parsed);
    }
    leaves(name, &texts, line, parsed);
}

/// A call that ends a thread or a process does not return, although the log has a line for that.
fn leaves(name: &[u8], args: &[&[u8]], line: &mut Line, parsed: &mut Parsed) {
    if !is_exit(name) {
        return;
    }
    let status = args
        .first()
        .and_then(|arg| scan::value(arg))
        .map_or(0, |(status, _)| status);
    let ended = Ended::Exited((status & 0xff) as i32);
    (line.kind, line.part, line.outcome) = (LineKind::Call, CallPart::Whole, Outcome::NoReturn);
    line.extra = parsed.keep(match name {
        b"exit" => Extra::End(ended),
        _ => Extra::GroupEnd(ended),
    });
}

fn is_exit(name: &[u8]) -> bool {
    matches!(name, b"exit" | b"exit_group")
}

fn returned(name: &[u8], text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    if is_exit(name) {
        return;
    }
    (line.kind, line.part) = (LineKind::CallEnd, CallPart::Resumed);
    line.name = parsed.texts.add(name);
    let mut args = ArgumentList::default();
    match list::split(text, &mut args) {
        Some(result) => outcome(result, line, parsed),
        None => line.outcome = Outcome::Unavailable,
    }
    let Some(call) = syscalls::by_text(line.name).filter(|_| line.outcome == Outcome::Ok) else {
        return;
    };
    let texts = described(Some(call), &args);
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    match call.action {
        // The descriptors and the peer are known only now.
        Action::MakesPipe | Action::MakesSocketPair | Action::Accepts => {
            call::describe_rest(call, &texts, line, parsed);
        }
        _ => call::describe_rest(call, &[], line, parsed),
    }
}

/// A call of which only the line of its return was kept.
fn whole(name: &[u8], text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    (line.kind, line.part) = (LineKind::Call, CallPart::Whole);
    line.name = parsed.texts.add(name);
    let mut args = ArgumentList::default();
    match list::split(text, &mut args) {
        Some(result) => outcome(result, line, parsed),
        None => line.outcome = Outcome::Unavailable,
    }
    let call = syscalls::by_text(line.name);
    let texts = described(call, &args);
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    if let Some(call) = call {
        call::describe(call, &texts, line, parsed);
    }
    leaves(name, &texts, line, parsed);
}

/// `12 (0xc) (5µs)`, `0x0 errno=2 (no such file or directory) (11.709µs)`.
fn outcome(text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let (before, dur_ns) = head::duration(text).unwrap_or((text, NO_NS));
    line.dur_ns = dur_ns;
    line.ret = scan::value(before).map_or(NO_NS, |(value, _)| value);
    let error =
        memchr::memmem::find(before, b" errno=").and_then(|at| scan::number(&before[at + 7..]));
    if let Some((number, _)) = error {
        (line.outcome, line.ret) = (Outcome::Failed, -1);
        line.errno = match error_names::name(System::Linux, number) {
            Some(name) => parsed.texts.add(name.as_bytes()),
            None => parsed.texts.add(format!("errno {number}").as_bytes()),
        };
    } else if line.ret == NO_NS {
        line.outcome = Outcome::Unavailable;
    }
}
