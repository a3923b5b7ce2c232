//! Invariants of the whole engine for any capture. The fuzzer checks the same.

use binding::session::Session;
use detect::tables;
use kit::table_support::claims::claims;
use kit::table_support::provenance::Provenance;
use parsers::input::{self, Source};
use path::critical_path::{timeline, wait_graph};
use path::partition::group_by;
use path::partition::scope::GroupQuery;
use query::selection::{Criteria, Selection};
use report::tables::calls::CallQuery;
use report::tables::{calls, gaps, processes, totals};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use trace::ingest::read;

/// Read these bytes as a capture and compute everything: nothing panics, lines are counted once, and the window is
/// divided completely. Returns whether the bytes are a capture at all.
pub fn holds(bytes: &[u8]) -> bool {
    signature(bytes).is_some()
}

/// The same. Returns what is special about the capture: its format and kinds of lines, with their rough numbers.
pub fn signature(bytes: &[u8]) -> Option<u64> {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    file.write_all(bytes).expect("the bytes");
    let path = file.path().to_string_lossy().into_owned();
    let trace = read::read(&[vec![path]], None, &mut |_, _| {}).ok()?;
    let signature = {
        let rough = |number: u64| number.checked_ilog2().map_or(0, |log| log + 1);
        let mut hasher = DefaultHasher::new();
        for capture in &trace.captures {
            capture.format.hash(&mut hasher);
            let kinds = capture.accounting.iter().map(|&lines| rough(lines));
            kinds.collect::<Vec<_>>().hash(&mut hasher);
        }
        rough(trace.tasks.len() as u64).hash(&mut hasher);
        hasher.finish()
    };
    let lines: u64 = trace.captures.iter().map(|capture| capture.lines()).sum();
    assert_eq!(
        lines,
        lines_of(file.path(), bytes),
        "each line is counted once"
    );
    let asked = ask(&Session::new(trace), &Criteria::default());
    assert!(asked.is_ok(), "a choice of everything names no moment");
    Some(signature)
}

/// The number of lines, of which the last one may have no end. Lines that damage joined to one are split where it is read.
fn lines_of(path: &Path, bytes: &[u8]) -> u64 {
    let mut text = bytes.to_vec();
    if let Ok(Source::Stream(mut stream)) = input::open(path) {
        text.clear();
        while let Ok(Some(chunk)) = stream.next_chunk() {
            text.extend_from_slice(&chunk.bytes);
        }
    }
    let ends = text.iter().filter(|&&byte| byte == b'\n').count();
    let unended = usize::from(text.last().is_some_and(|&byte| byte != b'\n'));
    (ends + unended) as u64
}

fn ask(analysis: &Session, choice: &Criteria) -> Result<(), query::time_bounds::TimeBoundError> {
    let trace = &**analysis.trace();
    let wall_ns: i64 = analysis
        .windows(choice)?
        .iter()
        .map(|window| window.wall_ns())
        .sum();
    let (mut walked_ns, mut stretches) = (0, timeline::Timeline::new(trace, 0));
    analysis.walk(
        choice,
        &mut |segment: path::critical_path::segment::Segment| {
            walked_ns += segment.dur_ns();
            stretches.take(segment);
        },
    )?;
    assert_eq!(walked_ns, wall_ns, "the path has no hole");
    let (pieces, wakers, attribution) = (
        analysis.pieces(choice)?,
        analysis.wakers(),
        analysis.attribution(choice)?,
    );
    let divided_ns: i64 = pieces.exclusive_by_task().iter().sum();
    assert_eq!(divided_ns, wall_ns, "each moment is given to somebody");
    let selection = Selection::new(trace, choice, &query::cache::QueryCache::default())?;
    timeline::table(trace, &stretches.finish());
    group_by::group_by(trace, &pieces, &GroupQuery::default());
    wait_graph::chain(trace, wakers, attribution.walk_stats(), &selection);
    processes::processes(
        trace,
        &selection,
        pieces.exclusive_by_task(),
        attribution.walk_stats().slack_ns(trace, wakers),
        None,
    );
    gaps::gaps(trace, &selection, 0);
    calls::calls(
        trace,
        &CallQuery {
            quantiles: true,
            ..CallQuery::default()
        },
        &selection,
        &attribution,
    );
    totals::totals(trace, &selection);
    // Without a window, the elapsed time of calls is divided instead.
    let elapsed = analysis.elapsed_pieces(choice)?;
    let elapsed_ns: i64 = elapsed.exclusive_by_task().iter().sum();
    let claimed_ns = analysis.with_context(choice, |context| {
        let found: Vec<_> = tables::TABLES
            .iter()
            .map(|table| (table.build)(context))
            .collect();
        let members = |found: &kit::table_support::builder::BuiltTable| -> Vec<Vec<Provenance>> {
            found
                .members
                .iter()
                .map(|each| vec![each.clone().sorted(trace)])
                .collect()
        };
        let divided = claims(
            context,
            &elapsed,
            &found.iter().flat_map(members).collect::<Vec<_>>(),
            3,
        );
        divided.shares.iter().map(|share| share.own_ns).sum::<i64>()
            + divided.rest_ns
            + divided.elapsed_rest_ns
    })?;
    assert_eq!(
        claimed_ns, elapsed_ns,
        "each moment is claimed once, or is unclaimed"
    );
    Ok(())
}
