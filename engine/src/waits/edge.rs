//! A wait edge: which event ended a wait, how that is known, and how sure it is.

/// How it is known who ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WakeKind {
    /// A child ended.
    Child,
    /// The child of a vfork ran a program or ended.
    Vfork,
    /// A signal was sent.
    Signal,
    /// Somebody wrote to the other end of a pipe or socket, or closed it.
    Stream,
    /// Somebody wrote to the other side of a terminal.
    Terminal,
    /// Somebody woke who waits at an address, or unparked a thread.
    Futex,
    /// A thread ended.
    Join,
    /// Somebody gave a lock on a file back.
    Lock,
    /// Somebody read from a full pipe or socket.
    Drain,
    /// Somebody did what others looked for again and again.
    Poll,
    /// Somebody gave a message or a semaphore, or answered at a door.
    Message,
    /// A thread that only keeps watch slept, and another one of its process worked meanwhile.
    Beside,
    /// Another thread ended the process.
    Exit,
    /// Somebody changed a file that was watched.
    Watch,
}

impl WakeKind {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        [
            "child", "vfork", "signal", "stream", "terminal", "futex", "join", "lock", "drain", "poll", "message",
            "beside", "exit", "watch",
        ][self as usize]
    }
}

/// How sure it is who ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Confidence {
    /// The trace says so.
    Measured,
    /// It follows from times and kinship.
    Inferred,
}

impl Confidence {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        ["measured", "inferred"][self as usize]
    }
}

/// The end of a wait by another task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Who ended it.
    pub task: u32,
    /// When.
    pub at_ns: i64,
    /// How it is known.
    pub how: WakeKind,
    /// How sure it is.
    pub sure: Confidence,
}

/// What ended a wait that no task of the trace did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ender {
    /// A timer of the task itself.
    Timer,
    /// A signal that nobody in the trace sent.
    Outside,
    /// Nothing that is known.
    Unknown,
}
