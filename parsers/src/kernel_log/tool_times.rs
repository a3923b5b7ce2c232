//! Times that tools print about a whole run or about a part of it, without a time of their own.
//!
//! ```text
//! real  1m12.513s                                          time of a shell; ptime and time -p print seconds
//! make  48.12s user 3.00s system 70% cpu 1:12.51 total    time of zsh
//! Elapsed (wall clock) time (h:mm:ss or m:ss): 1:12.51    GNU time -v
//! 12  48311  1700000000000000000  obj/big.o  1a2b3d       .ninja_log: start and end in ms
//! npm timing reify Completed in 21002ms
//! Finished dev [unoptimized] target(s) in 1m 02s          cargo; BUILD SUCCESSFUL in 1m 12s of Gradle
//! ```

use crate::scan;
use memchr::memmem;
use std::borrow::Cow;

/// What took how long, in milliseconds.
pub(super) type ToolTime<'a> = (Cow<'a, [u8]>, i64);

/// First words of other lines of these tools.
const OTHERS: [&[u8]; 15] = [
    b"user",
    b"sys",
    b"# ninja log v",
    b"npm timing ",
    b"npm http ",
    b"Compiling ",
    b"> Task :",
    b"Command being timed: ",
    b"User time (seconds): ",
    b"System time (seconds): ",
    b"Percent of CPU this job got: ",
    b"Maximum resident set size ",
    b"Page size (bytes): ",
    b"Exit status: ",
    b"Average ",
];

/// The first line of `.ninja_log`.
pub(super) const NINJA_HEADER: &[u8] = b"# ninja log v";

/// Read a line that states a time.
pub(super) fn read(text: &[u8]) -> Option<ToolTime<'_>> {
    real(text)
        .or_else(|| elapsed(text))
        .or_else(|| zsh(text))
        .or_else(|| ninja(text))
        .or_else(|| npm(text))
        .or_else(|| build(text))
}

/// Whether a line that states nothing is of one of these tools.
pub(super) fn belongs(text: &[u8]) -> bool {
    OTHERS.iter().any(|first| text.starts_with(first))
}

/// `real  1m12.513s`, `real 72.51`, `real        4.512372109`, `real    1:12.51`.
fn real(text: &[u8]) -> Option<ToolTime<'_>> {
    let rest = text.strip_prefix(b"real")?;
    let value = scan::skip_blanks(rest);
    (value.len() < rest.len()).then_some(())?;
    let value = match memchr::memchr(b'm', value) {
        Some(at) => {
            let minutes = value.get(..at)?;
            let seconds = value.get(at + 1..)?.strip_suffix(b"s")?;
            [minutes, b":", seconds].concat()
        }
        None => value.to_vec(),
    };
    Some((Cow::Borrowed(b"the command"), clock_ms(&value)?))
}

/// `0.10user 3.00system 1:12.51elapsed 70%CPU (…`, and the same in GNU time's long form.
fn elapsed(text: &[u8]) -> Option<ToolTime<'_>> {
    const LONG: &[u8] = b"Elapsed (wall clock) time (h:mm:ss or m:ss): ";
    if let Some(value) = text.strip_prefix(LONG) {
        return Some((Cow::Borrowed(b"the command"), clock_ms(value)?));
    }
    let at = memmem::find(text, b"elapsed ")?;
    let value = text.get(..at)?;
    memmem::find(value, b"system ")?;
    let value = value.rsplit(|&byte| byte == b' ').next()?;
    Some((Cow::Borrowed(b"the command"), clock_ms(value)?))
}

/// `make -j4  48.12s user 3.00s system 70% cpu 1:12.51 total`
fn zsh(text: &[u8]) -> Option<ToolTime<'_>> {
    let before = text.strip_suffix(b" total")?;
    let at = memmem::rfind(before, b"% cpu ")?;
    let (head, value) = (before.get(..at)?, before.get(at + 6..)?);
    let user = memmem::rfind(head, b"s user ")?;
    let command = head.get(..user)?;
    let blank = memchr::memrchr(b' ', command).unwrap_or(0);
    let command = scan::trim(command.get(..blank)?);
    let name = if command.is_empty() {
        &b"the command"[..]
    } else {
        command
    };
    Some((Cow::Borrowed(name), clock_ms(scan::trim(value))?))
}

/// Start, end, change of the file, output, and hash of the command, with tabs between them.
fn ninja(text: &[u8]) -> Option<ToolTime<'_>> {
    let mut fields = text.split(|&byte| byte == b'\t');
    let mut number = || {
        let (value, rest) = scan::number(fields.next()?)?;
        rest.is_empty().then_some(value)
    };
    let (start, end, _) = (number()?, number()?, number()?);
    let output = fields.next().filter(|output| !output.is_empty())?;
    let hash = fields.next()?;
    let is_hash = !hash.is_empty() && hash.iter().all(u8::is_ascii_hexdigit);
    (is_hash && end >= start).then(|| (Cow::Borrowed(output), end - start))
}

/// `npm timing reify:unpack Completed in 12311ms`
fn npm(text: &[u8]) -> Option<ToolTime<'_>> {
    let rest = text.strip_prefix(b"npm timing ")?;
    let at = memmem::find(rest, b" Completed in ")?;
    let (ms, unit) = scan::number(rest.get(at + 14..)?)?;
    let name = [b"npm ", rest.get(..at)?].concat();
    (unit == b"ms").then_some((Cow::Owned(name), ms))
}

/// The last line of a build: `Finished … in 1m 02s`, `BUILD FAILED in 3s`.
fn build(text: &[u8]) -> Option<ToolTime<'_>> {
    let is_end = [
        &b"Finished "[..],
        b"BUILD SUCCESSFUL in ",
        b"BUILD FAILED in ",
    ]
    .iter()
    .any(|first| text.starts_with(first));
    let at = memmem::rfind(text, b" in ").filter(|_| is_end)?;
    let mut words = text.get(at + 4..)?.split(|&byte| byte == b' ');
    let mut total_ms = 0i64;
    words.try_for_each(|word| {
        let (ns, _, unit) = scan::seconds(word)?;
        let seconds = match unit {
            b"h" => 3600,
            b"m" => 60,
            b"s" => 1,
            b"ms" => {
                return total_ms
                    .checked_add(ns / 1_000_000_000)
                    .map(|ms| total_ms = ms);
            }
            _ => return None,
        };
        let ms = (ns / 1_000_000).checked_mul(seconds)?;
        total_ms = total_ms.checked_add(ms)?;
        Some(())
    })?;
    let name: &[u8] = if text.starts_with(b"BUILD FAILED") {
        b"the failed build"
    } else {
        b"the build"
    };
    Some((Cow::Borrowed(name), total_ms))
}

/// `1:12.51`, `2:01:12`, `72.51` in milliseconds.
pub(super) fn clock_ms(text: &[u8]) -> Option<i64> {
    const MAX_PARTS: usize = 3;
    let (mut seconds, mut parts) = (0i64, 0usize);
    let mut rest = text;
    while let Some(at) = memchr::memchr(b':', rest) {
        let (value, none) = scan::number(rest.get(..at)?)?;
        parts += 1;
        if !none.is_empty() || parts >= MAX_PARTS {
            return None;
        }
        seconds = seconds.checked_add(value)?.checked_mul(60)?;
        rest = rest.get(at + 1..)?;
    }
    let (ns, _, none) = scan::seconds(rest)?;
    let ms = seconds.checked_mul(1000)?.checked_add(ns / 1_000_000)?;
    none.is_empty().then_some(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_tools_are_read() {
        let cases = [
            ("real\t1m12.513s", ("the command", 72513)),
            ("real 72.51", ("the command", 72510)),
            ("real        4.512372109", ("the command", 4512)),
            ("real     1:02.123", ("the command", 62123)),
            (
                "0.10user 3.00system 1:12.51elapsed 70%CPU (0avgtext)",
                ("the command", 72510),
            ),
            (
                "Elapsed (wall clock) time (h:mm:ss or m:ss): 1:01:12",
                ("the command", 3672000),
            ),
            (
                "make -j4  48.12s user 3.00s system 70% cpu 1:12.51 total",
                ("make -j4", 72510),
            ),
            (
                "12\t48311\t1700000000000000000\tobj/big.o\t1a2b3d",
                ("obj/big.o", 48299),
            ),
            (
                "npm timing reify:unpack Completed in 12311ms",
                ("npm reify:unpack", 12311),
            ),
            (
                "Finished dev [unoptimized + debuginfo] target(s) in 1m 02s",
                ("the build", 62000),
            ),
            ("BUILD FAILED in 950ms", ("the failed build", 950)),
        ];
        for (line, (name, ms)) in cases {
            let found = read(line.as_bytes());
            assert_eq!(found, Some((Cow::Borrowed(name.as_bytes()), ms)), "{line}");
        }
        for line in [
            "real estate",
            "real",
            "realm 1.0",
            "Finished in time",
            "48311\t12\t17\ta\t1",
            "1:2:3:4",
            "real 99999999999999999:00",
        ] {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
    }
}
