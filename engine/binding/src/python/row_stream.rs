//! The events of captures as Arrow record batches, with hardly more memory for a large capture than for a small one.
//!
//! ```text
//! capture ─► rows in an unnamed temporary file ─► a few segments in memory ─► batches, each with its own dictionaries
//! ```
//! No batch is made before the capture has been read: later lines show to which process earlier ones belong.

use super::arrow::{broken, capsule};
use super::capture::facts;
use super::event_batches::{BatchMaker, Dictionaries};
use super::json::{self, Hidden};
use super::trace::{Recorded, recorded_facts};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use query::cache::QueryCache;
use query::event_rows;
use query::selection::{Criteria, Selection};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use trace::ingest::read;
use trace::store::event::SEGMENT_ROWS;
use trace::store::scratch::Scratch;
use trace::store::trace::{Capture, Trace};

/// The events of captures, which can be taken once.
#[pyclass(name = "EventStream", module = "tracealyze._engine", frozen)]
pub struct PyEventStream {
    captures: Vec<Capture>,
    rows: u32,
    left: Mutex<Option<RowBatches>>,
}

/// Read captures for a stream of their events. Rows are kept in an unnamed temporary file in `folder`.
#[pyfunction]
#[pyo3(signature = (captures, folder, input_format = None, progress = None, recorded = Vec::new()))]
pub fn stream_events(
    py: Python<'_>,
    captures: Vec<Vec<String>>,
    folder: String,
    input_format: Option<String>,
    progress: Option<Py<PyAny>>,
    recorded: Vec<Option<Recorded>>,
) -> PyResult<PyEventStream> {
    let recorded = recorded_facts(recorded);
    let (trace, scratch) = super::trace::told(py, progress, |tell| {
        read::read_rows(&captures, &recorded, input_format.as_deref(), &folder, tell)
    })?;
    let (captures, rows) = (trace.captures.clone(), trace.events.len());
    Ok(PyEventStream {
        captures,
        rows,
        left: Mutex::new(Some(RowBatches::new(trace, scratch))),
    })
}

#[pymethods]
impl PyEventStream {
    fn captures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let captures = self.captures.iter().map(|capture| facts(py, capture));
        PyList::new(py, captures.collect::<PyResult<Vec<Bound<'py, PyDict>>>>()?)
    }

    /// Hand over the events as JSON objects, one per line, a piece at a time; code points in the hidden ranges are escaped.
    fn json_lines(
        &self,
        py: Python<'_>,
        hidden: Vec<(u32, u32)>,
        write: Py<PyAny>,
    ) -> PyResult<()> {
        let mut batches = self.take()?;
        while !batches.pieces.as_slice().is_empty() {
            let texts = py.detach(|| batches.next_pieces(|all, rows| all.lines(rows, &hidden)))?;
            for text in texts {
                write.call1(py, (PyBytes::new(py, text.as_bytes()),))?;
            }
        }
        Ok(())
    }

    fn __len__(&self) -> usize {
        self.rows as usize
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = self.take()?;
        let schema = batches.batch(&[]).map_err(broken)?.schema();
        capsule(py, batches, schema)
    }
}

impl PyEventStream {
    fn take(&self) -> PyResult<RowBatches> {
        let left = self
            .left
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        left.ok_or_else(|| PyRuntimeError::new_err("the events of this stream were taken before"))
    }
}

/// All rows as batches, one per segment.
struct RowBatches {
    trace: Trace,
    scratch: Arc<Scratch>,
    queries: QueryCache,
    pieces: std::vec::IntoIter<Range<u32>>,
    ready: VecDeque<Result<RecordBatch, ArrowError>>,
}

impl RowBatches {
    fn new(trace: Trace, scratch: Arc<Scratch>) -> RowBatches {
        let pieces: Vec<Range<u32>> = event_rows::pieces(&trace).collect();
        RowBatches {
            trace,
            scratch,
            queries: QueryCache::default(),
            pieces: pieces.into_iter(),
            ready: VecDeque::new(),
        }
    }

    fn batch(&self, rows: &[u32]) -> Result<RecordBatch, ArrowError> {
        let failed = |message: String| ArrowError::ExternalError(message.into());
        let selection = Selection::new(&self.trace, &Criteria::default(), &self.queries)
            .map_err(|_| failed("no choice of events".to_owned()))?;
        let dictionaries = Dictionaries::of_rows(&self.trace, &selection, rows)
            .ok_or_else(|| failed("the texts of some rows take more than 2 GB".to_owned()))?;
        let maker = BatchMaker {
            trace: &self.trace,
            dictionaries: &dictionaries,
            columns: None,
        };
        maker.batch(&selection, rows, None)
    }

    /// Make something of each of the next pieces, one per core.
    ///
    /// # Errors
    /// The rows could not be read from the temporary file.
    fn next_pieces<T: Send>(
        &mut self,
        make: impl Fn(&RowBatches, &[u32]) -> T + Sync,
    ) -> std::io::Result<Vec<T>> {
        let pieces: Vec<Range<u32>> = self
            .pieces
            .by_ref()
            .take(rayon::current_num_threads())
            .collect();
        let segment = |piece: &Range<u32>| piece.start as usize / SEGMENT_ROWS;
        let made: Vec<_> = pieces
            .par_iter()
            .map(|piece| {
                self.trace.events.load_segment(segment(piece));
                make(self, &piece.clone().collect::<Vec<u32>>())
            })
            .collect();
        for piece in &pieces {
            self.trace.events.unload_segment(segment(piece));
        }
        match self.scratch.failed() {
            Some(error) => {
                self.pieces = Vec::new().into_iter();
                Err(error)
            }
            None => Ok(made),
        }
    }

    fn lines(&self, rows: &[u32], hidden: &Hidden) -> String {
        let everything = Criteria::default();
        Selection::new(&self.trace, &everything, &self.queries)
            .map(|selection| {
                json::lines(&event_rows::of_rows(&self.trace, &selection, rows), hidden)
            })
            .unwrap_or_default()
    }
}

impl Iterator for RowBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() && !self.pieces.as_slice().is_empty() {
            self.ready = match self.next_pieces(RowBatches::batch) {
                Ok(batches) => batches.into(),
                Err(error) => VecDeque::from([Err(ArrowError::from(error))]),
            };
        }
        self.ready.pop_front()
    }
}
