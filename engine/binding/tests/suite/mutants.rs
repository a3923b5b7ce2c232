//! Mutated captures for a while: `cargo test --package tracealyze-binding --test suite mutants -- --ignored --nocapture`.
//!
//! ```text
//! corpus ─► lines swapped, dropped, repeated; halves torn apart; ids and clocks changed; formats mixed; bytes ─► whole::holds
//!    ▲                                                                                                             │
//!    └──────────────────── kept if its lines are of kinds and numbers that no input had so far ◄───────────────────┘
//! ```
//! The seed is printed. An input that breaks a claim is in the folder of the corpus, as `broken-N`. It is tried first in
//! the next run.
//!
//! - `TRACEALYZE_FUZZ_SECONDS`: how long; 5 by default.
//! - `TRACEALYZE_FUZZ_SEED`: the seed; the time by default.
//! - `TRACEALYZE_FUZZ_CORPUS`: a folder with more inputs, to which new ones are added.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const MAX_BYTES: usize = 1 << 14;
const MAX_KEPT: usize = 4_000;

/// Numbers that a seed determines (Knuth's MMIX generator).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn of<'items, T>(&mut self, items: &'items [T]) -> &'items T {
        &items[self.below(items.len())]
    }
}

type Lines = Vec<Vec<u8>>;

fn lines_of(bytes: &[u8]) -> Lines {
    bytes
        .split_inclusive(|&byte| byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

/// Replace each number in a range of lengths by one that the function chooses.
fn change_numbers(line: &mut Vec<u8>, mut changed: impl FnMut(&[u8]) -> Option<Vec<u8>>) {
    let mut out = Vec::with_capacity(line.len());
    for part in line.chunk_by(|one, other| one.is_ascii_digit() == other.is_ascii_digit()) {
        let made = part[0].is_ascii_digit().then(|| changed(part)).flatten();
        out.extend_from_slice(made.as_deref().unwrap_or(part));
    }
    *line = out;
}

const ODD_NUMBERS: [&[u8]; 10] = [
    b"0",
    b"1",
    b"9",
    b"45",
    b"4294967295",
    b"4294967296",
    b"2147483648",
    b"9223372036854775807",
    b"18446744073709551616",
    b"99999999999999999999999999",
];

fn mutate(lines: &mut Lines, others: &[Vec<u8>], chance: &mut Chance) {
    if lines.is_empty() {
        return;
    }
    let at = chance.below(lines.len());
    let near = (at + 1 + chance.below(4)).min(lines.len() - 1);
    let is_half = |line: &[u8]| {
        [&b"unfinished"[..], b"resumed>"]
            .iter()
            .any(|mark| memchr::memmem::find(line, mark).is_some())
    };
    match chance.below(14) {
        0 => lines.swap(at, near),
        1 => drop(lines.remove(at)),
        2 => lines.insert(near, lines[at].clone()),
        3 => {
            // Halves lose each other, or come twice.
            let halves: Vec<usize> = (0..lines.len()).filter(|&at| is_half(&lines[at])).collect();
            if let Some(&half) = halves.get(chance.below(halves.len())) {
                match chance.below(3) {
                    0 => drop(lines.remove(half)),
                    1 => lines.insert(half, lines[half].clone()),
                    _ => lines.swap(half, near),
                }
            }
        }
        4 => {
            // A whole call becomes two halves.
            if let Some(end) = memchr::memmem::find(&lines[at], b") = ") {
                let name = lines[at][..end]
                    .split(|&byte| byte == b'(')
                    .next()
                    .and_then(|head| head.rsplit(|&byte| byte == b' ').next())
                    .unwrap_or_default()
                    .to_vec();
                let start = lines[at][..end].len() - name.len().min(end);
                let second = [b"<... ", &name[..], b" resumed>", &lines[at][end..]].concat();
                let head = lines[at][..start.min(12)].to_vec();
                lines[at].truncate(end);
                lines[at].extend_from_slice(b" <unfinished ...>\n");
                lines.insert(near, [head, second].concat());
            }
        }
        5 => {
            // Another id, on this line or everywhere.
            let id = lines[at]
                .split(|byte| !byte.is_ascii_digit())
                .find(|id| !id.is_empty())
                .map(<[u8]>::to_vec);
            if let Some(id) = id {
                let new = chance.of(&ODD_NUMBERS).to_vec();
                let range = if chance.below(2) == 0 {
                    at..at + 1
                } else {
                    0..lines.len()
                };
                lines[range].iter_mut().for_each(|line| {
                    change_numbers(line, |number| (number == id).then(|| new.clone()))
                });
            }
        }
        6 => {
            // Another clock from here on.
            let step = chance.below(1 << 20) as u64;
            let is_back = chance.below(2) == 0;
            for line in &mut lines[at..] {
                change_numbers(line, |number| {
                    let stamp: u64 = std::str::from_utf8(number).ok()?.parse().ok()?;
                    let moved = if is_back {
                        stamp.checked_sub(step)?
                    } else {
                        stamp.checked_add(step)?
                    };
                    (number.len() >= 9).then(|| moved.to_string().into_bytes())
                });
            }
        }
        7 => change_numbers(&mut lines[at], |_| {
            (chance.below(3) == 0).then(|| chance.of(&ODD_NUMBERS).to_vec())
        }),
        8 => {
            // Lines of another format.
            let other = lines_of(chance.of::<Vec<u8>>(others));
            let from = chance.below(other.len());
            lines.splice(at..at, other.into_iter().skip(from).take(3));
        }
        // Another mutation may have left nothing of the line.
        9 if !lines[at].is_empty() => {
            let byte = chance.below(lines[at].len());
            lines[at][byte] = *chance.of(b"\0\x1b\"\\(){}<>[],=.:- \n\xff9");
        }
        10 => {
            let end = chance.below(lines[at].len());
            lines[at].truncate(end);
        }
        11 => {
            let from = at.min(near);
            let copy: Lines = lines[from..=near].to_vec();
            lines.extend(copy);
        }
        12 => lines.truncate(at + 1),
        _ => {
            // Without durations.
            for line in lines.iter_mut().filter(|line| line.ends_with(b">\n")) {
                if let Some(start) = memchr::memrchr(b'<', line) {
                    line.truncate(start);
                    line.push(b'\n');
                }
            }
        }
    }
}

/// Small files below a folder, as they are read into the corpus.
fn files_below(folder: &Path, found: &mut Vec<Vec<u8>>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files_below(&path, found);
        } else if path
            .extension()
            .is_some_and(|end| ["xz", "zst", "gz"].iter().any(|packed| end == *packed))
        {
            // Mutants of these would be damaged, not other captures.
        } else if let Ok(mut bytes) = std::fs::read(&path) {
            let end = bytes.len().min(MAX_BYTES);
            let whole = memchr::memrchr(b'\n', &bytes[..end]).map_or(end, |at| at + 1);
            bytes.truncate(whole);
            found.push(bytes);
        }
    }
}

fn number_of(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Inputs that broke a claim once, and what shows each format.
fn corpus_of_the_repository() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut corpus = Vec::new();
    for folder in [
        "engine/binding/tests/kept_mutants",
        "samples",
        "tests/kept_excerpts",
        "redact/tests/golden",
        "parsers/tests",
    ] {
        files_below(&root.join(folder), &mut corpus);
    }
    corpus
}

fn mutant(corpus: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut lines = lines_of(chance.of::<Vec<u8>>(corpus));
    for _ in 0..=chance.below(5) {
        mutate(&mut lines, corpus, chance);
    }
    let mut bytes = lines.concat();
    bytes.truncate(2 * MAX_BYTES);
    bytes
}

/// These decide: each run has the same inputs. `make fuzz` makes others, and what it finds is added to the folder.
#[test]
fn claims_hold_for_kept_inputs_and_the_same_mutants() {
    const MUTANTS: usize = 300;
    let corpus = corpus_of_the_repository();
    for bytes in &corpus {
        crate::whole::signature(bytes);
    }
    let mut chance = Chance(1);
    for _ in 0..MUTANTS {
        crate::whole::signature(&mutant(&corpus, &mut chance));
    }
}

#[test]
#[ignore = "runs for as long as TRACEALYZE_FUZZ_SECONDS says"]
fn claims_hold_for_mutants() {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(1, |now| now.as_nanos() as u64);
    let seed = number_of("TRACEALYZE_FUZZ_SEED").unwrap_or(now);
    let kept = std::env::var_os("TRACEALYZE_FUZZ_CORPUS").map(PathBuf::from);
    println!("TRACEALYZE_FUZZ_SEED={seed}");
    let mut corpus = Vec::new();
    kept.iter()
        .for_each(|folder| files_below(folder, &mut corpus));
    corpus.extend(corpus_of_the_repository());
    let mut known: HashSet<u64> = corpus
        .iter()
        .filter_map(|bytes| crate::whole::signature(bytes))
        .collect();
    let until =
        Instant::now() + Duration::from_secs(number_of("TRACEALYZE_FUZZ_SECONDS").unwrap_or(5));
    let (mut chance, mut tried, before) = (Chance(seed), 0u64, corpus.len());
    while Instant::now() < until {
        let bytes = mutant(&corpus, &mut chance);
        let checked = std::panic::catch_unwind(|| crate::whole::signature(&bytes));
        tried += 1;
        match checked {
            Ok(signature) if signature.is_some_and(|signature| known.insert(signature)) => {
                if let Some(folder) = kept.as_ref().filter(|_| corpus.len() < MAX_KEPT) {
                    let _ = std::fs::create_dir_all(folder);
                    let _ = std::fs::write(folder.join(format!("kept-{seed}-{tried}")), &bytes);
                }
                corpus.push(bytes);
            }
            Ok(_) => {}
            Err(_) => {
                let folder = kept.unwrap_or_else(std::env::temp_dir);
                let file = folder.join(format!("broken-{seed}-{tried}"));
                let _ = std::fs::create_dir_all(&folder);
                let _ = std::fs::write(&file, &bytes);
                panic!("a claim is broken for {}", file.display());
            }
        }
    }
    println!("{tried} inputs, {} new", corpus.len() - before);
}
