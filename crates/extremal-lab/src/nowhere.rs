//! A point for streams that do not look at it.

use extremal::pair::{Point, Row};

/// 0 in this dimension.
pub(crate) struct Nowhere(pub usize);

impl Point for Nowhere {
    fn dim(&self) -> usize {
        self.0
    }
    fn dot(&self, _row: &Row<'_>) -> extremal::Result<f64> {
        Ok(0.0)
    }
    fn norm_squared(&self) -> f64 {
        0.0
    }
    fn write(&self, out: &mut [f64]) {
        out.fill(0.0);
    }
}
