//! Scripts of gradients that can be played several times.

use extremal::learner::{Learner, Record};
use extremal::{Gradient, Row};
use rand::RngExt;

use crate::kit::{bits, normals, rng, uniform, written};

/// A gradient that owns its numbers.
#[derive(Clone, Debug)]
pub struct Given {
    /// The indices of the row's entries. They are `None` for a dense row.
    pub indices: Option<Vec<u32>>,
    /// The entries of the row.
    pub values: Vec<f64>,
    /// The factor of the row.
    pub scale: f64,
    /// The λ of the term λx.
    pub ridge: f64,
}

impl Given {
    /// The gradient that the learner observes.
    pub fn gradient(&self) -> Gradient<'_> {
        let row = match &self.indices {
            None => Row::Dense(&self.values),
            Some(indices) => Row::Sparse {
                indices,
                values: &self.values,
            },
        };
        Gradient {
            row,
            scale: self.scale,
            ridge: self.ridge,
        }
    }

    /// The same gradient with a dense row.
    pub fn spread(&self, dim: usize) -> Self {
        let mut values = vec![0.0; dim];
        self.gradient().row.add_to(1.0, &mut values);
        Self {
            indices: None,
            values,
            ..self.clone()
        }
    }
}

/// Dense rows, each with a norm of about `size`.
pub fn dense(seed: u64, dim: usize, rounds: usize, size: f64) -> Vec<Given> {
    let mut r = rng(seed);
    let one = |_| Given {
        indices: None,
        values: normals(&mut r, dim),
        scale: size / (dim as f64).sqrt(),
        ridge: 0.0,
    };
    (0..rounds).map(one).collect()
}

/// Sparse rows with a few entries.
pub fn sparse(seed: u64, dim: usize, rounds: usize, size: f64) -> Vec<Given> {
    let mut r = rng(seed);
    let one = |_| {
        let mut indices: Vec<u32> = (0..dim as u32).collect();
        for k in (1..dim).rev() {
            indices.swap(k, r.random_range(0..=k));
        }
        indices.truncate(dim.div_ceil(3));
        indices.sort_unstable();
        Given {
            values: normals(&mut r, indices.len()),
            scale: size / (indices.len() as f64).sqrt(),
            indices: Some(indices),
            ridge: 0.0,
        }
    };
    (0..rounds).map(one).collect()
}

/// Dense and sparse rows. Some have a ridge term, some have no entries, and some are 0.
pub fn mixed(seed: u64, dim: usize, rounds: usize) -> Vec<Given> {
    let mut r = rng(seed);
    let dense = dense(seed + 1, dim, rounds, 0.7);
    let sparse = sparse(seed + 2, dim, rounds, 0.7);
    let one = |(k, (mut d, mut s)): (usize, (Given, Given))| {
        if k % 11 == 5 {
            (s.indices, s.values) = (Some(vec![]), vec![]);
        }
        if k % 13 == 7 {
            d.scale = 0.0;
        }
        let mut given = if uniform(&mut r) < 0.5 { d } else { s };
        given.ridge = if k % 3 == 0 { 0.1 } else { 0.0 };
        given
    };
    dense.into_iter().zip(sparse).enumerate().map(one).collect()
}

/// A record as text, to compare records whose gap may be NaN. Different numbers give different texts.
pub fn record_text(record: &Record) -> String {
    format!("{record:?}")
}

/// Plays the script. Returns the decision and the record of every round.
pub fn play(learner: &mut dyn Learner, script: &[Given]) -> Vec<(Vec<u64>, String)> {
    let round = |given: &Given| {
        let x = written(learner.decide().unwrap());
        let record = learner.observe(&given.gradient()).unwrap();
        (bits(&x), record_text(&record))
    };
    script.iter().map(round).collect()
}
