//! The partition of wall time: small scenarios, and invariants.

use crate::random::{claimed, root, scripts};
use parsers::syscalls::Class;
use path::critical_path::segment::Segment;
use path::critical_path::segment::Tag;
use path::critical_path::segment::What;
use path::critical_path::timeline;
use path::critical_path::timeline::Timeline;
use path::critical_path::walk::path;
use path::critical_path::walk::walk;
use path::critical_path::window::{Reason, Window, WindowChoice, windows};
use path::testing::{charges, exclusive_by_task, partition};
use path::waits::wakers::Wakers;
use proptest::prelude::*;
use report::tables::processes::lives;
use trace::store::index::TaskId;
use trace::store::table::Values;
use trace::store::trace::Trace;
use trace::testing::{TaskPlan, build, task};

fn window_of(trace: &Trace) -> Window {
    windows(trace, &WindowChoice::default())[0]
}

fn segments(trace: &Trace) -> Vec<Segment> {
    path(trace, &Wakers::new(trace), &window_of(trace))
}

/// Charges per task, in the order of the plans.
fn charged(plans: Vec<TaskPlan>) -> Vec<i64> {
    let trace = build(plans);
    exclusive_by_task(&trace, &segments(&trace))
}

fn in_class(trace: &Trace, class: Class) -> i64 {
    segments(trace)
        .iter()
        .filter(|segment| segment.class == class)
        .map(Segment::dur_ns)
        .sum()
}

#[test]
fn scenarios_charge_the_awaited_task() {
    let child = |tid: i32, from: i64, to: i64| task(tid).call("read", from, from + 1).exit(to);
    let cases: Vec<(&str, Vec<TaskPlan>, Vec<i64>)> = vec![
        (
            "a task alone has all",
            vec![root().call("read", 10, 20).exit(100)],
            vec![100],
        ),
        (
            "a wait is charged to the child; the fork and the return to the parent",
            vec![
                root().fork(1, 10, 2).wait4(10, 95, 2).exit(100),
                child(2, 10, 90),
            ],
            vec![20, 80],
        ),
        (
            "a child's work before the wait is not charged",
            vec![
                root()
                    .fork(1, 10, 2)
                    .call("read", 10, 50)
                    .wait4(50, 90, 2)
                    .exit(100),
                child(2, 10, 90),
            ],
            vec![60, 40],
        ),
        (
            "of two parallel children only the slower is charged",
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
            vec![30, 0, 70],
        ),
        (
            "of two parallel children only the slower is charged if a shell waits for SIGCHLD",
            vec![
                root()
                    .fork(1, 10, 2)
                    .fork(10, 20, 3)
                    .call("rt_sigsuspend", 20, 50)
                    .fails("EINTR")
                    .signal("SIGCHLD", 50)
                    .call("rt_sigreturn", 50, 50)
                    .wait4(50, 50, 2)
                    .call("rt_sigsuspend", 50, 90)
                    .fails("EINTR")
                    .signal("SIGCHLD", 90)
                    .exit(100),
                child(2, 10, 50),
                child(3, 20, 90),
            ],
            vec![30, 0, 70],
        ),
        (
            "each of several sequential children is charged",
            vec![
                root()
                    .fork(1, 10, 2)
                    .wait4(10, 50, 2)
                    .fork(50, 60, 3)
                    .wait4(60, 90, 3)
                    .exit(100),
                child(2, 10, 50),
                child(3, 60, 90),
            ],
            vec![30, 40, 30],
        ),
        (
            "a child that ended before the wait costs nothing",
            vec![
                root()
                    .fork(1, 10, 2)
                    .call("read", 10, 60)
                    .wait4(60, 61, 2)
                    .exit(100),
                child(2, 10, 30),
            ],
            vec![100, 0],
        ),
        (
            "a grandchild is charged through the child that waits for it",
            vec![
                root().fork(1, 10, 2).wait4(10, 90, 2).exit(100),
                task(2)
                    .call("read", 10, 12)
                    .fork(12, 20, 3)
                    .wait4(20, 80, 3)
                    .exit(90),
                child(3, 20, 80),
            ],
            vec![20, 20, 60],
        ),
        (
            "a child with an unknown creator leaves the time before its birth to the waiter",
            vec![root().wait4(10, 90, 2).exit(100), child(2, 30, 90)],
            vec![40, 60],
        ),
        (
            "the time between fork and the child's first event is charged to the creator: no task is charged outside its life",
            vec![
                root().fork(1, 10, 2).wait4(12, 90, 2).exit(100),
                child(2, 30, 90),
            ],
            vec![40, 60],
        ),
        (
            "a wait that starts before the child's birth continues in the creator",
            vec![
                root().fork(1, 10, 2).wait4(10, 90, 3).exit(100),
                task(2).call("read", 10, 12).fork(40, 50, 3).exit(95),
                child(3, 50, 90),
            ],
            vec![20, 40, 40],
        ),
        (
            "a vfork is charged to the child until it runs a program",
            vec![
                root().spawn("vfork", 1, 50, 2).exit(100),
                task(2)
                    .call("read", 10, 12)
                    .exec(20, 48, "/bin/c")
                    .exit(200),
            ],
            vec![62, 38],
        ),
        (
            "children that outlive the root are not charged",
            vec![root().fork(1, 10, 2).exit(100), child(2, 10, 500)],
            vec![100, 0],
        ),
        (
            "a child that ended shortly after the wait returned still ended it",
            vec![
                root().fork(1, 10, 2).wait4(10, 90, 2).exit(1_000_000),
                child(2, 10, 95),
            ],
            vec![999_920, 80],
        ),
    ];
    for (claim, plans, expected) in cases {
        assert_eq!(charged(plans), expected, "{claim}");
    }
}

#[test]
fn starting_a_child_splits_a_wait_and_cleanup_does_not() {
    const MS: i64 = 1_000_000;
    let waiter = |between: &str| {
        let forks = root().fork(0, MS, 2).fork(MS, 2 * MS, 3);
        let first = forks.wait4(2 * MS, 100 * MS, 2);
        let cleared = first
            .call("write", 101 * MS, 102 * MS)
            .call(between, 102 * MS, 104 * MS);
        cleared.wait4(105 * MS, 200 * MS, 3).exit(200 * MS)
    };
    let children = || {
        [(2, 100 * MS), (3, 200 * MS)]
            .map(|(tid, end)| task(tid).call("brk", 2 * MS, 3 * MS).exit(end))
    };
    let charged = |between: &str| charged([&[waiter(between)], &children()[..]].concat());
    assert_eq!(charged("stat"), [2 * MS, 0, 198 * MS]);
    assert_eq!(charged("vfork"), [7 * MS, 98 * MS, 95 * MS]);
}

#[test]
fn a_gap_is_user_time_and_a_stop_is_not() {
    let trace = build(vec![
        root()
            .call("read", 10, 20)
            .stop("SIGSTOP", 50)
            .call("read", 90, 95)
            .exit(100),
    ]);
    assert_eq!(in_class(&trace, Class::User), 9 + 30 + 5);
    assert_eq!(in_class(&trace, Class::Stopped), 40);
    let plan = root()
        .call("read", 10, 20)
        .stop("SIGSTOP", 50)
        .signal("SIGCONT", 80)
        .stop("SIGTSTP", 85);
    let trace = build(vec![plan.signal("SIGCONT", 90).exit(100)]);
    assert_eq!(
        (
            in_class(&trace, Class::User),
            in_class(&trace, Class::Stopped)
        ),
        (9 + 30 + 5 + 10, 35)
    );
    let life = lives(&trace, &[TaskId::new(0)])[0];
    assert_eq!((life.in_call_ns + life.gap_ns, life.stopped_ns), (100, 35));
}

#[test]
fn a_stop_inside_a_call_is_not_time_between_calls() {
    let trace = build(vec![
        root()
            .call("read", 10, 70)
            .stop("SIGSTOP", 50)
            .call("read", 90, 95)
            .exit(100),
    ]);
    assert_eq!(lives(&trace, &[TaskId::new(0)])[0].stopped_ns, 20);
}

#[test]
fn only_waits_without_a_traced_waker_are_unresolved() {
    let cases = [
        ("wait4", -1, "", false),
        ("futex", 0, "0x1", false),
        ("flock", 0, "/run/l", false),
        ("read", 8, "anon_inode:[timerfd]", true),
        ("read", 5, "pipe:[7]", false),
        ("read", 5, "/etc/passwd", true),
        ("nanosleep", 0, "", true),
        ("poll", 0, "", true),
        ("poll", 1, "", false),
        ("mmap", 0, "", true),
    ];
    for (syscall, ret, target, resolved) in cases {
        let trace = build(vec![
            root()
                .call(syscall, 10, 90)
                .on(target)
                .returns(ret)
                .exit(100),
        ]);
        let found = segments(&trace)
            .into_iter()
            .find(|segment| segment.start_ns == 10)
            .map(|segment| segment.resolved);
        assert_eq!(found, Some(resolved), "{syscall} = {ret}");
    }
}

#[test]
fn a_signal_without_a_traced_sender_comes_from_outside() {
    let waits = |signal: &str| {
        root()
            .fork(1, 10, 2)
            .call("pause", 20, 80)
            .fails("EINTR")
            .signal(signal, 80)
            .exit(100)
    };
    let external = |plans: Vec<TaskPlan>| in_class(&build(plans), Class::External);
    let other = || task(2).call("brk", 10, 11);
    assert_eq!(external(vec![waits("SIGTERM"), other().exit(200)]), 60);
    assert_eq!(
        external(vec![waits("SIGALRM"), other().exit(200)]),
        0,
        "its own timer"
    );
    assert_eq!(
        external(vec![
            waits("SIGTERM"),
            other().call("kill", 70, 79).on("1").exit(200)
        ]),
        0
    );
    assert_eq!(
        external(vec![
            waits("SIGTERM"),
            other().call("kill", 70, 79).on("-5").exit(200)
        ]),
        0,
        "to a group"
    );
}

#[test]
fn a_read_is_charged_to_the_writer_until_its_write() {
    let cases = [
        ("pipe:[7]", "pipe:[7]"),
        ("UNIX-STREAM:[1->2]", "UNIX-STREAM:[2->1]"),
    ];
    for (read_end, write_end) in cases {
        let plans = vec![
            root()
                .fork(1, 10, 2)
                .call("read", 20, 80)
                .on(read_end)
                .exit(100),
            task(2)
                .call("brk", 10, 11)
                .call("write", 70, 78)
                .on(write_end)
                .exit(200),
        ];
        assert_eq!(charged(plans), vec![42, 58], "{read_end}");
    }
}

#[test]
fn an_end_of_file_is_charged_to_the_last_writer() {
    let plans = vec![
        root()
            .fork(1, 10, 2)
            .call("read", 20, 80)
            .on("pipe:[7]")
            .returns(0)
            .exit(100),
        task(2).call("write", 10, 11).on("pipe:[7]").exit(79),
    ];
    assert_eq!(charged(plans), vec![41, 59]);
}

/// The root and a thread of it that works until 70 and then makes this call, which takes until 78.
fn with_thread(root: TaskPlan, does: impl Fn(TaskPlan) -> TaskPlan) -> Vec<TaskPlan> {
    vec![
        root.exit(100),
        does(task(2).of_process(1).call("nanosleep", 11, 70)),
    ]
}

#[test]
fn a_futex_is_charged_to_the_waker_of_its_address() {
    let waits = |op: &str| {
        root()
            .fork(1, 10, 2)
            .call("futex", 20, 80)
            .on("0x1")
            .op(op)
            .returns(0)
    };
    let wakes = |woken: i64, address: &'static str| {
        move |thread: TaskPlan| {
            thread
                .call("futex", 70, 78)
                .on(address)
                .op("FUTEX_WAKE_PRIVATE")
                .returns(woken)
        }
    };
    let private = "FUTEX_WAIT_PRIVATE";
    assert_eq!(
        charged(with_thread(waits(private), wakes(1, "0x1"))),
        vec![42, 58]
    );
    assert_eq!(
        charged(with_thread(waits(private), wakes(0, "0x1"))),
        vec![100, 0],
        "it woke nobody"
    );
    assert_eq!(
        charged(with_thread(waits(private), wakes(1, "0x2"))),
        vec![100, 0],
        "at another address"
    );
    let elsewhere = |op: &str| {
        let other = task(2)
            .call("brk", 11, 12)
            .call("futex", 70, 78)
            .on("0x1")
            .op(op)
            .returns(1);
        charged(vec![
            waits(&op.replace("WAKE", "WAIT")).exit(100),
            other.exit(200),
        ])
    };
    assert_eq!(
        elsewhere("FUTEX_WAKE_PRIVATE"),
        vec![100, 0],
        "of another process"
    );
    assert_eq!(
        elsewhere("FUTEX_WAKE"),
        vec![42, 58],
        "of a process that shares the memory"
    );
}

#[test]
fn expired_waits_at_one_address_join_the_last_one() {
    let waits = |limit: &str, first: &'static str| {
        let late = |task: TaskPlan, from: i64, to: i64, at: &'static str| {
            task.call("futex", from, to)
                .on(at)
                .op("FUTEX_WAIT_PRIVATE")
                .fails(limit)
        };
        let late = late(late(root().fork(1, 10, 2), 20, 40, first), 41, 60, "0x1");
        late.call("futex", 61, 80)
            .on("0x1")
            .op("FUTEX_WAIT_PRIVATE")
            .returns(0)
    };
    let wakes = |thread: TaskPlan| {
        thread
            .call("futex", 70, 78)
            .on("0x1")
            .op("FUTEX_WAKE_PRIVATE")
            .returns(1)
    };
    assert_eq!(
        charged(with_thread(waits("ETIMEDOUT", "0x1"), wakes)),
        vec![42, 58]
    );
    assert_eq!(
        charged(with_thread(waits("ETIMEDOUT", "0x2"), wakes)),
        vec![63, 37],
        "the first one was for another"
    );
    assert_eq!(
        charged(with_thread(waits("EAGAIN", "0x1"), wakes)),
        vec![83, 17],
        "they did not wait"
    );
}

#[test]
fn a_wake_that_returns_after_the_waiter_ended_the_wait() {
    let waits = root()
        .fork(1, 10, 2)
        .call("futex", 20, 80)
        .on("0x1")
        .op("FUTEX_WAIT_PRIVATE")
        .returns(0);
    let wakes = |thread: TaskPlan| {
        thread
            .call("futex", 79, 5_000_000)
            .on("0x1")
            .op("FUTEX_WAKE_PRIVATE")
            .returns(1)
    };
    assert_eq!(charged(with_thread(waits, wakes)), vec![40, 60]);
}

#[test]
fn a_requeued_wait_is_woken_at_the_new_address() {
    let waits = || {
        root()
            .fork(1, 10, 2)
            .call("futex", 20, 80)
            .on("0x1")
            .op("FUTEX_WAIT_PRIVATE")
            .returns(0)
    };
    let moves = |thread: TaskPlan| {
        let moved = thread
            .call("futex", 70, 71)
            .on("0x1")
            .op("FUTEX_CMP_REQUEUE_PRIVATE")
            .moves_to("0x2");
        moved
            .call("futex", 76, 78)
            .on("0x2")
            .op("FUTEX_WAKE_PRIVATE")
    };
    assert_eq!(charged(with_thread(waits(), moves)), vec![42, 58]);
    let waits = root()
        .fork(1, 10, 2)
        .call("futex", 20, 80)
        .on("0x1")
        .op("FUTEX_WAIT_REQUEUE_PI")
        .moves_to("0x2");
    let unlocks = |thread: TaskPlan| {
        thread
            .call("futex", 70, 78)
            .on("0x2")
            .op("FUTEX_UNLOCK_PI")
            .returns(0)
    };
    assert_eq!(
        charged(with_thread(waits.returns(0), unlocks)),
        vec![42, 58]
    );
}

#[test]
fn messages_semaphores_and_doors_charge_the_other_side() {
    let waits = |syscall: &str, target: &str| {
        root()
            .fork(1, 10, 2)
            .call(syscall, 20, 80)
            .on(target)
            .returns(0)
            .exit(100)
    };
    let does = |syscall: &str, target: &str| {
        task(2)
            .call("brk", 10, 11)
            .call(syscall, 70, 78)
            .on(target)
            .exit(200)
    };
    let server = task(2)
        .call("door_return", 11, 25)
        .call("door_return", 78, 200)
        .exit(300);
    let serves = root()
        .fork(1, 10, 2)
        .call("door_return", 20, 80)
        .returns(0)
        .exit(100);
    let client = task(2)
        .call("brk", 10, 11)
        .call("door_call", 78, 95)
        .exit(200);
    let cases = [
        (
            "a message",
            vec![waits("msgrcv", "3"), does("msgsnd", "3")],
            58,
        ),
        (
            "another queue",
            vec![waits("msgrcv", "3"), does("msgsnd", "4")],
            0,
        ),
        (
            "room for a message",
            vec![waits("msgsnd", "3"), does("msgrcv", "3")],
            58,
        ),
        (
            "a POSIX queue",
            vec![waits("mq_timedreceive", "/q"), does("mq_timedsend", "/q")],
            58,
        ),
        (
            "a semaphore",
            vec![waits("semop", "7"), does("semtimedop", "7")],
            58,
        ),
        (
            "a removed semaphore",
            vec![waits("semop", "7"), does("semctl", "7")],
            58,
        ),
        (
            "a door",
            vec![waits("door_call", "/var/run/door"), server],
            58,
        ),
        (
            "who serves a door waits for a call",
            vec![serves, client],
            58,
        ),
    ];
    for (claim, plans, expected) in cases {
        assert_eq!(charged(plans)[1], expected, "{claim}");
    }
}

#[test]
fn a_blocked_connect_is_charged_to_the_server_until_its_accept() {
    const MS: i64 = 1_000_000;
    let client = root()
        .fork(1, 10, 2)
        .call("connect", 20, 80 * MS)
        .on("/run/x")
        .returns(0)
        .exit(90 * MS);
    let server = task(2)
        .call("bind", 10, 11)
        .on("/run/x")
        .call("accept", 70 * MS, 78 * MS)
        .exit(200 * MS);
    assert_eq!(charged(vec![client, server])[1], 78 * MS - 20);
}

#[test]
fn a_join_is_charged_to_the_thread_until_its_end() {
    let joins = |op: &str| {
        root()
            .fork(1, 10, 2)
            .call("futex", 20, 80)
            .on("0x9")
            .op(op)
            .returns(0)
    };
    let ends = |thread: TaskPlan| thread.exit(79);
    assert_eq!(
        charged(with_thread(joins("FUTEX_WAIT_BITSET"), ends)),
        vec![41, 59]
    );
    assert_eq!(
        charged(with_thread(joins("FUTEX_WAIT_PRIVATE"), ends)),
        vec![100, 0],
        "the kernel wakes no private one"
    );
}

#[test]
fn only_the_slower_of_two_joined_threads_is_charged() {
    let join = |root: TaskPlan, from: i64, to: i64| {
        root.call("futex", from, to).op("FUTEX_WAIT").returns(0)
    };
    let root = join(join(root().fork(1, 10, 2).fork(10, 20, 3), 20, 50), 50, 90).exit(100);
    let thread = |tid: i32, to: i64| {
        task(tid)
            .of_process(1)
            .call("nanosleep", 20, to - 1)
            .exit(to)
    };
    assert_eq!(
        charged(vec![root, thread(2, 49), thread(3, 90)]),
        vec![30, 0, 70]
    );
}

#[test]
fn a_parked_thread_is_charged_to_its_unparker() {
    let parks = || root().fork(1, 10, 2).call("lwp_park", 20, 80).returns(0);
    let unparks = |id: &'static str| {
        move |thread: TaskPlan| thread.call("lwp_unpark", 70, 78).on(id).returns(0)
    };
    assert_eq!(charged(with_thread(parks(), unparks("1"))), vec![42, 58]);
    assert_eq!(charged(with_thread(parks(), unparks("3"))), vec![100, 0]);
    let waits = root()
        .fork(1, 10, 2)
        .call("lwp_wait", 20, 80)
        .on("2")
        .returns(0);
    assert_eq!(
        charged(with_thread(waits, |thread| thread.exit(79))),
        vec![41, 59]
    );
}

#[test]
fn a_file_lock_is_charged_to_its_holder_until_its_release() {
    let waits = |syscall: &str, op: &str| {
        root()
            .fork(1, 10, 2)
            .call(syscall, 20, 80)
            .on("/run/l")
            .op(op)
            .returns(0)
            .exit(100)
    };
    let holder =
        |syscall: &str, op: &str| task(2).call(syscall, 11, 12).on("/run/l").op(op).returns(0);
    let (ex, setlkw) = (("flock", "LOCK_EX"), ("fcntl", "F_SETLKW"));
    let cases = [
        (
            "it unlocks",
            ex,
            holder("flock", "LOCK_EX")
                .call("flock", 70, 78)
                .on("/run/l")
                .op("LOCK_UN")
                .exit(200),
            58,
        ),
        (
            "it closes",
            ex,
            holder("flock", "LOCK_EX")
                .call("close", 70, 78)
                .on("/run/l")
                .returns(0)
                .exit(200),
            58,
        ),
        ("it ends", ex, holder("flock", "LOCK_EX").exit(79), 59),
        (
            "it closes another file",
            ex,
            holder("flock", "LOCK_EX")
                .call("close", 70, 78)
                .on("/run/m")
                .exit(5_000_000),
            0,
        ),
        (
            "it only reads",
            ex,
            task(2).call("read", 11, 12).on("/run/l").exit(79),
            0,
        ),
        (
            "the lock is another",
            ex,
            task(2)
                .call("flock", 11, 12)
                .on("/run/m")
                .op("LOCK_EX")
                .exit(79),
            0,
        ),
        (
            "every other fcntl unlocks",
            setlkw,
            holder("fcntl", "F_SETLKW")
                .call("fcntl", 70, 78)
                .on("/run/l")
                .op("F_SETLKW")
                .returns(0)
                .exit(200),
            58,
        ),
    ];
    for (claim, (syscall, op), holder, expected) in cases {
        assert_eq!(
            charged(vec![waits(syscall, op), holder])[1],
            expected,
            "{claim}"
        );
    }
}

#[test]
fn three_holders_of_a_file_lock_are_each_charged() {
    let turn = |plan: TaskPlan, from: i64, to: i64, until: i64| {
        let locked = plan
            .call("flock", from, to)
            .on("/l")
            .op("LOCK_EX")
            .returns(0);
        locked
            .call("nanosleep", to, until)
            .call("flock", until, until + 1)
            .on("/l")
            .op("LOCK_UN")
            .returns(0)
    };
    let root = turn(root().fork(1, 2, 2).fork(2, 3, 3), 10, 70, 80).exit(80);
    let plans = vec![
        root,
        turn(task(2), 5, 6, 40).exit(200),
        turn(task(3), 8, 41, 69).exit(200),
    ];
    assert_eq!(charged(plans)[1..], [31, 29]);
}

#[test]
fn a_blocked_write_is_charged_to_the_reader() {
    const MS: i64 = 1_000_000;
    let writer = || {
        root()
            .fork(1, 10, 2)
            .call("write", 20, 80 * MS)
            .on("pipe:[7]")
            .exit(81 * MS)
    };
    let reader = |from: i64| {
        task(2)
            .call("nanosleep", 11, from - 1)
            .call("read", from, 79 * MS)
            .on("pipe:[7]")
            .exit(300 * MS)
    };
    assert_eq!(
        charged(vec![writer(), reader(70 * MS)]),
        vec![2 * MS + 20, 79 * MS - 20]
    );
    let waits = task(2)
        .call("read", 11, 79 * MS)
        .on("pipe:[7]")
        .exit(300 * MS);
    assert_eq!(
        charged(vec![writer(), waits]),
        vec![81 * MS, 0],
        "who waits for the write does not hold it up"
    );
}

#[test]
fn an_eventfd_is_charged_to_the_writer() {
    let waits = root()
        .fork(1, 10, 2)
        .call("read", 20, 80)
        .on("anon_inode:[eventfd]")
        .returns(8);
    let adds = |thread: TaskPlan| {
        thread
            .call("write", 70, 78)
            .on("anon_inode:[eventfd]")
            .returns(8)
    };
    assert_eq!(charged(with_thread(waits, adds)), vec![42, 58]);
}

#[test]
fn a_poll_waits_for_the_descriptor_read_next() {
    let plans = vec![
        root()
            .fork(1, 10, 2)
            .call("poll", 20, 80)
            .call("read", 80, 81)
            .on("pipe:[7]")
            .exit(100),
        task(2)
            .call("brk", 10, 11)
            .call("write", 70, 78)
            .on("pipe:[7]")
            .exit(200),
    ];
    assert_eq!(charged(plans), vec![42, 58]);
}

#[test]
fn the_master_of_a_terminal_waits_for_its_slaves_writer() {
    let plans = |masters: i64| {
        let mut session = root();
        for number in 0..masters {
            session = session.call("open", 1 + number, 2 + number).on("/dev/ptmx");
        }
        let shell = task(2).call("brk", 10, 11).call("write", 70, 79);
        vec![
            session
                .fork(5, 10, 2)
                .call("pollsys", 20, 80)
                .call("read", 80, 81)
                .exit(100),
            shell.exit(200),
        ]
    };
    assert_eq!(charged(plans(1)), vec![41, 59]);
    assert_eq!(
        charged(plans(2)),
        vec![100, 0],
        "with two masters it is not known which"
    );
}

#[test]
fn a_sigchld_ends_a_sigsuspend() {
    let suspended = || {
        root()
            .fork(1, 10, 2)
            .call("rt_sigsuspend", 20, 80)
            .fails("EINTR")
    };
    let child = || task(2).call("brk", 10, 11).exit(79);
    assert_eq!(
        charged(vec![suspended().signal("SIGCHLD", 80).exit(100), child()]),
        vec![41, 59]
    );
    assert_eq!(
        charged(vec![suspended().signal("SIGALRM", 80).exit(100), child()]),
        vec![100, 0]
    );
    let killer = task(2)
        .call("brk", 10, 11)
        .call("kill", 70, 79)
        .on("1")
        .exit(200);
    assert_eq!(
        charged(vec![suspended().signal("SIGTERM", 80).exit(100), killer]),
        vec![41, 59]
    );
}

#[test]
fn a_pause_ended_by_its_own_timer_is_a_sleep() {
    let trace = build(vec![
        root()
            .call("pause", 10, 80)
            .fails("EINTR")
            .signal("SIGALRM", 80)
            .exit(100),
    ]);
    assert_eq!(in_class(&trace, Class::Sleep), 70);
    assert!(segments(&trace).iter().all(|segment| segment.resolved));
}

#[test]
fn the_window_of_an_attached_daemon_starts_at_activity() {
    let plans = vec![
        task(1)
            .call("accept", 0, 40)
            .call("write", 60, 70)
            .open("accept", 70),
        task(2)
            .call("futex", 5, 50)
            .call("write", 50, 52)
            .open("futex", 52),
    ];
    let trace = build(plans);
    let window = window_of(&trace);
    assert_eq!(
        (
            window.start_ns,
            window.end_ns,
            window.root,
            window.left_out_ns
        ),
        (40, 70, Some(TaskId::new(0)), 40)
    );
}

#[test]
fn a_walk_does_not_start_in_a_periodic_thread() {
    let root = |beats: i64, works: bool| {
        let beat = |plan: TaskPlan, at| {
            plan.call("futex", at, at + 9)
                .op("FUTEX_WAIT_PRIVATE")
                .fails("ETIMEDOUT")
        };
        let ticker = (0..beats).fold(task(2), |plan, turn| beat(plan, 10 * turn));
        let ticker = if works {
            ticker.call("write", 10 * beats, 10 * beats + 1)
        } else {
            ticker
        };
        let worker = task(1)
            .call("read", 0, 50)
            .call("write", 60, 61)
            .open("futex", 62);
        window_of(&build(vec![worker, ticker])).root
    };
    assert_eq!(root(20, false), Some(TaskId::new(0)));
    assert_eq!(
        (root(7, false), root(20, true)),
        (Some(TaskId::new(1)), Some(TaskId::new(1))),
        "too few to be a rhythm, or not only that"
    );
}

#[test]
fn a_window_ending_inside_calls_ends_in_the_working_task() {
    let plans = vec![
        task(1)
            .call("accept", 0, 40)
            .call("write", 40, 45)
            .call("poll", 45, 95)
            .call("write", 95, 96),
        task(2)
            .call("read", 0, 50)
            .call("ioctl", 50, 200)
            .call("write", 200, 201),
    ];
    let trace = build(plans);
    let asked = |from_ns, to_ns| {
        let choice = WindowChoice {
            from_ns: Some(from_ns),
            to_ns: Some(to_ns),
            ..WindowChoice::default()
        };
        let window = windows(&trace, &choice)[0];
        let shares = exclusive_by_task(&trace, &path(&trace, &Wakers::new(&trace), &window));
        (window.start_ns, window.end_ns, shares)
    };
    assert_eq!(
        asked(60, 80),
        (60, 80, vec![0, 20]),
        "the poll that ends first keeps nobody waiting"
    );
    assert_eq!(
        asked(60, 95),
        (60, 95, vec![35, 0]),
        "but its end is what was asked for"
    );
    assert_eq!(
        asked(60, 120),
        (60, 120, vec![0, 60]),
        "nothing has ended since, and it is no shorter"
    );
    assert_eq!(
        asked(60, 900).1,
        201,
        "there is nothing behind the last event"
    );
}

#[test]
fn windows_follow_the_request() {
    let plans = || {
        vec![
            root().fork(1, 10, 2).wait4(10, 95, 2).exit(100),
            task(2).call("read", 10, 20).exit(90),
        ]
    };
    let trace = build(plans());
    let asked = |choice: WindowChoice| windows(&trace, &choice)[0];
    let window = asked(WindowChoice {
        pid: Some(2),
        ..WindowChoice::default()
    });
    assert_eq!(
        (window.start_ns, window.end_ns, window.root),
        (10, 90, Some(TaskId::new(1)))
    );
    let window = asked(WindowChoice {
        root: Some(77),
        ..WindowChoice::default()
    });
    assert_eq!(
        (window.root, window.reason, window.wall_ns()),
        (None, Some(Reason::NoProcess), 0)
    );
    let window = asked(WindowChoice {
        from_ns: Some(30),
        to_ns: Some(50),
        ..WindowChoice::default()
    });
    assert_eq!((window.start_ns, window.end_ns), (30, 50));
    let found = exclusive_by_task(&trace, &path(&trace, &Wakers::new(&trace), &window));
    assert_eq!(
        found,
        vec![0, 20],
        "inside a wait the walk begins with who will end it"
    );
}

#[test]
fn silence_in_a_log_is_charged_to_the_message_before_it() {
    let trace = build(vec![
        task(1)
            .message("md", "stopping", 0)
            .message("sd", "sync", 70)
            .message("sd", "off", 100),
    ]);
    let table = partition(
        &trace,
        &Wakers::new(&trace),
        &windows(&trace, &WindowChoice::default()),
    );
    assert_eq!(
        table.column("exclusive_ns"),
        Some(&Values::Int(vec![Some(70), Some(30)]))
    );
    assert_eq!(in_class(&trace, Class::Gap), 100);
}

#[test]
fn a_single_target_is_shown_as_printed() {
    let targets = |names: [&str; 2]| {
        let trace = build(vec![
            root()
                .call("read", 10, 50)
                .on(names[0])
                .call("read", 50, 90)
                .on(names[1])
                .exit(90),
        ]);
        let table = partition(
            &trace,
            &Wakers::new(&trace),
            &windows(&trace, &WindowChoice::default()),
        );
        let Some(Values::Text { keys, words }) = table.column("target") else {
            panic!("no texts")
        };
        words[keys[0] as usize].clone()
    };
    assert_eq!(targets(["/proc/7/stat", "/proc/7/stat"]), "/proc/7/stat");
    assert_eq!(targets(["/proc/7/stat", "/proc/8/stat"]), "/proc/N/stat");
}

#[test]
fn tables_and_charges_agree() {
    let trace = build(vec![
        root().fork(1, 10, 2).wait4(10, 95, 2).exit(100),
        task(2).call("read", 10, 20).exit(90),
    ]);
    let segments = segments(&trace);
    let in_calls: i64 = charges(&segments).iter().map(|&(_, ns)| ns).sum();
    let gaps: i64 = segments
        .iter()
        .filter(|segment| matches!(segment.what, What::Gap(_)))
        .map(Segment::dur_ns)
        .sum();
    assert_eq!(in_calls + gaps, 100);
    for at_least_ns in [0, 20, 101] {
        let mut found = Timeline::new(&trace, at_least_ns);
        segments
            .iter()
            .rev()
            .for_each(|&segment| found.take(segment));
        let table = timeline::table(&trace, &found.finish());
        let Some(Values::Int(durs)) = table.column("dur_ns") else {
            panic!("no durations")
        };
        assert!(durs.iter().flatten().all(|&dur_ns| dur_ns >= at_least_ns));
        let expected = if at_least_ns > 100 { 0 } else { 100 };
        assert!(
            durs.iter().flatten().sum::<i64>() <= expected,
            "{at_least_ns}"
        );
        assert!(at_least_ns != 0 || durs.iter().flatten().sum::<i64>() == 100);
    }
}

#[test]
fn the_longest_stretches_are_listed_among_any_number() {
    let plan = (0..40).fold(root(), |plan, at| {
        plan.call("read", at * 100, at * 100 + 10 + at * 7 % 40)
    });
    let trace = build(vec![plan.exit(4000)]);
    let segments = segments(&trace);
    let lengths = |most: Option<usize>| {
        let stays = Timeline::new(&trace, 0);
        let mut found = if let Some(most) = most {
            stays.longest(most)
        } else {
            stays
        };
        segments
            .iter()
            .rev()
            .for_each(|&segment| found.take(segment));
        let found = found.finish();
        assert!(found.is_sorted_by_key(|stay| stay.segment.start_ns));
        let mut lengths: Vec<i64> = found.iter().map(|stay| stay.segment.dur_ns()).collect();
        lengths.sort_unstable_by_key(|&ns| std::cmp::Reverse(ns));
        lengths
    };
    let all = lengths(None);
    assert!(all.len() > 40);
    for most in [0, 1, 7, 40, all.len(), 2 * all.len()] {
        assert_eq!(lengths(Some(most)), all[..most.min(all.len())]);
    }
}

#[test]
fn each_stretch_lists_its_waiter_and_evidence() {
    let trace = build(vec![
        root().fork(1, 10, 2).wait4(10, 95, 2).exit(100),
        task(2).call("read", 10, 20).exit(90),
    ]);
    let wakers = Wakers::new(&trace);
    let mut found = Timeline::new(&trace, 0);
    walk(
        &trace,
        &wakers,
        &windows(&trace, &WindowChoice::default())[0],
        &mut found,
    );
    let table = timeline::table(&trace, &found.finish());
    let (Some(Values::Int(tids)), Some(Values::Int(waiters))) =
        (table.column("tid"), table.column("waiter_pid"))
    else {
        panic!("no ids")
    };
    let (
        Some(Values::Text { keys, words }),
        Some(Values::Text {
            keys: sure_keys,
            words: sures,
        }),
    ) = (table.column("how"), table.column("sure"))
    else {
        panic!("no words")
    };
    for (at, tid) in tids.iter().enumerate() {
        let word = |words: &[String], key: u32| words.get(key as usize).cloned();
        let told = (
            waiters[at],
            word(words, keys[at]),
            word(sures, sure_keys[at]),
        );
        let of_child = || {
            (
                Some(1),
                Some("child".to_owned()),
                Some("measured".to_owned()),
            )
        };
        let expected = if *tid == Some(2) {
            of_child()
        } else {
            (None, None, None)
        };
        assert_eq!(told, expected, "task {tid:?}");
    }
    assert!(tids.contains(&Some(2)));
}

/// Two tasks that pass a byte back and forth.
fn ping_pong(turns: i64) -> Trace {
    let (mut one, mut other) = (root().fork(1, 2, 2), task(2));
    for turn in 0..turns {
        let at = 10 + turn * 10;
        one = one
            .call("write", at, at + 1)
            .on("pipe:[1]")
            .call("read", at + 1, at + 7)
            .on("pipe:[2]");
        other = other
            .call("read", at - 6, at + 2)
            .on("pipe:[1]")
            .call("write", at + 3, at + 4)
            .on("pipe:[2]");
    }
    build(vec![one.exit(10 + turns * 10), other.exit(20 + turns * 10)])
}

#[test]
fn steps_are_proportional_to_ping_pongs() {
    let steps = |turns: i64| {
        let trace = ping_pong(turns);
        let mut sum_ns = 0;
        let steps = walk(
            &trace,
            &Wakers::new(&trace),
            &window_of(&trace),
            &mut |segment: Segment| sum_ns += segment.dur_ns(),
        );
        assert_eq!(sum_ns, window_of(&trace).wall_ns());
        steps
    };
    let (few, many) = (steps(1_000), steps(100_000));
    assert!(
        many <= few * 101,
        "{few} steps for a thousand, {many} for a hundred thousand"
    );
}

/// A shell that runs this number of commands, two at a time, and waits for each.
fn many_children(children: i32) -> Trace {
    let (mut shell, mut tasks) = (root(), Vec::new());
    for child in (2..children + 2).step_by(2) {
        let at = i64::from(child) * 10;
        let command = |tid: i32, exits_ns: i64| {
            task(tid)
                .call("read", at + 4, at + 6)
                .on("/etc/conf")
                .exit(exits_ns)
        };
        shell = shell
            .fork(at, at + 1, child)
            .fork(at + 1, at + 2, child + 1);
        shell = shell
            .wait4(at + 2, at + 11, child)
            .wait4(at + 11, at + 15, child + 1);
        tasks.extend([command(child, at + 10), command(child + 1, at + 14)]);
    }
    build([vec![shell.exit(i64::from(children) * 10 + 40)], tasks].concat())
}

#[test]
fn steps_are_proportional_to_children() {
    let steps = |children: i32| {
        let trace = many_children(children);
        let (mut sum_ns, mut own_ns) = (0, 0);
        let steps = walk(
            &trace,
            &Wakers::new(&trace),
            &window_of(&trace),
            &mut |segment: Segment| {
                sum_ns += segment.dur_ns();
                own_ns += if segment.task == TaskId::new(0) {
                    segment.dur_ns()
                } else {
                    0
                };
            },
        );
        assert_eq!(sum_ns, window_of(&trace).wall_ns());
        assert!(own_ns < sum_ns * 3 / 5, "most of it is the children's");
        steps
    };
    let (few, many) = (steps(1_000), steps(100_000));
    assert!(
        many <= few * 101,
        "{few} steps for a thousand, {many} for a hundred thousand"
    );
}

fn wait_time(segments: &[Segment], task: TaskId) -> i64 {
    segments
        .iter()
        .filter(|segment| segment.task == task)
        .map(Segment::dur_ns)
        .sum()
}

proptest! {
    #[test]
    fn charges_are_disjoint_and_fill_the_window(scripts in scripts(), from in 0i64..10, to in 0i64..40) {
        let trace = claimed(&scripts, true);
        let wakers = Wakers::new(&trace);
        for choice in [WindowChoice::default(), WindowChoice { from_ns: Some(from), to_ns: Some(to), ..WindowChoice::default() }] {
            let window = windows(&trace, &choice)[0];
            let mut at_ns = window.start_ns;
            for segment in path(&trace, &wakers, &window) {
                prop_assert_eq!(segment.start_ns, at_ns);
                prop_assert!(segment.end_ns > segment.start_ns);
                at_ns = segment.end_ns;
            }
            prop_assert_eq!(at_ns, window.end_ns);
            let table = partition(&trace, &wakers, &[window]);
            let Some(Values::Int(sums)) = table.column("exclusive_ns") else { panic!("no sums") };
            prop_assert_eq!(sums.iter().flatten().sum::<i64>(), window.wall_ns());
        }
    }

    #[test]
    fn a_task_nobody_waits_for_changes_no_charge(scripts in scripts(), at in 0i64..20, dur in 0i64..20) {
        let with = |more: bool| {
            let mut scripts = scripts.clone();
            scripts.push(vec![(1, 1, 7, 0)]);
            scripts[0].push((0, 200, 7, 0));
            let len = scripts[0].len();
            scripts[0].extend((len % 3 == 0).then_some((0, 0, 7, 0)));
            if more {
                scripts.push(vec![(at, dur, 7, 0), (at, dur, 7, 0)]);
            }
            // Calls that refer to a task by number would refer to the new one.
            scripts.iter_mut().flatten().for_each(|call| call.3 %= 2);
            let trace = claimed(&scripts, true);
            (window_of(&trace), segments(&trace))
        };
        prop_assert_eq!(with(false).0, with(true).0);
        let plain = |segments: Vec<Segment>| segments.into_iter().map(|s| (s.task, s.start_ns, s.end_ns, s.class)).collect::<Vec<_>>();
        prop_assert_eq!(plain(with(false).1), plain(with(true).1));
    }

    #[test]
    fn without_wakers_all_is_the_roots(scripts in scripts()) {
        let trace = claimed(&scripts, true);
        let window = window_of(&trace);
        let Some(root) = window.root else { return Ok(()) };
        let alone = path(&trace, &Wakers::none(&trace), &window);
        let woken = path(&trace, &Wakers::new(&trace), &window);
        let born_ns = trace.tasks[root].birth_ns;
        let late = |segments: &[Segment]| segments.iter().filter(|s| s.start_ns >= born_ns).copied().collect::<Vec<_>>();
        prop_assert!(wait_time(&late(&alone), root) >= wait_time(&late(&woken), root));
        prop_assert_eq!(wait_time(&late(&alone), root), window.end_ns - born_ns.max(window.start_ns));
    }
}

#[test]
fn the_slow_login_is_the_quota_process() {
    let path_of = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../samples/ssh-login/ssh-login.truss"
    )
    .to_owned();
    let Ok(trace) = trace::ingest::read::read(&[vec![path_of]], None, &mut |_, _| {}) else {
        panic!("the sample is readable")
    };
    let wakers = Wakers::new(&trace);
    let login = WindowChoice {
        from_ns: Some(2_659_400_000),
        to_ns: Some(14_081_400_000),
        ..WindowChoice::default()
    };
    for choice in [WindowChoice::default(), login] {
        let window = windows(&trace, &choice)[0];
        let segments = path(&trace, &wakers, &window);
        let of_quota = |segment: &&Segment| trace.tasks[segment.task].pid == 12200;
        assert_eq!(
            segments
                .iter()
                .filter(of_quota)
                .map(Segment::dur_ns)
                .sum::<i64>(),
            10_260_900_000
        );
        let slow = |segment: &&Segment| {
            let op = segment
                .what
                .row()
                .map(|row| trace.events.shape(row).op)
                .unwrap_or_default();
            trace.events.texts.bytes(op) == b"ZFS_IOC_OBJSET_STATS"
        };
        assert_eq!(
            segments
                .iter()
                .filter(slow)
                .map(Segment::dur_ns)
                .sum::<i64>(),
            9_741_200_000
        );
    }
}

/// A poller (the root) that checks at 20, 30, 40 … for 1 each, sleeps between, and succeeds at 80; the producer ends at
/// 74.
fn polled(check: impl Fn(TaskPlan, i64, bool) -> TaskPlan, producer: TaskPlan) -> Vec<TaskPlan> {
    let mut poller = root().fork(1, 10, 2);
    for from in [20, 35, 50, 65] {
        poller = check(poller, from, false)
            .call("nanosleep", from + 2, from + 14)
            .returns(0);
    }
    vec![check(poller, 80, true).exit(100), producer]
}

#[test]
fn a_poll_loop_charges_the_producer_and_then_the_lag() {
    let path = |plan: TaskPlan, syscall: &str, from: i64| {
        plan.call(syscall, from, from + 1).on("/run/x").returns(0)
    };
    let missing = |syscall: &'static str| {
        move |plan: TaskPlan, from: i64, found: bool| {
            let plan = path(plan, syscall, from);
            if found { plan } else { plan.fails("ENOENT") }
        }
    };
    let there = |plan: TaskPlan, from: i64, gone: bool| {
        let plan = path(plan, "stat", from);
        if gone { plan.fails("ENOENT") } else { plan }
    };
    let lock = |plan: TaskPlan, from: i64, free: bool| {
        let plan = path(plan, "mkdir", from);
        if free { plan } else { plan.fails("EEXIST") }
    };
    let refused = |plan: TaskPlan, from: i64, taken: bool| {
        let plan = plan
            .call("connect", from, from + 1)
            .on("127.0.0.1:80")
            .returns(0);
        if taken {
            plan
        } else {
            plan.fails("ECONNREFUSED")
        }
    };
    let no_data = |plan: TaskPlan, from: i64, some: bool| {
        let plan = plan.call("read", from, from + 1).on("pipe:[7]");
        if some { plan } else { plan.fails("EAGAIN") }
    };
    let alive = |plan: TaskPlan, from: i64, gone: bool| {
        let plan = plan.call("kill", from, from + 1).on("2").op("0").returns(0);
        if gone { plan.fails("ESRCH") } else { plan }
    };
    let waits = |plan: TaskPlan, from: i64, ended: bool| {
        if ended {
            plan.wait4(from, from + 1, 2).on("2")
        } else {
            plan.call("wait4", from, from + 1).on("2").returns(0)
        }
    };
    let tries = |plan: TaskPlan, from: i64, free: bool| {
        let plan = plan
            .call("flock", from, from + 1)
            .on("/run/x")
            .op("LOCK_EX|LOCK_NB")
            .returns(0);
        if free { plan } else { plan.fails("EAGAIN") }
    };
    let works = || task(2).call("brk", 10, 11);
    let locks = |syscall: &str, op: &str, from: i64, plan: TaskPlan| {
        plan.call(syscall, from, from + 4)
            .on("/run/x")
            .op(op)
            .returns(0)
    };
    let holds = locks(
        "flock",
        "LOCK_UN",
        70,
        locks("flock", "LOCK_EX", 12, works()),
    )
    .exit(200);
    let does = |syscall: &str, target: &str| {
        works()
            .call(syscall, 70, 74)
            .on(target)
            .returns(0)
            .exit(200)
    };
    let opens = works()
        .call("openat", 70, 74)
        .on("/run/x")
        .makes()
        .exit(200);
    let listens = works()
        .call("bind", 12, 13)
        .on("0.0.0.0:80")
        .returns(0)
        .call("listen", 70, 74)
        .returns(0)
        .exit(200);
    let cases: Vec<(&str, Vec<TaskPlan>)> = vec![
        (
            "a path is made",
            polled(missing("stat"), does("mkdir", "/run/x")),
        ),
        (
            "a path is opened by name",
            polled(missing("openat"), does("symlink", "/run/x")),
        ),
        (
            "a relative path",
            polled(missing("access"), does("mkdir", "run/x")),
        ),
        (
            "a path is opened to be made",
            polled(missing("stat"), opens),
        ),
        ("a path is removed", polled(there, does("unlink", "/run/x"))),
        (
            "a folder that is a lock",
            polled(lock, does("rmdir", "/run/x")),
        ),
        ("a lock is given back", polled(tries, holds)),
        ("a server listens", polled(refused, listens)),
        (
            "something is written",
            polled(no_data, does("write", "pipe:[7]")),
        ),
        ("a process ends", polled(alive, works().exit(74))),
        ("a child ends", polled(waits, works().exit(74))),
    ];
    for (claim, plans) in cases {
        let trace = build(plans);
        let segments = segments(&trace);
        assert_eq!(
            exclusive_by_task(&trace, &segments),
            vec![100 - 54, 54],
            "{claim}"
        );
        let tagged = |tag: Tag| {
            segments
                .iter()
                .filter(|segment| segment.tag == tag)
                .map(Segment::dur_ns)
                .sum::<i64>()
        };
        assert_eq!((tagged(Tag::Polled), tagged(Tag::Lag)), (54, 6), "{claim}");
    }
}

#[test]
fn a_name_found_elsewhere_each_time_was_searched() {
    let searched = |plan: TaskPlan, from: i64, found: bool| {
        let plan = plan.call("stat", from, from + 1).on("/run/x");
        match found {
            true => plan.returns(0),
            false => plan
                .fails("ENOENT")
                .call("stat", from + 1, from + 2)
                .on("/lib/x")
                .returns(0),
        }
    };
    let producer = task(2)
        .call("mkdir", 70, 74)
        .on("/run/x")
        .returns(0)
        .exit(200);
    let trace = build(polled(searched, producer));
    let segments = segments(&trace);
    assert!(
        segments
            .iter()
            .all(|segment| !matches!(segment.tag, Tag::Polled | Tag::Lag))
    );
}
