//! The border to Python: it converts, nothing else.

mod arrow;
mod capture;
mod filter;
mod json;
mod requests;
mod selection;
mod syscalls;
mod table;
mod trace;

use crate::ingest::capture::ReadError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(_engine, InputError, PyException, "The input cannot be read or recognised: (path, reason, tried).");
create_exception!(_engine, UsageError, PyException, "A name that the engine does not know: (what, name, known names).");

impl From<ReadError> for PyErr {
    fn from(error: ReadError) -> PyErr {
        match error {
            ReadError::Unreadable { path, source } => {
                InputError::new_err((path, source.to_string(), Vec::<String>::new()))
            }
            ReadError::Unrecognised { path, tried } => InputError::new_err((path, "unrecognised", tried)),
            ReadError::Empty { path } => InputError::new_err((path, "empty", Vec::<String>::new())),
            ReadError::UnknownFormat { name, known } => UsageError::new_err(("format", name, known)),
        }
    }
}

/// The engine's module.
#[pymodule]
mod _engine {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        InputError, UsageError,
        filter::PyPattern,
        selection::PySelection,
        syscalls::PySyscall,
        table::PyTable,
        trace::{PyTrace, are_parts, read},
    };

    #[pymodule_init]
    fn constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let formats: Vec<&str> = parsers::FORMATS.iter().map(|format| format.name()).collect();
        let kinds: Vec<&str> = parsers::LineKind::ALL.iter().map(|kind| kind.name()).collect();
        let schema: Vec<_> = crate::store::schema::COLUMNS
            .iter()
            .map(|column| (column.table, column.name, column.kind, column.unit, column.says))
            .collect();
        module.add("FORMATS", formats)?;
        module.add("KINDS", kinds)?;
        module.add("SCHEMA", schema)?;
        module.add("SYSCALLS", super::syscalls::by_name(module.py())?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
