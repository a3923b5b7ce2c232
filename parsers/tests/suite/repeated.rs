//! Repeated lines come from the cache. Their content must equal that of a full read.

use parsers::{CachedLines, ChunkLines, Head, Parsed, by_name, recognise};
use proptest::prelude::*;

/// The content of the lines of a text: read chunk by chunk with the cache, or line by line without it.
fn said(
    format: &dyn parsers::Format,
    head: &[u8],
    pieces: &[&[u8]],
    remembers: bool,
) -> Vec<String> {
    let reader = format.reader(Head {
        bytes: head,
        complete: true,
    });
    let (mut parsed, mut lines, mut bodies) = (
        Parsed::default(),
        ChunkLines::default(),
        CachedLines::default(),
    );
    let mut words = Vec::new();
    for piece in pieces {
        let full = if remembers {
            parsed.read_next(reader.as_ref(), piece, &mut lines);
            bodies.resolve_all(&lines)
        } else {
            parsed.read(reader.as_ref(), piece);
            parsed
                .lines
                .iter()
                .map(|line| (*line, parsed.extra(line).cloned()))
                .collect()
        };
        for (line, extra) in full {
            let texts = [line.name, line.op, line.target, line.errno]
                .map(|text| parsed.texts.string(text).into_owned());
            let extra = spelt(&format!("{extra:?}"), &parsed);
            let plain = parsers::Line {
                extra: 0,
                cached: 0,
                ..line
            };
            words.push(format!(
                "{} {texts:?} {extra}",
                spelt(&format!("{plain:?}"), &parsed)
            ));
        }
    }
    words
}

/// The line with its texts instead of their numbers.
fn spelt(words: &str, parsed: &Parsed) -> String {
    let mut out = words.to_owned();
    while let Some(at) = out.find("Text(") {
        let end = at + out[at..].find(')').expect("closed");
        let number = out[at + 5..end].parse().expect("a number");
        let text = format!("{:?}", parsed.texts.string(parsers::Text(number)));
        out.replace_range(at..=end, &text.replace("Text(", "text("));
    }
    out
}

fn assert_same(format: &dyn parsers::Format, head: &[u8], text: &[u8]) {
    let pieces = [text, text, text];
    let (known, read) = (
        said(format, head, &pieces, true),
        said(format, head, &pieces, false),
    );
    for (known, read) in known.iter().zip(&read) {
        assert_eq!(known, read);
    }
    assert_eq!(known.len(), read.len());
}

#[test]
fn a_repeated_line_reads_the_same() {
    for block in include_str!("../strace_cases.txt").split("\n## ").skip(1) {
        let mut lines = block.split('\n').skip(1);
        let first = lines.next().expect("a line");
        let (head, line) = match first.strip_prefix("@ ") {
            Some(layout) => (layout, lines.next().expect("a line")),
            None => (first, first),
        };
        let format = by_name("strace").expect("listed");
        assert_same(
            format,
            head.as_bytes(),
            format!("{line}\n{head}\n{line}\r\n").as_bytes(),
        );
    }
}

#[test]
fn samples_read_the_same_with_the_cache() {
    let samples: [&[u8]; 2] = [
        include_bytes!("../../../samples/ssh-login/ssh-login.truss"),
        include_bytes!("../../../samples/kernel-shutdown/shutdown.log"),
    ];
    for text in samples {
        let head = &text[..text.len().min(1 << 16)];
        let format = recognise(Head {
            bytes: head,
            complete: false,
        })
        .expect("recognised");
        assert_same(format, head, text);
    }
}

const FRONTS: [&str; 3] = ["7 1795224170.658193 ", "8  1795224171.000001 ", "x"];
const BODIES: [&str; 13] = [
    "close(3) = 0",
    "close(3</a>) = 0",
    "close(3)= ? ",
    "write(1, \"a",
    "write(1, \"a\", 1",
    "read(3</a <unfinished ...>",
    "<... read resumed>\"\", 1) = 0",
    "<... read resumed> <unfinished ...>",
    "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL) = 9",
    "poll([{fd=3, events=POLLIN}], 1, 20) = 0 (Timeout)",
    "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=9, si_status=1} ---",
    "+++ exited with 0 +++",
    "read(3,  <detached ...>",
];
const BACKS: [&str; 6] = [
    "",
    " <0.000012>",
    " <0.000013>",
    "\") = 1 <0.000012>",
    " <12.000012>",
    " <-0.000001>",
];

proptest! {
    #[test]
    fn composed_strace_lines_read_the_same_with_the_cache(
        picks in prop::collection::vec((0..FRONTS.len(), 0..BODIES.len(), 0..BACKS.len()), 1..60),
    ) {
        let line = |&(front, body, back): &(usize, usize, usize)| [FRONTS[front], BODIES[body], BACKS[back], "\n"].concat();
        let text: String = picks.iter().map(line).collect();
        let head = b"7 1795224170.658193 close(3) = 0 <0.000012>\n";
        assert_same(by_name("strace").expect("listed"), head, text.as_bytes());
    }
}

const TRUSS_FRONTS: [&str; 8] = [
    "7:\t", "8:\t", "7/1:\t", "8/2:\t", "", "/2:\t", "7: 8:\t", " 7: ",
];
const TRUSS_TIMES: [&str; 5] = [
    "",
    " 4.59170\t 0.0395\t 0.0002\t",
    " 4.5917 0.0395\t",
    " 4.5917\t 0.0395\t 0.0002\t",
    " 4.6000\t 0.0001\t 0.0000\t",
];
const TRUSS_BODIES: [&str; 11] = [
    "close(3)\t= 0 \t",
    "",
    "0x08047A50: 3",
    "close(3)\t= 0",
    "lwp_create()\t(returning as new lwp ...)\t= 0",
    "forkx()\t(returning as child ...)\t= 7",
    "waitid(P_PID, 8, 0x08047A50, WEXITED)\t= 0",
    "read(3, 0x0804, 1)\t(sleeping...)",
    "    Received signal #18, SIGCLD [caught]",
    "_exit(0)",
    "getpid()\t= 8 [7]",
];

proptest! {
    #[test]
    fn composed_truss_lines_read_the_same_with_the_cache(
        picks in prop::collection::vec((0..TRUSS_FRONTS.len(), 0..TRUSS_TIMES.len(), 0..TRUSS_BODIES.len()), 1..60),
        head in (0..TRUSS_FRONTS.len(), 0..TRUSS_TIMES.len(), 0..1usize),
    ) {
        let line = |&(front, times, body): &(usize, usize, usize)| {
            [TRUSS_FRONTS[front], TRUSS_TIMES[times], TRUSS_BODIES[body], "\n"].concat()
        };
        let text: String = picks.iter().map(line).collect();
        assert_same(by_name("truss-solaris").expect("listed"), line(&head).as_bytes(), text.as_bytes());
    }
}

/// For some formats: a line that decides the layout, and prefixes, bodies and ends of lines.
type Pieces = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

const OTHERS: [Pieces; 6] = [
    (
        "truss-freebsd",
        "812 100123: 0.004017301 0.000017301 close(3) = 0 (0x0)",
        &[
            "812 100123: 0.004017301 0.000017301 ",
            "813: 0.004017301 0.000017301 ",
            "812 100123: ",
            "out",
            "814 100124: 0.1 ",
        ],
        &[
            "close(3)",
            "openat(AT_FDCWD,\"/etc/x\",O_RDONLY,00)",
            "x 812 100123: 0.004017301 0.000017301 close(3)",
            "SIGNAL 20 (SIGCHLD) code=CLD_EXITED pid=4712 uid=1001 status=0",
            "fork()",
            "<new process>",
            "exit(0x0)",
        ],
        &[
            "",
            " = 0 (0x0)",
            " = 4712 (0x1268)",
            " ERR#2 'No such file or directory'",
        ],
    ),
    (
        "truss-freebsd",
        "0.004017301 0.000017301 close(3) = 0 (0x0)",
        &[
            "",
            "0.004017301 0.000017301 ",
            "0.004017302 ",
            "> 0.004017301 0.000000001 ",
        ],
        &["close(3)", "fork()", "x close(3)"],
        &["", " = 0 (0x0)", " = 4712 (0x1268)"],
    ),
    (
        "dtruss",
        "\tPID/THRD  RELATIVE  ELAPSD    CPU SYSCALL(args) \t\t = return\n 4711/0x1f3a:      1204       9      6 close(0x3)\t\t = 0 0",
        &[
            " 4711/0x1f3a:      1204       9      6 ",
            " 4712/0x1:     12:     0: 0 ",
            " 4713/0x2:  7 ",
            "",
            "4711/0x1f3a:  1 2 3 4 ",
        ],
        &[
            "close(0x3)",
            "fork()",
            "x 4711/0x1f3a:      1204       9      6 close(0x3)",
            "open(\"/a:b\\0\", 0x0, 0x0)",
            "read(0x3",
        ],
        &["\t\t = 0 0", "\t\t = -1 Err#2", "\t\t = 4712 0", ""],
    ),
    (
        "ltrace",
        "4711 1795224170.658193 SYS_close(3)   = 0 <0.000041>",
        &[
            "4711 1795224170.658193 ",
            "4712 1795224170.658194 [0x400547] ",
            "4713 ",
            "",
        ],
        &[
            "SYS_close(3)",
            "<... SYS_read resumed> ",
            "SYS_exit(0",
            "puts(\"x\"",
            "--- SIGCHLD (Child exited) ---",
            "SYS_read(3, \"x",
        ],
        &[
            "   = 0 <0.000041>",
            "   = -2 <0.000041>",
            " <unfinished ...>",
            " <no return ...>",
            " = 0 total",
            "\", 1) = 1",
        ],
    ),
    (
        "ltrace",
        "SYS_close(3)   = 0",
        &["", "100.00 ", "  0.00 ", "% time  "],
        &["SYS_close(3)", "SYS_read", "   0.000010  5 1 SYS_read("],
        &[
            "   = 0",
            " = 0 total",
            " total",
            " function",
            " = 3 function",
        ],
    ),
    (
        "perf-trace",
        "     0.091 ( 0.003 ms): ls/456871 close(fd: 4) = 0",
        &[
            "     0.091 ( 0.003 ms): ",
            "     0.095 (         ): ",
            "         ? ( 0.005 ms): ",
            "     0.100 ",
            "",
        ],
        &[
            "ls/456871 close(fd: 4)",
            "ls/456872 close(fd: 4)",
            "456871 close(fd: 4)",
            "sh/9  ... [continued]: execve()",
            "sh/9 clone()",
            "sh/9 minfault [x",
            "sh/9 exit_group(error_code: 3",
        ],
        &[
            "   = 0",
            " ...",
            "   = -1 ENOENT (No such file or directory)",
            "",
            ")",
        ],
    ),
];

proptest! {
    #[test]
    fn composed_lines_of_other_formats_read_the_same(
        at in 0..OTHERS.len(),
        picks in prop::collection::vec((0..8usize, 0..8usize, 0..8usize), 1..60),
    ) {
        let (format, head, fronts, bodies, backs) = OTHERS[at];
        let pick = |pieces: &[&'static str], at: usize| pieces[at % pieces.len()];
        let line = |&(front, body, back): &(usize, usize, usize)| {
            [pick(fronts, front), pick(bodies, body), pick(backs, back), "\n"].concat()
        };
        let text: String = picks.iter().map(line).collect();
        assert_same(by_name(format).expect("listed"), format!("{head}\n").as_bytes(), text.as_bytes());
    }
}

#[test]
fn each_format_reads_the_same_with_the_cache() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/texts");
    let files = std::fs::read_dir(folder)
        .expect("texts")
        .map(|entry| entry.expect("a text").path());
    for file in files {
        let text = std::fs::read(&file).expect("readable");
        let format = recognise(Head {
            bytes: &text,
            complete: true,
        })
        .expect("recognised");
        assert_same(format, &text, &text);
    }
}
