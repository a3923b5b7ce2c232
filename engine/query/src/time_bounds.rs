//! Moments that users name: a time, a line, or the first line that fits a regular expression.
//!
//! ```text
//! --from 2.6594              --to +11.5              seconds as printed, or since the start
//! --from 09:30:00            --to line:4101          time of day; a line by its number
//! --from '/fcntl.*SETFL/'    --to '/write.*= 64$/'   the first match; the first match after it
//! ```
//!
//! A line begins a stretch at the moment that it prints, and ends one when its event ends. Of a log it ends one at that
//! moment too: the silence after a message did not lead to it.

use crate::source_lines;
use parsers::{Clock, DurKind, NO_NS, StampMoment, scan};
use regex::bytes::Regex;
use trace::store::trace::{Capture, Trace};

/// Why a text names no moment.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeBoundError {
    /// It has none of the forms.
    Unknown(String),
    /// The text between the slashes is not a valid regular expression: the text, and the reason.
    NoExpression(String, String),
    /// No line of a file fits: the path, and the text.
    NoLine(String, String),
    /// A file has no line of this number: the path, and the number of its last line.
    PastEnd(String, u64),
    /// The lines of a file cannot be read again: the path, and why.
    Unreadable(String, String),
}

/// From when and to when, as a user names it.
pub type NamedBounds = (Option<String>, Option<String>);
/// The same for each capture, on its time line.
pub type TimeBounds = Vec<(i64, i64)>;

/// Which end of a stretch a moment is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    From,
    To,
}

/// A moment, and the line that names it, if one does.
#[derive(Clone, Copy)]
struct Moment {
    ns: i64,
    line: Option<u64>,
}

/// The stretch of each capture between two moments.
///
/// # Errors
/// If a text names no moment of some capture.
pub fn bounds(trace: &Trace, (from, to): &NamedBounds) -> Result<TimeBounds, TimeBoundError> {
    let of_capture = |capture: &Capture| {
        let from = from
            .as_ref()
            .map(|text| moment(trace, capture, text, Side::From, None))
            .transpose()?;
        let to = to
            .as_ref()
            .map(|text| moment(trace, capture, text, Side::To, from))
            .transpose()?;
        Ok((
            from.map_or(i64::MIN + 1, |from| from.ns),
            to.map_or(i64::MAX, |to| to.ns),
        ))
    };
    let (mut all, mut missed) = (TimeBounds::new(), None);
    for capture in &trace.captures {
        match of_capture(capture) {
            // The line may be in another one: a run of the same file, or a longer file.
            Err(no_line @ (TimeBoundError::NoLine(..) | TimeBoundError::PastEnd(..)))
                if trace.captures.len() > 1 =>
            {
                missed = Some(no_line);
                all.push(NOTHING);
            }
            bounds => all.push(bounds?),
        }
    }
    missed
        .filter(|_| all.iter().all(|bounds| *bounds == NOTHING))
        .map_or(Ok(all), Err)
}

/// A stretch without events.
const NOTHING: (i64, i64) = (i64::MAX, i64::MIN + 1);

fn moment(
    trace: &Trace,
    capture: &Capture,
    text: &str,
    side: Side,
    from: Option<Moment>,
) -> Result<Moment, TimeBoundError> {
    if let Some(inside) = text
        .strip_prefix('/')
        .and_then(|rest| rest.strip_suffix('/'))
    {
        let regex = Regex::new(inside)
            .map_err(|error| TimeBoundError::NoExpression(text.to_owned(), reason(&error)))?;
        return first_fitting(trace, capture, &regex, side, from)?
            .ok_or_else(|| TimeBoundError::NoLine(capture.path.clone(), text.to_owned()));
    }
    let unknown = || TimeBoundError::Unknown(text.to_owned());
    if let Some(number) = text.strip_prefix("line:") {
        let line = number.trim().parse().map_err(|_| unknown())?;
        let past_end = || TimeBoundError::PastEnd(capture.path.clone(), capture.last_line());
        let ns = match (line < capture.first_line, side) {
            (true, Side::From) => i64::MIN + 1,
            (true, Side::To) => return Err(past_end()),
            (false, Side::To) if line > capture.last_line() && capture.run < capture.runs => {
                i64::MAX
            }
            _ => LineSearch::new(trace, capture, capture.first_file)
                .moment(line, side)
                .ok_or_else(past_end)?,
        };
        return Ok(Moment {
            ns,
            line: Some(line),
        });
    }
    of_clock(capture, text)
        .map(|ns| Moment { ns, line: None })
        .ok_or_else(unknown)
}

/// The problem with an expression. The library draws it on several lines; the last one has the message.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    text.lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned()
}

/// A time as the capture prints it, since its start, or of its day.
fn of_clock(capture: &Capture, text: &str) -> Option<i64> {
    /// Stamps since 1970 are above this, times since a start are below.
    const YEAR_2001_NS: i64 = 1_000_000_000_000_000_000;
    let is_epoch = capture.facts.clock == Clock::Epoch;
    let has_days = matches!(
        capture.facts.clock,
        Clock::Epoch | Clock::TimeOfDay | Clock::SinceNewYear
    );
    let trimmed = text.trim().trim_end_matches('s');
    if let Some((ns, _, b"")) = scan::time_of_day(trimmed.as_bytes()) {
        return Some(if has_days {
            on_day_of(ns, capture.first_ns, capture.last_ns)
        } else {
            ns
        });
    }
    let since_start = trimmed.strip_prefix('+');
    let (ns, _, b"") = scan::seconds(since_start.unwrap_or(trimmed).as_bytes())? else {
        return None;
    };
    let relative = since_start.is_some() || (is_epoch && ns < YEAR_2001_NS);
    Some(if relative {
        capture.first_ns.saturating_add(ns)
    } else {
        ns
    })
}

/// A time of the day on which the capture begins, or of the next one if it goes on past midnight to then.
fn on_day_of(time_of_day_ns: i64, first_ns: i64, last_ns: i64) -> i64 {
    const DAY_NS: i64 = 86_400_000_000_000;
    let ns = first_ns - first_ns.rem_euclid(DAY_NS) + time_of_day_ns;
    let next_ns = ns.saturating_add(DAY_NS);
    if ns < first_ns && next_ns <= last_ns {
        next_ns
    } else {
        ns
    }
}

/// The earliest moment of a matching line after `from`, in any file of a capture.
fn first_fitting(
    trace: &Trace,
    capture: &Capture,
    regex: &Regex,
    side: Side,
    from: Option<Moment>,
) -> Result<Option<Moment>, TimeBoundError> {
    // Lines of several files have an order only by their times.
    let from_line = from
        .and_then(|from| from.line)
        .filter(|_| capture.files.len() == 1);
    let mut first: Option<Moment> = None;
    for (file, path) in (capture.first_file..).zip(&capture.files) {
        let lines = LineSearch::new(trace, capture, file);
        let look = |text: &[u8], line: u64| {
            if from_line.is_some_and(|from_line| line <= from_line) || !regex.is_match(text) {
                return None;
            }
            let ns = lines.moment(line, side)?;
            let is_behind = from_line.is_some() || from.is_none_or(|from| ns > from.ns);
            is_behind.then_some(Moment {
                ns,
                line: Some(line),
            })
        };
        let found = source_lines::first(path, look)
            .map_err(|error| TimeBoundError::Unreadable(path.clone(), error.to_string()))?;
        first = found
            .into_iter()
            .chain(first)
            .min_by_key(|moment| moment.ns);
    }
    Ok(first)
}

/// The events of a file by their lines.
struct LineSearch<'trace> {
    trace: &'trace Trace,
    capture: &'trace Capture,
    /// Rows with a time, by line.
    rows: Vec<(u32, u32)>,
    /// The same by the lines of their second halves.
    halves: Vec<(u32, u32)>,
}

impl<'trace> LineSearch<'trace> {
    fn new(trace: &'trace Trace, capture: &'trace Capture, file: u32) -> LineSearch<'trace> {
        let events = &trace.events;
        let dated = |row: &u32| events.event(*row).file == file && events.start_ns(*row) != NO_NS;
        let mut rows: Vec<_> = capture
            .rows
            .clone()
            .filter(dated)
            .map(|row| (events.line(row), row))
            .collect();
        let ends = events
            .ends
            .iter()
            .filter(|(row, _)| capture.rows.contains(row) && dated(row));
        let mut halves: Vec<_> = ends.map(|&(row, line)| (line, row)).collect();
        rows.sort_unstable();
        halves.sort_unstable();
        LineSearch {
            trace,
            capture,
            rows,
            halves,
        }
    }

    /// The moment that a line stands for. A line that is no event stands for the next one, at the end of a stretch for the
    /// last one before it.
    fn moment(&self, line: u64, side: Side) -> Option<i64> {
        let events = &self.trace.events;
        let inside = self.capture.first_line..=self.capture.last_line();
        let line = u32::try_from(line)
            .ok()
            .filter(|&line| inside.contains(&u64::from(line)))?;
        let is_log = self.capture.facts.dur_kind == DurKind::Gap;
        let end_ns = |row: u32| events.end_ns(row).filter(|_| !is_log);
        let ended_ns = |row: u32| end_ns(row).unwrap_or(events.start_ns(row));
        if let Ok(at) = self.halves.binary_search_by_key(&line, |&(line, _)| line) {
            return Some(ended_ns(self.halves[at].1));
        }
        let at = self.rows.partition_point(|&(known, _)| known < line);
        let next = self.rows.get(at).copied();
        match side {
            Side::From if self.capture.facts.stamp == StampMoment::End => {
                next.map(|(_, row)| ended_ns(row))
            }
            Side::From => next.map(|(_, row)| events.start_ns(row)),
            Side::To => {
                let here = next.filter(|&(known, _)| known == line);
                let before = at
                    .checked_sub(1)
                    .and_then(|before| self.rows.get(before).copied());
                here.or(before).map(|(_, row)| ended_ns(row))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use trace::ingest::read;

    const LINES: &str = "\
7 1700000100.000000 execve(\"/bin/a\", [\"a\"], 0x7ffd) = 0 <0.100000>
7 1700000101.000000 getpid() = 7 <0.500000>
7 1700000102.000000 read(0,  <unfinished ...>
8 1700000102.500000 getpid() = 8 <0.100000>
7 1700000103.000000 <... read resumed>\"x\", 9) = 1 <1.000000>
7 1700000104.000000 getpid() = 7 <0.500000>
7 1700000105.000000 exit_group(0) = ?
7 1700000106.000000 +++ exited with 0 +++
";

    fn read() -> (Trace, tempfile::NamedTempFile) {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(LINES.as_bytes()).expect("the lines");
        let names = vec![file.path().to_string_lossy().into_owned()];
        (
            read::read(&[names], None, &mut |_, _| {}).unwrap_or_else(|_| panic!("not read")),
            file,
        )
    }

    fn named(trace: &Trace, from: &str, to: &str) -> Result<(i64, i64), TimeBoundError> {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        bounds(trace, &(some(from), some(to))).map(|bounds| bounds[0])
    }

    #[test]
    fn a_message_ends_a_stretch_before_the_silence_behind_it() {
        let lines = "[    1.000000] a: begin\n[    3.000000] a: ready\n[    9.000000] a: bye\n";
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(lines.as_bytes()).expect("the lines");
        let names = vec![file.path().to_string_lossy().into_owned()];
        let trace =
            read::read(&[names], None, &mut |_, _| {}).unwrap_or_else(|_| panic!("not read"));
        for to in ["line:2", "/ready/"] {
            assert_eq!(
                named(&trace, "/begin/", to),
                Ok((1_000_000_000, 3_000_000_000)),
                "{to}"
            );
        }
    }

    #[test]
    fn lines_name_moments() {
        const MS: i64 = 1_000_000;
        let (trace, _file) = read();
        // Milliseconds since the first line.
        let cases = [
            ("/getpid/", "", Some(1000), None),
            ("", "/getpid/", None, Some(1500)),
            ("/getpid/", "/getpid/", Some(1000), Some(2600)),
            ("/read/", "/^7 .*getpid/", Some(2000), Some(4500)),
            ("line:6", "line:6", Some(4000), Some(4500)),
            ("/resumed/", "", Some(3000), None),
            ("+3", "/getpid/", Some(3000), Some(4500)),
            ("", "/read\\(/", None, Some(3000)),
        ];
        for (from, to, from_ms, to_ms) in cases {
            let (start_ns, end_ns) =
                named(&trace, from, to).unwrap_or_else(|error| panic!("{from} {to}: {error:?}"));
            let since_start = |ns: i64| (ns - trace.captures[0].first_ns) / MS;
            let found = |is_named: bool, ns: i64| is_named.then(|| since_start(ns));
            assert_eq!(
                (
                    found(!from.is_empty(), start_ns),
                    found(!to.is_empty(), end_ns)
                ),
                (from_ms, to_ms),
                "{from} {to}"
            );
        }
    }

    #[test]
    fn times_of_the_day_are_of_the_day_of_the_capture() {
        // Start and end in seconds since the first line.
        let cases = [
            (
                "Mar  5 19:43:00 host rc: a\nMar  5 19:49:02 host rc: b\n",
                "19:44:00",
                "19:45:00",
                (60, 120),
            ),
            (
                "7 23:59:58 getpid() = 7\n7 00:00:05 exit_group(0) = ?\n",
                "00:00:01",
                "00:00:02",
                (3, 4),
            ),
            (
                "7 23:59:58 getpid() = 7\n7 00:00:05 exit_group(0) = ?\n",
                "23:59:57",
                "23:59:59",
                (-1, 1),
            ),
            (
                "7 1700006398 getpid() = 7\n7 1700006405 exit_group(0) = ?\n",
                "23:59:59",
                "00:00:02",
                (1, 4),
            ),
        ];
        for (lines, from, to, seconds) in cases {
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            file.write_all(lines.as_bytes()).expect("the lines");
            let names = vec![file.path().to_string_lossy().into_owned()];
            let trace =
                read::read(&[names], None, &mut |_, _| {}).unwrap_or_else(|_| panic!("not read"));
            let since_start = |ns: i64| (ns - trace.captures[0].first_ns) / 1_000_000_000;
            let (from_ns, to_ns) = named(&trace, from, to).expect("times");
            assert_eq!(
                (since_start(from_ns), since_start(to_ns)),
                seconds,
                "{lines} {from} {to}"
            );
        }
    }

    #[test]
    fn a_line_of_one_run_leaves_out_the_others() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let alone: String = LINES
            .lines()
            .filter(|line| line.starts_with('7'))
            .map(|line| format!("{line}\n"))
            .collect();
        file.write_all(alone.repeat(3).as_bytes())
            .expect("the lines");
        let names = vec![file.path().to_string_lossy().into_owned()];
        let trace =
            read::read(&[names], None, &mut |_, _| {}).unwrap_or_else(|_| panic!("not read"));
        let of =
            |from: &str, to: &str| bounds(&trace, &(Some(from.to_owned()), Some(to.to_owned())));
        let chosen = |from, to| -> Vec<bool> {
            of(from, to)
                .unwrap_or_default()
                .iter()
                .map(|(from_ns, to_ns)| from_ns <= to_ns)
                .collect()
        };
        assert_eq!(chosen("line:9", "line:12"), [false, true, false]);
        assert_eq!(chosen("line:3", "line:12"), [true, true, false]);
        assert_eq!(chosen("line:12", "line:18"), [false, true, true]);
        assert!(matches!(
            of("line:99", "line:120"),
            Err(TimeBoundError::PastEnd(_, _))
        ));
    }

    #[test]
    fn what_names_no_moment_says_why() {
        let (trace, file) = read();
        let path = file.path().to_string_lossy().into_owned();
        assert_eq!(
            named(&trace, "noon", ""),
            Err(TimeBoundError::Unknown("noon".into()))
        );
        assert_eq!(
            named(&trace, "/getpid", ""),
            Err(TimeBoundError::Unknown("/getpid".into()))
        );
        assert_eq!(
            named(&trace, "line:99", ""),
            Err(TimeBoundError::PastEnd(path.clone(), 8))
        );
        assert_eq!(
            named(&trace, "/nothing/", ""),
            Err(TimeBoundError::NoLine(path.clone(), "/nothing/".into()))
        );
        assert_eq!(
            named(&trace, "/exited/", "/getpid/"),
            Err(TimeBoundError::NoLine(path, "/getpid/".into()))
        );
        assert!(
            matches!(named(&trace, "/get(/", ""), Err(TimeBoundError::NoExpression(_, why)) if why.contains("group"))
        );
    }
}
