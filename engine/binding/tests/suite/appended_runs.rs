//! Files that a tracer appended to: each run is a capture of its own, and no single run is split.

use std::io::Write;
use trace::store::trace::Trace;

fn read(text: &str) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    file.write_all(text.as_bytes()).expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    trace::ingest::read::read(&[capture], None, &mut |_, _| {})
        .unwrap_or_else(|_| panic!("not read: {text}"))
}

/// First line, lines, tasks, bytes of each run.
fn runs(text: &str) -> Vec<(u64, u64, u32, u64)> {
    let trace = read(text);
    let runs = trace.captures.len() as u32;
    assert!(
        trace
            .captures
            .iter()
            .zip(1..)
            .all(|(capture, run)| (capture.run, capture.runs) == (run, runs))
    );
    let all = trace.captures.iter();
    all.map(|capture| {
        (
            capture.first_line,
            capture.lines(),
            capture.task_ids().count() as u32,
            capture.bytes,
        )
    })
    .collect()
}

fn first_lines(text: &str) -> Vec<u64> {
    runs(text).into_iter().map(|(line, ..)| line).collect()
}

const ALONE: &str = "\
10:00:00 execve(\"/bin/a\", [\"a\"], 0x7ffd /* 3 vars */) = 0
10:00:01 exit_group(0) = ?
10:00:01 +++ exited with 0 +++
";
const FAMILY: &str = "\
100 1795249401.000000 execve(\"/bin/a\", [\"a\"], 0x7ffd /* 3 vars */) = 0 <0.000100>
100 1795249401.002000 clone(child_stack=NULL, flags=SIGCHLD) = 102 <0.000100>
102 1795249401.003000 execve(\"/bin/b\", [\"b\"], 0x7ffd /* 3 vars */) = 0 <0.000100>
102 1795249401.004000 exit_group(3) = ?
102 1795249401.004100 +++ exited with 3 +++
100 1795249401.006000 exit_group(0) = ?
100 1795249401.006100 +++ exited with 0 +++
";

#[test]
fn each_run_of_a_single_process_is_a_capture() {
    let bytes = ALONE.len() as u64;
    assert_eq!(
        runs(&ALONE.repeat(3)),
        [(1, 3, 1, bytes), (4, 3, 1, bytes), (7, 3, 1, bytes)]
    );
    let trace = read(&ALONE.repeat(2));
    assert_eq!(trace.captures[0].first_ns, trace.captures[1].first_ns);
    assert_eq!(trace.events.event(trace.captures[1].rows.start).file, 1);
}

#[test]
fn each_run_of_a_family_is_a_capture_with_its_own_ids() {
    let bytes = FAMILY.len() as u64;
    assert_eq!(
        runs(&FAMILY.repeat(2)),
        [(1, 7, 2, bytes), (8, 7, 2, bytes)]
    );
}

#[test]
fn a_quiet_run_ends_with_its_calls_without_return() {
    let quiet: String = FAMILY
        .lines()
        .filter(|line| !line.contains("+++"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(first_lines(&quiet.repeat(2)), [1, 6]);
}

#[test]
fn a_run_follows_a_detached_or_cut_one() {
    let own = "100 1795249401.000000 read(0,  <detached ...>\n";
    assert_eq!(first_lines(&own.repeat(2)), [1, 2]);
    assert_eq!(first_lines(&"read(0,  <detached ...>\n".repeat(2)), [1, 2]);
    // Killed: no end is printed, but no task can have created 300 either.
    let cut: String = FAMILY
        .lines()
        .take(4)
        .map(|line| format!("{line}\n"))
        .collect();
    let other = FAMILY.replace("100 ", "300 ").replace("102 ", "302 ");
    assert_eq!(first_lines(&format!("{cut}{other}")), [1, 5]);
}

#[test]
fn differences_start_at_zero_in_each_run() {
    let run = "100      0.000000 execve(\"/bin/a\", [\"a\"], 0x7ffd /* 3 vars */) = 0\n100      0.000100 read(0, ";
    let other = run.replace("100 ", "200 ").replace("000200", "000100");
    assert_eq!(
        first_lines(&format!("{run}\n{other}\"\", 1) = 0\n")),
        [1, 3]
    );
}

#[test]
fn a_header_of_the_tracer_begins_a_run() {
    let run = |base| {
        format!(
            "Base time stamp:  {base}.0000  [ Tue Nov 24 01:25:32 GMT 2009 ]\n7:\t 0.0001\tgetpid()\t= 7 [1]\n"
        )
    };
    let trace = read(&format!("{}{}", run(1_259_025_932), run(1_259_025_999)));
    let bases: Vec<i64> = trace
        .captures
        .iter()
        .map(|capture| capture.facts.base_ns / 1_000_000_000)
        .collect();
    assert_eq!(bases, [1_259_025_932, 1_259_025_999]);
}

/// Believed: an unknown id that starts with a program, after all others have ended, is another run.
#[test]
fn a_filter_that_hides_births_does_not_make_runs_of_children() {
    // strace -f -e trace=execve, and a child that outlives its creator.
    let hidden = "\
100 execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0
101 execve(\"/bin/a\", [\"a\"], 0x7ffd /* 3 vars */) = 0
101 +++ exited with 0 +++
100 +++ exited with 0 +++
102 execve(\"/bin/b\", [\"b\"], 0x7ffd /* 3 vars */) = 0
102 +++ exited with 0 +++
";
    assert_eq!(first_lines(hidden), [1]);
    let other = "\
100 execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0
100 +++ exited with 0 +++
102 openat(AT_FDCWD, \"/x\", O_RDONLY) = 3
102 +++ exited with 0 +++
";
    assert_eq!(first_lines(other), [1]);
}

#[test]
fn children_before_their_creating_call_are_not_a_run() {
    // strace -z delays the vfork until it has returned.
    let held_back = |first, second| {
        format!(
            "\
{first} execve(\"/bin/b\", [\"b\"], 0x7ffd /* 3 vars */) = 0
100 vfork() = {first}
{first} +++ exited with 0 +++
{second} execve(\"/bin/b\", [\"b\"], 0x7ffd /* 3 vars */) = 0
100 vfork() = {second}
{second} +++ exited with 0 +++
"
        )
    };
    let begin = "100 execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0\n";
    assert_eq!(
        first_lines(&format!(
            "{begin}{}{}",
            held_back(101, 102),
            held_back(103, 104)
        )),
        [1]
    );
}

#[test]
fn a_program_run_by_a_program_is_not_a_run() {
    let chain = "execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0\n".repeat(3);
    assert_eq!(first_lines(&chain), [1]);
    let summary = format!("{ALONE}% time     seconds  usecs/call     calls    errors syscall\n");
    assert_eq!(first_lines(&summary), [1]);
}

/// Two boots of a machine, as logged by a kernel without a boot line, and by a journal.
#[test]
fn each_start_of_a_machine_is_a_run_with_its_own_clock() {
    let kernel = |last: &str| {
        format!(
            "[    0.000000] microcode: updated early\n[    0.000000] Linux version 6.1.0\n[    0.000004] tsc: calibrated\n\
             [    2.000000] EXT4-fs (sda1): mounted\n[   {last}.000000] reboot: Restarting system\n"
        )
    };
    let journal = "-- Boot 0123456789abcdef0123456789abcdef --\n\
        Mar 05 19:43:34 host app[1]: one\nMar 05 19:43:44 host app[1]: two\n";
    let monotonic =
        "-- Reboot --\n[    7.000000] host app[1]: one\n[   17.000000] host app[1]: two\n";
    let cases = [
        (format!("{}{}", kernel("40"), kernel("10")), vec![(1, 40), (6, 10)]),
        (journal.repeat(2), vec![(1, 10), (4, 10)]),
        (monotonic.repeat(2), vec![(1, 10), (4, 10)]),
        // The same message again in one boot, and lines that are slightly out of order.
        (
            "[    0.000000] one\n[    0.000004] two\n[    0.000000] three\n[    1.000000] Linux version 6.1.0\n".into(),
            vec![(1, 1)],
        ),
    ];
    for (text, expected) in cases {
        let trace = read(&text);
        let window = |capture: &trace::store::trace::Capture| {
            (
                capture.first_line,
                (capture.last_ns - capture.first_ns) / 1_000_000_000,
            )
        };
        assert_eq!(
            trace.captures.iter().map(window).collect::<Vec<_>>(),
            expected,
            "{text}"
        );
    }
}

/// Seconds from each message to the next one, and the lines of both.
fn silences(text: &str) -> Vec<(i64, i64, i64)> {
    let trace = read(text);
    let choice = query::selection::Criteria::default();
    let all =
        query::selection::Selection::new(&trace, &choice, &query::cache::QueryCache::default())
            .unwrap_or_else(|_| panic!("all"));
    let table = report::tables::gaps::gaps(&trace, &all, 0);
    let column = |name| match table.column(name) {
        Some(trace::store::table::Values::Int(values)) => values
            .iter()
            .map(|value| value.unwrap_or(-1))
            .collect::<Vec<_>>(),
        _ => panic!("no numbers: {name}"),
    };
    let (dur_ns, line, next_line) = (column("dur_ns"), column("line"), column("next_line"));
    (0..dur_ns.len())
        .map(|at| (dur_ns[at] / 1_000_000_000, line[at], next_line[at]))
        .collect()
}

#[test]
fn a_clock_set_back_is_not_a_silence_or_overlap() {
    let text = "\
2009-03-05T19:43:30.000000+00:00 host app: one
2009-03-05T19:43:33.000000+00:00 host app: two
2009-03-05T19:13:39.000000+00:00 host ntpd: clock set
2009-03-05T19:13:41.000000+00:00 host app: three
";
    assert_eq!(silences(text), [(3, 1, 2), (2, 3, 4)]);
    assert_eq!(read(text).captures[0].backward_steps, 1);
}

#[test]
fn a_log_without_years_goes_on_over_new_year_and_29_february() {
    let lines = |first: &str, second: &str| {
        silences(&format!("{first} host app: one\n{second} host app: two\n"))
    };
    let cases = [
        ("Dec 31 23:59:58", "Jan  1 00:00:03", 5),
        ("Feb 29 23:59:59", "Mar  1 00:00:01", 2),
        ("Feb 28 23:59:59", "Feb 29 00:00:01", 2),
        ("Feb 28 23:59:59", "Mar  1 00:00:01", 2),
        ("Jul  1 00:00:00", "Jul  1 00:00:07", 7),
    ];
    for (first, second, expected) in cases {
        assert_eq!(lines(first, second), [(expected, 1, 2)], "{first} {second}");
    }
}

#[test]
fn a_repetition_count_hides_silences() {
    for repeated in [
        "last message repeated 20 times",
        "app[3]: message repeated 20 times: [ retrying]",
    ] {
        let text = format!(
            "Mar  5 19:43:34 host app[3]: retrying\nMar  5 19:43:54 host {repeated}\nMar  5 19:43:55 host app[3]: ok\n"
        );
        assert_eq!(silences(&text), [(1, 2, 3)], "{repeated}");
        let trace = read(&text);
        assert_eq!(
            [0, 1].map(|row| trace.events.dur_ns(row)),
            [parsers::NO_NS, 1_000_000_000],
            "{repeated}"
        );
    }
}

#[test]
fn minutes_among_differences_are_silences() {
    let lines = "[Mar05 19:43] one\n[  +0.000012] two\n[Mar05 19:55] three\n[  +2.000000] four\n";
    assert_eq!(silences(lines), [(719, 2, 3), (2, 3, 4), (0, 1, 2)]);
    assert_eq!(read(lines).captures[0].facts.tick_ns, 60_000_000_000);
    // An excerpt: the time of its first lines is not known.
    assert_eq!(
        silences(&format!("[  +1.000000] zero\n{lines}")),
        [(719, 3, 4), (2, 4, 5), (0, 2, 3)]
    );
}
