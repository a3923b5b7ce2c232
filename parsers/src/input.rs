//! Where the bytes come from: files, compressed files, streams; cut into chunks of whole lines.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// How much a chunk holds unless a line is longer.
pub const CHUNK_BYTES: usize = 1 << 20;

/// A piece of a capture: whole lines (only the last line of all may lack its LF).
pub struct Chunk {
    /// The lines.
    pub bytes: Vec<u8>,
    /// Where they begin.
    pub offset: u64,
}

/// A file that can be read at any place.
pub struct Seekable {
    file: File,
    len: u64,
}

impl Seekable {
    /// Its length at opening.
    pub fn len(&self) -> u64 {
        self.len
    }
    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.len.div_ceil(CHUNK_BYTES as u64) as usize
    }
    /// The lines that start in a cell.
    ///
    /// # Errors
    /// Those of reading.
    pub fn read_cell(&self, cell: usize, into: &mut Vec<u8>) -> io::Result<u64> {
        into.clear();
        let mut from = (cell * CHUNK_BYTES) as u64;
        let to = (from + CHUNK_BYTES as u64).min(self.len);
        let back = u64::from(cell > 0);
        into.resize((to - from + back) as usize, 0);
        self.file.read_exact_at(into, from - back)?;
        if back == 1 {
            match memchr::memchr(b'\n', into) {
                Some(at) if at + 1 < into.len() => {
                    into.drain(..=at);
                    from += at as u64;
                }
                _ => {
                    into.clear();
                    return Ok(from);
                }
            }
        }
        let mut at = to;
        while at < self.len && into.last() != Some(&b'\n') {
            let have = into.len();
            into.resize(have + 4096.min((self.len - at) as usize), 0);
            self.file.read_exact_at(&mut into[have..], at)?;
            match memchr::memchr(b'\n', &into[have..]) {
                Some(end) => into.truncate(have + end + 1),
                None => at += (into.len() - have) as u64,
            }
        }
        Ok(from)
    }
}

/// A stream.
pub struct Stream;
impl Stream {
    /// Next.
    ///
    /// # Errors
    /// Those of reading.
    pub fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        Ok(None)
    }
    /// Cut.
    pub fn is_cut(&self) -> bool {
        false
    }
}
/// Source.
pub enum Source {
    /// File.
    File(Seekable),
    /// Stream.
    Stream(Stream),
}
/// Open.
///
/// # Errors
/// Those of opening.
pub fn open(path: &Path) -> io::Result<Source> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    Ok(Source::File(Seekable { file, len }))
}
