//! Captures of other systems' tracers: tasks with their creators and ends, calls with their times.

use parsers::line::Ended;
use parsers::{DurKind, LineKind, NO_NS};
use path::waits::wakers::Wakers;
use std::io::Write;
use trace::store::event::EventKind;
use trace::store::event::NONE;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

fn read(lines: &[&str]) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    file.write_all((lines.join("\n") + "\n").as_bytes())
        .expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    trace::ingest::read::read(&[capture], None, &mut |_, _| {})
        .unwrap_or_else(|_| panic!("not read: {lines:?}"))
}

/// Start, duration and its kind of each call with this name, in microseconds.
fn calls(trace: &Trace, name: &str) -> Vec<(i64, i64, DurKind)> {
    let events = &trace.events;
    let us = |ns: i64| if ns == NO_NS { -1 } else { ns / 1_000 };
    let rows = (0..events.len()).filter(|&row| events.kind(row) == EventKind::Call);
    let named = rows.filter(|&row| events.texts.string(events.shape(row).syscall) == name);
    named
        .map(|row| {
            (
                us(events.start_ns(row)),
                us(events.dur_ns(row)),
                events.dur_kind(row),
            )
        })
        .collect()
}

/// Thread id, process id, number of the creator, whether it is a thread, calls.
fn tasks(trace: &Trace) -> Vec<(i32, i32, Option<u32>, bool, u32)> {
    let creator = |creator: TaskId| creator.some().map(TaskId::raw);
    let told = trace.tasks.iter();
    told.map(|task| {
        (
            task.tid,
            task.pid,
            creator(task.creator),
            task.is_thread,
            task.calls,
        )
    })
    .collect()
}

#[test]
fn solaris_first_differences_without_stamps_are_ignored() {
    let trace = read(&[
        "8:\t 0.0990\tforkx(0)\t\t\t\t= 9",
        "9:\t 0.1001\tforkx()\t\t(returning as child ...)\t= 8",
        "9:\t 3.0000\tnanosleep(0x08047A10, 0x08047B10)\t\t= 0",
        "9:\t 0.0010\t_exit(0)",
        "8:\t 3.0020\twaitid(P_PID, 9, 0x08047A10, WEXITED|WTRAPPED) = 0",
        "8:\t 0.0010\tclose(3)\t\t\t\t= 0",
        "8:\t 0.0010\t_exit(0)",
    ]);
    let calls = (0..trace.events.len()).filter(|&row| trace.events.kind(row) == EventKind::Call);
    let lengths: Vec<_> = calls
        .map(|row| trace.events.dur_ns(row) / 100_000)
        .collect();
    assert_eq!(lengths, [0, 30_000, 10, 30_020, 10, 10]);
}

#[test]
fn freebsd_calls_last_as_printed_and_start_before_their_stamp() {
    let trace = read(&[
        "0.000100000 0.000010000 open(\"/etc/x\",O_RDONLY,00)\t ERR#2 'No such file or directory'",
        "1.000300000 1.000050000 nanosleep({ 1.000000000 })\t = 0 (0x0)",
    ]);
    assert_eq!(calls(&trace, "open"), [(90, 10, DurKind::Exact)]);
    assert_eq!(
        calls(&trace, "nanosleep"),
        [(250, 1_000_050, DurKind::Exact)]
    );
}

#[test]
fn freebsd_stamps_alone_bound_the_durations() {
    let trace = read(&[
        "  812: 0.000100000 getpid()\t = 812 (0x32c)",
        "  812: 0.000300000 close(3)\t = 0 (0x0)",
        "  812: 1.000300000 close(4)\t = 0 (0x0)",
    ]);
    // A close takes no second: the program computed before it.
    assert_eq!(
        calls(&trace, "close"),
        [
            (100, 200, DurKind::UpperBound),
            (999_800, 500, DurKind::UpperBound)
        ]
    );
}

#[test]
fn a_signal_of_freebsd_shows_the_call_that_it_broke_off() {
    let lines = |signal_dur: &str| {
        let [signal, killed] = [
            "SIGNAL 15 (SIGTERM) code=SI_USER pid=900 uid=0",
            "process killed, signal = 15",
        ];
        [
            "  712: 0.002000000 0.000010000 getpid() = 712 (0x2c8)".to_owned(),
            format!("  712: 2.100000000 {signal_dur} {signal}"),
            format!("  712: 2.100200000 {signal_dur} {killed}"),
        ]
    };
    let read = |signal_dur: &str| read(&lines(signal_dur).each_ref().map(String::as_str));
    assert_eq!(
        calls(&read("2.090000000"), "unknown"),
        [(10_000, 2_090_000, DurKind::Exact)]
    );
    // The last call had returned: its time and that of the program after it.
    assert_eq!(calls(&read("2.098010000"), "unknown"), []);
}

#[test]
fn freebsd_durations_alone_have_no_place_in_time() {
    let trace = read(&[
        "  812: 0.000100000 getpid()\t = 812 (0x32c)",
        "  812: 0.000017000 close(3)\t = 0 (0x0)",
    ]);
    assert_eq!(calls(&trace, "close"), [(-1, 17, DurKind::Exact)]);
    assert!(!trace.captures[0].has_wall_clock());
}

/// The fork returns before or after the child's first line, with thread ids or without.
#[test]
fn freebsd_children_and_their_ends_are_linked_from_either_side() {
    let (before, after) = (
        "0.000300000 0.000050000 fork()\t = 4712 (0x1268)",
        "0.000250000 0.000000000 <new process>",
    );
    for (parent, child) in [("  812: ", " 4712: "), ("  812 100100: ", " 4712 100200: ")] {
        for child_first in [false, true] {
            let mut lines = vec![format!(
                "{parent}0.000200000 0.000010000 close(3)\t = 0 (0x0)"
            )];
            let (fork, birth) = (format!("{parent}{before}"), format!("{child}{after}"));
            lines.extend(if child_first {
                [birth, fork]
            } else {
                [fork, birth]
            });
            lines.push(format!("{child}0.000500000 0.000010000 exit(0x3)\t"));
            lines.push(format!(
                "{child}0.000600000 0.000110000 process exit, rval = 3"
            ));
            lines.push(format!(
                "{parent}0.000700000 0.000300000 wait4(-1,{{ EXITED,val=3 }},0x0,0x0)\t = 4712 (0x1268)"
            ));
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let trace = read(&lines);
            let (first, second) = (&trace.tasks.raw[0], &trace.tasks.raw[1]);
            assert_eq!(
                (trace.tasks.len(), first.pid, second.pid),
                (2, 812, 4712),
                "{lines:?}"
            );
            assert_eq!(
                (second.creator, second.is_thread, second.created_by != NONE),
                (TaskId::new(0), false, true),
                "{lines:?}"
            );
            assert_eq!(
                (second.ended, second.death_ns),
                (Some(Ended::Exited(3)), 600_000),
                "{lines:?}"
            );
            assert_eq!(trace.captures[0].unseen_children, 0, "{lines:?}");
        }
    }
}

#[test]
fn freebsd_threads_belong_to_their_process() {
    let with_process = read(&[
        "  812 100100: thr_new(0x7fffffffd9e0,0x68)\t = 0 (0x0)",
        "  812 100101: <new thread 100101>",
        "  812 100101: getpid()\t = 812 (0x32c)",
        "  812 100101: <thread 100101 exited>",
        "  812 100100: close(3)\t = 0 (0x0)",
    ]);
    assert_eq!(
        tasks(&with_process),
        [
            (100_100, 812, None, false, 2),
            (100_101, 812, Some(0), true, 1)
        ]
    );
    assert_eq!(with_process.tasks.raw[1].ended, Some(Ended::Exited(0)));
    let threads_only = read(&[
        "100100: thr_new(0x7fffffffd9e0,0x68)\t = 0 (0x0)",
        "100101: <new thread 100101>",
        "100101: getpid()\t = 812 (0x32c)",
        "100101: <thread 100101 exited>",
    ]);
    assert_eq!(
        tasks(&threads_only),
        [
            (100_100, 100_100, None, false, 1),
            (100_101, 100_100, Some(0), true, 1)
        ]
    );
    let mixed = read(&[
        "  812: <new thread 100101>",
        "  812: getpid()\t = 812 (0x32c)",
        "  812: <thread 100101 exited>",
    ]);
    assert_eq!(tasks(&mixed), [(812, 812, None, false, 1)]);
    assert_eq!(mixed.tasks.raw[0].ended, None);
}

#[test]
fn freebsd_joins_wait_for_the_end_of_the_named_thread() {
    let trace = read(&[
        "  812 100100: 0.000200000 0.000010000 thr_new(0x7fffffffd9e0,0x68)\t = 0 (0x0)",
        "  812 100101: 0.000250000 0.000000000 <new thread 100101>",
        "  812 100100: 0.000300000 0.000010000 thr_new(0x7fffffffd9e0,0x68)\t = 0 (0x0)",
        "  812 100102: 0.000350000 0.000000000 <new thread 100102>",
        "  812 100101: 1.300000000 0.000100000 <thread 100101 exited>",
        "  812 100102: 1.300050000 0.000100000 <thread 100102 exited>",
        "  812 100100: 1.299950000 1.299600000 _umtx_op(0x800c0a100,UMTX_OP_WAIT,0x18705,0x0,0x0)\t = 0 (0x0)",
        "  812 100100: 2.000000000 0.700000000 _umtx_op(0x800c0b100,UMTX_OP_WAIT,0x5,0x0,0x0)\t = 0 (0x0)",
    ]);
    let wakers = Wakers::new(&trace);
    let waits: Vec<_> = trace
        .spans_of(TaskId::new(0), 0..usize::MAX, NO_NS)
        .filter(|(_, span)| span.end_ns > 1_000_000)
        .collect();
    let ends = waits.into_iter().map(|(at, span)| {
        wakers
            .waker(&trace, TaskId::new(0), at, span)
            .map(|edge| (edge.task, edge.at_ns))
    });
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [Some((TaskId::new(1), 1_299_950_000)), None]
    );
}

const ALL: &str = "\tPID/THRD  RELATIVE  ELAPSD    CPU SYSCALL(args) \t\t = return";

#[test]
fn dtruss_knows_durations_and_cpu_times_but_no_wall_clock() {
    let trace = read(&[
        ALL,
        "8/0x1:      283      80     18 write(0x7, \"x\\0\", 0x1)\t\t = 1 0",
    ]);
    assert_eq!(calls(&trace, "write"), [(-1, 80, DurKind::Exact)]);
    assert_eq!(trace.events.event(0).cpu_ns, 18_000);
    assert!(!trace.captures[0].has_wall_clock());
}

#[test]
fn dtruss_colon_lines_are_not_calls_and_forks_link_children() {
    let trace = read(&[
        ALL,
        "8/0x1:      10:       0:      0 fork()\t\t = 0 0",
        "8/0x1:      20       3      2 close(0x3)\t\t = 0 0",
        "9/0x7:      10:       0:      0 fork()\t\t = 0 0",
        "8/0x1:      90      60     50 fork()\t\t = 9 0",
        "9/0x7:      20       3      2 close(0x3)\t\t = 0 0",
        "8/0x2:      10:       0:      0 fork()\t\t = 0 0",
        "8/0x2:      20       3      2 close(0x4)\t\t = 0 0",
    ]);
    let expected = [
        (1, 8, None, false, 2),
        (7, 9, Some(0), false, 1),
        (2, 8, Some(0), true, 1),
    ];
    assert_eq!(tasks(&trace), expected);
    assert_eq!(
        (
            calls(&trace, "fork").len(),
            trace.captures[0].lines_of(LineKind::Process)
        ),
        (1, 3)
    );
}

#[test]
fn a_second_header_of_dtruss_begins_a_run_with_other_tasks_and_columns() {
    let trace = read(&[
        ALL,
        "8/0x1:      20       3      2 close(0x3)\t\t = 0 0",
        "\tPID/THRD   ELAPSD SYSCALL(args) \t\t = return",
        "8/0x1:       5 close(0x3)\t\t = 0 0",
    ]);
    assert_eq!(
        tasks(&trace),
        [(1, 8, None, false, 1), (1, 8, None, false, 1)]
    );
    assert_eq!(
        calls(&trace, "close"),
        [(-1, 3, DurKind::Exact), (-1, 5, DurKind::Exact)]
    );
}

#[test]
fn dtrace_losses_and_table_counts_are_recorded() {
    let trace = read(&[
        ALL,
        "8/0x1:      20       3      2 close(0x3)\t\t = 0 0",
        "dtrace: 120 drops on CPU 3",
        "",
        "CALL                                        COUNT",
        "close                                           1",
        "exit                                            1",
    ]);
    let capture = &trace.captures[0];
    assert_eq!(
        (
            capture.lines_of(LineKind::Dropped),
            capture.lines_of(LineKind::SummaryTable)
        ),
        (1, 3)
    );
    assert_eq!(capture.lost_events, 120);
    let counts: Vec<_> = capture
        .summary
        .iter()
        .map(|row| (row.syscall.as_str(), row.calls))
        .collect();
    assert_eq!(counts, [("close", 1), ("exit", 1)]);
}

// Believed: each task prints its own end. One exit ends all threads of the process, and most tracers print it once.
#[test]
fn the_end_of_a_process_is_that_of_all_its_threads() {
    let captures: [(&str, &[&str]); 6] = [
        (
            "kdump -H",
            &[
                "   700 100100 sh       1300000000.000000100 CALL  getpid",
                "   700 100100 sh       1300000000.000000200 RET   getpid 700/0x2bc",
                "   700 100101 sh       1300000000.000000300 CALL  nanosleep(0x1,0)",
                "   700 100100 sh       1300000000.000000900 CALL  exit(0x3)",
            ],
        ),
        (
            "FreeBSD truss -f -H -d",
            &[
                "  700 100100: 0.000000100 thr_new(0x7fff,0x68)\t = 0 (0x0)",
                "  700 100101: 0.000000200 <new thread 100101>",
                "  700 100101: 0.000000300 getpid()\t = 700 (0x2bc)",
                "  700 100100: 0.000000900 process exit, rval = 3",
            ],
        ),
        (
            "Solaris truss",
            &[
                "700/1:\t 0.0001\tlwp_create(0x08047A10, 0, 0x08047A0C)\t= 2",
                "700/2:\t 0.0002\tlwp_create()\t(returning as new lwp ...)\t= 0",
                "700/2:\t 0.0003\tgetpid()\t\t= 700 [1]",
                "700/1:\t 0.0009\t_exit(3)",
            ],
        ),
        (
            "perf trace",
            &[
                "     0.100 ( 0.010 ms): t/700 clone(clone_flags: VM|FILES|THREAD, newsp: 0x7f01) = 701 (t)",
                "     0.200 ( 0.010 ms): t/701 getpid() = 700",
                "     0.900 (         ): t/700 exit_group(error_code: 3) = ?",
            ],
        ),
        (
            "strace -qq",
            &[
                r#"700 1795248057.000100 execve("/srv/a", ["a"], 0x7ffd /* 1 var */) = 0 <0.000300>"#,
                r"700 1795248057.000500 clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 701 <0.000020>",
                r"701 1795248057.000600 futex(0x7f01, FUTEX_WAIT, 2, NULL <unfinished ...>",
                r"700 1795248057.000900 exit_group(3) = ?",
            ],
        ),
        (
            "a deadly signal",
            &[
                "700/1:\t 0.0001\tlwp_create(0x08047A10, 0, 0x08047A0C)\t= 2",
                "700/2:\t 0.0002\tlwp_create()\t(returning as new lwp ...)\t= 0",
                "700/2:\t 0.0009\t    Received signal #15, SIGTERM [default]",
            ],
        ),
    ];
    for (name, lines) in captures {
        let trace = read(lines);
        let ends: Vec<_> = trace
            .tasks
            .iter()
            .map(|task| (task.pid, task.ended.is_some(), task.death_ns))
            .collect();
        assert_eq!(ends.len(), 2, "{name}");
        assert!(
            ends.iter().all(|&(pid, ended, _)| pid == 700 && ended),
            "{name}: {ends:?}"
        );
        assert!(
            ends[0].2 != NO_NS && ends[0].2 == ends[1].2,
            "{name}: {ends:?}"
        );
    }
}

#[test]
fn a_process_with_the_id_of_an_ended_thread_is_another_task() {
    let trace = read(&[
        "     0.100 ( 0.010 ms): t/700 clone(clone_flags: VM|FILES|THREAD, newsp: 0x7f01) = 701 (t)",
        "     0.200 ( 0.010 ms): t/701 getpid() = 700",
        "     0.900 (         ): t/700 exit_group(error_code: 3) = ?",
        "     0.950 (         ): t/701 exit() = ?",
        "  5000.000 ( 0.010 ms): u/701 getpid() = 701",
    ]);
    assert_eq!(
        tasks(&trace).iter().map(|task| task.4).collect::<Vec<_>>(),
        [2, 2, 1]
    );
}

#[test]
fn a_capture_pasted_from_mail_or_html_reads_the_same() {
    let solaris = [
        "700/1:\t 0.0001\tlwp_create(0x08047A10, 0, 0x08047A0C)\t= 2",
        "",
        "700/2:\t 0.0003\topen(\"/x\", O_RDONLY)\t\tErr#2 ENOENT",
        "700/1:\t 0.0009\t_exit(3)",
    ];
    let strace = [
        "700 1700000000.000100 execve(\"/bin/x\", [\"x\"], 0x7f /* 1 var */) = 0 <0.000100>",
        "",
        "700 1700000000.000300 open(\"/x\", O_RDONLY) = 3 <0.000010>",
        "700 1700000000.000900 +++ exited with 3 +++",
    ];
    let kernel = [
        "[    0.000000] Linux version 6.1.0",
        "",
        "[    0.400000] pci 0000:00:1f.0: found",
        "[    1.2] x",
    ];
    let wrap = |line: &str, mark: &str| match line {
        "" => mark.trim_end().to_owned(),
        line => format!("{mark}{line}"),
    };
    for lines in [&solaris[..], &strace, &kernel] {
        let plain = read(lines);
        for mark in ["    ", "\t", "> ", ">", "> > ", ">> ", ">     "] {
            let wrapped: Vec<String> = lines.iter().map(|line| wrap(line, mark)).collect();
            let mut wrapped: Vec<&str> = wrapped.iter().map(String::as_str).collect();
            let same = |other: &Trace, foreign: u64| {
                let (mut one, other) = (
                    plain.captures[0].accounting.clone(),
                    &other.captures[0].accounting,
                );
                one[LineKind::Foreign as usize] += foreign;
                assert_eq!(&one, other, "{mark:?} {}", lines[0]);
            };
            same(&read(&wrapped), 0);
            if mark.contains('>') {
                wrapped.insert(0, "Hi, our login hangs:");
                wrapped.push("Any ideas?");
                same(&read(&wrapped), 2);
            }
        }
    }
    // The output of a traced program with such quoting is not a capture.
    let own = read(&[
        "700 close(3) = 0",
        "> said the program",
        "700 close(4) = 0",
        "700 close(5) = 0",
    ]);
    assert_eq!(own.captures[0].lines_of(LineKind::Foreign), 1);
}

#[test]
fn a_capture_is_recognised_by_its_first_line_however_long_it_is() {
    let words = "\"word\", ".repeat(100_000);
    let first = format!(
        "700 1700000000.000100 execve(\"/bin/x\", [{words}\"x\"], 0x7f /* 1 var */) = 0 <0.000100>"
    );
    let trace = read(&[&first, "700 1700000000.000300 close(3) = 0 <0.000010>"]);
    assert_eq!(calls(&trace, "close").len(), 1);
}

/// A log stamps the end of a line, and late: the child's first call, which ended then, seems to start before the call
/// that creates it. The first half of that call was logged at the same time.
#[test]
fn a_child_with_log_stamps_has_its_creator() {
    let lines = [
        "700 execve(\"/bin/sh\", [\"sh\"], 0x7f /* 1 var */) = 0 <0.000100>",
        "700 vfork( <unfinished ...>",
        "701 set_robust_list(0x7f, 24) = 0 <0.000010>",
        "700 <... vfork resumed>) = 701 <0.002000>",
        "701 exit_group(0) = ?",
        "701 +++ exited with 0 +++",
        "700 exit_group(0) = ?",
        "700 +++ exited with 0 +++",
    ];
    for stamps in [[5, 5, 5, 5, 5, 5, 5, 5], [1, 2, 2, 3, 4, 5, 6, 7]] {
        let logged = |(line, second): (&&str, i32)| format!("2026-01-02T03:04:{second:02}Z {line}");
        let logged: Vec<String> = lines.iter().zip(stamps).map(logged).collect();
        let trace = read(&logged.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(trace.captures[0].envelopes.has_clock);
        assert_eq!(
            tasks(&trace),
            [(700, 700, None, false, 3), (701, 701, Some(0), false, 2)],
            "{stamps:?}"
        );
        // A call that does not return has no duration.
        assert!(
            calls(&trace, "exit_group").iter().all(|call| call.1 <= 0),
            "{stamps:?}"
        );
    }
}
