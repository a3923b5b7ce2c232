//! Lines as a reader hands them over: what a body says is told once, of a line that repeats it only what differs.
//!
//! ```text
//! 1234 1795224170.658193 close(3</etc/passwd>) = 0 <0.000012>     body 7: close, 3, /etc/passwd, 0
//! 1239 1795224171.100020 close(3</etc/passwd>) = 0 <0.000010>     ids, stamp, duration, body 7
//! ```
//! Who takes in the chunks of a reader one after the other keeps its [`Bodies`] and so knows all lines in full.

use crate::line::{Extra, Kind, Line, NO_ID, NO_NS, Outcome, Part};
use crate::memo::Parts;
use crate::text::{NewTexts, Text};

/// A line as it is handed over.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Stamp.
    pub stamp_ns: i64,
    /// Duration.
    pub dur_ns: i64,
    /// CPU time.
    pub cpu_ns: i64,
    /// Thread id.
    pub tid: i32,
    /// Process id.
    pub pid: i32,
    /// All the rest.
    pub says: Says,
}

/// Where it is said what a line says beside ids and times.
#[derive(Clone, Copy, Debug)]
pub enum Says {
    /// By the body with this number.
    Body(u32),
    /// In [`Lines::alone`], at this place, with ids and times.
    Alone(u32),
}

impl Told {
    /// A line with a body that is known.
    pub(crate) fn again(parts: &Parts<'_>, body: u32) -> Told {
        let Parts { stamp_ns, dur_ns, cpu_ns, tid, pid, .. } = *parts;
        Told { stamp_ns, dur_ns, cpu_ns, tid, pid, says: Says::Body(body) }
    }

    /// A line that stands alone, at this place.
    pub(crate) fn alone(at: u32) -> Told {
        Told { stamp_ns: NO_NS, dur_ns: NO_NS, cpu_ns: NO_NS, tid: NO_ID, pid: NO_ID, says: Says::Alone(at) }
    }
}

/// What follows from the body of a line.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    ret: i64,
    fd: i32,
    name: Text,
    op: Text,
    target: Text,
    errno: Text,
    extra: u32,
    kind: Kind,
    part: Part,
    outcome: Outcome,
}

impl Body {
    /// What the body of this line says.
    pub fn of(line: &Line) -> Body {
        let Line { ret, fd, name, op, target, errno, extra, kind, part, outcome, .. } = *line;
        Body { ret, fd, name, op, target, errno, extra, kind, part, outcome }
    }

    /// The line that says this, and else nothing.
    #[inline]
    pub fn line(&self) -> Line {
        let Body { ret, fd, name, op, target, errno, extra, kind, part, outcome } = *self;
        Line { ret, fd, name, op, target, errno, extra, part, outcome, ..Line::of(kind) }
    }
}

/// The lines of a chunk that was read by [`crate::Parsed::read_on`].
#[derive(Default)]
pub struct Lines {
    /// One entry per physical line.
    pub list: Vec<Told>,
    /// Lines that are not remembered.
    pub alone: Vec<Line>,
    /// Bodies that were remembered with this chunk, in the order of their numbers.
    pub bodies: Vec<Body>,
    /// What few lines and bodies say beside the common things.
    pub extras: Vec<Extra>,
    /// The texts that they added to those of the chunks before.
    pub texts: NewTexts,
    /// The bodies of lines are numbered anew.
    pub forgot: bool,
}

impl Lines {
    /// The extra of a line that stands alone.
    pub fn extra(&self, line: &Line) -> Option<&Extra> {
        extra(&self.extras, line.extra)
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.alone.clear();
        self.bodies.clear();
        self.extras.clear();
    }
}

/// The extra with this number; 0 is none.
pub(crate) fn extra(extras: &[Extra], number: u32) -> Option<&Extra> {
    number.checked_sub(1).and_then(|at| extras.get(at as usize))
}

/// The bodies that a reader has numbered so far.
#[derive(Default)]
pub struct Bodies {
    list: Vec<Body>,
    extras: Vec<Extra>,
}

impl Bodies {
    /// Take in what the reader's next chunk adds, each line changed in this way.
    pub fn hear(&mut self, lines: &Lines, mut change: impl FnMut(&Line, Option<&Extra>) -> (Line, Option<Extra>)) {
        if lines.forgot {
            self.list.clear();
            self.extras.clear();
        }
        for body in &lines.bodies {
            let (mut line, changed) = change(&body.line(), extra(&lines.extras, body.extra));
            line.extra = 0;
            if let Some(changed) = changed {
                self.extras.push(changed);
                line.extra = self.extras.len() as u32;
            }
            self.list.push(Body::of(&line));
        }
    }

    /// A line of the chunk heard last that has a body with this number, and its extra.
    #[inline]
    pub fn line(&self, told: &Told, body: u32) -> (Line, Option<&Extra>) {
        let Some(known) = self.list.get(body as usize) else { return (Line::of(Kind::Damaged), None) };
        let Told { stamp_ns, dur_ns, cpu_ns, tid, pid, .. } = *told;
        let line = Line { stamp_ns, dur_ns, cpu_ns, tid, pid, body: body + 1, ..known.line() };
        (line, extra(&self.extras, line.extra))
    }

    /// All lines of the reader's next chunk in full, with their extras.
    pub fn in_full(&mut self, lines: &Lines) -> Vec<(Line, Option<Extra>)> {
        self.hear(lines, |line, extra| (*line, extra.cloned()));
        let full = |told: &Told| match told.says {
            Says::Body(body) => {
                let (line, extra) = self.line(told, body);
                (line, extra.cloned())
            }
            Says::Alone(at) => {
                let line = lines.alone[at as usize];
                (line, lines.extra(&line).cloned())
            }
        };
        lines.list.iter().map(full).collect()
    }
}
