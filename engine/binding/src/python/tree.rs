//! The tree of processes for Python.

use super::detached;
use super::table::PyTable;
use pyo3::prelude::*;
use report::tables::tree::{TreeQuery, TreeRow, TreeTables, int_column, sum_of, tree as tree_of};
use rustc_hash::FxHashMap;
use trace::store::table::Table;

/// What is added up for processes that are taken together.
const SUMMED: [&str; 7] = [
    "wall_ns",
    "exclusive_ns",
    "in_call_ns",
    "gap_ns",
    "stopped_ns",
    "calls",
    "failed",
];
/// The same column of the table of waits.
const INCLUSIVE: &str = "inclusive_ns";

/// A row: its number in the table of processes or in that of tasks, its number in the table of waits, and its depth.
type Place = (Option<usize>, Option<usize>, Option<usize>, usize);
/// The number of processes taken together, and their sums by names of columns.
type Folded = (usize, Vec<(&'static str, i64)>);
type Rows = Vec<(Place, Option<Folded>)>;

/// The first `most` rows of the tree of `processes`, with threads if there is a table of `tasks`; the number of all rows,
/// and of all processes and threads.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
#[pyo3(signature = (processes, chain, tasks, *, is_flat, max_depth, min_ns, min_folded, most))]
pub fn tree(
    py: Python<'_>,
    processes: &PyTable,
    chain: &PyTable,
    tasks: Option<&PyTable>,
    is_flat: bool,
    max_depth: Option<usize>,
    min_ns: i64,
    min_folded: Option<usize>,
    most: usize,
) -> PyResult<(Rows, usize, usize)> {
    let (processes, chain) = (processes.whole()?, chain.whole()?);
    let tasks = tasks.map(PyTable::whole).transpose()?;
    detached(py, || {
        let tables = TreeTables {
            processes: &processes,
            tasks: tasks.as_deref(),
        };
        let found = tree_of(
            tables,
            &TreeQuery {
                is_flat,
                max_depth,
                min_ns,
                min_folded,
                most,
            },
        );
        let links = links(&processes, &chain);
        let rows = found
            .rows
            .iter()
            .map(|row| described(row, &processes, &chain, &links));
        Ok((rows.collect(), found.number, found.all))
    })
}

/// The row of each process in the table of waits.
fn links(processes: &Table, chain: &Table) -> Vec<Option<usize>> {
    let tasks = int_column(chain, "task");
    let rows: FxHashMap<Option<i64>, usize> = tasks.iter().copied().zip(0..).collect();
    int_column(processes, "task")
        .iter()
        .map(|task| rows.get(task).copied())
        .collect()
}

fn described(
    TreeRow { row, depth, folded }: &TreeRow,
    processes: &Table,
    chain: &Table,
    links: &[Option<usize>],
) -> (Place, Option<Folded>) {
    let link = |row: usize| links.get(row).copied().flatten();
    let task = row.checked_sub(processes.len());
    let place = (task.is_none().then_some(*row), task, link(*row), *depth);
    let sums = || {
        let waits: Vec<usize> = folded.iter().filter_map(|&row| link(row)).collect();
        let own = SUMMED
            .iter()
            .map(|&column| (column, sum_of(processes, column, folded)));
        own.chain([(INCLUSIVE, sum_of(chain, INCLUSIVE, &waits))])
            .collect()
    };
    (place, (!folded.is_empty()).then(|| (folded.len(), sums())))
}
