//! The names of sub-operations that are printed as numbers, as `strace -X raw` and `-e raw=…` do.
//!
//! In:   futex 0x89
//! Out:  FUTEX_WAIT_BITSET_PRIVATE

use crate::scan;
use crate::syscalls::Action;

/// Futex operations by number, shared and private.
const FUTEX: [[&str; 2]; 14] = [
    ["FUTEX_WAIT", "FUTEX_WAIT_PRIVATE"],
    ["FUTEX_WAKE", "FUTEX_WAKE_PRIVATE"],
    ["FUTEX_FD", "FUTEX_FD"],
    ["FUTEX_REQUEUE", "FUTEX_REQUEUE_PRIVATE"],
    ["FUTEX_CMP_REQUEUE", "FUTEX_CMP_REQUEUE_PRIVATE"],
    ["FUTEX_WAKE_OP", "FUTEX_WAKE_OP_PRIVATE"],
    ["FUTEX_LOCK_PI", "FUTEX_LOCK_PI_PRIVATE"],
    ["FUTEX_UNLOCK_PI", "FUTEX_UNLOCK_PI_PRIVATE"],
    ["FUTEX_TRYLOCK_PI", "FUTEX_TRYLOCK_PI_PRIVATE"],
    ["FUTEX_WAIT_BITSET", "FUTEX_WAIT_BITSET_PRIVATE"],
    ["FUTEX_WAKE_BITSET", "FUTEX_WAKE_BITSET_PRIVATE"],
    ["FUTEX_WAIT_REQUEUE_PI", "FUTEX_WAIT_REQUEUE_PI_PRIVATE"],
    ["FUTEX_CMP_REQUEUE_PI", "FUTEX_CMP_REQUEUE_PI_PRIVATE"],
    ["FUTEX_LOCK_PI2", "FUTEX_LOCK_PI2_PRIVATE"],
];

/// The name of a sub-operation that is printed as a number, if the number means the same on all systems.
pub fn named_op(action: Action, op: &[u8]) -> Option<&'static str> {
    let (number, _) = scan::value(op)?;
    match action {
        Action::UsesFutex => {
            let names = FUTEX.get(usize::try_from(number & 0x7f).ok()?)?;
            Some(names[usize::from(number & 0x80 != 0)])
        }
        Action::LocksFile => Some(match number {
            1 => "LOCK_SH",
            2 => "LOCK_EX",
            5 => "LOCK_SH|LOCK_NB",
            6 => "LOCK_EX|LOCK_NB",
            8 => "LOCK_UN",
            _ => return None,
        }),
        // Record locks have other numbers on other systems; these exist only on Linux.
        Action::ControlsFile => Some(match number {
            0 => "F_DUPFD",
            36 => "F_OFD_GETLK",
            37 => "F_OFD_SETLK",
            38 => "F_OFD_SETLKW",
            1030 => "F_DUPFD_CLOEXEC",
            _ => return None,
        }),
        _ => None,
    }
}
