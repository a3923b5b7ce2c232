//! A capture while it is read: its reader, its description, and errors.

use crate::ingest::clock::bounded_ns;
use crate::store::trace::{Capture, RecordedFacts, Trace};
use parsers::line::Ended;
use parsers::other_tools;
use parsers::{DurKind, Extra, Format, Head, Interner, Line, LineReader, Text};
use std::io;

/// Why a capture cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot be opened or read.
    Unreadable {
        /// As the user named it.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// No format fits.
    Unrecognised {
        /// As the user named it.
        path: String,
        /// The formats that were tried.
        tried: Vec<&'static str>,
    },
    /// The output of a tool that has no system calls, or not as text.
    OtherTool {
        /// As the user named it.
        path: String,
        /// The tool; see [`parsers::other_tools`].
        tool: &'static str,
    },
    /// Nothing but blanks in it.
    Empty {
        /// As the user named it.
        path: String,
    },
    /// The trace is larger than the memory it may use, and the rest of it cannot go to a file.
    NoRoom(spill::Failure),
    /// The requested format does not exist.
    UnknownFormat {
        /// The name.
        name: String,
        /// Those that do.
        known: Vec<&'static str>,
    },
}

/// Told now and then: bytes read, and bytes in all, 0 if unknown.
pub type Progress<'a> = &'a mut (dyn FnMut(u64, u64) + Send);

/// An error of the system, with the path it is about.
pub(crate) fn unreadable(path: &str) -> impl Fn(io::Error) -> ReadError + '_ {
    move |source| ReadError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

/// The format of a capture that begins with this text, and its reader. An empty capture has no such text: its format is
/// that of the tracer that made it, if this is known.
pub(crate) fn reader_for(
    path: &str,
    head: Head<'_>,
    format: Option<&'static dyn Format>,
    tracer: Option<&'static dyn Format>,
) -> Result<(&'static str, Box<dyn LineReader>), ReadError> {
    let is_empty = head.complete && head.bytes.iter().all(u8::is_ascii_whitespace);
    if is_empty && tracer.is_none() {
        return Err(ReadError::Empty {
            path: path.to_owned(),
        });
    }
    let other = |tool| ReadError::OtherTool {
        path: path.to_owned(),
        tool,
    };
    if let Some(tool) = other_tools::by_signature(head).filter(|_| format.is_none()) {
        return Err(other(tool));
    }
    let tried = || {
        parsers::FORMATS
            .iter()
            .map(|format| format.name())
            .collect()
    };
    let format = format.or(tracer.filter(|_| is_empty));
    let chosen = parsers::choose_reader(head, format);
    // Lines that begin with a time may look like a log.
    let is_log = chosen
        .as_ref()
        .is_none_or(|(name, _)| *name == "kernel-log");
    if format.is_none() && is_log {
        let binary = || (chosen.is_none() && other_tools::is_binary(head)).then_some("binary");
        if let Some(tool) = other_tools::by_lines(head).or_else(binary) {
            return Err(other(tool));
        }
    }
    chosen.ok_or_else(|| ReadError::Unrecognised {
        path: path.to_owned(),
        tried: tried(),
    })
}

/// A capture before reading.
pub(crate) fn new_capture(
    trace: &Trace,
    files: &[String],
    format: &'static str,
    reader: &dyn LineReader,
    recorded: Option<RecordedFacts>,
) -> Capture {
    let mut facts = reader.facts();
    if !facts.has_durations && recorded.as_ref().is_some_and(|known| known.has_durations) {
        (facts.has_durations, facts.dur_kind) = (true, DurKind::Exact);
    }
    let tasks = trace.tasks.next_key();
    let rows = trace.events.len();
    Capture {
        path: files.first().cloned().unwrap_or_default(),
        files: files.to_vec(),
        first_file: trace
            .captures
            .iter()
            .map(|capture| capture.files.len() as u32)
            .sum(),
        envelopes: reader.envelope_facts(),
        tasks: tasks..tasks,
        rows: rows..rows,
        recorded,
        ..Capture::empty(format, facts)
    }
}

/// A line and its extra with the texts of the trace.
pub(crate) fn in_trace(line: &Line, extra: Option<&Extra>, map: &[Text]) -> (Line, Option<Extra>) {
    let first = Interner::first_free();
    let text = |text: Text| match text.0.checked_sub(first) {
        None => text,
        Some(at) => map.get(at as usize).copied().unwrap_or(Text::NONE),
    };
    let mapped = Line {
        dur_ns: bounded_ns(line.dur_ns),
        name: text(line.name),
        op: text(line.op),
        target: text(line.target),
        errno: text(line.errno),
        ..*line
    };
    (mapped, extra.map(|extra| extra_in_trace(extra, &text)))
}

fn extra_in_trace(extra: &Extra, text: &dyn Fn(Text) -> Text) -> Extra {
    let ended = |ended: &Ended| match *ended {
        Ended::Killed(signal) => Ended::Killed(text(signal)),
        exited => exited,
    };
    match extra {
        Extra::Fact(fact) => Extra::Fact(fact.with_texts(text)),
        Extra::With(with) => {
            let (extra, fact) = &**with;
            extra_in_trace(extra, text).with(fact.with_texts(text))
        }
        Extra::Exec { path, argv } => Extra::Exec {
            path: text(*path),
            argv: text(*argv),
        },
        Extra::Waited { child, ended: how } => Extra::Waited {
            child: *child,
            ended: how.as_ref().map(ended),
        },
        Extra::Signal { from, ended: how } => Extra::Signal {
            from: *from,
            ended: how.as_ref().map(ended),
        },
        Extra::End(how) => Extra::End(ended(how)),
        Extra::GroupEnd(how) => Extra::GroupEnd(ended(how)),
        Extra::Program { name, with } => {
            let with = with
                .as_ref()
                .map(|with| Box::new(extra_in_trace(with, text)));
            Extra::Program {
                name: text(*name),
                with,
            }
        }
        Extra::Into { fd, target } => Extra::Into {
            fd: *fd,
            target: text(*target),
        },
        Extra::Opened {
            created,
            access,
            syncs,
        } => Extra::Opened {
            created: text(*created),
            access: *access,
            syncs: *syncs,
        },
        Extra::Joined(messages) => Extra::Joined(
            messages
                .iter()
                .map(|&(stamp_ns, name, message)| (stamp_ns, text(name), text(message)))
                .collect(),
        ),
        Extra::OwnAddress(address) => Extra::OwnAddress(text(*address)),
        Extra::Frame {
            module,
            function,
            source,
        } => Extra::Frame {
            module: text(*module),
            function: text(*function),
            source: text(*source),
        },
        Extra::SocketError(error) => Extra::SocketError(text(*error)),
        other => other.clone(),
    }
}
