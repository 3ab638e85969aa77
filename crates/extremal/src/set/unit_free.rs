//! The set of the learner [`unit-free`](crate::learner::untuned::unit_free). The shape of the set depends
//! on the data, so that the units of features and labels do not matter.

use std::sync::Arc;

use super::identity::Fingerprint;
use super::l2::L2Ball;
use super::{
    Curvature, Facts, Geometry, MakeSet, Oracle, Projection, Set, SharedSet, Structure, settle_dim,
};
use crate::Result;
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};

fields! {
    /// Spec of [`UnitFreeSet`].
    pub struct UnitFree {
        /// the radius r, in units of the labels
        pub radius: f64 = 1024.0 => Kind::SIZE,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for UnitFree {
    const ABOUT: About = About {
        summary: "ellipsoid Σ(M_i·x_i)² ≤ r², where M_i is the largest |a_i| so far and r is in units of the labels; every learner except unit-free uses the ball of radius r instead",
        cost: "oracle O(d)",
        guarantee: "for the ball: D = 2r, strong-convexity constant 1/r",
        reference: "this project",
        citations: &["Extremal"],
        examples: &["unit-free", "unit-free:radius=64"],
    };
}

impl MakeSet for UnitFree {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("unit-free", self.dim, dim)?;
        let ball = L2Ball::new(dim, self.radius)?;
        Ok(Arc::new(UnitFreeSet { ball }))
    }
}

/// The weights x with Σ(M_i·x_i)² ≤ r², where M_i is the largest absolute value of feature i. Only the
/// learner knows the M_i. The set by itself has M_i = 1 and is the ball of radius r.
#[derive(Debug, Clone, Copy)]
pub struct UnitFreeSet {
    ball: L2Ball,
}

impl Set for UnitFreeSet {
    fn name(&self) -> &str {
        "unit-free"
    }

    fn dim(&self) -> usize {
        self.ball.dim()
    }

    fn geometry(&self) -> Geometry {
        self.ball.geometry()
    }

    fn facts(&self) -> Facts {
        let radius = self.ball.geometry().norm_bound;
        Facts {
            structure: Structure::UnitFree { radius },
            curvature: Some(Curvature::euclidean(radius)),
            gauge: true,
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        self.ball.oracle()
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        self.ball.gauge(x)
    }

    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        self.ball.gauge_gradient(x, out)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        self.ball.projection()
    }

    fn grown(&self, dim: usize) -> Option<SharedSet> {
        let radius = self.ball.geometry().norm_bound;
        let ball = L2Ball::new(dim, radius).ok()?;
        Some(Arc::new(Self { ball }))
    }

    fn fingerprint(&self) -> u64 {
        let radius = self.ball.geometry().norm_bound;
        Fingerprint::new(self.name())
            .with_numbers(&[radius])
            .value()
    }
}
