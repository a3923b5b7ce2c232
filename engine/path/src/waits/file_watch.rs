//! Waits for changes of files (inotify, fanotify), ended by a task that changes a watched path or an entry in it.
//!
//! ```text
//! watcher  inotify_add_watch("/in", IN_CLOSE_WRITE)   |----------- read(inotify) -----------|
//! other                                                  open("/in/x") |- work -|write|close|
//! ```
//!
//! The requested events decide which calls may end the wait: here neither the open nor the write. A descriptor that is
//! left open is closed by the end of its process, or by a `dup2` over it. All watch descriptors print the same name,
//! and a relative path matches any path that ends with it, so all of this is inferred. The current directory (`.`) may be
//! any: a change of an absolute path counts if the wait ended with it.

use super::ordered::Ordered;
use super::waiting::Waiting;
use crate::waits::edge::{Confidence, Edge, WakeKind};
use crate::waits::file_watch::changes::Changes;
use crate::waits::shape_facts::{Effect, ShapeFacts};
use parsers::facts::Created;
use parsers::{NO_NS, Outcome, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::index::TaskId;
use trace::store::paths::{hash, is_same_path, split};
use trace::store::targets::tells_changes;
use trace::store::task_relations::descends;
use trace::store::trace::Trace;
pub(crate) mod changes;

/// Maximum number of watches of a process and its ancestors examined for one wait.
const WATCHES: usize = 256;
/// Maximum number of process ends examined for one watch.
const ENDS: usize = 64;

/// A watched path.
#[derive(Clone, Copy)]
struct Watch {
    task: TaskId,
    path: Text,
    asks: Changes,
}

/// A change of a path by a call.
#[derive(Clone, Copy)]
struct Change {
    row: u32,
    path: Text,
    what: Changes,
}

/// The watches of a trace, and the changes of watched paths.
#[derive(Default)]
pub(super) struct Watches {
    /// By capture.
    watches: FxHashMap<u32, Vec<Watch>>,
    /// The changes that must be tracked to attribute the requested ones.
    told_by: Changes,
    /// The last components of watched paths.
    names: FxHashSet<u64>,
    /// Whether a path may be watched, and the number of watched names when that was determined.
    may_be_watched: FxHashMap<Text, (usize, bool)>,
    /// In order of their rows.
    changes: Vec<Change>,
    /// The rows of changes by the last component of their path, and by that of its directory.
    rows: FxHashMap<(u32, u64), Ordered>,
    /// Files that tasks wrote to or created and did not close.
    written: FxHashMap<TaskId, FxHashSet<Text>>,
    /// The same for ended tasks, by their ends.
    left: Vec<(i64, TaskId, Text)>,
}

impl Watches {
    pub(super) fn take(&mut self, trace: &Trace, row: u32, known: ShapeFacts) {
        let events = &trace.events;
        if known.outcome != Outcome::Ok {
            return;
        }
        if known.deed == Effect::Watches {
            return self.watch(trace, row);
        }
        if known.changes.meets(self.told_by) {
            match known.changes.replaces() {
                true => self.replaced(trace, row),
                false => self.change(trace, row, events.target(row), known.changes),
            }
        }
        if known.makes.meets(self.told_by)
            && let Some(&path) = events.facts.get::<Created>(row)
        {
            self.change(trace, row, path, known.makes);
        }
    }

    fn watch(&mut self, trace: &Trace, row: u32) {
        let (task, path) = (trace.events.task(row), trace.events.target(row));
        let Some(owner) = trace.tasks.get(task).filter(|_| path.is_some()) else {
            return;
        };
        let asks = Changes::asked(trace.events.texts.bytes(trace.events.shape(row).op));
        self.watches
            .entry(owner.capture)
            .or_default()
            .push(Watch { task, path, asks });
        self.told_by = self.told_by.with(asks.told_by());
        self.names.insert(key(trace.events.texts.bytes(path)));
    }

    /// Record a change of a path, if the path or its directory may be watched.
    fn change(&mut self, trace: &Trace, row: u32, path: Text, what: Changes) {
        let task = trace.events.task(row);
        let Some(owner) = trace
            .tasks
            .get(task)
            .filter(|_| path.is_some() && !what.is_empty())
        else {
            return;
        };
        let name = trace.events.texts.bytes(path);
        let keys = [key(name), key(split(name).0), key(b"")];
        if !self.may_be_watched(path, &keys) {
            return;
        }
        let what = self.closing(task, path, what);
        self.changes.push(Change { row, path, what });
        for (at, &key) in keys.iter().enumerate() {
            if self.names.contains(&key) && !keys[..at].contains(&key) {
                self.rows.entry((owner.capture, key)).or_default().push(row);
            }
        }
    }

    fn may_be_watched(&mut self, path: Text, keys: &[u64]) -> bool {
        let (names, now) = (&self.names, self.names.len());
        let ask = || (now, keys.iter().any(|key| names.contains(key)));
        let known = self.may_be_watched.entry(path).or_insert_with(ask);
        if known.0 != now {
            *known = ask();
        }
        known.1
    }

    /// The change, if a close depends on earlier calls of its task.
    fn closing(&mut self, task: TaskId, path: Text, what: Changes) -> Changes {
        if what.writes() {
            self.written.entry(task).or_default().insert(path);
        }
        if !what.closes() {
            return what;
        }
        let wrote = self
            .written
            .get_mut(&task)
            .is_some_and(|paths| paths.remove(&path));
        if wrote {
            Changes::CLOSE_WRITE
        } else {
            Changes::CLOSE_NOWRITE
        }
    }

    /// A `dup2` may have closed a file that its task wrote to.
    fn replaced(&mut self, trace: &Trace, row: u32) {
        let Some(paths) = self.written.get(&trace.events.task(row)) else {
            return;
        };
        for path in paths.iter().copied().collect::<Vec<_>>() {
            self.change(trace, row, path, Changes::CLOSE_WRITE);
        }
    }

    pub(super) fn order(&mut self, trace: &Trace) {
        self.changes.sort_by_key(|change| change.row);
        self.rows.values_mut().for_each(|rows| rows.order(trace));
        for (task, paths) in self.written.drain() {
            let death_ns = trace.tasks.get(task).map_or(NO_NS, |task| task.death_ns);
            if death_ns != NO_NS {
                self.left
                    .extend(paths.into_iter().map(|path| (death_ns, task, path)));
            }
        }
        self.left.sort_unstable();
    }

    /// The waker of a wait for changes.
    pub(super) fn changer(&self, call: &Waiting<'_>, target: &[u8]) -> Option<Edge> {
        if !tells_changes(target) {
            return None;
        }
        let trace = call.trace;
        let capture = trace.tasks.get(call.task)?.capture;
        let own = self
            .watches
            .get(&capture)?
            .iter()
            .rev()
            .filter(|watch| descends(trace, call.task, watch.task));
        let edges = own.take(WATCHES).filter_map(|watch| {
            let changed = self.changed(call, capture, watch);
            changed
                .into_iter()
                .chain(self.left(call, watch))
                .max_by_key(|edge| edge.at_ns)
        });
        edges.max_by_key(|edge| edge.at_ns)
    }

    fn changed(&self, call: &Waiting<'_>, capture: u32, watch: &Watch) -> Option<Edge> {
        let rows = self
            .rows
            .get(&(capture, key(call.trace.events.texts.bytes(watch.path))))?;
        let row = call.last_begun_inside(rows, |row| {
            self.by_row(row)
                .iter()
                .any(|change| watch.sees(call.trace, change))
        })?;
        let edge = call.edge(row, WakeKind::Watch, Confidence::Inferred);
        (!watch.is_here(call.trace) || call.is_near_end(edge.at_ns)).then_some(edge)
    }

    fn by_row(&self, row: u32) -> &[Change] {
        let from = self.changes.partition_point(|change| change.row < row);
        let count = self.changes[from..]
            .iter()
            .take_while(|change| change.row == row)
            .count();
        &self.changes[from..from + count]
    }

    /// The task whose end closed a file that it had written to.
    fn left(&self, call: &Waiting<'_>, watch: &Watch) -> Option<Edge> {
        let until = self
            .left
            .partition_point(|&(death_ns, _, _)| death_ns <= call.exits_until_ns());
        let inside = self.left[..until]
            .iter()
            .rev()
            .take_while(|&&(death_ns, _, _)| death_ns > call.span.start_ns);
        let mut seen = inside.take(ENDS).filter(|&&(_, task, path)| {
            let change = Change {
                row: 0,
                path,
                what: Changes::CLOSE_WRITE,
            };
            task != call.task && watch.sees(call.trace, &change)
        });
        let &(death_ns, task, _) = seen.next()?;
        Some(Edge {
            task,
            at_ns: death_ns.min(call.span.end_ns),
            how: WakeKind::Watch,
            sure: Confidence::Inferred,
        })
    }
}

impl Watch {
    /// Whether the watch reports a change: of the path itself, or of an entry in that directory.
    fn sees(&self, trace: &Trace, change: &Change) -> bool {
        let texts = &trace.events.texts;
        let (watched, changed) = (texts.bytes(self.path), texts.bytes(change.path));
        let is_elsewhere_perhaps = self.is_here(trace) && changed.starts_with(b"/");
        self.asks.meets(change.what)
            && (is_elsewhere_perhaps
                || is_same_path(folder(watched), changed)
                || is_same_path(folder(watched), split(changed).0))
    }

    /// Whether the watched path is the current directory, whose name is unknown.
    fn is_here(&self, trace: &Trace) -> bool {
        folder(trace.events.texts.bytes(self.path)).is_empty()
    }
}

/// A path in the form of directory names: without a trailing slash; the current directory is empty.
fn folder(path: &[u8]) -> &[u8] {
    match path {
        b"/" => path,
        b"." | b"./" => b"",
        _ => path.strip_suffix(b"/").unwrap_or(path),
    }
}

fn key(path: &[u8]) -> u64 {
    hash(split(folder(path)).1)
}
