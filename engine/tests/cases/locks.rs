//! Locks on files: whose they are, and who gives them back.

use super::Case;

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    Case { name: "a lock that a child of a shell took for the shell is given back by another child of it", lines: r#"
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
    Case { name: "threads that each opened the file wait for each other, by the lock of the open file", lines: r#"
1 01.000000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 2 <0.000010>
1 01.000100 openat(AT_FDCWD, "/run/lock", O_RDWR) = 3 <0.000010>
2 01.000100 openat(AT_FDCWD, "/run/lock", O_RDWR) = 4 <0.000010>
2 01.000200 fcntl(4, F_OFD_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0 <0.000010>
1 01.001000 fcntl(3, F_OFD_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0} <unfinished ...>
2 01.501000 fcntl(4, F_OFD_SETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0 <0.000010>
1 01.501200 <... fcntl resumed>) = 0 <0.500200>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 fcntl: 2 lock measured"] },
    Case { name: "a child has no part in a lock of its parent's process", lines: r#"
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
];
