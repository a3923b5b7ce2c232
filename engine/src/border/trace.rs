//! Reading, and a trace as Python sees it.

use super::filter::{Condition, unfit};
use super::table::{Events, Finest, PyTable};
use super::{InputError, UsageError};
use crate::calls::{self, Key};
use crate::charges::Charges;
use crate::filter::EventFilter;
use crate::floor::{Floor, Within};
use crate::fold::{self, Query, Scope, Value};
use crate::members::Members;
use crate::moments::NoTime;
use crate::partition::Pieces;
use crate::path::{self, Segment};
use crate::select::{Choice, Selection};
use crate::sheet::Found;
use crate::stays::{self, Stays};
use crate::table::{Table, ints, texts};
use crate::trace::{Capture, Trace};
use crate::view::View;
use crate::wakers::Wakers;
use crate::window::{self, Window};
use crate::{chain, claims, gaps, processes, quote, tables};
use parsers::{Clock, Kind, NO_NS};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Which events count.
#[pyclass(name = "Selection", module = "tracealyze._engine", frozen)]
pub struct PySelection(Choice);

#[pymethods]
impl PySelection {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "Python says them by name")]
    #[pyo3(signature = (pids = Vec::new(), programs = Vec::new(), from_ = None, to = None, root = None, syscalls = Vec::new(), condition = None, capture = None))]
    fn new(
        pids: Vec<i32>,
        programs: Vec<String>,
        from_: Option<String>,
        to: Option<String>,
        root: Option<i32>,
        syscalls: Vec<String>,
        condition: Option<Condition>,
        capture: Option<u32>,
    ) -> PyResult<PySelection> {
        let condition = condition.map(|condition| EventFilter::new(condition.0)).transpose().map_err(unfit)?;
        Ok(PySelection(Choice { capture, pids, programs, from: from_, to, root, syscalls, condition }))
    }
}

impl From<NoTime> for PyErr {
    fn from(error: NoTime) -> PyErr {
        match error {
            NoTime::Unknown(text) => {
                let forms = ["12.5", "+12.5", "09:30:00.25", "line:4711", "/open.*ENOENT/"].map(str::to_owned).to_vec();
                UsageError::new_err(("time", text, forms))
            }
            NoTime::NoExpression(text, why) => UsageError::new_err(("regular expression", text, vec![why])),
            NoTime::NoLine(path, text) => InputError::new_err((path, "no_line", vec![text])),
            NoTime::PastEnd(path, lines) => InputError::new_err((path, "past_end", vec![lines.to_string()])),
            NoTime::Unreadable(path, why) => InputError::new_err((path, why, Vec::<String>::new())),
        }
    }
}

/// Captures in memory.
#[pyclass(name = "Trace", module = "tracealyze._engine", frozen)]
pub struct PyTrace {
    trace: Arc<Trace>,
    wakers: OnceLock<Wakers>,
    pieces: Mutex<Option<(Choice, Arc<Pieces>)>>,
    charges: Mutex<Option<(Choice, Arc<Charges>)>>,
    windows: Mutex<Option<(Choice, Arc<Vec<Window>>)>>,
}

/// Read captures.
#[pyfunction]
#[pyo3(signature = (captures, input_format = None, progress = None))]
pub fn read(
    py: Python<'_>,
    captures: Vec<Vec<String>>,
    input_format: Option<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyTrace> {
    let mut stopped: Option<PyErr> = None;
    let read = py.detach(|| {
        let mut tell = |done: u64, all: u64| {
            let Some(progress) = progress.as_ref().filter(|_| stopped.is_none()) else { return };
            stopped = Python::attach(|py| progress.call1(py, (done, all)).err());
        };
        crate::read::read(&captures, input_format.as_deref(), &mut tell)
    });
    match stopped {
        Some(error) => Err(error),
        None => Ok(PyTrace {
            trace: Arc::new(read?),
            wakers: OnceLock::new(),
            pieces: Mutex::default(),
            charges: Mutex::default(),
            windows: Mutex::default(),
        }),
    }
}

/// Whether files whose names end in numbers are parts of one capture.
#[pyfunction]
pub fn are_parts(py: Python<'_>, files: Vec<String>) -> bool {
    py.detach(|| crate::merge::are_parts(&files))
}

impl PyTrace {
    fn wakers(&self) -> &Wakers {
        self.wakers.get_or_init(|| Wakers::new(&self.trace))
    }

    /// The windows of a choice. The last ones are kept, as the partition is.
    fn windows(&self, choice: &Choice) -> Result<Arc<Vec<Window>>, NoTime> {
        let mut kept = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, windows)) = kept.as_ref().filter(|(known, _)| known == choice) {
            return Ok(Arc::clone(windows));
        }
        let windows = Arc::new(self.windows_anew(choice)?);
        *kept = Some((choice.clone(), Arc::clone(&windows)));
        Ok(windows)
    }

    fn windows_anew(&self, choice: &Choice) -> Result<Vec<Window>, NoTime> {
        let selection = Selection::new(&self.trace, choice)?;
        let captures = 0..self.trace.captures.len() as u32;
        let chosen = captures.filter(|&capture| choice.capture.is_none_or(|chosen| chosen == capture));
        let all = chosen.filter_map(|capture| {
            let times = selection.times_of(capture);
            let asked = window::Choice {
                pid: choice.pids.first().copied(),
                root: choice.root,
                from_ns: times.map(|times| times.0).filter(|_| choice.from.is_some()),
                to_ns: times.map(|times| times.1).filter(|_| choice.to.is_some()),
            };
            window::window_of(&self.trace, capture, &asked)
        });
        Ok(all.collect())
    }

    /// Tell each stretch of the path of all windows.
    fn walk(&self, windows: &[Window], sink: &mut dyn FnMut(Segment)) {
        for window in windows {
            path::walk(&self.trace, self.wakers(), window, sink);
        }
    }

    /// The partition of a choice. The last one is kept: many questions follow about the same.
    fn pieces(&self, choice: &Choice) -> Result<Arc<Pieces>, NoTime> {
        let mut kept = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, pieces)) = kept.as_ref().filter(|(known, _)| known == choice) {
            return Ok(Arc::clone(pieces));
        }
        let windows = self.windows(choice)?;
        let charges = self.charges(choice, &windows);
        let pieces = Arc::new(Pieces::new(&self.trace, self.trace.program_index(), &charges, &windows));
        *kept = Some((choice.clone(), Arc::clone(&pieces)));
        Ok(pieces)
    }
}

impl PyTrace {
    /// The path by event. The last one is kept, as the partition is.
    fn charges(&self, choice: &Choice, windows: &[Window]) -> Arc<Charges> {
        let mut kept = self.charges.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, charges)) = kept.as_ref().filter(|(known, _)| known == choice) {
            return Arc::clone(charges);
        }
        let charges = Arc::new(Charges::walked(&self.trace, self.wakers(), windows));
        *kept = Some((choice.clone(), Arc::clone(&charges)));
        charges
    }

    /// Look at what a choice leaves.
    fn view<T>(&self, choice: &Choice, look: impl FnOnce(&View<'_>) -> T) -> Result<T, NoTime> {
        let (selection, windows) = (Selection::new(&self.trace, choice)?, self.windows(choice)?);
        let charges = self.charges(choice, &windows);
        let (trace, wakers) = (&*self.trace, self.wakers());
        Ok(look(&View {
            trace,
            selection: &selection,
            windows: &windows,
            wakers,
            charges: &charges,
            matters: None,
            floor: None,
        }))
    }
}

/// One who claims time on the path: rows of a table that knows its members, or pieces of the partition.
#[derive(FromPyObject)]
enum Claimant<'py> {
    Rows(Bound<'py, PyTable>, Vec<usize>),
    Pieces(AskedScope),
}

impl Claimant<'_> {
    fn members(self) -> PyResult<Vec<Members>> {
        match self {
            Claimant::Rows(table, rows) => Ok(table.get().members(&rows)),
            Claimant::Pieces(asked) => Ok(vec![Members::Pieces(scope(asked)?)]),
        }
    }
}

/// total_ns, own_ns, [(number of an earlier claim, ns)].
type Shared = (i64, i64, i64, Vec<(u32, i64)>);

/// Which pieces, as Python says it: what must hold, and what must not.
type AskedScope = (AskedConditions, AskedConditions);
type AskedConditions = Vec<(String, Vec<Option<AskedValue>>)>;

#[derive(FromPyObject)]
enum AskedValue {
    Bool(bool),
    Int(i64),
    Text(String),
}

fn scope((only, without): AskedScope) -> PyResult<Scope> {
    Ok(Scope { only: conditions(only)?, without: conditions(without)? })
}

fn conditions(asked: AskedConditions) -> PyResult<fold::Conditions> {
    let value = |value| match value {
        None => Value::None,
        Some(AskedValue::Bool(value)) => Value::Bool(value),
        Some(AskedValue::Int(value)) => Value::Int(value),
        Some(AskedValue::Text(value)) => Value::Text(value),
    };
    let condition = |(name, values): (String, Vec<_>)| Ok((fold_key(&name)?, values.into_iter().map(value).collect()));
    asked.into_iter().map(condition).collect()
}

fn fold_key(name: &str) -> PyResult<fold::Key> {
    let known = || fold::Key::ALL.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    fold::Key::by_name(name).ok_or_else(|| UsageError::new_err(("key", name.to_owned(), known())))
}

#[pymethods]
impl PyTrace {
    fn captures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let captures = (0..).zip(&self.trace.captures).map(|(number, capture)| {
            let dict = described(py, capture)?;
            if let Some(trust) = py.detach(|| self.trace.trust(number)) {
                dict.set_item("filtered", trust.filtered)?;
                dict.set_item("families", &trust.families)?;
                dict.set_item("overhead_floor_ns", trust.overhead_floor_ns)?;
                dict.set_item("overhead_share", trust.overhead_share)?;
                dict.set_item("has_unfollowed_children", trust.has_unfollowed_children)?;
            }
            Ok(dict)
        });
        PyList::new(py, captures.collect::<PyResult<Vec<_>>>()?)
    }

    fn totals<'py>(&self, py: Python<'py>, selection: &PySelection) -> PyResult<Bound<'py, PyDict>> {
        let totals = py.detach(|| crate::totals::totals(&self.trace, &selection.0))?;
        let dict = PyDict::new(py);
        for (name, number) in totals {
            dict.set_item(name, number)?;
        }
        Ok(dict)
    }

    /// One dictionary per capture.
    fn windows_of<'py>(&self, py: Python<'py>, selection: &PySelection) -> PyResult<Bound<'py, PyList>> {
        let windows = py.detach(|| self.windows(&selection.0))?;
        let index = self.trace.program_index();
        let all = PyList::empty(py);
        for window in windows.iter() {
            let dict = PyDict::new(py);
            let some = |ns: i64| (ns != NO_NS).then_some(ns);
            let root = window.root.and_then(|root| self.trace.tasks.get(root as usize));
            let program = window.root.and_then(|root| index.name_of(root));
            let program = program.map(|program| self.trace.events.texts.string(program.path).into_owned());
            dict.set_item("capture", window.capture)?;
            dict.set_item("start_ns", some(window.start_ns))?;
            dict.set_item("end_ns", some(window.end_ns))?;
            dict.set_item("wall_ns", window.wall_ns())?;
            dict.set_item("root_pid", root.map(|root| root.pid).filter(|&pid| pid != parsers::NO_ID))?;
            dict.set_item("root_program", program)?;
            dict.set_item("reason", window.reason.map(window::Reason::name))?;
            dict.set_item("left_out_ns", window.left_out_ns)?;
            dict.set_item("root_ended", root.is_some_and(|root| root.death_ns != NO_NS))?;
            dict.set_item("outlived", processes::outliving(&self.trace, window))?;
            all.append(dict)?;
        }
        Ok(all)
    }

    /// The partition as it is, or folded by some of its columns.
    #[expect(clippy::too_many_arguments, reason = "Python says them by name")]
    #[pyo3(signature = (selection, by = None, at_least_ns = 0, most = None, within = None, apart_from = Vec::new()))]
    fn partition(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        by: Option<Vec<String>>,
        at_least_ns: i64,
        most: Option<usize>,
        within: Option<AskedScope>,
        apart_from: Vec<AskedScope>,
    ) -> PyResult<PyTable> {
        let query = Query {
            by: by.map(|names| names.iter().map(|name| fold_key(name)).collect()).transpose()?,
            at_least_ns,
            most,
            within: within.map(scope).transpose()?.unwrap_or_default(),
            apart_from: apart_from.into_iter().map(scope).collect::<PyResult<_>>()?,
        };
        py.detach(|| -> Result<PyTable, NoTime> {
            let pieces = self.pieces(&selection.0)?;
            if query.by.is_some() {
                return Ok(fold::fold(&self.trace, &pieces, &query).into());
            }
            let order = Arc::new(fold::finest(&self.trace, &pieces, &query));
            Ok(Finest { trace: Arc::clone(&self.trace), pieces, order }.into())
        })
        .map_err(PyErr::from)
    }

    /// The path in order of time. With `at_least_ns`, shorter segments of one task that follow each other are taken
    /// together, and what is still shorter is left out.
    #[pyo3(signature = (selection, at_least_ns = 0))]
    fn path(&self, py: Python<'_>, selection: &PySelection, at_least_ns: i64) -> PyResult<PyTable> {
        let table = py.detach(|| -> Result<Table, NoTime> {
            let mut stays = Stays::new(&self.trace, at_least_ns);
            let matched = selection.0.condition.as_ref().map(|condition| condition.matched(&self.trace));
            let is_chosen = |segment: &Segment| {
                matched.as_ref().is_none_or(|matched| segment.what.event().is_some_and(|row| matched.has(row)))
            };
            self.walk(&self.windows(&selection.0)?, &mut |segment| {
                if is_chosen(&segment) {
                    stays.take(segment);
                }
            });
            Ok(stays::table(&self.trace, &stays.finish()))
        })?;
        Ok(table.into())
    }

    fn tasks(&self, py: Python<'_>, selection: &PySelection) -> PyResult<PyTable> {
        let table = py.detach(|| -> Result<Table, NoTime> {
            let pieces = self.pieces(&selection.0)?;
            let exclusive_ns = pieces.exclusive_by_task();
            Ok(processes::tasks(&self.trace, &Selection::new(&self.trace, &selection.0)?, exclusive_ns))
        })?;
        Ok(table.into())
    }

    fn chain(&self, py: Python<'_>, selection: &PySelection, longest: bool) -> PyResult<PyTable> {
        let table = py.detach(|| -> Result<Table, NoTime> {
            let (chosen, windows) = (Selection::new(&self.trace, &selection.0)?, self.windows(&selection.0)?);
            if longest {
                let charges = self.charges(&selection.0, &windows);
                return Ok(chain::longest(&self.trace, charges.waits(), &windows, chosen.program_index));
            }
            Ok(chain::chain(&self.trace, self.wakers(), &windows, &chosen))
        })?;
        Ok(table.into())
    }

    fn processes(&self, py: Python<'_>, selection: &PySelection) -> PyResult<PyTable> {
        let table = py.detach(|| -> Result<Table, NoTime> {
            let pieces = self.pieces(&selection.0)?;
            let exclusive_ns = pieces.exclusive_by_task();
            let chosen = Selection::new(&self.trace, &selection.0)?;
            let slack_ns = chain::told(&self.trace, self.wakers(), &self.windows(&selection.0)?).slack_ns;
            Ok(processes::processes(&self.trace, &chosen, exclusive_ns, &slack_ns))
        })?;
        Ok(table.into())
    }

    fn calls(&self, py: Python<'_>, by: Vec<String>, selection: &PySelection) -> PyResult<PyTable> {
        let keys =
            by.iter().map(|name| Key::by_name(name).ok_or_else(|| no_key(name))).collect::<PyResult<Vec<_>>>()?;
        let table = py.detach(|| -> Result<Table, NoTime> {
            let charges = self.charges(&selection.0, &self.windows(&selection.0)?);
            Ok(calls::calls(&self.trace, &keys, &Selection::new(&self.trace, &selection.0)?, &charges))
        })?;
        Ok(table.into())
    }

    #[pyo3(signature = (selection, columns = None, limit = None))]
    fn events(&self, selection: &PySelection, columns: Option<Vec<String>>, limit: Option<usize>) -> PyResult<PyTable> {
        Selection::new(&self.trace, &selection.0)?;
        let (trace, choice) = (Arc::clone(&self.trace), selection.0.clone());
        Ok(Events { trace, choice, columns, limit }.into())
    }

    /// A table by its name.
    fn table(&self, py: Python<'_>, name: &str, selection: &PySelection) -> PyResult<PyTable> {
        let table = tables::listed(name).ok_or_else(|| no_table(name))?;
        let found = py.detach(|| self.view(&selection.0, |view| tables::made(view, table, None)))?;
        Ok(found.into())
    }

    /// Several tables, each by its name; where a floor is given, only rows that may reach it need be there.
    fn tables(&self, py: Python<'_>, selection: &PySelection, asked: Vec<AskedTable>) -> PyResult<Vec<PyTable>> {
        let named = |(name, floor): AskedTable| {
            let table = tables::listed(&name).ok_or_else(|| no_table(&name))?;
            Ok((table, floor.map(asked_floor).transpose()?))
        };
        let asked = asked.into_iter().map(named).collect::<PyResult<Vec<_>>>()?;
        let found: Vec<Found> = py.detach(|| {
            self.view(&selection.0, |view| {
                // Before the tables, which are made on all cores: who waits for it could not help with it.
                view.charges.spent(view.trace);
                asked.par_iter().map(|(table, floor)| tables::made(view, *table, floor.as_ref())).collect()
            })
        })?;
        Ok(found.into_iter().map(PyTable::from).collect())
    }

    /// Divide the path among claims, each a list of claimants; an earlier claim goes first. The answer is what each gets,
    /// and the `most` largest pieces of what nobody claims, with their number and sum.
    fn claims(
        &self,
        py: Python<'_>,
        selection: &PySelection,
        claims: Vec<Vec<Claimant<'_>>>,
        most: usize,
    ) -> PyResult<(Vec<Shared>, PyTable, i64)> {
        let members = |claimants: Vec<Claimant<'_>>| {
            claimants.into_iter().map(Claimant::members).collect::<PyResult<Vec<_>>>().map(|each| each.concat())
        };
        let claims = claims.into_iter().map(members).collect::<PyResult<Vec<_>>>()?;
        let answer = py.detach(|| {
            let pieces = self.pieces(&selection.0)?;
            self.view(&selection.0, |view| {
                let sorted = |members: Vec<Members>| members.into_iter().map(|each| each.sorted(view.trace)).collect();
                let claims: Vec<Vec<Members>> = claims.into_iter().map(sorted).collect();
                let divided = claims::claims(view, &pieces, &claims, most);
                let query = Query { most: Some(most), ..Query::default() };
                (divided.shares, fold::fold(view.trace, &divided.rest, &query), divided.rest_ns)
            })
        })?;
        let shares =
            answer.0.into_iter().map(|share| (share.total_ns, share.own_ns, share.tracing_ns, share.taken)).collect();
        Ok((shares, answer.1.into(), answer.2))
    }

    #[pyo3(signature = (selection, at_least_ns = 0))]
    fn gaps(&self, py: Python<'_>, selection: &PySelection, at_least_ns: i64) -> PyResult<PyTable> {
        let table = py.detach(|| -> Result<Table, NoTime> {
            Ok(gaps::gaps(&self.trace, &Selection::new(&self.trace, &selection.0)?, at_least_ns))
        })?;
        Ok(table.into())
    }

    fn summary_rows(&self) -> PyTable {
        let captures = || (0i64..).zip(&self.trace.captures);
        let rows: Vec<_> =
            captures().flat_map(|(at, capture)| capture.summary.iter().map(move |row| (at, row))).collect();
        let columns = vec![
            ("capture", ints(rows.iter().map(|&(at, _)| at))),
            ("syscall", texts(rows.iter().map(|(_, row)| Some(row.syscall.as_str())))),
            ("calls", ints(rows.iter().map(|(_, row)| row.calls as i64))),
            ("failed", ints(rows.iter().map(|(_, row)| row.failed as i64))),
            ("total_ns", crate::table::some_ints(rows.iter().map(|(_, row)| row.total_ns))),
        ];
        Table::new("summary_rows", columns).into()
    }

    /// The text of lines of a capture; of its first file unless `file` says another.
    #[pyo3(signature = (capture, lines, file = None))]
    fn quote(&self, py: Python<'_>, capture: usize, lines: Vec<u64>, file: Option<String>) -> PyResult<Vec<String>> {
        let path = file.or_else(|| self.trace.captures.get(capture).and_then(|capture| capture.files.first().cloned()));
        let path = path.unwrap_or_default();
        py.detach(|| quote::quote(&path, &lines)).map_err(|error| PyOSError::new_err(error.to_string()))
    }
}

/// A table by its name, and from where on its rows matter: taken together in which way, and how much by capture.
type AskedTable = (String, Option<(String, Vec<i64>)>);

fn asked_floor((within, least_ns): (String, Vec<i64>)) -> PyResult<Floor> {
    let known = || ["row", "process", "program", "capture"].map(str::to_owned).to_vec();
    let within = Within::by_name(&within).ok_or_else(|| UsageError::new_err(("floor", within, known())))?;
    Ok(Floor { within, least_ns })
}

fn no_table(name: &str) -> PyErr {
    let known: Vec<String> = tables::TABLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    UsageError::new_err(("table", name.to_owned(), known))
}

fn no_key(name: &str) -> PyErr {
    let known: Vec<String> = Key::ALL.iter().map(|(name, _)| (*name).to_owned()).collect();
    UsageError::new_err(("key", name.to_owned(), known))
}

fn described<'py>(py: Python<'py>, capture: &Capture) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let some = |ns: i64| (ns != NO_NS).then_some(ns);
    dict.set_item("path", &capture.path)?;
    dict.set_item("files", &capture.files)?;
    dict.set_item("run", capture.run)?;
    dict.set_item("runs", capture.runs)?;
    dict.set_item("first_line", capture.first_line)?;
    dict.set_item("format", capture.format)?;
    dict.set_item("lines", capture.lines())?;
    dict.set_item("bytes", capture.bytes)?;
    let (accounting, losses) = (PyDict::new(py), PyList::empty(py));
    for &kind in Kind::ALL.iter().filter(|&&kind| capture.lines_of(kind) > 0) {
        accounting.set_item(kind.name(), capture.lines_of(kind))?;
        if let Some(remedy) = kind.remedy() {
            let loss = PyDict::new(py);
            loss.set_item("kind", kind.name())?;
            loss.set_item("lines", capture.lines_of(kind))?;
            if kind == Kind::Dropped {
                loss.set_item("events", capture.lost_events)?;
            }
            loss.set_item("first_line", capture.first_lines[kind as usize])?;
            loss.set_item("remedy", remedy)?;
            losses.append(loss)?;
        }
    }
    dict.set_item("accounting", accounting)?;
    dict.set_item("first_foreign_line", capture.first_lines[Kind::Foreign as usize])?;
    dict.set_item("losses", losses)?;
    dict.set_item("has", has(py, capture)?)?;
    dict.set_item("dur_kind", capture.facts.dur_kind.name())?;
    dict.set_item("clock", clock_name(capture.facts.clock))?;
    dict.set_item("tick_ns", capture.facts.tick_ns)?;
    dict.set_item("dur_tick_ns", dur_tick_ns(capture))?;
    dict.set_item("base_ns", some(capture.facts.base_ns))?;
    dict.set_item("first_ns", some(capture.first_ns))?;
    dict.set_item("last_ns", some(capture.last_ns))?;
    dict.set_item("cut", capture.cut)?;
    dict.set_item("backward_steps", capture.backward_steps)?;
    dict.set_item("unseen_children", capture.unseen_children)?;
    dict.set_item("order_inferred", capture.is_order_inferred)?;
    Ok(dict)
}

fn has<'py>(py: Python<'py>, capture: &Capture) -> PyResult<Bound<'py, PyDict>> {
    let has = PyDict::new(py);
    has.set_item("durations", capture.facts.has_durations)?;
    has.set_item("tids", capture.facts.has_ids)?;
    has.set_item("wall_clock", capture.has_wall_clock())?;
    has.set_item("events", !capture.rows.is_empty())?;
    has.set_item("summary_table", !capture.summary.is_empty())?;
    Ok(has)
}

/// The step of printed durations: tracers that print them print microseconds, whatever the stamps are.
fn dur_tick_ns(capture: &Capture) -> i64 {
    let exact = capture.facts.has_durations && capture.facts.dur_kind == parsers::DurKind::Exact;
    if exact { capture.facts.tick_ns.min(1_000) } else { capture.facts.tick_ns }
}

fn clock_name(clock: Clock) -> &'static str {
    match clock {
        Clock::Epoch => "epoch",
        Clock::TimeOfDay => "time-of-day",
        Clock::SinceStart => "since-start",
        Clock::SincePrevious => "since-previous",
        Clock::PerThread => "per-thread",
        Clock::None => "none",
    }
}
