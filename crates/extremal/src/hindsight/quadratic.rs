//! The sum of squared losses, as its sufficient statistics.

use super::total::{Place, Reading, Total};
use crate::pair::Row;
use crate::set::{Atom, AtomView};
use crate::{Error, Result, kernel};

/// ½xᵀGx − ⟨b, x⟩ + ½c. Built round by round it is Σ w·½(⟨a, x⟩ − y)² + (λ/2)‖x‖² with
/// G = Σwaaᵀ + λT·I, b = Σwya, c = Σwy²; no row is kept, memory and passes are O(d²).
///
/// ```
/// use extremal::hindsight::{Options, QuadraticSum, solve};
/// use extremal::{pair::Row, set::SetSpec};
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
    /// Without the ridge term, by rows.
    gram: Vec<f64>,
    cross: Vec<f64>,
    square: f64,
}

impl QuadraticSum {
    /// No rounds yet; λ = `ridge` per round.
    pub fn new(dim: usize, ridge: f64) -> Result<Self> {
        let dim = crate::set::settle_dim("sum", Some(dim), None)?;
        if !(ridge >= 0.0 && ridge.is_finite()) {
            return Err(Error::parameter("loss", "l2", ridge, "a finite number ≥ 0"));
        }
        Ok(Self {
            dim,
            ridge,
            rounds: 0,
            gram: vec![0.0; dim * dim],
            cross: vec![0.0; dim],
            square: 0.0,
        })
    }

    /// The convex quadratic ½xᵀGx + ⟨q, x⟩ + r itself: G symmetric, by rows, and taken to be
    /// positive semidefinite, without which a floor proves nothing.
    pub fn from_parts(gram: Vec<f64>, q: &[f64], r: f64) -> Result<Self> {
        let mut sum = Self::new(q.len(), 0.0)?;
        if gram.len() != sum.gram.len() {
            return Err(Error::Size {
                what: "quadratic form",
                expected: sum.gram.len(),
                found: gram.len(),
            });
        }
        for (what, values) in [("quadratic form", &gram[..]), ("linear form", q)] {
            if let Some((index, value)) = kernel::find_not_finite(values) {
                return Err(Error::NotFinite { what, index, value });
            }
        }
        if !r.is_finite() {
            return Err(Error::parameter("quadratic", "r", r, "a finite number"));
        }
        sum.gram = gram;
        sum.cross = q.iter().map(|v| -v).collect();
        sum.square = 2.0 * r;
        Ok(sum)
    }

    /// Adds a round's loss. A bad one is an error that changes nothing.
    pub fn push(&mut self, row: Row<'_>, label: f64, weight: f64) -> Result<()> {
        row.check_shape(self.dim)?;
        row.check_finite()?;
        for (name, value) in [("label", label), ("weight", weight)] {
            if !value.is_finite() || (name == "weight" && value < 0.0) {
                return Err(Error::parameter(
                    "example",
                    name,
                    value,
                    "a finite number, a weight ≥ 0",
                ));
            }
        }
        self.square += weight * label * label;
        row.add_to(weight * label, &mut self.cross);
        if let Row::Dense(a) = row {
            for (v, gram) in a.iter().zip(self.gram.chunks_exact_mut(self.dim)) {
                kernel::axpy(weight * v, a, gram);
            }
        } else {
            for (i, v) in row.entries() {
                for (j, u) in row.entries() {
                    self.gram[i * self.dim + j] += weight * v * u;
                }
            }
        }
        self.rounds += 1;
        Ok(())
    }

    /// Rounds added.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    fn trace(&self) -> f64 {
        self.gram.iter().step_by(self.dim + 1).sum()
    }

    fn value_from(&self, x: &[f64], image: &[f64]) -> f64 {
        0.5 * (kernel::dot(x, image) + self.square) - kernel::dot(&self.cross, x)
    }

    fn map_dense(&self, x: &[f64], image: &mut [f64]) {
        let sigma = self.strong_convexity();
        for ((z, gram), x_i) in image
            .iter_mut()
            .zip(self.gram.chunks_exact(self.dim))
            .zip(x)
        {
            *z = kernel::dot(gram, x) + sigma * x_i;
        }
    }
}

impl Total for QuadraticSum {
    fn dim(&self) -> usize {
        self.dim
    }

    /// Gx.
    fn images(&self) -> usize {
        self.dim
    }

    fn evaluate(&self, mu: f64, x: &[f64], image: &mut [f64], gradient: &mut [f64]) -> Reading {
        self.map_dense(x, image);
        self.at_image(mu, x, image, gradient)
    }

    fn at_image(&self, _mu: f64, x: &[f64], image: &[f64], gradient: &mut [f64]) -> Reading {
        for ((g, z), b) in gradient.iter_mut().zip(image).zip(&self.cross) {
            *g = z - b;
        }
        let value = self.value_from(x, image);
        // The terms are as large as the labels' squares, and mostly cancel.
        let terms = kernel::dot(x, image).abs()
            + self.square.abs()
            + 2.0 * kernel::dot(&self.cross, x).abs();
        Reading {
            value,
            truth: value,
            lift: 0.0,
            rounding: 4.0 * f64::EPSILON * (self.rounds as f64).sqrt().max(1.0) * terms,
        }
    }

    fn map(&self, atom: &Atom, image: &mut [f64]) {
        let sigma = self.strong_convexity();
        match atom.view() {
            AtomView::Coordinate { index, value } => {
                // G is symmetric: its row is its column
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

    fn along(&self, _mu: f64, s: f64, from: Place<'_>, by: Place<'_>) -> (f64, f64) {
        let linear = kernel::dot(by.x, from.image) - kernel::dot(&self.cross, by.x);
        let bend = kernel::dot(by.x, by.image);
        let value = self.value_from(from.x, from.image) + s * (linear + 0.5 * s * bend);
        (value, linear + s * bend)
    }

    fn smoothness(&self) -> f64 {
        self.trace() / self.dim as f64 + self.strong_convexity()
    }

    fn smoothness_bound(&self, _mu: f64) -> f64 {
        self.trace() + self.strong_convexity()
    }

    fn strong_convexity(&self) -> f64 {
        self.ridge * self.rounds as f64
    }

    fn check(&self) -> Result<()> {
        let sums = [&self.gram[..], &self.cross, &[self.square]];
        if sums.iter().any(|v| kernel::find_not_finite(v).is_some()) {
            return Err(Error::Numerical {
                round: self.rounds,
                what: "the sums of squares overflowed".into(),
            });
        }
        Ok(())
    }
}
