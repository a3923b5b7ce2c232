//! The messages of a log by source: what takes the place of tasks and calls where there are none.
//!
//! ```text
//! mail     |start ------|sent ----|        a message lasts until the next one of its source,
//! cron        |run -------------------|    the last one of a source until the next one of any
//! ```

use crate::picture::lane::LaneSource;
use parsers::{NO_NS, Text};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::ops::Range;
use trace::store::event::EventKind;

/// What the messages of a log are from, such as a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name, if messages have one.
    pub name: Text,
    /// The time of its first message.
    pub start_ns: i64,
    /// The end of its last message.
    pub end_ns: i64,
    /// The row of its first message.
    pub row: u32,
    /// Number of messages.
    pub messages: u64,
}

/// A message, as far as it lies in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// Position of its source.
    pub source: u32,
    /// Its time.
    pub start_ns: i64,
    /// The time of the next message of the source.
    pub end_ns: i64,
    /// Its row.
    pub row: u32,
}

/// The messages of a log.
#[derive(Default)]
pub struct Messages {
    /// The sources, by the times of their first messages.
    pub sources: Vec<Source>,
    /// Messages by source and time.
    pub messages: Vec<Message>,
    /// Number of all messages.
    pub total: u64,
    /// Number of all sources.
    pub sources_total: u64,
}

impl Messages {
    /// The messages in these rows of a log.
    pub fn of(source: &LaneSource<'_>, rows: Range<u32>) -> Messages {
        let events = &source.trace.events;
        let mut rows: Vec<u32> = rows
            .filter(|row| events.kind(*row) == EventKind::Log && events.start_ns(*row) != NO_NS)
            .collect();
        rows.retain(|&row| (source.start_ns..=source.end_ns).contains(&events.start_ns(row)));
        rows.sort_by_key(|&row| (events.start_ns(row), row));
        let mut found = Messages {
            total: rows.len() as u64,
            ..Messages::default()
        };
        let mut number_of: FxHashMap<Text, usize> = FxHashMap::default();
        let mut last: Vec<usize> = Vec::new();
        for (at, &row) in rows.iter().enumerate() {
            let (name, start_ns) = (events.shape(row).syscall, events.start_ns(row));
            let number = *number_of.entry(name).or_insert(found.sources.len());
            // The last message of a source lasts until the next one of any, as silences do.
            let end_ns = rows
                .get(at + 1)
                .map_or(source.end_ns, |&next| events.start_ns(next));
            if number == found.sources.len() {
                found.sources.push(Source {
                    name,
                    start_ns,
                    end_ns,
                    row,
                    messages: 0,
                });
                last.push(found.messages.len());
            } else {
                found.messages[last[number]].end_ns = start_ns;
                last[number] = found.messages.len();
            }
            let known = &mut found.sources[number];
            (known.end_ns, known.messages) = (end_ns.max(known.end_ns), known.messages + 1);
            found.messages.push(Message {
                source: number as u32,
                start_ns,
                end_ns,
                row,
            });
        }
        found.sources_total = found.sources.len() as u64;
        found.messages.sort_unstable();
        found
    }

    /// Retain the sources with most silence on the path, then with the longest life, and the longest of their messages.
    pub fn retain(
        &mut self,
        max_sources: usize,
        max_messages: usize,
        silent_ns: &FxHashMap<Text, i64>,
    ) {
        let mut order: Vec<usize> = (0..self.sources.len()).collect();
        order.sort_by_key(|&at| {
            let known = &self.sources[at];
            let silent_ns = silent_ns.get(&known.name).copied().unwrap_or(0);
            (
                Reverse(silent_ns),
                Reverse(known.end_ns - known.start_ns),
                at,
            )
        });
        order.truncate(max_sources);
        order.sort_unstable();
        let number_of: FxHashMap<u32, u32> = order
            .iter()
            .zip(0..)
            .map(|(&at, number)| (at as u32, number))
            .collect();
        self.sources = order.iter().map(|&at| self.sources[at]).collect();
        self.messages
            .retain_mut(|message| match number_of.get(&message.source) {
                Some(&number) => {
                    message.source = number;
                    true
                }
                None => false,
            });
        if max_messages < self.messages.len() {
            self.messages
                .select_nth_unstable_by_key(max_messages, |message| {
                    (Reverse(message.end_ns - message.start_ns), message.row)
                });
            self.messages.truncate(max_messages);
            self.messages.sort_unstable();
        }
    }
}
