//! Tables as Arrow record batches.

use crate::store::event::NONE;
use crate::store::schema;
use crate::store::table::{Table, Values};
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};
use std::sync::Arc;

/// A table as one record batch.
///
/// # Errors
/// If columns differ in length, which would be a bug of the engine.
pub fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    let arrays: Vec<(String, ArrayRef)> = table
        .columns
        .iter()
        .map(|(name, values)| (name.clone(), array(values, schema::kind_of(table.name, name))))
        .collect();
    let fields: Vec<Field> =
        arrays.iter().map(|(name, array)| Field::new(name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, arrays.into_iter().map(|(_, array)| array).collect())
}

fn array(values: &Values, kind: &str) -> ArrayRef {
    match values {
        Values::Int(values) => integers(values, kind),
        Values::Float(values) => Arc::new(Float64Array::from(values.clone())),
        Values::Bool(values) => Arc::new(BooleanArray::from(values.clone())),
        Values::Text { keys, words } => texts(keys, words),
        Values::List(values) => lists(values),
    }
}

fn integers(values: &[Option<i64>], kind: &str) -> ArrayRef {
    match kind {
        "i32" => Arc::new(
            values.iter().map(|value| value.and_then(|value| i32::try_from(value).ok())).collect::<Int32Array>(),
        ),
        "u32" => Arc::new(
            values.iter().map(|value| value.and_then(|value| u32::try_from(value).ok())).collect::<UInt32Array>(),
        ),
        "u64" => Arc::new(
            values.iter().map(|value| value.and_then(|value| u64::try_from(value).ok())).collect::<UInt64Array>(),
        ),
        _ => Arc::new(values.iter().copied().collect::<Int64Array>()),
    }
}

fn texts(keys: &[u32], words: &[String]) -> ArrayRef {
    let keys: Int32Array = keys.iter().map(|&key| (key != NONE).then_some(key as i32)).collect();
    let words: StringArray = words.iter().map(Some).collect();
    // Keys come from the words they are put in with, so they fit; an empty column is the only other way.
    match DictionaryArray::<Int32Type>::try_new(keys, Arc::new(words)) {
        Ok(array) => Arc::new(array),
        Err(_) => Arc::new(DictionaryArray::<Int32Type>::from_iter(std::iter::empty::<Option<&str>>())),
    }
}

fn lists(values: &[Vec<String>]) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new());
    for list in values {
        list.iter().for_each(|text| builder.values().append_value(text));
        builder.append(true);
    }
    Arc::new(builder.finish())
}
