//! Reads a capture and prints the time per line and the kinds of lines. With `--table`, prints the counted calls next to
//! those of the tracer's own table at its end.
//!
//! `cargo run --release --example lines -- FILE [--events | --table]`

use parsers::{Extra, Outcome};
use parsers::{Head, LineKind, Parsed, recognise};
use std::collections::BTreeMap;
use std::time::Instant;

const CHUNK_BYTES: usize = 4 << 20;
const HEAD_BYTES: usize = 256 << 10;

fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    let table = std::env::args().any(|arg| arg == "--table");
    let mut counted = Table::default();
    let show = std::env::args().any(|arg| arg == "--events");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return eprintln!("{path}: {error}"),
    };
    let head = Head {
        bytes: &bytes[..bytes.len().min(HEAD_BYTES)],
        complete: bytes.len() <= HEAD_BYTES,
    };
    let Some(format) = recognise(head) else {
        return eprintln!("{path}: not recognised");
    };
    let reader = format.reader(head);
    println!("{}: {:?}", format.name(), reader.facts());
    let (mut counts, mut lines, mut parsed) =
        (vec![0u64; LineKind::ALL.len()], 0u64, Parsed::default());
    let start = Instant::now();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let cut = rest.len().min(CHUNK_BYTES);
        let end = memchr::memchr(b'\n', &rest[cut..]).map_or(rest.len(), |at| cut + at + 1);
        parsed.read(&*reader, &rest[..end]);
        parsed
            .lines
            .iter()
            .for_each(|line| counts[line.kind as usize] += 1);
        lines += parsed.lines.len() as u64;
        if show {
            print_lines(&rest[..end], &parsed);
        }
        if table {
            count(&parsed, &mut counted);
        }
        rest = &rest[end..];
    }
    let took_ns = start.elapsed().as_nanos() as f64;
    println!(
        "{lines} lines, {:.1} ns per line, {:.0} MB/s",
        took_ns / lines.max(1) as f64,
        bytes.len() as f64 * 1e3 / took_ns
    );
    for (kind, count) in LineKind::ALL
        .iter()
        .zip(&counts)
        .filter(|&(_, &count)| count > 0)
    {
        println!("{count:10} {}", kind.name());
    }
    for (name, counts) in counted
        .iter()
        .filter(|(_, counts)| counts[0] != counts[2] || counts[1] != counts[3])
    {
        println!(
            "{name}: calls, failed counted {:?}, in the table {:?}",
            &counts[..2],
            &counts[2..]
        );
    }
    if table {
        println!("{} syscalls", counted.len());
    }
}

/// By syscall: counted calls and failures, and calls and failures of the table.
type Table = BTreeMap<String, [u64; 4]>;

fn count(parsed: &Parsed, counted: &mut Table) {
    for line in &parsed.lines {
        let returned = !matches!(
            line.outcome,
            Outcome::Open | Outcome::NoReturn | Outcome::Unavailable
        );
        let fails = matches!(line.outcome, Outcome::Failed | Outcome::Interrupted);
        let name = parsed.texts.string(line.name).into_owned();
        match (line.kind, parsed.extra(line)) {
            (LineKind::Call | LineKind::CallEnd, _) if returned => {
                let counts = counted.entry(name).or_default();
                (counts[0], counts[1]) = (counts[0] + 1, counts[1] + u64::from(fails));
            }
            (_, Some(&Extra::SummaryRow { calls, failed, .. })) => {
                let counts = counted.entry(name).or_default();
                (counts[2], counts[3]) = (counts[2] + calls, counts[3] + failed);
            }
            _ => {}
        }
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
