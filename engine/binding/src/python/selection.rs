//! The selection of events that Python passes.

use super::errors::Raised;
use super::filter::Condition;
use pyo3::prelude::*;
use query::filter::events::EventFilter;
use query::selection::Criteria;

/// Which events count.
#[pyclass(name = "Selection", module = "tracealyze._engine", frozen)]
pub struct PySelection(pub(super) Criteria);

#[pymethods]
impl PySelection {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    #[pyo3(signature = (pids = Vec::new(), programs = Vec::new(), from_ = None, to = None, root = None, syscalls = Vec::new(), condition = None, capture = None))]
    fn new(
        pids: Vec<i32>,
        programs: Vec<String>,
        from_: Option<String>,
        to: Option<String>,
        root: Option<i32>,
        syscalls: Vec<String>,
        condition: Option<Condition>,
        capture: Option<u32>,
    ) -> PyResult<PySelection> {
        let condition = condition
            .map(|condition| EventFilter::new(condition.0))
            .transpose()
            .raised()?;
        Ok(PySelection(Criteria {
            capture,
            pids,
            programs,
            from: from_,
            to,
            root,
            syscalls,
            condition,
        }))
    }
}
