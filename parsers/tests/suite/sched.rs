//! Scheduler events: text of each tool, perf.data, and damaged files.

use crate::perf_data::kept;
use parsers::sched::pack::pack;
use parsers::sched::text::event;
use parsers::sched::{Context, Left, SchedChange, SchedEvent, SchedSource, read};

/// The same switch, as `perf script`, `trace-cmd report` and ftrace print it.
const SWITCHES: [&str; 3] = [
    "  my sh 15/7 [001] 5.000000002: sched:sched_switch: prev_comm=my sh prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=a [0] 1.0: b next_pid=8 next_prio=119",
    "my sh-7  [001]     5.000000002: sched_switch:         my sh:7 [120] S ==> a [0] 1.0: b:8 [119]",
    "  my sh-7       [001] d..2.     5.000000002: sched_switch: prev_comm=my sh prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=a next_pid=8 next_prio=119",
];

fn perf_data() -> Vec<u8> {
    kept("sleep-pipe.perf.data.gz")
}

fn events(bytes: &[u8]) -> Vec<SchedEvent> {
    let mut found = Vec::new();
    read(&SchedSource::Bytes(bytes), &mut |event| found.push(event)).unwrap();
    found
}

#[test]
fn each_tool_prints_the_same_switch() {
    for line in SWITCHES {
        let found = event(line.as_bytes()).unwrap();
        assert_eq!(
            (found.time_ns, found.cpu, found.tid),
            (5_000_000_002, 1, 7),
            "{line}"
        );
        let SchedChange::Switch { from, left, to } = found.change else {
            panic!("{line}");
        };
        assert_eq!((from.tid, left, to.tid), (7, Left::Blocked, 8), "{line}");
        assert_eq!(&from.comm[..6], b"my sh\0", "{line}");
        assert_eq!(
            (from.priority, to.priority),
            (Some(120), Some(119)),
            "{line}"
        );
    }
}

#[test]
fn flags_show_an_interrupt() {
    let context = |flags: &str| {
        let line =
            format!("<idle>-0 [000] {flags} 1.5: sched_waking: comm=sh pid=7 prio=1 target_cpu=0");
        let found = event(line.as_bytes()).unwrap();
        assert_eq!(
            (found.time_ns, found.change),
            (1_500_000_000, SchedChange::Waking(7))
        );
        found.context
    };
    let found = ["", "d.h1.", "d.s2.", "d..2."].map(context);
    let expected = [
        Context::Unknown,
        Context::HardInterrupt,
        Context::SoftInterrupt,
        Context::Thread,
    ];
    assert_eq!(found, expected);
}

#[test]
fn perf_data_shows_who_woke_whom() {
    let bytes = perf_data();
    let mut found = Vec::new();
    let facts = read(&SchedSource::Bytes(&bytes), &mut |event| found.push(event)).unwrap();
    assert_eq!(facts.unused, 0);
    // The recording was made after the year 2020.
    assert!(facts.epoch_offset_ns.unwrap() > 1_577_836_800_000_000_000);
    let number =
        |is: fn(&SchedChange) -> bool| found.iter().filter(|event| is(&event.change)).count();
    assert!(
        number(|change| matches!(
            change,
            SchedChange::Switch {
                left: Left::Traced,
                ..
            }
        )) > 100
    );
    assert!(number(|change| matches!(change, SchedChange::Waking(_))) > 100);
    assert!(number(|change| *change == SchedChange::Exec) >= 3);
    assert!(
        found
            .iter()
            .any(|event| event.context == Context::HardInterrupt)
    );
}

#[test]
fn packed_events_are_the_needed_ones() {
    let bytes = perf_data();
    let all = events(&bytes);
    let packed = pack(&SchedSource::Bytes(&bytes), &[]).unwrap();
    assert!(packed.len() < bytes.len() / 10);
    let kept = events(&packed);
    let forks = |events: &[SchedEvent]| {
        let changes = events.iter().map(|event| event.change);
        changes
            .filter(|change| matches!(change, SchedChange::Fork(_)))
            .count()
    };
    assert!(forks(&kept) >= 2 && kept.len() < all.len());
    // Apart from names that were printed before, they are the same.
    let plain = |event: &SchedEvent| (event.time_ns, event.cpu, event.tid, event.context);
    let mut times: Vec<_> = all.iter().map(plain).collect();
    times.sort_unstable_by_key(|&(time_ns, cpu, ..)| (time_ns, cpu));
    for event in &kept {
        let at = times.partition_point(|known| (known.0, known.1) < (event.time_ns, event.cpu));
        assert!(
            times[at..]
                .iter()
                .take(4)
                .any(|known| *known == plain(event)),
            "{event:?}"
        );
    }
}

#[test]
fn packed_priorities_are_the_last_ones_of_each_thread() {
    let bytes = perf_data();
    let packed = pack(&SchedSource::Bytes(&bytes), &[]).unwrap();
    let last = |events: &[SchedEvent]| {
        let mut found = std::collections::BTreeMap::new();
        for event in events {
            if let SchedChange::Switch { from, to, .. } = event.change {
                for named in [from, to] {
                    if let Some(priority) = named.priority {
                        found.insert(named.tid, priority);
                    }
                }
            }
        }
        found
    };
    let (all, kept) = (last(&events(&bytes)), last(&events(&packed)));
    assert!(!kept.is_empty());
    for (tid, priority) in kept {
        assert_eq!(all.get(&tid), Some(&priority), "{tid}");
    }
}

#[test]
fn damaged_files_are_errors_or_fewer_events() {
    let bytes = perf_data();
    let whole = events(&bytes).len();
    // A generator of numbers, so that each run damages the same bytes.
    let mut state = 7u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize
    };
    for round in 0..60 {
        let mut damaged = bytes.clone();
        // The headers first: most lengths are there.
        let range = if round % 2 == 0 { 4096 } else { damaged.len() };
        for _ in 0..=round % 7 {
            let at = next() % range;
            damaged[at] = next() as u8;
        }
        if round % 3 == 0 {
            damaged.truncate(next() % bytes.len());
        }
        let mut number = 0;
        let _ = read(&SchedSource::Bytes(&damaged), &mut |_| number += 1);
        assert!(number <= 2 * whole);
    }
}

/// A size that the memory does not have ended the process.
#[test]
fn sizes_larger_than_the_file_are_an_error() {
    let bytes = perf_data();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    // Attributes, data and features: where the sizes are that memory is asked for.
    let (attrs, data) = (word(24), (word(40), word(48)));
    let list = (data.0 + data.1) as usize;
    let features: u32 = (0..4)
        .map(|number| word(72 + 8 * number).count_ones())
        .sum();
    let mut places = vec![32, 64];
    places.extend((0..features as usize).map(|number| list + 16 * number + 8));
    places.push((attrs + word(16) - 8) as usize);
    let largest = [u64::MAX, 1 << 62, bytes.len() as u64 + 1];
    for (at, size) in places.iter().flat_map(|at| largest.map(|size| (*at, size))) {
        let mut damaged = bytes.clone();
        damaged[at..at + 8].copy_from_slice(&size.to_le_bytes());
        let found = read(&SchedSource::Bytes(&damaged), &mut |_| ());
        assert!(
            found.unwrap_err().to_string().contains("damaged"),
            "{size} at {at}"
        );
    }
    // Lists in the description of the events: number of events, of ids, and the length of a name.
    let described = (0..features as usize).map(|number| list + 16 * number);
    let described = described.map(|at| word(at) as usize).find(|&at| {
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        u32_at(at) < 20 && u64::from(u32_at(at + 4)) + 16 == word(16)
    });
    let first = described.unwrap();
    let attr_size = word(16) as usize - 16;
    for at in [
        first,
        first + 4,
        first + 8 + attr_size,
        first + 12 + attr_size,
    ] {
        let mut damaged = bytes.clone();
        damaged[at..at + 4].copy_from_slice(&[0xff; 4]);
        let found = read(&SchedSource::Bytes(&damaged), &mut |_| ());
        assert!(found.unwrap_err().to_string().contains("damaged"), "{at}");
    }
    // A record with data after it, of any size.
    let mut damaged = bytes.clone();
    let at = data.0 as usize;
    damaged[at..at + 16].copy_from_slice(&[71, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 64]);
    assert!(read(&SchedSource::Bytes(&damaged), &mut |_| ()).is_err());
}

#[test]
fn a_file_without_such_events_says_how_to_record() {
    let error = read(&SchedSource::Bytes(b"hello\n"), &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("perf record"));
}
