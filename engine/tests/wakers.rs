//! Who ended a wait, how that is known and how sure it is: captures as strace writes them, each as small as it can be.
//!
//! Each case has lines of strace, and for each call that takes 50 ms or more who ended it: `1 wait4: 2 child measured`. Calls
//! that no task ended are ended by `timer`, by something `outside`, by nothing that is `unknown`, or by `itself`.

mod cases;

use cases::{CASES, Case};
use engine::events::EventKind;
use engine::path::{Segment, Tag, path};
use engine::trace::{Span, Trace};
use engine::wakers::{Ender, Wakers};
use engine::window::{Choice, windows};
use parsers::syscalls::Class;
use std::io::Write;

const LONG_NS: i64 = 50_000_000;

fn read(lines: &str) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    // Stamps of the cases are seconds of one minute, to be short.
    let dated = lines.trim().lines().map(|line| match line.split_once(' ') {
        Some((tid, rest)) => format!("{tid} 17000000{rest}\n"),
        None => format!("{line}\n"),
    });
    file.write_all(dated.collect::<String>().as_bytes()).expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    engine::read::read(&[capture], Some("strace"), &mut |_, _| {}).unwrap_or_else(|_| panic!("not read: {lines}"))
}

fn ended_by(trace: &Trace, wakers: &Wakers, task: u32, at: usize, span: Span) -> String {
    if let Some(edge) = wakers.waker(trace, task, at, span) {
        assert!(edge.at_ns > span.start_ns, "an end behind the begin of the wait");
        let tid = trace.tasks[edge.task as usize].tid;
        return format!("{tid} {} {}", edge.how.name(), edge.sure.name());
    }
    if !wakers.needs_waker(trace, span.row) {
        return "itself".to_owned();
    }
    let name = match wakers.ended_by(trace, task, at, span) {
        Ender::Timer => "timer",
        Ender::Outside => "outside",
        Ender::Unknown => "unknown",
    };
    name.to_owned()
}

/// Each long call, in the order of their lines.
fn ends(trace: &Trace) -> Vec<String> {
    let wakers = Wakers::new(trace);
    let mut told = Vec::new();
    for task in 0..trace.tasks.len() as u32 {
        for (at, span) in trace.spans_of(task, 0..usize::MAX, parsers::NO_NS) {
            let is_call = trace.events.kind(span.row) == EventKind::Call;
            if is_call && span.end_ns - span.start_ns >= LONG_NS {
                let syscall = trace.events.texts.string(trace.events.shape(span.row).syscall).into_owned();
                let by = ended_by(trace, &wakers, task, at, span);
                told.push((span.row, format!("{} {syscall}: {by}", trace.tasks[task as usize].tid)));
            }
        }
    }
    told.sort();
    told.into_iter().map(|(_, told)| told).collect()
}

#[test]
fn each_wait_is_ended_by_who_the_case_says() {
    let mut wrong = String::new();
    for Case { name, lines, ends: expected } in CASES.iter().flat_map(|cases| cases.iter()) {
        let trace = read(lines);
        let found = ends(&trace);
        if found != *expected {
            wrong += &format!("{name}\n  found    {found:#?}\n  expected {expected:#?}\n");
        }
        let window = windows(&trace, &Choice::default())[0];
        let segments = path(&trace, &Wakers::new(&trace), &window);
        assert!(segments.iter().all(|segment| segment.tag == Tag::None), "{name}: nobody polls");
        let charged_ns: i64 = segments.iter().map(Segment::dur_ns).sum();
        assert_eq!(charged_ns, window.wall_ns(), "{name}: all of the window, and no more");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_poll_of_nothing_is_a_sleep_if_it_has_a_limit() {
    let began = "1 01.000000 execve(\"/bin/x\", [\"x\"], 0x7f /* 1 var */) = 0 <0.000100>\n";
    let class = |call: &str| {
        let trace = read(&format!("{began}1 01.100000 {call}\n1 01.700000 exit_group(0) = ?"));
        let window = windows(&trace, &Choice::default())[0];
        let segments = path(&trace, &Wakers::new(&trace), &window);
        segments.iter().max_by_key(|segment| segment.dur_ns()).map(|segment| segment.class)
    };
    let limited = "select(0, NULL, NULL, NULL, {tv_sec=0, tv_usec=500000}) = 0 (Timeout) <0.500000>";
    assert_eq!(class(limited), Some(Class::Sleep));
    let of_one = "select(4, [3], NULL, NULL, {tv_sec=0, tv_usec=500000}) = 0 (Timeout) <0.500000>";
    assert_eq!(class(of_one), Some(Class::Poll));
    let for_ever = "select(0, NULL, NULL, NULL, NULL) = ? ERESTARTNOHAND (To be restarted if no handler) <0.500000>";
    assert_eq!(class(for_ever), Some(Class::Poll));
}

#[test]
fn connects_that_nobody_accepted_do_not_hide_a_later_one() {
    let at = |port: u32| format!("{{sa_family=AF_INET, sin_port=htons({port}), sin_addr=inet_addr(\"10.0.0.1\")}}");
    let elsewhere = |n: u32| format!("1 01.{n:06} connect(3, {}, 16) = 0 <0.000001>\n", at(1000 + n));
    let lines: String = (0..1100).map(elsewhere).collect();
    let lines = format!(
        "{lines}2 01.002000 bind(3, {}, 16) = 0 <0.000010>\n2 01.003000 accept(3, NULL, NULL <unfinished ...>\n\
         1 01.500000 connect(4, {}, 16) = 0 <0.000100>\n2 01.500200 <... accept resumed>) = 4 <0.497200>",
        at(80),
        at(80)
    );
    assert_eq!(ends(&read(&lines)), ["2 accept: 1 stream inferred"]);
}
