//! Text of perf trace.
//!
//! ```text
//! In:       6.620 (         ): sh/28645 vfork()                            ...
//!           6.620 ( 3.073 ms): sh/28645  ... [continued]: vfork())         = 28646
//! Out:  tid 28645, start 6620000 ns, dur 3073000 ns, vfork, ret 28646
//! ```
//!
//! The ids are those of threads. The printed time is that of the entry, in milliseconds since the first event, also on
//! a continued line. The stamp of such a line is its end, as for second halves of other tracers. A `?` as time means
//! that the entry was not seen: that of the first execve, and of a child's return from its creation. Arguments have
//! names; those that are zero are not printed.

mod arguments;
mod prefix;
mod table;

use crate::call;
use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{CallPart, Ended, Extra, Line, LineKind, NO_ID, NO_NS, Outcome};
use crate::line_cache::LineParts;
use crate::scan;
use crate::stack;
use crate::strace::arguments as list;
use crate::strace::layout::without_colours;
use crate::strace::result;
use crate::syscalls;
use crate::text::Text;
use arguments::NamedArguments;
use prefix::{PerfBody, PerfPrefix};

/// The format.
pub struct PerfTrace;

impl Format for PerfTrace {
    fn name(&self) -> &'static str {
        "perf-trace"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        let (mut lines, mut fits) = (0usize, 0usize);
        for line in head
            .lines()
            .filter(|line| blank(line).is_none() && !is_chain(line))
        {
            let line = without_colours(line);
            if table::is_title(&line) {
                return Recognition::Yes;
            }
            lines += 1;
            fits += usize::from(prefix::read(&line).is_some());
        }
        match (fits, lines) {
            (0, 0) if !head.complete => Recognition::NeedMore,
            (0, _) => Recognition::No,
            // The traced program may print between the lines.
            _ if fits * 4 >= lines => Recognition::Yes,
            _ => Recognition::Maybe((fits * 100 / lines) as u8),
        }
    }

    fn is_own_line(&self, line: &[u8]) -> bool {
        prefix::read(&without_colours(line)).is_some_and(|found| found.tid != NO_ID)
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        let has_ids = head.lines().any(|line| {
            prefix::read(&without_colours(line)).is_some_and(|prefix| prefix.tid != NO_ID)
        });
        let is_timed = head
            .lines()
            .any(|line| prefix::read(&without_colours(line)).is_some());
        Box::new(PerfTraceReader { has_ids, is_timed })
    }
}

struct PerfTraceReader {
    has_ids: bool,
    is_timed: bool,
}

impl LineReader for PerfTraceReader {
    fn facts(&self) -> CaptureFacts {
        CaptureFacts {
            stamp: if self.is_timed {
                StampMoment::Start
            } else {
                StampMoment::None
            },
            clock: if self.is_timed {
                Clock::SinceStart
            } else {
                Clock::None
            },
            tick_ns: 1_000,
            dur_kind: if self.is_timed {
                DurKind::Exact
            } else {
                DurKind::None
            },
            has_durations: self.is_timed,
            has_ids: self.has_ids,
            ..CaptureFacts::PLAIN
        }
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        let line = without_colours(line.strip_suffix(b"\r").unwrap_or(line));
        match prefix::read(&line) {
            Some(prefix) => event(&prefix, parsed),
            None => apart(&line, parsed),
        }
    }

    fn parts<'a>(&self, line: &'a [u8]) -> Option<LineParts<'a>> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if memchr::memchr(0x1b, line).is_some() {
            return None;
        }
        let PerfPrefix {
            tid,
            start_ns,
            dur_ns,
            rest,
            body,
            ..
        } = prefix::read(line)?;
        // The stamp of a second half is its end.
        let is_call = matches!(body, PerfBody::Call(..));
        is_call.then_some(LineParts {
            tid,
            stamp_ns: start_ns,
            dur_ns,
            body: rest,
            pid: NO_ID,
            cpu_ns: NO_NS,
        })
    }
}

/// A frame of a call chain, indented as far as the bodies.
fn is_chain(line: &[u8]) -> bool {
    line.starts_with(b"                ") || line.starts_with(b"\t\t")
}

/// A line without a time.
fn apart(line: &[u8], parsed: &mut Parsed) -> Line {
    if let Some(found) = blank(line).or_else(|| table::read(line, parsed)) {
        return found;
    }
    let text = scan::skip_blanks(line);
    if let Some(lost) = text
        .strip_prefix(b"LOST ")
        .and_then(|rest| rest.strip_suffix(b" events!"))
    {
        let events = scan::number(lost).map_or(NO_NS, |(events, _)| events);
        return Line {
            ret: events,
            ..Line::of(LineKind::Dropped)
        };
    }
    if is_chain(line) {
        return stack::of_perf(line).map_or_else(
            || Line::of(LineKind::Continuation),
            |frame| frame.line(parsed),
        );
    }
    Line::of(match () {
        () if prefix::begins(line) => LineKind::Damaged,
        () if text.starts_with(b"[ perf ") || text.starts_with(b"perf: ") => LineKind::Notice,
        () => LineKind::Foreign,
    })
}

fn event(prefix: &PerfPrefix<'_>, parsed: &mut Parsed) -> Line {
    let mut line = Line::of(LineKind::Call);
    (line.tid, line.stamp_ns) = (prefix.tid, prefix.start_ns);
    let understood = match prefix.body {
        PerfBody::Continued(name, rest) => {
            (line.kind, line.part) = (LineKind::CallEnd, CallPart::Resumed);
            line.stamp_ns = end_ns(prefix);
            returned(name, rest, prefix, &mut line, parsed)
        }
        PerfBody::Call(name, rest) => called(name, rest, prefix, &mut line, parsed),
        PerfBody::Other(name) => {
            line.kind = LineKind::Process;
            line.name = parsed.texts.add(name);
            true
        }
    };
    if !understood {
        return Line {
            tid: line.tid,
            stamp_ns: prefix.start_ns,
            ..Line::of(LineKind::Damaged)
        };
    }
    if line.extra == 0 && line.kind != LineKind::Process && !prefix.comm.is_empty() {
        let program = parsed.texts.add(prefix.comm);
        line.extra = parsed.keep(Extra::Program {
            name: program,
            with: None,
        });
    }
    line
}

fn end_ns(prefix: &PerfPrefix<'_>) -> i64 {
    match (prefix.start_ns, prefix.dur_ns) {
        (NO_NS, _) => NO_NS,
        (start_ns, NO_NS) => start_ns,
        (start_ns, dur_ns) => start_ns.saturating_add(dur_ns),
    }
}

/// A call from its name on: whole, or interrupted by another thread's line.
fn called(
    name: &[u8],
    rest: &[u8],
    prefix: &PerfPrefix<'_>,
    line: &mut Line,
    parsed: &mut Parsed,
) -> bool {
    line.name = parsed.texts.add(name);
    let mut found = list::ArgumentList::default();
    let is_whole = match list::split(rest, &mut found) {
        Some(result) => value(result, line, parsed),
        None => {
            let Some(before) = scan::trim_end(rest).strip_suffix(b"...") else {
                return false;
            };
            let before = scan::trim_end(before);
            found = list::ArgumentList::default();
            list::split(before.strip_suffix(b")").unwrap_or(before), &mut found);
            (line.kind, line.part, line.outcome) =
                (LineKind::CallStart, CallPart::Begun, Outcome::Open);
            true
        }
    };
    line.dur_ns = prefix.dur_ns;
    let named = NamedArguments::of(found.list());
    if let Some(call) = syscalls::by_text(line.name) {
        named.before(name, call, line, parsed);
        let mut scratch = Vec::new();
        call::describe(
            call,
            &named.in_order(name, call, &mut scratch),
            line,
            parsed,
        );
    }
    named.after(line, parsed);
    succeeded(name, prefix, line, parsed);
    if line.outcome == Outcome::NoReturn {
        leaves(name, &named, line, parsed);
    }
    is_whole
}

/// The end of a process or of a thread. The arguments of clone3 are behind an address, so they do not show which of the
/// two it created.
fn leaves(name: &[u8], named: &NamedArguments<'_>, line: &mut Line, parsed: &mut Parsed) {
    match name {
        b"exit_group" => {
            let status = named
                .get(b"error_code")
                .and_then(scan::value)
                .map_or(0, |(status, _)| status);
            line.extra = parsed.keep(Extra::GroupEnd(Ended::Exited((status & 0xff) as i32)));
        }
        b"exit" => line.extra = parsed.keep(Extra::ThreadEnd),
        _ => {}
    }
}

/// The second half: `execve())   = 0`.
fn returned(
    name: &[u8],
    rest: &[u8],
    prefix: &PerfPrefix<'_>,
    line: &mut Line,
    parsed: &mut Parsed,
) -> bool {
    line.name = parsed.texts.add(name);
    line.dur_ns = prefix.dur_ns;
    let mut found = list::ArgumentList::default();
    let Some(result) = list::split(rest, &mut found) else {
        return false;
    };
    if !value(result, line, parsed) {
        return false;
    }
    if let Some(call) = syscalls::by_text(line.name) {
        call::describe_rest(call, &[], line, parsed);
    }
    succeeded(name, prefix, line, parsed);
    true
}

/// Read the text after `= `. It is empty where a child returns from its creation.
fn value(text: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    let text = scan::trim(text);
    text.is_empty()
        || matches!(
            result::read(text, line, parsed),
            result::ReadResult::Whole(_)
        )
}

/// The effect of a successful call on its task.
fn succeeded(name: &[u8], prefix: &PerfPrefix<'_>, line: &mut Line, parsed: &mut Parsed) {
    if line.outcome != Outcome::Ok || line.part == CallPart::Begun {
        return;
    }
    let has_path = matches!(parsed.extra(line), Some(Extra::Exec { .. }));
    match name {
        // The path is an address unless perf was built to read it. The name of the new program is before each
        // later line.
        b"execve" | b"execveat" if !has_path && !prefix.comm.is_empty() => {
            let path = parsed.texts.add(prefix.comm);
            line.extra = parsed.keep(Extra::Exec {
                path,
                argv: Text::NONE,
            });
        }
        b"clone" | b"clone3" | b"fork" | b"vfork" if line.ret == 0 || line.ret == NO_NS => {
            line.extra = parsed.keep(Extra::Born {
                creator_pid: NO_ID,
                thread: false,
            });
        }
        _ => {}
    }
}
