//! Scheduler events beside a capture: their clock, and the life of each traced thread.

mod clock;
mod lives;

use crate::ingest::scheduling::clock::aligned;
use crate::ingest::scheduling::lives::Lives;
use crate::store::scheduling::Scheduling;
use crate::store::trace::Trace;
use parsers::sched::{self, SchedSource};
use std::io;

/// Read scheduler events, and add them to the first capture whose tasks they contain.
///
/// # Errors
/// The source cannot be read, has no such events, or contains no task of the captures.
pub fn add_scheduling(trace: &mut Trace, source: &SchedSource<'_>) -> io::Result<()> {
    let mut events = Vec::new();
    let facts = sched::read(source, &mut |event| events.push(event))?;
    // Each processor has a buffer of its own.
    events.sort_by_key(|event| event.time_ns);
    let captures = 0..trace.captures.len() as u32;
    let found = captures
        .filter(|&capture| trace.scheduling(capture).is_none())
        .find_map(|capture| Some((capture, aligned(trace, capture, &events, &facts)?)));
    let Some((capture, alignment)) = found else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "no start or end of a task of the capture is among these scheduler events. They may be of another run, or \
             the capture was made in a container: record both outside of it, at the same time",
        ));
    };
    let mut lives = Lives::new(trace, capture, alignment);
    events.iter().for_each(|event| lives.take(event));
    let scheduling: Scheduling = lives.finish();
    trace.set_scheduling(capture, scheduling);
    Ok(())
}
