//! Captures made on the spot: of programs whose answer is known, with the machine's strace, with and without names of
//! descriptors. The answer must come first. Without strace, or where it may not trace, the tests say so and pass.

use engine::path::{Segment, path};
use engine::trace::Trace;
use engine::wakers::Wakers;
use engine::window::{Choice, Window, windows};
use parsers::syscalls::Class;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const MS: i64 = 1_000_000;

/// A trace with the path through it.
struct Walked {
    trace: Trace,
    window: Window,
    segments: Vec<Segment>,
}

/// Where a program writes what it needs; gone with the value.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for the capture")
}

/// Whether this machine can trace; told once per test where it cannot.
fn can_trace() -> bool {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    let can = traced.is_ok_and(|status| status.success());
    if !can {
        eprintln!("SKIPPED: strace is missing or may not trace here");
    }
    can
}

/// The interpreter itself, not a script that looks for it.
fn python() -> Option<String> {
    let told = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
    let path = String::from_utf8(told.stdout).ok()?.trim().to_owned();
    if path.is_empty() {
        eprintln!("SKIPPED: python3 is missing");
        return None;
    }
    Some(path)
}

fn strace(folder: &Path, options: &[&str]) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-ttt", "-T", "-o", "capture"]).args(options).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn walked(folder: &Path) -> Walked {
    let capture = folder.join("capture").to_string_lossy().into_owned();
    let Ok(trace) = engine::read::read(&[vec![capture]], None, &mut |_, _| {}) else { panic!("a capture is readable") };
    let window = windows(&trace, &Choice::default())[0];
    let segments = path(&trace, &Wakers::new(&trace), &window);
    assert_eq!(segments.iter().map(Segment::dur_ns).sum::<i64>(), window.wall_ns(), "all of the window, and no more");
    Walked { trace, window, segments }
}

/// What a charge is for, and whether the first task has it.
type Group = (Class, String, bool, bool);

impl Walked {
    fn group(&self, segment: &Segment) -> Group {
        let events = &self.trace.events;
        let syscall = segment.what.row().map(|row| events.texts.string(events.shape(row).syscall).into_owned());
        (segment.class, syscall.unwrap_or_default(), segment.resolved, segment.task == 0)
    }

    /// The groups, the largest first.
    fn groups(&self) -> Vec<(Group, i64)> {
        let mut sums: Vec<(Group, i64)> = Vec::new();
        for segment in &self.segments {
            let group = self.group(segment);
            match sums.iter_mut().find(|(known, _)| *known == group) {
                Some((_, sum)) => *sum += segment.dur_ns(),
                None => sums.push((group, segment.dur_ns())),
            }
        }
        sums.sort_by_key(|(_, sum)| -sum);
        sums
    }

    fn check(&self, name: &str, class: Class, syscall: &str, resolved: bool, of_first: bool, at_least_ns: i64) {
        let groups: Vec<_> = self.groups().into_iter().take(4).collect();
        let expected: Group = (class, syscall.to_owned(), resolved, of_first);
        let first = groups.first().unwrap_or_else(|| panic!("{name}: an empty path"));
        assert!(first.0 == expected && first.1 >= at_least_ns, "{name}: {expected:?} first, not {groups:?}");
    }
}

const FLOCK: &str = "flock l sh -c 'touch held; sleep 0.4' & while [ ! -e held ]; do sleep 0.01; done; flock l true";

/// How the same program is captured.
const OPTIONS: [&[&str]; 3] = [&[], &["-y"], &["-yy"]];

enum Program {
    Sh(&'static str),
    Python(&'static str),
}
use Program::{Python, Sh};

fn run(program: &Program, options: &[&str]) -> Option<Walked> {
    let folder = folder();
    let mut command = strace(folder.path(), options);
    match program {
        Sh(script) => command.args(["sh", "-c", script]),
        Python(script) => command.arg(python()?).args(["-S", "-E", "-c", script]),
    };
    command.status().expect("strace runs");
    Some(walked(folder.path()))
}

const JOIN: &str = "
import threading, time
thread = threading.Thread(target=time.sleep, args=(0.3,))
thread.start(); thread.join()";

const ONE_LOCK: &str = "
import threading, time
lock = threading.Lock()
def work():
    with lock: time.sleep(0.05)
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]";

const SOCKETPAIR: &str = "
import os, socket, time
one, other = socket.socketpair()
if os.fork() == 0:
    one.close(); other.recv(9); time.sleep(0.3); other.send(b'x'); time.sleep(0.1); os._exit(0)
other.close(); one.send(b'x'); one.recv(9)";

const LOOPBACK: &str = "
import os, socket, time
listener = socket.socket(); listener.bind(('127.0.0.1', 0)); listener.listen()
if os.fork() == 0:
    server, _ = listener.accept(); server.recv(9); time.sleep(0.3); server.send(b'x'); time.sleep(0.1); os._exit(0)
client = socket.create_connection(listener.getsockname()); client.send(b'x'); client.recv(9)";

const ACCEPTED: &str = "
import os, socket, time
listener = socket.socket(); listener.bind(('127.0.0.1', 0)); listener.listen()
if os.fork() == 0:
    time.sleep(0.3); client = socket.create_connection(listener.getsockname()); client.send(b'x'); os._exit(0)
server, _ = listener.accept(); server.recv(9)";

const EVENTFD: &str = "
import ctypes, os, threading, time
libc = ctypes.CDLL(None); counter = libc.eventfd(0, 0)
def work(): time.sleep(0.3); os.write(counter, b'\\1' + b'\\0' * 7)
threading.Thread(target=work).start(); os.read(counter, 8)";

const TWO_POLLED: &str = "
import os, select, time
idle, _ = os.pipe(); ready, out = os.pipe()
if os.fork() == 0:
    time.sleep(0.3); os.write(out, b'x'); time.sleep(0.1); os._exit(0)
poll = select.poll(); poll.register(idle, 1); poll.register(ready, 1); poll.poll(); time.sleep(0.01); os.read(ready, 1)";

const WATCHED: &str = "
import os, select, time
ready, out = os.pipe()
if os.fork() == 0:
    time.sleep(0.3); os.write(out, b'x'); time.sleep(0.1); os._exit(0)
poll = select.epoll(); poll.register(ready, 1); poll.poll(); time.sleep(0.01); os.read(ready, 1)";

const FULL_PIPE: &str = "
import os, time
out, into = os.pipe()
if os.fork() == 0:
    os.close(into)
    for _ in range(6): time.sleep(0.05); os.read(out, 65536)
    os._exit(0)
os.close(out); os.write(into, b'x' * 65536 * 5)";

const FCNTL: &str = "
import fcntl, os, time
def take():
    file = open('lock', 'w'); fcntl.lockf(file, fcntl.LOCK_EX); return file
started, out = os.pipe()
if os.fork() == 0:
    file = take(); os.write(out, b'x'); time.sleep(0.3); fcntl.lockf(file, fcntl.LOCK_UN); time.sleep(0.1); os._exit(0)
os.read(started, 1); take()";

const SPAWNED: &str = "
import os
os.waitpid(os.posix_spawn('/bin/sleep', ['sleep', '0.3'], {}), 0)";

const BUSY: &str = "
import os, time
if os.fork() == 0:
    end = time.monotonic() + 0.3
    while time.monotonic() < end: pass
    os._exit(0)
os.wait()";

const STOPPED: &str = "
import os, signal, time
child = os.fork()
if child == 0:
    end = time.monotonic() + 0.1
    while time.monotonic() < end: pass
    os._exit(0)
if os.fork() == 0:
    os.kill(child, signal.SIGSTOP); time.sleep(0.4); os.kill(child, signal.SIGCONT); os._exit(0)
os.waitpid(child, 0)";

#[test]
fn the_right_answer_comes_first() {
    if !can_trace() {
        return;
    }
    let nap = "clock_nanosleep";
    let cases: Vec<(&str, Program, Class, &str, bool, i64)> = vec![
        ("slow consumer", Sh("seq 3 | while read x; do sleep 0.1; done"), Class::Sleep, nap, false, 240),
        ("two parallel children", Sh("sleep 0.1 & sleep 0.3 & wait"), Class::Sleep, nap, false, 240),
        ("two on one flock", Sh(FLOCK), Class::Sleep, nap, false, 240),
        ("two on one fcntl lock", Python(FCNTL), Class::Sleep, nap, false, 240),
        ("join of a slow thread", Python(JOIN), Class::Sleep, nap, false, 240),
        ("eight threads on one lock", Python(ONE_LOCK), Class::Sleep, nap, false, 300),
        ("socketpair", Python(SOCKETPAIR), Class::Sleep, nap, false, 240),
        ("loopback", Python(LOOPBACK), Class::Sleep, nap, false, 240),
        ("accept", Python(ACCEPTED), Class::Sleep, nap, false, 240),
        ("eventfd", Python(EVENTFD), Class::Sleep, nap, false, 240),
        ("poll of two", Python(TWO_POLLED), Class::Sleep, nap, false, 240),
        ("epoll", Python(WATCHED), Class::Sleep, nap, false, 240),
        ("full pipe", Python(FULL_PIPE), Class::Sleep, nap, false, 150),
        ("posix_spawn", Python(SPAWNED), Class::Sleep, nap, false, 240),
        ("time-out", Sh("timeout 0.3 sleep 100; true"), Class::Sleep, "rt_sigsuspend", false, 240),
        ("busy child", Python(BUSY), Class::User, "", false, 200),
        ("stopped child", Python(STOPPED), Class::Stopped, "", false, 200),
    ];
    for (name, program, class, syscall, of_first, at_least_ms) in cases {
        let check = &|options: &[&str]| {
            eventually(|| {
                if let Some(walked) = run(&program, options) {
                    walked.check(&format!("{name} {options:?}"), class, syscall, true, of_first, at_least_ms * MS);
                }
            });
        };
        // They sleep most of the time, so they may do so side by side.
        std::thread::scope(|scope| {
            for options in OPTIONS {
                scope.spawn(move || check(options));
            }
        });
    }
}

/// A busy machine may let programs begin in another order than they were written in; the capture is made again then.
fn eventually(attempt: impl Fn()) {
    let once = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(&attempt)).is_ok();
    if !(0..2).any(|_| once()) {
        attempt();
    }
}

#[test]
fn only_the_slow_leaf_of_nested_makes_is_charged() {
    if !can_trace() || Command::new("make").arg("--version").stdout(Stdio::null()).status().is_err() {
        return eprintln!("SKIPPED: make is missing");
    }
    eventually(|| {
        let folder = folder();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("the folder takes files");
        write("Makefile", "all: a b\na b:\n\t$(MAKE) -f $@.mk\n");
        write("a.mk", "all:\n\tsleep 0.05\n");
        write("b.mk", "all: c d\nc:\n\tsleep 0.4\nd:\n\tsleep 0.1\n");
        strace(folder.path(), &["-y"]).args(["make", "-j4"]).status().expect("strace runs");
        let walked = walked(folder.path());
        walked.check("make", Class::Sleep, "clock_nanosleep", true, false, 300 * MS);
        let (_, slept_ns) = walked.groups()[0];
        assert!(slept_ns < 470 * MS, "what ran beside the slow one is not charged: {slept_ns}");
    });
}

/// A server that tells its port in a file.
const SERVER: &str = "
import os, socket
listener = socket.socket(); listener.bind(('127.0.0.1', 0)); listener.listen()
open('port.new', 'w').write(str(listener.getsockname()[1])); os.rename('port.new', 'port')
server, _ = listener.accept(); server.recv(9)";

fn port(folder: &Path) -> Option<u16> {
    for _ in 0..1000 {
        if let Ok(text) = std::fs::read_to_string(folder.join("port")) {
            return text.trim().parse().ok();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}

#[test]
fn a_client_outside_the_trace_leaves_the_wait_unresolved() {
    use std::io::Write;
    let (true, Some(python)) = (can_trace(), python()) else { return };
    for options in OPTIONS {
        eventually(|| {
            let folder = folder();
            let mut server = strace(folder.path(), options);
            let mut server = server.arg(&python).args(["-S", "-E", "-c", SERVER]).spawn().expect("strace runs");
            let mut client =
                std::net::TcpStream::connect(("127.0.0.1", port(folder.path()).unwrap_or(1))).expect("a server");
            std::thread::sleep(Duration::from_millis(300));
            client.write_all(b"x").expect("a server");
            server.wait().expect("strace ends");
            let walked = walked(folder.path());
            walked.check(&format!("{options:?}"), Class::Network, "recvfrom", false, true, 250 * MS);
        });
    }
}

#[test]
fn an_idle_daemon_that_is_attached_to_leaves_out_the_time_before_it_works() {
    let (true, Some(python)) = (can_trace(), python()) else { return };
    eventually(|| {
        let folder = folder();
        let mut daemon = Command::new(&python);
        daemon.args(["-S", "-E", "-c", SERVER]).current_dir(folder.path());
        let mut daemon = daemon.spawn().expect("python runs");
        let port = port(folder.path()).unwrap_or(1);
        let mut tracer =
            strace(folder.path(), &["-y"]).args(["-p", &daemon.id().to_string()]).spawn().expect("strace runs");
        std::thread::sleep(Duration::from_millis(400));
        drop(std::net::TcpStream::connect(("127.0.0.1", port)).expect("the daemon listens"));
        daemon.wait().expect("the daemon ends");
        tracer.wait().expect("strace ends");
        let walked = walked(folder.path());
        let Window { left_out_ns, root, .. } = walked.window;
        assert!(root.is_some() && left_out_ns > 100 * MS, "{left_out_ns} left out");
        assert!(walked.window.wall_ns() < left_out_ns, "the rest is short");
    });
}
