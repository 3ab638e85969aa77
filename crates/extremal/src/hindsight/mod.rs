//! Regret with certificates: upper bounds that hold on the very run, against any adversary.
//!
//! One formula serves all levels. For losses that are λ-strongly convex (λ = 0 for convex ones),
//! with c = Σ(g_t − λx_t) and β = λT, every x in the set gives
//!
//! regret ≤ Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖² − (⟨c, x⟩ + (β/2)‖x‖²) + gap(x),
//!
//! where gap(x) = max_v ⟨c + βx, x − v⟩ costs one oracle call; ‖c + βx‖²/(2β) serves in its
//! place where it is smaller. With λ = 0 it is
//! Σ⟨g_t, x_t⟩ − min ⟨Σg_t, x⟩ whatever x, and exact when the losses are linear. That is what a
//! [`Meter`] reports, from gradients alone.
//!
//! Where the rounds' data are kept ([`Sum`], [`QuadraticSum`]), [`solve`] finds the best fixed
//! decision itself, with a floor that no decision's total is below: the regret then lies in an
//! interval as narrow as one likes ([`Best::regret`]). [`Dynamic`] and [`Intervals`] measure
//! against comparators that move.

mod frank_wolfe;
mod moving;
mod projected;
mod quadratic;
mod smooth;
mod solve;
mod sum;
mod total;

pub use moving::{Dynamic, Intervals, Worst};
pub use quadratic::QuadraticSum;
pub use solve::{Best, Interval, Method, Options, Step, solve};
pub use sum::Sum;
pub use total::{Place, Reading, Total};

use crate::kernel;
use crate::learner::{Certificate, Level};
use crate::loss::{Loss, Objective};
use crate::pair::{Gradient, Point};
use crate::set::{Atom, Oracle, SharedSet};
use crate::{Error, Result};

/// What a round adds to a [`Meter`].
pub(crate) struct Sight {
    played: f64,
    /// The factor of x in g − λx beyond the gradient's row.
    rest: f64,
}

/// Watches a run and certifies its regret. It keeps its own sums: a learner may forget.
pub struct Meter {
    oracle: Box<dyn Oracle>,
    lambda: f64,
    linear: bool,
    /// c = Σ(g_t − λx_t)
    sum: Vec<f64>,
    /// Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖²
    played: f64,
    rounds: u64,
    calls: u64,
    x: Vec<f64>,
    direction: Vec<f64>,
    atom: Atom,
}

impl Meter {
    /// For losses that are λ-strongly convex, 0 for convex ones; `linear` if they are linear. The
    /// certificates are as true as that.
    pub fn new(set: &SharedSet, lambda: f64, linear: bool) -> Self {
        let dim = set.dim();
        let mut x = vec![0.0; dim];
        set.centre(&mut x);
        Self {
            oracle: set.oracle(),
            lambda,
            linear: linear && lambda == 0.0,
            sum: vec![0.0; dim],
            played: 0.0,
            rounds: 0,
            calls: 0,
            x,
            direction: vec![0.0; dim],
            atom: Atom::new(),
        }
    }

    /// For the losses of this objective.
    pub fn of<L: Loss + ?Sized>(set: &SharedSet, objective: &Objective<L>) -> Self {
        Self::new(set, objective.strong_convexity(), objective.is_linear())
    }

    /// Notes a round: the decision played and the gradient there.
    pub fn see(&mut self, x: &dyn Point, gradient: &Gradient<'_>) -> Result<()> {
        let sight = self.look(x, gradient)?;
        self.note(sight, gradient);
        Ok(())
    }

    /// What a round adds, before it is certain that it was played. Nothing changes.
    pub(crate) fn look(&mut self, x: &dyn Point, gradient: &Gradient<'_>) -> Result<Sight> {
        if x.dim() != self.sum.len() {
            return Err(Error::Size {
                what: "decision",
                expected: self.sum.len(),
                found: x.dim(),
            });
        }
        gradient.check(self.sum.len())?;
        let dot = x.dot(&gradient.row)?;
        let needs_norm = self.lambda != 0.0 || gradient.ridge != 0.0;
        let square = if needs_norm { x.norm_squared() } else { 0.0 };
        // g − λx = scale·a + (ridge − λ)x: nothing dense where the ridge is the λ
        let rest = gradient.ridge - self.lambda;
        if rest != 0.0 {
            x.write(&mut self.direction);
        }
        let played = gradient.scale * dot + (gradient.ridge - 0.5 * self.lambda) * square;
        let size = gradient.scale * kernel::norm(gradient.row.values());
        if !(played.is_finite() && size.is_finite()) {
            return Err(Error::Numerical {
                round: self.rounds + 1,
                what: "a gradient overflowed".into(),
            });
        }
        Ok(Sight { played, rest })
    }

    /// Adds what [`Meter::look`] saw last.
    pub(crate) fn note(&mut self, sight: Sight, gradient: &Gradient<'_>) {
        gradient.row.add_to(gradient.scale, &mut self.sum);
        if sight.rest != 0.0 {
            kernel::axpy(sight.rest, &self.direction, &mut self.sum);
        }
        self.played += sight.played;
        self.rounds += 1;
    }

    /// The certificate after the rounds seen. Up to `steps` oracle calls look for a better point
    /// to certify at, which only matters for λ > 0; one call is always made.
    pub fn certificate(&mut self, steps: usize) -> Result<Certificate> {
        let beta = self.lambda * self.rounds as f64;
        let mut best = f64::INFINITY;
        for _ in 0..steps.max(1) {
            for ((d, c), x) in self.direction.iter_mut().zip(&self.sum).zip(&self.x) {
                *d = c + beta * x;
            }
            let low = self.oracle.minimise(&self.direction, &mut self.atom)?;
            self.calls += 1;
            let slope = kernel::dot(&self.direction, &self.x);
            let square = kernel::dot(&self.x, &self.x);
            let gap = (slope - low).max(0.0);
            let value = slope - 0.5 * beta * square;
            // F has the curvature β, so that its minimum is no lower than this either.
            let steepness = kernel::norm(&self.direction);
            let excess = (0.5 * steepness * (steepness / beta)).min(gap);
            best = best.min(self.played - value + excess);
            if beta == 0.0 || gap == 0.0 {
                break;
            }
            let distance = self.atom.norm_squared() - 2.0 * self.atom.dot(&self.x) + square;
            if distance <= 0.0 {
                break;
            }
            let sigma = (gap / (beta * distance)).min(1.0);
            for x in self.x.iter_mut() {
                *x -= sigma * *x;
            }
            self.atom.add_to(sigma, &mut self.x);
        }
        if !best.is_finite() {
            return Err(Error::Numerical {
                round: self.rounds,
                what: "the certificate overflowed".into(),
            });
        }
        let level = match (self.linear, self.lambda > 0.0) {
            (true, _) => Level::Exact,
            (_, true) => Level::Quadratic,
            _ => Level::Linear,
        };
        Ok(Certificate {
            level,
            regret: best,
            strong_convexity: self.lambda,
        })
    }

    /// A good fixed decision in hindsight, once a certificate was asked for: where the search for
    /// it ended, or for λ = 0 the atom that minimises the sum of gradients.
    pub fn candidate(&self, out: &mut [f64]) {
        if self.lambda > 0.0 || self.calls == 0 {
            out.copy_from_slice(&self.x)
        } else {
            self.atom.write(out)
        }
    }

    /// Oracle calls made to report; those made to play are counted by the learner.
    pub fn calls(&self) -> u64 {
        self.calls
    }
}
