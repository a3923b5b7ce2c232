//! Tables about waiting, asked of captures as strace writes them. A case: its name, a table, columns, a capture, its rows.

use engine::build::rows;
use engine::tables::by_name;
use std::io::Write;

struct Case {
    name: &'static str,
    table: &'static str,
    columns: &'static [&'static str],
    capture: &'static str,
    rows: &'static [&'static str],
}

const SLEEPS: &[&str] = &["syscall", "asked_ns", "calls", "ran_ns", "exclusive_ns"];
const TIMEOUTS: &[&str] = &["syscall", "requested_ns", "waits", "expired", "gave_up", "sent_before", "exclusive_ns"];

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { name: "sleeps that ask for the same are one row, a select that waits for time is one of them",
        table: "sleeps", columns: SLEEPS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.101000>
1 1700000000.300000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.101000>
1 1700000000.500000 select(0, NULL, NULL, NULL, {tv_sec=0, tv_usec=50000}) = 0 (Timeout) <0.050000>
1 1700000000.600000 select(4, [3], NULL, NULL, {tv_sec=0, tv_usec=50000}) = 0 (Timeout) <0.050000>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &["nanosleep 100000000 2 202000000 202000000", "select 50000000 1 50000000 50000000"] },
    Case { name: "who asks twice and gets no answer waited for it",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000000.002000 sendto(3, "x", 28, MSG_NOSIGNAL, NULL, 0) = 28 <0.000010>
1 1700000000.003000 poll([{fd=3, events=POLLIN}], 1, 5000) = 0 (Timeout) <5.000000>
1 1700000005.004000 sendto(3, "x", 28, MSG_NOSIGNAL, NULL, 0) = 28 <0.000010>
1 1700000005.005000 poll([{fd=3, events=POLLIN}], 1, 5000) = 0 (Timeout) <5.000000>
1 1700000010.006000 close(3) = 0 <0.000010>
1 1700000010.007000 exit_group(1) = ?
"#, rows: &["poll 5000000000 2 2 true 10.0.0.2:53 10000000000"] },
    Case { name: "an answer clears what was sent, and an event loop never gives up",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000000.002000 sendto(3, "x", 28, MSG_NOSIGNAL, NULL, 0) = 28 <0.000010>
1 1700000000.003000 recvfrom(3, "y", 28, 0, NULL, NULL) = 28 <0.000010>
1 1700000001.000000 poll([{fd=3, events=POLLIN}], 1, 1000) = 0 (Timeout) <1.000000>
1 1700000002.000000 poll([{fd=3, events=POLLIN}], 1, 1000) = 0 (Timeout) <1.000000>
1 1700000003.000000 poll([{fd=3, events=POLLIN}], 1, 1000) = 1 ([{fd=3, revents=POLLIN}]) <0.100000>
1 1700000004.000000 exit_group(0) = ?
"#, rows: &["poll 1000000000 3 2 false - 2000000000"] },
    Case { name: "a server that answered and hears nothing more was not left without an answer",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 accept(3, {sa_family=AF_INET, sin_port=htons(4000), sin_addr=inet_addr("10.0.0.9")}, [16]) = 4 <0.000010>
1 1700000000.002000 write(4, "hello", 5) = 5 <0.000010>
1 1700000000.003000 poll([{fd=4, events=POLLIN}], 1, 1000) = 0 (Timeout) <1.000000>
1 1700000002.000000 close(4) = 0 <0.000010>
1 1700000004.000000 exit_group(0) = ?
"#, rows: &["poll 1000000000 1 1 true - 1000000000"] },
    Case { name: "an alarm that ends a wait for a signal is a time-out, a look without waiting is none",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.002000 poll([{fd=4, events=POLLIN}], 1, 0) = 0 (Timeout) <0.000010>
1 1700000000.003000 rt_sigsuspend([], 8) = ? ERESTARTNOHAND (To be restarted if no handler) <1.000000>
1 1700000001.003100 --- SIGALRM {si_signo=SIGALRM, si_code=SI_TIMER, si_timerid=0, si_overrun=0, si_int=0, si_ptr=NULL} ---
1 1700000004.000000 exit_group(0) = ?
"#, rows: &["rt_sigsuspend - 1 1 true - 1000000000"] },
];

#[test]
fn tables_have_the_rows_that_the_cases_say() {
    let mut told = String::new();
    for case in CASES {
        let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
        file.write_all(case.capture.trim_start().as_bytes()).expect("the lines");
        let capture = vec![file.path().to_string_lossy().into_owned()];
        let Ok(trace) = engine::read::read(&[capture], Some("strace"), &mut |_, _| {}) else {
            panic!("{}: not read", case.name)
        };
        let found = rows(&trace, by_name(case.table).expect("the table"), case.columns);
        if found != case.rows {
            told += &format!("{}\n  found    {found:#?}\n  expected {:#?}\n", case.name, case.rows);
        }
    }
    assert!(told.is_empty(), "{told}");
}
