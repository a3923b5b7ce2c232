//! Keys and conditions that group and select the pieces of the partition, and their translation to the numbers of a
//! trace.

use crate::critical_path::segment::Tag;
use crate::partition::piece::Piece;
use parsers::syscalls::Class;
use parsers::{NO_ID, Text};
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// The properties that pieces can be grouped and selected by: all columns of the partition that are not sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupKey {
    /// Capture number.
    Capture,
    /// Process id.
    Pid,
    /// Thread id.
    Tid,
    /// Program at the start of the piece.
    Program,
    /// Class of the time, such as disk or network.
    Class,
    /// Name of the syscall.
    Syscall,
    /// Operation of the syscall.
    Op,
    /// Target as shown.
    Target,
    /// Whether something in the trace ended the wait.
    Resolved,
    /// Role of the time in a poll loop.
    Tag,
    /// Name of the program: the last part of its path. It is not a column.
    ProgramName,
}

pub(super) const KEYS: usize = 10;

impl GroupKey {
    /// All columns with their names.
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

    /// Looks up a key by name.
    pub fn by_name(name: &str) -> Option<GroupKey> {
        let column = GroupKey::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, key)| key);
        column.or((name == "program_name").then_some(GroupKey::ProgramName))
    }

    pub(crate) fn is_of_task(self) -> bool {
        matches!(self, GroupKey::Capture | GroupKey::Pid | GroupKey::Tid)
    }

    fn is_text(self) -> bool {
        matches!(
            self,
            GroupKey::Program | GroupKey::Syscall | GroupKey::Op | GroupKey::Target
        )
    }

    /// The task's value of this key, as a number.
    pub(crate) fn of_task(self, trace: &Trace, task: TaskId) -> u32 {
        let task = &trace.tasks[task];
        match self {
            GroupKey::Pid => task.pid as u32,
            GroupKey::Tid => task.tid as u32,
            _ => task.capture,
        }
    }

    /// The piece's value of this key, as a number.
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
            GroupKey::ProgramName => trace.program_names().of(piece.program),
        }
    }

    /// The numbers of values in this trace, without values that no piece can have.
    fn numbers(self, trace: &Trace, values: &[KeyValue]) -> Vec<u32> {
        let texts = &trace.events.texts;
        let mut numbers = Vec::with_capacity(values.len());
        for value in values {
            match value {
                // Undecodable text is known only in its printed form, with replacement characters.
                KeyValue::Text(text)
                    if self.is_text() && text.contains(char::REPLACEMENT_CHARACTER) =>
                {
                    numbers.extend(
                        (0..texts.len() as u32)
                            .filter(|&number| texts.string(Text(number)) == *text),
                    );
                }
                _ => numbers.extend(self.number(trace, value)),
            }
        }
        numbers
    }

    fn number(self, trace: &Trace, value: &KeyValue) -> Option<u32> {
        match (self, value) {
            (GroupKey::Pid | GroupKey::Tid, KeyValue::None) => Some(NO_ID as u32),
            (GroupKey::Pid | GroupKey::Tid, KeyValue::Int(id)) => {
                i32::try_from(*id).ok().map(|id| id as u32)
            }
            (GroupKey::Capture, KeyValue::Int(capture)) => u32::try_from(*capture).ok(),
            (GroupKey::Class, KeyValue::Text(name)) => Class::ALL
                .iter()
                .find(|class| class.name() == name)
                .map(|&class| class as u32),
            (_, KeyValue::None) if self.is_text() => Some(Text::NONE.0),
            (_, KeyValue::Text(text)) if self.is_text() => {
                trace.events.texts.find(text.as_bytes()).map(|text| text.0)
            }
            (GroupKey::Tag, KeyValue::None) => Some(Tag::None as u32),
            (GroupKey::Tag, KeyValue::Text(name)) => Tag::ALL
                .iter()
                .find(|tag| tag.name() == Some(name))
                .map(|&tag| tag as u32),
            (GroupKey::ProgramName, KeyValue::Text(name)) => trace.program_names().number(name),
            (GroupKey::Resolved, KeyValue::Bool(resolved)) => Some(u32::from(*resolved)),
            _ => None,
        }
    }
}

/// A value in a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyValue {
    /// Missing.
    None,
    /// A boolean.
    Bool(bool),
    /// An id.
    Int(i64),
    /// A text.
    Text(String),
}

/// Conditions on pieces: for each key, a list of accepted values.
pub type Conditions = Vec<(GroupKey, Vec<KeyValue>)>;

/// Selects pieces of the partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// All of these must hold.
    pub only: Conditions,
    /// None of these may hold.
    pub without: Conditions,
}

/// A [`Scope`] with its values translated to the numbers of a trace.
pub struct ScopeFilter {
    pub(super) only: Vec<(GroupKey, Numbers)>,
    without: Vec<(GroupKey, Numbers)>,
}

/// The accepted values of a key. There may be one for every program of a trace.
pub(crate) struct Numbers {
    /// In order.
    all: Vec<u32>,
    /// The same as bits, where they are many and near each other.
    bits: Vec<u64>,
}

impl Numbers {
    /// Up to this length, a linear search is faster.
    const FEW: usize = 16;
    /// Maximum number of words of bits for each value.
    const WORDS_OF_VALUE: usize = 4;

    fn new(mut all: Vec<u32>) -> Numbers {
        all.sort_unstable();
        let words = all.last().map_or(0, |&last| last as usize / 64 + 1);
        let is_dense = all.len() > Numbers::FEW && words <= Numbers::WORDS_OF_VALUE * all.len();
        let mut bits = vec![0; if is_dense { words } else { 0 }];
        if is_dense {
            all.iter()
                .for_each(|&number| bits[number as usize / 64] |= 1 << (number % 64));
        }
        Numbers { all, bits }
    }

    pub(super) fn contains(&self, number: &u32) -> bool {
        if !self.bits.is_empty() {
            return self
                .bits
                .get(*number as usize / 64)
                .is_some_and(|bits| bits >> (number % 64) & 1 == 1);
        }
        if self.all.len() <= Numbers::FEW {
            self.all.contains(number)
        } else {
            self.all.binary_search(number).is_ok()
        }
    }
}

impl ScopeFilter {
    /// Looks up the values that the scope names.
    pub fn new(trace: &Trace, scope: &Scope) -> ScopeFilter {
        let numbers = |conditions: &Conditions| {
            conditions
                .iter()
                .map(|(key, values)| (*key, Numbers::new(key.numbers(trace, values))))
                .collect()
        };
        ScopeFilter {
            only: numbers(&scope.only),
            without: numbers(&scope.without),
        }
    }

    /// The accepted values of a key, or `None` without a condition on it.
    pub(crate) fn only(&self, key: GroupKey) -> Option<&Numbers> {
        self.only
            .iter()
            .find(|(known, _)| *known == key)
            .map(|(_, numbers)| numbers)
    }

    /// Whether a condition refers to targets.
    pub fn needs_targets(&self) -> bool {
        self.only
            .iter()
            .chain(&self.without)
            .any(|&(key, _)| key == GroupKey::Target)
    }

    /// Whether each bucket matches as a whole or not at all.
    pub(super) fn matches_whole_buckets(&self) -> bool {
        !self
            .only
            .iter()
            .chain(&self.without)
            .any(|&(key, _)| differs_within_bucket(key))
    }

    /// Whether pieces of the task may match.
    pub fn may_have_task(&self, trace: &Trace, task: TaskId) -> bool {
        self.only
            .iter()
            .filter(|(key, _)| key.is_of_task())
            .all(|(key, numbers)| numbers.contains(&key.of_task(trace, task)))
    }

    /// Whether it may match a piece that equals this one except in the keys for which `differs` holds.
    pub(crate) fn may_have(
        &self,
        trace: &Trace,
        piece: &Piece,
        differs: impl Fn(GroupKey) -> bool,
    ) -> bool {
        let holds = |(key, numbers): &&(GroupKey, Numbers)| numbers.contains(&key.of(trace, piece));
        let is_known = |(key, _): &&(GroupKey, Numbers)| !differs(*key);
        self.only.iter().filter(is_known).all(|one| holds(&one))
            && !self.without.iter().filter(is_known).any(|one| holds(&one))
    }

    /// Whether a piece matches.
    pub fn has(&self, trace: &Trace, piece: &Piece) -> bool {
        let holds = |(key, numbers): &(GroupKey, Numbers)| numbers.contains(&key.of(trace, piece));
        self.only.iter().all(holds) && !self.without.iter().any(holds)
    }
}

/// A query on the partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupQuery {
    /// Group keys; `None` returns the finest pieces without grouping.
    pub by: Option<Vec<GroupKey>>,
    /// Minimum time of a group.
    pub at_least_ns: i64,
    /// Maximum number of groups; the largest are returned.
    pub most: Option<usize>,
    /// The pieces that are grouped.
    pub within: Scope,
    /// Pieces in any of these scopes are excluded.
    pub apart_from: Vec<Scope>,
}

/// A piece's values of some keys. Unused components are 0.
pub(super) fn values_of(keys: &[GroupKey], trace: &Trace, piece: &Piece) -> [u32; KEYS] {
    let mut values = [0; KEYS];
    values
        .iter_mut()
        .zip(keys)
        .for_each(|(value, key)| *value = key.of(trace, piece));
    values
}

/// Whether pieces of one bucket may have different values of this key.
pub(crate) fn differs_within_bucket(key: GroupKey) -> bool {
    matches!(key, GroupKey::Pid | GroupKey::Tid | GroupKey::Target)
}
