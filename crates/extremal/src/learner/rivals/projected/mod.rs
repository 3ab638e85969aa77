//! Learners with projections. They step from the decision along the gradient, or from x₁ along the
//! sum of gradients. Dense storage works on every set that has a projection. Lazy storage works on
//! ℓ2 balls, where a projection only scales the point.

pub mod dual_averaging;
pub mod eg;
pub mod fast_ogd;
pub mod ftl;
pub mod ogd;
pub mod ons;

use serde::Serialize;

use crate::learner::skeleton::method::{admitted, first_decision};
use crate::learner::skeleton::parameters::cannot_play;
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::skeleton::{Acting, Body, Planned, check_shape, decode, encode, settings};
use crate::learner::{Learner, RunStatistics, Storage, not_stored};
use crate::memory::reserve;
use crate::point::{Accuracy, HeldRow, nonzeros};
use crate::range::check_step;
use crate::set::{Projection, SharedSet, Structure};
use crate::spec::Registered;
use crate::surrogate::{SavedScaled, Scaled, SparseVector};
use crate::theory::Guarantee;
use crate::{Error, Gradient, Point, Result, Row, kernel};

/// The differences between projected learners. η_t is scale·factor, divided by the schedule's
/// divisor for round t + offset.
pub(crate) struct Descent {
    /// Whether x_{t+1} = Π(x₁ − η_t Σg_τ). If false, x_{t+1} = Π(x_t − η_t g_t).
    pub follows_sum: bool,
    pub schedule: Schedule,
    pub factor: f64,
    pub offset: f64,
    pub scale: f64,
    pub diameter: f64,
    /// The guarantee for scale 1 and offset 0, computed from Σ‖g‖² and the statistics of the run.
    pub theorem: fn(&Descent, f64, &RunStatistics) -> Guarantee,
}

struct Projected {
    descent: Descent,
    /// Σ‖g‖².
    squares: f64,
    set: SharedSet,
    place: Imaged,
}

enum Imaged {
    Dense(Dense),
    Lazy(Lazy),
}

/// A decision with every entry.
struct Dense {
    x: Vec<f64>,
    next: Vec<f64>,
    /// Three vectors for a learner that follows the sum: x₁, the sum of gradients, and the next
    /// sum.
    sums: Option<[Vec<f64>; 3]>,
    projection: Box<dyn Projection>,
}

/// The decision x = factor·vector, in O(non-zeros) per round.
struct Lazy {
    radius: f64,
    vector: Scaled,
    factor: f64,
    /// The row of a planned round.
    held: HeldRow,
}

/// The step vector ← keep·vector + k·a with ‖k·a‖ = size, before the projection.
#[derive(Clone, Copy)]
pub(crate) struct LazyStep {
    keep: f64,
    k: f64,
    size: f64,
    /// ⟨a, vector⟩.
    dot: f64,
    eta: f64,
}

/// Builds a projected learner in the given storage.
pub(crate) fn projected<S: Registered + Serialize>(
    spec: &S,
    descent: Descent,
    set: &SharedSet,
    start: Option<&[f64]>,
    storage: Storage,
) -> Result<Box<dyn Learner>> {
    let (name, follows_sum) = (S::ENTRY.name, descent.follows_sum);
    let place = match storage {
        Storage::Dense => Imaged::Dense(Dense::new(name, set, start, follows_sum)?),
        Storage::Lazy => Imaged::Lazy(Lazy::new(name, set, start, follows_sum)?),
        Storage::Sparse => return Err(not_stored(name, set, storage)),
    };
    let body = Projected {
        descent,
        squares: 0.0,
        set: set.clone(),
        place,
    };
    Ok(Box::new(Acting::new(settings(spec, storage), body)))
}

impl Dense {
    fn new(
        name: &'static str,
        set: &SharedSet,
        start: Option<&[f64]>,
        follows_sum: bool,
    ) -> Result<Self> {
        let projection = set
            .projection()
            .ok_or_else(|| cannot_play(name, &**set, "a projection"))?;
        let x = first_decision(set, start)?;
        let zeros = vec![0.0; x.len()];
        Ok(Self {
            next: zeros.clone(),
            sums: follows_sum.then(|| [x.clone(), zeros.clone(), zeros]),
            x,
            projection,
        })
    }

    /// Sets next = Π(x − ηg), or next = Π(x₁ − η(S + g)).
    fn plan(&mut self, gradient: &Gradient<'_>, eta: f64) -> Result<()> {
        let Self { x, next, sums, .. } = self;
        match sums {
            None => {
                let keep = 1.0 - eta * gradient.ridge;
                for (next, x) in next.iter_mut().zip(x) {
                    *next = keep * *x;
                }
                // a row that is treated as 0 must not turn 0 into −0
                if gradient.scale != 0.0 {
                    gradient.row.add_to(-eta * gradient.scale, next);
                }
            }
            Some([first, sum, next_sum]) => {
                next_sum.copy_from_slice(sum);
                kernel::axpy(gradient.ridge, x, next_sum);
                gradient.row.add_to(gradient.scale, next_sum);
                check_step(eta * kernel::norm(next_sum))?;
                next.copy_from_slice(first);
                kernel::axpy(-eta, next_sum, next);
            }
        }
        self.projection.project(&mut self.next)
    }

    fn commit(&mut self) {
        std::mem::swap(&mut self.x, &mut self.next);
        if let Some([_, sum, next_sum]) = &mut self.sums {
            std::mem::swap(sum, next_sum);
        }
    }

    fn vectors(&mut self) -> impl Iterator<Item = &mut Vec<f64>> {
        let sums = self.sums.iter_mut().flatten();
        [&mut self.x, &mut self.next].into_iter().chain(sums)
    }
}

impl Lazy {
    fn new(
        name: &'static str,
        set: &SharedSet,
        start: Option<&[f64]>,
        follows_sum: bool,
    ) -> Result<Self> {
        let Structure::Euclidean { radius } = set.structure() else {
            return Err(not_stored(name, set, Storage::Lazy));
        };
        let mut lazy = Self {
            radius,
            vector: Scaled::new(set.dim()),
            factor: if follows_sum { 0.0 } else { 1.0 },
            held: HeldRow::default(),
        };
        if start.is_some() && follows_sum {
            return Err(Error::CannotPlay {
                learner: name,
                set: set.name().into(),
                needs: "dense storage if `start` is given, because the decisions are then not multiples of the sum of gradients",
                instead: vec!["ogd", "ofw-ls"],
            });
        }
        if let Some(start) = start {
            let mut first = SparseVector::default();
            nonzeros(&first_decision(set, Some(start))?, &mut |i, v| {
                first.push(i, v);
            });
            lazy.vector
                .add(1.0, &first.row(), kernel::norm(&first.values), 0.0);
        }
        Ok(lazy)
    }

    fn plan(
        &self,
        gradient: &Gradient<'_>,
        (row_norm, ax): (f64, f64),
        eta: f64,
        follows_sum: bool,
    ) -> LazyStep {
        // S + ρx = (1 + ρ·factor)S, or x − ηg = (1 − ηρ)x − ηk·a
        let (keep, k) = if follows_sum {
            (1.0 + gradient.ridge * self.factor, gradient.scale)
        } else {
            (1.0 - eta * gradient.ridge, -eta * gradient.scale)
        };
        let size = k.abs() * row_norm;
        // x = factor·vector, and the factor is 0 only before the first gradient
        let dot = match self.factor {
            0.0 => 0.0,
            factor => ax / factor,
        };
        LazyStep {
            keep,
            k,
            size,
            dot,
            eta,
        }
    }

    /// Applies the step with the given row, or with the stored row if `row` is `None`.
    fn commit(&mut self, step: LazyStep, row: Option<&Row<'_>>, follows_sum: bool) {
        let held = self.held.row();
        self.vector.multiply(step.keep);
        let row = row.unwrap_or(&held);
        self.vector
            .add(step.k, row, step.size, step.keep * step.dot);
        let norm = self.vector.norm();
        // a projection onto the ball only scales the vector
        if follows_sum {
            self.factor = if step.eta * norm <= self.radius {
                -step.eta
            } else {
                -self.radius / norm
            };
        } else if norm > self.radius {
            self.vector.multiply(self.radius / norm);
        }
    }
}

impl Point for Lazy {
    fn dim(&self) -> usize {
        self.vector.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.dim())?;
        Ok(self.factor * self.vector.dot(row))
    }

    fn norm_squared(&self) -> f64 {
        let norm = self.factor * self.vector.norm();
        norm * norm
    }

    fn write(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.dim(), "out has the decision's dimension");
        out.fill(0.0);
        let entries = self.vector.entries();
        entries.for_each(|(i, v)| out[i] = self.factor * v);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        let entries = self.vector.entries().map(|(i, v)| (i, self.factor * v));
        entries
            .filter(|(_, v)| *v != 0.0)
            .for_each(|(i, v)| each(i, v));
    }

    fn accuracy(&self) -> Accuracy {
        Scaled::ACCURACY
    }
}

impl Body for Projected {
    /// The next Σ‖g‖², and in lazy storage the step, unless the step was already applied.
    type Plan = (f64, Option<LazyStep>);

    fn point(&self) -> &dyn Point {
        match &self.place {
            Imaged::Dense(dense) => &dense.x,
            Imaged::Lazy(lazy) => lazy,
        }
    }

    fn plan(&mut self, round: u64, gradient: &Gradient<'_>, sure: bool) -> Planned<Self> {
        let x = self.point();
        let (ax, xx) = (x.dot(&gradient.row)?, x.norm_squared());
        let (gradient, row_norm, mut record) = admitted(round, gradient, ax, xx)?;
        let squares = self.squares + record.gradient_norm * record.gradient_norm;
        let descent = &self.descent;
        let t = round as f64 + descent.offset;
        let eta = descent.scale * descent.schedule.eta(descent.factor, t, squares.sqrt());
        check_step(eta * gradient.size(row_norm, xx))?;
        record.sigma = eta;
        let step = match &mut self.place {
            Imaged::Dense(dense) => {
                dense.plan(&gradient, eta)?;
                None
            }
            Imaged::Lazy(lazy) => {
                let step = lazy.plan(&gradient, (row_norm, ax), eta, descent.follows_sum);
                if sure {
                    lazy.commit(step, Some(&gradient.row), descent.follows_sum);
                    None
                } else {
                    lazy.held.hold(&gradient.row);
                    Some(step)
                }
            }
        };
        Ok((record, (squares, step)))
    }

    fn commit(&mut self, (squares, step): Self::Plan) {
        self.squares = squares;
        match (&mut self.place, step) {
            (Imaged::Dense(dense), _) => dense.commit(),
            (Imaged::Lazy(lazy), Some(step)) => lazy.commit(step, None, self.descent.follows_sum),
            (Imaged::Lazy(_), None) => {}
        }
    }

    /// Does nothing, because a plan that can be discarded does not change the decision.
    fn discard(&mut self) {}

    fn guarantee(&self, seen: &RunStatistics) -> Option<Guarantee> {
        let descent = &self.descent;
        let proven = descent.scale == 1.0 && descent.offset == 0.0;
        proven.then(|| (descent.theorem)(descent, self.squares, seen))
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }

    fn save(&self) -> Result<Vec<u8>> {
        match &self.place {
            Imaged::Dense(Dense { x, sums, .. }) => {
                let sums = sums.as_ref().map(|[first, sum, _]| (first, sum));
                encode(&(self.squares, x, sums))
            }
            Imaged::Lazy(lazy) => encode(&(self.squares, lazy.vector.save(), lazy.factor)),
        }
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        match &mut self.place {
            Imaged::Dense(dense) => {
                let sums: Option<(Vec<f64>, Vec<f64>)>;
                (self.squares, dense.x, sums) = decode(saved)?;
                check_shape(sums.is_some() == dense.sums.is_some())?;
                if let (Some(here), Some((first, sum))) = (&mut dense.sums, sums) {
                    (here[0], here[1]) = (first, sum);
                }
                let dim = self.set.dim();
                check_shape(dense.vectors().all(|vector| vector.len() == dim))?;
            }
            Imaged::Lazy(lazy) => {
                let vector: SavedScaled;
                (self.squares, vector, lazy.factor) = decode(saved)?;
                lazy.vector = Scaled::restore(&vector, self.set.dim())?;
            }
        }
        Ok(())
    }

    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        let dim = set.dim();
        match &mut self.place {
            Imaged::Dense(dense) => {
                if set.projection().is_none() {
                    return Err(Error::Unsupported(format!(
                        "set {} has no projection in the larger dimension, so the learner can't grow",
                        set.name()
                    )));
                }
                dense
                    .vectors()
                    .try_for_each(|vector| reserve(vector, dim, dim))
            }
            Imaged::Lazy(lazy) => lazy.vector.reserve(dim),
        }
    }

    fn grow(&mut self, set: SharedSet) {
        let dim = set.dim();
        match &mut self.place {
            Imaged::Dense(dense) => {
                dense.vectors().for_each(|vector| vector.resize(dim, 0.0));
                if let Some(projection) = set.projection() {
                    dense.projection = projection;
                }
            }
            Imaged::Lazy(lazy) => lazy.vector.grow(dim),
        }
        self.set = set;
    }
}
