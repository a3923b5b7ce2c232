//! Spells of work: skipped whole by the walk, and divided into the same segments wherever they are cut.

use crate::random::{claimed, scripts};
use path::critical_path::attribution::Attribution;
use path::critical_path::segment::Segment;
use path::critical_path::segment::What;
use path::critical_path::walk::path;
use path::critical_path::window::{Window, WindowChoice, windows};
use path::waits::wakers::Wakers;
use proptest::prelude::*;
use rustc_hash::FxHashMap;
use trace::store::index::TaskId;
use trace::store::trace::Trace;
use trace::testing::{TaskPlan, build, task};

/// Calls of one task: the offset from the start of the previous call, the duration, and the kind.
type Calls = Vec<(i64, i64, u8)>;

/// Calls that may overlap, as they do with coarse clocks. A few wait without a waker, or are not calls.
fn overlapping(calls: &Calls) -> Trace {
    let mut at_ns = 0;
    let plan = calls.iter().fold(
        task(1).exec(0, 1, "/bin/x"),
        |plan: TaskPlan, &(step_ns, dur_ns, kind)| {
            at_ns += step_ns;
            match kind {
                0 => plan.call("poll", at_ns, at_ns + dur_ns),
                1 => plan.signal("SIGCHLD", at_ns),
                2 => plan.stop("SIGSTOP", at_ns),
                _ => plan.call("mmap", at_ns, at_ns + dur_ns),
            }
        },
    );
    build(vec![plan.exit(at_ns + 20)])
}

fn calls(most: usize) -> impl Strategy<Value = Calls> {
    (0i64..3, 1i64..8).prop_flat_map(move |(overlap, longest)| {
        prop::collection::vec((overlap.min(1)..9 - overlap, 0..longest, 0u8..60), 1..most)
    })
}

/// The time of each call between two moments, by its spans, independent of walks.
fn by_spans(trace: &Trace, window: &Window) -> FxHashMap<u32, i64> {
    let inside = |from_ns: i64, to_ns: i64| to_ns.min(window.end_ns) - from_ns.max(window.start_ns);
    let spans = trace
        .spans(TaskId::new(0))
        .map(|span| (span.row, inside(span.start_ns, span.end_ns)));
    spans.filter(|&(_, ns)| ns > 0).collect()
}

fn sums(segments: &[Segment], row_of: impl Fn(What) -> Option<u32>) -> FxHashMap<u32, i64> {
    let mut sums = FxHashMap::default();
    for segment in segments {
        if let Some(row) = row_of(segment.what) {
            *sums.entry(row).or_default() += segment.dur_ns();
        }
    }
    sums
}

/// The attribution by row, as reported; and the sums over the path.
fn check_charges(trace: &Trace, wakers: &Wakers, window: Window) {
    let segments = path(trace, wakers, &window);
    let attribution = Attribution::walked(trace, wakers, &[window]);
    let gap_row = |what| {
        if let What::Gap(row) = what {
            Some(row)
        } else {
            None
        }
    };
    let (in_calls, behind) = (sums(&segments, What::row), sums(&segments, gap_row));
    for row in 0..trace.events.len() {
        assert_eq!(
            attribution.in_call_ns(row),
            in_calls.get(&row).copied().unwrap_or(0),
            "in row {row}"
        );
        assert_eq!(
            attribution.gap_after_ns(row),
            behind.get(&row).copied().unwrap_or(0),
            "behind row {row}"
        );
    }
    let mut told: Vec<_> = Vec::new();
    for task in trace.tasks.keys() {
        attribution.each(trace, task, |charge| {
            told.push((charge.class, charge.resolved, charge.tag, charge.ns))
        });
    }
    let all = segments.iter().map(|segment| {
        (
            segment.class,
            segment.resolved,
            segment.tag,
            segment.dur_ns(),
        )
    });
    assert_eq!(by_kind(told.into_iter()), by_kind(all));
}

fn by_kind<K: Ord + Copy, B: Ord + Copy, T: Ord + Copy>(
    all: impl Iterator<Item = (K, B, T, i64)>,
) -> std::collections::BTreeMap<(K, B, T), i64> {
    let mut sums = std::collections::BTreeMap::new();
    all.for_each(|(kind, resolved, tag, ns)| *sums.entry((kind, resolved, tag)).or_default() += ns);
    sums
}

fn check(calls: &Calls, choice: &WindowChoice) {
    let trace = overlapping(calls);
    let window = windows(&trace, choice)[0];
    let wakers = Wakers::new(&trace);
    let segments = path(&trace, &wakers, &window);
    let reached_ns = segments
        .iter()
        .fold(window.start_ns, |reached_ns, segment| {
            assert_eq!(segment.start_ns, reached_ns);
            segment.end_ns
        });
    assert_eq!(reached_ns, window.end_ns);
    assert_eq!(sums(&segments, What::row), by_spans(&trace, &window));
    check_charges(&trace, &wakers, window);
}

proptest! {
    #[test]
    fn a_task_alone_is_charged_what_its_spans_say(calls in calls(400), from in 0i64..600, length in 0i64..2000) {
        check(&calls, &WindowChoice::default());
        check(&calls, &WindowChoice { from_ns: Some(from), to_ns: Some(from + length), ..WindowChoice::default() });
    }

    #[test]
    fn charges_are_those_of_the_path(scripts in scripts(), from in 0i64..10, to in 0i64..40) {
        let trace = claimed(&scripts, true);
        let wakers = Wakers::new(&trace);
        for choice in [WindowChoice::default(), WindowChoice { from_ns: Some(from), to_ns: Some(to), ..WindowChoice::default() }] {
            check_charges(&trace, &wakers, windows(&trace, &choice)[0]);
        }
    }
}

#[test]
fn a_long_spell_is_passed_in_parts_without_loss() {
    for overlap_ns in [0, 3] {
        let calls: Calls = (0..20_000)
            .map(|at| {
                (
                    4,
                    2 + overlap_ns + at % 3,
                    if at % 7000 == 3 { 0 } else { 9 },
                )
            })
            .collect();
        check(&calls, &WindowChoice::default());
        check(
            &calls,
            &WindowChoice {
                from_ns: Some(8_001),
                to_ns: Some(70_003),
                ..WindowChoice::default()
            },
        );
    }
}
