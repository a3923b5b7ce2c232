//! Calls that perf recorded as `raw_syscalls:sys_enter` and `raw_syscalls:sys_exit`.
//!
//! In:   # system calls of perf.data, x86_64
//!       7 1795224170.658193012 openat(AT_FDCWD, ..., 0x80000) = 3 <0.000001204>
//! Out:  tid 7, start …658193012 ns, dur 1204 ns, openat, ret 3
//!
//! [`crate::perf_file`] writes this text. Its lines have the form of strace, and are read as these are.

use crate::capture_facts::CaptureFacts;
use crate::format::{Format, Head, LineReader, Parsed, Recognition};
use crate::line::{Line, LineKind, NO_NS};
use crate::line_cache::{LineParts, LinePrefix};
use crate::perf_file::{FIRST_LINE, LOST_LINE};
use crate::scan;
use crate::strace::Strace;

/// The format.
pub struct PerfData;

impl Format for PerfData {
    fn name(&self) -> &'static str {
        "perf-data"
    }

    fn recognise(&self, head: Head<'_>) -> Recognition {
        match head.lines().next() {
            Some(first) if first.starts_with(FIRST_LINE.as_bytes()) => Recognition::Yes,
            _ => Recognition::No,
        }
    }

    fn is_own_line(&self, line: &[u8]) -> bool {
        line.starts_with(FIRST_LINE.as_bytes())
    }

    fn reader(&self, head: Head<'_>) -> Box<dyn LineReader> {
        Box::new(PerfDataReader(Strace.reader(head)))
    }
}

/// The reader of the lines of calls.
struct PerfDataReader(Box<dyn LineReader>);

impl LineReader for PerfDataReader {
    fn facts(&self) -> CaptureFacts {
        self.0.facts()
    }

    fn read(&self, line: &[u8], parsed: &mut Parsed) -> Line {
        if let Some(number) = line.strip_prefix(LOST_LINE.as_bytes()) {
            return Line {
                ret: scan::number(number).map_or(NO_NS, |(events, _)| events),
                ..Line::of(LineKind::Dropped)
            };
        }
        if line.starts_with(FIRST_LINE.as_bytes()) {
            return Line::of(LineKind::Notice);
        }
        self.0.read(line, parsed)
    }

    fn parts<'a>(&self, line: &'a [u8]) -> Option<LineParts<'a>> {
        self.0.parts(line)
    }

    fn prefix(&self, text: &[u8]) -> Option<LinePrefix> {
        self.0.prefix(text)
    }

    fn read_after(&self, prefix: LinePrefix, line: &[u8], parsed: &mut Parsed) -> Line {
        self.0.read_after(prefix, line, parsed)
    }

    fn parts_after<'a>(&self, prefix: LinePrefix, line: &'a [u8]) -> Option<LineParts<'a>> {
        self.0.parts_after(prefix, line)
    }

    fn leading_duration<'a>(&self, text: &'a [u8]) -> Option<(i64, &'a [u8])> {
        self.0.leading_duration(text)
    }
}
