//! The fast path for calls and halves of calls with a known body: most lines of most captures.
//!
//! It does with such a line what [`Assembler::line`] does, and nothing else. A test compares both.

use crate::ingest::assemble::{Assembler, OpenCall};
use crate::ingest::clock::bounded_ns;
use crate::ingest::connecting::reports_connect;
use crate::ingest::descriptors::{DescriptorEffect, Descriptors, is_bare};
use crate::store::event::{Event, EventKind, NONE};
use crate::store::index::{OwnTask, ShapeId, TaskId};
use crate::store::numbers::{OpenPlace, Row};
use crate::store::recent_lines::LinePlace;
use crate::store::resolution::is_coarse;
use crate::store::trace::Trace;
use parsers::syscalls::{Action, action_of};
use parsers::{
    CallPart, CaptureFacts, Content, DurKind, Interner, Line, LineKind, LineRef, NO_ID, NO_NS,
    Outcome, StampMoment, Text,
};

/// The content of a line that adds a row and has no other effect, except on what its descriptor refers to.
#[derive(Clone, Copy)]
pub(super) struct FastPath {
    ret: i64,
    /// Of a whole call; that of two halves is known when they are joined.
    shape: ShapeId,
    name: Text,
    op: Text,
    target: Text,
    errno: Text,
    fd: i32,
    outcome: Outcome,
    part: CallPart,
    /// What it does to descriptors.
    effect: DescriptorEffect,
}

impl FastPath {
    /// A line with this content only.
    fn line(&self, kind: LineKind) -> Line {
        let FastPath {
            ret,
            name,
            op,
            target,
            errno,
            fd,
            outcome,
            part,
            ..
        } = *self;
        Line {
            ret,
            name,
            op,
            target,
            errno,
            fd,
            outcome,
            part,
            ..Line::of(kind)
        }
    }

    /// What the call does to the descriptors of its task. It works on this one.
    #[inline]
    fn affect(
        &self,
        descriptors: &mut Descriptors,
        task: OwnTask,
        fd: i32,
        texts: &mut Interner,
        line: impl FnOnce() -> Line,
    ) {
        match self.effect {
            DescriptorEffect::None => {}
            DescriptorEffect::Closes => descriptors.close(task, fd),
            DescriptorEffect::Opens => descriptors.open(task, self.ret, self.target),
            DescriptorEffect::Other => descriptors.completed(task, &line(), None, texts),
        }
    }
}

/// The number of a line's body and its content, if the fast path applies.
#[inline]
fn plain_body<'a>(
    known: &'a [Option<FastPath>],
    line_ref: &LineRef,
) -> Option<(u32, &'a FastPath)> {
    let Content::Cached(body) = line_ref.content else {
        return None;
    };
    known
        .get(body as usize)?
        .as_ref()
        .map(|plain| (body, plain))
}

/// Any stretch of time joined with this one is itself.
const NEVER_NS: (i64, i64) = (i64::MAX, i64::MIN);

/// Consecutive lines of the fast path: the place of the last one, and the changes to the capture.
struct Passed {
    at: LinePlace,
    whole: Counted,
    begun: Counted,
    resumed: Counted,
    /// From when to when something happened in them.
    stretch_ns: (i64, i64),
}

impl Passed {
    /// No lines yet. The first one comes after this place.
    fn new(at: LinePlace) -> Passed {
        Passed {
            at,
            whole: Counted::default(),
            begun: Counted::default(),
            resumed: Counted::default(),
            stretch_ns: NEVER_NS,
        }
    }

    /// One more; the number of its line.
    #[inline]
    fn next(&mut self) -> u32 {
        self.at.line = self.at.line.saturating_add(1);
        self.at.line
    }

    #[inline]
    fn lived(&mut self, from_ns: i64, to_ns: i64) {
        self.stretch_ns = (self.stretch_ns.0.min(from_ns), self.stretch_ns.1.max(to_ns));
    }
}

/// How many lines of a kind, and the first one's number.
#[derive(Default)]
struct Counted {
    lines: u64,
    first: u32,
}

impl Counted {
    #[inline]
    fn count(&mut self, line: u32) {
        if self.lines == 0 {
            self.first = line;
        }
        self.lines += 1;
    }
}

/// Whether calls of such a capture can be plain: start and duration are as printed, and so are ids.
pub(super) fn can_be(facts: &CaptureFacts) -> bool {
    let is_printed = facts.stamp == StampMoment::Start && facts.has_durations && !is_coarse(facts);
    is_printed && !facts.ids_optional && !facts.mixes_threads
}

/// The part of a call that a line holds, if such a line can be plain.
fn part(line: &Line) -> Option<CallPart> {
    match (line.kind, line.part) {
        (LineKind::Call, _) => Some(CallPart::Whole),
        (LineKind::CallStart, CallPart::Begun) if line.outcome == Outcome::Open => {
            Some(CallPart::Begun)
        }
        (LineKind::CallEnd, CallPart::Resumed) if line.outcome != Outcome::Open => {
            Some(CallPart::Resumed)
        }
        _ => None,
    }
}

impl Assembler<'_> {
    /// The same that takes each line in as if its body had not come before.
    #[cfg(test)]
    pub(crate) fn without_fast_path(self) -> Self {
        Assembler {
            has_plain: false,
            ..self
        }
    }

    /// Remember the body of a line without an extra, if its content has no other effect. The shape of a whole call is
    /// known by now.
    pub(super) fn learn(&mut self, line: &Line) {
        let Some(at) = (line.cached as usize)
            .checked_sub(1)
            .filter(|_| self.has_plain)
        else {
            return;
        };
        let Some(part) = part(line) else { return };
        let shape = self
            .body_shapes
            .get(self.reader)
            .and_then(|known| known.get(at))
            .copied()
            .unwrap_or(ShapeId::NONE);
        // What is not printed is looked up, each time anew; but not for second halves.
        let is_printed =
            || line.target.is_some() && !is_bare(self.trace.events.texts.bytes(line.target));
        let has_target = part == CallPart::Resumed || line.fd == NO_ID || is_printed();
        // What a call goes on with may follow from the one before.
        let goes_on = line.op.is_some() && action_of(line.name) == Action::Restarts;
        let is_connect = action_of(line.name) == Action::Connects;
        let connects = is_connect || reports_connect(self.trace.events.texts.bytes(line.errno));
        if !has_target || goes_on || connects || (part == CallPart::Whole && !shape.is_some()) {
            return;
        }
        if self.reader >= self.plain.len() {
            self.plain.resize_with(self.reader + 1, Vec::new);
        }
        let known = &mut self.plain[self.reader];
        if at >= known.len() {
            known.resize(at + 1, None);
        }
        let effect =
            self.descriptors
                .effect(line, part != CallPart::Whole, &self.trace.events.texts);
        let Line {
            ret,
            name,
            op,
            target,
            errno,
            fd,
            outcome,
            ..
        } = *line;
        known[at] = Some(FastPath {
            ret,
            shape,
            name,
            op,
            target,
            errno,
            fd,
            outcome,
            part,
            effect,
        });
    }

    /// Process the first of some lines, as long as their bodies and the states of their tasks allow the fast path.
    /// Returns their number. They come after this place.
    pub(crate) fn fast_path_lines(&mut self, lines: &[LineRef], before: LinePlace) -> usize {
        // These lines change neither the set of live tasks nor the known bodies.
        let Some(known) = self
            .plain
            .get_mut(self.reader)
            .filter(|_| !self.owners.all_gone())
        else {
            return 0;
        };
        let known = std::mem::take(known);
        let (mut passed, mut rest) = (Passed::new(before), lines);
        while let Some((line_ref, others)) = rest.split_first()
            && let Some((body, plain)) = plain_body(&known, line_ref)
            && let Some((task, is_open)) = self.plain_task(line_ref)
        {
            rest = match (plain.part, is_open) {
                (CallPart::Whole, false) => self.plain_calls(&known, rest, task, &mut passed),
                (CallPart::Begun, false) => {
                    self.plain_begun(plain, line_ref, body, task, &mut passed);
                    others
                }
                (CallPart::Resumed, true)
                    if self.plain_resumed(plain, line_ref, task, &mut passed) =>
                {
                    others
                }
                _ => break,
            };
        }
        self.plain[self.reader] = known;
        self.pass(&passed);
        lines.len() - rest.len()
    }

    fn pass(&mut self, passed: &Passed) {
        let Passed {
            whole,
            begun,
            resumed,
            stretch_ns,
            ..
        } = passed;
        for (kind, counted) in [
            (LineKind::Call, whole),
            (LineKind::CallStart, begun),
            (LineKind::CallEnd, resumed),
        ] {
            if counted.lines > 0 {
                self.account(kind, counted.lines, counted.first);
            }
        }
        if *stretch_ns != NEVER_NS {
            self.capture.lived(stretch_ns.0, stretch_ns.1);
        }
    }

    /// The task of a line, and whether it has a call open, if it is where plain lines leave it.
    #[inline]
    fn plain_task(&mut self, line_ref: &LineRef) -> Option<(TaskId, bool)> {
        let task = self
            .owners
            .owner_now((line_ref.pid, line_ref.tid))
            .filter(|&task| task < self.inherited)?;
        let state = self.states.get(task.since(self.first_task).index())?;
        (!state.exiting && state.gone_ns == 0).then_some((task, state.open.is_some()))
    }

    /// Take in the first ones of some lines, as far as they are whole calls of this task, which has none open; gives
    /// the others.
    #[inline(never)]
    fn plain_calls<'a>(
        &mut self,
        known: &[Option<FastPath>],
        lines: &'a [LineRef],
        task: TaskId,
        passed: &mut Passed,
    ) -> &'a [LineRef] {
        let Assembler {
            trace, descriptors, ..
        } = self;
        let Trace { events, tasks, .. } = &mut **trace;
        let (own, number, file) = (
            &mut tasks[task],
            task.since(self.first_task),
            passed.at.file,
        );
        let state = &mut self.states[usize::from(number)];
        let clock = &mut self.clocks[(file - self.capture.first_file) as usize];
        let (mut rest, ids) = (
            lines,
            lines.first().map(|line_ref| (line_ref.pid, line_ref.tid)),
        );
        while let Some((line_ref, others)) = rest.split_first()
            && ids == Some((line_ref.pid, line_ref.tid))
            && let Some((_, plain)) = plain_body(known, line_ref)
            && plain.part == CallPart::Whole
        {
            let line = passed.next();
            own.spoke(line);
            let (start_ns, dur_ns, cpu_ns) = (
                clock.place(line_ref.stamp_ns),
                bounded_ns(line_ref.dur_ns),
                line_ref.cpu_ns,
            );
            let dur_kind = if dur_ns == NO_NS {
                DurKind::None
            } else {
                self.facts.dur_kind
            };
            let &FastPath {
                ret,
                shape,
                target,
                outcome,
                ..
            } = plain;
            let kind = EventKind::Call;
            let event = Event {
                start_ns,
                dur_ns,
                cpu_ns,
                ret,
                line,
                file,
                task,
                shape,
                target,
                kind,
                outcome,
                dur_kind,
            };
            (state.last_row, state.undated) = (Some(Row::new(events.push(&event))), None);
            if start_ns != NO_NS {
                let end_ns = if dur_ns == NO_NS {
                    start_ns
                } else {
                    start_ns.saturating_add(dur_ns)
                };
                own.lived(start_ns, end_ns);
                passed.lived(start_ns, end_ns);
                (state.last_end_ns, state.seen) = (end_ns, true);
            }
            own.called(outcome);
            if plain.effect != DescriptorEffect::None {
                plain.affect(descriptors, number, plain.fd, &mut events.texts, || {
                    plain.line(LineKind::Call)
                });
            }
            passed.whole.count(line);
            rest = others;
        }
        if let Some(row) = state.last_row {
            self.last_row = row.number();
        }
        rest
    }

    #[inline(never)]
    fn plain_begun(
        &mut self,
        plain: &FastPath,
        line_ref: &LineRef,
        body: u32,
        task: TaskId,
        passed: &mut Passed,
    ) {
        let (number, file) = (passed.next(), passed.at.file);
        let start_ns = self.plain_stamp(line_ref, task, passed.at);
        let row = self
            .trace
            .events
            .push(&Event::begun(start_ns, number, file, task, plain.target));
        self.last_row = row;
        if start_ns != NO_NS {
            self.plain_lived(task, (start_ns, start_ns), start_ns, passed);
        }
        let LineRef {
            stamp_ns,
            dur_ns,
            cpu_ns,
            tid,
            pid,
            ..
        } = *line_ref;
        let dur_ns = bounded_ns(dur_ns);
        let line = Line {
            stamp_ns,
            dur_ns,
            cpu_ns,
            tid,
            pid,
            cached: body + 1,
            ..plain.line(LineKind::CallStart)
        };
        let half = self.trace.events.begin_half(row);
        self.hold_open(
            task,
            OpenCall {
                row,
                half,
                line,
                extra: None,
            },
        );
        self.last_open[(file - self.capture.first_file) as usize] = task;
        passed.begun.count(number);
    }

    /// The second half of the open call of its task, if the fast path applies to it.
    #[inline(never)]
    fn plain_resumed(
        &mut self,
        plain: &FastPath,
        line_ref: &LineRef,
        task: TaskId,
        passed: &mut Passed,
    ) -> bool {
        let Some(number) = self.state(task).open.map(OpenPlace::number) else {
            return false;
        };
        let Some(open) = self.open.get_mut(number as usize) else {
            return false;
        };
        let (row, half, begun) = (open.row, open.half, open.line);
        if row == NONE
            || open.extra.is_some()
            || begun.name != plain.name
            || line_ref.dur_ns == NO_NS
        {
            return false;
        }
        open.row = NONE;
        self.last_row = row;
        self.free.push(number);
        let state = self.state(task);
        (state.open, state.undated) = (None, None);
        let line = passed.next();
        let (stamp_ns, dur_ns) = (
            self.plain_stamp(line_ref, task, passed.at),
            bounded_ns(line_ref.dur_ns),
        );
        let ended = Line {
            cpu_ns: line_ref.cpu_ns,
            ..plain.line(LineKind::CallEnd)
        };
        let joined = super::halves::joined(&begun, &ended);
        self.rewrite(row, &joined, dur_ns, self.facts.dur_kind);
        self.trace.events.end_half(half, line);
        let start_ns = self.trace.events.start_ns(row);
        if start_ns == NO_NS || stamp_ns == NO_NS {
            self.lived(task, start_ns, dur_ns);
        } else {
            let to_ns = start_ns.saturating_add(dur_ns).max(stamp_ns);
            self.plain_lived(task, (start_ns.min(stamp_ns), to_ns), stamp_ns, passed);
        }
        self.count(task, plain.outcome);
        let texts = &mut self.trace.events.texts;
        plain.affect(
            &mut self.descriptors,
            task.since(self.first_task),
            begun.fd,
            texts,
            || joined,
        );
        passed.resumed.count(line);
        true
    }

    /// The stamp of a line on the time line of its capture; the line is one of this task.
    #[inline]
    fn plain_stamp(&mut self, line_ref: &LineRef, task: TaskId, at: LinePlace) -> i64 {
        self.trace.tasks[task].spoke(at.line);
        self.clocks[(at.file - self.capture.first_file) as usize].place(line_ref.stamp_ns)
    }

    /// As [`Assembler::lived_until`].
    #[inline]
    fn plain_lived(
        &mut self,
        task: TaskId,
        (from_ns, to_ns): (i64, i64),
        end_ns: i64,
        passed: &mut Passed,
    ) {
        self.trace.tasks[task].lived(from_ns, to_ns);
        passed.lived(from_ns, to_ns);
        let state = self.state(task);
        (state.last_end_ns, state.seen) = (end_ns, true);
    }
}
