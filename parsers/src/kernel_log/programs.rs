//! Logs of programs that print something before the time, or name it.
//!
//! ```text
//! I0305 19:43:34.123456       1 main.go:12] text               klog, glog
//! 03-05 19:43:34.123  1234  1240 I Tag: text                    logcat
//! 10.0.0.7 - - [05/Mar/2021:19:43:34 +0100] "GET / HTTP/1.1"    access logs of web servers
//! INFO 2021-03-05 19:43:34,123 text                             or [main], or 1:M, or web-1  |
//! time="2021-03-05T19:43:34Z" level=info msg="text"             logfmt
//! {"time":"2021-03-05T19:43:34Z","msg":"text"}                  JSON, an object a line
//! INFO[0042] text, DEBU[2021-03-05T19:43:34Z] text              logrus on a terminal
//! KERNEL[115301.063164] add /devices/a                          udevadm monitor
//! type=SYSCALL msg=audit(1364481363.243:24287): arch=c000003e   the auditor
//! # Time: 2021-03-05T19:43:34.123456Z                           slow queries; `# Query_time: 12.3` has no time
//! ```
//!
//! The text before the time has a fixed form or is one short word, so that a date inside a sentence is not a stamp.

use super::date::{self, DateOrder};
use super::stamp::{LogPrefix, MessageForm, StampBase, bare, one, skip_colour};
use crate::scan;
use memchr::{memchr, memmem};

/// The time of an access log is searched for this far into a line: addresses and users may precede it.
const MAX_PREFIX_BYTES: usize = 160;
/// Longest name of a container before a bar.
const MAX_NAME_BYTES: usize = 64;

/// The prefix of a line that does not begin with its time.
pub(super) fn prefix(text: &[u8], order: DateOrder) -> Option<LogPrefix<'_>> {
    if let Some(prefix) = named(text) {
        return Some(prefix);
    }
    match text.first()? {
        b'{' => json(text),
        b't' => logfmt(text),
        b'#' => slow_query(text),
        b'I' | b'W' | b'E' | b'F' => klog(text).or_else(|| labelled(text, order)),
        b'0' | b'1' => access(text).or_else(|| labelled(text, order)),
        _ => access(text).or_else(|| labelled(text, order)),
    }
}

/// A word with its time in brackets or parentheses: logrus on a terminal, `udevadm monitor`, the auditor.
fn named(text: &[u8]) -> Option<LogPrefix<'_>> {
    match text.first()? {
        b'K' | b'U' => udev(text),
        b'I' | b'W' | b'D' | b'E' | b'F' | b'P' | b'T' => logrus(text),
        b't' | b'n' => audit(text),
        _ => None,
    }
}

/// `INFO[0042] text`, with the seconds since the program's start, and `DEBU[2021-05-03T19:43:34Z] text`; with colours,
/// the level has its own.
fn logrus(text: &[u8]) -> Option<LogPrefix<'_>> {
    const LEVELS: [&[u8]; 7] = [
        b"INFO", b"WARN", b"DEBU", b"ERRO", b"FATA", b"PANI", b"TRAC",
    ];
    let (level, rest) = text.split_at_checked(4)?;
    let inside = skip_colour(rest).strip_prefix(b"[")?;
    if !LEVELS.contains(&level) {
        return None;
    }
    let (base, (ns, count, rest)) = match date::iso(inside) {
        Some(taken) => (StampBase::Epoch, taken),
        None => (StampBase::Boot, scan::seconds(inside)?),
    };
    let text = rest.strip_prefix(b"]")?;
    Some(one(
        base,
        (ns, count),
        MessageForm::Plain,
        true,
        scan::skip_blanks(text),
    ))
}

/// `KERNEL[115301.063164] add /devices/…`, `UDEV  [115311.060000] add /devices/…`: the message keeps the sender.
fn udev(text: &[u8]) -> Option<LogPrefix<'_>> {
    let rest = text
        .strip_prefix(b"KERNEL")
        .or_else(|| text.strip_prefix(b"UDEV"))?;
    let inside = scan::skip_blanks(rest).strip_prefix(b"[")?;
    let (ns, count, rest) = scan::seconds(inside)?;
    rest.strip_prefix(b"] ").filter(|_| count > 0)?;
    Some(one(
        StampBase::Boot,
        (ns, count),
        MessageForm::Plain,
        true,
        text,
    ))
}

/// `type=SYSCALL msg=audit(1364481363.243:24287): …`, with `node=NAME` before it or not.
fn audit(text: &[u8]) -> Option<LogPrefix<'_>> {
    if !text.starts_with(b"type=") && !text.starts_with(b"node=") {
        return None;
    }
    let at = memmem::find(text.get(..MAX_PREFIX_BYTES).unwrap_or(text), b"msg=audit(")?;
    let (ns, count, rest) = date::since_1970(text.get(at + 10..)?)?;
    let end = memmem::find(rest, b"): ")?;
    Some(one(
        StampBase::Epoch,
        (ns, count),
        MessageForm::Plain,
        true,
        rest.get(end + 3..)?,
    ))
}

/// `I0305` or `I20210305`, the time, the thread number, and the source position.
fn klog(text: &[u8]) -> Option<LogPrefix<'_>> {
    let (number, rest) = scan::number(text.get(1..)?)?;
    let digits = text.len() - rest.len() - 1;
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
    let (time_ns, count, rest) =
        date::time(rest.strip_prefix(b" ")?).filter(|found| found.1 == 6)?;
    let (_, rest) = scan::number(scan::skip_blanks(rest))?;
    let text = rest.get(memmem::find(rest, b"] ")? + 2..)?;
    let (base, ns) = match digits {
        4 => (StampBase::Year, date::since_new_year(month, day, time_ns)?),
        8 => (
            StampBase::Epoch,
            date::since_epoch(year, month, day, time_ns)?,
        ),
        _ => return None,
    };
    Some(one(base, (ns, count), MessageForm::Plain, true, text))
}

/// Month and day, the time, and usually process, thread and level.
pub(super) fn logcat(text: &[u8]) -> Option<LogPrefix<'_>> {
    let (month, rest) = scan::number(text)?;
    let (day, rest) = scan::number(rest.strip_prefix(b"-")?)?;
    let (time_ns, count, rest) =
        date::time(rest.strip_prefix(b" ")?).filter(|found| found.1 >= 3)?;
    let text = rest.strip_prefix(b" ")?;
    let ids = || {
        let (_, rest) = scan::number(scan::skip_blanks(text))?;
        let (_, rest) = scan::number(scan::skip_blanks(rest))?;
        rest.strip_prefix(b" ")?.get(1..)?.strip_prefix(b" ")
    };
    let ns = date::since_new_year(month, day, time_ns)?;
    Some(one(
        StampBase::Year,
        (ns, count),
        MessageForm::Plain,
        true,
        ids().unwrap_or(text),
    ))
}

/// The time in brackets after address and user.
fn access(text: &[u8]) -> Option<LogPrefix<'_>> {
    let at = memchr(b'[', text.get(..MAX_PREFIX_BYTES).unwrap_or(text))
        .filter(|&at| at > 0 && text[at - 1] == b' ')?;
    let (ns, count, rest) = date::day_month_year(&text[at + 1..])?;
    let text = rest.strip_prefix(b"] ")?;
    Some(one(
        StampBase::Epoch,
        (ns, count),
        MessageForm::Plain,
        true,
        text,
    ))
}

/// One word, then a date with its year.
fn labelled(text: &[u8], order: DateOrder) -> Option<LogPrefix<'_>> {
    if let Some(bar) = memmem::find(text.get(..MAX_NAME_BYTES).unwrap_or(text), b"| ") {
        let name = scan::trim_end(&text[..bar]);
        let is_name = !name.is_empty() && name.len() < bar && !name.contains(&b' ');
        let said = scan::skip_blanks(&text[bar + 2..]);
        let prefix = if said.starts_with(b"{") {
            json(said)
        } else {
            bare(said, order)
        };
        return prefix.filter(|_| is_name);
    }
    let label = match text.strip_prefix(b"[") {
        Some(inside) => memchr(b']', inside)? + 2,
        None => memchr(b' ', text.get(..16).unwrap_or(text))?,
    };
    let (label, rest) = text.split_at_checked(label)?;
    let is_label = label.starts_with(b"[") || is_level(label) || is_role(label);
    let rest = rest.strip_prefix(b" ").filter(|_| is_label)?;
    bare(scan::skip_blanks(rest), order).filter(|prefix| prefix.at(StampBase::Epoch).is_some())
}

/// `INFO`, `WARNING:`.
fn is_level(label: &[u8]) -> bool {
    const LEVELS: [&[u8]; 10] = [
        b"TRACE",
        b"DEBUG",
        b"INFO",
        b"NOTICE",
        b"WARN",
        b"WARNING",
        b"ERROR",
        b"CRITICAL",
        b"FATAL",
        b"SEVERE",
    ];
    let label = label.strip_suffix(b":").unwrap_or(label);
    LEVELS.iter().any(|level| label.eq_ignore_ascii_case(level))
}

/// `1:M`: a process and its role.
fn is_role(label: &[u8]) -> bool {
    let role = scan::number(label).and_then(|(_, rest)| rest.strip_prefix(b":"));
    role.is_some_and(|role| matches!(role, [b'A'..=b'Z']))
}

fn logfmt(text: &[u8]) -> Option<LogPrefix<'_>> {
    let value = [&b"time="[..], b"ts=", b"t=", b"timestamp="]
        .iter()
        .find_map(|key| text.strip_prefix(*key))?;
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    let (ns, count, rest) = moment(value)?;
    let rest = rest
        .strip_prefix(b"\"")
        .unwrap_or(rest)
        .strip_prefix(b" ")?;
    let message = memmem::find(rest, b"msg=").and_then(|at| rest.get(at + 4..));
    let message = message.map(|message| quoted(message).unwrap_or(message));
    Some(of_record(rest, message.unwrap_or(rest), (ns, count)))
}

/// A record with a time, whose attributes may state durations.
fn of_record<'a>(record: &'a [u8], message: &'a [u8], taken: (i64, usize)) -> LogPrefix<'a> {
    let at = message.as_ptr() as usize - record.as_ptr() as usize;
    let rest = if message.len() < record.len() {
        [&record[..at], &record[at + message.len()..]]
    } else {
        [&b""[..]; 2]
    };
    LogPrefix {
        record: rest,
        ..one(StampBase::Epoch, taken, MessageForm::Plain, false, message)
    }
}

/// The lines before a statement in a log of slow queries; only the first has a time.
fn slow_query(text: &[u8]) -> Option<LogPrefix<'_>> {
    if let Some(time) = text.strip_prefix(b"# Time: ") {
        let (ns, count, rest) = date::iso(time)?;
        return Some(one(
            StampBase::Epoch,
            (ns, count),
            MessageForm::Plain,
            true,
            rest,
        ));
    }
    let is_part = text.starts_with(b"# User@Host: ") || text.starts_with(b"# Query_time: ");
    let text = text.get(2..).filter(|_| is_part)?;
    let stamps = [None; 3];
    Some(LogPrefix {
        stamps,
        form: MessageForm::Plain,
        text,
        is_sure: true,
        record: [b""; 2],
    })
}

fn json(text: &[u8]) -> Option<LogPrefix<'_>> {
    const TIMES: [&[u8]; 8] = [
        b"\"time\":",
        b"\"ts\":",
        b"\"timestamp\":",
        b"\"@timestamp\":",
        b"\"t\":",
        b"\"@t\":",
        b"\"asctime\":",
        // Of the journal.
        b"\"__REALTIME_TIMESTAMP\":",
    ];
    const MESSAGES: [&[u8]; 5] = [
        b"\"msg\":",
        b"\"message\":",
        b"\"log\":",
        b"\"@m\":",
        b"\"MESSAGE\":",
    ];
    let value = |key: &&[u8]| {
        Some(scan::skip_blanks(
            text.get(memmem::find(text, key)? + key.len()..)?,
        ))
    };
    let time = |value: &[u8]| match without_type(value).strip_prefix(b"\"") {
        Some(inside) => moment(inside).map(|(ns, count, _)| (ns, count)),
        None => date::since_1970(value).map(|(ns, count, _)| (ns, count)),
    };
    let taken = TIMES.iter().filter_map(value).find_map(time)?;
    let message = MESSAGES
        .iter()
        .find_map(value)
        .and_then(quoted)
        .unwrap_or(text);
    let message = message.strip_suffix(b"\\n").unwrap_or(message);
    Some(of_record(text, message, taken))
}

/// The value behind its type, which MongoDB has as a key: `{"$date":"2021-01-30T19:24:17.829+00:00"}`.
fn without_type(value: &[u8]) -> &[u8] {
    value
        .strip_prefix(b"{\"$date\":")
        .map_or(value, scan::skip_blanks)
}

/// A date with a time, or a number since 1970.
pub(crate) fn moment(text: &[u8]) -> Option<date::TakenTime<'_>> {
    date::iso(text).or_else(|| date::since_1970(text))
}

/// The text between the quote at the start and the next quote that is not escaped.
fn quoted(text: &[u8]) -> Option<&[u8]> {
    let inside = text.strip_prefix(b"\"")?;
    let is_end = |&at: &usize| {
        inside[..at]
            .iter()
            .rev()
            .take_while(|&&byte| byte == b'\\')
            .count()
            % 2
            == 0
    };
    let end = memchr::memchr_iter(b'"', inside).find(is_end)?;
    inside.get(..end)
}
