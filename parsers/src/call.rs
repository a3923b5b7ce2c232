//! What the arguments of a call say: descriptor, sub-operation, target, and the extras.
//!
//! Shared by all formats that print arguments in the order of the system call.

use crate::format::Parsed;
use crate::line::Line;
use crate::syscalls::Syscall;

/// Fill in what the arguments of a whole call or of a first half say: `fd`, `op`, `target` and the extra of the line.
///
/// `args` are the texts between the commas, trimmed, as many as were found. `line.ret` and `line.outcome` must be set.
pub fn describe(call: &'static Syscall, args: &[&[u8]], line: &mut Line, parsed: &mut Parsed) {
    let _ = (call, args, line, parsed);
}
