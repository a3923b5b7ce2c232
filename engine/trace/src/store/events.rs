//! The event table: one row per event, in columns; see `segment.rs`.
//!
//! Rows lie in segments of fixed size that never move, so a growing table costs no copy and a row can be completed when
//! the second half of its call comes.

use crate::store::event::{Ending, Event, EventKind, SEGMENT_ROWS, Shape};
use crate::store::events::shape_numbers::ShapeNumbers;
use crate::store::facts::{Facts, PolledTargets, ReadyTarget, Sink};
use crate::store::heuristics::{MAX_MOVED_BYTES, MIN_HIGH_FD, MIN_HIGH_FDS};
use crate::store::index::{ShapeId, TaskId, TiSlice, TiVec};
use crate::store::normalise;
use crate::store::scratch::Scratch;
use crate::store::segment::{Endings, EventSegment, SegmentCalls};
use crate::store::stacks::Stacks;
use parsers::facts::{Fds, Sender, Timeout};
use parsers::syscalls::{self, Action, Wait, action_of};
use parsers::{DurKind, Interner, NO_ID, NO_NS, Outcome, Text};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;
mod shape_numbers;

/// Number of segments that stay in memory when the others are in a file. Nearly all rows that change are in them.
const SEGMENTS_IN_MEMORY: usize = 2;

/// All events of a trace, in the order of their first lines (of their stamps where files were merged).
#[derive(Default)]
pub struct EventTable {
    segments: Vec<EventSegment>,
    /// The file for all rows but the last ones; see [`EventTable::keep_rows_in`].
    scratch: Option<Arc<Scratch>>,
    /// The texts of shapes and targets.
    pub texts: Interner,
    shapes: ShapeNumbers,
    /// Normalised target of each text, by number; 0xFFFF_FFFF if not computed yet.
    normalised: Vec<Text>,
    /// A buffer for the normalised form of a text.
    normal_form: Vec<u8>,
    /// What is known of few rows only.
    pub facts: Facts,
    /// By task, the high descriptors that it closed or marked one after the other although they are not open.
    pub high_fds: FxHashMap<TaskId, HighFds>,
    /// Paths of UNIX sockets that are printed by the numbers of their ends.
    pub socket_paths: FxHashMap<Text, Text>,
    /// The pipes that calls of the capture write to, if data is also spliced out of pipes.
    written_pipes: FxHashSet<Text>,
    /// The stacks that the tracer printed with events.
    pub stacks: Stacks,
    /// Line of the second half, by row, if a call was split; 0 until it is read.
    pub ends: Vec<(u32, u32)>,
    /// The start of the last row.
    last_start_ns: i64,
    /// Some row starts before the previous one of the same capture.
    has_steps_back: bool,
}

/// Consecutive descriptors that are not open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HighFds {
    last: i32,
    consecutive: u32,
    /// The highest of them, if there are enough for a sweep; else 0.
    pub highest: i32,
}

impl HighFds {
    /// A call on this descriptor failed.
    fn fails(&mut self, fd: i32) {
        let is_next = self.last.abs_diff(fd) == 1;
        (self.last, self.consecutive) = (fd, if is_next { self.consecutive + 1 } else { 1 });
        if self.consecutive >= MIN_HIGH_FDS {
            self.highest = self.highest.max(fd);
        }
    }
}

impl EventTable {
    /// A call of a task closed or marked a descriptor that is not open.
    pub fn not_open(&mut self, task: TaskId, fd: i32) {
        if fd >= MIN_HIGH_FD {
            self.high_fds.entry(task).or_default().fails(fd);
        }
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> u32 {
        self.segments.last().map_or(0, |last| {
            ((self.segments.len() - 1) * SEGMENT_ROWS + last.len()) as u32
        })
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Add a row and return its number. On the hot path of reading, all fields of a row are in registers.
    #[inline(always)]
    pub fn push(&mut self, event: &Event) -> u32 {
        self.has_steps_back |= event.start_ns < self.last_start_ns;
        self.last_start_ns = event.start_ns;
        if self
            .segments
            .last()
            .is_none_or(|last| last.len() >= SEGMENT_ROWS)
        {
            self.begin_segment();
        }
        let number = self.segments.len() - 1;
        let last = &mut self.segments[number];
        last.push(event);
        (number * SEGMENT_ROWS + last.len() - 1) as u32
    }

    /// The following rows are from another capture.
    pub(crate) fn begin_capture(&mut self) {
        self.last_start_ns = i64::MIN;
    }

    /// Whether the rows of each capture are in the order of their starts.
    pub(crate) fn is_in_order(&self) -> bool {
        !self.has_steps_back
    }

    /// Add an empty segment. The columns used in one segment are usually used in the next ones, too.
    #[cold]
    fn begin_segment(&mut self) {
        self.store_old_rows();
        self.segments
            .push(EventSegment::new(!self.segments.is_empty()));
    }

    /// Keep all rows but the last ones in a file, and drop what only waits and tables need: the table then takes hardly
    /// more memory for many rows than for few, and is good for reading its rows only.
    pub(crate) fn keep_rows_in(&mut self, scratch: &Arc<Scratch>) {
        self.scratch = Some(Arc::clone(scratch));
    }

    fn store_old_rows(&mut self) {
        let Some(scratch) = &self.scratch else { return };
        let old = self
            .segments
            .len()
            .checked_sub(SEGMENTS_IN_MEMORY)
            .and_then(|old| self.segments.get_mut(old));
        if let Some(Err(error)) = old.map(|segment| segment.store(scratch)) {
            scratch.fails(error);
        }
        self.facts.drop_details();
    }

    /// Load the rows of a segment that is in a file.
    pub fn load_segment(&self, number: usize) {
        self.segments[number].load();
    }

    /// Free the memory of a loaded segment.
    pub fn unload_segment(&mut self, number: usize) {
        self.segments[number].unload();
    }

    #[inline]
    fn place(&self, row: u32) -> (&EventSegment, usize) {
        (
            &self.segments[row as usize / SEGMENT_ROWS],
            row as usize % SEGMENT_ROWS,
        )
    }

    /// A whole row.
    pub fn event(&self, row: u32) -> Event {
        let (segment, at) = self.place(row);
        segment.event(at)
    }

    /// Complete a row, when the second half of its call or its end is read.
    #[inline]
    pub(crate) fn end(&mut self, row: u32, ending: &Ending) {
        self.segments[row as usize / SEGMENT_ROWS].end(row as usize % SEGMENT_ROWS, ending);
    }

    /// Mark the row as a first half. Returns the handle for the second half. So the list is in order without being
    /// sorted.
    #[inline]
    pub(crate) fn begin_half(&mut self, row: u32) -> u32 {
        self.ends.push((row, 0));
        (self.ends.len() - 1) as u32
    }

    /// Record the line of the second half.
    #[inline]
    pub(crate) fn end_half(&mut self, half: u32, line: u32) {
        if let Some(end) = self.ends.get_mut(half as usize) {
            end.1 = line;
        }
    }

    /// Sort the sparse columns by row: a call that ends late was added late.
    pub(crate) fn order_lists(&mut self) {
        self.order_columns();
        self.facts.order();
        self.ends.retain(|&(_, line)| line != 0);
        self.written_pipes = self.find_written_pipes();
    }

    /// Sort the sparse columns of the rows themselves.
    pub(crate) fn order_columns(&mut self) {
        self.facts.order_kind::<Timeout>();
        self.stacks.finish();
    }

    /// Empty if no call moves data out of a pipe: nearly no program does.
    fn find_written_pipes(&self) -> FxHashSet<Text> {
        let is_pipe = |target: Text| self.texts.bytes(target).starts_with(b"pipe:");
        let moves = |row: u32| self.action(row) == Action::Splices;
        if !self
            .facts
            .all::<Sink>()
            .iter()
            .any(|&(row, _)| moves(row) && is_pipe(self.target(row)))
        {
            return FxHashSet::default();
        }
        let is_write: TiVec<ShapeId, bool> = self
            .shapes()
            .iter()
            .map(|shape| action_of(shape.syscall) == Action::Writes && is_pipe(shape.target))
            .collect();
        let written = self
            .calls_of_shapes(&is_write)
            .into_iter()
            .flatten()
            .map(|(row, _)| self.target(row));
        written
            .chain(self.facts.all::<Sink>().iter().map(|&(_, sink)| sink))
            .filter(|&target| is_pipe(target))
            .collect()
    }

    /// The descriptor that a call filled from a pipe, if the data was in the pipe: a call of the capture wrote it there,
    /// and a wait for that call is charged to it.
    ///
    /// ```text
    /// splice /data -> pipe | splice pipe -> /copy       the second one works on /copy
    /// ```
    pub fn filled_from_pipe(&self, row: u32) -> Option<Text> {
        if self.written_pipes.is_empty() || self.action(row) != Action::Splices {
            return None;
        }
        Some(self.sink(row))
            .filter(|sink| sink.is_some() && self.written_pipes.contains(&self.target(row)))
    }

    /// Replace the starts of these rows by a function that keeps their order.
    pub(crate) fn move_starts(&mut self, rows: Range<u32>, moved_ns: impl Fn(i64) -> i64) {
        for row in rows {
            let start_ns = moved_ns(self.start_ns(row));
            self.segments[row as usize / SEGMENT_ROWS]
                .set_start(row as usize % SEGMENT_ROWS, start_ns);
        }
    }

    /// A row began at another time than its line suggests.
    pub(crate) fn set_start(&mut self, row: u32, start_ns: i64) {
        self.segments[row as usize / SEGMENT_ROWS].set_start(row as usize % SEGMENT_ROWS, start_ns);
        self.has_steps_back = true;
    }

    /// Set the duration of a row.
    pub fn set_dur(&mut self, row: u32, dur_ns: i64, dur_kind: DurKind) {
        self.segments[row as usize / SEGMENT_ROWS].set_dur(
            row as usize % SEGMENT_ROWS,
            dur_ns,
            dur_kind,
        );
    }

    /// The start of a row; [`NO_NS`] without a clock.
    #[inline]
    pub fn start_ns(&self, row: u32) -> i64 {
        let (segment, at) = self.place(row);
        segment.start_ns(at)
    }

    /// The duration of a row; [`NO_NS`] if unknown.
    #[inline]
    pub fn dur_ns(&self, row: u32) -> i64 {
        let (segment, at) = self.place(row);
        segment.dur_ns(at)
    }

    /// The CPU time of a row, as the tracer prints it; [`NO_NS`] if it does not.
    #[inline]
    pub fn cpu_ns(&self, row: u32) -> i64 {
        let (segment, at) = self.place(row);
        segment.cpu_ns(at)
    }

    /// The end of a row, if start and duration are known.
    #[inline]
    pub fn end_ns(&self, row: u32) -> Option<i64> {
        let (start_ns, dur_ns) = (self.start_ns(row), self.dur_ns(row));
        (start_ns != NO_NS && dur_ns != NO_NS).then(|| start_ns.saturating_add(dur_ns))
    }

    /// Start and duration of a call, [`NO_NS`] if the duration is unknown. None for other rows, and without a clock.
    #[inline]
    pub(crate) fn call_ns(&self, row: u32) -> Option<(i64, i64)> {
        let (segment, at) = self.place(row);
        segment.calls().call_ns(at)
    }

    /// The same for all rows of a segment.
    #[inline]
    pub(crate) fn calls_of_segment(&self, number: u32) -> SegmentCalls<'_> {
        self.segments[number as usize].calls()
    }

    /// Value returned; [`NO_NS`] if none.
    #[inline]
    pub fn ret(&self, row: u32) -> i64 {
        let (segment, at) = self.place(row);
        segment.ret(at)
    }

    /// Whether a log message reports that the previous one was repeated: the log was not silent in between.
    pub fn is_repeat(&self, row: u32) -> bool {
        self.kind(row) == EventKind::Log && self.ret(row) != NO_NS
    }

    /// Line of a row in its file.
    #[inline]
    pub fn line(&self, row: u32) -> u32 {
        let (segment, at) = self.place(row);
        segment.line(at)
    }

    /// Task of a row.
    #[inline]
    pub fn task(&self, row: u32) -> TaskId {
        let (segment, at) = self.place(row);
        segment.task(at)
    }

    /// Number of a row's shape.
    #[inline]
    pub fn shape_number(&self, row: u32) -> ShapeId {
        let (segment, at) = self.place(row);
        segment.shape(at)
    }

    /// Task numbers as stored, one slice per segment.
    pub(crate) fn task_pieces(&self) -> Vec<&[u32]> {
        self.segments
            .iter()
            .map(|segment| segment.shapes_and_tasks().1)
            .collect()
    }

    /// Counts of the given rows by kind and outcome.
    pub fn endings(&self, counts: impl Fn(u32) -> bool + Sync) -> Endings {
        let merged = |a: Endings, b: Endings| Endings(std::array::from_fn(|at| a.0[at] + b.0[at]));
        let of_segment = |(number, segment): (usize, &EventSegment)| {
            let first_row = (number * SEGMENT_ROWS) as u32;
            segment.endings(|at| counts(first_row + at as u32))
        };
        self.segments
            .par_iter()
            .enumerate()
            .map(of_segment)
            .reduce(Endings::default, merged)
    }

    /// The calls of the selected shapes, each with the number of its shape: in order, one list per segment,
    /// found on all cores.
    pub fn calls_of_shapes(&self, is_chosen: &TiSlice<ShapeId, bool>) -> Vec<Vec<(u32, ShapeId)>> {
        self.calls_of_shapes_from(0, is_chosen)
    }

    /// The same for the rows from this one on.
    pub(crate) fn calls_of_shapes_from(
        &self,
        first: u32,
        is_chosen: &TiSlice<ShapeId, bool>,
    ) -> Vec<Vec<(u32, ShapeId)>> {
        if !is_chosen.contains(&true) {
            return Vec::new();
        }
        let of_segment = |(number, segment): (usize, &EventSegment)| {
            let rows = ((number * SEGMENT_ROWS) as u32..).zip(
                segment
                    .shapes_and_tasks()
                    .0
                    .iter()
                    .copied()
                    .map(ShapeId::new),
            );
            let chosen = rows.filter(|&(_, shape)| is_chosen.get(shape) == Some(&true));
            chosen
                .filter(|&(row, _)| row >= first && self.kind(row) == EventKind::Call)
                .collect()
        };
        self.segments
            .par_iter()
            .enumerate()
            .skip(first as usize / SEGMENT_ROWS)
            .map(of_segment)
            .collect()
    }

    /// Shape of a row.
    #[inline]
    pub fn shape(&self, row: u32) -> Shape {
        self.shapes()[self.shape_number(row)]
    }

    /// All shapes, by number.
    pub fn shapes(&self) -> &TiSlice<ShapeId, Shape> {
        self.shapes.shapes()
    }

    /// Maps each shape to the first shape that differs from it at most in outcome and error.
    pub fn twins(&self) -> TiVec<ShapeId, ShapeId> {
        self.shapes.twins()
    }

    /// The target of a row, as printed.
    #[inline]
    pub fn target(&self, row: u32) -> Text {
        let (segment, at) = self.place(row);
        segment.target(at)
    }

    /// What a row works on, or waited for: of a poll of several descriptors, the one that was ready.
    pub fn waited_target(&self, row: u32) -> Text {
        if let Some(sink) = self.filled_from_pipe(row) {
            return sink;
        }
        let target = self.target(row);
        if !target.is_some() && self.action(row).wait() == Some(Wait::Poll) {
            return self
                .only_polled(row)
                .unwrap_or_else(|| self.ready_target(row));
        }
        // An epoll has a name of its own.
        let has_ready = !self.facts.all::<ReadyTarget>().is_empty();
        if !has_ready || (target.is_some() && self.action(row) != Action::PollsEpoll) {
            return target;
        }
        self.facts
            .get::<ReadyTarget>(row)
            .copied()
            .unwrap_or(target)
    }

    /// What a poll waits for, if that is one descriptor.
    fn only_polled(&self, row: u32) -> Option<Text> {
        let is_one = self.facts.get::<Fds>(row).is_some_and(|fds| fds.len() == 1);
        let only = self.polled(row).first().filter(|_| is_one);
        only.copied()
    }

    fn ready_target(&self, row: u32) -> Text {
        let ready = self.facts.get::<ReadyTarget>(row);
        ready.copied().unwrap_or(Text::NONE)
    }

    /// The kind of a row.
    #[inline]
    pub fn kind(&self, row: u32) -> EventKind {
        let (segment, at) = self.place(row);
        segment.kind(at)
    }

    /// The outcome of a row.
    #[inline]
    pub fn outcome(&self, row: u32) -> Outcome {
        let (segment, at) = self.place(row);
        segment.outcome(at)
    }

    /// The kind of a row's duration.
    #[inline]
    pub fn dur_kind(&self, row: u32) -> DurKind {
        let (segment, at) = self.place(row);
        segment.dur_kind(at)
    }

    /// The second target of a row that moves data from its first target.
    pub fn sink(&self, row: u32) -> Text {
        self.facts.get::<Sink>(row).copied().unwrap_or(Text::NONE)
    }

    /// The action of a row's syscall.
    #[inline]
    pub fn action(&self, row: u32) -> Action {
        action_of(self.shape(row).syscall)
    }

    /// Bytes that a row moved, if its syscall returns that. More than a call can move is a damaged line.
    pub fn bytes(&self, row: u32) -> Option<i64> {
        let ret = self.ret(row);
        let moves =
            ret >= 0 && self.outcome(row) == Outcome::Ok && self.action(row).returns_bytes();
        moves.then_some(ret.min(MAX_MOVED_BYTES))
    }

    /// The maximum duration that a call requested, if it is known: a sleep, or a wait with a timeout.
    pub fn requested_ns(&self, row: u32) -> Option<i64> {
        self.facts
            .get::<Timeout>(row)
            .copied()
            .filter(|&ns| ns != NO_NS)
    }

    /// The process that sent a signal, or the child that it reports; [`NO_ID`] if that is not printed.
    pub fn sender(&self, row: u32) -> i32 {
        self.facts.get::<Sender>(row).copied().unwrap_or(NO_ID)
    }

    /// The targets of the descriptors of a poll, as far as they are known.
    pub fn polled(&self, row: u32) -> &[Text] {
        self.facts
            .get::<PolledTargets>(row)
            .map_or(&[][..], |targets| targets)
    }

    /// Whether a poll has no descriptors: it waits only for time.
    pub fn polls_nothing(&self, row: u32) -> bool {
        self.facts.get::<Fds>(row).is_some_and(|fds| fds.is_empty())
    }

    /// Whether a poll is a sleep: it has no descriptors, but a timeout. Without a timeout it waits for a signal.
    pub fn only_sleeps(&self, row: u32) -> bool {
        self.polls_nothing(row) && self.requested_ns(row).is_some()
    }

    /// The number of a shape, which is added if it is new.
    pub fn shape_of(
        &mut self,
        syscall: Text,
        op: Text,
        target: Text,
        errno: Text,
        outcome: Outcome,
    ) -> ShapeId {
        let target = if syscalls::targets_process(syscall) {
            self.normal_id(target)
        } else {
            self.normal(target)
        };
        self.shapes.number(Shape {
            syscall,
            op,
            target,
            errno,
            outcome,
        })
    }

    /// The normalised form of the id of a process, however short it is: in a container, all are.
    fn normal_id(&mut self, target: Text) -> Text {
        match normalise::normalise_id(self.texts.bytes(target)) {
            Some(normal) => self.texts.add(normal),
            None => self.normal(target),
        }
    }

    /// The normalised form of a target.
    pub fn normal(&mut self, target: Text) -> Text {
        const UNKNOWN: Text = Text(u32::MAX);
        let at = target.0 as usize;
        if at >= self.normalised.len() {
            self.normalised.resize(at + 1, UNKNOWN);
        }
        if self.normalised[at] == UNKNOWN {
            let is_changed =
                normalise::normalise_into(self.texts.bytes(target), &mut self.normal_form);
            self.normalised[at] = if is_changed {
                self.texts.add(&self.normal_form)
            } else {
                target
            };
        }
        self.normalised[at]
    }
}
