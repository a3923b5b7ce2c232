//! Durations that messages state about their subject: `sync duration of 7.6 s`, `timed out after 90s`.
//!
//! ```text
//! took 12.3s, finished in 3min 2.5s     it lasted that long, until the message
//! blocked for more than 120 seconds     it lasted at least that long
//! retrying in 5 s                       it begins with the message
//! foo.service @5.8s +17.2s              it lasted that long, from the message on
//! timeout is 30s, every 60 s, 12 MB/s   nothing happened for that long: limits, rates, rhythms
//! ```
//! A number counts only if the words next to it name one. Words that name a limit or a rate overrule the others.

use super::amounts::{Amount, amounts, split_unit};
use super::endings::is_spread;
use std::ops::Range;
use trace::store::heuristics::MAX_TOTAL_TO_PARTS;

/// What a stated duration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// Something lasted this long and ended with the message.
    Took,
    /// It lasted at least this long.
    AtLeast,
    /// A wait of this length begins with the message.
    Planned,
    /// Something lasted this long and began with the message.
    Takes,
}

impl Meaning {
    /// Whether the interval begins with the message.
    pub fn begins(self) -> bool {
        matches!(self, Meaning::Planned | Meaning::Takes)
    }
}

/// A duration that a message states.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated {
    /// How long.
    pub dur_ns: i64,
    /// What it is.
    pub meaning: Meaning,
    /// Where the message prints it.
    pub at: Range<usize>,
}

/// Words right before a duration that something took.
#[rustfmt::skip]
const TOOK: &[&str] = &[
    "took", "taken", "taking", "lasted", "elapsed", "spent", "waited", "slept", "duration", "latency", "runtime", "real", "done",
    "stall", "pause", "waiting", "delayed", "late", "sync", "stopped", "passed",
    "walltime", "elapsedtime", "wall",
];
/// Words before `time: 12 s`.
#[rustfmt::skip]
const TIMES: &[&str] = &[
    "elapsed", "total", "execution", "exec", "query", "response", "request", "wait", "waiting", "processing", "run",
    "running", "wall", "real", "load", "loading", "startup", "boot", "compile", "build", "render", "fetch", "connect",
    "recovery", "downtime", "stop", "start", "lock", "import", "export", "backup",
];
/// Words for an end, before `in 12 s` and `after 12 s`, besides those that end in `ed`.
#[rustfmt::skip]
const ENDS: &[&str] = &[
    "done", "ready", "ok", "built", "sent", "ran", "up", "wrote", "written", "successful", "successfully", "gave",
    "came", "complete", "online", "timeout", "read", "giving", "waiting", "left", "went", "pass", "fail", "success",
    "error", "failure", "finish",
];
/// Words for a state, before `for 12 s`.
#[rustfmt::skip]
const STATES: &[&str] = &[
    "blocked", "stuck", "hung", "stalled", "waited", "unresponsive", "responding", "busy", "paused", "delayed", "slept",
    "frozen", "froze", "locked", "held", "hanging", "starved", "pending", "queued", "response", "progress", "silent",
    "unreachable", "throttled", "suspended", "responded", "answer", "reply", "stopped", "lockup", "inaccessible", "exceeded",
];
/// Words for a wait that comes, before `in 5 s`, `for 5 s`, `after 5 s` or the number itself.
#[rustfmt::skip]
const PLANS: &[&str] = &[
    "retry", "retrying", "retries", "reconnect", "reconnecting", "restart", "restarting", "reboot", "rebooting", "again",
    "sleeping", "sleep", "pausing", "waiting", "wait", "backing", "backoff", "delaying", "attempt", "reschedule",
    "rescheduling", "resuming", "shutting", "starting", "retried",
];
/// Words near a number that make it a limit, a rate, a rhythm or an age.
#[rustfmt::skip]
const LIMITS: &[&str] = &[
    "every", "each", "per", "interval", "period", "limit", "limited", "limits", "max", "maximum", "min", "minimum",
    "default", "threshold", "ttl", "keepalive", "uptime", "most", "less", "under", "set", "configured", "expires",
    "expire", "valid", "older", "last", "past", "since", "until", "offset", "drift", "skew", "ahead", "behind", "remaining",
    "budget", "allowed", "grace", "rate", "average", "avg", "mean", "consumed", "cpu", "lease", "renewed", "maybe",
    "expected", "estimated", "eta", "granularity", "resolution", "precision", "rotated", "retention", "idle",
];
/// Words right after a number that do the same.
const LIMITS_AFTER: &[&str] = &[
    "ago",
    "remaining",
    "left",
    "cpu",
    "interval",
    "period",
    "per",
    "of",
    "limit",
    "ttl",
    "each",
];
/// Words between a cue and its number that add no meaning.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "about", "approximately", "approx", "roughly", "almost", "nearly", "a", "total", "of", "only", "just", "is", "was",
    "the", "around", "another", "ms", "us", "exactly", "is:", "t",
];
/// Words before the number looked at.
const MAX_WORDS: usize = 12;
/// Words before the number that decide whether it is a limit.
const NEAR_WORDS: usize = 3;

/// The duration that a message states about what it reports: the longest, of several.
pub fn stated(message: &str) -> Option<Stated> {
    if let Some(job) = running_job(message) {
        return Some(job);
    }
    if let Some(unit) = unit_of_chain(message).or_else(|| unit_of_plot(message)) {
        return Some(unit);
    }
    if let Some(start) = start_of_activity(message) {
        return Some(start);
    }
    if is_spread(message) {
        return sync(message);
    }
    let found = amounts(message);
    let is_only = found.len() == 1;
    let stated = found.into_iter().filter(|amount| amount.dur_ns > 0);
    let stated = stated.filter_map(|amount| {
        let meaning = Words::around(message, &amount).meaning(is_only)?;
        Some(Stated {
            dur_ns: amount.dur_ns,
            meaning,
            at: amount.at,
        })
    });
    let stated: Vec<Stated> = stated.collect();
    if let Some(total) = total(message, &stated) {
        return Some(total);
    }
    // What happened comes before what will.
    stated
        .into_iter()
        .max_by_key(|stated| (stated.meaning != Meaning::Planned, stated.dur_ns))
}

/// `finished in 3.2s (kernel) + 5.1s (userspace) = 8.3s`, `write=8.0 s, sync=0.3 s, total=8.3 s`: the sum after parts that were
/// taken. A total far above its parts adds up others: `took 3 ms, total=45 s`.
fn total(message: &str, parts: &[Stated]) -> Option<Stated> {
    let part = parts.iter().find(|part| part.meaning == Meaning::Took)?;
    let amounts = amounts(message);
    let follows = |amount: &Amount, mark: &str| {
        message
            .rfind(mark)
            .is_some_and(|at| at + mark.len() == amount.at.start)
            && amount.at.start > part.at.end
    };
    let parts_ns = |sum: &Amount| {
        let before = amounts.iter().filter(|part| part.at.end < sum.at.start);
        before.fold(0, |ns: i64, part| ns.saturating_add(part.dur_ns))
    };
    let is_sum = |sum: &&Amount| {
        follows(sum, " = ")
            || follows(sum, " total=")
                && sum.dur_ns <= parts_ns(sum).saturating_mul(MAX_TOTAL_TO_PARTS)
    };
    let amount = amounts.iter().find(is_sum)?;
    Some(Stated {
        dur_ns: amount.dur_ns,
        meaning: Meaning::Took,
        at: amount.at.clone(),
    })
}

/// `write=539.6 s, sync=12.3 s, total=551.9 s`: the part that was not spread.
fn sync(message: &str) -> Option<Stated> {
    let start = message.find(" sync=")? + " sync=".len();
    let amount = amounts(message)
        .into_iter()
        .find(|amount| amount.at.start == start && amount.dur_ns > 0)?;
    Some(Stated {
        dur_ns: amount.dur_ns,
        meaning: Meaning::Took,
        at: amount.at,
    })
}

/// `A stop job is running for Foo (1min 30s / 2min)` of systemd: how long it runs, and its limit.
fn running_job(message: &str) -> Option<Stated> {
    let (_, job) = message.split_once(" job is running for")?;
    let open = message.len() - job.len() + job.rfind('(')?;
    let inside = message.get(open + 1..)?;
    let (running, _) = inside.split_once(" / ")?;
    let amount = amounts(running).into_iter().next()?;
    let at = open + 1 + amount.at.start..open + 1 + amount.at.end;
    Some(Stated {
        dur_ns: amount.dur_ns,
        meaning: Meaning::Took,
        at,
    })
}

/// `Displayed com.example/.MainActivity: +1s234ms` of Android: how long until an activity was on the screen.
fn start_of_activity(message: &str) -> Option<Stated> {
    let at = message
        .find("Displayed ")
        .or_else(|| message.find("Fully drawn "))?;
    let start = at + message[at..].find(": +")? + ": +".len();
    let (mut rest, mut dur_ns) = (&message[start..], 0i64);
    while let Some(digits) = rest
        .find(|letter: char| !letter.is_ascii_digit())
        .filter(|&at| at > 0)
    {
        let value: i64 = rest[..digits].parse().ok()?;
        let (unit_ns, unit) = ACTIVITY_UNITS
            .iter()
            .find(|(_, unit)| rest[digits..].starts_with(unit))?;
        dur_ns = value
            .checked_mul(*unit_ns)
            .and_then(|ns| ns.checked_add(dur_ns))?;
        rest = &rest[digits + unit.len()..];
    }
    let is_whole = rest.is_empty() || rest.starts_with([' ', ',', ')']);
    (dur_ns > 0 && is_whole).then_some(Stated {
        dur_ns,
        meaning: Meaning::Took,
        at: start..message.len() - rest.len(),
    })
}

/// Units of `TimeUtils.formatDuration` of Android; milliseconds before minutes, with which they share a letter.
const ACTIVITY_UNITS: [(i64, &str); 5] = [
    (1_000_000, "ms"),
    (1_000_000_000, "s"),
    (60_000_000_000, "m"),
    (3_600_000_000_000, "h"),
    (86_400_000_000_000, "d"),
];

/// `foo.service @5.811s +17.176s` of systemd: the unit's start began at the first and took the second.
fn unit_of_chain(message: &str) -> Option<Stated> {
    // A page may have lost the blanks.
    let glued = || message.rsplit_once('@').filter(|(unit, _)| is_unit(unit));
    let (unit, rest) = message.split_once(" @").or_else(glued)?;
    let (_, took) = rest.split_once('+')?;
    // No amount follows a plus sign, because that would be a shift of time.
    let amount = amounts(took).into_iter().next()?;
    let start = message.len() - took.len();
    let is_whole = !unit.contains(' ') && amount.at == (0..took.len());
    is_whole.then_some(Stated {
        dur_ns: amount.dur_ns,
        meaning: Meaning::Takes,
        at: start..message.len(),
    })
}

/// Whether a name is one of a unit of systemd that takes time to start.
pub(super) fn is_unit(name: &str) -> bool {
    const KINDS: [&str; 7] = [
        ".service",
        ".mount",
        ".automount",
        ".device",
        ".socket",
        ".swap",
        ".scope",
    ];
    KINDS.iter().any(|kind| name.ends_with(kind))
}

/// `foo.service (17.176s)`, and nothing else: the text beside a bar in a picture of systemd.
fn unit_of_plot(message: &str) -> Option<Stated> {
    let (unit, took) = message.strip_suffix(')')?.split_once(" (")?;
    let amount = amounts(took).into_iter().next()?;
    let is_unit = !unit.contains(' ') && is_unit(unit);
    let start = unit.len() + " (".len();
    (is_unit && amount.at == (0..took.len())).then_some(Stated {
        dur_ns: amount.dur_ns,
        meaning: Meaning::Takes,
        at: start..start + took.len(),
    })
}

/// The words around a duration.
struct Words<'text> {
    /// Those before it, the nearest first, in lower case.
    before: Vec<String>,
    /// The word after it.
    after: String,
    /// The text before it, without blanks at its end.
    text_before: &'text str,
    message: String,
    /// Whether the number is one of whole hours, days or weeks.
    is_period: bool,
}

impl<'text> Words<'text> {
    fn around(message: &'text str, amount: &Amount) -> Words<'text> {
        let word = |word: &str| word.to_lowercase();
        let (before, after) = (&message[..amount.at.start], &message[amount.at.end..]);
        let parts = |text: &'text str| text.split(separates_words).filter(|part| !part.is_empty());
        Words {
            before: before
                .rsplit(separates_words)
                .filter(|part| !part.is_empty())
                .take(MAX_WORDS)
                .map(word)
                .collect(),
            // A new sentence or clause does not concern the number.
            after: if after.starts_with(' ') {
                parts(after).next().map(word).unwrap_or_default()
            } else {
                String::new()
            },
            text_before: before.trim_end(),
            message: message.to_lowercase(),
            is_period: is_whole_hours(&message[amount.at.clone()]),
        }
    }

    fn meaning(&self, is_only: bool) -> Option<Meaning> {
        let (cue, at_least, skipped) = self.cue();
        let earlier = self.before.get(skipped + 1..).unwrap_or(&[]);
        let lasted = if at_least {
            Meaning::AtLeast
        } else {
            Meaning::Took
        };
        let is_negated = || {
            self.has(&[
                "not", "no", "never", "failed", "unable", "without", "didn't", "hasn't", "cannot",
            ])
        };
        if self.is_limit(skipped) {
            return None;
        }
        if matches!(cue, "in" | "for" | "after") && self.is_planned(cue, earlier) {
            return Some(Meaning::Planned);
        }
        let happened = match cue {
            "in" | "after" => has_end(earlier).then_some(lasted),
            "for" => earlier
                .iter()
                .take(4)
                .any(|word| word == "waiting" || STATES.contains(&word.as_str()))
                .then_some(lasted),
            "within" => is_negated().then_some(Meaning::AtLeast),
            "time" => earlier
                .first()
                .is_some_and(|word| TIMES.contains(&word.as_str()))
                .then_some(lasted),
            "" => None,
            "sleeping" | "backoff" | "sleep" if !at_least => Some(Meaning::Planned),
            cue => (TOOK.contains(&cue) || is_name_of_time(cue)).then_some(lasted),
        };
        happened.or_else(|| self.by_form(is_only, at_least))
    }

    /// The nearest word with a meaning, whether the number is a lower bound, and how many words were skipped.
    fn cue(&self) -> (&str, bool, usize) {
        let mut at_least = false;
        for (at, word) in self.before.iter().enumerate() {
            match word.as_str() {
                "than" | "least" | "over" | "exceeding" => at_least = true,
                "more" | "longer" | "at" if at_least => {}
                word if FILLERS.contains(&word) => {}
                word => return (word, at_least, at),
            }
        }
        ("", at_least, self.before.len())
    }

    fn has(&self, words: &[&str]) -> bool {
        self.before
            .iter()
            .any(|word| words.contains(&word.as_str()))
    }

    /// Whether the number is a limit, a rate, a rhythm or an age.
    fn is_limit(&self, skipped: usize) -> bool {
        let near = self.before.iter().take(skipped + NEAR_WORDS);
        let is_said_before = near.clone().any(|word| LIMITS.contains(&word.as_str()));
        let up_to = near
            .clone()
            .zip(self.before.iter().skip(1))
            .any(|(to, up)| to == "to" && up == "up");
        is_said_before || up_to || LIMITS_AFTER.contains(&self.after.as_str()) && !self.is_expired()
    }

    fn is_planned(&self, cue: &str, earlier: &[String]) -> bool {
        match cue {
            // `timed out after 5 s, waiting`: only what precedes the number counts.
            "after" => earlier
                .first()
                .is_some_and(|word| is_plan(word) && word != "waiting"),
            "for" => {
                let is_over = self.has(&["been", "still", "already"])
                    || earlier.iter().any(|word| word == "waited");
                earlier.first().is_some_and(|word| is_plan(word)) && !is_over
            }
            // The nearer of the two counts: `refused, will retry in`, `retry finished in`.
            _ => earlier
                .iter()
                .take(6)
                .find(|word| is_plan(word) || is_past(word))
                .is_some_and(|word| is_plan(word)),
        }
    }

    /// Whether the message reports that a timeout was reached.
    fn is_expired(&self) -> bool {
        let has = |part: &str| self.message.contains(part);
        has("timed out")
            || has("time out after")
            || has("timeout")
                && ["exceed", "expire", "reached", "elapsed"]
                    .iter()
                    .any(|part| has(part))
    }

    /// Without a word right before it: a limit that was reached, a number in brackets after an end, a slow request.
    fn by_form(&self, is_only: bool, at_least: bool) -> Option<Meaning> {
        let last = self.before.first().map_or("", String::as_str);
        if matches!(
            self.after.as_str(),
            "elapsed" | "late" | "delay" | "stall" | "pause"
        ) {
            return Some(if at_least {
                Meaning::AtLeast
            } else {
                Meaning::Took
            });
        }
        if !is_only {
            return None;
        }
        if self.is_expired() {
            return Some(Meaning::AtLeast);
        }
        // `Already screened (24h)`: whole hours in brackets are those of an age or of a period.
        let is_bracketed = self.text_before.ends_with(['(', '[']) && !self.is_period;
        if is_bracketed && (is_past(last) || ENDS.contains(&last) || self.has(&["pass", "fail"])) {
            return Some(Meaning::Took);
        }
        let is_slow = self.has(&["slow", "took", "slowlog"])
            || self.has(&["pause"]) && !self.has(&["pausing"]);
        is_slow.then_some(Meaning::Took)
    }
}

/// Whether a text is a number and a unit from hours on: `24h`, `7 days`.
fn is_whole_hours(printed: &str) -> bool {
    let unit = printed.trim_start_matches(|letter: char| letter.is_ascii_digit());
    unit.len() < printed.len()
        && matches!(
            unit.trim(),
            "h" | "hr" | "hrs" | "hour" | "hours" | "d" | "day" | "days" | "w" | "week" | "weeks"
        )
}

fn is_plan(word: &str) -> bool {
    PLANS.contains(&word)
}

fn separates_words(letter: char) -> bool {
    !(letter.is_alphanumeric() || letter == '_' || letter == '\'')
}

/// Names of attributes that are a duration whatever precedes it: `request_duration_ms`, `query_time`.
const LAST_PARTS: &[&str] = &[
    "took", "taken", "duration", "latency", "elapsed", "runtime", "waited",
];

/// Whether the name of an attribute is that of a duration, and not of a limit or statistic of some.
fn is_name_of_time(name: &str) -> bool {
    let name = split_unit(name).map_or(name, |(name, _)| name);
    let parts: Vec<&str> = name.split('_').filter(|part| !part.is_empty()).collect();
    if parts
        .iter()
        .any(|part| LIMITS.contains(part) || is_percentile(part) || *part == "total")
    {
        return false;
    }
    match parts.as_slice() {
        [.., name, "time"] => TIMES.contains(name),
        [.., last] => LAST_PARTS.contains(last),
        [] => false,
    }
}

fn is_percentile(part: &&str) -> bool {
    part.strip_prefix('p')
        .is_some_and(|rest| rest.parse::<u32>().is_ok())
}

/// Whether words before a number report an end: `finished`, `3 passed`, `gave up`.
fn has_end(words: &[String]) -> bool {
    words
        .iter()
        .any(|word| is_past(word) || ENDS.contains(&word.as_str()))
}

/// A past participle.
fn is_past(word: &str) -> bool {
    word.len() > 3 && word.ends_with("ed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(message: &str) -> String {
        stated(message).map_or_else(String::new, |stated| {
            format!("{:?} {}", stated.meaning, &message[stated.at])
        })
    }

    fn assert_states(cases: &[(&str, &str)]) {
        for &(message, expected) in cases {
            assert_eq!(shown(message), expected, "{message}");
        }
    }

    #[test]
    fn messages_state_how_long_something_lasted() {
        let cases = [
            (
                "wal: sync duration of 7.6 s, expected less than 1 s",
                "Took 7.6 s",
            ),
            ("Migration add_users took 12.3s", "Took 12.3s"),
            ("hrtimer: interrupt took 1532 ms", "Took 1532 ms"),
            (
                "LOG:  duration: 5321.123 ms  statement: SELECT pg_sleep(5)",
                "Took 5321.123 ms",
            ),
            ("job 7 finished in 3min 2.5s", "Took 3min 2.5s"),
            (
                "systemd[1]: Startup finished in 3.2s (kernel) + 1min 30.1s (userspace) = 1min 33.3s.",
                "Took 1min 33.3s",
            ),
            (
                "export done: write=269.551 s, sync=0.302 s, total=270.011 s; longest=0.064 s",
                "Took 270.011 s",
            ),
            (
                "checkpoint complete: wrote 9 buffers; write=269.551 s, sync=12.302 s, total=282.011 s",
                "Took 12.302 s",
            ),
            (
                "event12: Spawned process 'tool' [765] is taking longer than 59s to complete.",
                "AtLeast 59s",
            ),
            ("GC pause took 12 ms, total=45 s", "Took 12 ms"),
            (
                "[ ***  ] A stop job is running for Session 2 of User root (1min 29s / 1min 30s)",
                "Took 1min 29s",
            ),
            (
                "A start job is running for /dev/sdb1 (12s / no limit)",
                "Took 12s",
            ),
            ("request done elapsed=1.2s status=200", "Took 1.2s"),
            (
                "INFO: task kworker/0:1:42 blocked for more than 120 seconds.",
                "AtLeast 120 seconds",
            ),
            (
                "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [cc1:4711]",
                "Took 22s",
            ),
            ("connect to 10.0.0.7 timed out after 90s", "Took 90s"),
            ("Error: timeout of 30000ms exceeded", "AtLeast 30000ms"),
            ("db did not respond within 30 seconds", "AtLeast 30 seconds"),
            (
                "initcall acpi_init+0x0/0x20 returned 0 after 1234567 usecs",
                "Took 1234567 usecs",
            ),
            (
                "process 12 still waiting for ShareLock on transaction 4 after 1000.123 ms",
                "Took 1000.123 ms",
            ),
            ("PM: resume devices took 3.2 seconds", "Took 3.2 seconds"),
            ("Slow query (12.3s): SELECT 1", "Took 12.3s"),
            ("--- PASS: TestImport (12.30s)", "Took 12.30s"),
            ("3 passed in 12.34s", "Took 12.34s"),
            ("BUILD SUCCESSFUL in 1m 2s", "Took 1m 2s"),
            ("Total time:  12.345 s", "Took 12.345 s"),
            (
                "Total time for which application threads were stopped: 2.1234567 seconds",
                "Took 2.1234567 seconds",
            ),
            (
                "The system is down.  Shutdown took 17 seconds.",
                "Took 17 seconds",
            ),
            (
                "slow request 30.123 seconds old, received at noon",
                "Took 30.123 seconds",
            ),
            ("Waited for 2.3s due to client-side throttling", "Took 2.3s"),
            (
                "NMI handler took too long to run: 1.2 msecs",
                "Took 1.2 msecs",
            ),
            ("Reloading finished in 532 ms.", "Took 532 ms"),
            ("elapsed time: 00:01:30", "Took 00:01:30"),
            ("been waiting for 12s on the lock", "Took 12s"),
            (
                "apply request took too long took=1.2s expected-duration=100ms",
                "Took 1.2s",
            ),
            ("request finished duration_ms=3290", "Took 3290"),
            ("request finished durationMs=3290", "Took 3290"),
            ("{\"path\":\"/a\",\"elapsed_seconds\":3.29}", "Took 3.29"),
            ("GET /x status=200 latency=3.2s", "Took 3.2s"),
            (
                "GET /x status=200 http_request_duration_ms=1200",
                "Took 1200",
            ),
            (
                "Query_time: 12.300000  Lock_time: 0.000100 Rows_sent: 1",
                "Took 12.300000",
            ),
            (
                "app request_time=4.321 upstream_response_time=4.320 status=200",
                "Took 4.321",
            ),
        ];
        assert_states(&cases);
    }

    #[test]
    fn messages_state_which_wait_begins() {
        let cases = [
            ("connection refused, will retry in 5 s", "Planned 5 s"),
            ("Retrying in 30 seconds", "Planned 30 seconds"),
            ("trying again in 10s", "Planned 10s"),
            (
                "sleeping for 5 seconds before the next poll",
                "Planned 5 seconds",
            ),
            ("waiting for 10 s before restart", "Planned 10 s"),
            ("Sleeping 5 s", "Planned 5 s"),
            ("connect failed: retry after 2s", "Planned 2s"),
        ];
        assert_states(&cases);
    }

    #[test]
    fn the_start_of_an_activity_is_what_android_displays() {
        assert_states(&[
            (
                "ActivityTaskManager: Displayed a.b/.C: +4s131ms",
                "Took 4s131ms",
            ),
            (
                "Displayed a.b/.C for user 0: +824ms (total +1m2s)",
                "Took 824ms",
            ),
            ("Fully drawn a.b/.C: +1m2s3ms", "Took 1m2s3ms"),
        ]);
        for message in [
            "Displayed a.b/.C: +4x",
            "Displayed a.b/.C: +",
            "shown: +4s131ms",
            "Displayed: +99999999999999999999s",
        ] {
            assert_eq!(shown(message), "", "{message}");
        }
    }

    #[test]
    fn units_of_a_chain_begin_with_their_moment() {
        let cases = [
            ("a.service @5.811s +17.176s", "Takes 17.176s"),
            ("a.service @5.811s +1min 7.1s", "Takes 1min 7.1s"),
            ("a.service (1min 7.1s)", "Takes 1min 7.1s"),
            ("a@b.service@5.811s+17.176s", "Takes 17.176s"),
        ];
        assert_states(&cases);
        for message in [
            "a.target @24.709s",
            "mail to a @b +1s of it",
            "bundle.js (233ms)",
        ] {
            assert_eq!(shown(message), "", "{message}");
        }
    }

    #[test]
    fn limits_rates_and_sizes_are_no_durations() {
        let messages = [
            "timeout is 30s",
            "timeout=30s",
            "connect timeout set to 30 s",
            "polling every 60 s",
            "interval: 60s",
            "wrote 12 MB at 3 MB/s",
            "battery at 95%",
            "up 12 days",
            "lease expires in 3600 s",
            "lease time 86400 s",
            "max age of 30 s",
            "rate limit: 5 requests allowed in 60 s",
            "foo.service: Consumed 12.3s CPU time.",
            "clock offset of 0.5 s",
            "started 5 minutes ago",
            "uptime: 3 days",
            "keepalive 75 s",
            "grace period of 90s",
            "random: 7 urandom warning(s) missed due to ratelimiting",
            "version 1.2s",
            "waiting up to 30 s for the network",
            "no events in the last 60 s",
            "total hosts: 90, already scanned (24h): 12, left: 78",
            "running for 3 days",
            "load average: 0.1 s",
            "average latency of 5 s",
            "tsc: Refined TSC clocksource calibration: 2399.998 MHz",
            "checkpoint write=269.9 s",
            "max_duration_ms=30000",
            "avg_latency_ms=1200",
            "p99_latency=1.2s",
            "timeout_ms=30000",
            "wait_timeout=28800",
            "items=4711 rows: 3290",
            "duration=3290",
            "uptime_seconds=86400",
            "connect_timeout_seconds: 10",
        ];
        for message in messages {
            assert_eq!(shown(message), "", "{message}");
        }
    }
}
