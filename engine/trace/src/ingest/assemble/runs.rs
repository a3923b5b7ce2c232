//! Several runs of a tracer in one file, one after the other (`strace -A`, `2>>`): each becomes a separate capture.
//!
//! ```text
//! 700 execve(…)        run 1
//! 700 +++ exited +++
//! 912 execve(…)        run 2: all tasks have exited, and none created 912
//! ```
//! In a log of a kernel, each start of the machine is a run.
//!
//! Ids and clocks of runs are unrelated, so two runs read as one would link unrelated tasks. One run read as two would
//! separate children from their creators. If a filter may hide calls that create tasks, only a task that they cannot
//! have created begins a run.

use crate::ingest::assemble::{self, Assembler};
use crate::ingest::descriptors::Descriptors;
use crate::ingest::task_ids::TaskIds;
use crate::store::event::NONE;
use crate::store::heuristics::MAX_STEP_BACK_NS;
use crate::store::index::TaskId;
use crate::store::trace::Capture;
use parsers::{CaptureFacts, Clock, Extra, Line, LineKind, NO_NS, Outcome};

impl Assembler<'_> {
    /// Whether a line, as its reader read it, is the first one of another run of the tracer.
    #[inline]
    pub(crate) fn begins_run(&mut self, line: &Line, extra: Option<&Extra>) -> bool {
        // Nearly all lines: some task lives, and no program begins.
        (extra.is_some() || self.owners.all_gone()) && self.may_begin_run(line, extra)
    }

    fn may_begin_run(&mut self, line: &Line, extra: Option<&Extra>) -> bool {
        let extra = extra.map(Extra::bare);
        let has_events = self.trace.events.len() > self.capture.rows.start;
        if let Some(Extra::Restarted { .. }) = extra {
            return has_events && self.is_behind(line.stamp_ns);
        }
        if !has_events
            || !matches!(line.kind, LineKind::Call | LineKind::CallStart)
            || self.clocks.len() > 1
        {
            return false;
        }
        let is_exec = matches!(extra, Some(Extra::Exec { .. })) && line.outcome == Outcome::Ok;
        if self.owners.all_gone() {
            // Without ids all lines are one process's, and it ended.
            let is_other = !self.facts.has_ids || self.owners.was_let_go((line.pid, line.tid));
            return is_other
                || (is_exec && !self.owners.expects_more() && !self.has_hidden_births());
        }
        is_exec
            && self.facts.has_ids
            && self.owners.is_new_id((line.pid, line.tid))
            && self.is_from_outside(line)
    }

    /// Whether this stamp is clearly earlier than the last one. The first lines of a kernel are too close to
    /// distinguish, and each of them may be the first one.
    fn is_behind(&self, stamp_ns: i64) -> bool {
        stamp_ns == NO_NS || self.capture.last_ns.saturating_sub(stamp_ns) > MAX_STEP_BACK_NS
    }

    /// Whether a program that begins while others still live cannot be a child of theirs: their run was cut.
    fn is_from_outside(&mut self, line: &Line) -> bool {
        if self.facts.clock == Clock::SincePrevious && line.stamp_ns == 0 {
            return true;
        }
        let may_create = |open: &assemble::OpenCall| {
            let name = self.trace.events.texts.bytes(open.line.name);
            open.row != NONE
                && (matches!(open.extra, Some(Extra::Spawn { .. }))
                    || name.starts_with(b"syscall_"))
        };
        if self.open.iter().any(may_create) {
            return false;
        }
        self.owners.shows_births() && !self.has_hidden_births()
    }

    /// Whether some task but the first has no creator in this run: the calls that create tasks are not all in it.
    fn has_hidden_births(&mut self) -> bool {
        let orphans = || {
            self.trace
                .tasks
                .iter()
                .skip(self.first_task.index() + 1)
                .any(|task| task.creator == TaskId::NONE)
        };
        self.hides_births = self.hides_births || orphans();
        self.hides_births
    }

    /// Close the capture, which had so many bytes, and begin another one of the same file with this line.
    pub(crate) fn next_run(&mut self, extra: Option<&Extra>, line: u32, bytes: u64) {
        self.capture.lacks_next = false;
        self.close(false, bytes);
        let base_ns = match extra.map(Extra::bare) {
            Some(Extra::Restarted { base_ns }) if *base_ns != NO_NS => *base_ns,
            _ => self.facts.base_ns,
        };
        self.facts = CaptureFacts {
            base_ns,
            ..self.facts
        };
        let (tasks, rows) = (self.trace.tasks.next_key(), self.trace.events.len());
        self.capture = Capture {
            path: self.capture.path.clone(),
            files: self.capture.files.clone(),
            envelopes: self.capture.envelopes.clone(),
            first_file: self.capture.first_file + self.capture.files.len() as u32,
            run: self.capture.run + 1,
            runs: self.capture.runs,
            first_line: u64::from(line),
            tasks: tasks..tasks,
            rows: rows..rows,
            ..Capture::empty(self.capture.format, self.facts)
        };
        self.owners = TaskIds::new(self.trace.captures.len() as u32, &self.facts);
        self.clocks = assemble::clocks(&self.facts, self.clocks.len());
        (self.first_task, self.inherited, self.hides_births) = (tasks, tasks, false);
        self.trace.events.begin_capture();
        self.states.clear();
        self.open.clear();
        self.free.clear();
        self.parked.clear();
        self.last_open.fill(TaskId::NONE);
        self.last_row = NONE;
        self.stack_places.fill(Default::default());
        self.last_exec = TaskId::NONE;
        self.descriptors = Descriptors::default();
        self.presumed = Default::default();
        self.kin.clear();
        self.members.clear();
    }
}
