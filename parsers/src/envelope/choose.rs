//! Chooses the format and the envelopes of a capture.
//!
//! ```text
//! head ─┬─ as it is ─────────────────────────> format, reader ─┐
//!       └─ each envelope that may be around it                 ├─> the reader of the most lines
//!             └─ each sender ─┬─────────────> format, reader ──┤
//!                             └─ each envelope inside …        ┘
//! ```
//! A log counts as a log unless the text inside has enough calls: a single message does not make it a trace.

use super::{
    ENVELOPES, EnvelopeReader, Layer, filled_lines, folded, html, indent, numbers, padding,
    timestamps, unwrap,
};
use crate::capture_facts::Clock;
use crate::format::{Format, Head, LineReader, Parsed};
use crate::format_list::{possible, recognise};
use crate::line::{Line, LineKind, Outcome};
use crate::syscalls;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Maximum depth of nested envelopes.
const MAX_LAYERS: usize = 3;
/// In a log with many senders, only the busiest ones are tried.
const MAX_SENDERS: usize = 6;
/// Limits for one head: readings that are tried, and their bytes.
const MAX_ATTEMPTS: usize = 48;
const MAX_BYTES: usize = 1 << 26;
/// If nearly all of these first lines can be read as they are, no envelope is searched for.
const FIRST_LINES: usize = 16;
/// A trace has at least this number of calls, and one call in this number of lines. A log that mentions calls has
/// fewer.
const MIN_CALLS: usize = 3;
const MIN_SHARE: usize = 10;
/// Texts around a few lines of a tracer are not longer.
const MAX_PROSE_LINES: usize = 200;

/// The name of the format of a capture with this head, or of the format that the user names, and a reader of its lines.
pub fn choose_reader(
    head: Head<'_>,
    format: Option<&'static dyn Format>,
) -> Option<(&'static str, Box<dyn LineReader>)> {
    let as_is = Candidate::of(head, format, Vec::new());
    let certain = [
        numbers::are_numbered,
        html::is_escaped,
        padding::is_padded,
        indent::are_indented,
    ];
    let is_plain = || !certain.iter().any(|is_padded| is_padded(head.bytes));
    let as_is = as_is.filter(|choice| !choice.mistakes_elapsed_for_relative(head));
    if as_is
        .as_ref()
        .is_some_and(|choice| choice.reads_first_lines(head))
        && is_plain()
    {
        return as_is.map(|choice| choice.named());
    }
    let best = as_is.map(|choice| choice.counted(head));
    let mut search = CandidateSearch {
        format,
        lines: filled_lines(head.bytes).count(),
        best,
        attempts: 0,
        bytes: 0,
    };
    search.search(head, &[]);
    let best = search.best.or_else(|| among_prose(head, format))?;
    Some(if best.layers.is_empty() && !best.is_folded {
        best.named()
    } else {
        best.in_envelopes(head)
    })
}

/// A short text in which only a few lines are of a tracer, such as a question about one call.
fn among_prose(head: Head<'_>, format: Option<&'static dyn Format>) -> Option<Candidate> {
    let is_short = head.complete && filled_lines(head.bytes).count() <= MAX_PROSE_LINES;
    if !is_short || format.is_some() {
        return None;
    }
    let read = |format: &'static dyn Format| Candidate::of(head, Some(format), Vec::new());
    let has_call = |choice: &Candidate| choice.calls > 0 && !choice.is_log();
    possible(head)
        .filter_map(read)
        .map(|choice| choice.counted(head))
        .find(has_call)
}

/// One way to read a capture.
struct Candidate {
    format: &'static dyn Format,
    reader: Box<dyn LineReader>,
    layers: Vec<Layer>,
    /// Lines of the head that it can read.
    used: usize,
    /// Lines of the head that only a tracer prints.
    calls: usize,
    is_folded: bool,
}

impl Candidate {
    fn of(
        head: Head<'_>,
        format: Option<&'static dyn Format>,
        layers: Vec<Layer>,
    ) -> Option<Candidate> {
        let format = format.or_else(|| recognise(head))?;
        Some(Candidate {
            format,
            reader: format.reader(head),
            layers,
            used: 0,
            calls: 0,
            is_folded: false,
        })
    }

    fn is_log(&self) -> bool {
        self.format.name() == "kernel-log"
    }

    /// Whether this is a tracer's format and nearly all first lines can be read. The very first may be torn.
    fn reads_first_lines(&self, head: Head<'_>) -> bool {
        let first = head
            .bytes
            .split_inclusive(|&byte| byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty());
        let first: Vec<&[u8]> = first.take(FIRST_LINES).collect();
        let lines = lines_of(self.reader.as_ref(), &first.concat());
        let lines = if used(&lines[..lines.len().min(1)]) == 0 {
            lines.get(1..).unwrap_or(&[])
        } else {
            &lines
        };
        !self.is_log() && !lines.is_empty() && used(lines) * 10 >= lines.len() * 9
    }

    fn counted(mut self, head: Head<'_>) -> Candidate {
        let lines = lines_of(self.reader.as_ref(), head.bytes);
        let texts = head.bytes.split(|&byte| byte == b'\n');
        self.used = used(&lines);
        self.calls = lines
            .iter()
            .zip(texts)
            .filter(|(line, text)| is_call(line, text))
            .count();
        self.is_folded = self.format.name() == "strace" && folded::is_folded(&lines, head.bytes);
        self
    }

    /// Whether the reader takes seconds since the start for seconds since the previous line.
    fn mistakes_elapsed_for_relative(&self, head: Head<'_>) -> bool {
        self.reader.facts().clock == Clock::SincePrevious
            && !self.is_log()
            && timestamps::are_elapsed(head.bytes)
    }

    fn named(self) -> (&'static str, Box<dyn LineReader>) {
        (self.format.name(), self.reader)
    }

    fn in_envelopes(self, head: Head<'_>) -> (&'static str, Box<dyn LineReader>) {
        (
            self.format.name(),
            Box::new(EnvelopeReader::new(
                self.layers,
                self.reader,
                head,
                self.is_folded,
            )),
        )
    }

    fn is_manual(&self) -> bool {
        self.layers.iter().all(|layer| layer.envelope.is_manual())
    }

    /// More lines are better; among equals, fewer layers, unless one is there for certain.
    fn rank(&self) -> (usize, Reverse<usize>) {
        let is_certain = self.layers.iter().any(|layer| layer.envelope.is_certain());
        (
            self.used + usize::from(is_certain),
            Reverse(self.layers.len()),
        )
    }
}

struct CandidateSearch {
    format: Option<&'static dyn Format>,
    /// Lines of the head that are not blank.
    lines: usize,
    best: Option<Candidate>,
    attempts: usize,
    bytes: usize,
}

impl CandidateSearch {
    /// Whether this choice is better than the best so far.
    fn is_better(&self, choice: &Candidate, is_complete: bool) -> bool {
        let is_trace = self.is_trace(choice, is_complete);
        match &self.best {
            None => choice.used > 0 && (choice.is_manual() || is_trace || choice.is_log()),
            Some(best) if best.is_log() && is_trace => true,
            Some(best) => (is_trace || choice.is_manual()) && choice.rank() > best.rank(),
        }
    }

    /// Whether the text inside has enough calls. If all lines are calls, a short capture is enough, or a single line if
    /// the user names the format.
    fn is_trace(&self, choice: &Candidate, is_complete: bool) -> bool {
        let is_all = is_complete
            && choice.calls == self.lines
            && choice.calls > usize::from(self.format.is_none());
        let are_enough = choice.calls >= MIN_CALLS && choice.calls * MIN_SHARE >= self.lines;
        !choice.is_log() && (are_enough || is_all)
    }

    /// Remove each envelope that may be around a text, and try the text inside.
    fn search(&mut self, head: Head<'_>, outer: &[Layer]) {
        for envelope in ENVELOPES.iter().filter_map(|detect| detect(head.bytes)) {
            for sender in senders(head, envelope.as_ref()) {
                let layer = Layer {
                    envelope: envelope.clone(),
                    sender,
                };
                let inside = inside(head, &layer);
                (self.attempts, self.bytes) = (self.attempts + 1, self.bytes + inside.len());
                if self.attempts > MAX_ATTEMPTS || self.bytes > MAX_BYTES {
                    return;
                }
                let layers = [outer, &[layer]].concat();
                let inner = Head {
                    bytes: &inside,
                    ..head
                };
                let choice = Candidate::of(inner, self.format, layers.clone())
                    .map(|choice| choice.counted(inner));
                if let Some(choice) = choice.filter(|choice| self.is_better(choice, head.complete))
                {
                    self.best = Some(choice);
                }
                if layers.len() < MAX_LAYERS {
                    self.search(inner, &layers);
                }
            }
        }
    }
}

/// The busiest senders, in order; among equals, the first in the text.
fn senders(head: Head<'_>, envelope: &dyn super::Envelope) -> Vec<Vec<u8>> {
    let mut numbers: FxHashMap<&[u8], usize> = FxHashMap::default();
    let mut senders: Vec<(&[u8], usize)> = Vec::new();
    for sender in head
        .lines()
        .filter_map(|line| envelope.open(line).map(|inner| inner.sender))
    {
        let number = *numbers.entry(sender).or_insert_with(|| {
            senders.push((sender, 0));
            senders.len() - 1
        });
        senders[number].1 += 1;
    }
    senders.sort_by_key(|&(_, lines)| Reverse(lines));
    senders
        .into_iter()
        .take(MAX_SENDERS)
        .map(|(sender, _)| sender.to_vec())
        .collect()
}

/// The head of a capture without a layer.
fn inside(head: Head<'_>, layer: &Layer) -> Vec<u8> {
    let mut inside = Vec::with_capacity(head.bytes.len());
    for line in head.bytes.split(|&byte| byte == b'\n') {
        if let Some(unwrapped) = unwrap(std::slice::from_ref(layer), line) {
            if !inside.is_empty() {
                inside.push(b'\n');
            }
            inside.extend_from_slice(&unwrapped.text);
        }
    }
    inside
}

fn lines_of(reader: &dyn LineReader, text: &[u8]) -> Vec<Line> {
    let mut parsed = Parsed::default();
    parsed.read(reader, text);
    parsed.lines
}

/// The number of usable lines.
fn used(lines: &[Line]) -> usize {
    let is_used = |line: &&Line| {
        !matches!(
            line.kind,
            LineKind::Foreign | LineKind::Blank | LineKind::Elision | LineKind::Continuation
        ) && line.kind.remedy().is_none()
    };
    lines.iter().filter(is_used).count()
}

/// Whether a line is a known call with its result, a half of one, or another line that only tracers print.
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
