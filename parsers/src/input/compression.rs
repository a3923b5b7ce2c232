//! How a source is compressed, and the readers that unpack it.
//!
//! A reader here gives all it can before it reports that its input is cut or damaged.

use std::fmt;
use std::io::{BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;

use super::xz::XzText;
use super::zstd::ZstdText;

/// How much packed input is read at once.
const PACKED_BYTES: usize = 64 << 10;

/// How a source is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// By the first bytes; `None` if they are plain.
    pub fn of(mark: &[u8]) -> Option<Compression> {
        match mark {
            [0x1f, 0x8b, 8, ..] => Some(Compression::Gzip),
            // The size of blocks, then the first half of pi or of its square root.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Some(Compression::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            // A frame, or a frame to be skipped before it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// The text inside, all members of it.
    pub(super) fn unpack(self, packed: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        let packed = BufReader::with_capacity(PACKED_BYTES, packed);
        match self {
            Compression::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Compression::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
            Compression::Xz => Box::new(XzText::new(packed)),
            Compression::Zstd => Box::new(ZstdText::new(packed)),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Compression::Gzip => "gzip",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
            Compression::Zstd => "zstd",
        })
    }
}
