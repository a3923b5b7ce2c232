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
        "file" dict "" "File that contains the line.";
        "tid" i32 "" "Thread id.";
        "pid" i32 "" "Process id.";
        "task" u32 "" "Number of the task; a reused id is another task.";
        "program" dict "" "Program at that moment.";
        "start_ns" i64 "ns" "Start time, on the capture's clock.";
        "end_ns" i64 "ns" "End time.";
        "dur_ns" i64 "ns" "Duration; dur_kind says how exact it is.";
        "cpu_ns" i64 "ns" "CPU time, where the tracer prints it.";
        "requested_ns" i64 "ns" "Requested duration of a sleep, or timeout of a wait.";
        "kind" dict "" "call, signal, exit, process or log.";
        "syscall" dict "" "Name of the system call, name of the signal, or subsystem of a log message.";
        "op" dict "" "Sub-operation: ioctl request, fcntl command, futex operation.";
        "target" dict "" "What the call works on: path, peer, pipe, address; for a log message, its text.";
        "shape" dict "" "Call, sub-operation, normalized target and outcome combined.";
        "ret" i64 "" "Return value.";
        "errno" dict "" "Name of the error.";
        "bytes" i64 "bytes" "Bytes moved.";
        "outcome" dict "" "ok, failed, interrupted, noreturn, open or unavailable.";
        "dur_kind" dict "" "exact, upper-bound (may include user time), gap or none.";
        "function" dict "" "Function of the program that made the call: the innermost frame of its stack that is not of a runtime; missing without a stack.";
        "source" dict "" "Source file and line of that frame, where the tracer prints them.";
        "module" dict "" "File that contains that function: the program or one of its libraries.";
        "args" dict "" "Arguments as printed; read from the file only when this column is requested by name.";
    }
    "blocked_writers" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program that writes.";
        "target" dict "" "The pipe or socket that was full.";
        "reader_pid" i32 "" "Process that reads at the other end.";
        "reader_program" dict "" "Program of that process.";
        "calls" i64 "count" "Number of writes that were blocked until the reader made room.";
        "blocked_ns" i64 "ns" "Total duration of these writes, on the critical path or not.";
        "blocked_share" f64 "share" "blocked_ns as a share of the lifetime of the task.";
        "exclusive_ns" i64 "ns" "Critical-path time of these writes.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "call_bounds" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made these calls.";
        "processes" i64 "" "Number of processes combined: 1, or several of one program with little time each.";
        "syscall" dict "" "The system call.";
        "op" dict "" "Sub-operation.";
        "unproven_ns" i64 "ns" "The part of exclusive_ns that may be the program's own time: upper bounds of calls in which nothing shows the task.";
        "refused_ns" i64 "ns" "The part of unproven_ns in calls that would have blocked, and usually fail at once (EAGAIN).";
        "longest_ns" i64 "ns" "The largest part of one call.";
        "calls" i64 "count" "Number of calls on the critical path.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "calls" {
        "syscall" dict "" "Name of the system call.";
        "op" dict "" "Sub-operation.";
        "shape" dict "" "Call, sub-operation, normalized target and outcome combined.";
        "target" dict "" "What the call works on.";
        "normalized_target" dict "" "What the call works on, with changing parts as N.";
        "target_kind" dict "" "peer (another process, machine or person), file or other.";
        "errno" dict "" "Name of the error.";
        "outcome" dict "" "Outcome of the call.";
        "program" dict "" "Program at that moment.";
        "program_name" dict "" "The last part of its path.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "task" u32 "" "Number of the task.";
        "function" dict "" "Function of the program that made the call, from its stack.";
        "source" dict "" "Source file and line in that function.";
        "module" dict "" "File that contains that function.";
        "calls" i64 "" "Number of calls.";
        "failed" i64 "" "Number of calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations; summed over tasks, it can exceed wall time.";
        "cpu_ns" i64 "ns" "CPU time in these calls; missing where the tracer does not print it.";
        "exclusive_ns" i64 "ns" "Critical-path time inside these calls.";
        "min_ns" i64 "ns" "Shortest duration.";
        "mean_ns" i64 "ns" "Mean duration.";
        "p50_ns" i64 "ns" "Median duration, within 1%.";
        "p90_ns" i64 "ns" "90th percentile of the duration, within 1%.";
        "p99_ns" i64 "ns" "99th percentile of the duration, within 1%.";
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
        "is_thread" bool "" "Whether it is a thread other than the main one.";
        "birth_ns" i64 "ns" "Start of its first event, or the end of the call that created it if the first event comes late.";
        "death_ns" i64 "ns" "End of its life, if the capture shows it.";
        "exit_code" i32 "" "Exit status.";
        "exit_signal" dict "" "Signal that killed it.";
        "superseded" bool "" "Whether another thread took over its id with execve.";
        "program" dict "" "The last program it ran.";
        "argv" dict "" "Arguments of that program.";
        "calls" i64 "" "Number of calls.";
        "failed" i64 "" "Number of calls that failed.";
        "signals" i64 "" "Signals delivered to it.";
        "in_call_ns" i64 "ns" "Time in calls.";
        "gap_ns" i64 "ns" "Time between calls; gap_ns + in_call_ns is its lifetime.";
        "stopped_ns" i64 "ns" "Part of gap_ns in which it was stopped by a signal.";
        "exclusive_ns" i64 "ns" "Critical-path time charged to it.";
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
        "birth_ns" i64 "ns" "Start of its first event, or the end of the call that created it if the first event comes late.";
        "death_ns" i64 "ns" "End of its life, if the capture shows it.";
        "exit_code" i32 "" "Exit status.";
        "exit_signal" dict "" "Signal that killed it.";
        "wall_ns" i64 "ns" "Lifetime, as far as the capture shows it.";
        "exclusive_ns" i64 "ns" "Critical-path time charged to it.";
        "in_call_ns" i64 "ns" "Time in calls, over all of its threads.";
        "cpu_ns" i64 "ns" "CPU time over all of its threads: all of it, or that in calls if the tracer prints no more; missing where it prints none.";
        "own_cpu_ns" i64 "ns" "CPU time outside its calls; missing where the tracer does not print all CPU time.";
        "max_own_cpu_ns" i64 "ns" "The most CPU time between two calls of one of its threads.";
        "max_own_cpu_line" i64 "" "The line of the call that follows it.";
        "gap_ns" i64 "ns" "Time between calls, over all of its threads.";
        "stopped_ns" i64 "ns" "Part of gap_ns in which they were stopped by a signal.";
        "slack_ns" i64 "ns" "How much longer it could have run without delaying the end of the window, as far as the trace shows its waiters; missing where unknown.";
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
        "program" dict "" "Program in the first iteration.";
        "turns" i64 "" "Number of iterations.";
        "period" i64 "" "Number of calls in the most common iteration.";
        "body" list "" "Calls of the most common iteration.";
        "total_ns" i64 "ns" "From the start of the first iteration to the end of the last.";
        "per_turn_ns" i64 "ns" "Mean duration of an iteration.";
        "dominant" dict "" "The most expensive call.";
        "class" dict "" "What that call spends its time on.";
        "is_trivial" bool "" "Whether that call only looks up or records a value, such as an id or a signal mask.";
        "dominant_ns" i64 "ns" "Time in the dominant call.";
        "dominant_calls" i64 "" "Number of dominant calls.";
        "dominant_p50_ns" i64 "ns" "Median duration of the dominant call.";
        "failing" dict "" "A call of the body that fails in every iteration.";
        "distinct_targets" i64 "" "Number of different targets of the dominant call.";
        "bytes" i64 "bytes" "Bytes moved by its calls.";
        "trend" f64 "" "Time of the last quarter of the iterations divided by that of the first quarter: above 1, iterations get slower.";
        "calls_trend" f64 "" "Calls per iteration in the last eighth divided by those in the first; missing unless they rise from each eighth to the next.";
        "outer_turns" i64 "" "Number of iterations of an enclosing loop; missing if there is no enclosing loop that is cheap by itself.";
        "outer_body" list "" "Calls of the most common iteration of the enclosing loop.";
        "outer_trend" f64 "" "Trend of the enclosing loop.";
        "outer_calls_trend" f64 "" "Trend of the calls per iteration of the enclosing loop.";
        "exclusive_ns" i64 "ns" "Critical-path time from the first iteration to the last, including time between calls.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "dominant_exclusive_ns" i64 "ns" "Critical-path time in the dominant call.";
        "freeable_ns" i64 "ns" "exclusive_ns without slow exceptions of the dominant call, and without tracing overhead in it, as measured on trivial calls; 0 if the call creates or removes a file each time.";
        "first_line" i64 "" "First line of the loop.";
        "last_line" i64 "" "Last line of the loop.";
    }
    "io" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made the first of these calls.";
        "processes" i64 "" "Number of processes combined: 1, or several of one program with little time each.";
        "way" dict "" "read, write, copy (from one descriptor to another) or list (directory entries).";
        "syscall" dict "" "The most common of the system calls.";
        "target" dict "" "What was read or written; missing where targets with few calls each are combined.";
        "targets" i64 "count" "Number of different targets.";
        "class" dict "" "What the time in these calls is spent on: disk, ipc, network, terminal, …";
        "moved" i64 "count" "Number of calls that moved at least one byte.";
        "mean_bytes" i64 "bytes" "Mean size of the calls that moved bytes.";
        "min_bytes" i64 "bytes" "Smallest size of such a call.";
        "p50_bytes" i64 "bytes" "Median size of such a call.";
        "max_bytes" i64 "bytes" "Largest size of such a call.";
        "seeks" i64 "count" "Number of times the process changed the position in these targets (lseek).";
        "p50_ns" i64 "ns" "Median duration of the calls.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "lookups" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made the first of these calls.";
        "processes" i64 "" "Number of processes combined: 1, or several of one program with little time each.";
        "kind" dict "" "search (names looked up in the same directories), marker (one name in many places) or probe (other).";
        "syscall" dict "" "The most common of the system calls.";
        "target" dict "" "The path looked up most often; the first one if there are several.";
        "ending" dict "" "The most common extension of the names, without the dot.";
        "searches" i64 "count" "Number of searches for a name.";
        "found" i64 "count" "Number of these searches that succeeded.";
        "names" i64 "" "Number of different names, ignoring extensions.";
        "directories" i64 "" "Number of directories without the names.";
        "searched" list "" "The directories with the most misses.";
        "misses" i64 "count" "Number of failed lookups.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "syncs" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made the first of these calls.";
        "processes" i64 "" "Number of processes combined: 1, or several of one program with little time each.";
        "syscall" dict "" "Name of the system call.";
        "target" dict "" "What was synced; missing where targets with few syncs each are combined.";
        "targets" i64 "count" "Number of different targets.";
        "opened" bool "" "Whether these are writes to files opened with O_SYNC or O_DSYNC, where each write is a sync.";
        "writes" i64 "count" "Number of writes to these targets between the syncs.";
        "each_bytes" i64 "bytes" "Mean number of bytes written per sync.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes written between the syncs.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "outliers" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program that made the call.";
        "syscall" dict "" "Name of the system call.";
        "op" dict "" "Sub-operation.";
        "target" dict "" "What the call worked on.";
        "errno" dict "" "Name of the error, if it failed.";
        "class" dict "" "What the time was spent on: disk, network, poll, lock, …";
        "dur_ns" i64 "ns" "Duration of the call; dur_kind is its precision.";
        "dur_kind" dict "" "exact, upper-bound (may include user time), gap or none.";
        "others" i64 "" "Number of other calls of this kind: same syscall, sub-operation and program.";
        "p50_ns" i64 "ns" "Median duration of this kind of call.";
        "factor" f64 "" "Duration divided by the median.";
        "as_long" i64 "" "Number of other calls that took at least half as long.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "Line of the call.";
        "last_line" i64 "" "Line of the call.";
    }
    "rereads" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made the first of these calls.";
        "processes" i64 "" "Number of processes that read the file.";
        "target" dict "" "The file; missing where files with little time each are combined.";
        "targets" i64 "count" "Number of files.";
        "opens" i64 "count" "Number of times it was opened and read from the start.";
        "size_bytes" i64 "bytes" "Bytes of the largest pass, taken as the size of the file.";
        "written" bool "" "Whether one of these processes also wrote to it.";
        "calls" i64 "count" "Number of calls in all passes except the first.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes read more than once.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "rescans" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made the first of these calls.";
        "processes" i64 "" "Number of processes combined: 1, or several of one program with little time each.";
        "kind" dict "" "file, directory, or requests (entries fetched by ioctl).";
        "syscall" dict "" "The most common of the system calls.";
        "op" dict "" "The request that fetches entries.";
        "target" dict "" "What is scanned.";
        "scans" i64 "count" "Number of scans from the start.";
        "entries" i64 "count" "Number of calls that returned an entry, in all scans.";
        "entries_per_scan" f64 "" "Entries per scan.";
        "written" bool "" "Whether the process also wrote to it.";
        "calls" i64 "count" "Number of calls in all scans except the first.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "metadata" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made the first of these calls.";
        "processes" i64 "" "Number of processes combined: 1, or several of one program with little time each.";
        "syscall" dict "" "Name of the system call.";
        "target" dict "" "The path with the most repeated calls.";
        "most" i64 "" "Number of repeated calls on that path.";
        "paths" i64 "count" "Number of paths with repeated calls.";
        "asked" i64 "count" "Number of all calls of this syscall.";
        "calls" i64 "count" "Number of repeated calls: same call, same path, same result as before.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "ancestor_walks" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made the first of these calls.";
        "processes" i64 "" "Number of processes combined: 1, or several of one program with little time each.";
        "way" dict "" "down (a path is resolved component by component) or up (a file is looked up in each parent directory).";
        "syscall" dict "" "The most common of the system calls.";
        "target" dict "" "The path with the most repeated lookups.";
        "paths" i64 "count" "Number of paths with repeated lookups.";
        "walks" i64 "count" "Number of walks with three or more steps.";
        "steps" i64 "count" "Number of steps in these walks.";
        "calls" i64 "count" "Number of steps that repeat a step of an earlier walk.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "fd_sweeps" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made the first of these calls.";
        "processes" i64 "" "Number of processes combined: 1, or several of one program with little time each.";
        "syscall" dict "" "Name of the system call.";
        "sweeps" i64 "count" "Number of sweeps: eight or more calls in a row, most of them on descriptors that are not open.";
        "longest" i64 "" "Number of calls in the longest sweep.";
        "highest" i64 "" "The highest descriptor, if its number shows that most of the sweep is not in the capture.";
        "implied" i64 "count" "Number of calls, or of the descriptors up to the highest one if that is larger.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "commands" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "The program that was run.";
        "argv" dict "" "Its arguments, with numbers removed.";
        "runs" i64 "count" "Number of runs.";
        "commands" i64 "count" "Number of such command lines: 1.";
        "distinct" i64 "" "Number of different command lines, including numbers.";
        "parents" i64 "" "Number of different tasks that started it.";
        "is_cut" bool "" "Whether the tracer truncated the arguments, so that the rest may differ.";
        "alike" bool "" "Whether all runs exited with the same status and, including their children, read and wrote the same number of bytes, none of them from a pipe that another process filled.";
        "life_ns" i64 "ns" "Sum of the lifetimes of all runs.";
        "longest_ns" i64 "ns" "Lifetime of the longest run.";
        "exclusive_ns" i64 "ns" "Critical-path time of all runs, in and between calls.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "inclusive_ns" i64 "ns" "Critical-path time of all runs and of the processes that they started.";
        "repeated_ns" i64 "ns" "Critical-path time of all runs except the most expensive one.";
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
        "folder" dict "" "Folder of their programs, if these are several scripts of one folder.";
        "commands" list "" "The first few different command lines of the children.";
        "children" i64 "count" "Number of children.";
        "dependent" i64 "count" "Number of children that depend on an earlier one through files and pipes: it wrote what they or their parent read.";
        "at_once" i64 "" "Maximum number alive at the same time.";
        "serial_share" f64 "share" "Share of the time with at least one child alive in which only one was.";
        "wall_ns" i64 "ns" "From the first birth to the last exit.";
        "sum_ns" i64 "ns" "Sum of their lifetimes.";
        "longest_ns" i64 "ns" "Longest lifetime.";
        "parallel" f64 "" "Apparent parallelism: sum_ns / wall_ns.";
        "lock_wait_ns" i64 "ns" "Time that the children and their descendants waited for file locks.";
        "effective" f64 "" "Parallelism without the time spent waiting for file locks.";
        "exclusive_ns" i64 "ns" "Critical-path time of the children and their descendants.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "untraced_ns" i64 "ns" "exclusive_ns without what tracing is estimated to have added.";
        "could_free_ns" i64 "ns" "untraced_ns without the most expensive child: what running all of them at once could save.";
        "first_line" i64 "" "First line of the first child.";
        "last_line" i64 "" "Last line of the last child.";
    }
    "last_calls" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program.";
        "syscall" dict "" "Name of the system call.";
        "op" dict "" "Sub-operation.";
        "target" dict "" "What the call works on.";
        "fd" i32 "" "Descriptor, if its target is unknown.";
        "kind" dict "" "What it waits for: client, child, event, input, thread, kernel, …";
        "bytes" i64 "bytes" "Bytes to be moved.";
        "requested_ns" i64 "ns" "Limit of the wait.";
        "before" i64 "count" "Number of calls of the thread before it.";
        "same_before" i64 "count" "Number of those with the same name and target.";
        "killed_by" dict "" "Signal that killed the process in this call.";
        "rows_after" i64 "count" "Number of events of the capture after it.";
        "first_line" i64 "" "Line of the first one.";
        "last_line" i64 "" "Line of the last one.";
    }
    "last_failures" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program.";
        "syscall" dict "" "Name of the system call.";
        "op" dict "" "Sub-operation.";
        "target" dict "" "What the call works on.";
        "errno" dict "" "Name of the error.";
        "calls" i64 "count" "Number of calls.";
        "calls_after" i64 "count" "Number of calls of the thread after the last one.";
        "recovered" bool "" "Whether a later call of this name succeeded with the same target, or with a path of the same last part.";
        "first_line" i64 "" "Line of the first one.";
        "last_line" i64 "" "Line of the last one.";
    }
    "last_targets" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program.";
        "syscall" dict "" "Name of the system call.";
        "op" dict "" "Sub-operation.";
        "target" dict "" "What the call works on.";
        "calls" i64 "count" "Number of calls.";
        "first_line" i64 "" "Line of the first one.";
        "last_line" i64 "" "Line of the last one.";
    }
    "last_texts" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program.";
        "printed" bool "" "Whether the process printed it; otherwise it received it.";
        "fd" i64 "" "Descriptor.";
        "target" dict "" "What the descriptor belongs to.";
        "text" dict "" "The text, as far as the tracer printed it.";
        "first_line" i64 "" "Line of the first one.";
        "last_line" i64 "" "Line of the last one.";
    }
    "locks" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program of the task that waited longest.";
        "kind" dict "" "file, mutex or futex.";
        "syscall" dict "" "The system call that waits.";
        "op" dict "" "Sub-operation.";
        "target" dict "" "The lock: the file, or the address in the process.";
        "waiters" i64 "" "Number of tasks that requested the lock.";
        "holders" i64 "" "Number of tasks that another task waited for.";
        "calls" i64 "count" "Number of lock requests.";
        "handed_on" i64 "count" "Number of waits ended by a task that also requests the lock, or by a child of such a task.";
        "waking" i64 "" "Without a window: number of waiters that wake others at the same address.";
        "wakes" i64 "" "Without a window: number of their calls that do so.";
        "convoy" i64 "" "Maximum number of tasks waiting at the same time.";
        "total_ns" i64 "ns" "Sum of all waits; summed over tasks, it can exceed wall time.";
        "max_ns" i64 "ns" "Longest wait.";
        "own_ns" i64 "ns" "Critical-path time in the waits themselves; the rest of exclusive_ns belongs to the holders.";
        "exclusive_ns" i64 "ns" "Critical-path time during which the path is blocked on this lock, including the work of the holders.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "longest_hold_ns" i64 "ns" "Longest part of exclusive_ns in which the lock does not change hands.";
        "could_free_ns" i64 "ns" "What could be saved without contention: exclusive_ns without the longest hold.";
        "holder_pid" i32 "" "Process that ended the longest wait.";
        "holder_program" dict "" "Program of that process.";
        "outside" bool "" "Whether no other process in the capture uses the file: a process outside the capture holds the lock.";
        "holder_did" dict "" "Program and call in which the holder and its children spent most of that time.";
        "first_line" i64 "" "Line of the first wait.";
        "last_line" i64 "" "Line of the last wait.";
    }
    "endings" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at its end.";
        "argv" dict "" "Its arguments.";
        "root" bool "" "Whether no task of the capture created it: the tracer started it or attached to it.";
        "born" bool "" "Whether the capture shows its start.";
        "exit_code" i64 "" "Exit status; missing if it did not exit.";
        "signal" dict "" "Signal that killed it.";
        "signal_code" dict "" "Why the signal was sent, as printed: SEGV_MAPERR, SI_KERNEL.";
        "fault_address" dict "" "Address that it could not use.";
        "signal_line" i64 "" "Line of the delivery of that signal.";
        "sender_pid" i32 "" "Process that sent the signal.";
        "told_by" dict "" "Signal of another process that asked it to end.";
        "told_line" i64 "" "Line of the delivery of that signal.";
        "threads" i64 "count" "Number of its threads that have lines.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of failed calls.";
        "first_line" i64 "" "Line of the first one.";
        "last_line" i64 "" "Line of the last one.";
    }
    "entropy_waits" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process; missing for a log, like the other ids.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made the first of these calls.";
        "processes" i64 "" "Number of processes combined: 1, or several of one program with little time each.";
        "syscall" dict "" "The system call; missing for a log.";
        "target" dict "" "The file if all calls share it; in a log, the message that random numbers are lacking.";
        "until" dict "" "In a log, the message that random numbers are available.";
        "calls" i64 "count" "Number of calls on the critical path, or of silences.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "forks" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program of the creator.";
        "kind" dict "" "processes or threads.";
        "syscall" dict "" "The system call that took longest to create one.";
        "created" i64 "count" "Number of processes or threads created.";
        "gone" i64 "count" "Number of them that exited in the capture.";
        "reaped" i64 "count" "Number of them that a wait of their creator returned.";
        "programs" i64 "count" "Number of them that executed a program.";
        "at_once" i64 "" "Maximum number alive at the same time.";
        "mean_life_ns" i64 "ns" "Mean lifetime of those that exited.";
        "p90_life_ns" i64 "ns" "90th percentile of the lifetime of those that exited.";
        "mean_calls" i64 "" "Mean number of calls made by each of them.";
        "calls" i64 "count" "Number of calls that created them.";
        "total_ns" i64 "ns" "Sum of the durations of these calls.";
        "p50_ns" i64 "ns" "Median duration of these calls.";
        "max_ns" i64 "ns" "Longest duration.";
        "calls_exclusive_ns" i64 "ns" "Critical-path time in these calls.";
        "exclusive_ns" i64 "ns" "Critical-path time in these calls and in the processes or threads created.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "Line of the first of these calls.";
        "last_line" i64 "" "Line of the last of these calls.";
    }
    "stated_durations" {
        "capture" u32 "" "Number of the capture.";
        "kind" dict "" "took, at least (a limit was exceeded) or planned (a wait that begins with the message).";
        "target" dict "" "The message with the longest duration.";
        "stated" dict "" "The longest duration as the message prints it.";
        "at_least" dict "" "`at least ` if the message states a lower bound.";
        "calls" i64 "count" "Number of events with this text before the number; several messages about the progress of one are one.";
        "several" i64 "" "The same if there are several.";
        "total_ns" i64 "ns" "Total duration as stated.";
        "max_ns" i64 "ns" "Longest duration as stated.";
        "rank" i64 "" "Position by critical-path time, from 1.";
        "outside_ns" i64 "ns" "Longest duration if most of it precedes the first message of the log.";
        "outside_share" f64 "" "outside_ns as a share of the window and outside_ns.";
        "could_free_ns" i64 "ns" "Upper bound of the saving: outside_ns, otherwise exclusive_ns; 0 for a log of days.";
        "known_ns" i64 "ns" "outside_ns, otherwise exclusive_ns.";
        "exclusive_ns" i64 "ns" "Part of the window in these intervals and in no shorter one.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "Line of the longest.";
        "last_line" i64 "" "The same line.";
    }
    "stops" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at that moment.";
        "kind" dict "" "stopped or killed.";
        "signal" dict "" "The signal.";
        "script" dict "" "Script that the program interprets.";
        "stops" i64 "count" "Number of stops.";
        "lasts" bool "" "Whether it is still stopped when the capture ends.";
        "total_ns" i64 "ns" "Time it was stopped.";
        "max_ns" i64 "ns" "Longest stop.";
        "sender_pid" i32 "" "Process that sent the signal, if the capture shows it.";
        "sender_program" dict "" "Program of that process.";
        "after_term_ns" i64 "ns" "Time from a SIGTERM to the SIGKILL for the same process.";
        "exclusive_ns" i64 "ns" "Critical-path time in which it was stopped.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "Line of the first stop, or of the call that killed it.";
        "last_line" i64 "" "Line of the last stop, or of its exit.";
    }
    "copies" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program of the first of these calls.";
        "read_bytes" i64 "bytes" "Bytes read.";
        "written_bytes" i64 "bytes" "Bytes written.";
        "bytes" i64 "bytes" "Bytes moved: read or written, whichever is more.";
        "elapsed_ns" i64 "ns" "From the first of these calls to the last.";
        "per_second_bytes" i64 "bytes" "Bytes moved per second of that time.";
        "source" dict "" "What at least half of the bytes were read from.";
        "sources" i64 "count" "Number of files and peers that bytes were read from.";
        "sink" dict "" "What at least half of the bytes were written to.";
        "sinks" i64 "count" "Number of files and peers that bytes were written to.";
        "limit" dict "" "What most of its critical-path time is: reading, writing, copying, other calls, or its own code.";
        "limit_ns" i64 "ns" "Critical-path time of that.";
        "calls" i64 "count" "Number of calls that moved data.";
        "exclusive_ns" i64 "ns" "Critical-path time from the first of these calls to the last.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "cpu" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "The program.";
        "target" dict "" "The file on its command line that it opened for reading first.";
        "gaps" i64 "count" "Number of gaps on the critical path.";
        "calls" i64 "count" "Number of calls of the program.";
        "calls_per_s" f64 "" "Calls per second, from its first call to its last.";
        "exclusive_ns" i64 "ns" "Critical-path time between calls.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "tracing_ns" i64 "ns" "Estimate of what tracing added to exclusive_ns.";
        "waits_traced" bool "" "Whether the capture has calls that wait: if a filter omits them, waits are gaps.";
        "before_signal" bool "" "Whether a signal follows the longest gap, and calls are printed when they return: one may have been open.";
        "max_ns" i64 "ns" "Longest gap.";
        "mean_ns" i64 "ns" "Mean duration of a gap on the critical path.";
        "first_line" i64 "" "Line of the call before the longest gap.";
        "last_line" i64 "" "Same as first_line.";
    }
    "open_calls" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program of the task.";
        "thread" i32 "" "Its thread id, if the process has several threads in the capture.";
        "syscall" dict "" "The system call that had not returned when the capture ended.";
        "op" dict "" "Sub-operation.";
        "target" dict "" "What the call works on.";
        "fd" i64 "" "The descriptor it works on, if its name is unknown.";
        "stream" dict "" "What that descriptor is by convention: standard input, output or error.";
        "kind" dict "" "The awaited kind of event: file lock, thread, child, signal, input, client, connection, peer, reader, event, message, time, random numbers, kernel.";
        "seen_ns" i64 "ns" "From the start of the call to the end of the capture, or to the death of the process; missing without timestamps, and where no call of the capture returned and its end is unknown.";
        "first" bool "" "Whether the task made no such call before (kernel: no call of this name).";
        "slept" bool "" "Whether its result shows that a signal broke it off: only a call that waits can be broken off.";
        "holder_pid" i32 "" "Process that holds the file lock.";
        "holder_tid" i32 "" "Thread of the same process that took the lock last and has not released it.";
        "child_pid" i32 "" "The living child that was created last.";
        "peer_pid" i32 "" "Process that wrote to the other end before.";
        "reader_pid" i32 "" "Process that read before what the call writes.";
        "ender_program" dict "" "Program of the holder, child, peer or reader.";
        "explained" bool "" "Whether the holder, child or peer is in the capture and lives at its end.";
        "deadlock" bool "" "Whether the holder or child waits for this process in turn.";
        "idle" bool "" "Whether the task has nothing to do: a server without clients, a sleep, a thread of a pool.";
        "threads" i32 "" "Number of living threads of the process.";
        "silent" i32 "" "Threads of the process that the tracer attached to, and that have no line; missing if there are none.";
        "quiet" bool "" "Whether all threads of the process that have a line are in calls that wait.";
        "inward" bool "" "Whether all threads of the process wait for threads, and none for a client, an event or input.";
        "quiet_ns" i64 "ns" "For how long all of them have waited; missing as seen_ns.";
        "stuck" bool "" "Whether each thread of the process waits for another one, without a time limit.";
        "killed_by" dict "" "The signal that killed the process in the call; missing if it lives when the capture ends.";
        "calls" i64 "count" "Number of open calls: 1.";
        "exclusive_ns" i64 "ns" "Critical-path time of the call.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "Line of the call.";
        "last_line" i64 "" "Same as first_line.";
    }
    "excerpts" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Its last program.";
        "lifetime_ns" i64 "ns" "Its lifetime; missing if lines before its first event are left out.";
        "syscall" dict "" "The call with most of the time in its quoted calls, apart from those that manage processes.";
        "op" dict "" "Operation of that call.";
        "calls" i64 "count" "Number of quoted calls of that kind.";
        "total_ns" i64 "ns" "Their total duration.";
        "mean_ns" i64 "ns" "Their mean duration.";
        "quoted_share" f64 "share" "Their share of the time in its quoted calls.";
        "exclusive_ns" i64 "ns" "Critical-path time in lines that are left out.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "Line of its first call.";
        "last_line" i64 "" "Line of its last call.";
    }
    "children" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program of the waiter.";
        "syscall" dict "" "The system call that waits.";
        "child_program" dict "" "Program of the children, if the capture shows it.";
        "children" i64 "count" "Number of different children returned by the waits.";
        "child_pid" i32 "" "Process id of the child, if there is only one.";
        "resolved" bool "" "Whether the capture shows what ended these waits.";
        "shown" bool "" "Whether the capture shows any child alive during the waits.";
        "calls" i64 "count" "Number of waits.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time of the waits that no child in the capture explains.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved: always 0.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "captures" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the first task.";
        "pid" i32 "" "Its process id.";
        "tid" i32 "" "Its thread id.";
        "program" dict "" "Program of that process.";
        "format" dict "" "Input format.";
        "lines" i64 "count" "Number of lines.";
        "calls" i64 "count" "Number of calls.";
        "processes" i64 "count" "Number of processes.";
        "unseen_children" i64 "count" "Children that were created but have no line in the capture.";
        "unseen_threads" i64 "count" "Threads among these children; missing if there are none.";
        "presumed_children" i64 "count" "Children whose ids differ from those their creators know, or whose creation never returned; matched by elimination.";
        "unfollowed" bool "" "Whether children were created and none of them is in the capture.";
        "has_clock" bool "" "Whether events have timestamps on one wall clock.";
        "has_durations" bool "" "Whether the tracer printed call durations.";
        "has_ids" bool "" "Whether lines contain thread ids.";
        "dur_kind" dict "" "exact, upper-bound (may include user time), gap or none.";
        "cut" bool "" "Whether the last line is truncated or the compressed file ends early.";
        "ends_open" bool "" "Whether the last line is a call that waits and did not return: the capture need not be truncated.";
        "open_calls" i64 "count" "Tasks whose last call was still open when the capture ended.";
        "lost_events" i64 "count" "Events that the tracer reported as lost.";
        "lost_by" dict "" "Cause of most lost events: full-buffers, no-variable-space, unreadable-argument.";
        "unused_lines" i64 "count" "Lines that could not be used.";
        "unused_share" f64 "share" "Unused lines as a share of all lines.";
        "backward_steps" i64 "count" "Lines with a timestamp earlier than that of a previous line.";
        "overhead_floor_ns" i64 "ns" "Minimum time that tracing adds to each call.";
        "overhead_share" f64 "share" "Minimum tracing overhead of all calls as a share of the window.";
        "tracing_ns" i64 "ns" "Estimate of what tracing added to the critical path: the calls on it times the mean cost of calls that return at once.";
        "tracing_share" f64 "share" "tracing_ns as a share of the window.";
        "filtered" bool "" "Whether some families of calls are certainly missing.";
        "families" list "" "Families of calls in the capture.";
        "first_line" i64 "" "Line of its first event.";
        "last_line" i64 "" "Line of its last event.";
    }
    "slow_targets" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the main task of the process.";
        "pid" i32 "" "Process id; missing where several processes are combined.";
        "tid" i32 "" "Thread id of that task.";
        "program" dict "" "Program that made the first of these calls.";
        "processes" i64 "" "Number of processes combined: 1, or several of one program with little time each.";
        "syscall" dict "" "The system call with most of the time.";
        "target" dict "" "The place: a file, a directory tree, a peer or its host.";
        "scope" dict "" "file, directory, host or target.";
        "targets" i64 "" "Number of different targets in that place.";
        "others" i64 "" "Number of calls of the same kinds by the same program elsewhere.";
        "usual_ns" i64 "ns" "Time that the same number of such calls takes elsewhere.";
        "factor" f64 "" "total_ns divided by usual_ns.";
        "half_calls" i64 "" "Smallest number of calls that account for half of exclusive_ns.";
        "unproven_ns" i64 "ns" "The part of exclusive_ns that may be the program's own time: upper bounds of calls in which nothing shows the task.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of these calls that failed.";
        "total_ns" i64 "ns" "Sum of the durations.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "max_ns" i64 "ns" "Longest duration.";
        "bytes" i64 "bytes" "Bytes moved.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "silences" {
        "capture" u32 "" "Number of the capture.";
        "target" dict "" "Message before the silence; of an activity that a message begins and another one ends, the first message.";
        "until" dict "" "Last message of the activity.";
        "after" dict "" "Message after the longest silence.";
        "calls" i64 "count" "Number of silences.";
        "several" i64 "" "The same if there are several.";
        "total_ns" i64 "ns" "Total duration.";
        "max_ns" i64 "ns" "Longest duration.";
        "is_rhythm" bool "" "The log is silent after each of several messages of this text, none of which mentions a wait.";
        "is_usual" bool "" "Other silences of the log are about as long, as in the log of a machine that is idle at times, or the log is a short part of something that it states.";
        "could_free_ns" i64 "ns" "Upper bound of the saving: exclusive_ns; 0 for a log of days, and after a message that something about as long has ended.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "Line before the longest silence, or first line of the activity.";
        "last_line" i64 "" "Line after the longest silence, or last line of the activity.";
    }
    "sleeps" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "syscall" dict "" "Name of the system call.";
        "asked_ns" i64 "ns" "Requested duration of each sleep, if the capture shows it.";
        "calls" i64 "count" "Number of sleeps.";
        "interrupted" i64 "count" "Number of sleeps that a signal ended early.";
        "ran_ns" i64 "ns" "Total duration.";
        "max_ns" i64 "ns" "Longest duration.";
        "waited_by" dict "" "Program of the parent that waited for the longest of them.";
        "paces" bool "" "Whether no process waits for it: it paces a process that never ends, or the process then waits for something outside anyway.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "timeouts" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "syscall" dict "" "Name of the system call.";
        "op" dict "" "Sub-operation.";
        "target" dict "" "What was awaited, if it is a single thing.";
        "awaited" dict "" "Kind of the awaited thing: `child`, `signal`, `data`, `peer`, `file-lock`, `lock` (lock, semaphore, condition or another thread), `message` or `any` (one of several).";
        "requested_ns" i64 "ns" "The timeout, if the capture shows it.";
        "waits" i64 "count" "Number of all waits for the same thing, expired or not, with any timeout.";
        "expired" i64 "count" "Number of waits that reached this timeout.";
        "ran_ns" i64 "ns" "Total duration of the expired waits.";
        "max_ns" i64 "ns" "Longest duration of an expired wait.";
        "is_round" bool "" "Whether the timeout is a typical hand-chosen value.";
        "gave_up" bool "" "Whether the last wait expired and the task continued with something else of its own accord, or killed the awaited process.";
        "went_on" bool "" "Whether the task then continued with something else or exited. In an idle loop, the next wait for the same thing follows soon and finally succeeds.";
        "paces" bool "" "Whether they pace a process that does not end by itself, or did so until it was told to end.";
        "sent_before" dict "" "Peer that the task had sent to, or tried to connect to, without an answer before the timeout.";
        "sent_bytes" i64 "bytes" "Bytes of the last send to that peer.";
        "meanwhile" dict "" "What the awaited process was doing when the wait expired: its program and its call, where the trace shows it.";
        "answered" bool "" "Whether the answer to that request came later, without another request: the task waited for it in steps.";
        "exclusive_ns" i64 "ns" "Critical-path time of the expired waits.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "Line of the first expired wait.";
        "last_line" i64 "" "Line of the last expired wait.";
    }
    "polls" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "syscall" dict "" "System call that checks, if it is a single one.";
        "op" dict "" "Sub-operation.";
        "target" dict "" "What is checked.";
        "command" dict "" "Arguments of the child that checks, if a child does.";
        "errno" dict "" "Error of the checks that failed.";
        "checks" i64 "count" "Number of checks.";
        "failed" i64 "count" "Number of checks that failed or found nothing.";
        "succeeded" bool "" "Whether the last result differs from the first.";
        "unexplained" i64 "" "Number of checks by a command where the last one succeeded and no call shows why; otherwise missing.";
        "spinning" bool "" "Whether it checks without pauses.";
        "asked_ns" i64 "ns" "Mean requested duration of a pause.";
        "interval_ns" i64 "ns" "Mean time from one check to the next.";
        "freeable_ns" i64 "ns" "Upper bound of what shorter pauses could save: one interval, as far as it is on the critical path.";
        "total_ns" i64 "ns" "From the first check to the last.";
        "exclusive_ns" i64 "ns" "Critical-path time in these calls and pauses.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "ready_spins" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "syscall" dict "" "System call that polls.";
        "target" dict "" "The descriptor that is ready, as far as the capture identifies it.";
        "fd" i64 "" "Number of that descriptor, as far as the capture contains it.";
        "attempt" dict "" "System call that tries to read or accept after the polls, without success.";
        "errno" dict "" "Error of these attempts.";
        "empty" dict "" "System call that reads after the polls, and returns 0: the end of the data.";
        "bare" bool "" "Whether the task makes no other call between these polls.";
        "proven" bool "" "Whether the descriptor is of a kind that stays ready until a call takes something, or the attempts show it.";
        "polls" i64 "count" "Number of polls in a row that return at once, in the longest series.";
        "interval_ns" i64 "ns" "Mean time from one poll to the next.";
        "total_ns" i64 "ns" "From the first poll to the last.";
        "exclusive_ns" i64 "ns" "Critical-path time in these calls and between them.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "retries" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "syscall" dict "" "System call that is retried.";
        "op" dict "" "Sub-operation.";
        "target" dict "" "What the call works on.";
        "errno" dict "" "Name of the last error.";
        "attempts" i64 "count" "Number of attempts.";
        "failed" i64 "count" "Number of failed attempts.";
        "succeeded" bool "" "Whether the last attempt succeeded.";
        "asked_ns" i64 "ns" "Mean requested duration of a pause.";
        "pause_ns" i64 "ns" "Total duration of the pauses.";
        "freeable_ns" i64 "ns" "The last pause, during which the call may have become possible; all pauses if the task gave up.";
        "first_pause_ns" i64 "ns" "Duration of the first pause.";
        "last_pause_ns" i64 "ns" "Duration of the last pause.";
        "grows" bool "" "Whether the last pause is longer than the first.";
        "total_ns" i64 "ns" "From the first attempt to the last.";
        "exclusive_ns" i64 "ns" "Critical-path time in these calls and pauses.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "kills" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "signal" dict "" "Name of the last signal before the pause.";
        "target" dict "" "Id that it was sent to.";
        "victim" dict "" "Program of that process.";
        "victim_script" dict "" "Script that this program interprets.";
        "names" list "" "Programs that were signaled to exit before the pause, or ids of processes that are not in the capture.";
        "victims" i64 "count" "Number of processes in the capture that were signaled to exit before the pause.";
        "survivors" i64 "count" "Number of them still running after the pause.";
        "gone_ns" i64 "ns" "From the last signal until all of them had exited, if that was before the pause ended.";
        "slept_ns" i64 "ns" "Duration of the pause.";
        "needless_ns" i64 "ns" "Part of the pause after all of them had exited.";
        "freeable_ns" i64 "ns" "needless_ns, or the whole pause if one of them had to be killed after it.";
        "then_killed" bool "" "Whether SIGKILL was sent to one of them later.";
        "deaf" dict "" "Program of the process that had to be killed.";
        "deaf_script" dict "" "Script that this program interprets.";
        "pauses" i64 "count" "Number of pauses: 1, or the parts of a grace period that ended in SIGKILL.";
        "checks" bool "" "Whether it could see the exit in between: the pause has several parts, or is a wait.";
        "exclusive_ns" i64 "ns" "Critical-path time of the pauses.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "requests" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "peer" dict "" "Peer that it sent to.";
        "port" i64 "" "The port of the peer.";
        "round_trips" i64 "count" "Number of answered requests.";
        "response_ns" i64 "ns" "Total time from the last send to the answer.";
        "mean_ns" i64 "ns" "Mean time from the last send to the answer.";
        "typical_ns" i64 "ns" "round_trips times the median response time: what they take if none is unusually slow.";
        "p99_ns" i64 "ns" "99th percentile of the response time, within 1%.";
        "max_ns" i64 "ns" "Longest duration.";
        "sends" i64 "count" "Number of sends.";
        "sent_bytes" i64 "bytes" "Bytes sent.";
        "received_bytes" i64 "bytes" "Bytes received.";
        "connections" i64 "count" "Number of different named sockets connected to the peer.";
        "resent" i64 "count" "Number of sends repeated after a timeout without an answer.";
        "unanswered" i64 "count" "Number of requests that were never answered.";
        "delayed_acks" i64 "count" "Round trips with several sends that took as long as a delayed acknowledgement.";
        "exclusive_ns" i64 "ns" "Critical-path time of the sends, waits and receives.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "connects" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "peer" dict "" "Peer that it tried to reach.";
        "port" i64 "" "The port of the peer.";
        "attempts" i64 "count" "Number of connects.";
        "failed" i64 "count" "Number of these calls that failed.";
        "expired" i64 "count" "Number of waits for a connection that timed out.";
        "errno" dict "" "Name of the last error.";
        "waited_ns" i64 "ns" "Time in connects and in polls for them.";
        "max_ns" i64 "ns" "Longest wait, from the connect to the end of the poll.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "signals" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "signal" dict "" "Name of the signal.";
        "delivered" i64 "count" "Number of deliveries.";
        "interrupted" i64 "count" "Number of calls that it interrupted.";
        "handled" i64 "count" "Number of times a handler ran.";
        "handler_ns" i64 "ns" "Total time from the signal to the return of its handler.";
        "timers" i64 "count" "Number of calls by the task that set a timer.";
        "interval_ns" i64 "ns" "Mean time from one delivery to the next.";
        "exclusive_ns" i64 "ns" "Critical-path time of calls made by handlers.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "handovers" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task that waits on the critical path more often.";
        "pid" i32 "" "Its process id.";
        "tid" i32 "" "Its thread id.";
        "program" dict "" "Its program.";
        "other_pid" i32 "" "Process id of the other task.";
        "other_tid" i32 "" "Thread id of the other task.";
        "other_program" dict "" "Program of the other task.";
        "target" dict "" "What the first task waits at: a pipe, a socket, or the address of a lock.";
        "class" dict "" "What its waits are: ipc, lock, poll or network.";
        "is_at_address" bool "" "Whether it is the socket of a service, with an address that clients connect to.";
        "rounds" i64 "count" "Number of times that one of the two waits for the other on the critical path.";
        "each_bytes" i64 "bytes" "Mean number of bytes handed over.";
        "mean_ns" i64 "ns" "exclusive_ns per hand-over.";
        "exclusive_ns" i64 "ns" "Critical-path time of both tasks in calls on pipes, local sockets, locks and polls.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "items" {
        "capture" u32 "" "Number of the capture.";
        "item" dict "" "Subject of repeated messages: a noun and its number, such as `jail N`, or `NAME`.";
        "items" i64 "count" "Number of completed items.";
        "unfinished" i64 "" "Number of items whose last message differs from the usual last message.";
        "stages" i64 "" "Number of different messages about an item.";
        "first_stage" dict "" "The first message about an item.";
        "last_stage" dict "" "The message that completes an item.";
        "start_ns" i64 "ns" "Time of the first message about any item.";
        "first_ns" i64 "ns" "Time when the first item was completed.";
        "last_ns" i64 "ns" "Time when the last item was completed.";
        "elapsed_ns" i64 "ns" "From the first message about any item to the last completion.";
        "first_own_ns" i64 "ns" "Time of the first item from its first message to its last; missing if there is only one message.";
        "marginal_ns" i64 "ns" "Cost of each additional item: median slope of completion time against index (Theil-Sen).";
        "residual_ns" i64 "ns" "Median distance of the completions from the fitted line.";
        "marginal_share" f64 "share" "Marginal cost of all items except the first, as a share of elapsed_ns.";
        "own_ns" i64 "ns" "Sum of the times of all items, each from its first message to its last.";
        "longest_ns" i64 "ns" "Longest time of an item.";
        "parallel" f64 "" "Apparent parallelism: own_ns / elapsed_ns.";
        "effective" f64 "" "Effective parallelism: items × first_own_ns / elapsed_ns; 1 means one after the other.";
        "could_free_ns" i64 "ns" "elapsed_ns without the longest step between completions: what overlap could save.";
        "exclusive_ns" i64 "ns" "Silence after messages about the items, up to the last completion.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line about any item.";
        "last_line" i64 "" "Last line before the last completion.";
    }
    "stages" {
        "capture" u32 "" "Number of the capture.";
        "message" dict "" "Text of the messages, with N or NAME for the parts that differ.";
        "item" dict "" "Kind of items that the messages are about, as in table items; missing if they are not about an item.";
        "messages" i64 "count" "Number of messages.";
        "start_ns" i64 "ns" "Time of the first message.";
        "last_ns" i64 "ns" "Time of the last message.";
        "total_ns" i64 "ns" "Time that items spent in the stage: from this message to the next one about the same item.";
        "mean_ns" i64 "ns" "Mean time in the stage.";
        "max_ns" i64 "ns" "Longest duration.";
        "item_share" f64 "share" "total_ns as a share of the time of all items.";
        "exclusive_ns" i64 "ns" "Silence after these messages: window time until the next message about anything.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "gap_lengths" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at the first of them.";
        "round_ns" i64 "ns" "The round duration.";
        "gaps" i64 "count" "Number of gaps of this duration, or up to 1% longer.";
        "silences" i64 "count" "The same number if they are silences of a log rather than gaps between calls.";
        "total_ns" i64 "ns" "Total duration of the gaps.";
        "max_ns" i64 "ns" "Longest duration.";
        "before" dict "" "Call or message before the longest gap.";
        "after" dict "" "Call or message after the longest gap.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "exclusive_ns as a share of the window.";
        "first_line" i64 "" "First line.";
        "last_line" i64 "" "Last line.";
    }
    "gaps" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at that moment.";
        "start_ns" i64 "ns" "Start time of the gap.";
        "dur_ns" i64 "ns" "Duration of the gap.";
        "before" dict "" "Call or message before the gap.";
        "after" dict "" "Call or message after the gap.";
        "line" i64 "" "Line of the event before the gap.";
        "next_line" i64 "" "Line of the event after the gap.";
    }
    "chain" {
        "task" u32 "" "Number of the process's main task.";
        "capture" u32 "" "Number of the capture.";
        "pid" i32 "" "Process id.";
        "program" dict "" "The last program it ran.";
        "inclusive_ns" i64 "ns" "Critical-path time of the process, including the time it waited for others.";
        "waits_for_task" u32 "" "Main task of the process that it was blocked on longest on the critical path.";
        "waits_for_pid" i32 "" "Id of that process.";
        "waits_for_ns" i64 "ns" "Critical-path time for which it was blocked on that process.";
        "waits_for_how" dict "" "How the end of most of that wait is known, as in column `how` of the path.";
        "waits_for_sure" dict "" "Confidence: measured (the trace shows it) or inferred (from times and parentage).";
        "slack_ns" i64 "ns" "How much longer it could have run without delaying the end of the window, as far as the trace shows its waiters; missing where unknown.";
    }
    "partition" {
        "capture" u32 "" "Number of the capture.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at that moment.";
        "class" dict "" "What the time was spent on: user, sleep, child, disk, network, ipc, poll, lock, …";
        "syscall" dict "" "The system call, if the time was spent in one.";
        "op" dict "" "Sub-operation; for a log message, the subsystem.";
        "target" dict "" "What the call worked on; for a log message, its text.";
        "exclusive_ns" i64 "ns" "Critical-path time.";
        "share" f64 "share" "Share of the window.";
        "calls" i64 "" "Number of calls charged with the time.";
        "resolved" bool "" "False for a wait that nothing in the trace ended.";
        "tag" dict "" "polled: work that a process waited for by polling; poll-lag: the time from its end to the next check; idle: a server waited for its clients.";
        "first_line" i64 "" "Line of the first call; only in aggregated rows, like the following columns.";
        "last_line" i64 "" "Line of the last call.";
        "targets" i64 "" "Number of different targets combined.";
        "processes" i64 "" "Number of different processes combined.";
        "pieces" i64 "" "Number of rows of the finest partition combined.";
    }
    "path" {
        "start_ns" i64 "ns" "Start time.";
        "dur_ns" i64 "ns" "Duration.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at that moment.";
        "class" dict "" "What the time was spent on.";
        "what" dict "" "call, gap, resume, spawn, silence, or poll-lag (from the awaited event of a poll loop to the check that noticed it).";
        "tag" dict "" "polled (work that a process waited for by polling), poll-lag, or idle (a server waited for its clients).";
        "syscall" dict "" "The system call.";
        "op" dict "" "Sub-operation.";
        "target" dict "" "What the call worked on.";
        "line" i64 "" "Line of the call.";
        "pieces" i64 "" "Number of segments combined; the other columns describe most of their time.";
        "waiter_pid" i32 "" "The process that waited for it on the critical path.";
        "how" dict "" "How the end of that wait is known: child, vfork, signal, stream, terminal, futex, join, lock, drain, poll, message, beside, exit, watch.";
        "sure" dict "" "measured (the trace shows it) or inferred (from times and parentage).";
        "stack" i64 "" "Number of the call's stack in table stack_frames; missing without one.";
    }
    "stack_times" {
        "capture" u32 "" "Number of the capture.";
        "task" u32 "" "Number of the task.";
        "pid" i32 "" "Process id.";
        "tid" i32 "" "Thread id.";
        "program" dict "" "Program at that moment.";
        "class" dict "" "What the time was spent on.";
        "syscall" dict "" "The system call, if the time was spent in one.";
        "op" dict "" "Sub-operation; for a log message, the subsystem.";
        "target" dict "" "What the call worked on; for a log message, its text.";
        "exclusive_ns" i64 "ns" "Critical-path time. All rows sum to the window.";
        "calls" i64 "" "Number of calls charged with the time.";
        "resolved" bool "" "False for a wait that nothing in the trace ended.";
        "tag" dict "" "As in the partition.";
        "stack" i64 "" "Number of the stack of these calls in table stack_frames; missing without one.";
    }
    "stack_frames" {
        "stack" i64 "" "Number of the stack.";
        "depth" i64 "" "Position of the frame, from 0 for the outermost.";
        "function" dict "" "The function; missing where the tracer found no symbol.";
        "source" dict "" "Source file and line, where the tracer prints them.";
        "module" dict "" "File that contains the function.";
    }
    "summary_rows" {
        "capture" u32 "" "Number of the capture.";
        "syscall" dict "" "Name of the system call.";
        "calls" i64 "count" "Number of calls.";
        "failed" i64 "count" "Number of calls that failed.";
        "total_ns" i64 "ns" "Total as printed: CPU or wall time, depending on the tracer.";
    }
}

/// Arrow type of a column; 64-bit integer if the list does not name another one.
pub fn kind_of(table: &str, name: &str) -> &'static str {
    COLUMNS
        .iter()
        .find(|column| column.table == table && column.name == name)
        .map_or("i64", |column| column.kind)
}
