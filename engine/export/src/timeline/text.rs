//! Texts of a trace, without what would control a terminal or a page, and not too long.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Characters of a text; the rest is left out.
const MAX_CHARACTERS: usize = 500;

/// Makes texts harmless: hidden characters are escaped.
pub struct Inert(Vec<(u32, u32)>);

impl Inert {
    /// With these ranges of hidden code points, first and last.
    pub fn new(hidden: Vec<(u32, u32)>) -> Inert {
        Inert(hidden)
    }

    /// The text as it may be shown.
    pub fn shown<'text>(&self, text: &'text str) -> Cow<'text, str> {
        let short = text
            .char_indices()
            .nth(MAX_CHARACTERS)
            .map_or(text, |(end, _)| &text[..end]);
        // Printable ASCII is what most texts are, and is never hidden.
        if short.len() == text.len() && text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            return Cow::Borrowed(text);
        }
        let mut shown = String::with_capacity(short.len() + 8);
        for letter in short.chars() {
            self.push(&mut shown, letter);
        }
        if short.len() < text.len() {
            shown.push('…');
        }
        Cow::Owned(shown)
    }

    fn push(&self, shown: &mut String, letter: char) {
        let code = letter as u32;
        let is_hidden = |&(first, last): &(u32, u32)| (first..=last).contains(&code);
        // Writing to a String does not fail.
        match letter {
            _ if !self.0.iter().any(is_hidden) => shown.push(letter),
            '\t' => shown.push_str("\\t"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            _ if code < 0x100 => {
                let _ = write!(shown, "\\x{code:02x}");
            }
            _ if code < 0x10000 => {
                let _ = write!(shown, "\\u{code:04x}");
            }
            _ => {
                let _ = write!(shown, "\\U{code:08x}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Inert, MAX_CHARACTERS};

    fn shown(text: &str) -> String {
        let hidden = vec![
            (0, 0x1f),
            (0x7f, 0x9f),
            (0x202a, 0x202e),
            (0xe0000, 0xe0fff),
        ];
        Inert::new(hidden).shown(text).into_owned()
    }

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(
            shown("a\u{1b}[2J\t\u{202e}é\u{e0041}"),
            "a\\x1b[2J\\t\\u202eé\\U000e0041"
        );
    }

    #[test]
    fn long_texts_end_in_an_ellipsis() {
        let long = "é".repeat(MAX_CHARACTERS);
        assert_eq!(shown(&long), long);
        assert_eq!(shown(&format!("{long}é")), format!("{long}…"));
        assert_eq!(shown(&"a".repeat(501)), format!("{}…", "a".repeat(500)));
    }
}
