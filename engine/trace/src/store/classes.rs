//! The wait class of a call, by its name and its target.

use crate::store::request_sources::brings_requests;
use crate::store::targets::{ACCEPTED, TERMINAL, WATCHED, is_host_and_port};
use parsers::Text;
use parsers::syscalls::{self, Action, Class};

/// The wait class of a call: that of its target if it is known, or else that of its syscall.
pub fn class_of(syscall: Text, target: &[u8]) -> Class {
    let Some(call) = syscalls::by_text(syscall) else {
        return class_of_target(target).unwrap_or(Class::Other);
    };
    match call.class {
        Class::Disk if works_on_anything(call.action) => {
            class_of_target(target).unwrap_or(Class::Other)
        }
        Class::Disk | Class::Network | Class::Ipc | Class::Other => {
            class_of_target(target).unwrap_or(call.class)
        }
        class => class,
    }
}

/// Whether only the descriptor determines what a call waits for.
fn works_on_anything(action: Action) -> bool {
    matches!(
        action,
        Action::Reads
            | Action::Writes
            | Action::ControlsDevice
            | Action::ControlsFile
            | Action::Closes
    )
}

fn class_of_target(target: &[u8]) -> Option<Class> {
    let starts = |prefixes: &[&[u8]]| prefixes.iter().any(|prefix| target.starts_with(prefix));
    // Most targets are paths.
    if target.first() == Some(&b'/') && !target.starts_with(b"/dev/") && !target.ends_with(ACCEPTED)
    {
        return Some(Class::Disk);
    }
    if starts(&[
        b"pipe:",
        b"UNIX",
        b"anon_inode:[eventfd]",
        b"{eventfd",
        b"anon_inode:inotify",
        WATCHED,
        b"anon_inode:[fanotify]",
        b"unix:",
        b"@",
    ]) || brings_requests(target)
    {
        Some(Class::Ipc)
    } else if starts(&[
        b"TCP", b"UDP", b"RAW", b"socket:", b"NETLINK", b"PING", b"SCTP", b"PACKET",
    ]) {
        Some(Class::Network)
    } else if starts(&[
        b"/dev/tty",
        b"/dev/pts/",
        b"/dev/ptmx",
        b"/dev/console",
        b"/dev/pty",
    ]) || target == TERMINAL
    {
        Some(Class::Terminal)
    } else if target == b"stdin" {
        // The tracer's own standard input: no task in the capture writes to it.
        Some(Class::External)
    } else if let Some(listener) = target.strip_suffix(ACCEPTED) {
        Some(if is_host_and_port(listener) {
            Class::Network
        } else {
            Class::Ipc
        })
    } else if is_host_and_port(target) {
        Some(Class::Network)
    } else if target.starts_with(b"/") {
        Some(Class::Disk)
    } else {
        None
    }
}
