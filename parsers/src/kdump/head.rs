//! The head of a record, and which of its columns a capture has.
//!
//! ```text
//! pid [tid | /tid] comm [times] [cpu] TYPE
//! ```

use crate::capture_facts::Clock;
use crate::format::Head;
use crate::line::NO_ID;
use crate::scan;

/// Types of records. They are padded to four letters; two blanks follow.
const TYPES: [&[u8]; 29] = [
    b"CALL", b"RET", b"NAMI", b"GIO", b"PSIG", b"CSW", b"STRU", b"USER", b"SCTL", b"CAP", b"PFLT",
    b"PRET", b"ARGS", b"ENVS", b"ENV", b"ARG", b"EXEC", b"EXFD", b"EMUL", b"MISC", b"MIB", b"MOOL",
    b"SAUP", b"PLDG", b"PINS", b"PCTOR", b"PDTOR", b"EERR", b"STRA",
];
/// No head is longer: ids, a name, three times, a number.
const MAX_HEAD_BYTES: usize = 140;
/// Words of a head that are read.
const MAX_WORDS: usize = 16;
/// Times from this on are dates, not durations.
const FIRST_EPOCH_NS: i64 = 100_000_000_000_000_000;

/// A record, split into its columns.
pub(super) struct KdumpRecord<'a> {
    /// Process id.
    pub pid: i32,
    /// Thread id, [`NO_ID`] if not printed.
    pub tid: i32,
    /// Name of the program.
    pub comm: &'a [u8],
    /// Times and their digits; `columns` is how many.
    times: [(i64, usize); 3],
    columns: usize,
    /// Type of the record.
    pub kind: &'a [u8],
    /// The text after the type.
    pub text: &'a [u8],
}

impl KdumpRecord<'_> {
    /// The times printed.
    pub fn stamps(&self) -> &[(i64, usize)] {
        self.times.get(..self.columns).unwrap_or(&self.times)
    }
}

/// Split a line that is a record. A number after the process id is the thread's only if `has_tids`.
pub(super) fn record(line: &[u8], has_tids: bool) -> Option<KdumpRecord<'_>> {
    let (pid, slashed, rest) = ids(scan::skip_blanks(line))?;
    let (between, kind, text) = cut_at_type(rest)?;
    let mut words = between;
    let mut tid = slashed;
    if has_tids
        && let Some((number, after)) = scan::number(words)
        && after.starts_with(b" ")
    {
        tid = i32::try_from(number).ok()?;
        words = scan::skip_blanks(after);
    }
    let (mut times, mut columns) = ([(0, 0); 3], 0);
    let (front, last) = last_word(words);
    if !front.is_empty() && last.iter().all(u8::is_ascii_digit) {
        // The number of a processor.
        words = front;
    }
    while let (front, last) = last_word(words)
        && !front.is_empty()
        && columns < 3
        && let Some(time) = time(last)
    {
        times[columns] = time;
        columns += 1;
        words = front;
    }
    times[..columns].reverse();
    Some(KdumpRecord {
        pid,
        tid,
        comm: words,
        times,
        columns,
        kind,
        text,
    })
}

/// Whether a text begins like a record, wherever it was cut.
pub(super) fn begins(text: &[u8]) -> bool {
    ids(text).is_some_and(|(_, _, rest)| !rest.is_empty())
        || (!text.is_empty() && text.iter().all(u8::is_ascii_digit))
}

/// `2769 `, or `2769/100123 ` of OpenBSD.
fn ids(text: &[u8]) -> Option<(i32, i32, &[u8])> {
    let (pid, rest) = id(text)?;
    let (tid, rest) = match rest.strip_prefix(b"/") {
        Some(rest) => id(rest)?,
        None => (NO_ID, rest),
    };
    rest.first()
        .is_some_and(|byte| matches!(byte, b' ' | b'\t'))
        .then(|| (pid, tid, scan::skip_blanks(rest)))
}

fn id(text: &[u8]) -> Option<(i32, &[u8])> {
    let (value, rest) = scan::number(text)?;
    Some((i32::try_from(value).ok()?, rest))
}

/// The text between the process id and the type, the type, and the text after it. There is a name before each type.
fn cut_at_type(rest: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut at = word_end(rest, 0);
    for _ in 0..MAX_WORDS {
        let start = at + blanks(rest.get(at..)?);
        if start >= rest.len() || start > MAX_HEAD_BYTES {
            return None;
        }
        at = word_end(rest, start);
        let word = rest.get(start..at)?;
        if word.first().is_some_and(u8::is_ascii_uppercase) && TYPES.contains(&word) {
            let between = scan::trim_end(rest.get(..start)?);
            // No program has this name: another tracer's line quotes a record.
            if between.contains(&b'"') {
                return None;
            }
            return Some((between, word, scan::skip_blanks(rest.get(at..)?)));
        }
    }
    None
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn blanks(text: &[u8]) -> usize {
    text.iter()
        .position(|byte| !is_blank(byte))
        .unwrap_or(text.len())
}

fn word_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or(b"");
    start
        + rest
            .iter()
            .take(MAX_HEAD_BYTES)
            .position(is_blank)
            .unwrap_or(rest.len())
}

/// The last word, and the text before it without blanks at its end.
fn last_word(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().rposition(is_blank) {
        Some(at) => text
            .split_at_checked(at + 1)
            .map_or((b"", text), |(front, last)| (scan::trim_end(front), last)),
        None => (b"", text),
    }
}

/// `1300000000.000100`, `-0.000001`: records of several processors may be out of order.
fn time(word: &[u8]) -> Option<(i64, usize)> {
    let (digits, sign) = word
        .strip_prefix(b"-")
        .map_or((word, 1), |digits| (digits, -1));
    let (time_ns, digits, rest) = scan::seconds(digits)?;
    (rest.is_empty() && matches!(digits, 6 | 9)).then_some((time_ns * sign, digits))
}

/// The layout of a capture.
pub(super) struct KdumpLayout {
    /// Whether a thread id follows the process id.
    pub has_tids: bool,
    /// The clock of the first time column.
    pub clock: Clock,
    /// Its digits after the point.
    pub digits: usize,
}

impl KdumpLayout {
    /// Decide.
    pub fn of(head: Head<'_>) -> KdumpLayout {
        let (mut records, mut threads, mut digits, mut columns) = (0usize, 0usize, 0, [0usize; 4]);
        let mut stamps_ns = Vec::new();
        for record in head
            .lines()
            .filter(|line| !super::is_data(line))
            .filter_map(|line| record(line, false))
        {
            records += 1;
            let second = scan::number(record.comm).is_some_and(|(_, rest)| rest.starts_with(b" "));
            threads += usize::from(record.tid != NO_ID || second);
            columns[record.columns] += 1;
            if let Some(&(time_ns, places)) = record.stamps().first() {
                stamps_ns.push(time_ns);
                digits = digits.max(places);
            }
        }
        let several = columns[2] + columns[3] > columns[1];
        KdumpLayout {
            has_tids: threads * 2 > records,
            clock: clock(&stamps_ns, several),
            digits,
        }
    }
}

/// Times are in the order absolute, since the first record, since the previous record. A single column without dates is
/// the time since the first record if it hardly ever falls.
fn clock(stamps_ns: &[i64], several: bool) -> Clock {
    let dates = stamps_ns
        .iter()
        .filter(|&&time_ns| time_ns >= FIRST_EPOCH_NS)
        .count();
    let steps = || {
        stamps_ns
            .windows(2)
            .filter_map(|pair| pair.get(1)?.checked_sub(*pair.first()?))
    };
    let falls = steps().filter(|&step_ns| step_ns < 0).count();
    let rises = steps().filter(|&step_ns| step_ns > 0).count();
    match stamps_ns.len() {
        0 => Clock::None,
        lines if dates * 2 > lines => Clock::Epoch,
        // The relative time of the first record counts from 1970 on OpenBSD and NetBSD.
        _ if dates == 1
            && stamps_ns
                .first()
                .is_some_and(|&first_ns| first_ns >= FIRST_EPOCH_NS) =>
        {
            Clock::SincePrevious
        }
        _ if several || falls * 20 <= rises => Clock::SinceStart,
        _ => Clock::SincePrevious,
    }
}
