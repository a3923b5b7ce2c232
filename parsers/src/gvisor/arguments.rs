//! Arguments of gVisor, in the form of other tracers.
//!
//! ```text
//! In:   openat, [`AT_FDCWD /app`, `0x7f015d7865d0 .git/config`, `O_RDONLY`]; connect, [`0x5 socket:[2]`,
//!       `0x7f414ed92ba0 {Family: AF_INET, Addr: 8.8.8.8, Port: 53}`]
//! Out:  [`AT_FDCWD</app>`, `".git/config"`, `O_RDONLY`]; [`5<socket:[2]>`, `{ AF_INET 8.8.8.8:53 }`]
//! ```

use crate::quoting::in_quotes;
use crate::scan;
use crate::syscalls::{Action, Syscall};
use memchr::memmem;

/// The arguments of a call, as far as the letters of [`Syscall::args`] name them; others without their address.
pub(super) fn in_common_form(call: &Syscall, args: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut letters = call.args.bytes();
    args.iter()
        .map(|arg| of_letter(letters.next().unwrap_or(b'-'), call.action, arg))
        .collect()
}

fn of_letter(letter: u8, action: Action, arg: &[u8]) -> Vec<u8> {
    match letter {
        b'f' | b'g' | b'd' | b'e' => descriptor(arg),
        b'p' | b'n' => in_quotes(value_at_address(arg)),
        b's' | b'w' => address(value_at_address(arg)),
        b'm' | b'i' => signed(arg),
        b'o' if action == Action::UsesFutex => futex_operation(arg),
        b't' | b'v' => time(value_at_address(arg)),
        b'q' => pair(value_at_address(arg)),
        _ => value_at_address(arg).to_vec(),
    }
}

/// The text after an address and a blank; the whole text if there is none.
fn value_at_address(arg: &[u8]) -> &[u8] {
    let end = arg.iter().position(|byte| *byte == b' ');
    match end {
        Some(end) if arg.starts_with(b"0x") => arg.get(end + 1..).unwrap_or(b""),
        _ => arg,
    }
}

/// `0x3 /etc/hosts` and `AT_FDCWD /app`.
fn descriptor(arg: &[u8]) -> Vec<u8> {
    let (number, path) = match arg.iter().position(|byte| *byte == b' ') {
        Some(end) => arg.split_at(end),
        None => (arg, &b""[..]),
    };
    let mut out = match scan::value(number) {
        Some((value, b"")) => (value as i32).to_string().into_bytes(),
        _ => number.to_vec(),
    };
    let path = path.strip_prefix(b" ").unwrap_or(path);
    if !path.is_empty() {
        out.push(b'<');
        out.extend_from_slice(path);
        out.push(b'>');
    }
    out
}

/// `{Family: AF_INET, Addr: 8.8.8.8, Port: 53}`, `{Family: AF_UNIX, Addr: "/run/log"}`.
fn address(arg: &[u8]) -> Vec<u8> {
    let field = |key: &[u8]| {
        let rest = arg.get(memmem::find(arg, key)? + key.len()..)?;
        let end = rest.iter().position(|byte| matches!(byte, b',' | b'}'))?;
        rest.get(..end).filter(|value| !value.is_empty())
    };
    let (Some(family), Some(host)) = (field(b"Family: "), field(b"Addr: ")) else {
        return Vec::new();
    };
    let mut out = [b"{ ", family, b" "].concat();
    let is_v6 = family == b"AF_INET6";
    out.extend(is_v6.then_some(b'['));
    out.extend_from_slice(host);
    out.extend(is_v6.then_some(b']'));
    if let Some(port) = field(b"Port: ") {
        out.push(b':');
        out.extend_from_slice(port);
    }
    out.extend_from_slice(b" }");
    out
}

/// A number of 32 bits with its sign, which is printed as `0xffffffff`.
fn signed(arg: &[u8]) -> Vec<u8> {
    match scan::value(arg) {
        Some((value, b"")) => (value as i32).to_string().into_bytes(),
        _ => arg.to_vec(),
    }
}

/// `FUTEX_WAIT|FUTEX_PRIVATE_FLAG` is `FUTEX_WAIT_PRIVATE`.
fn futex_operation(arg: &[u8]) -> Vec<u8> {
    const FLAG: &[u8] = b"|FUTEX_PRIVATE_FLAG";
    match memmem::find(arg, FLAG) {
        Some(at) => [&arg[..at], b"_PRIVATE", &arg[at + FLAG.len()..]].concat(),
        None => arg.to_vec(),
    }
}

/// `{sec=5 nsec=0}` and `null`.
fn time(arg: &[u8]) -> Vec<u8> {
    if arg == b"null" {
        return b"NULL".to_vec();
    }
    match memmem::find(arg, b" nsec=") {
        Some(at) => [&arg[..at], b",", &arg[at..]].concat(),
        None => arg.to_vec(),
    }
}

/// `[3 4]`.
fn pair(arg: &[u8]) -> Vec<u8> {
    match memchr::memchr(b' ', arg).filter(|_| arg.starts_with(b"[")) {
        Some(at) => [&arg[..at], b", ", &arg[at + 1..]].concat(),
        None => arg.to_vec(),
    }
}
