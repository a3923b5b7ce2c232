//! Logs with a time on each line: printk and dmesg, journal, syslog, and anything that begins with a stamp.
//!
//! ```text
//! In:   [    1.486287] md: stopping all md devices.
//! Out:  at 1486287000 ns since boot, md, message `md: stopping all md devices.`
//! ```
//!
//! A log has no calls; the analysis is about the gaps between messages. A capture has one clock, decided from its head.
//! A line without a stamp of that clock is a message without a time.

mod ages;
mod android;
mod attributes;
mod console;
mod cygwin;
pub(crate) mod date;
mod duration_lines;
mod grammar;
mod joined;
mod message;
mod month_names;
mod prefix;
pub(crate) mod programs;
mod runner_times;
pub(crate) mod stamp;
mod stamp_place;
mod tool_times;
mod unit_chain;
mod unit_plot;

use crate::capture_facts::{CaptureFacts, DurKind, StampMoment};
use crate::elision::is_elision;
use crate::format::{Format, Head, LineReader, MIN_SHARE, Parsed, Recognition, blank, is_quoted};
use crate::line::{Extra, Line, LineKind, NO_NS};
use crate::prompt;
use crate::scan;
use crate::text::Text;
use duration_lines::BuildSteps;
use joined::JoinedMessage;
use stamp::{LogPrefix, MINUTE_NS, STAMP_BASES, StampBase};
use stamp_place::{StampGrammar, StampPlace};
use std::borrow::Cow;

/// The format.
pub struct KernelLog;

/// Lines before a log that may be the command that printed it.
const MAX_PROMPT_LINES: usize = 3;
/// Longest stored message, in bytes.
const MAX_MESSAGE_BYTES: usize = 400;

impl Format for KernelLog {
    fn name(&self) -> &'static str {
        "kernel-log"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        if duration_lines::is_ninja_log(head) {
            return Recognition::Yes;
        }
        let grammar = StampGrammar::of(head);
        if grammar.place == StampPlace::Plot {
            return Recognition::Yes;
        }
        let (mut lines, mut stamped, mut sure) = (0usize, 0usize, 0usize);
        let (mut calls, mut jobs, mut states) = (0usize, 0usize, 0usize);
        for line in head
            .lines()
            .filter(|line| blank(line).is_none() && !is_elision(line))
        {
            // A statement of several lines, or the stack of an exception, belongs to the message above it.
            if stamped > 0 && line.starts_with(b"\t") {
                continue;
            }
            lines += 1;
            let joined = several_messages(line).len();
            if joined > 0 {
                (lines, stamped, sure) = (lines + joined - 1, stamped + joined, sure + joined);
                continue;
            }
            let Some(prefix) = prefix::read(line, grammar) else {
                jobs += usize::from(console::running_job(line).is_some());
                states += usize::from(console::status(line).is_some());
                continue;
            };
            stamped += 1;
            sure += usize::from(prefix.is_sure);
            // A number among the arguments of a call may look like a time.
            calls += usize::from(is_call(prefix.text) || is_call(line));
        }
        match lines {
            0 if head.complete => Recognition::No,
            0 => Recognition::NeedMore,
            // People quote the console's lines about a job that does not end, which say for how long.
            _ if stamped == 0 && jobs > 0 => Recognition::Maybe((jobs * 100 / lines) as u8),
            _ if stamped == 0 && duration_lines::share_percent(head) > 0 => {
                Recognition::Maybe(duration_lines::share_percent(head))
            }
            // Tracers may print the time first too. But a log may quote one or two calls.
            _ if stamped == 0 || calls * 10 > stamped && (calls > 2 || calls * 2 > stamped) => {
                Recognition::No
            }
            _ if (sure + states) * 2 >= lines => Recognition::Yes,
            // A person who quotes a log writes about it.
            _ if head.complete && is_quoted(sure, lines) => Recognition::Maybe(MIN_SHARE),
            _ => Recognition::Maybe((stamped * 100 / lines) as u8),
        }
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        let grammar = StampGrammar::of(head);
        let (base, digits) = clock(head, grammar);
        let is_newest_first = is_newest_first(head, grammar, base);
        let minutes = || {
            head.lines()
                .filter_map(|line| prefix::read(line, grammar))
                .filter(is_minute_stamp)
                .take(2)
                .count()
        };
        let is_rough = base == StampBase::Previous && minutes() > 1;
        Box::new(KernelLogReader {
            grammar,
            steps: BuildSteps::of(head),
            is_untimed: duration_lines::is_ninja_log(head),
            base,
            is_newest_first,
            is_selected: head
                .lines()
                .take(MAX_PROMPT_LINES)
                .any(prompt::selects_lines),
            tick_ns: match grammar.place {
                StampPlace::Age(word) => ages::tick_ns(head.lines(), word),
                _ if is_rough => MINUTE_NS,
                _ => scan::tick_ns(digits),
            },
        })
    }
}

/// The message of a line: what follows its stamps. Host, sender and process id are part of it in some forms.
pub fn message_of(line: &[u8]) -> Option<&[u8]> {
    let prefix = prefix::read(line, StampGrammar::default());
    prefix
        .or_else(|| unit_plot::read(line))
        .map(|prefix| prefix.text)
}

/// A call, a half of one, or a signal as tracers print it, with or without a thread id before it.
fn is_call(text: &[u8]) -> bool {
    let text = scan::skip_blanks(text);
    let text = after_marks(text);
    let text = after_marks(scan::skip_blanks(
        scan::number(text).map_or(text, |(_, rest)| rest),
    ));
    if [&b"<... "[..], b"--- SIG", b"+++ "]
        .iter()
        .any(|prefix| text.starts_with(prefix))
    {
        return true;
    }
    let Some((_, rest)) = scan::name(text) else {
        return false;
    };
    let ends =
        || text.ends_with(b"<unfinished ...>") || memchr::memmem::rfind(rest, b") = ").is_some();
    rest.starts_with(b"(") && (ends() || memchr::memmem::rfind(rest, b")  ").is_some())
}

/// The text after what strace prints in brackets before a call: `[pid 12]`, `(+ 0.000012)`, `[  59]`, a context.
fn after_marks(mut text: &[u8]) -> &[u8] {
    const MAX_MARKS: usize = 5;
    for _ in 0..MAX_MARKS {
        let close = match text {
            [b'(', b'+', ..] => b')',
            [b'[', ..] => b']',
            _ => break,
        };
        let Some(rest) = memchr::memchr(close, text).and_then(|end| text.get(end + 1..)) else {
            break;
        };
        text = scan::skip_blanks(rest);
    }
    text
}

/// The clock of a capture and its digits: the finest clock that most lines have, else the most common one.
fn clock(head: Head<'_>, grammar: StampGrammar) -> (StampBase, usize) {
    let (mut stamped, mut lines, mut digits) = (
        0usize,
        [0usize; STAMP_BASES.len()],
        [0usize; STAMP_BASES.len()],
    );
    for prefix in head.lines().filter_map(|line| prefix::read(line, grammar)) {
        stamped += 1;
        for (at, &base) in STAMP_BASES.iter().enumerate() {
            if let Some(stamp) = prefix.at(base) {
                lines[at] += 1;
                digits[at] = digits[at].max(stamp.digits);
            }
        }
    }
    let is_common = |at: &usize| lines[*at] * 5 >= stamped * 4 && lines[*at] > 0;
    // Among equals, the earlier base wins, hence the reverse order.
    let finest = (0..STAMP_BASES.len())
        .rev()
        .filter(is_common)
        .max_by_key(|&at| digits[at]);
    let commonest = || {
        (0..STAMP_BASES.len())
            .rev()
            .max_by_key(|&at| lines[at])
            .unwrap_or(0)
    };
    let at = finest.unwrap_or_else(commonest);
    (STAMP_BASES[at], digits[at])
}

/// Whether the time since the previous line has a resolution of a minute.
fn is_minute_stamp(prefix: &LogPrefix<'_>) -> bool {
    prefix
        .at(StampBase::Previous)
        .is_some_and(|stamp| stamp.ns < 0)
}

/// Minimum number of steps back of a log whose newest line comes first. A clock that is set back steps once.
const MIN_STEPS_BACK: usize = 2;

/// Whether stamps only fall.
fn is_newest_first(head: Head<'_>, grammar: StampGrammar, base: StampBase) -> bool {
    if base == StampBase::Previous {
        return false;
    }
    if grammar.place == StampPlace::Chain {
        return true;
    }
    let stamps = head
        .lines()
        .filter_map(|line| Some(prefix::read(line, grammar)?.at(base)?.ns));
    let (mut before_ns, mut steps_back) = (i64::MAX, 0);
    for stamp_ns in stamps {
        if stamp_ns > before_ns {
            return false;
        }
        steps_back += usize::from(stamp_ns < before_ns && before_ns != i64::MAX);
        before_ns = stamp_ns;
    }
    steps_back >= MIN_STEPS_BACK
}

struct KernelLogReader {
    grammar: StampGrammar,
    steps: BuildSteps,
    /// Whether numbers at the start of lines are no times.
    is_untimed: bool,
    base: StampBase,
    is_newest_first: bool,
    is_selected: bool,
    tick_ns: i64,
}

impl LineReader for KernelLogReader {
    fn facts(&self) -> CaptureFacts {
        CaptureFacts {
            stamp: StampMoment::Start,
            clock: self.base.clock(),
            tick_ns: self.tick_ns,
            dur_kind: DurKind::Gap,
            has_durations: false,
            has_ids: false,
            is_newest_first: self.is_newest_first,
            is_selected: self.is_selected,
            base_ns: 0,
            ..CaptureFacts::PLAIN
        }
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        if let Some(line) = blank(line) {
            return line;
        }
        let joined = if self.base == StampBase::Boot {
            several_messages(line)
        } else {
            Vec::new()
        };
        if let Some((first, others)) = joined.split_first() {
            return self.joined(first, others, parsed);
        }
        if let Some(prefix) = prefix::read(line, self.grammar).filter(|_| !self.is_untimed) {
            return self.message(&prefix, parsed);
        }
        let untimed = self.steps.read(line).map(|read| read.message);
        match untimed.or_else(|| second_line(line).map(Cow::Borrowed)) {
            Some(message) => Line {
                target: stored(&message, parsed),
                ..Line::of(LineKind::Log)
            },
            // Bars, and the legend.
            None if self.grammar.place == StampPlace::Plot => Line::of(LineKind::Notice),
            None => without_stamp(line, self.is_newest_first, parsed),
        }
    }
}

/// A text of a message, as far as it is stored.
fn stored(bytes: &[u8], parsed: &mut Parsed) -> Text {
    let Parsed { texts, scratch, .. } = parsed;
    if !bytes.contains(&b'\x1b') {
        return texts.add(bytes.get(..MAX_MESSAGE_BYTES).unwrap_or(bytes));
    }
    scratch.clear();
    message::without_colour(bytes, MAX_MESSAGE_BYTES, scratch);
    texts.add(scratch)
}

impl KernelLogReader {
    fn message(&self, prefix: &LogPrefix<'_>, parsed: &mut Parsed) -> Line {
        let mut line = Line::of(LineKind::Log);
        if let Some(stamp) = prefix.at(self.base) {
            line.stamp_ns = stamp.ns;
        }
        let (name, message) = message::read(prefix);
        if self.base == StampBase::Boot
            && !self.is_newest_first
            && may_begin_boot(line.stamp_ns, message)
        {
            line.extra = parsed.keep(BOOT);
        }
        line.ret = message::repeats(message).unwrap_or(NO_NS);
        line.name = stored(name, parsed);
        line.target = self.with_attributes(message, prefix.record, parsed);
        line
    }

    /// A message, followed by the durations among the attributes of its record.
    fn with_attributes(&self, message: &[u8], record: [&[u8]; 2], parsed: &mut Parsed) -> Text {
        let mut found = Vec::new();
        record
            .iter()
            .for_each(|part| attributes::append_durations(part, &mut found));
        if found.is_empty() {
            return stored(message, parsed);
        }
        let mut whole = message
            .get(..MAX_MESSAGE_BYTES - found.len().min(MAX_MESSAGE_BYTES))
            .unwrap_or(message)
            .to_vec();
        whole.append(&mut found);
        stored(&whole, parsed)
    }

    /// Several messages on one line.
    fn joined(
        &self,
        first: &JoinedMessage<'_>,
        others: &[JoinedMessage<'_>],
        parsed: &mut Parsed,
    ) -> Line {
        let message = |one: &JoinedMessage<'_>, parsed: &mut Parsed| {
            let (name, text) = message::plain(one.text);
            (one.stamp_ns, stored(name, parsed), stored(text, parsed))
        };
        let (stamp_ns, name, target) = message(first, parsed);
        let others: Box<[(i64, Text, Text)]> =
            others.iter().map(|one| message(one, parsed)).collect();
        let extra = parsed.keep(Extra::Joined(others));
        Line {
            stamp_ns,
            name,
            target,
            extra,
            ..Line::of(LineKind::Log)
        }
    }
}

/// The machine was started: time since the start begins again.
const BOOT: Extra = Extra::Restarted { base_ns: NO_NS };

/// Whether this may be one of the first lines of a kernel: before its clock runs, or its name. A log with wall time
/// continues over a start, and its lines may be of several machines.
fn may_begin_boot(stamp_ns: i64, message: &[u8]) -> bool {
    stamp_ns == 0 || message.starts_with(b"Linux version ")
}

/// `INFO: text`, the second line of a record of java.util.logging, whose first line has the time, class and method.
fn second_line(line: &[u8]) -> Option<&[u8]> {
    const LEVELS: [&[u8]; 7] = [
        b"SEVERE", b"WARNING", b"INFO", b"CONFIG", b"FINE", b"FINER", b"FINEST",
    ];
    let at = memchr::memmem::find(line.get(..10).unwrap_or(line), b": ")?;
    LEVELS.contains(&&line[..at]).then_some(line)
}

/// The messages of a line that has more than one, with a stamp of the kernel. Otherwise none.
fn several_messages(line: &[u8]) -> Vec<JoinedMessage<'_>> {
    let found = joined::messages(line);
    if found.is_empty() {
        console::messages(line)
    } else {
        found
    }
}

/// A line without a stamp, in a capture whose lines have one.
fn without_stamp(line: &[u8], is_newest_first: bool, parsed: &mut Parsed) -> Line {
    if let Some(text) = console::status(line) {
        let target = stored(text, parsed);
        return Line {
            target,
            ..Line::of(LineKind::Log)
        };
    }
    let mut read = Line::of(kind_without_stamp(line));
    if read.kind == LineKind::Notice
        && !is_newest_first
        && (line.starts_with(b"-- Boot ") || line.starts_with(b"-- Reboot --"))
    {
        read.extra = parsed.keep(BOOT);
    }
    read
}

fn kind_without_stamp(line: &[u8]) -> LineKind {
    if line.starts_with(b"-- ") && scan::trim_end(line).ends_with(b"--")
        || line.starts_with(b"-- Journal begins")
    {
        return LineKind::Notice;
    }
    if line
        .first()
        .is_some_and(|byte| matches!(byte, b' ' | b'\t'))
    {
        return LineKind::Continuation;
    }
    // `[    1.4862[    1.486300] text`: two writers on the console.
    let inside = line.strip_prefix(b"[").map(scan::skip_blanks);
    match inside.and_then(scan::seconds) {
        Some((_, digits, _)) if digits > 0 => LineKind::Damaged,
        _ => LineKind::Foreign,
    }
}
