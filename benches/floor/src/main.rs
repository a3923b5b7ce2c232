//! The least that reading captures can cost: lines are split on all cores, id, stamp and duration are read as numbers, names
//! of calls and targets are interned, and each line becomes a row of 24 bytes. Nothing is checked, joined or put in order.
//!
//! Reads strace and truss: `floor FILE…` prints the number of rows and of distinct texts.
#![allow(unsafe_code)]

use hashbrown::HashMap;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

/// Text that a core splits at once.
const PIECE_BYTES: usize = 1 << 22;

/// A line: 24 bytes.
struct Row {
    stamp_us: u64,
    dur_us: u32,
    id: u32,
    name: u32,
    target: u32,
}

type Texts<'a> = HashMap<&'a [u8], u32, FxBuildHasher>;

/// The digits of a text as one number; a point between them is skipped.
fn number(text: &[u8]) -> u64 {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit());
    digits.fold(0, |value: u64, byte| {
        value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'))
    })
}

fn intern<'a>(texts: &mut Texts<'a>, text: &'a [u8]) -> u32 {
    let next = texts.len() as u32;
    *texts.entry(text).or_insert(next)
}

/// `ID STAMP NAME("TARGET" … <DURATION>`; Solaris truss has `ID: STAMP DURATION NAME`.
fn row<'a>(line: &'a [u8], texts: &mut Texts<'a>) -> Row {
    let call = memchr::memchr(b'(', line).unwrap_or(line.len());
    let mut head = line[..call]
        .split(|&byte| byte == b' ')
        .filter(|word| !word.is_empty());
    let (id, stamp) = (head.next().unwrap_or(b""), head.next().unwrap_or(b""));
    let name = head.next_back().unwrap_or(b"");
    let printed = memchr::memrchr(b'<', line).filter(|_| line.ends_with(b">"));
    let duration = printed.map_or_else(|| head.next_back().unwrap_or(b""), |at| &line[at..]);
    let mut quoted = memchr::memchr_iter(b'"', line);
    let target = quoted
        .next()
        .zip(quoted.next())
        .map_or(&b""[..], |(begin, end)| &line[begin + 1..end]);
    let (name, target) = (intern(texts, name), intern(texts, target));
    Row {
        stamp_us: number(stamp),
        dur_us: number(duration) as u32,
        id: number(id) as u32,
        name,
        target,
    }
}

/// Rows and distinct texts of some lines.
fn piece(lines: &[u8]) -> (Vec<Row>, Texts<'_>) {
    let (mut rows, mut texts) = (Vec::with_capacity(lines.len() / 100), Texts::default());
    rows.extend(
        lines
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| row(line, &mut texts)),
    );
    (rows, texts)
}

/// Pieces of a text that end with lines.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let (mut found, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let from = rest.len().min(PIECE_BYTES);
        let end = memchr::memchr(b'\n', &rest[from..]).map_or(rest.len(), |at| from + at + 1);
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    found
}

fn main() -> std::io::Result<()> {
    let files: Vec<_> = std::env::args_os()
        .skip(1)
        .map(std::fs::File::open)
        .collect::<Result<_, _>>()?;
    // SAFETY: nothing changes the files while they are measured.
    let maps: Vec<_> = files
        .iter()
        .map(|file| unsafe { memmap2::Mmap::map(file) })
        .collect::<Result<_, _>>()?;
    let all: Vec<&[u8]> = maps.iter().flat_map(|map| pieces(map)).collect();
    let done: Vec<_> = all.into_par_iter().map(piece).collect();
    let rows: usize = done.iter().map(|(rows, _)| rows.len()).sum();
    let sum = done
        .iter()
        .flat_map(|(rows, _)| rows)
        .fold(0, |sum: u64, row| {
            sum ^ row.stamp_us ^ u64::from(row.dur_us ^ row.id ^ row.name ^ row.target)
        });
    let texts: usize = done.iter().map(|(_, texts)| texts.len()).sum();
    println!(
        "{rows} rows, {texts} texts in {} pieces, check {sum:x}",
        done.len()
    );
    Ok(())
}
