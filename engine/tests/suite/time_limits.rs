//! Waits that reached their time limits, in captures whose durations are upper bounds.

use engine::store::trace::Trace;
use std::io::Write;

fn read(format: &str, text: &str) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    engine::ingest::read::read(&[capture], Some(format), &mut |_, _| {}).unwrap_or_else(|_| panic!("not read: {text}"))
}

fn millis(trace: &Trace) -> Vec<(i64, i64)> {
    let rows = trace.rows_of(0).iter().map(|&row| (trace.events.start_ns(row), trace.events.dur_ns(row)));
    let first_ns = trace.captures[0].first_ns;
    rows.map(|(start_ns, dur_ns)| ((start_ns - first_ns) / 1_000_000, dur_ns / 1_000_000)).collect()
}

#[test]
fn a_timed_out_wait_ends_at_its_limit() {
    let text = "\
7 1700000100.000000 poll([{fd=3, events=POLLIN}], 1, 5000) = 0 (Timeout)
7 1700000109.000000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=1, tv_nsec=0}, NULL) = 0
7 1700000112.000000 poll([{fd=3, events=POLLIN}], 1, 5000) = 1 ([{fd=3, revents=POLLIN}])
7 1700000114.000000 close(3) = 0
";
    assert_eq!(millis(&read("strace", text))[..3], [(0, 5020), (9000, 1020), (12000, 2000)]);
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
        let row = (0..trace.events.len()).find(|&row| trace.events.line(row) == 2).expect("the open");
        trace.events.dur_ns(row) / 1_000_000
    };
    assert_eq!(opened(text), 499);
    // A tracer that prints calls when they return does not split them.
    let unsplit = text
        .replace("wait4(-1,  <unfinished ...>", "getpid() = 7")
        .replace("<... wait4 resumed>NULL, 0, NULL) = 8", "getpid() = 7");
    assert_eq!(opened(&unsplit), 1999);
}
