//! Classifies calls on sockets: connect, accept, send, receive, wait.

use crate::table_support::context::TableContext;
use crate::table_support::shape_index::ShapeIndex;
use parsers::syscalls::{Action, Class, Wait, action_of};
use parsers::{Interner, Outcome, Text};
use path::waits::connection::accepted_at;
use rustc_hash::FxHashSet;
use trace::parallel;
use trace::store::event::Shape;
use trace::store::index::TaskId;

/// The role of a call on a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SocketCall {
    /// Requests a connection to a peer.
    Connects,
    /// Gets ready for connections of peers.
    Listens,
    /// Accepts the connection of a peer.
    Accepts,
    /// Sends to a peer.
    Sends,
    /// Received data from a peer, or the end of the stream.
    Receives,
    /// Waits for something other than time.
    Waits(Wait),
}

/// The calls on sockets, and the accepted peers.
pub struct Sockets {
    /// By shape.
    pub deeds: ShapeIndex<SocketCall>,
    /// Whether there are polls among them. Asked once: shapes may be millions.
    pub shows_polls: bool,
    accepted: FxHashSet<Text>,
}

impl Sockets {
    /// Classifies the shapes, and finds the accepted peers.
    pub fn new(context: &TableContext<'_>) -> Sockets {
        let events = &context.trace.events;
        let parts = context.trace.shape_parts();
        let connects = parts.parts().iter().any(is_connect);
        let connects = events
            .shapes()
            .iter()
            .filter(|shape| connects && is_connect(shape));
        let connected: FxHashSet<Text> = connects.map(|shape| shape.target).collect();
        let kinds = ShapeIndex::by_target(context, may_be_on_socket, |number, action, shape| {
            let is_socket = || is_socket(parts.class_of(number), events.texts.bytes(shape.target));
            kind(action, shape, || {
                connected.contains(&shape.target) || is_socket()
            })
        });
        let accepted = accepted(context, &kinds);
        Sockets {
            shows_polls: kinds.any(|kind| kind == SocketCall::Waits(Wait::Poll)),
            deeds: kinds,
            accepted,
        }
    }

    /// Whether what a call works on is a peer that connected to this side. Data sent to it are answers. A peer may have connected
    /// before the capture began.
    pub fn is_accepted(&self, context: &TableContext<'_>, row: u32) -> bool {
        let events = &context.trace.events;
        let target = events.target(row);
        let was_accepted = || {
            let task = events.task(row);
            context.wakers.was_accepted(context.trace, task, target)
        };
        self.accepted.contains(&target) || was_accepted()
    }
}

fn is_connect(shape: &Shape) -> bool {
    action_of(shape.syscall) == Action::Connects
}

/// Whether calls of these shapes may have a role, with any target.
fn may_be_on_socket(action: Action, shape: &Shape) -> bool {
    match action {
        Action::Reads | Action::Receives | Action::ReceivesMany => {
            shape.outcome == Outcome::Ok || action.wait().is_some()
        }
        Action::Connects | Action::Listens | Action::Accepts => true,
        Action::Sends | Action::SendsMany | Action::Writes => true,
        _ => action.wait().is_some_and(|wait| wait != Wait::Sleep),
    }
}

fn kind(action: Action, shape: &Shape, is_socket: impl Fn() -> bool) -> Option<SocketCall> {
    let received = || (shape.outcome == Outcome::Ok).then_some(SocketCall::Receives);
    match action {
        Action::Connects => Some(SocketCall::Connects),
        Action::Listens => Some(SocketCall::Listens),
        Action::Accepts => Some(SocketCall::Accepts),
        Action::Sends | Action::SendsMany => Some(SocketCall::Sends),
        Action::Writes if is_socket() => Some(SocketCall::Sends),
        // One that a signal broke off waited: an alarm may be its time limit.
        Action::Receives | Action::ReceivesMany | Action::Reads
            if shape.outcome == Outcome::Interrupted =>
        {
            action.wait().map(SocketCall::Waits)
        }
        Action::Receives | Action::ReceivesMany => received(),
        Action::Reads if is_socket() => received(),
        _ => action
            .wait()
            .filter(|&wait| wait != Wait::Sleep)
            .map(SocketCall::Waits),
    }
}

fn is_socket(class: Class, target: &[u8]) -> bool {
    match class {
        Class::Network => true,
        Class::Ipc => {
            !target.starts_with(b"pipe:")
                && !target.starts_with(b"anon_inode")
                && !target.starts_with(b"{eventfd")
        }
        _ => false,
    }
}

fn accepted(context: &TableContext<'_>, kinds: &ShapeIndex<SocketCall>) -> FxHashSet<Text> {
    if !kinds.any(|kind| kind == SocketCall::Accepts) {
        return FxHashSet::default();
    }
    let of = |&task: &TaskId| -> Vec<Text> {
        let accepts = kinds
            .calls(context, task)
            .filter(|&(_, kind)| kind == SocketCall::Accepts);
        let peer = |row: u32| {
            let target = context.trace.events.target(row);
            accepted_at(context.trace, target).unwrap_or(target)
        };
        accepts
            .map(|(row, _)| peer(row))
            .filter(|target| target.is_some())
            .collect()
    };
    parallel::flat_map(&context.tasks().collect::<Vec<_>>(), of)
        .into_iter()
        .collect()
}

/// The peer of a socket as a connect names it: `10.0.0.2:53` for `TCP:[10.0.0.7:42238->10.0.0.2:53]`, if it is known so.
pub fn peer(texts: &Interner, target: Text) -> Text {
    let bytes = texts.bytes(target);
    let of_internet = bytes.starts_with(b"TCP") || bytes.starts_with(b"UDP");
    let arrow = memchr::memmem::find(bytes, b"->").filter(|_| of_internet);
    let address = arrow.and_then(|arrow| bytes[arrow + 2..].strip_suffix(b"]"));
    address
        .and_then(|address| texts.find(address))
        .unwrap_or(target)
}

/// The name of a local socket before the tracer knew its other end: `UNIX-STREAM:[7]` for `UNIX-STREAM:[7->8]`, if it was
/// printed so. Both are one connection.
pub fn connection(texts: &Interner, target: Text) -> Text {
    let bytes = texts.bytes(target);
    let arrow = memchr::memmem::find(bytes, b"->").filter(|_| bytes.starts_with(b"UNIX"));
    arrow
        .and_then(|arrow| texts.find(&[&bytes[..arrow], b"]"].concat()))
        .unwrap_or(target)
}

/// The address of a socket without a peer as a bind names it: `0.0.0.0:80` for `TCP:[0.0.0.0:80]`, `/run/x` for
/// `UNIX-STREAM:[7,"/run/x"]`, if it is known so.
pub fn bound(texts: &Interner, target: Text) -> Text {
    let bytes = texts.bytes(target);
    let inner =
        memchr::memmem::find(bytes, b":[").and_then(|at| bytes[at + 2..].strip_suffix(b"]"));
    let quoted = || {
        bytes
            .split(|&byte| byte == b'"')
            .nth(1)
            .filter(|_| bytes.starts_with(b"UNIX"))
    };
    inner
        .and_then(|inner| texts.find(quoted().unwrap_or(inner)))
        .unwrap_or(target)
}

/// The port of a peer, given as `10.0.0.2:53` or `TCP:[10.0.0.7:42238->10.0.0.2:53]`.
pub fn port(target: &[u8]) -> Option<i64> {
    let target = target
        .strip_suffix(b"]")
        .filter(|_| target.contains(&b'>'))
        .unwrap_or(target);
    let colon = target.iter().rposition(|&byte| byte == b':')?;
    std::str::from_utf8(target.get(colon + 1..)?)
        .ok()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_returns_the_address_that_other_calls_name() {
        let mut texts = Interner::default();
        let known = [texts.add(b"0.0.0.0:80"), texts.add(b"/run/x")];
        let cases: [(&str, Text); 2] = [
            ("TCP:[0.0.0.0:80]", known[0]),
            ("UNIX-STREAM:[7,\"/run/x\"]", known[1]),
        ];
        for (target, expected) in cases {
            let target = texts.add(target.as_bytes());
            assert!(bound(&texts, target) == expected);
        }
        let other = texts.add(b"TCP:[0.0.0.0:81]");
        assert!(bound(&texts, other) == other && bound(&texts, known[0]) == known[0]);
    }

    #[test]
    fn a_local_socket_keeps_its_first_name() {
        let mut texts = Interner::default();
        let early = texts.add(b"UNIX-STREAM:[7]");
        let late = texts.add(b"UNIX-STREAM:[7->8]");
        let other = texts.add(b"UNIX-STREAM:[9->8]");
        assert!(connection(&texts, late) == early && connection(&texts, other) == other);
    }

    #[test]
    fn port_returns_the_port_of_the_peer() {
        let cases: [(&str, Option<i64>); 5] = [
            ("10.0.0.2:53", Some(53)),
            ("[::1]:443", Some(443)),
            ("TCP:[10.0.0.7:42238->10.0.0.2:53]", Some(53)),
            ("/run/nscd/socket", None),
            ("TCPv6:[[::1]:1->[::1]:8080]", Some(8080)),
        ];
        for (target, expected) in cases {
            assert_eq!(port(target.as_bytes()), expected, "{target}");
        }
    }
}
