//! Calls that a signal broke off: the tracer prints them after the signal, or never.
//!
//! ```text
//! Solaris   1.9974 1.9974  Received signal #15, SIGTERM, in nanosleep() [default]    the time is that of the call
//! FreeBSD   2.1000 2.0000  SIGNAL 15 (SIGTERM)                                       a call began 2 s before
//! ```

use crate::ingest::assemble::Assembler;
use crate::store::index::TaskId;
use crate::store::recent_lines::LinePlace;
use parsers::line::Ended;
use parsers::{
    CaptureFacts, Clock, DurKind, Extra, Line, LineKind, NO_NS, Outcome, StampMoment, Text,
};

/// The name of a call whose time alone is known.
const UNKNOWN: &[u8] = b"unknown";

/// A call that was open when a signal arrived.
#[derive(Clone, Copy)]
pub(super) struct Broken {
    /// Its name, if the signal's line has it.
    pub(super) call: Text,
    pub(super) start_ns: i64,
    /// The time until the signal.
    pub(super) dur_ns: i64,
}

impl Assembler<'_> {
    /// The call that was open when this signal arrived. A tracer that prints calls when they return charges its time to
    /// the signal.
    fn broken_by(&mut self, task: TaskId, line: &Line, stamp_ns: i64) -> Option<Broken> {
        let call = if line.target.is_some() {
            line.target
        } else {
            self.asleep_in(task).unwrap_or(Text::NONE)
        };
        let facts = self.facts;
        let state = self.state(task);
        if facts.stamp == StampMoment::Start || (!state.seen && has_stamps(&facts)) {
            return None;
        }
        let last_end_ns = state.last_end_ns;
        match facts.dur_kind {
            DurKind::Exact
                if facts.stamp == StampMoment::End && line.dur_ns != NO_NS && stamp_ns != NO_NS =>
            {
                // The time since the task entered its last call: if that had returned, this began before its return.
                let start_ns = stamp_ns.saturating_sub(line.dur_ns);
                (start_ns >= last_end_ns).then_some(Broken {
                    call,
                    start_ns,
                    dur_ns: line.dur_ns,
                })
            }
            DurKind::Exact => None,
            _ if !call.is_some() => None,
            _ if stamp_ns == NO_NS => Some(Broken {
                call,
                start_ns: NO_NS,
                dur_ns: line.dur_ns,
            }),
            _ => Some(Broken {
                call,
                start_ns: last_end_ns,
                dur_ns: stamp_ns.saturating_sub(last_end_ns).max(0),
            }),
        }
    }

    /// A signal arrived. Keep the call that it broke off: its line may follow.
    pub(super) fn interrupts(
        &mut self,
        task: TaskId,
        line: &Line,
        extra: Option<&Extra>,
        stamp_ns: i64,
        at: LinePlace,
    ) {
        let broken = self.broken_by(task, line, stamp_ns);
        let state = self.state(task);
        state.broken = state.broken.or(broken);
        if let Some(Extra::GroupEnd(Ended::Killed(_))) = extra {
            self.never_printed(task, line, at);
        }
    }

    /// The process was killed, so the line of the call that the signal broke off does not follow.
    pub(super) fn never_printed(&mut self, task: TaskId, line: &Line, at: LinePlace) {
        let Some(Broken {
            call,
            start_ns,
            dur_ns,
        }) = self.state(task).broken.take()
        else {
            return;
        };
        // The notice of a sleep has the call, too.
        if self.asleep_in(task).is_some() {
            self.take_open(task);
        }
        let name = if call.is_some() {
            call
        } else {
            self.trace.events.texts.add(UNKNOWN)
        };
        let (pid, tid) = (line.pid, line.tid);
        let call = Line {
            name,
            pid,
            tid,
            outcome: Outcome::Interrupted,
            ..Line::of(LineKind::Call)
        };
        let dur_kind = if dur_ns == NO_NS {
            DurKind::None
        } else {
            self.facts.dur_kind
        };
        self.push(task, &call, at, start_ns, dur_ns, dur_kind);
        self.count(task, Outcome::Interrupted);
    }
}

fn has_stamps(facts: &CaptureFacts) -> bool {
    !matches!(facts.clock, Clock::None | Clock::PerThread)
}
