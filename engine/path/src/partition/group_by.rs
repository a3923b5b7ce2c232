//! Groups the selected pieces of the partition by some of their properties.
//!
//! ```text
//! pieces     pid 7 read a 30 | pid 7 read b 20 | pid 8 read a 10 | pid 7 user 5
//! by pid     pid 7 55, 3 targets, 3 pieces     | pid 8 10, 1 target, 1 piece
//! ```

use crate::critical_path::segment::class_name;
use crate::partition::group_by::aggregate::{Aggregate, Aggregator};
use crate::partition::group_by::ordering::{PieceNumbers, in_groups};
use crate::partition::piece::Piece;
use crate::partition::pieces::Pieces;
use crate::partition::reaching;
use crate::partition::scope::{GroupKey, GroupQuery, Scope, ScopeFilter, differs_within_bucket};
use parsers::syscalls::Class;
use parsers::{NO_ID, NO_NS, Text};
use rayon::prelude::*;
use std::cmp::Reverse;
use trace::store::event::NONE;
use trace::store::schema::schema;
use trace::store::table::{Table, Values, ints, some_ints, texts};
use trace::store::tasks::Task;
use trace::store::text_columns::text_column;
use trace::store::trace::Trace;
mod aggregate;
mod of_processes;
mod ordering;
pub mod programs;

schema! {
    pub PARTITION: partition "Wall time of the window by process, call and target.";
    times: Calls;
    columns {
        capture: Index "Number of the capture.",
        pid: Id "Process id.",
        tid: Id "Thread id.",
        program: Text "Program at that moment.",
        class: Text "What the time was spent on: user, sleep, child, disk, network, ipc, poll, lock, …",
        class_name: Words "The class in words: user is outside syscalls.",
        syscall: Text "The system call, if the time was spent in one.",
        op: Text "Sub-operation; for a log message, the subsystem.",
        target: Text "What the call worked on; for a log message, its text.",
        path: PathTime { share "Share of the window." },
        calls: Number "Number of calls charged with the time.",
        resolved: Flag "False for a wait that nothing in the trace ended.",
        tag: Text "polled: work that a process waited for by polling; poll-lag: the time from its end to the next check; idle: a server waited for its clients.",
        lines: Lines {
            first_line "Line of the first call; only in aggregated rows, like the following columns.",
            last_line "Line of the last call.",
        },
        targets: Number "Number of different targets combined.",
        processes: Number "Number of different processes combined.",
        pieces: Number "Number of rows of the finest partition combined.",
    }
}

/// Minimum number of pieces of a group that all cores aggregate together.
const MIN_LARGE: usize = 1 << 15;
/// Number of its pieces that a core aggregates at a time.
const AT_ONCE: usize = 1 << 13;

/// Runs a query on the partition. The largest groups come first.
///
/// Columns that are not group keys have a value if all pieces of the group share it.
pub fn group_by(trace: &Trace, pieces: &Pieces, query: &GroupQuery) -> Table {
    let Some(keys) = &query.by else {
        return rows(trace, pieces, &finest(trace, pieces, query), None);
    };
    let mut groups = match of_processes::largest(trace, pieces, query, keys) {
        Some((order, bounds)) => folded(trace, pieces, &PieceNumbers::These(order), &bounds, keys),
        None => grouped(trace, pieces, chosen(trace, pieces, query), keys),
    };
    groups.retain(|group| group.exclusive_ns >= query.at_least_ns);
    // Ties are ordered by the first piece, which is by task and then by first event.
    let most = query.most.unwrap_or(usize::MAX);
    if most < groups.len() {
        groups.select_nth_unstable_by_key(most, order);
        groups.truncate(most);
    }
    groups.sort_unstable_by_key(order);
    table(trace, pieces, &groups, true, None)
}

fn order(group: &Aggregate) -> (Reverse<i64>, u32) {
    (Reverse(group.exclusive_ns), group.first)
}

/// The numbers of the selected pieces without grouping, the largest first, for [`rows`].
pub fn finest(trace: &Trace, pieces: &Pieces, query: &GroupQuery) -> Vec<u32> {
    let chosen = chosen(trace, pieces, query);
    let mut order: Vec<(Reverse<i64>, u32)> = chosen
        .at(0..chosen.len())
        .map(|at| (Reverse(pieces.all[at as usize].exclusive_ns), at))
        .collect();
    order.retain(|(Reverse(ns), _)| *ns >= query.at_least_ns);
    let most = query.most.unwrap_or(usize::MAX);
    if most < order.len() {
        order.select_nth_unstable(most);
        order.truncate(most);
    }
    order.par_sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}

/// Returns single pieces as rows, with all columns or only the wanted ones.
pub fn rows(trace: &Trace, pieces: &Pieces, numbers: &[u32], columns: Option<&[String]>) -> Table {
    let groups: Vec<Aggregate> = numbers
        .iter()
        .map(|&at| Aggregate::alone(pieces, at))
        .collect();
    table(trace, pieces, &groups, false, columns)
}

/// The selected pieces, in order. With a limit on groups, pieces of smaller groups may be absent.
fn chosen(trace: &Trace, pieces: &Pieces, query: &GroupQuery) -> PieceNumbers {
    let within = ScopeFilter::new(trace, &query.within);
    // Every piece has a positive time.
    if reaching::most_ns(trace, pieces, &within) == 0 {
        return PieceNumbers::These(Vec::new());
    }
    let apart_from: Vec<ScopeFilter> = query
        .apart_from
        .iter()
        .map(|scope| ScopeFilter::new(trace, scope))
        .collect();
    let has = |piece: &Piece| {
        within.has(trace, piece) && !apart_from.iter().any(|filter| filter.has(trace, piece))
    };
    let fits = |at: &u32| has(&pieces.all[*at as usize]);
    if query.at_least_ns > 0 && query.by.is_some() {
        let mut numbers = reaching::reaching(trace, pieces, query, &within);
        // Whole buckets were chosen.
        if !within.matches_whole_buckets() || !apart_from.is_empty() {
            numbers = numbers.into_par_iter().filter(fits).collect();
        }
        reaching::retain_large_targets(trace, pieces, query, &mut numbers);
        return PieceNumbers::These(numbers);
    }
    if within.only.iter().any(|(key, _)| key.is_of_task()) {
        let tasks = trace
            .tasks
            .keys()
            .filter(|&task| within.may_have_task(trace, task));
        return PieceNumbers::These(
            tasks
                .flat_map(|task| pieces.of_task(task))
                .filter(fits)
                .collect(),
        );
    }
    let has_all = query.within == Scope::default() && apart_from.is_empty();
    let keys = query
        .by
        .as_deref()
        .filter(|keys| !keys.iter().any(|&key| differs_within_bucket(key)));
    let most = query.most.zip(keys);
    if has_all && most.is_none() {
        return PieceNumbers::All(pieces.all.len());
    }
    let (whole, partial): (Vec<&ScopeFilter>, Vec<_>) = apart_from
        .iter()
        .partition(|filter| filter.matches_whole_buckets());
    let may_have = |piece: &Piece| {
        within.may_have(trace, piece, differs_within_bucket)
            && !whole.iter().any(|filter| filter.has(trace, piece))
    };
    let buckets = pieces.buckets(trace);
    let mut of_buckets = buckets.such(&pieces.all, may_have);
    let has_whole_buckets = within.matches_whole_buckets() && partial.is_empty();
    if let Some((most, keys)) = most.filter(|_| has_whole_buckets) {
        buckets.keep_largest_groups(trace, &pieces.all, keys, most, &mut of_buckets);
        if has_all && of_buckets.iter().all(|&is_chosen| is_chosen) {
            return PieceNumbers::All(pieces.all.len());
        }
    }
    let numbers = buckets.pieces_of(&of_buckets);
    if has_whole_buckets {
        return PieceNumbers::These(numbers);
    }
    PieceNumbers::These(numbers.into_par_iter().filter(fits).collect())
}

fn grouped(
    trace: &Trace,
    pieces: &Pieces,
    chosen: PieceNumbers,
    keys: &[GroupKey],
) -> Vec<Aggregate> {
    let (order, bounds) = in_groups(trace, pieces, chosen, keys);
    folded(trace, pieces, &order, &bounds, keys)
}

fn folded(
    trace: &Trace,
    pieces: &Pieces,
    order: &PieceNumbers,
    bounds: &[usize],
    keys: &[GroupKey],
) -> Vec<Aggregate> {
    let folding = Aggregator::new(trace, pieces, keys);
    let of_group = |seen: &mut _, bounds: &[usize]| {
        // All cores aggregate these, one after the other.
        let places = if is_large(bounds) {
            bounds[0]..bounds[0] + 1
        } else {
            bounds[0]..bounds[1]
        };
        folding.folded(order, places, seen)
    };
    let mut groups: Vec<Aggregate> = bounds
        .par_windows(2)
        .map_init(|| folding.seen(), of_group)
        .collect();
    let mut large = groups
        .iter_mut()
        .zip(bounds.windows(2))
        .filter(|(_, bounds)| is_large(bounds))
        .peekable();
    if large.peek().is_some() {
        let mut seen = folding.seen();
        large.for_each(|(group, bounds)| {
            *group = folding.folded_in_parts(order, bounds[0]..bounds[1], AT_ONCE, &mut seen)
        });
    }
    groups
}

fn is_large(bounds: &[usize]) -> bool {
    bounds[1] - bounds[0] >= MIN_LARGE
}

fn table(
    trace: &Trace,
    pieces: &Pieces,
    groups: &[Aggregate],
    is_folded: bool,
    wanted: Option<&[String]>,
) -> Table {
    let first = |group: &Aggregate| &pieces.all[group.first as usize];
    let capture_of = |group: &Aggregate| trace.tasks[first(group).task].capture;
    let share = |group: &Aggregate| {
        let wall_ns = pieces.wall_ns(group.shares(GroupKey::Capture).then(|| capture_of(group)));
        (wall_ns > 0).then(|| group.exclusive_ns as f64 / wall_ns as f64)
    };
    let id = |key: GroupKey, of: fn(&Task) -> i32| {
        some_ints(
            groups
                .iter()
                .map(|group| {
                    if group.shares(key) {
                        of(&trace.tasks[first(group).task])
                    } else {
                        NO_ID
                    }
                })
                .map(|id| if id == NO_ID { NO_NS } else { i64::from(id) }),
        )
    };
    let text = |key: GroupKey, of: fn(&Trace, &Piece) -> Text| {
        text_column(
            trace,
            groups.iter().map(|group| {
                if group.shares(key) {
                    of(trace, first(group))
                } else {
                    Text::NONE
                }
            }),
        )
    };
    let class = |group: &Aggregate| group.shares(GroupKey::Class).then(|| first(group).class);
    let capture = |group: &Aggregate| {
        if group.shares(GroupKey::Capture) {
            i64::from(capture_of(group))
        } else {
            NO_NS
        }
    };
    let tag = |group: &Aggregate| {
        group
            .shares(GroupKey::Tag)
            .then(|| first(group).tag.name())
            .flatten()
    };
    let makers: [(&str, &dyn Fn() -> Values); 14] = [
        ("capture", &|| some_ints(groups.iter().map(capture))),
        ("pid", &|| id(GroupKey::Pid, |task| task.pid)),
        ("tid", &|| id(GroupKey::Tid, |task| task.tid)),
        ("program", &|| {
            text(GroupKey::Program, |_, piece| piece.program)
        }),
        ("class", &|| {
            texts(groups.iter().map(|group| class(group).map(Class::name)))
        }),
        ("class_name", &|| {
            texts(groups.iter().map(|group| class(group).map(class_name)))
        }),
        ("syscall", &|| {
            text(GroupKey::Syscall, |trace, piece| piece.name(trace).0)
        }),
        ("op", &|| {
            text(GroupKey::Op, |trace, piece| piece.name(trace).1)
        }),
        ("target", &|| {
            text(GroupKey::Target, |_, piece| piece.target)
        }),
        ("exclusive_ns", &|| {
            ints(groups.iter().map(|group| group.exclusive_ns))
        }),
        ("share", &|| {
            Values::Float(groups.iter().map(share).collect())
        }),
        ("calls", &|| ints(groups.iter().map(|group| group.calls))),
        ("resolved", &|| {
            Values::Bool(
                groups
                    .iter()
                    .map(|group| {
                        group
                            .shares(GroupKey::Resolved)
                            .then(|| first(group).resolved)
                    })
                    .collect(),
            )
        }),
        ("tag", &|| texts(groups.iter().map(tag))),
    ];
    let is_wanted =
        |name: &str| wanted.is_none_or(|wanted| wanted.iter().any(|column| column == name));
    let chosen = makers.into_iter().filter(|(name, _)| is_wanted(name));
    let mut columns: Vec<_> = chosen.map(|(name, make)| (name, make())).collect();
    if is_folded {
        columns.extend(facts_of_folding(trace, groups));
    }
    Table::new("partition", columns)
}

fn facts_of_folding(trace: &Trace, groups: &[Aggregate]) -> [(&'static str, Values); 5] {
    let line = |row: fn(&Aggregate) -> u32| {
        some_ints(groups.iter().map(move |group| match group.first_row {
            NONE => NO_NS,
            _ => i64::from(trace.events.line(row(group))),
        }))
    };
    [
        ("first_line", line(|group| group.first_row)),
        ("last_line", line(|group| group.last_row)),
        ("targets", ints(groups.iter().map(|group| group.targets))),
        (
            "processes",
            ints(groups.iter().map(|group| group.processes)),
        ),
        ("pieces", ints(groups.iter().map(|group| group.pieces))),
    ]
}
