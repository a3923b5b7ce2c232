//! Standard input, kept while it is short: what is piped in can be quoted as what is read from a file.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Longer input is not kept.
const MAX_BYTES: usize = 64 << 20;

/// There is one standard input, so there is one copy of it.
static COPY: Mutex<Option<Arc<Vec<u8>>>> = Mutex::new(None);

/// What standard input contained, if all of it was read and kept.
pub(super) fn bytes() -> Option<Bytes> {
    let copy = COPY.lock().unwrap_or_else(PoisonError::into_inner);
    copy.clone().map(Bytes)
}

/// A shared copy, as bytes.
pub(super) struct Bytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A reader of standard input that keeps what it reads, until that is too long.
pub(super) struct Kept<R> {
    source: R,
    read: Option<Vec<u8>>,
}

impl<R: Read> Kept<R> {
    pub(super) fn new(source: R) -> Kept<R> {
        Kept {
            source,
            read: Some(Vec::new()),
        }
    }
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        let is_end = count == 0 && !buffer.is_empty();
        if is_end {
            // The reader may ask again after the end, when nothing is left to store.
            if let Some(read) = self.read.take() {
                *COPY.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(read));
            }
        } else if let Some(read) = &mut self.read {
            read.extend_from_slice(&buffer[..count]);
            if read.len() > MAX_BYTES {
                self.read = None;
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_input_is_kept_and_long_input_is_not() {
        let mut text = String::new();
        Kept::new(&b"one\ntwo\n"[..])
            .read_to_string(&mut text)
            .expect("memory can be read");
        assert_eq!(bytes().expect("it is kept").as_ref(), b"one\ntwo\n");
        let mut long = Kept::new(io::repeat(b'x').take(MAX_BYTES as u64 + 1));
        io::copy(&mut long, &mut io::sink()).expect("memory can be read");
        assert!(long.read.is_none());
    }
}
