//! Where the files that are merged are read at.

use crate::ingest::assemble::{Assembler, is_understood};
use crate::ingest::capture::in_trace;
use crate::ingest::merge::ahead::{Cell, Chunk, ReadAhead};
use crate::ingest::merge::order::{Next, Order};
use crate::store::recent_lines::LinePlace;
use parsers::input::Stream;
use parsers::{Extra, Line, NO_ID, NO_NS, Text};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;

/// Text of the cells that lines are taken from, in all files together. If these are many, they get smaller cells.
const LIVE_BYTES: u64 = 32 << 20;
const MAX_CELL_BYTES: u64 = 1 << 17;
const MIN_CELL_BYTES: u64 = 1 << 14;
/// Text read ahead of them.
const AHEAD_BYTES: u64 = 16 << 20;
/// Cells of each of these files that are read ahead.
const CELLS_AHEAD: usize = 2;
/// Number of files that are not begun yet and whose first cell is read ahead.
const FILES_AHEAD: usize = 8;

/// What the lines of a file are read from.
pub(super) enum MergeSource {
    /// A file of this length. It is opened anew for each cell: there may be more files than can be open at a time.
    Plain(u64),
    /// With its first lines.
    Stream(Stream, Vec<u8>),
}

impl MergeSource {
    /// The same, at its beginning: of a stream, these lines have been read.
    pub(super) fn after(self, text: Vec<u8>) -> MergeSource {
        match self {
            MergeSource::Stream(stream, _) => MergeSource::Stream(stream, text),
            plain => plain,
        }
    }
}

/// The first line of a file, which is read before all others.
pub(super) struct FirstLine {
    line: Line,
    /// The thread whose lines it follows.
    behind: Option<i32>,
}

impl FirstLine {
    pub(super) fn new(line: &Line, extra: Option<&Extra>) -> FirstLine {
        FirstLine {
            line: *line,
            behind: behind(extra),
        }
    }

    /// Whether the format has such lines.
    pub(super) fn is_understood(&self) -> bool {
        is_understood(self.line.kind)
    }
}

/// The thread that a line with this extra follows.
fn behind(extra: Option<&Extra>) -> Option<i32> {
    match extra.map(Extra::bare) {
        Some(Extra::Superseded { by }) => Some(*by),
        _ => None,
    }
}

/// Where a file is read at.
pub(super) struct Cursor {
    source: MergeSource,
    first: FirstLine,
    /// The thread in the file's name.
    pub(super) tid: i32,
    /// The cells that are requested and not used yet.
    wanted: Range<usize>,
    /// 0 until the first one is requested.
    cell_bytes: u64,
    chunk: Option<Chunk>,
    /// The texts of the chunk in the trace.
    map: Vec<Text>,
    /// The next line of the chunk.
    next: usize,
    line: u32,
    pub(super) read_bytes: u64,
    last_byte: u8,
    /// Whether the last line of a chunk seemed to be whole.
    ends_whole: bool,
}

impl Cursor {
    pub(super) fn new(source: MergeSource, first: FirstLine, tid: i32) -> Cursor {
        Cursor {
            source,
            first,
            tid,
            wanted: 0..0,
            cell_bytes: 0,
            chunk: None,
            map: Vec::new(),
            next: 0,
            line: 0,
            read_bytes: 0,
            last_byte: b'\n',
            ends_whole: true,
        }
    }

    pub(super) fn is_cut(&self) -> bool {
        (self.last_byte != b'\n' && !self.ends_whole)
            || matches!(&self.source, MergeSource::Stream(stream, _) if stream.is_cut())
    }

    fn is_exhausted(&self) -> bool {
        self.chunk
            .as_ref()
            .is_none_or(|chunk| self.next >= chunk.parsed.lines.len())
    }

    fn has_begun(&self) -> bool {
        self.line > 0 || self.chunk.is_some()
    }

    /// Take in a chunk after all lines of the one before.
    fn begin(&mut self, chunk: Chunk, assembler: &mut Assembler<'_>) {
        self.read_bytes += chunk.bytes as u64;
        self.last_byte = chunk.last_byte.unwrap_or(self.last_byte);
        self.next = 0;
        self.map.clear();
        assembler.map_texts(chunk.parsed.texts.added(), &mut self.map);
        self.chunk = Some(chunk);
    }

    /// Take the next line.
    fn take(
        &mut self,
        assembler: &mut Assembler<'_>,
        file: usize,
        stamp_ns: i64,
        order: &mut Order,
    ) {
        let Some(parsed) = self.chunk.as_ref().map(|chunk| &chunk.parsed) else {
            return;
        };
        let Some(line) = parsed.lines.get(self.next) else {
            return;
        };
        let (mut line, extra) = in_trace(line, parsed.extra(line), &self.map);
        self.line = self.line.saturating_add(1);
        self.next += 1;
        if line.tid == NO_ID {
            line.tid = self.tid;
        }
        let stamp_ns = if line.stamp_ns == NO_NS {
            NO_NS
        } else {
            stamp_ns
        };
        let at = LinePlace {
            file: assembler.first_file() + file as u32,
            line: self.line,
        };
        order.took(file, &line, extra.as_ref(), stamp_ns);
        if self.is_exhausted() {
            self.ends_whole = assembler.is_whole(&line, extra.as_ref());
        }
        assembler.line(&line, extra, stamp_ns, at);
    }
}

/// All files, while their lines are taken.
pub(super) struct Cursors<'merge> {
    list: &'merge mut [Cursor],
    ahead: &'merge ReadAhead<'merge>,
    /// Files without a requested cell, in the order of their first lines.
    later: VecDeque<usize>,
    /// Number of files that are not begun yet and whose first cell is requested.
    soon: usize,
    /// Number of files that lines are taken from.
    live: u64,
    /// Bytes of the cells that are requested and not used yet.
    ahead_bytes: u64,
    /// A buffer for what this core reads.
    text: Vec<u8>,
}

impl<'merge> Cursors<'merge> {
    pub(super) fn new(
        list: &'merge mut [Cursor],
        ahead: &'merge ReadAhead<'merge>,
    ) -> Cursors<'merge> {
        let mut later: Vec<usize> = (0..list.len()).collect();
        later.sort_by_key(|&file| list[file].first.line.stamp_ns);
        Cursors {
            list,
            ahead,
            later: later.into(),
            soon: 0,
            live: 0,
            ahead_bytes: 0,
            text: Vec::new(),
        }
    }

    /// The threads in the files' names.
    pub(super) fn tids(&self) -> Vec<i32> {
        self.list.iter().map(|cursor| cursor.tid).collect()
    }

    pub(super) fn read_bytes(&self) -> u64 {
        self.list.iter().map(|cursor| cursor.read_bytes).sum()
    }

    /// The position of the first line of a file.
    pub(super) fn first(&self, file: usize, assembler: &mut Assembler<'_>) -> Next {
        let FirstLine { line, behind } = &self.list[file].first;
        next(assembler, file, line, *behind)
    }

    /// Take the next line of a file. Returns the position of the line after it.
    pub(super) fn take(
        &mut self,
        file: usize,
        stamp_ns: i64,
        assembler: &mut Assembler<'_>,
        order: &mut Order,
    ) -> io::Result<Option<Next>> {
        if self.list[file].is_exhausted() {
            self.load(file, assembler)?;
        }
        self.list[file].take(assembler, file, stamp_ns, order);
        while self.list[file].is_exhausted() {
            if !self.load(file, assembler)? {
                return Ok(None);
            }
        }
        let cursor = &self.list[file];
        let Some(chunk) = &cursor.chunk else {
            return Ok(None);
        };
        let line = &chunk.parsed.lines[cursor.next];
        Ok(Some(next(
            assembler,
            file,
            line,
            behind(chunk.parsed.extra(line)),
        )))
    }

    /// Load the next chunk of a file. Returns whether there is one.
    fn load(&mut self, file: usize, assembler: &mut Assembler<'_>) -> io::Result<bool> {
        self.begin(file);
        if let Some(chunk) = self.list[file].chunk.take() {
            self.ahead.give_back(chunk);
        }
        let chunk = match &mut self.list[file].source {
            MergeSource::Plain(_) => self.next_cell(file)?,
            MergeSource::Stream(stream, first) => {
                let text = match std::mem::take(first) {
                    first if !first.is_empty() => Some(first),
                    _ => stream.next_chunk()?.map(|chunk| chunk.bytes),
                };
                text.map(|text| self.ahead.read(file, &text))
            }
        };
        match chunk {
            Some(chunk) => self.list[file].begin(chunk, assembler),
            None => {
                self.live -= 1;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Lines are taken from this file from now on.
    fn begin(&mut self, file: usize) {
        if self.list[file].has_begun() {
            return;
        }
        self.live += 1;
        self.soon -= usize::from(!self.list[file].wanted.is_empty());
    }

    fn next_cell(&mut self, file: usize) -> io::Result<Option<Chunk>> {
        if self.list[file].wanted.is_empty() && !self.want(file) {
            return Ok(None);
        }
        let cursor = &mut self.list[file];
        let cell = Cell {
            file,
            number: cursor.wanted.start,
            bytes: cursor.cell_bytes,
        };
        cursor.wanted.start += 1;
        self.ahead_bytes -= cell.bytes;
        self.want_next(file);
        self.ahead.take(cell, &mut self.text).map(Some)
    }

    /// Request the cells that will be needed soon, while a file is read.
    fn want_next(&mut self, file: usize) {
        while self.ahead_bytes < AHEAD_BYTES
            && self.list[file].wanted.len() < CELLS_AHEAD
            && self.want(file)
        {}
        while self.ahead_bytes < AHEAD_BYTES && self.soon < FILES_AHEAD {
            let Some(later) = self.later.pop_front() else {
                return;
            };
            let cursor = &self.list[later];
            self.soon +=
                usize::from(!cursor.has_begun() && cursor.wanted.is_empty() && self.want(later));
        }
    }

    /// Request the next cell of a file. Returns whether there is one.
    fn want(&mut self, file: usize) -> bool {
        let cursor = &mut self.list[file];
        let MergeSource::Plain(len) = cursor.source else {
            return false;
        };
        if cursor.cell_bytes == 0 {
            cursor.cell_bytes =
                (LIVE_BYTES / self.live.max(1)).clamp(MIN_CELL_BYTES, MAX_CELL_BYTES);
        }
        let (number, bytes) = (cursor.wanted.end, cursor.cell_bytes);
        let has_more = (number as u64) < len.div_ceil(bytes);
        if has_more {
            cursor.wanted.end += 1;
            self.ahead_bytes += bytes;
            self.ahead.want(Cell {
                file,
                number,
                bytes,
            });
        }
        has_more
    }
}

/// The position of a line that is next in its file, among the lines of the other files.
fn next(assembler: &mut Assembler<'_>, file: usize, line: &Line, behind: Option<i32>) -> Next {
    let stamp_ns = match assembler.counts_differences() {
        true => line.stamp_ns,
        false => assembler.stamp(assembler.first_file() + file as u32, line),
    };
    Next { stamp_ns, behind }
}
