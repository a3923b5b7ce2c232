//! Strings in quotes: where they end, which bytes they stand for, and how other bytes are written in their place.
//!
//! ```text
//! strace, dtruss, ltrace    "a\"b\n\303\251"      a backslash escapes the next byte
//! Solaris, AIX truss        "  S E C\n R".., 12   buffers: two characters a byte
//! FreeBSD truss             "a "quoted" word"     quotes are not escaped
//! ```

/// How a tracer quotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quoting {
    /// A backslash escapes the next byte.
    Backslash,
    /// Buffers of calls that move data are written in pairs.
    Pairs,
    /// Quotes inside of a string are not escaped.
    Bare,
}

impl Quoting {
    /// That of a format.
    pub fn of(format: &str) -> Quoting {
        match format {
            "truss-solaris" | "truss-aix" => Quoting::Pairs,
            "truss-freebsd" => Quoting::Bare,
            _ => Quoting::Backslash,
        }
    }

    /// Length of a string without its opening quote, and whether it is closed. The closing quote is not part of it.
    pub fn length(self, inner: &[u8], is_payload: bool) -> (usize, bool) {
        let found = match (self, is_payload) {
            (Quoting::Pairs, true) => pairs_end(inner),
            (Quoting::Bare, true) => bare_end(inner),
            _ => Some(parsers::scan::string_end(inner)).filter(|&end| end < inner.len()),
        };
        (found.unwrap_or(inner.len()), found.is_some())
    }

    /// How many bytes a buffer shows.
    pub fn shown_bytes(self, inner: &[u8], is_payload: bool) -> usize {
        match (self, is_payload) {
            (Quoting::Pairs, true) => inner.len().div_ceil(2),
            _ => decoded(inner).0.len(),
        }
    }
}

/// A quote at the start of a pair ends the text: no byte is written with one there.
fn pairs_end(inner: &[u8]) -> Option<usize> {
    let at = inner
        .chunks(2)
        .position(|pair| pair[0] == b'"')
        .map(|at| at * 2);
    // A page that folds blanks breaks the pairs.
    at.or_else(|| memchr::memmem::find(inner, b"\".."))
        .or_else(|| memchr::memrchr(b'"', inner))
}

/// The last quote before the result, after which an argument or the end follows.
fn bare_end(inner: &[u8]) -> Option<usize> {
    let args = [&b") = "[..], b") ERR#", b")\t"]
        .iter()
        .filter_map(|end| memchr::memmem::rfind(inner, end))
        .max();
    let args = &inner[..args.unwrap_or(inner.len())];
    let ends = |&at: &usize| {
        let rest = args.get(at + 1..).unwrap_or(b"");
        let rest = rest.strip_prefix(b"...").unwrap_or(rest);
        rest.is_empty() || rest.starts_with(b",")
    };
    memchr::memrchr_iter(b'"', args).find(ends)
}

/// How the bytes of a string were written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// Only where needed.
    Plain,
    /// Each as `\x41`.
    AllHex,
}

/// The bytes that a string stands for.
pub(crate) fn decoded(inner: &[u8]) -> (Vec<u8>, Style) {
    if memchr::memchr(b'\\', inner).is_none() {
        return (inner.to_vec(), Style::Plain);
    }
    let mut out = Vec::with_capacity(inner.len());
    let (mut rest, mut all_hex) = (inner, true);
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'\\' {
            all_hex = false;
            out.push(byte);
            rest = after;
            continue;
        }
        let (value, used, is_hex) = escape(after);
        all_hex &= is_hex;
        out.push(value);
        rest = after.get(used..).unwrap_or(b"");
    }
    (out, if all_hex { Style::AllHex } else { Style::Plain })
}

/// The byte of an escape whose backslash is removed already, the length of the escape, and whether it is `\xHH`.
fn escape(text: &[u8]) -> (u8, usize, bool) {
    let hex = |text: &[u8]| {
        let digits = std::str::from_utf8(text.get(..2)?).ok()?;
        u8::from_str_radix(digits, 16).ok()
    };
    match text {
        [b'x', rest @ ..] if hex(rest).is_some() => (hex(rest).unwrap_or(0), 3, true),
        [b'0'..=b'7', ..] => {
            let count = text
                .iter()
                .take(3)
                .take_while(|byte| (b'0'..=b'7').contains(byte))
                .count();
            let value = text[..count]
                .iter()
                .fold(0u32, |value, byte| value * 8 + u32::from(byte - b'0'));
            (value as u8, count, false)
        }
        [b'n', ..] => (b'\n', 1, false),
        [b't', ..] => (b'\t', 1, false),
        [b'r', ..] => (b'\r', 1, false),
        [b'f', ..] => (12, 1, false),
        [b'v', ..] => (11, 1, false),
        [b'a', ..] => (7, 1, false),
        [b'b', ..] => (8, 1, false),
        [b'^', letter, ..] => (letter & 0x1F, 2, false),
        [b'M', b'-', letter, ..] => (letter | 0x80, 3, false),
        [b'M', b'^', letter, ..] => (letter & 0x1F | 0x80, 3, false),
        [other, ..] => (*other, 1, false),
        [] => (b'\\', 0, false),
    }
}

/// Append bytes as a string shows them.
pub(crate) fn encode(bytes: &[u8], style: Style, quoting: Quoting, out: &mut Vec<u8>) {
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            _ if style == Style::AllHex => {
                out.extend_from_slice(format!("\\x{byte:02x}").as_bytes())
            }
            b'"' if quoting == Quoting::Bare => out.push(b'"'),
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0x20..=0x7E => out.push(byte),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            _ if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                out.extend_from_slice(format!("\\{byte:03o}").as_bytes())
            }
            _ => out.extend_from_slice(format!("\\{byte:o}").as_bytes()),
        }
    }
}

/// Append a filler for this number of bytes.
pub(crate) fn fill(bytes: usize, style: Style, quoting: Quoting, out: &mut Vec<u8>) {
    let one: &[u8] = match (style, quoting) {
        (Style::AllHex, _) => b"\\x78",
        (_, Quoting::Pairs) => b" x",
        _ => b"x",
    };
    out.extend((0..bytes).flat_map(|_| one));
}
