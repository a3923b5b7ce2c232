//! Timelines for other programs, as Python writes them.

use super::detached;
use super::errors::Raised;
use super::selection::PySelection;
use super::table::PyTable;
use super::trace::PyTrace;
use export::formats::{chrome, perfetto};
use export::timeline::owners::Owners;
use export::timeline::text::Inert;
use export::timeline::{Moment, Path, Timeline, slices};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use query::cache::QueryCache;
use query::selection::{Criteria, Selection};
use query::time_bounds::TimeBoundError;
use std::io;
use std::sync::Arc;
use trace::store::table::Table;
use trace::store::trace::Trace;

/// A timeline that can be written.
#[pyclass(name = "Timeline", module = "tracealyze._engine", frozen)]
pub struct PyTimeline {
    trace: Arc<Trace>,
    queries: Arc<QueryCache>,
    choice: Criteria,
    owners: Owners,
    min_ns: i64,
    zero_ns: i64,
    inert: Inert,
    path: Option<(Arc<Table>, Vec<String>)>,
}

/// A finding: its title, its moment and its length, its rule and its message, and the number of a task.
type FoundMoment = (String, i64, i64, String, String, i64);

#[pymethods]
impl PyTimeline {
    /// Of the chosen events, with the tasks of this table and at most about so many slices. Time 0 is `start_ns`, or the
    /// first birth. The path is a table and the names of its rows.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    #[pyo3(signature = (trace, selection, *, tasks, most_slices, start_ns, path, hidden))]
    fn new(
        py: Python<'_>,
        trace: &PyTrace,
        selection: &PySelection,
        tasks: &PyTable,
        most_slices: usize,
        start_ns: Option<i64>,
        path: Option<(PyRef<'_, PyTable>, Vec<String>)>,
        hidden: Vec<(u32, u32)>,
    ) -> PyResult<PyTimeline> {
        let path = path
            .map(|(table, names)| PyResult::Ok((table.whole()?, names)))
            .transpose()?;
        let (session, choice, tasks) = (trace.session(), selection.0.clone(), tasks.whole()?);
        let made = detached(py, || -> Result<PyTimeline, TimeBoundError> {
            let owners = Owners::new(&tasks);
            let births = owners.iter().filter_map(|owner| owner.birth_ns);
            let chosen = session.selection(&choice)?;
            Ok(PyTimeline {
                min_ns: slices::min_ns(session.trace(), &chosen, most_slices),
                zero_ns: births.chain(start_ns).min().unwrap_or(0),
                trace: Arc::clone(session.trace()),
                queries: Arc::clone(session.queries()),
                choice,
                owners,
                inert: Inert::new(hidden),
                path,
            })
        });
        made.raised()
    }

    /// Calls below this length are taken together with their neighbours; 0 if none are.
    #[getter]
    fn min_ns(&self) -> i64 {
        self.min_ns
    }

    /// Time 0 of the file, on the capture's clock.
    #[getter]
    fn zero_ns(&self) -> i64 {
        self.zero_ns
    }

    /// Whether an id was reused, so that its later lives have another number in the file.
    #[getter]
    fn has_reused_ids(&self) -> bool {
        self.owners.has_reused()
    }

    /// Hand over a Perfetto trace, in pieces.
    fn write_perfetto(
        &self,
        py: Python<'_>,
        findings: Vec<FoundMoment>,
        write: Py<PyAny>,
    ) -> PyResult<()> {
        let moments: Vec<Moment> = findings.into_iter().map(moment).collect();
        py.detach(|| {
            self.written(&moments, |timeline| {
                perfetto::write(timeline, &mut Taker(write))
            })
        })
    }

    /// Hand over the JSON of chrome://tracing, in pieces. The notes tell what it leaves out.
    fn write_chrome(&self, py: Python<'_>, notes: Vec<String>, write: Py<PyAny>) -> PyResult<()> {
        py.detach(|| {
            self.written(&[], |timeline| {
                chrome::write(timeline, &notes, &mut Taker(write))
            })
        })
    }
}

impl PyTimeline {
    fn written(
        &self,
        moments: &[Moment],
        write: impl FnOnce(&Timeline<'_>) -> io::Result<()>,
    ) -> PyResult<()> {
        let selection = Selection::new(&self.trace, &self.choice, &self.queries).raised()?;
        let path = self.path.as_ref();
        Ok(write(&Timeline {
            trace: &self.trace,
            selection: &selection,
            min_ns: self.min_ns,
            owners: &self.owners,
            zero_ns: self.zero_ns,
            path: path.map(|(table, names)| Path::new(table, names)),
            moments,
            inert: &self.inert,
        })?)
    }
}

fn moment((title, at_ns, dur_ns, rule, message, task): FoundMoment) -> Moment {
    Moment {
        title,
        at_ns,
        dur_ns,
        rule,
        message,
        task,
    }
}

/// A function of Python that takes bytes. Its exception is the error, and is raised again in Python.
struct Taker(Py<PyAny>);

impl io::Write for Taker {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        Python::attach(|py| self.0.call1(py, (PyBytes::new(py, piece),)).map(drop))?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
