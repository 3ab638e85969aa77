//! A stream that replays examples from memory.

use std::sync::Arc;

use extremal::stream::{Round, Stream};
use extremal::{Point, Row};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Rows;

/// A stream that plays every row once.
pub(super) struct Replay {
    rows: Arc<Rows>,
    /// The order of the rows. `None` stands for the file's order.
    order: Option<Vec<u32>>,
    /// The number of rows played.
    done: usize,
    /// Memory for a dense row padded with zeros. Empty if rows have the full dimension.
    padded: Vec<f64>,
}

impl Replay {
    /// Replays the rows in a random order that the seed determines, or without a seed in the file's order.
    pub(super) fn new(rows: Arc<Rows>, seed: Option<u64>, dim: usize) -> Self {
        Self {
            order: seed.map(|seed| shuffled(rows.len(), seed)),
            done: 0,
            padded: vec![0.0; if dim > rows.dim { dim } else { 0 }],
            rows,
        }
    }
}

/// The numbers 0 to n − 1 in a uniformly random order (Fisher & Yates).
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
            label: self.rows.labels[k],
            weight: self.rows.weights[k],
        }))
    }

    fn row_bound(&self) -> f64 {
        self.rows.row_bound
    }

    fn label_bound(&self) -> f64 {
        self.rows.label_bound
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}
