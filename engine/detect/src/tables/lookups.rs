//! Lookups that miss: paths that a process looked up and that did not exist, grouped by search list.
//!
//! ```text
//! openat /a/libx.so ENOENT | openat /b/libx.so ENOENT | openat /c/libx.so = 3   a search: one name in 3 directories
//! openat /a/liby.so ENOENT | openat /b/liby.so = 3                              the same list of directories
//! stat /w/1/.keep ENOENT … other work … stat /w/2/.keep ENOENT                  a marker: one name in many directories
//! ```
//! Searches whose directories overlap share a row. Extensions are ignored when names are compared: `x.so` and `x.py`
//! are two attempts to find `x`.

mod search;

use crate::tables::lookups::search::{DirectorySearch, PathPart};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::grouping::{self, CallGroup};
use kit::table_support::kit::table;
use kit::table_support::paths::{Answer, answer, ending, parts, stem};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::{ClassifiedCall, ShapeIndex, processes};
use parsers::{Interner, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use trace::parallel;
use trace::store::heuristics::MIN_TARGET_CALLS;
use trace::store::index::TaskId;

table! {
    lookups "Failed lookups of files, by process and search list.";
    times: Calls;
    costs: Cost { calls: |action, _| action.lookup().is_some(), ..Cost::OF_PROCESS };
    row {
        group: OfProcesses,
        kind: Words "search (names looked up in the same directories), marker (one name in many places) or probe (other).",
        syscall: Text "The most common of the system calls.",
        target: Text "The path looked up most often; the first one if there are several.",
        ending: Words "The most common extension of the names, without the dot.",
        searches: Count "Number of searches for a name.",
        found: Count "Number of these searches that succeeded.",
        names: Number "Number of different names, ignoring extensions.",
        directories: Number "Number of directories without the names.",
        searched: List "The directories with the most misses.",
        folders: List "The directory of most misses, or of most of the searched directories. Missing for few misses.",
        misses: Count "Number of failed lookups.",
        sum: CallSums,
    }
}

/// Maximum number of directories that a row lists.
const MAX_NAMED: usize = 8;

/// How the names and directories of misses relate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    /// Consecutive lookups of one name in several directories.
    Search,
    /// One name in many directories, with other work in between.
    Marker,
    /// Names that are looked up in one directory each.
    Probe,
}

impl Kind {
    fn name(self) -> &'static str {
        ["search", "marker", "probe"][self as usize]
    }
}

/// The kind of a row, and for searches a directory that represents the search list.
type Key = (Kind, u32);

/// Builds the table of misses by process and search list.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = ShapeIndex::new(context, |action, shape| {
        action.lookup().map(|_| answer(context, shape))
    });
    if !search::reach_threshold(context, &kinds) {
        return TableBuilder::new(context, &TABLE.schema).finish();
    }
    let processes = processes(context);
    let groups = parallel::flat_map(&processes, |tasks| of_process(context, &kinds, tasks));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in grouping::limit_groups(context, groups, |&(kind, _)| (kind, 0)) {
        write(context, &group, &mut builder);
    }
    builder.finish()
}

/// The attempts to find one name.
#[derive(Default)]
struct Tries {
    program: Text,
    stem: u32,
    directories: Vec<u32>,
    rows: Vec<u32>,
    /// The directory where the name was found.
    found_in: Option<u32>,
}

/// Assigns numbers to the names and directories of a process.
struct Names<'a> {
    texts: &'a Interner,
    numbers: FxHashMap<&'a [u8], u32>,
    parts: FxHashMap<Text, (u32, u32)>,
}

impl<'a> Names<'a> {
    /// Stem and directory of a path.
    fn of(&mut self, path: Text) -> (u32, u32) {
        if let Some(&known) = self.parts.get(&path) {
            return known;
        }
        let (directory, name) = parts(self.texts.bytes(path));
        let found = (self.number(stem(name)), self.number(directory));
        self.parts.insert(path, found);
        found
    }

    fn number(&mut self, bytes: &'a [u8]) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(bytes).or_insert(next)
    }
}

/// The searches of a process so far.
#[derive(Default)]
struct Searched {
    searches: Vec<Tries>,
    /// Misses of names that were not searched in several consecutive directories: program, stem, directory, row.
    loose: Vec<(Text, u32, u32, u32)>,
}

fn of_process(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Answer>,
    tasks: &[TaskId],
) -> Vec<CallGroup<Key>> {
    let texts = &context.trace.events.texts;
    let mut names = Names {
        texts,
        numbers: FxHashMap::default(),
        parts: FxHashMap::default(),
    };
    let mut searched = Searched::default();
    for &task in tasks {
        let (mut search, mut tries) = (DirectorySearch::default(), Tries::default());
        for call in kinds.by_program(context, task) {
            let target = context.trace.events.target(call.row);
            if target == Text::NONE {
                continue;
            }
            let part = search.step(&call, || texts.bytes(target));
            if matches!(part, PathPart::None | PathPart::Begins) {
                searched.end(&mut tries);
            }
            if part != PathPart::None {
                tries.add(&call, part, || names.of(target));
            }
        }
        searched.end(&mut tries);
    }
    searched.groups(tasks[0])
}

impl Tries {
    /// Adds a lookup, by stem and directory.
    fn add(
        &mut self,
        call: &ClassifiedCall<Answer>,
        part: PathPart,
        names: impl FnOnce() -> (u32, u32),
    ) {
        if part == PathPart::Directory {
            return self.rows.push(call.row);
        }
        let (stem, directory) = names();
        if part == PathPart::Begins {
            (self.stem, self.program) = (stem, call.program);
        }
        if call.kind == Answer::Missing {
            self.rows.push(call.row);
            self.directories.push(directory);
        } else if call.kind == Answer::Found {
            self.found_in = Some(directory);
        }
    }
}

impl Searched {
    fn end(&mut self, tries: &mut Tries) {
        let mut search = std::mem::take(tries);
        search.directories.extend(search.found_in);
        search.directories.sort_unstable();
        search.directories.dedup();
        match search.directories.as_slice() {
            [] => {}
            [directory] => {
                let loose = search
                    .rows
                    .iter()
                    .map(|&row| (search.program, search.stem, *directory, row));
                self.loose.extend(loose);
            }
            _ => self.searches.push(search),
        }
    }

    /// Merges searches that have directories in common.
    fn groups(self, task: TaskId) -> Vec<CallGroup<Key>> {
        let mut lists = Lists::default();
        self.searches
            .iter()
            .for_each(|search| lists.join(&search.directories));
        let mut groups: FxHashMap<(Text, Key), CallGroup<Key>> = FxHashMap::default();
        let mut add = |program: Text, key: Key, rows: &[u32], counts: [i64; 2]| {
            let group = groups
                .entry((program, key))
                .or_insert_with(|| CallGroup::of_one(task, program, key, Vec::new()));
            group.rows.extend(rows);
            group
                .counts
                .iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
        };
        for search in &self.searches {
            let list = search
                .directories
                .first()
                .map_or(0, |&directory| lists.root(directory));
            add(
                search.program,
                (Kind::Search, list),
                &search.rows,
                [1, i64::from(search.found_in.is_some())],
            );
        }
        let mut places: FxHashMap<(Text, u32), (u32, bool)> = FxHashMap::default();
        for &(program, stem, directory, _) in &self.loose {
            let place = places.entry((program, stem)).or_insert((directory, false));
            place.1 |= place.0 != directory;
        }
        for (program, stem, _, row) in self.loose {
            let several = places
                .get(&(program, stem))
                .is_some_and(|&(_, several)| several);
            let key = if several {
                (Kind::Marker, stem)
            } else {
                (Kind::Probe, 0)
            };
            add(program, key, &[row], [1, 0]);
        }
        groups.into_values().collect()
    }
}

/// A union-find forest of directories that are searched together. Each points to another directory of its list, the
/// root to itself.
#[derive(Default)]
struct Lists(FxHashMap<u32, u32>);

impl Lists {
    fn root(&mut self, directory: u32) -> u32 {
        let mut at = directory;
        while let Some(&next) = self.0.get(&at).filter(|&&next| next != at) {
            at = next;
        }
        self.0.insert(directory, at);
        at
    }

    fn join(&mut self, directories: &[u32]) {
        let Some(&first) = directories.first() else {
            return;
        };
        let root = self.root(first);
        for &other in directories {
            let other = self.root(other);
            self.0.insert(other, root);
        }
    }
}

fn write(context: &TableContext<'_>, group: &CallGroup<Key>, builder: &mut TableBuilder<'_>) {
    let (events, sum) = (&context.trace.events, group.sum(context));
    let missed: Vec<Text> = group
        .rows
        .iter()
        .filter(|row| answer(context, &events.shape(**row)) == Answer::Missing)
        .map(|&row| events.target(row))
        .collect();
    let places: FxHashSet<&[u8]> = missed
        .iter()
        .map(|&target| parts(events.texts.bytes(target)).0)
        .collect();
    let (mut stems, mut endings) = (FxHashSet::default(), FxHashMap::default());
    let mut directories: FxHashMap<&[u8], u32> = FxHashMap::default();
    // A lookup of a searched directory itself is not a lookup of a name.
    for path in missed
        .iter()
        .map(|&target| events.texts.bytes(target))
        .filter(|path| !places.contains(path))
    {
        let (directory, name) = parts(path);
        stems.insert(stem(name));
        *endings.entry(ending(name)).or_insert(0u32) += 1;
        *directories.entry(directory).or_insert(0) += 1;
    }
    let ending = endings
        .into_iter()
        .max_by_key(|&(ending, count)| (count, ending))
        .map_or(&b""[..], |(ending, _)| ending);
    let row = TableRow {
        group: group.into(),
        kind: Some(group.key.0.name().to_owned()),
        syscall: grouping::commonest(context, &group.rows),
        target: commonest(&missed),
        ending: (!ending.is_empty()).then(|| String::from_utf8_lossy(ending).into_owned()),
        searches: group.counts[0],
        found: group.counts[1],
        names: stems.len() as i64,
        directories: directories.len() as i64,
        folders: main_folder(&directories).into_iter().collect(),
        searched: largest(directories),
        misses: missed.len() as i64,
        sum,
    };
    builder.add(row, Provenance::Rows(group.rows.clone()));
}

/// The most frequent target; ties go to the first.
fn commonest(missed: &[Text]) -> Text {
    let mut counts: FxHashMap<Text, (u32, Reverse<usize>)> = FxHashMap::default();
    for (at, &target) in missed.iter().enumerate() {
        counts.entry(target).or_insert((0, Reverse(at))).0 += 1;
    }
    counts
        .into_iter()
        .max_by_key(|&(_, rank)| rank)
        .map_or(Text::NONE, |(target, _)| target)
}

/// The directory of more than half of the misses, or the one that contains the directories of more than half of them.
fn main_folder(directories: &FxHashMap<&[u8], u32>) -> Option<String> {
    let total: u32 = directories.values().sum();
    if (total as usize) < MIN_TARGET_CALLS {
        return None;
    }
    let is_most = |misses: u32| misses > total / 2;
    let text = |folder: &[u8]| String::from_utf8_lossy(folder).into_owned();
    let single = directories.iter().find(|&(_, &misses)| is_most(misses));
    if let Some((folder, _)) = single.filter(|(folder, _)| !folder.is_empty()) {
        return Some(text(folder));
    }
    let mut above: FxHashMap<&[u8], u32> = FxHashMap::default();
    for (directory, misses) in directories {
        *above.entry(parts(directory).0).or_insert(0) += misses;
    }
    let shared = above.into_iter().find(|&(_, misses)| is_most(misses));
    let named = shared.filter(|(folder, _)| !folder.is_empty());
    named.map(|(folder, _)| format!("{}/*", text(folder)))
}

/// The directories with the most misses.
fn largest(directories: FxHashMap<&[u8], u32>) -> Vec<String> {
    let mut directories: Vec<(&[u8], u32)> = directories.into_iter().collect();
    directories.sort_unstable_by_key(|&(directory, misses)| (Reverse(misses), directory));
    let text = |directory: &[u8]| match directory {
        b"" => ".".to_owned(),
        named => String::from_utf8_lossy(named).into_owned(),
    };
    directories
        .iter()
        .take(MAX_NAMED)
        .map(|&(directory, _)| text(directory))
        .collect()
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    const COLUMNS: [&str; 8] = [
        "kind",
        "searches",
        "found",
        "names",
        "directories",
        "misses",
        "calls",
        "searched",
    ];

    /// Opens at 10, 20, … ns. Paths that start with `!` do not exist.
    fn opens(plan: TaskPlan, paths: &[&str]) -> TaskPlan {
        paths
            .iter()
            .zip(1i64..)
            .fold(plan, |plan, (path, at)| match path.strip_prefix('!') {
                Some(missing) => plan
                    .call("openat", at * 10, at * 10 + 4)
                    .on(missing)
                    .fails("ENOENT"),
                None => plan
                    .call("openat", at * 10, at * 10 + 4)
                    .on(path)
                    .returns(3),
            })
    }

    fn found_in(paths: &[&str]) -> Vec<String> {
        rows(
            &build(vec![opens(task(1), paths).exit(9999)]),
            super::build,
            &COLUMNS,
        )
    }

    #[test]
    fn names_searched_in_the_same_directories_are_one_row() {
        let loader = [
            "!/a/libx.so.1",
            "!/b/libx.so.1",
            "/c/libx.so.1",
            "!/a/liby.so",
            "/b/liby.so",
            "/etc/conf",
        ];
        assert_eq!(found_in(&loader), ["search 2 2 2 2 3 3 /a,/b"]);
        let python = ["!/p/mod.so", "!/p/mod.py", "!/q/mod.so", "/q/mod.py"];
        assert_eq!(found_in(&python), ["search 1 1 1 2 3 3 /p,/q"]);
    }

    #[test]
    fn a_lookup_of_the_directory_is_part_of_the_search() {
        let loader = ["!/a/libx.so", "!/a", "!/b/libx.so", "/b", "/c/libx.so"];
        assert_eq!(found_in(&loader), ["search 1 1 1 2 3 4 /a,/b"]);
    }

    #[test]
    fn one_name_in_many_directories_with_other_work_is_a_marker() {
        let walk = [
            "!/w/1/.keep",
            "/w/1/data",
            "!/w/2/.keep",
            "/w/2/data",
            "!/w/3/.keep",
        ];
        assert_eq!(found_in(&walk), ["marker 3 0 1 3 3 3 /w/1,/w/2,/w/3"]);
    }

    #[test]
    fn different_missing_names_in_one_directory_are_probes() {
        assert_eq!(
            found_in(&["!/etc/a.conf", "/etc/b", "!/etc/c.conf"]),
            ["probe 2 0 2 1 2 2 /etc"]
        );
        assert!(found_in(&["/etc/a", "/etc/b", "/usr/a"]).is_empty());
        assert_eq!(found_in(&["!x.h"]), ["probe 1 0 1 1 1 1 ."]);
    }

    #[test]
    fn the_folder_of_most_searched_directories_is_named() {
        let paths: Vec<String> = (0..200).map(|at| format!("!/inc/{at}/x.h")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let folders = |paths: &[&str]| {
            let trace = build(vec![opens(task(1), paths).exit(9999)]);
            rows(&trace, super::build, &["folders"])
        };
        assert_eq!(folders(&paths), ["/inc/*"]);
        assert_eq!(folders(&paths[..2]), [""]);
        assert_eq!(folders(&["!/etc/a.conf"; 200]), ["/etc"]);
    }

    #[test]
    fn lists_without_a_common_directory_are_separate_rows() {
        let both = ["!/a/x.so", "!/b/x.so", "!/i/y.h", "!/j/y.h", "/k/y.h"];
        assert_eq!(found_in(&both).len(), 2);
    }
}
