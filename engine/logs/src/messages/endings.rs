//! What a message that ends a silence says about it.
//!
//! ```text
//! backup.service: Consumed 3 s CPU │ 90 s │ web.service: State 'stop-sigterm' timed out. Killing.    a limit was reached
//! Added a path                     │  6 s │ Failed to generate info for Maps                         an attempt failed
//! ata1: configured                 │ 20 min │ ata1: wake up from deepsleep                           nothing was to be done
//! ```
//! The program that logged before the silence has nothing to do with the first two.

use trace::store::heuristics::{
    BACKGROUND_PHRASES, FAILURE_PHRASES, FOREIGN_FAILURES, IDLE_PHRASES, LISTENING, OUTAGE_PHRASES,
    REST_PHRASES, SPREAD_PHRASES, WAIT_PHRASES,
};

/// What ended a silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A wait without success: a limit was reached, or it goes on.
    Wait,
    /// Something failed.
    Failure,
    /// The machine or the device rested: nothing waited.
    Rest,
}

/// What a message that ends a silence says about it, if anything.
pub fn ending(message: &str) -> Option<Ending> {
    let message = message.to_lowercase();
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| contains(&message, phrase));
    // An outage begins with its message: a silence before it may have nothing to do with it.
    let is_outage = || {
        OUTAGE_PHRASES
            .iter()
            .any(|(phrase, _)| contains(&message, phrase))
    };
    match () {
        () if has(REST_PHRASES) => Some(Ending::Rest),
        () if has(WAIT_PHRASES) && !is_outage() => Some(Ending::Wait),
        () if has(FOREIGN_FAILURES) => None,
        () if has(FAILURE_PHRASES) || is_outage() => Some(Ending::Failure),
        () => None,
    }
}

/// Whether a text contains a phrase that begins a word.
fn contains(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase)
        .any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
}

/// Whether a message says that its program has nothing to do until something arrives from outside.
pub fn is_idle(message: &str) -> bool {
    says(message, IDLE_PHRASES)
}

/// Whether a message says that its program has started, and has nothing to do until something arrives.
pub fn is_ready(message: &str) -> bool {
    is_idle(message) && !says(message, &[LISTENING])
}

/// Whether a message is about work that is spread over a time on purpose.
pub fn is_spread(message: &str) -> bool {
    says(message, SPREAD_PHRASES)
}

/// Whether a message is about work beside the job, which a timer starts and nothing waits for.
pub fn is_background(message: &str) -> bool {
    says(message, BACKGROUND_PHRASES)
}

fn says(message: &str, phrases: &[&str]) -> bool {
    let message = message.to_lowercase();
    phrases.iter().any(|phrase| contains(&message, phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_ended_a_silence() {
        let cases = [
            (
                "systemd[1]: web.service: State 'stop-sigterm' timed out. Killing.",
                Some(Ending::Wait),
            ),
            (
                "systemd[1]: session-3.scope: Stopping timed out. Killing.",
                Some(Ending::Wait),
            ),
            ("containerd[71]: Kill container \"5ef\"", Some(Ending::Wait)),
            ("containerd[71]: container killed on request", None),
            (
                "initqueue: timeout, still waiting for following hooks:",
                Some(Ending::Wait),
            ),
            ("connect: ETIMEDOUT 10.0.0.7:5432", Some(Ending::Wait)),
            (
                "nfs: server depot not responding, still trying",
                Some(Ending::Failure),
            ),
            (
                "ata1: link is slow to respond, please be patient",
                Some(Ending::Wait),
            ),
            ("ata1: COMRESET failed (errno=-16)", Some(Ending::Failure)),
            ("could not resolve host", Some(Ending::Failure)),
            (
                "ata1: wake up from deepsleep, reset link now",
                Some(Ending::Rest),
            ),
            ("PM: suspend exit", Some(Ending::Rest)),
            ("sshd[12]: Failed password for root from 10.0.0.7", None),
            ("12 passed, 0 failed", None),
            ("connect timeout is 30 s", None),
            ("timeout=30", None),
            ("Stopped Foo.", None),
        ];
        for (message, expected) in cases {
            assert_eq!(ending(message), expected, "{message}");
        }
    }

    #[test]
    fn servers_say_that_they_wait_for_others() {
        assert!(is_idle("mysqld: ready for connections."));
        assert!(is_idle("Listening on port 80"));
        assert!(!is_idle("Waiting for device /dev/sda1"));
    }
}
