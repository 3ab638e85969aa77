//! The stored surrogate (x, c) and the Frank-Wolfe step. Every Frank-Wolfe learner here minimises an
//! isotropic quadratic F(x) = ⟨c, x⟩ + (β/2)‖x‖² + const over the set, so that ∇F(x) = c + βx and the
//! exact line search has a closed form. The surrogate (x, c) has several storages with different costs. A
//! learner defines only how c and β change and how far to step, and runs on all storages.
//!
//! A round is [`Surrogate::probe`], which forms c' and calls the oracle without changing the decision, and
//! then [`Surrogate::commit`], which stores c' and moves, or [`Surrogate::discard`]. A probe that fails changes
//! nothing.

mod dense;
mod lazy;
mod residual;
mod scaled;
mod sparse;
mod sparse_vector;
mod touched;

pub use dense::DenseSurrogate;
pub use lazy::{LazySurrogate, Passes};
pub(crate) use scaled::{SavedScaled, Scaled};
pub use sparse::SparseSurrogate;
pub(crate) use sparse_vector::SparseVector;
pub(crate) use touched::{Marks, Touched};

use crate::point::{Gradient, Point};
use crate::range::check_step;
use crate::set::{SharedSet, centre_of, check_entries};
use crate::{Error, Result, kernel};

/// The change of c in this round, and the curvature of F: c' = c + weight·g + decision·x + origin·x₁.
/// A surrogate reads [`Update::row_factor`], [`Update::decision_factor`], `origin` and `restart`.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// g
    pub gradient: &'a Gradient<'a>,
    /// The factor of g.
    pub weight: f64,
    /// The factor of the decision x.
    pub decision: f64,
    /// The factor of x₁.
    pub origin: f64,
    /// β, after the change.
    pub beta: f64,
    /// Whether F restarts before the round: c = −βx replaces c, and x₁ = x once the round is
    /// committed.
    pub restart: bool,
}

impl<'a> Update<'a> {
    /// c' = c + weight·g, curvature β.
    pub fn new(weight: f64, gradient: &'a Gradient<'a>, beta: f64) -> Self {
        Self {
            gradient,
            weight,
            decision: 0.0,
            origin: 0.0,
            beta,
            restart: false,
        }
    }

    /// Adds decision·x to c' as well.
    pub fn with_decision(self, decision: f64) -> Self {
        Self { decision, ..self }
    }

    /// Adds origin·x₁ to c' as well.
    pub fn with_origin(self, origin: f64) -> Self {
        Self { origin, ..self }
    }

    /// Restarts F at the present decision: F = weight·⟨g, ·⟩ + (β/2)‖· − x‖².
    pub fn restarted(self) -> Self {
        Self {
            restart: true,
            ..self
        }
    }

    /// The factor of the gradient's row a in c'.
    pub fn row_factor(&self) -> f64 {
        self.weight * self.gradient.scale
    }

    /// The factor of x in c', the gradient's ridge part and a fresh start included.
    pub fn decision_factor(&self) -> f64 {
        let m = self.decision + self.weight * self.gradient.ridge;
        if self.restart { m - self.beta } else { m }
    }

    /// The numeric door for g and weight·g, as [`Gradient::counts`].
    #[inline]
    fn counts(&self, row_norm: f64, xx: f64) -> Result<bool> {
        let counts = self.gradient.counts(row_norm, xx)?;
        let size = self.weight.abs() * self.gradient.size(row_norm, xx);
        check_step(size)?;
        Ok(counts)
    }

    /// The gradient as it counts, as [`Gradient::admit`].
    fn admit(&self, row_norm: f64, xx: f64) -> Result<Gradient<'a>> {
        let scale = if self.counts(row_norm, xx)? {
            self.gradient.scale
        } else {
            0.0
        };
        Ok(Gradient {
            scale,
            ..*self.gradient
        })
    }
}

/// The quantities that the oracle's answer v gives about F at x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// ⟨∇F(x), x − v⟩. With `slack` added, it is at least F(x) − min F.
    pub gap: f64,
    /// An upper bound on how far v is from the oracle's minimum: 0 if the oracle is exact.
    pub slack: f64,
    /// ‖v − x‖²; 0 if ∇F(x) = 0: then every atom is a minimiser, and x stays.
    pub distance_squared: f64,
    /// ⟨∇F(x), x⟩.
    pub slope: f64,
    /// ‖x‖².
    pub norm_squared: f64,
    /// β.
    pub beta: f64,
    /// ⟨c', x₁ − v⟩ where β = 0: the support function of the set moved to have x₁ at 0.
    pub support: f64,
    /// ‖g‖ of the round's gradient.
    pub gradient_norm: f64,
    /// ⟨g, x⟩.
    pub gradient_dot: f64,
    /// ‖∇F(x)‖; ∞ if the storage does not compute it.
    pub steepness: f64,
    /// The number of linear minimisations for v, by the oracle or in closed form: 0 if ∇F(x) = 0.
    pub oracle_calls: u32,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            gap: 0.0,
            slack: 0.0,
            distance_squared: 0.0,
            slope: 0.0,
            norm_squared: 0.0,
            beta: 0.0,
            support: 0.0,
            gradient_norm: 0.0,
            gradient_dot: 0.0,
            steepness: f64::INFINITY,
            oracle_calls: 0,
        }
    }
}

impl Probe {
    /// An upper bound on F(x) − min F: the gap plus the slack, or the bound ‖∇F(x)‖²/(2β) from F's
    /// curvature. The latter is far smaller if the minimiser lies inside the set.
    pub fn suboptimality(&self) -> f64 {
        // NaN for β = 0 = ∇F, and then it is the gap
        (0.5 * self.steepness * (self.steepness / self.beta)).min(self.gap + self.slack)
    }

    /// The σ in [0, 1] that minimises F(x + σ(v − x)): min(1, gap/(β‖v − x‖²)), with the β of the
    /// update.
    pub fn line_search(&self) -> f64 {
        if self.gap <= 0.0 || self.distance_squared <= 0.0 {
            return 0.0;
        }
        let sigma = self.gap / (self.beta * self.distance_squared);
        // 0 where β < 0 or NaN, in a state that was tampered with
        if sigma > 0.0 { sigma.min(1.0) } else { 0.0 }
    }

    /// A step of fixed size; 0 if ∇F = 0.
    pub fn step_unless_flat(&self, sigma: f64) -> f64 {
        if self.distance_squared > 0.0 {
            sigma
        } else {
            0.0
        }
    }

    /// ⟨c', x⟩ + (β/2)‖x‖²: F(x) up to its constant.
    pub fn surrogate(&self) -> f64 {
        self.slope - 0.5 * self.beta * self.norm_squared
    }
}

/// How x moves at the end of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Move {
    /// x += σ(v − x).
    Towards(f64),
    /// x = x₁ + s(v − x₁).
    ToAtom(f64),
}

impl Move {
    /// σ or s.
    pub fn size(self) -> f64 {
        match self {
            Self::Towards(size) | Self::ToAtom(size) => size,
        }
    }
}

/// The surrogate (x, c) in some storage, with an oracle that reads this storage.
pub trait Surrogate: Point + Send + Sync {
    /// Forms c' and v = argmin ⟨c' + βx, ·⟩. The decision does not change. [`Surrogate::commit`] or
    /// [`Surrogate::discard`] must follow every successful probe. If `sure`, the caller promises to commit,
    /// and the surrogate need not record how to undo the probe. An error changes nothing.
    fn probe(&mut self, update: &Update<'_>, sure: bool) -> Result<Probe>;

    /// c = c', and x moves.
    fn commit(&mut self, motion: Move);

    /// Undoes the last probe, which was not `sure`.
    fn discard(&mut self);

    /// The set, if there is one.
    fn set(&self) -> Option<&SharedSet> {
        None
    }

    /// c = −weight·x₁ and x = x₁: where F(x) = (weight/2)‖x − x₁‖² starts.
    fn start(&mut self, weight: f64);

    /// ‖g‖ at the present decision, which some rules need before they probe; an error if the
    /// gradient does not fit or is too large.
    fn size_of(&self, gradient: &Gradient<'_>) -> Result<f64> {
        gradient.row.check_shape(self.dim())?;
        let (row, xx) = (kernel::norm(gradient.row.values()), self.norm_squared());
        let gradient = gradient.admit(row, xx)?;
        let row_dot = match gradient.ridge {
            0.0 => 0.0,
            _ => self.dot(&gradient.row)?,
        };
        Ok(gradient.norm_from(row, row_dot, xx))
    }

    /// An upper bound of ‖g‖_q at the present decision, exact where that costs little.
    fn gradient_norm(&self, gradient: &Gradient<'_>, q: f64) -> f64;

    /// The whole state, as bytes.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores the state that [`Surrogate::save`] returned. After an error the surrogate may have changed; the
    /// learner then restores it.
    fn load(&mut self, saved: &[u8]) -> Result<()>;

    /// Checks that the surrogate can continue in this larger set, and reserves memory for it.
    fn reserve(&mut self, _set: &SharedSet) -> Result<()> {
        Err(Error::Unsupported("this surrogate can't grow".into()))
    }

    /// Continues in the set that was passed to [`Surrogate::reserve`]. The new entries of x and c are 0.
    /// Call it only between a commit and the next probe.
    fn grow(&mut self, _set: SharedSet) {}
}

/// x = x₁: `start` if given, which must be a point of the set, otherwise the set's centre.
fn place_start(set: &SharedSet, start: Option<&[f64]>, x: &mut [f64]) -> Result<()> {
    let centre = centre_of(&**set);
    let start = start.unwrap_or(&centre);
    check_entries("start", x.len(), start)?;
    if let Some(v) = set.violation(start).filter(|v| !(*v <= 1e-9)) {
        return Err(Error::Unsupported(format!(
            "the starting point (the set's centre unless `start` is given) lies outside set {} (violation {v:e})",
            set.name()
        )));
    }
    x.copy_from_slice(start);
    Ok(())
}
