//! Where the stamps of a file are and the order of their dates, decided by the whole head.
//!
//! ```text
//! 17/06/09 20:10:40 text                       the days count up where the day is the last number
//! app.log:2021-03-05 19:43:34 text             the stamp is inside the first word of each line (grep -H)
//! 366633 node-200 unix.hw 1085100843 1 text    the stamp is the fourth word of each line
//! 0.004512 text                                seconds since the start, which never fall
//! 2m15s  Normal  Pulling  pod/web  text        the age of each line, under a head that says so
//! └─web.service @5.811s +17.176s               the moment of each unit in the tree of systemd
//! I/boot_progress_start( 1200): 9510           the moment of each event of Android's boot, in ms
//!    27    5155 [main] ls 1234 open: text       microseconds since the previous line and since the start, of Cygwin's strace
//! ```

use super::ages;
use super::date::DateOrder;
use super::prefix;
use super::stamp::{self, LogPrefix, MessageForm, StampBase};
use super::stamp_place::{StampGrammar, StampPlace};
use super::{android, cygwin};
use super::{unit_chain, unit_plot};
use crate::elision::is_elision;
use crate::format::{Head, blank};
use crate::scan;

/// Lines looked at.
const MAX_LINES: usize = 500;
/// Minimum share of the lines with a stamp in one place, in percent, if it is not their start.
const MIN_PLACE_PERCENT: usize = 60;
/// A stamp within a line is searched for this far into it.
const MAX_PREFIX_BYTES: usize = 200;
/// The last word that may be a stamp, counted from 0.
const MAX_WORD: u8 = 8;
/// Lines that begin with seconds since a start, of which a few could be numbers by accident.
const MIN_SECONDS_LINES: usize = 4;

impl StampGrammar {
    /// Decide.
    pub fn of(head: Head<'_>) -> StampGrammar {
        let place = place(head);
        let order = order(head, place);
        StampGrammar { order, place }
    }
}

fn lines<'a>(head: Head<'a>) -> impl Iterator<Item = &'a [u8]> {
    head.lines()
        .filter(|line| blank(line).is_none() && !is_elision(line))
        .take(MAX_LINES)
}

fn place(head: Head<'_>) -> StampPlace {
    if let Some(word) = ages::column(lines(head)) {
        return StampPlace::Age(word);
    }
    if unit_chain::is_chain(lines(head)) {
        return StampPlace::Chain;
    }
    if unit_plot::is_plot(lines(head)) {
        return StampPlace::Plot;
    }
    if android::are_events(lines(head)) {
        return StampPlace::BootEvents;
    }
    if cygwin::is_strace(lines(head)) {
        return StampPlace::Cygwin;
    }
    let plain = StampGrammar::default();
    let all = lines(head).count();
    let without: Vec<&[u8]> = lines(head)
        .filter(|line| {
            DateOrder::ALL
                .iter()
                .all(|&order| prefix::read(line, StampGrammar { order, ..plain }).is_none())
        })
        .collect();
    let is_most = |count: usize| count > 0 && count * 100 >= all * MIN_PLACE_PERCENT;
    if !is_most(without.len()) {
        return StampPlace::Start;
    }
    let has = |place: StampPlace| {
        let found = without.iter().filter(|line| {
            DateOrder::ALL
                .iter()
                .any(|&order| place.find(line, order).is_some())
        });
        found.count()
    };
    let words = (0..=MAX_WORD).map(StampPlace::Word);
    // Of several stamps in a line, the first one counts.
    let best = words.rev().max_by_key(|&place| has(place));
    if let Some(best) = best.filter(|&place| is_most(has(place))) {
        return best;
    }
    if counts_up(&without) && is_most(without.len()) {
        return StampPlace::Seconds;
    }
    StampPlace::Start
}

/// Whether nearly all lines begin with seconds that never fall.
fn counts_up(lines: &[&[u8]]) -> bool {
    let seconds: Vec<i64> = lines
        .iter()
        .filter_map(|line| {
            StampPlace::Seconds
                .find(line, DateOrder::default())?
                .at(StampBase::Boot)
        })
        .map(|stamp| stamp.ns)
        .collect();
    seconds.len() >= MIN_SECONDS_LINES
        && seconds.len() * 100 >= lines.len() * MIN_PLACE_PERCENT
        && seconds.is_sorted()
        && seconds.first() != seconds.last()
}

/// The order in which all dates are valid and count up. Of several, the one in which the file is shortest.
fn order(head: Head<'_>, place: StampPlace) -> DateOrder {
    let cost = |&order: &DateOrder| {
        let (mut without, mut falls, mut first_ns, mut last_ns) = (0usize, 0usize, None, 0i64);
        let (mut before_ns, mut most_ns) = (i64::MIN, i64::MIN);
        for line in lines(head) {
            let stamp = prefix::read(line, StampGrammar { order, place })
                .and_then(|prefix| prefix.stamps[0]);
            let Some(stamp) = stamp else {
                without += 1;
                continue;
            };
            falls += usize::from(stamp.ns < before_ns);
            before_ns = stamp.ns;
            let least = *first_ns.get_or_insert(stamp.ns);
            first_ns = Some(least.min(stamp.ns));
            most_ns = most_ns.max(stamp.ns);
            last_ns = most_ns;
        }
        (
            without,
            falls,
            last_ns.saturating_sub(first_ns.unwrap_or(0)),
        )
    };
    DateOrder::ALL
        .into_iter()
        .min_by_key(cost)
        .unwrap_or_default()
}

impl StampPlace {
    /// The stamp of a line in this place, and the text after it.
    pub fn find(self, line: &[u8], order: DateOrder) -> Option<LogPrefix<'_>> {
        match self {
            StampPlace::Start => None,
            StampPlace::Word(number) => in_word(line, number, order),
            StampPlace::Seconds => seconds(line),
            StampPlace::Age(word) => ages::read(line, word),
            StampPlace::Chain => unit_chain::read(line),
            StampPlace::Plot => unit_plot::read(line),
            StampPlace::BootEvents => android::read_event(line),
            StampPlace::Cygwin => cygwin::read(line),
        }
    }
}

/// `0.004512 text`, `12.3s: text`, `+12.3 text`.
fn seconds(line: &[u8]) -> Option<LogPrefix<'_>> {
    let line = scan::skip_blanks(line);
    let line = line.strip_prefix(b"+").unwrap_or(line);
    let (ns, digits, rest) = scan::seconds(line).filter(|found| found.1 > 0)?;
    let rest = rest.strip_prefix(b"s").unwrap_or(rest);
    let text = rest
        .strip_prefix(b": ")
        .or_else(|| rest.strip_prefix(b" "))
        .or_else(|| rest.strip_prefix(b"\t"))?;
    let form = MessageForm::Plain;
    Some(stamp::one(
        StampBase::Boot,
        (ns, digits),
        form,
        false,
        scan::skip_blanks(text),
    ))
}

/// A date in a word of a line: at its start, or after a mark.
fn in_word(line: &[u8], number: u8, order: DateOrder) -> Option<LogPrefix<'_>> {
    let start = word_start(line.get(..MAX_PREFIX_BYTES).unwrap_or(line), number)?;
    let word = line.get(start..)?;
    let length = word
        .iter()
        .position(|byte| matches!(byte, b' ' | b'\t'))
        .unwrap_or(word.len());
    let is_mark = |byte: &u8| b":[(=|,;\"'<>-".contains(byte);
    let marks = word[..length.min(MAX_PREFIX_BYTES)]
        .iter()
        .enumerate()
        .filter(|(_, byte)| is_mark(byte))
        .map(|(at, _)| at + 1);
    // The first word begins where lines without any prefix do, so it has been tried.
    let begins = (number > 0).then_some(0).into_iter().chain(marks);
    let mut found = begins.filter_map(|at| date_at(word.get(at..)?, order));
    found.next()
}

/// A date, and the text after it and after the mark that closes it.
fn date_at(text: &[u8], order: DateOrder) -> Option<LogPrefix<'_>> {
    // A number since 1970 within a line has all its digits, and ends with a word.
    let mut prefix = stamp::dated(text, order)?;
    let rest = prefix.text;
    let is_over = rest
        .first()
        .is_none_or(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'.' | b'/'));
    let closed = rest
        .iter()
        .position(|byte| !b"]),;|\"'>: \t".contains(byte))
        .and_then(|at| rest.get(at..));
    prefix.text = closed.unwrap_or(b"");
    prefix.is_sure = false;
    is_over.then_some(prefix)
}

fn word_start(line: &[u8], number: u8) -> Option<usize> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let (mut at, mut left) = (0, number);
    loop {
        at += line
            .get(at..)?
            .iter()
            .take_while(|byte| is_blank(byte))
            .count();
        if left == 0 {
            return (at < line.len()).then_some(at);
        }
        at += line
            .get(at..)?
            .iter()
            .take_while(|byte| !is_blank(byte))
            .count();
        left -= 1;
    }
}
