//! A capture gives the same trace regardless of the size of the cells, and of the core that reads each cell.

use crate::ingest::read::tests::read_as;
use crate::store::event;
use crate::store::tasks::Task;
use crate::store::trace::Trace;
use parsers::facts::{Fds, Timeout, WaitedChild};
use parsers::line::Ended;
use parsers::{Head, Text};
use proptest::prelude::*;

/// Some lines of each format.
const TEXTS: [&[u8]; 9] = [
    include_bytes!("../../../../../../parsers/benches/texts/dtruss.txt"),
    include_bytes!("../../../../../../parsers/benches/texts/kdump.txt"),
    include_bytes!("../../../../../../parsers/benches/texts/kernel_log.txt"),
    include_bytes!("../../../../../../parsers/benches/texts/ltrace.txt"),
    include_bytes!("../../../../../../parsers/benches/texts/perf_trace.txt"),
    include_bytes!("../../../../../../parsers/benches/texts/strace.txt"),
    include_bytes!("../../../../../../parsers/benches/texts/truss_aix.txt"),
    include_bytes!("../../../../../../parsers/benches/texts/truss_freebsd.txt"),
    include_bytes!("../../../../../../parsers/benches/texts/truss_solaris.txt"),
];

/// What is done to a line.
#[derive(Clone, Debug)]
enum Change {
    Cut(prop::sample::Index),
    Byte(prop::sample::Index, u8),
    End(&'static [u8]),
}

fn changes() -> impl Strategy<Value = Option<Change>> {
    let change = prop_oneof![
        any::<prop::sample::Index>().prop_map(Change::Cut),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        prop::sample::select(vec![&b"\r"[..], b"\n", b" ", b"\0"]).prop_map(Change::End),
    ];
    prop::option::weighted(0.2, change)
}

fn changed(line: &[u8], change: Option<&Change>) -> Vec<u8> {
    let mut line = line.to_vec();
    match change {
        Some(Change::Cut(at)) => line.truncate(at.index(line.len() + 1)),
        Some(Change::Byte(at, byte)) if !line.is_empty() => {
            let at = at.index(line.len());
            line[at] = *byte;
        }
        Some(Change::End(end)) => line.extend_from_slice(end),
        _ => {}
    }
    line
}

/// The content of a trace. Texts are compared instead of their numbers, which depend on the cells.
fn contents(trace: &Trace) -> Vec<String> {
    let text = |text: Text| trace.events.texts.string(text).into_owned();
    let event = |row: u32| {
        let (event, shape) = (trace.events.event(row), trace.events.shape(row));
        let texts = [
            event.target,
            shape.syscall,
            shape.op,
            shape.target,
            shape.errno,
        ]
        .map(text);
        format!(
            "{texts:?} {:?}",
            event::Event {
                target: Text::NONE,
                ..event
            }
        )
    };
    let task = |task: &Task| {
        let programs: Vec<_> = task
            .programs
            .iter()
            .map(|program| (program.from_ns, text(program.path), text(program.argv)))
            .collect();
        let killed = match task.ended {
            Some(Ended::Killed(signal)) => text(signal),
            _ => String::new(),
        };
        let ended = task.ended.map(|ended| {
            if killed.is_empty() {
                ended
            } else {
                Ended::Killed(Text::NONE)
            }
        });
        format!(
            "{programs:?} {killed} {:?}",
            Task {
                programs: Vec::new(),
                ended,
                ..task.clone()
            }
        )
    };
    let events = &trace.events;
    let lists = format!(
        "{:?} {:?} {:?} {:?}",
        events.facts.all::<Timeout>(),
        events.facts.all::<Fds>(),
        events.ends,
        events.facts.all::<WaitedChild>()
    );
    let rows = trace
        .tasks
        .keys()
        .map(|task| format!("{:?}", trace.rows_of(task)));
    let captures = trace.captures.iter().map(|capture| format!("{capture:?}"));
    let contents = (0..events.len())
        .map(event)
        .chain(trace.tasks.iter().map(task))
        .chain(rows)
        .chain(captures);
    contents.chain([lists]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_capture_is_the_same_trace_in_cells_of_any_size(
        format in 0..TEXTS.len(),
        lines in prop::collection::vec((any::<prop::sample::Index>(), changes()), 1..120),
        cell_bytes in prop_oneof![1u64..8, 8u64..200, 200u64..4000],
        ends in any::<bool>(),
    ) {
        let known: Vec<&[u8]> = TEXTS[format].split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
        let lines: Vec<Vec<u8>> =
            lines.iter().map(|(at, change)| changed(known[at.index(known.len())], change.as_ref())).collect();
        let mut text = lines.join(&b'\n');
        text.extend_from_slice(if ends { b"\n" } else { b"" });
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), &text).expect("written");
        let path = file.path().to_string_lossy();
        let format = parsers::recognise(Head { bytes: TEXTS[format], complete: true });
        let read = |cell_bytes, is_plain| read_as(&path, format, cell_bytes, is_plain);
        match (read(cell_bytes, true), read(text.len().max(1) as u64, false)) {
            (Ok(pieces), Ok(whole)) => prop_assert_eq!(contents(&pieces), contents(&whole)),
            (pieces, whole) => prop_assert_eq!(format!("{:?}", pieces.err()), format!("{:?}", whole.err())),
        }
    }
}
