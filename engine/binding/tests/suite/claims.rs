//! Dividing the path among claims: nothing is lost, nothing is assigned twice, the first claim takes precedence.

use crate::random::{claimed, scripts};
use trace::store::index::TaskId;

use kit::table_support::claims::claims;
use kit::table_support::provenance::Provenance;
use kit::testing::look;
use path::partition::pieces::Pieces;
use path::partition::scope::GroupKey;
use path::partition::scope::KeyValue;
use path::partition::scope::Scope;
use proptest::prelude::*;

fn user_code() -> Provenance {
    let class = (GroupKey::Class, vec![KeyValue::Text("user".to_owned())]);
    Provenance::Pieces(Scope {
        only: vec![class],
        without: Vec::new(),
    })
}

proptest! {
    #[test]
    fn claims_and_what_nobody_claims_are_the_window(
        scripts in scripts(),
        listed in prop::collection::vec(prop::collection::vec(0u32..40, 0..9), 0..4),
        with_pieces in any::<bool>(),
    ) {
        let trace = claimed(&scripts, true);
        let rows = trace.events.len();
        let members = |rows_: &Vec<u32>| Provenance::Rows(rows_.iter().copied().filter(|&row| row < rows).collect());
        let mut all: Vec<Vec<Provenance>> = listed.iter().map(|rows| vec![members(rows)]).collect();
        if let Some(first) = trace.rows_of(TaskId::new(0)).first() {
            let last_row = trace.rows_of(TaskId::new(0)).last().copied().unwrap_or(*first);
            all.push(vec![Provenance::Stretch { task: TaskId::new(0), first_row: *first, last_row }, Provenance::Gaps(vec![last_row])]);
        }
        if with_pieces {
            all.insert(0, vec![user_code()]);
        }
        look(&trace, |context| {
            let pieces = Pieces::new(context.trace, context.selection.program_index, context.attribution, context.windows);
            let divided = claims(context, &pieces, &all, 3);
            let wall_ns: i64 = context.windows.iter().map(|window| window.wall_ns()).sum();
            let own_ns: i64 = divided.shares.iter().map(|share| share.own_ns).sum();
            let rest_ns = divided.rest_ns;
            prop_assert_eq!(own_ns + rest_ns, wall_ns);
            for (number, share) in (0..).zip(&divided.shares) {
                let taken_ns: i64 = share.taken.iter().map(|(_, ns)| ns).sum();
                prop_assert_eq!(share.own_ns + taken_ns, share.total_ns);
                prop_assert!((0..=share.own_ns).contains(&share.traced.tracing_ns()));
                prop_assert!(share.taken.iter().all(|&(earlier, _)| earlier < number));
            }
            Ok(())
        })?;
    }
}
