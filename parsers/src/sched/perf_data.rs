//! perf.data: the file that `perf record` writes.
//!
//! In:   samples with the data of kernel events, and the layout of these
//! Out:  scheduler events, and how its clock relates to the time since 1970

use crate::sched::kernel_layout::KernelLayouts;
use crate::sched::{Context, SchedChange, SchedEvent, SchedFacts, perf_sizes, unusable};
use linux_perf_data::linux_perf_event_reader::{EventRecord, RecordType};
use linux_perf_data::{Error, Feature, PerfFile, PerfFileReader, PerfFileRecord};
use std::cell::Cell;
use std::io::{self, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// Read a file.
///
/// # Errors
/// The file is cut before its first event, or was written with an option that hides the events.
pub(super) fn read<R: Read + Seek>(
    mut source: R,
    take: &mut dyn FnMut(SchedEvent),
) -> io::Result<SchedFacts> {
    perf_sizes::check(&mut source)?;
    // The crate indexes slices with lengths of the file: damaged ones panic.
    caught(|| read_file(source, take)).unwrap_or_else(|| Err(perf_sizes::damaged()))
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

fn read_file<R: Read + Seek>(
    source: R,
    take: &mut dyn FnMut(SchedEvent),
) -> io::Result<SchedFacts> {
    let PerfFileReader {
        mut perf_file,
        mut record_iter,
    } = PerfFileReader::parse_file(source).map_err(refused)?;
    let described = perf_file.feature_section_data(Feature::TRACING_DATA);
    let layouts = KernelLayouts::new(described.unwrap_or(&[]), perf_file.endian());
    if layouts.is_empty() {
        return Err(unusable(
            "this perf.data has no scheduler events. Record with: -e sched:sched_switch -e sched:sched_waking",
        ));
    }
    let mut facts = SchedFacts {
        epoch_offset_ns: epoch_offset_ns(&perf_file),
        unused: 0,
    };
    loop {
        match record_iter.next_record(&mut perf_file) {
            Ok(Some(PerfFileRecord::EventRecord { record, .. })) => {
                let is_sample = record.record_type == RecordType::SAMPLE;
                let cpu = record.common_data().ok().and_then(|common| common.cpu);
                let parsed = record.parse().ok();
                match parsed.and_then(|parsed| event(&layouts, &parsed, record.timestamp(), cpu)) {
                    Some(event) => take(event),
                    None => facts.unused += u64::from(is_sample),
                }
            }
            Ok(Some(PerfFileRecord::UserRecord(_))) => (),
            Ok(None) => return Ok(facts),
            // What comes before a cut is complete.
            Err(_) => {
                facts.unused += 1;
                return Ok(facts);
            }
        }
    }
}

fn event(
    layouts: &KernelLayouts,
    record: &EventRecord<'_>,
    stamp_ns: Option<u64>,
    cpu: Option<u32>,
) -> Option<SchedEvent> {
    let time_ns = i64::try_from(stamp_ns?).ok()?;
    match record {
        EventRecord::Sample(sample) => {
            let raw = sample.raw?.as_slice();
            let (change, context) = layouts.change(&raw)?;
            Some(SchedEvent {
                time_ns,
                cpu: cpu?,
                tid: sample.tid?,
                context,
                change,
            })
        }
        EventRecord::Lost(lost) => Some(SchedEvent {
            time_ns,
            cpu: cpu?,
            tid: 0,
            context: Context::Unknown,
            change: SchedChange::Lost(lost.count),
        }),
        _ => None,
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
