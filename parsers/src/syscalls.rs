//! What is known about syscalls by their names: what they wait for, and which argument is what.
//!
//! Facts only, from the manual pages of Linux, illumos, FreeBSD and macOS; equal names mean the same on all of them.
//! An unknown name is no error: it has the class `other` and its arguments are not looked at.

use crate::text::Text;
use std::sync::LazyLock;

/// What the time of a call, or of a stretch of the path, is spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Between calls: user code, or calls that the capture left out.
    User,
    /// Sleeping for a time.
    Sleep,
    /// Waiting for a child whose end the trace does not show.
    Child,
    /// Files and file systems.
    Disk,
    /// Sockets.
    Network,
    /// Pipes, local sockets, message queues, doors.
    Ipc,
    /// Waiting for one of several things.
    Poll,
    /// Locks and futexes.
    Lock,
    /// A terminal.
    Terminal,
    /// Creating, ending, replacing and managing processes.
    Process,
    /// Memory.
    Memory,
    /// Stopped by a signal.
    Stopped,
    /// Ended by something outside the trace.
    External,
    /// Silence between two messages of a log.
    Gap,
    /// None of these.
    Other,
}

impl Class {
    /// All classes, by number.
    pub const ALL: [Class; 15] = [
        Class::User,
        Class::Sleep,
        Class::Child,
        Class::Disk,
        Class::Network,
        Class::Ipc,
        Class::Poll,
        Class::Lock,
        Class::Terminal,
        Class::Process,
        Class::Memory,
        Class::Stopped,
        Class::External,
        Class::Gap,
        Class::Other,
    ];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 15] = [
            "user", "sleep", "child", "disk", "network", "ipc", "poll", "lock", "terminal", "process", "memory",
            "stopped", "external", "gap", "other",
        ];
        NAMES[self as usize]
    }
}

/// What is known of a syscall.
#[derive(Debug)]
pub struct Syscall {
    /// Its name.
    pub name: &'static str,
    /// What it waits for when nothing more is known of its descriptor.
    pub class: Class,
    /// What each argument is, a letter each:
    /// `f` descriptor, `g` descriptor into which it moves what it takes from that one, `d` directory descriptor of the path after it, `p` path, `n` a path that the call makes,
    /// `b` the address to which waiters are moved, `j` the value expected at the address, which may be the id of a thread,
    /// `c` flags of an open, which may say that the path before is made, `o` sub-operation, `a` address,
    /// `i` id of a process or object, `s` socket address, `w` that of the socket itself, `t` timespec, `v` timeval,
    /// `m` milliseconds, `l` list of pollfd, `k` set of descriptors, `q` two new descriptors, `e` descriptor watched,
    /// `r` messages that may bring descriptors, `z` length, `h` flags and `y` offset of a mapping, `-` not looked at.
    pub args: &'static str,
}

const fn s(name: &'static str, class: Class, args: &'static str) -> Syscall {
    Syscall { name, class, args }
}

/// The syscalls. [`Text`] number of a name: its place here plus 1.
#[rustfmt::skip]
pub static SYSCALLS: &[Syscall] = &[
    // Disk
    s("read", Class::Disk, "f"),
    s("readv", Class::Disk, "f"),
    s("pread", Class::Disk, "f"),
    s("pread64", Class::Disk, "f"),
    s("preadv", Class::Disk, "f"),
    s("preadv2", Class::Disk, "f"),
    s("write", Class::Disk, "f"),
    s("writev", Class::Disk, "f"),
    s("pwrite", Class::Disk, "f"),
    s("pwrite64", Class::Disk, "f"),
    s("pwritev", Class::Disk, "f"),
    s("pwritev2", Class::Disk, "f"),
    s("getdents", Class::Disk, "f"),
    s("getdents64", Class::Disk, "f"),
    s("getdirentries", Class::Disk, "f"),
    s("getdirentriesattr", Class::Disk, "f"),
    s("lseek", Class::Disk, "f--"),
    s("llseek", Class::Disk, "f"),
    s("_llseek", Class::Disk, "f"),
    s("sendfile", Class::Disk, "gf"),
    s("sendfile64", Class::Disk, "gf"),
    s("sendfilev", Class::Disk, "f"),
    s("splice", Class::Disk, "f-g"),
    s("tee", Class::Disk, "fg"),
    s("vmsplice", Class::Disk, "f"),
    s("copy_file_range", Class::Disk, "f-f"),
    s("fsync", Class::Disk, "f"),
    s("fdatasync", Class::Disk, "f"),
    s("fdsync", Class::Disk, "f"),
    s("sync", Class::Disk, ""),
    s("syncfs", Class::Disk, "f"),
    s("sync_file_range", Class::Disk, "f"),
    s("msync", Class::Disk, "a"),
    s("fallocate", Class::Disk, "f"),
    s("posix_fallocate", Class::Disk, "f"),
    s("ftruncate", Class::Disk, "f"),
    s("ftruncate64", Class::Disk, "f"),
    s("truncate", Class::Disk, "p"),
    s("truncate64", Class::Disk, "p"),
    s("fadvise64", Class::Disk, "f"),
    s("readahead", Class::Disk, "f"),
    s("open", Class::Disk, "pc"),
    s("openat", Class::Disk, "dpc"),
    s("openat2", Class::Disk, "dpc"),
    s("open64", Class::Disk, "pc"),
    s("openat64", Class::Disk, "dpc"),
    s("creat", Class::Disk, "p"),
    s("close", Class::Disk, "f"),
    s("close_range", Class::Disk, "f-"),
    s("closefrom", Class::Disk, "f"),
    s("closefd", Class::Disk, "f"),
    s("stat", Class::Disk, "p"),
    s("lstat", Class::Disk, "p"),
    s("fstat", Class::Disk, "f"),
    s("stat64", Class::Disk, "p"),
    s("lstat64", Class::Disk, "p"),
    s("fstat64", Class::Disk, "f"),
    s("newfstatat", Class::Disk, "dp"),
    s("fstatat", Class::Disk, "dp"),
    s("fstatat64", Class::Disk, "dp"),
    s("xstat", Class::Disk, "-p"),
    s("lxstat", Class::Disk, "-p"),
    s("fxstat", Class::Disk, "-f"),
    s("statx", Class::Disk, "dp"),
    s("statfs", Class::Disk, "p"),
    s("fstatfs", Class::Disk, "f"),
    s("statfs64", Class::Disk, "p"),
    s("fstatfs64", Class::Disk, "f"),
    s("statvfs", Class::Disk, "p"),
    s("fstatvfs", Class::Disk, "f"),
    s("statvfs64", Class::Disk, "p"),
    s("fstatvfs64", Class::Disk, "f"),
    s("access", Class::Disk, "p"),
    s("faccessat", Class::Disk, "dp"),
    s("faccessat2", Class::Disk, "dp"),
    s("eaccess", Class::Disk, "p"),
    s("readlink", Class::Disk, "p"),
    s("readlinkat", Class::Disk, "dp"),
    s("mkdir", Class::Disk, "p"),
    s("mkdirat", Class::Disk, "dp"),
    s("rmdir", Class::Disk, "p"),
    s("unlink", Class::Disk, "p"),
    s("unlinkat", Class::Disk, "dp"),
    s("rename", Class::Disk, "pn"),
    s("renameat", Class::Disk, "dpdn"),
    s("renameat2", Class::Disk, "dpdn"),
    s("link", Class::Disk, "pn"),
    s("linkat", Class::Disk, "dpdn"),
    s("symlink", Class::Disk, "-p"),
    s("symlinkat", Class::Disk, "-dp"),
    s("mknod", Class::Disk, "p"),
    s("mknodat", Class::Disk, "dp"),
    s("xmknod", Class::Disk, "-p"),
    s("chmod", Class::Disk, "p"),
    s("fchmod", Class::Disk, "f"),
    s("fchmodat", Class::Disk, "dp"),
    s("chown", Class::Disk, "p"),
    s("lchown", Class::Disk, "p"),
    s("fchown", Class::Disk, "f"),
    s("fchownat", Class::Disk, "dp"),
    s("utime", Class::Disk, "p"),
    s("utimes", Class::Disk, "p"),
    s("utimensat", Class::Disk, "dp"),
    s("futimesat", Class::Disk, "dp"),
    s("utimesys", Class::Disk, "-dp"),
    s("getxattr", Class::Disk, "p"),
    s("lgetxattr", Class::Disk, "p"),
    s("fgetxattr", Class::Disk, "f"),
    s("setxattr", Class::Disk, "p"),
    s("lsetxattr", Class::Disk, "p"),
    s("fsetxattr", Class::Disk, "f"),
    s("listxattr", Class::Disk, "p"),
    s("llistxattr", Class::Disk, "p"),
    s("flistxattr", Class::Disk, "f"),
    s("removexattr", Class::Disk, "p"),
    s("lremovexattr", Class::Disk, "p"),
    s("fremovexattr", Class::Disk, "f"),
    s("acl", Class::Disk, "p"),
    s("facl", Class::Disk, "f"),
    s("chdir", Class::Disk, "p"),
    s("fchdir", Class::Disk, "f"),
    s("getcwd", Class::Disk, ""),
    s("__getcwd", Class::Disk, ""),
    s("chroot", Class::Disk, "p"),
    s("pivot_root", Class::Disk, "pp"),
    s("mount", Class::Disk, "-p"),
    s("umount", Class::Disk, "p"),
    s("umount2", Class::Disk, "p"),
    s("quotactl", Class::Disk, "o"),
    s("inotify_add_watch", Class::Disk, "-po"),
    s("inotify_rm_watch", Class::Disk, "f"),
    s("inotify_init", Class::Disk, ""),
    s("inotify_init1", Class::Disk, ""),
    s("fanotify_init", Class::Disk, ""),
    s("fanotify_mark", Class::Disk, "--odp"),
    s("name_to_handle_at", Class::Disk, "dp"),
    s("open_by_handle_at", Class::Disk, "f"),
    s("pathconf", Class::Disk, "p"),
    s("fpathconf", Class::Disk, "f"),
    s("resolvepath", Class::Disk, "p"),
    s("io_setup", Class::Disk, ""),
    s("io_submit", Class::Disk, ""),
    s("io_getevents", Class::Disk, "----t"),
    s("io_uring_enter", Class::Disk, "f--o"),
    s("io_uring_setup", Class::Disk, ""),
    s("io_uring_register", Class::Disk, "f"),
    s("ioctl", Class::Disk, "fo"),
    s("fcntl", Class::Disk, "fo"),
    s("fcntl64", Class::Disk, "fo"),
    s("dup", Class::Disk, "f"),
    s("dup2", Class::Disk, "f"),
    s("dup3", Class::Disk, "f"),
    s("flistxattrat", Class::Disk, "f"),
    s("readlinkx", Class::Disk, "p"),
    s("getattrlist", Class::Disk, "p"),
    s("fgetattrlist", Class::Disk, "f"),
    s("getattrlistat", Class::Disk, "dp"),
    s("getdents_x", Class::Disk, "f"),
    s("__getdents", Class::Disk, "f"),
    s("read_nocancel", Class::Disk, "f"),
    s("readv_nocancel", Class::Disk, "f"),
    s("pread_nocancel", Class::Disk, "f"),
    s("write_nocancel", Class::Disk, "f"),
    s("writev_nocancel", Class::Disk, "f"),
    s("pwrite_nocancel", Class::Disk, "f"),
    s("open_nocancel", Class::Disk, "p"),
    s("openat_nocancel", Class::Disk, "dp"),
    s("close_nocancel", Class::Disk, "f"),
    s("fcntl_nocancel", Class::Disk, "fo"),
    s("fsync_nocancel", Class::Disk, "f"),
    s("msync_nocancel", Class::Disk, "a"),
    // Network
    s("socket", Class::Network, "o"),
    s("so_socket", Class::Network, "o"),
    s("connect", Class::Network, "fs"),
    s("accept", Class::Network, "fs"),
    s("accept4", Class::Network, "fs"),
    s("bind", Class::Network, "fs"),
    s("listen", Class::Network, "f"),
    s("shutdown", Class::Network, "fo"),
    s("send", Class::Network, "f"),
    s("sendto", Class::Network, "f---s"),
    s("sendmsg", Class::Network, "fr"),
    s("sendmmsg", Class::Network, "fr"),
    s("recv", Class::Network, "f"),
    s("recvfrom", Class::Network, "f"),
    s("recvmsg", Class::Network, "fr"),
    s("recvmmsg", Class::Network, "fr--t"),
    s("getsockname", Class::Network, "fw"),
    s("getpeername", Class::Network, "f"),
    s("setsockopt", Class::Network, "f-o"),
    s("getsockopt", Class::Network, "f-o"),
    s("socketcall", Class::Network, "o"),
    s("so_socketpair", Class::Network, "q"),
    s("connect_nocancel", Class::Network, "fs"),
    s("accept_nocancel", Class::Network, "fs"),
    s("recvfrom_nocancel", Class::Network, "f"),
    s("recvmsg_nocancel", Class::Network, "f"),
    s("sendto_nocancel", Class::Network, "f---s"),
    s("sendmsg_nocancel", Class::Network, "f"),
    // Ipc
    s("pipe", Class::Ipc, "q"),
    s("pipe2", Class::Ipc, "q"),
    s("socketpair", Class::Ipc, "---q"),
    s("eventfd", Class::Ipc, ""),
    s("eventfd2", Class::Ipc, ""),
    s("signalfd", Class::Ipc, "f"),
    s("signalfd4", Class::Ipc, "f"),
    s("timerfd_create", Class::Ipc, "o"),
    s("timerfd_settime", Class::Ipc, "f"),
    s("timerfd_gettime", Class::Ipc, "f"),
    s("memfd_create", Class::Ipc, ""),
    s("msgget", Class::Ipc, ""),
    s("msgsnd", Class::Ipc, "i"),
    s("msgrcv", Class::Ipc, "i"),
    s("semget", Class::Ipc, ""),
    s("semop", Class::Ipc, "i"),
    s("semtimedop", Class::Ipc, "i--t"),
    s("semctl", Class::Ipc, "i"),
    s("shmget", Class::Ipc, ""),
    s("shmat", Class::Ipc, "i"),
    s("shmdt", Class::Ipc, "a"),
    s("shmctl", Class::Ipc, "i"),
    s("mq_open", Class::Ipc, "p"),
    s("mq_timedsend", Class::Ipc, "f"),
    s("mq_timedreceive", Class::Ipc, "f"),
    s("door_call", Class::Ipc, "f"),
    s("door_return", Class::Ipc, ""),
    s("door_info", Class::Ipc, "f"),
    s("door_create", Class::Ipc, ""),
    s("msgsys", Class::Ipc, ""),
    s("semsys", Class::Ipc, ""),
    s("shmsys", Class::Ipc, ""),
    s("pidfd_open", Class::Ipc, "i"),
    s("pidfd_send_signal", Class::Ipc, "f"),
    s("portfs", Class::Ipc, ""),
    s("port_associate", Class::Ipc, "f"),
    s("kqueue", Class::Ipc, ""),
    s("kqueuex", Class::Ipc, ""),
    // Poll
    s("poll", Class::Poll, "l-m"),
    s("ppoll", Class::Poll, "l-t"),
    s("select", Class::Poll, "-kkkv"),
    s("_newselect", Class::Poll, "-kkkv"),
    s("pselect6", Class::Poll, "-kkkt"),
    s("pselect6_time64", Class::Poll, "-kkkt"),
    s("ppoll_time64", Class::Poll, "l-t"),
    s("pollsys", Class::Poll, "l-t"),
    s("pselect", Class::Poll, "-kkkt"),
    s("epoll_create", Class::Poll, ""),
    s("epoll_create1", Class::Poll, ""),
    s("epoll_ctl", Class::Poll, "foe"),
    s("epoll_wait", Class::Poll, "f--m"),
    s("epoll_pwait", Class::Poll, "f--m"),
    s("epoll_pwait2", Class::Poll, "f--t"),
    s("epoll_wait_old", Class::Poll, "f--m"),
    s("kevent", Class::Poll, "f----t"),
    s("kevent64", Class::Poll, "f-----t"),
    s("kevent_qos", Class::Poll, "f"),
    s("port_get", Class::Poll, "f-t"),
    s("port_getn", Class::Poll, "f---t"),
    s("sigsuspend", Class::Poll, ""),
    s("rt_sigsuspend", Class::Poll, ""),
    s("pause", Class::Poll, ""),
    s("sigtimedwait", Class::Poll, ""),
    s("rt_sigtimedwait", Class::Poll, "--t"),
    s("rt_sigtimedwait_time64", Class::Poll, "--t"),
    s("sigwait", Class::Poll, ""),
    s("poll_nocancel", Class::Poll, "l-m"),
    s("select_nocancel", Class::Poll, "-kkkv"),
    s("pselect_nocancel", Class::Poll, "-kkkt"),
    s("sigsuspend_nocancel", Class::Poll, ""),
    // Sleep
    s("nanosleep", Class::Sleep, "t"),
    s("clock_nanosleep", Class::Sleep, "--t"),
    s("clock_nanosleep_time64", Class::Sleep, "--t"),
    s("_nsleep", Class::Sleep, "t"),
    s("sleep", Class::Sleep, ""),
    s("alarm", Class::Sleep, ""),
    s("setitimer", Class::Sleep, "o"),
    s("getitimer", Class::Sleep, "o"),
    s("timer_create", Class::Sleep, "o"),
    s("timer_settime", Class::Sleep, "i"),
    s("timer_delete", Class::Sleep, "i"),
    s("timer_gettime", Class::Sleep, "i"),
    s("lwp_sleep", Class::Sleep, ""),
    // Lock
    s("futex", Class::Lock, "aojtb"),
    s("futex_time64", Class::Lock, "aojt"),
    s("futex_wait", Class::Lock, "a"),
    s("futex_wake", Class::Lock, "a"),
    s("futex_waitv", Class::Lock, ""),
    s("flock", Class::Lock, "fo"),
    s("lockf", Class::Lock, "f"),
    s("lwp_park", Class::Lock, ""),
    s("lwp_unpark", Class::Lock, "i"),
    s("lwp_mutex_lock", Class::Lock, "a"),
    s("lwp_mutex_timedlock", Class::Lock, "a"),
    s("lwp_mutex_wakeup", Class::Lock, "a"),
    s("lwp_mutex_unlock", Class::Lock, "a"),
    s("lwp_mutex_trylock", Class::Lock, "a"),
    s("lwp_cond_wait", Class::Lock, "a"),
    s("lwp_cond_signal", Class::Lock, "a"),
    s("lwp_cond_broadcast", Class::Lock, "a"),
    s("lwp_sema_wait", Class::Lock, "a"),
    s("lwp_sema_timedwait", Class::Lock, "a"),
    s("lwp_sema_post", Class::Lock, "a"),
    s("lwp_sema_trywait", Class::Lock, "a"),
    s("lwp_rwlock_sys", Class::Lock, "oa"),
    s("lwp_wait", Class::Lock, "i"),
    s("_umtx_op", Class::Lock, "aoj"),
    s("_lwp_park", Class::Lock, ""),
    s("ulock_wait", Class::Lock, ""),
    s("__ulock_wait", Class::Lock, ""),
    s("__ulock_wake", Class::Lock, ""),
    s("psynch_mutexwait", Class::Lock, "a"),
    s("psynch_mutexdrop", Class::Lock, "a"),
    s("psynch_cvwait", Class::Lock, "a"),
    s("psynch_cvsignal", Class::Lock, "a"),
    s("psynch_cvbroad", Class::Lock, "a"),
    s("semwait_signal", Class::Lock, ""),
    s("__semwait_signal", Class::Lock, ""),
    s("__semwait_signal_nocancel", Class::Lock, ""),
    // Child
    s("wait4", Class::Child, "i"),
    s("waitpid", Class::Child, "i"),
    s("waitid", Class::Child, "oi"),
    s("wait3", Class::Child, ""),
    s("wait", Class::Child, ""),
    s("waitsys", Class::Child, "oi"),
    s("wait6", Class::Child, "oi"),
    s("kwaitpid", Class::Child, "-i"),
    s("wait4_nocancel", Class::Child, "i"),
    s("waitid_nocancel", Class::Child, "oi"),
    // Process
    s("execve", Class::Process, "p"),
    s("execveat", Class::Process, "dp"),
    s("exec", Class::Process, "p"),
    s("execv", Class::Process, "p"),
    s("execvex", Class::Process, "p"),
    s("fork", Class::Process, ""),
    s("vfork", Class::Process, ""),
    s("clone", Class::Process, ""),
    s("clone2", Class::Process, ""),
    s("clone3", Class::Process, ""),
    s("rfork", Class::Process, ""),
    s("forkx", Class::Process, "o"),
    s("vforkx", Class::Process, "o"),
    s("forkallx", Class::Process, "o"),
    s("fork1", Class::Process, ""),
    s("forkall", Class::Process, ""),
    s("kfork", Class::Process, ""),
    s("posix_spawn", Class::Process, "-p"),
    s("spawn", Class::Process, "-p"),
    s("forksys", Class::Process, "o"),
    s("exit", Class::Process, ""),
    s("exit_group", Class::Process, ""),
    s("_exit", Class::Process, ""),
    s("lwp_create", Class::Process, ""),
    s("lwp_exit", Class::Process, ""),
    s("_lwp_create", Class::Process, ""),
    s("lwp_kill", Class::Process, "io"),
    s("thr_new", Class::Process, ""),
    s("thr_exit", Class::Process, ""),
    s("pdfork", Class::Process, ""),
    s("bsdthread_create", Class::Process, ""),
    s("bsdthread_terminate", Class::Process, ""),
    s("kill", Class::Process, "io"),
    s("tkill", Class::Process, "io"),
    s("tgkill", Class::Process, "-io"),
    s("rt_sigqueueinfo", Class::Process, "io"),
    s("sigqueue", Class::Process, "io"),
    s("sigsendsys", Class::Process, ""),
    s("sigaction", Class::Process, "o"),
    s("rt_sigaction", Class::Process, "o"),
    s("sigprocmask", Class::Process, "o"),
    s("rt_sigprocmask", Class::Process, "o"),
    s("sigreturn", Class::Process, ""),
    s("rt_sigreturn", Class::Process, ""),
    s("sigaltstack", Class::Process, ""),
    s("signal", Class::Process, "o"),
    s("lwp_sigmask", Class::Process, "o"),
    s("restart_syscall", Class::Process, ""),
    s("setpgid", Class::Process, "i"),
    s("getpgid", Class::Process, "i"),
    s("setsid", Class::Process, ""),
    s("getsid", Class::Process, "i"),
    s("getpgrp", Class::Process, ""),
    s("pgrpsys", Class::Process, "o"),
    s("getpid", Class::Process, ""),
    s("getppid", Class::Process, ""),
    s("gettid", Class::Process, ""),
    s("getuid", Class::Process, ""),
    s("geteuid", Class::Process, ""),
    s("getgid", Class::Process, ""),
    s("getegid", Class::Process, ""),
    s("setuid", Class::Process, ""),
    s("setgid", Class::Process, ""),
    s("setreuid", Class::Process, ""),
    s("setregid", Class::Process, ""),
    s("setresuid", Class::Process, ""),
    s("setresgid", Class::Process, ""),
    s("getresuid", Class::Process, ""),
    s("getresgid", Class::Process, ""),
    s("getgroups", Class::Process, ""),
    s("setgroups", Class::Process, ""),
    s("prctl", Class::Process, "o"),
    s("arch_prctl", Class::Process, "o"),
    s("set_tid_address", Class::Process, ""),
    s("set_robust_list", Class::Process, ""),
    s("get_robust_list", Class::Process, ""),
    s("rseq", Class::Process, ""),
    s("sched_yield", Class::Process, ""),
    s("yield", Class::Process, ""),
    s("sched_getaffinity", Class::Process, ""),
    s("sched_setaffinity", Class::Process, ""),
    s("sched_setscheduler", Class::Process, ""),
    s("sched_getscheduler", Class::Process, ""),
    s("sched_getparam", Class::Process, ""),
    s("sched_setparam", Class::Process, ""),
    s("sched_getattr", Class::Process, ""),
    s("sched_setattr", Class::Process, ""),
    s("priocntlsys", Class::Process, ""),
    s("getpriority", Class::Process, "o"),
    s("setpriority", Class::Process, "o"),
    s("nice", Class::Process, ""),
    s("setrlimit", Class::Process, "o"),
    s("getrlimit", Class::Process, "o"),
    s("prlimit64", Class::Process, "io"),
    s("ugetrlimit", Class::Process, "o"),
    s("getrusage", Class::Process, "o"),
    s("times", Class::Process, ""),
    s("ptrace", Class::Process, "oi"),
    s("umask", Class::Process, ""),
    s("capget", Class::Process, ""),
    s("capset", Class::Process, ""),
    s("personality", Class::Process, ""),
    s("setns", Class::Process, "f"),
    s("unshare", Class::Process, "o"),
    s("seccomp", Class::Process, "o"),
    s("kcmp", Class::Process, ""),
    s("getcpu", Class::Process, ""),
    s("lwp_self", Class::Process, ""),
    s("lwp_info", Class::Process, ""),
    s("lwp_suspend", Class::Process, "i"),
    s("lwp_continue", Class::Process, "i"),
    s("lwp_detach", Class::Process, "i"),
    s("lwp_name", Class::Process, ""),
    s("schedctl", Class::Process, ""),
    s("process_vm_readv", Class::Process, "i"),
    s("process_vm_writev", Class::Process, "i"),
    s("membarrier", Class::Process, "o"),
    // Memory
    s("mmap", Class::Memory, "-z-hfy"),
    s("mmap2", Class::Memory, "-z-hfy"),
    s("mmap64", Class::Memory, "-z-hfy"),
    s("munmap", Class::Memory, ""),
    s("mprotect", Class::Memory, ""),
    s("mremap", Class::Memory, ""),
    s("brk", Class::Memory, ""),
    s("sbrk", Class::Memory, ""),
    s("madvise", Class::Memory, "--o"),
    s("mincore", Class::Memory, ""),
    s("mlock", Class::Memory, ""),
    s("mlock2", Class::Memory, ""),
    s("munlock", Class::Memory, ""),
    s("mlockall", Class::Memory, ""),
    s("munlockall", Class::Memory, ""),
    s("memcntl", Class::Memory, "--o"),
    s("mmapobj", Class::Memory, "f"),
    s("mbind", Class::Memory, ""),
    s("get_mempolicy", Class::Memory, ""),
    s("set_mempolicy", Class::Memory, ""),
    s("pkey_mprotect", Class::Memory, ""),
    s("userfaultfd", Class::Memory, ""),
    s("vm_allocate", Class::Memory, ""),
    s("memfd_secret", Class::Memory, ""),
    s("break", Class::Memory, ""),
    // Other
    s("getrandom", Class::Other, ""),
    s("gettimeofday", Class::Other, ""),
    s("settimeofday", Class::Other, ""),
    s("clock_gettime", Class::Other, "o"),
    s("clock_getres", Class::Other, "o"),
    s("clock_settime", Class::Other, "o"),
    s("time", Class::Other, ""),
    s("stime", Class::Other, ""),
    s("adjtimex", Class::Other, ""),
    s("uname", Class::Other, ""),
    s("sysinfo", Class::Other, ""),
    s("systeminfo", Class::Other, ""),
    s("nuname", Class::Other, ""),
    s("sysctl", Class::Other, ""),
    s("__sysctl", Class::Other, ""),
    s("__sysctlbyname", Class::Other, ""),
    s("sysctlbyname", Class::Other, ""),
    s("sysconfig", Class::Other, "o"),
    s("syslog", Class::Other, "o"),
    s("reboot", Class::Other, "o"),
    s("sethostname", Class::Other, ""),
    s("setdomainname", Class::Other, ""),
    s("bpf", Class::Other, "o"),
    s("perf_event_open", Class::Other, ""),
    s("keyctl", Class::Other, "o"),
    s("add_key", Class::Other, ""),
    s("request_key", Class::Other, ""),
    s("init_module", Class::Other, ""),
    s("finit_module", Class::Other, "f"),
    s("delete_module", Class::Other, ""),
    s("acct", Class::Other, "p"),
    s("swapon", Class::Other, "p"),
    s("swapoff", Class::Other, "p"),
    s("kstat", Class::Other, ""),
    s("getcontext", Class::Other, ""),
    s("setcontext", Class::Other, ""),
    s("setustack", Class::Other, ""),
    s("getustack", Class::Other, ""),
    s("privsys", Class::Other, "o"),
    s("auditsys", Class::Other, ""),
    s("zone", Class::Other, ""),
    s("systrace", Class::Other, ""),
    s("cladm", Class::Other, ""),
    s("nfssys", Class::Other, ""),
    s("issetugid", Class::Other, ""),
    s("getloadavg", Class::Other, ""),
    s("getdtablesize", Class::Other, ""),
    s("getentropy", Class::Other, ""),
    s("workq_kernreturn", Class::Other, ""),
    s("workq_open", Class::Other, ""),
    s("csops", Class::Other, ""),
    s("mach_msg", Class::Other, ""),
    s("thread_selfid", Class::Other, ""),
    s("proc_info", Class::Other, ""),
    s("iopolicysys", Class::Other, ""),
    s("fgetsockopt", Class::Other, ""),
    s("landlock_create_ruleset", Class::Other, ""),
    s("jail_attach", Class::Other, ""),
    s("jail_set", Class::Other, ""),
    s("jail_get", Class::Other, ""),
    s("jail_remove", Class::Other, ""),
    s("modfind", Class::Other, ""),
    s("kldload", Class::Other, ""),
    s("kldfind", Class::Other, ""),
    s("cap_enter", Class::Other, ""),
    s("getfsstat", Class::Other, ""),
    s("nmount", Class::Other, ""),
    // AIX
    s("kopen", Class::Disk, "p"),
    s("kread", Class::Disk, "f"),
    s("kreadv", Class::Disk, "f"),
    s("kpread", Class::Disk, "f"),
    s("kwrite", Class::Disk, "f"),
    s("kwritev", Class::Disk, "f"),
    s("kpwrite", Class::Disk, "f"),
    s("klseek", Class::Disk, "f"),
    s("kioctl", Class::Disk, "fo"),
    s("kfcntl", Class::Disk, "fo"),
    s("_poll", Class::Poll, "--m"),
    s("_select", Class::Poll, "----v"),
    s("naccept", Class::Network, "f"),
    s("nrecvfrom", Class::Network, "f"),
    s("erecv", Class::Network, "f"),
    s("esend", Class::Network, "f"),
    s("_esend", Class::Network, "f"),
    s("_erecv", Class::Network, "f"),
    s("__loadx", Class::Memory, ""),
];

/// Names of errors, which follow the syscalls among the fixed words.
#[rustfmt::skip]
static ERRORS: &[&str] = &[
    "E2BIG", "EACCES", "EADDRINUSE", "EADDRNOTAVAIL", "EAFNOSUPPORT", "EAGAIN", "EALREADY", "EBADF", "EBADFD", "EBUSY", "ECANCELED", "ECHILD", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EDEADLK", "EDESTADDRREQ", "EDOM", "EDQUOT", "EEXIST", "EFAULT", "EFBIG", "EHOSTDOWN", "EHOSTUNREACH", "EIDRM", "EILSEQ", "EINPROGRESS", "EINTR", "EINVAL", "EIO", "EISCONN", "EISDIR", "EKEYEXPIRED", "EKEYREVOKED", "ELOOP", "EMFILE", "EMLINK", "EMSGSIZE", "ENAMETOOLONG", "ENETDOWN", "ENETUNREACH", "ENFILE", "ENOATTR", "ENOBUFS", "ENODATA", "ENODEV", "ENOENT", "ENOEXEC", "ENOKEY", "ENOLCK", "ENOLINK", "ENOMEM", "ENOMSG", "ENONET", "ENOPROTOOPT", "ENOSPC", "ENOSR", "ENOSTR", "ENOSYS", "ENOTBLK", "ENOTCONN", "ENOTDIR", "ENOTEMPTY", "ENOTSOCK", "ENOTSUP", "ENOTTY", "ENOTUNIQ", "ENXIO", "EOPNOTSUPP", "EOVERFLOW", "EOWNERDEAD", "EPERM", "EPIPE", "EPROTO", "EPROTONOSUPPORT", "EPROTOTYPE", "ERANGE", "EREMOTEIO", "ERESTART", "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ERESTART_RESTARTBLOCK", "EROFS", "ESHUTDOWN", "ESPIPE", "ESRCH", "ESTALE", "ETIME", "ETIMEDOUT", "ETXTBSY", "EUSERS", "EWOULDBLOCK", "EXDEV", "EXFULL",
];

/// Number of the fixed words, "" among them.
pub(crate) const WORDS_LEN: u32 = (1 + SYSCALLS.len() + ERRORS.len()) as u32;
/// Places in the table of words: few words share one.
const PLACES: usize = 1 << 12;

struct Words {
    words: Vec<&'static str>,
    keys: Vec<Key>,
    /// Numbers of words by their hashes, each in the first free place from there on; 0 is a free one.
    places: Vec<u16>,
}

/// The first and the last bytes of a word: all of it up to sixteen.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    first: u64,
    last: u64,
    len: usize,
}

impl Key {
    fn of(bytes: &[u8]) -> Key {
        let len = bytes.len();
        let half = |half: &[u8; 4]| u64::from(u32::from_le_bytes(*half));
        let (first, last) = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
                (Some(first), Some(last)) => (half(first), half(last)),
                _ => (bytes.iter().fold(0, |all, &byte| all << 8 | u64::from(byte)), 0),
            },
        };
        Key { first, last, len }
    }

    fn place(self) -> usize {
        let mixed = (self.first ^ self.last.rotate_left(23) ^ self.len as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 52) as usize
    }
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let names = SYSCALLS.iter().map(|syscall| syscall.name);
    let words: Vec<&'static str> = std::iter::once("").chain(names).chain(ERRORS.iter().copied()).collect();
    let keys: Vec<Key> = words.iter().map(|word| Key::of(word.as_bytes())).collect();
    let mut places = vec![0u16; PLACES];
    for (number, key) in keys.iter().enumerate().skip(1) {
        let mut place = key.place();
        while places[place] != 0 {
            place = (place + 1) % PLACES;
        }
        places[place] = number as u16;
    }
    Words { words, keys, places }
});

/// The fixed words: "", the syscalls, the errors.
pub fn words() -> &'static [&'static str] {
    &WORDS.words
}

/// The number of a fixed word.
pub fn word(bytes: &[u8]) -> Option<Text> {
    let Words { words, keys, places } = &*WORDS;
    let key = Key::of(bytes);
    let mut place = key.place();
    loop {
        let number = places[place % PLACES];
        if number == 0 {
            return bytes.is_empty().then_some(Text::NONE);
        }
        let same = keys[usize::from(number)] == key;
        if same && (bytes.len() <= 16 || words[usize::from(number)].as_bytes() == bytes) {
            return Some(Text(u32::from(number)));
        }
        place += 1;
    }
}

/// What is known of the syscall whose name has this number.
pub fn by_text(name: Text) -> Option<&'static Syscall> {
    SYSCALLS.get(name.0.checked_sub(1)? as usize)
}

/// What is known of the syscall with this name.
pub fn by_name(name: &[u8]) -> Option<&'static Syscall> {
    by_text(word(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_and_names_are_unique() {
        for (at, word_here) in words().iter().enumerate() {
            assert_eq!(word(word_here.as_bytes()), Some(Text(at as u32)), "{word_here}");
        }
        assert_eq!(by_name(b"openat").map(|call| call.args), Some("dpc"));
        assert!(by_name(b"no_such_call").is_none());
    }
}
