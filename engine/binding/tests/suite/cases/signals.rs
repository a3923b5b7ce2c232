//! Signals: sent by other tasks, by timers, by the kernel for a child or a pipe; to one process or a group.

use super::Case;

/// Two processes. The first one terminates or stops the second one.
#[rustfmt::skip]
pub const CASES: &[Case] = &[
    Case { name: "a caught signal ends the call: the sender, which slept before, is the waker", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 01.001000 pselect6(0, NULL, NULL, NULL, NULL, NULL <unfinished ...>
1 01.001000 nanosleep({tv_sec=0, tv_nsec=500000000}, NULL) = 0 <0.500000>
1 01.502000 kill(2, SIGTERM) = 0 <0.000100>
2 01.502200 <... pselect6 resumed>) = ? ERESTARTNOHAND (To be restarted if no handler) <0.501200>
2 01.502210 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1, si_uid=0} ---
2 01.502300 unlink("/run/pid") = 0 <0.000100>
2 01.503000 exit_group(0) = ?
2 01.503100 +++ exited with 0 +++
1 01.503500 exit_group(0) = ?
"#, ends: &["2 pselect6: 1 signal measured", "1 nanosleep: itself"] },
    Case { name: "a call that never returned is ended by the sender of the fatal signal", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 01.001000 pselect6(0, NULL, NULL, NULL, NULL, NULL <unfinished ...>
1 01.502000 kill(2, SIGKILL) = 0 <0.000100>
2 01.502200 <... pselect6 resumed> <unfinished ...>) = ?
2 01.502300 +++ killed by SIGKILL +++
1 01.503500 exit_group(0) = ?
"#, ends: &["2 pselect6: 1 signal measured"] },
    Case { name: "a sleep and a blocked write are ended by the sender of the fatal signal", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
2 01.001000 nanosleep({tv_sec=100, tv_nsec=0},  <unfinished ...>
3 01.001000 write(4<pipe:[7]>, "x", 100000 <unfinished ...>
1 01.502000 kill(2, SIGTERM) = 0 <0.000100>
2 01.502200 <... nanosleep resumed> <unfinished ...>) = ?
2 01.502300 +++ killed by SIGTERM +++
1 01.504000 kill(3, SIGKILL) = 0 <0.000100>
3 01.504200 <... write resumed> <unfinished ...>) = ?
3 01.504300 +++ killed by SIGKILL +++
1 01.505000 exit_group(0) = ?
"#, ends: &["2 nanosleep: 1 signal measured", "3 write: 1 signal measured"] },
    Case { name: "an interrupted call that is repeated is one wait with the last repetition", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 01.001000 pselect6(0, NULL, NULL, NULL, NULL, NULL <unfinished ...>
1 01.202000 kill(2, SIGTERM) = 0 <0.000100>
2 01.202200 <... pselect6 resumed>) = ? ERESTARTNOHAND (To be restarted if no handler) <0.201200>
2 01.202210 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1, si_uid=0} ---
2 01.202300 pselect6(0, NULL, NULL, NULL, NULL, NULL <unfinished ...>
1 01.502000 kill(2, SIGKILL) = 0 <0.000100>
2 01.502200 <... pselect6 resumed> <unfinished ...>) = ?
2 01.502300 +++ killed by SIGKILL +++
1 01.503500 exit_group(0) = ?
"#, ends: &["2 pselect6: 1 signal measured", "2 pselect6: 1 signal measured"] },
    Case { name: "a read that resumes after a handler is ended by the writer, not by the sender of the signal", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
2 01.001000 read(3<pipe:[7]>,  <unfinished ...>
1 01.202000 kill(2, SIGUSR1) = 0 <0.000100>
2 01.202200 <... read resumed>0x7ffd, 10) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.201200>
2 01.202210 --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=1, si_uid=0} ---
2 01.202220 write(2</dev/null>, "usr1", 4) = 4 <0.000010>
2 01.202240 rt_sigreturn({mask=[]}) = 0 <0.000010>
2 01.202300 read(3<pipe:[7]>,  <unfinished ...>
3 01.502000 write(4<pipe:[7]>, "x", 1) = 1 <0.000100>
2 01.502200 <... read resumed>"x", 10) = 1 <0.299900>
2 01.503000 exit_group(0) = ?
1 01.503500 exit_group(0) = ?
"#, ends: &["2 read: 3 stream measured", "2 read: 3 stream measured"] },
    Case { name: "a stopped process is continued, and its wait continues with it", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
2 01.001000 poll([{fd=3<pipe:[7]>, events=POLLIN}], 1, 5000) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <0.200000>
1 01.200900 kill(2, SIGSTOP) = 0 <0.000050>
2 01.201010 --- SIGSTOP {si_signo=SIGSTOP, si_code=SI_USER, si_pid=1, si_uid=0} ---
2 01.201100 --- stopped by SIGSTOP ---
1 01.300000 kill(2, SIGCONT) = 0 <0.000050>
2 01.300100 --- SIGCONT {si_signo=SIGCONT, si_code=SI_USER, si_pid=1, si_uid=0} ---
2 01.300200 restart_syscall(<... resuming interrupted poll ...> <unfinished ...>
3 01.502000 write(4<pipe:[7]>, "x", 1) = 1 <0.000100>
2 01.502200 <... restart_syscall resumed>) = 1 <0.202000>
2 01.503000 exit_group(0) = ?
1 01.503500 exit_group(0) = ?
"#, ends: &["2 poll: 3 stream inferred", "2 restart_syscall: 3 stream inferred"] },
    Case { name: "a time-out that a signal broke off still ends by itself", lines: r#"
1 01.001000 poll([{fd=3<pipe:[7]>, events=POLLIN}], 1, 500) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <0.200000>
1 01.201010 --- SIGWINCH {si_signo=SIGWINCH, si_code=SI_KERNEL} ---
1 01.300200 restart_syscall(<... resuming interrupted poll ...>) = 0 <0.200000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 poll: unknown", "1 restart_syscall: itself"] },
    Case { name: "a poll interrupted by a second signal resumes, too, though its line names only itself", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
2 01.001000 poll([{fd=3<pipe:[7]>, events=POLLIN}], 1, 5000 <unfinished ...>
2 01.300000 <... poll resumed>) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <0.299000>
2 01.300100 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1, si_uid=0} ---
2 01.300200 restart_syscall(<... resuming interrupted poll ...>) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <0.100000>
2 01.400300 --- SIGCONT {si_signo=SIGCONT, si_code=SI_USER, si_pid=1, si_uid=0} ---
2 01.400400 restart_syscall(<... resuming interrupted restart_syscall ...> <unfinished ...>
3 01.502000 write(4<pipe:[7]>, "x", 1) = 1 <0.000100>
2 01.502200 <... restart_syscall resumed>) = 1 <0.101800>
3 01.503000 exit_group(0) = ?
1 01.503500 exit_group(0) = ?
"#, ends: &["2 poll: 3 stream inferred", "2 restart_syscall: 3 stream inferred", "2 restart_syscall: 3 stream inferred"] },
    Case { name: "a process group is killed together; each signal line names the sender", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
2 01.001000 pause( <unfinished ...>
3 01.001000 pause( <unfinished ...>
1 01.502000 kill(-2, SIGTERM) = 0 <0.000100>
2 01.502200 <... pause resumed>) = ? ERESTARTNOHAND (To be restarted if no handler) <0.501200>
3 01.502200 <... pause resumed>) = ? ERESTARTNOHAND (To be restarted if no handler) <0.501200>
2 01.502210 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1, si_uid=0} ---
3 01.502210 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1, si_uid=0} ---
2 01.502300 +++ killed by SIGTERM +++
3 01.502300 +++ killed by SIGTERM +++
1 01.503500 exit_group(0) = ?
"#, ends: &["2 pause: 1 signal measured", "3 pause: 1 signal measured"] },
    Case { name: "without a signal line, the group is that of an older sibling", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 01.000400 clone(child_stack=NULL, flags=SIGCHLD) = 4 <0.000100>
2 01.001000 getpid() = 2 <0.000010>
3 01.001000 pause( <unfinished ...>
4 01.501000 kill(-9, SIGKILL) = 0 <0.000100>
4 01.502000 kill(-2, SIGKILL) = 0 <0.000100>
3 01.502200 <... pause resumed>) = ?
3 01.502300 +++ killed by SIGKILL +++
1 01.503500 exit_group(0) = ?
"#, ends: &["3 pause: 4 signal inferred"] },
    Case { name: "a signal through a pidfd, and one with a value", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
2 01.001000 pause( <unfinished ...>
3 01.001000 rt_sigtimedwait([USR1], NULL, NULL, 8 <unfinished ...>
1 01.502000 pidfd_send_signal(3<pid:2>, SIGKILL, NULL, 0) = 0 <0.000100>
2 01.502200 <... pause resumed>) = ?
2 01.502300 +++ killed by SIGKILL +++
1 01.504000 rt_sigqueueinfo(3, SIGUSR1, {si_signo=SIGUSR1, si_code=SI_QUEUE, si_pid=1}) = 0 <0.000100>
3 01.504200 <... rt_sigtimedwait resumed>) = 10 (SIGUSR1) <0.503000>
1 01.505000 exit_group(0) = ?
"#, ends: &["2 pause: 1 signal measured", "3 rt_sigtimedwait: 1 signal measured"] },
    Case { name: "a task's own alarm ends a read, its timer a wait for a signal", lines: r#"
1 01.000000 alarm(1) = 0 <0.000010>
1 01.001000 recvfrom(3<TCP:[10.0.0.1:9->10.0.0.2:80]>, 0x7f, 10, 0, NULL, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.500000>
1 01.502000 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
1 01.502100 rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted system call) <0.000010>
1 01.503000 pause() = ? ERESTARTNOHAND (To be restarted if no handler) <0.500000>
1 02.004000 --- SIGRT_1 {si_signo=SIGRT_1, si_code=SI_TIMER, si_timerid=0, si_overrun=0, si_int=0, si_ptr=NULL} ---
1 02.005000 exit_group(1) = ?
"#, ends: &["1 recvfrom: timer", "1 pause: timer"] },
    Case { name: "a timer that interrupts a read which then resumes did not end it", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 read(3<pipe:[7]>, 0x7f, 10) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.100000>
1 01.101100 --- SIGPROF {si_signo=SIGPROF, si_code=SI_KERNEL} ---
1 01.101200 rt_sigreturn({mask=[]}) = 0 <0.000010>
1 01.101300 read(3<pipe:[7]>, 0x7f, 10) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.100000>
1 01.201400 --- SIGPROF {si_signo=SIGPROF, si_code=SI_KERNEL} ---
1 01.201500 rt_sigreturn({mask=[]}) = 0 <0.000010>
1 01.201600 read(3<pipe:[7]>,  <unfinished ...>
2 01.300000 write(4<pipe:[7]>, "x", 1) = 1 <0.000100>
1 01.300200 <... read resumed>"x", 10) = 1 <0.098600>
1 01.305000 exit_group(1) = ?
"#, ends: &["1 read: 2 stream measured", "1 read: 2 stream measured", "1 read: 2 stream measured"] },
    Case { name: "a wait interrupted by a signal for another thread resumes without a signal line of its own", lines: r#"
1 01.000000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 2 <0.000100>
1 01.001000 futex(0x7f01, FUTEX_WAIT_PRIVATE, 0, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.200000>
2 01.200900 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=9, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 01.201100 futex(0x7f01, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
2 01.501000 futex(0x7f01, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>
1 01.501100 <... futex resumed>) = 0 <0.300000>
1 01.513500 exit_group(0) = ?
"#, ends: &["1 futex: 2 futex measured", "1 futex: 2 futex measured"] },
    Case { name: "SIGCHLD names the ended child, even if another one ended later", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 01.001000 rt_sigsuspend([], 8 <unfinished ...>
2 01.500000 exit_group(0) = ?
2 01.501000 +++ exited with 0 +++
1 01.501100 <... rt_sigsuspend resumed>) = ? ERESTARTNOHAND (To be restarted if no handler) <0.500100>
3 01.501110 exit_group(0) = ?
3 01.501120 +++ exited with 0 +++
1 01.501200 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 01.502000 exit_group(0) = ?
"#, ends: &["1 rt_sigsuspend: 2 child measured"] },
    Case { name: "a write to a pipe is blocked by the reader until the reader closes it", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 01.001000 read(3<pipe:[7]>, "x", 1) = 1 <0.000100>
1 01.002000 write(4<pipe:[7]>, "x", 100000 <unfinished ...>
2 01.502000 close(3<pipe:[7]>) = 0 <0.000100>
1 01.502200 <... write resumed>) = -1 EPIPE (Broken pipe) <0.500200>
1 01.502300 --- SIGPIPE {si_signo=SIGPIPE, si_code=SI_USER, si_pid=1, si_uid=0} ---
1 01.502400 +++ killed by SIGPIPE +++
"#, ends: &["1 write: 2 drain inferred"] },
    Case { name: "a signal from a process that is not in the capture came from outside", lines: r#"
1 01.001000 poll([{fd=3<TCP:[0.0.0.0:80]>, events=POLLIN}], 1, -1) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <0.500000>
1 01.501010 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=77, si_uid=0} ---
1 01.503500 exit_group(0) = ?
"#, ends: &["1 poll: outside"] },
    Case { name: "a thread that waits when another one ends the process waits until then", lines: r#"
1 01.000000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 2 <0.000100>
1 01.001000 futex(0x7f01, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
2 01.500000 exit_group(0) = ?
1 01.500100 <... futex resumed>) = ?
2 01.500200 +++ exited with 0 +++
1 01.500300 +++ exited with 0 +++
"#, ends: &["1 futex: 2 exit measured"] },
    Case { name: "data that arrived with the end of a child ended a resumed wait that returned at once", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000100 epoll_create1(0) = 3 <0.000010>
1 01.001000 epoll_wait(3<anon_inode:[eventpoll]>,  <unfinished ...>
2 01.500900 exit_group(0) = ?
2 01.500950 +++ exited with 0 +++
1 01.501000 <... epoll_wait resumed>0x7f, 1, -1) = -1 EINTR (Interrupted system call) <0.500000>
1 01.501100 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 01.501200 epoll_wait(3<anon_inode:[eventpoll]>, [{events=EPOLLIN, data={u32=4, u64=4}}], 1, -1) = 1 <0.000072>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 epoll_wait: 2 child measured"] },
    Case { name: "the end of a child did not end a wait that resumed for long", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000100 epoll_create1(0) = 3 <0.000010>
1 01.001000 epoll_wait(3<anon_inode:[eventpoll]>,  <unfinished ...>
2 01.500900 exit_group(0) = ?
2 01.500950 +++ exited with 0 +++
1 01.501000 <... epoll_wait resumed>0x7f, 1, -1) = -1 EINTR (Interrupted system call) <0.500000>
1 01.501100 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 01.501200 epoll_wait(3<anon_inode:[eventpoll]>, [{events=EPOLLIN, data={u32=4, u64=4}}], 1, -1) = 1 <0.400000>
1 01.903500 exit_group(0) = ?
"#, ends: &["1 epoll_wait: unknown", "1 epoll_wait: unknown"] },
    Case { name: "a child that ended while the signal of another one was handled ended the wait for it", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 01.001000 wait4(2,  <unfinished ...>
3 01.500000 exit_group(0) = ?
3 01.500100 +++ exited with 0 +++
1 01.500150 <... wait4 resumed>0x7f, 0, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.499150>
2 01.500160 exit_group(0) = ?
2 01.500170 +++ exited with 0 +++
1 01.500180 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=3, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 01.500200 wait4(2, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.000030>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 wait4: 2 child measured"] },
    Case { name: "a call that began before the capture waits for something unknown", lines: r#"
2 01.000000 restart_syscall(<... resuming interrupted read ...> <unfinished ...>
1 01.100000 getpid() = 1 <0.000010>
2 01.600000 <... restart_syscall resumed>) = 0 <0.600000>
2 01.600100 restart_syscall(<... resuming interrupted restart_syscall ...>) = -1 ETIMEDOUT (Connection timed out) <0.200000>
"#, ends: &["2 restart_syscall: unknown", "2 restart_syscall: itself"] },
    Case { name: "a server waits for its clients", lines: r#"
1 01.000000 epoll_wait(3<anon_inode:[eventpoll]>, [{events=EPOLLIN}], 32, -1) = 1 <0.200000>
1 01.201000 accept4(5<TCP:[10.0.0.1:80]>, {sa_family=AF_INET, sin_port=htons(7), sin_addr=inet_addr("10.0.0.2")}, [16], 0) = 6 <0.000010>
1 01.202000 epoll_wait(3<anon_inode:[eventpoll]>, [{events=EPOLLIN}], 32, -1) = 1 <0.300000>
1 01.503000 read(6<TCP:[10.0.0.1:80->10.0.0.2:7]>, "GET", 100) = 3 <0.000010>
1 01.504000 write(6<TCP:[10.0.0.1:80->10.0.0.2:7]>, "page", 4) = 4 <0.000010>
"#, ends: &["1 epoll_wait: client", "1 epoll_wait: client"] },
    Case { name: "a client of a server that greets first waits for the server", lines: r#"
1 01.000000 connect(6<TCP:[10.0.0.2:7->10.0.0.1:25]>, {sa_family=AF_INET, sin_port=htons(25), sin_addr=inet_addr("10.0.0.1")}, 16) = 0 <0.000010>
1 01.001000 read(6<TCP:[10.0.0.2:7->10.0.0.1:25]>, "220", 100) = 3 <0.300000>
1 01.504000 write(6<TCP:[10.0.0.2:7->10.0.0.1:25]>, "HELO", 4) = 4 <0.000010>
"#, ends: &["1 read: unknown"] },
];
