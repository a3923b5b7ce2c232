//! Text of truss on AIX.
//!
//! ```text
//! In:   12845270: 21037193: kopen("/etc/nothere", O_RDONLY)      Err#2  ENOENT
//! Out:  pid 12845270, tid 21037193, kopen, target /etc/nothere, failed with ENOENT
//! ```
//!
//! It derives from truss of Solaris, and is read by the same code. Differences: the thread id of -l follows in a column
//! of its own, a fork returns 0 to the child, an error has two blanks, and many names begin with `k` or an underscore.
//! The meaning of the -d stamp is not documented. It is taken for the return, as on Solaris, so starts are as uncertain
//! as the durations, which are upper bounds.

use crate::format::{Format, Head, LineReader, Recognition};
use crate::truss_solaris::{self, recognise};

/// The format.
pub struct TrussAix;

impl Format for TrussAix {
    fn name(&self) -> &'static str {
        "truss-aix"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        let (mut own, mut is_empty) = (false, true);
        for line in head.lines().filter(|line| !line.trim_ascii().is_empty()) {
            if recognise::is_foreign_sign(line) {
                return Recognition::No;
            }
            own |= recognise::is_aix(line);
            is_empty = false;
        }
        match () {
            () if own => Recognition::Yes,
            () if is_empty && !head.complete => Recognition::NeedMore,
            () => Recognition::No,
        }
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        truss_solaris::reader(head)
    }
}
