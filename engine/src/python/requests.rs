//! What Python asks of the partition and of tables, in the words of the engine.

use super::table::PyTable;
use crate::partition::group_by::{self, Scope, Value};
use crate::python::UsageError;
use crate::table_support::provenance::Members;
use crate::table_support::pruning::{Floor, Within};
use crate::tables::calls::Key;
use crate::tables::{self, Make};
use pyo3::prelude::*;

/// One who claims time on the path: rows of a table that knows its members, or pieces of the partition.
#[derive(FromPyObject)]
pub(super) enum Claimant<'py> {
    Rows(Bound<'py, PyTable>, Vec<usize>),
    Pieces(AskedScope),
}

impl Claimant<'_> {
    pub(super) fn members(self) -> PyResult<Vec<Members>> {
        match self {
            Claimant::Rows(table, rows) => Ok(table.get().members(&rows)),
            Claimant::Pieces(asked) => Ok(vec![Members::Pieces(scope(asked)?)]),
        }
    }
}

/// total_ns, own_ns, [(number of an earlier claim, ns)].
pub(super) type Shared = (i64, i64, i64, Vec<(u32, i64)>);

/// Which pieces, as Python says it: what must hold, and what must not.
pub(super) type AskedScope = (AskedConditions, AskedConditions);
pub(super) type AskedConditions = Vec<(String, Vec<Option<AskedValue>>)>;

#[derive(FromPyObject)]
pub(super) enum AskedValue {
    Bool(bool),
    Int(i64),
    Text(String),
}

pub(super) fn scope((only, without): AskedScope) -> PyResult<Scope> {
    Ok(Scope { only: conditions(only)?, without: conditions(without)? })
}

fn conditions(asked: AskedConditions) -> PyResult<group_by::Conditions> {
    let value = |value| match value {
        None => Value::None,
        Some(AskedValue::Bool(value)) => Value::Bool(value),
        Some(AskedValue::Int(value)) => Value::Int(value),
        Some(AskedValue::Text(value)) => Value::Text(value),
    };
    let condition = |(name, values): (String, Vec<_>)| Ok((fold_key(&name)?, values.into_iter().map(value).collect()));
    asked.into_iter().map(condition).collect()
}

pub(super) fn fold_key(name: &str) -> PyResult<group_by::Key> {
    let known = || group_by::Key::ALL.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    group_by::Key::by_name(name).ok_or_else(|| UsageError::new_err(("key", name.to_owned(), known())))
}

/// A table by its name, and from where on its rows matter: taken together in which way, and how much by capture.
pub(super) type AskedTable = (String, Option<(String, Vec<i64>)>);

pub(super) fn asked_floor((within, least_ns): (String, Vec<i64>)) -> PyResult<Floor> {
    let known = || ["row", "process", "program", "capture"].map(str::to_owned).to_vec();
    let within = Within::by_name(&within).ok_or_else(|| UsageError::new_err(("floor", within, known())))?;
    Ok(Floor { within, least_ns })
}

/// A table of this name.
pub(super) fn table(name: &str) -> PyResult<(&'static str, Make)> {
    let known = || tables::TABLES.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    tables::listed(name).ok_or_else(|| UsageError::new_err(("table", name.to_owned(), known())))
}

/// What calls may be grouped by.
pub(super) fn key(name: &str) -> PyResult<Key> {
    let known = || Key::ALL.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    Key::by_name(name).ok_or_else(|| UsageError::new_err(("key", name.to_owned(), known())))
}
