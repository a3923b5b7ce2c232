//! Calls and halves of calls whose body came before: most lines of most captures, taken in without asking what else a line
//! could be.
//!
//! This does with such a line what [`Assembler::line`] does, and nothing else; a test takes both ways.

use super::{Assembler, Open, Place};
use crate::clock::bounded_ns;
use crate::events::{Event, EventKind, NONE};
use parsers::{DurKind, Facts, Kind, Line, NO_ID, NO_NS, Outcome, Part, Stamp, Text, Told};

/// What the body of a line says of which nothing follows but a row, and perhaps what its descriptor stands for.
#[derive(Clone, Copy)]
pub(super) struct Plain {
    ret: i64,
    /// Of a whole call; that of two halves is known when they are joined.
    shape: u32,
    name: Text,
    op: Text,
    target: Text,
    errno: Text,
    fd: i32,
    outcome: Outcome,
    part: Part,
    /// It does something to descriptors.
    has_role: bool,
}

impl Plain {
    /// The line that says this, and else nothing.
    #[inline]
    fn line(&self, kind: Kind) -> Line {
        let Plain { ret, name, op, target, errno, fd, outcome, part, .. } = *self;
        Line { ret, name, op, target, errno, fd, outcome, part, ..Line::of(kind) }
    }
}

/// Whether calls of such a capture can be plain: start and duration are as printed, and so are ids.
pub(super) fn can_be(facts: &Facts) -> bool {
    facts.stamp == Stamp::Start && facts.has_durations && !facts.ids_optional && !facts.mixes_threads
}

/// The part of a call that a line holds, if such a line can be plain.
fn part(line: &Line) -> Option<Part> {
    match (line.kind, line.part) {
        (Kind::Call, _) => Some(Part::Whole),
        (Kind::CallStart, Part::Begun) if line.outcome == Outcome::Open => Some(Part::Begun),
        (Kind::CallEnd, Part::Resumed) if line.outcome != Outcome::Open => Some(Part::Resumed),
        _ => None,
    }
}

impl Assembler<'_> {
    /// The same that takes each line in as if its body had not come before.
    #[cfg(test)]
    pub(crate) fn without_plain(self) -> Self {
        Assembler { has_plain: false, ..self }
    }

    /// Remember the body of a line without an extra, if whatever it says follows from it. The shape of a whole call is known
    /// by now.
    pub(super) fn learn(&mut self, line: &Line) {
        let Some(at) = (line.body as usize).checked_sub(1).filter(|_| self.has_plain) else { return };
        let Some(part) = part(line) else { return };
        let shape = self.body_shapes.get(self.reader).and_then(|known| known.get(at)).copied().unwrap_or(NONE);
        // What is not printed is looked up, each time anew; but not for second halves.
        let is_printed =
            || line.target.is_some() && !self.trace.events.texts.bytes(line.target).starts_with(b"socket:[");
        let has_target = part == Part::Resumed || line.fd == NO_ID || is_printed();
        if !has_target || (part == Part::Whole && shape == NONE) {
            return;
        }
        if self.reader >= self.plain.len() {
            self.plain.resize_with(self.reader + 1, Vec::new);
        }
        let known = &mut self.plain[self.reader];
        if at >= known.len() {
            known.resize(at + 1, None);
        }
        let has_role = self.descriptors.has_role(line.name, &self.trace.events.texts);
        let Line { ret, name, op, target, errno, fd, outcome, .. } = *line;
        known[at] = Some(Plain { ret, shape, name, op, target, errno, fd, outcome, part, has_role });
    }

    /// Take in a line if its body is plain and its task is where such a line leaves it; `false` if not.
    #[inline]
    pub(crate) fn plain(&mut self, told: &Told, body: u32, at: Place) -> bool {
        let known = self.plain.get(self.reader).and_then(|known| known.get(body as usize));
        let Some(&Some(plain)) = known else { return false };
        let Some(task) = self.owners.owner_now((told.pid, told.tid)).filter(|&task| task < self.inherited) else {
            return false;
        };
        let Some(state) = self.states.get((task - self.first_task) as usize) else { return false };
        if state.exiting || state.gone_ns != 0 || self.owners.all_gone() {
            return false;
        }
        match (plain.part, state.open) {
            (Part::Whole, 0) => self.plain_call(&plain, told, task, at),
            (Part::Begun, 0) => self.plain_begun(&plain, told, body, task, at),
            (Part::Resumed, open) if open != 0 => return self.plain_resumed(&plain, told, task, at),
            _ => return false,
        }
        true
    }

    fn plain_call(&mut self, plain: &Plain, told: &Told, task: u32, at: Place) {
        let stamp_ns = self.plain_stamp(told, task, at);
        let dur_ns = bounded_ns(told.dur_ns);
        let row = self.trace.events.push(&Event {
            start_ns: stamp_ns,
            dur_ns,
            cpu_ns: told.cpu_ns,
            ret: plain.ret,
            line: at.line,
            file: at.file,
            task,
            shape: plain.shape,
            target: plain.target,
            kind: EventKind::Call,
            outcome: plain.outcome,
            dur_kind: if dur_ns == NO_NS { DurKind::None } else { self.facts.dur_kind },
        });
        let state = self.state(task);
        (state.last_row, state.undated) = (row + 1, 0);
        self.lived(task, stamp_ns, dur_ns);
        self.count(task, plain.outcome);
        if plain.has_role {
            self.plain_role(task, &plain.line(Kind::Call));
        }
        self.account(Kind::Call, at.line);
    }

    fn plain_begun(&mut self, plain: &Plain, told: &Told, body: u32, task: u32, at: Place) {
        let start_ns = self.plain_stamp(told, task, at);
        let row = self.trace.events.push(&Event::begun(start_ns, at.line, at.file, task, plain.target));
        self.lived(task, start_ns, NO_NS);
        let Told { stamp_ns, dur_ns, cpu_ns, tid, pid, .. } = *told;
        let dur_ns = bounded_ns(dur_ns);
        let line = Line { stamp_ns, dur_ns, cpu_ns, tid, pid, body: body + 1, ..plain.line(Kind::CallStart) };
        self.hold_open(task, Open { row, line, extra: None });
        self.last_open[(at.file - self.capture.first_file) as usize] = task;
        self.account(Kind::CallStart, at.line);
    }

    /// The second half of the call that its task has open, if that one says no more than such a line does.
    fn plain_resumed(&mut self, plain: &Plain, told: &Told, task: u32, at: Place) -> bool {
        let Some(number) = self.state(task).open.checked_sub(1) else { return false };
        let Some(open) = self.open.get_mut(number as usize) else { return false };
        let row = open.row;
        if row == NONE || open.extra.is_some() || open.line.name != plain.name || told.dur_ns == NO_NS {
            return false;
        }
        let ended = Line { cpu_ns: told.cpu_ns, ..plain.line(Kind::CallEnd) };
        let joined = super::halves::joined(&open.line, &ended);
        open.row = NONE;
        self.free.push(number);
        let state = self.state(task);
        (state.open, state.undated) = (0, 0);
        let stamp_ns = self.plain_stamp(told, task, at);
        let dur_ns = bounded_ns(told.dur_ns);
        self.rewrite(row, &joined, dur_ns, self.facts.dur_kind);
        self.trace.events.ends.push((row, at.line));
        self.lived_in_halves(task, self.trace.events.start_ns(row), stamp_ns, dur_ns);
        self.count(task, plain.outcome);
        if plain.has_role {
            self.plain_role(task, &joined);
        }
        self.account(Kind::CallEnd, at.line);
        true
    }

    /// The stamp of a line on the time line of its capture; the line is one of this task.
    #[inline]
    fn plain_stamp(&mut self, told: &Told, task: u32, at: Place) -> i64 {
        self.trace.tasks[task as usize].spoke(at.line);
        self.clocks[(at.file - self.capture.first_file) as usize].place(told.stamp_ns)
    }

    fn plain_role(&mut self, task: u32, line: &Line) {
        self.descriptors.completed(task - self.first_task, line, None, &mut self.trace.events.texts);
    }
}
