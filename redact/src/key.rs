//! The key: a hash and permutations that nobody without it can compute.
//!
//! ```text
//! hash      kind, text            -> 64 bits
//! permute   0 … size-1, one place -> another place, each reached from one place only
//! ```

use siphasher::sip::{SipHasher13, SipHasher24};

/// Rounds of the permutation. Four are enough for a pseudorandom one (Luby and Rackoff, 1988), if the halves are long;
/// those of short numbers are not.
const ROUNDS: u64 = 8;

/// Longest text, with its kind, that is hashed without a copy on the heap.
const MAX_SHORT_BYTES: usize = 128;

/// Sixteen secret bytes.
#[derive(Clone)]
pub struct Key([u8; 16]);

impl Key {
    /// A key of these bytes.
    pub fn new(bytes: [u8; 16]) -> Key {
        Key(bytes)
    }

    /// A number that depends on the key, the kind of text, and the text.
    pub(crate) fn hash(&self, kind: &'static str, text: &[u8]) -> u64 {
        // At once: a hasher that takes pieces costs as much again for a word.
        let mut short = [0; MAX_SHORT_BYTES];
        let length = kind.len() + 1 + text.len();
        let hasher = SipHasher24::new_with_key(&self.0);
        let Some(whole) = short.get_mut(..length) else {
            return hasher.hash(&[kind.as_bytes(), &[0xFF], text].concat());
        };
        whole[..kind.len()].copy_from_slice(kind.as_bytes());
        whole[kind.len()] = 0xFF;
        whole[kind.len() + 1..].copy_from_slice(text);
        hasher.hash(whole)
    }

    /// Another number below `size` for each number below it, different for different ones. A Feistel network on the
    /// smallest even number of bits, up to 126; results that are too large go through it again (cycle walking: Black and Rogaway,
    /// Ciphers with arbitrary finite domains, 2002).
    pub(crate) fn permute(&self, kind: &'static str, size: u128, value: u128) -> u128 {
        let half_bits = (128 - size.saturating_sub(1).leading_zeros())
            .div_ceil(2)
            .max(1);
        let mask = (1u64 << half_bits) - 1;
        let mut value = value;
        let seed = self.hash(kind, &size.to_le_bytes());
        let hasher = SipHasher13::new_with_key(&self.0);
        loop {
            let (mut left, mut right) = ((value >> half_bits) as u64, value as u64 & mask);
            for round in 0..ROUNDS {
                let mut block = [0; 16];
                block[..8].copy_from_slice(&seed.wrapping_add(round).to_le_bytes());
                block[8..].copy_from_slice(&right.to_le_bytes());
                // Fewer rounds of the hash than for words: there are several of the network.
                (left, right) = (right, left ^ (hasher.hash(&block) & mask));
            }
            value = u128::from(left) << half_bits | u128::from(right);
            if value < size {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Key;
    use std::collections::BTreeSet;

    #[test]
    fn each_number_has_another_one_of_its_own() {
        let key = Key::new([7; 16]);
        for size in [1, 2, 9, 10, 100, 1000, 4097] {
            let found: BTreeSet<u128> = (0..size)
                .map(|value| key.permute("x", size, value))
                .collect();
            assert_eq!(found, (0..size).collect(), "{size}");
        }
    }

    #[test]
    fn another_key_gives_another_result() {
        let [one, other] = [1, 2].map(|byte| Key::new([byte; 16]));
        assert_ne!(one.hash("x", b"secret"), other.hash("x", b"secret"));
        assert_ne!(one.permute("x", 1 << 60, 5), other.permute("x", 1 << 60, 5));
    }
}
