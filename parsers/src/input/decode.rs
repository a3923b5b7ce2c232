//! Decompressors that return everything readable before they report missing or damaged data.

use super::magic::Compression;
use lzma_rust2::{Action, Status, XzStream};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read};

/// The largest dictionary (xz) and window (zstd) that their own tools write.
const MAX_MEMORY_BYTES: u64 = 2 << 30;

/// A reader of the text in compressed data: all its members, streams or frames.
pub(super) fn text_of<'source>(
    compression: Compression,
    source: impl Read + 'source,
) -> Box<dyn Read + 'source> {
    let source = BufReader::with_capacity(1 << 16, source);
    match compression {
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(source)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(source)),
        Compression::Xz => Box::new(Xz::new(source)),
        Compression::Zstd => Box::new(Zstd::new(source)),
    }
}

fn damaged(why: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Why a frame failed: a missing end, or damage.
fn cut_or_damaged(error: FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if inner
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
        {
            return io::ErrorKind::UnexpectedEof.into();
        }
        cause = inner.source();
    }
    damaged(error)
}

/// All streams of an xz file.
///
/// The library's reader needs a whole block, up to 2 MiB of text, before it returns the first byte. Fed step by step,
/// it returns what is available, so a small cut file is not lost.
struct Xz<R> {
    source: R,
    stream: XzStream,
}

impl<R> Xz<R> {
    fn new(source: R) -> Xz<R> {
        Xz {
            source,
            stream: XzStream::new_mem_limit(true, (MAX_MEMORY_BYTES >> 10) as u32),
        }
    }
}

impl<R: BufRead> Read for Xz<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let input = self.source.fill_buf()?;
            let action = if input.is_empty() {
                Action::Finish
            } else {
                Action::Run
            };
            let step = self.stream.process(input, into, action)?;
            self.source.consume(step.bytes_consumed);
            if step.bytes_produced > 0 || step.status == Status::StreamEnd || into.is_empty() {
                return Ok(step.bytes_produced);
            }
            if step.bytes_consumed == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// All frames of a zstd file.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    at: At,
}

/// The position in a file of frames.
enum At {
    Between,
    Inside,
    /// Inside a frame whose rest cannot be read.
    Broken(FrameDecoderError),
}

impl<R: BufRead> Zstd<R> {
    fn new(source: R) -> Zstd<R> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_MEMORY_BYTES);
        Zstd {
            source,
            decoder,
            at: At::Between,
        }
    }

    /// Go to the next frame; false at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.at = At::Inside;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut (&mut self.source).take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(cut_or_damaged(error)),
            }
        }
        Ok(false)
    }

    /// Decode until text is available or the frame ends.
    fn decode(&mut self) -> io::Result<()> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            if let Err(error) = self
                .decoder
                .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
            {
                // The decoder holds back a window of several MiB until the last block. So it gets one: an empty block,
                // and a checksum that is not verified.
                let last_block = [1, 0, 0, 0, 0, 0, 0];
                self.decoder
                    .decode_blocks(&last_block[..], BlockDecodingStrategy::All)
                    .map_err(damaged)?;
                self.at = At::Broken(error);
            }
        }
        Ok(())
    }

    /// Verify the checksum of a complete frame.
    fn end_frame(&mut self) -> io::Result<()> {
        if let At::Broken(error) = std::mem::replace(&mut self.at, At::Between) {
            return Err(cut_or_damaged(error));
        }
        let told = self.decoder.get_checksum_from_data();
        if told.is_some() && told != self.decoder.get_calculated_checksum() {
            return Err(damaged("the checksum of a frame does not match"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if matches!(self.at, At::Between) && !self.next_frame()? {
                return Ok(0);
            }
            self.decode()?;
            let read = self.decoder.read(into)?;
            if read > 0 {
                return Ok(read);
            }
            self.end_frame()?;
        }
    }
}
