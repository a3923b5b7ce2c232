//! Sockets identified only by an address or a path, and pidfds.

use super::Case;

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    Case { name: "a connection at a path is identified by it, accepted without an address, and with socket numbers", lines: r#"
1 01.000000 execve("./cli", ["./cli"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001000 socket(AF_UNIX, SOCK_STREAM, 0) = 3<socket:[11]> <0.000019>
1 01.001100 bind(3<socket:[11]>, {sa_family=AF_UNIX, sun_path="/run/s.sock"}, 110) = 0 <0.000058>
1 01.001200 listen(3<socket:[11]>, 5) = 0 <0.000020>
1 01.001300 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
2 01.001700 accept(3<socket:[11]>, NULL, NULL <unfinished ...>
1 01.001800 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100100>
1 01.102000 socket(AF_UNIX, SOCK_STREAM, 0) = 4<socket:[12]> <0.000019>
1 01.102100 connect(4<socket:[12]>, {sa_family=AF_UNIX, sun_path="/run/s.sock"}, 110) = 0 <0.000050>
2 01.102160 <... accept resumed>) = 5<socket:[13]> <0.100460>
2 01.102200 read(5<socket:[13]>,  <unfinished ...>
1 01.102300 write(4<socket:[12]>, "q", 1) = 1 <0.000030>
2 01.102340 <... read resumed>"q", 1) = 1 <0.000140>
1 01.102400 read(4<socket:[12]>,  <unfinished ...>
2 01.102450 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=400000000}, NULL) = 0 <0.400100>
2 01.502700 write(5<socket:[13]>, "r", 1) = 1 <0.000030>
1 01.502760 <... read resumed>"r", 1) = 1 <0.400360>
2 01.502800 exit_group(0) = ?
2 01.502900 +++ exited with 0 +++
1 01.503000 exit_group(0) = ?
1 01.503100 +++ exited with 0 +++
"#, ends: &["2 accept: 1 stream inferred", "1 clock_nanosleep: itself", "1 read: 2 stream inferred", "2 clock_nanosleep: itself"] },
    Case { name: "an accept without a printed address matches the first connect to the address of its listener", lines: r#"
1 01.000000 execve("./cli", ["./cli"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001000 socket(AF_INET, SOCK_STREAM, 0) = 3 <0.000019>
1 01.001100 bind(3, {sa_family=AF_INET, sin_port=htons(5514), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000058>
1 01.001200 listen(3, 5) = 0 <0.000020>
1 01.001300 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
2 01.001700 accept(3, NULL, NULL <unfinished ...>
1 01.001800 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100100>
1 01.102000 socket(AF_INET, SOCK_STREAM, 0) = 4 <0.000019>
1 01.102100 connect(4, {sa_family=AF_INET, sin_port=htons(5514), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000050>
2 01.102160 <... accept resumed>) = 5 <0.100460>
2 01.102200 read(5,  <unfinished ...>
1 01.102300 write(4, "q", 1) = 1 <0.000030>
2 01.102340 <... read resumed>"q", 1) = 1 <0.000140>
1 01.102400 read(4,  <unfinished ...>
2 01.102450 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=400000000}, NULL) = 0 <0.400100>
2 01.502700 write(5, "r", 1) = 1 <0.000030>
1 01.502760 <... read resumed>"r", 1) = 1 <0.400360>
2 01.502800 exit_group(0) = ?
2 01.502900 +++ exited with 0 +++
1 01.503000 exit_group(0) = ?
1 01.503100 +++ exited with 0 +++
"#, ends: &["2 accept: 1 stream inferred", "1 clock_nanosleep: itself", "1 read: 2 stream inferred", "2 clock_nanosleep: itself"] },
    Case { name: "a datagram to the path of a socket ends a read there", lines: r#"
1 01.000000 execve("./srv", ["./srv"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001000 socket(AF_UNIX, SOCK_DGRAM|SOCK_CLOEXEC, 0) = 3 <0.000019>
1 01.001100 bind(3, {sa_family=AF_UNIX, sun_path="/run/d.sock"}, 21) = 0 <0.000058>
1 01.001200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
1 01.001600 recvfrom(3,  <unfinished ...>
2 01.001700 socket(AF_UNIX, SOCK_DGRAM|SOCK_CLOEXEC, 0) = 4 <0.000020>
2 01.001800 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=400000000}, NULL) = 0 <0.400100>
2 01.402000 sendto(4, "x0", 2, 0, {sa_family=AF_UNIX, sun_path="/run/d.sock"}, 21) = 2 <0.000026>
1 01.402060 <... recvfrom resumed>"x0", 100, 0, NULL, NULL) = 2 <0.400450>
2 01.402100 exit_group(0) = ?
2 01.402200 +++ exited with 0 +++
1 01.402300 exit_group(0) = ?
1 01.402400 +++ exited with 0 +++
"#, ends: &["1 recvfrom: 2 stream inferred", "2 clock_nanosleep: itself"] },
    Case { name: "a datagram to the port of a socket ends a read there", lines: r#"
1 01.000000 execve("./srv", ["./srv"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001000 socket(AF_INET, SOCK_DGRAM|SOCK_CLOEXEC, IPPROTO_IP) = 3 <0.000019>
1 01.001100 bind(3, {sa_family=AF_INET, sin_port=htons(5514), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000058>
1 01.001200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
1 01.001600 recvfrom(3,  <unfinished ...>
2 01.001700 socket(AF_INET, SOCK_DGRAM|SOCK_CLOEXEC, IPPROTO_IP) = 4 <0.000020>
2 01.001800 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=400000000}, NULL) = 0 <0.400100>
2 01.402000 sendto(4, "x0", 2, 0, {sa_family=AF_INET, sin_port=htons(5514), sin_addr=inet_addr("127.0.0.1")}, 16) = 2 <0.000026>
1 01.402060 <... recvfrom resumed>"x0", 100, 0, NULL, NULL) = 2 <0.400450>
2 01.402100 exit_group(0) = ?
2 01.402200 +++ exited with 0 +++
1 01.402300 exit_group(0) = ?
1 01.402400 +++ exited with 0 +++
"#, ends: &["1 recvfrom: 2 stream inferred", "2 clock_nanosleep: itself"] },
    Case { name: "a datagram from a connected socket ends a read there", lines: r#"
1 01.000000 execve("./srv", ["./srv"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001000 socket(AF_UNIX, SOCK_DGRAM|SOCK_CLOEXEC, 0) = 3 <0.000019>
1 01.001100 bind(3, {sa_family=AF_UNIX, sun_path="/run/d.sock"}, 21) = 0 <0.000058>
1 01.001200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
1 01.001600 recvfrom(3,  <unfinished ...>
2 01.001700 socket(AF_UNIX, SOCK_DGRAM|SOCK_CLOEXEC, 0) = 4 <0.000020>
2 01.001750 connect(4, {sa_family=AF_UNIX, sun_path="/run/d.sock"}, 110) = 0 <0.000020>
2 01.001800 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=400000000}, NULL) = 0 <0.400100>
2 01.402000 sendto(4, "x0", 2, MSG_NOSIGNAL, NULL, 0) = 2 <0.000026>
1 01.402060 <... recvfrom resumed>"x0", 100, 0, NULL, NULL) = 2 <0.400450>
2 01.402100 exit_group(0) = ?
2 01.402200 +++ exited with 0 +++
1 01.402300 exit_group(0) = ?
1 01.402400 +++ exited with 0 +++
"#, ends: &["1 recvfrom: 2 stream inferred", "2 clock_nanosleep: itself"] },
    Case { name: "the end of a process ends a poll of its pidfd", lines: r#"
1 01.351000 execve("./ev", ["./ev"], 0x7ffd /* 9 vars */) = 0 <0.0005>
1 01.352623 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000125>
1 01.352783 pidfd_open(2, 0 <unfinished ...>
2 01.352805 set_robust_list(0x7fa3fde35a20, 24 <unfinished ...>
1 01.352830 <... pidfd_open resumed>) = 3 <0.000037>
2 01.352838 <... set_robust_list resumed>) = 0 <0.000026>
1 01.352878 poll([{fd=3, events=POLLIN}], 1, -1 <unfinished ...>
2 01.352892 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=300000000}, NULL) = 0 <0.301868>
2 01.654849 exit_group(0)   = ?
2 01.655027 +++ exited with 0 +++
1 01.655050 <... poll resumed>) = 1 ([{fd=3, revents=POLLIN}]) <0.302159>
1 01.655093 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 01.655128 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100127>
1 01.755340 wait4(2, NULL, 0, NULL) = 2 <0.000025>
1 01.755467 exit_group(0)   = ?
1 01.755660 +++ exited with 0 +++
"#, ends: &["1 poll: 2 child inferred", "2 clock_nanosleep: itself", "1 clock_nanosleep: itself"] },
    Case { name: "descriptors decorated with addresses identify the listener and the bound socket", lines: r#"
1 01.000000 bind(3<UNIX-STREAM:[11]>, {sa_family=AF_UNIX, sun_path="/run/s.sock"}, 110) = 0 <0.000058>
1 01.000100 bind(4<UDP:[12]>, {sa_family=AF_INET, sin_port=htons(5514), sin_addr=inet_addr("0.0.0.0")}, 16) = 0 <0.000058>
1 01.001300 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
2 01.001700 accept(3<UNIX-STREAM:[11,"/run/s.sock"]>, NULL, NULL <unfinished ...>
1 01.102100 connect(4<UNIX-STREAM:[13]>, {sa_family=AF_UNIX, sun_path="/run/s.sock"}, 110) = 0 <0.000050>
2 01.102160 <... accept resumed>) = 5<UNIX-STREAM:[14->13,"/run/s.sock"]> <0.100460>
2 01.102200 recvfrom(4<UDP:[0.0.0.0:5514]>,  <unfinished ...>
1 01.302300 sendto(6<UDP:[15]>, "q", 1, 0, {sa_family=AF_INET, sin_port=htons(5514), sin_addr=inet_addr("127.0.0.1")}, 16) = 1 <0.000030>
2 01.302340 <... recvfrom resumed>"q", 1, 0, NULL, NULL) = 1 <0.200140>
2 01.502800 exit_group(0) = ?
1 01.503000 exit_group(0) = ?
"#, ends: &["2 accept: 1 stream inferred", "2 recvfrom: 1 stream inferred"] },
    Case { name: "a descriptor received in a message is the sent one under another number", lines: r#"
1 01.000000 socketpair(AF_UNIX, SOCK_STREAM, 0, [3, 4]) = 0 <0.000100>
1 01.000100 pipe2([5, 6], 0) = 0 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000400 sendmsg(3, {msg_name=NULL, msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[5]}], msg_controllen=20, msg_flags=0}, 0 <unfinished ...>
2 01.000500 close(5) = 0 <0.000010>
2 01.000600 recvmsg(4, {msg_name=NULL, msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[9]}], msg_controllen=20, msg_flags=0}, 0) = 1 <0.000010>
1 01.000700 <... sendmsg resumed>) = 1 <0.000300>
2 01.001000 read(9,  <unfinished ...>
1 01.501000 write(6, "x", 1) = 1 <0.000100>
2 01.501200 <... read resumed>"x", 10) = 1 <0.500200>
1 01.603500 exit_group(0) = ?
"#, ends: &["2 read: 1 stream measured"] },
    Case { name: "a received descriptor is the sent one, even if the line of its sender comes later", lines: r#"
1 01.000000 socketpair(AF_UNIX, SOCK_STREAM, 0, [3, 4]) = 0 <0.000100>
1 01.000100 pipe2([5, 6], 0) = 0 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 01.000600 recvmsg(4, {msg_name=NULL, msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[9]}], msg_controllen=20, msg_flags=0}, 0) = 1 <0.000300>
1 01.000700 sendmsg(3, {msg_name=NULL, msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[5]}], msg_controllen=20, msg_flags=0}, 0) = 1 <0.000100>
2 01.001000 read(9,  <unfinished ...>
1 01.501000 write(6, "x", 1) = 1 <0.000100>
2 01.501200 <... read resumed>"x", 10) = 1 <0.500200>
1 01.603500 exit_group(0) = ?
"#, ends: &["2 read: 1 stream measured"] },
    Case { name: "of two senders over connections with one name, neither is the waker", lines: r#"
1 01.000000 socket(AF_UNIX, SOCK_STREAM, 0) = 3 <0.000010>
2 01.000000 socket(AF_UNIX, SOCK_STREAM, 0) = 3 <0.000010>
1 01.000010 connect(3, {sa_family=AF_UNIX, sun_path="/run/s"}, 110) = 0 <0.000010>
2 01.000010 connect(3, {sa_family=AF_UNIX, sun_path="/run/s"}, 110) = 0 <0.000010>
3 01.000030 socket(AF_UNIX, SOCK_STREAM, 0) = 3 <0.000001>
3 01.000040 bind(3, {sa_family=AF_UNIX, sun_path="/run/s"}, 110) = 0 <0.000001>
3 01.000050 accept(3, NULL, NULL) = 4 <0.000010>
1 01.000100 pipe2([5, 6], 0) = 0 <0.000010>
2 01.000100 pipe2([5, 6], 0) = 0 <0.000010>
1 01.000400 sendmsg(3, {msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[5]}], msg_controllen=20, msg_flags=0}, 0) = 1 <0.000010>
2 01.000410 sendmsg(3, {msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[5]}], msg_controllen=20, msg_flags=0}, 0) = 1 <0.000010>
3 01.000600 recvmsg(4, {msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[9]}], msg_controllen=20, msg_flags=0}, 0) = 1 <0.000010>
3 01.001000 read(9,  <unfinished ...>
2 01.501000 write(6, "x", 1) = 1 <0.000100>
3 01.501200 <... read resumed>"x", 10) = 1 <0.500200>
1 01.603500 exit_group(0) = ?
"#, ends: &["3 read: itself"] },
    Case { name: "sockets with unknown addresses are not connected to each other", lines: r#"
1 01.000000 socket(0x2, 0x1, 0) = 3 <0.000010>
2 01.000000 socket(0x2, 0x1, 0) = 3 <0.000010>
1 01.001000 accept4(3, 0x7ffc1, 0x7ffc2, 0 <unfinished ...>
2 01.501000 connect(3, 0x7ffc1, 16) = 0 <0.000100>
1 01.501200 <... accept4 resumed>) = 0x4 <0.500200>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 accept4: client"] },
    Case { name: "an address that the system chose is known from a getsockname call", lines: r#"
1 01.000000 execve("./cli", ["./cli"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001000 socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 3 <0.000022>
1 01.001100 bind(3, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000016>
1 01.001200 listen(3, 5) = 0 <0.000010>
1 01.001300 getsockname(3,  <unfinished ...>
1 01.001308 <... getsockname resumed>{sa_family=AF_INET, sin_port=htons(59561), sin_addr=inet_addr("127.0.0.1")}, [16]) = 0 <0.000008>
1 01.001400 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000091>
1 01.002000 socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 4 <0.000024>
1 01.002100 connect(4, {sa_family=AF_INET, sin_port=htons(59561), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000082>
2 01.002200 accept(3, NULL, NULL) = 5 <0.000019>
1 01.002300 write(4, "ping", 4) = 4 <0.000038>
1 01.002400 read(4,  <unfinished ...>
2 01.002500 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=300000000}, NULL) = 0 <0.300150>
2 01.302700 write(5, "pong", 4) = 4 <0.000050>
1 01.302760 <... read resumed>"pong", 9) = 4 <0.300360>
1 01.302800 exit_group(0) = ?
2 01.302900 exit_group(0) = ?
"#, ends: &["1 read: 2 stream inferred", "2 clock_nanosleep: itself"] },
    Case { name: "the path of a socket may be relative", lines: r#"
1 01.000000 execve("./cli", ["./cli"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001000 socket(AF_UNIX, SOCK_STREAM, 0) = 3 <0.000022>
1 01.001100 bind(3, {sa_family=AF_UNIX, sun_path="u.sock"}, 110) = 0 <0.000035>
1 01.001200 listen(3, 5) = 0 <0.000012>
1 01.001300 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000101>
1 01.002000 socket(AF_UNIX, SOCK_STREAM, 0) = 4 <0.000015>
1 01.002100 connect(4, {sa_family=AF_UNIX, sun_path="u.sock"}, 110) = 0 <0.000015>
1 01.002200 recvfrom(4,  <unfinished ...>
2 01.002300 accept(3, NULL, NULL) = 5 <0.000018>
2 01.002400 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=300000000}, NULL) = 0 <0.300129>
2 01.302600 write(5, "pong", 4) = 4 <0.000043>
1 01.302660 <... recvfrom resumed>"pong", 9, 0, NULL, NULL) = 4 <0.300460>
1 01.302800 exit_group(0) = ?
2 01.302900 exit_group(0) = ?
"#, ends: &["1 recvfrom: 2 stream inferred", "2 clock_nanosleep: itself"] },
    Case { name: "a decoration has an abstract name after the numbers of both ends, or of one before the accept", lines: r#"
1 01.001300 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000101>
1 01.002200 recvfrom(3<UNIX-STREAM:[48->52]>,  <unfinished ...>
2 01.302600 write(4<UNIX-STREAM:[52->48,@"u.sock"]>, "pong", 4) = 4 <0.000043>
1 01.302660 <... recvfrom resumed>"pong", 9, 0, NULL, NULL) = 4 <0.300460>
1 01.302700 recvfrom(5<UNIX-STREAM:[58]>,  <unfinished ...>
2 01.602600 write(5<UNIX-STREAM:[62->58,@"u.sock"]>, "pong", 4) = 4 <0.000043>
1 01.602660 <... recvfrom resumed>"pong", 9, 0, NULL, NULL) = 4 <0.300000>
1 01.602800 exit_group(0) = ?
2 01.602900 exit_group(0) = ?
"#, ends: &["1 recvfrom: 2 stream measured", "1 recvfrom: 2 stream measured"] },
    Case { name: "the end of a process closes its connections, and resets them", lines: r#"
1 01.000000 execve("./cli", ["./cli"], 0x7ffd /* 9 vars */) = 0 <0.000500>
1 01.001300 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000091>
1 01.001350 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000091>
2 01.001400 bind(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000016>
1 01.002100 connect(4, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000082>
2 01.002200 accept(3, NULL, NULL) = 5 <0.000019>
1 01.002400 read(4,  <unfinished ...>
2 01.302700 exit_group(0) = ?
1 01.302760 <... read resumed>"", 9) = 0 <0.300360>
2 01.302800 +++ exited with 0 +++
3 01.303000 bind(3, {sa_family=AF_INET, sin_port=htons(81), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000016>
1 01.303100 connect(5, {sa_family=AF_INET, sin_port=htons(81), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000082>
3 01.303200 accept(3, NULL, NULL) = 5 <0.000019>
1 01.303400 read(5,  <unfinished ...>
3 01.603500 kill(3, SIGKILL <unfinished ...>
3 01.603600 +++ killed by SIGKILL +++
1 01.603760 <... read resumed>0x7ffd, 9) = -1 ECONNRESET (Connection reset by peer) <0.300360>
1 01.604000 exit_group(0) = ?
"#, ends: &["1 read: 2 stream inferred", "1 read: 3 stream inferred"] },
    Case { name: "a datagram is sent to the address that the system assigned to a socket, as in its decoration", lines: r#"
1 01.000000 bind(3<UDP:[380165]>, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000021>
1 01.001300 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000145>
1 01.002000 sendto(4<UDP:[380175]>, "q", 1, 0, {sa_family=AF_INET, sin_port=htons(49748), sin_addr=inet_addr("127.0.0.1")}, 16) = 1 <0.000042>
1 01.002100 recvfrom(4<UDP:[0.0.0.0:39441]>,  <unfinished ...>
2 01.002200 recvfrom(3<UDP:[127.0.0.1:49748]>, "q", 9, 0, {sa_family=AF_INET, sin_port=htons(39441), sin_addr=inet_addr("127.0.0.1")}, [16]) = 1 <0.000046>
2 01.302300 sendto(3<UDP:[127.0.0.1:49748]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(39441), sin_addr=inet_addr("127.0.0.1")}, 16) = 1 <0.000100>
1 01.302400 <... recvfrom resumed>"x", 9, 0, NULL, NULL) = 1 <0.300300>
1 01.302500 poll([{fd=5<UDP:[127.0.0.1:55342->127.0.0.1:49748]>, events=POLLIN}], 1, 5000 <unfinished ...>
2 01.602300 sendto(3<UDP:[127.0.0.1:49748]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(55342), sin_addr=inet_addr("127.0.0.1")}, 16) = 1 <0.000100>
1 01.602400 <... poll resumed>) = 1 ([{fd=5, revents=POLLIN}]) <0.299900>
1 01.602500 recvfrom(5<UDP:[127.0.0.1:55342->127.0.0.1:49748]>, "x", 9, 0, NULL, NULL) = 1 <0.000010>
1 01.602600 exit_group(0) = ?
2 01.602700 exit_group(0) = ?
"#, ends: &["1 recvfrom: 2 stream inferred", "1 poll: 2 stream inferred"] },
    Case { name: "a query for the result of a non-blocking connect is not a second connect, and one before the listen was refused", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
1 01.000500 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 3 <0.000010>
1 01.000600 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 EINPROGRESS (Operation now in progress) <0.000052>
2 01.000550 bind(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000016>
2 01.001000 listen(3, 100) = 0 <0.000036>
1 01.002000 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 4 <0.000010>
1 01.002100 connect(4, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 EINPROGRESS (Operation now in progress) <0.000052>
1 01.002200 connect(4, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000012>
2 01.002300 accept(3, NULL, NULL) = 5 <0.000019>
2 01.002400 accept(3,  <unfinished ...>
3 01.302400 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 3 <0.000010>
3 01.302500 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000082>
2 01.302600 <... accept resumed>NULL, NULL) = 6 <0.300200>
3 01.302700 recvfrom(3,  <unfinished ...>
2 01.602700 write(6, "x", 1) = 1 <0.000020>
3 01.602760 <... recvfrom resumed>"x", 9, 0, NULL, NULL) = 1 <0.300060>
3 01.602800 exit_group(0) = ?
1 01.603000 exit_group(0) = ?
"#, ends: &["2 accept: 3 stream inferred", "3 recvfrom: 2 stream inferred"] },
    Case { name: "waits of a ring are not printed, and no later call is taken for them", lines: r#"
1 01.000000 pipe2([3, 4], 0) = 0 <0.000010>
1 01.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
1 01.000500 io_uring_enter(5, 1, 0, 0, NULL, 8) = 1 <0.100139>
1 01.101000 io_uring_enter(5, 0, 1, IORING_ENTER_GETEVENTS, NULL, 8 <unfinished ...>
2 01.402700 write(4, "x", 1) = 1 <0.000020>
1 01.402760 <... io_uring_enter resumed>) = 0 <0.301760>
1 01.403000 read(3, "x", 9) = 1 <0.000010>
1 01.603000 exit_group(0) = ?
2 01.603000 exit_group(0) = ?
"#, ends: &["1 io_uring_enter: itself", "1 io_uring_enter: unknown"] },
    Case { name: "a poll may be repeated before its data is read, or its data is never read", lines: r#"
1 01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
2 01.001000 bind(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000016>
1 01.002000 connect(4, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000012>
2 01.002300 accept(3, NULL, NULL) = 5 <0.000019>
1 01.002500 poll([{fd=4, events=POLLIN}, {fd=9, events=POLLIN}], 2, 1000 <unfinished ...>
2 01.302700 write(5, "x", 1) = 1 <0.000020>
1 01.302760 <... poll resumed>) = 1 ([{fd=4, revents=POLLIN}]) <0.300260>
1 01.302800 poll([{fd=4, events=POLLIN}], 1, 0) = 1 ([{fd=4, revents=POLLIN}]) <0.000010>
1 01.302900 recvfrom(4, "x", 1, 0, NULL, NULL) = 1 <0.000010>
1 01.303000 poll([{fd=4, events=POLLIN}, {fd=9, events=POLLIN}], 2, 1000 <unfinished ...>
2 01.602700 write(5, "x", 1) = 1 <0.000020>
1 01.602760 <... poll resumed>) = 1 ([{fd=4, revents=POLLIN}]) <0.299760>
1 01.603000 exit_group(0) = ?
2 01.603000 exit_group(0) = ?
"#, ends: &["1 poll: 2 stream inferred", "1 poll: 2 stream inferred"] },
    Case { name: "a poll does not wait for the child that its task waits for next, nor for a file", lines: r#"
1 01.000000 pipe2([3, 4], 0) = 0 <0.000010>
1 01.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000244>
1 01.000500 pselect6(8, [3], NULL, NULL, {tv_sec=5, tv_nsec=0}, NULL <unfinished ...>
2 01.302700 write(4, "x", 1) = 1 <0.000020>
1 01.302760 <... pselect6 resumed>) = 1 (in [3], left {tv_sec=4, tv_nsec=699455643}) <0.302260>
1 01.302800 wait4(-1,  <unfinished ...>
2 01.303000 exit_group(0) = ?
2 01.303100 +++ exited with 0 +++
1 01.303200 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.000400>
1 01.304000 clone(child_stack=NULL, flags=SIGCHLD) = 5 <0.000244>
1 01.305000 pselect6(8, [3], NULL, NULL, {tv_sec=5, tv_nsec=0}, NULL <unfinished ...>
5 01.602700 write(4, "x", 1) = 1 <0.000020>
1 01.602760 <... pselect6 resumed>) = 1 (in [3], left {tv_sec=4, tv_nsec=699455643}) <0.297760>
1 01.602800 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 6 <0.000010>
1 01.602900 read(6, "root", 4) = 4 <0.000010>
1 01.603000 exit_group(0) = ?
5 01.603000 exit_group(0) = ?
"#, ends: &["1 pselect6: 2 stream inferred", "1 pselect6: 5 stream inferred"] },
];
