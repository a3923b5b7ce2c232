//! The changes of a path that a file watch reports, by the names of inotify and fanotify.

use parsers::syscalls::Action;

/// A set of changes: those that a watch requests, or those that a call makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Changes(u16);

/// Tracers truncate a longer list of flags.
const CUT_BYTES: usize = 120;

impl Changes {
    const NONE: Changes = Changes(0);
    const ACCESS: Changes = Changes(1);
    const MODIFY: Changes = Changes(1 << 1);
    const ATTRIB: Changes = Changes(1 << 2);
    pub(super) const CLOSE_WRITE: Changes = Changes(1 << 3);
    pub(super) const CLOSE_NOWRITE: Changes = Changes(1 << 4);
    const OPEN: Changes = Changes(1 << 5);
    const MOVED_FROM: Changes = Changes(1 << 6);
    const MOVED_TO: Changes = Changes(1 << 7);
    const CREATE: Changes = Changes(1 << 8);
    const DELETE: Changes = Changes(1 << 9);
    const CLOSE: Changes = Changes(1 << 3 | 1 << 4);
    /// Closes the previous file of its descriptor.
    const REPLACE: Changes = Changes(1 << 10);
    const ALL: Changes = Changes((1 << 10) - 1);

    /// The changes that a watch requests.
    pub(in crate::waits) fn asked(mask: &[u8]) -> Changes {
        let known = mask
            .split(|&byte| byte == b'|')
            .map(change_of_word)
            .fold(Changes::NONE, Changes::with);
        // A number, or the start of a truncated list: it may be any change.
        if known.is_empty() || mask.len() >= CUT_BYTES {
            Changes::ALL
        } else {
            known
        }
    }

    /// The effect of a call on the path that it works on.
    pub(in crate::waits) fn of_target(action: Action) -> Changes {
        match action {
            Action::Reads | Action::ReadsAt | Action::Lists => Changes::ACCESS,
            Action::Writes | Action::WritesAt | Action::Resizes => Changes::MODIFY,
            Action::ChangesAttributes => Changes::ATTRIB,
            Action::Closes => Changes::CLOSE,
            Action::Replaces => Changes::REPLACE,
            Action::Opens => Changes::OPEN,
            Action::Creates | Action::Makes | Action::MakesNode => Changes::CREATE,
            Action::Renames => Changes::MOVED_FROM,
            // The file loses a link. A watch reports that as long as a task has the file open.
            Action::Removes => Changes::DELETE.with(Changes::ATTRIB),
            Action::RemovesDirectory => Changes::DELETE,
            _ => Changes::NONE,
        }
    }

    /// The effect of a call on the second path that it creates, if any.
    pub(in crate::waits) fn of_made(action: Action) -> Changes {
        match action {
            Action::Opens | Action::Links => Changes::CREATE,
            Action::Renames => Changes::MOVED_TO,
            _ => Changes::NONE,
        }
    }

    /// The changes that must be tracked to attribute these: a close does not show whether anything was written.
    pub(in crate::waits) fn told_by(self) -> Changes {
        let of_close = Changes::MODIFY
            .with(Changes::CREATE)
            .with(Changes::REPLACE)
            .with(Changes::CLOSE);
        if self.meets(Changes::CLOSE) {
            self.with(of_close)
        } else {
            self
        }
    }

    pub(in crate::waits) fn meets(self, other: Changes) -> bool {
        self.0 & other.0 != 0
    }

    pub(in crate::waits) fn with(self, other: Changes) -> Changes {
        Changes(self.0 | other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a later close follows a write to the file.
    pub(super) fn writes(self) -> bool {
        self.meets(Changes::MODIFY.with(Changes::CREATE))
    }

    pub(super) fn closes(self) -> bool {
        self.meets(Changes::CLOSE)
    }

    pub(super) fn replaces(self) -> bool {
        self.meets(Changes::REPLACE)
    }
}

fn change_of_word(word: &[u8]) -> Changes {
    let word = word
        .strip_prefix(b"IN_")
        .or_else(|| word.strip_prefix(b"FAN_"))
        .unwrap_or(b"");
    match word {
        b"ACCESS" => Changes::ACCESS,
        b"MODIFY" => Changes::MODIFY,
        b"ATTRIB" => Changes::ATTRIB,
        b"CLOSE_WRITE" => Changes::CLOSE_WRITE,
        b"CLOSE_NOWRITE" => Changes::CLOSE_NOWRITE,
        b"CLOSE" => Changes::CLOSE,
        b"OPEN" | b"OPEN_EXEC" => Changes::OPEN,
        b"MOVED_FROM" | b"MOVE_SELF" => Changes::MOVED_FROM,
        b"MOVED_TO" => Changes::MOVED_TO,
        b"MOVE" | b"RENAME" => Changes::MOVED_FROM.with(Changes::MOVED_TO),
        b"CREATE" => Changes::CREATE,
        b"DELETE" | b"DELETE_SELF" => Changes::DELETE,
        b"ALL_EVENTS" => Changes::ALL,
        _ => Changes::NONE,
    }
}
