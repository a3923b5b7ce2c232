//! Commands: one program that runs several times with the same arguments.
//!
//! ```text
//! sh a    awk -f x rc.conf | sed … |           awk -f x rc.conf: 3 runs by 2 parents, one would suffice
//! sh b    awk -f x rc.conf | awk -f x rc.conf |
//! ```
//! Equal commands may do different work: they may read different input from a pipe, or files that changed. Runs that
//! transferred different numbers of bytes, or read from a pipe that others write to, are not `alike`. Commands that only
//! sleep are pauses of their creators.
//!
//! Numbers and names of temporary files in the arguments are normalised; `distinct` counts the different argument
//! lists.

use crate::tables::probe_series::pauses::only_pauses;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::families::{PathTimes, path_ns};
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::{Cost, Joins};
use kit::table_support::threshold::CostScope;
use kit::table_support::traffic::Traffic;
use parsers::syscalls::Action;
use parsers::{NO_NS, Outcome, Text};
use path::critical_path::time_index::ProgramTime;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::parallel;
use trace::store::index::TaskId;
use trace::store::normalise::normalise;
use trace::store::tasks::Program;

table! {
    commands "Commands that ran at least twice.";
    times: Lives;
    costs: Cost { gaps: true, of: CostScope::Program, joins: Joins::Never, ..Cost::OF_PROCESS };
    row {
        of: OfTask { program "The program that was run." },
        argv: Words "Its arguments, with numbers removed.",
        runs: Count "Number of runs.",
        commands: Count "Number of such command lines: 1.",
        distinct: Number "Number of different command lines, including numbers.",
        parents: Number "Number of different tasks that started it.",
        is_cut: Flag "Whether the tracer truncated the arguments, so that the rest may differ.",
        alike: Flag "Whether all runs exited with the same status and, including their children, read and wrote the same number of bytes, none of them from a pipe that another process filled.",
        life_ns: Ns "Sum of the lifetimes of all runs.",
        longest_ns: Ns (Max) "Lifetime of the longest run.",
        path: PathTime { exclusive_ns "Critical-path time of all runs, in and between calls." },
        inclusive_ns: Ns "Critical-path time of all runs and of the processes that they started.",
        repeated_ns: Ns "Critical-path time of all runs except the most expensive one.",
        lines: Lines {
            first_line "First line of the first run.",
            last_line "Last line of the last run.",
        },
    }
}

/// One run of a program by a task, from its execve on.
struct Run {
    task: TaskId,
    program: Text,
    argv: Text,
    first_row: u32,
    last_row: u32,
    /// The execve that started it if it is traced, otherwise its first call.
    start_row: u32,
    life_ns: i64,
    /// Time on the critical path in its calls and in the gaps after them.
    own_ns: i64,
    /// Whether it is the last program of its task.
    is_last: bool,
}

/// Runs of one program with the same arguments.
struct Command {
    argv: Vec<u8>,
    runs: Vec<Run>,
}

/// Builds the table of commands that ran at least twice.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let texts = &context.trace.events.texts;
    let mut groups: FxHashMap<(u32, Text, Vec<u8>), Vec<Run>> = FxHashMap::default();
    let (time_index, tasks) = (
        context.time_index(),
        context.tasks().collect::<Vec<TaskId>>(),
    );
    let runs: Vec<Run> = parallel::flat_map(&tasks, |&task| {
        runs(context, time_index.units_of(task), task)
    });
    for run in runs {
        let argv = texts.bytes(run.argv);
        let key = (
            context.trace.tasks[run.task].capture,
            run.program,
            normalise(argv).unwrap_or(argv.to_vec()),
        );
        groups.entry(key).or_default().push(run);
    }
    let mut groups: Vec<_> = groups
        .into_iter()
        .filter(|(_, runs)| runs.len() > 1)
        .collect();
    groups.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    if let Some(threshold) = context.threshold {
        let mut reaches = threshold
            .reaching(
                &groups
                    .iter()
                    .map(|((capture, program, _), runs)| (*capture, *program, own_ns(runs)))
                    .collect::<Vec<_>>(),
            )
            .into_iter();
        groups.retain(|_| reaches.next() == Some(true));
    }
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    if groups.is_empty() {
        return builder.finish();
    }
    let (times, traffic) = (PathTimes::new(context), Traffic::new(context));
    let pauses = only_pauses(context);
    groups
        .iter_mut()
        .for_each(|(_, runs)| runs.retain(|run| !pauses.contains(&run.task)));
    groups.retain(|(_, runs)| runs.len() > 1);
    for ((_, _, argv), runs) in groups {
        write(
            context,
            &times,
            &traffic,
            &Command { argv, runs },
            &mut builder,
        );
    }
    builder.finish()
}

fn runs(context: &TableContext<'_>, units: &[ProgramTime], task: TaskId) -> Vec<Run> {
    let (events, known) = (&context.trace.events, &context.trace.tasks[task]);
    let rows = context.trace.rows_of(task);
    // Most threads run the program of their process.
    if known.programs.is_empty() {
        return Vec::new();
    }
    if known
        .programs
        .iter()
        .all(|program| program.from_ns == NO_NS)
    {
        return untimed_runs(context, task);
    }
    // The first units belong to the program inherited from the creator, or to an unknown program.
    let inherited = units.len().saturating_sub(known.programs.len());
    let mut to = units
        .iter()
        .take(inherited)
        .map(|unit| unit.rows as usize)
        .sum::<usize>();
    let run = |((number, program), unit): ((usize, &Program), &ProgramTime)| {
        let of_unit = to..to + unit.rows as usize;
        to = of_unit.end;
        let before = rows
            .get(of_unit.clone())?
            .iter()
            .take_while(|&&row| events.start_ns(row) < program.from_ns)
            .count();
        let from = of_unit.start + before;
        // A program without any traced call gets its execve.
        let here = rows
            .get(from..to)
            .filter(|here| !here.is_empty())
            .or(rows.get(from.checked_sub(1)?..from))?;
        let next = known.programs.get(number + 1);
        let until_ns = next.map_or(known.end_ns(), |next| next.from_ns);
        let is_unit = before == 0 && unit.rows > 0;
        Some(Run {
            task,
            program: program.path,
            argv: program.argv,
            first_row: *here.first()?,
            last_row: *here.last()?,
            start_row: from
                .checked_sub(1)
                .and_then(|at| rows.get(at).copied())
                .filter(|row| {
                    events.outcome(*row) == Outcome::Ok && events.action(*row) == Action::Execs
                })
                .unwrap_or(*here.first()?),
            life_ns: if program.from_ns == NO_NS {
                0
            } else {
                (until_ns - program.from_ns).max(0)
            },
            own_ns: if is_unit {
                unit.calls_ns + unit.gaps_ns
            } else {
                path_ns(context, here.iter().copied())
            },
            is_last: next.is_none(),
        })
    };
    known
        .programs
        .iter()
        .enumerate()
        .zip(units.iter().skip(inherited))
        .filter_map(run)
        .collect()
}

/// The runs of a task without timestamps: each lasts from its execve to the next one.
fn untimed_runs(context: &TableContext<'_>, task: TaskId) -> Vec<Run> {
    let (events, programs) = (&context.trace.events, &context.trace.tasks[task].programs);
    let rows = context.trace.rows_of(task);
    let execs: Vec<usize> = (0..rows.len())
        .filter(|at| {
            events.outcome(rows[*at]) == Outcome::Ok && events.action(rows[*at]) == Action::Execs
        })
        .collect();
    if execs.len() != programs.len() {
        return Vec::new();
    }
    let run = |(number, program): (usize, &Program)| {
        let to = execs.get(number + 1).copied().unwrap_or(rows.len());
        let (start_row, last_row) = (rows[execs[number]], rows[to - 1]);
        let is_last = number + 1 == programs.len();
        let (first_row, argv) = (start_row, program.argv);
        Run {
            task,
            program: program.path,
            argv,
            first_row,
            last_row,
            start_row,
            life_ns: 0,
            own_ns: 0,
            is_last,
        }
    };
    programs.iter().enumerate().map(run).collect()
}

fn own_ns(runs: &[Run]) -> i64 {
    runs.iter().map(|run| run.own_ns).sum()
}

/// Whether all runs ended with the same status and transferred the same number of bytes, descendants included, and none
/// read from a pipe that others write to. This excludes a command that a loop repeats until it succeeds.
fn are_alike(context: &TableContext<'_>, traffic: &Traffic<'_>, runs: &[Run]) -> bool {
    let mut ends = runs
        .iter()
        .filter(|run| run.is_last)
        .map(|run| context.trace.tasks[run.task].ended);
    let end = ends.next();
    if ends.any(|other| Some(other) != end) {
        return false;
    }
    let moved = runs.iter().map(|run| traffic.of_families(&[run.task]));
    let mut amounts = moved.map(|moved| {
        (!moved.is_fed(context.trace)).then_some((moved.read_bytes, moved.written_bytes))
    });
    let first = amounts.next().flatten();
    first.is_some() && amounts.all(|amount| amount == first)
}

fn write(
    context: &TableContext<'_>,
    times: &PathTimes,
    traffic: &Traffic<'_>,
    command: &Command,
    builder: &mut TableBuilder<'_>,
) {
    let (trace, Command { argv, runs }) = (context.trace, command);
    let first = runs
        .iter()
        .min_by_key(|run| run.first_row)
        .unwrap_or(&runs[0]);
    let exclusive_ns = own_ns(runs);
    // The descendants of a task count once, for its last program.
    let inclusive_ns: i64 = runs
        .iter()
        .filter(|run| run.is_last)
        .map(|run| times.inclusive_ns[run.task])
        .sum();
    let capture = trace.tasks[first.task].capture;
    let parents: FxHashSet<TaskId> = runs
        .iter()
        .map(|run| trace.tasks[run.task].creator)
        .collect();
    let distinct: FxHashSet<Text> = runs.iter().map(|run| run.argv).collect();
    let row = TableRow {
        of: TaskAt {
            task: first.task,
            row: first.first_row,
        },
        argv: (!argv.is_empty()).then(|| String::from_utf8_lossy(argv).into_owned()),
        runs: runs.len() as i64,
        commands: 1,
        distinct: distinct.len() as i64,
        parents: parents
            .iter()
            .filter(|&&parent| parent != TaskId::NONE)
            .count() as i64,
        // The tracer truncated the arguments, so the rest may differ.
        is_cut: memchr::memmem::find(argv, b"...").is_some() || argv.is_empty(),
        alike: are_alike(context, traffic, runs),
        life_ns: runs.iter().map(|run| run.life_ns).sum(),
        longest_ns: runs.iter().map(|run| run.life_ns).max().unwrap_or(0),
        path: exclusive_ns,
        inclusive_ns: inclusive_ns
            .max(exclusive_ns)
            .min(context.wall_ns(capture).max(exclusive_ns)),
        repeated_ns: exclusive_ns - runs.iter().map(|run| run.own_ns).max().unwrap_or(0),
        lines: LinesOf {
            first_row: first.start_row,
            last_row: runs
                .iter()
                .map(|run| run.last_row)
                .max()
                .unwrap_or(first.last_row),
        },
    };
    builder.add(
        row,
        Provenance::Stretches(
            runs.iter()
                .map(|run| (run.task, run.first_row, run.last_row))
                .collect(),
        ),
    );
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    fn child(tid: i32, program: &str, from_ns: i64, to_ns: i64) -> TaskPlan {
        task(tid)
            .exec(from_ns, from_ns + 1, program)
            .call("read", from_ns + 1, to_ns - 1)
            .exit(to_ns)
    }

    #[test]
    fn a_repeated_command_reports_the_cost_of_its_repetitions() {
        let shell = task(1)
            .exec(0, 1, "/bin/sh")
            .fork(1, 2, 2)
            .wait4(2, 50, 2)
            .fork(50, 51, 3)
            .wait4(51, 80, 3);
        let plans = vec![
            shell.exit(90),
            child(2, "/bin/awk", 3, 50),
            child(3, "/bin/awk", 52, 80),
        ];
        let columns = ["program", "runs", "parents", "exclusive_ns", "repeated_ns"];
        assert_eq!(
            rows(&build(plans), super::build, &columns),
            ["/bin/awk 2 1 73 27"]
        );
    }

    #[test]
    fn runs_with_other_byte_counts_or_pipe_input_are_not_alike() {
        let alike = |target: &str, bytes: [i64; 2]| {
            let shell = task(1)
                .exec(0, 1, "/bin/sh")
                .fork(1, 2, 2)
                .wait4(2, 50, 2)
                .fork(50, 51, 3)
                .wait4(51, 80, 3);
            let reader = |tid: i32, from_ns: i64, bytes: i64| {
                let plan = task(tid).exec(from_ns, from_ns + 1, "/bin/awk");
                plan.call("read", from_ns + 1, from_ns + 20)
                    .on(target)
                    .returns(bytes)
                    .exit(from_ns + 28)
            };
            let plans = vec![
                shell.exit(90),
                reader(2, 3, bytes[0]),
                reader(3, 52, bytes[1]),
            ];
            rows(&build(plans), super::build, &["alike"])
        };
        assert_eq!(alike("/etc/rc.conf", [7, 7]), ["true"]);
        assert_eq!(alike("/etc/rc.conf", [7, 8]), ["false"]);
        assert_eq!(alike("pipe:[1]", [7, 7]), ["false"]);
    }

    #[test]
    fn different_programs_are_not_repetitions() {
        let shell = task(1)
            .exec(0, 1, "/bin/sh")
            .fork(1, 2, 2)
            .wait4(2, 50, 2)
            .fork(50, 51, 3)
            .wait4(51, 80, 3);
        let plans = vec![
            shell.exit(90),
            child(2, "/bin/awk", 3, 50),
            child(3, "/bin/sed", 52, 80),
        ];
        assert_eq!(
            rows(&build(plans), super::build, &["runs"]),
            Vec::<String>::new()
        );
    }
}
