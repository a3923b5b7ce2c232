//! The event table as whole columns, for a DataFrame: each is filled in place on all cores, without batches in between.

use super::arrow::broken;
use super::event_batches::{BatchMaker, Dictionaries, Dictionary, Events, Source};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use parsers::NO_NS;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use query::event_rows;
use query::selection::Selection;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An array for consumers of the Arrow PyCapsule protocol. Nothing else refers to its memory.
#[pyclass(name = "Array", module = "tracealyze._engine", frozen)]
pub struct PyArray(ArrayRef);

#[pymethods]
impl PyArray {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) =
            to_ffi(&self.0.to_data()).map_err(broken)?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        Ok((
            schema,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

/// Name, values, whether each is missing (if one is), and words. With words, values are their numbers, -1 for none.
pub(super) type FrameColumn = (&'static str, PyArray, Option<PyArray>, Option<PyArray>);

/// The columns of the chosen events. `None` if arguments are wanted, or if texts are too long for Arrow.
pub(super) fn columns(events: &Events) -> Option<Vec<FrameColumn>> {
    let selection = Selection::new(&events.trace, &events.choice, &events.queries).ok()?;
    let rows = Rows::new(events, &selection);
    let pieces: Vec<Range<u32>> = rows.pieces.iter().map(|(piece, _)| piece.clone()).collect();
    let dictionaries =
        Dictionaries::new(&events.trace, &selection, &pieces, |piece| rows.of(piece))?;
    let maker = BatchMaker {
        trace: &events.trace,
        dictionaries: &dictionaries,
        columns: events.columns.as_deref(),
    };
    let column = |(name, source)| match source {
        Source::Numbers(kind, of) => {
            let (values, missing) = match kind {
                "i32" => rows.numbers::<Int32Type>(&*of),
                "u32" => rows.numbers::<UInt32Type>(&*of),
                "u64" => rows.numbers::<UInt64Type>(&*of),
                _ => rows.numbers::<Int64Type>(&*of),
            };
            (name, values, missing, None)
        }
        Source::Words(words, of) => (
            name,
            rows.codes(words, &*of),
            None,
            Some(PyArray(Arc::clone(&words.words) as ArrayRef)),
        ),
    };
    (!maker.wants("args")).then(|| maker.sources(&selection).into_iter().map(column).collect())
}

/// The chosen rows.
struct Rows<'all> {
    selection: &'all Selection<'all>,
    /// Parts of the table with the number of rows of each.
    pieces: Vec<(Range<u32>, usize)>,
    number: usize,
}

impl<'all> Rows<'all> {
    fn new(events: &'all Events, selection: &'all Selection<'all>) -> Rows<'all> {
        let all: Vec<Range<u32>> = event_rows::pieces(&events.trace).collect();
        let count = |piece: Range<u32>| {
            let rows = if selection.is_all() {
                piece.len()
            } else {
                piece.clone().filter(|&row| selection.has(row)).count()
            };
            (piece, rows)
        };
        let mut pieces: Vec<(Range<u32>, usize)> = all.into_par_iter().map(count).collect();
        let mut left = events.limit.unwrap_or(usize::MAX);
        for (piece, number) in &mut pieces {
            if *number > left {
                *number = left;
                let last = piece
                    .clone()
                    .filter(|&row| selection.has(row))
                    .take(left)
                    .last();
                piece.end = last.map_or(piece.start, |last| last + 1);
            }
            left -= *number;
        }
        let number = pieces.iter().map(|(_, number)| number).sum();
        Rows {
            selection,
            pieces,
            number,
        }
    }

    fn of(&self, piece: Range<u32>) -> impl Iterator<Item = u32> + '_ {
        piece.filter(|&row| self.selection.has(row))
    }

    /// The parts of a column, each with its rows.
    fn parts<'column, T>(
        &self,
        mut column: &'column mut [T],
    ) -> Vec<(Range<u32>, &'column mut [T])> {
        let part = |(piece, number): &(Range<u32>, usize)| {
            let (part, rest) = std::mem::take(&mut column).split_at_mut(*number);
            column = rest;
            (piece.clone(), part)
        };
        self.pieces.iter().map(part).collect()
    }

    /// Memory that no value is written to is not touched.
    fn numbers<T: ArrowPrimitiveType>(
        &self,
        of: &(dyn Fn(u32) -> i64 + Sync),
    ) -> (PyArray, Option<PyArray>)
    where
        T::Native: TryFrom<i64>,
    {
        let mut values = vec![T::Native::default(); self.number];
        let mut missing = vec![0u8; self.number];
        let is_any_missing = AtomicBool::new(false);
        let parts = self
            .parts(&mut values)
            .into_par_iter()
            .zip(self.parts(&mut missing));
        parts.for_each(|((piece, values), (_, missing))| {
            let mut is_missing = false;
            for (row, (value, missing)) in self.of(piece).zip(values.iter_mut().zip(missing)) {
                match Some(of(row))
                    .filter(|&number| number != NO_NS)
                    .map(T::Native::try_from)
                {
                    Some(Ok(number)) => *value = number,
                    _ => (*missing, is_missing) = (1, true),
                }
            }
            is_any_missing.fetch_or(is_missing, Ordering::Relaxed);
        });
        let missing = is_any_missing
            .into_inner()
            .then(|| array::<UInt8Type>(missing));
        (array::<T>(values), missing)
    }

    /// Numbers of words, in the smallest type that has room for them, as pandas has it.
    fn codes(&self, words: &Dictionary, of: &(dyn Fn(u32) -> u32 + Sync)) -> PyArray {
        const MAX_8: usize = 1 << 7;
        const MAX_16: usize = 1 << 15;
        let key = |row: u32| words.key(of(row)).unwrap_or(-1);
        match words.words.len() {
            number if number <= MAX_8 => self.filled::<Int8Type>(&|row| key(row) as i8),
            number if number <= MAX_16 => self.filled::<Int16Type>(&|row| key(row) as i16),
            _ => self.filled::<Int32Type>(&key),
        }
    }

    fn filled<T: ArrowPrimitiveType>(&self, of: &(dyn Fn(u32) -> T::Native + Sync)) -> PyArray {
        let mut values = vec![T::Native::default(); self.number];
        self.parts(&mut values)
            .into_par_iter()
            .for_each(|(piece, values)| {
                self.of(piece)
                    .zip(values)
                    .for_each(|(row, value)| *value = of(row));
            });
        array::<T>(values)
    }
}

fn array<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> PyArray {
    PyArray(Arc::new(PrimitiveArray::<T>::new(values.into(), None)))
}
