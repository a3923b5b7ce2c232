//! The numbers of shapes, found by their targets.
//!
//! A capture of distinct paths has a few shapes for each path: it is opened, read and closed. They are made shortly after
//! one another, so a list of them stays in the cache, where each lookup in a map of all shapes would miss it.
//!
//! ```text
//! /etc/passwd   openat 4 -> read 5 -> close 6
//! ```

use crate::store::event::{NONE, Shape};
use rustc_hash::FxBuildHasher;

/// Longer lists would be slow to search. Further shapes of their targets are in a map.
const MAX_LIST: u32 = 32;

/// Shapes by number, and their numbers.
#[derive(Default)]
pub(super) struct ShapeNumbers {
    shapes: Vec<Shape>,
    /// The last shape with a target, by text number.
    last: Vec<u32>,
    /// The previous shape with the same target, by shape number.
    previous: Vec<u32>,
    others: hashbrown::HashMap<Shape, u32, FxBuildHasher>,
}

impl ShapeNumbers {
    /// All shapes.
    #[inline]
    pub(super) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The number of a shape, which is added if it is new.
    pub(super) fn number(&mut self, shape: Shape) -> u32 {
        let target = shape.target.0 as usize;
        if target >= self.last.len() {
            self.last.resize(target + 1, NONE);
        }
        let (last, new) = (self.last[target], self.shapes.len() as u32);
        let (mut at, mut length) = (last, 0);
        while at != NONE {
            if self.shapes[at as usize] == shape {
                return at;
            }
            at = self.previous[at as usize];
            length += 1;
        }
        let number = match length {
            ..MAX_LIST => new,
            _ => *self.others.entry(shape).or_insert(new),
        };
        if number == new {
            self.shapes.push(shape);
            self.previous.push(if length < MAX_LIST { last } else { NONE });
            if length < MAX_LIST {
                self.last[target] = new;
            }
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsers::{Outcome, Text};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_those_of_first_occurrence(asked in prop::collection::vec((0u32..3, 0u32..90), 0..400)) {
            let mut numbers = ShapeNumbers::default();
            let mut known: Vec<Shape> = Vec::new();
            for (target, syscall) in asked {
                let none = Text::NONE;
                let shape = Shape { syscall: Text(syscall), op: none, target: Text(target), errno: none, outcome: Outcome::Ok };
                let at = known.iter().position(|other| *other == shape).unwrap_or(known.len());
                if at == known.len() {
                    known.push(shape);
                }
                prop_assert_eq!(numbers.number(shape) as usize, at);
            }
            prop_assert_eq!(numbers.shapes(), &known[..]);
        }
    }
}
