//! Command lines, split into their words.
//!
//! ```text
//! python3 '/opt/my tool/run.py' --name 'it'\''s'        as they are stored: a word with blanks is quoted as in a shell
//! python3 | /opt/my tool/run.py | --name | it's         the words
//! ```

/// What stands for the rest of a word or a line that is cut.
const CUT: &[u8] = b"...";

/// The words of a command line, without the quotes of those that contain blanks.
///
/// Some tracers print command lines without quotes. A quote that is never closed is an ordinary character there.
pub fn words(line: &[u8]) -> Vec<Vec<u8>> {
    let (mut words, mut word): (Vec<Vec<u8>>, Option<Vec<u8>>) = (Vec::new(), None);
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after.first()) {
            (b' ', _) => words.extend(word.take()),
            (b'\\', Some(&quote @ b'\'')) => {
                word.get_or_insert_default().push(quote);
                rest = &after[1..];
            }
            (b'\'', _) => match quoted(after) {
                Some((inner, next)) => {
                    word.get_or_insert_default().extend_from_slice(inner);
                    rest = next;
                }
                None => word.get_or_insert_default().push(byte),
            },
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words
}

/// The text until the closing quote, and what follows it. A line that is cut may lack the closing quote.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    match memchr::memchr(b'\'', text) {
        Some(end) => Some((&text[..end], &text[end + 1..])),
        None if is_cut(text) => Some((text, b"")),
        None => None,
    }
}

/// Whether only the beginning of a word is known.
pub(crate) fn is_cut(word: &[u8]) -> bool {
    word.ends_with(CUT)
}

#[cfg(test)]
mod tests {
    fn words(line: &str) -> Vec<String> {
        super::words(line.as_bytes())
            .into_iter()
            .map(|word| String::from_utf8(word).unwrap())
            .collect()
    }

    #[test]
    fn a_quoted_word_keeps_its_blanks_and_quotes() {
        assert_eq!(
            words("python3 '/opt/my tool/run.py' -v"),
            ["python3", "/opt/my tool/run.py", "-v"]
        );
        assert_eq!(words(r"echo 'it'\''s  so' ''"), ["echo", "it's  so", ""]);
        assert_eq!(words("sh  -c  exit"), ["sh", "-c", "exit"]);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_a_character_unless_the_line_is_cut() {
        assert_eq!(words("echo it's here"), ["echo", "it's", "here"]);
        assert_eq!(
            words("sh '/opt/my tool/ru..."),
            ["sh", "/opt/my tool/ru..."]
        );
        assert_eq!(
            words("sh '/opt/my to'... -v"),
            ["sh", "/opt/my to...", "-v"]
        );
    }
}
