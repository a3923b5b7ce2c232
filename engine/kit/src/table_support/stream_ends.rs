//! The ends of pipes and socket pairs, by the names of their targets.

/// The ends of a pipe or pair, the lower number first, and whether the numbers are the tracer's or those of this
/// program.
pub type Ends = (bool, u64, u64);

/// Whether a target is a pipe or a local socket.
pub fn is_end(target: &[u8]) -> bool {
    target.starts_with(b"pipe:[") || target.starts_with(b"UNIX")
}

/// `pipe:[7]`, `UNIX-STREAM:[7->8]`, `UNIX:[#1->#2]`: the ends.
pub fn ends(target: &[u8]) -> Option<Ends> {
    let (_, inner) = target.split_at_checked(target.iter().position(|&byte| byte == b'[')? + 1)?;
    let is_numbered_here = inner.first() == Some(&b'#');
    let (one, rest) = parsers::scan::number(inner.strip_prefix(b"#").unwrap_or(inner))?;
    let other = rest
        .strip_prefix(b"->")
        .map(|rest| rest.strip_prefix(b"#").unwrap_or(rest));
    let other = other
        .and_then(parsers::scan::number)
        .map_or(one, |(other, _)| other);
    let (one, other) = (u64::try_from(one).ok()?, u64::try_from(other).ok()?);
    Some((is_numbered_here, one.min(other), one.max(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_a_pair_are_the_same_from_both_sides() {
        assert_eq!(ends(b"UNIX-STREAM:[8->7]"), ends(b"UNIX-STREAM:[7->8]"));
        assert_eq!(ends(b"UNIX:[#2->#1]"), Some((true, 1, 2)));
        assert_eq!(ends(b"pipe:[7]"), Some((false, 7, 7)));
        assert_eq!(ends(b"/dev/tty"), None);
    }
}
