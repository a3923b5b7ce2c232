//! Names of system calls among those of library functions.
//!
//! In:   `SYS_openat`, `open@SYS`, `SYS_435`
//! Out:  `openat`, `open`, `clone3`

use crate::scan;

/// From this number on, all machines have the same system calls.
const FIRST_COMMON: usize = 424;
#[rustfmt::skip]
const COMMON: [&str; 44] = [
    "pidfd_send_signal", "io_uring_setup", "io_uring_enter", "io_uring_register", "open_tree", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "pidfd_open", "clone3", "close_range", "openat2", "pidfd_getfd", "faccessat2",
    "process_madvise", "epoll_pwait2", "mount_setattr", "quotactl_fd", "landlock_create_ruleset", "landlock_add_rule",
    "landlock_restrict_self", "memfd_secret", "process_mrelease", "futex_waitv", "set_mempolicy_home_node", "cachestat",
    "fchmodat2", "map_shadow_stack", "futex_wake", "futex_wait", "futex_requeue", "statmount", "listmount",
    "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal", "setxattrat", "getxattrat", "listxattrat",
    "removexattrat", "open_tree_attr",
];

/// The name of a system call without its mark; `None` for a function of a library.
pub(super) fn of_system(name: &[u8]) -> Option<&[u8]> {
    name.strip_prefix(b"SYS_")
        .or_else(|| name.strip_suffix(b"@SYS"))
        .filter(|name| !name.is_empty())
}

/// The system call at the start of a text, and the text after its parenthesis.
pub(super) fn of_call(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let named = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@');
    let end = text.iter().position(|byte| !named(byte))?;
    let rest = text.get(end..)?.strip_prefix(b"(")?;
    Some((of_system(text.get(..end)?)?, rest))
}

/// The name of a call of which only the number is printed.
pub(super) fn common_name<'a>(name: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let Some((number, b"")) = scan::number(name) else {
        return name;
    };
    let place = usize::try_from(number)
        .ok()
        .and_then(|number| number.checked_sub(FIRST_COMMON));
    if let Some(name) = place.and_then(|place| COMMON.get(place)) {
        return name.as_bytes();
    }
    scratch.clear();
    scratch.extend_from_slice(b"syscall_");
    scratch.extend_from_slice(name);
    scratch
}

/// Write the name in a row of a table to `out`; false for a library function.
pub(super) fn of_row(name: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(name) = of_system(name) else {
        return false;
    };
    let mut scratch = Vec::new();
    let name = common_name(name, &mut scratch);
    out.clear();
    out.extend_from_slice(name);
    true
}

/// The operation of a futex, which is printed as a number.
pub(super) fn futex_op(arg: &[u8]) -> &[u8] {
    const OPERATIONS: [&str; 11] = [
        "FUTEX_WAIT",
        "FUTEX_WAKE",
        "FUTEX_FD",
        "FUTEX_REQUEUE",
        "FUTEX_CMP_REQUEUE",
        "FUTEX_WAKE_OP",
        "FUTEX_LOCK_PI",
        "FUTEX_UNLOCK_PI",
        "FUTEX_TRYLOCK_PI",
        "FUTEX_WAIT_BITSET",
        "FUTEX_WAKE_BITSET",
    ];
    // The upper bits are flags: private, and the clock.
    let number = scan::value(arg).and_then(|(bits, _)| usize::try_from(bits & 0x7f).ok());
    number
        .and_then(|number| OPERATIONS.get(number))
        .map_or(arg, |name| name.as_bytes())
}
