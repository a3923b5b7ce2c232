//! Locks that processes share: their holders, and the tasks that release them.

use super::Case;

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    Case { name: "a lock that one child of a shell took for the shell is released by another child of it", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000010>
1 01.000100 clone(child_stack=NULL, flags=SIGCHLD) = 5 <0.000010>
2 01.000200 openat(AT_FDCWD, "/run/lock", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 9 <0.000010>
2 01.000300 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000010>
3 01.000400 flock(9, LOCK_EX) = 0 <0.000010>
3 01.000500 exit_group(0) = ?
3 01.000600 +++ exited with 0 +++
5 01.000700 openat(AT_FDCWD, "/run/lock", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3 <0.000010>
5 01.001000 flock(3, LOCK_EX <unfinished ...>
2 01.500000 clone(child_stack=NULL, flags=SIGCHLD) = 4 <0.000010>
4 01.501000 flock(9, LOCK_UN) = 0 <0.000010>
5 01.501200 <... flock resumed>) = 0 <0.500200>
5 01.503500 exit_group(0) = ?
"#, ends: &["5 flock: 4 lock measured"] },
    Case { name: "threads that each opened the file wait for each other's lock on the open file description", lines: r#"
1 01.000000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 2 <0.000010>
1 01.000100 openat(AT_FDCWD, "/run/lock", O_RDWR) = 3 <0.000010>
2 01.000100 openat(AT_FDCWD, "/run/lock", O_RDWR) = 4 <0.000010>
2 01.000200 fcntl(4, F_OFD_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0 <0.000010>
1 01.001000 fcntl(3, F_OFD_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0} <unfinished ...>
2 01.501000 fcntl(4, F_OFD_SETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0 <0.000010>
1 01.501200 <... fcntl resumed>) = 0 <0.500200>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 fcntl: 2 lock measured"] },
    Case { name: "a child does not inherit its parent's process lock", lines: r#"
1 01.000000 openat(AT_FDCWD, "/run/lock", O_RDWR) = 3 <0.000010>
1 01.000100 fcntl(3, F_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000010>
5 01.000700 openat(AT_FDCWD, "/run/lock", O_RDWR) = 3 <0.000010>
5 01.001000 fcntl(3, F_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0} <unfinished ...>
1 01.500800 close(3) = 0 <0.000010>
2 01.501000 close(3) = 0 <0.000010>
5 01.501200 <... fcntl resumed>) = 0 <0.500200>
5 01.503500 exit_group(0) = ?
"#, ends: &["5 fcntl: 1 lock inferred"] },
    Case { name: "a semaphore in a shared file has another address in each process, and its file may have been renamed", lines: r#"
1 01.000000 openat(AT_FDCWD, "/dev/shm/sem.tmp", O_RDWR|O_CREAT|O_EXCL, 0600) = 3 <0.000010>
1 01.000100 mmap(NULL, 32, PROT_READ|PROT_WRITE, MAP_SHARED, 3, 0) = 0x7f39190b7000 <0.000010>
1 01.000200 link("/dev/shm/sem.tmp", "/dev/shm/sem.x") = 0 <0.000010>
1 01.000300 unlink("/dev/shm/sem.tmp") = 0 <0.000010>
2 01.000400 openat(AT_FDCWD, "/dev/shm/sem.x", O_RDWR|O_NOFOLLOW) = 7 <0.000010>
2 01.000500 mmap(NULL, 32, PROT_READ|PROT_WRITE, MAP_SHARED, 7, 0) = 0x7fa765194000 <0.000010>
1 01.001000 futex(0x7f39190b7008, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 0, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
2 01.400000 futex(0x7fa765194000, FUTEX_WAKE, 1) = 1 <0.000010>
2 01.501000 futex(0x7fa765194008, FUTEX_WAKE, 1) = 1 <0.000010>
1 01.501200 <... futex resumed>) = 0 <0.500200>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 futex: 2 futex inferred"] },
    Case { name: "equal offsets in private mappings, or in mappings of different files, are not the same memory", lines: r#"
1 01.000000 openat(AT_FDCWD, "/lib/c.so", O_RDONLY) = 3 <0.000010>
1 01.000100 mmap(NULL, 32, PROT_READ|PROT_WRITE, MAP_PRIVATE, 3, 0) = 0x7f39190b7000 <0.000010>
2 01.000000 openat(AT_FDCWD, "/lib/c.so", O_RDONLY) = 3 <0.000010>
2 01.000100 mmap(NULL, 32, PROT_READ|PROT_WRITE, MAP_PRIVATE, 3, 0) = 0x7fa765194000 <0.000010>
1 01.000200 openat(AT_FDCWD, "/dev/shm/x", O_RDWR) = 4 <0.000010>
1 01.000300 mmap(NULL, 32, PROT_READ|PROT_WRITE, MAP_SHARED, 4, 0) = 0x7f3919000000 <0.000010>
2 01.000200 openat(AT_FDCWD, "/dev/shm/y", O_RDWR) = 4 <0.000010>
2 01.000300 mmap(NULL, 32, PROT_READ|PROT_WRITE, MAP_SHARED, 4, 0) = 0x7fa765000000 <0.000010>
1 01.001000 futex(0x7f39190b7000, FUTEX_WAIT, 0, NULL <unfinished ...>
2 01.501000 futex(0x7fa765194000, FUTEX_WAKE, 1) = 1 <0.000010>
1 01.501200 <... futex resumed>) = 0 <0.500200>
1 01.601000 futex(0x7f3919000000, FUTEX_WAIT, 0, NULL <unfinished ...>
2 01.701000 futex(0x7fa765000000, FUTEX_WAKE, 1) = 1 <0.000010>
1 01.701200 <... futex resumed>) = 0 <0.100200>
1 01.803500 exit_group(0) = ?
"#, ends: &["1 futex: unknown", "1 futex: unknown"] },
    Case { name: "a lock in shared memory is released by the end of its holder", lines: r#"
1 01.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000100 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0) = 0x7f338df7f000 <0.000028>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000400 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
3 01.000600 nanosleep({tv_sec=0, tv_nsec=800000000},  <unfinished ...>
2 01.000600 nanosleep({tv_sec=0, tv_nsec=350000000},  <unfinished ...>
1 01.050000 futex(0x7f338df7f000, FUTEX_WAIT, 2147495822, NULL <unfinished ...>
2 01.350700 <... nanosleep resumed>NULL) = 0 <0.350100>
2 01.350800 exit_group(3) = ?
2 01.350900 +++ exited with 3 +++
1 01.350920 <... futex resumed>) = 0 <0.300920>
1 01.350940 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2, si_uid=0, si_status=3, si_utime=0, si_stime=0} ---
3 01.800700 <... nanosleep resumed>NULL) = 0 <0.800100>
1 01.903500 exit_group(0) = ?
"#, ends: &["3 nanosleep: itself", "2 nanosleep: itself", "1 futex: 2 lock inferred"] },
    Case { name: "a process waits for a lock that it took itself, and that a child inherited", lines: r#"
1 01.000000 openat(AT_FDCWD, "/run/l", O_RDWR) = 3</run/l> <0.000010>
1 01.000100 flock(3</run/l>, LOCK_EX) = 0 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000400 close(3</run/l>) = 0 <0.000010>
1 01.000500 openat(AT_FDCWD, "/run/l", O_RDWR) = 3</run/l> <0.000010>
1 01.000600 flock(3</run/l>, LOCK_EX <unfinished ...>
2 01.300000 exit_group(0) = ?
2 01.300100 +++ exited with 0 +++
1 01.300200 <... flock resumed>) = 0 <0.299600>
1 01.400000 exit_group(0) = ?
"#, ends: &["1 flock: 2 lock inferred"] },
    Case { name: "the end of a process undoes what it did to a semaphore", lines: r#"
1 01.000000 semget(IPC_PRIVATE, 1, IPC_CREAT|0600) = 39 <0.000010>
1 01.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 01.000200 semop(39, [{sem_num=0, sem_op=-1, sem_flg=SEM_UNDO}], 1) = 0 <0.000010>
1 01.000300 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 01.000600 semop(39, [{sem_num=0, sem_op=-1, sem_flg=0}], 1 <unfinished ...>
2 01.300000 exit_group(0) = ?
2 01.300100 +++ exited with 0 +++
1 01.300200 <... semop resumed>) = 0 <0.299600>
1 01.300300 semop(39, [{sem_num=0, sem_op=-1, sem_flg=0}], 1 <unfinished ...>
3 01.600000 exit_group(0) = ?
3 01.600100 +++ exited with 0 +++
1 01.600200 <... semop resumed>) = 0 <0.299900>
1 01.700000 exit_group(0) = ?
"#, ends: &["1 semop: 2 message inferred", "1 semop: unknown"] },
];
