//! The time of programs by name.
//!
//! One pass in the order of the pieces. They are many and may be in a file, where groups that each go through all of them
//! would bring every page back once per program.

use crate::partition::piece::Piece;
use crate::partition::pieces::Pieces;
use parsers::Text;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// Time on the path of all programs with one name.
pub struct NameTime {
    /// The last part of their paths; empty if the program is unknown.
    pub name: String,
    /// The time.
    pub exclusive_ns: i64,
    /// Number of processes that ran each of these programs.
    pub processes: i64,
}

/// The sums of one program.
struct Sum {
    program: Text,
    exclusive_ns: i64,
    processes: i64,
    /// The process that was counted last: its pieces mostly follow one another.
    last: TaskId,
}

/// The time of programs by name, in the order of the program with most time of each.
pub fn program_times(trace: &Trace, pieces: &Pieces) -> Vec<NameTime> {
    let mut programs = sums(trace, &pieces.all);
    // Stable: ties stay in the order of their first pieces.
    programs.sort_by_key(|program| Reverse(program.exclusive_ns));
    let names = trace.program_names();
    let mut places: FxHashMap<u32, usize> = FxHashMap::default();
    let mut times: Vec<NameTime> = Vec::new();
    for program in &programs {
        let number = names.of(program.program);
        let place = *places.entry(number).or_insert(times.len());
        if place == times.len() {
            times.push(NameTime {
                name: names.name(number).to_owned(),
                exclusive_ns: 0,
                processes: 0,
            });
        }
        let time = &mut times[place];
        time.exclusive_ns = time.exclusive_ns.saturating_add(program.exclusive_ns);
        time.processes += program.processes;
    }
    times
}

/// The sums of each program, in the order of their first pieces.
fn sums(trace: &Trace, pieces: &[Piece]) -> Vec<Sum> {
    let mains = trace.main_tasks();
    let mut places: FxHashMap<Text, usize> = FxHashMap::default();
    let mut counted: FxHashSet<(usize, TaskId)> = FxHashSet::default();
    let mut sums: Vec<Sum> = Vec::new();
    for run in pieces.chunk_by(|one, next| one.program == next.program && one.task == next.task) {
        let (program, main) = (run[0].program, mains[run[0].task]);
        let place = *places.entry(program).or_insert(sums.len());
        if place == sums.len() {
            sums.push(Sum {
                program,
                exclusive_ns: 0,
                processes: 0,
                last: TaskId::NONE,
            });
        }
        let sum = &mut sums[place];
        sum.exclusive_ns = run.iter().fold(sum.exclusive_ns, |ns, piece| {
            ns.saturating_add(piece.exclusive_ns)
        });
        if std::mem::replace(&mut sum.last, main) != main && counted.insert((place, main)) {
            sum.processes += 1;
        }
    }
    sums
}
