//! Lines that say again what an earlier one said, but for ids and times, are not read again.
//!
//! ```text
//! 1234  1795224170.658193 |close(3</etc/passwd>) = 0| <0.000012>
//! ids and stamp: each time|  body: read once, then  | duration: each time
//!                         |       looked up         |
//! ```
//! Programs repeat themselves: in captures of builds and boots three to nine lines of ten are such. Often a body is followed
//! by the one that followed it before (`history.rs`); then one comparison is all. What a line says is a function of its text
//! alone, so nothing depends on what is remembered.

mod history;

use crate::line::{Extra, Kind, Line, NO_ID, NO_NS};
use hashbrown::HashTable;
use history::History;
use std::hash::Hasher;

const _: () = assert!(MOST_BODIES < u16::MAX as usize, "a history has numbers that short");

/// A longer body comes but once.
const LONGEST_BODY: usize = 512;
/// Bodies remembered, and their bytes: what a core keeps near.
const MOST_BODIES: usize = 1 << 14;
const MOST_BYTES: usize = 1 << 21;
/// Whether lines repeat is judged by so many of them.
const JUDGED: usize = 1 << 13;
/// Pieces of text to wait before trying again where lines do not repeat.
const PAUSE: u32 = 63;

/// A line taken apart: what differs each time, and the body.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
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
    /// All the rest.
    pub body: &'a [u8],
}

/// What stands before the body of a line.
#[derive(Clone, Copy, Debug)]
pub struct Front {
    /// Thread id.
    pub tid: i32,
    /// Stamp.
    pub stamp_ns: i64,
    /// Its length; no line ends in it.
    pub len: usize,
}

impl Front {
    /// The parts of a line that begins so.
    #[inline]
    pub(crate) fn parts(self, body: &[u8], dur_ns: i64) -> Parts<'_> {
        let Front { tid, stamp_ns, .. } = self;
        Parts { tid, stamp_ns, dur_ns, body, pid: NO_ID, cpu_ns: NO_NS }
    }
}

impl Parts<'_> {
    fn fit(&self, line: &Line) -> bool {
        let told = (self.tid, self.pid, self.stamp_ns, self.dur_ns, self.cpu_ns);
        told == (line.tid, line.pid, line.stamp_ns, line.dur_ns, line.cpu_ns)
    }

    /// Whether a duration was cut off makes another body: only before one is a result read.
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

/// What was read, by the bodies of lines.
#[derive(Default)]
pub(crate) struct Memo {
    table: HashTable<u32>,
    known: Vec<Known>,
    hashes: Vec<u64>,
    bytes: Vec<u8>,
    history: History,
    asked: usize,
    found: usize,
    pause: u32,
}

#[derive(Clone, Copy)]
struct Known {
    start: u32,
    len: u16,
    has_dur: bool,
}

impl Known {
    #[inline]
    fn text<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..][..usize::from(self.len)]
    }
}

impl Memo {
    /// A further piece of text begins; whether bodies are numbered anew from now on.
    pub(crate) fn begin(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
        } else if self.asked >= JUDGED {
            if self.found * 8 < self.asked {
                self.forget();
                self.pause = PAUSE;
            } else if self.is_full() && self.found * 4 < self.asked * 3 {
                self.forget();
            }
            (self.asked, self.found) = (0, 0);
        }
        self.known.is_empty()
    }

    pub(crate) fn forget(&mut self) {
        self.table.clear();
        self.known.clear();
        self.hashes.clear();
        self.bytes.clear();
        self.history.clear();
    }

    fn is_full(&self) -> bool {
        self.known.len() >= MOST_BODIES || self.bytes.len() + LONGEST_BODY > MOST_BYTES
    }

    /// Whether lines with this body are worth a question.
    pub(crate) fn takes(&self, parts: &Parts<'_>) -> bool {
        self.pause == 0 && parts.body.len() <= LONGEST_BODY
    }

    /// The number of a body if it is known; else its hash.
    pub(crate) fn find(&mut self, parts: &Parts<'_>) -> Result<u32, u64> {
        let is_expected = |&(_, text, has_dur): &(u32, &[u8], bool)| text == parts.body && has_dur == parts.has_dur();
        if let Some((at, ..)) = self.expected().filter(is_expected) {
            self.came(at);
            return Ok(at);
        }
        let hash = parts.hash();
        self.asked += 1;
        let same = |at: &u32| {
            let known = &self.known[*at as usize];
            let is_alike = self.hashes[*at as usize] == hash && known.has_dur == parts.has_dur();
            is_alike && known.text(&self.bytes) == parts.body
        };
        let Some(&at) = self.table.find(hash, same) else { return Err(hash) };
        self.found += 1;
        self.history.turn_to(at);
        Ok(at)
    }

    /// The number of the body that is expected next, its text, and whether a duration was cut off behind it.
    #[inline]
    pub(crate) fn expected(&self) -> Option<(u32, &[u8], bool)> {
        let at = self.history.expected()?;
        let next = self.known.get(at as usize)?;
        Some((at, next.text(&self.bytes), next.has_dur))
    }

    /// The expected body came.
    #[inline]
    pub(crate) fn came(&mut self, at: u32) {
        (self.asked, self.found) = (self.asked + 1, self.found + 1);
        self.history.go_on(Some(at));
    }

    /// A line came that is not remembered.
    pub(crate) fn came_alone(&mut self) {
        self.history.go_on(None);
    }

    /// Remember a body, if what its line says follows from it; gives its number.
    pub(crate) fn keep(&mut self, parts: &Parts<'_>, hash: u64, line: &Line, extra: Option<&Extra>) -> Option<u32> {
        let from_body = matches!(line.kind, Kind::Call | Kind::CallStart | Kind::CallEnd | Kind::Signal);
        // Who is born names the process, and whom the tracer lets go the thread: they are no part of the body.
        let from_body = from_body && !matches!(extra, Some(Extra::Born { .. } | Extra::Attached(..)));
        if !from_body || !parts.fit(line) || self.is_full() {
            return None;
        }
        let (start, at) = (self.bytes.len() as u32, self.known.len() as u32);
        let len = u16::try_from(parts.body.len()).ok()?;
        self.bytes.extend_from_slice(parts.body);
        self.known.push(Known { start, len, has_dur: parts.has_dur() });
        self.hashes.push(hash);
        self.table.insert_unique(hash, at, |&at| self.hashes[at as usize]);
        self.history.turn_to(at);
        Some(at)
    }
}
