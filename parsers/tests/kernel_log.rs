//! Lines of logs, one case a line in `kernel_log.cases`.

use parsers::kernel_log::KernelLog;
use parsers::{Answer, Clock, DurKind, Format, Head, Kind, Line, LineReader, NO_NS, Parsed, Stamp};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const CASES: &str = include_str!("kernel_log.cases");

/// Heads from which a clock is decided, by the name that a section of the cases has.
const CLOCKS: &[(&str, &str, Clock)] = &[
    ("since boot", "[    0.377120] smp: text\n", Clock::SinceStart),
    ("since 1970", "2009-03-05T19:43:34+0000 host sshd[812]: text\n", Clock::Epoch),
    ("since new year", "Mar  5 19:43:34 host sshd[812]: text\n", Clock::SinceStart),
    ("since midnight", "19:43:34.123 starting\n", Clock::TimeOfDay),
    ("since the line before", "[Mar05 19:43] text\n[  +0.000012] text\n", Clock::SincePrevious),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    KernelLog.reader(Head { bytes: head.as_bytes(), complete: true })
}

fn answer(text: &str) -> Answer {
    KernelLog.recognise(Head { bytes: text.as_bytes(), complete: true })
}

/// Kind, time, who speaks, message.
fn shown(line: &Line, parsed: &Parsed) -> String {
    let mut out = line.kind.name().to_owned();
    if line.stamp_ns != NO_NS {
        write!(out, " {}.{:06}", line.stamp_ns / 1_000_000_000, line.stamp_ns / 1000 % 1_000_000).unwrap_or_default();
    }
    if line.kind == Kind::Log {
        write!(out, " |{}|{}|", parsed.texts.string(line.name), parsed.texts.string(line.target)).unwrap_or_default();
    }
    out
}

#[test]
fn every_case_is_read_as_it_says() {
    let mut head = "";
    let mut told = String::new();
    for case in CASES.lines() {
        let section = case.strip_prefix("[since ").and_then(|case| case.strip_suffix("]"));
        if let Some(name) = section {
            head = CLOCKS.iter().find(|(clock, ..)| clock.strip_prefix("since ") == Some(name)).expect("a clock").1;
        }
        match case.split_once("  =>") {
            Some((input, _)) if !case.starts_with('#') => {
                let mut parsed = Parsed::default();
                let line = reader(head).read(input.replace('␛', "\x1b").as_bytes(), &mut parsed);
                writeln!(told, "{input}  => {}", shown(&line, &parsed)).unwrap_or_default();
            }
            _ => writeln!(told, "{case}").unwrap_or_default(),
        }
    }
    if std::env::var_os("TRACEALYZE_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel_log.cases");
        std::fs::write(path, &told).expect("the cases can be written");
        return;
    }
    for (found, expected) in told.lines().zip(CASES.lines()) {
        assert_eq!(found, expected);
    }
}

#[test]
fn the_clock_is_told_by_most_lines() {
    for (name, head, clock) in CLOCKS {
        let facts = reader(head).facts();
        assert_eq!((facts.clock, facts.stamp, facts.dur_kind), (*clock, Stamp::Start, DurKind::Gap), "{name}");
        assert!(!facts.has_ids && !facts.has_durations, "{name}");
    }
    assert_eq!(reader(CLOCKS[0].1).facts().tick_ns, 1000);
    assert_eq!(reader(CLOCKS[2].1).facts().tick_ns, 1_000_000_000);
}

#[test]
fn the_finer_of_two_clocks_wins_if_nearly_all_lines_have_it() {
    let kernel = "Mar  5 19:43:34 host kernel: [    1.486287] md: text\n";
    let daemon = "Mar  5 19:43:34 host sshd[812]: text\n";
    assert_eq!(reader(kernel).facts().tick_ns, 1000);
    assert_eq!(reader(&[kernel, daemon].concat()).facts().tick_ns, 1_000_000_000);
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
        assert_eq!(answer(text), Answer::Yes, "{text}");
    }
    for text in no {
        assert_eq!(answer(text), Answer::No, "{text}");
    }
    assert_eq!(answer("2009-03-05 19:43:34 one\n2009-03-05 19:43:35 two"), Answer::Maybe(100));
    assert_eq!(KernelLog.recognise(Head { bytes: b"\n", complete: false }), Answer::NeedMore);
}

/// The public samples lie beside the checkout, if at all.
fn corpus(name: &str) -> Option<String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = std::env::var_os("TRACEALYZE_CORPUS").map_or(beside, PathBuf::from);
    let text = std::fs::read_to_string(folder.join(name)).ok();
    if text.is_none() {
        println!("not tested on {name}: set TRACEALYZE_CORPUS to the folder of the public samples");
    }
    text
}

#[test]
fn every_line_of_the_samples_is_a_message_with_a_time() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/kernel-shutdown/shutdown.log");
    let texts =
        [corpus("linux-printk-shutdown.txt"), corpus("syslog-sshd-600.txt"), std::fs::read_to_string(sample).ok()];
    for text in texts.into_iter().flatten() {
        assert_eq!(answer(&text), Answer::Yes);
        let found = parsers::recognise(Head { bytes: text.as_bytes(), complete: true });
        assert_eq!(found.map(Format::name), Some("kernel-log"));
        let mut parsed = Parsed::default();
        parsed.read(reader(&text).as_ref(), text.as_bytes());
        assert_eq!(parsed.lines.len(), text.lines().count());
        for (line, raw) in parsed.lines.iter().zip(text.lines()) {
            assert!(line.kind == Kind::Log && line.stamp_ns != NO_NS && line.target.is_some(), "{raw}");
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
    let own = Head { bytes: text, complete: false };
    KernelLog.recognise(own);
    let mut readers = vec![KernelLog.reader(own)];
    readers.extend(CLOCKS.iter().map(|(_, head, _)| reader(head)));
    for reader in readers {
        let mut parsed = Parsed::default();
        parsed.read(reader.as_ref(), text);
        let lines = text.split(|&byte| byte == b'\n').count() - usize::from(text.ends_with(b"\n") || text.is_empty());
        assert_eq!(parsed.lines.len(), lines);
    }
}
