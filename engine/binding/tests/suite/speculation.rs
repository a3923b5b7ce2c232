//! A walk in legs reports exactly the same as a walk in one piece, wherever the legs start.

use crate::random::{claimed, scripts};
use path::critical_path::segment::Segment;
use path::critical_path::walk::Waited;
use path::critical_path::walk::WalkListener;
use path::critical_path::walk::walk_in_legs;
use path::critical_path::walk::work_span::WorkSpan;
use path::critical_path::window::{Window, WindowChoice, windows};
use path::waits::edge::Edge;
use path::waits::wakers::Wakers;
use proptest::prelude::*;
use trace::store::index::TaskId;
use trace::store::trace::Trace;

/// All events that a listener receives.
#[derive(Default)]
struct Told(Vec<String>);

impl WalkListener for Told {
    fn charged(&mut self, segment: Segment) {
        self.0.push(format!("{segment:?}"));
    }

    fn worked(&mut self, _trace: &Trace, _wakers: &Wakers, spell: WorkSpan) {
        self.0.push(format!("{spell:?}"));
    }

    fn begins(&mut self, waiter: TaskId, edge: &Edge) {
        self.0.push(format!("{waiter:?} waits: {edge:?}"));
    }

    fn ends(&mut self, waited: &Waited) {
        self.0.push(format!("{waited:?}"));
    }
}

fn told(trace: &Trace, wakers: &Wakers, window: &Window, leg_rows: u32) -> (Vec<String>, u64) {
    let mut told = Told::default();
    let steps = walk_in_legs(trace, wakers, window, leg_rows, &mut told);
    (told.0, steps)
}

proptest! {
    #[test]
    fn legs_change_nothing_of_what_is_told(scripts in scripts(), leg_rows in 1u32..20, to in 0i64..40) {
        let trace = claimed(&scripts, true);
        let wakers = Wakers::new(&trace);
        for choice in [WindowChoice::default(), WindowChoice { to_ns: Some(to), ..WindowChoice::default() }] {
            let window = windows(&trace, &choice)[0];
            let whole = told(&trace, &wakers, &window, u32::MAX);
            prop_assert_eq!(told(&trace, &wakers, &window, leg_rows), whole);
        }
    }
}
