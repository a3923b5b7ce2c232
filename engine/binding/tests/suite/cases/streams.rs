//! Pipes, fifos, sockets, terminals, eventfds: their writers, and the readers that make room.

use super::Case;

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    Case { name: "a poll with omitted descriptors ends by the write of a child to a descriptor without a name", lines: r#"
1 01.000200 pipe2([...], O_CLOEXEC) = 0 <0.000100>
1 01.000400 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000050>
2 01.000700 execve("/bin/y", [...], 0x7f /* 1 var */) = 0 <0.000100>
1 01.001000 poll([...], 2, -1 <unfinished ...>
2 01.500900 write(2, ""..., 1) = 1 <0.000020>
1 01.501000 <... poll resumed>) = 1 ([...]) <0.500000>
1 01.501100 read(3, ""..., 64) = 1 <0.000010>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 poll: 2 stream inferred"] },
    Case { name: "a poll with omitted descriptors that finds the end was ended by a child that exited during it", lines: r#"
1 01.000200 pipe2([...], O_CLOEXEC) = 0 <0.000100>
1 01.000400 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000050>
2 01.000700 execve("/bin/y", [...], 0x7f /* 1 var */) = 0 <0.000100>
1 01.001000 poll([...], 2, -1 <unfinished ...>
2 01.490000 exit_group(0) = ?
2 01.490100 +++ exited with 0 +++
1 01.501000 <... poll resumed>) = 1 ([...]) <0.500000>
1 01.501050 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2, si_uid=0, si_status=0} ---
1 01.501100 read(3, "", 64) = 0 <0.000010>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 poll: 2 stream inferred"] },
    Case { name: "an open of a fifo waits for the opener of its other side", lines: r#"
1 01.000000 mknodat(AT_FDCWD, "/run/fifo", S_IFIFO|0666) = 0 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 openat(AT_FDCWD, "/run/fifo", O_RDONLY <unfinished ...>
2 01.001000 nanosleep({tv_sec=0, tv_nsec=500000000}, NULL) = 0 <0.500000>
2 01.502000 openat(AT_FDCWD, "/run/fifo", O_WRONLY) = 3 <0.000100>
1 01.502200 <... openat resumed>) = 3 <0.501200>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 openat: 2 stream inferred", "2 nanosleep: itself"] },
    Case { name: "a pipe reaches end of file when the child that inherited it runs another program", lines: r#"
1 01.000000 pipe2([3<pipe:[7]>, 4<pipe:[7]>], O_CLOEXEC) = 0 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000400 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 01.000600 close(4<pipe:[7]>) = 0 <0.000100>
1 01.001000 read(3<pipe:[7]>,  <unfinished ...>
2 01.001000 getpid() = 2 <0.000100>
3 01.400000 close(4<pipe:[7]>) = 0 <0.000100>
2 01.502000 execve("/bin/true", ["true"], 0x7f /* 1 var */ <unfinished ...>
1 01.502200 <... read resumed>"", 4) = 0 <0.501200>
2 01.508000 <... execve resumed>) = 0 <0.006000>
1 01.513500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream inferred"] },
    Case { name: "an exec that takes long to load its program has closed the pipe at its start", lines: r#"
1 01.000000 pipe2([3<pipe:[7]>, 4<pipe:[7]>], O_CLOEXEC) = 0 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000600 close(4<pipe:[7]>) = 0 <0.000100>
1 01.001000 read(3<pipe:[7]>,  <unfinished ...>
2 01.502000 execve("/bin/true", ["true"], 0x7f /* 1 var */ <unfinished ...>
1 01.502200 <... read resumed>"", 4) = 0 <0.501200>
2 02.108000 <... execve resumed>) = 0 <0.606000>
1 02.513500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream inferred", "2 execve: itself"] },
    Case { name: "an exec right after the end of a read closed its pipe, with a clock under adjustment", lines: r#"
1 01.000000 pipe2([3<pipe:[7]>, 4<pipe:[7]>], O_CLOEXEC) = 0 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000600 close(4<pipe:[7]>) = 0 <0.000100>
1 01.001000 read(3<pipe:[7]>,  <unfinished ...>
2 01.502000 execve("/bin/true", ["true"], 0x7f /* 1 var */ <unfinished ...>
1 01.502200 <... read resumed>"", 4) = 0 <0.500100>
2 01.503000 <... execve resumed>) = 0 <0.000980>
1 01.513500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream inferred"] },
    Case { name: "a slow exit closed a pipe before it was over", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 read(3<pipe:[7]>,  <unfinished ...>
2 01.400000 write(4<pipe:[7]>, "", 0) = 0 <0.000100>
2 01.500000 exit_group(0) = ?
1 01.501200 <... read resumed>"", 4) = 0 <0.500200>
2 01.513000 +++ exited with 0 +++
1 01.603500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream inferred"] },
    Case { name: "a wake shortly after the end of the wait ended it, with a clock under adjustment", lines: r#"
1 01.000000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 2 <0.000100>
1 01.001000 futex(0x7f01, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
2 01.501000 futex(0x7f01, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>
1 01.501100 <... futex resumed>) = 0 <0.499998>
1 01.513500 exit_group(0) = ?
"#, ends: &["1 futex: 2 futex measured"] },
    Case { name: "a poll of a timer and a pipe was ended by the timer if the timer is read next", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 poll([{fd=3<anon_inode:[timerfd]>, events=POLLIN}, {fd=4<pipe:[7]>, events=POLLIN}], 2, -1) = 1 ([{fd=3, revents=POLLIN}]) <0.500000>
2 01.300000 write(5<pipe:[7]>, "x", 1) = 1 <0.000100>
1 01.501000 read(3<anon_inode:[timerfd]>, "\1\0\0\0\0\0\0\0", 8) = 8 <0.000100>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 poll: timer"] },
    Case { name: "the master of a terminal hangs up at the end of the child on its slave", lines: r#"
1 01.000000 openat(AT_FDCWD, "/dev/ptmx", O_RDWR) = 3</dev/ptmx<char 5:2 @/dev/ptmx>> <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 read(3</dev/ptmx<char 5:2 @/dev/ptmx>>,  <unfinished ...>
2 01.500000 exit_group(0) = ?
2 01.500100 +++ exited with 0 +++
1 01.500200 <... read resumed>0x7f, 10) = -1 EIO (Input/output error) <0.499200>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 2 terminal inferred"] },
    Case { name: "programs that each check for a file independently do not poll for it", lines: r#"
1 01.000000 execve("/bin/sh", ["sh"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 01.001000 execve("/bin/db", ["db", "read"], 0x7f /* 1 var */) = 0 <0.001000>
2 01.003000 stat("/journal", 0x7f) = -1 ENOENT (No such file or directory) <0.000010>
2 01.004000 exit_group(0) = ?
2 01.004100 +++ exited with 0 +++
1 01.003000 wait4(2, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.001200>
1 01.010000 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 01.010200 clone(child_stack=NULL, flags=SIGCHLD) = 5 <0.000100>
3 01.011000 execve("/bin/db", ["db", "write"], 0x7f /* 1 var */) = 0 <0.001000>
5 01.011000 execve("/bin/sleep", ["sleep", "0.3"], 0x7f /* 1 var */) = 0 <0.001000>
5 01.013000 nanosleep({tv_sec=0, tv_nsec=300000000}, NULL) = 0 <0.300000>
3 01.020000 openat(AT_FDCWD, "/journal", O_RDWR|O_CREAT, 0644) = 3 <0.000010>
5 01.313500 exit_group(0) = ?
5 01.313600 +++ exited with 0 +++
1 01.012000 wait4(5, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 5 <0.301700>
1 01.314000 clone(child_stack=NULL, flags=SIGCHLD) = 4 <0.000100>
4 01.315000 execve("/bin/db", ["db", "look"], 0x7f /* 1 var */) = 0 <0.001000>
4 01.317000 stat("/journal", {st_mode=S_IFREG|0644, st_size=0, ...}) = 0 <0.000010>
4 01.318000 exit_group(0) = ?
4 01.318100 +++ exited with 0 +++
1 01.315000 wait4(4, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 4 <0.003200>
1 01.320000 exit_group(0) = ?
3 01.330000 exit_group(0) = ?
"#, ends: &["5 nanosleep: itself", "1 wait4: 5 child measured"] },
    Case { name: "a task that inherited a pipe from a user of it, without using it, closes it by its end", lines: r#"
1 01.000000 execve("./reader", ["./reader"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001000 pipe2([3, 4], O_CLOEXEC) = 0 <0.000020>
1 01.001100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001300 close(4) = 0 <0.000010>
2 01.001400 dup2(4, 1) = 1 <0.000010>
2 01.001500 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 01.001600 read(3,  <unfinished ...>
2 01.001700 exit_group(0) = ?
2 01.001800 +++ exited with 0 +++
3 01.002000 execve("./nap", ["nap"], 0x7ffd /* 9 vars */) = 0 <0.000500>
3 01.003000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=400000000}, NULL) = 0 <0.400100>
3 01.403300 exit_group(0) = ?
3 01.403400 +++ exited with 0 +++
1 01.403420 <... read resumed>"", 100) = 0 <0.401800>
1 01.404000 exit_group(0) = ?
"#, ends: &["1 read: 3 stream inferred", "3 clock_nanosleep: itself"] },
    Case { name: "the input of a signal handler is not the input that an earlier poll waited for", lines: r#"
1 01.000000 execve("./loop", ["./loop"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001000 pipe2([3, 4], O_CLOEXEC) = 0 <0.000020>
1 01.001050 pipe2([5, 6], O_CLOEXEC) = 0 <0.000020>
1 01.001100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001300 close(6) = 0 <0.000010>
1 01.001600 poll([{fd=3, events=POLLIN}, {fd=5, events=POLLIN}], 2, -1 <unfinished ...>
2 01.003000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=400000000}, NULL) = 0 <0.400100>
2 01.403200 write(6, "x", 1) = 1 <0.000010>
2 01.403300 exit_group(0) = ?
1 01.403310 <... poll resumed>) = 1 ([{fd=5, revents=POLLIN}]) <0.401710>
2 01.403400 +++ exited with 0 +++
1 01.403420 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 01.403500 read(7, "*", 1) = 1 <0.000010>
1 01.403600 write(4, "c", 1) = 1 <0.000010>
1 01.403700 rt_sigreturn({mask=[]}) = 1 <0.000010>
1 01.403800 read(5, "x", 100) = 1 <0.000010>
1 01.404000 exit_group(0) = ?
"#, ends: &["1 poll: 2 stream measured", "2 clock_nanosleep: itself"] },
    Case { name: "a write with a delayed return supplied the reader", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2
1 01.000300 read(3<pipe:[7]>,  <unfinished ...>
2 01.400000 write(4<pipe:[7]>, "x", 1 <unfinished ...>
1 01.400200 <... read resumed>"x", 100) = 1
1 01.408000 getpid() = 1
2 01.408200 <... write resumed>) = 1
1 01.408400 exit_group(0) = ?
2 01.408500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream measured"] },
    Case { name: "another thread handles the signal that interrupted a poll, and the lock is awaited before the read", lines: r#"
1 01.000000 execve("./loop", ["./loop"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001000 socketpair(AF_UNIX, SOCK_STREAM, 0, [4, 5]) = 0 <0.000020>
1 01.001050 epoll_ctl(3, EPOLL_CTL_ADD, 4, {events=EPOLLIN, data={u32=4, u64=4}}) = 0 <0.000010>
1 01.001100 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 01.001300 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, stack=0x7f}, 88) = 2 <0.000100>
1 01.001600 epoll_wait(3,  <unfinished ...>
2 01.001700 wait4(3,  <unfinished ...>
3 01.400000 exit_group(0) = ?
3 01.400100 +++ exited with 0 +++
2 01.400200 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 3 <0.398500>
1 01.400300 <... epoll_wait resumed>0x7f47, 4, -1) = -1 EINTR (Interrupted system call) <0.398700>
2 01.400310 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=3, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 01.400320 epoll_wait(3,  <unfinished ...>
2 01.400400 sendto(5, "x", 1, 0, NULL, 0) = 1 <0.000100>
1 01.400550 <... epoll_wait resumed>[{events=EPOLLIN, data={u32=4, u64=4}}], 4, -1) = 1 <0.000230>
1 01.400600 futex(0x7f8, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <0.000030>
1 01.400700 recvfrom(4, "x", 4096, 0, NULL, NULL) = 1 <0.000010>
1 01.401000 exit_group(0) = ?
"#, ends: &["1 epoll_wait: 2 stream measured", "2 wait4: 3 child measured"] },
    Case { name: "a wake or write after a wait, before the waiter's next call, ended it if none did in time", lines: r#"
1 01.000000 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD}, 88) = 2 <0.000100>
1 01.000300 futex(0x55, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
2 01.083942 futex(0x55, FUTEX_WAKE_PRIVATE, 2147483647 <unfinished ...>
1 01.084005 <... futex resumed>) = 0 <0.083516>
2 01.084021 <... futex resumed>) = 1 <0.000073>
1 01.084033 read(3<pipe:[7]>,  <unfinished ...>
2 01.168042 write(4<pipe:[7]>, "x", 1 <unfinished ...>
1 01.168105 <... read resumed>"x", 1) = 1 <0.083616>
2 01.168121 <... write resumed>) = 1 <0.000073>
1 01.168133 futex(0x55, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
1 01.252005 <... futex resumed>) = 0 <0.083616>
1 01.252105 gettid() = 1 <0.000010>
2 01.252205 futex(0x55, FUTEX_WAKE_PRIVATE, 2147483647) = 0 <0.000073>
2 01.252305 futex(0x55, FUTEX_WAKE_PRIVATE, 2147483647) = 1 <0.000073>
1 01.253105 exit_group(0) = ?
"#, ends: &["1 futex: 2 futex inferred", "1 read: 2 stream inferred", "1 futex: unknown"] },
    Case { name: "data spliced from one pipe into another was written to the first and is read from the second", lines: r#"
1 01.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000100 pipe([3, 4]) = 0 <0.000010>
1 01.000200 pipe([5, 6]) = 0 <0.000010>
1 01.000300 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000500 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 01.001000 read(5,  <unfinished ...>
2 01.001000 splice(3, NULL, 6, NULL, 65536, 0 <unfinished ...>
3 01.500000 write(4, "x", 1) = 1 <0.000020>
2 01.500100 <... splice resumed>) = 1 <0.499100>
1 01.500200 <... read resumed>"x", 10) = 1 <0.499200>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream measured", "2 splice: 3 stream measured"] },
    Case { name: "a splice into a full pipe waits for the reader, and so does the writer of the first pipe", lines: r#"
1 01.000000 write(4<pipe:[7]>, "x"..., 65536 <unfinished ...>
2 01.000000 splice(3<pipe:[7]>, NULL, 6<pipe:[8]>, NULL, 65536, 0 <unfinished ...>
3 01.000000 nanosleep({tv_sec=0, tv_nsec=300000000}, NULL) = 0 <0.300000>
3 01.300100 read(5<pipe:[8]>, "x"..., 65536) = 65536 <0.000050>
2 01.300180 <... splice resumed>) = 65536 <0.300180>
1 01.300190 <... write resumed>) = 65536 <0.300190>
2 01.300200 splice(3<pipe:[7]>, NULL, 6<pipe:[8]>, NULL, 65536, 0) = 65536 <0.000100>
1 01.303500 exit_group(0) = ?
"#, ends: &["1 write: 2 drain inferred", "2 splice: 3 drain inferred", "3 nanosleep: itself"] },
    Case { name: "data sent by sendfile is read at the other end of the socket", lines: r#"
1 01.000000 read(3<TCP:[127.0.0.1:5000->127.0.0.1:80]>,  <unfinished ...>
2 01.400000 sendfile(4<TCP:[127.0.0.1:80->127.0.0.1:5000]>, 5</srv/a>, NULL, 100) = 100 <0.000100>
1 01.400200 <... read resumed>"x"..., 100) = 100 <0.400200>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream measured"] },
    Case { name: "data sent by sendfile is read over a connection with only the peer's address printed", lines: r#"
1 01.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 01.000300 socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 3 <0.000010>
2 01.000400 bind(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000010>
2 01.000500 listen(3, 5) = 0 <0.000010>
1 01.001000 socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 3 <0.000010>
1 01.001100 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000010>
2 01.001200 accept(3, {sa_family=AF_INET, sin_port=htons(5000), sin_addr=inet_addr("127.0.0.1")}, [16]) = 4 <0.000010>
1 01.001300 read(3,  <unfinished ...>
2 01.001400 openat(AT_FDCWD, "/srv/a", O_RDONLY) = 5 <0.000010>
2 01.400000 sendfile(4, 5, NULL, 100) = 100 <0.000100>
1 01.400200 <... read resumed>"x"..., 100) = 100 <0.398900>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream inferred"] },
    Case { name: "a thread reads the master of a terminal that another thread opened, until it hangs up", lines: r#"
1 01.000000 openat(AT_FDCWD, "/dev/ptmx", O_RDWR) = 3</dev/ptmx<char 5:2>> <0.000100>
1 01.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000200 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD}, 88) = 3 <0.000100>
3 01.001000 poll([{fd=3</dev/ptmx<char 5:2>>, events=POLLIN}], 1, -1 <unfinished ...>
2 01.300000 write(1</dev/pts/0<char 136:0>>, "a\n", 2) = 2 <0.000010>
3 01.300100 <... poll resumed>) = 1 ([{fd=3, revents=POLLIN}]) <0.299100>
3 01.300200 read(3</dev/ptmx<char 5:2>>, "a\r\n", 99) = 3 <0.000020>
3 01.301000 poll([{fd=3</dev/ptmx<char 5:2>>, events=POLLIN}], 1, -1 <unfinished ...>
2 01.600000 exit_group(0) = ?
2 01.600100 +++ exited with 0 +++
3 01.600200 <... poll resumed>) = 1 ([{fd=3, revents=POLLHUP}]) <0.299200>
3 01.600300 read(3</dev/ptmx<char 5:2>>, 0x7f, 99) = -1 EIO (Input/output error) <0.000030>
1 01.700000 exit_group(0) = ?
"#, ends: &["3 poll: 2 terminal inferred", "3 poll: 2 terminal inferred"] },
    Case { name: "a write to a full eventfd waits for a read, a long write to another file does not", lines: r#"
1 01.000000 eventfd2(0, 0) = 3<anon_inode:[eventfd]> <0.000010>
1 01.000100 write(3<anon_inode:[eventfd]>, "\376\377\377\377\377\377\377\377", 8) = 8 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 write(3<anon_inode:[eventfd]>, "\5\0\0\0\0\0\0\0", 8 <unfinished ...>
2 01.300000 read(3<anon_inode:[eventfd]>, "\376\377\377\377\377\377\377\377", 8) = 8 <0.000020>
1 01.300100 <... write resumed>) = 8 <0.299100>
1 01.301000 write(4</srv/x>, "x", 1 <unfinished ...>
2 01.600000 read(3<anon_inode:[eventfd]>, "\5\0\0\0\0\0\0\0", 8) = 8 <0.000020>
1 01.600100 <... write resumed>) = 1 <0.299100>
1 01.700000 exit_group(0) = ?
"#, ends: &["1 write: 2 drain inferred", "1 write: itself"] },
    Case { name: "a poll for room ends with the reader that makes it, not with what the peer writes", lines: r#"
1 01.000000 socketpair(AF_UNIX, SOCK_STREAM, 0, [3<UNIX-STREAM:[7->8]>, 4<UNIX-STREAM:[8->7]>]) = 0 <0.000010>
1 01.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 01.000200 read(5</srv/x>, "x", 1) = 1 <0.000010>
1 01.000500 write(3<UNIX-STREAM:[7->8]>, "x", 400000) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
1 01.001000 poll([{fd=3<UNIX-STREAM:[7->8]>, events=POLLIN|POLLOUT}], 1, -1 <unfinished ...>
2 01.100000 write(4<UNIX-STREAM:[8->7]>, "y", 1) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
2 01.300000 read(4<UNIX-STREAM:[8->7]>, "x", 200000) = 200000 <0.000020>
1 01.300100 <... poll resumed>) = 1 ([{fd=3, revents=POLLOUT}]) <0.299100>
1 01.300200 write(3<UNIX-STREAM:[7->8]>, "x", 200000) = 200000 <0.000020>
1 01.700000 exit_group(0) = ?
"#, ends: &["1 poll: 2 drain inferred"] },
    Case { name: "a thread that adds a ready descriptor to an epoll ends the wait of another one", lines: r#"
1 01.000000 epoll_create1(0) = 6<anon_inode:[eventpoll]> <0.000010>
1 01.000100 epoll_ctl(6<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 8<pipe:[9]>, {events=EPOLLIN, data={u32=77, u64=77}}) = 0 <0.000010>
1 01.000200 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD}, 88) = 2 <0.000100>
1 01.001000 epoll_wait(6<anon_inode:[eventpoll]>,  <unfinished ...>
2 01.200000 epoll_ctl(6<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 9<pipe:[10]>, {events=EPOLLIN, data={u32=78, u64=78}}) = 0 <0.000010>
2 01.300000 epoll_ctl(6<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 11<pipe:[7]>, {events=EPOLLOUT, data={u32=99, u64=99}}) = 0 <0.000010>
1 01.300100 <... epoll_wait resumed>[{events=EPOLLOUT, data={u32=99, u64=99}}], 128, -1) = 1 <0.299100>
1 01.301000 epoll_wait(6<anon_inode:[eventpoll]>,  <unfinished ...>
2 01.600000 epoll_ctl(6<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 12<pipe:[8]>, {events=EPOLLOUT, data={u32=100, u64=100}} <unfinished ...>
1 01.600100 <... epoll_wait resumed>[{events=EPOLLOUT, data={u32=100, u64=100}}], 128, -1) = 1 <0.299100>
2 01.600200 <... epoll_ctl resumed>) = 0 <0.000200>
1 01.700000 exit_group(0) = ?
"#, ends: &["1 epoll_wait: 2 stream inferred", "1 epoll_wait: 2 stream inferred"] },
];
