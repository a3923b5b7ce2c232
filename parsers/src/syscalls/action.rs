//! What syscalls do, and what follows from it: what they wait for, which way bytes go, how a path is looked up.

/// What a call does: to what it works on, and to other tasks. Calls with the same action differ in their arguments only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Nothing that any analysis distinguishes.
    Plain,

    /// Reads what comes next.
    Reads,
    /// Reads at a place of a file.
    ReadsAt,
    /// Writes what comes next.
    Writes,
    /// Writes at a place of a file.
    WritesAt,
    /// Reads the entries of a directory.
    Lists,
    /// Goes to a place of a file.
    Seeks,
    /// Moves bytes of a file into another descriptor.
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
    /// Opens a file, which it makes or empties.
    Creates,
    /// Closes a descriptor.
    Closes,
    /// Opens a message queue.
    OpensQueue,
    /// Opens a process.
    OpensProcess,
    /// Makes two ends of a pipe.
    MakesPipe,
    /// Makes two local sockets that are connected to each other.
    MakesSocketPair,
    /// Makes a socket.
    MakesSocket,
    /// Makes an epoll.
    MakesEpoll,
    /// Makes an eventfd.
    MakesEventfd,
    /// Makes a timer with a descriptor.
    MakesTimerfd,
    /// Makes a descriptor from which signals are read.
    MakesSignalfd,
    /// Makes a descriptor from which changes of files are read.
    MakesInotify,
    /// The same, of whole file systems.
    MakesFanotify,
    /// Returns another descriptor for the same thing.
    Duplicates,
    /// The same, in the place of one that it closes.
    Replaces,
    /// Controls a descriptor: a copy of it, its flags, locks of its file. The operation decides.
    ControlsFile,
    /// Controls a device or socket. The operation decides.
    ControlsDevice,

    /// Asks for the state of a path.
    Stats,
    /// Asks whether a path may be used.
    Accesses,
    /// Asks where a path leads to.
    ReadsLink,
    /// Asks for the current directory.
    AsksDirectory,
    /// Changes the directory that relative paths begin at.
    ChangesDirectory,
    /// Makes a path: a directory or a symbolic link.
    Makes,
    /// Makes a fifo or device.
    MakesNode,
    /// Gives a file one more path.
    Links,
    /// Gives a file another path.
    Renames,
    /// Removes a path.
    Removes,
    /// Removes a directory.
    RemovesDirectory,
    /// Changes owner, permissions, times or extended attributes.
    ChangesAttributes,
    /// Changes how long a file is.
    Resizes,
    /// Says which part of a file will be read.
    Prefetches,
    /// Maps a file or memory.
    Maps,
    /// Waits until what was written to a file is on the disk.
    Syncs,
    /// The same of all files.
    SyncsAll,
    /// The same of a part of a file.
    SyncsPart,
    /// Asks for changes of a path to be reported.
    WatchesPath,
    /// Hands requests to the kernel through shared memory, and may wait for results there.
    EntersRing,

    /// Connects to a peer.
    Connects,
    /// Takes the connection of a peer.
    Accepts,
    /// Gives a socket an address.
    Binds,
    /// Begins to take connections.
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
    /// Asks for an address of a socket.
    NamesSocket,

    /// Waits until one of several descriptors is ready; 0 if none is.
    Polls,
    /// The same of those that an epoll watches.
    PollsEpoll,
    /// The same of an event port, where 0 is success.
    PollsPort,
    /// Adds a descriptor to those that an epoll watches.
    RegistersPoll,

    /// Waits for a signal.
    WaitsForSignal,
    /// Sends a signal to a process, or to a thread of any process.
    Signals,
    /// Sends a signal to a thread of the same process.
    SignalsThread,
    /// Says what is to be done with signals.
    HandlesSignals,
    /// Goes back from the handler of a signal to where the signal came.
    ReturnsFromHandler,
    /// Notes down where the program is.
    SavesContext,
    /// Goes on at such a place; on some systems a handler returns so.
    RestoresContext,
    /// Asks for a signal after a time.
    SetsTimer,
    /// Goes on with a call after a signal; the operation says with which.
    Restarts,

    /// Sleeps for a time.
    Sleeps,
    /// Asks what time it is.
    ReadsClock,
    /// Lets other threads go first.
    Yields,

    /// Waits or wakes at an address of memory. The operation decides.
    UsesFutex,
    /// The same on FreeBSD.
    UsesUmtx,
    /// Waits at an address of memory.
    WaitsAtAddress,
    /// Waits for a mutex.
    LocksMutex,
    /// Waits until a thread wakes it: conditions, semaphores of threads.
    WaitsForWake,
    /// Waits until a thread names it in a wake.
    Parks,
    /// Waits for the end of a thread.
    JoinsThread,
    /// Wakes threads at an address, or a parked one.
    Wakes,
    /// Takes a lock on a file, waits for it, or gives it back. The operation decides.
    LocksFile,
    /// Takes a lock on a part of a file, or waits for it.
    LocksRange,

    /// Takes a message of a queue, or waits for one.
    TakesMessage,
    /// Gives a message to a queue, or waits for room.
    GivesMessage,
    /// Changes a semaphore, or waits for it.
    ChangesSemaphore,
    /// Changes a semaphore without a wait.
    ControlsSemaphore,
    /// Calls a door, and waits for the answer.
    CallsDoor,
    /// Answers a call of a door, and waits for the next.
    AnswersDoor,

    /// Asks for the id of the process.
    AsksPid,
    /// Replaces the program.
    Execs,
    /// Creates a task.
    Forks,
    /// Creates a process, and waits until it runs a program.
    Vforks,
    /// The same, and says which program.
    Spawns,
    /// Creates a thread.
    CreatesThread,
    /// Ends the thread; on some systems, the process.
    EndsThread,
    /// Ends the process.
    EndsProcess,
    /// Waits for the end of a child, and returns its id.
    WaitsForChild,
    /// The same, but returns 0, and the id in a structure.
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
    /// Nothing but time.
    Sleep,
}

/// Which way a call moves bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Transfer {
    /// Into the program.
    Read,
    /// Out of the program.
    Write,
    /// From one descriptor into another.
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
    /// Asks for its state.
    Stat,
    /// Asks whether it may be used.
    Access,
    /// Asks where it leads to.
    Link,
    /// Runs it.
    Run,
}

impl Action {
    /// What such a call waits for; `None` if it works and waits for no other task. Some wait only with some operations or
    /// targets.
    pub fn wait(self) -> Option<Wait> {
        Some(match self {
            Action::WaitsForChild | Action::WaitsForChildInfo => Wait::Child,
            Action::WaitsForSignal => Wait::Signal,
            Action::Reads | Action::Receives | Action::ReceivesMany => Wait::Read,
            Action::Polls | Action::PollsEpoll | Action::PollsPort => Wait::Poll,
            Action::Connects | Action::Accepts => Wait::Peer,
            Action::UsesFutex | Action::UsesUmtx | Action::WaitsAtAddress | Action::LocksMutex => Wait::Lock,
            Action::WaitsForWake | Action::Parks | Action::JoinsThread => Wait::Lock,
            Action::LocksFile | Action::LocksRange => Wait::Lock,
            Action::TakesMessage | Action::GivesMessage | Action::ChangesSemaphore => Wait::Message,
            Action::CallsDoor | Action::AnswersDoor | Action::EntersRing => Wait::Message,
            Action::Sleeps => Wait::Sleep,
            _ => return None,
        })
    }

    /// Which way such a call moves bytes, if it does.
    pub fn transfer(self) -> Option<Transfer> {
        Some(match self {
            Action::Reads | Action::ReadsAt | Action::Receives | Action::ReadsProcess => Transfer::Read,
            Action::TakesMessage => Transfer::Read,
            Action::Writes | Action::WritesAt | Action::Sends | Action::WritesProcess => Transfer::Write,
            Action::SendsFile | Action::Splices | Action::CopiesBytes => Transfer::Copy,
            Action::Lists => Transfer::List,
            _ => return None,
        })
    }

    /// Whether such a call returns the number of bytes that it moved.
    pub fn returns_bytes(self) -> bool {
        self.transfer().is_some() || self == Action::GetsRandom
    }

    /// How such a call looks a path up, if that is all that it does with it.
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
        matches!(self, Action::Forks | Action::Vforks | Action::Spawns | Action::CreatesThread)
    }

    /// Whether such a call only keeps signals in order, as a shell does between its waits.
    pub fn keeps_signals(self) -> bool {
        matches!(
            self,
            Action::HandlesSignals | Action::ReturnsFromHandler | Action::SavesContext | Action::RestoresContext
        )
    }

    /// Whether such a call may be the return from the handler of a signal.
    pub fn ends_handler(self) -> bool {
        matches!(self, Action::ReturnsFromHandler | Action::RestoresContext)
    }
}
