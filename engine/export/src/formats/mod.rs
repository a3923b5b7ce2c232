//! One file per format, named by the word that the user types. Each writes a whole timeline.

use std::io;

pub mod chrome;
pub mod perfetto;
mod perfetto_messages;

/// Bytes that are handed over at once.
const PIECE_BYTES: usize = 1 << 20;

/// Gathers what is written, and hands it over in large pieces.
struct Pieces<'out> {
    held: Vec<u8>,
    out: &'out mut dyn io::Write,
}

impl<'out> Pieces<'out> {
    fn new(out: &'out mut dyn io::Write) -> Pieces<'out> {
        Pieces {
            held: Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 4),
            out,
        }
    }

    /// Hands over what is held, if it is enough for a piece.
    fn hand_over_if_large(&mut self) -> io::Result<()> {
        if self.held.len() < PIECE_BYTES {
            return Ok(());
        }
        self.hand_over()
    }

    fn hand_over(&mut self) -> io::Result<()> {
        self.out.write_all(&self.held)?;
        self.held.clear();
        Ok(())
    }
}
