//! Conditions on events, without building their table: texts are tested once per shape or text, then rows are integers.

use super::bind::bind;
use super::columns::{ColumnValues, RowSource, TextValues};
use crate::filter::{Expr, Unfit};
use crate::source_lines::Arguments;
use parsers::syscalls::action_of;
use parsers::{DurKind, NO_ID, NO_NS, Outcome, Text};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use trace::store::event::{EventKind, NONE};
use trace::store::index::{ShapeId, TaskId, TiVec, ti_vec};
use trace::store::programs::ProgramIndex;
use trace::store::text_columns;
use trace::store::trace::Trace;

/// A condition on events that was found to fit them.
#[derive(Clone, Debug, PartialEq)]
pub struct EventFilter(Arc<Expr>);

impl EventFilter {
    /// A condition, if it fits the columns of events.
    ///
    /// # Errors
    /// [`Unfit`] if it does not.
    pub fn new(condition: Expr) -> Result<EventFilter, Unfit> {
        // The columns are the same whatever the events, so none is as good as any.
        let _ = bind(&EventRows::new(&Trace::default()), &condition)?;
        Ok(EventFilter(Arc::new(condition)))
    }

    /// The events that meet it; see [`crate::cache::QueryCache`] for those found last.
    pub fn matched(&self, trace: &Trace) -> Matched {
        Matched::new(trace, bits(trace, &self.0))
    }
}

/// The events that meet a condition.
#[derive(Debug, Default)]
pub struct Matched {
    /// A bit for each row.
    rows: Vec<u64>,
    /// Whether a task has one of them.
    tasks: TiVec<TaskId, bool>,
}

impl Matched {
    fn new(trace: &Trace, rows: Vec<u64>) -> Matched {
        let mut matched = Matched {
            rows,
            tasks: ti_vec![false; trace.tasks.len()],
        };
        for row in (0..trace.events.len())
            .filter(|&row| matched.rows[row as usize / 64] >> (row % 64) & 1 == 1)
        {
            matched.tasks[trace.events.task(row)] = true;
        }
        matched
    }

    /// Whether a row is one of them.
    pub fn has(&self, row: u32) -> bool {
        self.rows
            .get(row as usize / 64)
            .is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Whether one of them is of this task.
    pub fn has_task(&self, task: TaskId) -> bool {
        self.tasks.get(task) == Some(&true)
    }
}

/// A bit for each row; 64 rows are one word, and words are worked out at the same time.
fn bits(trace: &Trace, condition: &Expr) -> Vec<u64> {
    let (rows, len) = (EventRows::new(trace), trace.events.len());
    let words = 0..len.div_ceil(64);
    // It was found to fit, and the columns of events are always the same.
    let Ok(test) = bind(&rows, condition) else {
        return vec![0; words.len()];
    };
    let word = |at: u32| {
        let here = (at * 64)..len.min(at * 64 + 64);
        here.filter(|&row| test(row))
            .fold(0, |word, row| word | 1 << (row % 64))
    };
    // Lines are read again in their order, by one reader.
    if condition.names("args") {
        words.map(word).collect()
    } else {
        words.into_par_iter().map(word).collect()
    }
}

/// The columns of events.
struct EventRows<'trace> {
    trace: &'trace Trace,
    programs: ProgramIndex,
    moves: TiVec<ShapeId, bool>,
    arguments: Mutex<Arguments>,
}

impl<'trace> EventRows<'trace> {
    fn new(trace: &'trace Trace) -> EventRows<'trace> {
        let shapes = trace.events.shapes().iter();
        EventRows {
            trace,
            programs: ProgramIndex::new(&trace.tasks),
            moves: shapes
                .map(|shape| action_of(shape.syscall).returns_bytes())
                .collect(),
            arguments: Mutex::default(),
        }
    }

    fn int(&self, value: impl Fn(&Trace, u32) -> i64 + Send + Sync + 'static) -> ColumnValues<'_> {
        let trace = self.trace;
        ColumnValues::Int(Box::new(move |row| {
            Some(value(trace, row)).filter(|&value| value != NO_NS)
        }))
    }

    fn by_shape(
        &self,
        text: impl Fn(&Trace, ShapeId) -> Option<String> + Send + Sync + 'static,
    ) -> ColumnValues<'_> {
        let trace = self.trace;
        ColumnValues::Words(TextValues {
            numbers: trace.events.shapes().len(),
            of: Box::new(move |row| trace.events.shape_number(row).raw()),
            word: Box::new(move |number| text(trace, ShapeId::new(number)).map(Cow::Owned)),
        })
    }

    fn by_text<'rows>(
        &'rows self,
        of: impl Fn(u32) -> Text + Send + Sync + 'rows,
    ) -> ColumnValues<'rows> {
        let texts = &self.trace.events.texts;
        ColumnValues::Words(TextValues {
            numbers: texts.len(),
            of: Box::new(move |row| {
                Some(of(row))
                    .filter(|text| text.is_some())
                    .map_or(NONE, |text| text.0)
            }),
            word: Box::new(move |number| Some(texts.string(Text(number)))),
        })
    }

    fn by_name(
        &self,
        numbers: usize,
        of: impl Fn(&Trace, u32) -> u32 + Send + Sync + 'static,
        name: fn(usize) -> &'static str,
    ) -> ColumnValues<'_> {
        let trace = self.trace;
        ColumnValues::Words(TextValues {
            numbers,
            of: Box::new(move |row| of(trace, row)),
            word: Box::new(move |number| Some(Cow::Borrowed(name(number as usize)))),
        })
    }

    fn files(&self) -> ColumnValues<'_> {
        let names: Vec<&str> = self
            .trace
            .captures
            .iter()
            .flat_map(|capture| &capture.files)
            .map(String::as_str)
            .collect();
        ColumnValues::Words(TextValues {
            numbers: names.len(),
            of: Box::new(|row| self.trace.events.event(row).file),
            word: Box::new(move |number| {
                names.get(number as usize).map(|&name| Cow::Borrowed(name))
            }),
        })
    }

    fn bytes(&self, row: u32) -> Option<i64> {
        let events = &self.trace.events;
        let ret = events.ret(row);
        let moves = self.moves.get(events.shape_number(row)) == Some(&true);
        (moves && ret >= 0 && events.outcome(row) == Outcome::Ok).then_some(ret)
    }

    fn arguments(&self, row: u32) -> Option<String> {
        self.arguments
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .of_row(self.trace, row)
    }
}

fn text_of(trace: &Trace, text: Text) -> Option<String> {
    text.is_some()
        .then(|| trace.events.texts.string(text).into_owned())
}

fn id(id: i32) -> i64 {
    if id == NO_ID { NO_NS } else { i64::from(id) }
}

impl RowSource for EventRows<'_> {
    fn cells(&self, name: &str) -> Option<ColumnValues<'_>> {
        let task = |trace: &Trace, row: u32| trace.events.task(row);
        Some(match name {
            "line" => self.int(|trace, row| i64::from(trace.events.line(row))),
            "file" => self.files(),
            "tid" => self.int(move |trace, row| {
                id(trace.tasks[task(trace, row)].tid_at(trace.events.line(row)))
            }),
            "pid" => self.int(move |trace, row| id(trace.tasks[task(trace, row)].pid)),
            "task" => self.int(|trace, row| i64::from(trace.events.task(row))),
            "program" => self.by_text(|row| {
                let events = &self.trace.events;
                self.programs
                    .at(events.task(row), events.start_ns(row))
                    .map_or(Text::NONE, |program| program.path)
            }),
            "start_ns" => self.int(|trace, row| trace.events.start_ns(row)),
            "end_ns" => self.int(|trace, row| trace.events.end_ns(row).unwrap_or(NO_NS)),
            "dur_ns" => self.int(|trace, row| trace.events.dur_ns(row)),
            "requested_ns" => {
                ColumnValues::Int(Box::new(|row| self.trace.events.requested_ns(row)))
            }
            "cpu_ns" => self.int(|trace, row| trace.events.event(row).cpu_ns),
            "kind" => self.by_name(
                EventKind::ALL.len(),
                |trace, row| trace.events.kind(row) as u32,
                |at| EventKind::ALL[at].name(),
            ),
            "syscall" => {
                self.by_shape(|trace, number| text_of(trace, trace.events.shapes()[number].syscall))
            }
            "op" => self.by_shape(|trace, number| text_of(trace, trace.events.shapes()[number].op)),
            "errno" => {
                self.by_shape(|trace, number| text_of(trace, trace.events.shapes()[number].errno))
            }
            "shape" => {
                self.by_shape(|trace, number| Some(text_columns::shape_text(&trace.events, number)))
            }
            "target" => self.by_text(|row| self.trace.events.target(row)),
            "ret" => self.int(|trace, row| trace.events.ret(row)),
            "bytes" => ColumnValues::Int(Box::new(|row| self.bytes(row))),
            "outcome" => {
                let of = |trace: &Trace, row: u32| match trace.events.kind(row) {
                    EventKind::Call => trace.events.outcome(row) as u32,
                    _ => NONE,
                };
                self.by_name(Outcome::ALL.len(), of, |at| Outcome::ALL[at].name())
            }
            "dur_kind" => self.by_name(
                DurKind::ALL.len(),
                |trace, row| trace.events.dur_kind(row) as u32,
                |at| DurKind::ALL[at].name(),
            ),
            "function" => self.by_text(|row| self.trace.events.stacks.user_frame(row).function),
            "source" => self.by_text(|row| self.trace.events.stacks.user_frame(row).source),
            "module" => self.by_text(|row| self.trace.events.stacks.user_frame(row).module),
            "args" => ColumnValues::Loose(Box::new(|row| self.arguments(row))),
            _ => return None,
        })
    }
}
