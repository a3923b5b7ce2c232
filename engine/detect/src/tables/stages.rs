//! Stages: log messages of the same form, the silence after them, and the time that items spent in each stage.
//!
//! ```text
//! jail 2: has the lock │ 0.3 s │ jail 2: rc.conf read          silence: until the next message of the log
//! jail 2: has the lock │ 0.3 s │ jail 2: rc.conf read          in the stage: until the next message about jail 2
//! ```

use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, table};
use kit::table_support::provenance::Provenance;
use logs::messages::items::{ItemKind, Log};
use logs::messages::stages::Stage;
use parsers::NO_NS;

table! {
    stages "Log messages of one text, ordered by their first message.";
    times: Calls;
    row {
        capture: Capture "Number of the capture.",
        message: Words "Text of the messages, with N or NAME for the parts that differ.",
        item: Words "Kind of items that the messages are about, as in table items; missing if they are not about an item.",
        messages: Count "Number of messages.",
        start_ns: Moment "Time of the first message.",
        last_ns: Ns "Time of the last message.",
        total_ns: Ns "Time that items spent in the stage: from this message to the next one about the same item.",
        mean_ns: Ns (Same) "Mean time in the stage.",
        max_ns: Ns (Max) "Longest duration.",
        item_share: Share "total_ns as a share of the time of all items.",
        path: PathTime { exclusive_ns "Silence after these messages: window time until the next message about anything." },
        lines: Lines,
    }
}

/// Time that items spent in a stage.
#[derive(Default, Clone)]
struct StageTimes {
    stays: i64,
    total_ns: i64,
    max_ns: i64,
}

/// Builds the table of the stages of all logs, ordered by their first messages.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for log in context.logs() {
        let (stays, kinds) = (stays(log), kind_of_stages(log));
        for (number, stage) in log.stages.iter().enumerate() {
            write(
                context,
                log,
                stage,
                kinds[number].map(|kind| (kind, &stays[number])),
                &mut builder,
            );
        }
    }
    builder.finish()
}

/// The kind of item that each stage belongs to.
fn kind_of_stages(log: &Log) -> Vec<Option<&ItemKind>> {
    let mut kinds = vec![None; log.stages.len()];
    for kind in &log.kinds {
        kind.stages
            .iter()
            .for_each(|&stage| kinds[stage] = Some(kind));
    }
    kinds
}

fn stays(log: &Log) -> Vec<StageTimes> {
    let mut stays = vec![StageTimes::default(); log.stages.len()];
    let items = log.kinds.iter().flat_map(|kind| &kind.items);
    for pair in items.flat_map(|item| item.said.windows(2)) {
        let (from, stage) = pair[0];
        let stay_ns = pair[1].0.at_ns - from.at_ns;
        stays[stage].stays += 1;
        stays[stage].total_ns = stays[stage].total_ns.saturating_add(stay_ns);
        stays[stage].max_ns = stays[stage].max_ns.max(stay_ns);
    }
    stays
}

fn write(
    context: &TableContext<'_>,
    log: &Log,
    stage: &Stage,
    of: Option<(&ItemKind, &StageTimes)>,
    builder: &mut TableBuilder<'_>,
) {
    let (Some(first), Some(last)) = (stage.said.first(), stage.said.last()) else {
        return;
    };
    let rows: Vec<u32> = stage.said.iter().map(|message| message.row).collect();
    let stays = of.map(|(_, stays)| stays).filter(|stays| stays.stays > 0);
    let own_ns: i64 = of.map_or(0, |(kind, _)| {
        kind.items.iter().map(|item| item.own_ns()).sum()
    });
    let row = TableRow {
        capture: log.capture,
        message: Some(stage.shape.to_owned()),
        item: of.map(|(kind, _)| kind.name.as_str()).map(str::to_owned),
        messages: rows.len() as i64,
        start_ns: first.at_ns,
        last_ns: last.at_ns,
        total_ns: stays.map(|stays| stays.total_ns).unwrap_or(NO_NS),
        mean_ns: stays
            .map(|stays| stays.total_ns / stays.stays)
            .unwrap_or(NO_NS),
        max_ns: stays.map(|stays| stays.max_ns).unwrap_or(NO_NS),
        item_share: stays
            .filter(|_| own_ns > 0)
            .map(|stays| stays.total_ns as f64 / own_ns as f64),
        path: rows.iter().map(|&row| context.exclusive_ns(row)).sum(),
        lines: LinesOf {
            first_row: *rows.iter().min().unwrap_or(&first.row),
            last_row: *rows.iter().max().unwrap_or(&last.row),
        },
    };
    builder.add(row, Provenance::Rows(rows));
}
