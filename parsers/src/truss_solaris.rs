//! Text of truss on Solaris and illumos.
//!
//! ```text
//! In:   12200:   3.8229  0.0947  0.0013 execve("/usr/sbin/quota", 0x0811F9E8, 0x0811D008)  argc = 1
//! Out:  pid 12200, end 3822900000 ns, up to 94700000 ns, CPU 1300000 ns, execve, target /usr/sbin/quota
//! ```
//!
//! The stamp is the end of a call. `-D` is the time since the previous event of the LWP, so it includes user time. `-E`
//! is CPU time. Lines that belong to an event never have time columns.

mod call;
mod layout;
mod notes;
pub(crate) mod recognise;
mod split;
mod table;

use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::facts::Fact;
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{CallPart, Ended, Extra, Line, LineKind, NO_ID, NO_NS, Outcome};
use crate::line_cache::{LineParts, LinePrefix};
use crate::scan;
use crate::syscalls::{self, Syscall};
use crate::text::Text;
use crate::truss_common::{CallText, TrussCall, set_failed, set_interrupted};
use call::SolarisEnd;
use layout::{SolarisColumn, SolarisLayout};
use split::{STAMP_TICK_NS, SolarisSplit, common_prefix, split, split_inside};

/// The format.
pub struct TrussSolaris;

impl Format for TrussSolaris {
    fn name(&self) -> &'static str {
        "truss-solaris"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        recognise::answer(head)
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        reader(head)
    }
}

/// A reader for this truss, and for AIX's, which prints the same form.
pub(crate) fn reader(head: Head<'_>) -> Box<dyn LineReader> {
    Box::new(TrussSolarisReader {
        layout: layout::of(head),
    })
}

struct TrussSolarisReader {
    layout: SolarisLayout,
}

impl LineReader for TrussSolarisReader {
    fn facts(&self) -> CaptureFacts {
        let (stamped, measured) = (
            self.layout.has(SolarisColumn::End),
            self.layout.has(SolarisColumn::Since),
        );
        CaptureFacts {
            stamp: if stamped {
                StampMoment::End
            } else {
                StampMoment::None
            },
            clock: if stamped {
                Clock::SinceStart
            } else {
                Clock::None
            },
            tick_ns: STAMP_TICK_NS,
            dur_kind: if stamped || measured {
                DurKind::UpperBound
            } else {
                DurKind::None
            },
            has_durations: measured,
            has_ids: self.layout.has_pids || self.layout.has_lwps,
            ids_optional: !self.layout.has_pids,
            one_process: !self.layout.has_pids,
            base_ns: self.layout.base_ns.unwrap_or(0),
            ..CaptureFacts::PLAIN
        }
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        if let Some(line) = blank(line) {
            return line;
        }
        if self.layout.is_table {
            return table::read(line, parsed);
        }
        let split = split(line, self.layout.count);
        if split.prefixed || !self.layout.has_pids {
            return self.placed(&split, parsed);
        }
        self.unplaced(line, &split, parsed)
    }

    fn parts<'a>(&self, line: &'a [u8]) -> Option<LineParts<'a>> {
        let split = split(line, self.layout.count);
        let has_ids = self.layout.has_pids || self.layout.has_lwps;
        if self.layout.is_table || split.columns != self.layout.count || split.prefixed != has_ids {
            return None;
        }
        Some(LineParts::of(
            &self.with_columns(Line::of(LineKind::Call), &split),
            split.body,
        ))
    }

    #[inline]
    fn prefix(&self, text: &[u8]) -> Option<LinePrefix> {
        if !self.has_common_prefix() {
            return None;
        }
        let (pid, times_ns, len) = common_prefix(text, self.layout.count)?;
        let mut line = Line {
            pid,
            tid: pid,
            ..Line::of(LineKind::Call)
        };
        self.set_times(&mut line, times_ns);
        let Line {
            tid,
            stamp_ns,
            dur_ns,
            cpu_ns,
            ..
        } = line;
        Some(LinePrefix {
            tid,
            pid,
            stamp_ns,
            dur_ns,
            cpu_ns,
            len,
        })
    }

    #[inline]
    fn parts_after<'a>(&self, prefix: LinePrefix, line: &'a [u8]) -> Option<LineParts<'a>> {
        line.get(prefix.len..)
            .map(|body| prefix.parts(scan::trim_end(body), prefix.dur_ns))
    }

    fn read_after(&self, prefix: LinePrefix, line: &[u8], parsed: &mut Parsed) -> Line {
        let LinePrefix {
            tid,
            pid,
            stamp_ns,
            dur_ns,
            cpu_ns,
            len,
        } = prefix;
        let (body, columns) = (
            scan::trim_end(line.get(len..).unwrap_or(b"")),
            self.layout.count,
        );
        let split = SolarisSplit {
            pid,
            lwp: NO_ID,
            prefixed: true,
            times_ns: [0; 3],
            columns,
            indented: true,
            body,
        };
        Line {
            tid,
            pid,
            stamp_ns,
            dur_ns,
            cpu_ns,
            ..self.placed(&split, parsed)
        }
    }
}

impl TrussSolarisReader {
    /// A line whose prefix matches the layout.
    fn placed(&self, split: &SolarisSplit<'_>, parsed: &mut Parsed) -> Line {
        let line = self
            .event(split, parsed)
            .unwrap_or_else(|| self.other(split, parsed));
        self.with_columns(line, split)
    }

    /// A line without a process id, in a capture whose lines have one.
    fn unplaced(&self, line: &[u8], split: &SolarisSplit<'_>, parsed: &mut Parsed) -> Line {
        for inside in split_inside(line, self.layout.count) {
            if inside.columns == self.layout.count
                && let Some(found) = self.event(&inside, parsed)
            {
                return self.with_columns(found, &inside);
            }
        }
        if let Some(message) = notes::message(split, parsed) {
            return message;
        }
        match call::read(split.body) {
            CallText::Call(TrussCall {
                end: SolarisEnd::Value(..) | SolarisEnd::Error(..) | SolarisEnd::Exec,
                ..
            }) if split.columns == self.layout.count => {
                self.with_columns(Line::of(LineKind::NoThread), split)
            }
            _ if split.columns > 0 && split.columns == self.layout.count => {
                Line::of(LineKind::Damaged)
            }
            _ => Line::of(LineKind::Foreign),
        }
    }

    /// A call or another event.
    fn event(&self, split: &SolarisSplit<'_>, parsed: &mut Parsed) -> Option<Line> {
        if let Some(line) = notes::event(split.body, parsed) {
            return Some(line);
        }
        let CallText::Call(call) = call::read(split.body) else {
            return None;
        };
        let has_columns = if self.layout.count > 0 {
            split.columns > 0
        } else {
            split.prefixed
        };
        // Prose and verbose lines may look like a call without a result.
        if call.end == SolarisEnd::Nothing && !has_columns && !is_one_way(call.name) {
            return None;
        }
        Some(read_call(&call, split, parsed))
    }

    /// A line other than an event: part of the event before it, a message, or an unusable line.
    fn other(&self, split: &SolarisSplit<'_>, parsed: &mut Parsed) -> Line {
        let body = split.body;
        if let Some(line) =
            notes::continuation(body, parsed).or_else(|| notes::message(split, parsed))
        {
            return line;
        }
        if body.is_empty() && split.columns == 0 {
            return Line::of(LineKind::Continuation);
        }
        let kind = match call::read(body) {
            _ if split.columns > 0 => LineKind::Damaged,
            CallText::Cut(name) if !split.indented || split.prefixed => {
                match syscalls::by_name(name) {
                    Some(_) => LineKind::Damaged,
                    None if split.prefixed => LineKind::Continuation,
                    None => LineKind::Foreign,
                }
            }
            _ if split.prefixed || split.indented => LineKind::Continuation,
            _ => LineKind::Foreign,
        };
        Line::of(kind)
    }

    fn with_columns(&self, mut line: Line, split: &SolarisSplit<'_>) -> Line {
        line.pid = split.pid;
        line.tid = if split.lwp == NO_ID {
            split.pid
        } else {
            split.lwp
        };
        if split.columns != self.layout.count {
            return line;
        }
        self.set_times(&mut line, split.times_ns);
        if self.stamps_entry(split.body) {
            line.dur_ns = 0;
        }
        line
    }

    fn set_times(&self, line: &mut Line, times_ns: [i64; 3]) {
        for (column, time_ns) in self.layout.columns().iter().zip(times_ns) {
            match column {
                SolarisColumn::End => line.stamp_ns = time_ns,
                SolarisColumn::Since => line.dur_ns = time_ns,
                SolarisColumn::Cpu => line.cpu_ns = time_ns,
            }
        }
    }

    /// Whether ids and times of a line do not depend on what follows them.
    fn has_common_prefix(&self) -> bool {
        !self.layout.is_table && self.layout.has_pids && self.stamps_are_late()
    }

    /// Whether no call is stamped when it is entered.
    fn stamps_are_late(&self) -> bool {
        self.layout.has(SolarisColumn::Cpu) || !self.layout.has(SolarisColumn::End)
    }

    /// Whether the stamp of a call is its entry, because the call does not return, so that the time before it is user
    /// time. With `-E`, truss prints such a call only at the next stop, and the stamp is that of the stop.
    fn stamps_entry(&self, body: &[u8]) -> bool {
        let name = || body.split(|&byte| byte == b'(').next().unwrap_or(body);
        !self.stamps_are_late() && body.last() == Some(&b')') && is_one_way(name())
    }
}

/// Calls that do not return to their caller.
fn is_one_way(name: &[u8]) -> bool {
    const CALLS: [&[u8]; 9] = [
        b"_exit",
        b"exit",
        b"lwp_exit",
        b"getcontext",
        b"setcontext",
        b"setustack",
        b"sigreturn",
        b"sigcleanup",
        b"getsetcontext",
    ];
    CALLS.contains(&name)
}

fn read_call(
    call: &TrussCall<'_, SolarisEnd<'_>>,
    split: &SolarisSplit<'_>,
    parsed: &mut Parsed,
) -> Line {
    let mut line = Line::of(LineKind::Call);
    line.name = parsed.texts.add(call.name);
    match call.end {
        SolarisEnd::Value(value, _) => line.ret = value,
        SolarisEnd::Error(_, b"ERESTART") => set_interrupted(&mut line, parsed),
        SolarisEnd::Error(number, name) => set_failed(&mut line, name, "Err#", number, parsed),
        SolarisEnd::Exec => line.ret = 0,
        // The call is the creator's, which has a line for it.
        SolarisEnd::NewLwp => line.kind = LineKind::Process,
        SolarisEnd::Child(_) => line.kind = LineKind::Process,
        SolarisEnd::Sleeping => {
            (line.kind, line.part, line.outcome) =
                (LineKind::Notice, CallPart::Begun, Outcome::Open)
        }
        SolarisEnd::Nothing if matches!(call.name, b"_exit" | b"exit" | b"lwp_exit") => {
            line.outcome = Outcome::NoReturn
        }
        SolarisEnd::Nothing if is_one_way(call.name) => {}
        SolarisEnd::Nothing => line.outcome = Outcome::Unavailable,
    }
    describe(call, split, &mut line, parsed);
    line
}

/// Descriptor, operation, target and extra: by the common rules, then by those of this truss alone.
fn describe(
    call: &TrussCall<'_, SolarisEnd<'_>>,
    split: &SolarisSplit<'_>,
    line: &mut Line,
    parsed: &mut Parsed,
) {
    let (mut args, count) = call::arguments(call.name, call.args);
    // AIX has another call of this name, which begins with a path.
    let is_plain_stat = call.name == b"statx" && args[0].starts_with(b"\"");
    let known = if is_plain_stat {
        syscalls::by_name(b"stat")
    } else {
        syscalls::by_text(line.name)
    };
    if let Some(known) = known {
        plain(known, &mut args);
        crate::call::describe(known, args.get(..count).unwrap_or(&args), line, parsed);
    }
    if let Some(extra) = extra(call, &args, split, line, parsed) {
        line.extra = parsed.keep(extra);
    }
}

/// Convert arguments to the form of the common rules: NULL is printed as zeros here, lists of descriptors as addresses,
/// no flags as 0.
fn plain(known: &Syscall, args: &mut [&[u8]; crate::scan::MAX_ARGS]) {
    let is_any = args[0] == b"P_ALL";
    for (letter, arg) in known.args.bytes().zip(args.iter_mut()) {
        match letter {
            b't' | b'v' if matches!(*arg, b"0x00000000" | b"0x0000000000000000") => *arg = b"NULL",
            b'l' | b'k' if arg.starts_with(b"0x") => *arg = b"",
            b'i' if is_any => *arg = b"",
            b'o' if *arg == b"0" && known.name.contains("fork") => *arg = b"",
            _ => {}
        }
    }
}

fn extra(
    call: &TrussCall<'_, SolarisEnd<'_>>,
    args: &[&[u8]; crate::scan::MAX_ARGS],
    split: &SolarisSplit<'_>,
    line: &Line,
    parsed: &mut Parsed,
) -> Option<Extra> {
    match (call.end, call.name) {
        (SolarisEnd::Exec, _) => Some(Extra::Exec {
            path: line.target,
            argv: Text::NONE,
        }),
        // AIX prints 0, the value that the child sees.
        (SolarisEnd::Child(parent), _) => Some(Extra::Born {
            creator_pid: id(parent).unwrap_or(NO_ID),
            thread: false,
        }),
        (SolarisEnd::NewLwp, _) => Some(Extra::Born {
            creator_pid: split.pid,
            thread: true,
        }),
        (SolarisEnd::Nothing, b"_exit" | b"exit") => {
            let status = crate::scan::value(args[0]).map_or(0, |(status, _)| status);
            Some(Extra::GroupEnd(Ended::Exited((status & 0xff) as i32)))
        }
        (SolarisEnd::Nothing, b"lwp_exit") => Some(Extra::End(Ended::Exited(0))),
        (SolarisEnd::Value(child, status), b"wait" | b"waitpid" | b"wait4" | b"wait3")
            if status != NO_NS =>
        {
            Some(Extra::Waited {
                child: id(child)?,
                ended: notes::wait_status(status, parsed),
            })
        }
        (SolarisEnd::Value(_, parent), b"getpid") => Some(Extra::Parent(id(parent)?)),
        (SolarisEnd::Value(one, other), b"pipe") if one >= 0 && other >= 0 => {
            let fds = [i32::try_from(one).ok()?, i32::try_from(other).ok()?];
            Some(Fact::Fds(Box::new(fds)).into())
        }
        (SolarisEnd::Value(0, _), b"waitid" | b"waitsys") if args[0] == b"P_PID" => {
            Some(Extra::Waited {
                child: id(crate::scan::number(args[1])?.0)?,
                ended: None,
            })
        }
        _ => None,
    }
}

/// A positive number as an id.
fn id(value: i64) -> Option<i32> {
    i32::try_from(value).ok().filter(|&id| id > 0)
}
