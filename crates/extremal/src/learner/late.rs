//! Frank-Wolfe steps for gradients as they arrive, whenever they were asked for: what
//! [`delayed`](super::delayed) is made of, and [`Late`] for feedback that is late in truth.

use serde::{Deserialize, Serialize};

use super::delayed::Delayed;
use super::method::first_decision;
use crate::pair::Gradient;
use crate::set::{Atom, CheckedOracle, Oracle, SharedSet, check_point};
use crate::{Result, kernel, range};

/// Where ω comes from.
#[derive(Clone, Copy)]
pub(super) enum Weight {
    /// ω.
    Fixed(f64),
    /// ω/(k+2)^(2/3).
    Growing(f64),
    /// ω/(√(Σ‖g‖²)·k^(1/6)).
    Adaptive(f64),
    /// λ.
    Lambda(f64),
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Count {
    /// Gradients absorbed.
    pub(super) k: u64,
    /// √(Σ‖g‖²) of them.
    pub(super) root: f64,
}

/// What has been absorbed, and how the next gradient is. Steps taken are undone until
/// [`Steps::commit`].
pub(super) struct Steps {
    pub(super) oracle: CheckedOracle,
    atom: Atom,
    weight: Weight,
    x1: Vec<f64>,
    /// Σg, with λ Σ(g − λx_g).
    pub(super) sum: Vec<f64>,
    pub(super) count: Count,
    next_sum: Vec<f64>,
    next_count: Count,
    /// ∇F(x).
    direction: Vec<f64>,
    /// x − v.
    back: Vec<f64>,
}

impl Steps {
    pub(super) fn new(set: &SharedSet, start: Option<&[f64]>, weight: Weight) -> Result<Self> {
        super::keys::need_oracle("delayed", &**set)?;
        let x1 = first_decision(set, start)?;
        let zeros = vec![0.0; x1.len()];
        Ok(Self {
            oracle: CheckedOracle::of(&**set),
            atom: Atom::new(),
            weight,
            x1,
            sum: zeros.clone(),
            count: Count::default(),
            next_sum: zeros.clone(),
            next_count: Count::default(),
            direction: zeros.clone(),
            back: zeros,
        })
    }

    /// What of g, taken at x, is added to the sum.
    pub(super) fn item(&self, g: &[f64], x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(g);
        if let Weight::Lambda(lambda) = self.weight {
            kernel::axpy(-lambda, x, out);
        }
    }

    pub(super) fn begin(&mut self) {
        self.next_sum.copy_from_slice(&self.sum);
        self.next_count = self.count;
    }

    /// One step of x for a gradient: σ and the gap.
    pub(super) fn absorb(&mut self, item: &[f64], norm: f64, x: &mut [f64]) -> Result<(f64, f64)> {
        let Count { k, root } = &mut self.next_count;
        *k += 1;
        *root = root.hypot(norm);
        let steps = *k as f64;
        // F = ⟨S, x⟩ + (β/2)‖x − x₁‖², with λ around 0
        let beta = match self.weight {
            Weight::Fixed(omega) => 2.0 * omega,
            Weight::Growing(factor) => 2.0 * factor * (steps + 2.0).powf(2.0 / 3.0),
            Weight::Adaptive(factor) => 2.0 * factor * *root * steps.powf(1.0 / 6.0),
            Weight::Lambda(lambda) => lambda * steps,
        };
        let around = if matches!(self.weight, Weight::Lambda(_)) {
            0.0
        } else {
            beta
        };
        kernel::axpy(1.0, item, &mut self.next_sum);
        self.direction.copy_from_slice(&self.next_sum);
        kernel::axpy(beta, x, &mut self.direction);
        kernel::axpy(-around, &self.x1, &mut self.direction);
        if range::is_zero(&self.direction) {
            return Ok((0.0, 0.0));
        }
        let found = self.oracle.minimise(&self.direction, &mut self.atom)?;
        self.back.copy_from_slice(x);
        self.atom.add_to(-1.0, &mut self.back);
        let (gap, length) = (
            kernel::dot(&self.direction, &self.back),
            kernel::norm(&self.back),
        );
        self.oracle
            .check_gap(gap + found.slack(), &self.direction)?;
        // argmin over [0, 1] of −σ·gap + σ²(β/2)‖x − v‖²
        let sigma = (gap / length / length / beta).min(1.0);
        if !(sigma > 0.0) {
            return Ok((0.0, 0.0));
        }
        kernel::axpy(-sigma, &self.back, x);
        let scale = match self.weight {
            Weight::Fixed(omega) => omega,
            _ => 1.0,
        };
        Ok((sigma, gap / scale))
    }

    pub(super) fn commit(&mut self) {
        std::mem::swap(&mut self.sum, &mut self.next_sum);
        self.count = self.next_count;
    }
}

/// The same steps for feedback that is late in truth: decisions are there whenever they are
/// wanted, and each gradient is delivered when it arrives, with the decision it was taken at.
///
/// ```
/// use extremal::{learner::delayed::{Delayed, Late}, pair::Gradient, set::SetSpec};
/// let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
/// let mut late = Late::new(&Delayed::default(), &set)?;
/// let asked: Vec<f64> = late.decision().to_vec();
/// // … other rounds go by, then the answer is there:
/// late.deliver(&Gradient::dense(&[1.0, 0.0]), &asked)?;
/// assert!(late.decision()[0] < 0.0);
/// # Ok::<(), extremal::Error>(())
/// ```
pub struct Late {
    steps: Steps,
    x: Vec<f64>,
    next: Vec<f64>,
    g: Vec<f64>,
    item: Vec<f64>,
}

impl Late {
    /// Starts at x₁. The spec's `delay`, `random` and `seed` say nothing here.
    pub fn new(spec: &Delayed, set: &SharedSet) -> Result<Self> {
        let steps = spec.steps(set)?;
        let zeros = vec![0.0; set.dim()];
        Ok(Self {
            x: steps.x1.clone(),
            next: zeros.clone(),
            g: zeros.clone(),
            item: zeros,
            steps,
        })
    }

    /// The latest decision.
    pub fn decision(&self) -> &[f64] {
        &self.x
    }

    /// How many gradients have been delivered.
    pub fn delivered(&self) -> u64 {
        self.steps.count.k
    }

    /// Absorbs the gradient of a loss at the decision `at`, by one oracle call; returns the step
    /// σ. An error leaves everything as it was.
    pub fn deliver(&mut self, gradient: &Gradient<'_>, at: &[f64]) -> Result<f64> {
        check_point(self.x.len(), at)?;
        gradient.row.check_shape(self.x.len())?;
        let row_norm = kernel::norm(gradient.row.values());
        let gradient = gradient.admit(row_norm, kernel::dot(at, at))?;
        for (g, x) in self.g.iter_mut().zip(at) {
            *g = gradient.ridge * x;
        }
        gradient.row.add_to(gradient.scale, &mut self.g);
        let norm = kernel::norm(&self.g);
        self.steps.item(&self.g, at, &mut self.item);
        self.next.copy_from_slice(&self.x);
        self.steps.begin();
        let (sigma, _) = self.steps.absorb(&self.item, norm, &mut self.next)?;
        self.steps.commit();
        std::mem::swap(&mut self.x, &mut self.next);
        Ok(sigma)
    }
}
