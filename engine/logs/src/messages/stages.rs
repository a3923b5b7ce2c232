//! The stages of a log: messages with the same text, and the item that each of them names.
//!
//! ```text
//! jail 2: start   jail 6: start   jail 4: start       jail N: start        of 2, 6, 4
//! web: ready      db: ready       mail: ready         NAME: ready          of web, db, mail
//! Power down.                                         Power down.          of no item
//! ```
//! Messages that differ in several words are of one form if most of their words are equal, as in `forms`.

pub use super::forms::Said;
use super::forms::{Form, Framed, are_items, forms};
use super::words::{CutMessage, cut, frame_of, noun, shape, without_a_word, words_said};
use parsers::Text;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::heuristics::{MAX_MESSAGE_FORMS, MIN_FIXED_WORDS, MIN_ITEMS};

/// Messages with the same text.
#[derive(Debug, Default)]
pub struct Stage {
    /// Their text, with `N` or `NAME` for the part that differs.
    pub shape: String,
    /// The messages, in order.
    pub said: Vec<Said>,
    /// Which item each is about, as a number; empty if they are about none.
    pub(super) keys: Vec<u32>,
    /// What the items are called: `jail` where they are numbers, nothing where they have names.
    pub(super) noun: String,
    /// Whether items have names.
    pub has_names: bool,
    /// Whether the words next to it show that this is a name.
    pub(super) is_sure: bool,
}

/// Names of items as numbers.
#[derive(Default)]
pub(super) struct Keys(FxHashMap<String, u32>);

impl Keys {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.0.get(name) {
            return known;
        }
        let number = self.0.len() as u32;
        self.0.insert(name.to_owned(), number);
        number
    }
}

/// The stages of these messages, which are in order.
pub(super) fn stages(messages: &[(Text, Said)], text_of: &dyn Fn(Text) -> String) -> Vec<Stage> {
    let mut texts: FxHashMap<Text, String> = FxHashMap::default();
    for &(text, _) in messages {
        texts.entry(text).or_insert_with(|| text_of(text));
    }
    let cuts: FxHashMap<Text, CutMessage<'_>> = texts
        .iter()
        .map(|(&text, message)| (text, cut(message)))
        .collect();
    let frames = framed(messages, &cuts);
    let mut keys = Keys::default();
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for (frame, framed) in frames {
        match numbered(frame, &framed, &mut keys) {
            Some(stage) => found.push(stage),
            None => others.push((frame, framed)),
        }
    }
    found.extend(named(others, &mut keys));
    found.sort_by_key(|stage| stage.said.first().map(|said| (said.at_ns, said.row)));
    found
}

/// Messages by their frames, in the order of the first ones.
fn framed<'cut>(
    messages: &[(Text, Said)],
    cuts: &'cut FxHashMap<Text, CutMessage<'cut>>,
) -> Vec<(&'cut str, Framed<'cut>)> {
    let mut frames: Vec<(&str, Framed<'_>)> = Vec::new();
    let (mut by_frame, mut by_text) = (FxHashMap::default(), FxHashMap::default());
    for &(text, said) in messages {
        let Some(cut) = cuts.get(&text) else { continue };
        let number = *by_text.entry(text).or_insert_with(|| {
            *by_frame.entry(cut.frame.as_str()).or_insert_with(|| {
                frames.push((&cut.frame, Vec::new()));
                frames.len() - 1
            })
        });
        frames[number].1.push((&cut.numbers, said));
    }
    frames
}

/// The stage of messages that differ in the number of an item: the first number that is another one each time.
fn numbered(frame: &str, framed: &Framed<'_>, keys: &mut Keys) -> Option<Stage> {
    let numbers = numbers_of(framed);
    let slot = (0..numbers.first()?.len()).find(|&slot| {
        let values: FxHashSet<&str> = numbers
            .iter()
            .filter_map(|numbers| numbers.get(slot).copied())
            .collect();
        are_items(values.len(), framed.len())
    })?;
    Some(Stage {
        shape: shape(frame, &constants(&numbers)),
        said: framed.iter().map(|&(_, said)| said).collect(),
        keys: numbers
            .iter()
            .filter_map(|numbers| numbers.get(slot))
            .map(|value| keys.number(value))
            .collect(),
        noun: noun(frame, slot).to_owned(),
        has_names: false,
        is_sure: true,
    })
}

/// The numbers that are the same in all messages.
fn constants<'text>(numbers: &[&[&'text str]]) -> Vec<Option<&'text str>> {
    let Some(first) = numbers.first() else {
        return Vec::new();
    };
    let is_constant = |slot: usize| {
        numbers
            .iter()
            .all(|numbers| numbers.get(slot) == first.get(slot))
    };
    first
        .iter()
        .enumerate()
        .map(|(slot, &value)| is_constant(slot).then_some(value))
        .collect()
}

/// The stages of messages without a numbered item: messages that differ in one word, and identical ones.
fn named(others: Vec<(&str, Framed<'_>)>, keys: &mut Keys) -> Vec<Stage> {
    let mut ways: FxHashMap<String, usize> = FxHashMap::default();
    if others.len() <= MAX_MESSAGE_FORMS {
        for (without, _) in others.iter().flat_map(|(frame, _)| without_a_word(frame)) {
            *ways.entry(without).or_default() += 1;
        }
    }
    let (mut alone, mut alike) = (
        Vec::new(),
        FxHashMap::<String, Vec<(u32, Framed<'_>)>>::default(),
    );
    let mut single = Vec::new();
    for (frame, framed) in others {
        let known = |without: &str| ways.get(without).copied().filter(|&ways| ways >= MIN_ITEMS);
        let choices = without_a_word(frame)
            .filter_map(|(without, name)| Some((known(&without)?, without, name)));
        // In a tie the last largest candidate wins: the actor is named before its object.
        let best = choices
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .max_by_key(|&(ways, ..)| ways);
        match best {
            Some((_, without, name)) => alike
                .entry(without)
                .or_default()
                .push((keys.number(name), framed)),
            None => single.push((frame, framed)),
        }
    }
    let (found, rest) = forms(single);
    alone.extend(found.iter().map(|form| of_form(form, keys)));
    alone.extend(
        rest.iter()
            .map(|(frame, framed)| about_nothing(frame, framed)),
    );
    alone.extend(
        alike
            .into_iter()
            .map(|(without, named)| with_names(&without, &named)),
    );
    alone
}

fn about_nothing(frame: &str, framed: &Framed<'_>) -> Stage {
    let said = framed.iter().map(|&(_, said)| said).collect();
    Stage {
        shape: shape(frame, &constants(&numbers_of(framed))),
        said,
        ..Stage::default()
    }
}

/// The stage of messages that differ in several words: each is about another item.
fn of_form(form: &Form<'_>, keys: &mut Keys) -> Stage {
    let mut keyed: Vec<(Said, u32)> = Vec::new();
    for (name, framed) in &form.members {
        let key = keys.number(name);
        keyed.extend(framed.iter().map(|&(_, said)| (said, key)));
    }
    keyed.sort_by_key(|(said, _)| (said.at_ns, said.row));
    let numbers: Vec<&[&str]> = form
        .members
        .iter()
        .flat_map(|(_, framed)| numbers_of(framed))
        .collect();
    Stage {
        shape: shape(&form.text, &constants(&numbers)),
        keys: keyed.iter().map(|&(_, key)| key).collect(),
        said: keyed.into_iter().map(|(said, _)| said).collect(),
        noun: String::new(),
        has_names: true,
        is_sure: true,
    }
}

fn with_names(without: &str, named: &[(u32, Framed<'_>)]) -> Stage {
    let keyed = named
        .iter()
        .flat_map(|(key, framed)| framed.iter().map(|&(_, said)| (said, *key)));
    let mut keyed: Vec<(Said, u32)> = keyed.collect();
    keyed.sort_by_key(|(said, _)| (said.at_ns, said.row));
    let numbers: Vec<&[&str]> = named
        .iter()
        .flat_map(|(_, framed)| numbers_of(framed))
        .collect();
    let keys = if are_items(named.len(), keyed.len()) {
        keyed.iter().map(|&(_, key)| key).collect()
    } else {
        Vec::new()
    };
    Stage {
        shape: shape(frame_of(without), &constants(&numbers)),
        said: keyed.into_iter().map(|(said, _)| said).collect(),
        keys,
        noun: String::new(),
        has_names: true,
        is_sure: words_said(without) >= MIN_FIXED_WORDS,
    }
}

fn numbers_of<'cut>(framed: &Framed<'cut>) -> Vec<&'cut [&'cut str]> {
    framed.iter().map(|&(numbers, _)| numbers).collect()
}
