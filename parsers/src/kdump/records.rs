//! Records other than calls and returns: paths, data, signals, switches.

use super::head::KdumpRecord;
use crate::facts::Fact;
use crate::format::Parsed;
use crate::line::{Ended, Extra, Line, LineKind, NO_ID};
use crate::scan;
use memchr::memmem;

/// Longest stored path, peer or wait channel, in bytes.
const MAX_TARGET_BYTES: usize = 4096;

/// Errors whose numbers differ between the BSDs, by the beginning of their texts.
const BY_TEXT: [(&[u8], &str); 16] = [
    (b"Attribute not found", "ENOATTR"),
    (b"Bad message", "EBADMSG"),
    (b"Capabilities insufficient", "ENOTCAPABLE"),
    (b"Identifier removed", "EIDRM"),
    (b"Illegal byte sequence", "EILSEQ"),
    (b"Integrity check failed", "EINTEGRITY"),
    (b"Link has been severed", "ENOLINK"),
    (b"No message", "ENOMSG"),
    (b"Not permitted in capability mode", "ECAPMODE"),
    (b"Not supported", "ENOTSUP"),
    (b"Operation cancel", "ECANCELED"),
    (b"Previous owner died", "EOWNERDEAD"),
    (b"Programming error", "EDOOFUS"),
    (b"Protocol error", "EPROTO"),
    (b"State not recoverable", "ENOTRECOVERABLE"),
    (b"Value too large", "EOVERFLOW"),
];

/// The name of an error by its text.
pub(super) fn error_by_text(text: &[u8]) -> Option<&'static str> {
    BY_TEXT
        .iter()
        .find(|(front, _)| text.starts_with(front))
        .map(|&(_, name)| name)
}

/// A record other than a call or a return.
pub(super) fn other(record: &KdumpRecord<'_>, line: &mut Line, parsed: &mut Parsed) {
    let text = scan::trim(record.text);
    match record.kind {
        b"NAMI" | b"SCTL" => {
            line.kind = LineKind::Continuation;
            line.target = target(quoted(text), parsed);
        }
        b"STRU" => {
            line.kind = LineKind::Continuation;
            line.target = target(peer(text), parsed);
        }
        b"PSIG" => signal(text, line, parsed),
        b"CSW" => switch(text, line, parsed),
        b"PFLT" => {
            line.kind = LineKind::Process;
            line.name = parsed.texts.add(b"page-fault");
        }
        b"PLDG" => pledge(text, line, parsed),
        // utrace records of libraries, changes of the system-call ABI, and calls refused by capabilities.
        b"USER" | b"EMUL" | b"PINS" | b"CAP" | b"PCTOR" | b"PDTOR" => {}
        _ => line.kind = LineKind::Continuation,
    }
}

fn target(text: &[u8], parsed: &mut Parsed) -> crate::text::Text {
    parsed
        .texts
        .add(text.get(..MAX_TARGET_BYTES).unwrap_or(text))
}

fn quoted(text: &[u8]) -> &[u8] {
    let inner = text.strip_prefix(b"\"").unwrap_or(text);
    inner.strip_suffix(b"\"").unwrap_or(inner)
}

/// `ioctl, "tty", errno 1 Operation not permitted`: the open call needs a promise that the process has not made.
fn pledge(text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let promise = memmem::find(text, b", \"").and_then(|at| text.get(at + 3..));
    let promise = promise.and_then(|rest| rest.get(..memchr::memchr(b'"', rest)?));
    if let Some(promise) = promise.filter(|promise| promise.len() <= MAX_TARGET_BYTES) {
        line.kind = LineKind::Continuation;
        let promise = parsed.texts.add(promise);
        line.extra = parsed.keep(Fact::RefusedPromise(promise));
    }
}

/// `struct sockaddr { AF_INET, 192.0.2.1:80 }`
fn peer(text: &[u8]) -> &[u8] {
    let Some(inner) = text
        .strip_prefix(b"struct sockaddr { AF_")
        .and_then(|rest| rest.strip_suffix(b" }"))
    else {
        return b"";
    };
    memmem::find(inner, b", ")
        .and_then(|at| inner.get(at + 2..))
        .map_or(b"", quoted)
}

/// `SIGINT caught handler=0x… mask=0x0 code=SI_USER`, `SIGTERM SIG_DFL`. A default action is recorded only if it kills.
fn signal(text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let mut words = text
        .split(|byte| matches!(byte, b' ' | b'\t'))
        .filter(|word| !word.is_empty());
    line.kind = LineKind::Signal;
    line.name = parsed.texts.add(words.next().unwrap_or(b""));
    let action = words.next().unwrap_or(b"");
    line.op = parsed.texts.add(action);
    line.extra = match action {
        b"SIG_DFL" => parsed.keep(Extra::GroupEnd(Ended::Killed(line.name))),
        _ => {
            let sender =
                memmem::find(text, b"pid=").and_then(|at| scan::number(text.get(at + 4..)?));
            let from = sender
                .and_then(|(pid, _)| i32::try_from(pid).ok())
                .unwrap_or(NO_ID);
            parsed.keep(Extra::Signal { from, ended: None })
        }
    };
}

/// `stop kernel "select"`, `resume user`.
fn switch(text: &[u8], line: &mut Line, parsed: &mut Parsed) {
    let (what, rest) = scan::name(text).unwrap_or((b"", text));
    line.kind = LineKind::Process;
    line.name = parsed.texts.add(b"switch");
    line.op = parsed.texts.add(what);
    let channel = memchr::memchr(b'"', rest)
        .and_then(|at| rest.get(at..))
        .unwrap_or(b"");
    line.target = target(quoted(channel), parsed);
}
