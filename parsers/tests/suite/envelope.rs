//! Envelopes are removed without changing the lines inside, and logs stay logs. The cases are in `envelope.cases`.

use crate::cases;

use parsers::{Clock, DurKind, Head, Line, LineKind, LineReader, Parsed, StampMoment, by_name};
use proptest::prelude::*;

const CASES: &str = include_str!("../envelope.cases");
const LOGS: &str = include_str!("../logs.cases");

const STRACE: &str = r#"700 1700000000.000100 execve("/bin/x", ["x", "a: b"], 0x7f /* 1 var */) = 0 <0.000100>
700 1700000000.000300 openat(AT_FDCWD, "/x\n", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>
700 1700000000.000400 read(3,  <unfinished ...>
701 1700000000.000500 close(4) = 0 <0.000010>
700 1700000000.000600 <... read resumed>"\33[0m\\", 8) = 5 <0.000200>
said the program
700 1700000000.000900 +++ exited with 3 +++
"#;

const BARE: &str = r#"execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000100>
openat(AT_FDCWD, "/x", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>
close(4) = 0 <0.000010>
+++ exited with 3 +++
"#;

const SOLARIS: &str = "700/1:\t 0.0001\tlwp_create(0x08047A10, 0, 0x08047A0C)\t= 2
700/2:\t 0.0003\topen(\"/x\", O_RDONLY)\t\tErr#2 ENOENT
700/2:\t 0.0004\tclose(3)\t\t\t\t= 0
700/1:\t 0.0009\t_exit(3)
";

fn chosen(text: &str) -> (&'static str, Box<dyn LineReader>) {
    let head = Head {
        bytes: text.as_bytes(),
        complete: true,
    };
    parsers::choose_reader(head, None).unwrap_or_else(|| panic!("not recognised: {text}"))
}

fn shown_lines(reader: &dyn LineReader, text: &str) -> Vec<String> {
    text.lines()
        .map(|line| cases::one(reader, line.as_bytes()))
        .collect()
}

fn json(line: &str) -> String {
    line.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\t', "\\t")
}

fn wrapped(form: &str, text: &str) -> String {
    let one = |(number, line): (usize, &str)| {
        let form = form.replace("%d", &(number + 1).to_string());
        if form.contains("%j") {
            form.replace("%j", &json(line))
        } else {
            form.replace("%s", line)
        }
    };
    text.lines()
        .enumerate()
        .map(|line| one(line) + "\n")
        .collect()
}

/// The names of the envelopes, the sender, and the form of a line.
fn forms() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    let cases = CASES
        .lines()
        .filter(|case| !case.is_empty() && !case.starts_with('#'));
    cases.map(|case| {
        let (names, rest) = case.split_once(" | ").expect("words and a sender");
        let (sender, form) = rest.split_once("| ").expect("a form");
        (
            names.trim(),
            sender.trim(),
            form.replace('→', "\t").replace('␛', "\x1b"),
        )
    })
}

#[test]
fn an_envelope_does_not_change_lines() {
    for text in [STRACE, SOLARIS] {
        let (format, bare) = chosen(text);
        let expected = shown_lines(bare.as_ref(), text);
        for (names, sender, form) in forms() {
            let around = wrapped(&form, text);
            let (found, reader) = chosen(&around);
            let wrapping = reader.envelope_facts();
            assert_eq!(found, format, "{around}");
            // A format that reads indented lines directly reports no envelope.
            if names != "indent" || !wrapping.names.is_empty() {
                assert_eq!(wrapping.names.join(" "), names, "{around}");
            }
            assert_eq!(
                wrapping.sender.as_deref().unwrap_or("").replace('\t', "→"),
                sender,
                "{form}"
            );
            assert_eq!(reader.facts(), bare.facts(), "{form}");
            assert_eq!(shown_lines(reader.as_ref(), &around), expected, "{form}");
            let ends = around.replace('\n', "\r\n");
            assert_eq!(
                shown_lines(chosen(&ends).1.as_ref(), &ends),
                expected,
                "{form}"
            );
        }
    }
}

#[test]
fn cached_lines_get_the_stamps_of_the_log() {
    for (_, _, form) in forms() {
        let around = wrapped(&form, &[BARE, BARE, BARE].concat());
        let (_, reader) = chosen(&around);
        let mut one_by_one = Parsed::default();
        one_by_one.read(reader.as_ref(), around.as_bytes());
        for (text, line) in around.lines().zip(&one_by_one.lines) {
            let Some(parts) = reader.parts(text.as_bytes()) else {
                continue;
            };
            assert_eq!(
                (parts.stamp_ns, parts.dur_ns),
                (line.stamp_ns, line.dur_ns),
                "{text}"
            );
        }
    }
}

#[test]
fn log_stamps_are_the_clock_of_lines_without_one() {
    let (_, bare) = chosen(BARE);
    assert_eq!(bare.facts().clock, Clock::None);
    let cases = [
        (
            "2026-01-02T03:04:05.123456789Z %s",
            Clock::Epoch,
            1_000,
            1_767_323_045_123_456_789,
        ),
        (
            "Jan 02 03:04:05 host strace[12]: %s",
            Clock::SinceNewYear,
            1_000_000_000,
            97_445_000_000_000,
        ),
        (
            "[  123.456] host strace[12]: %s",
            Clock::SinceStart,
            1_000_000,
            123_456_000_000,
        ),
        (
            r#"{"log":"%j\n","stream":"stderr","time":"2026-01-02T03:04:05.1Z"}"#,
            Clock::Epoch,
            100_000_000,
            1_767_323_045_100_000_000,
        ),
    ];
    for (form, clock, tick_ns, stamp_ns) in cases {
        let around = wrapped(form, BARE);
        let (_, reader) = chosen(&around);
        let facts = reader.facts();
        assert!(reader.envelope_facts().has_clock, "{form}");
        assert_eq!(
            (facts.clock, facts.tick_ns, facts.stamp, facts.dur_kind),
            (clock, tick_ns, StampMoment::End, DurKind::Exact)
        );
        let mut parsed = Parsed::default();
        parsed.read(reader.as_ref(), around.as_bytes());
        assert!(
            parsed
                .lines
                .iter()
                .all(|line: &Line| line.stamp_ns == stamp_ns),
            "{form}"
        );
    }
    let around = wrapped("web-1  | %s", BARE);
    assert!(!chosen(&around).1.envelope_facts().has_clock);
}

#[test]
fn html_entities_are_decoded() {
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let all = |text: &str| escape(text).replace('"', "&quot;");
    for text in [STRACE, BARE] {
        let expected = shown_lines(chosen(text).1.as_ref(), text);
        for escaped in [escape(text), all(text)] {
            let (_, reader) = chosen(&escaped);
            assert_eq!(reader.envelope_facts().names, ["html"]);
            assert_eq!(shown_lines(reader.as_ref(), &escaped), expected);
        }
    }
    let own = STRACE.replace("a: b", "&lt;b&gt;");
    assert!(chosen(&own).1.envelope_facts().names.is_empty());
}

#[test]
fn seconds_since_the_start_are_not_added_up() {
    let text: String = (0..20)
        .map(|at| format!("{}.{:06} close({at}) = 0\n", at / 9, at * 1000))
        .collect();
    let (_, reader) = chosen(&text);
    assert_eq!(
        (reader.facts().clock, reader.envelope_facts().has_clock),
        (Clock::SinceStart, true)
    );
    let relative = text.replace("2.", "0.");
    assert_eq!(chosen(&relative).1.facts().clock, Clock::SincePrevious);
}

#[test]
fn folded_lines_are_detected_lines_cut_by_output_are_not() {
    let folded = |text: &str, width: usize| {
        let pieces = |line: &str| {
            line.as_bytes()
                .chunks(width)
                .map(|piece| String::from_utf8_lossy(piece) + "\n")
                .collect()
        };
        let text: String = text
            .lines()
            .map(|line| -> String { pieces(line) })
            .collect();
        chosen(&text).1.envelope_facts().is_folded
    };
    let text = STRACE.repeat(4);
    assert!(folded(&text, 60));
    assert!(!folded(&text, 400));
    let lines = [
        "write(1, \"x\\n\", 2x",
        ") = 2",
        "openat(AT_FDCWD, \"/usr/lib/x86_64-linux-gnu/libc.so.6\", O_RDONLY) = 3",
    ];
    let chatty = (lines.join("\n") + "\n").repeat(8);
    assert!(!chosen(&chatty).1.envelope_facts().is_folded);
}

#[test]
fn padding_after_lines_is_removed() {
    for text in [STRACE, BARE] {
        let padded = text.replace('\n', "    \n");
        let (_, reader) = chosen(&padded);
        assert_eq!(reader.envelope_facts().names, ["padding"]);
        assert_eq!(
            shown_lines(reader.as_ref(), &padded),
            shown_lines(chosen(text).1.as_ref(), text)
        );
    }
}

#[test]
fn lines_of_other_senders_are_foreign() {
    let mut lines = vec!["Jan 02 03:04:05 host systemd[1]: Started a.service.".to_owned()];
    for line in STRACE.lines() {
        lines.push(format!("Jan 02 03:04:05 host strace[12]: {line}"));
        lines.push("Jan 02 03:04:05 host kernel: usb 1-1: new device".to_owned());
    }
    lines.extend(std::iter::repeat_n(
        "Jan 02 03:04:05 host other[9]: close(3) = 0".to_owned(),
        3,
    ));
    let text = lines.join("\n");
    let (format, reader) = chosen(&text);
    let wrapping = reader.envelope_facts();
    assert_eq!(
        (format, wrapping.sender.as_deref()),
        ("strace", Some("strace"))
    );
    let mut parsed = Parsed::default();
    parsed.read(reader.as_ref(), text.as_bytes());
    let foreign = parsed
        .lines
        .iter()
        .filter(|line| line.kind == LineKind::Foreign)
        .count();
    assert_eq!((parsed.lines.len(), foreign), (lines.len(), 1 + 7 + 3 + 1));
}

#[test]
fn a_line_cut_by_a_container_log_is_two_halves_of_a_call() {
    let parts = [
        (
            "2026-01-02T03:04:05Z stderr P 700 1700000000.000700 write(1, \"a long",
            "2026-01-02T03:04:05Z stderr F  text\\n\", 9) = 9 <0.000020>",
        ),
        (
            r#"{"log":"700 1700000000.000700 write(1, \"a long","stream":"stderr","time":"2026-01-02T03:04:05Z"}"#,
            r#"{"log":" text\\n\", 9) = 9 <0.000020>\n","stream":"stderr","time":"2026-01-02T03:04:05Z"}"#,
        ),
    ];
    let forms = [
        "2026-01-02T03:04:05Z stderr F %s",
        r#"{"log":"%j\n","stream":"stderr","time":"2026-01-02T03:04:05Z"}"#,
    ];
    for ((first, last), form) in parts.into_iter().zip(forms) {
        let text = [&wrapped(form, STRACE), first, "\n", last, "\n"].concat();
        let (_, reader) = chosen(&text);
        let first = cases::one(reader.as_ref(), first.as_bytes());
        let last = cases::one(reader.as_ref(), last.as_bytes());
        assert!(
            first.starts_with("call_start tid=700 fd=1 at=1700000000000700000 name=write"),
            "{first}"
        );
        assert_eq!(last, "continuation dur=20000 ret=9 part=Tail");
    }
}

#[test]
fn logs_that_mention_calls_are_logs() {
    for log in LOGS.split("\n\n").skip(1) {
        let lines: Vec<&str> = log.lines().filter(|line| !line.starts_with('#')).collect();
        let (format, reader) = chosen(&lines.join("\n"));
        assert_eq!(
            (format, reader.envelope_facts().names.as_slice()),
            ("kernel-log", &[][..]),
            "{log}"
        );
    }
}

#[test]
fn a_named_format_is_used() {
    let around = wrapped("Jan 02 03:04:05 host strace[12]: %s", STRACE);
    let head = Head {
        bytes: around.as_bytes(),
        complete: true,
    };
    let named = |name| {
        parsers::choose_reader(head, by_name(name))
            .map(|(name, reader)| (name, reader.envelope_facts().names))
    };
    assert_eq!(named("kernel-log"), Some(("kernel-log", vec![])));
    assert_eq!(named("strace"), Some(("strace", vec!["syslog"])));
    // One line is enough if the user names the format: a file of one thread.
    let one = Head {
        bytes: b"2026-01-02T03:04:05Z +++ exited with 0 +++\n",
        complete: true,
    };
    let found = parsers::choose_reader(one, by_name("strace"))
        .map(|(_, reader)| reader.envelope_facts().names);
    assert_eq!(found, Some(vec!["timestamps"]));
}

#[test]
fn a_plain_capture_is_not_searched_for_envelopes() {
    // Prefixes of tracers that look like those of loggers.
    let cases = [
        "01:23:30 read(3, \"x\", 1) = 1\n01:23:31 close(3) = 0\n01:23:31 +++ exited with 0 +++\n",
        "1700000000.000100 read(3, \"x\", 1) = 1\n1700000000.000200 close(3) = 0\n1700000000.000300 close(4) = 0\n",
        "     0.000000 read(3, \"x\", 1) = 1\n     0.000200 close(3) = 0\n     0.000300 close(4) = 0\n",
        "1 read(3, \"x\", 1) = 1\n2 close(3) = 0\n3 close(4) = 0\n",
    ];
    for text in cases {
        assert_eq!(
            chosen(text).1.envelope_facts().names,
            Vec::<&str>::new(),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_in_envelopes_give_one_line_each(
        case in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
    ) {
        let forms: Vec<_> = forms().collect();
        let whole = wrapped(&forms[case.index(forms.len())].2, STRACE);
        let (_, reader) = chosen(&whole);
        let mut bytes = whole.into_bytes();
        for (place, value) in damage {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        let lines = bytes.split(|&byte| byte == b'\n').count() - usize::from(bytes.ends_with(b"\n"));
        let anew = parsers::choose_reader(Head { bytes: &bytes, complete: true }, None);
        for reader in std::iter::once(reader).chain(anew.map(|(_, reader)| reader)) {
            let mut parsed = Parsed::default();
            parsed.read(reader.as_ref(), &bytes);
            prop_assert_eq!(parsed.lines.len(), lines);
            for line in bytes.split(|&byte| byte == b'\n') {
                reader.parts(line);
            }
        }
    }

    #[test]
    fn any_words_of_envelopes_give_one_line_each(
        words in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", "\"", "\\", "\"log\":", "\"time\":", ":", ",", "\\u00e9", "\\ud83d", "\\udc00", "\\u", "stderr", " F ", " P ",
            "2026-01-02T03:04:05.1Z", "Jan  2 03:04:05 ", "host ", "a[1]: ", "web-1  | ", "[pod/a/b] ", "12:", "a:1:", "> ", "    ", "\t",
            "\x1b[", "\x1b]", "\x1b", "m", "#011", "<13>1 ", "- ", "read(3, \"x\", 1) = 1", "close(3) = 0", "\n", "\r\n", "00O ",
        ]), 0..60)
    ) {
        let text = words.concat();
        let head = Head { bytes: text.as_bytes(), complete: true };
        let lines = text.lines().count();
        if let Some((_, reader)) = parsers::choose_reader(head, None) {
            let mut parsed = Parsed::default();
            parsed.read(reader.as_ref(), text.as_bytes());
            prop_assert_eq!(parsed.lines.len(), lines);
        }
    }
}
