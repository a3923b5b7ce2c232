//! Lines other than calls: signals, ends, messages, stacks and dumps.

use crate::call::{read_siginfo, signal_number};
use crate::facts::Fact;
use crate::format::Parsed;
use crate::line::{Ended, Extra, Line, LineKind, NO_ID};
use crate::scan;
use memchr::memmem;

/// `--- SIGCHLD {…} ---`, `--- SIGALRM (Alarm clock) @ 0 (0) ---`, `--- {si_signo=…} (…) ---`, `--- stopped by SIGSTOP ---`.
pub fn signal(text: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    let Some(inner) = text
        .strip_prefix(b"--- ")
        .and_then(|inner| inner.strip_suffix(b" ---"))
    else {
        return false;
    };
    if let Some(name) = inner.strip_prefix(b"stopped by ") {
        line.kind = LineKind::Process;
        line.name = parsed.texts.add(scan::trim(name));
        line.extra = parsed.keep(Extra::Stopped(true));
        return true;
    }
    let name = match inner.strip_prefix(b"{") {
        Some(_) => after(inner, b"si_signo=").unwrap_or(b""),
        None => inner,
    };
    let name = match scan::number(name) {
        Some((number, _)) => signal_number(number).unwrap_or(b""),
        None => word(name),
    };
    if name.is_empty() && !inner.starts_with(b"{") {
        return false;
    }
    line.kind = LineKind::Signal;
    line.name = parsed.texts.add(name);
    let (from, ended) = read_siginfo(inner, parsed);
    line.extra = parsed.keep(Extra::Signal { from, ended });
    if FAULTS.contains(&name) {
        fault(inner, line, parsed);
    }
    true
}

/// Signals by which a program ends because of a fault of its own, unless it handles them.
const FAULTS: [&[u8]; 7] = [
    b"SIGABRT", b"SIGBUS", b"SIGFPE", b"SIGILL", b"SIGSEGV", b"SIGSYS", b"SIGTRAP",
];

/// `{si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x18}`: the cause and the address of a fault.
fn fault(siginfo: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let code = after(siginfo, b" si_code=").map_or(&b""[..], word);
    if !code.is_empty() {
        let code = parsed.texts.add(code);
        parsed.add_fact(line, Fact::FaultCode(code));
    }
    if let Some(call) = after(siginfo, b" si_syscall=__NR_").map(word) {
        let call = parsed.texts.add(call);
        parsed.add_fact(line, Fact::RefusedCall(call));
    }
    let address = after(siginfo, b" si_addr=").and_then(address);
    if let Some(address) = address {
        parsed.add_fact(line, Fact::FaultAddress(address));
    }
}

/// `0x18`, or `NULL`, in old versions `0`.
fn address(text: &[u8]) -> Option<u64> {
    if matches!(word(text), b"NULL" | b"0") {
        return Some(0);
    }
    let (address, _) = scan::value(text).filter(|_| text.starts_with(b"0x"))?;
    Some(address as u64)
}

/// `+++ exited with 3 +++`, `+++ killed by SIGSEGV (core dumped) +++`, `+++ superseded by execve in pid 12 +++`.
pub fn end(text: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    let Some(inner) = text
        .strip_prefix(b"+++ ")
        .and_then(|inner| inner.strip_suffix(b" +++"))
    else {
        return false;
    };
    // ltrace prints the second form.
    let exited = inner
        .strip_prefix(b"exited with ")
        .or_else(|| inner.strip_prefix(b"exited (status "));
    let extra = if let Some((status, _)) = exited.and_then(scan::signed) {
        Extra::End(Ended::Exited(status as i32))
    } else if let Some(name) = inner.strip_prefix(b"killed by ") {
        Extra::End(Ended::Killed(parsed.texts.add(word(name))))
    } else if let Some(by) = inner.strip_prefix(b"superseded by execve in pid ") {
        Extra::Superseded {
            by: crate::call::tracer_id(by).unwrap_or_else(|| id(by)),
        }
    } else {
        return false;
    };
    line.kind = if matches!(extra, Extra::End(_)) {
        LineKind::Exit
    } else {
        LineKind::Process
    };
    line.extra = parsed.keep(extra);
    true
}

/// A message of strace about itself.
pub fn message(text: &[u8], parsed: &mut Parsed) -> Option<Line> {
    let text = text.strip_prefix(b"^C").unwrap_or(text);
    // The personality of a process that goes on, or has ended: no event of its life.
    if text.starts_with(b"[ Process PID=") && text.ends_with(b" mode. ]") {
        return Some(Line::of(LineKind::Notice));
    }
    if text.starts_with(b"Process ") {
        return about_process(text, parsed);
    }
    let message = own_message(text)?;
    if message.starts_with(b"[ Process PID=") {
        return Some(Line::of(LineKind::Notice));
    }
    about_process(message, parsed).or_else(|| Some(Line::of(LineKind::Notice)))
}

/// The text after `strace: `, with or without the path of strace.
fn own_message(text: &[u8]) -> Option<&[u8]> {
    if text.starts_with(b"[wait(0x") {
        return Some(text);
    }
    let end = text.iter().position(|&byte| byte == b' ')?;
    let program = text[..end].strip_suffix(b":")?;
    let name = program.rsplit(|&byte| byte == b'/').next()?;
    name.starts_with(b"strace").then(|| &text[end + 1..])
}

/// `Process 12 attached with 5 threads`, `Process 12 detached`, `Process 12 suspended`.
fn about_process(text: &[u8], parsed: &mut Parsed) -> Option<Line> {
    let (id, rest) = scan::number(text.strip_prefix(b"Process ")?)?;
    let id = i32::try_from(id).ok()?;
    let attached = match rest {
        _ if rest.starts_with(b" attached") => true,
        _ if rest.starts_with(b" detached") => false,
        _ if rest.starts_with(b" suspended") || rest.starts_with(b" resumed") => {
            return Some(Line::of(LineKind::Notice));
        }
        _ => return None,
    };
    let mut line = Line::of(LineKind::Process);
    let threads = rest.strip_prefix(b" attached with ").and_then(scan::number);
    line.extra = parsed.keep(
        match threads.and_then(|(threads, _)| u32::try_from(threads).ok()) {
            Some(threads) => Extra::AttachedAll { pid: id, threads },
            None => Extra::Attached(id, attached),
        },
    );
    Some(line)
}

/// Where a message begins that cut a line, and the process that it attaches to or detaches from.
pub fn message_inside(text: &[u8]) -> Option<(usize, Option<(i32, bool)>)> {
    let at = memmem::rfind(text, b"Process ")?;
    let (id, rest) = scan::number(&text[at + 8..])?;
    let attached = match rest {
        b" attached" => Some(true),
        b" detached" => Some(false),
        b" suspended" => None,
        _ if rest.starts_with(b" attached ") => Some(true),
        _ if rest.starts_with(b" resumed") => None,
        _ => return None,
    };
    let process = i32::try_from(id).ok().zip(attached);
    let start = own_name_start(text, at);
    // What the terminal shows of the key that ended strace.
    Some((
        text[..start].strip_suffix(b"^C").map_or(start, <[u8]>::len),
        process,
    ))
}

/// Where `strace: ` or `/usr/bin/strace: ` before this place begins.
fn own_name_start(text: &[u8], at: usize) -> usize {
    let Some(before) = text[..at].strip_suffix(b"strace: ") else {
        return at;
    };
    if before.last() != Some(&b'/') {
        return before.len();
    }
    let path = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(byte);
    let start = before
        .iter()
        .rposition(|byte| !path(byte))
        .map_or(0, |at| at + 1);
    // `clone3({…}, 88/usr/bin/strace:`: the digits are the last argument.
    let start = start
        + before[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
    // `/* 35 vars *//usr/bin/strace:`: the first slash ends the comment.
    start + usize::from(before[start..].starts_with(b"//"))
}

/// Stack frames, dumps of buffers, states of virtual processors.
pub fn is_auxiliary(line: &[u8]) -> bool {
    matches!(line, [b' ', b'>' | b'|' | b'*', b' ', ..]) || line.starts_with(b" VCPU:")
}

fn after<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    memmem::find(text, key).map(|at| &text[at + key.len()..])
}

fn word(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
        .unwrap_or(text.len());
    &text[..end]
}

/// The decimal id at the start.
pub fn id(text: &[u8]) -> i32 {
    scan::number(text)
        .and_then(|(id, _)| i32::try_from(id).ok())
        .unwrap_or(NO_ID)
}
