//! The result of reading one physical line.

use crate::facts::{Access, DeadlineClock, Fact};
use crate::text::Text;

/// No thread or process id on the line.
pub const NO_ID: i32 = -1;
/// No time, no duration, no value.
pub const NO_NS: i64 = i64::MIN;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $remedy:expr;)*) => {
        /// What a physical line is. Every line has exactly one kind; the last ones are losses.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum LineKind { $($(#[doc = $doc])* $variant,)* }

        impl LineKind {
            /// All kinds, in the order in which they are reported.
            pub const ALL: &'static [LineKind] = &[$(LineKind::$variant,)*];

            /// The name in reports and JSON.
            pub fn name(self) -> &'static str {
                match self { $(LineKind::$variant => $name,)* }
            }

            /// For a loss: how to capture so that it does not happen again.
            pub fn remedy(self) -> Option<&'static str> {
                match self { $(LineKind::$variant => $remedy,)* }
            }
        }
    };
}

kinds! {
    /// A complete call, or the first line of a call that continuation lines complete.
    Call = "call", None;
    /// The first half of a call.
    CallStart = "call_start", None;
    /// The second half of a call.
    CallEnd = "call_end", None;
    /// A signal was delivered.
    Signal = "signal", None;
    /// A thread or process ended.
    Exit = "exit", None;
    /// Another event of a task: attached, stopped, created, superseded, changed its personality.
    Process = "process", None;
    /// Part of the line before it.
    Continuation = "continuation", None;
    /// A message of the tracer about itself, or of an event that it reports in full later.
    Notice = "notice", None;
    /// Part of a summary table (`strace -c`, `truss -c`).
    SummaryTable = "summary_table", None;
    /// A line of a log with a stamp.
    Log = "log", None;
    /// Not from the tracer: output of the traced program, prose.
    Foreign = "foreign", None;
    /// Only blanks.
    Blank = "blank", None;
    /// A mark of a person that lines were left out here: `[...]`, `<snip>`.
    Elision = "elision", None;
    /// Begins like a line of the tracer, but its rest cannot be read.
    Damaged = "damaged", Some("the line is truncated or mixed with other output; capture to a file with -o");
    /// A call without a thread id in a capture in which several threads are mixed.
    NoThread = "no_thread", Some("a line without a thread id in a capture with thread ids; capture with -f and -o FILE");
    /// The end of a call whose name differs from the open call of its thread.
    Mismatched = "mismatched", Some("the second half does not match the first; capture to a file with -o");
    /// Of another tracer, or of the same one with other options; its name is that of the format.
    OtherFormat = "other_format", Some("put the lines of each tracer, and of each run with other options, into a file of its own");
    /// The tracer reports that it lost events here.
    Dropped = "dropped", Some("the tracer was too slow and lost events; trace fewer calls or use larger buffers");
}

/// Which part of a call a line holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum CallPart {
    /// All of it.
    #[default]
    Whole,
    /// The entry; the rest may come later.
    Begun,
    /// The exit of a call that began on another line. This line names the call.
    Resumed,
    /// As `Resumed`, without a name or an id: the tail of the last open call of the file.
    Tail,
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Outcome {
    /// Returned without an error.
    #[default]
    Ok,
    /// Returned an error.
    Failed,
    /// Interrupted by a signal, to be restarted.
    Interrupted,
    /// Does not return: exit, or killed inside.
    NoReturn,
    /// Still open at the end of the capture.
    Open,
    /// The tracer could not read the result.
    Unavailable,
}

impl Outcome {
    /// All outcomes, by number.
    pub const ALL: [Outcome; 6] = [
        Outcome::Ok,
        Outcome::Failed,
        Outcome::Interrupted,
        Outcome::NoReturn,
        Outcome::Open,
        Outcome::Unavailable,
    ];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Failed => "failed",
            Outcome::Interrupted => "interrupted",
            Outcome::NoReturn => "noreturn",
            Outcome::Open => "open",
            Outcome::Unavailable => "unavailable",
        }
    }
}

/// One physical line, read. Texts are numbers of the chunk's interner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The stamp as printed: since 1970, midnight, the start of the trace or the previous line; [`NO_NS`] if not
    /// printed.
    pub stamp_ns: i64,
    /// How long the call took; [`NO_NS`] if not printed.
    pub dur_ns: i64,
    /// CPU time of the call; [`NO_NS`] if not printed.
    pub cpu_ns: i64,
    /// The value that the call returned. For a log line that reports how often a message was repeated, that number.
    /// [`NO_NS`] if there is none.
    pub ret: i64,
    /// What kind of line.
    pub kind: LineKind,
    /// Which part of a call.
    pub part: CallPart,
    /// How the call ended. On a first half: `Open` if the tracer went on to another line, `Interrupted` if it printed
    /// nothing after it.
    pub outcome: Outcome,
    /// Thread id; [`NO_ID`] if not printed.
    pub tid: i32,
    /// Process id, if printed in addition to the thread's; else [`NO_ID`].
    pub pid: i32,
    /// The file descriptor that the call works on, or [`NO_ID`].
    pub fd: i32,
    /// Name of the syscall or signal; for a log line, the subsystem.
    pub name: Text,
    /// Sub-operation: ioctl request, fcntl command, futex operation.
    pub op: Text,
    /// What the call works on: path, peer, address; for a log line, the message.
    pub target: Text,
    /// Name of the error.
    pub errno: Text,
    /// Number of the line's [`Extra`] in [`crate::Parsed::extras`] plus 1, or 0.
    pub extra: u32,
    /// Number of the cached line with the same content plus 1, or 0. Within one reader, equal numbers mean equal
    /// content, until [`crate::ChunkLines::cache_cleared`].
    pub cached: u32,
}

impl Line {
    /// A line of this kind, with all other fields empty.
    pub fn of(kind: LineKind) -> Line {
        Line {
            stamp_ns: NO_NS,
            dur_ns: NO_NS,
            cpu_ns: NO_NS,
            ret: NO_NS,
            kind,
            part: CallPart::Whole,
            outcome: Outcome::Ok,
            tid: NO_ID,
            pid: NO_ID,
            fd: NO_ID,
            name: Text::NONE,
            op: Text::NONE,
            target: Text::NONE,
            errno: Text::NONE,
            extra: 0,
            cached: 0,
        }
    }
}

/// How a process ended, as its parent or the tracer reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Killed(Text),
}

/// What a time of a whole run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunTime {
    /// CPU time in system calls.
    System,
    /// CPU time in the program's own code.
    User,
    /// Wall time.
    Wall,
}

/// What only a few lines contain, in addition to the fields of [`Line`].
#[derive(Clone, Debug, PartialEq)]
pub enum Extra {
    /// A fact about the event.
    Fact(Fact),
    /// The same in addition to another extra.
    With(Box<(Extra, Fact)>),
    /// execve: the program and its arguments, as one text with blanks between, quoted where needed. `argv` may be NONE.
    Exec {
        /// Path of the program.
        path: Text,
        /// Its arguments, the zeroth included.
        argv: Text,
    },
    /// A new task: fork, clone, lwp_create …, as reported by its creator.
    Spawn {
        /// The child's id in the tracer's view. [`NO_ID`] on the first half of a call, unless a message there names the
        /// child.
        child: i32,
        /// A thread of the same process (CLONE_THREAD, lwp_create).
        thread: bool,
        /// The creator waits until the child executes a program or ends (vfork, CLONE_VFORK).
        vfork: bool,
        /// Descriptors are shared (CLONE_FILES).
        shares_files: bool,
    },
    /// The first line of a new task, from its own side.
    Born {
        /// Process id of the creator if the line contains it, else [`NO_ID`].
        creator_pid: i32,
        /// A thread of the same process.
        thread: bool,
    },
    /// A wait for a child that returned one.
    Waited {
        /// The child.
        child: i32,
        /// How it ended; `None` if it only stopped or continued.
        ended: Option<Ended>,
    },
    /// What a clock of deadlines showed, or a later moment if it is coarse.
    ClockRead(DeadlineClock, i64),
    /// The local address of the socket that the call works on.
    OwnAddress(Text),
    /// The pending error of the socket that the call works on (`SO_ERROR`); NONE if there is none. A second half does not
    /// contain the option, so this may be the value of another one.
    SocketError(Text),
    /// A signal and who sent it.
    Signal {
        /// The sender, or the child of a SIGCHLD; [`NO_ID`] if unknown.
        from: i32,
        /// For a SIGCHLD: how the child ended.
        ended: Option<Ended>,
    },
    /// The end of the task that the line is about.
    End(Ended),
    /// The end of a process with all its threads, on a line of any of them.
    GroupEnd(Ended),
    /// The end of one thread, by a call that ends only the thread. Used if no other line identifies it as a thread.
    ThreadEnd,
    /// The leader's id was taken over by another thread's execve.
    Superseded {
        /// That thread.
        by: i32,
    },
    /// A first half that was cut because its thread gets another id.
    RenamedTo(i32),
    /// The task was stopped (`true`) or continues (`false`).
    Stopped(bool),
    /// The tracer attached to (`true`) or detached from (`false`) this id.
    Attached(i32, bool),
    /// The tracer attached to a process with all its threads. The main thread has this id.
    AttachedAll {
        /// The process.
        pid: i32,
        /// How many threads it had.
        threads: u32,
    },
    /// The flags of an open, unless it only reads an existing file.
    Opened {
        /// The path, if a missing file is created (O_CREAT), else [`Text::NONE`].
        created: Text,
        /// How it is opened.
        access: Access,
        /// Whether each write waits until the data is on disk (O_SYNC, O_DSYNC).
        syncs: bool,
    },
    /// The tracer starts: a new run, unless this is the first line.
    Restarted {
        /// The moment that the stamps of this run count from, in ns since 1970; [`NO_NS`] if not printed.
        base_ns: i64,
    },
    /// The line ends within a string or a bracket.
    Torn,
    /// A wait that has not returned expects the state of a lock with waiters.
    Contended,
    /// A wait that has not returned ends at a moment of a clock that is not comparable with the timestamps.
    Limited,
    /// A signal was sent to a thread of a process, so the thread belongs to the process.
    Member {
        /// The process.
        pid: i32,
        /// Its thread.
        tid: i32,
    },
    /// The descriptor to which a call moves data from another one, and its name if printed.
    Into {
        /// Its number.
        fd: i32,
        /// Its name.
        target: Text,
    },
    /// Descriptors that a message passes to another process (`SCM_RIGHTS`), by their numbers on this side.
    Passed(Box<[i32]>),
    /// A poll or select: its descriptors and its timeout.
    Polled {
        /// The descriptors. Empty if it is known that there are none, so that it waits only for time.
        fds: Box<[i32]>,
        /// As [`Fact::Timeout`].
        timeout_ns: i64,
        /// The only one that was ready, if the result names it; else [`NO_ID`].
        ready: i32,
    },
    /// The time after which a timer of the process sends SIGALRM; 0 if it is stopped.
    Alarm(i64),
    /// The second half of a poll or select: the only descriptor that was ready.
    Ready(i32),
    /// A descriptor was registered at an epoll.
    Registered {
        /// The descriptor.
        fd: i32,
        /// What the epoll returns for it.
        data: u64,
        /// Whether each change is reported only once (`EPOLLET`, `EPOLLONESHOT`).
        edge: bool,
    },
    /// A wait at an epoll that returned one event.
    Returned {
        /// What was registered with the descriptor.
        data: u64,
        /// As [`Fact::Timeout`]; [`NO_NS`], too, if it is not known.
        timeout_ns: i64,
    },
    /// A frame of the stack of the event before it, from the innermost to the outermost. Missing parts are NONE.
    Frame {
        /// The file that is mapped there.
        module: Text,
        /// The function.
        function: Text,
        /// Source file and line, as printed: `quota.c:118`.
        source: Text,
    },
    /// A row of a summary table; the name is in the line.
    SummaryRow {
        /// Number of calls.
        calls: u64,
        /// Number of failed calls.
        failed: u64,
        /// Total as printed. Whether it is CPU or wall time depends on the format.
        total_ns: i64,
    },
    /// A time of the whole run under a summary table.
    RunTime(RunTime, i64),
    /// Further messages of a log on the same line: the stamp, the name and the text of each, as [`Line`] has them.
    Joined(Box<[(i64, Text, Text)]>),
    /// The process id of the parent, which the tracer prints with that of the process.
    Parent(i32),
    /// The name of the running program, if each line contains it.
    Program {
        /// The name.
        name: Text,
        /// What else the line contains.
        with: Option<Box<Extra>>,
    },
}

impl Extra {
    /// The extra and a fact.
    pub fn with(self, fact: Fact) -> Extra {
        Extra::With(Box::new((self, fact)))
    }

    /// The extra without the facts that were added to it.
    pub fn bare(&self) -> &Extra {
        match self {
            Extra::With(with) => with.0.bare(),
            extra => extra,
        }
    }
}

impl From<Fact> for Extra {
    fn from(fact: Fact) -> Extra {
        Extra::Fact(fact)
    }
}
