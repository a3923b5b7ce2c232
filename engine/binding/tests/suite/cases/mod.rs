//! The cases of `wakers.rs`, by kind of waker.

mod fifos;
mod kin;
mod locks;
mod signals;
mod sockets;
mod streams;
mod watches;

/// A capture and the wakers of its long calls.
pub struct Case {
    /// The claim.
    pub name: &'static str,
    /// Its lines: thread, second of a minute, call.
    pub lines: &'static str,
    /// The long calls in the order of their lines, each with its waker.
    pub ends: &'static [&'static str],
}

/// All cases.
pub const CASES: &[&[Case]] = &[
    fifos::CASES,
    kin::CASES,
    locks::CASES,
    signals::CASES,
    sockets::CASES,
    streams::CASES,
    watches::CASES,
];
