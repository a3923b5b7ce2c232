//! Paths as printed: some relative, some absolute. The directory of a relative path is not always known.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Whether two printed paths may be the same: they are equal, or one is relative and a suffix of the other.
pub fn is_same_path(one: &[u8], other: &[u8]) -> bool {
    let (one, other) = (without_dot(one), without_dot(other));
    let (short, long) = if one.len() <= other.len() {
        (&one, &other)
    } else {
        (&other, &one)
    };
    let is_end = !short.is_empty() && !short.starts_with(b"/") && long.ends_with(short);
    one == other || (is_end && long[..long.len() - short.len()].ends_with(b"/"))
}

fn without_dot(path: &[u8]) -> Vec<u8> {
    path.strip_prefix(b"./").unwrap_or(path).to_vec()
}

/// Directory and name of a path, cut at its last slash. The directory is empty if only a name is printed.
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', path) {
        Some(0) => (&path[..1], &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// A hash of a name.
pub fn hash(name: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::is_same_path;

    #[test]
    fn a_relative_path_is_the_end_of_an_absolute_one() {
        let cases = [
            ("/run/x", "/run/x", true),
            ("x", "/run/x", true),
            ("./x", "/run/x", true),
            ("run/x", "/run/x", true),
            ("/x", "/run/x", false),
            ("x", "/run/ax", false),
            ("", "/run/", false),
        ];
        for (one, other, same) in cases {
            assert_eq!(
                is_same_path(one.as_bytes(), other.as_bytes()),
                same,
                "{one} {other}"
            );
            assert_eq!(
                is_same_path(other.as_bytes(), one.as_bytes()),
                same,
                "{other} {one}"
            );
        }
    }
}
