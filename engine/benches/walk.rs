//! What the walk along the path costs beside reading: `cargo bench -p tracealyze-engine --bench walk -- [--trips N] [FILE…]`
//!
//! Two processes that send a byte to and fro through two pipes, N times, 2 N and 4 N: each read waits for the other side's
//! write, so the walk changes tasks at every call. Then the files named. Times are CPU time of all threads, so a busy
//! machine changes little; what counts are the ratios, to reading and from N to 2 N.

use engine::charges::Charges;
use engine::partition::Pieces;
use engine::select::ProgramIndex;
use engine::trace::Trace;
use engine::wakers::Wakers;
use engine::window::{self, Choice, Window};
use engine::{fold, read};
use std::io::{BufWriter, Write};
use std::path::Path;

const TRIPS: u64 = 100_000;

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (mut trips, mut files) = (TRIPS, Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--trips" => trips = words.next().and_then(|number| number.parse().ok()).unwrap_or(TRIPS),
            _ => files.push(word),
        }
    }
    println!(
        "CPU seconds      events    reading    wakers       walk       sums      table  walk/reading  all/reading"
    );
    let several = [1, 2, 4].map(|times| ping_pong(times * trips));
    let ratios = several.windows(2).map(|pair| format!("{:.2}", pair[1].walking_s() / pair[0].walking_s()));
    println!("  twice as many trips take the walk {} times as long", ratios.collect::<Vec<_>>().join(" and "));
    for file in files {
        measured(Path::new(&file)).show(&file);
    }
}

/// CPU seconds of each step.
struct Costs {
    events: u32,
    reading_s: f64,
    wakers_s: f64,
    walk_s: f64,
    sums_s: f64,
    table_s: f64,
    peak_mib: [u64; 4],
}

impl Costs {
    fn walking_s(&self) -> f64 {
        self.wakers_s + self.walk_s
    }

    fn show(&self, name: &str) {
        let Costs { events, reading_s, wakers_s, walk_s, sums_s, table_s, .. } = self;
        let walk_share = self.walking_s() / reading_s;
        let share = (self.walking_s() + sums_s + table_s) / reading_s;
        let steps = format!("{reading_s:>10.3} {wakers_s:>9.3} {walk_s:>10.3} {sums_s:>10.3} {table_s:>10.3}");
        println!("{name}\n           {events:>12} {steps} {walk_share:>13.3} {share:>12.3}");
        let [read, wakers, walked, all] = self.peak_mib;
        println!("  peak MiB after reading {read}, wakers {wakers}, walk {walked}, all {all}");
    }
}

fn ping_pong(trips: u64) -> Costs {
    let name = std::env::temp_dir().join(format!("ping-pong-{}-{trips}.strace", std::process::id()));
    let made = write_ping_pong(&name, trips);
    let costs = made.map(|()| measured(&name));
    drop(std::fs::remove_file(&name));
    let costs = costs.unwrap_or_else(|error| panic!("{}: {error}", name.display()));
    costs.show(&format!("{trips} round trips"));
    costs
}

/// One waits in a read while the other works and writes.
fn write_ping_pong(name: &Path, trips: u64) -> std::io::Result<()> {
    const STEP_US: u64 = 40;
    let mut out = BufWriter::new(std::fs::File::create(name)?);
    let stamp = |us: u64| format!("{}.{:06}", 1_700_000_000 + us / 1_000_000, us % 1_000_000);
    writeln!(out, "100 {} execve(\"/bin/ping\", [\"ping\"], 0x7ffd /* 9 vars */) = 0 <0.000400>", stamp(0))?;
    writeln!(out, "100 {} clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.000050>", stamp(500))?;
    for trip in 0..trips {
        let us = 1000 + trip * 2 * STEP_US;
        let (there, back) = (stamp(us), stamp(us + STEP_US));
        writeln!(out, "101 {there} read(3<pipe:[7]>, \"x\", 1) = 1 <0.000030>")?;
        writeln!(out, "100 {} write(4<pipe:[7]>, \"x\", 1) = 1 <0.000008>", stamp(us + 20))?;
        writeln!(out, "100 {back} read(5<pipe:[8]>, \"x\", 1) = 1 <0.000030>")?;
        writeln!(out, "101 {} write(6<pipe:[8]>, \"x\", 1) = 1 <0.000008>", stamp(us + STEP_US + 20))?;
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
    let (reading_s, trace) = timed(|| match read::read(&captures, None, &mut |_, _| ()) {
        Ok(trace) => trace,
        Err(error) => panic!("{}: {error:?}", file.display()),
    });
    let read_mib = peak_mib();
    let (wakers_s, wakers) = timed(|| Wakers::new(&trace));
    let wakers_mib = peak_mib();
    let (walk_s, (windows, charges)) = timed(|| walked(&trace, &wakers));
    let walk_mib = peak_mib();
    let (sums_s, pieces) = timed(|| Pieces::new(&trace, &ProgramIndex::new(&trace), &charges, &windows));
    let (table_s, table) = timed(|| fold::fold(&trace, &pieces, &fold::Query::default()));
    println!("{} rows of the partition", table.len());
    let peak_mib = [read_mib, wakers_mib, walk_mib, peak_mib()];
    Costs { events: trace.events.len(), reading_s, wakers_s, walk_s, sums_s, table_s, peak_mib }
}

fn walked(trace: &Trace, wakers: &Wakers) -> (Vec<Window>, Charges) {
    let windows = window::windows(trace, &Choice::default());
    let charges = Charges::walked(trace, wakers, &windows);
    (windows, charges)
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let begin_s = cpu_s();
    let done = work();
    (cpu_s() - begin_s, done)
}

/// CPU time of this process so far; threads that have ended are not in it, and reading keeps its threads.
fn cpu_s() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let texts = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    texts.filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok()).sum::<f64>() / 1e9
}

/// Most memory that was resident so far, where the system tells.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}
