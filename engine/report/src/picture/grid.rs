//! The columns of a picture: a window divided into equal parts, and each of them again by eight.
//!
//! ```text
//! level 0    |       0       |       1       |     1,024 columns
//! level 1    |0|1|2|3|4|5|6|7|8|9| ...             8,192: column n of level 0 is columns 8n to 8n + 7
//! ```

/// Columns of the coarsest level.
pub const COLUMNS: u64 = 1_024;
/// Each level divides a column of the previous one by this.
pub const FACTOR: u64 = 8;

/// A window in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Start of the window.
    pub start_ns: i64,
    /// Its length, at least 1.
    pub wall_ns: u64,
    /// Number of columns.
    pub columns: u64,
}

impl Grid {
    /// The columns of a level.
    pub fn of_level(start_ns: i64, end_ns: i64, level: u32) -> Grid {
        let wall_ns = end_ns.saturating_sub(start_ns).max(1) as u64;
        Grid {
            start_ns,
            wall_ns,
            columns: COLUMNS * FACTOR.pow(level),
        }
    }

    /// The same window in another number of columns.
    pub fn with_columns(self, columns: u64) -> Grid {
        Grid { columns, ..self }
    }

    /// End of the window.
    pub fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add(self.wall_ns as i64)
    }

    /// The column of a moment; the end of the window belongs to the last one.
    pub fn column_of(&self, at_ns: i64) -> u64 {
        let passed_ns = at_ns.saturating_sub(self.start_ns).max(0) as u64;
        let column = u128::from(passed_ns) * u128::from(self.columns) / u128::from(self.wall_ns);
        (column as u64).min(self.columns - 1)
    }

    /// The end of a column: the first moment that belongs to the next one.
    pub fn end_of(&self, column: u64) -> i64 {
        let passed_ns =
            (u128::from(column + 1) * u128::from(self.wall_ns)).div_ceil(u128::from(self.columns));
        self.start_ns.saturating_add(passed_ns as i64)
    }

    /// The columns that a time range touches, at least one: first and last.
    pub fn columns_of(&self, start_ns: i64, end_ns: i64) -> (u64, u64) {
        let first = self.column_of(start_ns);
        (
            first,
            self.column_of(end_ns.saturating_sub(1).max(start_ns))
                .max(first),
        )
    }
}
