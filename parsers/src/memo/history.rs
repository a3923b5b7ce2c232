//! Which body comes next: that which came next the last time.
//!
//! ```text
//! bodies so far    … 3 4 5 6 7 1 9 3 4 5 . 7 8 3 4
//!                      └ expected: 5               └ here
//! ```
//! Going on along what came before costs a look at the next place of a list, which is near. Only where something else comes
//! than was expected, the place is looked up at which the last two bodies came before. A single line that nobody has seen
//! yet takes the place of the one that was expected.

/// Bodies that are kept in mind, as numbers plus 1; 0 is a line without one.
const LEN: usize = 1 << 17;
/// Places are found by the hash of two bodies.
const PLACES_LOG2: u32 = 15;
/// One place of so many is noted, beside those where something unexpected came.
const NOTED: usize = 8;

/// The bodies that came, in a ring.
#[derive(Default)]
pub(super) struct History {
    came: Vec<u16>,
    /// Where the next one is put.
    end: usize,
    /// Where the one stands that is expected next.
    next: usize,
    /// Places behind two bodies, by their hash.
    places: Vec<u32>,
}

impl History {
    /// The number of the body that is expected next.
    #[inline]
    pub(super) fn expected(&self) -> Option<u32> {
        self.came.get(self.next)?.checked_sub(1).map(u32::from)
    }

    /// The expected body came, or a line that nobody numbers.
    #[inline]
    pub(super) fn go_on(&mut self, came: Option<u32>) {
        if let Some(place) = self.came.get_mut(self.end) {
            *place = code(came);
            self.end = (self.end + 1) % LEN;
            self.next = (self.next + 1) % LEN;
            if self.end.is_multiple_of(NOTED) {
                let by_hash = self.by_hash();
                self.places[by_hash] = self.end as u32;
            }
        }
    }

    /// Another body came.
    pub(super) fn turn_to(&mut self, body: u32) {
        if self.came.is_empty() {
            self.came.resize(LEN, 0);
            self.places.resize(1 << PLACES_LOG2, 0);
        }
        let (came, end) = (code(Some(body)), self.end);
        self.came[end] = came;
        self.end = (end + 1) % LEN;
        let by_hash = self.by_hash();
        let place = self.places[by_hash] as usize;
        // What stood before that place may be another one by now.
        let is_known = self.came[place.wrapping_sub(1) % LEN] == came && place != self.end;
        self.next = if is_known { place } else { (self.next + 1) % LEN };
        self.places[by_hash] = self.end as u32;
    }

    /// Where the place behind the last two bodies is noted.
    #[inline]
    fn by_hash(&self) -> usize {
        let [before, last] = [2, 1].map(|back| u64::from(self.came[self.end.wrapping_sub(back) % LEN]));
        ((before << 16 | last).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - PLACES_LOG2)) as usize
    }

    /// Forget all.
    pub(super) fn clear(&mut self) {
        self.came.fill(0);
        self.places.fill(0);
        (self.end, self.next) = (0, 0);
    }
}

fn code(body: Option<u32>) -> u16 {
    body.map_or(0, |body| (body + 1) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Let these bodies come, none where a line has none; how many were not expected.
    fn unexpected(history: &mut History, bodies: impl Iterator<Item = Option<u32>>) -> usize {
        let mut count = 0;
        for body in bodies {
            match body {
                Some(body) if history.expected() != Some(body) => {
                    history.turn_to(body);
                    count += 1;
                }
                body => history.go_on(body),
            }
        }
        count
    }

    #[test]
    fn what_came_next_the_last_time_is_expected() {
        let (mut history, once) = (History::default(), || (0..10_000).map(Some));
        assert_eq!(unexpected(&mut history, once()), 10_000);
        assert!(unexpected(&mut history, once()) < 20, "it takes a few bodies to find the place");
        assert!(unexpected(&mut history, once().skip(3000).take(2000)) < 20);
        assert!((0..30).all(|_| unexpected(&mut history, once()) < 20), "also when the first ones are forgotten");
    }

    #[test]
    fn a_line_that_nobody_has_seen_takes_the_place_of_another() {
        let mut history = History::default();
        let lines = |unknown: u32| (0..5000).map(move |body| (body % 100 != unknown).then_some(body));
        unexpected(&mut history, lines(7));
        assert!(unexpected(&mut history, lines(7)) < 20);
        assert!(unexpected(&mut history, lines(8)) < 20 + 50, "those that were unknown the first time");
    }

    #[test]
    fn nothing_is_expected_of_what_was_forgotten() {
        let mut history = History::default();
        unexpected(&mut history, (0..100).chain(0..50).map(Some));
        assert!(history.expected().is_some());
        history.clear();
        assert_eq!(history.expected(), None);
    }
}
