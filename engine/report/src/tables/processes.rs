//! Tables of processes and tasks: lifetimes, programs, and the division of each lifetime into calls and gaps.

use crate::tables::calls::sum_of_known;
use parsers::line::Ended;
use parsers::{NO_ID, NO_NS, Text};
use path::critical_path::window;
use path::waits::stops::{may_stop, stopped_ns};
use query::selection::Selection;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use trace::parallel;
use trace::store::event::NONE;
use trace::store::index::{TaskId, TiSlice, TiVec, ti_vec};
use trace::store::schema::schema;
use trace::store::table::{Table, TextColumn, Values, ints, some_ints};
use trace::store::tasks::Task;
use trace::store::text_columns::push_text;
use trace::store::trace::Trace;

schema! {
    pub PROCESSES: processes "Processes.";
    times: Calls;
    columns {
        capture: Index "Number of the capture.",
        task: Index "Number of its main task.",
        pid: Id "Process id.",
        parent_task: Index "Task that created it.",
        parent_pid: Id "Process that created it.",
        program: Text "The last program it ran.",
        argv: Text "Arguments of that program.",
        birth_ns: Moment "Start of its first event, or the end of the call that created it if the first event comes late.",
        death_ns: Moment "End of its life, if the capture shows it.",
        exit_code: SmallNumber "Exit status.",
        exit_signal: Text "Signal that killed it.",
        wall_ns: Ns "Lifetime, as far as the capture shows it.",
        exclusive_ns: Ns "Critical-path time charged to it.",
        in_call_ns: Ns "Time in calls, over all of its threads.",
        cpu_ns: Ns "CPU time over all of its threads: all of it, or that in calls if the tracer prints no more; missing where it prints none.",
        own_cpu_ns: Ns "CPU time outside its calls; missing where the tracer does not print all CPU time.",
        max_own_cpu_ns: Ns (Max) "The most CPU time between two calls of one of its threads.",
        max_own_cpu_line: LastLine "The line of the call that follows it.",
        gap_ns: Ns "Time between calls, over all of its threads.",
        stopped_ns: Ns "Part of gap_ns in which they were stopped by a signal.",
        slack_ns: Ns "How much longer it could have run without delaying the end of the window, as far as the trace shows its waiters; missing where unknown.",
        calls: Number "Number of calls.",
        failed: Number "Number of calls that failed.",
        threads: Number "Number of its tasks, the main one included.",
        first_line: FirstLine "Its first line.",
    }
}

schema! {
    pub TASKS: tasks "Tasks: threads and processes.";
    times: Calls;
    columns {
        task: Index "Number of the task.",
        capture: Index "Number of the capture.",
        tid: Id "Thread id at birth.",
        pid: Id "Process id.",
        creator: Index "Task that created it.",
        creator_pid: Id "Process id of the creator.",
        created_by: Text "Call that created it.",
        is_thread: Flag "Whether it is a thread other than the main one.",
        birth_ns: Moment "Start of its first event, or the end of the call that created it if the first event comes late.",
        death_ns: Moment "End of its life, if the capture shows it.",
        exit_code: SmallNumber "Exit status.",
        exit_signal: Text "Signal that killed it.",
        superseded: Flag "Whether another thread took over its id with execve.",
        program: Text "The last program it ran.",
        argv: Text "Arguments of that program.",
        calls: Number "Number of calls.",
        failed: Number "Number of calls that failed.",
        signals: Number "Signals delivered to it.",
        in_call_ns: Ns "Time in calls.",
        gap_ns: Ns "Time between calls; gap_ns + in_call_ns is its lifetime.",
        stopped_ns: Ns "Part of gap_ns in which it was stopped by a signal.",
        exclusive_ns: Ns "Critical-path time charged to it.",
        lines: Lines {
            first_line "Its first line.",
            last_line "Its last line.",
        },
    }
}

/// The division of a task's lifetime. Without a clock, only the time in calls is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Life {
    /// Time in calls.
    pub in_call_ns: i64,
    /// Time between calls. `in_call_ns` and `gap_ns` add up to exactly the lifetime.
    pub gap_ns: i64,
    /// The part of `gap_ns` during which the task was stopped.
    pub stopped_ns: i64,
}

/// The division of the lifetime of each of these tasks.
pub fn lives(trace: &Trace, tasks: &[TaskId]) -> Vec<Life> {
    let may_stop = may_stop(trace);
    let life = |number: TaskId| {
        let task = &trace.tasks[number];
        if task.birth_ns == NO_NS {
            let durations = trace
                .rows_of(number)
                .iter()
                .map(|&row| trace.events.dur_ns(row));
            let in_call_ns = durations
                .filter(|&dur_ns| dur_ns != NO_NS)
                .fold(0, i64::saturating_add);
            return Life {
                in_call_ns,
                gap_ns: NO_NS,
                stopped_ns: NO_NS,
            };
        }
        let mut in_call_ns = 0;
        trace
            .spans_of(number, 0..usize::MAX, task.birth_ns)
            .each(|_, span, _| {
                in_call_ns = i64::saturating_add(in_call_ns, span.end_ns - span.start_ns);
            });
        let gap_ns = (task.end_ns() - task.birth_ns - in_call_ns).max(0);
        let stopped_ns = if may_stop {
            stopped_ns(trace, number).clamp(0, gap_ns)
        } else {
            0
        };
        Life {
            in_call_ns,
            gap_ns,
            stopped_ns,
        }
    };
    parallel::map(tasks, |&task| life(task))
}

fn id(id: i32) -> i64 {
    if id == NO_ID { NO_NS } else { i64::from(id) }
}

fn exit_code(task: &Task) -> i64 {
    match task.ended {
        Some(Ended::Exited(code)) => i64::from(code),
        _ => NO_NS,
    }
}

fn exit_signal(task: &Task) -> Text {
    match task.ended {
        Some(Ended::Killed(signal)) => signal,
        _ => Text::NONE,
    }
}

/// Builds the table with one row per task. `exclusive_ns` is the critical path time charged to each task.
pub fn tasks(trace: &Trace, selection: &Selection<'_>, exclusive_ns: &[i64]) -> Table {
    let chosen: Vec<TaskId> = trace
        .tasks
        .keys()
        .filter(|&task| selection.touches_task(task))
        .collect();
    let lives = lives(trace, &chosen);
    let events = &trace.events;
    let task = |number: TaskId| &trace.tasks[number];
    let of = |value: &dyn Fn(TaskId) -> i64| {
        some_ints(
            chosen
                .iter()
                .map(|&number| value(number))
                .collect::<Vec<_>>(),
        )
    };
    let flag = |value: &dyn Fn(TaskId) -> bool| {
        Values::Bool(chosen.iter().map(|&number| Some(value(number))).collect())
    };
    let column = |text: &dyn Fn(TaskId) -> Text| {
        let mut column = TextColumn::default();
        chosen
            .iter()
            .for_each(|&number| push_text(&mut column, events, text(number)));
        column.finish()
    };
    let creator = |number: TaskId| trace.tasks.get(task(number).creator);
    let program = |number: TaskId| selection.program_index.name_of(number);
    let columns = vec![
        ("task", ints(chosen.iter().map(|&number| i64::from(number)))),
        ("capture", of(&|number| i64::from(task(number).capture))),
        ("tid", of(&|number| id(task(number).tid))),
        ("pid", of(&|number| id(task(number).pid))),
        (
            "creator",
            of(&|number| creator(number).map_or(NO_NS, |_| i64::from(task(number).creator))),
        ),
        (
            "creator_pid",
            of(&|number| creator(number).map_or(NO_NS, |creator| id(creator.pid))),
        ),
        (
            "created_by",
            column(&|number| created_by(trace, task(number))),
        ),
        ("is_thread", flag(&|number| task(number).is_thread)),
        ("birth_ns", of(&|number| task(number).birth_ns)),
        ("death_ns", of(&|number| task(number).death_ns)),
        ("exit_code", of(&|number| exit_code(task(number)))),
        ("exit_signal", column(&|number| exit_signal(task(number)))),
        ("superseded", flag(&|number| task(number).superseded)),
        (
            "program",
            column(&|number| program(number).map_or(Text::NONE, |program| program.path)),
        ),
        (
            "argv",
            column(&|number| program(number).map_or(Text::NONE, |program| program.argv)),
        ),
        ("calls", of(&|number| task(number).calls as i64)),
        ("failed", of(&|number| task(number).failed as i64)),
        ("signals", of(&|number| task(number).signals as i64)),
        (
            "in_call_ns",
            some_ints(lives.iter().map(|life| life.in_call_ns)),
        ),
        ("gap_ns", some_ints(lives.iter().map(|life| life.gap_ns))),
        (
            "stopped_ns",
            some_ints(lives.iter().map(|life| life.stopped_ns)),
        ),
        (
            "exclusive_ns",
            of(&|number| exclusive_ns.get(number.index()).copied().unwrap_or(0)),
        ),
        (
            "first_line",
            of(&|number| i64::from(task(number).first_line)),
        ),
        ("last_line", of(&|number| i64::from(task(number).last_line))),
    ];
    Table::new("tasks", columns)
}

fn created_by(trace: &Trace, task: &Task) -> Text {
    if task.created_by == NONE {
        Text::NONE
    } else {
        trace.events.shape(task.created_by).syscall
    }
}

/// A process: its main task, and sums over all its tasks.
pub(crate) struct Process {
    pub(crate) main: TaskId,
    /// The task that determines the program and the exit status: the main task, or the thread that took over its id.
    pub(crate) last: TaskId,
    pub(crate) birth_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) dead: bool,
    threads: i64,
    calls: u64,
    failed: u64,
    in_call_ns: i64,
    cpu_ns: i64,
    own_cpu_ns: i64,
    longest_own_cpu: (i64, u32),
    gap_ns: i64,
    stopped_ns: i64,
    pub(crate) exclusive_ns: i64,
}

/// The selected tasks, by process.
struct ByProcess<'trace> {
    /// In order of tasks.
    tasks: Vec<TaskId>,
    /// The main task of each task of the trace.
    mains: &'trace TiSlice<TaskId, TaskId>,
    /// The main tasks of the processes, in order of first selected tasks.
    processes: Vec<TaskId>,
    /// The number of selected tasks of each process, by its main task.
    threads: TiVec<TaskId, u32>,
}

impl<'trace> ByProcess<'trace> {
    fn new(trace: &'trace Trace, selection: &Selection<'_>) -> ByProcess<'trace> {
        let mains = trace.main_tasks();
        let tasks: Vec<TaskId> = trace
            .tasks
            .keys()
            .filter(|&number| selection.touches_task(number))
            .collect();
        let (mut threads, mut processes) = (ti_vec![0; trace.tasks.len()], Vec::new());
        for &task in &tasks {
            let main = mains[task];
            if threads[main] == 0 {
                processes.push(main);
            }
            threads[main] += 1;
        }
        ByProcess {
            tasks,
            mains,
            processes,
            threads,
        }
    }

    /// Only the `most` processes with the most time on the critical path; ties by order.
    fn retain_largest(&mut self, exclusive_ns: &[i64], most: usize) {
        if most >= self.processes.len() {
            return;
        }
        let mut of_mains_ns = ti_vec![0; self.mains.len()];
        for &task in &self.tasks {
            of_mains_ns[self.mains[task]] += exclusive_ns.get(task.index()).copied().unwrap_or(0);
        }
        let mut order: Vec<(Reverse<i64>, usize)> = self
            .processes
            .iter()
            .map(|&main| Reverse(of_mains_ns[main]))
            .zip(0..)
            .collect();
        order.select_nth_unstable(most);
        let mut is_chosen = ti_vec![false; self.mains.len()];
        order[..most]
            .iter()
            .for_each(|&(_, at)| is_chosen[self.processes[at]] = true);
        self.processes.retain(|&main| is_chosen[main]);
        self.tasks.retain(|&task| is_chosen[self.mains[task]]);
    }
}

/// All processes.
pub(crate) fn gathered(
    trace: &Trace,
    selection: &Selection<'_>,
    exclusive_ns: &[i64],
) -> Vec<Process> {
    gathered_of(trace, &ByProcess::new(trace, selection), exclusive_ns)
}

fn gathered_of(trace: &Trace, chosen: &ByProcess<'_>, exclusive_ns: &[i64]) -> Vec<Process> {
    let mut places = ti_vec![NONE; trace.tasks.len()];
    (0..)
        .zip(&chosen.processes)
        .for_each(|(place, &main)| places[main] = place);
    let mut processes: Vec<Process> = chosen
        .processes
        .iter()
        .map(|&main| Process::new(main))
        .collect();
    for (&number, life) in chosen.tasks.iter().zip(lives(trace, &chosen.tasks)) {
        let process = &mut processes[places[chosen.mains[number]] as usize];
        process.add(number, &trace.tasks[number], life);
        process.cpu_ns = sum_of_known(process.cpu_ns, cpu_ns(trace, number));
        process.own_cpu_ns = sum_of_known(process.own_cpu_ns, trace.tasks[number].own_cpu_ns());
        process.exclusive_ns = process
            .exclusive_ns
            .saturating_add(exclusive_ns.get(number.index()).copied().unwrap_or(0));
    }
    processes
}

/// The processes with several selected threads: for each its main task, and the task that determines its program.
pub fn threaded(trace: &Trace, selection: &Selection<'_>) -> Vec<(TaskId, TaskId)> {
    let by_process = ByProcess::new(trace, selection);
    let several = |main: TaskId| by_process.threads[main] > 1;
    let mut last: TiVec<TaskId, TaskId> = trace.tasks.keys().collect();
    for &task in by_process
        .tasks
        .iter()
        .filter(|&&task| takes_over(&trace.tasks[task]))
    {
        last[by_process.mains[task]] = task;
    }
    by_process
        .processes
        .iter()
        .filter(|&&main| several(main))
        .map(|&main| (main, last[main]))
        .collect()
}

/// The CPU time of a task, or of its calls if the tracer prints no more.
fn cpu_ns(trace: &Trace, task: TaskId) -> i64 {
    match trace.tasks[task].cpu_ns() {
        NO_NS => in_calls_cpu_ns(trace, task),
        cpu_ns => cpu_ns,
    }
}

fn in_calls_cpu_ns(trace: &Trace, task: TaskId) -> i64 {
    trace.rows_of(task).iter().fold(NO_NS, |sum_ns, &row| {
        sum_of_known(sum_ns, trace.events.cpu_ns(row))
    })
}

impl Process {
    fn new(main: TaskId) -> Process {
        Process {
            main,
            last: main,
            birth_ns: NO_NS,
            end_ns: NO_NS,
            dead: true,
            threads: 0,
            calls: 0,
            failed: 0,
            in_call_ns: 0,
            cpu_ns: NO_NS,
            own_cpu_ns: NO_NS,
            longest_own_cpu: (0, NONE),
            gap_ns: 0,
            stopped_ns: 0,
            exclusive_ns: 0,
        }
    }

    fn add(&mut self, number: TaskId, task: &Task, life: Life) {
        self.threads += 1;
        self.calls += u64::from(task.calls);
        self.failed += u64::from(task.failed);
        self.in_call_ns = self.in_call_ns.saturating_add(life.in_call_ns);
        self.longest_own_cpu = self.longest_own_cpu.max(task.longest_own_cpu());
        self.gap_ns = self.gap_ns.saturating_add(life.gap_ns.max(0));
        self.stopped_ns = self.stopped_ns.saturating_add(life.stopped_ns.max(0));
        if task.birth_ns != NO_NS {
            self.birth_ns = if self.birth_ns == NO_NS {
                task.birth_ns
            } else {
                self.birth_ns.min(task.birth_ns)
            };
            self.end_ns = self.end_ns.max(task.end_ns());
        }
        if takes_over(task) {
            self.last = number;
        }
        self.dead &= task.death_ns != NO_NS || task.is_thread;
    }
}

/// Whether a thread became the main task of its process: it executed a program.
fn takes_over(task: &Task) -> bool {
    !task.renamed().is_empty()
}

fn line_of(trace: &Trace, row: u32) -> i64 {
    if row == NONE {
        NO_NS
    } else {
        i64::from(trace.events.line(row))
    }
}

/// Number of processes that outlive a window.
pub fn outliving(trace: &Trace, window: &window::Window) -> usize {
    let lives_on = |task: &&Task| {
        task.capture == window.capture
            && !task.is_thread
            && task.birth_ns != NO_NS
            && task.end_ns() > window.end_ns
    };
    if window.end_ns == NO_NS {
        0
    } else {
        trace.tasks.iter().filter(lives_on).count()
    }
}

/// Builds the table with one row per process; see [`tasks`]. `slack_ns` maps main tasks to their slack where it is
/// known. With `most`, only this number of processes with the most time on the critical path. The second part of the
/// result is the number of all processes.
pub fn processes(
    trace: &Trace,
    selection: &Selection<'_>,
    exclusive_ns: &[i64],
    slack_ns: &FxHashMap<TaskId, i64>,
    most: Option<usize>,
) -> (Table, usize) {
    let mut chosen = ByProcess::new(trace, selection);
    let number = chosen.processes.len();
    chosen.retain_largest(exclusive_ns, most.unwrap_or(usize::MAX));
    let processes = gathered_of(trace, &chosen, exclusive_ns);
    (
        rows(
            trace,
            selection,
            &processes.iter().collect::<Vec<_>>(),
            slack_ns,
        ),
        number,
    )
}

/// These processes as rows.
pub(crate) fn rows(
    trace: &Trace,
    selection: &Selection<'_>,
    processes: &[&Process],
    slack_ns: &FxHashMap<TaskId, i64>,
) -> Table {
    let events = &trace.events;
    let task = |process: &Process| &trace.tasks[process.main];
    let last = |process: &Process| &trace.tasks[process.last];
    let of = |value: &dyn Fn(&Process) -> i64| {
        some_ints(processes.iter().copied().map(value).collect::<Vec<_>>())
    };
    let column = |text: &dyn Fn(&Process) -> Text| {
        let mut column = TextColumn::default();
        processes
            .iter()
            .for_each(|process| push_text(&mut column, events, text(process)));
        column.finish()
    };
    let program = |process: &Process| selection.program_index.name_of(process.last);
    let parent = |process: &Process| trace.tasks.get(task(process).creator);
    let columns = vec![
        ("capture", of(&|process| i64::from(task(process).capture))),
        ("task", of(&|process| i64::from(process.main))),
        ("pid", of(&|process| id(task(process).pid))),
        (
            "parent_task",
            of(&|process| parent(process).map_or(NO_NS, |_| i64::from(task(process).creator))),
        ),
        (
            "parent_pid",
            of(&|process| parent(process).map_or(NO_NS, |parent| id(parent.pid))),
        ),
        (
            "program",
            column(&|process| program(process).map_or(Text::NONE, |program| program.path)),
        ),
        (
            "argv",
            column(&|process| program(process).map_or(Text::NONE, |program| program.argv)),
        ),
        ("birth_ns", of(&|process| process.birth_ns)),
        (
            "death_ns",
            of(&|process| if process.dead { process.end_ns } else { NO_NS }),
        ),
        ("exit_code", of(&|process| exit_code(last(process)))),
        ("exit_signal", column(&|process| exit_signal(last(process)))),
        (
            "wall_ns",
            of(&|process| {
                if process.birth_ns == NO_NS {
                    NO_NS
                } else {
                    process.end_ns - process.birth_ns
                }
            }),
        ),
        ("exclusive_ns", of(&|process| process.exclusive_ns)),
        ("in_call_ns", of(&|process| process.in_call_ns)),
        ("cpu_ns", of(&|process| process.cpu_ns)),
        ("own_cpu_ns", of(&|process| process.own_cpu_ns)),
        (
            "max_own_cpu_ns",
            of(&|process| {
                if process.longest_own_cpu.0 > 0 {
                    process.longest_own_cpu.0
                } else {
                    NO_NS
                }
            }),
        ),
        (
            "max_own_cpu_line",
            of(&|process| line_of(trace, process.longest_own_cpu.1)),
        ),
        ("gap_ns", of(&|process| process.gap_ns)),
        ("stopped_ns", of(&|process| process.stopped_ns)),
        (
            "slack_ns",
            of(&|process| slack_ns.get(&process.main).copied().unwrap_or(NO_NS)),
        ),
        ("calls", of(&|process| process.calls as i64)),
        ("failed", of(&|process| process.failed as i64)),
        ("threads", of(&|process| process.threads)),
        (
            "first_line",
            of(&|process| i64::from(task(process).first_line)),
        ),
    ];
    Table::new("processes", columns)
}
