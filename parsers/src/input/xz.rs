//! xz, fed piece by piece: the library's own reader forgets what it has unpacked when its input ends too early.

use std::io::{self, BufRead, Read};

use lzma_rust2::{Action, Status, XzStream};

/// More than `xz -9` needs, and a bound for input that asks for more.
const MEMORY_KIB: u32 = 1 << 20;

pub(super) struct XzText<R> {
    packed: R,
    stream: XzStream,
    done: bool,
    failed: Option<io::Error>,
}

impl<R: BufRead> XzText<R> {
    pub(super) fn new(packed: R) -> XzText<R> {
        XzText { packed, stream: XzStream::new_mem_limit(true, MEMORY_KIB), done: false, failed: None }
    }

    /// One step. Fails only when it has unpacked nothing; then the failure of a step that did comes first.
    fn step(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            self.done = true;
            return Err(error);
        }
        let input = self.packed.fill_buf()?;
        let ended = input.is_empty();
        let before = self.stream.total_out();
        let result = self.stream.process(input, into, if ended { Action::Finish } else { Action::Run });
        let produced = (self.stream.total_out() - before) as usize;
        match result {
            Ok(result) => {
                self.packed.consume(result.bytes_consumed);
                self.done = result.status == Status::StreamEnd;
                if ended && produced == 0 && !self.done {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error) => self.failed = Some(error),
        }
        Ok(produced)
    }
}

impl<R: BufRead> Read for XzText<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !self.done && !into.is_empty() {
            let produced = self.step(into)?;
            if produced > 0 {
                return Ok(produced);
            }
        }
        Ok(0)
    }
}
