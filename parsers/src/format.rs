//! The formats: how each is recognised, what its numbers mean, and how its lines are read.

use crate::bodies::{self, Body, Lines, Told};
use crate::line::{Extra, Kind, Line, NO_ID, NO_NS};
use crate::memo::{Front, Memo, Parts};
use crate::text::Interner;
use crate::wrapped::Wrapping;
use crate::{dtruss, kdump, kernel_log, ltrace, perf_trace, strace, truss_aix, truss_freebsd, truss_solaris};

/// The formats, in the order in which they are asked. Adding one is its file and one line here.
pub const FORMATS: &[&dyn Format] = &[
    &dtruss::Dtruss,
    &perf_trace::PerfTrace,
    &kdump::Kdump,
    &ltrace::Ltrace,
    &truss_aix::TrussAix,
    &truss_freebsd::TrussFreebsd,
    &strace::Strace,
    &truss_solaris::TrussSolaris,
    &kernel_log::KernelLog,
];

/// Is this your format?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Certainly.
    Yes,
    /// This share of the lines, in percent, has the form of a line of this format; no sign decided.
    Maybe(u8),
    /// Certainly not.
    No,
    /// Not enough text to say.
    NeedMore,
}

/// The beginning of a capture, on which it is recognised: at most some 2,000 lines, the last of which may be cut.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// The text.
    pub bytes: &'a [u8],
    /// Whether this is all there is.
    pub complete: bool,
}

impl<'a> Head<'a> {
    /// The lines, without their ends.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.bytes.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// What moment a stamp tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stamp {
    /// The start of a call (on a second half: its end).
    Start,
    /// The end of a call.
    End,
    /// No stamps.
    None,
}

/// Length of a year with a 29 February.
pub const LEAP_YEAR_NS: i64 = 366 * 86_400_000_000_000;

/// What a stamp counts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// Since 1970.
    Epoch,
    /// Since midnight, without a date.
    TimeOfDay,
    /// Since the start of the trace or of the machine.
    SinceStart,
    /// Since the first of January of a year that is not told, which counts as one with a 29 February.
    SinceNewYear,
    /// Since the previous line of the whole run; to be added up. In a log a negative one tells the minute: counted from the end
    /// of a year of [`LEAP_YEAR_NS`].
    SincePrevious,
    /// CPU time of each thread: orders the events of a thread, says nothing about wall time.
    PerThread,
    /// No clock.
    None,
}

/// What a duration is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum DurKind {
    /// Wall time from entry to return.
    Exact,
    /// At most this: user time before or after the call is in it.
    UpperBound,
    /// Silence until the next message.
    Gap,
    /// None printed, none derivable.
    None,
}

impl DurKind {
    /// All kinds, by number.
    pub const ALL: [DurKind; 4] = [DurKind::Exact, DurKind::UpperBound, DurKind::Gap, DurKind::None];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            DurKind::Exact => "exact",
            DurKind::UpperBound => "upper-bound",
            DurKind::Gap => "gap",
            DurKind::None => "none",
        }
    }
}

/// What the lines of one capture carry and mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Which moment the stamp is.
    pub stamp: Stamp,
    /// What it counts from.
    pub clock: Clock,
    /// The smallest step of the stamp.
    pub tick_ns: i64,
    /// What the durations are that the lines carry, or that can be derived.
    pub dur_kind: DurKind,
    /// Whether durations are printed (else the assembler derives them from stamps).
    pub has_durations: bool,
    /// Whether lines carry ids.
    pub has_ids: bool,
    /// Whether a line without an id, in a capture that has ids, belongs to the only task alive (strace on stderr).
    pub ids_optional: bool,
    /// Whether the ids are those of processes, so that calls of several threads can be open under one id.
    pub mixes_threads: bool,
    /// Whether ids that stand alone are those of threads of one process, whose own id is never printed.
    pub one_process: bool,
    /// Moment that the stamps count from, in ns since 1970, if the capture says it.
    pub base_ns: i64,
}

/// One format.
pub trait Format: Sync {
    /// The word that users type and read.
    fn name(&self) -> &'static str;
    /// Whether the text is of this format.
    fn recognise(&self, head: Head<'_>) -> Answer;
    /// A reader for a capture that begins with this text; the layout of its lines is decided here, once.
    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader>;
}

/// Reads the lines of one capture. Pure: the same line gives the same answer wherever it stands.
pub trait LineReader: Send + Sync {
    /// What the lines carry and mean.
    fn facts(&self) -> Facts;
    /// What is around the lines.
    fn wrapping(&self) -> Wrapping {
        Wrapping::default()
    }
    /// Read one line, without its LF. Texts and extras go to `parsed`; its `lines` are left alone.
    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line;
    /// What differs each time in a line that is repeated, and the rest, if the rest alone decides what else the line says.
    fn parts<'a>(&self, _line: &'a [u8]) -> Option<Parts<'a>> {
        None
    }
    /// What stands before the body of the first line of a text, if that can be told without the end of the line, and
    /// nothing but [`LineReader::duration_first`] stands behind the body. What takes longer than looking for the body may be
    /// left to [`LineReader::parts`].
    fn front(&self, _text: &[u8]) -> Option<Front> {
        None
    }
    /// As [`LineReader::read`] for a line with this front.
    fn read_behind(&self, _front: Front, line: &[u8], parsed: &mut Parsed) -> Line {
        self.read(line, parsed)
    }
    /// As [`LineReader::parts`] for a line with this front.
    fn parts_behind<'a>(&self, _front: Front, line: &'a [u8]) -> Option<Parts<'a>> {
        self.parts(line)
    }
    /// The duration with which a text begins, and what follows.
    fn duration_first<'a>(&self, _text: &'a [u8]) -> Option<(i64, &'a [u8])> {
        None
    }
    /// Read the lines of a text as [`Parsed::read_on`] does. Here so that each reader has this loop for itself, and calls its
    /// own functions without asking whose they are.
    #[doc(hidden)]
    fn read_lines(&self, text: &[u8], parsed: &mut Parsed, into: &mut Lines) {
        parsed.read_lines(self, text, into);
    }
}

/// Texts that are kept from chunk to chunk take no more memory than this.
const MOST_TEXT_BYTES: usize = 1 << 22;

/// A chunk of a capture, read.
#[derive(Default)]
pub struct Parsed {
    /// One entry per physical line.
    pub lines: Vec<Line>,
    /// What few lines say beside the common things.
    pub extras: Vec<Extra>,
    /// The texts of this chunk.
    pub texts: Interner,
    /// Room in which readers put texts together; says nothing between lines.
    pub(crate) scratch: Vec<u8>,
    memo: Memo,
}

impl Parsed {
    /// Read a chunk of whole lines; only the last line of a capture may lack its LF.
    pub fn read(&mut self, reader: &dyn LineReader, mut bytes: &[u8]) {
        self.lines.clear();
        self.extras.clear();
        self.texts.clear();
        self.memo.forget();
        while !bytes.is_empty() {
            let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
            let line = reader.read(&bytes[..end], self);
            self.lines.push(line);
            bytes = bytes.get(end + 1..).unwrap_or(b"");
        }
    }

    /// Read a further chunk of the same capture: texts keep the numbers that they have, and lines that are repeated are
    /// known. What the chunk says goes to `into`; the lines say the same as by [`Parsed::read`].
    pub fn read_on(&mut self, reader: &dyn LineReader, bytes: &[u8], into: &mut Lines) {
        if self.texts.size_bytes() > MOST_TEXT_BYTES {
            self.texts.clear();
            self.memo.forget();
        }
        let texts = self.texts.added_len();
        into.clear();
        into.forgot = self.memo.begin();
        std::mem::swap(&mut self.extras, &mut into.extras);
        self.extras.clear();
        reader.read_lines(bytes, self, into);
        std::mem::swap(&mut self.extras, &mut into.extras);
        self.texts.copy_new(texts, &mut into.texts);
    }

    fn read_lines<R: LineReader + ?Sized>(&mut self, reader: &R, mut text: &[u8], into: &mut Lines) {
        while !text.is_empty() {
            let front = reader.front(text);
            if let Some((told, rest)) = front.and_then(|front| self.expected(reader, front, text)) {
                into.list.push(told);
                text = rest;
                continue;
            }
            let begin = front.map_or(0, |front| front.len);
            let end = memchr::memchr(b'\n', &text[begin..]).map_or(text.len(), |lf| begin + lf);
            self.read_once(reader, front, &text[..end], into);
            text = text.get(end + 1..).unwrap_or(b"");
        }
    }

    /// The first line of a text, if its body is the one that came next before; and the text behind it.
    #[inline]
    fn expected<'a, R: LineReader + ?Sized>(
        &mut self,
        reader: &R,
        front: Front,
        text: &'a [u8],
    ) -> Option<(Told, &'a [u8])> {
        let (at, body, has_dur) = self.memo.expected()?;
        let rest = text[front.len..].strip_prefix(body)?;
        let (dur_ns, rest) = if has_dur { reader.duration_first(rest)? } else { (NO_NS, rest) };
        let rest = rest.strip_prefix(b"\n")?;
        let told = Told::again(&front.parts(body, dur_ns), at);
        self.memo.came(at);
        Some((told, rest))
    }

    /// Read a line, or recall what it says.
    fn read_once<R: LineReader + ?Sized>(&mut self, reader: &R, front: Option<Front>, text: &[u8], into: &mut Lines) {
        let parts = match front {
            Some(front) => reader.parts_behind(front, text),
            None => reader.parts(text),
        };
        let asked = parts.filter(|parts| self.memo.takes(parts)).map(|parts| (parts, self.memo.find(&parts)));
        if let Some((parts, Ok(body))) = asked {
            return into.list.push(Told::again(&parts, body));
        }
        let line = match front {
            Some(front) => reader.read_behind(front, text, self),
            None => reader.read(text, self),
        };
        if let Some((parts, Err(hash))) = asked
            && let Some(body) = self.memo.keep(&parts, hash, &line, bodies::extra(&self.extras, line.extra))
        {
            into.bodies.push(Body::of(&line));
            return into.list.push(Told::again(&parts, body));
        }
        self.memo.came_alone();
        into.list.push(Told::alone(into.alone.len() as u32));
        into.alone.push(line);
    }

    /// Keep an extra; the answer is for [`Line::extra`].
    pub fn keep(&mut self, extra: Extra) -> u32 {
        self.extras.push(extra);
        self.extras.len() as u32
    }

    /// The tracer names the child that a line is about to make.
    pub(crate) fn child_is(&mut self, line: &Line, id: i32) {
        let extra = line.extra.checked_sub(1).and_then(|at| self.extras.get_mut(at as usize));
        if let Some(Extra::Spawn { child, .. }) = extra
            && *child == NO_ID
        {
            *child = id;
        }
    }

    /// The extra of a line.
    pub fn extra(&self, line: &Line) -> Option<&Extra> {
        bodies::extra(&self.extras, line.extra)
    }
}

/// The format with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// Which format a text is: the first that says yes, else the one with the largest share of fitting lines, if that is
/// at least 30 % and half as much again as the next one's. `None` when nobody recognises it.
pub fn recognise(head: Head<'_>) -> Option<&'static dyn Format> {
    let mut shares: Vec<(u8, &'static dyn Format)> = Vec::new();
    for &format in FORMATS {
        match format.recognise(head) {
            Answer::Yes => return Some(format),
            Answer::Maybe(share) => shares.push((share, format)),
            Answer::No | Answer::NeedMore => {}
        }
    }
    shares.sort_by_key(|&(share, _)| std::cmp::Reverse(share));
    let best = shares.first()?;
    let next = shares.get(1).map_or(0, |&(share, _)| u32::from(share));
    (best.0 >= 30 && u32::from(best.0) * 2 >= next * 3).then_some(best.1)
}

/// A line that is blank, or `None`.
pub fn blank(line: &[u8]) -> Option<Line> {
    line.iter().all(u8::is_ascii_whitespace).then(|| Line::of(Kind::Blank))
}
