//! How truss's timestamps and differences become the times of calls and tasks.

use parsers::Outcome;
use std::io::Write;
use trace::store::event;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

fn read(lines: &[&str]) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    writeln!(
        file,
        "Base time stamp:  1259020532.4127  [ Mon Nov 23 23:55:32 GMT 2009 ]"
    )
    .expect("a base line");
    file.write_all((lines.join("\n") + "\n").as_bytes())
        .expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    trace::ingest::read::read(&[capture], None, &mut |_, _| {})
        .unwrap_or_else(|_| panic!("not read: {lines:?}"))
}

/// Start and end of each call with this name, in ticks of 0.1 ms.
fn calls(trace: &Trace, name: &str) -> Vec<(i64, Option<i64>)> {
    let events = &trace.events;
    let rows = (0..events.len()).filter(|&row| events.kind(row) == EventKind::Call);
    let named = rows.filter(|&row| events.texts.string(events.shape(row).syscall) == name);
    named
        .map(|row| {
            (
                events.start_ns(row) / 100_000,
                events.end_ns(row).map(|ns| ns / 100_000),
            )
        })
        .collect()
}

#[test]
fn an_interrupted_call_starts_before_its_signal() {
    let trace = read(&[
        "8:\t 1.0000\t 1.0000\t 0.0000\tforkx(0)\t\t\t\t= 9",
        "9:\t 1.0000\t 1.0000\t 0.0000\tforkx()\t\t(returning as child ...)\t= 8",
        "9:\t 3.0000\t 2.0000\t 0.0000\t_exit(0)",
        "8:\t 3.0001\t 2.0001\t 0.0000\t    Received signal #18, SIGCLD, in waitid() [default]",
        "8:\t      siginfo: SIGCLD CLD_EXITED pid=9 status=0x0000",
        "8:\t 3.0002\t 0.0001\t 0.0000\twaitid(P_ALL, 0, 0x080473B0, WEXITED|WTRAPPED) = 0",
        "8:\t 3.0003\t 0.0001\t 0.0000\tgetpid()\t\t\t\t= 8 [1]",
    ]);
    assert_eq!(calls(&trace, "waitid"), [(10_000, Some(30_002))]);
    assert_eq!(calls(&trace, "getpid"), [(30_002, Some(30_003))]);
    assert_eq!(trace.tasks.iter().map(|task| task.signals).sum::<u32>(), 1);
}

#[test]
fn a_killed_call_has_the_time_of_its_signal() {
    let trace = read(&[
        "8:\t 0.0030\t 0.0030\t 0.0000\tgetpid()\t\t\t\t= 8 [1]",
        "8:\t 2.0004\t 1.9974\t 0.0000\t    Received signal #15, SIGTERM, in nanosleep() [default]",
    ]);
    assert_eq!(calls(&trace, "nanosleep"), [(30, Some(20_004))]);
    let is_broken = |row: &u32| trace.events.outcome(*row) == Outcome::Interrupted;
    assert_eq!((0..trace.events.len()).filter(is_broken).count(), 1);
}

#[test]
fn a_call_that_never_waits_leaves_the_time_to_the_program() {
    let trace = read(&[
        "8:\t 0.0000\t 0.0000\t 0.0000\texecve(\"/bin/tool\", 0x08047D3C, 0x08047D48)  argc = 1",
        "8:\t 1.0000\t 1.0000\t 0.0000\tgetpid()\t\t\t\t= 8 [1]",
        "8:\t 2.0000\t 1.0000\t 0.2500\tbrk(0x08061A20)\t\t\t= 0",
        "8:\t 3.0000\t 1.0000\t 0.0000\tfcntl(3, F_SETLKW, 0x08047A10)\t\t= 0",
    ]);
    assert_eq!(calls(&trace, "getpid"), [(9_995, Some(10_000))]);
    // Its CPU time is its own.
    assert_eq!(calls(&trace, "brk"), [(17_500, Some(20_000))]);
    assert_eq!(calls(&trace, "fcntl"), [(20_000, Some(30_000))]);
}

#[test]
fn another_call_after_a_signal_keeps_its_own_time() {
    let trace = read(&[
        "8:\t 1.0000\t 1.0000\t 0.0000\tgetpid()\t\t\t\t= 8 [1]",
        "8:\t 3.0000\t 2.0000\t 0.0000\t    Received signal #14, SIGALRM [caught]",
        "8:\t 3.0002\t 0.0002\t 0.0000\tread(3, 0x08047A10, 1)\t\t\t= 1",
    ]);
    assert_eq!(calls(&trace, "read"), [(30_000, Some(30_002))]);
}

#[test]
fn an_unnamed_interrupted_call_is_the_announced_one() {
    let trace = read(&[
        "8:\t 1.0000\t 1.0000\t 0.0000\tgetpid()\t\t\t\t= 8 [1]",
        "8:\tread(3, 0x08047A10, 1)\t\t(sleeping...)",
        "8:\t 3.0000\t 2.0000\t 0.0000\t    Received signal #14, SIGALRM [caught]",
        "8:\t 3.0002\t 0.0002\t 0.0000\tread(3, 0x08047A10, 1)\t\tErr#4 EINTR",
    ]);
    assert_eq!(calls(&trace, "read"), [(10_000, Some(30_002))]);
}

#[test]
fn differences_count_from_lines_of_functions_too() {
    let trace = read(&[
        "8/1@1:\t 0.1000\t 0.1000\tclose(3)\t\t\t\t= 0",
        "8/1@1:\t 0.2000\t 0.1000\t-> libc:open(0xfe1, 0x0, 0x1b6)",
        "8/1@1:\t 0.2500\t 0.0500\topen(\"/etc/x\", O_RDONLY)\t\t= 3",
        "8/1@1:\t 0.2600\t 0.0100\t<- libc:open() = 3",
        "8/1@1:\t 0.2900\t 0.0300\tclose(3)\t\t\t\t= 0",
    ]);
    assert_eq!(calls(&trace, "open"), [(2_000, Some(2_500))]);
}

#[test]
fn a_call_without_return_has_its_entry_stamp_without_cpu_times() {
    let lines = |cpu: &str| {
        let calls = [
            (1, "getpid()\t\t\t\t= 8 [1]"),
            (2, "getcontext(0x08047A10)"),
            (1, "close(3)\t\t\t\t= 0"),
            (3, "_exit(0)"),
        ];
        let mut at = 0;
        calls.map(|(step, call)| {
            at += step;
            format!("8:\t {at}.0000\t {step}.0000{cpu}\t{call}")
        })
    };
    let read = |cpu: &str| read(&lines(cpu).each_ref().map(String::as_str));
    let (bare, with_cpu) = (read(""), read("\t 0.0000"));
    assert_eq!(calls(&bare, "getcontext"), [(30_000, Some(30_000))]);
    // A close takes no second: the program computed before it.
    assert_eq!(calls(&bare, "close"), [(39_995, Some(40_000))]);
    assert_eq!(calls(&bare, "_exit"), [(70_000, Some(70_000))]);
    assert_eq!(calls(&with_cpu, "_exit"), [(40_000, Some(70_000))]);
}

#[test]
fn the_first_difference_of_a_process_is_ignored_in_any_order() {
    let trace = read(&[
        "9:\t 4.0000\t 0.0010\t 0.0000\tgetuid()\t\t\t\t= 1 [1]",
        "9:\t 1.0000\t 1.0000\t 0.0000\tgetpid()\t\t\t\t= 9 [8]",
    ]);
    assert_eq!(calls(&trace, "getpid"), [(10_000, Some(10_000))]);
}

#[test]
fn an_attached_process_has_the_program_that_truss_prints() {
    let trace = read(&[
        "8:\tpsargs: /usr/lib/ssh/sshd -D",
        "8:\t 1.0000\t 1.0000\t 0.0000\tgetpid()\t\t\t\t= 8 [1]",
    ]);
    let programs: Vec<_> = trace.tasks.iter().flat_map(|task| &task.programs).collect();
    let shown: Vec<_> = programs
        .iter()
        .map(|program| trace.events.texts.string(program.path))
        .collect();
    assert_eq!(
        (trace.tasks.len(), shown),
        (1, vec!["/usr/lib/ssh/sshd".into()])
    );
}

#[test]
fn a_notice_and_its_call_are_one_call_and_a_notice_alone_is_an_open_one() {
    let trace = read(&[
        "8:\t 1.0000\t 1.0000\t 0.0000\tgetpid()\t\t\t\t= 8 [1]",
        "8:\tread(0, 0x080473DF, 1)\t\t(sleeping...)",
        "8:\t 3.0000\t 2.0000\t 0.0000\tread(0, 0x080473DF, 1)\t\t\t= 1",
        "8:\tpollsys(0x08046F10, 2, 0x00000000, 0x00000000) (sleeping...)",
    ]);
    assert_eq!(calls(&trace, "read"), [(10_000, Some(30_000))]);
    let open = (0..trace.events.len())
        .filter(|&row| trace.events.outcome(row) == Outcome::Open)
        .count();
    assert_eq!((calls(&trace, "pollsys").len(), open), (1, 1));
}

#[test]
fn lwp_one_and_the_process_without_number_are_one_task() {
    let trace = read(&[
        "8:\t 1.0000\t 1.0000\t 0.0000\tgetpid()\t\t\t\t= 8 [1]",
        "8/1:\t\t 1.0001\t 0.0001\t 0.0000\tlwp_create(0x08047A10, LWP_SUSPENDED, 0x08047B10) = 2",
        "8/2:\t\t 1.0002\t 1.0002\t 0.0000\tlwp_create()\t(returning as new lwp ...)\t= 0",
        "8/2:\t\t 1.0003\t 0.0001\t 0.0000\tlwp_exit()",
        "8:\t 1.0004\t 0.0003\t 0.0000\t_exit(0)",
    ]);
    let tasks: Vec<_> = trace
        .tasks
        .iter()
        .map(|task| (task.tid, task.pid, task.is_thread, task.calls))
        .collect();
    assert_eq!(tasks, [(8, 8, false, 3), (2, 8, true, 1)]);
}

/// Id, process, whether a thread, and number of calls of each task.
fn tasks(trace: &Trace) -> Vec<(i32, i32, bool, u32)> {
    trace
        .tasks
        .iter()
        .map(|task| (task.tid, task.pid, task.is_thread, task.calls))
        .collect()
}

// Believed: a number that stands alone is a process id. LWP numbers stand alone if there is only one process.
#[test]
fn lwps_without_a_process_share_one_of_unknown_id() {
    let trace = read(&[
        "/4:\t 0.5000\topen(\"/etc/passwd\", O_RDONLY)\t\t= 9",
        "/7:\t 0.6000\tread(9, \" r o o t\", 512)\t\t= 512",
        "/4:\t 0.7000\tforkx(0)\t\t\t= 7",
        "/4:\t 0.8000\tlwp_exit()",
        "/7:\t 1.6000\tclose(9)\t\t\t\t= 0",
        "/9:\t 1.7000\tlwp_park(0x00000000, 0)\t\t\t= 0",
    ]);
    let unknown = parsers::NO_ID;
    assert_eq!(
        tasks(&trace),
        [
            (4, unknown, false, 3),
            (7, unknown, true, 2),
            (9, unknown, true, 1)
        ]
    );
    assert!(
        trace.tasks.raw[1..]
            .iter()
            .all(|task| task.creator == TaskId::new(0) && task.created_by == event::NONE)
    );
    let targets: Vec<_> = [1, 4]
        .map(|row| trace.events.texts.string(trace.events.target(row)))
        .to_vec();
    assert_eq!(targets, ["/etc/passwd", "/etc/passwd"]);
    assert_eq!(trace.captures[0].unseen_children, 1);
}

#[test]
fn the_only_thread_without_a_number_is_the_first_one_later() {
    let trace = read(&[
        "\t 0.5000\tgetpid()\t\t\t\t= 8 [1]",
        "\t 0.5001\tlwp_create(0x08047A10, LWP_SUSPENDED, 0x08047B10) = 2",
        "/2:\t 0.5002\tlwp_create()\t(returning as new lwp ...)\t= 0",
        "/1:\t 0.5003\tgetpid()\t\t\t\t= 8 [1]",
        "/2:\t 0.5004\tlwp_exit()",
        "\t 0.6000\tgetpid()\t\t\t\t= 8 [1]",
        "\t 0.7000\t_exit(0)",
    ]);
    let unknown = parsers::NO_ID;
    assert_eq!(
        tasks(&trace),
        [(1, unknown, false, 5), (2, unknown, true, 1)]
    );
}
