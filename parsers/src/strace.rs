//! strace text.
//!
//! In:   1234 1795224170.658193 read(3</etc/passwd>, "x", 1) = 1 <0.000012>
//! Out:  tid 1234, start …658193000 ns, dur 12000 ns, read, fd 3, target /etc/passwd, ret 1
//!
//! The ids are those of threads. Each physical line is read alone; the assembler joins calls that span several lines
//! (halves, lines cut by a message).

pub(crate) mod arguments;
pub(crate) mod events;
pub(crate) mod layout;
mod recognise;
pub(crate) mod result;
pub(crate) mod table;

use crate::call;
use crate::capture_facts::CaptureFacts;
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{CallPart, Extra, Line, LineKind, NO_ID, NO_NS, Outcome};
use crate::line_cache::{LineParts, LinePrefix};
use crate::prompt;
use crate::quoting;
use crate::scan;
use crate::stack;
use crate::syscalls::{self, Syscall, Wait};
use crate::text::Text;
use arguments::ArgumentList;
use layout::{StraceIds, StraceLayout, StracePrefix, WallClock};
use table::SummaryColumns;

/// Some editors write it before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// First lines in which names of programs show next to ids, if there are any.
const LINES_WITH_NAMES: usize = 16;

/// The format.
pub struct Strace;

impl Format for Strace {
    fn name(&self) -> &'static str {
        "strace"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        recognise::recognise(head)
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        let layout = StraceLayout::of(head);
        let has_names = head
            .lines()
            .take(LINES_WITH_NAMES)
            .any(|line| layout.program(line).is_some());
        Box::new(StraceReader {
            is_common: layout.is_common() && !layout.colours && !has_names,
            layout,
            has_names,
            columns: SummaryColumns::of(head),
        })
    }
}

struct StraceReader {
    layout: StraceLayout,
    /// Lines have the most common prefix, which is read in one step.
    is_common: bool,
    /// Ids have the name of the program next to them (`-Y`).
    has_names: bool,
    columns: Option<SummaryColumns>,
}

impl LineReader for StraceReader {
    fn facts(&self) -> CaptureFacts {
        self.layout.facts()
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        let line = without_line_end(line);
        if self.layout.colours {
            return self.read_plain(&layout::without_colours(line), parsed);
        }
        let mut read = self.read_plain(line, parsed);
        if self.has_names
            && read.tid != NO_ID
            && let Some(name) = self.layout.program(line)
        {
            parsed.name_program(&mut read, name);
        }
        read
    }

    fn parts<'a>(&self, line: &'a [u8]) -> Option<LineParts<'a>> {
        if self.layout.colours || self.has_names {
            return None;
        }
        let line = without_line_end(line);
        if line.starts_with(b" > ") {
            // Stacks repeat themselves.
            return Some(LinePrefix::of_stamp(NO_ID, NO_NS, 0).parts(line, NO_NS));
        }
        let StracePrefix {
            tid,
            stamp_ns,
            body,
        } = self.layout.prefix(line)?;
        Some(parts(
            LinePrefix::of_stamp(tid, stamp_ns, line.len() - body.len()),
            body,
        ))
    }

    #[inline]
    fn parts_after<'a>(&self, prefix: LinePrefix, line: &'a [u8]) -> Option<LineParts<'a>> {
        let line = without_line_end(line);
        line.get(prefix.len..).map(|body| parts(prefix, body))
    }

    fn read_after(&self, prefix: LinePrefix, line: &[u8], parsed: &mut Parsed) -> Line {
        let line = without_line_end(line);
        let LinePrefix {
            tid, stamp_ns, len, ..
        } = prefix;
        self.read_from(
            line,
            line.get(len..).map(|body| StracePrefix {
                tid,
                stamp_ns,
                body,
            }),
            parsed,
        )
    }

    #[inline]
    fn prefix(&self, text: &[u8]) -> Option<LinePrefix> {
        if self.is_common {
            layout::common_prefix(text)
        } else {
            None
        }
    }

    #[inline]
    fn leading_duration<'a>(&self, text: &'a [u8]) -> Option<(i64, &'a [u8])> {
        result::leading_duration(text)
    }
}

/// A line without the carriage return of another system, and without the blanks that mails and editors leave behind a
/// result. Elsewhere, a blank at the end belongs to a call that is cut.
#[inline]
fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.last() != Some(&b' ') {
        return line;
    }
    let trimmed = line.trim_ascii_end();
    let is_whole = [&b" +++"[..], b" ---"]
        .iter()
        .any(|end| trimmed.ends_with(end))
        || result::duration(trimmed).is_some();
    if is_whole { trimmed } else { line }
}

/// The parts of a line with this prefix and body.
#[inline]
fn parts(prefix: LinePrefix, body: &[u8]) -> LineParts<'_> {
    let (dur_ns, body) = result::duration(body).unwrap_or((NO_NS, body));
    prefix.parts(body, dur_ns)
}

impl StraceReader {
    fn read_plain(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        self.read_from(line, self.layout.prefix(line), parsed)
    }

    /// Read a line with this prefix, if it has one.
    fn read_from(
        &self,
        line: &[u8],
        prefix: Option<StracePrefix<'_>>,
        parsed: &mut Parsed,
    ) -> Line {
        if let Some(read) = prefix.as_ref().and_then(|prefix| body(prefix, parsed)) {
            return read;
        }
        if let Some(read) = self.apart(line, parsed) {
            return read;
        }
        if prefix.as_ref().is_some_and(|prefix| is_torn(prefix.body)) {
            return Line::of(LineKind::Foreign);
        }
        if let Some(rest) = line
            .strip_prefix(BYTE_ORDER_MARK)
            .or_else(|| after_hole(line))
            .or_else(|| quoting::unpointed(line))
            .or_else(|| quoting::inline_code(line))
        {
            return self.read_plain(rest, parsed);
        }
        match prefix.filter(|prefix| self.layout.has_prefix() || prefix.body.len() < line.len()) {
            Some(prefix) => Line {
                tid: prefix.tid,
                stamp_ns: prefix.stamp_ns,
                ..Line::of(LineKind::Damaged)
            },
            None => tail(line, parsed).unwrap_or_else(|| self.unusable(line)),
        }
    }

    /// Lines that never have a prefix, whatever the layout.
    fn apart(&self, line: &[u8], parsed: &mut Parsed) -> Option<Line> {
        if let Some(blank) = blank(line) {
            return Some(blank);
        }
        if events::is_auxiliary(line) {
            return Some(auxiliary(line, parsed));
        }
        events::message(line, parsed)
            .or_else(|| table::read(line, self.columns.as_ref(), parsed))
            .or_else(|| prompt::read(line, parsed))
    }

    /// A line that matches nothing: a call without the id that other lines have, a cut prefix, or a line that is not of
    /// strace.
    fn unusable(&self, line: &[u8]) -> Line {
        let lacks_id = self.layout.ids == StraceIds::Column && self.layout.clock != WallClock::None;
        if lacks_id
            && self
                .layout
                .without_ids()
                .prefix(line)
                .is_some_and(|prefix| is_body(prefix.body))
        {
            return Line::of(LineKind::NoThread);
        }
        let only_prefix = line
            .iter()
            .all(|byte| byte.is_ascii_digit() || b" .:[]pid(+".contains(byte));
        let is_cut = only_prefix && self.layout.has_prefix() || self.layout.has_torn_stamp(line);
        Line::of(if is_cut {
            LineKind::Damaged
        } else {
            LineKind::Foreign
        })
    }
}

/// A stack frame, or another line without a prefix.
fn auxiliary(line: &[u8], parsed: &mut Parsed) -> Line {
    stack::of_strace(line).map_or_else(
        || Line::of(LineKind::Continuation),
        |frame| frame.line(parsed),
    )
}

/// The text after the zeros of a file that was truncated while the tracer wrote to it.
fn after_hole(line: &[u8]) -> Option<&[u8]> {
    let zeros = line.iter().take_while(|&&byte| byte == 0).count();
    line.get(zeros..)
        .filter(|rest| zeros > 0 && !rest.is_empty())
}

/// Whether a text can follow the prefix.
fn is_body(text: &[u8]) -> bool {
    match text.first() {
        Some(b'<') => text.starts_with(b"<... "),
        Some(b'-') => text.starts_with(b"--- ") && text.ends_with(b" ---"),
        Some(b'+') => text.starts_with(b"+++ ") && text.ends_with(b" +++"),
        Some(b'[') => text.starts_with(b"[ Process PID="),
        _ => call_name(text).is_some(),
    }
}

/// The name of a call and what follows its parenthesis: `openat`, `readv#64`, `64:readv`, `syscall_0x1b3`, `????`.
fn call_name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let named = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'#' | b':' | b'?');
    let end = text.iter().position(|byte| !named(byte))?;
    let name = &text[..end];
    let starts_well = matches!(
        name,
        [b'0'..=b'9', b'0'..=b'9', b':', b'a'..=b'z' | b'_', ..] | [b'a'..=b'z' | b'_' | b'?', ..]
    );
    (starts_well && text[end] == b'(').then(|| (name, &text[end + 1..]))
}

/// Whether a text begins within the name of a call, like the first line of a text that was not copied from its start.
fn is_torn(text: &[u8]) -> bool {
    call_name(text).is_some_and(|(name, _)| syscalls::is_end_of_name(name))
}

/// The syscall of a name that may include its personality.
fn known(name: Text, printed: &[u8]) -> Option<&'static Syscall> {
    syscalls::by_text(name).or_else(|| {
        let plain = printed
            .strip_suffix(b"#64")
            .or_else(|| printed.strip_prefix(b"64:"))?;
        syscalls::by_name(plain)
    })
}

fn body(prefix: &StracePrefix<'_>, parsed: &mut Parsed) -> Option<Line> {
    let mut line = Line {
        tid: prefix.tid,
        stamp_ns: prefix.stamp_ns,
        ..Line::of(LineKind::Call)
    };
    let text = prefix.body;
    let understood = match text.first()? {
        b'<' => resumed(text, &mut line, parsed),
        b'-' => events::signal(text, &mut line, parsed),
        b'+' => events::end(text, &mut line, parsed),
        b'[' => {
            line.kind = LineKind::Process;
            text.starts_with(b"[ Process PID=")
        }
        _ => entered(text, &mut line, parsed),
    };
    understood.then_some(line)
}

/// A call from its name on: whole, or its first half.
fn entered(text: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    let Some((name, rest)) = call_name(text).filter(|(name, _)| !syscalls::is_end_of_name(name))
    else {
        return false;
    };
    if name == UNKNOWN_CALL {
        of_unknown_call(rest, line, parsed);
        return true;
    }
    line.name = parsed.texts.add(name);
    let mut args = ArgumentList::default();
    let result = arguments::split(rest, &mut args);
    let read = result.map_or(result::ReadResult::Cut, |result| {
        result::read(result, line, parsed)
    });
    let call = known(line.name, name);
    match read {
        result::ReadResult::Whole(id) => {
            if line.outcome == Outcome::NoReturn {
                let (before, _) = cut(args.last());
                args.replace_last(before);
            }
            with_tracer_id(id, line, |line| {
                if let Some(call) = call {
                    call::describe(call, args.list(), line, parsed);
                }
            });
            if let Some(fd) = only_ready(line, result) {
                parsed.ready_is(line, fd);
            }
        }
        result::ReadResult::Cut => begun(call, result.is_none(), &mut args, line, parsed),
    }
    true
}

/// The name that strace prints for a thread that it stopped in a call which it did not see begin.
const UNKNOWN_CALL: &[u8] = b"????";

/// `????( <detached ...>`, `????()`: nothing is known of the call, not even whether it is one.
fn of_unknown_call(rest: &[u8], line: &mut Line, parsed: &mut Parsed) {
    line.kind = LineKind::Notice;
    let mut args = ArgumentList::default();
    if arguments::split(rest, &mut args).is_none() {
        let mark = take_cut(&mut args);
        keep_cut(mark, line, parsed);
    }
}

/// The only descriptor that a call found ready.
fn only_ready(line: &Line, result: Option<&[u8]>) -> Option<i32> {
    result
        .filter(|_| line.ret == 1)
        .and_then(result::only_ready)
}

/// A first half, with the mark that strace prints where it cut the line.
fn begun(
    call: Option<&'static Syscall>,
    open: bool,
    args: &mut ArgumentList<'_>,
    line: &mut Line,
    parsed: &mut Parsed,
) {
    (line.kind, line.part, line.outcome) = (LineKind::CallStart, CallPart::Begun, Outcome::Open);
    let mark = if open { take_cut(args) } else { None };
    if let Some(call) = call {
        call::describe(call, args.list(), line, parsed);
    }
    keep_cut(mark, line, parsed);
    if open && mark.is_none() && args.is_torn() || mark.is_none() && has_returned(call, args) {
        line.extra = parsed.keep(Extra::Torn);
    }
    if matches!(
        mark,
        None | Some(CutMark::Stopped | CutMark::Detached | CutMark::Attached(_, false))
    ) {
        line.outcome = Outcome::Interrupted;
    }
}

/// Whether a call without a result shows what it read, which strace prints when the call returns: somebody cut the line.
fn has_returned(call: Option<&'static Syscall>, args: &ArgumentList<'_>) -> bool {
    let reads = call.is_some_and(|call| call.action.wait() == Some(Wait::Read));
    reads
        && args
            .list()
            .get(1)
            .is_some_and(|text| text.starts_with(b"\""))
}

/// A second half.
fn resumed(text: &[u8], line: &mut Line, parsed: &mut Parsed) -> bool {
    let Some((name, rest)) = resumed_name(text) else {
        return false;
    };
    if name == UNKNOWN_CALL {
        of_unknown_call(rest, line, parsed);
        return true;
    }
    (line.kind, line.part) = (LineKind::CallEnd, CallPart::Resumed);
    line.name = parsed.texts.add(name);
    let mut args = ArgumentList::default();
    let result = arguments::split(rest, &mut args);
    match result.map_or(result::ReadResult::Cut, |result| {
        result::read(result, line, parsed)
    }) {
        result::ReadResult::Whole(id) => {
            with_tracer_id(id, line, |line| {
                if let Some(call) = known(line.name, name) {
                    call::describe_rest(call, args.list(), line, parsed);
                }
            });
            if let Some(fd) = only_ready(line, result).filter(|_| line.extra == 0) {
                line.extra = parsed.keep(Extra::Ready(fd));
            }
        }
        result::ReadResult::Cut => {
            line.outcome = Outcome::Open;
            let mark = take_cut(&mut args);
            keep_cut(mark, line, parsed);
        }
    }
    true
}

/// `<... read resumed>`, with the blank that versions up to 4.26 print after it.
pub(crate) fn resumed_name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = text.strip_prefix(b"<... ")?;
    let end = memchr::memchr(b' ', rest)?;
    let (name, rest) = (&rest[..end], rest[end..].strip_prefix(b" resumed")?);
    let rest = match rest.strip_prefix(b" #") {
        Some(number) => scan::number(number)?.1,
        None => rest,
    };
    let rest = rest.strip_prefix(b">")?;
    // One blank belongs to the old form, unless it begins ` <unfinished ...>`.
    let piece = if rest.starts_with(b" <") {
        rest
    } else {
        rest.strip_prefix(b" ").unwrap_or(rest)
    };
    Some((name, piece))
}

/// The end of a call whose beginning is on an earlier line.
fn tail(text: &[u8], parsed: &mut Parsed) -> Option<Line> {
    let mut line = Line {
        part: CallPart::Tail,
        ..Line::of(LineKind::Continuation)
    };
    let mut args = ArgumentList::default();
    match arguments::split(text, &mut args) {
        Some(result) => match result::read(result, &mut line, parsed) {
            result::ReadResult::Whole(id) => {
                with_tracer_id(id, &mut line, |line| {
                    call::describe_tail(text, line, parsed)
                });
                Some(line)
            }
            result::ReadResult::Cut => None,
        },
        None => {
            let mark = take_cut(&mut args)?;
            line.outcome = Outcome::Open;
            keep_cut(Some(mark), &mut line, parsed);
            Some(line)
        }
    }
}

/// Links between tasks use the tracer's ids; the returned value stays as the program saw it.
fn with_tracer_id(id: Option<i32>, line: &mut Line, describe: impl FnOnce(&mut Line)) {
    let printed = line.ret;
    line.ret = id.map_or(printed, i64::from);
    describe(line);
    line.ret = printed;
}

/// The mark that strace prints where it cuts a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CutMark {
    /// ` <unfinished ...>`, ` <ptrace(SYSCALL):No such process>`: no further information.
    Plain,
    /// `^C <unfinished ...>`: a person ended strace.
    Stopped,
    /// ` <pid changed to 12 ...>`
    RenamedTo(i32),
    /// ` <detached ...>`: strace detaches from the thread.
    Detached,
    /// A message about this process: attached or detached.
    Attached(i32, bool),
}

/// The text before the cut mark, and the mark.
fn cut(text: &[u8]) -> (&[u8], Option<CutMark>) {
    if let Some(before) = text.strip_suffix(b"<unfinished ...>") {
        return match scan::trim_end(before).strip_suffix(b"^C") {
            Some(before) => (before, Some(CutMark::Stopped)),
            None => (before, Some(CutMark::Plain)),
        };
    }
    if let Some((at, said)) = events::message_inside(text) {
        let (before, inner) = cut(&text[..at]);
        let said = said.map_or(CutMark::Plain, |(id, attached)| {
            CutMark::Attached(id, attached)
        });
        return (before, inner.or(Some(said)));
    }
    let (at, mark) = match memchr::memmem::rfind(text, b" <") {
        Some(at) => (at, &text[at + 2..]),
        None if text.starts_with(b"<") => (0, &text[1..]),
        None => return (text, None),
    };
    let known: [&[u8]; 3] = [b"unfinished ", b"ptrace(", b"Cannot restart pid "];
    if let Some(id) = mark.strip_prefix(b"pid changed to ") {
        return (&text[..at], Some(CutMark::RenamedTo(events::id(id))));
    }
    if mark == b"detached ...>" {
        return (&text[..at], Some(CutMark::Detached));
    }
    let plain = mark.ends_with(b">") && known.iter().any(|known| mark.starts_with(known));
    if plain {
        (&text[..at], Some(CutMark::Plain))
    } else {
        (text, None)
    }
}

fn take_cut(args: &mut ArgumentList<'_>) -> Option<CutMark> {
    let (before, mark) = cut(args.last());
    args.replace_last(scan::trim_end(before));
    mark
}

fn keep_cut(mark: Option<CutMark>, line: &mut Line, parsed: &mut Parsed) {
    match mark {
        Some(CutMark::RenamedTo(id)) if line.extra == 0 => {
            line.extra = parsed.keep(Extra::RenamedTo(id))
        }
        Some(CutMark::Detached) if line.extra == 0 => {
            line.extra = parsed.keep(Extra::Attached(line.tid, false))
        }
        Some(CutMark::Attached(id, attached)) if line.extra == 0 => {
            line.extra = parsed.keep(Extra::Attached(id, attached))
        }
        // The message is inside the call that creates the child. The flags of that call are stored already.
        Some(CutMark::Attached(id, true)) => parsed.child_is(line, id),
        _ => {}
    }
}
