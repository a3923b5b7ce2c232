"""Numbers of judgement: what counts as a change, as round, as growth, as worth a line. Those of rules are in `rules/`.

Each has one line about what it decides and one about its source; `chosen` means that samples and field captures are
right with it, but nothing was measured. The engine has its own in `engine/trace/src/store/heuristics.rs`. Widths and
numbers of lines stay where they are used.
"""

from typing import Final

_MS = 1_000_000
_S = 1_000 * _MS

# Clocks

MIN_ROUGH_TICK_NS: Final = 10 * _MS
"""Minimum timestamp resolution that makes durations and shares rough, so that their error is shown.
Source: chosen. BSD and Solaris print 0.1 ms or finer, `strace -t` and most logs 1 s."""
MIN_ERROR_SHARE: Final = 0.005
"""Minimum error of a share that is shown.
Source: shares are printed in whole percent."""
MIN_COST_TICKS: Final = 3
"""Minimum cost of a finding, in clock ticks.
Source: chosen. A coarse clock charges its whole tick to whatever runs when it steps. That happens to one match twice
by chance, but rarely three times."""
MIN_LIMITED_SHARE: Final = 0.5
"""Minimum share of a cost that the time limits of its waits prove, if the resolution of the clock does not matter.
Source: chosen."""
MIN_MEASURED_TICKS: Final = 10
"""Minimum cost that is measured rather than estimated, in clock ticks.
Source: the error is up to one tenth."""
ROUND_TOLERANCE_SHARE: Final = 0.01
"""Maximum difference of a silence from a chosen number of seconds. A silence is too long or too short, a delay only
too long, so this differs from `CHOSEN_PRECISION_RATIO` of the engine.
Source: chosen."""
MAX_ROUND_DELAY_NS: Final = 20 * _MS
"""Maximum difference of a silence from a chosen number of seconds, for long ones.
Source: `MAX_TIMER_DELAY_NS` of the engine: timers are late by a tick of the kernel and a scheduling delay."""

# Intervals

MAX_INTERVALS: Final = 2_000
"""Maximum number of intervals of a window.
Source: a report of more is no report; the search for changes of level takes time with their square at worst."""
MIN_SHOWN_SHARE: Final = 0.05
"""Minimum share of an interval that its row names.
Source: chosen. Smaller parts say nothing about an interval."""
MIN_INTERVALS_OF_CHANGE: Final = 6
"""Minimum number of intervals in which changes are looked for.
Source: chosen. Of fewer, each could be the exception."""
MIN_NOISE_OF_LATENCY_LOG: Final = 0.15
"""Minimum noise of a quantile of durations, as a natural logarithm: 15 %.
Source: chosen. Quantiles of the same load differ by this much from one second to the next."""
MIN_NOISE_OF_RATE_LOG: Final = 0.2
"""Minimum noise of a number of calls, as a natural logarithm: 20 %.
Source: chosen, as above."""
MIN_CHANGE_RATIO: Final = 2.0
"""Minimum ratio of two levels that is a change.
Source: chosen: less is hard to tell from another mix of requests."""
MIN_SHARE_OF_CHANGE: Final = 0.02
"""Minimum share that a call has of the critical path of the intervals in which its duration differs.
Source: chosen. Below, it delays nobody noticeably."""
MIN_CALLS_OF_LEVEL: Final = 3
"""Minimum number of calls of an interval that has a level.
Source: chosen. A median of fewer is one call."""
MIN_RATE_CALLS: Final = 20
"""Minimum mean number of calls per interval, on the higher level, of a rate that changes.
Source: the noise of a count is its square root; at 20 a factor of two is several times the noise."""

# Traces that are still being written

WATCHED_NS: Final = 60 * _S
"""What `watch` shows: the last minute.
Source: chosen. It is long enough for a rate, and short enough to be about now."""
FINDINGS_EVERY_NS: Final = 10 * _S
"""Minimum time of a trace that is searched for findings.
Source: chosen. Shares of less are mostly chance."""
FINDINGS_COST_RATIO: Final = 40
"""Time between two searches for findings, in durations of the last search.
Source: chosen, so that searches take at most a fortieth of a core."""
MIN_SHOWN_ON_SCREEN: Final = 0.005
"""Minimum share of the critical path that has a row of its own.
Source: chosen. A row of less says nothing in a minute."""
MIN_WATCH_INTERVAL_NS: Final = 100 * _MS
"""Minimum time between two screens.
Source: chosen. People do not read faster."""
MAX_WATCH_INTERVAL_NS: Final = 60 * _S
"""Maximum time between two screens.
Source: chosen: later, all that is shown has changed."""
MIN_SILENCE_OF_TRACE_NS: Final = 2 * _S
"""Minimum time without a line that is told.
Source: chosen. The tracer writes lines as they come, a pipe in between may hold them for a moment."""

# Findings

MIN_MIXED_SHARE: Final = 0.05
"""Minimum share of calls that overlap another call of their process, from which threads count as mixed.
Source: chosen. A clock that is set back makes a few calls overlap; two busy threads make nearly all overlap."""
MIN_OWN_SHARE: Final = 0.5
"""Minimum share of its time that a match keeps if it is a finding of its own.
Source: chosen."""
MAX_TRACING_ERROR: Final = 1.0
"""By how much more than estimated tracing may take, as a share of the estimate.
Source: in 43 of 44 pairs of tests/field/proofs, and in 28 of the 29 in which tracing took 50 ms or more, it took no
more than twice the estimate."""
MIN_UNPROVEN_SHARE: Final = 0.5
"""Minimum share of a cost that may be the program's own time, if the report names the program next to the call.
Source: chosen."""
MIN_LONGEST_SHARE: Final = 0.5
"""Minimum share of one call in the time of several, if the report shows its time.
Source: chosen."""
MAX_MEAN_RATIO: Final = 4
"""Maximum ratio of the mean to the median of durations, if the report shows the mean.
Source: chosen."""
MIN_ERROR_IMPACT_NS: Final = _S
"""Minimum impact of an error. The share of the window must be reached too.
Source: chosen."""
MIN_ERROR_IMPACT_SHARE: Final = 0.2
"""Minimum share of the window that the impact of an error has.
Source: chosen."""
MIN_PATH_SHARE_OF_CALLS: Final = 0.6
"""Minimum share of the time of some calls that lies on the critical path. Where it is less, both times are given.
Source: chosen. Waits of one task after the other lie on the path, and so do most of those that overlap a little."""
MIN_WARNING_IMPACT_NS: Final = 100 * _MS
"""Minimum impact of a warning. The share of the window must be reached too.
Source: chosen. People notice delays of 0.1 s (Miller 1968; Nielsen, *Usability Engineering*, 1993)."""
MIN_WARNING_IMPACT_SHARE: Final = 0.05
"""Minimum share of the window that the impact of a warning has.
Source: chosen."""

# Comparing captures

MIN_CHANGE_COUNT: Final = 5
"""Minimum change of a count that the gate and `scaling` report.
Source: chosen."""
MIN_FOLDED_FILES: Final = 3
"""Minimum number of files of a folder with the same new call, so that they are listed as one row.
Source: chosen. A package of Python or Node opens ten to a hundred of its files."""
MIN_CHANGE_SHARE: Final = 0.05
"""Minimum change of a large count, relative to before, that the gate and `scaling` report.
Source: chosen."""
MIN_CHANGE_BYTES: Final = 64
"""Minimum change of a number of bytes.
Source: chosen. Ids and dates that a program reads or writes differ by a few digits."""
MIN_CHANGE_NS: Final = 50 * _MS
"""Minimum change of requested delays.
Source: chosen. It is the shortest delay of `CHOSEN_NS` in the engine."""
MIN_CLOCK_CHANGE_NS: Final = 100 * _MS
"""Minimum change of a measured duration.
Source: chosen."""
MIN_CLOCK_CHANGE_SHARE: Final = 0.25
"""Minimum change of a measured duration, relative to before.
Source: chosen."""
MIN_CLOCK_RUNS: Final = 4
"""Minimum number of runs per side for which the rank test can tell a shift from chance.
Source: the smallest chance with 4 and 4 runs is 1 in 70. With 3 and 3 it is 1 in 20, which only a perfect order has."""
MAX_CHANCE: Final = 0.05
"""Maximum probability that a shift of measured durations is due to chance.
Source: convention."""
MAX_BETTER_RATIO: Final = 0.8
"""Maximum ratio of now to before for which the gate proposes a tighter limit.
Source: chosen."""
MIN_PROGRAM_CALLS: Final = 100
"""Minimum number of calls of a program that should have calls of all families.
Source: chosen. It is the number of the rule `narrow-filter`."""
MAX_REPLAYED_CALLS: Final = 100_000
"""Maximum number of calls of a capture that the page replays sixteen times, and a report without each of its causes.
Source: a replay of so many takes some hundredths of a second."""
MAX_REPLAYED_ONCE_CALLS: Final = 10_000_000
"""Maximum number of calls of a capture that every report replays without all of its causes.
Source: a replay of 717,784 calls took 0.17 s of CPU time, and `summarize` 4.1 s."""
MIN_NOTED_CALL_NS: Final = 100 * _MS
"""Minimum duration that is told of a call that failed.
Source: people notice it (Miller, Response time in man-computer conversational transactions, 1968)."""
MIN_DIFF_SHARE: Final = 0.01
"""Minimum change of time alone that `diff` lists, relative to the longer window.
Source: chosen. Any two runs differ by less."""
MIN_DIFF_NS: Final = _MS
"""Minimum change of time alone that `diff` lists.
Source: chosen."""
MAX_SEPARATE_NAMES: Final = 3
"""Maximum number of names that differ in a number only and are compared one by one.
Source: chosen."""
MIN_MADE_UP_LENGTH: Final = 4
"""Minimum length of the part of a name that a program makes up.
Source: mkstemp(3) generates six of 62 characters; two of them may be equal by chance."""
ROUND_NUMBERS: Final = (10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 80, 90)
"""First two digits of round durations, to label a sleep until a point in time.
Source: chosen. They label any duration in all runs alike, so they are not `CHOSEN_NS` of the engine."""
MAX_ROUND_RATIO: Final = 1.05
"""Maximum ratio of a duration to the round one that labels it.
Source: chosen."""

# Growth with the size of the input

MIN_SIZES: Final = 4
"""Minimum number of sizes for an exponent.
Source: chosen. Without one of them, three remain for a line."""
MIN_SIZE_RATIO: Final = 8
"""Minimum ratio of the largest size to the smallest.
Source: chosen. Linear and logarithmic growth differ clearly."""
MAX_EXPONENT_ROUNDING: Final = 0.1
"""Maximum distance of an exponent from a named one.
Source: chosen."""
MIN_SUPERLINEAR_EXPONENT: Final = 1.15
"""Minimum exponent of growth beyond linear, in all fits without one size.
Source: 1, `MAX_EXPONENT_ROUNDING`, and a margin."""
MAX_NEARLY_LINEAR_EXPONENT: Final = 1.45
"""Maximum exponent that is called nearly linear, such as that of n log n.
Source: chosen."""
MAX_MISFIT_SHARE: Final = 0.25
"""Maximum distance of a count from the fit. Above it, growth is irregular.
Source: chosen."""
RARE_SHARE: Final = 0.01
"""Shapes with a smaller share of the calls are combined.
Source: chosen."""

# What reports list

MIN_CAUSE_SHARE: Final = 0.3
"""Minimum share of the window of an info that explains where the time went, so that the diagnosis begins with it.
Source: chosen. It is the number of the rule `cpu-bound`."""

MIN_NAMED_CALLS_SHARE: Final = 0.5
"""Share of all calls above which the diagnosis names the most frequent one next to a finding.
Source: chosen. It is most of them."""

MIN_OWN_CPU_NS: Final = 500_000_000
"""Minimum CPU time outside calls that the diagnosis names where there is no window.
Source: chosen. It is the number of the rule `cpu-bound`."""

MIN_TABLE_RATIO: Final = 10
"""Calls in a tracer's table per call with a line of its own, from which the table is the answer.
Source: chosen. The few lines before a table are those of the attaching or of the end."""

MIN_ONLY_CALLS: Final = 5
"""Number of calls from which the diagnosis names the sum and the longest of the only kind of call in a capture.
Source: chosen. Fewer are read one by one."""

MAX_EQUAL_COUNTS_SHARE: Final = 0.01
"""Maximum difference of the numbers of calls in a tracer's table that a loop makes in turn.
Source: tables of loops in public threads: kevent 12,875 and read 12,874; stat 54,108, lstat 54,041 and write 54,022."""

MIN_SAMPLED_PROCESSES: Final = 4
"""Number of processes from which a capture with hardly more calls is an excerpt of a whole system.
Source: chosen. A shell and what it starts are fewer."""

MAX_SAMPLED_CALLS: Final = 2
"""Calls per process up to which a capture does not show what a process does between its calls.
Source: chosen. With two calls, one time between calls is known."""

MIN_LOOP_CALLS: Final = 1000
"""Number of calls from which equal numbers in a table are a loop and no accident.
Source: chosen. It is the number of the rule `failing-total`."""

MIN_LOOP_SHARE: Final = 0.5
"""Minimum share of all calls of a table of such a loop.
Source: chosen. It is most of them."""

MIN_LINK_SHARE: Final = 0.05
"""Minimum share of the window for which a process blocked the one before it in the chain of waits.
Source: chosen."""
MIN_UNEXPLAINED_SHARE: Final = 0.05
"""Minimum share of the window without a finding that the report divides.
Source: chosen."""
MIN_PIECE_SHARE: Final = 0.01
"""Minimum share of the window of a listed piece. Smaller ones are combined.
Source: shares are printed in whole percent."""
MIN_TRACING_SHARE: Final = 0.2
"""Minimum share of tracing overhead, in the cost of a finding or in the window, that the report mentions.
Source: chosen."""
MIN_UNTRACED_SHARE: Final = 0.2
"""Minimum share of a window that an estimate leaves for the program itself: its error is as large.
Source: a script that starts 400 processes was estimated at 0.30 of 0.83 s, and took 0.16 s without the tracer. Perl
with 300 folders of modules, 2.59 s of 33,000 lookups, was estimated at nothing, and took 0.41 s."""
MIN_COMMAND_SHARE: Final = 0.05
"""Minimum share of the window of a command line that is listed by itself. Smaller ones are combined by program.
Source: chosen."""
MIN_DIVIDED_SHARE: Final = 0.2
"""Minimum share of the window of a command whose calls are listed.
Source: chosen."""
MAX_REST_SHARE: Final = 0.2
"""Maximum share of the processes that are not listed. Above it, programs are listed instead.
Source: chosen."""
MIN_PROCESS_SHARE: Final = 0.1
"""Minimum share of a process that is listed next to programs.
Source: chosen."""
MIN_STRETCH_SHARE: Final = 0.005
"""Minimum share of the window of a stretch that `critical-path` lists.
Source: shares are printed in whole percent."""
MIN_ICICLE_SHARE: Final = 0.0005
"""Minimum share of the window of a node of the icicle; smaller ones are in one node per parent.
Source: a node of this share is less than a pixel wide on a screen of 1,920 pixels."""
MIN_FOLDED: Final = 3
"""Minimum number of siblings with the same command that `tree` combines in one row.
Source: chosen. Two rows are as easy to read as one with a number."""
MIN_GAP_SHARE: Final = 0.001
"""Minimum share of the window of a gap that `gaps` lists.
Source: chosen."""
MIN_STAGE_SHARE: Final = 0.05
"""Minimum share of the window of stages that the report mentions.
Source: chosen from a server log of failed logins, whose occasional messages differ in a number (less than a fifth of
the time between them is silence after one), and from jails whose stages fill the log."""
MIN_COVERED_SHARE: Final = 0.5
"""Minimum share of the elapsed time of items that is on the critical path, if the report mentions them.
Source: see `MIN_STAGE_SHARE`."""
MIN_ITEMS_WITHOUT_BEGIN: Final = 4
"""Minimum number of items with a single message, so that the report mentions them.
Source: see `MIN_STAGE_SHARE`."""
MAX_UNEVENNESS_RATIO: Final = 0.25
"""Maximum ratio of the deviation of the costs of items to the cost of one, if these items have a single message.
Source: see `MIN_STAGE_SHARE`."""
MAX_NAMED_FLAGS: Final = 3
"""Maximum number of bars in a set of flags that names a call.
Source: futex operations and locks have up to two; sets of events to watch have six and more."""
MIN_COMPUTING_SHARE: Final = 0.05
"""Minimum share of CPU time of a thread that made no system call, for it to compute.
Source: chosen. One that spins has nearly all of a free processor, and a twentieth of one that twenty processes share.
One that waits, or does not get a processor, has next to nothing."""
MIN_FREE_PROCESSOR_SHARE: Final = 0.8
"""Minimum share of CPU time of a thread that computes and shares its processor with no other process.
Source: a loop of Python on an idle machine, attached for 2 s, has 97 to 99 %."""
MIN_STANDSTILL_NS: Final = 1_000_000_000
"""Minimum time without a completed call for a hang.
Source: as of the rule `open-call`."""

# Many captures

FLEET_MAX_CALL_ROWS: Final = 1_000
"""Maximum number of rows of calls that the store has per capture. The targets of the others are folded.
Source: chosen. The captures of the repository have up to some hundreds."""
FLEET_WEIGHT_OF_COUNTS: Final = 0.01
"""How much a cause of unknown time counts when captures are compared, as a share of the window.
Source: chosen, so that measured causes decide."""
FLEET_BASELINE_RUNS: Final = 10
"""Number of captures of a store that are a baseline, if the user gives none.
Source: chosen. Three show which counts vary, and a rank test of times needs four."""
FLEET_MIN_CAPTURES: Final = 5
"""Minimum number of captures with a cause, for a trend to be tested.
Source: chosen. Ranks of fewer values are rarely significant."""
FLEET_MAX_FALSE_DISCOVERIES: Final = 0.05
"""Maximum expected fraction of false ones among the reported changes.
Source: the usual level of Benjamini and Hochberg (1995)."""
FLEET_MIN_OUTLIER_SCORE: Final = 3.5
"""Minimum modified z-score of an outlier.
Source: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993)."""
FLEET_MIN_OUTLIER_SHARE: Final = 0.05
"""Minimum difference of an outlier from the median, as a share of the window.
Source: chosen. Smaller ones are not worth a look, however regular the other captures are."""

MIN_DEADLOCKED_SHARE: Final = 0.6
"""Minimum share of the threads of a process that wait for each other, for a deadlock. Some may have ended unseen.

Source: chosen."""

MIN_SPIN_CALLS: Final = 10_000
"""Minimum number of calls in a tracer's table before one call that has nearly all of them is a spin.

Source: tables of strace -c of idle servers over minutes have some hundred."""

MIN_SPIN_SHARE: Final = 0.9
"""Minimum share of one call in all calls of such a table.

Source: a wait that reports something is followed by at least one other call, which leaves it half of the calls."""

MIN_CYCLE_SHARE: Final = 0.8
"""Minimum share of the calls of a thread that a sequence has to have which it repeats until the capture ends.

Source: chosen. The rest is the beginning of the copied text."""

MIN_SPINS_OF_PROGRAM: Final = 20
"""Number of turns of clock reads and yields from which a program spins that the tracer started.

Source: chosen. Programs that measure their clock at the start read it some ten times."""

MIN_FINAL_TURNS: Final = 32
"""Number of turns from which a sequence counts that a process repeats until the capture ends, whatever it did before.

Source: chosen. Retries of healthy programs end after 3 to 10."""

MIN_PEER_SHARE: Final = 0.5
"""Minimum share of the window that a wait for a peer has, before a run is slow although nothing measured the wait.

Source: chosen. With less, the rest explains the run."""

MAX_EXCERPT_MESSAGES: Final = 200
"""Maximum number of lines of a log in which a failed unit or job is what the log is about, wherever it stands.

Source: chosen from logs that people paste: 4 to 200 lines around what failed."""

MIN_FINAL_MESSAGES_SHARE: Final = 0.1
"""Share of the lines at the end of a longer log in which a failure is how it ended.

Source: chosen. Boots have failed units in the middle, and go on."""

MIN_FLOOD_SHARE: Final = 0.5
"""Minimum share of the lines of a log whose messages begin with the same words, before it is said to be full of them.

Source: chosen, from the log of a phone with 82%."""

MIN_FLOOD_MESSAGES: Final = 100
"""Minimum number of such messages.

Source: chosen. Short excerpts are picked for one message."""

MIN_SERIES_SHARE: Final = 0.5
"""Minimum share of the wall time between messages of one form that are the rhythm of a job.

Source: chosen: most of the time."""

MIN_SERIES_MESSAGES: Final = 10
"""Minimum number of such messages.

Source: chosen. Fewer may be the stages of one piece of work."""

MIN_REPEATED_ERRORS: Final = 10
"""Minimum number of messages of one error before it is named instead of the first error of a log.

Source: chosen. Drivers report one error per device, of which a machine has up to eight."""

MIN_SURVIVED_SHARE: Final = 0.4
"""Share of the lines of a longer log that follow its last crash or hang, from which it was survived.

Source: chosen. A machine or a service that a crash ends logs the consequences, and then little."""

MAX_LINES_AFTER_ERROR: Final = 4
"""Maximum number of lines after an error which is reported once, before the log ends with it.

Source: what a server logs of the client that caused it: the statement, and that it is gone."""

MAX_SPIN_INTERVAL_NS: Final = 2_000_000
"""Maximum mean time from one poll without waiting to the next of a loop that spins.

Source: chosen. A program that draws looks for events once per picture, each 8 to 16 ms."""

MAX_CALLS_BETWEEN_LOOKS: Final = 8
"""Maximum number of calls, on average, per poll with a limit of zero, in an excerpt that does nothing else than poll.

Source: chosen. Loops of terminals read clocks and modes in between, five or six calls a turn."""

MIN_UNIFORM_CALLS: Final = 3
"""Minimum number of calls of a capture that all fail in the same way, before that is a repetition.

Source: chosen. People who post a spin copy three to five lines of it."""

MAX_PICKED_CALLS: Final = 10_000
"""Maximum number of calls of lines that somebody picked. Beyond, the tracer was asked for one kind of call.

Source: chosen."""

MIN_PICKED_CALLS: Final = 4
"""Minimum number of calls that open files, and of no other calls, before they look picked.

Source: a program that opens a file reads, maps or closes it before the next but one."""

MAX_LOADED_FILES: Final = 50
"""Maximum number of files that a program maps one after the other when it starts: libraries, catalogues, locales.

Source: /bin/sleep maps 13, python3 with its modules 20 to 40, git 10."""

MIN_OBSERVED_SHARE: Final = 0.05
"""Minimum share of all calls of a repetition that is worth an observation.

Source: chosen."""

MAX_RESIDUE_SHARE: Final = 0.15
"""Maximum share of the time of a cause that remains after a fix, if the finding has no lower bound of its own.

Source: chosen. One sync instead of 25 keeps 4%, a check every 0.1 s instead of every second keeps 10%."""

MAX_DRIFT_SHARE: Final = 0.005
"""Maximum drift of a replay without changes. With more, only bounds from the critical path are reported.

Source: chosen. Fixes that matter save at least ten times as much."""

MIN_HIDDEN_SHARE: Final = 0.01
"""Minimum share of the window by which a fix saves more, or less, with the others than alone, to be worth a word.

Source: chosen. It is twice the maximum drift."""

# Logs next to captures of calls

MIN_SILENCE_IN_WAIT_NS: Final = 500 * _MS
"""Minimum length of a silence of a log that is compared with calls.

Source: the rule `silent-gap`."""

MIN_SILENCE_IN_WAIT_SHARE: Final = 0.8
"""Minimum share of a silence that lies within a call.

Source: chosen. Messages before and after a call take a part of the silence."""

MAX_WAIT_TO_SILENCE: Final = 1.5
"""Maximum ratio of a call to a silence within it, unless the messages name the process.

Source: chosen. Calls of idle threads last as long as the capture."""
DAY_NS: Final = 86_400_000_000_000
"""By which clocks without a date differ from others.
Source: a day, whatever leap seconds do."""
ZONE_STEP_NS: Final = 900_000_000_000
"""Of which time zones are multiples.
Source: the time zone database; Nepal is at +05:45."""
MAX_ZONES_NS: Final = 93_600_000_000_000
"""Largest difference between two time zones.
Source: from UTC-12 to UTC+14."""
MAX_AXIS_RATIO: Final = 20
"""Maximum ratio of the longest to the shortest capture on one axis.
Source: chosen. At 80 columns, a twentieth of the plot is two of them."""
