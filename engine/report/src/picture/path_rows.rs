//! The segments of the critical path, in a bounded number of rows.
//!
//! ```text
//! segments   |a|b|a|c|a|b|------- d -------|a|b|        too many rows
//! bucket     |<- t ->|<- t ->|<- t ->|<- t ->|
//! rows       |a--|b|c|a|b|------- d -------|a|b|        inside a bucket, equal segments are next to each other
//! ```
//! Merging keeps all sums, by task, class and call, and the exact time of long segments. Short ones move by less than
//! [`PathRows::moved_ns`]. Only if buckets are already long, the calls and then the tasks of short segments are merged; such
//! a row is drawn in the lane of its longest segment.

use parsers::Text;
use parsers::syscalls::Class;
use path::critical_path::segment::{Segment, What};
use rustc_hash::FxHashMap;
use trace::store::event::NONE;
use trace::store::index::{ShapeId, TaskId};
use trace::store::trace::Trace;

/// Buckets grow to this part of the window, a quarter of a pixel of the whole picture, before different calls of a task
/// and then different tasks are merged. After that they grow further.
const MIN_PARTS: i64 = 4_096;

/// What distinguishes rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathKey {
    /// The task; [`NONE`] for several.
    pub task: TaskId,
    /// What the time is spent on.
    pub class: Class,
    /// 0 a call, 1 a gap, 2 a resume, 3 a spawn, 4 a silence, 5 several.
    pub what: u8,
    /// The number of the call's shape; [`ShapeId::NONE`] if there is none, or if there are several.
    pub shape: ShapeId,
    /// Whether it is known what ended it.
    pub resolved: bool,
    /// What it has to do with a poll loop, or with idle time.
    pub tag: u8,
}

/// Rows of a run that are searched one by one.
const MAX_SEARCHED: usize = 16;

/// Several kinds of segments in one row.
pub const SEVERAL: u8 = 5;

/// A row of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// What it is.
    pub key: PathKey,
    /// The event of its longest segment, or [`NONE`].
    pub row: u32,
    /// The task of that segment.
    pub task: TaskId,
    /// Length of that segment.
    pub longest_ns: i64,
    /// Number of segments.
    pub pieces: u32,
}

impl PathRow {
    /// Its length.
    pub fn dur_ns(&self) -> i64 {
        self.end_ns - self.start_ns
    }
}

/// Collects segments, which come backward in time.
pub struct PathRows<'trace> {
    trace: &'trace Trace,
    window: (i64, i64),
    max_rows: usize,
    rows: Vec<PathRow>,
    bucket_ns: i64,
    /// What short segments of a bucket have in common: 0 everything, 1 task and class, 2 the class.
    coarseness: u8,
    /// Number of rows that were merged in buckets of this length.
    merged: usize,
    /// Upper bound of the distance between the time of a merged segment and its row.
    pub moved_ns: i64,
}

impl<'trace> PathRows<'trace> {
    /// No segment yet.
    pub fn new(trace: &'trace Trace, window: (i64, i64), max_rows: usize) -> PathRows<'trace> {
        PathRows {
            trace,
            window,
            max_rows: max_rows.max(1),
            rows: Vec::new(),
            bucket_ns: 0,
            coarseness: 0,
            merged: 0,
            moved_ns: 0,
        }
    }

    /// The source of a message.
    pub fn source_of(&self, row: u32) -> Text {
        self.trace.events.shape(row).syscall
    }

    /// Append the segment before all earlier ones.
    pub fn push(&mut self, segment: &Segment) {
        let key = self.key(segment);
        let row = segment.what.event().unwrap_or(NONE);
        let Segment {
            start_ns, end_ns, ..
        } = *segment;
        match self
            .rows
            .last_mut()
            .filter(|last| last.key == key && last.start_ns == end_ns)
        {
            Some(last) => {
                (last.start_ns, last.pieces) = (start_ns, last.pieces + 1);
                if end_ns - start_ns >= last.longest_ns {
                    (last.longest_ns, last.row) = (end_ns - start_ns, row);
                }
            }
            None => {
                let (task, longest_ns) = (segment.task, end_ns - start_ns);
                self.rows.push(PathRow {
                    start_ns,
                    end_ns,
                    key,
                    row,
                    task,
                    longest_ns,
                    pieces: 1,
                });
            }
        }
        if self.rows.len() >= 4 * self.max_rows {
            self.reduce(2 * self.max_rows);
        }
    }

    fn key(&self, segment: &Segment) -> PathKey {
        let (what, row) = match segment.what {
            What::Call(row) => (0, row),
            What::Gap(_) => (1, NONE),
            What::Resume(row) => (2, row),
            What::Spawn(row) => (3, row),
            What::Silence(row) => (4, row),
        };
        let shape = if row == NONE {
            ShapeId::NONE
        } else {
            self.trace.events.shape_number(row)
        };
        let Segment {
            task,
            class,
            resolved,
            tag,
            ..
        } = *segment;
        PathKey {
            task,
            class,
            what,
            shape,
            resolved,
            tag: tag as u8,
        }
    }

    /// Merge until there are at most `max_rows`.
    pub fn reduce(&mut self, max_rows: usize) {
        let wall_ns = self.window.1.saturating_sub(self.window.0).max(1);
        while self.rows.len() > max_rows.max(1) {
            if self.bucket_ns == 0 || self.merged == self.rows.len() {
                if self.bucket_ns >= 4 * wall_ns {
                    // Buckets grow no further: what came since is merged with what was there.
                    self.merged = 0;
                    self.merge();
                    break;
                }
                self.coarsen(wall_ns, max_rows);
            }
            self.merge();
        }
    }

    fn coarsen(&mut self, wall_ns: i64, max_rows: usize) {
        if self.bucket_ns == 0 {
            self.bucket_ns = (wall_ns / (4 * max_rows.max(1) as i64)).max(1);
        } else if self.bucket_ns > wall_ns / MIN_PARTS / 2 && self.coarseness < 2 {
            self.coarseness += 1;
        } else {
            self.bucket_ns = self.bucket_ns.saturating_mul(2);
        }
        self.moved_ns = self
            .moved_ns
            .saturating_add(self.bucket_ns.saturating_mul(2));
        self.merged = 0;
    }

    /// The rows in order of time, at most the maximum.
    pub fn finish(&mut self) -> Vec<PathRow> {
        self.reduce(self.max_rows);
        let mut rows = self.rows.clone();
        rows.reverse();
        rows
    }

    /// Merge the rows that were not yet merged in buckets of this length.
    fn merge(&mut self) {
        let (bucket_ns, start_ns, coarseness) = (self.bucket_ns, self.window.0, self.coarseness);
        let bucket = |row: &PathRow| {
            (row.dur_ns() < bucket_ns).then(|| (row.start_ns - start_ns) / bucket_ns)
        };
        let new = self.rows.split_off(self.merged);
        let mut merged: Vec<PathRow> = Vec::with_capacity(new.len() / 2);
        let mut of_run = RunIndex::default();
        let (mut run, mut first) = (None, 0);
        for row in &new {
            let place = bucket(row);
            if place.is_none() || place != run {
                place_run(&mut merged[first..]);
                (run, first) = (place, merged.len());
                of_run.clear();
            }
            let key = if place.is_some() {
                common(row.key, coarseness)
            } else {
                row.key
            };
            let run_rows = &merged[first..];
            // Most runs are short, and looking through them is faster than a map.
            let known = match place {
                None => None,
                Some(_) if run_rows.len() <= MAX_SEARCHED => {
                    run_rows.iter().position(|each| each.key == key)
                }
                Some(_) => of_run.at(&key, run_rows),
            };
            match known {
                Some(at) => absorb(&mut merged[first + at], row),
                None => merged.push(PathRow { key, ..*row }),
            }
        }
        place_run(&mut merged[first..]);
        self.rows.append(&mut merged);
        self.merged = self.rows.len();
    }
}

/// The rows of a long run by their keys.
#[derive(Default)]
struct RunIndex {
    of_key: FxHashMap<PathKey, usize>,
    rows: usize,
}

impl RunIndex {
    fn clear(&mut self) {
        if self.rows > 0 {
            *self = RunIndex::default();
        }
    }

    /// The position of a key among the rows of the run, which only grow.
    fn at(&mut self, key: &PathKey, rows: &[PathRow]) -> Option<usize> {
        self.of_key
            .extend(rows[self.rows..].iter().map(|row| row.key).zip(self.rows..));
        self.rows = rows.len();
        self.of_key.get(key).copied()
    }
}

/// A key with only what merged segments have in common.
fn common(key: PathKey, coarseness: u8) -> PathKey {
    match coarseness {
        0 => key,
        1 => PathKey {
            what: SEVERAL,
            shape: ShapeId::NONE,
            resolved: true,
            tag: 0,
            ..key
        },
        _ => PathKey {
            what: SEVERAL,
            shape: ShapeId::NONE,
            resolved: true,
            tag: 0,
            task: TaskId::NONE,
            ..key
        },
    }
}

/// Extend a row by the time of another one. Its end stays; see [`place_run`].
fn absorb(into: &mut PathRow, row: &PathRow) {
    into.start_ns -= row.dur_ns();
    into.pieces = into.pieces.saturating_add(row.pieces);
    if row.longest_ns > into.longest_ns {
        (into.longest_ns, into.row, into.task) = (row.longest_ns, row.row, row.task);
    }
}

/// Lay the rows of a run one before the other, from its end.
fn place_run(run: &mut [PathRow]) {
    let Some(mut end_ns) = run.first().map(|row| row.end_ns) else {
        return;
    };
    for row in run {
        let dur_ns = row.dur_ns();
        (row.start_ns, row.end_ns) = (end_ns - dur_ns, end_ns);
        end_ns -= dur_ns;
    }
}
