//! The numbers of shapes, found by their targets.
//!
//! A capture of distinct paths has a few shapes for each path: it is opened, read and closed. They are made shortly after
//! one another, so a list of them stays in the cache, where each lookup in a map of all shapes would miss it.
//!
//! ```text
//! /etc/passwd   openat 4 -> read 5 -> close 6
//! ```

mod recent;

use crate::store::event::Shape;
use crate::store::events::shape_numbers::recent::RecentShapes;
use crate::store::index::{ShapeId, TiSlice, TiVec};
use parsers::Text;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Longer lists would be slow to search. Further shapes of their targets are in a map.
const MAX_LIST: u32 = 32;
/// The last ones of a list, which are looked at before the recently used ones.
const NEAR: u32 = 4;
/// Stands for the previous shape of one that is not in a list.
const NOT_LISTED: ShapeId = ShapeId::new(u32::MAX - 1);

/// Shapes by number, and their numbers.
#[derive(Default)]
pub(super) struct ShapeNumbers {
    shapes: TiVec<ShapeId, Shape>,
    /// The last shape with a target, by text number.
    last: Vec<ShapeId>,
    /// The previous shape with the same target, by shape number.
    previous: TiVec<ShapeId, ShapeId>,
    others: hashbrown::HashMap<Shape, ShapeId, FxBuildHasher>,
    /// Those that are further down in their lists.
    recent: RecentShapes,
}

impl ShapeNumbers {
    /// All shapes.
    #[inline]
    pub(super) fn shapes(&self) -> &TiSlice<ShapeId, Shape> {
        &self.shapes
    }

    /// The number of a shape, which is added if it is new.
    pub(super) fn number(&mut self, shape: Shape) -> ShapeId {
        let target = shape.target.0 as usize;
        if target >= self.last.len() {
            self.last.resize(target + 1, ShapeId::NONE);
        }
        let (mut at, mut length) = (self.last[target], 0);
        while at.is_some() {
            if self.shapes[at] == shape {
                return at;
            }
            at = self.previous[at];
            length += 1;
            if length == NEAR {
                return self.further(shape, at);
            }
        }
        self.add(shape, length)
    }

    /// The same for a shape that is not among the last few of its target. The list goes on with this number.
    fn further(&mut self, shape: Shape, mut at: ShapeId) -> ShapeId {
        if let Some(number) = self.recent.find(&shape) {
            return number;
        }
        let mut length = NEAR;
        while at.is_some() && self.shapes[at] != shape {
            at = self.previous[at];
            length += 1;
        }
        let number = if at.is_some() {
            at
        } else {
            self.add(shape, length)
        };
        self.recent.keep(&shape, number);
        number
    }

    /// Add a shape that is not in the list of its target, which is so long.
    fn add(&mut self, shape: Shape, length: u32) -> ShapeId {
        let (target, new) = (shape.target.0 as usize, self.shapes.next_key());
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
    pub(super) fn twins(&self) -> TiVec<ShapeId, ShapeId> {
        let mut twins: TiVec<ShapeId, ShapeId> = TiVec::with_capacity(self.shapes.len());
        let mut unlisted: FxHashMap<(Text, Text, Text), ShapeId> = FxHashMap::default();
        for (number, shape) in self.shapes.iter_enumerated() {
            let is_listed = self.previous[number] != NOT_LISTED;
            // A list was full before the first shape of its target that is not in it.
            let from = if is_listed {
                number
            } else {
                self.last[shape.target.0 as usize]
            };
            let twin = self.listed_from(from).find(|&at| {
                let other = &self.shapes[at];
                at != number && other.syscall == shape.syscall && other.op == shape.op
            });
            twins.push(match twin {
                Some(twin) => twins[twin],
                None if is_listed => number,
                None => *unlisted
                    .entry((shape.syscall, shape.op, shape.target))
                    .or_insert(number),
            });
        }
        twins
    }

    /// A listed shape, and those before it in its list.
    fn listed_from(&self, number: ShapeId) -> impl Iterator<Item = ShapeId> {
        std::iter::successors(number.some(), move |&at| self.previous[at].some())
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
                prop_assert_eq!(numbers.number(shape).index(), at);
            }
            prop_assert_eq!(&numbers.shapes().raw, &known[..]);
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
            let firsts: TiVec<ShapeId, ShapeId> = numbers.shapes().iter().filter_map(first).map(ShapeId::from).collect();
            prop_assert_eq!(numbers.twins(), firsts);
        }
    }
}
