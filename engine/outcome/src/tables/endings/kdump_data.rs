//! What a call moved, as kdump prints it: in a record of its own, below that of the call.
//!
//! ```text
//!   577 app      CALL  write(0x2,0x7fffffd000,0x13)
//!   577 app      GIO   fd 2 wrote 19 bytes
//!        "cannot open
//!         its key
//!        "
//!   577 app      RET   write 19/0x13
//! ```

use super::lines_at;
use kit::table_support::context::TableContext;
use trace::store::recent_lines::LinePlace;

/// Lines below that of a call in which its data is searched. Other processes may have records in between.
const MAX_LINES: u32 = 16;

/// The data of each of these calls; `None` for a call without, and for those of other formats.
pub(super) fn of_calls(context: &TableContext<'_>, rows: &[u32]) -> Vec<Option<String>> {
    let (trace, events) = (context.trace, &context.trace.events);
    let is_kdump = |row: u32| {
        let task = events.task(row);
        let capture = trace.captures.get(trace.tasks[task].capture as usize);
        capture.is_some_and(|capture| capture.format == "kdump")
    };
    let Some(&first) = rows.first() else {
        return Vec::new();
    };
    if !is_kdump(first) {
        return vec![None; rows.len()];
    }
    let below = |row: u32| {
        let (file, line) = (events.event(row).file, events.line(row));
        (line..=line.saturating_add(MAX_LINES)).map(move |line| LinePlace { file, line })
    };
    let places: Vec<LinePlace> = rows.iter().flat_map(|&row| below(row)).collect();
    let lines = lines_at(context, &places);
    lines.chunks(MAX_LINES as usize + 1).map(data).collect()
}

/// The data of the call in the first line.
fn data(lines: &[String]) -> Option<String> {
    let (call, below) = lines.split_first()?;
    let owner = call.split_once(" CALL ")?.0.split_whitespace().next()?;
    let is_own = |line: &&String| line.split_whitespace().next() == Some(owner);
    let head = below
        .iter()
        .position(|line| is_own(&line) && is_record(line))?;
    if !below[head].contains(" GIO ") {
        return None;
    }
    let printed: Vec<&str> = below[head + 1..]
        .iter()
        .take_while(|line| !is_record(line))
        .map(|line| without_indent(line))
        .collect();
    let text = printed.join("\n");
    let text = text.strip_prefix('"')?;
    Some(text.strip_suffix('"').unwrap_or(text).to_owned())
}

/// Whether a line is a record: a process id, its program, and the kind of the record.
fn is_record(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let has_id = words
        .next()
        .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    !line.starts_with("       ") && !line.starts_with('\t') && has_id
}

/// Data is indented by a tab, or by seven or eight blanks.
fn without_indent(line: &str) -> &str {
    line.strip_prefix('\t')
        .or_else(|| line.strip_prefix("       "))
        .unwrap_or(line)
        .trim_start_matches(' ')
}

#[cfg(test)]
mod tests {
    use super::data;

    #[test]
    fn data_is_that_of_the_call_above() {
        let cases = [
            (
                "  5 app CALL  write(0x2,0x7f,0x9)\n  5 app GIO   fd 2 wrote 9 bytes\n       \"no key\n       \"\n  5 app RET   write 9",
                Some("no key\n"),
            ),
            (
                "5 app CALL  write(2,0x7f,9)\n6 sh CALL  getpid\n5 app GIO   fd 2 wrote 9 bytes\n\t\"a\n\t b\"\n5 app RET write 9",
                Some("a\nb"),
            ),
            (
                "5 app CALL  write(2,0x7f,9)\n5 app RET   write 9\n5 app GIO fd 3 read 1 bytes\n       \"x\"",
                None,
            ),
            ("5 app CALL  write(2,0x7f,9)", None),
        ];
        for (lines, expected) in cases {
            let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
            assert_eq!(data(&lines).as_deref(), expected, "{lines:?}");
        }
    }
}
