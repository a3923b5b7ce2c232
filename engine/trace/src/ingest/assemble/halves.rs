//! Calls printed in two halves, or announced before they return.

use crate::ingest::assemble::{Assembler, OpenCall};
use crate::ingest::task_ids::Birth;
use crate::store::event::{Ending, Event, NONE, ThreadWait};
use crate::store::facts::{IsTorn, OpenFd, OpenThreadWait};
use crate::store::index::TaskId;
use crate::store::numbers::{OpenPlace, Row};
use crate::store::recent_lines::LinePlace;
use parsers::facts::{Deadline, Fact, Timeout};
use parsers::syscalls::{Action, action_of};
use parsers::{DurKind, Extra, Line, LineKind, NO_ID, NO_NS, Outcome, Text};

impl Assembler<'_> {
    pub(super) fn begun(
        &mut self,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) {
        let task = self.owner(line, stamp_ns, at);
        if self.facts.mixes_threads {
            self.capture.mixed_calls += u64::from(self.state(task).open.is_some());
            self.park(task);
        }
        self.close_open(task);
        let line = &self.with_target(task, line);
        match extra {
            Some(Extra::Attached(tid, begins)) => self.owners.attach(tid, begins),
            Some(Extra::Spawn { child, .. }) if child != NO_ID => self.owners.attach(child, true),
            _ => {}
        }
        let row =
            self.trace
                .events
                .push(&Event::begun(stamp_ns, at.line, at.file, task, line.target));
        match extra {
            None => self.learn(line),
            Some(Extra::Spawn {
                child: NO_ID,
                shares_files,
                ..
            }) => self.creates(task, row, shares_files),
            Some(Extra::Passed(ref fds)) => self.passed(row, task, line, fds),
            // Another thread may find it ready before this call returns.
            Some(Extra::Registered { fd, data, edge }) => {
                self.registers(task, line.fd, data, (fd, edge));
            }
            Some(_) => {}
        }
        self.lived(task, stamp_ns, NO_NS);
        self.last_row = row;
        let half = self.trace.events.begin_half(row);
        self.hold_open(
            task,
            OpenCall {
                row,
                half,
                line: *line,
                extra,
            },
        );
        self.last_open[(at.file - self.capture.first_file) as usize] = task;
    }

    pub(super) fn take_open(&mut self, task: TaskId) -> Option<OpenCall> {
        let number = self.state(task).open.take()?.number();
        self.free.push(number);
        let hole = OpenCall {
            row: NONE,
            half: NONE,
            line: Line::of(LineKind::Blank),
            extra: None,
        };
        Some(std::mem::replace(&mut self.open[number as usize], hole))
    }

    /// The open call of a task will not be completed: it stays open. A sleeping notice is only forgotten: the call that
    /// it announced is the one that comes now.
    #[inline]
    pub(super) fn close_open(&mut self, task: TaskId) {
        if self.state(task).open.is_none() {
            return;
        }
        if let Some(open) = self.take_open(task).filter(|open| open.row != NONE) {
            let line = Line {
                outcome: Outcome::Open,
                cached: 0,
                ..open.line
            };
            self.rewrite(open.row, &line, NO_NS, DurKind::None);
            self.set_requested(task, open.row, open.extra.as_ref());
            self.count(task, Outcome::Open);
        }
    }

    /// Record the requested duration of a call that has not returned, and what it polls.
    fn set_requested(&mut self, task: TaskId, row: u32, extra: Option<&Extra>) {
        match extra {
            Some(Extra::Polled {
                fds, timeout_ns, ..
            }) => {
                self.trace.events.facts.add::<Timeout>(row, *timeout_ns);
                if !fds.is_empty() {
                    self.polls(row, task, fds.clone());
                }
            }
            Some(Extra::Fact(fact)) => self.keep_open_fact(row, fact),
            Some(extra) => self.waits(row, extra),
            None => {}
        }
    }

    /// Keep a fact of a call that has not returned.
    fn keep_open_fact(&mut self, row: u32, fact: &Fact) {
        let facts = &mut self.trace.events.facts;
        match fact {
            Fact::Joins(id) => facts.add::<OpenThreadWait>(row, ThreadWait::End(*id)),
            Fact::Deadline(moment) => {
                facts.add::<Deadline>(row, *moment);
                facts.add::<OpenThreadWait>(row, ThreadWait::Limited);
            }
            // These come true when the call returns.
            Fact::Created(_)
            | Fact::SharedMapping(_)
            | Fact::RequeuedTo(_)
            | Fact::Fds(_)
            | Fact::IsFifo(()) => {}
            fact => facts.keep(row, fact.clone()),
        }
    }

    /// A call that did not return works on a descriptor, which may have no name, or be the standard input.
    pub(super) fn is_open_on(&mut self, row: u32, line: &Line) {
        if line.fd == 0 || line.fd != NO_ID && !line.target.is_some() {
            self.trace.events.facts.add::<OpenFd>(row, line.fd);
        }
    }

    /// What is known of a call that did not return.
    pub(super) fn waits(&mut self, row: u32, extra: &Extra) {
        let facts = &mut self.trace.events.facts;
        match extra {
            Extra::Contended => facts.add::<OpenThreadWait>(row, ThreadWait::Lock),
            Extra::Limited => facts.add::<OpenThreadWait>(row, ThreadWait::Limited),
            Extra::Torn => facts.add::<IsTorn>(row, ()),
            _ => {}
        }
    }

    /// Lay the open call of a task aside: another thread under the same id begins one.
    fn park(&mut self, task: TaskId) {
        if let Some(open) = self.take_open(task) {
            self.parked.entry(task).or_default().push(open);
        }
    }

    /// Make the newest parked call of this name the open call of the task, if there is one.
    fn unpark(&mut self, task: TaskId, name: Text) {
        let newest = self
            .state(task)
            .open
            .and_then(|at| self.open.get(at.number() as usize));
        if newest.is_some_and(|open| open.line.name == name) {
            return;
        }
        self.park(task);
        let Some(parked) = self.parked.get_mut(&task) else {
            return;
        };
        if let Some(at) = parked.iter().rposition(|open| open.line.name == name) {
            let open = parked.remove(at);
            self.hold_open(task, open);
        }
    }

    /// At the end of the capture: calls that were laid aside never returned.
    pub(super) fn leave_parked(&mut self, task: TaskId) {
        for open in self.parked.remove(&task).unwrap_or_default() {
            self.hold_open(task, open);
            self.close_open(task);
        }
    }

    /// Another line with the target of the open call of its task. That of a connect is the peer, so it replaces the name of
    /// the socket.
    pub(super) fn named(&mut self, line: &Line) {
        let open = self
            .speaker(line)
            .and_then(|task| self.state(task).open.map(OpenPlace::number));
        let Some(at) = open else {
            self.early_name = Some(*line);
            return;
        };
        let Some(open) = self.open.get_mut(at as usize).filter(|open| {
            !open.line.target.is_some()
                || line.target.is_some() && action_of(open.line.name) == Action::Connects
        }) else {
            return;
        };
        open.line.target = line.target;
        if let Some(Extra::Exec { path, .. }) = &mut open.extra
            && !path.is_some()
        {
            *path = line.target;
        }
    }

    pub(super) fn rewrite(&mut self, row: u32, line: &Line, dur_ns: i64, dur_kind: DurKind) {
        let events = &mut self.trace.events;
        let shape = events.shape_of(line.name, line.op, line.target, line.errno, line.outcome);
        let Line {
            ret,
            outcome,
            target,
            cpu_ns,
            ..
        } = *line;
        events.end(
            row,
            &Ending {
                shape,
                ret,
                outcome,
                target,
                dur_ns,
                dur_kind,
                cpu_ns,
            },
        );
    }

    pub(super) fn resumed(
        &mut self,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) -> LineKind {
        let task = self.owner(line, stamp_ns, at);
        if self.facts.mixes_threads {
            self.unpark(task, line.name);
        }
        let Some(open) = self.take_open(task) else {
            let line = &self.with_early_name(line);
            self.end_without_start(task, line, extra, stamp_ns, at);
            return LineKind::CallEnd;
        };
        if !self.same_call(open.line.name, line.name) {
            self.hold_open(task, open);
            return LineKind::Mismatched;
        }
        if line.outcome == Outcome::Open {
            // Broken off again before its end: the call is still the one that began first.
            self.hold_open(task, open);
            return LineKind::CallEnd;
        }
        let stamp_ns = self.returned_ns(open.row, line, stamp_ns, at);
        self.join(task, open, line, extra, stamp_ns, at);
        LineKind::CallEnd
    }

    /// The end of a call with the name that a line before it has, if the capture begins between its start and that line.
    fn with_early_name(&mut self, line: &Line) -> Line {
        let named = self.early_name.take();
        let named = named.filter(|named| (named.pid, named.tid) == (line.pid, line.tid));
        let takes_name = !line.target.is_some() && line.fd == NO_ID;
        let target = named.filter(|_| takes_name).map(|named| named.target);
        Line {
            target: target.unwrap_or(line.target),
            cached: 0,
            ..*line
        }
    }

    /// When a call with this second half returned. With a coarse clock, that follows from its duration.
    fn returned_ns(&mut self, row: u32, line: &Line, stamp_ns: i64, at: LinePlace) -> i64 {
        let begun_ns = self.trace.events.start_ns(row);
        let clock = &mut self.clocks[(at.file - self.capture.first_file) as usize];
        clock.place_return(begun_ns, stamp_ns, line.dur_ns)
    }

    /// Make this the open call of a task.
    pub(super) fn hold_open(&mut self, task: TaskId, open: OpenCall) {
        let number = match self.free.pop() {
            Some(number) => {
                self.open[number as usize] = open;
                number
            }
            None => {
                self.open.push(open);
                (self.open.len() - 1) as u32
            }
        };
        self.state(task).open = Some(OpenPlace::new(number));
    }

    pub(super) fn same_call(&self, begun: Text, ended: Text) -> bool {
        let unknown = |name: Text| self.trace.events.texts.bytes(name).starts_with(b"??");
        begun == ended || !ended.is_some() || unknown(begun) || unknown(ended)
    }

    /// The first half is lost: the start is the end minus the duration, if that is printed.
    pub(super) fn end_without_start(
        &mut self,
        task: TaskId,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) {
        let dur_ns = line.dur_ns;
        if dur_ns == NO_NS
            && self.facts.has_durations
            && stamp_ns != NO_NS
            && line.outcome != Outcome::NoReturn
        {
            // Durations are those between the halves: this one is unknown, but it is over.
            let row = self.push(task, line, at, stamp_ns, 0, DurKind::None);
            return self.completed(row, task, line, extra);
        }
        let start_ns = if dur_ns == NO_NS || stamp_ns == NO_NS {
            stamp_ns
        } else {
            stamp_ns.saturating_sub(dur_ns)
        };
        let dur_kind = if dur_ns == NO_NS {
            DurKind::None
        } else {
            self.facts.dur_kind
        };
        let row = self.push(task, line, at, start_ns, dur_ns, dur_kind);
        self.completed(row, task, line, extra);
    }

    pub(super) fn join(
        &mut self,
        task: TaskId,
        open: OpenCall,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) {
        let start_ns = self.trace.events.start_ns(open.row);
        let (dur_ns, dur_kind) = match line.dur_ns {
            NO_NS if line.outcome == Outcome::NoReturn => (NO_NS, DurKind::None),
            NO_NS if start_ns != NO_NS && stamp_ns != NO_NS => {
                (stamp_ns.saturating_sub(start_ns).max(0), DurKind::Exact)
            }
            NO_NS => (NO_NS, DurKind::None),
            dur_ns => (dur_ns, self.facts.dur_kind),
        };
        let mut joined = joined(&open.line, line);
        if joined.fd != NO_ID && !joined.target.is_some() {
            // A child may begin a call before the call that created it returns, with its descriptors.
            joined.target = self.target_of(task, &joined);
        }
        self.rewrite(open.row, &joined, dur_ns, dur_kind);
        self.trace.events.end_half(open.half, at.line);
        self.lived_in_halves(task, start_ns, stamp_ns, dur_ns);
        if extra.is_none() {
            self.learn(line);
        }
        self.completed(open.row, task, &joined, joined_extra(open.extra, extra));
        self.last_row = open.row;
    }

    /// A task was in a call from this time on, for so long as printed, and until its second half was.
    #[inline]
    fn lived_in_halves(&mut self, task: TaskId, start_ns: i64, stamp_ns: i64, dur_ns: i64) {
        if start_ns == NO_NS || stamp_ns == NO_NS {
            return self.lived(task, start_ns, dur_ns);
        }
        let printed_ns = if dur_ns == NO_NS {
            start_ns
        } else {
            start_ns.saturating_add(dur_ns)
        };
        self.lived_until(
            task,
            start_ns.min(stamp_ns),
            printed_ns.max(stamp_ns),
            stamp_ns,
        );
    }

    /// The tail of a call that a message or a bug of the tracer cut: no prefix, no name.
    pub(super) fn tail(
        &mut self,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) -> LineKind {
        let task = self.last_open[(at.file - self.capture.first_file) as usize];
        if task == TaskId::NONE || line.outcome == Outcome::Open {
            return LineKind::Continuation;
        }
        match self.take_open(task) {
            Some(open) => self.join(task, open, line, extra, stamp_ns, at),
            None => return LineKind::Foreign,
        }
        LineKind::Continuation
    }

    /// truss reports once that a call sleeps. It prints the call again, in full, when it returns. Otherwise the call is
    /// open.
    pub(super) fn asleep(&mut self, line: &Line, at: LinePlace) {
        let task = self.owner(line, NO_NS, at);
        if self.state(task).open.is_none() {
            let start_ns = if self.state(task).seen {
                self.state(task).last_end_ns
            } else {
                NO_NS
            };
            let line = Line {
                stamp_ns: start_ns,
                ..*line
            };
            self.hold_open(
                task,
                OpenCall {
                    row: NONE,
                    half: NONE,
                    line,
                    extra: None,
                },
            );
        }
    }

    /// The call of a sleeping task, according to a notice.
    pub(super) fn asleep_in(&mut self, task: TaskId) -> Option<Text> {
        let at = self.state(task).open?.number();
        self.open
            .get(at as usize)
            .filter(|open| open.row == NONE)
            .map(|open| open.line.name)
    }

    pub(super) fn never_returned(&mut self, task: TaskId) {
        let Some(open) = self.take_open(task) else {
            return;
        };
        self.state(task).left_alone |= matches!(open.extra, Some(Extra::End(_)));
        if let Some(Extra::Spawn { thread, vfork, .. }) = open.extra {
            let start_ns = self.trace.events.start_ns(open.row);
            self.never_told(Birth {
                creator: task,
                row: open.row,
                thread,
                vfork,
                start_ns,
                line: 0,
            });
        }
        let line = Line {
            outcome: Outcome::Open,
            cached: 0,
            ..open.line
        };
        let row = if open.row == NONE {
            let at = LinePlace {
                file: self.capture.first_file,
                line: self.trace.tasks[task].last_line,
            };
            self.push(task, &line, at, line.stamp_ns, NO_NS, DurKind::None)
        } else {
            self.rewrite(open.row, &line, NO_NS, DurKind::None);
            self.set_requested(task, open.row, open.extra.as_ref());
            open.row
        };
        self.is_open_on(row, &line);
        self.state(task).left_in = Some(Row::new(row));
        self.count(task, Outcome::Open);
    }
}

/// A call of its two halves: what works on what from the first, how it ended from the second.
#[inline]
pub(super) fn joined(begun: &Line, ended: &Line) -> Line {
    let first = |a: Text, b: Text| if a.is_some() { a } else { b };
    Line {
        ret: ended.ret,
        outcome: ended.outcome,
        errno: ended.errno,
        cpu_ns: ended.cpu_ns,
        // The peer of an accept is known only after it.
        target: first(ended.target, begun.target),
        op: first(begun.op, ended.op),
        name: first(begun.name, ended.name),
        cached: 0,
        ..*begun
    }
}

fn joined_extra(begun: Option<Extra>, ended: Option<Extra>) -> Option<Extra> {
    match (begun, ended) {
        (
            Some(Extra::Spawn {
                thread,
                vfork,
                shares_files,
                ..
            }),
            Some(Extra::Spawn {
                child,
                thread: t,
                vfork: v,
                shares_files: s,
            }),
        ) => Some(Extra::Spawn {
            child,
            thread: thread | t,
            vfork: vfork | v,
            shares_files: shares_files | s,
        }),
        (
            Some(Extra::Polled {
                fds, timeout_ns, ..
            }),
            Some(Extra::Ready(ready)),
        ) if fds.len() > 1 => Some(Extra::Polled {
            fds,
            timeout_ns,
            ready,
        }),
        (Some(Extra::Attached(..) | Extra::Torn) | None, ended) => ended,
        (Some(Extra::Exec { path, .. }), ended @ Some(_)) if !path.is_some() => ended,
        (begun, Some(Extra::Waited { child, ended }))
            if !matches!(begun, Some(Extra::Exec { .. })) =>
        {
            Some(Extra::Waited { child, ended })
        }
        (begun, _) => begun,
    }
}
