//! Equal intervals of a window: what the critical path consists of in each, and the calls that end in it.
//!
//! ```text
//! intervals   |---------|---------|----|        the last one may be shorter
//! path        aaaaaaaabbbbbb aaaaaaaaaa         a 8, b 1 | b 5, a 4 | a 5     they sum to the window
//! calls         [a]  [b   ]   [a]                a 1 | b 1, a 1 |              where they end
//! ```

use crate::tables::calls::Sums;
use parsers::syscalls::{Class, action_of};
use parsers::{NO_NS, Text};
use path::critical_path::segment::{Segment, Tag, What};
use path::critical_path::walk::WalkListener;
use path::critical_path::window::Window;
use query::event_rows;
use query::selection::Selection;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use trace::store::event::{EventKind, NONE};
use trace::store::schema::schema;
use trace::store::table::{Table, TextColumn, Values, ints, some_ints};
use trace::store::text_columns::text_column;
use trace::store::trace::Trace;

schema! {
    pub CALL_INTERVALS: call_intervals "Calls by equal intervals of the window.";
    times: Calls;
    columns {
        interval: Count "Number of the interval in which the calls end, from 0.",
        program: Text "Name of the program.",
        syscall: Text "Name of the call; missing for messages of a log.",
        calls: Count "Number of calls or messages.",
        failed: Count "Number of failed calls.",
        total_ns: Ns "Total duration.",
        p50_ns: Ns "Median duration.",
        p99_ns: Ns "99th percentile of the durations.",
        max_ns: Ns "Longest duration.",
        first_line: FirstLine "First line.",
    }
}

schema! {
    pub PATH_INTERVALS: path_intervals "The critical path by equal intervals of the window.";
    times: Calls;
    columns {
        interval: Count "Number of the interval, from 0.",
        program: Text "Name of the program.",
        class: Text "What the time is spent on.",
        tag: Text "polled, poll-lag or idle, where a poll loop or a server waits.",
        syscall: Text "Name of the call; missing outside of calls.",
        exclusive_ns: Ns "Time on the critical path.",
    }
}

/// Equal intervals of a window. The default has none.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    capture: u32,
    start_ns: i64,
    end_ns: i64,
    width_ns: i64,
}

impl Default for Grid {
    fn default() -> Grid {
        Grid {
            capture: NONE,
            start_ns: 0,
            end_ns: 0,
            width_ns: 1,
        }
    }
}

impl Grid {
    /// Intervals of this width, from the start of the window on. Its last moment belongs to the last interval.
    pub fn new(window: &Window, width_ns: i64) -> Grid {
        Grid {
            capture: window.capture,
            start_ns: window.start_ns,
            end_ns: window.start_ns.saturating_add(window.wall_ns()),
            width_ns: width_ns.max(1),
        }
    }

    /// The interval of a moment; `None` outside of the window.
    fn number_of(&self, at_ns: i64) -> Option<u32> {
        if at_ns < self.start_ns || at_ns > self.end_ns {
            return None;
        }
        let last_ns = (self.end_ns - 1).max(self.start_ns);
        u32::try_from((at_ns.min(last_ns) - self.start_ns) / self.width_ns).ok()
    }

    fn end_of(&self, number: u32) -> i64 {
        let after_ns = (i64::from(number) + 1).saturating_mul(self.width_ns);
        self.start_ns.saturating_add(after_ns).min(self.end_ns)
    }
}

/// What the time of an interval is spent on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Spent {
    /// Number of the interval.
    interval: u32,
    /// Number of the name of the program.
    program: u32,
    /// Name of the call.
    name: Text,
    class: Class,
    tag: Tag,
}

/// What the time of each interval of a walk is spent on.
pub struct PathTimes<'trace> {
    trace: &'trace Trace,
    grid: Grid,
    exclusive_ns: FxHashMap<Spent, i64>,
}

impl PathTimes<'_> {
    /// No time yet.
    pub fn new(trace: &Trace, grid: Grid) -> PathTimes<'_> {
        PathTimes {
            trace,
            grid,
            exclusive_ns: FxHashMap::default(),
        }
    }

    /// The name of the call that a stretch is in.
    fn name_of(&self, segment: Segment) -> Text {
        match segment.what {
            What::Call(row) | What::Resume(row) if row != NONE => {
                self.trace.events.shape(row).syscall
            }
            _ => Text::NONE,
        }
    }

    /// A row per interval, program, class and call: by interval, then the largest first.
    pub fn table(self) -> Table {
        let mut rows: Vec<(Spent, i64)> = self.exclusive_ns.into_iter().collect();
        rows.sort_unstable_by_key(|&(spent, ns)| (spent.interval, -ns, spent));
        let (mut classes, mut tags) = (TextColumn::default(), TextColumn::default());
        for (spent, _) in &rows {
            classes.push(Some(spent.class.name()));
            tags.push(spent.tag.name());
        }
        let programs = rows.iter().map(|(spent, _)| spent.program);
        let names = rows.iter().map(|(spent, _)| spent.name);
        let intervals = rows.iter().map(|(spent, _)| i64::from(spent.interval));
        let columns = vec![
            ("interval", ints(intervals)),
            ("program", program_column(self.trace, programs)),
            ("class", classes.finish()),
            ("tag", tags.finish()),
            ("syscall", text_column(self.trace, names)),
            ("exclusive_ns", ints(rows.iter().map(|(_, ns)| *ns))),
        ];
        Table::new("path_intervals", columns)
    }
}

impl WalkListener for PathTimes<'_> {
    fn charged(&mut self, segment: Segment) {
        let index = self.trace.program_index();
        let path = index.path_at(segment.task, segment.start_ns);
        let program = self.trace.program_names().of(path);
        let mut from_ns = segment.start_ns.max(self.grid.start_ns);
        while from_ns < segment.end_ns {
            let Some(interval) = self.grid.number_of(from_ns) else {
                return;
            };
            let to_ns = self.grid.end_of(interval).min(segment.end_ns);
            if to_ns <= from_ns {
                return;
            }
            let spent = Spent {
                interval,
                program,
                name: self.name_of(segment),
                class: segment.class,
                tag: segment.tag,
            };
            *self.exclusive_ns.entry(spent).or_default() += to_ns - from_ns;
            from_ns = to_ns;
        }
    }
}

/// Interval, number of the name of the program, name of the call.
type Group = (u32, u32, Text);
type Groups = FxHashMap<Group, Sums>;

/// The calls that end in each interval, by program and name, and the messages of a log: by interval, then the largest
/// total first.
pub fn calls(trace: &Trace, selection: &Selection<'_>, grid: Grid) -> Table {
    let parts = event_rows::parts(trace, rayon::current_num_threads());
    let groups = parts
        .into_par_iter()
        .map(|rows| counted(trace, selection, grid, rows))
        .reduce(Groups::default, merged);
    let mut groups: Vec<(Group, Sums)> = groups.into_iter().collect();
    groups
        .sort_unstable_by_key(|((interval, ..), sums)| (*interval, -sums.total_ns, sums.first_row));
    call_table(trace, &groups)
}

fn counted(trace: &Trace, selection: &Selection<'_>, grid: Grid, rows: Range<u32>) -> Groups {
    let events = &trace.events;
    let mut groups = Groups::default();
    for row in rows {
        let Some(interval) = interval_of(trace, grid, row).filter(|_| selection.has(row)) else {
            continue;
        };
        let task = events.task(row);
        let path = selection.program_index.path_at(task, events.start_ns(row));
        let shape = events.shape(row);
        let name = match events.kind(row) {
            EventKind::Log => Text::NONE,
            _ => shape.syscall,
        };
        let moves = action_of(shape.syscall).returns_bytes();
        groups
            .entry((interval, trace.program_names().of(path), name))
            .or_insert_with(|| Sums::new(row, true))
            .add(events, row, moves);
    }
    groups
}

/// The interval in which a call of the capture ends, or a message was written.
fn interval_of(trace: &Trace, grid: Grid, row: u32) -> Option<u32> {
    let events = &trace.events;
    let at_ns = match events.kind(row) {
        EventKind::Call => events.end_ns(row)?,
        EventKind::Log => events.start_ns(row),
        _ => return None,
    };
    let is_here = trace.tasks[events.task(row)].capture == grid.capture;
    (is_here && at_ns != NO_NS).then(|| grid.number_of(at_ns))?
}

fn merged(mut some: Groups, others: Groups) -> Groups {
    for (group, sums) in others {
        match some.entry(group) {
            Entry::Occupied(mut known) => known.get_mut().merge(&sums),
            Entry::Vacant(place) => {
                place.insert(sums);
            }
        }
    }
    some
}

fn call_table(trace: &Trace, groups: &[(Group, Sums)]) -> Table {
    let count = |of: fn(&Sums) -> u64| ints(groups.iter().map(move |(_, sums)| of(sums) as i64));
    let timed = |of: fn(&Sums) -> i64| {
        let value = move |sums: &Sums| if sums.timed == 0 { NO_NS } else { of(sums) };
        some_ints(groups.iter().map(move |(_, sums)| value(sums)))
    };
    let line = |sums: &Sums| i64::from(trace.events.line(sums.first_row));
    let names = groups.iter().map(|((_, _, name), _)| *name);
    let columns = vec![
        (
            "interval",
            ints(
                groups
                    .iter()
                    .map(|((interval, ..), _)| i64::from(*interval)),
            ),
        ),
        (
            "program",
            program_column(trace, groups.iter().map(|((_, program, _), _)| *program)),
        ),
        ("syscall", text_column(trace, names)),
        ("calls", count(|sums| sums.calls)),
        ("failed", count(|sums| sums.failed)),
        ("total_ns", timed(|sums| sums.total_ns)),
        ("p50_ns", timed(|sums| sums.quantile_ns(0.5))),
        ("p99_ns", timed(|sums| sums.quantile_ns(0.99))),
        ("max_ns", timed(|sums| sums.max_ns)),
        (
            "first_line",
            ints(groups.iter().map(|(_, sums)| line(sums))),
        ),
    ];
    Table::new("call_intervals", columns)
}

/// The names of programs, which have numbers.
fn program_column(trace: &Trace, programs: impl Iterator<Item = u32>) -> Values {
    let names = trace.program_names();
    let mut column = TextColumn::default();
    for program in programs {
        column.push(Some(names.name(program)).filter(|name| !name.is_empty()));
    }
    column.finish()
}
