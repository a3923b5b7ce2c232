//! The time per line of each format, on one core, without the engine.
//!
//! `cargo bench -p tracealyze-parsers` reads the texts in `benches/texts`, each repeated to some MB;
//! with `-- FILE…` those files instead.

use parsers::{ChunkLines, Head, Line, LineKind, LineReader, Parsed, recognise};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

const ROUNDS: usize = 5;
/// A round repeats the text for this long, because the system counts CPU time in ticks of some milliseconds.
const ROUND_S: f64 = 0.1;
const CELL_BYTES: usize = 1 << 20;
const HEAD_BYTES: usize = 1 << 18;
/// A small text is repeated to this size.
const TEXT_BYTES: usize = 8 << 20;
/// Up to this much of a large file is read.
const MAX_BYTES: u64 = 64 << 20;

fn main() {
    let named: Vec<PathBuf> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .map(PathBuf::from)
        .collect();
    let files = if named.is_empty() { texts() } else { named };
    println!("{:16}{:>22}{:>22}", "", "without cache", "with cache");
    println!(
        "{:16}{1:>12}{2:>10}{1:>12}{2:>10}{3:>12}{4:>16}",
        "", "ns/line", "MB/s", "bytes/line", "not understood"
    );
    files.iter().for_each(|file| measure(file));
}

/// CPU time if the system reports it, so that other programs disturb less; else wall time.
struct Clock(Instant, Option<f64>);

impl Clock {
    fn now() -> Clock {
        Clock(Instant::now(), Clock::cpu_s())
    }

    fn elapsed_s(&self) -> f64 {
        let cpu_s = self.1.zip(Clock::cpu_s()).map(|(before, now)| now - before);
        cpu_s.unwrap_or_else(|| self.0.elapsed().as_secs_f64())
    }

    fn cpu_s() -> Option<f64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
    }
}

fn texts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/texts");
    let entries = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let mut files: Vec<PathBuf> = entries.unwrap_or_default();
    files.sort();
    files
}

fn measure(file: &Path) {
    let Ok(bytes) = beginning(file) else {
        return eprintln!("{}: cannot be read", file.display());
    };
    let head = Head {
        bytes: &bytes[..bytes.len().min(HEAD_BYTES)],
        complete: bytes.len() <= HEAD_BYTES,
    };
    let Some(format) = recognise(head) else {
        return eprintln!("{}: not recognised", file.display());
    };
    let reader = format.reader(head);
    let cells = cells(&bytes);
    let (fresh, again) = (best(&*reader, &cells, false), best(&*reader, &cells, true));
    let mb_per_s = |round: &Round| round.bytes_per_line * 1e3 / round.ns_per_line;
    println!(
        "{:16}{:12.1}{:10.0}{:12.1}{:10.0}{:12.0}{:14.1} %",
        format.name(),
        fresh.ns_per_line,
        mb_per_s(&fresh),
        again.ns_per_line,
        mb_per_s(&again),
        again.bytes_per_line,
        again.strange * 100.0
    );
}

/// The result of reading all cells in order.
struct Round {
    ns_per_line: f64,
    bytes_per_line: f64,
    /// Share of the lines that are not of the format.
    strange: f64,
}

/// The fastest of several rounds, with or without the line cache.
fn best(reader: &dyn LineReader, cells: &[Vec<u8>], uses_cache: bool) -> Round {
    let mut parsed = Parsed::default();
    let first = round(reader, cells, uses_cache, &mut parsed);
    (1..ROUNDS)
        .map(|_| round(reader, cells, uses_cache, &mut parsed))
        .fold(first, |one, other| {
            if other.ns_per_line < one.ns_per_line {
                other
            } else {
                one
            }
        })
}

fn round(
    reader: &dyn LineReader,
    cells: &[Vec<u8>],
    uses_cache: bool,
    parsed: &mut Parsed,
) -> Round {
    let (begin, mut read) = (Clock::now(), ChunkLines::default());
    let (mut lines, mut strange, mut bytes, mut seconds) = (0, 0, 0, 0.0);
    while seconds < ROUND_S {
        for cell in cells {
            let of_kind = if uses_cache {
                parsed.read_next(reader, cell, &mut read);
                lines += read.refs.len();
                &read.own
            } else {
                parsed.read(reader, cell);
                lines += parsed.lines.len();
                &parsed.lines
            };
            bytes += cell.len();
            // Lines of other formats are never cached.
            let is_strange =
                |line: &&Line| matches!(line.kind, LineKind::Foreign | LineKind::Damaged);
            strange += of_kind.iter().filter(is_strange).count();
        }
        seconds = begin.elapsed_s();
    }
    let per_line = |value: f64| value / lines as f64;
    let (ns_per_line, bytes_per_line) = (per_line(seconds * 1e9), per_line(bytes as f64));
    Round {
        ns_per_line,
        bytes_per_line,
        strange: per_line(strange as f64),
    }
}

fn beginning(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text in pieces of whole lines, repeated if it is small.
fn cells(text: &[u8]) -> Vec<Vec<u8>> {
    let mut cells = vec![Vec::new()];
    for _ in 0..TEXT_BYTES.div_ceil(text.len().max(1)) {
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            if cells
                .last()
                .is_none_or(|cell| cell.len() + line.len() > CELL_BYTES)
            {
                cells.push(Vec::with_capacity(CELL_BYTES));
            }
            cells
                .last_mut()
                .into_iter()
                .for_each(|cell| cell.extend_from_slice(line));
        }
    }
    cells
}
