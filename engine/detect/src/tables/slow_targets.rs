//! Slow targets: a file, directory tree or peer on which calls take much longer than the same calls on other targets.
//!
//! ```text
//! stat /a 1 ms | stat /b 1 ms | stat /net/x 90 ms | open /net/y 80 ms | open /c 2 ms
//! /net: 170 ms; the same calls elsewhere would take 3 ms
//! ```
//! Calls are compared with calls of the same program, syscall and operation on other targets. Starting at the root, the
//! search descends into a directory as long as it retains nine tenths of the excess time.

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::evidence::may_be_outside;
use kit::table_support::grouping::{self, CallGroup, limit_groups, targets};
use kit::table_support::kit::table;
use kit::table_support::limits::MAX_GROUPS;
use kit::table_support::paths::is_above;
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::{Cost, Joins};
use kit::table_support::shape_index::{ShapeIndex, costliest};
use kit::table_support::text_numbers::TextNumbers;
use kit::table_support::threshold::CostScope;
use parsers::syscalls::{Action, Class};
use parsers::{Interner, NO_NS, Text};
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::event::NONE;
use trace::store::index::TaskId;
use trace::store::targets;

table! {
    slow_targets "The slowest place of each process.";
    times: Calls;
    costs: Cost {
        calls: |_, class| on_disk_or_network(class),
        joins: Joins::Costliest(Some(1)),
        ..Cost::OF_PROCESS
    };
    row {
        group: OfProcesses,
        syscall: Text "The system call with most of the time.",
        target: Words "The place: a file, a directory tree, a peer or its host.",
        scope: Words "file, directory, host or target.",
        targets: Number "Number of different targets in that place.",
        others: Number "Number of calls of the same kinds by the same program elsewhere.",
        usual_ns: Ns "Time that the same number of such calls takes elsewhere.",
        factor: Ratio "total_ns divided by usual_ns.",
        half_calls: Number "Smallest number of calls that account for half of exclusive_ns.",
        unproven_ns: Ns "The part of exclusive_ns that may be the program's own time: upper bounds of calls in which nothing shows the task.",
        sum: CallSums,
    }
}

/// A kind of call.
#[derive(Clone, Copy)]
struct Kind {
    /// The number of its syscall and operation.
    number: u32,
    /// A fifo that is printed like a file answers when its other side does.
    is_of_peer: bool,
}

/// Number of calls and their time.
#[derive(Clone, Copy, Default)]
struct Took {
    calls: i64,
    ns: i64,
}

impl Took {
    fn add(&mut self, other: Took) {
        *self = Took {
            calls: self.calls + other.calls,
            ns: self.ns.saturating_add(other.ns),
        };
    }

    fn without(self, other: Took) -> Took {
        Took {
            calls: self.calls - other.calls,
            ns: self.ns - other.ns,
        }
    }
}

/// Empty text, name, scope, expected time of the same calls elsewhere, and number of those calls.
type Key = (Text, Vec<u8>, &'static str, i64, i64);

fn on_disk_or_network(class: Class) -> bool {
    matches!(class, Class::Disk | Class::Network)
}

/// Builds the table of the slowest place of each process.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let kinds = kinds(context);
    let processes = costliest(context, &kinds);
    let mut places = parallel::flat_map(&processes, |tasks| of_process(context, &kinds, tasks));
    // Rows may be merged only if there are too many.
    if let Some(threshold) = context.threshold.filter(|_| places.len() <= MAX_GROUPS) {
        places.retain(|place| {
            threshold.within != CostScope::Call || place.max_ns >= threshold.least_of(place.capture)
        });
    }
    let groups = parallel::map(&places, |place| of_place(context, &kinds, place));
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for group in limit_groups(context, groups, Clone::clone) {
        write(context, &group, &mut builder);
    }
    builder.finish()
}

fn kinds(context: &TableContext<'_>) -> ShapeIndex<Kind> {
    let parts = context.trace.shape_parts();
    let mut numbers: FxHashMap<(Text, Text), u32> = FxHashMap::default();
    let of_parts = parts.parts().iter().map(|part| {
        let next = numbers.len() as u32;
        *numbers.entry((part.syscall, part.op)).or_insert(next)
    });
    let of_parts: Vec<u32> = of_parts.collect();
    ShapeIndex::by_target(
        context,
        |_, _| true,
        |number, _, shape| {
            let class = parts.class_of(number);
            let works = shape.target.is_some() && matches!(class, Class::Disk | Class::Network);
            let is_of_peer = is_of_peer(context.wakers.class_of(number));
            works.then(|| Kind {
                number: of_parts[parts.of_shape(number) as usize],
                is_of_peer,
            })
        },
    )
}

fn is_of_peer(class: Class) -> bool {
    matches!(class, Class::Ipc | Class::Terminal)
}

/// Time of a program's calls by target and kind, and by kind.
struct Calls {
    program: Text,
    of_kind: Vec<Took>,
    /// Each target with the place of its last kind in `sums`.
    lasts: Vec<(Text, u32)>,
    /// Calls of a target by kind, with the place of the kind before it. One list, because there may be very many targets.
    sums: Vec<(u32, Took, u32)>,
    /// Places of targets in `lasts`.
    places: TextNumbers,
    /// Place of the target of the last call. Calls on a target often follow one another.
    last: u32,
}

impl Calls {
    /// None yet, of a process with so many calls in a trace with so many texts.
    fn new(program: Text, calls: usize, texts: usize) -> Calls {
        Calls {
            program,
            of_kind: Vec::new(),
            lasts: Vec::new(),
            sums: Vec::new(),
            places: TextNumbers::new(calls, texts),
            last: 0,
        }
    }

    fn add(&mut self, number: u32, target: Text, took: Took) {
        if self.of_kind.len() <= number as usize {
            self.of_kind.resize(number as usize + 1, Took::default());
        }
        self.of_kind[number as usize].add(took);
        let is_last = self
            .lasts
            .get(self.last as usize)
            .is_some_and(|(last, _)| *last == target);
        if !is_last {
            let next = self.lasts.len() as u32;
            self.last = self.places.of(target, next);
            if self.last == next {
                self.lasts.push((target, NONE));
            }
        }
        let (_, last_kind) = &mut self.lasts[self.last as usize];
        let mut place = *last_kind;
        while let Some((kind, sum, before)) = self.sums.get_mut(place as usize) {
            if *kind == number {
                return sum.add(took);
            }
            place = *before;
        }
        let before = std::mem::replace(last_kind, self.sums.len() as u32);
        self.sums.push((number, took, before));
    }

    /// The calls of a target by kind, given the place of its last kind.
    fn of_target(&self, last: u32) -> impl Iterator<Item = (u32, Took)> + Clone {
        let sum = |place: u32| self.sums.get(place as usize);
        std::iter::successors(sum(last), move |(_, _, before)| sum(*before))
            .map(|&(kind, took, _)| (kind, took))
    }

    /// The place of a target in `lasts`.
    fn place_of(&self, target: Text) -> Option<usize> {
        let place = self.places.get(target)? as usize;
        self.lasts
            .get(place)
            .is_some_and(|(known, _)| *known == target)
            .then_some(place)
    }
}

/// Add calls of a kind to calls by kind, of which there are few.
fn add_to(calls: &mut Vec<(u32, Took)>, kind: u32, took: Took) {
    match calls.iter_mut().find(|(known, _)| *known == kind) {
        Some((_, sum)) => sum.add(took),
        None => calls.push((kind, took)),
    }
}

fn of_process<'tasks>(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Kind>,
    tasks: &'tasks [TaskId],
) -> Vec<Place<'tasks>> {
    let events = &context.trace.events;
    let count = tasks
        .iter()
        .map(|&task| context.trace.rows_of(task).len())
        .sum();
    // A process runs few programs, one after the other.
    let mut programs: Vec<Calls> = Vec::new();
    let (mut now, mut other_ns) = (0, 0i64);
    for call in tasks
        .iter()
        .flat_map(|&task| kinds.by_program(context, task))
    {
        let took = Took {
            calls: 1,
            ns: context.exclusive_ns(call.row),
        };
        let is_of_peer = match events.filled_from_pipe(call.row) {
            Some(_) => is_of_peer(context.wakers.class(context.trace, call.row)),
            None => call.kind.is_of_peer,
        };
        // Calls without a duration cannot be compared.
        if is_of_peer || events.dur_ns(call.row) == NO_NS || !is_comparable(context, call.row) {
            other_ns += took.ns;
            continue;
        }
        if programs
            .get(now)
            .is_none_or(|calls| calls.program != call.program)
        {
            now = programs
                .iter()
                .position(|calls| calls.program == call.program)
                .unwrap_or_else(|| {
                    programs.push(Calls::new(call.program, count, events.texts.len()));
                    programs.len() - 1
                });
        }
        programs[now].add(call.kind.number, events.target(call.row), took);
    }
    let capture = context.trace.tasks[tasks[0]].capture;
    let slowest = |calls: Calls| {
        let (found, program) = (calls.slowest(&events.texts)?, calls.program);
        let max_ns = found.took_ns.saturating_add(other_ns);
        Some(Place {
            tasks,
            capture,
            program,
            max_ns,
            found,
        })
    };
    programs.into_iter().filter_map(slowest).collect()
}

/// Whether the time of a call can be compared with that of other calls. A program works on what it has read: where a duration
/// is an upper bound, that work would seem to be time of the file. The delay of a poll loop is time of its pauses.
fn is_comparable(context: &TableContext<'_>, row: u32) -> bool {
    let yields_content = || {
        let action = context.trace.events.action(row);
        matches!(action, Action::Maps | Action::Closes) || action.transfer().is_some()
    };
    !context.attribution.is_late_check(row) && (!may_be_outside(context, row) || !yields_content())
}

/// Time above the expected time, the expected time, and the number of calls that it is derived from.
type Excess = (i64, i64, i64);

/// The slowest place of a program of a process.
struct Place<'tasks> {
    tasks: &'tasks [TaskId],
    capture: u32,
    program: Text,
    /// Upper bound of the time on the critical path of its calls.
    max_ns: i64,
    found: Slowest,
}

/// A place with the time of its calls and the expected time.
struct Slowest {
    name: Vec<u8>,
    scope: &'static str,
    took_ns: i64,
    usual_ns: i64,
    others: i64,
}

impl Calls {
    /// The time of some targets above the expected time, which is that of the same calls elsewhere.
    fn excess(&self, inside: impl Iterator<Item = (u32, Took)>) -> Excess {
        let (mut excess_ns, mut usual_ns, mut others) = (0, 0, 0);
        for (kind, took) in inside {
            let outside = self.of_kind[kind as usize].without(took);
            if outside.calls > 0 {
                let usual = usual_ns_of(outside, took.calls);
                excess_ns += took.ns - usual;
                usual_ns += usual;
                others += outside.calls;
            }
        }
        (excess_ns, usual_ns, others)
    }

    /// The most specific place that has nearly all of the largest excess time.
    fn slowest(&self, texts: &Interner) -> Option<Slowest> {
        let (directories, own) = self.directories(texts);
        let known = self.places(texts, &directories, &own);
        let max_ns = known
            .iter()
            .map(|((excess_ns, _, _), _)| *excess_ns)
            .max()?;
        // Of the places with nearly all of the maximum, the most specific has the longest name.
        let near = known
            .into_iter()
            .filter(|((excess_ns, _, _), _)| *excess_ns >= nearly_all_of(max_ns));
        let ((_, usual_ns, others), name) =
            near.max_by_key(|&((excess_ns, _, _), name)| (name.len(), excess_ns, name))?;
        let target = texts.find(name).and_then(|target| self.place_of(target));
        let directory = directories.numbers.get(name);
        let is_path = name.starts_with(b"/");
        let is_directory = (!is_path || directory.is_some())
            && self
                .lasts
                .iter()
                .any(|&(target, _)| is_above(name, texts.bytes(target)));
        let scope = match (is_path, is_directory) {
            (_, true) => "directory",
            (true, false) => "file",
            _ if target.is_some() => "target",
            _ => "host",
        };
        let sum_ns =
            |calls: &mut dyn Iterator<Item = (u32, Took)>| calls.map(|(_, took)| took.ns).sum();
        let took_ns = match (directory, target) {
            (Some(&number), _) => {
                sum_ns(&mut directories.list[number as usize].calls.iter().copied())
            }
            (None, Some(at)) => sum_ns(&mut self.of_target(self.lasts[at].1)),
            (None, None) => 0,
        };
        Some(Slowest {
            name: name.to_vec(),
            scope,
            took_ns,
            usual_ns,
            others,
        })
    }

    /// The directories and hosts of all targets with their calls, and the number of the directory that each target itself
    /// is; [`NONE`] for nearly all.
    fn directories<'texts>(&self, texts: &'texts Interner) -> (Directories<'texts>, Vec<u32>) {
        let mut above = Directories::default();
        let none = |number: Option<u32>| number.unwrap_or(NONE);
        let parents: Vec<u32> = self
            .lasts
            .iter()
            .map(|&(target, _)| none(above.above(texts.bytes(target))))
            .collect();
        let mut own = vec![NONE; self.lasts.len()];
        for (number, directory) in (0u32..).zip(&above.list) {
            if let Some(at) = texts
                .find(directory.name)
                .and_then(|target| self.place_of(target))
            {
                own[at] = number;
            }
        }
        for ((&(_, last), parent), &own) in self.lasts.iter().zip(parents).zip(&own) {
            let number = if own == NONE { parent } else { own };
            if number != NONE {
                above.add(number, self.of_target(last));
            }
        }
        above.sum_up();
        (above, own)
    }

    /// The places with more than the expected time that may be the slowest: targets and the directories above them.
    /// Directories come first: most targets have less time than the largest excess of a directory.
    fn places<'texts>(
        &self,
        texts: &'texts Interner,
        directories: &Directories<'texts>,
        own: &[u32],
    ) -> Vec<(Excess, &'texts [u8])> {
        let mut max_ns = 0;
        let mut known = Vec::new();
        let mut add = |excess: Excess, name: &'texts [u8]| {
            max_ns = excess.0.max(max_ns);
            known.extend((excess.0 > 0).then_some((excess, name)));
            nearly_all_of(max_ns)
        };
        let mut min_ns = 0;
        for directory in &directories.list {
            min_ns = add(self.excess(directory.calls.iter().copied()), directory.name);
        }
        for (&(target, last), _) in self.lasts.iter().zip(own).filter(|&(_, &own)| own == NONE) {
            let calls = self.of_target(last);
            let took_ns = calls
                .clone()
                .fold(0i64, |sum_ns, (_, took)| sum_ns.saturating_add(took.ns));
            if took_ns >= min_ns {
                min_ns = add(self.excess(calls), texts.bytes(target));
            }
        }
        known
    }
}

/// The time of so many calls, if they take as long as the others.
fn usual_ns_of(others: Took, calls: i64) -> i64 {
    match others.ns.checked_mul(calls) {
        Some(product) => product / others.calls,
        // Divisions of 128 bits are slow, and there may be very many targets.
        None => (i128::from(others.ns) * i128::from(calls) / i128::from(others.calls)) as i64,
    }
}

/// Nine tenths of the largest excess time.
fn nearly_all_of(max_ns: i64) -> i64 {
    max_ns - max_ns / 10
}

/// Directories and hosts of targets, each after the one above it.
#[derive(Default)]
struct Directories<'texts> {
    numbers: FxHashMap<&'texts [u8], u32>,
    /// The last one. Targets in a directory often follow one another.
    last: Option<(&'texts [u8], u32)>,
    list: Vec<Directory<'texts>>,
}

struct Directory<'texts> {
    name: &'texts [u8],
    above: Option<u32>,
    calls: Vec<(u32, Took)>,
}

impl<'texts> Directories<'texts> {
    /// The number of the directory or host that a target is in.
    fn above(&mut self, target: &'texts [u8]) -> Option<u32> {
        let name = above(target)?;
        match self.last.filter(|(last, _)| *last == name) {
            Some((_, number)) => Some(number),
            None => {
                let number = self
                    .numbers
                    .get(name)
                    .copied()
                    .or_else(|| self.with_those_above(name))?;
                self.last = Some((name, number));
                Some(number)
            }
        }
    }

    /// Number a directory or host, and those above it.
    fn with_those_above(&mut self, name: &'texts [u8]) -> Option<u32> {
        // From the top, because a path may have any number of parts.
        let missing: Vec<&[u8]> = std::iter::successors(Some(name), |name| above(name))
            .take_while(|name| !self.numbers.contains_key(name))
            .collect();
        let top = missing
            .last()
            .and_then(|name| above(name))
            .and_then(|name| self.numbers.get(name).copied());
        missing.into_iter().rev().fold(top, |above, name| {
            let number = self.list.len() as u32;
            self.numbers.insert(name, number);
            self.list.push(Directory {
                name,
                above,
                calls: Vec::new(),
            });
            Some(number)
        })
    }

    fn add(&mut self, number: u32, calls: impl Iterator<Item = (u32, Took)>) {
        let own = &mut self.list[number as usize].calls;
        calls.for_each(|(kind, took)| add_to(own, kind, took));
    }

    /// Add the calls of each directory to the one above it.
    fn sum_up(&mut self) {
        for number in (0..self.list.len()).rev() {
            if let Some(above) = self.list[number].above {
                let calls = std::mem::take(&mut self.list[number].calls);
                self.add(above, calls.iter().copied());
                self.list[number].calls = calls;
            }
        }
    }
}

/// The directory that a path is in, or the host of an address.
fn above(target: &[u8]) -> Option<&[u8]> {
    let end = match target.first() {
        Some(b'/') => memchr::memrchr(b'/', target).filter(|&at| at > 0),
        _ if targets::is_host_and_port(target) => memchr::memrchr(b':', target),
        _ => None,
    };
    end.map(|at| &target[..at])
}

/// A target, and each directory above it or its host.
fn names(target: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(target), |name| above(name))
}

fn of_place(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Kind>,
    place: &Place<'_>,
) -> CallGroup<Key> {
    let events = &context.trace.events;
    let Place {
        tasks,
        program,
        ref found,
        ..
    } = *place;
    let is_inside = |target: Text| {
        let path = events.texts.bytes(target);
        path.starts_with(&found.name) && names(path).any(|name| name == found.name)
    };
    // That of the last call: calls on a target often follow one another.
    let mut last = (Text::NONE, is_inside(Text::NONE));
    let calls = tasks
        .iter()
        .flat_map(|&task| kinds.by_program(context, task))
        .filter(|call| call.program == program);
    let rows = calls
        .map(|call| call.row)
        .filter(|&row| is_comparable(context, row))
        .filter(|&row| {
            let target = events.target(row);
            if last.0 != target {
                last = (target, is_inside(target));
            }
            last.1
        });
    let rows: Vec<u32> = rows.collect();
    let key = (
        Text::NONE,
        found.name.clone(),
        found.scope,
        found.usual_ns,
        found.others,
    );
    CallGroup::of_one(tasks[0], program, key, rows)
}

fn write(context: &TableContext<'_>, group: &CallGroup<Key>, builder: &mut TableBuilder<'_>) {
    let (_, name, scope, usual_ns, others) = &group.key;
    let sum = group.sum(context);
    let outside = group
        .rows
        .iter()
        .filter(|&&row| may_be_outside(context, row));
    let row = TableRow {
        group: group.into(),
        syscall: grouping::costliest(context, &group.rows),
        target: Some(String::from_utf8_lossy(name).into_owned()),
        scope: Some((*scope).to_owned()),
        targets: targets(context, &group.rows),
        others: *others,
        usual_ns: *usual_ns,
        factor: Some(sum.exclusive_ns as f64 / (*usual_ns).max(1) as f64),
        half_calls: half_calls(context, &group.rows),
        unproven_ns: outside.map(|&row| context.exclusive_ns(row)).sum(),
        sum,
    };
    builder.add(row, Provenance::Rows(group.rows.clone()));
}

/// The minimum number of these calls that account for half of their time.
fn half_calls(context: &TableContext<'_>, rows: &[u32]) -> i64 {
    let mut times: Vec<i64> = rows.iter().map(|&row| context.exclusive_ns(row)).collect();
    times.sort_unstable_by_key(|&ns| std::cmp::Reverse(ns));
    let half_ns = times.iter().sum::<i64>() / 2;
    let sums = times.iter().scan(0, |sum_ns, ns| {
        *sum_ns += ns;
        Some(*sum_ns)
    });
    sums.take_while(|&sum_ns| sum_ns < half_ns).count() as i64 + 1
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{TaskPlan, build, task};

    const COLUMNS: [&str; 6] = [
        "target",
        "scope",
        "calls",
        "exclusive_ns",
        "usual_ns",
        "others",
    ];

    fn stats(stats: &[(&str, i64)]) -> Vec<String> {
        let plan = stats.iter().zip(1i64..).fold(
            task(1).exec(0, 1, "/bin/x"),
            |plan: TaskPlan, ((path, dur), at)| {
                plan.call("stat", at * 1000, at * 1000 + dur)
                    .on(path)
                    .returns(0)
            },
        );
        rows(&build(vec![plan.exit(99_999)]), super::build, &COLUMNS)
    }

    #[test]
    fn the_most_specific_slow_place_is_reported() {
        let mount = [
            ("/a/x", 2),
            ("/net/home/u", 90),
            ("/net/home/v", 80),
            ("/b/y", 2),
            ("/b/z", 2),
        ];
        assert_eq!(stats(&mount), ["/net/home directory 2 170 4 3"]);
        let file = [("/a/x", 2), ("/a/y", 900), ("/a/z", 2), ("/a/y", 700)];
        assert_eq!(stats(&file), ["/a/y file 2 1600 4 2"]);
        let peers = [
            ("10.0.0.1:80", 2),
            ("10.0.0.9:80", 400),
            ("10.0.0.9:81", 400),
            ("10.0.0.2:80", 2),
        ];
        assert_eq!(stats(&peers), ["10.0.0.9 host 2 800 4 2"]);
    }

    #[test]
    fn a_pause_that_ends_with_a_check_is_no_time_of_the_checked_file() {
        let poller = task(1)
            .exec(0, 1, "/bin/x")
            .call("stat", 10, 12)
            .on("/a")
            .returns(0)
            .call("stat", 20, 22)
            .on("/run/done")
            .fails("ENOENT")
            .call("nanosleep", 30, 530)
            .returns(0)
            .call("stat", 540, 542)
            .on("/run/done")
            .fails("ENOENT")
            .call("nanosleep", 550, 1050)
            .returns(0)
            .call("stat", 1060, 1062)
            .on("/run/done")
            .returns(0)
            .exit(1100);
        let maker = task(2)
            .exec(0, 1, "/bin/y")
            .call("nanosleep", 10, 600)
            .returns(0)
            .call("creat", 610, 620)
            .on("/run/done")
            .returns(3)
            .exit(630);
        let found = rows(&build(vec![poller, maker]), super::build, &COLUMNS);
        assert!(
            !found.iter().any(|row| row.starts_with("/run/done")),
            "{found:?}"
        );
    }

    #[test]
    fn half_calls_shows_how_many_calls_are_slow() {
        let half = |times: [i64; 4]| {
            let slow = times.map(|ns| ("/net/x", ns));
            let plan = [("/a", 2), ("/b", 2)].iter().chain(&slow).zip(1i64..);
            let plan = plan.fold(
                task(1).exec(0, 1, "/bin/x"),
                |plan: TaskPlan, ((path, dur), at)| {
                    plan.call("stat", at * 1000, at * 1000 + dur)
                        .on(path)
                        .returns(0)
                },
            );
            rows(
                &build(vec![plan.exit(99_999)]),
                super::build,
                &["half_calls"],
            )
        };
        assert_eq!(half([90, 80, 90, 80]), ["2"]);
        assert_eq!(half([900, 2, 2, 3]), ["1"]);
    }

    #[test]
    fn without_a_difference_no_target_is_slow() {
        assert!(stats(&[("/a", 5), ("/b", 5), ("/c", 5)]).is_empty());
        assert!(stats(&[("/a", 900), ("/a", 900)]).is_empty());
    }
}
