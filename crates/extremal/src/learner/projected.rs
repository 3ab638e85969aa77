//! Learners that project: descent from the decision, or from x₁ along the sum of gradients. They
//! keep every entry on any set that has a projection, or play lazily on ℓ2 balls, where a
//! projection is a scale.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::keys::cannot_play;
use super::method::first_decision;
use super::skeleton::{Acting, Body, damaged, decode, encode, settings};
use super::{Learner, Record, Seen, Storage, not_stored};
use crate::pair::{Accuracy, Gradient, HeldRow, Point, Row, SavedScaled, Scaled, nonzeros};
use crate::range::check_step;
use crate::room::room;
use crate::set::{Projection, SharedSet, Structure, check_saved_point};
use crate::spec::Described;
use crate::theory::Guarantee;
use crate::{Error, Result, kernel};

/// The step sizes of a projected learner: a pure function of what it remembers.
pub(super) trait Descent: Send + Sync {
    /// What the learner remembers from round to round: numbers.
    type State: Copy + Default + Serialize + DeserializeOwned + Send + Sync;

    /// Whether x_{t+1} = Π(x₁ − η_t Σg_τ). Otherwise it is Π(x_t − η_t g_t).
    const FOLLOWS_SUM: bool;

    /// η_t for a gradient of this norm, and what to remember.
    fn eta(&self, state: Self::State, round: u64, norm: f64) -> (Self::State, f64);

    /// What is proven, given what was seen.
    fn guarantee(&self, state: &Self::State, seen: &Seen) -> Option<Guarantee>;
}

struct Projected<D: Descent> {
    descent: D,
    state: D::State,
    set: SharedSet,
    place: Place,
}

enum Place {
    Dense(Dense),
    Lazy(Lazy),
}

/// Every entry.
struct Dense {
    x: Vec<f64>,
    next: Vec<f64>,
    /// Where the learner follows the sum of gradients: x₁, the sum, and the next sum.
    sums: Option<[Vec<f64>; 3]>,
    projection: Box<dyn Projection>,
}

/// x = factor·vector, in O(non-zeros) per round.
struct Lazy {
    radius: f64,
    vector: Scaled,
    factor: f64,
    /// The row of a planned round.
    held: HeldRow,
}

/// vector ← keep·vector + k·a, ‖k·a‖ = size, and then into the ball.
#[derive(Clone, Copy)]
pub(super) struct LazyStep {
    keep: f64,
    k: f64,
    size: f64,
    eta: f64,
}

/// A projected learner in the storage asked for.
pub(super) fn projected<S: Described + Serialize, D: Descent + 'static>(
    spec: &S,
    descent: D,
    set: &SharedSet,
    start: Option<&[f64]>,
    storage: Storage,
) -> Result<Box<dyn Learner>> {
    let name = S::ENTRY.name;
    let place = match storage {
        Storage::Dense => Place::Dense(Dense::new(name, set, start, D::FOLLOWS_SUM)?),
        Storage::Lazy => Place::Lazy(Lazy::new(name, set, start, D::FOLLOWS_SUM)?),
        Storage::Sparse => return Err(not_stored(name, set, storage)),
    };
    let body = Projected {
        descent,
        state: D::State::default(),
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

    /// next = Π(x − ηg), or Π(x₁ − η(S + g)).
    fn plan(&mut self, gradient: &Gradient<'_>, eta: f64) -> Result<()> {
        let Self { x, next, sums, .. } = self;
        match sums {
            None => {
                let keep = 1.0 - eta * gradient.ridge;
                for (next, x) in next.iter_mut().zip(x) {
                    *next = keep * *x;
                }
                gradient.row.add_to(-eta * gradient.scale, next);
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
                needs: "dense storage if it has a start of its own: its decisions are then no multiples of the gradients' sum",
                instead: vec!["ogd", "ofw-ls"],
            });
        }
        if let Some(start) = start {
            let first = first_decision(set, Some(start))?;
            let (mut indices, mut values) = (Vec::new(), Vec::new());
            nonzeros(&first, &mut |i, v| {
                indices.push(i as u32);
                values.push(v);
            });
            let row = Row::Sparse {
                indices: &indices,
                values: &values,
            };
            lazy.vector.add(1.0, &row, kernel::norm(&values));
        }
        Ok(lazy)
    }

    fn plan(
        &self,
        gradient: &Gradient<'_>,
        row_norm: f64,
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
        LazyStep { keep, k, size, eta }
    }

    /// Takes the step with the row given, or with the row that is held.
    fn commit(&mut self, step: LazyStep, row: Option<&Row<'_>>, follows_sum: bool) {
        let held = self.held.row();
        self.vector.multiply(step.keep);
        self.vector.add(step.k, row.unwrap_or(&held), step.size);
        let norm = self.vector.norm();
        // a projection onto the ball is a scale
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
        Ok(self.vector.dot(self.factor, row))
    }

    fn norm_squared(&self) -> f64 {
        let norm = self.factor * self.vector.norm();
        norm * norm
    }

    fn write(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.dim(), "a decision is written whole");
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

/// What is saved of a place.
#[derive(Serialize, Deserialize)]
enum Saved {
    /// x; x₁ and the sum.
    Dense(Vec<f64>, Option<[Vec<f64>; 2]>),
    Lazy(SavedScaled, f64),
}

impl<D: Descent> Body for Projected<D> {
    /// The next state, and the step of lazy storage that is still to be taken.
    type Plan = (D::State, Option<LazyStep>);

    fn point(&self) -> &dyn Point {
        match &self.place {
            Place::Dense(dense) => &dense.x,
            Place::Lazy(lazy) => lazy,
        }
    }

    fn plan(
        &mut self,
        round: u64,
        gradient: &Gradient<'_>,
        sure: bool,
    ) -> Result<(Record, Self::Plan)> {
        let x = self.point();
        let (ax, xx) = (x.dot(&gradient.row)?, x.norm_squared());
        let row_norm = kernel::norm(gradient.row.values());
        let gradient = &gradient.admit(row_norm, xx)?;
        let norm = gradient.norm_from(row_norm, ax, xx);
        let (state, eta) = self.descent.eta(self.state, round, norm);
        check_step(eta * gradient.size(row_norm, xx))?;
        let step = match &mut self.place {
            Place::Dense(dense) => {
                dense.plan(gradient, eta)?;
                None
            }
            Place::Lazy(lazy) => {
                let step = lazy.plan(gradient, row_norm, eta, D::FOLLOWS_SUM);
                if sure {
                    lazy.commit(step, Some(&gradient.row), D::FOLLOWS_SUM);
                    None
                } else {
                    lazy.held.hold(&gradient.row);
                    Some(step)
                }
            }
        };
        let record = Record {
            round,
            sigma: eta,
            gap: f64::NAN,
            oracle_calls: 0,
            gradient_norm: norm,
            gradient_dot: gradient.scale * ax + gradient.ridge * xx,
            norm_squared: xx,
        };
        Ok((record, (state, step)))
    }

    fn commit(&mut self, (state, step): Self::Plan) {
        self.state = state;
        match (&mut self.place, step) {
            (Place::Dense(dense), _) => dense.commit(),
            (Place::Lazy(lazy), Some(step)) => lazy.commit(step, None, D::FOLLOWS_SUM),
            (Place::Lazy(_), None) => {}
        }
    }

    /// Nothing that shows has changed.
    fn discard(&mut self) {}

    fn guarantee(&self, seen: &Seen) -> Option<Guarantee> {
        self.descent.guarantee(&self.state, seen)
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }

    fn save(&self) -> Result<Vec<u8>> {
        let place = match &self.place {
            Place::Dense(Dense { x, sums, .. }) => {
                let sums = sums.as_ref().map(|[x1, sum, _]| [x1.clone(), sum.clone()]);
                Saved::Dense(x.clone(), sums)
            }
            Place::Lazy(lazy) => Saved::Lazy(lazy.vector.save(), lazy.factor),
        };
        encode(&(self.state, place))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (state, place): (D::State, Saved) = decode(saved)?;
        match (&mut self.place, place) {
            (Place::Dense(dense), Saved::Dense(x, sums)) => {
                check_saved_point(&*self.set, &x)?;
                dense.x = x;
                if let (Some(here), Some([first, sum])) = (&mut dense.sums, sums) {
                    check_saved_point(&*self.set, &first)?;
                    if sum.len() != first.len() {
                        return Err(damaged("its vectors differ in length"));
                    }
                    (here[0], here[1]) = (first, sum);
                }
            }
            (Place::Lazy(lazy), Saved::Lazy(vector, factor)) => {
                lazy.vector.load(&vector)?;
                lazy.factor = factor;
                if !(lazy.norm_squared().sqrt() <= lazy.radius * (1.0 + 1e-8)) {
                    return Err(damaged("its decision lies outside the set"));
                }
            }
            _ => return Err(damaged("it is of another storage")),
        }
        self.state = state;
        Ok(())
    }

    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        let dim = set.dim();
        match &mut self.place {
            Place::Dense(dense) => {
                if set.projection().is_none() {
                    return Err(Error::Unsupported(format!(
                        "set {} has no projection in the larger dimension",
                        set.name()
                    )));
                }
                dense
                    .vectors()
                    .try_for_each(|vector| room(vector, dim, dim))
            }
            Place::Lazy(lazy) => lazy.vector.reserve(dim),
        }
    }

    fn grow(&mut self, set: SharedSet) {
        let dim = set.dim();
        match &mut self.place {
            Place::Dense(dense) => {
                dense.vectors().for_each(|vector| vector.resize(dim, 0.0));
                if let Some(projection) = set.projection() {
                    dense.projection = projection;
                }
            }
            Place::Lazy(lazy) => lazy.vector.grow(dim),
        }
        self.set = set;
    }
}
