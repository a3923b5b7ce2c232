//! What pieces of the partition can be grouped and chosen by, and the choice in the numbers of a trace.

use crate::critical_path::walk::Tag;
use crate::partition::buckets::differs_within_cells;
use crate::partition::pieces::Piece;
use crate::store::trace::Trace;
use parsers::syscalls::Class;
use parsers::{NO_ID, Text};

/// What pieces can be grouped and chosen by: the columns of the partition that are no sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// Number of the capture.
    Capture,
    /// Process id.
    Pid,
    /// Thread id.
    Tid,
    /// Program at that moment.
    Program,
    /// What the time was spent on.
    Class,
    /// Name of the syscall.
    Syscall,
    /// Sub-operation.
    Op,
    /// Target as shown.
    Target,
    /// Whether something in the trace ended the wait.
    Resolved,
    /// What it has to do with a poll loop.
    Tag,
}

pub(super) const KEYS: usize = 10;

impl Key {
    /// All keys with their names.
    pub const ALL: [(&'static str, Key); KEYS] = [
        ("capture", Key::Capture),
        ("pid", Key::Pid),
        ("tid", Key::Tid),
        ("program", Key::Program),
        ("class", Key::Class),
        ("syscall", Key::Syscall),
        ("op", Key::Op),
        ("target", Key::Target),
        ("resolved", Key::Resolved),
        ("tag", Key::Tag),
    ];

    /// The key of this name.
    pub fn by_name(name: &str) -> Option<Key> {
        Key::ALL.iter().find(|(known, _)| *known == name).map(|&(_, key)| key)
    }

    /// What a task has, whatever it does.
    pub(crate) const OF_TASK: [Key; 3] = [Key::Capture, Key::Pid, Key::Tid];

    pub(crate) fn is_of_task(self) -> bool {
        matches!(self, Key::Capture | Key::Pid | Key::Tid)
    }

    fn is_text(self) -> bool {
        matches!(self, Key::Program | Key::Syscall | Key::Op | Key::Target)
    }

    /// The value of a task as a number.
    pub(crate) fn of_task(self, trace: &Trace, task: u32) -> u32 {
        let task = &trace.tasks[task as usize];
        match self {
            Key::Pid => task.pid as u32,
            Key::Tid => task.tid as u32,
            _ => task.capture,
        }
    }

    /// The value of a piece as a number.
    pub(crate) fn of(self, trace: &Trace, piece: &Piece) -> u32 {
        match self {
            Key::Capture | Key::Pid | Key::Tid => self.of_task(trace, piece.task),
            Key::Program => piece.program.0,
            Key::Class => piece.class as u32,
            Key::Syscall => piece.name(trace).0.0,
            Key::Op => piece.name(trace).1.0,
            Key::Target => piece.target.0,
            Key::Resolved => u32::from(piece.resolved),
            Key::Tag => piece.tag as u32,
        }
    }

    /// The numbers that stand for a value; none if no piece can have it.
    fn numbers(self, trace: &Trace, value: &Value) -> Vec<u32> {
        match value {
            // What could not be decoded is only known as it was shown.
            Value::Text(text) if self.is_text() && text.contains(char::REPLACEMENT_CHARACTER) => {
                let texts = &trace.events.texts;
                (0..texts.len() as u32).filter(|&number| texts.string(Text(number)) == *text).collect()
            }
            _ => self.number(trace, value).into_iter().collect(),
        }
    }

    fn number(self, trace: &Trace, value: &Value) -> Option<u32> {
        match (self, value) {
            (Key::Pid | Key::Tid, Value::None) => Some(NO_ID as u32),
            (Key::Pid | Key::Tid, Value::Int(id)) => i32::try_from(*id).ok().map(|id| id as u32),
            (Key::Capture, Value::Int(capture)) => u32::try_from(*capture).ok(),
            (Key::Class, Value::Text(name)) => {
                Class::ALL.iter().find(|class| class.name() == name).map(|&class| class as u32)
            }
            (_, Value::None) if self.is_text() => Some(Text::NONE.0),
            (_, Value::Text(text)) if self.is_text() => trace.events.texts.find(text.as_bytes()).map(|text| text.0),
            (Key::Tag, Value::None) => Some(Tag::None as u32),
            (Key::Tag, Value::Text(name)) => {
                Tag::ALL.iter().find(|tag| tag.name() == Some(name)).map(|&tag| tag as u32)
            }
            (Key::Resolved, Value::Bool(resolved)) => Some(u32::from(*resolved)),
            _ => None,
        }
    }
}

/// A value that pieces are chosen by.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Missing.
    None,
    /// Yes or no.
    Bool(bool),
    /// An id.
    Int(i64),
    /// A text.
    Text(String),
}

/// Which pieces: for each key, the values of which one must be there.
pub type Conditions = Vec<(Key, Vec<Value>)>;

/// Which pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// All of these must hold.
    pub only: Conditions,
    /// None of these may hold.
    pub without: Conditions,
}

/// A scope in the numbers of a trace.
pub(crate) struct Filter {
    pub(super) only: Vec<(Key, Vec<u32>)>,
    without: Vec<(Key, Vec<u32>)>,
}

impl Filter {
    pub(crate) fn new(trace: &Trace, scope: &Scope) -> Filter {
        let numbers = |conditions: &Conditions| {
            let number = |(key, values): &(Key, Vec<Value>)| {
                (*key, values.iter().flat_map(|value| key.numbers(trace, value)).collect())
            };
            conditions.iter().map(number).collect()
        };
        Filter { only: numbers(&scope.only), without: numbers(&scope.without) }
    }

    /// The values of a key of which one must be there, by number.
    pub(crate) fn only(&self, key: Key) -> Option<&[u32]> {
        self.only.iter().find(|(known, _)| *known == key).map(|(_, numbers)| numbers.as_slice())
    }

    /// Whether pieces are chosen by what they work on.
    pub(crate) fn asks_for_targets(&self) -> bool {
        self.only.iter().chain(&self.without).any(|&(key, _)| key == Key::Target)
    }

    /// Whether it has all pieces of a cell or none.
    pub(super) fn is_of_cells(&self) -> bool {
        !self.only.iter().chain(&self.without).any(|&(key, _)| differs_within_cells(key))
    }

    pub(super) fn may_have_task(&self, trace: &Trace, task: u32) -> bool {
        let of_task = |(key, _): &&(Key, Vec<u32>)| key.is_of_task();
        self.only.iter().filter(of_task).all(|(key, numbers)| numbers.contains(&key.of_task(trace, task)))
    }

    /// Whether it may have pieces that are like this one, but for some keys.
    pub(crate) fn may_have(&self, trace: &Trace, piece: &Piece, differs: impl Fn(Key) -> bool) -> bool {
        let holds = |(key, numbers): &&(Key, Vec<u32>)| numbers.contains(&key.of(trace, piece));
        let is_known = |(key, _): &&(Key, Vec<u32>)| !differs(*key);
        self.only.iter().filter(is_known).all(|one| holds(&one))
            && !self.without.iter().filter(is_known).any(|one| holds(&one))
    }

    pub(crate) fn has(&self, trace: &Trace, piece: &Piece) -> bool {
        let holds = |(key, numbers): &(Key, Vec<u32>)| numbers.contains(&key.of(trace, piece));
        self.only.iter().all(holds) && !self.without.iter().any(holds)
    }
}
