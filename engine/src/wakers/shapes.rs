//! What is known of the calls of one shape, worked out once per shape, because there are few of them and many calls.

use super::waits::{Wait, wait_of};
use crate::events::{Shape, class_of};
use crate::trace::Trace;
use parsers::Outcome;
use parsers::syscalls::Class;

/// What a call does for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    /// Nothing that ends a wait.
    Nothing,
    /// Gives others something to read.
    Writes,
    /// Leaves its end of a stream.
    Closes,
    /// Makes a fifo.
    MakesFifo,
    /// Sends a signal.
    Signals,
    /// Opens a file or device.
    Opens,
}

/// What is known of a shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub wait: Option<Wait>,
    pub class: Class,
    pub deed: Deed,
    pub outcome: Outcome,
}

/// The shapes of a trace, by number.
pub(super) struct Shapes(Vec<Known>);

impl Shapes {
    pub(super) fn new(trace: &Trace) -> Shapes {
        Shapes(trace.events.shapes().iter().map(|shape| known(trace, shape)).collect())
    }

    pub(super) fn of(&self, trace: &Trace, row: u32) -> Known {
        let number = trace.events.shape_number(row) as usize;
        self.0.get(number).copied().unwrap_or_else(|| known(trace, &trace.events.shape(row)))
    }
}

fn known(trace: &Trace, shape: &Shape) -> Known {
    let texts = &trace.events.texts;
    let syscall = texts.bytes(shape.syscall);
    let class = class_of(syscall, texts.bytes(shape.target));
    Known { wait: wait_of(syscall), class, deed: deed(syscall), outcome: shape.outcome }
}

#[rustfmt::skip]
fn deed(syscall: &[u8]) -> Deed {
    match syscall {
        b"write" | b"writev" | b"send" | b"sendto" | b"sendmsg" | b"sendmmsg" | b"sendfile" | b"splice" | b"kwrite"
        | b"write_nocancel" => Deed::Writes,
        b"close" | b"shutdown" => Deed::Closes,
        b"mknod" | b"mknodat" | b"mkfifo" | b"mkfifoat" => Deed::MakesFifo,
        b"kill" | b"tkill" | b"tgkill" | b"rt_sigqueueinfo" => Deed::Signals,
        b"open" | b"open64" | b"openat" | b"openat64" => Deed::Opens,
        _ => Deed::Nothing,
    }
}
