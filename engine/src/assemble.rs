//! Lines to events: halves joined, stamps placed, tasks born and ended, each line counted once.

use crate::clock::FileClock;
use crate::descriptors::Descriptors;
use crate::events::{Event, EventKind, NONE};
use crate::owners::{Birth, Key, Owners};
use crate::tasks::Program;
use crate::trace::{Capture, SummaryRow, Trace};
use parsers::line::Ended;
use parsers::{DurKind, Extra, Facts, Kind, Line, NO_ID, NO_NS, Outcome, Parsed, Part, Stamp, Text};

/// What is remembered of a task between its lines.
#[derive(Clone, Copy, Default)]
struct State {
    /// Number in `Assembler::open` of the call that is open, plus 1.
    open: u32,
    /// The last call if it has no duration yet, plus 1.
    undated: u32,
    /// End of the last event; 0 with `seen` false.
    last_end_ns: i64,
    seen: bool,
    /// It said that it exits; the next call with its id is another task's.
    exiting: bool,
    /// A signal came in this call, which began at this time; the call is printed behind the signal.
    broken: Option<(Text, i64)>,
    /// Its parent's wait had returned it by this time, if not 0; a later call with its id is another task's.
    gone_ns: i64,
}

impl State {
    fn is_over(&self, stamp_ns: i64) -> bool {
        self.exiting || (self.gone_ns != 0 && stamp_ns > self.gone_ns)
    }
}

/// The first half of a call.
struct Open {
    row: u32,
    line: Line,
    extra: Option<Extra>,
}

/// Where a line stands.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub file: u32,
    pub line: u32,
}

/// Puts the lines of one capture into a trace.
pub(crate) struct Assembler<'trace> {
    trace: &'trace mut Trace,
    capture: Capture,
    facts: Facts,
    owners: Owners,
    clocks: Vec<FileClock>,
    first_task: u32,
    states: Vec<State>,
    open: Vec<Open>,
    free: Vec<u32>,
    last_open: Vec<u32>,
    last_exec: u32,
    descriptors: Descriptors,
    /// Tasks up to this one have their creator's descriptors, if they have a creator.
    inherited: u32,
}

impl<'trace> Assembler<'trace> {
    pub(crate) fn new(trace: &'trace mut Trace, capture: Capture) -> Assembler<'trace> {
        let (facts, files) = (capture.facts, capture.files.len());
        let number = trace.captures.len() as u32;
        let first_task = trace.tasks.len() as u32;
        Assembler {
            capture,
            facts,
            owners: Owners::new(number, facts.ids_optional),
            clocks: vec![FileClock::new(facts.clock); files],
            first_task,
            states: Vec::new(),
            open: Vec::new(),
            free: Vec::new(),
            last_open: vec![NONE; files],
            last_exec: NONE,
            descriptors: Descriptors::default(),
            inherited: first_task,
            trace,
        }
    }

    /// Number of the capture's first file in the trace.
    pub(crate) fn first_file(&self) -> u32 {
        self.capture.first_file
    }

    /// The numbers in this trace of the texts of a chunk.
    pub(crate) fn map_texts(&mut self, parsed: &Parsed, map: &mut Vec<Text>) {
        map.clear();
        map.extend(parsed.texts.added().map(|(bytes, hash)| self.trace.events.texts.add_hashed(bytes, hash)));
    }

    /// The stamp of a line on the time line of its capture.
    pub(crate) fn stamp(&mut self, file: u32, line: &Line) -> i64 {
        self.clocks[(file - self.capture.first_file) as usize].place(line.stamp_ns)
    }

    /// Take in a line whose texts are those of the trace.
    pub(crate) fn line(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) {
        let kind = self.take(line, extra, stamp_ns, at);
        let number = kind as usize;
        self.capture.accounting[number] += 1;
        if self.capture.first_lines[number] == 0 {
            self.capture.first_lines[number] = u64::from(at.line);
        }
    }

    fn take(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) -> Kind {
        match (line.kind, line.part) {
            (Kind::Call, _) => self.whole(line, extra, stamp_ns, at),
            (Kind::CallStart, _) => self.begun(line, extra, stamp_ns, at),
            (Kind::CallEnd, _) => return self.resumed(line, extra, stamp_ns, at),
            (Kind::Continuation, Part::Tail) => return self.tail(line, extra, stamp_ns, at),
            (Kind::Continuation, _) => self.continued(line, extra),
            (Kind::Notice, Part::Begun) => self.asleep(line, at),
            (Kind::Notice, _) => self.told(extra),
            (Kind::Signal, _) => self.signal(line, extra, stamp_ns, at),
            (Kind::Exit | Kind::Process, _) => self.lifecycle(line, extra, stamp_ns, at),
            (Kind::Log, _) => self.message(line, stamp_ns, at),
            (Kind::SummaryTable, _) => self.summary(line, extra),
            _ => {}
        }
        line.kind
    }

    fn owner(&mut self, line: &Line, stamp_ns: i64, at: Place) -> u32 {
        let mut task = self.owners.owner(&mut self.trace.tasks, line);
        let begins = matches!(line.kind, Kind::Call | Kind::CallStart);
        if begins && self.state(task).is_over(stamp_ns) {
            self.close_open(task);
            self.owners.ended(task, (line.pid, line.tid));
            task = self.owners.owner(&mut self.trace.tasks, line);
        }
        if self.inherited <= task {
            self.inherit();
        }
        let known = &mut self.trace.tasks[task as usize];
        if known.first_line == 0 {
            known.first_line = at.line;
        }
        known.last_line = at.line;
        self.date(task, stamp_ns);
        task
    }

    fn state(&mut self, task: u32) -> &mut State {
        let at = (task - self.first_task) as usize;
        if at >= self.states.len() {
            self.states.resize(at + 1, State::default());
        }
        &mut self.states[at]
    }

    /// New tasks get the descriptors of their creators, if those are known by now.
    fn inherit(&mut self) {
        for task in self.inherited..self.trace.tasks.len() as u32 {
            let known = &self.trace.tasks[task as usize];
            if known.creator != NONE {
                self.descriptors.inherit(task - self.first_task, known.creator - self.first_task, known.is_thread);
            }
        }
        self.inherited = self.trace.tasks.len() as u32;
    }

    /// What the descriptor of a call stands for, if the line does not say it.
    fn target_of(&self, task: u32, line: &Line) -> Text {
        if line.fd == NO_ID || line.target.is_some() {
            return line.target;
        }
        self.descriptors.target(task - self.first_task, line.fd)
    }

    /// A call without a printed duration lasts at most until the next event of its task.
    fn date(&mut self, task: u32, stamp_ns: i64) {
        if self.facts.has_durations || self.facts.stamp != Stamp::Start || stamp_ns == NO_NS {
            return;
        }
        let row = std::mem::take(&mut self.state(task).undated);
        if row != 0 {
            let start_ns = self.trace.events.start_ns(row - 1);
            self.trace.events.set_dur(row - 1, (stamp_ns - start_ns).max(0), DurKind::UpperBound);
        }
    }

    fn whole(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) {
        let task = self.owner(line, stamp_ns, at);
        self.close_open(task);
        let line = &Line { target: self.target_of(task, line), ..*line };
        let (start_ns, dur_ns, dur_kind) = self.times(task, line, stamp_ns);
        let row = self.push(task, line, at, start_ns, dur_ns, dur_kind);
        self.completed(row, task, line, extra);
    }

    /// Start, duration and its kind of a call printed whole.
    fn times(&mut self, task: u32, line: &Line, stamp_ns: i64) -> (i64, i64, DurKind) {
        let (facts, state) = (self.facts, *self.state(task));
        if facts.stamp != Stamp::End {
            let kind = if line.dur_ns == NO_NS { DurKind::None } else { facts.dur_kind };
            return (stamp_ns, line.dur_ns, kind);
        }
        if stamp_ns == NO_NS {
            return (NO_NS, line.dur_ns, if line.dur_ns == NO_NS { DurKind::None } else { facts.dur_kind });
        }
        self.state(task).broken = None;
        // A task's first "since its previous event" counts from the start of the trace: it says nothing. In an excerpt that
        // is out of order it is not the first line.
        let may_be_first = !state.seen || state.last_end_ns != 0;
        let dur_ns = match (state.broken.filter(|&(call, _)| call == line.name), line.dur_ns) {
            (Some((_, start_ns)), _) => (stamp_ns - start_ns).max(0),
            (None, NO_NS) if state.seen => (stamp_ns - state.last_end_ns).max(0),
            (None, NO_NS) => 0,
            (None, dur_ns) if may_be_first && facts.dur_kind == DurKind::UpperBound && dur_ns >= stamp_ns => 0,
            (None, dur_ns) => dur_ns,
        };
        (stamp_ns.saturating_sub(dur_ns), dur_ns, facts.dur_kind)
    }

    fn push(&mut self, task: u32, line: &Line, at: Place, start_ns: i64, dur_ns: i64, dur_kind: DurKind) -> u32 {
        let events = &mut self.trace.events;
        let shape = events.shape_of(line.name, line.op, line.target, line.errno, line.outcome);
        let event = Event {
            start_ns,
            dur_ns,
            cpu_ns: line.cpu_ns,
            ret: line.ret,
            line: at.line,
            file: at.file,
            task,
            shape,
            target: line.target,
            kind: EventKind::Call,
            outcome: line.outcome,
            dur_kind,
        };
        let row = events.push(&event);
        self.lived(task, start_ns, dur_ns);
        row
    }

    /// Widen what is known of a task's and the capture's life by a stretch of time.
    fn lived(&mut self, task: u32, start_ns: i64, dur_ns: i64) {
        if start_ns == NO_NS {
            return;
        }
        let end_ns = if dur_ns == NO_NS { start_ns } else { start_ns.saturating_add(dur_ns) };
        let known = &mut self.trace.tasks[task as usize];
        if known.birth_ns == NO_NS || start_ns < known.birth_ns {
            known.birth_ns = start_ns;
        }
        known.last_ns = known.last_ns.max(end_ns);
        let capture = &mut self.capture;
        if capture.first_ns == NO_NS || start_ns < capture.first_ns {
            capture.first_ns = start_ns;
        }
        capture.last_ns = capture.last_ns.max(end_ns);
        let state = self.state(task);
        (state.last_end_ns, state.seen) = (end_ns, true);
    }

    fn begun(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) {
        let task = self.owner(line, stamp_ns, at);
        self.close_open(task);
        let line = &Line { target: self.target_of(task, line), ..*line };
        if let Some(Extra::Attached(tid, begins)) = extra {
            self.owners.attach(&self.trace.tasks, tid, begins);
        }
        let row = self.trace.events.push(&Event {
            start_ns: stamp_ns,
            dur_ns: NO_NS,
            cpu_ns: NO_NS,
            ret: NO_NS,
            line: at.line,
            file: at.file,
            task,
            shape: 0,
            target: line.target,
            kind: EventKind::Call,
            outcome: Outcome::Open,
            dur_kind: DurKind::None,
        });
        self.lived(task, stamp_ns, NO_NS);
        let open = Open { row, line: *line, extra };
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
        self.state(task).open = number + 1;
        self.last_open[(at.file - self.capture.first_file) as usize] = task;
    }

    fn take_open(&mut self, task: u32) -> Option<Open> {
        let number = std::mem::take(&mut self.state(task).open).checked_sub(1)?;
        self.free.push(number);
        let hole = Open { row: NONE, line: Line::of(Kind::Blank), extra: None };
        Some(std::mem::replace(&mut self.open[number as usize], hole))
    }

    /// The open call of a task will not be completed: it stays open. A sleeping notice is only forgotten: the call that it
    /// announced is the one that comes now.
    fn close_open(&mut self, task: u32) {
        if let Some(open) = self.take_open(task).filter(|open| open.row != NONE) {
            let line = Line { outcome: Outcome::Open, ..open.line };
            self.rewrite(open.row, &line, NO_NS, DurKind::None);
            self.count(task, Outcome::Open);
        }
    }

    fn rewrite(&mut self, row: u32, line: &Line, dur_ns: i64, dur_kind: DurKind) {
        let events = &mut self.trace.events;
        let shape = events.shape_of(line.name, line.op, line.target, line.errno, line.outcome);
        let before = events.event(row);
        let (ret, outcome, target) = (line.ret, line.outcome, line.target);
        let cpu_ns = line.cpu_ns;
        events.set(row, &Event { shape, ret, outcome, target, dur_ns, dur_kind, cpu_ns, ..before });
    }

    fn resumed(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) -> Kind {
        let task = self.owner(line, stamp_ns, at);
        let Some(open) = self.take_open(task) else {
            self.end_without_start(task, line, extra, stamp_ns, at);
            return Kind::CallEnd;
        };
        if !self.same_call(open.line.name, line.name) {
            self.reopen(task, open);
            return Kind::Mismatched;
        }
        if line.outcome == Outcome::Open {
            // Broken off again before its end: the call is still the one that began first.
            self.reopen(task, open);
            return Kind::CallEnd;
        }
        self.join(task, open, line, extra, stamp_ns, at);
        Kind::CallEnd
    }

    fn reopen(&mut self, task: u32, open: Open) {
        self.open.push(open);
        self.state(task).open = self.open.len() as u32;
    }

    fn same_call(&self, begun: Text, ended: Text) -> bool {
        let unknown = |name: Text| self.trace.events.texts.bytes(name).starts_with(b"??");
        begun == ended || !ended.is_some() || unknown(begun) || unknown(ended)
    }

    /// The first half is lost: the start is the end minus the duration, if that is printed.
    fn end_without_start(&mut self, task: u32, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) {
        let dur_ns = line.dur_ns;
        let start_ns = if dur_ns == NO_NS || stamp_ns == NO_NS { stamp_ns } else { stamp_ns.saturating_sub(dur_ns) };
        let dur_kind = if dur_ns == NO_NS { DurKind::None } else { self.facts.dur_kind };
        let row = self.push(task, line, at, start_ns, dur_ns, dur_kind);
        self.completed(row, task, line, extra);
    }

    fn join(&mut self, task: u32, open: Open, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) {
        let start_ns = self.trace.events.start_ns(open.row);
        let (dur_ns, dur_kind) = match line.dur_ns {
            NO_NS if line.outcome == Outcome::NoReturn => (NO_NS, DurKind::None),
            NO_NS if start_ns != NO_NS && stamp_ns != NO_NS => ((stamp_ns - start_ns).max(0), DurKind::Exact),
            NO_NS => (NO_NS, DurKind::None),
            dur_ns => (dur_ns, self.facts.dur_kind),
        };
        let joined = joined(&open.line, line);
        self.rewrite(open.row, &joined, dur_ns, dur_kind);
        self.trace.events.ends.push((open.row, at.line));
        self.lived(task, start_ns, dur_ns);
        if stamp_ns != NO_NS {
            self.lived(task, start_ns.min(stamp_ns), (stamp_ns - start_ns.min(stamp_ns)).max(0));
        }
        self.completed(open.row, task, &joined, joined_extra(open.extra, extra));
    }

    /// The tail of a call that a message or a bug of the tracer cut: no prefix, no name.
    fn tail(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) -> Kind {
        let task = self.last_open[(at.file - self.capture.first_file) as usize];
        if task == NONE || line.outcome == Outcome::Open {
            return Kind::Continuation;
        }
        match self.take_open(task) {
            Some(open) => self.join(task, open, line, extra, stamp_ns, at),
            None => return Kind::Foreign,
        }
        Kind::Continuation
    }

    /// What follows from a completed call.
    fn completed(&mut self, row: u32, task: u32, line: &Line, extra: Option<Extra>) {
        self.count(task, line.outcome);
        let pair = match &extra {
            Some(Extra::Fds(fds)) => Some(fds.as_ref()),
            _ => None,
        };
        self.descriptors.completed(task - self.first_task, line, pair, &mut self.trace.events.texts);
        let undated = self.trace.events.dur_ns(row) == NO_NS && line.outcome != Outcome::NoReturn;
        self.state(task).undated = if undated { row + 1 } else { 0 };
        match extra {
            None => {}
            Some(Extra::Exec { path, argv }) => self.ran(row, task, line, path, argv),
            Some(Extra::Spawn { child, thread, vfork, .. }) => self.spawned(row, task, line, child, thread, vfork),
            Some(Extra::Born { creator_pid, thread }) => {
                self.owners.born(&mut self.trace.tasks, task, creator_pid, thread)
            }
            Some(Extra::Waited { child, ended }) => self.waited(row, task, child, ended),
            Some(Extra::Asked(asked_ns)) => self.trace.events.asked.push((row, asked_ns)),
            Some(Extra::Fds(fds)) => self.trace.events.fds.push((row, fds)),
            Some(Extra::Polled { fds, asked_ns }) => {
                self.trace.events.fds.push((row, fds));
                self.trace.events.asked.push((row, asked_ns));
            }
            Some(Extra::End(ended)) => self.exits(task, ended),
            Some(Extra::Attached(tid, begins)) => self.owners.attach(&self.trace.tasks, tid, begins),
            Some(_) => {}
        }
    }

    fn count(&mut self, task: u32, outcome: Outcome) {
        let task = &mut self.trace.tasks[task as usize];
        task.calls += 1;
        task.failed += u64::from(outcome == Outcome::Failed);
    }

    fn ran(&mut self, row: u32, task: u32, line: &Line, path: Text, argv: Text) {
        if line.outcome != Outcome::Ok {
            return;
        }
        let first = self.trace.tasks[task as usize].programs.is_empty() && !self.trace.tasks[task as usize].born;
        let started = first && self.trace.tasks[task as usize].calls == 1;
        let start_ns = self.trace.events.start_ns(row);
        let end_ns = self.trace.events.end_ns(row).unwrap_or(start_ns);
        let from_ns = if started { start_ns } else { end_ns };
        let known = &mut self.trace.tasks[task as usize];
        known.programs.push(Program { from_ns, path, argv });
        // Its first event is the start of its first program: the tracer started it.
        known.born |= started;
        self.last_exec = task;
    }

    fn spawned(&mut self, row: u32, task: u32, line: &Line, child: i32, thread: bool, vfork: bool) {
        let child = if child > 0 { i64::from(child) } else { line.ret };
        let Ok(child) = i32::try_from(child) else { return };
        if line.outcome != Outcome::Ok || child <= 0 {
            return;
        }
        let start_ns = self.trace.events.start_ns(row);
        let key = child_key(line, &self.trace.tasks[task as usize], child, thread);
        let birth = Birth { creator: task, row, thread, vfork, start_ns };
        let known = self.owners.known(key);
        self.owners.spawned(&mut self.trace.tasks, key, birth);
        // The child spoke before this call returned: only now is it known whose descriptors it has.
        if let Some(child) = known.filter(|&child| self.trace.tasks[child as usize].created_by == row) {
            self.descriptors.inherit(child - self.first_task, task - self.first_task, thread);
        }
    }

    fn waited(&mut self, row: u32, task: u32, child: i32, ended: Option<Ended>) {
        if child <= 0 {
            return;
        }
        self.trace.events.waited.push((row, child));
        let end_ns = self.trace.events.end_ns(row).unwrap_or(NO_NS);
        let known = [(NO_ID, child), (child, child), (child, 1)].iter().find_map(|&key| self.owners.known(key));
        let (Some(ended), Some(child_task)) = (ended, known.filter(|&child| child != task)) else { return };
        self.ended(child_task, ended, end_ns);
        // Where files are merged by the starts of calls, the wait comes before the last calls of the child.
        self.state(child_task).gone_ns = end_ns.max(0);
    }

    fn exits(&mut self, task: u32, ended: Ended) {
        self.trace.tasks[task as usize].ended = Some(ended);
        self.state(task).exiting = true;
        if self.facts.stamp == Stamp::End {
            let known = &mut self.trace.tasks[task as usize];
            known.death_ns = known.last_ns;
        }
    }

    /// A task is known to have ended at this time at the latest.
    fn ended(&mut self, task: u32, ended: Ended, at_ns: i64) {
        let known = &mut self.trace.tasks[task as usize];
        known.ended.get_or_insert(ended);
        if known.death_ns == NO_NS && at_ns != NO_NS {
            known.death_ns = at_ns.max(known.last_ns);
        }
    }

    fn continued(&mut self, line: &Line, extra: Option<Extra>) {
        match extra {
            Some(Extra::Exec { path, argv }) if path.is_some() => self.was_running(line, path, argv),
            Some(Extra::Exec { argv, .. }) if self.last_exec != NONE => {
                let program = self.trace.tasks[self.last_exec as usize].programs.last_mut();
                if let Some(program) = program.filter(|program| !program.argv.is_some()) {
                    program.argv = argv;
                }
            }
            Some(Extra::Signal { from, ended: Some(ended) } | Extra::Waited { child: from, ended: Some(ended) }) => {
                let known = [(NO_ID, from), (from, from), (from, 1)].iter().find_map(|&key| self.owners.known(key));
                if let Some(task) = known.filter(|_| from != line.pid) {
                    self.ended(task, ended, NO_NS);
                }
            }
            _ => {}
        }
    }

    /// The tracer says what a process that it attached to is running.
    fn was_running(&mut self, line: &Line, path: Text, argv: Text) {
        let task = self.owners.owner(&mut self.trace.tasks, line);
        let programs = &mut self.trace.tasks[task as usize].programs;
        if programs.is_empty() {
            programs.push(Program { from_ns: NO_NS, path, argv });
        }
    }

    fn told(&mut self, extra: Option<Extra>) {
        if let Some(Extra::Attached(tid, begins)) = extra {
            self.owners.attach(&self.trace.tasks, tid, begins);
        }
    }

    /// truss says once that a call sleeps; the call comes again, in full, when it returns. If it never does, it is open.
    fn asleep(&mut self, line: &Line, at: Place) {
        let task = self.owner(line, NO_NS, at);
        if self.state(task).open == 0 {
            let start_ns = if self.state(task).seen { self.state(task).last_end_ns } else { NO_NS };
            let number = self.open.len() as u32 + 1;
            self.open.push(Open { row: NONE, line: Line { stamp_ns: start_ns, ..*line }, extra: None });
            self.state(task).open = number;
        }
    }

    fn mark(&mut self, task: u32, kind: EventKind, line: &Line, stamp_ns: i64, at: Place) {
        let events = &mut self.trace.events;
        let shape = events.shape_of(line.name, line.op, line.target, line.errno, Outcome::Ok);
        events.push(&Event {
            start_ns: stamp_ns,
            dur_ns: NO_NS,
            cpu_ns: NO_NS,
            ret: line.ret,
            line: at.line,
            file: at.file,
            task,
            shape,
            target: line.target,
            kind,
            outcome: Outcome::Ok,
            dur_kind: DurKind::None,
        });
        self.lived(task, stamp_ns, NO_NS);
    }

    fn signal(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) {
        let task = self.owner(line, stamp_ns, at);
        self.trace.tasks[task as usize].signals += 1;
        let state = self.state(task);
        // The time since the last event is printed with the signal, but was spent in the call that it broke.
        if state.seen && line.target.is_some() && state.broken.is_none() {
            state.broken = Some((line.target, state.last_end_ns));
        }
        self.mark(task, EventKind::Signal, line, stamp_ns, at);
        if let Some(Extra::Signal { .. }) = extra {
            self.continued(line, extra);
        }
    }

    fn lifecycle(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) {
        if let (Some(Extra::Attached(tid, begins)), NO_ID) = (&extra, line.tid) {
            return self.owners.attach(&self.trace.tasks, *tid, *begins);
        }
        let task = self.owner(line, stamp_ns, at);
        match extra {
            Some(Extra::Superseded { by }) => return self.superseded(task, by, line, stamp_ns, at),
            Some(Extra::Born { creator_pid, thread }) => {
                self.owners.born(&mut self.trace.tasks, task, creator_pid, thread)
            }
            Some(Extra::Attached(tid, begins)) => self.owners.attach(&self.trace.tasks, tid, begins),
            _ => {}
        }
        if line.kind == Kind::Exit {
            self.exited(task, line, extra, stamp_ns, at);
        } else {
            self.mark(task, EventKind::Process, line, stamp_ns, at);
        }
    }

    fn exited(&mut self, task: u32, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: Place) {
        self.never_returned(task);
        self.mark(task, EventKind::Exit, line, stamp_ns, at);
        if let Some(Extra::End(ended)) = extra {
            self.trace.tasks[task as usize].ended = Some(ended);
        }
        let known = &mut self.trace.tasks[task as usize];
        if stamp_ns != NO_NS {
            known.death_ns = stamp_ns.max(known.last_ns);
        }
        self.owners.ended(task, (line.pid, line.tid));
    }

    fn superseded(&mut self, leader: u32, by: i32, line: &Line, stamp_ns: i64, at: Place) {
        self.close_open(leader);
        self.mark(leader, EventKind::Process, line, stamp_ns, at);
        let known = &mut self.trace.tasks[leader as usize];
        known.superseded = true;
        known.death_ns = known.last_ns;
        let (from, to): (Key, Key) = ((line.pid, by), (line.pid, line.tid));
        match self.owners.known(from) {
            Some(thread) if thread != leader => {
                self.trace.tasks[thread as usize].renamed.push((at.line, line.tid));
                self.owners.take_over(thread, from, to);
            }
            _ => self.owners.ended(leader, to),
        }
    }

    /// A message of a log: the silence behind it is its duration.
    fn message(&mut self, line: &Line, stamp_ns: i64, at: Place) {
        let task = self.owner(line, NO_NS, at);
        let undated = std::mem::take(&mut self.state(task).undated);
        if undated != 0 && stamp_ns != NO_NS {
            let start_ns = self.trace.events.start_ns(undated - 1);
            self.trace.events.set_dur(undated - 1, (stamp_ns - start_ns).max(0), DurKind::Gap);
        }
        let row = self.trace.events.len();
        self.mark(task, EventKind::Log, line, stamp_ns, at);
        self.state(task).undated = if stamp_ns == NO_NS { undated } else { row + 1 };
    }

    fn summary(&mut self, line: &Line, extra: Option<Extra>) {
        if let Some(Extra::SummaryRow { calls, failed, total_ns }) = extra {
            let syscall = self.trace.events.texts.string(line.name).into_owned();
            self.capture.summary.push(SummaryRow { syscall, calls, failed, total_ns });
        }
    }

    /// The end of the capture.
    pub(crate) fn finish(mut self, cut: bool, bytes: u64) {
        for task in self.first_task..self.trace.tasks.len() as u32 {
            self.never_returned(task);
        }
        self.capture.cut |= cut;
        self.capture.bytes = bytes;
        self.capture.unseen_children = self.owners.unseen();
        self.capture.backward_steps = self.clocks.iter().map(|clock| clock.backward_steps).sum();
        self.capture.tasks.end = self.trace.tasks.len() as u32;
        self.capture.rows.end = self.trace.events.len();
        self.trace.captures.push(self.capture);
    }

    fn never_returned(&mut self, task: u32) {
        let Some(open) = self.take_open(task) else { return };
        let line = Line { outcome: Outcome::Open, ..open.line };
        if open.row == NONE {
            let at = Place { file: self.capture.first_file, line: self.trace.tasks[task as usize].last_line };
            self.push(task, &line, at, line.stamp_ns, NO_NS, DurKind::None);
        } else {
            self.rewrite(open.row, &line, NO_NS, DurKind::None);
        }
        self.count(task, Outcome::Open);
    }
}

/// Ids under which a child will speak.
fn child_key(line: &Line, creator: &crate::tasks::Task, child: i32, thread: bool) -> Key {
    match (line.pid, thread) {
        (NO_ID, _) => (NO_ID, child),
        (_, true) => (creator.pid, child),
        (_, false) => (child, child),
    }
}

/// A call of its two halves: what works on what from the first, how it ended from the second.
fn joined(begun: &Line, ended: &Line) -> Line {
    let first = |a: Text, b: Text| if a.is_some() { a } else { b };
    Line {
        ret: ended.ret,
        outcome: ended.outcome,
        errno: ended.errno,
        cpu_ns: ended.cpu_ns,
        target: first(begun.target, ended.target),
        op: first(begun.op, ended.op),
        name: first(begun.name, ended.name),
        ..*begun
    }
}

fn joined_extra(begun: Option<Extra>, ended: Option<Extra>) -> Option<Extra> {
    match (begun, ended) {
        (
            Some(Extra::Spawn { thread, vfork, shares_files, .. }),
            Some(Extra::Spawn { child, thread: t, vfork: v, shares_files: s }),
        ) => Some(Extra::Spawn { child, thread: thread | t, vfork: vfork | v, shares_files: shares_files | s }),
        (Some(Extra::Attached(..)) | None, ended) => ended,
        (begun, Some(Extra::Waited { child, ended })) if !matches!(begun, Some(Extra::Exec { .. })) => {
            Some(Extra::Waited { child, ended })
        }
        (begun, _) => begun,
    }
}
