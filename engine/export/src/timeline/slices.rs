//! Calls as slices on the tracks of their threads.
//!
//! Calls of a thread do not overlap, except in damaged captures: then the later call is on a second track. Of a large
//! trace, neighbouring short calls of a thread are one slice that has their number and the sum of their times.

use crate::timeline::Fact;
use parsers::{NO_NS, Text};
use query::selection::Selection;
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::index::TiVec;
use trace::store::trace::Trace;

/// Calls in one merged slice, so that a long row of short calls stays visible in time.
const MAX_MERGED: u32 = 10_000;

/// A call, or several short ones. Times are those of the capture's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The thread.
    pub task: TaskId,
    /// When it starts.
    pub start_ns: i64,
    /// When it ends.
    pub end_ns: i64,
    /// Time in calls; less than the length of a merged slice.
    pub total_ns: i64,
    /// How many calls it is.
    pub calls: u32,
    /// Whether it starts within an earlier call of the same thread and ends after it.
    pub is_overlapping: bool,
    /// Whether it is the first one of its thread that does.
    pub opens_second_track: bool,
    /// The first call.
    row: u32,
    /// The name that all calls have; `None` if they differ.
    kind: Option<(Text, Text)>,
}

impl Slice {
    fn new(trace: &Trace, row: u32) -> Slice {
        let events = &trace.events;
        let (shape, start_ns, dur_ns) =
            (events.shape(row), events.start_ns(row), events.dur_ns(row));
        Slice {
            task: events.task(row),
            start_ns,
            end_ns: start_ns.saturating_add(dur_ns),
            total_ns: dur_ns,
            calls: 1,
            is_overlapping: false,
            opens_second_track: false,
            row,
            kind: Some((shape.syscall, shape.op)),
        }
    }

    /// Adds a later call of the same thread.
    fn merge(&mut self, other: &Slice) {
        self.calls += 1;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.kind = self.kind.filter(|_| self.kind == other.kind);
    }

    /// The call with its request.
    fn kind<'all>(&self, trace: &'all Trace) -> Cow<'all, str> {
        let Some((syscall, op)) = self.kind else {
            return Cow::Borrowed("calls");
        };
        let texts = &trace.events.texts;
        match (syscall.is_some(), op.is_some()) {
            (true, true) => Cow::Owned(format!("{} {}", texts.string(syscall), texts.string(op))),
            (true, false) => texts.string(syscall),
            (false, true) => texts.string(op),
            (false, false) => Cow::Borrowed("?"),
        }
    }

    /// What the slice is called.
    pub fn name<'all>(&self, trace: &'all Trace) -> Cow<'all, str> {
        match self.calls {
            1 => self.kind(trace),
            calls => Cow::Owned(format!("{calls} × {}", self.kind(trace))),
        }
    }

    /// Hands over target, result, error and line of a call; the number and the time of several.
    pub fn facts(&self, trace: &Trace, mut take: impl FnMut(&'static str, Fact<'_>)) {
        let (events, row) = (&trace.events, self.row);
        let line = Fact::Number(i64::from(events.line(row)));
        if self.calls > 1 {
            take("kind", Fact::Text(&self.kind(trace)));
            take("calls", Fact::Number(i64::from(self.calls)));
            take("total_ns", Fact::Number(self.total_ns));
            return take("line", line);
        }
        let text = |take: &mut dyn FnMut(&'static str, Fact<'_>), name, text: Text| {
            if text.is_some() {
                take(name, Fact::Text(&events.texts.string(text)));
            }
        };
        text(&mut take, "target", events.target(row));
        if events.ret(row) != NO_NS {
            take("ret", Fact::Number(events.ret(row)));
        }
        text(&mut take, "errno", events.shape(row).errno);
        take("line", line);
        let frame = events.stacks.user_frame(row);
        text(&mut take, "function", frame.function);
        text(&mut take, "source", frame.source);
    }
}

fn is_drawn(trace: &Trace, selection: &Selection<'_>, row: u32) -> bool {
    let events = &trace.events;
    events.kind(row) == EventKind::Call
        && events.start_ns(row) != NO_NS
        && events.dur_ns(row) != NO_NS
        && selection.has(row)
}

/// Calls below this length are to be merged with their neighbours, so that about `most` slices are left; 0 if there
/// are no more calls than that.
pub fn min_ns(trace: &Trace, selection: &Selection<'_>, most: usize) -> i64 {
    let rows = 0..trace.events.len();
    let drawn = rows.filter(|&row| is_drawn(trace, selection, row));
    let number = drawn.clone().count();
    if number <= most {
        return 0;
    }
    let mut lengths: Vec<i64> = drawn.map(|row| trace.events.dur_ns(row)).collect();
    // Merged slices are at most as many as the calls between which they lie, so half of the room is theirs.
    let place = number - (most / 2).max(1);
    let (_, length, _) = lengths.select_nth_unstable(place);
    *length + 1
}

/// Hands over the slices, each thread's in order of time.
///
/// # Errors
/// The first error of `take`, which is asked for no further slice then.
pub fn each<E>(
    trace: &Trace,
    selection: &Selection<'_>,
    min_ns: i64,
    mut take: impl FnMut(&Slice) -> Result<(), E>,
) -> Result<(), E> {
    let mut overlapped = FxHashSet::default();
    let mut ends_ns: TiVec<TaskId, i64> = vec![i64::MIN; trace.tasks.len()].into();
    let mut pending: TiVec<TaskId, Option<Slice>> =
        vec![None; if min_ns > 0 { trace.tasks.len() } else { 0 }].into();
    for row in (0..trace.events.len()).filter(|&row| is_drawn(trace, selection, row)) {
        let mut slice = Slice::new(trace, row);
        let task = slice.task;
        slice.is_overlapping = (slice.start_ns + 1..slice.end_ns).contains(&ends_ns[task]);
        slice.opens_second_track = slice.is_overlapping && overlapped.insert(task);
        ends_ns[task] = ends_ns[task].max(slice.end_ns);
        let is_short = slice.total_ns < min_ns && !slice.is_overlapping;
        match pending.get_mut(task) {
            Some(Some(earlier)) if is_short && earlier.calls < MAX_MERGED => earlier.merge(&slice),
            Some(earlier) => {
                let next = is_short.then_some(slice);
                if let Some(done) = std::mem::replace(earlier, next) {
                    take(&done)?;
                }
                if !is_short {
                    take(&slice)?;
                }
            }
            None => take(&slice)?,
        }
    }
    pending.iter().flatten().try_for_each(take)
}

#[cfg(test)]
mod tests {
    use super::{Slice, each, min_ns};
    use crate::timeline::Fact;
    use query::cache::QueryCache;
    use query::selection::{Criteria, Selection};
    use trace::store::trace::Trace;
    use trace::testing::{build, task};

    /// The slices, if at most so many are wanted.
    fn slices(trace: &Trace, most: usize) -> Vec<Slice> {
        let queries = QueryCache::default();
        let selection = Selection::new(trace, &Criteria::default(), &queries)
            .unwrap_or_else(|_| panic!("no times are chosen"));
        let mut found = Vec::new();
        let _: Result<(), ()> = each(
            trace,
            &selection,
            min_ns(trace, &selection, most),
            |slice| {
                found.push(*slice);
                Ok(())
            },
        );
        found
    }

    fn many_short_and_a_long_one() -> Trace {
        let mut one = task(1);
        for at in 0..100 {
            one = one.call("read", at * 10, at * 10 + 5);
        }
        one = one
            .call("poll", 1_000, 2_000)
            .call("read", 2_000, 2_004)
            .call("write", 2_010, 2_013);
        build(vec![one.exit(2_020)])
    }

    #[test]
    fn few_calls_are_slices_of_their_own() {
        let trace = many_short_and_a_long_one();
        assert!(slices(&trace, 1_000).iter().all(|slice| slice.calls == 1));
    }

    #[test]
    fn merged_slices_keep_number_and_time() {
        let trace = many_short_and_a_long_one();
        let (all, merged) = (slices(&trace, 1_000), slices(&trace, 4));
        let sum = |slices: &[Slice]| {
            let calls: u32 = slices.iter().map(|slice| slice.calls).sum();
            (
                calls,
                slices.iter().map(|slice| slice.total_ns).sum::<i64>(),
            )
        };
        assert_eq!(sum(&all), sum(&merged));
        let names: Vec<_> = merged.iter().map(|slice| slice.name(&trace)).collect();
        assert_eq!(names, ["100 × read", "poll", "2 × calls"]);
        let mut facts = Vec::new();
        merged[0].facts(&trace, |name, fact| {
            if let Fact::Number(number) = fact {
                facts.push((name, number));
            }
        });
        assert_eq!(facts[..2], [("calls", 100), ("total_ns", 500)]);
    }

    #[test]
    fn a_call_that_outlasts_an_earlier_one_overlaps() {
        let trace = build(vec![
            task(1)
                .call("read", 0, 10)
                .call("read", 5, 20)
                .call("read", 20, 30),
        ]);
        let overlapping: Vec<_> = slices(&trace, 9)
            .iter()
            .map(|slice| slice.is_overlapping)
            .collect();
        assert_eq!(overlapping, [false, true, false]);
    }
}
