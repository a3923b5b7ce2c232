//! The one list of columns: table, name, Arrow type, unit, and what the value is.

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The table.
    pub table: &'static str,
    /// The name.
    pub name: &'static str,
    /// Arrow type: `i64`, `i32`, `u32`, `u64`, `f64`, `bool`, `dict` (texts) or `list` (of texts).
    pub kind: &'static str,
    /// Unit: `ns`, `bytes`, `share`, or empty.
    pub unit: &'static str,
    /// One sentence.
    pub says: &'static str,
}

macro_rules! columns {
    ($($table:literal { $($name:literal $kind:ident $unit:literal $says:literal;)* })*) => {
        /// All columns of all tables, in the order in which they come.
        pub const COLUMNS: &[Column] = &[$($(
            Column { table: $table, name: $name, kind: stringify!($kind), unit: $unit, says: $says },
        )*)*];
    };
}

columns! {
    "events" {
        "line" u64 "" "Line in the file, from 1.";
        "file" dict "" "File that the line is in.";
        "tid" i32 "" "Thread id.";
        "pid" i32 "" "Process id.";
        "task" u32 "" "Number of the task; a reused id is another task.";
        "program" dict "" "Program at that moment.";
        "start_ns" i64 "ns" "When it began, on the capture's clock.";
        "end_ns" i64 "ns" "When it ended.";
        "dur_ns" i64 "ns" "How long it took; what kind of duration this is says dur_kind.";
        "cpu_ns" i64 "ns" "CPU time, where the tracer prints it.";
        "requested_ns" i64 "ns" "How long it was asked to take at most: of sleeps and of waits with a limit.";
        "kind" dict "" "call, signal, exit, process or log.";
        "syscall" dict "" "Name of the system call; of the signal for a signal; the subsystem for a message.";
        "op" dict "" "Sub-operation: ioctl request, fcntl command, futex operation.";
        "target" dict "" "What it works on: path, peer, pipe, address; the text of a message.";
        "shape" dict "" "Call, sub-operation, normalised target and outcome together.";
        "ret" i64 "" "Value returned.";
        "errno" dict "" "Name of the error.";
        "bytes" i64 "bytes" "Bytes moved.";
        "outcome" dict "" "ok, failed, interrupted, noreturn, open or unavailable.";
        "dur_kind" dict "" "exact, upper-bound (user time is in it), gap or none.";
        "args" dict "" "Arguments as the line has them, read from the file when asked for by name.";
    }
    "calls" {
        "syscall" dict "" "Name of the system call.";
        "op" dict "" "Sub-operation.";
        "shape" dict "" "Call, sub-operation, normalised target and outcome together.";
        "target" dict "" "What it works on.";
        "errno" dict "" "Name of the error.";
        "outcome" dict "" "How it ended.";
        "program" dict "" "Program at that moment.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "task" u32 "" "Number of the task.";
        "calls" i64 "" "Number of calls.";
        "failed" i64 "" "Number of calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations; over several tasks not wall time.";
        "exclusive_ns" i64 "ns" "Wall time charged to these calls on the path.";
        "min_ns" i64 "ns" "Shortest duration.";
        "mean_ns" i64 "ns" "Mean duration.";
        "p50_ns" i64 "ns" "Median duration, within 1 %.";
        "p90_ns" i64 "ns" "Nine in ten took at most this, within 1 %.";
        "p99_ns" i64 "ns" "99 in 100 took at most this, within 1 %.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved.";
        "first_line" i64 "" "Line of the first of these calls.";
        "last_line" i64 "" "Line of the last of these calls.";
    }
    "tasks" {
        "task" u32 "" "Number of the task.";
        "capture" u32 "" "Number of the capture.";
        "tid" i32 "" "Thread id at birth.";
        "pid" i32 "" "Process id.";
        "creator" u32 "" "Task that created it.";
        "creator_pid" i32 "" "Process id of the creator.";
        "created_by" dict "" "Call that created it.";
        "is_thread" bool "" "Whether it is a thread beside the main one.";
        "birth_ns" i64 "ns" "Start of its first event; if that comes late, the end of the call that created it.";
        "death_ns" i64 "ns" "Its end, if the capture shows it.";
        "exit_code" i32 "" "Exit status.";
        "exit_signal" dict "" "Signal that killed it.";
        "superseded" bool "" "Whether another thread's execve took its id.";
        "program" dict "" "The last program it ran.";
        "argv" dict "" "Arguments of that program.";
        "calls" i64 "" "Number of calls.";
        "failed" i64 "" "Number of calls that failed.";
        "signals" i64 "" "Signals delivered to it.";
        "in_call_ns" i64 "ns" "Time in calls.";
        "gap_ns" i64 "ns" "Time between calls; with in_call_ns its whole life.";
        "stopped_ns" i64 "ns" "The part of gap_ns in which a signal had stopped it.";
        "exclusive_ns" i64 "ns" "Wall time charged to it on the path.";
        "first_line" i64 "" "Its first line.";
        "last_line" i64 "" "Its last line.";
    }
    "processes" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of its main task.";
        "pid" i32 "" "Process id.";
        "parent_task" u32 "" "Task that created it.";
        "parent_pid" i32 "" "Process that created it.";
        "program" dict "" "The last program it ran.";
        "argv" dict "" "Arguments of that program.";
        "birth_ns" i64 "ns" "Start of its first event; if that comes late, the end of the call that created it.";
        "death_ns" i64 "ns" "Its end, if the capture shows it.";
        "exit_code" i32 "" "Exit status.";
        "exit_signal" dict "" "Signal that killed it.";
        "wall_ns" i64 "ns" "Length of its life as far as the capture shows it.";
        "exclusive_ns" i64 "ns" "Wall time charged to it on the path.";
        "in_call_ns" i64 "ns" "Time in calls, over all of its threads.";
        "gap_ns" i64 "ns" "Time between calls, over all of its threads.";
        "stopped_ns" i64 "ns" "The part of gap_ns in which a signal had stopped them.";
        "slack_ns" i64 "ns" "How much longer it could have gone on without moving the end, as far as the trace shows who waited for it; missing where unknown.";
        "calls" i64 "" "Number of calls.";
        "failed" i64 "" "Number of calls that failed.";
        "threads" i64 "" "Number of its tasks, the main one included.";
        "first_line" i64 "" "Its first line.";
    }
    "loops" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first turn.";
        "turns" i64 "" "How often it went round.";
        "period" i64 "" "Calls in the commonest turn.";
        "body" list "" "The calls of the commonest turn.";
        "total_ns" i64 "ns" "From the first turn to the end of the last.";
        "per_turn_ns" i64 "ns" "Mean length of a turn.";
        "dominant" dict "" "The call that costs most.";
        "class" dict "" "What that call spends time on.";
        "dominant_ns" i64 "ns" "Time in the dominant call.";
        "dominant_calls" i64 "" "Number of dominant calls.";
        "dominant_p50_ns" i64 "ns" "The dominant call takes this time or less in half of the cases.";
        "failing" dict "" "A call of the body that fails in every turn.";
        "distinct_targets" i64 "" "Different targets of the dominant call.";
        "bytes" i64 "bytes" "Bytes that its calls moved.";
        "trend" f64 "" "Time of the last quarter of the turns for each second of the first quarter: above 1 they get slower.";
        "calls_trend" f64 "" "Calls in a turn of the last eighth of the turns for each call in one of the first; missing unless they rise from eighth to eighth.";
        "outer_turns" i64 "" "How often a loop around it went round; missing if there is none that costs little itself.";
        "outer_body" list "" "The calls of the commonest turn of the loop around it.";
        "outer_trend" f64 "" "The trend of the loop around it.";
        "outer_calls_trend" f64 "" "The trend of its calls.";
        "exclusive_ns" i64 "ns" "Time on the path from the first turn to the last, between the calls too.";
        "share" f64 "share" "The part of the window that this is.";
        "dominant_exclusive_ns" i64 "ns" "Time on the path in the dominant call.";
        "freeable_ns" i64 "ns" "Time on the path without the part of it that calls that do nothing take of the dominant call: that is the tracer's.";
        "first_line" i64 "" "First line of the loop.";
        "last_line" i64 "" "Last line of the loop.";
    }
    "io" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are taken together.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program at the first of these calls.";
        "processes" i64 "" "Number of processes taken together: 1, or several of one program that have little time each.";
        "way" dict "" "read, write, copy (from one descriptor to another) or list (entries of a directory).";
        "syscall" dict "" "The commonest of the system calls.";
        "target" dict "" "What was read or written; missing where targets with few calls each are taken together.";
        "targets" i64 "count" "Number of different targets.";
        "class" dict "" "What time in these calls is spent on: disk, ipc, network, terminal, …";
        "moved" i64 "count" "Number of calls that moved at least one byte.";
        "mean_bytes" i64 "bytes" "Mean size of those.";
        "min_bytes" i64 "bytes" "The smallest of those.";
        "p50_bytes" i64 "bytes" "Median size of those.";
        "max_bytes" i64 "bytes" "The largest of those.";
        "seeks" i64 "count" "How often the process moved the position in these targets (lseek).";
        "p50_ns" i64 "ns" "Median duration of the calls.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of them that failed.";
        "total_ns" i64 "ns" "Sum of their durations.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "max_ns" i64 "ns" "The longest of them.";
        "bytes" i64 "bytes" "Bytes that they moved.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "lookups" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are taken together.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program at the first of these calls.";
        "processes" i64 "" "Number of processes taken together: 1, or several of one program that have little time each.";
        "kind" dict "" "search (names looked for in the same directories), marker (one name in many places), probe (others).";
        "syscall" dict "" "The commonest of the system calls.";
        "target" dict "" "The path that was looked for most often, the first of several.";
        "ending" dict "" "The commonest ending of the names, without the dot.";
        "searches" i64 "count" "How often a name was looked for.";
        "found" i64 "count" "How many of these searches found it in the end.";
        "names" i64 "" "Number of different names, without their endings.";
        "directories" i64 "" "Number of directories in which they were not.";
        "searched" list "" "Those of them with the most misses.";
        "misses" i64 "count" "Number of lookups that missed.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of them that failed.";
        "total_ns" i64 "ns" "Sum of their durations.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "max_ns" i64 "ns" "The longest of them.";
        "bytes" i64 "bytes" "Bytes that they moved.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "syncs" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are taken together.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program at the first of these calls.";
        "processes" i64 "" "Number of processes taken together: 1, or several of one program that have little time each.";
        "syscall" dict "" "Name of the system call.";
        "target" dict "" "What was synced; missing where targets with few syncs each are taken together.";
        "targets" i64 "count" "Number of different targets.";
        "opened" bool "" "Whether these are writes to files that were opened so that each is a sync (O_SYNC, O_DSYNC).";
        "writes" i64 "count" "Number of writes of the process to these targets between the syncs.";
        "each_bytes" i64 "bytes" "Bytes written for each sync, in the mean.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of them that failed.";
        "total_ns" i64 "ns" "Sum of their durations.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "max_ns" i64 "ns" "The longest of them.";
        "bytes" i64 "bytes" "Bytes written between them.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "outliers" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program that made the call.";
        "syscall" dict "" "Name of the system call.";
        "op" dict "" "Its sub-operation.";
        "target" dict "" "What it worked on.";
        "errno" dict "" "Name of the error, if it failed.";
        "class" dict "" "What its time was spent on: disk, network, poll, lock, …";
        "dur_ns" i64 "ns" "How long it took.";
        "others" i64 "" "Number of other calls of its kind: the same syscall and sub-operation by the same program.";
        "p50_ns" i64 "ns" "Median duration of the kind.";
        "factor" f64 "" "How many times the median it took.";
        "as_long" i64 "" "Number of the others that took at least half as long.";
        "exclusive_ns" i64 "ns" "Its time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Its line.";
        "last_line" i64 "" "Its line.";
    }
    "rereads" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are taken together.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program at the first of these calls.";
        "processes" i64 "" "Number of processes taken together: those that read the file.";
        "target" dict "" "The file; missing where files with little time each are taken together.";
        "targets" i64 "count" "Number of files.";
        "opens" i64 "count" "How often it was opened and read from the start.";
        "size_bytes" i64 "bytes" "Bytes of the largest pass: how much there is to read.";
        "written" bool "" "Whether one of these processes wrote to it, too.";
        "calls" i64 "count" "Number of calls of all passes but the first.";
        "failed" i64 "count" "Number of them that failed.";
        "total_ns" i64 "ns" "Sum of their durations.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "max_ns" i64 "ns" "The longest of them.";
        "bytes" i64 "bytes" "Bytes that were read again.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "rescans" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are taken together.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program at the first of these calls.";
        "processes" i64 "" "Number of processes taken together: 1, or several of one program that have little time each.";
        "kind" dict "" "file, directory, or requests (entries asked for by ioctl).";
        "syscall" dict "" "The commonest of the system calls.";
        "op" dict "" "The request by which entries are asked for.";
        "target" dict "" "What is gone through.";
        "scans" i64 "count" "How often it was gone through from the start.";
        "entries" i64 "count" "Number of calls that gave something, in all scans.";
        "entries_per_scan" f64 "" "The same for each scan.";
        "written" bool "" "Whether the process wrote to it, too.";
        "calls" i64 "count" "Number of calls of all scans but the first.";
        "failed" i64 "count" "Number of them that failed.";
        "total_ns" i64 "ns" "Sum of their durations.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "max_ns" i64 "ns" "The longest of them.";
        "bytes" i64 "bytes" "Bytes that they moved.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "metadata" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are taken together.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program at the first of these calls.";
        "processes" i64 "" "Number of processes taken together: 1, or several of one program that have little time each.";
        "syscall" dict "" "Name of the system call.";
        "target" dict "" "The path that was asked about again most often.";
        "most" i64 "" "How often it was.";
        "paths" i64 "count" "Number of paths that were asked about again.";
        "asked" i64 "count" "Number of all calls of this syscall.";
        "calls" i64 "count" "Number of repeats: the same call on the same path with the same answer as before.";
        "failed" i64 "count" "Number of them that failed.";
        "total_ns" i64 "ns" "Sum of their durations.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "max_ns" i64 "ns" "The longest of them.";
        "bytes" i64 "bytes" "Bytes that they moved.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "ancestor_walks" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are taken together.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program at the first of these calls.";
        "processes" i64 "" "Number of processes taken together: 1, or several of one program that have little time each.";
        "way" dict "" "down (a path is resolved component by component) or up (a file is looked for in each directory above).";
        "syscall" dict "" "The commonest of the system calls.";
        "target" dict "" "The path that was looked up again most often.";
        "paths" i64 "count" "Number of paths that were looked up again.";
        "walks" i64 "count" "Number of walks of at least three steps.";
        "steps" i64 "count" "Number of their steps.";
        "calls" i64 "count" "Number of steps that an earlier walk had made, too.";
        "failed" i64 "count" "Number of them that failed.";
        "total_ns" i64 "ns" "Sum of their durations.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "max_ns" i64 "ns" "The longest of them.";
        "bytes" i64 "bytes" "Bytes that they moved.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "fd_sweeps" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are taken together.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program at the first of these calls.";
        "processes" i64 "" "Number of processes taken together: 1, or several of one program that have little time each.";
        "syscall" dict "" "Name of the system call.";
        "sweeps" i64 "count" "Number of sweeps: most of at least eight calls in a row met no open descriptor.";
        "longest" i64 "" "Calls of the longest sweep.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of them that failed.";
        "total_ns" i64 "ns" "Sum of their durations.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "max_ns" i64 "ns" "The longest of them.";
        "bytes" i64 "bytes" "Bytes that they moved.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "commands" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "The program that was run.";
        "argv" dict "" "Its arguments, without numbers.";
        "runs" i64 "count" "How often it was run.";
        "commands" i64 "count" "Number of such command lines: 1.";
        "distinct" i64 "" "Number of different command lines, numbers and all.";
        "parents" i64 "" "Number of different tasks that ran it.";
        "is_cut" bool "" "Whether the tracer cut the arguments, so that the rest may differ.";
        "alike" bool "" "Whether all runs ended with the same status and, with what they started, read and wrote as many bytes, none of them from a pipe that others filled.";
        "life_ns" i64 "ns" "Sum of the lives of all runs.";
        "longest_ns" i64 "ns" "Life of the longest run.";
        "exclusive_ns" i64 "ns" "Time on the path of all runs, in and between calls.";
        "share" f64 "share" "The part of the window that this is.";
        "inclusive_ns" i64 "ns" "The same with all that the runs started.";
        "repeated_ns" i64 "ns" "Time on the path of all runs but the costliest.";
        "first_line" i64 "" "First line of the first run.";
        "last_line" i64 "" "Last line of the last run.";
    }
    "siblings" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program of the parent.";
        "child_program" dict "" "Program that the children run.";
        "commands" list "" "The first few of their different command lines.";
        "children" i64 "count" "Number of children.";
        "dependent" i64 "count" "Number of children that needed an earlier one, as far as files and pipes tell: it wrote what they read, or what their parent read.";
        "at_once" i64 "" "How many lived at once at most.";
        "serial_share" f64 "share" "Of the time in which any lived, the part in which only one did.";
        "wall_ns" i64 "ns" "From the first birth to the last end.";
        "sum_ns" i64 "ns" "Sum of their lives.";
        "longest_ns" i64 "ns" "The longest life.";
        "parallel" f64 "" "How many ran at once on the average, as it seems: sum over wall.";
        "lock_wait_ns" i64 "ns" "Time that they and their descendants waited for locks on files.";
        "effective" f64 "" "How many ran at once on the average without that waiting.";
        "exclusive_ns" i64 "ns" "Time on the path of the children and all that they started.";
        "share" f64 "share" "The part of the window that this is.";
        "could_free_ns" i64 "ns" "That without the costliest child: what running all at once could free.";
        "first_line" i64 "" "First line of the first child.";
        "last_line" i64 "" "Last line of the last child.";
    }
    "locks" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program of who waited longest.";
        "kind" dict "" "file, mutex or futex.";
        "syscall" dict "" "The system call that waits.";
        "op" dict "" "Its sub-operation.";
        "target" dict "" "The lock: the file, or the address in the process.";
        "waiters" i64 "" "Number of tasks that asked for it.";
        "holders" i64 "" "Number of tasks that somebody waited for.";
        "calls" i64 "count" "How often it was asked for.";
        "handed_on" i64 "count" "Waits that were ended by a task which asks for the lock itself, or by a child of it.";
        "convoy" i64 "" "How many asked at once at most.";
        "total_ns" i64 "ns" "Sum of all waits; over several tasks not wall time.";
        "max_ns" i64 "ns" "The longest wait.";
        "own_ns" i64 "ns" "Time on the path in the waits themselves; the rest of it is the holders'.";
        "exclusive_ns" i64 "ns" "Time on the path while who is waited for waits for this lock, whoever works meanwhile.";
        "share" f64 "share" "The part of the window that this is.";
        "longest_hold_ns" i64 "ns" "The longest part of it without the lock being handed on.";
        "could_free_ns" i64 "ns" "What would be free if nobody had to wait for another: all but the longest hold.";
        "holder_pid" i32 "" "Who ended the longest wait.";
        "holder_program" dict "" "Its program.";
        "holder_did" dict "" "Program and call that the holder and its children spent most time in meanwhile.";
        "first_line" i64 "" "Line of the first wait.";
        "last_line" i64 "" "Line of the last wait.";
    }
    "forks" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program of the creator.";
        "kind" dict "" "processes or threads.";
        "syscall" dict "" "The system call that took longest to create one.";
        "created" i64 "count" "How many were created.";
        "gone" i64 "count" "How many of them the capture sees end.";
        "programs" i64 "count" "How many of them ran a program of their own.";
        "at_once" i64 "" "How many lived at once at most.";
        "mean_life_ns" i64 "ns" "Mean life of those that ended.";
        "p90_life_ns" i64 "ns" "Nine in ten of those lived at most so long.";
        "mean_calls" i64 "" "How many calls each of them made in the mean.";
        "calls" i64 "count" "Number of calls that created them.";
        "total_ns" i64 "ns" "Sum of the durations of these calls.";
        "p50_ns" i64 "ns" "Half of them take at most so long.";
        "max_ns" i64 "ns" "The longest of them.";
        "calls_exclusive_ns" i64 "ns" "Time on the path in these calls.";
        "exclusive_ns" i64 "ns" "Time on the path in these calls and in what they created.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first of these calls.";
        "last_line" i64 "" "Line of the last of these calls.";
    }
    "stops" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at that moment.";
        "kind" dict "" "stopped or killed.";
        "signal" dict "" "The signal that did it.";
        "stops" i64 "count" "How often.";
        "total_ns" i64 "ns" "How long it was stopped.";
        "max_ns" i64 "ns" "The longest stop.";
        "sender_pid" i32 "" "Who sent the signal, if the capture shows that.";
        "sender_program" dict "" "Its program.";
        "after_term_ns" i64 "ns" "How long before a SIGKILL the same process was sent a SIGTERM.";
        "exclusive_ns" i64 "ns" "Time on the path in which it was stopped.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first stop, or of the call that killed it.";
        "last_line" i64 "" "Line of the last stop, or of its end.";
    }
    "cpu" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "The program.";
        "gaps" i64 "count" "Number of gaps on the path.";
        "calls" i64 "count" "Number of calls of the program.";
        "calls_per_s" f64 "" "Calls for each second from its first to its last.";
        "exclusive_ns" i64 "ns" "Time on the path between calls.";
        "share" f64 "share" "The part of the window that this is.";
        "tracing_ns" i64 "ns" "The part of it that tracing costs at least.";
        "max_ns" i64 "ns" "The longest gap.";
        "mean_ns" i64 "ns" "Mean length of a gap on the path.";
        "first_line" i64 "" "Line of the call before the longest gap.";
        "last_line" i64 "" "The same line.";
    }
    "children" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program of the waiter.";
        "syscall" dict "" "The system call that waits.";
        "child_program" dict "" "Program of the children, if the capture shows it.";
        "children" i64 "count" "Number of different children that were returned.";
        "child_pid" i32 "" "Process id of the child, if it is one.";
        "resolved" bool "" "Whether the capture shows who ended these waits.";
        "shown" bool "" "Whether it shows any child that lived meanwhile.";
        "calls" i64 "count" "Number of waits.";
        "failed" i64 "count" "Number of them that failed.";
        "total_ns" i64 "ns" "Sum of their durations.";
        "exclusive_ns" i64 "ns" "Their time on the path: what no child in the capture explains.";
        "share" f64 "share" "The part of the window that this is.";
        "max_ns" i64 "ns" "The longest of them.";
        "bytes" i64 "bytes" "Bytes that they moved: none.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "captures" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the first task.";
        "pid" i32 "" "Its process id.";
        "tid" i32 "" "Its thread id.";
        "program" dict "" "Its program.";
        "format" dict "" "What the tracer writes.";
        "lines" i64 "count" "Number of lines.";
        "calls" i64 "count" "Number of calls.";
        "processes" i64 "count" "Number of processes.";
        "unseen_children" i64 "count" "Children that were created and of which no line is in the capture.";
        "presumed_children" i64 "count" "Children that speak under other ids than their creators know them by, or whose creation never returned, joined by elimination.";
        "unfollowed" bool "" "Whether children were created, and nothing of any of them is in the capture.";
        "has_clock" bool "" "Whether events have a place on one wall clock.";
        "has_durations" bool "" "Whether the tracer printed how long calls took.";
        "has_ids" bool "" "Whether lines say which thread they are of.";
        "dur_kind" dict "" "exact, upper-bound (user time is in it), gap or none.";
        "cut" bool "" "Whether the last line is cut or the compressed file ends early.";
        "open_calls" i64 "count" "Tasks whose last call had not ended when the capture did.";
        "lost_events" i64 "count" "Events that the tracer says it lost.";
        "unused_lines" i64 "count" "Lines that could not be used.";
        "unused_share" f64 "share" "The same as part of all lines.";
        "backward_steps" i64 "count" "Lines whose stamp lies before that of an earlier line.";
        "overhead_floor_ns" i64 "ns" "Time that tracing adds to each call at least.";
        "overhead_share" f64 "share" "The same for all calls, as part of the window.";
        "filtered" bool "" "Whether some kinds of calls are certainly missing.";
        "families" list "" "The kinds of calls that are in it.";
        "first_line" i64 "" "Line of its first event.";
        "last_line" i64 "" "Line of its last event.";
    }
    "slow_targets" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are taken together.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program at the first of these calls.";
        "processes" i64 "" "Number of processes taken together: 1, or several of one program that have little time each.";
        "syscall" dict "" "The system call with most of the time.";
        "target" dict "" "The place: a file, a directory with all below it, a peer or its host.";
        "scope" dict "" "file, directory, host or target.";
        "targets" i64 "" "Number of different targets there.";
        "others" i64 "" "Calls of the same kinds by the same program elsewhere.";
        "usual_ns" i64 "ns" "Time that as many calls of these kinds take elsewhere.";
        "factor" f64 "" "How many times that the calls took.";
        "half_calls" i64 "" "The fewest of the calls that have half of their time on the path.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of them that failed.";
        "total_ns" i64 "ns" "Sum of their durations.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "max_ns" i64 "ns" "The longest of them.";
        "bytes" i64 "bytes" "Bytes that they moved.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "sleeps" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "syscall" dict "" "Name of the system call.";
        "asked_ns" i64 "ns" "How long each of them was asked to take, as far as the capture shows it.";
        "calls" i64 "count" "Number of sleeps.";
        "interrupted" i64 "count" "Number of them that a signal ended early.";
        "ran_ns" i64 "ns" "How long all of them took.";
        "max_ns" i64 "ns" "How long the longest took.";
        "waited_by" dict "" "Program of the parent that waited for the longest of them.";
        "paces" bool "" "Whether nobody waits for it: it is the rhythm of a process that never ends, or the process waits behind it for somebody outside anyway.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "timeouts" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "syscall" dict "" "Name of the system call.";
        "op" dict "" "Its sub-operation.";
        "target" dict "" "What was waited for, if it is one thing.";
        "awaited" dict "" "What kind of thing was waited for: `child`, `signal`, `data`, `peer`, `lock` (a lock, a semaphore, a condition, another thread), `message` or `any` (one of several).";
        "requested_ns" i64 "ns" "The limit, as far as the capture shows it.";
        "waits" i64 "count" "Number of all waits for the same, expired or not, whatever their limit.";
        "expired" i64 "count" "Number of waits with this limit that reached it.";
        "ran_ns" i64 "ns" "How long those took.";
        "max_ns" i64 "ns" "How long the longest of them took.";
        "is_round" bool "" "Whether the limit is a length that people choose.";
        "gave_up" bool "" "Whether the last wait of this kind expired and the task went on with something else, or it sent a signal to end what it had waited for.";
        "went_on" bool "" "Whether behind these the task went on with something else or to its end; in an idle loop, the next wait for the same follows soon, and somebody ends it at last.";
        "paces" bool "" "Whether they are the rhythm of a process that does not end by itself.";
        "sent_before" dict "" "Peer to which the task had sent, or tried to connect, without an answer until then.";
        "sent_bytes" i64 "bytes" "Bytes of the last send to it.";
        "exclusive_ns" i64 "ns" "Time on the path of the expired ones.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first expired one.";
        "last_line" i64 "" "Line of the last expired one.";
    }
    "polls" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "syscall" dict "" "System call that looks, if it is one.";
        "op" dict "" "Its sub-operation.";
        "target" dict "" "What it looks at.";
        "command" dict "" "Arguments of the child that looks, if it is one.";
        "checks" i64 "count" "How often it looked.";
        "failed" i64 "count" "How often that failed, or found nothing.";
        "succeeded" bool "" "Whether the last answer differs from the first.";
        "unexplained" i64 "" "Number of looks of a command, where the last one succeeded and no call in it tells why; missing elsewhere.";
        "spinning" bool "" "Whether there are no pauses.";
        "asked_ns" i64 "ns" "How long a pause was asked to take, in the mean.";
        "interval_ns" i64 "ns" "From one look to the next, in the mean.";
        "freeable_ns" i64 "ns" "The most that shorter pauses could save: one interval, as far as it is on the path.";
        "total_ns" i64 "ns" "From the first look to the last.";
        "exclusive_ns" i64 "ns" "Time on the path in these calls and pauses.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "retries" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "syscall" dict "" "System call that is tried.";
        "op" dict "" "Its sub-operation.";
        "target" dict "" "What it is tried on.";
        "errno" dict "" "Name of the last error.";
        "attempts" i64 "count" "How often it was tried.";
        "failed" i64 "count" "How often that failed.";
        "succeeded" bool "" "Whether the last attempt worked.";
        "asked_ns" i64 "ns" "How long a pause was asked to take, in the mean.";
        "pause_ns" i64 "ns" "How long all pauses took.";
        "freeable_ns" i64 "ns" "The last pause, in which it may have been ready; all pauses if it was given up.";
        "first_pause_ns" i64 "ns" "How long the first pause took.";
        "last_pause_ns" i64 "ns" "How long the last pause took.";
        "grows" bool "" "Whether the last pause is longer than the first.";
        "total_ns" i64 "ns" "From the first attempt to the last.";
        "exclusive_ns" i64 "ns" "Time on the path in these calls and pauses.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "kills" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "signal" dict "" "Name of the last signal before the pause.";
        "target" dict "" "Id it was sent to.";
        "victim" dict "" "Program of that process.";
        "victims" i64 "count" "Number of processes that were told to end before the pause, as far as they are in the capture.";
        "survivors" i64 "count" "Number of them that were still there behind the pause.";
        "gone_ns" i64 "ns" "From the last signal until all of them were gone, if they were before the pause ended.";
        "slept_ns" i64 "ns" "How long the pause took.";
        "needless_ns" i64 "ns" "The part of the pause in which they all were gone.";
        "freeable_ns" i64 "ns" "That part; all of the pause where one of them had to be killed behind it.";
        "then_killed" bool "" "Whether SIGKILL was sent to one of them later.";
        "deaf" dict "" "Program of that one.";
        "pauses" i64 "count" "Number of pauses: 1.";
        "exclusive_ns" i64 "ns" "Time of the pause on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "requests" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "peer" dict "" "To whom it sent.";
        "port" i64 "" "The port of the peer.";
        "round_trips" i64 "count" "Requests that were answered.";
        "response_ns" i64 "ns" "From the last send to the answer, all together.";
        "mean_ns" i64 "ns" "The same in the mean.";
        "p99_ns" i64 "ns" "99 in 100 answers took at most this, within 1 %.";
        "max_ns" i64 "ns" "The longest of them.";
        "sends" i64 "count" "Number of sends.";
        "sent_bytes" i64 "bytes" "Bytes sent.";
        "received_bytes" i64 "bytes" "Bytes received.";
        "connections" i64 "count" "Different sockets by which the peer was reached, as far as they have names.";
        "resent" i64 "count" "Sends after a time-out in which no answer had come.";
        "unanswered" i64 "count" "Requests that were never answered.";
        "delayed_acks" i64 "count" "Round trips of several sends that took as long as acknowledgements are held back.";
        "exclusive_ns" i64 "ns" "Time on the path of the sends, waits and receives.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "connects" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "peer" dict "" "Whom it tried to reach.";
        "port" i64 "" "The port of the peer.";
        "attempts" i64 "count" "Number of connects.";
        "failed" i64 "count" "Number of them that failed.";
        "expired" i64 "count" "Number of waits for a connection that reached their limit.";
        "errno" dict "" "Name of the last error.";
        "waited_ns" i64 "ns" "Time in connects and in polls for them.";
        "max_ns" i64 "ns" "The longest of them, from the connect to the end of the poll.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "signals" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "signal" dict "" "Name of the signal.";
        "delivered" i64 "count" "How often it was delivered.";
        "interrupted" i64 "count" "Calls that it broke off.";
        "handled" i64 "count" "How often a handler ran.";
        "handler_ns" i64 "ns" "From the signal to the return of the handler, all together.";
        "timers" i64 "count" "Calls of the task that set a timer.";
        "interval_ns" i64 "ns" "From one delivery to the next, in the mean.";
        "exclusive_ns" i64 "ns" "Time on the path of the calls of handlers.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "items" {
        "capture" u32 "" "Number of the capture.";
        "item" dict "" "What messages are about again and again: a noun and its number, as `jail N`, or `NAME`.";
        "items" i64 "count" "Number of items that were completed.";
        "unfinished" i64 "" "Number of items whose last message is another one than that of most.";
        "stages" i64 "" "Number of different messages about an item.";
        "first_stage" dict "" "The message that comes first.";
        "last_stage" dict "" "The message that completes an item.";
        "start_ns" i64 "ns" "When the first message about any of them came.";
        "first_ns" i64 "ns" "When the first item was completed.";
        "last_ns" i64 "ns" "When the last one was.";
        "elapsed_ns" i64 "ns" "From the first message about any of them to the last completion.";
        "first_own_ns" i64 "ns" "The first item's own time, from its first message to its last; missing where there is but one.";
        "marginal_ns" i64 "ns" "What each further item costs: the median slope of completion time against index (Theil-Sen).";
        "residual_ns" i64 "ns" "How far half of the completions are from that line at most.";
        "marginal_share" f64 "share" "The marginal cost of all but the first item, as a part of the time elapsed.";
        "own_ns" i64 "ns" "Sum of the items' own times.";
        "longest_ns" i64 "ns" "The longest own time.";
        "parallel" f64 "" "How many were under way at once on the average, as it seems: sum of own times over elapsed.";
        "effective" f64 "" "The same if each took as long as the first: items times its own time, over elapsed; 1 is one after the other.";
        "could_free_ns" i64 "ns" "Elapsed without the longest step from one completion to the next: what overlap could free.";
        "exclusive_ns" i64 "ns" "Silences after messages about them, up to the last completion.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "First line about any of them.";
        "last_line" i64 "" "Last line before the last completion.";
    }
    "stages" {
        "capture" u32 "" "Number of the capture.";
        "message" dict "" "What the messages say, with N or NAME for what differs.";
        "item" dict "" "The kind of items that they are about, as in the table items; missing if about none.";
        "messages" i64 "count" "Number of messages.";
        "start_ns" i64 "ns" "When the first of them came.";
        "last_ns" i64 "ns" "When the last of them came.";
        "total_ns" i64 "ns" "Time that items were in the stage: from this message to the next one about the same item.";
        "mean_ns" i64 "ns" "The mean of these times.";
        "max_ns" i64 "ns" "The longest of them.";
        "item_share" f64 "share" "Their sum as a part of the items' own times.";
        "exclusive_ns" i64 "ns" "Silence after these messages: window time until the next message, whatever that is about.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "gap_lengths" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "round_ns" i64 "ns" "The length that somebody may have chosen.";
        "gaps" i64 "count" "Number of gaps of this length, or up to 1 % longer.";
        "silences" i64 "count" "The same number, if they are silences of a log and no gaps between calls.";
        "total_ns" i64 "ns" "How long they are together.";
        "max_ns" i64 "ns" "The longest of them.";
        "before" dict "" "The call or message before the longest.";
        "after" dict "" "The call or message after the longest.";
        "exclusive_ns" i64 "ns" "Their time on the path.";
        "share" f64 "share" "The part of the window that this is.";
        "first_line" i64 "" "Line of the first of them.";
        "last_line" i64 "" "Line of the last of them.";
    }
    "gaps" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at that moment.";
        "start_ns" i64 "ns" "When it began.";
        "dur_ns" i64 "ns" "How long it lasted.";
        "before" dict "" "The call or message before it.";
        "after" dict "" "The call or message after it.";
        "line" i64 "" "Line of the event before it.";
        "next_line" i64 "" "Line of the event after it.";
    }
    "chain" {
        "task" u32 "" "Number of the process's main task.";
        "capture" u32 "" "Number of the capture.";
        "pid" i32 "" "Process id.";
        "program" dict "" "The last program it ran.";
        "inclusive_ns" i64 "ns" "Wall time on the path that was its own, or that it waited.";
        "waits_for_task" u32 "" "Main task of the process for which it waited longest on the path.";
        "waits_for_pid" i32 "" "Id of that process.";
        "waits_for_ns" i64 "ns" "How long it waited for that one on the path.";
        "waits_for_how" dict "" "How it is known of most of that time: as in `how` of the path.";
        "waits_for_sure" dict "" "How sure that is: measured (the trace says so) or inferred (from times and kinship).";
        "slack_ns" i64 "ns" "How much longer it could have gone on without moving the end, as far as the trace shows who waited for it; missing where unknown.";
    }
    "partition" {
        "capture" u32 "" "Number of the capture.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at that moment.";
        "class" dict "" "What the time was spent on: user, sleep, child, disk, network, ipc, poll, lock, …";
        "syscall" dict "" "The system call, if the time was spent in one.";
        "op" dict "" "Its sub-operation; the subsystem for a message.";
        "target" dict "" "What it worked on; the text of a message.";
        "exclusive_ns" i64 "ns" "Wall time charged.";
        "share" f64 "share" "Part of the window.";
        "calls" i64 "" "Number of calls charged.";
        "resolved" bool "" "False for a wait that nothing in the trace ended.";
        "tag" dict "" "polled: done while somebody looked for it again and again; poll-lag: done, but not looked for yet.";
        "first_line" i64 "" "Line of the first call charged; in folded rows only, as what follows.";
        "last_line" i64 "" "Line of the last call charged.";
        "targets" i64 "" "Number of different targets taken together.";
        "processes" i64 "" "Number of different processes taken together.";
        "pieces" i64 "" "Number of rows of the finest partition taken together.";
    }
    "path" {
        "start_ns" i64 "ns" "From when.";
        "dur_ns" i64 "ns" "How long.";
        "task" u32 "" "Number of the task charged.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at that moment.";
        "class" dict "" "What the time was spent on.";
        "what" dict "" "call, gap, resume, spawn, silence, or poll-lag: from what a poll loop waits for to the check that saw it.";
        "tag" dict "" "polled: done while somebody looked for it again and again; poll-lag.";
        "syscall" dict "" "The system call.";
        "op" dict "" "Its sub-operation.";
        "target" dict "" "What it worked on.";
        "line" i64 "" "Line of the call.";
        "pieces" i64 "" "Number of segments taken together; what is said of them is said of most of their time.";
        "waiter_pid" i32 "" "The process that waited for it on the path.";
        "how" dict "" "How it is known who ended that wait: child, vfork, signal, stream, terminal, futex, join, lock, drain, poll, message, beside, exit, watch.";
        "sure" dict "" "measured: the trace says so; inferred: it follows from times and kinship.";
    }
    "summary_rows" {
        "capture" u32 "" "Number of the capture.";
        "syscall" dict "" "Name of the system call.";
        "calls" i64 "" "Number of calls.";
        "failed" i64 "" "Number of calls that failed.";
        "total_ns" i64 "ns" "Total as printed; CPU or wall time, as the tracer has it.";
    }
}

/// Arrow type of a column; 64-bit integers where the list does not say otherwise.
pub fn kind_of(table: &str, name: &str) -> &'static str {
    COLUMNS.iter().find(|column| column.table == table && column.name == name).map_or("i64", |column| column.kind)
}
