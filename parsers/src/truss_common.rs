//! What the readers of truss (Solaris, AIX, FreeBSD) and of dtruss share: columns before a call, the form of a call, how
//! errors and signals are recorded, and the rows of summary tables.

use crate::facts::Fact;
use crate::format::Parsed;
use crate::line::{Ended, Extra, Line, LineKind, NO_ID, Outcome};
use crate::scan;
use crate::text::Text;
use rustc_hash::FxHashMap;

/// A call. How it ended is `E`, because each tracer writes that differently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TrussCall<'a, E> {
    /// Its name.
    pub name: &'a [u8],
    /// The text between the outer parentheses.
    pub args: &'a [u8],
    /// The text after them.
    pub end: E,
}

/// What a text is, read as a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CallText<'a, E> {
    /// A call.
    Call(TrussCall<'a, E>),
    /// It begins like a call of this name, but has no end, or one that contradicts itself.
    Cut(&'a [u8]),
    /// Something else.
    Other,
}

/// A name, an id or a time at the start of a text, and the text after it.
type Leading<'a, T> = Option<(T, &'a [u8])>;

/// Read `name(arguments) end`, without blanks at its ends. `end` gets the text after the opening parenthesis, and returns the
/// arguments and the end.
pub(crate) fn read_call<'a, E>(
    text: &'a [u8],
    name: impl FnOnce(&'a [u8]) -> Leading<'a, &'a [u8]>,
    end: impl FnOnce(&'a [u8]) -> Option<(&'a [u8], E)>,
) -> CallText<'a, E> {
    let Some((name, rest)) = name(text) else {
        return CallText::Other;
    };
    let Some(inside) = rest.strip_prefix(b"(") else {
        return CallText::Other;
    };
    match end(inside) {
        Some((args, end)) => CallText::Call(TrussCall { name, args, end }),
        None => CallText::Cut(name),
    }
}

/// The id at the start of a text.
pub(crate) fn id(text: &[u8]) -> Leading<'_, i32> {
    let (value, rest) = scan::number(text)?;
    Some((i32::try_from(value).ok()?, rest))
}

/// Whether a column ends before this text.
pub(crate) fn ends_column(rest: &[u8]) -> bool {
    rest.first().is_none_or(|byte| matches!(byte, b' ' | b'\t'))
}

/// The time columns at the start of a text, up to `max` of them, their number, and the text after them.
pub(crate) fn time_columns<'a, const N: usize>(
    text: &'a [u8],
    max: usize,
    time: fn(&'a [u8]) -> Leading<'a, i64>,
) -> ([i64; N], usize, &'a [u8]) {
    let (mut times_ns, mut columns, mut rest) = ([0; N], 0, text);
    while columns < max.min(N) {
        let Some((time_ns, next)) = time(scan::skip_blanks(rest)) else {
            break;
        };
        times_ns[columns] = time_ns;
        columns += 1;
        rest = next;
    }
    (times_ns, columns, rest)
}

/// Where a prefix may start inside a line, after output of the traced program: before each `mark`, as far back as bytes can
/// be part of the prefix.
pub(crate) fn prefixes_inside(
    line: &[u8],
    mark: u8,
    is_part: fn(&u8) -> bool,
) -> impl Iterator<Item = &[u8]> + use<'_> {
    // A long line with many marks is not worth more than a few attempts.
    const MAX_ATTEMPTS: usize = 16;
    memchr::memchr_iter(mark, line)
        .take(MAX_ATTEMPTS)
        .filter_map(move |at| {
            let start = line
                .get(..at)?
                .iter()
                .rposition(|byte| !is_part(byte))
                .map_or(0, |before| before + 1);
            line.get(start..)
        })
}

/// Whether a column never falls from one line of a task to the next, and rises at least once. One fall in 20 rises is
/// tolerated: excerpts may be out of order, clocks may be set, and lines of two processors may be swapped.
pub(crate) fn never_falls(values: impl Iterator<Item = ((i32, i32), i64)>) -> bool {
    let (mut falls, mut rises) = (0, 0);
    let mut last: FxHashMap<(i32, i32), i64> = FxHashMap::default();
    for (task, value) in values {
        if let Some(before) = last.insert(task, value) {
            falls += usize::from(value < before);
            rises += usize::from(value > before);
        }
    }
    rises > 0 && falls * 20 <= rises
}

/// Record that a call was interrupted by a signal and will be restarted.
pub(crate) fn set_interrupted(line: &mut Line, parsed: &mut Parsed) {
    line.outcome = Outcome::Interrupted;
    line.errno = parsed.texts.add(b"ERESTART");
}

/// Record that a call failed, with the name of its error. Without a name, the number as the tracer marks it: `Err#999`.
pub(crate) fn set_failed(
    line: &mut Line,
    name: &[u8],
    mark: &str,
    number: i64,
    parsed: &mut Parsed,
) {
    line.outcome = Outcome::Failed;
    line.errno = match name {
        b"" => parsed.texts.add(format!("{mark}{number}").as_bytes()),
        name => parsed.texts.add(name),
    };
}

/// Signals by number that Solaris and the BSDs have in common. Later numbers differ.
#[rustfmt::skip]
const FIRST_SIGNALS: [&str; 16] = [
    "", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGEMT", "SIGFPE", "SIGKILL", "SIGBUS", "SIGSEGV",
    "SIGSYS", "SIGPIPE", "SIGALRM", "SIGTERM",
];

/// The name of a signal; `later` are the names of a system after SIGTERM.
pub(crate) fn signal_name(later: &[&str], number: i64, parsed: &mut Parsed) -> Text {
    let mut names = FIRST_SIGNALS.iter().chain(later);
    match usize::try_from(number)
        .ok()
        .and_then(|at| names.nth(at))
        .filter(|name| !name.is_empty())
    {
        Some(name) => parsed.texts.add(name.as_bytes()),
        None => parsed.texts.add(format!("signal {number}").as_bytes()),
    }
}

/// The words after a signal: `CLD_EXITED pid=4711 status=0x0001`, with `code=` before the code on FreeBSD.
pub(crate) struct SignalInfo<'a> {
    /// The sender, or the child of a SIGCHLD; [`NO_ID`] if not printed.
    pub from: i32,
    /// Why the signal was sent; empty if not printed.
    pub code: &'a [u8],
    status: Option<i64>,
    /// The address of a fault.
    address: Option<u64>,
}

/// How the codes of faults begin.
const FAULT_CODES: [&[u8]; 5] = [b"SEGV_", b"BUS_", b"FPE_", b"ILL_", b"TRAP_"];

fn has_fault_code(word: &[u8]) -> bool {
    FAULT_CODES.iter().any(|begin| word.starts_with(begin))
}

impl<'a> SignalInfo<'a> {
    /// Read the words.
    pub fn of(words: impl Iterator<Item = &'a [u8]>) -> SignalInfo<'a> {
        let mut info = SignalInfo {
            from: NO_ID,
            code: b"",
            status: None,
            address: None,
        };
        for word in words {
            if let Some((pid, _)) = word.strip_prefix(b"pid=").and_then(scan::number) {
                info.from = i32::try_from(pid).unwrap_or(NO_ID);
            } else if let Some((value, _)) = word.strip_prefix(b"status=").and_then(scan::value) {
                info.status = Some(value);
            } else if let Some(code) = word.strip_prefix(b"code=") {
                info.code = code;
            } else if word.starts_with(b"CLD_") || has_fault_code(word) {
                info.code = word;
            } else if let Some((address, _)) = word.strip_prefix(b"addr=").and_then(scan::value) {
                info.address = Some(address as u64);
            }
        }
        info
    }

    /// The extra of the signal's line; `later` as in [`signal_name`].
    pub fn extra(&self, later: &[&str], parsed: &mut Parsed) -> Extra {
        let ended = self.status.and_then(|status| match self.code {
            b"CLD_EXITED" => Some(Ended::Exited(status as i32)),
            b"CLD_KILLED" | b"CLD_DUMPED" => {
                Some(Ended::Killed(signal_name(later, status, parsed)))
            }
            _ => None,
        });
        let mut extra = Extra::Signal {
            from: self.from,
            ended,
        };
        if has_fault_code(self.code) {
            let code = parsed.texts.add(self.code);
            extra = extra.with(Fact::FaultCode(code));
            if let Some(address) = self.address {
                extra = extra.with(Fact::FaultAddress(address));
            }
        }
        extra
    }
}

/// The first fields of a row; empty where there is none. The last one shows only whether there are more.
pub(crate) fn fields(text: &[u8]) -> [&[u8]; 5] {
    let mut fields = text
        .split(u8::is_ascii_whitespace)
        .filter(|field| !field.is_empty());
    std::array::from_fn(|_| fields.next().unwrap_or(b""))
}

/// A field that is a number of calls.
pub(crate) fn count(field: &[u8]) -> Option<u64> {
    let (value, rest) = scan::number(field)?;
    rest.is_empty().then_some(value as u64)
}

/// The row of a summary table.
pub(crate) fn summary_row(
    name: &[u8],
    calls: u64,
    failed: u64,
    total_ns: i64,
    parsed: &mut Parsed,
) -> Line {
    let mut row = Line::of(LineKind::SummaryTable);
    row.name = parsed.texts.add(name);
    row.extra = parsed.keep(Extra::SummaryRow {
        calls,
        failed,
        total_ns,
    });
    row
}
