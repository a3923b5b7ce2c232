//! The numbers of shapes, found by their targets.
//!
//! A capture of distinct paths has a few shapes for each path: it is opened, read and closed. They are made shortly after
//! one another, so a list of them stays in the cache, where each lookup in a map of all shapes would miss it.
//!
//! ```text
//! /etc/passwd   openat 4 -> read 5 -> close 6
//! ```

mod recent;

use crate::store::event::{NONE, Shape};
use crate::store::events::shape_numbers::recent::RecentShapes;
use parsers::Text;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Longer lists would be slow to search. Further shapes of their targets are in a map.
const MAX_LIST: u32 = 32;
/// The last ones of a list, which are looked at before the recently used ones.
const NEAR: u32 = 4;
/// Stands for the previous shape of one that is not in a list.
const NOT_LISTED: u32 = NONE - 1;

/// Shapes by number, and their numbers.
#[derive(Default)]
pub(super) struct ShapeNumbers {
    shapes: Vec<Shape>,
    /// The last shape with a target, by text number.
    last: Vec<u32>,
    /// The previous shape with the same target, by shape number.
    previous: Vec<u32>,
    others: hashbrown::HashMap<Shape, u32, FxBuildHasher>,
    /// Those that are further down in their lists.
    recent: RecentShapes,
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
        let (mut at, mut length) = (self.last[target], 0);
        while at != NONE {
            if self.shapes[at as usize] == shape {
                return at;
            }
            at = self.previous[at as usize];
            length += 1;
            if length == NEAR {
                return self.further(shape, at);
            }
        }
        self.add(shape, length)
    }

    /// The same for a shape that is not among the last few of its target. The list goes on with this number.
    fn further(&mut self, shape: Shape, mut at: u32) -> u32 {
        if let Some(number) = self.recent.find(&shape) {
            return number;
        }
        let mut length = NEAR;
        while at != NONE && self.shapes[at as usize] != shape {
            at = self.previous[at as usize];
            length += 1;
        }
        let number = if at == NONE {
            self.add(shape, length)
        } else {
            at
        };
        self.recent.keep(&shape, number);
        number
    }

    /// Add a shape that is not in the list of its target, which is so long.
    fn add(&mut self, shape: Shape, length: u32) -> u32 {
        let (target, new) = (shape.target.0 as usize, self.shapes.len() as u32);
        let last = self.last[target];
        let number = match length {
            ..MAX_LIST => new,
            _ => *self.others.entry(shape).or_insert(new),
        };
        if number == new {
            self.shapes.push(shape);
            self.previous
                .push(if length < MAX_LIST { last } else { NOT_LISTED });
            if length < MAX_LIST {
                self.last[target] = new;
            }
        }
        number
    }

    /// Maps each shape to the first shape that differs from it at most in outcome and error.
    pub(super) fn twins(&self) -> Vec<u32> {
        let mut twins: Vec<u32> = Vec::with_capacity(self.shapes.len());
        let mut unlisted: FxHashMap<(Text, Text, Text), u32> = FxHashMap::default();
        for (number, shape) in (0..).zip(&self.shapes) {
            let is_listed = self.previous[number as usize] != NOT_LISTED;
            // A list was full before the first shape of its target that is not in it.
            let from = if is_listed {
                number
            } else {
                self.last[shape.target.0 as usize]
            };
            let twin = self.listed_from(from).find(|&at| {
                let other = &self.shapes[at as usize];
                at != number && other.syscall == shape.syscall && other.op == shape.op
            });
            twins.push(match twin {
                Some(twin) => twins[twin as usize],
                None if is_listed => number,
                None => *unlisted
                    .entry((shape.syscall, shape.op, shape.target))
                    .or_insert(number),
            });
        }
        twins
    }

    /// A listed shape, and those before it in its list.
    fn listed_from(&self, number: u32) -> impl Iterator<Item = u32> {
        let known = |at: u32| (at != NONE).then_some(at);
        std::iter::successors(known(number), move |&at| known(self.previous[at as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsers::Outcome;
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

        #[test]
        fn twins_differ_in_outcome_or_error_only(asked in prop::collection::vec((0u32..2, 0u32..40, 0u32..3), 0..400)) {
            let mut numbers = ShapeNumbers::default();
            for (target, syscall, errno) in asked {
                let (op, outcome) = (Text::NONE, if errno == 0 { Outcome::Ok } else { Outcome::Failed });
                numbers.number(Shape { syscall: Text(syscall), op, target: Text(target), errno: Text(errno), outcome });
            }
            let alike = |shape: &Shape| (shape.syscall, shape.op, shape.target);
            let first = |shape: &Shape| numbers.shapes().iter().position(|other| alike(other) == alike(shape));
            let firsts: Vec<u32> = numbers.shapes().iter().filter_map(first).map(|at| at as u32).collect();
            prop_assert_eq!(numbers.twins(), firsts);
        }
    }
}
