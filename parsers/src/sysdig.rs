//! Text of sysdig.
//!
//! ```text
//! In:   7 01:40:19.601661779 1 httpd (7513) > open
//!       8 01:40:19.601668329 1 httpd (7513) < open fd=15(<f>/srv/a.txt) name=/srv/a.txt flags=1(O_RDONLY) mode=0
//! Out:  tid 7513 of `httpd`, start 01:40:19.601661779, dur 6550 ns, open, target /srv/a.txt, ret 15
//! ```
//!
//! A call is one line when it is entered (`>`) and one when it is left (`<`), so its duration is exact. Fields have names. Other
//! events of the kernel have an entry only: of these, ends of threads, signals and lost events count, and switches of a
//! processor are notices. Newer versions print process and thread, older ones the thread.
//!
//! Source: the user guide of draios/sysdig, sysdig.com/blog/interpreting-sysdig-output, and captures that people published.

mod fields;
mod head;

use crate::call;
use crate::capture_facts::{CaptureFacts, Clock, DurKind, StampMoment};
use crate::format::{Format, Head, LineReader, Parsed, Recognition, blank};
use crate::line::{CallPart, Ended, Extra, Line, LineKind, NO_ID, Outcome};
use crate::scan;
use crate::syscalls::{self, Action, Syscall};
use fields::{SysdigFields, in_parentheses, makes_descriptor};
use head::SysdigLine;

/// The format.
pub struct Sysdig;

impl Format for Sysdig {
    fn name(&self) -> &'static str {
        "sysdig"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        Recognition::by_lines(head, is_line)
    }

    fn is_own_line(&self, line: &[u8]) -> bool {
        is_line(line)
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        let first = head.lines().find_map(head::read);
        Box::new(SysdigReader {
            has_date: first.is_some_and(|line| line.has_date),
        })
    }
}

/// Whether a line certainly has this form.
fn is_line(line: &[u8]) -> bool {
    head::read(line).is_some()
}

struct SysdigReader {
    has_date: bool,
}

impl LineReader for SysdigReader {
    fn facts(&self) -> CaptureFacts {
        CaptureFacts {
            stamp: StampMoment::Start,
            clock: if self.has_date {
                Clock::Epoch
            } else {
                Clock::TimeOfDay
            },
            tick_ns: 1,
            dur_kind: DurKind::Exact,
            // The time between the two lines of a call.
            has_durations: true,
            has_ids: true,
            ..CaptureFacts::PLAIN
        }
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        if let Some(line) = blank(line) {
            return line;
        }
        match head::read(line) {
            Some(found) => event(&found, parsed),
            None => Line::of(if head::begins(line) {
                LineKind::Damaged
            } else {
                LineKind::Foreign
            }),
        }
    }
}

fn event(found: &SysdigLine<'_>, parsed: &mut Parsed) -> Line {
    let mut line = Line {
        stamp_ns: found.stamp_ns,
        tid: found.tid,
        pid: found.pid,
        ..Line::of(LineKind::Notice)
    };
    let fields = SysdigFields::of(found.fields);
    match found.name {
        b"procexit" => ended(&fields, &mut line, parsed),
        b"signaldeliver" => signal(&fields, &mut line, parsed),
        b"drop" => line.kind = LineKind::Dropped,
        b"switch" | b"page_fault" | b"container" | b"notification" | b"infra" | b"scapevent"
        | b"pluginevent" => {}
        name if found.is_exit => {
            line.name = parsed.texts.add(name);
            left(&fields, &mut line, parsed);
        }
        name => {
            line.name = parsed.texts.add(name);
            entered(&fields, &mut line, parsed);
        }
    }
    let is_call = matches!(line.kind, LineKind::CallStart | LineKind::CallEnd);
    if is_call && !found.comm.is_empty() {
        parsed.name_program(&mut line, found.comm);
    }
    line
}

/// `status=256`, as a wait returns it.
fn ended(fields: &SysdigFields<'_>, line: &mut Line, parsed: &mut Parsed) {
    let status = fields.number(b"status").unwrap_or(0);
    let signal = call::signal_number(status & 0x7f).filter(|_| status & 0x7f != 0);
    let ended = match signal {
        Some(name) => Ended::Killed(parsed.texts.add(name)),
        None => Ended::Exited((status >> 8 & 0xff) as i32),
    };
    line.kind = LineKind::Exit;
    line.extra = parsed.keep(Extra::End(ended));
}

/// `spid=1(init) dpid=7680(sh) sig=15(SIGTERM)`.
fn signal(fields: &SysdigFields<'_>, line: &mut Line, parsed: &mut Parsed) {
    line.kind = LineKind::Signal;
    line.name = parsed
        .texts
        .add(fields.get(b"sig").map_or(b"", in_parentheses));
    let from = fields
        .number(b"spid")
        .and_then(|pid| i32::try_from(pid).ok());
    line.extra = parsed.keep(Extra::Signal {
        from: from.unwrap_or(NO_ID),
        ended: None,
    });
}

fn entered(fields: &SysdigFields<'_>, line: &mut Line, parsed: &mut Parsed) {
    (line.kind, line.part, line.outcome) = (LineKind::CallStart, CallPart::Begun, Outcome::Open);
    let Some(call) = syscalls::by_text(line.name) else {
        return;
    };
    described(call, fields, line, parsed);
    if call.action == Action::Execs {
        // The arguments are known when it succeeded.
        line.extra = 0;
    }
    if call.action == Action::Connects
        && let Some(peer) = fields.get(b"addr")
    {
        line.target = parsed.texts.add(peer);
    }
}

fn described(
    call: &'static Syscall,
    fields: &SysdigFields<'_>,
    line: &mut Line,
    parsed: &mut Parsed,
) {
    let texts = fields.arguments(call);
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    call::describe(call, &texts, line, parsed);
}

fn left(fields: &SysdigFields<'_>, line: &mut Line, parsed: &mut Parsed) {
    (line.kind, line.part) = (LineKind::CallEnd, CallPart::Resumed);
    let call = syscalls::by_text(line.name);
    outcome(call, fields, line, parsed);
    let Some(call) = call else {
        return;
    };
    match call.action {
        Action::Execs => executed(fields, line, parsed),
        action if action.creates_task() => created(call, fields, line, parsed),
        Action::WaitsForChild | Action::WaitsForChildInfo => {
            call::describe_rest(call, &[], line, parsed)
        }
        Action::Connects | Action::Accepts => connected(call.action, fields, line, parsed),
        _ => described(call, fields, line, parsed),
    }
}

/// `res=85`, `res=-2(ENOENT)`, `fd=3(<f>/a)`, `fd=-2(ENOENT)`; addresses (`res=7F2F28343000`) are not kept.
fn outcome(
    call: Option<&Syscall>,
    fields: &SysdigFields<'_>,
    line: &mut Line,
    parsed: &mut Parsed,
) {
    let key: &[u8] = match call {
        Some(call) if makes_descriptor(call.action) && fields.get(b"res").is_none() => b"fd",
        _ => b"res",
    };
    let Some(value) = fields.number(key) else {
        return;
    };
    let name = fields.get(key).map_or(&b""[..], in_parentheses);
    if value < 0 && name.starts_with(b"E") {
        (line.outcome, line.ret) = (Outcome::Failed, -1);
        line.errno = parsed.texts.add(name);
    } else {
        line.ret = value;
    }
}

/// `exe=perl args=-w.a.pl. trusted_exepath=/usr/bin/perl`: sysdig prints a point after each argument.
fn executed(fields: &SysdigFields<'_>, line: &mut Line, parsed: &mut Parsed) {
    if line.outcome != Outcome::Ok {
        return;
    }
    let name = fields.get(b"exe").unwrap_or(b"");
    let keys: [&[u8]; 2] = [b"trusted_exepath", b"exepath"];
    let path = keys.iter().find_map(|key| fields.get(key)).unwrap_or(name);
    let args = fields.get(b"args").unwrap_or(b"");
    let args = args.strip_suffix(b".").unwrap_or(args);
    let argv = if args.is_empty() {
        name.to_vec()
    } else {
        [name, b" ", args].concat()
    };
    let path = parsed.texts.add(path);
    line.target = path;
    let argv = parsed.texts.add(&argv);
    line.extra = parsed.keep(Extra::Exec { path, argv });
}

/// The parent's side has the child's number; the child's own has 0.
fn created(
    call: &'static Syscall,
    fields: &SysdigFields<'_>,
    line: &mut Line,
    parsed: &mut Parsed,
) {
    if line.outcome == Outcome::Ok && line.ret == 0 {
        let id = |key: &[u8]| fields.number(key).and_then(|id| i32::try_from(id).ok());
        let (pid, tid) = (id(b"pid"), id(b"tid"));
        line.extra = parsed.keep(Extra::Born {
            creator_pid: id(b"ptid").unwrap_or(NO_ID),
            thread: pid.is_some() && pid != tid,
        });
        return;
    }
    call::describe_rest(call, &[b"", fields.clone_flags()], line, parsed);
}

/// The peer is the far end of one's own connection, and the near end of one that was accepted.
fn connected(action: Action, fields: &SysdigFields<'_>, line: &mut Line, parsed: &mut Parsed) {
    let Some((near, far)) = fields.ends() else {
        return;
    };
    let peer = if action == Action::Accepts { near } else { far };
    line.target = parsed.texts.add(scan::trim(peer));
}
