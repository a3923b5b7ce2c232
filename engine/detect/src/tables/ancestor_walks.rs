//! Ancestor walks: a process looks up each directory above a path in turn, and repeats this for many paths.
//!
//! ```text
//! lstat /a | lstat /a/b | lstat /a/b/c                            down: a path is resolved component by component
//! stat /a/b/c/.git | stat /a/b/.git | stat /a/.git                up: a file is looked for in each directory above
//! lstat /a | lstat /a/b | lstat /a/b/d                            the next walk repeats the steps /a and /a/b
//! ```
//! The sums cover the repeated steps. A traversal of a directory tree visits each directory once and repeats none.

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::grouping::{self, CallGroup, Grouping};
use kit::table_support::kit::table;
use kit::table_support::paths::{is_above, parts};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::{Cost, Joins};
use kit::table_support::shape_index::{ClassifiedCall, ShapeIndex, costliest};
use parsers::{Interner, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use trace::parallel;
use trace::store::heuristics::MIN_WALK_STEPS;
use trace::store::index::TaskId;

table! {
    ancestor_walks "Lookups that walk up or down the directories again, by process and direction.";
    times: Calls;
    costs: Cost {
        calls: |action, _| action.lookup().is_some(),
        joins: Joins::Costliest(Some(2)),
        ..Cost::OF_PROCESS
    };
    row {
        group: OfProcesses,
        way: Words "down (a path is resolved component by component) or up (a file is looked up in each parent directory).",
        syscall: Text "The most common of the system calls.",
        target: Text "The path with the most repeated lookups.",
        paths: Count "Number of paths with repeated lookups.",
        walks: Count "Number of walks with three or more steps.",
        steps: Count "Number of steps in these walks.",
        sum: CallSums { calls "Number of steps that repeat a step of an earlier walk." },
    }
}

/// Number of recent walks that a lookup may continue. A process may look up several names in each directory.
const MAX_RECENT: usize = 8;

/// Whether a walk goes up; [`None`] until the second step.
type Way = Option<bool>;

/// Builds the table of walks by process and direction.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |action, _| action.lookup().map(|_| ()));
    let processes = costliest(context, &kinds);
    let groups = parallel::flat_map(&processes, |tasks| of_process(context, &kinds, tasks));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in grouping::limit_groups(context, groups, |&up| up) {
        write(context, &group, &mut builder);
    }
    builder.finish()
}

/// A sequence of lookups that each move one directory up or down.
struct Walk<'texts> {
    program: Text,
    up: Way,
    /// Nearly no walk has a second step, and a list for each lookup would be slow.
    first: Step,
    later: Vec<Step>,
    /// The path of the last step.
    last: &'texts [u8],
}

/// A lookup: row and target.
type Step = (u32, Text);

impl Walk<'_> {
    fn is_long(&self) -> bool {
        self.later.len() + 1 >= MIN_WALK_STEPS
    }

    fn steps(&self) -> impl Iterator<Item = Step> {
        std::iter::once(self.first).chain(self.later.iter().copied())
    }
}

/// The recent walks of a task that may continue, the latest first.
#[derive(Default)]
struct Recent<'texts>(VecDeque<Walk<'texts>>);

impl Recent<'_> {
    /// The walk that a lookup of this path continues, and its direction.
    fn place(&self, program: Text, path: &[u8]) -> Option<(usize, bool)> {
        let (directory, name) = parts(path);
        self.0.iter().enumerate().find_map(|(at, walk)| {
            let up = match path.len() > walk.last.len() {
                true => (directory == walk.last).then_some(false),
                false => goes_up(walk.last, (path, name)).then_some(true),
            };
            let fits = walk.program == program && walk.up.is_none_or(|way| Some(way) == up);
            up.filter(|_| fits).map(|up| (at, up))
        })
    }
}

/// Whether a path with this name is `last` without one of its directories: `/a/b/.git` → `/a/.git`, `/a/b` → `/a`.
fn goes_up(last: &[u8], (path, name): (&[u8], &[u8])) -> bool {
    if path.is_empty() || path.len() >= last.len() {
        return false;
    }
    if is_above(path, last) {
        return parts(last).0 == path;
    }
    if !last.ends_with(name) {
        return false;
    }
    let same = last
        .iter()
        .rev()
        .zip(path.iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    let from_start = last
        .iter()
        .zip(path)
        .take_while(|(one, other)| one == other)
        .count();
    // The omitted part must be one whole directory before the name.
    let left_out = last.len() - path.len();
    let mut begins = path.len().saturating_sub(same)..=from_start.min(path.len());
    same > name.len() && begins.any(|at| is_one_directory(last, at, left_out))
}

/// Whether the `len` bytes at this position are one component `/name`, followed by a slash.
fn is_one_directory(path: &[u8], at: usize, len: usize) -> bool {
    let part = path.get(at..at + len).unwrap_or(b"");
    let slashes = memchr::memchr_iter(b'/', part).count();
    slashes == 1
        && part.len() > 1
        && part.first() == Some(&b'/')
        && path.get(at + len) == Some(&b'/')
}

fn of_process(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<()>,
    tasks: &[TaskId],
) -> Vec<CallGroup<bool>> {
    let events = &context.trace.events;
    let mut walks = Vec::new();
    for &task in tasks {
        let mut recent = Recent::default();
        for call in kinds.by_program(context, task) {
            let target = events.target(call.row);
            if target.is_some() {
                walks.extend(recent.step(&events.texts, &call, target));
            }
        }
        walks.extend(recent.0.into_iter().filter(Walk::is_long));
    }
    repeated(tasks[0], walks)
}

impl<'texts> Recent<'texts> {
    /// Adds a lookup. Returns the walk that is no longer a recent one, if it is long.
    fn step(
        &mut self,
        texts: &'texts Interner,
        call: &ClassifiedCall<()>,
        target: Text,
    ) -> Option<Walk<'texts>> {
        let (path, step) = (texts.bytes(target), (call.row, target));
        let new = match self
            .place(call.program, path)
            .and_then(|(at, up)| Some((self.0.remove(at)?, up)))
        {
            Some((mut walk, up)) => {
                walk.later.push(step);
                Walk {
                    up: Some(up),
                    last: path,
                    ..walk
                }
            }
            None => Walk {
                program: call.program,
                up: None,
                first: step,
                later: Vec::new(),
                last: path,
            },
        };
        self.0.push_front(new);
        let oldest = if self.0.len() > MAX_RECENT {
            self.0.pop_back()
        } else {
            None
        };
        oldest.filter(Walk::is_long)
    }
}

/// The steps that an earlier walk already made.
fn repeated(task: TaskId, mut walks: Vec<Walk<'_>>) -> Vec<CallGroup<bool>> {
    walks.sort_by_key(|walk| walk.first);
    let mut seen: FxHashSet<(Text, bool, Text)> = FxHashSet::default();
    let mut counts: FxHashMap<(Text, bool), [i64; 2]> = FxHashMap::default();
    let mut groups: Grouping<(Text, bool)> = Grouping::default();
    for walk in &walks {
        let key = (walk.program, walk.up == Some(true));
        let sum = counts.entry(key).or_default();
        *sum = [sum[0] + 1, sum[1] + 1 + walk.later.len() as i64];
        for (row, target) in walk.steps() {
            if !seen.insert((key.0, key.1, target)) {
                groups.add(key, row);
            }
        }
    }
    let repeated = groups
        .groups
        .into_iter()
        .map(|((program, up), rows)| CallGroup {
            counts: counts.get(&(program, up)).copied().unwrap_or_default(),
            ..CallGroup::of_one(task, program, up, rows)
        });
    repeated.collect()
}

fn write(context: &TableContext<'_>, group: &CallGroup<bool>, builder: &mut TableBuilder<'_>) {
    let mut paths: FxHashMap<Text, i64> = FxHashMap::default();
    group
        .rows
        .iter()
        .for_each(|&row| *paths.entry(context.trace.events.target(row)).or_insert(0) += 1);
    let commonest = paths
        .iter()
        .max_by_key(|&(path, count)| (count, std::cmp::Reverse(path)));
    let row = TableRow {
        group: group.into(),
        way: Some(if group.key { "up" } else { "down" }.to_owned()),
        syscall: grouping::commonest(context, &group.rows),
        target: commonest.map_or(Text::NONE, |(&path, _)| path),
        paths: paths.len() as i64,
        walks: group.counts[0],
        steps: group.counts[1],
        sum: group.sum(context),
    };
    builder.add(row, Provenance::Rows(group.rows.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    fn lookups(paths: &[&str]) -> Vec<String> {
        let plan = paths
            .iter()
            .zip(1i64..)
            .fold(task(1), |plan: TaskPlan, (path, at)| {
                plan.call("lstat", at * 10, at * 10 + 4).on(path).returns(0)
            });
        rows(
            &build(vec![plan.exit(9999)]),
            super::build,
            &["way", "walks", "steps", "calls", "paths"],
        )
    }

    #[test]
    fn walking_the_same_ancestors_again_counts_as_repeats() {
        let down = ["/a", "/a/b", "/a/b/c", "/a", "/a/b", "/a/b/d"];
        assert_eq!(lookups(&down), ["down 2 6 2 2"]);
        let up = [
            "/a/b/c/.git",
            "/a/b/.git",
            "/a/.git",
            "/a/b/d/.git",
            "/a/b/.git",
            "/a/.git",
        ];
        assert_eq!(lookups(&up), ["up 2 6 2 2"]);
        let two = ["/a/b/c/x", "/a/b/c/y", "/a/b/x", "/a/b/y", "/a/x", "/a/y"];
        assert_eq!(lookups(&[two, two].concat()), ["up 4 12 6 6"]);
        let modules = ["/a/b/c/mods/m", "/a/b/mods/m", "/a/mods/m"];
        assert_eq!(lookups(&[modules, modules].concat()), ["up 2 6 3 3"]);
    }

    #[test]
    fn traversal_and_single_resolution_have_no_repeats() {
        assert!(
            lookups(&[
                "/w", "/w/1", "/w/1/x", "/w/1/y", "/w/2", "/w/2/x", "/w/2/x/z"
            ])
            .is_empty()
        );
        assert!(lookups(&["/a", "/a/b", "/a/b/c", "/a/b/c/d"]).is_empty());
        assert!(lookups(&["/a", "/a", "/a/b", "/a/b"]).is_empty());
    }

    #[test]
    fn goes_up_drops_exactly_one_directory() {
        for (last, path, expected) in [
            ("/a/b/.git", "/a/.git", true),
            ("/a/.git", "/.git", true),
            ("/a/a/x", "/a/x", true),
            ("/a/b/c/x", "/a/x", false),
            ("/a/b/x", "/a/bx", false),
            ("/a/b", "/a", true),
            ("/a/b/c", "/a", false),
            ("/abc/x", "/ab/x", false),
        ] {
            let path = path.as_bytes();
            assert_eq!(
                goes_up(last.as_bytes(), (path, parts(path).1)),
                expected,
                "{last} {path:?}"
            );
        }
    }
}
