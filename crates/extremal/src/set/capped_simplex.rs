//! The capped simplex {0 ≤ x ≤ 1, Σx = τ}. If τ is a whole number, the set is the hull of all choices of
//! τ out of d items. An example is the choice of the adverts to show, or of the sensors to read.

use std::sync::Arc;

use super::{
    Atom, Facts, Geometry, MakeSet, Minimum, Oracle, Polytope, Projection, Set, SharedSet,
    check_direction, larger, polytope::simplex_distance, settle_dim,
};
use crate::parameter::fields;
use crate::set::tools::level::LevelProjection;
use crate::set::tools::top_k::{Top, last};
use crate::spec::{About, Described, Kind};
use crate::{Error, Result, kernel};

fields! {
    /// Spec of [`CappedSimplexSet`].
    pub struct CappedSimplex {
        /// the total τ of the entries, which is at most the dimension
        pub total: f64 = 1.0 => Kind::POSITIVE,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for CappedSimplex {
    const ABOUT: About = About {
        summary: "capped simplex: 0 ≤ x ≤ 1 with a given total; a total of k gives the hull of the k-subsets",
        cost: "oracle O(d + τ log τ), ⌈τ⌉ entries per atom; projection O(d log d)",
        guarantee: "D = √(2·min(τ, d−τ)) for a whole τ; a polytope, not strongly convex",
        reference: "Warmuth & Kuzmin, JMLR 2008",
        citations: &[],
        examples: &["capped-simplex", "capped-simplex:total=2.5"],
    };
}

impl MakeSet for CappedSimplex {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("capped-simplex", self.dim, dim)?;
        Ok(Arc::new(CappedSimplexSet::new(dim, self.total)?))
    }
}

/// {0 ≤ x ≤ 1, Σx = total}.
///
/// ```
/// use extremal::set::{Atom, Set, capped_simplex::CappedSimplexSet};
/// let pairs = CappedSimplexSet::new(4, 2.0).unwrap();
/// let (mut atom, mut v) = (Atom::new(), [0.0; 4]);
/// let found = pairs.oracle().minimise(&[3.0, -1.0, 2.0, 5.0], &mut atom).unwrap();
/// atom.write(&mut v);
/// assert_eq!((found.value, v), (1.0, [0.0, 1.0, 1.0, 0.0]));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CappedSimplexSet {
    dim: usize,
    total: f64,
}

impl CappedSimplexSet {
    /// The capped simplex with this total, which is at most `dim`.
    pub fn new(dim: usize, total: f64) -> Result<Self> {
        let dim = settle_dim("capped-simplex", Some(dim), None)?;
        if !(1e-50..=dim as f64).contains(&total) {
            let allowed = "between 1e-50 and the dimension";
            return Err(Error::parameter("capped-simplex", "total", total, allowed));
        }
        Ok(Self { dim, total })
    }

    /// The number of entries of an atom that are 1, and the value of its one fractional entry.
    fn parts(&self) -> (usize, f64) {
        (self.total as usize, self.total.fract())
    }

    /// The number of non-zero entries of an atom.
    fn entries(&self) -> usize {
        self.total.ceil() as usize
    }

    /// Computes the facial distance. A face fixes some entries at 0 and some at 1. A vertex outside the
    /// face differs from the face in at least one fixed entry, by at least the fractional part of τ or
    /// its complement. If τ is whole and the face is a vertex, any other vertex differs from this vertex
    /// in at least two entries.
    fn polytope(&self) -> Polytope {
        let (ones, rest) = self.parts();
        let n = self.dim as f64;
        let whole = rest == 0.0;
        // The squared norm of v minus its mean. v is the indicator of the `ones` entries fixed at 1,
        // minus the indicator of the `zeros` entries fixed at 0.
        let spread = |zeros: f64, ones: f64| zeros + ones - (ones - zeros).powi(2) / n;
        let distance = if ones == 0 {
            simplex_distance(self.dim, self.total)
        } else if !whole && ones + 1 == self.dim {
            simplex_distance(self.dim, 1.0 - rest)
        } else if !whole {
            rest.min(1.0 - rest) / (n - 1.0).sqrt()
        } else if ones == self.dim {
            1.0 // one point
        } else {
            let few = ones.min(self.dim - ones) as f64;
            let other = (n - few - 1.0).min((few - 1.0 + 0.5 * n).floor());
            let faces = spread(other, few - 1.0).sqrt();
            let vertices = 0.5 * spread(n - few, few).sqrt();
            1.0 / faces.max(vertices)
        };
        Polytope {
            facial_distance: Some(distance),
            corners: whole.then_some((0.0, 1.0)),
        }
    }
}

impl Set for CappedSimplexSet {
    fn name(&self) -> &str {
        "capped-simplex"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn geometry(&self) -> Geometry {
        let (ones, rest) = self.parts();
        // Two atoms are farthest apart if no coordinate is large in both atoms. If more than d/2 entries
        // are large, this is impossible. Two atoms are then farthest apart if no coordinate is 0 in both.
        let zeros = self.dim - self.entries();
        let square = if ones < zeros {
            ones as f64 + rest * rest
        } else if ones > zeros && rest > 0.0 {
            zeros as f64 + (1.0 - rest).powi(2)
        } else {
            zeros as f64
        };
        Geometry {
            diameter: (2.0 * square).sqrt(),
            norm_bound: (ones as f64 + rest * rest).sqrt(),
            ..Geometry::default()
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            polytope: Some(self.polytope()),
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(CappedSimplexOracle {
            set: *self,
            top: Top::with_capacity(self.entries(), self.dim),
        })
    }

    fn centre(&self, out: &mut [f64]) {
        out.fill(self.total / self.dim as f64);
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        let sum: f64 = x.iter().sum();
        let off = (sum - self.total).abs() / self.total;
        let beyond = x.iter().fold(0.0, |w, &v| larger(w, larger(-v, v - 1.0)));
        Some(larger(off, beyond / self.total.min(1.0)))
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(LevelProjection::new(self.dim, 1.0, self.total)))
    }
}

struct CappedSimplexOracle {
    set: CappedSimplexSet,
    top: Top,
}

impl Oracle for CappedSimplexOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        check_direction(self.set.dim, direction)?;
        let (entries, (_, rest)) = (self.set.entries(), self.set.parts());
        if entries == 1 {
            let i = kernel::argmin(direction).unwrap_or(0);
            atom.set_coordinate(i, self.set.total);
            return Ok(Minimum::exact(self.set.total * direction[i]));
        }
        let chosen = self.top.largest(direction.iter().map(|d| -d), entries);
        let (indices, values) = atom.sparse_mut();
        indices.extend(chosen.iter().map(|c| c.1));
        values.resize(entries, 1.0);
        if rest > 0.0 {
            values[last(chosen)] = rest;
        }
        Ok(Minimum::exact(atom.dot(direction)))
    }
}
