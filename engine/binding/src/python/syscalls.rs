//! The table of syscalls, as far as metrics and the gate need it.

use parsers::syscalls::{Family, SYSCALLS, Syscall};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet};

/// What is known of a syscall.
#[pyclass(name = "Syscall", module = "tracealyze._engine", frozen, get_all)]
pub struct PySyscall {
    name: &'static str,
    alias_of: Option<&'static str>,
    families: Py<PyFrozenSet>,
}

impl PySyscall {
    fn new(py: Python<'_>, call: &Syscall) -> PyResult<PySyscall> {
        let families = Family::ALL
            .into_iter()
            .filter(|family| family.has(call))
            .map(Family::name);
        let families = PyFrozenSet::new(py, families)?.unbind();
        Ok(PySyscall {
            name: call.name,
            alias_of: call.alias_of,
            families,
        })
    }
}

/// The syscalls by their names.
pub fn by_name(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    for call in &SYSCALLS {
        table.set_item(call.name, PySyscall::new(py, call)?)?;
    }
    Ok(table)
}
