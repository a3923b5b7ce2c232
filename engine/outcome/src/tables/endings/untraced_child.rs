//! The end of a child that was not traced, as a wait or a SIGCHLD of its parent prints it.
//!
//! ```text
//! clone() = 4913 | wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 1}], 0, NULL) = 4913
//! clone() = 4913 | --- SIGCHLD {si_code=CLD_EXITED, si_pid=4913, si_status=1} ---
//! ```

use super::{EndedProcess, lines_of};
use kit::table_support::context::TableContext;
use parsers::NO_ID;
use parsers::facts::WaitedChild;
use trace::store::event::EventKind;

/// The last events of a process that report the end of a child, and are read again.
const MAX_REPORTS: usize = 64;

/// How a child ended.
pub(super) struct ChildEnd {
    pub row: u32,
    pub pid: i32,
    /// Its exit status, or the name of the signal that killed it.
    pub how: String,
}

/// The last child without lines of its own that did not end with status 0.
pub(super) fn failed_child(context: &TableContext<'_>, process: &EndedProcess) -> Option<ChildEnd> {
    let reports = reports(context, process);
    let rows: Vec<u32> = reports.iter().map(|&(row, _)| row).collect();
    let lines = lines_of(context, &rows);
    let mut ends = reports.iter().zip(&lines).rev();
    ends.find_map(|(&(row, pid), line)| {
        let how = how_it_ended(line)?;
        (how != "0").then(|| ChildEnd {
            row,
            pid,
            how: how.to_owned(),
        })
    })
}

/// The last events that report the end of a child without lines of its own, with its process id, in order.
fn reports(context: &TableContext<'_>, process: &EndedProcess) -> Vec<(u32, i32)> {
    let trace = context.trace;
    let events = &trace.events;
    let child_of = |row: u32| match events.kind(row) {
        EventKind::Signal if events.texts.bytes(events.shape(row).syscall) == b"SIGCHLD" => {
            Some(events.sender(row))
        }
        _ => events.facts.get::<WaitedChild>(row).copied(),
    };
    let is_traced = |pid: i32| {
        trace
            .tasks
            .iter()
            .any(|task| task.pid == pid && task.calls > 0)
    };
    let mut found: Vec<(u32, i32)> = Vec::new();
    for &task in &process.tasks {
        let rows = trace.rows_of(task).iter().rev();
        let ends = rows.filter_map(|&row| child_of(row).map(|pid| (row, pid)));
        found.extend(ends.take(MAX_REPORTS));
    }
    found.retain(|&(_, pid)| pid > 0 && pid != NO_ID && !is_traced(pid));
    found.sort_unstable();
    found.split_off(found.len().saturating_sub(MAX_REPORTS))
}

/// The exit status or the signal in the text of a wait status or of a SIGCHLD.
fn how_it_ended(line: &str) -> Option<&str> {
    const MARKS: [&str; 3] = ["WEXITSTATUS(s) == ", "WTERMSIG(s) == ", "si_status="];
    let from = MARKS
        .into_iter()
        .find_map(|mark| line.find(mark).map(|at| at + mark.len()))?;
    let is_over = !line.contains("CLD_STOPPED") && !line.contains("CLD_CONTINUED");
    let rest = line.get(from..).filter(|_| is_over)?;
    let end = rest
        .find(|char: char| !char.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::how_it_ended;

    #[test]
    fn the_end_of_a_child_is_read_from_its_report() {
        let cases = [
            (
                "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL) = 7",
                Some("3"),
            ),
            (
                "wait4(7, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV && WCOREDUMP(s)}]) = 7",
                Some("SIGSEGV"),
            ),
            (
                "--- SIGCHLD {si_code=CLD_EXITED, si_pid=7, si_status=1, si_utime=6} ---",
                Some("1"),
            ),
            (
                "--- SIGCHLD {si_code=CLD_KILLED, si_pid=7, si_status=SIGKILL} ---",
                Some("SIGKILL"),
            ),
            (
                "--- SIGCHLD {si_code=CLD_STOPPED, si_pid=7, si_status=SIGSTOP} ---",
                None,
            ),
            ("wait4(-1, NULL, 0, NULL) = 7", None),
        ];
        for (line, how) in cases {
            assert_eq!(how_it_ended(line), how, "{line}");
        }
    }
}
