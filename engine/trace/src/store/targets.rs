//! Conventions for targets without a path.

use crate::store::heuristics::FIRST_EPHEMERAL_PORT;
use crate::store::request_sources::takes_answers;

/// Suffix of a listener's address for a connection accepted there from a peer with an unknown address.
pub const ACCEPTED: &[u8] = b" (accepted)";

/// Prefix of the process id of a pidfd.
pub const PROCESS: &[u8] = b"pid:";

/// A terminal whose name is not printed: a request that only terminals know succeeded on its descriptor.
pub const TERMINAL: &[u8] = b"terminal";

/// A socket whose name is not printed, and which has no address of its own.
pub const UNNAMED_SOCKET: &str = "socket:[]";

/// Before the path whose changes are reported at a descriptor of inotify.
pub(crate) const WATCHED: &[u8] = b"inotify:";

/// `10.0.0.7:443`, `[::1]:80`, normalised `10.0.0.7:N`: a peer, as recorded from connect or accept.
pub fn is_host_and_port(target: &[u8]) -> bool {
    // Most targets are paths.
    if target.first() == Some(&b'/') {
        return false;
    }
    let Some(colon) = memchr::memrchr(b':', target) else {
        return false;
    };
    let (host, port) = (&target[..colon], &target[colon + 1..]);
    !host.is_empty() && !port.is_empty() && (port == b"N" || port.iter().all(u8::is_ascii_digit))
}

/// Whether a target with both ends of a connection is the server's: its own port was not chosen by the kernel, and that
/// of the other end was. Of a UNIX socket, the server's end has a path.
pub fn is_server_side(target: &[u8]) -> bool {
    if target.starts_with(b"UNIX") {
        return memchr::memmem::find(target, b",\"").is_some();
    }
    let ends = target.strip_suffix(b"]").unwrap_or(target);
    let Some(arrow) = memchr::memmem::find(ends, b"->") else {
        return false;
    };
    match (port(&ends[..arrow]), port(&ends[arrow + 2..])) {
        (Some(own), Some(other)) => own < FIRST_EPHEMERAL_PORT && other >= FIRST_EPHEMERAL_PORT,
        _ => false,
    }
}

/// The port at the end of an address.
fn port(address: &[u8]) -> Option<u32> {
    let colon = memchr::memrchr(b':', address)?;
    std::str::from_utf8(&address[colon + 1..])
        .ok()?
        .parse()
        .ok()
}

/// Whether a target is an eventfd.
pub fn is_eventfd(target: &[u8]) -> bool {
    target.starts_with(b"anon_inode:[eventfd]")
}

/// Whether a target is a signalfd.
pub fn is_signalfd(target: &[u8]) -> bool {
    target.starts_with(b"anon_inode:[signalfd]") || target.starts_with(b"signalfd:")
}

/// Whether a target is a descriptor for file change notifications.
pub fn tells_changes(target: &[u8]) -> bool {
    if target.starts_with(WATCHED) {
        return true;
    }
    let kind = target.strip_prefix(b"anon_inode:").unwrap_or(b"");
    [&b"inotify"[..], b"[fanotify]"].contains(&kind)
}

/// What kind of thing is at the other end of a descriptor or path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TargetKind {
    /// Another process or machine, or a person: the number of calls until it answers varies.
    Peer,
    /// A named file on a disk.
    File,
    /// A file in which the kernel reports its state, a device, or nothing that has a name.
    Other,
}

impl TargetKind {
    /// All kinds, by number.
    pub const ALL: [TargetKind; 3] = [TargetKind::Peer, TargetKind::File, TargetKind::Other];

    const PEERS: [&'static [u8]; 10] = [
        b"pipe:",
        b"socket:",
        b"UNIX",
        b"unix:",
        b"TCP",
        b"UDP",
        b"anon_inode:[eventfd",
        b"anon_inode:[signalfd",
        b"/dev/pts/",
        b"/dev/tty",
    ];
    const NOT_ON_DISK: [&'static [u8]; 3] = [b"/proc/", b"/sys/", b"/dev/"];

    /// The kind of a target.
    pub fn of(target: &[u8]) -> TargetKind {
        let has_any = |prefixes: &[&[u8]]| prefixes.iter().any(|prefix| target.starts_with(prefix));
        if has_any(&TargetKind::PEERS) || is_host_and_port(target) {
            TargetKind::Peer
        } else if target.contains(&b'/') && !has_any(&TargetKind::NOT_ON_DISK) {
            TargetKind::File
        } else {
            TargetKind::Other
        }
    }

    /// The kind as named in tables.
    pub fn name(self) -> &'static str {
        match self {
            TargetKind::Peer => "peer",
            TargetKind::File => "file",
            TargetKind::Other => "other",
        }
    }
}

/// Whether a target has the name of a stream. A fifo has the name of a file.
pub fn may_be_stream(target: &[u8]) -> bool {
    [&b"pipe:["[..], b"UNIX", b"TCP", b"UDP", b"SCTP"]
        .iter()
        .any(|prefix| target.starts_with(prefix))
        || takes_answers(target)
}

/// The relation of a target to terminals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TerminalSide {
    /// The side that shows it.
    Master,
    /// The side that programs run on.
    Slave,
    /// The capture does not identify the descriptor.
    Unknown,
    /// No terminal.
    Other,
}

/// The relation of a target to terminals.
pub fn side(target: &[u8]) -> TerminalSide {
    match target {
        b"" | TERMINAL => TerminalSide::Unknown,
        _ if target.ends_with(b"ptmx") || target.starts_with(b"/dev/ptmx<") => TerminalSide::Master,
        _ if [&b"/dev/pts/"[..], b"/dev/tty"]
            .iter()
            .any(|prefix| target.starts_with(prefix)) =>
        {
            TerminalSide::Slave
        }
        _ => TerminalSide::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_of_a_server_has_the_port_or_the_path_that_clients_know() {
        for (target, expected) in [
            ("TCP:[10.0.0.1:5432->10.0.0.2:40112]", true),
            ("TCP:[10.0.0.2:40112->10.0.0.1:5432]", false),
            ("TCPv6:[[::1]:80->[::1]:50000]", true),
            ("TCP:[10.0.0.1:5432]", false),
            ("TCP:[10.0.0.1:2000->10.0.0.2:3000]", false),
            ("UNIX-STREAM:[7->6,\"/run/db.sock\"]", true),
            ("UNIX-STREAM:[6->7]", false),
            ("/etc/passwd", false),
        ] {
            assert_eq!(is_server_side(target.as_bytes()), expected, "{target}");
        }
    }
}
