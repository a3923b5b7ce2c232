use crate::event_rows::EVENTS;
use crate::filter::events::EventFilter;
use crate::filter::*;
use parsers::NO_NS;
use trace::store::table::{Values, ints, some_ints, texts};
use trace::testing::{build, task};

fn table() -> Table {
    let columns = vec![
        ("calls", ints([1, 20, 300])),
        ("dur_ns", some_ints([1_000, NO_NS, 3_000])),
        ("share", Values::Float(vec![Some(0.5), None, Some(0.1)])),
        (
            "resolved",
            Values::Bool(vec![Some(true), Some(false), None]),
        ),
        (
            "target",
            texts([Some("/lib/a.so"), Some("/etc/passwd"), None]),
        ),
        ("other", texts([Some("/lib/a.so"), Some("/x"), Some("/y")])),
        (
            "body",
            Values::List(vec![
                vec!["read".to_owned(), "write".to_owned()],
                vec!["read".to_owned()],
                vec![],
            ]),
        ),
    ];
    Table::new("loops", columns)
}

fn column(name: &str) -> Box<Expr> {
    Box::new(Expr::Column(name.to_owned()))
}

fn text(text: &str) -> Box<Expr> {
    Box::new(Expr::Text(text.to_owned()))
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).unwrap()
}

#[test]
fn rows_are_those_that_meet_the_condition_and_missing_meets_none() {
    use Comparison::*;
    let half = Expr::Calculate(Operation::Over, column("calls"), Box::new(Expr::Int(2)));
    let cases = [
        (
            Expr::Compare(AtLeast, column("calls"), Box::new(Expr::Int(20))),
            vec![1, 2],
        ),
        (
            Expr::Compare(Unequal, column("dur_ns"), Box::new(Expr::Int(1_000))),
            vec![2],
        ),
        (
            Expr::Not(Box::new(Expr::Compare(
                Equal,
                column("dur_ns"),
                Box::new(Expr::Int(1_000)),
            ))),
            vec![1, 2],
        ),
        (
            Expr::Compare(Less, column("share"), Box::new(Expr::Float(0.5))),
            vec![2],
        ),
        (
            Expr::Compare(Equal, Box::new(half), Box::new(Expr::Float(0.5))),
            vec![0],
        ),
        (
            Expr::Compare(Equal, text("/lib/a.so"), column("target")),
            vec![0],
        ),
        (
            Expr::Compare(Unequal, column("target"), column("other")),
            vec![1],
        ),
        (
            Expr::Compare(Equal, column("resolved"), Box::new(Expr::Bool(false))),
            vec![1],
        ),
        (Expr::Column("resolved".to_owned()), vec![0]),
        (
            Expr::Matches(column("target"), pattern("[.]so$"), true),
            vec![0],
        ),
        (
            Expr::Matches(column("target"), pattern("[.]so$"), false),
            vec![1],
        ),
        (
            Expr::Matches(column("body"), pattern("^wr"), false),
            vec![1],
        ),
        (
            Expr::Compare(Equal, column("body"), text("read")),
            vec![0, 1],
        ),
        (
            Expr::Among(
                column("calls"),
                vec![Expr::Int(1), Expr::Float(300.0)],
                true,
            ),
            vec![0, 2],
        ),
        (
            Expr::Among(column("target"), vec![*text("/lib/a.so")], false),
            vec![1],
        ),
        (Expr::Missing(column("body")), vec![2]),
        (Expr::And(vec![]), vec![0, 1, 2]),
        (
            Expr::Or(vec![
                Expr::Missing(column("share")),
                Expr::Missing(column("target")),
            ]),
            vec![1, 2],
        ),
    ];
    for (condition, expected) in cases {
        assert_eq!(rows(&table(), &condition), Ok(expected), "{condition:?}");
    }
}

#[test]
fn whole_numbers_are_exact_until_they_no_longer_fit() {
    let large = i64::MAX - 1;
    let table = Table::new("gaps", vec![("start_ns", ints([large, i64::MAX]))]);
    let equal = Expr::Compare(
        Comparison::Equal,
        column("start_ns"),
        Box::new(Expr::Int(large)),
    );
    assert_eq!(rows(&table, &equal), Ok(vec![0]));
    let sum = Expr::Calculate(Operation::Plus, column("start_ns"), column("start_ns"));
    let more = Expr::Compare(Comparison::More, Box::new(sum), Box::new(Expr::Int(0)));
    assert_eq!(rows(&table, &more), Ok(vec![0, 1]));
    let by_nothing = Expr::Calculate(Operation::Over, column("start_ns"), Box::new(Expr::Int(0)));
    assert_eq!(
        rows(&table, &Expr::Missing(Box::new(by_nothing))),
        Ok(vec![0, 1])
    );
}

#[test]
fn what_does_not_fit_is_said() {
    let names = |name: &str| Expr::Missing(column(name));
    assert_eq!(
        rows(&table(), &names("duration")),
        Err(Unfit::Column("duration".to_owned()))
    );
    let mixed = Expr::Compare(Comparison::Equal, column("target"), Box::new(Expr::Int(1)));
    assert!(matches!(rows(&table(), &mixed), Err(Unfit::Types(_))));
    assert!(matches!(
        rows(&table(), &column("calls")),
        Err(Unfit::Types(_))
    ));
    assert!(Pattern::new("(a").is_err());
    assert!(Pattern::new("(a{1000}){1000}").is_err());
}

#[test]
fn events_are_found_by_all_their_columns_as_in_their_table() {
    let trace = build(vec![
        task(1)
            .exec(0, 2, "/bin/sh")
            .fork(2, 4, 2)
            .call("read", 10, 20)
            .on("/etc/hosts")
            .exit(100),
        task(2)
            .call("openat", 12, 15)
            .on("/lib/x")
            .fails("ENOENT")
            .signal("SIGCHLD", 30)
            .exit(90),
    ]);
    let equal = |name: &str, to: &str| Expr::Compare(Comparison::Equal, column(name), text(to));
    let cases = [
        (equal("syscall", "openat"), 1),
        (equal("errno", "ENOENT"), 1),
        (equal("outcome", "failed"), 1),
        (equal("kind", "signal"), 1),
        (equal("target", "/etc/hosts"), 1),
        (equal("file", "built"), trace.events.len()),
        (equal("dur_kind", "exact"), trace.events.len()),
        (equal("shape", "openat(/lib/x) ENOENT"), 1),
        (
            Expr::Matches(column("program"), pattern("sh$"), true),
            trace.events.len() - 1,
        ),
        (
            Expr::Compare(Comparison::Equal, column("pid"), Box::new(Expr::Int(2))),
            3,
        ),
        (
            Expr::Compare(
                Comparison::AtLeast,
                column("dur_ns"),
                Box::new(Expr::Int(10)),
            ),
            1,
        ),
        (
            Expr::Compare(Comparison::Equal, column("bytes"), Box::new(Expr::Int(1))),
            1,
        ),
        (Expr::Missing(column("errno")), trace.events.len() - 1),
    ];
    for (condition, expected) in cases {
        let found = EventFilter::new(condition.clone()).unwrap().matched(&trace);
        let rows = (0..trace.events.len())
            .filter(|&row| found.has(row))
            .count();
        assert_eq!(rows as u32, expected, "{condition:?}");
    }
    assert!(
        !EventFilter::new(equal("syscall", "read"))
            .unwrap()
            .matched(&trace)
            .has(u32::MAX)
    );
}

#[test]
fn every_column_of_events_can_be_asked_for() {
    for known in EVENTS.columns() {
        assert!(
            EventFilter::new(Expr::Missing(column(known.name))).is_ok(),
            "{}",
            known.name
        );
    }
}
