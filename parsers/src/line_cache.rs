//! The cache of lines: a line that repeats an earlier one except for ids and times is looked up, not read again.
//!
//! ```text
//! 1234  1795224170.658193 |close(3</etc/passwd>) = 0| <0.000012>
//! prefix: ids and stamp,  | body: read once, then   | duration,
//! differ each time        | looked up               | differs each time
//! ```
//! Programs repeat themselves: in captures of builds and boots, 30 to 90 % of the lines are repeated. Often the same body
//! follows that followed the last time (`history.rs`); then one comparison is enough. The fields of a line depend on its
//! text alone, so the result never depends on what is in the cache.

mod history;

use crate::line::{Extra, Line, LineKind, NO_ID, NO_NS};
use hashbrown::HashTable;
use history::History;
use std::hash::Hasher;

const _: () = assert!(
    MAX_BODIES < u16::MAX as usize,
    "the history stores numbers of bodies in 16 bits"
);

/// Longer bodies hardly ever repeat.
const MAX_BODY_BYTES: usize = 512;
/// Size of the cache in bodies and in bytes: what fits into the caches of one core.
const MAX_BODIES: usize = 1 << 14;
const MAX_BYTES: usize = 1 << 21;
/// The hit rate is judged after this many lookups.
const JUDGED_LOOKUPS: usize = 1 << 13;
/// Chunks to skip where lines do not repeat, before the cache is tried again.
const PAUSE_CHUNKS: u32 = 63;

/// A line, split into what differs each time and its body.
#[derive(Clone, Copy, Debug)]
pub struct LineParts<'a> {
    /// Thread id.
    pub tid: i32,
    /// Process id.
    pub pid: i32,
    /// Stamp.
    pub stamp_ns: i64,
    /// Duration.
    pub dur_ns: i64,
    /// CPU time.
    pub cpu_ns: i64,
    /// The rest of the line.
    pub body: &'a [u8],
}

/// What stands before the body of a line.
#[derive(Clone, Copy, Debug)]
pub struct LinePrefix {
    /// Thread id.
    pub tid: i32,
    /// Process id.
    pub pid: i32,
    /// Stamp.
    pub stamp_ns: i64,
    /// Duration, if it stands before the body.
    pub dur_ns: i64,
    /// CPU time.
    pub cpu_ns: i64,
    /// Its length in bytes. It contains no LF.
    pub len: usize,
}

impl LinePrefix {
    /// One that has nothing but the id of a thread and a stamp.
    #[inline]
    pub(crate) fn of_stamp(tid: i32, stamp_ns: i64, len: usize) -> LinePrefix {
        LinePrefix {
            tid,
            pid: NO_ID,
            stamp_ns,
            dur_ns: NO_NS,
            cpu_ns: NO_NS,
            len,
        }
    }

    /// The parts of a line with this prefix.
    #[inline]
    pub(crate) fn parts(self, body: &[u8], dur_ns: i64) -> LineParts<'_> {
        let LinePrefix {
            tid,
            pid,
            stamp_ns,
            cpu_ns,
            ..
        } = self;
        LineParts {
            tid,
            pid,
            stamp_ns,
            dur_ns,
            cpu_ns,
            body,
        }
    }
}

impl<'a> LineParts<'a> {
    /// The ids and times of a line, and its body.
    pub(crate) fn of(line: &Line, body: &'a [u8]) -> LineParts<'a> {
        let Line {
            tid,
            pid,
            stamp_ns,
            dur_ns,
            cpu_ns,
            ..
        } = *line;
        LineParts {
            tid,
            pid,
            stamp_ns,
            dur_ns,
            cpu_ns,
            body,
        }
    }

    /// Whether the line that was read has the same ids and times.
    fn agree_with(&self, line: &Line) -> bool {
        let own = (self.tid, self.pid, self.stamp_ns, self.dur_ns, self.cpu_ns);
        own == (line.tid, line.pid, line.stamp_ns, line.dur_ns, line.cpu_ns)
    }

    /// Bodies with and without a duration after them are different: some readers look for a result only before a duration.
    fn hash(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write(self.body);
        hasher.write_u32(u32::from(self.has_dur()));
        hasher.finish()
    }

    fn has_dur(&self) -> bool {
        self.dur_ns != NO_NS
    }
}

/// The bodies of the lines that were read, by their text.
#[derive(Default)]
pub(crate) struct LineCache {
    table: HashTable<u32>,
    bodies: Vec<CachedBody>,
    hashes: Vec<u64>,
    bytes: Vec<u8>,
    history: History,
    lookups: usize,
    hits: usize,
    pause_chunks: u32,
}

#[derive(Clone, Copy)]
struct CachedBody {
    start: u32,
    len: u16,
    has_dur: bool,
}

impl CachedBody {
    #[inline]
    fn text<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..][..usize::from(self.len)]
    }
}

impl LineCache {
    /// Begin the next chunk. Returns whether the cache is empty, so that numbers start again at 0.
    pub(crate) fn begin_chunk(&mut self) -> bool {
        if self.pause_chunks > 0 {
            self.pause_chunks -= 1;
        } else if self.lookups >= JUDGED_LOOKUPS {
            if self.hits * 8 < self.lookups {
                self.clear();
                self.pause_chunks = PAUSE_CHUNKS;
            } else if self.is_full() && self.hits * 4 < self.lookups * 3 {
                self.clear();
            }
            (self.lookups, self.hits) = (0, 0);
        }
        self.bodies.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.bodies.clear();
        self.hashes.clear();
        self.bytes.clear();
        self.history.clear();
    }

    fn is_full(&self) -> bool {
        self.bodies.len() >= MAX_BODIES || self.bytes.len() + MAX_BODY_BYTES > MAX_BYTES
    }

    /// Whether a line with this body should be looked up.
    pub(crate) fn accepts(&self, parts: &LineParts<'_>) -> bool {
        self.pause_chunks == 0 && parts.body.len() <= MAX_BODY_BYTES
    }

    /// The number of a body that is in the cache, or else its hash.
    pub(crate) fn find(&mut self, parts: &LineParts<'_>) -> Result<u32, u64> {
        let is_expected = |&(_, text, has_dur): &(u32, &[u8], bool)| {
            text == parts.body && has_dur == parts.has_dur()
        };
        if let Some((number, ..)) = self.expected().filter(is_expected) {
            self.found_expected(number);
            return Ok(number);
        }
        let hash = parts.hash();
        self.lookups += 1;
        let is_same = |number: &u32| {
            let body = &self.bodies[*number as usize];
            let is_alike = self.hashes[*number as usize] == hash && body.has_dur == parts.has_dur();
            is_alike && body.text(&self.bytes) == parts.body
        };
        let Some(&number) = self.table.find(hash, is_same) else {
            return Err(hash);
        };
        self.hits += 1;
        self.history.jump(number);
        Ok(number)
    }

    /// The number of the body that is expected next, its text, and whether a duration follows it.
    #[inline]
    pub(crate) fn expected(&self) -> Option<(u32, &[u8], bool)> {
        let number = self.history.expected()?;
        let next = self.bodies.get(number as usize)?;
        Some((number, next.text(&self.bytes), next.has_dur))
    }

    /// Record that the next line has the expected body.
    #[inline]
    pub(crate) fn found_expected(&mut self, number: u32) {
        (self.lookups, self.hits) = (self.lookups + 1, self.hits + 1);
        self.history.advance(Some(number));
    }

    /// Record that the next line is not cached.
    pub(crate) fn found_none(&mut self) {
        self.history.advance(None);
    }

    /// Add a body, if it decides all fields of its line; returns its number.
    pub(crate) fn insert(
        &mut self,
        parts: &LineParts<'_>,
        hash: u64,
        line: &Line,
        extra: Option<&Extra>,
    ) -> Option<u32> {
        let extra = extra.map(Extra::bare);
        let is_cacheable = matches!(
            line.kind,
            LineKind::Call | LineKind::CallStart | LineKind::CallEnd | LineKind::Signal
        ) || matches!(extra, Some(Extra::Frame { .. }));
        // These extras contain ids that are not part of the body: Born the process, Attached the thread.
        let is_cacheable =
            is_cacheable && !matches!(extra, Some(Extra::Born { .. } | Extra::Attached(..)));
        if !is_cacheable || !parts.agree_with(line) || self.is_full() {
            return None;
        }
        let (start, number) = (self.bytes.len() as u32, self.bodies.len() as u32);
        let len = u16::try_from(parts.body.len()).ok()?;
        self.bytes.extend_from_slice(parts.body);
        self.bodies.push(CachedBody {
            start,
            len,
            has_dur: parts.has_dur(),
        });
        self.hashes.push(hash);
        self.table
            .insert_unique(hash, number, |&number| self.hashes[number as usize]);
        self.history.jump(number);
        Some(number)
    }
}
