//! Names of temporary files and directories: libraries generate a part of them, which differs in each run.
//!
//! In a directory of temporary files, any part that looks generated is one. Elsewhere the name must have the form of a
//! library (`parsers::random_name`):
//!
//! ```text
//! tmpk3j2_x9a   .tmpZ8jrmD   tmp.Xa81kQ0b2c   tmp_obj_4fQz1B   settings.json.K7ZB41
//! tmpR          .tmpR        tmp.R            tmp_obj_R        settings.json.R
//! ```

use std::ops::Range;

use parsers::random_name::{
    BEFORE_RANDOM, TEMPORARY, TMP, appended, is_python_random, is_random, marked,
};

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
        .or_else(|| in_any_directory(path))?;
    Some([&path[..random.start], b"R", &path[random.end..]].concat())
}

/// The random part of the first name after a directory of temporary files.
fn in_temporary_directory(path: &[u8], at: usize) -> Option<Range<usize>> {
    let name = path[at..].split(|&byte| byte == b'/').next()?;
    Some(moved(random_part(name)?, at))
}

/// The generated part of the first name that begins as one of a library, or the one at the end of the last name.
fn in_any_directory(path: &[u8]) -> Option<Range<usize>> {
    let (mut start, mut last) = (0, (0, path));
    for name in path.split(|&byte| byte == b'/') {
        if let Some(random) = marked(name) {
            return Some(moved(random, start));
        }
        last = (start, name);
        start += name.len() + 1;
    }
    Some(moved(appended(last.1)?, last.0))
}

fn moved(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

fn random_part(name: &[u8]) -> Option<Range<usize>> {
    if name.strip_prefix(TMP).is_some_and(is_python_random) {
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
