//! Where the wall time went: the stretches of the path summed by task, program, class and call. They add up to the window.

use crate::path::{Segment, What, walk};
use crate::select::ProgramIndex;
use crate::table::{Table, TextColumn, Values, ints, some_ints};
use crate::trace::Trace;
use crate::wakers::Wakers;
use crate::window::Window;
use parsers::syscalls::Class;
use parsers::{NO_ID, NO_NS, Text};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Group {
    task: u32,
    program: Text,
    class: Class,
    syscall: Text,
    op: Text,
    /// Normalised.
    target: Text,
    resolved: bool,
}

struct Sum {
    exclusive_ns: i64,
    calls: i64,
    /// The target as printed while there is only one, else the normalised one.
    target: Text,
}

/// Rows that were already counted, a bit each.
struct Counted(Vec<u64>);

impl Counted {
    fn is_first(&mut self, row: u32) -> bool {
        let (word, bit) = (row as usize / 64, 1 << (row % 64));
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let is_first = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_first
    }
}

/// The partition of the windows, the largest charge first: per capture it sums to the length of its window.
pub fn partition(trace: &Trace, wakers: &Wakers, windows: &[Window]) -> Table {
    let programs = ProgramIndex::new(trace);
    let mut sums: FxHashMap<Group, Sum> = FxHashMap::default();
    let mut counted = Counted(Vec::new());
    for window in windows {
        walk(trace, wakers, window, &mut |segment| {
            let (group, target) = group_of(trace, &programs, &segment);
            let sum = sums.entry(group).or_insert(Sum { exclusive_ns: 0, calls: 0, target });
            sum.exclusive_ns += segment.dur_ns();
            if sum.target != target {
                sum.target = group.target;
            }
            if let What::Call(row) | What::Resume(row) | What::Silence(row) = segment.what {
                sum.calls += i64::from(counted.is_first(row));
            }
        });
    }
    let mut rows: Vec<(Group, Sum)> = sums.into_iter().collect();
    rows.sort_unstable_by_key(|(group, sum)| (Reverse(sum.exclusive_ns), *group));
    table(trace, windows, &rows)
}

fn group_of(trace: &Trace, programs: &ProgramIndex, segment: &Segment) -> (Group, Text) {
    let program = program_of(programs, segment);
    let none = Text::NONE;
    let bare = Group {
        task: segment.task,
        program,
        class: segment.class,
        syscall: none,
        op: none,
        target: none,
        resolved: segment.resolved,
    };
    let Some(row) = segment.what.row() else { return (bare, none) };
    let shape = trace.events.shape(row);
    let (syscall, op) = named(segment.what, shape.syscall, shape.op);
    (Group { syscall, op, target: shape.target, ..bare }, trace.events.target(row))
}

/// The syscall and the sub-operation; of a message, its subsystem.
fn named(what: What, syscall: Text, op: Text) -> (Text, Text) {
    if let What::Silence(_) = what { (Text::NONE, syscall) } else { (syscall, op) }
}

/// The program at the start of a stretch; before a task's first one, that one.
fn program_of(programs: &ProgramIndex, segment: &Segment) -> Text {
    let first = || programs.of(segment.task).first().copied();
    programs.at(segment.task, segment.start_ns).or_else(first).map_or(Text::NONE, |program| program.path)
}

fn table(trace: &Trace, windows: &[Window], rows: &[(Group, Sum)]) -> Table {
    let mut wall_ns: FxHashMap<u32, i64> = FxHashMap::default();
    for window in windows {
        *wall_ns.entry(window.capture).or_default() += window.wall_ns();
    }
    let capture_of = |group: &Group| trace.tasks[group.task as usize].capture;
    let share = |(group, sum): &(Group, Sum)| {
        let wall_ns = wall_ns.get(&capture_of(group)).copied().unwrap_or(0);
        (wall_ns > 0).then(|| sum.exclusive_ns as f64 / wall_ns as f64)
    };
    let tasks: Vec<u32> = rows.iter().map(|(group, _)| group.task).collect();
    let text = |of: &dyn Fn(&(Group, Sum)) -> Text| text_column(trace, rows.iter().map(of));
    Table::new(
        "partition",
        vec![
            ("capture", ints(rows.iter().map(|(group, _)| i64::from(capture_of(group))))),
            ("pid", ids(&tasks, |task| trace.tasks[task as usize].pid)),
            ("tid", ids(&tasks, |task| trace.tasks[task as usize].tid)),
            ("program", text(&|(group, _)| group.program)),
            ("class", crate::table::texts(rows.iter().map(|(group, _)| Some(group.class.name())))),
            ("syscall", text(&|(group, _)| group.syscall)),
            ("op", text(&|(group, _)| group.op)),
            ("target", text(&|(_, sum)| sum.target)),
            ("exclusive_ns", ints(rows.iter().map(|(_, sum)| sum.exclusive_ns))),
            ("share", Values::Float(rows.iter().map(share).collect())),
            ("calls", ints(rows.iter().map(|(_, sum)| sum.calls))),
            ("resolved", Values::Bool(rows.iter().map(|(group, _)| Some(group.resolved)).collect())),
        ],
    )
}

fn ids(tasks: &[u32], of: impl Fn(u32) -> i32) -> Values {
    some_ints(tasks.iter().map(|&task| of(task)).map(|id| if id == NO_ID { NO_NS } else { i64::from(id) }))
}

fn text_column(trace: &Trace, texts: impl Iterator<Item = Text>) -> Values {
    let mut column = TextColumn::default();
    for text in texts {
        column.push(text.is_some().then(|| trace.events.texts.string(text)).as_deref());
    }
    column.finish()
}

/// Time on the path charged to each task, by its number.
pub fn exclusive_by_task(trace: &Trace, segments: &[Segment]) -> Vec<i64> {
    let mut exclusive_ns = vec![0; trace.tasks.len()];
    segments.iter().for_each(|segment| exclusive_ns[segment.task as usize] += segment.dur_ns());
    exclusive_ns
}

/// Time on the path charged to each event that has some, in order of rows: calls with their resumption, messages.
pub fn charges(segments: &[Segment]) -> Vec<(u32, i64)> {
    let charged = |segment: &Segment| match segment.what {
        What::Call(row) | What::Resume(row) | What::Silence(row) => Some((row, segment.dur_ns())),
        What::Gap | What::Spawn(_) => None,
    };
    let mut charges: Vec<(u32, i64)> = segments.iter().filter_map(charged).collect();
    charges.sort_unstable();
    charges.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    charges
}

/// The stretches of the path as a table, in the order given.
pub fn path_table(trace: &Trace, segments: &[Segment]) -> Table {
    let programs = ProgramIndex::new(trace);
    let tasks: Vec<u32> = segments.iter().map(|segment| segment.task).collect();
    let events = &trace.events;
    let of_row = |of: &dyn Fn(What, u32) -> Text| {
        text_column(
            trace,
            segments.iter().map(|segment| segment.what.row().map_or(Text::NONE, |row| of(segment.what, row))),
        )
    };
    let shape = |what: What, row: u32| named(what, events.shape(row).syscall, events.shape(row).op);
    let line = |segment: &Segment| segment.what.row().map_or(NO_NS, |row| i64::from(events.line(row)));
    Table::new(
        "path",
        vec![
            ("start_ns", ints(segments.iter().map(|segment| segment.start_ns))),
            ("dur_ns", ints(segments.iter().map(Segment::dur_ns))),
            ("task", ints(tasks.iter().map(|&task| i64::from(task)))),
            ("pid", ids(&tasks, |task| trace.tasks[task as usize].pid)),
            ("tid", ids(&tasks, |task| trace.tasks[task as usize].tid)),
            ("program", text_column(trace, segments.iter().map(|segment| program_of(&programs, segment)))),
            ("class", crate::table::texts(segments.iter().map(|segment| Some(segment.class.name())))),
            ("what", crate::table::texts(segments.iter().map(|segment| Some(segment.what.name())))),
            ("syscall", of_row(&|what, row| shape(what, row).0)),
            ("op", of_row(&|what, row| shape(what, row).1)),
            ("target", of_row(&|_, row| events.target(row))),
            ("line", some_ints(segments.iter().map(line))),
        ],
    )
}
