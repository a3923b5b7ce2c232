//! The formats: how each is recognised, what its numbers mean, and how its lines are read.

use crate::cached_lines::{self, CachedLine, ChunkLines, LineRef};
use crate::envelope::EnvelopeFacts;
use crate::line::{Extra, Line, LineKind, NO_ID, NO_NS};
use crate::line_cache::{LineCache, LineParts, LinePrefix};
use crate::text::Interner;
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
pub enum Recognition {
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
pub enum StampMoment {
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
pub struct CaptureFacts {
    /// Which moment the stamp is.
    pub stamp: StampMoment,
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
    fn recognise(&self, head: Head<'_>) -> Recognition;
    /// A reader for a capture that begins with this text; the layout of its lines is decided here, once.
    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader>;
}

/// Reads the lines of one capture. Pure: the same line gives the same answer wherever it stands.
pub trait LineReader: Send + Sync {
    /// What the lines carry and mean.
    fn facts(&self) -> CaptureFacts;
    /// The envelopes around the lines.
    fn envelope_facts(&self) -> EnvelopeFacts {
        EnvelopeFacts::default()
    }
    /// Read one line, without its LF. Texts and extras go to `parsed`; its `lines` are left alone.
    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line;
    /// Split a line into ids and times, which differ each time the line repeats, and its body. `None` if the body alone
    /// does not decide all other fields of the line.
    fn parts<'a>(&self, _line: &'a [u8]) -> Option<LineParts<'a>> {
        None
    }
    /// The prefix before the body of the first line of a text, if it can be read without finding the end of the line, and
    /// only [`LineReader::leading_duration`] can follow the body. A prefix that costs more than the lookup of the body
    /// may be left to [`LineReader::parts`].
    fn prefix(&self, _text: &[u8]) -> Option<LinePrefix> {
        None
    }
    /// As [`LineReader::read`] for a line with this prefix.
    fn read_after(&self, _prefix: LinePrefix, line: &[u8], parsed: &mut Parsed) -> Line {
        self.read(line, parsed)
    }
    /// As [`LineReader::parts`] for a line with this prefix.
    fn parts_after<'a>(&self, _prefix: LinePrefix, line: &'a [u8]) -> Option<LineParts<'a>> {
        self.parts(line)
    }
    /// The duration at the start of a text, and what follows it.
    fn leading_duration<'a>(&self, _text: &'a [u8]) -> Option<(i64, &'a [u8])> {
        None
    }
    /// Read the lines of a text as [`Parsed::read_next`] does. A method of the trait, so that the compiler makes one copy of
    /// this loop for each reader, with direct calls to its functions.
    #[doc(hidden)]
    fn read_lines(&self, text: &[u8], parsed: &mut Parsed, into: &mut ChunkLines) {
        parsed.read_lines(self, text, into);
    }
}

/// Once the texts that are shared by all chunks of a capture exceed this, they start again from none.
const MAX_TEXT_BYTES: usize = 1 << 22;

/// The lines of one chunk, and what the reader carries from chunk to chunk: texts and the line cache.
#[derive(Default)]
pub struct Parsed {
    /// One entry per physical line.
    pub lines: Vec<Line>,
    /// The extras of lines that have one.
    pub extras: Vec<Extra>,
    /// The texts of this chunk.
    pub texts: Interner,
    /// A buffer in which readers assemble texts; its content has no meaning between lines.
    pub(crate) scratch: Vec<u8>,
    cache: LineCache,
}

impl Parsed {
    /// Read a chunk of whole lines; only the last line of a capture may lack its LF.
    pub fn read(&mut self, reader: &dyn LineReader, mut bytes: &[u8]) {
        self.lines.clear();
        self.extras.clear();
        self.texts.clear();
        self.cache.clear();
        while !bytes.is_empty() {
            let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
            let line = reader.read(&bytes[..end], self);
            self.lines.push(line);
            bytes = bytes.get(end + 1..).unwrap_or(b"");
        }
    }

    /// Read the next chunk of the same capture into `into`. Texts keep their numbers, and repeated lines come from the
    /// cache. The lines are the same as those of [`Parsed::read`].
    pub fn read_next(&mut self, reader: &dyn LineReader, bytes: &[u8], into: &mut ChunkLines) {
        if self.texts.size_bytes() > MAX_TEXT_BYTES {
            self.texts.clear();
            self.cache.clear();
        }
        let texts = self.texts.added_len();
        into.clear();
        into.cache_cleared = self.cache.begin_chunk();
        std::mem::swap(&mut self.extras, &mut into.extras);
        self.extras.clear();
        reader.read_lines(bytes, self, into);
        std::mem::swap(&mut self.extras, &mut into.extras);
        self.texts.copy_new(texts, &mut into.texts);
    }

    fn read_lines<R: LineReader + ?Sized>(&mut self, reader: &R, mut text: &[u8], into: &mut ChunkLines) {
        while !text.is_empty() {
            let prefix = reader.prefix(text);
            if let Some((line, rest)) = prefix.and_then(|prefix| self.read_expected(reader, prefix, text)) {
                into.refs.push(line);
                text = rest;
                continue;
            }
            let begin = prefix.map_or(0, |prefix| prefix.len);
            let end = memchr::memchr(b'\n', &text[begin..]).map_or(text.len(), |lf| begin + lf);
            self.read_line(reader, prefix, &text[..end], into);
            text = text.get(end + 1..).unwrap_or(b"");
        }
    }

    /// The first line of a text, if its body is the one that the cache expects next; and the text after the line.
    #[inline]
    fn read_expected<'a, R: LineReader + ?Sized>(
        &mut self,
        reader: &R,
        prefix: LinePrefix,
        text: &'a [u8],
    ) -> Option<(LineRef, &'a [u8])> {
        let (number, body, has_dur) = self.cache.expected()?;
        let rest = text[prefix.len..].strip_prefix(body)?;
        let (dur_ns, rest) = if has_dur { reader.leading_duration(rest)? } else { (NO_NS, rest) };
        let rest = rest.strip_prefix(b"\n")?;
        let line = LineRef::cached(&prefix.parts(body, dur_ns), number);
        self.cache.found_expected(number);
        Some((line, rest))
    }

    /// Look a line up in the cache; read it if it is not there.
    fn read_line<R: LineReader + ?Sized>(
        &mut self,
        reader: &R,
        prefix: Option<LinePrefix>,
        text: &[u8],
        into: &mut ChunkLines,
    ) {
        let parts = match prefix {
            Some(prefix) => reader.parts_after(prefix, text),
            None => reader.parts(text),
        };
        let looked_up = parts.filter(|parts| self.cache.accepts(parts)).map(|parts| (parts, self.cache.find(&parts)));
        if let Some((parts, Ok(number))) = looked_up {
            return into.refs.push(LineRef::cached(&parts, number));
        }
        let line = match prefix {
            Some(prefix) => reader.read_after(prefix, text, self),
            None => reader.read(text, self),
        };
        if let Some((parts, Err(hash))) = looked_up
            && let Some(number) = self.cache.insert(&parts, hash, &line, cached_lines::extra(&self.extras, line.extra))
        {
            into.cached.push(CachedLine::of(&line));
            return into.refs.push(LineRef::cached(&parts, number));
        }
        self.cache.found_none();
        into.refs.push(LineRef::own(into.own.len() as u32));
        into.own.push(line);
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
        cached_lines::extra(&self.extras, line.extra)
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
            Recognition::Yes => return Some(format),
            Recognition::Maybe(share) => shares.push((share, format)),
            Recognition::No | Recognition::NeedMore => {}
        }
    }
    shares.sort_by_key(|&(share, _)| std::cmp::Reverse(share));
    let best = shares.first()?;
    let next = shares.get(1).map_or(0, |&(share, _)| u32::from(share));
    (best.0 >= 30 && u32::from(best.0) * 2 >= next * 3).then_some(best.1)
}

/// A line that is blank, or `None`.
pub fn blank(line: &[u8]) -> Option<Line> {
    line.iter().all(u8::is_ascii_whitespace).then(|| Line::of(LineKind::Blank))
}
