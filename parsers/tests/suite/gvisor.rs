//! Lines of gVisor. The cases are in `gvisor.cases`.

use parsers::gvisor::Gvisor;
use parsers::{Clock, DurKind, Format, Head, LineReader, StampMoment};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../gvisor.cases");

/// Heads that decide the layout, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    (
        "text",
        "I0928 00:18:54.794008     365 strace.go:593] [   6:   7] npm init E close(0x3 /etc/hosts)\n",
    ),
    (
        "inside JSON",
        "strace.go:564] [   1:   1] probe E close(0x3 /etc/hosts)\n",
    ),
    (
        "returns only",
        "I0928 00:18:54.794031     365 strace.go:625] [   6:   7] npm init X close(0x3) = 0 (0x0) (11.709µs)\n",
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    Gvisor.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("gvisor.cases", CASES, LAYOUTS, reader);
}

#[test]
fn durations_are_exact_with_and_without_a_clock() {
    let facts = |head| {
        let facts = reader(head).facts();
        (facts.stamp, facts.clock, facts.dur_kind, facts.has_ids)
    };
    assert_eq!(
        facts(LAYOUTS[0].1),
        (
            StampMoment::Start,
            Clock::SinceNewYear,
            DurKind::Exact,
            true
        )
    );
    assert_eq!(
        facts(LAYOUTS[1].1),
        (StampMoment::None, Clock::None, DurKind::Exact, true)
    );
    assert_eq!(facts(LAYOUTS[2].1).0, StampMoment::End);
    // The calls may begin later.
    let without_calls = "I0928 00:18:54.794008     365 config.go:436] Config.Strace: true\n";
    assert_eq!(facts(without_calls).0, StampMoment::None);
}

#[test]
fn look_alikes_are_not_recognised() {
    let debug = "I0928 00:18:54.794008     365 config.go:436] Config.Strace (--strace): true\n";
    let mixed = [&debug.repeat(40), &LAYOUTS[0].1.repeat(3)]
        .map(String::as_str)
        .concat();
    let mut yes: Vec<&str> = LAYOUTS.iter().map(|&(_, text)| text).collect();
    yes.push(&mixed);
    let no = [
        debug,
        "I0928 00:18:54.794008       1 main.go:12] starting E phase(3)",
        "[   6:   7] text",
        "[    1.486287] md: stopping all md devices.",
        "[pid 4711] read(3, \"x\", 1) = 1",
        "1234 read(3, \"E close(3) X\", 1) = 1",
    ];
    cases::check_recognition(&Gvisor, &yes, &no);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        cases::all_survive(&Gvisor, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_gvisor_are_read_without_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "I0928 00:18:54.794008     365 ", "strace.go:593] ", "[   6:   7] ", "[  6] ", "sh", " E ", " X ", "openat(", "close(",
            "exit_group(", "0x3 /a, ", "AT_FDCWD /a", "0x7f {Family: AF_INET, Addr: ::1, Port: 1}", "0x7f [3 4]", ")", " = ", "0x0",
            " (0x0)", " errno=2 (no)", " errno=99999999999999999999", " (1.5µs)", " (9999999999h)", "null", "{sec=1 nsec=2}", "\n",
            "FUTEX_WAIT|FUTEX_PRIVATE_FLAG", "\"", "0xffffffffffffffff",
        ]), 0..30)
    ) {
        cases::all_survive(&Gvisor, LAYOUTS, words.concat().as_bytes());
    }
}
