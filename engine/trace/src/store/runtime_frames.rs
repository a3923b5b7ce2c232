//! Which frames belong to a runtime, not to the program: C library, dynamic linker, runtimes of languages.
//!
//! ```text
//! libc.so.6 clock_nanosleep    runtime
//! libc.so.6 usleep             runtime
//! quota     quota_lookup       the innermost frame of the program: it is named in reports
//! quota     main
//! ```
//! The lists are judgement. A name that is missing here only moves a report one frame inward.

use parsers::syscalls;

/// Shared libraries of a C or C++ runtime, by the first part of their file names: `libc.so.6`, `libc-2.31.so`.
/// Source: files that glibc, musl, FreeBSD, Solaris and GCC install; libraries of GCC's sanitizers, which wrap calls.
const LIBRARIES: &[&str] = &[
    "libc",
    "libpthread",
    "libdl",
    "librt",
    "libanl",
    "libresolv",
    "libnsl",
    "libthr",
    "libsys",
    "libsocket",
    "libstdc++",
    "libc++",
    "libc++abi",
    "libgcc_s",
    "libgo",
    "libasan",
    "libtsan",
    "libubsan",
    "liblsan",
];

/// Dynamic linkers and pages of the kernel, by the beginning of their file names.
/// Source: ld.so(8), vdso(7), rtld(1) of FreeBSD, ld.so.1(1) of Solaris, dyld(1).
const LINKERS: &[&str] = &[
    "ld-linux",
    "ld-musl",
    "ld-2.",
    "ld.so",
    "ld64.so",
    "ld-elf",
    "[vdso]",
    "[vsyscall]",
    "linux-vdso",
    "linux-gate",
];

/// Libraries of macOS by the beginning of their file names. Source: /usr/lib/system of macOS.
const MACOS: &[&str] = &["libsystem_", "libSystem.", "libdyld.", "dyld"];

/// Beginnings of functions in the standard libraries of Rust, C++ and Go.
/// Source: crates of the Rust distribution; packages of the Go distribution that make system calls; mangled names as the
/// Itanium C++ ABI and Rust have them, because not every strace demangles.
const LANGUAGES: &[&str] = &[
    "std::",
    "core::",
    "alloc::",
    "<std::",
    "<core::",
    "<alloc::",
    "__rust_",
    "runtime.",
    "runtime/",
    "syscall.",
    "internal/",
    "vendor/",
    "os.",
    "os/",
    "io.",
    "io/",
    "net.",
    "net/",
    "bufio.",
    "time.",
    "sync.",
    "sync/",
    "fmt.",
    "log.",
    "_ZSt",
    "_ZNSt",
    "_ZNKSt",
    "_ZN3std",
    "_ZN4core",
    "_ZN5alloc",
    "std..",
    "core..",
    "alloc..",
];

/// Suffixes of copies that GCC makes of functions: `sync.part.0` is a function of C, not of Go.
/// Source: GCC's manual, options `-fipa-cp`, `-fipa-sra`, `-fpartial-inlining`, `-freorder-functions`, `-flto`.
const CLONES: &[&str] = &[
    "constprop.",
    "isra.",
    "part.",
    "cold",
    "lto_priv.",
    "localalias",
];

/// Functions that are linked into each program and start or end it. Source: crt1.o and crtbegin.o of glibc and GCC.
const START: &[&str] = &[
    "_start",
    "_init",
    "_fini",
    "__libc_csu_init",
    "__do_global_dtors_aux",
];

/// Functions of the C library that wrap a system call under another name. They matter in static programs.
/// Source: the C standard and POSIX.
const WRAPPERS: &[&str] = &[
    "Exit",
    "abort",
    "calloc",
    "closedir",
    "exit",
    "fclose",
    "fflush",
    "fgetc",
    "fgets",
    "fopen",
    "fputc",
    "fputs",
    "fprintf",
    "fread",
    "free",
    "fwrite",
    "getaddrinfo",
    "getc",
    "getdelim",
    "gethostbyname",
    "getline",
    "malloc",
    "opendir",
    "pclose",
    "popen",
    "printf",
    "putchar",
    "puts",
    "raise",
    "readdir",
    "realloc",
    "remove",
    "setvbuf",
    "sleep",
    "syscall",
    "system",
    "usleep",
    "vfprintf",
    "vprintf",
];
/// Beginnings of such functions. Source: names that the C standard reserves, as glibc and musl use them.
const WRAPPER_STARTS: &[&str] = &[
    "_IO_",
    "_dl_",
    "__GI_",
    "__libc_",
    "__pthread_",
    "pthread_",
    "sem_",
    "posix_spawn",
];

/// Whether a file is a library of a runtime.
pub(crate) fn is_runtime_module(module: &str) -> bool {
    let name = module.rsplit('/').next().unwrap_or(module);
    let first = name.split(['.', '-']).next().unwrap_or(name);
    let starts = |list: &[&str]| list.iter().any(|start| name.starts_with(start));
    let is_library =
        first.len() < name.len() && (LIBRARIES.contains(&first) || first.starts_with("libnss_"));
    is_library || starts(LINKERS) || starts(MACOS)
}

/// Whether a function is of the standard library of a language whose programs contain that library.
pub(crate) fn is_language_function(function: &str) -> bool {
    let function = of_rust_trait(function).unwrap_or(function);
    let rest = LANGUAGES
        .iter()
        .find_map(|start| function.strip_prefix(start));
    rest.is_some_and(|rest| !CLONES.iter().any(|clone| rest.starts_with(clone)))
}

/// The type of a method of a trait in a mangled name of Rust: `std..fs..File` of `_ZN47_$LT$std..fs..File$u20$as$u20$…`.
fn of_rust_trait(function: &str) -> Option<&str> {
    let rest = function
        .strip_prefix("_ZN")?
        .trim_start_matches(|letter: char| letter.is_ascii_digit());
    let rest = rest.strip_prefix("_$LT$")?;
    Some(rest.strip_prefix("$RF$").unwrap_or(rest))
}

/// Whether a function starts or ends any program.
pub(crate) fn is_start(function: &str) -> bool {
    START.contains(&function)
}

/// Whether a function wraps a system call, in a program that contains the C library.
pub(crate) fn is_wrapper(function: &str) -> bool {
    let plain = function
        .split('@')
        .next()
        .unwrap_or(function)
        .trim_start_matches('_');
    let plain = plain.strip_suffix("_nocancel").unwrap_or(plain);
    WRAPPER_STARTS
        .iter()
        .any(|start| function.starts_with(start))
        || WRAPPERS.contains(&plain)
        || syscalls::by_name(plain.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_libraries_linkers_and_pages_of_the_kernel() {
        let runtime = "/usr/lib/libc.so.6 /lib/libc-2.31.so /lib/ld-musl-x86_64.so.1 /lib64/ld-linux-x86-64.so.2 [vdso] \
            /usr/lib/libstdc++.so.6.0.30 /usr/lib/system/libsystem_kernel.dylib /usr/lib/libnss_files.so.2 /lib/libc.musl-x86_64.so.1";
        assert_eq!(
            runtime
                .split_whitespace()
                .filter(|module| !is_runtime_module(module))
                .collect::<Vec<_>>(),
            [""; 0]
        );
        let own = "/usr/bin/ld /usr/bin/quota /srv/libc /usr/lib/libcrypto.so.3 /usr/lib/libcurl.so.4 [heap]";
        assert_eq!(
            own.split_whitespace()
                .filter(|module| is_runtime_module(module))
                .collect::<Vec<_>>(),
            [""; 0]
        );
    }

    #[test]
    fn functions_of_standard_libraries_are_known_by_their_packages() {
        for function in [
            "_ZN47_$LT$std..fs..File$u20$as$u20$std..io..Read$GT$4read17h1E",
            "std::sys::unix::fs::File::open",
            "os.(*File).Read",
            "internal/poll.(*FD).Write",
            "syscall.Syscall6",
        ] {
            assert!(is_language_function(function), "{function}");
        }
        for function in [
            "main.lookup",
            "quota::Store::open",
            "sync.part.0",
            "time.constprop.0",
            "osmosis",
            "stdlib_init",
        ] {
            assert!(!is_language_function(function), "{function}");
        }
    }

    #[test]
    fn wrappers_have_the_names_of_calls_or_of_the_c_library() {
        for function in [
            "__write",
            "__clock_nanosleep",
            "__libc_read",
            "_IO_file_write",
            "usleep",
            "__read_nocancel",
            "_exit",
        ] {
            assert!(is_wrapper(function), "{function}");
        }
        for function in ["quota_lookup", "main", "write_all", "reader"] {
            assert!(!is_wrapper(function), "{function}");
        }
    }
}
