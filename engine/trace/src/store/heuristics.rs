//! Numbers of judgement: what counts as blocked, as a loop, as a chosen delay. Thresholds of rules are in `rules/`.
//!
//! Each has one line about what it decides and one about its source: a measurement, a kernel or manual constant, or
//! `chosen`, when samples and field captures are right with it but nothing was measured. Limits on work and memory, and
//! numbers of formats, stay where they are used.

use std::ops::Range;

const US: i64 = 1_000;
const MS: i64 = 1_000 * US;
const S: i64 = 1_000 * MS;

// Clocks

/// Minimum resolution of timestamps that do not order calls, in nanoseconds: many calls start in one tick.
/// Source: chosen. `strace -t` has ticks of 1 s, and a traced call takes about 0.1 ms.
pub const COARSE_TICK_NS: i64 = MS;
/// Resolution of timestamps that give a call a whole second or nothing, in nanoseconds.
/// Source: `strace -t`.
pub const WHOLE_SECOND_NS: i64 = S;
/// Maximum number of such seconds whose calls cannot be told apart. Over more, slow calls are hit more often than others.
/// Source: chosen.
pub const MAX_COARSE_TICKS: i64 = 10;
/// Minimum number of calls in each of them. Of two calls, the one at which the second changes may well be the slow one.
/// Source: chosen.
pub const MIN_CALLS_PER_TICK: i64 = 8;
/// Resolution that the order of lines gives to calls of a coarse clock, in nanoseconds.
/// Source: chosen. It is the last digit that strace and truss print.
pub const PLACED_TICK_NS: i64 = US;
/// Maximum time by which a log line may precede the line above and still be a late line of the same clock.
/// Source: chosen. Larger steps back are clocks that were set.
pub const MAX_LATE_LOG_LINE_NS: i64 = 10 * S;
/// Maximum time by which a timestamp may precede the last one without being the start of another run.
/// Source: chosen. The first lines of a kernel differ by less.
pub const MAX_STEP_BACK_NS: i64 = 100 * MS;
/// Maximum time by which a call may seem to end after the next line of its thread.
/// Source: chosen. A tracer measures timestamp and duration separately.
pub const STAMP_TOLERANCE_NS: i64 = 50 * US;

/// Maximum duration of a call that never waits, where the tracer prints no durations. The rest is the program's own.
/// Source: measured. A call costs 25 to 500 us under strace, depending on the load.
pub const MAX_INSTANT_CALL_NS: i64 = 500 * US;
/// Maximum ratio of the upper bound of a duration to the CPU time of the kernel in the call, if the call took most of it.
/// Source: the rest is less than half.
pub const MAX_KERNEL_RATIO: i64 = 2;
/// Minimum share of the time of some calls, or of their number if they took none, that makes a function their caller.
/// Source: the rest is at most half.
pub const MIN_CALLER_SHARE: f64 = 0.5;
/// Maximum number of ticks between an event and the begin of the interval printed with the next event of its task.
/// Source: truss prints differences of rounded times, so they meet to the tick; one more for either end.
pub const INTERVAL_TOLERANCE_TICKS: i64 = 2;

// Starts and ends of tasks

/// Maximum time by which the end of a task may seem to follow the return of the call that waited for it.
/// Source: chosen. A tracer stops the waiter and the task that ends in any order.
pub const EXIT_TOLERANCE_NS: i64 = 2 * MS;
/// Maximum duration of the exit of a process that releases what it holds.
/// Source: chosen. Exits of processes with much memory, traced on a busy machine, exceeded [`EXIT_TOLERANCE_NS`].
pub const MAX_EXIT_NS: i64 = 100 * MS;
/// Maximum time after the end of a process in which its threads may still appear in the trace.
/// Source: chosen. Kernels reuse ids later: Linux goes through `pid_max` ids first.
pub const MAX_THREAD_AFTER_EXIT_NS: i64 = 100 * MS;
/// Maximum time from the call that creates a task to its first event. After a longer time, the task ran unseen.
/// Source: chosen.
pub const MAX_UNSEEN_START_NS: i64 = 10 * MS;

// Blocked calls

/// Minimum duration of a write that was blocked, tracing overhead included.
/// Source: chosen.
pub const MIN_BLOCKED_WRITE_NS: i64 = 100 * US;
/// Minimum duration of an open or a connect that was blocked, tracing overhead included. They do more than a write.
/// Source: chosen.
pub const MIN_BLOCKED_OPEN_NS: i64 = MS;
/// Minimum time between two messages to a peer after which the second one may repeat the first.
/// Source: the minimum retransmission timeout of Linux (TCP_RTO_MIN); RFC 6298 recommends one second.
pub const MIN_RESEND_NS: i64 = 200 * MS;
/// Minimum ratio of the time of one answer to that of all others together, for it to be told by itself.
/// Source: chosen. Of two answers that are as slow as each other, neither stands out.
pub const MIN_OUTLIER_RATIO: i64 = 2;
/// Minimum duration of a wait for input after a sleep. In a shorter one the input was already on its way.
/// Source: chosen.
pub const MIN_INPUT_WAIT_NS: i64 = MS;
/// Minimum ratio of a blocked open to the time between the open of the other side and its return.
/// Source: chosen.
pub const MIN_BLOCKED_OPEN_RATIO: i64 = 4;

/// Minimum ratio of the last block in a call to its longest one, inverted, if its waker ended the call.
/// Source: chosen. A task that was woken may have to wait for a lock of the kernel for some microseconds.
pub const MIN_LAST_BLOCK_SHARE: i64 = 16;
/// Maximum time by which a call may seem to end before the wake-up that ended it, on the clock of the kernel.
/// Source: chosen. Both clocks are read by different processes.
pub const MAX_LATE_CALL_NS: i64 = 100 * US;
/// Maximum time by which a wake-up precedes the switch away of the thread that it wakes: another processor makes it at
/// the same time.
/// Source: chosen. Both happen within some microseconds, unless an interrupt delays one of them.
pub const MAX_EARLY_WAKE_NS: i64 = 100 * US;
/// Tolerance of the offset between the clocks of scheduler events and of a tracer.
/// Source: chosen. strace reads its clock a little after the kernel did its work.
pub const OFFSET_TOLERANCE_NS: i64 = 20 * US;

// Parts of one wait

/// Maximum number of calls between two parts of a wait. Each part ran into its timeout.
/// Source: chosen.
pub const MAX_CALLS_BETWEEN_PARTS: usize = 12;
/// Maximum time between two parts of a wait. Each part ran into its timeout.
/// Source: chosen.
pub const MAX_BETWEEN_PARTS_NS: i64 = 10 * MS;
/// Minimum ratio of an interrupted wait to the cleanup before the next one, if both are one wait.
/// Source: chosen.
pub const MIN_WAIT_TO_CLEANUP_RATIO: i64 = 16;
/// Maximum duration of that cleanup.
/// Source: chosen.
pub const MAX_CLEANUP_NS: i64 = 100 * MS;
/// Maximum time between two attempts that are one: for several parts of a file, or in several ways.
/// Source: chosen.
pub const MAX_BETWEEN_ATTEMPTS_NS: i64 = MS;
/// Tolerance between the requested duration of a resumed sleep and the remainder of the interrupted one.
/// Source: chosen. The remainder includes the tracing overhead of the interruption.
pub const RESUMED_SLEEP_TOLERANCE_NS: i64 = 2 * MS;

// Sleeps, timeouts and rhythms

/// Durations that people choose as delays and timeouts, in nanoseconds.
/// Source: chosen. They are common as constants in programs; shorter ones occur too often by chance.
#[rustfmt::skip]
pub const CHOSEN_NS: &[i64] = &[
    50 * MS, 100 * MS, 200 * MS, 250 * MS, 300 * MS, 400 * MS, 500 * MS, 750 * MS,
    S, 3 * S / 2, 2 * S, 5 * S / 2, 3 * S, 4 * S, 5 * S, 6 * S, 8 * S, 10 * S, 12 * S, 15 * S, 20 * S, 25 * S, 30 * S,
    40 * S, 45 * S, 60 * S, 75 * S, 90 * S, 120 * S, 150 * S, 180 * S, 240 * S, 300 * S, 600 * S, 900 * S, 1200 * S,
    1800 * S, 3600 * S,
];
/// The shortest of them.
/// Source: see [`CHOSEN_NS`].
pub const MIN_CHOSEN_NS: i64 = CHOSEN_NS[0];
/// Minimum ratio of a chosen duration to the time by which a measured one exceeds it, and to the clock's tick.
/// Source: chosen. Timers of Linux are late by 50 us (`timerslack_ns`) and a scheduling delay.
pub const CHOSEN_PRECISION_RATIO: i64 = 100;
/// Maximum time by which a delay exceeds the chosen duration, on clocks that show it.
/// Source: timers fire at the next tick of the kernel, up to 10 ms at 100 Hz, and after a scheduling delay.
pub const MAX_TIMER_DELAY_NS: i64 = 20 * MS;
/// With ticks up to this, every chosen duration is recognized, regardless of [`CHOSEN_PRECISION_RATIO`].
/// Source: chosen. The shortest chosen duration has 50 such ticks.
pub const FINE_TICK_NS: i64 = MS;
/// Minimum ratio of harmless sleeps to sleeps that may have delayed something.
/// Source: chosen.
pub const MIN_HARMLESS_SLEEPS_RATIO: i64 = 4;
/// Minimum number of similar sleeps or timeouts of a rhythm.
/// Source: chosen. Two may be a coincidence.
pub const MIN_RHYTHM_WAITS: i64 = 3;
/// Number of the last calls of a task that show whether it only keeps a rhythm, so that the walk does not start there.
/// Source: chosen.
pub const LAST_RHYTHM_CALLS: usize = 64;
/// Minimum number of waits among these that ran into their timeouts.
/// Source: chosen. The virtual machine of Java has a thread that waits 50 ms again and again.
pub const MIN_LAST_TIMEOUTS: usize = 8;
/// The same where another task answers requests: a process that does so is a server.
/// Source: the timer thread of MariaDB has two in a capture of one query of 1 s.
pub const MIN_LAST_TIMEOUTS_OF_SERVERS: usize = 2;
/// Delays of acknowledgements, in nanoseconds, with a margin for the network.
/// Source: `TCP_DELACK_MIN` of Linux is 40 ms; BSD and Windows use 200 ms.
pub const DELAYED_ACK_NS: [Range<i64>; 2] = [38 * MS..60 * MS, 195 * MS..225 * MS];
/// A time limit that a library or a service sets unless it is told otherwise.
#[derive(Clone, Copy)]
pub struct KnownLimit {
    /// The limit.
    pub limit_ns: i64,
    /// Time that may have passed before the wait: libraries wait for the rest of their limit.
    pub slack_ns: i64,
    /// The port of the peer, where other programs use this length for other purposes, too.
    pub port: Option<i64>,
    /// Who sets it.
    pub name: &'static str,
}

/// Limits of waits for an answer whose length names who set them.
/// Source: D-Bus: `DBUS_DEFAULT_TIMEOUT` of libdbus, `g_dbus_connection_call(3)`, sd-bus. Resolver: `RES_TIMEOUT` in
/// `resolv.conf(5)`. MySQL: `connect_timeout` in its manual.
pub const KNOWN_LIMITS: [KnownLimit; 3] = [
    KnownLimit {
        limit_ns: 25 * S,
        slack_ns: 100 * MS,
        port: None,
        name: "the reply timeout of D-Bus",
    },
    KnownLimit {
        limit_ns: 5 * S,
        slack_ns: 10 * MS,
        port: Some(53),
        name: "the timeout of a resolver",
    },
    KnownLimit {
        limit_ns: 10 * S,
        slack_ns: 10 * MS,
        port: Some(3306),
        name: "the connect timeout of MySQL",
    },
];
/// Maximum interval of a watchdog thread. A longer sleep is a deliberate delay.
/// Source: `sysmon` of Go sleeps 20 us to 10 ms.
pub const MAX_WATCHDOG_INTERVAL_NS: i64 = 10 * MS;
/// The first sleeps of a watchdog that doubles its sleep while there is nothing to do.
/// Source: `sysmon` of runtime/proc.go of Go: `delay = 20`, then `delay *= 2`.
pub const WATCHDOG_SLEEPS_NS: [i64; 2] = [20 * US, 40 * US];
/// Number of calls before a sleep that show whether a thread is a watchdog.
/// Source: chosen.
pub const WATCHDOG_CALLS: usize = 16;
/// Minimum number of sleeps among these calls.
/// Source: chosen.
pub const MIN_WATCHDOG_SLEEPS: usize = 2;
/// Maximum number of working calls among these calls.
/// Source: `sysmon` of Go reads its cgroup limits now and then.
pub const MAX_WATCHDOG_WORK_CALLS: usize = 1;

/// Minimum number of equal pauses of a task before the end of another one that it awaits so.
/// Source: chosen, as for poll loops.
pub const MIN_PAUSES_BEFORE_END: usize = 3;
/// Maximum number of such pauses after that end.
/// Source: fio looks at its jobs a second time before it reports.
pub const MAX_PAUSES_AFTER_END: usize = 2;

/// Minimum share of a master's wait in which a worker serves a request, for the wait to count as the time of that worker.
/// Source: chosen. With less, the master idles for most of the time, and nobody works.
pub const MIN_SERVING_SHARE: f64 = 0.5;

/// Maximum share of the time from the start of a server's idle wait to an answer beside it in which the task that answers may have
/// waited for its own client.
/// Source: chosen. A TLS handshake before a late answer takes 1 % of it. With more, the client is late, and not the server.
pub const MAX_CLIENT_SHARE: f64 = 0.1;

/// Maximum number of calls of a worker that are searched for the start of its request.
/// Source: handlers of gunicorn, php-fpm and PostgreSQL make 5 to 60 calls before they wait for something.
pub const MAX_CALLS_OF_REQUEST: usize = 256;

// Loops and probes

/// Minimum number of turns of a sequence that a capture ends in, before it is a cycle.
/// Source: loops in public threads are quoted with three turns or more.
pub const MIN_CYCLE_TURNS: usize = 3;
/// The same where nothing repeats as often: what the two turns do must show by itself that they are a spin.
/// Source: people who copy three to eight lines of a spin copy two turns of it.
pub const MIN_PAIRED_TURNS: usize = 2;
/// Maximum number of calls of one turn of such a sequence.
/// Source: chosen. Retries of connections and probes of files take 2 to 10 calls.
pub const MAX_CYCLE_CALLS: usize = 16;

/// Minimum number of iterations of a loop. Fewer may be a coincidence.
/// Source: chosen.
pub const MIN_ITERATIONS: usize = 4;
/// One iteration of a loop in this many may deviate.
/// Source: chosen.
pub const ITERATIONS_PER_DEVIATION: usize = 10;
/// Minimum growth of calls per iteration from each eighth of a growing loop to the next.
/// Source: chosen. It excludes loops that grow only once, or up and down.
pub const MIN_GROWTH_RATIO: f64 = 1.03;
/// Maximum frequency, relative to the anchor, of a symbol that may occur once where the anchor occurs twice.
/// Source: chosen.
pub const MAX_HALF_FREQUENCY_RATIO: f64 = 0.6;
/// Minimum number of failed probes of a spin.
/// Source: chosen. Two in a row may be an accident of the search order.
pub const MIN_SPIN_PROBES: i64 = 3;
/// Maximum number of calls per iteration of a spin, including the probe. More are regular work.
/// Source: chosen.
pub const MAX_SPIN_CALLS: usize = 4;
/// Maximum number of probes between two pauses. More are regular work.
/// Source: chosen.
pub const MAX_PROBES_BETWEEN_PAUSES: usize = 128;
/// Maximum number of calls of a task between two of its checks of a condition.
/// Source: chosen.
pub const MAX_CALLS_BETWEEN_CHECKS: usize = 128;
/// Maximum number of calls between two steps of a search for a file or a program.
/// Source: chosen.
pub const MAX_CALLS_BETWEEN_STEPS: usize = 4;
/// Minimum number of steps of a walk through ancestor directories.
/// Source: chosen.
pub const MIN_WALK_STEPS: usize = 3;
/// Minimum number of waits of two tasks for each other. People quote a few lines of a long exchange.
/// Source: chosen.
pub const MIN_QUOTED_HANDOVERS: u64 = 10;
/// Minimum part of the waits of a task that the other task of a pair ended.
/// Source: chosen.
pub const MIN_MUTUAL_PERCENT: usize = 50;
/// Minimum number of polls in a row that return while nothing takes what is ready.
/// Source: chosen. Programs check a descriptor two or three times before they handle it.
pub const MIN_READY_POLLS: usize = 5;
/// Maximum duration of a poll whose descriptor was ready before.
/// Source: measured. Such a poll takes 5 to 60 us under strace, and up to some 100 us on a busy machine.
pub const MAX_READY_POLL_NS: i64 = MS;
/// The same where only the time until the next line is known, which includes time of the program and of the tracer.
/// Source: measured. In published captures without durations, ready polls follow each other after 1 ms.
pub const MAX_READY_GAP_NS: i64 = 5 * MS;
/// Maximum part of the polls of a series that last longer.
/// Source: measured. Of 3,000 ready polls, up to 3 took more than 1 ms while other processes ran.
pub const MAX_SLOW_POLLS_PERCENT: usize = 5;
/// Maximum part of such polls between which another task may take something. With more, that task is the consumer.
/// Source: chosen.
pub const MAX_TAKEN_PERCENT: usize = 10;
/// Minimum number of consecutive descriptors that are not open, from [`MIN_HIGH_FD`] on, that prove a sweep by themselves.
/// Source: chosen. People quote the first and the last lines of a sweep.
pub const MIN_HIGH_FDS: u32 = 3;
/// Minimum number of such a descriptor. No program that opens a few files has descriptors near it.
/// Source: chosen. The usual limit of open files is 1,024 or more.
pub const MIN_HIGH_FD: i32 = 1000;
/// Minimum number of failed calls of a sweep over descriptors.
/// Source: chosen.
pub const MIN_SWEEP_CALLS: usize = 8;
/// Targets with fewer reads, writes or syncs are merged into one row.
/// Source: chosen.
pub const MIN_TARGET_CALLS: usize = 16;

// Names, and messages of logs

/// Minimum length of a run of decimal digits that is replaced as a number.
/// Source: chosen. Shorter ones are part of a name (`libc.so.6`, `x86_64`).
pub const MIN_NUMBER_DIGITS: usize = 3;
/// Minimum length of a hexadecimal word with a decimal digit that is an id.
/// Source: git abbreviates hashes to 7 digits; the first part of a UUID has 8.
pub const MIN_HEX_ID_DIGITS: usize = 7;
/// First port that identifies a connection rather than a service.
/// Source: the first ephemeral port of Linux (`ip_local_port_range`) and illumos (`tcp_smallest_anon_port`).
pub const FIRST_EPHEMERAL_PORT: u32 = 32768;
/// Minimum number of items of a stage. Fewer have no rhythm.
/// Source: chosen.
pub const MIN_ITEMS: usize = 3;
/// Minimum percentage of distinct values among messages about items.
/// Source: chosen. Now and then a message comes twice.
pub const MIN_DISTINCT_PERCENT: usize = 80;
/// Minimum percentage of the items of the smaller of two stages that the other one contains if both are about one kind.
/// Source: chosen. Where a log is truncated, fewer items have reached the later stages.
pub const MIN_SHARED_ITEMS_PERCENT: usize = 80;
/// Minimum length of a duration that costs are divided by, in clock ticks.
/// Source: the error of the quotient is up to one fifth.
pub const MIN_DIVISOR_TICKS: i64 = 5;
/// Maximum number of distinct messages of a log with stages.
/// Source: chosen. With more it is free text, in which some words agree by chance.
pub const MAX_MESSAGE_FORMS: usize = 10_000;
/// Minimum number of silences after one message, word by word, of which it is the rhythm although the message begins something.
/// Source: chosen, from the log of a phone with 61. Work on several items names them.
pub const MIN_RHYTHM_OF_WORK: i64 = 12;
/// Minimum length of a log that may have idle times of its own. Shorter ones show one activity.
/// Source: chosen. Boots, shutdowns and starts of services are shorter.
pub const MIN_RUNNING_LOG_NS: i64 = 600 * S;
/// Minimum ratio of an unusual silence of such a log to a usual one.
/// Source: chosen. Silences of an idle machine differ by this much.
pub const MIN_UNUSUAL_SILENCE_RATIO: i64 = 4;
/// Logs of this length or more: their silences cost no known time.
/// Source: chosen. A log of days is that of a machine or a service, which is idle at night.
pub const SEVERAL_DAYS_NS: i64 = 24 * 3600 * S;
/// The ratio of [`MIN_UNUSUAL_SILENCE_RATIO`] for a log of days.
/// Source: chosen. A weekend is as long as six nights.
pub const MIN_UNUSUAL_OF_DAYS_RATIO: i64 = 10;
/// Which of the longest other silences of a log is a usual one.
/// Source: chosen. Two long ones may have causes of their own.
pub const USUAL_SILENCE_RANK: usize = 3;
/// Maximum difference between the starts of an event that several messages about its progress imply.
/// Source: chosen. They print whole seconds.
pub const MAX_PROGRESS_DRIFT_NS: i64 = 3 * S / 2;
/// Maximum number of lines after a message without a timestamp that are searched for the next timestamp.
/// Source: chosen. A console prints a few lines of jobs between two messages of the kernel.
pub const MAX_UNDATED_LINES: usize = 64;
/// A silence belongs to a message at its end that states a minimum duration, if the duration is at least one in this many
/// parts of it.
/// Source: the kernel reports a blocked task between one and two of its periods after the task began to wait, and the silence
/// may be older.
pub const MAX_BOUND_PARTS: i64 = 4;
/// Maximum number of unrelated messages in a wait that one message begins and another ends.
/// Source: a USB device that is plugged in logs six.
pub const MAX_BYSTANDERS: usize = 8;
/// A silence up to this many times the duration that the message before it states is not blamed: the message reports that
/// something has ended, and begins nothing.
/// Source: chosen.
pub const MAX_SILENCE_AFTER_STATED: i64 = 5;
/// Share of the messages of a log that state durations, from which on it only reports what is slow, and is silent otherwise.
/// Source: chosen, from logs of slow queries, locks and flushes.
pub const MIN_STATING_SHARE: f64 = 0.8;
/// Minimum number of messages of such a log.
/// Source: chosen. A job of a few steps may state how long each took.
pub const MIN_STATING_MESSAGES: usize = 5;
/// Maximum time from the end of a wait to the next message of what waited.
/// Source: chosen. A daemon starts in less.
pub const MAX_RESUME_NS: i64 = 2 * S;
/// Minimum percentage of equal words of two messages of one form that differ in several words.
/// Source: chosen. He et al., *Drain: An Online Log Parsing Approach with Fixed Depth Tree*, ICWS 2017, merge from 40 to 50% on;
/// times that are added up need a message that is nearly the same.
pub const MIN_EQUAL_WORDS_PERCENT: usize = 60;
/// Minimum number of equal words of such messages.
/// Source: chosen.
pub const MIN_EQUAL_WORDS: usize = 4;
/// Minimum number of fixed words when a single message is the only evidence that another word is a name.
/// Source: chosen.
pub const MIN_FIXED_WORDS: usize = 2;

// Phrases of messages of logs, in lower case; each begins a word

/// Phrases of messages about a wait without success: a limit was reached, or it goes on.
/// Source: messages of systemd, dracut, the kernel of Linux, containerd, Go and clients of databases.
#[rustfmt::skip]
pub const WAIT_PHRASES: &[&str] = &[
    "timed out", "timedout", "etimedout", "time out after", "timeout expired", "timeout exceeded", "timeout reached",
    "timeout waiting", "timeout while", "timeout after", "timeout,", "timeout -", "'timeout'", "deadline exceeded",
    "giving up", "gave up", "give up on", "still waiting", "still trying", "still not", "not responding", "no response",
    "unresponsive", "did not respond", "does not respond", "didn't respond", "no answer", "no reply", "not answering",
    "killing", "kill container", "sigkill", "using the force", "did not exit", "didn't exit", "failed to exit", "did not stop",
    "not stopped within", "not ready after", "taking longer", "taking too long", "hung for", "stuck for",
    "blocked for more than", "slow to respond", "lockup", "retries exhausted", "max retries", "maximum retries",
    "too many retries", "no route to host", "a start job is running", "a stop job is running",
];
/// Phrases of messages about a failure.
/// Source: chosen.
#[rustfmt::skip]
pub const FAILURE_PHRASES: &[&str] = &[
    "failed", "failure", "unable to", "could not", "couldn't", "cannot connect", "can't connect",
];
/// Phrases of messages about failures that somebody outside causes at any time, and about counts of failures.
/// Source: sshd and PAM; summaries of tests.
#[rustfmt::skip]
pub const FOREIGN_FAILURES: &[&str] = &[
    "password", "login", "authenticat", "pam_", "preauth", "invalid user", "0 failed", "failed=0", "failed: 0",
];
/// Phrases of messages after a rest: the machine or a device slept, and nothing waited.
/// Source: `PM:` of the kernel of Linux, and kernels of network storages, whose disks sleep.
#[rustfmt::skip]
pub const REST_PHRASES: &[&str] = &[
    "wake up from", "woke up", "waking up", "resuming from", "resumed from", "suspend exit", "hibernation exit",
    "system resumed",
];
/// Phrases of programs that have nothing to do until something arrives from outside.
/// Source: messages of MySQL, PostgreSQL, nginx and web frameworks.
#[rustfmt::skip]
pub const IDLE_PHRASES: &[&str] = &[
    "waiting for connections", "waiting for a connection", "waiting for incoming", "waiting for requests",
    "waiting for clients", "waiting for events", "waiting for jobs", "waiting for work", "ready for connections",
    "ready to accept", "ready to handle", LISTENING,
];
/// A program says so before it has started, too: systemd listens for the services of a boot.
/// Source: `Listening on %s` of systemd.socket(5).
pub const LISTENING: &str = "listening";
/// Phrases of work that is spread over minutes on purpose.
/// Source: PostgreSQL spreads the writes of a checkpoint that nobody requested: `checkpoint_completion_target`, 0.9 since version 14.
#[rustfmt::skip]
pub const SPREAD_PHRASES: &[&str] = &[
    "checkpoint starting: time", "checkpoint starting: wal", "checkpoint starting: xlog", "checkpoint complete: ",
    "restartpoint starting: time", "restartpoint starting: wal", "restartpoint starting: xlog", "restartpoint complete: ",
];
/// Phrases of messages with the duration of a whole start, before that duration.
/// Source: systemd, Tomcat, containerd, Spring, Jetty, WildFly, OpenSearch.
pub const WHOLE_START_PHRASES: [&str; 6] = [
    "Startup finished in ",
    "Server startup in ",
    "booted in ",
    "Started in ",
    " started in ",
    " ready in ",
];
/// Phrases of work beside the job that a timer starts, which nothing waits for.
/// Source: autovacuum of PostgreSQL, logrotate, units of systemd with timers, `took %s seconds in background` of Android's init,
/// rdb.c and aof.c of Redis.
#[rustfmt::skip]
pub const BACKGROUND_PHRASES: &[&str] = &[
    "automatic vacuum", "automatic analyze", "automatic aggressive vacuum", "autovacuum", "logrotate", "log rotation", "rotate log",
    "rotating log", "rotated log", "backup", "fstrim", "discard unused", "e2scrub", "scrub", "updatedb", "plocate",
    "apt-daily", "daily apt", "cleanup of temporary", "systemd-tmpfiles-clean", "in background", "background saving",
    "background append only file", "background aof",
];
/// Phrases for what does not answer, and those that end it.
/// Source: clients of NFS, SUN RPC, Ceph, CIFS and iSCSI in the kernel of Linux; messages about hosts.
#[rustfmt::skip]
pub const OUTAGE_PHRASES: &[(&str, &[&str])] = &[
    ("not responding", &["ok", "responding again", "is responding", "recovered", "is back"]),
    ("has not responded", &["ok", "responding again", "recovered", "is back"]),
    ("unresponsive", &["responsive", "responsive again", "responding again", "ok", "recovered"]),
    ("unreachable", &["reachable", "reachable again", "ok", "recovered"]),
    ("unavailable", &["available", "available again", "ok", "recovered"]),
];

// Cost of tracing, and what a capture can show

/// Minimum number of trivial calls that give the cost of tracing.
/// Source: chosen.
pub const MIN_TRIVIAL_CALLS: u64 = 10;
/// Share of the trivial calls that take less than the minimum cost. The slower ones did some work, or waited for a CPU.
/// Source: chosen.
pub const MIN_COST_SHARE: f64 = 0.1;
/// The share of gaps between calls whose CPU time is no more than what it costs a task to stop for a tracer.
/// Source: measured. In dd with blocks of 64 bytes, which does next to nothing between calls, it is 15 of 16 us.
pub const MIN_STOP_CPU_SHARE: f64 = 0.25;
/// Maximum CPU time that it costs a task to stop for a tracer and to go on. What is above is the program's own.
/// Source: measured. 11 to 18 us between two calls, the caches included.
pub const MAX_STOP_CPU_NS: i64 = 20 * US;
/// Minimum number of calls whose mean is an estimate.
/// Source: measured. One call in a hundred takes a thousand times as long as the others.
pub const MIN_MEAN_CALLS: u64 = 100;
/// Maximum delay by the tracer. A longer one is a wait of its own.
/// Source: measured. A call costs 25 to 500 us under strace, depending on the load.
pub const MAX_TRACER_DELAY_NS: i64 = 10 * MS;
/// Maximum gap between calls without work of the program.
/// Source: measured. Up to 100 us between calls that follow one another at once.
pub const MAX_TRACER_GAP_NS: i64 = 120 * US;
/// Maximum ratio of the tracer's work after a call to its work in the call. Longer gaps belong to the program.
/// Source: chosen.
pub const MAX_AFTER_CALL_RATIO: i64 = 6;
/// Maximum ratio of a total that a message states to the parts before it. Above it, the total adds up more than these.
/// Source: chosen.
pub const MAX_TOTAL_TO_PARTS: i64 = 2;
/// Maximum number of bytes of reads and writes that mostly find their page in memory.
/// Source: chosen.
pub const MAX_SMALL_IO_BYTES: i64 = 64;
/// Maximum ratio of the typical duration of calls that return at once to that of trivial calls.
/// Source: chosen.
pub const MAX_QUICK_CALL_RATIO: i64 = 2;
/// Maximum ratio of the quickest calls of a kind that does nothing to the quickest of all calls. Slower kinds do something.
/// Source: chosen. Kinds that do nothing differ by a factor of up to three under one tracer.
pub const MAX_KIND_RATIO: i64 = 30;
/// Minimum number of calls of a capture that should contain the start of a program. Fewer are an excerpt.
/// Source: chosen.
pub const MIN_CAPTURE_CALLS: u64 = 100;
/// Minimum number of sockets that a program makes and never closes, so that the closing calls are missing.
/// Source: chosen. One may stay open; a program that makes more has done with some.
pub const MIN_UNCLOSED_SOCKETS: u64 = 3;
/// Maximum number of calls between a request and the wait for its answer, in a replay.
/// Source: chosen. A client that sends a request in parts, or polls for the answer, makes fewer than ten.
pub const MAX_CALLS_SINCE_REQUEST: usize = 64;
/// Maximum number of calls of a thread after its wait for a timer, within which another thread's wait for the same one ends.
/// Source: chosen. The runtime of Go makes up to six calls to wake the threads that it needs.
pub const MAX_CALLS_SINCE_TIMER: usize = 16;
/// Minimum share of the life of a child that is sleep, for the child to be a pause of its creator.
/// Source: chosen. `sleep 0.1` is at least 60% sleep, however slow the tracer makes its start.
pub const MIN_PAUSE_SHARE: f64 = 0.5;
/// Maximum number of bytes that one call moves. Sums of more could overflow.
/// Source: Linux moves less than 2 GiB in a call (MAX_RW_COUNT), other systems at most what memory holds.
pub const MAX_MOVED_BYTES: i64 = 1 << 40;
