//! Named arguments, put into the order of other tracers.
//!
//! In:   openat, [`dfd: 4</etc>`, `filename: "hosts"`]; read, [`buf: 0x7f2f117c9000`, `count: 131072`]
//! Out:  [`4</etc>`, `"hosts"`]; [`0`]
//!
//! Names are those of the parameters in the kernel. Arguments that are zero are not printed, not even descriptors.

use crate::format::Parsed;
use crate::line::{Extra, Line};
use crate::scan;
use crate::syscalls::Syscall;
use memchr::memmem;

/// Arguments that are stored.
const MAX_ARGS: usize = 8;

/// The arguments of a line.
pub(super) struct NamedArguments<'a> {
    list: [(&'a [u8], &'a [u8]); MAX_ARGS],
    count: usize,
}

impl<'a> NamedArguments<'a> {
    /// Split names from values.
    pub fn of(printed: &[&'a [u8]]) -> NamedArguments<'a> {
        let mut named = NamedArguments {
            list: [(b"", b""); MAX_ARGS],
            count: 0,
        };
        for &arg in printed.iter().take(MAX_ARGS) {
            let (key, value) = match scan::name(arg) {
                Some((key, rest)) if rest.starts_with(b": ") => (key, rest.get(2..).unwrap_or(b"")),
                _ => (&b""[..], arg),
            };
            named.list[named.count] = (key, scan::trim(value));
            named.count += 1;
        }
        named
    }

    fn list(&self) -> &[(&'a [u8], &'a [u8])] {
        self.list.get(..self.count).unwrap_or(&self.list)
    }

    /// The value of the argument with this name.
    pub fn get(&self, key: &[u8]) -> Option<&'a [u8]> {
        self.list()
            .iter()
            .find(|(name, _)| *name == key)
            .map(|&(_, value)| value)
    }

    /// The values in the order of the call's parameters, empty if not printed. `scratch` holds rewritten values.
    pub fn in_order<'b>(
        &self,
        name: &[u8],
        call: &Syscall,
        scratch: &'b mut Vec<u8>,
    ) -> [&'b [u8]; MAX_ARGS]
    where
        'a: 'b,
    {
        let (mut found, mut used): ([&'b [u8]; MAX_ARGS], [bool; MAX_ARGS]) =
            ([b""; MAX_ARGS], [false; MAX_ARGS]);
        let mut op = None;
        for (place, letter) in call.args.bytes().enumerate().take(MAX_ARGS) {
            let printed = (0..self.count).find(|&at| !used[at] && fits(letter, self.list[at].0));
            if let Some(at) = printed {
                used[at] = true;
                found[place] = self.list[at].1;
                if letter == b'o' {
                    op = Some(place);
                }
            } else if letter == b'f' && place == 0 {
                found[place] = b"0";
            }
        }
        if let Some(place) = op {
            let op_prefix = op_prefix(name);
            if !op_prefix.is_empty() && found[place].first().is_some_and(u8::is_ascii_uppercase) {
                scratch.extend_from_slice(op_prefix);
                scratch.extend_from_slice(found[place]);
                found[place] = scratch;
            }
        }
        found
    }

    /// Targets in perf's own form: paths without quotes, socket addresses.
    pub fn before(&self, name: &[u8], call: &Syscall, line: &mut Line, parsed: &mut Parsed) {
        let Some(letter) = call
            .args
            .bytes()
            .find(|letter| matches!(letter, b'p' | b's'))
        else {
            return;
        };
        let Some(&(_, value)) = self.list().iter().find(|(key, _)| fits(letter, key)) else {
            return;
        };
        if letter == b's' {
            let Parsed { texts, scratch, .. } = parsed;
            if socket_address(value, scratch) {
                line.target = texts.add(scratch);
            }
        } else if !value.starts_with(b"\"") && !value.starts_with(b"0x") && name != b"mount" {
            line.target = parsed.texts.add(value);
        }
    }

    /// Flags of a clone, without the `CLONE_` that other tracers print.
    pub fn after(&self, line: &Line, parsed: &mut Parsed) {
        let Some(flags) = self.get(b"clone_flags").or_else(|| self.get(b"flags")) else {
            return;
        };
        let extra = line
            .extra
            .checked_sub(1)
            .and_then(|at| parsed.extras.get_mut(at as usize));
        let Some(Extra::Spawn {
            thread,
            vfork,
            shares_files,
            ..
        }) = extra
        else {
            return;
        };
        for flag in flags.split(|&byte| byte == b'|') {
            match flag {
                b"THREAD" => *thread = true,
                b"VFORK" => *vfork = true,
                b"FILES" => *shares_files = true,
                _ => {}
            }
        }
    }
}

/// Whether a parameter of this name matches a letter of [`Syscall::args`].
fn fits(letter: u8, key: &[u8]) -> bool {
    let names: &[&[u8]] = match letter {
        b'f' => &[
            b"fd", b"epfd", b"oldfd", b"in_fd", b"out_fd", b"fd_in", b"fd_out", b"ufd", b"pidfd",
            b"mqdes",
        ],
        b'd' => return key.ends_with(b"dfd") || key == b"dirfd",
        b'p' => &[
            b"filename",
            b"pathname",
            b"path",
            b"name",
            b"oldname",
            b"newname",
            b"old",
            b"new",
            b"dev_name",
            b"dir_name",
        ],
        b'o' => &[b"cmd", b"op", b"request", b"option", b"which", b"how"],
        b'a' => &[b"uaddr", b"addr", b"start"],
        b'i' => &[b"pid", b"upid", b"tgid", b"id"],
        b's' => &[
            b"uservaddr",
            b"umyaddr",
            b"addr",
            b"upeer_sockaddr",
            b"usockaddr",
        ],
        b't' => &[b"rqtp", b"timeout", b"uts", b"tsp", b"utime", b"uinfo"],
        b'v' => &[b"tvp", b"value"],
        b'm' => &[b"timeout", b"timeout_msecs"],
        b'e' => &[b"fd"],
        _ => &[],
    };
    names.contains(&key)
}

/// The prefix that perf removes from the names of operations.
fn op_prefix(name: &[u8]) -> &'static [u8] {
    match name {
        b"futex" => b"FUTEX_",
        b"fcntl" | b"fcntl64" => b"F_",
        b"epoll_ctl" => b"EPOLL_CTL_",
        b"prctl" => b"PR_",
        _ => b"",
    }
}

/// `{ .family: INET, port: 53, addr: 127.0.0.53 }`, `{ .family: LOCAL, path: /run/log }`
fn socket_address(text: &[u8], out: &mut Vec<u8>) -> bool {
    let field = |key: &[u8]| {
        let rest = memmem::find(text, key).and_then(|at| text.get(at + key.len()..))?;
        let end = rest
            .iter()
            .position(|byte| matches!(byte, b',' | b' ' | b'}'))
            .unwrap_or(rest.len());
        rest.get(..end).filter(|value| !value.is_empty())
    };
    out.clear();
    if let Some(path) = field(b"path: ") {
        out.extend_from_slice(path);
    } else if let Some(host) = field(b"addr: ") {
        let brackets = host.contains(&b':');
        out.extend(brackets.then_some(b'['));
        out.extend_from_slice(host);
        out.extend(brackets.then_some(b']'));
        if let Some(port) = field(b"port: ") {
            out.push(b':');
            out.extend_from_slice(port);
        }
    }
    !out.is_empty()
}
