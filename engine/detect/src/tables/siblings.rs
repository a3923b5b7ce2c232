//! Siblings: children of one process that run the same program, or scripts of one folder, sequentially or in parallel.
//!
//! ```text
//! serial     |-- stop a --||-- stop b --||-- stop c --|          wall = sum; in parallel it would be the longest
//! parallel   |-- jail a --------|                                 all at once, but each waits for its predecessor's lock
//!            |~~ waits ~~|-- jail b ---|                          parallel 2.0, effective 1.2
//! ```

use super::locks::lock_waits_ns;
use crate::tables::probe_series::pauses::only_pauses;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::families::{PathTimes, ends, life, overlap};
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::threshold::CostScope;
use kit::table_support::traffic::Traffic;
use parsers::Text;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::event::NONE;
use trace::store::index::{TaskId, TiVec, ti_vec};

table! {
    siblings "Groups of at least two children of one process with the same program.";
    times: Lives;
    row {
        of: OfTask { program "Program of the parent." },
        child_program: Text "Program that the children run.",
        folder: Words "Folder of their programs, if these are several scripts of one folder.",
        commands: List "The first few different command lines of the children.",
        children: Count "Number of children.",
        dependent: Count "Number of children that depend on an earlier one through files and pipes: it wrote what they or their parent read.",
        at_once: Number "Maximum number alive at the same time.",
        serial_share: Share "Share of the time with at least one child alive in which only one was.",
        wall_ns: Ns "From the first birth to the last exit.",
        sum_ns: Ns "Sum of their lifetimes.",
        longest_ns: Ns (Max) "Longest lifetime.",
        parallel: Ratio "Apparent parallelism: sum_ns / wall_ns.",
        lock_wait_ns: Ns "Time that the children and their descendants waited for file locks.",
        effective: Ratio "Parallelism without the time spent waiting for file locks.",
        path: PathTime { exclusive_ns "Critical-path time of the children and their descendants." },
        untraced_ns: Ns "exclusive_ns without what tracing is estimated to have added.",
        could_free_ns: Ns "untraced_ns without the most expensive child: what running all of them at once could save.",
        lines: Lines {
            first_line "First line of the first child.",
            last_line "Last line of the last child.",
        },
    }
}

/// Maximum number of command lines listed.
const MAX_NAMED: usize = 5;

/// Children that share a parent and a program, or a folder of scripts.
struct Siblings {
    parent: TaskId,
    program: Text,
    folder: Option<String>,
    children: Vec<TaskId>,
}

/// Builds the table of groups of at least two children of one process with the same program.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let times = PathTimes::new(context);
    let children = children(context);
    let may_reach = parents_that_may_reach(context, &times, &children);
    let mut groups: FxHashMap<(TaskId, Text), Vec<TaskId>> = FxHashMap::default();
    for &(parent, task) in children.iter().filter(|(parent, _)| may_reach[*parent]) {
        let program = context
            .selection
            .program_index
            .name_of(task)
            .map_or(Text::NONE, |program| program.path);
        groups.entry((parent, program)).or_default().push(task);
    }
    let groups = groups
        .into_iter()
        .map(|((parent, program), children)| (parent, program, children));
    let mut groups: Vec<Siblings> = groups
        .map(|(parent, program, children)| Siblings {
            parent,
            program,
            folder: None,
            children,
        })
        .collect();
    groups.sort_unstable_by_key(|group| (group.parent, group.program));
    groups.extend(by_folder(context, &groups));
    groups.retain(|group| group.children.len() > 1);
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    groups.retain(|group| reaches_threshold(context, &times, group));
    if !groups.is_empty() {
        let pauses = only_pauses(context);
        groups
            .iter_mut()
            .for_each(|group| leave_out_rhythm(context, &pauses, group));
        groups.retain(|group| group.children.len() > 1);
    }
    if groups.is_empty() {
        return builder.finish();
    }
    let (waits, traffic) = (lock_waits_ns(context), Traffic::new(context));
    groups
        .iter()
        .for_each(|group| write(context, &times, &waits, &traffic, group, &mut builder));
    builder.finish()
}

/// The selected processes with a life, each after the main task of its creator's process.
fn children(context: &TableContext<'_>) -> Vec<(TaskId, TaskId)> {
    let (trace, mains) = (context.trace, context.trace.main_tasks());
    let child = |task: TaskId| {
        let known = trace.tasks.get(task).filter(|known| !known.is_thread)?;
        let &parent = mains.get(known.creator)?;
        life(trace, task).map(|_| (parent, task))
    };
    context.tasks().filter_map(child).collect()
}

/// For each task, whether a group of its children may reach the threshold: all of them together do.
fn parents_that_may_reach(
    context: &TableContext<'_>,
    times: &PathTimes,
    children: &[(TaskId, TaskId)],
) -> TiVec<TaskId, bool> {
    let Some(threshold) = context
        .threshold
        .filter(|threshold| threshold.within <= CostScope::Call)
    else {
        return ti_vec![true; context.trace.tasks.len()];
    };
    let mut sums_ns = ti_vec![0i64; context.trace.tasks.len()];
    for &(parent, child) in children {
        sums_ns[parent] += times.inclusive_ns[child];
    }
    let tasks = context.trace.tasks.iter().zip(sums_ns);
    tasks
        .map(|(task, sum_ns)| sum_ns >= threshold.least_of(task.capture))
        .collect()
}

/// Drops children that are the same pause again: a loop that sleeps between its steps does not want them side by side.
fn leave_out_rhythm(context: &TableContext<'_>, pauses: &FxHashSet<TaskId>, group: &mut Siblings) {
    let mut times: FxHashMap<Text, usize> = FxHashMap::default();
    for &child in group.children.iter().filter(|child| pauses.contains(child)) {
        *times.entry(argv_of(context, child)).or_default() += 1;
    }
    group
        .children
        .retain(|&child| !pauses.contains(&child) || times[&argv_of(context, child)] < 2);
}

fn argv_of(context: &TableContext<'_>, child: TaskId) -> Text {
    context
        .selection
        .program_index
        .name_of(child)
        .map_or(Text::NONE, |program| program.argv)
}

/// The children of a process that run several programs of one folder each, such as the scripts of `/etc/init.d`.
fn by_folder(context: &TableContext<'_>, groups: &[Siblings]) -> Vec<Siblings> {
    let mut folders: FxHashMap<(TaskId, String), (usize, Vec<TaskId>)> = FxHashMap::default();
    for group in groups {
        if let Some(folder) = script_folder(&context.trace.events.texts.string(group.program)) {
            let (programs, children) = folders
                .entry((group.parent, folder.to_owned()))
                .or_default();
            *programs += 1;
            children.extend(&group.children);
        }
    }
    let several = folders
        .into_iter()
        .filter(|(_, (programs, _))| *programs > 1);
    let group =
        |((parent, folder), (_, mut children)): ((TaskId, String), (usize, Vec<TaskId>))| {
            children.sort_unstable();
            Siblings {
                parent,
                program: Text::NONE,
                folder: Some(folder),
                children,
            }
        };
    let mut found: Vec<Siblings> = several.map(group).collect();
    found.sort_unstable_by(|one, other| {
        (one.parent, &one.folder).cmp(&(other.parent, &other.folder))
    });
    found
}

/// The folder of a program, unless it is one in which programs of all kinds are.
fn script_folder(program: &str) -> Option<&str> {
    const OF_ALL_KINDS: [&str; 3] = ["bin", "sbin", "libexec"];
    let (folder, _) = program.rsplit_once('/')?;
    let name = folder.rsplit('/').next()?;
    (!name.is_empty() && !OF_ALL_KINDS.contains(&name)).then_some(folder)
}

/// Whether a row reaches the caller's threshold. Merged rows are always built.
fn reaches_threshold(context: &TableContext<'_>, times: &PathTimes, group: &Siblings) -> bool {
    let capture = context.trace.tasks[group.parent].capture;
    let path_ns = || {
        group
            .children
            .iter()
            .map(|&child| times.inclusive_ns[child])
            .sum::<i64>()
    };
    context.threshold.is_none_or(|threshold| {
        threshold.within > CostScope::Call || path_ns() >= threshold.least_of(capture)
    })
}

fn write(
    context: &TableContext<'_>,
    times: &PathTimes,
    waits: &[i64],
    traffic: &Traffic<'_>,
    group: &Siblings,
    builder: &mut TableBuilder<'_>,
) {
    let trace = context.trace;
    let lives: Vec<(i64, i64)> = group
        .children
        .iter()
        .filter_map(|&child| life(trace, child))
        .collect();
    let (overlap, lengths) = (overlap(&lives), lives.iter().map(|(from, to)| to - from));
    let (sum_ns, longest_ns) = (lengths.clone().sum::<i64>(), lengths.max().unwrap_or(0));
    let path_ns = group
        .children
        .iter()
        .map(|&child| times.inclusive_ns[child])
        .sum::<i64>();
    let untraced = group.children.iter().map(|&child| {
        let tracing_ns: i64 = traffic
            .family(&[child])
            .iter()
            .map(|&task| context.traced(task).tracing_ns())
            .sum();
        times.inclusive_ns[child] - tracing_ns
    });
    let (untraced_ns, longest_untraced_ns) = untraced
        .fold((0, 0), |(sum_ns, longest_ns), ns: i64| {
            (sum_ns + ns, ns.max(longest_ns))
        });
    let all = traffic.family(&group.children);
    let waited_ns: i64 = all.iter().map(|&task| waits[task.index()]).sum();
    let ends: Vec<(TaskId, u32, u32)> = all
        .iter()
        .filter_map(|&task| ends(trace, task).map(|(first, last)| (task, first, last)))
        .collect();
    let parent_row = trace.rows_of(group.parent).first().copied().unwrap_or(NONE);
    let rows = || {
        ends.iter()
            .filter(|(task, ..)| group.children.contains(task))
    };
    let first_row = ends.iter().map(|end| end.1).min().unwrap_or(parent_row);
    let last_row = rows().map(|end| end.2).max().unwrap_or(first_row);
    if first_row >= trace.events.len() {
        return;
    }
    let factor = |ns: i64| (overlap.wall_ns > 0).then(|| ns as f64 / overlap.wall_ns as f64);
    let row = TableRow {
        of: TaskAt {
            task: group.parent,
            row: first_row,
        },
        child_program: group.program,
        folder: group.folder.clone(),
        commands: commands(context, group),
        children: group.children.len() as i64,
        dependent: traffic.dependent(context, group.parent, &group.children) as i64,
        at_once: overlap.most,
        serial_share: (overlap.any_ns > 0).then(|| overlap.one_ns as f64 / overlap.any_ns as f64),
        wall_ns: overlap.wall_ns,
        sum_ns,
        longest_ns,
        parallel: factor(sum_ns),
        lock_wait_ns: waited_ns,
        effective: factor((sum_ns - waited_ns).max(0)),
        path: path_ns,
        untraced_ns,
        could_free_ns: untraced_ns - longest_untraced_ns,
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    builder.add(row, Provenance::Stretches(ends));
}

/// The first distinct command lines of the children, in order.
fn commands(context: &TableContext<'_>, group: &Siblings) -> Vec<String> {
    let mut known: Vec<Text> = Vec::new();
    for &child in &group.children {
        let argv = context
            .selection
            .program_index
            .name_of(child)
            .map_or(Text::NONE, |program| program.argv);
        if argv.is_some() && known.len() < MAX_NAMED && !known.contains(&argv) {
            known.push(argv);
        }
    }
    known
        .iter()
        .map(|&argv| context.trace.events.texts.string(argv).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    fn child(tid: i32, from_ns: i64, to_ns: i64) -> TaskPlan {
        task(tid)
            .exec(from_ns, from_ns, "/bin/stop")
            .call("read", from_ns, to_ns - 1)
            .exit(to_ns)
    }

    const COLUMNS: [&str; 6] = [
        "children",
        "at_once",
        "serial_share",
        "wall_ns",
        "sum_ns",
        "could_free_ns",
    ];

    #[test]
    fn sequential_children_could_free_all_but_the_longest() {
        let shell = task(1)
            .exec(0, 1, "/bin/sh")
            .fork(1, 2, 2)
            .wait4(2, 50, 2)
            .fork(50, 51, 3)
            .wait4(51, 80, 3);
        let plans = vec![shell.exit(90), child(2, 2, 50), child(3, 51, 80)];
        assert_eq!(
            rows(&build(plans), super::build, &COLUMNS),
            ["2 1 1 78 77 29"]
        );
    }

    #[test]
    fn a_child_that_reads_an_earlier_ones_output_is_dependent() {
        let dependent = |first: &str, second: &str, parent: &str| {
            let shell = task(1)
                .exec(0, 1, "/bin/sh")
                .fork(1, 2, 2)
                .call("read", 2, 49)
                .on(parent)
                .returns(3);
            let shell = shell.wait4(49, 50, 2).fork(50, 51, 3).wait4(51, 80, 3);
            let one = task(2)
                .exec(3, 4, "/bin/x")
                .call("write", 5, 9)
                .on(first)
                .returns(3)
                .exit(45);
            let two = task(3)
                .exec(52, 53, "/bin/x")
                .call("read", 54, 60)
                .on(second)
                .returns(3)
                .exit(80);
            rows(
                &build(vec![shell.exit(90), one, two]),
                super::build,
                &["dependent"],
            )
        };
        assert_eq!(dependent("/tmp/a", "/tmp/a", "/x"), ["1"]);
        assert_eq!(dependent("/tmp/a", "/tmp/b", "/x"), ["0"]);
        assert_eq!(dependent("pipe:[7]", "/tmp/b", "pipe:[7]"), ["1"]);
        assert_eq!(dependent("/dev/null", "/dev/null", "/x"), ["0"]);
    }

    #[test]
    fn parallel_children_overlap() {
        let shell = task(1)
            .exec(0, 1, "/bin/sh")
            .fork(1, 2, 2)
            .fork(2, 3, 3)
            .wait4(3, 50, 2)
            .wait4(50, 60, 3);
        let plans = vec![shell.exit(90), child(2, 2, 50), child(3, 3, 60)];
        assert_eq!(
            rows(&build(plans), super::build, &COLUMNS[..4]),
            ["2 2 0.1896551724137931 58"]
        );
    }
}
