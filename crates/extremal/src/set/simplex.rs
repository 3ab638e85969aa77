//! The simplex {x ≥ 0, Σx = τ}, or {x ≥ 0, Σx ≤ τ} with `at-most`. Its points are shares, for example of
//! a portfolio.

use std::sync::Arc;

use super::{
    Atom, AtomSigns, Facts, Geometry, MakeSet, Minimum, Oracle, Polytope, Projection, Set,
    SharedSet, SparseAtoms, Structure, check_direction, check_radius, larger,
    polytope::simplex_distance, settle_dim,
};
use crate::parameter::fields;
use crate::set::tools::level::LevelProjection;
use crate::spec::{About, Described, Kind};
use crate::{Result, kernel};

fields! {
    /// Spec of [`SimplexSet`].
    pub struct Simplex {
        /// the total τ of the entries
        pub total: f64 = 1.0 => Kind::SIZE,
        /// whether the constraint is Σx ≤ τ instead of Σx = τ
        pub at_most: bool = false => Kind::Flag,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for Simplex {
    const ABOUT: About = About {
        summary: "simplex: x ≥ 0 with a given total, or with at most that total",
        cost: "oracle O(d), one coordinate per atom; projection O(d log d)",
        guarantee: "D = √2·τ; a polytope, not strongly convex",
        reference: "Held, Wolfe & Crowder, Math. Programming 1974 (projection)",
        citations: &[],
        examples: &["simplex", "simplex:total=3", "simplex:at-most=true"],
    };
}

impl MakeSet for Simplex {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("simplex", self.dim, dim)?;
        Ok(Arc::new(SimplexSet::new(dim, self.total, self.at_most)?))
    }
}

/// {x ≥ 0, Σx = total} or {x ≥ 0, Σx ≤ total}.
#[derive(Debug, Clone, Copy)]
pub struct SimplexSet {
    dim: usize,
    total: f64,
    at_most: bool,
}

impl SimplexSet {
    /// The simplex with this total.
    pub fn new(dim: usize, total: f64, at_most: bool) -> Result<Self> {
        Ok(Self {
            dim: settle_dim("simplex", Some(dim), None)?,
            total: check_radius("simplex", "total", total)?,
            at_most,
        })
    }

    fn polytope(&self) -> Polytope {
        if self.at_most {
            // the nearest faces are the vertex 0 and the hull of the other vertices
            return Polytope::with_distance(self.total / (self.dim as f64).sqrt());
        }
        Polytope {
            facial_distance: Some(simplex_distance(self.dim, self.total)),
            corners: Some((0.0, self.total)),
        }
    }
}

impl Set for SimplexSet {
    fn name(&self) -> &str {
        "simplex"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn geometry(&self) -> Geometry {
        let (dim, total, at_most) = (self.dim, self.total, self.at_most);
        let d = dim as f64;
        Geometry {
            diameter: match (dim, at_most) {
                (1, false) => 0.0,
                (1, true) => total,
                _ => std::f64::consts::SQRT_2 * total,
            },
            norm_bound: total,
            inner_radius: at_most.then(|| total / (d + d.sqrt())),
            strong_convexity: (at_most && dim == 1).then_some(2.0 / total),
        }
    }

    fn facts(&self) -> Facts {
        let signs = if self.at_most {
            AtomSigns::PositiveOrZero
        } else {
            AtomSigns::Positive
        };
        Facts {
            structure: Structure::Sparse(SparseAtoms {
                count: 1,
                size: self.total,
                signs,
            }),
            polytope: Some(self.polytope()),
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(*self)
    }

    fn centre(&self, out: &mut [f64]) {
        // for Σx ≤ τ, the centre has the same distance from every facet
        let d = self.dim as f64;
        out.fill(if self.at_most {
            self.total / (d + d.sqrt())
        } else {
            self.total / d
        });
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        let sum: f64 = x.iter().sum();
        let below = x.iter().fold(0.0, |worst, &v| larger(worst, -v));
        let off = if self.at_most {
            larger(0.0, sum - self.total)
        } else {
            (sum - self.total).abs()
        };
        Some(larger(below, off) / self.total)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        // no entry exceeds the total, so that this is a capped simplex whose cap is the total
        let mut projection = LevelProjection::new(self.dim, self.total, 1.0);
        projection.at_most = self.at_most;
        Some(Box::new(projection))
    }
}

impl Oracle for SimplexSet {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        check_direction(self.dim, direction)?;
        let i = kernel::argmin(direction).unwrap_or(0);
        if self.at_most && direction[i] >= 0.0 {
            atom.set_zero();
            return Ok(Minimum::exact(0.0));
        }
        atom.set_coordinate(i, self.total);
        Ok(Minimum::exact(self.total * direction[i]))
    }
}
