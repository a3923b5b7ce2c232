//! Families of syscalls, which metrics and baselines count.

use super::{Action, Class, Effort, Lookup, Syscall, Transfer, Wait};

/// A family of syscalls. A call may belong to several, or to none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Opens a file.
    Opens,
    /// Executes a program.
    Execs,
    /// Creates a task.
    Forks,
    /// Waits until whole files are on disk.
    Syncs,
    /// Connects to a host, or sends to one.
    Contacts,
    /// Looks up a path that may be missing.
    Lookups,
    /// Moves bytes into the program.
    Reads,
    /// Moves bytes out of the program, or between two descriptors.
    Writes,
    /// Works on a file or directory. A pipe, a socket or a device may be in its place.
    Files,
    /// Waits for a peer, without reading or writing.
    Peers,
    /// Synchronizes with other threads, or by semaphores with other processes.
    Locks,
    /// The number of calls depends on scheduling.
    Scheduled,
    /// Waits for nothing, so its duration depends only on the speed of the machine.
    Quick,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 13] = [
        Family::Opens,
        Family::Execs,
        Family::Forks,
        Family::Syncs,
        Family::Contacts,
        Family::Lookups,
        Family::Reads,
        Family::Writes,
        Family::Files,
        Family::Peers,
        Family::Locks,
        Family::Scheduled,
        Family::Quick,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 13] = [
            "opens",
            "execs",
            "forks",
            "syncs",
            "contacts",
            "lookups",
            "reads",
            "writes",
            "files",
            "peers",
            "locks",
            "scheduled",
            "quick",
        ];
        NAMES[self as usize]
    }

    /// Whether a call belongs to it.
    pub fn has(self, call: &Syscall) -> bool {
        let action = call.action;
        match self {
            Family::Opens => matches!(action, Action::Opens | Action::Creates),
            Family::Execs => matches!(action, Action::Execs | Action::Spawns),
            Family::Forks => matches!(action, Action::Forks | Action::Vforks | Action::Spawns),
            Family::Syncs => matches!(action, Action::Syncs | Action::SyncsAll),
            Family::Contacts => {
                matches!(action, Action::Connects | Action::SendsMany) || is_addressed(call)
            }
            Family::Lookups => {
                let looks_up = action.lookup().is_some_and(|lookup| lookup != Lookup::Run);
                looks_up || call.is_lookup || Family::Opens.has(call) || Family::Execs.has(call)
            }
            Family::Reads => action.transfer() == Some(Transfer::Read),
            Family::Writes => matches!(action.transfer(), Some(Transfer::Write | Transfer::Copy)),
            Family::Files => works_on_file(call),
            Family::Peers => matches!(action, Action::Connects | Action::Accepts),
            Family::Locks => is_lock(call),
            Family::Scheduled => is_lock(call) || is_scheduled(call),
            Family::Quick => call.effort <= Effort::Quick,
        }
    }
}

/// `send` goes to the peer of a connection, which was contacted before.
fn is_addressed(call: &Syscall) -> bool {
    call.action == Action::Sends && (call.args.contains('s') || call.args.contains('r'))
}

/// Not a sync, which may serve several writers at once, and not a call that only manages descriptors.
fn works_on_file(call: &Syscall) -> bool {
    let is_other = matches!(
        call.action,
        Action::Syncs
            | Action::SyncsAll
            | Action::SyncsPart
            | Action::ControlsDevice
            | Action::ControlsFile
            | Action::Duplicates
            | Action::Replaces
            | Action::EntersRing
    );
    call.class == Class::Disk && call.args.contains(['f', 'd', 'p']) && !is_other
}

/// Locks of threads, whose calls depend on contention; locks on files are not included.
fn is_lock(call: &Syscall) -> bool {
    let of_threads = call.class == Class::Lock;
    let by_others = matches!(
        call.action,
        Action::LocksFile | Action::LocksRange | Action::JoinsThread
    );
    (of_threads && !by_others) || call.action == Action::ChangesSemaphore
}

/// Waits that signals interrupt, and calls that yield to other tasks.
fn is_scheduled(call: &Syscall) -> bool {
    let waits = matches!(
        call.action.wait(),
        Some(Wait::Child | Wait::Poll | Wait::Signal)
    );
    let gives_way = matches!(
        call.action,
        Action::Restarts | Action::ReturnsFromHandler | Action::Yields | Action::SignalsThread
    );
    waits || gives_way || call.is_scheduled
}
