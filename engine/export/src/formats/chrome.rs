//! chrome: the JSON of `chrome://tracing`, which Perfetto, speedscope and others read.
//!
//! <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>

use crate::formats::Pieces;
use crate::timeline::owners::FIRST_SYNTHETIC;
use crate::timeline::text::Inert;
use crate::timeline::{Fact, Path, Timeline};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io;

/// The process id of the critical path: no process of Linux has it, as ids are below 2^22.
const PATH_PID: i64 = FIRST_SYNTHETIC - 1;
/// Added to the id of a thread for its second track.
const OVERLAP: i64 = 1 << 23;

/// Writes processes, threads, calls and the critical path. Times are microseconds since the timeline's zero. The notes
/// tell what the file leaves out.
///
/// # Errors
/// Those of `out`.
pub fn write(timeline: &Timeline<'_>, notes: &[String], out: &mut dyn io::Write) -> io::Result<()> {
    let mut pieces = Pieces::new(out);
    let notes = serde_json::to_string(notes)?;
    let header = format!(
        "{{\"displayTimeUnit\": \"ns\", \"otherData\": {{\"notes\": {notes}}}, \"traceEvents\": [\n"
    );
    pieces.held.extend_from_slice(header.as_bytes());
    let mut writer = Writer {
        pieces,
        inert: timeline.inert,
        is_first: true,
    };
    names(&mut writer, timeline)?;
    calls(&mut writer, timeline)?;
    if let Some(path) = &timeline.path {
        critical_path(&mut writer, timeline, path)?;
    }
    writer.pieces.held.extend_from_slice(b"\n]}\n");
    writer.pieces.hand_over()
}

fn names(writer: &mut Writer<'_>, timeline: &Timeline<'_>) -> io::Result<()> {
    for (number, owner) in (1..).zip(timeline.owners.iter()) {
        let ids = (owner.pid, owner.tid);
        if !owner.is_thread {
            writer.meta("process_name", ids, "name", Fact::Text(&owner.argv))?;
            writer.meta(
                "process_sort_index",
                ids,
                "sort_index",
                Fact::Number(number),
            )?;
        }
        writer.meta("thread_name", ids, "name", Fact::Text(&owner.name))?;
    }
    Ok(())
}

fn calls(writer: &mut Writer<'_>, timeline: &Timeline<'_>) -> io::Result<()> {
    let trace = timeline.trace;
    timeline.each_slice(|slice| {
        let Some(owner) = timeline.owners.of(i64::from(slice.task)) else {
            return Ok(());
        };
        let mut ids = (owner.pid, owner.tid);
        if slice.is_overlapping {
            ids.1 += OVERLAP;
            if slice.opens_second_track {
                let name = format!("{} {} (overlapping)", owner.name, owner.tid);
                writer.meta("thread_name", ids, "name", Fact::Text(&name))?;
            }
        }
        let mut facts = Facts::default();
        slice.facts(trace, |name, fact| facts.add(writer.inert, name, fact));
        let detail: Vec<String> = facts
            .0
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        facts.0.push(("detail", Value::Text(detail.join(" "))));
        writer.event(&Event {
            ph: 'X',
            name: writer.inert.shown(&slice.name(trace)).as_ref(),
            cat: Some("call"),
            ts: Some(micros(slice.start_ns.saturating_sub(timeline.zero_ns))),
            dur: Some(micros(slice.end_ns.saturating_sub(slice.start_ns))),
            pid: ids.0,
            tid: ids.1,
            args: facts,
        })
    })
}

/// The critical path as a process of its own, named after the processes on it.
fn critical_path(
    writer: &mut Writer<'_>,
    timeline: &Timeline<'_>,
    path: &Path<'_>,
) -> io::Result<()> {
    let ids = (PATH_PID, PATH_PID);
    writer.meta("process_name", ids, "name", Fact::Text("Critical path"))?;
    writer.meta("process_sort_index", ids, "sort_index", Fact::Number(0))?;
    for stretch in path.stretches() {
        let owner = timeline.owners.of(stretch.task);
        let who = stretch.who(owner);
        let mut facts = Facts::default();
        facts.add(writer.inert, "class", Fact::Text(stretch.class));
        facts.add(writer.inert, "process", Fact::Text(&who));
        for (name, number) in [("line", stretch.line), ("blocked_pid", stretch.waiter_pid)] {
            if let Some(number) = number {
                facts.add(writer.inert, name, Fact::Number(number));
            }
        }
        let words = [who.as_str(), stretch.class];
        let detail: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        facts.add(writer.inert, "detail", Fact::Text(&detail.join(" ")));
        writer.event(&Event {
            ph: 'X',
            name: writer.inert.shown(&stretch.title(owner)).as_ref(),
            cat: Some(stretch.class),
            ts: Some(micros(stretch.start_ns.saturating_sub(timeline.zero_ns))),
            dur: Some(micros(stretch.dur_ns)),
            pid: ids.0,
            tid: ids.1,
            args: facts,
        })?;
    }
    Ok(())
}

fn micros(ns: i64) -> f64 {
    ns as f64 / 1_000.0
}

/// An event of the format. `X` is a slice, `M` a name or the place of a row.
#[derive(serde::Serialize)]
struct Event<'all> {
    ph: char,
    name: &'all str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'all str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: i64,
    tid: i64,
    args: Facts,
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Number(i64),
}

impl std::fmt::Display for Value {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Text(text) => out.write_str(text),
            Value::Number(number) => write!(out, "{number}"),
        }
    }
}

/// Arguments of an event, in order.
#[derive(Default)]
struct Facts(Vec<(&'static str, Value)>);

impl Facts {
    fn add(&mut self, inert: &Inert, name: &'static str, fact: Fact<'_>) {
        let value = match fact {
            Fact::Text(text) => Value::Text(inert.shown(text).into_owned()),
            Fact::Number(number) => Value::Number(number),
        };
        self.0.push((name, value));
    }
}

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Events, one per line.
struct Writer<'out> {
    pieces: Pieces<'out>,
    inert: &'out Inert,
    is_first: bool,
}

impl Writer<'_> {
    fn meta(
        &mut self,
        kind: &str,
        (pid, tid): (i64, i64),
        name: &'static str,
        fact: Fact<'_>,
    ) -> io::Result<()> {
        let mut args = Facts::default();
        args.add(self.inert, name, fact);
        self.event(&Event {
            ph: 'M',
            name: kind,
            cat: None,
            ts: None,
            dur: None,
            pid,
            tid,
            args,
        })
    }

    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        if !std::mem::take(&mut self.is_first) {
            self.pieces.held.extend_from_slice(b",\n");
        }
        serde_json::to_writer(&mut self.pieces.held, event)?;
        self.pieces.hand_over_if_large()
    }
}
