//! Fifos that were not created in the capture.

use super::Case;

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    Case { name: "a path is a fifo if an open of it lasts until another task opens the other side; reads on it wait for that writer", lines: r#"
1 01.000000 execve("/bin/cat", ["cat", "ff"], 0x7f /* 1 var */) = 0 <0.000100>
1 01.000200 openat(AT_FDCWD, "ff", O_RDONLY <unfinished ...>
2 01.501000 openat(AT_FDCWD, "ff", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3 <0.000100>
1 01.501200 <... openat resumed>) = 3 <0.501000>
1 01.501400 read(3,  <unfinished ...>
2 01.800000 write(3, "x\n", 2) = 2 <0.000100>
1 01.800200 <... read resumed>"x\n", 131072) = 2 <0.298800>
1 01.800400 read(3,  <unfinished ...>
2 01.900000 exit_group(0) = ?
2 01.900100 +++ exited with 0 +++
1 01.900200 <... read resumed>"", 131072) = 0 <0.099800>
1 01.903500 exit_group(0) = ?
"#, ends: &["1 openat: 2 stream inferred", "1 read: 2 stream inferred", "1 read: 2 stream inferred"] },
    Case { name: "an open for writing blocks until a reader opens the fifo", lines: r#"
1 01.000200 openat(AT_FDCWD, "/run/ff", O_WRONLY <unfinished ...>
2 01.501000 openat(AT_FDCWD, "/run/ff", O_RDONLY) = 3</run/ff> <0.000100>
1 01.501200 <... openat resumed>) = 3</run/ff> <0.501000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 openat: 2 stream inferred"] },
    Case { name: "a path is a fifo if a seek on it fails, opened for both sides before the capture", lines: r#"
1 01.000200 lseek(0</run/ff>, 0, SEEK_CUR) = -1 ESPIPE (Illegal seek) <0.000010>
1 01.001000 read(0</run/ff>,  <unfinished ...>
2 01.500000 openat(AT_FDCWD, "/run/ff", O_WRONLY) = 3</run/ff> <0.000100>
2 01.501000 write(3</run/ff>, "x\n", 2) = 2 <0.000100>
1 01.501200 <... read resumed>"x", 1) = 1 <0.500200>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 2 stream inferred"] },
    Case { name: "a slow open of a file for reading does not wait for other readers", lines: r#"
1 01.000200 openat(AT_FDCWD, "/net/conf", O_RDONLY <unfinished ...>
2 01.501000 openat(AT_FDCWD, "/net/conf", O_RDONLY) = 3</net/conf> <0.000100>
1 01.501200 <... openat resumed>) = 3</net/conf> <0.501000>
3 01.600000 openat(AT_FDCWD, "/net/conf", O_WRONLY) = 3</net/conf> <0.000100>
1 01.601400 read(3</net/conf>,  <unfinished ...>
3 01.800000 write(3</net/conf>, "x\n", 2) = 2 <0.000100>
1 01.800200 <... read resumed>"x\n", 131072) = 2 <0.198800>
1 01.903500 exit_group(0) = ?
"#, ends: &["1 openat: itself", "1 read: itself"] },
    Case { name: "a slow open does not wait for a writer if seeks succeed on the file, or if the writer came much earlier", lines: r#"
1 01.000200 openat(AT_FDCWD, "/net/log", O_RDONLY <unfinished ...>
2 01.200000 openat(AT_FDCWD, "/net/note", O_WRONLY) = 4</net/note> <0.000100>
2 01.501000 openat(AT_FDCWD, "/net/log", O_WRONLY) = 3</net/log> <0.000100>
1 01.501200 <... openat resumed>) = 3</net/log> <0.501000>
1 01.501400 lseek(3</net/log>, 0, SEEK_END) = 7 <0.000010>
3 01.100000 openat(AT_FDCWD, "/net/note", O_RDONLY) = 3</net/note> <0.500000>
1 01.903500 exit_group(0) = ?
"#, ends: &["1 openat: itself", "3 openat: itself"] },
    Case { name: "a device without seeks and a socket are not fifos", lines: r#"
1 01.000100 connect(4, {sa_family=AF_UNIX, sun_path="/run/s"}, 110) = 0 <0.000100>
1 01.000200 lseek(4, 0, SEEK_CUR) = -1 ESPIPE (Illegal seek) <0.000010>
1 01.000300 lseek(0</dev/ttyS0>, 0, SEEK_CUR) = -1 ESPIPE (Illegal seek) <0.000010>
1 01.001000 read(0</dev/ttyS0>,  <unfinished ...>
2 01.501000 write(3</dev/ttyS0>, "x\n", 2) = 2 <0.000100>
1 01.501200 <... read resumed>"x", 1) = 1 <0.500200>
1 01.601000 read(4,  <unfinished ...>
1 01.801200 <... read resumed>"x", 1) = 1 <0.200200>
1 01.903500 exit_group(0) = ?
"#, ends: &["1 read: unknown", "1 read: unknown"] },
];
