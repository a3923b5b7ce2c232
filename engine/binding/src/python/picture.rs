//! A drawn timeline as Python sees it.

use super::table::PyTable;
use parsers::syscalls::Class;
use path::waits::edge::{Confidence, WakeKind};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use report::picture::Picture;
use report::tables::chart_rows::ChartRows;
use trace::store::index::TaskId;

/// Its sections, limits, and sums.
pub(super) fn described<'py>(py: Python<'py>, picture: &Picture) -> PyResult<Bound<'py, PyDict>> {
    let (dict, limits, folded_ns) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
    for &(name, value) in &picture.limits {
        limits.set_item(name, value)?;
    }
    for (class, &ns) in Class::ALL.iter().zip(&picture.folded_ns) {
        folded_ns.set_item(class.name(), ns)?;
    }
    let sections = PyList::empty(py);
    for section in &picture.sections {
        let each = PyDict::new(py);
        each.set_item("name", &section.name)?;
        each.set_item("rows", section.rows)?;
        each.set_item("columns", &section.columns)?;
        each.set_item("raw_bytes", section.raw_bytes)?;
        each.set_item("bytes", PyBytes::new(py, &section.bytes))?;
        sections.append(each)?;
    }
    dict.set_item("sections", sections)?;
    dict.set_item("limits", limits)?;
    dict.set_item("folded_ns", folded_ns)?;
    dict.set_item("classes", Class::ALL.map(Class::name))?;
    dict.set_item("wake_kinds", WakeKind::ALL.map(WakeKind::name))?;
    dict.set_item(
        "confidences",
        [Confidence::Measured, Confidence::Inferred].map(Confidence::name),
    )?;
    Ok(dict)
}

/// The rows of a chart, as `tracealyze/_engine.pyi` has them.
pub(super) fn rows(py: Python<'_>, found: ChartRows) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let listed = found.listed.iter().map(|row| {
        (
            row.depth,
            row.parent.map(TaskId::raw),
            row.is_leaf,
            row.start_ns,
            row.end_ns,
            row.exclusive_ns,
        )
    });
    dict.set_item("has_ids", found.has_ids)?;
    dict.set_item("listed", listed.collect::<Vec<_>>())?;
    dict.set_item("processes", PyTable::from(found.table))?;
    let groups = found
        .groups
        .into_iter()
        .map(|group| (group.name, group.processes, group.exclusive_ns, group.spans));
    dict.set_item("groups", groups.collect::<Vec<_>>())?;
    dict.set_item("of_task", found.of_task)?;
    Ok(dict)
}
