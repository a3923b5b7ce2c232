//! The prefix of lines: ids, clocks, numbers. Its layout is decided once, from the head of a capture.

use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::format::Head;
use crate::line::{NO_ID, NO_NS};
use crate::line_cache::LinePrefix;
use crate::scan;
use std::borrow::Cow;

/// Ids are below this on every Linux. A larger lone integer is a time.
const MAX_ID: i64 = 4_194_304;

/// Where the thread id is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StraceIds {
    /// Nowhere.
    #[default]
    None,
    /// First on each line.
    Column,
    /// `[pid  123] `, on some lines.
    Bracket,
}

/// The wall clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WallClock {
    /// None.
    #[default]
    None,
    /// `1795224170.658193`
    Epoch,
    /// `01:23:30.170323`
    TimeOfDay,
}

/// The time since the previous line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Relative {
    /// None.
    #[default]
    None,
    /// `     0.000245`
    Alone,
    /// `(+     0.000281)`
    NextToClock,
}

/// The prefix of each line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StraceLayout {
    /// Where the id is.
    pub ids: StraceIds,
    /// `[context]` of SELinux.
    pub context: bool,
    /// The wall clock.
    pub clock: WallClock,
    /// The time since the previous line.
    pub relative: Relative,
    /// Digits after the point of the clock in use.
    pub digits: usize,
    /// `[  59]`, number of the syscall.
    pub number: bool,
    /// `[00007f441a258ad7]`, instruction pointer.
    pub pointer: bool,
    /// ` <0.000012>` at the end of calls.
    pub durations: bool,
    /// Terminal colours.
    pub colours: bool,
}

/// The prefix of one line, read.
pub struct StracePrefix<'a> {
    /// Thread id or [`NO_ID`].
    pub tid: i32,
    /// Stamp or [`NO_NS`].
    pub stamp_ns: i64,
    /// What follows.
    pub body: &'a [u8],
}

/// Names of tasks have up to 15 bytes, each of which may be escaped.
const MAX_NAME_BYTES: usize = 4 * 15;

/// Lines that differ only in where the id is, and whether they have a duration.
struct LayoutVotes {
    layout: StraceLayout,
    /// Number of lines by [`StraceIds`].
    lines: [usize; 3],
    /// Those with a duration.
    timed: [usize; 3],
}

impl LayoutVotes {
    /// The layout of most of these lines. Durations of lines that it cannot read are those of another run.
    fn decided(&self) -> StraceLayout {
        let [bare, column, bracket] = self.lines;
        let (ids, timed) = match () {
            () if column > bare + bracket => {
                (StraceIds::Column, self.timed[StraceIds::Column as usize])
            }
            () if bracket > 0 => (
                StraceIds::Bracket,
                self.timed[0] + self.timed[StraceIds::Bracket as usize],
            ),
            () => (StraceIds::None, self.timed[0]),
        };
        StraceLayout {
            ids,
            durations: timed > 0,
            ..self.layout
        }
    }
}

impl StraceLayout {
    /// The layout of most lines of the head.
    pub fn of(head: Head<'_>) -> StraceLayout {
        let mut votes: Vec<LayoutVotes> = Vec::new();
        for line in head.lines() {
            let line = without_colours(line.strip_prefix(super::BYTE_ORDER_MARK).unwrap_or(line));
            // strace escapes tabs: such a line is another tracer's.
            let guess =
                StraceLayout::guess(&line).filter(|_| memchr::memchr(b'\t', &line).is_none());
            let Some(guess) = guess else {
                continue;
            };
            let layout = StraceLayout {
                ids: StraceIds::None,
                durations: false,
                ..guess
            };
            let at = votes
                .iter()
                .position(|votes| votes.layout == layout)
                .unwrap_or_else(|| {
                    votes.push(LayoutVotes {
                        layout,
                        lines: [0; 3],
                        timed: [0; 3],
                    });
                    votes.len() - 1
                });
            votes[at].lines[guess.ids as usize] += 1;
            votes[at].timed[guess.ids as usize] += usize::from(guess.durations);
        }
        let common = votes
            .iter()
            .max_by_key(|votes| votes.lines.iter().sum::<usize>());
        let colours = memchr::memchr(0x1b, head.bytes).is_some();
        common.map_or_else(Default::default, |votes| StraceLayout {
            colours,
            ..votes.decided()
        })
    }

    /// What the lines contain and mean.
    pub fn facts(&self) -> CaptureFacts {
        let clock = match (self.clock, self.relative) {
            (WallClock::Epoch, _) => Clock::Epoch,
            (WallClock::TimeOfDay, _) => Clock::TimeOfDay,
            (WallClock::None, Relative::Alone) => Clock::SincePrevious,
            _ => Clock::None,
        };
        let dur_kind = match (self.durations, clock) {
            (true, _) => DurKind::Exact,
            (false, Clock::None) => DurKind::None,
            (false, _) => DurKind::UpperBound,
        };
        CaptureFacts {
            stamp: if clock == Clock::None {
                StampMoment::None
            } else {
                StampMoment::Start
            },
            clock,
            tick_ns: scan::tick_ns(self.digits),
            dur_kind,
            has_durations: self.durations,
            has_ids: self.ids != StraceIds::None,
            ids_optional: self.ids != StraceIds::Column,
            marks_halves: true,
            ..CaptureFacts::PLAIN
        }
    }

    /// Whether lines of this capture have a prefix.
    pub fn has_prefix(&self) -> bool {
        self.ids == StraceIds::Column
            || self.clock != WallClock::None
            || self.relative != Relative::None
            || self.context
    }

    /// The layout of one line, if it can be a line of strace with any body.
    pub fn guess(line: &[u8]) -> Option<StraceLayout> {
        let mut layout = StraceLayout::default();
        let mut rest = line;
        if let Some((_, after)) = bracket_id(rest) {
            layout.ids = StraceIds::Bracket;
            rest = after;
        } else if let Some((id, after)) = column_id(rest).filter(|&(id, _)| id <= MAX_ID) {
            let _ = id;
            layout.ids = StraceIds::Column;
            rest = after;
        }
        let indented = rest.first() == Some(&b' ') || layout.ids == StraceIds::Column;
        if let Some(after) = context(rest) {
            layout.context = true;
            rest = after;
        }
        rest = layout.guess_clocks(rest, indented)?;
        if let Some(after) = call_number(rest) {
            layout.number = true;
            rest = after;
        }
        if let Some(after) = pointer(rest) {
            layout.pointer = true;
            rest = after;
        }
        layout.durations = super::result::duration(rest).is_some();
        super::is_body(rest).then_some(layout)
    }

    fn guess_clocks<'a>(&mut self, text: &'a [u8], indented: bool) -> Option<&'a [u8]> {
        let mut rest = scan::skip_blanks(text);
        if let Some((_, digits, after)) = scan::time_of_day(rest) {
            (self.clock, self.digits) = (WallClock::TimeOfDay, digits);
            rest = after.strip_prefix(b" ")?;
        } else if let Some((ns, digits, after)) = scan::seconds(rest) {
            if ns > MAX_ID * 1_000_000_000 {
                self.clock = WallClock::Epoch;
            } else if digits > 0
                || indented && (self.ids == StraceIds::Column || is_whole_seconds(text, after))
            {
                self.relative = Relative::Alone;
            }
            self.digits = digits;
            rest = after.strip_prefix(b" ")?;
        } else if rest.len() != text.len() && self.ids == StraceIds::None {
            return None;
        }
        match relative_time(rest) {
            Some((_, after)) if self.clock != WallClock::None => {
                self.relative = Relative::NextToClock;
                Some(after)
            }
            _ => Some(rest),
        }
    }

    /// Whether lines have an id and a stamp since 1970 and nothing else, as with `-f -o FILE -ttt`.
    pub fn is_common(&self) -> bool {
        let plain =
            !self.context && !self.number && !self.pointer && self.relative == Relative::None;
        plain && self.ids == StraceIds::Column && self.clock == WallClock::Epoch
    }

    /// Read the prefix of a line; `None` if the line does not have it.
    pub fn prefix<'a>(&self, line: &'a [u8]) -> Option<StracePrefix<'a>> {
        let (tid, mut rest) = match self.ids {
            StraceIds::Column => column_id(line).map(|(id, rest)| (id as i32, rest))?,
            _ => bracket_id(line).unwrap_or((NO_ID, line)),
        };
        let mut stamp_ns = NO_NS;
        if self.context {
            rest = context(rest)?;
        }
        match self.clock {
            WallClock::None => {}
            // A smaller number is the end of a stamp that was torn.
            WallClock::Epoch => {
                (stamp_ns, rest) = epoch(scan::skip_blanks(rest))
                    .filter(|found| found.0 > MAX_ID * 1_000_000_000)?;
            }
            WallClock::TimeOfDay => {
                let (ns, _, after) = scan::time_of_day(scan::skip_blanks(rest))?;
                (stamp_ns, rest) = (ns, after.strip_prefix(b" ")?);
            }
        }
        match self.relative {
            Relative::None => {}
            Relative::Alone => {
                let (ns, _, after) = scan::seconds(scan::skip_blanks(rest))?;
                (stamp_ns, rest) = (ns, after.strip_prefix(b" ")?);
            }
            Relative::NextToClock => rest = relative_time(rest)?.1,
        }
        if self.number {
            rest = call_number(rest)?;
        }
        if self.pointer {
            rest = pointer(rest)?;
        }
        Some(StracePrefix {
            tid,
            stamp_ns,
            body: rest,
        })
    }

    /// Whether a line has an id and then a part of a time of day, or a stamp of another layout.
    pub fn has_torn_stamp(&self, line: &[u8]) -> bool {
        let has_both = self.ids == StraceIds::Column && self.clock == WallClock::TimeOfDay;
        let Some((_, rest)) = column_id(line).filter(|_| has_both) else {
            return false;
        };
        let rest = scan::skip_blanks(rest);
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_epoch = epoch(rest).is_some_and(|(stamp_ns, _)| stamp_ns > MAX_ID * 1_000_000_000);
        digits > 0 && (is_epoch || rest.get(digits) == Some(&b':'))
    }

    /// The name of the program next to the id of a line: `9758<netsrv> `, `[pid 9758<netsrv>] `.
    pub fn program<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let ids = match self.ids {
            StraceIds::Column => line,
            _ => scan::skip_blanks(line.strip_prefix(b"[pid ")?),
        };
        let name = &ids[ids.iter().take_while(|byte| byte.is_ascii_digit()).count()..];
        let name = name
            .get(..scan::decoration_len(name))?
            .strip_prefix(b"<")?
            .strip_suffix(b">")?;
        (!name.is_empty() && name.len() <= MAX_NAME_BYTES).then_some(name)
    }

    /// This layout for a line that lacks the id.
    pub fn without_ids(&self) -> StraceLayout {
        StraceLayout {
            ids: StraceIds::None,
            ..*self
        }
    }
}

/// Whether a whole number before `after` is as wide as strace prints differences in seconds. Other numbers on indented
/// lines are ids.
fn is_whole_seconds(text: &[u8], after: &[u8]) -> bool {
    const WIDTH: usize = 6;
    text.len() - after.len() == WIDTH
}

/// `1234  ` or `9758<netsrv> `: the id, and the text after the blanks.
fn column_id(line: &[u8]) -> Option<(i64, &[u8])> {
    let mut id = 0i64;
    let mut at = 0;
    while let Some(byte) = line.get(at).filter(|byte| byte.is_ascii_digit()) {
        id = id * 10 + i64::from(byte - b'0');
        at += 1;
        if at > 10 {
            return None;
        }
    }
    if at == 0 || id > i64::from(i32::MAX) {
        return None;
    }
    let rest = &line[at..];
    let rest = if rest.first() == Some(&b'<') {
        &rest[scan::decoration_len(rest)..]
    } else {
        rest
    };
    match rest {
        [b' ', b' ', rest @ ..] => Some((id, scan::skip_blanks(rest))),
        [b' ', rest @ ..] => Some((id, scan::skip_blanks(rest))),
        // Copied from a page that lost the blank.
        [b'a'..=b'z' | b'_', ..] if at > 1 => Some((id, rest)),
        _ => None,
    }
}

/// `[pid  123] ` or `[pid 123<sh>] `.
fn bracket_id(line: &[u8]) -> Option<(i32, &[u8])> {
    let rest = line.strip_prefix(b"[pid ")?;
    let (id, rest) = scan::number(scan::skip_blanks(rest))?;
    let rest = &rest[scan::decoration_len(rest)..];
    Some((i32::try_from(id).ok()?, rest.strip_prefix(b"] ")?))
}

/// Seconds since 1970 and the blank after them. All digits are read in one loop, because this is the most common clock.
fn epoch(text: &[u8]) -> Option<(i64, &[u8])> {
    if let Some((micros, len)) = micros_since_1970(text) {
        return Some((micros.checked_mul(1000)?, &text[len..]));
    }
    let (mut value, mut at, mut point) = (0i64, 0, usize::MAX);
    loop {
        match text.get(at)? {
            byte @ b'0'..=b'9' => {
                value = value.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'))
            }
            b'.' if point == usize::MAX => point = at,
            b' ' => break,
            _ => return None,
        }
        at += 1;
    }
    let digits = if point == usize::MAX {
        0
    } else {
        at - point - 1
    };
    let whole_digits = at - digits - usize::from(digits > 0);
    if digits > 9 || !(1..=10).contains(&whole_digits) {
        return None;
    }
    Some((value.checked_mul(scan::tick_ns(digits))?, &text[at + 1..]))
}

/// The prefix of a line with an id, one or two blanks, and microseconds since 1970: the most common layout.
/// [`StraceLayout::prefix`] reads it too, but slower.
#[inline]
pub(crate) fn common_prefix(text: &[u8]) -> Option<LinePrefix> {
    // Such a prefix is not longer. Few lines are shorter, and those only at the end of a text.
    let text: &[u8; 32] = text.first_chunk()?;
    let (tid, digits) = scan::short_number(*text.first_chunk()?)?;
    if text[digits] != b' ' {
        return None;
    }
    let begin = digits + 1 + usize::from(text[digits + 1] == b' ');
    let (micros, stamp_len) = micros_since_1970(text.get(begin..)?)?;
    Some(LinePrefix::of_stamp(
        tid,
        micros.checked_mul(1000)?,
        begin + stamp_len,
    ))
}

/// Microseconds since 1970 as ten digits, a point and six digits, and their length with the blank after them. `-ttt`
/// prints this form until the year 2286.
#[inline]
fn micros_since_1970(text: &[u8]) -> Option<(i64, usize)> {
    let stamp: &[u8; 18] = text.first_chunk()?;
    let [seconds, middle] = [0, 8].map(|at| {
        stamp
            .get(at..)
            .and_then(|rest| rest.first_chunk())
            .map(|&eight| u64::from_le_bytes(eight))
    });
    let (seconds, middle) = (seconds?, middle?);
    if stamp[10] != b'.' || stamp[17] != b' ' {
        return None;
    }
    // Remove the point between the last two digits of the seconds and the six after it.
    let digits = middle & 0xFFFF | middle >> 24 << 16 | u64::from(stamp[16]) << 56;
    let [high, low] = scan::twice_eight_digits([seconds, digits])?;
    Some((high * 100_000_000 + low, stamp.len()))
}

/// `(+     0.000281) `
fn relative_time(text: &[u8]) -> Option<(i64, &[u8])> {
    let (ns, _, rest) = scan::seconds(scan::skip_blanks(text.strip_prefix(b"(+")?))?;
    rest.strip_prefix(b") ").map(|rest| (ns, rest))
}

/// `[unconfined_u:unconfined_r:unconfined_t:s0] `
fn context(text: &[u8]) -> Option<&[u8]> {
    let inner = scan::skip_blanks(text).strip_prefix(b"[")?;
    let end = memchr::memchr(b']', inner)?;
    let label = &inner[..end];
    let fits = label.contains(&b':') && !label.contains(&b' ') && !label.contains(&b'=');
    inner[end + 1..].strip_prefix(b" ").filter(|_| fits)
}

/// `[  59] ` or `[???] `
fn call_number(text: &[u8]) -> Option<&[u8]> {
    let inner = text.strip_prefix(b"[")?;
    if let Some(rest) = inner.strip_prefix(b"???] ") {
        return Some(rest);
    }
    let end = memchr::memchr(b']', inner).filter(|end| (3..8).contains(end))?;
    let digits = scan::skip_blanks(&inner[..end]);
    let fits = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    inner[end + 1..].strip_prefix(b" ").filter(|_| fits)
}

/// `[00007f441a258ad7] `, `[????????????????] `, `[    7f91d1cc6ad7] `
fn pointer(text: &[u8]) -> Option<&[u8]> {
    let inner = text.strip_prefix(b"[")?;
    let end = memchr::memchr(b']', inner).filter(|end| matches!(end, 8 | 16))?;
    let digits = scan::skip_blanks(&inner[..end]);
    let fits = !digits.is_empty()
        && digits
            .iter()
            .all(|byte| byte.is_ascii_hexdigit() || *byte == b'?');
    inner[end + 1..].strip_prefix(b" ").filter(|_| fits)
}

/// Without terminal colours.
pub fn without_colours(line: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(0x1b, line).is_none() {
        return Cow::Borrowed(line);
    }
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memchr::memchr(0x1b, rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(code) = rest.strip_prefix(b"[") else {
            out.push(0x1b);
            continue;
        };
        let end = code
            .iter()
            .position(|byte| !(byte.is_ascii_digit() || *byte == b';'))
            .unwrap_or(code.len());
        if code.get(end) == Some(&b'm') {
            rest = &code[end + 1..];
        }
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}
