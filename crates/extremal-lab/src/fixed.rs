//! A decision that stays where it is: for streams that do not look at it, and to try a loss on.

use extremal::{Point, Row};

pub(crate) struct Fixed(pub Vec<f64>);

impl Fixed {
    /// 0 in this dimension.
    pub fn zero(dim: usize) -> Self {
        Self(vec![0.0; dim])
    }
}

impl Point for Fixed {
    fn dim(&self) -> usize {
        self.0.len()
    }
    fn dot(&self, row: &Row<'_>) -> extremal::Result<f64> {
        Ok(row.dot(&self.0))
    }
    fn norm_squared(&self) -> f64 {
        self.0.iter().map(|v| v * v).sum()
    }
    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.0);
    }
}
