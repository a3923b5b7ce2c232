//! The cost of the walk compared to reading: `cargo bench -p tracealyze-binding --bench walk -- [--trips N] [FILE…]`
//!
//! Two processes that pass a byte back and forth through two pipes, N times, 2 N and 4 N: each read waits for the other
//! side's write, so the walk changes tasks at every call. Then the given files. Times are CPU times of all threads,
//! which depend little on other load, and wall-clock times. The ratios matter: to reading, and from N to 2 N. Steps are
//! the walk alone, without dividing the path among calls.

use path::critical_path::attribution::Attribution;
use path::critical_path::segment::Segment;
use path::critical_path::walk;
use path::critical_path::walk::WalkListener;
use path::critical_path::walk::work_span::WorkSpan;
use path::critical_path::window;
use path::critical_path::window::{Window, WindowChoice};
use path::partition::group_by;
use path::partition::pieces::Pieces;
use path::partition::scope;
use path::waits::wakers::Wakers;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;
use trace::ingest::read;
use trace::store::programs::ProgramIndex;
use trace::store::trace::Trace;

const TRIPS: u64 = 100_000;

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (mut trips, mut files) = (TRIPS, Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--trips" => {
                trips = words
                    .next()
                    .and_then(|number| number.parse().ok())
                    .unwrap_or(TRIPS)
            }
            _ => files.push(word),
        }
    }
    println!(
        "seconds         reading    wakers      steps       walk       sums      table  steps/reading  walk/reading   all/reading"
    );
    let several = [1, 2, 4].map(|times| ping_pong(times * trips));
    let ratios = several.windows(2).map(|pair| {
        format!(
            "{:.2}",
            pair[1].walking().clock_s / pair[0].walking().clock_s
        )
    });
    println!(
        "  twice as many trips take the walk {} times as long",
        ratios.collect::<Vec<_>>().join(" and ")
    );
    for file in files {
        measured(Path::new(&file)).show(&file);
    }
}

/// The time of each step.
struct Costs {
    events: u32,
    reading: Time,
    wakers: Time,
    steps: Time,
    walk: Time,
    sums: Time,
    table: Time,
    peak_mib: [u64; 4],
}

impl Costs {
    fn walking(&self) -> Time {
        self.wakers + self.walk
    }

    fn show(&self, name: &str) {
        let Costs {
            events,
            reading,
            wakers,
            steps,
            walk,
            sums,
            table,
            ..
        } = *self;
        println!("{name}, {events} events");
        let all = self.walking() + sums + table;
        for (kind, of) in [
            ("CPU", (|time| time.cpu_s) as fn(Time) -> f64),
            ("clock", |time| time.clock_s),
        ] {
            let [reading, wakers, steps, walk, sums, table] =
                [reading, wakers, steps, walk, sums, table].map(of);
            let times = format!(
                "{reading:>10.3} {wakers:>9.3} {steps:>10.3} {walk:>10.3} {sums:>10.3} {table:>10.3}"
            );
            let ratios = [steps, of(self.walking()), of(all)]
                .map(|time| format!("{:>14.3}", time / reading));
            println!("  {kind:<10} {times} {}", ratios.concat());
        }
        let [read, wakers, walked, all] = self.peak_mib;
        println!("  peak MiB after reading {read}, wakers {wakers}, walk {walked}, all {all}");
    }
}

fn ping_pong(trips: u64) -> Costs {
    let name =
        std::env::temp_dir().join(format!("ping-pong-{}-{trips}.strace", std::process::id()));
    let made = write_ping_pong(&name, trips);
    let costs = made.map(|()| measured(&name));
    drop(std::fs::remove_file(&name));
    let costs = costs.unwrap_or_else(|error| panic!("{}: {error}", name.display()));
    costs.show(&format!("{trips} round trips"));
    costs
}

/// One waits in a read while the other one works and writes.
fn write_ping_pong(name: &Path, trips: u64) -> std::io::Result<()> {
    const STEP_US: u64 = 40;
    let mut out = BufWriter::new(std::fs::File::create(name)?);
    let stamp = |us: u64| format!("{}.{:06}", 1_700_000_000 + us / 1_000_000, us % 1_000_000);
    writeln!(
        out,
        "100 {} execve(\"/bin/ping\", [\"ping\"], 0x7ffd /* 9 vars */) = 0 <0.000400>",
        stamp(0)
    )?;
    writeln!(
        out,
        "100 {} clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.000050>",
        stamp(500)
    )?;
    for trip in 0..trips {
        let us = 1000 + trip * 2 * STEP_US;
        let (there, back) = (stamp(us), stamp(us + STEP_US));
        writeln!(
            out,
            "101 {there} read(3<pipe:[7]>, \"x\", 1) = 1 <0.000030>"
        )?;
        writeln!(
            out,
            "100 {} write(4<pipe:[7]>, \"x\", 1) = 1 <0.000008>",
            stamp(us + 20)
        )?;
        writeln!(out, "100 {back} read(5<pipe:[8]>, \"x\", 1) = 1 <0.000030>")?;
        writeln!(
            out,
            "101 {} write(6<pipe:[8]>, \"x\", 1) = 1 <0.000008>",
            stamp(us + STEP_US + 20)
        )?;
    }
    let end_us = 1000 + trips * 2 * STEP_US;
    writeln!(out, "101 {} exit_group(0) = ?", stamp(end_us))?;
    writeln!(out, "101 {} +++ exited with 0 +++", stamp(end_us + 10))?;
    writeln!(out, "100 {} exit_group(0) = ?", stamp(end_us + 20))?;
    writeln!(out, "100 {} +++ exited with 0 +++", stamp(end_us + 30))?;
    out.flush()
}

fn measured(file: &Path) -> Costs {
    let captures = [vec![file.display().to_string()]];
    let (reading_time, trace) = timed(|| match read::read(&captures, None, &mut |_, _| ()) {
        Ok(trace) => trace,
        Err(error) => panic!("{}: {error:?}", file.display()),
    });
    let read_mib = peak_mib();
    let (wakers_time, wakers) = timed(|| Wakers::new(&trace));
    let wakers_mib = peak_mib();
    let (steps_time, _) = timed(|| steps(&trace, &wakers));
    let (walk_time, (windows, attribution)) = timed(|| walked(&trace, &wakers));
    let walk_mib = peak_mib();
    let (sums_time, pieces) = timed(|| {
        Pieces::new(
            &trace,
            &ProgramIndex::new(&trace.tasks),
            &attribution,
            &windows,
        )
    });
    let (table, table_rows) =
        timed(|| group_by::group_by(&trace, &pieces, &scope::GroupQuery::default()));
    println!("{} rows of the partition", table_rows.len());
    let peak_mib = [read_mib, wakers_mib, walk_mib, peak_mib()];
    Costs {
        events: trace.events.len(),
        reading: reading_time,
        wakers: wakers_time,
        steps: steps_time,
        walk: walk_time,
        sums: sums_time,
        table,
        peak_mib,
    }
}

/// Ignores all events.
struct Deaf;

impl WalkListener for Deaf {
    fn charged(&mut self, _segment: Segment) {}
    fn worked(&mut self, _trace: &Trace, _wakers: &Wakers, _spell: WorkSpan) {}
}

fn steps(trace: &Trace, wakers: &Wakers) -> u64 {
    let windows = window::windows(trace, &WindowChoice::default());
    windows
        .iter()
        .map(|window| walk::walk(trace, wakers, window, &mut Deaf))
        .sum()
}

fn walked(trace: &Trace, wakers: &Wakers) -> (Vec<Window>, Attribution) {
    let windows = window::windows(trace, &WindowChoice::default());
    let attribution = Attribution::walked(trace, wakers, &windows);
    (windows, attribution)
}

/// CPU seconds of all cores, and wall-clock seconds.
#[derive(Clone, Copy)]
struct Time {
    cpu_s: f64,
    clock_s: f64,
}

impl std::ops::Add for Time {
    type Output = Time;

    fn add(self, other: Time) -> Time {
        Time {
            cpu_s: self.cpu_s + other.cpu_s,
            clock_s: self.clock_s + other.clock_s,
        }
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (Time, T) {
    let (begun, begin_s) = (Instant::now(), cpu_s());
    let done = work();
    (
        Time {
            cpu_s: cpu_s() - begin_s,
            clock_s: begun.elapsed().as_secs_f64(),
        },
        done,
    )
}

/// CPU time of this process so far, in steps of 10 ms.
fn cpu_s() -> f64 {
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split(' ')
        .skip(11)
        .take(2);
    fields
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / TICKS
}

/// Peak resident memory so far, if the system reports it.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or("0");
    line.split_whitespace()
        .next()
        .and_then(|kib| kib.parse::<u64>().ok())
        .unwrap_or(0)
        / 1024
}
