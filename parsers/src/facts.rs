//! The facts that a line contains about its event, in addition to the fields of [`crate::Line`]: all kinds, in one list.
//!
//! ```text
//! 7 nanosleep({tv_sec=5, tv_nsec=0}, NULL) = 0          Timeout(5000000000)
//! ```
//!
//! A new kind is a line of the list, and what finds it in a reader: `parsed.add_fact(&mut line, Fact::Timeout(5))`. The
//! engine keeps each fact by the row of its event, so whatever needs it asks `events.facts.get::<facts::Timeout>(row)`.
//! Only facts from which something else follows need code in between.

use crate::text::Text;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// O_RDONLY.
    Reads,
    /// O_WRONLY.
    Writes,
    /// O_RDWR.
    Both,
}

/// A clock whose moments programs use as deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadlineClock {
    /// `CLOCK_MONOTONIC`, which counts from the start of the machine.
    Monotonic,
    /// `CLOCK_REALTIME`, which counts from 1970.
    RealTime,
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// Its length.
    pub length: u64,
    /// Where it begins.
    pub offset: u64,
}

/// Calls the macro `$with` with the list of all kinds, and with what follows its name.
///
/// Each entry is a sentence, the name of the kind, and the type of its value; `()` for facts that are only true.
#[macro_export]
macro_rules! list_facts {
    ($with:ident $($more:tt)*) => {
        $with! {
            printed {
                /// Requested duration of a sleep, or the timeout of a wait; [`crate::NO_NS`] without a limit.
                Timeout(i64);
                /// The same as a moment of a clock that the stamps do not use.
                Deadline((DeadlineClock, i64));
                /// The descriptors of a poll or select, or those created by pipe or socketpair. Of a poll, empty if it
                /// is known that there are none.
                Fds(Box<[i32]>);
                /// The descriptor that ended a poll, where its result names only one.
                ReadyFd(i32);
                /// The path that the call creates if it succeeds: of an open with O_CREAT, a rename or a link.
                Created(Text);
                /// How a file is opened, unless it is only read.
                OpenedFor(Access);
                /// Each write to the opened file waits until the data is on disk (O_SYNC, O_DSYNC).
                SyncsWrites(());
                /// The metadata of the file shows that it is a fifo.
                IsFifo(());
                /// The part of a file that is mapped as shared with other processes.
                SharedMapping(FilePart);
                /// The second address of a futex call: the requeue target of the waiters, or of the call itself.
                RequeuedTo(Text);
                /// The value that a wait expects at its address. It may be the id of a thread whose end is awaited
                /// (join): the kernel clears the id when the thread ends.
                Joins(i32);
                /// The child that a wait returned; 0 if the trace shows that there was none.
                WaitedChild(i32);
                /// The process that sent a signal, or the child that a SIGCHLD reports.
                Sender(i32);
                /// Why a signal that reports a fault or an abort was sent: `SEGV_MAPERR`, `SI_TKILL`.
                FaultCode(Text);
                /// The address whose access or instruction was the fault that a signal reports.
                FaultAddress(u64);
                /// The call that a filter of system calls refused, which a SIGSYS reports.
                RefusedCall(Text);
                /// The promise of pledge(2) that a refused call would have needed.
                RefusedPromise(Text);
            }
            $($more)*
        }
    };
}

macro_rules! declare {
    (printed { $($(#[$doc:meta])* $kind:ident($value:ty);)* }) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $kind;

            impl FactKind for $kind {
                type Value = $value;
            }
        )*

        /// One fact.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Fact {
            $($(#[$doc])* $kind($value),)*
        }

        impl Fact {
            /// The same fact with other numbers of texts.
            pub fn with_texts(&self, text: &dyn Fn(Text) -> Text) -> Fact {
                match self {
                    $(Fact::$kind(value) => Fact::$kind(value.with_texts(text)),)*
                }
            }
        }
    };
}

list_facts!(declare);

/// A kind of facts.
pub trait FactKind {
    /// What a fact of this kind holds.
    type Value: Send;
}

/// A value that a reader can give to a fact.
pub trait FactValue {
    /// The same value with other numbers of texts.
    fn with_texts(&self, text: &dyn Fn(Text) -> Text) -> Self;
}

impl FactValue for Text {
    fn with_texts(&self, text: &dyn Fn(Text) -> Text) -> Text {
        text(*self)
    }
}

macro_rules! without_texts {
    ($($value:ty),*) => {
        $(
            impl FactValue for $value {
                fn with_texts(&self, _text: &dyn Fn(Text) -> Text) -> $value {
                    self.clone()
                }
            }
        )*
    };
}

without_texts!(
    (),
    i32,
    i64,
    u64,
    Access,
    FilePart,
    (DeadlineClock, i64),
    Box<[i32]>
);
