//! Measures a run and certifies its regret, from gradients alone.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ByNorm;
use crate::learner::{Certificate, Level};
use crate::loss::{Evaluation, Loss, Objective};
use crate::memory::reserve;
use crate::point::Accuracy;
use crate::rounding::{self, UNIT, Wide, WideVector};
use crate::saved::{check_settings, check_shape, seal, unseal};
use crate::set::{
    Atom, AtomSigns, CheckedOracle, Identity, Oracle, SharedSet, SparseAtoms, Structure, centre_of,
    check_len, grown, norm_p,
};
use crate::stream::Round;
use crate::{Error, Gradient, Point, Result, Row, kernel};

/// The terms that a round adds to a [`Meter`].
pub(crate) struct PlannedRound {
    played: f64,
    /// The factor of the gradient's row. It is 0 for a row that is treated as 0.
    scale: f64,
    /// The factor of x in g − λx = scale·row + rest·x.
    rest: f64,
    /// A bound on the rounding error of `played`, and a bound on ‖g − λx‖.
    error: f64,
    size: f64,
    /// The norm of the gradient's row, and a bound on ‖x‖.
    row_norm: f64,
    length: f64,
    /// A bound on the rounding error of the loss, and of the tangent that its gradient defines
    /// ([`Objective::rounding`]). A certificate is increased by both errors.
    pub loss_error: f64,
}

/// Measures a run and certifies its regret. The meter has its own sums and does not use the
/// learner's numbers.
///
/// A round costs O(non-zeros of its gradient) if λ is the factor of a ridge term, and O(d) in all
/// other cases. A certificate costs O(d) and one oracle call.
///
/// A certificate is never below the regret, despite rounding errors. This holds if the gradients
/// passed to the meter are exactly those of the losses. The sums have twice the digits of an `f64`,
/// and a certificate is increased by a bound on all rounding errors ([`Certificate::rounding`]).
pub struct Meter {
    set: SharedSet,
    oracle: CheckedOracle,
    /// The set's norm bound.
    reach: f64,
    lambda: f64,
    linear: bool,
    pub(super) sums: Sums,
    calls: u64,
    x: Vec<f64>,
    direction: Vec<f64>,
    atom: Atom,
    /// The entries of `atom`.
    vertex: Vec<f64>,
    /// Whether a certificate has computed `atom` in the current dimension.
    answered: bool,
}

/// The sums over all rounds. Later certificates depend on nothing else.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Sums {
    /// c = Σ(g_t − λx_t), and a bound on Σ‖g_t − λx_t‖.
    sum: WideVector,
    size: f64,
    /// Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖², and a bound on the rounding errors of its terms.
    played: Wide,
    error: f64,
    /// Half of the part of `error` that comes from the losses.
    allowed: f64,
    pub rounds: u64,
}

impl Sums {
    fn zeros(dim: usize) -> Self {
        Self {
            sum: WideVector::zeros(dim),
            ..Self::default()
        }
    }

    /// Removes all rounds.
    pub fn clear(&mut self) {
        self.sum.clear();
        *self = Self {
            sum: std::mem::take(&mut self.sum),
            ..Self::default()
        };
    }

    /// Subtracts the sums of earlier rounds. The bounds on rounding errors are added.
    pub fn subtract(&mut self, earlier: &Self) {
        self.sum.subtract(&earlier.sum);
        self.played.add_scaled(-1.0, earlier.played);
        self.size += earlier.size;
        self.error += earlier.error;
        self.allowed += earlier.allowed;
        self.rounds += earlier.rounds;
    }

    /// The computed sum of T positive numbers, multiplied by this factor, is at least the exact
    /// sum.
    fn grown(&self) -> f64 {
        1.0 + 2.0 * self.rounds as f64 * UNIT
    }

    /// A bound on ‖c − Σ(g_t − λx_t)‖, the rounding error of c.
    fn wide_error(&self) -> f64 {
        let rows = usize::try_from(2 * self.rounds).unwrap_or(usize::MAX);
        2.0 * self.grown() * rounding::of_wide_dot(rows) * self.size
    }

    /// A bound on the rounding error of `played`.
    fn played_error(&self) -> f64 {
        self.grown() * self.error + 4.0 * UNIT * self.played.value().abs()
    }
}

/// The content of a saved meter: its settings, its set, and the sums.
type Saved = (String, Identity, Sums);

impl fmt::Debug for Meter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (settings, set, rounds) = (self.settings(), self.set.name(), self.sums.rounds);
        write!(out, "{settings} on set {set} after {rounds} rounds")
    }
}

impl Meter {
    /// A meter for λ-strongly convex losses. λ is 0 for losses that are only convex. If `linear` is
    /// true, the losses are linear. The certificates hold only for losses with these properties.
    pub fn new(set: &SharedSet, lambda: f64, linear: bool) -> Self {
        let dim = set.dim();
        Self {
            oracle: CheckedOracle::of(&**set),
            reach: set.geometry().norm_bound,
            set: set.clone(),
            lambda,
            linear: linear && lambda == 0.0,
            sums: Sums::zeros(dim),
            calls: 0,
            x: centre_of(&**set),
            direction: vec![0.0; dim],
            atom: Atom::new(),
            vertex: Vec::new(),
            answered: false,
        }
    }

    /// A meter for the losses of this objective.
    pub fn of<L: Loss + ?Sized>(set: &SharedSet, objective: &Objective<L>) -> Self {
        Self::new(set, objective.strong_convexity(), objective.is_linear())
    }

    /// Adds a round, given the decision that the learner played and the gradient at this decision.
    pub fn see(&mut self, x: &dyn Point, gradient: &Gradient<'_>) -> Result<()> {
        let planned = self.look_at(x, gradient, x.dot(&gradient.row)?)?;
        self.commit(planned, gradient);
        Ok(())
    }

    /// Computes the terms of a round. The round may still fail, so the sums do not change before
    /// [`Meter::commit`].
    pub(crate) fn plan<L: Loss + ?Sized>(
        &mut self,
        x: &dyn Point,
        objective: &Objective<L>,
        given: &Round<'_>,
        evaluation: &Evaluation<'_>,
    ) -> Result<PlannedRound> {
        // The gradient's row is the round's row, unless a quadratic form made it dense.
        let written = objective.written_form().is_some();
        let dot = match written {
            false => evaluation.prediction,
            true => x.dot(&evaluation.gradient.row)?,
        };
        let mut planned = self.look_at(x, &evaluation.gradient, dot)?;
        let norms = match written {
            false => (planned.row_norm, planned.length),
            true => (kernel::norm(given.row.values()), planned.length),
        };
        let example = (&given.row, given.label, given.weight);
        planned.loss_error = objective.rounding(example, evaluation, x, norms);
        Ok(planned)
    }

    /// Computes the terms of a round from a gradient alone. `dot` is the inner product of its row
    /// and x.
    fn look_at(
        &mut self,
        x: &dyn Point,
        gradient: &Gradient<'_>,
        dot: f64,
    ) -> Result<PlannedRound> {
        let dim = self.x.len();
        check_len("decision", dim, x.dim())?;
        // prefetches the entries of the sum that `commit` will change
        self.sums.sum.fetch(&gradient.row);
        let row = kernel::norm(gradient.row.values());
        let square = x.norm_squared();
        let left_out = gradient.scale;
        let gradient = gradient.admit(row, square)?;
        // g − λx = scale·a + (ridge − λ)x, which is sparse if the ridge is λ
        let rest = gradient.ridge - self.lambda;
        if rest != 0.0 {
            x.write(&mut self.direction);
        }
        let played = gradient.scale * dot + (gradient.ridge - 0.5 * self.lambda) * square;
        // The terms of ⟨a, x⟩ have absolute values that add up to at most ‖a‖·‖x‖. `accuracy` is 1
        // for a storage with the entries of x, and larger for a less accurate storage. The exact
        // ‖x‖ exceeds the computed ‖x‖ by at most 1e-4 of the set's size.
        let Accuracy { dot: dots, norm } = x.accuracy();
        let length = (square + 1e-9 * self.reach * self.reach).sqrt();
        let size = gradient.scale.abs() * row;
        let bend = gradient.ridge.abs() + self.lambda;
        let error = rounding::of_row(&gradient.row) * dots * size * length
            + rounding::of_dot(x.dim()) * norm * bend * self.reach * self.reach;
        let size = size + rest.abs() * length;
        // a row that is treated as 0 has an error as large as the row
        let left_out = (left_out - gradient.scale).abs() * row;
        let error = error + left_out * (length + self.reach);
        Ok(PlannedRound {
            played,
            scale: gradient.scale,
            rest,
            error,
            size,
            row_norm: row,
            length,
            loss_error: 0.0,
        })
    }

    /// Adds the terms of the round that was planned last.
    pub(crate) fn commit(&mut self, planned: PlannedRound, gradient: &Gradient<'_>) {
        let sums = &mut self.sums;
        if planned.scale != 0.0 {
            sums.sum.add_row(planned.scale, &gradient.row);
        }
        if planned.rest != 0.0 {
            sums.sum.add_row(planned.rest, &Row::Dense(&self.direction));
        }
        sums.played.add(planned.played);
        sums.error += planned.error + 2.0 * planned.loss_error;
        sums.allowed += planned.loss_error;
        sums.size += planned.size;
        sums.rounds += 1;
    }

    /// A bound on the rounding error of the total loss.
    pub fn allowed(&self) -> f64 {
        self.sums.allowed
    }

    /// The certificate for the rounds so far. For λ > 0, up to `steps` oracle calls search for a
    /// point that gives a better certificate. For λ = 0, one oracle call is enough.
    pub fn certificate(&mut self, steps: usize) -> Result<Certificate> {
        let beta = self.beta();
        let (diameter, norm_bound) = (self.set.geometry().diameter, self.reach);
        let dim = self.x.len();
        let sums_error = self.sums.played_error() + self.sums.wide_error() * self.reach;
        self.vertex.resize(dim, 0.0);
        let mut best = (f64::INFINITY, 0.0);
        for _ in 0..steps.max(1) {
            // ∇F(x) = c + βx in wide numbers, and `direction` is ∇F(x) rounded
            let (mut lost, mut slope) = (0.0, Wide::default());
            let entries = self.direction.iter_mut().zip(self.sums.sum.iter());
            for ((d, c), x) in entries.zip(&self.x) {
                let mut wide = c;
                wide.add_product(beta, *x);
                slope.add_scaled(*x, c);
                let (high, low) = wide.parts();
                *d = high;
                lost += low * low;
            }
            let found = self.oracle.minimise(&self.direction, &mut self.atom)?;
            self.calls += 1;
            self.answered = true;
            self.atom.write(&mut self.vertex);
            let steepness = kernel::norm(&self.direction);
            let square = rounding::dot(&self.x, &self.x);
            let mut gap = rounding::dot(&self.direction, &self.x);
            gap.add_scaled(-1.0, rounding::dot(&self.direction, &self.vertex));
            // the set's minimum is at least ⟨direction, x⟩ − above
            let above = gap.value() + found.slack();
            self.oracle.check_gap(above, &self.direction)?;
            // If `above` is slightly below 0, the oracle missed its minimum by −`above`.
            let (above, short) = (above.max(0.0), (-above).max(0.0));
            // F(x) = ⟨c, x⟩ + (β/2)‖x‖²
            let mut value = slope;
            value.add_scaled(0.5 * beta, square);
            // F has the curvature β, so F(x) − min F is at most `curved`.
            let curved = 0.5 * steepness * (steepness / beta);
            let excess = curved.min(above);
            let mut regret = self.sums.played;
            regret.add_scaled(-1.0, value);
            regret.add(excess);
            // Every u in the set has F(u) ≥ F(x) + ⟨∇F(x), u − x⟩ + (β/2)‖u − x‖². The sums, the
            // product β, the rounded direction (`lost`), the oracle's minimum and the last
            // additions have rounding errors.
            let exact = beta == 0.0 || above <= curved;
            let last = if exact {
                rounding::of_oracle(dim, steepness, diameter, norm_bound) + lost.sqrt() * diameter
            } else {
                (4.0 * rounding::of_dot(dim) * steepness + 2.0 * lost.sqrt()) * (steepness / beta)
            };
            let error = sums_error
                + last
                + short
                + UNIT * (beta * norm_bound * norm_bound + 4.0 * (value.value().abs() + excess));
            if regret.value() + error < best.0 + best.1 {
                best = (regret.value(), error);
            }
            // the remaining gain is negligible, or smaller than rounding errors
            if beta == 0.0 || excess <= last.max(1e-10 * regret.value().abs()) {
                break;
            }
            let distance = self.atom.norm_squared() - 2.0 * self.atom.dot(&self.x) + square.value();
            if distance <= 0.0 {
                break;
            }
            let sigma = (gap.value().max(0.0) / (beta * distance)).min(1.0);
            for x in self.x.iter_mut() {
                *x -= sigma * *x;
            }
            self.atom.add_to(sigma, &mut self.x);
        }
        let (regret, rounding) = best;
        let best = regret + 1.001 * rounding;
        if !best.is_finite() {
            let rounds = self.sums.rounds;
            return Err(Error::numerical(rounds, "the certificate overflowed"));
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
            rounding: 1.001 * rounding,
        })
    }

    /// Writes a good fixed decision in hindsight. After a call of [`Meter::certificate`], this
    /// decision is the last point of the search. For λ = 0 it is the atom that minimises the sum of
    /// gradients.
    pub fn candidate(&self, out: &mut [f64]) {
        if self.lambda > 0.0 || !self.answered {
            out.copy_from_slice(&self.x)
        } else {
            self.atom.write(out)
        }
    }

    /// An upper bound on ‖c‖_q. A computed norm is accurate to a few hundred units in the last
    /// place. The error of c is known in the ℓ2 norm. ‖·‖_q is at most max(1, d^(1/q − 1/2))·‖·‖₂.
    fn norm_upper(&self, q: f64) -> f64 {
        let sum: Vec<f64> = self.sums.sum.iter().map(Wide::value).collect();
        let norm = match q {
            2.0 => kernel::norm(&sum),
            f64::INFINITY => kernel::max_abs(&sum),
            q => norm_p(&sum, q),
        };
        let dim = sum.len();
        let stretch = (dim as f64).powf((1.0 / q - 0.5).max(0.0));
        norm * (1.0 + 512.0 * UNIT + rounding::of_dot(dim)) + stretch * self.sums.wide_error()
    }

    /// β = λT.
    fn beta(&self) -> f64 {
        self.lambda * self.sums.rounds as f64
    }

    /// A bound on the regret against comparators of any norm. It is `None` if the set is not a ball
    /// of an ℓp norm around 0.
    pub fn by_norm(&self) -> Option<ByNorm> {
        let (p, q) = match self.set.structure() {
            Structure::Euclidean { .. } => (2.0, 2.0),
            // ‖c‖_q decreases in q, so a smaller q gives a larger, still valid bound
            Structure::Power { p, .. } => (p, p / (p - 1.0) * (1.0 - 4.0 * f64::EPSILON)),
            Structure::Sparse(SparseAtoms {
                count: 1,
                signs: AtomSigns::Any,
                ..
            }) => (1.0, f64::INFINITY),
            _ => return None,
        };
        // λ is a curvature in the ℓ2 norm. A smaller β, even 0, also gives a valid bound.
        let beta = if p == 2.0 { self.beta() } else { 0.0 };
        Some(ByNorm::new(
            p,
            self.sums.played.value() + self.sums.played_error(),
            self.norm_upper(q),
            beta * (1.0 - 4.0 * f64::EPSILON),
        ))
    }

    /// The number of oracle calls for certificates. The learner's calls are not included.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Continues in a higher dimension, like [`Learner::grow`](crate::learner::Learner::grow).
    pub fn grow(&mut self, dim: usize) -> Result<()> {
        if dim == self.x.len() {
            return Ok(());
        }
        let set = grown(&self.set, dim)?;
        self.reserve(dim)?;
        self.oracle = CheckedOracle::of(&*set);
        self.set = set;
        self.sums.sum.grow(dim);
        for vector in [&mut self.x, &mut self.direction] {
            vector.resize(dim, 0.0);
        }
        self.reach = self.set.geometry().norm_bound;
        self.answered = false;
        Ok(())
    }

    /// Reserves memory, so that a later [`Meter::grow`] to this dimension can't fail.
    pub fn reserve(&mut self, dim: usize) -> Result<()> {
        self.sums.sum.reserve(dim)?;
        for vector in [&mut self.x, &mut self.direction] {
            reserve(vector, dim, dim)?;
        }
        Ok(())
    }

    /// The dimension of a saved meter.
    pub fn saved_dim(saved: &[u8]) -> Result<usize> {
        Ok(unseal::<Saved>(saved)?.1.dim())
    }

    /// Saves the sums as bytes. Only non-zero entries are stored. [`Meter::load`] on a meter with
    /// the same set and λ restores the sums. The bytes do not depend on how many certificates were
    /// computed.
    ///
    /// ```
    /// use extremal::{hindsight::Meter, Gradient, LearnerSpec, SetSpec};
    /// let set = "l2:dim=1000".parse::<SetSpec>()?.build(None)?;
    /// let mut learner = "gauge-ftrl".parse::<LearnerSpec>()?.build(&set)?;
    /// let mut meter = Meter::new(&set, 0.0, true);
    /// let gradient = Gradient::sparse(&[7], &[1.0]);
    /// meter.see(learner.decide()?, &gradient)?;
    /// learner.observe(&gradient)?;
    /// let saved = meter.save()?;
    /// assert!(saved.len() < 200);
    /// let mut resumed = Meter::new(&set, 0.0, true);
    /// resumed.load(&saved)?;
    /// assert_eq!(resumed.certificate(1)?, meter.certificate(1)?);
    /// # Ok::<(), extremal::Error>(())
    /// ```
    pub fn save(&self) -> Result<Vec<u8>> {
        let set = Identity::of(&*self.set);
        let saved: Saved = (self.settings(), set, self.sums.clone());
        seal(&saved)
    }

    fn settings(&self) -> String {
        let kind = if self.linear { "linear " } else { "" };
        format!("a meter of {kind}losses with λ = {}", self.lambda)
    }

    /// Restores the sums that [`Meter::save`] returned. If the call fails, the meter does not
    /// change.
    pub fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (settings, set, sums): Saved = unseal(saved)?;
        check_settings(&settings, &self.settings())?;
        set.check(&*self.set)?;
        check_shape(sums.sum.len() == self.x.len())?;
        let set = self.set.clone();
        *self = Self {
            sums,
            ..Self::new(&set, self.lambda, self.linear)
        };
        Ok(())
    }
}
