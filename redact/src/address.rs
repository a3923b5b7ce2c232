//! Addresses: those of one network stay in one network, and loopback, private and public ones stay what they are.
//!
//! ```text
//! 10.1.2.3, 10.1.2.4    10.77.203.12, 10.77.203.96
//! 127.0.0.1, ::1        as they are
//! 203.0.113.9           another public address
//! ```
//! Each part is permuted, depending on the parts before it (Xu, Fan, Ammar, Moon, Prefix-preserving IP address
//! anonymization, 2002, for bits).

use crate::key::Key;
use std::net::{Ipv4Addr, Ipv6Addr};

/// First parts that name a kind of network: the address stays in it.
const KEPT_FIRST: [u8; 7] = [0, 10, 100, 127, 169, 172, 192];

/// The pseudonym of an address.
pub(crate) fn v4(key: &Key, address: Ipv4Addr) -> Ipv4Addr {
    let from = address.octets();
    if matches!(from, [127, 0, 0, _] | [0, 0, 0, 0] | [255, 255, 255, 255]) {
        return address;
    }
    let mut to = from;
    to[0] = first(key, from[0]);
    to[1] = second(key, from);
    for at in 2..4 {
        to[at] = other(key, &from[..at], 0..=255, from[at]);
    }
    Ipv4Addr::from(to)
}

/// Public ones become public ones, multicast addresses multicast addresses.
fn first(key: &Key, byte: u8) -> u8 {
    match byte {
        kept if KEPT_FIRST.contains(&kept) => kept,
        1..=223 => loop_until(
            byte,
            |byte| other(key, b"", 1..=223, byte),
            |byte| !KEPT_FIRST.contains(byte),
        ),
        224..=239 => other(key, b"", 224..=239, byte),
        _ => other(key, b"", 240..=255, byte),
    }
}

/// Within 172.16/12, 192.168/16, 169.254/16 and 100.64/10, or outside of them.
fn second(key: &Key, from: [u8; 4]) -> u8 {
    let private = match from[0] {
        172 => 16..=31,
        192 => 168..=168,
        169 => 254..=254,
        100 => 64..=127,
        _ => return other(key, &from[..1], 0..=255, from[1]),
    };
    if private.contains(&from[1]) {
        return other(key, &from[..1], private, from[1]);
    }
    loop_until(
        from[1],
        |byte| other(key, &from[..1], 0..=255, byte),
        |byte| !private.contains(byte),
    )
}

fn loop_until(mut byte: u8, next: impl Fn(u8) -> u8, is_fine: impl Fn(&u8) -> bool) -> u8 {
    // A permutation of a finite set comes back to where it began, and that is fine.
    loop {
        byte = next(byte);
        if is_fine(&byte) {
            return byte;
        }
    }
}

/// A permutation of the bytes of a range that depends on what precedes the byte.
fn other(key: &Key, before: &[u8], range: std::ops::RangeInclusive<u8>, byte: u8) -> u8 {
    let (first, size) = (*range.start(), u64::from(range.end() - range.start()) + 1);
    // Numbers below 256 are sorted by a hash that depends on the prefix: a permutation without a table.
    let rank = |value: u8| key.hash("address", &[before, &[first, value]].concat());
    let own = rank(byte);
    let place = range.filter(|&value| rank(value) < own).count() as u64 % size;
    first + place as u8
}

/// The pseudonym of an address.
pub(crate) fn v6(key: &Key, address: Ipv6Addr) -> Ipv6Addr {
    if address.is_loopback() || address.is_unspecified() {
        return address;
    }
    if let Some(inner) = address.to_ipv4_mapped() {
        return v4(key, inner).to_ipv6_mapped();
    }
    let from = address.segments();
    let mut to = from;
    // fe80, fd00, ff02: the kind of address. The first three bits of public ones are 001.
    let is_special = from[0] >= 0xFC00 || from[0] < 0x2000;
    for at in 0..8 {
        let before: Vec<u8> = from[..at]
            .iter()
            .flat_map(|part| part.to_be_bytes())
            .collect();
        let mask = key.hash("address6", &before) as u16;
        to[at] = match at {
            // What follows the two letters of fd12:… is the beginning of a site's own number.
            0 if from[0] & 0xFE00 == 0xFC00 => from[0] ^ mask & 0xFF,
            0 if is_special => from[0],
            0 => from[0] ^ mask & 0x1FFF,
            _ => from[at] ^ mask,
        };
    }
    Ipv6Addr::from(to)
}

/// The IPv4 address that a text begins with, and its length.
pub(crate) fn leading_v4(text: &[u8]) -> Option<(Ipv4Addr, usize)> {
    let end = text
        .iter()
        .take(16)
        .position(|byte| !matches!(byte, b'0'..=b'9' | b'.'))
        .unwrap_or(text.len().min(16));
    let end = text[..end].iter().rposition(|byte| *byte != b'.')? + 1;
    if text
        .get(end)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
    {
        return None;
    }
    Some((std::str::from_utf8(&text[..end]).ok()?.parse().ok()?, end))
}

/// The IPv6 address that a text begins with, and its length.
pub(crate) fn leading_v6(text: &[u8]) -> Option<(Ipv6Addr, usize)> {
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let end = text
        .iter()
        .take(46)
        .position(|byte| !is_part(byte))
        .unwrap_or(text.len().min(46));
    if memchr::memchr(b':', &text[..end.min(5)]).is_none()
        || text.get(end).is_some_and(u8::is_ascii_alphanumeric)
    {
        return None;
    }
    let printed = std::str::from_utf8(&text[..end]).ok()?;
    let ends = [printed, printed.trim_end_matches(['.', ':'])];
    ends.iter()
        .find_map(|printed| Some((printed.parse().ok()?, printed.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_their_kind_and_their_network() {
        let key = Key::new([3; 16]);
        let shared = |one: Ipv4Addr, other: Ipv4Addr| {
            one.octets()
                .iter()
                .zip(other.octets())
                .take_while(|(one, other)| **one == *other)
                .count()
        };
        let cases = [
            "10.1.2.3",
            "10.1.2.4",
            "10.1.9.4",
            "172.20.1.1",
            "192.168.7.7",
            "203.0.113.9",
            "203.0.113.10",
            "8.8.8.8",
        ];
        let cases: Vec<Ipv4Addr> = cases.iter().filter_map(|text| text.parse().ok()).collect();
        for &one in &cases {
            assert_eq!(one.is_private(), v4(&key, one).is_private(), "{one}");
            assert_eq!(one.is_loopback(), v4(&key, one).is_loopback(), "{one}");
            for &other in &cases {
                assert_eq!(
                    shared(one, other),
                    shared(v4(&key, one), v4(&key, other)),
                    "{one} {other}"
                );
            }
        }
        assert_eq!(v4(&key, Ipv4Addr::LOCALHOST), Ipv4Addr::LOCALHOST);
    }

    #[test]
    fn parts_are_permuted() {
        let key = Key::new([9; 16]);
        let found: std::collections::BTreeSet<u8> = (0..=255)
            .map(|byte| other(&key, b"\x0a", 0..=255, byte))
            .collect();
        assert_eq!(found.len(), 256);
    }
}
