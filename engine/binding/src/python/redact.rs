//! Redaction, as Python calls it.

use super::errors::{InvalidPattern, UnreadableInput, UnrecognisedInput};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use redact::verify::Verifier;
use redact::{Key, Options, Redactor};
use std::path::{Path, PathBuf};

/// Rewrites captures with one key.
#[pyclass(name = "Redactor", module = "tracealyze._engine")]
pub(super) struct PyRedactor(Redactor);

#[pymethods]
impl PyRedactor {
    #[new]
    #[pyo3(signature = (key, *, keep=None, keeps_programs=false, input_format=None, has_map=false))]
    fn new(
        key: [u8; 16],
        keep: Option<String>,
        keeps_programs: bool,
        input_format: Option<String>,
        has_map: bool,
    ) -> PyResult<PyRedactor> {
        let options = Options {
            key: Key::new(key),
            keep,
            keeps_programs,
            format: input_format,
            has_map,
        };
        Redactor::new(&options)
            .map(PyRedactor)
            .map_err(|why| invalid(options.keep.unwrap_or_default(), why))
    }

    /// Take the next bytes of a capture; returns what can be written by now.
    fn feed<'py>(&mut self, py: Python<'py>, text: &[u8]) -> Bound<'py, PyBytes> {
        let out = py.detach(|| {
            let mut out = Vec::with_capacity(text.len());
            self.0.feed(text, &mut out);
            out
        });
        PyBytes::new(py, &out)
    }

    /// Decide the format from what came so far; returns what can be written.
    fn settle<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        self.0.settle(&mut out);
        PyBytes::new(py, &out)
    }

    /// The capture ends; returns the rest.
    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let out = py.detach(|| {
            let mut out = Vec::new();
            self.0.finish(&mut out);
            out
        });
        PyBytes::new(py, &out)
    }

    /// Read a capture and hand over its pieces to a function, each with the pairs of words and what replaced them; returns
    /// whether compressed data ended early.
    fn copy(&mut self, py: Python<'_>, path: PathBuf, write: Py<PyAny>) -> PyResult<bool> {
        let done = py.detach(|| {
            self.0.copy(&path, |piece, translations| {
                let written = Python::attach(|py| {
                    let pair = |text: &[u8]| PyBytes::new(py, text);
                    let pairs: Vec<_> = translations
                        .iter()
                        .map(|(word, made)| (pair(word), pair(made)))
                        .collect();
                    write
                        .call1(py, (PyBytes::new(py, piece), pairs))
                        .map(|_| ())
                });
                written.map_err(CopyError::Write)
            })
        });
        done.map_err(|error| error.raised(&path))
    }

    /// What replaces a single name.
    fn name<'py>(&mut self, py: Python<'py>, name: &[u8]) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.name(name))
    }
}

/// Why a capture was not copied.
enum CopyError {
    Read(std::io::Error),
    Write(PyErr),
}

impl From<std::io::Error> for CopyError {
    fn from(error: std::io::Error) -> CopyError {
        CopyError::Read(error)
    }
}

impl CopyError {
    fn raised(self, path: &Path) -> PyErr {
        let name = path.display().to_string();
        match self {
            CopyError::Read(error)
                if error
                    .get_ref()
                    .is_some_and(|source| source.is::<redact::UnknownFormat>()) =>
            {
                let formats: Vec<&str> = parsers::FORMATS
                    .iter()
                    .map(|format| format.name())
                    .collect();
                UnrecognisedInput::new_err((name, formats))
            }
            CopyError::Read(error) => UnreadableInput::new_err((name, error.to_string())),
            CopyError::Write(error) => error,
        }
    }
}

fn invalid(pattern: String, why: redact::InvalidPattern) -> PyErr {
    InvalidPattern::new_err((pattern, why.0))
}

/// Line, column and problem of what a redacted capture should not contain.
type Leak = (u64, usize, &'static str);

/// Compare a capture with what replaced it: number of lines, of findings, and the first findings.
#[pyfunction]
#[pyo3(signature = (original, redacted, *, keep=None))]
pub(super) fn verify_redacted(
    py: Python<'_>,
    original: PathBuf,
    redacted: PathBuf,
    keep: Option<String>,
) -> PyResult<(u64, u64, Vec<Leak>)> {
    let pattern = keep.as_deref().map(redact::stream::compiled).transpose();
    let pattern = pattern.map_err(|why| invalid(keep.unwrap_or_default(), why))?;
    let verdict = py.detach(|| Verifier::new(pattern).verify(&original, &redacted));
    let name = original.display().to_string();
    let verdict = verdict.map_err(|error| UnreadableInput::new_err((name, error.to_string())))?;
    let findings = verdict
        .findings
        .iter()
        .map(|found| (found.line, found.column, found.problem.name()));
    Ok((verdict.lines, verdict.count, findings.collect()))
}
