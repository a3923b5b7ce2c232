//! Reads values some time before they are used.
//!
//! ```text
//! one after the other   read·····use read·····use read·····use          ····· the wait for memory
//! ahead                 read read read·····use use use
//! ```
//! The rows of a task are far apart in the event table where many tasks work at the same time, so each value is waited
//! for. A processor waits for several values at once if it need not decide anything in between.

/// Number of values that are read before the first one is used. Processors wait for 10 to 16 at once.
const AT_ONCE: usize = 16;

/// Items with their values, in order.
pub(crate) struct Ahead<T, V, Items, Read> {
    items: Items,
    read: Read,
    next: usize,
    values: Vec<(T, V)>,
}

/// Each item with what `read` returns for it.
pub(crate) fn ahead<T: Copy, V: Copy, Items: Iterator<Item = T>, Read: Fn(T) -> V>(
    items: Items,
    read: Read,
) -> Ahead<T, V, Items, Read> {
    Ahead { items, read, next: 0, values: Vec::with_capacity(AT_ONCE) }
}

impl<T: Copy, V: Copy, Items: Iterator<Item = T>, Read: Fn(T) -> V> Iterator for Ahead<T, V, Items, Read> {
    type Item = (T, V);

    #[inline]
    fn next(&mut self) -> Option<(T, V)> {
        if self.next == self.values.len() {
            let (items, read) = (&mut self.items, &self.read);
            self.values.clear();
            self.values.extend(items.by_ref().take(AT_ONCE).map(|item| (item, read(item))));
            self.next = 0;
        }
        let found = self.values.get(self.next).copied()?;
        self.next += 1;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_comes_once_with_its_value() {
        for count in [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 5 * AT_ONCE] {
            let found: Vec<(usize, usize)> = ahead(0..count, |item| item * item).collect();
            assert_eq!(found, (0..count).map(|item| (item, item * item)).collect::<Vec<_>>());
        }
    }
}
