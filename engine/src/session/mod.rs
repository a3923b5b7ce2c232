//! A trace with what was worked out about it: each answer is kept until another choice is asked about.
//!
//! ```text
//! trace ──► wakers          who ended which wait, of all captures
//!   └─ choice ──► windows ──► charges (the path by event, and by process) ──► pieces (the partition)
//!                               └─► view ──► tables
//! ```

pub(crate) mod memo;

use crate::critical_path::attribution::Charges;
use crate::critical_path::walk::{self, Listen};
use crate::critical_path::window::{self, Window};
use crate::logs::items::Log;
use crate::partition::pieces::Pieces;
use crate::query::selection::{Choice, Selection};
use crate::query::time_bounds::NoTime;
use crate::session::memo::Kept;
use crate::store::trace::Trace;
use crate::table_support::context::View;
use crate::waits::wakers::Wakers;
use std::sync::{Arc, OnceLock};

/// A trace and the answers to what was asked about it.
pub struct Analysis {
    trace: Arc<Trace>,
    wakers: OnceLock<Wakers>,
    windows: Kept<Vec<Window>>,
    charges: Kept<Charges>,
    pieces: Kept<Pieces>,
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

    /// Walk the path, window by window, and tell who listens.
    ///
    /// # Errors
    /// See [`Analysis::windows`].
    pub fn walk<L: Listen>(&self, choice: &Choice, listener: &mut L) -> Result<(), NoTime> {
        for window in self.windows(choice)?.iter() {
            walk::walk(&self.trace, self.wakers(), window, listener);
        }
        Ok(())
    }

    /// The path by event, and what it tells of processes.
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

    /// Look at what a choice leaves.
    ///
    /// # Errors
    /// See [`Analysis::windows`].
    pub fn view<T>(&self, choice: &Choice, look: impl FnOnce(&View<'_>) -> T) -> Result<T, NoTime> {
        let (selection, windows) = (Selection::new(&self.trace, choice)?, self.windows(choice)?);
        let (charges, logs) = (self.charges(choice)?, self.logs.of(choice, || Ok(OnceLock::new()))?);
        let moved: Vec<_> = self.trace.tasks.iter().map(|_| OnceLock::new()).collect();
        Ok(look(&View::new(&self.trace, &selection, &windows, self.wakers(), &charges, (&logs, &moved))))
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
