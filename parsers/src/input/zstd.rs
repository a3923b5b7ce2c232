//! Zstandard, fed block by block.
//!
//! The library holds back a window of up to 128 MiB until it has seen a frame's last block. In a file that is cut there
//! is none, so the last block that is whole is followed by an empty one of our own, marked as the last.
//!
//! ```text
//! frame  |header|block|block|bl
//! fed    |header|block|block|01 00 00|
//! ```

use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// What the zstd command accepts unless told otherwise.
const WINDOW_BYTES: u64 = 128 << 20;
/// No block is larger.
const BLOCK_BYTES: usize = 128 << 10;
const BLOCK_HEADER_BYTES: usize = 3;
const CHECKSUM_BYTES: usize = 4;
/// A raw block of no bytes, the last of its frame, and room for a checksum, which nobody compares.
const EMPTY_LAST_BLOCK: [u8; BLOCK_HEADER_BYTES + CHECKSUM_BYTES] = [1, 0, 0, 0, 0, 0, 0];

pub(super) struct ZstdText<R> {
    packed: R,
    frame: FrameDecoder,
    place: Place,
    block: Vec<u8>,
    failed: Option<io::Error>,
}

/// What comes next in the packed input.
enum Place {
    Frame,
    Block,
    Nothing,
}

impl<R: Read> ZstdText<R> {
    pub(super) fn new(packed: R) -> ZstdText<R> {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(WINDOW_BYTES);
        ZstdText { packed, frame, place: Place::Frame, block: Vec::new(), failed: None }
    }

    fn next_frame(&mut self) -> io::Result<Place> {
        let mut first = [0];
        if self.packed.read(&mut first)? == 0 {
            return Ok(Place::Nothing);
        }
        match self.frame.init(first.as_slice().chain(&mut self.packed)) {
            Ok(()) => Ok(Place::Block),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = u64::from(length);
                let skipped = io::copy(&mut (&mut self.packed).take(length), &mut io::sink())?;
                if skipped < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(Place::Frame) }
            }
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }

    fn next_block(&mut self) -> io::Result<Place> {
        let last = self.read_block()?;
        self.feed(None)?;
        Ok(if last { Place::Frame } else { Place::Block })
    }

    /// A whole block; whether it is the last of the frame.
    fn read_block(&mut self) -> io::Result<bool> {
        let mut header = [0; BLOCK_HEADER_BYTES];
        self.packed.read_exact(&mut header)?;
        let bits = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let (last, repeated, size) = (bits & 1 == 1, bits >> 1 & 3 == 1, (bits >> 3) as usize);
        let stored = if repeated { 1 } else { size };
        if size > BLOCK_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a block is larger than a block can be"));
        }
        self.block.clear();
        self.block.extend_from_slice(&header);
        // Where a frame has no checksum, what stands there is the next frame's.
        let checksum = if last && self.has_checksum() { CHECKSUM_BYTES } else { 0 };
        let want = stored + checksum;
        let got = (&mut self.packed).take(want as u64).read_to_end(&mut self.block)?;
        if got < stored {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if got < want {
            // All of the text is there.
            self.block.resize(BLOCK_HEADER_BYTES + want, 0);
            self.failed = Some(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(last)
    }
}
