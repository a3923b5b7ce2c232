//! The time to read captures: `cargo bench -p tracealyze-binding --bench reading -- [--rounds N] FILE…`
//!
//! For each file the best of several rounds: seconds, nanoseconds per line, MB/s, and memory per event.

use std::time::Instant;

const ROUNDS: usize = 3;

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (mut rounds, mut files) = (ROUNDS, Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rounds" => {
                rounds = words
                    .next()
                    .and_then(|number| number.parse().ok())
                    .unwrap_or(ROUNDS)
            }
            _ => files.push(word),
        }
    }
    for file in files {
        measure(&file, rounds.max(1));
    }
}

fn measure(file: &str, rounds: usize) {
    let captures = [vec![file.to_owned()]];
    let mut best_s = f64::INFINITY;
    let (mut lines, mut bytes, mut events) = (0, 0, 0);
    for _ in 0..rounds {
        let begin = Instant::now();
        let trace = match trace::ingest::read::read(&captures, None, &mut |_, _| ()) {
            Ok(trace) => trace,
            Err(error) => return eprintln!("{file}: {error:?}"),
        };
        best_s = best_s.min(begin.elapsed().as_secs_f64());
        lines = trace.captures.iter().map(|capture| capture.lines()).sum();
        bytes = trace.captures.iter().map(|capture| capture.bytes).sum();
        events = trace.events.len();
    }
    let (ns, mb) = (best_s * 1e9 / lines as f64, bytes as f64 / 1e6 / best_s);
    println!(
        "{file}: {best_s:.3} s, {lines} lines, {ns:.0} ns/line, {mb:.0} MB/s, {events} events, peak {} MiB",
        peak_mib()
    );
}

/// Peak resident memory so far, if the system reports it.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or("0");
    line.split_whitespace()
        .next()
        .and_then(|kib| kib.parse::<u64>().ok())
        .unwrap_or(0)
        / 1024
}
