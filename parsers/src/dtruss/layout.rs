//! The columns of the lines of a capture, decided from its head.
//!
//! The header names them. Without a header, their number decides: three are all columns. Of two, RELATIVE never falls
//! within a thread, and CPU never exceeds the increase of RELATIVE.

use super::call::{self, DtrussSplit, MAX_NUMBERS, split};
use super::notes;
use crate::error_names::System;
use crate::format::Head;
use crate::truss_common::{self, CallText};
use memchr::memmem;
use rustc_hash::FxHashMap;

/// The meaning of a number, which is in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DtrussColumn {
    /// CPU time of the thread since tracing began for it.
    Relative,
    /// Wall time of the call.
    Elapsed,
    /// CPU time of the call.
    Cpu,
}

use DtrussColumn::{Cpu, Elapsed, Relative};

/// The layout of a capture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DtrussLayout {
    /// The columns of a line, by their number: several runs in one file may have different columns.
    by_count: [Vec<DtrussColumn>; MAX_NUMBERS + 1],
    /// Whether most lines have ids.
    pub has_ids: bool,
    /// Whether some run has none.
    pub ids_optional: bool,
    /// The system whose error numbers are printed.
    pub system: System,
}

impl DtrussLayout {
    /// The columns of a line with this number of them.
    pub fn columns(&self, count: usize) -> &[DtrussColumn] {
        self.by_count.get(count).map_or(&[], Vec::as_slice)
    }

    /// Whether any line has this column.
    pub fn has(&self, column: DtrussColumn) -> bool {
        self.by_count
            .iter()
            .any(|columns| columns.contains(&column))
    }

    /// Whether `fork()` lines that are not calls are marked by colons: only with one of these columns.
    pub fn shows_colons(&self, count: usize) -> bool {
        self.columns(count)
            .iter()
            .any(|column| matches!(column, Relative | Elapsed))
    }
}

/// A header: its columns, and whether it has ids.
fn header(line: &[u8]) -> (Vec<DtrussColumn>, bool) {
    let has = |word: &[u8]| memmem::find(line, word).is_some();
    let named = [
        (&b"RELATIVE"[..], Relative),
        (b"ELAPSD", Elapsed),
        (b"CPU", Cpu),
    ];
    let columns = named
        .into_iter()
        .filter(|(word, _)| has(word))
        .map(|(_, column)| column)
        .collect();
    (columns, has(b"PID/"))
}

/// Decide.
pub(super) fn of(head: Head<'_>) -> DtrussLayout {
    let mut by_count: [Vec<DtrussColumn>; MAX_NUMBERS + 1] = Default::default();
    let (mut lines, mut headers): (Vec<DtrussSplit<'_>>, Vec<bool>) = (Vec::new(), Vec::new());
    let (mut lwp, mut thread) = (false, false);
    for line in head.lines() {
        if notes::is_header(line) {
            let (columns, has_ids) = header(line);
            lwp |= memmem::find(line, b"PID/LWP").is_some();
            thread |= memmem::find(line, b"PID/THRD").is_some();
            headers.push(has_ids);
            let slot = columns.len();
            by_count[slot] = columns;
        } else {
            let split = split(line);
            if matches!(call::read(split.body), CallText::Call(_)) {
                lines.push(split);
            }
        }
    }
    if headers.is_empty() {
        for (count, columns) in by_count.iter_mut().enumerate() {
            *columns = guessed(count, &lines);
        }
    }
    let with_ids = lines.iter().filter(|line| line.tid >= 0).count();
    let has_ids = if lines.is_empty() {
        headers.contains(&true)
    } else {
        with_ids > 0
    };
    let ids_optional = has_ids && headers.contains(&false);
    let system = system(lwp, thread, &lines);
    DtrussLayout {
        by_count,
        has_ids,
        ids_optional,
        system,
    }
}

/// The columns of lines with `count` numbers, guessed from the numbers.
fn guessed(count: usize, lines: &[DtrussSplit<'_>]) -> Vec<DtrussColumn> {
    let lines: Vec<&DtrussSplit<'_>> = lines
        .iter()
        .filter(|line| line.count == count && !line.has_colons)
        .collect();
    match count {
        _ if lines.is_empty() || count == 0 => Vec::new(),
        1 if never_falls(&lines) => vec![Relative],
        1 => vec![Elapsed],
        2 if never_falls(&lines) => vec![Relative, second(&lines)],
        2 => vec![Elapsed, Cpu],
        _ => vec![Relative, Elapsed, Cpu],
    }
}

/// The column after RELATIVE: CPU time never exceeds the increase of the thread's CPU clock, wall time may.
fn second(lines: &[&DtrussSplit<'_>]) -> DtrussColumn {
    let mut last: FxHashMap<(i32, i32), i64> = FxHashMap::default();
    for line in lines {
        let [relative, second, _] = line.numbers;
        if last
            .insert((line.pid, line.tid), relative)
            .is_some_and(|before| second > relative.saturating_sub(before).saturating_add(2))
        {
            return Elapsed;
        }
    }
    Cpu
}

/// Whether the first number can be RELATIVE.
fn never_falls(lines: &[&DtrussSplit<'_>]) -> bool {
    truss_common::never_falls(
        lines
            .iter()
            .map(|line| ((line.pid, line.tid), line.numbers[0])),
    )
}

/// The system: from the header, else from the form of the ids, else from calls that only one of the systems has.
fn system(lwp: bool, thread: bool, lines: &[DtrussSplit<'_>]) -> System {
    const SOLARIS: [&[u8]; 12] = [
        b"lwp_",
        b"xstat",
        b"lxstat",
        b"fxstat",
        b"so_socket",
        b"pollsys",
        b"forksys",
        b"systeminfo",
        b"getdents",
        b"setcontext",
        b"schedctl",
        b"sysconfig",
    ];
    if lwp != thread {
        return if lwp { System::Solaris } else { System::MacOs };
    }
    if let Some(line) = lines.iter().find(|line| line.tid >= 0) {
        return if line.is_hex {
            System::MacOs
        } else {
            System::Solaris
        };
    }
    let is_solaris = lines
        .iter()
        .any(|line| SOLARIS.iter().any(|name| line.body.starts_with(name)));
    if is_solaris {
        System::Solaris
    } else {
        System::MacOs
    }
}
