//! The image of a set under an invertible matrix: MK = {Mx : x ∈ K}. Its oracle is M times the
//! set's own for Mᵀ·direction.
//!
//! ```
//! use extremal::set::SetSpec;
//! // an ellipse
//! let set = "image:matrix=[[2,0],[0,1]],set=(l2)".parse::<SetSpec>()?.build(None)?;
//! assert_eq!(set.geometry().diameter, 4.0);
//! assert_eq!(set.violation(&[2.0, 0.0]), Some(0.0));
//! assert!(set.violation(&[0.0, 2.0]).unwrap() > 0.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::parts::{Fingerprint, SET, check_size};
use super::scratch::Scratch;
use super::{
    Atom, Curvature, CurvatureKind, Geometry, MakeSet, Oracle, Set, SetSpec, SharedSet,
    check_direction, oracle_of, settle_dim,
};
use crate::kernel::{self, Singular};
use crate::spec::{Described, Entry, Parameter};
use crate::{Error, Result};

/// Spec of [`ImageSet`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Image {
    /// M, as a list of rows.
    pub matrix: Vec<Vec<f64>>,
    /// K
    pub set: Box<SetSpec>,
}

impl Described for Image {
    const ENTRY: Entry = Entry {
        name: "image",
        summary: "image of a set under an invertible matrix",
        parameters: &[
            Parameter {
                name: "matrix",
                about: "the matrix M, a list of rows",
                default: None,
                allowed: "square, with condition number 10⁵ at most",
            },
            SET,
        ],
        cost: "the set's own and O(d²); O(d³) once",
        guarantee: "D ≤ σ_max·D_K, = where K is l2; strongly convex with α_K·σ_min/σ_max²",
        reference: "textbook; for ellipsoids Journée et al., JMLR 2010",
        citations: &[],
        examples: &[
            "image:matrix=[[2,1],[0,1]],set=(l2)",
            "image:matrix=[[0,3,0,0],[1,0,0,0],[0,0,2,1],[0,0,0,2]],set=(l2:radius=0.5)",
        ],
    };
}

impl MakeSet for Image {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("image", Some(self.matrix.len()), dim)?;
        if let Some(row) = self.matrix.iter().find(|row| row.len() != dim) {
            return Err(Error::Size {
                what: "row of the matrix of an image",
                expected: dim,
                found: row.len(),
            });
        }
        let inner = self.set.build(Some(dim))?;
        Ok(Arc::new(ImageSet::new(inner, &self.matrix.concat())?))
    }
}

/// No more digits than this are lost when a point is brought back to the set.
const WORST_CONDITION: f64 = 1e5;

/// MK.
pub struct ImageSet {
    inner: SharedSet,
    /// By rows.
    matrix: Arc<[f64]>,
    inverse: Vec<f64>,
    stretch: f64,
    geometry: Geometry,
    scratch: Scratch<Vec<f64>>,
}

impl ImageSet {
    /// The image of a set under a square matrix, given by rows.
    pub fn new(inner: SharedSet, matrix: &[f64]) -> Result<Self> {
        let dim = inner.dim();
        if matrix.len() != dim * dim {
            return Err(Error::Size {
                what: "matrix of an image",
                expected: dim * dim,
                found: matrix.len(),
            });
        }
        let refuse = |value: String| {
            let allowed =
                "an invertible matrix of numbers up to 1e50, with condition number 1e5 at most";
            Err(Error::parameter("image", "matrix", value, allowed))
        };
        if let Some(entry) = matrix.iter().find(|v| !(v.abs() <= 1e50)) {
            return refuse(format!("[… {entry} …]"));
        }
        let Singular {
            largest,
            smallest,
            inverse,
        } = kernel::singular(dim, matrix);
        if !(smallest > 0.0 && largest <= WORST_CONDITION * smallest) {
            return refuse(format!(
                "[…] with singular values from {smallest:e} to {largest:e}"
            ));
        }
        let own = inner.geometry();
        let geometry = Geometry {
            diameter: largest * own.diameter,
            norm_bound: largest * own.norm_bound,
            inner_radius: own.inner_radius.map(|r| smallest * r),
            strong_convexity: own
                .strong_convexity
                .map(|alpha| alpha * (smallest / largest) / largest),
        };
        Ok(Self {
            geometry: check_size("image", "matrix", "[…]", geometry)?,
            scratch: Scratch::new(vec![0.0; dim]),
            inner,
            matrix: matrix.into(),
            inverse,
            stretch: largest,
        })
    }

    /// What `ask` says of M⁻¹x.
    fn brought_back<T>(&self, x: &[f64], ask: impl FnOnce(&[f64]) -> T) -> T {
        let mut scratch = self.scratch.take();
        multiply(&self.inverse, x, &mut scratch);
        ask(&scratch)
    }
}

/// out = the matrix times x.
fn multiply(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    for (out, row) in out.iter_mut().zip(matrix.chunks(x.len())) {
        *out = kernel::dot(row, x);
    }
}

impl Set for ImageSet {
    fn name(&self) -> &str {
        "image"
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
        Box::new(ImageOracle {
            inner: oracle_of(&*self.inner),
            matrix: self.matrix.clone(),
            direction: vec![0.0; self.dim()],
            atom: Atom::new(),
        })
    }

    fn centre(&self, out: &mut [f64]) {
        let mut own = vec![0.0; out.len()];
        self.inner.centre(&mut own);
        multiply(&self.matrix, &own, out);
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        self.brought_back(x, |x| self.inner.violation(x))
    }

    fn curvature(&self) -> Option<Curvature> {
        // h(g) = h_K(Mᵀg), and ‖Mᵀg‖_q ≤ ‖Mᵀg‖₂ ≤ σ_max‖g‖₂ for q ≥ 2
        let own = self.inner.curvature()?;
        match own.kind {
            CurvatureKind::Smooth { l } if own.gradient_norm >= 2.0 => Some(Curvature {
                kind: CurvatureKind::Smooth {
                    l: self.stretch * (self.stretch * l),
                },
                gradient_norm: 2.0,
                width: self.stretch * own.width,
            }),
            _ => None,
        }
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        self.brought_back(x, |x| self.inner.gauge(x))
    }

    fn fingerprint(&self) -> u64 {
        Fingerprint::new("image")
            .with_numbers(&self.matrix)
            .with_part(self.inner.fingerprint())
            .value()
    }
}

struct ImageOracle {
    inner: Box<dyn Oracle>,
    matrix: Arc<[f64]>,
    /// Mᵀ·direction, then the set's own atom.
    direction: Vec<f64>,
    atom: Atom,
}

impl Oracle for ImageOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<f64> {
        let dim = self.direction.len();
        check_direction(dim, direction)?;
        let top = kernel::max_abs(direction);
        self.direction.fill(0.0);
        if top > 0.0 {
            // divided first: products with the matrix must neither over- nor underflow
            for (row, d) in self.matrix.chunks(dim).zip(direction) {
                kernel::axpy(d / top, row, &mut self.direction);
            }
        }
        self.inner.minimise(&self.direction, &mut self.atom)?;
        self.atom.write(&mut self.direction);
        let v = atom.dense_mut(dim);
        multiply(&self.matrix, &self.direction, v);
        Ok(atom.dot(direction))
    }

    fn save(&self) -> Vec<f64> {
        self.inner.save()
    }

    fn load(&mut self, saved: &[f64]) -> Result<()> {
        self.inner.load(saved)
    }
}
