//! Text of truss on FreeBSD.
//!
//! ```text
//! In:     812 100123: 0.004017301 0.000017301 openat(AT_FDCWD,"/etc/x",O_RDONLY,00)   ERR#2 'No such file or directory'
//! Out:  pid 812, tid 100123, end 4017301 ns, dur 17301 ns, openat, target /etc/x, ENOENT
//! ```
//!
//! The stamp is the end of a call. `-D` is its duration from entry to return, although the manual describes it
//! differently.

mod call;
mod layout;
mod note_lines;
mod notes;
mod recognise;
mod split;
mod table;

use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::error_names::{self, System};
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{CallPart, Ended, Extra, Line, LineKind, NO_ID, Outcome};
use crate::line_cache::LineParts;
use crate::syscalls::{self, Syscall};
use crate::truss_common::{CallText, TrussCall, set_failed, set_interrupted};
use crate::{prompt, quoting, scan};
use call::{FreebsdEnd, plain_name};
use layout::{FreebsdIds, FreebsdLayout};
use split::{FreebsdSplit, split, split_inside};

/// The format.
pub struct TrussFreebsd;

impl Format for TrussFreebsd {
    fn name(&self) -> &'static str {
        "truss-freebsd"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        recognise::answer(head)
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        Box::new(TrussFreebsdReader {
            layout: layout::of(head),
        })
    }
}

struct TrussFreebsdReader {
    layout: FreebsdLayout,
}

impl LineReader for TrussFreebsdReader {
    fn facts(&self) -> CaptureFacts {
        let (stamped, measured) = (self.layout.has_stamps, self.layout.has_durations());
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
            tick_ns: 1,
            dur_kind: match (measured || self.layout.is_table, stamped) {
                (true, _) => DurKind::Exact,
                (false, true) => DurKind::UpperBound,
                (false, false) => DurKind::None,
            },
            has_durations: measured,
            has_ids: self.layout.ids != FreebsdIds::None,
            // Signal lines of old versions have no id.
            ids_optional: self.layout.is_old && self.layout.ids != FreebsdIds::None,
            names_processes: matches!(self.layout.ids, FreebsdIds::None | FreebsdIds::Process),
            // Old versions print calls when they return, which this one does not.
            prints_exits: false,
            base_ns: 0,
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
        let split = split(line, self.layout.columns);
        match self.event(&split, parsed) {
            Some(found) if split.prefixed() || self.layout.ids == FreebsdIds::None => {
                self.with_columns(found, &split)
            }
            Some(found) => self.unowned(found, &split),
            None => self.other(line, &split, parsed),
        }
    }

    fn parts<'a>(&self, line: &'a [u8]) -> Option<LineParts<'a>> {
        let split = split(line, self.layout.columns);
        let has_ids = self.layout.ids != FreebsdIds::None;
        let is_whole = split.prefixed() == has_ids && split.columns == self.layout.columns;
        let has_prefix = has_ids || self.layout.columns > 0;
        // A line other than a call may contain a line with its own ids.
        if self.layout.is_table
            || !is_whole
            || !has_prefix
            || memchr::memchr(b':', split.body).is_some()
        {
            return None;
        }
        Some(LineParts::of(
            &self.with_columns(Line::of(LineKind::Call), &split),
            split.body,
        ))
    }
}

impl TrussFreebsdReader {
    /// A call or another event.
    fn event(&self, split: &FreebsdSplit<'_>, parsed: &mut Parsed) -> Option<Line> {
        if let Some(note) = notes::read(split.body) {
            return Some(note_lines::line_of(note, split, &self.layout, parsed));
        }
        let CallText::Call(call) = call::read(split.body) else {
            return None;
        };
        if call.end == FreebsdEnd::Nothing && !is_one_way(plain_name(call.name)) {
            return None;
        }
        Some(read_call(&call, parsed))
    }

    /// An event without an id, in a capture whose lines have ids.
    fn unowned(&self, found: Line, split: &FreebsdSplit<'_>) -> Line {
        match found.kind {
            LineKind::Call => self.with_columns(Line::of(LineKind::NoThread), split),
            // The task of this end or birth is unknown. In old versions, it is the only process if there is one.
            LineKind::Exit | LineKind::Process if !self.layout.is_old => Line::of(LineKind::Notice),
            _ => self.with_columns(found, split),
        }
    }

    /// A line that is not an event from its start on.
    fn other(&self, line: &[u8], split: &FreebsdSplit<'_>, parsed: &mut Parsed) -> Line {
        for inside in
            split_inside(line, self.layout.columns).filter(|_| self.layout.ids != FreebsdIds::None)
        {
            if let Some(found) = self.event(&inside, parsed) {
                return self.with_columns(found, &inside);
            }
        }
        if let Some(note) = notes::signal_inside(split.body) {
            let found = note_lines::line_of(note, split, &self.layout, parsed);
            return self.with_columns(found, split);
        }
        let alone = self.layout.ids == FreebsdIds::None && self.layout.columns == 0;
        if let Some(CallText::Call(call)) = quoting::call_inside(line)
            .filter(|_| alone)
            .map(scan::trim)
            .map(call::read)
            && call.end != FreebsdEnd::Nothing
        {
            return read_call(&call, parsed);
        }
        if let Some(open) = self.open_call(split, parsed) {
            return self.with_columns(open, split);
        }
        if let Some(command) = prompt::read(line, parsed) {
            return command;
        }
        let has_columns = split.prefixed() || split.columns > 0;
        let is_cut = match call::read(split.body) {
            CallText::Call(TrussCall { name, .. }) | CallText::Cut(name) => {
                syscalls::by_name(plain_name(name)).is_some()
            }
            CallText::Other => false,
        };
        match has_columns || is_cut {
            true => self.with_columns(Line::of(LineKind::Damaged), split),
            false => Line::of(LineKind::Foreign),
        }
    }

    /// A call without a printed result: it has not returned. Times are printed after the call, so a line with times is cut.
    fn open_call(&self, split: &FreebsdSplit<'_>, parsed: &mut Parsed) -> Option<Line> {
        let is_owned = split.prefixed() == (self.layout.ids != FreebsdIds::None);
        let CallText::Call(call) = call::read(split.body) else {
            return None;
        };
        let is_whole = memchr::memchr_iter(b'"', call.args)
            .count()
            .is_multiple_of(2);
        let is_known = syscalls::by_name(plain_name(call.name)).is_some();
        if !is_owned
            || split.columns > 0
            || !is_whole
            || !is_known
            || call.end != FreebsdEnd::Nothing
        {
            return None;
        }
        let mut line = Line::of(LineKind::CallStart);
        (line.part, line.outcome, line.name) =
            (CallPart::Begun, Outcome::Open, parsed.texts.add(call.name));
        describe(&call, &mut line, parsed);
        Some(line)
    }

    fn with_columns(&self, mut line: Line, split: &FreebsdSplit<'_>) -> Line {
        (line.pid, line.tid) = match (self.layout.ids, split.second) {
            (FreebsdIds::None, _) => (NO_ID, NO_ID),
            (FreebsdIds::Thread, NO_ID) => (NO_ID, split.first),
            (_, NO_ID) => (split.first, split.first),
            (_, second) => (split.first, second),
        };
        if split.columns != self.layout.columns {
            return line;
        }
        let [first_ns, second_ns] = split.times_ns;
        match (split.columns, self.layout.has_stamps) {
            (2, _) => (line.stamp_ns, line.dur_ns) = (first_ns, second_ns),
            (1, true) => line.stamp_ns = first_ns,
            (1, false) => line.dur_ns = first_ns,
            _ => {}
        }
        // The clock was set back during the call, so the duration is unknown.
        if line.dur_ns < 0 && self.layout.has_durations() {
            line.dur_ns = 0;
        }
        line
    }
}

/// Calls that do not return to their caller.
fn is_one_way(name: &[u8]) -> bool {
    matches!(
        name,
        b"exit" | b"_exit" | b"sys_exit" | b"exit_group" | b"thr_exit" | b"abort2"
    )
}

fn read_call(call: &TrussCall<'_, FreebsdEnd>, parsed: &mut Parsed) -> Line {
    let mut line = Line::of(LineKind::Call);
    line.name = parsed.texts.add(call.name);
    match call.end {
        FreebsdEnd::Value(value) => line.ret = value,
        FreebsdEnd::JustReturns => {}
        FreebsdEnd::Restarts => set_interrupted(&mut line, parsed),
        FreebsdEnd::Error(number) => {
            // The number is of the program's system, although the text is FreeBSD's.
            let system = if call.name.starts_with(b"linux_") {
                System::Linux
            } else {
                System::FreeBsd
            };
            let name = error_names::name(system, number).unwrap_or_default();
            set_failed(&mut line, name.as_bytes(), "ERR#", number, parsed);
        }
        FreebsdEnd::Nothing => line.outcome = Outcome::NoReturn,
    }
    describe(call, &mut line, parsed);
    line
}

/// Descriptor, operation, target and extra, by the rules common to all formats.
fn describe(call: &TrussCall<'_, FreebsdEnd>, line: &mut Line, parsed: &mut Parsed) {
    let plain = plain_name(call.name);
    let (mut args, count) = call::arguments(call.args);
    if line.outcome == Outcome::NoReturn {
        let status = scan::value(args[0]).map_or(0, |(status, _)| status);
        line.extra = parsed.keep(match plain {
            b"thr_exit" => Extra::End(Ended::Exited(0)),
            _ => Extra::GroupEnd(Ended::Exited((status & 0xff) as i32)),
        });
    } else if let Some(known) = syscalls::by_name(plain) {
        without_pointers(known, &mut args);
        crate::call::describe(known, args.get(..count).unwrap_or(&args), line, parsed);
    }
}

/// Remove addresses that are printed in place of lists of descriptors.
fn without_pointers(known: &Syscall, args: &mut [&[u8]; crate::scan::MAX_ARGS]) {
    for (letter, arg) in known.args.bytes().zip(args.iter_mut()) {
        if matches!(letter, b'l' | b'k' | b'q' | b'e') && arg.starts_with(b"0x") {
            *arg = b"";
        }
    }
}
