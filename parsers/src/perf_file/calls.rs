//! The calls of a perf.data of `raw_syscalls:sys_enter` and `raw_syscalls:sys_exit`, as text.
//!
//! ```text
//! In:   7 sys_enter: NR 0 (3, 7ffd1b2c, 20000, …)      7 sys_exit: NR 0 = -11
//! Out:  7 1795224170.658193012 read(3) = -1 EAGAIN <0.000001204>
//! ```
//!
//! The text has the form of strace with times in nanoseconds, and with halves where events of another thread come between.
//! Paths and structures are in memory that perf does not record. The only exception is the program of an execve, from
//! `sched_process_exec`.

mod before;
mod layout;
mod writer;

use crate::perf_file::calls::before::{Before, learn};
use crate::perf_file::calls::writer::CallWriter;
use std::io::{self, Read, Seek, Write};

/// The first words of the first line.
pub(crate) const FIRST_LINE: &str = "# system calls of perf.data";
/// The first words of a line about events that were lost.
pub(crate) const LOST_LINE: &str = "# lost events: ";

/// Which calls of a file are written.
#[derive(Clone, Debug, Default)]
pub struct CallChoice {
    /// The process that was to run a command: what it did before that is left out.
    pub command: Option<i32>,
    /// How that process ended: its exit status, or the number of a signal below zero.
    pub status: Option<i32>,
    /// Calls that threads were in when the recording began.
    pub running: Vec<RunningCall>,
}

/// A call that began before the recording.
#[derive(Clone, Copy, Debug)]
pub struct RunningCall {
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// When it was seen, on the clock of the recording.
    pub time_ns: i64,
    /// The number of the call.
    pub number: i64,
    /// Its arguments.
    pub args: [u64; 6],
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct WrittenCalls {
    /// Number of calls.
    pub calls: u64,
    /// Number of events that were lost.
    pub lost: u64,
    /// The threads.
    pub tids: Vec<i32>,
}

/// Write the calls of a file as text.
///
/// # Errors
/// The file has no calls, is damaged, or is of a machine whose numbers of calls are not known; those of the writer.
pub fn write_calls<R: Read + Seek>(
    mut source: R,
    choice: CallChoice,
    out: &mut dyn Write,
) -> io::Result<WrittenCalls> {
    let before: Before = learn(&mut source)?;
    source.rewind()?;
    let writer = |head: &super::PerfHead| CallWriter::begin(head, choice, before, out);
    let (writer, _) = super::read(source, writer, |writer, record| {
        let event = writer.layouts.event(record);
        if let Some(event) = &event {
            writer.take(event);
        }
        event.is_some()
    })?;
    writer.finish()
}

/// When a call began, and in which thread.
type CallKey = (i32, i64);

fn is_exec(name: &str) -> bool {
    matches!(name, "execve" | "execveat")
}

fn creates_task(name: &str) -> bool {
    matches!(name, "clone" | "clone3" | "fork" | "vfork")
}

fn waits_for_child(name: &str) -> bool {
    matches!(name, "wait4" | "waitid")
}
