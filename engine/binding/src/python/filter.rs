//! Conditions as Python writes them: nested tuples or lists, each with its name first.

use crate::python::errors::{InvalidExpression, InvalidPattern};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};
use query::filter::{Comparison, Expr, Operation, Pattern};

/// No expression that someone wrote down is deeper; one that is made to be would fill the stack.
const DEEPEST: usize = 200;

/// A condition.
pub struct Condition(pub Expr);

impl<'py> FromPyObject<'_, 'py> for Condition {
    type Error = PyErr;

    fn extract(form: Borrowed<'_, 'py, PyAny>) -> PyResult<Condition> {
        expr(&form.to_owned(), DEEPEST).map(Condition)
    }
}

/// A regular expression as filters understand it.
#[pyclass(name = "Pattern", module = "tracealyze._engine", frozen)]
pub struct PyPattern(Pattern);

#[pymethods]
impl PyPattern {
    #[new]
    fn new(text: &str) -> PyResult<PyPattern> {
        pattern(text).map(PyPattern)
    }

    /// Whether it is found anywhere in a text.
    fn found_in(&self, text: &str) -> bool {
        self.0.found_in(text)
    }
}

fn pattern(text: &str) -> PyResult<Pattern> {
    Pattern::new(text).map_err(|why| InvalidPattern::new_err((text.to_owned(), why.0)))
}

fn malformed(what: &str) -> PyErr {
    InvalidExpression::new_err((what.to_owned(),))
}

fn expr(form: &Bound<'_, PyAny>, deeper: usize) -> PyResult<Expr> {
    if form.is_instance_of::<PyBool>() {
        return Ok(Expr::Bool(form.extract()?));
    }
    if form.is_instance_of::<PyInt>() {
        let whole = form.extract::<i64>().map(Expr::Int);
        return whole.or_else(|_| Ok(Expr::Float(form.extract()?)));
    }
    if form.is_instance_of::<PyFloat>() {
        return Ok(Expr::Float(form.extract()?));
    }
    if form.is_instance_of::<PyString>() {
        return Ok(Expr::Text(form.extract()?));
    }
    let parts: Vec<Bound<'_, PyAny>> = form.extract().map_err(|_| malformed("no expression"))?;
    let Some((name, parts)) = parts.split_first().filter(|_| deeper > 0) else {
        return Err(malformed("nothing, or too deeply nested"));
    };
    named(&name.extract::<String>()?, parts, deeper - 1)
}

fn named(name: &str, parts: &[Bound<'_, PyAny>], deeper: usize) -> PyResult<Expr> {
    let all = || {
        parts
            .iter()
            .map(|part| expr(part, deeper))
            .collect::<PyResult<Vec<_>>>()
    };
    if let "and" | "or" = name {
        return Ok(if name == "and" {
            Expr::And(all()?)
        } else {
            Expr::Or(all()?)
        });
    }
    match (name, parts) {
        ("column", [column]) => Ok(Expr::Column(column.extract()?)),
        ("missing", [operand]) => Ok(Expr::Missing(Box::new(expr(operand, deeper)?))),
        ("not", [operand]) => Ok(Expr::Not(Box::new(expr(operand, deeper)?))),
        ("~" | "!~", [operand, pattern]) => {
            let found = self::pattern(&pattern.extract::<String>()?)?;
            Ok(Expr::Matches(
                Box::new(expr(operand, deeper)?),
                found,
                name == "~",
            ))
        }
        ("in" | "not in", [operand, values]) => {
            let values: Vec<Bound<'_, PyAny>> = values.extract()?;
            let values = values
                .iter()
                .map(|value| expr(value, deeper))
                .collect::<PyResult<_>>()?;
            Ok(Expr::Among(
                Box::new(expr(operand, deeper)?),
                values,
                name == "in",
            ))
        }
        (sign, [left, right]) => {
            let (left, right) = (
                Box::new(expr(left, deeper)?),
                Box::new(expr(right, deeper)?),
            );
            let comparison = Comparison::ALL.iter().find(|(known, _)| *known == sign);
            let operation = Operation::ALL.iter().find(|(known, _)| *known == sign);
            match (comparison, operation) {
                (Some(&(_, how)), _) => Ok(Expr::Compare(how, left, right)),
                (_, Some(&(_, how))) => Ok(Expr::Calculate(how, left, right)),
                _ => Err(malformed(sign)),
            }
        }
        (other, _) => Err(malformed(other)),
    }
}
