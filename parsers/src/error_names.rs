//! Names of errors by their numbers, which differ from system to system.
//!
//! In:   35 on FreeBSD
//! Out:  EAGAIN

/// A system with its own numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// FreeBSD, and the other BSDs as far as they agree.
    FreeBsd,
    /// macOS.
    MacOs,
    /// Solaris and illumos.
    Solaris,
    /// Linux on most machines.
    Linux,
}

/// The name of an error; `None` if the system has no such number.
pub fn name(system: System, number: i64) -> Option<&'static str> {
    let at = usize::try_from(number).ok()?;
    let tables: [(usize, &[&str]); 3] = match system {
        System::FreeBsd => [(1, &FIRST), (11, &BSD), (82, &FREEBSD)],
        System::MacOs => [(1, &FIRST), (11, &BSD), (82, &MACOS)],
        System::Solaris => [(1, &FIRST), (11, &SOLARIS), (120, &SOLARIS_NETWORK)],
        System::Linux => [(1, &FIRST), (11, &LINUX), (84, &LINUX_NETWORK)],
    };
    if (system, number) == (System::MacOs, 45) {
        return Some("ENOTSUP");
    }
    let found = tables
        .iter()
        .find_map(|&(first, names)| names.get(at.checked_sub(first)?));
    found.copied().filter(|name| !name.is_empty())
}

/// 1 to 10 are the same everywhere.
const FIRST: [&str; 10] = [
    "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD",
];

/// From 11 on, as the BSDs have them.
#[rustfmt::skip]
const BSD: [&str; 71] = [
    "EDEADLK", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV", "ENOTDIR",
    "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC", "ESPIPE", "EROFS",
    "EMLINK", "EPIPE", "EDOM", "ERANGE", "EAGAIN", "EINPROGRESS", "EALREADY", "ENOTSOCK", "EDESTADDRREQ", "EMSGSIZE",
    "EPROTOTYPE", "ENOPROTOOPT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EOPNOTSUPP", "EPFNOSUPPORT", "EAFNOSUPPORT",
    "EADDRINUSE", "EADDRNOTAVAIL", "ENETDOWN", "ENETUNREACH", "ENETRESET", "ECONNABORTED", "ECONNRESET", "ENOBUFS",
    "EISCONN", "ENOTCONN", "ESHUTDOWN", "ETOOMANYREFS", "ETIMEDOUT", "ECONNREFUSED", "ELOOP", "ENAMETOOLONG",
    "EHOSTDOWN", "EHOSTUNREACH", "ENOTEMPTY", "EPROCLIM", "EUSERS", "EDQUOT", "ESTALE", "EREMOTE", "EBADRPC",
    "ERPCMISMATCH", "EPROGUNAVAIL", "EPROGMISMATCH", "EPROCUNAVAIL", "ENOLCK", "ENOSYS", "EFTYPE", "EAUTH", "ENEEDAUTH",
];

/// From 82 on.
#[rustfmt::skip]
const FREEBSD: [&str; 16] = [
    "EIDRM", "ENOMSG", "EOVERFLOW", "ECANCELED", "EILSEQ", "ENOATTR", "EDOOFUS", "EBADMSG", "EMULTIHOP", "ENOLINK",
    "EPROTO", "ENOTCAPABLE", "ECAPMODE", "ENOTRECOVERABLE", "EOWNERDEAD", "EINTEGRITY",
];

/// From 82 on.
#[rustfmt::skip]
const MACOS: [&str; 25] = [
    "EPWROFF", "EDEVERR", "EOVERFLOW", "EBADEXEC", "EBADARCH", "ESHLIBVERS", "EBADMACHO", "ECANCELED", "EIDRM",
    "ENOMSG", "EILSEQ", "ENOATTR", "EBADMSG", "EMULTIHOP", "ENODATA", "ENOLINK", "ENOSR", "ENOSTR", "EPROTO", "ETIME",
    "EOPNOTSUPP", "ENOPOLICY", "ENOTRECOVERABLE", "EOWNERDEAD", "EQFULL",
];

/// From 11 on.
#[rustfmt::skip]
const SOLARIS: [&str; 89] = [
    "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV", "ENOTDIR",
    "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC", "ESPIPE", "EROFS",
    "EMLINK", "EPIPE", "EDOM", "ERANGE", "ENOMSG", "EIDRM", "ECHRNG", "EL2NSYNC", "EL3HLT", "EL3RST",
    "ELNRNG", "EUNATCH", "ENOCSI", "EL2HLT", "EDEADLK", "ENOLCK", "ECANCELED", "ENOTSUP", "EDQUOT", "EBADE",
    "EBADR", "EXFULL", "ENOANO", "EBADRQC", "EBADSLT", "EDEADLOCK", "EBFONT", "EOWNERDEAD", "ENOTRECOVERABLE", "ENOSTR",
    "ENODATA", "ETIME", "ENOSR", "ENONET", "ENOPKG", "EREMOTE", "ENOLINK", "EADV", "ESRMNT", "ECOMM",
    "EPROTO", "ELOCKUNMAPPED", "ENOTACTIVE", "EMULTIHOP", "", "", "EBADMSG", "ENAMETOOLONG", "EOVERFLOW", "ENOTUNIQ",
    "EBADFD", "EREMCHG", "ELIBACC", "ELIBBAD", "ELIBSCN", "ELIBMAX", "ELIBEXEC", "EILSEQ", "ENOSYS", "ELOOP",
    "ERESTART", "ESTRPIPE", "ENOTEMPTY", "EUSERS", "ENOTSOCK", "EDESTADDRREQ", "EMSGSIZE", "EPROTOTYPE", "ENOPROTOOPT",
];

/// From 120 on.
#[rustfmt::skip]
const SOLARIS_NETWORK: [&str; 32] = [
    "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EOPNOTSUPP", "EPFNOSUPPORT", "EAFNOSUPPORT", "EADDRINUSE", "EADDRNOTAVAIL",
    "ENETDOWN", "ENETUNREACH", "ENETRESET", "ECONNABORTED", "ECONNRESET", "ENOBUFS", "EISCONN", "ENOTCONN",
    "", "", "", "", "", "", "", "", "ESHUTDOWN", "ETOOMANYREFS", "ETIMEDOUT", "ECONNREFUSED", "EHOSTDOWN",
    "EHOSTUNREACH", "EALREADY", "EINPROGRESS", "ESTALE",
];

/// From 11 on.
#[rustfmt::skip]
const LINUX: [&str; 65] = [
    "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV", "ENOTDIR",
    "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC", "ESPIPE", "EROFS",
    "EMLINK", "EPIPE", "EDOM", "ERANGE", "EDEADLK", "ENAMETOOLONG", "ENOLCK", "ENOSYS", "ENOTEMPTY", "ELOOP",
    "", "ENOMSG", "EIDRM", "ECHRNG", "EL2NSYNC", "EL3HLT", "EL3RST", "ELNRNG", "EUNATCH", "ENOCSI",
    "EL2HLT", "EBADE", "EBADR", "EXFULL", "ENOANO", "EBADRQC", "EBADSLT", "", "EBFONT", "ENOSTR",
    "ENODATA", "ETIME", "ENOSR", "ENONET", "ENOPKG", "EREMOTE", "ENOLINK", "EADV", "ESRMNT", "ECOMM",
    "EPROTO", "EMULTIHOP", "EDOTDOT", "EBADMSG", "EOVERFLOW",
];

/// From 84 on.
#[rustfmt::skip]
const LINUX_NETWORK: [&str; 50] = [
    "EILSEQ", "ERESTART", "ESTRPIPE", "EUSERS", "ENOTSOCK", "EDESTADDRREQ", "EMSGSIZE", "EPROTOTYPE", "ENOPROTOOPT",
    "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EOPNOTSUPP", "EPFNOSUPPORT", "EAFNOSUPPORT", "EADDRINUSE", "EADDRNOTAVAIL",
    "ENETDOWN", "ENETUNREACH", "ENETRESET", "ECONNABORTED", "ECONNRESET", "ENOBUFS", "EISCONN", "ENOTCONN", "ESHUTDOWN",
    "ETOOMANYREFS", "ETIMEDOUT", "ECONNREFUSED", "EHOSTDOWN", "EHOSTUNREACH", "EALREADY", "EINPROGRESS", "ESTALE",
    "EUCLEAN", "ENOTNAM", "ENAVAIL", "EISNAM", "EREMOTEIO", "EDQUOT", "ENOMEDIUM", "EMEDIUMTYPE", "ECANCELED", "ENOKEY",
    "EKEYEXPIRED", "EKEYREVOKED", "EKEYREJECTED", "EOWNERDEAD", "ENOTRECOVERABLE", "ERFKILL", "EHWPOISON",
];

#[cfg(test)]
mod tests {
    use super::{System, name};

    #[test]
    fn error_numbers_are_named_by_system() {
        let cases = [
            (
                System::FreeBsd,
                [
                    (2, "ENOENT"),
                    (35, "EAGAIN"),
                    (60, "ETIMEDOUT"),
                    (78, "ENOSYS"),
                    (96, "EOWNERDEAD"),
                ],
            ),
            (
                System::MacOs,
                [
                    (35, "EAGAIN"),
                    (45, "ENOTSUP"),
                    (61, "ECONNREFUSED"),
                    (89, "ECANCELED"),
                    (102, "EOPNOTSUPP"),
                ],
            ),
            (
                System::Solaris,
                [
                    (11, "EAGAIN"),
                    (48, "ENOTSUP"),
                    (78, "ENAMETOOLONG"),
                    (99, "ENOPROTOOPT"),
                    (145, "ETIMEDOUT"),
                ],
            ),
            (
                System::Linux,
                [
                    (11, "EAGAIN"),
                    (38, "ENOSYS"),
                    (75, "EOVERFLOW"),
                    (110, "ETIMEDOUT"),
                    (115, "EINPROGRESS"),
                ],
            ),
        ];
        for (system, known) in cases {
            for (number, expected) in known {
                assert_eq!(name(system, number), Some(expected), "{system:?} {number}");
            }
            assert_eq!(
                [name(system, 0), name(system, -2), name(system, 500)],
                [None; 3]
            );
        }
    }
}
