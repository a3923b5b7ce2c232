//! Names of temporary files and directories: libraries generate a part of them, which differs in each run.
//!
//! In a directory of temporary files, any part that looks generated is one. Elsewhere the name must have the form of a
//! library that makes such names next to the file that it will replace:
//!
//! ```text
//! tmpk3j2_x9a   .tmpZ8jrmD   tmp.Xa81kQ0b2c   tmp_obj_4fQz1B   settings.json.K7ZB41
//! tmpR          .tmpR        tmp.R            tmp_obj_R        settings.json.R
//! ```

use std::ops::Range;

use memchr::{memmem, memrchr};

use crate::store::heuristics::{MIN_RANDOM_ALTERNATIONS, RANDOM_LENGTHS};

/// Directories of temporary files. Their names differ between runs.
const TEMPORARY: [&[u8]; 5] = [
    b"/tmp/",
    b"/var/tmp/",
    b"/dev/shm/",
    b"/usr/tmp/",
    b"/private/tmp/",
];
const TMP: &[u8] = b"tmp";
/// What precedes the random part of a temporary name without a separator: `tmpfile(3)` and Rust's tempfile, gcc.
const BEFORE_RANDOM: [&[u8]; 2] = [TMP, b"cc"];
/// Random part of a name of Python's tempfile, after `tmp`: lower case, digits, underscores.
const PYTHON_RANDOM_LENGTH: usize = 8;
/// Characters that `mkstemp(3)` replaces. GLib, Qt and rsync append them to the name of the file that they replace.
const MKSTEMP_RANDOM_LENGTH: usize = 6;

/// `/tmp/tmp.Xa81kQ/log` → `/tmp/tmp.R/log`: a path without the random parts of the names of temporary files and
/// directories; `None` if it has none.
pub fn without_random_name(path: &[u8]) -> Option<Vec<u8>> {
    let mut found = with_placeholder(path)?;
    while let Some(shorter) = with_placeholder(&found) {
        found = shorter;
    }
    Some(found)
}

fn with_placeholder(path: &[u8]) -> Option<Vec<u8>> {
    let random = TEMPORARY
        .iter()
        .find(|directory| path.starts_with(directory))
        .and_then(|directory| in_temporary_directory(path, directory.len()))
        .or_else(|| marked(path))
        .or_else(|| appended(path))?;
    Some([&path[..random.start], b"R", &path[random.end..]].concat())
}

/// The random part of the first name after a directory of temporary files.
fn in_temporary_directory(path: &[u8], at: usize) -> Option<Range<usize>> {
    let name = &path[at..component_end(path, at)];
    let random = random_part(name)?;
    Some(at + random.start..at + random.end)
}

fn component_end(path: &[u8], at: usize) -> usize {
    let rest = &path[at..];
    at + rest
        .iter()
        .position(|&byte| byte == b'/')
        .unwrap_or(rest.len())
}

fn random_part(name: &[u8]) -> Option<Range<usize>> {
    if name
        .strip_prefix(TMP)
        .is_some_and(|rest| rest.len() == PYTHON_RANDOM_LENGTH && rest.iter().all(is_of_python))
    {
        return Some(TMP.len()..name.len());
    }
    let mut start = 0;
    for word in name.split(|byte| !byte.is_ascii_alphanumeric()) {
        let end = start + word.len();
        let before = BEFORE_RANDOM
            .iter()
            .find(|before| word.starts_with(before))
            .map_or(0, |before| before.len());
        if is_random(&word[before..]) {
            return Some(start + before..end);
        }
        start = end + 1;
    }
    None
}

/// The random part of the first name that begins with `tmp` or `.tmp`, in any directory.
///
/// People also choose such names (`tmpfiles.d`, `tmpwatch12`, `tmpDataFile`), so words and words with a number stay.
fn marked(path: &[u8]) -> Option<Range<usize>> {
    memmem::find_iter(path, TMP).find_map(|at| {
        let name_start = match path[..at] {
            [.., b'.'] => at - 1,
            _ => at,
        };
        if name_start > 0 && path[name_start - 1] != b'/' {
            return None;
        }
        random_after_tmp(path, at + TMP.len())
    })
}

fn random_after_tmp(path: &[u8], start: usize) -> Option<Range<usize>> {
    let name = &path[start..component_end(path, start)];
    let stem = name
        .iter()
        .position(|byte| !is_of_python(byte))
        .unwrap_or(name.len());
    if stem == PYTHON_RANDOM_LENGTH
        && matches!(name.get(stem), None | Some(b'.'))
        && has_inner_digit(&name[..stem])
    {
        return Some(start..start + stem);
    }
    let word_start = memrchr(b'.', name)
        .max(memrchr(b'_', name))
        .max(memrchr(b'-', name))
        .map_or(0, |separator| separator + 1);
    is_generated(&name[word_start..]).then_some(start + word_start..start + name.len())
}

/// The six characters that are appended to the last name of a path: `settings.json.K7ZB41`.
fn appended(path: &[u8]) -> Option<Range<usize>> {
    let start = path.len().checked_sub(MKSTEMP_RANDOM_LENGTH)?;
    let is_suffix = start > 1 && matches!(path[start - 1], b'.' | b'-') && path[start - 2] != b'/';
    // The dash is that of `.goutputstream-K7ZB41`. After others, people write versions and names of builds.
    let is_known = path[start.saturating_sub(1)] == b'.' || path[..start].ends_with(b"stream-");
    let word = &path[start..];
    (is_suffix && is_known && word.iter().any(u8::is_ascii_digit) && is_generated(word))
        .then_some(start..path.len())
}

fn is_of_python(byte: &u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_'
}

/// Whether a digit is followed by another character. A word with a number has its digits at the end.
fn has_inner_digit(word: &[u8]) -> bool {
    let number = word.iter().rev().take_while(|byte| byte.is_ascii_digit());
    word[..word.len() - number.count()]
        .iter()
        .any(u8::is_ascii_digit)
}

/// Whether a word looks random, and not like a name in camel case.
fn is_generated(word: &[u8]) -> bool {
    let is_number = |byte: &u8| byte.is_ascii_digit();
    let letters = word.len() - word.iter().rev().take_while(|byte| is_number(byte)).count();
    let is_camel_case = word[..letters].iter().all(u8::is_ascii_alphabetic)
        && word[..letters]
            .windows(2)
            .all(|pair| pair.iter().any(u8::is_ascii_lowercase));
    is_random(word) && !is_camel_case
}

fn is_random(word: &[u8]) -> bool {
    let kind = |byte: &u8| (byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let alternations = word
        .windows(2)
        .filter(|pair| kind(&pair[0]) != kind(&pair[1]))
        .count();
    RANDOM_LENGTHS.contains(&word.len())
        && alternations >= MIN_RANDOM_ALTERNATIONS
        && word.iter().all(u8::is_ascii_alphanumeric)
        && word.iter().any(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(path: &str) -> String {
        let found = without_random_name(path.as_bytes()).unwrap_or_else(|| path.into());
        String::from_utf8_lossy(&found).into_owned()
    }

    #[test]
    fn names_of_libraries_lose_their_random_part() {
        let cases = [
            ("/tmp/tmp.Xa81kQ", "/tmp/tmp.R"),
            ("/tmp/tmpnoxfsehm", "/tmp/tmpR"),
            ("/tmp/tmpnoxfsehm/v/.tmp2ABePN", "/tmp/tmpR/v/.tmpR"),
            ("/home/u/tmp.Xa81kQ0b2c", "/home/u/tmp.R"),
            ("/cache/tmp_vc0qalo", "/cache/tmpR"),
            ("tmpo439ucte/log", "tmpR/log"),
            ("/cache/tmphd31lpwv.json", "/cache/tmpR.json"),
            ("venv/.tmp2ABePN", "venv/.tmpR"),
            ("/r/objects/a1/tmp_obj_4fQz1B", "/r/objects/a1/tmp_obj_R"),
            ("/etc/settings.json.K7ZB41", "/etc/settings.json.R"),
            ("/home/u/.goutputstream-K7ZB41", "/home/u/.goutputstream-R"),
            ("/a/tmpfiles.d/tmp.Xa81kQ", "/a/tmpfiles.d/tmp.R"),
        ];
        for (path, expected) in cases {
            assert_eq!(shortened(path), expected);
        }
    }

    #[test]
    fn names_that_people_choose_stay() {
        for path in [
            "/usr/lib/tmpfiles.d/x11.conf",
            "/usr/sbin/tmpwatch12",
            "/srv/tmpversion2",
            "/srv/tmpdatabase",
            "/srv/tmp_storage",
            "/srv/tmpDataFile",
            "/srv/tmpMyFile1",
            "/srv/tmp-backup-2024",
            "/srv/oldtmpk3j2_x9a",
            "/srv/com.example.MyTest",
            "/srv/notes.backup",
            "/srv/app-X11R6a",
            "/srv/.X11R6a",
            "/srv/tmp",
            "K7ZB41",
            "",
        ] {
            assert_eq!(shortened(path), path);
        }
    }
}
