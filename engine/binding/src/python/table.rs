//! A table as Python sees it: lists for small things, the Arrow PyCapsule protocol for all.

use super::arrow::{batch, broken, capsule};
use super::detached;
use super::errors::Raised;
use super::event_batches::{EventBatches, Events};
use super::event_frame::{self, FrameColumn};
use super::filter::Condition;
use super::json;
use crate::session::own_workers::with_own_workers;
use arrow_array::RecordBatch;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use detect::tables;
use kit::table_support::builder::BuiltTable;
use kit::table_support::provenance::Provenance;
use path::partition::group_by;
use path::partition::pieces::Pieces;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PyTuple};
use query::event_rows;
use query::filter::{self, groups};
use query::selection::Selection;
use query::source_lines::Arguments;
use std::ops::Range;
use std::sync::Arc;
use trace::store::table::{Table, TextColumn, Values};
use trace::store::trace::Trace;

/// Where the rows of a table come from.
enum Rows {
    /// A computed table.
    Ready(Arc<Table>),
    /// A computed table with the events of each row.
    Found(Arc<Table>, Arc<Vec<Provenance>>),
    /// The event table, built in batches.
    Events(Events),
    /// The partition at its finest, built in batches.
    Finest(Finest),
}

/// Pieces of the partition. There may be one for every second event.
#[derive(Clone)]
pub struct Finest {
    pub trace: Arc<Trace>,
    pub pieces: Arc<Pieces>,
    pub order: Arc<Vec<u32>>,
}

/// Rows of a long table that are made at once.
const ROWS_AT_ONCE: usize = 1 << 14;

impl Finest {
    /// These rows, with all columns or only some.
    fn table(&self, rows: Range<usize>, columns: Option<&[String]>) -> Table {
        let numbers = self
            .order
            .get(rows.start..rows.end.min(self.order.len()))
            .unwrap_or_default();
        group_by::rows(&self.trace, &self.pieces, numbers, columns)
    }

    /// The pieces of the table from a row on, one after the other.
    fn tables(
        self,
        from: usize,
        columns: Option<Vec<String>>,
    ) -> impl Iterator<Item = Table> + Send {
        let starts = (from..self.order.len()).step_by(ROWS_AT_ONCE);
        starts.map(move |start| self.table(start..start + ROWS_AT_ONCE, columns.as_deref()))
    }
}

/// A table.
#[pyclass(name = "Table", module = "tracealyze._engine", frozen)]
pub struct PyTable(Rows);

impl From<Table> for PyTable {
    fn from(table: Table) -> PyTable {
        PyTable(Rows::Ready(Arc::new(table)))
    }
}

impl From<BuiltTable> for PyTable {
    fn from(found: BuiltTable) -> PyTable {
        PyTable(Rows::Found(Arc::new(found.table), Arc::new(found.members)))
    }
}

impl From<Finest> for PyTable {
    fn from(finest: Finest) -> PyTable {
        PyTable(Rows::Finest(finest))
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
        let pieces: Vec<_> = event_rows::pieces(&self.trace).collect();
        let mut left = self.limit.unwrap_or(usize::MAX);
        let mut arguments = Arguments::default();
        pieces.into_iter().map_while(move |piece| {
            if left == 0 {
                return None;
            }
            let (rows, table) = with_own_workers(|| {
                let selection = Selection::new(&self.trace, &self.choice, &self.queries).ok()?;
                let rows: Vec<u32> = piece.filter(|&row| selection.has(row)).take(left).collect();
                Some((rows.len(), self.table(&selection, &rows, &mut arguments)))
            })?;
            left -= rows;
            Some(table)
        })
    }

    /// These rows with the requested columns. Arguments are included only if requested by name.
    fn table(&self, selection: &Selection<'_>, rows: &[u32], arguments: &mut Arguments) -> Table {
        let mut table = event_rows::of_rows(&self.trace, selection, rows);
        if self
            .columns
            .as_ref()
            .is_some_and(|columns| columns.iter().any(|column| column == "args"))
        {
            table
                .columns
                .push(("args".to_owned(), arguments.column(&self.trace, rows)));
        }
        chosen(table, self.columns.as_deref())
    }

    fn none(&self) -> Option<Table> {
        let selection = Selection::new(&self.trace, &self.choice, &self.queries).ok()?;
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
            Rows::Ready(table) | Rows::Found(table, _) => {
                Box::new(std::iter::once(Arc::clone(table)))
            }
            Rows::Events(events) => Box::new(events.clone().tables().map(Arc::new)),
            Rows::Finest(finest) => Box::new(finest.clone().tables(0, None).map(Arc::new)),
        }
    }

    /// A table in memory that contains at least these rows and columns, and the range of these rows in it; `None` for
    /// events.
    fn part(
        &self,
        rows: Range<usize>,
        columns: Option<&[String]>,
    ) -> Option<(Arc<Table>, Range<usize>)> {
        match &self.0 {
            Rows::Ready(table) | Rows::Found(table, _) => {
                let end = rows.end.min(table.len());
                Some((Arc::clone(table), rows.start.min(end)..end))
            }
            Rows::Finest(finest) => {
                let table = finest.table(rows, columns);
                let all = 0..table.len();
                Some((Arc::new(table), all))
            }
            Rows::Events(_) => None,
        }
    }

    /// The table, if it is in memory as a whole.
    pub fn whole(&self) -> PyResult<Arc<Table>> {
        match &self.0 {
            Rows::Ready(table) | Rows::Found(table, _) => Ok(Arc::clone(table)),
            Rows::Events(_) | Rows::Finest(_) => Err(not_kept()),
        }
    }

    /// The events of rows; empty if the table does not know them.
    pub fn members(&self, rows: &[usize]) -> Vec<Provenance> {
        let Rows::Found(_, members) = &self.0 else {
            return Vec::new();
        };
        rows.iter()
            .filter_map(|&row| members.get(row).cloned())
            .collect()
    }

    /// A table with these columns, of any number of rows.
    fn example(&self) -> PyResult<Arc<Table>> {
        match &self.0 {
            Rows::Ready(table) | Rows::Found(table, _) => Ok(Arc::clone(table)),
            Rows::Events(events) => events
                .none()
                .map(Arc::new)
                .ok_or_else(|| PyRuntimeError::new_err("the choice was lost")),
            Rows::Finest(finest) => Ok(Arc::new(finest.table(0..0, None))),
        }
    }

    fn schema(&self) -> PyResult<SchemaRef> {
        Ok(batch(&*self.example()?).map_err(broken)?.schema())
    }
}

/// The values of a column that Python stored.
fn stored(values: &Bound<'_, PyAny>, kind: &str) -> PyResult<Values> {
    Ok(match kind {
        "f64" => Values::Float(values.extract()?),
        "bool" => Values::Bool(values.extract()?),
        "list" => Values::List(values.extract()?),
        "dict" => {
            let mut column = TextColumn::default();
            values
                .extract::<Vec<Option<String>>>()?
                .iter()
                .for_each(|text| column.push(text.as_deref()));
            column.finish()
        }
        _ => Values::Int(values.extract()?),
    })
}

#[pymethods]
impl PyTable {
    /// A table with these columns, such as one that was pickled. Its rows do not know their events.
    #[staticmethod]
    fn of_columns(name: &str, columns: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<PyTable> {
        let schema = tables::schema_of(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        let columns: Vec<(String, Values)> = columns
            .into_iter()
            .map(|(column, values)| {
                let values = stored(&values, schema.kind_of(&column))?;
                Ok((column, values))
            })
            .collect::<PyResult<_>>()?;
        Ok(Table {
            name: schema.name,
            columns,
        }
        .into())
    }

    #[getter]
    fn name(&self) -> &'static str {
        match &self.0 {
            Rows::Ready(table) | Rows::Found(table, _) => table.name,
            Rows::Events(_) => "events",
            Rows::Finest(_) => "partition",
        }
    }

    #[getter]
    fn columns(&self) -> PyResult<Vec<String>> {
        Ok(self
            .example()?
            .columns
            .iter()
            .map(|(name, _)| name.clone())
            .collect())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        match &self.0 {
            Rows::Ready(table) | Rows::Found(table, _) => table.len(),
            Rows::Finest(finest) => finest.order.len(),
            Rows::Events(events) => detached(py, || {
                let selection = Selection::new(&events.trace, &events.choice, &events.queries);
                let rows = selection.map_or(0, |selection| {
                    (0..events.trace.events.len())
                        .filter(|&row| selection.has(row))
                        .count()
                });
                rows.min(events.limit.unwrap_or(usize::MAX))
            }),
        }
    }

    /// The values of one column.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        if self.example()?.column(name).is_none() {
            return Err(PyKeyError::new_err(name.to_owned()));
        }
        let tables: Box<dyn Iterator<Item = Arc<Table>> + Send> = match &self.0 {
            Rows::Finest(finest) => Box::new(
                finest
                    .clone()
                    .tables(0, Some(vec![name.to_owned()]))
                    .map(Arc::new),
            ),
            _ => self.tables(),
        };
        for table in tables {
            let values = table
                .column(name)
                .ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
            for value in objects(py, values, 0..table.len())? {
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
            let columns: Vec<&Values> = table.columns.iter().map(|(_, values)| values).collect();
            append_rows(&all, &columns, 0..rows)?;
            if left == 0 {
                break;
            }
        }
        Ok(all)
    }

    /// Some rows as tuples of these columns. Not of events.
    fn part_of<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<String>,
        start: usize,
        stop: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let (table, rows) = self
            .part(start..stop, Some(&columns))
            .ok_or_else(not_kept)?;
        let all = PyList::empty(py);
        append_rows(&all, &named(&table, &columns)?, rows)?;
        Ok(all)
    }

    /// Whether the events of rows are known.
    #[getter]
    fn knows_events(&self) -> bool {
        matches!(self.0, Rows::Found(..))
    }

    /// These rows as tuples; numbers that no row has are passed over. Not of events.
    fn pick<'py>(
        &self,
        py: Python<'py>,
        numbers: Vec<usize>,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let one = |(table, row): (Arc<Table>, usize)| {
            let values = table
                .columns
                .iter()
                .map(|(_, values)| object(py, values, row));
            PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)
        };
        let found = numbers.into_iter().filter_map(|row| {
            let (table, mut rows) = self.part(row..row.saturating_add(1), None)?;
            rows.next().map(|row| (table, row))
        });
        found.map(one).collect()
    }

    /// The numbers of the rows that meet a condition. Events are chosen by a selection.
    #[pyo3(name = "where")]
    fn where_(&self, py: Python<'_>, condition: Condition) -> PyResult<Vec<u32>> {
        if matches!(self.0, Rows::Events(_)) {
            return Err(not_kept());
        }
        detached(py, || {
            let mut before = 0;
            let mut all = Vec::new();
            for table in self.tables() {
                all.extend(
                    filter::rows(&table, &condition.0)
                        .raised()?
                        .into_iter()
                        .map(|row| before + row),
                );
                before += table.len() as u32;
            }
            Ok(all)
        })
    }

    /// The rows whose groups reach the minimum cost of their capture; see [`filter::reaching`].
    fn reaching(
        &self,
        py: Python<'_>,
        rows: Vec<u32>,
        cost: &str,
        group: Vec<String>,
        least: Vec<i64>,
    ) -> PyResult<Vec<u32>> {
        let (table, _) = self.part(0..usize::MAX, None).ok_or_else(not_kept)?;
        Ok(detached(py, || {
            groups::reaching(&table, &rows, cost, &group, &least)
        }))
    }

    /// Rows as JSON objects with these members, separated by commas, for a list that is a member of a document; code
    /// points in the hidden ranges are escaped.
    fn json(
        &self,
        py: Python<'_>,
        columns: Vec<String>,
        hidden: Vec<(u32, u32)>,
        start: usize,
        stop: usize,
    ) -> PyResult<String> {
        let part = detached(py, || self.part(start..stop, Some(&columns)));
        let (table, rows) = part.ok_or_else(not_kept)?;
        named(&table, &columns)?;
        Ok(detached(py, || {
            json::objects(&table, &columns, &hidden, rows)
        }))
    }

    /// Hand over all rows as JSON objects, one per line, a piece at a time; code points in the hidden ranges are escaped.
    fn json_lines(
        &self,
        py: Python<'_>,
        hidden: Vec<(u32, u32)>,
        write: Py<PyAny>,
    ) -> PyResult<()> {
        let mut tables = self.tables();
        while let Some(text) = detached(py, || {
            tables.next().map(|table| json::lines(&table, &hidden))
        }) {
            write.call1(py, (PyBytes::new(py, text.as_bytes()),))?;
        }
        Ok(())
    }

    /// The events as whole columns, for a DataFrame: see `event_frame`. `None` for other tables.
    fn frame_columns(&self, py: Python<'_>) -> Option<Vec<FrameColumn>> {
        match &self.0 {
            Rows::Events(events) => detached(py, || event_frame::columns(events)),
            _ => None,
        }
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let made = match &self.0 {
            Rows::Events(events) => detached(py, || EventBatches::new(events.clone())),
            _ => None,
        };
        let batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send> = match made {
            Some(batches) => Box::new(batches),
            None => Box::new(self.tables().map(|table| batch(&table))),
        };
        capsule(py, batches, self.schema()?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema()?.as_ref()).map_err(broken)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

fn not_kept() -> PyErr {
    PyRuntimeError::new_err("events are not kept as a table")
}

fn named<'table>(table: &'table Table, columns: &[String]) -> PyResult<Vec<&'table Values>> {
    let missing = |name: &String| PyKeyError::new_err(name.clone());
    columns
        .iter()
        .map(|name| table.column(name).ok_or_else(|| missing(name)))
        .collect()
}

fn append_rows(all: &Bound<'_, PyList>, columns: &[&Values], rows: Range<usize>) -> PyResult<()> {
    let py = all.py();
    let columns: Vec<_> = columns
        .iter()
        .map(|values| objects(py, values, rows.clone()))
        .collect::<PyResult<Vec<_>>>()?;
    (0..rows.len()).try_for_each(|row| {
        all.append(PyTuple::new(py, columns.iter().map(|column| &column[row]))?)
    })
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

/// The values of some rows that are there.
fn objects<'py>(
    py: Python<'py>,
    values: &Values,
    rows: Range<usize>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match values {
        Values::Int(values) => values[rows]
            .iter()
            .map(|value| value.into_bound_py_any(py))
            .collect(),
        Values::Float(values) => values[rows]
            .iter()
            .map(|value| value.into_bound_py_any(py))
            .collect(),
        Values::Bool(values) => values[rows]
            .iter()
            .map(|value| value.into_bound_py_any(py))
            .collect(),
        Values::List(values) => values[rows]
            .iter()
            .map(|value| value.into_bound_py_any(py))
            .collect(),
        Values::Text { keys, words } => {
            let none = py.None().into_bound(py);
            let mut made: Vec<Option<Bound<'py, PyAny>>> = vec![None; words.len()];
            let text = |&key: &u32| match (made.get_mut(key as usize), words.get(key as usize)) {
                (Some(Some(text)), _) => Ok(text.clone()),
                (Some(unmade), Some(word)) => {
                    Ok(unmade.insert(word.into_bound_py_any(py)?).clone())
                }
                _ => Ok(none.clone()),
            };
            keys[rows].iter().map(text).collect()
        }
    }
}
