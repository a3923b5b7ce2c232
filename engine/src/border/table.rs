//! A table as Python sees it: lists for small things, the Arrow PyCapsule protocol for all.

use super::arrow::batch;
use super::filter::{Condition, unfit};
use super::json;
use crate::filter;
use crate::listing::{self, Arguments};
use crate::members::Members;
use crate::select::Selection;
use crate::sheet::Found;
use crate::table::{Table, Values};
use crate::trace::Trace;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatchIterator, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use std::ops::Range;
use std::sync::Arc;

/// Where the rows of a table come from.
enum Rows {
    /// Worked out already.
    Ready(Arc<Table>),
    /// Worked out already, and the events behind each row.
    Found(Arc<Table>, Arc<Vec<Members>>),
    /// The event table, made a piece at a time.
    Events(Events),
}

/// The chosen events of a trace.
#[derive(Clone)]
pub struct Events {
    pub trace: Arc<Trace>,
    pub choice: crate::select::Choice,
    pub columns: Option<Vec<String>>,
    pub limit: Option<usize>,
}

/// A table.
#[pyclass(name = "Table", module = "tracealyze._engine", frozen)]
pub struct PyTable(Rows);

impl From<Table> for PyTable {
    fn from(table: Table) -> PyTable {
        PyTable(Rows::Ready(Arc::new(table)))
    }
}

impl From<Found> for PyTable {
    fn from(found: Found) -> PyTable {
        PyTable(Rows::Found(Arc::new(found.table), Arc::new(found.members)))
    }
}

impl From<Events> for PyTable {
    fn from(events: Events) -> PyTable {
        PyTable(Rows::Events(events))
    }
}

impl Events {
    /// The pieces of the table, one after the other. The choice was understood when the table was made.
    fn tables(self) -> impl Iterator<Item = Table> + Send {
        let pieces: Vec<_> = listing::pieces(&self.trace).collect();
        let mut left = self.limit.unwrap_or(usize::MAX);
        let mut arguments = Arguments::default();
        pieces.into_iter().map_while(move |piece| {
            if left == 0 {
                return None;
            }
            let selection = Selection::new(&self.trace, &self.choice).ok()?;
            let rows: Vec<u32> = piece.filter(|&row| selection.has(row)).take(left).collect();
            left -= rows.len();
            Some(self.table(&selection, &rows, &mut arguments))
        })
    }

    /// These rows with the columns that were asked for; the arguments only if they were asked for by name.
    fn table(&self, selection: &Selection<'_>, rows: &[u32], arguments: &mut Arguments) -> Table {
        let mut table = listing::of_rows(&self.trace, selection, rows);
        if self.columns.as_ref().is_some_and(|columns| columns.iter().any(|column| column == "args")) {
            table.columns.push(("args".to_owned(), arguments.column(&self.trace, rows)));
        }
        chosen(table, self.columns.as_deref())
    }

    fn none(&self) -> Option<Table> {
        let selection = Selection::new(&self.trace, &self.choice).ok()?;
        Some(self.table(&selection, &[], &mut Arguments::default()))
    }
}

fn chosen(mut table: Table, columns: Option<&[String]>) -> Table {
    if let Some(columns) = columns {
        table.columns.retain(|(name, _)| columns.contains(name));
    }
    table
}

impl PyTable {
    fn tables(&self) -> Box<dyn Iterator<Item = Arc<Table>> + Send> {
        match &self.0 {
            Rows::Ready(table) | Rows::Found(table, _) => Box::new(std::iter::once(Arc::clone(table))),
            Rows::Events(events) => Box::new(events.clone().tables().map(Arc::new)),
        }
    }

    /// The events behind rows; none where the table does not know them.
    pub fn members(&self, rows: &[usize]) -> Vec<Members> {
        let Rows::Found(_, members) = &self.0 else { return Vec::new() };
        rows.iter().filter_map(|&row| members.get(row).cloned()).collect()
    }

    /// A table with these columns, of any number of rows.
    fn example(&self) -> PyResult<Arc<Table>> {
        let lost = || PyRuntimeError::new_err("the choice was lost");
        match &self.0 {
            Rows::Ready(table) | Rows::Found(table, _) => Ok(Arc::clone(table)),
            Rows::Events(events) => events.none().map(Arc::new).ok_or_else(lost),
        }
    }

    fn schema(&self) -> PyResult<SchemaRef> {
        Ok(batch(&*self.example()?).map_err(broken)?.schema())
    }
}

fn broken(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl PyTable {
    #[getter]
    fn name(&self) -> &'static str {
        match &self.0 {
            Rows::Ready(table) | Rows::Found(table, _) => table.name,
            Rows::Events(_) => "events",
        }
    }

    #[getter]
    fn columns(&self) -> PyResult<Vec<String>> {
        Ok(self.example()?.columns.iter().map(|(name, _)| name.clone()).collect())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        match &self.0 {
            Rows::Ready(table) | Rows::Found(table, _) => table.len(),
            Rows::Events(events) => py.detach(|| {
                let selection = Selection::new(&events.trace, &events.choice);
                let rows = selection
                    .map_or(0, |selection| (0..events.trace.events.len()).filter(|&row| selection.has(row)).count());
                rows.min(events.limit.unwrap_or(usize::MAX))
            }),
        }
    }

    /// The values of one column.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for table in self.tables() {
            let values = table.column(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
            for value in objects(py, values, table.len())? {
                all.append(value)?;
            }
        }
        Ok(all)
    }

    /// The rows as tuples, at most so many.
    #[pyo3(signature = (limit = None))]
    fn rows<'py>(&self, py: Python<'py>, limit: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        let mut left = limit.unwrap_or(usize::MAX);
        for table in self.tables() {
            let rows = table.len().min(left);
            left -= rows;
            let columns: Vec<Vec<Bound<'py, PyAny>>> =
                table.columns.iter().map(|(_, values)| objects(py, values, rows)).collect::<PyResult<_>>()?;
            for row in 0..rows {
                all.append(PyTuple::new(py, columns.iter().map(|column| &column[row]))?)?;
            }
        }
        Ok(all)
    }

    /// Whether rows know the events behind them.
    #[getter]
    fn knows_events(&self) -> bool {
        matches!(self.0, Rows::Found(..))
    }

    /// These rows as tuples; numbers that no row has are passed over. Not of events.
    fn pick<'py>(&self, py: Python<'py>, numbers: Vec<usize>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let (Rows::Ready(table) | Rows::Found(table, _)) = &self.0 else { return Ok(Vec::new()) };
        let one = |row: usize| {
            let values = table.columns.iter().map(|(_, values)| object(py, values, row));
            PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)
        };
        numbers.into_iter().filter(|&row| row < table.len()).map(one).collect()
    }

    /// The numbers of the rows that meet a condition. Events are chosen by a selection.
    #[pyo3(name = "where")]
    fn where_(&self, py: Python<'_>, condition: Condition) -> PyResult<Vec<u32>> {
        let (Rows::Ready(table) | Rows::Found(table, _)) = &self.0 else {
            return Err(PyRuntimeError::new_err("events are not kept as a table"));
        };
        py.detach(|| filter::rows(table, &condition.0)).map_err(unfit)
    }

    /// Of these rows those whose groups cost enough, by capture; see [`filter::reaching`].
    fn reaching(
        &self,
        py: Python<'_>,
        rows: Vec<u32>,
        cost: &str,
        group: Vec<String>,
        least: Vec<i64>,
    ) -> PyResult<Vec<u32>> {
        let (Rows::Ready(table) | Rows::Found(table, _)) = &self.0 else {
            return Err(PyRuntimeError::new_err("events are not kept as a table"));
        };
        Ok(py.detach(|| filter::reaching(table, &rows, cost, &group, &least)))
    }

    /// Rows as JSON objects with these members, separated by commas, for a list that is a member of a document;
    /// `quoted` makes a JSON string of a text.
    fn json(&self, columns: Vec<String>, quoted: &Bound<'_, PyAny>, start: usize, stop: usize) -> PyResult<String> {
        let (Rows::Ready(table) | Rows::Found(table, _)) = &self.0 else {
            return Err(PyRuntimeError::new_err("events are not kept as a table"));
        };
        let rows = start..stop.min(table.len());
        let words_of = |name: &String| {
            let values = table.column(name).ok_or_else(|| PyKeyError::new_err(name.clone()))?;
            quoted_words(values, rows.clone(), quoted)
        };
        let words = columns.iter().map(words_of).collect::<PyResult<Vec<_>>>()?;
        Ok(quoted.py().detach(|| json::objects(table, &columns, &words, rows)))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer that asks for other types casts by itself, which the protocol allows.
        drop(requested_schema);
        let batches = self.tables().map(|table| batch(&table));
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(RecordBatchIterator::new(batches, self.schema()?));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema()?.as_ref()).map_err(broken)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

/// The words of a text column that are in these rows, as JSON strings.
fn quoted_words(values: &Values, rows: Range<usize>, quoted: &Bound<'_, PyAny>) -> PyResult<Vec<Option<String>>> {
    let Values::Text { keys, words } = values else { return Ok(Vec::new()) };
    let mut made: Vec<Option<String>> = vec![None; words.len()];
    for &key in keys.get(rows).unwrap_or_default() {
        if let (Some(unmade @ None), Some(word)) = (made.get_mut(key as usize), words.get(key as usize)) {
            *unmade = Some(quoted.call1((word,))?.extract()?);
        }
    }
    Ok(made)
}

/// One value of a row that is there.
fn object<'py>(py: Python<'py>, values: &Values, row: usize) -> PyResult<Bound<'py, PyAny>> {
    match values {
        Values::Int(values) => values[row].into_bound_py_any(py),
        Values::Float(values) => values[row].into_bound_py_any(py),
        Values::Bool(values) => values[row].into_bound_py_any(py),
        Values::List(values) => values[row].as_slice().into_bound_py_any(py),
        Values::Text { keys, words } => words.get(keys[row] as usize).into_bound_py_any(py),
    }
}

/// The first so many values.
fn objects<'py>(py: Python<'py>, values: &Values, most: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match values {
        Values::Int(values) => values.iter().take(most).map(|value| value.into_bound_py_any(py)).collect(),
        Values::Float(values) => values.iter().take(most).map(|value| value.into_bound_py_any(py)).collect(),
        Values::Bool(values) => values.iter().take(most).map(|value| value.into_bound_py_any(py)).collect(),
        Values::List(values) => values.iter().take(most).map(|value| value.into_bound_py_any(py)).collect(),
        Values::Text { keys, words } => {
            let none = py.None().into_bound(py);
            let mut made: Vec<Option<Bound<'py, PyAny>>> = vec![None; words.len()];
            let text = |&key: &u32| match (made.get_mut(key as usize), words.get(key as usize)) {
                (Some(Some(text)), _) => Ok(text.clone()),
                (Some(unmade), Some(word)) => Ok(unmade.insert(word.into_bound_py_any(py)?).clone()),
                _ => Ok(none.clone()),
            };
            keys.iter().take(most).map(text).collect()
        }
    }
}
