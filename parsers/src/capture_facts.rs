//! What the numbers in a capture mean: which moment a stamp is, what it counts from, what a duration is.

/// Which moment of a call its stamp is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StampMoment {
    /// The start of the call (on a second half: its end).
    Start,
    /// The end of the call.
    End,
    /// Lines have no stamps.
    None,
}

/// Length of a year with a 29 February.
pub const LEAP_YEAR_NS: i64 = 366 * 86_400_000_000_000;

/// What a stamp counts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// 1970.
    Epoch,
    /// Midnight, without a date.
    TimeOfDay,
    /// The start of the trace or of the machine.
    SinceStart,
    /// The first of January of an unknown year, which counts as a leap year.
    SinceNewYear,
    /// The previous line of the whole run, so stamps must be added up. In a log, a negative stamp is a date with a
    /// resolution of one minute: the time to the end of a year of [`LEAP_YEAR_NS`].
    SincePrevious,
    /// CPU time of each thread: it orders the events of one thread, and has no relation to wall time.
    PerThread,
    /// There is no clock.
    None,
}

/// What a duration is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum DurKind {
    /// Wall time from entry to return.
    Exact,
    /// An upper bound: it includes user time before or after the call.
    UpperBound,
    /// The time until the next message.
    Gap,
    /// Durations are neither printed nor derivable.
    None,
}

impl DurKind {
    /// All kinds, by number.
    pub const ALL: [DurKind; 4] = [
        DurKind::Exact,
        DurKind::UpperBound,
        DurKind::Gap,
        DurKind::None,
    ];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            DurKind::Exact => "exact",
            DurKind::UpperBound => "upper-bound",
            DurKind::Gap => "gap",
            DurKind::None => "none",
        }
    }
}

/// What the lines of one capture contain and mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureFacts {
    /// Which moment the stamp is.
    pub stamp: StampMoment,
    /// What the stamp counts from.
    pub clock: Clock,
    /// Resolution of the stamp.
    pub tick_ns: i64,
    /// What durations are, whether printed or derived from stamps.
    pub dur_kind: DurKind,
    /// Whether durations are printed. If not, the assembler derives them from stamps.
    pub has_durations: bool,
    /// Whether lines carry ids.
    pub has_ids: bool,
    /// Whether a line without an id, in a capture that has ids, belongs to the only living task (strace on stderr).
    pub ids_optional: bool,
    /// Whether the ids are those of processes, so that calls of several threads can be open under one id.
    pub mixes_threads: bool,
    /// Whether the tracer marks a first half where the line of another task follows, so that a file that ends in such a
    /// half lacks lines.
    pub marks_halves: bool,
    /// Whether ids without a process id are those of threads of one process, whose own id is never printed.
    pub one_process: bool,
    /// Whether the newest line comes first (`journalctl -r`).
    pub is_newest_first: bool,
    /// Whether the lines were selected (`dmesg | grep usb`), so that others may stand between any two.
    pub is_selected: bool,
    /// Whether the ids are those of processes, however many threads a process has.
    pub names_processes: bool,
    /// Whether the system is Windows: a new process runs its own program from its start, and calls that close what it left
    /// open follow the line of its exit.
    pub is_of_windows: bool,
    /// Whether calls are printed that do not return, so that each exit has one.
    pub prints_exits: bool,
    /// Whether calls are printed that wait for time, events and locks. Some tools print operations on files only.
    pub prints_waits: bool,
    /// The moment that stamps count from, in ns since 1970, if the capture contains it.
    pub base_ns: i64,
}

/// What is known of the envelopes around the lines of a capture: loggers, collectors, mails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvelopeFacts {
    /// Their names, the outermost first.
    pub names: Vec<&'static str>,
    /// The sender whose lines are read, where several write to one log: a program, a container, a file.
    pub sender: Option<String>,
    /// Whether stamps are those of the log, because the lines have none of their own.
    pub has_clock: bool,
    /// Whether long lines were folded into several. They are read as they are.
    pub is_folded: bool,
}
