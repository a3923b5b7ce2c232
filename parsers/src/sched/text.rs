//! Text of `perf script`, `trace-cmd report` and ftrace.
//!
//! In:   sh 15345 [000] 47420.676031182: sched:sched_waking: comm=cat pid=15346 prio=120 target_cpu=000
//!       sh-15345 [000] d..2. 47420.676031: sched_switch: sh:15345 [120] S ==> cat:15346 [120]
//! Out:  47420676031182 ns, processor 0, thread 15345, wakes 15346

use crate::scan;
use crate::sched::{Context, Left, Named, SchedChange, SchedEvent, SchedFacts, comm};
use std::io::{self, BufRead, Write};

/// The first words of a line that gives the offset of its clock to the time since 1970.
const EPOCH_OFFSET: &str = "# epoch offset ns: ";
/// Longer lines are cut: no event is as long.
const MAX_LINE_BYTES: u64 = 4096;

/// Read a text.
///
/// # Errors
/// Those of the source.
pub(super) fn read<R: BufRead>(
    mut source: R,
    take: &mut dyn FnMut(SchedEvent),
) -> io::Result<SchedFacts> {
    let (mut facts, mut line) = (SchedFacts::default(), Vec::new());
    loop {
        line.clear();
        let mut part = io::Read::take(&mut source, MAX_LINE_BYTES);
        if part.read_until(b'\n', &mut line)? == 0 {
            return Ok(facts);
        }
        let text = line.trim_ascii_end();
        match event(text) {
            Some(event) => take(event),
            None if text.starts_with(b"#") => {
                facts.epoch_offset_ns = epoch_offset_ns(text).or(facts.epoch_offset_ns);
            }
            None => facts.unused += u64::from(!text.is_empty()),
        }
    }
}

fn epoch_offset_ns(line: &[u8]) -> Option<i64> {
    let number = line.strip_prefix(EPOCH_OFFSET.as_bytes())?;
    scan::signed(number).map(|(ns, _)| ns)
}

/// One line.
pub fn event(line: &[u8]) -> Option<SchedEvent> {
    // A name may contain brackets: the first that hold a number and precede a time are those of the processor.
    memchr::memchr_iter(b'[', line).find_map(|at| {
        let (thread, rest) = line.split_at_checked(at)?;
        let (cpu, rest) = scan::number(rest.get(1..)?)?;
        let (context, rest) = context(rest.strip_prefix(b"]")?.trim_ascii_start());
        let (time_ns, rest) = time_ns(rest)?;
        let colon = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        let name = rest.get(..colon)?.strip_suffix(b":")?;
        let name = name.rsplit(|&byte| byte == b':').next()?;
        let fields = rest.get(colon..)?.trim_ascii_start();
        let tid = thread_id(thread.trim_ascii_end())?;
        Some(SchedEvent {
            time_ns,
            cpu: u32::try_from(cpu).ok()?,
            tid,
            context,
            change: change(name, fields)?,
        })
    })
}

/// The flags of ftrace, such as `d.h1.`: the third one is `h` in an interrupt, `s` in its deferred work, `H` in both.
fn context(text: &[u8]) -> (Context, &[u8]) {
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if word.len() < 4 || word.ends_with(b":") || word.first().is_some_and(u8::is_ascii_digit) {
        return (Context::Unknown, text);
    }
    let context = match word.get(2) {
        Some(b'h' | b'H' | b'z' | b'Z') => Context::HardInterrupt,
        Some(b's') => Context::SoftInterrupt,
        _ => Context::Thread,
    };
    (context, rest.trim_ascii_start())
}

/// `47420.676031182: `
fn time_ns(text: &[u8]) -> Option<(i64, &[u8])> {
    let (seconds, rest) = scan::number(text)?;
    let rest = rest.strip_prefix(b".")?;
    let (fraction, after) = scan::number(rest)?;
    let digits = u32::try_from(rest.len() - after.len()).ok()?;
    let ns = fraction.checked_mul(10i64.checked_pow(9u32.checked_sub(digits)?)?)?;
    let time_ns = seconds.checked_mul(scan::NS_PER_S)?.checked_add(ns)?;
    Some((time_ns, after.strip_prefix(b":")?.trim_ascii_start()))
}

/// `sh 15345`, `sh 15340/15345` or `sh-15345`.
fn thread_id(text: &[u8]) -> Option<i32> {
    let start = text.iter().rposition(|byte| !byte.is_ascii_digit())?;
    let (id, _) = scan::number(text.get(start + 1..)?)?;
    i32::try_from(id).ok()
}

fn change(name: &[u8], fields: &[u8]) -> Option<SchedChange> {
    Some(match name {
        b"sched_switch" => switch(fields)?,
        b"sched_waking" => SchedChange::Waking(woken(fields)?),
        b"sched_wakeup" | b"sched_wakeup_new" => SchedChange::Woken(woken(fields)?),
        b"sched_process_fork" => SchedChange::Fork(id_after(fields, b"child_pid=")?),
        b"sched_process_exec" => SchedChange::Exec,
        b"sched_process_exit" => SchedChange::Exit,
        b"page_fault_user" => SchedChange::Fault,
        b"lost" => SchedChange::Lost(u64::try_from(scan::number(fields)?.0).ok()?),
        _ => return None,
    })
}

fn id_after(fields: &[u8], key: &[u8]) -> Option<i32> {
    let at = memchr::memmem::rfind(fields, key)?;
    let (id, _) = scan::number(fields.get(at + key.len()..)?)?;
    i32::try_from(id).ok()
}

/// `comm=cat pid=15346 prio=120 target_cpu=000`, or `cat:15346 [120]`.
fn woken(fields: &[u8]) -> Option<i32> {
    id_after(fields, b" pid=").or_else(|| Some(bracketed(fields)?.0.tid))
}

fn switch(fields: &[u8]) -> Option<SchedChange> {
    let at = memchr::memmem::find(fields, b"==>")?;
    let (before, after) = (fields.get(..at)?, fields.get(at + 3..)?.trim_ascii_start());
    if !before.starts_with(b"prev_comm=") {
        let (from, rest) = bracketed(before)?;
        let (to, _) = bracketed(after)?;
        let left = left(rest.trim_ascii());
        return Some(SchedChange::Switch { from, left, to });
    }
    let state = memchr::memmem::rfind(before, b"prev_state=")?;
    Some(SchedChange::Switch {
        from: keyed(before, b"prev_comm=", b" prev_pid=", b" prev_prio=")?,
        left: left(before.get(state + b"prev_state=".len()..)?.trim_ascii()),
        to: keyed(after, b"next_comm=", b" next_pid=", b" next_prio=")?,
    })
}

fn keyed(fields: &[u8], name: &[u8], id: &[u8], priority: &[u8]) -> Option<Named> {
    let end = memchr::memmem::rfind(fields, id)?;
    Some(Named {
        tid: id_after(fields, id)?,
        comm: comm(fields.get(..end)?.strip_prefix(name)?),
        priority: id_after(fields, priority),
    })
}

/// `cat:15346 [120]`, and what follows.
fn bracketed(text: &[u8]) -> Option<(Named, &[u8])> {
    // A name may contain a bracket, too.
    let end = memchr::memmem::rfind(text, b" [")?;
    let named = text.get(..end)?;
    let colon = memchr::memrchr(b':', named)?;
    let (id, _) = scan::number(named.get(colon + 1..)?)?;
    let rest = text.get(end + 2..)?;
    let close = memchr::memchr(b']', rest)?;
    let named = Named {
        tid: i32::try_from(id).ok()?,
        comm: comm(named.get(..colon)?),
        priority: priority(rest.get(..close)?),
    };
    Some((named, rest.get(close + 1..)?))
}

fn priority(text: &[u8]) -> Option<i32> {
    let (number, rest) = scan::value(text)?;
    i32::try_from(number).ok().filter(|_| rest.is_empty())
}

fn left(state: &[u8]) -> Left {
    match state.first() {
        Some(b'R') => Left::Preempted,
        Some(b't') => Left::Traced,
        Some(b'D') => Left::Uninterruptible,
        Some(b'X' | b'Z') => Left::Dead,
        _ => Left::Blocked,
    }
}

/// The first line: how the clock relates to the time since 1970.
///
/// # Errors
/// Those of the writer.
pub fn write_offset(out: &mut dyn Write, epoch_offset_ns: i64) -> io::Result<()> {
    writeln!(out, "{EPOCH_OFFSET}{epoch_offset_ns}")
}

/// One event as a line of ftrace.
///
/// # Errors
/// Those of the writer.
pub fn write_event(out: &mut dyn Write, event: &SchedEvent) -> io::Result<()> {
    let flags = match event.context {
        Context::Thread => "d...",
        Context::SoftInterrupt => "d.s.",
        Context::HardInterrupt => "d.h.",
        Context::Unknown => "",
    };
    let (seconds, ns) = (
        event.time_ns / scan::NS_PER_S,
        event.time_ns % scan::NS_PER_S,
    );
    write!(
        out,
        "-{} [{}] {flags} {seconds}.{ns:09}: ",
        event.tid, event.cpu
    )?;
    match &event.change {
        SchedChange::Switch { from, left, to } => {
            let state = match left {
                Left::Preempted => "R",
                Left::Blocked => "S",
                Left::Uninterruptible => "D",
                Left::Traced => "t",
                Left::Dead => "X",
            };
            write!(out, "sched_switch: ")?;
            write_named(out, from)?;
            write!(out, " {state} ==> ")?;
            write_named(out, to)?;
            writeln!(out)
        }
        SchedChange::Waking(tid) => writeln!(out, "sched_waking: :{tid} []"),
        SchedChange::Woken(tid) => writeln!(out, "sched_wakeup: :{tid} []"),
        SchedChange::Fork(tid) => writeln!(out, "sched_process_fork: child_pid={tid}"),
        SchedChange::Exec => writeln!(out, "sched_process_exec:"),
        SchedChange::Exit => writeln!(out, "sched_process_exit:"),
        SchedChange::Fault => writeln!(out, "page_fault_user:"),
        SchedChange::Lost(number) => writeln!(out, "lost: {number}"),
    }
}

/// `cat:15346 [120]`
fn write_named(out: &mut dyn Write, named: &Named) -> io::Result<()> {
    out.write_all(shown(named))?;
    write!(out, ":{} [", named.tid)?;
    if let Some(priority) = named.priority {
        write!(out, "{priority}")?;
    }
    write!(out, "]")
}

/// A name as far as it can be read again.
fn shown(named: &Named) -> &[u8] {
    let end = named
        .comm
        .iter()
        .position(|byte| !(b'!'..=b'~').contains(byte) || *byte == b'[');
    &named.comm[..end.unwrap_or(named.comm.len())]
}
