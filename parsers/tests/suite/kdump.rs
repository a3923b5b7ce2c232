//! Records of kdump. The cases are in `kdump.cases`.

use parsers::kdump::Kdump;
use parsers::{Clock, DurKind, Format, Head, LineKind, LineReader, Parsed, StampMoment};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../kdump.cases");

/// Heads that decide the layout, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    (
        "none",
        "  2769 rmdir    CALL  issetugid\n  2769 rmdir    RET   issetugid 0\n",
    ),
    (
        "-T",
        "  2769 sh       1300000000.000100 CALL  getpid\n  2769 sh       1300000000.000150 RET   getpid 2769\n",
    ),
    (
        "-H -T -R, nanoseconds",
        "  2769 100123 sh       1300000000.000100000 0.000000000 CALL  getpid\n\
         \x20 2769 100123 sh       1300000000.000150000 0.000050000 RET   getpid 2769\n",
    ),
    (
        "-R",
        "  2769 sh       0.000000 CALL  getpid\n  2769 sh       0.000050 RET   getpid 2769\n  2769 sh       0.000010 CALL  getuid\n",
    ),
    ("OpenBSD -H", "  2769/281004 sh       CALL  getpid()\n"),
    (
        "NetBSD -R",
        "  2769      1 sh       1300000000.000000000 CALL  getpid\n  2769      1 sh       0.000050000 RET   getpid 2769\n",
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    Kdump.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("kdump.cases", CASES, LAYOUTS, reader);
}

#[test]
fn the_clock_follows_from_the_numbers() {
    let facts = |head: &str| {
        let facts = reader(head).facts();
        (facts.clock, facts.tick_ns, facts.mixes_threads)
    };
    let expected = [
        (Clock::None, 1_000_000_000, true),
        (Clock::Epoch, 1_000, true),
        (Clock::Epoch, 1, false),
        (Clock::SincePrevious, 1_000, true),
        (Clock::None, 1_000_000_000, false),
        (Clock::SincePrevious, 1, false),
    ];
    assert_eq!(
        LAYOUTS
            .iter()
            .map(|(_, head)| facts(head))
            .collect::<Vec<_>>(),
        expected
    );
    // -E, and -R -T of OpenBSD: a small step back is the kernel's.
    let mut elapsed: String = (0..30)
        .map(|at| format!("  2769 sh       {at}.000100 CALL  getpid\n"))
        .collect();
    elapsed.push_str("  2769 sh       29.000099 RET   getpid 2769\n");
    assert_eq!(facts(&elapsed), (Clock::SinceStart, 1_000, true));
    let both = "  2769 sh       0.000000 0.000000 CALL  getpid\n  2769 sh       0.000050 0.000050 RET   getpid 2769\n";
    assert_eq!(facts(both), (Clock::SinceStart, 1_000, true));
    let timed = reader(LAYOUTS[1].1).facts();
    assert_eq!(
        (timed.stamp, timed.dur_kind),
        (StampMoment::Start, DurKind::Exact)
    );
}

#[test]
fn look_alikes_are_not_recognised() {
    let no = [
        "12196: read(0, 0x080473DF, 1) (sleeping...)",
        "2769 read(3, \"  2769 rmdir    CALL  issetugid\", 31) = 31",
        "812: close(3)\t = 0 (0x0)",
        "[    1.486287] md: stopping all md devices.",
        "     0.091 ( 0.003 ms): ls/456871 brk() = 0x56150d127000",
    ];
    cases::check_recognition(&Kdump, &[LAYOUTS[0].1], &no);
}

#[test]
fn the_public_sample_has_no_losses() {
    let Some(text) = cases::corpus("freebsd-kdump-rmdir.txt") else {
        return;
    };
    let head = Head {
        bytes: text.as_bytes(),
        complete: true,
    };
    assert_eq!(parsers::recognise(head).map(Format::name), Some("kdump"));
    let mut parsed = Parsed::default();
    parsed.read(Kdump.reader(head).as_ref(), text.as_bytes());
    assert_eq!(parsed.lines.len(), text.lines().count());
    for (line, raw) in parsed.lines.iter().zip(text.lines()) {
        assert!(
            !matches!(
                line.kind,
                LineKind::Foreign | LineKind::Damaged | LineKind::Notice
            ),
            "{:?}: {raw}",
            line.kind
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_give_one_line_each(text in prop::collection::vec(any::<u8>(), 0..300)) {
        cases::all_survive(&Kdump, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_kdump_give_one_line_each(
        words in prop::collection::vec(prop::sample::select(vec![
            "  2769", "/", "100123", " ", "sh", "0.000010", "-", "1300000000.000100000", "CALL", "RET", "NAMI", "PSIG",
            "CSW", "STRU", "  ", "read", "(", ")", ",", "0x", "99999999999999999999", "\"", " errno ", "fork", "execve",
            "JUSTRETURN", "struct sockaddr { AF_INET, ", " }", "SIG_DFL", "pid=", "\n", "\t", "__", "50", ".", "[", "]",
        ]), 0..40)
    ) {
        cases::all_survive(&Kdump, LAYOUTS, words.concat().as_bytes());
    }
}
