//! The fields of an event of sysdig, in the form of other tracers.
//!
//! ```text
//! In:   `fd=3(<f>/etc/hosts) name=/etc/hosts flags=1(O_RDONLY) mode=0`
//! Out:  open, [`"/etc/hosts"`, `O_RDONLY`]; ret 3
//! ```

use crate::quoting::in_quotes;
use crate::scan;
use crate::syscalls::{Action, Syscall};
use memchr::memmem;

const NS_PER_S: i64 = 1_000_000_000;

/// The fields of an event.
#[derive(Clone, Copy)]
pub(super) struct SysdigFields<'a> {
    text: &'a [u8],
}

impl<'a> SysdigFields<'a> {
    /// Of this text. Data that is read or written may look like fields, and comes last.
    pub fn of(text: &'a [u8]) -> SysdigFields<'a> {
        let end = match memmem::find(text, b" data=") {
            Some(end) => end,
            None if text.starts_with(b"data=") => 0,
            None => text.len(),
        };
        SysdigFields { text: &text[..end] }
    }

    /// The value of a field; values may contain blanks.
    pub fn get(&self, key: &[u8]) -> Option<&'a [u8]> {
        let start = self.start(key)?;
        let value = self.text.get(start..)?;
        let end = memchr::memchr_iter(b' ', value)
            .find(|&at| begins_field(value.get(at + 1..).unwrap_or(b"")))
            .unwrap_or(value.len());
        Some(scan::trim_end(&value[..end]))
    }

    fn start(&self, key: &[u8]) -> Option<usize> {
        let is_key = |at: &usize| {
            let is_first = *at == 0 || self.text[at - 1] == b' ';
            is_first && self.text.get(at + key.len()) == Some(&b'=')
        };
        let at = memmem::find_iter(self.text, key).find(is_key)?;
        Some(at + key.len() + 1)
    }

    /// The first of these fields.
    fn any(&self, keys: &[&[u8]]) -> Option<&'a [u8]> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// The number that begins a value.
    pub fn number(&self, key: &[u8]) -> Option<i64> {
        let (number, rest) = scan::signed(self.get(key)?)?;
        matches!(rest.first(), None | Some(b'(' | b' ')).then_some(number)
    }

    /// The arguments in the order of the call, empty where the event does not have them.
    pub fn arguments(&self, call: &Syscall) -> Vec<Vec<u8>> {
        let mut has_path = false;
        let argument = |letter: u8| match letter {
            b'f' if makes_descriptor(call.action) => Vec::new(),
            b'f' => self.get(b"fd").map_or_else(Vec::new, descriptor),
            b'd' => self
                .any(&[b"dirfd", b"olddir", b"olddirfd"])
                .map_or_else(Vec::new, descriptor),
            b'p' | b'n' => {
                let keys: &[&[u8]] = if has_path {
                    &[b"newpath", b"linkpath"]
                } else {
                    &[b"name", b"filename", b"path", b"oldpath", b"target"]
                };
                has_path = true;
                self.any(keys).map_or_else(Vec::new, path)
            }
            b'c' => self
                .get(b"flags")
                .map_or_else(Vec::new, |flags| in_parentheses(flags).to_vec()),
            b'o' => self.operation(),
            b'a' => self.get(b"addr").map_or_else(Vec::new, hexadecimal),
            b'j' => self.get(b"val").unwrap_or(b"").to_vec(),
            b'i' => self.any(&[b"pid", b"tid"]).map_or_else(Vec::new, number),
            b'm' => self.get(b"timeout").map_or_else(Vec::new, number),
            b't' => self.number(b"interval").map_or_else(Vec::new, time),
            _ => Vec::new(),
        };
        call.args.bytes().map(argument).collect()
    }

    fn operation(&self) -> Vec<u8> {
        if let Some(request) = self.get(b"request") {
            return hexadecimal(request);
        }
        let Some(op) = self.any(&[b"op", b"cmd", b"domain"]) else {
            return Vec::new();
        };
        const FLAG: &[u8] = b"FUTEX_PRIVATE_FLAG";
        let names = in_parentheses(op);
        let name = names
            .split(|&byte| byte == b'|')
            .find(|name| *name != FLAG)
            .unwrap_or(names);
        let is_private = names.len() > name.len() && memmem::find(names, FLAG).is_some();
        let private: &[u8] = if is_private { b"_PRIVATE" } else { b"" };
        [name, private].concat()
    }

    /// The flags of a clone.
    pub fn clone_flags(&self) -> &'a [u8] {
        self.get(b"flags").map_or(b"", in_parentheses)
    }

    /// `10.0.2.15:34042->10.1.1.1:53`: the two ends of a connection, client first.
    pub fn ends(&self) -> Option<(&'a [u8], &'a [u8])> {
        let tuple = self.get(b"tuple")?;
        let at = memmem::find(tuple, b"->")?;
        let far = tuple.get(at + 2..).filter(|far| !far.is_empty())?;
        Some((&tuple[..at], far))
    }
}

/// Whether `fd=` is what such a call returned.
pub(super) fn makes_descriptor(action: Action) -> bool {
    matches!(
        action,
        Action::Opens
            | Action::MakesSocket
            | Action::Accepts
            | Action::Creates
            | Action::MakesEpoll
            | Action::MakesEventfd
            | Action::MakesTimerfd
            | Action::MakesSignalfd
            | Action::MakesInotify
    )
}

/// Whether a text begins with `name=`.
fn begins_field(text: &[u8]) -> bool {
    let end = text
        .iter()
        .position(|byte| !(byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_'));
    end.is_some_and(|end| end > 0 && text[end] == b'=')
}

/// `-2(ENOENT)`, `1(O_RDONLY)`: the text in parentheses, or all of it.
pub(super) fn in_parentheses(value: &[u8]) -> &[u8] {
    let inside = memchr::memchr(b'(', value).and_then(|at| value.get(at + 1..));
    inside.map_or(value, |inside| inside.strip_suffix(b")").unwrap_or(inside))
}

/// `3(<f>/etc/hosts)` is `3</etc/hosts>`, `-100(AT_FDCWD)` is `AT_FDCWD`.
fn descriptor(value: &[u8]) -> Vec<u8> {
    const PROTOCOLS: [(&[u8], &[u8]); 4] = [
        (b"4t", b"TCP"),
        (b"4u", b"UDP"),
        (b"6t", b"TCPv6"),
        (b"6u", b"UDPv6"),
    ];
    let Some((fd, _)) = scan::signed(value) else {
        return Vec::new();
    };
    let inside = in_parentheses(value);
    if inside == b"AT_FDCWD" {
        return inside.to_vec();
    }
    let kind_end = memchr::memchr(b'>', inside).filter(|_| inside.starts_with(b"<"));
    let (kind, name) = match kind_end {
        Some(end) => (&inside[1..end], &inside[end + 1..]),
        None if inside.starts_with(b"/") => (&b"f"[..], inside),
        None => (&b""[..], &b""[..]),
    };
    let mut out = fd.to_string().into_bytes();
    if name.is_empty() {
        return out;
    }
    out.push(b'<');
    match PROTOCOLS.iter().find(|(known, _)| *known == kind) {
        Some((_, protocol)) => {
            out.extend_from_slice(protocol);
            out.extend_from_slice(b":[");
            out.extend_from_slice(name);
            out.push(b']');
        }
        None => out.extend_from_slice(name),
    }
    out.push(b'>');
    out
}

/// A path in quotes; of `a(/srv/a)`, the absolute one.
fn path(value: &[u8]) -> Vec<u8> {
    let inside = in_parentheses(value);
    let path = if inside.starts_with(b"/") {
        inside
    } else {
        value
    };
    in_quotes(path)
}

/// `11D2AC0` is `0x11d2ac0`.
fn hexadecimal(value: &[u8]) -> Vec<u8> {
    [b"0x", value.to_ascii_lowercase().as_slice()].concat()
}

/// The number that begins a value; of 32 bits if it is printed without its sign.
fn number(value: &[u8]) -> Vec<u8> {
    scan::signed(value).map_or_else(Vec::new, |(number, _)| {
        (number as i32).to_string().into_bytes()
    })
}

/// Nanoseconds.
fn time(ns: i64) -> Vec<u8> {
    format!("{{tv_sec={}, tv_nsec={}}}", ns / NS_PER_S, ns % NS_PER_S).into_bytes()
}
