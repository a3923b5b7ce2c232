//! The table of syscalls, for the readers, the engine, the rules and the gate.
//!
//! ```text
//! table.rs    one line for each call         action.rs   what calls do, with derived properties
//! class.rs    classes of time                family.rs   groups that metrics count
//! words.rs    names as fixed numbers
//! ```
//! An unknown name is not an error: its class is `other`, its action is `Plain`, and its arguments are ignored.

mod action;
mod class;
mod family;
mod table;
mod words;

use crate::text::Text;
pub use action::{Action, Lookup, Transfer, Wait};
pub use class::Class;
pub use family::Family;
use table::CALLS;
pub(crate) use words::WORDS_LEN;
pub use words::{word, words};

/// How much work a call does that waits for nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effort {
    /// Reads or stores a value: an id, a mask.
    Trivial,
    /// Works on the entry of a descriptor. Most of its time in a trace is tracing overhead.
    Light,
    /// Works on memory or on data in the kernel.
    Quick,
    /// Any amount.
    Any,
}

/// An entry of the table.
#[derive(Clone, Copy, Debug)]
pub struct Syscall {
    /// Its name.
    pub name: &'static str,
    /// The call that this is a variant of: older, wider, or without a cancellation point.
    pub alias_of: Option<&'static str>,
    /// The class of its time if its descriptor is unknown.
    pub class: Class,
    /// What it does.
    pub action: Action,
    /// The meaning of each argument, one letter each: `f` descriptor, `g` descriptor that data is moved to, `d`
    /// directory descriptor of the path after it, `p` path, `n` path that the call creates, `b` address that waiters
    /// are requeued to, `j` value expected at the address, which may be a thread id, `c` flags of an open, which may
    /// create the path before them, `o` sub-operation, `a` address, `i` id of a process or object, `s` socket address,
    /// `w` local socket address, `t` timespec, `v` timeval, `m` milliseconds, `l` list of pollfd, `k` set of
    /// descriptors, `q` two new descriptors, `e` watched descriptor, `r` messages that may pass descriptors, `z`
    /// length, `u` metadata of a file or events of an epoll, `h` flags and `y` offset of a mapping, `x` value of a socket option,
    /// `S` seconds until an alarm, `T` value of an interval timer with microseconds and
    /// `N` with nanoseconds, `-` ignored.
    pub args: &'static str,
    /// How much work it does.
    pub effort: Effort,
    /// Whether it looks up a path in addition to its action.
    pub is_lookup: bool,
    /// Whether every program on Linux makes such calls when it starts, whatever its libraries.
    pub is_at_start: bool,
    /// Whether the number of its calls depends on scheduling, although its action does not.
    pub is_scheduled: bool,
    /// Its other names. They are entries of their own in [`SYSCALLS`].
    variants: &'static [&'static str],
}

/// The letters that [`Syscall::args`] may have.
#[cfg(test)]
const LETTERS: &str = "fgdpnbjcoaiswtvmlkqerzuhyx-NST";

/// Requests to a device that only look at its settings, or at what it has.
const INSTANT_REQUESTS: [&[u8]; 9] = [
    b"TCGETS",
    b"TCGETA",
    b"TIOCGWINSZ",
    b"TIOCGPGRP",
    b"TIOCSPGRP",
    b"FIONREAD",
    b"FIONBIO",
    b"FIOCLEX",
    b"FIONCLEX",
];
/// Calls of the class `process` that wait for other CPUs, a lock of the kernel or a process.
const WAITING_PROCESS_CALLS: [&str; 5] =
    ["unshare", "setns", "membarrier", "lwp_suspend", "seccomp"];
/// Calls without an action of their own that return at once.
const INSTANT_CALLS: [&str; 8] = [
    "setsockopt",
    "getsockopt",
    "uname",
    "sysinfo",
    "systeminfo",
    "getdtablesize",
    "setustack",
    "timerfd_settime",
];

const fn call(name: &'static str, class: Class, action: Action, args: &'static str) -> Syscall {
    Syscall {
        name,
        alias_of: None,
        class,
        action,
        args,
        effort: Effort::Any,
        is_lookup: false,
        is_at_start: false,
        is_scheduled: false,
        variants: &[],
    }
}

impl Syscall {
    /// Add variants: other names of the same call.
    const fn also(self, variants: &'static [&'static str]) -> Syscall {
        Syscall { variants, ..self }
    }

    /// See [`Effort::Trivial`].
    const fn trivial(self) -> Syscall {
        Syscall {
            effort: Effort::Trivial,
            ..self
        }
    }

    /// See [`Effort::Light`].
    const fn light(self) -> Syscall {
        Syscall {
            effort: Effort::Light,
            ..self
        }
    }

    /// See [`Effort::Quick`].
    const fn quick(self) -> Syscall {
        Syscall {
            effort: Effort::Quick,
            ..self
        }
    }

    /// See [`Syscall::is_lookup`].
    const fn lookup(self) -> Syscall {
        Syscall {
            is_lookup: true,
            ..self
        }
    }

    /// See [`Syscall::is_at_start`].
    const fn at_start(self) -> Syscall {
        Syscall {
            is_at_start: true,
            ..self
        }
    }

    /// See [`Syscall::is_scheduled`].
    const fn scheduled(self) -> Syscall {
        Syscall {
            is_scheduled: true,
            ..self
        }
    }

    /// The name of the call that this is a variant of, or its own name.
    pub fn canonical(&self) -> &'static str {
        self.alias_of.unwrap_or(self.name)
    }

    /// Whether it only reads or stores a value.
    pub fn is_trivial(&self) -> bool {
        self.effort == Effort::Trivial
    }

    /// Whether it returns at once on this sub-operation. What seems to be its time is the program's own where a
    /// tracer prints no durations.
    pub fn never_waits(&self, op: &[u8]) -> bool {
        match self.action {
            Action::ControlsFile => !op.windows(6).any(|part| part == b"SETLKW"),
            Action::UsesFutex => op.windows(4).any(|part| part == b"WAKE"),
            Action::ControlsDevice => INSTANT_REQUESTS.contains(&op),
            // The others of this class change their own process, or look at one.
            Action::Plain if self.class == Class::Process => {
                !WAITING_PROCESS_CALLS.contains(&self.name)
            }
            Action::Plain => self.effort <= Effort::Quick || INSTANT_CALLS.contains(&self.name),
            action => self.effort <= Effort::Quick || action.never_waits(),
        }
    }

    /// Whether one of its arguments limits how long it waits.
    pub fn has_timeout(&self) -> bool {
        self.args.contains(['t', 'v', 'm'])
    }

    const fn with_name(self, name: &'static str) -> Syscall {
        Syscall {
            name,
            alias_of: Some(self.name),
            variants: &[],
            ..self
        }
    }
}

const SYSCALLS_LEN: usize = {
    let (mut len, mut at) = (0, 0);
    while at < CALLS.len() {
        len += 1 + CALLS[at].variants.len();
        at += 1;
    }
    len
};

/// The syscalls, each followed by its variants. The [`Text`] number of a name is its index here plus 1.
pub static SYSCALLS: [Syscall; SYSCALLS_LEN] = {
    let mut all = [CALLS[0]; SYSCALLS_LEN];
    let (mut len, mut at) = (0, 0);
    while at < CALLS.len() {
        let call = CALLS[at];
        all[len] = call;
        len += 1;
        let mut variant = 0;
        while variant < call.variants.len() {
            all[len] = call.with_name(call.variants[variant]);
            len += 1;
            variant += 1;
        }
        at += 1;
    }
    all
};

/// The entry of the syscall whose name has this text number.
pub fn by_text(name: Text) -> Option<&'static Syscall> {
    SYSCALLS.get(name.0.checked_sub(1)? as usize)
}

/// The entry of the syscall with this name.
pub fn by_name(name: &[u8]) -> Option<&'static Syscall> {
    by_text(word(name)?)
}

/// Whether a word is the end of the name of a syscall, and no name itself: `ead`, `t`.
pub fn is_end_of_name(word: &[u8]) -> bool {
    !word.is_empty()
        && by_name(word).is_none()
        && SYSCALLS
            .iter()
            .any(|call| call.name.as_bytes().ends_with(word))
}

/// The action of the syscall whose name has this text number.
#[inline]
pub fn action_of(name: Text) -> Action {
    by_text(name).map_or(Action::Plain, |call| call.action)
}

/// Whether the target of the syscall with this name is the id of a process.
pub fn targets_process(name: Text) -> bool {
    by_text(name).is_some_and(|call| {
        let is_of_thread = matches!(call.action, Action::SignalsThread | Action::JoinsThread)
            || call.name.starts_with("lwp_");
        let is_of_process = matches!(call.class, Class::Child | Class::Process)
            || matches!(call.action, Action::OpensProcess);
        call.args.contains('i') && is_of_process && !is_of_thread
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_and_names_are_unique() {
        for (at, word_here) in words().iter().enumerate() {
            assert_eq!(
                word(word_here.as_bytes()),
                Some(Text(at as u32)),
                "{word_here}"
            );
        }
        assert_eq!(by_name(b"openat").map(|call| call.args), Some("dpc"));
        assert!(by_name(b"no_such_call").is_none());
    }

    #[test]
    fn a_variant_is_its_call_under_another_name() {
        for call in &SYSCALLS {
            let Some(name) = call.alias_of else { continue };
            let original = by_name(name.as_bytes()).expect(name);
            assert_eq!(original.alias_of, None, "{}", call.name);
            let known = (
                call.class,
                call.action,
                call.args,
                call.effort,
                call.is_lookup,
            );
            assert_eq!(
                known,
                (
                    original.class,
                    original.action,
                    original.args,
                    original.effort,
                    original.is_lookup
                )
            );
        }
    }

    #[test]
    fn arguments_are_known_letters() {
        for call in CALLS {
            assert!(
                call.args.chars().all(|letter| LETTERS.contains(letter)),
                "{}: {}",
                call.name,
                call.args
            );
            assert!(
                !call.args.ends_with('-'),
                "{}: an ignored argument at the end",
                call.name
            );
        }
    }

    /// Time in a wait must not count as work: its class is that of the wait, or its target decides.
    #[test]
    fn a_wait_has_the_class_of_the_wait() {
        for call in CALLS {
            let Some(wait) = call.action.wait() else {
                continue;
            };
            let classes: &[Class] = match wait {
                Wait::Child => &[Class::Child],
                Wait::Signal | Wait::Poll => &[Class::Poll],
                Wait::Read => &[Class::Disk, Class::Network],
                Wait::Peer => &[Class::Network],
                Wait::Lock => &[Class::Lock],
                Wait::Message => &[Class::Ipc, Class::Disk],
                Wait::Sleep => &[Class::Sleep],
            };
            assert!(
                classes.contains(&call.class),
                "{}: {wait:?} but {:?}",
                call.name,
                call.class
            );
            assert_eq!(
                call.effort,
                Effort::Any,
                "{}: it waits, so it is not quick",
                call.name
            );
        }
    }

    #[test]
    fn an_action_decides_wait_transfer_and_lookup() {
        let facts = |name: &str| {
            let action = by_name(name.as_bytes()).expect(name).action;
            (action.wait(), action.transfer(), action.lookup())
        };
        let cases = [
            (
                "recvfrom_nocancel",
                (Some(Wait::Read), Some(Transfer::Read), None),
            ),
            ("pread64", (None, Some(Transfer::Read), None)),
            ("recvmmsg", (Some(Wait::Read), None, None)),
            ("pwritev2", (None, Some(Transfer::Write), None)),
            ("sendto", (None, Some(Transfer::Write), None)),
            ("sendfile64", (None, Some(Transfer::Copy), None)),
            ("getdents64", (None, Some(Transfer::List), None)),
            ("openat_nocancel", (None, None, Some(Lookup::Open))),
            ("lxstat", (None, None, Some(Lookup::Stat))),
            ("execveat", (None, None, Some(Lookup::Run))),
            ("clock_nanosleep_time64", (Some(Wait::Sleep), None, None)),
            ("epoll_pwait2", (Some(Wait::Poll), None, None)),
            ("waitsys", (Some(Wait::Child), None, None)),
            ("getrandom", (None, None, None)),
        ];
        cases
            .iter()
            .for_each(|&(name, expected)| assert_eq!(facts(name), expected, "{name}"));
    }

    #[test]
    fn a_lookup_has_a_path() {
        for call in CALLS
            .iter()
            .filter(|call| call.action.lookup().is_some() || call.is_lookup)
        {
            assert!(
                call.args.contains('p') || call.name == "fexecve",
                "{}: {}",
                call.name,
                call.args
            );
        }
    }

    #[test]
    fn every_family_has_calls() {
        for family in Family::ALL {
            assert!(
                CALLS.iter().any(|call| family.has(call)),
                "{}",
                family.name()
            );
        }
        let families = |name: &str| {
            let call = by_name(name.as_bytes()).expect(name);
            let families = Family::ALL
                .into_iter()
                .filter(|family| family.has(call))
                .map(Family::name);
            families.collect::<Vec<_>>().join(" ")
        };
        let cases = [
            ("openat", "opens lookups files"),
            ("execve", "execs lookups"),
            ("posix_spawn", "execs forks lookups"),
            ("sendto_nocancel", "contacts writes"),
            ("send", "writes"),
            ("recvfrom_nocancel", "reads"),
            ("semop", "locks scheduled"),
            ("futex_time64", "locks scheduled"),
            ("flock", ""),
            ("epoll_pwait2", "scheduled"),
            ("umask", "quick"),
            ("close", "files quick"),
            ("getdents64", "files"),
            ("pread64", "reads files"),
            ("fsync", "syncs"),
            ("ioctl", ""),
            ("getcwd", ""),
        ];
        cases
            .iter()
            .for_each(|&(name, expected)| assert_eq!(families(name), expected, "{name}"));
    }
}
