//! How finely the stamps of a capture place its events.

use crate::store::heuristics::{COARSE_TICK_NS, PLACED_TICK_NS};
use parsers::{CaptureFacts, Clock, DurKind, StampMoment};

/// Whether stamps are too coarse to place calls, while durations are exact (`strace -t -T`).
pub fn is_coarse(facts: &CaptureFacts) -> bool {
    let has_stamps =
        !matches!(facts.clock, Clock::None | Clock::PerThread) && facts.stamp == StampMoment::Start;
    has_stamps
        && facts.tick_ns >= COARSE_TICK_NS
        && facts.has_durations
        && facts.dur_kind == DurKind::Exact
}

/// The resolution with which events of a capture are placed; `is_merged` if their order across files is inferred from stamps.
pub fn placed_tick_ns(facts: &CaptureFacts, is_merged: bool) -> i64 {
    if is_coarse(facts) && !is_merged {
        PLACED_TICK_NS
    } else {
        facts.tick_ns.max(1)
    }
}
