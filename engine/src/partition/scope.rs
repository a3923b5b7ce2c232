//! What pieces of the partition can be grouped and chosen by, and the choice in the numbers of a trace.

use crate::critical_path::segment::Tag;
use crate::partition::piece::Piece;
use crate::store::trace::Trace;
use parsers::syscalls::Class;
use parsers::{NO_ID, Text};

/// What pieces can be grouped and chosen by: the columns of the partition that are no sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupKey {
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

impl GroupKey {
    /// All keys with their names.
    pub const ALL: [(&'static str, GroupKey); KEYS] = [
        ("capture", GroupKey::Capture),
        ("pid", GroupKey::Pid),
        ("tid", GroupKey::Tid),
        ("program", GroupKey::Program),
        ("class", GroupKey::Class),
        ("syscall", GroupKey::Syscall),
        ("op", GroupKey::Op),
        ("target", GroupKey::Target),
        ("resolved", GroupKey::Resolved),
        ("tag", GroupKey::Tag),
    ];

    /// The key of this name.
    pub fn by_name(name: &str) -> Option<GroupKey> {
        GroupKey::ALL.iter().find(|(known, _)| *known == name).map(|&(_, key)| key)
    }

    /// What a task has, whatever it does.
    pub(crate) const OF_TASK: [GroupKey; 3] = [GroupKey::Capture, GroupKey::Pid, GroupKey::Tid];

    pub(crate) fn is_of_task(self) -> bool {
        matches!(self, GroupKey::Capture | GroupKey::Pid | GroupKey::Tid)
    }

    fn is_text(self) -> bool {
        matches!(self, GroupKey::Program | GroupKey::Syscall | GroupKey::Op | GroupKey::Target)
    }

    /// The value of a task as a number.
    pub(crate) fn of_task(self, trace: &Trace, task: u32) -> u32 {
        let task = &trace.tasks[task as usize];
        match self {
            GroupKey::Pid => task.pid as u32,
            GroupKey::Tid => task.tid as u32,
            _ => task.capture,
        }
    }

    /// The value of a piece as a number.
    pub(crate) fn of(self, trace: &Trace, piece: &Piece) -> u32 {
        match self {
            GroupKey::Capture | GroupKey::Pid | GroupKey::Tid => self.of_task(trace, piece.task),
            GroupKey::Program => piece.program.0,
            GroupKey::Class => piece.class as u32,
            GroupKey::Syscall => piece.name(trace).0.0,
            GroupKey::Op => piece.name(trace).1.0,
            GroupKey::Target => piece.target.0,
            GroupKey::Resolved => u32::from(piece.resolved),
            GroupKey::Tag => piece.tag as u32,
        }
    }

    /// The numbers that stand for a value; none if no piece can have it.
    fn numbers(self, trace: &Trace, value: &KeyValue) -> Vec<u32> {
        match value {
            // What could not be decoded is only known as it was shown.
            KeyValue::Text(text) if self.is_text() && text.contains(char::REPLACEMENT_CHARACTER) => {
                let texts = &trace.events.texts;
                (0..texts.len() as u32).filter(|&number| texts.string(Text(number)) == *text).collect()
            }
            _ => self.number(trace, value).into_iter().collect(),
        }
    }

    fn number(self, trace: &Trace, value: &KeyValue) -> Option<u32> {
        match (self, value) {
            (GroupKey::Pid | GroupKey::Tid, KeyValue::None) => Some(NO_ID as u32),
            (GroupKey::Pid | GroupKey::Tid, KeyValue::Int(id)) => i32::try_from(*id).ok().map(|id| id as u32),
            (GroupKey::Capture, KeyValue::Int(capture)) => u32::try_from(*capture).ok(),
            (GroupKey::Class, KeyValue::Text(name)) => {
                Class::ALL.iter().find(|class| class.name() == name).map(|&class| class as u32)
            }
            (_, KeyValue::None) if self.is_text() => Some(Text::NONE.0),
            (_, KeyValue::Text(text)) if self.is_text() => trace.events.texts.find(text.as_bytes()).map(|text| text.0),
            (GroupKey::Tag, KeyValue::None) => Some(Tag::None as u32),
            (GroupKey::Tag, KeyValue::Text(name)) => {
                Tag::ALL.iter().find(|tag| tag.name() == Some(name)).map(|&tag| tag as u32)
            }
            (GroupKey::Resolved, KeyValue::Bool(resolved)) => Some(u32::from(*resolved)),
            _ => None,
        }
    }
}

/// A value that pieces are chosen by.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyValue {
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
pub type Conditions = Vec<(GroupKey, Vec<KeyValue>)>;

/// Which pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// All of these must hold.
    pub only: Conditions,
    /// None of these may hold.
    pub without: Conditions,
}

/// A scope in the numbers of a trace.
pub(crate) struct ScopeFilter {
    pub(super) only: Vec<(GroupKey, Vec<u32>)>,
    without: Vec<(GroupKey, Vec<u32>)>,
}

impl ScopeFilter {
    pub(crate) fn new(trace: &Trace, scope: &Scope) -> ScopeFilter {
        let numbers = |conditions: &Conditions| {
            let number = |(key, values): &(GroupKey, Vec<KeyValue>)| {
                (*key, values.iter().flat_map(|value| key.numbers(trace, value)).collect())
            };
            conditions.iter().map(number).collect()
        };
        ScopeFilter { only: numbers(&scope.only), without: numbers(&scope.without) }
    }

    /// The values of a key of which one must be there, by number.
    pub(crate) fn only(&self, key: GroupKey) -> Option<&[u32]> {
        self.only.iter().find(|(known, _)| *known == key).map(|(_, numbers)| numbers.as_slice())
    }

    /// Whether pieces are chosen by what they work on.
    pub(crate) fn asks_for_targets(&self) -> bool {
        self.only.iter().chain(&self.without).any(|&(key, _)| key == GroupKey::Target)
    }

    /// Whether it has all pieces of a cell or none.
    pub(super) fn is_of_cells(&self) -> bool {
        !self.only.iter().chain(&self.without).any(|&(key, _)| differs_within_bucket(key))
    }

    pub(super) fn may_have_task(&self, trace: &Trace, task: u32) -> bool {
        let of_task = |(key, _): &&(GroupKey, Vec<u32>)| key.is_of_task();
        self.only.iter().filter(of_task).all(|(key, numbers)| numbers.contains(&key.of_task(trace, task)))
    }

    /// Whether it may have pieces that are like this one, but for some keys.
    pub(crate) fn may_have(&self, trace: &Trace, piece: &Piece, differs: impl Fn(GroupKey) -> bool) -> bool {
        let holds = |(key, numbers): &&(GroupKey, Vec<u32>)| numbers.contains(&key.of(trace, piece));
        let is_known = |(key, _): &&(GroupKey, Vec<u32>)| !differs(*key);
        self.only.iter().filter(is_known).all(|one| holds(&one))
            && !self.without.iter().filter(is_known).any(|one| holds(&one))
    }

    pub(crate) fn has(&self, trace: &Trace, piece: &Piece) -> bool {
        let holds = |(key, numbers): &(GroupKey, Vec<u32>)| numbers.contains(&key.of(trace, piece));
        self.only.iter().all(holds) && !self.without.iter().any(holds)
    }
}

/// What is asked of the partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupQuery {
    /// What makes a group; nothing is the finest partition as it is.
    pub by: Option<Vec<GroupKey>>,
    /// Groups with less time are left out.
    pub at_least_ns: i64,
    /// At most so many groups, the largest.
    pub most: Option<usize>,
    /// Which pieces are taken together.
    pub within: Scope,
    /// Pieces in any of these are left out.
    pub apart_from: Vec<Scope>,
}

/// Whether pieces of one cell may have different values of a key.
pub(crate) fn differs_within_bucket(key: GroupKey) -> bool {
    matches!(key, GroupKey::Pid | GroupKey::Tid | GroupKey::Target)
}
