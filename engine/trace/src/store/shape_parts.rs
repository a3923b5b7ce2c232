//! Shapes without their targets: syscall, operation, error and outcome.
//!
//! ```text
//! shapes   openat /a | openat /b | read /a | read /b | openat /c ENOENT      up to one for each few calls
//! parts    openat                | read              | openat    ENOENT      hundreds
//! ```
//! Most tables need calls of some parts, with any target, and few calls in all. The rows of the rare parts are
//! listed once, so that such a table does not go through all rows of a long task.

use crate::store::classes::class_of;
use crate::store::event::Shape;
use crate::store::index::{ShapeId, TiSlice, TiVec};
use parsers::syscalls::Class;
use parsers::{Interner, Outcome, Text};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// At most one of so many rows is in the list of rare rows.
const ROWS_PER_RARE_ROW: usize = 32;
/// Rows that a core counts at a time.
const ROWS_AT_ONCE: usize = 1 << 16;

/// The parts of a trace.
#[derive(Default)]
pub struct ShapeParts {
    of_shape: TiVec<ShapeId, u32>,
    /// The class of each shape: that of its target decides.
    classes: TiVec<ShapeId, Class>,
    /// Shapes without a target.
    parts: Vec<Shape>,
    is_rare: Vec<bool>,
    /// Indexes of rows of rare parts among the rows of all tasks, in order.
    rare_rows: Vec<u32>,
}

impl ShapeParts {
    /// Numbers the parts. `rows` are the shapes of the rows, task by task.
    pub(crate) fn new(
        texts: &Interner,
        shapes: &TiSlice<ShapeId, Shape>,
        rows: &[ShapeId],
    ) -> ShapeParts {
        let mut numbers: FxHashMap<(Text, Text, Text, Outcome), u32> = FxHashMap::default();
        let mut parts = Vec::new();
        let of_shape = shapes.iter().map(|shape| {
            *numbers
                .entry((shape.syscall, shape.op, shape.errno, shape.outcome))
                .or_insert_with(|| {
                    parts.push(Shape {
                        target: Text::NONE,
                        ..*shape
                    });
                    (parts.len() - 1) as u32
                })
        });
        let of_shape: TiVec<ShapeId, u32> = of_shape.collect();
        let classes = shapes
            .raw
            .par_iter()
            .map(|shape| class_of(shape.syscall, texts.bytes(shape.target)))
            .collect::<Vec<_>>()
            .into();
        let mut all = ShapeParts {
            is_rare: vec![false; parts.len()],
            of_shape,
            classes,
            parts,
            rare_rows: Vec::new(),
        };
        all.find_rare(rows);
        all
    }

    fn find_rare(&mut self, rows: &[ShapeId]) {
        let add = |mut sums: Vec<usize>, counts: Vec<usize>| {
            sums.iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
            sums
        };
        let count = |rows: &[ShapeId]| {
            let mut counts = vec![0; self.parts.len()];
            rows.iter()
                .for_each(|&shape| counts[self.of_shape[shape] as usize] += 1);
            counts
        };
        let counts = rows
            .par_chunks(ROWS_AT_ONCE)
            .map(count)
            .reduce(|| vec![0; self.parts.len()], add);
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_unstable_by_key(|&part| (counts[part], part));
        let mut left = rows.len() / ROWS_PER_RARE_ROW;
        for part in order {
            let Some(rest) = left.checked_sub(counts[part]) else {
                break;
            };
            (left, self.is_rare[part]) = (rest, true);
        }
        let places = |(chunk, rows): (usize, &[ShapeId])| {
            let is_rare = |shape: ShapeId| self.is_rare[self.of_shape[shape] as usize];
            let rare = (0u32..).zip(rows).filter(|&(_, &shape)| is_rare(shape));
            rare.map(|(at, _)| (chunk * ROWS_AT_ONCE) as u32 + at)
                .collect::<Vec<u32>>()
        };
        let lists: Vec<Vec<u32>> = rows
            .par_chunks(ROWS_AT_ONCE)
            .enumerate()
            .map(places)
            .collect();
        self.rare_rows = lists.concat();
    }

    /// The parts, by number: shapes without a target.
    pub fn parts(&self) -> &[Shape] {
        &self.parts
    }

    /// The part of a shape.
    #[inline]
    pub fn of_shape(&self, shape: ShapeId) -> u32 {
        self.of_shape[shape]
    }

    /// The parts of all shapes, by number of the shape.
    pub fn of_shapes(&self) -> &TiSlice<ShapeId, u32> {
        &self.of_shape
    }

    /// The class of the calls of a shape.
    #[inline]
    pub fn class_of(&self, shape: ShapeId) -> Class {
        self.classes[shape]
    }

    /// Whether the rows of a part are listed.
    pub fn is_rare(&self, part: usize) -> bool {
        self.is_rare[part]
    }

    /// The listed rows in a range of the rows of all tasks.
    pub(crate) fn rare_rows(&self, range: &Range<usize>) -> &[u32] {
        let bound = |at: usize| self.rare_rows.partition_point(|&row| (row as usize) < at);
        &self.rare_rows[bound(range.start)..bound(range.end)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_of_rare_parts_are_listed() {
        let shape = |syscall: u32, target: u32| {
            let (op, errno) = (Text::NONE, Text::NONE);
            Shape {
                syscall: Text(syscall),
                op,
                target: Text(target),
                errno,
                outcome: Outcome::Ok,
            }
        };
        let shapes = TiVec::from(vec![shape(1, 7), shape(2, 7), shape(1, 8), shape(3, 9)]);
        let mut texts = Interner::default();
        for number in 0..9 {
            texts.add(format!("/{number}").as_bytes());
        }
        let mut rows: Vec<ShapeId> = (0..96).map(|at| ShapeId::new(2 * (at % 2))).collect();
        (rows[40], rows[70], rows[71]) = (ShapeId::new(1), ShapeId::new(1), ShapeId::new(3));
        let parts = ShapeParts::new(&texts, &shapes, &rows);
        assert_eq!(parts.of_shapes().raw, [0, 1, 0, 2]);
        assert_eq!(
            [parts.is_rare(0), parts.is_rare(1), parts.is_rare(2)],
            [false, true, true]
        );
        assert_eq!(parts.rare_rows(&(0..96)), [40, 70, 71]);
        assert_eq!(parts.rare_rows(&(41..71)), [70]);
    }
}
