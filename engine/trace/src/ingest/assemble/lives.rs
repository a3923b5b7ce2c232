//! Effects of a line on tasks: births, programs, waits and ends.

use crate::ingest::assemble::Assembler;
use crate::ingest::connecting::reports_connect;
use crate::ingest::descriptors::passed::Passing;
use crate::ingest::task_ids::{Birth, PrintedIds};
use crate::store::event::{Connected, EventKind};
use crate::store::facts::{ConnectOutcome, EdgeTriggered, PolledTargets, ReadyTarget, Sink};
use crate::store::heuristics::{MAX_THREAD_AFTER_EXIT_NS, MAX_UNSEEN_START_NS, MIN_HIGH_FD};
use crate::store::index::TaskId;
use crate::store::numbers::Row;
use crate::store::recent_lines::LinePlace;
use crate::store::resolution::is_coarse;
use crate::store::tasks::{self, Program};
use parsers::facts::{
    Access, Created, Fact, Fds, OpenedFor, ReadyFd, Sender, SyncsWrites, Timeout, WaitedChild,
};
use parsers::line::Ended;
use parsers::syscalls::{Action, action_of};
use parsers::{CallPart, Extra, Line, LineKind, NO_ID, NO_NS, Outcome, StampMoment, Text};

impl Assembler<'_> {
    fn names_socket(&mut self, task: TaskId, fd: i32, address: Text) {
        self.descriptors.named(
            task.since(self.first_task),
            fd,
            address,
            &self.trace.events.texts,
        );
    }

    /// A call may begin a connect that does not wait, or report the outcome of one.
    fn connects(&mut self, row: u32, task: TaskId, line: &Line) {
        let texts = &self.trace.events.texts;
        let (name, errno) = (texts.bytes(line.name), texts.bytes(line.errno));
        if line.fd == NO_ID || (name != b"connect" && !reports_connect(errno)) {
            return;
        }
        if name == b"connect" {
            self.last_connect = Some((row, *line));
        }
        let table = self.descriptors.table_number(task.since(self.first_task));
        let connect = self.connecting.completed(table, line, name, errno, row);
        let errno = if errno == b"EISCONN" {
            Text::NONE
        } else {
            line.errno
        };
        if let Some(connect) = connect {
            self.connect_ended(connect, Connected { errno, by: row });
        }
    }

    fn connect_ended(&mut self, connect: u32, outcome: Connected) {
        self.trace
            .events
            .facts
            .add::<ConnectOutcome>(connect, outcome);
    }

    /// The pending error of a socket was read.
    fn socket_error(&mut self, row: u32, task: TaskId, line: &Line, errno: Text) {
        if self.trace.events.texts.bytes(line.op) == b"SO_ERROR" {
            let table = self.descriptors.table_number(task.since(self.first_task));
            let connect = self.connecting.read_error(table, line.fd);
            if let Some(connect) = connect {
                self.connect_ended(connect, Connected { errno, by: row });
            }
        }
    }

    /// What follows from a completed call.
    pub(super) fn completed(&mut self, row: u32, task: TaskId, line: &Line, extra: Option<Extra>) {
        self.count(task, line.outcome);
        if line.outcome == Outcome::Failed && line.fd >= MIN_HIGH_FD {
            self.misses_descriptor(task, line);
        }
        let pair = match &extra {
            Some(Extra::Fact(Fact::Fds(fds))) => Some(fds.as_ref()),
            _ => None,
        };
        self.descriptors.completed(
            task.since(self.first_task),
            line,
            pair,
            &mut self.trace.events.texts,
        );
        self.connects(row, task, line);
        if line.outcome == Outcome::NoReturn {
            self.state(task).left_in = Some(Row::new(row));
        }
        // With printed durations it is not needed.
        let may_be = !self.facts.has_durations && line.outcome != Outcome::NoReturn;
        let undated = may_be && self.trace.events.dur_ns(row) == NO_NS;
        self.state(task).undated = undated.then(|| Row::new(row));
        let texts = &self.trace.events.texts;
        let is_broken_off = line.outcome == Outcome::Failed && texts.bytes(line.errno) == b"EINTR";
        if matches!(line.outcome, Outcome::Interrupted | Outcome::NoReturn) || is_broken_off {
            self.is_open_on(row, line);
        }
        match extra {
            None => {}
            Some(Extra::Fact(fact)) => self.keep_fact(row, task, line, fact),
            Some(Extra::Exec { path, argv }) => self.ran(row, task, line, path, argv),
            Some(Extra::Spawn {
                child,
                thread,
                vfork,
                ..
            }) => self.spawned(row, task, line, child, thread, vfork),
            Some(Extra::Born {
                creator_pid,
                thread,
            }) => self
                .owners
                .born(&mut self.trace.tasks, task, creator_pid, thread),
            Some(Extra::Waited { child, ended }) => self.waited(row, task, child, ended),
            Some(Extra::Into { fd, target }) => self.moves_into(row, task, line, fd, target),
            Some(Extra::Opened {
                created: made,
                access,
                syncs,
            }) => self.opened(row, made, access, syncs),
            Some(Extra::OwnAddress(address)) => self.names_socket(task, line.fd, address),
            Some(Extra::SocketError(errno)) => self.socket_error(row, task, line, errno),
            Some(Extra::Alarm(after_ns)) => self.sets_alarm(task, row, after_ns),
            Some(Extra::ClockRead(clock, now_ns)) => {
                self.state(task).clock_read = Some((row, clock, now_ns))
            }
            Some(Extra::Passed(fds)) => self.passed(row, task, line, &fds),
            Some(Extra::Registered { fd, data, edge }) => {
                if line.outcome == Outcome::Ok {
                    self.registers(task, line.fd, data, (fd, edge));
                }
                self.polls(row, task, Box::new([fd]));
            }
            Some(Extra::Returned { data, timeout_ns }) => {
                let table = self.descriptors.table_number(task.since(self.first_task));
                if let Some(&(fd, edge)) = self.registrations.get(&(table, line.fd, data)) {
                    self.found_ready(row, task, fd);
                    if edge {
                        self.trace.events.facts.add::<EdgeTriggered>(row, ());
                    }
                }
                self.trace.events.facts.add::<Timeout>(row, timeout_ns);
            }
            Some(Extra::Polled {
                fds,
                timeout_ns,
                ready,
            }) => {
                self.found_ready(row, task, ready);
                self.polls(row, task, fds);
                self.trace.events.facts.add::<Timeout>(row, timeout_ns);
            }
            Some(Extra::End(ended)) => {
                self.exits(task, ended);
                self.state(task).left_alone = true;
            }
            Some(Extra::Parent(pid)) => self.has_parent(task, pid, self.trace.events.start_ns(row)),
            Some(Extra::Member { pid, tid }) => self.is_member(row, line, pid, tid),
            Some(Extra::GroupEnd(ended)) => {
                self.exits(task, ended);
                let at_ns = self
                    .trace
                    .events
                    .end_ns(row)
                    .unwrap_or(self.trace.events.start_ns(row));
                self.siblings_end(task, ended, at_ns);
            }
            Some(Extra::ThreadEnd) => {
                self.was_thread(task);
                self.exits(task, Ended::Exited(0));
            }
            Some(Extra::Attached(tid, begins)) => self.owners.attach(tid, begins),
            Some(extra @ (Extra::Contended | Extra::Limited))
                if line.outcome == Outcome::Interrupted =>
            {
                self.waits(row, &extra);
            }
            Some(_) => {}
        }
    }

    /// Keep a fact of a completed call, and what follows from it.
    fn keep_fact(&mut self, row: u32, task: TaskId, line: &Line, fact: Fact) {
        match fact {
            Fact::Fds(fds) => self.polls(row, task, fds),
            Fact::Joins(id) => self.joins(row, task, line, id),
            Fact::Deadline((clock, until_ns)) => self.waits_until(row, task, clock, until_ns),
            fact => self.trace.events.facts.keep(row, fact),
        }
    }

    /// A call on a high descriptor failed.
    fn misses_descriptor(&mut self, task: TaskId, line: &Line) {
        let is_sweep = matches!(action_of(line.name), Action::Closes | Action::ControlsFile);
        if is_sweep && self.trace.events.texts.bytes(line.errno) == b"EBADF" {
            self.trace.events.not_open(task, line.fd);
        }
    }

    /// ```text
    /// creator  |- clone = 2 -|
    /// task 2                 ^          |--call--|      a filter left out what it did here, or it only computed
    /// ```
    ///
    /// A task that appears late lives from the end of the call that created it.
    pub(super) fn began(&mut self, task: TaskId) {
        let (events, known) = (&self.trace.events, &mut self.trace.tasks[task]);
        if known.vfork || known.created_by >= events.len() || known.birth_ns == NO_NS {
            return;
        }
        let created_ns = events.end_ns(known.created_by);
        if let Some(created_ns) =
            created_ns.filter(|&created_ns| known.birth_ns - created_ns > MAX_UNSEEN_START_NS)
        {
            known.birth_ns = created_ns;
        }
    }

    /// A call moved something from one descriptor into another.
    fn moves_into(&mut self, row: u32, task: TaskId, line: &Line, fd: i32, printed: Text) {
        if self.trace.events.texts.bytes(line.name) == b"inotify_add_watch" {
            return self.descriptors.watches(
                task.since(self.first_task),
                fd,
                line.target,
                &mut self.trace.events.texts,
            );
        }
        let (task, texts) = (task.since(self.first_task), &self.trace.events.texts);
        let sink = match printed {
            Text::NONE => self.descriptors.target(task, fd),
            printed => self.descriptors.peer(task, fd, printed, texts),
        };
        if sink.is_some() {
            self.trace.events.facts.add::<Sink>(row, sink);
        }
    }

    fn opened(&mut self, row: u32, made: Text, access: Access, syncs: bool) {
        let facts = &mut self.trace.events.facts;
        if made.is_some() {
            facts.add::<Created>(row, made);
        }
        if access != Access::Reads {
            facts.add::<OpenedFor>(row, access);
        }
        if syncs {
            facts.add::<SyncsWrites>(row, ());
        }
    }

    /// A call sent or received descriptors. What a call sends that is printed in halves is on its way from the first
    /// on.
    pub(super) fn passed(&mut self, row: u32, task: TaskId, line: &Line, fds: &[i32]) {
        let events = &self.trace.events;
        let sends = matches!(action_of(line.name), Action::Sends | Action::SendsMany);
        let at_ns = if sends {
            events.start_ns(row)
        } else {
            events.end_ns(row).unwrap_or(i64::MAX)
        };
        let call = Passing {
            row,
            at_ns,
            task: task.since(self.first_task),
            end: line.target,
            fds,
        };
        match line.outcome {
            Outcome::Ok if !sends => self.descriptors.received(call, &events.texts),
            Outcome::Ok if line.part == CallPart::Whole => {
                self.descriptors.sent(call, &events.texts)
            }
            Outcome::Open if line.part == CallPart::Begun && sends => {
                self.descriptors.sent(call, &events.texts)
            }
            Outcome::Ok | Outcome::Open => {}
            _ => self.descriptors.unsent(row),
        }
    }

    pub(super) fn polls(&mut self, row: u32, task: TaskId, fds: Box<[i32]>) {
        let targets = fds
            .iter()
            .map(|&fd| self.descriptors.target(task.since(self.first_task), fd));
        let targets: Box<[Text]> = targets.filter(|target| target.is_some()).collect();
        let facts = &mut self.trace.events.facts;
        if !targets.is_empty() {
            facts.add::<PolledTargets>(row, targets);
        }
        facts.add::<Fds>(row, fds);
    }

    /// From now on, this epoll returns `data` for a descriptor.
    pub(super) fn registers(&mut self, task: TaskId, epoll: i32, data: u64, ready: (i32, bool)) {
        let table = self.descriptors.table_number(task.since(self.first_task));
        self.registrations.insert((table, epoll, data), ready);
    }

    /// A poll of several descriptors ended because this one was ready.
    fn found_ready(&mut self, row: u32, task: TaskId, fd: i32) {
        if fd == NO_ID {
            return;
        }
        self.trace.events.facts.add::<ReadyFd>(row, fd);
        let target = self.descriptors.target(task.since(self.first_task), fd);
        if target.is_some() {
            self.trace.events.facts.add::<ReadyTarget>(row, target);
        }
    }

    pub(super) fn ran(&mut self, row: u32, task: TaskId, line: &Line, path: Text, argv: Text) {
        if line.outcome != Outcome::Ok {
            return;
        }
        self.is_no_thread(task);
        let first = self.trace.tasks[task].programs.is_empty() && !self.trace.tasks[task].born;
        let started = first && self.trace.tasks[task].calls == 1;
        let start_ns = self.trace.events.start_ns(row);
        let end_ns = self.trace.events.end_ns(row).unwrap_or(start_ns);
        let from_ns = if started {
            start_ns
        } else {
            self.program_start_ns(end_ns)
        };
        let known = &mut self.trace.tasks[task];
        known.run(Program {
            from_ns,
            path,
            argv,
        });
        // Its first event is the start of its first program: the tracer started it.
        known.born |= started;
        self.state(task).started_until_ns = if started { end_ns } else { 0 };
        let is_undated = self.trace.events.dur_ns(row) == NO_NS;
        self.state(task).ran_undated = is_undated.then(|| Row::new(row));
        self.last_exec = task;
    }

    /// ```text
    /// 100 vfork( <unfinished ...>
    /// 101 execve("/bin/true", …) = 0 <0.5>       its first line: it seemed to be started by the tracer
    /// 100 <... vfork resumed>) = 101
    /// ```
    ///
    /// A task that began with a whole execve was created by another task, so it ran the creator's program until then.
    fn ran_as_a_child(&mut self, child: TaskId) {
        let ended_ns = std::mem::take(&mut self.state(child).started_until_ns);
        if ended_ns <= 0 {
            return;
        }
        let from_ns = self.program_start_ns(ended_ns);
        if let Some(first) = self.trace.tasks[child].programs.first_mut() {
            first.from_ns = from_ns;
        }
    }

    /// A vfork returned: without printed durations, that is the latest end of the child's execve. The child's next line
    /// may precede it.
    fn ran_during_vfork(&mut self, child: TaskId, vfork: u32) {
        let Some(exec) = self.state(child).ran_undated.take().map(Row::number) else {
            return;
        };
        let is_last = self.state(child).undated.map(Row::number) == Some(exec);
        if let Some(end_ns) = self.trace.events.end_ns(vfork).filter(|_| is_last) {
            self.date(child, end_ns);
        }
        let Some(end_ns) = self.trace.events.end_ns(exec) else {
            return;
        };
        let from_ns = self.program_start_ns(end_ns);
        if let Some(program) = self.trace.tasks[child].programs.last_mut() {
            program.from_ns = from_ns;
        }
    }

    /// The start of the program whose execve ended at this time.
    fn program_start_ns(&self, end_ns: i64) -> i64 {
        // The calls of a program are stamped no finer than the tick that the one before them ended in.
        let is_placed = is_coarse(&self.facts) && self.clocks.len() == 1;
        let tick_ns = if is_placed {
            1
        } else {
            self.facts.tick_ns.max(1)
        };
        end_ns.saturating_sub(end_ns.rem_euclid(tick_ns))
    }

    /// It runs a program under its own id, which a thread does under that of its process.
    fn is_no_thread(&mut self, task: TaskId) {
        let known = &mut self.trace.tasks[task];
        if known.is_thread && known.adopted && known.renamed().is_empty() {
            (known.is_thread, known.adopted, known.creator, known.pid) =
                (false, false, TaskId::NONE, known.tid);
        }
    }

    pub(super) fn spawned(
        &mut self,
        row: u32,
        task: TaskId,
        line: &Line,
        child: i32,
        thread: bool,
        vfork: bool,
    ) {
        let child = if child > 0 {
            i64::from(child)
        } else {
            line.ret
        };
        let Ok(child) = i32::try_from(child) else {
            return;
        };
        if line.outcome != Outcome::Ok || child <= 0 {
            return;
        }
        let start_ns = self.trace.events.start_ns(row);
        let key = child_key(
            line,
            &self.trace.tasks[task],
            child,
            thread,
            self.facts.one_process,
        );
        let first_line = if self.capture.files.len() > 1 {
            0
        } else {
            self.trace.events.line(row)
        };
        let birth = Birth {
            creator: task,
            row,
            thread,
            vfork,
            start_ns,
            line: first_line,
        };
        let known = self.owners.child(key);
        self.owners.links_late |= known.is_some() && line.part == CallPart::Whole;
        if known.is_none() && !thread {
            self.descriptors.forked(row, task.since(self.first_task));
        }
        let linked = self.owners.spawned(&mut self.trace.tasks, key, birth);
        let Some(child) = linked else {
            return self.created(&birth, key);
        };
        self.ran_as_a_child(child);
        if vfork {
            self.ran_during_vfork(child, row);
        }
        // The child appeared before this call returned. If that was not expected, the owner of its
        // descriptors is known only now.
        let was_presumed = self.presumed.confirm(child, row);
        if was_presumed == Some(false) {
            self.descriptors.forget(child.since(self.first_task));
        }
        if was_presumed != Some(true) {
            self.descriptors.inherit(
                child.since(self.first_task),
                task.since(self.first_task),
                thread,
            );
            self.descendants_inherit(child);
        }
    }

    /// A task has the descriptors of its creator, which it passed on before this was known.
    fn descendants_inherit(&mut self, child: TaskId) {
        const MAX_TASKS: usize = 64;
        let mut parents = vec![child];
        for task in TaskId::all(child.next()..self.trace.tasks.next_key()).take(MAX_TASKS) {
            let known = &self.trace.tasks[task];
            if parents.contains(&known.creator) {
                let (own, creator) = (
                    task.since(self.first_task),
                    known.creator.since(self.first_task),
                );
                self.descriptors.inherit(own, creator, known.is_thread);
                parents.push(task);
            }
        }
    }

    pub(super) fn waited(&mut self, row: u32, task: TaskId, child: i32, ended: Option<Ended>) {
        if child < 0 {
            return;
        }
        self.trace.events.facts.add::<WaitedChild>(row, child);
        if child == 0 {
            return;
        }
        let end_ns = self.trace.events.end_ns(row).unwrap_or(NO_NS);
        self.is_parent(task, child, end_ns);
        let known = self.owners.process(child);
        let (Some(ended), Some(child_task)) = (ended, known.filter(|&child| child != task)) else {
            return;
        };
        self.ended(child_task, ended, end_ns);
        // Where files are merged by the starts of calls, the wait comes before the last calls of the child.
        if !self.capture.is_order_inferred {
            self.state(child_task).gone_ns = end_ns.max(0);
        }
    }

    /// A task ended alone, as threads do. If the flags of the call that created it are hidden, it is a thread.
    fn was_thread(&mut self, task: TaskId) {
        let known = &self.trace.tasks[task];
        let Some(creator) = self
            .trace
            .tasks
            .get(known.creator)
            .filter(|_| known.programs.is_empty())
        else {
            return;
        };
        let pid = creator.pid;
        let known = &mut self.trace.tasks[task];
        (known.is_thread, known.pid) = (true, pid);
    }

    pub(super) fn exits(&mut self, task: TaskId, ended: Ended) {
        self.trace.tasks[task].ended = Some(ended);
        self.state(task).exiting = true;
        self.owners.leaves(task);
        // What ends with a call has no line of its own for its end.
        if self.facts.stamp != StampMoment::None {
            let known = &mut self.trace.tasks[task];
            known.death_ns = known.last_ns;
        }
    }

    /// A task is known to have ended at this time at the latest.
    pub(super) fn ended(&mut self, task: TaskId, ended: Ended, at_ns: i64) {
        let known = &mut self.trace.tasks[task];
        known.ended.get_or_insert(ended);
        if known.death_ns == NO_NS && at_ns != NO_NS {
            known.death_ns = at_ns.max(known.last_ns);
        }
    }

    pub(super) fn signal(
        &mut self,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) {
        let task = self.owner(line, stamp_ns, at);
        self.stamped(task, stamp_ns);
        self.trace.tasks[task].signals += 1;
        self.alarm_fires(task, line);
        self.interrupts(task, line, extra.as_ref(), stamp_ns, at);
        self.mark(task, EventKind::Signal, line, stamp_ns, at);
        let row = self.last_row;
        match extra {
            Some(Extra::Signal { from, ref ended }) => {
                self.sent_by(task, from);
                if ended.is_some() {
                    self.is_parent(task, from, stamp_ns);
                }
                self.continued(line, extra, NO_NS);
            }
            // The default action killed the process. No separate line reports its end.
            Some(Extra::GroupEnd(ended)) => {
                self.never_returned(task);
                self.exits(task, ended);
                self.siblings_end(task, ended, stamp_ns);
            }
            _ => {}
        }
        // The call that it ended may have got a row after its own: what follows is about the signal.
        self.last_row = row;
    }

    /// The signal that a task got last is from this process.
    pub(super) fn sent_by(&mut self, task: TaskId, from: i32) {
        let events = &mut self.trace.events;
        let last = events.len().checked_sub(1).filter(|_| from > 0);
        if let Some(row) =
            last.filter(|&row| events.kind(row) == EventKind::Signal && events.task(row) == task)
        {
            events.facts.add::<Sender>(row, from);
        }
    }

    pub(super) fn lifecycle(
        &mut self,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) {
        match (&extra, line.tid) {
            (Some(Extra::Attached(tid, begins)), NO_ID) => {
                return self.owners.attach(*tid, *begins);
            }
            (Some(Extra::AttachedAll { pid, threads }), _) => {
                return self.owners.attach_all(*pid, *threads);
            }
            _ => {}
        }
        let task = self.owner(line, stamp_ns, at);
        self.stamped(task, stamp_ns);
        match extra {
            Some(Extra::Superseded { by }) => return self.superseded(task, by, line, stamp_ns, at),
            Some(Extra::Born {
                creator_pid,
                thread,
            }) => self
                .owners
                .born(&mut self.trace.tasks, task, creator_pid, thread),
            Some(Extra::Attached(tid, begins)) => self.owners.attach(tid, begins),
            _ => {}
        }
        if line.kind == LineKind::Exit {
            self.exited(task, line, extra, stamp_ns, at);
        } else {
            self.mark(task, EventKind::Process, line, stamp_ns, at);
        }
    }

    pub(super) fn exited(
        &mut self,
        task: TaskId,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) {
        if let Some(Extra::GroupEnd(Ended::Killed(_))) = extra {
            self.never_printed(task, line, at);
        }
        self.never_returned(task);
        self.mark(task, EventKind::Exit, line, stamp_ns, at);
        if let Some(Extra::End(ended) | Extra::GroupEnd(ended)) = extra {
            self.trace.tasks[task].ended = Some(ended);
        }
        let known = &mut self.trace.tasks[task];
        if stamp_ns != NO_NS {
            known.death_ns = stamp_ns.max(known.last_ns);
        }
        if !self.facts.is_of_windows {
            self.owners.ended(task, (line.pid, line.tid));
        }
        if let Some(Extra::GroupEnd(ended)) = extra {
            self.siblings_end(task, ended, stamp_ns);
        }
    }

    /// The other threads of a task's process end with it. Their last lines may follow. Later lines with these ids
    /// belong to other tasks.
    fn siblings_end(&mut self, task: TaskId, ended: Ended, at_ns: i64) {
        for sibling in self.owners.end_group(&self.trace.tasks, task) {
            self.ended(sibling, ended, at_ns);
            if at_ns != NO_NS {
                self.state(sibling).gone_ns = at_ns.max(0).saturating_add(MAX_THREAD_AFTER_EXIT_NS);
            }
        }
    }

    pub(super) fn superseded(
        &mut self,
        leader: TaskId,
        by: i32,
        line: &Line,
        stamp_ns: i64,
        at: LinePlace,
    ) {
        self.close_open(leader);
        self.mark(leader, EventKind::Process, line, stamp_ns, at);
        let known = &mut self.trace.tasks[leader];
        known.superseded = true;
        known.death_ns = known.last_ns;
        // Beside messages the id may be missing on this very line: it is the leader's all the same.
        let tid = if line.tid == NO_ID {
            known.tid
        } else {
            line.tid
        };
        let (from, to): (PrintedIds, PrintedIds) = ((line.pid, by), (line.pid, tid));
        match self.owners.known(from) {
            Some(thread) if thread != leader => {
                self.trace.tasks[thread].rename(at.line, tid);
                self.owners.take_over(thread, from, to);
            }
            _ => self.owners.ended(leader, to),
        }
    }
}

/// Ids that the lines of a child will have.
fn child_key(
    line: &Line,
    creator: &tasks::Task,
    child: i32,
    thread: bool,
    one_process: bool,
) -> PrintedIds {
    match (line.pid, thread) {
        // What stands alone are numbers of threads.
        (NO_ID, false) if one_process => (child, child),
        (NO_ID, _) => (NO_ID, child),
        (_, true) => (creator.pid, child),
        (_, false) => (child, child),
    }
}
