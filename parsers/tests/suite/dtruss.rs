//! Lines of dtruss. The cases are in `dtruss.cases`.

use parsers::dtruss::Dtruss;
use parsers::{Clock, DurKind, Format, Head, LineKind, LineReader, NO_NS, Parsed, Recognition};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../dtruss.cases");

/// Heads that decide the layout, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    ("none", "SYSCALL(args) \t\t = return\n"),
    (
        "-a",
        "\tPID/THRD  RELATIVE  ELAPSD    CPU SYSCALL(args) \t\t = return\n29738/0x1:  1  1  1 f() = 0 0\n",
    ),
    (
        "-f",
        "\tPID/THRD  SYSCALL(args) \t\t = return\n29738/0x1:  getpid() = 0 0\n",
    ),
    ("-eo", " ELAPSD    CPU SYSCALL(args) \t\t = return\n"),
    ("-d", "RELATIVE SYSCALL(args) \t\t = return\n"),
    (
        "Solaris -eon",
        "PID/LWP    ELAPSD    CPU SYSCALL(args)           = return\n 3911/1:       41     26 f(0x2)          = 1 0\n",
    ),
    (
        "Solaris -f",
        "PID/LWP    SYSCALL(args)           = return\n 3911/1: f(0x2)          = 1 0\n",
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    Dtruss.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("dtruss.cases", CASES, LAYOUTS, reader);
}

#[test]
fn columns_come_from_the_header_or_the_numbers() {
    // Relative, elapsed and CPU time of the first line, in microseconds.
    let cases = [
        (
            "\tPID/THRD  RELATIVE  ELAPSD    CPU SYSCALL(args) \t\t = return\n8/0x1:  9 8 7 f() = 0 0\n",
            [9, 8, 7],
        ),
        (
            " ELAPSD    CPU SYSCALL(args) \t\t = return\n  9 8 f() = 0 0\n",
            [-1, 9, 8],
        ),
        (
            "RELATIVE     CPU SYSCALL(args) \t\t = return\n  9 8 f() = 0 0\n",
            [9, -1, 8],
        ),
        (
            "RELATIVE  ELAPSD SYSCALL(args) \t\t = return\n  9 8 f() = 0 0\n",
            [9, 8, -1],
        ),
        (
            "   CPU SYSCALL(args) \t\t = return\n  9 f() = 0 0\n",
            [-1, -1, 9],
        ),
        ("8/0x1:  9 8 7 f() = 0 0\n", [9, 8, 7]),
        (
            "8/0x1:  90 8 f() = 0 0\n8/0x1:  12 7 f() = 0 0\n",
            [-1, 90, 8],
        ),
        (
            "8/0x1:  90 8 f() = 0 0\n8/0x1:  99 7 f() = 0 0\n",
            [90, -1, 8],
        ),
        (
            "8/0x1:  90 8 f() = 0 0\n8/0x1:  99 1007 f() = 0 0\n",
            [90, 8, -1],
        ),
        ("  90 f() = 0 0\n  9 f() = 0 0\n", [-1, 90, -1]),
    ];
    for (head, expected) in cases {
        let reader = reader(head);
        let mut parsed = Parsed::default();
        parsed.read(reader.as_ref(), head.as_bytes());
        let line = parsed
            .lines
            .iter()
            .find(|line| line.kind == LineKind::Call)
            .expect("a call");
        let us = |ns: i64| if ns == NO_NS { -1 } else { ns / 1_000 };
        assert_eq!(
            [us(line.stamp_ns), us(line.dur_ns), us(line.cpu_ns)],
            expected,
            "{head}"
        );
        let facts = reader.facts();
        assert_eq!(facts.clock == Clock::PerThread, expected[0] >= 0, "{head}");
        assert_eq!(facts.dur_kind == DurKind::Exact, expected[1] >= 0, "{head}");
    }
}

#[test]
fn errors_are_named_by_the_traced_system() {
    let mac = "workq_kernreturn(0x20, 0x0, 0x1)\t\t = 0 0\n";
    let sun = "lwp_sigmask(0x3, 0x2, 0x0)\t\t = 0xFFBFFEFF 0\n";
    let failed = b"read(0x7, \"\\0\", 0x8000)\t\t = -1 Err#11";
    for (head, name) in [
        (mac, "EDEADLK"),
        (sun, "EAGAIN"),
        (LAYOUTS[5].1, "EAGAIN"),
        (LAYOUTS[1].1, "EDEADLK"),
    ] {
        let line = [
            if head.contains("PID/") {
                &b"29738/1:  "[..]
            } else {
                b""
            },
            failed,
        ]
        .concat();
        assert!(
            cases::one(reader(head).as_ref(), &line).contains(name),
            "{head}"
        );
    }
}

#[test]
fn look_alikes_are_not_recognised() {
    let yes = [
        "SYSCALL(args) \t\t = return",
        "CALL                                        COUNT\nexit                                            1",
        "dtrace: error on enabled probe ID 2207 (ID 171: syscall::write:return): invalid kernel access in action #12",
        "open(\"/etc/missing\\0\", 0x0, 0x1B6)\t\t = -1 Err#2",
        " 4711/0x54c1:  getpid(0x0, 0x0, 0x0)\t\t = 4711 0",
    ];
    let maybe = [
        "getpid(0x0, 0x0, 0x0)\t\t = 4711 0",
        "read(0x7, \"\\0\", 0x8000)\t\t = -1 35",
    ];
    let no = [
        "open(\"/etc/nothere\", O_RDONLY)\t\t\tErr#2 ENOENT",
        "4711:\tgetuid() = 35148 [35148]",
        "openat(AT_FDCWD, \"/x\", O_RDONLY) = -1 ENOENT (No such file or directory)",
        "close(3)\t\t\t\t\t = 0 (0x0)",
        "write(1, \"SYSCALL(args) \\t\\t = return\", 28) = 28",
        "[    1.486287] md: stopping all md devices.",
        "dtrace: something",
    ];
    let head = |text: &'static str| Head {
        bytes: text.as_bytes(),
        complete: true,
    };
    for text in yes {
        assert_eq!(Dtruss.recognise(head(text)), Recognition::Yes, "{text}");
    }
    for text in maybe {
        assert_eq!(
            Dtruss.recognise(head(text)),
            Recognition::Maybe(100),
            "{text}"
        );
    }
    for text in yes.into_iter().chain(maybe) {
        assert_eq!(
            parsers::recognise(head(text)).map(Format::name),
            Some("dtruss"),
            "{text}"
        );
    }
    for text in no {
        assert_eq!(Dtruss.recognise(head(text)), Recognition::No, "{text}");
    }
}

#[test]
fn public_samples_have_no_losses() {
    for name in [
        "macos-dtruss-a-server.txt",
        "macos-dtruss-p-plain.txt",
        "solaris-dtruss-eon-bash.txt",
    ] {
        let Some(text) = cases::corpus(name) else {
            continue;
        };
        let mut parsed = Parsed::default();
        parsed.read(reader(&text).as_ref(), text.as_bytes());
        assert_eq!(parsed.lines.len(), text.lines().count());
        for (line, raw) in parsed.lines.iter().zip(text.lines()) {
            let expected = if raw.contains("SYSCALL(args)") {
                LineKind::Notice
            } else {
                LineKind::Call
            };
            assert_eq!(line.kind, expected, "{name}: {raw}");
        }
    }
}

#[test]
fn each_public_sample_is_recognised() {
    let samples = [
        ("freebsd-kdump-rmdir.txt", "kdump"),
        ("freebsd-truss-plain.txt", "truss-freebsd"),
        ("illumos-truss-a-plain.txt", "truss-solaris"),
        ("linux-perf-trace-ls.txt", "perf-trace"),
        ("linux-printk-shutdown.txt", "kernel-log"),
        ("macos-dtruss-a-server.txt", "dtruss"),
        ("macos-dtruss-p-plain.txt", "dtruss"),
        ("solaris-dtruss-eon-bash.txt", "dtruss"),
        ("solaris-truss-fadDE-quota.txt", "truss-solaris"),
        ("syslog-sshd-600.txt", "kernel-log"),
    ];
    for (name, format) in samples {
        let Some(text) = cases::corpus(name) else {
            continue;
        };
        let found = parsers::recognise(Head {
            bytes: text.as_bytes(),
            complete: true,
        })
        .map(Format::name);
        assert_eq!(found, Some(format), "{name}");
        // Quoted in a mail, or with an indent.
        for change in [
            |line: &str| format!("> {line}\n"),
            |line: &str| format!("    {line}\n"),
        ] {
            let changed: String = text.lines().map(change).collect();
            let found = parsers::recognise(Head {
                bytes: changed.as_bytes(),
                complete: true,
            })
            .map(Format::name);
            if matches!(format, "dtruss" | "truss-freebsd") {
                assert_eq!(found, Some(format), "{name}, changed");
            }
        }
    }
}

#[test]
fn a_cut_line_is_damaged_not_another_call() {
    let line = " 4711/0x54c1:       230      12       7 open(\"/etc/x(1) = 3 0\\0\", 0x0, 0x1B6)\t\t = 13 0";
    for cut in line.find('(').unwrap_or(0) + 1..line.len() {
        let kind = cases::one(reader(LAYOUTS[1].1).as_ref(), &line.as_bytes()[..cut]);
        assert!(kind.starts_with("damaged"), "{cut}: {kind}");
    }
}

proptest! {
    #[test]
    fn any_bytes_give_one_line_each(text in prop::collection::vec(any::<u8>(), 0..300)) {
        cases::all_survive(&Dtruss, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_dtruss_give_one_line_each(
        words in prop::collection::vec(prop::sample::select(vec![
            "4711", "/0x54c1", "/1", ": ", ":", "\t", " ", "9999999999999999999", "read", "fork", "(", ")", "\"", "\\0", ", ",
            "= ", "Err#", "-1", "35", "0x", "FFFFFFFFFFFFFFFFFF", "0", "PID/THRD ", "RELATIVE ", "ELAPSD ", "CPU ",
            "SYSCALL(args)", " = return", "dtrace: ", "error on enabled probe", " drops on CPU ", "`", "              ",
            "CALL", "COUNT", "\n",
        ]), 0..40)
    ) {
        cases::all_survive(&Dtruss, LAYOUTS, words.concat().as_bytes());
    }
}
