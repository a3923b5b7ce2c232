//! Which format a capture is, and what is around its lines.
//!
//! ```text
//! head ─┬─ as it is ─────────────────────────> format, reader ─┐
//!       └─ each wrapper that may be around it                  ├─> the reader of the most lines
//!             └─ each sender ─┬─────────────> format, reader ──┤
//!                             └─ each wrapper inside …         ┘
//! ```
//! A log is a log, unless what is inside are calls, and not just now and then one: no message makes a trace of it.

use super::{ENVELOPES, EnvelopeReader, Layer, filled_lines, folded, html, numbers, opened, padding, timestamps};
use crate::facts::Clock;
use crate::format::{Format, Head, LineReader, Parsed};
use crate::format_list::recognise;
use crate::line::{Line, LineKind, Outcome};
use crate::syscalls;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Wrappers around each other.
const MAX_LAYERS: usize = 3;
/// Of a log with many senders those with the most lines are looked at.
const MAX_SENDERS: usize = 6;
/// Whatever is around a capture, no more readings of its head are tried, nor more bytes read in them.
const MAX_TRIED: usize = 48;
const MAX_BYTES: usize = 1 << 26;
/// A capture whose first lines can nearly all be read as they are is not looked into.
const FIRST_LINES: usize = 16;
/// So many calls, and one line in so many, tell a trace from a log that speaks of calls.
const MIN_CALLS: usize = 3;
const MIN_SHARE: usize = 10;

/// The name of the format of a capture that begins so, or that a user names, and a reader of its lines.
pub fn choose_reader(
    head: Head<'_>,
    format: Option<&'static dyn Format>,
) -> Option<(&'static str, Box<dyn LineReader>)> {
    let as_is = Choice::of(head, format, Vec::new());
    let certain = [numbers::are_counted, html::is_escaped, padding::is_there];
    let is_plain = || !certain.iter().any(|is_there| is_there(head.bytes));
    let as_is = as_is.filter(|choice| !choice.adds_up_what_is_a_sum(head));
    if as_is.as_ref().is_some_and(|choice| choice.reads_the_first(head)) && is_plain() {
        return as_is.map(|choice| choice.named());
    }
    let best = as_is.map(|choice| choice.counted(head));
    let mut search = Search { format, lines: filled_lines(head.bytes).count(), best, tried: 0, bytes: 0 };
    search.look_inside(head, &[]);
    let best = search.best?;
    Some(if best.layers.is_empty() && !best.is_folded { best.named() } else { best.wrapped(head) })
}

/// A way to read a capture.
struct Choice {
    format: &'static dyn Format,
    reader: Box<dyn LineReader>,
    layers: Vec<Layer>,
    /// Lines of the head that it understands.
    used: usize,
    /// Those that can hardly be anything but a tracer's.
    calls: usize,
    is_folded: bool,
}

impl Choice {
    fn of(head: Head<'_>, format: Option<&'static dyn Format>, layers: Vec<Layer>) -> Option<Choice> {
        let format = format.or_else(|| recognise(head))?;
        Some(Choice { format, reader: format.reader(head), layers, used: 0, calls: 0, is_folded: false })
    }

    fn is_log(&self) -> bool {
        self.format.name() == "kernel-log"
    }

    /// Whether this is a tracer whose first lines nearly all make sense.
    fn reads_the_first(&self, head: Head<'_>) -> bool {
        let first = head.bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let first: Vec<&[u8]> = first.take(FIRST_LINES).collect();
        let used = used(&lines_of(self.reader.as_ref(), &first.concat()));
        !self.is_log() && used * 10 >= first.len() * 9
    }

    fn counted(mut self, head: Head<'_>) -> Choice {
        let lines = lines_of(self.reader.as_ref(), head.bytes);
        let texts = head.bytes.split(|&byte| byte == b'\n');
        self.used = used(&lines);
        self.calls = lines.iter().zip(texts).filter(|(line, text)| is_call(line, text)).count();
        self.is_folded = self.format.name() == "strace" && folded::is_folded(&lines, head.bytes);
        self
    }

    /// Whether the reader takes seconds since the start for those since the line before.
    fn adds_up_what_is_a_sum(&self, head: Head<'_>) -> bool {
        self.reader.facts().clock == Clock::SincePrevious && !self.is_log() && timestamps::are_elapsed(head.bytes)
    }

    fn named(self) -> (&'static str, Box<dyn LineReader>) {
        (self.format.name(), self.reader)
    }

    fn wrapped(self, head: Head<'_>) -> (&'static str, Box<dyn LineReader>) {
        (self.format.name(), Box::new(EnvelopeReader::new(self.layers, self.reader, head, self.is_folded)))
    }

    fn is_by_hand(&self) -> bool {
        self.layers.iter().all(|layer| layer.wrapper.is_by_hand())
    }

    /// The more lines it understands the better; among equals the fewer layers, unless one is there for certain.
    fn rank(&self) -> (usize, Reverse<usize>) {
        let is_certain = self.layers.iter().any(|layer| layer.wrapper.is_certain());
        (self.used + usize::from(is_certain), Reverse(self.layers.len()))
    }
}

struct Search {
    format: Option<&'static dyn Format>,
    /// Lines of the head that are not blank.
    lines: usize,
    best: Option<Choice>,
    tried: usize,
    bytes: usize,
}

impl Search {
    /// Whether this is a better way than the best so far.
    fn is_better(&self, choice: &Choice, is_complete: bool) -> bool {
        let is_trace = self.is_trace(choice, is_complete);
        match &self.best {
            None => choice.used > 0 && (choice.is_by_hand() || is_trace || choice.is_log()),
            Some(best) if best.is_log() && is_trace => true,
            Some(best) => (is_trace || choice.is_by_hand()) && choice.rank() > best.rank(),
        }
    }

    /// Whether what is inside are calls, and enough of them. All lines of a short one are enough, and a single one if it is
    /// known what it must be.
    fn is_trace(&self, choice: &Choice, is_complete: bool) -> bool {
        let is_all = is_complete && choice.calls == self.lines && choice.calls > usize::from(self.format.is_none());
        let are_enough = choice.calls >= MIN_CALLS && choice.calls * MIN_SHARE >= self.lines;
        !choice.is_log() && (are_enough || is_all)
    }

    /// Take each wrapper off that may be around a text, and look at what is inside.
    fn look_inside(&mut self, head: Head<'_>, outer: &[Layer]) {
        for wrapper in ENVELOPES.iter().filter_map(|detect| detect(head.bytes)) {
            for sender in senders(head, wrapper.as_ref()) {
                let layer = Layer { wrapper: wrapper.clone(), sender };
                let inside = inside(head, &layer);
                (self.tried, self.bytes) = (self.tried + 1, self.bytes + inside.len());
                if self.tried > MAX_TRIED || self.bytes > MAX_BYTES {
                    return;
                }
                let layers = [outer, &[layer]].concat();
                let inner = Head { bytes: &inside, ..head };
                let choice = Choice::of(inner, self.format, layers.clone()).map(|choice| choice.counted(inner));
                if let Some(choice) = choice.filter(|choice| self.is_better(choice, head.complete)) {
                    self.best = Some(choice);
                }
                if layers.len() < MAX_LAYERS {
                    self.look_inside(inner, &layers);
                }
            }
        }
    }
}

/// The senders with the most lines, the busiest first, those that speak first among equals.
fn senders(head: Head<'_>, wrapper: &dyn super::Envelope) -> Vec<Vec<u8>> {
    let mut numbers: FxHashMap<&[u8], usize> = FxHashMap::default();
    let mut senders: Vec<(&[u8], usize)> = Vec::new();
    for sender in head.lines().filter_map(|line| wrapper.open(line).map(|inner| inner.sender)) {
        let number = *numbers.entry(sender).or_insert_with(|| {
            senders.push((sender, 0));
            senders.len() - 1
        });
        senders[number].1 += 1;
    }
    senders.sort_by_key(|&(_, lines)| Reverse(lines));
    senders.into_iter().take(MAX_SENDERS).map(|(sender, _)| sender.to_vec()).collect()
}

/// The beginning of a capture without a layer.
fn inside(head: Head<'_>, layer: &Layer) -> Vec<u8> {
    let mut inside = Vec::with_capacity(head.bytes.len());
    for line in head.bytes.split(|&byte| byte == b'\n') {
        if let Some(opened) = opened(std::slice::from_ref(layer), line) {
            if !inside.is_empty() {
                inside.push(b'\n');
            }
            inside.extend_from_slice(&opened.text);
        }
    }
    inside
}

fn lines_of(reader: &dyn LineReader, text: &[u8]) -> Vec<Line> {
    let mut parsed = Parsed::default();
    parsed.read(reader, text);
    parsed.lines
}

/// How many of these lines are of use.
fn used(lines: &[Line]) -> usize {
    let is_used = |line: &&Line| {
        !matches!(line.kind, LineKind::Foreign | LineKind::Blank | LineKind::Continuation)
            && line.kind.remedy().is_none()
    };
    lines.iter().filter(is_used).count()
}

/// Whether a line is one of a known call with its result, a half of one, or another word that tracers alone have.
fn is_call(line: &Line, text: &[u8]) -> bool {
    let is_known = || syscalls::by_text(line.name).is_some();
    match line.kind {
        LineKind::Call => line.outcome != Outcome::Open && is_known(),
        LineKind::CallEnd => is_known(),
        LineKind::CallStart => text.trim_ascii_end().ends_with(b"<unfinished ...>") && is_known(),
        LineKind::Signal | LineKind::Exit => true,
        _ => false,
    }
}
