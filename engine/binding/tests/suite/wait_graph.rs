//! Waits between processes, and the slack of each process.

use path::critical_path::attribution::Attribution;
use path::critical_path::wait_graph::chain;
use path::critical_path::window::{WindowChoice, windows};
use path::waits::wakers::Wakers;
use query::selection;
use query::selection::Selection;
use trace::store::table::Values;
use trace::testing::{TaskPlan, build, task};

/// Per process: inclusive time, id and time of the longest wait, slack.
type Row = (i64, Option<i64>, Option<i64>, Option<i64>);

fn rows(plans: Vec<TaskPlan>) -> Vec<Row> {
    let trace = build(plans);
    let all = Selection::new(
        &trace,
        &selection::Criteria::default(),
        &query::cache::QueryCache::default(),
    )
    .unwrap_or_else(|_| panic!("all of it"));
    let wakers = Wakers::new(&trace);
    let attribution =
        Attribution::walked(&trace, &wakers, &windows(&trace, &WindowChoice::default()));
    let table = chain(&trace, &wakers, attribution.walk_stats(), &all);
    let column = |name: &str| match table.column(name) {
        Some(Values::Int(values)) => values.clone(),
        _ => panic!("no column {name}"),
    };
    let (inclusive, pid, ns, slack) = (
        column("inclusive_ns"),
        column("waits_for_pid"),
        column("waits_for_ns"),
        column("slack_ns"),
    );
    (0..inclusive.len())
        .map(|at| (inclusive[at].unwrap_or(0), pid[at], ns[at], slack[at]))
        .collect()
}

fn root() -> TaskPlan {
    task(1).exec(0, 1, "/bin/root")
}

fn child(tid: i32, from: i64, to: i64) -> TaskPlan {
    task(tid).call("read", from, from + 1).exit(to)
}

#[test]
fn wait_graph_lists_waits_and_slack() {
    let cases: Vec<(&str, Vec<TaskPlan>, Vec<Row>)> = vec![
        (
            "a waiter includes its child's time, and the child has no slack",
            vec![
                root().fork(1, 10, 2).wait4(10, 95, 2).exit(100),
                child(2, 10, 90),
            ],
            vec![(100, Some(2), Some(80), None), (80, None, None, Some(0))],
        ),
        (
            "a child that ended before the wait for it has slack until then",
            vec![
                root()
                    .fork(1, 10, 2)
                    .call("read", 10, 60)
                    .wait4(60, 61, 2)
                    .exit(100),
                child(2, 10, 30),
            ],
            vec![(100, None, None, None), (0, None, None, Some(30))],
        ),
        (
            "of two parallel children the faster one has slack until the slower one ends",
            vec![
                root()
                    .fork(1, 10, 2)
                    .fork(10, 20, 3)
                    .wait4(20, 50, 2)
                    .wait4(50, 90, 3)
                    .exit(100),
                child(2, 10, 50),
                child(3, 20, 90),
            ],
            vec![
                (100, Some(3), Some(70), None),
                (0, None, None, Some(40)),
                (70, None, None, Some(0)),
            ],
        ),
        (
            "a grandchild is waited for through its parent",
            vec![
                root().fork(1, 10, 2).wait4(10, 90, 2).exit(100),
                task(2)
                    .call("read", 10, 12)
                    .fork(12, 20, 3)
                    .wait4(20, 80, 3)
                    .exit(90),
                child(3, 20, 80),
            ],
            vec![
                (100, Some(2), Some(80), None),
                (80, Some(3), Some(60), Some(0)),
                (60, None, None, Some(0)),
            ],
        ),
        (
            "what waits beside the path has the slack of who waits for it, which goes on for 10 before it ends",
            vec![
                root()
                    .fork(1, 2, 2)
                    .fork(2, 3, 4)
                    .wait4(10, 90, 4)
                    .wait4(90, 91, 2)
                    .exit(100),
                task(2)
                    .call("read", 3, 4)
                    .fork(4, 5, 3)
                    .wait4(5, 40, 3)
                    .exit(50),
                child(3, 5, 40),
                child(4, 3, 90),
            ],
            vec![
                (100, Some(4), Some(80), None),
                (0, None, None, Some(40)),
                (0, None, None, Some(40)),
                (80, None, None, Some(0)),
            ],
        ),
        (
            "a child whose end lets the waiter start another one has no more slack than that",
            vec![
                root()
                    .fork(1, 2, 2)
                    .fork(2, 3, 5)
                    .wait4(5, 71, 2)
                    .wait4(71, 99, 5)
                    .exit(100),
                task(2)
                    .call("read", 3, 4)
                    .fork(4, 5, 3)
                    .wait4(5, 20, 3)
                    .fork(20, 25, 4)
                    .wait4(25, 70, 4)
                    .exit(71),
                child(3, 5, 20),
                child(4, 25, 70),
                child(5, 3, 99),
            ],
            vec![
                (100, Some(5), Some(94), None),
                (0, None, None, Some(28)),
                (0, None, None, Some(28)),
                (0, None, None, Some(28)),
                (94, None, None, Some(0)),
            ],
        ),
        (
            "a process with output that another process reads has no known slack",
            vec![
                root()
                    .fork(1, 5, 2)
                    .fork(5, 10, 3)
                    .wait4(10, 20, 2)
                    .wait4(20, 90, 3)
                    .exit(100),
                task(2).call("write", 5, 20).on("pipe:[7]").exit(20),
                task(3)
                    .call("read", 10, 20)
                    .on("pipe:[7]")
                    .returns(0)
                    .exit(90),
            ],
            vec![
                (100, Some(3), Some(80), None),
                (10, None, None, None),
                (80, Some(2), Some(10), Some(0)),
            ],
        ),
        (
            "a child without a waiter has no slack",
            vec![root().fork(1, 10, 2).exit(100), child(2, 10, 30)],
            vec![(100, None, None, None), (0, None, None, None)],
        ),
    ];
    for (claim, plans, expected) in cases {
        assert_eq!(rows(plans), expected, "{claim}");
    }
}
