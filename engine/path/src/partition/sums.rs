//! Sums the path of each task: parts with the same properties become one piece.

use crate::critical_path::attribution::{Attribution, Charge};
use crate::partition::piece::{Piece, piece_of, program_of};
use parsers::Text;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};
use trace::store::event::NONE;
use trace::store::index::{ShapeId, TaskId, TiSlice};
use trace::store::programs::ProgramIndex;
use trace::store::tasks::Program;
use trace::store::trace::Trace;

/// Number of rows of the tasks that are summed before their pieces are handed over. It bounds the memory for pieces that exist
/// twice.
const ROWS_AT_ONCE: usize = 1 << 19;
/// Number of tasks that one core processes at a time.
const TASKS_OF_CORE: usize = 32;

/// The pieces of some tasks.
#[derive(Default)]
pub(super) struct PiecesOfTasks {
    pub(super) pieces: Vec<Piece>,
    /// Where the pieces of each task end.
    pub(super) ends: Vec<usize>,
}

/// Sums the path and calls `take` with the pieces of some tasks, in task order.
pub(super) fn of_tasks(
    trace: &Trace,
    programs: &ProgramIndex,
    attribution: &Attribution,
    take: impl FnMut(PiecesOfTasks),
) {
    let twins = trace.events.twins();
    let tasks: Vec<TaskId> = trace.tasks.keys().collect();
    // The cores share a pool of accumulators, because each is as large as the number of shapes.
    let idle: Mutex<Vec<PieceSums<'_>>> = Mutex::default();
    let of_some = |tasks: &[TaskId]| {
        let left = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut sums = left.unwrap_or_else(|| PieceSums::new(&twins));
        let mut found = PiecesOfTasks::default();
        for &task in tasks {
            let places = attribution.places(trace, task);
            sums.of_task(
                trace,
                programs,
                attribution,
                task,
                places,
                |_, _| true,
                &mut found.pieces,
            );
            found.ends.push(found.pieces.len());
        }
        idle.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(sums);
        found
    };
    let mut take = take;
    let mut rest = &tasks[..];
    while !rest.is_empty() {
        let (some, others) = rest.split_at(tasks_at_once(trace, rest));
        let each: Vec<PiecesOfTasks> = some.par_chunks(TASKS_OF_CORE).map(of_some).collect();
        each.into_iter().for_each(&mut take);
        rest = others;
    }
}

/// How many of these tasks have [`ROWS_AT_ONCE`] rows, but at least one.
fn tasks_at_once(trace: &Trace, tasks: &[TaskId]) -> usize {
    let rows = tasks.iter().scan(0, |rows, &task| {
        *rows += trace.rows_of(task).len();
        Some(*rows)
    });
    rows.take_while(|&rows| rows <= ROWS_AT_ONCE).count().max(1)
}

/// Accumulates the pieces of one task.
pub struct PieceSums<'trace> {
    twins: &'trace TiSlice<ShapeId, ShapeId>,
    /// The first piece of each shape, then the first piece of the time between calls. An entry is valid only for its
    /// `life`.
    first: Vec<First>,
    /// Number of the current combination of task and program, unique across tasks.
    life: u32,
    last_life: u32,
    program: Text,
    /// The lives of the task by program.
    lives: Vec<(Text, u32)>,
    /// Further pieces of a shape whose class, tag or resolution differs, by life, shape and kind of time.
    further: FxHashMap<(u32, u32, u32), u32>,
}

#[derive(Clone, Copy, Default)]
struct First {
    life: u32,
    place: u32,
}

impl<'trace> PieceSums<'trace> {
    /// Starts empty. `twins` is the result of [`trace::store::events::EventTable::twins`].
    pub fn new(twins: &'trace TiSlice<ShapeId, ShapeId>) -> PieceSums<'trace> {
        PieceSums {
            twins,
            first: vec![First::default(); twins.len() + 1],
            life: 0,
            last_life: 0,
            program: Text::NONE,
            lives: Vec::new(),
            further: FxHashMap::default(),
        }
    }

    /// Adds the pieces of a task, summed over the parts of the path that `is_wanted` accepts, of calls at some places.
    #[expect(clippy::too_many_arguments, reason = "a piece has these parts")]
    pub fn of_task(
        &mut self,
        trace: &Trace,
        programs: &ProgramIndex,
        attribution: &Attribution,
        task: TaskId,
        places: impl Iterator<Item = usize>,
        mut is_wanted: impl FnMut(Option<usize>, &Charge) -> bool,
        pieces: &mut Vec<Piece>,
    ) {
        self.lives.clear();
        self.further.clear();
        let mut ran = Ran::new(programs, task);
        attribution.each_at(trace, task, places, |at, charge| {
            if is_wanted(at, charge) {
                let program = ran.program(trace, programs, attribution, charge);
                if self.lives.is_empty() || program != self.program {
                    self.switch_program(program);
                }
                self.add(trace, task, charge, pieces);
            }
        });
    }

    fn switch_program(&mut self, program: Text) {
        self.program = program;
        if let Some(&(_, life)) = self.lives.iter().find(|(known, _)| *known == program) {
            self.life = life;
            return;
        }
        self.last_life = self.last_life.checked_add(1).unwrap_or_else(|| {
            self.first.fill(First::default());
            1
        });
        self.life = self.last_life;
        self.lives.push((program, self.life));
    }

    fn add(&mut self, trace: &Trace, task: TaskId, charge: &Charge, pieces: &mut Vec<Piece>) {
        let is_call = !charge.is_gap && charge.row != NONE;
        let shape = is_call.then_some(charge.shape);
        let place = self.place(shape, charge, pieces);
        if place as usize == pieces.len() {
            return pieces.push(piece_of(trace, task, self.program, charge));
        }
        let piece = &mut pieces[place as usize];
        piece.exclusive_ns = piece.exclusive_ns.saturating_add(charge.ns);
        if is_call {
            piece.calls += 1;
            piece.first_row = piece.first_row.min(charge.row);
            piece.last_row = piece.last_row.max(charge.row);
            // What several targets have in common does not change any more, so targets need not be read.
            let common = piece.common_target(trace);
            if piece.target != common && piece.target != trace.events.waited_target(charge.row) {
                piece.target = common;
            }
        }
    }

    /// Index of the piece that a part of the path belongs to, or `pieces.len()` if there is no such piece yet.
    fn place(&mut self, shape: Option<ShapeId>, charge: &Charge, pieces: &[Piece]) -> u32 {
        let (life, next) = (self.life, pieces.len() as u32);
        let twin = shape
            .and_then(|shape| self.twins.get(shape))
            .map_or(self.twins.len(), |&twin| twin.index());
        let Some(first) = self.first.get_mut(twin) else {
            return next;
        };
        if first.life != life {
            *first = First { life, place: next };
            return next;
        }
        let is_like = |piece: &Piece| {
            piece.class == charge.class
                && piece.resolved == charge.resolved
                && piece.tag == charge.tag
        };
        match pieces.get(first.place as usize) {
            Some(piece) if !is_like(piece) => *self
                .further
                .entry((
                    life,
                    twin as u32,
                    Charge {
                        is_gap: false,
                        ..*charge
                    }
                    .kind(),
                ))
                .or_insert(next),
            _ => first.place,
        }
    }
}

/// The programs that a task ran, looked up in event order.
struct Ran<'index> {
    task: TaskId,
    only: Option<Text>,
    last: Option<&'index Program>,
    /// Whether the last program has started.
    is_last: bool,
}

impl<'index> Ran<'index> {
    fn new(programs: &'index ProgramIndex, task: TaskId) -> Ran<'index> {
        let all = programs.of(task);
        let only = all.first().filter(|_| all.len() == 1).map(|only| only.path);
        Ran {
            task,
            only,
            last: all.last(),
            is_last: false,
        }
    }

    /// The program at the start of a part of the path. Rows must be passed in order of their starts.
    fn program(
        &mut self,
        trace: &Trace,
        programs: &ProgramIndex,
        attribution: &Attribution,
        charge: &Charge,
    ) -> Text {
        if let Some(only) = self.only {
            return only;
        }
        if let (None, Some(last)) = (charge.place, self.last) {
            self.is_last = self.is_last
                || (charge.row != NONE && trace.events.start_ns(charge.row) >= last.from_ns);
            if self.is_last {
                return last.path;
            }
        }
        program_of(trace, programs, attribution, self.task, charge)
    }
}
