//! Facts about the calls of one shape, as far as finding wakers needs them.

use crate::waits::condition::Check;
use crate::waits::file_watch::changes::Changes;
use parsers::Outcome;
use parsers::syscalls::{Action, Class, Wait};

/// The operation of a call on an IPC object (message queue, semaphore, door).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object {
    /// Receives a message, or waits for one.
    Takes,
    /// Sends a message, or waits for room.
    Gives,
    /// Changes a semaphore, or waits for it.
    Counts,
    /// Calls a door.
    Calls,
    /// Answers a call of a door, and waits for the next.
    Answers,
}

/// An operation on an IPC object.
pub(crate) fn object_of(action: Action) -> Option<Object> {
    Some(match action {
        Action::TakesMessage => Object::Takes,
        Action::GivesMessage => Object::Gives,
        Action::ChangesSemaphore | Action::ControlsSemaphore => Object::Counts,
        Action::CallsDoor => Object::Calls,
        Action::AnswersDoor => Object::Answers,
        _ => return None,
    })
}

/// The effect of a call on other tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing that ends a wait.
    Nothing,
    /// Writes data that others can read.
    Writes,
    /// Moves data from one descriptor to another.
    Moves,
    /// Closes its end of a stream.
    Closes,
    /// Creates a fifo.
    MakesFifo,
    /// Sends a signal.
    Signals,
    /// Opens a file or device.
    Opens,
    /// Wakes the waiters of an address, or a parked thread.
    Wakes {
        /// Whether processes may share the address.
        shared: bool,
    },
    /// Acquires a lock on a file, or waits for it.
    Locks,
    /// Releases a lock on a file, or may do so.
    Unlocks,
    /// Connects to a peer.
    Connects,
    /// Accepts the connection of a peer.
    Accepts,
    /// Binds a socket to an address.
    Binds,
    /// Starts to listen for connections.
    Listens,
    /// Creates a path.
    Makes,
    /// Removes or renames a path.
    Removes,
    /// Adds to an eventfd.
    Counts,
    /// Requests notifications about changes of a path.
    Watches,
    /// Operates on a message queue, a semaphore or a door.
    Handles(Object),
}

/// The facts about a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeFacts {
    pub wait: Option<Wait>,
    pub class: Class,
    pub deed: Effect,
    pub outcome: Outcome,
    /// Its return value is the number of woken tasks.
    pub counts: bool,
    /// Its target is the address of a peer, `host:port`.
    pub at_address: bool,
    /// The condition that it checks, for poll loops.
    pub check: Check,
    /// Whether other calls found the opposite, so that this one may be the last check of a poll loop.
    pub may_end_poll: bool,
    /// Whether it is a sleep, or a wait that may last until its timeout.
    pub may_sleep: bool,
    /// Its effect on the path that it works on, for file watches.
    pub changes: Changes,
    /// Its effect on the second path that it creates, if any.
    pub makes: Changes,
    /// The wait class of its syscall in general.
    pub named: Option<Wait>,
    /// Whether it failed with a timeout.
    pub fails_late: bool,
    /// Whether it failed because it would have blocked, or because there was nothing to wait for.
    pub fails_at_once: bool,
    /// Whether it failed because the peer had closed the connection.
    pub reset: bool,
    /// Whether it may be evidence for the waker of another wait.
    pub is_told: bool,
    /// Whether no other task ends it, unless it ends a poll loop or waits for a vfork child.
    pub works: bool,
    /// Whether a signal interrupted it.
    pub interrupted: bool,
    /// Whether it is an interrupted call that continues under another name (`restart_syscall`).
    pub restarts: bool,
    /// Whether it only manages signal masks and handlers.
    pub upkeep: bool,
    /// Whether it creates a task.
    pub creates: bool,
    /// Whether some call of this shape created a child and waits for it inside the same call (vfork).
    pub may_vfork: bool,
}

impl ShapeFacts {
    /// Whether its calls are completed writes, which only a slow reader can delay.
    pub(super) fn is_quick_write(&self) -> bool {
        let ends = self.outcome == Outcome::Ok && self.wait.is_none();
        matches!(self.deed, Effect::Writes | Effect::Counts)
            && ends
            && !(self.works || self.may_end_poll || self.may_vfork)
    }
}
