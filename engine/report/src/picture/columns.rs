//! The columns of each section.

use crate::picture::codec::{differences, numbers, zigzag};
use crate::picture::intervals::Interval;
use crate::picture::lane::{CLASSES, LaneSource};
use crate::picture::lanes::Lanes;
use crate::picture::messages::Messages;
use crate::picture::overview::ClassSums;
use crate::picture::packing;
use crate::picture::path_rows::{PathKey, PathRow};
use crate::picture::strings::StringIndex;
use crate::picture::wakes::Wake;
use parsers::line::Ended;
use parsers::syscalls::Class;
use parsers::{NO_ID, Text};
use path::critical_path::segment::named;
use path::waits::edge::Confidence;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use trace::store::event::NONE;
use trace::store::events::EventTable;
use trace::store::index::{ShapeId, TaskId};
use trace::store::tasks::Task;

/// Locks that have their own names in a picture, which draws fewer.
const MAX_LOCKS: usize = 16;

/// A section before compression.
pub struct Columns {
    /// Name of the section.
    pub name: &'static str,
    /// Number of rows of each column.
    pub rows: usize,
    /// Names of the columns. Those that start with `d_` are differences with a sign.
    pub names: Vec<&'static str>,
    /// The columns, one after the other.
    pub bytes: Vec<u8>,
}

impl Columns {
    fn new(name: &'static str, rows: usize) -> Columns {
        Columns {
            name,
            rows,
            names: Vec::new(),
            bytes: Vec::new(),
        }
    }

    fn with(mut self, name: &'static str, column: impl IntoIterator<Item = u64>) -> Columns {
        self.names.push(name);
        self.bytes.extend(numbers(column));
        self
    }
}

/// What columns refer to.
pub struct ColumnContext<'picture, 'trace> {
    /// The trace and the window.
    pub source: &'picture LaneSource<'trace>,
    /// The lanes.
    pub lanes: &'picture Lanes,
    /// Numbers of texts.
    pub strings: &'picture mut StringIndex<'trace>,
    /// Targets that have a text; others have none.
    pub targets: &'picture FxHashSet<Text>,
}

impl ColumnContext<'_, '_> {
    fn text(&mut self, text: Text) -> u64 {
        self.strings.number(text)
    }

    /// The call of a shape, and its target; both 0 without a shape.
    fn call(&mut self, shape: ShapeId, is_message: bool) -> (u64, u64) {
        let Some(&shape) = self.source.trace.events.shapes().get(shape) else {
            return (0, 0);
        };
        let what = path::critical_path::segment::What::Call(0);
        let (syscall, op) = if is_message {
            (shape.syscall, Text::NONE)
        } else {
            named(what, shape.syscall, shape.op)
        };
        let target = if self.targets.contains(&shape.target) {
            self.text(shape.target)
        } else {
            0
        };
        (self.strings.number_of(syscall, op), target)
    }

    /// The lane of a task plus 1; 0 if it has none.
    fn lane(&self, task: TaskId) -> u64 {
        self.lanes
            .of_task
            .get(task)
            .map_or(0, |&lane| u64::from(lane.wrapping_add(1)))
    }

    fn line(&self, row: u32) -> i64 {
        if row == NONE {
            0
        } else {
            i64::from(self.source.trace.events.line(row))
        }
    }

    /// The tasks of the lanes.
    pub fn tasks(&mut self, on_path_ns: &[i64]) -> Columns {
        let (trace, lanes) = (self.source.trace, self.lanes);
        let start_ns = self.source.start_ns;
        let task = |&number: &TaskId| &trace.tasks[number];
        let each = || lanes.tasks.iter().map(task);
        let index = trace.program_index();
        let programs: Vec<(u64, u64)> = lanes
            .tasks
            .iter()
            .map(|number| {
                index
                    .name_of(*number)
                    .map_or((Text::NONE, Text::NONE), |run| (run.path, run.argv))
            })
            .map(|(path, argv)| (self.strings.number(path), self.strings.number(argv)))
            .collect();
        let endings: Vec<(u64, u64)> = each().map(|task| self.ending(task)).collect();
        Columns::new("tasks", lanes.tasks.len())
            .with(
                "d_task",
                differences(lanes.tasks.iter().map(|&number| i64::from(number))),
            )
            .with("d_pid", differences(each().map(|task| id(task.pid))))
            .with("d_tid", differences(each().map(|task| id(task.tid))))
            .with(
                "up",
                lanes.parents.iter().enumerate().map(|(lane, &parent)| {
                    if parent == NONE {
                        0
                    } else {
                        zigzag(lane as i64 - i64::from(parent))
                    }
                }),
            )
            .with("is_thread", each().map(|task| u64::from(task.is_thread)))
            .with(
                "d_birth",
                differences(each().map(|task| task.birth_ns - start_ns)),
            )
            .with(
                "life",
                each().map(|task| (task.end_ns() - task.birth_ns).max(0) as u64),
            )
            .with("ended", endings.iter().map(|ending| ending.0))
            .with("ending", endings.iter().map(|ending| ending.1))
            .with("program", programs.iter().map(|program| program.0))
            .with("argv", programs.iter().map(|program| program.1))
            .with(
                "d_line",
                differences(each().map(|task| i64::from(task.first_line))),
            )
            .with("calls", each().map(|task| u64::from(task.calls)))
            .with(
                "on_path",
                lanes.tasks.iter().map(|&number| {
                    on_path_ns.get(number.index()).copied().unwrap_or(0).max(0) as u64
                }),
            )
            .with(
                "row",
                packing::rows(&lanes.lives).into_iter().map(u64::from),
            )
    }

    /// 0 unknown, 1 exited with a status, 2 killed by a signal, 3 its id was taken by another thread.
    fn ending(&mut self, task: &Task) -> (u64, u64) {
        match task.ended {
            Some(Ended::Exited(status)) => (1, zigzag(i64::from(status))),
            Some(Ended::Killed(signal)) => (2, self.text(signal)),
            _ => (if task.superseded { 3 } else { 0 }, 0),
        }
    }

    /// The programs over time, of tasks that ran more than one; at most `most` rows.
    pub fn runs(&mut self, most: usize) -> Columns {
        let index = self.source.trace.program_index();
        let start_ns = self.source.start_ns;
        let several = (0i64..)
            .zip(&self.lanes.tasks)
            .filter(|&(_, &task)| index.of(task).len() > 1);
        let runs =
            several.flat_map(|(lane, &task)| index.of(task).iter().map(move |run| (lane, run)));
        let runs: Vec<_> = runs.take(most).collect();
        let texts: Vec<_> = runs
            .iter()
            .map(|(_, run)| (self.strings.number(run.path), self.strings.number(run.argv)))
            .collect();
        Columns::new("runs", runs.len())
            .with("d_lane", differences(runs.iter().map(|&(lane, _)| lane)))
            .with(
                "d_from",
                differences(runs.iter().map(|(_, run)| run.from_ns - start_ns)),
            )
            .with("program", texts.iter().map(|texts| texts.0))
            .with("argv", texts.iter().map(|texts| texts.1))
    }

    /// The critical path.
    pub fn path(&mut self, rows: &[PathRow]) -> Columns {
        let calls: Vec<_> = rows
            .iter()
            .map(|row| self.call(row.key.shape, row.key.what == 4))
            .collect();
        Columns::new("path", rows.len())
            .with("dur", rows.iter().map(|row| row.dur_ns() as u64))
            .with(
                "d_lane",
                differences(rows.iter().map(|row| self.lane(row.task) as i64)),
            )
            .with("class", rows.iter().map(|row| row.key.class as u64))
            .with("what", rows.iter().map(|row| u64::from(row.key.what)))
            .with("call", calls.iter().map(|call| call.0))
            .with("target", calls.iter().map(|call| call.1))
            .with(
                "d_line",
                differences(rows.iter().map(|row| self.line(row.row))),
            )
            .with("pieces", rows.iter().map(|row| u64::from(row.pieces)))
            .with("flags", rows.iter().map(|row| flags(&row.key)))
    }

    /// The longest calls.
    pub fn intervals(&mut self, intervals: &[Interval]) -> Columns {
        let events = &self.source.trace.events;
        let locks = locks(events, intervals);
        let mut calls = Vec::with_capacity(intervals.len());
        for each in intervals {
            let (call, target) = self.call(events.shape_number(each.row), false);
            let lock = events.target(each.row);
            let is_lock = each.class == Class::Lock && locks.contains(&lock);
            calls.push((call, if is_lock { self.text(lock) } else { target }));
        }
        let mut last = (NONE, 0);
        let gaps = intervals.iter().map(|each| {
            let from_ns = if last.0 == each.lane {
                last.1
            } else {
                self.lanes.lives[each.lane as usize].0
            };
            last = (each.lane, each.end_ns);
            (each.start_ns - from_ns).max(0) as u64
        });
        let gaps: Vec<u64> = gaps.collect();
        Columns::new("exact", intervals.len())
            .with(
                "d_lane",
                differences(intervals.iter().map(|each| i64::from(each.lane))),
            )
            .with("gap", gaps)
            .with(
                "dur",
                intervals
                    .iter()
                    .map(|each| (each.end_ns - each.start_ns) as u64),
            )
            .with("class", intervals.iter().map(|each| each.class as u64))
            .with("call", calls.iter().map(|call| call.0))
            .with("target", calls.iter().map(|call| call.1))
            .with(
                "d_line",
                differences(intervals.iter().map(|each| self.line(each.row))),
            )
    }

    /// The sources of a log.
    pub fn sources(&mut self, found: &Messages, silent_ns: &FxHashMap<Text, i64>) -> Columns {
        let (sources, start_ns) = (&found.sources, self.source.start_ns);
        let lives: Vec<(i64, i64)> = sources
            .iter()
            .map(|each| (each.start_ns, each.end_ns))
            .collect();
        let names: Vec<u64> = sources
            .iter()
            .map(|each| self.strings.number(each.name))
            .collect();
        let silent = |name| silent_ns.get(name).copied().unwrap_or(0).max(0) as u64;
        Columns::new("sources", sources.len())
            .with("name", names)
            .with(
                "d_start",
                differences(sources.iter().map(|each| each.start_ns - start_ns)),
            )
            .with(
                "life",
                sources
                    .iter()
                    .map(|each| (each.end_ns - each.start_ns).max(0) as u64),
            )
            .with("messages", sources.iter().map(|each| each.messages))
            .with("on_path", sources.iter().map(|each| silent(&each.name)))
            .with(
                "d_line",
                differences(sources.iter().map(|each| self.line(each.row))),
            )
            .with("row", packing::rows(&lives).into_iter().map(u64::from))
    }

    /// The messages of a log, by source and time.
    pub fn messages(&mut self, found: &Messages) -> Columns {
        let (messages, events) = (&found.messages, &self.source.trace.events);
        let texts: Vec<u64> = messages
            .iter()
            .map(|each| self.strings.number(events.target(each.row)))
            .collect();
        let start_ns = self.source.start_ns;
        Columns::new("messages", messages.len())
            .with(
                "d_source",
                differences(messages.iter().map(|each| i64::from(each.source))),
            )
            .with(
                "d_start",
                differences(messages.iter().map(|each| each.start_ns - start_ns)),
            )
            .with(
                "dur",
                messages
                    .iter()
                    .map(|each| (each.end_ns - each.start_ns).max(0) as u64),
            )
            .with("text", texts)
            .with(
                "d_line",
                differences(messages.iter().map(|each| self.line(each.row))),
            )
    }

    /// The wake-ups on the critical path.
    pub fn wakes(&self, wakes: &[Wake]) -> Columns {
        let start_ns = self.source.start_ns;
        Columns::new("wakes", wakes.len())
            .with(
                "d_at",
                differences(wakes.iter().map(|wake| wake.edge.at_ns - start_ns)),
            )
            .with("waker", wakes.iter().map(|wake| self.lane(wake.edge.task)))
            .with("waiter", wakes.iter().map(|wake| self.lane(wake.waiter)))
            .with("dur", wakes.iter().map(|wake| wake.dur_ns.max(0) as u64))
            .with("how", wakes.iter().map(|wake| wake.edge.how as u64))
            // 0: the trace or the kernel shows it; 1: it is inferred.
            .with(
                "sure",
                wakes
                    .iter()
                    .map(|wake| u64::from(wake.edge.sure == Confidence::Inferred)),
            )
    }
}

/// Time by class: a column per class.
pub fn class_sums(name: &'static str, sums: &[ClassSums]) -> Columns {
    let column = |class: usize| sums.iter().map(move |sums| sums[class].max(0) as u64);
    let all = (0..CLASSES).zip(Class::ALL);
    all.fold(Columns::new(name, sums.len()), |columns, (at, class)| {
        columns.with(class.name(), column(at))
    })
}

/// The locks with most time in calls, by their own names: shapes have no addresses.
fn locks(events: &EventTable, intervals: &[Interval]) -> FxHashSet<Text> {
    let mut sums: FxHashMap<Text, i64> = FxHashMap::default();
    for each in intervals.iter().filter(|each| each.class == Class::Lock) {
        *sums.entry(events.target(each.row)).or_default() += each.end_ns - each.start_ns;
    }
    sums.remove(&Text::NONE);
    let mut ordered: Vec<_> = sums.into_iter().collect();
    ordered.sort_unstable_by_key(|&(lock, ns)| (Reverse(ns), lock));
    let kept = ordered.into_iter().take(MAX_LOCKS);
    kept.map(|(lock, _)| lock).collect()
}

/// Bit 0: it is known what ended it; bits 1 and 2: its tag; bit 3: of several tasks.
fn flags(key: &PathKey) -> u64 {
    u64::from(key.resolved) | u64::from(key.tag) << 1 | u64::from(key.task == TaskId::NONE) << 3
}

fn id(id: i32) -> i64 {
    if id == NO_ID { -1 } else { i64::from(id) }
}
