//! The columns of a line of fs_usage.
//!
//! ```text
//! In:   19:43:34.123456  open              F=3        (RWC___)  /etc/hosts        0.000012   Google Chrome He.1234
//! Out:  open; fd 3, flags RWC___, path /etc/hosts; 12000 ns; thread 1234 of `Google Chrome He`
//! ```
//!
//! Paths and names of processes may contain blanks, so the duration is searched for from the end.

use crate::line::NO_ID;
use crate::quoting::in_quotes;
use crate::scan;
use crate::syscalls::Syscall;

/// Digits of the time and of the duration after the point.
const DIGITS: usize = 6;
/// The end of a line with the duration, `W` and the name of the process is not longer.
const MAX_END_BYTES: usize = 120;
/// The descriptor that stands for the working directory.
const WORKING_DIRECTORY: i64 = -2;

/// A line, split into its parts.
pub(super) struct FsUsageLine<'a> {
    /// When the call returned, since midnight.
    pub end_ns: i64,
    /// The name of the call.
    pub name: &'a [u8],
    /// What is printed between the name and the duration.
    pub columns: &'a [u8],
    /// Wall time of the call.
    pub dur_ns: i64,
    /// Whether the thread waited during a part of it.
    pub has_waited: bool,
    /// The name of the process.
    pub comm: &'a [u8],
    /// The thread.
    pub tid: i32,
}

/// Split a line; `None` if it does not have this form.
pub(super) fn read(line: &[u8]) -> Option<FsUsageLine<'_>> {
    let (end_ns, rest) = begin(scan::trim_end(line))?;
    let end = rest.iter().position(|byte| *byte == b' ')?;
    let (name, rest) = rest
        .split_at_checked(end)
        .filter(|(name, _)| is_name(name))?;
    let (columns, dur_ns, process) = duration(rest)?;
    let (has_waited, process) = match process.strip_prefix(b" W ") {
        Some(process) => (true, process),
        None => (false, process.strip_prefix(b"   ")?),
    };
    let (comm, tid) = thread(process)?;
    Some(FsUsageLine {
        end_ns,
        name,
        columns,
        dur_ns,
        has_waited,
        comm,
        tid,
    })
}

/// Whether a text begins like a line, wherever it was cut.
pub(super) fn begins(line: &[u8]) -> bool {
    begin(line).is_some_and(|(_, rest)| {
        let end = rest.iter().position(|byte| *byte == b' ');
        is_name(rest.get(..end.unwrap_or(rest.len())).unwrap_or(b""))
    })
}

/// The time and the text after the blanks that follow it.
fn begin(line: &[u8]) -> Option<(i64, &[u8])> {
    let (end_ns, digits, rest) = scan::time_of_day(line)?;
    let rest = rest.strip_prefix(b"  ")?;
    // Requests to disks are indented below the calls that cause them.
    let rest = rest.strip_prefix(b"  ").unwrap_or(rest);
    (digits == DIGITS).then_some((end_ns, rest))
}

/// `read`, `RdData[A]`, `PgIn[A]`.
fn is_name(name: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'[' | b']');
    name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(is_part)
}

/// The text before the duration, the duration, and the text after it.
fn duration(text: &[u8]) -> Option<(&[u8], i64, &[u8])> {
    let near = text.len().saturating_sub(MAX_END_BYTES);
    memchr::memrchr_iter(b'.', text.get(near..)?).find_map(|point| {
        let point = near + point;
        let start = text[..point]
            .iter()
            .rposition(|byte| !byte.is_ascii_digit())
            .map_or(0, |at| at + 1);
        let before = text.get(..start)?;
        let (dur_ns, digits, rest) = scan::seconds(text.get(start..)?)?;
        let is_apart =
            before.ends_with(b" ") && (rest.starts_with(b" W ") || rest.starts_with(b"   "));
        (digits == DIGITS && is_apart).then_some((before, dur_ns, rest))
    })
}

/// `Google Chrome He.1234`. Numbers of threads are counted up, so those that do not fit are as good without their upper bits.
fn thread(text: &[u8]) -> Option<(&[u8], i32)> {
    let point = memchr::memrchr(b'.', text)?;
    let (number, rest) = scan::number(text.get(point + 1..)?)?;
    let tid = i32::try_from(number & i64::from(i32::MAX)).ok()?;
    rest.is_empty().then_some((text.get(..point)?, tid))
}

/// What is between the name and the duration.
#[derive(Default)]
pub(super) struct FsUsageColumns<'a> {
    /// `F=3`.
    pub fd: Option<i64>,
    /// A second `F=4`: what dup and accept returned.
    pub made: Option<i64>,
    /// `B=0x200`.
    pub bytes: Option<i64>,
    /// Whether there is a `D=0x001ce0c4`: the block of a disk.
    pub is_disk_request: bool,
    /// `S=1`: how many descriptors are ready.
    pub ready: Option<i64>,
    /// `[  2]`.
    pub error: Option<i64>,
    /// `[-2]/` before a path: the descriptor of its directory.
    pub directory: Option<i64>,
    /// `<GETPATH>`, `<CMD=0x4004667f>`.
    pub op: &'a [u8],
    /// `(RWC___)`.
    pub flags: &'a [u8],
    /// The path.
    pub path: Option<&'a [u8]>,
}

impl<'a> FsUsageColumns<'a> {
    /// Split them.
    pub fn of(text: &'a [u8]) -> FsUsageColumns<'a> {
        let mut columns = FsUsageColumns::default();
        let mut rest = scan::trim(text);
        while let Some(after) = columns.take(rest) {
            rest = scan::skip_blanks(after);
        }
        if columns.path.is_none() && !rest.is_empty() {
            columns.path = Some(rest);
        }
        columns
    }

    /// Read one column; returns the text after it, or `None` at the path and at the end.
    fn take(&mut self, text: &'a [u8]) -> Option<&'a [u8]> {
        match text {
            [b'[', inside @ ..] => self.bracketed(inside),
            [b'<', inside @ ..] => {
                let end = memchr::memchr(b'>', inside)?;
                self.op = inside.get(..end)?;
                inside.get(end + 1..)
            }
            [b'(', inside @ ..] => {
                let end = memchr::memchr(b')', inside)?;
                let flags = inside.get(..end)?;
                let is_flag = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
                self.flags = Some(flags).filter(|flags| flags.iter().all(is_flag))?;
                inside.get(end + 1..)
            }
            [key, b'=', value @ ..] if b"FBSOADNP".contains(key) => self.numbered(*key, value),
            _ => None,
        }
    }

    fn numbered(&mut self, key: u8, text: &'a [u8]) -> Option<&'a [u8]> {
        let (value, rest) = scan::value(text)?;
        match key {
            b'F' if self.fd.is_some() => self.made = Some(value),
            b'F' => self.fd = Some(value),
            b'B' => self.bytes = Some(value),
            b'S' => self.ready = Some(value),
            b'D' => self.is_disk_request = true,
            _ => {}
        }
        Some(rest)
    }

    /// `[  2]` is an error, `[-2]/path` a path below a descriptor.
    fn bracketed(&mut self, inside: &'a [u8]) -> Option<&'a [u8]> {
        let (number, rest) = scan::signed(scan::skip_blanks(inside))?;
        let rest = rest.strip_prefix(b"]")?;
        if let Some(path) = rest.strip_prefix(b"/") {
            (self.directory, self.path) = (Some(number), Some(path));
            return None;
        }
        self.error = Some(number);
        Some(rest)
    }

    /// A descriptor as lines have it.
    pub fn number(&self, fd: Option<i64>) -> i32 {
        fd.and_then(|fd| i32::try_from(fd).ok())
            .filter(|fd| *fd >= 0)
            .unwrap_or(NO_ID)
    }

    /// The arguments in the order of the call, empty where nothing is printed.
    pub fn arguments(&self, call: &Syscall, makes_descriptor: bool) -> Vec<Vec<u8>> {
        let mut path = self.path.map(in_quotes);
        let fd = self.fd.filter(|_| !makes_descriptor || self.made.is_some());
        let number = |fd: Option<i64>| fd.map_or_else(Vec::new, |fd| fd.to_string().into_bytes());
        let argument = |letter: u8| match letter {
            b'f' => number(fd),
            b'd' if self.directory == Some(WORKING_DIRECTORY) => b"AT_FDCWD".to_vec(),
            b'd' => number(self.directory),
            b'p' | b'n' => path.take().unwrap_or_default(),
            b'c' => flags(self.flags),
            b'o' => operation(self.op),
            _ => Vec::new(),
        };
        call.args.bytes().map(argument).collect()
    }
}

/// `RWC_T_` as the names of other tracers.
fn flags(letters: &[u8]) -> Vec<u8> {
    let has = |letter: u8| letters.contains(&letter);
    let mut out = match (has(b'R'), has(b'W')) {
        (true, true) => b"O_RDWR".to_vec(),
        (false, true) => b"O_WRONLY".to_vec(),
        _ => b"O_RDONLY".to_vec(),
    };
    for (letter, name) in [
        (b'C', b"|O_CREAT".as_slice()),
        (b'A', b"|O_APPEND"),
        (b'T', b"|O_TRUNC"),
        (b'E', b"|O_EXCL"),
    ] {
        if has(letter) {
            out.extend_from_slice(name);
        }
    }
    out
}

/// `GETPATH` is `F_GETPATH`; numbers and constants of other calls remain.
fn operation(op: &[u8]) -> Vec<u8> {
    if let Some(number) = op.strip_prefix(b"CMD=") {
        return number.to_vec();
    }
    let first = op.split(|&byte| byte == b',').next().unwrap_or(op);
    let is_plain = !first.is_empty() && !first.starts_with(b"AF_") && !first.starts_with(b"DKIOC");
    if is_plain {
        [b"F_", first].concat()
    } else {
        first.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_duration_is_the_last_one_before_a_process() {
        let cases = [
            (
                "12:00:00.000001  stat64    /a 1.000000 b  0.000034   ls.51",
                "stat64",
                34_000,
                "ls",
                false,
            ),
            (
                "12:00:00.000001  read   F=3  B=0x1  1.500000 W com.apple.x.51",
                "read",
                1_500_000_000,
                "com.apple.x",
                true,
            ),
            (
                "12:00:00.000001  fsync  F=3   12.000000 W Google Chrome He.51",
                "fsync",
                12_000_000_000,
                "Google Chrome He",
                true,
            ),
        ];
        for (line, name, dur_ns, comm, has_waited) in cases {
            let found = read(line.as_bytes()).expect(line);
            assert_eq!(
                (found.name, found.dur_ns, found.comm, found.tid),
                (name.as_bytes(), dur_ns, comm.as_bytes(), 51)
            );
            assert_eq!(found.has_waited, has_waited, "{line}");
        }
    }

    #[test]
    fn columns_end_at_the_path() {
        let columns = FsUsageColumns::of(b" F=3   [  2] <GETPATH> (R_) /a [1] F=2 ");
        assert_eq!(
            (columns.fd, columns.error, columns.made),
            (Some(3), Some(2), None)
        );
        assert_eq!(
            (columns.op, columns.flags, columns.path),
            (&b"GETPATH"[..], &b"R_"[..], Some(&b"/a [1] F=2"[..]))
        );
        let columns = FsUsageColumns::of(b"      [ 17]       [-2]//Users/a b ");
        assert_eq!(
            (columns.error, columns.directory, columns.path),
            (Some(17), Some(-2), Some(&b"/Users/a b"[..]))
        );
    }
}
