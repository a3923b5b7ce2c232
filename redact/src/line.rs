//! One line: what it is decides how its parts are rewritten.
//!
//! ```text
//! call, signal, exit …       prefix with ids and times as it is, the rest as `bare.rs`
//! message of a log           `log.rs`
//! payload dump               filler
//! argv, envp of Solaris      names
//! not understood             one pseudonym for the whole line, of the same kind for the readers
//! ```

use crate::bare::{self, Context};
use crate::names::{Names, is_word_byte};
use crate::quoted::Quoting;
use crate::wrapper::{self, Place};
use crate::{columns, known, log, token};
use parsers::{Head, LineKind, LineReader, Parsed, choose_reader, is_elision, kernel_log, scan};
use rustc_hash::FxHashMap;

/// Remembered bodies of lines take up to about this.
const MAX_BODIES_BYTES: usize = 16 << 20;
const MIN_BODY_BYTES: usize = 24;

/// Rewrites the lines of one capture.
pub(crate) struct Lines {
    pub names: Names,
    reader: Option<Box<dyn LineReader>>,
    format: &'static str,
    quoting: Quoting,
    parsed: Parsed,
    bodies: FxHashMap<Box<[u8]>, Box<[u8]>>,
    bodies_bytes: usize,
    lookups: Lookups,
    scratch: Vec<u8>,
}

/// Whether bodies repeat often enough for looking them up.
#[derive(Default)]
struct Lookups {
    all: u32,
    hits: u32,
    skip: u32,
}

impl Lookups {
    /// One body in this number has to repeat.
    const MIN_REPEATS: u32 = 8;
    /// Decided after this number of bodies, for eight times as many.
    const SAMPLE: u32 = 1 << 13;

    fn is_worth_it(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.all += 1;
        if self.all == Lookups::SAMPLE {
            let are_rare = self.hits * Lookups::MIN_REPEATS < self.all;
            *self = Lookups {
                skip: if are_rare { Lookups::SAMPLE * 8 } else { 0 },
                ..Lookups::default()
            };
        }
        true
    }
}

impl Lines {
    pub fn new(names: Names) -> Lines {
        Lines {
            names,
            reader: None,
            format: "",
            quoting: Quoting::Backslash,
            parsed: Parsed::default(),
            bodies: FxHashMap::default(),
            bodies_bytes: 0,
            lookups: Lookups::default(),
            scratch: Vec::new(),
        }
    }

    /// Decide the format from the beginning of the capture.
    pub fn begin(&mut self, head: Head<'_>, format: Option<&str>) {
        let named = format.and_then(parsers::by_name);
        // Files per thread may be too short to show their format: the first one of a capture does.
        let again = || choose_reader(head, parsers::by_name(self.format));
        let chosen =
            choose_reader(head, named).or_else(|| again().filter(|_| !self.format.is_empty()));
        self.format = chosen.as_ref().map_or("", |(name, _)| name);
        self.quoting = Quoting::of(self.format);
        self.reader = chosen.map(|(_, reader)| reader);
        self.bodies.clear();
        self.bodies_bytes = 0;
    }

    /// Whether a format fits the capture.
    pub fn has_format(&self) -> bool {
        self.reader.is_some()
    }

    /// Append a line without its LF.
    pub fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        if line.trim_ascii().is_empty() {
            return out.extend(
                line.iter()
                    .filter(|byte| matches!(byte, b' ' | b'\t' | b'\r')),
            );
        }
        // Readers ignore colours, which would otherwise divide names and hide what follows a number.
        if let Some(plain) = token::without_colors(line) {
            return self.line(&plain, out);
        }
        if self.structured(line, out) {
            return;
        }
        let start = out.len();
        let kind = self.kind(line);
        let Some(reader) = &self.reader else {
            return self.whole(line, kind, out);
        };
        let unwrapped = reader.unwrapped(line);
        match unwrapped {
            None => self.whole(line, kind, out),
            Some(inner) if inner.len() == line.len() => self.plain(line, kind, out),
            Some(inner) => {
                let inner = inner.into_owned();
                self.in_envelope(line, &inner, kind, out);
            }
        }
        // What is not understood must not look like something that is.
        if is_unused(kind) && self.kind(&out[start..]) != kind {
            let made = out.split_off(start);
            self.filled(line, kind, &made, out);
        }
    }

    /// A line with this text inside.
    fn in_envelope(&mut self, line: &[u8], inner: &[u8], kind: LineKind, out: &mut Vec<u8>) {
        let mut made = Vec::with_capacity(inner.len() * 2);
        if inner.trim_ascii().is_empty() {
            made.extend_from_slice(inner);
        } else {
            self.plain(inner, kind, &mut made);
        }
        let range = match wrapper::place(line, inner) {
            Place::Plain(range) => range,
            Place::Json(range, ending) => {
                made = [&wrapper::escaped_as_json(&made), ending].concat();
                range
            }
            Place::Lost => return out.extend_from_slice(&made),
        };
        log::head(&mut self.names, &line[..range.start], out);
        out.extend_from_slice(&made);
        log::head(&mut self.names, &line[range.end..], out);
    }

    /// What kind of line this is.
    pub fn kind(&mut self, line: &[u8]) -> LineKind {
        let Some(reader) = &self.reader else {
            return LineKind::Foreign;
        };
        self.parsed.lines.clear();
        self.parsed.extras.clear();
        self.parsed.texts.clear();
        reader.read(line, &mut self.parsed).kind
    }

    /// A line of a tracer that begins with ids, times and a call or event: most lines are, and their bodies repeat.
    fn structured(&mut self, line: &[u8], out: &mut Vec<u8>) -> bool {
        if self.format == "kernel-log" || self.format == "kdump" || self.format.is_empty() {
            return false;
        }
        let body = head_len(line);
        let (head, body) = line.split_at(body);
        let Some(call) = call_of(body) else {
            return false;
        };
        let (body, tail) = body.split_at(body.len() - duration_len(body));
        out.extend_from_slice(head);
        let context = Context::of(self.quoting, call);
        self.body(body, context, out);
        out.extend_from_slice(tail);
        true
    }

    fn body(&mut self, body: &[u8], context: Context, out: &mut Vec<u8>) {
        if body.len() < MIN_BODY_BYTES || !self.lookups.is_worth_it() {
            return bare::text(&mut self.names, body, context, out);
        }
        if let Some(known) = self.bodies.get(body) {
            self.lookups.hits += 1;
            return out.extend_from_slice(known);
        }
        let start = out.len();
        bare::text(&mut self.names, body, context, out);
        let made = &out[start..];
        self.bodies_bytes += body.len() + made.len() + MIN_BODY_BYTES;
        if self.bodies_bytes > MAX_BODIES_BYTES {
            self.bodies.clear();
            self.bodies_bytes = body.len() + made.len();
        }
        self.bodies.insert(body.into(), made.into());
    }

    /// A line without envelopes.
    pub fn plain(&mut self, line: &[u8], kind: LineKind, out: &mut Vec<u8>) {
        if self.structured(line, out) {
            return;
        }
        match kind {
            LineKind::Blank => out.extend_from_slice(line),
            LineKind::Foreign | LineKind::Damaged => self.whole(line, kind, out),
            _ if self.format == "kernel-log" => self.message(line, out),
            LineKind::Elision => log::message(&mut self.names, line, out),
            LineKind::Continuation => self.continuation(line, out),
            LineKind::SummaryTable => self.row(line, out),
            _ => self.event(line, out),
        }
    }

    fn message(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let message = kernel_log::message_of(line).filter(|message| !message.is_empty());
        // The message is a part of the line.
        let at = message.map(|message| message.as_ptr() as usize - line.as_ptr() as usize);
        match (message, at) {
            (Some(message), Some(at)) if at + message.len() <= line.len() => {
                log::head(&mut self.names, &line[..at], out);
                log::message(&mut self.names, message, out);
                log::head(&mut self.names, &line[at + message.len()..], out);
            }
            _ => log::message(&mut self.names, line, out),
        }
    }

    fn event(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let context = Context::of(self.quoting, call_inside(line));
        match self.format {
            "fs-usage" => columns::fs_usage(&mut self.names, line, context, out),
            "gvisor" => columns::gvisor(&mut self.names, line, context, out),
            "kdump" => columns::kdump(&mut self.names, line, context, out),
            "perf-trace" => columns::perf_trace(&mut self.names, line, context, out),
            "procmon" => columns::procmon(&mut self.names, line, context, out),
            "strace-macos" => columns::strace_macos(&mut self.names, line, context, out),
            "sysdig" => columns::sysdig(&mut self.names, line, context, out),
            _ => {
                let name = name_at_end(line);
                let call = name_of_call(&line[..name]);
                bare::text(&mut self.names, &line[..call.start], context, out);
                bare::text(&mut self.names, &line[call.clone()], context.of_name(), out);
                bare::text(&mut self.names, &line[call.end..name], context, out);
                bare::text(&mut self.names, &line[name..], context.of_name(), out);
            }
        }
    }

    /// A row of a table, which begins or ends with the name of a call.
    fn row(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let context = Context::of(self.quoting, b"");
        for word in line.split_inclusive(u8::is_ascii_whitespace) {
            let is_number = |byte: &u8| byte.is_ascii_digit() || b".,:%-+".contains(byte);
            let context = match word.trim_ascii().iter().all(is_number) {
                true => context,
                false => context.of_name(),
            };
            bare::text(&mut self.names, word, context, out);
        }
    }

    /// What belongs to the line before.
    fn continuation(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let text = scan::skip_blanks(line);
        if self.is_frame(text) {
            let context = Context::of(self.quoting, b"").of_frame();
            return bare::text(&mut self.names, line, context, out);
        }
        if self.format == "kdump" && is_record(text) {
            return self.event(line, out);
        }
        if self.format == "kdump"
            || is_dump(line)
            || self.quoting == Quoting::Pairs && is_pairs(text)
        {
            return fill_words(line, out);
        }
        if let Some(colon) = [&b"argv:"[..], b"envp:", b"psargs:"]
            .iter()
            .find_map(|name| {
                let at = memchr::memmem::find(line, name)?;
                Some(at + name.len())
            })
        {
            bare::text(
                &mut self.names,
                &line[..colon],
                Context::of(self.quoting, b""),
                out,
            );
            return bare::name(&mut self.names, &line[colon..], false, self.quoting, out);
        }
        if self.quoting == Quoting::Pairs
            && !line.contains(&b'=')
            && !line.contains(&b'"')
            && !line.contains(&b':')
        {
            // Arguments go on over several lines.
            let blanks = line.len() - text.len();
            out.extend_from_slice(&line[..blanks]);
            return bare::name(&mut self.names, text, false, self.quoting, out);
        }
        self.rest_of_call(line, out);
    }

    /// Whether a line is a frame of a stack: `> lib.so(f+0x1) [0x2]` (strace), ``lib`f+0x1`` (DTrace), `f (lib.so)` (perf).
    fn is_frame(&self, text: &[u8]) -> bool {
        match self.format {
            "perf-trace" => text.trim_ascii_end().ends_with(b")"),
            "dtruss" => text.contains(&b'`') && !text.contains(&b'"'),
            _ => text.starts_with(b"> "),
        }
    }

    /// The rest of a call that was cut anywhere, perhaps within a string.
    fn rest_of_call(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let begins_outside = matches!(
            line.first(),
            Some(b',' | b')' | b'{' | b'[' | b'}' | b']' | b' ' | b'"' | b'<' | b'-' | b'+')
        );
        if begins_outside {
            return self.event(line, out);
        }
        let quote = memchr::memchr(b'"', line)
            .filter(|&at| line.get(..at).is_some_and(|before| !before.contains(&b'(')));
        let result =
            memchr::memmem::rfind(line, b") ").or_else(|| memchr::memmem::rfind(line, b")="));
        let inside = quote.or(result).unwrap_or(line.len());
        bare::name(&mut self.names, &line[..inside], false, self.quoting, out);
        let rest = &line[inside..];
        match rest.strip_prefix(b"\"") {
            Some(rest) => {
                out.push(b'"');
                self.event(rest, out);
            }
            None => self.event(rest, out),
        }
    }

    /// One pseudonym instead of a line.
    fn whole(&mut self, line: &[u8], kind: LineKind, out: &mut Vec<u8>) {
        if self.names.kept.has(line) {
            return out.extend_from_slice(line);
        }
        // Without the mark, the time of the lines that somebody left out would look like a silence.
        if is_elision(line) {
            return log::message(&mut self.names, line, out);
        }
        let blanks = line
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        let text = line.trim_ascii();
        out.extend_from_slice(&line[..blanks]);
        // As many words as before, because a reader may count them.
        let mut letters = Vec::new();
        for word in text
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
        {
            if !letters.is_empty() {
                letters.push(b' ');
            }
            if crate::pseudonym::is_pseudonym(word) {
                letters.extend_from_slice(word);
            } else {
                let hashed = self.names.pseudonyms.key().hash("line", word).to_le_bytes();
                let text: Vec<u8> = hashed
                    .iter()
                    .flat_map(|byte| [b'g' + (byte & 15), b'g' + (byte >> 4)])
                    .collect();
                self.names.pseudonyms.word(&text, &mut letters);
            }
        }
        out.extend_from_slice(&letters);
        if line.ends_with(b"\r") {
            out.push(b'\r');
        }
        let _ = kind;
    }

    /// Something harmless of this kind: other forms, then nothing but fillers.
    fn filled(&mut self, line: &[u8], kind: LineKind, made: &[u8], out: &mut Vec<u8>) {
        let mut scratch = std::mem::take(&mut self.scratch);
        for way in 0..3 {
            scratch.clear();
            match way {
                0 => fill_words(line, &mut scratch),
                1 => log::message(&mut self.names, line, &mut scratch),
                _ => bare::text(
                    &mut self.names,
                    line,
                    Context::of(self.quoting, b"read"),
                    &mut scratch,
                ),
            }
            if self.kind(&scratch) == kind {
                out.extend_from_slice(&scratch);
                self.scratch = scratch;
                return;
            }
        }
        self.scratch = scratch;
        out.extend_from_slice(made);
    }
}

/// Kinds of lines from which nothing is used.
fn is_unused(kind: LineKind) -> bool {
    matches!(kind, LineKind::Foreign | LineKind::Damaged)
}

/// Length of ids, times and brackets before a call.
fn head_len(line: &[u8]) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b" \t.:/()[]+@".contains(byte);
    let mut at = 0;
    loop {
        at += line[at..]
            .iter()
            .position(|byte| !is_part(byte))
            .unwrap_or(line.len() - at);
        if at > 0 && line[at - 1] == b'[' && line[at..].starts_with(b"pid ") {
            at += 4;
            continue;
        }
        return at;
    }
}

/// The name of the call that a body begins with, or an empty one for signals and ends.
fn call_of(body: &[u8]) -> Option<&[u8]> {
    if body.starts_with(b"--- SIG") || body.starts_with(b"+++ ") {
        return Some(b"");
    }
    let (text, end) = match body.strip_prefix(b"<... ") {
        Some(rest) => (rest, &b" resumed"[..]),
        None => (body, &b"("[..]),
    };
    let (name, rest) = scan::name(text)?;
    (rest.starts_with(end) && known::is_word(name)).then_some(name)
}

/// The first call in a line: ids of other forms, names of commands and stamps may precede it.
fn call_inside(line: &[u8]) -> &[u8] {
    if let Some(at) = memchr::memmem::find(line, b"<... ") {
        return scan::name(&line[at + 5..]).map_or(b"", |(name, _)| name);
    }
    let before = memchr::memchr(b'(', line).map_or(&b""[..], |at| &line[..at]);
    let start = before
        .iter()
        .rposition(|&byte| !(is_word_byte(byte) || byte == b'_'))
        .map_or(0, |at| at + 1);
    match &before[start..] {
        // `0.164 ( 0.002 ms): ls/4711 read(`.
        b"" if !before.is_empty() => {
            memchr::memmem::find(line, b"): ").map_or(b"", |at| call_inside(&line[at + 3..]))
        }
        name => name,
    }
}

/// Where the text stands that precedes the first parenthesis, if no call has this name. Digits in it are no numbers.
fn name_of_call(line: &[u8]) -> std::ops::Range<usize> {
    let end = memchr::memchr(b'(', line).unwrap_or(0);
    let start = line[..end]
        .iter()
        .rposition(u8::is_ascii_whitespace)
        .map_or(0, |at| at + 1);
    let is_string = line[..end].contains(&b'"');
    if start == 0 || is_string || known::is_word(&line[start..end]) {
        return 0..0;
    }
    start..end
}

/// Length of the duration at the end of a line of strace, with its blank.
fn duration_len(body: &[u8]) -> usize {
    let Some(inside) = body.strip_suffix(b">") else {
        return 0;
    };
    let start = inside
        .iter()
        .rposition(|byte| !(byte.is_ascii_digit() || *byte == b'.'))
        .map_or(0, |at| at + 1);
    let is_duration = inside[..start].ends_with(b" <") && start < inside.len();
    if is_duration {
        body.len() - start + 2
    } else {
        0
    }
}

/// Where the name of a signal or of a thread begins: `+++ killed by SIGKILL +++`, `strace: Process 9 (sh) attached`.
fn name_at_end(line: &[u8]) -> usize {
    const SIGNAL: &[u8] = b"+++ killed by ";
    const PROCESS: &[u8] = b"strace: Process ";
    const EXECUTED: &[u8] = b"*** cannot trace across exec() of ";
    if let Some(at) = memchr::memmem::find(line, SIGNAL) {
        return at + SIGNAL.len();
    }
    if line.starts_with(b"dtrace: ") {
        return 0;
    }
    if let Some(at) = memchr::memmem::find(line, EXECUTED) {
        return at + EXECUTED.len();
    }
    let thread = memchr::memchr(b'(', line).filter(|_| line.starts_with(PROCESS));
    thread.unwrap_or(line.len())
}

/// A record of kdump about a name, which begins with a process id.
fn is_record(text: &[u8]) -> bool {
    let begins = text.first().is_some_and(u8::is_ascii_digit);
    begins
        && [&b" NAMI  "[..], b" STRU  ", b" GIO   "]
            .iter()
            .any(|kind| memchr::memmem::find(text, kind).is_some())
}

/// Bytes as strace dumps them with `-e read`: ` | 00000  65 78 …`.
fn is_dump(line: &[u8]) -> bool {
    line.starts_with(b" | ")
}

/// Bytes as truss dumps them with `-r`: two characters each.
fn is_pairs(text: &[u8]) -> bool {
    let pairs = text
        .chunks(2)
        .filter(|pair| matches!(pair, [b' ' | b'\\', _] | [b'0'..=b'9' | b'A'..=b'F', b'0'..=b'9' | b'A'..=b'F']));
    let text_pairs = text
        .get(1..)
        .unwrap_or(b"")
        .chunks(2)
        .filter(|pair| pair[0] == b' ')
        .count();
    text.len() > 4 && (pairs.count() * 2 >= text.len() - 1 || text_pairs * 2 + 2 >= text.len())
}

/// Append a line with `x` for each letter and digit.
fn fill_words(line: &[u8], out: &mut Vec<u8>) {
    let is_kept = |byte: u8| matches!(byte, b' ' | b'\t' | b'"' | b'|');
    out.extend(
        line.iter()
            .map(|&byte| if is_kept(byte) { byte } else { b'x' }),
    );
}
