//! What a capture shows about itself: the cost of tracing, calls that must be missing, children that were not followed.

use path::critical_path::trust::{Trust, trust};
use std::io::Write;

fn of(lines: &[String]) -> Trust {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    file.write_all((lines.join("\n") + "\n").as_bytes())
        .expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    let trace = trace::ingest::read::read(&[capture], None, &mut |_, _| {})
        .unwrap_or_else(|_| panic!("not read: {lines:?}"));
    trust(&trace, 0).expect("a capture")
}

fn lines(text: &[&str]) -> Vec<String> {
    text.iter().map(|&line| line.to_owned()).collect()
}

const BEGIN: &str =
    r#"7 1795249401.000000 execve("/bin/a", ["a"], 0x7ffd /* 3 vars */) = 0 <0.000300>"#;
const END: &str = "7 1795249401.100000 +++ exited with 0 +++";

#[test]
fn light_calls_measure_the_cost_of_tracing() {
    // A call each 2 ms: the time between belongs to the program.
    let apart = of(&calls(2_000));
    assert_eq!(apart.overhead_floor_ns.map(|ns| ns / 1_000), Some(4));
    // 22 calls in 100 ms.
    let share = apart.overhead_share.expect("a window");
    assert!((0.0008..0.0011).contains(&share), "{share}");
}

#[test]
fn the_stop_after_a_call_is_part_of_the_tracing_cost() {
    // Nearly nothing but calls, 20 µs from one to the next.
    assert_eq!(
        of(&calls(20)).overhead_floor_ns.map(|ns| ns / 1_000),
        Some(20)
    );
}

/// Twenty calls that do nothing, at this interval in microseconds.
fn calls(step_us: usize) -> Vec<String> {
    let mut all = lines(&[BEGIN]);
    let call = |at: usize| {
        format!(
            "7 1795249401.{:06} getpid() = 7 <0.{:06}>",
            1_000 + at * step_us,
            4 + at / 2
        )
    };
    all.extend((0..20).map(call));
    all.extend(lines(&["7 1795249401.099900 exit_group(0) = ?", END]));
    all
}

#[test]
fn the_fastest_light_syscall_gives_the_median() {
    let call = |name: &str, us: usize| format!("7 1795249401.001000 {name}() = 7 <0.{us:06}>");
    let mut all = lines(&[BEGIN]);
    // Each close is slow here, and the machine is busy in three of ten calls of the other kind.
    all.extend((0..40).map(|_| call("close", 30_000)));
    all.extend((0..10).map(|at| call("umask", if at < 3 { 4_000 } else { 50 })));
    // Too few for a result.
    all.extend((0..9).map(|_| call("getuid", 1)));
    assert!((49_000..51_000).contains(&of(&all).quick_ns));
    assert_eq!(of(&lines(&[BEGIN, &call("umask", 1)])).quick_ns, 0);
}

#[test]
fn few_calls_or_a_coarse_clock_give_no_tracing_cost() {
    assert_eq!(
        of(&lines(&[BEGIN, "7 1795249401.01 getpid() = 7 <0.000004>"])).overhead_floor_ns,
        None
    );
    let coarse: Vec<String> = (0..20)
        .map(|_| "7 1795249401 getpid() = 7 <0>".to_owned())
        .collect();
    assert_eq!(of(&coarse).overhead_floor_ns, None);
}

#[test]
fn a_program_that_ends_without_the_call_that_ends_it_was_filtered() {
    let open = r#"7 1795249401.01 openat(AT_FDCWD, "/x", O_RDONLY) = 3 <0.000010>"#;
    let exit = "7 1795249401.099900 exit_group(0) = ?";
    let filtered = of(&lines(&[BEGIN, open, END]));
    assert!(filtered.filtered);
    assert_eq!(filtered.families, ["file", "process"]);
    let memory = "7 1795249401.01 brk(NULL) = 0x55d0 <0.000010>";
    assert!(!of(&lines(&[BEGIN, memory, open, exit, END])).filtered);
    // Killed: no call ends it.
    assert!(
        !of(&lines(&[
            BEGIN,
            memory,
            open,
            "7 1795249401.1 +++ killed by SIGKILL +++"
        ]))
        .filtered
    );
    // Attached, then detached.
    assert!(!of(&lines(&[open])).filtered);
    // -e trace=process
    assert!(of(&lines(&[BEGIN, exit, END])).filtered);
    // -e trace=desc,process has mmap, but no other call that programs make when they start.
    let map = "7 1795249401.01 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f00 <0.000010>";
    let long = |more: &str| {
        of(&lines(
            &[&[BEGIN, more][..], &[map; 120], &[exit, END]].concat(),
        ))
        .filtered
    };
    assert!(long(open));
    assert!(!long(memory));
}

#[test]
fn children_without_lines_were_not_followed() {
    let alone = [
        "execve(\"/bin/a\", [\"a\"], 0x7ffd /* 3 vars */) = 0",
        "vfork() = 8",
        "close(3) = 0",
    ];
    assert!(of(&lines(&alone)).has_unfollowed_children);
    let followed = [
        BEGIN,
        "7 1795249401.01 vfork() = 8 <0.000010>",
        "8 1795249401.02 close(3) = 0 <0.000010>",
    ];
    assert!(!of(&lines(&followed)).has_unfollowed_children);
    let lost = [
        followed[0],
        followed[1],
        followed[2],
        "7 1795249401.03 vfork() = 9 <0.000010>",
    ];
    assert!(!of(&lines(&lost)).has_unfollowed_children);
}

#[test]
fn a_wait_for_a_lock_is_not_a_call_that_does_nothing() {
    let with = |long: &str| {
        let mut all = calls(2_000);
        all.insert(2, format!("7 1795249401.000500 {long} = 0 <0.400000>"));
        of(&all).tracing
    };
    let lock =
        "fcntl(3</run/l>, F_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0})";
    assert_eq!(with(lock), of(&calls(2_000)).tracing);
}
