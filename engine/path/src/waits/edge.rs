//! A wait edge: the event that ended a wait, the kind of evidence, and its confidence.

use trace::store::index::TaskId;

/// The kind of evidence for a waker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WakeKind {
    /// A child ended.
    Child,
    /// The child of a vfork ran a program or ended.
    Vfork,
    /// A signal was sent.
    Signal,
    /// A task wrote to the other end of a pipe or socket, or closed it.
    Stream,
    /// A task wrote to the other side of a terminal.
    Terminal,
    /// A task woke the waiters of an address, or unparked a thread.
    Futex,
    /// A thread ended.
    Join,
    /// A task released a lock on a file.
    Lock,
    /// A task read from a full pipe or socket.
    Drain,
    /// A task met the condition of a poll loop.
    Poll,
    /// A task sent a message, released a semaphore, or answered a door call.
    Message,
    /// A watchdog thread slept, and another thread of its process worked meanwhile.
    Beside,
    /// Another thread ended the process.
    Exit,
    /// A task changed a watched file.
    Watch,
    /// The kernel saw the wake-up, and no line shows how.
    Wake,
}

impl WakeKind {
    /// All kinds, by number.
    pub const ALL: [WakeKind; 15] = [
        WakeKind::Child,
        WakeKind::Vfork,
        WakeKind::Signal,
        WakeKind::Stream,
        WakeKind::Terminal,
        WakeKind::Futex,
        WakeKind::Join,
        WakeKind::Lock,
        WakeKind::Drain,
        WakeKind::Poll,
        WakeKind::Message,
        WakeKind::Beside,
        WakeKind::Exit,
        WakeKind::Watch,
        WakeKind::Wake,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        [
            "child", "vfork", "signal", "stream", "terminal", "futex", "join", "lock", "drain",
            "poll", "message", "beside", "exit", "watch", "wake",
        ][self as usize]
    }
}

/// The confidence in a waker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Confidence {
    /// Scheduler events of the kernel show it.
    Witnessed,
    /// The trace proves it.
    Measured,
    /// It is inferred from times and relations of tasks.
    Inferred,
}

impl Confidence {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        ["witnessed", "measured", "inferred"][self as usize]
    }
}

/// The end of a wait by another task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The waker.
    pub task: TaskId,
    /// The time of the wake-up.
    pub at_ns: i64,
    /// The kind of evidence.
    pub how: WakeKind,
    /// The confidence.
    pub sure: Confidence,
}

/// The end of a wait that no task of the trace caused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ender {
    /// A timer of the task itself.
    Timer,
    /// A signal with an origin outside the trace.
    Outside,
    /// A client outside the trace, which a server waited for.
    Client,
    /// Nothing: the kernel saw that the task never waited. It worked, or the tracer had stopped it.
    Itself,
    /// Unknown.
    Unknown,
}
