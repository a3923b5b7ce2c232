//! Lines that say again what an earlier one said, but for ids and times, are not read again.
//!
//! ```text
//! 1234  1795224170.658193 |close(3</etc/passwd>) = 0| <0.000012>
//! ids and stamp: each time|  body: read once, then  | duration: each time
//!                         |       looked up         |
//! ```
//! Programs repeat themselves: in captures of builds and boots three to nine lines of ten are such. What a line says is a
//! function of its text alone, so nothing depends on what is remembered.

use crate::line::{Extra, Kind, Line};
use hashbrown::HashTable;
use std::hash::Hasher;

/// A longer body comes but once.
const LONGEST_BODY: usize = 512;
/// Bodies remembered, and their bytes: what a core keeps near.
const MOST_BODIES: usize = 1 << 14;
const MOST_BYTES: usize = 1 << 21;
/// Pieces of text to wait before trying again where lines do not repeat.
const PAUSE: u32 = 15;

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
        self.dur_ns != crate::line::NO_NS
    }
}

/// What was read, by the bodies of lines.
#[derive(Default)]
pub(crate) struct Memo {
    table: HashTable<u32>,
    known: Vec<Known>,
    bytes: Vec<u8>,
    extras: Vec<Extra>,
    asked: usize,
    found: usize,
    pause: u32,
}

#[derive(Clone, Copy)]
struct Known {
    hash: u64,
    start: u32,
    len: u32,
    has_dur: bool,
    /// Its extra is a number in `Memo::extras`, plus 1.
    line: Line,
}

impl Memo {
    /// A further piece of text begins; whether bodies are numbered anew from now on.
    pub(crate) fn begin(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
        } else if self.found * 8 < self.asked {
            self.forget();
            self.pause = PAUSE;
        } else if self.is_full() && self.found * 4 < self.asked * 3 {
            self.forget();
        }
        (self.asked, self.found) = (0, 0);
        self.known.is_empty()
    }

    pub(crate) fn forget(&mut self) {
        self.table.clear();
        self.known.clear();
        self.bytes.clear();
        self.extras.clear();
    }

    fn is_full(&self) -> bool {
        self.known.len() >= MOST_BODIES || self.bytes.len() + LONGEST_BODY > MOST_BYTES
    }

    /// Whether lines with this body are worth a question.
    pub(crate) fn takes(&self, parts: &Parts<'_>) -> bool {
        self.pause == 0 && parts.body.len() <= LONGEST_BODY
    }

    /// What a line says whose body is known, with the extra that it is to have; else the hash of its body.
    pub(crate) fn find(&mut self, parts: &Parts<'_>) -> Result<(Line, Option<&Extra>), u64> {
        let hash = parts.hash();
        self.asked += 1;
        let (known, bytes) = (&self.known, &self.bytes);
        let same = |at: &u32| {
            let known = &known[*at as usize];
            let body = &bytes[known.start as usize..][..known.len as usize];
            known.hash == hash && known.has_dur == parts.has_dur() && body == parts.body
        };
        let Some(&at) = self.table.find(hash, same) else { return Err(hash) };
        self.found += 1;
        let line = known[at as usize].line;
        let extra = line.extra.checked_sub(1).and_then(|at| self.extras.get(at as usize));
        let Parts { tid, pid, stamp_ns, dur_ns, cpu_ns, .. } = *parts;
        Ok((Line { tid, pid, stamp_ns, dur_ns, cpu_ns, ..line }, extra))
    }

    /// Remember what a line says, if that follows from its body; gives the number of the body plus 1, or 0.
    pub(crate) fn keep(&mut self, parts: &Parts<'_>, hash: u64, line: &Line, extra: Option<&Extra>) -> u32 {
        let from_body = matches!(line.kind, Kind::Call | Kind::CallStart | Kind::CallEnd | Kind::Signal);
        // Who is born names the process, which is no part of the body.
        let from_body = from_body && !matches!(extra, Some(Extra::Born { .. }));
        if !from_body || !parts.fit(line) || self.is_full() {
            return 0;
        }
        let mut line = *line;
        line.extra = 0;
        if let Some(extra) = extra {
            self.extras.push(extra.clone());
            line.extra = self.extras.len() as u32;
        }
        let (start, at) = (self.bytes.len() as u32, self.known.len() as u32);
        line.body = at + 1;
        self.bytes.extend_from_slice(parts.body);
        let len = parts.body.len() as u32;
        self.known.push(Known { hash, start, len, has_dur: parts.has_dur(), line });
        let known = &self.known;
        self.table.insert_unique(hash, at, |&at| known[at as usize].hash);
        at + 1
    }
}
