//! Pieces of work done on all cores, and taken in one after the other, in order, by whoever is free.
//!
//! ```text
//! core 1   |read 0|take 0|read 2 |take 1|take 2|read 5|…
//! core 2   |read 1  |read 3 |read 4  |take 3|take 4|…
//! ```
//! No core waits while there is a piece to read or one to take in. Only a few pieces are between reading and taking
//! in, so that their memory is small and still near the core that wrote it.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Pieces for each core that may be read and not yet taken in.
const AHEAD: usize = 4;

/// What is done with pieces.
pub(crate) struct PipelineSteps<Claim, Read, Take, Watch> {
    /// Choose the next piece; `false` after the last one. One at a time, in order.
    pub claim: Claim,
    /// Work on it, with the state of a core. Each core gets its pieces in order.
    pub read: Read,
    /// Take it in. One at a time, in order.
    pub take: Take,
    /// Called by the caller's own thread now and then.
    pub watch: Watch,
}

/// Do all pieces. The caller's thread works with the first of the cores' own things, other threads with the rest.
pub(crate) fn run_pipeline<Piece, Own>(
    owns: &mut [Own],
    steps: PipelineSteps<
        impl FnMut(&mut Piece) -> bool + Send,
        impl Fn(usize, &mut Own, &mut Piece) + Sync,
        impl FnMut(&Piece) + Send,
        impl FnMut(),
    >,
) where
    Piece: Default + Send,
    Own: Send,
{
    let PipelineSteps {
        claim,
        read,
        take,
        mut watch,
    } = steps;
    let shared = Shared {
        max: owns.len() * AHEAD,
        state: Mutex::new(PipelineState::default()),
        changed: Condvar::new(),
        claim: Mutex::new((0, claim)),
        take: Mutex::new(take),
        read,
    };
    let Some((first, others)) = owns.split_first_mut() else {
        return;
    };
    // Threads of their own: they wait for each other. In the pool, those of two captures read at the same time would take all of
    // its threads, and the work that a step gives to the pool would never be done.
    std::thread::scope(|scope| {
        for (at, own) in others.iter_mut().enumerate() {
            let shared = &shared;
            scope.spawn(move || shared.work(at + 1, own, &mut || ()));
        }
        shared.work(0, first, &mut watch);
    });
}

struct Shared<Piece, Claim, Read, Take> {
    max: usize,
    state: Mutex<PipelineState<Piece>>,
    changed: Condvar,
    /// With the number of the next piece.
    claim: Mutex<(usize, Claim)>,
    take: Mutex<Take>,
    read: Read,
}

/// Where all pieces are.
#[derive(Default)]
struct PipelineState<Piece> {
    /// How many are being read.
    reading: usize,
    /// Read, by their number.
    ready: BTreeMap<usize, Piece>,
    /// How many were taken in.
    taken: usize,
    is_taking: bool,
    /// Nothing is left to claim.
    ended: bool,
    /// A core panicked: the pieces of the other cores are discarded.
    is_broken: bool,
    /// Processed pieces: their memory is used again.
    spare: Vec<Piece>,
}

enum Step<Piece> {
    Read(Piece),
    Take(Piece),
}

impl<Piece: Default> PipelineState<Piece> {
    /// What can be done now.
    fn choose(&mut self, max: usize) -> Option<Step<Piece>> {
        if !self.is_taking
            && let Some(piece) = self.ready.remove(&self.taken)
        {
            self.is_taking = true;
            return Some(Step::Take(piece));
        }
        if self.is_broken || self.ended || self.reading + self.ready.len() >= max {
            return None;
        }
        self.reading += 1;
        Some(Step::Read(self.spare.pop().unwrap_or_default()))
    }

    fn is_over(&self) -> bool {
        self.is_broken
            || (self.ended && self.reading == 0 && self.ready.is_empty() && !self.is_taking)
    }
}

impl<Piece, Claim, Read, Take> Shared<Piece, Claim, Read, Take>
where
    Piece: Default,
    Claim: FnMut(&mut Piece) -> bool,
    Take: FnMut(&Piece),
{
    fn work<Own>(&self, core: usize, own: &mut Own, watch: &mut dyn FnMut())
    where
        Read: Fn(usize, &mut Own, &mut Piece),
    {
        let _stop = StopOnPanic(self);
        while let Some(step) = self.next_step() {
            match step {
                Step::Read(piece) => self.read(core, own, piece),
                Step::Take(piece) => {
                    locked(&self.take)(&piece);
                    let mut state = locked(&self.state);
                    (state.is_taking, state.taken) = (false, state.taken + 1);
                    state.spare.push(piece);
                }
            }
            self.changed.notify_all();
            watch();
        }
    }

    /// The next thing to do, waited for if others have to finish theirs first; nothing at the end.
    fn next_step(&self) -> Option<Step<Piece>> {
        let mut state = locked(&self.state);
        loop {
            match state.choose(self.max) {
                None if state.is_over() => return None,
                None => {
                    state = self
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner)
                }
                step => return step,
            }
        }
    }

    fn read<Own>(&self, core: usize, own: &mut Own, mut piece: Piece)
    where
        Read: Fn(usize, &mut Own, &mut Piece),
    {
        let number = {
            let (next, claim) = &mut *locked(&self.claim);
            *next += 1;
            claim(&mut piece).then_some(*next - 1)
        };
        if number.is_some() {
            (self.read)(core, own, &mut piece);
        }
        let mut state = locked(&self.state);
        state.reading -= 1;
        match number {
            Some(number) => {
                state.ready.insert(number, piece);
            }
            None => state.ended = true,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who panics leaves a piece that others would wait for.
struct StopOnPanic<'shared, Piece, Claim, Read, Take>(&'shared Shared<Piece, Claim, Read, Take>);

impl<Piece, Claim, Read, Take> Drop for StopOnPanic<'_, Piece, Claim, Read, Take> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            locked(&self.0.state).is_broken = true;
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Numbers below this, each read by some core; those taken in, and how often each core read.
    fn run(cores: usize, pieces: usize, panics_at: usize) -> (Vec<usize>, Vec<Vec<usize>>) {
        let (mut owns, mut next, mut taken) = (vec![Vec::new(); cores], 0, Vec::new());
        run_pipeline(
            &mut owns,
            PipelineSteps {
                claim: |piece: &mut usize| {
                    (*piece, next) = (next, next + 1);
                    *piece < pieces
                },
                read: |_, own: &mut Vec<usize>, piece: &mut usize| {
                    assert_ne!(*piece, panics_at, "the test panics here");
                    own.push(*piece);
                },
                take: |&piece: &usize| taken.push(piece),
                watch: || (),
            },
        );
        (taken, owns)
    }

    #[test]
    fn pieces_are_taken_in_in_order_whoever_read_them() {
        for (cores, threads, pieces) in
            [(1, 1, 50), (2, 2, 1000), (5, 2, 1000), (3, 4, 1), (2, 2, 0)]
        {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("threads");
            let (taken, owns) = pool.install(|| run(cores, pieces, usize::MAX));
            assert_eq!(taken, (0..pieces).collect::<Vec<_>>());
            assert!(
                owns.iter().all(|own| own.is_sorted()),
                "each core has its pieces in order"
            );
            assert_eq!(owns.iter().map(Vec::len).sum::<usize>(), pieces);
        }
    }

    #[test]
    fn no_more_pieces_than_allowed_wait_to_be_taken_in() {
        let (ahead, max, mut next) = (AtomicUsize::new(0), AtomicUsize::new(0), 0);
        run_pipeline(
            &mut [(), ()],
            PipelineSteps {
                claim: |_: &mut ()| {
                    next += 1;
                    next <= 500
                },
                read: |_, _: &mut (), _: &mut ()| {
                    max.fetch_max(ahead.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                },
                take: |_: &()| {
                    ahead.fetch_sub(1, Ordering::SeqCst);
                },
                watch: || (),
            },
        );
        assert!(max.into_inner() <= 2 * AHEAD + 1);
    }

    #[test]
    fn a_panic_ends_the_work_of_all() {
        let panicked = std::panic::catch_unwind(|| run(2, 1000, 300));
        assert!(panicked.is_err());
    }
}
