//! The first bytes of a file: compression or encoding.

use std::io;

/// The number of bytes that decide.
pub(super) const HEAD_BYTES: usize = 10;

/// How a capture is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

impl Compression {
    /// The compression of data that begins like this; `None` for plain text.
    pub(super) fn of(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Compression::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', block @ ..] if is_bzip2_block(block) => {
                Some(Compression::Bzip2)
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            // pzstd writes a skippable frame first.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }
}

/// The first block of bzip2 begins with the digits of pi, the end of an empty file with those of its square root. A
/// text may begin with "BZh9" by chance, but not with these. If the file is cut there, its rest must match.
fn is_bzip2_block(head: &[u8]) -> bool {
    const PI: [u8; 6] = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
    const ROOT: [u8; 6] = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
    let head = head.get(..PI.len()).unwrap_or(head);
    PI.starts_with(head) || ROOT.starts_with(head)
}

/// The length of the byte order mark before the text.
///
/// If it is a mark other than that of UTF-8.
pub(super) fn mark_bytes(head: &[u8]) -> io::Result<usize> {
    let other = |text| Err(io::Error::new(io::ErrorKind::InvalidData, text));
    match head {
        [0xef, 0xbb, 0xbf, ..] => Ok(3),
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
            other("the text is UTF-32; convert it to UTF-8 first")
        }
        // Plain files are decoded elsewhere; this text is inside compressed data.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => other("the text is UTF-16; unpack it first"),
        _ => Ok(0),
    }
}
