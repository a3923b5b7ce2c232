//! No planted secret survives: in each position of each format, in halves of calls, escapes, envelopes and cut lines.

use redact::{Key, Options, Redactor};
use std::collections::{BTreeSet, HashSet};

/// Lines that show a format, lines with a place for a secret, and whether digits may stand there outside of quotes.
struct Case {
    name: &'static str,
    head: &'static [&'static str],
    lines: &'static [&'static str],
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case {
        name: "strace",
        head: &[
            r#"4711  1795224208.253344 execve("/bin/sh", ["sh"], 0x7ffd8a10 /* 35 vars */) = 0 <0.000322>"#,
            r#"4711  1795224208.254344 close(3</etc/passwd>) = 0 <0.000011>"#,
            r#"4711  1795224208.255344 read(0, "", 100) = 0 <0.000011>"#,
        ],
        lines: &[
            r#"4711  1795224208.353344 openat(AT_FDCWD, "$", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000322>"#,
            r#"4711  1795224208.353344 openat(AT_FDCWD</home/$>, "/usr/lib/$/x.conf", O_RDONLY) = 3</usr/lib/$/x.conf> <0.000322>"#,
            r#"4711  1795224208.353344 execve("/opt/$/bin/$", ["$", "--password=$", "-p$"], ["TOKEN=$", "A=$"]) = 0 <0.000322>"#,
            r#"4711  1795224208.353344 read(3</tmp/$>, "user: $\n"..., 4096) = 100 <0.000322>"#,
            r#"4711  1795224208.353344 write(1, "$ $", 4096) = 100 <0.000322>"#,
            r#"4711  1795224208.353344 read(5, <unfinished ...>"#,
            r#"4711  1795224208.353344 <... read resumed>"$", 4096) = 4 <0.000322>"#,
            r#"4711  1795224208.353344 openat(AT_FDCWD, "$" <unfinished ...>"#,
            r#"4711  1795224208.353344 <... openat resumed>) = 3</$> <0.000322>"#,
            r#"4711  1795224208.353344 readlink("/proc/self/exe", "$", 4096) = 4 <0.000322>"#,
            r#"4711  1795224208.353344 connect(3, {sa_family=AF_UNIX, sun_path="/run/$"}, 110) = 0 <0.000322>"#,
            r#"4711  1795224208.353344 connect(3, {sa_family=AF_UNIX, sun_path=@"$"}, 110) = 0 <0.000322>"#,
            r#"4711  1795224208.353344 sendto(7<UNIX:[348423,@"$"]>, "$", 13, 0, {sa_family=AF_UNIX, sun_path="$"}, 13) = 13"#,
            r#"4711  1795224208.353344 recvmsg(7<UNIX-STREAM:[1->2,"/run/$"]>, {msg_iov=[{iov_base="$", iov_len=10}]}, 0) = 10"#,
            r#"4711  1795224208.353344 ioctl(3, SIOCGIFADDR, {ifr_name="$"}) = 0 <0.000322>"#,
            r#"4711  1795224208.353344 uname({sysname="Linux", nodename="$", release="$", domainname="$"}) = 0"#,
            r#"4711  1795224208.353344 prctl(PR_SET_NAME, "$") = 0 <0.000322>"#,
            r#"4711  1795224208.353344 getdents64(3, [{d_ino=5, d_type=DT_REG, d_name="$"}, {d_name="$"}], 100) = 100"#,
            r#"4711  1795224208.353344 setxattr("/x/$", "user.$", "$", 6, 0) = 0"#,
            r#"4711  1795224208.353344 add_key("user", "$", "$", 6, KEY_SPEC_USER_KEYRING) = 5"#,
            r#"4711  1795224208.353344 mount("$", "/mnt/$", "ext4", 0, "user=$,password=$") = 0"#,
            r#"4711  1795224208.353344 newfstatat(AT_FDCWD, "$", {st_mode=S_IFREG|0644, $=5}, 0) = 0"#,
            r#"4711  1795224208.353344 openat(AT_FDCWD, "$"#,
            r#"4711<$> 1795224208.353344 clone(child_stack=NULL) = 4712<$> <0.000322>"#,
            r#"4711  1795224208.353344 kill(4712<$>, SIGTERM) = 0 <0.000322>"#,
            r#"4711  1795224208.353344 getpid() = 4711 /* $ */"#,
            r#"4711  1795224208.353344 $(3, 4) = 0 <0.000322>"#,
            r#"4711  1795224208.353344 ioctl(3, $, 0x7f) = 0 <0.000322>"#,
            r#"4711  1795224208.353344 open($) = 3 <0.000322>"#,
            r#"4711  1795224208.353344 --- SIG$ {si_signo=SIGUSR1, si_code=$} ---"#,
            r#"4711  1795224208.353344 +++ killed by $ +++"#,
            r#"4711  1795224208.353344 openat(AT_FDCWD, "x", O_RDONLY) = -1 E$ ($) <0.000322>"#,
            r#" > /usr/lib/$/libc.so.6($+0x65) [0xcf545]"#,
            r#" > $() [0x1120] $.c:12"#,
            r#" | 00000  $  $ |"#,
            r#"strace: $: No such file or directory"#,
            r#"strace: exec: Permission denied: $"#,
            r#"$"#,
            r#"$ 12 $"#,
            r#"password is $, again $"#,
            r#"4711  write(2, "x $"#,
            r#"$", 11) = 11 <0.000322>"#,
            r#"4711  1795224208.353344 [$] close(3) = 0"#,
        ],
    },
    Case {
        name: "truss-solaris",
        head: &[
            "12196:\t 3.6520\t 0.0018\t 0.0000\tioctl(0, TCGETA, 0x08046D0C)\t\t\t= 0",
            "12196:\t 3.6521\t 0.0018\t 0.0000\tclose(3)\t\t\t= 0",
            "12196:\t 3.6521\t 0.0018\t 0.0000\tstat(\"/etc/passwd\", 0x08046D0C)\t\t\tErr#2 ENOENT",
        ],
        lines: &[
            "12196:\t 3.6520\t 0.0018\t 0.0000\topen(\"/home/$\", O_RDONLY)\t\t\t= 3",
            "12196:\t 3.6520\t 0.0018\t 0.0000\topen(\"$\", O_RDONLY)\t\t\tErr#2 ENOENT",
            "12196:\t 3.6520\t 0.0018\t 0.0000\texecve(\"/opt/$\", 0x0811F9E8, 0x0811D008)  argc = 1",
            "12196:\t argv: prog $ --x=$",
            "12196:\t envp: A=$ B=$",
            "12196:\tpsargs: prog $",
            "12196:\t 3.6520\t 0.0018\t 0.0000\tread(3, \"$\", 512)\t= 6",
            "12196:\t 3.6520\t 0.0018\t 0.0000\t$(3)\t= 6",
            "12196:\t*** cannot trace across exec() of /opt/$ ***",
            "12196:\t     0x08046E30: \"/home/$\"",
            "12196:\t\tname = $",
            "$",
        ],
    },
    Case {
        name: "truss-aix",
        head: &[
            "12845268:  0.0021 kfcntl(1, F_GETFL, 0x00000000) = 67110914",
            "12845268:  0.0022 kopen(\"/etc/passwd\", O_RDONLY)         Err#2  ENOENT",
            "12845268:  0.0023 kioctl(1, 22528, 0x00000000, 0x00000000) = 0",
        ],
        lines: &[
            "12845268:  0.0024 kopen(\"/home/$\", O_RDONLY)  = 3",
            "12845268:  0.0024 kopen(\"$\", O_RDONLY)         Err#2  ENOENT",
            "12845268:  0.0024 kread(0, \"$\", 4096)\t\t\t= 6",
            "12845268:  0.0024 execve(\"/opt/$\", 0x2FF22B38, 0x20013E98)  argc: 1",
            "12845268:  argv: prog $ --x=$",
            "12845268:  envp: A=$ B=$",
            "12845268:  0.0024 $(3)\t\t\t= 6",
            "12845268:  0.0024 statx(\"/home/$/x.$\", 0x2FF22A28, 128, 010)   Err#2  ENOENT",
            "$",
        ],
    },
    Case {
        name: "truss-freebsd",
        head: &[
            " 4712: 0.000017301 0.000012 close(4)\t\t\t = 0 (0x0)",
            " 4712: 0.000018301 0.000012 issetugid()\t\t\t = 0 (0x0)",
            " 4712: 0.000019301 0.000012 open(\"/etc/missing\",O_RDONLY,00) ERR#2 'No such file or directory'",
        ],
        lines: &[
            " 4712: 0.000017301 0.000012 open(\"/home/$\",O_RDONLY,00)\t = 3 (0x3)",
            " 4712: 0.000017301 0.000012 write(1,\"$\",6)\t = 6 (0x6)",
            " 4712: 0.000017301 0.000012 write(1,\"a \"$\" b $\"...,6)\t = 6 (0x6)",
            " 4712: 0.000017301 0.000012 execve(\"/bin/ls\",[ \"ls\", \"$\" ],[ \"HOME=$\" ]) = 0 (0x0)",
            " 4712: 0.000017301 0.000012 connect(4,{ AF_UNIX \"/tmp/$\" },106) ERR#61 '$'",
            " 4712: 0.000017301 0.000012 $(3) = 0 (0x0)",
            "$",
        ],
    },
    Case {
        name: "dtruss",
        head: &[
            "\tPID/THRD  RELATIVE  ELAPSD    CPU SYSCALL(args) \t\t = return",
            " 4711/0x54c1:       230       20       10 close(0x3)\t\t = 0 0",
        ],
        lines: &[
            " 4711/0x54c1:       230       20       10 open(\"/Users/$\\0\", 0x0, 0x1B6)\t\t = -1 Err#2",
            " 4711/0x54c1:       230       20       10 write(0x1, \"$\\0\", 0x6)\t\t = 6 0",
            " 4711/0x54c1:       230       20       10 $(0x1, 0x6)\t\t = 6 0",
            "dtrace: failed to execute $: No such file",
            "$",
        ],
    },
    Case {
        name: "kdump",
        head: &[
            "  2769 rmdir    CALL  issetugid",
            "  2769 rmdir    RET   issetugid 0",
            "  2769 rmdir    CALL  mmap(0,0x8000,0x3,0x1002,0xffffffff,0)",
            "  2769 rmdir    RET   mmap 34365181952/0x800531000",
        ],
        lines: &[
            "  2769 rmdir    NAMI  \"/home/$\"",
            "  2769 $    CALL  close(0x3)",
            "  2769 rmdir    GIO   fd 1 wrote 6 bytes",
            "       \"$",
            "       $\"",
            "       0x0000 $ $  |$|",
            "  2769 rmdir    RET   open -1 errno 2 $",
            "  2769 rmdir    STRU  struct sockaddr { AF_LOCAL, /tmp/$ }",
        ],
    },
    Case {
        name: "fs-usage",
        head: &[
            "19:43:34.123456  open              F=3        (R_____)  /etc/hosts          0.000012   ls.1234",
            "19:43:34.201733  read              F=3    B=0x200                         0.076120 W ls.1234",
            "19:43:34.201802  close             F=3                                    0.000007   ls.1234",
        ],
        lines: &[
            "19:43:34.201820  stat64                  [  2]           /Users/$/.profile   0.000034   zsh.51",
            "19:43:34.201830  fstatat64                              [-2]/$              0.000034   $.51",
            "19:43:34.201840  RdData[A]         D=0x001ce0c4  B=0x1000   /dev/disk1s2  /Users/$   0.000272 W ls.1234",
        ],
    },
    Case {
        name: "gvisor",
        head: &[
            "I0928 00:18:54.794008     365 strace.go:593] [   6:   7] sh E close(0x3 /etc/hosts)",
            "I0928 00:18:54.794031     365 strace.go:625] [   6:   7] sh X close(0x3 /etc/hosts) = 0 (0x0) (11.709µs)",
            "I0928 00:18:54.794041     365 strace.go:593] [   6:   7] sh E gettid()",
        ],
        lines: &[
            "I0928 00:18:54.794051     365 strace.go:593] [   6:   7] $ E openat(AT_FDCWD /$, 0x7f3336aaf2c8 /home/$, O_RDONLY, 0o0)",
            "I0928 00:18:54.794061     365 strace.go:593] [   6:   7] sh E write(0x1 host:[5], 0x7f3336aaf2c8 \"$\", 0x6)",
            "I0928 00:18:54.794071     365 strace.go:593] [   6:   7] sh E execve(0x7f33 /bin/sh, 0x7f34 [\"sh\", \"$\"], 0x7f35 [\"KEY=$\"])",
            "I0928 00:18:54.794081     365 strace.go:593] [   6:   7] sh E connect(0x3 socket:[1], 0x7f33 {Family: AF_UNIX, Addr: \"/run/$\"}, 0x6e)",
        ],
    },
    Case {
        name: "sysdig",
        head: &[
            "101 19:43:34.123456789 0 bash (1234) > read fd=3(<f>/etc/hosts) size=512",
            "102 19:43:34.123460001 0 bash (1234) < read res=12 data=x",
            "103 19:43:35.123460001 1 bash (1234) > close fd=3(<f>/etc/hosts)",
        ],
        lines: &[
            "104 19:43:35.123460002 1 $ (1234) < open fd=3(<f>/home/$) name=/home/$ flags=1(O_RDONLY) mode=0",
            "105 19:43:35.123460003 1 bash (1234) < read res=12 data=a $ b",
            "106 19:43:35.123460004 1 bash (1234) < execve res=0 exe=$ args=-x.$. tid=1234(bash) pid=1234(bash) ptid=1(init) cwd=/home/$",
        ],
    },
    Case {
        name: "procmon",
        head: &[
            r#""Time of Day","Process Name","PID","Operation","Path","Result","Detail","TID","Duration""#,
            r#""9:53:32.8219063 AM","app.exe","4711","CloseFile","C:\x","SUCCESS","","4720","0.0000100""#,
            r#""9:53:32.8219063 AM","app.exe","4711","CloseFile","C:\x","SUCCESS","","4720","0.0000100""#,
        ],
        lines: &[
            r#""9:53:32.8219063 AM","$.exe","4711","CreateFile","C:\Users\$\$.ini","NAME NOT FOUND","Desired Access: Read","4720","0.0000100""#,
            r#""9:53:32.8219063 AM","app.exe","4711","Process Start","","SUCCESS","Parent PID: 9, Command line: ""C:\$"" -p $","4720","0.0""#,
            r#""9:53:32.8219063 AM","app.exe","4711","RegSetValue","HKCU\$","SUCCESS","Type: REG_SZ, Length: 2, Data: $","4720","0.0""#,
            r#""9:53:32.8219063 AM","app.exe","4711","TCP Connect","$:50001 -> $.example.org:https","SUCCESS","Length: 0","4720","0.0""#,
            r#""9:53:32.8219063 AM","app.exe","4711","RegSetValue","HKCU\A","SUCCESS","Data: $"#,
        ],
    },
    Case {
        name: "strace-macos",
        head: &[
            r#"{"syscall": "close", "args": [3], "return": 0, "pid": 47, "timestamp": 1764374400.25}"#,
            r#"{"syscall": "close", "args": [4], "return": 0, "pid": 47, "timestamp": 1764374400.26}"#,
            r#"{"syscall": "close", "args": [5], "return": 0, "pid": 47, "timestamp": 1764374400.27}"#,
        ],
        lines: &[
            r#"{"syscall": "open", "args": ["/home/$/$.txt", "O_RDONLY", 0], "return": "-1 ENOENT (No such file or directory)", "pid": 47, "timestamp": 1764374400.25}"#,
            r#"{"syscall": "write", "args": [1, "$ \n$", 12], "return": 12, "pid": 47, "timestamp": 1764374400.25}"#,
            r#"{"syscall": "connect", "args": [5, {"sun_family": "AF_UNIX", "sun_path": "/run/$"}, 106], "return": 0, "pid": 47, "timestamp": 1764374400.25}"#,
            r#"{"syscall": "open", "args": ["$"#,
        ],
    },
    Case {
        name: "perf-trace",
        head: &[
            "     0.091 ( 0.003 ms): ls/456871 brk()                                         = 0x56150d127000",
            "     0.164 ( 0.002 ms): ls/456871 close(fd: 3)                                  = 0",
        ],
        lines: &[
            "     0.164 ( 0.002 ms): $/456871 openat(dfd: CWD, filename: \"/home/$\", flags: RDONLY) = 3",
            "     0.164 ( 0.002 ms): ls/456871 openat(dfd: CWD, filename: /home/$, flags: RDONLY) = 3",
            "     0.164 ( 0.002 ms): ls/456871 write(fd: 1</dev/$>, buf: \"$\", count: 6)      = 6",
            "     0.164 ( 0.002 ms): ls/456871 clone(flags: 0x11)                            = 22040 ($)",
        ],
    },
    Case {
        name: "perf-data",
        head: &[
            "# system calls of perf.data, x86_64",
            "4711 1795224170.658193012 close(3) = 0 <0.000001204>",
            "4711 1795224170.658195012 openat(AT_FDCWD, ..., 0x80000) = -1 ENOENT (error 2) <0.000001204>",
        ],
        lines: &["4711 1795224170.658193012 execve(\"/opt/$/$\") = 0 <0.000301204>"],
    },
    Case {
        name: "ltrace",
        head: &["4711 SYS_close(3) = 0 <0.000059>", "4711 SYS_brk(0) = 0x55 <0.000059>", "4711 SYS_exit_group(0 <no return ...>"],
        lines: &[
            "4711 SYS_open(\"/home/$\", 0, 00) = 3 <0.000059>",
            "4711 puts(\"$\") = 6 <0.000059>",
            "4711 getenv(\"$\" <unfinished ...>",
            "4711 <... getenv resumed> ) = \"$\" <0.000059>",
            "4711 $->$(\"$\") = 6 <0.000059>",
        ],
    },
    Case {
        name: "kernel-log",
        head: &[
            "[    1.486287] md: stopping all md devices.",
            "[    2.492737] ACPI: Preparing to enter system sleep state S5",
            "[    2.493129] Disabling non-boot CPUs ...",
        ],
        lines: &[
            "[    3.493129] $",
            "[    3.493129] user $ logged in from $, path /home/$/x",
            "[    3.493129] $: key=$ \"$\" '$' <$> took 5 s",
            "[    3.493129] systemd[1]: Starting $...",
            "$",
        ],
    },
    Case {
        name: "syslog",
        head: &[
            "Mar  5 19:43:34 host sshd[812]: Connection closed",
            "Mar  5 19:43:35 host kernel: [    1.486287] md: stopping",
            "Mar  5 19:43:36 host last message repeated 3 times",
        ],
        lines: &[
            "Mar  5 19:43:34 $ sshd[812]: Failed password for $ from 10.0.0.7 port 22",
            "Mar  5 19:43:34 host $[812]: session for $",
            "Mar  5 19:43:34 host $: $",
        ],
    },
    Case {
        name: "json-log",
        head: &[
            r#"{"time":"2021-03-05T19:43:34Z","level":"INFO","msg":"starting"}"#,
            r#"{"time":"2021-03-05T19:43:35Z","level":"INFO","msg":"ready"}"#,
        ],
        lines: &[
            r#"{"time":"2021-03-05T19:43:34Z","level":"INFO","msg":"user $","host":"$","$":4,"id":"$"}"#,
            r#"time="2021-03-05T19:43:34Z" level=info msg="started $" token=$ path=/x/$"#,
        ],
    },
];

/// How a line may be wrapped.
const ENVELOPES: [&str; 6] = ["", "json", "syslog", "cri", "ts", "compose"];

fn wrapped(envelope: &str, line: &str, number: usize) -> String {
    let (minute, second) = (number / 60 % 60, number % 60);
    match envelope {
        "json" => {
            let text = line
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\t', "\\t");
            format!(
                r#"{{"log":"{text}\n","stream":"stderr","time":"2026-01-02T03:{minute:02}:{second:02}.123456789Z"}}"#
            )
        }
        "syslog" => format!("Jan  2 03:{minute:02}:{second:02} host strace[12]: {line}"),
        "cri" => format!("2026-01-02T03:{minute:02}:{second:02}.123456789Z stderr F {line}"),
        "ts" => format!("Jan 02 03:{minute:02}:{second:02} {line}"),
        "compose" => format!("web-1  | {line}"),
        _ => line.to_owned(),
    }
}

/// Numbers from a sequence that is the same in each run (Knuth's MMIX generator).
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// Letters of which at least each third is not one of pseudonyms.
    fn letters(&mut self, length: usize) -> String {
        let of = |text: &[u8], at: usize| text[at] as char;
        (0..length)
            .map(|at| {
                if at % 3 == 0 {
                    of(b"abcdefilou", self.below(10))
                } else {
                    of(b"abcdefghijklmnopqrstuvwxyz", self.below(26))
                }
            })
            .collect()
    }
}

/// A secret, as it may be called, and as it is printed: escapes may hide it.
fn secret(random: &mut Sequence, kind: usize) -> (String, String) {
    let word = random.letters(12);
    let text = match kind % 9 {
        0 => word,
        1 => word.to_uppercase(),
        2 => format!("{}_{}", random.letters(7), random.letters(8).to_uppercase()),
        3 => format!(
            "{}-{}.{}",
            random.letters(6),
            random.letters(7),
            random.letters(6)
        ),
        4 => format!(
            "{}{}{}",
            random.letters(6),
            random.below(90) + 10,
            random.letters(6)
        ),
        5 => format!("Ab{}Cd{}", random.letters(6), random.letters(6)),
        6 => format!("{}é{}", random.letters(6), random.letters(6)),
        7 => format!("{}@{}.com", random.letters(7), random.letters(8)),
        _ => format!("O_{}", random.letters(10).to_uppercase()),
    };
    let printed = match kind / 9 % 4 {
        1 => text.bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
        2 => text.bytes().map(|byte| format!("\\{byte:03o}")).collect(),
        3 => base64(text.as_bytes()),
        _ => text.clone(),
    };
    (text, printed)
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .fold(0u32, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - three.len()));
        out.extend(
            (0..=three.len()).map(|at| LETTERS[(bits >> (18 - 6 * at)) as usize & 63] as char),
        );
    }
    out
}

fn redacted(text: &str) -> Vec<u8> {
    let options = Options {
        key: Key::new([42; 16]),
        keep: None,
        keeps_programs: false,
        format: None,
        has_map: false,
    };
    let mut redactor = Redactor::new(&options).expect("the options are valid");
    let mut out = Vec::new();
    redactor.feed(text.as_bytes(), &mut out);
    redactor.finish(&mut out);
    out
}

/// The parts of a secret that must not be found: six bytes of it, and of its encodings.
fn parts(text: &str) -> BTreeSet<Vec<u8>> {
    let bytes = text.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut found = BTreeSet::new();
    let mut add =
        |text: &[u8], length: usize| found.extend(text.windows(length).map(<[u8]>::to_vec));
    add(bytes, 6);
    add(hex.as_bytes(), 12);
    add(hex.to_uppercase().as_bytes(), 12);
    for skipped in 0..3 {
        let encoded = base64(bytes.get(skipped..).unwrap_or(b""));
        add(&encoded.as_bytes()[..encoded.len().saturating_sub(2)], 8);
    }
    found
}

/// What stands in the place of a secret, and what must not be found afterwards.
struct Planted {
    printed: String,
    forbidden: BTreeSet<Vec<u8>>,
}

fn planted_word(random: &mut Sequence, kind: usize) -> Planted {
    let (secret, printed) = secret(random, kind);
    let mut forbidden = parts(&secret);
    if !printed.starts_with('\\') {
        forbidden.extend(printed.as_bytes().windows(8).map(<[u8]>::to_vec));
    }
    Planted { printed, forbidden }
}

/// Numbers of cards and telephones. Six digits of one may be found in others, so only many are forbidden.
fn planted_number(random: &mut Sequence, kind: usize) -> Planted {
    let mut group = |length: usize| -> String {
        (0..length)
            .map(|_| char::from(b'0' + random.below(10) as u8))
            .collect()
    };
    let groups: Vec<String> = match kind % 3 {
        0 => (0..4).map(|_| group(4)).collect(),
        1 => vec![group(16)],
        _ => vec![group(4), group(11)],
    };
    let text = groups.join(["", " ", "-"][kind / 3 % 3]);
    let printed = match kind / 9 % 2 {
        1 => text.bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
        _ => text.clone(),
    };
    let mut forbidden: BTreeSet<Vec<u8>> = [text.clone(), groups.concat()]
        .map(String::into_bytes)
        .into();
    forbidden.extend(groups.concat().as_bytes().windows(12).map(<[u8]>::to_vec));
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    forbidden.extend([hex.into_bytes(), base64(text.as_bytes()).into_bytes()]);
    Planted { printed, forbidden }
}

/// Number of places with a secret, and those that a way to redact a capture of these lines leaves.
fn survivors(
    (case, lines): (&Case, &[&str]),
    envelope: &str,
    mut plant: impl FnMut(usize) -> Planted,
    redact: impl Fn(&str) -> Vec<u8>,
) -> (usize, Vec<String>) {
    let (mut places, mut text, mut secrets) = (0, String::new(), Vec::new());
    for number in 0..20 {
        text += &wrapped(envelope, case.head[number % case.head.len()], number);
        text.push('\n');
    }
    for (number, line) in lines.iter().cycle().take(lines.len() * 36).enumerate() {
        let secret = plant(number / lines.len());
        places += line.matches('$').count();
        text += &wrapped(envelope, &line.replace('$', &secret.printed), number + 20);
        text.push('\n');
        secrets.push(secret);
    }
    let out = redact(&text);
    assert_eq!(
        out.split(|&byte| byte == b'\n').count(),
        text.split('\n').count(),
        "{} {envelope}",
        case.name
    );
    let lengths: BTreeSet<usize> = secrets
        .iter()
        .flat_map(|secret| secret.forbidden.iter().map(Vec::len))
        .collect();
    let known: HashSet<&[u8]> = lengths
        .into_iter()
        .flat_map(|length| out.windows(length))
        .collect();
    let found = secrets.iter().enumerate().filter_map(|(number, secret)| {
        let part = secret
            .forbidden
            .iter()
            .find(|part| known.contains(part.as_slice()))?;
        let (part, line) = (String::from_utf8_lossy(part), lines[number % lines.len()]);
        Some(format!(
            "{} {envelope}: {part} in {line}, printed {}",
            case.name, secret.printed
        ))
    });
    (places, found.collect())
}

#[test]
fn no_planted_secret_survives() {
    let mut random = Sequence(1);
    let (mut planted, mut found) = (0, Vec::new());
    for case in CASES {
        for envelope in ENVELOPES {
            let plant = |kind| planted_word(&mut random, kind);
            let (places, more) = survivors((case, case.lines), envelope, plant, redacted);
            planted += places;
            found.extend(more);
        }
    }
    assert!(planted >= 10_000, "{planted}");
    assert!(
        found.is_empty(),
        "{} of {planted}:\n{}",
        found.len(),
        found[..found.len().min(40)].join("\n")
    );
}

/// Lines with a secret in quotes only. Numbers outside of strings stay.
fn quoted_lines(case: &Case) -> Vec<&'static str> {
    let is_quoted = |line: &str| {
        line.match_indices('$')
            .all(|(at, _)| line[..at].matches('"').count() % 2 == 1)
            && line.matches('"').count().is_multiple_of(2)
    };
    case.lines
        .iter()
        .copied()
        .filter(|line| line.contains('$') && is_quoted(line))
        .collect()
}

#[test]
fn no_number_in_a_string_survives() {
    let mut random = Sequence(2);
    let (mut planted, mut found) = (0, Vec::new());
    for case in CASES.iter().filter(|case| !quoted_lines(case).is_empty()) {
        for envelope in ENVELOPES {
            let plant = |kind| planted_number(&mut random, kind);
            let (places, more) = survivors((case, &quoted_lines(case)), envelope, plant, redacted);
            planted += places;
            found.extend(more);
        }
    }
    assert!(planted >= 5_000, "{planted}");
    assert!(
        found.is_empty(),
        "{} of {planted}:\n{}",
        found.len(),
        found[..found.len().min(40)].join("\n")
    );
}

/// A redacted line, and what a worse way to redact leaves of the original one.
type Leak = fn(&str) -> String;

#[test]
fn each_way_to_leak_is_found() {
    let leaks: [(&str, Leak); 5] = [
        ("one field", |line| {
            line.split("ifr_name=").nth(1).unwrap_or("").to_owned()
        }),
        ("the end", |line| {
            line.chars()
                .rev()
                .take(30)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect()
        }),
        ("hexadecimal", |line| {
            line.bytes().map(|byte| format!("{byte:02x}")).collect()
        }),
        ("capitals", |line| {
            line.bytes().map(|byte| format!("{byte:02X}")).collect()
        }),
        ("base64", |line| base64(line.as_bytes())),
    ];
    let case = &CASES[0];
    for (name, leak) in leaks {
        let leaking = |text: &str| {
            let out = redacted(text);
            let lines = out.split(|&byte| byte == b'\n').zip(text.split('\n'));
            lines
                .map(|(made, line)| [made, leak(line).as_bytes()].concat())
                .collect::<Vec<_>>()
                .join(&b'\n')
        };
        let plants: [fn(&mut Sequence, usize) -> Planted; 2] = [planted_word, planted_number];
        for plant in plants {
            let mut random = Sequence(3);
            let (_, found) = survivors(
                (case, &quoted_lines(case)),
                "",
                |kind| plant(&mut random, kind),
                leaking,
            );
            assert!(!found.is_empty(), "{name}");
        }
    }
}

/// TRACEALYZE_BLESS=1 writes them again.
#[test]
fn each_format_is_redacted_as_its_golden_file() {
    let bless = std::env::var_os("TRACEALYZE_BLESS").is_some();
    for case in CASES {
        let words = [
            "alice",
            "customers-2024.csv",
            "Xa81kQ",
            "10.1.2.3",
            "4539148803436467",
        ];
        let lines = case
            .lines
            .iter()
            .enumerate()
            .map(|(at, line)| line.replace('$', words[at % words.len()]));
        let text: String = case
            .head
            .iter()
            .map(|line| line.to_string())
            .chain(lines)
            .map(|line| line + "\n")
            .collect();
        let made = String::from_utf8(redacted(&text)).expect("all of it is UTF-8");
        let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/golden")
            .join(case.name);
        if bless {
            std::fs::write(&golden, &made).expect("the file is written");
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(
            made.lines().collect::<Vec<_>>(),
            expected.lines().collect::<Vec<_>>(),
            "{}",
            case.name
        );
    }
}
