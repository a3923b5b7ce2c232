//! The tree of processes: its rows, their order, and processes that are shown together.
//!
//! ```text
//! make ──┬─ sh -c …              depth 1
//!        │    └─ cc1 a.c         depth 2
//!        └─ 3 × true             three children without children that ran the same command and ended alike
//! ```
//! A capture may have a million processes, and a screen shows a thousand rows.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use trace::store::event::NONE;
use trace::store::table::{Table, TextColumn, Values};

/// Which processes a tree omits or takes together.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeQuery {
    /// All rows in the order of the tables instead of a tree.
    pub is_flat: bool,
    /// Processes below this level are omitted.
    pub max_depth: Option<usize>,
    /// Processes with a shorter lifetime are omitted, unless a descendant lived that long.
    pub min_ns: i64,
    /// The least number of children that become one row; none do if it is missing.
    pub min_folded: Option<usize>,
    /// Rows that are described; the others are only counted.
    pub most: usize,
}

/// The tables that a tree is made of. Their rows are numbered one after the other.
#[derive(Clone, Copy)]
pub struct TreeTables<'table> {
    /// One row per process.
    pub processes: &'table Table,
    /// One row per task; threads are shown below their processes, if there is such a table.
    pub tasks: Option<&'table Table>,
}

/// A row of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeRow {
    /// The row in the tables; of those taken together, the first.
    pub row: usize,
    /// Its level; 0 at the top.
    pub depth: usize,
    /// The rows of all processes taken together. Empty for a single process.
    pub folded: Vec<usize>,
}

/// The first rows of a tree.
#[derive(PartialEq, Eq, Debug)]
pub struct Tree {
    /// As many as requested.
    pub rows: Vec<TreeRow>,
    /// The number of all rows.
    pub number: usize,
    /// The number of processes and threads, also of those omitted.
    pub all: usize,
}

/// Build a tree.
pub fn tree(tables: TreeTables<'_>, query: &TreeQuery) -> Tree {
    let kin = Kin::new(tables);
    let all = kin.rows.len();
    let kept = if query.is_flat {
        kin.rows.iter().map(|&row| (row, 0)).collect()
    } else {
        kin.kept(query)
    };
    let groups = query
        .min_folded
        .map(|least| groups(tables.processes, &kin, &kept, least))
        .unwrap_or_default();
    let (mut rows, mut number): (Vec<TreeRow>, usize) = (Vec::new(), 0);
    let mut places: FxHashMap<u32, usize> = FxHashMap::default();
    for (at, &(row, depth)) in kept.iter().enumerate() {
        let group = groups.get(at).copied().filter(|&group| group != NONE);
        if let Some(group) = group {
            match places.entry(group) {
                Entry::Occupied(place) => {
                    rows.get_mut(*place.get())
                        .into_iter()
                        .for_each(|first| first.folded.push(row as usize));
                    continue;
                }
                Entry::Vacant(place) => place.insert(number),
            };
        }
        if number < query.most {
            let folded = group.map_or_else(Vec::new, |_| vec![row as usize]);
            rows.push(TreeRow {
                row: row as usize,
                depth,
                folded,
            });
        }
        number += 1;
    }
    Tree { rows, number, all }
}

/// The sum of a column over some rows; missing values count as 0.
pub fn sum_of(table: &Table, column: &str, rows: &[usize]) -> i64 {
    let values = int_column(table, column);
    rows.iter().filter_map(|&row| *values.get(row)?).sum()
}

/// The values of an integer column; empty if the table does not have it.
pub fn int_column<'table>(table: &'table Table, name: &str) -> &'table [Option<i64>] {
    match table.column(name) {
        Some(Values::Int(values)) => values,
        _ => &[],
    }
}

/// The relations of processes and threads, by their rows in the tables.
struct Kin {
    rows: Vec<u32>,
    wall_ns: Vec<i64>,
    /// The row of each parent; [`NONE`] at the top.
    parents: Vec<u32>,
    /// The first child in the order of births, and the next one of the same parent.
    first_child: Vec<u32>,
    next: Vec<u32>,
    /// The first one at the top.
    first: u32,
}

impl Kin {
    fn new(TreeTables { processes, tasks }: TreeTables<'_>) -> Kin {
        let [numbers, parents, births, walls] =
            ["task", "parent_task", "birth_ns", "wall_ns"].map(|name| int_column(processes, name));
        let length = numbers.len() + tasks.map_or(0, Table::len);
        let by_task: FxHashMap<i64, u32> = (0..)
            .zip(numbers)
            .filter_map(|(row, &task)| task.map(|task| (task, row)))
            .collect();
        let parent = |(row, parent): (u32, &Option<i64>)| {
            let parent = parent.and_then(|parent| by_task.get(&parent)).copied();
            parent.filter(|&parent| parent != row).unwrap_or(NONE)
        };
        let mut kin = Kin {
            rows: (0..numbers.len() as u32).collect(),
            wall_ns: walls.iter().map(|wall_ns| wall_ns.unwrap_or(0)).collect(),
            parents: (0..).zip(parents).map(parent).collect(),
            first_child: vec![NONE; length],
            next: vec![NONE; length],
            first: NONE,
        };
        // Of births at the same moment, the task that came first.
        let mut born: Vec<(i64, Option<i64>, u32)> = kin
            .rows
            .iter()
            .map(|&row| {
                (
                    births[row as usize].unwrap_or(0),
                    numbers[row as usize],
                    row,
                )
            })
            .collect();
        tasks
            .into_iter()
            .for_each(|tasks| kin.add_threads(processes, tasks, &mut born));
        born.sort_unstable();
        for &(_, _, row) in born.iter().rev() {
            let before = kin
                .first_child
                .get_mut(kin.parents[row as usize] as usize)
                .unwrap_or(&mut kin.first);
            kin.next[row as usize] = std::mem::replace(before, row);
        }
        kin
    }

    fn add_threads(
        &mut self,
        processes: &Table,
        tasks: &Table,
        born: &mut Vec<(i64, Option<i64>, u32)>,
    ) {
        let [captures, pids] = ["capture", "pid"].map(|name| int_column(processes, name));
        let mains: FxHashMap<_, u32> = captures.iter().zip(pids).zip(0..).collect();
        let [numbers, captures, pids, births] =
            ["task", "capture", "pid", "birth_ns"].map(|name| int_column(tasks, name));
        let [in_calls, gaps] = ["in_call_ns", "gap_ns"].map(|name| int_column(tasks, name));
        let Some(Values::Bool(are_threads)) = tasks.column("is_thread") else {
            return;
        };
        let offset = self.rows.len();
        self.wall_ns.resize(self.next.len(), 0);
        self.parents.resize(self.next.len(), NONE);
        for (at, _) in are_threads
            .iter()
            .enumerate()
            .filter(|(_, is_thread)| **is_thread == Some(true))
        {
            let Some(&main) = mains.get(&(&captures[at], &pids[at])) else {
                continue;
            };
            let row = (offset + at) as u32;
            self.rows.push(row);
            self.parents[row as usize] = main;
            let life_ns =
                births[at].map_or(0, |_| in_calls[at].unwrap_or(0) + gaps[at].unwrap_or(0));
            self.wall_ns[row as usize] = life_ns;
            born.push((births[at].unwrap_or(0), numbers[at], row));
        }
    }

    /// Those that remain with their depths, in the order of the tree. A chain of forks can have any length, and
    /// processes that claim to be each other's parents are in no tree.
    fn kept(&self, query: &TreeQuery) -> Vec<(u32, usize)> {
        let mut kept = Vec::new();
        // From the top to the current one: the row, and whether it is among those kept.
        let mut path: Vec<(u32, bool)> = Vec::new();
        let mut waiting = vec![(0, self.first)];
        while let Some((depth, row)) = waiting.pop() {
            if row == NONE {
                continue;
            }
            waiting.push((depth, self.next[row as usize]));
            waiting.push((depth + 1, self.first_child[row as usize]));
            path.truncate(depth);
            path.push((row, false));
            let is_shown = query.max_depth.is_none_or(|most| depth <= most);
            if !is_shown || self.wall_ns[row as usize] < query.min_ns {
                continue;
            }
            let first = path
                .iter()
                .rposition(|&(_, is_kept)| is_kept)
                .map_or(0, |last| last + 1);
            for (depth, (row, is_kept)) in path.iter_mut().enumerate().skip(first) {
                *is_kept = true;
                kept.push((*row, depth));
            }
        }
        kept
    }
}

/// For each of those kept, the number of a group of at least so many children without children that ran the same command
/// and ended alike; [`NONE`] for others.
fn groups(processes: &Table, kin: &Kin, kept: &[(u32, usize)], least: usize) -> Vec<u32> {
    let parents: FxHashSet<u32> = kept
        .iter()
        .map(|&(row, _)| kin.parents[row as usize])
        .collect();
    let (mut commands, codes) = (Commands::new(processes), int_column(processes, "exit_code"));
    let (signals, ends) = (
        text_column(processes, "exit_signal").0,
        int_column(processes, "death_ns"),
    );
    let (mut numbers, mut sizes) = (FxHashMap::default(), Vec::new());
    let mut number = |row: u32| {
        // Threads are in another table.
        if parents.contains(&row) || row as usize >= codes.len() {
            return NONE;
        }
        let at = row as usize;
        let key = (
            kin.parents[at],
            commands.number(at),
            signals.get(at),
            codes[at],
            ends[at].is_some(),
        );
        let number = *numbers.entry(key).or_insert(sizes.len());
        if number == sizes.len() {
            sizes.push(0);
        }
        sizes[number] += 1;
        number as u32
    };
    let mut groups: Vec<u32> = kept.iter().map(|&(row, _)| number(row)).collect();
    for group in groups
        .iter_mut()
        .filter(|group| sizes.get(**group as usize).is_none_or(|&size| size < least))
    {
        *group = NONE;
    }
    groups
}

fn text_column<'table>(table: &'table Table, name: &str) -> (&'table [u32], &'table [String]) {
    match table.column(name) {
        Some(Values::Text { keys, words }) => (keys, words),
        _ => (&[], &[]),
    }
}

/// The numbers of command lines, as they are shown.
struct Commands<'table> {
    programs: (&'table [u32], &'table [String]),
    arguments: (&'table [u32], &'table [String]),
    known: FxHashMap<(u32, u32), u32>,
    words: TextColumn,
}

impl<'table> Commands<'table> {
    fn new(processes: &'table Table) -> Commands<'table> {
        let [programs, arguments] = ["program", "argv"].map(|name| text_column(processes, name));
        Commands {
            programs,
            arguments,
            known: FxHashMap::default(),
            words: TextColumn::default(),
        }
    }

    fn number(&mut self, row: usize) -> u32 {
        let [program, argv] =
            [self.programs, self.arguments].map(|(keys, _)| keys.get(row).copied().unwrap_or(NONE));
        *self.known.entry((program, argv)).or_insert_with(|| {
            let text = |(_, words): (&[u32], &'table [String]), key: u32| {
                words.get(key as usize).map(String::as_str)
            };
            let command = shown_command(text(self.programs, program), text(self.arguments, argv));
            command.map_or(NONE, |command| self.words.number(&command))
        })
    }
}

/// The command line of a process, as `command_of` in `tracealyze/render/processes.py` shows it. If the tracer
/// truncated it, the first word is the full program.
fn shown_command(program: Option<&str>, argv: Option<&str>) -> Option<String> {
    let Some(argv) = argv.filter(|argv| !argv.is_empty()) else {
        return program.map(str::to_owned);
    };
    let first = argv.split(' ').next().unwrap_or(argv);
    let whole = first
        .strip_suffix("...")
        .and_then(|begin| program.filter(|program| program.starts_with(begin)));
    Some(whole.map_or_else(
        || argv.to_owned(),
        |program| format!("{program}{}", &argv[first.len()..]),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsers::NO_NS;
    use trace::store::table::{ints, some_ints, texts};

    /// Tasks with parents, lifetimes and commands, born in this order.
    fn table(rows: &[(i64, i64, i64, &str)]) -> Table {
        Table::new(
            "processes",
            vec![
                ("task", ints(rows.iter().map(|row| row.0))),
                ("parent_task", some_ints(rows.iter().map(|row| row.1))),
                ("birth_ns", ints((0..).take(rows.len()))),
                ("wall_ns", ints(rows.iter().map(|row| row.2))),
                ("death_ns", ints(rows.iter().map(|row| row.2))),
                ("exit_code", ints(rows.iter().map(|_| 0))),
                ("argv", texts(rows.iter().map(|row| Some(row.3)))),
            ],
        )
    }

    const ROWS: [(i64, i64, i64, &str); 7] = [
        (10, NO_NS, 90, "make"),
        (11, 10, 5, "true"),
        (12, 10, 50, "sh"),
        (13, 12, 40, "cc1"),
        (14, 10, 6, "true"),
        (15, 10, 7, "true"),
        // Its own parent.
        (16, 16, 1, "alone"),
    ];

    fn shown(query: &TreeQuery) -> (Vec<(usize, usize, usize)>, usize) {
        let found = tree(
            TreeTables {
                processes: &table(&ROWS),
                tasks: None,
            },
            query,
        );
        (
            found
                .rows
                .iter()
                .map(|row| (row.row, row.depth, row.folded.len()))
                .collect(),
            found.number,
        )
    }

    #[test]
    fn processes_follow_their_parents_in_order_of_birth() {
        let all = TreeQuery {
            most: 99,
            ..TreeQuery::default()
        };
        let rows = vec![
            (0, 0, 0),
            (1, 1, 0),
            (2, 1, 0),
            (3, 2, 0),
            (4, 1, 0),
            (5, 1, 0),
            (6, 0, 0),
        ];
        assert_eq!(shown(&all), (rows.clone(), 7));
        assert_eq!(
            shown(&TreeQuery { most: 2, ..all }),
            (rows[..2].to_vec(), 7)
        );
        assert_eq!(
            shown(&TreeQuery {
                max_depth: Some(0),
                ..all
            }),
            (vec![(0, 0, 0), (6, 0, 0)], 2)
        );
        assert_eq!(
            shown(&TreeQuery { min_ns: 30, ..all }),
            (vec![(0, 0, 0), (2, 1, 0), (3, 2, 0)], 3)
        );
    }

    #[test]
    fn children_that_are_alike_are_one_row() {
        let query = TreeQuery {
            min_folded: Some(3),
            most: 99,
            ..TreeQuery::default()
        };
        assert_eq!(
            shown(&query),
            (
                vec![(0, 0, 0), (1, 1, 3), (2, 1, 0), (3, 2, 0), (6, 0, 0)],
                5
            )
        );
        let rows = tree(
            TreeTables {
                processes: &table(&ROWS),
                tasks: None,
            },
            &query,
        )
        .rows;
        assert_eq!(sum_of(&table(&ROWS), "wall_ns", &rows[1].folded), 5 + 6 + 7);
        assert_eq!(
            shown(&TreeQuery {
                min_folded: Some(4),
                ..query
            })
            .1,
            7
        );
        assert_eq!(shown(&TreeQuery { most: 1, ..query }), (vec![(0, 0, 0)], 5));
    }

    #[test]
    fn a_truncated_command_begins_with_its_program() {
        assert_eq!(
            shown_command(Some("/bin/python3"), Some("/bin/pyth... -S x")).as_deref(),
            Some("/bin/python3 -S x")
        );
        assert_eq!(
            shown_command(Some("/bin/sh"), Some("sh -c x")).as_deref(),
            Some("sh -c x")
        );
        assert_eq!(
            shown_command(Some("/bin/sh"), None).as_deref(),
            Some("/bin/sh")
        );
        assert_eq!(shown_command(None, None), None);
    }
}
