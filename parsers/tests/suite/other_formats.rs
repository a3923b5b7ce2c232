//! Lines of another tracer in a file are named, and read neither as calls nor as output of the program.

use crate::cases;
use parsers::{FORMATS, Head, LineKind, Parsed, by_name};

/// Lines as each tracer prints them. Each set shows its format.
const LINES: [(&str, &str); 13] = [
    (
        "strace",
        "1234 1795224170.658193 read(3, \"x\", 1) = 1 <0.000012>
1234 1795224170.758193 openat(AT_FDCWD, \"/etc/x\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000012>
1234 1795224170.858193 read(4,  <unfinished ...>",
    ),
    (
        "truss-solaris",
        "12200:\t 4.5917\t 0.0395\tioctl(3, ZFS_IOC_OBJSET_STATS, 0x08046390)\t= 0
12200:\t 4.5921\t 0.0004\topen(\"/etc/x\", O_RDONLY)\t\tErr#2 ENOENT
12200:\t 4.5951\t 0.0001\tclose(4)\t\t\t\t= 0",
    ),
    (
        "truss-freebsd",
        "  812: 0.000017301 0.000010100 openat(AT_FDCWD,\"/etc/x\",O_RDONLY,00) ERR#2 'No such file or directory'
  812: 0.000027301 0.000010100 read(3,\"x\",35)\t\t = 35 (0x23)
  812: 0.000037301 0.000010100 close(3)\t\t\t = 0 (0x0)",
    ),
    (
        "kdump",
        "  2769 rmdir    1700000000.000001 CALL  read(0x3,0x7fff,0x23)
  2769 rmdir    1700000000.000002 RET   read 35/0x23
  2769 rmdir    1700000000.000003 CALL  close(0x3)",
    ),
    (
        "perf-trace",
        "     0.164 ( 0.002 ms): ls/4568 openat(dfd: CWD, filename: 0x7f) = -1 ENOENT (No such file or directory)
     0.264 ( 0.002 ms): ls/4568 read(fd: 3, buf: 0x7f, count: 832) = 832
     0.364 ( 0.002 ms): ls/4568 close(fd: 3) = 0",
    ),
    (
        "ltrace",
        "4712 SYS_openat(0xffffff9c, 0x7f1c2e0b1a30, 0x80000, 0) = 3
4712 SYS_read(3, \"x\", 832) = 832
4712 SYS_close(3) = 0",
    ),
    (
        "dtruss",
        " 4711/0x2b3c:       610      12      9 open(\"/etc/hosts\\0\", 0x0, 0x1B6)\t\t = 3 0
 4711/0x2b3c:       680      11      8 close(0x3)\t\t = 0 0
 4711/0x2b3c:       690      11      8 close(0x4)\t\t = -1 Err#9",
    ),
    (
        "fs-usage",
        "19:43:34.123456  open              F=3        (R_____)  /etc/hosts          0.000012   ls.1234
19:43:34.201733  read              F=3    B=0x200                         0.076120 W ls.1234
19:43:34.201802  close             F=3                                    0.000007   ls.1234",
    ),
    (
        "gvisor",
        "I0928 00:18:54.794008     365 strace.go:593] [   6:   7] npm init E read(0x3 /etc/x, 0x7f3336aaf2c8, 0x40)
I0928 00:18:54.794031     365 strace.go:625] [   6:   7] npm init X read(0x3 /etc/x, 0x7f3336aaf2c8 \"x\", 0x40) = 1 (0x1) (11.709µs)
I0928 00:18:54.794131     365 strace.go:625] [   6:   7] npm init E close(0x3 /etc/x)",
    ),
    (
        "sysdig",
        "101 19:43:34.123456789 0 bash (1234) > read fd=3(<f>/etc/hosts) size=512
102 19:43:34.123460001 0 bash (1234) < read res=12 data=127.0.0.1
103 19:43:35.123460001 1 bash (1234) > close fd=3(<f>/etc/hosts)",
    ),
    (
        "procmon",
        "\"9:53:32.8219063 AM\",\"app.exe\",\"4711\",\"CreateFile\",\"C:\\x\",\"SUCCESS\",\"OpenResult: Opened\"
\"9:53:32.8219064 AM\",\"app.exe\",\"4711\",\"ReadFile\",\"C:\\x\",\"SUCCESS\",\"Offset: 0, Length: 12\"
\"9:53:32.8219065 AM\",\"app.exe\",\"4711\",\"CloseFile\",\"C:\\x\",\"SUCCESS\",\"\"",
    ),
    (
        "strace-macos",
        "{\"syscall\": \"open\", \"args\": [\"/x\", \"O_RDONLY\"], \"return\": 3, \"pid\": 47, \"timestamp\": 1764374400.25}
{\"syscall\": \"read\", \"args\": [3, \"0x16b2f3a40\", 9], \"return\": 0, \"pid\": 47, \"timestamp\": 1764374400.26}
{\"syscall\": \"close\", \"args\": [3], \"return\": 0, \"pid\": 47, \"timestamp\": 1764374400.27}",
    ),
    (
        "kernel-log",
        "[    1.486287] md: stopping all md devices.
[    2.492737] ACPI: Preparing to enter system sleep state S5
[    2.493129] Power down.",
    ),
];

/// The kinds and names of lines that the reader of `format` finds in a text, if it begins with its own lines.
fn read(format: &'static str, text: &str) -> Vec<(LineKind, String)> {
    let reader = by_name(format).expect("listed").reader(Head {
        bytes: text.as_bytes(),
        complete: true,
    });
    let mut parsed = Parsed::of_capture(format);
    parsed.read(reader.as_ref(), text.as_bytes());
    parsed
        .lines
        .iter()
        .map(|line| (line.kind, parsed.texts.string(line.name).into_owned()))
        .collect()
}

#[test]
fn lines_of_each_tracer_are_named_among_those_of_each_other() {
    let mut wrong = String::new();
    for (own, lines) in LINES.iter().filter(|(own, _)| *own != "kernel-log") {
        for (other, foreign) in LINES
            .iter()
            .filter(|(other, _)| other != own && *other != "kernel-log")
        {
            let text = format!("{lines}\n{lines}\n{lines}\n{foreign}");
            for (found, line) in read(own, &text).iter().zip(text.lines()).skip(9) {
                if *found != (LineKind::OtherFormat, (*other).to_owned()) {
                    wrong += &format!("{other} in {own}: {found:?}: {line}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn lines_of_the_file_are_never_of_another_format() {
    for (own, lines) in LINES {
        assert!(
            read(own, lines)
                .iter()
                .all(|(kind, _)| *kind != LineKind::OtherFormat),
            "{own}"
        );
    }
    let [tracers @ .., (_, logs)] = &LINES;
    for (own, lines) in tracers {
        assert!(
            read(own, &format!("{lines}\n{logs}"))
                .iter()
                .all(|(kind, _)| *kind != LineKind::OtherFormat),
            "{own}"
        );
    }
}

#[test]
fn lines_with_another_prefix_have_the_name_of_their_format() {
    let text = "20:37:49.000112 read(3, \"\", 4096) = 0\n20:37:49.000312 close(3) = 0\n20:37:50.000312 close(5) = 0
4711 1700000000.000212 read(3, \"\", 4096) = 0 <0.000005>\n4711 1700000000.000312 close(4) = 0 <1.000005>";
    let found = read("strace", text);
    assert!(found[..3].iter().all(|(kind, _)| *kind == LineKind::Call));
    assert!(
        found[3..]
            .iter()
            .all(|found| *found == (LineKind::OtherFormat, "strace".into())),
        "{found:?}"
    );
    let reader = by_name("strace").expect("listed").reader(Head {
        bytes: text.as_bytes(),
        complete: true,
    });
    assert!(
        !reader.facts().has_durations,
        "{}",
        cases::one(reader.as_ref(), b"20:37:49.000312 close(3) = 0")
    );
}

#[test]
fn as_many_lines_of_another_tracer_hide_no_prefix() {
    let strace = "1234 read(3, \"x\", 1) = 1\n1234 close(9) = -1 EBADF (Bad file descriptor)";
    let truss =
        "open(\"/etc/x\", O_RDONLY)\t\t\tErr#2 ENOENT\nstat(\"/etc/y\", 0x08047A10)\t\t\t= 0";
    let kinds: Vec<LineKind> = read("strace", &format!("{strace}\n{truss}"))
        .iter()
        .map(|&(kind, _)| kind)
        .collect();
    assert_eq!(
        kinds,
        [
            LineKind::Call,
            LineKind::Call,
            LineKind::OtherFormat,
            LineKind::OtherFormat
        ]
    );
}

#[test]
fn output_of_programs_is_of_no_other_format() {
    let outputs = [
        "foo(3) = 4",
        "result (of 3) = 5",
        "main: read(3) failed",
        "x = f(y)",
        "total (ms) = 12",
        "error: open(\"x\") returned -1",
        "puts(hello)",
        "  RET value is 3",
        "CALL me",
        "-rw-r--r-- 1 root root 12 = x",
    ];
    for (own, lines) in LINES.iter().take(10) {
        let text = format!("{lines}\n{lines}\n{}", outputs.join("\n"));
        let found = read(own, &text);
        assert!(
            found.iter().all(|(kind, _)| *kind != LineKind::OtherFormat),
            "{own}: {found:?}"
        );
    }
    assert_eq!(
        FORMATS.len(),
        LINES.len() + 2,
        "AIX prints no line that Solaris could not print, and perf.data has the lines of strace"
    );
}
