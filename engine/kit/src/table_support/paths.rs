//! Lookup results and parts of paths, shared by the tables about paths.

use crate::table_support::context::TableContext;
use parsers::Outcome;
use trace::store::event::Shape;
use trace::store::paths;

/// The result of a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The path exists.
    Found,
    /// The path does not exist.
    Missing,
    /// The call tells neither.
    Other,
}

/// Classifies the result of a call of this shape.
pub fn answer(context: &TableContext<'_>, shape: &Shape) -> Answer {
    match shape.outcome {
        Outcome::Ok | Outcome::NoReturn => Answer::Found,
        Outcome::Failed => match context.trace.events.texts.bytes(shape.errno) {
            b"ENOENT" | b"ENOTDIR" => Answer::Missing,
            // The path exists, but is not a symbolic link.
            b"EINVAL" => Answer::Found,
            _ => Answer::Other,
        },
        _ => Answer::Other,
    }
}

/// Directory and name of a path: `/a/b` → `/a`, `b`; `b` → empty, `b`.
pub fn parts(path: &[u8]) -> (&[u8], &[u8]) {
    let path = if path.len() > 1 {
        path.strip_suffix(b"/").unwrap_or(path)
    } else {
        path
    };
    paths::split(path)
}

/// A name without its extensions: `libc.so.6` → `libc`, `os.py` → `os`, `.git` → `.git`.
pub fn stem(name: &[u8]) -> &[u8] {
    let hidden = usize::from(name.first() == Some(&b'.'));
    let dot = name
        .get(hidden..)
        .and_then(|rest| memchr::memchr(b'.', rest));
    dot.map_or(name, |at| &name[..hidden + at])
}

/// The first extension: `libc.so.6` → `so`.
pub fn ending(name: &[u8]) -> &[u8] {
    let rest = name.get(stem(name).len() + 1..).unwrap_or(b"");
    memchr::memchr(b'.', rest).map_or(rest, |at| &rest[..at])
}

/// Whether `directory` is an ancestor of a path.
pub fn is_above(directory: &[u8], path: &[u8]) -> bool {
    let inside = path.strip_prefix(directory);
    !directory.is_empty()
        && inside.is_some_and(|rest| rest.first() == Some(&b'/') && rest.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_into_directory_stem_and_ending() {
        let cases: [(&str, &str, &str, &str, &str); 6] = [
            ("/usr/lib/libc.so.6", "/usr/lib", "libc.so.6", "libc", "so"),
            ("/etc", "/", "etc", "etc", ""),
            ("/a/b/", "/a", "b", "b", ""),
            ("x.h", "", "x.h", "x", "h"),
            ("/home/u/.git", "/home/u", ".git", ".git", ""),
            ("/", "/", "", "", ""),
        ];
        for (path, directory, name, short, end) in cases {
            assert_eq!(
                parts(path.as_bytes()),
                (directory.as_bytes(), name.as_bytes()),
                "{path}"
            );
            assert_eq!(
                (stem(name.as_bytes()), ending(name.as_bytes())),
                (short.as_bytes(), end.as_bytes()),
                "{path}"
            );
        }
        assert!(is_above(b"/a", b"/a/b") && !is_above(b"/a", b"/ab") && !is_above(b"/a/b", b"/a"));
    }
}
