//! Lines other than calls: continuations, messages of the tracer or of a log, and summary tables.

use crate::ingest::assemble::Assembler;
use crate::store::event::EventKind;
use crate::store::index::TaskId;
use crate::store::numbers::{OpenPlace, Row};
use crate::store::recent_lines::LinePlace;
use crate::store::tasks::Program;
use crate::store::trace::{LossCause, OtherFormat, RecordedFacts, SummaryRow};
use parsers::facts::Fact;
use parsers::{DurKind, Extra, Line, LineKind, NO_NS, Text};
use rustc_hash::FxHashMap;

impl Assembler<'_> {
    pub(super) fn continued(&mut self, line: &Line, extra: Option<Extra>, stamp_ns: i64) {
        // A line about a function of the program: the next call counts its time from there.
        if let Some(task) = self.speaker(line).filter(|_| stamp_ns != NO_NS) {
            self.stamped(task, stamp_ns);
        }
        if let (LineKind::Continuation, Some(Extra::Signal { from, ended })) = (line.kind, &extra)
            && let Some(task) = self.speaker(line)
        {
            self.sent_by(task, *from);
            if ended.is_some() {
                self.is_parent(task, *from, NO_NS);
            }
        }
        match extra {
            Some(Extra::Exec { path, argv }) if path.is_some() => {
                self.was_running(line, path, argv)
            }
            Some(Extra::Exec { argv, .. }) => {
                let task = self.speaker(line).unwrap_or(self.last_exec);
                let program = self
                    .trace
                    .tasks
                    .get_mut(task)
                    .and_then(|task| task.programs.last_mut());
                if let Some(program) = program.filter(|program| !program.argv.is_some()) {
                    program.argv = argv;
                }
            }
            Some(Extra::Fact(fact)) => {
                let is_of_open_call = matches!(fact, Fact::RefusedPromise(_));
                let open = self.open_row(line).filter(|_| is_of_open_call);
                if let Some(row) = open.or_else(|| self.last_row(line)) {
                    self.trace.events.facts.keep(row, fact);
                }
            }
            Some(
                Extra::Signal {
                    from,
                    ended: Some(ended),
                }
                | Extra::Waited {
                    child: from,
                    ended: Some(ended),
                },
            ) => {
                if let Some(task) = self.owners.process(from).filter(|_| from != line.pid) {
                    self.ended(task, ended, NO_NS);
                }
            }
            _ if line.target.is_some() && !self.names_peer(line) => self.named(line),
            _ => {}
        }
    }

    /// A further line of a connect has the address of the peer. Whether it is one.
    fn names_peer(&mut self, line: &Line) -> bool {
        let Some((row, connect)) = self
            .last_connect
            .filter(|&(row, _)| self.last_row(line) == Some(row))
        else {
            return false;
        };
        let connect = Line {
            target: line.target,
            cached: 0,
            ..connect
        };
        let (task, events) = (self.trace.events.task(row), &self.trace.events);
        let (dur_ns, dur_kind) = (events.dur_ns(row), events.dur_kind(row));
        self.rewrite(row, &connect, dur_ns, dur_kind);
        self.descriptors.completed(
            task.since(self.first_task),
            &connect,
            None,
            &mut self.trace.events.texts,
        );
        true
    }

    /// The task that the ids of a line name, if it is known.
    pub(super) fn speaker(&self, line: &Line) -> Option<TaskId> {
        self.owners.known((line.pid, line.tid))
    }

    /// The open call of the task of a line.
    fn open_row(&mut self, line: &Line) -> Option<u32> {
        let task = self.speaker(line)?;
        let at = self.state(task).open.map(OpenPlace::number)?;
        Some(self.open.get(at as usize)?.row)
    }

    /// The event that a further line of a task is about.
    fn last_row(&mut self, line: &Line) -> Option<u32> {
        let task = self.speaker(line)?;
        self.state(task).last_row.map(Row::number)
    }

    /// The tracer reports which program a process runs after it attached to it.
    pub(super) fn was_running(&mut self, line: &Line, path: Text, argv: Text) {
        let task = self.owners.owner(&mut self.trace.tasks, line);
        let programs = &mut self.trace.tasks[task].programs;
        if programs.is_empty() {
            programs.push(Program {
                from_ns: NO_NS,
                path,
                argv,
            });
        }
    }

    /// Each line of a task has the name of its program; the first one counts.
    pub(super) fn runs(&mut self, line: &Line, name: Text) {
        let Some(task) = self.speaker(line) else {
            return;
        };
        let state = self.state(task);
        if !state.program.is_some() {
            state.program = name;
        }
    }

    /// A task that was running before the capture has only that name for a program.
    pub(super) fn name_program(&mut self, task: TaskId) {
        let path = self.state(task).program;
        let known = &mut self.trace.tasks[task];
        let is_own = known.creator == TaskId::NONE || self.facts.is_of_windows;
        if path.is_some() && known.programs.is_empty() && is_own {
            known.run(Program {
                from_ns: NO_NS,
                path,
                argv: Text::NONE,
            });
        }
    }

    /// Processes that the tracer attached to ran these programs until their first execve.
    pub(super) fn name_attached(&mut self) {
        let Some(RecordedFacts {
            threads,
            programs,
            parents,
            ..
        }) = self.capture.recorded.clone()
        else {
            return;
        };
        let texts = &mut self.trace.events.texts;
        let programs: FxHashMap<i32, Program> = programs
            .iter()
            .map(|(pid, path, argv)| {
                let (path, argv) = (texts.add(path), texts.add(argv));
                let program = Program {
                    from_ns: NO_NS,
                    path,
                    argv,
                };
                (*pid, program)
            })
            .collect();
        let pids: FxHashMap<i32, i32> = threads.iter().map(|&(pid, tid)| (tid, pid)).collect();
        for task in self.trace.tasks.iter_mut().skip(self.first_task.index()) {
            let is_old = !task.born && !task.is_thread;
            let pid = pids.get(&task.tid).filter(|_| is_old);
            if let Some(program) = pid.and_then(|pid| programs.get(pid)) {
                task.programs.insert(0, *program);
            }
        }
        self.adopt_attached(&parents);
    }

    /// Processes that the tracer attached to are children of their parents among these.
    fn adopt_attached(&mut self, parents: &[(i32, i32)]) {
        let first = self.first_task.index();
        let old = self.trace.tasks.iter_enumerated().skip(first);
        let old = old.filter(|(_, task)| !task.born && !task.is_thread);
        let mut by_pid: FxHashMap<i32, TaskId> = FxHashMap::default();
        for (number, task) in old {
            // A reused id is a later task.
            by_pid.entry(task.pid).or_insert(number);
        }
        for (pid, parent) in parents {
            if let (Some(&task), Some(&creator)) = (by_pid.get(pid), by_pid.get(parent)) {
                self.adopt(task, creator, false);
            }
        }
    }

    pub(super) fn notice(&mut self, extra: Option<Extra>) {
        if let Some(Extra::Attached(tid, begins)) = extra {
            self.owners.attach(tid, begins);
        }
    }

    /// The messages of a line of a log.
    pub(super) fn messages(
        &mut self,
        line: &Line,
        extra: Option<Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) {
        self.message(line, stamp_ns, at);
        let Some(Extra::Joined(others)) = extra else {
            return;
        };
        for &(stamp_ns, name, target) in &others {
            let line = Line {
                stamp_ns,
                name,
                target,
                ..*line
            };
            let stamp_ns = self.stamp(at.file, &line);
            self.message(&line, stamp_ns, at);
        }
    }

    /// A message of a log: the silence after it is its duration. Before a line that stands for several, it is unknown.
    fn message(&mut self, line: &Line, stamp_ns: i64, at: LinePlace) {
        let task = self.owner(line, NO_NS, at);
        let undated = self.state(task).undated.take();
        let is_newest_first = self.facts.is_newest_first;
        if let Some(undated) = undated.map(Row::number)
            && stamp_ns != NO_NS
            && line.ret == NO_NS
            && !is_newest_first
        {
            // Behind a line that was written late it was silent only from the latest one on.
            let since_ns = self
                .trace
                .events
                .start_ns(undated)
                .max(self.capture.last_ns);
            self.trace.events.set_dur(
                undated,
                stamp_ns.saturating_sub(since_ns).max(0),
                DurKind::Gap,
            );
        }
        let texts = &mut self.trace.events.texts;
        let titled = self.groups.titled_end(texts.bytes(line.target));
        let target = titled.map_or(line.target, |end| texts.add(&end));
        let line = &Line { target, ..*line };
        let row = self.trace.events.len();
        let newer = undated.map(Row::number).filter(|_| is_newest_first);
        self.mark(task, EventKind::Log, line, stamp_ns, at);
        if let Some(newer) =
            newer.filter(|&newer| stamp_ns != NO_NS && !self.trace.events.is_repeat(newer))
        {
            let until_ns = self.trace.events.start_ns(newer);
            self.trace
                .events
                .set_dur(row, until_ns.saturating_sub(stamp_ns).max(0), DurKind::Gap);
        }
        self.state(task).undated = if stamp_ns == NO_NS {
            undated
        } else {
            Some(Row::new(row))
        };
    }

    /// The tracer lost events here, and usually reports how many.
    pub(super) fn dropped(&mut self, line: &Line, at: LinePlace) {
        let events = u64::try_from(line.ret).unwrap_or(1);
        let cause = LossCause::by_name(self.trace.events.texts.bytes(line.op));
        let (lost, first_line) = &mut self.capture.lost_by[cause as usize];
        *lost = lost.saturating_add(events);
        *first_line = if *first_line == 0 {
            u64::from(at.line)
        } else {
            *first_line
        };
        self.capture.lost_events = self.capture.lost_events.saturating_add(events);
    }

    /// A line of another tracer, or of the same one with other options.
    pub(super) fn of_other_format(&mut self, line: &Line, at: LinePlace) {
        let name = self.trace.events.texts.string(line.name);
        let number = u64::from(at.line);
        match self
            .capture
            .other_formats
            .iter_mut()
            .find(|other| other.format == name)
        {
            Some(other) => (other.lines, other.last_line) = (other.lines + 1, number),
            None => {
                let format = name.into_owned();
                self.capture.other_formats.push(OtherFormat {
                    format,
                    lines: 1,
                    first_line: number,
                    last_line: number,
                });
            }
        }
    }

    pub(super) fn summary(&mut self, line: &Line, extra: Option<Extra>) {
        if let Some(Extra::SummaryRow {
            calls,
            failed,
            total_ns,
        }) = extra
        {
            let syscall = self.trace.events.texts.string(line.name).into_owned();
            self.capture.summary.push(SummaryRow {
                syscall,
                calls,
                failed,
                total_ns,
            });
        }
        if let Some(Extra::RunTime(of, time_ns)) = extra {
            self.capture.run_ns[of as usize] = Some(time_ns);
        }
    }
}
