//! Classes of time.

/// The class of the time of a call or of a segment of the critical path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Between calls: user code, or calls that the capture left out.
    User,
    /// Sleeping.
    Sleep,
    /// Waiting for a child, if the trace does not contain its end.
    Child,
    /// Files and file systems.
    Disk,
    /// Sockets.
    Network,
    /// Pipes, local sockets, message queues, doors.
    Ipc,
    /// Waiting for one of several events.
    Poll,
    /// Locks and futexes.
    Lock,
    /// A terminal.
    Terminal,
    /// Creating, ending, replacing and managing processes.
    Process,
    /// Memory.
    Memory,
    /// Stopped by a signal.
    Stopped,
    /// Waiting that something outside the trace ended.
    External,
    /// Silence between two messages of a log.
    Gap,
    /// None of these.
    Other,
}

impl Class {
    /// All classes, by number.
    pub const ALL: [Class; 15] = [
        Class::User,
        Class::Sleep,
        Class::Child,
        Class::Disk,
        Class::Network,
        Class::Ipc,
        Class::Poll,
        Class::Lock,
        Class::Terminal,
        Class::Process,
        Class::Memory,
        Class::Stopped,
        Class::External,
        Class::Gap,
        Class::Other,
    ];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 15] = [
            "user", "sleep", "child", "disk", "network", "ipc", "poll", "lock", "terminal",
            "process", "memory", "stopped", "external", "gap", "other",
        ];
        NAMES[self as usize]
    }
}
