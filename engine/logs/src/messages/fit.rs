//! What each further item costs: a straight line through completion times against their index.
//!
//! ```text
//! completed at   |        .  x
//!                |     x .            slope: marginal cost of an item
//!                |   . x              residual: how far items are from the line
//!                | x
//!                +---------------- index
//! ```
//!
//! The slope is the median of the slopes of all pairs (Theil, *A rank-invariant method of linear and polynomial
//! regression analysis*, 1950; Sen, *Estimates of the regression coefficient based on Kendall's tau*, JASA 63, 1968):
//! three of ten items may lie anywhere without moving it. Of many items, each is paired with the item half of their
//! number later (Theil's incomplete method).

/// Maximum number of items for which all pairs are used.
const MAX_FOR_ALL_PAIRS: usize = 400;

/// A line through completion times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// What each further item costs.
    pub marginal_ns: i64,
    /// Median distance of the items from the line.
    pub residual_ns: i64,
}

/// The line through these times, which are in order; none through fewer than two.
pub fn fit(completed_ns: &[i64]) -> Option<Fit> {
    let count = completed_ns.len();
    let slope = |from: usize, to: usize| {
        (completed_ns[to] - completed_ns[from]) as f64 / (to - from) as f64
    };
    let slopes: Vec<f64> = if count <= MAX_FOR_ALL_PAIRS {
        (0..count)
            .flat_map(|to| (0..to).map(move |from| (from, to)))
            .map(|(from, to)| slope(from, to))
            .collect()
    } else {
        let half = count / 2;
        (half..count).map(|to| slope(to - half, to)).collect()
    };
    let marginal = median(slopes)?;
    let above =
        |(index, &at_ns): (usize, &i64)| (at_ns - completed_ns[0]) as f64 - marginal * index as f64;
    let over: Vec<f64> = completed_ns.iter().enumerate().map(above).collect();
    let level = median(over.clone())?;
    let residual = median(over.into_iter().map(|over| (over - level).abs()).collect())?;
    Some(Fit {
        marginal_ns: marginal.round() as i64,
        residual_ns: residual.round() as i64,
    })
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    let (count, middle) = (values.len(), values.len() / 2);
    let (below, &mut upper, _) =
        (count > 0).then(|| values.select_nth_unstable_by(middle, f64::total_cmp))?;
    let lower = below
        .iter()
        .copied()
        .max_by(f64::total_cmp)
        .filter(|_| count % 2 == 0);
    Some(lower.map_or(upper, |lower| (lower + upper) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_steps_have_no_residual() {
        assert_eq!(
            fit(&[5, 15, 25, 35]),
            Some(Fit {
                marginal_ns: 10,
                residual_ns: 0
            })
        );
        let many: Vec<i64> = (0..1_000).map(|index| 7 + 10 * index).collect();
        assert_eq!(
            fit(&many),
            Some(Fit {
                marginal_ns: 10,
                residual_ns: 0
            })
        );
    }

    #[test]
    fn one_item_that_is_late_does_not_move_the_line() {
        let late = fit(&[0, 10, 20, 30, 40, 50, 60, 70, 80, 1_000]);
        assert_eq!(
            late,
            Some(Fit {
                marginal_ns: 10,
                residual_ns: 0
            })
        );
    }

    #[test]
    fn no_line_goes_through_one_item() {
        assert_eq!([fit(&[]), fit(&[5])], [None, None]);
    }
}
