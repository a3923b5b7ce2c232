//! Binding: an expression and the columns it names become one function of a row.

use super::columns::{ColumnValues, RowSource, TextValues, ValueOf};
use crate::filter::{Comparison, Expr, Operation, Unfit};
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;
use trace::store::event::NONE;

/// Whether a row meets a condition.
pub type Test<'rows> = Box<dyn Fn(u32) -> bool + Send + Sync + 'rows>;

/// A number in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    fn finite(value: f64) -> Option<Number> {
        value.is_finite().then_some(Number::Float(value))
    }

    fn compare(self, other: Number, how: Comparison) -> bool {
        let order = match (self, other) {
            (Number::Int(left), Number::Int(right)) => Some(left.cmp(&right)),
            _ => self.float().partial_cmp(&other.float()),
        };
        order.is_some_and(|order| how.holds(order))
    }

    fn calculate(self, other: Number, how: Operation) -> Option<Number> {
        if let (Number::Int(left), Number::Int(right)) = (self, other) {
            let whole = match how {
                Operation::Plus => left.checked_add(right),
                Operation::Minus => left.checked_sub(right),
                Operation::Times => left.checked_mul(right),
                Operation::Over => None,
            };
            if let Some(whole) = whole {
                return Some(Number::Int(whole));
            }
        }
        let (left, right) = (self.float(), other.float());
        match how {
            Operation::Plus => Number::finite(left + right),
            Operation::Minus => Number::finite(left - right),
            Operation::Times => Number::finite(left * right),
            Operation::Over if right == 0.0 => None,
            Operation::Over => Number::finite(left / right),
        }
    }
}

/// A bound operand.
enum Bound<'rows> {
    Condition(Test<'rows>),
    Truth(ValueOf<'rows, bool>),
    Int(ValueOf<'rows, i64>),
    Number(ValueOf<'rows, Number>),
    Constant(Number),
    Word(String),
    Words(TextValues<'rows>),
    Loose(ValueOf<'rows, String>),
    Lists(ValueOf<'rows, &'rows [String]>),
}

/// Bind a condition to the columns it names.
///
/// # Errors
/// [`Unfit`] if there is no such column, or the types do not match.
pub fn bind<'rows>(rows: &'rows impl RowSource, condition: &Expr) -> Result<Test<'rows>, Unfit> {
    match bound(rows, condition)? {
        Bound::Condition(test) => Ok(test),
        Bound::Truth(of) => Ok(Box::new(move |row| of(row) == Some(true))),
        _ => Err(Unfit::Types("a condition is needed")),
    }
}

fn bound<'rows>(rows: &'rows impl RowSource, expr: &Expr) -> Result<Bound<'rows>, Unfit> {
    Ok(match expr {
        Expr::Int(value) => Bound::Constant(Number::Int(*value)),
        Expr::Float(value) => Bound::Constant(Number::Float(*value)),
        Expr::Text(text) => Bound::Word(text.clone()),
        Expr::Bool(value) => {
            let value = *value;
            Bound::Condition(Box::new(move |_| value))
        }
        Expr::Column(name) => match rows
            .cells(name)
            .ok_or_else(|| Unfit::Column(name.clone()))?
        {
            ColumnValues::Int(of) => Bound::Int(of),
            ColumnValues::Float(of) => {
                Bound::Number(Box::new(move |row| of(row).map(Number::Float)))
            }
            ColumnValues::Bool(of) => Bound::Truth(of),
            ColumnValues::Words(words) => Bound::Words(words),
            ColumnValues::Loose(of) => Bound::Loose(of),
            ColumnValues::Lists(of) => Bound::Lists(of),
        },
        Expr::Missing(operand) => Bound::Condition(missing(bound(rows, operand)?)),
        Expr::Not(operand) => {
            let test = bind(rows, operand)?;
            Bound::Condition(Box::new(move |row| !test(row)))
        }
        Expr::And(parts) => {
            let tests = bind_all(rows, parts)?;
            Bound::Condition(Box::new(move |row| tests.iter().all(|test| test(row))))
        }
        Expr::Or(parts) => {
            let tests = bind_all(rows, parts)?;
            Bound::Condition(Box::new(move |row| tests.iter().any(|test| test(row))))
        }
        Expr::Compare(how, left, right) => {
            Bound::Condition(compared(bound(rows, left)?, bound(rows, right)?, *how)?)
        }
        Expr::Calculate(how, left, right) => {
            let (left, right, how) = (
                number(bound(rows, left)?)?,
                number(bound(rows, right)?)?,
                *how,
            );
            Bound::Number(Box::new(move |row| left(row)?.calculate(right(row)?, how)))
        }
        Expr::Among(operand, values, wanted) => {
            Bound::Condition(among(bound(rows, operand)?, values, *wanted)?)
        }
        Expr::Matches(operand, pattern, wanted) => {
            let pattern = pattern.clone();
            Bound::Condition(texts(
                bound(rows, operand)?,
                move |text| pattern.found_in(text),
                *wanted,
            )?)
        }
    })
}

/// Conditions that read the file come last: most rows need not be read for them.
fn bind_all<'rows>(rows: &'rows impl RowSource, parts: &[Expr]) -> Result<Vec<Test<'rows>>, Unfit> {
    let (quick, slow): (Vec<&Expr>, Vec<&Expr>) =
        parts.iter().partition(|part| !part.names("args"));
    quick
        .into_iter()
        .chain(slow)
        .map(|part| bind(rows, part))
        .collect()
}

impl Expr {
    /// Whether it uses a column of this name.
    pub fn names(&self, column: &str) -> bool {
        match self {
            Expr::Column(name) => name == column,
            Expr::Int(_) | Expr::Float(_) | Expr::Text(_) | Expr::Bool(_) => false,
            Expr::Missing(one) | Expr::Not(one) | Expr::Among(one, ..) | Expr::Matches(one, ..) => {
                one.names(column)
            }
            Expr::And(parts) | Expr::Or(parts) => parts.iter().any(|part| part.names(column)),
            Expr::Compare(_, left, right) | Expr::Calculate(_, left, right) => {
                left.names(column) || right.names(column)
            }
        }
    }
}

fn missing(operand: Bound<'_>) -> Test<'_> {
    match operand {
        Bound::Condition(_) | Bound::Constant(_) | Bound::Word(_) => Box::new(|_| false),
        Bound::Truth(of) => Box::new(move |row| of(row).is_none()),
        Bound::Int(of) => Box::new(move |row| of(row).is_none()),
        Bound::Number(of) => Box::new(move |row| of(row).is_none()),
        Bound::Words(words) => Box::new(move |row| words.at(row).is_none()),
        Bound::Loose(of) => Box::new(move |row| of(row).is_none()),
        Bound::Lists(of) => Box::new(move |row| of(row).is_none()),
    }
}

fn number(operand: Bound<'_>) -> Result<ValueOf<'_, Number>, Unfit> {
    match operand {
        Bound::Constant(value) => Ok(Box::new(move |_| Some(value))),
        Bound::Int(of) => Ok(Box::new(move |row| of(row).map(Number::Int))),
        Bound::Number(of) => Ok(of),
        _ => Err(Unfit::Types("a number is needed")),
    }
}

fn compared<'rows>(
    left: Bound<'rows>,
    right: Bound<'rows>,
    how: Comparison,
) -> Result<Test<'rows>, Unfit> {
    let equality = matches!(how, Comparison::Equal | Comparison::Unequal);
    let wanted = how == Comparison::Equal;
    Ok(match (left, right) {
        (Bound::Int(of), Bound::Constant(Number::Int(limit))) => {
            Box::new(move |row| of(row).is_some_and(|value| how.holds(value.cmp(&limit))))
        }
        (text, Bound::Word(word)) | (Bound::Word(word), text) if equality => {
            texts(text, move |text| text == word, wanted)?
        }
        (left, right) if equality && left.is_text() && right.is_text() => {
            let (left, right) = (left.text()?, right.text()?);
            Box::new(move |row| {
                left(row)
                    .zip(right(row))
                    .is_some_and(|(left, right)| (left == right) == wanted)
            })
        }
        (left, right) if equality && left.is_truth() && right.is_truth() => {
            let (left, right) = (left.truth()?, right.truth()?);
            Box::new(move |row| {
                left(row)
                    .zip(right(row))
                    .is_some_and(|(left, right)| (left == right) == wanted)
            })
        }
        (left, right) => {
            let (left, right) = (number(left)?, number(right)?);
            Box::new(move |row| {
                left(row)
                    .zip(right(row))
                    .is_some_and(|(left, right)| left.compare(right, how))
            })
        }
    })
}

impl<'rows> Bound<'rows> {
    fn is_text(&self) -> bool {
        matches!(self, Bound::Word(_) | Bound::Words(_) | Bound::Loose(_))
    }

    fn is_truth(&self) -> bool {
        matches!(self, Bound::Condition(_) | Bound::Truth(_))
    }

    fn text(self) -> Result<ValueOf<'rows, String>, Unfit> {
        match self {
            Bound::Word(word) => Ok(Box::new(move |_| Some(word.clone()))),
            Bound::Words(words) => Ok(Box::new(move |row| {
                words.at(row).map(std::borrow::Cow::into_owned)
            })),
            Bound::Loose(of) => Ok(of),
            _ => Err(Unfit::Types("a text is needed")),
        }
    }

    fn truth(self) -> Result<ValueOf<'rows, bool>, Unfit> {
        match self {
            Bound::Condition(test) => Ok(Box::new(move |row| Some(test(row)))),
            Bound::Truth(of) => Ok(of),
            _ => Err(Unfit::Types("a condition is needed")),
        }
    }
}

/// Whether a text, or one of a list, is such a one (or none is).
fn texts<'rows>(
    operand: Bound<'rows>,
    is_such: impl Fn(&str) -> bool + Send + Sync + 'rows,
    wanted: bool,
) -> Result<Test<'rows>, Unfit> {
    Ok(match operand {
        Bound::Words(words) => remembered(words, is_such, wanted),
        Bound::Loose(of) => {
            Box::new(move |row| of(row).is_some_and(|text| is_such(&text) == wanted))
        }
        Bound::Lists(of) => Box::new(move |row| {
            of(row).is_some_and(|list| list.iter().any(|text| is_such(text)) == wanted)
        }),
        Bound::Word(word) => {
            let met = is_such(&word) == wanted;
            Box::new(move |_| met)
        }
        _ => return Err(Unfit::Types("a text is needed")),
    })
}

/// Each distinct text is tested once. Two threads may test the same text; the result is the same.
fn remembered<'rows>(
    words: TextValues<'rows>,
    is_such: impl Fn(&str) -> bool + Send + Sync + 'rows,
    wanted: bool,
) -> Test<'rows> {
    const UNKNOWN: u8 = 0;
    const NO: u8 = 1;
    const YES: u8 = 2;
    let known: Vec<AtomicU8> = std::iter::repeat_with(|| AtomicU8::new(UNKNOWN))
        .take(words.numbers)
        .collect();
    Box::new(move |row| {
        let number = (words.of)(row);
        if number == NONE {
            return false;
        }
        let Some(place) = known.get(number as usize) else {
            return false;
        };
        let answer = place.load(Relaxed);
        if answer != UNKNOWN {
            return answer == YES;
        }
        let met = (words.word)(number).is_some_and(|text| is_such(&text) == wanted);
        place.store(if met { YES } else { NO }, Relaxed);
        met
    })
}

fn among<'rows>(
    operand: Bound<'rows>,
    values: &[Expr],
    wanted: bool,
) -> Result<Test<'rows>, Unfit> {
    if let Bound::Words(_) | Bound::Loose(_) | Bound::Lists(_) | Bound::Word(_) = operand {
        let values = values
            .iter()
            .map(|value| match value {
                Expr::Text(text) => Ok(text.clone()),
                _ => Err(Unfit::Types("a text is needed")),
            })
            .collect::<Result<Vec<String>, Unfit>>()?;
        return texts(
            operand,
            move |text| values.iter().any(|value| value == text),
            wanted,
        );
    }
    let constant = |value: &Expr| match value {
        Expr::Int(value) => Ok(Number::Int(*value)),
        Expr::Float(value) => Ok(Number::Float(*value)),
        _ => Err(Unfit::Types("a number is needed")),
    };
    let values = values
        .iter()
        .map(constant)
        .collect::<Result<Vec<Number>, Unfit>>()?;
    let of = number(operand)?;
    let has = move |found: Number| {
        values
            .iter()
            .any(|&value| found.compare(value, Comparison::Equal))
    };
    Ok(Box::new(move |row| {
        of(row).is_some_and(|found| has(found) == wanted)
    }))
}
