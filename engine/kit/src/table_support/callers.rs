//! The function of the program that makes most of the calls of a finding, from their stacks.
//!
//! ```text
//! claim       297 calls: 290 of quota_lookup 9.70 s, 7 of quota_print 0.04 s
//! caller      quota_lookup, the line with most of the time
//! ```

use crate::table_support::context::TableContext;
use crate::table_support::provenance::Provenance;
use parsers::Text;
use path::partition::piece::{piece_of, program_of};
use path::partition::scope::{Scope, ScopeFilter};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::event::{EventKind, NONE};
use trace::store::heuristics::MIN_CALLER_SHARE;
use trace::store::stacks::Frame;

/// A function that makes calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Caller {
    /// The function; its source is the line with most of the time.
    pub frame: Frame,
    /// Number of its calls.
    pub calls: u64,
    /// Their time on the critical path, or their weight without one.
    pub ns: i64,
    /// Number of calls of all functions.
    pub all_calls: u64,
}

/// The calls of a finding.
pub struct Called {
    /// Where they are.
    pub members: Vec<Provenance>,
    /// Only calls of this name and of this operation; NONE if any.
    pub name: Text,
    /// The operation.
    pub op: Text,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    ns: i64,
    calls: u64,
}

impl Sum {
    fn add(&mut self, ns: i64) {
        (self.ns, self.calls) = (self.ns + ns, self.calls + 1);
    }

    /// Whether this is most of a whole: of its time, or of its calls if they took none.
    fn is_most_of(&self, whole: Sum) -> bool {
        let share = if whole.ns > 0 {
            self.ns as f64 / whole.ns as f64
        } else {
            self.calls as f64 / whole.calls as f64
        };
        share >= MIN_CALLER_SHARE
    }
}

/// The function that makes most of these calls, if one does.
pub fn caller(context: &TableContext<'_>, called: &Called) -> Option<Caller> {
    let events = &context.trace.events;
    if events.stacks.is_empty() {
        return None;
    }
    let (mut whole, mut of_frames, mut seen) = (
        Sum::default(),
        FxHashMap::<Frame, Sum>::default(),
        FxHashSet::default(),
    );
    each_call(context, &called.members, |row| {
        let shape = events.shape(row);
        let is_such = |wanted: Text, text: Text| !wanted.is_some() || wanted == text;
        if is_such(called.name, shape.syscall) && is_such(called.op, shape.op) && seen.insert(row) {
            let ns = context.exclusive_ns(row);
            whole.add(ns);
            of_frames
                .entry(events.stacks.user_frame(row))
                .or_default()
                .add(ns);
        }
    });
    let mut of_functions: FxHashMap<(Text, Text), (Sum, Frame, Sum)> = FxHashMap::default();
    for (&frame, &sum) in of_frames
        .iter()
        .filter(|(frame, _)| frame.function.is_some())
    {
        let known = of_functions
            .entry((frame.module, frame.function))
            .or_insert((Sum::default(), frame, sum));
        (known.0.ns, known.0.calls) = (known.0.ns + sum.ns, known.0.calls + sum.calls);
        if (sum.ns, sum.calls, frame.source) > (known.2.ns, known.2.calls, known.1.source) {
            (known.1, known.2) = (frame, sum);
        }
    }
    let largest = of_functions
        .into_values()
        .max_by_key(|(sum, frame, _)| (sum.ns, sum.calls, frame.function))?;
    let (sum, frame, _) = largest;
    sum.is_most_of(whole).then_some(Caller {
        frame,
        calls: sum.calls,
        ns: sum.ns,
        all_calls: whole.calls,
    })
}

/// Visit the calls of some members, some of them perhaps several times.
fn each_call(context: &TableContext<'_>, members: &[Provenance], mut visit: impl FnMut(u32)) {
    let trace = context.trace;
    for member in members {
        if let Provenance::Pieces(scope) = member {
            each_of_scope(context, scope, &mut visit);
        }
        member.by_task(trace, |task, part| {
            part.each(trace, task, 0..trace.rows_of(task).len(), |row, is_gap| {
                if !is_gap && trace.events.kind(row) == EventKind::Call {
                    visit(row);
                }
            });
        });
    }
}

/// Visit the calls whose pieces of the partition meet a condition.
fn each_of_scope(context: &TableContext<'_>, scope: &Scope, visit: &mut impl FnMut(u32)) {
    let trace = context.trace;
    let filter = ScopeFilter::new(trace, scope);
    for task in trace
        .tasks
        .keys()
        .filter(|&task| filter.may_have_task(trace, task))
    {
        context.attribution.each(trace, task, |charge| {
            if charge.is_gap
                || charge.row == NONE
                || trace.events.kind(charge.row) != EventKind::Call
            {
                return;
            }
            let program = program_of(
                trace,
                trace.program_index(),
                context.attribution,
                task,
                charge,
            );
            let piece = piece_of(trace, task, program, charge);
            if filter.has(trace, &piece) || filter.has(trace, &piece.of_several_targets(trace)) {
                visit(charge.row);
            }
        });
    }
}
