//! What a format provides, and the loop that reads a chunk of lines.

use crate::cached_lines::{self, CachedLine, ChunkLines, LineRef};
use crate::capture_facts::{CaptureFacts, Clock, DurKind, EnvelopeFacts, StampMoment};
use crate::elision;
use crate::facts::Fact;
use crate::interner::Interner;
use crate::line::{Extra, Line, LineKind, NO_ID, NO_NS};
use crate::line_cache::{LineCache, LineParts, LinePrefix};
use std::borrow::Cow;

/// Whether a text is of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recognition {
    /// Certainly.
    Yes,
    /// Possibly: this share of the lines, in percent, looks like this format, but no line proves it.
    Maybe(u8),
    /// Certainly not.
    No,
    /// There is not enough text to decide.
    NeedMore,
}

/// Without a certain format, the best one must explain this share of the lines, in percent.
pub(crate) const MIN_SHARE: u8 = 30;
/// Lines that only one format has, so many that a person who quotes them did so on purpose.
const MIN_QUOTED: usize = 2;
/// Lines of a text per line that it quotes.
const MAX_PROSE: usize = 12;

/// Whether a short text in prose quotes a format, of which so many of its lines certainly are.
pub(crate) fn is_quoted(sure: usize, lines: usize) -> bool {
    sure >= MIN_QUOTED && sure.saturating_mul(MAX_PROSE) >= lines
}

impl Recognition {
    /// By the share of lines that have the form of a tracer and of nothing else.
    pub(crate) fn by_lines(head: Head<'_>, has_form: fn(&[u8]) -> bool) -> Recognition {
        let filled = || head.lines().filter(|line| blank(line).is_none());
        let lines = filled().count();
        let fits = filled().filter(|line| has_form(line)).count();
        match (fits, lines) {
            (0, 0) if !head.complete => Recognition::NeedMore,
            (0, _) => Recognition::No,
            _ if fits * 2 > lines => Recognition::Yes,
            _ => Recognition::Maybe((fits * 100 / lines) as u8),
        }
    }
}

/// The beginning of a capture, from which its format is recognised: up to about 2,000 lines. The last one may be cut.
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
        self.bytes
            .split(|&byte| byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }
}

impl CaptureFacts {
    /// Lines with ids and without times, of which nothing special is known. Formats name what differs.
    pub const PLAIN: CaptureFacts = CaptureFacts {
        stamp: StampMoment::None,
        clock: Clock::None,
        tick_ns: 1_000,
        dur_kind: DurKind::None,
        has_durations: false,
        has_ids: true,
        ids_optional: false,
        mixes_threads: false,
        marks_halves: false,
        one_process: false,
        is_newest_first: false,
        is_selected: false,
        names_processes: false,
        is_of_windows: false,
        prints_exits: true,
        prints_waits: true,
        base_ns: NO_NS,
    };
}

/// One format.
pub trait Format: Sync {
    /// The name in options and reports.
    fn name(&self) -> &'static str;
    /// Whether the text is of this format.
    fn recognise(&self, head: Head<'_>) -> Recognition;
    /// Whether a line has a form that only this format has, so that no known name of a call is needed to tell.
    fn is_own_line(&self, _line: &[u8]) -> bool {
        false
    }
    /// A reader for a capture that begins with this text. The layout of its lines is decided here, once.
    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader>;
}

/// Reads the lines of one capture. Pure: the same line gives the same result wherever it stands.
pub trait LineReader: Send + Sync {
    /// What the lines contain and mean.
    fn facts(&self) -> CaptureFacts;
    /// The envelopes around the lines.
    fn envelope_facts(&self) -> EnvelopeFacts {
        EnvelopeFacts::default()
    }
    /// The line without its envelopes; `None` if it does not have them, or is another sender's.
    fn unwrapped<'a>(&self, line: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        Some(Cow::Borrowed(line))
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
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Returns the name of the format of a line that the reader may not have been able to use.
/// The name of the capture's format comes first.
pub(crate) type OtherFormat = fn(&'static str, &Line, &[u8]) -> Option<&'static str>;

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
    /// Names the formats of lines that the reader could not use.
    other_format: Option<(&'static str, OtherFormat)>,
    cache: LineCache,
}

impl Parsed {
    pub(crate) fn with_other_formats(own: &'static str, other_format: OtherFormat) -> Parsed {
        Parsed {
            other_format: Some((own, other_format)),
            ..Parsed::default()
        }
    }

    /// Read a chunk of whole lines; only the last line of a capture may lack its LF.
    pub fn read(&mut self, reader: &dyn LineReader, mut bytes: &[u8]) {
        self.lines.clear();
        self.extras.clear();
        self.texts.clear();
        self.cache.clear();
        while !bytes.is_empty() {
            let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
            let line = reader.read(&bytes[..end], self);
            let line = self.recognised(line, &bytes[..end]);
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

    fn read_lines<R: LineReader + ?Sized>(
        &mut self,
        reader: &R,
        mut text: &[u8],
        into: &mut ChunkLines,
    ) {
        while !text.is_empty() {
            let prefix = reader.prefix(text);
            if let Some((line, rest)) =
                prefix.and_then(|prefix| self.read_expected(reader, prefix, text))
            {
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
        let (dur_ns, rest) = match prefix.dur_ns {
            NO_NS if has_dur => reader.leading_duration(rest)?,
            dur_ns if has_dur == (dur_ns != NO_NS) => (dur_ns, rest),
            _ => return None,
        };
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
        let looked_up = parts
            .filter(|parts| self.cache.accepts(parts))
            .map(|parts| (parts, self.cache.find(&parts)));
        if let Some((parts, Ok(number))) = looked_up {
            return into.refs.push(LineRef::cached(&parts, number));
        }
        let line = match prefix {
            Some(prefix) => reader.read_after(prefix, text, self),
            None => reader.read(text, self),
        };
        let line = self.recognised(line, text);
        if let Some((parts, Err(hash))) = looked_up
            && let Some(number) = self.cache.insert(
                &parts,
                hash,
                &line,
                cached_lines::extra(&self.extras, line.extra),
            )
        {
            into.cached.push(CachedLine::of(&line));
            return into.refs.push(LineRef::cached(&parts, number));
        }
        self.cache.found_none();
        into.refs.push(LineRef::own(into.own.len() as u32));
        into.own.push(line);
    }

    /// The line, or what it is in any format if the reader could not use it.
    pub(crate) fn recognised(&mut self, line: Line, text: &[u8]) -> Line {
        let line = elision::recognised(line, text);
        match self
            .other_format
            .and_then(|(own, name_of)| name_of(own, &line, text))
        {
            Some(name) => Line {
                name: self.texts.add(name.as_bytes()),
                ..Line::of(LineKind::OtherFormat)
            },
            None => line,
        }
    }

    /// Store an extra; returns its number for [`Line::extra`].
    pub fn keep(&mut self, extra: impl Into<Extra>) -> u32 {
        self.extras.push(extra.into());
        self.extras.len() as u32
    }

    /// Add a fact to whatever a line has. It is kept as it is. One that frequent lines have should be their only extra,
    /// which costs no allocation.
    pub fn add_fact(&mut self, line: &mut Line, fact: Fact) {
        let known = line.extra.checked_sub(1);
        match known.and_then(|at| self.extras.get_mut(at as usize)) {
            Some(extra) => {
                let alone = std::mem::replace(extra, Extra::Torn);
                *extra = alone.with(fact);
            }
            None => line.extra = self.keep(fact),
        }
    }

    /// A line contains the name of the running program, too.
    pub(crate) fn name_program(&mut self, line: &mut Line, name: &[u8]) {
        let with = self.extra(line).cloned().map(Box::new);
        let name = self.texts.add(name);
        line.extra = self.keep(Extra::Program { name, with });
    }

    /// A poll of several descriptors found only this one ready.
    pub(crate) fn ready_is(&mut self, line: &Line, fd: i32) {
        let extra = line
            .extra
            .checked_sub(1)
            .and_then(|at| self.extras.get_mut(at as usize));
        if let Some(Extra::Polled { fds, ready, .. }) = extra
            && fds.len() > 1
        {
            *ready = fd;
        }
    }

    /// Set the child of a line that creates one, once the tracer names it.
    pub(crate) fn child_is(&mut self, line: &Line, id: i32) {
        let extra = line
            .extra
            .checked_sub(1)
            .and_then(|at| self.extras.get_mut(at as usize));
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

/// The line of a text that is blank, or `None`.
pub fn blank(line: &[u8]) -> Option<Line> {
    line.iter()
        .all(u8::is_ascii_whitespace)
        .then(|| Line::of(LineKind::Blank))
}
