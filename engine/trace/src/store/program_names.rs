//! Names of programs: the last parts of their paths. A trace may have very many programs, and few names.

use crate::store::programs::ProgramIndex;
use parsers::{Interner, Text};
use rustc_hash::FxHashMap;

/// The names of programs, numbered.
#[derive(Debug)]
pub struct ProgramNames {
    /// By number. The first one is empty: the program is unknown.
    names: Vec<String>,
    /// A program with each name.
    firsts: Vec<Text>,
    numbers: FxHashMap<String, u32>,
    /// The number of the name of each program, by number of its text.
    of_programs: Vec<u32>,
}

impl ProgramNames {
    /// Numbers the names.
    pub(crate) fn new(texts: &Interner, programs: &ProgramIndex) -> ProgramNames {
        let mut found = ProgramNames {
            names: vec![String::new()],
            firsts: vec![Text::NONE],
            numbers: FxHashMap::from_iter([(String::new(), 0)]),
            of_programs: vec![0; texts.len()],
        };
        for program in programs.paths() {
            let path = texts.string(program);
            let name = path.rsplit('/').next().unwrap_or(&path);
            let number = found
                .number(name)
                .unwrap_or_else(|| found.add(name, program));
            if let Some(place) = found.of_programs.get_mut(program.0 as usize) {
                *place = number;
            }
        }
        found
    }

    fn add(&mut self, name: &str, program: Text) -> u32 {
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.firsts.push(program);
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The number of a name, if a program has it.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The number of the name of a program.
    pub fn of(&self, program: Text) -> u32 {
        self.of_programs
            .get(program.0 as usize)
            .copied()
            .unwrap_or(0)
    }

    /// The program that stands for all with the name of this one.
    pub fn first_of(&self, program: Text) -> Text {
        self.firsts
            .get(self.of(program) as usize)
            .copied()
            .unwrap_or(Text::NONE)
    }

    /// The name with a number.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}
