//! Output of other tools, which has no system calls that a reader of this crate could read, by name.
//!
//! A file is one of these if it begins with the tool's signature, or if most of its first lines have the tool's form.

use crate::format::{Head, blank};
use crate::scan;
use memchr::memmem;

/// What begins a file of a tool.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"PERFILE2", "perf-data"),
    (b"2ELIFREP", "perf-data"),
    (b"\x17\x08\x44tracing", "trace-cmd-data"),
    (b"\xd4\xc3\xb2\xa1", "pcap"),
    (b"\xa1\xb2\xc3\xd4", "pcap"),
    (b"\x4d\x3c\xb2\xa1", "pcap"),
    (b"\xa1\xb2\x3c\x4d", "pcap"),
    (b"\x0a\x0d\x0d\x0a", "pcap"),
    (b"\xfe\xed\xfa\xce", "executable"),
    (b"\xfe\xed\xfa\xcf", "executable"),
    (b"\xcf\xfa\xed\xfe", "executable"),
    (b"\xca\xfe\xba\xbe", "executable"),
    (b"PML_", "procmon"),
    (b"PK\x03\x04", "archive"),
    (b"7z\xbc\xaf\x27\x1c", "archive"),
    (b"Rar!\x1a\x07", "archive"),
    (b"\x89PNG\r\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"%PDF-", "image"),
    (b"SQLite format 3", "binary"),
    (b"\x00\x03\xaa\x55", "macos-ktrace"),
    (b"{\"traceEvents\"", "chrome-trace"),
];

/// What the first lines of a tool contain, after blanks.
const FIRST_LINES: &[(&[u8], &str)] = &[
    (b"# tracer: ", "ftrace"),
    (b"strace: attach: ptrace(", "refused-attach"),
    (b"strace: Could not attach to process", "refused-attach"),
    (b"attach: ptrace(PTRACE_", "refused-attach"),
    (b"strace: test_ptrace", "refused-attach"),
    (b"strace: ptrace(PTRACE_TRACEME", "refused-attach"),
    (b"CPU     ID                    FUNCTION:NAME", "dtrace"),
    (b"COMMAND ", "lsof"),
    (b"top - ", "top"),
    (b"procs -----------memory", "top"),
    (b"avg-cpu:", "top"),
    (b"USER         PID %CPU", "top"),
    (b"Tracing syscalls, printing top", "bpftrace"),
    (b"PCOMM ", "bpftrace"),
];

/// Whether a line has the form of a tool's lines.
type IsForm = fn(&[u8]) -> bool;

/// Forms of lines of a tool.
const FORMS: &[(IsForm, &str)] = &[
    (is_perf_script, "perf-script"),
    (is_ftrace, "ftrace"),
    (is_tcpdump, "tcpdump"),
    (is_fs_usage, "fs_usage"),
    (is_stack_of_debugger, "backtrace"),
    (is_stack_of_kernel, "kernel-stack"),
];

/// First lines that are inspected.
const MAX_LINES: usize = 200;
/// First lines of which one may be the header of a tool.
const MAX_HEADER_LINES: usize = 4;

/// The tool whose file certainly begins like this.
pub fn by_signature(head: Head<'_>) -> Option<&'static str> {
    let bytes = head
        .bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head.bytes);
    if bytes.starts_with(b"\x7fELF") {
        // Number 4 at offset 16 is a core dump, in either byte order.
        let is_core = bytes.get(16..18).is_some_and(|kind| kind.contains(&4));
        return Some(if is_core { "core-dump" } else { "executable" });
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return Some("archive");
    }
    let signed = SIGNATURES
        .iter()
        .find(|(signature, _)| bytes.starts_with(signature));
    signed
        .map(|&(_, tool)| tool)
        .or_else(|| is_ktrace(bytes).then_some("ktrace"))
}

/// The tool that most likely printed these lines; only asked if they are of no tracer.
pub fn by_lines(head: Head<'_>) -> Option<&'static str> {
    let filled = || {
        head.lines()
            .filter(|line| blank(line).is_none())
            .take(MAX_LINES)
    };
    let header = filled().take(MAX_HEADER_LINES).find_map(header);
    let lines = filled().count();
    let is_most = |form: IsForm| filled().filter(|line| form(line)).count() * 2 > lines;
    let form = || {
        FORMS
            .iter()
            .find(|(form, _)| is_most(*form))
            .map(|&(_, tool)| tool)
    };
    header.or_else(form)
}

/// Whether a text that nothing recognises is not a text at all.
pub fn is_binary(head: Head<'_>) -> bool {
    head.bytes.contains(&0)
}

fn header(line: &[u8]) -> Option<&'static str> {
    let line = scan::trim(line);
    let known = FIRST_LINES
        .iter()
        .find(|(start, _)| line.starts_with(start))
        .map(|&(_, tool)| tool);
    match known {
        Some("lsof") if !(has(line, b" FD ") && has(line, b" TYPE ")) => None,
        Some(tool) => Some(tool),
        None if line.starts_with(b"Attaching ") && has(line, b" probe") => Some("bpftrace"),
        None if line.starts_with(b"PID ") && has(line, b" COMM ") => Some("bpftrace"),
        None => None,
    }
}

fn has(text: &[u8], part: &[u8]) -> bool {
    memmem::find(text, part).is_some()
}

/// FreeBSD: length, type, version, process id, name of the program.
fn is_ktrace(bytes: &[u8]) -> bool {
    let number = |at: usize| Some(i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let kind = bytes
        .get(4..6)
        .map(|kind| u16::from_le_bytes([kind[0], kind[1]]) & 0x0fff);
    let name = bytes.get(12..32).unwrap_or(b"");
    let letters = name
        .iter()
        .take_while(|byte| byte.is_ascii_graphic())
        .count();
    let is_name = (1..20).contains(&letters) && name.iter().skip(letters).all(|byte| *byte == 0);
    let is_small = number(0).is_some_and(|len| (0..1 << 20).contains(&len));
    is_small
        && kind.is_some_and(|kind| (1..=32).contains(&kind))
        && number(8).is_some_and(|pid| pid > 0)
        && is_name
}

/// The word at the start of a text and what follows it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = scan::skip_blanks(text);
    let end = text
        .iter()
        .position(u8::is_ascii_whitespace)
        .filter(|&end| end > 0)?;
    text.split_at_checked(end)
}

/// `12345.678901:`, and what follows.
fn stamp_with_colon(text: &[u8]) -> Option<&[u8]> {
    let (_, digits, rest) = scan::seconds(scan::skip_blanks(text))?;
    (digits >= 6).then(|| rest.strip_prefix(b":"))?
}

/// `ls  1234/1234  [001]  12345.678901:  sched:sched_switch: prev_comm=…`
fn is_perf_script(line: &[u8]) -> bool {
    let after = || {
        let (_, rest) = word(line)?;
        let (_, rest) = scan::number(scan::skip_blanks(rest))?;
        let rest = rest
            .strip_prefix(b"/")
            .and_then(scan::number)
            .map_or(rest, |(_, rest)| rest);
        let rest = scan::skip_blanks(rest);
        let rest = match rest.strip_prefix(b"[") {
            Some(cpu) => scan::number(cpu)?.1.strip_prefix(b"]")?,
            None => rest,
        };
        let (event, _) = word(stamp_with_colon(rest)?)?;
        (event.ends_with(b":") || scan::number(event).is_some_and(|(_, rest)| rest.is_empty()))
            .then_some(())
    };
    after().is_some()
}

/// `  bash-1234  [001] d..1  12345.678901: sys_enter: NR 0 (3, 7ffd…)`
fn is_ftrace(line: &[u8]) -> bool {
    let after = || {
        let at = memmem::find(line, b" [0")?;
        let (task, rest) = line.split_at_checked(at)?;
        let dash = memchr::memrchr(b'-', task)?;
        let rest = scan::number(&rest[2..])?.1.strip_prefix(b"]")?;
        let (_, after_flags) = word(rest)?;
        stamp_with_colon(rest).or_else(|| stamp_with_colon(after_flags))?;
        scan::number(task.get(dash + 1..)?)
    };
    after().is_some()
}

/// `19:43:34.123456 IP 10.0.0.7.51234 > 10.0.0.1.22: Flags [P.], …`
fn is_tcpdump(line: &[u8]) -> bool {
    let rest = match scan::time_of_day(line) {
        Some((_, digits, rest)) if digits > 0 => rest,
        _ => return false,
    };
    let protocols: [&[u8]; 4] = [b" IP ", b" IP6 ", b" ARP, ", b" eth"];
    protocols.iter().any(|protocol| rest.starts_with(protocol))
        && (has(rest, b" > ") || has(rest, b"ARP"))
}

/// `19:43:34.123456  open  F=3  (R_____)  /etc/passwd  0.000012   ls.1234`
fn is_fs_usage(line: &[u8]) -> bool {
    let after = || {
        let (_, _, rest) = scan::time_of_day(line)?;
        let rest = rest.strip_prefix(b"  ")?;
        let mut words = rest
            .split(u8::is_ascii_whitespace)
            .rev()
            .filter(|word| !word.is_empty());
        let process = words.next()?;
        let duration = words.next().and_then(|word| {
            if word == b"W" {
                words.next()
            } else {
                Some(word)
            }
        })?;
        let (_, digits, rest) = scan::seconds(duration)?;
        words.next()?;
        (digits == 6 && rest.is_empty() && process.iter().any(u8::is_ascii_alphabetic))
            .then_some(())
    };
    after().is_some()
}

/// `#0  0x00007f12 in read () from /lib/libc.so.6`, `Thread 1 (Thread 0x7f12 (LWP 123)):`
fn is_stack_of_debugger(line: &[u8]) -> bool {
    let is_frame = || {
        let (_, rest) = line.strip_prefix(b"#").and_then(scan::number)?;
        let rest = scan::skip_blanks(rest.strip_prefix(b" ")?);
        (rest.starts_with(b"0x") && has(rest, b" in ") || has(rest, b" (")).then_some(())
    };
    is_frame().is_some() || line.starts_with(b"Thread ") && has(line, b"(Thread 0x")
}

/// `[<0>] futex_wait_queue+0x60/0x90`
fn is_stack_of_kernel(line: &[u8]) -> bool {
    line.starts_with(b"[<") && has(line, b">] ") && has(line, b"+0x")
}
