//! Nests: loops within loops. One loop of each nest is reported.
//!
//! ```text
//! calls    o r r r r c | o r r r r r c | o r r r r r r c | …      r: the inner loop
//! then     o  [ r* ] c | o   [ r* ]  c | o    [ r* ]   c | …      o [r*] c: the outer loop
//! ```
//! Each loop becomes one symbol, and the search for repetitions runs again. The outer loop is reported, unless one
//! inner loop takes nine tenths of its time. In that case, the inner loop is reported together with its enclosing loop.

use super::repetition::{Repetition, SymbolLine, repetitions};
use kit::table_support::found_loops::{Around, Trend};
use rustc_hash::FxHashMap;
use std::ops::Range;
use trace::store::heuristics::{ITERATIONS_PER_DEVIATION, MIN_GROWTH_RATIO, MIN_ITERATIONS};

/// Maximum nesting depth.
const MAX_LEVELS: usize = 4;

/// The calls of one task, in order.
pub(super) struct NestInput<'a> {
    /// The shape of each call.
    pub shapes: &'a [u32],
    /// Number of shapes.
    pub kinds: usize,
    /// The cost of a call in nanoseconds, by its index.
    pub cost_ns: &'a dyn Fn(usize) -> i64,
    /// Time from the start of the first call of a range to the start of the call after it, or to the end of the last
    /// call.
    pub time_ns: &'a dyn Fn(Range<usize>) -> i64,
}

/// A loop, with positions as indexes of calls.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Nest {
    /// From the first call to the end of the last iteration.
    pub range: Range<usize>,
    /// Start of the last iteration.
    pub last: usize,
    /// Number of calls in the range that are not part of the loop.
    others: usize,
    pub iterations: u64,
    /// Shapes of the most frequent iteration.
    pub body: Vec<u32>,
    /// Whether its iterations grow.
    pub trend: Trend,
    /// The enclosing loop, if this loop is reported because of the cost of that one.
    pub around: Option<Around>,
}

/// The loops of a task, disjoint and in order.
pub(super) fn nests(calls: &NestInput<'_>) -> Vec<Nest> {
    let line = SymbolLine {
        symbols: calls.shapes,
        kinds: calls.kinds,
        first_anchor: 0,
        cost: calls.cost_ns,
    };
    let mut nests: Vec<Nest> = repetitions(&line)
        .into_iter()
        .map(|one| first_level(calls, one))
        .collect();
    for _ in 1..MAX_LEVELS {
        let number = nests.len();
        if number < MIN_ITERATIONS {
            break;
        }
        nests = around(calls, nests);
        if nests.len() == number {
            break;
        }
    }
    nests
}

fn first_level(calls: &NestInput<'_>, one: Repetition) -> Nest {
    let trend = trend(calls, &one.range, &one, |at| at);
    Nest {
        range: one.range,
        last: one.last,
        others: 0,
        iterations: one.iterations,
        body: one.body,
        trend,
        around: None,
    }
}

fn trend(
    calls: &NestInput<'_>,
    range: &Range<usize>,
    one: &Repetition,
    place: impl Fn(usize) -> usize,
) -> Trend {
    let places = one.eighths.map(|(at, _)| place(at));
    // The last anchor starts an iteration with an unknown end.
    let (first_ns, last_ns) = (
        (calls.time_ns)(range.start..places[2]),
        (calls.time_ns)(places[6]..range.end),
    );
    let per_iteration = |eighth: usize| {
        let iterations = one.eighths[eighth + 1].1 - one.eighths[eighth].1;
        (places[eighth + 1] - places[eighth]) as f64 / iterations.max(1) as f64
    };
    let rises = one.eighths[1].1 > 0
        && (1..8)
            .all(|eighth| per_iteration(eighth) > per_iteration(eighth - 1) * MIN_GROWTH_RATIO);
    Trend {
        time: (first_ns > 0).then(|| last_ns as f64 / first_ns as f64),
        calls: rises
            .then(|| per_iteration(7) / per_iteration(0))
            .filter(|trend| trend.is_finite()),
    }
}

/// Calls and loops in order, one symbol each.
struct Sequence {
    symbols: Vec<u32>,
    /// Index of the first call of each symbol.
    starts: Vec<usize>,
    /// The bodies of the symbols that are loops. Loop symbols start at the number of shapes.
    bodies: Vec<Vec<u32>>,
}

impl Sequence {
    /// Replaces each loop by a symbol. Calls far from a loop are retained, because they may be near another one.
    fn new(calls: &NestInput<'_>, nests: &[Nest]) -> Sequence {
        let mut numbers: FxHashMap<&[u32], u32> = FxHashMap::default();
        let mut sequence = Sequence {
            symbols: Vec::new(),
            starts: Vec::new(),
            bodies: Vec::new(),
        };
        let mut at = 0;
        for nest in nests {
            sequence.calls(calls, at..nest.range.start);
            let number = *numbers.entry(&nest.body).or_insert_with(|| {
                sequence.bodies.push(nest.body.clone());
                (calls.kinds + sequence.bodies.len() - 1) as u32
            });
            sequence.symbols.push(number);
            sequence.starts.push(nest.range.start);
            at = nest.range.end;
        }
        sequence.calls(calls, at..calls.shapes.len());
        sequence
    }

    fn calls(&mut self, calls: &NestInput<'_>, range: Range<usize>) {
        self.symbols.extend_from_slice(&calls.shapes[range.clone()]);
        self.starts.extend(range);
    }

    /// Expands a body into calls; each inner loop contributes its body once.
    fn body(&self, kinds: usize, body: &[u32]) -> Vec<u32> {
        let of = |&symbol: &u32| match (symbol as usize).checked_sub(kinds) {
            Some(number) => self.bodies[number].clone(),
            None => vec![symbol],
        };
        body.iter().flat_map(of).collect()
    }
}

/// Merges loops that lie in iterations of an enclosing loop.
fn around(calls: &NestInput<'_>, nests: Vec<Nest>) -> Vec<Nest> {
    let sequence = Sequence::new(calls, &nests);
    let next = |at: usize| {
        sequence
            .starts
            .get(at)
            .copied()
            .unwrap_or(calls.shapes.len())
    };
    let cost = |at: usize| match (sequence.symbols[at] as usize) < calls.kinds {
        true => (calls.cost_ns)(sequence.starts[at]),
        false => (calls.time_ns)(next(at)..next(at + 1)),
    };
    let kinds = calls.kinds + sequence.bodies.len();
    // Each iteration of an enclosing loop contains a loop symbol, so only these are anchors.
    let outer = repetitions(&SymbolLine {
        symbols: &sequence.symbols,
        kinds,
        first_anchor: calls.kinds as u32,
        cost: &cost,
    });
    let mut merged: Vec<Nest> = Vec::with_capacity(nests.len());
    let mut rest = nests.into_iter().peekable();
    for one in outer {
        let range = next(one.range.start)..next(one.range.end);
        while let Some(nest) = rest.next_if(|nest| nest.range.start < range.start) {
            merged.push(nest);
        }
        let inner: Vec<Nest> =
            std::iter::from_fn(|| rest.next_if(|nest| nest.range.start < range.end)).collect();
        let trend = trend(calls, &range, &one, next);
        let around = Around {
            iterations: one.iterations,
            body: sequence.body(calls.kinds, &one.body),
            trend,
        };
        let last = match one.last + 1 == one.range.end {
            true => range.end - 1,
            false => next(one.last),
        };
        merged.push(Nest {
            last,
            ..shown(calls, range, inner, around)
        });
    }
    merged.extend(rest);
    joined(merged)
}

/// The loop that explains the cost of a nest.
fn shown(calls: &NestInput<'_>, range: Range<usize>, inner: Vec<Nest>, around: Around) -> Nest {
    let mut times: FxHashMap<&[u32], i64> = FxHashMap::default();
    for nest in &inner {
        *times.entry(&nest.body).or_default() += (calls.time_ns)(nest.range.clone());
    }
    let longest = times
        .into_iter()
        .max_by_key(|&(body, ns)| (ns, std::cmp::Reverse(body)));
    let all_ns = (calls.time_ns)(range.clone());
    let body = longest
        .filter(|(_, ns)| (all_ns - ns) * (ITERATIONS_PER_DEVIATION as i64) <= all_ns)
        .map(|(body, _)| body.to_vec());
    let Some(body) = body else {
        return Nest {
            last: range.end - 1,
            others: 0,
            range,
            iterations: around.iterations,
            body: around.body,
            trend: around.trend,
            around: None,
        };
    };
    let same = || inner.iter().filter(|nest| nest.body == body);
    let iterations = same().map(|nest| nest.iterations).sum();
    // The innermost loop is reported, with the outermost as its context.
    let trend = Trend {
        time: per_iteration(calls, same()),
        calls: None,
    };
    Nest {
        last: range.end - 1,
        others: 0,
        range,
        iterations,
        trend,
        body,
        around: Some(around),
    }
}

/// Time per iteration of the last loop relative to the first.
fn per_iteration<'a>(
    calls: &NestInput<'_>,
    mut nests: impl Iterator<Item = &'a Nest>,
) -> Option<f64> {
    let mean_ns =
        |nest: &Nest| (calls.time_ns)(nest.range.clone()) as f64 / nest.iterations.max(1) as f64;
    let first = nests.next()?;
    let last = nests.last().unwrap_or(first);
    (mean_ns(first) > 0.0).then(|| mean_ns(last) / mean_ns(first))
}

/// Joins loops with the same body that are separated by a little other work.
fn joined(nests: Vec<Nest>) -> Vec<Nest> {
    let mut merged: Vec<Nest> = Vec::with_capacity(nests.len());
    for mut nest in nests {
        while let Some(before) = merged.last() {
            let all = before.range.start..nest.range.end;
            let others = before.others + nest.others + nest.range.start - before.range.end;
            if before.body != nest.body
                || before.around.is_some() != nest.around.is_some()
                || others * ITERATIONS_PER_DEVIATION > all.len()
            {
                break;
            }
            let Some(before) = merged.pop() else { break };
            nest = Nest {
                range: all,
                last: nest.last,
                others,
                iterations: before.iterations + nest.iterations,
                ..before
            };
        }
        merged.push(nest);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats loops as `body*iterations`, followed by `in body*iterations` for an enclosing loop. Each call takes 1, a
    /// capital letter 100.
    fn shown(text: &str) -> Vec<String> {
        let cost = |at: usize| {
            if text.as_bytes()[at].is_ascii_uppercase() {
                100
            } else {
                1
            }
        };
        let time = |range: Range<usize>| range.map(cost).sum();
        let shapes: Vec<u32> = text.bytes().map(u32::from).collect();
        let calls = NestInput {
            shapes: &shapes,
            kinds: 128,
            cost_ns: &cost,
            time_ns: &time,
        };
        let name = |body: &[u32], iterations: u64| {
            format!(
                "{}*{iterations}",
                body.iter()
                    .map(|&symbol| symbol as u8 as char)
                    .collect::<String>()
            )
        };
        let text = |nest: Nest| match nest.around {
            Some(around) => {
                format!(
                    "{} in {}",
                    name(&nest.body, nest.iterations),
                    name(&around.body, around.iterations)
                )
            }
            None => name(&nest.body, nest.iterations),
        };
        nests(&calls).into_iter().map(text).collect()
    }

    #[test]
    fn the_outer_loop_is_reported_if_its_own_calls_are_costly() {
        assert_eq!(shown(&"Oabababababab".repeat(8)), ["Oabababababab*8"]);
        assert_eq!(
            shown(&format!("O{}Cx", "ab".repeat(90)).repeat(8)),
            ["abCxO*8"]
        );
    }

    #[test]
    fn the_inner_loop_is_reported_if_it_dominates_the_outer() {
        assert_eq!(
            shown(&format!("opqr{}c", "Ab".repeat(90)).repeat(8)),
            ["Ab*720 in Abcopqr*8"]
        );
    }

    #[test]
    fn growing_iterations_are_one_loop() {
        let growing: String = (1..60)
            .map(|round| format!("op{}c", "R".repeat(round)))
            .collect();
        let found = shown(&growing);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("R*17"), "{found:?}");
    }

    #[test]
    fn only_steadily_rising_calls_are_a_trend() {
        let trend = |lengths: &[usize]| {
            let text: String = lengths
                .iter()
                .map(|&length| format!("Op{}", "r".repeat(length)))
                .collect();
            let shapes: Vec<u32> = text.bytes().map(u32::from).collect();
            let time = |range: Range<usize>| {
                range
                    .map(|at| {
                        if text.as_bytes()[at] == b'O' {
                            100_000
                        } else {
                            1
                        }
                    })
                    .sum::<i64>()
            };
            let calls = NestInput {
                shapes: &shapes,
                kinds: 128,
                cost_ns: &|at| time(at..at + 1),
                time_ns: &time,
            };
            let nests = nests(&calls);
            nests
                .iter()
                .filter_map(|nest| {
                    nest.around
                        .as_ref()
                        .map_or(nest.trend, |around| around.trend)
                        .calls
                })
                .next()
        };
        let rising: Vec<usize> = (1..60).collect();
        assert!(
            trend(&rising).is_some_and(|trend| trend > 5.0),
            "{:?}",
            trend(&rising)
        );
        let falling: Vec<usize> = (1..60).rev().collect();
        assert_eq!(trend(&falling), None);
        let uneven: Vec<usize> = (0..60).map(|iteration| iteration * 7 % 23).collect();
        assert_eq!(trend(&uneven), None);
        let once: Vec<usize> = (0..60)
            .map(|iteration| if iteration < 30 { 4 } else { 40 })
            .collect();
        assert_eq!(trend(&once), None);
    }

    #[test]
    fn a_loop_in_a_loop_in_a_loop_is_one_row() {
        let inner = format!("m{}n", "Ab".repeat(50));
        let middle = format!("o{}p", inner.repeat(50));
        assert_eq!(shown(&middle.repeat(6)).len(), 1);
    }

    #[test]
    fn a_loop_with_varying_interruptions_is_one_loop() {
        let broken: String = (0..20u8)
            .map(|at| {
                "Ab".repeat(70)
                    + &"cdefghijklmnopq"[usize::from(at % 7)..][..usize::from(5 + at % 4)]
            })
            .collect();
        assert_eq!(shown(&broken).len(), 1, "{:?}", shown(&broken));
    }
}
