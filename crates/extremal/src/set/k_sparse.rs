//! The k-sparse polytope {‖x‖∞ ≤ r, ‖x‖₁ ≤ k·r}: the hull of the vectors with k entries ±r. For k = 1 the
//! polytope is the ℓ1 ball, and for k ≥ d it is the ℓ∞ ball.

use std::sync::Arc;

use super::l1::sign;
use super::{
    Atom, AtomSigns, Facts, Geometry, MakeSet, Minimum, Oracle, Polytope, Projection, Set,
    SharedSet, SparseAtoms, Structure, check_direction, check_radius, larger, settle_dim,
};
use crate::parameter::fields;
use crate::set::tools::level::LevelProjection;
use crate::set::tools::top_k::Top;
use crate::spec::{About, Described, Kind};
use crate::{Error, Result, kernel};

fields! {
    /// Spec of [`KSparsePolytope`].
    pub struct KSparse {
        /// the number k of entries of an atom; a k above the dimension is reduced to the dimension
        pub k: usize => Kind::COUNT,
        /// the radius
        pub radius: f64 = 1.0 => Kind::SIZE,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for KSparse {
    const ABOUT: About = About {
        summary: "k-sparse polytope: hull of the vectors with k entries ±r",
        cost: "oracle O(d + k log k), k entries per atom; projection O(d log d)",
        guarantee: "D = 2r√k; a polytope, not strongly convex",
        reference: "textbook: the dual of the sum of the k largest |x_i|",
        citations: &[],
        examples: &["k-sparse:k=1,radius=2", "k-sparse:k=3"],
    };
}

impl MakeSet for KSparse {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("k-sparse", self.dim, dim)?;
        Ok(Arc::new(KSparsePolytope::new(dim, self.k, self.radius)?))
    }
}

/// Returns the smaller of k and the dimension.
pub(crate) fn check_k(owner: &'static str, k: usize, dim: usize) -> Result<usize> {
    if k == 0 {
        return Err(Error::parameter(owner, "k", k, "1 or more"));
    }
    Ok(k.min(dim))
}

/// {‖x‖∞ ≤ radius, ‖x‖₁ ≤ k·radius}.
///
/// ```
/// use extremal::set::{Atom, Set, k_sparse::KSparsePolytope};
/// let set = KSparsePolytope::new(4, 2, 0.5).unwrap();
/// let (mut atom, mut v) = (Atom::new(), [0.0; 4]);
/// set.oracle().minimise(&[3.0, -1.0, 2.0, -5.0], &mut atom).unwrap();
/// atom.write(&mut v);
/// assert_eq!(v, [-0.5, 0.0, 0.0, 0.5]);
/// assert_eq!(set.gauge(&[0.4, 0.4, 0.4, 0.4]), Some(1.6));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct KSparsePolytope {
    dim: usize,
    k: usize,
    radius: f64,
}

impl KSparsePolytope {
    /// The polytope around 0. A k above the dimension is reduced to the dimension.
    pub fn new(dim: usize, k: usize, radius: f64) -> Result<Self> {
        let dim = settle_dim("k-sparse", Some(dim), None)?;
        Ok(Self {
            dim,
            k: check_k("k-sparse", k, dim)?,
            radius: check_radius("k-sparse", "radius", radius)?,
        })
    }

    fn norm(&self, x: &[f64]) -> f64 {
        let top = x.iter().fold(0.0, |top, v| larger(top, v.abs()));
        if self.k == self.dim {
            return top;
        }
        // each entry is divided first, so that the sum does not overflow
        let k = self.k as f64;
        larger(top, x.iter().map(|v| v.abs() / k).sum())
    }

    fn corner(&self, direction: f64) -> f64 {
        if direction > 0.0 {
            -self.radius
        } else {
            self.radius
        }
    }
}

impl Set for KSparsePolytope {
    fn name(&self) -> &str {
        "k-sparse"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn geometry(&self) -> Geometry {
        let (d, k) = (self.dim as f64, self.k as f64);
        Geometry {
            diameter: 2.0 * self.radius * k.sqrt(),
            norm_bound: self.radius * k.sqrt(),
            inner_radius: Some(self.radius * (k / d.sqrt()).min(1.0)),
            strong_convexity: (self.dim == 1).then_some(1.0 / self.radius),
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            structure: Structure::Sparse(SparseAtoms {
                count: self.k,
                size: self.radius,
                signs: AtomSigns::Any,
            }),
            polytope: Some(Polytope::PLAIN),
            gauge: true,
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(KSparseOracle {
            set: *self,
            top: Top::with_capacity(self.k, self.dim),
        })
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        Some(self.norm(x) / self.radius)
    }

    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let norm = self.norm(x);
        match kernel::argmax_abs(x) {
            Some(i) if x[i].abs() >= norm => {
                out.fill(0.0);
                out[i] = sign(x[i]) / self.radius;
            }
            _ => {
                let share = 1.0 / self.k as f64 / self.radius;
                for (out, x) in out.iter_mut().zip(x) {
                    *out = sign(*x) * share;
                }
            }
        }
        Some(norm / self.radius)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        let projection = LevelProjection::new(self.dim, self.radius, self.k as f64);
        Some(Box::new(projection.signed()))
    }
}

struct KSparseOracle {
    set: KSparsePolytope,
    top: Top,
}

impl Oracle for KSparseOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        let set = self.set;
        check_direction(set.dim, direction)?;
        if set.k == set.dim {
            for (v, &d) in atom.dense_mut(set.dim).iter_mut().zip(direction) {
                *v = set.corner(d);
            }
        } else if set.k == 1 {
            let i = kernel::argmax_abs(direction).unwrap_or(0);
            atom.set_coordinate(i, set.corner(direction[i]));
        } else {
            let chosen = self.top.largest(direction.iter().map(|d| d.abs()), set.k);
            let (indices, values) = atom.sparse_mut();
            for &(_, i) in chosen {
                indices.push(i);
                values.push(set.corner(direction[i as usize]));
            }
        }
        Ok(Minimum::exact(atom.dot(direction)))
    }
}
