//! The result of reading must not depend on the number of cores, nor on their caches of earlier lines.

use std::collections::BTreeMap;
use std::fmt::Write;
use trace::ingest::read;
use trace::store::trace::Trace;

/// A capture of several chunks: repeated lines, unique lines, long lines, halves, children.
fn capture() -> String {
    let mut text = String::new();
    for turn in 0..30_000u32 {
        let at = format!("1795224170.{:06}", turn * 30);
        let tid = 10 + turn % 3;
        // More different texts than the caches hold.
        let path = format!(
            "/srv/{}/{}",
            "d".repeat((turn % 200) as usize),
            turn / (1 + turn % 5)
        );
        let _ = writeln!(
            text,
            "{tid} {at} openat(AT_FDCWD, \"{path}\", O_RDONLY) = 3 <0.000011>"
        );
        let _ = writeln!(
            text,
            "{tid} {at} read(3, \"x\", 1) = 1 <0.00001{}>",
            turn % 10
        );
        let _ = writeln!(
            text,
            "{tid} {at} poll([{{fd=3, events=POLLIN}}], 1, 20) = 0 (Timeout) <0.020000>"
        );
        let _ = writeln!(
            text,
            "{tid} {at} stat(\"/etc/{}\", 0x7ffc) = -1 ENOENT (No such file) <0.000002>",
            turn % 700
        );
        if turn % 50 == 0 {
            let child = 1000 + turn;
            let _ = writeln!(text, "{tid} {at} vfork( <unfinished ...>");
            let _ = writeln!(
                text,
                "{child} {at} execve(\"/bin/true\", [\"true\"], 0x7ffc) = 0 <0.000200>"
            );
            let _ = writeln!(text, "{child} {at} +++ exited with 0 +++");
            let _ = writeln!(text, "{tid} {at} <... vfork resumed>) = {child} <0.000300>");
        }
    }
    text
}

fn read_with(threads: usize, paths: &[String]) -> Trace {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads");
    let read = || read::read(&[paths.to_vec()], None, &mut |_, _| ());
    pool.install(read)
        .unwrap_or_else(|error| panic!("{error:?}"))
}

fn assert_same(one: &Trace, other: &Trace) {
    assert_eq!(one.events.len(), other.events.len());
    assert!(one.events.len() > 100_000);
    for row in 0..one.events.len() {
        assert_eq!(one.events.event(row), other.events.event(row), "row {row}");
    }
    assert_eq!(one.events.shapes(), other.events.shapes());
    assert_eq!(one.events.facts, other.events.facts);
    assert!(
        one.events.texts.added().eq(other.events.texts.added()),
        "texts have the same numbers"
    );
    assert_eq!(format!("{:?}", one.tasks), format!("{:?}", other.tasks));
    assert_eq!(
        format!("{:?}", one.captures),
        format!("{:?}", other.captures)
    );
}

#[test]
fn a_capture_is_the_same_trace_on_any_number_of_cores() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = capture();
    std::fs::write(file.path(), &text).expect("written");
    assert_same_on_any_number_of_cores(&[file.path().to_string_lossy().into_owned()], &text);
}

#[test]
fn files_per_task_are_the_same_trace_on_any_number_of_cores() {
    let (folder, text) = (tempfile::tempdir().expect("a folder"), capture());
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for (task, line) in text.lines().filter_map(|line| line.split_once(' ')) {
        let _ = writeln!(files.entry(task).or_default(), "{line}");
    }
    let write = |(task, lines)| {
        let path = folder.path().join(format!("log.{task}"));
        std::fs::write(&path, lines).expect("written");
        path.to_string_lossy().into_owned()
    };
    let paths: Vec<String> = files.into_iter().map(write).collect();
    assert_same_on_any_number_of_cores(&paths, &text);
}

fn assert_same_on_any_number_of_cores(paths: &[String], text: &str) {
    let alone = read_with(1, paths);
    assert_eq!(alone.captures[0].lines(), text.lines().count() as u64);
    for threads in [2, 5] {
        assert_same(&alone, &read_with(threads, paths));
    }
}
