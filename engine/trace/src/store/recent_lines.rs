//! The places of the last lines of a kind, for texts that are read again on request.

use std::collections::VecDeque;

/// Maximum number of lines that are kept. The reason why a program gives up is among its last ones.
const MAX_LINES: usize = 48;

/// Where a line stands: the number of its file in the trace, and of the line in the file, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinePlace {
    /// Number of the file.
    pub file: u32,
    /// Number of the line.
    pub line: u32,
}

/// The places of the last lines, in their order.
#[derive(Clone, Default, Debug)]
pub struct RecentLines {
    places: VecDeque<LinePlace>,
}

impl RecentLines {
    /// Adds a line. Of too many, the oldest one goes.
    pub fn push(&mut self, place: LinePlace) {
        if self.places.len() == MAX_LINES {
            self.places.pop_front();
        }
        self.places.push_back(place);
    }

    /// The places, in their order.
    pub fn iter(&self) -> impl Iterator<Item = LinePlace> + '_ {
        self.places.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_stay() {
        let mut recent = RecentLines::default();
        for line in 1..=100 {
            recent.push(LinePlace { file: 0, line });
        }
        let lines: Vec<u32> = recent.iter().map(|place| place.line).collect();
        assert_eq!(lines, (53..=100).collect::<Vec<u32>>());
    }
}
