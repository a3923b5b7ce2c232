//! Normalised targets: parts that differ between two runs of the same work are replaced, distinctive parts stay.
//!
//! `/proc/4711/stat` → `/proc/N/stat`, `pipe:[12345]` → `pipe:[N]`, `TCP:[127.0.0.1:42238->127.0.0.1:80]` →
//! `TCP:[127.0.0.1:N->127.0.0.1:80]`, `/tmp/tmp.Xa81kQ` → `/tmp/tmp.R`, `0x7ffd8a10` → `0xN`.

use crate::store::heuristics::{FIRST_EPHEMERAL_PORT, MIN_HEX_ID_DIGITS, MIN_NUMBER_DIGITS};
use crate::store::random_names::without_random_name;

/// The normalised form; `None` if it equals the text. Only words with a digit and names of temporary files can change.
pub fn normalise(target: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    normalise_into(target, &mut out).then_some(out)
}

/// The normalised form of the id of a process or, with a minus, of a group; `None` for 0, which is the own group, and
/// for a text that is not a number.
pub(crate) fn normalise_id(id: &[u8]) -> Option<&'static [u8]> {
    let (digits, normal): (&[u8], &[u8]) = match id.strip_prefix(b"-") {
        Some(group) => (group, b"-N"),
        None => (id, b"N"),
    };
    let is_id = digits.iter().all(u8::is_ascii_digit) && digits.iter().any(|&digit| digit != b'0');
    is_id.then_some(normal)
}

/// The same with the form in a buffer; whether it differs from the text.
pub fn normalise_into(target: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(changed) = without_random_name(target) else {
        return normalise_words(target, out);
    };
    if !normalise_words(&changed, out) {
        *out = changed;
    }
    true
}

fn normalise_words(target: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(mut digit) = target.iter().position(u8::is_ascii_digit) else {
        return false;
    };
    let mut at = 0;
    out.clear();
    loop {
        let rest = &target[at..];
        let start = rest[..digit]
            .iter()
            .rposition(|byte| !byte.is_ascii_alphanumeric())
            .map_or(0, |before| before + 1);
        let end = digit + alphanumeric_run(&rest[digit..]);
        out.extend_from_slice(&rest[..start]);
        let before = (at + start).checked_sub(1).map(|before| target[before]);
        push_word(&rest[start..end], before, rest.get(end).copied(), out);
        at += end;
        match target[at..].iter().position(u8::is_ascii_digit) {
            Some(next) => digit = next,
            None => break,
        }
    }
    out.extend_from_slice(&target[at..]);
    out != target
}

fn alphanumeric_run(text: &[u8]) -> usize {
    text.iter()
        .position(|byte| !byte.is_ascii_alphanumeric())
        .unwrap_or(text.len())
}

fn push_word(word: &[u8], before: Option<u8>, after: Option<u8>, out: &mut Vec<u8>) {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    if word.starts_with(b"0x") && word.len() > 2 {
        out.extend_from_slice(b"0xN");
    } else if digits == word.len() {
        push_number(word, before, after, out);
    } else if digits > 0
        && word.len() >= MIN_HEX_ID_DIGITS
        && word.iter().all(u8::is_ascii_hexdigit)
    {
        out.push(b'H');
    } else if digits >= MIN_NUMBER_DIGITS {
        push_with_numbers(word, out);
    } else {
        out.extend_from_slice(word);
    }
}

/// A whole word of digits: parts of addresses and well-known ports stay, other numbers between separators are replaced.
fn push_number(word: &[u8], before: Option<u8>, after: Option<u8>, out: &mut Vec<u8>) {
    let dotted = before == Some(b'.') || after == Some(b'.');
    let port = before == Some(b':');
    let value = std::str::from_utf8(word)
        .ok()
        .and_then(|text| text.parse::<u32>().ok());
    let keep = match (dotted, port) {
        (_, true) => value.is_some_and(|value| value < FIRST_EPHEMERAL_PORT),
        (true, _) => word.len() <= MIN_NUMBER_DIGITS,
        // The first group of an IPv6 address.
        _ if before == Some(b'[') && after == Some(b':') => true,
        _ => before.is_none() && word.len() <= 2,
    };
    let component =
        matches!(before, Some(b'/' | b'[')) && matches!(after, None | Some(b'/' | b']'));
    let small = word.len() < MIN_NUMBER_DIGITS && !component && before.is_some();
    out.extend_from_slice(if keep || small { word } else { b"N" });
}

fn push_with_numbers(word: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < word.len() {
        let digits = word[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        match digits {
            0 => {
                out.push(word[at]);
                at += 1;
            }
            long if long >= MIN_NUMBER_DIGITS => {
                out.push(b'N');
                at += long;
            }
            short => {
                out.extend_from_slice(&word[at..at + short]);
                at += short;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_processes_differ_between_runs_however_short() {
        let cases: [(&[u8], Option<&[u8]>); 6] = [
            (b"4", Some(b"N")),
            (b"46", Some(b"N")),
            (b"4646", Some(b"N")),
            (b"-46", Some(b"-N")),
            (b"0", None),
            (b"", None),
        ];
        for (id, expected) in cases {
            assert_eq!(normalise_id(id), expected);
        }
    }

    #[test]
    fn what_differs_between_runs_goes_and_names_stay() {
        let cases = [
            ("/proc/4711/stat", "/proc/N/stat"),
            ("pipe:[12345]", "pipe:[N]"),
            ("/dev/pts/3", "/dev/pts/N"),
            (
                "TCP:[127.0.0.1:42238->127.0.0.1:80]",
                "TCP:[127.0.0.1:N->127.0.0.1:80]",
            ),
            (
                "/lib/x86_64-linux-gnu/libc.so.6",
                "/lib/x86_64-linux-gnu/libc.so.6",
            ),
            ("/usr/lib/python3.11/os.py", "/usr/lib/python3.11/os.py"),
            ("0x7ffd8a10", "0xN"),
            ("/x/file123.txt", "/x/fileN.txt"),
            ("/objects/3f2a9bc01d", "/objects/H"),
            ("/etc/passwd", "/etc/passwd"),
            ("10.0.0.7:443", "10.0.0.7:443"),
            ("/tmp/tmp.Xa81kQ", "/tmp/tmp.R"),
            ("/tmp/tmp9s4t57p5/log", "/tmp/tmpR/log"),
            ("/tmp/ccAb1xQz.s", "/tmp/ccR.s"),
            ("/var/tmp/.tmpQwErTy/a1234", "/var/tmp/.tmpR/aN"),
            ("/tmp/ssh-XXq9KmPlVt/agent.4711", "/tmp/ssh-R/agent.N"),
            ("/tmp/Server", "/tmp/Server"),
            ("/tmp/run1test", "/tmp/run1test"),
            ("/home/u/tmp.Xa81kQ", "/home/u/tmp.R"),
            ("/home/u/tmp/Xa81kQ", "/home/u/tmp/Xa81kQ"),
        ];
        for (target, expected) in cases {
            let found = normalise(target.as_bytes()).unwrap_or_else(|| target.as_bytes().to_vec());
            assert_eq!(String::from_utf8_lossy(&found), expected);
        }
    }
}
