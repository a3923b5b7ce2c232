//! Captures with stamps in whole seconds and exact durations (`strace -t -T`): the partition still fills the window,
//! and lines keep their order and their ticks.

use path::critical_path::segment::{Segment, What};
use path::critical_path::walk::path;
use path::critical_path::window::{WindowChoice, windows};
use path::testing::partition;
use path::waits::wakers::Wakers;
use proptest::prelude::*;
use std::io::Write;
use trace::store::table::Values;
use trace::store::trace::Trace;

/// A call: time since the call before it, its duration, both in microseconds, and its kind.
type Call = (i64, i64, usize);

/// The first and second halves of calls.
const KINDS: [(&str, &str); 5] = [
    ("read(3<pipe:[7]>, ", "\"x\", 1) = 1"),
    ("write(4<pipe:[7]>, ", "\"x\", 1) = 1"),
    (
        "clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=300000000}, ",
        "NULL) = 0",
    ),
    ("epoll_wait(5<anon_inode:[eventpoll]>, ", "[], 1, 300) = 0"),
    ("openat(AT_FDCWD, \"/etc/hosts\", ", "O_RDONLY) = 6"),
];

fn scripts() -> impl Strategy<Value = Vec<Vec<Call>>> {
    let call = (
        0i64..700_000,
        prop_oneof![0i64..200, 0i64..1_700_000],
        0..KINDS.len(),
    );
    prop::collection::vec(prop::collection::vec(call, 1..8), 1..4)
}

/// The lines in the order of time, stamped with the second in which they were printed.
fn lines(scripts: &[Vec<Call>], is_started: bool) -> String {
    let mut lines: Vec<(i64, usize, String)> = Vec::new();
    for (task, calls) in scripts.iter().enumerate() {
        let mut at_us = 500_000;
        if is_started && task == 0 {
            lines.push((
                0,
                0,
                "execve(\"/bin/a\", [\"a\"], 0x7ffd /* 1 var */) = 0 <0.000400>".to_owned(),
            ));
        }
        for &(pause_us, dur_us, kind) in calls {
            let (begun, ended) = KINDS[kind];
            let name = begun.split('(').next().unwrap_or_default();
            let (seconds, micros) = (dur_us / 1_000_000, dur_us % 1_000_000);
            at_us += pause_us;
            lines.push((at_us, task, format!("{begun} <unfinished ...>")));
            at_us += dur_us;
            lines.push((
                at_us,
                task,
                format!("<... {name} resumed>{ended} <{seconds}.{micros:06}>"),
            ));
        }
        if is_started && task == 0 {
            lines.push((at_us, task, "exit_group(0) = ?".to_owned()));
            lines.push((at_us, task, "+++ exited with 0 +++".to_owned()));
        }
    }
    lines.sort_by_key(|&(at_us, ..)| at_us);
    let print = |(at_us, task, line): (i64, usize, String)| {
        format!("{} 12:00:{:02} {line}\n", task + 1, at_us / 1_000_000)
    };
    lines.into_iter().map(print).collect()
}

fn read(text: &str) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    trace::ingest::read::read(&[capture], Some("strace"), &mut |_, _| {})
        .unwrap_or_else(|_| panic!("not read: {text}"))
}

proptest! {
    #[test]
    fn charges_fill_the_window_of_a_coarse_clock(scripts in scripts(), is_started in any::<bool>()) {
        let trace = read(&lines(&scripts, is_started));
        let wakers = Wakers::new(&trace);
        let window = windows(&trace, &WindowChoice::default())[0];
        let segments = path(&trace, &wakers, &window);
        let mut at_ns = window.start_ns;
        for segment in &segments {
            prop_assert_eq!(segment.start_ns, at_ns);
            prop_assert!(segment.end_ns > segment.start_ns);
            at_ns = segment.end_ns;
        }
        prop_assert!(segments.is_empty() || at_ns == window.end_ns);
        prop_assert_eq!(segments.iter().map(Segment::dur_ns).sum::<i64>(), window.wall_ns());
        let table = partition(&trace, &wakers, &[window]);
        let Some(Values::Int(sums)) = table.column("exclusive_ns") else { panic!("no sums") };
        prop_assert_eq!(sums.iter().flatten().sum::<i64>(), window.wall_ns());
    }

    #[test]
    fn no_call_is_charged_more_than_it_lasted(scripts in scripts()) {
        let trace = read(&lines(&scripts, true));
        let window = windows(&trace, &WindowChoice::default())[0];
        let segments = path(&trace, &Wakers::new(&trace), &window);
        for row in 0..trace.events.len() {
            let charged = segments.iter().filter(|segment| segment.what.row() == Some(row) && segment.task == trace.events.task(row));
            let charged_ns: i64 = charged.map(Segment::dur_ns).sum();
            prop_assert!(charged_ns <= trace.events.dur_ns(row).max(0), "{charged_ns}");
        }
    }

    #[test]
    fn lines_keep_their_order_and_calls_their_durations(scripts in scripts()) {
        let text = lines(&scripts, true);
        let exact_ns: i64 = scripts[0].iter().map(|&(pause_us, dur_us, _)| (pause_us + dur_us) * 1_000).sum();
        let trace = read(&text);
        let window = windows(&trace, &WindowChoice::default())[0];
        let rows: Vec<u32> = (0..trace.events.len()).collect();
        prop_assert!(rows.is_sorted_by_key(|&row| trace.events.start_ns(row)));
        for task in trace.tasks.keys() {
            for pair in trace.rows_of(task).windows(2) {
                let next_ns = trace.events.start_ns(pair[1]);
                prop_assert!(trace.events.end_ns(pair[0]).is_none_or(|end_ns| end_ns <= next_ns), "{text}");
            }
        }
        let in_calls_ns: i64 = scripts[0].iter().map(|call| call.1 * 1_000).sum();
        prop_assert!(window.wall_ns() >= in_calls_ns);
        prop_assert!(window.wall_ns() <= exact_ns + 3_000_000_000, "{} {}", window.wall_ns(), exact_ns);
    }
}

/// Task 1 reads four times what task 2 writes after 230 ms of its own work.
#[test]
fn a_woken_reader_is_not_charged_for_the_writer_that_a_tick_places_early() {
    let reader: Vec<Call> = [0; 4].map(|_| (1_000, 230_000, 0)).to_vec();
    let mut writer: Vec<Call> = [0; 4].map(|_| (230_900, 90, 1)).to_vec();
    writer.push((300_000, 50, 4));
    let trace = read(&lines(&[reader, writer], true));
    let window = windows(&trace, &WindowChoice::default())[0];
    let segments = path(&trace, &Wakers::new(&trace), &window);
    let resumed = segments
        .iter()
        .filter(|segment| matches!(segment.what, What::Resume(_)));
    assert_eq!(resumed.map(Segment::dur_ns).sum::<i64>(), 0);
}
