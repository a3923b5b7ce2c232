//! Rows that came one after the other, in columns, near 29 bytes a row.
//!
//! Most numbers of a capture are small: durations below a second, values returned below a thousand million, stamps near
//! those of the rows before. Those take four bytes; the few others lie in a list beside the column.

use crate::events::{Event, EventKind, SEGMENT_ROWS};
use parsers::{DurKind, NO_NS, Outcome, Text};

/// A column with a place for each row. Places behind the last row are not touched, and so take no memory.
type Column<T> = Box<[T; SEGMENT_ROWS]>;

fn column<T: Copy>(zero: T) -> Column<T> {
    let places = vec![zero; SEGMENT_ROWS].into_boxed_slice();
    places.try_into().unwrap_or_else(|_| unreachable!("it has that many"))
}

/// A column of numbers, most of them small.
struct Numbers {
    codes: Column<u32>,
    large: Vec<i64>,
}

impl Numbers {
    /// Numbers from minus this to below this are small.
    const SMALL: i64 = 1 << 30;
    /// The code of a large number is its place in the list with this bit.
    const LARGE: u32 = 1 << 31;
    const NONE: u32 = u32::MAX;

    fn new() -> Numbers {
        Numbers { codes: column(0), large: Vec::new() }
    }

    #[inline]
    fn small_code(value: i64) -> Option<u32> {
        match value {
            NO_NS => Some(Numbers::NONE),
            value if (-Numbers::SMALL..Numbers::SMALL).contains(&value) => Some((value + Numbers::SMALL) as u32),
            _ => None,
        }
    }

    #[inline]
    fn put(&mut self, at: usize, value: i64) {
        self.codes[at] = Numbers::small_code(value).unwrap_or_else(|| self.add_large(value));
    }

    fn add_large(&mut self, value: i64) -> u32 {
        self.large.push(value);
        (self.large.len() - 1) as u32 | Numbers::LARGE
    }

    fn set(&mut self, at: usize, value: i64) {
        let before = self.codes[at];
        self.codes[at] = match Numbers::small_code(value) {
            Some(code) => code,
            None if before & Numbers::LARGE != 0 && before != Numbers::NONE => {
                self.large[(before & !Numbers::LARGE) as usize] = value;
                before
            }
            None => self.add_large(value),
        };
    }

    #[inline]
    fn get(&self, at: usize) -> i64 {
        match self.codes[at] {
            Numbers::NONE => NO_NS,
            code if code & Numbers::LARGE == 0 => i64::from(code) - Numbers::SMALL,
            code => self.large[(code & !Numbers::LARGE) as usize],
        }
    }
}

/// A column of stamps: differences to the first one of some rows.
struct Moments {
    firsts_ns: Vec<i64>,
    since_ns: Numbers,
}

impl Moments {
    const ROWS: usize = 64;

    fn new() -> Moments {
        Moments { firsts_ns: Vec::with_capacity(SEGMENT_ROWS / Moments::ROWS), since_ns: Numbers::new() }
    }

    /// The row behind the last one.
    #[inline]
    fn put(&mut self, at: usize, stamp_ns: i64) {
        if at.is_multiple_of(Moments::ROWS) {
            let last_ns = self.firsts_ns.last().copied().unwrap_or(0);
            self.firsts_ns.push(if stamp_ns == NO_NS { last_ns } else { stamp_ns });
        }
        self.since_ns.put(at, self.since_first(at, stamp_ns));
    }

    fn set(&mut self, at: usize, stamp_ns: i64) {
        self.since_ns.set(at, self.since_first(at, stamp_ns));
    }

    /// Stamps are bounded where they enter, so that no difference is [`NO_NS`].
    fn since_first(&self, at: usize, stamp_ns: i64) -> i64 {
        if stamp_ns == NO_NS { NO_NS } else { stamp_ns.wrapping_sub(self.firsts_ns[at / Moments::ROWS]) }
    }

    #[inline]
    fn get(&self, at: usize) -> i64 {
        match self.since_ns.get(at) {
            NO_NS => NO_NS,
            since_ns => since_ns.wrapping_add(self.firsts_ns[at / Moments::ROWS]),
        }
    }
}

/// The rows.
pub(crate) struct Segment {
    len: usize,
    start_ns: Moments,
    dur_ns: Numbers,
    ret: Numbers,
    line: Column<u32>,
    task: Column<u32>,
    shape: Column<u32>,
    target: Column<u32>,
    flags: Column<u8>,
    /// Empty unless some row has a CPU time.
    cpu_ns: Vec<i64>,
    /// Empty while all rows are from file 0.
    file: Vec<u32>,
}

impl Segment {
    pub(crate) fn new() -> Segment {
        Segment {
            len: 0,
            start_ns: Moments::new(),
            dur_ns: Numbers::new(),
            ret: Numbers::new(),
            line: column(0),
            task: column(0),
            shape: column(0),
            target: column(0),
            flags: column(0),
            cpu_ns: Vec::new(),
            file: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Add a row, where there is room for one.
    #[inline]
    pub(crate) fn push(&mut self, event: &Event) {
        let at = self.len;
        assert!(at < SEGMENT_ROWS, "a full segment");
        self.len += 1;
        self.start_ns.put(at, event.start_ns);
        self.dur_ns.put(at, event.dur_ns);
        self.ret.put(at, event.ret);
        self.line[at] = event.line;
        self.task[at] = event.task;
        self.shape[at] = event.shape;
        self.target[at] = event.target.0;
        self.flags[at] = flags(event.kind, event.outcome, event.dur_kind);
        if event.cpu_ns != NO_NS {
            self.set_cpu(at, event.cpu_ns);
        }
        if event.file != 0 || !self.file.is_empty() {
            self.file.resize(at, 0);
            self.file.push(event.file);
        }
    }

    /// Numbers of the shapes and of the tasks.
    #[inline]
    pub(crate) fn shapes_and_tasks(&self) -> (&[u32], &[u32]) {
        (&self.shape[..self.len], &self.task[..self.len])
    }

    /// Write a row anew, but for its place in the file.
    pub(crate) fn set(&mut self, at: usize, event: &Event) {
        self.start_ns.set(at, event.start_ns);
        self.dur_ns.set(at, event.dur_ns);
        self.ret.set(at, event.ret);
        self.task[at] = event.task;
        self.shape[at] = event.shape;
        self.target[at] = event.target.0;
        self.flags[at] = flags(event.kind, event.outcome, event.dur_kind);
        self.set_cpu(at, event.cpu_ns);
    }

    pub(crate) fn set_dur(&mut self, at: usize, dur_ns: i64, dur_kind: DurKind) {
        self.dur_ns.set(at, dur_ns);
        self.flags[at] = self.flags[at] & 0x3f | (dur_kind as u8) << 6;
    }

    fn set_cpu(&mut self, at: usize, cpu_ns: i64) {
        if cpu_ns == NO_NS && self.cpu_ns.len() <= at {
            return;
        }
        if self.cpu_ns.len() <= at {
            self.cpu_ns.reserve_exact(SEGMENT_ROWS - self.cpu_ns.len());
            self.cpu_ns.resize(at + 1, NO_NS);
        }
        self.cpu_ns[at] = cpu_ns;
    }

    pub(crate) fn event(&self, at: usize) -> Event {
        Event {
            start_ns: self.start_ns(at),
            dur_ns: self.dur_ns(at),
            cpu_ns: self.cpu_ns.get(at).copied().unwrap_or(NO_NS),
            ret: self.ret(at),
            line: self.line(at),
            file: self.file.get(at).copied().unwrap_or(0),
            task: self.task(at),
            shape: self.shape(at),
            target: self.target(at),
            kind: self.kind(at),
            outcome: self.outcome(at),
            dur_kind: self.dur_kind(at),
        }
    }

    #[inline]
    pub(crate) fn start_ns(&self, at: usize) -> i64 {
        self.start_ns.get(at)
    }

    #[inline]
    pub(crate) fn dur_ns(&self, at: usize) -> i64 {
        self.dur_ns.get(at)
    }

    #[inline]
    pub(crate) fn ret(&self, at: usize) -> i64 {
        self.ret.get(at)
    }

    #[inline]
    pub(crate) fn line(&self, at: usize) -> u32 {
        self.line[at]
    }

    #[inline]
    pub(crate) fn task(&self, at: usize) -> u32 {
        self.task[at]
    }

    #[inline]
    pub(crate) fn shape(&self, at: usize) -> u32 {
        self.shape[at]
    }

    #[inline]
    pub(crate) fn target(&self, at: usize) -> Text {
        Text(self.target[at])
    }

    #[inline]
    pub(crate) fn kind(&self, at: usize) -> EventKind {
        EventKind::ALL[(self.flags[at] & 7) as usize]
    }

    #[inline]
    pub(crate) fn outcome(&self, at: usize) -> Outcome {
        Outcome::ALL[(self.flags[at] >> 3 & 7) as usize]
    }

    #[inline]
    pub(crate) fn dur_kind(&self, at: usize) -> DurKind {
        DurKind::ALL[(self.flags[at] >> 6) as usize]
    }
}

fn flags(kind: EventKind, outcome: Outcome, dur_kind: DurKind) -> u8 {
    kind as u8 | (outcome as u8) << 3 | (dur_kind as u8) << 6
}

#[cfg(test)]
mod tests {
    use super::*;

    const FURTHEST_NS: i64 = (1 << 62) - 1;

    #[test]
    fn numbers_of_any_size_come_back_also_when_written_anew() {
        let values = [0, 1, -1, NO_NS, i64::MAX, i64::MIN + 1, (1 << 30) - 1, 1 << 30, -(1 << 30), -(1 << 30) - 1];
        let mut column = Numbers::new();
        values.iter().enumerate().for_each(|(at, &value)| column.put(at, value));
        assert!(values.iter().enumerate().all(|(at, &value)| column.get(at) == value));
        for value in values {
            (0..values.len()).for_each(|at| column.set(at, value));
            assert!((0..values.len()).all(|at| column.get(at) == value), "{value}");
        }
    }

    #[test]
    fn stamps_come_back_whatever_their_neighbours_are() {
        let stamps = [NO_NS, 0, FURTHEST_NS, -FURTHEST_NS, 1_795_224_170_658_193_000, 5, NO_NS];
        let mut column = Moments::new();
        let nth = |at: usize| stamps[at * 31 % stamps.len()];
        (0..1000).for_each(|at| column.put(at, nth(at)));
        assert!((0..1000).all(|at| column.get(at) == nth(at)));
        (0..1000).for_each(|at| column.set(at, nth(at + 1)));
        assert!((0..1000).all(|at| column.get(at) == nth(at + 1)));
    }
}
