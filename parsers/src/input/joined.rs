//! Lines that a page or an editor joined, split again.
//!
//! ```text
//! In:   <span>read(3, &quot;a&quot;, 1) = 1</span><br><span>close(3) = 0</span><br>
//!       read(3, "a", 1) = 1 close(3) = 0
//! Out:  a line for each call
//! ```
//! Lines get the numbers that they have after that.

use super::call_text::{End, after_arguments, arguments_of, end_of, mark_len};
use crate::scan;
use memchr::memmem;

/// Joints that make a text a joined one.
const MIN_JOINTS: usize = 2;
/// Tags around the text of a line, without their brackets.
const TAGS: [&[u8]; 5] = [b"span", b"pre", b"code", b"p", b"div"];

/// The text with a line for each one that was joined; `None` if none was.
pub(super) fn split(text: &[u8]) -> Option<Vec<u8>> {
    let page = without_tags(text);
    calls(page.as_deref().unwrap_or(text)).or(page)
}

/// The source of a page whose line ends are tags only; `None` if no line is one of several calls.
fn without_tags(text: &[u8]) -> Option<Vec<u8>> {
    memmem::find(text, b"<br")?;
    let mut out = Vec::with_capacity(text.len());
    let mut was_joined = false;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let page = apart(line);
        // Strings of a program that writes pages have such tags, too, but no calls between them.
        let is_call = |line: &&[u8]| arguments_of(line).is_some() && end_of(line) == End::Whole;
        let calls = page.split(|&byte| byte == b'\n').filter(is_call).count();
        let is_joined = calls > MIN_JOINTS;
        was_joined |= is_joined;
        out.extend_from_slice(if is_joined { &page } else { line });
    }
    was_joined.then_some(out)
}

/// A line of a page without the tags around its texts.
fn apart(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memchr::memchr(b'<', rest) {
        out.extend_from_slice(&rest[..at]);
        let end = memchr::memchr(b'>', &rest[at..]).map(|end| at + end + 1);
        let tag = end.map_or(&b""[..], |end| &rest[at..end]);
        let name = tag
            .strip_prefix(b"</")
            .or_else(|| tag.strip_prefix(b"<"))
            .unwrap_or(tag);
        let (name, _) = scan::name(name).unwrap_or((b"", b""));
        rest = if name.eq_ignore_ascii_case(b"br") {
            out.push(b'\n');
            &rest[at + tag.len()..]
        } else if TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag)) {
            &rest[at + tag.len()..]
        } else {
            out.push(b'<');
            &rest[at + 1..]
        };
    }
    out.extend_from_slice(rest);
    out
}

/// A line for each call, where a call follows the result of another one.
fn calls(text: &[u8]) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut joints = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let mark = &line[..mark_len(line)];
        let mut rest = &line[mark.len()..];
        out.extend_from_slice(mark);
        while let Some(at) = next_call(rest) {
            joints += 1;
            out.extend_from_slice(scan::trim_end(&rest[..at]));
            out.push(b'\n');
            out.extend_from_slice(mark);
            rest = &rest[at..];
        }
        out.extend_from_slice(rest);
    }
    (joints >= MIN_JOINTS).then_some(out)
}

/// Where the next call begins in a line that begins with a whole one.
fn next_call(line: &[u8]) -> Option<usize> {
    let (args, depth) = arguments_of(line)?;
    let result = after_arguments(args, depth)?;
    if !scan::skip_blanks(result).starts_with(b"= ") {
        return None;
    }
    let from = line.len() - result.len();
    let begins = |&open: &usize| {
        let before = &line[from..from + open];
        let start = before
            .iter()
            .rposition(|byte| byte.is_ascii_whitespace())
            .map_or(before.len(), |at| from + at + 1);
        let is_call = arguments_of(&line[start..from + open + 1]).is_some();
        (is_call && end_of(&line[..start]) == End::Whole).then_some(start)
    };
    memchr::memchr_iter(b'(', result).find_map(|open| begins(&open))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn each_call_gets_a_line() {
        let cases = [
            (
                "open(\"/a\", O_RDONLY) = 3 read(3, \"x\", 1) = 1 close(3) = -1 EIO (I/O error)\n",
                "open(\"/a\", O_RDONLY) = 3\nread(3, \"x\", 1) = 1\nclose(3) = -1 EIO (I/O error)\n",
            ),
            (
                "> read(3, \"x\", 1) = 1 close(3) = 0 close(4) = 0",
                "> read(3, \"x\", 1) = 1\n> close(3) = 0\n> close(4) = 0",
            ),
            (
                "<pre><span>close(3) = 0</span><br><span>close(4) = 0</span><br />close(5) = 0</pre>",
                "close(3) = 0\nclose(4) = 0\nclose(5) = 0",
            ),
        ];
        for (joined, apart) in cases {
            let found = split(joined.as_bytes());
            assert_eq!(
                found.map(|text| String::from_utf8_lossy(&text).into_owned()),
                Some(apart.to_owned())
            );
        }
    }

    #[test]
    fn whole_lines_stay_as_they_are() {
        for text in [
            "read(3, \"close(3) = 0 close(4) = 0\", 9) = 9\nclose(3) = 0\n",
            "close(3) = 0<br>\nclose(4) = 0<br>\n",
            "write(1, \"<br>a<br>\", 9) = 9\n",
        ] {
            assert!(split(text.as_bytes()).is_none(), "{text}");
        }
    }
}
