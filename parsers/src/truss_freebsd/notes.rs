//! Lines of truss other than calls: signals, births, ends, messages.

use crate::scan;

/// Such a line, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FreebsdNote<'a> {
    /// `SIGNAL number`, and the text after it.
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
    /// `-- UNKNOWN abi SYSCALL number --`. The line of the call itself follows.
    Unknown,
    /// `Process stopped because of:  number`, from versions that used procfs.
    OldStop,
    /// `truss: text`.
    Message,
}

impl FreebsdNote<'_> {
    /// Whether only this truss prints such a line.
    pub fn is_sign(&self) -> bool {
        match self {
            FreebsdNote::Signal(_, rest) => rest.starts_with(b" (SIG"),
            other => *other != FreebsdNote::Message,
        }
    }
}

/// The note in a line's body, if it is one.
pub(super) fn read(body: &[u8]) -> Option<FreebsdNote<'_>> {
    let all = |text: &[u8]| {
        scan::number(text)
            .filter(|(_, rest)| rest.is_empty())
            .map(|(value, _)| value)
    };
    let between = |front: &[u8], back: &[u8]| {
        let id = all(body.strip_prefix(front)?.strip_suffix(back)?)?;
        i32::try_from(id).ok()
    };
    match body.first()? {
        b'S' => signal(body),
        b'<' if body == b"<new process>" => Some(FreebsdNote::NewProcess),
        b'<' => between(b"<new thread ", b">")
            .map(FreebsdNote::NewThread)
            .or_else(|| between(b"<thread ", b" exited>").map(FreebsdNote::ThreadEnded)),
        b'p' => {
            let killed = body.strip_prefix(b"process killed, signal = ");
            let signal =
                killed.and_then(|text| all(text.strip_suffix(b" (core dumped)").unwrap_or(text)));
            let status = || body.strip_prefix(b"process exit, rval = ").and_then(all);
            signal
                .map(FreebsdNote::Killed)
                .or_else(|| status().map(FreebsdNote::Exit))
        }
        b'-' => {
            let inner = body.strip_prefix(b"-- UNKNOWN ")?.strip_suffix(b" --")?;
            memchr::memmem::find(inner, b"SYSCALL ").map(|_| FreebsdNote::Unknown)
        }
        b'P' => body
            .starts_with(b"Process stopped because of:")
            .then_some(FreebsdNote::OldStop),
        b't' => body.starts_with(b"truss: ").then_some(FreebsdNote::Message),
        _ => None,
    }
}

/// A signal after output of the terminal or the program on the same line: `^CSIGNAL 2 (SIGINT)`.
pub(super) fn signal_inside(body: &[u8]) -> Option<FreebsdNote<'_>> {
    let at = memchr::memmem::rfind(body, b"SIGNAL ")?;
    signal(body.get(at..)?)
        .filter(|note| note.is_sign() || body.get(..at).is_some_and(|front| front == b"^C"))
}

/// `SIGNAL 20 (SIGCHLD) code=CLD_EXITED pid=4712 uid=1001 status=0`; `SIGNAL 11` from old versions.
fn signal(body: &[u8]) -> Option<FreebsdNote<'_>> {
    let (number, rest) = scan::number(body.strip_prefix(b"SIGNAL ")?)?;
    (rest.is_empty() || rest.starts_with(b" (SIG")).then_some(FreebsdNote::Signal(number, rest))
}
