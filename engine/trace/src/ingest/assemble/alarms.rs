//! Waits that an alarm of the process ended.
//!
//! ```text
//! 7 alarm(5)                     = 0
//! 7 pause()                      = ? ERESTARTNOHAND      lasted 5 s: nothing else took time since the alarm was set
//! 7 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
//! ```

use crate::ingest::assemble::Assembler;
use crate::store::events::EventTable;
use crate::store::facts::EndedByAlarm;
use crate::store::index::TaskId;
use crate::store::outcomes::{failed_at_once, was_broken_off};
use crate::store::time_limits::wait_of_row;
use parsers::facts::Timeout;
use parsers::{Line, NO_NS, Outcome, Text};

/// Maximum number of rows from an alarm to its signal that are looked at.
const MAX_ROWS: usize = 256;

/// An alarm that is set.
#[derive(Clone, Copy)]
pub(super) struct Alarm {
    task: TaskId,
    row: u32,
    /// 0 if the process has set several timers, any of which may have sent the signal.
    after_ns: i64,
    /// Number of signals of the task before.
    signals: u32,
    /// The timer, if it is not that of `alarm` and `setitimer`.
    timer: Text,
    /// Its signal arrived, and the call that it broke off was not printed yet.
    has_fired: bool,
}

impl Assembler<'_> {
    /// A task set the alarm of its process; 0 stops it. The first half of a call, or one that failed, sets none.
    pub(super) fn sets_alarm(&mut self, task: TaskId, row: u32, after_ns: i64) {
        if self.trace.events.outcome(row) != Outcome::Ok {
            return;
        }
        let pid = self.trace.tasks[task].pid;
        let (timer, signals) = (
            self.trace.events.target(row),
            self.trace.tasks[task].signals,
        );
        let other = self
            .alarms
            .remove(&pid)
            .filter(|other| other.timer != timer && !other.has_fired);
        let new = Alarm {
            task,
            row,
            after_ns: if other.is_some() { 0 } else { after_ns },
            signals,
            timer,
            has_fired: false,
        };
        if after_ns > 0 || other.is_some() {
            self.alarms.insert(pid, new);
        }
    }

    /// A signal arrived. An alarm sends it once, at the earliest when its time is over.
    pub(super) fn alarm_fires(&mut self, task: TaskId, line: &Line) {
        if self.alarms.is_empty() || self.trace.events.texts.bytes(line.name) != b"SIGALRM" {
            return;
        }
        let pid = self.trace.tasks[task].pid;
        let Some(alarm) = self.alarms.remove(&pid).filter(|alarm| alarm.task == task) else {
            return;
        };
        if !self.ends_by_alarm(alarm) {
            self.alarms.insert(
                pid,
                Alarm {
                    has_fired: true,
                    ..alarm
                },
            );
        }
    }

    /// A call was printed. A tracer that prints calls when they return prints the one that a signal broke off after the
    /// signal.
    pub(super) fn after_alarm(&mut self, task: TaskId) {
        let pid = self.trace.tasks[task].pid;
        let fired = self
            .alarms
            .get(&pid)
            .copied()
            .filter(|alarm| alarm.has_fired && alarm.task == task);
        if let Some(alarm) = fired {
            self.alarms.remove(&pid);
            self.ends_by_alarm(alarm);
        }
    }

    /// The first wait since the alarm was set lasted as long as the alarm, if a signal broke it off and no other one came.
    fn ends_by_alarm(&mut self, alarm: Alarm) -> bool {
        let events = &self.trace.events;
        let rows = (alarm.row + 1..events.len()).take(MAX_ROWS);
        let mut waits = rows
            .filter(|&row| events.task(row) == alarm.task && wait_of_row(events, row).is_some());
        // Without stamps, waits before it have unknown durations, unless they returned at once.
        let wait = waits.find(|&row| was_broken_off(events, row) || !is_brief(events, row));
        let is_only = self.trace.tasks[alarm.task].signals == alarm.signals + 1;
        let Some(row) = wait.filter(|&row| is_only && was_broken_off(events, row)) else {
            return false;
        };
        // Where stamps show it, the program's own time since the alarm was set is not part of the wait.
        let since_ns = match (events.start_ns(alarm.row), events.start_ns(row)) {
            (NO_NS, _) | (_, NO_NS) => 0,
            (set_ns, start_ns) => start_ns.saturating_sub(set_ns).max(0),
        };
        let left_ns = alarm.after_ns.saturating_sub(since_ns);
        if left_ns > 0 {
            self.trace.events.facts.add::<Timeout>(row, left_ns);
            self.trace.events.facts.add::<EndedByAlarm>(row, ());
        }
        true
    }
}

fn is_brief(events: &EventTable, row: u32) -> bool {
    events.start_ns(row) != NO_NS || failed_at_once(events, row)
}
