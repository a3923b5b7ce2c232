use crate::ingest::read::*;
use std::fmt::Write;

mod cells;

/// Repeated lines, in all states that their task may be in.
fn capture(decorated: bool) -> String {
    let mut text = String::new();
    let fd = if decorated { "3</etc/passwd>" } else { "3" };
    for iteration in 0..400u32 {
        let (tid, other) = (10 + iteration % 3, 10 + (iteration + 1) % 3);
        let at = |step: u32| format!("1795224170.{:06}", iteration * 100 + step);
        let _ = writeln!(
            text,
            "{tid} {} openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = {fd} <0.000011>",
            at(0)
        );
        let _ = writeln!(
            text,
            "{tid} {} read({fd}, \"x\", 1) = 1 <0.0000{}>",
            at(10),
            10 + iteration % 10
        );
        let _ = writeln!(text, "{other} {} read({fd},  <unfinished ...>", at(20));
        let _ = writeln!(text, "{tid} {} getpid() = 10 <0.000001>", at(21));
        // A call of a task inside another call: that one never returned.
        let _ = writeln!(text, "{other} {} getpid() = 10 <0.000001>", at(22));
        let _ = writeln!(
            text,
            "{tid} {} stat(\"/none\", 0x7f) = -1 ENOENT (No such file) <0.000002>",
            at(30)
        );
        let _ = writeln!(
            text,
            "{tid} {} socket(AF_INET, SOCK_STREAM, 0) = 5 <0.000002>",
            at(40)
        );
        let _ = writeln!(
            text,
            "{tid} {} sendto(5<socket:[77]>, \"x\", 1, 0, NULL, 0) = 1 <0.000002>",
            at(41)
        );
        let _ = writeln!(text, "{tid} {} close(5) = 0 <0.000002>", at(42));
        let _ = writeln!(text, "{tid} {} close({fd}) = 0", at(43));
        halves(&mut text, tid, iteration, fd, at);
        if iteration % 20 == 7 {
            let _ = writeln!(
                text,
                "{tid} {} vfork() = {} <0.000300>",
                at(50),
                1000 + iteration
            );
            let _ = writeln!(
                text,
                "{} {} getpid() = 10 <0.000001>",
                1000 + iteration,
                at(51)
            );
            let _ = writeln!(text, "{} {} exit_group(0) = ?", 1000 + iteration, at(52));
            let _ = writeln!(
                text,
                "{} {} getpid() = 10 <0.000001>",
                1000 + iteration,
                at(53)
            );
            let _ = writeln!(
                text,
                "{} {} +++ exited with 0 +++",
                1000 + iteration,
                at(54)
            );
        }
    }
    text
}

/// Second halves that end a call, one that does not fit, one without a duration, one without a first half, one that is
/// split again, and calls whose first half contains more than others.
fn halves(text: &mut String, tid: u32, iteration: u32, fd: &str, at: impl Fn(u32) -> String) {
    let _ = writeln!(
        text,
        "{tid} {} openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY <unfinished ...>",
        at(44)
    );
    let _ = writeln!(
        text,
        "{tid} {} <... openat resumed>) = {fd} <0.000002>",
        at(45)
    );
    let _ = writeln!(text, "{tid} {} read({fd},  <unfinished ...>", at(46));
    let _ = writeln!(
        text,
        "{tid} {} <... read resumed>\"x\", 1) = {} <0.000002>",
        at(47),
        iteration % 3
    );
    let _ = writeln!(
        text,
        "{tid} {} access(\"/etc/none\", R_OK <unfinished ...>",
        at(48)
    );
    let _ = writeln!(
        text,
        "{tid} {} <... getuid resumed>) = 0 <0.000001>",
        at(48)
    );
    let _ = writeln!(
        text,
        "{tid} {} <... access resumed>) = -1 ENOENT (No such file) <0.000001>",
        at(49)
    );
    let _ = writeln!(
        text,
        "{tid} {} <... access resumed>) = -1 ENOENT (No such file) <0.000001>",
        at(49)
    );
    let _ = writeln!(
        text,
        "{tid} {} futex(0x7f01, FUTEX_WAIT, 1, {{tv_sec=1, tv_nsec=0}} <unfinished ...>",
        at(55)
    );
    let _ = writeln!(text, "{tid} {} <... futex resumed>) = 0 <0.000001>", at(56));
    let _ = writeln!(text, "{tid} {} close({fd} <unfinished ...>", at(57));
    let _ = writeln!(
        text,
        "{tid} {} <... close resumed> <unfinished ...>",
        at(58)
    );
    let dur = if iteration.is_multiple_of(2) {
        " <0.000001>"
    } else {
        ""
    };
    let _ = writeln!(text, "{tid} {} <... close resumed>) = 0{dur}", at(59));
}

/// A file read in cells of this size, optionally without the fast path for repeated lines.
fn read_as(
    path: &str,
    format: Option<&'static dyn Format>,
    cell_bytes: u64,
    is_plain: bool,
) -> Result<Trace, ReadError> {
    let mut trace = Trace::default();
    let bytes = std::fs::read(path).expect("a file");
    let (name, reader) = reader_for(
        path,
        Head {
            bytes: &bytes,
            complete: true,
        },
        format,
        None,
    )?;
    let capture = new_capture(&trace, &[path.to_owned()], name, reader.as_ref(), None);
    let assembler = Assembler::new(&mut trace, capture);
    let run = Run::new(if is_plain {
        assembler
    } else {
        assembler.without_fast_path()
    });
    let file = Seekable::open(Path::new(path))
        .expect("a file")
        .with_cell_bytes(cell_bytes);
    run.file(path, reader.as_ref(), &file, &mut |_, _| ())?;
    trace.index();
    Ok(trace)
}

fn assert_same(one: &Trace, other: &Trace) {
    assert_eq!(one.events.len(), other.events.len());
    for row in 0..one.events.len() {
        assert_eq!(one.events.event(row), other.events.event(row), "row {row}");
    }
    assert_eq!(one.events.shapes(), other.events.shapes());
    assert_eq!(one.events.facts, other.events.facts);
    assert_eq!(one.events.ends, other.events.ends);
    assert_eq!(format!("{:?}", one.tasks), format!("{:?}", other.tasks));
    assert_eq!(
        format!("{:?}", one.captures),
        format!("{:?}", other.captures)
    );
    assert!(
        one.tasks
            .keys()
            .all(|task| one.rows_of(task) == other.rows_of(task))
    );
}

#[test]
fn a_call_whose_body_came_before_is_taken_in_like_any_other() {
    for decorated in [true, false] {
        let text = capture(decorated);
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        io::Write::write_all(&mut file, text.as_bytes()).expect("written");
        let path = file.path().to_string_lossy();
        let [plain, slow] = [true, false].map(|is_plain| {
            read_as(&path, None, 5000, is_plain).unwrap_or_else(|error| panic!("{error:?}"))
        });
        assert_eq!(plain.captures[0].lines(), text.lines().count() as u64);
        assert_same(&plain, &slow);
    }
}
