//! Adaptive adversaries, which choose a linear loss after they observe the decision.

use rand_chacha::ChaCha8Rng;

use super::{MakeStream, Round, Stream, UNIT, fill_sphere, generator};
use crate::parameter::{choices, fields};
use crate::set::check_len;
use crate::spec::{About, Described};
use crate::{Point, Result, Row, kernel};

choices! {
    /// How the adversary's gradient depends on the decision.
    pub enum Malice {
        /// g = x/‖x‖: every decision costs its norm
        Along = "along",
        /// g = sgn(x)/√d
        Sign = "sign",
        /// g of norm 1, orthogonal to the decision and to the sum of all earlier gradients: the decision
        /// costs nothing, and the best fixed decision in a ball of radius r gains r√T
        Orthogonal = "orthogonal",
    }
}

fields! {
    /// Spec of `adversary`.
    pub struct Adversary {
        /// how the gradient depends on the decision
        pub kind: Malice = Malice::Along => Malice::KIND,
    }
}

impl Described for Adversary {
    const ABOUT: About = About {
        summary: "gradients that are chosen after the decision",
        cost: "O(d)",
        guarantee: "rows of norm ≤ 1",
        reference: "the lower bounds of online convex optimisation",
        citations: &[],
        examples: &[
            "adversary",
            "adversary:kind=sign",
            "adversary:kind=orthogonal",
        ],
    };
}

impl MakeStream for Adversary {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let zeros = vec![0.0; dim];
        Ok(Box::new(AdversaryStream {
            kind: self.kind,
            rng: generator(seed),
            x: zeros.clone(),
            row: zeros.clone(),
            sum: zeros,
        }))
    }
}

struct AdversaryStream {
    kind: Malice,
    rng: ChaCha8Rng,
    x: Vec<f64>,
    row: Vec<f64>,
    sum: Vec<f64>,
}

/// Removes from `row` the component of `row` along `a`.
fn remove_part(row: &mut [f64], a: &[f64]) {
    let norm = kernel::norm(a);
    if norm > 1e-12 {
        let k = kernel::dot(row, a) / norm / norm;
        kernel::axpy(-k, a, row);
    }
}

impl Stream for AdversaryStream {
    fn next(&mut self, decision: &dyn Point) -> Result<Option<Round<'_>>> {
        let (rng, x, row, sum) = (&mut self.rng, &mut self.x, &mut self.row, &mut self.sum);
        check_len("decision", x.len(), decision.dim())?;
        decision.write(x);
        match self.kind {
            Malice::Along => row.copy_from_slice(x),
            Malice::Sign => {
                for (row, x) in row.iter_mut().zip(x.iter()) {
                    *row = if *x == 0.0 { 0.0 } else { x.signum() };
                }
            }
            Malice::Orthogonal => {
                fill_sphere(rng, row);
                // Both parts are removed repeatedly, because `sum` and `x` are not orthogonal to each other.
                for _ in 0..8 {
                    remove_part(row, sum);
                    remove_part(row, x);
                }
            }
        }
        let norm = kernel::norm(row);
        if norm > 1e-9 {
            row.iter_mut().for_each(|v| *v /= norm);
        } else {
            // All directions are equally bad for this decision.
            fill_sphere(rng, row);
        }
        kernel::axpy(1.0, row, sum);
        Ok(Some(Round::new(Row::Dense(row), 0.0)))
    }

    fn row_bound(&self) -> f64 {
        UNIT
    }
}
