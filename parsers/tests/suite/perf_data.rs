//! The calls of perf.data: their text, and files that have none.

use parsers::perf_file::{CallChoice, RunningCall, WrittenCalls, write_calls};
use parsers::{Head, Line, LineKind, Outcome, Parsed, by_name, recognise};
use std::io::{self, Cursor, Read};

/// A recording of `tests/witness`.
pub(crate) fn kept(name: &str) -> Vec<u8> {
    let path = format!("{}/../tests/witness/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

fn written(bytes: &[u8], choice: CallChoice) -> io::Result<(WrittenCalls, String)> {
    let mut text = Vec::new();
    let found = write_calls(Cursor::new(bytes), choice, &mut text)?;
    Ok((found, String::from_utf8(text).unwrap()))
}

/// `sleep 0.2 | cat; ls /nonexistent; kill -TERM $$` in a shell.
fn waits() -> String {
    let bytes = kept("calls-waits.perf.data.gz");
    written(&bytes, CallChoice::default()).unwrap().1
}

fn lines(text: &str) -> Vec<Line> {
    let head = Head {
        bytes: text.as_bytes(),
        complete: true,
    };
    assert_eq!(recognise(head).unwrap().name(), "perf-data");
    let reader = by_name("perf-data").unwrap().reader(head);
    let mut parsed = Parsed::default();
    text.lines()
        .map(|line| reader.read(line.as_bytes(), &mut parsed))
        .collect()
}

/// Whether a line with all of these parts is in the text.
fn has(text: &str, parts: &[&str]) -> bool {
    text.lines()
        .any(|line| parts.iter().all(|part| line.contains(part)))
}

#[test]
fn calls_have_names_results_and_durations() {
    let text = waits();
    assert!(text.starts_with("# system calls of perf.data, x86_64\n"));
    assert!(has(&text, &[" openat(AT_FDCWD, ..., 0x80000) = 3 <0.0"]));
    assert!(has(&text, &[" access(...) = -1 ENOENT (error 2) <0.0"]));
    assert!(has(&text, &[" clock_nanosleep(0, 0, ..."]));
    let slept = text
        .lines()
        .find_map(|line| line.split_once("clock_nanosleep resumed>) = 0 <"))
        .or_else(|| text.split_once("clock_nanosleep(0, 0, ...) = 0 <"));
    assert!(slept.unwrap().1.starts_with("0.2"));
}

#[test]
fn programs_have_paths() {
    let text = waits();
    for path in [
        "/usr/bin/sh",
        "/usr/bin/sleep",
        "/usr/bin/cat",
        "/usr/bin/ls",
    ] {
        assert!(has(&text, &[&format!("execve(\"{path}\"")]), "{path}");
    }
}

#[test]
fn parents_see_how_children_ended() {
    let text = waits();
    assert!(has(&text, &["wait4", "WEXITSTATUS(s) == 2}]) = "]));
    assert!(has(&text, &["+++ exited with 2 +++"]));
    assert!(has(&text, &["--- SIGCHLD {si_signo=SIGCHLD} ---"]));
    assert!(text.ends_with("+++ killed by SIGTERM +++\n"), "{text}");
}

#[test]
fn threads_and_vforks_are_told_apart() {
    let bytes = kept("calls-threads.perf.data.gz");
    let (found, text) = written(&bytes, CallChoice::default()).unwrap();
    assert_eq!((found.tids.len(), found.lost), (3, 0));
    assert!(has(
        &text,
        &["clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD}"]
    ));
    assert!(has(
        &text,
        &["clone3({flags=CLONE_VM|CLONE_VFORK} <unfinished ...>"]
    ));
    assert!(text.ends_with("+++ exited with 3 +++\n"));
}

#[test]
fn each_line_is_used_and_each_call_is_counted_once() {
    for name in ["calls-waits.perf.data.gz", "calls-threads.perf.data.gz"] {
        let (found, text) = written(&kept(name), CallChoice::default()).unwrap();
        let lines = lines(&text);
        let of = |kind: LineKind| lines.iter().filter(|line| line.kind == kind).count();
        assert_eq!(of(LineKind::Notice), 1);
        assert_eq!(of(LineKind::Damaged) + of(LineKind::Foreign), 0);
        let begun = of(LineKind::Call) + of(LineKind::CallStart);
        assert_eq!(begun as u64, found.calls);
        assert_eq!(of(LineKind::CallStart), of(LineKind::CallEnd));
    }
}

#[test]
fn what_a_process_did_before_its_command_is_left_out() {
    let bytes = kept("calls-waits.perf.data.gz");
    let (all, text) = written(&bytes, CallChoice::default()).unwrap();
    let sleep = lines(&text)
        .iter()
        .zip(text.lines())
        .find(|(_, text)| text.contains("\"/usr/bin/sleep\""))
        .map(|(line, _)| line.tid)
        .unwrap();
    let choice = CallChoice {
        command: Some(sleep),
        ..CallChoice::default()
    };
    let (found, text) = written(&bytes, choice).unwrap();
    assert!(found.calls < all.calls);
    let first = text
        .lines()
        .find(|line| line.starts_with(&format!("{sleep} ")));
    assert!(first.unwrap().contains("execve(\"/usr/bin/sleep\""));
}

#[test]
fn calls_that_run_at_the_beginning_are_open_until_they_return() {
    let bytes = kept("calls-waits.perf.data.gz");
    let (before, _) = written(&bytes, CallChoice::default()).unwrap();
    let running = RunningCall {
        pid: 7,
        tid: 7,
        time_ns: 1,
        number: 232,
        args: [4, 0x7fff_0000, 16, 0xffff_ffff, 0, 0],
    };
    let choice = CallChoice {
        running: vec![running],
        ..CallChoice::default()
    };
    let (found, text) = written(&bytes, choice).unwrap();
    assert_eq!(found.calls, before.calls + 1);
    assert!(has(
        &text,
        &["7 ", "epoll_wait(4, ..., 16, -1 <unfinished ...>"]
    ));
    let open = lines(&text).into_iter().find(|line| line.tid == 7).unwrap();
    assert_eq!((open.fd, open.outcome), (4, Outcome::Open));
}

#[test]
fn lost_events_are_a_loss_with_their_number() {
    let text = format!("{}# lost events: 250\n", waits());
    let last = *lines(&text).last().unwrap();
    assert_eq!((last.kind, last.ret), (LineKind::Dropped, 250));
}

#[test]
fn files_without_calls_are_errors_that_say_what_to_record() {
    let error = |bytes: &[u8]| {
        written(bytes, CallChoice::default())
            .unwrap_err()
            .to_string()
    };
    assert!(error(&kept("sleep-pipe.perf.data.gz")).contains("-e raw_syscalls:sys_enter"));
    assert!(written(b"PERFILE2", CallChoice::default()).is_err());
    let mut other = kept("calls-waits.perf.data.gz");
    let at = memchr::memmem::rfind(&other, b"x86_64\0").unwrap();
    other[at..at + 6].copy_from_slice(b"s390x\0");
    assert!(error(&other).contains("\"s390x\""));
}

#[test]
fn numbers_of_another_machine_have_other_names() {
    let mut other = kept("calls-waits.perf.data.gz");
    let at = memchr::memmem::rfind(&other, b"x86_64\0").unwrap();
    other[at..at + 6].copy_from_slice(b"arm64\0");
    let (_, text) = written(&other, CallChoice::default()).unwrap();
    // 257 is openat on x86-64. aarch64 has no call with this number.
    assert!(has(&text, &[" syscall_0x101() = 3 <0.0"]));
}

#[test]
fn damaged_files_are_errors_or_fewer_calls() {
    let bytes = kept("calls-threads.perf.data.gz");
    for cut in (0..bytes.len()).step_by(997) {
        let _ = written(&bytes[..cut], CallChoice::default());
    }
    let mut state = 11u64;
    for _ in 0..150 {
        let mut damaged = bytes.clone();
        for _ in 0..3 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let at = (state >> 33) as usize % damaged.len();
            damaged[at] = (state >> 20) as u8;
        }
        let _ = written(&damaged, CallChoice::default());
    }
}
