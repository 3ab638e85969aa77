//! The Euclidean ball {‖x‖₂ ≤ r}, which is 1/r-strongly convex. This is the only set on which every atom
//! is a multiple of the direction. A round with a sparse gradient therefore costs O(non-zeros).

use std::sync::Arc;

use super::{
    Atom, Curvature, Facts, Geometry, MakeSet, Minimum, Oracle, Projection, Set, SharedSet,
    SmoothConstraint, Structure, check_direction, check_point, check_radius, settle_dim,
};
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};
use crate::{Result, kernel};

fields! {
    /// Spec of [`L2Ball`].
    pub struct L2 {
        /// the radius
        pub radius: f64 = 1.0 => Kind::SIZE,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for L2 {
    const ABOUT: About = About {
        summary: "Euclidean ball",
        cost: "oracle O(d), or O(non-zeros) in lazy storage; projection O(d)",
        guarantee: "D = 2r, strong-convexity constant 1/r",
        reference: "Garber & Hazan, ICML 2015",
        citations: &[],
        examples: &["l2", "l2:radius=10"],
    };
}

impl MakeSet for L2 {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("l2", self.dim, dim)?;
        Ok(Arc::new(L2Ball::new(dim, self.radius)?))
    }
}

/// {‖x‖₂ ≤ radius}.
#[derive(Debug, Clone, Copy)]
pub struct L2Ball {
    dim: usize,
    radius: f64,
}

impl L2Ball {
    /// The ball around 0.
    pub fn new(dim: usize, radius: f64) -> Result<Self> {
        Ok(Self {
            dim: settle_dim("l2", Some(dim), None)?,
            radius: check_radius("l2", "radius", radius)?,
        })
    }
}

impl Set for L2Ball {
    fn name(&self) -> &str {
        "l2"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            diameter: 2.0 * self.radius,
            norm_bound: self.radius,
            inner_radius: Some(self.radius),
            strong_convexity: Some(1.0 / self.radius),
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            structure: Structure::ball(2.0, self.radius),
            curvature: Some(Curvature::euclidean(self.radius)),
            gauge: true,
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(*self)
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        Some(kernel::norm(x) / self.radius)
    }

    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let norm = kernel::norm(x);
        let length = if norm > 0.0 { norm } else { 1.0 };
        for (out, x) in out.iter_mut().zip(x) {
            *out = x / length / self.radius;
        }
        Some(norm / self.radius)
    }

    fn grown(&self, dim: usize) -> Option<SharedSet> {
        Some(Arc::new(Self { dim, ..*self }))
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(*self))
    }

    fn smooth(&self) -> Option<Box<dyn SmoothConstraint>> {
        Some(Box::new(*self))
    }
}

/// h = ‖x/r‖² − 1.
impl SmoothConstraint for L2Ball {
    fn value(&mut self, x: &[f64]) -> f64 {
        let level = kernel::norm(x) / self.radius;
        (level - 1.0) * (level + 1.0)
    }

    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
    }

    fn curvature(&self) -> f64 {
        1.0 / self.radius
    }
}

impl Oracle for L2Ball {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        check_direction(self.dim, direction)?;
        let norm = kernel::norm(direction);
        if norm < f64::MIN_POSITIVE {
            atom.set_coordinate(0, self.radius);
            return Ok(Minimum::exact(0.0));
        }
        let v = atom.dense_mut(self.dim);
        for (v, d) in v.iter_mut().zip(direction) {
            *v = d / norm * -self.radius;
        }
        Ok(Minimum::exact(-self.radius * norm))
    }
}

impl Projection for L2Ball {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        check_point(self.dim, x)?;
        let norm = kernel::norm(x);
        if norm > self.radius {
            x.iter_mut().for_each(|x| *x = (*x / norm) * self.radius);
        }
        Ok(())
    }
}
