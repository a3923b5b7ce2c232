//! Lines of logs. The cases are in `kernel_log.cases`.

use crate::cases;

use parsers::kernel_log::KernelLog;
use parsers::{
    Clock, DurKind, Format, Head, LineKind, LineReader, NO_NS, Parsed, Recognition, StampMoment,
};
use proptest::prelude::*;
use std::path::Path;

const CASES: &str = include_str!("../kernel_log.cases");

/// Heads that decide the clock, by the name of a section of the cases.
const CLOCKS: &[(&str, &str, Clock)] = &[
    (
        "since boot",
        "[    0.377120] smp: text\n",
        Clock::SinceStart,
    ),
    (
        "since 1970",
        "2009-03-05T19:43:34+0000 host sshd[812]: text\n",
        Clock::Epoch,
    ),
    (
        "since new year",
        "Mar  5 19:43:34 host sshd[812]: text\n",
        Clock::SinceNewYear,
    ),
    (
        "since midnight",
        "19:43:34.123 starting\n",
        Clock::TimeOfDay,
    ),
    (
        "since the previous line",
        "[Mar05 19:43] text\n[  +0.000012] text\n",
        Clock::SincePrevious,
    ),
    (
        "age",
        "LAST SEEN   TYPE      REASON      OBJECT     MESSAGE\n2m15s   Normal   Pulling   pod/web   text\n",
        Clock::SinceStart,
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    KernelLog.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

fn answer(text: &str) -> Recognition {
    KernelLog.recognise(Head {
        bytes: text.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    let heads: Vec<(&str, &str)> = CLOCKS.iter().map(|&(name, head, _)| (name, head)).collect();
    cases::check("kernel_log.cases", CASES, &heads, reader);
}

#[test]
fn the_clock_is_that_of_most_lines() {
    for (name, head, clock) in CLOCKS {
        let facts = reader(head).facts();
        assert_eq!(
            (facts.clock, facts.stamp, facts.dur_kind),
            (*clock, StampMoment::Start, DurKind::Gap),
            "{name}"
        );
        assert!(!facts.has_ids && !facts.has_durations, "{name}");
    }
    assert_eq!(reader(CLOCKS[0].1).facts().tick_ns, 1000);
    assert_eq!(reader(CLOCKS[2].1).facts().tick_ns, 1_000_000_000);
}

#[test]
fn the_finer_clock_wins_if_most_lines_have_it() {
    let kernel = "Mar  5 19:43:34 host kernel: [    1.486287] md: text\n";
    let daemon = "Mar  5 19:43:34 host sshd[812]: text\n";
    assert_eq!(reader(kernel).facts().tick_ns, 1000);
    assert_eq!(
        reader(&[kernel, daemon].concat()).facts().tick_ns,
        1_000_000_000
    );
}

#[test]
fn logs_are_recognised_and_traces_are_not() {
    let yes = [
        "[    1.486287] md: stopping all md devices.",
        "<6>[    1.486287] md: text",
        "[Thu Mar  5 19:43:34 2009] md: text",
        "Mar  5 19:43:34 host sshd[812]: text\n\nMar  5 19:43:35 host sshd[812]: text",
        "[    1.486287] audit: type=1300 msg=audit(1.1:2): arch=c000003e syscall=59 success=yes",
    ];
    let no = [
        "1795224170.658193 read(3, \"x\", 1) = 1 <0.000012>",
        "01:23:30.170323 openat(AT_FDCWD, \"/x\", O_RDONLY) = 3",
        "01:23:30 [pid 4711] read(3,  <unfinished ...>",
        "01:23:30 --- SIGCHLD {si_signo=SIGCHLD} ---",
        "1795224170.658193 exit_group(0)  = ?",
        "[pid 4711] read(3, \"x\", 1) = 1",
        "12200:\t 4.5521\t 0.0000\t 0.0000\tgetuid() = 0",
        "     0.164 ( 0.002 ms): ls/456871 arch_prctl(option: 0x3001) = 0",
        "[T40] text",
        "text",
        "",
    ];
    for text in yes {
        assert_eq!(answer(text), Recognition::Yes, "{text}");
    }
    for text in no {
        assert_eq!(answer(text), Recognition::No, "{text}");
    }
    assert_eq!(
        answer("2009-03-05 19:43:34 one\n2009-03-05 19:43:35 two"),
        Recognition::Maybe(100)
    );
    assert_eq!(
        KernelLog.recognise(Head {
            bytes: b"\n",
            complete: false
        }),
        Recognition::NeedMore
    );
}

#[test]
fn each_line_of_the_samples_has_a_time() {
    let sample =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/kernel-shutdown/shutdown.log");
    let texts = [
        cases::corpus("linux-printk-shutdown.txt"),
        cases::corpus("syslog-sshd-600.txt"),
        std::fs::read_to_string(sample).ok(),
    ];
    for text in texts.into_iter().flatten() {
        assert_eq!(answer(&text), Recognition::Yes);
        let found = parsers::recognise(Head {
            bytes: text.as_bytes(),
            complete: true,
        });
        assert_eq!(found.map(Format::name), Some("kernel-log"));
        let mut parsed = Parsed::default();
        parsed.read(reader(&text).as_ref(), text.as_bytes());
        assert_eq!(parsed.lines.len(), text.lines().count());
        for (line, raw) in parsed.lines.iter().zip(text.lines()) {
            assert!(
                line.kind == LineKind::Log && line.stamp_ns != NO_NS && line.target.is_some(),
                "{raw}"
            );
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_give_one_line_each(text in prop::collection::vec(any::<u8>(), 0..300)) {
        all_clocks_survive(&text);
    }

    #[test]
    fn any_words_of_logs_give_one_line_each(
        words in prop::collection::vec(prop::sample::select(vec![
            "[", "]", " ", "   ", ".", "1", "486287", "99999999999999999999", "9999", "2009-", "03-", "05", "T", "<", ">",
            "19:43:34", "24:00:00", ",", "+", "-", "Thu ", "Mar ", "31", "\x1b[", "\x1b[32m", "kernel: ", "host ", "a[1]: ",
            ":", "\n", "<6>1 ", "-- Boot", "Z", "+0100", "- ", ";", "kern  :info  : ", "9223372036.854775807",
        ]), 0..30)
    ) {
        all_clocks_survive(words.concat().as_bytes());
    }
}

fn all_clocks_survive(text: &[u8]) {
    let heads: Vec<(&str, &str)> = CLOCKS.iter().map(|&(name, head, _)| (name, head)).collect();
    cases::all_survive(&KernelLog, &heads, text);
}

#[test]
fn a_log_whose_stamps_only_fall_has_its_newest_line_first() {
    let line = |second: u32| format!("Mar 05 19:43:{second:02} host app[1]: text\n");
    let log = |seconds: &[u32]| {
        seconds
            .iter()
            .map(|&second| line(second))
            .collect::<String>()
    };
    let is_newest_first = |seconds: &[u32]| reader(&log(seconds)).facts().is_newest_first;
    assert!(is_newest_first(&[34, 33, 33, 20]));
    // A clock that is set back, one that runs, and one that does both.
    assert_eq!(
        [&[34, 20][..], &[20, 33, 34], &[34, 20, 10, 35]].map(is_newest_first),
        [false; 3]
    );
}

#[test]
fn months_of_other_languages_are_dates() {
    for month in ["Mär", "mars", "mrt", "mar", "márc", " 3月", "мар"] {
        let text = format!("{month} 05 19:43:34 host sshd[812]: text\n");
        assert_eq!(answer(&text), Recognition::Yes, "{text}");
        let line = read_line(&text);
        let expected = read_line("Mar  5 19:43:34 host sshd[812]: text\n");
        assert_eq!(
            (line.kind, line.stamp_ns),
            (LineKind::Log, expected.stamp_ns),
            "{text}"
        );
    }
}

fn read_line(text: &str) -> parsers::Line {
    let mut parsed = Parsed::default();
    parsed.read(reader(text).as_ref(), text.as_bytes());
    parsed.lines[0]
}

#[test]
fn marks_of_left_out_lines_are_no_messages_and_no_losses() {
    let text =
        "[    1.486287] md: text\n[...]\n<snip>\n-- 200 lines omitted --\n[    2.492737] text\n";
    let mut parsed = Parsed::default();
    parsed.read(reader(text).as_ref(), text.as_bytes());
    let kinds: Vec<LineKind> = parsed.lines.iter().map(|line| line.kind).collect();
    use LineKind::{Elision, Log};
    assert_eq!(kinds, [Log, Elision, Elision, Elision, Log]);
}

/// Two or more lines of a log, its clock, and the milliseconds between the stamps of its first and last line.
const STAMPS: &[(&str, Clock, i64)] = &[
    // Dates of numbers. The order is the one in which they count up, in the shortest time.
    (
        "17/06/09 20:10:40 INFO a\n17/06/09 20:10:41 INFO b",
        Clock::Epoch,
        1_000,
    ),
    (
        "17/01/09 23:59:59 a\n17/01/10 00:00:01 b",
        Clock::Epoch,
        2_000,
    ),
    (
        "09/01/17 23:59:59 a\n10/01/17 00:00:01 b",
        Clock::Epoch,
        2_000,
    ),
    (
        "01/31/2021 23:59:59 a\n02/01/2021 00:00:01 b",
        Clock::Epoch,
        2_000,
    ),
    (
        "30-11-2026 23:59:59 a\n01-12-2026 00:00:01 b",
        Clock::Epoch,
        2_000,
    ),
    (
        "31.1.2026, 11:59:59 PM a\n1.2.2026, 12:00:01 AM b",
        Clock::Epoch,
        2_000,
    ),
    (
        "Jan 31, 2026 11:59:59 PM x.Y z\nFeb 1, 2026 12:00:01 AM x.Y z",
        Clock::Epoch,
        2_000,
    ),
    (
        "[10.30 23:59:59] a\n[10.31 00:00:01] b",
        Clock::SinceNewYear,
        2_000,
    ),
    (
        "081109 203615 148 INFO a\n081109 203616 148 INFO b",
        Clock::Epoch,
        1_000,
    ),
    (
        "20171223-23:59:59:606|a\n20171224-0:0:1:7|b",
        Clock::Epoch,
        1_401,
    ),
    (
        "20261128T123456.250Z a\n20261128T123457Z b",
        Clock::Epoch,
        750,
    ),
    (
        "2016-09-28 04:30:30, Info  CBS  a\n2016-09-28 04:30:31, Info  CBS  b",
        Clock::Epoch,
        1_000,
    ),
    // Numbers since 1970, or since the program's start.
    ("1714564800123 a\n1714564801123 b", Clock::Epoch, 1_000),
    ("1714564800 a\n1714564801 b", Clock::Epoch, 1_000),
    (
        "1714564800123456789 a\n1714564801123456789 b",
        Clock::Epoch,
        1_000,
    ),
    ("0.25 a\n0.5 b\n1.5 c\n2.25 d", Clock::SinceStart, 2_000),
    // A name before the stamp.
    ("INFO[0000] a\nWARN[0042] b", Clock::SinceStart, 42_000),
    (
        "DEBU[2021-05-03T01:02:03.5-05:00] a\nINFO[2021-05-03T06:02:04Z] b",
        Clock::Epoch,
        500,
    ),
    (
        "KERNEL[115301.063164] add /a\nUDEV  [115311.063164] add /a",
        Clock::SinceStart,
        10_000,
    ),
    (
        "type=A msg=audit(1364481363.243:24287): a\ntype=B msg=audit(1364481364.243:2): b",
        Clock::Epoch,
        1_000,
    ),
    // A stamp within the line, in the same word of each.
    (
        "app.log:2026-11-28 12:00:00 a\napp.log.1:2026-11-28 12:00:01 b",
        Clock::Epoch,
        1_000,
    ),
    (
        "app.log:12:Nov 28 12:00:00 h a: b\nx.log:3:Nov 28 12:00:01 h a: b",
        Clock::SinceNewYear,
        1_000,
    ),
    (
        "nova.log.2017 2017-05-16 00:00:00.008 25746 INFO a\nnova.log.2017 2017-05-16 00:00:01.008 25746 INFO b",
        Clock::Epoch,
        1_000,
    ),
    (
        "134681 node-246 hw state 1077804742 1 a\n350766 node-109 hw state 1077804743 1 b",
        Clock::Epoch,
        1_000,
    ),
];

#[test]
fn stamps_of_many_programs_are_read() {
    for (text, clock, expected_ms) in STAMPS {
        assert!(
            matches!(answer(text), Recognition::Yes | Recognition::Maybe(60..)),
            "{text}: {:?}",
            answer(text)
        );
        let reader = reader(text);
        assert_eq!(reader.facts().clock, *clock, "{text}");
        let mut parsed = Parsed::default();
        let at = |line: &str, parsed: &mut Parsed| reader.read(line.as_bytes(), parsed).stamp_ns;
        let (first, last) = (
            at(text.lines().next().unwrap_or(""), &mut parsed),
            at(text.lines().last().unwrap_or(""), &mut parsed),
        );
        assert_ne!(first, NO_NS, "{text}");
        assert_eq!((last - first) / 1_000_000, *expected_ms, "{text}");
    }
}

#[test]
fn tables_and_prose_are_not_logs() {
    let others = [
        "-rw-r--r-- 1 root root 4096 Nov 28 12:34 a.txt\n-rw-r--r-- 1 root root 4096 Nov 28 12:35 b.txt",
        "version 1.2.3 released\nversion 1.2.4 released",
        "1.5 a\n0.5 b\n1.5 c\n0.25 d",
        "The meeting is on 28.11.2026 at 12:34:56\nAll are welcome\nBring cake",
        "#include <stdio.h>\nint main() {\n}",
        "clock_gettime(CLOCK_MONOTONIC, {tv_sec=4, tv_nsec=937660308}) = 0\nclock_gettime(CLOCK_MONOTONIC, {tv_sec=4, tv_nsec=937706752}) = 0",
    ];
    for text in others {
        assert!(
            matches!(answer(text), Recognition::No | Recognition::Maybe(..60)),
            "{text}: {:?}",
            answer(text)
        );
    }
}
