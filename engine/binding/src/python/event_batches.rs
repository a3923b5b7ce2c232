//! The event table as Arrow record batches, made on all cores, a few at a time.
//!
//! The batches share the dictionaries of their text columns, so that each text is decoded once and a consumer that joins
//! the batches has nothing to renumber. A dictionary contains only texts of the chosen rows.

use super::arrow::{array, integers_of};
use crate::session::own_workers::with_own_workers;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use parsers::{DurKind, NO_ID, NO_NS, Outcome, Text};
use query::cache::QueryCache;
use query::event_rows;
use query::event_rows::EVENTS;
use query::selection::{self, Selection};
use query::source_lines::Arguments;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::store::event::{EventKind, NONE, Shape};
use trace::store::index::ShapeId;
use trace::store::table::TextColumn;
use trace::store::text_columns::shape_text;
use trace::store::trace::Trace;

/// Number of batches that are made at once, per core.
const BATCHES_PER_CORE: usize = 2;
/// Arrow addresses the texts of a dictionary with 32 bits.
const MAX_DICTIONARY_BYTES: usize = i32::MAX as usize;

/// The chosen events of a trace.
#[derive(Clone)]
pub struct Events {
    pub trace: Arc<Trace>,
    pub queries: Arc<QueryCache>,
    pub choice: selection::Criteria,
    pub columns: Option<Vec<String>>,
    pub limit: Option<usize>,
}

/// The words of a text column, and the key of each number that stands for a word; [`NONE`] where there is no word.
pub(super) struct Dictionary {
    pub(super) words: Arc<StringArray>,
    keys: Keys,
}

enum Keys {
    /// By number: most numbers occur.
    Dense(Vec<u32>),
    /// Of the few numbers that occur.
    Sparse(FxHashMap<u32, u32>),
}

impl Dictionary {
    /// Words by number. Several numbers may have the same word. `None` if the words are too long for Arrow.
    fn new(words: impl Iterator<Item = Option<String>>) -> Option<Dictionary> {
        let mut column = TextColumn::default();
        words.for_each(|word| column.push(word.as_deref()));
        let (keys, words) = column.into_parts();
        Dictionary::with(&words, Keys::Dense(keys))
    }

    /// The words of these numbers, for a small part of the rows.
    fn of_numbers(
        numbers: impl Iterator<Item = u32>,
        word: impl Fn(u32) -> Option<String>,
    ) -> Option<Dictionary> {
        let (mut column, mut numbered) = (TextColumn::default(), Vec::new());
        let mut seen = FxHashSet::default();
        for number in numbers.filter(|&number| seen.insert(number)) {
            column.push(word(number).as_deref());
            numbered.push(number);
        }
        let (keys, words) = column.into_parts();
        Dictionary::with(
            &words,
            Keys::Sparse(numbered.into_iter().zip(keys).collect()),
        )
    }

    /// Texts by number. Each text is looked at once.
    fn of_texts(trace: &Trace, texts: impl Iterator<Item = Text>) -> Option<Dictionary> {
        let (mut column, mut numbers) = (TextColumn::default(), FxHashMap::<Text, u32>::default());
        let mut number =
            |text: Text| text_of(trace, text).map_or(NONE, |word| column.number(&word));
        let keys = texts
            .map(|text| *numbers.entry(text).or_insert_with(|| number(text)))
            .collect();
        let (_, words) = column.into_parts();
        Dictionary::with(&words, Keys::Dense(keys))
    }

    fn with(words: &[String], keys: Keys) -> Option<Dictionary> {
        let bytes: usize = words.iter().map(String::len).sum();
        (bytes <= MAX_DICTIONARY_BYTES).then(|| Dictionary {
            words: Arc::new(words.iter().map(Some).collect()),
            keys,
        })
    }

    pub(super) fn key(&self, number: u32) -> Option<i32> {
        let key = match &self.keys {
            Keys::Dense(keys) => keys.get(number as usize),
            Keys::Sparse(keys) => keys.get(&number),
        };
        key.filter(|&&key| key != NONE).map(|&key| key as i32)
    }

    fn column(&self, numbers: impl Iterator<Item = u32>) -> Result<ArrayRef, ArrowError> {
        let keys: Int32Array = numbers.map(|number| self.key(number)).collect();
        let words: ArrayRef = Arc::clone(&self.words) as ArrayRef;
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(
            keys, words,
        )?))
    }
}

/// The dictionaries of all text columns.
pub(super) struct Dictionaries {
    file: Dictionary,
    outcome: Dictionary,
    numbered: Numbered,
    /// These have keys by number of the shape.
    syscall: Dictionary,
    op: Dictionary,
    shape: Dictionary,
    errno: Dictionary,
}

/// The numbers of a column that occur.
struct Marks(Vec<AtomicBool>);

impl Marks {
    fn new(len: usize) -> Marks {
        Marks(
            std::iter::repeat_with(AtomicBool::default)
                .take(len)
                .collect(),
        )
    }

    fn add(&self, number: u32) {
        // Most numbers are marked already, and a mark that is only read stays in the caches of all cores.
        if let Some(mark) = self
            .0
            .get(number as usize)
            .filter(|mark| !mark.load(Ordering::Relaxed))
        {
            mark.store(true, Ordering::Relaxed);
        }
    }

    /// For each number its text if it occurs.
    fn texts<'all>(
        &'all self,
        text: impl Fn(usize) -> Text + 'all,
    ) -> impl Iterator<Item = Text> + 'all {
        self.0.iter().enumerate().map(move |(number, mark)| {
            if mark.load(Ordering::Relaxed) {
                text(number)
            } else {
                Text::NONE
            }
        })
    }

    /// For each number its word if it occurs.
    fn words<'all>(
        &'all self,
        word: impl Fn(u32) -> Option<String> + 'all,
    ) -> impl Iterator<Item = Option<String>> + 'all {
        (0u32..)
            .zip(&self.0)
            .map(move |(number, mark)| mark.load(Ordering::Relaxed).then(|| word(number)).flatten())
    }
}

fn program(selection: &Selection<'_>, trace: &Trace, row: u32) -> Text {
    let at = selection
        .program_index
        .at(trace.events.task(row), trace.events.start_ns(row));
    at.map_or(Text::NONE, |program| program.path)
}

impl Dictionaries {
    /// The texts of these rows. `None` if they are too long for Arrow.
    pub(super) fn new<R: Iterator<Item = u32>>(
        trace: &Trace,
        selection: &Selection<'_>,
        pieces: &[Range<u32>],
        rows: impl Fn(Range<u32>) -> R + Sync,
    ) -> Option<Dictionaries> {
        let events = &trace.events;
        let [programs, targets] = [(); 2].map(|()| Marks::new(events.texts.len()));
        let stacked = if events.stacks.is_empty() {
            0
        } else {
            events.texts.len()
        };
        let [functions, sources, modules] = [(); 3].map(|()| Marks::new(stacked));
        let (shapes, kinds, dur_kinds) = (
            Marks::new(events.shapes().len()),
            Marks::new(EventKind::ALL.len()),
            Marks::new(DurKind::ALL.len()),
        );
        pieces.par_iter().for_each(|piece| {
            for row in rows(piece.clone()) {
                programs.add(program(selection, trace, row).0);
                targets.add(events.target(row).0);
                shapes.add(events.shape_number(row).raw());
                kinds.add(events.kind(row) as u32);
                dur_kinds.add(events.dur_kind(row) as u32);
                let frame = events.stacks.user_frame(row);
                functions.add(frame.function.0);
                sources.add(frame.source.0);
                modules.add(frame.module.0);
            }
        });
        let texts =
            |marks: &Marks| Dictionary::new(marks.words(|number| text_of(trace, Text(number))));
        let numbered = || {
            Some(Numbered {
                kind: Dictionary::new(
                    kinds.words(|number| Some(EventKind::ALL[number as usize].name().to_owned())),
                )?,
                dur_kind: Dictionary::new(
                    dur_kinds.words(|number| Some(DurKind::ALL[number as usize].name().to_owned())),
                )?,
                program: texts(&programs)?,
                target: texts(&targets)?,
                function: texts(&functions)?,
                source: texts(&sources)?,
                module: texts(&modules)?,
            })
        };
        let of_shapes = |of: &ShapeWord| match of {
            ShapeWord::Part(part) => Dictionary::of_texts(
                trace,
                shapes.texts(|number| part(&events.shapes()[ShapeId::from(number)])),
            ),
            ShapeWord::Whole => Dictionary::new(
                shapes.words(|number| Some(shape_text(events, ShapeId::new(number)))),
            ),
        };
        Dictionaries::with(trace, numbered, &of_shapes)
    }

    /// The texts of a few rows.
    pub(super) fn of_rows(
        trace: &Trace,
        selection: &Selection<'_>,
        rows: &[u32],
    ) -> Option<Dictionaries> {
        let events = &trace.events;
        let texts = |of: &dyn Fn(u32) -> Text| {
            Dictionary::of_numbers(rows.iter().map(|&row| of(row).0), |number| {
                text_of(trace, Text(number))
            })
        };
        let numbers = |of: &dyn Fn(u32) -> u32| {
            rows.iter()
                .map(|&row| of(row))
                .collect::<Vec<u32>>()
                .into_iter()
        };
        let named = Numbered {
            kind: Dictionary::of_numbers(numbers(&|row| events.kind(row) as u32), |number| {
                Some(EventKind::ALL[number as usize].name().to_owned())
            })?,
            dur_kind: Dictionary::of_numbers(
                numbers(&|row| events.dur_kind(row) as u32),
                |number| Some(DurKind::ALL[number as usize].name().to_owned()),
            )?,
            program: texts(&|row| program(selection, trace, row))?,
            target: texts(&|row| events.target(row))?,
            function: texts(&|row| events.stacks.user_frame(row).function)?,
            source: texts(&|row| events.stacks.user_frame(row).source)?,
            module: texts(&|row| events.stacks.user_frame(row).module)?,
        };
        let shapes: Vec<u32> = rows
            .iter()
            .map(|&row| events.shape_number(row).raw())
            .collect();
        let of_shapes = |of: &ShapeWord| {
            Dictionary::of_numbers(shapes.iter().copied(), |number| match of {
                ShapeWord::Part(part) => {
                    text_of(trace, part(&events.shapes()[ShapeId::new(number)]))
                }
                ShapeWord::Whole => Some(shape_text(events, ShapeId::new(number))),
            })
        };
        Dictionaries::with(trace, || Some(named), &of_shapes)
    }

    fn with(
        trace: &Trace,
        numbered: impl FnOnce() -> Option<Numbered> + Send,
        of_shapes: &(dyn Fn(&ShapeWord) -> Option<Dictionary> + Sync),
    ) -> Option<Dictionaries> {
        let part = |of: fn(&Shape) -> Text| of_shapes(&ShapeWord::Part(of));
        let shaped = || {
            let parts = (
                part(|shape| shape.syscall)?,
                part(|shape| shape.op)?,
                part(|shape| shape.errno)?,
            );
            Some((parts, of_shapes(&ShapeWord::Whole)?))
        };
        // There may be as many targets as shapes.
        let (numbered, shaped) = rayon::join(numbered, shaped);
        let ((syscall, op, errno), shape) = shaped?;
        Some(Dictionaries {
            file: Dictionary::new(
                trace
                    .captures
                    .iter()
                    .flat_map(|capture| &capture.files)
                    .cloned()
                    .map(Some),
            )?,
            outcome: Dictionary::new(
                Outcome::ALL
                    .iter()
                    .map(|outcome| Some(outcome.name().to_owned())),
            )?,
            syscall,
            op,
            shape,
            errno,
            numbered: numbered?,
        })
    }
}

/// A word of a shape.
enum ShapeWord {
    Part(fn(&Shape) -> Text),
    Whole,
}

/// The dictionaries of columns whose keys do not belong to shapes.
struct Numbered {
    kind: Dictionary,
    dur_kind: Dictionary,
    program: Dictionary,
    target: Dictionary,
    function: Dictionary,
    source: Dictionary,
    module: Dictionary,
}

fn text_of(trace: &Trace, text: Text) -> Option<String> {
    text.is_some()
        .then(|| trace.events.texts.string(text).into_owned())
}

/// What every batch needs.
pub(super) struct BatchMaker<'all> {
    pub(super) trace: &'all Trace,
    pub(super) dictionaries: &'all Dictionaries,
    /// Names of the wanted columns; all but the arguments if `None`.
    pub(super) columns: Option<&'all [String]>,
}

/// The chosen rows as batches.
pub(super) struct EventBatches {
    events: Events,
    dictionaries: Dictionaries,
    pieces: std::vec::IntoIter<Range<u32>>,
    ready: VecDeque<Result<RecordBatch, ArrowError>>,
    /// Number of rows that may still follow.
    left: usize,
    arguments: Arguments,
}

impl EventBatches {
    /// `None` if the texts are too long for Arrow. The choice was understood when the table was made.
    pub(super) fn new(events: Events) -> Option<EventBatches> {
        let trace = Arc::clone(&events.trace);
        let selection = Selection::new(&trace, &events.choice, &events.queries).ok()?;
        let left = events.limit.unwrap_or(usize::MAX);
        let pieces: Vec<Range<u32>> = event_rows::pieces(&trace).collect();
        let rows = |piece: Range<u32>| piece.filter(|&row| selection.has(row));
        let dictionaries = match events.limit {
            Some(limit) => {
                let first: Vec<u32> = pieces.iter().cloned().flat_map(rows).take(limit).collect();
                let all = 0..first.len() as u32;
                Dictionaries::new(&trace, &selection, &[all], |piece| {
                    piece.map(|place| first[place as usize])
                })
            }
            None => Dictionaries::new(&trace, &selection, &pieces, rows),
        }?;
        let (pieces, ready, arguments) =
            (pieces.into_iter(), VecDeque::new(), Arguments::default());
        drop(selection);
        Some(EventBatches {
            events,
            dictionaries,
            pieces,
            ready,
            left,
            arguments,
        })
    }

    /// Makes the next batches.
    fn fill(&mut self) {
        let Events {
            trace,
            choice,
            queries,
            columns,
            ..
        } = &self.events;
        let maker = BatchMaker {
            trace,
            dictionaries: &self.dictionaries,
            columns: columns.as_deref(),
        };
        let Ok(selection) = Selection::new(trace, choice, queries) else {
            return;
        };
        let pieces: Vec<Range<u32>> = self
            .pieces
            .by_ref()
            .take(BATCHES_PER_CORE * rayon::current_num_threads())
            .collect();
        let mut rows: Vec<Vec<u32>> = pieces
            .par_iter()
            .map(|piece| piece.clone().filter(|&row| selection.has(row)).collect())
            .collect();
        for rows in &mut rows {
            rows.truncate(self.left);
            self.left -= rows.len();
        }
        rows.retain(|rows| !rows.is_empty());
        // Arguments are read from the file, in order.
        let arguments: Vec<Option<ArrayRef>> = rows
            .iter()
            .map(|rows| {
                maker
                    .wants("args")
                    .then(|| array(&self.arguments.column(trace, rows), "dict"))
            })
            .collect();
        let made = rows
            .par_iter()
            .zip(arguments)
            .map(|(rows, arguments)| maker.batch(&selection, rows, arguments));
        self.ready = made.collect::<Vec<_>>().into();
    }
}

impl BatchMaker<'_> {
    pub(super) fn wants(&self, column: &str) -> bool {
        match self.columns {
            Some(columns) => columns.iter().any(|wanted| wanted == column),
            None => column != "args",
        }
    }

    pub(super) fn batch(
        &self,
        selection: &Selection<'_>,
        rows: &[u32],
        arguments: Option<ArrayRef>,
    ) -> Result<RecordBatch, ArrowError> {
        let made = |source: Source<'_>| match source {
            Source::Numbers(kind, of) => Ok(integers_of(
                &rows.iter().map(|&row| of(row)).collect::<Vec<i64>>(),
                kind,
            )),
            Source::Words(dictionary, of) => dictionary.column(rows.iter().map(|&row| of(row))),
        };
        let columns = self.sources(selection).into_iter();
        let mut arrays: Vec<(&str, ArrayRef)> = columns
            .map(|(name, source)| Ok((name, made(source)?)))
            .collect::<Result<_, ArrowError>>()?;
        arrays.extend(arguments.map(|arguments| ("args", arguments)));
        let fields = arrays
            .iter()
            .map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
        let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        RecordBatch::try_new(schema, arrays.into_iter().map(|(_, array)| array).collect())
    }
}

impl BatchMaker<'_> {
    /// Where the values of the wanted columns come from, arguments apart.
    pub(super) fn sources<'all>(
        &'all self,
        selection: &'all Selection<'_>,
    ) -> Vec<(&'static str, Source<'all>)> {
        let (trace, events, texts) = (self.trace, &self.trace.events, self.dictionaries);
        let task = |row: u32| &trace.tasks[events.task(row)];
        let id = |id: i32| if id == NO_ID { NO_NS } else { i64::from(id) };
        let shape = |row: u32| events.shape_number(row).raw();
        let frame = |row: u32| events.stacks.user_frame(row);
        let columns = vec![
            numbers("line", move |row| i64::from(events.line(row))),
            words("file", &texts.file, move |row| events.event(row).file),
            numbers("tid", move |row| id(task(row).tid_at(events.line(row)))),
            numbers("pid", move |row| id(task(row).pid)),
            numbers("task", move |row| i64::from(events.task(row))),
            words("program", &texts.numbered.program, move |row| {
                program(selection, trace, row).0
            }),
            numbers("start_ns", move |row| events.start_ns(row)),
            numbers("end_ns", move |row| events.end_ns(row).unwrap_or(NO_NS)),
            numbers("dur_ns", move |row| events.dur_ns(row)),
            numbers("cpu_ns", move |row| events.cpu_ns(row)),
            numbers("requested_ns", move |row| {
                events.requested_ns(row).unwrap_or(NO_NS)
            }),
            words("kind", &texts.numbered.kind, move |row| {
                events.kind(row) as u32
            }),
            words("syscall", &texts.syscall, shape),
            words("op", &texts.op, shape),
            words("target", &texts.numbered.target, move |row| {
                events.target(row).0
            }),
            words("shape", &texts.shape, shape),
            numbers("ret", move |row| events.ret(row)),
            words("errno", &texts.errno, shape),
            numbers("bytes", move |row| events.bytes(row).unwrap_or(NO_NS)),
            words("outcome", &texts.outcome, |row| match events.kind(row) {
                EventKind::Call => events.outcome(row) as u32,
                _ => NONE,
            }),
            words("dur_kind", &texts.numbered.dur_kind, move |row| {
                events.dur_kind(row) as u32
            }),
            words("function", &texts.numbered.function, move |row| {
                frame(row).function.0
            }),
            words("source", &texts.numbered.source, move |row| {
                frame(row).source.0
            }),
            words("module", &texts.numbered.module, move |row| {
                frame(row).module.0
            }),
        ];
        columns
            .into_iter()
            .filter(|(name, _)| self.wants(name))
            .collect()
    }
}

/// Where the values of a column come from.
pub(super) enum Source<'all> {
    /// The type of the column and the number of a row; [`NO_NS`] if it is missing.
    Numbers(&'static str, Box<dyn Fn(u32) -> i64 + Sync + 'all>),
    /// A dictionary, and the number that stands for the word of a row.
    Words(&'all Dictionary, Box<dyn Fn(u32) -> u32 + Sync + 'all>),
}

fn numbers<'all>(
    name: &'static str,
    of: impl Fn(u32) -> i64 + Sync + 'all,
) -> (&'static str, Source<'all>) {
    (name, Source::Numbers(EVENTS.kind_of(name), Box::new(of)))
}

fn words<'all>(
    name: &'static str,
    dictionary: &'all Dictionary,
    of: impl Fn(u32) -> u32 + Sync + 'all,
) -> (&'static str, Source<'all>) {
    (name, Source::Words(dictionary, Box::new(of)))
}

impl Iterator for EventBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && self.left > 0 && !self.pieces.as_slice().is_empty() {
            with_own_workers(|| self.fill());
        }
        self.ready.pop_front()
    }
}
