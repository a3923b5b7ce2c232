//! The text of Cygwin's `strace`: what the DLL reports while it emulates calls, with microseconds since the previous line and since
//! the start.
//!
//! ```text
//! In:      27    5155 [main] ls 1234 open: 3 = open(/etc/passwd, 0x8000)
//! Out:     at 5155000 ns, message `ls: open: 3 = open(/etc/passwd, 0x8000)`
//! ```
//! Its lines are messages of the functions of the DLL, not calls: a call may have several, and most have none.
//! Source: `strace.cc` of Cygwin.

use super::stamp::{self, LogPrefix, MessageForm, StampBase};
use crate::scan;
use memchr::memmem;

/// Words of a program's name.
const MAX_PROGRAM_WORDS: usize = 4;
/// Digits of a second.
const DIGITS: usize = 6;
/// Minimum number of lines.
const MIN_LINES: usize = 2;

/// Whether most lines are such lines.
pub(super) fn is_strace<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut found, mut all) = (0, 0);
    for line in lines {
        all += 1;
        found += usize::from(read(line).is_some());
    }
    found >= MIN_LINES && found * 2 > all
}

/// A line as a message at its moment. Program and process id stay, before the function and its text.
pub(super) fn read(line: &[u8]) -> Option<LogPrefix<'_>> {
    let (_, rest) = scan::number(scan::skip_blanks(line))?;
    let (total_us, rest) = scan::number(scan::skip_blanks(rest.strip_prefix(b" ")?))?;
    let rest = rest.strip_prefix(b" [")?;
    let text = rest.get(memmem::find(rest, b"] ")? + 2..)?;
    // The program may have blanks in its name; its process id follows, perhaps with that of Windows in parentheses.
    let is_id = |word: &[u8]| {
        word.iter().any(u8::is_ascii_digit)
            && word
                .iter()
                .all(|byte| byte.is_ascii_digit() || b"()".contains(byte))
    };
    let mut words = text.split(|&byte| byte == b' ');
    let is_line = words.next().is_some_and(|program| !program.is_empty())
        && words.take(MAX_PROGRAM_WORDS).any(is_id);
    let at_ns = total_us.checked_mul(1000).filter(|_| is_line)?;
    Some(stamp::one(
        StampBase::Boot,
        (at_ns, DIGITS),
        MessageForm::Plain,
        true,
        text,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_dll_are_messages() {
        let found = |line: &str| {
            let prefix = read(line.as_bytes())?;
            let text = String::from_utf8_lossy(prefix.text).into_owned();
            Some((prefix.stamps[0]?.ns, text))
        };
        let cases = [
            (
                "   27    5155 [main] ls 1234 open: 3 = open(/etc/passwd, 0x8000)",
                5_155_000,
                "ls 1234 open: 3 = open(/etc/passwd, 0x8000)",
            ),
            (
                "   27 1234567 [sig] my app 12(4711) wait_sig: entering",
                1_234_567_000,
                "my app 12(4711) wait_sig: entering",
            ),
        ];
        for (line, ns, text) in cases {
            assert_eq!(found(line), Some((ns, text.to_owned())), "{line}");
        }
        for line in [
            "27 5155 [main] ls: open",
            "[pid 27] read(3, \"a\", 1) = 1",
            "27 5155 main ls 12 open: x",
            "",
            "1 2 [a] b",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
        assert!(is_strace(cases.iter().map(|case| case.0.as_bytes())));
        assert!(!is_strace([cases[0].0.as_bytes()].into_iter()));
    }
}
