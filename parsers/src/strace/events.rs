//! Lines that are no calls: signals, ends, messages, stacks and dumps, tables.

use crate::call::{read_siginfo, signal_number};
use crate::format::Parsed;
use crate::line::{Ended, Extra, Kind, Line, NO_ID};
use crate::scan;
use memchr::memmem;

/// `--- SIGCHLD {…} ---`, `--- SIGALRM (Alarm clock) @ 0 (0) ---`, `--- {si_signo=…} (…) ---`, `--- stopped by SIGSTOP ---`.
pub fn signal(text: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    let Some(inner) = text.strip_prefix(b"--- ").and_then(|inner| inner.strip_suffix(b" ---")) else {
        return false;
    };
    if let Some(name) = inner.strip_prefix(b"stopped by ") {
        line.kind = Kind::Process;
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
    line.kind = Kind::Signal;
    line.name = parsed.texts.add(name);
    let (from, ended) = read_siginfo(inner, parsed);
    line.extra = parsed.keep(Extra::Signal { from, ended });
    true
}

/// `+++ exited with 3 +++`, `+++ killed by SIGSEGV (core dumped) +++`, `+++ superseded by execve in pid 12 +++`.
pub fn end(text: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    let Some(inner) = text.strip_prefix(b"+++ ").and_then(|inner| inner.strip_suffix(b" +++")) else {
        return false;
    };
    let extra = if let Some((status, _)) = inner.strip_prefix(b"exited with ").and_then(scan::signed) {
        Extra::End(Ended::Exited(status as i32))
    } else if let Some(name) = inner.strip_prefix(b"killed by ") {
        Extra::End(Ended::Killed(parsed.texts.add(word(name))))
    } else if let Some(by) = inner.strip_prefix(b"superseded by execve in pid ") {
        Extra::Superseded { by: crate::call::tracer_id(by).unwrap_or_else(|| id(by)) }
    } else {
        return false;
    };
    line.kind = if matches!(extra, Extra::End(_)) { Kind::Exit } else { Kind::Process };
    line.extra = parsed.keep(extra);
    true
}

/// A message of strace about itself.
pub fn message(text: &[u8], parsed: &mut Parsed) -> Option<Line> {
    let text = text.strip_prefix(b"^C").unwrap_or(text);
    if text.starts_with(b"[ Process PID=") && text.ends_with(b" mode. ]") {
        return Some(Line::of(Kind::Process));
    }
    if text.starts_with(b"Process ") {
        return about_process(text, parsed);
    }
    let said = own_words(text)?;
    if said.starts_with(b"[ Process PID=") {
        return Some(Line::of(Kind::Process));
    }
    about_process(said, parsed).or_else(|| Some(Line::of(Kind::Notice)))
}

/// What follows `strace: `, with or without the path strace was started by.
fn own_words(text: &[u8]) -> Option<&[u8]> {
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
        _ if rest.starts_with(b" suspended") || rest.starts_with(b" resumed") => return Some(Line::of(Kind::Notice)),
        _ => return None,
    };
    let mut line = Line::of(Kind::Process);
    line.extra = parsed.keep(Extra::Attached(id, attached));
    Some(line)
}

/// Where a message begins that cut a line, and what it says of a process.
pub fn message_inside(text: &[u8]) -> Option<(usize, Option<(i32, bool)>)> {
    let at = memmem::rfind(text, b"Process ")?;
    let (id, rest) = scan::number(&text[at + 8..])?;
    let known = match rest {
        b" attached" => Some(true),
        b" detached" => Some(false),
        b" suspended" => None,
        _ if rest.starts_with(b" attached ") => Some(true),
        _ if rest.starts_with(b" resumed") => None,
        _ => return None,
    };
    let said = i32::try_from(id).ok().zip(known);
    Some((own_name_start(text, at), said))
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
    let start = before.iter().rposition(|byte| !path(byte)).map_or(0, |at| at + 1);
    // `/* 35 vars *//usr/bin/strace:`: the first slash ends the comment.
    start + usize::from(before[start..].starts_with(b"//"))
}

/// Stack frames, dumps of buffers, states of virtual processors.
pub fn is_auxiliary(line: &[u8]) -> bool {
    matches!(line, [b' ', b'>' | b'|' | b'*', b' ', ..]) || line.starts_with(b" VCPU:")
}

/// A line of the table of `-c`; rows carry their numbers.
pub fn summary(line: &[u8], parsed: &mut Parsed) -> Option<Line> {
    if is_table_head(line) || is_rule(line) {
        return Some(Line::of(Kind::SummaryTable));
    }
    let row = Row::read(line)?;
    let mut read = Line::of(Kind::SummaryTable);
    if row.name != b"total" {
        read.name = parsed.texts.add(row.name);
        let (calls, failed, total_ns) = (row.calls, row.failed, row.total_ns);
        read.extra = parsed.keep(Extra::SummaryRow { calls, failed, total_ns });
    }
    Some(read)
}

/// `% time     seconds  usecs/call     calls    errors syscall`, in any order, or the line before a second table.
pub fn is_table_head(line: &[u8]) -> bool {
    let has = |word: &[u8]| memmem::find(line, word).is_some();
    let head = has(b"% time") || has(b"usecs/call") || has(b"seconds") || has(b"calls");
    let columns: [&[u8]; 4] = [b"% time", b"seconds", b"usecs/call", b"calls"];
    let enough = columns.iter().filter(|column| has(column)).count() >= 2;
    head && enough && has(b"syscall") && !has(b"(") || line.starts_with(b"System call usage summary")
}

/// The dashes under the head.
pub fn is_rule(line: &[u8]) -> bool {
    line.starts_with(b"------ ") || line.len() > 20 && line.iter().all(|byte| matches!(byte, b'-' | b' '))
}

struct Row<'a> {
    name: &'a [u8],
    calls: u64,
    failed: u64,
    total_ns: i64,
}

impl<'a> Row<'a> {
    /// Of the usual columns the cell of `errors` may be empty: ` 68.53    0.085212       42606         2           close`.
    fn read(line: &'a [u8]) -> Option<Row<'a>> {
        let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        let mut cells: [&[u8]; 6] = [b""; 6];
        let mut count = 0;
        for word in &mut words {
            *cells.get_mut(count)? = word;
            count += 1;
        }
        let (share, name) = (*cells.first()?, *cells.get(count.checked_sub(1)?)?);
        if count < 5 || !is_share(share) || name.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let (total_ns, _, rest) = scan::seconds(cells[1])?;
        let integer = |at: usize| scan::number(cells[at]).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value);
        let total_without_mean = count == 5 && name == b"total";
        let calls = if total_without_mean { integer(2)? } else { integer(3)? };
        let failed = if count == 6 { integer(4)? } else { 0 };
        integer(2)?;
        rest.is_empty().then_some(Row { name, calls: calls as u64, failed: failed as u64, total_ns })
    }
}

/// `68.53`, `100.00`
fn is_share(text: &[u8]) -> bool {
    matches!(scan::seconds(text), Some((_, 2, b"")))
}

fn after<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    memmem::find(text, key).map(|at| &text[at + key.len()..])
}

fn word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')).unwrap_or(text.len());
    &text[..end]
}

/// A decimal id at the front.
pub fn id(text: &[u8]) -> i32 {
    scan::number(text).and_then(|(id, _)| i32::try_from(id).ok()).unwrap_or(NO_ID)
}
