//! Lines of Solaris and illumos truss, one case a line in `truss_solaris.cases`.

use parsers::{Answer, DurKind, Extra, Format, Head, Kind, NO_ID, NO_NS, Outcome, Parsed, Part, Stamp};
use parsers::{Line, LineReader, line::Ended, truss_solaris::TrussSolaris};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const CASES: &str = include_str!("truss_solaris.cases");

/// Heads from which a layout is decided, by the name that a section of the cases has.
const LAYOUTS: &[(&str, &str)] = &[
    ("-f -dDE", "Base time stamp:  1259020532.4127  [ x ]\n8:\t 3.7\n8:\t 0.0001\t 0.0001\t 0.0000\tgetpid()\t= 8\n"),
    ("-f", "8:\tgetpid()\t\t\t\t\t= 8 [1]\n"),
    ("-d", "Base time stamp:  1259020532.4127  [ x ]\n 0.0001\tgetpid()\t= 8\n"),
    ("-f -d", "Base time stamp:  1259020532.4127  [ x ]\n8:\t 0.0001\tgetpid()\t= 8\n"),
    ("none", "getpid()\t\t\t\t\t= 8 [1]\n"),
    ("-f -l", "8/1:\t\tgetpid()\t\t\t\t\t= 8 [1]\n"),
    ("-c", "syscall               seconds   calls  errors\nread                    2.04  138822\nusr time:  .030\n"),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    TrussSolaris.reader(Head { bytes: head.as_bytes(), complete: true })
}

/// A line as one text: kind, what is set of the columns, then name, operation, target and so on.
fn shown(line: &Line, parsed: &Parsed) -> String {
    let mut out = line.kind.name().to_owned();
    let mut put = |key: &str, value: String| write!(out, " {key}={value}").unwrap_or_default();
    for (key, id) in [("pid", line.pid), ("tid", line.tid), ("fd", line.fd)] {
        if id != NO_ID {
            put(key, id.to_string());
        }
    }
    for (key, ns) in [("end", line.stamp_ns), ("since", line.dur_ns), ("cpu", line.cpu_ns)] {
        if ns != NO_NS {
            put(key, format!("{:.4}", ns as f64 / 1e9));
        }
    }
    for (key, text) in [("name", line.name), ("op", line.op), ("target", line.target), ("errno", line.errno)] {
        if text.is_some() {
            put(key, parsed.texts.string(text).into_owned());
        }
    }
    if line.ret != NO_NS {
        put("ret", line.ret.to_string());
    }
    if line.outcome != Outcome::Ok {
        put("outcome", line.outcome.name().to_owned());
    }
    if line.part != Part::Whole {
        put("part", format!("{:?}", line.part));
    }
    if let Some(extra) = parsed.extra(line) {
        put("extra", shown_extra(extra, parsed));
    }
    out
}

fn shown_extra(extra: &Extra, parsed: &Parsed) -> String {
    let ended = |ended: &Option<Ended>| match ended {
        None => String::new(),
        Some(Ended::Exited(status)) => format!(" exited {status}"),
        Some(Ended::Killed(signal)) => format!(" killed by {}", parsed.texts.string(*signal)),
    };
    match extra {
        Extra::Exec { path, argv } => format!("exec({}|{})", parsed.texts.string(*path), parsed.texts.string(*argv)),
        Extra::Waited { child, ended: end } => format!("waited({child}{})", ended(end)),
        Extra::Signal { from, ended: end } => format!("from({from}{})", ended(end)),
        Extra::End(end) => format!("end({})", ended(&Some(*end)).trim()),
        Extra::Spawn { child, thread, vfork, .. } => format!("spawn({child} thread={thread} vfork={vfork})"),
        Extra::Born { creator_pid, thread } => format!("born({creator_pid} thread={thread})"),
        Extra::Asked(NO_NS) => "asked(for ever)".to_owned(),
        other => format!("{other:?}"),
    }
}

fn read_one(head: &str, line: &[u8]) -> String {
    let mut parsed = Parsed::default();
    let line = reader(head).read(line, &mut parsed);
    shown(&line, &parsed)
}

#[test]
fn every_case_is_read_as_it_says() {
    let mut head = "";
    let mut told = String::new();
    for case in CASES.lines() {
        if let Some(name) = case.strip_prefix("[").and_then(|case| case.strip_suffix("]")) {
            head = LAYOUTS.iter().find(|(layout, _)| *layout == name).expect("a known layout").1;
        }
        match case.split_once("  =>") {
            Some((input, _)) if !case.starts_with('#') => {
                let found = read_one(head, input.replace('→', "\t").as_bytes());
                writeln!(told, "{input}  => {found}").unwrap_or_default();
            }
            _ => writeln!(told, "{case}").unwrap_or_default(),
        }
    }
    if std::env::var_os("TRACEALYZE_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/truss_solaris.cases");
        std::fs::write(path, &told).expect("the cases can be written");
        return;
    }
    for (found, expected) in told.lines().zip(CASES.lines()) {
        assert_eq!(found, expected);
    }
}

#[test]
fn the_columns_are_told_by_their_numbers() {
    let cases = [
        // -d -D, without a base line.
        (" 0.0100\t 0.0100\tgetpid()\t= 8\n 0.5100\t 0.5000\tread(0, 0x08047A10, 1)\t= 1\n", true, true, false),
        // -d -E: the second is not the difference.
        (" 0.0100\t 0.0001\tgetpid()\t= 8\n 0.5100\t 0.0002\tread(0, 0x08047A10, 1)\t= 1\n", true, false, true),
        // -D -E: the first falls.
        (" 0.7100\t 0.0001\tread(0, 0x08047A10, 1)\t= 8\n 0.0100\t 0.0002\tgetpid()\t= 1\n", false, true, true),
        // -D alone: it falls, and a second of CPU time in one call is out of the question.
        (" 1.7100\tread(0, 0x08047A10, 1)\t= 8\n 0.0001\tgetpid()\t= 1\n 0.0100\tgetpid()\t= 1\n", false, true, false),
        // -E alone.
        (" 0.0001\tread(0, 0x08047A10, 1)\t= 8\n 0.0000\tgetpid()\t= 1\n 0.0000\tgetpid()\t= 1\n", false, false, true),
        // -d alone.
        (" 0.0001\tread(0, 0x08047A10, 1)\t= 8\n 0.0002\tgetpid()\t= 1\n 4.0000\tgetpid()\t= 1\n", true, false, false),
    ];
    for (head, stamped, measured, cpu) in cases {
        let reader = reader(head);
        let facts = reader.facts();
        assert_eq!((facts.stamp == Stamp::End, facts.has_durations), (stamped, measured), "{head}");
        let line = reader.read(head.lines().next().unwrap_or("").as_bytes(), &mut Parsed::default());
        assert_eq!(line.cpu_ns != NO_NS, cpu, "{head}");
        assert_eq!(facts.dur_kind == DurKind::UpperBound, stamped || measured, "{head}");
    }
}

#[test]
fn a_table_of_totals_is_not_taken_for_that_of_strace() {
    let head = Head { bytes: LAYOUTS[6].1.as_bytes(), complete: true };
    assert_eq!(parsers::recognise(head).map(Format::name), Some("truss-solaris"));
}

#[test]
fn the_base_line_gives_the_base() {
    let facts = reader(LAYOUTS[0].1).facts();
    assert_eq!(facts.base_ns, 1_259_020_532_412_700_000);
    assert!(facts.has_ids && facts.has_durations && !facts.ids_optional);
}

#[test]
fn look_alikes_are_told_apart() {
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
    let answer = |text: &str| TrussSolaris.recognise(Head { bytes: text.as_bytes(), complete: true });
    for text in yes {
        assert_eq!(answer(text), Answer::Yes, "{text}");
    }
    for text in no {
        assert_eq!(answer(text), Answer::No, "{text}");
    }
    assert_eq!(answer("12345:\tclose(3)\t\t\t\t= 0\n"), Answer::Maybe(100));
    assert_eq!(answer("close(3) = 0\nmmap(0x00000000, 56, 7, 258, 4, 0) = 0x08046790\n"), Answer::Maybe(100));
}

/// The public samples lie beside the checkout, if at all.
fn corpus(name: &str) -> Option<String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = std::env::var_os("TRACEALYZE_CORPUS").map_or(beside, PathBuf::from);
    let text = std::fs::read_to_string(folder.join(name)).ok();
    if text.is_none() {
        println!("not tested on {name}: set TRACEALYZE_CORPUS to the folder of the public samples");
    }
    text
}

#[test]
fn public_samples_are_read_without_a_loss() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/ssh-login/ssh-login.truss");
    let texts = [
        corpus("solaris-truss-fadDE-quota.txt"),
        corpus("illumos-truss-a-plain.txt"),
        std::fs::read_to_string(sample).ok(),
    ];
    for text in texts.into_iter().flatten() {
        let head = Head { bytes: text.as_bytes(), complete: true };
        assert_eq!(TrussSolaris.recognise(head), Answer::Yes);
        assert_eq!(parsers::recognise(head).map(Format::name), Some("truss-solaris"));
        let reader = TrussSolaris.reader(head);
        let mut parsed = Parsed::default();
        parsed.read(reader.as_ref(), text.as_bytes());
        assert_eq!(parsed.lines.len(), text.lines().count());
        for (line, raw) in parsed.lines.iter().zip(text.lines()) {
            let used = !matches!(line.kind, Kind::Foreign | Kind::Damaged | Kind::NoThread | Kind::Blank);
            assert!(used, "{:?}: {raw}", line.kind);
        }
    }
}

#[test]
fn a_cut_loses_nothing_before_it() {
    let line = "12200:\t 4.5521\t 0.0002\t 0.0000\tioctl(3, ZFS_IOC_USERSPACE_ONE, 0x08046790)\tErr#48 ENOTSUP";
    for cut in 1..line.len() {
        let kind = read_one(LAYOUTS[0].1, &line.as_bytes()[..cut]);
        let expected = ["damaged", "call", "continuation", "foreign"];
        assert!(expected.iter().any(|word| kind.starts_with(word)), "{cut}: {kind}");
    }
}

proptest! {
    #[test]
    fn any_bytes_give_one_line_each(text in prop::collection::vec(any::<u8>(), 0..300)) {
        all_layouts_survive(&text);
    }

    #[test]
    fn any_words_of_truss_give_one_line_each(
        words in prop::collection::vec(prop::sample::select(vec![
            "12200", "/1", ":", "\t", " ", "0.0001", "read", "(", ")", "\"", "..", ",", "= ", "Err#", "4", "ENOENT",
            "[", "]", "argc = ", "(sleeping...)", "siginfo: ", "SIGCLD", "pid=", "status=", "0x", "FFFFFFFFFFFFFFFFFF",
            "99999999999999999999", "\\", "\n", "Received signal #", "fd=", " rev=", "(returning as child ...)",
        ]), 0..40)
    ) {
        all_layouts_survive(words.concat().as_bytes());
    }
}

fn all_layouts_survive(text: &[u8]) {
    let own = Head { bytes: text, complete: false };
    TrussSolaris.recognise(own);
    let mut readers = vec![TrussSolaris.reader(own)];
    readers.extend(LAYOUTS.iter().map(|(_, head)| reader(head)));
    for reader in readers {
        let mut parsed = Parsed::default();
        parsed.read(reader.as_ref(), text);
        let lines = text.split(|&byte| byte == b'\n').count() - usize::from(text.ends_with(b"\n") || text.is_empty());
        assert_eq!(parsed.lines.len(), lines);
    }
}
