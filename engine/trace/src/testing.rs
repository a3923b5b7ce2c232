//! Traces made by hand, for tests: the reader of a test sees the whole story.
//!
//! ```
//! use trace::store::index::TaskId;
//! use trace::testing::{build, task};
//! let trace = build(vec![task(1).fork(0, 2, 2).wait4(2, 90, 2).exit(100), task(2).call("read", 10, 20).exit(90)]);
//! assert_eq!(trace.tasks[TaskId::new(1)].creator, TaskId::new(0));
//! ```

use crate::store::event::{Event, EventKind};
use crate::store::index::TaskId;
use crate::store::table::{Table, Values};
use crate::store::tasks::{Program, Task};
use crate::store::trace::{Capture, Trace};
use parsers::facts::{Created, RequeuedTo, Timeout, WaitedChild};
use parsers::{CaptureFacts, Clock, DurKind, NO_NS, Outcome, StampMoment, Text};
use rustc_hash::FxHashMap;

/// One event of a task.
#[derive(Clone, Debug)]
struct Entry {
    name: String,
    op: String,
    target: String,
    errno: String,
    start_ns: i64,
    end_ns: Option<i64>,
    ret: i64,
    kind: EventKind,
    outcome: Outcome,
    child: Option<i32>,
    waited: Option<i32>,
    asked_ns: Option<i64>,
    makes: bool,
    moves_to: String,
}

/// A task to be built.
#[derive(Clone, Debug)]
pub struct TaskPlan {
    tid: i32,
    pid: i32,
    entries: Vec<Entry>,
    exit_ns: Option<i64>,
    programs: Vec<(i64, String)>,
}

/// A task with this id, that of its process.
pub fn task(tid: i32) -> TaskPlan {
    TaskPlan {
        tid,
        pid: tid,
        entries: Vec::new(),
        exit_ns: None,
        programs: Vec::new(),
    }
}

impl TaskPlan {
    fn entry(mut self, name: &str, start_ns: i64, end_ns: Option<i64>) -> TaskPlan {
        let outcome = if end_ns.is_some() {
            Outcome::Ok
        } else {
            Outcome::Open
        };
        self.entries.push(Entry {
            name: name.to_owned(),
            op: String::new(),
            target: String::new(),
            errno: String::new(),
            start_ns,
            end_ns,
            ret: if end_ns.is_some() { 1 } else { NO_NS },
            kind: EventKind::Call,
            outcome,
            child: None,
            waited: None,
            asked_ns: None,
            makes: false,
            moves_to: String::new(),
        });
        self
    }

    fn last(mut self, change: impl FnOnce(&mut Entry)) -> TaskPlan {
        if let Some(last) = self.entries.last_mut() {
            change(last);
        }
        self
    }

    /// A call.
    #[must_use]
    pub fn call(self, name: &str, start_ns: i64, end_ns: i64) -> TaskPlan {
        self.entry(name, start_ns, Some(end_ns))
    }

    /// A call that has not ended when the capture does.
    #[must_use]
    pub fn open(self, name: &str, start_ns: i64) -> TaskPlan {
        self.entry(name, start_ns, None)
    }

    /// What the last call works on.
    #[must_use]
    pub fn on(self, target: &str) -> TaskPlan {
        self.last(|entry| entry.target = target.to_owned())
    }

    /// The sub-operation of the last call.
    #[must_use]
    pub fn op(self, op: &str) -> TaskPlan {
        self.last(|entry| entry.op = op.to_owned())
    }

    /// What the last call returned.
    #[must_use]
    pub fn returns(self, ret: i64) -> TaskPlan {
        self.last(|entry| entry.ret = ret)
    }

    /// How long the last call was asked to take at most.
    #[must_use]
    pub fn asks(self, asked_ns: i64) -> TaskPlan {
        self.last(|entry| entry.asked_ns = Some(asked_ns))
    }

    /// The last call failed.
    #[must_use]
    pub fn fails(self, errno: &str) -> TaskPlan {
        self.last(|entry| {
            (entry.ret, entry.outcome, entry.errno) = (-1, Outcome::Failed, errno.to_owned());
        })
    }

    /// The last call moves those that wait to this address, or waits there itself in the end.
    #[must_use]
    pub fn moves_to(self, address: &str) -> TaskPlan {
        self.last(|entry| entry.moves_to = address.to_owned())
    }

    /// The last call makes what it works on.
    #[must_use]
    pub fn makes(self) -> TaskPlan {
        self.last(|entry| entry.makes = true)
    }

    /// A wait that returned this child.
    #[must_use]
    pub fn wait4(self, start_ns: i64, end_ns: i64, child: i32) -> TaskPlan {
        self.call("wait4", start_ns, end_ns)
            .returns(i64::from(child))
            .last(|entry| entry.waited = Some(child))
    }

    /// A fork that made this child.
    #[must_use]
    pub fn fork(self, start_ns: i64, end_ns: i64, child: i32) -> TaskPlan {
        self.spawn("clone", start_ns, end_ns, child)
    }

    /// A call that made this child; `vfork` waits for it.
    #[must_use]
    pub fn spawn(self, name: &str, start_ns: i64, end_ns: i64, child: i32) -> TaskPlan {
        self.call(name, start_ns, end_ns)
            .returns(i64::from(child))
            .last(|entry| entry.child = Some(child))
    }

    /// A thread of this process.
    #[must_use]
    pub fn of_process(mut self, pid: i32) -> TaskPlan {
        self.pid = pid;
        self
    }

    /// A program is run.
    #[must_use]
    pub fn exec(mut self, start_ns: i64, end_ns: i64, path: &str) -> TaskPlan {
        self.programs.push((end_ns, path.to_owned()));
        self.call("execve", start_ns, end_ns).on(path).returns(0)
    }

    /// A signal arrives, or the task is stopped by it.
    #[must_use]
    pub fn signal(self, name: &str, at_ns: i64) -> TaskPlan {
        self.entry(name, at_ns, None)
            .last(|entry| (entry.kind, entry.outcome) = (EventKind::Signal, Outcome::Ok))
    }

    /// The task is stopped by a signal.
    #[must_use]
    pub fn stop(self, name: &str, at_ns: i64) -> TaskPlan {
        self.signal(name, at_ns)
            .last(|entry| entry.kind = EventKind::Process)
    }

    /// A message of a log.
    #[must_use]
    pub fn message(self, subsystem: &str, text: &str, at_ns: i64) -> TaskPlan {
        self.signal(subsystem, at_ns)
            .on(text)
            .last(|entry| entry.kind = EventKind::Log)
    }

    /// It ends.
    #[must_use]
    pub fn exit(mut self, at_ns: i64) -> TaskPlan {
        self.exit_ns = Some(at_ns);
        self.entry("exit_group", at_ns, None)
            .last(|entry| entry.outcome = Outcome::NoReturn)
    }
}

/// The facts of a capture whose stamps and durations are exact.
fn facts(is_log: bool) -> CaptureFacts {
    CaptureFacts {
        stamp: StampMoment::Start,
        clock: Clock::SinceStart,
        tick_ns: 1,
        dur_kind: if is_log { DurKind::Gap } else { DurKind::Exact },
        has_durations: !is_log,
        has_ids: true,
        ..CaptureFacts::PLAIN
    }
}

/// The trace of one capture with these tasks.
pub fn build(plans: Vec<TaskPlan>) -> Trace {
    let mut trace = Trace::default();
    let mut order: Vec<(i64, TaskId, usize)> = Vec::new();
    let mut numbers: FxHashMap<i32, TaskId> = FxHashMap::default();
    for (number, plan) in TaskId::all(TaskId::new(0)..TaskId::NONE).zip(&plans) {
        numbers.entry(plan.tid).or_insert(number);
    }
    for (number, plan) in TaskId::all(TaskId::new(0)..TaskId::NONE).zip(&plans) {
        trace.tasks.push(planned(&mut trace.events.texts, plan));
        order.extend(
            plan.entries
                .iter()
                .enumerate()
                .map(|(at, entry)| (entry.start_ns, number, at)),
        );
    }
    order.sort_unstable();
    for (start_ns, number, at) in order {
        let entry = &plans[number.index()].entries[at];
        let row = push(&mut trace, number, start_ns, entry);
        let child = entry.child.and_then(|child| numbers.get(&child).copied());
        link(&mut trace, (number, child), row, entry);
    }
    let is_log = plans
        .iter()
        .flat_map(|plan| &plan.entries)
        .any(|entry| entry.kind == EventKind::Log);
    trace.captures.push(capture(&trace, is_log));
    trace.index();
    trace
}

fn planned(texts: &mut parsers::Interner, plan: &TaskPlan) -> Task {
    let mut task = Task::new(plan.tid, plan.pid, 0);
    task.is_thread = plan.tid != plan.pid;
    task.birth_ns = plan
        .entries
        .iter()
        .map(|entry| entry.start_ns)
        .min()
        .unwrap_or(NO_NS);
    task.last_ns = plan
        .entries
        .iter()
        .map(|entry| entry.end_ns.unwrap_or(entry.start_ns))
        .max()
        .unwrap_or(NO_NS);
    task.calls = plan
        .entries
        .iter()
        .filter(|entry| entry.kind == EventKind::Call)
        .count() as u32;
    task.death_ns = plan
        .exit_ns
        .map_or(NO_NS, |exit_ns| exit_ns.max(task.last_ns));
    let programs = plan.programs.iter();
    task.programs = programs
        .map(|(from_ns, path)| Program {
            from_ns: *from_ns,
            path: texts.add(path.as_bytes()),
            argv: Text::NONE,
        })
        .collect();
    task
}

fn push(trace: &mut Trace, task: TaskId, start_ns: i64, entry: &Entry) -> u32 {
    let events = &mut trace.events;
    let [name, op, target, errno] = [&entry.name, &entry.op, &entry.target, &entry.errno]
        .map(|text| events.texts.add(text.as_bytes()));
    let shape = events.shape_of(name, op, target, errno, entry.outcome);
    events.push(&Event {
        start_ns,
        dur_ns: entry.end_ns.map_or(NO_NS, |end_ns| end_ns - start_ns),
        cpu_ns: NO_NS,
        ret: entry.ret,
        line: events.len() + 1,
        file: 0,
        task,
        shape,
        target,
        kind: entry.kind,
        outcome: entry.outcome,
        dur_kind: DurKind::Exact,
    })
}

fn link(trace: &mut Trace, (creator, child): (TaskId, Option<TaskId>), row: u32, entry: &Entry) {
    if let Some(child) = entry.waited {
        trace.events.facts.add::<WaitedChild>(row, child);
    }
    if let Some(asked_ns) = entry.asked_ns {
        trace.events.facts.add::<Timeout>(row, asked_ns);
    }
    if !entry.moves_to.is_empty() {
        let address = trace.events.texts.add(entry.moves_to.as_bytes());
        trace.events.facts.add::<RequeuedTo>(row, address);
    }
    if entry.makes {
        let target = trace.events.target(row);
        trace.events.facts.add::<Created>(row, target);
    }
    let Some(child) = child.and_then(|child| trace.tasks.get_mut(child)) else {
        return;
    };
    (child.creator, child.created_by, child.born) = (creator, row, true);
    child.vfork = entry.name == "vfork";
}

fn capture(trace: &Trace, is_log: bool) -> Capture {
    Capture {
        path: "built".to_owned(),
        files: vec!["built".to_owned()],
        tasks: TaskId::new(0)..trace.tasks.next_key(),
        rows: 0..trace.events.len(),
        first_ns: trace
            .tasks
            .iter()
            .map(|task| task.birth_ns)
            .filter(|&ns| ns != NO_NS)
            .min()
            .unwrap_or(NO_NS),
        last_ns: trace.tasks.iter().map(Task::end_ns).max().unwrap_or(NO_NS),
        ..Capture::empty("strace", facts(is_log))
    }
}

/// Columns of a table as text: a line for each row, cells apart by blanks, `-` for what is missing.
pub fn cells(table: &Table, columns: &[&str]) -> Vec<String> {
    let cell = |name: &str, row: usize| match table.column(name) {
        Some(Values::Int(values)) => values[row].map(|value| value.to_string()),
        Some(Values::Float(values)) => values[row].map(|value| value.to_string()),
        Some(Values::Bool(values)) => values[row].map(|value| value.to_string()),
        Some(Values::Text { keys, words }) => words.get(keys[row] as usize).cloned(),
        Some(Values::List(values)) => Some(values[row].join(",")),
        None => Some(format!("no column {name}")),
    };
    let line = |row: usize| {
        columns
            .iter()
            .map(move |name| cell(name, row).unwrap_or_else(|| "-".to_owned()))
    };
    (0..table.len())
        .map(|row| line(row).collect::<Vec<_>>().join(" "))
        .collect()
}
