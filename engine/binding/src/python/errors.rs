//! The exceptions of the engine: one class per case, with its facts as `args`. Python words them.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use query::filter::Unfit;
use query::time_bounds::TimeBoundError;
use trace::ingest::capture::ReadError;

create_exception!(
    _engine,
    EngineError,
    PyException,
    "The base of all errors of the engine."
);
create_exception!(
    _engine,
    UnreadableInput,
    EngineError,
    "A file cannot be read: (path, reason)."
);
create_exception!(
    _engine,
    UnrecognisedInput,
    EngineError,
    "No format fits: (path, formats tried)."
);
create_exception!(
    _engine,
    OtherTool,
    EngineError,
    "The output of a tool that is not a tracer: (path, tool)."
);
create_exception!(
    _engine,
    EmptyInput,
    EngineError,
    "A file has nothing but whitespace in it: (path,)."
);
create_exception!(
    _engine,
    NoRoom,
    EngineError,
    "A trace is larger than the memory it may use, and its rest cannot go to a file: (folder, reason, bytes in it)."
);
create_exception!(
    _engine,
    NoMatchingLine,
    EngineError,
    "No line matches a time bound: (path, /pattern/)."
);
create_exception!(
    _engine,
    NoSuchLine,
    EngineError,
    "A time bound is past the last line: (path, number of lines)."
);
create_exception!(
    _engine,
    UnknownName,
    EngineError,
    "A name that does not exist: (kind, name, known names)."
);
create_exception!(
    _engine,
    InvalidTime,
    EngineError,
    "Not a time bound: (text, examples of valid ones)."
);
create_exception!(
    _engine,
    InvalidPattern,
    EngineError,
    "Not a valid regular expression: (text, reason)."
);
create_exception!(
    _engine,
    InvalidExpression,
    EngineError,
    "Not a valid condition: (reason,)."
);

/// The error for a name that does not exist.
pub(super) fn unknown_name(
    kind: &str,
    name: &str,
    known: impl IntoIterator<Item = &'static str>,
) -> PyErr {
    UnknownName::new_err((
        kind.to_owned(),
        name.to_owned(),
        known.into_iter().collect::<Vec<_>>(),
    ))
}

/// An error of the crates below, as the exception that Python sees. A trait of this crate, because neither these errors
/// nor those of Python are its own.
pub(super) trait Raise {
    fn exception(self) -> PyErr;
}

/// A result whose error becomes an exception.
pub(super) trait Raised<T> {
    fn raised(self) -> PyResult<T>;
}

impl<T, E: Raise> Raised<T> for Result<T, E> {
    fn raised(self) -> PyResult<T> {
        self.map_err(E::exception)
    }
}

impl Raise for ReadError {
    fn exception(self) -> PyErr {
        match self {
            ReadError::Unreadable { path, source } => {
                UnreadableInput::new_err((path, source.to_string()))
            }
            ReadError::Unrecognised { path, tried } => UnrecognisedInput::new_err((path, tried)),
            ReadError::OtherTool { path, tool } => OtherTool::new_err((path, tool)),
            ReadError::Empty { path } => EmptyInput::new_err((path,)),
            ReadError::NoRoom(failure) => {
                let reason = std::io::Error::from_raw_os_error(failure.errno).to_string();
                NoRoom::new_err((failure.folder, reason, failure.bytes))
            }
            ReadError::UnknownFormat { name, known } => unknown_name("format", &name, known),
        }
    }
}

impl Raise for TimeBoundError {
    fn exception(self) -> PyErr {
        match self {
            TimeBoundError::Unknown(text) => InvalidTime::new_err((
                text,
                [
                    "12.5",
                    "+12.5",
                    "09:30:00.25",
                    "line:4711",
                    "/open.*ENOENT/",
                ],
            )),
            TimeBoundError::NoExpression(text, why) => InvalidPattern::new_err((text, why)),
            TimeBoundError::NoLine(path, text) => NoMatchingLine::new_err((path, text)),
            TimeBoundError::PastEnd(path, lines) => NoSuchLine::new_err((path, lines)),
            TimeBoundError::Unreadable(path, why) => UnreadableInput::new_err((path, why)),
        }
    }
}

impl Raise for Unfit {
    fn exception(self) -> PyErr {
        match self {
            Unfit::Column(name) => unknown_name("column", &name, []),
            Unfit::Types(why) => InvalidExpression::new_err((why,)),
        }
    }
}
