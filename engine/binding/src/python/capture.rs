//! What a capture is, as Python sees it.

use super::detached;
use crate::session::Session;
use parsers::{Clock, LineKind, NO_NS, StampMoment};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList};
use trace::store::trace::{Capture, LossCause, RecordedFacts};

/// A capture of a trace, and how far it can be trusted.
pub(super) fn described<'py>(
    py: Python<'py>,
    session: &Session,
    number: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = facts(py, &session.trace().captures[number as usize])?;
    detached(py, || session.prepare());
    if let Some(trust) = session.trust()[number as usize].as_ref() {
        dict.set_item("filtered", trust.filtered)?;
        dict.set_item("families", &trust.families)?;
        dict.set_item("overhead_floor_ns", trust.overhead_floor_ns)?;
        dict.set_item("overhead_share", trust.overhead_share)?;
        let left_out = detached(py, || {
            session
                .wakers()
                .left_out()
                .of_capture(session.trace(), number)
        });
        dict.set_item("places_left_out", left_out.0)?;
        dict.set_item("left_out_ns", left_out.1)?;
        dict.set_item("has_unfollowed_children", trust.has_unfollowed_children)?;
        let capture = &session.trace().captures[number as usize];
        let knows_threads = |facts: &RecordedFacts| !facts.threads.is_empty();
        let is_known = capture.recorded.as_ref().is_some_and(knows_threads);
        // strace names threads. Those that ran before it began may belong to one process.
        let may_be_threads = capture.format == "strace" && trust.has_several_attached && !is_known;
        dict.set_item("may_be_threads", may_be_threads)?;
    }
    Ok(dict)
}

/// What a capture is, without what follows from its analysis.
pub(super) fn facts<'py>(py: Python<'py>, capture: &Capture) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let some = |ns: i64| (ns != NO_NS).then_some(ns);
    dict.set_item("path", &capture.path)?;
    dict.set_item("files", &capture.files)?;
    dict.set_item("run", capture.run)?;
    dict.set_item("runs", capture.runs)?;
    dict.set_item("first_line", capture.first_line)?;
    dict.set_item("format", capture.format)?;
    dict.set_item("wrappers", &capture.envelopes.names)?;
    dict.set_item("sender", &capture.envelopes.sender)?;
    dict.set_item("is_logged_clock", capture.envelopes.has_clock)?;
    dict.set_item("is_folded", capture.envelopes.is_folded)?;
    dict.set_item("lines", capture.lines())?;
    dict.set_item("bytes", capture.bytes)?;
    let (accounting, losses) = (PyDict::new(py), PyList::empty(py));
    for &kind in LineKind::ALL
        .iter()
        .filter(|&&kind| capture.lines_of(kind) > 0)
    {
        accounting.set_item(kind.name(), capture.lines_of(kind))?;
        if let Some(remedy) = kind.remedy() {
            let loss = PyDict::new(py);
            loss.set_item("kind", kind.name())?;
            loss.set_item("lines", capture.lines_of(kind))?;
            if kind == LineKind::Dropped {
                loss.set_item("events", capture.lost_events)?;
                let causes = LossCause::ALL
                    .iter()
                    .zip(capture.lost_by)
                    .filter(|(_, (events, _))| *events > 0);
                loss.set_item(
                    "causes",
                    causes
                        .map(|(cause, (events, _))| (cause.name(), events))
                        .into_py_dict(py)?,
                )?;
            }
            if kind == LineKind::OtherFormat {
                let formats = capture.other_formats.iter().map(|other| {
                    (
                        other.format.as_str(),
                        [other.lines, other.first_line, other.last_line],
                    )
                });
                loss.set_item("formats", formats.into_py_dict(py)?)?;
            }
            loss.set_item("first_line", capture.first_lines[kind as usize])?;
            loss.set_item("remedy", remedy)?;
            losses.append(loss)?;
        }
    }
    dict.set_item("accounting", accounting)?;
    dict.set_item(
        "first_foreign_line",
        capture.first_lines[LineKind::Foreign as usize],
    )?;
    dict.set_item(
        "first_elision_line",
        capture.first_lines[LineKind::Elision as usize],
    )?;
    dict.set_item("losses", losses)?;
    dict.set_item("has", has(py, capture)?)?;
    dict.set_item("dur_kind", capture.facts.dur_kind.name())?;
    dict.set_item("clock", clock_name(capture.facts.clock))?;
    dict.set_item("stamp", stamp_name(capture.facts.stamp))?;
    dict.set_item("tick_ns", capture.facts.tick_ns)?;
    dict.set_item("dur_tick_ns", capture.dur_tick_ns())?;
    dict.set_item("base_ns", some(capture.facts.base_ns))?;
    dict.set_item("first_ns", some(capture.first_ns))?;
    dict.set_item("last_ns", some(capture.last_ns))?;
    dict.set_item("cut", capture.cut)?;
    dict.set_item("backward_steps", capture.backward_steps)?;
    dict.set_item("is_newest_first", capture.facts.is_newest_first)?;
    dict.set_item("mixed_calls", capture.mixed_calls)?;
    dict.set_item("mixes_threads", capture.mixes_threads)?;
    dict.set_item("run_ns", capture.run_ns.to_vec())?;
    dict.set_item("unseen_children", capture.unseen_children)?;
    dict.set_item("presumed_children", capture.presumed_children)?;
    dict.set_item("order_inferred", capture.is_order_inferred)?;
    Ok(dict)
}

fn has<'py>(py: Python<'py>, capture: &Capture) -> PyResult<Bound<'py, PyDict>> {
    let has = PyDict::new(py);
    has.set_item("durations", capture.facts.has_durations)?;
    has.set_item(
        "tids",
        capture.facts.has_ids && !capture.facts.names_processes,
    )?;
    has.set_item("pids", capture.facts.has_ids)?;
    has.set_item("wall_clock", capture.has_wall_clock())?;
    has.set_item("events", !capture.rows.is_empty())?;
    has.set_item("summary_table", !capture.summary.is_empty())?;
    Ok(has)
}

fn stamp_name(stamp: StampMoment) -> &'static str {
    match stamp {
        StampMoment::Start => "start",
        StampMoment::End => "end",
        StampMoment::None => "none",
    }
}

fn clock_name(clock: Clock) -> &'static str {
    match clock {
        Clock::Epoch => "epoch",
        Clock::TimeOfDay => "time-of-day",
        Clock::SinceStart => "since-start",
        Clock::SinceNewYear => "since-new-year",
        Clock::SincePrevious => "since-previous",
        Clock::PerThread => "per-thread",
        Clock::None => "none",
    }
}
