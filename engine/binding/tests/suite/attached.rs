//! Captures of programs that were running before: their tasks, and the relations of these.

use path::critical_path::segment::Segment;
use path::critical_path::walk::path;
use path::critical_path::window::{Window, WindowChoice, windows};
use path::waits::wakers::Wakers;
use std::io::Write;
use trace::ingest::read::read_recorded;
use trace::store::index::TaskId;
use trace::store::trace::{RecordedFacts, Trace};

fn read(lines: &str) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    file.write_all((lines.trim().to_owned() + "\n").as_bytes())
        .expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    trace::ingest::read::read(&[capture], None, &mut |_, _| {})
        .unwrap_or_else(|_| panic!("not read: {lines}"))
}

/// Each task: its id, its process, and its relation to others.
fn tasks(trace: &Trace) -> Vec<String> {
    let of = |task: &trace::store::tasks::Task| {
        let what = if task.is_thread { "thread" } else { "child" };
        match trace.tasks.get(task.creator) {
            Some(creator) => format!("{} of {}: {what} of {}", task.tid, task.pid, creator.tid),
            None => format!("{} of {}", task.tid, task.pid),
        }
    };
    trace.tasks.iter().map(of).collect()
}

/// Name, lines, and the tasks.
#[rustfmt::skip]
const CASES: &[(&str, &str, &[&str])] = &[
    ("a joined task is a thread", r#"
500 1795361000.000000 futex(0x7f1d47771990, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 501, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
501 1795361000.000050 read(3, "x", 1) = 1 <0.000020>
501 1795361000.400350 exit(0) = ?
501 1795361000.400400 +++ exited with 0 +++
500 1795361000.400430 <... futex resumed>) = 0 <0.400430>
500 1795361000.400500 exit_group(0) = ?
500 1795361000.400600 +++ exited with 0 +++
"#, &["500 of 500", "501 of 500: thread of 500"]),
    ("a thread that joins another one may be joined itself", r#"
500 1795361000.000000 futex(0x7f1d47771990, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 502, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
502 1795361000.000010 futex(0x7f1d47772990, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 501, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
501 1795361000.000050 read(3, "x", 1) = 1 <0.000020>
501 1795361000.400350 exit(0 <unfinished ...>
502 1795361000.400430 <... futex resumed>) = 0 <0.400430>
501 1795361000.400440 <... exit resumed>) = ?
501 1795361000.400450 +++ exited with 0 +++
502 1795361000.400500 exit(0) = ?
502 1795361000.400510 +++ exited with 0 +++
500 1795361000.400530 <... futex resumed>) = 0 <0.400530>
500 1795361000.400600 exit_group(0) = ?
"#, &["500 of 500", "502 of 500: thread of 500", "501 of 500: thread of 502"]),
    ("a process with a traced creation keeps its creator, regardless of the waiter", r#"
600 1795361000.000000 getpid() = 600 <0.000010>
601 1795361000.000100 clone(child_stack=NULL, flags=SIGCHLD) = 602 <0.000100>
602 1795361000.000300 getpid() = 602 <0.000010>
601 1795361000.000400 exit_group(0) = ?
601 1795361000.000500 +++ exited with 0 +++
600 1795361000.000600 wait4(-1, NULL, 0, NULL) = 601 <0.000051>
602 1795361000.000700 exit_group(0) = ?
602 1795361000.000800 +++ exited with 0 +++
600 1795361000.000900 wait4(-1, NULL, 0, NULL) = 602 <0.000051>
"#, &["600 of 600", "601 of 601: child of 600", "602 of 602: child of 601"]),
    ("a reused id refers to its last process", r#"
600 1795361000.000000 getpid() = 600 <0.000010>
601 1795361000.000100 getpid() = 601 <0.000010>
601 1795361000.000400 exit_group(0) = ?
601 1795361000.000500 +++ exited with 0 +++
601 1795361000.100100 getpid() = 601 <0.000010>
601 1795361000.100400 exit_group(0) = ?
601 1795361000.100500 +++ exited with 0 +++
600 1795361000.100600 wait4(-1, NULL, 0, NULL) = 601 <0.000051>
"#, &["600 of 600", "601 of 601", "601 of 601: child of 600"]),
    ("ids without announcement are threads that the tracer attached to", r#"
strace: Process 500 attached with 3 threads
[pid   502] 10:00:00.100000 futex(0x7f00, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
[pid   501] 10:00:00.100001 read(9,  <unfinished ...>
[pid   500] 10:00:00.200002 futex(0x7f00, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>
[pid   502] 10:00:00.200101 <... futex resumed>) = 0 <0.100100>
[pid   503] 10:00:00.200201 getpid() = 503 <0.000010>
[pid   501] 10:00:01.100001 <... read resumed>"a", 1) = 1 <1.000100>
[pid   501] 10:00:01.200001 exit_group(0) = ?
"#, &["500 of 500", "502 of 500: thread of 500", "501 of 500: thread of 500", "503 of 503"]),
    ("threads of two attached processes are not assigned to either", r#"
strace: Process 500 attached with 2 threads
strace: Process 600 attached with 2 threads
[pid   500] 10:00:00.100000 getpid() = 500 <0.000010>
[pid   501] 10:00:00.100100 getuid() = 0 <0.000010>
[pid   600] 10:00:00.100200 getpid() = 600 <0.000010>
[pid   601] 10:00:00.100300 getuid() = 0 <0.000010>
"#, &["500 of 500", "501 of 501", "600 of 600", "601 of 601"]),
    ("a task that the tracer announces is not one of the earlier threads", r#"
strace: Process 500 attached with 2 threads
strace: Process 600 attached
[pid   500] 10:00:00.100000 getpid() = 500 <0.000010>
[pid   600] 10:00:00.100100 getpid() = 600 <0.000010>
[pid   501] 10:00:00.100200 getpid() = 500 <0.000010>
"#, &["500 of 500", "600 of 600", "501 of 500: thread of 500"]),
    ("a task is not a thread if it runs a program under its own id, is waited for, or was returned by a fork", r#"
strace: Process 500 attached with 4 threads
[pid   500] 10:00:00.100000 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
[pid   501] 10:00:00.100010 getpid() = 501 <0.000010>
[pid   502] 10:00:00.100020 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000010>
[pid   503] 10:00:00.100030 exit_group(0) = ?
[pid   503] 10:00:00.100040 +++ exited with 0 +++
[pid   500] 10:00:00.100050 <... clone resumed>) = 501 <0.000050>
[pid   500] 10:00:00.100200 wait4(-1, NULL, 0, NULL) = 503 <0.000010>
"#, &["500 of 500", "501 of 501: child of 500", "502 of 502", "503 of 503: child of 500"]),
    ("a task that gets the id of another process, or is reached by its signals, is a thread of it", r#"
500 1795361000.000000 futex(0x7f00, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
501 1795361000.000100 getpid() = 500 <0.000010>
501 1795361000.000200 tgkill(500, 502, SIGURG) = 0 <0.000010>
501 1795361000.000250 tgkill(500, 600, SIGURG) = -1 ESRCH (No such process) <0.000010>
502 1795361000.000300 getpid( <unfinished ...>
600 1795361000.000400 getpid() = 600 <0.000010>
601 1795361000.000500 getpid() = 7 <0.000010>
"#, &["500 of 500", "501 of 500: thread of 500", "502 of 500: thread of 500", "600 of 600", "601 of 601"]),
    ("a task that ends without a call of its own was ended by the task with the same exit status", r#"
500 1795361000.000000 read(3,  <unfinished ...>
501 1795361000.000100 futex(0x7f00, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
502 1795361000.000200 futex(0x7f00, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>
600 1795361000.000300 getpid() = 600 <0.000010>
502 1795361000.000400 exit_group(3 <unfinished ...>
501 1795361000.000500 <... futex resumed>) = ?
600 1795361000.000505 exit_group(0) = ?
502 1795361000.000510 <... exit_group resumed>) = ?
501 1795361000.000520 +++ exited with 3 +++
502 1795361000.000530 +++ exited with 3 +++
600 1795361000.000535 +++ exited with 0 +++
500 1795361000.000540 <... read resumed> <unfinished ...>) = ?
500 1795361000.000560 +++ exited with 3 +++
"#, &["500 of 500", "501 of 500: thread of 500", "502 of 500: thread of 500", "600 of 600"]),
    ("of two tasks that may have ended it, neither is taken", r#"
500 1795361000.000000 read(3,  <unfinished ...>
501 1795361000.000100 futex(0x7f00, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
502 1795361000.000200 futex(0x7f00, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>
600 1795361000.000300 getpid() = 600 <0.000010>
502 1795361000.000400 exit_group(3 <unfinished ...>
501 1795361000.000500 <... futex resumed>) = ?
600 1795361000.000505 exit_group(3) = ?
502 1795361000.000510 <... exit_group resumed>) = ?
501 1795361000.000520 +++ exited with 3 +++
502 1795361000.000530 +++ exited with 3 +++
600 1795361000.000535 +++ exited with 3 +++
500 1795361000.000540 <... read resumed> <unfinished ...>) = ?
500 1795361000.000560 +++ exited with 3 +++
"#, &["500 of 500", "501 of 501", "502 of 502", "600 of 600"]),
];

#[test]
fn attached_tasks_get_their_relations_from_the_capture() {
    for (name, lines, expected) in CASES {
        let trace = read(lines);
        assert_eq!(tasks(&trace), *expected, "{name}");
        let window = windows(&trace, &WindowChoice::default())[0];
        let segments = path(&trace, &Wakers::new(&trace), &window);
        let charged_ns: i64 = segments.iter().map(Segment::dur_ns).sum();
        assert_eq!(
            charged_ns,
            window.wall_ns(),
            "{name}: all of the window, and no more"
        );
    }
}

// Believed: threads of an attached process have descriptors of their own.
#[test]
fn attached_threads_share_their_descriptors() {
    let trace = read(
        r#"
strace: Process 500 attached with 2 threads
[pid   501] 10:00:00.100001 getpid() = 500 <0.000010>
[pid   500] 10:00:00.100012 openat(AT_FDCWD, "/etc/x", O_RDONLY) = 9 <0.000010>
[pid   501] 10:00:00.200201 read(9, "a", 1) = 1 <0.000010>
"#,
    );
    assert_eq!(trace.events.texts.string(trace.events.target(2)), "/etc/x");
}

// Believed: a task with a creator was created in the capture. The parent's work before the child's first event is
// unrelated to it.
#[test]
fn the_path_stays_in_an_older_task_before_its_first_event() {
    let trace = read(
        r#"
600 1795361000.000000 getpid() = 600 <0.000010>
601 1795361000.100000 read(3, "x", 1) = 1 <0.000020>
600 1795361000.100010 wait4(-1,  <unfinished ...>
601 1795361000.200000 exit_group(0) = ?
601 1795361000.200010 +++ exited with 0 +++
600 1795361000.200020 <... wait4 resumed>NULL, 0, NULL) = 601 <0.100010>
"#,
    );
    let window = Window {
        root: Some(TaskId::new(1)),
        ..windows(&trace, &WindowChoice::default())[0]
    };
    let segments = path(&trace, &Wakers::new(&trace), &window);
    assert!(
        segments
            .iter()
            .all(|segment| segment.task == TaskId::new(1))
    );
}

#[test]
fn a_task_with_lines_during_an_open_vfork_is_its_child() {
    let trace = read(
        r#"
100 1700000000.000000 execve("/bin/sh", ["sh"], 0x7f /* 1 var */) = 0 <0.000100>
100 1700000000.001000 vfork( <unfinished ...>
101 1700000000.002000 openat(AT_FDCWD, "/nfs/x", O_RDONLY) = 3 <2.000010>
"#,
    );
    assert_eq!(tasks(&trace), ["100 of 100", "101 of 101: child of 100"]);
    assert!(trace.tasks.raw[1].vfork && trace.captures[0].presumed_children == 1);
}

#[test]
fn a_program_starts_in_the_clock_tick_of_its_execves_end() {
    let trace = read(
        r#"
101 10:00:00 execve("/bin/sh", ["sh"], 0x7f /* 1 var */) = 0 <0.000300>
101 10:00:01 execve("/bin/sleep", ["sleep", "4"], 0x7f /* 1 var */) = 0 <0.300000>
101 10:00:01 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=4, tv_nsec=0}, NULL) = 0 <4.000100>
101 10:00:05 exit_group(0) = ?
"#,
    );
    let slept_ns = trace.events.start_ns(2);
    let program =
        trace::store::tasks::program_at(&trace.tasks, TaskId::new(0), slept_ns).expect("a program");
    assert_eq!(trace.events.texts.string(program.path), "/bin/sleep");
}

/// The window of a capture whose tracer let go of the tasks two seconds after it attached, and its tasks.
fn recorded(lines: &str, threads: &[(i32, i32)]) -> (Window, Trace) {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    file.write_all(lines.as_bytes()).expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    let known = RecordedFacts {
        ended_ns: 1_795_361_002_000_000_000,
        has_durations: true,
        threads: threads.to_vec(),
        programs: vec![(500, b"/usr/bin/app".to_vec(), b"app --fast".to_vec())],
        parents: Vec::new(),
        untraced_ns: parsers::NO_NS,
    };
    let trace = read_recorded(&[capture], &[Some(known)], None, &mut |_, _| {}).expect("a trace");
    (windows(&trace, &WindowChoice::default())[0], trace)
}

#[test]
fn open_calls_last_until_the_tracer_lets_go() {
    let read = "500 1795361000.000000 read(3, \"x\", 1) = 1 <0.000020>\n";
    let sleeps = "500 1795361000.100000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=30, tv_nsec=0},  <detached ...>\n";
    for lines in [
        sleeps.to_owned(),
        format!("{read}{sleeps}"),
        read.to_owned(),
    ] {
        let (window, trace) = recorded(&lines, &[]);
        assert_eq!(window.end_ns, 1_795_361_002_000_000_000, "{lines}");
        assert_eq!(trace.captures[0].last_ns, window.end_ns);
        let charged: i64 = path(&trace, &Wakers::new(&trace), &window)
            .iter()
            .map(|segment| segment.end_ns - segment.start_ns)
            .sum();
        assert_eq!(charged, window.wall_ns());
    }
}

#[test]
fn end_of_tracing_does_not_extend_what_ended_before() {
    let (window, _) = recorded(
        "500 1795361000.000000 read(3, \"x\", 1) = 1 <0.000020>\n500 1795361001.000000 +++ exited with 0 +++\n",
        &[],
    );
    assert_eq!(window.end_ns, 1_795_361_001_000_000_000);
    assert_eq!(window.root, Some(TaskId::new(0)));
}

#[test]
fn walk_starts_in_a_task_that_lives_when_the_tracer_lets_go() {
    let (window, _) = recorded(
        "500 1795361000.000000 read(3, \"x\", 1) = 1 <0.000020>\n\
         500 1795361000.100000 read(3,  <unfinished ...>\n\
         501 1795361000.200000 read(4, \"x\", 1) = 1 <0.000020>\n\
         501 1795361001.000000 +++ exited with 0 +++\n",
        &[],
    );
    assert_eq!(window.end_ns, 1_795_361_002_000_000_000);
    assert_eq!(window.root, Some(TaskId::new(0)));
}

#[test]
fn recorded_threads_belong_to_their_process() {
    let lines = "501 1795361000.000000 futex(0x55, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>\n\
                 500 1795361000.000000 futex(0x7f, FUTEX_WAIT_PRIVATE, 2, NULL <detached ...>\n";
    let (window, trace) = recorded(lines, &[(500, 500), (500, 501)]);
    assert_eq!(tasks(&trace), ["501 of 500: thread of 500", "500 of 500"]);
    assert_eq!(window.root, Some(TaskId::new(1)), "the main thread");
    let program = trace.tasks.raw[1].programs[0].path;
    assert_eq!(trace.events.texts.bytes(program), b"/usr/bin/app");
}

#[test]
fn recording_without_a_line_is_a_capture() {
    let (window, trace) = recorded("", &[(500, 500)]);
    assert_eq!((window.root, trace.events.len()), (None, 0));
    assert_eq!(trace.captures[0].format, "strace");
}
