//! perf.data: the file that `perf record` writes.
//!
//! In:   the bytes of a file
//! Out:  its records, the layout of kernel events, and what is known of its clock and machine
//!
//! Nothing in it is trusted: sizes are checked before memory is requested, and a damaged file is an error.

mod call_names;
mod calls;
mod fields;
mod line_text;
mod sizes;

pub use calls::{CallChoice, RunningCall, WrittenCalls, write_calls};
pub(crate) use calls::{FIRST_LINE, LOST_LINE};
pub(crate) use fields::{Described, FieldPlace, described_events, event_type};

use linux_perf_data::linux_perf_event_reader::{EventRecord, RecordType};
use linux_perf_data::{Endianness, Error, Feature, PerfFile, PerfFileReader, PerfFileRecord};
use std::cell::Cell;
use std::io::{self, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// The first bytes of a file, of either byte order.
const MAGIC: [&[u8]; 2] = [b"PERFILE2", b"2ELIFREP"];

/// Whether a file has an event of the kernel with this name.
///
/// # Errors
/// Those of reading.
pub fn has_event<R: Read + Seek>(mut source: R, name: &str) -> io::Result<bool> {
    sizes::check(&mut source)?;
    let read = || PerfFileReader::parse_file(source).map_err(refused);
    let PerfFileReader { perf_file, .. } = caught(read).unwrap_or_else(|| Err(sizes::damaged()))?;
    let mut is_there = false;
    described_events(&head(&perf_file).described, |described| {
        is_there |= described.name == name;
    });
    Ok(is_there)
}

/// Whether a file that begins like this is perf.data.
pub fn is_perf_data(head: &[u8]) -> bool {
    MAGIC.iter().any(|magic| head.starts_with(magic))
}

/// What precedes the records.
pub(crate) struct PerfHead {
    /// The descriptions of kernel events.
    pub described: Vec<u8>,
    /// The order of bytes.
    pub is_big_endian: bool,
    /// The machine, as `uname -m` names it; empty if the file does not contain it.
    pub machine: String,
    /// What has to be added to times for the time since 1970, in ns, if the file contains that.
    pub epoch_offset_ns: Option<i64>,
}

/// A record.
pub(crate) struct PerfRecord<'a> {
    /// Its content; `None` if it could not be read.
    pub event: Option<EventRecord<'a>>,
    /// When, on the clock of the recording.
    pub time_ns: Option<i64>,
    /// The processor.
    pub cpu: Option<u32>,
}

/// Read a file: `begin` gets what precedes its records, and each record goes to `take`, which returns whether it could use
/// it. Returns the number of events that could not be used.
///
/// # Errors
/// Those of `begin`; the file is damaged before its first record.
pub(crate) fn read<R: Read + Seek, State>(
    mut source: R,
    begin: impl FnOnce(&PerfHead) -> io::Result<State>,
    mut take: impl FnMut(&mut State, &PerfRecord<'_>) -> bool,
) -> io::Result<(State, u64)> {
    sizes::check(&mut source)?;
    // The crate indexes slices with lengths of the file: damaged ones panic.
    caught(|| read_file(source, begin, &mut take)).unwrap_or_else(|| Err(sizes::damaged()))
}

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// The value of a function; `None` if it panics, which then prints nothing.
fn caught<Value>(action: impl FnOnce() -> Value) -> Option<Value> {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_CAUGHT.get() {
                usual(panic);
            }
        }));
    });
    IS_CAUGHT.set(true);
    let value = catch_unwind(AssertUnwindSafe(action)).ok();
    IS_CAUGHT.set(false);
    value
}

fn read_file<R: Read + Seek, State>(
    source: R,
    begin: impl FnOnce(&PerfHead) -> io::Result<State>,
    take: &mut dyn FnMut(&mut State, &PerfRecord<'_>) -> bool,
) -> io::Result<(State, u64)> {
    let PerfFileReader {
        mut perf_file,
        mut record_iter,
    } = PerfFileReader::parse_file(source).map_err(refused)?;
    let mut state = begin(&head(&perf_file))?;
    let mut unused = 0;
    loop {
        match record_iter.next_record(&mut perf_file) {
            Ok(Some(PerfFileRecord::EventRecord { record, .. })) => {
                let time_ns = record.timestamp();
                let is_sample = record.record_type == RecordType::SAMPLE;
                let found = PerfRecord {
                    time_ns: time_ns.and_then(|ns| i64::try_from(ns).ok()),
                    cpu: record.common_data().ok().and_then(|common| common.cpu),
                    event: record.parse().ok(),
                };
                let is_used = take(&mut state, &found);
                unused += u64::from(is_sample && !is_used);
            }
            Ok(Some(PerfFileRecord::UserRecord(_))) => (),
            Ok(None) => return Ok((state, unused)),
            // What comes before a cut is complete.
            Err(_) => return Ok((state, unused + 1)),
        }
    }
}

fn head(file: &PerfFile) -> PerfHead {
    let described = file.feature_section_data(Feature::TRACING_DATA);
    PerfHead {
        described: described.unwrap_or(&[]).to_vec(),
        is_big_endian: file.endian() == Endianness::BigEndian,
        machine: file.arch().ok().flatten().unwrap_or("").to_owned(),
        epoch_offset_ns: epoch_offset_ns(file),
    }
}

/// `perf record -k` stores one moment on both clocks.
fn epoch_offset_ns(file: &PerfFile) -> Option<i64> {
    let clock = file.clock_data().ok()??;
    let wall_ns = i64::try_from(clock.wall_clock_ns).ok()?;
    wall_ns.checked_sub(i64::try_from(clock.clockid_time_ns).ok()?)
}

fn refused(error: Error) -> io::Error {
    match error {
        Error::IoError(error) => error,
        error => unusable(&format!("this perf.data cannot be read: {error}.")),
    }
}

/// The error for content that cannot be used, with a sentence.
pub(crate) fn unusable(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
