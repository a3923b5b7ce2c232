//! Tables about waiting, computed from strace captures. A case: its name, a table, columns, a capture, its rows.

use detect::tables::by_name;
use kit::testing::rows;
use std::io::Write;

struct Case {
    name: &'static str,
    table: &'static str,
    columns: &'static [&'static str],
    capture: &'static str,
    rows: &'static [&'static str],
}

const SLEEPS: &[&str] = &["syscall", "asked_ns", "calls", "ran_ns", "exclusive_ns"];
const POLLS: &[&str] = &[
    "pid",
    "syscall",
    "target",
    "command",
    "checks",
    "failed",
    "succeeded",
    "interval_ns",
    "exclusive_ns",
];
const RETRIES: &[&str] = &[
    "syscall",
    "target",
    "errno",
    "attempts",
    "failed",
    "succeeded",
    "grows",
    "exclusive_ns",
];
#[rustfmt::skip]
const REQUESTS: &[&str] = &[
    "peer", "port", "round_trips", "response_ns", "sends", "sent_bytes", "received_bytes", "resent", "unanswered",
    "delayed_acks", "exclusive_ns",
];
const TIMEOUTS: &[&str] = &[
    "syscall",
    "requested_ns",
    "waits",
    "expired",
    "gave_up",
    "sent_before",
    "exclusive_ns",
];

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { name: "sleeps with equal requested times are one row, including a select without descriptors",
        table: "sleeps", columns: SLEEPS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.101000>
1 1700000000.300000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.101000>
1 1700000000.500000 select(0, NULL, NULL, NULL, {tv_sec=0, tv_usec=50000}) = 0 (Timeout) <0.050000>
1 1700000000.600000 select(4, [3], NULL, NULL, {tv_sec=0, tv_usec=50000}) = 0 (Timeout) <0.050000>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &["nanosleep 100000000 2 202000000 202000000", "select 50000000 1 50000000 50000000"] },
    Case { name: "an interrupted sleep that resumes is one, and one that a signal ended is a row of its own",
        table: "sleeps", columns: &["syscall", "asked_ns", "calls", "interrupted", "ran_ns"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 nanosleep({tv_sec=5, tv_nsec=0}, {tv_sec=4, tv_nsec=0}) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <1.000000>
1 1700000001.100100 --- SIGWINCH {si_signo=SIGWINCH, si_code=SI_KERNEL} ---
1 1700000001.100200 restart_syscall(<... resuming interrupted nanosleep ...>) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <1.000000>
1 1700000002.100200 --- SIGWINCH {si_signo=SIGWINCH, si_code=SI_KERNEL} ---
1 1700000002.100300 restart_syscall(<... resuming interrupted nanosleep ...>) = 0 <3.000000>
1 1700000005.200000 nanosleep({tv_sec=5, tv_nsec=0}, {tv_sec=4, tv_nsec=0}) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <1.000000>
1 1700000006.300000 exit_group(0) = ?
"#, rows: &["nanosleep 5000000000 1 0 5000000000", "nanosleep 5000000000 1 1 1000000000"] },
    Case { name: "deadlines are durations from the start of the call, as the first one that is reached shows",
        table: "sleeps", columns: SLEEPS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {tv_sec=50, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.300000 clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {tv_sec=51, tv_nsec=200000000}, 0x7f) = ? ERESTARTNOHAND (To be restarted if no handler) <0.010000>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &["clock_nanosleep 100000000 1 100000000 100000000", "clock_nanosleep 1000000000 1 10000000 10000000"] },
    Case { name: "a process that never ends has a rhythm that blocks no other task",
        table: "sleeps", columns: &["calls", "paces"], capture: r#"
1 1700000000.100000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.101000>
1 1700000000.300000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.101000>
1 1700000000.500000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.101000>
1 1700000000.700000 nanosleep({tv_sec=0, tv_nsec=300000000}, NULL) = 0 <0.301000>
1 1700000001.700000 nanosleep({tv_sec=0, tv_nsec=100000000},
"#, rows: &["4 true", "1 false"] },
    Case { name: "two requests without an answer are a wait for the answer",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000000.002000 sendto(3, "x", 28, MSG_NOSIGNAL, NULL, 0) = 28 <0.000010>
1 1700000000.003000 poll([{fd=3, events=POLLIN}], 1, 5000) = 0 (Timeout) <5.000000>
1 1700000005.004000 sendto(3, "x", 28, MSG_NOSIGNAL, NULL, 0) = 28 <0.000010>
1 1700000005.005000 poll([{fd=3, events=POLLIN}], 1, 5000) = 0 (Timeout) <5.000000>
1 1700000010.006000 close(3) = 0 <0.000010>
1 1700000010.007000 exit_group(1) = ?
"#, rows: &["poll 5000000000 2 2 true 10.0.0.2:53 10000000000"] },
    Case { name: "a request at an epoll that is given up is unanswered, and the ticks before and after it are no part of it",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.002000 epoll_create1(EPOLL_CLOEXEC) = 5<anon_inode:[eventpoll]> <0.000010>
1 1700000000.003000 socket(AF_INET, SOCK_DGRAM, IPPROTO_IP) = 6<UDP:[70]> <0.000010>
1 1700000000.004000 bind(6<UDP:[70]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000010>
1 1700000000.005000 epoll_ctl(5<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 6<UDP:[127.0.0.1:53]>, {events=EPOLLIN, data={u32=6, u64=6}}) = 0 <0.000010>
1 1700000000.006000 epoll_wait(5<anon_inode:[eventpoll]>, [], 64, 500) = 0 <0.500000>
1 1700000000.507000 recvmsg(6<UDP:[127.0.0.1:53]>, {msg_name={sa_family=AF_INET, sin_port=htons(4711), sin_addr=inet_addr("127.0.0.1")}, msg_namelen=16, msg_iov=[{iov_base="q", iov_len=512}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, 0) = 30 <0.000010>
1 1700000000.508000 socket(AF_INET, SOCK_DGRAM, IPPROTO_IP) = 7<UDP:[71]> <0.000010>
1 1700000000.509000 bind(7<UDP:[71]>, {sa_family=AF_INET, sin_port=htons(6752), sin_addr=inet_addr("0.0.0.0")}, 16) = 0 <0.000010>
1 1700000000.510000 connect(7<UDP:[0.0.0.0:6752]>, {sa_family=AF_INET, sin_port=htons(5302), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000000.511000 epoll_ctl(5<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 7<UDP:[0.0.0.0:6752]>, {events=EPOLLIN, data={u32=7, u64=7}}) = 0 <0.000010>
1 1700000000.512000 sendto(7<UDP:[0.0.0.0:6752]>, "q", 43, 0, NULL, 0) = 43 <0.000010>
1 1700000000.513000 epoll_wait(5<anon_inode:[eventpoll]>, [], 64, 500) = 0 <0.500000>
1 1700000001.014000 epoll_wait(5<anon_inode:[eventpoll]>, [], 64, 500) = 0 <0.500000>
1 1700000001.515000 epoll_ctl(5<anon_inode:[eventpoll]>, EPOLL_CTL_DEL, 7<UDP:[0.0.0.0:6752]>, 0x55b1) = 0 <0.000010>
1 1700000001.516000 close(7<UDP:[0.0.0.0:6752]>) = 0 <0.000010>
1 1700000001.517000 epoll_wait(5<anon_inode:[eventpoll]>, [], 64, 500) = 0 <0.500000>
1 1700000002.018000 exit_group(0) = ?
"#, rows: &["epoll_wait 500000000 4 2 true - 1000000000", "epoll_wait 500000000 4 2 true 10.0.0.2:5302 1000000000"] },
    Case { name: "an alarm is the limit of a receive after a datagram to an address",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.508000 socket(AF_INET, SOCK_DGRAM, IPPROTO_IP) = 3 <0.000010>
1 1700000000.509000 bind(3, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("0.0.0.0")}, 16) = 0 <0.000010>
1 1700000000.510000 sendto(3, "q", 18, 0, {sa_family=AF_INET, sin_port=htons(69), sin_addr=inet_addr("10.0.0.2")}, 16) = 18 <0.000010>
1 1700000000.511000 alarm(1) = 0 <0.000010>
1 1700000000.512000 recvfrom(3, 0x55, 516, 0, 0x7f, [28]) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.999000>
1 1700000001.511000 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
1 1700000001.512000 rt_sigprocmask(SIG_SETMASK, [], NULL, 8) = 0 <0.000010>
1 1700000001.518000 exit_group(0) = ?
"#, rows: &["recvfrom 999000000 1 1 true 10.0.0.2:69 999000000"] },
    Case { name: "a message to a collector that an epoll does not watch is no request",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.002000 epoll_create1(EPOLL_CLOEXEC) = 5<anon_inode:[eventpoll]> <0.000010>
1 1700000000.003000 epoll_ctl(5<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 4<pipe:[9]>, {events=EPOLLIN, data={u32=4, u64=4}}) = 0 <0.000010>
1 1700000000.508000 socket(AF_INET, SOCK_DGRAM, IPPROTO_IP) = 7<UDP:[71]> <0.000010>
1 1700000000.510000 connect(7<UDP:[71]>, {sa_family=AF_INET, sin_port=htons(8125), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000000.512000 sendto(7<UDP:[0.0.0.0:6752]>, "a:1|c", 43, 0, NULL, 0) = 43 <0.000010>
1 1700000000.513000 epoll_wait(5<anon_inode:[eventpoll]>, [], 64, 500) = 0 <0.500000>
1 1700000001.014000 epoll_wait(5<anon_inode:[eventpoll]>, [], 64, 500) = 0 <0.500000>
1 1700000001.516000 close(7<UDP:[0.0.0.0:6752]>) = 0 <0.000010>
1 1700000002.018000 exit_group(0) = ?
"#, rows: &["epoll_wait 500000000 2 2 true - 1000000000"] },
    Case { name: "an answer clears a connect that is printed with another name of the peer",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 connect(3<TCP:[7]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000000.002000 sendto(3<TCP:[10.0.0.1:9->10.0.0.2:80]>, "x", 28, MSG_NOSIGNAL, NULL, 0) = 28 <0.000010>
1 1700000000.003000 recvfrom(3<TCP:[10.0.0.1:9->10.0.0.2:80]>, "y", 28, 0, NULL, NULL) = 28 <0.000010>
1 1700000000.004000 pselect6(6, [3<TCP:[10.0.0.1:9->10.0.0.2:80]> 5</run/a>], [], NULL, {tv_sec=1, tv_nsec=0}, NULL) = 0 (Timeout) <1.000000>
1 1700000001.005000 pselect6(6, [3<TCP:[10.0.0.1:9->10.0.0.2:80]> 5</run/a>], [], NULL, {tv_sec=1, tv_nsec=0}, NULL) = 1 (in [3]) <0.200000>
1 1700000002.000000 exit_group(0) = ?
"#, rows: &["pselect6 1000000000 2 1 false - 1000000000"] },
    Case { name: "an answer clears the pending requests, and an event loop never gives up",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000000.002000 sendto(3, "x", 28, MSG_NOSIGNAL, NULL, 0) = 28 <0.000010>
1 1700000000.003000 recvfrom(3, "y", 28, 0, NULL, NULL) = 28 <0.000010>
1 1700000001.000000 poll([{fd=3, events=POLLIN}], 1, 1000) = 0 (Timeout) <1.000000>
1 1700000002.000000 poll([{fd=3, events=POLLIN}], 1, 1000) = 0 (Timeout) <1.000000>
1 1700000003.000000 poll([{fd=3, events=POLLIN}], 1, 1000) = 1 ([{fd=3, revents=POLLIN}]) <0.100000>
1 1700000004.000000 exit_group(0) = ?
"#, rows: &["poll 1000000000 3 2 false - 2000000000"] },
    Case { name: "a server that answered and receives nothing more is not unanswered",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 accept(3, {sa_family=AF_INET, sin_port=htons(4000), sin_addr=inet_addr("10.0.0.9")}, [16]) = 4 <0.000010>
1 1700000000.002000 write(4, "hello", 5) = 5 <0.000010>
1 1700000000.003000 poll([{fd=4, events=POLLIN}], 1, 1000) = 0 (Timeout) <1.000000>
1 1700000002.000000 close(4) = 0 <0.000010>
1 1700000004.000000 exit_group(0) = ?
"#, rows: &["poll 1000000000 1 1 true - 1000000000"] },
    Case { name: "a task that works after an expired wait continued; a task that waits again until an event did not",
        table: "timeouts", columns: &["syscall", "target", "expired", "went_on", "paces"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.003000 poll([{fd=4</run/a>, events=POLLIN}], 1, 100) = 0 (Timeout) <0.100000>
1 1700000000.200000 stat("/tmp", {st_mode=S_IFDIR|0755, st_size=9, ...}) = 0 <0.000010>
1 1700000000.210000 poll([{fd=4</run/a>, events=POLLIN}], 1, 100) = 0 (Timeout) <0.100000>
1 1700000000.310100 poll([{fd=4</run/a>, events=POLLIN}], 1, 0) = 0 (Timeout) <0.000010>
1 1700000000.311000 poll([{fd=4</run/a>, events=POLLIN}], 1, 100) = 0 (Timeout) <0.100000>
1 1700000000.412000 poll([{fd=4</run/a>, events=POLLIN}], 1, 100) = 1 ([{fd=4, revents=POLLIN}]) <0.050000>
1 1700000000.470000 poll([{fd=4</run/a>, events=POLLIN}], 1, 100) = 0 (Timeout) <0.100000>
1 1700000004.000000 exit_group(0) = ?
1 1700000004.000100 +++ exited with 0 +++
"#, rows: &["poll /run/a 2 true false", "poll /run/a 2 false false"] },
    Case { name: "a thread that wakes another one after its timer went on",
        table: "timeouts", columns: &["syscall", "expired", "went_on"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.002000 futex(0x7f00a0, FUTEX_WAIT_PRIVATE, 0, {tv_sec=0, tv_nsec=300000000}) = -1 ETIMEDOUT (Connection timed out) <0.300100>
1 1700000000.303000 futex(0x7f00b0, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>
1 1700000000.303100 futex(0x7f00a0, FUTEX_WAIT_PRIVATE, 0, {tv_sec=0, tv_nsec=300000000}) = -1 ETIMEDOUT (Connection timed out) <0.300100>
1 1700000000.604000 futex(0x7f00a0, FUTEX_WAIT_PRIVATE, 0, NULL) = 0 <0.010000>
1 1700000001.000000 exit_group(0) = ?
1 1700000001.000100 +++ exited with 0 +++
"#, rows: &["futex 1 true", "futex 1 false"] },
    Case { name: "an answer after a time-out was waited for in steps",
        table: "timeouts", columns: &["syscall", "sent_before", "answered"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000000.002000 sendto(3, "x", 28, MSG_NOSIGNAL, NULL, 0) = 28 <0.000010>
1 1700000000.003000 poll([{fd=3, events=POLLIN}], 1, 200) = 0 (Timeout) <0.200000>
1 1700000000.203100 poll([{fd=3, events=POLLIN}], 1, 1000) = 1 ([{fd=3, revents=POLLIN}]) <0.700000>
1 1700000000.904000 recvfrom(3, "y", 28, 0, NULL, NULL) = 28 <0.000010>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &["poll 10.0.0.2:80 true"] },
    Case { name: "three expired waits are the rhythm of a process that does not end",
        table: "timeouts", columns: &["syscall", "expired", "went_on", "paces"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.003000 poll([{fd=4</run/a>, events=POLLIN}], 1, 100) = 0 (Timeout) <0.100000>
1 1700000000.210000 poll([{fd=4</run/a>, events=POLLIN}], 1, 100) = 0 (Timeout) <0.100000>
1 1700000000.411000 poll([{fd=4</run/a>, events=POLLIN}], 1, 100) = 0 (Timeout) <0.100000>
1 1700000000.600000 stat("/tmp", {st_mode=S_IFDIR|0755, st_size=9, ...}) = 0 <0.000010>
"#, rows: &["poll 3 true true"] },
    Case { name: "an alarm that ends a wait for a signal is a timeout, a non-blocking check is not",
        table: "timeouts", columns: TIMEOUTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.002000 poll([{fd=4, events=POLLIN}], 1, 0) = 0 (Timeout) <0.000010>
1 1700000000.003000 rt_sigsuspend([], 8) = ? ERESTARTNOHAND (To be restarted if no handler) <1.000000>
1 1700000001.003100 --- SIGALRM {si_signo=SIGALRM, si_code=SI_TIMER, si_timerid=0, si_overrun=0, si_int=0, si_ptr=NULL} ---
1 1700000004.000000 exit_group(0) = ?
"#, rows: &["rt_sigsuspend - 1 1 true - 1000000000"] },
    Case { name: "expired waits have the class of the awaited object; a semaphore is a lock",
        table: "timeouts", columns: &["syscall", "awaited"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.002000 futex(0x7f00a0, FUTEX_WAIT_PRIVATE, 0, {tv_sec=0, tv_nsec=300000000}) = -1 ETIMEDOUT (Connection timed out) <0.300100>
1 1700000000.400000 semtimedop(7, [{sem_num=0, sem_op=-1, sem_flg=0}], 1, {tv_sec=0, tv_nsec=300000000}) = -1 EAGAIN (Resource temporarily unavailable) <0.300100>
1 1700000000.800000 poll([{fd=4, events=POLLIN}], 1, 100) = 0 (Timeout) <0.100000>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &["futex lock", "semtimedop lock", "poll any"] },
    Case { name: "an alarm that ends a wait for a child is a timeout if the task does not wait for it again",
        table: "timeouts", columns: &["pid", "syscall", "awaited", "expired", "gave_up"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.002000 wait4(7, 0x7f00, 0, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.990000>
1 1700000000.992100 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
1 1700000000.992200 rt_sigreturn({mask=[]}) = 61 <0.000010>
1 1700000000.992300 wait4(7, 0x7f00, 0, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.990000>
1 1700000001.982400 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
1 1700000001.982500 rt_sigreturn({mask=[]}) = 61 <0.000010>
1 1700000001.982600 wait4(7, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 7 <0.300000>
2 1700000000.002000 wait4(8, 0x7f00, 0, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.990000>
2 1700000000.992100 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
2 1700000000.992200 kill(8, SIGKILL) = 0 <0.000010>
1 1700000003.000000 exit_group(0) = ?
"#, rows: &["1 wait4 child 2 false", "2 wait4 child 1 true"] },
    Case { name: "a file is polled until it exists",
        table: "polls", columns: POLLS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 stat("/run/x.pid", 0x7ffd) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.200000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.300000 stat("/run/x.pid", 0x7ffd) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.400000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.500000 stat("/run/x.pid", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0 <0.000010>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &["1 stat /run/x.pid - 3 2 true 200000000 200030000"] },
    Case { name: "a name that is found in the next directory each time was searched, not polled for",
        table: "polls", columns: POLLS, capture: r#"
1 1700000000.000000 execve("/usr/bin/make", ["make"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 stat("/usr/sbin/cc", 0x7ffd) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.100100 stat("/usr/bin/cc", {st_mode=S_IFREG|0755, st_size=9, ...}) = 0 <0.000010>
1 1700000000.200000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.300000 stat("/usr/sbin/cc", 0x7ffd) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.301000 vfork() = 2 <0.000500>
2 1700000000.301100 execve("/usr/sbin/cc", ["cc"], 0x7f /* 1 var */) = -1 ENOENT (No such file or directory) <0.000010>
2 1700000000.301200 execve("/usr/bin/cc", ["cc"], 0x7f /* 1 var */) = 0 <0.000100>
2 1700000000.302000 exit_group(0) = ?
2 1700000000.302100 +++ exited with 0 +++
1 1700000001.000000 exit_group(0) = ?
"#, rows: &[] },
    Case { name: "a shell checks for a process, sleeps in a child, and ends when the process has exited",
        table: "polls", columns: POLLS, capture: r#"
1 1700000000.000000 execve("/bin/sh", ["sh"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 kill(7, 0) = 0 <0.000010>
1 1700000000.110000 vfork() = 2 <0.001000>
2 1700000000.112000 execve("/bin/sleep", ["sleep", "1"], 0x7f /* 1 var */) = 0 <0.001000>
2 1700000000.120000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>
2 1700000001.121000 exit_group(0) = ?
2 1700000001.122000 +++ exited with 0 +++
1 1700000000.120000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <1.003000>
1 1700000001.124000 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
1 1700000001.125000 wait4(-1, 0x7f, WNOHANG, NULL) = -1 ECHILD (No child processes) <0.000010>
1 1700000001.126000 kill(7, 0) = -1 ESRCH (No such process) <0.000010>
1 1700000002.000000 exit_group(0) = ?
"#, rows: &["1 kill 7 - 2 1 true 1026000000 1001020000"] },
    Case { name: "a child that sleeps beside the checks and makes the file does not interrupt them",
        table: "polls", columns: POLLS, capture: r#"
1 1700000000.000000 execve("/bin/poller", ["poller"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.090000 access("/run/done", F_OK) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.100000 vfork() = 2 <0.001000>
2 1700000000.101000 execve("/bin/maker", ["maker"], 0x7f /* 1 var */) = 0 <0.000100>
2 1700000000.102000 nanosleep({tv_sec=0, tv_nsec=600000000}, NULL) = 0 <0.600000>
1 1700000000.110000 access("/run/done", F_OK) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.111000 nanosleep({tv_sec=0, tv_nsec=500000000}, NULL) = 0 <0.500000>
1 1700000000.612000 access("/run/done", F_OK) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.613000 nanosleep({tv_sec=0, tv_nsec=500000000}, NULL) = 0 <0.500000>
2 1700000000.703000 creat("/run/done", 0666) = 3 <0.000010>
2 1700000000.704000 exit_group(0) = ?
2 1700000000.704100 +++ exited with 0 +++
1 1700000001.114000 access("/run/done", F_OK) = 0 <0.000010>
1 1700000001.115000 wait4(2, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.000010>
1 1700000001.116000 exit_group(0) = ?
"#, rows: &["1 access /run/done - 3 2 true 502000000 411000000"] },
    Case { name: "a command is run until it succeeds",
        table: "polls", columns: POLLS, capture: r#"
1 1700000000.000000 execve("/bin/sh", ["sh"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 vfork() = 2 <0.001000>
2 1700000000.102000 execve("/bin/check", ["check", "it"], 0x7f /* 1 var */) = 0 <0.001000>
2 1700000000.120000 exit_group(1) = ?
2 1700000000.121000 +++ exited with 1 +++
1 1700000000.110000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 1}], 0, NULL) = 2 <0.012000>
1 1700000000.200000 vfork() = 3 <0.001000>
3 1700000000.202000 execve("/bin/sleep", ["sleep", "1"], 0x7f /* 1 var */) = 0 <0.001000>
3 1700000000.210000 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>
3 1700000001.211000 exit_group(0) = ?
3 1700000001.212000 +++ exited with 0 +++
1 1700000000.203000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 3 <1.010000>
1 1700000001.300000 vfork() = 4 <0.001000>
4 1700000001.302000 execve("/bin/check", ["check", "it"], 0x7f /* 1 var */) = 0 <0.001000>
4 1700000001.320000 exit_group(0) = ?
4 1700000001.321000 +++ exited with 0 +++
1 1700000001.303000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 4 <0.019000>
1 1700000001.400000 exit_group(0) = ?
"#, rows: &["1 - - check it 2 1 true 1200000000 1003000000"] },
    Case { name: "checks for ended children or events that see a sleeping child end have no pause between them",
        table: "polls", columns: POLLS, capture: r#"
1 1700000000.000000 execve("/usr/bin/make", ["make"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 wait4(-1, 0x7ffd, WNOHANG, NULL) = 0 <0.000010>
1 1700000000.110000 epoll_wait(3<anon_inode:[eventpoll]>, [], 1, 0) = 0 <0.000010>
1 1700000000.120000 vfork() = 2 <0.001000>
2 1700000000.122000 execve("/bin/sleep", ["sleep", "1"], 0x7f /* 1 var */) = 0 <0.001000>
2 1700000000.130000 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>
1 1700000000.140000 epoll_wait(3<anon_inode:[eventpoll]>, [{events=EPOLLIN, data={u32=4, u64=4}}], 1, -1) = 1 <1.000000>
2 1700000001.141000 exit_group(0) = ?
2 1700000001.142000 +++ exited with 0 +++
1 1700000001.200000 epoll_wait(3<anon_inode:[eventpoll]>, [], 1, 0) = 0 <0.000010>
1 1700000001.220000 wait4(-1, 0x7ffd, WNOHANG, NULL) = 0 <0.000010>
1 1700000001.300000 exit_group(0) = ?
"#, rows: &[] },
    Case { name: "checks without a pause are a spin, from the first check to the last",
        table: "polls", columns: &["syscall", "target", "checks", "failed", "succeeded", "spinning", "exclusive_ns"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 read(3<pipe:[7]>, 0x7ffd, 100) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
1 1700000000.200000 getpid() = 1 <0.000010>
1 1700000000.300000 read(3<pipe:[7]>, 0x7ffd, 100) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
1 1700000000.400000 read(3<pipe:[7]>, 0x7ffd, 100) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
1 1700000000.500000 read(3<pipe:[7]>, "x", 100) = 1 <0.000010>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &["read pipe:[7] 4 3 true true 400010000"] },
    Case { name: "an event loop that reads until nothing is left does not spin",
        table: "polls", columns: POLLS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 epoll_wait(4, [{events=EPOLLIN, data={u32=3, u64=3}}], 8, -1) = 1 <0.000010>
1 1700000000.200000 read(3<pipe:[7]>, 0x7ffd, 100) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
1 1700000000.300000 epoll_wait(4, [{events=EPOLLIN, data={u32=3, u64=3}}], 8, -1) = 1 <0.000010>
1 1700000000.400000 read(3<pipe:[7]>, 0x7ffd, 100) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
1 1700000000.500000 epoll_wait(4, [{events=EPOLLIN, data={u32=3, u64=3}}], 8, -1) = 1 <0.000010>
1 1700000000.600000 read(3<pipe:[7]>, 0x7ffd, 100) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &[] },
    Case { name: "a wait that finds no child does not block: the pause is the sleep",
        table: "sleeps", columns: &["pid", "exclusive_ns"], capture: r#"
1 1700000000.000000 execve("/bin/sh", ["sh"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 vfork() = 3 <0.001000>
3 1700000000.001500 execve("/bin/daemon", ["daemon"], 0x7f /* 1 var */) = 0 <0.000500>
3 1700000000.003000 pause() = ? <unfinished ...>
1 1700000000.010000 vfork() = 2 <0.001000>
2 1700000000.010500 execve("/bin/sleep", ["sleep", "1"], 0x7f /* 1 var */) = 0 <0.000500>
1 1700000000.012000 wait4(-1,  <unfinished ...>
2 1700000000.013000 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>
2 1700000001.014000 exit_group(0) = ?
2 1700000001.015000 +++ exited with 0 +++
1 1700000001.016000 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <1.004000>
1 1700000001.016100 wait4(-1, 0x7f, WNOHANG, NULL) = 0 <0.000010>
1 1700000001.016200 kill(3, SIGKILL) = 0 <0.000010>
3 1700000001.016300 <... pause resumed>) = ?
1 1700000001.016400 wait4(-1, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}], 0, NULL) = 3 <0.000200>
3 1700000001.016500 +++ killed by SIGKILL +++
1 1700000001.017000 exit_group(0) = ?
"#, rows: &["2 1000000000"] },
    Case { name: "work between pauses without repetition is not a poll",
        table: "polls", columns: POLLS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 stat("/a", 0x7ffd) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.200000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.300000 stat("/b", 0x7ffd) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.400000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.500000 write(1, "x", 1) = 1 <0.000010>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &[] },
    Case { name: "an event loop that checks a file in each iteration is idle",
        table: "polls", columns: POLLS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 stat("/etc/resolv.conf", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0 <0.000010>
1 1700000000.200000 poll([{fd=3, events=POLLIN}], 1, 100) = 0 (Timeout) <0.100000>
1 1700000000.300000 stat("/etc/resolv.conf", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0 <0.000010>
1 1700000000.400000 poll([{fd=3, events=POLLIN}], 1, 100) = 0 (Timeout) <0.100000>
1 1700000000.500000 stat("/etc/resolv.conf", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0 <0.000010>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &[] },
    Case { name: "a connection is retried with growing pauses until it succeeds",
        table: "retries", columns: RETRIES, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 ECONNREFUSED (Connection refused) <0.000010>
1 1700000000.200000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.300000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 ECONNREFUSED (Connection refused) <0.000010>
1 1700000000.400000 nanosleep({tv_sec=0, tv_nsec=200000000}, NULL) = 0 <0.200000>
1 1700000000.700000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000010>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &["connect 127.0.0.1:80 ECONNREFUSED 3 2 true true 300030000"] },
    Case { name: "calls that fail before and after the work of a child are not retries after a pause",
        table: "retries", columns: RETRIES, capture: r#"
1 1700000000.000000 execve("/usr/bin/sudo", ["sudo"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 connect(3, {sa_family=AF_UNIX, sun_path="/dev/log"}, 110) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.120000 vfork() = 2 <0.001000>
2 1700000000.122000 execve("/bin/sleep", ["sleep", "1"], 0x7f /* 1 var */) = 0 <0.001000>
2 1700000000.130000 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>
1 1700000000.140000 ppoll([{fd=4, events=POLLIN}], 1, NULL, NULL, 8) = 1 ([{fd=4, revents=POLLIN}]) <1.002000>
2 1700000001.141000 exit_group(0) = ?
2 1700000001.142000 +++ exited with 0 +++
1 1700000001.143000 wait4(2, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], WNOHANG, NULL) = 2 <0.000010>
1 1700000001.220000 connect(3, {sa_family=AF_UNIX, sun_path="/dev/log"}, 110) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000001.300000 exit_group(0) = ?
"#, rows: &[] },
    Case { name: "a lock is retried until the task gives up",
        table: "retries", columns: RETRIES, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.100000 flock(3</run/lock>, LOCK_EX|LOCK_NB) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
1 1700000000.200000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.300000 flock(3</run/lock>, LOCK_EX|LOCK_NB) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
1 1700000001.000000 exit_group(1) = ?
"#, rows: &["flock /run/lock EAGAIN 2 2 false false 100020000"] },
    Case { name: "sleeps in a row are one pause of a retry",
        table: "retries", columns: &["target", "errno", "attempts", "asked_ns", "pause_ns"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = -1 ECONNREFUSED (Connection refused) <0.000010>
1 1700000000.002000 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>
1 1700000001.003000 nanosleep({tv_sec=0, tv_nsec=1000}, NULL) = 0 <0.000100>
1 1700000001.004000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = -1 ECONNREFUSED (Connection refused) <0.000010>
1 1700000001.005000 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>
1 1700000002.006000 nanosleep({tv_sec=0, tv_nsec=1000}, NULL) = 0 <0.000100>
1 1700000002.007000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000002.008000 exit_group(0) = ?
"#, rows: &["10.0.0.2:80 ECONNREFUSED 3 1000001000 2000200000"] },
    Case { name: "metadata identifies a fifo",
        table: "outliers", columns: &["syscall", "target", "class"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3</etc/x> <0.000010>
1 1700000000.002000 read(3</etc/x>, "x", 4096) = 1 <0.000010>
1 1700000000.003000 read(3</etc/x>, "x", 4096) = 1 <0.000010>
1 1700000000.004000 fstat(0</tmp/input>, {st_mode=S_IFIFO|0644, st_size=0, ...}) = 0 <0.000010>
1 1700000000.005000 read(0</tmp/input>, "x", 4096) = 1 <0.900000>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &["read /tmp/input ipc"] },
    Case { name: "the program that computes works on the file of its command line that it reads",
        table: "cpu", columns: &["program", "target"], capture: r#"
1 1700000000.000000 execve("/bin/cc1", ["cc1", "-quiet", "./a.c", "-o", "/tmp/a.s"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.002000 openat(AT_FDCWD, "/usr/lib/libz.so", O_RDONLY) = 3 <0.000010>
1 1700000000.003000 openat(AT_FDCWD, "/tmp/a.s", O_WRONLY|O_CREAT, 0666) = 4 <0.000010>
1 1700000000.004000 openat(AT_FDCWD, "a.c", O_RDONLY) = 5 <0.000010>
1 1700000001.000000 exit_group(0) = ?
"#, rows: &["/bin/cc1 a.c"] },
    Case { name: "threads that sleep with one lock do so by turns",
        table: "sleeps", columns: &["tid", "calls", "turns"], capture: r#"
100 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
100 1700000000.002000 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM}, 88) = 101 <0.000100>
100 1700000000.003000 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM}, 88) = 102 <0.000100>
100 1700000000.004000 futex(0x7f0990, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 102, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
101 1700000000.005000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=300000000},  <unfinished ...>
102 1700000000.005100 futex(0x10b18, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
101 1700000000.305100 <... clock_nanosleep resumed>NULL) = 0 <0.300100>
101 1700000000.305200 futex(0x10b18, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000015>
102 1700000000.305300 <... futex resumed>) = 0 <0.300200>
101 1700000000.305400 exit(0) = ?
101 1700000000.305500 +++ exited with 0 +++
102 1700000000.305600 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=300000000}, NULL) = 0 <0.300100>
102 1700000000.605800 futex(0x10b18, FUTEX_WAKE_PRIVATE, 1) = 0 <0.000015>
102 1700000000.605900 exit(0) = ?
102 1700000000.606000 +++ exited with 0 +++
100 1700000000.606100 <... futex resumed>) = 0 <0.602100>
100 1700000000.607000 exit_group(0) = ?
"#, rows: &["101 1 -", "102 1 1"] },
    Case { name: "a worker that gets its work from a thread that goes on to sleep does not wait for a lock",
        table: "sleeps", columns: &["tid", "calls", "turns"], capture: r#"
100 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
100 1700000000.002000 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM}, 88) = 101 <0.000100>
101 1700000000.003000 futex(0x10b18, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
100 1700000000.005000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=300000000}, NULL) = 0 <0.300100>
100 1700000000.305200 futex(0x10b18, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000015>
101 1700000000.305300 <... futex resumed>) = 0 <0.302200>
100 1700000000.305400 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=300000000},  <unfinished ...>
101 1700000000.305600 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=200000000}, NULL) = 0 <0.200100>
101 1700000000.505800 futex(0x10b18, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
100 1700000000.605600 <... clock_nanosleep resumed>NULL) = 0 <0.300100>
100 1700000000.607000 exit_group(0) = ?
"#, rows: &["100 2 -", "101 1 -"] },
    Case { name: "a process that is killed after a signal and a sleep ignored the signal; a sleep for an exited process is wasted",
        table: "kills", columns: &["pid", "signal", "target", "victim", "survivors", "gone_ns", "slept_ns", "needless_ns", "then_killed", "exclusive_ns"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.010000 fork() = 2 <0.001000>
1 1700000000.020000 fork() = 3 <0.001000>
2 1700000000.030000 execve("/bin/deaf", ["deaf"], 0x7f /* 1 var */) = 0 <0.001000>
3 1700000000.030000 execve("/bin/quick", ["quick"], 0x7f /* 1 var */) = 0 <0.001000>
2 1700000000.040000 pause( <unfinished ...>
3 1700000000.040000 pause( <unfinished ...>
1 1700000001.000000 kill(3, SIGTERM) = 0 <0.000010>
3 1700000001.100000 <... pause resumed>) = ?
3 1700000001.200000 +++ killed by SIGTERM +++
1 1700000001.100000 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>
1 1700000003.000000 kill(2, SIGTERM) = 0 <0.000010>
1 1700000003.100000 nanosleep({tv_sec=2, tv_nsec=0}, NULL) = 0 <2.000000>
1 1700000006.000000 kill(2, SIGKILL) = 0 <0.000010>
2 1700000006.000100 <... pause resumed>) = ?
2 1700000006.000200 +++ killed by SIGKILL +++
1 1700000007.000000 exit_group(0) = ?
"#, rows: &["1 SIGTERM 3 /bin/quick 0 200000000 1000000000 900000000 false 1000000000",
            "1 SIGTERM 2 /bin/deaf 1 - 2000000000 0 true 2000000000"] },
    Case { name: "a script that ignores the signal sleeps in processes of its own",
        table: "kills", columns: &["pid", "victim", "then_killed", "exclusive_ns"], capture: r#"
100 1700000010.000000 execve("/bin/keep", ["keep"], 0x7ffd /* 1 var */) = 0 <0.001000>
100 1700000010.002000 fork() = 200 <0.001000>
200 1700000010.003500 execve("/srv/web.sh", ["/srv/web.sh"], 0x7f /* 1 var */) = 0 <0.001000>
200 1700000010.005000 rt_sigaction(SIGTERM, {sa_handler=SIG_IGN, sa_mask=[], sa_flags=0}, NULL, 8) = 0 <0.000010>
200 1700000010.006000 fork() = 201 <0.001000>
201 1700000010.007200 execve("/bin/sleep", ["sleep", "0.6"], 0x7f /* 1 var */) = 0 <0.001000>
201 1700000010.009000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=600000000}, NULL <unfinished ...>
200 1700000010.009100 wait4(-1,  <unfinished ...>
100 1700000010.020000 kill(200, SIGTERM) = 0 <0.000010>
100 1700000010.021000 wait4(-1, 0x7ffd, WNOHANG, NULL) = 0 <0.000010>
100 1700000010.021100 ppoll([{fd=3<anon_inode:[eventfd]>, events=POLLIN}], 1, {tv_sec=0, tv_nsec=300000000}, NULL, 8) = 0 (Timeout) <0.300000>
100 1700000010.322000 wait4(-1, 0x7ffd, WNOHANG, NULL) = 0 <0.000010>
100 1700000010.322100 ppoll([{fd=3<anon_inode:[eventfd]>, events=POLLIN}], 1, {tv_sec=0, tv_nsec=300000000}, NULL, 8) = 0 (Timeout) <0.300000>
201 1700000010.609000 <... clock_nanosleep resumed>) = 0 <0.600000>
201 1700000010.609500 exit_group(0) = ?
201 1700000010.610000 +++ exited with 0 +++
200 1700000010.610500 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 201 <0.601000>
200 1700000010.612000 fork() = 202 <0.001000>
202 1700000010.613200 execve("/bin/sleep", ["sleep", "0.6"], 0x7f /* 1 var */) = 0 <0.001000>
202 1700000010.615000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=600000000}, NULL <unfinished ...>
200 1700000010.615100 wait4(-1,  <unfinished ...>
100 1700000010.623000 wait4(-1, 0x7ffd, WNOHANG, NULL) = 0 <0.000010>
100 1700000010.623100 ppoll([{fd=3<anon_inode:[eventfd]>, events=POLLIN}], 1, {tv_sec=0, tv_nsec=300000000}, NULL, 8) = 0 (Timeout) <0.300000>
100 1700000010.924000 wait4(-1, 0x7ffd, WNOHANG, NULL) = 0 <0.000010>
100 1700000010.924100 ppoll([{fd=3<anon_inode:[eventfd]>, events=POLLIN}], 1, {tv_sec=0, tv_nsec=300000000}, NULL, 8) = 0 (Timeout) <0.300000>
202 1700000011.215000 <... clock_nanosleep resumed>) = 0 <0.600000>
202 1700000011.215500 exit_group(0) = ?
202 1700000011.216000 +++ exited with 0 +++
200 1700000011.216500 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 202 <0.601000>
200 1700000011.218000 fork() = 203 <0.001000>
203 1700000011.219200 execve("/bin/sleep", ["sleep", "0.6"], 0x7f /* 1 var */) = 0 <0.001000>
203 1700000011.221000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=600000000}, NULL <unfinished ...>
200 1700000011.221100 wait4(-1,  <unfinished ...>
100 1700000011.225000 wait4(-1, 0x7ffd, WNOHANG, NULL) = 0 <0.000010>
100 1700000011.225100 ppoll([{fd=3<anon_inode:[eventfd]>, events=POLLIN}], 1, {tv_sec=0, tv_nsec=300000000}, NULL, 8) = 0 (Timeout) <0.300000>
100 1700000011.530000 kill(200, SIGKILL) = 0 <0.000010>
100 1700000011.530100 wait4(200,  <unfinished ...>
200 1700000011.530200 <... wait4 resumed> <unfinished ...>) = ?
200 1700000011.530300 +++ killed by SIGKILL +++
100 1700000011.530400 <... wait4 resumed>[{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}], 0, NULL) = 200 <0.000200>
100 1700000011.533000 exit_group(0) = ?
100 1700000011.534000 +++ exited with 0 +++
"#, rows: &["100 /srv/web.sh true 1491200000"] },
    Case { name: "checks whether a process has exited are a poll",
        table: "kills", columns: &["pid", "signal"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000001.000000 kill(3, SIGTERM) = 0 <0.000010>
1 1700000001.010000 kill(3, 0) = 0 <0.000010>
1 1700000001.100000 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0 <1.000000>
1 1700000003.000000 kill(3, 0) = -1 ESRCH (No such process) <0.000010>
1 1700000007.000000 exit_group(0) = ?
"#, rows: &[] },
    Case { name: "waitid checks that show no ended child are charged with the pauses between them",
        table: "sleeps", columns: &["tid", "asked_ns", "calls", "exclusive_ns"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.020000 fork() = 3 <0.001000>
3 1700000000.021000 nanosleep({tv_sec=0, tv_nsec=380000000}, NULL) = 0 <0.380000>
1 1700000000.100000 waitid(P_PID, 3, {}, WNOHANG|WEXITED, NULL) = 0 <0.000010>
1 1700000000.110000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.220000 waitid(P_PID, 3, {}, WNOHANG|WEXITED, NULL) = 0 <0.000010>
1 1700000000.230000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.340000 waitid(P_PID, 3, {}, WNOHANG|WEXITED, NULL) = 0 <0.000010>
1 1700000000.350000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
3 1700000000.402000 exit_group(0) = ?
3 1700000000.403000 +++ exited with 0 +++
1 1700000000.460000 waitid(P_PID, 3, {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=3, si_uid=0, si_status=0, si_utime=0, si_stime=0}, WNOHANG|WEXITED, NULL) = 0 <0.000010>
1 1700000000.470000 exit_group(0) = ?
"#, rows: &["1 100000000 3 0", "3 380000000 1 301000000"] },
    Case { name: "checks for a directory in /proc are charged with the pauses between them",
        table: "sleeps", columns: &["tid", "asked_ns", "calls", "exclusive_ns"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.020000 fork() = 3 <0.001000>
3 1700000000.021000 nanosleep({tv_sec=0, tv_nsec=380000000}, NULL) = 0 <0.380000>
1 1700000000.100000 stat("/proc/3", {st_mode=S_IFDIR|0555, st_size=0, ...}) = 0 <0.000010>
1 1700000000.110000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.220000 stat("/proc/3", {st_mode=S_IFDIR|0555, st_size=0, ...}) = 0 <0.000010>
1 1700000000.230000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
1 1700000000.340000 stat("/proc/3", {st_mode=S_IFDIR|0555, st_size=0, ...}) = 0 <0.000010>
1 1700000000.350000 nanosleep({tv_sec=0, tv_nsec=100000000}, NULL) = 0 <0.100000>
3 1700000000.402000 exit_group(0) = ?
3 1700000000.403000 +++ exited with 0 +++
1 1700000000.460000 stat("/proc/3", 0x7ffd) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.470000 exit_group(0) = ?
"#, rows: &["1 100000000 3 0", "3 380000000 1 301000000"] },
    Case { name: "a sleep that is interrupted by the victim's end and resumed is one pause",
        table: "kills", columns: &["pid", "slept_ns", "needless_ns", "exclusive_ns"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.020000 fork() = 3 <0.001000>
3 1700000000.030000 execve("/bin/quick", ["quick"], 0x7f /* 1 var */) = 0 <0.001000>
3 1700000000.040000 pause( <unfinished ...>
1 1700000000.900000 wait4(3, 0x7f, WNOHANG, NULL) = 0 <0.000010>
1 1700000001.000000 kill(3, SIGTERM) = 0 <0.000010>
1 1700000001.100000 clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {tv_sec=7, tv_nsec=0},  <unfinished ...>
3 1700000001.199000 <... pause resumed>) = ?
3 1700000001.200000 +++ killed by SIGTERM +++
1 1700000001.200000 <... clock_nanosleep resumed>NULL) = ? ERESTARTNOHAND (To be restarted if no handler) <0.100000>
1 1700000001.200000 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=3, si_uid=0, si_status=SIGTERM, si_utime=0, si_stime=0} ---
1 1700000001.200000 clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {tv_sec=7, tv_nsec=0}, NULL) = 0 <0.900000>
1 1700000002.100000 wait4(3, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGTERM}], 0, NULL) = 3 <0.000100>
1 1700000003.000000 exit_group(0) = ?
"#, rows: &["1 1000000000 900000000 900100000"] },
    Case { name: "a query is repeated if the resolver does not answer at once",
        table: "requests", columns: REQUESTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000000.002000 sendto(3, "x", 28, MSG_NOSIGNAL, NULL, 0) = 28 <0.000000>
1 1700000000.003000 poll([{fd=3, events=POLLIN}], 1, 5000) = 0 (Timeout) <5.000000>
1 1700000005.004000 sendto(3, "x", 28, MSG_NOSIGNAL, NULL, 0) = 28 <0.000000>
1 1700000005.005000 poll([{fd=3, events=POLLIN}], 1, 5000) = 1 ([{fd=3, revents=POLLIN}]) <0.010000>
1 1700000005.016000 recvfrom(3, "y", 1024, 0, NULL, NULL) = 100 <0.000000>
1 1700000010.007000 exit_group(1) = ?
"#, rows: &["10.0.0.2:53 53 1 12000000 2 56 100 1 0 0 5010000000"] },
    Case { name: "two writes before a read of 40 ms: a delayed acknowledgement",
        table: "requests", columns: REQUESTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = 0 <0.000010>
1 1700000000.002000 write(3, "x", 10) = 10 <0.000000>
1 1700000000.003000 write(3, "x", 10) = 10 <0.000000>
1 1700000000.003000 read(3, "y", 100) = 5 <0.041000>
1 1700000001.000000 exit_group(1) = ?
"#, rows: &["10.0.0.2:80 80 1 41000000 2 20 5 0 0 1 41000000"] },
    Case { name: "a server waits for requests and sends none",
        table: "requests", columns: REQUESTS, capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 accept(3, {sa_family=AF_INET, sin_port=htons(4000), sin_addr=inet_addr("10.0.0.9")}, [16]) = 4 <0.000010>
1 1700000000.002000 read(4, "hello", 5) = 5 <0.100000>
1 1700000000.203000 write(4, "hello", 5) = 5 <0.000010>
1 1700000000.304000 read(4, "hello", 5) = 5 <0.100000>
1 1700000004.000000 exit_group(0) = ?
"#, rows: &[] },
    Case { name: "a non-blocking connect is waited for in a poll",
        table: "connects", columns: &["peer", "port", "attempts", "failed", "expired", "errno", "waited_ns", "exclusive_ns"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = -1 EINPROGRESS (Operation now in progress) <0.000000>
1 1700000000.002000 poll([{fd=3, events=POLLOUT}], 1, 3000) = 0 (Timeout) <3.000000>
1 1700000003.003000 connect(4, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = -1 ETIMEDOUT (Connection timed out) <2.000000>
1 1700000006.000000 exit_group(1) = ?
"#, rows: &["10.0.0.2:80 80 2 1 1 ETIMEDOUT 5000000000 5000000000"] },
    Case { name: "a timer interrupts calls, and its handler makes calls",
        table: "signals", columns: &["signal", "delivered", "interrupted", "handled", "handler_ns", "timers", "interval_ns", "exclusive_ns"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.001000 setitimer(ITIMER_REAL, {it_interval={tv_sec=0, tv_usec=10000}, it_value={tv_sec=0, tv_usec=10000}}, NULL) = 0 <0.000000>
1 1700000000.002000 read(3, 0x7f, 10) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.009000>
1 1700000000.011000 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
1 1700000000.012000 write(1, "x", 1) = 1 <0.000000>
1 1700000000.013000 rt_sigreturn({mask=[]}) = 0 <0.000000>
1 1700000000.014000 read(3, 0x7f, 10) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.007000>
1 1700000000.021000 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
1 1700000000.022000 rt_sigreturn({mask=[]}) = 0 <0.000000>
1 1700000001.000000 exit_group(1) = ?
"#, rows: &["SIGALRM 2 2 2 3000000 1 10000000 0"] },
    Case { name: "gaps with round lengths, on the path",
        table: "gap_lengths", columns: &["round_ns", "gaps", "total_ns", "max_ns", "before", "exclusive_ns"], capture: r#"
1 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 1 var */) = 0 <0.001000>
1 1700000000.002000 write(1, "x", 1) = 1 <0.000000>
1 1700000002.004000 write(1, "x", 1) = 1 <0.000000>
1 1700000004.007000 write(1, "x", 1) = 1 <0.000000>
1 1700000004.800000 write(1, "x", 1) = 1 <0.000000>
1 1700000004.900000 exit_group(1) = ?
"#, rows: &["100000000 1 100000000 100000000 write(stdout) 100000000", "2000000000 2 4005000000 2003000000 write(stdout) 4005000000"] },
];

#[test]
fn tables_have_the_rows_of_the_cases() {
    let mut told = String::new();
    for case in CASES {
        let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
        file.write_all(case.capture.trim_start().as_bytes())
            .expect("the lines");
        let capture = vec![file.path().to_string_lossy().into_owned()];
        let Ok(trace) = trace::ingest::read::read(&[capture], Some("strace"), &mut |_, _| {})
        else {
            panic!("{}: not read", case.name)
        };
        let found = rows(
            &trace,
            by_name(case.table).expect("the table").build,
            case.columns,
        );
        if found != case.rows {
            told += &format!(
                "{}\n  found    {found:#?}\n  expected {:#?}\n",
                case.name, case.rows
            );
        }
    }
    assert!(told.is_empty(), "{told}");
}
