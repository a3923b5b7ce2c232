//! Numbers as bytes: variable-length integers, then deflate.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{Error, Result, Write};

/// Append a number in groups of seven bits, the lowest first (LEB128).
pub fn push_number(bytes: &mut Vec<u8>, number: u64) {
    let mut rest = number;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// The numbers of a column, one after the other.
pub fn numbers(column: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    column
        .into_iter()
        .for_each(|number| push_number(&mut bytes, number));
    bytes
}

/// A number with a sign: 0, -1, 1, -2 become 0, 1, 2, 3.
pub fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// The differences of consecutive numbers, with signs.
pub fn differences(column: impl IntoIterator<Item = i64>) -> impl Iterator<Item = u64> {
    let steps = column.into_iter().scan(0i64, |last, number| {
        let step = number.wrapping_sub(*last);
        *last = number;
        Some(zigzag(step))
    });
    steps.collect::<Vec<_>>().into_iter()
}

/// Compress by deflate without a header. None if the result has more than `max_bytes`.
pub fn deflated(bytes: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(
        Limited {
            written: Vec::new(),
            max_bytes,
        },
        Compression::new(6),
    );
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(|limited| limited.written)
}

/// Refuses to grow beyond a limit, so that compression stops early.
struct Limited {
    written: Vec<u8>,
    max_bytes: usize,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.written.len() + bytes.len() > self.max_bytes {
            return Err(Error::other("over the limit"));
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
