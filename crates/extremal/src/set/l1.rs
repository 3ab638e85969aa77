//! The cross-polytope {‖x‖₁ ≤ r}. Each atom has one non-zero coordinate, so that decisions are sparse.

use std::sync::Arc;

use super::{
    Atom, AtomSigns, Facts, Geometry, MakeSet, Minimum, Oracle, Polytope, Projection, Set,
    SharedSet, SparseAtoms, Structure, check_direction, check_radius, settle_dim,
};
use crate::parameter::fields;
use crate::set::tools::level::LevelProjection;
use crate::spec::{About, Described, Kind};
use crate::{Result, kernel};

fields! {
    /// Spec of [`L1Ball`].
    pub struct L1 {
        /// the radius
        pub radius: f64 = 1.0 => Kind::SIZE,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for L1 {
    const ABOUT: About = About {
        summary: "ball of the ℓ1 norm (cross-polytope)",
        cost: "oracle O(d), one coordinate per atom; projection O(d log d)",
        guarantee: "D = 2r; a polytope, not strongly convex",
        reference: "Duchi et al., ICML 2008 (projection)",
        citations: &[],
        examples: &["l1", "l1:radius=20"],
    };
}

impl MakeSet for L1 {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("l1", self.dim, dim)?;
        Ok(Arc::new(L1Ball::new(dim, self.radius)?))
    }
}

/// {‖x‖₁ ≤ radius}.
#[derive(Debug, Clone, Copy)]
pub struct L1Ball {
    pub(super) dim: usize,
    pub(super) radius: f64,
}

impl L1Ball {
    /// The ball around 0.
    pub fn new(dim: usize, radius: f64) -> Result<Self> {
        Ok(Self {
            dim: settle_dim("l1", Some(dim), None)?,
            radius: check_radius("l1", "radius", radius)?,
        })
    }
}

/// The sign of x: 1, −1, or 0 if x = 0.
pub(super) fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

impl Set for L1Ball {
    fn name(&self) -> &str {
        "l1"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            diameter: 2.0 * self.radius,
            norm_bound: self.radius,
            inner_radius: Some(self.radius / (self.dim as f64).sqrt()),
            // in one dimension the ball is an interval
            strong_convexity: (self.dim == 1).then_some(1.0 / self.radius),
        }
    }

    fn facts(&self) -> Facts {
        let d = self.dim as f64;
        // The facial distance is the smaller of r/√s with s = d − 1 and 2r/√d. A face that fixes
        // the signs of s < d entries has the distance r/√s from the other vertices. A face that
        // fixes all d entries has the distance 2r/√d from the opposite face.
        let inverse = (d - 1.0).sqrt().max(0.5 * d.sqrt());
        Facts {
            structure: Structure::Sparse(SparseAtoms {
                count: 1,
                size: self.radius,
                signs: AtomSigns::Any,
            }),
            polytope: Some(Polytope::with_distance(self.radius / inverse)),
            gauge: true,
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(*self)
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        Some(x.iter().map(|v| v.abs()).sum::<f64>() / self.radius)
    }

    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        for (out, x) in out.iter_mut().zip(x) {
            *out = sign(*x) / self.radius;
        }
        self.gauge(x)
    }

    fn grown(&self, dim: usize) -> Option<SharedSet> {
        Some(Arc::new(Self { dim, ..*self }))
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        let projection = LevelProjection::new(self.dim, self.radius, 1.0);
        Some(Box::new(projection.signed()))
    }
}

impl Oracle for L1Ball {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        check_direction(self.dim, direction)?;
        let i = kernel::argmax_abs(direction).unwrap_or(0);
        let value = if direction[i] > 0.0 {
            -self.radius
        } else {
            self.radius
        };
        atom.set_coordinate(i, value);
        Ok(Minimum::exact(value * direction[i]))
    }
}
