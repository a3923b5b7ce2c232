//! A drawn timeline as Python sees it.

use crate::picture::Picture;
use crate::waits::edge::{Confidence, WakeKind};
use parsers::syscalls::Class;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

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
    dict.set_item("confidences", [Confidence::Measured, Confidence::Inferred].map(Confidence::name))?;
    Ok(dict)
}
