//! Silences: times without a message of a log, by the message before them, or by the activity that they are part of.
//!
//! ```text
//! Stopping Foo │ 30 s │ usb 1-1: new device │ 60 s │ Stopped Foo      90 s of Foo, in 2 silences
//! ```

use super::messages::{free, messages};
use super::stated_durations::is_part_of_stated;
use crate::logs::pairs::{begins, pairs};
use crate::logs::stated::{Meaning, Stated, stated};
use crate::store::heuristics::{
    MAX_BYSTANDERS, MAX_SILENCE_AFTER_STATED, MIN_RHYTHM_WAITS, MIN_RUNNING_LOG_NS,
    MIN_UNUSUAL_OF_DAYS_RATIO, MIN_UNUSUAL_SILENCE_RATIO, SEVERAL_DAYS_NS, USUAL_SILENCE_RANK,
};
use crate::table_support::builder::{BuiltTable, TableBuilder};
use crate::table_support::context::TableContext;
use crate::table_support::kit::{LinesOf, table};
use crate::table_support::provenance::Provenance;
use parsers::{DurKind, Text};
use rustc_hash::FxHashMap;

table! {
    silences "Silences of a log, by capture and owner.";
    times: Calls;
    row {
        capture: Capture "Number of the capture.",
        target: Words "Message before the silence; of an activity that a message begins and another one ends, the first message.",
        until: Words "Last message of the activity.",
        after: Words "Message after the longest silence.",
        calls: Count "Number of silences.",
        several: MaybeNumber "The same if there are several.",
        total_ns: Ns "Total duration.",
        max_ns: Ns (Max) "Longest duration.",
        is_rhythm: Flag "The log is silent after each of several messages of this text, none of which mentions a wait.",
        is_usual: Flag "Other silences of the log are about as long, as in the log of a machine that is idle at times, or the log is a short part of something that it states.",
        could_free_ns: Ns "Upper bound of the saving: exclusive_ns; 0 for a log of days, and after a message that something about as long has ended.",
        path: PathTime,
        lines: Lines {
            first_line "Line before the longest silence, or first line of the activity.",
            last_line "Line after the longest silence, or last line of the activity.",
        },
    }
}

/// Words of messages after which a program waits on purpose, so that their silences are not a rhythm of the log.
const WAITS: [&str; 7] = [
    "retry",
    "wait",
    "attempt",
    "timeout",
    "timed out",
    "trying",
    "failed",
];

/// Silences with one owner.
struct Group {
    /// The message before the first of them, or the first message of the activity.
    owner: u32,
    /// The last message of the activity.
    until: Option<u32>,
    rows: Vec<u32>,
    total_ns: i64,
    exclusive_ns: i64,
    longest: (i64, u32),
}

/// Builds the table of silences, by capture and owner.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (number, capture) in (0u32..).zip(&context.trace.captures) {
        if capture.facts.dur_kind == DurKind::Gap {
            let rows = messages(context, capture);
            let is_part = is_part_of_stated(context, number, &rows);
            log(context, (number, is_part), &rows, &mut builder);
        }
    }
    builder.finish()
}

fn log(
    context: &TableContext<'_>,
    (capture, is_part): (u32, bool),
    rows: &[u32],
    builder: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    let owners = owners(context, rows);
    let mut groups: Vec<Group> = Vec::new();
    let mut by_owner: FxHashMap<(Text, Option<u32>), usize> = FxHashMap::default();
    let mut lengths_ns = Vec::with_capacity(rows.len());
    for (pair, &(owner, until)) in rows.windows(2).zip(&owners) {
        let dur_ns = events.start_ns(pair[1]) - events.start_ns(pair[0]);
        if dur_ns <= 0 || events.is_repeat(pair[1]) {
            continue;
        }
        let group = *by_owner
            .entry((events.target(owner), until))
            .or_insert_with(|| {
                let longest = (0, pair[0]);
                groups.push(Group {
                    owner,
                    until,
                    rows: Vec::new(),
                    total_ns: 0,
                    exclusive_ns: 0,
                    longest,
                });
                groups.len() - 1
            });
        lengths_ns.push((dur_ns, group));
        let group = &mut groups[group];
        group.rows.push(pair[0]);
        group.total_ns += dur_ns;
        group.exclusive_ns += context.exclusive_ns(pair[0]);
        group.longest = group.longest.max((dur_ns, pair[0]));
    }
    // The longest ones are the measure of the usual.
    lengths_ns.sort_unstable_by_key(|&(dur_ns, _)| std::cmp::Reverse(dur_ns));
    for (number, group) in groups.into_iter().enumerate() {
        let others = || {
            lengths_ns
                .iter()
                .filter(|&&(_, other)| other != number)
                .map(|&(dur_ns, _)| dur_ns)
        };
        let usual_ns = others().nth(USUAL_SILENCE_RANK - 1).unwrap_or(0);
        write(
            context,
            (capture, rows),
            group,
            (usual_ns, is_part),
            builder,
        );
    }
}

/// For each message but the last, the owner of the silence after it: the shortest activity around it, else itself.
fn owners(context: &TableContext<'_>, rows: &[u32]) -> Vec<(u32, Option<u32>)> {
    let events = &context.trace.events;
    let texts: Vec<_> = rows
        .iter()
        .map(|&row| {
            (
                events.texts.string(events.shape(row).syscall),
                events.texts.string(events.target(row)),
            )
        })
        .collect();
    let mut activities = pairs(
        texts
            .iter()
            .map(|(sender, text)| (sender.as_ref(), text.as_ref())),
    );
    activities.sort_by_key(|&(begin, end)| {
        (
            events.start_ns(rows[end]) - events.start_ns(rows[begin]),
            begin,
        )
    });
    let mut owners: Vec<(u32, Option<u32>)> = rows.iter().map(|&row| (row, None)).collect();
    // The next message without an activity, with shortcuts over those that have one.
    let mut next: Vec<usize> = (0..=rows.len()).collect();
    for (begin, end) in activities {
        let mut at = free(&mut next, begin);
        while at < end {
            owners[at] = (rows[begin], Some(rows[end]));
            next[at] = at + 1;
            at = free(&mut next, at);
        }
    }
    give_back(&texts, rows, &mut owners);
    owners
}

/// Gives silences after a bystander to the activity around it: a sender begins something, another one logs in between,
/// and the next message is of the first sender.
fn give_back(
    texts: &[(impl AsRef<str>, impl AsRef<str>)],
    rows: &[u32],
    owners: &mut [(u32, Option<u32>)],
) {
    let begins_at = |at: usize| begins(texts[at].0.as_ref(), texts[at].1.as_ref());
    for at in 1..rows.len().saturating_sub(1) {
        let (sender, after) = (texts[at].0.as_ref(), texts[at + 1].0.as_ref());
        if after.is_empty() || sender == after || owners[at] != (rows[at], None) || begins_at(at) {
            continue;
        }
        let earliest = at.saturating_sub(MAX_BYSTANDERS);
        let begin = (earliest..at)
            .rev()
            .find(|&earlier| texts[earlier].0.as_ref() == after);
        let Some(begin) = begin.filter(|&begin| begins_at(begin)) else {
            continue;
        };
        for owner in owners[begin..=at]
            .iter_mut()
            .filter(|(_, until)| until.is_none())
        {
            *owner = (rows[begin], Some(rows[at + 1]));
        }
    }
}

fn write(
    context: &TableContext<'_>,
    (capture, messages): (u32, &[u32]),
    group: Group,
    (usual_ns, is_part): (i64, bool),
    builder: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    let text = |row: u32| events.texts.string(events.target(row)).into_owned();
    let (max_ns, longest) = group.longest;
    let after = messages
        .iter()
        .skip_while(|&&row| row != longest)
        .nth(1)
        .copied();
    let (owner, silences) = (text(group.owner), group.rows.len() as i64);
    let wall_ns = context.wall_ns(capture);
    let spans_days = wall_ns >= SEVERAL_DAYS_NS;
    let said = owner.to_lowercase();
    let is_rhythm = silences >= MIN_RHYTHM_WAITS
        && group.until.is_none()
        && !WAITS.iter().any(|word| said.contains(word));
    let ratio = if spans_days {
        MIN_UNUSUAL_OF_DAYS_RATIO
    } else {
        MIN_UNUSUAL_SILENCE_RATIO
    };
    let is_usual =
        is_part || wall_ns >= MIN_RUNNING_LOG_NS && max_ns < usual_ns.saturating_mul(ratio);
    let (Some(&first_row), Some(&last_row)) = (group.rows.first(), group.rows.last()) else {
        return;
    };
    // A message that something long has ended begins nothing.
    let has_ended = |stated: Stated| {
        stated.meaning == Meaning::Took
            && stated.dur_ns.saturating_mul(MAX_SILENCE_AFTER_STATED) >= max_ns
    };
    let follows_end = group.until.is_none() && stated(&owner).is_some_and(has_ended);
    let (from, to) = match (group.until, after) {
        (Some(until), _) => (group.owner, until),
        (None, Some(after)) => (longest, after),
        (None, None) => (first_row, last_row),
    };
    let row = TableRow {
        capture,
        target: Some(owner.to_owned()),
        until: group.until.map(text),
        after: after.map(text),
        calls: silences,
        several: (silences > 1).then_some(silences),
        total_ns: group.total_ns,
        max_ns,
        is_rhythm,
        is_usual,
        could_free_ns: if spans_days || follows_end {
            0
        } else {
            group.exclusive_ns
        },
        path: group.exclusive_ns,
        lines: LinesOf {
            first_row: from,
            last_row: to,
        },
    };
    builder.add(row, Provenance::Rows(group.rows));
}
