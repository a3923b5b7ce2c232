//! The data of drawn timelines: sums are exact at any budget, and cells equal a count of each nanosecond.

use crate::random::{claimed, scripts};
use flate2::read::DeflateDecoder;
use parsers::syscalls::Class;
use path::critical_path::segment::Segment;
use path::critical_path::walk::path;
use path::critical_path::window::{Window, WindowChoice, windows};
use path::waits::wakers::Wakers;
use proptest::prelude::*;
use report::picture::cells::{NO_TIME, cells};
use report::picture::evidence::{Place, places};
use report::picture::grid::Grid;
use report::picture::lane::LaneSource;
use report::picture::lanes::Lanes;
use report::picture::overview::overview;
use report::picture::path_rows::{PathRow, PathRows, SEVERAL};
use report::picture::{Picture, packing, picture};
use std::collections::BTreeMap;
use std::io::Read;
use trace::store::event::NONE;
use trace::store::index::{TaskId, TiVec};
use trace::store::trace::Trace;
use trace::testing::{build, task};

/// More than any picture of these traces needs.
const PLENTY: usize = 1 << 20;

fn window_of(trace: &Trace) -> Window {
    windows(trace, &WindowChoice::default())[0]
}

fn source<'trace>(
    trace: &'trace Trace,
    wakers: &'trace Wakers,
    window: &Window,
) -> LaneSource<'trace> {
    LaneSource {
        trace,
        wakers,
        start_ns: window.start_ns,
        end_ns: window.end_ns,
    }
}

/// The class of a task in a nanosecond: that of the last call that covers it, by its spans, else user code.
fn class_at(trace: &Trace, wakers: &Wakers, task: TaskId, at_ns: i64) -> usize {
    let covers = trace
        .spans(task)
        .filter(|span| span.start_ns <= at_ns && at_ns < span.end_ns)
        .last();
    covers.map_or(Class::User, |span| wakers.class(trace, span.row)) as usize
}

/// The cells of a lane, counted nanosecond by nanosecond.
fn counted(source: &LaneSource<'_>, grid: &Grid, task: TaskId) -> Vec<u8> {
    let Some((start_ns, end_ns)) = source.life(task) else {
        return Vec::new();
    };
    let (first, last) = grid.columns_of(start_ns, end_ns);
    let mut sums = vec![[0; 15]; (last - first + 1) as usize];
    for at_ns in start_ns..end_ns {
        let column = (grid.column_of(at_ns) - first) as usize;
        sums[column][class_at(source.trace, source.wakers, task, at_ns)] += 1;
    }
    let dominant = |sums: &[i32; 15]| {
        (0..15)
            .rev()
            .filter(|&at| sums[at] > 0)
            .max_by_key(|&at| sums[at])
    };
    sums.iter()
        .map(|sums| dominant(sums).map_or(NO_TIME, |at| at as u8))
        .collect()
}

/// The numbers of a section, column by column.
fn decoded(picture: &Picture, name: &str) -> BTreeMap<&'static str, Vec<i64>> {
    let section = picture
        .sections
        .iter()
        .find(|section| section.name == name)
        .expect("a section");
    let mut bytes = Vec::new();
    DeflateDecoder::new(&section.bytes[..])
        .read_to_end(&mut bytes)
        .expect("deflate");
    assert_eq!(bytes.len(), section.raw_bytes);
    let mut rest = bytes.iter();
    let mut number = || {
        let (mut value, mut shift) = (0u64, 0);
        for &byte in rest.by_ref() {
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        value
    };
    let column = |&name: &&'static str| {
        let numbers: Vec<u64> = (0..section.rows).map(|_| number()).collect();
        let signed = |number: u64| (number >> 1) as i64 ^ -((number & 1) as i64);
        let differences = numbers.iter().scan(0, |last, &step| {
            *last += signed(step);
            Some(*last)
        });
        let values = if name.starts_with("d_") {
            differences.collect()
        } else {
            numbers.iter().map(|&n| n as i64).collect()
        };
        (name, values)
    };
    let columns = section.columns.iter().map(column).collect();
    assert_eq!(rest.next(), None);
    columns
}

fn limit(picture: &Picture, name: &str) -> i64 {
    picture
        .limits
        .iter()
        .find(|limit| limit.0 == name)
        .map(|limit| limit.1)
        .expect("a limit")
}

/// Time by task and class of a path.
fn sums<'a>(segments: impl Iterator<Item = &'a Segment>) -> BTreeMap<(TaskId, u8), i64> {
    let mut sums = BTreeMap::new();
    segments.for_each(|segment| {
        *sums.entry((segment.task, segment.class as u8)).or_default() += segment.dur_ns()
    });
    sums
}

fn reduced(
    trace: &Trace,
    window: &Window,
    segments: &[Segment],
    max_rows: usize,
) -> (Vec<PathRow>, i64) {
    let mut rows = PathRows::new(trace, (window.start_ns, window.end_ns), max_rows);
    segments.iter().rev().for_each(|segment| rows.push(segment));
    (rows.finish(), rows.moved_ns)
}

proptest! {
    #[test]
    fn cells_equal_a_count_of_each_nanosecond(scripts in scripts(), columns in 1u64..40) {
        let trace = claimed(&scripts, true);
        let (wakers, window) = (Wakers::new(&trace), window_of(&trace));
        let source = source(&trace, &wakers, &window);
        let grid = Grid::of_level(window.start_ns, window.end_ns, 0);
        let grid = grid.with_columns(columns.min(grid.wall_ns));
        for task in trace.tasks.keys() {
            prop_assert_eq!(cells(&source, &grid, task), counted(&source, &grid, task));
        }
    }

    #[test]
    fn merged_paths_keep_their_sums(scripts in scripts(), max_rows in 1usize..30) {
        let trace = claimed(&scripts, true);
        let (wakers, window) = (Wakers::new(&trace), window_of(&trace));
        let segments = path(&trace, &wakers, &window);
        let (rows, moved_ns) = reduced(&trace, &window, &segments, max_rows);
        prop_assert_eq!(rows.iter().map(PathRow::dur_ns).sum::<i64>(), window.wall_ns());
        prop_assert_eq!(rows.iter().map(|row| row.pieces as usize).sum::<usize>(), segments.len());
        for pair in rows.windows(2) {
            prop_assert_eq!(pair[0].end_ns, pair[1].start_ns);
        }
        let mut left = sums(segments.iter());
        for row in rows.iter().filter(|row| row.key.task != TaskId::NONE) {
            *left.get_mut(&(row.key.task, row.key.class as u8)).expect("charged") -= row.dur_ns();
        }
        prop_assert!(left.values().all(|&ns| ns >= 0));
        if rows.iter().all(|row| row.key.what != SEVERAL) {
            prop_assert!(left.values().all(|&ns| ns == 0));
        }
        // A class is within the bound of where it is on the path, from the start of the window to any moment.
        for at_ns in window.start_ns..window.end_ns {
            for class in Class::ALL {
                let until = |start_ns: i64, end_ns: i64| (at_ns.min(end_ns) - start_ns).max(0);
                let of = segments.iter().filter(|segment| segment.class == class);
                let exact_ns: i64 = of.map(|segment| until(segment.start_ns, segment.end_ns)).sum();
                let of = rows.iter().filter(|row| row.key.class == class);
                let merged_ns: i64 = of.map(|row| until(row.start_ns, row.end_ns)).sum();
                prop_assert!((exact_ns - merged_ns).abs() <= moved_ns);
            }
        }
    }

    #[test]
    fn a_whole_picture_adds_up(scripts in scripts(), budget_bytes in 0usize..4_000) {
        let trace = claimed(&scripts, true);
        let (wakers, window) = (Wakers::new(&trace), window_of(&trace));
        let drawn = picture(&trace, &wakers, &window, budget_bytes).expect("a window");
        prop_assert_eq!(&drawn, &picture(&trace, &wakers, &window, budget_bytes).expect("a window"));
        let source = source(&trace, &wakers, &window);
        let lives = trace.tasks.keys().filter_map(|task| source.life(task));
        let lives_ns: i64 = lives.map(|(start_ns, end_ns)| end_ns - start_ns).sum();
        let total = |name: &str| decoded(&drawn, name).values().flatten().sum::<i64>();
        prop_assert_eq!(total("overview"), lives_ns);
        prop_assert_eq!(total("sums") + drawn.folded_ns.iter().sum::<i64>(), lives_ns);
        prop_assert_eq!(decoded(&drawn, "path")["dur"].iter().sum::<i64>(), window.wall_ns());
        prop_assert_eq!(limit(&drawn, "tasks") + limit(&drawn, "tasks_outside"), trace.tasks.len() as i64);
        prop_assert!(limit(&drawn, "lanes") <= limit(&drawn, "tasks"));
    }

    #[test]
    fn the_longest_calls_are_retained(scripts in scripts(), most in 0usize..12) {
        let trace = claimed(&scripts, true);
        let (wakers, window) = (Wakers::new(&trace), window_of(&trace));
        let source = source(&trace, &wakers, &window);
        let tasks: Vec<TaskId> = trace.tasks.keys().filter(|&task| source.life(task).is_some()).collect();
        let grid = Grid::of_level(window.start_ns, window.end_ns, 0);
        let lane_of: TiVec<TaskId, u32> = trace.tasks.keys().map(TaskId::raw).collect();
        let found = overview(&source, &grid, &tasks, most).of_lanes(&tasks, &lane_of, most);
        let inside = |span: &trace::store::spans::Span| {
            span.end_ns.min(window.end_ns) - span.start_ns.max(window.start_ns)
        };
        let spans = tasks.iter().flat_map(|&task| trace.spans(task));
        let mut all: Vec<i64> = spans.map(|span| inside(&span)).filter(|&ns| ns > 0).collect();
        all.sort_unstable_by_key(|&ns| -ns);
        prop_assert_eq!(found.total, all.len() as u64);
        all.truncate(most);
        let mut kept: Vec<i64> = found.intervals.iter().map(|each| each.end_ns - each.start_ns).collect();
        kept.sort_unstable_by_key(|&ns| -ns);
        prop_assert_eq!(kept, all);
        // Without a lane of the first task, its calls are not counted.
        let others: TiVec<TaskId, u32> = lane_of.iter().map(|lane| lane.wrapping_sub(1)).collect();
        let found = overview(&source, &grid, &tasks, most).of_lanes(&tasks, &others, most);
        let calls = |task: TaskId| trace.spans(task).filter(|span| inside(span) > 0).count() as u64;
        prop_assert_eq!(found.total, tasks.iter().filter(|&&task| task > TaskId::new(0)).map(|&task| calls(task)).sum::<u64>());
    }

    #[test]
    fn packed_rows_are_as_many_as_live_at_once(lives in prop::collection::vec((0i64..40, 0i64..20), 1..30)) {
        let lives: Vec<(i64, i64)> = lives.into_iter().map(|(birth_ns, dur_ns)| (birth_ns, birth_ns + dur_ns)).collect();
        let rows = packing::rows(&lives);
        let alive = |at_ns: i64| lives.iter().filter(|life| life.0 <= at_ns && at_ns < life.1.max(life.0 + 1)).count();
        prop_assert_eq!(rows.iter().max().map(|&row| row as usize + 1), (0..60).map(alive).max());
        for (a, first) in lives.iter().enumerate() {
            for (b, second) in lives.iter().enumerate().skip(a + 1) {
                let overlap = first.0 < second.1.max(second.0 + 1) && second.0 < first.1.max(first.0 + 1);
                prop_assert!(!(overlap && rows[a] == rows[b]));
            }
        }
    }
}

#[test]
fn a_parent_has_the_lane_above_its_children() {
    let trace = build(vec![
        task(1)
            .exec(0, 1, "/bin/a")
            .fork(2, 3, 2)
            .fork(4, 5, 3)
            .wait4(6, 90, 3)
            .exit(100),
        task(2).call("read", 10, 20).fork(21, 22, 4).exit(80),
        task(3).call("read", 10, 20).exit(90),
        task(4).call("read", 30, 40).exit(50),
    ]);
    let (wakers, window) = (Wakers::new(&trace), window_of(&trace));
    let lanes = Lanes::new(
        &source(&trace, &wakers, &window),
        [3, 1, 2, 0].map(TaskId::new).to_vec(),
    );
    assert_eq!(
        (lanes.tasks, lanes.parents),
        ([0, 1, 3, 2].map(TaskId::new).to_vec(), vec![NONE, 0, 1, 0])
    );
}

#[test]
fn a_picture_without_a_budget_still_adds_up() {
    let trace = build(vec![
        task(1).exec(0, 10, "/bin/a").call("read", 20, 60).exit(100),
    ]);
    let (wakers, window) = (Wakers::new(&trace), window_of(&trace));
    for budget_bytes in 0..40 {
        let drawn = picture(&trace, &wakers, &window, budget_bytes).expect("a window");
        assert_eq!(decoded(&drawn, "path")["dur"].iter().sum::<i64>(), 100);
        assert!(limit(&drawn, "exact_calls") <= limit(&drawn, "calls"));
    }
}

#[test]
fn segments_are_merged_after_buckets_have_grown_beyond_the_window() {
    // A picture of a storm of processes never ended: what came after the last growth stayed as it was.
    let calls = ["read", "nanosleep", "mmap", "getpid"];
    let whole = (0..400).fold(task(1).exec(0, 10, "/bin/a"), |known, at| {
        known.call(calls[at as usize % 4], 20 * at + 12, 20 * at + 22)
    });
    let trace = build(vec![whole.exit(9_000)]);
    let (wakers, window) = (Wakers::new(&trace), window_of(&trace));
    let segments = path(&trace, &wakers, &window);
    let (rows, _) = reduced(&trace, &window, &segments, 1);
    assert!(segments.len() > 400);
    assert!(rows.len() <= Class::ALL.len(), "{rows:?}");
    let drawn = picture(&trace, &wakers, &window, 0).expect("a window");
    assert_eq!(
        decoded(&drawn, "path")["dur"].iter().sum::<i64>(),
        window.wall_ns()
    );
}

#[test]
fn a_line_of_evidence_has_the_time_of_its_event() {
    let trace = build(vec![
        task(1).exec(0, 10, "/bin/a").call("read", 20, 60).exit(100),
    ]);
    let found = places(&trace, 0, &[(0, 2), (0, 9)]);
    assert_eq!(
        found,
        [
            Some(Place {
                task: TaskId::new(0),
                start_ns: 20,
                end_ns: 60
            }),
            None
        ]
    );
}

#[test]
fn a_stopped_task_is_drawn_as_stopped() {
    let trace = build(vec![
        task(1)
            .exec(0, 10, "/bin/a")
            .stop("SIGSTOP", 20)
            .call("read", 80, 90)
            .exit(100),
    ]);
    let (wakers, window) = (Wakers::new(&trace), window_of(&trace));
    let drawn = picture(&trace, &wakers, &window, PLENTY).expect("a window");
    assert_eq!(decoded(&drawn, "sums")["stopped"], [60]);
}

#[test]
fn a_wake_up_is_drawn_from_the_waker_to_the_waiter() {
    let trace = build(vec![
        task(1)
            .exec(0, 1, "/bin/a")
            .fork(2, 3, 2)
            .wait4(4, 90, 2)
            .exit(100),
        task(2).call("nanosleep", 10, 80).exit(85),
    ]);
    let (wakers, window) = (Wakers::new(&trace), window_of(&trace));
    let drawn = picture(&trace, &wakers, &window, PLENTY).expect("a window");
    let wakes = decoded(&drawn, "wakes");
    assert_eq!(
        (
            &wakes["waker"][..],
            &wakes["waiter"][..],
            &wakes["sure"][..]
        ),
        (&[2][..], &[1][..], &[0][..])
    );
    assert_eq!(limit(&drawn, "exact_calls"), limit(&drawn, "calls"));
}
