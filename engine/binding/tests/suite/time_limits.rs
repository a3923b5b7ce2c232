//! Waits that reached their time limits, in captures whose durations are upper bounds.

use std::io::Write;
use trace::store::index::TaskId;
use trace::store::time_limits;
use trace::store::trace::Trace;

fn read(format: &str, text: &str) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    trace::ingest::read::read(&[capture], Some(format), &mut |_, _| {})
        .unwrap_or_else(|_| panic!("not read: {text}"))
}

fn millis(trace: &Trace) -> Vec<(i64, i64)> {
    let rows = trace
        .rows_of(TaskId::new(0))
        .iter()
        .map(|&row| (trace.events.start_ns(row), trace.events.dur_ns(row)));
    let first_ns = trace.captures[0].first_ns;
    rows.map(|(start_ns, dur_ns)| ((start_ns - first_ns) / 1_000_000, dur_ns / 1_000_000))
        .collect()
}

#[test]
fn a_timed_out_wait_ends_at_its_limit() {
    let text = "\
7 1700000100.000000 poll([{fd=3, events=POLLIN}], 1, 5000) = 0 (Timeout)
7 1700000109.000000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=1, tv_nsec=0}, NULL) = 0
7 1700000112.000000 poll([{fd=3, events=POLLIN}], 1, 5000) = 1 ([{fd=3, revents=POLLIN}])
7 1700000114.000000 close(3) = 0
";
    assert_eq!(
        millis(&read("strace", text))[..3],
        [(0, 5000), (9000, 1000), (12000, 2000)]
    );
}

#[test]
fn a_program_computes_before_a_wait_of_truss() {
    let text = "\
7:\t 0.0100\t0.0100 open(\"/a\", O_RDONLY)\t= 3
7:\t 9.0100\t9.0000 poll(0x08047A40, 1, 5000)\t\t\t= 0
7:\t 9.0200\t0.0100 close(3)\t\t\t= 0
";
    assert_eq!(millis(&read("truss-solaris", text))[1], (3980, 5020));
}

#[test]
fn a_call_on_one_line_ends_before_the_next_line() {
    let text = "\
7 1700000100.000000 wait4(-1,  <unfinished ...>
8 1700000100.000100 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3
9 1700000100.500000 read(3, \"x\", 1) = 1
8 1700000102.000000 read(3, \"x\", 1) = 1
8 1700000104.000000 exit_group(0) = ?
7 1700000104.100000 <... wait4 resumed>NULL, 0, NULL) = 8
";
    let opened = |text: &str| {
        let trace = read("strace", text);
        let row = (0..trace.events.len())
            .find(|&row| trace.events.line(row) == 2)
            .expect("the open");
        trace.events.dur_ns(row) / 1_000_000
    };
    assert_eq!(opened(text), 499);
    // A tracer that prints calls when they return does not split them.
    let unsplit = text
        .replace("wait4(-1,  <unfinished ...>", "getpid() = 7")
        .replace("<... wait4 resumed>NULL, 0, NULL) = 8", "getpid() = 7");
    assert_eq!(opened(&unsplit), 1999);
}

/// The requested time of each row, for those that lasted as long.
fn limits_ms(format: &str, text: &str) -> Vec<(u32, i64)> {
    let trace = read(format, text);
    let rows = (0..trace.events.len()).map(|row| {
        (
            trace.events.line(row),
            time_limits::min_duration_ns(&trace.events, row),
        )
    });
    rows.filter(|&(_, ns)| ns > 0)
        .map(|(line, ns)| (line, ns / 1_000_000))
        .collect()
}

#[test]
fn waits_without_results_reached_their_limits() {
    let text = "\
rt_sigtimedwait([INT TERM], NULL, {tv_sec=5, tv_nsec=0}, 8) = -1 EAGAIN (Resource temporarily unavailable)
io_getevents(0x7f4e6a6c1000, 1, 256, [], {tv_sec=0, tv_nsec=500000000}) = 0
semtimedop(0, [{sem_num=0, sem_op=-1, sem_flg=SEM_UNDO}], 1, {tv_sec=2, tv_nsec=0}) = -1 EAGAIN (Resource temporarily unavailable)
";
    assert_eq!(limits_ms("strace", text), [(1, 5000), (2, 500), (3, 2000)]);
    let quick = "\
rt_sigtimedwait([INT TERM], NULL, {tv_sec=0, tv_nsec=0}, 8) = -1 EAGAIN (Resource temporarily unavailable)
rt_sigtimedwait([INT TERM], NULL, {tv_sec=5, tv_nsec=0}, 8) = 2 (SIGINT)
io_getevents(0x7f4e6a6c1000, 0, 256, [], {tv_sec=0, tv_nsec=500000000}) = 0
io_getevents(0x7f4e6a6c1000, 1, 256, [{data=0, obj=0x1, res=1, res2=0}], {tv_sec=0, tv_nsec=500000000}) = 1
semtimedop(0, [{sem_num=0, sem_op=-1, sem_flg=IPC_NOWAIT}], 1, {tv_sec=2, tv_nsec=0}) = -1 EAGAIN (Resource temporarily unavailable)
mq_timedreceive(3, 0x7ffd, 8192, NULL, {tv_sec=1700000105, tv_nsec=0}) = -1 ETIMEDOUT (Connection timed out)
";
    assert_eq!(limits_ms("strace", quick), []);
}

#[test]
fn a_queue_is_awaited_until_a_moment_of_the_clock() {
    let text = "\
1700000100.000000 mq_timedreceive(3, 0x7ffd, 8192, NULL, {tv_sec=1700000105, tv_nsec=0}) = -1 ETIMEDOUT (Connection timed out)
1700000105.000100 mq_timedreceive(3, 0x7ffd, 8192, NULL, {tv_sec=1700000109, tv_nsec=0}) = -1 EAGAIN (Resource temporarily unavailable)
1700000105.000200 close(3) = 0
";
    assert_eq!(limits_ms("strace", text), [(1, 5000)]);
}

#[test]
fn an_alarm_ends_a_wait_at_its_time() {
    let text = "\
alarm(5)                                = 0
pause()                                 = ? ERESTARTNOHAND (To be restarted if no handler)
--- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
rt_sigreturn({mask=[]})                 = -1 EINTR (Interrupted system call)
setitimer(ITIMER_REAL, {it_interval={tv_sec=0, tv_usec=0}, it_value={tv_sec=0, tv_usec=250000}}, NULL) = 0
read(0, 0x7ffd, 1)                      = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
--- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
";
    assert_eq!(limits_ms("strace", text), [(2, 5000), (6, 250)]);
    let looked = text.replacen(
        "pause() ",
        "wait4(8, 0x7ffd, WNOHANG, NULL) = 0\npause() ",
        1,
    );
    assert_eq!(limits_ms("strace", &looked), [(3, 5000), (7, 250)]);
    let stopped = text.replacen("pause() ", "alarm(0) = 5\npause() ", 1);
    assert_eq!(limits_ms("strace", &stopped), [(7, 250)]);
    let waited = text.replacen("pause() ", "wait4(-1, NULL, 0, NULL) = 8\npause() ", 1);
    assert_eq!(limits_ms("strace", &waited), [(7, 250)]);
}

#[test]
fn of_several_timers_any_may_have_ended_a_wait() {
    let text = "\
timer_settime(0, 0, {it_interval={tv_sec=0, tv_nsec=0}, it_value={tv_sec=2, tv_nsec=0}}, NULL) = 0
rt_sigsuspend([], 8)                    = ? ERESTARTNOHAND (To be restarted if no handler)
--- SIGALRM {si_signo=SIGALRM, si_code=SI_TIMER, si_timerid=0, si_overrun=0, si_int=0, si_ptr=NULL} ---
";
    assert_eq!(limits_ms("strace", text), [(2, 2000)]);
    assert_eq!(
        limits_ms("strace", &text.replace("(0, 0, {", "(0, TIMER_ABSTIME, {")),
        []
    );
    assert_eq!(limits_ms("strace", &format!("alarm(9) = 0\n{text}")), []);
}

#[test]
fn truss_prints_the_wait_after_the_alarm() {
    let text = "\
alarm(3)                                        = 0
    Received signal #14, SIGALRM, in pause() [caught]
pause()                                         Err#4 EINTR
";
    assert_eq!(limits_ms("truss-solaris", text), [(3, 3000)]);
}

#[test]
fn one_deadline_alone_does_not_show_when_it_was() {
    let sleep = |at: &str, until: i64| {
        format!(
            "7 17000001{at} clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {{tv_sec={until}, tv_nsec=0}}, NULL) = 0\n"
        )
    };
    let one = sleep("00.000000", 55) + "7 1700000109.000000 close(3) = 0\n";
    assert_eq!(limits_ms("strace", &one), []);
    let end = "7 1700000109.000000 close(3) = 0\n";
    let three = sleep("00.000000", 51) + &sleep("01.000000", 52) + &sleep("02.000000", 53) + end;
    assert_eq!(
        limits_ms("strace", &three),
        [(1, 1000), (2, 1000), (3, 1000)]
    );
}
