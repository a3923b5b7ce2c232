//! Tables as Arrow record batches.

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, PrimitiveArray,
    RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use detect::tables;
use parsers::NO_NS;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;
use trace::store::event::NONE;
use trace::store::table::{Table, Values};

/// A stream of batches for consumers of the Arrow PyCapsule protocol. It leaves casts to other types to the consumer.
pub(super) fn capsule(
    py: Python<'_>,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    schema: SchemaRef,
) -> PyResult<Bound<'_, PyCapsule>> {
    let reader: Box<dyn RecordBatchReader + Send> =
        Box::new(RecordBatchIterator::new(batches, schema));
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
}

pub(super) fn broken(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A table as one record batch.
///
/// # Errors
/// If columns differ in length, which would be a bug of the engine.
pub fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    let known = tables::schema_of(table.name);
    let arrays: Vec<(String, ArrayRef)> = table
        .columns
        .iter()
        .map(|(name, values)| {
            (
                name.clone(),
                array(values, known.map_or("i64", |known| known.kind_of(name))),
            )
        })
        .collect();
    let fields: Vec<Field> = arrays
        .iter()
        .map(|(name, array)| Field::new(name, array.data_type().clone(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, arrays.into_iter().map(|(_, array)| array).collect())
}

/// A column.
pub(super) fn array(values: &Values, kind: &str) -> ArrayRef {
    match values {
        Values::Int(values) => integers(values, kind),
        Values::Float(values) => Arc::new(Float64Array::from(values.clone())),
        Values::Bool(values) => Arc::new(BooleanArray::from(values.clone())),
        Values::Text { keys, words } => texts(keys, words),
        Values::List(values) => lists(values),
    }
}

fn integers(values: &[Option<i64>], kind: &str) -> ArrayRef {
    let values: Vec<i64> = values.iter().map(|value| value.unwrap_or(NO_NS)).collect();
    integers_of(&values, kind)
}

/// A column of integers. [`NO_NS`] and values that do not fit are missing.
pub(super) fn integers_of(values: &[i64], kind: &str) -> ArrayRef {
    match kind {
        "i32" => narrow::<Int32Type>(values),
        "u32" => narrow::<UInt32Type>(values),
        "u64" => narrow::<UInt64Type>(values),
        _ => narrow::<Int64Type>(values),
    }
}

fn narrow<T: ArrowPrimitiveType>(values: &[i64]) -> ArrayRef
where
    T::Native: TryFrom<i64>,
{
    let of = |value: i64| {
        if value == NO_NS {
            None
        } else {
            T::Native::try_from(value).ok()
        }
    };
    let is_known = BooleanBuffer::collect_bool(values.len(), |at| of(values[at]).is_some());
    let values: Vec<T::Native> = values
        .iter()
        .map(|&value| of(value).unwrap_or_default())
        .collect();
    let missing = Some(NullBuffer::new(is_known)).filter(|missing| missing.null_count() > 0);
    Arc::new(PrimitiveArray::<T>::new(values.into(), missing))
}

fn texts(keys: &[u32], words: &[String]) -> ArrayRef {
    let keys: Int32Array = keys
        .iter()
        .map(|&key| (key != NONE).then_some(key as i32))
        .collect();
    let words: StringArray = words.iter().map(Some).collect();
    // Keys come from the words they are put in with, so they fit; an empty column is the only other way.
    match DictionaryArray::<Int32Type>::try_new(keys, Arc::new(words)) {
        Ok(array) => Arc::new(array),
        Err(_) => Arc::new(DictionaryArray::<Int32Type>::from_iter(std::iter::empty::<
            Option<&str>,
        >())),
    }
}

fn lists(values: &[Vec<String>]) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new());
    for list in values {
        list.iter()
            .for_each(|text| builder.values().append_value(text));
        builder.append(true);
    }
    Arc::new(builder.finish())
}
