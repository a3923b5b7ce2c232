//! Tasks: one thread of execution each, from birth to death, with the programs it ran.

use crate::store::event::NONE;
use crate::store::index::{TaskId, TiSlice, TiVec};
use parsers::line::Ended;
use parsers::{NO_ID, NO_NS, Outcome, Text};

/// A program that a process runs from a moment on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Program {
    /// Start: the clock tick in which the execve ended.
    pub from_ns: i64,
    /// Path.
    pub path: Text,
    /// Arguments as one text, or [`Text::NONE`].
    pub argv: Text,
}

/// What few tasks have.
#[derive(Clone, Debug)]
pub(crate) struct TaskExtras {
    /// See [`Task::renamed`].
    renamed: Vec<(u32, i32)>,
    /// See [`Task::cpu_ns`].
    cpu_ns: i64,
    /// See [`Task::own_cpu_ns`].
    own_cpu_ns: i64,
    /// See [`Task::longest_own_cpu`].
    longest_own_cpu: (i64, u32),
}

/// One thread of execution. A reused id is another task. There may be one for every few events, so it is compact.
#[derive(Clone, Debug)]
pub struct Task {
    /// Thread id at birth; [`NO_ID`] in a capture without ids.
    pub tid: i32,
    /// Id of its process (thread group).
    pub pid: i32,
    /// Its capture.
    pub capture: u32,
    /// The task that created it, or [`TaskId::NONE`].
    pub creator: TaskId,
    /// The call that created it (row), or [`NONE`].
    pub created_by: u32,
    /// The id that the creator's call returned, if it differs from the id on its own lines (a pid namespace); else
    /// [`NO_ID`].
    pub known_as: i32,
    /// A thread other than the main one.
    pub is_thread: bool,
    /// The creator waited until this task ran a program or ended (vfork).
    pub vfork: bool,
    /// Its birth is in the capture: it was created or started there, not attached to.
    pub born: bool,
    /// Its creator is inferred from later events, not from its birth: it lived before the capture, or the creating call
    /// is not in the trace.
    pub adopted: bool,
    /// That it is a thread of its process shows only in wakes at a private address.
    pub thread_by_wake: bool,
    /// Start of its first event, or the end of the call that created it if its own lines start later.
    pub birth_ns: i64,
    /// Its end; [`NO_NS`] if it is not in the capture.
    pub death_ns: i64,
    /// End of its last event.
    pub last_ns: i64,
    /// How it ended, if known.
    pub ended: Option<Ended>,
    /// Its id was taken by another thread's execve.
    pub superseded: bool,
    /// Programs that it ran itself, in order. Before the first one it runs its creator's program.
    pub programs: Vec<Program>,
    pub(crate) extras: Option<Box<TaskExtras>>,
    /// Its first and last line.
    pub first_line: u32,
    /// See `first_line`.
    pub last_line: u32,
    /// Calls with any outcome.
    pub calls: u32,
    /// Calls that failed.
    pub failed: u32,
    /// Signals delivered.
    pub signals: u32,
}

impl Task {
    /// A call of this row ended when the task had used so much CPU time, some of it in the call.
    pub(crate) fn used_cpu(&mut self, cpu_ns: i64, in_call_ns: i64, row: u32) {
        if cpu_ns == NO_NS {
            return;
        }
        let known = self.extras();
        if known.cpu_ns != NO_NS {
            let own_ns = cpu_ns
                .saturating_sub(known.cpu_ns)
                .saturating_sub(in_call_ns.max(0));
            known.own_cpu_ns = known.own_cpu_ns.saturating_add(own_ns.max(0));
            if own_ns > known.longest_own_cpu.0 {
                known.longest_own_cpu = (own_ns, row);
            }
        }
        known.cpu_ns = cpu_ns.max(known.cpu_ns);
    }

    fn extras(&mut self) -> &mut TaskExtras {
        let none = || TaskExtras {
            renamed: Vec::new(),
            cpu_ns: NO_NS,
            own_cpu_ns: 0,
            longest_own_cpu: (0, NONE),
        };
        self.extras.get_or_insert_with(|| Box::new(none()))
    }

    /// CPU time since tracing began for it, where the tracer prints that; [`NO_NS`] elsewhere.
    pub fn cpu_ns(&self) -> i64 {
        self.extras.as_ref().map_or(NO_NS, |extras| extras.cpu_ns)
    }

    /// CPU time between its calls, where the tracer prints it. What came before its first line is not known.
    pub fn own_cpu_ns(&self) -> i64 {
        self.extras
            .as_ref()
            .filter(|extras| extras.cpu_ns != NO_NS)
            .map_or(NO_NS, |extras| extras.own_cpu_ns)
    }

    /// The most CPU time between two of its calls, where the tracer prints it, and the row of the second one.
    pub fn longest_own_cpu(&self) -> (i64, u32) {
        self.extras
            .as_ref()
            .map_or((0, NONE), |extras| extras.longest_own_cpu)
    }

    /// Ids that it took over, with the first line of each (execve by a thread).
    pub fn renamed(&self) -> &[(u32, i32)] {
        self.extras.as_ref().map_or(&[], |extras| &extras.renamed)
    }

    /// It takes over an id at a line (execve by a thread).
    pub(crate) fn rename(&mut self, line: u32, tid: i32) {
        self.extras().renamed.push((line, tid));
    }

    /// It runs another program.
    pub(crate) fn run(&mut self, program: Program) {
        // Most tasks run one.
        if self.programs.is_empty() {
            self.programs.reserve_exact(1);
        }
        self.programs.push(program);
    }

    /// A task with only its ids known.
    pub fn new(tid: i32, pid: i32, capture: u32) -> Task {
        Task {
            tid,
            pid,
            capture,
            creator: TaskId::NONE,
            created_by: NONE,
            known_as: NO_ID,
            is_thread: false,
            vfork: false,
            born: false,
            adopted: false,
            thread_by_wake: false,
            birth_ns: NO_NS,
            death_ns: NO_NS,
            last_ns: NO_NS,
            ended: None,
            superseded: false,
            programs: Vec::new(),
            extras: None,
            first_line: 0,
            last_line: 0,
            calls: 0,
            failed: 0,
            signals: 0,
        }
    }

    /// Extend its range of lines by this one.
    #[inline]
    pub(crate) fn spoke(&mut self, line: u32) {
        if self.first_line == 0 {
            self.first_line = line;
        }
        self.last_line = line;
    }

    /// Extend its life to these moments.
    #[inline]
    pub(crate) fn lived(&mut self, from_ns: i64, to_ns: i64) {
        if self.birth_ns == NO_NS || from_ns < self.birth_ns {
            self.birth_ns = from_ns;
        }
        self.last_ns = self.last_ns.max(to_ns);
    }

    /// Count a call with this outcome.
    #[inline]
    pub(crate) fn called(&mut self, outcome: Outcome) {
        self.calls += 1;
        self.failed += u32::from(outcome == Outcome::Failed);
    }

    /// Its thread id at a line.
    pub fn tid_at(&self, line: u32) -> i32 {
        self.renamed()
            .iter()
            .rev()
            .find(|&&(from, _)| from <= line)
            .map_or(self.tid, |&(_, tid)| tid)
    }

    /// Whether ids are known at all.
    pub fn has_id(&self) -> bool {
        self.tid != NO_ID
    }

    /// The end of its life as far as the capture shows: its death, or else the end of its last event.
    pub fn end_ns(&self) -> i64 {
        if self.death_ns == NO_NS {
            self.last_ns
        } else {
            self.death_ns.max(self.last_ns)
        }
    }
}

/// Tasks by their index.
pub type Tasks = TiVec<TaskId, Task>;

/// The same, borrowed.
pub type TaskSlice = TiSlice<TaskId, Task>;

/// The main task of the process of a task.
pub(crate) fn main_task(tasks: &TaskSlice, number: TaskId) -> TaskId {
    let mut at = number;
    for _ in 0..64 {
        let task = &tasks[at];
        if !task.is_thread || task.creator == TaskId::NONE || task.creator == at {
            break;
        }
        at = task.creator;
    }
    at
}

/// The program that a task ran at a moment: its own last one, or else that of its main thread or creator at its birth.
/// A process with an unknown birth may have run another one by then.
///
/// The number of steps is bounded in case the trace contains a cycle of creators.
pub fn program_at(tasks: &TaskSlice, task: TaskId, at_ns: i64) -> Option<Program> {
    let (mut task, mut at_ns) = (task, at_ns);
    for _ in 0..tasks.len().min(10_000) {
        let here = tasks.get(task)?;
        let known = here
            .programs
            .iter()
            .rev()
            .find(|program| program.from_ns <= at_ns || at_ns == NO_NS);
        if let Some(&program) = known {
            return Some(program);
        }
        if !here.is_thread {
            if here.adopted {
                return None;
            }
            at_ns = at_ns.min(here.birth_ns);
        }
        task = here.creator;
    }
    None
}
