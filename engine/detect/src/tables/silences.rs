//! Silences: times without a message of a log, by the activity that they are part of, by what ended them, or by the message
//! before them.
//!
//! ```text
//! Stopping Foo │ 30 s │ usb 1-1: new device │ 60 s │ Stopped Foo      90 s of Foo, in 2 silences
//! usb 1-1: new device │ 90 s │ web: stop timed out, killing           90 s of web: the device only spoke last
//! ```

use super::stated_durations::is_part_of_stated;
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, table};
use kit::table_support::messages::{WAITS, free, is_cut, messages, part};
use kit::table_support::provenance::Provenance;
use logs::messages::endings::{Ending, ending, is_background, is_idle, is_ready, is_spread};
use logs::messages::pairs::{begins, is_end, is_last, pairs, without_level, without_tag};
use logs::messages::stages::Stage;
use logs::messages::stated::{Meaning, Stated, stated};
use parsers::{Clock, DurKind, Text};
use rustc_hash::FxHashMap;
use trace::store::heuristics::{
    MAX_BYSTANDERS, MAX_RESUME_NS, MAX_SILENCE_AFTER_STATED, MIN_RHYTHM_OF_WORK, MIN_RHYTHM_WAITS,
    MIN_RUNNING_LOG_NS, MIN_STATING_MESSAGES, MIN_STATING_SHARE, MIN_UNUSUAL_OF_DAYS_RATIO,
    MIN_UNUSUAL_SILENCE_RATIO, SEVERAL_DAYS_NS, USUAL_SILENCE_RANK,
};
use trace::store::trace::Capture;

table! {
    silences "Silences of a log, by capture and cause.";
    times: Calls;
    row {
        capture: Capture "Number of the capture.",
        target: Words "First message of the activity that the silence is part of; else the message that ended it, if that says that something failed or was awaited; else the message before it.",
        until: Words "Last message of the activity.",
        before: Words "Message before the longest silence.",
        after: Words "Message after the longest silence.",
        ended_by: Words "The same if it says that something failed, or was awaited without success.",
        names: Words "The next message, if ended_by announces it with a colon.",
        repeats: MaybeNumber "Number of messages like names, otherwise like ended_by, if there are several.",
        alike: MaybeNumber "Number of further messages that begin the same work on other items.",
        calls: Count "Number of silences.",
        several: MaybeNumber "The same if there are several.",
        total_ns: Ns "Total duration.",
        max_ns: Ns (Max) "Longest duration.",
        is_rhythm: Flag "The log is silent after each of several messages of this text, none of which mentions a wait or begins work that another message follows.",
        is_usual: Flag "Other silences of the log are about as long, as in the log of a machine that is idle at times, the program waits for requests, the work is beside the job, or the log is a short part of something that it states.",
        could_free_ns: Ns "Upper bound of the saving: exclusive_ns; 0 for a log of days, and after a message that something about as long has ended.",
        path: PathTime,
        lines: Lines {
            first_line "Line before the longest silence, or first line of the activity.",
            last_line "Line after the longest silence, or last line of the activity.",
        },
    }
}

/// What silences with one cause have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// The activity around them: its first and last message.
    Activity(Text, Text),
    /// The stage of the message that ends each of them, and says that something failed or was awaited.
    EndedBy(usize),
    /// The message before them.
    After(Text),
    /// The stage of the messages before them: each begins work on another item.
    AfterForm(usize),
}

/// Silences with one cause.
struct Group {
    key: Key,
    /// The message before the first of them, or the first message of the activity.
    owner: u32,
    /// The last message of the activity.
    until: Option<u32>,
    rows: Vec<u32>,
    total_ns: i64,
    exclusive_ns: i64,
    longest: Silence,
    /// Where lines are left out, the part of the log with the last silence, the silences in it, and the most of a part.
    part: (usize, i64),
    max_in_part: i64,
}

/// A silence: its length, the messages around it, and whether the later one says that something failed or was awaited.
#[derive(Clone, Copy)]
struct Silence {
    dur_ns: i64,
    before: u32,
    after: u32,
    is_ended: bool,
}

/// A log, with what is known of all its messages.
struct Log<'a> {
    number: u32,
    capture: &'a Capture,
    rows: &'a [u32],
    stages: &'a [Stage],
    /// By row.
    stage_of: FxHashMap<u32, usize>,
    /// Whether it is a short part of what it states.
    is_part: bool,
    /// Whether it may have idle times of its own.
    is_running: bool,
    /// Whether it only reports what was slow.
    states_times: bool,
}

impl Log<'_> {
    /// Whether other messages have the text of this one, but for a name.
    fn form(&self, row: u32) -> Option<usize> {
        let stage = *self.stage_of.get(&row)?;
        (self.stages[stage].has_names && self.stages[stage].said.len() > 1).then_some(stage)
    }

    fn said(&self, row: u32) -> i64 {
        let stage = self.stage_of.get(&row);
        stage.map_or(1, |&stage| self.stages[stage].said.len() as i64)
    }
}

/// Builds the table of silences, by capture and cause.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for (number, capture) in (0u32..).zip(&context.trace.captures) {
        if capture.facts.dur_kind == DurKind::Gap {
            let rows = messages(context, capture);
            let stages = context.logs().iter().find(|log| log.capture == number);
            let stages = stages.map_or(&[][..], |log| &log.stages);
            let log = Log {
                number,
                capture,
                rows: &rows,
                stages,
                stage_of: stages
                    .iter()
                    .enumerate()
                    .flat_map(|(stage, said)| {
                        said.said
                            .iter()
                            .map(|said| (said.row, stage))
                            .collect::<Vec<_>>()
                    })
                    .collect(),
                is_part: is_part_of_stated(context, number, &rows),
                is_running: context.wall_ns(number) >= MIN_RUNNING_LOG_NS,
                states_times: states_times(context, stages),
            };
            write_log(context, &log, &mut builder);
        }
    }
    builder.finish()
}

/// Whether nearly all messages of a log state how long something took.
fn states_times(context: &TableContext<'_>, stages: &[Stage]) -> bool {
    let events = &context.trace.events;
    let lasted = |stage: &&Stage| {
        let text = stage.said.first().map(|said| events.target(said.row));
        let stated = text.and_then(|text| stated(&events.texts.string(text)));
        stated.is_some_and(|stated| matches!(stated.meaning, Meaning::Took | Meaning::AtLeast))
    };
    let messages: usize = stages.iter().map(|stage| stage.said.len()).sum();
    let stating: usize = stages
        .iter()
        .filter(lasted)
        .map(|stage| stage.said.len())
        .sum();
    stating >= MIN_STATING_MESSAGES && stating as f64 >= MIN_STATING_SHARE * messages as f64
}

fn write_log(context: &TableContext<'_>, log: &Log<'_>, builder: &mut TableBuilder<'_>) {
    let (groups, mut lengths_ns) = grouped(context, log);
    // The longest ones are the measure of the usual.
    lengths_ns.sort_unstable_by_key(|&(dur_ns, _)| std::cmp::Reverse(dur_ns));
    let spans_days = context.wall_ns(log.number) >= SEVERAL_DAYS_NS;
    for (number, group) in groups.into_iter().enumerate() {
        let others = lengths_ns.iter().filter(|&&(_, other)| other != number);
        // Between the jobs of two days is one night: in a log of days, one other night is enough, after any message.
        let is_repeated = spans_days && group.rows.len() > 1;
        let rank = if spans_days { 1 } else { USUAL_SILENCE_RANK };
        let others = others.map(|&(dur_ns, _)| dur_ns).nth(rank - 1);
        let usual_ns = if is_repeated {
            group.longest.dur_ns
        } else {
            others.unwrap_or(0)
        };
        write(context, log, group, usual_ns, builder);
    }
}

/// The silences of a log by cause, and the length of each with the number of its group.
fn grouped(context: &TableContext<'_>, log: &Log<'_>) -> (Vec<Group>, Vec<(i64, usize)>) {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_key: FxHashMap<Key, usize> = FxHashMap::default();
    let mut endings: FxHashMap<Text, Option<Ending>> = FxHashMap::default();
    let mut lengths_ns = Vec::with_capacity(log.rows.len());
    for (pair, owner) in log.rows.windows(2).zip(owners(context, log.rows)) {
        let Some(silence) = silence(context, log, (pair[0], pair[1]), &mut endings) else {
            continue;
        };
        let key = key(context, log, owner, silence);
        let group = *by_key.entry(key).or_insert_with(|| {
            groups.push(Group::new(key, owner, silence));
            groups.len() - 1
        });
        lengths_ns.push((silence.dur_ns, group));
        let part = part(context, log.capture, silence.before);
        groups[group].add(silence, part, context.exclusive_ns(silence.before));
    }
    (groups, lengths_ns)
}

/// The time between two messages, unless lines are left out there, or the machine rested.
fn silence(
    context: &TableContext<'_>,
    log: &Log<'_>,
    (before, after): (u32, u32),
    endings: &mut FxHashMap<Text, Option<Ending>>,
) -> Option<Silence> {
    let events = &context.trace.events;
    let dur_ns = events.start_ns(after) - events.start_ns(before);
    if dur_ns <= 0 || events.is_repeat(after) || is_cut(context, log.capture, before, after) {
        return None;
    }
    let text = events.target(after);
    let ending = *endings
        .entry(text)
        .or_insert_with(|| ending(&events.texts.string(text)));
    // In a log of a machine that is idle at times, a failure comes at any time.
    let is_ended =
        ending == Some(Ending::Wait) || ending == Some(Ending::Failure) && !log.is_running;
    (ending != Some(Ending::Rest)).then_some(Silence {
        dur_ns,
        before,
        after,
        is_ended,
    })
}

/// The cause of a silence: the activity around it, what ended it if that says so, or the message before it.
fn key(
    context: &TableContext<'_>,
    log: &Log<'_>,
    (owner, until): (u32, Option<u32>),
    silence: Silence,
) -> Key {
    let events = &context.trace.events;
    let target = events.target(owner);
    if let Some(until) = until {
        return Key::Activity(target, events.target(until));
    }
    if let Some(&stage) = log
        .stage_of
        .get(&silence.after)
        .filter(|_| silence.is_ended)
    {
        return Key::EndedBy(stage);
    }
    match log.form(owner).filter(|_| begins_work(context, owner)) {
        Some(stage) => Key::AfterForm(stage),
        None => Key::After(target),
    }
}

/// Whether a message begins something: `Processing files`, `Installing …`.
fn begins_work(context: &TableContext<'_>, row: u32) -> bool {
    let events = &context.trace.events;
    let sender = events.texts.string(events.shape(row).syscall);
    let text = events.texts.string(events.target(row));
    begins(&sender, &text) || text.ends_with("...") || text.ends_with('…')
}

impl Group {
    fn new(key: Key, (owner, until): (u32, Option<u32>), silence: Silence) -> Group {
        Group {
            key,
            owner,
            until,
            rows: Vec::new(),
            total_ns: 0,
            exclusive_ns: 0,
            longest: Silence {
                dur_ns: 0,
                ..silence
            },
            part: (0, 0),
            max_in_part: 0,
        }
    }

    fn add(&mut self, silence: Silence, part: usize, exclusive_ns: i64) {
        self.rows.push(silence.before);
        self.total_ns = self.total_ns.saturating_add(silence.dur_ns);
        self.exclusive_ns = self.exclusive_ns.saturating_add(exclusive_ns);
        let rank = |silence: &Silence| (silence.dur_ns, silence.before);
        if rank(&silence) > rank(&self.longest) {
            self.longest = silence;
        }
        let before = if self.part.0 == part { self.part.1 } else { 0 };
        self.part = (part, before + 1);
        self.max_in_part = self.max_in_part.max(before + 1);
    }

    /// Whether the log is silent after each of several such messages for no other reason than that it is its rhythm.
    fn is_rhythm(&self, context: &TableContext<'_>, log: &Log<'_>, owner: &str) -> bool {
        if says_one_thing(context, log) {
            return true;
        }
        if !matches!(self.key, Key::After(_)) || self.max_in_part < MIN_RHYTHM_WAITS {
            return false;
        }
        let said = owner.to_lowercase();
        let is_wait = WAITS.iter().any(|word| said.contains(word));
        let is_constant = self.max_in_part >= MIN_RHYTHM_OF_WORK;
        let stage = |row: u32| log.stage_of.get(&row);
        let is_work = begins_work(context, self.owner)
            && stage(self.longest.before) != stage(self.longest.after);
        !is_wait && (is_constant || !is_work)
    }
}

/// Whether all messages of a log are the same report: lines were picked, or nothing else happens, and none of them waits for the
/// next.
fn says_one_thing(context: &TableContext<'_>, log: &Log<'_>) -> bool {
    let target = |row: &u32| context.trace.events.target(*row);
    log.rows
        .windows(2)
        .all(|pair| target(&pair[0]) == target(&pair[1]))
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
    log: &Log<'_>,
    group: Group,
    usual_ns: i64,
    builder: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    let text = |row: u32| events.texts.string(events.target(row)).into_owned();
    let Silence {
        dur_ns: max_ns,
        before,
        after,
        is_ended,
    } = group.longest;
    let is_told = matches!(group.key, Key::EndedBy(_));
    let owner = if is_told { after } else { group.owner };
    let (target, silences) = (text(owner), group.rows.len() as i64);
    let spans_days = context.wall_ns(log.number) >= SEVERAL_DAYS_NS;
    let ended_by = is_ended.then_some(after);
    let names = ended_by.and_then(|row| named_by(context, log, row));
    let repeats = names.or(ended_by).map_or(0, |row| log.said(row));
    let alike = match group.key {
        Key::AfterForm(stage) => log.stages[stage].said.len() as i64 - 1,
        _ => 0,
    };
    let is_free = spans_days || is_free(&group, &target);
    let (first_row, last_row) = match group.until {
        Some(until) => (group.owner, until),
        None => (before, after),
    };
    let values = TableRow {
        capture: log.number,
        until: group.until.map(text),
        before: Some(text(before)),
        after: Some(text(after)),
        ended_by: ended_by.map(text),
        names: names.map(|row| name(context, row)),
        repeats: (repeats > 1).then_some(repeats),
        alike: (alike > 0).then_some(alike),
        calls: silences,
        several: (silences > 1).then_some(silences),
        total_ns: group.total_ns,
        max_ns,
        is_rhythm: group.is_rhythm(context, log, &target),
        is_usual: is_idle_machine(context, &group, log)
            || log.states_times
            || !is_ended && matches!(group.key, Key::After(_)) && is_background(&text(after))
            || begins_again(context, log, &group)
            || is_usual(context, &group, log, usual_ns, spans_days)
            || is_between_jobs(context, log, &group),
        could_free_ns: if is_free { 0 } else { group.exclusive_ns },
        path: group.exclusive_ns,
        lines: LinesOf {
            first_row,
            last_row,
        },
        target: Some(target),
    };
    builder.add(values, Provenance::Rows(group.rows));
}

/// Whether nothing is gained without these silences: the message before them begins nothing, because something about as long has
/// ended, or nothing waits for work beside the job, which a timer starts.
fn is_free(group: &Group, target: &str) -> bool {
    let has_ended = |stated: Stated| {
        stated.meaning == Meaning::Took
            && stated.dur_ns.saturating_mul(MAX_SILENCE_AFTER_STATED) >= group.longest.dur_ns
    };
    let follows_end = matches!(group.key, Key::After(_)) && stated(target).is_some_and(has_ended);
    follows_end || !group.longest.is_ended && is_background(target)
}

/// Whether the kernel's log of a running machine is silent, which it is where nothing happens: nobody waits for its next message.
fn is_idle_machine(context: &TableContext<'_>, group: &Group, log: &Log<'_>) -> bool {
    let events = &context.trace.events;
    let facts = &log.capture.facts;
    let is_kernel = facts.clock == Clock::SinceStart && !facts.is_newest_first;
    // A link that is up ends nothing until it goes down.
    let has_no_end = group.until.is_none_or(|row| {
        let sender = events.texts.string(events.shape(row).syscall);
        !is_end(&sender, &events.texts.string(events.target(row)))
    });
    let is_activity = matches!(group.key, Key::After(_) | Key::Activity(..));
    is_kernel && log.is_running && !group.longest.is_ended && is_activity && has_no_end
}

/// Whether a silence ends where the incident of the log begins again, with another device or service: the two are apart.
///
/// ```text
/// disk 2: I/O timeout │ 25 s │ disk 2: not ready, removed │ 118 s │ disk 3: I/O timeout
/// ```
fn begins_again(context: &TableContext<'_>, log: &Log<'_>, group: &Group) -> bool {
    let events = &context.trace.events;
    let sender = |row: u32| events.shape(row).syscall;
    let after = group.longest.after;
    let Some(&first) = log.rows.first() else {
        return false;
    };
    let stage = |row: u32| log.stage_of.get(&row);
    // Services that stop or start one after the other begin again, too: that takes its time.
    let is_incident = ending(&events.texts.string(events.target(after))).is_some();
    group.rows.len() == 1
        && is_incident
        && stage(first).is_some()
        && stage(first) == stage(after)
        && sender(first) != sender(after)
        && sender(group.longest.before) != sender(after)
}

/// Whether silences are usual for their log, or after messages that nothing waits for.
fn is_usual(
    context: &TableContext<'_>,
    group: &Group,
    log: &Log<'_>,
    usual_ns: i64,
    spans_days: bool,
) -> bool {
    let events = &context.trace.events;
    let target = &*events.texts.string(events.target(group.owner));
    let ratio = if spans_days {
        MIN_UNUSUAL_OF_DAYS_RATIO
    } else {
        MIN_UNUSUAL_SILENCE_RATIO
    };
    let is_harmless = !group.longest.is_ended && (is_idle(target) || is_spread(target));
    let is_ready = || is_ready_before(context, log, group.longest.after);
    log.is_part
        || is_harmless
        || states_less(context, group)
        || !group.longest.is_ended && is_ready()
        || log.is_running && group.longest.dur_ns < usual_ns.saturating_mul(ratio)
}

/// Whether the message that ends a silence states how late something is, and that is much shorter: it only came to be said then.
fn states_less(context: &TableContext<'_>, group: &Group) -> bool {
    let events = &context.trace.events;
    let ended_by = events.texts.string(events.target(group.longest.after));
    let is_short = |stated: Stated| {
        stated.meaning == Meaning::Took
            && stated.dur_ns.saturating_mul(MAX_SILENCE_AFTER_STATED) < group.longest.dur_ns
    };
    group.longest.is_ended && stated(&ended_by).is_some_and(is_short)
}

/// Whether a log that may have idle times is silent after something ended or failed, until something else begins.
fn is_between_jobs(context: &TableContext<'_>, log: &Log<'_>, group: &Group) -> bool {
    let events = &context.trace.events;
    let sender = events.texts.string(events.shape(group.owner).syscall);
    let text = events.texts.string(events.target(group.owner));
    let has_ended = || is_end(&sender, &text) || ending(&text).is_some() || is_last(&text);
    let after = events.texts.string(events.target(group.longest.after));
    let begins_again =
        || begins_work(context, group.longest.after) || begins("", without_level(&after));
    log.is_running && matches!(group.key, Key::After(_)) && begins_again() && has_ended()
}

/// Whether one of the last messages before this one said that its program has nothing to do until something arrives: others
/// that start at the same time may still tell so after it.
fn is_ready_before(context: &TableContext<'_>, log: &Log<'_>, row: u32) -> bool {
    const MAX_MESSAGES: usize = 4;
    let events = &context.trace.events;
    let start_ns = events.start_ns(row);
    let at = log
        .rows
        .partition_point(|&other| events.start_ns(other) < start_ns);
    let before = &log.rows[at.saturating_sub(MAX_MESSAGES)..at];
    let Some(&last) = before.last() else {
        return false;
    };
    before.iter().any(|&other| {
        events.start_ns(last) - events.start_ns(other) <= MAX_RESUME_NS
            && is_ready(&events.texts.string(events.target(other)))
    })
}

/// The message that names what another one announces: `still waiting for:`, and the next of the same sender.
fn named_by(context: &TableContext<'_>, log: &Log<'_>, row: u32) -> Option<u32> {
    let events = &context.trace.events;
    let announces = events
        .texts
        .string(events.target(row))
        .trim_end()
        .ends_with(':');
    let start_ns = events.start_ns(row);
    let first = log
        .rows
        .partition_point(|&other| events.start_ns(other) < start_ns);
    let at = first + log.rows[first..].iter().position(|&other| other == row)?;
    let next = *log.rows.get(at + 1).filter(|_| announces)?;
    let is_near = events.start_ns(next) - start_ns <= MAX_RESUME_NS;
    (is_near && events.shape(next).syscall == events.shape(row).syscall).then_some(next)
}

/// A message without the name of its sender, and without its severity.
fn name(context: &TableContext<'_>, row: u32) -> String {
    let events = &context.trace.events;
    let sender = events.texts.string(events.shape(row).syscall);
    let text = events.texts.string(events.target(row));
    let said = without_tag(&sender, &text);
    said.split_once(": ")
        .filter(|(word, _)| is_severity(word))
        .map_or(said, |(_, said)| said)
        .to_owned()
}

fn is_severity(word: &str) -> bool {
    ["warning", "error", "notice", "info"].contains(&word.to_lowercase().as_str())
}
