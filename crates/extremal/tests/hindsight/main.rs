//! The best fixed decision in hindsight: found, and proven to be as good as it says.

#[path = "../common/mod.rs"]
mod common;

mod anchors;
mod brackets;
mod cone;
mod mat;
mod methods;
mod moving;
mod norms;
mod sums;
mod zero;

use extremal_check::kit::set;
use std::sync::Arc;

use extremal::Result;
use extremal::Row;
use extremal::hindsight::Sum;
use extremal::loss::{Loss, LossSpec, Objective};

use common::{normal, normals, rng};

/// |z − y|, as a user would write it.
#[derive(Clone, Copy)]
struct Absolute;

impl Loss for Absolute {
    fn name(&self) -> &'static str {
        "user's absolute"
    }

    fn at(&self, z: f64, label: f64) -> (f64, f64) {
        ((z - label).abs(), if z < label { -1.0 } else { 1.0 })
    }

    fn slope_bound(&self, _reach: f64, _label: f64) -> f64 {
        1.0
    }

    fn smoothness(&self) -> f64 {
        f64::INFINITY
    }
}

/// Rounds to be looked back on.
struct Data {
    rows: Vec<Vec<f64>>,
    labels: Vec<f64>,
    weights: Vec<f64>,
    loss: &'static str,
    ridge: f64,
}

impl Data {
    /// Rows with correlated columns of unlike scales, and labels that suit the loss.
    fn draw(seed: u64, loss: &'static str, rounds: usize, dim: usize) -> Self {
        let mut r = rng(seed);
        let unsmoothed = normals(&mut r, dim);
        let mut data = Self {
            rows: Vec::new(),
            labels: Vec::new(),
            weights: Vec::new(),
            loss,
            ridge: 0.0,
        };
        for i in 0..rounds {
            let common = normal(&mut r);
            let row: Vec<f64> = (0..dim)
                .map(|j| (0.5 * common + normal(&mut r)) * (1.0 + j as f64 / dim as f64))
                .collect();
            let clean: f64 = row.iter().zip(&unsmoothed).map(|(a, b)| a * b).sum();
            let noisy = clean + normal(&mut r);
            data.labels.push(match loss {
                "logistic" => noisy.signum(),
                _ => noisy,
            });
            data.weights.push([1.0, 0.5, 2.0][i % 3]);
            data.rows.push(row);
        }
        data
    }

    fn objective(&self) -> Objective {
        let loss: Arc<dyn Loss> = match self.loss {
            "absolute" => Arc::new(Absolute),
            name => name.parse::<LossSpec>().unwrap().build().unwrap(),
        };
        Objective::new(loss, self.ridge).unwrap()
    }

    fn dim(&self) -> usize {
        self.rows[0].len()
    }

    fn sum(&self) -> Sum {
        let mut sum = Sum::new(self.dim(), &self.objective()).unwrap();
        self.feed(|row, y, w| sum.push(row, y, w)).unwrap();
        sum
    }

    fn feed(&self, mut push: impl FnMut(Row<'_>, f64, f64) -> Result<()>) -> Result<()> {
        for ((row, y), w) in self.rows.iter().zip(&self.labels).zip(&self.weights) {
            push(Row::Dense(row), *y, *w)?;
        }
        Ok(())
    }

    /// The total loss, written down as it is defined.
    fn total(&self, x: &[f64]) -> f64 {
        let mut total = 0.0;
        for ((row, y), w) in self.rows.iter().zip(&self.labels).zip(&self.weights) {
            let z: f64 = row.iter().zip(x).map(|(a, b)| a * b).sum();
            total += w * match self.loss {
                "squared" => 0.5 * (z - y).powi(2),
                "logistic" => (-y * z).exp().ln_1p(),
                "absolute" => (z - y).abs(),
                other => panic!("no such loss here: {other}"),
            };
            total += 0.5 * self.ridge * x.iter().map(|v| v * v).sum::<f64>();
        }
        total
    }
}

/// The best decision is inside the first few of these, and on the boundary of the others.
const SETS: [&str; 9] = [
    "l2:radius=50",
    "box:lower=-30,upper=30",
    "l2:radius=0.7",
    "l1:radius=0.9",
    "lp:p=1.5,radius=0.8",
    "lp:p=3,radius=0.8",
    "simplex:total=1.5",
    "simplex:total=0.5,at-most=true",
    "box:lower=-0.2,upper=0.4",
];
