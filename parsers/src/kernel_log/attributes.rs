//! Attributes of structured messages that state durations.
//!
//! ```text
//! In:   {"time":"2021-03-05T19:43:34Z","msg":"done","path":"/a","duration_ms":3290,"took":"1.2s"}
//! Out:  done duration_ms=3290 took=1.2s
//! ```

use crate::scan;

/// Parts of names of durations. Analyses decide what a name means.
#[rustfmt::skip]
const NAMES: &[&[u8]] = &[
    b"took", b"taken", b"elapsed", b"duration", b"latency", b"runtime", b"wait",
    b"query_time", b"lock_time", b"request_time", b"response_time",
];
/// Longest name, in bytes.
const MAX_NAME_BYTES: usize = 40;
/// Longest value, in bytes.
const MAX_VALUE_BYTES: usize = 24;

/// Appends the durations in a part of a record, as ` name=value`.
pub(super) fn append_durations(record: &[u8], out: &mut Vec<u8>) {
    for at in memchr::memchr2_iter(b'=', b':', record) {
        let Some((name, value)) = name_before(&record[..at]).zip(value_after(&record[at + 1..]))
        else {
            continue;
        };
        out.push(b' ');
        out.extend_from_slice(name);
        out.push(b'=');
        out.extend_from_slice(value);
    }
}

/// The name that ends a text, with or without quotes, if it is that of a duration.
fn name_before(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_suffix(b"\"").unwrap_or(text);
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let length = text
        .iter()
        .rev()
        .take(MAX_NAME_BYTES + 1)
        .take_while(is_part)
        .count();
    let name = text
        .get(text.len() - length..)
        .filter(|_| (1..=MAX_NAME_BYTES).contains(&length))?;
    let lower = name.to_ascii_lowercase();
    NAMES
        .iter()
        .any(|part| memchr::memmem::find(&lower, part).is_some())
        .then_some(name)
}

/// The number that begins a text, with its unit, with or without quotes.
fn value_after(text: &[u8]) -> Option<&[u8]> {
    let text = scan::skip_blanks(text);
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    text.first().filter(|byte| byte.is_ascii_digit())?;
    let is_over = |byte: &u8| matches!(byte, b'"' | b',' | b'}' | b' ' | b'\t');
    let end = text.iter().position(is_over).unwrap_or(text.len());
    text.get(..end)
        .filter(|value| value.len() <= MAX_VALUE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn appended(record: &str) -> String {
        let mut out = Vec::new();
        append_durations(record.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn durations_of_a_record_follow_its_message() {
        let cases = [
            (r#"","path":"/a","duration_ms":3290}"#, " duration_ms=3290"),
            (
                r#"","took":"1.2s","expected-duration":"100ms"}"#,
                " took=1.2s expected-duration=100ms",
            ),
            (
                r#"" status=200 elapsed=3.2s latency="12ms""#,
                " elapsed=3.2s latency=12ms",
            ),
            (r#"","elapsed": null, "status":200}"#, ""),
            (r#"{"time":"2024-05-01T12:00:00Z","level":"info"}"#, ""),
        ];
        for (record, expected) in cases {
            assert_eq!(appended(record), expected, "{record}");
        }
    }
}
