//! Where a learner with a projection stands: every entry, on any set that has a projection, or
//! lazily on ℓ2 balls, where a projection is a scale.

use serde::{Serialize, de::DeserializeOwned};

use super::{Storage, not_stored, plain::Plain};
use crate::pair::{Accuracy, DensePair, Point, Row, SavedScaled, Scaled, nonzeros};
use crate::room::room;
use crate::set::{Identity, Projection, SharedSet, Structure, check_saved_point, grown};
use crate::{Error, Result};

/// A point of the set that moves against gradients.
pub(super) trait Iterate: Point + Send + Sized {
    /// What is saved of it.
    type Saved: Serialize + DeserializeOwned;

    /// The storage's name, as bytes of one storage are not for another.
    const STORAGE: &'static str;

    /// At `start`, or the set's centre.
    fn new(owner: &'static str, set: &SharedSet, start: Option<&[f64]>) -> Result<Self>;

    /// x ← Π(keep·x + k·a), ‖a‖ = `norm`, for a gradient that was admitted. On an error nothing has
    /// changed.
    fn descend(&mut self, keep: f64, k: f64, row: &Row<'_>, norm: f64) -> Result<()>;

    fn save(&self) -> Self::Saved;

    /// On an error nothing has changed.
    fn load(&mut self, saved: Self::Saved) -> Result<()>;

    /// More entries, all 0. On an error nothing has changed.
    fn grow(&mut self, dim: usize) -> Result<()>;

    /// Memory for that.
    fn reserve(&mut self, dim: usize) -> Result<()>;
}

/// Every entry.
pub(super) struct Dense {
    pub set: SharedSet,
    pub x: Plain,
    pub next: Vec<f64>,
    pub projection: Box<dyn Projection>,
}

impl Dense {
    /// A projection for the grown set that remembers what the present one does.
    pub fn grown(&self, dim: usize) -> Result<(SharedSet, Box<dyn Projection>)> {
        let set = grown(&self.set, dim)?;
        let mut projection = set.projection().ok_or_else(|| {
            Error::Unsupported(format!("set {} grows out of its projection", set.name()))
        })?;
        projection.load(&self.projection.save())?;
        Ok((set, projection))
    }
}

impl Point for Dense {
    fn dim(&self) -> usize {
        self.x.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        self.x.dot(row)
    }

    fn norm_squared(&self) -> f64 {
        self.x.norm_squared()
    }

    fn write(&self, out: &mut [f64]) {
        self.x.write(out);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        nonzeros(&self.x.0, each);
    }
}

impl Iterate for Dense {
    /// The set, as x may be feasible in no other, x, and what the projection remembers.
    type Saved = (Identity, Vec<f64>, Vec<f64>);

    const STORAGE: &'static str = "dense";

    fn new(owner: &'static str, set: &SharedSet, start: Option<&[f64]>) -> Result<Self> {
        let projection = set.projection().ok_or_else(|| {
            Error::Unsupported(format!(
                "{owner} needs a projection, and set {} has none; take a projection-free learner",
                set.name()
            ))
        })?;
        // The start is checked as every learner's.
        let start = DensePair::new(set.clone(), start)?;
        Ok(Self {
            set: set.clone(),
            next: vec![0.0; set.dim()],
            x: Plain(start.decision().to_vec()),
            projection,
        })
    }

    fn descend(&mut self, keep: f64, k: f64, row: &Row<'_>, _norm: f64) -> Result<()> {
        for (next, x) in self.next.iter_mut().zip(&self.x.0) {
            *next = keep * x;
        }
        row.add_to(k, &mut self.next);
        self.projection.project(&mut self.next)?;
        std::mem::swap(&mut self.x.0, &mut self.next);
        Ok(())
    }

    fn save(&self) -> Self::Saved {
        let identity = Identity::of(&*self.set);
        (identity, self.x.0.clone(), self.projection.save())
    }

    fn load(&mut self, (identity, x, projection): Self::Saved) -> Result<()> {
        identity.check(&*self.set)?;
        check_saved_point(&*self.set, &x)?;
        self.projection.load(&projection)?;
        self.x = Plain(x);
        Ok(())
    }

    fn grow(&mut self, dim: usize) -> Result<()> {
        let (set, projection) = self.grown(dim)?;
        self.reserve(dim)?;
        (self.set, self.projection) = (set, projection);
        self.x.0.resize(dim, 0.0);
        self.next.resize(dim, 0.0);
        Ok(())
    }

    fn reserve(&mut self, dim: usize) -> Result<()> {
        room(&mut self.x.0, dim, dim)?;
        room(&mut self.next, dim, dim)
    }
}

/// A scale and a sum of sparse rows, in O(non-zeros) per round.
pub(super) struct Lazy {
    set: SharedSet,
    radius: f64,
    x: Scaled,
}

/// The radius, where the set is an ℓ2 ball.
pub(super) fn radius_of(owner: &'static str, set: &SharedSet) -> Result<f64> {
    match set.structure() {
        Structure::Ball { p: 2.0, radius } => Ok(radius),
        _ => Err(not_stored(owner, set, Storage::Lazy)),
    }
}

impl Point for Lazy {
    fn dim(&self) -> usize {
        self.x.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.x.dim())?;
        Ok(self.x.dot(1.0, row))
    }

    fn norm_squared(&self) -> f64 {
        let norm = self.x.norm();
        norm * norm
    }

    fn write(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.dim(), "a decision is written whole");
        out.fill(0.0);
        self.x.entries().for_each(|(i, v)| out[i] = v);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        let entries = self.x.entries().filter(|(_, v)| *v != 0.0);
        entries.for_each(|(i, v)| each(i, v));
    }

    fn accuracy(&self) -> Accuracy {
        Scaled::ACCURACY
    }
}

impl Iterate for Lazy {
    type Saved = (f64, SavedScaled);

    const STORAGE: &'static str = "lazy";

    fn new(owner: &'static str, set: &SharedSet, start: Option<&[f64]>) -> Result<Self> {
        let radius = radius_of(owner, set)?;
        let mut x = Scaled::new(set.dim());
        if let Some(start) = start {
            let pair = DensePair::new(set.clone(), Some(start))?;
            let (mut indices, mut values) = (Vec::new(), Vec::new());
            nonzeros(pair.decision(), &mut |i, v| {
                indices.push(i as u32);
                values.push(v);
            });
            let row = Row::Sparse {
                indices: &indices,
                values: &values,
            };
            x.add(1.0, &row, crate::kernel::norm(&values));
        }
        Ok(Self {
            set: set.clone(),
            radius,
            x,
        })
    }

    fn descend(&mut self, keep: f64, k: f64, row: &Row<'_>, norm: f64) -> Result<()> {
        let size = k.abs() * norm;
        self.x.multiply(keep);
        self.x.add(k, row, size);
        let norm = self.x.norm();
        if norm > self.radius {
            self.x.multiply(self.radius / norm);
        }
        Ok(())
    }

    fn save(&self) -> Self::Saved {
        (self.radius, self.x.save())
    }

    fn load(&mut self, (radius, x): Self::Saved) -> Result<()> {
        if radius != self.radius {
            return Err(Error::State(format!(
                "it is of a ball of radius {radius}, not of {}",
                self.radius
            )));
        }
        if !(x.norm() <= radius * (1.0 + 1e-8)) {
            return Err(Error::State("its decision lies outside the set".into()));
        }
        self.x.load(&x)
    }

    fn grow(&mut self, dim: usize) -> Result<()> {
        let set = grown(&self.set, dim)?;
        self.x.reserve(dim)?;
        self.set = set;
        self.x.grow(dim);
        Ok(())
    }

    fn reserve(&mut self, dim: usize) -> Result<()> {
        self.x.reserve(dim)
    }
}
