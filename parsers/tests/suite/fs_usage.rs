//! Lines of fs_usage. The cases are in `fs_usage.cases`.

use parsers::fs_usage::FsUsage;
use parsers::{Clock, DurKind, Format, Head, LineReader, StampMoment};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../fs_usage.cases");

/// Heads that decide what requests to disks are, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    (
        "-w",
        "19:43:34.123456  open              F=3        (R_____)  /etc/hosts          0.000012   ls.1234\n",
    ),
    (
        "-w -f diskio",
        "19:43:34.123456    RdData[A]       D=0x001ce0c4  B=0x1000   /dev/disk1s2  /usr/bin/ls   0.000272 W ls.1234\n",
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    FsUsage.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("fs_usage.cases", CASES, LAYOUTS, reader);
}

#[test]
fn stamps_are_ends_and_durations_are_exact() {
    let facts = reader(LAYOUTS[0].1).facts();
    assert_eq!(
        (facts.stamp, facts.clock, facts.dur_kind, facts.has_ids),
        (StampMoment::End, Clock::TimeOfDay, DurKind::Exact, true)
    );
}

#[test]
fn look_alikes_are_not_recognised() {
    let yes: Vec<&str> = LAYOUTS.iter().map(|&(_, text)| text).collect();
    let no = [
        "19:43:34.123456 read(3, \"\", 1) = 0 <0.000012>",
        "19:43:34  open              /etc/hosts          0.000012   ls",
        "19:43:34.123456 IP 10.0.0.7.51234 > 10.0.0.1.22: Flags [P.], length 36",
        "19:43:34.123456  stage one took 0.000012",
        "[    1.486287] md: stopping all md devices.",
    ];
    cases::check_recognition(&FsUsage, &yes, &no);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        cases::all_survive(&FsUsage, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_fs_usage_are_read_without_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "19:43:34.123456", "  ", " ", "open", "RdData[A]", " F=3", " F=-1", " B=0x200", " B=0xffffffffffffffff", "[  2]",
            "[-2]/", "[", "<GETPATH>", "<", "(R_____)", "(", "/a b", "0.000012", "9999999999.999999", "   ", " W ", "ls.1",
            ".", "99999999999999999999", "\n",
        ]), 0..30)
    ) {
        cases::all_survive(&FsUsage, LAYOUTS, words.concat().as_bytes());
    }

    #[test]
    fn any_cut_of_a_line_is_read_without_panic(end in 0usize..100, start in 0usize..40) {
        let line = LAYOUTS[0].1.as_bytes();
        cases::all_survive(&FsUsage, LAYOUTS, line.get(start..end.min(line.len())).unwrap_or(b""));
    }
}
