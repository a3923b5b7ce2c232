//! Processes: execve, clone and wait, whole or in halves, and what a siginfo reports about a child.

use super::value::{id_text, tracer_id, unescape};
use super::{may_succeed, without_key};
use crate::format::Parsed;
use crate::line::{CallPart, Ended, Extra, Line, NO_ID, NO_NS, Outcome};
use crate::scan;
use crate::syscalls::{self, Action, Syscall};
use crate::text::Text;

/// Longest stored arguments of a program, in bytes.
const MAX_ARGV_BYTES: usize = 500;

/// The raw bits of clone's flags.
const RAW_FILES: i64 = 0x400;
const RAW_VFORK: i64 = 0x4000;
const RAW_THREAD: i64 = 0x1_0000;

/// The flags with which a task is created.
#[derive(Clone, Copy, Default)]
struct Flags {
    thread: bool,
    vfork: bool,
    shares_files: bool,
}

/// The extra of a whole call or first half.
pub fn describe(call: &Syscall, args: &[&[u8]], line: &mut Line, parsed: &mut Parsed) {
    match call.action {
        Action::Execs => exec(argv(call, args), line, parsed),
        Action::WaitsForChild | Action::WaitsForChildInfo => waited(args, line, parsed),
        Action::Restarts => line.op = resumed_name(args.first().copied().unwrap_or(b""), parsed),
        action if action.creates_task() => spawn(flags(call, args), line, parsed),
        _ => match call.name {
            // Only Linux prints the status like this. On other systems `exit` ends the process, and their readers
            // handle it.
            "exit" | "exit_group" | "_exit" if line.extra == 0 => ends(call, args, line, parsed),
            // No other call contains both the process and the thread.
            "tgkill" if line.outcome == Outcome::Ok => member(args, line, parsed),
            _ => {}
        },
    }
}

/// The arguments of the program, which follow its path.
fn argv<'a>(call: &Syscall, args: &[&'a [u8]]) -> Option<&'a [u8]> {
    let path = call.args.find('p')?;
    args.get(path + 1).copied()
}

/// The end of a thread or process, and its status.
fn ends(call: &Syscall, args: &[&[u8]], line: &mut Line, parsed: &mut Parsed) {
    if !matches!(line.outcome, Outcome::NoReturn | Outcome::Open) {
        return;
    }
    let status = args
        .first()
        .and_then(|arg| scan::value(without_key(arg)))
        .map_or(0, |(status, _)| status);
    let ended = Ended::Exited((status & 0xff) as i32);
    let extra = if call.action == Action::EndsThread {
        Extra::End(ended)
    } else {
        Extra::GroupEnd(ended)
    };
    line.extra = parsed.keep(extra);
}

/// The process and the thread that a signal was sent to.
fn member(args: &[&[u8]], line: &mut Line, parsed: &mut Parsed) {
    let id = |at: usize| {
        args.get(at)
            .and_then(|arg| scan::number(id_text(without_key(arg))))
            .map(|(id, _)| child_id(id))
    };
    if let (Some(pid @ 1..), Some(tid @ 1..)) = (id(0), id(1)) {
        line.extra = parsed.keep(Extra::Member { pid, tid });
    }
}

/// The extra of a second half.
pub fn describe_rest(call: &Syscall, args: &[&[u8]], line: &mut Line, parsed: &mut Parsed) {
    match call.action {
        Action::WaitsForChild | Action::WaitsForChildInfo => waited(args, line, parsed),
        action if action.creates_task() => spawn(flags(call, args), line, parsed),
        _ => {}
    }
}

/// The extra of the tail of a call whose name is on an earlier line.
pub fn describe_tail(text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    if line.outcome != Outcome::Ok {
        return;
    }
    // The arguments that clone and clone3 print last or change.
    let marks: [&[u8]; 4] = [b"CLONE_", b"child_tidptr=", b"parent_tid", b"exit_signal="];
    if marks.iter().any(|mark| scan::find(text, mark).is_some()) {
        spawn(flags_in(text), line, parsed);
    } else if scan::find(text, b"[{WIF").is_some() {
        waited(&[text], line, parsed);
    }
}

fn has_clone_flag(text: &[u8]) -> bool {
    scan::find(text, b"CLONE_").is_some()
}

/// The flags of a call that creates a task.
fn flags(call: &Syscall, args: &[&[u8]]) -> Flags {
    match call.action {
        Action::CreatesThread => Flags {
            thread: true,
            vfork: false,
            shares_files: true,
        },
        Action::Vforks => Flags {
            vfork: true,
            ..Flags::default()
        },
        Action::Forks => {
            let printed = args
                .iter()
                .fold(Flags::default(), |flags, arg| flags.with(flags_in(arg)));
            // Raw arguments are clone(flags, stack, …). Decoded ones begin with the stack, as do all other variants of
            // clone.
            let raw = args.first().filter(|_| call.name == "clone");
            printed.with(raw.map_or(Flags::default(), |arg| raw_flags(arg)))
        }
        _ => Flags::default(),
    }
}

impl Flags {
    fn with(self, other: Flags) -> Flags {
        Flags {
            thread: self.thread || other.thread,
            vfork: self.vfork || other.vfork,
            shares_files: self.shares_files || other.shares_files,
        }
    }
}

fn flags_in(text: &[u8]) -> Flags {
    let has = |word: &[u8]| scan::find(text, word).is_some();
    let named = if has_clone_flag(text) {
        Flags {
            thread: has(b"CLONE_THREAD"),
            vfork: has(b"CLONE_VFORK"),
            shares_files: has(b"CLONE_FILES"),
        }
    } else {
        Flags::default()
    };
    let raw =
        scan::find(text, b"flags=0x").map_or(Flags::default(), |at| raw_flags(&text[at + 6..]));
    named.with(raw)
}

fn raw_flags(text: &[u8]) -> Flags {
    match scan::value(text).filter(|_| text.starts_with(b"0x")) {
        Some((bits, _)) => Flags {
            thread: bits & RAW_THREAD != 0,
            vfork: bits & RAW_VFORK != 0,
            shares_files: bits & RAW_FILES != 0,
        },
        None => Flags::default(),
    }
}

fn spawn(flags: Flags, line: &mut Line, parsed: &mut Parsed) {
    if !may_succeed(line) {
        return;
    }
    let child = child_id(line.ret);
    // A fork that returns 0 is the child's own return; it creates no task.
    if child == NO_ID && line.part != CallPart::Begun && line.outcome == Outcome::Ok {
        return;
    }
    let Flags {
        thread,
        vfork,
        shares_files,
    } = flags;
    line.extra = parsed.keep(Extra::Spawn {
        child,
        thread,
        vfork,
        shares_files,
    });
}

fn child_id(ret: i64) -> i32 {
    i32::try_from(ret)
        .ok()
        .filter(|&id| id > 0)
        .unwrap_or(NO_ID)
}

/// Store the program and its arguments; `line.target` is the path.
fn exec(list: Option<&[u8]>, line: &mut Line, parsed: &mut Parsed) {
    if !line.target.is_some() {
        return;
    }
    let Parsed { texts, scratch, .. } = parsed;
    scratch.clear();
    if let Some(list) = list {
        join_words(without_key(list), scratch);
    }
    let argv = texts.add(scratch);
    line.extra = parsed.keep(Extra::Exec {
        path: line.target,
        argv,
    });
}

/// `["sh", "-c", "a b"]` as `sh -c 'a b'`.
fn join_words(mut list: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = memchr::memchr(b'"', list) {
        if out.len() > MAX_ARGV_BYTES {
            break;
        }
        let inner = &list[at + 1..];
        let end = scan::string_end(inner);
        if !out.is_empty() {
            out.push(b' ');
        }
        push_word(&inner[..end], out);
        list = inner.get(end + 1..).unwrap_or(b"");
        if list.starts_with(b"...") {
            out.extend_from_slice(b"...");
        }
    }
    if scan::find(list, b", ...").is_some() {
        out.extend_from_slice(b" ...");
    }
    if out.len() > MAX_ARGV_BYTES {
        out.truncate(MAX_ARGV_BYTES);
        out.extend_from_slice(b"...");
    }
}

fn push_word(escaped: &[u8], out: &mut Vec<u8>) {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,+%@^".contains(byte);
    if !escaped.is_empty() && escaped.iter().all(plain) {
        return out.extend_from_slice(escaped);
    }
    out.push(b'\'');
    let start = out.len();
    unescape(escaped, out);
    if out[start..].contains(&b'\'') {
        let word: Vec<u8> = out.drain(start..).collect();
        for byte in word {
            match byte {
                b'\'' => out.extend_from_slice(b"'\\''"),
                _ => out.push(byte),
            }
        }
    }
    out.push(b'\'');
}

/// A wait that returned a child.
fn waited(args: &[&[u8]], line: &mut Line, parsed: &mut Parsed) {
    if line.outcome != Outcome::Ok || line.ret == NO_NS || line.ret < 0 {
        return;
    }
    let siginfo = args
        .iter()
        .find(|arg| scan::find(arg, b"si_pid=").is_some());
    // WNOHANG, and no child had ended: the structure is empty, and no child has the id 0.
    let is_empty = line.ret == 0 && args.iter().any(|arg| *arg == b"{}");
    let (child, ended) = match siginfo {
        Some(siginfo) => read_siginfo(siginfo, parsed),
        None if is_empty => (0, None),
        None => (
            child_id(line.ret),
            args.iter().find_map(|arg| status(arg, parsed)),
        ),
    };
    if child != NO_ID {
        line.extra = parsed.keep(Extra::Waited { child, ended });
    }
}

/// `[{WIFEXITED(s) && WEXITSTATUS(s) == 3}]`, `[{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}]`, `{ EXITED,val=0 }`.
fn status(arg: &[u8], parsed: &mut Parsed) -> Option<Ended> {
    let after = |key: &[u8]| scan::find(arg, key).map(|at| &arg[at + key.len()..]);
    if let Some(text) = after(b"WEXITSTATUS(s) == ").or_else(|| after(b"EXITED,val=")) {
        return scan::number(text).map(|(status, _)| Ended::Exited(status as i32));
    }
    let text = after(b"WTERMSIG(s) == ").or_else(|| after(b"SIGNALED,sig="))?;
    Some(Ended::Killed(parsed.texts.add(signal_word(text))))
}

fn signal_word(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
        .unwrap_or(text.len());
    &text[..end]
}

/// The sender of a siginfo, and for a child's end how it ended.
pub fn read_siginfo(text: &[u8], parsed: &mut Parsed) -> (i32, Option<Ended>) {
    let after = |key: &[u8]| scan::find(text, key).map(|at| &text[at + key.len()..]);
    let from = after(b"si_pid=").and_then(|text| {
        // The comment of this field, not of a later one.
        let field = &text[..memchr::memchr(b',', text).unwrap_or(text.len())];
        tracer_id(field).or_else(|| scan::number(field).and_then(|(id, _)| i32::try_from(id).ok()))
    });
    let code = after(b"si_code=").unwrap_or(b"");
    let status = after(b"si_status=").unwrap_or(b"");
    let ended = if code.starts_with(b"CLD_EXITED") {
        scan::number(status).map(|(status, _)| Ended::Exited(status as i32))
    } else if code.starts_with(b"CLD_KILLED") || code.starts_with(b"CLD_DUMPED") {
        Some(Ended::Killed(signal(status, parsed)))
    } else {
        None
    };
    (from.unwrap_or(NO_ID), ended)
}

/// A signal by name or, from old tracers, by number.
fn signal(text: &[u8], parsed: &mut Parsed) -> Text {
    let named = match scan::number(text) {
        Some((number, _)) => signal_number(number).unwrap_or(b""),
        None => signal_word(text),
    };
    parsed.texts.add(named)
}

/// The name of a Linux signal by its number, if all machines agree on it.
pub fn signal_number(number: i64) -> Option<&'static [u8]> {
    Some(match number {
        1 => b"SIGHUP",
        2 => b"SIGINT",
        3 => b"SIGQUIT",
        4 => b"SIGILL",
        5 => b"SIGTRAP",
        6 => b"SIGABRT",
        8 => b"SIGFPE",
        9 => b"SIGKILL",
        11 => b"SIGSEGV",
        13 => b"SIGPIPE",
        14 => b"SIGALRM",
        15 => b"SIGTERM",
        _ => return None,
    })
}

/// The call that `<... resuming interrupted poll ...>` continues.
///
/// The kernel restarts only waits with a timeout this way (`restart_block`: nanosleep, poll, futex). Of a task whose call began
/// before strace attached to it, strace prints the call with number 0 instead, `read` on x86-64: that call is unknown.
fn resumed_name(arg: &[u8], parsed: &mut Parsed) -> Text {
    let Some(rest) = arg.strip_prefix(b"<... resuming interrupted ") else {
        return Text::NONE;
    };
    let name = &rest[..scan::find(rest, b" ...>").unwrap_or(rest.len())];
    let may_restart = |call: &Syscall| {
        matches!(
            call.action,
            Action::Sleeps | Action::Polls | Action::UsesFutex | Action::Restarts
        )
    };
    if syscalls::by_name(name).is_some_and(may_restart) {
        parsed.texts.add(name)
    } else {
        Text::NONE
    }
}
