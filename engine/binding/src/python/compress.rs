//! Compression of what `record` writes.

use pyo3::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::borrow::Cow;

/// A frame of zstd with this text.
#[pyfunction]
pub fn zstd_frame<'text>(py: Python<'_>, text: &'text [u8]) -> Cow<'text, [u8]> {
    Cow::Owned(py.detach(|| compress_to_vec(text, CompressionLevel::Fastest)))
}
