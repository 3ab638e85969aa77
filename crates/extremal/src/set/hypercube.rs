//! The hypercube [0, r]^d, or the ℓ∞ ball [−r, r]^d with `centred`: one yes or no per coordinate.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::l1::sign;
use super::l2::{DIM, one};
use super::{
    Atom, Geometry, MakeSet, Oracle, Polytope, Projection, Set, SharedSet, check_direction,
    check_point, check_radius, larger, settle_dim,
};
use crate::spec::{Described, Entry, Parameter};
use crate::{Result, kernel};

/// Spec of [`HypercubeSet`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hypercube {
    /// r
    #[serde(default = "one")]
    pub radius: f64,
    /// From −r rather than from 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub centred: bool,
    /// The dimension, if the data does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dim: Option<usize>,
}

impl Described for Hypercube {
    const ENTRY: Entry = Entry {
        name: "hypercube",
        summary: "hypercube: entries from 0 to r, or from −r to r (ball of the ℓ∞ norm)",
        parameters: &[
            Parameter {
                name: "radius",
                about: "the largest entry r",
                default: Some("1"),
                allowed: "1e-50 to 1e50",
            },
            Parameter {
                name: "centred",
                about: "from −r rather than from 0",
                default: Some("false"),
                allowed: "true or false",
            },
            DIM,
        ],
        cost: "oracle O(d); projection O(d)",
        guarantee: "D = r√d, or 2r√d; a polytope, not strongly convex",
        reference: "textbook",
        citations: &[],
        examples: &["hypercube", "hypercube:centred=true,radius=2"],
    };
}

impl MakeSet for Hypercube {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("hypercube", self.dim, dim)?;
        Ok(Arc::new(HypercubeSet::new(dim, self.radius, self.centred)?))
    }
}

/// {0 ≤ x ≤ radius} or {−radius ≤ x ≤ radius}.
///
/// ```
/// use extremal::set::{Set, hypercube::HypercubeSet};
/// let cube = HypercubeSet::new(3, 1.0, false).unwrap();
/// assert_eq!(cube.geometry().diameter, 3f64.sqrt());
/// let mut x = [-2.0, 0.25, 7.0];
/// cube.projection().unwrap().project(&mut x).unwrap();
/// assert_eq!(x, [0.0, 0.25, 1.0]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HypercubeSet {
    dim: usize,
    lower: f64,
    upper: f64,
}

impl HypercubeSet {
    /// The cube with its corner at 0, or with its centre there.
    pub fn new(dim: usize, radius: f64, centred: bool) -> Result<Self> {
        let upper = check_radius("hypercube", "radius", radius)?;
        Ok(Self {
            dim: settle_dim("hypercube", Some(dim), None)?,
            lower: if centred { -upper } else { 0.0 },
            upper,
        })
    }

    fn side(&self) -> f64 {
        self.upper - self.lower
    }
}

impl Set for HypercubeSet {
    fn name(&self) -> &str {
        "hypercube"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn geometry(&self) -> Geometry {
        let diagonal = (self.dim as f64).sqrt();
        Geometry {
            diameter: self.side() * diagonal,
            norm_bound: self.upper * diagonal,
            inner_radius: Some(0.5 * self.side()),
            strong_convexity: (self.dim == 1).then(|| 2.0 / self.side()),
        }
    }

    fn has_checked_oracle(&self) -> bool {
        true
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(*self)
    }

    fn centre(&self, out: &mut [f64]) {
        out.fill(0.5 * (self.lower + self.upper));
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        let beyond = |v: f64| larger(self.lower - v, v - self.upper);
        let worst = x.iter().fold(0.0, |worst, &v| larger(worst, beyond(v)));
        Some(worst / self.upper)
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        let is_centred = self.lower < 0.0;
        is_centred.then(|| x.iter().fold(0.0, |top, v| larger(top, v.abs())) / self.upper)
    }

    fn polytope(&self) -> Option<Polytope> {
        Some(Polytope {
            facial_distance: Some(self.side() / (self.dim as f64).sqrt()),
            corners: Some((self.lower, self.upper)),
        })
    }

    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let gauge = self.gauge(x)?;
        out.fill(0.0);
        if let Some(i) = kernel::argmax_abs(x) {
            out[i] = sign(x[i]) / self.upper;
        }
        Some(gauge)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(*self))
    }
}

impl Oracle for HypercubeSet {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<f64> {
        check_direction(self.dim, direction)?;
        let v = atom.dense_mut(self.dim);
        for (v, d) in v.iter_mut().zip(direction) {
            *v = if *d > 0.0 { self.lower } else { self.upper };
        }
        Ok(kernel::dot(direction, v))
    }
}

impl Projection for HypercubeSet {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        check_point(self.dim, x)?;
        for x in x.iter_mut() {
            *x = x.clamp(self.lower, self.upper);
        }
        Ok(())
    }
}
