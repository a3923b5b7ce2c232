//! The programs of each task over time.

use crate::store::event::NONE;
use crate::store::tasks::{Program, Task, program_at};
use parsers::{Interner, NO_NS, Text};

/// The programs of each task over time, including those inherited from its creator.
#[derive(Debug, Default)]
pub struct ProgramIndex {
    programs: Vec<Vec<Program>>,
}

impl ProgramIndex {
    /// Compute them for all tasks.
    pub fn new(tasks: &[Task]) -> ProgramIndex {
        let programs = tasks.iter().map(|task| {
            let may_inherit = task.creator != NONE && (task.is_thread || !task.adopted);
            let inherited = may_inherit
                .then(|| program_at(tasks, task.creator, task.birth_ns))
                .flatten()
                .map(|program| Program { from_ns: task.birth_ns, ..program });
            inherited.into_iter().chain(task.programs.iter().copied()).collect()
        });
        ProgramIndex { programs: programs.collect() }
    }

    /// The programs of a task, in order.
    pub fn of(&self, task: u32) -> &[Program] {
        self.programs.get(task as usize).map_or(&[], Vec::as_slice)
    }

    /// The program of a task at a moment. Without a clock, the last one.
    pub fn at(&self, task: u32, at_ns: i64) -> Option<Program> {
        let programs = self.of(task);
        if at_ns == NO_NS {
            return programs.last().copied();
        }
        programs.iter().rev().find(|program| program.from_ns <= at_ns).copied()
    }

    /// The path of the program of a task at a moment. Before its first program, the path of the first.
    pub(crate) fn path_at(&self, task: u32, at_ns: i64) -> Text {
        let first = || self.of(task).first().copied();
        self.at(task, at_ns).or_else(first).map_or(Text::NONE, |program| program.path)
    }

    /// The program that names a process: the last one that it ran itself, or else the one inherited from its creator.
    pub fn name_of(&self, task: u32) -> Option<Program> {
        self.of(task).last().copied()
    }

    /// The paths of programs that match a user's argument, by path or by its last component.
    pub(crate) fn matching(&self, texts: &Interner, wanted: &[String]) -> Vec<Text> {
        let fits = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            wanted.iter().any(|wanted| wanted == path || wanted == name)
        };
        let mut found: Vec<Text> = self.programs.iter().flatten().map(|program| program.path).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|&path| fits(&texts.string(path)));
        found
    }
}
