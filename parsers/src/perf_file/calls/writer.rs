//! The lines of calls, in order.

use crate::error_names::{self, System};
use crate::perf_file::calls::before::Before;
use crate::perf_file::calls::layout::{CallChange, CallEvent, CallLayouts};
use crate::perf_file::calls::{
    CallChoice, FIRST_LINE, LOST_LINE, RunningCall, WrittenCalls, creates_task, is_exec,
    waits_for_child,
};
use crate::perf_file::line_text::{ARGS, CallFacts, signal_name, write_begun};
use crate::perf_file::{PerfHead, unusable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

const NS_PER_S: i64 = 1_000_000_000;
const SIGKILL: i64 = 9;
/// The largest number of an error.
const MAX_ERRNO: i64 = 4095;

/// A call that has not returned.
struct OpenCall {
    /// `None` if only its end was seen.
    number: Option<i64>,
    name: Cow<'static, str>,
    start_ns: i64,
    /// Its first half, until that is written.
    text: Option<String>,
}

/// Writes lines.
pub(super) struct CallWriter<'out> {
    pub layouts: CallLayouts,
    out: &'out mut dyn Write,
    before: Before,
    choice: CallChoice,
    command: Option<i32>,
    offset_ns: i64,
    open: FxHashMap<i32, OpenCall>,
    /// The thread whose first half is the last line, without its end.
    last: Option<i32>,
    /// How processes and threads end, as far as it is known: the status that they exit with, the last signal that had no
    /// handler, and the last one sent. Then, what a parent sees.
    statuses: FxHashMap<i32, i64>,
    delivered: FxHashMap<i32, i64>,
    sent: FxHashMap<i32, i64>,
    ended: FxHashMap<i32, String>,
    /// Ids in another namespace, where they differ.
    other_ids: FxHashMap<i64, i32>,
    seen: FxHashSet<i32>,
    calls: u64,
    lost: u64,
    failure: Option<io::Error>,
}

impl<'out> CallWriter<'out> {
    /// # Errors
    /// Those of the layouts and of the writer.
    pub(super) fn begin(
        head: &PerfHead,
        mut choice: CallChoice,
        before: Before,
        out: &'out mut dyn Write,
    ) -> io::Result<CallWriter<'out>> {
        // The first one is the next to be taken.
        choice.running.sort_by_key(|call| -call.time_ns);
        let layouts = CallLayouts::begin(head)?;
        let Some(offset_ns) = head.epoch_offset_ns else {
            return Err(unusable(
                "this perf.data does not contain how its clock relates to the time of day. Record with -k CLOCK_MONOTONIC.",
            ));
        };
        writeln!(out, "{FIRST_LINE}, {}", head.machine.escape_default())?;
        Ok(CallWriter {
            layouts,
            out,
            before,
            command: choice.command,
            choice,
            offset_ns,
            open: FxHashMap::default(),
            last: None,
            statuses: FxHashMap::default(),
            delivered: FxHashMap::default(),
            sent: FxHashMap::default(),
            ended: FxHashMap::default(),
            other_ids: FxHashMap::default(),
            seen: FxHashSet::default(),
            calls: 0,
            lost: 0,
            failure: None,
        })
    }

    /// # Errors
    /// Those of the writer.
    pub(super) fn finish(mut self) -> io::Result<WrittenCalls> {
        self.begin_running(i64::MAX);
        self.break_off();
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.out.flush()?;
        let mut tids: Vec<i32> = self.seen.into_iter().collect();
        tids.sort_unstable();
        Ok(WrittenCalls {
            calls: self.calls,
            lost: self.lost,
            tids,
        })
    }

    pub(super) fn take(&mut self, event: &CallEvent<'_>) {
        let &CallEvent {
            time_ns, pid, tid, ..
        } = event;
        self.begin_running(time_ns);
        match &event.change {
            CallChange::Enter { number, args } => self.enter(time_ns, pid, tid, *number, args),
            CallChange::Exit { number, ret } => self.exit(time_ns, tid, *number, *ret),
            CallChange::Exec(path, old) => self.exec(time_ns, tid, *old, path),
            CallChange::Delivered(number, true) => self.signal(time_ns, tid, *number),
            CallChange::Delivered(number, false) => {
                self.delivered.insert(pid, *number);
            }
            CallChange::Sent(number, to) if may_kill(*number) => {
                self.sent.insert(*to, *number);
            }
            CallChange::Ended => self.end(time_ns, pid, tid),
            CallChange::Lost(number) => {
                self.lost = self.lost.saturating_add(*number);
                self.break_off();
                self.line(&format!("{LOST_LINE}{number}\n"));
            }
            CallChange::Sent(..) | CallChange::Named(_) | CallChange::Born(_) => (),
        }
    }

    /// Calls that were seen running before this moment. If the begin of one was recorded, it has begun already.
    fn begin_running(&mut self, time_ns: i64) {
        let is_due = |call: &mut RunningCall| call.time_ns <= time_ns;
        while let Some(call) = self.choice.running.pop_if(is_due) {
            if !self.open.contains_key(&call.tid) {
                self.enter(call.time_ns, call.pid, call.tid, call.number, &call.args);
            }
        }
    }

    fn enter(&mut self, time_ns: i64, pid: i32, tid: i32, number: i64, args: &[u64; ARGS]) {
        let name = self.name(number);
        let facts = self.before.facts.get(&(tid, time_ns));
        let is_exec = is_exec(&name) && facts.is_some_and(|facts| facts.program.is_some());
        if self.choice.command == Some(pid) {
            if !is_exec {
                return;
            }
            self.choice.command = None;
        }
        if name == "exit_group" || name == "exit" {
            let status = i64::try_from(args[0] & 0xff).unwrap_or(0);
            let whose = if name == "exit" { tid } else { pid };
            self.statuses.insert(whose, status);
        }
        let facts = facts.cloned().unwrap_or_default();
        self.begin_call(time_ns, tid, Some(number), name, args, &facts);
    }

    fn begin_call(
        &mut self,
        time_ns: i64,
        tid: i32,
        number: Option<i64>,
        name: Cow<'static, str>,
        args: &[u64; ARGS],
        facts: &CallFacts,
    ) {
        let mut text = String::with_capacity(96);
        self.write_prefix(&mut text, tid, time_ns);
        write_begun(&mut text, &name, args, facts);
        self.break_off();
        self.seen.insert(tid);
        self.calls += 1;
        let call = OpenCall {
            number,
            name,
            start_ns: time_ns,
            text: Some(text),
        };
        self.open.insert(tid, call);
        self.last = Some(tid);
    }

    fn exit(&mut self, time_ns: i64, tid: i32, number: i64, ret: i64) {
        let Some(call) = self.open.remove(&tid) else {
            return self.end_without_begin(time_ns, tid, number, ret);
        };
        // `rt_sigreturn` sets the number to -1. After lost events, another call may have begun.
        if number != -1 && call.number.is_some_and(|begun| begun != number) {
            self.forget(tid, call);
            return;
        }
        let name = call.name;
        let mut ret = ret;
        if creates_task(&name) && ret > 0 {
            let child = self.before.children.get(&(tid, call.start_ns)).copied();
            if let Some(child) = child.filter(|&child| i64::from(child) != ret) {
                self.other_ids.insert(ret, child);
                ret = i64::from(child);
            }
        }
        let mut more = String::new();
        if waits_for_child(&name) && ret > 0 {
            ret = self.other_ids.get(&ret).copied().map_or(ret, i64::from);
            let child = i32::try_from(ret).ok();
            if let Some(ended) = child.and_then(|child| self.ended.remove(&child)) {
                let _ = write!(more, ", {ended}");
            }
        }
        let mut text = self.second_half(tid, time_ns, &name, call.text);
        if text.ends_with("resumed>") {
            more = more.strip_prefix(", ").map(str::to_owned).unwrap_or(more);
        }
        let _ = write!(text, "{more}) = ");
        write_result(&mut text, ret);
        write_duration(&mut text, time_ns.saturating_sub(call.start_ns));
        self.line(&text);
    }

    /// A call that began before the recording.
    fn end_without_begin(&mut self, time_ns: i64, tid: i32, number: i64, ret: i64) {
        let name = self.name(number);
        // A new task returns from the call that created it.
        let is_birth = creates_task(&name) && ret == 0;
        let is_unknown = number < 0 || self.choice.command.is_some();
        if is_birth || is_unknown || !self.seen.insert(tid) {
            return;
        }
        self.calls += 1;
        let mut text = self.second_half(tid, time_ns, &name, None);
        text.push_str(") = ");
        write_result(&mut text, ret);
        text.push('\n');
        self.line(&text);
    }

    /// The first half if it is the last line, and else the beginning of the second half.
    fn second_half(&mut self, tid: i32, time_ns: i64, name: &str, begun: Option<String>) -> String {
        if self.last == Some(tid) {
            self.last = None;
            if let Some(text) = begun {
                return text;
            }
        }
        self.break_off();
        let mut text = String::with_capacity(64);
        self.write_prefix(&mut text, tid, time_ns);
        let _ = write!(text, "<... {name} resumed>");
        text
    }

    /// A call whose end was lost.
    fn forget(&mut self, tid: i32, call: OpenCall) {
        if self.last == Some(tid) {
            self.last = None;
            if let Some(mut text) = call.text {
                text.push_str(" <unfinished ...>\n");
                self.line(&text);
            }
        }
    }

    /// A program was started. If the thread was not the first one of its process, it takes over the id.
    fn exec(&mut self, time_ns: i64, tid: i32, old: i32, path: &[u8]) {
        if old == tid {
            // perf begins in the execve of the command that it runs.
            if !self.seen.contains(&tid) && self.choice.command.is_none() {
                let facts = CallFacts {
                    program: Some(path.to_vec()),
                    flags: None,
                };
                self.begin_call(time_ns, tid, None, "execve".into(), &[0; ARGS], &facts);
            }
            return;
        }
        let Some(mut call) = self.open.remove(&old) else {
            return;
        };
        let begun = call.text.take().filter(|_| self.last == Some(old));
        let mut text = begun.unwrap_or_default();
        if text.is_empty() {
            self.break_off();
        } else {
            self.last = None;
            let _ = writeln!(text, " <pid changed to {tid} ...>");
        }
        self.write_prefix(&mut text, tid, time_ns);
        let _ = writeln!(text, "+++ superseded by execve in pid {old} +++");
        self.line(&text);
        self.open.insert(tid, call);
    }

    fn signal(&mut self, time_ns: i64, tid: i32, number: i64) {
        if self.choice.command.is_some() || !self.seen.contains(&tid) {
            return;
        }
        self.break_off();
        let mut text = String::new();
        self.write_prefix(&mut text, tid, time_ns);
        let name = signal_name(number).map_or_else(|| format!("SIGRT_{number}"), str::to_owned);
        let _ = writeln!(text, "--- {name} {{si_signo={name}}} ---");
        self.line(&text);
    }

    fn end(&mut self, time_ns: i64, pid: i32, tid: i32) {
        if !self.seen.contains(&tid) {
            return;
        }
        if let Some(call) = self.open.remove(&tid) {
            let mut text = self.second_half(tid, time_ns, &call.name, call.text);
            text.push_str(") = ?\n");
            self.line(&text);
        }
        self.break_off();
        let (how, reported) = self.ending(pid, tid);
        let mut text = String::new();
        self.write_prefix(&mut text, tid, time_ns);
        let _ = writeln!(text, "+++ {how} +++");
        self.line(&text);
        if tid == pid {
            self.ended.insert(tid, reported);
        }
    }

    /// How a thread ended, and what its parent sees.
    fn ending(&mut self, pid: i32, tid: i32) -> (String, String) {
        let own = self.statuses.get(&tid).or_else(|| self.statuses.get(&pid));
        let status = own.copied();
        let Some(signal) = self.signal_that_killed(pid).filter(|_| status.is_none()) else {
            let status = status.unwrap_or(0);
            return (
                format!("exited with {status}"),
                format!("[{{WIFEXITED(s) && WEXITSTATUS(s) == {status}}}]"),
            );
        };
        let name = signal_name(signal).unwrap_or("SIG?");
        (
            format!("killed by {name}"),
            format!("[{{WIFSIGNALED(s) && WTERMSIG(s) == {name}}}]"),
        )
    }

    /// The signal that killed a process; 0 if it is not known which.
    fn signal_that_killed(&self, pid: i32) -> Option<i64> {
        let delivered = *self.delivered.get(&pid)?;
        // Whatever ends a process without a core file is delivered to its threads as SIGKILL.
        if delivered != SIGKILL {
            return Some(delivered);
        }
        let seen = self.choice.status.filter(|_| self.command == Some(pid));
        let of_command = seen
            .filter(|status| *status < 0)
            .map(|status| i64::from(-status));
        Some(
            of_command
                .or_else(|| self.sent.get(&pid).copied())
                .unwrap_or(0),
        )
    }

    /// Events of another thread follow: end the line of the call that is open.
    fn break_off(&mut self) {
        let Some(tid) = self.last.take() else {
            return;
        };
        let text = self.open.get_mut(&tid).and_then(|call| call.text.take());
        if let Some(mut text) = text {
            text.push_str(" <unfinished ...>\n");
            self.line(&text);
        }
    }

    fn write_prefix(&self, text: &mut String, tid: i32, time_ns: i64) {
        let ns = time_ns.saturating_add(self.offset_ns).max(0);
        let _ = write!(text, "{tid} {}.{:09} ", ns / NS_PER_S, ns % NS_PER_S);
    }

    fn name(&self, number: i64) -> Cow<'static, str> {
        match self.layouts.names.name(number) {
            Some(name) => name.into(),
            None => format!("syscall_{number:#x}").into(),
        }
    }

    fn line(&mut self, text: &str) {
        if self.failure.is_none() {
            self.failure = self.out.write_all(text.as_bytes()).err();
        }
    }
}

/// `3`, `-1 ENOENT (error 2)`, `? ERESTARTSYS (interrupted)`
fn write_result(text: &mut String, ret: i64) {
    let error = if (-MAX_ERRNO..0).contains(&ret) {
        -ret
    } else {
        0
    };
    // Not seen by the program: the kernel restarts the call, or returns EINTR.
    let restarted = match error {
        512 => "ERESTARTSYS",
        513 => "ERESTARTNOINTR",
        514 => "ERESTARTNOHAND",
        516 => "ERESTART_RESTARTBLOCK",
        _ => "",
    };
    let _ = match (error, error_names::name(System::Linux, error)) {
        (0, _) => write!(text, "{ret}"),
        _ if !restarted.is_empty() => write!(text, "? {restarted} (interrupted by a signal)"),
        (_, Some(name)) => write!(text, "-1 {name} (error {error})"),
        (_, None) => write!(text, "-1 (errno {error})"),
    };
}

fn write_duration(text: &mut String, dur_ns: i64) {
    let dur_ns = dur_ns.max(0);
    let _ = writeln!(text, " <{}.{:09}>", dur_ns / NS_PER_S, dur_ns % NS_PER_S);
}

/// Whether a signal ends a process that does not handle it: not `SIGCHLD`, `SIGCONT`, `SIGURG`, `SIGWINCH`, and those that stop
/// it.
fn may_kill(signal: i64) -> bool {
    !matches!(signal, 17..=23 | 28)
}
