//! Which body comes next: the one that came next the last time.
//!
//! ```text
//! bodies so far    … 3 4 5 6 7 1 9 3 4 5 . 7 8 3 4
//!                      └ expected: 5               └ here
//! ```
//! Following the earlier sequence costs one look at the next position of a ring. Only if another body comes than expected,
//! the position after the last occurrence of the last two bodies is looked up. A single line that is not cached replaces
//! the expected one, so the sequence goes on after it.

/// How many bodies the ring holds, as numbers plus 1; 0 is a line that is not cached.
const RING_LEN: usize = 1 << 17;
/// Positions are found by the hash of two bodies.
const POSITIONS_LOG2: u32 = 15;
/// Along an expected sequence, one position in this many is recorded.
const RECORDED_EVERY: usize = 8;

/// The bodies of the last lines, in a ring.
#[derive(Default)]
pub(super) struct History {
    ring: Vec<u16>,
    /// Where the next body is put.
    end: usize,
    /// Where the expected body is.
    next: usize,
    /// Positions after two bodies, by the hash of the two.
    positions: Vec<u32>,
}

impl History {
    /// The number of the body that is expected next.
    #[inline]
    pub(super) fn expected(&self) -> Option<u32> {
        self.ring.get(self.next)?.checked_sub(1).map(u32::from)
    }

    /// Add the expected body, or a line that is not cached.
    #[inline]
    pub(super) fn advance(&mut self, body: Option<u32>) {
        if let Some(place) = self.ring.get_mut(self.end) {
            *place = code(body);
            self.end = (self.end + 1) % RING_LEN;
            self.next = (self.next + 1) % RING_LEN;
            if self.end.is_multiple_of(RECORDED_EVERY) {
                let slot = self.slot();
                self.positions[slot] = self.end as u32;
            }
        }
    }

    /// Add a body that was not expected.
    pub(super) fn jump(&mut self, body: u32) {
        if self.ring.is_empty() {
            self.ring.resize(RING_LEN, 0);
            self.positions.resize(1 << POSITIONS_LOG2, 0);
        }
        let (body, end) = (code(Some(body)), self.end);
        self.ring[end] = body;
        self.end = (end + 1) % RING_LEN;
        let slot = self.slot();
        let position = self.positions[slot] as usize;
        // The body before that position may have been overwritten, or the hash may be that of two other bodies.
        let is_same =
            self.ring[position.wrapping_sub(1) % RING_LEN] == body && position != self.end;
        self.next = if is_same {
            position
        } else {
            (self.next + 1) % RING_LEN
        };
        self.positions[slot] = self.end as u32;
    }

    /// Where the position after the last two bodies is recorded.
    #[inline]
    fn slot(&self) -> usize {
        let [before, last] =
            [2, 1].map(|back| u64::from(self.ring[self.end.wrapping_sub(back) % RING_LEN]));
        ((before << 16 | last).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - POSITIONS_LOG2))
            as usize
    }

    /// Forget everything.
    pub(super) fn clear(&mut self) {
        self.ring.fill(0);
        self.positions.fill(0);
        (self.end, self.next) = (0, 0);
    }
}

fn code(body: Option<u32>) -> u16 {
    body.map_or(0, |body| (body + 1) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Add these bodies, `None` for a line that is not cached; count those that were not expected.
    fn unexpected(history: &mut History, bodies: impl Iterator<Item = Option<u32>>) -> usize {
        let mut count = 0;
        for body in bodies {
            match body {
                Some(body) if history.expected() != Some(body) => {
                    history.jump(body);
                    count += 1;
                }
                body => history.advance(body),
            }
        }
        count
    }

    #[test]
    fn a_repeated_sequence_is_expected() {
        let (mut history, once) = (History::default(), || (0..10_000).map(Some));
        assert_eq!(unexpected(&mut history, once()), 10_000);
        assert!(
            unexpected(&mut history, once()) < 20,
            "it takes a few bodies to find the position"
        );
        assert!(unexpected(&mut history, once().skip(3000).take(2000)) < 20);
        assert!(
            (0..30).all(|_| unexpected(&mut history, once()) < 20),
            "also after the ring has wrapped around"
        );
    }

    #[test]
    fn an_uncached_line_replaces_the_expected_one() {
        let mut history = History::default();
        let lines =
            |unknown: u32| (0..5000).map(move |body| (body % 100 != unknown).then_some(body));
        unexpected(&mut history, lines(7));
        assert!(unexpected(&mut history, lines(7)) < 20);
        assert!(
            unexpected(&mut history, lines(8)) < 20 + 50,
            "the 50 lines that were not cached the first time"
        );
    }

    #[test]
    fn a_cleared_history_expects_nothing() {
        let mut history = History::default();
        unexpected(&mut history, (0..100).chain(0..50).map(Some));
        assert!(history.expected().is_some());
        history.clear();
        assert_eq!(history.expected(), None);
    }
}
