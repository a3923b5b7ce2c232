//! Items of a log: the subjects of repeated messages, one jail, device or service after the other.
//!
//! ```text
//! jail 2  start ───────▶ lock ──▶ up                       own: from the first message about an item to its last
//! jail 6  start ─────────────────────▶ lock ──▶ up         step: what an item adds to the time of those before it
//! jail 4  start ───────────────────────────────────▶ lock ──▶ up
//!                                  |- step -|- … -|        parallel: sum of own times over elapsed, as it seems 2.0
//!         |------------------ elapsed ---------------|     effective: items × the first one's own over elapsed, 1.2
//! ```
//!
//! Messages are about one kind of item if they contain nearly the same numbers after the same noun, or nearly the same
//! names. An item is completed with its last message, if that is the one that ends most of them.

use super::fit::{Fit, fit};
use super::stages::{self, Said, Stage};
use super::words;
use parsers::{DurKind, NO_NS};
use query::selection::Selection;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::event::EventKind;
use trace::store::heuristics::{MIN_ITEMS, MIN_SHARED_ITEMS_PERCENT};
use trace::store::trace::Trace;

/// Maximum number of kinds of items with one noun.
const MAX_KINDS: usize = 64;

/// A log as stages, and the kinds of items in it.
pub struct Log {
    /// Number of the capture.
    pub capture: u32,
    /// By their first messages.
    pub stages: Vec<Stage>,
    /// By their first messages.
    pub kinds: Vec<ItemKind>,
}

/// Items with the same messages.
pub struct ItemKind {
    /// `jail N`, `NAME`.
    pub name: String,
    /// Its stages, by their first messages.
    pub stages: Vec<usize>,
    /// The stage that completes an item.
    pub last_stage: usize,
    /// All items, by completion. Incomplete ones come last.
    pub items: Vec<Item>,
    /// How many of them are completed.
    pub completed: usize,
    /// The line through completions.
    pub fit: Fit,
}

/// One item.
pub struct Item {
    /// Its messages with their stages, in order.
    pub said: Vec<(Said, usize)>,
}

impl Item {
    /// When the first message about it came.
    pub fn start_ns(&self) -> i64 {
        self.said.first().map_or(0, |(said, _)| said.at_ns)
    }

    /// When the last one came.
    pub fn end_ns(&self) -> i64 {
        self.said.last().map_or(0, |(said, _)| said.at_ns)
    }

    /// From the first message to the last.
    pub fn own_ns(&self) -> i64 {
        self.end_ns() - self.start_ns()
    }

    fn last_stage(&self) -> usize {
        self.said.last().map_or(0, |&(_, stage)| stage)
    }
}

impl ItemKind {
    /// The items that are completed, in this order.
    pub fn done(&self) -> &[Item] {
        &self.items[..self.completed]
    }

    /// What each completed item added to the time of those before it.
    pub fn steps(&self) -> impl Iterator<Item = i64> + '_ {
        let mut before_ns = i64::MIN;
        self.done().iter().map(move |item| {
            let step_ns = item.end_ns() - item.start_ns().max(before_ns);
            before_ns = item.end_ns();
            step_ns
        })
    }
}

/// The logs of a trace.
pub fn logs(trace: &Trace, selection: &Selection<'_>) -> Vec<Log> {
    let captures = (0u32..).zip(&trace.captures);
    let logs = captures.filter(|(_, capture)| capture.facts.dur_kind == DurKind::Gap);
    logs.map(|(number, capture)| log(trace, selection, number, capture.rows.clone()))
        .collect()
}

fn log(trace: &Trace, selection: &Selection<'_>, capture: u32, rows: std::ops::Range<u32>) -> Log {
    let events = &trace.events;
    let said = |row| {
        (
            events.target(row),
            Said {
                at_ns: events.start_ns(row),
                row,
            },
        )
    };
    let mut messages: Vec<_> = rows
        .filter(|&row| {
            events.kind(row) == EventKind::Log
                && events.start_ns(row) != NO_NS
                && selection.has(row)
        })
        .map(said)
        .collect();
    messages.sort_by_key(|(_, said)| (said.at_ns, said.row));
    let stages = stages::stages(&messages, &|text| events.texts.string(text).into_owned());
    let kinds = kinds(&stages);
    Log {
        capture,
        stages,
        kinds,
    }
}

/// Items that share a noun, and the stages that are about them.
type Known = Vec<(FxHashSet<u32>, Vec<usize>)>;

/// Stages of the same items belong together.
fn kinds(stages: &[Stage]) -> Vec<ItemKind> {
    let mut open: FxHashMap<(&str, bool), Known> = FxHashMap::default();
    for (number, stage) in stages
        .iter()
        .enumerate()
        .filter(|(_, stage)| !stage.keys.is_empty())
    {
        let keys: FxHashSet<u32> = stage.keys.iter().copied().collect();
        let known = open.entry((&stage.noun, stage.has_names)).or_default();
        if let Some(same) = known
            .iter()
            .position(|(items, _)| are_the_same(items, &keys))
        {
            known[same].0.extend(keys);
            known[same].1.push(number);
        } else if known.len() < MAX_KINDS {
            known.push((keys, vec![number]));
        }
    }
    let mut found: Vec<Vec<usize>> = open
        .into_values()
        .flatten()
        .map(|(_, members)| members)
        .collect();
    found.retain(|members| members.len() > 1 || stages[members[0]].is_sure);
    found.sort();
    found
        .into_iter()
        .filter_map(|members| kind(stages, members))
        .collect()
}

/// If a log is truncated, fewer items have reached the later stages.
fn are_the_same(items: &FxHashSet<u32>, others: &FxHashSet<u32>) -> bool {
    let both = others.iter().filter(|key| items.contains(key)).count();
    let (fewer, more) = (items.len().min(others.len()), items.len().max(others.len()));
    both * 100 >= fewer * MIN_SHARED_ITEMS_PERCENT && both * 2 >= more
}

fn kind(stages: &[Stage], members: Vec<usize>) -> Option<ItemKind> {
    let mut items: FxHashMap<u32, Vec<(Said, usize)>> = FxHashMap::default();
    for &number in &members {
        for (&key, &said) in stages[number].keys.iter().zip(&stages[number].said) {
            items.entry(key).or_default().push((said, number));
        }
    }
    let mut items: Vec<Item> = items.into_values().map(|said| Item { said }).collect();
    items
        .iter_mut()
        .for_each(|item| item.said.sort_by_key(|(said, _)| (said.at_ns, said.row)));
    let ends = |stage: usize| {
        items
            .iter()
            .filter(|item| item.last_stage() == stage)
            .count()
    };
    let last_stage = members
        .iter()
        .copied()
        .max_by_key(|&stage| (ends(stage), stage))?;
    let completed = ends(last_stage);
    items.sort_by_key(|item| {
        (
            item.last_stage() != last_stage,
            item.end_ns(),
            item.said.first().map(|(said, _)| said.row),
        )
    });
    let ends: Vec<i64> = items[..completed].iter().map(Item::end_ns).collect();
    let fit = fit(&ends).filter(|_| completed >= MIN_ITEMS)?;
    let first = &stages[members[0]];
    let name = match (first.has_names, first.noun.as_str()) {
        (true, _) => words::SHOWN_NAME.to_owned(),
        (false, "") => "N".to_owned(),
        (false, noun) => format!("{noun} N"),
    };
    // Items that all come at one moment take no time.
    let takes_time = ends.last() > items.iter().map(Item::start_ns).min().as_ref();
    takes_time.then_some(ItemKind {
        name,
        stages: members,
        last_stage,
        items,
        completed,
        fit,
    })
}
