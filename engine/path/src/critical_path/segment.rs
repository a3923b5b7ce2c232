//! Segments of the critical path: their task, their kind and their wait class.

use parsers::Text;
use parsers::syscalls::Class;
use trace::store::event::NONE;
use trace::store::index::TaskId;

/// What a stretch of the path is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Inside this call.
    Call(u32),
    /// Behind this call, before the next; [`NONE`] before the first.
    Gap(u32),
    /// From the moment that ended this wait to its return.
    Resume(u32),
    /// From the end of this call (or of [`NONE`]) that created the task to its first event.
    Spawn(u32),
    /// The silence after this message of a log.
    Silence(u32),
}

impl What {
    /// The event.
    pub fn row(self) -> Option<u32> {
        match self {
            What::Gap(_) => None,
            What::Call(row) | What::Resume(row) | What::Spawn(row) | What::Silence(row) => {
                (row != NONE).then_some(row)
            }
        }
    }

    /// The event, or the one before it: a gap is stored with the call that it follows.
    pub fn event(self) -> Option<u32> {
        match self {
            What::Gap(row) => (row != NONE).then_some(row),
            what => what.row(),
        }
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            What::Call(_) => "call",
            What::Gap(_) => "gap",
            What::Resume(_) => "resume",
            What::Spawn(_) => "spawn",
            What::Silence(_) => "silence",
        }
    }
}

/// The class as people call it: time without calls is only known to be outside of them.
pub fn class_name(class: Class) -> &'static str {
    match class {
        Class::User => "outside syscalls",
        class => class.name(),
    }
}

/// What a stretch has to do with a poll loop, or with idle time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Tag {
    /// Nothing.
    #[default]
    None,
    /// Another task was polling for the result of this work.
    Polled,
    /// It was done, and nobody had looked yet.
    Lag,
    /// Nothing: a server waited for its clients, which are outside the trace.
    Idle,
}

impl Tag {
    /// All tags, by number.
    pub const ALL: [Tag; 4] = [Tag::None, Tag::Polled, Tag::Lag, Tag::Idle];

    /// The name in tables.
    pub fn name(self) -> Option<&'static str> {
        [None, Some("polled"), Some("poll-lag"), Some("idle")][self as usize]
    }
}

/// A stretch of the path, charged to one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// The task.
    pub task: TaskId,
    /// From when.
    pub start_ns: i64,
    /// To when, after `start_ns`.
    pub end_ns: i64,
    /// What it is.
    pub what: What,
    /// What the time is spent on.
    pub class: Class,
    /// Whether it is known what ended it; `false` only for waits that nothing in the trace ended.
    pub resolved: bool,
    /// Whether somebody polled for it.
    pub tag: Tag,
}

impl Segment {
    /// How long.
    pub fn dur_ns(&self) -> i64 {
        self.end_ns - self.start_ns
    }

    /// What it is, in a word.
    pub fn name(&self) -> &'static str {
        self.tag
            .name()
            .filter(|_| self.tag == Tag::Lag)
            .unwrap_or(self.what.name())
    }
}

/// The syscall and the sub-operation; of a message, its subsystem.
pub fn named(what: What, syscall: Text, op: Text) -> (Text, Text) {
    if let What::Silence(_) = what {
        (Text::NONE, syscall)
    } else {
        (syscall, op)
    }
}
