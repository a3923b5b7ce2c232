//! Stacks of events: trees of frames, so that stacks with a common inner part share it.
//!
//! ```text
//! printed      write, log, main      write, log, main      write, flush, main
//! tree         write ─┬─ log ─── main
//!                     └─ flush ─ main
//! of rows      a node each: the outermost frame
//! ```
//! Tracers print the innermost frame first, so a stack grows by one node per line. A trace without stacks has empty
//! lists.

use crate::store::runtime_frames::{is_language_function, is_runtime_module, is_start, is_wrapper};
use parsers::{Interner, Text};
use rustc_hash::FxHashMap;

/// Further frames of an event are dropped. strace prints up to 256 (`--stack-trace-frame-limit`).
const MAX_DEPTH: u16 = 1024;

/// A function, and the line in it, as a tracer prints them. Missing parts are NONE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The file that is mapped there.
    pub module: Text,
    /// The function.
    pub function: Text,
    /// Source file and line.
    pub source: Text,
}

/// A known frame.
#[derive(Clone, Copy, Debug)]
struct KnownFrame {
    frame: Frame,
    origin: Origin,
}

/// What a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// A library of a runtime.
    Library,
    /// A part of a runtime that the program contains.
    Language,
    /// A wrapper of a call, unless a library has been called.
    Wrapper,
    /// The program or a library of it.
    Program,
}

/// A frame with the inner frames up to the call.
#[derive(Clone, Copy, Debug)]
struct Node {
    inner: u32,
    frame: u32,
    /// The innermost frame of the program, [`NO_FRAME`] if there is none so far.
    user: u32,
    /// The same of the runtime that the program contains: threads of Go have no other frames while they wait.
    language: u32,
    depth: u16,
    is_below_library: bool,
}

/// No frame, no stack.
const NO_FRAME: u32 = u32::MAX;

/// The stacks of a trace.
#[derive(Debug, Default)]
pub struct Stacks {
    frames: Vec<KnownFrame>,
    frame_numbers: FxHashMap<Frame, u32>,
    nodes: Vec<Node>,
    node_numbers: FxHashMap<(u32, u32), u32>,
    /// The stack of each row that has one. In order of the rows after [`Stacks::finish`].
    rows: Vec<(u32, u32)>,
}

impl Stacks {
    /// Whether no event has a stack.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Add a frame to the stack of a row. `place` is the result for the previous frame of this row, if there is one.
    pub(crate) fn add(
        &mut self,
        row: u32,
        frame: Frame,
        place: Option<u32>,
        texts: &Interner,
    ) -> u32 {
        let number = self.frame_number(frame, texts);
        if let Some((at, entry)) = place.and_then(|at| Some((at, self.rows.get(at as usize)?))) {
            let inner = entry.1;
            self.rows[at as usize].1 = self.node(inner, number);
            return at;
        }
        let node = self.node(NO_FRAME, number);
        self.rows.push((row, node));
        (self.rows.len() - 1) as u32
    }

    fn frame_number(&mut self, frame: Frame, texts: &Interner) -> u32 {
        *self.frame_numbers.entry(frame).or_insert_with(|| {
            let (module, function) = (texts.string(frame.module), texts.string(frame.function));
            let origin = match () {
                () if is_runtime_module(&module) || is_start(&function) => Origin::Library,
                () if is_language_function(&function) => Origin::Language,
                () if is_wrapper(&function) => Origin::Wrapper,
                () => Origin::Program,
            };
            self.frames.push(KnownFrame { frame, origin });
            (self.frames.len() - 1) as u32
        })
    }

    /// The node of a frame around an inner part of a stack.
    fn node(&mut self, inner: u32, frame: u32) -> u32 {
        let known = self.nodes.get(inner as usize).copied();
        if known.is_some_and(|known| known.depth >= MAX_DEPTH) {
            return inner;
        }
        *self.node_numbers.entry((inner, frame)).or_insert_with(|| {
            let origin = self.frames[frame as usize].origin;
            let inmost = Node {
                inner,
                frame,
                user: NO_FRAME,
                language: NO_FRAME,
                depth: 0,
                is_below_library: false,
            };
            let Node {
                user,
                language,
                depth,
                is_below_library,
                ..
            } = known.unwrap_or(inmost);
            let is_user =
                origin == Origin::Program || (origin == Origin::Wrapper && is_below_library);
            let first = |known: u32, is_such: bool| {
                if known == NO_FRAME && is_such {
                    frame
                } else {
                    known
                }
            };
            self.nodes.push(Node {
                inner,
                frame,
                user: first(user, is_user),
                language: first(language, origin == Origin::Language),
                depth: depth + 1,
                is_below_library: is_below_library || origin == Origin::Library,
            });
            (self.nodes.len() - 1) as u32
        })
    }

    /// Everything is read: the stacks are put in the order of their rows. A call that is printed twice keeps the last one.
    pub(crate) fn finish(&mut self) {
        if !self.rows.is_sorted_by_key(|&(row, _)| row) {
            self.rows.sort_by_key(|&(row, _)| row);
        }
        self.rows.dedup_by(|later, earlier| {
            let is_same = later.0 == earlier.0;
            if is_same {
                earlier.1 = later.1;
            }
            is_same
        });
    }

    /// The stacks that rows have, in order.
    pub fn all(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.rows.iter().map(|&(_, stack)| stack).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The number of a row's stack.
    #[inline]
    pub fn of(&self, row: u32) -> Option<u32> {
        if self.rows.is_empty() {
            return None;
        }
        self.rows
            .binary_search_by_key(&row, |&(row, _)| row)
            .ok()
            .map(|at| self.rows[at].1)
    }

    /// The innermost frame of the program in a row's stack. All parts are NONE without one.
    #[inline]
    pub fn user_frame(&self, row: u32) -> Frame {
        self.of(row)
            .map_or_else(Frame::default, |stack| self.user_frame_of(stack))
    }

    /// The same for a stack.
    pub fn user_frame_of(&self, stack: u32) -> Frame {
        let node = self.nodes.get(stack as usize);
        let user = node.map_or(NO_FRAME, |node| {
            if node.user == NO_FRAME {
                node.language
            } else {
                node.user
            }
        });
        self.frames
            .get(user as usize)
            .map_or_else(Frame::default, |known| known.frame)
    }

    /// The frames of a stack, from the outermost to the innermost.
    pub fn frames(&self, stack: u32) -> impl Iterator<Item = Frame> {
        let node = |number: u32| self.nodes.get(number as usize);
        std::iter::successors(node(stack), move |known| node(known.inner))
            .map(|node| self.frames[node.frame as usize].frame)
    }
}
