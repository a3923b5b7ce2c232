//! Which lookups belong to the search for one name, told by each one and those before it.

use crate::table_support::context::View;
use crate::table_support::shape_index::{Call, Kinds};
use crate::tables::paths::{Answer, is_above, parts, stem};
use parsers::Text;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// What a lookup is to the search before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// It is none, and ends the search.
    None,
    /// Looks whether a directory of the search is there.
    Directory,
    /// The name is missing: a search begins.
    Begins,
    /// The same name once more.
    GoesOn,
}

/// The search that a task is in.
#[derive(Default)]
pub(super) struct Search<'a> {
    is_open: bool,
    program: Text,
    stem: &'a [u8],
    found_in: Option<&'a [u8]>,
    last: &'a [u8],
}

impl<'a> Search<'a> {
    /// Take in the next lookup; `path` is what it looks up.
    pub(super) fn step(&mut self, call: &Call<Answer>, path: impl FnOnce() -> &'a [u8]) -> Part {
        let is_missing = call.kind == Answer::Missing;
        if !self.is_open && !is_missing {
            return Part::None;
        }
        let path = path();
        // To look whether the directory is there at all is part of the search in it.
        if self.is_open && is_above(path, self.last) {
            return Part::Directory;
        }
        let (directory, name) = parts(path);
        let goes_on = self.is_open
            && self.stem == stem(name)
            && self.program == call.program
            && self.found_in.is_none_or(|found_in| found_in == directory);
        if !goes_on {
            let (program, stem) = (call.program, stem(name));
            *self = Search { is_open: is_missing, program, stem, found_in: None, last: path };
            return if is_missing { Part::Begins } else { Part::None };
        }
        if call.kind == Answer::Found {
            self.found_in = Some(directory);
        }
        self.last = path;
        Part::GoesOn
    }
}

/// Whether searches reach the floor of who asks, with all of their program or of their capture.
///
/// To add them up costs little beside telling them apart by names and directories, and mostly they have next to nothing.
pub(super) fn reach_floor(view: &View<'_>, kinds: &Kinds<Answer>) -> bool {
    let Some(floor) = view.floor else { return true };
    let tasks: Vec<u32> = view.tasks().collect();
    let times: Vec<_> = tasks.par_iter().flat_map_iter(|&task| times(view, kinds, task)).collect();
    floor.reaching(&times).contains(&true)
}

/// Time of the searches of a task, by capture and program.
fn times(view: &View<'_>, kinds: &Kinds<Answer>, task: u32) -> Vec<(u32, Text, i64)> {
    let (events, capture) = (&view.trace.events, view.trace.tasks[task as usize].capture);
    let (mut search, mut sums) = (Search::default(), FxHashMap::default());
    for call in kinds.by_program(view, task) {
        let target = events.target(call.row);
        if target == Text::NONE {
            continue;
        }
        let part = search.step(&call, || events.texts.bytes(target));
        if part == Part::Directory || (part != Part::None && call.kind == Answer::Missing) {
            *sums.entry(search.program).or_insert(0) += view.exclusive_ns(call.row);
        }
    }
    sums.into_iter().map(|(program, ns)| (capture, program, ns)).collect()
}
