//! Lines of a capture, read again when asked for: proof for findings, arguments of events.

use parsers::input::{self, Source};
use std::io;
use std::path::Path;

/// A quoted line is cut here; nobody reads more, and a line may have hundreds of megabytes.
const LONGEST_BYTES: usize = 4096;

/// The text of these lines (from 1) of a file, in the order asked for; lines that are not there are empty.
///
/// # Errors
/// If the file cannot be read again: standard input, or a file that is gone.
pub fn quote(path: &str, lines: &[u64]) -> io::Result<Vec<String>> {
    let mut wanted: Vec<(u64, usize)> = lines.iter().copied().zip(0..).collect();
    wanted.sort_unstable();
    let mut found = vec![String::new(); lines.len()];
    let mut wanted = wanted.into_iter().peekable();
    let mut number = 0u64;
    let mut chunks = chunks(path)?;
    while wanted.peek().is_some() {
        let Some(bytes) = chunks()? else { break };
        let here = memchr::memchr_iter(b'\n', &bytes).count() as u64
            + u64::from(bytes.last().is_some_and(|&byte| byte != b'\n'));
        if wanted.peek().is_some_and(|&(line, _)| line > number + here) {
            number += here;
            continue;
        }
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            number += 1;
            while let Some((_, place)) = wanted.next_if(|&(wanted, _)| wanted <= number) {
                found[place] = text_of(line);
            }
        }
    }
    Ok(found)
}

fn text_of(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    String::from_utf8_lossy(&line[..line.len().min(LONGEST_BYTES)]).into_owned()
}

type Chunks = Box<dyn FnMut() -> io::Result<Option<Vec<u8>>>>;

fn chunks(path: &str) -> io::Result<Chunks> {
    if path == "-" {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "standard input cannot be read a second time"));
    }
    Ok(match input::open(Path::new(path))? {
        Source::File(file) => {
            let mut cells = 0..file.cells();
            Box::new(move || {
                let Some(cell) = cells.next() else { return Ok(None) };
                let mut bytes = Vec::new();
                file.read_cell(cell, &mut bytes)?;
                Ok(Some(bytes))
            })
        }
        Source::Stream(mut stream) => Box::new(move || Ok(stream.next_chunk()?.map(|chunk| chunk.bytes))),
    })
}
