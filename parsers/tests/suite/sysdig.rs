//! Lines of sysdig. The cases are in `sysdig.cases`.

use parsers::sysdig::Sysdig;
use parsers::{Clock, DurKind, Format, Head, LineReader, StampMoment};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../sysdig.cases");

/// Heads that decide the layout, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    (
        "time of day",
        "101 19:43:34.123456789 0 bash (1234) > read fd=3(<f>/etc/hosts) size=512\n",
    ),
    (
        "-t a",
        "101 1693300000.123456789 0 bash (1234) > read fd=3(<f>/etc/hosts) size=512\n",
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    Sysdig.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("sysdig.cases", CASES, LAYOUTS, reader);
}

#[test]
fn the_clock_is_that_of_the_first_line() {
    let facts = |head| {
        let facts = reader(head).facts();
        (facts.stamp, facts.clock, facts.dur_kind)
    };
    assert_eq!(
        facts(LAYOUTS[0].1),
        (StampMoment::Start, Clock::TimeOfDay, DurKind::Exact)
    );
    assert_eq!(
        facts(LAYOUTS[1].1),
        (StampMoment::Start, Clock::Epoch, DurKind::Exact)
    );
}

#[test]
fn look_alikes_are_not_recognised() {
    let yes: Vec<&str> = LAYOUTS.iter().map(|&(_, text)| text).collect();
    let no = [
        "1234 19:43:34.123456 read(3, \"\", 1) = 0 <0.000012>",
        "1234 1795224170.658193 read(3, \"a (1) > b\", 1) = 0",
        "101 0.000000012 0 bash (1234) > read fd=3",
        "101 19:43:34.123456789 0 bash (x) > read",
        "[    1.486287] md: stopping all md devices.",
    ];
    cases::check_recognition(&Sysdig, &yes, &no);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        cases::all_survive(&Sysdig, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_sysdig_are_read_without_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "101 19:43:34.123456789 0 ", "101 1693300000.123456789 0 ", "bash", " (1234)", " (12.13)", " (12:1)", " > ", " < ", "open",
            "connect", "clone", "execve", "procexit", "signaldeliver", " fd=3(<f>/a b)", " fd=-2(ENOENT)", " res=", "-9223372036854775808",
            "99999999999999999999", " name=/a", " flags=1(O_RDONLY)", " op=129(FUTEX_PRIVATE_FLAG|FUTEX_WAKE)", " tuple=a->b", " data=",
            " args=-x.", " exe=", " status=9", " interval=-1", "(", ")", "\n", "<4t>",
        ]), 0..30)
    ) {
        cases::all_survive(&Sysdig, LAYOUTS, words.concat().as_bytes());
    }
}
