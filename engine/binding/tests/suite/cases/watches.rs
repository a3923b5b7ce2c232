//! Watched files: the tasks that made the requested kind of change.

use super::Case;

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    Case { name: "closing a written file ends the wait for changes of its directory", lines: r#"
1 01.000000 inotify_init1(0) = 3<anon_inode:inotify> <0.000010>
1 01.000100 inotify_add_watch(3<anon_inode:inotify>, "in", IN_CLOSE_WRITE) = 1 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.000400 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>
1 01.001000 read(3<anon_inode:inotify>,  <unfinished ...>
2 01.001000 openat(AT_FDCWD</srv>, "in/x", O_WRONLY|O_CREAT, 0666) = 4</srv/in/x> <0.000010>
2 01.301000 write(4</srv/in/x>, "a", 1) = 1 <0.000010>
3 01.400000 openat(AT_FDCWD</srv>, "in/x", O_RDONLY) = 5</srv/in/x> <0.000010>
2 01.500900 close(4</srv/in/x>) = 0 <0.000020>
3 01.500950 close(5</srv/in/x>) = 0 <0.000010>
1 01.501000 <... read resumed>"\1\0\0\0\10\0\0\0", 4096) = 32 <0.500000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 2 watch inferred"] },
    Case { name: "without descriptor names, a poll of a watch that is read next was ended by the rename", lines: r#"
1 01.000000 inotify_init1(0) = 3 <0.000010>
1 01.000100 inotify_add_watch(3, "/srv/in", IN_MOVED_TO) = 1 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 poll([{fd=3, events=POLLIN}], 1, -1 <unfinished ...>
2 01.300000 openat(AT_FDCWD, "/srv/in/y", O_WRONLY|O_CREAT, 0666) = 4 <0.000010>
2 01.500900 rename("/srv/tmp/x", "/srv/in/x") = 0 <0.000020>
1 01.501000 <... poll resumed>) = 1 ([{fd=3, revents=POLLIN}]) <0.500000>
1 01.501100 read(3, "\1\0\0\0\200\0\0\0", 4096) = 32 <0.000010>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 poll: 2 watch inferred"] },
    Case { name: "an epoll on file watches is ended by the removal of a file, as far as the trace shows", lines: r#"
1 01.000000 inotify_init1(0) = 3 <0.000010>
1 01.000100 inotify_add_watch(3, "/run/x.pid", IN_DELETE_SELF) = 1 <0.000010>
1 01.000120 epoll_create1(0) = 4 <0.000010>
1 01.000140 epoll_ctl(4, EPOLL_CTL_ADD, 3, {events=EPOLLIN, data=0x3}) = 0 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 epoll_wait(4,  <unfinished ...>
2 01.500900 unlink("/run/x.pid") = 0 <0.000020>
1 01.501000 <... epoll_wait resumed>[{events=EPOLLIN, data=0x3}], 8, -1) = 1 <0.500000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 epoll_wait: 2 watch inferred"] },
    Case { name: "the end of a process closes the files that it wrote", lines: r#"
1 01.000000 inotify_init1(0) = 3 <0.000010>
1 01.000100 inotify_add_watch(3, "/srv/out", IN_CLOSE_WRITE) = 1 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 read(3,  <unfinished ...>
2 01.002000 openat(AT_FDCWD, "/srv/out", O_WRONLY|O_CREAT, 0666) = 4 <0.000010>
2 01.500800 exit_group(0) = ?
2 01.500900 +++ exited with 0 +++
1 01.501000 <... read resumed>"\1\0\0\0\10\0\0\0", 4096) = 16 <0.500000>
1 01.503500 exit_group(0) = ?
"#, ends: &["1 read: 2 watch inferred"] },
    Case { name: "a shell closes the file that it wrote by restoring the old descriptor over it", lines: r#"
1 01.000000 inotify_init1(0) = 3 <0.000010>
1 01.000100 inotify_add_watch(3, "/srv/out", IN_CLOSE_WRITE) = 1 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 read(3,  <unfinished ...>
2 01.500500 openat(AT_FDCWD, "/srv/out", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3 <0.000010>
2 01.500600 dup2(3, 1) = 1 <0.000010>
2 01.500650 close(3) = 0 <0.000010>
2 01.500700 write(1, "done\n", 5) = 5 <0.000010>
2 01.500900 dup2(10, 1) = 1 <0.000010>
1 01.501000 <... read resumed>"\1\0\0\0\10\0\0\0", 4096) = 16 <0.500000>
1 01.503500 exit_group(0) = ?
2 01.600000 exit_group(0) = ?
"#, ends: &["1 read: 2 watch inferred"] },
    Case { name: "changes elsewhere, of another kind, or by the watcher itself end no wait", lines: r#"
1 01.000000 inotify_init1(0) = 3<anon_inode:inotify> <0.000010>
1 01.000100 inotify_add_watch(3<anon_inode:inotify>, "/srv/in", IN_CREATE) = 1 <0.000010>
1 01.000150 openat(AT_FDCWD, "/srv/in/own", O_WRONLY|O_CREAT, 0666) = 4</srv/in/own> <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 read(3<anon_inode:inotify>,  <unfinished ...>
2 01.500500 openat(AT_FDCWD, "/srv/other/x", O_WRONLY|O_CREAT, 0666) = 3</srv/other/x> <0.000010>
2 01.500600 openat(AT_FDCWD, "/srv/in/old", O_RDONLY) = 5</srv/in/old> <0.000010>
2 01.500700 unlink("/srv/in/old") = 0 <0.000010>
1 01.501000 <... read resumed>"\1\0\0\0\10\0\0\0", 4096) = 32 <0.500000>
1 01.503500 exit_group(0) = ?
2 01.600000 exit_group(0) = ?
"#, ends: &["1 read: unknown"] },
    Case { name: "fanotify reports an open", lines: r#"
1 01.000000 fanotify_init(FAN_CLASS_NOTIF, O_RDONLY) = 3 <0.000010>
1 01.000100 fanotify_mark(3, FAN_MARK_ADD, FAN_OPEN|FAN_EVENT_ON_CHILD, AT_FDCWD, "/srv/in/") = 0 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 read(3,  <unfinished ...>
2 01.500600 openat(AT_FDCWD, "/srv/in/x", O_RDONLY) = 5 <0.000010>
1 01.500700 <... read resumed>[{...}], 4096) = 24 <0.499700>
1 01.503500 exit_group(0) = ?
2 01.600000 exit_group(0) = ?
"#, ends: &["1 read: 2 watch inferred"] },
    Case { name: "a watch of the current directory reports an absolute path if the wait ended with it", lines: r#"
1 01.000000 inotify_init1(0) = 3<anon_inode:inotify> <0.000010>
1 01.000100 inotify_add_watch(3<anon_inode:inotify>, ".", IN_CREATE) = 1 <0.000010>
1 01.000200 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 01.001000 read(3<anon_inode:inotify>,  <unfinished ...>
2 01.200600 openat(AT_FDCWD</srv>, "early", O_WRONLY|O_CREAT, 0666) = 3</srv/early> <0.000010>
1 01.500000 <... read resumed>"\1\0\0\0\10\0\0\0", 4096) = 32 <0.499000>
1 01.501000 read(3<anon_inode:inotify>,  <unfinished ...>
2 01.800600 openat(AT_FDCWD</srv>, "x", O_WRONLY|O_CREAT, 0666) = 3</srv/x> <0.000010>
1 01.800700 <... read resumed>"\1\0\0\0\10\0\0\0", 4096) = 32 <0.299700>
1 01.803500 exit_group(0) = ?
2 01.900000 exit_group(0) = ?
"#, ends: &["1 read: unknown", "1 read: 2 watch inferred"] },
];
