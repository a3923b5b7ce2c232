//! Where numbers are found by the hashes of their texts.
//!
//! ```text
//! hash 0x9…, 16 slots     slot 9 or, if that is filled, the next free one
//! hash 0x9…, 32 slots     slot 18 or 19
//! ```
//! The leading bits of a hash say where its slot is. So the order is the same with twice as many slots, and growing goes
//! through memory from front to back. A slot contains the hash, so a new text takes a look at one place in memory.

/// There are as many slots at first.
const MIN_SLOTS: usize = 64;

#[derive(Clone, Copy, Default)]
struct Slot {
    hash: u32,
    /// The number plus 1; 0 if the slot is free.
    number: u32,
}

/// Numbers by the hashes of their texts.
#[derive(Default)]
pub(super) struct Slots {
    /// A power of two, or none.
    slots: Vec<Slot>,
    filled: usize,
}

impl Slots {
    /// The slot where the search for a hash begins.
    #[inline]
    fn home(&self, hash: u32) -> usize {
        let spread = u64::from(hash.wrapping_mul(0x9E37_79B9));
        ((spread * self.slots.len() as u64) >> u32::BITS) as usize
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    /// The number with this hash for which this holds, or the slot where one can be inserted.
    #[inline]
    pub(super) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mut at = self.home(hash);
        while let Some(slot) = self.slots.get(at) {
            match slot.number.checked_sub(1) {
                None => return Err(at),
                Some(number) if slot.hash == hash && is_it(number) => return Ok(number),
                Some(_) => at = self.after(at),
            }
        }
        Err(0)
    }

    /// Insert a number that was not found, at the slot that was returned.
    #[inline]
    pub(super) fn insert(&mut self, free: usize, hash: u32, number: u32) {
        let free = if (self.filled + 1) * 8 > self.slots.len() * 5 {
            self.grow(hash)
        } else {
            free
        };
        self.slots[free] = Slot {
            hash,
            number: number + 1,
        };
        self.filled += 1;
    }

    /// Twice as many slots; the free one for a hash.
    #[cold]
    fn grow(&mut self, hash: u32) -> usize {
        let more = vec![Slot::default(); (self.slots.len() * 2).max(MIN_SLOTS)];
        for slot in std::mem::replace(&mut self.slots, more)
            .into_iter()
            .filter(|slot| slot.number != 0)
        {
            let free = self.free(slot.hash);
            self.slots[free] = slot;
        }
        self.free(hash)
    }

    fn free(&self, hash: u32) -> usize {
        let mut at = self.home(hash);
        while self.slots[at].number != 0 {
            at = self.after(at);
        }
        at
    }

    /// Make the processor fetch the slots of these hashes, all at once.
    #[inline]
    pub(super) fn fetch(&self, hashes: impl Iterator<Item = u32>) {
        let seen = hashes
            .filter_map(|hash| self.slots.get(self.home(hash)))
            .fold(0, |seen, slot| seen ^ slot.number);
        std::hint::black_box(seen);
    }

    /// Remove all numbers, but keep the memory.
    pub(super) fn clear(&mut self) {
        self.slots.fill(Slot::default());
        self.filled = 0;
    }
}
