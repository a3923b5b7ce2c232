//! The text of a call, from the numbers that the kernel was called with.
//!
//! In:   read, [3, 0x7ffd1b2c, 0x20000, …]
//! Out:  `read(3, ...`
//!
//! Memory is not recorded, so `...` stands for each argument that is an address of something: a path, a structure, a list.

use crate::syscalls;
use std::fmt::Write as _;

/// Number of arguments that an event contains.
pub(super) const ARGS: usize = 6;
const AT_FDCWD: i32 = -100;
/// Arguments of calls that the table of calls does not describe.
const OWN_ARGS: &[(&str, &str)] = &[
    ("clone", "h"),
    ("exit", "-"),
    ("exit_group", "-"),
    ("tgkill", "iio"),
];

/// What is known of a call besides its numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct CallFacts {
    /// Of a call that starts a program: its path.
    pub program: Option<Vec<u8>>,
    /// Of a call that creates a task: flags in the words of other tracers.
    pub flags: Option<&'static str>,
}

/// `read(3, ...`, without the closing parenthesis.
pub(super) fn write_begun(out: &mut String, name: &str, args: &[u64; ARGS], facts: &CallFacts) {
    let _ = write!(out, "{name}(");
    if name == "clone3" {
        let flags = facts.flags.unwrap_or("");
        let _ = write!(out, "{{flags={flags}}}");
        return;
    }
    let own = OWN_ARGS.iter().find(|(known, _)| *known == name);
    let letters = match own {
        Some((_, letters)) => letters,
        None => syscalls::by_name(name.as_bytes()).map_or("", |call| call.args),
    };
    for (place, (letter, &value)) in letters.bytes().zip(args).enumerate() {
        out.push_str(if place == 0 { "" } else { ", " });
        match (letter, &facts.program) {
            (b'p', Some(path)) => write_path(out, path),
            _ => write_argument(out, letter, value),
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the kernel uses the lower half of these arguments, too"
)]
fn write_argument(out: &mut String, letter: u8, value: u64) {
    let small = value as i32;
    let _ = match letter {
        b'd' if small == AT_FDCWD => write!(out, "AT_FDCWD"),
        b'd' | b'f' | b'g' | b'i' | b'e' | b'm' | b'S' => write!(out, "{small}"),
        b'o' | b'c' | b'h' => write!(out, "{:#x}", value as u32),
        b'j' => write!(out, "{}", value as u32),
        b'z' | b'y' => write!(out, "{value}"),
        b'a' | b'b' => write!(out, "{value:#x}"),
        b'-' if value <= u64::from(u32::MAX) => write!(out, "{small}"),
        _ if value == 0 => write!(out, "NULL"),
        _ => write!(out, "..."),
    };
}

/// A path in quotes, with the escapes of other tracers.
fn write_path(out: &mut String, path: &[u8]) {
    out.push('"');
    for &byte in path {
        let _ = match byte {
            b'"' | b'\\' => write!(out, "\\{}", char::from(byte)),
            b' '..=b'~' => write!(out, "{}", char::from(byte)),
            _ => write!(out, "\\{byte:03o}"),
        };
    }
    out.push('"');
}

/// The name of a signal of Linux.
pub(super) fn signal_name(number: i64) -> Option<&'static str> {
    SIGNALS
        .get(usize::try_from(number).ok()?.checked_sub(1)?)
        .copied()
}

/// Source: `asm-generic/signal.h`.
#[rustfmt::skip]
const SIGNALS: [&str; 31] = [
    "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV",
    "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
    "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
];
