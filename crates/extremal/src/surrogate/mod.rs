//! The stored surrogate (x, c) and the Frank-Wolfe step. Every Frank-Wolfe learner of this library
//! minimises an isotropic quadratic F(x) = ⟨c, x⟩ + (β/2)‖x‖² + const over the set. Hence ∇F(x) = c +
//! βx, and the exact line search has a closed form. The surrogate (x, c) has several storages
//! with different costs. A learner only defines how c and β change and how large a step is, and it
//! runs on all storages.
//!
//! A round calls [`Surrogate::probe`], which forms the new sum c' and calls the oracle but does not
//! change the decision. It then calls [`Surrogate::commit`], which stores c' and moves x, or
//! [`Surrogate::discard`]. A probe that fails changes nothing.

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
use crate::range::{MODERATE, check_step};
use crate::set::{SharedSet, centre_of, check_entries};
use crate::{Error, Result, kernel};

/// The change of c in a round, and the curvature of F: c' = c + weight·g + decision·x + origin·x₁,
/// where x₁ is the starting point. A surrogate uses [`Update::row_factor`],
/// [`Update::decision_factor`], `origin`, `beta` and `restart`.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// The gradient g.
    pub gradient: &'a Gradient<'a>,
    /// The factor of g.
    pub weight: f64,
    /// The factor of the decision x.
    pub decision: f64,
    /// The factor of x₁.
    pub origin: f64,
    /// β after the change.
    pub beta: f64,
    /// Whether F restarts before the round. In a restart −βx replaces c, and the commit sets x₁ to
    /// x.
    pub restart: bool,
}

impl<'a> Update<'a> {
    /// c' = c + weight·g, with curvature β.
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

    /// Adds the term decision·x to c'.
    pub fn with_decision(self, decision: f64) -> Self {
        Self { decision, ..self }
    }

    /// Adds the term origin·x₁ to c'.
    pub fn with_origin(self, origin: f64) -> Self {
        Self { origin, ..self }
    }

    /// Restarts F at the current decision x: F(y) = weight·⟨g, y⟩ + (β/2)‖y − x‖².
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

    /// The factor of x in c', including the gradient's ridge term and, on a restart, −β.
    pub fn decision_factor(&self) -> f64 {
        let m = self.decision + self.weight * self.gradient.ridge;
        if self.restart { m - self.beta } else { m }
    }

    /// Whether the sizes are far from their limits, from ‖a‖² and ‖x‖². A short round would wait
    /// for the square roots of the exact check.
    #[inline]
    fn is_moderate(&self, aa: f64, xx: f64) -> bool {
        let Gradient { scale, ridge, .. } = *self.gradient;
        MODERATE.contains(&aa)
            && MODERATE.contains(&(scale * scale * aa))
            && ridge * ridge <= *MODERATE.end()
            && ridge * ridge * xx <= *MODERATE.end()
            && self.weight * self.weight <= *MODERATE.end()
    }

    /// Checks the sizes of g and weight·g. Returns false if g is treated as 0, as
    /// [`Gradient::counts`] does.
    #[inline]
    fn counts(&self, row_norm: f64, xx: f64) -> Result<bool> {
        let counts = self.gradient.counts(row_norm, xx)?;
        let size = self.weight.abs() * self.gradient.size(row_norm, xx);
        check_step(size)?;
        Ok(counts)
    }

    /// Checks the sizes, and returns the gradient. If the row is treated as 0, its factor is set to
    /// 0.
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

/// The results of a probe: numbers about F at the decision x, computed with the oracle's atom v.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// ⟨∇F(x), x − v⟩. The sum of this and `slack` is at least F(x) − min F.
    pub gap: f64,
    /// An upper bound on ⟨∇F(x), v⟩ − min ⟨∇F(x), ·⟩ over the set. It is 0 if the oracle is exact.
    pub slack: f64,
    /// ‖v − x‖². It is 0 if ∇F(x) = 0, because then every atom is a minimiser and x does not move.
    pub distance_squared: f64,
    /// ⟨∇F(x), x⟩.
    pub slope: f64,
    /// ‖x‖².
    pub norm_squared: f64,
    /// β.
    pub beta: f64,
    /// ⟨c', x₁ − v⟩ if β = 0. Let S be the set translated by −x₁. This is the support function of S
    /// at −c'.
    pub support: f64,
    /// ‖g‖, where g is the gradient of the round.
    pub gradient_norm: f64,
    /// ⟨g, x⟩.
    pub gradient_dot: f64,
    /// ‖∇F(x)‖, or ∞ if the storage does not compute it.
    pub steepness: f64,
    /// The number of linear minimisations that computed v, by the oracle or in closed form. It is 0
    /// if ∇F(x) = 0.
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
    /// An upper bound on F(x) − min F. It is the smaller of two bounds: gap plus slack, and
    /// ‖∇F(x)‖²/(2β), which follows from F's curvature. The second bound is far smaller if the
    /// minimiser lies inside the set.
    pub fn suboptimality(&self) -> f64 {
        // this is NaN for β = 0 and ∇F = 0, and `min` then returns the gap
        (0.5 * self.steepness * (self.steepness / self.beta)).min(self.gap + self.slack)
    }

    /// The σ in [0, 1] that minimises F(x + σ(v − x)): min(1, gap/(β‖v − x‖²)).
    pub fn line_search(&self) -> f64 {
        if self.gap <= 0.0 || self.distance_squared <= 0.0 {
            return 0.0;
        }
        let sigma = self.gap / (self.beta * self.distance_squared);
        // an altered saved state may have β < 0 or β = NaN; the step is then 0
        if sigma > 0.0 { sigma.min(1.0) } else { 0.0 }
    }

    /// The fixed step size σ, or 0 if ∇F = 0.
    pub fn step_unless_flat(&self, sigma: f64) -> f64 {
        if self.distance_squared > 0.0 {
            sigma
        } else {
            0.0
        }
    }

    /// ⟨c', x⟩ + (β/2)‖x‖², which is F(x) without its constant.
    pub fn surrogate(&self) -> f64 {
        self.slope - 0.5 * self.beta * self.norm_squared
    }
}

/// The motion of x at the end of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Move {
    /// x += σ(v − x).
    Towards(f64),
    /// x = x₁ + s(v − x₁).
    ToAtom(f64),
}

impl Move {
    /// The step size: σ or s.
    pub fn size(self) -> f64 {
        match self {
            Self::Towards(size) | Self::ToAtom(size) => size,
        }
    }
}

/// A surrogate (x, c) in some storage, with an oracle that reads this storage.
pub trait Surrogate: Point + Send + Sync {
    /// Forms c' and computes v = argmin ⟨c' + βx, ·⟩. The decision does not change. After a
    /// successful probe the caller must call [`Surrogate::commit`] or [`Surrogate::discard`]. If
    /// `sure` is true, the caller will commit, and the surrogate need not record how to undo the
    /// probe. A probe that fails changes nothing.
    fn probe(&mut self, update: &Update<'_>, sure: bool) -> Result<Probe>;

    /// Stores c' as c, and moves x.
    fn commit(&mut self, motion: Move);

    /// Undoes the last probe. The probe must have been computed with `sure` false.
    fn discard(&mut self);

    /// The set, if there is one.
    fn set(&self) -> Option<&SharedSet> {
        None
    }

    /// Sets c = −weight·x₁ and x = x₁, the minimiser of F(x) = (weight/2)‖x − x₁‖².
    fn start(&mut self, weight: f64);

    /// ‖g‖ at the current decision, for rules that need it before they probe. A gradient that is
    /// too large or has the wrong dimension is an error.
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

    /// An upper bound on ‖g‖_q at the current decision. It is exact if the norm is cheap to
    /// compute.
    fn gradient_norm(&self, gradient: &Gradient<'_>, q: f64) -> f64;

    /// The whole state as bytes.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores a state that [`Surrogate::save`] returned. If the call fails, the surrogate may
    /// have changed. The learner then restores it.
    fn load(&mut self, saved: &[u8]) -> Result<()>;

    /// Checks that the surrogate can continue in a larger set, and reserves memory for it.
    fn reserve(&mut self, _set: &SharedSet) -> Result<()> {
        Err(Error::Unsupported("this surrogate can't grow".into()))
    }

    /// Continues in the set that [`Surrogate::reserve`] prepared. The new entries of x and c are 0.
    /// Call it only between a commit and the next probe.
    fn grow(&mut self, _set: SharedSet) {}
}

/// Sets x = x₁: `start` if there is one, otherwise the set's centre. `start` must be a point of the
/// set.
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
