//! Time limits that everybody knows: their lengths name who set them.

use parsers::syscalls::Wait;
use trace::store::heuristics::{KNOWN_LIMITS, KnownLimit};

/// What usually sets a limit of this length on a wait for a descriptor.
pub(super) fn known_limit(
    limit_ns: i64,
    wait: Option<Wait>,
    port: Option<i64>,
) -> Option<&'static str> {
    if !matches!(wait, Some(Wait::Poll | Wait::Read)) {
        return None;
    }
    let fits = |known: &&KnownLimit| {
        (known.limit_ns - known.slack_ns..=known.limit_ns).contains(&limit_ns)
            && (known.port.is_none() || known.port == port)
    };
    KNOWN_LIMITS.iter().find(fits).map(|known| known.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_limit_is_named_by_its_length_and_port() {
        let name = |limit_ms: i64, port| known_limit(limit_ms * 1_000_000, Some(Wait::Poll), port);
        assert_eq!(name(25_000, None), Some("the reply timeout of D-Bus"));
        assert_eq!(name(24_986, None), Some("the reply timeout of D-Bus"));
        assert_eq!(name(26_000, None), None);
        assert_eq!(name(5_000, None), None);
        assert_eq!(name(5_000, Some(53)), Some("the timeout of a resolver"));
    }
}
