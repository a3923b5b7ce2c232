//! Children with lines before their creator is known, or under ids that no line announced.

use super::Case;

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    Case { name: "a child with lines before its creator's vfork returns has the creator's descriptors", lines: r#"
1 01.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000200 pipe2([3, 4], O_CLOEXEC) = 0 <0.000100>
1 01.000400 vfork( <unfinished ...>
2 01.000500 dup2(4, 1) = 1 <0.000100>
2 01.000600 execve("/bin/y", ["y"], 0x7f /* 1 var */ <unfinished ...>
1 01.000700 <... vfork resumed>) = 2 <0.000300>
2 01.000750 <... execve resumed>) = 0 <0.000150>
1 01.000800 close(4) = 0 <0.000100>
1 01.001000 read(3,  <unfinished ...>
2 01.500900 write(1, "x", 1) = 1 <0.000020>
1 01.501000 <... read resumed>"x", 4096) = 1 <0.500000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream measured"] },
    Case { name: "a child of a program that ran before the capture has its creator's descriptors, too", lines: r#"
1 01.000200 pipe2([3, 4], O_CLOEXEC) = 0 <0.000100>
1 01.000400 vfork( <unfinished ...>
2 01.000500 dup2(4, 1) = 1 <0.000100>
2 01.000600 execve("/bin/y", ["y"], 0x7f /* 1 var */ <unfinished ...>
1 01.000700 <... vfork resumed>) = 2 <0.000300>
2 01.000750 <... execve resumed>) = 0 <0.000150>
1 01.000800 close(4) = 0 <0.000100>
1 01.001000 read(3,  <unfinished ...>
2 01.500900 write(1, "x", 1) = 1 <0.000020>
1 01.501000 <... read resumed>"x", 4096) = 1 <0.500000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream measured"] },
    Case { name: "a task that ran before the capture is not a child of the vfork during which its lines start", lines: r#"
1 01.000200 pipe2([3, 4], O_CLOEXEC) = 0 <0.000100>
1 01.000400 vfork( <unfinished ...>
2 01.000500 dup2(4, 1) = 1 <0.000100>
1 01.000700 <... vfork resumed>) = 3 <0.000300>
1 01.000800 close(4) = 0 <0.000100>
1 01.001000 read(3,  <unfinished ...>
3 01.400900 write(4, "x", 1) = 1 <0.000020>
2 01.500900 write(1, "x", 1) = 1 <0.000020>
1 01.501000 <... read resumed>"x", 4096) = 1 <0.500000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 3 stream measured"] },
    Case { name: "a thread with lines before its creator's clone returns shares the descriptors from then on", lines: r#"
1 01.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000400 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM, exit_signal=0} <unfinished ...>
2 01.000500 pipe2([3, 4], O_CLOEXEC) = 0 <0.000100>
1 01.000700 <... clone3 resumed> => {parent_tid=[2]}, 88) = 2 <0.000300>
1 01.001000 read(3,  <unfinished ...>
2 01.500900 write(4, "x", 1) = 1 <0.000020>
1 01.501000 <... read resumed>"x", 4096) = 1 <0.500000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream measured"] },
    Case { name: "a child of one of two possible creators has the descriptors of neither until the creator is known", lines: r#"
1 01.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000050>
2 01.000150 getpid() = 2 <0.000010>
1 01.000200 pipe2([3, 4], O_CLOEXEC) = 0 <0.000100>
2 01.000200 pipe2([3, 4], O_CLOEXEC) = 0 <0.000100>
1 01.000400 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
2 01.000400 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
3 01.000500 write(4, "early", 5) = 5 <0.000100>
2 01.000700 <... clone resumed>) = 3 <0.000300>
1 01.000800 <... clone resumed>) = 4 <0.000400>
4 01.000900 nanosleep({tv_sec=0, tv_nsec=1000}, NULL) = 0 <0.000100>
1 01.001000 read(3,  <unfinished ...>
3 01.400000 write(4, "late", 4) = 4 <0.000020>
4 01.500900 write(4, "x", 1) = 1 <0.000020>
1 01.501000 <... read resumed>"x", 4096) = 1 <0.500000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 4 stream measured"] },
    Case { name: "in a pid namespace, a wait returns the child that only this call can have created", lines: r#"
1 01.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000400 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
300 01.000500 getpid() = 2 <0.000010>
1 01.000700 <... clone resumed>) = 2 <0.000300>
1 01.001000 wait4(-1,  <unfinished ...>
300 01.500800 exit_group(0) = ?
300 01.500900 +++ exited with 0 +++
1 01.501000 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.500000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 wait4: 300 child inferred"] },
    Case { name: "two children with lines in any order are not matched to a single call", lines: r#"
1 01.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000050>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000050>
301 01.000500 getpid() = 2 <0.000010>
300 01.000500 getpid() = 3 <0.000010>
1 01.001000 wait4(2,  <unfinished ...>
300 01.500800 exit_group(0) = ?
300 01.500900 +++ exited with 0 +++
1 01.501000 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.500000>
301 01.501800 exit_group(0) = ?
301 01.501900 +++ exited with 0 +++
1 01.503500 exit_group(0) = ?
"#, ends: &["1 wait4: unknown"] },
    Case { name: "a task created by a hidden call is not a child of the call in progress at its first line", lines: r#"
1 01.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000400 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
300 01.000500 getpid() = 300 <0.000010>
1 01.000700 <... clone resumed>) = 400 <0.000300>
400 01.000800 getpid() = 400 <0.000010>
1 01.001000 wait4(-1,  <unfinished ...>
300 01.500800 exit_group(0) = ?
300 01.500900 +++ exited with 0 +++
400 01.500950 exit_group(0) = ?
400 01.500960 +++ exited with 0 +++
1 01.501000 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 400 <0.500000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 wait4: 400 child measured"] },
    Case { name: "attached: a wait for the id of a thread that ends alone is its join", lines: r#"
500 01.000000 futex(0x7f1d47771990, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 501, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
501 01.000050 read(3, "x", 1) = 1 <0.000020>
501 01.000100 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=400000000}, NULL) = 0 <0.400100>
502 01.000100 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=400000000}, NULL) = 0 <0.400200>
501 01.400350 exit(0) = ?
501 01.400360 +++ exited with 0 +++
502 01.400370 exit(0) = ?
502 01.400380 +++ exited with 0 +++
500 01.400430 <... futex resumed>) = 0 <0.400430>
500 01.400600 exit_group(0) = ?
"#, ends: &["500 futex: 501 join measured", "501 clock_nanosleep: itself", "502 clock_nanosleep: itself"] },
    Case { name: "of two threads that end, the wait joins the one with the expected id", lines: r#"
500 01.000000 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, exit_signal=0} => {parent_tid=[501]}, 88) = 501 <0.000010>
500 01.000020 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, exit_signal=0} => {parent_tid=[502]}, 88) = 502 <0.000010>
500 01.000040 futex(0x7f1d47771990, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 501, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
501 01.400350 exit(0) = ?
501 01.400360 +++ exited with 0 +++
502 01.400370 exit(0) = ?
502 01.400380 +++ exited with 0 +++
500 01.400430 <... futex resumed>) = 0 <0.400390>
500 01.400600 exit_group(0) = ?
"#, ends: &["500 futex: 501 join measured"] },
    Case { name: "a wait for a value that equals the id of an ending process is not a join", lines: r#"
500 01.000000 futex(0x7f1d47771990, FUTEX_WAIT, 501, NULL <unfinished ...>
501 01.000050 read(3, "x", 1) = 1 <0.000020>
501 01.400350 exit_group(0) = ?
501 01.400360 +++ exited with 0 +++
500 01.400430 <... futex resumed>) = 0 <0.400430>
500 01.400600 exit_group(0) = ?
"#, ends: &["500 futex: unknown"] },
    Case { name: "attached: a wake by a child with a later known parent ends the wait at a shared address", lines: r#"
600 01.000000 futex(0x7f32bb747020, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 0, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
601 01.000050 read(3, "x", 1) = 1 <0.000020>
601 01.400300 futex(0x7f32bb747020, FUTEX_WAKE, 1) = 1 <0.000022>
600 01.400330 <... futex resumed>) = 0 <0.400330>
601 01.400500 exit_group(0) = ?
601 01.400600 +++ exited with 0 +++
600 01.400650 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=601, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
600 01.400800 exit_group(0) = ?
"#, ends: &["600 futex: 601 futex inferred"] },
    Case { name: "attached: the process that a wait returns is a child of the waiter", lines: r#"
600 01.000000 futex(0x7f32bb747020, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 0, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
601 01.000050 read(3, "x", 1) = 1 <0.000020>
601 01.400300 futex(0x7f32bb747020, FUTEX_WAKE, 1) = 1 <0.000022>
600 01.400330 <... futex resumed>) = 0 <0.400330>
601 01.400500 exit_group(0) = ?
601 01.400600 +++ exited with 0 +++
600 01.400700 wait4(-1, NULL, 0, NULL) = 601 <0.000051>
600 01.400800 exit_group(0) = ?
"#, ends: &["600 futex: 601 futex inferred"] },
    Case { name: "a sender of signals is not a child for that reason", lines: r#"
600 01.000000 futex(0x7f32bb747020, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 0, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
601 01.000050 read(3, "x", 1) = 1 <0.000020>
601 01.400300 futex(0x7f32bb747020, FUTEX_WAKE, 1) = 1 <0.000022>
600 01.400330 <... futex resumed>) = 0 <0.400330>
600 01.400650 --- SIGCHLD {si_signo=SIGCHLD, si_code=SI_USER, si_pid=601, si_uid=0} ---
600 01.400800 exit_group(0) = ?
"#, ends: &["600 futex: unknown"] },
    Case { name: "a task that wakes at another's private address is a thread of the same process, with any creator before the capture", lines: r#"
2 01.000000 clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {tv_sec=15473, tv_nsec=616274301},  <unfinished ...>
3 01.000010 clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {tv_sec=15473, tv_nsec=616274301},  <unfinished ...>
1 01.000100 futex(0x563aff1332d0, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 0, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
3 01.200000 <... clock_nanosleep resumed>NULL) = 0 <0.200000>
3 01.200100 futex(0x563aff1332d0, FUTEX_WAKE_PRIVATE, 1) = 0 <0.000013>
3 01.300100 futex(0x563aff1332d0, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000013>
2 01.400000 <... clock_nanosleep resumed>NULL) = 0 <0.400000>
2 01.400100 futex(0x563aff1332d0, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000013>
1 01.400160 <... futex resumed>) = 0 <0.400060>
1 01.401000 exit_group(0) = ?
"#, ends: &["2 clock_nanosleep: itself", "3 clock_nanosleep: itself", "1 futex: 2 futex inferred"] },
    Case { name: "the stop of a child ends a wait that asks for stops", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 wait4(2,  <unfinished ...>
2 01.300000 kill(2, SIGSTOP) = 0 <0.000010>
2 01.300050 --- SIGSTOP {si_signo=SIGSTOP, si_code=SI_USER, si_pid=2, si_uid=0} ---
2 01.300080 --- stopped by SIGSTOP ---
1 01.300100 <... wait4 resumed>[{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], WSTOPPED, NULL) = 2 <0.299100>
1 01.400000 kill(2, SIGCONT) = 0 <0.000010>
2 01.400100 --- SIGCONT {si_signo=SIGCONT, si_code=SI_USER, si_pid=1, si_uid=0} ---
1 01.401000 wait4(2,  <unfinished ...>
2 01.700000 exit_group(0) = ?
2 01.700100 +++ exited with 0 +++
1 01.700200 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.299200>
1 01.800000 exit_group(0) = ?
"#, ends: &["1 wait4: 2 child measured", "1 wait4: 2 child measured"] },
];
