//! What systemd prints on the console while it starts or stops units: without times, perhaps joined with a message of the
//! kernel, which has one.
//!
//! ```text
//! In:   [  OK  ] Mounted Kernel Debug File System.
//!       [   ***] (7 of 8) A start job is running for Journal Service (20s / 1min 30s)[   24.063792] EXT4-fs (vda3): mounted
//! Out:  `Mounted Kernel Debug File System.`
//!       at 24.063792 s `A start job is running for Journal Service (20s / 1min 30s)` and `EXT4-fs (vda3): mounted`
//! ```
//!
//! Source: `unit_status_printf` and the strings `ANSI_OK_STATUS` … of systemd's src/core/manager.c and src/basic/ansi-color.h;
//! sysvinit-style scripts of Fedora and Arch print the same marks.

use super::joined::{self, JoinedMessage};
use crate::scan;

/// The mark of a unit's new state. systemd puts each in brackets of eight characters.
const STATES: [&[u8]; 8] = [
    b"[  OK  ]",
    b"[FAILED]",
    b"[DEPEND]",
    b"[ TIME ]",
    b"[ WARN ]",
    b"[ INFO ]",
    b"[ SKIP ]",
    b"[ DONE ]",
];
/// What a unit begins to do. Such a line is as far to the right as the text behind a mark.
const BEGINNINGS: [&[u8]; 6] = [
    b"Starting ",
    b"Stopping ",
    b"Mounting ",
    b"Unmounting ",
    b"Reloading ",
    b"Activating ",
];
const INDENT: &[u8] = b"         ";
const JOBS: [&[u8]; 2] = [b"A stop job is running", b"A start job is running"];

/// `[ ***  ] A stop job is running for Foo (1min 29s / 1min 30s)`: no time, but for how long.
pub(super) fn running_job(line: &[u8]) -> Option<&[u8]> {
    let line = scan::trim_end(line);
    let at = JOBS
        .iter()
        .find_map(|job| memchr::memmem::find(line, job))
        .filter(|_| line.starts_with(b"["))?;
    line.get(at..)
}

/// The text of a line about a unit: its new state, what it begins to do, or a job that still runs.
pub(super) fn status(line: &[u8]) -> Option<&[u8]> {
    if let Some(job) = running_job(line) {
        return Some(job);
    }
    let line = scan::trim_end(line);
    if let Some(rest) = STATES.iter().find_map(|mark| line.strip_prefix(*mark)) {
        return rest.strip_prefix(b" ").filter(|text| !text.is_empty());
    }
    let text = line.strip_prefix(INDENT)?;
    BEGINNINGS
        .iter()
        .any(|word| text.starts_with(word))
        .then_some(text)
}

/// A status that stands before a message of the kernel on one line: both, at the time of the second. Otherwise none.
pub(super) fn messages(line: &[u8]) -> Vec<JoinedMessage<'_>> {
    let Some((before, stamp_ns, text)) = joined::last_stamp(line) else {
        return Vec::new();
    };
    match status(before) {
        Some(state) => vec![
            JoinedMessage {
                stamp_ns,
                text: state,
            },
            JoinedMessage { stamp_ns, text },
        ],
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_no_mark_and_no_time() {
        let cases: [(&[u8], Option<&[u8]>); 7] = [
            (b"[  OK  ] Started Foo.", Some(b"Started Foo.")),
            (
                b"[FAILED] Failed to start Foo.\r",
                Some(b"Failed to start Foo."),
            ),
            (b"         Starting Foo...", Some(b"Starting Foo...")),
            (
                b"[***   ] (1 of 2) A stop job is running for Foo (9s / 1min 30s)",
                Some(b"A stop job is running for Foo (9s / 1min 30s)"),
            ),
            (b"   Starting Foo...", None),
            (b"[    1.486287] Started Foo.", None),
            (b"[  OK  ]", None),
        ];
        for (line, expected) in cases {
            assert_eq!(status(line), expected, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn a_status_before_a_message_has_its_time() {
        let line =
            b"[  *** ] A start job is running for Foo (20s / 1min 30s)[   24.063792] vda3: mounted";
        let found = messages(line);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|one| one.stamp_ns == 24_063_792_000));
        assert_eq!(
            found[0].text,
            b"A start job is running for Foo (20s / 1min 30s)"
        );
        assert_eq!(found[1].text, b"vda3: mounted");
        assert_eq!(messages(b"text [   24.063792] vda3: mounted"), []);
        assert_eq!(messages(b"[   24.063792] vda3: mounted"), []);
    }
}
