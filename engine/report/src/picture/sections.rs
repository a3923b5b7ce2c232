//! The sections of a picture: columns of numbers, compressed, within a number of bytes.

use crate::picture::cells;
use crate::picture::codec::deflated;
use crate::picture::columns::{ColumnContext, Columns, class_sums};
use crate::picture::grid::Grid;
use crate::picture::intervals::Longest;
use crate::picture::lane::LaneSource;
use crate::picture::lanes::{Lanes, chosen, inside};
use crate::picture::messages::Messages;
use crate::picture::overview::{ClassSums, Overview, overview};
use crate::picture::path_rows::{PathRow, PathRows};
use crate::picture::strings::StringIndex;
use crate::picture::wakes::PathListener;
use parsers::Text;
use path::critical_path::walk;
use path::critical_path::window::Window;
use path::waits::wakers::Wakers;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use trace::parallel;
use trace::store::index::{ShapeId, TaskId};
use trace::store::trace::{Capture, Trace};

/// Bytes per row after compression, measured on builds and logins; a section that needs more gets fewer rows.
const LANE_BYTES: usize = 20;
const PATH_ROW_BYTES: usize = 3;
const INTERVAL_BYTES: usize = 4;
const WAKE_BYTES: usize = 10;
/// A message has a text of its own.
const MESSAGE_BYTES: usize = 24;
const SOURCE_BYTES: usize = 24;
/// The path is not merged further than this.
const MIN_ROWS: usize = 64;
/// Levels of cells. A column of the last one is a four-millionth of the window.
const MAX_LEVELS: u32 = 5;
/// Real captures need 0.04 to 0.3 bits per cell, so a level with more cells per byte than this does not fit. The maximum
/// bounds time: 65,536 columns of 128 tasks that live as long as the window.
const MAX_CELLS_PER_BYTE: u64 = 64;
const MAX_CELLS: u64 = 1 << 23;

/// A part of the data, compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Name in the document.
    pub name: String,
    /// Number of rows of each column.
    pub rows: usize,
    /// Names of the columns, one after the other in the bytes. Those that start with `d_` are differences with a sign.
    pub columns: Vec<&'static str>,
    /// Number of bytes before compression.
    pub raw_bytes: usize,
    /// Compressed by deflate.
    pub bytes: Vec<u8>,
}

/// A timeline as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The sections.
    pub sections: Vec<Section>,
    /// Counts and bounds, such as the number of calls and of exact ones.
    pub limits: Vec<(&'static str, i64)>,
    /// Time by class of the tasks without a lane.
    pub folded_ns: ClassSums,
}

/// The window of a capture as data, in about `budget_bytes` after compression. None without a window.
pub fn picture(
    trace: &Trace,
    wakers: &Wakers,
    window: &Window,
    budget_bytes: usize,
) -> Option<Picture> {
    window.root?;
    let source = LaneSource {
        trace,
        wakers,
        start_ns: window.start_ns,
        end_ns: window.end_ns,
    };
    let all = trace
        .captures
        .get(window.capture as usize)
        .into_iter()
        .flat_map(Capture::task_ids);
    let tasks = inside(&source, all.clone());
    let rows = PathRows::new(
        trace,
        (window.start_ns, window.end_ns),
        budget_bytes / 6 / PATH_ROW_BYTES,
    );
    let mut listener = PathListener::new(rows, trace.tasks.len(), budget_bytes / 32 / WAKE_BYTES);
    let grid = Grid::of_level(window.start_ns, window.end_ns, 0);
    let max_calls = budget_bytes / 6 / INTERVAL_BYTES;
    // Tasks without a lane have some of these calls.
    let look = || overview(&source, &grid, &tasks, 2 * max_calls);
    let (mut sums, _) = rayon::join(look, || walk::walk(trace, wakers, window, &mut listener));
    let mut painting = Painting {
        source,
        budget_bytes,
        sections: Vec::new(),
        limits: Vec::new(),
    };
    painting.limit("start_ns", window.start_ns);
    painting.limit("end_ns", window.end_ns);
    // A script cannot compute it: its numbers are exact up to 2^53, and times since 1970 are larger.
    painting.limit("wall_ns", window.end_ns.saturating_sub(window.start_ns));
    painting.limit("tasks", tasks.len() as i64);
    painting.limit("tasks_outside", all.count() as i64 - tasks.len() as i64);
    let (lanes, mut strings) = painting.tasks(&tasks, &listener.on_path_ns);
    let folded_ns = painting.sums(&lanes, &tasks, &sums);
    let calls = sums.of_lanes(&tasks, &lanes.of_task, max_calls);
    let is_complete = painting.path_and_calls(&lanes, &mut strings, &mut listener, calls);
    if !listener.silent_ns.is_empty() {
        let rows = trace
            .captures
            .get(window.capture as usize)
            .map_or(0..0, |capture| capture.rows.clone());
        painting.messages(
            Messages::of(&source, rows),
            &lanes,
            &mut strings,
            &listener.silent_ns,
        );
    }
    painting.strings(strings);
    painting.levels(&lanes, is_complete);
    Some(Picture {
        sections: painting.sections,
        limits: painting.limits,
        folded_ns,
    })
}

/// A picture in the making.
struct Painting<'trace> {
    source: LaneSource<'trace>,
    budget_bytes: usize,
    sections: Vec<Section>,
    limits: Vec<(&'static str, i64)>,
}

impl<'trace> Painting<'trace> {
    fn limit(&mut self, name: &'static str, value: i64) {
        self.limits.push((name, value));
    }

    /// Compress a section and add it, unless it would have more than `max_bytes`.
    fn add(&mut self, columns: Columns, max_bytes: usize) -> bool {
        let Columns {
            name,
            rows,
            names,
            bytes,
        } = columns;
        let Some(packed) = deflated(&bytes, max_bytes) else {
            return false;
        };
        let (name, raw_bytes) = (name.to_owned(), bytes.len());
        self.sections.push(Section {
            name,
            rows,
            columns: names,
            raw_bytes,
            bytes: packed,
        });
        true
    }

    /// As many lanes as fit, those with most time on the path first.
    fn tasks(&mut self, tasks: &[TaskId], on_path_ns: &[i64]) -> (Lanes, StringIndex<'trace>) {
        let source = self.source;
        let mut most = (self.budget_bytes * 2 / 5 / LANE_BYTES).max(1);
        loop {
            let lanes = Lanes::new(&source, chosen(&source, tasks, on_path_ns, most));
            let (mut strings, targets) = (StringIndex::new(source.trace), FxHashSet::default());
            let mut context = ColumnContext {
                source: &source,
                lanes: &lanes,
                strings: &mut strings,
                targets: &targets,
            };
            let (columns, runs) = (context.tasks(on_path_ns), context.runs(2 * most));
            let max_bytes = if lanes.tasks.len() <= 1 {
                usize::MAX
            } else {
                self.budget_bytes * 2 / 5
            };
            if self.add(columns, max_bytes) {
                self.add(runs, usize::MAX);
                self.limit("lanes", lanes.tasks.len() as i64);
                return (lanes, strings);
            }
            most = lanes.tasks.len() * 3 / 4;
        }
    }

    /// The sums of lanes and columns. Returns the sums of tasks without a lane.
    fn sums(&mut self, lanes: &Lanes, tasks: &[TaskId], sums: &Overview) -> ClassSums {
        let (of_lanes, folded_ns) = lanes.sums(tasks, &sums.of_tasks);
        self.add(class_sums("sums", &of_lanes), usize::MAX);
        self.add(class_sums("overview", &sums.of_columns), usize::MAX);
        folded_ns
    }

    /// The path, its wake-ups, and the longest calls. Returns whether all calls are among them.
    fn path_and_calls(
        &mut self,
        lanes: &Lanes,
        strings: &mut StringIndex<'trace>,
        listener: &mut PathListener<'trace>,
        mut calls: Longest,
    ) -> bool {
        let source = self.source;
        let max_bytes = self.budget_bytes / 6;
        let mut path = listener.rows.finish();
        let targets = targets(source.trace, &path, &calls, self.budget_bytes / 8);
        let mut context = ColumnContext {
            source: &source,
            lanes,
            strings,
            targets: &targets,
        };
        while !self.add(
            context.path(&path),
            if path.len() <= MIN_ROWS {
                usize::MAX
            } else {
                max_bytes
            },
        ) {
            listener.rows.reduce(path.len() * 3 / 4);
            path = listener.rows.finish();
        }
        while !self.add(
            context.intervals(&calls.intervals),
            if calls.intervals.is_empty() {
                usize::MAX
            } else {
                max_bytes
            },
        ) {
            calls.retain(calls.intervals.len() * 3 / 4);
        }
        let wakes = listener.wakes();
        self.add(context.wakes(&wakes), usize::MAX);
        self.limit("path_rows", path.len() as i64);
        self.limit(
            "path_segments",
            path.iter().map(|row| i64::from(row.pieces)).sum(),
        );
        self.limit("path_moved_ns", listener.rows.moved_ns);
        self.limit("calls", calls.total as i64);
        self.limit("exact_calls", calls.intervals.len() as i64);
        self.limit("wakes", listener.wakes_total as i64);
        self.limit("exact_wakes", wakes.len() as i64);
        calls.total == calls.intervals.len() as u64
    }

    /// The sources and messages of a log. Without them the log has one lane.
    fn messages(
        &mut self,
        mut found: Messages,
        lanes: &Lanes,
        strings: &mut StringIndex<'trace>,
        silent_ns: &FxHashMap<Text, i64>,
    ) {
        found.retain(
            self.budget_bytes / 10 / SOURCE_BYTES,
            self.budget_bytes / 4 / MESSAGE_BYTES,
            silent_ns,
        );
        let (source, targets) = (self.source, FxHashSet::default());
        let mut context = ColumnContext {
            source: &source,
            lanes,
            strings,
            targets: &targets,
        };
        let (sources, messages) = (context.sources(&found, silent_ns), context.messages(&found));
        self.limit("sources", found.sources.len() as i64);
        self.limit("all_sources", found.sources_total as i64);
        self.limit("messages", found.total as i64);
        self.limit("exact_messages", found.messages.len() as i64);
        self.add(sources, usize::MAX);
        self.add(messages, usize::MAX);
    }

    fn strings(&mut self, strings: StringIndex<'trace>) {
        let strings = strings.finish(self.budget_bytes / 4);
        self.limit("string_characters", strings.max_characters as i64);
        let (rows, raw_bytes, bytes) = (strings.count, strings.raw_bytes, strings.bytes);
        self.sections.push(Section {
            name: "strings".to_owned(),
            rows,
            columns: vec!["text"],
            raw_bytes,
            bytes,
        });
    }

    /// Cells, level by level while they fit. One level is enough if all calls are exact.
    fn levels(&mut self, lanes: &Lanes, is_complete: bool) {
        let max_levels = if is_complete { 1 } else { MAX_LEVELS };
        let grids: Vec<Grid> = (0..max_levels)
            .map_while(|level| self.grid_that_may_fit(lanes, level))
            .collect();
        let of_lanes = parallel::map(&lanes.tasks, |&task| {
            cells::levels(&self.source, &grids, task)
        });
        let mut added = 0;
        for (level, grid) in grids.iter().enumerate() {
            let raw: Vec<u8> = of_lanes
                .iter()
                .flat_map(|levels| &levels[level])
                .copied()
                .collect();
            let Some(bytes) = deflated(&raw, self.left()) else {
                break;
            };
            let (name, columns, raw_bytes) = (format!("cells{level}"), vec!["cells"], raw.len());
            let rows = cells::count(grid, &lanes.lives) as usize;
            self.sections.push(Section {
                name,
                rows,
                columns,
                raw_bytes,
                bytes,
            });
            added += 1;
        }
        self.limit("levels", added);
    }

    fn left(&self) -> usize {
        self.budget_bytes.saturating_sub(
            self.sections
                .iter()
                .map(|section| section.bytes.len())
                .sum(),
        )
    }

    fn grid_that_may_fit(&self, lanes: &Lanes, level: u32) -> Option<Grid> {
        let grid = Grid::of_level(self.source.start_ns, self.source.end_ns, level);
        let is_fine = level > 0 && grid.columns > grid.wall_ns;
        let max_cells = MAX_CELLS.min(self.left() as u64 * MAX_CELLS_PER_BYTE);
        (!is_fine && cells::count(&grid, &lanes.lives) <= max_cells).then_some(grid)
    }
}

/// The targets with most time on the path and in the longest calls, up to `max_bytes` before compression.
fn targets(trace: &Trace, path: &[PathRow], calls: &Longest, max_bytes: usize) -> FxHashSet<Text> {
    let events = &trace.events;
    let target = |shape: ShapeId| {
        events
            .shapes()
            .get(shape)
            .map_or(Text::NONE, |shape| shape.target)
    };
    let of_path = path.iter().map(|row| (target(row.key.shape), row.dur_ns()));
    let of_calls = calls.intervals.iter().map(|call| {
        (
            target(events.shape_number(call.row)),
            call.end_ns - call.start_ns,
        )
    });
    let mut sums: FxHashMap<Text, i64> = FxHashMap::default();
    for (target, ns) in of_path
        .chain(of_calls)
        .filter(|(target, _)| target.is_some())
    {
        *sums.entry(target).or_default() += ns;
    }
    let mut order: Vec<(Reverse<i64>, Text)> = sums
        .into_iter()
        .map(|(target, ns)| (Reverse(ns), target))
        .collect();
    order.sort_unstable_by(|a, b| {
        a.0.cmp(&b.0)
            .then_with(|| events.texts.bytes(a.1).cmp(events.texts.bytes(b.1)))
    });
    let mut used = 0;
    order
        .into_iter()
        .map(|(_, target)| target)
        .take_while(|target| {
            used += events.texts.bytes(*target).len() + 1;
            used <= max_bytes
        })
        .collect()
}
