//! Outcomes of connects that do not wait: a later call at the same descriptor reports them.
//!
//! ```text
//! connect(5) EINPROGRESS | poll(5) | getsockopt(5, SO_ERROR) [ECONNREFUSED]      the connect was refused
//! connect(5) EINPROGRESS | poll(5) | connect(5) = 0                              the connect succeeded
//! connect(5) EINPROGRESS | poll(5) | write(5) ECONNREFUSED                       the connect was refused
//! ```

use parsers::{Line, NO_ID, Outcome};
use rustc_hash::FxHashMap;

/// Connects in progress.
#[derive(Default)]
pub(crate) struct Connecting {
    /// The row of the connect, by table of descriptors and descriptor.
    rows: FxHashMap<(u32, i32), u32>,
}

impl Connecting {
    /// A call at a socket completed, in a task with this table of descriptors. Returns the connect
    /// with the reported outcome.
    pub(crate) fn completed(
        &mut self,
        table: u32,
        line: &Line,
        name: &[u8],
        errno: &[u8],
        row: u32,
    ) -> Option<u32> {
        let key = (table, line.fd);
        if line.fd == NO_ID || (self.rows.is_empty() && name != b"connect") {
            return None;
        }
        match (name, line.outcome) {
            // A new connect; a descriptor that was closed meanwhile may have the same number.
            (b"connect", Outcome::Failed) if errno == b"EINPROGRESS" => {
                self.rows.insert(key, row);
                None
            }
            (b"connect", Outcome::Failed) if goes_on(errno) => {
                self.rows.entry(key).or_insert(row);
                None
            }
            (b"connect", Outcome::Ok | Outcome::Failed) => self.rows.remove(&key),
            (_, Outcome::Failed) if reports_connect(errno) => self.rows.remove(&key),
            _ => None,
        }
    }

    /// The connect in progress at a socket, after its pending error was read.
    pub(crate) fn read_error(&mut self, table: u32, fd: i32) -> Option<u32> {
        self.rows.remove(&(table, fd))
    }
}

/// Whether a connect goes on after its call returned.
fn goes_on(errno: &[u8]) -> bool {
    matches!(errno, b"EALREADY" | b"EINTR" | b"EAGAIN" | b"EWOULDBLOCK")
}

/// Whether any call at the socket of a failed connect may fail so.
pub(crate) fn reports_connect(errno: &[u8]) -> bool {
    matches!(
        errno,
        b"ECONNREFUSED"
            | b"ETIMEDOUT"
            | b"EHOSTUNREACH"
            | b"ENETUNREACH"
            | b"EHOSTDOWN"
            | b"ECONNABORTED"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsers::LineKind;

    #[test]
    fn connect_in_progress_gets_the_outcome_that_a_later_call_reports() {
        let mut connecting = Connecting::default();
        let line = |outcome| Line {
            fd: 5,
            outcome,
            ..Line::of(LineKind::Call)
        };
        let (ok, failed) = (line(Outcome::Ok), line(Outcome::Failed));
        let mut at = |line: &Line, name: &[u8], errno: &[u8], row| {
            connecting.completed(1, line, name, errno, row)
        };
        assert_eq!(at(&failed, b"connect", b"EINPROGRESS", 3), None);
        assert_eq!(at(&failed, b"write", b"EAGAIN", 4), None);
        assert_eq!(at(&failed, b"write", b"ECONNREFUSED", 5), Some(3));
        assert_eq!(at(&failed, b"connect", b"EINPROGRESS", 6), None);
        assert_eq!(at(&failed, b"connect", b"EALREADY", 7), None);
        assert_eq!(at(&ok, b"connect", b"", 8), Some(6));
        assert_eq!(at(&failed, b"connect", b"EINPROGRESS", 9), None);
        assert_eq!(at(&failed, b"connect", b"EINPROGRESS", 10), None);
        assert_eq!(connecting.read_error(1, 5), Some(10));
        assert_eq!(connecting.read_error(1, 5), None);
    }
}
