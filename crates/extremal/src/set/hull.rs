//! The convex hull of points that are listed one by one, for example the portfolios of a few
//! experts, or the vertices of any small polytope.
//!
//! Non-negative least squares (Lawson & Hanson) decides whether a point lies inside. After finitely many
//! steps it returns the weights of the nearest mixture. The weights are exact up to rounding.
//!
//! ```
//! use extremal::SetSpec;
//! let set = "hull:points=[[0,0],[2,0],[0,1]]".parse::<SetSpec>()?.build(None)?;
//! assert_eq!(set.violation(&[1.0, 0.5]), Some(0.0));
//! assert!(set.violation(&[1.0, 1.0]).unwrap() > 0.1);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::sync::Arc;

use super::identity::Fingerprint;
use super::{
    Atom, Facts, Geometry, Inspector, MakeSet, Minimum, Oracle, Polytope, Set, SharedSet,
    check_direction, check_len, check_numbers, settle_dim,
};
use crate::parameter::fields;
use crate::set::composite::check_size;
use crate::set::tools::hull_distance::Nearest;
use crate::spec::{About, Described, Kind};
use crate::{Error, Result, kernel};

fields! {
    /// Spec of [`HullSet`].
    pub struct Hull {
        /// one or more points, as lists of equal length
        pub points: Vec<Vec<f64>> => Kind::List(&Kind::List(&Kind::ENTRY)),
    }
}

impl Described for Hull {
    const ABOUT: About = About {
        summary: "convex hull of points",
        cost: "oracle O(d·points)",
        guarantee: "D = the largest distance between two points; a polytope, not strongly convex",
        reference: "Lawson & Hanson, Solving Least Squares Problems, 1974 (violation)",
        citations: &[],
        examples: &[
            "hull:points=[[0,0],[2,0],[0,1]]",
            "hull:points=[[1,0,0],[0,2,0],[0,0,1],[-1,-1,-1],[1,0,0],[0,1,0]]",
        ],
    };
}

impl MakeSet for Hull {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let Some(first) = self.points.first() else {
            let allowed = "one point or more";
            return Err(Error::parameter("hull", "points", "[]", allowed));
        };
        let dim = settle_dim("hull", Some(first.len()), dim)?;
        for point in &self.points {
            check_len("points of a hull", dim, point.len())?;
        }
        Ok(Arc::new(HullSet::new(dim, &self.points.concat())?))
    }
}

/// The largest distance of the points from 0, in diameters. Mixtures lose this factor in precision.
const FARTHEST: f64 = 1e4;

/// The convex hull of some points.
pub struct HullSet {
    dim: usize,
    /// The coordinates of all points, one point after the other.
    points: Arc<[f64]>,
    geometry: Geometry,
}

impl HullSet {
    /// The hull of the points, which are listed one after the other with `dim` numbers each.
    pub fn new(dim: usize, points: &[f64]) -> Result<Self> {
        let dim = settle_dim("hull", Some(dim), None)?;
        let whole = dim * points.len().div_ceil(dim).max(1);
        check_len("points of a hull", whole, points.len())?;
        check_numbers("hull", "points", points)?;
        let norm_bound = points.chunks(dim).map(kernel::norm).fold(0.0, f64::max);
        let diameter = diameter(dim, points);
        if diameter > 0.0 && norm_bound > FARTHEST * diameter {
            let value = format!("[…] with a point at distance {norm_bound} from 0");
            let allowed = "within 10⁴ diameters of 0, so that mixtures keep their precision";
            return Err(Error::parameter("hull", "points", value, allowed));
        }
        let geometry = Geometry {
            diameter,
            norm_bound,
            inner_radius: None,
            strong_convexity: (dim == 1 && diameter > 0.0).then(|| 2.0 / diameter),
        };
        Ok(Self {
            dim,
            points: points.into(),
            geometry: check_size("hull", "points", "[…]", geometry)?,
        })
    }
}

fn diameter(dim: usize, points: &[f64]) -> f64 {
    let mut widest = 0.0_f64;
    let mut apart = vec![0.0; dim];
    for (i, a) in points.chunks(dim).enumerate() {
        for b in points.chunks(dim).take(i) {
            apart.copy_from_slice(a);
            kernel::axpy(-1.0, b, &mut apart);
            widest = widest.max(kernel::norm(&apart));
        }
    }
    widest
}

impl Set for HullSet {
    fn name(&self) -> &str {
        "hull"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn facts(&self) -> Facts {
        Facts {
            polytope: Some(Polytope::PLAIN),
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(HullOracle {
            dim: self.dim,
            points: self.points.clone(),
        })
    }

    /// The mean of the points.
    fn centre(&self, out: &mut [f64]) {
        let share = self.dim as f64 / self.points.len() as f64;
        out.fill(0.0);
        for point in self.points.chunks(self.dim) {
            kernel::axpy(share, point, out);
        }
    }

    fn inspector(&self) -> Option<Inspector> {
        let norm_bound = self.geometry.norm_bound;
        let scale = [self.geometry.diameter, norm_bound];
        let scale = scale.into_iter().find(|s| *s > 0.0).unwrap_or(1.0);
        // the rounding error of a mixture's entries
        let rounding = 8.0 * f64::EPSILON * (self.dim as f64).sqrt() * norm_bound;
        let points = self.points.clone();
        let mut nearest = Nearest::new(self.dim, points.len() / self.dim);
        Some(Box::new(move |x| {
            if x.iter().any(|v| !v.is_finite()) {
                return Some(f64::NAN);
            }
            let far = nearest.distance(&points, x);
            let beyond = if far <= rounding { 0.0 } else { far };
            Some(beyond / scale)
        }))
    }

    fn fingerprint(&self) -> u64 {
        Fingerprint::new("hull").with_numbers(&self.points).value()
    }
}

struct HullOracle {
    dim: usize,
    points: Arc<[f64]>,
}

impl Oracle for HullOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        check_direction(self.dim, direction)?;
        let (mut best, mut low) = (&self.points[..self.dim], f64::INFINITY);
        for point in self.points.chunks(self.dim) {
            let value = kernel::dot(direction, point);
            if value < low {
                (best, low) = (point, value);
            }
        }
        atom.dense_mut(self.dim).copy_from_slice(best);
        Ok(Minimum::exact(low))
    }
}
