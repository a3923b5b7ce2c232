//! Tokens whose parts look harmless, but not the whole: addresses of hardware, UUIDs, percent-encoded texts.
//!
//! ```text
//! 58:51:88:2d:85:c6                      also with -, and as [0x58, 0x51, 0x88, 0x2d, 0x85, 0xc6]
//! 1234567d-89ab-4def-8123-456789abcdef   its first group is not a number of days
//! %68%75nter%32                          its octets are not numbers
//! ```

use crate::key::Key;

/// Octets of an address of hardware: Ethernet and Bluetooth, and InfiniBand. Eight with colons are an IPv6 address.
const HARDWARE_OCTETS: [usize; 3] = [6, 8, 20];
const MAX_OCTETS: usize = 32;
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// An address of hardware at the beginning of a text: its octets, and its length.
pub(crate) fn hardware_address(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let separator = *text.get(2)?;
    if !matches!(separator, b':' | b'-') {
        return None;
    }
    let mut octets = vec![octet(text)?];
    let mut at = 2;
    while text.get(at) == Some(&separator) && octets.len() <= MAX_OCTETS {
        let Some(next) = octet(&text[at + 1..]) else {
            break;
        };
        octets.push(next);
        at += 3;
    }
    let is_whole = !text.get(at).is_some_and(|&byte| is_word(byte));
    let is_other = separator == b':' && octets.len() == 8;
    (is_whole && !is_other && HARDWARE_OCTETS.contains(&octets.len())).then_some((octets, at))
}

/// A list of bytes such as `[0x58, 0x51]` at the beginning of a text: the bytes, and its length.
pub(crate) fn byte_list(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut bytes = Vec::new();
    let mut at = 1;
    while bytes.len() < MAX_OCTETS {
        let item = text.get(at..)?.strip_prefix(b"0x")?;
        let digits = item
            .iter()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
        let value = std::str::from_utf8(&item[..digits]).ok()?;
        bytes.push(u8::from_str_radix(value, 16).ok()?);
        at += 2 + digits;
        if text.get(at) == Some(&b']') {
            return Some((bytes, at + 1));
        }
        text.get(at..)?.strip_prefix(b", ")?;
        at += 2;
    }
    None
}

/// The pseudonym of an address of hardware. Those of nobody and of everybody stay, groups and local ones stay so.
pub(crate) fn pseudonym(key: &Key, octets: &[u8]) -> Vec<u8> {
    const KINDS: u8 = 0b11;
    if octets.iter().all(|&octet| octet == 0) || octets.iter().all(|&octet| octet == 0xFF) {
        return octets.to_vec();
    }
    let mut made: Vec<u8> = (0..octets.len())
        .map(|at| key.hash("hardware address", &[octets, &[at as u8]].concat()) as u8)
        .collect();
    made[0] = made[0] & !KINDS | octets[0] & KINDS;
    made
}

/// The octets as the original has them: with its separator and its capitals.
pub(crate) fn printed(octets: &[u8], original: &[u8]) -> String {
    let separator = if original.get(2) == Some(&b'-') {
        "-"
    } else {
        ":"
    };
    let parts: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    let text = parts.join(separator);
    match original.iter().any(u8::is_ascii_uppercase) {
        true => text.to_ascii_uppercase(),
        false => text,
    }
}

/// The length of a UUID at the beginning of a text.
pub(crate) fn uuid_len(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for (number, length) in UUID_GROUPS.into_iter().enumerate() {
        if number > 0 {
            text.get(at).filter(|&&byte| byte == b'-')?;
            at += 1;
        }
        let group = text.get(at..at + length)?;
        group.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        at += length;
    }
    (!text.get(at).is_some_and(|&byte| is_word(byte))).then_some(at)
}

/// The length of a word with percent-encoded octets at the beginning of a text.
pub(crate) fn percent_encoded_len(text: &[u8]) -> Option<usize> {
    let (mut at, mut count) = (0, 0);
    while let Some(&byte) = text.get(at) {
        if byte == b'%' && octet(&text[at + 1..]).is_some() {
            count += 1;
            at += 3;
        } else if is_word(byte) || byte == b'_' {
            at += 1;
        } else {
            break;
        }
    }
    (count > 0).then_some(at)
}

/// The length of an escape sequence at the beginning of a text that sets a colour or a weight, such as `ESC[1;31m`.
pub(crate) fn color_len(text: &[u8]) -> usize {
    color_after(text, b"\x1b[")
}

fn color_after(text: &[u8], escape: &[u8]) -> usize {
    let Some(rest) = text.strip_prefix(escape) else {
        return 0;
    };
    let end = rest
        .iter()
        .position(|byte| !(byte.is_ascii_digit() || *byte == b';'))
        .unwrap_or(rest.len());
    if rest.get(end) == Some(&b'm') {
        escape.len() + end + 1
    } else {
        0
    }
}

/// The text without colours, if it has any. In JSON, the escape is escaped.
pub(crate) fn without_colors(text: &[u8]) -> Option<Vec<u8>> {
    const IN_JSON: [&[u8]; 2] = [b"\\u001b[", b"\\u001B["];
    let found = IN_JSON.map(|escape| memchr::memmem::find(text, escape));
    let plain = memchr::memmem::find(text, b"\x1b[");
    let mut at = found.into_iter().chain([plain]).flatten().min()?;
    let mut out = text[..at].to_vec();
    while let Some(&byte) = text.get(at) {
        let is_escaped = out.ends_with(b"\\");
        let in_json = IN_JSON.map(|escape| color_after(&text[at..], escape));
        let in_json = in_json.into_iter().filter(|_| !is_escaped).max();
        let color = color_len(&text[at..]).max(in_json.unwrap_or(0));
        if color == 0 {
            out.push(byte);
        }
        at += color.max(1);
    }
    (out.len() < text.len()).then_some(out)
}

/// Replace control characters by blanks, so that a terminal may print the line: colours and tabs stay, and a carriage
/// return at its end.
pub(crate) fn make_inert(line: &mut [u8]) {
    let is_control = |byte: &u8| *byte < b' ' && *byte != b'\t' || *byte == 0x7F;
    let last = line.len().saturating_sub(1);
    let mut at = 0;
    while let Some(next) = line[at..].iter().position(is_control) {
        at += next;
        let color = color_len(&line[at..]);
        if color == 0 && !(line[at] == b'\r' && at == last) {
            line[at] = b' ';
        }
        at += color.max(1);
    }
}

fn octet(text: &[u8]) -> Option<u8> {
    let digits = text.get(..2)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_whole_or_not_at_all() {
        let octets = vec![0x58, 0x51, 0x88, 0x2d, 0x85, 0xc6];
        for text in ["58:51:88:2d:85:c6", "58-51-88-2D-85-C6, x"] {
            assert_eq!(
                hardware_address(text.as_bytes()),
                Some((octets.clone(), 17))
            );
        }
        for text in [
            "12:34:56",
            "58:51:88:2d:85:c6d",
            "58:51:88:2d:85:c6:01",
            "2021-03",
        ] {
            assert_eq!(hardware_address(text.as_bytes()), None, "{text}");
        }
        assert_eq!(byte_list(b"[0x58, 0x5]}"), Some((vec![0x58, 5], 11)));
        assert_eq!(byte_list(b"[0x580, 0x5]"), None);
        assert_eq!(uuid_len(b"1234567d-89ab-4def-8123-456789abcdef "), Some(36));
        assert_eq!(uuid_len(b"1234567d-89ab-4def-8123-456789abcdefa"), None);
        assert_eq!(percent_encoded_len(b"76%68%75 x"), Some(8));
        assert_eq!(percent_encoded_len(b"76% of"), None);
    }

    #[test]
    fn one_address_has_one_pseudonym_of_its_kind() {
        let key = Key::new([7; 16]);
        let made = pseudonym(&key, &[0x33, 0x51, 0x88, 0x2d, 0x85, 0xc6]);
        assert_eq!(made[0] & 3, 3);
        assert_eq!(made, pseudonym(&key, &[0x33, 0x51, 0x88, 0x2d, 0x85, 0xc6]));
        assert_eq!(pseudonym(&key, &[0xFF; 6]), [0xFF; 6]);
        assert_eq!(printed(&[0x0a, 0xb], b"58-5A"), "0A-0B");
    }
}
