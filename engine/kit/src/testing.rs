//! What tests ask about tables of a trace made by hand.

use crate::table_support::context::{TableContext, TableMemo};
use crate::table_support::kit::Make;
use path::critical_path::attribution::Attribution;
use path::critical_path::{trust, window};
use path::waits::wakers::Wakers;
use query::cache::QueryCache;
use query::selection::{Criteria, Selection};
use trace::store::index::TaskId;
use trace::store::trace::Trace;
use trace::testing::cells;

/// Look at all of a trace, as tables do.
///
/// # Panics
/// Never: a choice of everything has no time to be misunderstood.
pub fn look<T>(trace: &Trace, look: impl FnOnce(&TableContext<'_>) -> T) -> T {
    let all = Selection::new(trace, &Criteria::default(), &QueryCache::default());
    let Ok(selection) = all else { unreachable!() };
    let (wakers, windows) = (
        Wakers::new(trace),
        window::windows(trace, &window::WindowChoice::default()),
    );
    let attribution = Attribution::walked(trace, &wakers, &windows);
    trace.shapes_of(TaskId::new(0));
    look(&TableContext {
        trace,
        selection: &selection,
        windows: &windows,
        wakers: &wakers,
        attribution: &attribution,
        trust: &trust::trusts(trace),
        memo: &TableMemo::new(trace),
        matters: None,
        threshold: None,
    })
}

/// The columns of a table made of all of a trace; see [`cells`].
pub fn rows(trace: &Trace, make: Make, columns: &[&str]) -> Vec<String> {
    cells(&look(trace, make).table, columns)
}
