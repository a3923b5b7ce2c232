//! Where the lines of a file are: how many lie before each of its chunks.

/// Where the lines of a file are.
pub struct FileChunks {
    /// Length of a cell.
    pub cell_bytes: u64,
    /// How many lines lie before each.
    pub lines_before: Vec<u32>,
}
