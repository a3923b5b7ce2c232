//! JSON lines of strace-macos. The cases are in `strace_macos.cases`.

use parsers::strace_macos::StraceMacos;
use parsers::{Clock, DurKind, Format, Head, LineReader, StampMoment};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../strace_macos.cases");

/// The only layout.
const LAYOUTS: &[(&str, &str)] = &[(
    "--json",
    "{\"syscall\": \"close\", \"args\": [3], \"return\": 0, \"pid\": 47, \"timestamp\": 1764374400.25}\n",
)];

fn reader(head: &str) -> Box<dyn LineReader> {
    StraceMacos.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("strace_macos.cases", CASES, LAYOUTS, reader);
}

#[test]
fn stamps_are_starts_and_durations_are_bounds() {
    let facts = reader(LAYOUTS[0].1).facts();
    assert_eq!(
        (facts.stamp, facts.clock, facts.dur_kind),
        (StampMoment::Start, Clock::Epoch, DurKind::UpperBound)
    );
}

#[test]
fn look_alikes_are_not_recognised() {
    let yes: Vec<&str> = LAYOUTS.iter().map(|&(_, text)| text).collect();
    let no = [
        r#"{"syscall": "close", "pid": 47, "timestamp": 1764374400.25}"#,
        r#"{"log":"read(3, \"x\", 1) = 1\n","stream":"stderr","time":"2026-01-02T03:04:05.123456789Z"}"#,
        "1234 19:43:34.123456 read(3, \"\", 1) = 0 <0.000012>",
    ];
    cases::check_recognition(&StraceMacos, &yes, &no);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        cases::all_survive(&StraceMacos, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_json_are_read_without_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "{\"syscall\": ", "\"open\"", "\"connect\"", ", \"args\": ", "[", "]", "{", "}", "\"/a\"", "\\", "\"", "3", "-9223372036854775808",
            "99999999999999999999", ", \"return\": ", "\"-1 ENOENT (x)\"", ", \"pid\": ", ", \"timestamp\": ", "1764374400.25", ", ",
            "\"sin_port\": ", "\"sun_path\": ", "\\ud83d\\ude00", "\\u00", "null", "\n",
        ]), 0..30)
    ) {
        cases::all_survive(&StraceMacos, LAYOUTS, words.concat().as_bytes());
    }
}
