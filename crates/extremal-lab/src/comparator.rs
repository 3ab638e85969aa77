//! The best fixed decision in hindsight for ridge regression, with a certificate. The losses'
//! sum is kept as its sufficient statistics, so that no row needs keeping.

use extremal::kernel;
use extremal::pair::{Point, Row};
use extremal::set::{Atom, Set};

use crate::error::{Context, Error, Result};
use crate::problem::{Parts, Problem};

/// Σ ½(⟨a, x⟩ − y)² + (λ/2)‖x‖² over the rows seen, as a function of x.
struct RidgeSum {
    dim: usize,
    ridge: f64,
    rounds: u64,
    /// Σaaᵀ by rows
    gram: Vec<f64>,
    /// Σya
    cross: Vec<f64>,
    /// Σy²
    square: f64,
    row: Vec<f64>,
}

impl RidgeSum {
    fn new(dim: usize, ridge: f64) -> Self {
        Self {
            dim,
            ridge,
            rounds: 0,
            gram: vec![0.0; dim * dim],
            cross: vec![0.0; dim],
            square: 0.0,
            row: vec![0.0; dim],
        }
    }

    fn see(&mut self, row: &Row<'_>, label: f64) {
        self.row.fill(0.0);
        row.add_to(1.0, &mut self.row);
        for (a, gram) in self.row.iter().zip(self.gram.chunks_exact_mut(self.dim)) {
            kernel::axpy(*a, &self.row, gram);
        }
        kernel::axpy(label, &self.row, &mut self.cross);
        self.square += label * label;
        self.rounds += 1;
    }

    /// Writes the gradient at x and returns the value.
    fn at(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let weight = self.ridge * self.rounds as f64;
        for (i, g) in gradient.iter_mut().enumerate() {
            let gram = &self.gram[i * self.dim..(i + 1) * self.dim];
            *g = kernel::dot(gram, x) + weight * x[i] - self.cross[i];
        }
        // ½xᵀAx − ⟨b, x⟩ + ½Σy² with the gradient Ax − b at hand
        0.5 * (kernel::dot(gradient, x) - kernel::dot(&self.cross, x) + self.square)
    }

    /// An upper bound of the gradient's Lipschitz constant.
    fn smoothness(&self) -> f64 {
        let row_sums = self
            .gram
            .chunks_exact(self.dim)
            .map(|r| r.iter().map(|v| v.abs()).sum::<f64>());
        row_sums.fold(0.0, f64::max) + self.ridge * self.rounds as f64
    }

    /// Improves the feasible x by projected gradient steps until the Frank-Wolfe gap proves it
    /// good; the best value found and what it may still be short of the minimum.
    fn solve(&self, set: &dyn Set, x: &mut [f64]) -> Result<Best> {
        const STEPS: usize = 5_000;
        const GAP: f64 = 1e-6;
        let mut projection = set.projection().ok_or_else(|| {
            Error::Unsupported(format!(
                "the comparator on set {} needs a projection",
                set.name()
            ))
        })?;
        let mut oracle = set.oracle();
        let mut atom = Atom::new();
        let mut gradient = vec![0.0; self.dim];
        let step = 1.0 / self.smoothness();
        let (mut value, mut floor) = (f64::INFINITY, f64::NEG_INFINITY);
        for _ in 0..STEPS {
            let here = self.at(x, &mut gradient);
            let low = oracle
                .minimise(&gradient, &mut atom)
                .context(|| "comparator".into())?;
            let gap = (kernel::dot(&gradient, x) - low).max(0.0);
            value = value.min(here);
            floor = floor.max(here - gap);
            if value - floor <= GAP {
                break;
            }
            kernel::axpy(-step, &gradient, x);
            projection.project(x).context(|| "comparator".into())?;
        }
        Ok(Best {
            value,
            floor: floor.min(value),
        })
    }
}

/// The smallest total loss of a fixed decision lies between these two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Best {
    /// A feasible decision has this total.
    pub value: f64,
    /// None has less than this.
    pub floor: f64,
}

/// A point for streams that do not look at it.
struct Nowhere(usize);

impl Point for Nowhere {
    fn dim(&self) -> usize {
        self.0
    }
    fn dot(&self, _row: &Row<'_>) -> extremal::Result<f64> {
        Ok(0.0)
    }
    fn norm_squared(&self) -> f64 {
        0.0
    }
    fn write(&self, out: &mut [f64]) {
        out.fill(0.0);
    }
}

/// The best fixed decision after each of the (growing) numbers of rounds.
pub(crate) fn ridge_regression(
    problem: &Problem,
    parts: &Parts,
    seed: u64,
    rounds: &[u64],
) -> Result<Vec<Best>> {
    let here = || format!("{}, comparator, seed {seed}", problem.key);
    let dim = parts.set.dim();
    let mut stream = parts.stream(seed).context(here)?;
    if stream.is_adaptive() || parts.objective.loss.name() != "squared" {
        return Err(Error::Unsupported(format!(
            "{}: a comparator is known for linear losses, and for squared ones on a stream that can be replayed",
            problem.key
        )));
    }
    let mut sum = RidgeSum::new(dim, parts.objective.ridge);
    let mut x = vec![0.0; dim];
    parts.set.centre(&mut x);
    let mut best = Vec::with_capacity(rounds.len());
    for &t in rounds {
        while sum.rounds < t {
            let Some(round) = stream.next(&Nowhere(dim)).context(here)? else {
                return Err(Error::Unsupported(format!(
                    "{}: the stream ends before round {t}",
                    problem.key
                )));
            };
            sum.see(&round.row, round.label);
        }
        best.push(sum.solve(&*parts.set, &mut x)?);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> RidgeSum {
        let mut sum = RidgeSum::new(2, 0.5);
        sum.see(&Row::Dense(&[1.0, 2.0]), 3.0);
        sum.see(&Row::Dense(&[-1.0, 0.5]), 1.0);
        sum
    }

    #[test]
    fn the_sum_has_the_value_of_its_losses() {
        let x = [0.3, -0.2];
        let losses = 0.5 * (-0.1 - 3.0f64).powi(2) + 0.5 * (-0.4 - 1.0f64).powi(2);
        let ridge = 2.0 * 0.25 * (0.09 + 0.04);
        assert!((example().at(&x, &mut [0.0; 2]) - losses - ridge).abs() < 1e-12);
    }

    #[test]
    fn the_minimum_is_certified() {
        use extremal::set::SetSpec;
        for text in ["l2:radius=0.7,dim=2", "simplex:dim=2", "l2:radius=9,dim=2"] {
            let set = text.parse::<SetSpec>().unwrap().build(None).unwrap();
            let mut x = vec![0.0; 2];
            set.centre(&mut x);
            let sum = example();
            let best = sum.solve(&*set, &mut x).unwrap();
            assert!(
                best.floor <= best.value && best.value - best.floor <= 1e-6,
                "{best:?}"
            );
            assert!(set.violation(&x).unwrap() <= 1e-9);
            // nothing on a grid of feasible points beats the floor
            let steps = (-40..=40).map(|k| k as f64 / 20.0);
            for p in steps
                .clone()
                .flat_map(|a| steps.clone().map(move |b| [a, b]))
            {
                if set.violation(&p) == Some(0.0) {
                    assert!(sum.at(&p, &mut [0.0; 2]) >= best.floor);
                }
            }
        }
    }
}
