//! Processes with time on the critical path in lines that the capture leaves out, and what their quoted calls are.
//!
//! ```text
//! quota    |exec|ioctl|ioctl|~~~~~~ lines left out ~~~~~~|exit|       most of the quoted time is in ioctl
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use kit::table_support::shape_index::processes;
use parsers::syscalls::Class;
use parsers::{NO_NS, Text};
use path::partition::scope::{GroupKey, KeyValue, Scope};
use rustc_hash::FxHashMap;
use trace::store::event::NONE;
use trace::store::index::TaskId;

table! {
    excerpts "Processes with lines that the capture leaves out.";
    times: Calls;
    row {
        of: OfTask { program "Its last program." },
        lifetime_ns: Ns "Its lifetime; missing if lines before its first event are left out.",
        syscall: Text "The call with most of the time in its quoted calls, apart from those that manage processes.",
        op: Text "Operation of that call.",
        calls: Count "Number of quoted calls of that kind.",
        total_ns: Ns "Their total duration.",
        mean_ns: Ns (Same) "Their mean duration.",
        quoted_share: Share "Their share of the time in its quoted calls.",
        path: PathTime { exclusive_ns "Critical-path time in lines that are left out." },
        lines: Lines {
            first_line "Line of its first call.",
            last_line "Line of its last call.",
        },
    }
}

/// Facts about a process with lines left out.
struct Excerpt {
    task: TaskId,
    left_out_ns: i64,
    first_row: u32,
    last_row: u32,
    /// Whether lines before its first event are left out, so that its birth is unknown.
    is_late: bool,
    quoted: Option<Quoted>,
    /// Time in all quoted calls.
    quoted_ns: i64,
}

/// The call with most of the quoted time.
#[derive(Clone, Copy)]
struct Quoted {
    syscall: Text,
    op: Text,
    calls: i64,
    total_ns: i64,
}

/// Builds the table of processes with left-out lines.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    if context.wakers.left_out().is_empty() {
        return builder.finish();
    }
    let mut found: Vec<Excerpt> = processes(context)
        .iter()
        .filter_map(|tasks| excerpt(context, tasks))
        .filter(|one| one.left_out_ns > 0)
        .collect();
    found.sort_by_key(|one| (std::cmp::Reverse(one.left_out_ns), one.first_row));
    for one in &found {
        write(context, one, &mut builder);
    }
    builder.finish()
}

fn excerpt(context: &TableContext<'_>, tasks: &[TaskId]) -> Option<Excerpt> {
    let (events, left_out) = (&context.trace.events, context.wakers.left_out());
    let rows = || tasks.iter().flat_map(|&task| context.calls_of(task));
    let (first_row, last_row) = (rows().min()?, rows().max()?);
    let mut one = Excerpt {
        task: tasks[0],
        left_out_ns: 0,
        first_row,
        last_row,
        is_late: tasks
            .iter()
            .any(|&task| left_out.of(task).iter().any(|range| range.row == NONE)),
        quoted: None,
        quoted_ns: 0,
    };
    for &task in tasks {
        context.attribution.each(context.trace, task, |charge| {
            if charge.is_gap && charge.class == Class::Gap {
                one.left_out_ns = one.left_out_ns.saturating_add(charge.ns);
            }
        });
    }
    let mut sums: FxHashMap<(Text, Text), Quoted> = FxHashMap::default();
    for row in rows().filter(|&row| context.wakers.class(context.trace, row) != Class::Process) {
        let (shape, dur_ns) = (events.shape(row), events.dur_ns(row));
        let dur_ns = if dur_ns == NO_NS { 0 } else { dur_ns };
        let none = Quoted {
            syscall: shape.syscall,
            op: shape.op,
            calls: 0,
            total_ns: 0,
        };
        let sum = sums.entry((shape.syscall, shape.op)).or_insert(none);
        (sum.calls, sum.total_ns) = (sum.calls + 1, sum.total_ns + dur_ns);
        one.quoted_ns = one.quoted_ns.saturating_add(dur_ns);
    }
    one.quoted = sums
        .into_values()
        .filter(|sum| sum.total_ns > 0)
        .max_by_key(|sum| (sum.total_ns, sum.syscall.0));
    Some(one)
}

fn write(context: &TableContext<'_>, one: &Excerpt, builder: &mut TableBuilder<'_>) {
    let known = &context.trace.tasks[one.task];
    let lifetime_ns = known.end_ns().saturating_sub(known.birth_ns);
    let quoted = one.quoted;
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
        (
            GroupKey::Class,
            vec![KeyValue::Text(Class::Gap.name().to_owned())],
        ),
    ];
    let row = TableRow {
        of: TaskAt {
            task: one.task,
            row: one.last_row,
        },
        lifetime_ns: if one.is_late { NO_NS } else { lifetime_ns },
        syscall: quoted.map_or(Text::NONE, |quoted| quoted.syscall),
        op: quoted.map_or(Text::NONE, |quoted| quoted.op),
        calls: quoted.map_or(0, |quoted| quoted.calls),
        total_ns: quoted.map_or(NO_NS, |quoted| quoted.total_ns),
        mean_ns: quoted.map_or(NO_NS, |quoted| quoted.total_ns / quoted.calls.max(1)),
        quoted_share: quoted.map(|quoted| quoted.total_ns as f64 / one.quoted_ns as f64),
        path: one.left_out_ns,
        lines: LinesOf {
            first_row: one.first_row,
            last_row: one.last_row,
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
