//! Thresholds that a caller passes down. Rows with less time on the critical path may be omitted.

use parsers::Text;
use rustc_hash::FxHashMap;

/// The scope whose time a row, or a group of merged rows, covers, from the smallest to the largest.
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
    /// All tasks that ran one program.
    Program,
    /// One capture.
    Capture,
}

impl CostScope {
    /// Parses the name that rules use: single rows, or rows summed by process, by program or by capture.
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

/// Minimum time on the critical path of a row, alone or summed over the rows that may be merged with it.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// The rows that may be merged.
    pub within: CostScope,
    /// Minimum time by capture number, in nanoseconds.
    pub least_ns: Vec<i64>,
}

impl Threshold {
    /// Threshold of a capture.
    pub fn least_of(&self, capture: u32) -> i64 {
        self.least_ns.get(capture as usize).copied().unwrap_or(0)
    }

    /// The lowest threshold of all captures.
    pub fn least(&self) -> i64 {
        self.least_ns.iter().copied().min().unwrap_or(0)
    }

    /// Whether each row reaches the threshold together with all rows that may be merged with it. Rows are given as
    /// capture, program and time. Scopes smaller than a program are treated as a program.
    pub fn reaching(&self, rows: &[(u32, Text, i64)]) -> Vec<bool> {
        let place = |&(capture, program, _): &(u32, Text, i64)| {
            (
                capture,
                if self.within == CostScope::Capture {
                    Text::NONE
                } else {
                    program
                },
            )
        };
        let mut sums: FxHashMap<(u32, Text), i64> = FxHashMap::default();
        rows.iter()
            .for_each(|row| *sums.entry(place(row)).or_insert(0) += row.2);
        rows.iter()
            .map(|row| {
                sums.get(&place(row))
                    .is_some_and(|&ns| ns >= self.least_of(row.0))
            })
            .collect()
    }
}
