//! A set moved: K + s = {x + s : x ∈ K}. Together with [`image`](super::image) it makes affine
//! images Mx + b: `translate:by=[…],set=(image:matrix=[…],set=(…))`.
//!
//! ```
//! use extremal::set::SetSpec;
//! let set = "translate:by=[1,-1],set=(l2:radius=0.5)".parse::<SetSpec>()?.build(None)?;
//! assert_eq!(set.violation(&[1.5, -1.0]), Some(0.0));
//! assert!(set.violation(&[0.0, 0.0]).unwrap() > 1.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::boxes::Bound;
use super::parts::{Fingerprint, SET};
use super::scratch::Scratch;
use super::{
    Atom, Curvature, Geometry, MakeSet, Oracle, Polytope, Projection, Set, SetSpec, SharedSet,
    SmoothConstraint, check_point, oracle_of, settle_dim,
};
use crate::spec::{Described, Entry, Parameter};
use crate::{Error, Result, kernel};

/// Spec of [`TranslatedSet`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Translate {
    /// s
    pub by: Bound,
    /// K
    pub set: Box<SetSpec>,
}

impl Described for Translate {
    const ENTRY: Entry = Entry {
        name: "translate",
        summary: "a set moved to another place",
        parameters: &[
            Parameter {
                name: "by",
                about: "the way s: one number for all coordinates, or a list",
                default: None,
                allowed: "numbers up to the set's largest norm or 10⁴ diameters",
            },
            SET,
        ],
        cost: "as the set's own and O(d); dense atoms",
        guarantee: "D, α and curvature as the set's own; max ‖x‖ at most √(R² + 2·max⟨s, x⟩ + ‖s‖²)",
        reference: "textbook",
        citations: &[],
        examples: &[
            "translate:by=0.5,set=(l2:radius=2)",
            "translate:by=-1,set=(simplex)",
        ],
    };
}

impl MakeSet for Translate {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = match self.by.len() {
            Some(len) => Some(settle_dim("translate", Some(len), dim)?),
            None => dim,
        };
        let inner = self.set.build(dim)?;
        let shift = self.by.expand(inner.dim());
        Ok(Arc::new(TranslatedSet::new(inner, &shift)?))
    }
}

/// How many diameters a set may be moved, all coordinates added up as a simplex adds them: that
/// costs as many digits.
const FARTHEST: f64 = 1e3;

/// K + s.
pub struct TranslatedSet {
    inner: SharedSet,
    shift: Arc<[f64]>,
    geometry: Geometry,
    scratch: Scratch<Vec<f64>>,
}

impl TranslatedSet {
    /// The set moved by `shift`.
    pub fn new(inner: SharedSet, shift: &[f64]) -> Result<Self> {
        if shift.len() != inner.dim() {
            return Err(Error::Size {
                what: "by",
                expected: inner.dim(),
                found: shift.len(),
            });
        }
        let own = inner.geometry();
        let most = own.norm_bound.max(FARTHEST * own.diameter);
        let far: f64 = shift.iter().map(|v| v.abs()).sum();
        if !(far <= most) {
            return Err(Error::parameter(
                "translate",
                "by",
                format!("… with ‖by‖₁ = {far}"),
                "no farther than the set's largest norm or 10³ diameters, or its points would be lost in rounding",
            ));
        }
        Ok(Self {
            geometry: Geometry {
                norm_bound: moved_norm_bound(&*inner, shift)?,
                ..own
            },
            scratch: Scratch::new(vec![0.0; inner.dim()]),
            shift: shift.into(),
            inner,
        })
    }
}

/// ‖x + s‖² = ‖x‖² + 2⟨s, x⟩ + ‖s‖², each part at its largest: exact where the points of largest
/// norm are also the furthest along s, as in balls, simplices and symmetric boxes.
fn moved_norm_bound(inner: &dyn Set, shift: &[f64]) -> Result<f64> {
    let (radius, length) = (inner.geometry().norm_bound, kernel::norm(shift));
    if length == 0.0 {
        return Ok(radius);
    }
    let back: Vec<f64> = shift.iter().map(|v| -v / length).collect();
    let mut atom = Atom::new();
    oracle_of(inner).minimise(&back, &mut atom)?;
    let along = -atom.dot(&back);
    let top = radius.max(length);
    let (r, s, a) = (radius / top, length / top, along / top);
    Ok(top * (r * r + 2.0 * s * a + s * s).max(0.0).sqrt())
}

impl Set for TranslatedSet {
    fn name(&self) -> &str {
        "translate"
    }

    fn dim(&self) -> usize {
        self.shift.len()
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn has_checked_oracle(&self) -> bool {
        true
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(TranslatedOracle {
            inner: oracle_of(&*self.inner),
            shift: self.shift.clone(),
            atom: Atom::new(),
        })
    }

    fn centre(&self, out: &mut [f64]) {
        self.inner.centre(out);
        kernel::axpy(1.0, &self.shift, out);
    }

    fn polytope(&self) -> Option<Polytope> {
        let inner = self.inner.polytope()?;
        Some(Polytope {
            corners: None,
            ..inner
        })
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        let mut scratch = self.scratch.take();
        scratch.clear();
        scratch.extend(x.iter().zip(&*self.shift).map(|(x, s)| x - s));
        self.inner.violation(&scratch)
    }

    fn curvature(&self) -> Option<Curvature> {
        // measured from the centre, which moves along
        self.inner.curvature()
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(TranslatedProjection {
            inner: self.inner.projection()?,
            shift: self.shift.clone(),
        }))
    }

    fn smooth(&self) -> Option<Box<dyn SmoothConstraint>> {
        Some(Box::new(TranslatedConstraint {
            inner: self.inner.smooth()?,
            shift: self.shift.clone(),
            back: vec![0.0; self.shift.len()],
        }))
    }

    fn fingerprint(&self) -> u64 {
        Fingerprint::new("translate")
            .with_numbers(&self.shift)
            .with_part(self.inner.fingerprint())
            .value()
    }
}

struct TranslatedOracle {
    inner: Box<dyn Oracle>,
    shift: Arc<[f64]>,
    atom: Atom,
}

impl Oracle for TranslatedOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<f64> {
        self.inner.minimise(direction, &mut self.atom)?;
        let v = atom.dense_mut(self.shift.len());
        v.copy_from_slice(&self.shift);
        self.atom.add_to(1.0, v);
        Ok(atom.dot(direction))
    }

    fn save(&self) -> Vec<f64> {
        self.inner.save()
    }

    fn load(&mut self, saved: &[f64]) -> Result<()> {
        self.inner.load(saved)
    }
}

struct TranslatedConstraint {
    inner: Box<dyn SmoothConstraint>,
    shift: Arc<[f64]>,
    /// x − s
    back: Vec<f64>,
}

impl TranslatedConstraint {
    fn move_back(&mut self, x: &[f64]) {
        for ((back, x), s) in self.back.iter_mut().zip(x).zip(&*self.shift) {
            *back = x - s;
        }
    }
}

impl SmoothConstraint for TranslatedConstraint {
    fn value(&mut self, x: &[f64]) -> f64 {
        self.move_back(x);
        self.inner.value(&self.back)
    }

    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        self.move_back(x);
        self.inner.gradient(&self.back, out);
    }

    fn curvature(&self) -> f64 {
        self.inner.curvature()
    }
}

struct TranslatedProjection {
    inner: Box<dyn Projection>,
    shift: Arc<[f64]>,
}

impl Projection for TranslatedProjection {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        check_point(self.shift.len(), x)?;
        kernel::axpy(-1.0, &self.shift, x);
        self.inner.project(x)?;
        kernel::axpy(1.0, &self.shift, x);
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
