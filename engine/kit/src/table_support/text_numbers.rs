//! Numbers of texts, such as the targets of a process: in a table if the process has many calls, in a map otherwise.

use parsers::Text;
use rustc_hash::FxHashMap;
use trace::store::event::NONE;

/// A table has one entry per text of the trace. It pays if so many texts share a call.
const MAX_TEXTS_PER_CALL: usize = 4;

/// Numbers by text.
pub enum TextNumbers {
    /// By the number of the text.
    Table(Vec<u32>),
    /// Of the few texts that have one.
    Map(FxHashMap<Text, u32>),
}

impl TextNumbers {
    /// No numbers yet, for so many calls in a trace with so many texts.
    pub fn new(calls: usize, texts: usize) -> TextNumbers {
        match texts <= calls.saturating_mul(MAX_TEXTS_PER_CALL) {
            true => TextNumbers::Table(vec![NONE; texts]),
            false => TextNumbers::Map(FxHashMap::default()),
        }
    }

    /// The number of a text. It is `next` if it has none yet.
    pub fn of(&mut self, text: Text, next: u32) -> u32 {
        let number = match self {
            TextNumbers::Map(map) => return *map.entry(text).or_insert(next),
            TextNumbers::Table(table) => &mut table[text.0 as usize],
        };
        if *number == NONE {
            *number = next;
        }
        *number
    }

    /// The number of a text, if it has one.
    pub fn get(&self, text: Text) -> Option<u32> {
        let number = match self {
            TextNumbers::Map(map) => map.get(&text),
            TextNumbers::Table(table) => table.get(text.0 as usize),
        };
        number.copied().filter(|&number| number != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_give_the_same_numbers() {
        let mut both = [TextNumbers::new(10, 10), TextNumbers::new(0, 10)];
        assert!(matches!(both, [TextNumbers::Table(_), TextNumbers::Map(_)]));
        let texts = [
            Text(2),
            Text::NONE,
            Text(2),
            Text(9),
            Text(1),
            Text::NONE,
            Text(9),
        ];
        let mut found = Vec::new();
        for numbers in &mut both {
            found.push(
                (0..)
                    .zip(texts)
                    .map(|(next, text)| numbers.of(text, next))
                    .collect::<Vec<u32>>(),
            );
        }
        assert_eq!(
            found,
            [vec![0, 1, 0, 3, 4, 1, 3], vec![0, 1, 0, 3, 4, 1, 3]]
        );
    }
}
