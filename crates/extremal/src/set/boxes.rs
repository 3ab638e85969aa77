//! The box {l ≤ x ≤ u}, which bounds each coordinate from below and above.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::identity::Fingerprint;
use super::{
    Atom, Facts, Geometry, MakeSet, Minimum, Oracle, Polytope, Projection, Set, SharedSet,
    check_direction, check_len, check_point, larger, polytope::joint_distance, settle_dim,
};
use crate::parameter::{Field, fields};
use crate::spec::{About, Described, Kind};
use crate::{Error, Result, kernel};

/// A bound. It is one number for all coordinates, or one number for each coordinate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number or a list of numbers was expected")]
pub enum Bound {
    /// One value for all coordinates.
    All(f64),
    /// One value for each coordinate.
    Each(Vec<f64>),
}

impl Bound {
    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Self::All(_) => None,
            Self::Each(v) => Some(v.len()),
        }
    }

    /// One number per coordinate. A list of the wrong length is an error.
    pub(crate) fn expand(&self, what: &'static str, dim: usize) -> Result<Vec<f64>> {
        check_len(what, dim, self.len().unwrap_or(dim))?;
        Ok(match self {
            Self::All(v) => vec![*v; dim],
            Self::Each(v) => v.clone(),
        })
    }
}

impl Field for Bound {
    fn refused(&self, kind: &Kind) -> Option<String> {
        match self {
            Self::All(v) => v.refused(kind.element()),
            Self::Each(v) => v.refused(kind),
        }
    }
}

fields! {
    /// Spec of [`BoxSet`].
    pub struct BoxSpec {
        /// the lower bounds
        pub lower: Bound = Bound::All(-1.0) => Kind::Each(&Kind::ENTRY),
        /// the upper bounds; each is at least the lower bound
        pub upper: Bound = Bound::All(1.0) => Kind::Each(&Kind::ENTRY),
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for BoxSpec {
    const ABOUT: About = About {
        summary: "box: a lower and an upper bound per coordinate",
        cost: "oracle O(d); projection O(d)",
        guarantee: "D = ‖u − l‖; a polytope, not strongly convex",
        reference: "textbook",
        citations: &[],
        examples: &["box", "box:lower=0,upper=3", "box:lower=-0.5,upper=10"],
    };
}

impl MakeSet for BoxSpec {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let from_bounds = self.lower.len().or(self.upper.len());
        let dim = settle_dim("box", self.dim.or(from_bounds), dim)?;
        let lower = self.lower.expand("lower", dim)?;
        let upper = self.upper.expand("upper", dim)?;
        Ok(Arc::new(BoxSet::new(&lower, &upper)?))
    }
}

/// {lower ≤ x ≤ upper}.
#[derive(Debug, Clone)]
pub struct BoxSet {
    name: &'static str,
    lower: Arc<[f64]>,
    upper: Arc<[f64]>,
    scale: f64,
}

impl BoxSet {
    /// The box with the given bounds.
    pub fn new(lower: &[f64], upper: &[f64]) -> Result<Self> {
        settle_dim("box", Some(lower.len()), None)?;
        check_len("upper", lower.len(), upper.len())?;
        for (l, u) in lower.iter().zip(upper) {
            if !(l <= u) || l.abs() > 1e50 || u.abs() > 1e50 {
                let allowed = "lower ≤ upper, both between -1e50 and 1e50";
                let value = format!("{l}, {u}");
                return Err(Error::parameter("box", "lower, upper", value, allowed));
            }
        }
        let widths = lower.iter().zip(upper).map(|(l, u)| u - l);
        let widest = widths.fold(0.0, f64::max);
        let point = kernel::max_abs(lower).max(1.0);
        Ok(Self {
            name: "box",
            lower: lower.into(),
            upper: upper.into(),
            scale: if widest > 0.0 { widest } else { point },
        })
    }

    /// Changes the set's name. Another spec that builds a box uses this.
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    fn bounds(&self) -> impl Iterator<Item = (&f64, &f64)> + Clone {
        self.lower.iter().zip(&*self.upper)
    }

    /// The bound on the side of x_i: the upper bound if x_i > 0, and the lower bound for other x_i.
    fn side(&self, i: usize, x: f64) -> f64 {
        if x > 0.0 {
            self.upper[i]
        } else {
            self.lower[i]
        }
    }

    /// Whether 0 is inside the box, and so far from every bound that x/bound does not overflow.
    fn has_gauge(&self) -> bool {
        let near = 1e-100 * self.scale;
        self.bounds().all(|(l, u)| -l > near && *u > near)
    }

    /// The index at which x/bound is largest, and this largest value.
    fn furthest(&self, x: &[f64]) -> Option<(usize, f64)> {
        if !self.has_gauge() {
            return None;
        }
        let shares = x.iter().enumerate().map(|(i, &x)| (i, x / self.side(i, x)));
        // the result is NaN if a share is NaN
        Some(shares.fold((0, 0.0), |most, (i, share)| {
            if most.1 >= share || most.1.is_nan() {
                most
            } else {
                (i, share)
            }
        }))
    }

    fn polytope(&self) -> Polytope {
        let widths = self.bounds().map(|(l, u)| u - l).filter(|w| *w > 0.0);
        let (l, u) = (self.lower[0], self.upper[0]);
        let alike = l < u && self.bounds().all(|bound| bound == (&l, &u));
        Polytope {
            facial_distance: Some(joint_distance(widths)),
            corners: alike.then_some((l, u)),
        }
    }
}

impl Set for BoxSet {
    fn name(&self) -> &str {
        self.name
    }

    fn dim(&self) -> usize {
        self.lower.len()
    }

    fn geometry(&self) -> Geometry {
        let widths: Vec<f64> = self.bounds().map(|(l, u)| u - l).collect();
        let far: Vec<f64> = self.bounds().map(|(l, u)| l.abs().max(u.abs())).collect();
        let thinnest = kernel::min(&widths);
        Geometry {
            diameter: kernel::norm(&widths),
            norm_bound: kernel::norm(&far),
            inner_radius: (thinnest > 0.0).then_some(0.5 * thinnest),
            strong_convexity: (self.dim() == 1 && thinnest > 0.0).then(|| 2.0 / thinnest),
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            polytope: Some(self.polytope()),
            gauge: self.has_gauge(),
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn centre(&self, out: &mut [f64]) {
        for (out, (l, u)) in out.iter_mut().zip(self.bounds()) {
            *out = l + 0.5 * (u - l);
        }
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        let beyond = |(x, (l, u)): (&f64, (&f64, &f64))| larger(l - x, x - u);
        let worst = x.iter().zip(self.bounds()).map(beyond).fold(0.0, larger);
        Some(worst / self.scale)
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        self.furthest(x).map(|(_, gauge)| gauge)
    }

    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let (i, gauge) = self.furthest(x)?;
        out.fill(0.0);
        if x[i] != 0.0 {
            out[i] = 1.0 / self.side(i, x[i]);
        }
        Some(gauge)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(self.clone()))
    }

    fn fingerprint(&self) -> u64 {
        Fingerprint::new(self.name)
            .with_numbers(&self.lower)
            .with_numbers(&self.upper)
            .value()
    }
}

impl Oracle for BoxSet {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        check_direction(self.dim(), direction)?;
        let v = atom.dense_mut(direction.len());
        for (i, v) in v.iter_mut().enumerate() {
            *v = if direction[i] > 0.0 {
                self.lower[i]
            } else {
                self.upper[i]
            };
        }
        Ok(Minimum::exact(kernel::dot(direction, v)))
    }
}

impl Projection for BoxSet {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        check_point(self.dim(), x)?;
        for (i, x) in x.iter_mut().enumerate() {
            *x = x.clamp(self.lower[i], self.upper[i]);
        }
        Ok(())
    }
}
