//! Lines of ltrace -S. The cases are in `ltrace.cases`.

use parsers::ltrace::Ltrace;
use parsers::{Clock, DurKind, Format, Head, LineKind, LineReader, Parsed};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../ltrace.cases");

/// Heads that decide the layout, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    (
        "none",
        "SYS_brk(0)                                       = 0x5615980d5000\nSYS_close(3)     = 0\n",
    ),
    (
        "-f -ttt -T",
        "28680 1795246864.806044 SYS_access(\"/etc/ld.so.preload\", 04) = -2 <0.000063>\n",
    ),
    (
        "-f on a terminal",
        "1795246864.838376 SYS_brk(0)         = 0x561858564000 <0.000016>\n\
         [pid 28684] 1795246864.838376 SYS_brk(0)         = 0x561858564000 <0.000016>\n",
    ),
    (
        "-r -i",
        "  0.000093 [0x7fcf7fe64dd5] SYS_write(1, \"hi\\n\", 3)  = 3\n",
    ),
    (
        "-c",
        "% time     seconds  usecs/call     calls      function\n",
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    Ltrace.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("ltrace.cases", CASES, LAYOUTS, reader);
}

#[test]
fn clocks_are_those_of_strace() {
    let facts = |head| {
        let facts = reader(head).facts();
        (
            facts.clock,
            facts.dur_kind,
            facts.has_ids,
            facts.ids_optional,
        )
    };
    let expected = [
        (Clock::None, DurKind::None, false, true),
        (Clock::Epoch, DurKind::Exact, true, false),
        (Clock::Epoch, DurKind::Exact, true, true),
        (Clock::SincePrevious, DurKind::UpperBound, false, true),
    ];
    assert_eq!(
        LAYOUTS[..4]
            .iter()
            .map(|(_, head)| facts(head))
            .collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn look_alikes_are_not_recognised() {
    let yes = [
        LAYOUTS[0].1,
        LAYOUTS[1].1,
        LAYOUTS[2].1,
        LAYOUTS[3].1,
        LAYOUTS[4].1,
        "puts(\"hi\" <unfinished ...>\nopen@SYS(\"/etc/x\", 0, 00) = 3\n<... puts resumed> ) = 3\n",
        "malloc(8) = 0x5615980d5000\n+++ exited (status 0) +++\n",
    ];
    let no = [
        "openat(AT_FDCWD, \"/x\", O_RDONLY) = -1 ENOENT (No such file or directory)",
        "write(1, \"SYS_open(0) = 3\", 15) = 15",
        "read(3,  <unfinished ...>",
        "+++ exited with 0 +++",
    ];
    cases::check_recognition(&Ltrace, &yes, &no);
}

#[test]
fn library_calls_are_not_calls() {
    let mut parsed = Parsed::default();
    let text =
        "puts(\"hi\" <unfinished ...>\nSYS_write(1, \"hi\\n\", 3) = 3\n<... puts resumed> ) = 3\n";
    parsed.read(reader(LAYOUTS[0].1).as_ref(), text.as_bytes());
    let kinds: Vec<LineKind> = parsed.lines.iter().map(|line| line.kind).collect();
    assert_eq!(kinds, [LineKind::Notice, LineKind::Call, LineKind::Notice]);
}

proptest! {
    #[test]
    fn any_bytes_give_one_line_each(text in prop::collection::vec(any::<u8>(), 0..300)) {
        cases::all_survive(&Ltrace, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_ltrace_give_one_line_each(
        words in prop::collection::vec(prop::sample::select(vec![
            "28680 ", "1795246864.806044 ", "[pid 1] ", "SYS_", "openat", "@SYS", "(", ")", "\"", ", ", " = ", "-2", "0x",
            "ffffffffffffffff", "-9223372036854775808", " <0.000063>", " <unfinished ...>", " <no return ...>", "<... ",
            " resumed> ", "--- ", " ---", "+++ exited (status ", ") +++", "\n", "435", "[0x400547] ", "->", "puts",
            "% time", "function", " total", "100.00 ", "99999999999999999999",
        ]), 0..40)
    ) {
        cases::all_survive(&Ltrace, LAYOUTS, words.concat().as_bytes());
    }
}
