//! Lines of truss other than calls: signals, faults, siginfo, arguments, verbose lines, messages.

use super::split::SolarisSplit;
use crate::facts::Fact;
use crate::format::Parsed;
use crate::line::{Ended, Extra, Line, LineKind, NO_ID};
use crate::prompt;
use crate::scan;
use crate::text::Text;
use crate::truss_common::{SignalInfo, signal_name};

/// Signals of Solaris and illumos after SIGTERM, by number.
const LATER_SIGNALS: [&str; 26] = [
    "SIGUSR1",
    "SIGUSR2",
    "SIGCLD",
    "SIGPWR",
    "SIGWINCH",
    "SIGURG",
    "SIGPOLL",
    "SIGSTOP",
    "SIGTSTP",
    "SIGCONT",
    "SIGTTIN",
    "SIGTTOU",
    "SIGVTALRM",
    "SIGPROF",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGWAITING",
    "SIGLWP",
    "SIGFREEZE",
    "SIGTHAW",
    "SIGCANCEL",
    "SIGLOST",
    "SIGXRES",
    "SIGJVM1",
    "SIGJVM2",
    "SIGINFO",
];

/// How a process ended, from its wait status.
pub(super) fn wait_status(status: i64, parsed: &mut Parsed) -> Option<Ended> {
    match status & 0x7f {
        0 => Some(Ended::Exited((status >> 8 & 0xff) as i32)),
        0x7f => None,
        signal => Some(Ended::Killed(signal_name(&LATER_SIGNALS, signal, parsed))),
    }
}

/// Signals that do not end a process by default: they are ignored, or stop or continue it.
const HARMLESS: [&str; 18] = [
    "SIGCLD",
    "SIGCHLD",
    "SIGPWR",
    "SIGWINCH",
    "SIGURG",
    "SIGSTOP",
    "SIGTSTP",
    "SIGCONT",
    "SIGTTIN",
    "SIGTTOU",
    "SIGWAITING",
    "SIGLWP",
    "SIGFREEZE",
    "SIGTHAW",
    "SIGCANCEL",
    "SIGJVM1",
    "SIGJVM2",
    "SIGINFO",
];

/// A line that is an event of its own, but not a call.
pub(super) fn event(body: &[u8], parsed: &mut Parsed) -> Option<Line> {
    if let Some(rest) = body.strip_prefix(b"Received signal #") {
        let mut line = signal(rest, LineKind::Signal, parsed)?;
        // sigtimedwait(2) accepts a signal that is blocked: it is returned, and its action is not taken.
        let is_accepted = parsed.texts.string(line.target).starts_with("sig");
        let is_harmless = HARMLESS.contains(&&*parsed.texts.string(line.name));
        let kills = rest.ends_with(b"[default]") && !is_harmless && !is_accepted;
        line.extra = parsed.keep(match kills {
            true => Extra::GroupEnd(Ended::Killed(line.name)),
            false => Extra::Signal {
                from: NO_ID,
                ended: None,
            },
        });
        return Some(line);
    }
    if let Some(rest) = body.strip_prefix(b"Stopped by signal #") {
        let mut line = signal(rest, LineKind::Process, parsed)?;
        line.extra = parsed.keep(Extra::Stopped(true));
        return Some(line);
    }
    if let Some(rest) = body.strip_prefix(b"Continued with signal #") {
        let mut line = signal(rest, LineKind::Process, parsed)?;
        line.extra = parsed.keep(Extra::Stopped(false));
        return Some(line);
    }
    // Not counted as a signal: the signal of a fault has its own line.
    signal(
        body.strip_prefix(b"Incurred fault #")?,
        LineKind::Process,
        parsed,
    )
}

/// `2, SIGINT, in pollsys() [default]`: the name; the action as operation; the interrupted call as target.
fn signal(text: &[u8], kind: LineKind, parsed: &mut Parsed) -> Option<Line> {
    let (_, rest) = scan::number(text)?;
    let rest = scan::skip_blanks(rest.strip_prefix(b",")?);
    let end = rest
        .iter()
        .position(|byte| matches!(byte, b',' | b' ' | b'\t' | b'['))
        .unwrap_or(rest.len());
    let name = rest
        .get(..end)
        .filter(|name| name.first().is_some_and(u8::is_ascii_uppercase))?;
    let action = memchr::memrchr(b'[', rest).and_then(|at| rest.get(at + 1..)?.strip_suffix(b"]"));
    let broken =
        memchr::memmem::find(rest, b", in ").and_then(|at| scan::name(rest.get(at + 5..)?));
    let mut line = Line::of(kind);
    line.name = parsed.texts.add(name);
    line.target = parsed.texts.add(broken.map_or(b"", |(call, _)| call));
    line.op = parsed.texts.add(action.unwrap_or(b""));
    Some(line)
}

/// A line that belongs to the event before it, whatever the capture's layout.
pub(super) fn continuation(body: &[u8], parsed: &mut Parsed) -> Option<Line> {
    let mut line = Line::of(LineKind::Continuation);
    if let Some(rest) = body.strip_prefix(b"siginfo: ") {
        siginfo(rest, &mut line, parsed);
        return Some(line);
    }
    if let Some(rest) = body.strip_prefix(b"argv:") {
        let argv = parsed.texts.add(scan::trim(rest));
        line.extra = parsed.keep(Extra::Exec {
            path: Text::NONE,
            argv,
        });
        return Some(line);
    }
    if let Some(rest) = body.strip_prefix(b"psargs:") {
        // A process that was running already: no other line names its program.
        let words = scan::trim(rest);
        let path = words.split(|&byte| byte == b' ').next().unwrap_or(words);
        let (path, argv) = (parsed.texts.add(path), parsed.texts.add(words));
        line.extra = parsed.keep(Extra::Exec { path, argv });
        return Some(line);
    }
    for words in [&b"timeout: "[..], b"tmout: "] {
        if let Some((time_ns, _, rest)) = body.strip_prefix(words).and_then(scan::seconds) {
            if scan::trim(rest) == b"sec" {
                line.extra = parsed.keep(Fact::Timeout(time_ns));
            }
            return Some(line);
        }
    }
    if let Some((fd, rest)) = body.strip_prefix(b"fd=").and_then(scan::number) {
        polled(fd, rest, &mut line, parsed);
        return Some(line);
    }
    if let Some(address) = peer(body) {
        line.target = parsed.texts.add(&address);
        return Some(line);
    }
    let starts: [&[u8]; 6] = [
        b"envp:",
        b"*** SUID:",
        b"*** SGID:",
        b"*** FPRIV:",
        b"-> ",
        b"<- ",
    ];
    starts
        .iter()
        .any(|words| body.starts_with(words))
        .then_some(line)
}

/// `AF_INET  name = 127.0.0.1  port = 53` after a connect (`-v`): the peer.
fn peer(body: &[u8]) -> Option<Vec<u8>> {
    let (is_v6, rest) = match body.strip_prefix(b"AF_INET  name = ") {
        Some(rest) => (false, rest),
        None => (true, body.strip_prefix(b"AF_INET6  name = ")?),
    };
    let at = memchr::memmem::find(rest, b"  port = ")?;
    let (host, port) = (&rest[..at], scan::trim(&rest[at + 9..]));
    scan::number(port).filter(|(_, after)| after.is_empty())?;
    Some(if is_v6 {
        [b"[", host, b"]:", port].concat()
    } else {
        [host, b":", port].concat()
    })
}

/// `fd=7  ev=POLLRDNORM rev=POLLRDNORM` after a poll: stored if this descriptor ended the poll.
fn polled(fd: i64, rest: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let Ok(fd) = i32::try_from(fd) else { return };
    let Some(at) = memchr::memmem::find(rest, b" rev=") else {
        return;
    };
    line.fd = fd;
    if !matches!(rest.get(at + 5..), None | Some(b"" | b"0")) {
        line.extra = parsed.keep(Fact::Fds(Box::new([fd])));
    }
}

/// `SIGCLD CLD_EXITED pid=4711 status=0x0001`, `SIGALRM pid=408 uid=0`.
fn siginfo(text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let mut words = text
        .split(|byte| matches!(byte, b' ' | b'\t'))
        .filter(|word| !word.is_empty());
    line.name = parsed.texts.add(words.next().unwrap_or(b""));
    let extra = SignalInfo::of(words).extra(&LATER_SIGNALS, parsed);
    line.extra = parsed.keep(extra);
}

/// `Base time stamp:  1259025932.1234  [ Tue Nov 24 01:25:32 GMT 2009 ]`: the moment that stamps count from.
pub(super) fn base_ns(line: &[u8]) -> Option<i64> {
    let rest = scan::skip_blanks(line).strip_prefix(b"Base time stamp:")?;
    Some(scan::seconds(scan::skip_blanks(rest))?.0)
}

/// A message of truss about itself, or about a process that it lost.
pub(super) fn message(split: &SolarisSplit<'_>, parsed: &mut Parsed) -> Option<Line> {
    let body = split.body;
    if body == b"*** process killed ***" {
        return Some(Line::of(LineKind::Exit));
    }
    if body.starts_with(b"*** lost control of process")
        || body.starts_with(b"*** cannot trace across exec()")
    {
        let mut line = Line::of(LineKind::Process);
        line.extra = parsed.keep(Extra::Attached(split.pid, false));
        return Some(line);
    }
    if let Some(base_ns) = base_ns(body) {
        let mut line = Line::of(LineKind::Notice);
        line.extra = parsed.keep(Extra::Restarted { base_ns });
        return Some(line);
    }
    if let Some(command) = prompt::read(body, parsed) {
        return Some(command);
    }
    let is_notice = (body.starts_with(b"*** ") && body.ends_with(b"***"))
        || body.starts_with(b"(Warning: no matching active LWPs")
        || body.starts_with(b"truss: ");
    is_notice.then(|| Line::of(LineKind::Notice))
}
