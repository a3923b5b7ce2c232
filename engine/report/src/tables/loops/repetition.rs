//! Finds stretches of a symbol sequence with a repeated subsequence. One repetition is an iteration.
//!
//! ```text
//! symbols  … A b c d A b c d A b c c d A b e c d A b c d x y …
//! anchor     ^       ^       ^         ^         ^              a costly symbol
//! iterations |-------|-------|---------|-- dev --|-------       each runs from one anchor to the next
//! ```
//! An iteration conforms if it has the same kinds of symbols as most iterations, in any number, and most of them follow
//! each other in the same way. A stretch continues as long as nine in ten of its iterations conform. A much longer
//! iteration is other work between two loops and ends the stretch.

use crate::tables::loops::covered::Covered;
use rustc_hash::FxHashMap;
use std::cmp::{Ordering, Reverse};
use std::ops::Range;
use trace::store::heuristics::{
    ITERATIONS_PER_DEVIATION, MAX_HALF_FREQUENCY_RATIO, MIN_ITERATIONS,
};

/// Maximum length of an iteration, in symbols.
const MAX_PERIOD: usize = 64;
/// Maximum number of symbols tried as anchors. Each attempt scans all symbols.
const MAX_ANCHORS: usize = 16;
/// Maximum number of times that one symbol is tried.
const MAX_TRIES: u8 = 3;
/// Number of iterations that are sampled to find the most frequent one.
const ITERATIONS_SAMPLED: usize = 1024;
const NO_BIT: u8 = u8::MAX;

/// A stretch of repeated iterations.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Repetition {
    /// From the first anchor to the end of the last iteration.
    pub range: Range<usize>,
    /// Index of the last anchor.
    pub last: usize,
    /// Number of iterations.
    pub iterations: u64,
    /// The most frequent iteration.
    pub body: Vec<u32>,
    /// Start of each eighth of the iterations, as symbol index and iteration number; the last entry is the end of all
    /// iterations.
    pub eighths: [(usize, usize); 9],
}

/// The symbols (numbers below `kinds`) and their costs.
pub(super) struct SymbolLine<'a> {
    pub symbols: &'a [u32],
    pub kinds: usize,
    /// The lowest symbol that may be an anchor.
    pub first_anchor: u32,
    pub cost: &'a dyn Fn(usize) -> i64,
}

/// Shorter sequences are searched only if some symbol is frequent enough, which takes less time than to begin the search.
const SHORT_LEN: usize = 64;

/// State of the search for stretches.
struct Search<'a> {
    line: &'a SymbolLine<'a>,
    /// The cost of each symbol; [`u32::MAX`] if it is that or more.
    costs: Vec<u32>,
    covered: Covered,
    /// Indexes of all symbols, grouped by symbol and in order, and the offset of each group.
    places: Vec<u32>,
    offsets: Vec<u32>,
    /// Cost and count of the uncovered occurrences of each symbol.
    sums: Vec<(i64, usize)>,
    /// The symbols that are frequent enough for an anchor, or were.
    anchors: Vec<u32>,
    /// The bit of each symbol of the current body in a mask.
    bits: Vec<u8>,
    /// The symbols that may follow each of these symbols, as masks.
    followers: [u64; 64],
    /// The state of runs without stretches, by anchor and first index. An anchor is tried several times, and most runs are
    /// as they were the last time.
    failed: FxHashMap<(u32, u32), (u32, u32, u32)>,
    /// The number of occurrences of each symbol while a run is searched for a rarer one, else 0.
    counts: Vec<u32>,
    /// Memory that is used again for each run.
    iterations: Vec<IterationKind>,
    sampled: Vec<Sampled>,
}

/// An iteration, as a range of indexes, and its [`mask`].
#[derive(Clone, Copy)]
struct Sampled {
    mask: u64,
    start: u32,
    end: u32,
}

impl Sampled {
    fn symbols<'a>(&self, line: &SymbolLine<'a>) -> &'a [u32] {
        &line.symbols[self.start as usize..self.end as usize]
    }
}

/// Runs of an anchor, as ranges of a list of indexes.
#[derive(Default)]
struct Runs {
    places: Vec<u32>,
    ranges: Vec<Range<usize>>,
}

impl Runs {
    /// End the run that begins at this place of the list. Runs that are too short are dropped, because there may be very
    /// many. Returns where the next one begins.
    fn close(&mut self, start: usize) -> usize {
        if self.places.len() - start < MIN_ITERATIONS {
            self.places.truncate(start);
        } else {
            self.ranges.push(start..self.places.len());
        }
        self.places.len()
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.ranges.iter().map(|range| &self.places[range.clone()])
    }
}

/// All stretches of iterations, disjoint and in order.
pub(super) fn repetitions(line: &SymbolLine<'_>) -> Vec<Repetition> {
    if !may_repeat(line.symbols) {
        return Vec::new();
    }
    let mut search = Search::new(line);
    // A successful anchor is tried again, because other loops may use the same symbol.
    let mut tries = vec![0u8; line.kinds];
    let mut found: Vec<Repetition> = Vec::new();
    for _ in 0..MAX_ANCHORS {
        let Some(anchor) = search.costliest(&tries) else {
            break;
        };
        let here = search.with_anchor(anchor);
        tries[anchor as usize] += if here.is_empty() { MAX_TRIES } else { 1 };
        found.extend(here);
    }
    found.sort_by_key(|one| one.range.start);
    found
}

/// Whether a symbol may occur as often as an anchor does.
fn may_repeat(symbols: &[u32]) -> bool {
    let mut sorted = [0u32; SHORT_LEN];
    let Some(sorted) = sorted.get_mut(..symbols.len()) else {
        return true;
    };
    sorted.copy_from_slice(symbols);
    sorted.sort_unstable();
    sorted
        .windows(MIN_ITERATIONS)
        .any(|same| same[0] == same[MIN_ITERATIONS - 1])
}

fn placed(line: &SymbolLine<'_>, sums: &[(i64, usize)]) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0u32; line.kinds + 1];
    for (symbol, sum) in sums.iter().enumerate() {
        offsets[symbol + 1] = offsets[symbol] + sum.1 as u32;
    }
    let mut next = offsets.clone();
    let mut places = vec![0u32; line.symbols.len()];
    for (at, &symbol) in line.symbols.iter().enumerate() {
        let place = &mut next[symbol as usize];
        places[*place as usize] = at as u32;
        *place += 1;
    }
    (places, offsets)
}

impl<'a> Search<'a> {
    fn new(line: &'a SymbolLine<'a>) -> Search<'a> {
        let mut sums = vec![(0i64, 0usize); line.kinds];
        let mut costs = Vec::with_capacity(line.symbols.len());
        for (at, &symbol) in line.symbols.iter().enumerate() {
            let cost = (line.cost)(at);
            let sum = &mut sums[symbol as usize];
            *sum = (sum.0.saturating_add(cost), sum.1 + 1);
            costs.push(u32::try_from(cost).unwrap_or(u32::MAX));
        }
        let (places, offsets) = placed(line, &sums);
        Search {
            line,
            costs,
            covered: Covered::new(line.symbols.len()),
            places,
            offsets,
            anchors: (line.first_anchor..line.kinds as u32)
                .filter(|&symbol| sums[symbol as usize].1 >= MIN_ITERATIONS)
                .collect(),
            sums,
            bits: vec![NO_BIT; line.kinds],
            followers: [0; 64],
            failed: FxHashMap::default(),
            counts: vec![0; line.kinds],
            iterations: Vec::new(),
            sampled: Vec::new(),
        }
    }

    fn cost(&self, at: usize) -> i64 {
        match self.costs[at] {
            u32::MAX => (self.line.cost)(at),
            cost => i64::from(cost),
        }
    }

    /// Indexes of a symbol within a range.
    fn places(&self, symbol: u32, range: Range<usize>) -> &[u32] {
        let symbol = symbol as usize;
        let all = &self.places[self.offsets[symbol] as usize..self.offsets[symbol + 1] as usize];
        let bound = |at: usize| all.partition_point(|&place| (place as usize) < at);
        &all[bound(range.start)..bound(range.end)]
    }

    /// The symbol with the most uncovered cost; without costs, the most frequent one.
    fn costliest(&self, tries: &[u8]) -> Option<u32> {
        let sums = self
            .anchors
            .iter()
            .copied()
            .filter(|symbol| tries[*symbol as usize] < MAX_TRIES)
            .map(|symbol| (symbol, self.sums[symbol as usize]));
        let often = sums.filter(|&(_, sum)| sum.1 >= MIN_ITERATIONS);
        often
            .max_by_key(|&(symbol, sum)| (sum, Reverse(symbol)))
            .map(|(symbol, _)| symbol)
    }

    fn cover(&mut self, range: Range<usize>) {
        self.covered.add(range.clone());
        for at in range {
            let cost = self.cost(at);
            let sum = &mut self.sums[self.line.symbols[at] as usize];
            *sum = (sum.0.saturating_sub(cost), sum.1.saturating_sub(1));
        }
    }

    fn with_anchor(&mut self, anchor: u32) -> Vec<Repetition> {
        let mut found = Vec::new();
        for run in self.runs(0..self.line.symbols.len(), anchor).iter() {
            let (first, last) = (run[0] as usize, run[run.len() - 1] as usize);
            if self.covered.has_any(first..last) {
                continue;
            }
            let state = self.state(run);
            if self.failed.get(&(anchor, run[0])) == Some(&state) {
                continue;
            }
            let mut here = self.stretches(run);
            if here.is_empty() {
                let near = first.saturating_sub(MAX_PERIOD)
                    ..(last + MAX_PERIOD).min(self.line.symbols.len());
                let runs = self
                    .rarer(run)
                    .map(|rarer| self.runs(near, rarer))
                    .unwrap_or_default();
                here = runs.iter().flat_map(|run| self.stretches(run)).collect();
            }
            if here.is_empty() {
                self.failed.insert((anchor, run[0]), state);
            }
            here.iter().for_each(|one| self.cover(one.range.clone()));
            found.extend(here);
        }
        found
    }

    /// Number and end of the anchors of a run, and number of covered symbols that the search for its stretches depends on.
    /// Symbols are never uncovered, so nothing has changed as long as this is the same.
    fn state(&self, run: &[u32]) -> (u32, u32, u32) {
        let (first, last) = (run[0] as usize, run[run.len() - 1]);
        let end = (last as usize + 2 * MAX_PERIOD).min(self.line.symbols.len());
        (
            run.len() as u32,
            last,
            self.covered
                .count(first.saturating_sub(2 * MAX_PERIOD)..end),
        )
    }

    /// Indexes of the anchor, split where two are more than [`MAX_PERIOD`] apart and at covered symbols.
    fn runs(&self, range: Range<usize>, anchor: u32) -> Runs {
        let (mut runs, mut start) = (Runs::default(), 0);
        for &place in self.places(anchor, range) {
            let at = place as usize;
            if self.covered.has(at) {
                continue;
            }
            let goes_on = |last: usize| at - last <= MAX_PERIOD && !self.covered.has_any(last..at);
            if runs
                .places
                .last()
                .is_some_and(|&last| !goes_on(last as usize))
            {
                start = runs.close(start);
            }
            runs.places.push(place);
        }
        runs.close(start);
        runs
    }

    /// The most frequent symbol that is clearly rarer than the anchor. If the anchor occurs twice per iteration, this
    /// symbol may occur once.
    fn rarer(&mut self, run: &[u32]) -> Option<u32> {
        let symbols = &self.line.symbols[run[0] as usize..run[run.len() - 1] as usize];
        let max_count = (run.len() as f64 * MAX_HALF_FREQUENCY_RATIO) as u32;
        symbols
            .iter()
            .for_each(|&symbol| self.counts[symbol as usize] += 1);
        let mut most: Option<(u32, Reverse<u32>)> = None;
        for &symbol in symbols {
            let count = std::mem::take(&mut self.counts[symbol as usize]);
            if (MIN_ITERATIONS as u32..=max_count).contains(&count) {
                most = most.max(Some((count, Reverse(symbol))));
            }
        }
        most.map(|(_, Reverse(symbol))| symbol)
    }

    /// The stretches of a run of anchors.
    fn stretches(&mut self, run: &[u32]) -> Vec<Repetition> {
        let Some(body) = self.commonest(run) else {
            return Vec::new();
        };
        let kinds = kinds(&body);
        for (bit, &symbol) in kinds.iter().enumerate() {
            self.bits[symbol as usize] = bit as u8;
        }
        self.followers = [0; 64];
        for pair in body.windows(2) {
            let (one, other) = (
                self.bits[pair[0] as usize] & 63,
                self.bits[pair[1] as usize] & 63,
            );
            self.followers[usize::from(one)] |= 1 << other;
        }
        let all = u64::MAX >> (64 - kinds.len().clamp(1, 64));
        let mut iterations = std::mem::take(&mut self.iterations);
        iterations.clear();
        iterations.extend(
            run.windows(2)
                .map(|pair| self.classify(pair[0]..pair[1], all, body.len())),
        );
        let mut ranges = ranges(iterations.iter().copied());
        if ranges
            .iter()
            .any(|iterations| self.others_cost(run[iterations.start]..run[iterations.end]))
        {
            // Costly symbols do not count as deviations: they are other work between loops, or part of an enclosing
            // loop.
            let strictly = |&iteration: &IterationKind| {
                if iteration == IterationKind::Conforms {
                    IterationKind::Conforms
                } else {
                    IterationKind::OtherWork
                }
            };
            ranges = self::ranges(iterations.iter().map(strictly));
        }
        self.iterations = iterations;
        let ranges = ranges
            .into_iter()
            .filter(|iterations| iterations.len() + 1 >= MIN_ITERATIONS);
        let found = ranges.map(|iterations| {
            one(
                run,
                &iterations,
                &body,
                self.last_iteration(run, &iterations, all, body.len()),
            )
        });
        let found = found
            .filter(|one| one.iterations >= MIN_ITERATIONS as u64)
            .collect();
        kinds
            .iter()
            .for_each(|&symbol| self.bits[symbol as usize] = NO_BIT);
        found
    }

    /// Number of symbols of the iteration that the last anchor starts, or `None` if it does not start one. An iteration
    /// is complete if the symbols after the last anchor and those before the first contain the whole body.
    fn last_iteration(
        &self,
        run: &[u32],
        iterations: &Range<usize>,
        all: u64,
        period: usize,
    ) -> Option<usize> {
        let (first, last) = (run[iterations.start] as usize, run[iterations.end] as usize);
        let bit = |at: usize| {
            self.bits
                .get(self.line.symbols[at] as usize)
                .filter(|&&bit| bit != NO_BIT)
                .copied()
        };
        let anchor = self.line.symbols[last];
        let after = || {
            (last..self.line.symbols.len())
                .take(period)
                .take_while(|at| {
                    !self.covered.has(*at) && (*at == last || self.line.symbols[*at] != anchor)
                })
                .map_while(bit)
        };
        let before = (0..first).rev().take(period - 1).map_while(bit);
        let mask = after()
            .chain(before)
            .fold(0u64, |mask, bit| mask | 1 << bit);
        (mask == all).then(|| after().count())
    }

    /// The most frequent iteration among those with the most frequent set of symbols.
    fn commonest(&mut self, run: &[u32]) -> Option<Vec<u32>> {
        let line = self.line;
        let step = (run.len() - 1).div_ceil(ITERATIONS_SAMPLED).max(1);
        self.sampled.clear();
        self.sampled
            .extend(run.windows(2).step_by(step).map(|pair| {
                let mut one = Sampled {
                    mask: 0,
                    start: pair[0],
                    end: pair[1],
                };
                one.mask = mask(one.symbols(line));
                one
            }));
        // Most runs are short, so sorting takes less time than a map.
        let by_symbols =
            |one: &Sampled, other: &Sampled| one.symbols(line).cmp(other.symbols(line));
        self.sampled.sort_unstable_by(|one, other| {
            one.mask
                .cmp(&other.mask)
                .then_with(|| by_symbols(one, other))
        });
        let mut best: Option<Alike<'_>> = None;
        for alike in self.sampled.chunk_by(|one, other| one.mask == other.mask) {
            // Those with the same set of symbols have the same mask.
            if alike.len() >= best.as_ref().map_or(2, |best| best.count) {
                best = most_alike(line, alike)
                    .into_iter()
                    .chain(best)
                    .max_by(Alike::compare);
            }
        }
        best.map(|alike| alike.iteration.to_vec())
    }

    /// Whether symbols outside the body account for more than a tenth of the cost.
    fn others_cost(&self, range: Range<u32>) -> bool {
        let (mut others, mut all) = (0i64, 0i64);
        for at in range.start as usize..range.end as usize {
            let cost = self.cost(at);
            all = all.saturating_add(cost);
            if self.bits[self.line.symbols[at] as usize] == NO_BIT {
                others = others.saturating_add(cost);
            }
        }
        others > all / ITERATIONS_PER_DEVIATION as i64
    }

    fn classify(&self, iteration: Range<u32>, all: u64, period: usize) -> IterationKind {
        let iteration = &self.line.symbols[iteration.start as usize..iteration.end as usize];
        let is_long = iteration.len() > 2 * period + 1;
        let (mut mask, mut unlike, mut before) = (0u64, 0usize, NO_BIT);
        for (at, &symbol) in iteration.iter().enumerate() {
            let bit = self.bits[symbol as usize];
            // Most iterations of most symbols are other work, and the first other symbol shows it.
            if bit == NO_BIT && is_long {
                return IterationKind::OtherWork;
            } else if bit == NO_BIT {
                let others = iteration[at..]
                    .iter()
                    .filter(|&&symbol| self.bits[symbol as usize] == NO_BIT)
                    .count();
                return IterationKind::Deviates(others.div_ceil(period) as u32);
            }
            mask |= 1 << bit;
            let known = before == NO_BIT
                || before == bit
                || self.followers[usize::from(before)] & 1 << bit != 0;
            unlike += usize::from(!known);
            before = bit;
        }
        // Long iterations with few kinds of symbols all have the same set. They conform if most symbols follow each
        // other as in the body.
        match () {
            () if mask == all && 2 * unlike <= iteration.len() => IterationKind::Conforms,
            () if is_long => IterationKind::OtherWork,
            () => IterationKind::Deviates(1),
        }
    }
}

/// Iterations with the same set of symbols.
struct Alike<'a> {
    count: usize,
    kinds: Vec<u32>,
    /// The most frequent of them; of those the shortest, and then the first in order of symbols.
    iteration: &'a [u32],
}

impl Alike<'_> {
    /// More iterations are greater, and then a set of lower symbols.
    fn compare(&self, other: &Self) -> Ordering {
        self.count
            .cmp(&other.count)
            .then_with(|| other.kinds.cmp(&self.kinds))
    }
}

/// The most frequent set of symbols among sorted iterations with the same mask, if it occurs more than once.
fn most_alike<'a>(line: &SymbolLine<'a>, sorted: &[Sampled]) -> Option<Alike<'a>> {
    // Most iterations are equal, so each distinct iteration is analysed once.
    let same = sorted.chunk_by(|one, other| one.symbols(line) == other.symbols(line));
    let mut distinct: Vec<(Vec<u32>, &[u32], usize)> = same
        .map(|same| {
            (
                kinds(same[0].symbols(line)),
                same[0].symbols(line),
                same.len(),
            )
        })
        .collect();
    // Those with the same set of symbols stay in the order of their symbols.
    distinct.sort_by(|one, other| one.0.cmp(&other.0));
    let of_set = distinct
        .chunk_by(|one, other| one.0 == other.0)
        .filter_map(|alike| {
            let count = alike.iter().map(|&(_, _, count)| count).sum();
            let most = alike.iter().max_by_key(|&&(_, iteration, count)| {
                (count, Reverse((iteration.len(), iteration)))
            })?;
            (count > 1).then(|| Alike {
                count,
                kinds: alike[0].0.clone(),
                iteration: most.1,
            })
        });
    of_set.max_by(Alike::compare)
}

/// Equal for iterations with the same set of symbols, and nearly always different for others.
fn mask(iteration: &[u32]) -> u64 {
    iteration
        .iter()
        .fold(0, |mask, &symbol| mask | 1 << (symbol % 64))
}

/// The symbols of an iteration, each once and in order.
fn kinds(iteration: &[u32]) -> Vec<u32> {
    let mut kinds = iteration.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// How an iteration compares with the body.
#[derive(Clone, Copy, PartialEq)]
enum IterationKind {
    Conforms,
    /// Contains other symbols; the value is their number in units of the body length, at least 1.
    Deviates(u32),
    OtherWork,
}

/// Stretches with nine in ten conforming iterations. Each starts and ends with a conforming iteration.
fn ranges(iterations: impl Iterator<Item = IterationKind>) -> Vec<Range<usize>> {
    // Range up to the last conforming iteration, deviations within it, and whether other work precedes it.
    let mut found: Vec<(Range<usize>, usize, bool)> = Vec::new();
    let mut open: Option<(Range<usize>, usize, usize)> = None;
    let mut apart = true;
    for (at, iteration) in iterations.enumerate() {
        match (iteration, &mut open) {
            (IterationKind::Conforms, None) => open = Some((at..at + 1, 0, 0)),
            (IterationKind::Conforms, Some((range, inside, since))) => {
                *inside += std::mem::take(since);
                range.end = at + 1;
            }
            (IterationKind::Deviates(weight), Some((range, inside, since))) => {
                *since += weight as usize;
                if (*inside + *since) * (ITERATIONS_PER_DEVIATION - 1) > range.len() {
                    found.push((range.clone(), *inside, std::mem::replace(&mut apart, false)));
                    open = None;
                }
            }
            (IterationKind::OtherWork, _) => {
                found.extend(open.take().map(|(range, inside, _)| (range, inside, apart)));
                apart = true;
            }
            (IterationKind::Deviates(_), None) => {}
        }
    }
    found.extend(open.map(|(range, inside, _)| (range, inside, apart)));
    joined(found)
}

/// Joins adjacent stretches if at most one iteration in ten deviates overall. A deviation near the start thus weighs no
/// more than a later one.
fn joined(parts: Vec<(Range<usize>, usize, bool)>) -> Vec<Range<usize>> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    for (range, inside, apart) in parts {
        let mut now = (range, inside);
        while let Some((before, deviating)) = found.last().filter(|_| !apart) {
            let all = (
                before.start..now.0.end,
                deviating + now.1 + now.0.start - before.end,
            );
            if all.1 * ITERATIONS_PER_DEVIATION > all.0.len() {
                break;
            }
            found.pop();
            now = all;
        }
        found.push(now);
    }
    found.into_iter().map(|(range, _)| range).collect()
}

fn one(
    run: &[u32],
    iterations: &Range<usize>,
    body: &[u32],
    last_iteration: Option<usize>,
) -> Repetition {
    let place = |at: usize| run[at] as usize;
    Repetition {
        range: place(iterations.start)..place(iterations.end) + last_iteration.unwrap_or(0),
        last: if last_iteration.is_some() {
            place(iterations.end)
        } else {
            place(iterations.end) - 1
        },
        iterations: iterations.len() as u64 + u64::from(last_iteration.is_some()),
        body: body.to_vec(),
        eighths: std::array::from_fn(|part| {
            let iteration = part * iterations.len() / 8;
            (place(iterations.start + iteration), iteration)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::nests;
    use super::*;

    /// Formats the stretches as body and number of iterations: `ab*5`.
    fn stretches(text: &str) -> Vec<String> {
        let symbols: Vec<u32> = text.bytes().map(u32::from).collect();
        let cost = |at: usize| {
            if text.as_bytes()[at].is_ascii_uppercase() {
                100
            } else {
                1
            }
        };
        let line = SymbolLine {
            symbols: &symbols,
            kinds: 128,
            first_anchor: 0,
            cost: &cost,
        };
        let body = |one: &Repetition| {
            one.body
                .iter()
                .map(|&symbol| symbol as u8 as char)
                .collect::<String>()
        };
        repetitions(&line)
            .iter()
            .map(|one| format!("{}*{}", body(one), one.iterations))
            .collect()
    }

    #[test]
    fn iterations_of_any_length_up_to_the_maximum_are_found() {
        let long: String = (b'!'..b'!' + 60).map(char::from).collect();
        assert_eq!(stretches("xyAbcAbcAbcAbcAbz"), ["Abc*4"]);
        assert_eq!(stretches("aaaaaaa"), ["a*7"]);
        assert_eq!(stretches(&long.repeat(6)).len(), 1);
        assert_eq!(stretches("AbcAbcAbc"), Vec::<String>::new());
        assert_eq!(
            stretches("abcdefghijklmnopqrstuvwxyzacegikmoqs"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn stretches_never_overlap() {
        let mut random = 1u64;
        for kinds in 1..200 {
            let mut next = || {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) % (1 + kinds % 7)
            };
            let symbols: Vec<u32> = (0..300).map(|_| next() as u32).collect();
            let cost = |at: usize| i64::from(symbols[at] * symbols[at]);
            let found = repetitions(&SymbolLine {
                symbols: &symbols,
                kinds: 8,
                first_anchor: 0,
                cost: &cost,
            });
            assert!(
                found
                    .windows(2)
                    .all(|pair| pair[0].range.end <= pair[1].range.start),
                "{symbols:?}"
            );
            assert!(
                found
                    .iter()
                    .all(|one| one.range.contains(&one.last) && one.range.end <= symbols.len())
            );
            let all = |range: Range<usize>| range.map(cost).sum();
            let calls = nests::NestInput {
                shapes: &symbols,
                kinds: 8,
                cost_ns: &cost,
                time_ns: &all,
            };
            let nests = nests::nests(&calls);
            assert!(
                nests
                    .windows(2)
                    .all(|pair| pair[0].range.end <= pair[1].range.start),
                "{symbols:?}"
            );
        }
    }

    #[test]
    fn alternating_bodies_are_one_loop() {
        assert_eq!(stretches(&"AbAc".repeat(6)), ["bAcA*6"]);
        assert_eq!(stretches(&"abAbac".repeat(9)), ["Abacab*9"]);
    }

    #[test]
    fn one_deviating_iteration_in_ten_does_not_end_a_loop() {
        let begin_is_odd = format!("AbAxb{}", "Ab".repeat(30));
        assert_eq!(stretches(&begin_is_odd), ["Ab*32"]);
        assert_eq!(stretches(&format!("{0}Axb{0}", "Ab".repeat(12))), ["Ab*25"]);
        assert_eq!(stretches(&"AbAxb".repeat(10)), ["xbAbA*10"]);
    }

    #[test]
    fn other_work_ends_a_loop() {
        assert_eq!(
            stretches(&format!("{0}uvwxyz{0}", "Ab".repeat(8))),
            ["Ab*8", "Ab*8"]
        );
    }

    #[test]
    fn two_loops_with_the_same_anchor_are_separate() {
        assert_eq!(
            stretches(&("Ab".repeat(20) + &"Acd".repeat(10))),
            ["Ab*20", "Acd*10"]
        );
    }
}
