//! What truss says beside calls: signals, births, ends, messages.

use super::layout::FreebsdLayout;
use super::split::Split;
use crate::format::Parsed;
use crate::line::{Ended, Extra, Line, LineKind, NO_ID};
use crate::scan;
use crate::text::Text;

/// Signals of FreeBSD, by number.
const SIGNALS: [&str; 34] = [
    "",
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGEMT",
    "SIGFPE",
    "SIGKILL",
    "SIGBUS",
    "SIGSEGV",
    "SIGSYS",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
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

/// The name of a signal.
fn signal_name(number: i64, parsed: &mut Parsed) -> Text {
    match usize::try_from(number).ok().and_then(|at| SIGNALS.get(at)).filter(|name| !name.is_empty()) {
        Some(name) => parsed.texts.add(name.as_bytes()),
        None => parsed.texts.add(format!("signal {number}").as_bytes()),
    }
}

/// What such a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Note<'a> {
    /// `SIGNAL number`, and what follows.
    Signal(i64, &'a [u8]),
    /// `<new process>`.
    NewProcess,
    /// `<new thread number>`.
    NewThread(i32),
    /// `<thread number exited>`.
    ThreadEnded(i32),
    /// `process exit, rval = number`.
    Exit(i64),
    /// `process killed, signal = number`.
    Killed(i64),
    /// `-- UNKNOWN abi SYSCALL number --`, which the line of the call itself follows.
    Unknown,
    /// `Process stopped because of:  number`, of the times of procfs.
    OldStop,
    /// `truss: text`.
    Message,
}

impl Note<'_> {
    /// Whether no other tracer writes such a line.
    pub fn is_sign(&self) -> bool {
        match self {
            Note::Signal(_, rest) => rest.starts_with(b" (SIG"),
            other => *other != Note::Message,
        }
    }
}

/// What a line's body is, if it is no call.
pub(super) fn read(body: &[u8]) -> Option<Note<'_>> {
    let all = |text: &[u8]| scan::number(text).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value);
    let between = |front: &[u8], back: &[u8]| {
        let id = all(body.strip_prefix(front)?.strip_suffix(back)?)?;
        i32::try_from(id).ok()
    };
    match body.first()? {
        b'S' => signal(body),
        b'<' if body == b"<new process>" => Some(Note::NewProcess),
        b'<' => between(b"<new thread ", b">")
            .map(Note::NewThread)
            .or_else(|| between(b"<thread ", b" exited>").map(Note::ThreadEnded)),
        b'p' => {
            let killed = body.strip_prefix(b"process killed, signal = ");
            let signal = killed.and_then(|text| all(text.strip_suffix(b" (core dumped)").unwrap_or(text)));
            let status = || body.strip_prefix(b"process exit, rval = ").and_then(all);
            signal.map(Note::Killed).or_else(|| status().map(Note::Exit))
        }
        b'-' => {
            let inner = body.strip_prefix(b"-- UNKNOWN ")?.strip_suffix(b" --")?;
            memchr::memmem::find(inner, b"SYSCALL ").map(|_| Note::Unknown)
        }
        b'P' => body.starts_with(b"Process stopped because of:").then_some(Note::OldStop),
        b't' => body.starts_with(b"truss: ").then_some(Note::Message),
        _ => None,
    }
}

/// A signal behind what the terminal or the program wrote before it on the same line: `^CSIGNAL 2 (SIGINT)`.
pub(super) fn signal_inside(body: &[u8]) -> Option<Note<'_>> {
    let at = memchr::memmem::rfind(body, b"SIGNAL ")?;
    signal(body.get(at..)?).filter(|note| note.is_sign() || body.get(..at).is_some_and(|front| front == b"^C"))
}

/// `SIGNAL 20 (SIGCHLD) code=CLD_EXITED pid=4712 uid=1001 status=0`, of old versions `SIGNAL 11`.
fn signal(body: &[u8]) -> Option<Note<'_>> {
    let (number, rest) = scan::number(body.strip_prefix(b"SIGNAL ")?)?;
    (rest.is_empty() || rest.starts_with(b" (SIG")).then_some(Note::Signal(number, rest))
}

/// The line of a note.
pub(super) fn line(note: Note<'_>, split: &Split<'_>, layout: &FreebsdLayout, parsed: &mut Parsed) -> Line {
    let (kind, extra) = match note {
        Note::Signal(number, rest) => return signal_line(number, rest, parsed),
        Note::NewProcess => (LineKind::Process, Some(Extra::Born { creator_pid: NO_ID, thread: false })),
        Note::Exit(status) => (LineKind::Exit, Some(Extra::GroupEnd(exit_status(status, layout, parsed)))),
        Note::Killed(signal) => (LineKind::Exit, Some(Extra::GroupEnd(Ended::Killed(signal_name(signal, parsed))))),
        // Where lines have no thread ids, the threads of a process are one task: it neither begins nor ends here.
        Note::NewThread(_) | Note::ThreadEnded(_) if !layout.has_tids() || !split.prefixed() => {
            (LineKind::Process, None)
        }
        Note::NewThread(_) => (LineKind::Process, Some(Extra::Born { creator_pid: NO_ID, thread: true })),
        Note::ThreadEnded(_) => (LineKind::Exit, Some(Extra::End(Ended::Exited(0)))),
        Note::Unknown | Note::OldStop | Note::Message => (LineKind::Notice, None),
    };
    let mut line = Line::of(kind);
    if let Some(extra) = extra {
        line.extra = parsed.keep(extra);
    }
    line
}

fn signal_line(number: i64, rest: &[u8], parsed: &mut Parsed) -> Line {
    let mut line = Line::of(LineKind::Signal);
    let named = rest.strip_prefix(b" (").and_then(|text| text.get(..memchr::memchr(b')', text)?));
    line.name = match named {
        Some(name) => parsed.texts.add(name),
        None => signal_name(number, parsed),
    };
    let (mut from, mut status, mut code) = (NO_ID, None, &b""[..]);
    for word in rest.split(|&byte| byte == b' ') {
        if let Some((pid, _)) = word.strip_prefix(b"pid=").and_then(scan::number) {
            from = i32::try_from(pid).unwrap_or(NO_ID);
        } else if let Some((value, _)) = word.strip_prefix(b"status=").and_then(scan::value) {
            status = Some(value);
        } else if let Some(name) = word.strip_prefix(b"code=") {
            code = name;
        }
    }
    let ended = status.and_then(|status| match code {
        b"CLD_EXITED" => Some(Ended::Exited(status as i32)),
        b"CLD_KILLED" | b"CLD_DUMPED" => Some(Ended::Killed(signal_name(status, parsed))),
        _ => None,
    });
    line.op = parsed.texts.add(code);
    line.extra = parsed.keep(Extra::Signal { from, ended });
    line
}

/// The status of a process; versions of old print it as wait gives it: 139 is signal 11 with a core, 256 is status 1.
fn exit_status(status: i64, layout: &FreebsdLayout, parsed: &mut Parsed) -> Ended {
    let (signal, has_core) = (status & 0x7f, status & 0x80 != 0);
    match status {
        256.. if signal == 0 => Ended::Exited((status >> 8 & 0xff) as i32),
        1..256 if signal != 0 && (layout.is_old || layout.is_raw && has_core) => {
            Ended::Killed(signal_name(signal, parsed))
        }
        _ => Ended::Exited(status as i32),
    }
}
