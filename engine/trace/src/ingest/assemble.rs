//! Lines to events: halves joined, stamps placed, tasks born and ended, each line counted once.

mod alarms;
mod broken;
mod deadlines;
mod fast_path;
mod final_places;
mod groups;
mod halves;
mod infer_creator;
mod infer_parent_by_exit;
mod infer_thread_group;
mod limits;
mod lives;
mod notes;
mod order_bounds;
mod runs;
mod stacks;

use crate::ingest::assemble::broken::Broken;
use crate::ingest::clock::{FileClock, bounded_stamp_ns};
use crate::ingest::connecting::Connecting;
use crate::ingest::descriptors::Descriptors;
use crate::ingest::task_ids::TaskIds;
use crate::store::event::{Event, EventKind, NONE, Shape};
use crate::store::facts::SeenAsleep;
use crate::store::file_chunks::FileChunks;
use crate::store::heuristics::{
    COARSE_TICK_NS, MAX_COARSE_TICKS, MAX_INSTANT_CALL_NS, MIN_CALLS_PER_TICK, STAMP_TOLERANCE_NS,
    WHOLE_SECOND_NS,
};
use crate::store::index::{ShapeId, TaskId};
use crate::store::numbers::{OpenPlace, Row};
use crate::store::recent_lines::LinePlace;
use crate::store::trace::{Capture, Trace};
use parsers::facts::DeadlineClock;
use parsers::syscalls::{self, Action, action_of};
use parsers::{
    CallPart, CaptureFacts, DurKind, Extra, Line, LineKind, NO_ID, NO_NS, Outcome, StampMoment,
    Text,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is remembered of a task between its lines.
#[derive(Clone, Copy, Default)]
struct TaskState {
    /// Place in `Assembler::open` of the call that is open.
    open: Option<OpenPlace>,
    /// The last call if it has no duration yet.
    undated: Option<Row>,
    /// The last call.
    last_row: Option<Row>,
    /// The first row that was not yet searched for calls that began during others.
    mixed_until: u32,
    /// The stamp of its last line: printed intervals count from it.
    stamped_ns: Option<i64>,
    /// End of the last event; 0 with `seen` false.
    last_end_ns: i64,
    seen: bool,
    /// It made a call that exits. The next call with its id is of another task.
    exiting: bool,
    /// It ended by the call that ends no more than one thread.
    left_alone: bool,
    /// The call that a signal interrupted. The tracer prints the call after the signal.
    broken: Option<Broken>,
    /// Its parent's wait had returned it by this time, if not 0; a later call with its id is another task's.
    gone_ns: i64,
    /// The program's name in the first line that has one.
    program: Text,
    /// The call that the kernel last resumed after a signal.
    goes_on: Text,
    /// The end of its execve, if its first line is one, as in a program that the tracer starts; otherwise 0.
    started_until_ns: i64,
    /// Its last execve, if no duration was printed. The next line of the task shows when it ended at the latest.
    ran_undated: Option<Row>,
    /// The call in which it ended.
    left_in: Option<Row>,
    /// The call that last read a clock of deadlines, and its time.
    clock_read: Option<(u32, DeadlineClock, i64)>,
}

impl TaskState {
    fn is_over(&self, stamp_ns: i64) -> bool {
        self.exiting || (self.gone_ns != 0 && stamp_ns > self.gone_ns)
    }
}

/// The first half of a call.
struct OpenCall {
    row: u32,
    /// Returned by [`crate::store::event::EventTable::begin_half`].
    half: u32,
    line: Line,
    extra: Option<Extra>,
}

/// Puts the lines of one capture into a trace.
pub(crate) struct Assembler<'trace> {
    trace: &'trace mut Trace,
    capture: Capture,
    facts: CaptureFacts,
    owners: TaskIds,
    clocks: Vec<FileClock>,
    first_task: TaskId,
    states: Vec<TaskState>,
    open: Vec<OpenCall>,
    free: Vec<u32>,
    last_open: Vec<TaskId>,
    /// The event of the last line: a stack that follows is the event's.
    last_row: u32,
    /// The same by file, if there are several, with the place of the stack that is being read.
    stack_places: Vec<stacks::StackPlace>,
    /// Open calls of further threads, in the order of their starts, if lines do not identify threads.
    parked: FxHashMap<TaskId, Vec<OpenCall>>,
    last_exec: TaskId,
    /// Groups of lines in the log of a job.
    groups: groups::Groups,
    /// The last connect, whose peer may be in a further line.
    last_connect: Option<(u32, Line)>,
    /// A name without the call that it belongs to: the capture begins between the two.
    early_name: Option<Line>,
    /// Who read the lines that come now, and the shapes of the bodies that each reader numbers.
    reader: usize,
    body_shapes: Vec<Vec<ShapeId>>,
    /// Bodies of each reader that need little thought, if the capture can have such.
    plain: Vec<Vec<Option<fast_path::FastPath>>>,
    has_plain: bool,
    descriptors: Descriptors,
    connecting: Connecting,
    /// Descriptors that are registered at epolls, and whether with `EPOLLET`, by table of descriptors, epoll, and data
    /// that the epoll returns.
    registrations: FxHashMap<(u32, i32, u64), (i32, bool)>,
    /// Alarms that are set, by process.
    alarms: FxHashMap<i32, alarms::Alarm>,
    /// See `runs`: some task of this run was created by a call that is not in it.
    hides_births: bool,
    /// Tasks up to this one have their creator's descriptors, if they have a creator.
    inherited: TaskId,
    presumed: infer_creator::Presumed,
    kin: Vec<infer_parent_by_exit::Claim>,
    members: infer_thread_group::SharedIds,
}

/// Whether lines of this kind have the capture's format.
pub(crate) fn is_understood(kind: LineKind) -> bool {
    use LineKind::{Blank, Continuation, Damaged, Foreign, OtherFormat};
    !matches!(kind, Foreign | Blank | Damaged | Continuation | OtherFormat)
}

/// The clocks of the files of a capture.
pub(crate) fn clocks(facts: &CaptureFacts, files: usize) -> Vec<FileClock> {
    let clock = FileClock::new(facts);
    if files == 1 {
        vec![clock]
    } else {
        vec![clock.merged(); files]
    }
}

/// How much of the time since or until another event of the task a call can have taken. One that never waits takes
/// next to nothing, or the CPU time that the tracer printed; the program computed in the rest.
fn in_call_ns((name, op): (Text, &[u8]), bound_ns: i64, cpu_ns: i64, facts: &CaptureFacts) -> i64 {
    let tick_ns = if facts.tick_ns < COARSE_TICK_NS {
        facts.tick_ns
    } else {
        0
    };
    let instant_ns = MAX_INSTANT_CALL_NS.max(tick_ns).max(cpu_ns);
    if bound_ns <= instant_ns || !syscalls::by_text(name).is_some_and(|call| call.never_waits(op)) {
        return bound_ns;
    }
    instant_ns
}

impl<'trace> Assembler<'trace> {
    pub(crate) fn new(trace: &'trace mut Trace, capture: Capture) -> Assembler<'trace> {
        let (facts, files) = (capture.facts, capture.files.len());
        let number = trace.captures.len() as u32;
        let first_task = trace.tasks.next_key();
        trace.events.begin_capture();
        Assembler {
            capture,
            facts,
            owners: TaskIds::new(number, &facts),
            clocks: clocks(&facts, files),
            first_task,
            states: Vec::new(),
            open: Vec::new(),
            free: Vec::new(),
            last_open: vec![TaskId::NONE; files],
            last_row: NONE,
            stack_places: vec![stacks::StackPlace::default(); files],
            parked: FxHashMap::default(),
            last_exec: TaskId::NONE,
            groups: groups::Groups::default(),
            last_connect: None,
            early_name: None,
            reader: 0,
            body_shapes: Vec::new(),
            plain: Vec::new(),
            has_plain: fast_path::can_be(&facts),
            descriptors: Descriptors::default(),
            connecting: Connecting::default(),
            registrations: FxHashMap::default(),
            alarms: FxHashMap::default(),
            hides_births: false,
            inherited: first_task,
            presumed: infer_creator::Presumed::default(),
            kin: Vec::new(),
            members: infer_thread_group::SharedIds::default(),
            trace,
        }
    }

    /// Number of the capture's first file in the trace.
    pub(crate) fn first_file(&self) -> u32 {
        self.capture.first_file
    }

    /// Whether stamps are differences to the line before, wherever that stands.
    pub(crate) fn counts_differences(&self) -> bool {
        self.facts.clock == parsers::Clock::SincePrevious && self.capture.is_order_inferred
    }

    /// Keep where the lines of a file are.
    pub(crate) fn keep_cells(&mut self, path: &str, cells: FileChunks) {
        self.trace.cells.insert(path.to_owned(), cells);
    }

    /// Name of the capture's format.
    pub(crate) fn format(&self) -> &'static str {
        self.capture.format
    }

    /// Whether any line has the capture's format.
    pub(crate) fn has_understood(&self) -> bool {
        LineKind::ALL
            .iter()
            .any(|&kind| is_understood(kind) && self.capture.lines_of(kind) > 0)
    }

    /// Whether no line at all was read, of a capture whose origin is known.
    pub(crate) fn may_be_empty(&self) -> bool {
        self.capture.recorded.is_some()
            && !LineKind::ALL
                .iter()
                .any(|&kind| kind != LineKind::Blank && self.capture.lines_of(kind) > 0)
    }

    /// Append the numbers in this trace of texts.
    pub(crate) fn map_texts<'text>(
        &mut self,
        texts: impl Iterator<Item = (&'text [u8], u32)>,
        map: &mut Vec<Text>,
    ) {
        self.trace.events.texts.add_all_hashed(texts, map);
    }

    /// The stamp of a line on the time line of its capture.
    #[inline]
    pub(crate) fn stamp(&mut self, file: u32, line: &Line) -> i64 {
        self.clocks[(file - self.capture.first_file) as usize].place_line(line)
    }

    /// Process a line. Its texts are numbered as in the trace.
    #[inline]
    pub(crate) fn line(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: LinePlace) {
        let kind = match extra {
            Some(Extra::Program { name, with }) => {
                let kind = self.take_with_facts(line, with.map(|with| *with), stamp_ns, at);
                self.runs(line, name);
                kind
            }
            extra @ Some(Extra::With(_) | Extra::Fact(_)) => {
                self.take_with_facts(line, extra, stamp_ns, at)
            }
            extra => self.take(line, extra, stamp_ns, at),
        };
        self.account(kind, 1, at.line);
        if self.stack_places.len() > 1 {
            self.of_file(kind, at);
        }
    }

    /// Process a line, and keep facts from which nothing else follows: those in addition to its extra, and all of lines
    /// that are not part of a call.
    fn take_with_facts(
        &mut self,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) -> LineKind {
        use LineKind::{Call, CallEnd, CallStart, Continuation};
        let is_of_call = matches!(line.kind, Call | CallStart | CallEnd | Continuation);
        let (extra, fact) = match extra {
            Some(Extra::With(with)) => (Some(with.0), with.1),
            Some(Extra::Fact(fact)) if !is_of_call => (None, fact),
            extra => return self.take(line, extra, stamp_ns, at),
        };
        if line.kind != LineKind::Continuation {
            self.last_row = NONE;
        }
        let kind = self.take_with_facts(line, extra, stamp_ns, at);
        // A line that is no event of its own has no row, or that of the event before it.
        let row = Some(self.last_row).filter(|&row| row != NONE);
        let is_own = |&row: &u32| {
            kind != LineKind::Continuation
                || self.speaker(line) == Some(self.trace.events.task(row))
        };
        if let Some(row) = row.filter(is_own) {
            self.trace.events.facts.keep(row, fact);
        }
        kind
    }

    /// Count lines of a kind. This is the first of them.
    #[inline]
    fn account(&mut self, kind: LineKind, lines: u64, first: u32) {
        let number = kind as usize;
        self.capture.accounting[number] += lines;
        if self.capture.first_lines[number] == 0 {
            self.capture.first_lines[number] = u64::from(first);
        }
    }

    /// Whether a line that was taken seems to be whole: as the last one of a file, it may be cut.
    pub(crate) fn is_whole(&self, line: &Line, extra: Option<&Extra>) -> bool {
        match line.kind {
            LineKind::Call => {
                let may_lack_duration =
                    line.outcome == Outcome::NoReturn || !self.facts.has_durations;
                line.dur_ns != NO_NS || may_lack_duration
            }
            // The tracer prints the end of the line when the call returns, and this one may never do.
            LineKind::CallStart if action_of(line.name).wait().is_some() => {
                !matches!(extra.map(Extra::bare), Some(Extra::Torn))
            }
            LineKind::CallStart | LineKind::Damaged | LineKind::Continuation => false,
            // Prose around a trace; in a trace alone, it is the beginning of a line.
            LineKind::Foreign => self.capture.lines_of(LineKind::Foreign) > 1,
            _ => true,
        }
    }

    /// This is the last line so far.
    pub(crate) fn ends_with(&mut self, line: &Line) {
        let is_half = line.kind == LineKind::CallStart && line.outcome == Outcome::Open;
        self.capture.lacks_next = is_half && self.facts.marks_halves;
    }

    fn take(
        &mut self,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) -> LineKind {
        match (line.kind, line.part) {
            (LineKind::Call, _) => self.whole(line, extra, stamp_ns, at),
            (LineKind::CallStart, _) => self.begun(line, extra, stamp_ns, at),
            (LineKind::CallEnd, _) => return self.resumed(line, extra, stamp_ns, at),
            (LineKind::Continuation, CallPart::Tail) => {
                return self.tail(line, extra, stamp_ns, at);
            }
            (LineKind::Continuation, _) if matches!(extra, Some(Extra::Frame { .. })) => {
                self.frame(extra, at)
            }
            (LineKind::Continuation, _) => self.continued(line, extra, stamp_ns),
            (LineKind::Notice, CallPart::Begun) => self.asleep(line, at),
            // A function that prints a text: what it says is read with the lines that are not of the tracer.
            (LineKind::Notice, _) if line.name.is_some() => self.capture.foreign_lines.push(at),
            (LineKind::Notice, _) => self.notice(extra),
            (LineKind::Signal, _) => self.signal(line, extra, stamp_ns, at),
            (LineKind::Exit | LineKind::Process, _) => self.lifecycle(line, extra, stamp_ns, at),
            (LineKind::Log, _) => self.messages(line, extra, stamp_ns, at),
            (LineKind::SummaryTable, _) => self.summary(line, extra),
            (LineKind::Dropped, _) => self.dropped(line, at),
            (LineKind::OtherFormat, _) => self.of_other_format(line, at),
            (LineKind::Elision, _) if self.capture.files.len() == 1 => {
                self.capture.elisions.push(at.line)
            }
            (LineKind::Foreign, _) => self.capture.foreign_lines.push(at),
            _ => {}
        }
        line.kind
    }

    fn owner(&mut self, line: &Line, stamp_ns: i64, at: LinePlace) -> TaskId {
        if self.facts.ids_optional && self.owners.bare() != TaskId::NONE {
            self.owners.bare_is_open = self.state(self.owners.bare()).open.is_some();
        }
        let mut task = self.owners.owner(&mut self.trace.tasks, line);
        // A task that reports its own birth is new.
        let is_birth = line.kind == LineKind::Process && action_of(line.name).creates_task();
        let is_call = matches!(line.kind, LineKind::Call | LineKind::CallStart);
        let begins = is_birth || (is_call && !self.facts.is_of_windows);
        if begins && self.state(task).is_over(stamp_ns) {
            self.close_open(task);
            self.owners.ended(task, (line.pid, line.tid));
            task = self.owners.owner(&mut self.trace.tasks, line);
        }
        if self.inherited <= task {
            self.inherit();
        }
        self.trace.tasks[task].spoke(at.line);
        self.date(task, stamp_ns);
        task
    }

    #[inline]
    fn state(&mut self, task: TaskId) -> &mut TaskState {
        let at = task.since(self.first_task).index();
        if at >= self.states.len() {
            self.states.resize(at + 1, TaskState::default());
        }
        &mut self.states[at]
    }

    /// New tasks get the descriptors of their creators, if those are known by now.
    fn inherit(&mut self) {
        for task in TaskId::all(self.inherited..self.trace.tasks.next_key()) {
            let known = &self.trace.tasks[task];
            let (creator, is_thread) = (known.creator, known.is_thread);
            let creator_moved_on = self
                .descriptors
                .take_forked(known.created_by, task.since(self.first_task));
            match creator {
                TaskId::NONE => self.presume(task),
                _ if creator_moved_on => {}
                _ => self.descriptors.inherit(
                    task.since(self.first_task),
                    creator.since(self.first_task),
                    is_thread,
                ),
            }
        }
        self.inherited = self.trace.tasks.next_key();
    }

    /// What the descriptor of a call refers to, if the line does not contain it, or lacks the peer of a socket.
    pub(super) fn target_of(&mut self, task: TaskId, line: &Line) -> Text {
        match (line.fd, line.target) {
            (NO_ID, target) => target,
            (fd, Text::NONE) => {
                let known = self.descriptors.target(task.since(self.first_task), fd);
                if known.is_some() {
                    known
                } else {
                    self.unknown_socket(task, line)
                }
            }
            (fd, target) => {
                let events = &mut self.trace.events;
                let known =
                    self.descriptors
                        .peer(task.since(self.first_task), fd, target, &events.texts);
                self.descriptors.name_pair(
                    task.since(self.first_task),
                    fd,
                    known,
                    &events.texts,
                    &mut events.socket_paths,
                );
                known
            }
        }
    }

    /// A name for a socket of unknown origin, if only sockets have such calls: so a wait for an answer to what was sent to
    /// it is found.
    fn unknown_socket(&mut self, task: TaskId, line: &Line) -> Text {
        use Action::{Receives, ReceivesMany, Sends, SendsMany};
        if !matches!(
            action_of(line.name),
            Receives | ReceivesMany | Sends | SendsMany
        ) {
            return Text::NONE;
        }
        let tid = self.trace.tasks[task].tid;
        let owner = if tid == NO_ID {
            String::new()
        } else {
            format!(" of {tid}")
        };
        let name = self
            .trace
            .events
            .texts
            .add(format!("socket:[fd {}{owner}]", line.fd).as_bytes());
        self.descriptors
            .set(task.since(self.first_task), i64::from(line.fd), name);
        name
    }

    /// A line with what does not follow from its text: the target that its descriptor stands for, and what goes on.
    fn with_target(&mut self, task: TaskId, line: &Line) -> Line {
        let (target, op) = (self.target_of(task, line), self.goes_on(task, line));
        let is_told = target == line.target && op == line.op;
        Line {
            target,
            op,
            cached: if is_told { line.cached } else { 0 },
            ..*line
        }
    }

    /// The call that a `restart_syscall` resumes. After a second signal, the line names `restart_syscall` itself.
    fn goes_on(&mut self, task: TaskId, line: &Line) -> Text {
        if !line.op.is_some() || action_of(line.name) != Action::Restarts {
            return line.op;
        }
        let state = self.state(task);
        if line.op != line.name || !state.goes_on.is_some() {
            state.goes_on = line.op;
        }
        state.goes_on
    }

    /// A call without a printed duration lasts at most until the next event of its task.
    #[inline]
    fn date(&mut self, task: TaskId, stamp_ns: i64) {
        if self.facts.has_durations || self.facts.stamp != StampMoment::Start || stamp_ns == NO_NS {
            return;
        }
        let undated = self.state(task).undated.take();
        if let Some(row) = undated.map(Row::number) {
            if self.is_elided_since(row) {
                // The next event of the task is not in the excerpt.
                return self.trace.events.set_dur(row, 0, DurKind::None);
            }
            let events = &mut self.trace.events;
            let until_next_ns = stamp_ns.saturating_sub(events.start_ns(row)).max(0);
            let Shape { syscall, op, .. } = events.shape(row);
            let dur_ns = in_call_ns(
                (syscall, events.texts.bytes(op)),
                until_next_ns,
                NO_NS,
                &self.facts,
            );
            events.set_dur(row, dur_ns, DurKind::UpperBound);
        }
    }

    /// Whether a mark for left-out lines follows the line of an event.
    fn is_elided_since(&self, row: u32) -> bool {
        self.capture
            .elisions
            .last()
            .is_some_and(|&line| line > self.trace.events.line(row))
    }

    fn whole(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64, at: LinePlace) {
        let task = self.owner(line, stamp_ns, at);
        let was_asleep = self.state(task).open.is_some() && self.asleep_in(task) == Some(line.name);
        self.close_open(task);
        let line = &self.with_target(task, line);
        let (start_ns, dur_ns, dur_kind) = self.times(task, line, stamp_ns);
        let row = self.push(task, line, at, start_ns, dur_ns, dur_kind);
        if !self.alarms.is_empty() {
            self.after_alarm(task);
        }
        if was_asleep {
            self.trace.events.facts.add::<SeenAsleep>(row, ());
        }
        if self.facts.clock == parsers::Clock::PerThread {
            self.trace.tasks[task].used_cpu(line.stamp_ns, line.cpu_ns, row);
        }
        self.check_interval(task, line, stamp_ns, row);
        if extra.is_none() {
            self.learn(line);
        }
        self.completed(row, task, line, extra);
    }

    /// Start, duration and its kind of a call printed whole. A task's first "since its previous event" counts from the
    /// start of the trace and is ignored.
    fn times(&mut self, task: TaskId, line: &Line, stamp_ns: i64) -> (i64, i64, DurKind) {
        let facts = self.facts;
        if facts.stamp != StampMoment::End || stamp_ns == NO_NS {
            let kind = if line.dur_ns == NO_NS {
                DurKind::None
            } else {
                facts.dur_kind
            };
            let known = &self.trace.tasks[task];
            let is_first = known.calls == 0 && known.first_line == known.last_line;
            let says_nothing =
                is_first && kind == DurKind::UpperBound && facts.clock == parsers::Clock::None;
            let broken = self
                .state(task)
                .broken
                .take()
                .filter(|broken| broken.call == line.name && !says_nothing);
            let before_ns = broken.map_or(0, |broken| broken.dur_ns.max(0));
            let dur_ns = if line.dur_ns == NO_NS {
                NO_NS
            } else {
                line.dur_ns.saturating_add(before_ns)
            };
            return (stamp_ns, if says_nothing { 0 } else { dur_ns }, kind);
        }
        let state = *self.state(task);
        if facts.names_processes
            && facts.dur_kind == DurKind::Exact
            && state.seen
            && line.dur_ns != NO_NS
        {
            // A call that a signal broke off began before the line of the signal.
            let free_ns = state.broken.map_or(state.last_end_ns, |broken| {
                broken.start_ns.min(state.last_end_ns)
            });
            let is_open =
                stamp_ns.saturating_sub(line.dur_ns) < free_ns.saturating_sub(STAMP_TOLERANCE_NS);
            if is_open {
                self.capture.mixed_calls +=
                    1 + self.calls_since(task, stamp_ns.saturating_sub(line.dur_ns));
            }
        }
        self.state(task).broken = None;
        // In an excerpt that is out of order, a task's first difference is not in its first line.
        let may_be_first = !state.seen || state.last_end_ns != 0;
        let dur_ns = match (
            state.broken.filter(|broken| broken.call == line.name),
            line.dur_ns,
        ) {
            (Some(broken), _) => stamp_ns.saturating_sub(broken.start_ns).max(0),
            // What does not return has none.
            (None, NO_NS) if facts.has_durations => 0,
            (None, NO_NS)
                if state
                    .last_row
                    .is_some_and(|row| self.is_elided_since(row.number())) =>
            {
                0
            }
            (None, NO_NS) if state.seen => stamp_ns.saturating_sub(state.last_end_ns).max(0),
            (None, NO_NS) => 0,
            (None, dur_ns)
                if may_be_first && facts.dur_kind == DurKind::UpperBound && dur_ns >= stamp_ns =>
            {
                0
            }
            (None, dur_ns) => dur_ns,
        };
        let dur_ns = match facts.dur_kind {
            DurKind::UpperBound => {
                let op = self.trace.events.texts.bytes(line.op);
                in_call_ns((line.name, op), dur_ns, line.cpu_ns, &facts)
            }
            _ => dur_ns,
        };
        (stamp_ns.saturating_sub(dur_ns), dur_ns, facts.dur_kind)
    }

    /// ```text
    /// 7:  0.9000 0.0500 read(3, "x", 1)  = 1
    /// 7:  1.0000 0.8000 nanosleep({ 0.8 }) = 0        began before that read: another thread made it
    /// ```
    ///
    /// The calls of a process that began after another one that is printed later, each counted once.
    fn calls_since(&mut self, task: TaskId, start_ns: i64) -> u64 {
        const MAX_ROWS: u32 = 1024;
        let until = self.trace.events.len();
        let from = self
            .state(task)
            .mixed_until
            .max(until.saturating_sub(MAX_ROWS));
        let events = &self.trace.events;
        let calls = (from..until)
            .filter(|&row| events.task(row) == task && events.start_ns(row) > start_ns)
            .count() as u64;
        self.state(task).mixed_until = until;
        calls
    }

    /// ```text
    /// 7:  1.0000 0.0004 read(3, "x", 1)  = 1
    /// 7:  9.0000 0.0001 close(3)         = 0         not joined: it counts from 8.9999
    /// ```
    ///
    /// Check that the interval printed with a call begins at the previous line of its task.
    fn check_interval(&mut self, task: TaskId, line: &Line, stamp_ns: i64, row: u32) {
        let Some(since_ns) = self.stamped(task, stamp_ns) else {
            return;
        };
        // The reader sets the interval of a call that does not return to 0: it is stamped when it is entered.
        let is_one_way = line.dur_ns == 0 && line.ret == NO_NS && line.outcome != Outcome::Failed;
        let begin_ns = stamp_ns.saturating_sub(line.dur_ns);
        // A task's first interval counts from the start of the trace.
        let is_first = begin_ns <= self.facts.tick_ns;
        if line.dur_ns != NO_NS && !is_one_way && !is_first && since_ns != begin_ns {
            self.capture.unjoined.push((row, begin_ns));
        }
    }

    /// A task has a line with this stamp. The stamp of its previous line, or [`NO_NS`]; `None` if lines do not print the time
    /// since the previous line of the task.
    #[inline]
    fn stamped(&mut self, task: TaskId, stamp_ns: i64) -> Option<i64> {
        let facts = &self.facts;
        let counts = facts.stamp == StampMoment::End
            && facts.dur_kind == DurKind::UpperBound
            && facts.has_durations;
        if !counts || stamp_ns == NO_NS || self.capture.envelopes.has_clock {
            return None;
        }
        let before_ns = self.state(task).stamped_ns.replace(stamp_ns);
        Some(before_ns.unwrap_or(NO_NS))
    }

    /// The reader of the following lines. It may have numbered the bodies of lines anew.
    pub(crate) fn set_reader(&mut self, reader: usize, forgot: bool) {
        if reader >= self.body_shapes.len() {
            self.body_shapes.resize(reader + 1, Vec::new());
        }
        self.reader = reader;
        if forgot {
            self.body_shapes[reader].clear();
            self.plain.get_mut(reader).into_iter().for_each(Vec::clear);
        }
    }

    /// The shape of a call; looked up once for each body of a line.
    fn shape_of(&mut self, line: &Line) -> ShapeId {
        let events = &mut self.trace.events;
        let mut new = || events.shape_of(line.name, line.op, line.target, line.errno, line.outcome);
        let Some((at, known)) = (line.cached as usize)
            .checked_sub(1)
            .zip(self.body_shapes.get_mut(self.reader))
        else {
            return new();
        };
        if at >= known.len() {
            known.resize(at + 1, ShapeId::NONE);
        }
        if !known[at].is_some() {
            known[at] = new();
        }
        known[at]
    }

    fn push(
        &mut self,
        task: TaskId,
        line: &Line,
        at: LinePlace,
        start_ns: i64,
        dur_ns: i64,
        dur_kind: DurKind,
    ) -> u32 {
        let shape = self.shape_of(line);
        let events = &mut self.trace.events;
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
        self.state(task).last_row = Some(Row::new(row));
        self.last_row = row;
        row
    }

    /// Extend the known lifetime of a task and of the capture by a span.
    #[inline]
    fn lived(&mut self, task: TaskId, start_ns: i64, dur_ns: i64) {
        if start_ns != NO_NS {
            let end_ns = if dur_ns == NO_NS {
                start_ns
            } else {
                start_ns.saturating_add(dur_ns)
            };
            self.lived_until(task, start_ns, end_ns, end_ns);
        }
    }

    /// The same for two spans. The second one ended at this time.
    #[inline]
    fn lived_until(&mut self, task: TaskId, from_ns: i64, to_ns: i64, end_ns: i64) {
        self.trace.tasks[task].lived(from_ns, to_ns);
        self.capture.lived(from_ns, to_ns);
        let state = self.state(task);
        (state.last_end_ns, state.seen) = (end_ns, true);
    }

    #[inline]
    fn count(&mut self, task: TaskId, outcome: Outcome) {
        self.trace.tasks[task].called(outcome);
    }

    fn mark(&mut self, task: TaskId, kind: EventKind, line: &Line, stamp_ns: i64, at: LinePlace) {
        let events = &mut self.trace.events;
        let shape = events.shape_of(line.name, line.op, line.target, line.errno, Outcome::Ok);
        self.last_row = events.push(&Event {
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

    /// The end of the file, and with it of the last capture in it, which had so many bytes.
    pub(crate) fn finish(mut self, cut: bool, bytes: u64) {
        self.lasts_until_its_end();
        self.close(cut, bytes);
        let runs = self.capture.run;
        let before = self.trace.captures.len() - runs as usize;
        self.trace
            .captures
            .iter_mut()
            .skip(before)
            .for_each(|capture| capture.runs = runs);
    }

    /// ```text
    /// 7  |read|~~ computes ~~|- nanosleep <detached ...>      the last line
    /// tracer  -------------------------------------|          lets go much later
    /// ```
    ///
    /// Tasks that still lived when the tracer let go of them lived until then, and so did their calls.
    fn lasts_until_its_end(&mut self) {
        let Some(ended_ns) = self.capture.ended_ns().map(bounded_stamp_ns) else {
            return;
        };
        for task in self.trace.tasks.iter_mut().skip(self.first_task.index()) {
            let is_alive = task.death_ns == NO_NS && task.ended.is_none() && !task.superseded;
            if is_alive && task.birth_ns != NO_NS {
                task.last_ns = task.last_ns.max(ended_ns);
                self.capture.last_ns = self.capture.last_ns.max(ended_ns);
            }
        }
        let threads = self
            .capture
            .recorded
            .iter()
            .flat_map(|known| &known.threads);
        let pairs = threads.filter(|(pid, tid)| pid != tid);
        self.members.extend(pairs.map(|&ids| (ids, NO_NS)));
    }

    /// The process that the tracer attached to with all its threads, if it is only one, and how many of these other than its
    /// main thread have no line.
    fn recorded_group(&self) -> Option<(i32, u32)> {
        let threads = &self.capture.recorded.as_ref()?.threads;
        let &(pid, _) = threads.first()?;
        let is_only = threads.iter().all(|&(other, _)| other == pid);
        let tasks = self.trace.tasks.iter().skip(self.first_task.index());
        let seen: FxHashSet<i32> = tasks.map(|task| task.tid).collect();
        let is_silent = |tid: i32| tid != pid && !seen.contains(&tid);
        let silent = threads.iter().filter(|&&(_, tid)| is_silent(tid)).count();
        is_only.then_some((pid, silent as u32))
    }

    /// The end of the capture.
    fn close(&mut self, cut: bool, bytes: u64) {
        for task in self.own_tasks() {
            if self.state(task).open.is_some() {
                self.never_returned(task);
                // It is still in the call when the capture ends.
                let known = &mut self.trace.tasks[task];
                if known.death_ns == NO_NS {
                    known.last_ns = known.last_ns.max(self.capture.last_ns);
                }
            }
            self.leave_parked(task);
        }
        self.move_to_final_places();
        for task in self.own_tasks() {
            self.name_program(task);
            self.began(task);
        }
        self.infer_creators();
        self.infer_parents();
        self.infer_thread_groups();
        self.name_attached();
        self.compare_clocks();
        self.bound_by_order();
        self.bound_by_limits();
        self.capture.cut |= cut;
        self.capture.bytes = bytes;
        // Tracers of systems with such a call follow all threads of a process; a thread without a call has no line.
        let is_followed = |row: u32| {
            row < self.trace.events.len() && self.trace.events.action(row) == Action::CreatesThread
        };
        let shapes = self.trace.events.shapes();
        self.capture.mixes_threads = self.facts.names_processes
            && shapes.iter().any(|shape| {
                action_of(shape.syscall) == Action::CreatesThread && shape.outcome == Outcome::Ok
            });
        let unseen = || self.owners.unseen().filter(|birth| !is_followed(birth.row));
        self.capture.unseen_threads = unseen().filter(|birth| birth.thread).count() as u64;
        self.capture.attached_process = self
            .owners
            .attached_group()
            .or_else(|| self.recorded_group());
        self.capture.unseen_children = unseen().count() as u64;
        self.capture.backward_steps = self.clocks.iter().map(|clock| clock.backward_steps).sum();
        self.capture.tasks.end = self.trace.tasks.next_key();
        self.capture.rows.end = self.trace.events.len();
        self.capture.is_too_coarse = self.is_too_coarse();
        self.trace.captures.push(self.capture.clone());
    }

    /// Whether the clock of the capture shows whole seconds, none of which passed within a call, and many calls in each.
    fn is_too_coarse(&self) -> bool {
        let (events, facts) = (&self.trace.events, &self.facts);
        let ticks = self.capture.last_ns.saturating_sub(self.capture.first_ns) / WHOLE_SECOND_NS;
        let calls = i64::from(self.capture.rows.end - self.capture.rows.start);
        let is_short =
            ticks <= MAX_COARSE_TICKS && calls >= MIN_CALLS_PER_TICK.saturating_mul(ticks + 1);
        let gives_seconds = facts.tick_ns >= WHOLE_SECOND_NS
            && facts.dur_kind == DurKind::UpperBound
            && self.capture.first_ns != NO_NS;
        let starts = || {
            self.capture
                .rows
                .clone()
                .map(|row| events.start_ns(row))
                .filter(|&start_ns| start_ns != NO_NS)
        };
        gives_seconds
            && is_short
            && starts()
                .zip(starts().skip(1))
                .all(|(one_ns, next_ns)| (one_ns - next_ns).abs() <= WHOLE_SECOND_NS)
    }
}
