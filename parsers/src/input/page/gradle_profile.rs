//! The page of `gradle --profile`: how long each part of the build and each task took.
//!
//! ```text
//! In:   <td class="indentPath">:app:compileJava</td>     Out:  60.500s step :app:compileJava
//!       <td class="numeric">1m0.50s</td>
//! ```
//! The sums of a table are left out where its rows are there: tasks may have run at the same time.
//! Source: `ProfileReportRenderer` of Gradle.

use super::{LogLine, plain};
use crate::scan;
use memchr::memmem;

const TITLE: &[u8] = b"<h1>Profile report</h1>";
const TABLES: &[u8] = b"<h2>Task Execution</h2>";
const TOTAL: &str = "Total Build Time";

pub(super) fn is_page(head: &[u8]) -> bool {
    let has = |text: &[u8]| memmem::find(head, text).is_some();
    has(TITLE) && has(b"<p>Profiled build: ") && has(b"<td>Total Build Time</td>")
}

/// The rows of the summary and of the tasks, in the order of the page.
pub(super) fn log(lines: &[&[u8]]) -> Vec<LogLine> {
    let tables = lines
        .iter()
        .position(|line| memmem::find(line, TABLES).is_some());
    let (mut found, mut name) = (Vec::new(), None);
    for (at, line) in lines.iter().enumerate() {
        let is_tasks = tables.is_some_and(|tables| at > tables);
        for cell in cells(line) {
            match (cell, &name) {
                (Cell::Name { text, is_part }, _) if is_part || !is_tasks => {
                    name = Some(plain(text))
                }
                (Cell::Number(text), Some(name)) => found.extend(row(at, name, text)),
                (Cell::Name { .. }, _) => name = None,
                (Cell::Number(_), None) => {}
            }
        }
        if memmem::find(line, b"</table>").is_some() && !is_tasks {
            name = None;
        }
    }
    found
}

fn row(at: usize, name: &str, text: &[u8]) -> Option<LogLine> {
    const SUMS: [&str; 5] = [
        "Task Execution",
        "All projects",
        "All dependencies",
        "All transforms",
        "All artifact transforms",
    ];
    let ms = duration_ms(text)?;
    let took = format!("{}.{:03}s", ms / 1000, ms % 1000);
    let text = match name {
        TOTAL => format!("Finished build in {took}"),
        name => format!("{took} step {}", name.replace(' ', "-")),
    };
    (ms > 0 && !SUMS.contains(&name)).then_some(LogLine { at, text })
}

enum Cell<'a> {
    Name { text: &'a [u8], is_part: bool },
    Number(&'a [u8]),
}

/// The cells of a line. Other columns of a row have texts too; they follow its number and name nothing.
fn cells(line: &[u8]) -> Vec<Cell<'_>> {
    let (mut found, mut rest) = (Vec::new(), line);
    while let Some(begin) = memmem::find(rest, b"<td") {
        let tag = &rest[begin..];
        let Some(open) = memchr::memchr(b'>', tag) else {
            break;
        };
        let inner = &tag[open + 1..];
        let Some(close) = memmem::find(inner, b"</td>") else {
            break;
        };
        let text = &inner[..close];
        let is_part = memmem::find(&tag[..open], b"indentPath").is_some();
        found.push(match duration_ms(text) {
            Some(_) => Cell::Number(text),
            None => Cell::Name { text, is_part },
        });
        rest = &inner[close..];
    }
    found
}

/// `1h2m3.00s`, `0.700s`, `0s`
fn duration_ms(text: &[u8]) -> Option<i64> {
    let (mut rest, mut total_ms) = (scan::trim(text), 0i64);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (ns, _, unit) = scan::seconds(rest)?;
        let (times, next) = match unit {
            [b'd', next @ ..] => (86_400, next),
            [b'h', next @ ..] => (3_600, next),
            [b'm', next @ ..] => (60, next),
            [b's', next @ ..] => (1, next),
            _ => return None,
        };
        total_ms = total_ms.checked_add((ns / 1_000_000).checked_mul(times)?)?;
        rest = next;
    }
    Some(total_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(page: &str) -> Vec<String> {
        let lines: Vec<&[u8]> = page.as_bytes().split(|&byte| byte == b'\n').collect();
        log(&lines).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn tasks_and_parts_of_the_build_are_steps() {
        let page = "<h1>Profile report</h1>\n<p>Profiled build: assemble</p>\n<tr>\n<td>Total Build Time</td>\n\
                    <td class=\"numeric\">15m30.00s</td>\n</tr>\n<tr><td>Startup</td><td class=\"numeric\">0.700s</td></tr>\n\
                    <tr><td>Task Execution</td><td class=\"numeric\">6m30.00s</td></tr>\n</table>\n<h2>Task Execution</h2>\n\
                    <tr>\n<td>b</td>\n<td class=\"numeric\">4m30.00s</td>\n<td>(total)</td>\n</tr>\n<tr>\n\
                    <td class=\"indentPath\">b:merge&lt;x&gt;</td>\n<td class=\"numeric\">2m30.50s</td>\n<td>UP-TO-DATE</td>\n</tr>";
        assert!(is_page(page.as_bytes()));
        assert_eq!(
            log_of(page),
            [
                "Finished build in 930.000s",
                "0.700s step Startup",
                "150.500s step b:merge<x>"
            ]
        );
    }

    #[test]
    fn durations_have_any_number_of_units() {
        let cases = [
            ("1h2m3.00s", Some(3_723_000)),
            ("0s", Some(0)),
            ("", None),
            ("12", None),
            ("UP-TO-DATE", None),
        ];
        for (text, ms) in cases {
            assert_eq!(duration_ms(text.as_bytes()), ms, "{text}");
        }
    }
}
