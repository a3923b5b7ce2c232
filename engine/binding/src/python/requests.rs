//! Converts requests of Python for the partition and for tables.

use super::table::PyTable;
use crate::python::errors::unknown_name;
use detect::tables;
use kit::table_support::callers::Called;
use kit::table_support::kit::TableSpec;
use kit::table_support::provenance::Provenance;
use kit::table_support::threshold::{CostScope, Threshold};
use parsers::Text;
use path::partition::scope::{Conditions, GroupKey, KeyValue, Scope};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use report::tables::calls::{CallKey, CallOrder};
use trace::store::trace::Trace;

/// Claims path time: rows of a table that knows its members, or pieces of the partition.
#[derive(FromPyObject)]
pub(super) enum Claimant<'py> {
    Rows(Bound<'py, PyTable>, Vec<usize>),
    Pieces(RequestedScope),
}

impl Claimant<'_> {
    pub(super) fn members(self) -> PyResult<Vec<Provenance>> {
        match self {
            Claimant::Rows(table, rows) => Ok(table.get().members(&rows)),
            Claimant::Pieces(pieces) => Ok(vec![Provenance::Pieces(scope(pieces)?)]),
        }
    }
}

/// The claimants of a finding, and the name and the operation of the calls that it is about, if they have one.
#[derive(FromPyObject)]
pub(super) struct CalledBy<'py>(Vec<Claimant<'py>>, Option<String>, Option<String>);

impl CalledBy<'_> {
    pub(super) fn called(self, trace: &Trace) -> PyResult<Called> {
        let members = self
            .0
            .into_iter()
            .map(Claimant::members)
            .collect::<PyResult<Vec<_>>>()?
            .concat();
        let members = members.into_iter().map(|each| each.sorted(trace)).collect();
        let text =
            |text: Option<String>| text.and_then(|text| trace.events.texts.find(text.as_bytes()));
        Ok(Called {
            members,
            name: text(self.1).unwrap_or(Text::NONE),
            op: text(self.2).unwrap_or(Text::NONE),
        })
    }
}

/// Function, source, module, calls, ns, all calls.
pub(super) type CallerParts = (String, Option<String>, Option<String>, u64, i64, u64);

/// total_ns, own_ns, [(number of an earlier claim, ns)].
pub(super) type SharedTime = (i64, i64, i64, Vec<(u32, i64)>);

/// Which pieces: conditions that must hold, and conditions that must not.
pub(super) type RequestedScope = (RequestedConditions, RequestedConditions);
pub(super) type RequestedConditions = Vec<(String, Vec<Option<RequestedValue>>)>;

pub(super) enum RequestedValue {
    Bool(bool),
    Int(i64),
    Text(String),
}

// By the type of the value. A derived implementation tries each variant and makes an exception of each that does not fit,
// and there may be a value for each program of a trace.
impl<'py> FromPyObject<'_, 'py> for RequestedValue {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<RequestedValue> {
        if value.is_instance_of::<PyString>() {
            value.extract().map(RequestedValue::Text)
        } else if value.is_instance_of::<PyBool>() {
            value.extract().map(RequestedValue::Bool)
        } else {
            value.extract().map(RequestedValue::Int)
        }
    }
}

pub(super) fn scope((only, without): RequestedScope) -> PyResult<Scope> {
    Ok(Scope {
        only: conditions(only)?,
        without: conditions(without)?,
    })
}

fn conditions(requested: RequestedConditions) -> PyResult<Conditions> {
    let value = |value| match value {
        None => KeyValue::None,
        Some(RequestedValue::Bool(value)) => KeyValue::Bool(value),
        Some(RequestedValue::Int(value)) => KeyValue::Int(value),
        Some(RequestedValue::Text(value)) => KeyValue::Text(value),
    };
    requested
        .into_iter()
        .map(|(name, values)| Ok((group_key(&name)?, values.into_iter().map(value).collect())))
        .collect()
}

pub(super) fn group_key(name: &str) -> PyResult<GroupKey> {
    let known = || GroupKey::ALL.iter().map(|(name, _)| *name);
    GroupKey::by_name(name).ok_or_else(|| unknown_name("key", name, known()))
}

/// The name of a table, and the threshold of its rows: the scope in which costs are summed, and the minimum per
/// capture.
pub(super) type RequestedTable = (String, Option<(String, Vec<i64>)>);

pub(super) fn requested_threshold((within, least_ns): (String, Vec<i64>)) -> PyResult<Threshold> {
    let known = ["row", "process", "program", "capture"];
    let within =
        CostScope::by_name(&within).ok_or_else(|| unknown_name("threshold", &within, known))?;
    Ok(Threshold { within, least_ns })
}

/// A table of this name.
pub(super) fn table(name: &str) -> PyResult<&'static TableSpec> {
    let known = || tables::all().map(|table| table.schema.name);
    tables::by_name(name).ok_or_else(|| unknown_name("table", name, known()))
}

/// What calls may be grouped by.
pub(super) fn key(name: &str) -> PyResult<CallKey> {
    let known = || CallKey::ALL.iter().map(|(name, _)| *name);
    CallKey::by_name(name).ok_or_else(|| unknown_name("key", name, known()))
}

/// What groups of calls may be ordered by.
pub(super) fn call_order(name: &str) -> PyResult<CallOrder> {
    let known = || CallOrder::ALL.iter().map(|(name, _)| *name);
    CallOrder::by_name(name).ok_or_else(|| unknown_name("column", name, known()))
}
