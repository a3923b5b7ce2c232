//! Lines that a mail client or a terminal folded at its width, and quoted-printable text, as mails have it.
//!
//! ```text
//! In:   openat(AT_FDCWD, "/usr/lib/libc.so.6",      write(1, "\206\200=
//!       O_RDONLY|O_CLOEXEC) = 3                     \35"..., 64) =3D 64
//! Out:  openat(AT_FDCWD, "/usr/lib/libc.so.6", O_RDONLY|O_CLOEXEC) = 3
//!       write(1, "\206\200\35"..., 64) = 64
//! ```
//! After a line that was put together follow as many blank ones as it had folds, so that all lines keep their numbers.
//!
//! Output of a program between the lines of its tracer cuts calls, too, but anywhere. Where a line was folded, its next
//! word would not have fitted into the width of the text.

use super::call_text::{End, arguments_of, end_of, mark_len};
use super::{dated, page};
use crate::scan;
use memchr::memmem;
use std::borrow::Cow;

/// Texts that people paste are shorter. Longer ones are read as they are.
const MAX_BYTES: usize = 1 << 20;
/// Mails and terminals are not narrower or wider, in columns.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=260;
/// A line has at most this number of parts, and bytes.
const MAX_PARTS: usize = 12;
const MAX_LINE_BYTES: usize = 1 << 14;
/// Folds that make a text a folded one.
const MIN_FOLDS: usize = 2;

/// Whether a text that begins like this may be folded.
pub(super) fn is_folded(head: &[u8]) -> bool {
    page::is_page(head) || unfolded(head).is_some()
}

/// How long a text that begins like this may be.
pub(super) fn max_bytes(head: &[u8]) -> usize {
    if page::is_page(head) {
        page::MAX_BYTES
    } else {
        MAX_BYTES
    }
}

/// The text with its whole lines; `None` if it was not folded.
pub(super) fn unfolded(text: &[u8]) -> Option<Vec<u8>> {
    if page::is_page(text) {
        return page::log_of(text);
    }
    if let Some(joined) = dated::joined(text) {
        return Some(joined);
    }
    let plain = quoted_printable(text);
    let apart = super::joined::split(plain.as_deref().unwrap_or(text)).or(plain);
    joined(apart.as_deref().unwrap_or(text)).or(apart)
}

/// Quoted-printable text (RFC 2045, 6.7) decoded. Each `=` in it begins an escape or ends a line.
fn quoted_printable(text: &[u8]) -> Option<Vec<u8>> {
    // Tracers print one in each line.
    memmem::find(text, b"=3D")?;
    let mut out = Vec::with_capacity(text.len());
    let (mut rest, mut folds) = (text, 0);
    while let Some(at) = memchr::memchr2(b'=', b'\n', rest) {
        out.extend_from_slice(&rest[..at]);
        let after = &rest[at + 1..];
        rest = if rest[at] == b'\n' {
            out.extend(std::iter::repeat_n(b'\n', std::mem::take(&mut folds) + 1));
            after
        } else if let Some(next) = line_end(after) {
            folds += 1;
            next
        } else {
            let (digits, next) = after.split_at_checked(2)?;
            out.push(byte_of(digits)?);
            next
        };
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// What follows the end of a line, at which blanks may have been added on the way.
fn line_end(text: &[u8]) -> Option<&[u8]> {
    let rest = scan::skip_blanks(text);
    rest.strip_prefix(b"\r\n")
        .or_else(|| rest.strip_prefix(b"\n"))
        .or(rest.is_empty().then_some(rest))
}

/// The byte of two capital hexadecimal digits.
fn byte_of(digits: &[u8]) -> Option<u8> {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte);
    let text = std::str::from_utf8(digits).ok()?;
    (digits.iter().all(is_digit))
        .then(|| u8::from_str_radix(text, 16).ok())
        .flatten()
}

/// A call and the lines that its rest was moved to.
struct Group<'a> {
    first: usize,
    parts: Vec<&'a [u8]>,
    is_whole: bool,
}

impl Group<'_> {
    /// The widths between which the text was folded: its longest part, and the shortest that was too long with the next
    /// word. A part of one word may be longer than the width.
    fn widths(&self) -> (usize, usize) {
        let longest = self
            .cut()
            .iter()
            .filter(|part| memchr::memchr(b' ', part).is_some())
            .map(|part| part.len());
        let next = self
            .parts
            .windows(2)
            .map(|pair| pair[0].len() + 1 + word_len(pair[1]));
        (longest.max().unwrap_or(0), next.min().unwrap_or(0))
    }

    /// The parts after which the line was folded.
    fn cut(&self) -> &[&[u8]] {
        self.parts.split_last().map_or(&[], |(_, cut)| cut)
    }

    /// Whether output of the program cut it, so that what follows is the end of the call alone, or a message of the tracer.
    fn is_cut_by_output(&self) -> bool {
        let is_message = |part: &&[u8]| memmem::find(part, b": Process ").is_some();
        self.parts.last().is_some_and(|last| last.starts_with(b")"))
            || self.cut().iter().any(is_message)
    }
}

/// The text with its folded calls whole; `None` if there are too few, or they were not folded at one width.
fn joined(text: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = text
        .split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect();
    let by_words = groups(&lines, None);
    // A mail has lines of the greatest width, too, but among others.
    let is_at_edge = |edge: &usize| {
        let cut = || by_words.iter().flat_map(Group::cut);
        cut().filter(|part| part.len() == *edge).count() * 20 >= cut().count() * 19
    };
    if let Some(edge) = edge(&lines).filter(is_at_edge) {
        let cut = groups(&lines, Some(edge));
        return are_calls(&cut).then(|| rewritten(&lines, &cut, b""));
    }
    let is_folded = are_calls(&by_words) && are_between_words(&by_words);
    is_folded.then(|| rewritten(&lines, &by_words, b" "))
}

/// The width of a terminal that cut long lines: that of several lines, and no line is longer.
fn edge(lines: &[&[u8]]) -> Option<usize> {
    let edge = lines.iter().map(|line| line.len()).max()?;
    let cut = lines.iter().filter(|line| line.len() == edge).count();
    (cut >= MIN_FOLDS && WIDTHS.contains(&edge)).then_some(edge)
}

/// Whether nearly all groups are whole calls, and not cut by output of the program.
fn are_calls(groups: &[Group<'_>]) -> bool {
    let folds: usize = groups.iter().map(|group| group.cut().len()).sum();
    let is_call = |group: &&Group<'_>| group.is_whole && !group.is_cut_by_output();
    folds >= MIN_FOLDS && groups.iter().filter(is_call).count() * 10 >= groups.len() * 9
}

/// Whether nearly all lines end where the next word would not have fitted into the width of the text.
fn are_between_words(groups: &[Group<'_>]) -> bool {
    let width = groups
        .iter()
        .map(|group| group.widths().0)
        .max()
        .unwrap_or(0);
    let fits = groups
        .iter()
        .filter(|group| width < group.widths().1)
        .count();
    WIDTHS.contains(&width) && fits * 10 >= groups.len() * 9
}

fn rewritten(lines: &[&[u8]], groups: &[Group<'_>], separator: &[u8]) -> Vec<u8> {
    let mut out: Vec<Cow<'_, [u8]>> = lines.iter().map(|&line| Cow::Borrowed(line)).collect();
    for group in groups {
        let mark = mark_len(lines[group.first]);
        let whole = [&lines[group.first][..mark], &group.parts.join(separator)].concat();
        out[group.first] = Cow::Owned(whole);
        out[group.first + 1..group.first + group.parts.len()].fill(Cow::Borrowed(b""));
    }
    out.join(&b'\n')
}

/// The calls that go on in the lines below them. Lines of this width are cut anywhere.
fn groups<'a>(lines: &[&'a [u8]], edge: Option<usize>) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let group = group_at(lines, at, edge);
        at += group.as_ref().map_or(1, |group| group.parts.len());
        groups.extend(group);
    }
    groups
}

fn group_at<'a>(lines: &[&'a [u8]], first: usize, edge: Option<usize>) -> Option<Group<'a>> {
    let body = |line: &'a [u8]| &line[mark_len(line)..];
    let is_cut = |line: &[u8]| edge.is_some_and(|edge| line.len() == edge);
    let start = body(lines[first]);
    let start = if edge.is_some() {
        start
    } else {
        scan::trim_end(start)
    };
    if arguments_of(start).is_none() && !is_prefix(start) {
        return None;
    }
    let (mut parts, mut whole) = (vec![start], start.to_vec());
    let pairs = lines[first..].windows(2).take(MAX_PARTS - 1);
    for (before, line) in pairs.map(|pair| (pair[0], pair[1])) {
        let next = if is_cut(before) {
            body(line)
        } else {
            scan::trim(body(line))
        };
        let is_rest = match edge {
            Some(_) => is_cut(before) && end_of(&whole) != End::Whole,
            None => goes_on(&whole, next),
        };
        if !is_rest || whole.len() + next.len() > MAX_LINE_BYTES {
            break;
        }
        if edge.is_none() {
            whole.push(b' ');
        }
        whole.extend_from_slice(next);
        parts.push(next);
    }
    (parts.len() > 1).then(|| Group {
        first,
        is_whole: end_of(&whole) == End::Whole,
        parts,
    })
}

/// Whether a line has only ids and times, which the name of a long call follows: `[pid 4711] 12:00:01.123456`.
fn is_prefix(line: &[u8]) -> bool {
    let rest = line.strip_prefix(b"[pid").unwrap_or(line);
    let is_part = |byte: &u8| byte.is_ascii_digit() || b" .:]".contains(byte);
    rest.iter().all(is_part) && rest.iter().any(u8::is_ascii_digit)
}

/// Whether this can be the rest of that call.
fn goes_on(call: &[u8], next: &[u8]) -> bool {
    if next.is_empty() || next == b"..." || is_other(next) {
        return false;
    }
    if arguments_of(next).is_some() {
        // The name of a call is the first word after its prefix.
        let is_first = scan::name(next).is_some_and(|(_, rest)| rest.starts_with(b"("));
        return is_prefix(call) && (is_first || next.starts_with(b"<... "));
    }
    match end_of(call) {
        End::Open => true,
        End::Whole => is_duration(next) || is_hexadecimal(next),
        End::Failed => is_error(next),
    }
}

/// Whether a line is one of a tracer without a call, or of the text around it.
fn is_other(line: &[u8]) -> bool {
    const OTHERS: [&[u8]; 5] = [b"---", b"+++", b"***", b"[...", b"```"];
    let has = |other: &&[u8]| {
        line.starts_with(other)
            || memmem::find(line, other).is_some_and(|at| is_prefix(&line[..at]))
    };
    OTHERS.iter().any(has)
}

/// `<0.000010>`, as strace prints durations.
fn is_duration(text: &[u8]) -> bool {
    let inner = text
        .strip_prefix(b"<")
        .and_then(|text| text.strip_suffix(b">"));
    inner.is_some_and(|inner| scan::seconds(inner).is_some_and(|(.., rest)| rest.is_empty()))
}

/// `(0x800533000)`, as truss of FreeBSD prints results once more.
fn is_hexadecimal(text: &[u8]) -> bool {
    let inner = text.strip_prefix(b"(0x");
    inner
        .and_then(|text| text.strip_suffix(b")"))
        .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// `ENOENT (No such file or directory)`, or the meaning alone.
fn is_error(text: &[u8]) -> bool {
    if text.starts_with(b"(") {
        return true;
    }
    let name = text.split(|&byte| byte == b' ').next().unwrap_or_default();
    name.len() > 2 && name.starts_with(b"E") && name.iter().all(u8::is_ascii_uppercase)
}

fn word_len(text: &[u8]) -> usize {
    memchr::memchr(b' ', text).unwrap_or(text.len())
}
