//! The positions of lines in a file: the number of lines before each of its chunks.

/// An index from chunks of a file to lines.
pub struct FileChunks {
    /// Length of a chunk.
    pub cell_bytes: u64,
    /// The number of lines before each chunk.
    pub lines_before: Vec<u32>,
}
