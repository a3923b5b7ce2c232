//! Frames of the stacks that tracers print after a call, the innermost first.
//!
//! ```text
//! strace -k   |␣>␣/usr/bin/prog(quota_lookup+0x1a) [0x11ca]
//! strace -kk  |␣>␣/usr/bin/prog(quota_lookup+0x1a) [0x11ca] /src/quota.c:118
//! ltrace -w   |␣>␣/usr/bin/prog(quota_lookup+0x1a) [0x55d00c9b11ca]
//! dtruss -s   |              prog`quota_lookup+0x1a
//! perf trace  |                  quota_lookup (/usr/bin/prog)
//! ```
//! The formats of strace are those of `src/unwind.c`. Offsets and addresses are dropped: a frame stands for a function
//! and, if printed, its line. A frame without a symbol has only its module.

use crate::format::Parsed;
use crate::line::{Extra, Line, LineKind};
use crate::scan;
use memchr::memmem;

/// What a tracer prints of a frame. Missing parts are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// The file that is mapped there.
    pub module: &'a [u8],
    /// The function, demangled if the tracer does that.
    pub function: &'a [u8],
    /// Source file and line.
    pub source: &'a [u8],
}

impl Frame<'_> {
    /// The line of this frame.
    pub(crate) fn line(&self, parsed: &mut Parsed) -> Line {
        let [module, function, source] =
            [self.module, self.function, self.source].map(|text| parsed.texts.add(text));
        let mut line = Line::of(LineKind::Continuation);
        line.extra = parsed.keep(Extra::Frame {
            module,
            function,
            source,
        });
        line
    }
}

/// A frame of strace or ltrace. `None` for messages such as ` > too many stack frames`, which have no module.
pub(crate) fn of_strace(line: &[u8]) -> Option<Frame<'_>> {
    let text = line.strip_prefix(b" > ")?;
    let (symbol, source) = memmem::find_iter(text, b") [0x").find_map(|at| {
        let source = after_address(&text[at + 3..])?;
        Some((text.get(..at)?, source))
    })?;
    let open = opening(symbol)?;
    let (module, function) = (&symbol[..open], &symbol[open + 1..]);
    let function = match memmem::rfind(function, b"+0x") {
        Some(at) if is_hex(&function[at + 3..]) => &function[..at],
        // A symbol always has an offset, so this text is something else.
        _ if !function.is_empty() => return None,
        _ => function,
    };
    let module = module.strip_suffix(b" (deleted)").unwrap_or(module);
    (!module.is_empty()).then_some(Frame {
        module,
        function: without_version(function),
        source,
    })
}

/// `clock_nanosleep@GLIBC_2.2.5`, `__libc_start_main@@GLIBC_2.34`: the symbol without its version.
fn without_version(function: &[u8]) -> &[u8] {
    let is_version = |byte: &u8| byte.is_ascii_alphanumeric() || b"@_.".contains(byte);
    match memchr::memchr(b'@', function) {
        Some(at) if at > 0 && function[at..].iter().all(is_version) => &function[..at],
        _ => function,
    }
}

/// The source after `0x11ca] `, or an empty text after `0x11ca]`.
fn after_address(text: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr(b']', text)?;
    if !text.get(2..end).is_some_and(is_hex) {
        return None;
    }
    let rest = &text[end + 1..];
    if rest.is_empty() {
        return Some(rest);
    }
    let source = rest.strip_prefix(b" ")?;
    let colon = memchr::memrchr(b':', source).filter(|&colon| colon > 0)?;
    let line = &source[colon + 1..];
    (!line.is_empty() && line.iter().all(u8::is_ascii_digit)).then_some(source)
}

/// The parenthesis after the module. Those of demangled names are balanced: `std::function<void ()>::operator()(int)`.
fn opening(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    for at in memchr::memrchr2_iter(b'(', b')', text) {
        match (text[at], depth) {
            (b'(', 0) => return Some(at),
            (b'(', _) => depth -= 1,
            _ => depth += 1,
        }
    }
    None
}

fn is_hex(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_hexdigit)
}

/// A frame of dtrace: module, grave accent, symbol and offset; `None` for an address without a module.
pub(crate) fn of_dtrace(text: &[u8]) -> Option<Frame<'_>> {
    let grave = memchr::memchr(b'`', text)?;
    let (module, symbol) = (&text[..grave], &text[grave + 1..]);
    let function = match memmem::rfind(symbol, b"+0x") {
        Some(at) if is_hex(&symbol[at + 3..]) => &symbol[..at],
        _ => symbol,
    };
    // Without a symbol, dtrace prints the address in the module.
    let is_address = symbol.strip_prefix(b"0x").is_some_and(is_hex);
    (!module.is_empty()).then_some(Frame {
        module,
        function: if is_address { b"" } else { function },
        source: b"",
    })
}

/// A frame of perf: symbol and module in parentheses. Functions that were inlined have no module.
pub(crate) fn of_perf(line: &[u8]) -> Option<Frame<'_>> {
    let rest = scan::trim(line).strip_suffix(b")")?;
    let open = memmem::rfind(rest, b" (")?;
    let (symbol, module) = (scan::trim(&rest[..open]), &rest[open + 2..]);
    let module = if matches!(module, b"inlined" | b"[unknown]") {
        b""
    } else {
        module
    };
    let function = match memmem::rfind(symbol, b"+0x") {
        Some(at) if is_hex(&symbol[at + 3..]) => &symbol[..at],
        _ if symbol == b"[unknown]" => b"",
        _ => symbol,
    };
    (!module.is_empty() || !function.is_empty()).then_some(Frame {
        module,
        function,
        source: b"",
    })
}
