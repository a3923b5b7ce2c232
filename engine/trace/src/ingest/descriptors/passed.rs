//! Descriptors that are sent over a local socket (`SCM_RIGHTS`): what comes out has another number and is the same
//! thing.
//!
//! ```text
//! 1   sendmsg(UNIX:[#1->#2], … [4])           4 is pipe:[#1] there
//! 2   recvmsg(UNIX:[#2->#1], … [7])           so 7 is here
//! ```
//!
//! Messages arrive in the order in which they were sent. If a connection is known only by its address, the sender is
//! clear only if no other task sent; otherwise the received descriptors are unknown.

use crate::ingest::descriptors::Descriptors;
use crate::store::index::OwnTask;
use crate::store::targets::ACCEPTED;
use parsers::{Interner, Text};
use std::collections::VecDeque;

/// Messages on their way, and waits for one, that are remembered.
const MAX_MESSAGES: usize = 256;

/// A call that sends descriptors or gets some.
#[derive(Clone, Copy)]
pub(crate) struct Passing<'line> {
    /// Its row.
    pub row: u32,
    /// When it began, if it sends; when it ended, if it receives.
    pub at_ns: i64,
    /// The task, by its place in the capture.
    pub task: OwnTask,
    /// Its end of the socket.
    pub end: Text,
    /// The descriptors.
    pub fds: &'line [i32],
}

/// Descriptors that were sent and not yet received.
struct Message {
    row: u32,
    task: OwnTask,
    end: Text,
    files: Vec<Text>,
}

/// Descriptors that were received before any send was read: files of several tasks may be read in the order of the
/// starts of calls.
struct Receipt {
    until_ns: i64,
    task: OwnTask,
    end: Text,
    fds: Vec<i32>,
}

#[derive(Default)]
pub(super) struct PassedDescriptors {
    messages: VecDeque<Message>,
    receipts: VecDeque<Receipt>,
}

impl Descriptors {
    /// A call sends descriptors.
    pub(crate) fn sent(&mut self, call: Passing<'_>, texts: &Interner) {
        let Passing { row, task, end, .. } = call;
        let files: Vec<Text> = call.fds.iter().map(|&fd| self.target(task, fd)).collect();
        let is_awaited = |receipt: &Receipt| {
            let fits = receipt.until_ns >= call.at_ns && receipt.fds.len() == files.len();
            fits && are_ends_of_one(texts.bytes(end), texts.bytes(receipt.end))
        };
        if let Some(at) = self.passed.receipts.iter().position(is_awaited)
            && let Some(receipt) = self.passed.receipts.remove(at)
        {
            return self.receive(receipt.task, &receipt.fds, &files);
        }
        push(
            &mut self.passed.messages,
            Message {
                row,
                task,
                end,
                files,
            },
        );
    }

    /// A call that was to send descriptors failed.
    pub(crate) fn unsent(&mut self, row: u32) {
        self.passed.messages.retain(|message| message.row != row);
    }

    /// A call received descriptors.
    pub(crate) fn received(&mut self, call: Passing<'_>, texts: &Interner) {
        let is_for = |message: &&Message| {
            message.files.len() == call.fds.len()
                && are_ends_of_one(texts.bytes(message.end), texts.bytes(call.end))
        };
        let messages = &mut self.passed.messages;
        let first = messages
            .iter()
            .find(is_for)
            .map(|message| (message.row, message.task));
        let is_one = |(_, task)| {
            has_own_name(texts.bytes(call.end))
                || messages
                    .iter()
                    .filter(is_for)
                    .all(|other| other.task == task)
        };
        let files = match first.filter(|&first| is_one(first)) {
            Some((row, _)) => {
                let at = messages.iter().position(|message| message.row == row);
                at.and_then(|at| messages.remove(at))
                    .map(|message| message.files)
            }
            None => None,
        };
        if files.is_none() {
            let Passing {
                at_ns: until_ns,
                task,
                end,
                ..
            } = call;
            push(
                &mut self.passed.receipts,
                Receipt {
                    until_ns,
                    task,
                    end,
                    fds: call.fds.to_vec(),
                },
            );
        }
        self.receive(
            call.task,
            call.fds,
            &files.unwrap_or_else(|| vec![Text::NONE; call.fds.len()]),
        );
    }

    fn receive(&mut self, task: OwnTask, fds: &[i32], files: &[Text]) {
        fds.iter()
            .zip(files)
            .for_each(|(&fd, &file)| self.set(task, i64::from(fd), file));
    }
}

fn push<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() >= MAX_MESSAGES {
        queue.pop_front();
    }
    queue.push_back(item);
}

/// Whether these are the two ends of a connection: `UNIX:[#1->#2]` and `UNIX:[#2->#1]`, or an address and a connection
/// accepted there.
fn are_ends_of_one(one: &[u8], other: &[u8]) -> bool {
    match (own_and_peer(one), own_and_peer(other)) {
        (Some((kind, own, peer)), Some((other_kind, other_own, other_peer))) => {
            kind == other_kind && own == other_peer && peer == other_own
        }
        (None, None) => is_accepted(one, other) || is_accepted(other, one),
        _ => false,
    }
}

fn is_accepted(one: &[u8], other: &[u8]) -> bool {
    !one.is_empty() && other.strip_suffix(ACCEPTED) == Some(one)
}

fn has_own_name(end: &[u8]) -> bool {
    own_and_peer(end).is_some()
}

/// `UNIX`, `#1` and `#2` of `UNIX:[#1->#2]`.
fn own_and_peer(end: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let open = memchr::memmem::find(end, b":[").filter(|_| end.starts_with(b"UNIX"))?;
    let inside = end[open + 2..].strip_suffix(b"]")?;
    let arrow = memchr::memmem::find(inside, b"->")?;
    Some((&end[..open], &inside[..arrow], &inside[arrow + 2..]))
}
