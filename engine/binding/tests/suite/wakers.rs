//! The waker of each wait, the evidence and the confidence: minimal strace captures.
//!
//! Each case has lines of strace, and for each call of 50 ms or more its waker: `1 wait4: 2 child measured`. Calls
//! that no task ended are ended by `timer`, by something `outside`, by an `unknown` cause, or by `itself`.

use crate::cases::{CASES, Case};
use parsers::syscalls::Class;
use path::critical_path::segment::Segment;
use path::critical_path::segment::Tag;
use path::critical_path::walk::path;
use path::critical_path::window::{WindowChoice, windows};
use path::waits::edge::Ender;
use path::waits::wakers::Wakers;
use std::io::Write;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::spans::Span;
use trace::store::trace::Trace;

const LONG_NS: i64 = 50_000_000;

fn read(lines: &str) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    // Timestamps of the cases are seconds of one minute, for brevity.
    let dated = lines.trim().lines().map(|line| match line.split_once(' ') {
        Some((tid, rest)) => format!("{tid} 17000000{rest}\n"),
        None => format!("{line}\n"),
    });
    file.write_all(dated.collect::<String>().as_bytes())
        .expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    trace::ingest::read::read(&[capture], Some("strace"), &mut |_, _| {})
        .unwrap_or_else(|_| panic!("not read: {lines}"))
}

fn ended_by(trace: &Trace, wakers: &Wakers, task: TaskId, at: usize, span: Span) -> String {
    if let Some(edge) = wakers.waker(trace, task, at, span) {
        assert!(
            edge.at_ns > span.start_ns,
            "an end behind the begin of the wait"
        );
        let tid = trace.tasks[edge.task].tid;
        return format!("{tid} {} {}", edge.how.name(), edge.sure.name());
    }
    if !wakers.needs_waker(trace, span.row) {
        return "itself".to_owned();
    }
    let name = match wakers.ended_by(trace, task, at, span) {
        Ender::Timer => "timer",
        Ender::Outside => "outside",
        Ender::Client => "client",
        Ender::Itself => "itself",
        Ender::Unknown => "unknown",
    };
    name.to_owned()
}

/// Each long call, in the order of their lines.
fn ends(trace: &Trace) -> Vec<String> {
    let wakers = Wakers::new(trace);
    let mut told = Vec::new();
    for task in trace.tasks.keys() {
        for (at, span) in trace.spans_of(task, 0..usize::MAX, parsers::NO_NS) {
            let is_call = trace.events.kind(span.row) == EventKind::Call;
            if is_call && span.end_ns - span.start_ns >= LONG_NS {
                let syscall = trace
                    .events
                    .texts
                    .string(trace.events.shape(span.row).syscall)
                    .into_owned();
                let by = ended_by(trace, &wakers, task, at, span);
                told.push((
                    span.row,
                    format!("{} {syscall}: {by}", trace.tasks[task].tid),
                ));
            }
        }
    }
    told.sort();
    told.into_iter().map(|(_, told)| told).collect()
}

#[test]
fn each_wait_has_the_waker_of_its_case() {
    let mut wrong = String::new();
    for Case {
        name,
        lines,
        ends: expected,
    } in CASES.iter().flat_map(|cases| cases.iter())
    {
        let trace = read(lines);
        let found = ends(&trace);
        if found != *expected {
            wrong += &format!("{name}\n  found    {found:#?}\n  expected {expected:#?}\n");
        }
        let window = windows(&trace, &WindowChoice::default())[0];
        let segments = path(&trace, &Wakers::new(&trace), &window);
        assert!(
            segments
                .iter()
                .all(|segment| matches!(segment.tag, Tag::None | Tag::Idle)),
            "{name}: nobody polls"
        );
        let charged_ns: i64 = segments.iter().map(Segment::dur_ns).sum();
        assert_eq!(
            charged_ns,
            window.wall_ns(),
            "{name}: all of the window, and no more"
        );
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_poll_without_descriptors_is_a_sleep_if_it_has_a_timeout() {
    let began = "1 01.000000 execve(\"/bin/x\", [\"x\"], 0x7f /* 1 var */) = 0 <0.000100>\n";
    let class = |call: &str| {
        let trace = read(&format!(
            "{began}1 01.100000 {call}\n1 01.700000 exit_group(0) = ?"
        ));
        let window = windows(&trace, &WindowChoice::default())[0];
        let segments = path(&trace, &Wakers::new(&trace), &window);
        segments
            .iter()
            .max_by_key(|segment| segment.dur_ns())
            .map(|segment| segment.class)
    };
    let limited =
        "select(0, NULL, NULL, NULL, {tv_sec=0, tv_usec=500000}) = 0 (Timeout) <0.500000>";
    assert_eq!(class(limited), Some(Class::Sleep));
    let of_one = "select(4, [3], NULL, NULL, {tv_sec=0, tv_usec=500000}) = 0 (Timeout) <0.500000>";
    assert_eq!(class(of_one), Some(Class::Poll));
    let for_ever = "select(0, NULL, NULL, NULL, NULL) = ? ERESTARTNOHAND (To be restarted if no handler) <0.500000>";
    assert_eq!(class(for_ever), Some(Class::Poll));
}

#[test]
fn unaccepted_connects_do_not_hide_a_later_one() {
    let at = |port: u32| {
        format!("{{sa_family=AF_INET, sin_port=htons({port}), sin_addr=inet_addr(\"10.0.0.1\")}}")
    };
    let elsewhere = |n: u32| {
        format!(
            "1 01.{n:06} connect(3, {}, 16) = 0 <0.000001>\n",
            at(1000 + n)
        )
    };
    let lines: String = (0..1100).map(elsewhere).collect();
    let lines = format!(
        "{lines}2 01.002000 bind(3, {}, 16) = 0 <0.000010>\n2 01.003000 accept(3, NULL, NULL <unfinished ...>\n\
         1 01.500000 connect(4, {}, 16) = 0 <0.000100>\n2 01.500200 <... accept resumed>) = 4 <0.497200>",
        at(80),
        at(80)
    );
    assert_eq!(ends(&read(&lines)), ["2 accept: 1 stream inferred"]);
}

#[test]
fn a_sleep_interrupted_by_sigchld_separates_checks() {
    let trace = read(
        r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
1 01.001000 wait4(-1, 0x7ffd, WNOHANG, NULL) = 0 <0.000010>
1 01.002000 pselect6(0, NULL, NULL, NULL, {tv_sec=0, tv_nsec=100000000}, NULL) = 0 (Timeout) <0.100100>
2 01.002500 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=150000000}, NULL) = 0 <0.150100>
1 01.103000 wait4(-1, 0x7ffd, WNOHANG, NULL) = 0 <0.000010>
1 01.104000 pselect6(0, NULL, NULL, NULL, {tv_sec=0, tv_nsec=100000000}, NULL <unfinished ...>
2 01.153000 exit_group(0) = ?
2 01.153100 +++ exited with 0 +++
1 01.153200 <... pselect6 resumed>) = ? ERESTARTNOHAND (To be restarted if no handler) <0.049200>
1 01.153300 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 01.153400 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], WNOHANG, NULL) = 2 <0.000010>
1 01.154000 exit_group(0) = ?
"#,
    );
    let window = windows(&trace, &WindowChoice::default())[0];
    let segments = path(&trace, &Wakers::new(&trace), &window);
    let slept = segments
        .iter()
        .filter(|segment| segment.class == Class::Sleep);
    assert!(
        slept.clone().all(|segment| segment.task == TaskId::new(1)),
        "the child, not who looked for it"
    );
    assert_eq!(slept.map(Segment::dur_ns).sum::<i64>(), 150_100_000);
}

#[test]
fn another_childs_end_does_not_split_a_wait_for_a_signal() {
    let trace = read(
        r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
1 01.000300 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000244>
2 01.000600 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100100>
3 01.000700 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=400000000}, NULL) = 0 <0.400100>
1 01.001000 wait4(-1,  <unfinished ...>
2 01.100900 exit_group(0) = ?
2 01.101000 +++ exited with 0 +++
1 01.101100 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.100100>
1 01.101200 wait4(-1,  <unfinished ...>
3 01.400900 kill(1, SIGUSR1) = 0 <0.000020>
1 01.401000 <... wait4 resumed>0x7ffd, 0, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.299800>
1 01.401100 --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=3, si_uid=0} ---
1 01.402000 exit_group(0) = ?
"#,
    );
    let window = windows(&trace, &WindowChoice::default())[0];
    let segments = path(&trace, &Wakers::new(&trace), &window);
    let slept = segments
        .iter()
        .filter(|segment| segment.class == Class::Sleep);
    assert!(
        slept.clone().all(|segment| segment.task == TaskId::new(2)),
        "who sent the signal, not the child before"
    );
    // Less the time before the wait.
    assert_eq!(slept.map(Segment::dur_ns).sum::<i64>(), 399_800_000);
}

/// A thread's time on the path, by the number of its task.
fn charged_ns(trace: &Trace, task: TaskId) -> i64 {
    let window = windows(trace, &WindowChoice::default())[0];
    let segments = path(trace, &Wakers::new(trace), &window);
    segments
        .iter()
        .filter(|segment| segment.task == task)
        .map(Segment::dur_ns)
        .sum()
}

#[test]
fn an_interrupted_wait_with_timeouts_is_one_wait() {
    let trace = read(
        r#"
1 01.000000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 2 <0.000200>
2 01.000400 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=800000000}, NULL) = 0 <0.800100>
1 01.000500 futex(0x55, FUTEX_WAIT_BITSET_PRIVATE, 3, {tv_sec=3878, tv_nsec=0}, FUTEX_BITSET_MATCH_ANY) = -1 ETIMEDOUT (Connection timed out) <0.500102>
1 01.500700 futex(0x55, FUTEX_WAIT_BITSET_PRIVATE, 3, {tv_sec=3879, tv_nsec=0}, FUTEX_BITSET_MATCH_ANY) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <0.200000>
1 01.700800 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=3, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 01.700900 restart_syscall(<... resuming interrupted futex ...> <unfinished ...>
2 01.800600 futex(0x55, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>
1 01.800700 <... restart_syscall resumed>) = 0 <0.099800>
1 01.801000 exit_group(0) = ?
"#,
    );
    assert_eq!(
        charged_ns(&trace, TaskId::new(1)),
        800_110_000,
        "from the first wait to the wake"
    );
}

#[test]
fn a_check_between_two_equal_polls_does_not_split_the_wait() {
    let trace = read(
        r#"
1 01.000000 pipe2([3, 4], 0) = 0 <0.000010>
1 01.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
2 01.000400 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=500000000}, NULL) = 0 <0.500100>
1 01.000500 poll([{fd=3, events=POLLIN}, {fd=9, events=POLLIN}], 2, 198) = 0 (Timeout) <0.198319>
1 01.198900 poll([{fd=3, events=POLLIN}, {fd=9, events=POLLIN}], 2, 0) = 0 (Timeout) <0.000009>
1 01.199000 poll([{fd=3, events=POLLIN}, {fd=9, events=POLLIN}], 2, 1000 <unfinished ...>
2 01.500600 write(4, "x", 1) = 1 <0.000010>
1 01.500700 <... poll resumed>) = 1 ([{fd=3, revents=POLLIN}]) <0.301700>
2 01.500750 exit_group(0) = ?
2 01.500760 +++ exited with 0 +++
1 01.500800 read(3, "x", 9) = 1 <0.000010>
1 01.501000 exit_group(0) = ?
"#,
    );
    assert_eq!(
        charged_ns(&trace, TaskId::new(1)),
        500_110_000,
        "from the first poll to the write"
    );
}

#[test]
fn expired_polls_before_a_childs_birth_did_not_wait_for_it() {
    let trace = read(
        r#"
1 01.000000 pipe2([3, 4], 0) = 0 <0.000010>
1 01.000100 epoll_wait(5, [], 8, 300) = 0 <0.300100>
1 01.300300 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
1 01.301000 epoll_wait(5, [], 8, 100) = 0 <0.100100>
2 01.301100 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=200000000}, NULL) = 0 <0.200100>
1 01.401200 epoll_wait(5,  <unfinished ...>
2 01.501500 write(4, "x", 1) = 1 <0.000010>
1 01.501600 <... epoll_wait resumed>[{events=EPOLLIN, data={u32=3, u64=3}}], 8, 500) = 1 <0.100400>
2 01.501650 exit_group(0) = ?
2 01.501660 +++ exited with 0 +++
1 01.501800 read(3, "x", 9) = 1 <0.000010>
1 01.502000 exit_group(0) = ?
"#,
    );
    let window = windows(&trace, &WindowChoice::default())[0];
    let segments = path(&trace, &Wakers::new(&trace), &window);
    let polled = segments.iter().filter(|segment| segment.tag == Tag::Polled);
    let first_ns = polled
        .map(|segment| segment.start_ns)
        .min()
        .expect("a loop");
    assert!(
        first_ns >= trace.events.start_ns(trace.tasks.raw[1].created_by),
        "the child's from its fork on"
    );
}

#[test]
fn a_poll_that_its_own_alarm_interrupted_is_one_wait() {
    let trace = read(
        r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
2 01.000400 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=500000000}, NULL) = 0 <0.500100>
1 01.000500 setitimer(ITIMER_REAL, {it_interval={tv_sec=0, tv_usec=0}, it_value={tv_sec=0, tv_usec=300000}}, NULL) = 0 <0.000010>
1 01.000600 ppoll([{fd=3<pipe:[7]>, events=POLLIN}], 1, NULL, NULL, 8) = -1 EINTR (Interrupted system call) <0.300000>
1 01.300700 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
1 01.300800 write(4<pipe:[7]>, "x", 1) = 1 <0.000010>
1 01.300900 rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted system call) <0.000010>
1 01.301000 ppoll([{fd=3<pipe:[7]>, events=POLLIN}], 1, NULL, NULL, 8) = 1 ([{fd=3, revents=POLLIN}]) <0.000010>
1 01.301100 read(3<pipe:[7]>, "x", 9) = 1 <0.000010>
1 01.301200 ppoll([{fd=3<pipe:[7]>, events=POLLIN}], 1, NULL, NULL, 8 <unfinished ...>
2 01.500600 write(4<pipe:[7]>, "y", 1) = 1 <0.000010>
1 01.500700 <... ppoll resumed>) = 1 ([{fd=3, revents=POLLIN}]) <0.199500>
2 01.500750 exit_group(0) = ?
2 01.500760 +++ exited with 0 +++
1 01.500800 read(3<pipe:[7]>, "y", 9) = 1 <0.000010>
1 01.501000 exit_group(0) = ?
"#,
    );
    assert_eq!(
        charged_ns(&trace, TaskId::new(1)),
        500_010_000,
        "from the first poll to the write"
    );
}

#[test]
fn the_task_that_answers_is_the_root_rather_than_a_timer_thread() {
    let trace = read(
        r#"
1 01.000000 futex(0x55, FUTEX_WAIT_BITSET_PRIVATE, 0, {tv_sec=1, tv_nsec=0}, FUTEX_BITSET_MATCH_ANY) = -1 ETIMEDOUT (Connection timed out) <0.400000>
2 01.100000 recvfrom(7<socket:[3]>, "select", 100, 0, NULL, NULL) = 6 <0.000010>
2 01.101000 futex(0x77, FUTEX_WAIT_BITSET_PRIVATE, 0, {tv_sec=2, tv_nsec=0}, FUTEX_BITSET_MATCH_ANY) = -1 ETIMEDOUT (Connection timed out) <0.500000>
1 01.400100 futex(0x55, FUTEX_WAIT_BITSET_PRIVATE, 0, {tv_sec=1, tv_nsec=0}, FUTEX_BITSET_MATCH_ANY) = -1 ETIMEDOUT (Connection timed out) <0.400000>
2 01.602000 sendto(7<socket:[3]>, "row", 3, 0, NULL, 0) = 3 <0.000010>
"#,
    );
    let root = windows(&trace, &WindowChoice::default())[0]
        .root
        .expect("a root");
    assert_eq!(trace.tasks[root].tid, 2);
}
