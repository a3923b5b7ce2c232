//! Lines of perf trace. The cases are in `perf_trace.cases`.

use parsers::perf_trace::PerfTrace;
use parsers::{Clock, DurKind, Format, Head, LineKind, LineReader, Parsed, StampMoment};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../perf_trace.cases");

/// Heads that decide the layout, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    (
        "comm",
        "     0.091 ( 0.003 ms): ls/456871 brk()                      = 0x56150d127000\n",
    ),
    (
        "no comm",
        "     0.091 ( 0.003 ms): 456871 brk()                      = 0x56150d127000\n",
    ),
    (
        "no thread",
        "     0.091 ( 0.003 ms): brk()                      = 0x56150d127000\n",
    ),
    (
        "-s",
        " Summary of events:\n\n ls (456871), 98 events, 62.8%\n",
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    PerfTrace.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("perf_trace.cases", CASES, LAYOUTS, reader);
}

#[test]
fn durations_are_exact_unless_there_is_only_a_table() {
    let facts = |head| {
        let facts = reader(head).facts();
        (facts.stamp, facts.clock, facts.dur_kind, facts.has_ids)
    };
    let exact = |has_ids| {
        (
            StampMoment::Start,
            Clock::SinceStart,
            DurKind::Exact,
            has_ids,
        )
    };
    let none = (StampMoment::None, Clock::None, DurKind::None, false);
    let expected = [exact(true), exact(true), exact(false), none];
    assert_eq!(
        LAYOUTS
            .iter()
            .map(|(_, head)| facts(head))
            .collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn look_alikes_are_not_recognised() {
    let yes: Vec<&str> = LAYOUTS.iter().map(|&(_, text)| text).collect();
    let no = [
        "write(1, \"     0.091 ( 0.003 ms): ls/456871 brk()\", 40) = 40",
        "     0.000245 read(3, \"\", 1) = 0",
        "[    1.486287] md: stopping all md devices.",
        "12345 close(3) = 0",
        "0.123 (0.5 ms) elapsed",
    ];
    cases::check_recognition(&PerfTrace, &yes, &no);
}

#[test]
fn the_public_sample_has_no_losses() {
    let Some(text) = cases::corpus("linux-perf-trace-ls.txt") else {
        return;
    };
    let head = Head {
        bytes: text.as_bytes(),
        complete: true,
    };
    assert_eq!(
        parsers::recognise(head).map(Format::name),
        Some("perf-trace")
    );
    let mut parsed = Parsed::default();
    parsed.read(PerfTrace.reader(head).as_ref(), text.as_bytes());
    let kinds: Vec<LineKind> = parsed.lines.iter().map(|line| line.kind).collect();
    assert_eq!(kinds, [LineKind::CallEnd, LineKind::Call, LineKind::Call]);
}

proptest! {
    #[test]
    fn any_bytes_give_one_line_each(text in prop::collection::vec(any::<u8>(), 0..300)) {
        cases::all_survive(&PerfTrace, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_perf_give_one_line_each(
        words in prop::collection::vec(prop::sample::select(vec![
            "     0.352", " ", "?", "(", " 0.017 ms", "         ", "): ", "ls", "/", "28133 ", "openat(", "dfd: CWD, ",
            "filename: ", "\"", ")", " = ", "-1 ENOENT (No)", "0x7f", " ...", " ... [continued]: ", "execve())", "op: WAIT",
            "99999999999999999999", "9223372036854.999", "minfault [", "sched:x(", "clone(clone_flags: THREAD|", "\n", "\t",
            "{ .family: INET, port: 1, addr: ::1 }", "connect(fd: 3, uservaddr: ", "\x1b[31m", "LOST 1 events!", "%",
        ]), 0..40)
    ) {
        cases::all_survive(&PerfTrace, LAYOUTS, words.concat().as_bytes());
    }
}
