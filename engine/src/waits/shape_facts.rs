//! What is known of the calls of one shape.

use crate::waits::condition::Check;
use crate::waits::file_watch::changes::Changes;
use parsers::Outcome;
use parsers::syscalls::{Action, Class, Wait};

/// What a call does with an object that others wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Object {
    /// Takes a message, or waits for one.
    Takes,
    /// Gives a message, or waits for room.
    Gives,
    /// Changes a semaphore, or waits for it.
    Counts,
    /// Calls a door.
    Calls,
    /// Answers a call of a door, and waits for the next.
    Answers,
}

/// What a call does with such an object.
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

/// What a call does for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing that ends a wait.
    Nothing,
    /// Gives others something to read.
    Writes,
    /// Takes something from one descriptor and gives it to another.
    Moves,
    /// Leaves its end of a stream.
    Closes,
    /// Makes a fifo.
    MakesFifo,
    /// Sends a signal.
    Signals,
    /// Opens a file or device.
    Opens,
    /// Wakes who waits at an address or is parked; `shared` if processes may share the address.
    Wakes { shared: bool },
    /// Takes a lock on a file, or waits for it.
    Locks,
    /// Gives a lock on a file back, or may do so.
    Unlocks,
    /// Connects to a peer.
    Connects,
    /// Takes the connection of a peer.
    Accepts,
    /// Gives a socket an address.
    Binds,
    /// Begins to take connections.
    Listens,
    /// Makes a path.
    Makes,
    /// Removes a path, or gives it another name.
    Removes,
    /// Adds to an eventfd.
    Counts,
    /// Asks to be told of changes of a path.
    Watches,
    /// Gives or takes a message, a semaphore or a door.
    Handles(Object),
}

/// What is known of a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeFacts {
    pub wait: Option<Wait>,
    pub class: Class,
    pub deed: Effect,
    pub outcome: Outcome,
    /// Its value is how many it woke.
    pub counts: bool,
    /// Its target is the address of a peer, `host:port`.
    pub at_address: bool,
    /// What it finds out for who looks again and again.
    pub check: Check,
    /// Whether others found the contrary, so that it may be the last of those.
    pub may_end_poll: bool,
    /// Whether it is a sleep, or a wait that may last as long as it was limited to.
    pub may_sleep: bool,
    /// What it does to the path that it works on, for those who watch it.
    pub changes: Changes,
    /// The same for a path that it makes besides.
    pub makes: Changes,
    /// What its syscall waits for in general.
    pub named: Option<Wait>,
    /// Whether it failed because its time was over.
    pub fails_late: bool,
    /// Whether it failed because it would have had to wait, or because there was nothing to wait for.
    pub fails_at_once: bool,
    /// Whether it failed because the peer was gone.
    pub reset: bool,
    /// Whether it may tell who ends the waits of others.
    pub is_told: bool,
    /// Whether nobody ends it, unless it ends a poll loop or waits for a child of vfork.
    pub works: bool,
    /// Whether a signal broke it off.
    pub interrupted: bool,
    /// Whether it is a call that a signal had broken off, under the name that those go on with.
    pub restarts: bool,
    /// Whether it only keeps signals in order.
    pub upkeep: bool,
    /// Whether it creates a task.
    pub creates: bool,
    /// Whether some call of this shape created a child for which its creator waits inside it.
    pub may_vfork: bool,
}

impl ShapeFacts {
    /// Whether its calls are writes that came to their end, so that only a reader who made no room can have held them up.
    pub(super) fn is_quick_write(&self) -> bool {
        let ends = self.outcome == Outcome::Ok && self.wait.is_none();
        self.deed == Effect::Writes && ends && !(self.works || self.may_end_poll || self.may_vfork)
    }
}
