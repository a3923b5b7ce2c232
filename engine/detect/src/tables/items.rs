//! Items: the subjects that log messages of the same kinds report one after the other, and the cost of each further
//! item.

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, table};
use kit::table_support::provenance::Provenance;
use logs::messages::items::{Item, ItemKind, Log};
use parsers::NO_NS;
use trace::store::heuristics::MIN_DIVISOR_TICKS;

table! {
    items "Items for which a log repeats the same messages, grouped by their first messages.";
    times: Calls;
    row {
        capture: Capture "Number of the capture.",
        item: Words "Subject of repeated messages: a noun and its number, such as `jail N`, or `NAME`.",
        items: Count "Number of completed items.",
        unfinished: Number "Number of items whose last message differs from the usual last message.",
        stages: Number "Number of different messages about an item.",
        first_stage: Words "The first message about an item.",
        last_stage: Words "The message that completes an item.",
        start_ns: Moment "Time of the first message about any item.",
        first_ns: Ns "Time when the first item was completed.",
        last_ns: Ns "Time when the last item was completed.",
        elapsed_ns: Ns "From the first message about any item to the last completion.",
        first_own_ns: Ns "Time of the first item from its first message to its last; missing if there is only one message.",
        marginal_ns: Ns "Cost of each additional item: median slope of completion time against index (Theil-Sen).",
        residual_ns: Ns "Median distance of the completions from the fitted line.",
        marginal_share: Share "Marginal cost of all items except the first, as a share of elapsed_ns.",
        own_ns: Ns "Sum of the times of all items, each from its first message to its last.",
        longest_ns: Ns (Max) "Longest time of an item.",
        parallel: Ratio "Apparent parallelism: own_ns / elapsed_ns.",
        effective: Ratio "Effective parallelism: items × first_own_ns / elapsed_ns; 1 means one after the other.",
        could_free_ns: Ns "elapsed_ns without the longest step between completions: what overlap could save.",
        path: PathTime { exclusive_ns "Silence after messages about the items, up to the last completion." },
        lines: Lines {
            first_line "First line about any item.",
            last_line "Last line before the last completion.",
        },
    }
}

/// Builds the table of item kinds, grouped by their first messages.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for log in context.logs() {
        log.kinds
            .iter()
            .for_each(|kind| write(context, log, kind, &mut builder));
    }
    builder.finish()
}

/// Start and completion times of the items of a kind.
struct Times {
    start_ns: i64,
    first_ns: i64,
    last_ns: i64,
    /// From the first message about any item to the last completion.
    elapsed_ns: i64,
    /// Own times: of the item completed first, of all items, and of the longest. `None` if items have only one message.
    own: Option<(i64, i64, i64)>,
}

fn times(kind: &ItemKind) -> Option<Times> {
    let done = kind.done();
    let start_ns = done.iter().map(Item::start_ns).min()?;
    let (first, last) = (done.first()?, done.last()?);
    let own_ns = done.iter().map(Item::own_ns);
    let own = (first.own_ns(), own_ns.clone().sum(), own_ns.max()?);
    let last_ns = last.end_ns();
    let own = Some(own).filter(|_| kind.stages.len() > 1);
    Some(Times {
        start_ns,
        first_ns: first.end_ns(),
        last_ns,
        elapsed_ns: last_ns - start_ns,
        own,
    })
}

fn write(context: &TableContext<'_>, log: &Log, kind: &ItemKind, builder: &mut TableBuilder<'_>) {
    let Some(times) = times(kind) else { return };
    let rows = rows(kind, times.last_ns);
    let (Some(&first_row), Some(&last_row)) = (rows.iter().min(), rows.iter().max()) else {
        return;
    };
    let tick_ns = context.trace.captures[log.capture as usize].facts.tick_ns;
    let done = kind.completed as i64;
    let over_elapsed =
        |ns: i64| (times.elapsed_ns > 0).then(|| ns as f64 / times.elapsed_ns as f64);
    let is_known = |ns: &i64| *ns >= MIN_DIVISOR_TICKS * tick_ns;
    let own = |of: fn((i64, i64, i64)) -> i64| times.own.map(of);
    let shape = |stage: Option<&usize>| stage.map(|&stage| log.stages[stage].shape.as_str());
    let own_ns = own(|(_, all, _)| all);
    let first = own(|(first, ..)| first).filter(is_known);
    let longest_step_ns = kind.steps().max().unwrap_or(0);
    let could_free_ns = (times.elapsed_ns - longest_step_ns).max(0);
    let row = TableRow {
        capture: log.capture,
        item: Some(kind.name.to_owned()),
        items: done,
        unfinished: kind.items.len() as i64 - done,
        stages: kind.stages.len() as i64,
        first_stage: shape(kind.stages.first()).map(str::to_owned),
        last_stage: shape(Some(&kind.last_stage)).map(str::to_owned),
        start_ns: times.start_ns,
        first_ns: times.first_ns,
        last_ns: times.last_ns,
        elapsed_ns: times.elapsed_ns,
        first_own_ns: own(|(first, ..)| first).unwrap_or(NO_NS),
        marginal_ns: kind.fit.marginal_ns,
        residual_ns: kind.fit.residual_ns,
        marginal_share: over_elapsed(kind.fit.marginal_ns.saturating_mul(done - 1)),
        own_ns: own_ns.unwrap_or(NO_NS),
        longest_ns: own(|(.., longest)| longest).unwrap_or(NO_NS),
        parallel: own_ns
            .filter(|&ns| is_known(&(ns / done)))
            .and_then(over_elapsed),
        effective: first.and_then(|ns| over_elapsed(ns.saturating_mul(done))),
        could_free_ns: times.own.map(|_| could_free_ns).unwrap_or(NO_NS),
        path: rows.iter().map(|&row| context.exclusive_ns(row)).sum(),
        lines: LinesOf {
            first_row,
            last_row,
        },
    };
    builder.add(row, Provenance::Rows(rows));
}

/// The messages about completed items, up to the last completion.
fn rows(kind: &ItemKind, last_ns: i64) -> Vec<u32> {
    let messages = kind
        .done()
        .iter()
        .flat_map(|item| &item.said)
        .map(|(message, _)| message);
    messages
        .filter(|message| message.at_ns < last_ns)
        .map(|message| message.row)
        .collect()
}
