//! Files from which a server reads the requests of its clients. A read there waits as idly as an accept does.

/// A file that brings requests.
struct RequestSource {
    /// How its name starts, as tracers print it.
    name: &'static [u8],
    /// Where its meaning is documented.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers and tests"))]
    source: &'static str,
}

const SOURCES: &[RequestSource] = &[
    RequestSource {
        name: b"/dev/fuse",
        source: "fuse(4): each read returns a request of the kernel to the file system",
    },
    RequestSource {
        name: b"/dev/cuse",
        source: "libfuse, cuse_lowlevel.h: the same for character devices",
    },
    RequestSource {
        name: b"anon_inode:[fanotify]",
        source: "fanotify(7): a read returns accesses that wait for permission",
    },
    RequestSource {
        name: b"anon_inode:[userfaultfd]",
        source: "ioctl_userfaultfd(2): a read returns a fault that a thread waits for",
    },
];

/// Whether a target brings requests.
pub fn brings_requests(target: &[u8]) -> bool {
    SOURCES.iter().any(|source| target.starts_with(source.name))
}

/// Whether a target brings requests and takes the answers to them.
pub fn takes_answers(target: &[u8]) -> bool {
    target.starts_with(b"/dev/") && brings_requests(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_source_is_documented() {
        let is_documented = |source: &RequestSource| source.source.contains(": ");
        assert!(SOURCES.iter().all(is_documented));
        assert!(brings_requests(b"/dev/fuse") && !brings_requests(b"/dev/zfs"));
        assert!(takes_answers(b"/dev/fuse") && !takes_answers(b"anon_inode:[fanotify]"));
    }
}
