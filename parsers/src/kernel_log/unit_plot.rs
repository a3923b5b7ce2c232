//! The picture of `systemd-analyze plot`: the text of each unit stands where its bar begins.
//!
//! ```text
//! In:   <text class="left" x="1035.034" y="34.000">web.service (17.176s)</text>
//! Out:  at 10.30034 s, message `web.service (17.176s)`
//! ```
//! Source: systemd draws a second as 100 units, and puts the text 5 units to the right of the beginning, or to the left if the
//! bar begins in the right half of the picture.

use super::stamp::{self, LogPrefix, MessageForm, StampBase};
use super::unit_chain::is_unit;
use crate::scan;
use memchr::memmem;

const UNITS_PER_S: i64 = 100;
/// From the beginning of a bar to its text, in nanoseconds.
const MARGIN_NS: i64 = 5 * 1_000_000_000 / UNITS_PER_S;
/// Digits of a second: units are printed with three, and a hundred are a second.
const DIGITS: usize = 5;
/// Minimum number of units.
const MIN_UNITS: usize = 3;

/// Whether lines are such a picture.
pub(super) fn is_plot<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.any(|line| memmem::find(line, b"<svg ").is_some())
        && lines
            .filter(|line| read(line).is_some())
            .take(MIN_UNITS)
            .count()
            == MIN_UNITS
}

/// The unit of a line, as a message at the moment when its start began.
pub(super) fn read(line: &[u8]) -> Option<LogPrefix<'_>> {
    let rest = scan::skip_blanks(line).strip_prefix(b"<text class=\"")?;
    let (is_left, rest) = match rest.strip_prefix(b"left\" x=\"") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix(b"right\" x=\"")?),
    };
    let (x, _, rest) = scan::seconds(rest)?;
    let start = memchr::memchr(b'>', rest)? + 1;
    let text = rest.get(start..)?;
    let text = text.get(..memmem::find(text, b"</text>")?)?;
    let name = text.split(|&byte| byte == b' ').next()?;
    let margin_ns = if is_left { -MARGIN_NS } else { MARGIN_NS };
    let at_ns = (x / UNITS_PER_S + margin_ns).max(0);
    is_unit(name).then(|| {
        stamp::one(
            StampBase::Boot,
            (at_ns, DIGITS),
            MessageForm::Plain,
            true,
            text,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_begin_beside_their_texts() {
        let found = |line: &str| {
            let prefix = read(line.as_bytes())?;
            let text = String::from_utf8_lossy(prefix.text).into_owned();
            Some((prefix.stamps[0]?.ns / 10_000, text))
        };
        let cases = [
            (
                "  <text class=\"left\" x=\"1035.034\" y=\"34.000\">web.service (17.176s)</text>",
                1_030_034,
                "web.service (17.176s)",
            ),
            (
                "<text class=\"right\" x=\"95.000\" y=\"54\">a.target</text>",
                100_000,
                "a.target",
            ),
        ];
        for (line, at, text) in cases {
            assert_eq!(found(line), Some((at, text.to_owned())), "{line}");
        }
        for line in [
            "<text class=\"left\" x=\"5.000\" y=\"34.000\">userspace</text>",
            "<text x=\"20\" y=\"50\">web.service</text>",
            "<rect class=\"active\" x=\"1.0\" y=\"2.0\" width=\"3.0\" height=\"14.0\" />",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn a_picture_has_several_units() {
        let unit = "<text class=\"left\" x=\"5.0\" y=\"3.0\">a.service (1s)</text>";
        let is_plot = |text: &str| is_plot(text.as_bytes().split(|&byte| byte == b'\n'));
        assert!(is_plot(&format!(
            "<svg width=\"9\">\n{unit}\n{unit}\n{unit}\n</svg>"
        )));
        assert!(!is_plot(&format!("<svg width=\"9\">\n{unit}\n</svg>")));
        assert!(!is_plot(&format!("{unit}\n{unit}\n{unit}")));
    }
}
