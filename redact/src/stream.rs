//! A capture as it comes, in pieces of any size.

use crate::line::Lines;
use crate::names::{Kept, Names};
use crate::pseudonym::{Pseudonyms, Translations};
use crate::token;
use crate::{InvalidPattern, Options, UnknownFormat};
use parsers::Head;
use parsers::input::{self, Source};
use regex::bytes::{Regex, RegexBuilder};
use std::io;
use std::path::Path;

/// The format is decided from this many bytes, or from all if there are fewer.
const HEAD_BYTES: usize = 1 << 17;
/// A longer line is cut here, so that memory is bounded. Its parts are rewritten as lines.
const MAX_LINE_BYTES: usize = 1 << 26;
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// A pattern of texts to keep.
///
/// # Errors
/// If it is not valid.
pub fn compiled(pattern: &str) -> Result<Regex, InvalidPattern> {
    let built = RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(MAX_PATTERN_BYTES)
        .build();
    built.map_err(|error| InvalidPattern(error.to_string()))
}

/// Rewrites one capture after the other with the same key.
pub struct Redactor {
    lines: Lines,
    /// What has not been rewritten: the head before the format is known, then the last line.
    pending: Vec<u8>,
    has_begun: bool,
    format: Option<String>,
}

impl Redactor {
    /// # Errors
    /// If the pattern of what to keep is not valid.
    pub fn new(options: &Options) -> Result<Redactor, InvalidPattern> {
        let pattern = options.keep.as_deref().map(compiled).transpose()?;
        let kept = Kept {
            pattern,
            programs: options.keeps_programs,
        };
        let names = Names::new(Pseudonyms::new(options.key.clone(), options.has_map), kept);
        Ok(Redactor {
            lines: Lines::new(names),
            pending: Vec::new(),
            has_begun: false,
            format: options.format.clone(),
        })
    }

    /// Take the next bytes of the capture, and append what can be rewritten.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.pending.extend_from_slice(bytes);
        if !self.has_begun {
            if self.pending.len() < HEAD_BYTES {
                return;
            }
            self.begin(false);
        }
        let lines = memchr::memrchr(b'\n', &self.pending).map_or(0, |at| at + 1);
        let lines = if lines == 0 && self.pending.len() > MAX_LINE_BYTES {
            self.pending.len()
        } else {
            lines
        };
        self.rewrite(lines, out);
    }

    /// Decide the format from what came so far, if that is a line at least, and append what can be rewritten.
    pub fn settle(&mut self, out: &mut Vec<u8>) {
        if !self.has_begun && self.pending.contains(&b'\n') {
            self.begin(false);
            self.feed(b"", out);
        }
    }

    /// The capture ends here. The next one may follow.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.has_begun {
            self.begin(true);
        }
        self.rewrite(self.pending.len(), out);
        self.has_begun = false;
    }

    fn begin(&mut self, is_complete: bool) {
        self.lines.begin(
            Head {
                bytes: &self.pending,
                complete: is_complete,
            },
            self.format.as_deref(),
        );
        self.has_begun = true;
    }

    fn rewrite(&mut self, length: usize, out: &mut Vec<u8>) {
        let pending = std::mem::take(&mut self.pending);
        for line in pending[..length].split_inclusive(|&byte| byte == b'\n') {
            let start = out.len();
            let whole = line.strip_suffix(b"\n");
            self.lines.line(whole.unwrap_or(line), out);
            token::make_inert(&mut out[start..]);
            if whole.is_some() {
                out.push(b'\n');
            }
        }
        self.pending = pending;
        self.pending.drain(..length);
    }

    /// Whether no format fits the capture. Known once something was returned.
    pub fn is_unknown(&self) -> bool {
        self.has_begun && !self.lines.has_format()
    }

    fn check(&self) -> io::Result<()> {
        if self.is_unknown() {
            Err(io::Error::new(io::ErrorKind::InvalidData, UnknownFormat))
        } else {
            Ok(())
        }
    }

    /// Read a capture, compressed or not, and hand over what replaces it, piece by piece, with the translations in it.
    /// Returns whether compressed data ended early.
    ///
    /// # Errors
    /// Of reading, and those of `write`.
    pub fn copy<E: From<io::Error>>(
        &mut self,
        path: &Path,
        mut write: impl FnMut(&[u8], Translations) -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut out = Vec::new();
        let mut is_cut = false;
        match input::open(path)? {
            Source::Stream(mut stream) => {
                while let Some(chunk) = stream.next_chunk()? {
                    self.feed(&chunk.bytes, &mut out);
                    self.check()?;
                    write(&out, self.take_translations())?;
                    out.clear();
                }
                is_cut = stream.is_cut();
            }
            Source::File(_) => {
                use io::Read;
                let path = if path.as_os_str() == "-" {
                    Path::new("/dev/stdin")
                } else {
                    path
                };
                let mut file = std::fs::File::open(path)?;
                let mut buffer = vec![0; 1 << 20];
                loop {
                    let read = file.read(&mut buffer)?;
                    if read == 0 {
                        break;
                    }
                    self.feed(&buffer[..read], &mut out);
                    self.check()?;
                    write(&out, self.take_translations())?;
                    out.clear();
                }
            }
        }
        if !self.has_begun {
            self.begin(true);
            self.check()?;
        }
        self.finish(&mut out);
        write(&out, self.take_translations())?;
        Ok(is_cut)
    }

    /// A single name, such as an argument of the command that was recorded.
    pub fn name(&mut self, name: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.lines.names.text(name, false, &mut out);
        out
    }

    /// Words and what replaced them since the last call, if the options ask for them.
    pub fn take_translations(&mut self) -> Translations {
        self.lines.names.pseudonyms.take_translations()
    }
}
