//! Sequential input, read (and decompressed) by its own thread.
//!
//! ```text
//! thread    read … LF| rest      rest + read … LF| rest      …      the rest goes to the next chunk
//! channel   chunk, chunk, chunk, chunk                              then the thread waits
//! ```

use super::magic::{self, Compression};
use super::utf16::{self, Utf16};
use super::{CHUNK_BYTES, decode, unfold};
use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Chunks that are prepared ahead.
const AHEAD: usize = 4;

/// Size of the first chunk, small so that the format is recognised early. The others have [`CHUNK_BYTES`].
pub(super) const FIRST_BYTES: usize = 1 << 16;

/// Longer lines do not occur in traces. Compressed zeros expand a thousandfold, so this limits memory.
const MAX_LINE_BYTES: usize = 1 << 29;

/// Compressed data that is longer when unpacked is refused if it has grown by more than [`MAX_EXPANSION`]. Each of its
/// lines takes memory, so a file of some MB could take all there is.
const MAX_EXPANDED_BYTES: u64 = 1 << 30;

/// Source: traces with stamps shrink to a tenth or less, kept captures of loops to a fiftieth, and 200,000 equal lines to
/// 1/330.
const MAX_EXPANSION: u64 = 200;

/// A decompressor that finds damage discards what this call has decoded so far, so each call decodes little.
const DECODED_BYTES: usize = 1 << 12;

/// A part of a capture: whole lines. Only the last line of the capture may lack its LF.
pub struct Chunk {
    /// The lines.
    pub bytes: Vec<u8>,
    /// Their offset in the text.
    pub offset: u64,
    /// Whether the text is known to end after them.
    pub last: bool,
    /// Whether lines were folded, and put together again.
    pub was_folded: bool,
}

/// A source that can be read once, from start to end. If it is dropped early, its thread ends.
pub struct Stream {
    pieces: Receiver<StreamMessage>,
    state: StreamState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamState {
    Open,
    Ended,
    Cut,
}

enum StreamMessage {
    Chunk(Chunk),
    End(StreamState),
    Failed(io::Error),
}

impl Stream {
    /// Read a source, decompressing it if its first bytes say so.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn new(source: impl Read + Send + 'static) -> io::Result<Stream> {
        let (send, pieces) = sync_channel(AHEAD);
        thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || {
                let end = feed(source, &send).unwrap_or_else(StreamMessage::Failed);
                // The receiver may have been dropped.
                let _ = send.send(end);
            })?;
        Ok(Stream {
            pieces,
            state: StreamState::Open,
        })
    }

    /// The next chunk; `None` at the end.
    ///
    /// Errors of reading; compressed data without a readable part; text whose byte order mark is not that of UTF-8.
    pub fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        if self.state != StreamState::Open {
            return Ok(None);
        }
        match self.pieces.recv() {
            Ok(StreamMessage::Chunk(chunk)) => return Ok(Some(chunk)),
            Ok(StreamMessage::End(state)) => self.state = state,
            Ok(StreamMessage::Failed(error)) => {
                self.state = StreamState::Cut;
                return Err(error);
            }
            // The thread always sends its end, unless a decompressor panicked.
            Err(_) => {
                self.state = StreamState::Cut;
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the compressed data is damaged",
                ));
            }
        }
        Ok(None)
    }

    /// Whether the compressed data ended early or was damaged. Known once there is no next chunk.
    pub fn is_cut(&self) -> bool {
        self.state == StreamState::Cut
    }
}

/// Read a whole source; returns how it ended.
fn feed(mut source: impl Read, send: &SyncSender<StreamMessage>) -> io::Result<StreamMessage> {
    let mut head = Vec::with_capacity(magic::HEAD_BYTES);
    (&mut source)
        .take(magic::HEAD_BYTES as u64)
        .read_to_end(&mut head)?;
    let (compression, encoding) = (Compression::of(&head), utf16::mark(&head));
    // The end is reached already. Another read of a terminal would wait for more input.
    let rest = if head.len() < magic::HEAD_BYTES {
        0
    } else {
        u64::MAX
    };
    let taken = Rc::new(Cell::new(0));
    let source = Counted(
        Cursor::new(head).chain(source.take(rest)),
        Rc::clone(&taken),
    );
    let (text, read_bytes): (Box<dyn Read>, usize) = match (compression, encoding) {
        (Some(compression), _) => (decode::text_of(compression, source), DECODED_BYTES),
        (None, Some(is_low_first)) => (Box::new(Utf16::new(source, is_low_first)), FIRST_BYTES),
        (None, None) => (Box::new(source), FIRST_BYTES),
    };
    let held = Vec::with_capacity(CHUNK_BYTES + FIRST_BYTES);
    let feed = Feed {
        text,
        compressed: compression.is_some().then_some(taken),
        read_bytes,
        held,
        lines_bytes: 0,
        offset: 0,
        was_folded: false,
        send,
    };
    feed.run().map(StreamMessage::End)
}

/// A source, and how many bytes were read from it.
struct Counted<R>(R, Rc<Cell<u64>>);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.set(self.1.get() + read as u64);
        Ok(read)
    }
}

/// Whether so many bytes were unpacked from so few that they must not all be held in memory.
fn expands_too_much(packed_bytes: u64, text_bytes: u64) -> bool {
    text_bytes > MAX_EXPANDED_BYTES && text_bytes / MAX_EXPANSION > packed_bytes
}

/// Cuts a text into chunks.
struct Feed<'source> {
    text: Box<dyn Read + 'source>,
    /// How much was read of compressed data.
    compressed: Option<Rc<Cell<u64>>>,
    read_bytes: usize,
    held: Vec<u8>,
    /// How many of the held bytes are whole lines.
    lines_bytes: usize,
    offset: u64,
    was_folded: bool,
    send: &'source SyncSender<StreamMessage>,
}

/// Why reading paused.
enum Filled {
    Enough,
    Ended,
    Broken(io::Error),
}

impl Feed<'_> {
    fn run(mut self) -> io::Result<StreamState> {
        let mut want_bytes = FIRST_BYTES;
        loop {
            let mut filled = self.fill(want_bytes);
            if self.offset == 0 {
                self.drop_mark()?;
                filled = self.unfold(filled);
            }
            match filled {
                Filled::Enough if self.give_lines() => want_bytes = CHUNK_BYTES,
                // The receiver was dropped.
                Filled::Enough => return Ok(StreamState::Ended),
                Filled::Ended => {
                    self.give_rest();
                    return Ok(StreamState::Ended);
                }
                Filled::Broken(error) => return self.broken(error),
            }
        }
    }

    /// Hold this number of bytes, and at least one whole line.
    fn fill(&mut self, want_bytes: usize) -> Filled {
        while self.held.len() < want_bytes || self.lines_bytes == 0 {
            if self.lines_bytes == 0 && self.held.len() > MAX_LINE_BYTES {
                let why = "a line is longer than 512 MiB, so this is not a trace";
                return Filled::Broken(io::Error::new(io::ErrorKind::FileTooLarge, why));
            }
            let text_bytes = self.offset + self.held.len() as u64;
            if self
                .compressed
                .as_ref()
                .is_some_and(|packed| expands_too_much(packed.get(), text_bytes))
            {
                let why = "it unpacks to more than 1 GiB and 200 times its size. If you trust it, unpack it first";
                return Filled::Broken(io::Error::new(io::ErrorKind::QuotaExceeded, why));
            }
            let before = self.held.len();
            let read = (&mut self.text)
                .take(self.read_bytes as u64)
                .read_to_end(&mut self.held);
            let new = self.held.get(before..).unwrap_or_default();
            if let Some(lf) = memchr::memrchr(b'\n', new) {
                self.lines_bytes = before + lf + 1;
            }
            match read {
                // Less than requested means the end, see above.
                Ok(read) if read < self.read_bytes => return Filled::Ended,
                Ok(_) => {}
                Err(error) => return Filled::Broken(error),
            }
        }
        Filled::Enough
    }

    fn drop_mark(&mut self) -> io::Result<()> {
        let mark = magic::mark_bytes(&self.held)?;
        self.held.drain(..mark);
        self.lines_bytes = self.lines_bytes.saturating_sub(mark);
        self.offset = mark as u64;
        Ok(())
    }

    /// Put folded lines together, if this is a text that somebody pasted.
    fn unfold(&mut self, filled: Filled) -> Filled {
        if matches!(filled, Filled::Broken(_)) || !unfold::is_folded(&self.held[..self.lines_bytes])
        {
            return filled;
        }
        let filled = match filled {
            Filled::Enough => self.fill(unfold::max_bytes(&self.held)),
            filled => filled,
        };
        if let (Filled::Ended, Some(text)) = (&filled, unfold::unfolded(&self.held)) {
            (self.held, self.was_folded) = (text, true);
        }
        filled
    }

    /// Send the whole lines, keep the rest; false if the receiver was dropped.
    fn give_lines(&mut self) -> bool {
        let rest = self.held.get(self.lines_bytes..).unwrap_or_default();
        let mut held = Vec::with_capacity(rest.len() + CHUNK_BYTES + FIRST_BYTES);
        held.extend_from_slice(rest);
        self.held.truncate(self.lines_bytes);
        self.lines_bytes = 0;
        let lines = std::mem::replace(&mut self.held, held);
        self.give(lines, false)
    }

    fn give_rest(&mut self) {
        let rest = std::mem::take(&mut self.held);
        if !rest.is_empty() {
            self.give(rest, true);
        }
    }

    fn give(&mut self, bytes: Vec<u8>, last: bool) -> bool {
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        self.send
            .send(StreamMessage::Chunk(Chunk {
                bytes,
                offset,
                last,
                was_folded: self.was_folded,
            }))
            .is_ok()
    }

    /// Send what was read. Compressed data that gave something is cut; everything else is an error.
    fn broken(mut self, error: io::Error) -> io::Result<StreamState> {
        self.give_rest();
        match (self.compressed.is_some(), self.offset) {
            (true, _) if error.kind() == io::ErrorKind::QuotaExceeded => Err(error),
            (false, _) => Err(error),
            (true, 0) if error.kind() == io::ErrorKind::FileTooLarge => Err(error),
            (true, 0) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let why = "the compressed data ends before any of it can be unpacked; copy or capture it again";
                Err(io::Error::new(error.kind(), why))
            }
            (true, 0) => Err(io::Error::new(
                error.kind(),
                format!("the compressed data is damaged: {error}"),
            )),
            (true, _) => Ok(StreamState::Cut),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_texts_from_little_data_expand_too_much() {
        assert!(expands_too_much(5 << 20, 2 << 30));
        assert!(!expands_too_much(50 << 20, 2 << 30));
        assert!(!expands_too_much(1 << 10, 1 << 29));
    }
}
