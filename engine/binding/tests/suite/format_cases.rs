//! Every format, with the inputs of its reader's cases: read twice, read from a stream, and cut anywhere.

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io::Write;
use trace::store::trace::Trace;

/// The format, and the cases of its reader.
const CASES: [(&str, &str); 14] = [
    (
        "dtruss",
        include_str!("../../../../parsers/tests/dtruss.cases"),
    ),
    (
        "fs-usage",
        include_str!("../../../../parsers/tests/fs_usage.cases"),
    ),
    (
        "gvisor",
        include_str!("../../../../parsers/tests/gvisor.cases"),
    ),
    (
        "kdump",
        include_str!("../../../../parsers/tests/kdump.cases"),
    ),
    (
        "kernel-log",
        include_str!("../../../../parsers/tests/kernel_log.cases"),
    ),
    (
        "ltrace",
        include_str!("../../../../parsers/tests/ltrace.cases"),
    ),
    (
        "perf-trace",
        include_str!("../../../../parsers/tests/perf_trace.cases"),
    ),
    (
        "procmon",
        include_str!("../../../../parsers/tests/procmon.cases"),
    ),
    (
        "strace-macos",
        include_str!("../../../../parsers/tests/strace_macos.cases"),
    ),
    (
        "strace",
        include_str!("../../../../parsers/tests/strace_cases.txt"),
    ),
    (
        "sysdig",
        include_str!("../../../../parsers/tests/sysdig.cases"),
    ),
    (
        "truss-aix",
        include_str!("../../../../parsers/tests/truss_aix.cases"),
    ),
    (
        "truss-freebsd",
        include_str!("../../../../parsers/tests/truss_freebsd.cases"),
    ),
    (
        "truss-solaris",
        include_str!("../../../../parsers/tests/truss_solaris.cases"),
    ),
];

/// Layouts are detected from this many bytes of a capture: a cut after them changes none.
const HEAD_BYTES: usize = 1 << 18;

/// The inputs, repeated until they exceed the head.
fn text(cases: &str) -> Vec<u8> {
    let inputs = cases.lines().filter_map(|case| {
        case.split_once("  =>")
            .map_or(Some(case), |(input, _)| Some(input))
    });
    let inputs: Vec<String> = inputs
        .filter(|input| !input.starts_with(['#', '@', '[']))
        .map(|input| input.replace('→', "\t").replace('␛', "\x1b") + "\n")
        .collect();
    let once = inputs.concat();
    once.repeat((HEAD_BYTES + 30_000) / once.len() + 1)
        .into_bytes()
}

fn read(text: &[u8], format: &str) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    file.write_all(text).expect("the text");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    trace::ingest::read::read(&[capture], Some(format), &mut |_, _| {})
        .unwrap_or_else(|_| panic!("{format} is not read"))
}

type Told = (u32, &'static str, String, i64);

/// Line, kind, name and start of each event.
fn told(trace: &Trace) -> Vec<Told> {
    let events = &trace.events;
    let one = |row: u32| {
        let name = events.texts.string(events.shape(row).syscall).into_owned();
        (
            events.line(row),
            events.kind(row).name(),
            name,
            events.start_ns(row),
        )
    };
    (0..events.len()).map(one).collect()
}

fn lines(trace: &Trace) -> u64 {
    trace
        .captures
        .iter()
        .map(trace::store::trace::Capture::lines)
        .sum()
}

#[test]
fn reading_twice_or_from_a_stream_gives_the_same() {
    for (format, cases) in CASES {
        let text = text(cases);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&text).expect("packing");
        let (once, again) = (read(&text, format), read(&text, format));
        let streamed = read(&packed.finish().expect("packing"), format);
        assert!(told(&once) == told(&again), "{format}");
        assert!(told(&once) == told(&streamed), "{format}");
        assert_eq!(lines(&once), lines(&streamed), "{format}");
        assert_eq!(
            lines(&once),
            text.iter().filter(|&&byte| byte == b'\n').count() as u64,
            "{format}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// The part before a cut is read as if there were no cut.
    #[test]
    fn a_cut_loses_nothing_before_it(back in 0usize..25_000) {
        for (format, cases) in CASES {
            let text = text(cases);
            let cut = text.get(..text.len() - back).expect("a shorter text");
            let whole_lines = cut.iter().filter(|&&byte| byte == b'\n').count();
            let (all, some) = (read(&text, format), read(cut, format));
            prop_assert_eq!(lines(&some) as usize, whole_lines + usize::from(cut.last() != Some(&b'\n')));
            let found: BTreeSet<Told> = told(&some).into_iter().collect();
            let lost = told(&all).into_iter().find(|row| (row.0 as usize) <= whole_lines && !found.contains(row));
            prop_assert_eq!(lost, None, "{}, cut {} bytes before its end", format, back);
        }
    }
}
