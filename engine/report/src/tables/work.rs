//! The work of a capture, to compare it with others: calls by name of the program and shape.
//!
//! A capture of very many files has very many shapes. If there are more than a limit, only the largest are listed, and
//! sums by syscall and outcome complete them.
//!
//! ```text
//! first pass    calls, bytes and time of each shape           a place per shape: most belong to one program
//!               choose the shapes to list
//! second pass   all amounts of those, and of the sums
//! ```

use crate::tables::calls::{last_part, within_call_ns};
use crate::tables::processes;
use parsers::syscalls::action_of;
use parsers::{NO_ID, NO_NS, Outcome, Text};
use path::critical_path::attribution::Attribution;
use query::event_rows;
use query::selection::Selection;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::ops::Range;
use trace::parallel;
use trace::store::event::{EventKind, NONE};
use trace::store::index::{ShapeId, TaskId, TiVec, ti_vec};
use trace::store::table::{Table, TextColumn, Values, ints};
use trace::store::targets::TargetKind;
use trace::store::text_columns::{shape_text, text_column};
use trace::store::trace::Trace;

/// What is listed.
pub struct WorkQuery {
    /// Maximum number of shapes for a complete list.
    pub max_shapes: usize,
    /// If there are more: so many with the most calls, and with the most bytes.
    pub most: usize,
    /// Syscalls with a complete list of shapes.
    pub listed: FxHashSet<Text>,
}

/// The listed shapes, all or the largest of them; if not all, also the sums of all shapes that differ only in their targets.
pub struct Work {
    /// A row per program and shape, the largest first.
    pub shapes: Table,
    /// A row per program, syscall, operation, outcome and kind of target. `None` if all shapes are listed.
    pub sums: Option<Table>,
}

/// The name of a program, and a shape.
type Group = (Text, ShapeId);

/// The name of a program, and a class of shapes.
type ClassGroup = (Text, u32);

/// What groups are chosen by.
#[derive(Clone, Copy, Default)]
struct Size {
    calls: u32,
    first_row: u32,
    total_ns: i64,
    bytes: i64,
}

/// All amounts of a group.
#[derive(Clone, Copy, Default)]
struct Amounts {
    size: Size,
    last_row: u32,
    exclusive_ns: i64,
    /// Of calls of programs with threads.
    loose_calls: u32,
    loose_bytes: i64,
}

impl Size {
    fn add(&mut self, other: &Size) {
        self.first_row = match (self.calls, other.calls) {
            (0, _) => other.first_row,
            (_, 0) => self.first_row,
            _ => self.first_row.min(other.first_row),
        };
        self.calls += other.calls;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    /// The order of [`super::calls`]: by a number, then by calls, total time and first call.
    fn order(&self, by: i64) -> (Reverse<i64>, Reverse<u32>, Reverse<i64>, u32) {
        (
            Reverse(by),
            Reverse(self.calls),
            Reverse(self.total_ns),
            self.first_row,
        )
    }
}

impl Amounts {
    fn add(&mut self, other: &Amounts) {
        self.size.add(&other.size);
        self.last_row = self.last_row.max(other.last_row);
        self.exclusive_ns = self.exclusive_ns.saturating_add(other.exclusive_ns);
        self.loose_calls += other.loose_calls;
        self.loose_bytes = self.loose_bytes.saturating_add(other.loose_bytes);
    }
}

/// The work of the selected calls.
pub fn work(
    trace: &Trace,
    query: &WorkQuery,
    selection: &Selection<'_>,
    attribution: &Attribution,
) -> Work {
    let calls = Calls::new(trace, selection);
    let (groups, is_all) = chosen(trace, query, &Sizes::of(&calls).groups());
    let found = Found::of(&calls, attribution, &groups, !is_all);
    let rows: Vec<(Group, Amounts)> = groups.into_iter().zip(found.listed).collect();
    let shapes = table(trace, &rows, true);
    let sums = (!is_all).then(|| {
        let mut sums = found.sums;
        sums.sort_unstable_by_key(|(_, amounts)| amounts.size.order(amounts.size.total_ns));
        let with_shapes = sums
            .into_iter()
            .map(|((program, class), amounts)| ((program, calls.classes[class as usize]), amounts));
        table(trace, &with_shapes.collect::<Vec<_>>(), false)
    });
    Work { shapes, sums }
}

/// The groups to list, in the order of their rows, and whether these are all.
fn chosen(trace: &Trace, query: &WorkQuery, groups: &[(Group, Size)]) -> (Vec<Group>, bool) {
    let sorted = |mut numbers: Vec<u32>, most: usize, by: fn(&Size) -> i64| {
        let order = |&number: &u32| {
            let (_, size) = &groups[number as usize];
            size.order(by(size))
        };
        if most < numbers.len() {
            numbers.select_nth_unstable_by_key(most, order);
            numbers.truncate(most);
        }
        numbers.sort_unstable_by_key(order);
        numbers
    };
    let all = || (0..groups.len() as u32).collect::<Vec<u32>>();
    let group = |number: u32| groups[number as usize].0;
    if groups.len() <= query.max_shapes {
        return (
            sorted(all(), usize::MAX, |size| size.total_ns)
                .into_iter()
                .map(group)
                .collect(),
            true,
        );
    }
    let syscall = |number: u32| trace.events.shapes()[group(number).1].syscall;
    let listed: Vec<u32> = all()
        .into_iter()
        .filter(|&number| query.listed.contains(&syscall(number)))
        .collect();
    let by_calls = sorted(all(), query.most, |size| i64::from(size.calls));
    let by_bytes = sorted(all(), query.most, |size| size.bytes);
    let listed = sorted(listed, usize::MAX, |size| i64::from(size.calls));
    let mut seen = FxHashSet::default();
    let chosen = by_calls
        .into_iter()
        .chain(by_bytes)
        .chain(listed)
        .filter(|&number| seen.insert(number));
    (chosen.map(group).collect(), false)
}

/// The selected calls, and what their groups depend on.
struct Calls<'a> {
    trace: &'a Trace,
    selection: &'a Selection<'a>,
    /// Whether a shape returns the number of bytes moved.
    moves: TiVec<ShapeId, bool>,
    /// The number of the class of each shape.
    class_of: TiVec<ShapeId, u32>,
    classes: Classes,
    threaded: Threaded,
}

/// For each class of shapes one of them.
type Classes = Vec<ShapeId>;

/// Programs with threads, and the tasks of their processes: scheduling decides how many calls these make. Calls that a
/// process made earlier, as another program, are left out.
struct Threaded {
    tasks: TiVec<TaskId, bool>,
    programs: FxHashSet<Text>,
}

impl Threaded {
    fn new(trace: &Trace, selection: &Selection<'_>) -> Threaded {
        let threaded = processes::threaded(trace, selection);
        let pid_of = |main: TaskId| Some(trace.tasks[main].pid).filter(|&pid| pid != NO_ID);
        let known = || {
            threaded
                .iter()
                .filter_map(|&(main, last)| Some((pid_of(main)?, last)))
        };
        let pids: FxHashSet<i32> = known().map(|(pid, _)| pid).collect();
        let program = |last: TaskId| {
            selection
                .program_index
                .name_of(last)
                .map_or(Text(0), |program| program.path)
        };
        let programs = known()
            .map(|(_, last)| trace.program_names().first_of(program(last)))
            .collect();
        let tasks = trace
            .tasks
            .iter()
            .map(|task| pids.contains(&task.pid) || pids.contains(&task.tid))
            .collect();
        Threaded { tasks, programs }
    }

    fn has(&self, task: TaskId, program: Text) -> bool {
        self.tasks[task] && self.programs.contains(&program)
    }
}

impl<'a> Calls<'a> {
    fn new(trace: &'a Trace, selection: &'a Selection<'a>) -> Calls<'a> {
        let shapes = trace.events.shapes();
        let mut numbers = FxHashMap::default();
        let mut classes = Vec::new();
        let class_of = shapes.iter_enumerated().map(|(number, shape)| {
            let kind = TargetKind::of(trace.events.texts.bytes(shape.target));
            *numbers
                .entry((
                    shape.syscall,
                    shape.op,
                    shape.errno,
                    shape.outcome,
                    kind as u32,
                ))
                .or_insert_with(|| {
                    classes.push(number);
                    classes.len() as u32 - 1
                })
        });
        let class_of = class_of.collect();
        let moves = shapes
            .iter()
            .map(|shape| action_of(shape.syscall).returns_bytes())
            .collect();
        let threaded = Threaded::new(trace, selection);
        Calls {
            trace,
            selection,
            moves,
            class_of,
            classes,
            threaded,
        }
    }

    /// The calls of some rows, each with its group and its task.
    fn of(&self, rows: Range<u32>) -> impl Iterator<Item = (u32, Group, TaskId)> + '_ {
        let events = &self.trace.events;
        let mut programs = LastProgram::default();
        rows.filter(|&row| events.kind(row) == EventKind::Call && self.selection.has(row))
            .map(move |row| {
                let task = events.task(row);
                (
                    row,
                    (programs.of(self, task, row), events.shape_number(row)),
                    task,
                )
            })
    }

    fn size(&self, row: u32, shape: ShapeId) -> Size {
        let events = &self.trace.events;
        let moved = self.moves[shape] && events.outcome(row) == Outcome::Ok;
        let dur_ns = events.dur_ns(row);
        Size {
            calls: 1,
            first_row: row,
            total_ns: if dur_ns == NO_NS { 0 } else { dur_ns },
            bytes: if moved { events.ret(row).max(0) } else { 0 },
        }
    }
}

/// The name of the program of the task that was looked up last, if it ran only that one.
#[derive(Default)]
struct LastProgram(Option<(TaskId, i64, Text)>);

impl LastProgram {
    fn of(&mut self, calls: &Calls<'_>, task: TaskId, row: u32) -> Text {
        let start_ns = calls.trace.events.start_ns(row);
        if let Some((.., name)) = self
            .0
            .filter(|&(known, from_ns, _)| known == task && start_ns >= from_ns)
        {
            return name;
        }
        let index = calls.selection.program_index;
        let program = index
            .at(task, start_ns)
            .map_or(Text(0), |program| program.path);
        let name = calls.trace.program_names().first_of(program);
        // Later calls of the task are made by its last program, too.
        let last = index
            .of(task)
            .last()
            .filter(|last| start_ns != NO_NS && start_ns >= last.from_ns);
        self.0 = last.map(|last| (task, last.from_ns, name));
        name
    }
}

/// Memory for the sizes of groups, over all cores.
const MAX_SIZES_BYTES: usize = 96 << 20;

/// The size of each group.
struct Sizes {
    /// By shape: the program that was seen first with it.
    of_shapes: TiVec<ShapeId, (Text, Size)>,
    /// Of the other programs.
    others: FxHashMap<Group, Size>,
}

impl Sizes {
    fn of(calls: &Calls<'_>) -> Sizes {
        let shapes = calls.moves.len();
        let most = MAX_SIZES_BYTES / (shapes.max(1) * size_of::<(Text, Size)>());
        let parts = event_rows::parts(calls.trace, most);
        let mut found = parallel::map(&parts, |rows| {
            let mut sizes = Sizes {
                of_shapes: ti_vec![(Text::NONE, Size::default()); shapes],
                others: FxHashMap::default(),
            };
            calls
                .of(rows.clone())
                .for_each(|(row, group, _)| sizes.add(group, &calls.size(row, group.1)));
            sizes
        })
        .into_iter();
        let mut all = found.next().unwrap_or(Sizes {
            of_shapes: TiVec::new(),
            others: FxHashMap::default(),
        });
        found.for_each(|part| part.each(|group, size| all.add(group, size)));
        all
    }

    fn add(&mut self, (program, shape): Group, size: &Size) {
        let (first, of_first) = &mut self.of_shapes[shape];
        if of_first.calls == 0 {
            *first = program;
        }
        let into = if *first == program {
            of_first
        } else {
            self.others.entry((program, shape)).or_default()
        };
        into.add(size);
    }

    fn each(&self, mut look: impl FnMut(Group, &Size)) {
        let of_shapes = self
            .of_shapes
            .iter_enumerated()
            .filter(|(_, (_, size))| size.calls > 0);
        of_shapes.for_each(|(shape, (program, size))| look((*program, shape), size));
        self.others
            .iter()
            .for_each(|(&group, size)| look(group, size));
    }

    fn groups(self) -> Vec<(Group, Size)> {
        let mut groups = Vec::new();
        self.each(|group, size| groups.push((group, *size)));
        groups
    }
}

/// The amounts of the listed groups, in their order, and the sums.
struct Found {
    listed: Vec<Amounts>,
    sums: Vec<(ClassGroup, Amounts)>,
}

/// Amounts by name of the program and number of the class.
struct Sums {
    numbers: FxHashMap<ClassGroup, u32>,
    all: Vec<(ClassGroup, Amounts)>,
    /// By class: the program of its last call, and the place of the sum.
    last: Vec<(Text, u32)>,
}

impl Sums {
    fn new(classes: usize) -> Sums {
        Sums {
            numbers: FxHashMap::default(),
            all: Vec::new(),
            last: vec![(Text::NONE, NONE); classes],
        }
    }

    fn add(&mut self, (program, class): ClassGroup, amounts: &Amounts) {
        let last = &mut self.last[class as usize];
        if last.1 == NONE || last.0 != program {
            let number = *self.numbers.entry((program, class)).or_insert_with(|| {
                self.all.push(((program, class), Amounts::default()));
                self.all.len() as u32 - 1
            });
            *last = (program, number);
        }
        self.all[last.1 as usize].1.add(amounts);
    }
}

impl Found {
    fn of(
        calls: &Calls<'_>,
        attribution: &Attribution,
        listed: &[Group],
        with_sums: bool,
    ) -> Found {
        let numbers: FxHashMap<Group, u32> = listed.iter().copied().zip(0..).collect();
        let mut is_listed = ti_vec![false; calls.moves.len()];
        listed
            .iter()
            .for_each(|&(_, shape)| is_listed[shape] = true);
        let found = parallel::map(&event_rows::parts(calls.trace, usize::MAX), |rows| {
            let (mut amounts, mut sums) = (
                vec![Amounts::default(); listed.len()],
                Sums::new(calls.classes.len()),
            );
            for (row, group, task) in calls.of(rows.clone()) {
                let number = Some(group)
                    .filter(|_| is_listed[group.1])
                    .and_then(|group| numbers.get(&group));
                if number.is_none() && !with_sums {
                    continue;
                }
                let of_call = calls.amounts(attribution, row, group, task);
                if let Some(&number) = number {
                    amounts[number as usize].add(&of_call);
                }
                if with_sums {
                    sums.add((group.0, calls.class_of[group.1]), &of_call);
                }
            }
            (amounts, sums)
        });
        let (mut amounts, mut sums) = (
            vec![Amounts::default(); listed.len()],
            Sums::new(calls.classes.len()),
        );
        for (of_listed, of_sums) in found {
            amounts
                .iter_mut()
                .zip(&of_listed)
                .for_each(|(into, each)| into.add(each));
            of_sums
                .all
                .iter()
                .for_each(|(group, each)| sums.add(*group, each));
        }
        Found {
            listed: amounts,
            sums: sums.all,
        }
    }
}

impl Calls<'_> {
    fn amounts(
        &self,
        attribution: &Attribution,
        row: u32,
        (program, shape): Group,
        task: TaskId,
    ) -> Amounts {
        let size = self.size(row, shape);
        let is_loose = self.threaded.has(task, program);
        Amounts {
            size,
            last_row: row,
            exclusive_ns: within_call_ns(self.trace, attribution, row),
            loose_calls: u32::from(is_loose),
            loose_bytes: if is_loose { size.bytes } else { 0 },
        }
    }
}

/// Groups as rows. The groups of sums have one of the shapes of their class.
fn table(trace: &Trace, groups: &[(Group, Amounts)], are_shapes: bool) -> Table {
    let events = &trace.events;
    let shape = |group: &Group| &events.shapes()[group.1];
    let rows = || groups.iter().map(|(group, _)| group);
    let text = |of: &dyn Fn(&Group) -> Option<String>| {
        let mut column = TextColumn::default();
        rows().for_each(|group| column.push(of(group).as_deref()));
        column.finish()
    };
    let program_name = |(program, _): &Group| {
        let path = events.texts.string(*program);
        Some(String::from_utf8_lossy(last_part(path.as_bytes())).into_owned())
            .filter(|name| !name.is_empty())
    };
    let kind = |group: &Group| {
        TargetKind::of(events.texts.bytes(shape(group).target))
            .name()
            .to_owned()
    };
    let of =
        |value: fn(&Amounts) -> i64| ints(groups.iter().map(move |(_, amounts)| value(amounts)));
    let line = |row: fn(&Amounts) -> u32| {
        ints(
            groups
                .iter()
                .map(move |(_, at)| i64::from(events.line(row(at)))),
        )
    };
    let mut columns: Vec<(&str, Values)> = vec![
        ("program_name", text(&program_name)),
        (
            "syscall",
            text_column(trace, rows().map(|group| shape(group).syscall)),
        ),
        (
            "op",
            text_column(trace, rows().map(|group| shape(group).op)),
        ),
        (
            "errno",
            text_column(trace, rows().map(|group| shape(group).errno)),
        ),
        (
            "outcome",
            text(&|group| Some(shape(group).outcome.name().to_owned())),
        ),
        ("target_kind", text(&|group| Some(kind(group)))),
    ];
    if are_shapes {
        columns.push(("shape", text(&|group| Some(shape_text(events, group.1)))));
    }
    columns.extend([
        ("calls", of(|amounts| i64::from(amounts.size.calls))),
        ("bytes", of(|amounts| amounts.size.bytes)),
        ("exclusive_ns", of(|amounts| amounts.exclusive_ns)),
        ("first_line", line(|amounts| amounts.size.first_row)),
        ("last_line", line(|amounts| amounts.last_row)),
        ("loose_calls", of(|amounts| i64::from(amounts.loose_calls))),
        ("loose_bytes", of(|amounts| amounts.loose_bytes)),
    ]);
    Table::new("calls", columns)
}
