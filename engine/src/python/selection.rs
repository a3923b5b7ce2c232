//! Which events count, as Python says it.

use super::filter::{Condition, unfit};
use crate::python::{InputError, UsageError};
use crate::query::filter::events::EventFilter;
use crate::query::selection::Criteria;
use crate::query::time_bounds::TimeBoundError;
use pyo3::prelude::*;

/// Which events count.
#[pyclass(name = "Selection", module = "tracealyze._engine", frozen)]
pub struct PySelection(pub(super) Criteria);

#[pymethods]
impl PySelection {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "Python says them by name")]
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
        let condition = condition.map(|condition| EventFilter::new(condition.0)).transpose().map_err(unfit)?;
        Ok(PySelection(Criteria { capture, pids, programs, from: from_, to, root, syscalls, condition }))
    }
}

impl From<TimeBoundError> for PyErr {
    fn from(error: TimeBoundError) -> PyErr {
        match error {
            TimeBoundError::Unknown(text) => {
                let forms = ["12.5", "+12.5", "09:30:00.25", "line:4711", "/open.*ENOENT/"].map(str::to_owned).to_vec();
                UsageError::new_err(("time", text, forms))
            }
            TimeBoundError::NoExpression(text, why) => UsageError::new_err(("regular expression", text, vec![why])),
            TimeBoundError::NoLine(path, text) => InputError::new_err((path, "no_line", vec![text])),
            TimeBoundError::PastEnd(path, lines) => InputError::new_err((path, "past_end", vec![lines.to_string()])),
            TimeBoundError::Unreadable(path, why) => InputError::new_err((path, why, Vec::<String>::new())),
        }
    }
}
