//! Messages that begin and end the same activity: `Stopping Foo...` and `Stopped Foo.`
//!
//! ```text
//! systemd: Stopping Foo...    usb 1-1: new device    systemd: Stopped Foo.
//! |-------------------------- Foo ------------------------------------------|
//! ```
//! Both are of one sender and name the same subject. So do those around an outage, of which only the first of several begins it:
//! `nfs: server depot not responding, still trying`, `nfs: server depot OK`.

use rustc_hash::FxHashMap;
use trace::store::heuristics::OUTAGE_PHRASES;

/// First words of messages that end anything that began.
const ENDS: &[&str] = &[
    "finished",
    "completed",
    "done",
    "finish",
    "end",
    "ended",
    "leaving",
    "failed",
];
/// First words of messages that begin something, in addition to those that end in `ing`.
const BEGINS: &[&str] = &["begin", "start", "enter", "run"];
/// Last words of messages that end something.
const LAST_ENDS: &[&str] = &[
    "finished",
    "completed",
    "complete",
    "done",
    "end",
    "exit",
    "ready",
];
/// Last words of messages that begin something.
const LAST_BEGINS: &[&str] = &[
    "begin", "start", "starting", "started", "entry", "begins", "starts",
];
/// Maximum number of activities that are open at a time.
const MAX_OPEN: usize = 4096;

/// A message: its sender, and its text.
pub(crate) type Message<'text> = (&'text str, &'text str);

/// How a message refers to an activity.
enum Part<'text> {
    Begin(&'text str, &'text str),
    End(&'text str, &'text str),
}

/// The first and the last message of each activity, by their numbers, in the order of the last ones.
pub fn pairs<'text>(messages: impl Iterator<Item = Message<'text>>) -> Vec<(usize, usize)> {
    let mut open: FxHashMap<(&str, String), (usize, &str)> = FxHashMap::default();
    let mut found = Vec::new();
    for (number, (sender, text)) in messages.enumerate() {
        match part(without_tag(sender, text)) {
            Some(Part::Begin(verb, subject)) if open.len() < MAX_OPEN => {
                open.insert((sender, key(subject)), (number, verb));
            }
            Some(Part::End(verb, subject)) => {
                let key = (sender, key(subject));
                if open.get(&key).is_some_and(|&(_, begun)| ends(verb, begun)) {
                    found.extend(open.remove(&key).map(|(begun, _)| (begun, number)));
                }
            }
            _ => {}
        }
    }
    found
}

/// The first and the last message of each outage, by their numbers, in the order of the last ones.
pub fn outages<'text>(messages: impl Iterator<Item = Message<'text>>) -> Vec<(usize, usize)> {
    let mut open: FxHashMap<String, (usize, usize)> = FxHashMap::default();
    let mut found = Vec::new();
    for (number, (_, text)) in messages.enumerate() {
        let text = text.to_lowercase();
        if let Some((subject, phrase)) = outage_begin(&text) {
            if open.len() < MAX_OPEN {
                open.entry(subject.to_owned()).or_insert((number, phrase));
            }
        } else if !open.is_empty() {
            found.extend(outage_end(&text, &mut open).map(|begun| (begun, number)));
        }
    }
    found
}

/// What a message reports as not answering, and the phrase for it by its number.
fn outage_begin(text: &str) -> Option<(&str, usize)> {
    OUTAGE_PHRASES
        .iter()
        .enumerate()
        .find_map(|(number, (phrase, _))| {
            let (subject, _) = text.split_once(phrase)?;
            let is_apart = subject.ends_with(' ');
            Some((outage_subject(subject)?, number)).filter(|_| is_apart)
        })
}

/// The message that began the outage which this one ends.
fn outage_end(text: &str, open: &mut FxHashMap<String, (usize, usize)>) -> Option<usize> {
    let text = text.trim_end_matches(['.', '!', ' ']);
    let ends = OUTAGE_PHRASES.iter().enumerate();
    ends.flat_map(|(number, (_, ends))| ends.iter().map(move |end| (number, end)))
        .find_map(|(number, end)| {
            let subject = text.strip_suffix(end).filter(|rest| rest.ends_with(' '))?;
            let subject = outage_subject(subject)?;
            open.get(subject).filter(|&&(_, begun)| begun == number)?;
            open.remove(subject).map(|(begun, _)| begun)
        })
}

/// The subject without the verb at its end: `host db is` is `host db`.
fn outage_subject(before: &str) -> Option<&str> {
    let before = before.trim_end();
    let subject = [" is", " was", " has become", " became", " becomes"]
        .iter()
        .find_map(|verb| before.strip_suffix(verb))
        .unwrap_or(before);
    let subject = subject.trim_matches(|letter: char| !letter.is_alphanumeric());
    Some(subject).filter(|subject| subject.contains(|letter: char| letter.is_alphabetic()))
}

/// Whether a message begins an activity.
pub fn begins(sender: &str, text: &str) -> bool {
    matches!(part(without_tag(sender, text)), Some(Part::Begin(..)))
}

/// Whether a message ends an activity.
pub fn is_end(sender: &str, text: &str) -> bool {
    matches!(part(without_tag(sender, text)), Some(Part::End(..)))
}

/// The message without the name of its sender: `systemd[1]: Stopping Foo...` is `Stopping Foo...`
pub fn without_tag<'text>(sender: &str, text: &'text str) -> &'text str {
    let Some(rest) = text.strip_prefix(sender).filter(|_| !sender.is_empty()) else {
        return text;
    };
    rest.split_once(": ")
        .filter(|(pid, _)| pid.is_empty() || pid.starts_with('['))
        .map_or(text, |(_, rest)| rest)
}

/// The message without its severity and the part of the program at its start: `Info   CBS   Ending …`.
pub fn without_level(text: &str) -> &str {
    const LEVELS: &[&str] = &[
        "trace", "debug", "info", "notice", "warn", "warning", "error", "fatal",
    ];
    const MAX_TAG_LETTERS: usize = 8;
    let word = |text: &'_ str| text.find(' ').map_or(text.len(), |end| end);
    let level = text.get(..word(text)).unwrap_or(text);
    let name = level.trim_matches(|letter: char| !letter.is_ascii_alphabetic());
    let Some(rest) = text.get(level.len()..).filter(|_| is_one_of(name, LEVELS)) else {
        return text;
    };
    let rest = rest.trim_start();
    let tag = rest.get(..word(rest)).unwrap_or("");
    let is_tag = (1..=MAX_TAG_LETTERS).contains(&tag.len())
        && tag.bytes().all(|byte| byte.is_ascii_uppercase());
    if is_tag {
        rest[tag.len()..].trim_start()
    } else {
        rest
    }
}

/// Whether a message is one of the last that a program logs before it ends.
pub fn is_last(text: &str) -> bool {
    const LASTS: &[&str] = &["ending", "exiting", "terminating", "bye", "goodbye"];
    let first = without_level(text).split(' ').next().unwrap_or("");
    is_one_of(first, LASTS)
}

/// Whether a message with this word ends what began with that one: `Stopped` and `Stopping`, `finished` and any.
fn ends(verb: &str, begun: &str) -> bool {
    let is_same =
        stem(verb, "ed").is_some_and(|stem_of_end| stem(begun, "ing") == Some(stem_of_end));
    is_same
        || is_one_of(verb, ENDS)
        || is_one_of(verb, LAST_ENDS) && !begun.to_lowercase().ends_with("ing")
}

fn stem(word: &str, suffix: &str) -> Option<String> {
    word.to_lowercase().strip_suffix(suffix).map(str::to_owned)
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn part(text: &str) -> Option<Part<'_>> {
    let text = without_attributes(text.trim())
        .trim_end_matches(['.', '…', '!'])
        .trim_end();
    let (first, subject) = text.split_once(' ')?;
    let is_verb = first.bytes().all(|byte| byte.is_ascii_alphabetic());
    let suffixed =
        |suffix: &str| is_verb && first.len() > suffix.len() + 2 && first.ends_with(suffix);
    if suffixed("ing") || is_one_of(first, BEGINS) {
        return Some(Part::Begin(first, subject));
    }
    if suffixed("ed") || is_one_of(first, ENDS) {
        return Some(Part::End(
            first,
            subject
                .strip_prefix("to start ")
                .or(subject.strip_prefix("to stop "))
                .unwrap_or(subject),
        ));
    }
    let (subject, last) = text.rsplit_once([' ', ':'])?;
    match () {
        () if is_one_of(last, LAST_BEGINS) => Some(Part::Begin(last, subject)),
        () if is_one_of(last, LAST_ENDS) || last.len() > 4 && last.ends_with("ed") => {
            Some(Part::End(last, subject))
        }
        () => None,
    }
}

/// The text without attributes at its end: `request finished duration_ms=3290`.
fn without_attributes(mut text: &str) -> &str {
    while let Some((rest, _)) = text.rsplit_once(' ').filter(|(_, last)| last.contains('=')) {
        text = rest.trim_end();
    }
    text
}

/// What an activity is about, as both messages name it.
fn key(subject: &str) -> String {
    subject
        .trim_matches(|letter: char| !letter.is_alphanumeric())
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[(&'static str, &'static str)]) -> Vec<(usize, usize)> {
        pairs(texts.iter().copied())
    }

    #[test]
    fn messages_about_one_subject_begin_and_end_an_activity() {
        let cases: [&[(&str, &str)]; 8] = [
            &[
                ("systemd", "systemd[1]: Stopping Foo..."),
                ("usb 1-1", "usb 1-1: new device"),
                ("systemd", "systemd[1]: Stopped Foo."),
            ],
            &[
                ("systemd", "systemd[1]: Starting Foo..."),
                ("", "x"),
                ("systemd", "systemd[1]: Finished Foo."),
            ],
            &[
                ("systemd", "systemd[1]: Starting Foo..."),
                ("", "x"),
                ("systemd", "systemd[1]: Failed to start Foo."),
            ],
            &[("", "Loading modules"), ("", "x"), ("", "Loaded modules")],
            &[
                ("PM", "PM: suspend entry"),
                ("", "x"),
                ("PM", "PM: suspend exit"),
            ],
            &[
                ("", "job 5 started"),
                ("", "job 6 started"),
                ("", "job 5 finished"),
            ],
            &[
                ("nginx", "nginx: stopping workers"),
                ("usb 1-1", "usb 1-1: new"),
                ("nginx", "nginx: workers stopped"),
            ],
            &[
                ("", "request started"),
                ("", "x"),
                ("", "request finished duration_ms=3290"),
            ],
        ];
        for texts in cases {
            assert_eq!(found(texts), [(0, 2)], "{texts:?}");
        }
    }

    #[test]
    fn an_outage_lasts_from_its_first_message() {
        let found = |texts: &[&'static str]| outages(texts.iter().map(|&text| ("", text)));
        let nfs = [
            "nfs: server depot not responding, still trying",
            "nfs: server depot not responding, still trying",
            "nfs: server attic OK",
            "nfs: server depot OK",
            "nfs: server depot OK",
        ];
        assert_eq!(found(&nfs), [(0, 3)]);
        let host = ["Host db is unreachable", "x", "Host db is reachable."];
        assert_eq!(found(&host), [(0, 2)]);
        let other = [
            "disk unavailable",
            "disk OK, 3 files",
            "tests unavailable: OK",
        ];
        assert_eq!(found(&other), []);
    }

    #[test]
    fn other_messages_are_no_pair() {
        let cases: [&[(&str, &str)]; 4] = [
            // A service that ran, not one that took long to start.
            &[
                ("systemd", "systemd[1]: Started Foo."),
                ("systemd", "systemd[1]: Stopped Foo."),
            ],
            &[
                ("systemd", "systemd[1]: Starting Foo..."),
                ("systemd", "systemd[1]: Stopped Foo."),
            ],
            &[("a", "a: Starting Foo..."), ("b", "b: Started Foo.")],
            &[("", "Starting Foo..."), ("", "Started Bar.")],
        ];
        for texts in cases {
            assert_eq!(found(texts), [], "{texts:?}");
        }
    }
}
