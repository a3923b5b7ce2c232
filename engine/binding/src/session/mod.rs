//! A trace with its computed answers. Each answer is cached until other criteria are requested.
//!
//! ```text
//! trace ──► wakers          the wakers of all waits, of all captures
//!   └─ choice ──► windows ──► attribution (the path by event, and by process) ──► pieces (the partition)
//!                               └─► context ──► tables
//! ```
//! The path and the partition depend on the windows only, which choices of calls or programs have in common.

pub(crate) mod memo;
pub mod own_workers;

use crate::session::memo::LastAnswer;
use crate::session::own_workers::with_further_workers;
use detect::tables;
use kit::table_support::builder::BuiltTable;
use kit::table_support::context::{TableContext, TableMemo};
use kit::table_support::kit::TableSpec;
use kit::table_support::threshold::Threshold;
use path::critical_path::attribution::{Attribution, elapsed};
use path::critical_path::trust::{self, Trust};
use path::critical_path::walk::{self, WalkListener};
use path::critical_path::window::{self, Window};
use path::critical_path::witnessed_time::WitnessedTime;
use path::partition::pieces::Pieces;
use path::waits::wakers::Wakers;
use query::cache::QueryCache;
use query::selection::{Criteria, Selection};
use query::time_bounds::TimeBoundError;
use report::picture::{Picture, picture};
use report::replay::graph::Graph;
use report::replay::question::{Question, Variant};
use report::replay::scenario::Replayed;
use report::tables::intervals::{self, Grid, PathTimes};
use report::tables::verdicts;
use std::sync::{Arc, OnceLock};
use trace::parallel;
use trace::store::index::TaskId;
use trace::store::table::Table;
use trace::store::trace::Trace;

/// A trace and the cached answers about it.
pub struct Session {
    trace: Arc<Trace>,
    wakers: OnceLock<Wakers>,
    windows: LastAnswer<Criteria, Vec<Window>>,
    attribution: LastAnswer<Arc<Vec<Window>>, Attribution>,
    pieces: LastAnswer<Arc<Vec<Window>>, Pieces>,
    elapsed: LastAnswer<Criteria, Attribution>,
    elapsed_pieces: LastAnswer<Criteria, Pieces>,
    weights: LastAnswer<Criteria, Attribution>,
    weight_pieces: LastAnswer<Criteria, Pieces>,
    tables: LastAnswer<Criteria, TableMemo>,
    queries: Arc<QueryCache>,
    trust: OnceLock<Vec<Option<Trust>>>,
    graph: OnceLock<Graph>,
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
            elapsed: LastAnswer::default(),
            elapsed_pieces: LastAnswer::default(),
            weights: LastAnswer::default(),
            weight_pieces: LastAnswer::default(),
            tables: LastAnswer::default(),
            queries: Arc::default(),
            trust: OnceLock::new(),
            graph: OnceLock::new(),
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

    /// Computes what every report needs, on all cores: parts of it have only one thing to do at a time.
    pub fn prepare(&self) {
        rayon::join(|| self.trust(), || self.wakers());
    }

    /// The windows of a choice.
    ///
    /// # Errors
    /// Where a choice names a moment that there is not; so do all questions about a choice.
    pub fn windows(&self, choice: &Criteria) -> Result<Arc<Vec<Window>>, TimeBoundError> {
        self.windows.of(choice, || {
            Ok(windows(&self.trace, choice, &self.selection(choice)?))
        })
    }

    /// Walk the path, window by window, and notify the listener.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn walk<L: WalkListener>(
        &self,
        choice: &Criteria,
        listener: &mut L,
    ) -> Result<(), TimeBoundError> {
        for window in self.windows(choice)?.iter() {
            walk::walk(&self.trace, self.wakers(), window, listener);
        }
        Ok(())
    }

    /// The path according to scheduler events of the kernel; `None` if no capture has any.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn witnessed_time(
        &self,
        choice: &Criteria,
    ) -> Result<Option<WitnessedTime<'_>>, TimeBoundError> {
        let mut captures = 0..self.trace.captures.len() as u32;
        if !captures.any(|capture| self.trace.scheduling(capture).is_some()) {
            return Ok(None);
        }
        let mut found = WitnessedTime::new(&self.trace);
        self.walk(choice, &mut found)?;
        Ok(Some(found))
    }

    /// The inferred wakers of waits of at least this length, compared with scheduler events of the kernel.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn verdicts(&self, choice: &Criteria, at_least_ns: i64) -> Result<Table, TimeBoundError> {
        let windows = self.windows(choice)?;
        Ok(verdicts::verdicts(&self.trace, &windows, at_least_ns))
    }

    /// The calls and the critical path of the first window by intervals of a width; empty without a window.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn intervals(
        &self,
        choice: &Criteria,
        width_ns: i64,
    ) -> Result<(Table, Table), TimeBoundError> {
        let (grid, path) = self.gridded_path(choice, width_ns)?;
        let calls = intervals::calls(&self.trace, &self.selection(choice)?, grid);
        Ok((calls, path))
    }

    /// The critical path of the first window in intervals of a width.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn path_intervals(
        &self,
        choice: &Criteria,
        width_ns: i64,
    ) -> Result<Table, TimeBoundError> {
        Ok(self.gridded_path(choice, width_ns)?.1)
    }

    fn gridded_path(
        &self,
        choice: &Criteria,
        width_ns: i64,
    ) -> Result<(Grid, Table), TimeBoundError> {
        let windows = self.windows(choice)?;
        let grid = windows
            .first()
            .filter(|window| window.root.is_some())
            .map(|window| Grid::new(window, width_ns))
            .unwrap_or_default();
        let mut path = PathTimes::new(&self.trace, grid);
        if let Some(window) = windows.first() {
            walk::walk(&self.trace, self.wakers(), window, &mut path);
        }
        Ok((grid, path.table()))
    }

    /// The data of drawn timelines, one per window, each in about so many bytes; see [`report::picture`].
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn pictures(
        &self,
        choice: &Criteria,
        budget_bytes: usize,
    ) -> Result<Vec<Option<Picture>>, TimeBoundError> {
        let windows = self.windows(choice)?;
        Ok(windows
            .iter()
            .map(|window| picture(&self.trace, self.wakers(), window, budget_bytes))
            .collect())
    }

    /// The path by event, and the wait graph of processes.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn attribution(&self, choice: &Criteria) -> Result<Arc<Attribution>, TimeBoundError> {
        let windows = self.windows(choice)?;
        self.attribution.of(&windows, || {
            Ok(Attribution::walked(&self.trace, self.wakers(), &windows))
        })
    }

    /// The partition.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn pieces(&self, choice: &Criteria) -> Result<Arc<Pieces>, TimeBoundError> {
        let windows = self.windows(choice)?;
        self.pieces.of(&windows, || {
            self.pieces_of(choice, self.attribution(choice)?.as_ref())
        })
    }

    /// The path by event, and the elapsed time of calls where there is no wall clock.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn elapsed(&self, choice: &Criteria) -> Result<Arc<Attribution>, TimeBoundError> {
        if !elapsed::has_elapsed(&self.trace) {
            return self.attribution(choice);
        }
        self.elapsed.of(choice, || self.with_elapsed(choice, 0))
    }

    /// The partition of [`Session::elapsed`].
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn elapsed_pieces(&self, choice: &Criteria) -> Result<Arc<Pieces>, TimeBoundError> {
        if !elapsed::has_elapsed(&self.trace) {
            return self.pieces(choice);
        }
        self.elapsed_pieces.of(choice, || {
            self.pieces_of(choice, self.elapsed(choice)?.as_ref())
        })
    }

    /// The partition with 1 ns for each call of unknown duration, where there is no wall clock.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn weight_pieces(&self, choice: &Criteria) -> Result<Arc<Pieces>, TimeBoundError> {
        self.weight_pieces.of(choice, || {
            self.pieces_of(choice, self.weights(choice)?.as_ref())
        })
    }

    fn pieces_of(
        &self,
        choice: &Criteria,
        attribution: &Attribution,
    ) -> Result<Pieces, TimeBoundError> {
        Ok(Pieces::new(
            &self.trace,
            self.trace.program_index(),
            attribution,
            self.windows(choice)?.as_ref(),
        ))
    }

    /// The critical path by event for a basis: "wall", "elapsed" or "counts".
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn attribution_of(
        &self,
        choice: &Criteria,
        basis: &str,
    ) -> Result<Arc<Attribution>, TimeBoundError> {
        match basis {
            "elapsed" => self.elapsed(choice),
            "counts" => self.weights(choice),
            _ => self.attribution(choice),
        }
    }

    /// What claims divide: as [`Session::elapsed`], and 1 ns for each call of unknown duration, so that calls count.
    fn weights(&self, choice: &Criteria) -> Result<Arc<Attribution>, TimeBoundError> {
        if !elapsed::has_elapsed(&self.trace) {
            return self.attribution(choice);
        }
        self.weights.of(choice, || self.with_elapsed(choice, 1))
    }

    fn with_elapsed(&self, choice: &Criteria, min_ns: i64) -> Result<Attribution, TimeBoundError> {
        let walked = Attribution::walked(&self.trace, self.wakers(), &self.windows(choice)?);
        Ok(walked.with_elapsed(&self.trace, &self.selection(choice)?, min_ns))
    }

    /// Several tables, by name and function, at least with the rows that reach a threshold. The partition is computed at
    /// the same time for the claims: parts of both keep one core busy.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn tables(
        &self,
        choice: &Criteria,
        requested: &[(&'static TableSpec, Option<Threshold>)],
    ) -> Result<Vec<BuiltTable>, TimeBoundError> {
        self.with_context(choice, |context| {
            // Computed before the tables, which are built on all cores: a core that waits for the index cannot help
            // to build it.
            context.time_index();
            std::thread::scope(|scope| {
                // If no thread can be started, claims compute it.
                drop(
                    std::thread::Builder::new()
                        .spawn_scoped(scope, || with_further_workers(|| drop(self.pieces(choice)))),
                );
                parallel::map(requested, |(table, threshold)| {
                    tables::made(context, table, threshold.as_ref())
                })
            })
        })
    }

    /// The waits of all tasks, for replays.
    pub fn graph(&self) -> &Graph {
        self.graph
            .get_or_init(|| Graph::new(&self.trace, self.wakers()))
    }

    /// Replays the window of a capture once for each variant; `None` where it has no end.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn replayed(
        &self,
        choice: &Criteria,
        question: &Question,
        variants: &[Variant],
    ) -> Result<Vec<Option<Replayed>>, TimeBoundError> {
        let graph = self.graph();
        self.with_context(choice, |context| {
            question.answers(context, graph, &self.queries, variants)
        })?
    }

    /// Call a function with the context of claims: its times are weights of calls where there is no wall clock.
    ///
    /// # Errors
    /// See [`Session::windows`].
    pub fn with_weights<T>(
        &self,
        choice: &Criteria,
        look: impl FnOnce(&TableContext<'_>) -> T,
    ) -> Result<T, TimeBoundError> {
        let weights = self.weights(choice)?;
        self.with_context(choice, |context| {
            look(&TableContext {
                attribution: &weights,
                ..*context
            })
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
        let attribution = self.elapsed(choice)?;
        let memo = self.tables.of(choice, || Ok(TableMemo::new(&self.trace)))?;
        // Computed eagerly: a worker that blocks on them inside the pool could not help to compute them.
        self.trace.shapes_of(TaskId::new(0));
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
