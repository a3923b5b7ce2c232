//! What is needed of a file before its calls are written: what became of calls that create tasks or start programs.

use crate::perf_file::calls::layout::{CallChange, CallEvent, CallLayouts};
use crate::perf_file::calls::{CallKey, creates_task, is_exec};
use crate::perf_file::line_text::CallFacts;
use crate::perf_file::{self, PerfHead};
use rustc_hash::FxHashMap;
use std::io::{self, Read, Seek};

/// What is known of calls that have not returned yet.
#[derive(Default)]
pub(super) struct Before {
    /// By call.
    pub facts: FxHashMap<CallKey, CallFacts>,
    /// The child that a call created.
    pub children: FxHashMap<CallKey, i32>,
}

/// The first reading.
struct Learning {
    layouts: CallLayouts,
    found: Before,
    /// Calls that have not returned, of the kinds that matter.
    open: FxHashMap<i32, (i64, bool)>,
    /// The call that created a task, as long as it has not returned.
    created_by: FxHashMap<i32, CallKey>,
}

/// Read a file for this.
///
/// # Errors
/// Those of reading.
pub(super) fn learn<R: Read + Seek>(source: R) -> io::Result<Before> {
    let begin = |head: &PerfHead| {
        Ok(Learning {
            layouts: CallLayouts::begin(head)?,
            found: Before::default(),
            open: FxHashMap::default(),
            created_by: FxHashMap::default(),
        })
    };
    let (learning, _) = perf_file::read(source, begin, |learning, record| {
        let event = learning.layouts.event(record);
        if let Some(event) = &event {
            learning.take(event);
        }
        event.is_some()
    })?;
    Ok(learning.found)
}

impl Learning {
    fn take(&mut self, event: &CallEvent<'_>) {
        let &CallEvent { time_ns, tid, .. } = event;
        match &event.change {
            CallChange::Enter { number, .. } => {
                let name = self.layouts.names.name(*number).unwrap_or("");
                if is_exec(name) {
                    self.waited_for(tid);
                }
                if is_exec(name) || creates_task(name) {
                    self.open.insert(tid, (time_ns, is_exec(name)));
                }
            }
            CallChange::Exit { .. } => {
                if let Some((start_ns, false)) = self.open.remove(&tid) {
                    self.created_by.retain(|_, by| *by != (tid, start_ns));
                }
            }
            CallChange::Exec(path, old) => {
                self.waited_for(tid);
                // A thread that is not the first one takes over the id of its process.
                let begun = self.open.get(old).map(|&(start_ns, _)| (*old, start_ns));
                if let Some(call) = begun {
                    self.found.facts.entry(call).or_default().program = Some(path.to_vec());
                }
            }
            CallChange::Named(name) => {
                if let Some(&(start_ns, true)) = self.open.get(&tid) {
                    let facts = self.found.facts.entry((tid, start_ns)).or_default();
                    facts.program.get_or_insert_with(|| name.to_vec());
                }
            }
            CallChange::Born(creator) => {
                if let Some(&(start_ns, false)) = self.open.get(creator) {
                    let call = (*creator, start_ns);
                    let is_thread = event.pid != tid;
                    self.found.children.insert(call, tid);
                    self.found.facts.entry(call).or_default().flags =
                        is_thread.then_some("CLONE_VM|CLONE_FILES|CLONE_THREAD");
                    self.created_by.insert(tid, call);
                }
            }
            CallChange::Ended => self.waited_for(tid),
            CallChange::Delivered(..) | CallChange::Sent(..) | CallChange::Lost(_) => (),
        }
    }

    /// A task is about to start a program, or ended. If the call that created it has not returned, that waits for this: a
    /// fork returns long before.
    fn waited_for(&mut self, tid: i32) {
        if let Some(call) = self.created_by.remove(&tid) {
            let flags = &mut self.found.facts.entry(call).or_default().flags;
            flags.get_or_insert("CLONE_VM|CLONE_VFORK");
        }
    }
}
