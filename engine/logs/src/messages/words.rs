//! What varies in a message: its numbers, and its words.
//!
//! ```text
//! In:   jail 2: rc.conf read, 30006 lines
//! Out:  jail ⌑: rc.conf read, ⌑ lines      numbers 2, 30006
//! ```

use trace::store::heuristics::MIN_HEX_ID_DIGITS;

/// Replaces a number in a frame. Messages do not contain it: readers drop or escape control characters.
const NUMBER: char = '\0';
/// What stands for a number, or for a name, where people read it.
const SHOWN: &str = "N";
/// See [`SHOWN`].
pub(super) const SHOWN_NAME: &str = "NAME";
/// Maximum number of words of a message that are inspected.
pub(super) const MAX_WORDS: usize = 24;

/// A message without its numbers, and the numbers.
pub struct CutMessage<'text> {
    /// The message, with a mark for each number.
    pub frame: String,
    /// In the order of the marks.
    pub(crate) numbers: Vec<&'text str>,
}

/// Remove the numbers from a message. The process id of the sender is in each message and does not count as a number:
/// `sshd[812]: text` is `sshd: text`.
pub fn cut(text: &str) -> CutMessage<'_> {
    let (mut frame, mut numbers) = (String::with_capacity(text.len()), Vec::new());
    let mut at = 0;
    if let Some((tag, rest)) = speaker(text) {
        frame.push_str(tag);
        at = text.len() - rest.len();
    }
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let is_word_start = !text[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
        match number_length(&text.as_bytes()[at..], is_word_start) {
            0 => {
                frame.push(if letter == NUMBER { ' ' } else { letter });
                at += letter.len_utf8();
            }
            length => {
                frame.push(NUMBER);
                numbers.push(&text[at..at + length]);
                at += length;
            }
        }
    }
    CutMessage { frame, numbers }
}

/// The sender's name and the text after the process id, if a message starts with both.
fn speaker(text: &str) -> Option<(&str, &str)> {
    let (tag, rest) = text.split_once('[').filter(|(tag, _)| !tag.is_empty())?;
    let (pid, rest) = rest.split_once(']')?;
    let is_pid = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    let is_tag = !tag
        .bytes()
        .any(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace() || byte == 0);
    (is_pid && is_tag && rest.starts_with(':')).then_some((tag, rest))
}

/// Bytes of the number that a text begins with: `17`, `0000:02`, `1.25`, `0x1f`, `3f2a9bc`.
fn number_length(text: &[u8], is_word_start: bool) -> usize {
    let run = |text: &[u8], is: fn(&u8) -> bool| text.iter().take_while(|&byte| is(byte)).count();
    if is_word_start {
        let hex = text
            .strip_prefix(b"0x")
            .map_or(0, |rest| run(rest, u8::is_ascii_hexdigit));
        if hex > 0 {
            return 2 + hex;
        }
        let word = &text[..run(text, u8::is_ascii_alphanumeric)];
        let is_id = word.iter().all(u8::is_ascii_hexdigit) && word.iter().any(u8::is_ascii_digit);
        if word.len() >= MIN_HEX_ID_DIGITS && is_id {
            return word.len();
        }
    }
    let mut length = run(text, u8::is_ascii_digit);
    while length > 0 && matches!(text.get(length), Some(b'.' | b':')) {
        match run(&text[length + 1..], u8::is_ascii_digit) {
            0 => break,
            more => length += 1 + more,
        }
    }
    length
}

/// A frame as people read it: numbers that are the same in all messages stand there, others do not.
pub fn shape(frame: &str, constants: &[Option<&str>]) -> String {
    let mut constants = constants.iter();
    let mut out = String::with_capacity(frame.len() + 16);
    for letter in frame.chars() {
        match letter {
            NUMBER => out.push_str(constants.next().copied().flatten().unwrap_or(SHOWN)),
            other => out.push(other),
        }
    }
    out
}

/// What a number counts: the word before it, as `jail` in `jail 2: start`, `[jail2]` and `stop jail 2`.
pub(super) fn noun(frame: &str, slot: usize) -> &str {
    let Some((at, _)) = frame.match_indices(NUMBER).nth(slot) else {
        return "";
    };
    let before =
        frame[..at].trim_end_matches(|letter: char| !letter.is_alphanumeric() && letter != NUMBER);
    let start = before
        .rfind(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .map_or(0, |found| {
            // The letter after the word may take several bytes.
            found + before[found..].chars().next().map_or(1, char::len_utf8)
        });
    before[start..].trim_matches(NUMBER)
}

/// Each way to take one word of a frame for a name: the frame without it, and the name.
pub(super) fn without_a_word(frame: &str) -> impl Iterator<Item = (String, &str)> {
    let words: Vec<&str> = frame.split_whitespace().take(MAX_WORDS + 1).collect();
    let count = if words.len() > MAX_WORDS {
        0
    } else {
        words.len()
    };
    (0..count).filter_map(move |at| {
        let word = words[at];
        let name = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        if name.is_empty() || name.contains(NUMBER) || !words_without(&words, at).any(is_said) {
            return None;
        }
        let masked = word.replacen(name, SHOWN_NAME, 1);
        let around: Vec<&str> = words[..at]
            .iter()
            .copied()
            .chain([masked.as_str()])
            .chain(words[at + 1..].iter().copied())
            .collect();
        // The place is part of it: `NAME` may stand in a message itself.
        Some((format!("{at} {}", around.join(" ")), name))
    })
}

/// Number of meaningful words in a frame with one word removed.
pub(super) fn words_said(without: &str) -> usize {
    without
        .split_whitespace()
        .skip(1)
        .filter(|word| !word.contains(SHOWN_NAME) && is_said(word))
        .count()
}

/// The frame in it, with [`SHOWN_NAME`] for the word.
pub(super) fn frame_of(without: &str) -> &str {
    without.split_once(' ').map_or(without, |(_, rest)| rest)
}

fn words_without<'text>(
    words: &'text [&'text str],
    without: usize,
) -> impl Iterator<Item = &'text str> {
    words
        .iter()
        .enumerate()
        .filter(move |&(at, _)| at != without)
        .map(|(_, &word)| word)
}

pub(super) fn is_said(word: &str) -> bool {
    word.chars().filter(|letter| letter.is_alphabetic()).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ids_vary_and_letters_do_not() {
        let cases = [
            ("jail 2: start", "jail N: start", "2"),
            ("[jail12] up", "[jailN] up", "12"),
            (
                "at 0x1f2a, id 3f2a9bc01d",
                "at N, id N",
                "0x1f2a 3f2a9bc01d",
            ),
            (
                "sd 0:0:1:0: [sdb] 7.25 s",
                "sd N: [sdb] N s",
                "0:0:1:0 7.25",
            ),
            ("ends with 5. Facade", "ends with N. Facade", "5"),
            ("sshd[812]: user 5", "sshd: user N", "5"),
            ("[413]: Unmounting", "[N]: Unmounting", "413"),
            ("no number", "no number", ""),
            ("", "", ""),
        ];
        for (text, expected, numbers) in cases {
            let found = cut(text);
            assert_eq!(
                (
                    shape(&found.frame, &[]).as_str(),
                    found.numbers.join(" ").as_str()
                ),
                (expected, numbers)
            );
        }
    }

    #[test]
    fn a_number_counts_what_stands_before_it() {
        let cases = [
            ("jail 2: start", "jail"),
            ("[jail2] start", "jail"),
            ("stopping jail #2", "jail"),
            ("2: start", ""),
            ("… 2", ""),
            ("é_2", "é"),
        ];
        for (text, expected) in cases {
            assert_eq!(noun(&cut(text).frame, 0), expected, "{text}");
        }
    }

    #[test]
    fn a_name_needs_a_word_beside_it_that_says_something() {
        let ways = |text: &str| {
            without_a_word(text)
                .map(|(frame, name)| format!("{name}: {frame}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            ways("web: network up"),
            [
                "web: 0 NAME: network up",
                "network: 1 web: NAME up",
                "up: 2 web: network NAME"
            ]
        );
        assert_eq!(ways("web: -"), Vec::<String>::new());
    }
}
