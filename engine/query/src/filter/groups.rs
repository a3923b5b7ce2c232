//! Groups of rows that cost enough.

use rustc_hash::FxHashMap;
use trace::store::event::NONE;
use trace::store::table::{Table, Values};

/// The rows that have a cost and whose groups cost enough. Rows are grouped by the values of these
/// columns, or not at all if there are no columns. The minimum cost is given per capture.
pub fn reaching(
    table: &Table,
    rows: &[u32],
    cost: &str,
    group: &[String],
    least: &[i64],
) -> Vec<u32> {
    let (costs, captures) = (table.column(cost), table.column("capture"));
    let cost = |row: u32| match costs {
        Some(Values::Int(values)) => values.get(row as usize).copied().flatten().unwrap_or(0),
        Some(Values::Float(values)) => {
            values.get(row as usize).copied().flatten().unwrap_or(0.0) as i64
        }
        _ => 0,
    };
    let capture = |row: u32| match captures {
        Some(Values::Int(captures)) => captures.get(row as usize).copied().flatten(),
        _ => None,
    };
    let enough = |row: u32| {
        least
            .get(capture(row).unwrap_or(0) as usize)
            .copied()
            .unwrap_or(0)
    };
    let rows = rows.iter().copied().filter(|&row| cost(row) > 0);
    if group.is_empty() {
        return rows.filter(|&row| cost(row) >= enough(row)).collect();
    }
    let columns: Vec<&Values> = group.iter().filter_map(|name| table.column(name)).collect();
    let mut sums: FxHashMap<Vec<Cell<'_>>, i64> = FxHashMap::default();
    let key = |row: u32| {
        columns
            .iter()
            .map(|values| cell(values, row as usize))
            .collect::<Vec<_>>()
    };
    for row in rows.clone() {
        let sum = sums.entry(key(row)).or_insert(0);
        *sum = sum.saturating_add(cost(row));
    }
    rows.filter(|&row| sums.get(&key(row)).is_some_and(|&sum| sum >= enough(row)))
        .collect()
}

/// A value as a part of a group key.
#[derive(PartialEq, Eq, Hash)]
enum Cell<'table> {
    Missing,
    Number(i64),
    List(&'table [String]),
}

fn cell(values: &Values, row: usize) -> Cell<'_> {
    let number = match values {
        Values::Int(values) => values.get(row).copied().flatten(),
        Values::Bool(values) => values.get(row).copied().flatten().map(i64::from),
        // Adding 0.0 makes both zeros equal.
        Values::Float(values) => values
            .get(row)
            .copied()
            .flatten()
            .map(|value| (value + 0.0).to_bits() as i64),
        Values::Text { keys, .. } => keys
            .get(row)
            .filter(|&&key| key != NONE)
            .map(|&key| i64::from(key)),
        Values::List(values) => {
            return values
                .get(row)
                .map_or(Cell::Missing, |list| Cell::List(list));
        }
    };
    number.map_or(Cell::Missing, Cell::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::store::table::{ints, texts};

    #[test]
    fn rows_are_kept_that_cost_enough_together() {
        let columns = vec![
            ("capture", ints([0, 0, 0, 1, 1])),
            (
                "program",
                texts([Some("a"), Some("b"), Some("a"), Some("a"), None]),
            ),
            ("exclusive_ns", ints([6, 9, 5, 3, 2])),
        ];
        let table = Table::new("io", columns);
        let kept = |group: &[&str], least: &[i64]| {
            let group: Vec<String> = group.iter().map(|&name| name.to_owned()).collect();
            reaching(&table, &[0, 1, 2, 3, 4], "exclusive_ns", &group, least)
        };
        assert_eq!(kept(&["capture", "program"], &[10, 3]), [0, 2, 3]);
        assert_eq!(kept(&[], &[6, 3]), [0, 1, 3]);
        assert_eq!(kept(&["capture"], &[20, 6]), [0, 1, 2]);
    }
}
