//! The path through a log: messages, each with the silence after it.

use crate::critical_path::segment::{Segment, Tag, What};
use crate::critical_path::window::Window;
use parsers::NO_NS;
use parsers::syscalls::Class;
use trace::store::event::{EventKind, NONE};
use trace::store::trace::Trace;

/// A log has no calls: each message is charged with the silence after it.
///
/// ```text
/// message    a         b   c
/// charged    |--- a ---|-b-|
/// ```
/// Where messages were suppressed and only their number is logged, there is no silence, and nothing else is known.
pub(super) fn log_path(trace: &Trace, window: &Window, sink: &mut dyn FnMut(Segment)) -> u64 {
    let events = &trace.events;
    let Some(capture) = trace.captures.get(window.capture as usize) else {
        return 0;
    };
    let mut rows: Vec<u32> = capture
        .rows
        .clone()
        .filter(|row| events.kind(*row) == EventKind::Log && events.start_ns(*row) != NO_NS)
        .collect();
    rows.sort_by_key(|&row| events.start_ns(row));
    let (mut end_ns, mut is_silent) = (window.end_ns, true);
    for &row in rows.iter().rev() {
        let start_ns = events.start_ns(row).max(window.start_ns);
        if start_ns < end_ns {
            let what = What::Silence(row);
            sink(Segment {
                task: events.task(row),
                start_ns,
                end_ns,
                what,
                class: if is_silent { Class::Gap } else { Class::Other },
                resolved: true,
                tag: Tag::None,
            });
            end_ns = start_ns;
        }
        is_silent = !events.is_repeat(row);
    }
    if let Some(task) = window.root.filter(|_| window.start_ns < end_ns) {
        let (start_ns, what) = (window.start_ns, What::Gap(NONE));
        sink(Segment {
            task,
            start_ns,
            end_ns,
            what,
            class: Class::Gap,
            resolved: true,
            tag: Tag::None,
        });
    }
    rows.len() as u64
}
