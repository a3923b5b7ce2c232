//! Processes and threads for formats that know them by numbers: each life of a reused id has a number of its own.

use crate::timeline::columns::Columns;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::store::table::Table;

/// Above the largest process id of Linux.
pub const FIRST_SYNTHETIC: i64 = 1 << 22;

/// A thread, with its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The number of its task.
    pub task: i64,
    /// The task that stands for the process.
    pub process: i64,
    /// The id of the process in the file; not that of the capture if it was used before.
    pub pid: i64,
    /// The id of the thread in the file.
    pub tid: i64,
    /// The task of the parent process.
    pub parent: Option<i64>,
    /// Whether it is a thread other than the main one.
    pub is_thread: bool,
    /// When it was born, if that is known.
    pub birth_ns: Option<i64>,
    /// The last part of its program's path.
    pub name: String,
    /// Its command line.
    pub argv: String,
}

/// The threads in order of birth, processes first.
#[derive(Default)]
pub struct Owners {
    all: Vec<Owner>,
    by_task: FxHashMap<i64, usize>,
}

impl Owners {
    /// The owners of a table `tasks`.
    pub fn new(tasks: &Table) -> Owners {
        let columns = Columns::new(tasks);
        let mut rows: Vec<usize> = (0..tasks.len()).collect();
        rows.sort_by_key(|&row| {
            let birth_ns = columns.int("birth_ns", row).unwrap_or(0);
            (
                columns.flag("is_thread", row),
                birth_ns,
                columns.int("task", row),
            )
        });
        let mut numbering = Numbering::default();
        for row in rows {
            let owner = numbering.owner(&columns, row);
            let number = numbering.owners.all.len();
            numbering.owners.by_task.insert(owner.task, number);
            numbering.owners.all.push(owner);
        }
        numbering.owners
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Owner> {
        self.all.iter()
    }

    /// The owner of a task.
    pub fn of(&self, task: i64) -> Option<&Owner> {
        self.by_task.get(&task).map(|&number| &self.all[number])
    }

    /// Whether an id was reused, so that a number in the file is not that of the capture.
    pub fn has_reused(&self) -> bool {
        let is_synthetic = |owner: &Owner| owner.pid.max(owner.tid) >= FIRST_SYNTHETIC;
        self.all.iter().any(is_synthetic)
    }
}

/// Gives out the numbers of the file.
#[derive(Default)]
struct Numbering {
    owners: Owners,
    used_pids: FxHashSet<i64>,
    used_tids: FxHashSet<i64>,
    synthetic: i64,
    /// The place of the latest process of a capture with a process id.
    latest: FxHashMap<(i64, i64), usize>,
}

impl Numbering {
    fn owner(&mut self, columns: &Columns<'_>, row: usize) -> Owner {
        let int = |name| columns.int(name, row);
        let (capture, pid) = (int("capture").unwrap_or(0), int("pid").unwrap_or(0));
        let (task, tid) = (int("task").unwrap_or(-1), int("tid").unwrap_or(pid));
        let process = columns
            .flag("is_thread", row)
            .then(|| self.latest.get(&(capture, pid)).copied())
            .flatten()
            .map(|number| (self.owners.all[number].pid, self.owners.all[number].process));
        let is_known = match process {
            Some(_) => self.used_tids.contains(&tid),
            None => self.used_pids.contains(&pid),
        };
        let fresh = FIRST_SYNTHETIC + self.synthetic;
        self.synthetic += i64::from(is_known);
        let shown_tid = if is_known { fresh } else { tid };
        let shown_pid = process.map_or(if is_known { fresh } else { pid }, |(pid, _)| pid);
        self.used_pids.insert(shown_pid);
        self.used_tids.insert(shown_tid);
        if process.is_none() {
            self.latest.insert((capture, pid), self.owners.all.len());
        }
        let program = columns.text("program", row);
        let name = program
            .map(last_part)
            .filter(|name| !name.is_empty())
            .map_or_else(|| unnamed(int("pid")), str::to_owned);
        let argv = command(columns.text("argv", row), program);
        Owner {
            task,
            process: process.map_or(task, |(_, process)| process),
            pid: shown_pid,
            tid: shown_tid,
            parent: process.map_or(int("creator"), |_| None),
            is_thread: process.is_some(),
            birth_ns: int("birth_ns"),
            argv: argv.unwrap_or_else(|| name.clone()),
            name,
        }
    }
}

/// A log has no processes, and some captures print no ids.
fn unnamed(pid: Option<i64>) -> String {
    pid.map_or_else(|| "the capture".to_owned(), |pid| format!("pid {pid}"))
}

fn last_part(program: &str) -> &str {
    program.rsplit_once('/').map_or(program, |(_, last)| last)
}

/// The command line. If the tracer shortened it, its first word is the whole path of the program.
fn command(argv: Option<&str>, program: Option<&str>) -> Option<String> {
    let argv = argv.filter(|argv| !argv.is_empty());
    let Some((argv, program)) = argv.zip(program) else {
        return argv
            .or(program.filter(|program| !program.is_empty()))
            .map(str::to_owned);
    };
    let (first, rest) = argv.split_at(argv.find(' ').unwrap_or(argv.len()));
    let is_cut = first
        .strip_suffix("...")
        .is_some_and(|begin| program.starts_with(begin));
    Some(if is_cut {
        format!("{program}{rest}")
    } else {
        argv.to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::{FIRST_SYNTHETIC, Owners, command};
    use trace::store::table::{Table, Values, ints, some_ints, texts};

    #[test]
    fn a_shortened_command_has_the_whole_program() {
        let found = command(Some("/usr/lib/very... -x"), Some("/usr/lib/very/long"));
        assert_eq!(found.as_deref(), Some("/usr/lib/very/long -x"));
        assert_eq!(
            command(Some("sh -c true"), Some("/bin/dash")).as_deref(),
            Some("sh -c true")
        );
        assert_eq!(
            command(None, Some("/bin/dash")).as_deref(),
            Some("/bin/dash")
        );
        assert_eq!(command(None, None), None);
    }

    #[test]
    fn a_reused_id_is_another_process() {
        let tasks = Table::new(
            "tasks",
            vec![
                ("task", ints([0, 1, 2, 3])),
                ("capture", ints([0; 4])),
                ("pid", ints([10, 20, 20, 20])),
                ("tid", some_ints([10, 20, 20, 21])),
                ("creator", some_ints([parsers::NO_NS, 0, 0, 2])),
                (
                    "is_thread",
                    Values::Bool([false, false, false, true].map(Some).to_vec()),
                ),
                ("birth_ns", ints([0, 1, 2, 3])),
                (
                    "program",
                    texts([Some("/bin/sh"), Some("/bin/a"), None, None]),
                ),
                ("argv", texts([None; 4])),
            ],
        );
        let owners = Owners::new(&tasks);
        let ids: Vec<_> = owners.iter().map(|owner| (owner.pid, owner.tid)).collect();
        let new = FIRST_SYNTHETIC;
        assert_eq!(ids, [(10, 10), (20, 20), (new, new), (new, 21)]);
        assert!(owners.has_reused());
        assert_eq!(
            owners.of(3).map(|owner| (owner.process, owner.parent)),
            Some((2, None))
        );
        assert_eq!(owners.of(1).map(|owner| owner.name.as_str()), Some("a"));
        assert_eq!(
            owners.of(2).map(|owner| owner.argv.as_str()),
            Some("pid 20")
        );
    }
}
