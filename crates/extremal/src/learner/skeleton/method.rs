//! The shared code of learners that store every entry of their decision. The author of such a
//! learner writes a [`Method`]: one function that computes the next state and the next decision.
//! This file contains the rest: plan, commit, discard, save and load.

use serde::{Serialize, de::DeserializeOwned};

use crate::learner::skeleton::{Acting, Body, check_shape, decode, encode, settings};
use crate::learner::{Learner, Record, RunStatistics, Storage, not_stored};
use crate::range::check_size;
use crate::set::SharedSet;
use crate::spec::Registered;
use crate::surrogate::DenseSurrogate;
use crate::theory::Guarantee;
use crate::{Error, Gradient, Point, Result, kernel};

/// The mathematics of a learner, on plain vectors.
pub(crate) trait Method: Send + Sync {
    /// The data that change from round to round, apart from the decision. They include random
    /// generators. Scratch memory and oracles belong to the method itself.
    type State: Clone + Serialize + DeserializeOwned + Send + Sync;

    /// The state before the first round. `x` is the first decision.
    fn start(&self, x: &[f64]) -> Self::State;

    /// Whether the vectors of a saved state have the same lengths as the vectors that
    /// [`Method::start`] creates for `x`. This is always true for a state without vectors.
    fn fits(_state: &Self::State, _x: &[f64]) -> bool {
        true
    }

    /// Plays a round: writes the next state and the next decision.
    fn round(&mut self, round: Round<'_, Self::State>) -> Result<Step>;

    /// The number of calls of the method's oracle so far. It is 0 without an oracle.
    fn oracle_calls(&self) -> u64 {
        0
    }

    /// The guarantee in this state, given the statistics of the run. The default is no guarantee.
    fn guarantee(&self, _state: &Self::State, _seen: &RunStatistics) -> Option<Guarantee> {
        None
    }
}

/// The data of a round, and the memory for its results.
pub(crate) struct Round<'a, S> {
    /// The round's number, from 1.
    pub t: f64,
    /// The gradient with every entry, including the ridge term. Its norm is 0 or in the accepted
    /// range.
    pub g: &'a [f64],
    /// ‖g‖.
    pub norm: f64,
    pub now: &'a S,
    /// Receives the next state. On entry it is an earlier state, whose memory can be reused.
    pub next: &'a mut S,
    pub x: &'a [f64],
    /// Receives the next decision. On entry it equals `x`.
    pub x_next: &'a mut [f64],
}

/// The numbers that a round reports.
pub(crate) struct Step {
    /// The step size σ_t or η_t.
    pub sigma: f64,
    /// ⟨∇F_t(x_t), x_t − v_t⟩. It is NaN if the learner has no surrogate.
    pub gap: f64,
}

impl Step {
    /// The result for a learner without a surrogate.
    pub fn of(sigma: f64) -> Self {
        let gap = f64::NAN;
        Self { sigma, gap }
    }
}

/// Checks the gradient's size. Returns the gradient, the norm of its row a, and a record of the
/// round. `ax` is ⟨a, x⟩ and `xx` is ‖x‖² for the decision x.
pub(crate) fn admitted<'g>(
    round: u64,
    gradient: &Gradient<'g>,
    ax: f64,
    xx: f64,
) -> Result<(Gradient<'g>, f64, Record)> {
    let row_norm = kernel::norm(gradient.row.values());
    let gradient = gradient.admit(row_norm, xx)?;
    let norm = gradient.norm_from(row_norm, ax, xx);
    let dot = gradient.scale * ax + gradient.ridge * xx;
    Ok((gradient, row_norm, Record::new(round, norm, dot, xx)))
}

/// The private fields of a value, read from its saved form.
pub(crate) fn parts_of<T: DeserializeOwned>(value: &impl Serialize) -> Result<T> {
    decode(&encode(value)?)
}

/// A method with its state and its decision. A round writes `next` and `x_next`, and a commit swaps
/// them with `now` and `x`.
struct Dense<M: Method> {
    set: SharedSet,
    method: M,
    now: M::State,
    next: M::State,
    x: Vec<f64>,
    x_next: Vec<f64>,
    g: Vec<f64>,
}

/// Builds the learner of a method. Without `start`, the first decision is the set's centre.
pub(crate) fn acting<S: Registered + Serialize, M: Method + 'static>(
    spec: &S,
    method: M,
    set: &SharedSet,
    start: Option<&[f64]>,
    storage: Storage,
) -> Result<Box<dyn Learner>> {
    if storage != Storage::Dense {
        return Err(not_stored(S::ENTRY.name, set, storage));
    }
    let x = first_decision(set, start)?;
    let now = method.start(&x);
    let body = Dense {
        set: set.clone(),
        method,
        next: now.clone(),
        now,
        x_next: x.clone(),
        g: vec![0.0; x.len()],
        x,
    };
    Ok(Box::new(Acting::new(settings(spec, storage), body)))
}

/// The first decision x₁, with the same checks for every learner.
pub(crate) fn first_decision(set: &SharedSet, start: Option<&[f64]>) -> Result<Vec<f64>> {
    Ok(DenseSurrogate::new(set.clone(), start)?.decision().to_vec())
}

impl<M: Method> Body for Dense<M> {
    type Plan = ();

    fn point(&self) -> &dyn Point {
        &self.x
    }

    fn plan(&mut self, round: u64, gradient: &Gradient<'_>, _sure: bool) -> Result<(Record, ())> {
        gradient.row.check_shape(self.x.len())?;
        let xx = kernel::dot(&self.x, &self.x);
        let row_norm = kernel::norm(gradient.row.values());
        let gradient = gradient.admit(row_norm, xx)?;
        for (g, x) in self.g.iter_mut().zip(&self.x) {
            *g = gradient.ridge * x;
        }
        gradient.row.add_to(gradient.scale, &mut self.g);
        let mut norm = kernel::norm(&self.g);
        if !check_size("gradient", norm)? {
            self.g.fill(0.0);
            norm = 0.0;
        }
        let calls = self.method.oracle_calls();
        self.x_next.copy_from_slice(&self.x);
        let step = self.method.round(Round {
            t: round as f64,
            g: &self.g,
            norm,
            now: &self.now,
            next: &mut self.next,
            x: &self.x,
            x_next: &mut self.x_next,
        })?;
        if kernel::find_not_finite(&self.x_next).is_some() {
            return Err(Error::numerical(round, "the next decision overflowed"));
        }
        let record = Record {
            sigma: step.sigma,
            gap: step.gap,
            oracle_calls: (self.method.oracle_calls() - calls) as u32,
            ..Record::new(round, norm, kernel::dot(&self.g, &self.x), xx)
        };
        Ok((record, ()))
    }

    fn commit(&mut self, (): ()) {
        std::mem::swap(&mut self.now, &mut self.next);
        std::mem::swap(&mut self.x, &mut self.x_next);
    }

    /// Does nothing, because a plan only writes `next` and `x_next`.
    fn discard(&mut self) {}

    fn guarantee(&self, seen: &RunStatistics) -> Option<Guarantee> {
        self.method.guarantee(&self.now, seen)
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(&self.x, &self.now))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        (self.x, self.now) = decode(saved)?;
        check_shape(self.x.len() == self.g.len() && M::fits(&self.now, &self.x))?;
        // `next` must have memory of the same shape.
        self.next.clone_from(&self.now);
        Ok(())
    }
}
