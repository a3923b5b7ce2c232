//! The content of a call's arguments: descriptor, sub-operation, target, and the extras.
//!
//! In:   openat, [`AT_FDCWD</srv>`, `"x\n"`, `O_RDONLY`]
//! Out:  target `/srv/x␤`
//!
//! Shared by all formats that print arguments in the order of the system call. The letters of [`Syscall::args`] define
//! the arguments; processes, waits and a few other calls have their own functions.

mod deadline;
mod process;
mod raw;
mod socket_address;
mod value;

use crate::error_names::{self, System};
use crate::facts::{Access, Fact, FilePart};
use crate::format::Parsed;
use crate::line::{CallPart, Extra, Line, NO_ID, NO_NS, Outcome};
use crate::syscalls::{Action, Class, Syscall, action_of};
use crate::text::Text;
use socket_address::socket_address;
use value::{Timeout, path_text};

pub use process::{read_siginfo, signal_number};
pub use value::{decoration, tracer_id, unescape};

/// The longest possible path, with each byte escaped.
const MAX_PATH_BYTES: usize = 4 * 4096;

/// Set `fd`, `op`, `target` and the extra of a line from the arguments of a whole call or of a first half.
///
/// `args` are the texts between the commas, trimmed. `line.ret` and `line.outcome` must be set.
pub fn describe(call: &'static Syscall, args: &[&[u8]], line: &mut Line, parsed: &mut Parsed) {
    let mut facts = ArgumentFacts::default();
    for (&letter, arg) in call.args.as_bytes().iter().zip(args) {
        // A moment of an unknown clock.
        let is_moment = letter == b'N' && args.get(1) == Some(&&b"TIMER_ABSTIME"[..]);
        if letter != b'-' && !is_moment {
            argument(letter, without_key(arg), &mut facts, line, parsed);
        }
    }
    match call.class {
        Class::Process | Class::Child => process::describe(call, args, line, parsed),
        Class::Sleep | Class::Lock => {
            if let Some(timeout) = facts.timeout {
                (facts.timeout, facts.until) =
                    deadline::resolve(call, args, line.stamp_ns, timeout);
                facts.is_limited = matches!(timeout, Timeout::After(_));
            }
        }
        _ if call.action == Action::ReadsClock => {
            line.extra = deadline::clock_read(call, args, line).map_or(0, |read| parsed.keep(read))
        }
        Class::Ipc | Class::Disk => {
            if let Some(timeout) = facts.timeout {
                (facts.timeout, facts.until) =
                    deadline::resolve(call, args, line.stamp_ns, timeout);
            }
        }
        _ => {}
    }
    keep(facts, line, parsed);
}

/// Set what only the second half of a call contains: how a child ended, descriptors of a pipe, the peer of an accept.
///
/// `args` are the texts between the commas of the second half. The first is empty if the half begins with a comma.
pub fn describe_rest(call: &'static Syscall, args: &[&[u8]], line: &mut Line, parsed: &mut Parsed) {
    let args = if args.first().is_some_and(|first| first.is_empty()) {
        &args[1..]
    } else {
        args
    };
    match call.class {
        Class::Process | Class::Child => return process::describe_rest(call, args, line, parsed),
        Class::Ipc | Class::Poll | Class::Network => {}
        _ => return,
    }
    let mut facts = ArgumentFacts::default();
    let begins = |with: &[u8]| args.iter().find(|arg| arg.starts_with(with)).copied();
    let found = match call.action {
        Action::MakesPipe | Action::MakesSocketPair => begins(b"[").map(|pair| (b'q', pair)),
        Action::Accepts => begins(b"{sa_family=").map(|peer| (b's', peer)),
        Action::Receives | Action::ReceivesMany if call.args.contains('r') => {
            args.first().map(|&messages| (b'r', messages))
        }
        Action::NamesSocket if call.args.contains('w') => args.first().map(|&own| (b'w', own)),
        Action::Plain if call.args.contains('x') => args.first().map(|&value| (b'x', value)),
        // The first half contains the descriptor, the second `events, maxevents, timeout`.
        Action::PollsEpoll => {
            facts.data = args.first().and_then(|events| value::event_data(events));
            args.get(2)
                .zip(call.args.bytes().last())
                .map(|(&timeout, letter)| (letter, timeout))
        }
        _ => None,
    };
    if let Some((letter, arg)) = found {
        argument(letter, arg, &mut facts, line, parsed);
    }
    keep(facts, line, parsed);
}

/// Set what the tail of a call contains. The name of the call is on an earlier line.
pub fn describe_tail(text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    process::describe_tail(text, line, parsed);
}

/// No limit is longer than this (2 years), so that those of some calls can be added up.
const MAX_TIMEOUT_NS: i64 = 1 << 56;

/// What the arguments contained so far.
#[derive(Default)]
struct ArgumentFacts<'a> {
    directory: &'a [u8],
    timeout: Option<Timeout>,
    until: Option<deadline::Moment>,
    fds: Vec<i32>,
    lists: FdLists,
    made: Text,
    /// Of an open.
    access: Option<Access>,
    syncs: bool,
    moved: Text,
    own: Text,
    into: Option<(i32, Text)>,
    /// Of a mapping.
    length: &'a [u8],
    shares: bool,
    joins: Option<i32>,
    /// Whether a wait of a thread expects a lock with waiters.
    is_contended: bool,
    /// Whether the call has a time limit.
    is_limited: bool,
    /// Whether the metadata is that of a fifo.
    is_fifo: bool,
    /// What is registered with the only descriptor of a list of events.
    data: Option<u64>,
    /// Whether a descriptor is registered with `EPOLLET`.
    is_edge: bool,
}

/// The lists of descriptors among the arguments of a poll.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum FdLists {
    /// No such argument.
    #[default]
    None,
    /// All lists are empty: it waits only for time.
    Empty,
    /// Some list has descriptors, or is printed as an address only.
    Some,
}

fn argument<'a>(
    letter: u8,
    arg: &'a [u8],
    facts: &mut ArgumentFacts<'a>,
    line: &mut Line,
    parsed: &mut Parsed,
) {
    match letter {
        b'f' => descriptor(arg, line, parsed),
        b'g' => facts.into = into(arg, parsed),
        b'd' => facts.directory = arg,
        b'p' if !line.target.is_some() => path(facts.directory, arg, line, parsed),
        b'b' if is_requeue(line, parsed) => facts.moved = parsed.texts.add(value::word(arg)),
        b'j' => {
            (facts.joins, facts.is_contended) =
                (joins(arg, line, parsed), is_contended(arg, line, parsed))
        }
        b'n' => facts.made = made(facts.directory, arg, line, parsed),
        b'c' => {
            (facts.access, facts.syncs) = (Some(value::access(arg)), value::syncs_writes(arg));
            if memchr::memmem::find(arg, b"O_CREAT").is_some() {
                facts.made = line.target;
            }
        }
        b'o' if !line.op.is_some() => line.op = operation(arg, line, parsed),
        b'a' if !line.target.is_some() => line.target = parsed.texts.add(value::word(arg)),
        b'i' if !line.target.is_some() => line.target = parsed.texts.add(value::id_text(arg)),
        b's' => {
            let Parsed { texts, scratch, .. } = parsed;
            if socket_address(arg, scratch) {
                line.target = texts.add(scratch);
            }
        }
        b'w' => {
            let Parsed { texts, scratch, .. } = parsed;
            if line.outcome == Outcome::Ok && socket_address(arg, scratch) {
                facts.own = texts.add(scratch);
            }
        }
        b't' => facts.timeout = value::timeout(arg, 1),
        b'v' => facts.timeout = value::timeout(arg, 1000),
        b'm' => facts.timeout = value::milliseconds(arg),
        b'S' | b'T' | b'N' => alarm(letter, arg, line, parsed),
        b'z' => facts.length = arg,
        b'h' => facts.shares = arg.starts_with(b"MAP_SHARED") || value::shares_memory(arg),
        b'y' if facts.shares => shared(facts.length, arg, line, parsed),
        b'x' => socket_error(arg, line, parsed),
        b'u' if value::is_metadata(arg) => facts.is_fifo = value::is_fifo(arg),
        b'u' => {
            (facts.is_fifo, facts.data) = (value::is_fifo(arg), value::event_data(arg));
            facts.is_edge = value::is_edge_triggered(arg);
        }
        b'r' => {
            passed(arg, line, parsed);
            facts.into = sent_to(arg, line, parsed);
        }
        b'l' | b'k' | b'q' | b'e' => descriptors(letter, arg, facts, line, parsed),
        _ => {}
    }
}

fn operation(arg: &[u8], line: &Line, parsed: &mut Parsed) -> Text {
    let op = value::op_text(arg);
    let is_number = op.first().is_some_and(u8::is_ascii_digit);
    let named = is_number
        .then(|| raw::named_op(action_of(line.name), op))
        .flatten();
    parsed.texts.add(named.map_or(op, str::as_bytes))
}

/// `3</etc/passwd>`: the number, and the decoration as target.
fn descriptor(arg: &[u8], line: &mut Line, parsed: &mut Parsed) {
    if line.fd != NO_ID {
        return;
    }
    line.fd = value::fd(arg).unwrap_or(NO_ID);
    if let Some(inner) = decoration(arg).filter(|_| !line.target.is_some()) {
        line.target = decorated_target(inner, parsed);
    }
}

/// The same for the descriptor to which a call moves data.
fn into(arg: &[u8], parsed: &mut Parsed) -> Option<(i32, Text)> {
    let target = decoration(arg).map_or(Text::NONE, |inner| decorated_target(inner, parsed));
    Some((value::fd(arg)?, target))
}

fn decorated_target(inner: &[u8], parsed: &mut Parsed) -> Text {
    let inner = &inner[..inner.len().min(MAX_PATH_BYTES)];
    let Parsed { texts, scratch, .. } = parsed;
    if memchr::memchr(b'\\', inner).is_some() {
        scratch.clear();
        unescape(inner, scratch);
        return texts.add(scratch);
    }
    texts.add(inner)
}

/// A path, joined with its directory if that is printed.
fn path(directory: &[u8], arg: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let Some(raw) = path_text(arg).filter(|raw| raw.len() <= MAX_PATH_BYTES) else {
        return;
    };
    let absolute = value::is_absolute(raw);
    if raw.is_empty() {
        // AT_EMPTY_PATH: the call works on the descriptor itself.
        return descriptor(directory, line, parsed);
    }
    let Parsed { texts, scratch, .. } = parsed;
    if absolute && memchr::memchr(b'\\', raw).is_none() {
        line.target = texts.add(raw);
        return;
    }
    scratch.clear();
    let base = decoration(directory).filter(|base| !absolute && value::is_absolute(base));
    match base {
        None => unescape(raw, scratch),
        Some(base) => {
            unescape(base, scratch);
            join(raw, scratch);
        }
    }
    line.target = texts.add(scratch);
}

/// `5` seconds of an alarm, `{it_interval={…}, it_value={tv_sec=5, tv_usec=0}}` of an interval timer of real time.
fn alarm(letter: u8, arg: &[u8], line: &mut Line, parsed: &mut Parsed) {
    const VALUE: &[u8] = b"it_value=";
    let after = if letter == b'S' {
        crate::scan::value(arg).and_then(|(seconds, _)| seconds.checked_mul(1_000_000_000))
    } else if line.op.is_some() && parsed.texts.bytes(line.op) != b"ITIMER_REAL" {
        None
    } else {
        let small_ns = if letter == b'T' { 1000 } else { 1 };
        let value = memchr::memmem::find(arg, VALUE)
            .and_then(|at| value::timeout(&arg[at + VALUE.len()..], small_ns));
        value.and_then(|value| {
            if let Timeout::After(ns) = value {
                Some(ns)
            } else {
                None
            }
        })
    };
    // The second half of a call that is printed in halves does not repeat the argument.
    let is_set = matches!(line.outcome, Outcome::Ok | Outcome::Open);
    if let Some(after_ns) = after.filter(|_| is_set && line.extra == 0) {
        line.extra = parsed.keep(Extra::Alarm(after_ns.clamp(0, MAX_TIMEOUT_NS)));
    }
}

fn is_requeue(line: &Line, parsed: &Parsed) -> bool {
    memchr::memmem::find(parsed.texts.bytes(line.op), b"REQUEUE").is_some()
}

/// The value that a wait expects, if it can be the id of a thread: ids are at addresses visible to all processes, and
/// lower values are states of locks.
fn joins(arg: &[u8], line: &Line, parsed: &Parsed) -> Option<i32> {
    const STATES_OF_LOCKS: i32 = 2;
    if !matches!(
        parsed.texts.bytes(line.op),
        b"FUTEX_WAIT" | b"FUTEX_WAIT_BITSET" | b"UMTX_OP_WAIT"
    ) {
        return None;
    }
    let (value, rest) = crate::scan::value(arg)?;
    i32::try_from(value)
        .ok()
        .filter(|&id| id > STATES_OF_LOCKS && rest.is_empty())
}

/// Whether a wait expects the state of a mutex with waiters. Source: `lowlevellock.h` of glibc, `futex.rs` of Rust.
fn is_contended(arg: &[u8], line: &Line, parsed: &Parsed) -> bool {
    arg == b"2"
        && matches!(
            parsed.texts.bytes(line.op),
            b"FUTEX_WAIT" | b"FUTEX_WAIT_PRIVATE"
        )
}

/// The path that the call creates. It is not the target.
fn made(directory: &[u8], arg: &[u8], line: &mut Line, parsed: &mut Parsed) -> Text {
    let works_on = std::mem::replace(&mut line.target, Text::NONE);
    path(directory, arg, line, parsed);
    std::mem::replace(&mut line.target, works_on)
}

/// Append a relative path to a directory.
fn join(raw: &[u8], directory: &mut Vec<u8>) {
    if raw == b"." {
        return;
    }
    if directory.last() != Some(&b'/') {
        directory.push(b'/');
    }
    unescape(raw.strip_prefix(b"./").unwrap_or(raw), directory);
}

/// The part of a file that is mapped as shared.
fn shared(length: &[u8], offset: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let number = |arg: &[u8]| crate::scan::value(arg).map_or(0, |(number, _)| number as u64);
    if line.fd != NO_ID && line.extra == 0 && line.outcome != Outcome::Failed {
        line.extra = parsed.keep(Fact::SharedMapping(FilePart {
            length: number(length),
            offset: number(offset),
        }));
    }
}

/// `[ECONNREFUSED]`, `[111]`, `[0]`: the error that is pending at a socket, if this is the value of `SO_ERROR`. Before 5.0,
/// strace printed its number.
fn socket_error(value: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let is_other = line.op.is_some() && parsed.texts.bytes(line.op) != b"SO_ERROR";
    let Some(value) = value
        .strip_prefix(b"[")
        .and_then(|value| value.strip_suffix(b"]"))
        .filter(|_| !is_other)
    else {
        return;
    };
    let error = match value {
        b"0" => Text::NONE,
        _ if value.starts_with(b"E") && value.iter().all(u8::is_ascii_uppercase) => {
            parsed.texts.add(value)
        }
        _ if line.op.is_some() => match crate::scan::number(value) {
            Some((number, b"")) => numbered_error(number, parsed),
            _ => return,
        },
        _ => return,
    };
    if line.outcome == Outcome::Ok && line.extra == 0 {
        line.extra = parsed.keep(Extra::SocketError(error));
    }
}

/// The name of an error of Linux.
fn numbered_error(number: i64, parsed: &mut Parsed) -> Text {
    let name = error_names::name(System::Linux, number);
    name.map_or(Text::NONE, |name| parsed.texts.add(name.as_bytes()))
}

/// The descriptors that messages pass.
fn passed(messages: &[u8], line: &mut Line, parsed: &mut Parsed) {
    const RIGHTS: &[u8] = b"SCM_RIGHTS, ";
    let mut fds = Vec::new();
    for at in memchr::memmem::find_iter(messages, RIGHTS) {
        let rest = &messages[at + RIGHTS.len()..];
        value::each_fd(
            rest.strip_prefix(b"cmsg_data=").unwrap_or(rest),
            false,
            |fd, _| fds.push(fd),
        );
    }
    if !fds.is_empty() && line.extra == 0 {
        line.extra = parsed.keep(Extra::Passed(fds.into_boxed_slice()));
    }
}

/// The address that a message is sent to at a socket without a peer.
fn sent_to(messages: &[u8], line: &Line, parsed: &mut Parsed) -> Option<(i32, Text)> {
    if !matches!(action_of(line.name), Action::Sends | Action::SendsMany) {
        return None;
    }
    let named = messages.strip_prefix(b"[").unwrap_or(messages);
    let named = named.strip_prefix(b"{msg_hdr=").unwrap_or(named);
    // strace before 4.15 printed the length of the address, too: `{msg_name(16)={sa_family=…`.
    let address = named.strip_prefix(b"{msg_name")?;
    let address = &address[memchr::memchr(b'=', address)? + 1..];
    let address = &address[..=memchr::memchr(b'}', address)?];
    let Parsed { texts, scratch, .. } = parsed;
    socket_address(address, scratch).then(|| (line.fd, texts.add(scratch)))
}

/// Lists of descriptors. A single descriptor is the one that the call works on.
fn descriptors<'a>(
    letter: u8,
    arg: &'a [u8],
    facts: &mut ArgumentFacts<'a>,
    line: &mut Line,
    parsed: &mut Parsed,
) {
    // If only the address of a list is printed, its digits are not descriptors.
    if matches!(letter, b'l' | b'k') {
        let empty = matches!(arg, b"NULL" | b"[]" | b"0" | b"0x0") && facts.lists != FdLists::Some;
        facts.lists = if empty { FdLists::Empty } else { FdLists::Some };
        if !matches!(arg.first(), Some(b'[' | b'{')) {
            return;
        }
    }
    let mut only: &[u8] = b"";
    let before = facts.fds.len();
    value::each_fd(arg, letter == b'l', |fd, text| {
        facts.fds.push(fd);
        only = text;
    });
    let single = letter == b'l' && before == 0 && facts.fds.len() == 1;
    if single {
        descriptor(only, line, parsed);
    } else if let Some(inner) =
        decoration(only).filter(|_| letter == b'q' && !line.target.is_some())
    {
        line.target = decorated_target(inner, parsed);
    }
}

fn keep(facts: ArgumentFacts<'_>, line: &mut Line, parsed: &mut Parsed) {
    if line.extra == 0 && facts.moved.is_some() {
        line.extra = parsed.keep(Fact::RequeuedTo(facts.moved));
    }
    if line.extra == 0 && line.outcome != Outcome::Failed {
        match facts.access {
            None | Some(Access::Reads) if !facts.made.is_some() => {}
            None => line.extra = parsed.keep(Fact::Created(facts.made)),
            Some(access) => {
                line.extra = parsed.keep(Extra::Opened {
                    created: facts.made,
                    access,
                    syncs: facts.syncs,
                })
            }
        }
    }
    if let Some((fd, target)) = facts
        .into
        .filter(|_| line.extra == 0 && line.outcome != Outcome::Failed)
    {
        line.extra = parsed.keep(Extra::Into { fd, target });
    }
    if line.extra == 0 && facts.own.is_some() {
        line.extra = parsed.keep(Extra::OwnAddress(facts.own));
    }
    if line.extra == 0 && facts.is_fifo && line.outcome == Outcome::Ok {
        line.extra = parsed.keep(Fact::IsFifo(()));
    }
    if line.extra != 0 {
        return;
    }
    if let Some((clock, until_ns)) = facts.until {
        line.extra = parsed.keep(Fact::Deadline((clock, until_ns)));
        return;
    }
    if facts.timeout.is_none() && facts.fds.is_empty() {
        // What is known of a wait that has returned is not needed.
        let is_open = matches!(line.outcome, Outcome::Open | Outcome::Interrupted);
        match facts.joins {
            _ if is_open && facts.is_limited => line.extra = parsed.keep(Extra::Limited),
            Some(id) => line.extra = parsed.keep(Fact::Joins(id)),
            None if is_open && facts.is_contended => line.extra = parsed.keep(Extra::Contended),
            None => {}
        }
        return;
    }
    let timeout_ns = facts.timeout.map(|timeout| match timeout {
        Timeout::Never => NO_NS,
        Timeout::After(ns) => ns.min(MAX_TIMEOUT_NS),
    });
    let fds = facts.fds.into_boxed_slice();
    line.extra = parsed.keep(match timeout_ns {
        Some(timeout_ns) if facts.data.is_some() && line.ret == 1 => Extra::Returned {
            data: facts.data.unwrap_or_default(),
            timeout_ns,
        },
        Some(timeout_ns) if !fds.is_empty() || facts.lists == FdLists::Empty => Extra::Polled {
            fds,
            timeout_ns,
            ready: NO_ID,
        },
        Some(timeout_ns) => Fact::Timeout(timeout_ns).into(),
        None => match (facts.data, &*fds) {
            (Some(data), &[fd]) if line.outcome != Outcome::Failed => Extra::Registered {
                fd,
                data,
                edge: facts.is_edge,
            },
            _ => Fact::Fds(fds).into(),
        },
    });
}

/// An argument without the name that `strace -N` prints before it (`fd=3`).
pub fn without_key(arg: &[u8]) -> &[u8] {
    if !arg.first().is_some_and(u8::is_ascii_lowercase) {
        return arg;
    }
    let end = arg
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
        .unwrap_or(arg.len());
    match arg.get(end..) {
        Some([b'=', rest @ ..]) if rest.first() != Some(&b'=') => rest,
        _ => arg,
    }
}

/// Whether a call that creates something has done so, or may still do so.
fn may_succeed(line: &Line) -> bool {
    match line.part {
        CallPart::Begun => true,
        _ => line.outcome == Outcome::Ok || line.outcome == Outcome::Open,
    }
}
