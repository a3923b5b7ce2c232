//! The lines of notes: what a signal, a birth or an end means for its task.

use super::layout::FreebsdLayout;
use super::notes::FreebsdNote;
use super::split::FreebsdSplit;
use crate::format::Parsed;
use crate::line::{Ended, Extra, Line, LineKind, NO_ID};
use crate::truss_common::{SignalInfo, signal_name};

/// Signals of FreeBSD after SIGTERM, by number.
const LATER_SIGNALS: [&str; 18] = [
    "SIGURG",
    "SIGSTOP",
    "SIGTSTP",
    "SIGCONT",
    "SIGCHLD",
    "SIGTTIN",
    "SIGTTOU",
    "SIGIO",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGINFO",
    "SIGUSR1",
    "SIGUSR2",
    "SIGTHR",
    "SIGLIBRT",
];

/// The line of a note.
pub(super) fn line_of(
    note: FreebsdNote<'_>,
    split: &FreebsdSplit<'_>,
    layout: &FreebsdLayout,
    parsed: &mut Parsed,
) -> Line {
    let (kind, extra) = match note {
        FreebsdNote::Signal(number, rest) => return signal_line(number, rest, parsed),
        FreebsdNote::NewProcess => (
            LineKind::Process,
            Some(Extra::Born {
                creator_pid: NO_ID,
                thread: false,
            }),
        ),
        FreebsdNote::Exit(status) => (
            LineKind::Exit,
            Some(Extra::GroupEnd(exit_status(status, layout, parsed))),
        ),
        FreebsdNote::Killed(signal) => (
            LineKind::Exit,
            Some(Extra::GroupEnd(Ended::Killed(signal_name(
                &LATER_SIGNALS,
                signal,
                parsed,
            )))),
        ),
        // Without thread ids, the threads of a process are one task, which neither begins nor ends here.
        FreebsdNote::NewThread(_) | FreebsdNote::ThreadEnded(_)
            if !layout.has_tids() || !split.prefixed() =>
        {
            (LineKind::Process, None)
        }
        FreebsdNote::NewThread(_) => (
            LineKind::Process,
            Some(Extra::Born {
                creator_pid: NO_ID,
                thread: true,
            }),
        ),
        FreebsdNote::ThreadEnded(_) => (LineKind::Exit, Some(Extra::End(Ended::Exited(0)))),
        FreebsdNote::Unknown | FreebsdNote::OldStop | FreebsdNote::Message => {
            (LineKind::Notice, None)
        }
    };
    let mut line = Line::of(kind);
    if let Some(extra) = extra {
        line.extra = parsed.keep(extra);
    }
    line
}

fn signal_line(number: i64, rest: &[u8], parsed: &mut Parsed) -> Line {
    let mut line = Line::of(LineKind::Signal);
    let named = rest
        .strip_prefix(b" (")
        .and_then(|text| text.get(..memchr::memchr(b')', text)?));
    line.name = match named {
        Some(name) => parsed.texts.add(name),
        None => signal_name(&LATER_SIGNALS, number, parsed),
    };
    let info = SignalInfo::of(rest.split(|&byte| byte == b' '));
    line.op = parsed.texts.add(info.code);
    let extra = info.extra(&LATER_SIGNALS, parsed);
    line.extra = parsed.keep(extra);
    line
}

/// The status of a process. Old versions print the status of wait: 139 is signal 11 with a core dump, 256 is status 1.
fn exit_status(status: i64, layout: &FreebsdLayout, parsed: &mut Parsed) -> Ended {
    let (signal, has_core) = (status & 0x7f, status & 0x80 != 0);
    match status {
        256.. if signal == 0 => Ended::Exited((status >> 8 & 0xff) as i32),
        1..256 if signal != 0 && (layout.is_old || layout.is_raw && has_core) => {
            Ended::Killed(signal_name(&LATER_SIGNALS, signal, parsed))
        }
        _ => Ended::Exited(status as i32),
    }
}
