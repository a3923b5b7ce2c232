//! Scheduler events of Linux: which task ran on which processor, what woke it, and what it waited for.
//!
//! In:   perf.data, or the text of `perf script`, `trace-cmd report` or ftrace
//! Out:  one [`SchedEvent`] per event, in order of time
//!
//! No event is trusted: ids and times may be anything.

mod kernel_layout;
pub mod pack;
mod perf_data;
pub mod text;

use crate::input::{self, Source};
use crate::perf_file::{is_perf_data, unusable};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::Path;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// More is not unpacked in memory: a minute of a busy machine is some 100 MB.
const MAX_PACKED_BYTES: u64 = 1 << 32;

/// A name that the kernel gives to a thread, ended by a zero if it is short.
pub type Comm = [u8; 16];

/// A thread, as an event names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its id; 0 for the idle task.
    pub tid: i32,
    /// Its name at that moment.
    pub comm: Comm,
    /// Its priority, if the event has it: 120 is nice 0, and a lower number precedes a higher one.
    pub priority: Option<i32>,
}

/// Where on a processor an event happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// In the thread that ran.
    Thread,
    /// In deferred work of an interrupt, perhaps on behalf of the thread that ran: packets of the loopback device.
    SoftInterrupt,
    /// In an interrupt: a timer, a device.
    HardInterrupt,
    /// The text does not show it.
    Unknown,
}

/// Why a thread left its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Another one was to run. It could have gone on.
    Preempted,
    /// It waited.
    Blocked,
    /// It waited, and no signal may end this: mostly for a disk.
    Uninterruptible,
    /// A tracer stopped it.
    Traced,
    /// It ended.
    Dead,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedChange {
    /// One thread leaves a processor, the next one runs there.
    Switch {
        /// The one that ran.
        from: Named,
        /// Why it left.
        left: Left,
        /// The one that runs now.
        to: Named,
    },
    /// The thread that ran, or an interrupt, made this one runnable.
    Waking(i32),
    /// This one became runnable, on the processor that it will run on. What woke it may be elsewhere.
    Woken(i32),
    /// The thread that ran created this one.
    Fork(i32),
    /// The thread that ran started a program.
    Exec,
    /// The thread that ran exits.
    Exit,
    /// The thread that ran touched memory that it has to be given first.
    Fault,
    /// Events were lost on this processor before this moment.
    Lost(u64),
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedEvent {
    /// When, on the clock of the recording.
    pub time_ns: i64,
    /// The processor.
    pub cpu: u32,
    /// The thread that ran there.
    pub tid: i32,
    /// Whether it was that thread.
    pub context: Context,
    /// What happened.
    pub change: SchedChange,
}

/// What is known of a recording besides its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedFacts {
    /// What has to be added to its times for the time since 1970, in ns, if it contains that.
    pub epoch_offset_ns: Option<i64>,
    /// Lines or records that could not be used.
    pub unused: u64,
}

/// Where scheduler events come from.
pub enum SchedSource<'source> {
    /// A file.
    File(&'source Path),
    /// The content of one.
    Bytes(&'source [u8]),
}

/// Read scheduler events and hand each to `take`.
///
/// # Errors
/// Those of reading; with kind `InvalidData` if it has no such events, with a sentence that says what to do.
pub fn read(source: &SchedSource<'_>, take: &mut dyn FnMut(SchedEvent)) -> io::Result<SchedFacts> {
    match source {
        SchedSource::File(path) => {
            if let Ok(Source::Stream(mut stream)) = input::open(path) {
                let mut bytes = Vec::new();
                while let Some(chunk) = stream.next_chunk()? {
                    bytes.extend_from_slice(&chunk.bytes);
                }
                return read_from(Cursor::new(bytes), take);
            }
            read_from(BufReader::new(File::open(path)?), take)
        }
        SchedSource::Bytes(bytes) if bytes.starts_with(&GZIP_MAGIC) => {
            let mut plain = Vec::new();
            let decoder = flate2::read::MultiGzDecoder::new(*bytes);
            decoder.take(MAX_PACKED_BYTES).read_to_end(&mut plain)?;
            read_from(Cursor::new(plain), take)
        }
        SchedSource::Bytes(bytes) => read_from(Cursor::new(*bytes), take),
    }
}

fn read_from<R: Read + Seek + io::BufRead>(
    mut source: R,
    take: &mut dyn FnMut(SchedEvent),
) -> io::Result<SchedFacts> {
    let mut head = [0; 8];
    let got = source.read(&mut head)?;
    source.rewind()?;
    let mut number = 0u64;
    let mut counted = |event: SchedEvent| {
        number += 1;
        take(event);
    };
    let facts = if is_perf_data(head.get(..got).unwrap_or(&[])) {
        perf_data::read(source, &mut counted)?
    } else {
        text::read(source, &mut counted)?
    };
    if number == 0 {
        return Err(unusable(
            "it has no scheduler events. Record with: perf record -a -k CLOCK_MONOTONIC -e sched:sched_switch \
             -e sched:sched_waking -e 'sched:sched_process_*'",
        ));
    }
    Ok(facts)
}

/// A name in the form of the kernel: up to 15 bytes and a zero.
fn comm(name: &[u8]) -> Comm {
    let mut comm = [0; 16];
    let end = name.len().min(15);
    comm[..end].copy_from_slice(&name[..end]);
    comm
}
