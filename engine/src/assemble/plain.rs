//! Whole calls whose body came before: most lines of most captures, taken in without asking what else a line could be.
//!
//! This does with such a call what [`Assembler::line`] does, and nothing else; a test takes both ways.

use super::{Assembler, Place};
use crate::clock::bounded_ns;
use crate::events::{Event, EventKind, NONE};
use parsers::{DurKind, Facts, Kind, Line, NO_ID, NO_NS, Outcome, Stamp, Text, Told};

/// What the body of a call says of which nothing follows but a row, and perhaps what its descriptor stands for.
#[derive(Clone, Copy)]
pub(super) struct Plain {
    ret: i64,
    shape: u32,
    name: Text,
    op: Text,
    target: Text,
    fd: i32,
    outcome: Outcome,
    /// It does something to descriptors.
    has_role: bool,
}

/// Whether calls of such a capture can be plain: start and duration are as printed, and so are ids.
pub(super) fn can_be(facts: &Facts) -> bool {
    facts.stamp == Stamp::Start && facts.has_durations && !facts.ids_optional && !facts.mixes_threads
}

impl Assembler<'_> {
    /// The same that takes each line in as if its body had not come before.
    #[cfg(test)]
    pub(crate) fn without_plain(self) -> Self {
        Assembler { has_plain: false, ..self }
    }

    /// Remember the body of a call without an extra, if whatever it says follows from it. Its shape is known by now.
    pub(super) fn learn(&mut self, line: &Line) {
        let Some(at) = (line.body as usize).checked_sub(1).filter(|_| self.has_plain) else { return };
        let shape = self.body_shapes.get(self.reader).and_then(|known| known.get(at)).copied().unwrap_or(NONE);
        // What is not printed is looked up, each time anew.
        let is_printed =
            || line.target.is_some() && !self.trace.events.texts.bytes(line.target).starts_with(b"socket:[");
        if shape == NONE || !(line.fd == NO_ID || is_printed()) {
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
        let Line { ret, name, op, target, fd, outcome, .. } = *line;
        known[at] = Some(Plain { ret, shape, name, op, target, fd, outcome, has_role });
    }

    /// Take in a line if it is a call with a body that is plain, by a task that is in no call; `false` if it is not.
    #[inline]
    pub(crate) fn plain_call(&mut self, told: &Told, body: u32, at: Place) -> bool {
        let known = self.plain.get(self.reader).and_then(|known| known.get(body as usize));
        let Some(&Some(plain)) = known else { return false };
        let Some(task) = self.owners.owner_now((told.pid, told.tid)).filter(|&task| task < self.inherited) else {
            return false;
        };
        let Some(state) = self.states.get_mut((task - self.first_task) as usize) else { return false };
        if state.open != 0 || state.exiting || state.gone_ns != 0 || self.owners.all_gone() {
            return false;
        }
        let stamp_ns = self.clocks[(at.file - self.capture.first_file) as usize].place(told.stamp_ns);
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
        (state.last_row, state.undated) = (row + 1, 0);
        let owner = &mut self.trace.tasks[task as usize];
        if owner.first_line == 0 {
            owner.first_line = at.line;
        }
        owner.last_line = at.line;
        self.lived(task, stamp_ns, dur_ns);
        self.count(task, plain.outcome);
        if plain.has_role {
            let Plain { ret, name, op, target, fd, outcome, .. } = plain;
            let line = Line { ret, name, op, target, fd, outcome, ..Line::of(Kind::Call) };
            self.descriptors.completed(task - self.first_task, &line, None, &mut self.trace.events.texts);
        }
        self.account(Kind::Call, at.line);
        true
    }
}
