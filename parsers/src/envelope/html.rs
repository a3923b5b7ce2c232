//! HTML entities and line ends, as copied from the source of a page: `&lt;unfinished ...&gt;`, `&quot;/etc/passwd&quot;`,
//! `close(3) = 0<br />`.
//!
//! A program that processes HTML has entities in its strings too. But then the quotes around strings are plain, and so
//! are the brackets at the end of a tracer's lines.

use super::{Envelope, Inner, without_cr};
use crate::scan;
use memchr::memmem;
use std::borrow::Cow;
use std::sync::Arc;

const ENTITIES: [(&[u8], u8); 8] = [
    (b"lt;", b'<'),
    (b"gt;", b'>'),
    (b"quot;", b'"'),
    (b"amp;", b'&'),
    (b"#34;", b'"'),
    (b"#39;", b'\''),
    (b"#x27;", b'\''),
    (b"apos;", b'\''),
];

struct Html;

pub(super) fn detect(head: &[u8]) -> Option<Arc<dyn Envelope>> {
    is_escaped(head).then(|| Arc::new(Html) as Arc<dyn Envelope>)
}

/// Whether no line has plain characters where tracers print them.
pub(super) fn is_escaped(head: &[u8]) -> bool {
    let ends = || head.split(|&byte| byte == b'\n').map(without_cr);
    let has = |word: &[u8]| memmem::find(head, word).is_some();
    let are_quotes = || (has(b"&quot;") || has(b"&#34;")) && memchr::memchr(b'"', head).is_none();
    let are_brackets = || {
        has(b"&gt;")
            && ends().any(|line| line.ends_with(b"&gt;"))
            && !ends().any(|line| line.ends_with(b">"))
    };
    are_quotes() || are_brackets() || have_line_ends(head)
}

/// The end of a line in the source of a page.
const LINE_ENDS: [&[u8]; 4] = [b"<br />", b"<br/>", b"<br>", b"<BR>"];

fn line_end(line: &[u8]) -> Option<&[u8]> {
    let line = scan::trim_end(line);
    LINE_ENDS.iter().find_map(|end| line.strip_suffix(*end))
}

/// Whether most lines end like that. The last one may be cut off.
fn have_line_ends(head: &[u8]) -> bool {
    let lines = || {
        head.split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
    };
    let ended = lines().filter(|line| line_end(line).is_some()).count();
    ended > 0 && ended * 3 >= lines().count() * 2
}

impl Envelope for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn is_manual(&self) -> bool {
        true
    }

    fn is_certain(&self) -> bool {
        true
    }

    fn open<'a>(&self, line: &'a [u8]) -> Option<Inner<'a>> {
        let line = line_end(line).unwrap_or(line);
        let text = if memchr::memchr(b'&', line).is_some() {
            Cow::Owned(plain(line))
        } else {
            Cow::Borrowed(line)
        };
        Some(Inner {
            text,
            ..Inner::of(b"")
        })
    }
}

fn plain(mut text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    while let Some(at) = memchr::memchr(b'&', text) {
        out.extend_from_slice(&text[..at]);
        let rest = &text[at + 1..];
        let found = ENTITIES
            .iter()
            .find_map(|&(word, byte)| Some((byte, rest.strip_prefix(word)?)));
        let (byte, rest) = found.unwrap_or((b'&', rest));
        out.push(byte);
        text = rest;
    }
    out.extend_from_slice(text);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_a_page_are_taken_off() {
        let head =
            b"open(&quot;/a&quot;, O_RDONLY) = 3<br />\nclose(3) = 0<br/>\n\nread(3<br />\nclo";
        let reader = detect(head).map(|envelope| {
            let inner = envelope.open(b"open(&quot;/a&quot;, O_RDONLY) = 3<br />");
            inner.map(|inner| inner.text.into_owned())
        });
        assert_eq!(
            reader.flatten(),
            Some(b"open(\"/a\", O_RDONLY) = 3".to_vec())
        );
        assert!(detect(b"write(1, \"a<br>\", 5) = 5\nclose(3) = 0\n").is_none());
    }
}
