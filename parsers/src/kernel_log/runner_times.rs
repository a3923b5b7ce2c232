//! Times that runners print of their tasks, modules and tests, without a time of the day.
//!
//! ```text
//! install packages ------------------------------------ 198.22s    Ansible, callback profile_tasks
//! [INFO] core ................................. SUCCESS [ 12.345 s]  Maven's reactor; above a minute [01:12 min]
//!  3/12 Test  #3: storage ..........   Passed   12.30 sec            CTest
//! ok      example.org/store  12.345s                                 go test; --- FAIL: TestRetry (30.01s)
//! aws_instance.db: Creation complete after 3m12s [id=i-1]            Terraform
//! PASS src/store.test.js (12.3 s)                                    Jest
//! INFO: Elapsed time: 312.101s, Critical Path: 88.20s                Bazel
//! ```

use super::tool_times::{ToolTime, clock_ms};
use crate::scan;
use memchr::memmem;
use std::borrow::Cow;

/// Least number of dots or dashes that lead from a name to its time.
const MIN_LEADERS: usize = 3;

/// Read a line that states a time. No other line has one of these forms.
pub(super) fn read(text: &[u8]) -> Option<ToolTime<'_>> {
    ansible(text)
        .or_else(|| maven(text))
        .or_else(|| ctest(text))
        .or_else(|| go_test(text))
        .or_else(|| terraform(text))
        .or_else(|| jest(text))
        .or_else(|| bazel(text))
}

/// `install packages ------ 198.22s`
fn ansible(text: &[u8]) -> Option<ToolTime<'_>> {
    let (before, time) = last_word(text)?;
    let ms = seconds_ms(time.strip_suffix(b"s")?)?;
    Some((Cow::Borrowed(without_leaders(before, b'-')?), ms))
}

/// `[INFO] core ........ SUCCESS [ 12.345 s]`, `FAILURE [01:12 min]`
fn maven(text: &[u8]) -> Option<ToolTime<'_>> {
    let text = text.strip_prefix(b"[INFO] ").unwrap_or(text);
    let (before, time) = split_at_last(text.strip_suffix(b"]")?, b" [")?;
    let is_failed = before.ends_with(b" FAILURE");
    let before = before
        .strip_suffix(b" SUCCESS")
        .or_else(|| before.strip_suffix(b" FAILURE"))?;
    let (value, unit) = last_word(scan::trim(time))?;
    let ms = match unit {
        b"s" => seconds_ms(value)?,
        b"min" => clock_ms(value)?,
        b"h" => clock_ms(value)?.checked_mul(60)?,
        _ => return None,
    };
    Some((named(without_leaders(before, b'.')?, is_failed), ms))
}

/// ` 3/12 Test  #3: storage ......   Passed   12.30 sec`
fn ctest(text: &[u8]) -> Option<ToolTime<'_>> {
    let at = memmem::find(text, b" Test ")?;
    let (_, rest) = scan::number(text)?;
    rest.starts_with(b"/").then_some(())?;
    let test = text.get(at..)?;
    let name = test.get(memmem::find(test, b": ")? + 2..)?;
    let (_, value) = last_word(name.strip_suffix(b" sec")?)?;
    let is_failed = memmem::find(name, b"***").is_some();
    let name = name.split(|&byte| byte == b' ').next()?;
    Some((named(name, is_failed), seconds_ms(value)?))
}

/// `ok  \texample.org/store\t12.345s`, `--- FAIL: TestRetry (30.01s)`
fn go_test(text: &[u8]) -> Option<ToolTime<'_>> {
    if let Some(rest) = text.strip_prefix(b"--- ") {
        let (result, test) = split_at_last(rest.strip_suffix(b"s)")?, b": ")?;
        let (name, value) = split_at_last(test, b" (")?;
        let is_result = matches!(result, b"PASS" | b"FAIL" | b"SKIP");
        return is_result.then_some((named(name, result == b"FAIL"), seconds_ms(value)?));
    }
    let rest = text
        .strip_prefix(b"ok")
        .or_else(|| text.strip_prefix(b"FAIL"))?;
    let mut fields = rest
        .split(|&byte| byte == b'\t')
        .filter(|field| !scan::trim(field).is_empty());
    let (name, time) = (fields.next()?, fields.next()?);
    let ms = seconds_ms(time.strip_suffix(b"s")?)?;
    let is_result = rest.starts_with(b" ") || rest.starts_with(b"\t");
    let is_failed = text.starts_with(b"FAIL");
    is_result.then(|| (named(scan::trim(name), is_failed), ms))
}

/// `aws_instance.db: Creation complete after 3m12s [id=i-1]`
fn terraform(text: &[u8]) -> Option<ToolTime<'_>> {
    let (name, rest) = text.split_at(memmem::find(text, b": ")?);
    let at = memmem::find(rest, b" complete after ")?;
    let what = rest.get(2..at)?;
    let is_known = matches!(
        what,
        b"Creation" | b"Destruction" | b"Modifications" | b"Read" | b"Refresh"
    );
    let time = rest
        .get(at + 16..)?
        .split(|&byte| byte == b' ')
        .next()
        .filter(|_| is_known)?;
    Some((Cow::Borrowed(name), words_ms(time)?))
}

/// `PASS src/store.test.js (12.3 s)`
fn jest(text: &[u8]) -> Option<ToolTime<'_>> {
    let rest = text
        .strip_prefix(b"PASS ")
        .or_else(|| text.strip_prefix(b"FAIL "))?;
    let (name, value) = split_at_last(rest.strip_suffix(b" s)")?, b" (")?;
    let is_failed = text.starts_with(b"FAIL");
    Some((named(scan::trim(name), is_failed), seconds_ms(value)?))
}

/// `INFO: Elapsed time: 312.101s, Critical Path: 88.20s`
fn bazel(text: &[u8]) -> Option<ToolTime<'_>> {
    let rest = text.strip_prefix(b"INFO: Elapsed time: ")?;
    let value = rest.split(|&byte| byte == b',').next()?;
    Some((
        Cow::Borrowed(b"the build"),
        seconds_ms(value.strip_suffix(b"s")?)?,
    ))
}

fn named(name: &[u8], is_failed: bool) -> Cow<'_, [u8]> {
    match is_failed {
        true => Cow::Owned([name, b" (failed)"].concat()),
        false => Cow::Borrowed(name),
    }
}

/// The text before the last blank, and the word behind it.
fn last_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memrchr(b' ', text)?;
    Some((scan::trim_end(text.get(..at)?), text.get(at + 1..)?))
}

fn split_at_last<'a>(text: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = memmem::rfind(text, mark)?;
    Some((text.get(..at)?, text.get(at + mark.len()..)?))
}

/// A name without the row of dots or dashes behind it.
fn without_leaders(text: &[u8], leader: u8) -> Option<&[u8]> {
    let end = text.iter().rposition(|&byte| byte != leader)? + 1;
    let name = scan::trim(text.get(..end)?);
    let has_row = text.len() - end >= MIN_LEADERS && text.get(end - 1) == Some(&b' ');
    (has_row && !name.is_empty()).then_some(name)
}

fn seconds_ms(text: &[u8]) -> Option<i64> {
    let (ns, _, rest) = scan::seconds(text)?;
    rest.is_empty().then_some(ns / 1_000_000)
}

/// `3m12s`, `1h2m3s`, `41s`
fn words_ms(text: &[u8]) -> Option<i64> {
    let (mut total, mut rest) = (0i64, text);
    while !rest.is_empty() {
        let (value, unit) = scan::number(rest)?;
        let factor = match unit.first()? {
            b'h' => 3_600_000,
            b'm' => 60_000,
            b's' => 1_000,
            _ => return None,
        };
        total = total.checked_add(value.checked_mul(factor)?)?;
        rest = unit.get(1..)?;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_runners_are_read() {
        let cases = [
            (
                "install packages ------ 198.22s",
                ("install packages", 198_220),
            ),
            ("[INFO] core ....... SUCCESS [ 12.345 s]", ("core", 12_345)),
            (
                "[INFO] api ........ FAILURE [01:12 min]",
                ("api (failed)", 72_000),
            ),
            (
                " 3/12 Test  #3: storage ......   Passed   12.30 sec",
                ("storage", 12_300),
            ),
            (
                "4/12 Test #4: net .....***Timeout  60.01 sec",
                ("net (failed)", 60_010),
            ),
            (
                "ok  \texample.org/store\t12.345s",
                ("example.org/store", 12_345),
            ),
            (
                "FAIL\texample.org/store\t2.5s",
                ("example.org/store (failed)", 2_500),
            ),
            (
                "--- FAIL: TestRetry (30.01s)",
                ("TestRetry (failed)", 30_010),
            ),
            (
                "aws_instance.db: Creation complete after 3m12s [id=i-1]",
                ("aws_instance.db", 192_000),
            ),
            (
                "PASS src/store.test.js (12.3 s)",
                ("src/store.test.js", 12_300),
            ),
            (
                "INFO: Elapsed time: 312.101s, Critical Path: 88.20s",
                ("the build", 312_101),
            ),
        ];
        for (line, (name, ms)) in cases {
            let found = read(scan::trim(line.as_bytes()));
            assert_eq!(found, Some((Cow::Borrowed(name.as_bytes()), ms)), "{line}");
        }
        let others = [
            "a - 3s",
            "--- 12s",
            "ok then 12s",
            "PASS (12 s)x",
            "x: complete after 3m [",
            "close(3) ................ = 0",
            "[INFO] SUCCESS [ 1 s]",
            "1/2 Test",
        ];
        for line in others {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
    }
}
