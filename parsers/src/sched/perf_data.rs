//! Scheduler events of perf.data.
//!
//! In:   samples with the data of kernel events, and the layout of these
//! Out:  scheduler events, and how its clock relates to the time since 1970

use crate::perf_file::{self, PerfHead, PerfRecord};
use crate::sched::kernel_layout::KernelLayouts;
use crate::sched::{Context, SchedChange, SchedEvent, SchedFacts, unusable};
use linux_perf_data::linux_perf_event_reader::EventRecord;
use std::io::{self, Read, Seek};

/// Read a file.
///
/// # Errors
/// The file is cut before its first event, or was written with an option that hides the events.
pub(super) fn read<R: Read + Seek>(
    source: R,
    take: &mut dyn FnMut(SchedEvent),
) -> io::Result<SchedFacts> {
    let (found, unused) = perf_file::read(source, Reading::begin, |reading, record| {
        let event = reading.event(record);
        event.map(&mut *take).is_some()
    })?;
    Ok(SchedFacts {
        epoch_offset_ns: found.epoch_offset_ns,
        unused,
    })
}

struct Reading {
    layouts: KernelLayouts,
    epoch_offset_ns: Option<i64>,
}

impl Reading {
    fn begin(head: &PerfHead) -> io::Result<Reading> {
        let layouts = KernelLayouts::new(&head.described, head.is_big_endian);
        if layouts.is_empty() {
            return Err(unusable(
                "this perf.data has no scheduler events. Record with: -e sched:sched_switch -e sched:sched_waking",
            ));
        }
        Ok(Reading {
            layouts,
            epoch_offset_ns: head.epoch_offset_ns,
        })
    }

    fn event(&self, record: &PerfRecord<'_>) -> Option<SchedEvent> {
        let time_ns = record.time_ns?;
        match record.event.as_ref()? {
            EventRecord::Sample(sample) => {
                let raw = sample.raw?.as_slice();
                let (change, context) = self.layouts.change(&raw)?;
                Some(SchedEvent {
                    time_ns,
                    cpu: record.cpu?,
                    tid: sample.tid?,
                    context,
                    change,
                })
            }
            EventRecord::Lost(lost) => Some(SchedEvent {
                time_ns,
                cpu: record.cpu?,
                tid: 0,
                context: Context::Unknown,
                change: SchedChange::Lost(lost.count),
            }),
            _ => None,
        }
    }
}
