//! A plain vector as a decision, for learners with a state of their own.

use crate::Result;
use crate::kernel;
use crate::pair::{Point, Row};

pub(super) struct Plain(pub Vec<f64>);

impl Point for Plain {
    fn dim(&self) -> usize {
        self.0.len()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.0.len())?;
        Ok(row.dot(&self.0))
    }

    fn norm_squared(&self) -> f64 {
        kernel::dot(&self.0, &self.0)
    }

    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.0);
    }
}
