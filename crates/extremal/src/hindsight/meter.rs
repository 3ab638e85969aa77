//! Watches a run and certifies its regret, from gradients alone.

use serde::{Deserialize, Serialize};

use super::sparse::Saved;
use crate::kernel;
use crate::learner::{Certificate, Level};
use crate::loss::{Loss, Objective};
use crate::pair::{Gradient, Point};
use crate::room::room;
use crate::set::{Atom, Identity, Oracle, SharedSet, Structure, grown, norm_p};
use crate::{Error, Result};

/// What a round adds to a [`Meter`].
pub struct Sight {
    played: f64,
    /// The factor of x in g − λx beyond the gradient's row.
    rest: f64,
}

/// Watches a run and certifies its regret. It keeps its own sums: a learner may forget.
///
/// A round costs what its gradient has non-zeros, unless the losses' λ is no ridge term's; a
/// certificate goes through all entries.
pub struct Meter {
    set: SharedSet,
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
    /// Whether the atom is a certificate's, in the present dimension.
    answered: bool,
}

/// Everything that later certificates depend on.
#[derive(Serialize, Deserialize)]
struct SavedMeter {
    name: String,
    set: Identity,
    lambda: f64,
    linear: bool,
    sum: Saved,
    played: f64,
    rounds: u64,
}

const NAME: &str = "meter";

impl Meter {
    /// For losses that are λ-strongly convex, 0 for convex ones; `linear` if they are linear. The
    /// certificates are as true as that.
    pub fn new(set: &SharedSet, lambda: f64, linear: bool) -> Self {
        let dim = set.dim();
        let mut x = vec![0.0; dim];
        set.centre(&mut x);
        Self {
            oracle: set.oracle(),
            set: set.clone(),
            lambda,
            linear: linear && lambda == 0.0,
            sum: vec![0.0; dim],
            played: 0.0,
            rounds: 0,
            calls: 0,
            x,
            direction: vec![0.0; dim],
            atom: Atom::new(),
            answered: false,
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
    pub fn look(&mut self, x: &dyn Point, gradient: &Gradient<'_>) -> Result<Sight> {
        let dot = x.dot(&gradient.row)?;
        self.look_at(x, gradient, dot)
    }

    /// The same for whoever knows ⟨a, x⟩ of the gradient's row: an
    /// [`Evaluation`](crate::loss::Evaluation) has it, unless its gradient had to be written out.
    pub fn look_at(&mut self, x: &dyn Point, gradient: &Gradient<'_>, dot: f64) -> Result<Sight> {
        if x.dim() != self.sum.len() {
            return Err(Error::Size {
                what: "decision",
                expected: self.sum.len(),
                found: x.dim(),
            });
        }
        let row = kernel::norm(gradient.row.values());
        // A number that is not finite shows in these, so that each is looked at only then.
        if !(row + dot + gradient.scale + gradient.ridge).is_finite() {
            gradient.check_finite()?;
        }
        let needs_norm = self.lambda != 0.0 || gradient.ridge != 0.0;
        let square = if needs_norm { x.norm_squared() } else { 0.0 };
        // g − λx = scale·a + (ridge − λ)x: nothing dense where the ridge is the λ
        let rest = gradient.ridge - self.lambda;
        if rest != 0.0 {
            x.write(&mut self.direction);
        }
        let played = gradient.scale * dot + (gradient.ridge - 0.5 * self.lambda) * square;
        if !(played.is_finite() && (gradient.scale * row).is_finite()) {
            return Err(Error::Numerical {
                round: self.rounds + 1,
                what: "a gradient overflowed".into(),
            });
        }
        Ok(Sight { played, rest })
    }

    /// Adds what [`Meter::look`] saw last.
    pub fn note(&mut self, sight: Sight, gradient: &Gradient<'_>) {
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
        let beta = self.beta();
        let mut best = f64::INFINITY;
        for _ in 0..steps.max(1) {
            for ((d, c), x) in self.direction.iter_mut().zip(&self.sum).zip(&self.x) {
                *d = c + beta * x;
            }
            let low = self.oracle.minimise(&self.direction, &mut self.atom)?;
            self.calls += 1;
            self.answered = true;
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
        if self.lambda > 0.0 || !self.answered {
            out.copy_from_slice(&self.x)
        } else {
            self.atom.write(out)
        }
    }

    /// Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖², from above.
    pub(super) fn played_upper(&self) -> f64 {
        self.played
    }

    /// ‖c‖_q, from above.
    pub(super) fn norm_upper(&self, q: f64) -> f64 {
        match q {
            2.0 => kernel::norm(&self.sum),
            f64::INFINITY => kernel::max_abs(&self.sum),
            q => norm_p(&self.sum, q),
        }
    }

    /// β = λT.
    pub(super) fn beta(&self) -> f64 {
        self.lambda * self.rounds as f64
    }

    pub(super) fn structure(&self) -> Structure {
        self.set.structure()
    }

    /// Oracle calls made to report; those made to play are counted by the learner.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Goes on in a higher dimension, as [`Learner::grow`](crate::learner::Learner::grow) does.
    pub fn grow(&mut self, dim: usize) -> Result<()> {
        if dim == self.sum.len() {
            return Ok(());
        }
        let set = grown(&self.set, dim)?;
        self.reserve(dim)?;
        let mut oracle = set.oracle();
        oracle.load(&self.oracle.save())?;
        (self.set, self.oracle) = (set, oracle);
        for vector in [&mut self.sum, &mut self.x, &mut self.direction] {
            vector.resize(dim, 0.0);
        }
        self.answered = false;
        Ok(())
    }

    /// Memory for [`Meter::grow`] to that dimension, which no longer fails for want of it.
    pub fn reserve(&mut self, dim: usize) -> Result<()> {
        for vector in [&mut self.sum, &mut self.x, &mut self.direction] {
            room(vector, dim, dim)?;
        }
        Ok(())
    }

    /// The dimension that [`Meter::save`] was called in, by the bytes it gave.
    pub fn saved_dim(saved: &[u8]) -> Result<usize> {
        let saved: SavedMeter =
            postcard::from_bytes(saved).map_err(|e| Error::State(e.to_string()))?;
        Ok(saved.set.dim())
    }

    /// What the rounds have added up to, as bytes that take the room of what is not 0;
    /// [`Meter::load`] on a meter built alike goes on from it. When and how often it was asked for
    /// a certificate leaves no trace in them.
    ///
    /// ```
    /// use extremal::{hindsight::Meter, learner::LearnerSpec, pair::Gradient, set::SetSpec};
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
        let saved = SavedMeter {
            name: NAME.into(),
            set: Identity::of(&*self.set),
            lambda: self.lambda,
            linear: self.linear,
            sum: Saved::of(&self.sum),
            played: self.played,
            rounds: self.rounds,
        };
        postcard::to_stdvec(&saved).map_err(|e| Error::State(e.to_string()))
    }

    /// Takes back what [`Meter::save`] gave. On an error nothing has changed.
    pub fn load(&mut self, saved: &[u8]) -> Result<()> {
        let trouble = |e: postcard::Error| Error::State(e.to_string());
        let (saved, rest): (SavedMeter, _) = postcard::take_from_bytes(saved).map_err(trouble)?;
        if saved.name != NAME || !rest.is_empty() {
            return Err(Error::State("it is not of a meter".into()));
        }
        saved.set.check(&*self.set)?;
        if (saved.lambda, saved.linear) != (self.lambda, self.linear) {
            return Err(Error::State(format!(
                "it is for losses with λ = {}, linear: {}, not λ = {}, linear: {}",
                saved.lambda, saved.linear, self.lambda, self.linear
            )));
        }
        let dim = self.sum.len();
        let sum = saved.sum.restore(dim)?;
        if !saved.played.is_finite() {
            return Err(Error::State("its sum of losses is no number".into()));
        }
        self.sum = sum;
        self.played = saved.played;
        (self.rounds, self.calls) = (saved.rounds, 0);
        self.oracle = self.set.oracle();
        self.set.centre(&mut self.x);
        self.answered = false;
        Ok(())
    }
}
