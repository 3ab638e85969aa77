//! A set made larger or smaller: τK = {τx : x ∈ K}. A scaled ball is a ball, and keeps the fast
//! ways that balls have.
//!
//! ```
//! use extremal::set::SetSpec;
//! let set = "scale:by=2,set=(lp:p=1.5,dim=3)".parse::<SetSpec>()?.build(None)?;
//! assert_eq!(set.geometry().diameter, 4.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::parts::{Fingerprint, SET, check_size};
use super::scratch::Scratch;
use super::{
    Atom, Curvature, CurvatureKind, Geometry, MakeSet, Oracle, Polytope, Projection, Set, SetSpec,
    SharedSet, SmoothConstraint, SparseAtoms, Structure, check_point, check_radius, oracle_of,
};
use crate::Result;
use crate::spec::{Described, Entry, Parameter};

/// Spec of [`ScaledSet`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scale {
    /// τ
    pub by: f64,
    /// K
    pub set: Box<SetSpec>,
}

impl Described for Scale {
    const ENTRY: Entry = Entry {
        name: "scale",
        summary: "a set made larger or smaller by a factor",
        parameters: &[
            Parameter {
                name: "by",
                about: "the factor τ",
                default: None,
                allowed: "1e-50 to 1e50",
            },
            SET,
        ],
        cost: "as the set's own",
        guarantee: "D = τ·D_K, strongly convex with α_K/τ",
        reference: "textbook",
        citations: &[],
        examples: &["scale:by=3,set=(l2)", "scale:by=0.5,set=(box:lower=0)"],
    };
}

impl MakeSet for Scale {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        Ok(Arc::new(ScaledSet::new(self.set.build(dim)?, self.by)?))
    }
}

/// τK.
pub struct ScaledSet {
    inner: SharedSet,
    by: f64,
    geometry: Geometry,
    scratch: Scratch<Vec<f64>>,
}

impl ScaledSet {
    /// The set times a factor.
    pub fn new(inner: SharedSet, by: f64) -> Result<Self> {
        check_radius("scale", "by", by)?;
        let geometry = inner.geometry();
        let geometry = Geometry {
            diameter: by * geometry.diameter,
            norm_bound: by * geometry.norm_bound,
            inner_radius: geometry.inner_radius.map(|r| by * r),
            strong_convexity: geometry.strong_convexity.map(|alpha| alpha / by),
        };
        Ok(Self {
            geometry: check_size("scale", "by", by, geometry)?,
            scratch: Scratch::new(vec![0.0; inner.dim()]),
            inner,
            by,
        })
    }
}

impl Set for ScaledSet {
    fn name(&self) -> &str {
        "scale"
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn has_checked_oracle(&self) -> bool {
        true
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(ScaledOracle {
            inner: oracle_of(&*self.inner),
            by: self.by,
        })
    }

    fn centre(&self, out: &mut [f64]) {
        self.inner.centre(out);
        out.iter_mut().for_each(|v| *v *= self.by);
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        let mut scratch = self.scratch.take();
        scratch.clear();
        scratch.extend(x.iter().map(|v| v / self.by));
        self.inner.violation(&scratch)
    }

    fn structure(&self) -> Structure {
        match self.inner.structure() {
            Structure::Ball { p, radius } => Structure::Ball {
                p,
                radius: self.by * radius,
            },
            Structure::Sparse(atoms) => Structure::Sparse(SparseAtoms {
                size: self.by * atoms.size,
                ..atoms
            }),
            Structure::General => Structure::General,
        }
    }

    fn polytope(&self) -> Option<Polytope> {
        let Polytope {
            facial_distance,
            corners,
        } = self.inner.polytope()?;
        Some(Polytope {
            facial_distance: facial_distance.map(|distance| self.by * distance),
            corners: corners.map(|(l, u)| (self.by * l, self.by * u)),
        })
    }

    fn curvature(&self) -> Option<Curvature> {
        let Curvature {
            kind,
            gradient_norm,
            width,
        } = self.inner.curvature()?;
        let kind = match kind {
            CurvatureKind::Smooth { l } => CurvatureKind::Smooth {
                l: self.by * (self.by * l),
            },
            CurvatureKind::Uniform { q, radius } => CurvatureKind::Uniform {
                q,
                radius: self.by * radius,
            },
        };
        Some(Curvature {
            kind,
            gradient_norm,
            width: self.by * width,
        })
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        self.inner.gauge(x).map(|gauge| gauge / self.by)
    }

    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let gauge = self.inner.gauge_gradient(x, out)?;
        out.iter_mut().for_each(|v| *v /= self.by);
        Some(gauge / self.by)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(ScaledProjection {
            inner: self.inner.projection()?,
            dim: self.dim(),
            by: self.by,
        }))
    }

    fn smooth(&self) -> Option<Box<dyn SmoothConstraint>> {
        Some(Box::new(ScaledConstraint {
            inner: self.inner.smooth()?,
            by: self.by,
            back: vec![0.0; self.dim()],
        }))
    }

    fn grown(&self, dim: usize) -> Option<SharedSet> {
        let grown = Self::new(self.inner.grown(dim)?, self.by).ok()?;
        Some(Arc::new(grown))
    }

    fn fingerprint(&self) -> u64 {
        Fingerprint::new("scale")
            .with_numbers(&[self.by])
            .with_part(self.inner.fingerprint())
            .value()
    }
}

struct ScaledOracle {
    inner: Box<dyn Oracle>,
    by: f64,
}

impl Oracle for ScaledOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<f64> {
        self.inner.minimise(direction, atom)?;
        atom.scale(self.by);
        // not τ times the value: that may have underflowed
        Ok(atom.dot(direction))
    }

    fn save(&self) -> Vec<f64> {
        self.inner.save()
    }

    fn load(&mut self, saved: &[f64]) -> Result<()> {
        self.inner.load(saved)
    }
}

struct ScaledConstraint {
    inner: Box<dyn SmoothConstraint>,
    by: f64,
    /// x/τ
    back: Vec<f64>,
}

impl ScaledConstraint {
    fn scale_back(&mut self, x: &[f64]) {
        for (back, x) in self.back.iter_mut().zip(x) {
            *back = x / self.by;
        }
    }
}

impl SmoothConstraint for ScaledConstraint {
    fn value(&mut self, x: &[f64]) -> f64 {
        self.scale_back(x);
        self.inner.value(&self.back)
    }

    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        self.scale_back(x);
        self.inner.gradient(&self.back, out);
    }

    fn curvature(&self) -> f64 {
        self.inner.curvature() / self.by
    }
}

struct ScaledProjection {
    inner: Box<dyn Projection>,
    dim: usize,
    by: f64,
}

impl Projection for ScaledProjection {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        check_point(self.dim, x)?;
        let by = self.by;
        x.iter_mut().for_each(|v| *v /= by);
        self.inner.project(x)?;
        x.iter_mut().for_each(|v| *v *= by);
        Ok(())
    }

    fn save(&self) -> Vec<f64> {
        self.inner.save()
    }

    fn load(&mut self, saved: &[f64]) -> Result<()> {
        self.inner.load(saved)
    }

    fn forget(&mut self) {
        self.inner.forget();
    }
}
