//! The wall time by task, program, class and call. The pieces add up to the window.

use crate::critical_path::attribution::Attribution;
use crate::critical_path::window::Window;
use crate::partition::buckets::{Buckets, bucket_key};
use crate::partition::piece::Piece;
use crate::partition::sums::{self, PiecesOfTasks};
use parsers::Text;
use parsers::syscalls::Class;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;
use trace::store::index::{ShapeId, TaskId};
use trace::store::programs::ProgramIndex;
use trace::store::trace::Trace;

/// The finest pieces of the partition, grouped by task.
#[derive(Debug)]
pub struct Pieces {
    pub(crate) all: Vec<Piece>,
    /// The offset of the first piece of each task in `all`.
    offsets: Vec<u32>,
    wall_ns: FxHashMap<u32, i64>,
    buckets: OnceLock<Buckets>,
    times: Times,
    of_processes: OnceLock<Vec<i64>>,
    of_syscalls: OnceLock<FxHashMap<Text, i64>>,
}

impl Pieces {
    /// Sums the critical path.
    pub fn new(
        trace: &Trace,
        programs: &ProgramIndex,
        attribution: &Attribution,
        windows: &[Window],
    ) -> Pieces {
        let mut pieces = Pieces::none(windows);
        sums::of_tasks(trace, programs, attribution, |some| pieces.push(some));
        pieces.all.shrink_to_fit();
        pieces
    }

    /// Collects the pieces of each task, given by task number.
    pub fn of_tasks(each: impl Iterator<Item = Vec<Piece>>, windows: &[Window]) -> Pieces {
        let mut pieces = Pieces::none(windows);
        each.for_each(|some| {
            pieces.push(PiecesOfTasks {
                ends: vec![some.len()],
                pieces: some,
            })
        });
        pieces
    }

    fn none(windows: &[Window]) -> Pieces {
        let mut wall_ns: FxHashMap<u32, i64> = FxHashMap::default();
        for window in windows {
            *wall_ns.entry(window.capture).or_default() += window.wall_ns();
        }
        Pieces {
            all: Vec::new(),
            offsets: vec![0],
            wall_ns,
            buckets: OnceLock::new(),
            times: Times::default(),
            of_processes: OnceLock::new(),
            of_syscalls: OnceLock::new(),
        }
    }

    /// Adds the pieces of the next tasks.
    fn push(&mut self, PiecesOfTasks { mut pieces, ends }: PiecesOfTasks) {
        let (before, mut from) = (self.all.len(), 0);
        for end in ends {
            self.times.push(&pieces[from..end]);
            self.offsets.push((before + end) as u32);
            from = end;
        }
        // There may be a single task with very many pieces.
        if self.all.is_empty() {
            std::mem::swap(&mut self.all, &mut pieces)
        } else {
            self.all.append(&mut pieces)
        }
    }

    /// The pieces grouped into buckets, which ignore task and target.
    pub(crate) fn buckets(&self, trace: &Trace) -> &Buckets {
        self.buckets.get_or_init(|| Buckets::new(trace, &self.all))
    }

    /// The range of a task's pieces in `all`.
    pub(crate) fn of_task(&self, task: TaskId) -> std::ops::Range<u32> {
        let bound = |at: TaskId| self.offsets.get(at.index()).copied().unwrap_or(0);
        bound(task)..bound(task.next())
    }

    /// The pieces of a task.
    pub fn of(&self, task: TaskId) -> &[Piece] {
        let range = self.of_task(task);
        self.all
            .get(range.start as usize..range.end as usize)
            .unwrap_or(&[])
    }

    /// Length of the windows of a capture, or of all captures.
    pub(crate) fn wall_ns(&self, capture: Option<u32>) -> i64 {
        match capture {
            Some(capture) => self.wall_ns.get(&capture).copied().unwrap_or(0),
            None => self.wall_ns.values().sum(),
        }
    }

    /// Time on the critical path by task number.
    pub fn exclusive_by_task(&self) -> &[i64] {
        &self.times.by_task
    }

    /// Time on the critical path of all tasks with the same pid, by task number.
    pub(crate) fn exclusive_of_process_by_task(&self, trace: &Trace) -> &[i64] {
        self.of_processes.get_or_init(|| {
            let pids = trace.pids();
            let sums: Vec<i64> = pids
                .tasks()
                .groups()
                .map(|tasks| {
                    tasks
                        .iter()
                        .filter_map(|&task| self.times.by_task.get(task.index()))
                        .sum()
                })
                .collect();
            trace
                .tasks
                .keys()
                .map(|task| {
                    pids.number_of(task)
                        .and_then(|pid| sums.get(pid as usize))
                        .copied()
                        .unwrap_or(0)
                })
                .collect()
        })
    }

    /// Time on the critical path by class number.
    pub(crate) fn exclusive_by_class(&self) -> &[i64] {
        &self.times.by_class
    }

    /// Time on the critical path by syscall.
    pub(crate) fn exclusive_by_syscall(&self, trace: &Trace) -> &FxHashMap<Text, i64> {
        self.of_syscalls.get_or_init(|| {
            let mut sums: FxHashMap<Text, i64> = FxHashMap::default();
            for (shape, ns) in trace.events.shapes().iter().zip(&self.times.by_shape) {
                *sums.entry(shape.syscall).or_insert(0) += ns;
            }
            sums
        })
    }
}

/// Sums over all pieces.
#[derive(Debug, Default)]
struct Times {
    by_task: Vec<i64>,
    by_class: [i64; Class::ALL.len()],
    /// By shape number, of shapes that differ only in outcome under one of them; time between calls has no shape.
    by_shape: Vec<i64>,
}

impl Times {
    /// Adds the pieces of the next task.
    fn push(&mut self, pieces: &[Piece]) {
        let mut sum_ns = 0i64;
        for piece in pieces {
            sum_ns = sum_ns.saturating_add(piece.exclusive_ns);
            let of_class = &mut self.by_class[piece.class as usize];
            *of_class = of_class.saturating_add(piece.exclusive_ns);
            let shape = piece.shape.index();
            if piece.shape != ShapeId::NONE && shape >= self.by_shape.len() {
                self.by_shape.resize(shape + 1, 0);
            }
            if let Some(sum) = self.by_shape.get_mut(shape) {
                *sum = sum.saturating_add(piece.exclusive_ns);
            }
        }
        self.by_task.push(sum_ns);
    }
}

/// Merges the pieces of one task that differ only in target. A merged piece retains the target that its pieces have in
/// common.
pub fn without_targets(trace: &Trace, pieces: &[Piece]) -> Vec<Piece> {
    let mut places = FxHashMap::default();
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        // Messages are distinguished by their text.
        let message = if piece.is_message {
            piece.target
        } else {
            Text::NONE
        };
        let at = *places
            .entry((bucket_key(trace, piece), message))
            .or_insert(all.len());
        match all.get_mut(at) {
            Some(known) => known.take(trace, piece),
            None => all.push(*piece),
        }
    }
    all
}
