//! Texts, ids and shapes of a trace as columns of a table.

use crate::store::event::NONE;
use crate::store::events::EventTable;
use crate::store::index::{ShapeId, TaskId};
use crate::store::table::{TextColumn, Values, some_ints};
use crate::store::trace::Trace;
use parsers::{NO_ID, NO_NS, Outcome, Text};
use rustc_hash::FxHashMap;

/// The ids of tasks as a column.
pub fn ids(tasks: &[TaskId], of: impl Fn(TaskId) -> i32) -> Values {
    some_ints(
        tasks
            .iter()
            .map(|&task| of(task))
            .map(|id| if id == NO_ID { NO_NS } else { i64::from(id) }),
    )
}

/// Texts of a trace as a column. Different bytes may decode to the same text, so both are numbered.
pub fn text_column(trace: &Trace, texts: impl Iterator<Item = Text>) -> Values {
    let mut column = TextColumn::default();
    let mut numbers: FxHashMap<Text, u32> = FxHashMap::default();
    let mut last = (Text::NONE, NONE);
    for text in texts {
        if text != last.0 {
            let number = match text.is_some() {
                true => *numbers
                    .entry(text)
                    .or_insert_with(|| column.number(&trace.events.texts.string(text))),
                false => NONE,
            };
            last = (text, number);
        }
        column.push_number(last.1);
    }
    column.finish()
}

/// Append a text of the trace to a column. `Text::NONE` becomes a missing value.
pub fn push_text(column: &mut TextColumn, events: &EventTable, text: Text) {
    let string = events.texts.string(text);
    column.push(text.is_some().then_some(&*string));
}

/// The printed form of a shape: `ioctl(ZFS_IOC_USERSPACE_ONE) ENOTSUP`, `openat(/etc/passwd)`.
pub fn shape_text(events: &EventTable, number: ShapeId) -> String {
    let Some(shape) = events.shapes().get(number) else {
        return String::new();
    };
    let text = |text: Text| events.texts.string(text);
    let within: Vec<_> = [shape.op, shape.target]
        .into_iter()
        .filter(|text| text.is_some())
        .map(text)
        .collect();
    let call = format!("{}({})", text(shape.syscall), within.join(", "));
    match shape.outcome {
        Outcome::Ok => call,
        Outcome::Failed if shape.errno.is_some() => format!("{call} {}", text(shape.errno)),
        outcome => format!("{call} {}", outcome.name()),
    }
}
