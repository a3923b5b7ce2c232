//! Marks of people who left lines out of what they show: `...`, `[snip]`, `-- 200 lines omitted --`.

use crate::line::{Line, LineKind};

/// Longest mark, in bytes. A longer line is a sentence.
const MAX_BYTES: usize = 100;
/// Most words of a mark: `[... 1,234 more lines of the same kind omitted here ...]`.
const MAX_WORDS: usize = 12;
/// What editors of a text call the cut.
const CUTS: [&str; 18] = [
    "abridged",
    "clipped",
    "cut",
    "deleted",
    "elided",
    "hidden",
    "omitted",
    "omitting",
    "removed",
    "skip",
    "skipped",
    "skipping",
    "snip",
    "snipped",
    "snippage",
    "snippet",
    "trimmed",
    "truncated",
];
/// What is left out.
const LEFT_OUT: [&str; 11] = [
    "lines", "line", "entries", "calls", "syscalls", "rows", "messages", "output", "more",
    "similar", "times",
];
/// What may follow dots without naming a cut: `... and so on`, `[... repeated 200 times ...]`.
const AFTER_DOTS: [&str; 8] = [
    "more",
    "repeated",
    "repeats",
    "repeating",
    "similar",
    "same",
    "etc",
    "on",
];

/// The line, counted as an elision if it is one and the reader could not use it.
pub(crate) fn recognised(line: Line, text: &[u8]) -> Line {
    let is_unused = matches!(
        line.kind,
        LineKind::Foreign
            | LineKind::Damaged
            | LineKind::NoThread
            | LineKind::Notice
            | LineKind::Continuation
    );
    if is_unused && is_elision(text) {
        Line::of(LineKind::Elision)
    } else {
        line
    }
}

/// Whether a line only marks that others were left out.
pub fn is_elision(text: &[u8]) -> bool {
    // The line above the signature of a mail.
    if text.trim_ascii_start() == b"-- " {
        return false;
    }
    let text = text.trim_ascii();
    if text.is_empty() || text.len() > MAX_BYTES || !text.first().is_some_and(|byte| is_mark(*byte))
    {
        return false;
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    // A part of a call, such as the end of a long line: `/etc/hos"...], 0x7ffc) = 0`.
    if text.contains('"') || text.contains(" = ") {
        return false;
    }
    // grep prints two dashes between hits that are not neighbours.
    if text == "--" {
        return true;
    }
    let has_dots = text.contains("..") || text.contains('…') || text.contains(". .");
    let words: Vec<&str> = words(text).collect();
    match words.as_slice() {
        [] => has_dots || is_scissors(text),
        words if words.len() > MAX_WORDS => false,
        words => {
            let has = |list: &[&str]| {
                words
                    .iter()
                    .any(|word| list.iter().any(|known| word.eq_ignore_ascii_case(known)))
            };
            let is_closed = text.ends_with(|letter: char| {
                letter == '…' || letter.is_ascii() && is_mark(letter as u8)
            });
            let is_only_cut = words.len() == 1 && has(&CUTS);
            let names_cut = has(&CUTS) && has(&LEFT_OUT);
            is_only_cut && is_closed
                || names_cut && (is_closed || has_dots)
                || has_dots && has(&AFTER_DOTS)
        }
    }
}

/// Bytes that marks begin and end with; `…` begins with the byte 0xe2.
fn is_mark(byte: u8) -> bool {
    matches!(
        byte,
        b'.' | b'['
            | b']'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'{'
            | b'}'
            | b'*'
            | b'-'
            | b'='
            | b'~'
            | b'_'
    ) || matches!(byte, b'/' | b'#' | b';' | b':' | b'8' | b'|' | 0xe2)
}

/// The words of a mark, without its dots and brackets; `8<` of scissors is none.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |letter: char| !letter.is_alphanumeric() && letter != ',';
    text.split(is_between)
        .map(|word| word.trim_matches(','))
        .filter(|word| !word.is_empty() && *word != "8")
}

/// `---8<---`.
fn is_scissors(text: &str) -> bool {
    (text.contains("8<") || text.contains(">8")) && text.contains("--")
}

#[cfg(test)]
mod tests {
    use super::is_elision;

    #[test]
    fn marks_of_left_out_lines_are_elisions() {
        let marks = [
            "...",
            "..",
            ". . .",
            "…",
            "[...]",
            "[…]",
            "(...)",
            "(…)",
            "<...>",
            "  ...  ",
            "[snip]",
            "<snip>",
            "--snip--",
            "*snip*",
            "[cut]",
            "<cut>",
            "(snipped)",
            "[truncated]",
            "--- 8< ---",
            "---8<---8<---",
            "--",
            "-- 200 lines omitted --",
            "[1,234 lines skipped]",
            "... 30 more lines ...",
            "[... many similar calls ...]",
            "... (repeated 200 times) ...",
            "# ...",
            "// [...]",
            "... and so on",
            "[... output truncated ...]",
            "*** 12 lines deleted ***",
        ];
        for mark in marks {
            assert!(is_elision(mark.as_bytes()), "{mark}");
        }
    }

    #[test]
    fn other_lines_are_no_elisions() {
        let others = [
            "",
            "   ",
            "-",
            "---",
            "cut",
            "snip",
            "lines omitted",
            "<... read resumed>",
            "<... read resumed>...",
            "(nil)",
            "-- Boot 0123456789abcdef0123456789abcdef --",
            "-- No entries --",
            "--- SIGCHLD {si_signo=SIGCHLD} ---",
            "+++ exited with 0 +++",
            "[  OK  ] Started Foo.",
            "[pid 12] read(3, ...",
            "* Ready",
            "<unfinished ...>",
            "[ Process PID=12 runs in 32 bit mode. ]",
            "... starting server ...",
            " <detached ...>",
            "=====",
            "-- ",
            "-- Logs begin at Mon 2021-03-01 00:00:00 UTC. --",
            "[T40] text",
            "/etc/hos\"...], 0x7ffcd74b5368 /* 35 vars */) = 0",
            "> ...done loading of the modules",
        ];
        for other in others {
            assert!(!is_elision(other.as_bytes()), "{other}");
        }
    }
}
