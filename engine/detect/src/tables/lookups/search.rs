//! Recognises the lookups that belong to the search for one name.

use kit::table_support::context::TableContext;
use kit::table_support::paths::{Answer, is_above, parts, stem};
use kit::table_support::shape_index::{ClassifiedCall, ShapeIndex};
use parsers::Text;
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::index::TaskId;

/// The role of a lookup in the current search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PathPart {
    /// It does not belong to a search, and ends the current one.
    None,
    /// It checks whether a directory of the search exists.
    Directory,
    /// It misses, and starts a search.
    Begins,
    /// It looks up the same name again.
    GoesOn,
}

/// The current search of a task.
#[derive(Default)]
pub(super) struct DirectorySearch<'a> {
    is_open: bool,
    program: Text,
    stem: &'a [u8],
    found_in: Option<&'a [u8]>,
    last: &'a [u8],
}

impl<'a> DirectorySearch<'a> {
    /// Processes the next lookup. `path` returns the path that it looks up.
    pub(super) fn step(
        &mut self,
        call: &ClassifiedCall<Answer>,
        path: impl FnOnce() -> &'a [u8],
    ) -> PathPart {
        let is_missing = call.kind == Answer::Missing;
        if !self.is_open && !is_missing {
            return PathPart::None;
        }
        let path = path();
        // Checking whether a directory exists is part of the search in that directory.
        if self.is_open && is_above(path, self.last) {
            return PathPart::Directory;
        }
        let (directory, name) = parts(path);
        let goes_on = self.is_open
            && self.stem == stem(name)
            && self.program == call.program
            && self.found_in.is_none_or(|found_in| found_in == directory);
        if !goes_on {
            let (program, stem) = (call.program, stem(name));
            *self = DirectorySearch {
                is_open: is_missing,
                program,
                stem,
                found_in: None,
                last: path,
            };
            return if is_missing {
                PathPart::Begins
            } else {
                PathPart::None
            };
        }
        if call.kind == Answer::Found {
            self.found_in = Some(directory);
        }
        self.last = path;
        PathPart::GoesOn
    }
}

/// Whether searches may reach the caller's threshold, summed over their program or their capture.
///
/// This sum is much cheaper than the analysis of names and directories, and usually the searches are far below the
/// threshold.
pub(super) fn reach_threshold(context: &TableContext<'_>, kinds: &ShapeIndex<Answer>) -> bool {
    let Some(threshold) = context.threshold else {
        return true;
    };
    let tasks: Vec<TaskId> = context.tasks().collect();
    let times: Vec<_> = parallel::flat_map(&tasks, |&task| times(context, kinds, task));
    threshold.reaching(&times).contains(&true)
}

/// Time of the searches of a task by capture and program.
fn times(
    context: &TableContext<'_>,
    kinds: &ShapeIndex<Answer>,
    task: TaskId,
) -> Vec<(u32, Text, i64)> {
    let (events, capture) = (&context.trace.events, context.trace.tasks[task].capture);
    let (mut search, mut sums) = (DirectorySearch::default(), FxHashMap::default());
    for call in kinds.by_program(context, task) {
        let target = events.target(call.row);
        if target == Text::NONE {
            continue;
        }
        let part = search.step(&call, || events.texts.bytes(target));
        if part == PathPart::Directory || (part != PathPart::None && call.kind == Answer::Missing) {
            *sums.entry(search.program).or_insert(0) += context.exclusive_ns(call.row);
        }
    }
    sums.into_iter()
        .map(|(program, ns)| (capture, program, ns))
        .collect()
}
