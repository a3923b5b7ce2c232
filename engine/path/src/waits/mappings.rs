//! Addresses in memory that processes share through a file. Each process may have mapped it at another address.
//!
//! ```text
//! 1   mmap(…, MAP_SHARED, /dev/shm/sem) = 0x7f10000      futex(0x7f10000, FUTEX_WAIT)
//! 2   mmap(…, MAP_SHARED, /dev/shm/sem) = 0x7fa0000      futex(0x7fa0000, FUTEX_WAKE)         the same place of the file
//! ```

use parsers::Text;
use parsers::facts::{Created, FilePart, SharedMapping};
use parsers::syscalls::Action;
use rustc_hash::FxHashMap;
use trace::store::index::TaskId;
use trace::store::task_relations::creators;
use trace::store::trace::Trace;

/// Maximum number of earlier names of a file that are followed.
const NAMES: usize = 4;

/// Part of a file in the memory of a process.
struct Mapping {
    begun_ns: i64,
    start: u64,
    length: u64,
    offset: u64,
    file: Text,
}

/// The shared mappings of processes.
#[derive(Default)]
pub(super) struct Mappings {
    /// By capture and process, in the order of their creation.
    of_process: FxHashMap<(u32, i32), Vec<Mapping>>,
    /// The previous name of a linked or renamed file.
    older: FxHashMap<Text, Text>,
}

/// An offset in a file.
pub(super) type MappedAddress = (Text, u64);

impl Mappings {
    pub(super) fn new(trace: &Trace) -> Mappings {
        let (events, mut mappings) = (&trace.events, Mappings::default());
        for &(row, FilePart { length, offset }) in events.facts.all::<SharedMapping>() {
            let (file, start) = (events.target(row), events.ret(row));
            let Some(task) = trace.tasks.get(events.task(row)).filter(|_| file.is_some()) else {
                continue;
            };
            let mapping = Mapping {
                begun_ns: events.start_ns(row),
                start: start as u64,
                length,
                offset,
                file,
            };
            mappings
                .of_process
                .entry((task.capture, task.pid))
                .or_default()
                .push(mapping);
        }
        if !mappings.of_process.is_empty() {
            let named = events
                .facts
                .all::<Created>()
                .iter()
                .filter(|&&(row, made)| made != events.target(row) && is_named_anew(trace, row));
            mappings.older = named
                .map(|&(row, made)| (made, events.target(row)))
                .collect();
        }
        mappings
    }

    /// The file and offset of an address that a task uses at this moment. A child inherits the mappings of its creator.
    pub(super) fn place(
        &self,
        trace: &Trace,
        task: TaskId,
        address: Text,
        at_ns: i64,
    ) -> Option<MappedAddress> {
        if self.of_process.is_empty() {
            return None;
        }
        let (address, _) = parsers::scan::value(trace.events.texts.bytes(address))?;
        let mut until_ns = at_ns;
        creators(trace, task).find_map(|task| {
            let task = trace.tasks.get(task)?;
            let known = self.of_process.get(&(task.capture, task.pid));
            let holds = |mapping: &&Mapping| {
                let inside = (address as u64).checked_sub(mapping.start);
                mapping.begun_ns <= until_ns && inside.is_some_and(|inside| inside < mapping.length)
            };
            let mapping = known.and_then(|known| known.iter().rev().find(holds));
            // Threads share all mappings, whenever they were created.
            until_ns = if task.is_thread {
                until_ns
            } else {
                until_ns.min(task.birth_ns)
            };
            let mapping = mapping?;
            Some((
                self.oldest(mapping.file),
                (address as u64 - mapping.start).saturating_add(mapping.offset),
            ))
        })
    }

    fn oldest(&self, file: Text) -> Text {
        let names = std::iter::successors(Some(file), |name| self.older.get(name).copied());
        names.take(NAMES).last().unwrap_or(file)
    }
}

fn is_named_anew(trace: &Trace, row: u32) -> bool {
    matches!(trace.events.action(row), Action::Links | Action::Renames)
}
