//! Lines of Process Monitor. The cases are in `procmon.cases`.

use parsers::procmon::Procmon;
use parsers::{Clock, DurKind, Format, Head, LineReader, StampMoment};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../procmon.cases");

/// Heads that decide the layout, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    (
        "default",
        concat!(
            "\u{feff}\"Time of Day\",\"Process Name\",\"PID\",\"Operation\",\"Path\",\"Result\",\"Detail\"\r\n",
            "\"9:53:32.8219063 AM\",\"app.exe\",\"4711\",\"CloseFile\",\"C:\\x\",\"SUCCESS\",\"\"\r\n"
        ),
    ),
    (
        "with threads and durations",
        concat!(
            "\"Time of Day\",\"Process Name\",\"PID\",\"Operation\",\"Path\",\"Result\",\"Detail\",\"TID\",\"Duration\"\n",
            "\"21:53:32,8219063\",\"app.exe\",\"4711\",\"CloseFile\",\"C:\\x\",\"SUCCESS\",\"\",\"4720\",\"0,0000100\"\n"
        ),
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    Procmon.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("procmon.cases", CASES, LAYOUTS, reader);
}

#[test]
fn the_columns_decide_what_is_known() {
    let facts = |head| {
        let facts = reader(head).facts();
        assert_eq!(
            (facts.stamp, facts.clock, facts.tick_ns),
            (StampMoment::Start, Clock::TimeOfDay, 100)
        );
        (facts.dur_kind, facts.has_durations, facts.names_processes)
    };
    assert_eq!(facts(LAYOUTS[0].1), (DurKind::None, false, true));
    assert_eq!(facts(LAYOUTS[1].1), (DurKind::Exact, true, true));
}

#[test]
fn look_alikes_are_not_recognised() {
    let headless = LAYOUTS[0].1.split_once('\n').expect("two lines").1;
    let yes = [LAYOUTS[0].1, LAYOUTS[1].1, headless];
    let no = [
        "\"date\",\"name\",\"value\",\"unit\"\n\"9:53:32\",\"a\",\"4711\",\"B\"",
        "1234 19:43:34.123456 read(3, \"\", 1) = 0 <0.000012>",
        "[    1.486287] md: stopping all md devices.",
    ];
    cases::check_recognition(&Procmon, &yes, &no);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        cases::all_survive(&Procmon, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_procmon_are_read_without_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "\"9:53:32.8219063 AM\"", "\"오후 9:53:32.8219063\"", "\"99:99:99,9999999999\"", ",", "\"", "\"\"", "\"app.exe\"", "\"4711\"",
            "\"99999999999999999999\"", "\"Process Start\"", "\"Process Create\"", "\"Thread Exit\"", "\"ReadFile\"", "\"SUCCESS\"",
            "\"PENDING\"", "\"Length: 9,223,372,036,854,775,807,999\"", "\"Parent PID: -1\"", "\"PID: 12\"", "\"Operation\"", "\"PID\"",
            "\"Result\"", "\"TID\"", "\n", "\u{feff}",
        ]), 0..30)
    ) {
        cases::all_survive(&Procmon, LAYOUTS, words.concat().as_bytes());
    }
}
