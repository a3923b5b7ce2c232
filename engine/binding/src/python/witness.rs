//! What the kernel saw, as Python sees it.

use crate::session::Session;
use parsers::NO_ID;
use path::critical_path::witnessed_time::{PathTime, WitnessedTime};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use trace::store::index::TaskId;

/// Names of threads that ran instead are a few.
const MAX_NAMES: usize = 8;

/// Time on the path outside of calls and in them, by process, and the recording of the events.
pub(super) fn described<'py>(
    py: Python<'py>,
    session: &Session,
    found: &WitnessedTime<'_>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("outside", times(py, &found.outside)?)?;
    dict.set_item("inside", times(py, &found.inside)?)?;
    let instead = PyList::empty(py);
    for (name, ns) in found.ran_instead().into_iter().take(MAX_NAMES) {
        instead.append((String::from_utf8_lossy(&name).into_owned(), ns))?;
    }
    dict.set_item("ran_instead", instead)?;
    dict.set_item("processes", processes(py, session, found)?)?;
    dict.set_item("recordings", recordings(py, session)?)?;
    Ok(dict)
}

fn times<'py>(py: Python<'py>, time: &PathTime) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("ns", time.sum_ns())?;
    dict.set_item("cpu_ns", time.cpu_ns)?;
    dict.set_item("ready_ns", time.ready_ns)?;
    dict.set_item("blocked_ns", time.blocked_ns)?;
    dict.set_item("tracing_ns", time.tracing_ns)?;
    dict.set_item("unknown_ns", time.unknown_ns)?;
    dict.set_item("faults", time.faults)?;
    Ok(dict)
}

fn processes<'py>(
    py: Python<'py>,
    session: &Session,
    found: &WitnessedTime<'_>,
) -> PyResult<Bound<'py, PyList>> {
    let trace = session.trace();
    let mut mains: Vec<TaskId> = found.by_process.keys().copied().collect();
    mains.sort_unstable();
    let list = PyList::empty(py);
    for main in mains {
        let (Some(task), Some(time)) = (trace.tasks.get(main), found.by_process.get(&main)) else {
            continue;
        };
        let dict = times(py, time)?;
        let program = trace.program_index().name_of(main);
        let program = program.map(|program| trace.events.texts.string(program.path).into_owned());
        dict.set_item("pid", Some(task.pid).filter(|&pid| pid != NO_ID))?;
        dict.set_item("program", program)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn recordings<'py>(py: Python<'py>, session: &Session) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for capture in 0..session.trace().captures.len() as u32 {
        let Some(kernel) = session.trace().scheduling(capture) else {
            continue;
        };
        let (alignment, (events, lost)) = (kernel.alignment(), kernel.events());
        let dict = PyDict::new(py);
        dict.set_item("capture", capture)?;
        dict.set_item("events", events)?;
        dict.set_item("lost", lost)?;
        dict.set_item("offset_ns", alignment.offset_ns)?;
        let clock = if alignment.is_printed {
            "printed"
        } else {
            "inferred"
        };
        dict.set_item("clock", clock)?;
        dict.set_item("compared", alignment.compared)?;
        dict.set_item("fitting", alignment.fitting)?;
        list.append(dict)?;
    }
    Ok(list)
}
