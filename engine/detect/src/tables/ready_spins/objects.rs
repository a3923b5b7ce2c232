//! The descriptors that polls find ready, by their names.

use parsers::Text;
use parsers::facts::{Fds, ReadyFd};
use path::waits::wait_kinds::is_timer;
use trace::store::events::EventTable;
use trace::store::targets::{
    is_eventfd, is_host_and_port, is_signalfd, may_be_stream, tells_changes,
};

/// What a poll found ready, as far as the capture identifies it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadyObject {
    pub target: Text,
    pub fd: Option<i32>,
}

impl ReadyObject {
    pub(super) fn of(events: &EventTable, row: u32) -> ReadyObject {
        let ready = events.facts.get::<ReadyFd>(row).copied();
        let target = events.waited_target(row);
        let is_known = !is_epoll(events.texts.bytes(target));
        ReadyObject {
            target: if is_known { target } else { Text::NONE },
            fd: ready.or_else(|| match events.facts.get::<Fds>(row).map(|fds| &**fds) {
                Some(&[fd]) => Some(fd),
                _ => None,
            }),
        }
    }
}

fn is_epoll(target: &[u8]) -> bool {
    target.starts_with(b"anon_inode:[eventpoll]")
}

/// The kinds of descriptors that can be told apart by their names.
#[derive(PartialEq, Eq)]
enum Kind {
    Event,
    Timer,
    Signal,
    Changes,
    Pipe,
    Socket,
    Output,
    File,
}

fn kind(target: &[u8]) -> Option<Kind> {
    Some(match target {
        b"" => return None,
        b"stdout" | b"stderr" => Kind::Output,
        _ if is_eventfd(target) => Kind::Event,
        _ if is_timer(target) => Kind::Timer,
        _ if is_signalfd(target) => Kind::Signal,
        _ if tells_changes(target) => Kind::Changes,
        _ if target.starts_with(b"pipe:[") => Kind::Pipe,
        _ if target.starts_with(b"socket:[")
            || may_be_stream(target)
            || is_host_and_port(target) =>
        {
            Kind::Socket
        }
        // A path may be that of a fifo, a socket or a terminal. What is below these folders is not.
        _ if [&b"/var/log/"[..], b"/proc/", b"/sys/", b"/usr/"]
            .iter()
            .any(|begin| target.starts_with(begin)) =>
        {
            Kind::File
        }
        _ => return None,
    })
}

/// Whether a call on `target` cannot take anything from the descriptor that is ready. `stderr` is known by its number,
/// so a write there takes nothing from a descriptor that the capture does not name.
pub(super) fn is_other_kind(ready: &[u8], target: &[u8], writes: bool) -> bool {
    match (kind(ready), kind(target)) {
        (Some(ready), Some(other)) => ready != other,
        (None, Some(Kind::File)) => true,
        (None, Some(Kind::Output)) => writes,
        _ => false,
    }
}

/// Whether such a descriptor stays ready until a call takes what is there. A socket without a known family may be one
/// whose packets are read from shared memory.
pub(super) fn stays_ready(target: &[u8]) -> bool {
    match kind(target) {
        Some(Kind::Event | Kind::Timer | Kind::Signal | Kind::Changes | Kind::Pipe) => true,
        Some(Kind::Socket) => !target.starts_with(b"socket:["),
        _ => false,
    }
}

/// Whether two descriptors with this name are the same object.
pub(super) fn is_unique(target: &[u8]) -> bool {
    !target.starts_with(b"anon_inode:") && matches!(kind(target), Some(Kind::Pipe | Kind::Socket))
}
