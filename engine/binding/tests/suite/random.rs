//! Random traces: any claims of a capture, possible or not.

use proptest::prelude::*;
use trace::store::trace::Trace;
use trace::testing::{TaskPlan, build, task};

/// The root, started by the tracer at 0.
pub fn root() -> TaskPlan {
    task(1).exec(0, 1, "/bin/root")
}

/// The parts of a random trace: per task its calls, each with a gap before it, a length, a kind and a partner.
pub type Script = Vec<(i64, i64, u8, u8)>;

pub fn scripts() -> impl Strategy<Value = Vec<Script>> {
    let call = (0i64..4, 0i64..6, 0u8..16, 0u8..6);
    prop::collection::vec(prop::collection::vec(call, 1..12), 1..6)
}

/// A trace that follows the scripts, possible or not: cycles of creators and waiters, equal timestamps.
pub fn claimed(scripts: &[Script], with_waits: bool) -> Trace {
    let plans = scripts.iter().enumerate().map(|(number, script)| {
        let mut at_ns = number as i64 % 3;
        let mut plan = if number == 0 {
            root()
        } else {
            task(number as i32 + 1)
        };
        for &(gap_ns, dur_ns, kind, partner) in script {
            let (from_ns, to_ns) = (at_ns + gap_ns, at_ns + gap_ns + dur_ns);
            at_ns = to_ns;
            let other = i32::from(partner) + 1;
            plan = match kind {
                0 if with_waits => plan.wait4(from_ns, to_ns, other),
                1 => plan.fork(from_ns, to_ns, other),
                2 => plan.spawn("vfork", from_ns, to_ns, other),
                3 => plan
                    .call("read", from_ns, to_ns)
                    .on(&format!("pipe:[{}]", partner % 2)),
                4 => plan
                    .call("write", from_ns, to_ns)
                    .on(&format!("pipe:[{}]", partner % 2)),
                5 => plan.call("poll", from_ns, to_ns),
                6 => plan.call("rt_sigsuspend", from_ns, to_ns).fails("EINTR"),
                8 => plan
                    .call("stat", from_ns, to_ns)
                    .on(&format!("/p{}", partner % 2))
                    .fails("ENOENT"),
                9 => plan
                    .call("stat", from_ns, to_ns)
                    .on(&format!("/p{}", partner % 2)),
                10 => plan
                    .call("mkdir", from_ns, to_ns)
                    .on(&format!("/p{}", partner % 2)),
                11 | 12 => plan.call("nanosleep", from_ns, to_ns),
                13 => plan
                    .call("read", from_ns, to_ns)
                    .on(&format!("pipe:[{}]", partner % 2))
                    .fails("EAGAIN"),
                14 => plan.call("poll", from_ns, to_ns).returns(0),
                _ => plan.call("mmap", from_ns, to_ns),
            };
        }
        if script.len() % 3 == 0 {
            plan
        } else {
            plan.exit(at_ns + 1)
        }
    });
    build(plans.collect())
}
