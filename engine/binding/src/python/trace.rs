//! Reading, and a trace as Python sees it.

use super::capture::described;
use super::detached;
use super::errors::Raised;
use super::event_batches::Events;
use super::filter::Condition;
use super::picture;
use super::replay::{self, RequestedChange, RequestedVariant};
use super::requests::{
    CalledBy, CallerParts, Claimant, RequestedScope, RequestedTable, SharedTime, call_order,
    group_key, key, requested_threshold, scope, table,
};
use super::selection::PySelection;
use super::table::{Finest, PyTable};
use super::witness;
use crate::session::Session;
use detect::tables;
use kit::table_support::callers::{self, Caller};
use kit::table_support::claims;
use kit::table_support::provenance::Provenance;
use parsers::perf_file::{self, CallChoice, RunningCall, is_perf_data};
use parsers::sched::SchedSource;
use parsers::sched::pack::pack;
use parsers::{NO_NS, Text};
use path::critical_path::segment::Segment;
use path::critical_path::timeline::{self, Timeline};
use path::critical_path::walk::{Waited, WalkListener};
use path::critical_path::window_overlap::{WindowOverlap, window_overlap};
use path::critical_path::{wait_graph, window};
use path::partition::group_by;
use path::partition::scope::GroupQuery;
use path::partition::stack_times;
use path::waits::edge::Edge;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use query::filter::events::EventFilter;
use query::source_lines;
use query::time_bounds::TimeBoundError;
use report::picture::evidence;
use report::replay::question::{Question, Variant};
use report::tables::calls::CallQuery;
use report::tables::chart_rows::{ChartQuery, chart_rows};
use report::tables::work::{self, WorkQuery};
use report::tables::{calls, errors, gaps, loops, processes, totals};
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter};
use std::path::Path;
use std::sync::Arc;
use trace::ingest::capture::{Progress, ReadError};
use trace::ingest::merge;
use trace::ingest::read::read_recorded;
use trace::ingest::scheduling::add_scheduling;
use trace::parallel;
use trace::store::index::TaskId;
use trace::store::random_names;
use trace::store::table::{self, Table, ints, texts};
use trace::store::trace::RecordedFacts;

/// Captures in memory.
#[pyclass(name = "Trace", module = "tracealyze._engine", frozen)]
pub struct PyTrace(Session);

impl PyTrace {
    /// The trace with its answers.
    pub(super) fn session(&self) -> &Session {
        &self.0
    }
}

/// Read captures.
#[pyfunction]
#[pyo3(signature = (captures, input_format = None, progress = None, recorded = Vec::new(), scheduling = Vec::new()))]
pub fn read(
    py: Python<'_>,
    captures: Vec<Vec<String>>,
    input_format: Option<String>,
    progress: Option<Py<PyAny>>,
    recorded: Vec<Option<Recorded>>,
    scheduling: Vec<(String, Option<Vec<u8>>)>,
) -> PyResult<PyTrace> {
    let recorded = recorded_facts(recorded);
    let trace = told(py, progress, |tell| {
        let mut trace = read_recorded(&captures, &recorded, input_format.as_deref(), tell)?;
        for (name, content) in &scheduling {
            add_scheduling(&mut trace, &source_of(name, content.as_deref())).map_err(|source| {
                ReadError::Unreadable {
                    path: name.clone(),
                    source,
                }
            })?;
        }
        Ok(trace)
    })?;
    Ok(PyTrace(Session::new(trace)))
}

/// How much memory this process may use for traces, in bytes. What is larger goes to an unnamed file.
#[pyfunction]
pub fn limit_memory(limit: u64) {
    spill::limit(usize::try_from(limit).unwrap_or(usize::MAX));
}

/// The source of scheduler events: their content, or else the file with this name.
fn source_of<'source>(name: &'source str, content: Option<&'source [u8]>) -> SchedSource<'source> {
    content.map_or_else(|| SchedSource::File(Path::new(name)), SchedSource::Bytes)
}

/// Scheduler events of a file, as few as a capture of these threads needs, compressed. Without threads, they are those that a
/// tracer stopped.
#[pyfunction]
#[pyo3(signature = (file, tids = Vec::new()))]
pub fn pack_scheduling(
    py: Python<'_>,
    file: String,
    tids: Vec<i32>,
) -> PyResult<Cow<'static, [u8]>> {
    let packed = py.detach(|| pack(&SchedSource::File(Path::new(&file)), &tids));
    Ok(Cow::Owned(
        packed
            .map_err(|source| ReadError::Unreadable { path: file, source })
            .raised()?,
    ))
}

/// Write the calls of a perf.data as text to a new file. Returns the number of calls, that of lost events, and the threads.
///
/// Of a process that was to run a command, what it did before that is left out; `status` is how it ended. `running` are calls
/// that began before: process, thread, time, number and arguments.
#[pyfunction]
#[pyo3(signature = (file, output, command = None, status = None, running = Vec::new()))]
pub fn write_calls(
    py: Python<'_>,
    file: String,
    output: String,
    command: Option<i32>,
    status: Option<i32>,
    running: Vec<(i32, i32, i64, i64, [u64; 6])>,
) -> PyResult<(u64, u64, Vec<i32>)> {
    let running_call = |(pid, tid, time_ns, number, args)| RunningCall {
        pid,
        tid,
        time_ns,
        number,
        args,
    };
    let choice = CallChoice {
        command,
        status,
        running: running.into_iter().map(running_call).collect(),
    };
    let written = py.detach(|| {
        let source = BufReader::new(File::open(&file)?);
        let mut out = BufWriter::new(File::create(&output)?);
        perf_file::write_calls(source, choice, &mut out)
    });
    let written = written
        .map_err(|source| ReadError::Unreadable { path: file, source })
        .raised()?;
    Ok((written.calls, written.lost, written.tids))
}

/// Whether a file is perf.data with scheduler events.
#[pyfunction]
pub fn has_scheduling(file: &str) -> bool {
    let has = || {
        // What a pipe gives can be read once, and opening one waits for a writer.
        if !fs::metadata(file)?.is_file() {
            return Ok(false);
        }
        let mut source = BufReader::new(File::open(file)?);
        let is_perf = is_perf_data(source.fill_buf()?);
        Ok::<bool, io::Error>(is_perf && perf_file::has_event(source, "sched_switch")?)
    };
    has().unwrap_or(false)
}

/// What `record` stored about a capture: the end of tracing, whether there are durations, the ids (process, thread) of threads,
/// the path and command line of processes, the ids (process, parent) of their parents,
/// and how long the command took without the tracer.
#[derive(FromPyObject)]
pub struct Recorded(
    Option<i64>,
    bool,
    Vec<(i32, i32)>,
    Vec<(i32, Vec<u8>, Vec<u8>)>,
    Vec<(i32, i32)>,
    Option<i64>,
);

pub(super) fn recorded_facts(recorded: Vec<Option<Recorded>>) -> Vec<Option<RecordedFacts>> {
    let facts = |Recorded(ended_ns, has_durations, threads, programs, parents, untraced_ns)| {
        RecordedFacts {
            ended_ns: ended_ns.unwrap_or(NO_NS),
            has_durations,
            threads,
            programs,
            parents,
            untraced_ns: untraced_ns.unwrap_or(NO_NS),
        }
    };
    recorded.into_iter().map(|known| known.map(facts)).collect()
}

/// Run a reader without the GIL, and report its progress to Python. An exception of that callback is the result.
pub(super) fn told<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    read: impl FnOnce(Progress<'_>) -> Result<T, ReadError> + Send,
) -> PyResult<T> {
    let mut stopped: Option<PyErr> = None;
    let read = py.detach(|| {
        let mut tell = |done: u64, all: u64| {
            let Some(progress) = progress.as_ref().filter(|_| stopped.is_none()) else {
                return;
            };
            stopped = Python::attach(|py| progress.call1(py, (done, all)).err());
        };
        read(&mut tell)
    });
    match stopped {
        Some(error) => Err(error),
        None => Ok(read.raised()?),
    }
}

/// Whether files whose names end in numbers are parts of one capture.
#[pyfunction]
pub fn are_parts(py: Python<'_>, files: Vec<String>) -> bool {
    py.detach(|| merge::are_parts(&files))
}

/// The format of a file, if its first lines fit one.
#[pyfunction]
pub fn format_of(py: Python<'_>, file: String) -> PyResult<Option<&'static str>> {
    py.detach(|| merge::format_of(&file)).raised()
}

/// A path without the random part of the name of a temporary file or directory.
#[pyfunction]
pub fn without_random_name(path: Vec<u8>) -> Cow<'static, [u8]> {
    Cow::Owned(random_names::without_random_name(&path).unwrap_or(path))
}

#[pymethods]
impl PyTrace {
    fn captures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let numbers = 0..self.0.trace().captures.len() as u32;
        let captures = numbers.map(|number| described(py, &self.0, number));
        PyList::new(py, captures.collect::<PyResult<Vec<_>>>()?)
    }

    fn totals<'py>(
        &self,
        py: Python<'py>,
        selection: &PySelection,
    ) -> PyResult<Bound<'py, PyDict>> {
        let totals = detached(py, || {
            self.0
                .selection(&selection.0)
                .map(|chosen| totals::totals(self.0.trace(), &chosen))
        })
        .raised()?;
        let dict = PyDict::new(py);
        for (name, number) in totals {
            dict.set_item(name, number)?;
        }
        Ok(dict)
    }

    /// One dictionary per capture.
    fn windows_of<'py>(
        &self,
        py: Python<'py>,
        selection: &PySelection,
    ) -> PyResult<Bound<'py, PyList>> {
        let (windows, edges) = detached(py, || -> Result<_, TimeBoundError> {
            let (windows, choice) = (self.0.windows(&selection.0)?, &selection.0);
            // A window that is a lifetime is crossed only by tasks that outlive it. The report mentions them elsewhere.
            let is_cut = choice.from.is_some() || choice.to.is_some();
            let chosen = is_cut.then(|| self.0.selection(choice)).transpose()?;
            let of = |window| {
                chosen.as_ref().map_or(WindowOverlap::default(), |chosen| {
                    window_overlap(self.0.trace(), chosen, window)
                })
            };
            let edges: Vec<WindowOverlap> = windows.iter().map(of).collect();
            Ok((windows, edges))
        })
        .raised()?;
        let index = self.0.trace().program_index();
        let all = PyList::empty(py);
        for (window, edges) in windows.iter().zip(edges) {
            let dict = PyDict::new(py);
            let some = |ns: i64| (ns != NO_NS).then_some(ns);
            let root = window.root.and_then(|root| self.0.trace().tasks.get(root));
            let program = window.root.and_then(|root| index.name_of(root));
            let program = program.map(|program| {
                self.0
                    .trace()
                    .events
                    .texts
                    .string(program.path)
                    .into_owned()
            });
            dict.set_item("capture", window.capture)?;
            dict.set_item("start_ns", some(window.start_ns))?;
            dict.set_item("end_ns", some(window.end_ns))?;
            dict.set_item("wall_ns", window.wall_ns())?;
            dict.set_item(
                "root_pid",
                root.map(|root| root.pid)
                    .filter(|&pid| pid != parsers::NO_ID),
            )?;
            dict.set_item("root_program", program)?;
            dict.set_item("reason", window.reason.map(window::Reason::name))?;
            dict.set_item("left_out_ns", window.left_out_ns)?;
            dict.set_item(
                "root_ended",
                root.is_some_and(|root| root.death_ns != NO_NS),
            )?;
            dict.set_item("cut_calls", edges.calls)?;
            dict.set_item("outside_ns", edges.outside_ns)?;
            dict.set_item("outlived", processes::outliving(self.0.trace(), window))?;
            all.append(dict)?;
        }
        Ok(all)
    }

    /// The partition as it is, or folded by some of its columns. Captures without a wall clock have pieces
    /// only with another basis: "elapsed" or "counts".
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    #[pyo3(signature = (selection, by = None, at_least_ns = 0, most = None, within = None, apart_from = Vec::new(), basis = "wall"))]
    fn partition(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        by: Option<Vec<String>>,
        at_least_ns: i64,
        most: Option<usize>,
        within: Option<RequestedScope>,
        apart_from: Vec<RequestedScope>,
        basis: &str,
    ) -> PyResult<PyTable> {
        let query = GroupQuery {
            by: by
                .map(|names| names.iter().map(|name| group_key(name)).collect())
                .transpose()?,
            at_least_ns,
            most,
            within: within.map(scope).transpose()?.unwrap_or_default(),
            apart_from: apart_from.into_iter().map(scope).collect::<PyResult<_>>()?,
        };
        detached(py, || -> Result<PyTable, TimeBoundError> {
            let pieces = match basis {
                "elapsed" => self.0.elapsed_pieces(&selection.0),
                "counts" => self.0.weight_pieces(&selection.0),
                _ => self.0.pieces(&selection.0),
            }?;
            if query.by.is_some() {
                return Ok(group_by::group_by(self.0.trace(), &pieces, &query).into());
            }
            let order = Arc::new(group_by::finest(self.0.trace(), &pieces, &query));
            Ok(Finest {
                trace: Arc::clone(self.0.trace()),
                pieces,
                order,
            }
            .into())
        })
        .raised()
    }

    /// The partition by names of programs: name, time and number of processes.
    fn program_times(
        &self,
        py: Python<'_>,
        selection: &PySelection,
    ) -> PyResult<Vec<(String, i64, i64)>> {
        detached(py, || -> Result<_, TimeBoundError> {
            let times = group_by::programs::program_times(
                self.0.trace(),
                self.0.pieces(&selection.0)?.as_ref(),
            );
            Ok(times
                .into_iter()
                .map(|time| (time.name, time.exclusive_ns, time.processes))
                .collect())
        })
        .raised()
    }

    /// The path in order of time. With `at_least_ns`, consecutive shorter segments of one task are merged, and those
    /// that are still shorter are dropped. With `most`, only this number of the longest ones is retained instead.
    #[pyo3(signature = (selection, at_least_ns = 0, most = None))]
    fn path(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        at_least_ns: i64,
        most: Option<usize>,
    ) -> PyResult<PyTable> {
        let table = detached(py, || -> Result<Table, TimeBoundError> {
            let stays = Timeline::new(self.0.trace(), at_least_ns);
            let mut stays = if let Some(most) = most {
                stays.longest(most)
            } else {
                stays
            };
            let matched = selection
                .0
                .condition
                .as_ref()
                .map(|condition| self.0.queries().matched(self.0.trace(), condition));
            let is_chosen = |segment: &Segment| {
                matched
                    .as_ref()
                    .is_none_or(|matched| segment.what.event().is_some_and(|row| matched.has(row)))
            };
            self.0.walk(
                &selection.0,
                &mut Chosen {
                    stays: &mut stays,
                    is_chosen,
                },
            )?;
            Ok(timeline::table(self.0.trace(), &stays.finish()))
        })
        .raised()?;
        Ok(table.into())
    }

    /// The partition divided further by the stacks of calls.
    fn stack_times(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        basis: &str,
    ) -> PyResult<PyTable> {
        let table = detached(py, || -> Result<Table, TimeBoundError> {
            let attribution = self.0.attribution_of(&selection.0, basis)?;
            Ok(stack_times::stack_times(self.0.trace(), &attribution))
        })
        .raised()?;
        Ok(table.into())
    }

    /// The frames of these stacks; of all stacks without a list.
    #[pyo3(signature = (stacks = None))]
    fn stack_frames(&self, py: Python<'_>, stacks: Option<Vec<u32>>) -> PyTable {
        detached(py, || {
            stack_times::stack_frames(
                self.0.trace(),
                &stacks.unwrap_or_else(|| self.0.trace().events.stacks.all()),
            )
        })
        .into()
    }

    /// Whether any event has a stack.
    fn has_stacks(&self) -> bool {
        !self.0.trace().events.stacks.is_empty()
    }

    /// For each list of claimants the function that makes most of their calls of a name and an operation: function, source,
    /// module, its calls and their time, and the number of all these calls. None if there is no such function.
    fn callers(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        called: Vec<CalledBy<'_>>,
    ) -> PyResult<Vec<Option<CallerParts>>> {
        let called = called
            .into_iter()
            .map(|each| each.called(self.0.trace()))
            .collect::<PyResult<Vec<_>>>()?;
        let found = detached(py, || {
            self.0.with_weights(&selection.0, |context| {
                parallel::map(&called, |each| callers::caller(context, each))
            })
        })
        .raised()?;
        let texts = &self.0.trace().events.texts;
        let text = |text: Text| text.is_some().then(|| texts.string(text).into_owned());
        let parts = |caller: Caller| {
            let Caller {
                frame,
                calls,
                ns,
                all_calls,
            } = caller;
            (
                texts.string(frame.function).into_owned(),
                text(frame.source),
                text(frame.module),
                calls,
                ns,
                all_calls,
            )
        };
        Ok(found.into_iter().map(|caller| caller.map(parts)).collect())
    }

    /// The critical path according to scheduler events of the kernel; None without them.
    fn witness<'py>(
        &self,
        py: Python<'py>,
        selection: &PySelection,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let found = detached(py, || self.0.witnessed_time(&selection.0)).raised()?;
        found
            .map(|found| witness::described(py, &self.0, &found))
            .transpose()
    }

    /// Waits of at least this length: the waker that follows from the lines, and what the kernel saw.
    fn verdicts(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        at_least_ns: i64,
    ) -> PyResult<PyTable> {
        Ok(detached(py, || self.0.verdicts(&selection.0, at_least_ns))
            .raised()?
            .into())
    }

    fn tasks(&self, py: Python<'_>, selection: &PySelection) -> PyResult<PyTable> {
        let table = detached(py, || -> Result<Table, TimeBoundError> {
            let pieces = self.0.pieces(&selection.0)?;
            let exclusive_ns = pieces.exclusive_by_task();
            Ok(processes::tasks(
                self.0.trace(),
                &self.0.selection(&selection.0)?,
                exclusive_ns,
            ))
        })
        .raised()?;
        Ok(table.into())
    }

    fn chain(&self, py: Python<'_>, selection: &PySelection, longest: bool) -> PyResult<PyTable> {
        let table = detached(py, || -> Result<Table, TimeBoundError> {
            let chosen = self.0.selection(&selection.0)?;
            let (attribution, windows) = (
                self.0.attribution(&selection.0)?,
                self.0.windows(&selection.0)?,
            );
            Ok(match longest {
                true => wait_graph::longest(
                    self.0.trace(),
                    attribution.walk_stats(),
                    &windows,
                    chosen.program_index,
                ),
                false => wait_graph::chain(
                    self.0.trace(),
                    self.0.wakers(),
                    attribution.walk_stats(),
                    &chosen,
                ),
            })
        })
        .raised()?;
        Ok(table.into())
    }

    /// One row per process, of all or of the `most` with the most time on the critical path, and the number of all.
    #[pyo3(signature = (selection, most = None))]
    fn processes(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        most: Option<usize>,
    ) -> PyResult<(PyTable, usize)> {
        let (table, number) = detached(py, || -> Result<(Table, usize), TimeBoundError> {
            let pieces = self.0.pieces(&selection.0)?;
            let exclusive_ns = pieces.exclusive_by_task();
            let chosen = self.0.selection(&selection.0)?;
            let attribution = self.0.attribution(&selection.0)?;
            let slack_ns = attribution
                .walk_stats()
                .slack_ns(self.0.trace(), self.0.wakers());
            Ok(processes::processes(
                self.0.trace(),
                &chosen,
                exclusive_ns,
                slack_ns,
                most,
            ))
        })
        .raised()?;
        Ok((table.into(), number))
    }

    /// Pid and program of each process with several threads.
    fn threaded_processes(
        &self,
        py: Python<'_>,
        selection: &PySelection,
    ) -> PyResult<Vec<(Option<i32>, Option<String>)>> {
        detached(py, || -> Result<_, TimeBoundError> {
            let (trace, chosen) = (self.0.trace(), self.0.selection(&selection.0)?);
            let pid =
                |main: TaskId| Some(trace.tasks[main].pid).filter(|&pid| pid != parsers::NO_ID);
            let program = |last: TaskId| {
                chosen
                    .program_index
                    .name_of(last)
                    .map(|program| program.path)
            };
            let threaded = processes::threaded(trace, &chosen).into_iter();
            Ok(threaded
                .map(|(main, last)| {
                    (
                        pid(main),
                        program(last)
                            .filter(|path| path.is_some())
                            .map(|path| trace.events.texts.string(path).into_owned()),
                    )
                })
                .collect())
        })
        .raised()
    }

    /// Calls grouped by these keys: those that meet a condition on events, and only the `most` largest groups by a column.
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    #[pyo3(signature = (by, selection, quantiles, condition = None, order = None, most = None))]
    fn calls(
        &self,
        py: Python<'_>,
        by: Vec<String>,
        selection: &PySelection,
        quantiles: bool,
        condition: Option<Condition>,
        order: Option<&str>,
        most: Option<usize>,
    ) -> PyResult<PyTable> {
        let keys = by
            .iter()
            .map(|name| key(name))
            .collect::<PyResult<Vec<_>>>()?;
        let filter = condition
            .map(|condition| EventFilter::new(condition.0))
            .transpose()
            .raised()?;
        let order = order.map(call_order).transpose()?.unwrap_or_default();
        let table = detached(py, || -> Result<Table, TimeBoundError> {
            let attribution = self.0.attribution(&selection.0)?;
            let chosen = self.0.selection(&selection.0)?;
            let only = filter.map(|filter| self.0.queries().matched(self.0.trace(), &filter));
            let query = CallQuery {
                keys,
                quantiles,
                only,
                order,
                most,
            };
            Ok(calls::calls(self.0.trace(), &query, &chosen, &attribution))
        })
        .raised()?;
        Ok(table.into())
    }

    /// The failed calls by syscall and error: both names and the number of calls, the longest total first.
    fn errors(
        &self,
        py: Python<'_>,
        selection: &PySelection,
    ) -> PyResult<Vec<(String, String, u64)>> {
        detached(py, || -> Result<_, TimeBoundError> {
            let trace = self.0.trace();
            let text = |text: Text| trace.events.texts.string(text).into_owned();
            let found = errors::errors(trace, &self.0.selection(&selection.0)?);
            Ok(found
                .iter()
                .map(|one| (text(one.syscall), text(one.errno), one.calls))
                .collect())
        })
        .raised()
    }

    /// Calls by name of the program and shape, and their sums if not all of these are listed: `most` of those with the
    /// most calls and with the most bytes, and all of some syscalls, if there are more than `max_shapes`.
    fn work(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        max_shapes: usize,
        most: usize,
        listed: Vec<String>,
    ) -> PyResult<(PyTable, Option<PyTable>)> {
        let work = detached(py, || -> Result<_, TimeBoundError> {
            let (trace, chosen) = (self.0.trace(), self.0.selection(&selection.0)?);
            let listed = listed
                .iter()
                .filter_map(|name| trace.events.texts.find(name.as_bytes()))
                .collect();
            let query = WorkQuery {
                max_shapes,
                most,
                listed,
            };
            Ok(work::work(
                trace,
                &query,
                &chosen,
                self.0.attribution(&selection.0)?.as_ref(),
            ))
        })
        .raised()?;
        Ok((work.shapes.into(), work.sums.map(PyTable::from)))
    }

    /// Whether calls have more than so many different targets.
    fn has_more_targets(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        most: usize,
    ) -> PyResult<bool> {
        detached(py, || -> Result<bool, TimeBoundError> {
            Ok(calls::has_more_targets(
                self.0.trace(),
                &self.0.selection(&selection.0)?,
                most,
            ))
        })
        .raised()
    }

    /// Per row of `calls` with these keys, the histogram of durations: numbers of buckets and counts.
    fn call_histograms(
        &self,
        py: Python<'_>,
        by: Vec<String>,
        selection: &PySelection,
    ) -> PyResult<Vec<Vec<(u16, u64)>>> {
        let keys = by
            .iter()
            .map(|name| key(name))
            .collect::<PyResult<Vec<_>>>()?;
        let query = CallQuery {
            keys,
            quantiles: true,
            ..CallQuery::default()
        };
        detached(py, || -> Result<_, TimeBoundError> {
            let (attribution, chosen) = (
                self.0.attribution(&selection.0)?,
                self.0.selection(&selection.0)?,
            );
            Ok(calls::histograms(
                self.0.trace(),
                &query,
                &chosen,
                &attribution,
            ))
        })
        .raised()
    }

    #[pyo3(signature = (selection, columns = None, limit = None))]
    fn events(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        columns: Option<Vec<String>>,
        limit: Option<usize>,
    ) -> PyResult<PyTable> {
        detached(py, || self.0.selection(&selection.0).map(|_| ())).raised()?;
        let (trace, choice) = (Arc::clone(self.0.trace()), selection.0.clone());
        let queries = Arc::clone(self.0.queries());
        Ok(Events {
            trace,
            queries,
            choice,
            columns,
            limit,
        }
        .into())
    }

    /// A table by its name.
    fn table(&self, py: Python<'_>, name: &str, selection: &PySelection) -> PyResult<PyTable> {
        let table = table(name)?;
        let found = detached(py, || {
            self.0
                .with_context(&selection.0, |context| tables::made(context, table, None))
        })
        .raised()?;
        Ok(found.into())
    }

    /// The longest loops, at most `most` of them, and the number of all.
    fn longest_loops(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        most: Option<usize>,
        min_calls: u64,
    ) -> PyResult<(PyTable, usize)> {
        let most = most.unwrap_or(usize::MAX);
        let wanted = loops::WantedLoops { most, min_calls };
        let (found, number) = detached(py, || {
            self.0
                .with_context(&selection.0, |context| loops::longest_rows(context, wanted))
        })
        .raised()?;
        Ok((found.into(), number))
    }

    /// Several tables, each by its name; where a threshold is given, only rows that may reach it need be there.
    fn tables(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        requested: Vec<RequestedTable>,
    ) -> PyResult<Vec<PyTable>> {
        let requested = requested
            .into_iter()
            .map(|(name, threshold)| {
                Ok((
                    table(&name)?,
                    threshold.map(requested_threshold).transpose()?,
                ))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let found = detached(py, || self.0.tables(&selection.0, &requested)).raised()?;
        Ok(found.into_iter().map(PyTable::from).collect())
    }

    /// Divide the path among claims, each a list of claimants; an earlier claim goes first. The answer is what each
    /// gets, and the `most` largest pieces of what nobody claims, with their number and sum.
    fn claims(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        claims: Vec<Vec<Claimant<'_>>>,
        most: usize,
    ) -> PyResult<(Vec<SharedTime>, PyTable, i64)> {
        let members = |claimants: Vec<Claimant<'_>>| {
            claimants
                .into_iter()
                .map(Claimant::members)
                .collect::<PyResult<Vec<_>>>()
                .map(|each| each.concat())
        };
        let claims = claims
            .into_iter()
            .map(members)
            .collect::<PyResult<Vec<_>>>()?;
        let answer = detached(py, || {
            let pieces = self.0.pieces(&selection.0)?;
            self.0.with_weights(&selection.0, |context| {
                let claims: Vec<Vec<Provenance>> = claims
                    .into_iter()
                    .map(|members| {
                        members
                            .into_iter()
                            .map(|each| each.sorted(context.trace))
                            .collect()
                    })
                    .collect();
                let divided = claims::claims(context, &pieces, &claims, most);
                let query = GroupQuery {
                    most: Some(most),
                    ..GroupQuery::default()
                };
                (
                    divided.shares,
                    group_by::group_by(context.trace, &divided.rest, &query),
                    divided.rest_ns,
                )
            })
        })
        .raised()?;
        let shares = answer
            .0
            .into_iter()
            .map(|share| {
                (
                    share.total_ns,
                    share.own_ns,
                    share.traced.tracing_ns(),
                    share.taken,
                )
            })
            .collect();
        Ok((shares, answer.1.into(), answer.2))
    }

    /// Replays the window of a capture, once for each variant: its length, and the tasks with most of it. None for a
    /// capture without a window.
    fn replayed(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        capture: u32,
        changes: Vec<RequestedChange<'_>>,
        parallel: Vec<String>,
        variants: Vec<RequestedVariant>,
    ) -> PyResult<Vec<Option<replay::Answer>>> {
        let changes = changes.into_iter().map(RequestedChange::changed);
        let question = Question {
            capture,
            changes: changes.collect::<PyResult<Vec<_>>>()?,
            parallel,
        };
        let variants: Vec<Variant> = variants.into_iter().map(replay::variant).collect();
        let answers =
            detached(py, || self.0.replayed(&selection.0, &question, &variants)).raised()?;
        Ok(answers
            .into_iter()
            .map(|each| each.map(|replayed| replay::answer(self.0.trace(), replayed)))
            .collect())
    }

    /// Task, start and end of the events of lines, each given by the position of its file and its number.
    fn places(
        &self,
        py: Python<'_>,
        capture: u32,
        lines: Vec<(u32, u32)>,
    ) -> Vec<Option<(u32, i64, i64)>> {
        let places = detached(py, || evidence::places(self.0.trace(), capture, &lines));
        places
            .into_iter()
            .map(|place| place.map(|place| (place.task.raw(), place.start_ns, place.end_ns)))
            .collect()
    }

    /// The rows of a static timeline: the processes with a row, their facts, groups of the others, the row of each task.
    fn chart_rows<'py>(
        &self,
        py: Python<'py>,
        selection: &PySelection,
        limits: (usize, usize),
        window: (i64, i64),
        least: (i64, i64),
    ) -> PyResult<Bound<'py, PyDict>> {
        let ((limit, groups), (zero_ns, wall_ns), (min_exclusive_ns, min_life_ns)) =
            (limits, window, least);
        let query = ChartQuery {
            zero_ns,
            wall_ns,
            limit,
            groups,
            min_exclusive_ns,
            min_life_ns,
        };
        let found = detached(py, || -> Result<_, TimeBoundError> {
            let (pieces, chosen) = (
                self.0.pieces(&selection.0)?,
                self.0.selection(&selection.0)?,
            );
            Ok(chart_rows(
                self.0.trace(),
                &chosen,
                pieces.exclusive_by_task(),
                &query,
            ))
        })
        .raised()?;
        picture::rows(py, found)
    }

    /// The data of drawn timelines, one per window: sections, limits, and sums of the tasks without a lane.
    fn pictures<'py>(
        &self,
        py: Python<'py>,
        selection: &PySelection,
        budget_bytes: usize,
    ) -> PyResult<Vec<Option<Bound<'py, PyDict>>>> {
        let pictures = detached(py, || self.0.pictures(&selection.0, budget_bytes)).raised()?;
        pictures
            .iter()
            .map(|each| {
                each.as_ref()
                    .map(|each| picture::described(py, each))
                    .transpose()
            })
            .collect()
    }

    #[pyo3(signature = (selection, at_least_ns = 0))]
    fn gaps(&self, py: Python<'_>, selection: &PySelection, at_least_ns: i64) -> PyResult<PyTable> {
        let table = detached(py, || -> Result<Table, TimeBoundError> {
            Ok(gaps::gaps(
                self.0.trace(),
                &self.0.selection(&selection.0)?,
                at_least_ns,
            ))
        })
        .raised()?;
        Ok(table.into())
    }

    /// The calls and the critical path of the first window by intervals of a width; empty without a window.
    fn intervals(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        width_ns: i64,
    ) -> PyResult<(PyTable, PyTable)> {
        let (calls, path) = detached(py, || self.0.intervals(&selection.0, width_ns)).raised()?;
        Ok((calls.into(), path.into()))
    }

    /// The critical path of the first window by intervals of a width; empty without a window.
    fn path_intervals(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        width_ns: i64,
    ) -> PyResult<PyTable> {
        let path = detached(py, || self.0.path_intervals(&selection.0, width_ns)).raised()?;
        Ok(path.into())
    }

    fn summary_rows(&self) -> PyTable {
        let captures = || (0i64..).zip(&self.0.trace().captures);
        let rows: Vec<_> = captures()
            .flat_map(|(at, capture)| capture.summary.iter().map(move |row| (at, row)))
            .collect();
        let columns = vec![
            ("capture", ints(rows.iter().map(|&(at, _)| at))),
            (
                "syscall",
                texts(rows.iter().map(|(_, row)| Some(row.syscall.as_str()))),
            ),
            ("calls", ints(rows.iter().map(|(_, row)| row.calls as i64))),
            (
                "failed",
                ints(rows.iter().map(|(_, row)| row.failed as i64)),
            ),
            (
                "total_ns",
                table::some_ints(rows.iter().map(|(_, row)| row.total_ns)),
            ),
        ];
        Table::new("summary_rows", columns).into()
    }

    /// The text of lines of a capture, from its first file unless `file` names another.
    #[pyo3(signature = (capture, lines, file = None))]
    fn quote(
        &self,
        py: Python<'_>,
        capture: usize,
        lines: Vec<u64>,
        file: Option<String>,
    ) -> PyResult<Vec<String>> {
        let path = file.or_else(|| {
            self.0
                .trace()
                .captures
                .get(capture)
                .and_then(|capture| capture.files.first().cloned())
        });
        let path = path.unwrap_or_default();
        let cells = self.0.trace().cells(&path);
        detached(py, || source_lines::quote(&path, &lines, cells))
            .map_err(|error| PyOSError::new_err(error.to_string()))
    }
}

/// Keeps the stretches of the path that are chosen.
struct Chosen<'stays, 'trace, F: Fn(&Segment) -> bool> {
    stays: &'stays mut Timeline<'trace>,
    is_chosen: F,
}

impl<F: Fn(&Segment) -> bool> WalkListener for Chosen<'_, '_, F> {
    fn charged(&mut self, segment: Segment) {
        if (self.is_chosen)(&segment) {
            self.stays.take(segment);
        }
    }

    fn begins(&mut self, waiter: TaskId, edge: &Edge) {
        self.stays.begins(waiter, edge);
    }

    fn ends(&mut self, waited: &Waited) {
        self.stays.ends(waited);
    }
}
