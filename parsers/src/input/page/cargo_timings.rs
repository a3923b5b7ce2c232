//! The page of `cargo build --timings`: the units of its longest chain, each with its start and its duration.
//!
//! ```text
//! In:   "name": "serde", "version": "1.0.228", "start": 1.56, "duration": 2.17, "unblocked_units": [19], …
//! Out:  [    1.560000] serde@1.0.228 @1.560s +2.170s
//! ```
//! A unit can begin when those that unblock it have ended, or when they have written their metadata, and when a job is free.
//! The chain goes back from the unit that ended last, each time to the one that unblocked it last, or if it began later than
//! that, to the one whose end left a job free. Units beside the chain delayed nothing, so they have no line. Releases before
//! 1.84 (`unlocked_units`, `rmeta_time`) and newer ones (`unblocked_units`, `sections`) name the same.

use super::{LogLine, plain};
use crate::scan;
use std::collections::HashMap;

const TITLE: &[u8] = b"<h1>Cargo Build Timings</h1>";
const BEGIN: &[u8] = b"const UNIT_DATA = [";
const NS_PER_S: f64 = 1e9;
/// Times are rounded to hundredths of a second, each by itself.
const ROUNDING_NS: i64 = 15_000_000;
/// A unit that begins later than this after it was unblocked waited for a free job.
const MAX_START_NS: i64 = 100_000_000;
/// More units than any build has.
const MAX_UNITS: usize = 100_000;

pub(super) fn is_page(head: &[u8]) -> bool {
    memchr::memmem::find(head, TITLE).is_some_and(|at| at == 0 || head[at - 1] == b'\n')
}

/// The chain as lines of a log, from the start of the build to its end.
pub(super) fn log(lines: &[&[u8]]) -> Vec<LogLine> {
    let units = units(lines);
    let chain = chain(&units);
    let Some(&(last, _)) = chain.last() else {
        return Vec::new();
    };
    let begun = LogLine {
        at: units[chain[0].0].at.saturating_sub(1),
        text: stamped(0, "cargo build begins"),
    };
    let ended = LogLine {
        at: units[last].at + 1,
        text: stamped(units[last].end_ns(), "cargo build ends"),
    };
    let told = chain.iter().map(|&(unit, is_metadata)| LogLine {
        at: units[unit].at,
        text: units[unit].line(is_metadata),
    });
    [begun].into_iter().chain(told).chain([ended]).collect()
}

/// A unit, or as much of it as was read.
#[derive(Default)]
struct Unit {
    /// The line of its name, from 0.
    at: usize,
    index: i64,
    name: String,
    version: String,
    target: String,
    start_ns: i64,
    dur_ns: i64,
    /// How long it took until its metadata was written.
    metadata_ns: Option<i64>,
    unblocks: Vec<i64>,
    unblocks_by_metadata: Vec<i64>,
}

impl Unit {
    fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add(self.dur_ns)
    }

    fn metadata_end_ns(&self) -> i64 {
        let dur_ns = self.metadata_ns.unwrap_or(self.dur_ns).min(self.dur_ns);
        self.start_ns.saturating_add(dur_ns)
    }

    fn line(&self, is_metadata: bool) -> String {
        let end_ns = if is_metadata {
            self.metadata_end_ns()
        } else {
            self.end_ns()
        };
        let part = if is_metadata { ":metadata" } else { "" };
        let target = match self.target.as_str() {
            "" => String::new(),
            target => format!(":{}", target.replace(' ', "-")),
        };
        let name = format!("{}@{}{target}{part}", self.name, self.version);
        let (start, took) = (shown(self.start_ns), shown(end_ns - self.start_ns));
        stamped(self.start_ns, &format!("{name} @{start}s +{took}s"))
    }
}

fn stamped(at_ns: i64, text: &str) -> String {
    let us = at_ns / 1000;
    format!("[{:5}.{:06}] {text}", us / 1_000_000, us % 1_000_000)
}

/// Seconds with three digits.
fn shown(ns: i64) -> String {
    let ms = ns / 1_000_000;
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// Which list the numbers of the next lines belong to.
#[derive(Clone, Copy, PartialEq)]
enum List {
    None,
    Unblocks,
    UnblocksByMetadata,
    Other,
}

fn units(lines: &[&[u8]]) -> Vec<Unit> {
    let begin = lines.iter().position(|line| line.starts_with(BEGIN));
    let (mut units, mut unit, mut list) = (Vec::new(), Unit::default(), List::None);
    let mut is_frontend = false;
    let data = lines
        .iter()
        .enumerate()
        .skip(begin.map_or(lines.len(), |at| at + 1));
    for (at, line) in data.take_while(|(_, line)| !line.starts_with(b"]")) {
        let indent = line.len() - scan::skip_blanks(line).len();
        let text = scan::trim(line);
        let text = text.strip_suffix(b",").unwrap_or(text);
        if text == b"}" && indent <= 2 {
            let unit = std::mem::take(&mut unit);
            // A unit that took nothing was up to date.
            if !unit.name.is_empty() && units.len() < MAX_UNITS {
                units.push(unit);
            }
        } else if let Some((key, value)) = field(text) {
            list = read_field(&mut unit, (at, indent), key, value, is_frontend);
        } else if list != List::None {
            match (list, scan::number(text)) {
                (List::Unblocks, Some((index, b""))) => unit.unblocks.push(index),
                (List::UnblocksByMetadata, Some((index, b""))) => {
                    unit.unblocks_by_metadata.push(index);
                }
                _ => is_frontend = text == b"\"frontend\"" || is_frontend && text != b"\"codegen\"",
            }
        }
    }
    units
}

/// `"name": value`
fn field(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = text.strip_prefix(b"\"")?;
    let end = memchr::memmem::find(rest, b"\": ")?;
    Some((&rest[..end], &rest[end + 3..]))
}

fn read_field(
    unit: &mut Unit,
    (at, indent): (usize, usize),
    key: &[u8],
    value: &[u8],
    is_frontend: bool,
) -> List {
    // Deeper ones are of a section.
    if indent > 4 {
        if key == b"end" && is_frontend {
            unit.metadata_ns = ns(value);
        }
        return List::Other;
    }
    let text = || {
        let text = plain(value).replace("\\\"", "");
        text.trim_matches(['"', ' ']).to_owned()
    };
    match key {
        b"i" => unit.index = scan::number(value).map_or(-1, |(index, _)| index),
        b"name" => (unit.at, unit.name) = (at, text().replace(' ', "-")),
        b"version" => unit.version = text(),
        b"target" => unit.target = text(),
        b"start" => unit.start_ns = ns(value).unwrap_or(0),
        b"duration" => unit.dur_ns = ns(value).unwrap_or(0),
        b"rmeta_time" => unit.metadata_ns = ns(value),
        b"unlocked_units" | b"unblocked_units" => return List::Unblocks,
        b"unlocked_rmeta_units" | b"unblocked_rmeta_units" => return List::UnblocksByMetadata,
        _ => return List::Other,
    }
    List::None
}

/// Seconds as nanoseconds, within a year.
fn ns(value: &[u8]) -> Option<i64> {
    const MAX_S: f64 = 366.0 * 86_400.0;
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (0.0..MAX_S)
        .contains(&seconds)
        .then(|| (seconds * NS_PER_S).round() as i64)
}

/// The units from the first one to the one that ended last, and whether the next one needed the metadata only.
fn chain(units: &[Unit]) -> Vec<(usize, bool)> {
    let by_index: HashMap<i64, usize> = units
        .iter()
        .enumerate()
        .map(|(at, unit)| (unit.index, at))
        .collect();
    let mut unblocked_by: Vec<Option<(i64, usize, bool)>> = vec![None; units.len()];
    for (from, unit) in units.iter().enumerate() {
        let whole = unit.unblocks.iter().map(|to| (to, unit.end_ns(), false));
        let part = unit
            .unblocks_by_metadata
            .iter()
            .map(|to| (to, unit.metadata_end_ns(), true));
        for (to, ready_ns, is_metadata) in whole.chain(part) {
            if let Some(&to) = by_index.get(to) {
                unblocked_by[to] = unblocked_by[to].max(Some((ready_ns, from, is_metadata)));
            }
        }
    }
    let mut by_end: Vec<usize> = (0..units.len()).collect();
    by_end.sort_by_key(|&at| units[at].end_ns());
    let mut at = by_end.last().copied();
    let (mut found, mut is_metadata) = (Vec::new(), false);
    while let Some(unit) = at.filter(|_| found.len() < units.len()) {
        found.push((unit, is_metadata));
        let start_ns = units[unit].start_ns;
        let ended =
            by_end.partition_point(|&other| units[other].end_ns() <= start_ns + ROUNDING_NS);
        let mut ended = by_end[..ended].iter().rev();
        let freed = ended.find(|&&other| units[other].start_ns < start_ns);
        let freed = freed.map(|&other| (units[other].end_ns(), other, false));
        let before =
            unblocked_by[unit].filter(|&(ready_ns, ..)| start_ns - ready_ns <= MAX_START_NS);
        // One that begins later than what follows it would be no chain.
        let before = before
            .or(freed.max(unblocked_by[unit]))
            .filter(|&(_, from, _)| units[from].start_ns < start_ns);
        at = before.map(|(_, from, _)| from);
        is_metadata = before.is_some_and(|(.., is_metadata)| is_metadata);
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(page: &str) -> Vec<(usize, String)> {
        let lines: Vec<&[u8]> = page.as_bytes().split(|&byte| byte == b'\n').collect();
        log(&lines)
            .into_iter()
            .map(|line| (line.at, line.text))
            .collect()
    }

    fn unit(index: i64, name: &str, times: &str, unblocks: &str) -> String {
        format!(
            "  {{\n    \"i\": {index},\n    \"name\": \"{name}\",\n    \"version\": \"1.0.2\",\n    \"target\": \"\",\n    \
             \"features\": [\n      \"std\"\n    ],\n{times},\n{unblocks}\n  }},"
        )
    }

    const NEW: &str = "    \"start\": 0.5,\n    \"duration\": 3.0,\n    \"sections\": [\n      [\n        \"frontend\",\n        {\n          \
                       \"start\": 0.0,\n          \"end\": 1.25\n        }\n      ],\n      [\n        \"codegen\",\n        {\n          \
                       \"start\": 1.25,\n          \"end\": 3.0\n        }\n      ]\n    ]";

    fn page(units: &[String]) -> String {
        format!(
            "const UNIT_DATA = [\n{}\n];\nconst CONCURRENCY_DATA = [\n  {{\n    \"t\": 9.0\n  }}\n];",
            units.join("\n")
        )
    }

    #[test]
    fn the_chain_ends_with_the_unit_that_ended_last() {
        let units = [
            unit(
                4,
                "libc",
                "    \"start\": 0.5,\n    \"duration\": 2.0",
                "    \"unlocked_units\": [\n      7,\n      9\n    ]",
            ),
            unit(
                5,
                "slow",
                "    \"start\": 0.5,\n    \"duration\": 2.4",
                "    \"unlocked_units\": []",
            ),
            unit(
                7,
                "app",
                "    \"start\": 2.6,\n    \"duration\": 4.0",
                "    \"unlocked_units\": []",
            ),
        ];
        let texts: Vec<String> = log_of(&page(&units))
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        assert_eq!(
            texts,
            [
                "[    0.000000] cargo build begins",
                "[    0.500000] libc@1.0.2 @0.500s +2.000s",
                "[    2.600000] app@1.0.2 @2.600s +4.000s",
                "[    6.600000] cargo build ends",
            ]
        );
    }

    #[test]
    fn a_unit_that_was_ready_waits_for_a_free_job() {
        let units = [
            unit(
                1,
                "libc",
                "    \"start\": 0.5,\n    \"duration\": 1.0",
                "    \"unblocked_units\": [\n      3\n    ]",
            ),
            unit(
                2,
                "syn",
                "    \"start\": 0.5,\n    \"duration\": 7.0",
                "    \"unblocked_units\": []",
            ),
            unit(
                3,
                "app",
                "    \"start\": 7.51,\n    \"duration\": 4.0",
                "    \"unblocked_units\": []",
            ),
        ];
        let texts: Vec<String> = log_of(&page(&units))
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        assert_eq!(texts[1], "[    0.500000] syn@1.0.2 @0.500s +7.000s");
    }

    #[test]
    fn metadata_unblocks_before_the_code_is_there() {
        let app = "    \"start\": 1.8,\n    \"duration\": 2.0";
        let old = "    \"start\": 0.5,\n    \"duration\": 3.0,\n    \"rmeta_time\": 1.25";
        for (times, key) in [
            (old, "unlocked_rmeta_units"),
            (NEW, "unblocked_rmeta_units"),
        ] {
            let base = unit(
                1,
                "base",
                times,
                &format!("    \"{key}\": [\n      2\n    ]"),
            );
            let found = log_of(&page(&[
                base,
                unit(2, "app", app, "    \"unlocked_units\": []"),
            ]));
            assert_eq!(
                found[1].1, "[    0.500000] base@1.0.2:metadata @0.500s +1.250s",
                "{key}"
            );
            assert_eq!(found[1].0, 3);
        }
    }

    #[test]
    fn units_that_unblock_each_other_are_no_chain() {
        let times = "    \"start\": 1.0,\n    \"duration\": 2.0";
        let units = [1, 2].map(|index| {
            let other = format!("    \"unlocked_units\": [\n      {}\n    ]", 3 - index);
            unit(index, "a", times, &other)
        });
        assert_eq!(log_of(&page(&units)).len(), 3);
        assert!(log_of(&page(&[])).is_empty());
        assert!(log_of("const UNIT_DATA = [\n  {\n    \"name\": 9").is_empty());
        assert_eq!(
            log_of(&page(&[unit(
                1,
                "a",
                "    \"start\": 1e300,\n    \"duration\": -4",
                ""
            )]))
            .len(),
            3
        );
    }
}
