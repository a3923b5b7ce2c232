//! Forms: messages that differ in several words.
//!
//! ```text
//! Failed to read /apps/Maps/Maps.idx: no index for Maps     Failed to read NAME no index for NAME    of Maps.idx …
//! Failed to read /apps/Mail/Mail.idx: no index for Mail
//! ```
//! As Drain does (He et al., *Drain: An Online Log Parsing Approach with Fixed Depth Tree*, ICWS 2017): messages with the same
//! number of words and the same first word are compared, and join the first form with which most of their words agree.

use super::words::{MAX_WORDS, SHOWN_NAME, is_said};
use rustc_hash::FxHashMap;
use trace::store::heuristics::{
    MIN_DISTINCT_PERCENT, MIN_EQUAL_WORDS, MIN_EQUAL_WORDS_PERCENT, MIN_ITEMS,
};

/// Maximum number of forms with one number of words and one first word. More of them are free text.
const MAX_FORMS: usize = 64;

/// A message with a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// When.
    pub at_ns: i64,
    /// Its row.
    pub row: u32,
}

/// Messages with one frame: the numbers and the moment of each.
pub(super) type Framed<'cut> = Vec<(&'cut [&'cut str], Said)>;

/// Messages with one frame.
type Single<'cut> = (&'cut str, Framed<'cut>);

/// Messages of one form.
pub(super) struct Form<'cut> {
    /// Their words, with a name for each that differs.
    pub text: String,
    /// The first word that differs, and the messages.
    pub members: Vec<(&'cut str, Framed<'cut>)>,
}

/// A form while messages are added to it.
struct OpenForm<'cut> {
    /// `None` for words that differ.
    words: Vec<Option<&'cut str>>,
    members: Vec<Single<'cut>>,
}

/// The forms of these messages, and the messages that have no form.
pub(super) fn forms(singles: Vec<Single<'_>>) -> (Vec<Form<'_>>, Vec<Single<'_>>) {
    let mut open: FxHashMap<(usize, &str), Vec<OpenForm<'_>>> = FxHashMap::default();
    let mut rest = Vec::new();
    for (frame, framed) in singles {
        let words: Vec<&str> = frame.split_whitespace().take(MAX_WORDS + 1).collect();
        let Some(&first) = words.first().filter(|_| words.len() <= MAX_WORDS) else {
            rest.push((frame, framed));
            continue;
        };
        let known = open.entry((words.len(), first)).or_default();
        if let Some(form) = known.iter_mut().find(|form| form.fits(&words)) {
            form.add(&words, (frame, framed));
        } else if known.len() < MAX_FORMS {
            known.push(OpenForm {
                words: words.into_iter().map(Some).collect(),
                members: vec![(frame, framed)],
            });
        } else {
            rest.push((frame, framed));
        }
    }
    let (found, others): (Vec<_>, Vec<_>) =
        open.into_values().flatten().partition(OpenForm::has_items);
    rest.extend(others.into_iter().flat_map(|form| form.members));
    rest.sort_by_key(|(_, framed)| framed.first().map(|(_, said)| said.row));
    (found.into_iter().map(OpenForm::finished).collect(), rest)
}

impl<'cut> OpenForm<'cut> {
    fn fits(&self, words: &[&str]) -> bool {
        let said = words.iter().filter(|word| is_said(word)).count();
        let pairs = self.words.iter().zip(words);
        let equal = pairs
            .filter(|&(&own, &word)| own == Some(word) && is_said(word))
            .count();
        equal >= MIN_EQUAL_WORDS && equal * 100 >= said * MIN_EQUAL_WORDS_PERCENT
    }

    fn add(&mut self, words: &[&'cut str], member: Single<'cut>) {
        for (own, &word) in self.words.iter_mut().zip(words) {
            *own = own.filter(|&own| own == word);
        }
        self.members.push(member);
    }

    /// Whether each message is about another item. Messages that come again and again are forms of their own.
    fn has_items(&self) -> bool {
        let messages = self.members.iter().map(|(_, framed)| framed.len()).sum();
        are_items(self.members.len(), messages)
    }

    fn finished(self) -> Form<'cut> {
        let differs = self.words.iter().position(Option::is_none).unwrap_or(0);
        let words: Vec<&str> = self
            .words
            .iter()
            .map(|word| word.unwrap_or(SHOWN_NAME))
            .collect();
        let name = |frame: &'cut str| {
            let word = frame.split_whitespace().nth(differs).unwrap_or(frame);
            word.trim_matches(|letter: char| !letter.is_alphanumeric())
        };
        Form {
            text: words.join(" "),
            members: self
                .members
                .into_iter()
                .map(|(frame, framed)| (name(frame), framed))
                .collect(),
        }
    }
}

/// Whether values are items, from their number and that of the messages. Occasionally a message is repeated.
pub(super) fn are_items(values: usize, messages: usize) -> bool {
    values >= MIN_ITEMS && values * 100 >= messages * MIN_DISTINCT_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[&'static str]) -> (Vec<String>, usize) {
        let single = |(at, &text): (usize, &&'static str)| {
            let said = Said {
                at_ns: at as i64,
                row: at as u32,
            };
            (text, vec![(&[] as &[&str], said)])
        };
        let (found, rest) = forms(texts.iter().enumerate().map(single).collect());
        (
            found.into_iter().map(|form| form.text).collect(),
            rest.len(),
        )
    }

    #[test]
    fn messages_that_differ_in_several_words_have_one_form() {
        let texts = [
            "Failed to read info for /apps/Maps/Maps.idx: nobody made Maps.apk",
            "Failed to read info for /apps/Mail/Mail.idx: nobody made Mail.apk",
            "Failed to read info for /apps/Docs/Docs.idx: nobody made Docs.apk",
            "Failed to open it",
        ];
        let form = "Failed to read info for NAME nobody made NAME";
        assert_eq!(found(&texts), (vec![form.to_owned()], 1));
    }

    #[test]
    fn messages_that_agree_in_few_words_have_none() {
        let texts = [
            "audio: the first card was found today",
            "audio: no second codec has been seen",
            "audio: some third thing went very wrong",
        ];
        assert_eq!(found(&texts), (vec![], 3));
    }
}
