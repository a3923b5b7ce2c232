//! Files of `strace -ff`: one trace, in the order of events as far as timestamps or causes determine it.

use parsers::LineKind;
use std::path::Path;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

fn write(folder: &Path, files: &[(i32, String)]) -> Vec<String> {
    let one = |(tid, text): &(i32, String)| {
        let path = folder.join(format!("t.{tid}"));
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    files.iter().map(one).collect()
}

fn read(files: &[(i32, String)]) -> Trace {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = write(folder.path(), files);
    trace::ingest::read::read(&[paths], None, &mut |_, _| {})
        .unwrap_or_else(|_| panic!("not read: {files:?}"))
}

/// Thread id and name of each call, in order.
fn order(trace: &Trace) -> Vec<(i32, String)> {
    let events = &trace.events;
    let name = |row| events.texts.string(events.shape(row).syscall).into_owned();
    (0..events.len())
        .map(|row| (trace.tasks[events.task(row)].tid, name(row)))
        .collect()
}

/// A creator that waits for its child, line by line with these timestamps.
fn family(stamps: [&str; 8]) -> Vec<(i32, String)> {
    let [exec, fork, wait, signal, end, first, exit, gone] = stamps;
    let creator = [
        format!("{exec}execve(\"/bin/a\", [\"a\"], 0x7ffd /* 3 vars */) = 0 <0.000100>"),
        format!("{fork}vfork() = 701 <0.000100>"),
        format!(
            "{wait}wait4(-1, [{{WIFEXITED(s) && WEXITSTATUS(s) == 3}}], 0, NULL) = 701 <0.000600>"
        ),
        format!(
            "{signal}--- SIGCHLD {{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=701, si_status=3}} ---"
        ),
        format!("{end}exit_group(0) = ?"),
    ];
    let child = [
        format!("{first}getpid() = 701 <0.000100>"),
        format!("{exit}exit_group(3) = ?"),
        format!("{gone}+++ exited with 3 +++"),
    ];
    vec![
        (700, creator.join("\n") + "\n"),
        (701, child.join("\n") + "\n"),
    ]
}

const CAUSES: [(i32, &str); 8] = [
    (700, "execve"),
    (700, "vfork"),
    (700, "wait4"),
    (701, "getpid"),
    (701, "exit_group"),
    (701, ""),
    (700, "SIGCHLD"),
    (700, "exit_group"),
];

fn in_order_of_causes(files: &[(i32, String)]) -> Trace {
    let trace = read(files);
    let told = order(&trace);
    let told: Vec<_> = told
        .iter()
        .map(|(tid, name)| (*tid, name.as_str()))
        .collect();
    assert_eq!(told, CAUSES);
    assert_eq!(
        (trace.tasks.raw[1].creator, trace.tasks.len()),
        (TaskId::new(0), 2)
    );
    trace
}

// Believed: timestamps order the lines. With -t they are equal for a second, and the file with the lower number went
// first.
#[test]
fn equal_stamps_are_in_the_order_of_causes() {
    in_order_of_causes(&family(["10:00:00 "; 8]));
}

#[test]
fn without_stamps_causes_alone_give_the_order() {
    in_order_of_causes(&family([""; 8]));
}

#[test]
fn one_counter_over_all_files_is_added_up_in_the_order_of_causes() {
    let steps = [0, 200, 100, 100, 100, 300, 200, 100].map(|step| format!("     0.{step:06} "));
    let trace = in_order_of_causes(&family(steps.each_ref().map(String::as_str)));
    let capture = &trace.captures[0];
    assert!(capture.is_order_inferred && capture.has_wall_clock());
    assert_eq!(capture.last_ns - capture.first_ns, 1_100_000);
}

#[test]
fn a_counter_without_durations_is_no_clock() {
    let step = "     0.000100 ";
    let files: Vec<_> = family([step; 8])
        .into_iter()
        .map(|(tid, text)| (tid, text.replace(" <0.000100>", "")))
        .collect();
    let files: Vec<_> = files
        .into_iter()
        .map(|(tid, text)| (tid, text.replace(" <0.000600>", "")))
        .collect();
    let trace = in_order_of_causes(&files);
    assert!(!trace.captures[0].is_order_inferred && !trace.captures[0].has_wall_clock());
}

// Believed: each file shows its format. The file of a thread may have one line, which is too little evidence.
#[test]
fn a_file_of_one_line_has_the_format_of_the_others() {
    let leader = "\
10:00:00.000000 execve(\"/bin/a\", [\"a\"], 0x7ffd /* 3 vars */) = 0
10:00:00.000100 clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 701
10:00:00.000300 +++ superseded by execve in pid 701 +++
10:00:00.000400 <... execve resumed>) = 0
10:00:00.000500 exit_group(0) = ?
";
    let thread = "10:00:00.000200 [  59] execve(\"/bin/b\", [\"b\"], 0x7ffd /* 3 vars */ <pid changed to 700 ...>\n";
    let numbered = leader
        .replace("00 execve(", "00 [  59] execve(")
        .replace("00 clone3", "00 [ 435] clone3");
    let numbered = numbered
        .replace("00 +++", "00 [  59] +++")
        .replace("00 <...", "00 [  59] <...");
    let trace = read(&[
        (
            700,
            numbered.replace("00 exit_group", "00 [ 231] exit_group"),
        ),
        (701, thread.to_owned()),
    ]);
    assert_eq!(trace.captures[0].lines_of(LineKind::Foreign), 0);
    assert_eq!(
        trace
            .tasks
            .iter()
            .filter(|task| task.creator == TaskId::NONE)
            .count(),
        1
    );
}

// Believed: the program after an execve by a thread is unknown. The thread's file shows it, up to the change of the id.
#[test]
fn a_thread_that_takes_over_its_process_runs_its_program() {
    let leader = "\
10:00:00.000000 execve(\"/bin/a\", [\"a\"], 0x7ffd /* 3 vars */) = 0
10:00:00.000100 clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 701
10:00:00.000300 +++ superseded by execve in pid 701 +++
10:00:00.000400 <... execve resumed>) = 0
10:00:00.000500 exit_group(0) = ?
";
    let thread = "10:00:00.000200 execve(\"/bin/b\", [\"b\"], 0x7ffd /* 3 vars */ <pid changed to 700 ...>\n";
    let trace = read(&[(700, leader.to_owned()), (701, thread.to_owned())]);
    let programs: Vec<_> = trace
        .tasks
        .iter()
        .flat_map(|task| &task.programs)
        .map(|program| program.path)
        .collect();
    assert_eq!(
        programs
            .iter()
            .map(|&path| trace.events.texts.string(path))
            .collect::<Vec<_>>(),
        ["/bin/a", "/bin/b"]
    );
}

#[test]
fn more_files_than_can_be_open_at_a_time_are_one_capture() {
    let line = |at: i32| format!("1795249401.{:06} getpid() = {at} <0.000010>\n", at % 1000);
    let files: Vec<_> = (1..1500)
        .map(|tid| (tid, (0..40).map(|at| line(at * 20)).collect()))
        .collect();
    let trace = read(&files);
    assert_eq!(trace.captures[0].lines(), 1499 * 40);
    assert_eq!(trace.captures[0].backward_steps, 0);
}
