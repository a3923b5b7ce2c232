//! Stacks: the frames after a line belong to its event, whatever is between, and sums by function are complete.

use parsers::{LineKind, Text};
use proptest::prelude::*;
use trace::store::trace::Trace;

fn read_files(files: &[(&str, String)]) -> Trace {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let paths: Vec<String> = files.iter().map(|(name, _)| path(name)).collect();
    for (path, (_, text)) in paths.iter().zip(files) {
        std::fs::write(path, text).expect("a file");
    }
    trace::ingest::read::read(&[paths], None, &mut |_, _| {}).expect("a trace")
}

fn read(text: &str) -> Trace {
    read_files(&[("trace.strace", text.to_owned())])
}

fn text(trace: &Trace, text: Text) -> String {
    trace.events.texts.string(text).into_owned()
}

/// Name of each event, its functions from the outermost to the innermost, and the function of the program.
fn stacks(trace: &Trace) -> Vec<(String, String, String)> {
    let events = &trace.events;
    let of = |row: u32| {
        let frames = events
            .stacks
            .of(row)
            .into_iter()
            .flat_map(|stack| events.stacks.frames(stack));
        let functions: Vec<String> = frames.map(|frame| text(trace, frame.function)).collect();
        let user = text(trace, events.stacks.user_frame(row).function);
        (
            text(trace, events.shape(row).syscall),
            functions.join(" "),
            user,
        )
    };
    (0..events.len()).map(of).collect()
}

fn expected(rows: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    rows.iter()
        .map(|&(name, stack, user)| (name.to_owned(), stack.to_owned(), user.to_owned()))
        .collect()
}

const LIBC: &str = "/usr/lib/libc.so.6";

#[test]
fn frames_belong_to_the_event_before_them() {
    let trace = read(&format!(
        "7 1795224170.000001 read(3, \"x\", 1) = 1 <0.000012>
 > {LIBC}(__read+0xd) [0x10]
 > /srv/quota(lookup+0x2) [0x20]
 > /srv/quota(main+0x3) [0x30]
7 1795224170.000101 --- SIGALRM {{si_signo=SIGALRM, si_code=SI_KERNEL}} ---
 > /srv/quota(on_alarm+0x2) [0x20]
hello from the program
7 1795224170.000201 getpid() = 7 <0.000001>
7 1795224170.000301 exit_group(0) = ?
7 1795224170.000401 +++ exited with 0 +++
 > {LIBC}(_exit+0x2) [0x20]
 > /srv/quota(main+0x9) [0x30]
"
    ));
    let rows = [
        ("read", "main lookup __read", "lookup"),
        ("SIGALRM", "on_alarm", "on_alarm"),
        ("getpid", "", ""),
        ("exit_group", "main _exit", "main"),
        ("", "", ""),
    ];
    assert_eq!(stacks(&trace), expected(&rows));
    assert_eq!(trace.captures[0].lines_of(LineKind::Continuation), 6);
}

#[test]
fn frames_after_a_second_half_belong_to_its_call() {
    let trace = read(&format!(
        "7 1795224170.000001 read(3,  <unfinished ...>
8 1795224170.000101 getpid() = 7 <0.000012>
 > /srv/quota(other+0x2) [0x20]
7 1795224170.000201 <... read resumed>\"x\", 1) = 1 <0.000200>
 > {LIBC}(__read+0xd) [0x10]
 > /srv/quota(lookup+0x2) [0x20] quota.c:118
8 1795224170.000301 write(2, \"half
\", 5) = 5 <0.000010>
 > /srv/quota(print+0x2) [0x20] quota.c:7
"
    ));
    let rows = [
        ("read", "lookup __read", "lookup"),
        ("getpid", "other", "other"),
        ("write", "print", "print"),
    ];
    assert_eq!(stacks(&trace), expected(&rows));
    assert_eq!(
        text(&trace, trace.events.stacks.user_frame(0).source),
        "quota.c:118"
    );
}

#[test]
fn a_killed_call_has_the_stack_after_the_end_of_its_task() {
    for read_end in [
        "",
        "7 1795224170.000301 <... read resumed> <unfinished ...>) = ?\n",
    ] {
        let trace = read(&format!(
            "7 1795224170.000001 read(3,  <unfinished ...>
8 1795224170.000101 kill(7, SIGKILL) = 0 <0.000012>
{read_end}7 1795224170.000401 +++ killed by SIGKILL +++
 > /srv/quota(lookup+0x2) [0x20]
8 1795224170.000501 +++ exited with 0 +++
"
        ));
        assert_eq!(
            stacks(&trace)[..2],
            expected(&[("read", "lookup", "lookup"), ("kill", "", "")])
        );
    }
}

#[test]
fn frames_of_one_file_stay_with_the_lines_of_that_file() {
    let file = |name: &str, stamps: [&str; 2]| {
        let call = |stamp: &str, at: usize| {
            format!(
                "{stamp} read(3, \"x\", 1) = 1 <0.000012>\n > /srv/{name}(inner{at}+0x1) [0x1]\n > /srv/{name}(main+0x1) [0x1]\n"
            )
        };
        call(stamps[0], 0) + &call(stamps[1], 1)
    };
    for stamps in [
        ["1795224170.000001", "1795224170.000001"],
        ["0.000000", "0.000000"],
    ] {
        let trace = read_files(&[("t.7", file("a", stamps)), ("t.8", file("b", stamps))]);
        let events = &trace.events;
        for row in 0..events.len() {
            let stack = events.stacks.of(row).expect("a stack");
            let modules: Vec<String> = events
                .stacks
                .frames(stack)
                .map(|frame| text(&trace, frame.module))
                .collect();
            let own = if trace.tasks[events.task(row)].tid == 7 {
                "/srv/a"
            } else {
                "/srv/b"
            };
            assert_eq!(modules, [own, own], "row {row} with {stamps:?}");
        }
    }
}

#[test]
fn frames_before_the_first_event_belong_to_none() {
    let trace =
        read(" > /srv/quota(main+0x2) [0x20]\n7 1795224170.000001 getpid() = 7 <0.000012>\n");
    assert!(trace.events.stacks.is_empty());
}

#[test]
fn a_static_program_has_wrappers_of_its_own() {
    let trace = read(
        "7 1795224170.000001 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=1}, NULL) = 0 <0.000012>
 > /srv/app(__clock_nanosleep+0x2) [0x20]
 > /srv/app(usleep+0x2) [0x20]
 > /srv/app(settle+0x2) [0x20]
7 1795224170.000101 connect(3, {sa_family=AF_UNIX, sun_path=\"/run/x\"}, 110) = 0 <0.000012>
 > /usr/lib/libc.so.6(__connect+0x2) [0x20]
 > /srv/app(connect+0x2) [0x20]
 > /srv/app(main+0x2) [0x20]
7 1795224170.000201 openat(AT_FDCWD, \"x\", O_RDONLY) = 3 <0.000012>
 > /usr/lib/libc.so.6(__open+0x2) [0x20]
 > /srv/app(std::sys::unix::fs::File::open_c+0x2) [0x20]
 > /srv/app(app::read_settings+0x2) [0x20]
",
    );
    let users: Vec<String> = stacks(&trace).into_iter().map(|(.., user)| user).collect();
    assert_eq!(users, ["settle", "connect", "app::read_settings"]);
}

#[test]
fn a_stack_of_a_runtime_only_has_its_innermost_function() {
    let trace = read(
        "7 1795224170.000001 futex(0x55, FUTEX_WAIT_PRIVATE, 0, NULL) = 0 <0.000012>
 > /srv/app(runtime.futex+0x2) [0x20]
 > /srv/app(runtime.mstart+0x2) [0x20]
7 1795224170.000101 brk(NULL) = 0x1 <0.000012>
 > /usr/lib/ld-linux-x86-64.so.2(__brk+0x2) [0x20]
 > /usr/lib/ld-linux-x86-64.so.2(_start+0x2) [0x20]
7 1795224170.000201 exit_group(0) = ?
 > /usr/lib/libc.so.6(_exit+0x2) [0x20]
 > /srv/app(_start+0x2) [0x20]
",
    );
    let users: Vec<String> = stacks(&trace).into_iter().map(|(.., user)| user).collect();
    assert_eq!(users, ["runtime.futex", "", ""]);
}

#[test]
fn a_very_deep_stack_is_bounded() {
    let mut deep = "7 1795224170.000001 getpid() = 7 <0.000012>\n".to_owned();
    for at in 0..5000 {
        deep += &format!(" > /srv/app(f{at}+0x2) [0x20]\n");
    }
    let trace = read(&deep);
    let stack = trace.events.stacks.of(0).expect("a stack");
    assert!((256..=1024).contains(&trace.events.stacks.frames(stack).count()));
    assert_eq!(trace.captures[0].lines_of(LineKind::Continuation), 5000);
}

proptest! {
    #[test]
    fn each_call_has_the_frames_that_were_printed_after_it(
        calls in prop::collection::vec((0i32..3, prop::collection::vec(0u8..5, 0..6), any::<bool>()), 1..40)
    ) {
        let (mut lines, mut wanted) = (String::new(), Vec::new());
        for (at, (tid, functions, split)) in calls.iter().enumerate() {
            let (tid, at) = (tid + 100, at * 10);
            if *split {
                lines += &format!("{tid} 1795224170.{at:06} getppid( <unfinished ...>\n");
                lines += &format!("{tid} 1795224170.{:06} <... getppid resumed>) = 1 <0.000003>\n", at + 5);
            } else {
                lines += &format!("{tid} 1795224170.{at:06} getppid() = 1 <0.000003>\n");
            }
            for function in functions {
                lines += &format!(" > /srv/app(f{function}+0x1{function}) [0x20]\n");
            }
            let outward: Vec<String> = functions.iter().rev().map(|function| format!("f{function}")).collect();
            wanted.push(outward.join(" "));
        }
        let found: Vec<String> = stacks(&read(&lines)).into_iter().map(|(_, stack, _)| stack).collect();
        prop_assert_eq!(found, wanted);
    }
}
