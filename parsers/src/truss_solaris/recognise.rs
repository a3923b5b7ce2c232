//! Recognises truss of Solaris and illumos.

use super::call::{self, SolarisEnd};
use super::split::split;
use super::{notes, table};
use crate::format::{Head, Parsed, Recognition};
use crate::scan;
use crate::truss_common::{CallText, TrussCall};

/// What a line shows about the format.
enum SolarisSign {
    /// Only this truss prints it.
    Yes,
    /// Another tracer prints it.
    No,
    /// It looks like this truss.
    Fits,
    /// A call as many tracers print it.
    Weak,
    /// Nothing.
    Nothing,
}

/// Decide from the head.
pub(super) fn answer(head: Head<'_>) -> Recognition {
    let (mut lines, mut fits, mut weak, mut has_sign) = (0usize, 0usize, 0usize, false);
    for line in head
        .lines()
        .map(scan::trim_end)
        .filter(|line| !line.is_empty())
    {
        lines += 1;
        match sign_of(line) {
            SolarisSign::No => return Recognition::No,
            SolarisSign::Yes => has_sign = true,
            SolarisSign::Fits => fits += 1,
            SolarisSign::Weak => weak += 1,
            SolarisSign::Nothing => {}
        }
    }
    if has_sign {
        return Recognition::Yes;
    }
    if lines == 0 && !head.complete {
        return Recognition::NeedMore;
    }
    match (fits, lines) {
        (0, _) | (_, 0) => Recognition::No,
        _ => Recognition::Maybe(((fits + weak) * 100 / lines).min(100) as u8),
    }
}

fn sign_of(line: &[u8]) -> SolarisSign {
    if is_foreign_sign(line) {
        return SolarisSign::No;
    }
    let split = split(line, 3);
    if line.starts_with(b"Base time stamp:") || table_of_three_decimals(line) {
        return SolarisSign::Yes;
    }
    if split.body.starts_with(b"Received signal #")
        && notes::event(split.body, &mut Parsed::default()).is_some()
    {
        return SolarisSign::Yes;
    }
    match call::read(split.body) {
        CallText::Call(call) => sign_of_call(&call, line, split.prefixed || split.columns > 0),
        _ if notes::continuation(split.body, &mut Parsed::default()).is_some() => SolarisSign::Weak,
        _ if split.prefixed => SolarisSign::Weak,
        _ => SolarisSign::Nothing,
    }
}

fn sign_of_call(
    call: &TrussCall<'_, SolarisEnd<'_>>,
    line: &[u8],
    has_columns: bool,
) -> SolarisSign {
    // ltrace marks system calls.
    if call.name.starts_with(b"SYS_") || is_aix_call(call, line) {
        return SolarisSign::No;
    }
    match call.end {
        SolarisEnd::Error(_, name) if !name.is_empty() => SolarisSign::Yes,
        SolarisEnd::Exec | SolarisEnd::Sleeping | SolarisEnd::Child(_) | SolarisEnd::NewLwp => {
            SolarisSign::Yes
        }
        SolarisEnd::Error(..) => SolarisSign::Nothing,
        SolarisEnd::Value(..) | SolarisEnd::Nothing
            if has_columns || has_wide_hex(line) || has_tab_before_result(line) =>
        {
            SolarisSign::Fits
        }
        SolarisEnd::Value(..) => SolarisSign::Weak,
        SolarisEnd::Nothing => SolarisSign::Nothing,
    }
}

/// Names that only AIX has.
const AIX_NAMES: [&[u8]; 9] = [
    b"kread",
    b"kwrite",
    b"kopen",
    b"kioctl",
    b"kfork",
    b"kfcntl",
    b"klseek",
    b"kwaitpid",
    b"__loadx",
];

/// AIX prints two blanks before the name of an error, and has its own call names.
fn is_aix_call(call: &TrussCall<'_, SolarisEnd<'_>>, line: &[u8]) -> bool {
    let is_error = matches!(call.end, SolarisEnd::Error(..));
    AIX_NAMES.contains(&call.name)
        || (is_error && (call.name == b"statx" || has_two_blanks_in_error(line)))
}

/// Whether only truss of AIX prints such a line: a call, or a row of its table.
pub(crate) fn is_aix(line: &[u8]) -> bool {
    let line = scan::trim_end(line);
    match call::read(split(line, 3).body) {
        CallText::Call(call) => is_aix_call(&call, line),
        _ => table::row_name(line).is_some_and(|name| AIX_NAMES.contains(&name)),
    }
}

/// A row of a table alone does not show its system, but FreeBSD's rows have nine decimals.
fn table_of_three_decimals(line: &[u8]) -> bool {
    let line = scan::trim(line);
    let time = line
        .strip_prefix(b"usr time:")
        .or_else(|| line.strip_prefix(b"sys totals:"));
    let digits = time.and_then(|text| memchr::memchr(b'.', text).and_then(|at| text.get(at + 1..)));
    table::is_sign(line)
        && digits
            .and_then(scan::number)
            .is_some_and(|(_, rest)| rest.len() + 3 >= digits.map_or(0, <[u8]>::len))
}

/// Whether another tracer prints such a line.
pub(crate) fn is_foreign_sign(line: &[u8]) -> bool {
    let text = scan::skip_blanks(line);
    let is_dtruss =
        memchr::memmem::find(text, b"SYSCALL(args)").is_some() && text.ends_with(b"= return");
    let is_strace = text.ends_with(b"<unfinished ...>") || text.starts_with(b"+++ exited with");
    let is_freebsd = memchr::memmem::find(text, b" ERR#").is_some() && text.ends_with(b"'");
    is_dtruss || is_strace || is_freebsd || has_both_bases(text)
}

/// `) = 34366189568 (0x800627000)`: FreeBSD prints a result twice.
fn has_both_bases(text: &[u8]) -> bool {
    let Some(at) = memchr::memmem::rfind(text, b" (0x").filter(|_| text.ends_with(b")")) else {
        return false;
    };
    let before = text.get(..at).unwrap_or(b"");
    let digits = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    digits > 0
        && matches!(
            before.get(..before.len() - digits),
            Some([.., b'=', b' '] | [.., b'=', b' ', b'-'])
        )
}

fn has_two_blanks_in_error(line: &[u8]) -> bool {
    let Some(at) = memchr::memmem::rfind(line, b"Err#") else {
        return false;
    };
    line.get(at + 4..)
        .and_then(scan::number)
        .is_some_and(|(_, rest)| rest.starts_with(b"  "))
}

/// Hexadecimal with eight or more upper-case digits, outside strings.
fn has_wide_hex(line: &[u8]) -> bool {
    let (front, back) = match (memchr::memchr(b'"', line), memchr::memrchr(b'"', line)) {
        (Some(first), Some(last)) => line
            .split_at_checked(last)
            .map_or((line, &b""[..]), |(_, back)| (&line[..first], back)),
        _ => (line, &b""[..]),
    };
    [front, back].into_iter().any(has_wide_hex_in)
}

fn has_wide_hex_in(line: &[u8]) -> bool {
    memchr::memmem::find_iter(line, b"0x").any(|at| {
        let digits = line.get(at + 2..).unwrap_or(b"");
        let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte);
        let end = digits
            .iter()
            .position(|byte| !is_digit(byte))
            .unwrap_or(digits.len());
        end >= 8 && !digits.get(end).is_some_and(u8::is_ascii_alphanumeric)
    })
}

fn has_tab_before_result(line: &[u8]) -> bool {
    memchr::memmem::rfind(line, b"\t= ").is_some()
}
