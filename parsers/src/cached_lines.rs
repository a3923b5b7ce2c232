//! How a reader hands over its lines: the content of a repeated line once, then only what differs.
//!
//! ```text
//! 1234 1795224170.658193 close(3</etc/passwd>) = 0 <0.000012>     cached line 7: close, 3, /etc/passwd, 0
//! 1239 1795224171.100020 close(3</etc/passwd>) = 0 <0.000010>     ids, stamp, duration, cached line 7
//! ```
//! A caller that takes all chunks of a reader in order, and adds each to a [`CachedLines`], can restore every line.

use crate::interner::NewTexts;
use crate::line::{CallPart, Extra, Line, LineKind, NO_ID, NO_NS, Outcome};
use crate::line_cache::LineParts;
use crate::text::Text;

/// One line of a chunk: ids and times, and where the rest is.
#[derive(Clone, Copy, Debug)]
pub struct LineRef {
    /// Stamp.
    pub stamp_ns: i64,
    /// Duration.
    pub dur_ns: i64,
    /// CPU time.
    pub cpu_ns: i64,
    /// Thread id.
    pub tid: i32,
    /// Process id.
    pub pid: i32,
    /// Where all other fields are.
    pub content: Content,
}

/// Where the content of a line is: all fields except ids and times.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// In the cached line with this number.
    Cached(u32),
    /// In [`ChunkLines::own`], at this index, together with ids and times.
    Own(u32),
}

impl LineRef {
    /// A line whose content is cached under this number.
    pub(crate) fn cached(parts: &LineParts<'_>, number: u32) -> LineRef {
        let LineParts {
            stamp_ns,
            dur_ns,
            cpu_ns,
            tid,
            pid,
            ..
        } = *parts;
        LineRef {
            stamp_ns,
            dur_ns,
            cpu_ns,
            tid,
            pid,
            content: Content::Cached(number),
        }
    }

    /// A line that is not cached, at this index of [`ChunkLines::own`].
    pub(crate) fn own(at: u32) -> LineRef {
        LineRef {
            stamp_ns: NO_NS,
            dur_ns: NO_NS,
            cpu_ns: NO_NS,
            tid: NO_ID,
            pid: NO_ID,
            content: Content::Own(at),
        }
    }
}

/// The fields of a line that its body decides: all except ids and times.
#[derive(Clone, Copy, Debug)]
pub struct CachedLine {
    ret: i64,
    fd: i32,
    name: Text,
    op: Text,
    target: Text,
    errno: Text,
    extra: u32,
    kind: LineKind,
    part: CallPart,
    outcome: Outcome,
}

impl CachedLine {
    /// The fields of this line, without ids and times.
    pub fn of(line: &Line) -> CachedLine {
        let Line {
            ret,
            fd,
            name,
            op,
            target,
            errno,
            extra,
            kind,
            part,
            outcome,
            ..
        } = *line;
        CachedLine {
            ret,
            fd,
            name,
            op,
            target,
            errno,
            extra,
            kind,
            part,
            outcome,
        }
    }

    /// A line with these fields, and without ids and times.
    #[inline]
    pub fn line(&self) -> Line {
        let CachedLine {
            ret,
            fd,
            name,
            op,
            target,
            errno,
            extra,
            kind,
            part,
            outcome,
        } = *self;
        Line {
            ret,
            fd,
            name,
            op,
            target,
            errno,
            extra,
            part,
            outcome,
            ..Line::of(kind)
        }
    }
}

/// The lines of a chunk that [`crate::Parsed::read_next`] has read.
#[derive(Default)]
pub struct ChunkLines {
    /// One entry per physical line.
    pub refs: Vec<LineRef>,
    /// The lines that are not cached.
    pub own: Vec<Line>,
    /// The lines that were added to the cache in this chunk, in the order of their numbers.
    pub cached: Vec<CachedLine>,
    /// The extras of own and cached lines.
    pub extras: Vec<Extra>,
    /// The texts that this chunk added to those of earlier chunks.
    pub texts: NewTexts,
    /// The cache was cleared before this chunk, so numbers of cached lines start again at 0.
    pub cache_cleared: bool,
}

impl ChunkLines {
    /// The extra of a line in [`ChunkLines::own`].
    pub fn extra(&self, line: &Line) -> Option<&Extra> {
        extra(&self.extras, line.extra)
    }

    pub(crate) fn clear(&mut self) {
        self.refs.clear();
        self.own.clear();
        self.cached.clear();
        self.extras.clear();
    }
}

/// The extra with this number; 0 means none.
pub(crate) fn extra(extras: &[Extra], number: u32) -> Option<&Extra> {
    number.checked_sub(1).and_then(|at| extras.get(at as usize))
}

/// All lines that one reader has cached so far.
#[derive(Default)]
pub struct CachedLines {
    list: Vec<CachedLine>,
    extras: Vec<Extra>,
}

impl CachedLines {
    /// Add the lines that the reader cached in its next chunk, each changed by `change`.
    pub fn add_chunk(
        &mut self,
        lines: &ChunkLines,
        mut change: impl FnMut(&Line, Option<&Extra>) -> (Line, Option<Extra>),
    ) {
        if lines.cache_cleared {
            self.list.clear();
            self.extras.clear();
        }
        for cached in &lines.cached {
            let (mut line, changed) = change(&cached.line(), extra(&lines.extras, cached.extra));
            line.extra = 0;
            if let Some(changed) = changed {
                self.extras.push(changed);
                line.extra = self.extras.len() as u32;
            }
            self.list.push(CachedLine::of(&line));
        }
    }

    /// The full line for an entry of the chunk added last whose content is cached under this number, and its extra.
    #[inline]
    pub fn line(&self, line_ref: &LineRef, number: u32) -> (Line, Option<&Extra>) {
        let Some(cached) = self.list.get(number as usize) else {
            return (Line::of(LineKind::Damaged), None);
        };
        let LineRef {
            stamp_ns,
            dur_ns,
            cpu_ns,
            tid,
            pid,
            ..
        } = *line_ref;
        let line = Line {
            stamp_ns,
            dur_ns,
            cpu_ns,
            tid,
            pid,
            cached: number + 1,
            ..cached.line()
        };
        (line, extra(&self.extras, line.extra))
    }

    /// Add the reader's next chunk, and return all its lines with their extras.
    pub fn resolve_all(&mut self, lines: &ChunkLines) -> Vec<(Line, Option<Extra>)> {
        self.add_chunk(lines, |line, extra| (*line, extra.cloned()));
        let resolve = |line_ref: &LineRef| match line_ref.content {
            Content::Cached(number) => {
                let (line, extra) = self.line(line_ref, number);
                (line, extra.cloned())
            }
            Content::Own(at) => {
                let line = lines.own[at as usize];
                (line, lines.extra(&line).cloned())
            }
        };
        lines.refs.iter().map(resolve).collect()
    }
}
