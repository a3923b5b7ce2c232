//! Pages that build tools write about the time of a build, as the lines of a log.
//!
//! A page has its data in several lines per part of the build. They become one line, at the place of the first of them; all
//! other lines become blank ones, so that each keeps its number.

mod cargo_timings;
mod gradle_profile;

/// Longer pages are read as they are.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// Whether a text that begins like this is such a page.
pub(super) fn is_page(head: &[u8]) -> bool {
    cargo_timings::is_page(head) || gradle_profile::is_page(head)
}

/// The lines of a log with what the page states; `None` if it is not such a page, or states nothing.
pub(super) fn log_of(text: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let found = if cargo_timings::is_page(text) {
        cargo_timings::log(&lines)
    } else if gradle_profile::is_page(text) {
        gradle_profile::log(&lines)
    } else {
        Vec::new()
    };
    (!found.is_empty()).then(|| placed(found, lines.len()))
}

/// A line of a log, and the number of the line of the page in whose place it stands, from 0.
struct LogLine {
    at: usize,
    text: String,
}

/// The lines in their places. A second one of a place moves down.
fn placed(mut found: Vec<LogLine>, lines: usize) -> Vec<u8> {
    found.sort_by_key(|line| line.at);
    let (mut out, mut number) = (Vec::new(), 0);
    for line in found {
        while number < line.at {
            out.push(b'\n');
            number += 1;
        }
        out.extend_from_slice(line.text.as_bytes());
        out.push(b'\n');
        number += 1;
    }
    out.resize(out.len() + lines.saturating_sub(number + 1), b'\n');
    out
}

/// A text of a page without its entities, blanks as one, and nothing that could not stand in a line of a log.
fn plain(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text)
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers() {
        let line = |at, text: &str| LogLine {
            at,
            text: text.to_owned(),
        };
        let text = placed(vec![line(3, "b"), line(1, "a"), line(1, "c")], 6);
        assert_eq!(text, b"\na\nc\nb\n\n");
        assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count(), 5);
    }

    #[test]
    fn other_texts_are_no_pages() {
        for text in [
            "",
            "<h1>Profile report</h1>",
            "read(3, \"<h1>Cargo Build Timings</h1>\", 9) = 9",
        ] {
            assert_eq!(log_of(text.as_bytes()), None, "{text}");
        }
    }
}
