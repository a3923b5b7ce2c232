//! The strace reader: cases as data, and properties that hold for any bytes.

use parsers::{
    CallPart, Clock, DurKind, Extra, Head, Line, LineKind, LineReader, NO_ID, NO_NS, Outcome,
    Parsed, Recognition, Text, by_name,
};
use proptest::prelude::*;
use std::fmt::Write;

const CASES: &str = include_str!("../strace_cases.txt");

fn reader(head: &str) -> Box<dyn LineReader> {
    let format = by_name("strace").expect("the format is listed");
    format.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

/// The line as text. Absent and default fields are left out.
fn words(line: &Line, parsed: &Parsed) -> String {
    let mut out = line.kind.name().to_string();
    let mut number = |name: &str, value: i64, none: i64| {
        if value != none {
            let _ = write!(out, " {name}={value}");
        }
    };
    number("tid", i64::from(line.tid), i64::from(NO_ID));
    number("at", line.stamp_ns, NO_NS);
    number("dur", line.dur_ns, NO_NS);
    number("fd", i64::from(line.fd), i64::from(NO_ID));
    number("ret", line.ret, NO_NS);
    let texts = [
        ("name", line.name),
        ("op", line.op),
        ("target", line.target),
        ("errno", line.errno),
    ];
    for (name, text) in texts.iter().filter(|(_, text)| text.is_some()) {
        let _ = write!(out, " {name}={:?}", parsed.texts.string(*text));
    }
    if line.part != CallPart::Whole {
        let _ = write!(out, " {:?}", line.part);
    }
    if line.outcome != Outcome::Ok {
        let _ = write!(out, " {}", line.outcome.name());
    }
    if let Some(extra) = parsed.extra(line) {
        let _ = write!(out, " {}", extra_words(extra, parsed));
    }
    out
}

/// An extra with its texts instead of their numbers.
fn extra_words(extra: &Extra, parsed: &Parsed) -> String {
    let mut out = match extra {
        Extra::Fact(fact) => format!("{fact:?}"),
        Extra::With(with) => format!("{} {:?}", extra_words(&with.0, parsed), with.1),
        extra => format!("{extra:?}"),
    };
    while let Some(at) = out.find("Text(") {
        let end = at + out[at..].find(')').expect("closed");
        let text = Text(out[at + 5..end].parse().expect("a number"));
        out.replace_range(at..=end, &format!("{:?}", parsed.texts.string(text)));
    }
    out
}

struct Case<'a> {
    claim: &'a str,
    layout: Option<&'a str>,
    line: &'a str,
    expected: &'a str,
}

fn cases() -> Vec<Case<'static>> {
    let blocks = CASES.split("\n## ").skip(1);
    let case = |block: &'static str| {
        let mut lines = block.split('\n');
        let claim = lines.next()?;
        let mut line = lines.next()?;
        let layout = line.strip_prefix("@ ");
        if layout.is_some() {
            line = lines.next()?;
        }
        Some(Case {
            claim,
            layout,
            line,
            expected: lines.next()?,
        })
    };
    blocks
        .map(|block| case(block).expect("a claim, a line, its result"))
        .collect()
}

fn read(case: &Case<'_>) -> String {
    let mut parsed = Parsed::default();
    let line = reader(case.layout.unwrap_or(case.line)).read(case.line.as_bytes(), &mut parsed);
    words(&line, &parsed)
}

#[test]
fn each_case_reads_as_expected() {
    if std::env::var_os("TRACEALYZE_BLESS").is_some() {
        return bless();
    }
    let wrong: Vec<String> = cases()
        .iter()
        .filter_map(|case| {
            let got = read(case);
            let Case {
                claim,
                line,
                expected,
                ..
            } = case;
            (got != *expected).then(|| {
                format!("{claim}\n  line     {line}\n  expected {expected}\n  got      {got}")
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn bless() {
    let mut text = CASES.split("\n## ").next().unwrap_or("").to_string();
    for case in cases() {
        let layout = case
            .layout
            .map_or(String::new(), |layout| format!("@ {layout}\n"));
        let _ = write!(
            text,
            "\n## {}\n{layout}{}\n{}",
            case.claim,
            case.line,
            read(&case)
        );
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/strace_cases.txt");
    std::fs::write(path, text + "\n").expect("the cases can be written");
}

fn is_strace(text: &str) -> bool {
    let format = by_name("strace").expect("the format is listed");
    match format.recognise(Head {
        bytes: text.as_bytes(),
        complete: true,
    }) {
        Recognition::Yes => true,
        Recognition::Maybe(share) => share >= 30,
        Recognition::No | Recognition::NeedMore => false,
    }
}

#[test]
fn a_single_line_with_a_clock_is_recognised() {
    assert!(is_strace("01:23:30.170323 close(3) = 0\n"));
    assert!(is_strace(
        "1234  1795224170.658193 read(3, \"x\", 1) = 1 <0.000012>\n"
    ));
    assert!(is_strace(
        "% time     seconds  usecs/call     calls    errors syscall\n"
    ));
    assert!(is_strace("strace: Process 12 attached\n"));
}

/// Calls that succeed: none has a sign that only strace prints.
const PLAIN_CALLS: [(&str, &str); 5] = [
    ("close(3)", "0"),
    ("openat(AT_FDCWD, \"/etc/hosts\", O_RDONLY|O_CLOEXEC)", "3"),
    ("read(3, \"127.0.0.1 localhost\\n\"..., 4096)", "221"),
    ("fstat(3, {st_mode=S_IFREG|0644, st_size=221, ...})", "0"),
    ("futex(0x7f2c4a6b1b38, FUTEX_WAKE_PRIVATE, 1)", "1"),
];

/// Every header that the options of strace make, with the digits of its clocks.
fn headers() -> impl Iterator<Item = String> {
    let ids = [
        "",
        "4711  ",
        "[pid  4711] ",
        "4711<web> ",
        "[pid 4711<web>] ",
    ];
    let contexts = ["", "[unconfined_u:unconfined_r:unconfined_t:s0] "];
    let clocks = [
        "",
        "20:37:49 ",
        "20:37:49.123 ",
        "20:37:49.123456 ",
        "1700000000 ",
        "1700000000.123456 ",
    ];
    let numbers = [
        "",
        "[  59] ",
        "[00007f441a258ad7] ",
        "[  59] [00007f441a258ad7] ",
    ];
    let all = move |id: &'static str, context: &'static str, clock: &'static str| {
        let relative = if clock.is_empty() {
            "     0.000012 "
        } else {
            "(+     0.000012) "
        };
        let of = move |relative: &'static str| {
            numbers.map(|number| format!("{id}{context}{clock}{relative}{number}"))
        };
        of("").into_iter().chain(of(relative))
    };
    let pairs = ids
        .into_iter()
        .flat_map(move |id| contexts.map(|context| (id, context)));
    pairs.flat_map(move |(id, context)| {
        clocks
            .into_iter()
            .flat_map(move |clock| all(id, context, clock))
    })
}

#[test]
fn successful_calls_are_recognised_after_any_header() {
    for header in headers() {
        for (duration, lines, from) in [
            ("", 1, 0),
            (" <0.000012>", 1, 1),
            ("", 2, 2),
            (" <0.000012>", 5, 0),
            ("", 5, 0),
        ] {
            let calls = PLAIN_CALLS.iter().cycle().skip(from).take(lines);
            let text: String = calls
                .map(|(call, ret)| format!("{header}{call:<22} = {ret}{duration}\n"))
                .collect();
            let head = Head {
                bytes: text.as_bytes(),
                complete: true,
            };
            let (name, reader) =
                parsers::choose_reader(head, None).unwrap_or_else(|| panic!("unknown: {text}"));
            assert_eq!(
                (name, reader.envelope_facts().names.len()),
                ("strace", 0),
                "{text}"
            );
            let mut parsed = Parsed::default();
            parsed.read(reader.as_ref(), text.as_bytes());
            let is_read = |line: &Line| {
                line.kind == LineKind::Call && (line.tid == 4711) == header.contains("4711")
            };
            assert!(parsed.lines.iter().all(is_read), "{text}");
            assert_eq!(reader.facts().has_durations, !duration.is_empty(), "{text}");
            let is_timed = ["20:37:49", "1700000000", "0.000012) ", "0.000012 "]
                .iter()
                .any(|clock| header.contains(clock));
            assert_eq!(reader.facts().clock != Clock::None, is_timed, "{text}");
        }
    }
}

#[test]
fn calls_that_a_mail_wrapped_are_recognised() {
    let text = "openat(AT_FDCWD, \"/etc/ld.so.cache\",\nO_RDONLY|O_CLOEXEC) = 3\nmmap(NULL, 8192, PROT_READ|PROT_WRITE,
MAP_PRIVATE|MAP_ANONYMOUS,\n-1, 0) = 0x7f43d6f38000\n";
    assert!(is_strace(text));
    assert!(is_strace(
        &text
            .replace("openat", "1234  17:01:02.123456 openat")
            .replace("mmap", "1235  17:01:03.123456 mmap")
    ));
    assert!(!is_strace(
        "open(the door\nand close it) is what\nyou do = 3\n"
    ));
}

#[test]
fn output_that_looks_like_another_tracer_does_not_hide_strace() {
    let calls =
        "close(9) = -1 EBADF (Bad file descriptor)\nexit_group(0) = ?\n+++ exited with 0 +++\n";
    assert!(is_strace(&format!("defines SYS_read(2)\n{calls}")));
}

#[test]
fn other_tracers_are_not_taken_for_strace() {
    let others = [
        "SYS_openat(0xffffff9c, 0x7f1c2e0b1a30, 0x80000, 0) = 3\nputs(\"hi\" <unfinished ...>\n<... puts resumed> ) = 3\n",
        "strlen(\"a\") = 1\n+++ exited (status 0) +++\n",
        "     0.164 ( 0.002 ms): ls/456871 arch_prctl(option: 0x3001) = -1 EINVAL (Invalid argument)\n",
        "read(3,\"...\",35)\t\t\t = 35 (0x23)\n",
        "open(\"/etc/passwd\", O_RDONLY)\t\t\tErr#2 ENOENT\n",
        "12200:\tclose(3)\t\t\t\t= 0\n",
        "  2769 rmdir    RET   mmap 34365181952/0x800531000\n",
        "SYSCALL(args) \t\t = return\nopen(\"/dev/dtracehelper\\0\", 0x2, 0x1)\t\t = 3 0\n",
        "[    1.486287] audit: type=1 syscall=59\n",
        "% time     seconds  usecs/call     calls      function\n",
        "hello, world\n",
    ];
    for text in others {
        assert!(!is_strace(text), "{text}");
    }
}

#[test]
fn facts_follow_from_the_head() {
    let facts = |head: &str| {
        let facts = reader(head).facts();
        (
            facts.clock,
            facts.tick_ns,
            facts.dur_kind,
            facts.has_ids,
            facts.ids_optional,
        )
    };
    let (us, s) = (1_000, 1_000_000_000);
    let cases = [
        (
            "1 1795224170.658193 close(3) = 0 <0.000012>\n",
            (Clock::Epoch, us, DurKind::Exact, true, false),
        ),
        (
            "01:23:30 close(3) = 0\n[pid    12] 01:23:30 close(3) = 0\n",
            (Clock::TimeOfDay, s, DurKind::UpperBound, true, true),
        ),
        (
            "01:23:30.170323 close(3) = 0\n",
            (Clock::TimeOfDay, us, DurKind::UpperBound, false, true),
        ),
        (
            "12         0.000245 close(3) = 0\n",
            (Clock::SincePrevious, us, DurKind::UpperBound, true, false),
        ),
        (
            "1795224170.658193 (+     0.000281) close(3) = 0\n",
            (Clock::Epoch, us, DurKind::UpperBound, false, true),
        ),
        (
            "close(3) = 0\n",
            (Clock::None, s, DurKind::None, false, true),
        ),
    ];
    for (head, expected) in cases {
        assert_eq!(facts(head), expected, "{head}");
    }
}

#[test]
fn zeros_of_a_truncated_file_hide_no_line() {
    let line = "700 1700000000.000100 close(3) = 0 <0.000010>";
    let mut parsed = Parsed::default();
    let [plain, behind] = [line.to_owned(), "\0".repeat(4096) + line]
        .map(|text| reader(&format!("{line}\n")).read(text.as_bytes(), &mut parsed));
    assert_eq!(plain, behind);
    assert_eq!(plain.kind, LineKind::Call);
}

#[test]
fn an_indented_id_is_not_a_relative_stamp() {
    let clock = |head: &str| reader(head).facts().clock;
    assert_eq!(
        clock("     0 close(3) = 0\n     1 close(4) = 0\n"),
        Clock::SincePrevious
    );
    assert_eq!(
        clock("    4711 close(3) = 0\n    4711 close(4) = 0\n"),
        Clock::None
    );
}

#[test]
fn columns_of_a_table_follow_its_header() {
    let head = "syscall              calls    errors % time\n---------------- --------- --------- ------\n";
    let mut parsed = Parsed::default();
    let line = reader(head).read(b"access                   2         1   0.00", &mut parsed);
    assert_eq!(
        parsed.extra(&line),
        Some(&Extra::SummaryRow {
            calls: 2,
            failed: 1,
            total_ns: NO_NS
        })
    );
    let line = reader(head).read(b"close                   23             0.00", &mut parsed);
    assert_eq!(
        parsed.extra(&line),
        Some(&Extra::SummaryRow {
            calls: 23,
            failed: 0,
            total_ns: NO_NS
        })
    );
}

#[test]
fn an_empty_beginning_needs_more_text() {
    let format = by_name("strace").expect("the format is listed");
    assert_eq!(
        format.recognise(Head {
            bytes: b"\n\n",
            complete: false
        }),
        Recognition::NeedMore
    );
    assert_eq!(
        format.recognise(Head {
            bytes: b"",
            complete: true
        }),
        Recognition::No
    );
}

/// Bytes that often look like lines of a trace, to reach the corner cases.
fn traceish() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::sample::select(vec![
        "1234 ",
        "[pid  12] ",
        "1795224170.658193 ",
        "01:23:30 ",
        "read(",
        "<... read resumed>",
        "\"",
        "\\",
        "/* ",
        " */",
        "<",
        ">",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        ", ",
        " = ",
        "= ?",
        "-1 ENOENT (x)",
        " <0.000012>",
        " <unfinished ...>",
        "3</a>",
        "AT_FDCWD</srv>",
        "'",
        "--- SIGCHLD {si_pid=3} ---",
        "+++ exited with 0 +++",
        "strace: Process 3 attached",
        "{sa_family=AF_UNIX, sun_path=@\"x\"",
        "clone(flags=CLONE_VM",
        "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}]",
        "execve(\"x\", [\"y\", \"",
        "poll([{fd=3",
        "\u{1b}[3",
        "99999999999999999999",
        "0x",
        "é",
        "TCP:[a->b]",
        "fcntl64#64(",
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        prop::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat().into_bytes()),
    ]
}

/// A capture of a process that hangs may have one line, which no log has.
#[test]
fn begins_of_calls_after_a_clock_are_recognised() {
    let name = |text: &str| {
        parsers::recognise(Head {
            bytes: text.as_bytes(),
            complete: true,
        })
        .map(parsers::Format::name)
    };
    for text in [
        "1700000000.123456 read(0,",
        "12:00:01 flock(3, LOCK_EX",
        "12:00:01.123456 futex(0x7f001122, FUTEX_WAIT_PRIVATE, 2, NULL",
        "100 12:00:01.1 read(0,\n101 12:00:02.1 futex(0x7f001122, FUTEX_WAIT_PRIVATE, 2, NULL",
    ] {
        assert_eq!(name(text), Some("strace"), "{text}");
    }
    for text in [
        "12:00:01 handler(3, waits",
        "12:00:01 read(0,\n12:00:02 worker started",
        "[   12.345678] read(0,",
    ] {
        assert_ne!(name(text), Some("strace"), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic_and_surroundings_change_nothing(
        layout in traceish(), line in traceish(), before in traceish()
    ) {
        let line: Vec<u8> = line.into_iter().filter(|&byte| byte != b'\n').collect();
        let head = Head { bytes: &layout, complete: true };
        let format = by_name("strace").expect("listed");
        let _ = format.recognise(head);
        let reader = format.reader(head);
        let (mut alone, mut among) = (Parsed::default(), Parsed::default());
        let first = reader.read(&line, &mut alone);
        reader.read(&before, &mut among);
        let second = reader.read(&line, &mut among);
        prop_assert_eq!(words(&first, &alone), words(&second, &among));
    }

    #[test]
    fn a_cut_line_is_still_counted_under_one_kind(cut in 0usize..200) {
        let line = "12 1795224170.658193 openat(AT_FDCWD</srv>, \"a b\", O_RDONLY) = 3</srv/a b> <0.000012>";
        let mut parsed = Parsed::default();
        let read = reader(line).read(&line.as_bytes()[..cut.min(line.len())], &mut parsed);
        prop_assert!(matches!(read.kind, LineKind::Call | LineKind::CallStart | LineKind::Damaged | LineKind::Blank | LineKind::Foreign));
    }
}
