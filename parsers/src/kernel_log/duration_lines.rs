//! Lines without a time that state how long a part of a whole took.
//!
//! ```text
//! └─NetworkManager-wait-online.service @5.811s +17.176s    systemd-analyze critical-chain
//!  1min 30.123s snapd.service                              systemd-analyze blame
//! Startup finished in 3.201s (kernel) + 5.102s (userspace) = 8.303s
//! #5 [2/3] RUN apt-get update                             BuildKit: docker build --progress=plain
//! #5 DONE 189.3s
//! 12.34s call     tests/test_sync.py::test_all            pytest --durations
//! section_end:1700000212:step_script                      GitLab
//! install packages ------------------------------ 198.22s  Ansible, and other runners
//! ```
//! The message is a sentence, `NetworkManager-wait-online.service took 17.176s`. Moments after the `@` and the seconds of a
//! step of BuildKit are of clocks of their own, which run at the same time, so no line has a stamp.

use super::android;
use super::runner_times;
use super::tool_times::{self, ToolTime};
use super::unit_chain::{self, is_unit};
use crate::format::{Head, blank};
use crate::scan;
use memchr::memmem;
use std::borrow::Cow;

/// Longest title of a step.
const MAX_TITLE_BYTES: usize = 120;
/// Steps whose titles are kept.
const MAX_STEPS: usize = 500;

/// Titles of the steps of a build, by their number, and starts of the sections of a job, by their name.
#[derive(Debug, Default)]
pub(super) struct BuildSteps {
    titles: Vec<(i64, Box<[u8]>)>,
    sections: Vec<(Box<[u8]>, i64)>,
}

/// A line that belongs to such a text.
#[derive(Debug, PartialEq)]
pub(super) struct DurationLine<'a> {
    /// The message.
    pub message: Cow<'a, [u8]>,
    /// Whether it states a duration.
    pub is_stated: bool,
}

impl<'a> DurationLine<'a> {
    fn plain(text: &'a [u8]) -> DurationLine<'a> {
        DurationLine {
            message: Cow::Borrowed(text),
            is_stated: false,
        }
    }

    fn took(name: &[u8], duration: &[u8]) -> DurationLine<'a> {
        DurationLine {
            message: Cow::Owned([name, b" took ", duration].concat()),
            is_stated: true,
        }
    }
}

impl BuildSteps {
    /// The titles of the steps in a head.
    pub fn of(head: Head<'_>) -> BuildSteps {
        let mut steps = BuildSteps::default();
        for (number, text) in head.lines().filter_map(step) {
            let is_new = steps.titles.iter().all(|(known, _)| *known != number);
            let is_title = text.starts_with(b"[") && memmem::find(text, b"] ").is_some();
            if is_title && is_new && steps.titles.len() < MAX_STEPS {
                let title = text.get(..MAX_TITLE_BYTES).unwrap_or(text);
                steps.titles.push((number, title.into()));
            }
        }
        for (start, name) in head.lines().filter_map(|line| section(line, SECTION_START)) {
            if steps.sections.len() < MAX_STEPS && name.len() <= MAX_TITLE_BYTES {
                steps.sections.push((name.into(), start));
            }
        }
        steps
    }

    /// Read a line of such a text.
    pub fn read<'a>(&self, line: &'a [u8]) -> Option<DurationLine<'a>> {
        let text = scan::trim(line);
        if let Some((number, rest)) = step(text) {
            return Some(self.of_step(number, text, rest));
        }
        if let Some((end, name)) = section(text, SECTION_END) {
            return Some(self.of_section(text, name, end));
        }
        chain(text)
            .or_else(|| image_step(text))
            .or_else(|| {
                tool_times::read(text)
                    .or_else(|| android::read(text))
                    .or_else(|| runner_times::read(text))
                    .map(tool_time)
            })
            .or_else(|| blame(text))
            .or_else(|| cloud_init(text))
            .or_else(|| slow_test(text))
            .or_else(|| startup(text))
    }

    /// A section takes whole seconds. Where the same name comes again, the last start before the end counts.
    fn of_section<'a>(&self, text: &'a [u8], name: &[u8], end: i64) -> DurationLine<'a> {
        let starts = self.sections.iter().filter(|(known, _)| **known == *name);
        let start = starts
            .map(|&(_, start)| start)
            .filter(|&start| start <= end)
            .max();
        match start.and_then(|start| end.checked_sub(start)) {
            Some(seconds) => DurationLine::took(
                &[b"section ", name].concat(),
                format!("{seconds}s").as_bytes(),
            ),
            None => DurationLine::plain(text),
        }
    }

    fn of_step<'a>(&self, number: i64, text: &'a [u8], rest: &'a [u8]) -> DurationLine<'a> {
        let Some(duration) = rest.strip_prefix(b"DONE ").filter(|text| is_duration(text)) else {
            return DurationLine::plain(text);
        };
        let title = self.titles.iter().find(|(known, _)| *known == number);
        let title = title.map_or(&b""[..], |(_, title)| title);
        let name = format!("#{number}{}", if title.is_empty() { "" } else { " " });
        DurationLine::took(&[name.as_bytes(), title].concat(), duration)
    }
}

/// Whether a head is mostly such lines, and some state a duration: the share of the lines in percent, 0 if not.
pub(super) fn share_percent(head: Head<'_>) -> u8 {
    let steps = BuildSteps::of(head);
    let filled = || head.lines().filter(|line| blank(line).is_none());
    let found = || filled().filter_map(|line| steps.read(line));
    if !found().any(|line| line.is_stated) {
        return 0;
    }
    let others = || filled().filter(|line| is_of_tool(scan::trim(line)));
    let share = (found().count() + others().count()) * 100 / filled().count().max(1);
    // Any output may be between the marks of sections, and before the three lines of a shell's time.
    let has_mark = |first: &[u8]| filled().any(|line| scan::trim(line).starts_with(first));
    let is_certain = !steps.sections.is_empty()
        || filled().any(|line| image_step(scan::trim(line)).is_some())
        || filled().any(|line| runner_times::read(scan::trim(line)).is_some())
        || has_mark(b"Startup finished in ")
        || has_mark(b"Startupfinishedin")
        || has_mark(b"real\t") && has_mark(b"user\t") && has_mark(b"sys\t");
    let least = if is_certain { MIN_CERTAIN_SHARE } else { 0 };
    share.min(100).max(least) as u8
}

/// Whether a line that states nothing is of a tool that states times in others.
fn is_of_tool(text: &[u8]) -> bool {
    tool_times::belongs(text) || android::belongs(text)
}

/// Enough to be recognised, if no tracer printed the other lines.
const MIN_CERTAIN_SHARE: usize = 30;

/// Whether a text is a log of ninja, whose first numbers are no times of a day.
pub(super) fn is_ninja_log(head: Head<'_>) -> bool {
    head.bytes.starts_with(tool_times::NINJA_HEADER)
}

const SECTION_START: &[u8] = b"section_start:";
const SECTION_END: &[u8] = b"section_end:";

/// The seconds since 1970 and the name of a mark in a line. `section_start:1700000000:step_script[collapsed=true]`, a carriage
/// return and the sequence that clears the line follow each other, and then a title or another mark.
fn section<'a>(line: &'a [u8], mark: &[u8]) -> Option<(i64, &'a [u8])> {
    let at = memmem::find(line, mark)?;
    let (seconds, rest) = scan::number(line.get(at + mark.len()..)?)?;
    let name = rest.strip_prefix(b":")?;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let end = name
        .iter()
        .position(|byte| !is_part(byte))
        .unwrap_or(name.len());
    (end > 0).then(|| (seconds, &name[..end]))
}

fn tool_time<'a>((name, ms): ToolTime<'_>) -> DurationLine<'a> {
    let text = format!("{}.{:03}s", ms / 1000, ms % 1000);
    DurationLine::took(&name, text.as_bytes())
}

/// `#5 12.34 text`, `#5 DONE 1.2s`: the number and the rest.
fn step(text: &[u8]) -> Option<(i64, &[u8])> {
    let (number, rest) = scan::number(text.strip_prefix(b"#")?)?;
    Some((number, rest.strip_prefix(b" ")?))
}

/// A unit of the tree of critical-chain. Without `+`, it took no time of its own.
fn chain(text: &[u8]) -> Option<DurationLine<'_>> {
    let unit = unit_chain::unit(text)?;
    Some(match unit.took {
        Some(took) => DurationLine::took(unit.name, took),
        None => DurationLine::plain(unit.text),
    })
}

/// `1min 30.123s foo.service`, or `30.123sfoo.service` where a page lost the blanks.
fn blame(text: &[u8]) -> Option<DurationLine<'_>> {
    let Some(at) = memchr::memrchr(b' ', text) else {
        let (duration, unit) = unit_chain::glued_duration(text)?;
        return is_unit(unit).then(|| DurationLine::took(unit, duration));
    };
    let (duration, unit) = (scan::trim_end(&text[..at]), &text[at + 1..]);
    (is_unit(unit) && is_duration(duration)).then(|| DurationLine::took(unit, duration))
}

/// `58.21100s (modules-config/config-apt-configure)`: cloud-init analyze blame.
fn cloud_init(text: &[u8]) -> Option<DurationLine<'_>> {
    let (duration, name) = text.split_at(memchr::memchr(b' ', text)?);
    let name = name.strip_prefix(b" (")?.strip_suffix(b")")?;
    let is_stage = memchr::memchr(b'/', name).is_some() && !name.contains(&b' ');
    (is_stage && is_duration(duration)).then(|| DurationLine::took(name, duration))
}

/// ` => => exporting layers        30.6s`: BuildKit on a terminal. The time stands at the right edge.
fn image_step(text: &[u8]) -> Option<DurationLine<'_>> {
    let title = text.strip_prefix(b"=> ")?;
    let title = title.strip_prefix(b"=> ").unwrap_or(title);
    let at = memchr::memrchr(b' ', title)?;
    let (name, duration) = (scan::trim_end(&title[..at]), &title[at + 1..]);
    let is_step = at - name.len() >= 1 && duration.ends_with(b"s") && is_duration(duration);
    is_step.then(|| DurationLine::took(name, duration))
}

/// `12.34s call     tests/test_sync.py::test_all`; `12.34s step :app:compileJava`, from the page of a build
fn slow_test(text: &[u8]) -> Option<DurationLine<'_>> {
    let mut words = text
        .split(|&byte| byte == b' ')
        .filter(|word| !word.is_empty());
    let duration = words.next().filter(|word| is_duration(word))?;
    let phase = words
        .next()
        .filter(|word| matches!(*word, b"call" | b"setup" | b"teardown" | b"step"))?;
    let name = words.next()?;
    Some(DurationLine::took(
        &[name, b" (", phase, b")"].concat(),
        duration,
    ))
}

/// `Startup finished in …` and the line below it.
fn startup(text: &[u8]) -> Option<DurationLine<'_>> {
    let is_stated = text.starts_with(b"Startup finished in ")
        || memmem::find(text, b" reached after ").is_some()
            && text.split(|&byte| byte == b' ').next().is_some_and(is_unit);
    if let Some(parts) = text.strip_prefix(b"Startupfinishedin") {
        return Some(DurationLine {
            message: Cow::Owned(spaced(parts)),
            is_stated: true,
        });
    }
    is_stated.then_some(DurationLine {
        message: Cow::Borrowed(text),
        is_stated,
    })
}

/// `818ms(kernel)+6.240s(initrd)=7.058s` with the blanks that a page lost.
fn spaced(parts: &[u8]) -> Vec<u8> {
    let mut out = b"Startup finished in ".to_vec();
    for &byte in parts {
        match byte {
            b'(' => out.extend_from_slice(b" ("),
            b'+' => out.extend_from_slice(b" + "),
            b'=' => out.extend_from_slice(b" = "),
            _ => out.push(byte),
        }
    }
    out
}

/// `1min 30.123s`, `24ms`: words of a number and a unit.
fn is_duration(text: &[u8]) -> bool {
    unit_chain::duration_ns(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(head: &str, line: &str) -> Option<String> {
        let head = Head {
            bytes: head.as_bytes(),
            complete: true,
        };
        let found = BuildSteps::of(head)
            .read(line.as_bytes())?
            .message
            .into_owned();
        String::from_utf8(found).ok()
    }

    #[test]
    fn lines_that_state_durations_become_sentences() {
        let cases = [
            ("└─a.service @5.811s +17.176s", "a.service took 17.176s"),
            (
                "  `-a.service @5.811s +1min 7.1s",
                "a.service took 1min 7.1s",
            ),
            ("multi-user.target @24.709s", "multi-user.target @24.709s"),
            ("  └─-.slice @371ms", "-.slice @371ms"),
            (
                " 1min 30.123s snapd.service",
                "snapd.service took 1min 30.123s",
            ),
            ("#5 DONE 189.3s", "#5 [2/3] RUN make took 189.3s"),
            ("#6 DONE 0.1s", "#6 took 0.1s"),
            ("#5 12.34 compiling", "#5 12.34 compiling"),
            ("30.852siscsi.service", "iscsi.service took 30.852s"),
            ("1min30.1ssnapd.service", "snapd.service took 1min30.1s"),
            (
                "└─kdump.service@15.981s+16.994s",
                "kdump.service took 16.994s",
            ),
            (
                "Startupfinishedin818ms(kernel)+6.2s(userspace)=7.018s",
                "Startup finished in 818ms (kernel) + 6.2s (userspace) = 7.018s",
            ),
            (
                " => => exporting layers          30.6s",
                "exporting layers took 30.6s",
            ),
            (
                " => CACHED [2/3] COPY . /srv      0.0s",
                "CACHED [2/3] COPY . /srv took 0.0s",
            ),
            (
                "58.21100s (modules-config/config-apt-configure)",
                "modules-config/config-apt-configure took 58.21100s",
            ),
            (
                "1.20s call  tests/a.py::b",
                "tests/a.py::b (call) took 1.20s",
            ),
        ];
        for (line, expected) in cases {
            let found = message("#5 [2/3] RUN make\n", line);
            assert_eq!(found.as_deref(), Some(expected), "{line}");
        }
        for line in ["a.service failed", "#include <x>", "12.3s ago", "+17s", ""] {
            assert_eq!(message("", line), None, "{line}");
        }
    }
}
