//! The tables that reports show. Rules can request one of them too: [`loops`].

pub mod calls;
pub mod chart_rows;
pub mod errors;
pub mod gaps;
pub mod intervals;
pub mod loops;
pub mod processes;
pub mod totals;
pub mod tree;
pub mod verdicts;
pub mod work;
