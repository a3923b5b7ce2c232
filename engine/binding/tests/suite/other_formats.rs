//! Captures of kdump, perf trace, ltrace and AIX truss: calls with their times, tasks with their creators.

use parsers::line::Ended;
use parsers::{LineKind, NO_NS};
use std::io::Write;
use trace::store::event::EventKind;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

fn read(text: &str) -> Trace {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the capture");
    file.write_all(text.as_bytes()).expect("the lines");
    let capture = vec![file.path().to_string_lossy().into_owned()];
    trace::ingest::read::read(&[capture], None, &mut |_, _| {}).expect("a format that is known")
}

/// Each call: thread, name, start and duration in microseconds, kind of duration, outcome, target.
fn calls(trace: &Trace) -> Vec<String> {
    let events = &trace.events;
    let first_ns = trace.captures[0].first_ns;
    let us = |ns: i64, from_ns: i64| {
        if ns == NO_NS {
            "?".to_owned()
        } else {
            ((ns - from_ns) / 1_000).to_string()
        }
    };
    let rows = (0..events.len()).filter(|&row| events.kind(row) == EventKind::Call);
    let told = rows.map(|row| {
        let shape = events.shape(row);
        let columns = [
            trace.tasks[events.task(row)].tid.to_string(),
            events.texts.string(shape.syscall).into_owned(),
            us(events.start_ns(row), first_ns),
            us(events.dur_ns(row), 0),
            events.dur_kind(row).name().to_owned(),
            events.outcome(row).name().to_owned(),
            events.texts.string(events.target(row)).into_owned(),
        ];
        columns.join(" ").trim_end().to_owned()
    });
    told.collect()
}

/// Each task: process/thread, thread of its creator, whether it is a thread, how it ended, its programs.
fn tasks(trace: &Trace) -> Vec<String> {
    let told = trace.tasks.iter().map(|task| {
        let creator = match task.creator {
            TaskId::NONE => "-".to_owned(),
            creator => trace.tasks[creator].tid.to_string(),
        };
        let ended = match task.ended {
            None => "-".to_owned(),
            Some(Ended::Exited(status)) => status.to_string(),
            Some(Ended::Killed(signal)) => trace.events.texts.string(signal).into_owned(),
        };
        let programs: Vec<_> = task
            .programs
            .iter()
            .map(|program| trace.events.texts.string(program.path))
            .collect();
        let kind = if task.is_thread { "thread" } else { "process" };
        format!(
            "{}/{} {creator} {kind} {ended} {}",
            task.pid,
            task.tid,
            programs.join(",")
        )
    });
    told.collect()
}

fn lines_of(trace: &Trace, kind: LineKind) -> u64 {
    trace.captures[0].accounting[kind as usize]
}

const EXEC: &str = "\
  2769 ktrace   1300000000.000000 RET   ktrace 0
  2769 ktrace   1300000000.000010 CALL  execve(0x7fffffffe590,0x7fffffffeb10,0x7fffffffeb28)
  2769 ktrace   1300000000.000020 NAMI  \"/sbin/sh\"
  2769 ktrace   1300000000.000030 RET   execve -1 errno 2 No such file or directory
  2769 ktrace   1300000000.000040 CALL  execve(0x7fffffffe590,0x7fffffffeb10,0x7fffffffeb28)
  2769 ktrace   1300000000.000050 NAMI  \"/bin/sh\"
  2769 ktrace   1300000000.000060 NAMI  \"/libexec/ld-elf.so.1\"
  2769 sh       1300000000.000070 RET   execve 0
  2769 sh       1300000000.000080 CALL  open(0x800534000,0<O_RDONLY>)
  2769 sh       1300000000.000090 NAMI  \"/etc/profile\"
  2769 sh       1300000000.000100 RET   open 3
  2769 sh       1300000000.000110 CALL  read(0x3,0x800534000,0x400)
  2769 sh       1300000000.000120 GIO   fd 3 read 4 bytes
       \"x=1
\t\"
  2769 sh       1300000000.000130 RET   read 4
  2769 sh       1300000000.000140 CALL  exit(0x1)
";

#[test]
fn kdump_calls_last_from_call_to_return_and_take_their_path_from_between() {
    let trace = read(EXEC);
    let expected = [
        "2769 ktrace 0 0 none ok",
        "2769 execve 10 20 exact failed /sbin/sh",
        "2769 execve 40 30 exact ok /bin/sh",
        "2769 open 80 20 exact ok /etc/profile",
        "2769 read 110 20 exact ok /etc/profile",
        "2769 exit 140 ? none noreturn",
    ];
    assert_eq!(calls(&trace), expected);
    assert_eq!(tasks(&trace), ["2769/2769 - process 1 /bin/sh"]);
    assert!(trace.tasks.raw[0].born);
    assert_eq!(
        trace.tasks.raw[0].death_ns - trace.captures[0].first_ns,
        140_000
    );
}

#[test]
fn kdump_links_a_child_from_either_side_with_and_without_thread_ids() {
    let plain = [
        "  10 sh       1300000000.000000 CALL  fork",
        "  11 sh       1300000000.000010 RET   fork 0",
        "  10 sh       1300000000.000020 RET   fork 11/0xb",
        "  10 sh       1300000000.000030 CALL  vfork",
        "  10 sh       1300000000.000040 RET   vfork 12/0xc",
        "  12 sh       1300000000.000050 RET   vfork 0",
        "  12 sh       1300000000.000060 PSIG  SIGKILL SIG_DFL",
        "  10 sh       1300000000.000070 CALL  getpid",
    ];
    let trace = read(&plain.join("\n"));
    assert_eq!(
        tasks(&trace),
        [
            "10/10 - process - sh",
            "11/11 10 process - ",
            "12/12 10 process SIGKILL "
        ]
    );
    let threads: Vec<String> = plain
        .iter()
        .map(|line| {
            line.replace("  10 sh", "  10 100010 sh")
                .replace("  11 sh", "  11 100011 sh")
        })
        .map(|line| line.replace("  12 sh", "  12 100012 sh"))
        .collect();
    let trace = read(&threads.join("\n"));
    let expected = [
        "10/100010 - process - sh",
        "11/100011 100010 process - ",
        "12/100012 100010 process SIGKILL ",
    ];
    assert_eq!(tasks(&trace), expected);
}

#[test]
fn kdump_without_thread_ids_ends_the_newest_open_call_of_the_name() {
    let trace = read(
        "\
  10 x        0.000000 CALL  select(0x4,0x1000,0,0,0)
  10 x        0.000100 CALL  read(0x3,0x1000,0x400)
  10 x        0.000200 RET   read 4
  10 x        0.000300 CALL  nanosleep(0x1000,0)
  10 x        0.000400 RET   select 1
  10 x        0.000500 RET   nanosleep 0
  10 x        0.000600 CALL  poll(0x1000,0x1,0xffffffff)
  10 x        0.000700 CALL  getpid
  10 x        0.000800 RET   getpid 10/0xa
",
    );
    let expected = [
        "10 select 0 400 exact ok",
        "10 read 100 100 exact ok",
        "10 nanosleep 300 200 exact ok",
        "10 poll 600 ? none open",
        "10 getpid 700 100 exact ok",
    ];
    assert_eq!(calls(&trace), expected);
    assert_eq!(lines_of(&trace, LineKind::Mismatched), 0);
}

#[test]
fn kdump_differences_add_up_over_all_threads_and_may_be_negative() {
    let trace = read(
        "\
  10 100010 x        0.000000000 CALL  read(0x3,0x1000,0x400)
  10 100011 x        0.000500000 CALL  getpid
  10 100011 x        0.000200000 RET   getpid 10/0xa
  10 100010 x        -0.000100000 RET   read 4
Events dropped.
",
    );
    assert_eq!(
        calls(&trace),
        [
            "100010 read 0 600 exact ok",
            "100011 getpid 500 200 exact ok"
        ]
    );
    assert_eq!(lines_of(&trace, LineKind::Dropped), 1);
    assert!(trace.tasks.raw[1].is_thread);
}

#[test]
fn perf_calls_start_at_the_printed_time_also_when_continued() {
    let trace = read(
        "\
         ? (         ): sh/10  ... [continued]: execve())                            = 0
     0.051 ( 0.015 ms): sh/10 brk()                                                  = 0x55d7a5435000
         ? (         ): sh/11  ... [continued]: vfork())                             = 0
     6.620 (         ): sh/10 vfork()                                             ...
     6.620 ( 3.073 ms): sh/10  ... [continued]: vfork())                             = 11
     9.584 (         ): ls/11 execve(filename: 0x54335f88, argv: 0x560854335c00)  ...
     9.584 ( 0.253 ms): ls/11  ... [continued]: execve())                            = 0
     9.729 (         ): sh/10 wait4(upid: -1, stat_addr: 0x7ffe2a90f2dc)          ...
    10.000 ( 0.010 ms): ls/11 openat(dfd: CWD, filename: \"/etc/x\", flags: RDONLY)    = -1 ENOENT (No such file or directory)
    20.000 ( 0.100 ms): ls/11 clone3(uargs: 0x7ffd7008ad60, size: 88)                 = 12 (ls)
    20.200 (         ): ls/12 exit()                                                 = ?
    23.363 (         ): ls/11 exit_group(error_code: 2)                              = ?
     9.729 (15.853 ms): sh/10  ... [continued]: wait4())                             = 11 (ls)
    25.608 (         ): sh/10 rt_sigreturn()                                      ...
",
    );
    let expected = [
        "10 execve ? ? none ok",
        "10 brk 0 15 exact ok",
        "11 vfork ? ? none ok",
        "10 vfork 6569 3073 exact ok",
        "11 execve 9533 253 exact ok",
        "10 wait4 9678 15853 exact ok",
        "11 openat 9949 10 exact failed /etc/x",
        "11 clone3 19949 100 exact ok",
        "12 exit 20149 ? none noreturn",
        "11 exit_group 23312 ? none noreturn",
        "10 rt_sigreturn 25557 ? none open",
    ];
    assert_eq!(calls(&trace), expected);
    assert_eq!(
        tasks(&trace),
        [
            "10/10 - process - sh",
            "11/11 10 process 2 ls",
            "11/12 11 thread 0 "
        ]
    );
    assert!(trace.tasks.raw[0].born && trace.tasks.raw[1].vfork);
}

#[test]
fn ltrace_counts_calls_of_the_kernel_alone() {
    let trace = read(
        "\
10 1795246864.000000 pthread_create(0x7ffd9770d850, 0, 0x5651b391d179, 0 <unfinished ...>
10 1795246864.000100 SYS_435(0x7ffd9770d670, 88, 0x7fcf7fd56ef0, 8) = 0xb <0.000088>
10 1795246864.000200 <... pthread_create resumed> ) = 0 <0.000501>
11 1795246864.000250 usleep(3000 <unfinished ...>
10 1795246864.000300 SYS_futex(0x7fcf7fcca990, 265, 0x7009, 0 <unfinished ...>
11 1795246864.000400 SYS_clock_nanosleep(0, 0, 0x7fcf7fcc9e80, 0) = 0 <0.003000>
11 1795246864.003500 <... usleep resumed> ) = <void> <0.003250>
11 1795246864.003600 SYS_exit(0 <no return ...>
11 1795246864.003700 +++ exited (status 0) +++
10 1795246864.003800 <... SYS_futex resumed> ) = -512 <0.003500>
10 1795246864.003900 SYS_exit_group(3 <no return ...>
10 1795246864.004000 +++ exited (status 3) +++
",
    );
    let expected = [
        "10 clone3 0 88 exact ok",
        "10 futex 200 3500 exact interrupted 0x7fcf7fcca990",
        "11 clock_nanosleep 300 3000 exact ok",
        "11 exit 3500 ? none noreturn",
        "10 exit_group 3800 ? none noreturn",
    ];
    assert_eq!(calls(&trace), expected);
    assert_eq!(tasks(&trace), ["10/10 - process 3 ", "10/11 10 thread 0 "]);
    assert_eq!(lines_of(&trace, LineKind::Notice), 4);
}

#[test]
fn aix_children_print_process_and_thread() {
    let trace = read(
        "\
8192196: 21037193: kfork() = 12845270
12845270: 31457545: kfork()   (returning as child ...)   = 0
12845270: 31457545: execve(\"/usr/bin/ls\", 0x2FF22B38, 0x20013E98)  argc: 1
12845270: 31457545: kopen(\"/etc/nothere\", O_RDONLY)         Err#2  ENOENT
12845270: 31457545: _exit(1)
8192196: 21037193: kwaitpid(0x2FF22A28, -1, 4, 0x00000000, 0x00000000) = 12845270
",
    );
    let expected = [
        "8192196/21037193 - process - ",
        "12845270/31457545 21037193 process 1 /usr/bin/ls",
    ];
    assert_eq!(tasks(&trace), expected);
    assert_eq!(
        calls(&trace)[2],
        "31457545 kopen ? ? none failed /etc/nothere"
    );
}
