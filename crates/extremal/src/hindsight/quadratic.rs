//! The sum of squared losses, stored as its sufficient statistics.

use crate::rounding::{self, UNIT, Wide};
use crate::set::{Atom, AtomView, check_entries};
use crate::solver::{Imaged, Minorant, Total, TotalValue};
use crate::spec::Kind;
use crate::{Result, Row, kernel};

/// The total ½xᵀGx − ⟨b, x⟩ + ½c. For rounds (a, y) with weight w it is Σ w·½(⟨a, x⟩ − y)² + (λ/2)‖x‖²
/// with G = Σwaaᵀ + λT·I, b = Σwya and c = Σwy². Memory and each pass cost O(d²), because no rows are
/// stored.
///
/// The terms of xᵀGx − 2⟨b, x⟩ + c can be far larger than their sum. Columns with entries of 1e8 that
/// nearly cancel would lose every digit. G, b and c are therefore stored with twice the digits, and
/// every proven lower bound allows for the remaining error. The search itself uses ordinary numbers.
/// If columns cancel, [`Best::gap`](super::Best::gap) stays wide, and a [`Sum`](super::Sum) is more
/// accurate.
///
/// ```
/// use extremal::hindsight::{Options, QuadraticSum, solve};
/// use extremal::{Row, SetSpec};
/// let mut sum = QuadraticSum::new(2, 0.0)?;
/// sum.push(Row::Dense(&[1.0, 0.0]), 3.0, 1.0)?;
/// sum.push(Row::Dense(&[0.0, 1.0]), 1.0, 1.0)?;
/// let set = "simplex:dim=2".parse::<SetSpec>()?.build(None)?;
/// let best = solve(&sum, &*set, &Options::default())?;
/// assert!((best.value - 2.5).abs() < 1e-6); // at (1, 0)
/// # Ok::<(), extremal::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QuadraticSum {
    dim: usize,
    ridge: f64,
    rounds: u64,
    /// Σwaaᵀ by rows, without the ridge term, and the low parts of its entries.
    gram: Vec<f64>,
    gram_rest: Vec<f64>,
    cross: Vec<f64>,
    cross_rest: Vec<f64>,
    square: Wide,
    /// Whether all weights were 1. Then no product with a weight was rounded.
    unweighted: bool,
}

impl QuadraticSum {
    /// A sum without rounds. `ridge` is the λ of each round.
    pub fn new(dim: usize, ridge: f64) -> Result<Self> {
        let dim = crate::set::settle_dim("sum", Some(dim), None)?;
        Kind::NOT_NEGATIVE.admit("loss", "l2", ridge)?;
        Ok(Self {
            dim,
            ridge,
            rounds: 0,
            gram: vec![0.0; dim * dim],
            gram_rest: vec![0.0; dim * dim],
            cross: vec![0.0; dim],
            cross_rest: vec![0.0; dim],
            square: Wide::default(),
            unweighted: true,
        })
    }

    /// The convex quadratic ½xᵀGx + ⟨q, x⟩ + r. G is symmetric and stored by rows. The caller must
    /// make sure that G is positive semidefinite. The lower bounds are wrong for any other G.
    pub fn from_parts(gram: Vec<f64>, q: &[f64], r: f64) -> Result<Self> {
        let mut sum = Self::new(q.len(), 0.0)?;
        check_entries("quadratic form", sum.gram.len(), &gram)?;
        check_entries("linear form", q.len(), q)?;
        Kind::NUMBER.admit("quadratic", "r", r)?;
        sum.gram = gram;
        sum.cross = q.iter().map(|v| -v).collect();
        sum.square.add(2.0 * r);
        Ok(sum)
    }

    /// Adds a round's loss. If the call fails, the sum does not change.
    pub fn push(&mut self, row: Row<'_>, label: f64, weight: f64) -> Result<()> {
        row.check_size(self.dim)?;
        Kind::NOT_NEGATIVE.admit("example", "weight", weight)?;
        Kind::NUMBER.admit("example", "label", label)?;
        let target = weight * label;
        self.square.add_product(target, label);
        self.unweighted = self.unweighted && weight == 1.0;
        add_exactly(target, &row, &mut self.cross, &mut self.cross_rest);
        for (i, v) in row.entries() {
            let line = i * self.dim..(i + 1) * self.dim;
            let gram = &mut self.gram[line.clone()];
            add_exactly(weight * v, &row, gram, &mut self.gram_rest[line]);
        }
        self.rounds += 1;
        Ok(())
    }

    /// The number of rounds.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    fn trace(&self) -> f64 {
        self.gram.iter().step_by(self.dim + 1).sum()
    }

    fn value_from(&self, x: &[f64], image: &[f64]) -> f64 {
        0.5 * (kernel::dot(x, image) + self.square.value()) - kernel::dot(&self.cross, x)
    }

    fn map_dense(&self, x: &[f64], image: &mut [f64]) {
        let sigma = self.strong_convexity();
        let rows = self.gram.chunks_exact(self.dim);
        for ((z, gram), x_i) in image.iter_mut().zip(rows).zip(x) {
            *z = kernel::dot(gram, x) + sigma * x_i;
        }
    }
}

/// Adds k·row to the vector `sum` + `rest`. Only the last digits of `rest` are rounded.
fn add_exactly(k: f64, row: &Row<'_>, sum: &mut [f64], rest: &mut [f64]) {
    kernel::vectorised!(match *row {
        Row::Dense(a) => {
            for ((sum, rest), v) in sum.iter_mut().zip(rest).zip(a) {
                add_one(k, *v, sum, rest);
            }
        }
        _ => {
            for (i, v) in row.entries() {
                add_one(k, v, &mut sum[i], &mut rest[i]);
            }
        }
    });
}

#[inline]
fn add_one(k: f64, v: f64, high: &mut f64, low: &mut f64) {
    let mut sum = Wide {
        high: *high,
        low: *low,
    };
    sum.add_product(k, v);
    (*high, *low) = (sum.high, sum.low);
}

impl Total for QuadraticSum {
    fn dim(&self) -> usize {
        self.dim
    }

    /// The image is Gx.
    fn images(&self) -> usize {
        self.dim
    }

    fn evaluate(&self, mu: f64, x: &[f64], image: &mut [f64], gradient: &mut [f64]) -> TotalValue {
        self.map_dense(x, image);
        self.at_image(mu, x, image, gradient)
    }

    fn at_image(&self, _mu: f64, x: &[f64], image: &[f64], gradient: &mut [f64]) -> TotalValue {
        for ((g, z), b) in gradient.iter_mut().zip(image).zip(&self.cross) {
            *g = z - b;
        }
        let value = self.value_from(x, image);
        // The terms are as large as the squared labels, and almost cancel.
        let terms = kernel::dot(x, image).abs()
            + self.square.value().abs()
            + 2.0 * kernel::dot(&self.cross, x).abs();
        TotalValue {
            value,
            unsmoothed: value,
            smoothing_slack: 0.0,
            rounding: 4.0 * f64::EPSILON * (self.rounds as f64).sqrt().max(1.0) * terms,
        }
    }

    /// f(u) ≥ f(x) + ⟨Gx − b, u − x⟩ + (σ/2)‖u − x‖². Since |Σwa_i·a_j| ≤ Σw|a_i·a_j|
    /// ≤ √(G_ii·G_jj), the absolute values of the terms of f(u) sum to at most (Σ|u_i|√G_ii + √c)².
    /// The terms of ⟨gradient, u − x⟩ have the same bound. A product has two rounding errors, or
    /// none if the weight is 1. The wide sums have errors of order T²·UNIT².
    fn minorant(&self, _mu: f64, x: &[f64], reach: f64, gradient: &mut [f64]) -> Minorant {
        let (dim, length) = (self.dim, kernel::norm(x));
        let (mut bend, mut slope) = (Wide::default(), Wide::default());
        let mut rest = vec![0.0; dim];
        for i in 0..dim {
            let line = i * dim..(i + 1) * dim;
            let mut image = rounding::dot(&self.gram[line.clone()], x);
            image.add(kernel::dot(&self.gram_rest[line], x));
            bend.add_scaled(x[i], image);
            slope.add_product(self.cross[i], x[i]);
            slope.add(self.cross_rest[i] * x[i]);
            image.add(-self.cross[i]);
            image.add(-self.cross_rest[i]);
            image.add_product(self.strong_convexity(), x[i]);
            (gradient[i], rest[i]) = image.parts();
        }
        let square = self.square.value();
        let sides = self.gram.iter().step_by(dim + 1).map(|g| g.abs().sqrt());
        let along: f64 = sides.clone().zip(x).map(|(s, x)| s * x.abs()).sum();
        let trace: f64 = sides.map(|s| s * s).sum();
        let root = 1.001 * (along + reach * trace.sqrt() + square.abs().sqrt());
        let products = if self.unweighted { 0.0 } else { 4.0 * UNIT };
        let count = self.rounds as usize + 2 * dim;
        // b has at most this size if it was summed over rounds, but may be larger in `from_parts`
        let given = kernel::norm(&self.cross) * (length + reach);
        let data = (products + 4.0 * rounding::of_wide_dot(count)) * (root * root + given);
        let (sigma, far) = (self.strong_convexity(), length + reach);
        let ridge = 0.5 * sigma * rounding::dot(x, x).value();
        let data = data + 8.0 * UNIT * sigma * far * far;
        // f(x) = ½xᵀGx − ⟨b, x⟩ + ½c + ridge, and the constant is f(x) − ⟨gradient, x⟩
        let mut value = Wide::default();
        value.add_scaled(0.5, bend);
        value.add_scaled(-1.0, slope);
        value.add_scaled(0.5, self.square);
        value.add(ridge);
        let mut constant = Wide::default();
        constant.add_scaled(-0.5, bend);
        constant.add_scaled(0.5, self.square);
        constant.add(-ridge);
        constant.add(kernel::dot(&rest, x));
        let (constant, value) = (constant.value(), value.value());
        let below = data + kernel::norm(&rest) * (1.001 * reach + 8.0 * UNIT * length);
        Minorant {
            constant: constant - below - 8.0 * UNIT * constant.abs(),
            value: value + data + 8.0 * UNIT * value.abs(),
        }
    }

    fn map(&self, atom: &Atom, image: &mut [f64]) {
        let sigma = self.strong_convexity();
        match atom.view() {
            AtomView::Coordinate { index, value } => {
                // G is symmetric, so its column `index` equals its row `index`
                let gram = &self.gram[index * self.dim..(index + 1) * self.dim];
                for (z, g) in image.iter_mut().zip(gram) {
                    *z = value * g;
                }
                image[index] += sigma * value;
            }
            _ => {
                let mut v = vec![0.0; self.dim];
                atom.write(&mut v);
                self.map_dense(&v, image);
            }
        }
    }

    fn along(&self, _mu: f64, s: f64, from: Imaged<'_>, by: Imaged<'_>) -> (f64, f64) {
        let linear = kernel::dot(by.x, from.image) - kernel::dot(&self.cross, by.x);
        let bend = kernel::dot(by.x, by.image);
        let value = self.value_from(from.x, from.image) + s * (linear + 0.5 * s * bend);
        (value, linear + s * bend)
    }

    fn smoothness(&self, _mu: f64) -> f64 {
        self.trace() / self.dim as f64 + self.strong_convexity()
    }

    fn smoothness_bound(&self, _mu: f64) -> f64 {
        self.trace() + self.strong_convexity()
    }

    fn strong_convexity(&self) -> f64 {
        self.ridge * self.rounds as f64
    }
}
