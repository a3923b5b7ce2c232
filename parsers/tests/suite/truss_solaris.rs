//! Lines of truss on Solaris and illumos. The cases are in `truss_solaris.cases`.

use crate::cases;

use parsers::truss_solaris::TrussSolaris;
use parsers::{
    DurKind, Format, Head, LineKind, LineReader, NO_NS, Parsed, Recognition, StampMoment,
};
use proptest::prelude::*;
use std::path::Path;

const CASES: &str = include_str!("../truss_solaris.cases");

/// Heads that decide the layout, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    (
        "-f -dDE",
        "Base time stamp:  1259020532.4127  [ x ]\n8:\t 3.7\n8:\t 0.0001\t 0.0001\t 0.0000\tgetpid()\t= 8\n",
    ),
    ("-f", "8:\tgetpid()\t\t\t\t\t= 8 [1]\n"),
    (
        "-d",
        "Base time stamp:  1259020532.4127  [ x ]\n 0.0001\tgetpid()\t= 8\n",
    ),
    (
        "-f -d",
        "Base time stamp:  1259020532.4127  [ x ]\n8:\t 0.0001\tgetpid()\t= 8\n",
    ),
    ("none", "getpid()\t\t\t\t\t= 8 [1]\n"),
    ("-f -l", "8/1:\t\tgetpid()\t\t\t\t\t= 8 [1]\n"),
    (
        "-c",
        "syscall               seconds   calls  errors\nread                    2.04  138822\nusr time:  .030\n",
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    TrussSolaris.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("truss_solaris.cases", CASES, LAYOUTS, reader);
}

#[test]
fn columns_follow_from_their_numbers() {
    let cases = [
        // -d -D, without a base line.
        (
            " 0.0100\t 0.0100\tgetpid()\t= 8\n 0.5100\t 0.5000\tread(0, 0x08047A10, 1)\t= 1\n",
            true,
            true,
            false,
        ),
        // -d -E: the second is not the difference.
        (
            " 0.0100\t 0.0001\tgetpid()\t= 8\n 0.5100\t 0.0002\tread(0, 0x08047A10, 1)\t= 1\n",
            true,
            false,
            true,
        ),
        // -D -E: the first falls.
        (
            " 0.7100\t 0.0001\tread(0, 0x08047A10, 1)\t= 8\n 0.0100\t 0.0002\tgetpid()\t= 1\n",
            false,
            true,
            true,
        ),
        // -D alone: it falls, and a second of CPU time in one call is out of the question.
        (
            " 1.7100\tread(0, 0x08047A10, 1)\t= 8\n 0.0001\tgetpid()\t= 1\n 0.0100\tgetpid()\t= 1\n",
            false,
            true,
            false,
        ),
        // -E alone.
        (
            " 0.0001\tread(0, 0x08047A10, 1)\t= 8\n 0.0000\tgetpid()\t= 1\n 0.0000\tgetpid()\t= 1\n",
            false,
            false,
            true,
        ),
        // -d alone.
        (
            " 0.0001\tread(0, 0x08047A10, 1)\t= 8\n 0.0002\tgetpid()\t= 1\n 4.0000\tgetpid()\t= 1\n",
            true,
            false,
            false,
        ),
    ];
    for (head, stamped, measured, cpu) in cases {
        let reader = reader(head);
        let facts = reader.facts();
        assert_eq!(
            (facts.stamp == StampMoment::End, facts.has_durations),
            (stamped, measured),
            "{head}"
        );
        let line = reader.read(
            head.lines().next().unwrap_or("").as_bytes(),
            &mut Parsed::default(),
        );
        assert_eq!(line.cpu_ns != NO_NS, cpu, "{head}");
        assert_eq!(
            facts.dur_kind == DurKind::UpperBound,
            stamped || measured,
            "{head}"
        );
    }
}

#[test]
fn a_table_of_totals_is_not_one_of_strace() {
    let head = Head {
        bytes: LAYOUTS[6].1.as_bytes(),
        complete: true,
    };
    assert_eq!(
        parsers::recognise(head).map(Format::name),
        Some("truss-solaris")
    );
}

#[test]
fn the_base_line_sets_the_base() {
    let facts = reader(LAYOUTS[0].1).facts();
    assert_eq!(facts.base_ns, 1_259_020_532_412_700_000);
    assert!(facts.has_ids && facts.has_durations && !facts.ids_optional);
}

#[test]
fn look_alikes_are_not_recognised() {
    let yes = [
        "Base time stamp:  1259020532.4127  [ Mon Nov 23 23:55:32 GMT 2009 ]",
        "open(\"/etc/nothere\", O_RDONLY)\t\t\tErr#2 ENOENT",
        "12196: read(0, 0x080473DF, 1) (sleeping...)",
        "4711:\tforkx()\t\t(returning as child ...)\t= 4710",
        "execve(\"uv_tests\", 0xFFFFFD7FFFDFFAC8, 0xFFFFFD7FFFDFFAE8)  argc = 3",
        "    Received signal #2, SIGINT, in pollsys() [default]",
    ];
    let no = [
        "SYSCALL(args) \t\t = return\nread(0x7, \"\\0\", 0x8000)\t\t = -1 Err#35",
        "8192196:  kopen(\"/x\", O_RDONLY)  Err#2  ENOENT",
        "statx(\"/x\", 0x2FF22A28, 128, 010)   Err#2  ENOENT",
        "openat(AT_FDCWD,\"/x\",O_RDONLY,00)\t ERR#2 'No such file or directory'\nclose(3)\t = 0 (0x0)",
        "mmap(0x0,32768,3,4098,-1,0x0)\t = 34366189568 (0x800627000)\nclose(3)\t = 0 (0x0)",
        "openat(AT_FDCWD, \"/x\", O_RDONLY) = -1 ENOENT (No such file or directory)\nclose(3) = 0",
        "[pid 12] read(3,  <unfinished ...>",
        "SYS_openat(0xffffff9c, 0x7f1c2e0b1a30, 0x80000, 0) = 3",
        "write(1, \"read(0, 0x080473DF, 1) (sleeping...)\", 36) = 36",
        "Mar  5 19:43:34 host sshd[812]: Received signal 15; terminating.",
        "[    1.486287] md: stopping all md devices.",
        "2769 rmdir    CALL  issetugid",
        "8192196:  _getpid() = 8192196\n8192196:  kread(0, \"x\", 1) = 1",
    ];
    let answer = |text: &str| {
        TrussSolaris.recognise(Head {
            bytes: text.as_bytes(),
            complete: true,
        })
    };
    for text in yes {
        assert_eq!(answer(text), Recognition::Yes, "{text}");
    }
    for text in no {
        assert_eq!(answer(text), Recognition::No, "{text}");
    }
    assert_eq!(
        answer("12345:\tclose(3)\t\t\t\t= 0\n"),
        Recognition::Maybe(100)
    );
    assert_eq!(
        answer("close(3) = 0\nmmap(0x00000000, 56, 7, 258, 4, 0) = 0x08046790\n"),
        Recognition::Maybe(100)
    );
}

#[test]
fn public_samples_have_no_losses() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/ssh-login/ssh-login.truss");
    let texts = [
        cases::corpus("solaris-truss-fadDE-quota.txt"),
        cases::corpus("illumos-truss-a-plain.txt"),
        std::fs::read_to_string(sample).ok(),
    ];
    for text in texts.into_iter().flatten() {
        let head = Head {
            bytes: text.as_bytes(),
            complete: true,
        };
        assert_eq!(TrussSolaris.recognise(head), Recognition::Yes);
        assert_eq!(
            parsers::recognise(head).map(Format::name),
            Some("truss-solaris")
        );
        let reader = TrussSolaris.reader(head);
        let mut parsed = Parsed::default();
        parsed.read(reader.as_ref(), text.as_bytes());
        assert_eq!(parsed.lines.len(), text.lines().count());
        for (line, raw) in parsed.lines.iter().zip(text.lines()) {
            let used = !matches!(
                line.kind,
                LineKind::Foreign | LineKind::Damaged | LineKind::NoThread | LineKind::Blank
            );
            assert!(used, "{:?}: {raw}", line.kind);
        }
    }
}

#[test]
fn a_cut_keeps_all_lines_before_it() {
    let line = "12200:\t 4.5521\t 0.0002\t 0.0000\tioctl(3, ZFS_IOC_USERSPACE_ONE, 0x08046790)\tErr#48 ENOTSUP";
    for cut in 1..line.len() {
        let kind = cases::one(reader(LAYOUTS[0].1).as_ref(), &line.as_bytes()[..cut]);
        let expected = ["damaged", "call", "continuation", "foreign"];
        assert!(
            expected.iter().any(|word| kind.starts_with(word)),
            "{cut}: {kind}"
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_give_one_line_each(text in prop::collection::vec(any::<u8>(), 0..300)) {
        cases::all_survive(&TrussSolaris, LAYOUTS, &text);
    }

    #[test]
    fn any_words_of_truss_give_one_line_each(
        words in prop::collection::vec(prop::sample::select(vec![
            "12200", "/1", ":", "\t", " ", "0.0001", "read", "(", ")", "\"", "..", ",", "= ", "Err#", "4", "ENOENT",
            "[", "]", "argc = ", "(sleeping...)", "siginfo: ", "SIGCLD", "pid=", "status=", "0x", "FFFFFFFFFFFFFFFFFF",
            "99999999999999999999", "\\", "\n", "Received signal #", "fd=", " rev=", "(returning as child ...)",
        ]), 0..40)
    ) {
        cases::all_survive(&TrussSolaris, LAYOUTS, words.concat().as_bytes());
    }
}
