//! Reads a capture and says how long a line takes and of which kinds the lines are.
//!
//! `cargo run --release --example lines -- FILE [--events]`

use parsers::{Head, Kind, Parsed, recognise};
use std::time::Instant;

const CHUNK_BYTES: usize = 4 << 20;
const HEAD_BYTES: usize = 256 << 10;

fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    let show = std::env::args().any(|arg| arg == "--events");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return eprintln!("{path}: {error}"),
    };
    let head = Head { bytes: &bytes[..bytes.len().min(HEAD_BYTES)], complete: bytes.len() <= HEAD_BYTES };
    let Some(format) = recognise(head) else {
        return eprintln!("{path}: not recognised");
    };
    let reader = format.reader(head);
    println!("{}: {:?}", format.name(), reader.facts());
    let (mut counts, mut lines, mut parsed) = (vec![0u64; Kind::ALL.len()], 0u64, Parsed::default());
    let start = Instant::now();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let cut = rest.len().min(CHUNK_BYTES);
        let end = memchr::memchr(b'\n', &rest[cut..]).map_or(rest.len(), |at| cut + at + 1);
        parsed.read(&*reader, &rest[..end]);
        parsed.lines.iter().for_each(|line| counts[line.kind as usize] += 1);
        lines += parsed.lines.len() as u64;
        if show {
            print_lines(&rest[..end], &parsed);
        }
        rest = &rest[end..];
    }
    let took_ns = start.elapsed().as_nanos() as f64;
    println!(
        "{lines} lines, {:.1} ns per line, {:.0} MB/s",
        took_ns / lines.max(1) as f64,
        bytes.len() as f64 * 1e3 / took_ns
    );
    for (kind, count) in Kind::ALL.iter().zip(&counts).filter(|&(_, &count)| count > 0) {
        println!("{count:10} {}", kind.name());
    }
}

fn print_lines(text: &[u8], parsed: &Parsed) {
    for (line, text) in parsed.lines.iter().zip(text.split(|&byte| byte == b'\n')) {
        let word = |text| parsed.texts.string(text).into_owned();
        println!("{}", String::from_utf8_lossy(text));
        println!(
            "    {} {:?} tid {} at {} dur {} {} fd {} op {:?} target {:?} ret {} {:?} errno {:?} {:?}",
            line.kind.name(),
            line.part,
            line.tid,
            line.stamp_ns,
            line.dur_ns,
            word(line.name),
            line.fd,
            word(line.op),
            word(line.target),
            line.ret,
            line.outcome,
            word(line.errno),
            parsed.extra(line)
        );
    }
}
