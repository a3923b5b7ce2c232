//! perfetto: a trace for <https://ui.perfetto.dev>, with processes, threads, calls, the critical path and findings.
//!
//! Packets of one sequence are written one after the other. Names that occur again are written once and then have
//! numbers.

use crate::formats::Pieces;
use crate::formats::perfetto_messages as message;
use crate::formats::perfetto_messages::{
    DebugAnnotation, EventType, Interned, InternedData, TracePacket, TrackDescriptor, TrackEvent,
};
use crate::timeline::owners::Owner;
use crate::timeline::text::Inert;
use crate::timeline::{Fact, Path, Stretch, Timeline};
use prost::Message;
use rustc_hash::FxHashMap;
use std::io;

const SEQUENCE: u32 = 1;
/// Packets that are encoded at once.
const PACKETS_AT_ONCE: usize = 1 << 10;
/// Different texts of annotations that have a number; they stay in memory.
const MAX_TEXTS: usize = 200_000;
/// Words of a command line.
const MAX_WORDS: usize = 64;

// Identities of tracks: threads have their task plus this, their second tracks and the processes the numbers below.
const THREADS: u64 = 1 << 32;
const SECOND: u64 = 1 << 33;
const PROCESSES: u64 = 1 << 34;
const PATH_TRACK: u64 = 11;
const CLASS_TRACK: u64 = 12;
const FINDINGS_TRACK: u64 = 13;

/// Writes a timeline. Times are nanoseconds since its zero.
///
/// # Errors
/// Those of `out`.
pub fn write(timeline: &Timeline<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = Writer::new(timeline.inert, out);
    writer.packet(TracePacket {
        sequence_flags: Some(message::SEQ_INCREMENTAL_STATE_CLEARED),
        ..TracePacket::default()
    })?;
    tracks(&mut writer, timeline)?;
    calls(&mut writer, timeline)?;
    if let Some(path) = &timeline.path {
        critical_path(&mut writer, timeline, path)?;
        findings(&mut writer, timeline)?;
    }
    writer.finish()
}

fn thread_track(task: i64) -> u64 {
    THREADS.wrapping_add_signed(task)
}

/// Processes with their parents, threads, and the tracks of the critical path.
fn tracks(writer: &mut Writer<'_>, timeline: &Timeline<'_>) -> io::Result<()> {
    let mut processes = Vec::new();
    for owner in timeline.owners.iter() {
        if !owner.is_thread {
            let above = owner.parent.and_then(|parent| timeline.owners.of(parent));
            let parent = above.and_then(|above| timeline.owners.of(above.process));
            processes.push(message::Process {
                pid: Some(owner.pid),
                ppid: Some(parent.map_or(0, |parent| parent.pid)),
                cmdline: Some(writer.shown(&owner.argv)),
            });
            let process = process(writer, owner, timeline.zero_ns);
            writer.track(TrackDescriptor {
                uuid: Some(PROCESSES.wrapping_add_signed(owner.task)),
                process: Some(process),
                ..TrackDescriptor::default()
            })?;
        }
        let thread = message::ThreadDescriptor {
            pid: i32::try_from(owner.pid).ok(),
            tid: i32::try_from(owner.tid).ok(),
            thread_name: Some(writer.shown(&owner.name)),
        };
        writer.track(TrackDescriptor {
            uuid: Some(thread_track(owner.task)),
            thread: Some(thread),
            ..TrackDescriptor::default()
        })?;
    }
    writer.packet(TracePacket {
        timestamp: Some(0),
        generic_kernel_process_tree: Some(message::ProcessTree { processes }),
        ..TracePacket::default()
    })?;
    if timeline.path.is_some() {
        writer.named_track(PATH_TRACK, "Critical path", None)?;
        writer.named_track(CLASS_TRACK, "Class of time", None)?;
        writer.named_track(FINDINGS_TRACK, "Findings", None)?;
    }
    Ok(())
}

fn process(writer: &Writer<'_>, owner: &Owner, zero_ns: i64) -> message::ProcessDescriptor {
    let command = writer.shown(&owner.argv);
    let birth_ns = owner.birth_ns.unwrap_or(zero_ns).saturating_sub(zero_ns);
    message::ProcessDescriptor {
        pid: i32::try_from(owner.pid).ok(),
        cmdline: command
            .split(' ')
            .take(MAX_WORDS)
            .map(str::to_owned)
            .collect(),
        process_name: Some(writer.shown(&owner.name)),
        start_timestamp_ns: Some(birth_ns.max(0)),
    }
}

fn calls(writer: &mut Writer<'_>, timeline: &Timeline<'_>) -> io::Result<()> {
    let trace = timeline.trace;
    timeline.each_slice(|slice| {
        let task = i64::from(slice.task);
        let mut track = thread_track(task);
        if slice.is_overlapping {
            let thread = std::mem::replace(&mut track, SECOND.wrapping_add_signed(task));
            if slice.opens_second_track {
                let name = timeline.owners.of(task).map_or("", |owner| &owner.name);
                writer.named_track(track, &format!("{name} (overlapping)"), Some(thread))?;
            }
        }
        let mut begin = writer.event(EventType::SliceBegin, track, &slice.name(trace));
        slice.facts(trace, |name, fact| writer.annotate(&mut begin, name, fact));
        let start_ns = slice.start_ns.saturating_sub(timeline.zero_ns);
        writer.slice(begin, start_ns, slice.end_ns.saturating_sub(slice.start_ns))
    })
}

/// The critical path with its classes, and an arrow to each process that was blocked on a stretch.
fn critical_path(
    writer: &mut Writer<'_>,
    timeline: &Timeline<'_>,
    path: &Path<'_>,
) -> io::Result<()> {
    let mut arrows = 0;
    for stretch in path.stretches() {
        let owner = timeline.owners.of(stretch.task);
        let start_ns = stretch.start_ns.saturating_sub(timeline.zero_ns);
        let mut event = writer.event(EventType::SliceBegin, PATH_TRACK, &stretch.title(owner));
        stretch.facts(|name, fact| writer.annotate(&mut event, name, fact));
        let is_awaited = stretch.waiter_pid.is_some();
        if is_awaited {
            arrows += 1;
            event.event.flow_ids.push(arrows);
        }
        writer.slice(event, start_ns, stretch.dur_ns)?;
        let class = writer.event(EventType::SliceBegin, CLASS_TRACK, stretch.class);
        writer.slice(class, start_ns, stretch.dur_ns)?;
        if let Some(owner) = owner.filter(|_| is_awaited) {
            let track = thread_track(owner.task);
            let mut wake = writer.event(EventType::Instant, track, "wakes the blocked process");
            wake.event.terminating_flow_ids.push(arrows);
            writer.put(wake, start_ns.saturating_add(stretch.dur_ns))?;
        }
    }
    Ok(())
}

impl Stretch<'_> {
    /// Hands over facts of the stretch, for annotations.
    fn facts(&self, mut take: impl FnMut(&'static str, Fact<'_>)) {
        let facts = [
            ("class", Some(Fact::Text(self.class))),
            ("target", self.target.map(Fact::Text)),
            ("line", self.line.map(Fact::Number)),
            ("how", self.how.map(Fact::Text)),
            ("sure", self.sure.map(Fact::Text)),
        ];
        for (name, fact) in facts {
            if let Some(fact) = fact {
                take(name, fact);
            }
        }
    }
}

fn findings(writer: &mut Writer<'_>, timeline: &Timeline<'_>) -> io::Result<()> {
    for moment in timeline.moments {
        let mut event = writer.event(EventType::Instant, FINDINGS_TRACK, &moment.title);
        writer.annotate(&mut event, "rule", Fact::Text(&moment.rule));
        writer.annotate(&mut event, "message", Fact::Text(&moment.message));
        writer.annotate(&mut event, "task", Fact::Number(moment.task));
        writer.annotate(&mut event, "dur_ns", Fact::Number(moment.dur_ns));
        writer.put(event, moment.at_ns.saturating_sub(timeline.zero_ns))?;
    }
    Ok(())
}

/// An event that is being put together, with the texts that are written for the first time with it.
struct Event {
    event: TrackEvent,
    new: InternedData,
}

/// Numbers of texts, from 1.
#[derive(Default)]
struct Numbers(FxHashMap<String, u64>);

impl Numbers {
    /// The number of a text. One that is new is added to `new`.
    fn of(&mut self, inert: &Inert, text: &str, new: &mut Vec<Interned>) -> u64 {
        if let Some(&number) = self.0.get(text) {
            return number;
        }
        let number = self.0.len() as u64 + 1;
        new.push(Interned {
            iid: Some(number),
            text: Some(inert.shown(text).into_owned()),
        });
        self.0.insert(text.to_owned(), number);
        number
    }
}

/// Packets of one sequence.
struct Writer<'out> {
    inert: &'out Inert,
    pieces: Pieces<'out>,
    packets: message::Trace,
    names: Numbers,
    keys: Numbers,
    texts: Numbers,
}

impl<'out> Writer<'out> {
    fn new(inert: &'out Inert, out: &'out mut dyn io::Write) -> Writer<'out> {
        Writer {
            inert,
            pieces: Pieces::new(out),
            packets: message::Trace::default(),
            names: Numbers::default(),
            keys: Numbers::default(),
            texts: Numbers::default(),
        }
    }

    fn shown(&self, text: &str) -> String {
        self.inert.shown(text).into_owned()
    }

    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        self.packets.packet.push(TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            ..packet
        });
        if self.packets.packet.len() < PACKETS_AT_ONCE {
            return Ok(());
        }
        self.encode()?;
        self.pieces.hand_over_if_large()
    }

    fn encode(&mut self) -> io::Result<()> {
        self.packets.encode(&mut self.pieces.held)?;
        self.packets.packet.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.encode()?;
        self.pieces.hand_over()
    }

    fn track(&mut self, track_descriptor: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket {
            track_descriptor: Some(track_descriptor),
            ..TracePacket::default()
        })
    }

    fn named_track(&mut self, uuid: u64, name: &str, parent_uuid: Option<u64>) -> io::Result<()> {
        let name = Some(self.shown(name));
        self.track(TrackDescriptor {
            uuid: Some(uuid),
            name,
            parent_uuid,
            ..TrackDescriptor::default()
        })
    }

    /// An event with its name. Ends of slices have none.
    fn event(&mut self, kind: EventType, track: u64, name: &str) -> Event {
        let mut new = InternedData::default();
        let name_iid =
            (!name.is_empty()).then(|| self.names.of(self.inert, name, &mut new.event_names));
        let event = TrackEvent {
            r#type: Some(kind as i32),
            track_uuid: Some(track),
            name_iid,
            ..TrackEvent::default()
        };
        Event { event, new }
    }

    /// Adds an annotation. The texts of a large trace are mostly different, so not all get a number.
    fn annotate(&mut self, to: &mut Event, name: &str, fact: Fact<'_>) {
        let (inert, names) = (self.inert, &mut to.new.debug_annotation_names);
        let mut annotation = DebugAnnotation {
            name_iid: Some(self.keys.of(inert, name, names)),
            ..DebugAnnotation::default()
        };
        match fact {
            Fact::Number(number) => annotation.int_value = Some(number),
            Fact::Text(text)
                if self.texts.0.len() < MAX_TEXTS || self.texts.0.contains_key(text) =>
            {
                let values = &mut to.new.debug_annotation_string_values;
                annotation.string_value_iid = Some(self.texts.of(inert, text, values));
            }
            Fact::Text(text) => annotation.string_value = Some(self.shown(text)),
        }
        to.event.debug_annotations.push(annotation);
    }

    fn put(&mut self, Event { event, new }: Event, at_ns: i64) -> io::Result<()> {
        self.packet(TracePacket {
            timestamp: Some(at_ns.max(0).unsigned_abs()),
            track_event: Some(event),
            interned_data: (new != InternedData::default()).then_some(new),
            sequence_flags: Some(message::SEQ_NEEDS_INCREMENTAL_STATE),
            ..TracePacket::default()
        })
    }

    /// A slice, as its begin and its end.
    fn slice(&mut self, begin: Event, start_ns: i64, dur_ns: i64) -> io::Result<()> {
        let track = begin.event.track_uuid.unwrap_or_default();
        self.put(begin, start_ns)?;
        let end = self.event(EventType::SliceEnd, track, "");
        self.put(end, start_ns.saturating_add(dur_ns))
    }
}
