//! User time on the critical path: the time between the calls of a process, which is its own code or untraced calls.
//!
//! ```text
//! task      |call|== own code ==|call|= own code =|call|          2 gaps, the longest gap, calls per second
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::pruning::Cost;
use kit::table_support::shape_index::{ShapeIndex, processes};
use kit::table_support::threshold::CostScope;
use parsers::facts::OpenedFor;
use parsers::syscalls::Action;
use parsers::{NO_NS, Outcome, StampMoment, Text};
use path::critical_path::segment::{Segment, What};
use path::critical_path::tracing::{TracedTime, TracingCost};
use path::critical_path::trust::Trust;
use path::critical_path::walk::{self, WalkListener};
use path::critical_path::witnessed_time::{PathTime, WitnessedTime};
use path::partition::scope::{GroupKey, KeyValue, Scope};
use rustc_hash::FxHashMap;
use trace::parallel;
use trace::store::command_line::words;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::tasks::Program;

table! {
    cpu "Time between calls, by process and program.";
    times: Gaps;
    costs: Cost { calls: |_, _| false, gaps: true, of: CostScope::Process, ..Cost::OF_TASK };
    row {
        of: OfTask { program "The program." },
        target: Text "The file on its command line that it opened for reading first.",
        gaps: Count "Number of gaps on the critical path.",
        calls: Count "Number of calls of the program.",
        calls_per_s: Ratio "Calls per second, from its first call to its last.",
        path: PathTime { exclusive_ns "Critical-path time between calls." },
        tracing_ns: Ns "Estimate of what tracing added to exclusive_ns.",
        ran_ns: Ns "How much of exclusive_ns it ran, as the kernel saw; missing without scheduler events.",
        ready_ns: Ns "How much of it others had the CPUs; missing without scheduler events.",
        memory_ns: Ns "How much of it the process waited for memory that it touched; missing without scheduler events.",
        waits_traced: Flag "Whether the capture has calls that wait: if a filter omits them, waits are gaps.",
        before_signal: Flag "Whether a signal follows the longest gap, and calls are printed when they return: one may have been open.",
        max_ns: Ns (Max) "Longest gap.",
        mean_ns: Ns (Same) "Mean duration of a gap on the critical path.",
        lines: Lines {
            first_line "Line of the call before the longest gap.",
            last_line "Same as first_line.",
        },
    }
}

/// Number of programs, those with most time first, whose input is looked for. Rules report very few.
const MAX_WITH_INPUT: usize = 16;

/// The gaps of one program of a process.
struct Own {
    task: TaskId,
    program: Text,
    gaps: i64,
    calls: i64,
    exclusive_ns: i64,
    traced: TracedTime,
    longest_ns: i64,
    longest_row: u32,
    first_row: u32,
    last_row: u32,
}

/// Builds the table of user time by process and program.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut own: Vec<Own> =
        parallel::flat_map(&processes(context), |tasks| of_process(context, tasks));
    own.retain(|own| own.exclusive_ns > 0);
    own.sort_by_key(|own| (std::cmp::Reverse(own.exclusive_ns), own.first_row));
    let seen = Seen::by_kernel(context);
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    let opens = ShapeIndex::new(context, |action, _| (action == Action::Opens).then_some(()));
    for (at, own) in own.iter().enumerate() {
        let input = if at < MAX_WITH_INPUT {
            input_of(context, &opens, own)
        } else {
            Text::NONE
        };
        write(context, own, (input, seen.of(own)), &mut builder);
    }
    builder.finish()
}

fn of_process(context: &TableContext<'_>, tasks: &[TaskId]) -> Vec<Own> {
    let events = &context.trace.events;
    let cost = context.tracing_cost(tasks[0]);
    let mut found: Vec<Own> = Vec::new();
    for &task in tasks {
        let programs = context.selection.program_index.of(task);
        let mut next = 0;
        let mut place = None;
        let mut on_path = context.attribution.places(context.trace, task).on_path();
        let mut calls = context.call_places(task).peekable();
        while let Some((at, row)) = calls.next() {
            // Calls of a task are printed in order. If the call that starts next was printed earlier, the clock was set
            // back, and the gap between the two is not real.
            let is_out_of_order = calls.peek().is_some_and(|&(_, next)| next < row);
            let gap_after_ns = if is_out_of_order || !on_path.has(at) {
                0
            } else {
                running_ns(context, row)
            };
            // An execve ends in the new program, so the gap after it belongs to that program.
            let end_ns = || events.end_ns(row).unwrap_or(events.start_ns(row));
            let has_begun = |program: &Program| {
                let end_ns = end_ns();
                program.from_ns <= end_ns || end_ns == NO_NS
            };
            while programs.get(next).is_some_and(has_begun) {
                (next, place) = (next + 1, None);
            }
            let at = *place.get_or_insert_with(|| {
                let program = programs
                    .get(next.max(1) - 1)
                    .map_or(Text::NONE, |program| program.path);
                place_of(&mut found, tasks[0], program, row)
            });
            found[at].add(row, gap_after_ns, cost);
        }
    }
    found
}

/// Time between a call and the next one, apart from the time during which the task was stopped.
fn running_ns(context: &TableContext<'_>, row: u32) -> i64 {
    let stopped_ns = if context.wakers.may_stop() {
        context.attribution.stopped_ns(row)
    } else {
        0
    };
    context.attribution.own_gap_after_ns(row) - stopped_ns
}

fn place_of(found: &mut Vec<Own>, task: TaskId, program: Text, row: u32) -> usize {
    found
        .iter()
        .position(|own| own.program == program)
        .unwrap_or_else(|| {
            let (longest_row, first_row, last_row) = (row, row, row);
            let (gaps, calls, exclusive_ns, longest_ns, traced) =
                (0, 0, 0, 0, TracedTime::default());
            let own = Own {
                task,
                program,
                gaps,
                calls,
                exclusive_ns,
                traced,
                longest_ns,
                longest_row,
                first_row,
                last_row,
            };
            found.push(own);
            found.len() - 1
        })
}

impl Own {
    fn add(&mut self, row: u32, gap_after_ns: i64, cost: TracingCost) {
        self.calls += 1;
        (self.first_row, self.last_row) = (self.first_row.min(row), self.last_row.max(row));
        if gap_after_ns > 0 {
            self.gaps += 1;
            self.exclusive_ns = self.exclusive_ns.saturating_add(gap_after_ns);
            self.traced.add(true, gap_after_ns, cost);
            if gap_after_ns > self.longest_ns {
                (self.longest_ns, self.longest_row) = (gap_after_ns, row);
            }
        }
    }
}

/// Whether a call may have been open in the longest gap: the tracer prints calls when they return, and a signal came.
fn may_hide_a_call(context: &TableContext<'_>, own: &Own) -> bool {
    let (trace, row) = (context.trace, own.longest_row);
    let task = trace.events.task(row);
    let prints_returns = context
        .capture_of(task)
        .is_some_and(|capture| capture.facts.stamp == StampMoment::End);
    let next = trace.rows_from(task, row).get(1);
    prints_returns && next.is_some_and(|&next| trace.events.kind(next) == EventKind::Signal)
}

/// The file on the command line of a program that it opened for reading first: the source that a compiler works on.
fn input_of(context: &TableContext<'_>, opens: &ShapeIndex<()>, own: &Own) -> Text {
    let (events, texts) = (&context.trace.events, &context.trace.events.texts);
    let program = context
        .selection
        .program_index
        .of(own.task)
        .iter()
        .find(|program| program.path == own.program);
    let Some(argv) = program.map(|program| texts.bytes(program.argv)) else {
        return Text::NONE;
    };
    let words = words(argv);
    let words: Vec<&[u8]> = words
        .iter()
        .skip(1)
        .map(|word| relative(word))
        .filter(|word| !word.is_empty())
        .collect();
    let reads = |row: &u32| {
        let is_named = words
            .iter()
            .any(|word| is_path_of(texts.bytes(events.target(*row)), word));
        is_named && events.outcome(*row) == Outcome::Ok && !events.facts.has::<OpenedFor>(*row)
    };
    let mut rows = opens.calls(context, own.task).map(|(row, ())| row);
    let input = rows.find(|row| (own.first_row..=own.last_row).contains(row) && reads(row));
    input.map_or(Text::NONE, |row| events.target(row))
}

fn relative(word: &[u8]) -> &[u8] {
    word.strip_prefix(b"./").unwrap_or(word)
}

/// Whether a word of a command line names this path, which may be printed with the directory of the process.
fn is_path_of(path: &[u8], word: &[u8]) -> bool {
    let path = relative(path);
    path.strip_suffix(word)
        .is_some_and(|directory| directory.is_empty() || directory.ends_with(b"/"))
}

/// Time between calls as the kernel saw it, by main task and program.
struct Seen<'context> {
    context: &'context TableContext<'context>,
    time: WitnessedTime<'context>,
    of_programs: FxHashMap<(TaskId, Text), PathTime>,
}

impl<'context> Seen<'context> {
    fn by_kernel(context: &'context TableContext<'context>) -> Seen<'context> {
        let mut seen = Seen {
            context,
            time: WitnessedTime::new(context.trace),
            of_programs: FxHashMap::default(),
        };
        if context.trace.has_scheduling() {
            for window in context.windows {
                walk::walk(context.trace, context.wakers, window, &mut seen);
            }
        }
        seen
    }

    /// The time of a program, as far as events cover it.
    fn of(&self, own: &Own) -> Option<PathTime> {
        let main = self.context.trace.main_task_of(own.task);
        self.of_programs.get(&(main, own.program)).copied()
    }
}

impl WalkListener for Seen<'_> {
    fn charged(&mut self, segment: Segment) {
        if !matches!(segment.what, What::Gap(_)) {
            return;
        }
        if let Some(found) = self.time.divided(&segment) {
            let main = self.context.trace.main_task_of(segment.task);
            // The time after an execve is that of the new program.
            let programs = &self.context.selection.program_index;
            let program = programs.path_at(segment.task, segment.start_ns);
            self.of_programs
                .entry((main, program))
                .or_default()
                .merge(&found);
        }
    }
}

fn write(
    context: &TableContext<'_>,
    own: &Own,
    (input, seen): (Text, Option<PathTime>),
    builder: &mut TableBuilder<'_>,
) {
    let (trace, events) = (context.trace, &context.trace.events);
    let known = &trace.tasks[own.task];
    let (from_ns, to_ns) = (events.start_ns(own.first_row), events.end_ns(own.last_row));
    let lasts_ns = to_ns
        .filter(|_| from_ns != NO_NS)
        .map(|to_ns| to_ns - from_ns)
        .filter(|&ns| ns > 0);
    // The last call certainly belongs to the program. The first may be the execve, which started in the previous
    // program.
    let program = if own.program.is_some() {
        KeyValue::Text(events.texts.string(own.program).into_owned())
    } else {
        KeyValue::None
    };
    let pid = if known.has_id() {
        KeyValue::Int(i64::from(known.pid))
    } else {
        KeyValue::None
    };
    let only = vec![
        (
            GroupKey::Capture,
            vec![KeyValue::Int(i64::from(known.capture))],
        ),
        (GroupKey::Pid, vec![pid]),
        (GroupKey::Program, vec![program]),
        (GroupKey::Class, vec![KeyValue::Text("user".to_owned())]),
    ];
    let row = TableRow {
        of: TaskAt {
            task: own.task,
            row: own.last_row,
        },
        target: input,
        gaps: own.gaps,
        calls: own.calls,
        calls_per_s: lasts_ns.map(|ns| own.calls as f64 * 1e9 / ns as f64),
        path: own.exclusive_ns,
        tracing_ns: own.traced.tracing_ns(),
        ran_ns: seen.map_or(NO_NS, |time| time.cpu_ns),
        ready_ns: seen.map_or(NO_NS, |time| time.ready_ns),
        memory_ns: seen.map_or(NO_NS, |time| time.blocked_ns),
        waits_traced: context.trust_of(own.task).is_none_or(Trust::has_waits),
        before_signal: may_hide_a_call(context, own),
        max_ns: own.longest_ns,
        mean_ns: own.exclusive_ns / own.gaps.max(1),
        lines: LinesOf {
            first_row: own.longest_row,
            last_row: own.longest_row,
        },
    };
    builder.add(
        row,
        Provenance::Pieces(Scope {
            only,
            without: Vec::new(),
        }),
    );
}

#[cfg(test)]
mod tests {
    use kit::testing::rows;
    use trace::testing::{build, task};

    #[test]
    fn time_between_calls_is_reported_by_program() {
        let plan = task(1)
            .exec(0, 1, "/bin/sh")
            .call("read", 10, 11)
            .exec(12, 13, "/bin/gzip")
            .call("read", 50, 51)
            .exit(60);
        let found = rows(
            &build(vec![plan]),
            super::build,
            &["program", "gaps", "calls", "exclusive_ns", "max_ns"],
        );
        assert_eq!(found, ["/bin/gzip 2 3 46 37", "/bin/sh 2 2 10 9"]);
    }
}
