//! Times of Android: the start of an activity, the records of a boot, and the events of a boot.
//!
//! ```text
//! TotalTime: 4131                              am start -W, in ms: start of the activity took 4.131s
//! boottime.init.cold_boot_wait    1215         bootstat -p, in ms
//! absolute_boot_time      31                   bootstat -p, in seconds
//! I/boot_progress_start( 1200): 9510           logcat -b events: at 9.51 s since the machine was started
//! ```
//! Source: `bootstat/README.md` of Android's core; `WaitResult` and `EventLogTags.logtags` of its frameworks.

use super::stamp::{self, LogPrefix, MessageForm, StampBase};
use super::tool_times::ToolTime;
use crate::scan;
use memchr::memmem;
use std::borrow::Cow;

/// First words of other lines of these tools.
const OTHERS: [&[u8]; 8] = [
    b"Starting: Intent ",
    b"Status: ",
    b"LaunchState: ",
    b"Activity: ",
    b"ThisTime: ",
    b"WaitTime: ",
    b"Complete",
    b"Boot events:",
];
/// Names of records of a boot that are seconds since its start.
const MOMENTS: [&[u8]; 3] = [
    b"absolute_boot_time",
    b"boot_complete",
    b"ota_boot_complete",
];
/// Digits of a second in an event of a boot.
const DIGITS: usize = 3;
/// Minimum number of events.
const MIN_EVENTS: usize = 3;

/// Read a line that states a time.
pub(super) fn read(text: &[u8]) -> Option<ToolTime<'_>> {
    activity(text).or_else(|| record(text))
}

/// Whether a line that states nothing is of one of these tools. The records of a boot have counts and dates, too.
pub(super) fn belongs(text: &[u8]) -> bool {
    let is_record = || {
        value(text)
            .is_some_and(|(name, _)| memmem::find(name, b"boot").is_some() || name == b"build_date")
    };
    OTHERS.iter().any(|first| text.starts_with(first)) || is_record()
}

fn activity(text: &[u8]) -> Option<ToolTime<'_>> {
    let (ms, rest) = scan::number(text.strip_prefix(b"TotalTime: ")?)?;
    let name = Cow::Borrowed(&b"start of the activity"[..]);
    rest.is_empty().then_some((name, ms))
}

fn record(text: &[u8]) -> Option<ToolTime<'_>> {
    let (name, value) = value(text)?;
    let ms = match () {
        () if name.starts_with(b"boottime.") || name.starts_with(b"ro.boottime.") => value,
        () if MOMENTS.contains(&name) => value.checked_mul(1000)?,
        () => return None,
    };
    Some((Cow::Borrowed(name), ms))
}

/// A name, blanks, and a number.
fn value(text: &[u8]) -> Option<(&[u8], i64)> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let end = text.iter().position(|byte| !is_name(byte))?;
    let (value, rest) = scan::number(scan::skip_blanks(&text[end..]))?;
    (end > 0 && rest.is_empty() && matches!(text[end], b' ' | b'\t'))
        .then_some((&text[..end], value))
}

/// Whether most lines are events of a boot.
pub(super) fn are_events<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut events, mut all) = (0, 0);
    for line in lines {
        all += 1;
        events += usize::from(read_event(line).is_some());
    }
    events >= MIN_EVENTS && events * 2 > all
}

/// The event of a line, as a message at its moment.
pub(super) fn read_event(line: &[u8]) -> Option<LogPrefix<'_>> {
    const TAGS: [&[u8]; 3] = [
        b"I/boot_progress_",
        b"I/sf_stop_bootanim",
        b"I/wm_boot_animation_done",
    ];
    let text = scan::trim_end(line);
    TAGS.iter().find(|tag| text.starts_with(tag))?;
    let open = memchr::memchr(b'(', text)?;
    let close = memmem::find(text, b"): ")?;
    let (ms, rest) = scan::number(text.get(close + 3..)?)?;
    let name = text.get(2..open)?;
    let at_ns = ms.checked_mul(1_000_000).filter(|_| rest.is_empty())?;
    Some(stamp::one(
        StampBase::Boot,
        (at_ns, DIGITS),
        MessageForm::Plain,
        true,
        name,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_android_are_read() {
        let cases = [
            ("TotalTime: 4131", "start of the activity", 4131),
            (
                "boottime.init.cold_boot_wait\t1215",
                "boottime.init.cold_boot_wait",
                1215,
            ),
            ("ro.boottime.init   2790", "ro.boottime.init", 2790),
            ("absolute_boot_time\t31", "absolute_boot_time", 31_000),
        ];
        for (line, name, ms) in cases {
            assert_eq!(
                read(line.as_bytes()),
                Some((Cow::Borrowed(name.as_bytes()), ms)),
                "{line}"
            );
        }
        for line in [
            "TotalTime: 4 h",
            "boot_count 7",
            "reboot 12",
            "boottime.init",
            "build_date\t1556728391",
        ] {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
        assert!(belongs(b"build_date\t1556728391"));
        assert!(!belongs(b"apples 12"));
    }

    #[test]
    fn events_of_a_boot_have_their_moment_as_value() {
        let event = read_event(b"I/boot_progress_start( 1200): 9510").expect("an event");
        assert_eq!(event.stamps[0].map(|stamp| stamp.ns), Some(9_510_000_000));
        assert_eq!(event.text, b"boot_progress_start");
        for line in [
            "I/boot_progress_start( 1200): 9510 ms",
            "I/ActivityManager( 1200): 9510",
            "I/boot_progress_start",
        ] {
            assert!(read_event(line.as_bytes()).is_none(), "{line}");
        }
        let are_events = |text: &str| are_events(text.as_bytes().split(|&byte| byte == b'\n'));
        assert!(are_events(
            "I/boot_progress_a(1): 1\nI/boot_progress_b(1): 2\nI/boot_progress_c(1): 3"
        ));
        assert!(!are_events(
            "I/boot_progress_a(1): 1\nI/boot_progress_b(1): 2"
        ));
    }
}
