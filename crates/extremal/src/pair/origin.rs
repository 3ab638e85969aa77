//! Where a regulariser is centred, for [`LazyPair`](super::LazyPair).

use serde::{Deserialize, Serialize};

use super::Row;
use crate::kernel;

/// The non-zeros of x₁: what a growing regulariser adds to c in every round.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Origin {
    pub indices: Vec<u32>,
    pub values: Vec<f64>,
    pub norm: f64,
}

impl Origin {
    /// The vector with these entries, `room` at most: room for all of them is taken at once.
    pub fn set(&mut self, room: usize, x: impl Iterator<Item = (usize, f64)>) {
        self.indices.clear();
        self.values.clear();
        self.indices.reserve(room);
        self.values.reserve(room);
        for (i, v) in x.filter(|(_, v)| *v != 0.0) {
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
