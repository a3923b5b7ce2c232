//! A trace with what was worked out about it: each answer is kept until another choice is asked about.
//!
//! ```text
//! trace ──► wakers          who ended which wait, of all captures
//!   └─ choice ──► windows ──► charges (the path by event) ──► pieces (the partition)
//!                         └─► told (of processes)             view ──► tables
//! ```

use crate::chain::{self, Told};
use crate::charges::Charges;
use crate::items::Log;
use crate::kept::Kept;
use crate::moments::NoTime;
use crate::partition::Pieces;
use crate::path::{self, Segment};
use crate::select::{Choice, Selection};
use crate::trace::Trace;
use crate::view::View;
use crate::wakers::Wakers;
use crate::window::{self, Window};
use std::sync::{Arc, OnceLock};

/// A trace and the answers to what was asked about it.
pub struct Analysis {
    trace: Arc<Trace>,
    wakers: OnceLock<Wakers>,
    windows: Kept<Vec<Window>>,
    charges: Kept<Charges>,
    pieces: Kept<Pieces>,
    told: Kept<Told>,
    logs: Kept<OnceLock<Vec<Log>>>,
}

impl Analysis {
    /// Nothing is asked yet.
    pub fn new(trace: Trace) -> Analysis {
        Analysis {
            trace: Arc::new(trace),
            wakers: OnceLock::new(),
            windows: Kept::default(),
            charges: Kept::default(),
            pieces: Kept::default(),
            told: Kept::default(),
            logs: Kept::default(),
        }
    }

    /// The trace.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// Who ended which wait.
    pub fn wakers(&self) -> &Wakers {
        self.wakers.get_or_init(|| Wakers::new(&self.trace))
    }

    /// The windows of a choice.
    ///
    /// # Errors
    /// Where a choice names a moment that there is not; so do all questions about a choice.
    pub fn windows(&self, choice: &Choice) -> Result<Arc<Vec<Window>>, NoTime> {
        self.windows.of(choice, || windows(&self.trace, choice))
    }

    /// Tell each stretch of the path, window by window.
    ///
    /// # Errors
    /// See [`Analysis::windows`].
    pub fn walk(&self, choice: &Choice, sink: &mut dyn FnMut(Segment)) -> Result<(), NoTime> {
        for window in self.windows(choice)?.iter() {
            path::walk(&self.trace, self.wakers(), window, sink);
        }
        Ok(())
    }

    /// The path by event.
    ///
    /// # Errors
    /// See [`Analysis::windows`].
    pub fn charges(&self, choice: &Choice) -> Result<Arc<Charges>, NoTime> {
        self.charges.of(choice, || Ok(Charges::walked(&self.trace, self.wakers(), &self.windows(choice)?)))
    }

    /// The partition.
    ///
    /// # Errors
    /// See [`Analysis::windows`].
    pub fn pieces(&self, choice: &Choice) -> Result<Arc<Pieces>, NoTime> {
        self.pieces.of(choice, || {
            let (windows, charges) = (self.windows(choice)?, self.charges(choice)?);
            Ok(Pieces::new(&self.trace, self.trace.program_index(), &charges, &windows))
        })
    }

    /// What the walk tells of processes.
    ///
    /// # Errors
    /// See [`Analysis::windows`].
    pub fn told(&self, choice: &Choice) -> Result<Arc<Told>, NoTime> {
        self.told.of(choice, || Ok(chain::told(&self.trace, self.wakers(), &self.windows(choice)?)))
    }

    /// Look at what a choice leaves.
    ///
    /// # Errors
    /// See [`Analysis::windows`].
    pub fn view<T>(&self, choice: &Choice, look: impl FnOnce(&View<'_>) -> T) -> Result<T, NoTime> {
        let (selection, windows) = (Selection::new(&self.trace, choice)?, self.windows(choice)?);
        // Before tables are made on all cores: who waits there until it is worked out could not help with it.
        self.trace.trust(0);
        let (charges, logs) = (self.charges(choice)?, self.logs.of(choice, || Ok(OnceLock::new()))?);
        Ok(look(&View {
            trace: &self.trace,
            selection: &selection,
            windows: &windows,
            wakers: self.wakers(),
            charges: &charges,
            logs: &logs,
            matters: None,
            floor: None,
        }))
    }
}

fn windows(trace: &Trace, choice: &Choice) -> Result<Vec<Window>, NoTime> {
    let selection = Selection::new(trace, choice)?;
    let captures = 0..trace.captures.len() as u32;
    let chosen = captures.filter(|&capture| choice.capture.is_none_or(|chosen| chosen == capture));
    let all = chosen.filter_map(|capture| {
        let times = selection.times_of(capture);
        let asked = window::Choice {
            pid: choice.pids.first().copied(),
            root: choice.root,
            from_ns: times.map(|times| times.0).filter(|_| choice.from.is_some()),
            to_ns: times.map(|times| times.1).filter(|_| choice.to.is_some()),
        };
        window::window_of(trace, capture, &asked)
    });
    Ok(all.collect())
}
