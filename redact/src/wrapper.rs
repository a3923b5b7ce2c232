//! What loggers, collectors and web pages put around a line: it stays as far as it is known, and the line inside is
//! rewritten as if it stood alone.
//!
//! ```text
//! In:   {"log":"read(3, \"secret\", 6) = 6\n","stream":"stderr","time":"2026-01-02T03:04:05Z"}
//! Out:  {"log":"read(3, \"xxxxxx\", 6) = 6\n","stream":"stderr","time":"2026-01-02T03:04:05Z"}
//! ```

use std::ops::Range;

/// Where the text inside stands in its line.
pub(crate) enum Place {
    /// As it is.
    Plain(Range<usize>),
    /// With the escapes of JSON, and the line end that the string has in addition.
    Json(Range<usize>, &'static [u8]),
    /// With colours, entities or marks that decide nothing about the line.
    Lost,
}

/// Where a text stands in the line around it.
pub(crate) fn place(line: &[u8], inner: &[u8]) -> Place {
    match found(line, inner) {
        Some(at) => Place::Plain(at..at + inner.len()),
        None => json_range(line, inner)
            .map_or(Place::Lost, |(range, ending)| Place::Json(range, ending)),
    }
}

/// Where the text stands, the last place of several: what precedes it may contain it too.
fn found(line: &[u8], inner: &[u8]) -> Option<usize> {
    if inner.is_empty() {
        None
    } else {
        memchr::memmem::rfind(line, inner)
    }
}

/// The string of a JSON object that stands for this text, without quotes, and the line end that it has in addition.
fn json_range<'a>(line: &'a [u8], inner: &[u8]) -> Option<(Range<usize>, &'static [u8])> {
    let mut at = 0;
    while let Some(quote) = line.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let start = at + quote + 1;
        let length = parsers::scan::string_end(&line[start..]);
        let string: &'a [u8] = &line[start..start + length];
        for ending in [&b""[..], b"\\n"] {
            if string
                .strip_suffix(ending)
                .is_some_and(|string| is_escaped(string, inner))
            {
                return Some((
                    start..start + length,
                    if ending.is_empty() { b"" } else { b"\\n" },
                ));
            }
        }
        at = start + length + 1;
    }
    None
}

/// Whether a string with escapes stands for this text; blanks may stand for line ends.
fn is_escaped(string: &[u8], inner: &[u8]) -> bool {
    let plain = |byte: &&u8| byte.is_ascii_alphanumeric();
    let letters = |text: &[u8]| text.iter().filter(plain).count();
    // Escapes add letters (`\n`, `\u0041`) and never remove any but their own.
    string.len() >= inner.len()
        && letters(string) >= letters(inner)
        && unescaped(string) == without_line_ends(inner)
}

fn without_line_ends(text: &[u8]) -> Vec<u8> {
    text.iter()
        .map(|&byte| if byte == b'\n' { b' ' } else { byte })
        .collect()
}

fn unescaped(string: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(string.len());
    let mut rest = string;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some((&letter, after)) = rest.split_first() else {
            break;
        };
        rest = after;
        match letter {
            b'n' => out.push(b' '),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'u' => {
                let code = rest
                    .get(..4)
                    .and_then(|digits| std::str::from_utf8(digits).ok());
                let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let letter = code
                    .and_then(char::from_u32)
                    .filter(|&letter| letter != '\n');
                let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                rest = rest.get(4..).unwrap_or(b"");
            }
            other => out.push(other),
        }
    }
    out
}

/// The text as a string of JSON shows it.
pub(crate) fn escaped_as_json(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 16);
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0..=31 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out
}
