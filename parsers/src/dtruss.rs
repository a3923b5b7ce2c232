//! Text of dtruss, Apple's and the DTraceToolkit's.
//!
//! ```text
//! In:   29738/0x5d702:       283      80     18 write(0x7, "test\r\n\0", 0x10)   = 16 0
//! Out:  pid 29738, tid 0x5d702, dur 80000 ns, CPU 18000 ns, write, fd 7, ret 16; at 283000 ns of the thread's CPU clock
//! ```
//!
//! There is no wall clock: RELATIVE is the CPU time that the thread has used. Lines whose numbers have colons are not
//! calls; they are the first line of a thread or process.

mod call;
mod layout;
mod notes;
mod recognise;

use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::error_names;
use crate::facts::Fact;
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{Extra, Line, LineKind, NO_ID, NO_NS};
use crate::line_cache::LineParts;
use crate::syscalls::{self, Syscall};
use crate::truss_common::{CallText, TrussCall, set_failed, set_interrupted};
use crate::{quoting, scan};
use call::{DtrussEnd, DtrussSplit, split, split_inside};
use layout::{DtrussColumn, DtrussLayout};

/// The format.
pub struct Dtruss;

impl Format for Dtruss {
    fn name(&self) -> &'static str {
        "dtruss"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        recognise::answer(head)
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        Box::new(DtrussReader {
            layout: layout::of(head),
        })
    }
}

struct DtrussReader {
    layout: DtrussLayout,
}

impl LineReader for DtrussReader {
    fn facts(&self) -> CaptureFacts {
        let (stamped, measured) = (
            self.layout.has(DtrussColumn::Relative),
            self.layout.has(DtrussColumn::Elapsed),
        );
        CaptureFacts {
            stamp: if stamped {
                StampMoment::End
            } else {
                StampMoment::None
            },
            clock: if stamped {
                Clock::PerThread
            } else {
                Clock::None
            },
            tick_ns: 1_000,
            dur_kind: if measured {
                DurKind::Exact
            } else {
                DurKind::None
            },
            has_durations: measured,
            has_ids: self.layout.has_ids,
            base_ns: 0,
            ..CaptureFacts::PLAIN
        }
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        if let Some(line) = blank(line) {
            return line;
        }
        let split = split(line);
        if let CallText::Call(call) = call::read(split.body) {
            return self.called(&call, &split, parsed);
        }
        if let Some(found) = notes::read(line, parsed) {
            return found;
        }
        self.other(line, &split, parsed)
    }

    fn parts<'a>(&self, line: &'a [u8]) -> Option<LineParts<'a>> {
        let split = split(line);
        let is_usual =
            split.tid != NO_ID && !split.has_colons && self.layout.shows_colons(split.count);
        // A line other than a call may contain a line with its own ids.
        if !is_usual || memchr::memchr(b':', split.body).is_some() {
            return None;
        }
        Some(LineParts::of(
            &self.with_columns(Line::of(LineKind::Call), &split),
            split.body,
        ))
    }
}

impl DtrussReader {
    /// A line that has the form of a call.
    fn called(
        &self,
        call: &TrussCall<'_, DtrussEnd>,
        split: &DtrussSplit<'_>,
        parsed: &mut Parsed,
    ) -> Line {
        let is_lost = split.tid == NO_ID && self.layout.has_ids && !self.layout.ids_optional;
        let line = match () {
            () if is_lost => Line::of(LineKind::NoThread),
            () if split.has_colons || self.is_first_line(call, split) => first_line(call, parsed),
            () => self.read_call(call, parsed),
        };
        self.with_columns(line, split)
    }

    /// Whether a fork that returns 0 is a first line, where no numbers can have colons. A real fork returns the child.
    fn is_first_line(&self, call: &TrussCall<'_, DtrussEnd>, split: &DtrussSplit<'_>) -> bool {
        let plain = !self.layout.shows_colons(split.count);
        plain
            && call.end.ret == 0
            && split.tid != NO_ID
            && matches!(call.name, b"fork" | b"vfork" | b"forksys" | b"fork1")
    }

    fn read_call(&self, call: &TrussCall<'_, DtrussEnd>, parsed: &mut Parsed) -> Line {
        let mut line = Line::of(LineKind::Call);
        line.name = parsed.texts.add(call.name);
        line.ret = call.end.ret;
        match call.end.error {
            // EJUSTRETURN: the kernel does not set the return registers.
            0 | -2 => {}
            -1 => set_interrupted(&mut line, parsed),
            number => {
                let name = error_names::name(self.layout.system, number).unwrap_or_default();
                set_failed(&mut line, name.as_bytes(), "Err#", number, parsed);
            }
        }
        describe(call, &mut line, parsed);
        line
    }

    /// A line that is neither a call from its start on nor a note.
    fn other(&self, line: &[u8], split: &DtrussSplit<'_>, parsed: &mut Parsed) -> Line {
        if let Some(inside) = split_inside(line).filter(|_| self.layout.has_ids)
            && let CallText::Call(call) = call::read(inside.body)
        {
            return self.called(&call, &inside, parsed);
        }
        if let Some(CallText::Call(call)) =
            quoting::call_inside(line).map(scan::trim).map(call::read)
            && split.tid == NO_ID
            && !self.layout.has_ids
        {
            return self.read_call(&call, parsed);
        }
        let is_cut = matches!(call::read(split.body), CallText::Cut(name) if known(name).is_some());
        match split.tid != NO_ID || is_cut {
            true => self.with_columns(Line::of(LineKind::Damaged), split),
            false => Line::of(LineKind::Foreign),
        }
    }

    fn with_columns(&self, mut line: Line, split: &DtrussSplit<'_>) -> Line {
        (line.pid, line.tid) = (split.pid, split.tid);
        for (column, number) in self.layout.columns(split.count).iter().zip(split.numbers) {
            let ns = number.saturating_mul(1_000);
            match column {
                DtrussColumn::Relative => line.stamp_ns = ns,
                // A line that is not a call has no duration.
                _ if split.has_colons => {}
                DtrussColumn::Elapsed => line.dur_ns = ns,
                DtrussColumn::Cpu => line.cpu_ns = ns,
            }
        }
        line
    }
}

/// The first line of a thread or process. If it shows a child, it is the parent's, and the call itself has its own
/// line.
fn first_line(call: &TrussCall<'_, DtrussEnd>, parsed: &mut Parsed) -> Line {
    if call.end.ret != 0 {
        return Line::of(LineKind::Notice);
    }
    let mut line = Line::of(LineKind::Process);
    line.extra = parsed.keep(Extra::Born {
        creator_pid: NO_ID,
        thread: false,
    });
    line
}

/// The syscall of this name. Calls at which a thread can be cancelled have `_nocancel` variants.
fn known(name: &[u8]) -> Option<&'static Syscall> {
    syscalls::by_name(name.strip_suffix(b"_nocancel").unwrap_or(name))
}

/// Larger descriptors do not exist: for anonymous memory, mmap has a tag in their place.
const MAX_FD: i32 = 0xff_ffff;

/// Descriptor, operation, target and extra, by the rules common to all formats.
fn describe(call: &TrussCall<'_, DtrussEnd>, line: &mut Line, parsed: &mut Parsed) {
    let Some(known) = known(call.name) else {
        return;
    };
    let (mut args, count) = call::arguments(call.args);
    without_raw(known, &mut args, line, parsed);
    crate::call::describe(known, args.get(..count).unwrap_or(&args), line, parsed);
    if line.fd > MAX_FD {
        line.fd = NO_ID;
    }
    // nanosleep, sleep and usleep of macOS: `__semwait_signal(cond, mutex, has_timeout, is_relative, seconds, nanoseconds)`.
    if known.canonical() == "semwait_signal"
        && let (Some((seconds, _)), Some((nanos, _))) =
            (crate::scan::value(args[4]), crate::scan::value(args[5]))
        && args[3] == b"0x1"
    {
        line.extra = parsed.keep(Fact::Timeout(
            seconds.saturating_mul(1_000_000_000).saturating_add(nanos),
        ));
    }
    // Solaris has one call for all forks; its first argument selects which.
    if known.name == "forksys"
        && let Some(child) = i32::try_from(call.end.ret)
            .ok()
            .filter(|&child| child > 0 && call.end.error == 0)
    {
        let vfork = args[0] == b"0x2";
        line.extra = parsed.keep(Extra::Spawn {
            child,
            thread: false,
            vfork,
            shares_files: false,
        });
    }
}

/// Every number is hexadecimal: addresses of lists contain no descriptors, and ids are converted to decimal.
fn without_raw(
    known: &Syscall,
    args: &mut [&[u8]; crate::scan::MAX_ARGS],
    line: &mut Line,
    parsed: &mut Parsed,
) {
    for (letter, arg) in known
        .args
        .bytes()
        .zip(args.iter_mut())
        .filter(|(_, arg)| arg.starts_with(b"0x"))
    {
        match letter {
            b'l' | b'k' | b'q' | b'e' => *arg = b"",
            b'i' => {
                let id = scan::value(arg).map_or(NO_NS, |(id, _)| id);
                if !line.target.is_some() && (1..=i64::from(i32::MAX)).contains(&id) {
                    line.target = parsed.texts.add(id.to_string().as_bytes());
                }
                *arg = b"";
            }
            _ => {}
        }
    }
}
