//! What one physical line says.

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
    /// A complete call, or the first line of one that goes on in continuation lines.
    Call = "call", None;
    /// The first half of a call.
    CallStart = "call_start", None;
    /// The second half of a call.
    CallEnd = "call_end", None;
    /// A signal was delivered.
    Signal = "signal", None;
    /// A thread or process ended.
    Exit = "exit", None;
    /// Something else happened to a task: attached, stopped, born, superseded, changed its personality.
    Process = "process", None;
    /// Belongs to the line before it.
    Continuation = "continuation", None;
    /// The tracer speaks about itself, or announces what it says in full later.
    Notice = "notice", None;
    /// Part of a summary table (`strace -c`, `truss -c`).
    SummaryTable = "summary_table", None;
    /// A line of a log with a time stamp.
    Log = "log", None;
    /// Not from the tracer: output of the traced program, prose.
    Foreign = "foreign", None;
    /// Nothing but blanks.
    Blank = "blank", None;
    /// Begins as a line of the tracer but cannot be read to its end.
    Damaged = "damaged", Some("the line is cut or two writers were mixed; capture to a file with -o");
    /// A call without a thread id in a capture in which several threads are mixed.
    NoThread = "no_thread", Some("a line without a thread id among others with one; capture with -f and -o FILE");
    /// The end of a call whose name is not that of the call that its thread had open.
    Mismatched = "mismatched", Some("the second half does not fit the first; capture to a file with -o");
    /// The tracer says that it lost events here.
    Dropped = "dropped", Some("the tracer was too slow and lost events; trace fewer calls or give it more room");
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
    /// The exit of a call that was begun on another line; the line names the call.
    Resumed,
    /// The same without a name or an id: the tail of the last call left open in the file.
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
    /// Broken off by a signal, to be restarted.
    Interrupted,
    /// Does not return: exit, or killed inside.
    NoReturn,
    /// Not ended in the capture.
    Open,
    /// The tracer could not read the result.
    Unavailable,
}

impl Outcome {
    /// All outcomes, by number.
    pub const ALL: [Outcome; 6] =
        [Outcome::Ok, Outcome::Failed, Outcome::Interrupted, Outcome::NoReturn, Outcome::Open, Outcome::Unavailable];

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

/// What one physical line says. Texts are numbers of the chunk's interner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// When, as printed: since the epoch, midnight or the start of the trace, or since the last line; [`NO_NS`] if not.
    pub stamp_ns: i64,
    /// How long the call took; [`NO_NS`] if not printed.
    pub dur_ns: i64,
    /// CPU time of the call; [`NO_NS`] if not printed.
    pub cpu_ns: i64,
    /// The value that the call returned; for a log line, how often it says that a message was repeated before it. [`NO_NS`]
    /// if none.
    pub ret: i64,
    /// What kind of line.
    pub kind: LineKind,
    /// Which part of a call.
    pub part: CallPart,
    /// How the call ended.
    pub outcome: Outcome,
    /// Thread id; [`NO_ID`] if not printed.
    pub tid: i32,
    /// Process id where it is printed beside the thread's; else [`NO_ID`].
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
    /// Number of the line's body among those that its reader remembers plus 1, or 0. Equal numbers of one reader, up to
    /// where it forgot them ([`crate::ChunkLines::forgot`]), say the same.
    pub cached: u32,
}

impl Line {
    /// A line that says nothing but its kind.
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

/// How a process ended, as its parent or the tracer saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Killed(Text),
}

/// For what a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// O_RDONLY.
    Reads,
    /// O_WRONLY.
    Writes,
    /// O_RDWR.
    Both,
}

/// What few lines say beside the common things.
#[derive(Clone, Debug, PartialEq)]
pub enum Extra {
    /// execve: the program and its arguments, as one text with blanks between, quoted where needed; `argv` may be NONE.
    Exec {
        /// Path of the program.
        path: Text,
        /// Its arguments, the zeroth included.
        argv: Text,
    },
    /// A new task: fork, clone, lwp_create … as its creator sees it.
    Spawn {
        /// The child's id in the tracer's view; [`NO_ID`] on the first half of a call, unless a message there named it.
        child: i32,
        /// A thread of the same process (CLONE_THREAD, lwp_create).
        thread: bool,
        /// The creator waits until the child runs a program or ends (vfork, CLONE_VFORK).
        vfork: bool,
        /// Descriptors are shared (CLONE_FILES).
        shares_files: bool,
    },
    /// The first line of a new task, from its own side.
    Born {
        /// Process id of the creator if the line says it, else [`NO_ID`].
        creator_pid: i32,
        /// A thread of the same process.
        thread: bool,
    },
    /// A wait for a child that returned one.
    Waited {
        /// The child.
        child: i32,
        /// How it ended; none if it only stopped or continued.
        ended: Option<Ended>,
    },
    /// A time that the call was asked to take at most: sleep, time-out of a poll; [`NO_NS`] for "for ever".
    Timeout(i64),
    /// The same as a moment of the monotonic clock, which stamps do not have.
    Deadline(i64),
    /// The address of the socket itself that the call works on.
    OwnAddress(Text),
    /// A signal and who sent it.
    Signal {
        /// Sender, or the child that a SIGCHLD tells of; [`NO_ID`] if unknown.
        from: i32,
        /// For a SIGCHLD: how the child ended.
        ended: Option<Ended>,
    },
    /// The end of the task that the line is about.
    End(Ended),
    /// The end of a process with all its threads, whichever of them the line is about.
    GroupEnd(Ended),
    /// A thread ended alone, by the call that ends no more than it; where nothing else tells that it is one.
    ThreadEnd,
    /// The leader's id was taken over by another thread's execve.
    Superseded {
        /// That thread.
        by: i32,
    },
    /// A first half that was cut because the thread gets another id.
    RenamedTo(i32),
    /// The task was stopped (`true`) or goes on (`false`).
    Stopped(bool),
    /// The tracer began (`true`) or ended (`false`) to trace this id.
    Attached(i32, bool),
    /// The tracer began to trace a process with all its threads, of which the main one has this id.
    AttachedAll {
        /// The process.
        pid: i32,
        /// How many threads it had.
        threads: u32,
    },
    /// The path that the call makes, if it succeeds: of a rename, a link.
    Created(Text),
    /// What an open asks for, unless that is only to read what is there.
    Opened {
        /// The path, if it is made where there is none (O_CREAT), else [`Text::NONE`].
        created: Text,
        /// For what it is opened.
        access: Access,
        /// Whether each write to it waits until it is on the disk (O_SYNC, O_DSYNC).
        syncs: bool,
    },
    /// The tracer says that it begins: a new run, unless nothing was before it.
    Restarted {
        /// Moment that the stamps of this run count from, in ns since 1970; [`NO_NS`] if it does not say.
        base_ns: i64,
    },
    /// Memory that is mapped to be shared with other processes.
    Shared {
        /// How much.
        length: u64,
        /// From where on in the file.
        offset: u64,
    },
    /// What a wait expects at its address. It may be the id of a thread, whose end the wait is for (join): the kernel clears the
    /// id when the thread ends.
    Joins(i32),
    /// A signal reached a thread of a process, which is therefore one of it.
    Member {
        /// The process.
        pid: i32,
        /// Its thread.
        tid: i32,
    },
    /// The address to which a futex moves those that wait at its own, or at which the call itself waits in the end.
    RequeuedTo(Text),
    /// The descriptor into which a call moves what it takes from another one, and its name where that is printed.
    Into {
        /// Its number.
        fd: i32,
        /// Its name.
        target: Text,
    },
    /// Several descriptors: of a poll or select, or those made by pipe, socketpair.
    Fds(Box<[i32]>),
    /// Descriptors that a message brings to another process (`SCM_RIGHTS`), by their numbers on this side.
    Passed(Box<[i32]>),
    /// A poll or select: its descriptors and its time-out.
    Polled {
        /// The descriptors; empty if it is known that there are none, so that it waits for nothing but time.
        fds: Box<[i32]>,
        /// As [`Extra::Timeout`].
        timeout_ns: i64,
    },
    /// A row of a summary table; the name is in the line.
    SummaryRow {
        /// Number of calls.
        calls: u64,
        /// Number of failed calls.
        failed: u64,
        /// Total as printed; its meaning (CPU or wall) is the format's.
        total_ns: i64,
    },
    /// The name of the program that runs, where each line has it; never the only word on which program that is.
    Program(Text),
}
