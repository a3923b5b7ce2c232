//! Lines of truss on FreeBSD. The cases are in `truss_freebsd.cases`.

use parsers::truss_freebsd::TrussFreebsd;
use parsers::{
    Clock, DurKind, Format, Head, LineKind, LineReader, Parsed, Recognition, StampMoment,
};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../truss_freebsd.cases");

/// Heads that decide the layout, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    ("none", "close(3)\t\t\t\t\t = 0 (0x0)\n<new process>\n"),
    (
        "-f",
        "  812: close(3)\t\t\t\t\t = 0 (0x0)\n 4712: <new process>\n",
    ),
    (
        "-H",
        "100123: close(3)\t\t\t\t = 0 (0x0)\n100124: <new thread 100124>\n",
    ),
    (
        "-f -H",
        "  812 100123: close(3)\t\t\t = 0 (0x0)\n  812 100124: <new thread 100124>\n",
    ),
    (
        "-d -D",
        "0.000020000 0.000010000 close(3)\t\t = 0 (0x0)\n<new process>\n",
    ),
    (
        "-f -d -D",
        "  812: 0.000020000 0.000010000 close(3)\t = 0 (0x0)\n  813: 0.1 <new process>\n",
    ),
    (
        "-f -D",
        "  812: 0.000017301 close(3)\t = 0 (0x0)\n  812: 0.000007301 close(4)\t = 0 (0x0)\n",
    ),
    ("4.x", "close(3)\t\t\t\t\t = 0 (0x0)\nSIGNAL 11\n"),
    (
        "4.x -f",
        "  812: close(3)\t\t\t\t\t = 0 (0x0)\n  812: close(4)\t\t\t = 0 (0x0)\nSIGNAL 11\n",
    ),
    ("unknown age", "close(3)\t\t\t\t\t = 0 (0x0)\n"),
    (
        "-c",
        "syscall                     seconds   calls  errors\nread                    0.000213450       7       0\n",
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    TrussFreebsd.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("truss_freebsd.cases", CASES, LAYOUTS, reader);
}

#[test]
fn columns_follow_from_their_numbers() {
    let exact = (StampMoment::End, Clock::SinceStart, DurKind::Exact, true);
    let ends = (
        StampMoment::End,
        Clock::SinceStart,
        DurKind::UpperBound,
        false,
    );
    let lengths = (StampMoment::None, Clock::None, DurKind::Exact, true);
    let nothing = (StampMoment::None, Clock::None, DurKind::None, false);
    let cases = [
        ("0.000020000 0.000010000 close(3) = 0 (0x0)\n", exact),
        (
            "0.000020000 close(3) = 0 (0x0)\n0.000030000 close(4) = 0 (0x0)\n1.5 x\n",
            ends,
        ),
        (
            "0.000020000 close(3) = 0 (0x0)\n0.000010000 close(4) = 0 (0x0)\n",
            lengths,
        ),
        // Each process on its own never falls.
        (
            "8: 5.000000000 close(3) = 0 (0x0)\n9: 0.100000000 close(3) = 0 (0x0)\n8: 6.000000000 close(4) = 0 (0x0)\n",
            ends,
        ),
        (
            "8: 0.100000000 close(3) = 0 (0x0)\n9: 0.000000000 <new process>\n9: 0.200000000 close(3) = 0 (0x0)\n",
            ends,
        ),
        ("close(3) = 0 (0x0)\n", nothing),
    ];
    for (head, expected) in cases {
        let facts = reader(head).facts();
        assert_eq!(
            (
                facts.stamp,
                facts.clock,
                facts.dur_kind,
                facts.has_durations
            ),
            expected,
            "{head}"
        );
    }
}

#[test]
fn look_alikes_are_not_recognised() {
    let yes = [
        "close(3)\t\t\t\t\t = 0 (0x0)",
        "812: 0.000017301 close(4) = 0 (0x0)",
        "openat(AT_FDCWD,\"/x\",O_RDONLY,00)\t ERR#2 'No such file or directory'",
        "process exit, rval = 0",
        "4712: <new process>",
        "-- UNKNOWN FreeBSD SYSCALL 580 --",
        "SIGNAL 20 (SIGCHLD) code=CLD_EXITED pid=4712 uid=1001 status=0",
        LAYOUTS[10].1,
    ];
    let no = [
        "open(\"/etc/nothere\", O_RDONLY)\t\t\tErr#2 ENOENT",
        "open(\"/etc/nothere\", O_RDONLY|0x800, 0) ......... ERR#2 ENOENT",
        "openat(AT_FDCWD, \"/x\", O_RDONLY) = -1 ENOENT (No such file or directory)",
        "write(1, \"close(3) = 0 (0x0)\", 18) = 18",
        "read(0x7, \"\\0\", 0x8000)\t\t = -1 Err#35",
        "syscall               seconds   calls  errors\nread                    .000      12       3",
        "  2769 rmdir    RET   mmap 34365181952/0x800531000",
        "[    1.486287] md: stopping all md devices.",
    ];
    let answer = |text: &str| {
        TrussFreebsd.recognise(Head {
            bytes: text.as_bytes(),
            complete: true,
        })
    };
    for text in yes {
        assert_eq!(answer(text), Recognition::Yes, "{text}");
        let format = parsers::recognise(Head {
            bytes: text.as_bytes(),
            complete: true,
        });
        assert_eq!(format.map(Format::name), Some("truss-freebsd"), "{text}");
    }
    for text in no {
        assert_eq!(answer(text), Recognition::No, "{text}");
    }
    assert_eq!(
        TrussFreebsd.recognise(Head {
            bytes: b"",
            complete: false
        }),
        Recognition::NeedMore
    );
}

#[test]
fn the_public_sample_has_no_losses() {
    let Some(text) = cases::corpus("freebsd-truss-plain.txt") else {
        return;
    };
    let reader = reader(&text);
    let mut parsed = Parsed::default();
    parsed.read(reader.as_ref(), text.as_bytes());
    assert_eq!(parsed.lines.len(), text.lines().count());
    for (line, raw) in parsed.lines.iter().zip(text.lines()) {
        assert_eq!(line.kind, LineKind::Call, "{raw}");
    }
}

#[test]
fn a_cut_line_is_damaged_not_another_call() {
    let line =
        "  812: 0.100020000 0.000010000 openat(AT_FDCWD,\"/etc/x(1)\",O_RDONLY,00)\t = 3 (0x3)";
    for cut in line.find('(').unwrap_or(0) + 1..line.len() {
        let kind = cases::one(reader(LAYOUTS[5].1).as_ref(), &line.as_bytes()[..cut]);
        assert!(kind.starts_with("damaged"), "{cut}: {kind}");
    }
}

proptest! {
    #[test]
    fn any_bytes_give_one_line_each(text in prop::collection::vec(any::<u8>(), 0..300)) {
        cases::all_survive(&TrussFreebsd, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_truss_give_one_line_each(
        words in prop::collection::vec(prop::sample::select(vec![
            "812", "100123", ": ", "\t", " ", "0.000000001", "-1.999999000", "read", "(", ")", "\"", "...", ",", "= ", "ERR#",
            "4", "'", " (0x", "ERESTART", "EJUSTRETURN", "SIGNAL ", "20", " (SIGCHLD)", " code=", "CLD_EXITED", " pid=",
            "process exit, rval = ", "<new thread ", ">", "<thread ", " exited>", "{ ", " }", "[ ", "99999999999999999999",
            "-- UNKNOWN ", "SYSCALL ", " --", "\n", "-", "exit(", "status=", "fork()",
        ]), 0..40)
    ) {
        cases::all_survive(&TrussFreebsd, LAYOUTS, words.concat().as_bytes());
    }
}
