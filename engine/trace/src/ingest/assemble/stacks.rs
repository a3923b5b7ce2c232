//! Stacks: the frames after a line belong to the event of that line.
//!
//! ```text
//! 7 read(3, "x", 1) = 1                the event
//!  > /usr/lib/libc.so.6(__read+0xd)    its frames
//! 7 exit_group(0) = ?
//! 7 +++ exited with 0 +++
//!  > /usr/lib/libc.so.6(_exit+0x1d)    those of exit_group: strace keeps them until the process ends
//! ```

use crate::ingest::assemble::Assembler;
use crate::store::event::{EventKind, NONE};
use crate::store::numbers::Row;
use crate::store::recent_lines::LinePlace;
use crate::store::stacks::Frame;
use parsers::{Extra, LineKind};

/// The event of a file's last line, and the place of its stack if it has frames so far.
#[derive(Clone, Copy)]
pub(super) struct StackPlace {
    row: u32,
    place: Option<u32>,
}

impl Default for StackPlace {
    fn default() -> StackPlace {
        StackPlace {
            row: NONE,
            place: None,
        }
    }
}

impl Assembler<'_> {
    /// A line of one of several files was taken: its event is that of the frames after it, in this file.
    pub(super) fn of_file(&mut self, kind: LineKind, at: LinePlace) {
        if matches!(
            kind,
            LineKind::Call
                | LineKind::CallStart
                | LineKind::CallEnd
                | LineKind::Signal
                | LineKind::Exit
        ) {
            let file = (at.file - self.capture.first_file) as usize;
            self.stack_places[file] = StackPlace {
                row: self.last_row,
                place: None,
            };
        }
    }

    /// A frame of the stack of the event before it.
    pub(super) fn frame(&mut self, extra: Option<Extra>, at: LinePlace) {
        let Some(Extra::Frame {
            module,
            function,
            source,
        }) = extra
        else {
            return;
        };
        let file = (at.file - self.capture.first_file) as usize;
        let is_only = self.stack_places.len() == 1;
        let Some(mut known) = self.stack_places.get(file).copied() else {
            return;
        };
        if is_only && known.row != self.last_row {
            known = StackPlace {
                row: self.last_row,
                place: None,
            };
        }
        let Some(row) = self.stacked_row(known.row) else {
            return;
        };
        let events = &mut self.trace.events;
        let frame = Frame {
            module,
            function,
            source,
        };
        known.place = Some(events.stacks.add(row, frame, known.place, &events.texts));
        self.stack_places[file] = known;
    }

    /// The event that a stack after the line of this event belongs to.
    fn stacked_row(&mut self, row: u32) -> Option<u32> {
        if row == NONE {
            return None;
        }
        if self.trace.events.kind(row) != EventKind::Exit {
            return Some(row);
        }
        let task = self.trace.events.task(row);
        self.state(task).left_in.map(Row::number)
    }
}
