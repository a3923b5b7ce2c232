//! What tracing adds to a part of the path.
//!
//! Each call stops its task twice, and the tracer must run in between. On a busy machine the tracer waits for a processor: most
//! calls take a few microseconds more, some take milliseconds more. The mean cost of a call is therefore many times the median. The loss of
//! the whole run is the number of calls times the mean.

/// What tracing adds on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TracingCost {
    /// Within a call.
    pub in_call_ns: i64,
    /// After a call, before the next one starts.
    pub gap_ns: i64,
}

/// Calls and gaps of a part of the path, to estimate what tracing added to them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TracedTime {
    calls: Traced,
    gaps: Traced,
}

/// Their time on the path, and what tracing costs for as many of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Traced {
    ns: i64,
    cost_ns: i64,
}

impl TracedTime {
    /// Add a call, or the gap after one.
    pub fn add(&mut self, is_gap: bool, ns: i64, cost: TracingCost) {
        let (traced, cost_ns) = if is_gap {
            (&mut self.gaps, cost.gap_ns)
        } else {
            (&mut self.calls, cost.in_call_ns)
        };
        traced.ns += ns;
        traced.cost_ns = traced.cost_ns.saturating_add(cost_ns);
    }

    /// Add another part of the path.
    pub fn merge(&mut self, other: TracedTime) {
        for (mine, more) in [(&mut self.calls, other.calls), (&mut self.gaps, other.gaps)] {
            mine.ns += more.ns;
            mine.cost_ns = mine.cost_ns.saturating_add(more.cost_ns);
        }
    }

    /// What tracing added: never more than the time itself.
    pub fn tracing_ns(&self) -> i64 {
        self.calls.cost_ns.min(self.calls.ns) + self.gaps.cost_ns.min(self.gaps.ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracing_takes_at_most_the_time_of_all_calls_together() {
        let cost = TracingCost {
            in_call_ns: 50,
            gap_ns: 20,
        };
        let mut traced = TracedTime::default();
        (0..9).for_each(|_| traced.add(false, 10, cost));
        assert_eq!(traced.tracing_ns(), 90);
        traced.add(false, 1000, cost);
        assert_eq!(traced.tracing_ns(), 500);
        traced.add(true, 5, cost);
        assert_eq!(traced.tracing_ns(), 505);
    }
}
