//! The path for reading: long segments by themselves, and short ones of one task that follow each other taken together.
//!
//! ```text
//! segments   |call|g|c|g|c|g|---- read ----|c|g|c|  task 1      |g|c|  task 2
//! stays      |---- several ----|--- read ---|- several -|        omitted if shorter than requested
//! ```
//! Each stretch is listed with its waiter, and with the evidence for it.

use crate::critical_path::segment::{Segment, Tag, What, class_name, named};
use crate::critical_path::walk::{Waited, WalkListener};
use crate::waits::edge::{Confidence, Edge, WakeKind};
use parsers::syscalls::Class;
use parsers::{NO_NS, Text};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use trace::store::index::TaskId;
use trace::store::schema::schema;
use trace::store::table::{Table, ints, some_ints, texts};
use trace::store::text_columns::{ids, text_column};
use trace::store::trace::Trace;

schema! {
    pub PATH: path "The critical path in order.";
    times: Calls;
    columns {
        start_ns: Moment "Start time.",
        dur_ns: Ns "Duration.",
        task: Index "Number of the task.",
        pid: Id "Process id.",
        tid: Id "Thread id.",
        program: Text "Program at that moment.",
        class: Text "What the time was spent on.",
        class_name: Words "The class in words: user is outside syscalls.",
        what: Text "call, gap, resume, spawn, silence, or poll-lag (from the awaited event of a poll loop to the check that noticed it).",
        tag: Text "polled (work that a process waited for by polling), poll-lag, or idle (a server waited for its clients).",
        syscall: Text "The system call.",
        op: Text "Sub-operation.",
        target: Text "What the call worked on.",
        line: FirstLine "Line of the call.",
        pieces: Number "Number of segments combined; the other columns describe most of their time.",
        waiter_pid: Id "The process that waited for it on the critical path.",
        how: Text "How the end of that wait is known: child, vfork, signal, stream, terminal, futex, join, lock, drain, poll, message, beside, exit, watch.",
        sure: Text "measured (the trace shows it) or inferred (from times and parentage).",
        stack: Number "Number of the call's stack in table stack_frames; missing without one.",
    }
}

/// A stretch of the path in one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// What most of its time is, over the whole stretch.
    pub segment: Segment,
    /// How many segments it was made of.
    pub pieces: u32,
    /// A moment in the segment that is most of it: the task may run another program at the start of the stretch.
    pub seen_ns: i64,
    /// Who waited for it, if anybody did.
    pub awaited: Option<Awaited>,
}

/// A wait that others' stretches ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Who waited.
    pub by: TaskId,
    /// How the waker was found, and with which confidence.
    pub known: (WakeKind, Confidence),
}

/// Waits that last at one moment and are looked at for one segment.
const WAITS: usize = 16;

/// What distinguishes segments of different stretches.
type StretchKind = (Class, Text, Text, Tag);

/// Collects the segments of a walk, which come backward in time.
pub struct Timeline<'trace> {
    trace: &'trace Trace,
    at_least_ns: i64,
    most: Option<usize>,
    done: Vec<Stretch>,
    open: Option<Stretch>,
    sums: FxHashMap<StretchKind, (i64, Segment)>,
    /// The waits on the path that last at this moment of the walk.
    waits: Vec<Awaited>,
}

impl<'trace> Timeline<'trace> {
    /// Keep stretches of at least this length.
    pub fn new(trace: &'trace Trace, at_least_ns: i64) -> Timeline<'trace> {
        let (done, sums, waits) = (Vec::new(), FxHashMap::default(), Vec::new());
        Timeline {
            trace,
            at_least_ns,
            most: None,
            done,
            open: None,
            sums,
            waits,
        }
    }

    /// Keep the longest instead, so many, and take those below `at_least_ns` together all the same.
    pub fn longest(self, most: usize) -> Timeline<'trace> {
        Timeline {
            most: Some(most),
            ..self
        }
    }

    fn keep(&mut self, stay: Stretch) {
        if self.most.is_some() || stay.segment.dur_ns() >= self.at_least_ns {
            self.done.push(stay);
        }
        if self
            .most
            .is_some_and(|most| self.done.len() >= 2 * most.max(1))
        {
            self.drop_shorter();
        }
    }

    /// Forget all but the longest; of equals the earlier ones stay.
    fn drop_shorter(&mut self) {
        if let Some(most) = self.most.filter(|&most| most < self.done.len()) {
            self.done.select_nth_unstable_by_key(most, |stay| {
                (Reverse(stay.segment.dur_ns()), stay.segment.start_ns)
            });
            self.done.truncate(most);
        }
    }

    /// Take the next segment of the walk.
    pub fn take(&mut self, segment: Segment) {
        // Silences of a log have nothing in common but the log.
        let awaited = self.awaited(&segment);
        let alone = matches!(segment.what, What::Silence(_));
        if alone || segment.dur_ns() >= self.at_least_ns {
            self.close();
            return self.keep(Stretch {
                segment,
                pieces: 1,
                seen_ns: segment.start_ns,
                awaited,
            });
        }
        let waiter = |awaited: Option<Awaited>| awaited.map(|awaited| awaited.by);
        let follows = |stay: &Stretch| {
            let of_same_wait = waiter(stay.awaited) == waiter(awaited);
            stay.segment.task == segment.task
                && stay.segment.start_ns == segment.end_ns
                && of_same_wait
        };
        if !self.open.as_ref().is_some_and(follows) {
            self.close();
        }
        let stay = self.open.get_or_insert(Stretch {
            segment,
            pieces: 0,
            seen_ns: segment.start_ns,
            awaited,
        });
        stay.segment.start_ns = segment.start_ns;
        stay.pieces += 1;
        let kind = self.kind(&segment);
        let sum = self.sums.entry(kind).or_insert((0, segment));
        sum.0 += segment.dur_ns();
    }

    /// The waiter of a segment. A task that created the awaited one does not wait for itself.
    fn awaited(&self, segment: &Segment) -> Option<Awaited> {
        self.waits
            .iter()
            .rev()
            .take(WAITS)
            .find(|wait| wait.by != segment.task)
            .copied()
    }

    fn kind(&self, segment: &Segment) -> StretchKind {
        let shape = segment.what.row().map(|row| self.trace.events.shape(row));
        let (syscall, op) =
            shape.map_or((Text::NONE, Text::NONE), |shape| (shape.syscall, shape.op));
        (segment.class, syscall, op, segment.tag)
    }

    fn close(&mut self) {
        let Some(stay) = self.open.take() else { return };
        let most = self
            .sums
            .drain()
            .max_by_key(|&(kind, (sum_ns, _))| (sum_ns, kind))
            .map(|(_, (_, segment))| segment);
        if let Some(most) = most {
            let segment = Segment {
                start_ns: stay.segment.start_ns,
                end_ns: stay.segment.end_ns,
                ..most
            };
            self.keep(Stretch {
                segment,
                seen_ns: most.start_ns,
                ..stay
            });
        }
    }

    /// The stretches in order of time.
    pub fn finish(mut self) -> Vec<Stretch> {
        self.close();
        self.drop_shorter();
        self.done.sort_by_key(|stay| stay.segment.start_ns);
        self.done
    }
}

impl WalkListener for Timeline<'_> {
    fn charged(&mut self, segment: Segment) {
        self.take(segment);
    }

    fn begins(&mut self, waiter: TaskId, edge: &Edge) {
        self.waits.push(Awaited {
            by: waiter,
            known: (edge.how, edge.sure),
        });
    }

    fn ends(&mut self, _waited: &Waited) {
        self.waits.pop();
    }
}

/// The path as a table, in the order given.
pub fn table(trace: &Trace, stays: &[Stretch]) -> Table {
    let known = || {
        stays
            .iter()
            .map(|stay| stay.awaited.map(|awaited| awaited.known))
    };
    let waiter = |stay: &Stretch| {
        stay.awaited
            .map_or(NO_NS, |awaited| i64::from(trace.tasks[awaited.by].pid))
    };
    let programs = trace.program_index();
    let segments = || stays.iter().map(|stay| &stay.segment);
    let tasks: Vec<TaskId> = segments().map(|segment| segment.task).collect();
    let events = &trace.events;
    let of_row = |of: &dyn Fn(What, u32) -> Text| {
        text_column(
            trace,
            segments().map(|segment| {
                segment
                    .what
                    .row()
                    .map_or(Text::NONE, |row| of(segment.what, row))
            }),
        )
    };
    let shape = |what: What, row: u32| named(what, events.shape(row).syscall, events.shape(row).op);
    let line = |segment: &Segment| {
        segment
            .what
            .row()
            .map_or(NO_NS, |row| i64::from(events.line(row)))
    };
    let own_row = |segment: &Segment| {
        segment
            .what
            .row()
            .filter(|&row| events.task(row) == segment.task)
    };
    let stack = |segment: &Segment| {
        own_row(segment)
            .and_then(|row| events.stacks.of(row))
            .map_or(NO_NS, i64::from)
    };
    Table::new(
        "path",
        vec![
            ("start_ns", ints(segments().map(|segment| segment.start_ns))),
            ("dur_ns", ints(segments().map(Segment::dur_ns))),
            ("task", ints(tasks.iter().map(|&task| i64::from(task)))),
            ("pid", ids(&tasks, |task| trace.tasks[task].pid)),
            ("tid", ids(&tasks, |task| trace.tasks[task].tid)),
            (
                "program",
                text_column(
                    trace,
                    stays
                        .iter()
                        .map(|stay| programs.path_at(stay.segment.task, stay.seen_ns)),
                ),
            ),
            (
                "class",
                texts(segments().map(|segment| Some(segment.class.name()))),
            ),
            (
                "class_name",
                texts(segments().map(|segment| Some(class_name(segment.class)))),
            ),
            (
                "what",
                texts(segments().map(|segment| Some(segment.name()))),
            ),
            ("tag", texts(segments().map(|segment| segment.tag.name()))),
            ("syscall", of_row(&|what, row| shape(what, row).0)),
            ("op", of_row(&|what, row| shape(what, row).1)),
            ("target", of_row(&|_, row| events.target(row))),
            ("line", some_ints(segments().map(line))),
            (
                "pieces",
                ints(stays.iter().map(|stay| i64::from(stay.pieces))),
            ),
            ("waiter_pid", some_ints(stays.iter().map(waiter))),
            (
                "how",
                texts(known().map(|known| known.map(|(how, _)| how.name()))),
            ),
            (
                "sure",
                texts(known().map(|known| known.map(|(_, sure)| sure.name()))),
            ),
            ("stack", some_ints(segments().map(stack))),
        ],
    )
}
