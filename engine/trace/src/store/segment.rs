//! Consecutive rows of the event table in columns, about 29 bytes per row.
//!
//! Most numbers of a capture are small: durations below a second, return values below 10^9, timestamps close to those
//! of the rows before. They take four bytes. The few large ones are in a separate list next to the column.

use crate::store::columns_mmap::{Columns, Room, Word};
use crate::store::event::{Ending, Event, EventKind, SEGMENT_ROWS};
use crate::store::index::{ShapeId, TaskId};
use crate::store::scratch::Scratch;
use crate::store::side_column::SideColumn;
use parsers::{DurKind, NO_NS, Outcome, Text};
use std::io;
use std::sync::Arc;

/// The large numbers of a column of mostly small numbers.
#[derive(Default)]
struct Large(Vec<i64>);

impl Large {
    /// Numbers in the range from minus this value to below this value are small.
    const SMALL: i64 = 1 << 30;
    /// A large number is encoded as its index in the list with this bit set.
    const LARGE: u32 = 1 << 31;
    const NONE: u32 = u32::MAX;

    #[inline]
    fn small_code(value: i64) -> Option<u32> {
        match value {
            NO_NS => Some(Large::NONE),
            value if (-Large::SMALL..Large::SMALL).contains(&value) => {
                Some((value + Large::SMALL) as u32)
            }
            _ => None,
        }
    }

    /// The column's code for a number.
    #[inline]
    fn code(&mut self, value: i64) -> u32 {
        Large::small_code(value).unwrap_or_else(|| self.add(value))
    }

    #[cold]
    fn add(&mut self, value: i64) -> u32 {
        self.0.push(value);
        (self.0.len() - 1) as u32 | Large::LARGE
    }

    /// The same for a number that replaces the one with this code.
    #[inline]
    fn recode(&mut self, before: u32, value: i64) -> u32 {
        match Large::small_code(value) {
            Some(code) => code,
            None if before & Large::LARGE != 0 && before != Large::NONE => {
                self.0[(before & !Large::LARGE) as usize] = value;
                before
            }
            None => self.add(value),
        }
    }

    #[inline]
    fn value(&self, code: u32) -> i64 {
        match code {
            Large::NONE => NO_NS,
            code if code & Large::LARGE == 0 => i64::from(code) - Large::SMALL,
            code => self.0[(code & !Large::LARGE) as usize],
        }
    }
}

/// Timestamps are stored as differences to the first one in each block of this many rows.
const STAMP_ROWS: usize = 64;

/// The rows.
pub(crate) struct EventSegment {
    len: usize,
    room: Room,
    firsts_ns: Vec<i64>,
    large_since_ns: Large,
    large_dur_ns: Large,
    large_ret: Large,
    /// Empty if no row has a CPU time.
    cpu_ns: SideColumn<i64>,
    /// Empty if all rows are from file 0.
    file: SideColumn<u32>,
}

impl EventSegment {
    /// If the segment will be full, all of its memory is requested at once.
    pub(crate) fn new(fills: bool) -> EventSegment {
        EventSegment {
            len: 0,
            room: Room::new(fills),
            firsts_ns: Vec::with_capacity(SEGMENT_ROWS / STAMP_ROWS),
            large_since_ns: Large::default(),
            large_dur_ns: Large::default(),
            large_ret: Large::default(),
            cpu_ns: SideColumn::default(),
            file: SideColumn::default(),
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Add a row, if there is room for one.
    #[inline(always)]
    pub(crate) fn push(&mut self, event: &Event) {
        let at = self.len;
        assert!(at < SEGMENT_ROWS, "a full segment");
        self.len += 1;
        let since_ns = self.since_first_ns(at, event.start_ns);
        let columns = self.room.columns_mut();
        columns.since_ns[at] = self.large_since_ns.code(since_ns);
        columns.dur_ns[at] = self.large_dur_ns.code(event.dur_ns);
        columns.ret[at] = self.large_ret.code(event.ret);
        columns.line[at] = event.line;
        columns.task[at] = event.task.raw();
        columns.shape[at] = event.shape.raw();
        columns.target[at] = event.target.0;
        columns.flags[at] = flags(event.kind, event.outcome, event.dur_kind);
        if event.cpu_ns != NO_NS {
            self.set_cpu(at, event.cpu_ns);
        }
        if event.file != 0 || self.file.len() != 0 {
            let files = self.file.in_memory();
            files.resize(at, 0);
            files.push(event.file);
        }
    }

    /// The stored form of the next row's timestamp. Timestamps are bounded on input, so that no difference is
    /// [`NO_NS`].
    #[inline]
    fn since_first_ns(&mut self, at: usize, stamp_ns: i64) -> i64 {
        if at.is_multiple_of(STAMP_ROWS) {
            let last_ns = self.firsts_ns.last().copied().unwrap_or(0);
            self.firsts_ns
                .push(if stamp_ns == NO_NS { last_ns } else { stamp_ns });
        }
        if stamp_ns == NO_NS {
            NO_NS
        } else {
            stamp_ns.wrapping_sub(self.firsts_ns[at / STAMP_ROWS])
        }
    }

    /// Counts of the given rows by kind and outcome.
    pub(crate) fn endings(&self, counts: impl Fn(usize) -> bool) -> Endings {
        let mut endings = Endings::default();
        let flags = self.room.columns().flags[..self.len]
            .iter()
            .enumerate()
            .filter(|&(at, _)| counts(at));
        flags.for_each(|(_, flags)| endings.0[usize::from(flags & 0x3f)] += 1);
        endings
    }

    /// Numbers of the shapes and of the tasks.
    #[inline]
    pub(crate) fn shapes_and_tasks(&self) -> (&[u32], &[u32]) {
        let columns = self.room.columns();
        (
            &columns.shape.rows[..self.len],
            &columns.task.rows[..self.len],
        )
    }

    /// Complete a row.
    #[inline]
    pub(crate) fn end(&mut self, at: usize, ending: &Ending) {
        let kind = self.kind(at);
        let room = &mut self.room;
        room.set_word(
            Word::Dur,
            at,
            self.large_dur_ns
                .recode(room.word(Word::Dur, at), ending.dur_ns),
        );
        room.set_word(
            Word::Ret,
            at,
            self.large_ret.recode(room.word(Word::Ret, at), ending.ret),
        );
        room.set_word(Word::Shape, at, ending.shape.raw());
        room.set_word(Word::Target, at, ending.target.0);
        room.set_flags(at, flags(kind, ending.outcome, ending.dur_kind));
        self.set_cpu(at, ending.cpu_ns);
    }

    pub(crate) fn set_start(&mut self, at: usize, start_ns: i64) {
        let since_ns = start_ns.wrapping_sub(self.firsts_ns[at / STAMP_ROWS]);
        self.room.set_word(
            Word::Since,
            at,
            self.large_since_ns
                .recode(self.room.word(Word::Since, at), since_ns),
        );
    }

    pub(crate) fn set_dur(&mut self, at: usize, dur_ns: i64, dur_kind: DurKind) {
        self.room.set_word(
            Word::Dur,
            at,
            self.large_dur_ns
                .recode(self.room.word(Word::Dur, at), dur_ns),
        );
        self.room
            .set_flags(at, self.room.flags(at) & 0x3f | (dur_kind as u8) << 6);
    }

    fn set_cpu(&mut self, at: usize, cpu_ns: i64) {
        if cpu_ns == NO_NS && self.cpu_ns.len() <= at {
            return;
        }
        if self.cpu_ns.len() <= at {
            let cpu_ns = self.cpu_ns.in_memory();
            cpu_ns.reserve_exact(SEGMENT_ROWS - cpu_ns.len());
            cpu_ns.resize(at + 1, NO_NS);
        }
        self.cpu_ns.set(at, cpu_ns);
    }

    /// Move the rows to a file. Only rows that exist can be changed from then on.
    ///
    /// # Errors
    /// If they cannot be written. Those that were not stay in memory.
    pub(crate) fn store(&mut self, scratch: &Arc<Scratch>) -> io::Result<()> {
        self.room.store(scratch)?;
        self.cpu_ns.store(scratch)?;
        self.file.store(scratch)
    }

    /// Load all rows from the file, for callers that read many.
    pub(crate) fn load(&self) {
        self.room.columns();
        self.cpu_ns.load();
        self.file.load();
    }

    /// Free the memory of loaded rows.
    pub(crate) fn unload(&mut self) {
        self.room.unload();
        self.cpu_ns.unload();
        self.file.unload();
    }

    pub(crate) fn event(&self, at: usize) -> Event {
        Event {
            start_ns: self.start_ns(at),
            dur_ns: self.dur_ns(at),
            cpu_ns: self.cpu_ns(at),
            ret: self.ret(at),
            line: self.line(at),
            file: self.file.get(at).unwrap_or(0),
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
        match self.large_since_ns.value(self.room.word(Word::Since, at)) {
            NO_NS => NO_NS,
            since_ns => since_ns.wrapping_add(self.firsts_ns[at / STAMP_ROWS]),
        }
    }

    #[inline]
    pub(crate) fn cpu_ns(&self, at: usize) -> i64 {
        self.cpu_ns.get(at).unwrap_or(NO_NS)
    }

    #[inline]
    pub(crate) fn dur_ns(&self, at: usize) -> i64 {
        self.large_dur_ns.value(self.room.word(Word::Dur, at))
    }

    /// Start and duration of all rows.
    #[inline]
    pub(crate) fn calls(&self) -> SegmentCalls<'_> {
        SegmentCalls {
            columns: self.room.columns(),
            segment: self,
        }
    }

    #[inline]
    pub(crate) fn ret(&self, at: usize) -> i64 {
        self.large_ret.value(self.room.word(Word::Ret, at))
    }

    #[inline]
    pub(crate) fn line(&self, at: usize) -> u32 {
        self.room.word(Word::Line, at)
    }

    #[inline]
    pub(crate) fn task(&self, at: usize) -> TaskId {
        TaskId::new(self.room.word(Word::Task, at))
    }

    #[inline]
    pub(crate) fn shape(&self, at: usize) -> ShapeId {
        ShapeId::new(self.room.word(Word::Shape, at))
    }

    #[inline]
    pub(crate) fn target(&self, at: usize) -> Text {
        Text(self.room.word(Word::Target, at))
    }

    #[inline]
    pub(crate) fn kind(&self, at: usize) -> EventKind {
        EventKind::ALL[(self.room.flags(at) & 7) as usize]
    }

    #[inline]
    pub(crate) fn outcome(&self, at: usize) -> Outcome {
        Outcome::ALL[(self.room.flags(at) >> 3 & 7) as usize]
    }

    #[inline]
    pub(crate) fn dur_kind(&self, at: usize) -> DurKind {
        DurKind::ALL[(self.room.flags(at) >> 6) as usize]
    }
}

/// Start and duration of rows, for callers that read many.
pub(crate) struct SegmentCalls<'segment> {
    columns: &'segment Columns,
    segment: &'segment EventSegment,
}

impl SegmentCalls<'_> {
    /// Start and duration of a call, [`NO_NS`] if the duration is unknown. None for other rows, and without a clock.
    #[inline]
    pub(crate) fn call_ns(&self, at: usize) -> Option<(i64, i64)> {
        let (since, dur) = (self.columns.since_ns[at], self.columns.dur_ns[at]);
        let is_call = self.columns.flags[at] & 7 == EventKind::Call as u8;
        if (since | dur) & Large::LARGE != 0 || !is_call {
            return if is_call {
                self.large_call_ns(at)
            } else {
                None
            };
        }
        let first_ns = self.segment.firsts_ns[at / STAMP_ROWS];
        Some((
            (i64::from(since) - Large::SMALL).wrapping_add(first_ns),
            i64::from(dur) - Large::SMALL,
        ))
    }

    #[cold]
    fn large_call_ns(&self, at: usize) -> Option<(i64, i64)> {
        let since_ns = self.segment.large_since_ns.value(self.columns.since_ns[at]);
        let start_ns = since_ns.wrapping_add(self.segment.firsts_ns[at / STAMP_ROWS]);
        (since_ns != NO_NS).then(|| {
            (
                start_ns,
                self.segment.large_dur_ns.value(self.columns.dur_ns[at]),
            )
        })
    }
}

/// Counts of rows by kind and outcome.
pub struct Endings(pub [u64; 64]);

impl Default for Endings {
    fn default() -> Endings {
        Endings([0; 64])
    }
}

impl Endings {
    /// The number of rows of a kind with this outcome.
    pub fn of(&self, kind: EventKind, outcome: Outcome) -> u64 {
        self.0[usize::from(flags(kind, outcome, DurKind::ALL[0]) & 0x3f)]
    }

    /// The number of rows of a kind.
    pub fn of_kind(&self, kind: EventKind) -> u64 {
        Outcome::ALL
            .iter()
            .map(|&outcome| self.of(kind, outcome))
            .sum()
    }
}

#[inline]
fn flags(kind: EventKind, outcome: Outcome, dur_kind: DurKind) -> u8 {
    kind as u8 | (outcome as u8) << 3 | (dur_kind as u8) << 6
}

#[cfg(test)]
mod tests {
    use super::*;

    const FURTHEST_NS: i64 = (1 << 62) - 1;

    #[test]
    fn numbers_of_any_size_come_back_also_when_written_anew() {
        let values = [
            0,
            1,
            -1,
            NO_NS,
            i64::MAX,
            i64::MIN + 1,
            (1 << 30) - 1,
            1 << 30,
            -(1 << 30),
            -(1 << 30) - 1,
        ];
        let mut large = Large::default();
        let mut codes = values.map(|value| large.code(value));
        assert_eq!(codes.map(|code| large.value(code)), values);
        for value in values {
            codes = codes.map(|code| large.recode(code, value));
            assert_eq!(codes.map(|code| large.value(code)), [value; 10]);
        }
        assert_eq!(
            large.0.len(),
            4 + 3 * 10,
            "a large number takes the place of another one"
        );
    }

    #[test]
    fn stamps_come_back_whatever_their_neighbours_are() {
        let stamps = [
            NO_NS,
            0,
            FURTHEST_NS,
            -FURTHEST_NS,
            1_795_224_170_658_193_000,
            5,
            NO_NS,
        ];
        for fills in [false, true] {
            let mut segment = EventSegment::new(fills);
            let nth = |at: usize| stamps[at * 31 % stamps.len()];
            (0..1000).for_each(|at| {
                segment.push(&Event::begun(
                    nth(at),
                    at as u32,
                    0,
                    TaskId::new(7),
                    Text::NONE,
                ))
            });
            assert!(
                (0..1000)
                    .all(|at| segment.start_ns(at) == nth(at) && segment.line(at) == at as u32)
            );
        }
    }
}
