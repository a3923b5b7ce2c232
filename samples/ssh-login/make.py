"""Writes ssh-login.truss: a whole log of a slow ssh login, built around a published excerpt.

Times are in ticks of truss's clock, 0.1 ms. A script is a list of events, one a line: `weight cpu text`; the events of
a script share the time between its start and its end by their weights. A line that begins with `+` belongs to the
event before it and has no times.
"""

from pathlib import Path

LISTENER, SESSION, SHELL, QUOTA, MAIL = 408, 12186, 12196, 12200, 12203
SLOW_CALLS, SLOW_TICKS = 297, 97412

LISTEN = """
1 1 pollsys(0x08047B40, 2, 0x00000000, 0x00000000) = 1
+\tfd=3  ev=POLLRDNORM rev=0
+\tfd=5  ev=POLLRDNORM rev=POLLRDNORM
"""

ACCEPT = """
1 0 accept(5, 0x08047C70, 0x08047C6C, SOV_DEFAULT) = 4
+\tAF_INET6  name = ::ffff:192.0.2.17  port = 52214
"""

FORK_SESSION = """
2 0 pipe() = 6 [7]
1 0 fcntl(6, F_SETFD, 0x00000001) = 0
3 0 getpid() = 408 [1]
"""

LISTEN_AGAIN = """
2 0 close(7) = 0
1 0 close(4) = 0
"""

KEY_EXCHANGE = """
1 0 getpid() = 12186 [408]
1 0 lwp_self() = 1
2 0 schedctl() = 0xFEFA8000
1 0 close(3) = 0
1 0 close(5) = 0
1 0 close(6) = 0
2 0 sigaction(SIGALRM, 0x08047890, 0x08047910) = 0
+\tnew: hand = 0x0806F6A0 mask = 0 0 0 flags = 0x0000
+\told: hand = 0x00000000 mask = 0 0 0 flags = 0x0000
1 0 alarm(600) = 0
2 0 getpeername(4, 0x08047A10, 0x08047A0C, SOV_DEFAULT) = 0
+\tAF_INET6  name = ::ffff:192.0.2.17  port = 52214
1 0 setsockopt(4, tcp, TCP_NODELAY, 0x080479E4, 4, SOV_DEFAULT) = 0
3 0 write(4, " S S H - 2 . 0 - S u n _".., 23) = 23
160 0 read(4, " S", 1) = 1
2 0 read(4, " S H - 2 . 0 - O p e n S".., 255) = 20
2 0 fcntl(4, F_SETFL, FNONBLOCK) = 0
9 1 write(4, "\\0\\003\\b\\b14 tEEA3 h :0E".., 776) = 776
180 0 pollsys(0x08046E90, 1, 0x00000000, 0x00000000) = 1
+\tfd=4  ev=POLLRDNORM rev=POLLRDNORM
2 0 read(4, "\\0\\003\\f\\t14 z9F1C d RD6".., 8192) = 792
170 0 pollsys(0x08046E90, 1, 0x00000000, 0x00000000) = 1
+\tfd=4  ev=POLLRDNORM rev=POLLRDNORM
2 0 read(4, "\\0\\0\\0\\f06 "\\0\\004\\0\\0\\b".., 8192) = 24
1 0 open("/etc/ssh/moduli", O_RDONLY) = 3
2 0 fstat64(3, 0x08046D30) = 0
+\td=0x01540010 i=23761 m=0100644 l=1  u=0     g=3     sz=88301
20 3 read(3, " #\\t $ I d :   m o d u l".., 8192) = 8192
1 0 close(3) = 0
420 1 write(4, "\\0\\0\\094\\b1F\\0\\0\\081\\0DE".., 152) = 152
190 0 pollsys(0x08046E90, 1, 0x00000000, 0x00000000) = 1
+\tfd=4  ev=POLLRDNORM rev=POLLRDNORM
2 0 read(4, "\\0\\0\\08C05  \\0\\0\\081\\0B1".., 8192) = 144
660 2 write(4, "\\0\\002C40B1F\\0\\0\\001 7\\0".., 720) = 720
200 0 pollsys(0x08046E90, 1, 0x00000000, 0x00000000) = 1
+\tfd=4  ev=POLLRDNORM rev=POLLRDNORM
2 0 read(4, "\\0\\0\\0\\f\\n15\\0\\0\\0\\0\\0\\0".., 8192) = 16
"""

AUTHENTICATE = """
150 0 pollsys(0x08046E90, 1, 0x00000000, 0x00000000) = 1
+\tfd=4  ev=POLLRDNORM rev=POLLRDNORM
2 0 read(4, " ?96 ~ qE811 J 08CB8 5FD".., 8192) = 48
2 0 open("/etc/passwd", O_RDONLY) = 3
2 0 read(3, " r o o t : x : 0 : 0 : S".., 1024) = 988
1 0 close(3) = 0
1 0 open("/etc/shadow", O_RDONLY) = 3
2 0 read(3, " r o o t : $ 5 $ x 9 k Q".., 1024) = 611
1 0 close(3) = 0
2 0 open("/etc/pam.conf", O_RDONLY) = 3
4 1 read(3, " #\\n #   C D D L   H E A".., 8192) = 3224
1 0 close(3) = 0
30 4 open("/usr/lib/security/pam_unix_auth.so.1", O_RDONLY) = 3
18 3 mmapobj(3, MMOBJ_INTERPRET, 0xFEF90A40, 0x08046A3C, 0x00000000) = 0
1 0 close(3) = 0
2 0 seteuid(35148) = 0
3 0 stat64("/home/mike/.ssh/authorized_keys", 0x08046B90) = 0
+\td=0x043D0012 i=118   m=0100600 l=1  u=35148 g=10    sz=1204
2 0 open("/home/mike/.ssh/authorized_keys", O_RDONLY) = 3
3 0 read(3, " s s h - r s a   A A A A".., 8192) = 1204
1 0 close(3) = 0
1 0 seteuid(0) = 0
5 0 write(4, " t0FD4 =B2 i9A17 TE6 5C3".., 48) = 48
190 0 pollsys(0x08046E90, 1, 0x00000000, 0x00000000) = 1
+\tfd=4  ev=POLLRDNORM rev=POLLRDNORM
2 0 read(4, "8A f DE91C 0 L 8C2 | yF3".., 8192) = 368
12 0 write(4, " E13 { kB8D5 @0799 rA4 U".., 32) = 32
180 0 pollsys(0x08046E90, 1, 0x00000000, 0x00000000) = 1
+\tfd=4  ev=POLLRDNORM rev=POLLRDNORM
2 0 read(4, "C8 & n12FB 7 a9D e84 K h".., 8192) = 64
"""

TERMINAL = """
3 0 open("/dev/ptmx", O_RDWR|O_NOCTTY) = 7
2 0 ioctl(7, I_STR, 0x08046C10) = 0
+\tcmd=ISPTM    timout=0  len=0  dp=0x00000000
3 0 ioctl(7, I_STR, 0x08046BE0) = 0
+\tcmd=UNLKPT   timout=0  len=0  dp=0x00000000
2 0 stat64("/dev/pts/3", 0x08046C30) = 0
+\td=0x04400001 i=12582920 m=0020620 l=1  u=0     g=7     rdev=0x00600003
4 1 open("/dev/pts/3", O_RDWR|O_NOCTTY) = 8
2 0 ioctl(8, I_PUSH, "ptem") = 0
2 0 ioctl(8, I_PUSH, "ldterm") = 0
2 0 ioctl(8, I_PUSH, "ttcompat") = 0
2 0 chown("/dev/pts/3", 35148, 7) = 0
2 0 chmod("/dev/pts/3", 0620) = 0
3 0 open("/var/adm/lastlog", O_RDWR) = 3
2 0 llseek(3, 0x000F1234, SEEK_SET) = 987700
2 0 read(3, "B1 k\\v J p t s / 1\\0\\0\\0".., 28) = 28
2 0 write(3, "\\f89\\v J p t s / 3\\0\\0\\0".., 28) = 28
1 0 close(3) = 0
4 0 open("/var/adm/wtmpx", O_WRONLY|O_APPEND) = 3
2 0 write(3, " m i k e\\0\\0\\0\\0\\0\\0\\0\\0".., 372) = 372
1 0 close(3) = 0
"""

RELAY = """
2 0 close(8) = 0
2 0 fcntl(7, F_SETFL, FNONBLOCK) = 0
4 0 write(4, " ^ W9E00 qD3 !C7 aB2 v1F".., 48) = 48
"""

SHELL_START = """
1 0 getpid() = 12196 [12186]
1 0 lwp_self() = 1
1 0 close(7) = 0
2 0 setsid() = 12196
4 0 open("/dev/pts/3", O_RDWR) = 9
1 0 close(9) = 0
1 0 fcntl(8, F_DUP2FD, 0x00000000) = 0
1 0 fcntl(8, F_DUP2FD, 0x00000001) = 1
1 0 fcntl(8, F_DUP2FD, 0x00000002) = 2
1 0 close(8) = 0
1 0 close(4) = 0
3 0 setgroups(2, 0x0811C3A0) = 0
1 0 setgid(10) = 0
1 0 setuid(35148) = 0
2 0 chdir("/home/mike") = 0
2 0 open("/etc/default/login", O_RDONLY) = 3
2 0 read(3, " #\\n #   C D D L   H E A".., 8192) = 2105
1 0 close(3) = 0
110 9 execve("/usr/bin/ksh", 0x08047DF4, 0x0811D4C8)  argc = 1
+ argv: -ksh
"""

PROFILES = """
3 0 mmap(0x00000000, 4096, PROT_READ|PROT_WRITE|PROT_EXEC, MAP_PRIVATE|MAP_ANON, -1, 0) = 0xFEFB0000
9 1 open("/lib/libc.so.1", O_RDONLY) = 3
14 2 mmapobj(3, MMOBJ_INTERPRET, 0xFEFB0A40, 0x080474AC, 0x00000000) = 0
1 0 close(3) = 0
2 0 sysconfig(_CONFIG_PAGESIZE) = 4096
2 0 getuid() = 35148 [35148]
1 0 getgid() = 10 [10]
2 0 sigaction(SIGCLD, 0x08047880, 0x08047900) = 0
+\tnew: hand = 0x0807A3C0 mask = 0 0 0 flags = 0x0000
+\told: hand = 0x00000000 mask = 0 0 0 flags = 0x0000
1 0 ioctl(0, TCGETA, 0x08046D0C) = 0
+\tiflag=0002446 oflag=0014005 cflag=0002277 lflag=0105073 line=0
3 0 stat64("/home/mike", 0x08047690) = 0
+\td=0x043D0012 i=4     m=0040755 l=9  u=35148 g=10    sz=14
8 1 open64("/etc/profile", O_RDONLY) = 3
1 0 fcntl(3, F_DUPFD, 0x0000000A) = 10
1 0 close(3) = 0
1 0 fcntl(10, F_SETFD, 0x00000001) = 0
12 0 read(10, " #\\n #   C D D L   H E A".., 1024) = 1024
2 0 read(10, "\\t   p r o f i l e\\n\\n t".., 1024) = 281
2 0 umask(0) = 022
1 0 umask(022) = 0
3 0 access("/home/mike/.hushlogin", F_OK) Err#2 ENOENT
3 0 stat64("/usr/bin/quota", 0x08047290) Err#2 ENOENT
2 0 stat64("/usr/sbin/quota", 0x08047290) = 0
+\td=0x01540010 i=9120  m=0104555 l=1  u=0     g=2     sz=18528
1 0 lwp_sigmask(SIG_SETMASK, 0x00020000, 0x00000000) = 0xFFBFFEFF [0x0000FFFF]
"""

QUOTA_FORKED = """
1 0 getpid() = 12200 [12196]
1 0 lwp_self() = 1
1 0 lwp_sigmask(SIG_SETMASK, 0x00000000, 0x00000000) = 0xFFBFFEFF [0x0000FFFF]
1 0 sigaction(SIGCLD, 0x08047680, 0x080476E0) = 0
+\tnew: hand = 0x00000000 mask = 0 0 0 flags = 0x0000
+\told: hand = 0x0807A3C0 mask = 0 0 0 flags = 0x0000
1 0 ioctl(10, TCGETA, 0x0804663C) Err#25 ENOTTY
"""

QUOTA_STARTS = """
2 0 mmap(0x00000000, 4096, PROT_READ|PROT_WRITE|PROT_EXEC, MAP_PRIVATE|MAP_ANON, -1, 0) = 0xFEFB0000
3 0 stat64("/usr/sbin/quota", 0x08047A90) = 0
+\td=0x01540010 i=9120  m=0104555 l=1  u=0     g=2     sz=18528
2 0 open("/var/ld/ld.config", O_RDONLY) Err#2 ENOENT
40 1 open("/lib/libzfs.so.1", O_RDONLY) = 3
90 3 mmapobj(3, MMOBJ_INTERPRET, 0xFEFB0A40, 0x080474AC, 0x00000000) = 0
1 0 close(3) = 0
30 1 open("/usr/lib/librpcsvc.so.1", O_RDONLY) = 3
60 2 mmapobj(3, MMOBJ_INTERPRET, 0xFEFB0A40, 0x080474AC, 0x00000000) = 0
1 0 close(3) = 0
20 1 open("/lib/libnsl.so.1", O_RDONLY) = 3
50 2 mmapobj(3, MMOBJ_INTERPRET, 0xFEFB0A40, 0x080474AC, 0x00000000) = 0
1 0 close(3) = 0
10 1 open("/lib/libc.so.1", O_RDONLY) = 3
20 2 mmapobj(3, MMOBJ_INTERPRET, 0xFEFB0A40, 0x080474AC, 0x00000000) = 0
1 0 close(3) = 0
20 0 munmap(0xFE610000, 32768) = 0
2 0 brk(0x08065B08) = 0
1 0 brk(0x08067B08) = 0
8 0 open("/dev/zfs", O_RDWR) = 3
3 0 fcntl(3, F_SETFD, 0x00000001) = 0
6 0 open("/etc/mnttab", O_RDONLY) = 4
4 0 open("/etc/dfs/sharetab", O_RDONLY) Err#2 ENOENT
2 0 open("/dev/null", O_RDONLY) = 5
3 0 getuid() = 35148 [35148]
4 0 open("/var/run/name_service_door", O_RDONLY) = 6
1 0 fcntl(6, F_SETFD, 0x00000001) = 0
6 0 open("/etc/mnttab", O_RDONLY) = 7
1 0 ioctl(7, MNTIOC_GETMNTENT, 0x08047C1C) = 0
"""

ASK_NAME_SERVICE = """
1 0 getuid() = 35148 [35148]
1 0 getuid() = 35148 [35148]
0 0 door_info(6, 0x08046460) = 0
+\ttarget=189 proc=0x806FCD0 data=0xDEADBEED
+\tattributes=DOOR_UNREF|DOOR_NO_CANCEL
+\tuniquifier=289
3 0 door_call(6, 0x080464D0) = 0
+\tdata_ptr=FE430000 data_size=232
+\tdesc_ptr=0x0 desc_num=0
+\trbuf=0xFE430000 rsize=16384
1 0 ioctl(3, ZFS_IOC_USERSPACE_ONE, 0x08046790) Err#48 ENOTSUP
0 0 ioctl(7, MNTIOC_GETMNTENT, 0x08047C1C) = 0
"""
SLOW = "ioctl(3, ZFS_IOC_OBJSET_STATS, 0x08046390) = 0"

# What passes, in ticks, before each event of a turn behind the slow call. The first two are those of the excerpt.
TURNS = [(1, 1, 0, 3, 1, 0), (1, 0, 1, 1, 0, 1), (1, 1, 0, 2, 1, 0), (1, 0, 1, 2, 0, 1), (1, 1, 0, 2, 0, 1)]
TURN_BEFORE_EXCERPT = (1, 1, 0, 3, 0, 1)
SLOW_IN_EXCERPT = [395, 172, 102]
SLOW_BEFORE_EXCERPT = [228, 391, 87, 455, 304, 512, 163, 340, 276, 618, 119, 402, 291, 365]

QUOTA_ENDS = """
3 0 close(7) = 0
2 0 close(4) = 0
2 0 close(3) = 0
"""

SHELL_GOES_ON = """
1 0 lwp_sigmask(SIG_SETMASK, 0x00000000, 0x00000000) = 0xFFBFFEFF [0x0000FFFF]
3 0 stat64("/bin/mail", 0x08047290) = 0
+\td=0x01540010 i=8874  m=0102511 l=1  u=0     g=6     sz=63408
1 0 lwp_sigmask(SIG_SETMASK, 0x00020000, 0x00000000) = 0xFFBFFEFF [0x0000FFFF]
"""

MAIL_RUNS = """
1 0 getpid() = 12203 [12196]
1 0 lwp_self() = 1
1 0 lwp_sigmask(SIG_SETMASK, 0x00000000, 0x00000000) = 0xFFBFFEFF [0x0000FFFF]
280 11 execve("/bin/mail", 0x0811FA40, 0x0811D3C8)  argc = 2
+    *** SGID: rgid/egid/sgid = 10 / 6 / 6  ***
+ argv: /bin/mail -E
20 1 open("/lib/libc.so.1", O_RDONLY) = 3
30 2 mmapobj(3, MMOBJ_INTERPRET, 0xFEFB0A40, 0x080474AC, 0x00000000) = 0
1 0 close(3) = 0
5 0 getuid() = 35148 [35148]
60 1 open("/var/mail/mike", O_RDONLY) Err#2 ENOENT
2 0 _exit(1)
"""

PROMPT = """
1 0 lwp_sigmask(SIG_SETMASK, 0x00000000, 0x00000000) = 0xFFBFFEFF [0x0000FFFF]
2 0 read(10, 0x08110B3C, 1024) = 0
1 0 close(10) = 0
60 1 open64("/home/mike/.profile", O_RDONLY) Err#2 ENOENT
40 1 open64("/home/mike/.sh_history", O_RDWR|O_APPEND|O_CREAT, 0600) = 10
20 0 read(10, "8101 l s   - l a\\n\\0 z p".., 4096) = 412
2 0 ioctl(0, TCGETA, 0x08046D0C) = 0
+\tiflag=0002446 oflag=0014005 cflag=0002277 lflag=0105073 line=0
2 0 write(2, " $  ", 2) = 2
"""

WAIT = "waitid(P_ALL, 0, 0x080473B0, WEXITED|WTRAPPED)"
RELAY_POLL = "pollsys(0x08046F10, 2, 0x00000000, 0x00000000)"
RELAY_READY = ["\tfd=4  ev=POLLRDNORM rev=0", "\tfd=7  ev=POLLRDNORM rev=POLLRDNORM"]


class Log:
    """The lines so far, each with the moment at which it is written."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []
        self.last: dict[int, int] = {}

    def event(self, pid: int, end: int, cpu: int, text: str, more: tuple[str, ...] | list[str] = ()) -> None:
        """An event that ends at this moment, with the lines that belong to it."""
        since = end - self.last.get(pid, 0)
        self.last[pid] = end
        stamps = "".join(f"{ticks // 10000:2d}.{ticks % 10000:04d}\t" for ticks in (end, since, min(cpu, since)))
        self.lines.append((end, f"{pid}:\t{stamps}{padded(text)}"))
        self.lines.extend((end, f"{pid}:\t{line}") for line in more)

    def play(self, pid: int, script: str, end: int) -> None:
        """The events of a script, from the last event of this process to this moment."""
        events: list[tuple[int, int, str, list[str]]] = []
        for line in script.strip("\n").split("\n"):
            if line.startswith("+"):
                events[-1][3].append(line[1:])
            else:
                weight, cpu, text = line.split(" ", 2)
                events.append((int(weight), int(cpu), text, []))
        start = self.last.get(pid, 0)
        total, passed = sum(event[0] for event in events), 0
        for share, ticks, call, more in events:
            passed += share
            self.event(pid, start + (end - start) * passed // total, ticks, call, more)

    def notice(self, pid: int, at: int, call: str) -> None:
        """The notice of a call that sleeps; it has no times."""
        self.lines.append((at, f"{pid}:\t{call}{tabs(len(call), 32)}(sleeping...)"))


def tabs(width: int, column: int) -> str:
    return "\t" * -(-(column - width) // 8) if width < column else " "


def padded(text: str) -> str:
    """A call with its result moved to column 48."""
    if "(returning as" in text:
        call, result = text.rsplit(" = ", 1)
        return f"{call}{tabs(len(call.expandtabs(8)), 48)}= {result}"
    at = max(text.rfind(") = "), text.rfind(") Err#"))
    return text if at < 0 else f"{text[: at + 1]}{tabs(at + 1, 48)}{text[at + 2 :]}"


def slow_calls(count: int, total: int) -> list[int]:
    """So many durations, uneven, with this sum: a linear congruence draws weights between 1 and 9."""
    state, weights = 20091124, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        weights.append(100 + state // 65536 % 801)
    sums = [sum(weights[: at + 1]) * total // sum(weights) for at in range(count)]
    return [after - before for before, after in zip([0, *sums], sums, strict=False)]


def turn(log: Log, slow: int, passing: tuple[int, ...], is_last: bool = False) -> None:
    """One file system: the slow call, then what is asked about its owner and the next line of the mount table."""
    log.event(QUOTA, log.last[QUOTA] + slow, max(1, (slow + 100) // 200), SLOW)
    script = ASK_NAME_SERVICE.replace("0x08047C1C) = 0", "0x08047C1C) = 1") if is_last else ASK_NAME_SERVICE
    for ticks, event in zip(passing, script.strip("\n").replace("\n+", "\x00").split("\n"), strict=True):
        text, *more = event.split("\x00")
        log.event(QUOTA, log.last[QUOTA] + ticks, 0, text.split(" ", 2)[2], more)


def login(log: Log) -> None:
    """From the connection to the start of the shell."""
    log.lines.append((0, "408:\tpsargs: /usr/lib/ssh/sshd"))
    log.notice(LISTENER, 10000, "pollsys(0x08047B40, 2, 0x00000000, 0x00000000)")
    log.play(LISTENER, LISTEN, 26581)
    log.play(LISTENER, ACCEPT, 26587)
    log.event(LISTENER, 26594, 0, "fcntl(4, F_SETFL, (no flags)) = 0")
    log.play(LISTENER, FORK_SESSION, 26602)
    log.event(SESSION, 26619, 0, "forkx()\t\t(returning as child ...) = 408")
    log.event(LISTENER, 26619, 9, "forkx(0) = 12186")
    log.play(LISTENER, LISTEN_AGAIN, 26622)
    log.notice(LISTENER, 36622, "pollsys(0x08047B40, 3, 0x00000000, 0x00000000)")
    log.play(SESSION, KEY_EXCHANGE, 31105)
    log.play(SESSION, AUTHENTICATE, 34308)
    log.play(SESSION, TERMINAL, 34702)
    log.event(SHELL, 34731, 0, "forkx()\t\t(returning as child ...) = 12186")
    log.event(SESSION, 34731, 11, "forkx(0) = 12196")
    log.play(SESSION, RELAY, 34739)
    log.notice(SESSION, 44739, RELAY_POLL)
    log.play(SHELL, SHELL_START, 35890)
    log.play(SHELL, PROFILES, 37242)


def quota(log: Log) -> None:
    """The command that everybody waits for."""
    log.event(QUOTA, 37245, 0, "forkx()\t\t(returning as child ...) = 12196")
    log.event(SHELL, 37245, 3, "forkx(0) = 12200")
    log.notice(SHELL, 47245, WAIT)
    log.play(QUOTA, QUOTA_FORKED, 37282)
    suid = ["    *** SUID: ruid/euid/suid = 35148 / 0 / 0  ***", " argv: /usr/sbin/quota"]
    log.event(QUOTA, 38229, 13, 'execve("/usr/sbin/quota", 0x0811F9E8, 0x0811D008)  argc = 1', suid)
    before = sum(SLOW_BEFORE_EXCERPT) + sum(sum(TURNS[at % 5]) for at in range(13)) + sum(TURN_BEFORE_EXCERPT)
    log.play(QUOTA, QUOTA_STARTS, 45522 - before)
    for at, slow in enumerate(SLOW_BEFORE_EXCERPT):
        turn(log, slow, TURN_BEFORE_EXCERPT if at == 13 else TURNS[at % 5])
    for slow, passing in zip(SLOW_IN_EXCERPT, TURNS[:3], strict=True):
        turn(log, slow, passing)
    done = SLOW_BEFORE_EXCERPT + SLOW_IN_EXCERPT
    rest = slow_calls(SLOW_CALLS - len(done), SLOW_TICKS - sum(done))
    for at, slow in enumerate(rest):
        turn(log, slow, TURNS[at % 5], is_last=at == len(rest) - 1)
    log.play(QUOTA, QUOTA_ENDS, 139851)
    log.event(QUOTA, 139854, 0, "_exit(0)")


def prompt(log: Log) -> None:
    """From the end of the command to the prompt on the other end of the connection."""
    ended = "      siginfo: SIGCLD CLD_EXITED pid={} status=0x{:04X}"
    log.event(SHELL, 139856, 0, f"{WAIT} = 0", [ended.format(QUOTA, 0)])
    log.play(SHELL, SHELL_GOES_ON, 139871)
    log.event(MAIL, 139875, 0, "forkx()\t\t(returning as child ...) = 12196")
    log.event(SHELL, 139875, 3, "forkx(0) = 12203")
    log.play(MAIL, MAIL_RUNS, 140462)
    log.event(SHELL, 140464, 0, f"{WAIT} = 0", [ended.format(MAIL, 1)])
    log.play(SHELL, PROMPT, 140811)
    log.event(SESSION, 140812, 0, f"{RELAY_POLL} = 1", RELAY_READY)
    log.event(SESSION, 140813, 0, 'read(7, " $  ", 16384) = 2')
    log.event(SESSION, 140814, 0, 'write(4, " | : { b7F S LB7A2  BA13".., 64) = 64')
    log.notice(SHELL, 150811, "read(0, 0x080473DF, 1)")
    log.notice(SESSION, 150814, RELAY_POLL)


def main() -> None:
    log = Log()
    for chapter in (login, quota, prompt):
        chapter(log)
    base = "Base time stamp:  1259020532.4127  [ Mon Nov 23 23:55:32 GMT 2009 ]"
    text = "\n".join([base, *(line for _, line in sorted(log.lines, key=lambda line: line[0]))])
    Path(__file__).with_name("ssh-login.truss").write_text(text + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
