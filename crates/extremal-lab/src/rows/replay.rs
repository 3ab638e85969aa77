//! Kept examples as a stream.

use extremal::stream::{Round, Stream};
use extremal::{Point, Row};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Rows;

/// Goes through the rows once.
pub(super) struct Replay {
    rows: Rows,
    /// Which row comes when; nothing where they come as they are.
    order: Option<Vec<u32>>,
    /// How many have come.
    done: usize,
    /// A dense row in a dimension above its own.
    padded: Vec<f64>,
}

impl Replay {
    pub(super) fn in_order(rows: Rows, dim: usize) -> Self {
        Self {
            order: None,
            ..Self::new(rows, 0, dim)
        }
    }

    pub(super) fn new(rows: Rows, seed: u64, dim: usize) -> Self {
        let order = rows.0.shuffle.then(|| shuffled(rows.len(), seed));
        let padded = vec![0.0; if dim > rows.dim() { dim } else { 0 }];
        Self {
            rows,
            order,
            done: 0,
            padded,
        }
    }
}

/// 0 to n − 1 in an order that the seed chooses, all with the same chance (Fisher & Yates).
fn shuffled(n: usize, seed: u64) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<u32> = (0..n as u32).collect();
    for i in (1..n as u32).rev() {
        let j = rng.random_range(0..=i);
        order.swap(i as usize, j as usize);
    }
    order
}

impl Stream for Replay {
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        if self.done == self.rows.len() {
            return Ok(None);
        }
        let k = match &self.order {
            Some(order) => order[self.done] as usize,
            None => self.done,
        };
        self.done += 1;
        let row = match self.rows.row(k) {
            Row::Dense(values) if !self.padded.is_empty() => {
                self.padded[..values.len()].copy_from_slice(values);
                Row::Dense(&self.padded)
            }
            row => row,
        };
        Ok(Some(Round {
            row,
            label: self.rows.0.labels[k],
            weight: self.rows.0.weights[k],
        }))
    }

    fn row_bound(&self) -> f64 {
        self.rows.row_bound()
    }

    fn label_bound(&self) -> f64 {
        self.rows.label_bound()
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}
