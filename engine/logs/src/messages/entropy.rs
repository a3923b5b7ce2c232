//! Messages about the kernel's generator of random numbers: those of a lack, and the one that ends it.
//!
//! ```text
//! random: sshd: uninitialized urandom read     not ready: programs may wait
//! usb 1-1: new device                          unrelated
//! random: crng init done                       ready: programs that waited continue
//! ```

/// What a message states about the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entropy {
    /// It is not ready, or a program feeds it.
    Lacks,
    /// From now on, it serves everything.
    Ready,
}

/// Words of messages about the generator.
const SUBJECTS: &[&str] = &[
    "entropy",
    "urandom read",
    "crng",
    "random seed",
    "random-seed",
    "random.seed",
];
/// Words of messages that a generator is ready for everything. `fast init done` is not among them.
const READY: &[&str] = &[
    "crng init done",
    "crng done",
    "pool is initialized",
    "pool initialized",
    "crng ready",
];
/// Words of messages that report an end, a statistic or a state other than a lack.
const OTHERS: &[&str] = &[
    "init done",
    "missed",
    "finished",
    "started",
    "stopped",
    "saved",
];

/// What a message states about the generator, if it is about it.
pub fn entropy(message: &str) -> Option<Entropy> {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let is_about = message.starts_with("random: ") || has(SUBJECTS);
    match () {
        () if is_about && has(READY) => Some(Entropy::Ready),
        () if is_about && !has(OTHERS) => Some(Entropy::Lacks),
        () => None,
    }
}

/// Whether a message shows that work goes on: it is not one of the generator itself. `Finished Load/Save Random Seed` is that
/// of a service which had to wait.
pub fn continues(message: &str) -> bool {
    !message.to_lowercase().starts_with("random: ") && entropy(message).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_state_whether_random_numbers_are_ready() {
        let cases = [
            (
                "random: sshd: uninitialized urandom read (32 bytes read)",
                Some(Entropy::Lacks),
            ),
            (
                "haveged: low entropy, filling the pool",
                Some(Entropy::Lacks),
            ),
            (
                "systemd[1]: Starting Load/Save Random Seed...",
                Some(Entropy::Lacks),
            ),
            ("random: crng init done", Some(Entropy::Ready)),
            (
                "random: nonblocking pool is initialized",
                Some(Entropy::Ready),
            ),
            ("random: fast init done", None),
            (
                "random: 7 urandom warning(s) missed due to ratelimiting",
                None,
            ),
            ("systemd[1]: Finished Load/Save Random Seed.", None),
            ("usb 1-1: new high-speed USB device", None),
            ("md: connection pool is initialized", None),
        ];
        for (message, expected) in cases {
            assert_eq!(entropy(message), expected, "{message}");
        }
    }
}
