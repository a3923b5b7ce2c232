//! Messages of a kernel that a page joined into one line, perhaps within a paragraph of prose.
//!
//! ```text
//! In:   it ended so: [ 1.486287] md: stopping all md devices. [ 2.492737] ACPI: Preparing to enter sleep state S5
//! Out:  at 1.486287 s `md: stopping all md devices.`, at 2.492737 s `ACPI: Preparing to enter sleep state S5`
//! ```

use crate::scan;

/// Digits of a kernel's stamp after the point.
const DIGITS: usize = 6;

/// One of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JoinedMessage<'a> {
    /// Since the start of the kernel.
    pub stamp_ns: i64,
    /// Without its stamp.
    pub text: &'a [u8],
}

/// The messages of a line that has at least two stamps of a kernel, in order of time. Otherwise none.
pub(super) fn messages(line: &[u8]) -> Vec<JoinedMessage<'_>> {
    let stamps: Vec<(usize, usize, i64)> = memchr::memchr_iter(b'[', line)
        .filter_map(|at| stamp(line, at))
        .collect();
    let are_in_order = stamps.windows(2).all(|pair| pair[0].2 <= pair[1].2);
    if stamps.len() < 2 || !are_in_order {
        return Vec::new();
    }
    let ends = stamps
        .iter()
        .skip(1)
        .map(|&(begin, ..)| begin)
        .chain([line.len()]);
    let message = |(&(_, from, stamp_ns), to): (&(usize, usize, i64), usize)| JoinedMessage {
        stamp_ns,
        text: scan::trim(line.get(from..to).unwrap_or(b"")),
    };
    let messages: Vec<JoinedMessage<'_>> = stamps.iter().zip(ends).map(message).collect();
    // `[    1.486287] [    1.486300] text` has two stamps and one message.
    if messages.iter().any(|one| one.text.is_empty()) {
        Vec::new()
    } else {
        messages
    }
}

/// The last stamp of a kernel behind other text of a line: what stands before it, its time, and its message.
pub(super) fn last_stamp(line: &[u8]) -> Option<(&[u8], i64, &[u8])> {
    let at = memchr::memrchr_iter(b'[', line).find(|&at| at > 0 && stamp(line, at).is_some())?;
    let (_, from, stamp_ns) = stamp(line, at)?;
    Some((line.get(..at)?, stamp_ns, scan::trim(line.get(from..)?)))
}

/// A stamp at a place in a line: where it begins and ends, and its time.
fn stamp(line: &[u8], at: usize) -> Option<(usize, usize, i64)> {
    let inside = scan::skip_blanks(line.get(at + 1..)?);
    let (ns, digits, rest) = scan::seconds(inside)?;
    let rest = rest.strip_prefix(b"] ").filter(|_| digits == DIGITS)?;
    Some((at, line.len() - rest.len(), ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_divided_at_stamps_that_do_not_decrease() {
        let line =
            b"so: [ 1.486287] md: stopping. [    2.492737] ACPI: S5 [    2.492737] [drm] off";
        let found: Vec<(i64, &[u8])> = messages(line)
            .iter()
            .map(|one| (one.stamp_ns, one.text))
            .collect();
        let expected: [(i64, &[u8]); 3] = [
            (1_486_287_000, b"md: stopping."),
            (2_492_737_000, b"ACPI: S5"),
            (2_492_737_000, b"[drm] off"),
        ];
        assert_eq!(found, expected);
        let others: [&[u8]; 5] = [
            b"[    1.486287] [    1.486300] one message",
            b"[    1.486287] md: stopping all md devices.",
            b"[    1.486287] drm: see [ 0.100000] above",
            b"[    1.486287] cpu: took [ 2.1] and [ 2 ]",
            b"see [1.486287] and [2.486287].",
        ];
        assert!(others.iter().all(|line| messages(line).is_empty()));
    }
}
