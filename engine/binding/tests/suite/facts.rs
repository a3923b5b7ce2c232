//! Facts of lines are kept by the rows of their events.

use parsers::facts::{Created, FaultAddress, FaultCode, Sender, Timeout};
use trace::store::event::EventKind;
use trace::store::trace::Trace;

fn read(text: &str) -> Trace {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace").to_string_lossy().into_owned();
    std::fs::write(&path, text).expect("a file");
    trace::ingest::read::read(&[vec![path]], None, &mut |_, _| {}).expect("a trace")
}

/// Code and address of each signal.
fn faults(trace: &Trace) -> Vec<(Option<String>, Option<u64>)> {
    let events = &trace.events;
    let signals = (0..events.len()).filter(|&row| events.kind(row) == EventKind::Signal);
    let fault = |row: u32| {
        let code = events.facts.get::<FaultCode>(row);
        let code = code.map(|&code| events.texts.string(code).into_owned());
        (code, events.facts.get::<FaultAddress>(row).copied())
    };
    signals.map(fault).collect()
}

#[test]
fn a_fault_has_its_code_and_address_at_the_row_of_the_signal() {
    let trace = read(
        "7 1795224170.100000 read(3</etc/x>, \"x\", 1) = 1 <0.000010>\n\
         7 1795224170.200000 --- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x12ac0648} ---\n\
         7 1795224170.300000 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---\n\
         7 1795224170.400000 --- SIGABRT {si_signo=SIGABRT, si_code=SI_TKILL, si_pid=7, si_uid=0} ---\n\
         7 1795224170.500000 +++ killed by SIGABRT +++\n",
    );
    let code = |code: &str| Some(code.to_owned());
    assert_eq!(
        faults(&trace),
        [
            (code("SEGV_MAPERR"), Some(0x12ac_0648)),
            (None, None),
            (code("SI_TKILL"), None),
        ]
    );
    assert_eq!(trace.events.facts.all::<FaultAddress>().len(), 1);
    assert_eq!(trace.events.facts.all::<Sender>(), [(3, 7)]);
}

#[test]
fn each_of_several_tasks_keeps_its_faults() {
    let line = |tid: u32, at: u32| {
        format!(
            "{tid} 1795224170.{at}00000 --- SIGSEGV {{si_signo=SIGSEGV, si_code=SEGV_ACCERR, \
             si_addr={tid:#x}}} ---\n"
        )
    };
    let trace = read(&(line(7, 1) + &line(8, 2) + &line(7, 3)));
    let addresses: Vec<Option<u64>> = faults(&trace).iter().map(|fault| fault.1).collect();
    assert_eq!(addresses, [Some(7), Some(8), Some(7)]);
}

#[test]
fn a_fault_in_a_line_after_that_of_the_signal_is_the_signal_s() {
    let trace = read(
        "4711:\tread(3, \"x\", 1)\t\t\t\t= 1\n\
         4711:\t    Incurred fault #6, FLTBOUNDS  %pc = 0xFEE1C2D0\n\
         4711:\t      siginfo: SIGSEGV SEGV_MAPERR addr=0x00000054\n\
         4711:\t    Received signal #11, SIGSEGV [default]\n\
         4711:\t      siginfo: SIGSEGV SEGV_MAPERR addr=0x00000054\n",
    );
    assert_eq!(
        faults(&trace),
        [(Some("SEGV_MAPERR".to_owned()), Some(0x54))]
    );
}

#[test]
fn facts_of_a_call_in_halves_are_at_its_row() {
    let trace = read(
        "7 1795224170.100000 nanosleep({tv_sec=1, tv_nsec=0},  <unfinished ...>\n\
         8 1795224170.200000 openat(AT_FDCWD, \"/x\", O_WRONLY|O_CREAT, 0644) = 3 <0.000010>\n\
         7 1795224171.100000 <... nanosleep resumed>NULL) = 0 <1.000000>\n",
    );
    let facts = &trace.events.facts;
    assert_eq!(facts.all::<Timeout>(), [(0, 1_000_000_000)]);
    assert_eq!(facts.get::<Timeout>(1), None);
    assert!(facts.has::<Created>(1) && !facts.has::<Created>(0));
}
