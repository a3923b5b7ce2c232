//! Captures of programs with a known answer, made by a real strace, with and without names of descriptors. The answer must
//! come first.
//!
//! `make test` reads kept captures, so that the load of the machine has no influence. With `TRACEALYZE_LIVE` (`make live`) the
//! captures are made during the test. With `TRACEALYZE_LIVE=keep` the new captures with the shortest unit also replace the kept
//! ones. If strace is missing or may not trace, the live tests report it and pass.
//!
//! Order between processes is enforced by pipes, never by sleeping. Sleeps are a number of units (`@300`), which are
//! milliseconds at first and grow until the work of a busy machine is small in comparison.

use parsers::syscalls::Class;
use path::critical_path::segment::Segment;
use path::critical_path::segment::Tag;
use path::critical_path::walk::path;
use path::critical_path::window::{Window, WindowChoice, windows};
use path::waits::wakers::Wakers;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

const MS: i64 = 1_000_000;

/// A trace and its critical path.
struct Walked {
    trace: Trace,
    window: Window,
    segments: Vec<Segment>,
}

/// Where the kept captures are.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kept_live");

/// The value of `TRACEALYZE_LIVE`.
fn live() -> Option<String> {
    std::env::var("TRACEALYZE_LIVE").ok()
}

/// Judge the kept capture of this name, or captures that are made now, in a folder, with units of so many milliseconds.
fn judged(name: &str, capture: impl Fn(&Path, i64), judge: impl Fn(&Walked, i64)) {
    let kept = format!("{KEPT}/{name}.strace.gz");
    let Some(live) = live() else {
        return judge(&walked(Path::new(&kept)), 1);
    };
    if !can_trace() {
        return;
    }
    eventually(|unit_ms| {
        let folder = tempfile::tempdir().expect("a folder for the capture");
        capture(folder.path(), unit_ms);
        let made = folder.path().join("capture");
        if live == "keep" && unit_ms == 1 {
            keep(&made, &kept);
        }
        let judged = || judge(&walked(&made), unit_ms);
        if let Err(failure) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(judged)) {
            print_end(&made);
            std::panic::resume_unwind(failure);
        }
    });
}

fn keep(made: &Path, kept: &str) {
    use std::io::Write;
    let file = std::fs::File::create(kept).expect("the folder of kept captures takes files");
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::best());
    let bytes = std::fs::read(made).expect("a capture");
    packed.write_all(&bytes).expect("room for the capture");
    packed.finish().expect("room for the capture");
}

/// The last lines of a capture that was not read as expected: it is gone after the test.
fn print_end(made: &Path) {
    const LINES: usize = 150;
    let text = String::from_utf8_lossy(&std::fs::read(made).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        eprintln!("  {line}");
    }
}

/// Whether this machine can trace; printed once per test if it cannot.
fn can_trace() -> bool {
    let traced = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .stderr(Stdio::null())
        .status();
    let can = traced.is_ok_and(|status| status.success());
    if !can {
        eprintln!("SKIPPED: strace is missing or may not trace here");
    }
    can
}

/// The interpreter itself, not a script that searches for it.
fn python() -> String {
    let told = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("python3, which the project needs");
    let path = String::from_utf8(told.stdout).expect("a path");
    path.trim().to_owned()
}

fn strace(folder: &Path, options: &[&str]) -> Command {
    let mut command = Command::new("strace");
    // Cargo sets this path for its own programs. Traced programs would search it, too.
    command
        .env_remove("LD_LIBRARY_PATH")
        .args(["-f", "-ttt", "-T", "-o", "capture"])
        .args(options)
        .current_dir(folder);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn walked(capture: &Path) -> Walked {
    let capture = capture.to_string_lossy().into_owned();
    let Ok(trace) = trace::ingest::read::read(&[vec![capture]], None, &mut |_, _| {}) else {
        panic!("a capture is readable")
    };
    let window = windows(&trace, &WindowChoice::default())[0];
    let segments = path(&trace, &Wakers::new(&trace), &window);
    assert_eq!(
        segments.iter().map(Segment::dur_ns).sum::<i64>(),
        window.wall_ns(),
        "all of the window, and no more"
    );
    Walked {
        trace,
        window,
        segments,
    }
}

/// The label of a charge, and whether the first task has it.
type Group = (Class, String, bool, bool);

impl Walked {
    fn group(&self, segment: &Segment) -> Group {
        let events = &self.trace.events;
        let syscall = segment
            .what
            .row()
            .map(|row| events.texts.string(events.shape(row).syscall).into_owned());
        (
            segment.class,
            syscall.unwrap_or_default(),
            segment.resolved,
            segment.task == TaskId::new(0),
        )
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

    fn check(
        &self,
        name: &str,
        class: Class,
        syscall: &str,
        resolved: bool,
        of_first: bool,
        at_least_ns: i64,
    ) {
        let groups: Vec<_> = self.groups().into_iter().take(4).collect();
        let expected: Group = (class, syscall.to_owned(), resolved, of_first);
        let first = groups
            .first()
            .unwrap_or_else(|| panic!("{name}: an empty path"));
        assert!(
            first.0 == expected && first.1 >= at_least_ns,
            "{name}: {expected:?} first, not {groups:?}"
        );
    }
}

const FILE_POLLED: &str = "(sleep @600; echo > made) & while [ ! -e made ]; do sleep @40; done";
const FILE_TESTED: &str =
    "(sleep @600; mv new made) & echo > new; while ! env test -e made; do sleep @40; done";

const FLOCK: &str =
    "mkfifo held; flock l sh -c 'echo > held; sleep @400' & read x < held; flock l true";

/// How the program is captured.
const OPTIONS: [&[&str]; 3] = [&[], &["-y"], &["-yy"]];

enum Program {
    Sh(&'static str),
    Python(&'static str),
}
use Program::{Python, Sh};

/// The script with seconds in place of units: `@300` of 2 ms is 0.600.
fn timed(script: &str, unit_ms: i64) -> String {
    let mut parts = script.split('@');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (units, rest) = part.split_at(
            part.find(|letter: char| !letter.is_ascii_digit())
                .unwrap_or(part.len()),
        );
        let ms = units.parse::<i64>().expect("a number of units") * unit_ms;
        text += &format!("{}.{:03}{rest}", ms / 1000, ms % 1000);
    }
    text
}

fn run(program: &Program, folder: &Path, unit_ms: i64, options: &[&str]) {
    let mut command = strace(folder, options);
    match program {
        Sh(script) => command.args(["sh", "-c", &timed(script, unit_ms)]),
        Python(script) => command
            .arg(python())
            .args(["-S", "-E", "-c", &timed(script, unit_ms)]),
    };
    command.status().expect("strace runs");
}

/// The name of a kept capture.
fn kept_name(name: &str, options: &[&str]) -> String {
    name.replace(' ', "-") + &options.concat()
}

const JOIN: &str = "
import threading, time
thread = threading.Thread(target=time.sleep, args=(@300,))
thread.start(); thread.join()";

const ONE_LOCK: &str = "
import threading, time
lock = threading.Lock()
def work():
    with lock: time.sleep(@50)
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]";

const SOCKETPAIR: &str = "
import os, socket, time
one, other = socket.socketpair()
if os.fork() == 0:
    one.close(); other.recv(9); time.sleep(@300); other.send(b'x'); time.sleep(@100); os._exit(0)
other.close(); one.send(b'x'); one.recv(9)";

const LOOPBACK: &str = "
import os, socket, time
listener = socket.socket(); listener.bind(('127.0.0.1', 0)); listener.listen()
if os.fork() == 0:
    server, _ = listener.accept(); server.recv(9); time.sleep(@300); server.send(b'x'); time.sleep(@100); os._exit(0)
client = socket.create_connection(listener.getsockname()); client.send(b'x'); client.recv(9)";

const ACCEPTED: &str = "
import os, socket, time
listener = socket.socket(); listener.bind(('127.0.0.1', 0)); listener.listen()
if os.fork() == 0:
    time.sleep(@300); client = socket.create_connection(listener.getsockname()); client.send(b'x'); os._exit(0)
server, _ = listener.accept(); server.recv(9)";

const EVENTFD: &str = "
import ctypes, os, threading, time
libc = ctypes.CDLL(None); counter = libc.eventfd(0, 0)
def work(): time.sleep(@300); os.write(counter, b'\\1' + b'\\0' * 7)
threading.Thread(target=work).start(); os.read(counter, 8)";

const TWO_POLLED: &str = "
import os, select, time
idle, _ = os.pipe(); ready, out = os.pipe()
if os.fork() == 0:
    time.sleep(@300); os.write(out, b'x'); time.sleep(@100); os._exit(0)
poll = select.poll(); poll.register(idle, 1); poll.register(ready, 1); poll.poll(); time.sleep(@10); os.read(ready, 1)";

const WATCHED: &str = "
import os, select, time
ready, out = os.pipe()
if os.fork() == 0:
    time.sleep(@300); os.write(out, b'x'); time.sleep(@100); os._exit(0)
poll = select.epoll(); poll.register(ready, 1); poll.poll(); time.sleep(@10); os.read(ready, 1)";

const FULL_PIPE: &str = "
import os, time
out, into = os.pipe()
if os.fork() == 0:
    os.close(into)
    for _ in range(6): time.sleep(@50); os.read(out, 65536)
    os._exit(0)
os.close(out); os.write(into, b'x' * 65536 * 5)";

const FCNTL: &str = "
import fcntl, os, time
def take():
    file = open('lock', 'w'); fcntl.lockf(file, fcntl.LOCK_EX); return file
started, out = os.pipe()
if os.fork() == 0:
    file = take(); os.write(out, b'x'); time.sleep(@300); fcntl.lockf(file, fcntl.LOCK_UN); time.sleep(@100); os._exit(0)
os.read(started, 1); take()";

const SPAWNED: &str = "
import os
os.waitpid(os.posix_spawn('/bin/sleep', ['sleep', '@300'], {}), 0)";

const BUSY: &str = "
import os, time
if os.fork() == 0:
    end = time.monotonic() + @300
    while time.monotonic() < end: pass
    os._exit(0)
os.wait()";

const STOPPED: &str = "
import os, signal, time
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGSTOP); os._exit(0)
os.waitpid(child, os.WUNTRACED)
if os.fork() == 0:
    time.sleep(@400); os.kill(child, signal.SIGCONT); os._exit(0)
os.waitpid(child, 0)";

/// Terminated by its parent, which sleeps first; it queries no other process.
const TOLD_TO_END: &str = "
import os, signal, time
ready, out = os.pipe()
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0)); os.write(out, b'x')
    while True: signal.pause()
os.read(ready, 1)
if os.fork() == 0:
    time.sleep(@300); os.kill(child, signal.SIGTERM); time.sleep(@100); os._exit(0)
os.waitpid(child, 0)";

const GROUP_KILLED: &str = "
import os, signal, time
ready, out = os.pipe()
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    if os.fork() == 0: time.sleep(1000)
    os.write(out, b'x'); time.sleep(1000)
os.read(ready, 1)
if os.fork() == 0:
    time.sleep(@300); os.kill(-child, signal.SIGKILL); time.sleep(@100); os._exit(0)
os.waitpid(child, 0)";

const ENDED_BY_THREAD: &str = "
import os, threading, time
def work(): time.sleep(@300); os._exit(0)
threading.Thread(target=work).start(); threading.Event().wait()";

const SIGNALFD: &str = "
import ctypes, os, signal, time
libc = ctypes.CDLL(None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
mask = (ctypes.c_ulong * 16)(); mask[0] = 1 << (signal.SIGUSR1 - 1)
arrived, parent = libc.signalfd(-1, mask, 0), os.getpid()
if os.fork() == 0:
    time.sleep(@300); os.kill(parent, signal.SIGUSR1); time.sleep(@100); os._exit(0)
os.read(arrived, 128)";

const QUEUES: &str = "
import ctypes, os, time
libc = ctypes.CDLL(None)
semaphore, queue = libc.semget(0, 1, 0o1600), libc.msgget(0, 0o1600)
class Change(ctypes.Structure): _fields_ = [('number', ctypes.c_ushort), ('by', ctypes.c_short), ('flags', ctypes.c_short)]
class Message(ctypes.Structure): _fields_ = [('kind', ctypes.c_long), ('text', ctypes.c_char * 8)]
if os.fork() == 0:
    time.sleep(@150); libc.semop(semaphore, ctypes.byref(Change(0, 1, 0)), 1)
    time.sleep(@150); libc.msgsnd(queue, ctypes.byref(Message(1, b'x')), 1, 0); time.sleep(@100); os._exit(0)
libc.semop(semaphore, ctypes.byref(Change(0, -1, 0)), 1); libc.msgrcv(queue, ctypes.byref(Message()), 8, 0, 0)
libc.semctl(semaphore, 0, 0); libc.msgctl(queue, 0, None)";

const TERMINAL: &str = "
import os, pty, time
child, master = pty.fork()
if child == 0:
    time.sleep(@200); os.write(1, b'x'); time.sleep(@100); os._exit(0)
os.read(master, 1)
try: os.read(master, 1)
except OSError: pass
os.waitpid(child, 0)";

/// A pipe that the child inherits and that its exec closes.
const CLOSED_BY_EXEC: &str = "
import os, time
out, into = os.pipe()
if os.fork() == 0:
    time.sleep(@300); os.execv('/bin/sleep', ['sleep', '@100'])
os.close(into); os.read(out, 1)";

const LOCK_TRIED: &str = "
import fcntl, os, time
held, out = os.pipe()
def take(): return os.open('lock', os.O_RDWR | os.O_CREAT)
if os.fork() == 0:
    file = take(); fcntl.flock(file, fcntl.LOCK_EX); os.write(out, b'x'); time.sleep(@400); fcntl.flock(file, fcntl.LOCK_UN)
    time.sleep(@100); os._exit(0)
os.read(held, 1); file = take()
while True:
    try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError: time.sleep(@10); continue
    break";

const FIFO: &str =
    "mkfifo fifo; (sleep @300; echo x > fifo; sleep @100) & exec 3< fifo; read x <&3";

#[test]
fn the_right_answer_comes_first() {
    let nap = "clock_nanosleep";
    // The name, the answer, and the units slept.
    let cases: Vec<(&str, Program, Class, &str, i64)> = vec![
        (
            "slow consumer",
            Sh("seq 3 | while read x; do sleep @100; done"),
            Class::Sleep,
            nap,
            300,
        ),
        (
            "two parallel children",
            Sh("sleep @100 & sleep @300 & wait"),
            Class::Sleep,
            nap,
            300,
        ),
        ("two on one flock", Sh(FLOCK), Class::Sleep, nap, 400),
        (
            "two on one fcntl lock",
            Python(FCNTL),
            Class::Sleep,
            nap,
            300,
        ),
        (
            "join of a slow thread",
            Python(JOIN),
            Class::Sleep,
            nap,
            300,
        ),
        (
            "eight threads on one lock",
            Python(ONE_LOCK),
            Class::Sleep,
            nap,
            400,
        ),
        ("socketpair", Python(SOCKETPAIR), Class::Sleep, nap, 300),
        ("loopback", Python(LOOPBACK), Class::Sleep, nap, 300),
        ("accept", Python(ACCEPTED), Class::Sleep, nap, 300),
        ("eventfd", Python(EVENTFD), Class::Sleep, nap, 300),
        ("poll of two", Python(TWO_POLLED), Class::Sleep, nap, 300),
        ("epoll", Python(WATCHED), Class::Sleep, nap, 300),
        ("full pipe", Python(FULL_PIPE), Class::Sleep, nap, 300),
        ("posix_spawn", Python(SPAWNED), Class::Sleep, nap, 300),
        (
            "time-out",
            Sh("timeout @300 sleep 100; true"),
            Class::Sleep,
            "rt_sigsuspend",
            300,
        ),
        (
            "killed",
            Sh("sleep 100 & p=$!; (sleep @300; kill -9 $p; sleep @100) & wait $p; true"),
            Class::Sleep,
            nap,
            300,
        ),
        ("told to end", Python(TOLD_TO_END), Class::Sleep, nap, 300),
        (
            "a group that is killed",
            Python(GROUP_KILLED),
            Class::Sleep,
            nap,
            300,
        ),
        (
            "ended by a thread",
            Python(ENDED_BY_THREAD),
            Class::Sleep,
            nap,
            300,
        ),
        ("signalfd", Python(SIGNALFD), Class::Sleep, nap, 300),
        ("queues", Python(QUEUES), Class::Sleep, nap, 300),
        ("terminal", Python(TERMINAL), Class::Sleep, nap, 300),
        (
            "closed by an exec",
            Python(CLOSED_BY_EXEC),
            Class::Sleep,
            nap,
            300,
        ),
        (
            "a lock that is tried",
            Python(LOCK_TRIED),
            Class::Sleep,
            nap,
            400,
        ),
        ("fifo", Sh(FIFO), Class::Sleep, nap, 300),
        ("busy child", Python(BUSY), Class::User, "", 300),
        ("stopped child", Python(STOPPED), Class::Stopped, "", 400),
    ];
    for (name, program, class, syscall, units) in cases {
        let check = &|options: &[&str]| {
            let kept = kept_name(name, options);
            let capture = |folder: &Path, unit_ms| run(&program, folder, unit_ms, options);
            judged(&kept, capture, |walked, unit_ms| {
                // A busy machine may start to wait late, so not all of it is on the path.
                let at_least_ns = units * unit_ms / 2 * MS;
                walked.check(&kept, class, syscall, true, false, at_least_ns);
            });
        };
        // They sleep most of the time, so they may run in parallel.
        std::thread::scope(|scope| {
            for options in OPTIONS {
                scope.spawn(move || check(options));
            }
        });
    }
}

/// Repeat the capture with a longer unit of time if a busy machine took more time than the program slept.
fn eventually(attempt: impl Fn(i64)) {
    let succeeds = |&unit_ms: &i64| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| attempt(unit_ms))).is_ok()
    };
    if ![1, 2, 4, 4, 8].iter().any(succeeds) {
        attempt(8);
    }
}

#[test]
fn a_shells_poll_is_charged_to_the_producing_job() {
    let scripts = [("file polled", FILE_POLLED), ("file tested", FILE_TESTED)];
    for ((name, script), options) in scripts.into_iter().zip(OPTIONS) {
        let capture = |folder: &Path, unit_ms| run(&Sh(script), folder, unit_ms, options);
        judged(&kept_name(name, options), capture, |walked, unit_ms| {
            walked.check(
                script,
                Class::Sleep,
                "clock_nanosleep",
                true,
                false,
                300 * unit_ms * MS,
            );
            let tasks = &walked.trace.tasks;
            let maker = walked
                .segments
                .iter()
                .max_by_key(|segment| segment.dur_ns())
                .expect("a path");
            assert_eq!(
                (maker.class, maker.tag),
                (Class::Sleep, Tag::Polled),
                "{script}"
            );
            let program = trace::store::tasks::program_at(tasks, maker.task, maker.start_ns)
                .expect("a program");
            let name = walked.trace.events.texts.string(program.path);
            assert!(
                name.ends_with("/sleep") && maker.dur_ns() > 300 * unit_ms * MS,
                "{script}: {name}"
            );
        });
    }
}

#[test]
fn only_the_slow_leaf_of_nested_makes_is_charged() {
    let capture = |folder: &Path, unit_ms| {
        let write = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).expect("the folder takes files")
        };
        write("Makefile", "all: a b\na b:\n\t$(MAKE) -f $@.mk\n");
        write("a.mk", &timed("all:\n\tsleep @50\n", unit_ms));
        let slow = "all: c d\nc:\n\tsleep @400\nd:\n\tsleep @300\n";
        write("b.mk", &timed(slow, unit_ms));
        let mut make = strace(folder, &["-y"]);
        make.args(["make", "-j4"]).status().expect("strace runs");
    };
    judged("nested-makes", capture, |walked, unit_ms| {
        walked.check(
            "make",
            Class::Sleep,
            "clock_nanosleep",
            true,
            false,
            200 * unit_ms * MS,
        );
        let (_, slept_ns) = walked.groups()[0];
        assert!(
            slept_ns < 600 * unit_ms * MS,
            "what ran beside the slow one is not charged: {slept_ns}"
        );
    });
}

/// A server that writes its port to a file.
const SERVER: &str = "
import os, socket
listener = socket.socket(); listener.bind(('127.0.0.1', 0)); listener.listen()
open('port.new', 'w').write(str(listener.getsockname()[1])); os.rename('port.new', 'port')
server, _ = listener.accept(); server.recv(9)";

/// The port once it is there; 0 after a timeout.
fn port(folder: &Path) -> u16 {
    let read = || {
        std::fs::read_to_string(folder.join("port"))
            .ok()
            .and_then(|text| text.trim().parse().ok())
    };
    wait_until(|| read().is_some());
    read().unwrap_or(0)
}

/// Whether strace has attached to a process.
fn is_traced(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| {
        line.strip_prefix("TracerPid:")
            .is_some_and(|tracer| tracer.trim() != "0")
    })
}

/// Wait for other processes, with a limit, so that a test may fail and print its location.
fn wait_until(is_so: impl Fn() -> bool) {
    (0..6000).take_while(|_| !is_so()).for_each(|_| sleep(10));
}

fn sleep(ms: i64) {
    std::thread::sleep(Duration::from_millis(ms.unsigned_abs()));
}

#[test]
fn a_client_outside_the_trace_leaves_the_wait_unresolved() {
    for options in OPTIONS {
        let capture = |folder: &Path, unit_ms| {
            use std::io::Write;
            let mut server = strace(folder, options);
            let mut server = server
                .arg(python())
                .args(["-S", "-E", "-c", SERVER])
                .spawn()
                .expect("strace runs");
            let mut client =
                std::net::TcpStream::connect(("127.0.0.1", port(folder))).expect("a server");
            sleep(300 * unit_ms);
            client.write_all(b"x").expect("a server");
            server.wait().expect("strace ends");
        };
        let kept = kept_name("client outside", options);
        judged(&kept, capture, |walked, unit_ms| {
            walked.check(
                &kept,
                Class::Network,
                "recvfrom",
                false,
                true,
                150 * unit_ms * MS,
            );
        });
    }
}

#[test]
fn an_attached_daemon_omits_its_idle_start() {
    let capture = |folder: &Path, unit_ms| {
        let mut daemon = Command::new(python());
        daemon.args(["-S", "-E", "-c", SERVER]).current_dir(folder);
        let mut daemon = daemon.spawn().expect("python runs");
        let port = port(folder);
        let mut tracer = strace(folder, &["-y"])
            .args(["-p", &daemon.id().to_string()])
            .spawn()
            .expect("strace runs");
        wait_until(|| is_traced(daemon.id()));
        sleep(400 * unit_ms);
        drop(std::net::TcpStream::connect(("127.0.0.1", port)).expect("the daemon listens"));
        daemon.wait().expect("the daemon ends");
        tracer.wait().expect("strace ends");
    };
    judged("attached-daemon", capture, |walked, unit_ms| {
        let Window {
            left_out_ns, root, ..
        } = walked.window;
        assert!(
            root.is_some() && left_out_ns > 200 * unit_ms * MS,
            "{left_out_ns} left out"
        );
        assert!(walked.window.wall_ns() < left_out_ns, "the rest is short");
    });
}
