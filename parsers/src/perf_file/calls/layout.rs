//! The events of calls and of the lives of tasks.

use crate::perf_file::call_names::CallNames;
use crate::perf_file::line_text::ARGS;
use crate::perf_file::{FieldPlace, PerfHead, PerfRecord, described_events, event_type, unusable};
use linux_perf_data::linux_perf_event_reader::EventRecord;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::io;

#[derive(Clone, Copy)]
enum Layout {
    Enter([FieldPlace; 2]),
    Exit([FieldPlace; 2]),
    Exec { path: FieldPlace, old: FieldPlace },
    Delivered([FieldPlace; 2]),
    Sent([FieldPlace; 3]),
}

/// What happened.
pub(super) enum CallChange<'a> {
    /// A call began.
    Enter { number: i64, args: [u64; ARGS] },
    /// It returned.
    Exit { number: i64, ret: i64 },
    /// The thread runs another program now. Before, it had the second id.
    Exec(Cow<'a, [u8]>, i32),
    /// The name of the thread is that of the program that it runs now.
    Named(Cow<'a, [u8]>),
    /// The thread was created by this one.
    Born(i32),
    /// A signal is delivered; whether it has a handler.
    Delivered(i64, bool),
    /// A signal was sent to a thread that does not ignore it.
    Sent(i64, i32),
    /// The thread ended.
    Ended,
    /// Events were lost.
    Lost(u64),
}

/// One event.
pub(super) struct CallEvent<'a> {
    pub time_ns: i64,
    pub pid: i32,
    pub tid: i32,
    pub change: CallChange<'a>,
}

/// The events that are understood, by their numbers.
pub(super) struct CallLayouts {
    by_type: FxHashMap<u16, Layout>,
    is_big_endian: bool,
    /// The names of calls on the machine that recorded.
    pub names: CallNames,
}

impl CallLayouts {
    /// # Errors
    /// The file has no calls, or is of a machine whose numbers of calls are not known.
    pub(super) fn begin(head: &PerfHead) -> io::Result<CallLayouts> {
        let mut by_type = FxHashMap::default();
        described_events(&head.described, |described| {
            let of = |name: &str| described.field(name);
            let pair = |first: &str, second: &str| Some([of(first)?, of(second)?]);
            let layout = match described.name {
                "sys_enter" => pair("id", "args").map(Layout::Enter),
                "sys_exit" => pair("id", "ret").map(Layout::Exit),
                "sched_process_exec" => {
                    pair("filename", "old_pid").map(|[path, old]| Layout::Exec { path, old })
                }
                "signal_deliver" => pair("sig", "sa_handler").map(Layout::Delivered),
                "signal_generate" => {
                    let result = pair("pid", "result");
                    result.and_then(|[pid, result]| Some(Layout::Sent([of("sig")?, pid, result])))
                }
                _ => None,
            };
            by_type.extend(layout.map(|layout| (described.number, layout)));
        });
        let has = |wanted: fn(&Layout) -> bool| by_type.values().any(wanted);
        if !has(|each| matches!(each, Layout::Enter(_)))
            || !has(|each| matches!(each, Layout::Exit(_)))
        {
            return Err(unusable(
                "this perf.data has no system calls. Record with: -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit",
            ));
        }
        let Some(names) = CallNames::of(&head.machine) else {
            return Err(unusable(&format!(
                "this perf.data is of a machine of the kind \"{}\", whose numbers of calls are not known here.",
                head.machine.escape_default()
            )));
        };
        Ok(CallLayouts {
            by_type,
            is_big_endian: head.is_big_endian,
            names,
        })
    }

    /// The event of a record.
    pub(super) fn event<'a>(&self, record: &PerfRecord<'a>) -> Option<CallEvent<'a>> {
        let time_ns = record.time_ns?;
        let (pid, tid, change) = match record.event.as_ref()? {
            EventRecord::Sample(sample) => {
                let raw = sample.raw?.as_slice();
                (sample.pid?, sample.tid?, self.change(&raw)?)
            }
            EventRecord::Fork(fork) => (fork.pid, fork.tid, CallChange::Born(fork.ptid)),
            EventRecord::Exit(exit) => (exit.pid, exit.tid, CallChange::Ended),
            EventRecord::Comm(comm) if comm.is_execve => {
                (comm.pid, comm.tid, CallChange::Named(comm.name.as_slice()))
            }
            EventRecord::Lost(lost) => (0, 0, CallChange::Lost(lost.count)),
            _ => return None,
        };
        Some(CallEvent {
            time_ns,
            pid,
            tid,
            change,
        })
    }

    fn change(&self, raw: &[u8]) -> Option<CallChange<'static>> {
        let number = |place: FieldPlace| place.number(raw, self.is_big_endian);
        let kind = event_type(raw, self.is_big_endian)?;
        Some(match *self.by_type.get(&kind)? {
            Layout::Enter([id, list]) => {
                let mut args = [0; ARGS];
                for (place, arg) in args.iter_mut().enumerate() {
                    *arg = number(list.item(place))?.cast_unsigned();
                }
                CallChange::Enter {
                    number: number(id)?,
                    args,
                }
            }
            Layout::Exit([id, ret]) => CallChange::Exit {
                number: number(id)?,
                ret: number(ret)?,
            },
            Layout::Exec { path, old } => {
                let old = i32::try_from(number(old)?).ok()?;
                CallChange::Exec(Cow::Owned(text(raw, number(path)?)?), old)
            }
            Layout::Delivered([signal, handler]) => {
                // SIG_DFL and SIG_IGN.
                CallChange::Delivered(number(signal)?, !matches!(number(handler)?, 0 | 1))
            }
            Layout::Sent([signal, to, result]) => {
                if number(result)? != 0 {
                    return None;
                }
                CallChange::Sent(number(signal)?, i32::try_from(number(to)?).ok()?)
            }
        })
    }
}

/// A text whose length and place are in one number of the event.
fn text(raw: &[u8], location: i64) -> Option<Vec<u8>> {
    let location = usize::try_from(location).ok()?;
    let (at, bytes) = (location & 0xffff, location >> 16);
    let text = raw.get(at..at.checked_add(bytes)?)?;
    let end = memchr::memchr(0, text).unwrap_or(text.len());
    text.get(..end).map(<[u8]>::to_vec)
}
