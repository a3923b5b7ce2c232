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

/// The first thing that `look` finds in the lines of a file; it gets their texts without the line end, and their numbers.
///
/// # Errors
/// If the file cannot be read again.
pub fn first<T>(path: &str, mut look: impl FnMut(&[u8], u64) -> Option<T>) -> io::Result<Option<T>> {
    let mut number = 0;
    let mut chunks = chunks(path)?;
    while let Some(bytes) = chunks()? {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            number += 1;
            let found = look(without_end(line), number);
            if found.is_some() {
                return Ok(found);
            }
        }
    }
    Ok(None)
}

/// Reads lines of a file in ascending order, so that many can be quoted in one pass.
pub struct Lines {
    path: String,
    chunks: Chunks,
    bytes: Vec<u8>,
    at: usize,
    number: u64,
}

impl Lines {
    /// Begin at the first line.
    ///
    /// # Errors
    /// If the file cannot be read again.
    pub fn open(path: &str) -> io::Result<Lines> {
        Ok(Lines { path: path.to_owned(), chunks: chunks(path)?, bytes: Vec::new(), at: 0, number: 0 })
    }

    /// The text of a line, from 1; empty if there is none. Going back costs reading from the start again.
    ///
    /// # Errors
    /// Those of reading.
    pub fn line(&mut self, wanted: u64) -> io::Result<String> {
        if wanted <= self.number {
            *self = Lines::open(&self.path)?;
        }
        loop {
            while self.at < self.bytes.len() {
                let rest = &self.bytes[self.at..];
                let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
                self.at += len;
                self.number += 1;
                if self.number == wanted {
                    return Ok(text_of(&rest[..len]));
                }
            }
            let Some(bytes) = (self.chunks)()? else { return Ok(String::new()) };
            (self.bytes, self.at) = (bytes, 0);
        }
    }
}

/// The arguments of a call as its line has them: from the parenthesis behind its name to the result, or as far as the
/// line goes.
pub fn args_of<'line>(line: &'line str, syscall: &str) -> &'line str {
    let opened = format!("{syscall}(");
    let Some(from) = line.find(&opened).map(|at| at + opened.len()) else { return "" };
    let rest = &line[from..];
    let is_end = |&(at, _): &(usize, &str)| {
        let behind = rest[at + 1..].trim_start();
        behind.is_empty() || ["= ", "Err#", "ERR#", "argc = ", "(", "<"].iter().any(|sign| behind.starts_with(sign))
    };
    let end = rest.rmatch_indices(')').find(is_end).map(|(at, _)| at);
    rest[..end.unwrap_or(rest.len())].trim_end_matches(" <unfinished ...>")
}

fn text_of(line: &[u8]) -> String {
    let line = without_end(line);
    String::from_utf8_lossy(&line[..line.len().min(LONGEST_BYTES)]).into_owned()
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

type Chunks = Box<dyn FnMut() -> io::Result<Option<Vec<u8>>> + Send>;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_end_where_the_result_begins() {
        let cases = [
            (r#"7 1.5 read(3</a(b)>, "= 1) = 2", 9) = 9 <0.1>"#, "read", r#"3</a(b)>, "= 1) = 2", 9"#),
            ("7 1.5 wait4(-1,  <unfinished ...>", "wait4", "-1, "),
            ("8:\t 4.5\tioctl(3, TCGETA, 0x8)\t\tErr#25 ENOTTY", "ioctl", "3, TCGETA, 0x8"),
            ("exit(0x0)\t\t", "exit", "0x0"),
            ("7 +++ exited with 0 +++", "exit_group", ""),
        ];
        for (line, syscall, expected) in cases {
            assert_eq!(args_of(line, syscall), expected, "{line}");
        }
    }
}
