//! Thresholds that a caller passes down: rows with less time on the path may be left out.

use parsers::Text;
use rustc_hash::FxHashMap;

/// What a row has the time of, or rows that are taken together, from the least to the most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CostScope {
    /// One call.
    Call,
    /// Calls on one target.
    Target,
    /// One task.
    Task,
    /// The tasks of one process.
    Process,
    /// All that ran one program.
    Program,
    /// A capture.
    Capture,
}

impl CostScope {
    /// By the name that rules are given in: rows alone, or taken together by process, by program, or anyhow.
    pub fn by_name(name: &str) -> Option<CostScope> {
        Some(match name {
            "row" => CostScope::Call,
            "process" => CostScope::Process,
            "program" => CostScope::Program,
            "capture" => CostScope::Capture,
            _ => return None,
        })
    }
}

/// What is asked for: rows that reach so much, alone or with those that they are taken together with.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// Which rows may be taken together.
    pub within: CostScope,
    /// By number of the capture.
    pub least_ns: Vec<i64>,
}

impl Threshold {
    /// Of a capture.
    pub fn least_of(&self, capture: u32) -> i64 {
        self.least_ns.get(capture as usize).copied().unwrap_or(0)
    }

    /// Of the capture where it is lowest.
    pub fn least(&self) -> i64 {
        self.least_ns.iter().copied().min().unwrap_or(0)
    }

    /// Which of these reach the threshold, with all that may be taken together with them: each is given by its capture, its
    /// program and its time. What is smaller than a program is not told apart.
    pub fn reaching(&self, rows: &[(u32, Text, i64)]) -> Vec<bool> {
        let place = |&(capture, program, _): &(u32, Text, i64)| {
            (capture, if self.within == CostScope::Capture { Text::NONE } else { program })
        };
        let mut sums: FxHashMap<(u32, Text), i64> = FxHashMap::default();
        rows.iter().for_each(|row| *sums.entry(place(row)).or_insert(0) += row.2);
        rows.iter().map(|row| sums.get(&place(row)).is_some_and(|&ns| ns >= self.least_of(row.0))).collect()
    }
}
