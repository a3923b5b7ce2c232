//! Moves what was read with a coarse clock to the final places of its lines.

use crate::ingest::assemble::Assembler;
use parsers::NO_NS;

impl Assembler<'_> {
    /// At the end of the capture: all times that were taken from the places of lines so far.
    pub(super) fn move_to_final_places(&mut self) {
        let Some(places) = self
            .clocks
            .first_mut()
            .and_then(|clock| clock.final_places())
        else {
            return;
        };
        let moved_ns = |at_ns: i64| {
            if at_ns == NO_NS {
                NO_NS
            } else {
                places.of(at_ns)
            }
        };
        let rows = self.capture.rows.start..self.trace.events.len();
        self.trace.events.move_starts(rows, moved_ns);
        for task in self.trace.tasks.iter_mut().skip(self.first_task.index()) {
            for at_ns in [&mut task.birth_ns, &mut task.death_ns, &mut task.last_ns] {
                *at_ns = moved_ns(*at_ns);
            }
            task.programs
                .iter_mut()
                .for_each(|program| program.from_ns = moved_ns(program.from_ns));
        }
        self.capture.first_ns = moved_ns(self.capture.first_ns);
        self.capture.last_ns = moved_ns(self.capture.last_ns);
        self.kin
            .iter_mut()
            .for_each(|claim| claim.move_to(moved_ns));
        self.members
            .values_mut()
            .for_each(|at_ns| *at_ns = moved_ns(*at_ns));
    }
}
