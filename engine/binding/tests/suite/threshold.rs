//! Tables with a threshold: each row that reaches it, alone or in its group, is present and equal to the row without a
//! threshold.

use crate::random::{claimed, scripts};
use detect::tables::{all, made};
use kit::table_support::threshold::CostScope;
use kit::table_support::threshold::Threshold;
use kit::testing::look;
use proptest::prelude::*;
use query::filter::groups::reaching;
use trace::store::table::Table;
use trace::testing::cells;

const GROUPS: [(CostScope, &[&str]); 4] = [
    (CostScope::Call, &[]),
    (CostScope::Process, &["capture", "pid"]),
    (CostScope::Program, &["capture", "program"]),
    (CostScope::Capture, &["capture"]),
];

/// The rows that reach the threshold, as text.
fn reached(table: &Table, group: &[&str], least_ns: i64) -> Vec<String> {
    let all: Vec<u32> = (0..table.len() as u32).collect();
    let group: Vec<String> = group.iter().map(|&name| name.to_owned()).collect();
    let columns: Vec<&str> = table
        .columns
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let cells = cells(table, &columns);
    reaching(table, &all, "exclusive_ns", &group, &[least_ns])
        .iter()
        .map(|&row| cells[row as usize].clone())
        .collect()
}

proptest! {
    #[test]
    fn a_floor_leaves_out_nothing_that_reaches_it(scripts in scripts(), share in 1i64..60) {
        let trace = claimed(&scripts, true);
        look(&trace, |context| {
            let wall_ns: i64 = context.windows.iter().map(|window| window.wall_ns()).sum();
            let least_ns = (wall_ns * share / 100).max(1);
            for table in all().filter(|table| table.schema.name != "captures") {
                let all = (table.build)(context).table;
                for (within, group) in GROUPS {
                    let floor = Threshold { within, least_ns: vec![least_ns] };
                    let some = made(context, table, Some(&floor)).table;
                    prop_assert!(some.len() <= all.len());
                    prop_assert_eq!(reached(&some, group, least_ns), reached(&all, group, least_ns), "{}", table.schema.name);
                }
            }
            Ok(())
        })?;
    }
}
