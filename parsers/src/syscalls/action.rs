//! What syscalls do, and the derived properties: their waits, transfers and lookups.

/// What a call does to its target and to other tasks. Calls with the same action differ only in their arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// No analysis distinguishes it.
    Plain,

    /// Reads at the current position.
    Reads,
    /// Reads at an offset of a file.
    ReadsAt,
    /// Writes at the current position.
    Writes,
    /// Writes at an offset of a file.
    WritesAt,
    /// Reads the entries of a directory.
    Lists,
    /// Changes the position in a file.
    Seeks,
    /// Copies bytes of a file to another descriptor.
    SendsFile,
    /// Moves bytes between pipes.
    Splices,
    /// Moves bytes between files, or between memory and a pipe.
    CopiesBytes,
    /// Reads the memory of another process.
    ReadsProcess,
    /// Writes the memory of another process.
    WritesProcess,
    /// Returns random bytes.
    GetsRandom,

    /// Opens a file or device.
    Opens,
    /// Opens a file, and creates or truncates it.
    Creates,
    /// Closes a descriptor.
    Closes,
    /// Opens a message queue.
    OpensQueue,
    /// Opens a process.
    OpensProcess,
    /// Creates a pipe.
    MakesPipe,
    /// Creates two connected local sockets.
    MakesSocketPair,
    /// Creates a socket.
    MakesSocket,
    /// Creates an epoll.
    MakesEpoll,
    /// Creates an eventfd.
    MakesEventfd,
    /// Creates a timer with a descriptor.
    MakesTimerfd,
    /// Creates a descriptor for reading signals.
    MakesSignalfd,
    /// Creates a descriptor for reading changes of files.
    MakesInotify,
    /// The same for whole file systems.
    MakesFanotify,
    /// Duplicates a descriptor.
    Duplicates,
    /// Duplicates a descriptor to a given number, which it closes first.
    Replaces,
    /// Controls a descriptor: a copy of it, its flags, locks of its file. The operation decides.
    ControlsFile,
    /// Controls a device or socket. The operation decides.
    ControlsDevice,

    /// Reads the metadata of a path.
    Stats,
    /// Checks permissions of a path.
    Accesses,
    /// Reads the target of a symbolic link.
    ReadsLink,
    /// Returns the current directory.
    ReturnsDirectory,
    /// Changes the current directory.
    ChangesDirectory,
    /// Creates a directory or a symbolic link.
    Makes,
    /// Creates a fifo or device.
    MakesNode,
    /// Creates a hard link.
    Links,
    /// Renames a file.
    Renames,
    /// Removes a path.
    Removes,
    /// Removes a directory.
    RemovesDirectory,
    /// Changes owner, permissions, times or extended attributes.
    ChangesAttributes,
    /// Changes the length of a file.
    Resizes,
    /// Announces which part of a file will be read.
    Prefetches,
    /// Maps a file or memory.
    Maps,
    /// Waits until the data of a file is on disk.
    Syncs,
    /// The same for all files.
    SyncsAll,
    /// The same for a part of a file.
    SyncsPart,
    /// Requests reports of changes of a path.
    WatchesPath,
    /// Submits requests to the kernel through shared memory, and may wait for results.
    EntersRing,
    /// Waits until the kernel has completed requests for data.
    CollectsIo,

    /// Connects to a peer.
    Connects,
    /// Accepts the connection of a peer.
    Accepts,
    /// Assigns an address to a socket.
    Binds,
    /// Begins to accept connections.
    Listens,
    /// Ends one direction of a connection, or both.
    ShutsDown,
    /// Sends to a peer.
    Sends,
    /// Sends several messages, and returns their number.
    SendsMany,
    /// Receives from a peer.
    Receives,
    /// Receives several messages, and returns their number.
    ReceivesMany,
    /// Returns an address of a socket.
    NamesSocket,

    /// Waits until one of several descriptors is ready; returns 0 after a timeout.
    Polls,
    /// The same for the descriptors of an epoll.
    PollsEpoll,
    /// The same for an event port, where 0 is success.
    PollsPort,
    /// Adds a descriptor to an epoll.
    RegistersPoll,

    /// Waits for a signal.
    WaitsForSignal,
    /// Sends a signal to a process, or to a thread of any process.
    Signals,
    /// Sends a signal to a thread of the same process.
    SignalsThread,
    /// Sets handlers or masks of signals.
    HandlesSignals,
    /// Returns from a signal handler to the interrupted code.
    ReturnsFromHandler,
    /// Saves the execution context.
    SavesContext,
    /// Restores an execution context; on some systems, a signal handler returns like this.
    RestoresContext,
    /// Requests a signal after a time.
    SetsTimer,
    /// Restarts a call after a signal; the operation names the call.
    Restarts,

    /// Sleeps for a time.
    Sleeps,
    /// Reads a clock.
    ReadsClock,
    /// Yields the processor to other threads.
    Yields,

    /// Waits or wakes at an address of memory. The operation decides.
    UsesFutex,
    /// The same on FreeBSD.
    UsesUmtx,
    /// Waits at an address of memory.
    WaitsAtAddress,
    /// Waits for a mutex.
    LocksMutex,
    /// Waits until another thread wakes it: conditions, semaphores of threads.
    WaitsForWake,
    /// Waits until another thread unparks it by its id.
    Parks,
    /// Waits for the end of a thread.
    JoinsThread,
    /// Wakes threads at an address, or a parked one.
    Wakes,
    /// Takes, awaits or releases a lock on a file. The operation decides.
    LocksFile,
    /// Takes or awaits a lock on a part of a file.
    LocksRange,

    /// Takes a message from a queue, or waits for one.
    TakesMessage,
    /// Puts a message into a queue, or waits for room.
    GivesMessage,
    /// Changes a semaphore, or waits for it.
    ChangesSemaphore,
    /// Changes a semaphore without a wait.
    ControlsSemaphore,
    /// Calls a door, and waits for the reply.
    CallsDoor,
    /// Replies to a door call, and waits for the next.
    AnswersDoor,

    /// Returns the id of the process.
    ReturnsPid,
    /// Replaces the program.
    Execs,
    /// Creates a task.
    Forks,
    /// Creates a process, and waits until it executes a program.
    Vforks,
    /// Creates a process that executes a given program.
    Spawns,
    /// Creates a thread.
    CreatesThread,
    /// Ends the thread; on some systems, the process.
    EndsThread,
    /// Ends the process.
    EndsProcess,
    /// Waits for the end of a child, and returns its id.
    WaitsForChild,
    /// The same, but returns 0, with the id in a structure.
    WaitsForChildInfo,
}

/// What a call may wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// The end of a child.
    Child,
    /// A signal.
    Signal,
    /// Something to read.
    Read,
    /// One of several things.
    Poll,
    /// A peer that connects or answers.
    Peer,
    /// A lock, a semaphore, another thread.
    Lock,
    /// A message.
    Message,
    /// Only time.
    Sleep,
}

/// The direction in which a call moves bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Transfer {
    /// Into the program.
    Read,
    /// Out of the program.
    Write,
    /// From one descriptor to another.
    Copy,
    /// Entries of a directory into the program.
    List,
}

impl Transfer {
    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        ["read", "write", "copy", "list"][self as usize]
    }
}

/// How a path is looked up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Lookup {
    /// Opens it.
    Open,
    /// Reads its metadata.
    Stat,
    /// Checks its permissions.
    Access,
    /// Reads its target.
    Link,
    /// Executes it.
    Run,
}

impl Action {
    /// What such a call may wait for; `None` if it waits for no other task. Some calls wait only with certain
    /// operations or targets.
    pub fn wait(self) -> Option<Wait> {
        Some(match self {
            Action::WaitsForChild | Action::WaitsForChildInfo => Wait::Child,
            Action::WaitsForSignal => Wait::Signal,
            Action::Reads | Action::Receives | Action::ReceivesMany => Wait::Read,
            Action::Polls | Action::PollsEpoll | Action::PollsPort => Wait::Poll,
            Action::Connects | Action::Accepts => Wait::Peer,
            Action::UsesFutex | Action::UsesUmtx | Action::WaitsAtAddress | Action::LocksMutex => {
                Wait::Lock
            }
            Action::WaitsForWake | Action::Parks | Action::JoinsThread => Wait::Lock,
            Action::LocksFile | Action::LocksRange => Wait::Lock,
            Action::TakesMessage | Action::GivesMessage | Action::ChangesSemaphore => Wait::Message,
            Action::CallsDoor | Action::AnswersDoor | Action::EntersRing => Wait::Message,
            Action::Sleeps => Wait::Sleep,
            _ => return None,
        })
    }

    /// Whether such a call returns at once: it makes a descriptor, or reads or stores a value.
    pub(crate) fn never_waits(self) -> bool {
        matches!(
            self,
            Action::MakesPipe
                | Action::MakesSocketPair
                | Action::MakesSocket
                | Action::MakesEpoll
                | Action::MakesEventfd
                | Action::MakesTimerfd
                | Action::MakesSignalfd
                | Action::MakesInotify
                | Action::RegistersPoll
                | Action::Duplicates
                | Action::ReturnsDirectory
                | Action::Listens
                | Action::NamesSocket
                | Action::HandlesSignals
                | Action::ReturnsFromHandler
                | Action::SavesContext
                | Action::RestoresContext
                | Action::SetsTimer
                | Action::ReadsClock
                | Action::ReturnsPid
                | Action::Wakes
        )
    }

    /// The direction in which such a call moves bytes, if it does.
    pub fn transfer(self) -> Option<Transfer> {
        Some(match self {
            Action::Reads | Action::ReadsAt | Action::Receives | Action::ReadsProcess => {
                Transfer::Read
            }
            Action::TakesMessage => Transfer::Read,
            Action::Writes | Action::WritesAt | Action::Sends | Action::WritesProcess => {
                Transfer::Write
            }
            Action::SendsFile | Action::Splices | Action::CopiesBytes => Transfer::Copy,
            Action::Lists => Transfer::List,
            _ => return None,
        })
    }

    /// Whether such a call returns the number of bytes that it moved.
    pub fn returns_bytes(self) -> bool {
        self.transfer().is_some() || self == Action::GetsRandom
    }

    /// How such a call looks up a path, if it does nothing else with the path.
    pub fn lookup(self) -> Option<Lookup> {
        Some(match self {
            Action::Opens => Lookup::Open,
            Action::Stats => Lookup::Stat,
            Action::Accesses => Lookup::Access,
            Action::ReadsLink => Lookup::Link,
            Action::Execs => Lookup::Run,
            _ => return None,
        })
    }

    /// Whether such a call creates a task.
    pub fn creates_task(self) -> bool {
        matches!(
            self,
            Action::Forks | Action::Vforks | Action::Spawns | Action::CreatesThread
        )
    }

    /// Whether such a call only manages signals, as a shell does between its waits.
    pub fn keeps_signals(self) -> bool {
        matches!(
            self,
            Action::HandlesSignals
                | Action::ReturnsFromHandler
                | Action::SavesContext
                | Action::RestoresContext
        )
    }

    /// Whether such a call may be the return from a signal handler.
    pub fn ends_handler(self) -> bool {
        matches!(self, Action::ReturnsFromHandler | Action::RestoresContext)
    }
}
