//! The border to Python: it converts, nothing else.

mod arrow;
mod capture;
mod errors;
mod event_batches;
mod event_frame;
mod filter;
mod json;
mod picture;
mod redact;
mod replay;
mod requests;
mod row_stream;
mod selection;
mod syscalls;
mod table;
mod timeline;
mod trace;
mod tree;
mod witness;

use crate::session::own_workers::with_own_workers;
use pyo3::marker::Ungil;
use pyo3::prelude::*;

/// Runs a call without the GIL, and with workers that no other call has.
fn detached<T: Ungil + Send>(py: Python<'_>, call: impl FnOnce() -> T + Ungil + Send) -> T {
    py.detach(|| with_own_workers(call))
}

/// The engine's module.
#[pymodule]
mod _engine {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        errors::{
            EmptyInput, EngineError, InvalidExpression, InvalidPattern, InvalidTime,
            NoMatchingLine, NoRoom, NoSuchLine, OtherTool, UnknownName, UnreadableInput,
            UnrecognisedInput,
        },
        event_frame::PyArray,
        filter::PyPattern,
        redact::{PyRedactor, verify_redacted},
        row_stream::{PyEventStream, stream_events},
        selection::PySelection,
        syscalls::PySyscall,
        table::PyTable,
        timeline::PyTimeline,
        trace::{
            PyTrace, are_parts, format_of, has_scheduling, limit_memory, pack_scheduling, read,
            without_random_name, write_calls,
        },
        tree::tree,
    };

    #[pymodule_init]
    fn constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let formats: Vec<&str> = parsers::FORMATS
            .iter()
            .map(|format| format.name())
            .collect();
        let kinds: Vec<&str> = parsers::LineKind::ALL
            .iter()
            .map(|kind| kind.name())
            .collect();
        let tables: Vec<_> = detect::tables::schemas()
            .map(|table| (table.name, table.says, table.times.name()))
            .collect();
        let schema: Vec<_> = detect::tables::schemas()
            .flat_map(|table| table.columns().map(|column| (table.name, column)))
            .map(|(table, column)| {
                (
                    table,
                    column.name,
                    column.kind,
                    column.unit,
                    column.says,
                    column.merge.name(),
                )
            })
            .collect();
        module.add("DEFAULT_MEMORY", spill::DEFAULT_TOTAL)?;
        module.add("FORMATS", formats)?;
        module.add("KINDS", kinds)?;
        module.add("TABLES", tables)?;
        module.add("SCHEMA", schema)?;
        module.add("CHOSEN_NS", ::trace::store::heuristics::CHOSEN_NS)?;
        module.add("SYSCALLS", super::syscalls::by_name(module.py())?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
