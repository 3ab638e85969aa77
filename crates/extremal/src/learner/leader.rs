//! The regularised leader Π(x₁ − ηS) over a sum S of gradients, for dual averaging: every entry,
//! or lazily on an ℓ2 ball with x₁ = 0, where it is a multiple of S.

use serde::{Serialize, de::DeserializeOwned};

use super::iterate::{Dense, Iterate, radius_of};
use crate::pair::{Accuracy, Gradient, Point, Row, SavedScaled, Scaled};
use crate::range::check_step;
use crate::room::room;
use crate::set::{Identity, SharedSet, check_saved_point, grown};
use crate::{Error, Result, kernel};

/// The leader, and the sum it follows.
pub(super) trait Leader: Point + Send + Sized {
    /// What is saved of it.
    type Saved: Serialize + DeserializeOwned;

    /// The storage's name, as bytes of one storage are not for another.
    const STORAGE: &'static str;

    /// At x₁ = `start`, or the set's centre, with S = 0.
    fn new(owner: &'static str, set: &SharedSet, start: Option<&[f64]>) -> Result<Self>;

    /// S += g and x = Π(x₁ − ηS), ‖a‖ = `norm` of the gradient's row, for one that was admitted. On
    /// an error nothing has changed.
    fn follow(&mut self, gradient: &Gradient<'_>, norm: f64, eta: f64) -> Result<()>;

    fn save(&self) -> Self::Saved;

    /// On an error nothing has changed.
    fn load(&mut self, saved: Self::Saved) -> Result<()>;

    /// More entries, all 0. On an error nothing has changed.
    fn grow(&mut self, dim: usize) -> Result<()>;

    /// Memory for that.
    fn reserve(&mut self, dim: usize) -> Result<()>;
}

/// Every entry.
pub(super) struct DenseLeader {
    at: Dense,
    /// S.
    sum: Vec<f64>,
    next_sum: Vec<f64>,
    /// x₁.
    first: Vec<f64>,
}

impl Point for DenseLeader {
    fn dim(&self) -> usize {
        self.at.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        self.at.dot(row)
    }

    fn norm_squared(&self) -> f64 {
        self.at.norm_squared()
    }

    fn write(&self, out: &mut [f64]) {
        self.at.write(out);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        self.at.for_each_nonzero(each);
    }
}

impl Leader for DenseLeader {
    /// The set, x, S, x₁, and what the projection remembers.
    type Saved = (Identity, [Vec<f64>; 3], Vec<f64>);

    const STORAGE: &'static str = "dense";

    fn new(owner: &'static str, set: &SharedSet, start: Option<&[f64]>) -> Result<Self> {
        let at = Dense::new(owner, set, start)?;
        Ok(Self {
            sum: vec![0.0; at.dim()],
            next_sum: vec![0.0; at.dim()],
            first: at.x.0.clone(),
            at,
        })
    }

    fn follow(&mut self, gradient: &Gradient<'_>, _norm: f64, eta: f64) -> Result<()> {
        let Self {
            at:
                Dense {
                    x,
                    next,
                    projection,
                    ..
                },
            sum,
            next_sum,
            first,
        } = self;
        // S_t = S_{t−1} + g_t
        next_sum.copy_from_slice(sum);
        kernel::axpy(gradient.ridge, &x.0, next_sum);
        gradient.row.add_to(gradient.scale, next_sum);
        check_step(eta * kernel::norm(next_sum))?;
        // x_{t+1} = Π(x₁ − η_t S_t)
        next.copy_from_slice(first);
        kernel::axpy(-eta, next_sum, next);
        projection.project(next)?;
        std::mem::swap(sum, next_sum);
        std::mem::swap(&mut x.0, next);
        Ok(())
    }

    fn save(&self) -> Self::Saved {
        let (identity, x, projection) = self.at.save();
        let vectors = [x, self.sum.clone(), self.first.clone()];
        (identity, vectors, projection)
    }

    fn load(&mut self, (identity, [x, sum, first], projection): Self::Saved) -> Result<()> {
        identity.check(&*self.at.set)?;
        check_saved_point(&*self.at.set, &first)?;
        if sum.len() != self.dim() || kernel::find_not_finite(&sum).is_some() {
            return Err(Error::State("its gradient sum is no vector".into()));
        }
        self.at.load((identity, x, projection))?;
        (self.sum, self.first) = (sum, first);
        Ok(())
    }

    fn grow(&mut self, dim: usize) -> Result<()> {
        grown(&self.at.set, dim)?;
        self.reserve(dim)?;
        self.at.grow(dim)?;
        for vector in [&mut self.sum, &mut self.next_sum, &mut self.first] {
            vector.resize(dim, 0.0);
        }
        Ok(())
    }

    fn reserve(&mut self, dim: usize) -> Result<()> {
        for vector in [&mut self.sum, &mut self.next_sum, &mut self.first] {
            room(vector, dim, dim)?;
        }
        self.at.reserve(dim)
    }
}

/// x = −κS, in O(non-zeros) per round.
pub(super) struct LazyLeader {
    set: SharedSet,
    radius: f64,
    sum: Scaled,
    kappa: f64,
}

impl Point for LazyLeader {
    fn dim(&self) -> usize {
        self.sum.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.dim())?;
        Ok(self.sum.dot(-self.kappa, row))
    }

    fn norm_squared(&self) -> f64 {
        let norm = self.kappa * self.sum.norm();
        norm * norm
    }

    fn write(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.dim(), "a decision is written whole");
        out.fill(0.0);
        let entries = self.sum.entries();
        entries.for_each(|(i, v)| out[i] = -self.kappa * v);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        let entries = self.sum.entries().map(|(i, v)| (i, -self.kappa * v));
        entries
            .filter(|(_, v)| *v != 0.0)
            .for_each(|(i, v)| each(i, v));
    }

    fn accuracy(&self) -> Accuracy {
        Scaled::ACCURACY
    }
}

impl Leader for LazyLeader {
    /// The radius, κ and S.
    type Saved = (f64, f64, SavedScaled);

    const STORAGE: &'static str = "lazy";

    fn new(owner: &'static str, set: &SharedSet, start: Option<&[f64]>) -> Result<Self> {
        let radius = radius_of(owner, set)?;
        if start.is_some() {
            return Err(Error::Unsupported(format!(
                "{owner} with a start of its own can't be stored lazily: its decisions are no multiples of the gradients' sum"
            )));
        }
        Ok(Self {
            set: set.clone(),
            radius,
            sum: Scaled::new(set.dim()),
            kappa: 0.0,
        })
    }

    fn follow(&mut self, gradient: &Gradient<'_>, norm: f64, eta: f64) -> Result<()> {
        // S + ρx = (1 − ρκ)S
        let keep = 1.0 - gradient.ridge * self.kappa;
        let size = gradient.scale.abs() * norm;
        self.sum.multiply(keep);
        self.sum.add(gradient.scale, &gradient.row, size);
        let norm = self.sum.norm();
        // a projection onto the ball is a scale
        self.kappa = if eta * norm <= self.radius {
            eta
        } else {
            self.radius / norm
        };
        Ok(())
    }

    fn save(&self) -> Self::Saved {
        (self.radius, self.kappa, self.sum.save())
    }

    fn load(&mut self, (radius, kappa, sum): Self::Saved) -> Result<()> {
        if radius != self.radius {
            return Err(Error::State(format!(
                "it is of a ball of radius {radius}, not of {}",
                self.radius
            )));
        }
        if !(kappa >= 0.0 && kappa * sum.norm() <= radius * (1.0 + 1e-8)) {
            return Err(Error::State("its decision lies outside the set".into()));
        }
        self.sum.load(&sum)?;
        self.kappa = kappa;
        Ok(())
    }

    fn grow(&mut self, dim: usize) -> Result<()> {
        let set = grown(&self.set, dim)?;
        self.sum.reserve(dim)?;
        self.set = set;
        self.sum.grow(dim);
        Ok(())
    }

    fn reserve(&mut self, dim: usize) -> Result<()> {
        self.sum.reserve(dim)
    }
}
