//! A trace with its computed answers. Each answer is cached until other criteria are requested.
//!
//! ```text
//! trace ──► wakers          the wakers of all waits, of all captures
//!   └─ choice ──► windows ──► attribution (the path by event, and by process) ──► pieces (the partition)
//!                               └─► context ──► tables
//! ```

pub(crate) mod memo;

use crate::critical_path::attribution::Attribution;
use crate::critical_path::trust::{self, Trust};
use crate::critical_path::walk::{self, WalkListener};
use crate::critical_path::window::{self, Window};
use crate::partition::pieces::Pieces;
use crate::query::cache::QueryCache;
use crate::query::selection::{Criteria, Selection};
use crate::query::time_bounds::TimeBoundError;
use crate::session::memo::LastAnswer;
use crate::store::trace::Trace;
use crate::table_support::context::{TableContext, TableMemo};
use crate::waits::wakers::Wakers;
use std::sync::{Arc, OnceLock};

/// A trace and the cached answers about it.
pub struct Session {
    trace: Arc<Trace>,
    wakers: OnceLock<Wakers>,
    windows: LastAnswer<Vec<Window>>,
    attribution: LastAnswer<Attribution>,
    pieces: LastAnswer<Pieces>,
    tables: LastAnswer<TableMemo>,
    queries: Arc<QueryCache>,
    trust: OnceLock<Vec<Option<Trust>>>,
}

impl Session {
    /// A session without answers.
    pub fn new(trace: Trace) -> Session {
        Session {
            trace: Arc::new(trace),
            wakers: OnceLock::new(),
            windows: LastAnswer::default(),
            attribution: LastAnswer::default(),
            pieces: LastAnswer::default(),
            tables: LastAnswer::default(),
            queries: Arc::default(),
            trust: OnceLock::new(),
        }
    }

    /// The trace.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// The last answers to queries, for callers that select events themselves.
    pub fn queries(&self) -> &Arc<QueryCache> {
        &self.queries
    }

    /// How far each capture can be trusted.
    pub fn trust(&self) -> &[Option<Trust>] {
        self.trust.get_or_init(|| trust::trusts(&self.trace))
    }

    /// The events of a choice.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn selection(&self, choice: &Criteria) -> Result<Selection<'_>, TimeBoundError> {
        Selection::new(&self.trace, choice, &self.queries)
    }

    /// Who ended which wait.
    pub fn wakers(&self) -> &Wakers {
        self.wakers.get_or_init(|| Wakers::new(&self.trace))
    }

    /// The windows of a choice.
    ///
    /// # Errors
    /// Where a choice names a moment that there is not; so do all questions about a choice.
    pub fn windows(&self, choice: &Criteria) -> Result<Arc<Vec<Window>>, TimeBoundError> {
        self.windows.of(choice, || Ok(windows(&self.trace, choice, &self.selection(choice)?)))
    }

    /// Walk the path, window by window, and notify the listener.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn walk<L: WalkListener>(&self, choice: &Criteria, listener: &mut L) -> Result<(), TimeBoundError> {
        for window in self.windows(choice)?.iter() {
            walk::walk(&self.trace, self.wakers(), window, listener);
        }
        Ok(())
    }

    /// The path by event, and the wait graph of processes.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn attribution(&self, choice: &Criteria) -> Result<Arc<Attribution>, TimeBoundError> {
        self.attribution.of(choice, || Ok(Attribution::walked(&self.trace, self.wakers(), &self.windows(choice)?)))
    }

    /// The partition.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn pieces(&self, choice: &Criteria) -> Result<Arc<Pieces>, TimeBoundError> {
        self.pieces.of(choice, || {
            let (windows, attribution) = (self.windows(choice)?, self.attribution(choice)?);
            Ok(Pieces::new(&self.trace, self.trace.program_index(), &attribution, &windows))
        })
    }

    /// Call a function with the table context of these criteria.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn with_context<T>(
        &self,
        choice: &Criteria,
        look: impl FnOnce(&TableContext<'_>) -> T,
    ) -> Result<T, TimeBoundError> {
        let (selection, windows) = (self.selection(choice)?, self.windows(choice)?);
        let attribution = self.attribution(choice)?;
        let memo = self.tables.of(choice, || Ok(TableMemo::new(&self.trace)))?;
        // Computed eagerly: a worker that blocks on them inside the pool could not help to compute them.
        self.trace.shapes_of(0);
        let trust = self.trust();
        Ok(look(&TableContext {
            trace: &self.trace,
            selection: &selection,
            windows: &windows,
            wakers: self.wakers(),
            attribution: &attribution,
            trust,
            memo: &memo,
            matters: None,
            threshold: None,
        }))
    }
}

fn windows(trace: &Trace, choice: &Criteria, selection: &Selection<'_>) -> Vec<Window> {
    let captures = 0..trace.captures.len() as u32;
    let chosen = captures.filter(|&capture| choice.capture.is_none_or(|chosen| chosen == capture));
    let all = chosen.filter_map(|capture| {
        let times = selection.times_of(capture);
        let asked = window::WindowChoice {
            pid: choice.pids.first().copied(),
            root: choice.root,
            from_ns: times.map(|times| times.0).filter(|_| choice.from.is_some()),
            to_ns: times.map(|times| times.1).filter(|_| choice.to.is_some()),
        };
        window::window_of(trace, capture, &asked)
    });
    all.collect()
}
