//! Bytes that come one after the other, read (and decompressed) by a thread of their own.
//!
//! ```text
//! thread    read … LF| rest      rest + read … LF| rest      …      the rest goes to the next chunk
//! channel   chunk, chunk, chunk, chunk                              then the thread waits
//! ```

use super::magic::{self, Compression};
use super::utf16::{self, Utf16};
use super::{CHUNK_BYTES, decode};
use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// So many chunks are made ahead.
const AHEAD: usize = 4;

/// The first chunk comes with so much, so that a format is recognised early; the others with [`CHUNK_BYTES`].
const FIRST_BYTES: usize = 1 << 16;

/// Who hands out more without the end of a line hands out no trace; zeros are compressed to a thousandth.
const LONGEST_LINE_BYTES: usize = 1 << 29;

/// A decompressor that meets damage forgets what the call had decoded before; small calls forget little.
const DECODED_BYTES: usize = 1 << 12;

/// A piece of a capture: whole lines (only the last line of all may lack its LF).
pub struct Chunk {
    /// The lines.
    pub bytes: Vec<u8>,
    /// Where they begin in the text.
    pub offset: u64,
    /// Whether the text is known to end with them.
    pub last: bool,
}

/// What can be read once, from the beginning to the end. Dropped early, its thread ends.
pub struct Stream {
    pieces: Receiver<Piece>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Ended,
    Cut,
}

enum Piece {
    Chunk(Chunk),
    End(State),
    Failed(io::Error),
}

impl Stream {
    /// Read a source, decompressing it if its first bytes say so.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn new(source: impl Read + Send + 'static) -> io::Result<Stream> {
        let (send, pieces) = sync_channel(AHEAD);
        thread::Builder::new().name("input".to_owned()).spawn(move || {
            let end = feed(source, &send).unwrap_or_else(Piece::Failed);
            // Nobody may be there any more to hear it.
            let _ = send.send(end);
        })?;
        Ok(Stream { pieces, state: State::Open })
    }

    /// The next chunk; `None` at the end.
    ///
    /// # Errors
    /// Those of reading; compressed data of which nothing can be read; text that is not UTF-8 by its byte order mark.
    pub fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        if self.state != State::Open {
            return Ok(None);
        }
        match self.pieces.recv() {
            Ok(Piece::Chunk(chunk)) => return Ok(Some(chunk)),
            Ok(Piece::End(state)) => self.state = state,
            Ok(Piece::Failed(error)) => {
                self.state = State::Cut;
                return Err(error);
            }
            // The thread always says how it ended, unless a decompressor panicked.
            Err(_) => {
                self.state = State::Cut;
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the compressed data is damaged"));
            }
        }
        Ok(None)
    }

    /// Whether the compressed data stopped early or was damaged. Known once there is no next chunk.
    pub fn is_cut(&self) -> bool {
        self.state == State::Cut
    }
}

/// Read all of a source; how it ended.
fn feed(mut source: impl Read, send: &SyncSender<Piece>) -> io::Result<Piece> {
    let mut head = Vec::with_capacity(magic::HEAD_BYTES);
    (&mut source).take(magic::HEAD_BYTES as u64).read_to_end(&mut head)?;
    let (compression, encoding) = (Compression::of(&head), utf16::mark(&head));
    // At its end already: a terminal would be asked again, and wait.
    let rest = if head.len() < magic::HEAD_BYTES { 0 } else { u64::MAX };
    let source = Cursor::new(head).chain(source.take(rest));
    let (text, read_bytes): (Box<dyn Read>, usize) = match (compression, encoding) {
        (Some(compression), _) => (decode::text_of(compression, source), DECODED_BYTES),
        (None, Some(is_low_first)) => (Box::new(Utf16::new(source, is_low_first)), FIRST_BYTES),
        (None, None) => (Box::new(source), FIRST_BYTES),
    };
    let held = Vec::with_capacity(CHUNK_BYTES + FIRST_BYTES);
    let feed = Feed { text, compressed: compression.is_some(), read_bytes, held, lines_bytes: 0, offset: 0, send };
    feed.run().map(Piece::End)
}

/// Cuts a text into chunks.
struct Feed<'source> {
    text: Box<dyn Read + 'source>,
    compressed: bool,
    read_bytes: usize,
    held: Vec<u8>,
    /// How much of what is held is whole lines.
    lines_bytes: usize,
    offset: u64,
    send: &'source SyncSender<Piece>,
}

/// Why no more is read for now.
enum Filled {
    Enough,
    Ended,
    Broken(io::Error),
}

impl Feed<'_> {
    fn run(mut self) -> io::Result<State> {
        let mut want_bytes = FIRST_BYTES;
        loop {
            let filled = self.fill(want_bytes);
            if self.offset == 0 {
                self.drop_mark()?;
            }
            match filled {
                Filled::Enough if self.give_lines() => want_bytes = CHUNK_BYTES,
                // Nobody listens any more.
                Filled::Enough => return Ok(State::Ended),
                Filled::Ended => {
                    self.give_rest();
                    return Ok(State::Ended);
                }
                Filled::Broken(error) => return self.broken(error),
            }
        }
    }

    /// Hold so many bytes, and at least one whole line.
    fn fill(&mut self, want_bytes: usize) -> Filled {
        while self.held.len() < want_bytes || self.lines_bytes == 0 {
            if self.lines_bytes == 0 && self.held.len() > LONGEST_LINE_BYTES {
                let why = "a line is longer than 512 MiB, so it is no trace";
                return Filled::Broken(io::Error::new(io::ErrorKind::FileTooLarge, why));
            }
            let before = self.held.len();
            let read = (&mut self.text).take(self.read_bytes as u64).read_to_end(&mut self.held);
            let new = self.held.get(before..).unwrap_or_default();
            if let Some(lf) = memchr::memrchr(b'\n', new) {
                self.lines_bytes = before + lf + 1;
            }
            match read {
                // Less than asked for is the end, see above.
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

    /// Give the whole lines, keep the rest; false if nobody wants them.
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
        self.send.send(Piece::Chunk(Chunk { bytes, offset, last })).is_ok()
    }

    /// What could be read is given; compressed data that gave something is cut, all else is an error.
    fn broken(mut self, error: io::Error) -> io::Result<State> {
        self.give_rest();
        match (self.compressed, self.offset) {
            (false, _) => Err(error),
            (true, 0) if error.kind() == io::ErrorKind::FileTooLarge => Err(error),
            (true, 0) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let why = "the compressed data ends before anything of it can be unpacked; copy or capture it anew";
                Err(io::Error::new(error.kind(), why))
            }
            (true, 0) => Err(io::Error::new(error.kind(), format!("the compressed data is damaged: {error}"))),
            (true, _) => Ok(State::Cut),
        }
    }
}
