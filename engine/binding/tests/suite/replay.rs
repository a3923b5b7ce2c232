//! Replays: what stays as it was, and what removed time changes.

use crate::random::{claimed, scripts};
use binding::session::Session;
use proptest::prelude::*;
use query::selection::Criteria;
use report::replay::question::{Changed, Question, Variant};
use report::replay::scenario::Replayed;
use trace::store::index::TaskId;
use trace::store::trace::Trace;
use trace::testing::{TaskPlan, build, task};

const WHOLE: i64 = 1_000_000;

/// Replays with these syscalls as changes, one replay for each list of shares that remain.
fn replays(
    trace: Trace,
    syscalls: &[&str],
    parallel: &[&str],
    variants: &[Variant],
) -> (i64, Vec<Option<Replayed>>) {
    let changed = |name: &&str| {
        Changed::Selected(Box::new(Criteria {
            syscalls: vec![(*name).to_owned()],
            ..Criteria::default()
        }))
    };
    let question = Question {
        capture: 0,
        changes: syscalls.iter().map(changed).collect(),
        parallel: parallel.iter().map(|&name| name.to_owned()).collect(),
    };
    let (session, all) = (Session::new(trace), Criteria::default());
    let windows = session.windows(&all).unwrap_or_default();
    let wall_ns = windows.first().map_or(0, |window| window.wall_ns());
    let answers = session.replayed(&all, &question, variants);
    (wall_ns, answers.unwrap_or_default())
}

fn shares(shares: &[i64]) -> Variant {
    Variant {
        shares: (0..).zip(shares.iter().copied()).collect(),
        ..Variant::default()
    }
}

/// The window, and its length with each syscall removed alone.
fn without(plans: Vec<TaskPlan>, syscalls: &[&str]) -> (i64, Vec<i64>) {
    let alone = |number: usize| Variant {
        shares: vec![(number, 0)],
        ..Variant::default()
    };
    let variants: Vec<Variant> = (0..syscalls.len()).map(alone).collect();
    let (wall_ns, answers) = replays(build(plans), syscalls, &[], &variants);
    let length = |answer: &Option<Replayed>| answer.as_ref().map_or(-1, |one| one.wall_ns);
    (wall_ns, answers.iter().map(length).collect())
}

fn root() -> TaskPlan {
    task(1).exec(0, 1, "/bin/root")
}

#[test]
fn a_removed_sleep_of_a_child_ends_the_wait_for_it_sooner() {
    let child = task(2).call("nanosleep", 12, 80).exit(90);
    let plans = vec![root().fork(1, 10, 2).wait4(10, 95, 2).exit(100), child];
    assert_eq!(without(plans, &["nanosleep"]), (100, vec![32]));
}

#[test]
fn a_sleep_is_hidden_behind_a_longer_child() {
    let plans = vec![
        root()
            .fork(1, 2, 2)
            .call("nanosleep", 2, 40)
            .wait4(40, 95, 2)
            .exit(100),
        task(2).call("read", 3, 90).on("/dev/disk").exit(91),
    ];
    let (wall_ns, lengths) = without(plans, &["nanosleep", "read"]);
    assert_eq!((wall_ns, lengths[0]), (100, 100));
    // Without the read, the sleep remains.
    assert!((45..60).contains(&lengths[1]), "{lengths:?}");
}

#[test]
fn a_wait_begins_sooner_and_ends_with_its_waker() {
    let plans = vec![
        root()
            .fork(1, 2, 2)
            .call("nanosleep", 2, 50)
            .call("read", 50, 61)
            .on("pipe:[7]")
            .exit(70),
        task(2)
            .call("getpid", 4, 58)
            .call("write", 58, 60)
            .on("pipe:[7]")
            .exit(65),
    ];
    // The writer works as long as before.
    assert_eq!(without(plans, &["nanosleep"]), (70, vec![70]));
}

#[test]
fn a_poll_loop_ends_with_what_it_waits_for() {
    let mut poller = root().fork(1, 2, 2);
    for turn in 0..9 {
        let at_ns = 2 + turn * 100;
        poller = poller
            .call("stat", at_ns, at_ns + 1)
            .on("/tmp/done")
            .fails("ENOENT")
            .call("nanosleep", at_ns + 1, at_ns + 100)
            .asks(99);
    }
    let poller = poller.call("stat", 902, 903).on("/tmp/done").exit(905);
    let producer = task(2)
        .call("fsync", 3, 600)
        .call("getpid", 601, 602)
        .call("mkdir", 810, 850)
        .on("/tmp/done")
        .exit(860);
    let (wall_ns, lengths) = without(vec![poller, producer], &["fsync", "nanosleep"]);
    assert_eq!(wall_ns, 905);
    // 597 of work are gone, and the loop ends as much sooner.
    assert_eq!(lengths[0], 905 - 597);
    // Without pauses, it still waits for the directory.
    assert!(lengths[1] >= 850, "{lengths:?}");
}

#[test]
fn an_answer_from_outside_takes_as_long_after_its_request() {
    let client = root()
        .call("sendto", 10, 11)
        .on("TCP:[1:5->9.9.9.9:80]")
        .call("fsync", 11, 50)
        .call("recvfrom", 50, 90)
        .on("TCP:[1:5->9.9.9.9:80]")
        .exit(100);
    assert_eq!(without(vec![client], &["fsync"]), (100, vec![100]));
}

fn serial_children() -> Vec<TaskPlan> {
    let shell = root()
        .fork(1, 2, 2)
        .wait4(2, 50, 2)
        .fork(50, 51, 3)
        .wait4(51, 81, 3);
    let child = |tid: i32, from_ns: i64, to_ns: i64| {
        task(tid)
            .exec(from_ns, from_ns + 1, "/bin/work")
            .call("fsync", from_ns + 1, to_ns - 1)
            .exit(to_ns)
    };
    vec![shell.exit(90), child(2, 2, 49), child(3, 51, 80)]
}

#[test]
fn serial_children_end_with_the_longest_if_they_run_beside_each_other() {
    let parallel = Variant {
        is_parallel: true,
        ..Variant::default()
    };
    let (wall_ns, answers) = replays(build(serial_children()), &[], &["root"], &[parallel]);
    assert_eq!(wall_ns, 90);
    // The first child ends at 49, the shell is back a moment later and needs 9 more.
    assert_eq!(answers[0].as_ref().map(|one| one.wall_ns), Some(50 + 9));
}

#[test]
fn the_partition_of_a_replay_names_who_is_left() {
    let (_, answers) = replays(build(serial_children()), &["fsync"], &[], &[shares(&[0])]);
    let Some(replayed) = &answers[0] else {
        panic!("no replay");
    };
    let sum: i64 = replayed.exclusive_ns.iter().map(|&(_, ns)| ns).sum();
    assert_eq!(sum, replayed.wall_ns);
    assert_eq!(
        replayed.exclusive_ns.first().map(|&(task, _)| task),
        Some(TaskId::new(0))
    );
}

const REMOVED: [&str; 4] = ["nanosleep", "mmap", "read", "wait4"];

proptest! {
    #[test]
    fn an_unchanged_replay_is_the_identity(scripts in scripts()) {
        let variants = [Variant::default(), shares(&[WHOLE; 4])];
        let (wall_ns, answers) = replays(claimed(&scripts, true), &REMOVED, &[], &variants);
        for replayed in answers.into_iter().flatten() {
            prop_assert_eq!(replayed.wall_ns, wall_ns);
        }
    }

    #[test]
    fn removing_more_never_takes_longer(scripts in scripts(), part in 0..=WHOLE) {
        let variants: Vec<Variant> = (0..=REMOVED.len())
            .map(|removed| {
                let of = |number: usize| if number < removed { 0 } else if number == removed { part } else { WHOLE };
                shares(&std::array::from_fn::<i64, 4, _>(of))
            })
            .collect();
        let (wall_ns, answers) = replays(claimed(&scripts, true), &REMOVED, &[], &variants);
        let mut last_ns = wall_ns;
        for replayed in answers.into_iter().flatten() {
            prop_assert!(replayed.wall_ns <= last_ns, "{} after {}", replayed.wall_ns, last_ns);
            last_ns = replayed.wall_ns;
        }
    }

    #[test]
    fn the_partition_of_a_replay_sums_to_its_end(scripts in scripts(), part in 0..=WHOLE) {
        let variants = [shares(&[part, 0, part, WHOLE]), Variant { is_parallel: true, ..shares(&[part; 4]) }];
        let (_, answers) = replays(claimed(&scripts, true), &REMOVED, &["root"], &variants);
        for replayed in answers.into_iter().flatten() {
            let sum: i64 = replayed.exclusive_ns.iter().map(|&(_, ns)| ns).sum();
            prop_assert_eq!(sum, replayed.wall_ns);
            prop_assert!(replayed.wall_ns >= 0);
        }
    }
}
