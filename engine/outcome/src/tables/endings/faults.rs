//! Faults: the signals that report an error of a process's own code, and what made an address unusable.
//!
//! ```text
//! munmap(0x7f20000, 8192) = 0 | … | --- SIGSEGV {si_addr=0x7f20010} ---      used after it was unmapped
//! ```

use super::{EndedProcess, lines_of};
use kit::table_support::context::TableContext;
use parsers::facts::{FaultAddress, RefusedCall, RefusedPromise};
use parsers::{Outcome, Text};
use std::ops::Range;
use trace::store::event::EventKind;

/// Events of a task, from its end, in which faults are looked for.
const MAX_EVENTS: usize = 256;
/// Calls that remove mappings before a fault, of each task, that are read again.
const MAX_UNMAPPINGS: usize = 256;
const PAGE_BYTES: u64 = 4096;

/// Events of a task, before such a fault, in which the same one is looked for: handlers report it, and then raise it again.
const MAX_EVENTS_OF_HANDLER: usize = 4096;

/// The delivery of the signal that killed the process; any of its threads may have received it. A handler that raises the
/// signal again does so without an address, so that the delivery before it says more.
pub(super) fn fault_row(
    context: &TableContext<'_>,
    process: &EndedProcess,
    signal: Text,
) -> Option<u32> {
    let events = &context.trace.events;
    let is_fault =
        |row: &u32| events.kind(*row) == EventKind::Signal && events.shape(*row).syscall == signal;
    if !signal.is_some() {
        return None;
    }
    last_event(context, process, |row| {
        is_fault(row) && events.facts.has::<FaultAddress>(*row)
    })
    .or_else(|| last_event(context, process, is_fault))
}

/// The last delivery of a signal that reports a fault of the process's own code. A signal that another process sent has no
/// such fact but for its code.
pub(super) fn last_fault_row(context: &TableContext<'_>, process: &EndedProcess) -> Option<u32> {
    let events = &context.trace.events;
    last_event(context, process, |&row| {
        events.kind(row) == EventKind::Signal
            && (events.facts.has::<FaultAddress>(row) || events.facts.has::<RefusedCall>(row))
    })
}

/// The names of the calls that a filter refused among the last events, each with its number; `None` without one.
pub(super) fn refused_calls(context: &TableContext<'_>, process: &EndedProcess) -> Option<String> {
    let events = &context.trace.events;
    let mut counts: Vec<(Text, u32)> = Vec::new();
    for &task in &process.tasks {
        let rows = context.trace.rows_of(task).iter().rev().take(MAX_EVENTS);
        for &call in rows.filter_map(|&row| events.facts.get::<RefusedCall>(row)) {
            match counts.iter_mut().find(|(known, _)| *known == call) {
                Some((_, count)) => *count += 1,
                None => counts.push((call, 1)),
            }
        }
    }
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let named = counts.iter().map(|&(call, count)| {
        let times = if count == 1 { "time" } else { "times" };
        format!("{} {count} {times}", events.texts.string(call))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| named.join(", "))
}

/// The last call that was refused because the process had not made the promise that it needs.
pub(super) fn unpledged_row(context: &TableContext<'_>, process: &EndedProcess) -> Option<u32> {
    let facts = &context.trace.events.facts;
    last_event(context, process, |&row| facts.has::<RefusedPromise>(row))
}

/// The last of the latest events of all tasks of a process that is one of these.
fn last_event(
    context: &TableContext<'_>,
    process: &EndedProcess,
    is_meant: impl Fn(&u32) -> bool,
) -> Option<u32> {
    let tasks = process.tasks.iter();
    tasks
        .filter_map(|&task| {
            let rows = context.trace.rows_of(task).iter().rev();
            rows.take(MAX_EVENTS).copied().find(&is_meant)
        })
        .max()
}

/// The first of the deliveries with the same signal and address as this one.
pub(super) fn first_delivery(context: &TableContext<'_>, fault: u32) -> u32 {
    let events = &context.trace.events;
    let Some(address) = events.facts.get::<FaultAddress>(fault) else {
        return fault;
    };
    let is_same = |row: &u32| {
        events.kind(*row) == EventKind::Signal
            && events.shape(*row).syscall == events.shape(fault).syscall
            && events.facts.get::<FaultAddress>(*row) == Some(address)
    };
    let rows = context.trace.rows_of(events.task(fault)).iter().rev();
    let mut latest = rows.copied().take(MAX_EVENTS_OF_HANDLER);
    latest.rfind(is_same).unwrap_or(fault)
}

/// The number of deliveries of the same signal with the same address among the last events of the task.
pub(super) fn same_faults(context: &TableContext<'_>, fault: u32) -> i64 {
    let events = &context.trace.events;
    let of = |row: u32| {
        let address = events.facts.get::<FaultAddress>(row).copied();
        (events.kind(row), events.shape(row).syscall, address)
    };
    let rows = context.trace.rows_of(events.task(fault)).iter().rev();
    rows.take(MAX_EVENTS)
        .filter(|&&row| of(row) == of(fault))
        .count() as i64
}

/// The number of events of the task after one of its last.
pub(super) fn events_after(context: &TableContext<'_>, row: u32) -> i64 {
    let rows = context.trace.rows_of(context.trace.events.task(row));
    rows.iter()
        .rev()
        .take_while(|&&other| other != row)
        .take(MAX_EVENTS)
        .count() as i64
}

/// The call that removed the mapping of a fault's address, if it is the last one about this address before the fault.
pub(super) fn unmapping(
    context: &TableContext<'_>,
    process: &EndedProcess,
    fault: u32,
) -> Option<u32> {
    let events = &context.trace.events;
    let address = *events.facts.get::<FaultAddress>(fault)?;
    let removes = |row: &u32| {
        let name = events.texts.bytes(events.shape(*row).syscall);
        *row < fault && matches!(name, b"munmap" | b"mremap") && events.outcome(*row) == Outcome::Ok
    };
    let mut rows: Vec<u32> = Vec::new();
    for &task in &process.tasks {
        let calls = context.calls_of(task).rev().filter(removes);
        rows.extend(calls.take(MAX_UNMAPPINGS));
    }
    rows.sort_unstable();
    let lines = lines_of(context, &rows);
    let pairs = rows.iter().zip(&lines).rev();
    pairs
        .filter_map(|(&row, line)| removed_range(line).map(|range| (row, range)))
        .find(|(_, range)| is_in(address, *range))
        .map(|(row, _)| row)
        .filter(|&row| !is_mapped_again(context, process, address, row..fault))
}

fn is_in(address: u64, (start, length): (u64, u64)) -> bool {
    address.checked_sub(start).is_some_and(|at| at < length)
}

/// Whether a call between these events maps an address.
fn is_mapped_again(
    context: &TableContext<'_>,
    process: &EndedProcess,
    address: u64,
    between: Range<u32>,
) -> bool {
    let events = &context.trace.events;
    let maps = |row: &u32| {
        let name = events.texts.bytes(events.shape(*row).syscall);
        // An address below that of the mapping is not in it.
        let is_below = || u64::try_from(events.ret(*row)).is_ok_and(|start| start <= address);
        between.contains(row)
            && matches!(name, b"mmap" | b"mmap2" | b"mmap64")
            && events.outcome(*row) == Outcome::Ok
            && is_below()
    };
    let mut rows: Vec<u32> = Vec::new();
    for &task in &process.tasks {
        rows.extend(
            context
                .calls_of(task)
                .rev()
                .filter(maps)
                .take(MAX_UNMAPPINGS),
        );
    }
    let lines = lines_of(context, &rows);
    rows.iter().zip(&lines).any(|(&row, line)| {
        let start = u64::try_from(events.ret(row)).ok();
        let range = start.zip(mapped_length(line));
        range.is_some_and(|range| is_in(address, range))
    })
}

/// The length in bytes of what an mmap maps.
pub fn mapped_length(line: &str) -> Option<u64> {
    let (_, call) = line.split_once("mmap")?;
    let (_, args) = call.split_once('(')?;
    number(args.split(',').nth(1)?.trim())?.checked_next_multiple_of(PAGE_BYTES)
}

/// The first address and the length in bytes of what a munmap or mremap removes.
fn removed_range(line: &str) -> Option<(u64, u64)> {
    let (_, args) = line
        .split_once("munmap(")
        .or_else(|| line.split_once("mremap("))?;
    let mut numbers = args.split(|char: char| !char.is_ascii_alphanumeric());
    let mut next = || numbers.find(|word| !word.is_empty()).and_then(number);
    let (start, length) = (next()?, next()?);
    Some((start, length.checked_next_multiple_of(PAGE_BYTES)?))
}

fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{mapped_length, removed_range};

    #[test]
    fn mappings_are_whole_pages() {
        let cases = [
            (
                "mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0) = 0x7f2000",
                Some(4096),
            ),
            (
                "9 mmap2(0x7f2000, 0x1001, PROT_READ, …) = 0x7f2000",
                Some(8192),
            ),
            ("munmap(0x7f2000, 8192) = 0", None),
            ("mmap(NULL", None),
        ];
        for (line, expected) in cases {
            assert_eq!(mapped_length(line), expected, "{line}");
        }
    }

    #[test]
    fn removed_ranges_are_whole_pages() {
        let cases = [
            ("7 munmap(0x7f2000, 8192) = 0", Some((0x007f_2000, 8192))),
            (
                "munmap(0x7f2000, 32 <unfinished ...>",
                Some((0x007f_2000, 4096)),
            ),
            (
                "munmap(0x7f2000, 0x1800)\t\t = 0 0",
                Some((0x007f_2000, 8192)),
            ),
            (
                "mremap(0x7f2000, 4096, 8192, MREMAP_MAYMOVE) = 0x7f9000",
                Some((0x007f_2000, 4096)),
            ),
            ("munmap(NULL, 4096) = 0", None),
            ("munmap(0x7f2000, 18446744073709551615) = 0", None),
            ("close(3) = 0", None),
        ];
        for (line, range) in cases {
            assert_eq!(removed_range(line), range, "{line}");
        }
    }
}
