//! The programs of each task over time.

use crate::store::command_line::{is_cut, words};
use crate::store::index::TaskId;
use crate::store::tasks::{Program, Task, TaskSlice, program_at};
use parsers::{Interner, NO_NS, Text};
use rayon::prelude::*;

/// Programs that run scripts, without the version at the end of their names.
const INTERPRETERS: &[&str] = &[
    "sh", "ash", "bash", "dash", "ksh", "mksh", "zsh", "csh", "tcsh", "python", "pypy", "perl",
    "ruby", "node", "php", "lua",
];

/// The programs of each task over time, including those inherited from its creator.
#[derive(Debug, Default)]
pub struct ProgramIndex {
    programs: Vec<Program>,
    /// Index of the first program of each task, and the total number at the end.
    offsets: Vec<u32>,
}

impl ProgramIndex {
    /// Compute them for all tasks.
    pub fn new(tasks: &TaskSlice) -> ProgramIndex {
        let inherited = |task: &Task| {
            let may_inherit = task.creator.is_some() && (task.is_thread || !task.adopted);
            let program = may_inherit
                .then(|| program_at(tasks, task.creator, task.birth_ns))
                .flatten()?;
            Some(Program {
                from_ns: task.birth_ns,
                ..program
            })
        };
        let inherited: Vec<Option<Program>> = tasks.raw.par_iter().map(inherited).collect();
        let (mut programs, mut offsets) = (Vec::new(), Vec::with_capacity(tasks.len() + 1));
        for (task, inherited) in tasks.iter().zip(inherited) {
            offsets.push(programs.len() as u32);
            programs.extend(inherited.into_iter().chain(task.programs.iter().copied()));
        }
        offsets.push(programs.len() as u32);
        ProgramIndex { programs, offsets }
    }

    /// The programs of a task, in order.
    pub fn of(&self, task: TaskId) -> &[Program] {
        let bounds = self
            .offsets
            .get(task.index())
            .zip(self.offsets.get(task.index() + 1));
        bounds.map_or(&[], |(&from, &to)| {
            &self.programs[from as usize..to as usize]
        })
    }

    /// The program of a task at a moment. Without a clock, the last one.
    pub fn at(&self, task: TaskId, at_ns: i64) -> Option<Program> {
        let programs = self.of(task);
        if at_ns == NO_NS {
            return programs.last().copied();
        }
        programs
            .iter()
            .rev()
            .find(|program| program.from_ns <= at_ns)
            .copied()
    }

    /// The path of the program of a task at a moment. Before its first program, the path of the first.
    pub fn path_at(&self, task: TaskId, at_ns: i64) -> Text {
        self.at(task, at_ns)
            .or_else(|| self.of(task).first().copied())
            .map_or(Text::NONE, |program| program.path)
    }

    /// The program that names a process: the last one that it ran itself, or else the one inherited from its creator.
    pub fn name_of(&self, task: TaskId) -> Option<Program> {
        self.of(task).last().copied()
    }

    /// The paths of all programs.
    pub(crate) fn paths(&self) -> Vec<Text> {
        let mut paths: Vec<Text> = self.programs.iter().map(|program| program.path).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// The paths of programs that match a user's argument, by path or by its last component.
    pub fn matching(&self, texts: &Interner, wanted: &[String]) -> Vec<Text> {
        let fits = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            wanted.iter().any(|wanted| wanted == path || wanted == name)
        };
        let mut found = self.paths();
        found.retain(|&path| fits(&texts.string(path)));
        found
    }
}

/// The file name of the script that a program interprets: `netsrv` of `/bin/sh -e /etc/init.d/netsrv stop`. The script is the
/// first argument without a dash. It is unknown after options that take a text (`-c`) or a value (`-o pipefail`, `--rcfile FILE`),
/// and where the tracer cut its path.
pub fn script_of(texts: &Interner, program: Program) -> Option<String> {
    let path = texts.string(program.path);
    let name =
        base_name(&path).trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let letters: &[char] = match name {
        _ if name.ends_with("sh") => &['c', 'o', 'O'],
        "python" | "pypy" => &['c', 'm', 'W', 'X'],
        _ => &['c', 'e', 'E', 'm', 'r', 'I', 'C', 'p', 'd', 'l'],
    };
    let takes_text = |word: &str| match word.strip_prefix("--") {
        Some(long) => !long.is_empty() && !long.contains('='),
        None => word.contains(letters),
    };
    if program.argv == Text::NONE || !INTERPRETERS.contains(&name) {
        return None;
    }
    let words = words(texts.bytes(program.argv));
    let (options, others) = words.get(1..)?.split_at(
        words[1..]
            .iter()
            .take_while(|word| word.starts_with(b"-"))
            .count(),
    );
    if options
        .iter()
        .any(|word| takes_text(&String::from_utf8_lossy(word)))
    {
        return None;
    }
    let script = String::from_utf8_lossy(others.first().filter(|script| !is_cut(script))?);
    Some(base_name(&script).to_owned()).filter(|script| !script.is_empty())
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(path: &str, argv: &str) -> String {
        let mut texts = Interner::default();
        let program = Program {
            from_ns: 0,
            path: texts.add(path.as_bytes()),
            argv: texts.add(argv.as_bytes()),
        };
        script_of(&texts, program).unwrap_or_default()
    }

    #[test]
    fn interpreters_have_the_name_of_their_script() {
        assert_eq!(script("/bin/sh", "sh /etc/init.d/netsrv stop"), "netsrv");
        assert_eq!(script("/bin/sh", "/bin/sh -eu ./stop.sh"), "stop.sh");
        assert_eq!(
            script("/usr/bin/node", "node --stack-size=900 -- app.js"),
            "app.js"
        );
        assert_eq!(
            script("/usr/bin/python3.11", "python3 -I /opt/agent.py --now"),
            "agent.py"
        );
    }

    #[test]
    fn a_script_with_blanks_in_its_path_is_named_whole() {
        assert_eq!(
            script("/usr/bin/python3", "python3 '/opt/my tool/run.py' --now"),
            "run.py"
        );
        assert_eq!(
            script("/bin/sh", "sh -e '/etc/init.d/my service' stop"),
            "my service"
        );
        assert_eq!(script("/bin/sh", r"sh '/opt/it'\''s run'"), "it's run");
        assert_eq!(
            script("/bin/sh", "sh '/opt/a directory whose name is c'..."),
            ""
        );
    }

    #[test]
    fn other_programs_and_texts_have_no_script() {
        assert_eq!(script("/sbin/agent", "agent /etc/agent.conf"), "");
        assert_eq!(script("/bin/sh", "sh -c exit"), "");
        assert_eq!(script("/usr/bin/python3.11", "python3 -m http.server"), "");
        assert_eq!(script("/usr/bin/perl", "perl -e 1"), "");
        assert_eq!(script("/bin/bash", "bash -eo pipefail /usr/lib/run"), "");
        assert_eq!(
            script("/usr/bin/python3", "python3 -W ignore /opt/agent.py"),
            ""
        );
        assert_eq!(
            script("/bin/bash", "bash --rcfile /etc/rc /usr/lib/run"),
            ""
        );
        assert_eq!(script("/usr/bin/node", "node --require trace app.js"), "");
        assert_eq!(script("/bin/sh", "sh"), "");
    }
}
