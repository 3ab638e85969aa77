//! Where a regulariser is centred, for [`LazyPair`](super::LazyPair).

use serde::{Deserialize, Serialize};

use super::Row;
use crate::kernel;

/// The non-zeros of x₁: what a growing regulariser adds to c in every round.
#[derive(Serialize, Deserialize)]
pub(super) struct Origin {
    pub indices: Vec<u32>,
    pub values: Vec<f64>,
    pub norm: f64,
}

impl Origin {
    /// Of a vector with this many entries at most; room for all of them is taken at once.
    pub fn with_room(dim: usize) -> Self {
        Self {
            indices: Vec::with_capacity(dim),
            values: Vec::with_capacity(dim),
            norm: 0.0,
        }
    }

    pub fn set(&mut self, x: impl Iterator<Item = f64>) {
        self.indices.clear();
        self.values.clear();
        for (i, v) in x.enumerate().filter(|(_, v)| *v != 0.0) {
            self.indices.push(i as u32);
            self.values.push(v);
        }
        self.norm = kernel::norm(&self.values);
    }

    pub fn row(&self) -> Row<'_> {
        Row::Sparse {
            indices: &self.indices,
            values: &self.values,
        }
    }

    pub fn is_sound(&self, dim: usize) -> bool {
        let row = self.row();
        row.check_shape(dim).is_ok() && row.check_finite().is_ok() && self.norm.is_finite()
    }
}
