//! Envelopes: what loggers, collectors, web pages and mails put around the lines of a capture.
//!
//! ```text
//! In:   Jan  2 03:04:05 host strace[12]: 4711 read(3, "x", 1) = 1
//! Out:  4711 read(3, "x", 1) = 1, sent by `strace`, logged on 2 January at 3:04:05
//! ```
//! The envelopes are decided once, from the head. The reader of the format then gets each line without them. Lines
//! without a clock of their own use that of the log. Envelopes may be nested: `docker compose logs -t`.

mod choose;
mod colours;
mod compose;
mod cri;
mod folded;
mod html;
mod indent;
mod json;
mod kubectl;
mod logfmt;
mod numbers;
mod padding;
mod prefix;
mod quotes;
mod steps;
mod syslog;
mod timestamps;

pub use choose::choose_reader;

use crate::capture_facts::{CaptureFacts, Clock, DurKind, EnvelopeFacts, StampMoment};
use crate::format::{self, Head, LineReader, Parsed};
use crate::kernel_log::stamp::{LogStamp, StampBase};
use crate::line::{Line, LineKind, NO_NS};
use crate::line_cache::LineParts;
use crate::scan;
use std::borrow::Cow;
use std::sync::Arc;

/// Returns the envelope if it may be around the lines of a capture with this head.
type Detect = fn(&[u8]) -> Option<Arc<dyn Envelope>>;

/// The envelopes. The order decides among those that explain the same number of lines. To add one, add its file and one
/// line here.
const ENVELOPES: &[Detect] = &[
    quotes::detect,
    indent::detect,
    padding::detect,
    html::detect,
    colours::detect,
    json::detect,
    logfmt::detect,
    cri::detect,
    timestamps::detect,
    syslog::detect,
    compose::detect,
    kubectl::detect,
    steps::detect,
    numbers::detect,
    prefix::detect,
];

/// One kind of envelope.
trait Envelope: Send + Sync {
    /// Its name in reports.
    fn name(&self) -> &'static str;
    /// The inner line; `None` if the line does not have this envelope.
    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>>;
    /// Whether people put it there by hand, so that the text inside may be short.
    fn is_manual(&self) -> bool {
        false
    }
    /// Whether it is there for certain, so that it is preferred even if the lines can be read as well without it.
    fn is_certain(&self) -> bool {
        false
    }
    /// Whether it splits long lines.
    fn cuts(&self) -> bool {
        false
    }
}

/// A line without its envelope.
struct Inner<'a> {
    /// The program, container or file that sent the line; empty if unknown.
    sender: &'a [u8],
    /// When it was logged.
    stamp: Option<LogStamp>,
    /// The line itself.
    text: Cow<'a, [u8]>,
}

impl<'a> Inner<'a> {
    fn of(text: &'a [u8]) -> Inner<'a> {
        Inner {
            sender: b"",
            stamp: None,
            text: Cow::Borrowed(text),
        }
    }
}

/// One envelope, and the sender whose lines are read.
#[derive(Clone)]
struct Layer {
    envelope: Arc<dyn Envelope>,
    sender: Vec<u8>,
}

impl Layer {
    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        self.envelope
            .open(line)
            .filter(|inner| inner.sender == self.sender)
    }
}

/// A line without any of its envelopes.
struct Unwrapped<'a> {
    text: Cow<'a, [u8]>,
    /// The innermost stamp.
    stamp: Option<LogStamp>,
}

/// `None` if a layer is missing, or the line has another sender.
fn unwrap<'a>(layers: &[Layer], line: &'a [u8]) -> Option<Unwrapped<'a>> {
    let mut all = Unwrapped {
        text: Cow::Borrowed(line),
        stamp: None,
    };
    for layer in layers {
        let (text, stamp) = match all.text {
            Cow::Borrowed(text) => layer.open(text).map(|inner| (inner.text, inner.stamp))?,
            Cow::Owned(text) => layer
                .open(&text)
                .map(|inner| (Cow::Owned(inner.text.into_owned()), inner.stamp))?,
        };
        all = Unwrapped {
            text,
            stamp: stamp.or(all.stamp),
        };
    }
    Some(all)
}

/// Reads the lines inside the envelopes.
struct EnvelopeReader {
    layers: Vec<Layer>,
    inner: Box<dyn LineReader>,
    facts: CaptureFacts,
    /// What the stamps of the log count from, if they are the clock.
    base: Option<StampBase>,
    is_folded: bool,
}

impl EnvelopeReader {
    fn new(
        layers: Vec<Layer>,
        inner: Box<dyn LineReader>,
        head: Head<'_>,
        is_folded: bool,
    ) -> EnvelopeReader {
        let facts = inner.facts();
        let has_clock = facts.clock != Clock::None || facts.stamp != StampMoment::None;
        let clock = clock(&layers, head).filter(|_| !has_clock);
        let base = clock.map(|(base, _)| base);
        let facts = clock.map_or(facts, |(base, digits)| logged(facts, base, digits));
        EnvelopeReader {
            layers,
            inner,
            facts,
            base,
            is_folded,
        }
    }

    /// The time at which a line was logged, if the log is the clock; [`NO_NS`] for a stamp of another clock.
    fn stamp_ns(&self, stamp: Option<LogStamp>) -> Option<i64> {
        let base = self.base?;
        Some(
            stamp
                .filter(|stamp| stamp.base == base)
                .map_or(NO_NS, |stamp| stamp.ns),
        )
    }

    fn plain(&self, text: &[u8], parsed: &mut Parsed) -> Line {
        let line = self.inner.read(text, parsed);
        let line = parsed.recognised(line, text);
        let is_unread = matches!(line.kind, LineKind::Foreign | LineKind::Damaged);
        let rest = if is_unread && self.layers.iter().any(|layer| layer.envelope.cuts()) {
            end_of_call(text)
        } else {
            None
        };
        let rest = rest.map(|rest| self.inner.read(rest, parsed));
        rest.filter(|rest| rest.kind == LineKind::Continuation)
            .unwrap_or(line)
    }
}

impl LineReader for EnvelopeReader {
    fn facts(&self) -> CaptureFacts {
        self.facts
    }

    fn envelope_facts(&self) -> EnvelopeFacts {
        let sender = self
            .layers
            .iter()
            .rev()
            .map(|layer| &layer.sender)
            .find(|sender| !sender.is_empty());
        EnvelopeFacts {
            names: self
                .layers
                .iter()
                .map(|layer| layer.envelope.name())
                .collect(),
            sender: sender.map(|sender| String::from_utf8_lossy(sender).into_owned()),
            has_clock: self.base.is_some(),
            is_folded: self.is_folded,
        }
    }

    fn unwrapped<'a>(&self, line: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        unwrap(&self.layers, line).map(|unwrapped| unwrapped.text)
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        let Some(unwrapped) = unwrap(&self.layers, line) else {
            return format::blank(line).unwrap_or_else(|| Line::of(LineKind::Foreign));
        };
        let read = self.plain(&unwrapped.text, parsed);
        match self.stamp_ns(unwrapped.stamp) {
            Some(stamp_ns) if has_stamp(read.kind) => Line { stamp_ns, ..read },
            _ => read,
        }
    }

    fn parts<'a>(&self, line: &'a [u8]) -> Option<LineParts<'a>> {
        let Unwrapped {
            text: Cow::Borrowed(text),
            stamp,
        } = unwrap(&self.layers, line)?
        else {
            return None;
        };
        let parts = self.inner.parts(text)?;
        Some(LineParts {
            stamp_ns: self.stamp_ns(stamp).unwrap_or(parts.stamp_ns),
            ..parts
        })
    }
}

/// Whether lines of this kind have stamps.
fn has_stamp(kind: LineKind) -> bool {
    !matches!(
        kind,
        LineKind::Foreign
            | LineKind::Blank
            | LineKind::Elision
            | LineKind::Notice
            | LineKind::SummaryTable
    )
}

/// What most stamps count from, and their number of digits.
fn clock(layers: &[Layer], head: Head<'_>) -> Option<(StampBase, usize)> {
    let mut seen: Vec<(StampBase, usize, usize)> = Vec::new();
    for stamp in head.lines().filter_map(|line| unwrap(layers, line)?.stamp) {
        match seen.iter_mut().find(|(base, ..)| *base == stamp.base) {
            Some((_, digits, lines)) => {
                (*digits, *lines) = ((*digits).max(stamp.digits), *lines + 1)
            }
            None => seen.push((stamp.base, stamp.digits, 1)),
        }
    }
    seen.into_iter()
        .max_by_key(|&(.., lines)| lines)
        .map(|(base, digits, _)| (base, digits))
}

/// A log has no better resolution than this, whatever it prints.
const FINEST_TICK_NS: i64 = 1_000;

/// The facts if stamps are those of the log. A line is logged when it is complete: at the end of its call.
fn logged(facts: CaptureFacts, base: StampBase, digits: usize) -> CaptureFacts {
    let dur_kind = if facts.has_durations {
        facts.dur_kind
    } else {
        DurKind::UpperBound
    };
    let tick_ns = scan::tick_ns(digits).max(FINEST_TICK_NS);
    CaptureFacts {
        stamp: StampMoment::End,
        clock: base.clock(),
        tick_ns,
        dur_kind,
        ..facts
    }
}

/// The end of a call in the rest of a line that was cut anywhere, even inside a string.
fn end_of_call(text: &[u8]) -> Option<&[u8]> {
    let is_end = |&at: &usize| {
        text.get(at + 1..)
            .is_some_and(|rest| scan::skip_blanks(rest).starts_with(b"= "))
    };
    memchr::memrchr_iter(b')', text)
        .find(is_end)
        .and_then(|at| text.get(at..))
}

/// The envelope, if it opens at least half of the first lines.
fn detect_by_lines(head: &[u8], envelope: impl Envelope + 'static) -> Option<Arc<dyn Envelope>> {
    const MAX_LINES: usize = 200;
    let (mut all, mut opened) = (0, 0);
    for line in filled_lines(head).take(MAX_LINES) {
        all += 1;
        opened += usize::from(envelope.open(without_cr(line)).is_some());
    }
    (opened > 0 && opened * 2 >= all).then(|| Arc::new(envelope) as Arc<dyn Envelope>)
}

/// The lines of a text that are not blank.
fn filled_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
}

/// The line without the byte order mark that the first one may have.
fn plain_start(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The text without the one blank between a prefix and its line.
fn after_blank(text: &[u8]) -> &[u8] {
    text.strip_prefix(b" ").unwrap_or(text)
}
