//! Affine images of a set K: τK (`scale`), K + s (`translate`) and MK with an invertible matrix M
//! (`image`). Together these maps give MK + b: `translate:by=[…],set=(image:matrix=[…],set=(…))`. A
//! scaled ball is a ball, so that learners can use the fast algorithms for balls.
//!
//! ```
//! use extremal::SetSpec;
//! let set = "scale:by=2,set=(lp:p=1.5,dim=3)".parse::<SetSpec>()?.build(None)?;
//! assert_eq!(set.geometry().diameter, 4.0);
//! let set = "translate:by=[1,-1],set=(l2:radius=0.5)".parse::<SetSpec>()?.build(None)?;
//! assert_eq!(set.violation(&[1.5, -1.0]), Some(0.0));
//! assert!(set.violation(&[0.0, 0.0]).unwrap() > 1.0);
//! // an ellipse
//! let set = "image:matrix=[[2,0],[0,1]],set=(l2)".parse::<SetSpec>()?.build(None)?;
//! assert_eq!(set.violation(&[2.0, 0.0]), Some(0.0));
//! assert!(set.violation(&[0.0, 2.0]).unwrap() > 0.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::sync::Arc;

use super::boxes::Bound;
use super::identity::Fingerprint;
use super::{
    Atom, Curvature, CurvatureKind, Facts, Geometry, Inspector, MakeSet, Minimum, Oracle, Polytope,
    Projection, Set, SetSpec, SharedSet, SmoothConstraint, SparseAtoms, Structure, centre_of,
    check_direction, check_len, check_numbers, check_point, check_radius, inspector_of, oracle_of,
    settle_dim,
};
use crate::kernel::{self, Singular};
use crate::parameter::fields;
use crate::set::composite::check_size;
use crate::spec::{About, Described, Kind};
use crate::{Error, Result};

fields! {
    /// Spec of τK.
    pub struct Scale {
        /// the factor τ
        pub by: f64 => Kind::SIZE,
        /// the set to transform
        pub set: Box<SetSpec> => Kind::Spec("set"),
    }
}

fields! {
    /// Spec of K + s.
    pub struct Translate {
        /// the translation s: one number for all coordinates, or a list; ‖s‖₁ is at most the larger
        /// of the set's largest norm and 10³ diameters
        pub by: Bound => Kind::Each(&Kind::NUMBER),
        /// the set to transform
        pub set: Box<SetSpec> => Kind::Spec("set"),
    }
}

fields! {
    /// Spec of MK.
    pub struct Image {
        /// the rows of the square matrix M; its condition number is at most 10⁵
        pub matrix: Vec<Vec<f64>> => Kind::MATRIX,
        /// the set to transform
        pub set: Box<SetSpec> => Kind::Spec("set"),
    }
}

impl Described for Scale {
    const ABOUT: About = About {
        summary: "a set scaled by a factor",
        cost: "the set's cost",
        guarantee: "D = τ·D_K, strong-convexity constant α_K/τ",
        reference: "textbook",
        citations: &[],
        examples: &["scale:by=3,set=(l2)", "scale:by=0.5,set=(box:lower=0)"],
    };
}

impl Described for Translate {
    const ABOUT: About = About {
        summary: "a translated set",
        cost: "the set's cost plus O(d); atoms are dense",
        guarantee: "D, α and curvature are those of the set; max ‖x‖ ≤ √(R² + 2·max⟨s, x⟩ + ‖s‖²)",
        reference: "textbook",
        citations: &[],
        examples: &[
            "translate:by=0.5,set=(l2:radius=2)",
            "translate:by=-1,set=(simplex)",
        ],
    };
}

impl Described for Image {
    const ABOUT: About = About {
        summary: "image of a set under an invertible matrix",
        cost: "the set's cost plus O(d²); O(d³) once, to build it",
        guarantee: "D ≤ σ_max·D_K, with equality if K is l2; strong-convexity constant α_K·σ_min/σ_max²",
        reference: "textbook; for ellipsoids Journée et al., JMLR 2010",
        citations: &[],
        examples: &[
            "image:matrix=[[2,1],[0,1]],set=(l2)",
            "image:matrix=[[0,3,0,0],[1,0,0,0],[0,0,2,1],[0,0,0,2]],set=(l2:radius=0.5)",
        ],
    };
}

impl MakeSet for Scale {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let inner = self.set.build(dim)?;
        Ok(Arc::new(AffineSet::scaled(inner, self.by)?))
    }
}

impl MakeSet for Translate {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let own = self.by.len();
        let own = own.map(|own| settle_dim("translate", Some(own), dim));
        let inner = self.set.build(own.transpose()?.or(dim))?;
        let shift = self.by.expand("by", inner.dim())?;
        Ok(Arc::new(AffineSet::translated(inner, &shift)?))
    }
}

impl MakeSet for Image {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("image", Some(self.matrix.len()), dim)?;
        for row in &self.matrix {
            check_len("row of the matrix of an image", dim, row.len())?;
        }
        let inner = self.set.build(Some(dim))?;
        Ok(Arc::new(AffineSet::image(inner, &self.matrix.concat())?))
    }
}

/// The largest ℓ1 norm of a translation, in diameters of the set. Points lose this factor in precision.
const FARTHEST: f64 = 1e3;

/// The largest condition number of the matrix. The inverse map may lose this factor in precision.
const WORST_CONDITION: f64 = 1e5;

/// The map from K to its image.
#[derive(Clone)]
enum Map {
    /// τx + s. `scale` has an empty s, and `translate` has τ = 1.
    Similar { by: f64, shift: Arc<[f64]> },
    /// Mx
    Linear(Arc<Matrix>),
}

struct Matrix {
    /// The matrix, row by row.
    entries: Vec<f64>,
    inverse: Vec<f64>,
    /// The largest singular value σ_max.
    stretch: f64,
}

/// out = the matrix times x.
fn multiply(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    for (out, row) in out.iter_mut().zip(matrix.chunks(x.len())) {
        *out = kernel::dot(row, x);
    }
}

impl Map {
    /// τ, if the map is x ↦ τx.
    fn factor(&self) -> Option<f64> {
        match self {
            Self::Similar { by, shift } if shift.is_empty() => Some(*by),
            _ => None,
        }
    }

    /// Writes the image of x into `out`.
    fn apply(&self, x: &[f64], out: &mut [f64]) {
        match self {
            Self::Similar { by, shift } => {
                out.iter_mut().zip(x).for_each(|(out, x)| *out = by * x);
                out.iter_mut().zip(&**shift).for_each(|(out, s)| *out += s);
            }
            Self::Linear(matrix) => multiply(&matrix.entries, x, out),
        }
    }

    /// Writes the point whose image is x into `out`.
    fn bring_back(&self, x: &[f64], out: &mut [f64]) {
        match self {
            Self::Similar { by, shift } => {
                out.copy_from_slice(x);
                out.iter_mut().zip(&**shift).for_each(|(out, s)| *out -= s);
                out.iter_mut().for_each(|v| *v /= by);
            }
            Self::Linear(matrix) => multiply(&matrix.inverse, x, out),
        }
    }

    /// The largest factor by which the map lengthens a difference of two points.
    fn stretch(&self) -> f64 {
        match self {
            Self::Similar { by, .. } => *by,
            Self::Linear(matrix) => matrix.stretch,
        }
    }
}

/// The image of a set under an affine map.
pub struct AffineSet {
    inner: SharedSet,
    map: Map,
    geometry: Geometry,
}

impl AffineSet {
    /// The set scaled by the factor `by`.
    pub fn scaled(inner: SharedSet, by: f64) -> Result<Self> {
        check_radius("scale", "by", by)?;
        let geometry = stretched(inner.geometry(), by, by);
        let geometry = check_size("scale", "by", by, geometry)?;
        Ok(Self::similar(inner, by, &[], geometry))
    }

    /// The set translated by `shift`.
    pub fn translated(inner: SharedSet, shift: &[f64]) -> Result<Self> {
        check_len("by", inner.dim(), shift.len())?;
        let own = inner.geometry();
        let most = own.norm_bound.max(FARTHEST * own.diameter);
        let far: f64 = shift.iter().map(|v| v.abs()).sum();
        if !(far <= most) {
            let value = format!("… with ‖by‖₁ = {far}");
            let allowed = "at most the larger of the set's largest norm and 10³ diameters, so that points keep their precision";
            return Err(Error::parameter("translate", "by", value, allowed));
        }
        let geometry = Geometry {
            norm_bound: moved_norm_bound(&*inner, shift)?,
            ..own
        };
        Ok(Self::similar(inner, 1.0, shift, geometry))
    }

    fn similar(inner: SharedSet, by: f64, shift: &[f64], geometry: Geometry) -> Self {
        let shift = shift.into();
        Self {
            inner,
            map: Map::Similar { by, shift },
            geometry,
        }
    }

    /// The image of a set under a square matrix, which is given row by row.
    pub fn image(inner: SharedSet, matrix: &[f64]) -> Result<Self> {
        let dim = inner.dim();
        check_len("matrix of an image", dim * dim, matrix.len())?;
        check_numbers("image", "matrix", matrix)?;
        let found: Singular = kernel::singular(dim, matrix);
        let (smallest, largest) = (found.smallest, found.largest);
        if !(smallest > 0.0 && largest <= WORST_CONDITION * smallest) {
            let value = format!("[…] with singular values from {smallest:e} to {largest:e}");
            let allowed = "an invertible matrix with a condition number of at most 1e5";
            return Err(Error::parameter("image", "matrix", value, allowed));
        }
        let geometry = stretched(inner.geometry(), largest, smallest);
        let geometry = check_size("image", "matrix", "[…]", geometry)?;
        let map = Map::Linear(Arc::new(Matrix {
            entries: matrix.into(),
            inverse: found.inverse,
            stretch: largest,
        }));
        Ok(Self {
            inner,
            map,
            geometry,
        })
    }

    fn curvature(&self) -> Option<Curvature> {
        let mut curvature = self.inner.curvature()?;
        let by = self.map.stretch();
        if let Map::Linear(_) = self.map {
            // h(g) = h_K(Mᵀg), and ‖Mᵀg‖_q ≤ ‖Mᵀg‖₂ ≤ σ_max‖g‖₂ for q ≥ 2
            let smooth = matches!(curvature.kind, CurvatureKind::Smooth { .. });
            if !smooth || curvature.gradient_norm < 2.0 {
                return None;
            }
            curvature.gradient_norm = 2.0;
        }
        match &mut curvature.kind {
            CurvatureKind::Smooth { l } => *l = by * (by * *l),
            CurvatureKind::Uniform { radius, .. } => *radius *= by,
        }
        curvature.width *= by;
        Some(curvature)
    }

    /// Wraps an oracle, a projection or a smooth constraint of the inner set. The result applies to the
    /// image.
    fn through<T: ?Sized>(&self, inner: Box<T>) -> Box<Through<T>> {
        Box::new(Through {
            inner,
            map: self.map.clone(),
            own: vec![0.0; self.dim()],
            atom: Atom::new(),
        })
    }
}

/// The constants of the image of a set. The map multiplies the length of each vector by a factor from
/// `least` to `most`.
fn stretched(own: Geometry, most: f64, least: f64) -> Geometry {
    Geometry {
        diameter: most * own.diameter,
        norm_bound: most * own.norm_bound,
        inner_radius: own.inner_radius.map(|r| least * r),
        strong_convexity: own.strong_convexity.map(|a| a * (least / most) / most),
    }
}

/// Bounds ‖x + s‖² = ‖x‖² + 2⟨s, x⟩ + ‖s‖² by the maximum of each term. The bound is exact if a
/// point of largest norm is also farthest along s, as in balls, simplices and symmetric boxes.
fn moved_norm_bound(inner: &dyn Set, shift: &[f64]) -> Result<f64> {
    let (radius, length) = (inner.geometry().norm_bound, kernel::norm(shift));
    if length == 0.0 {
        return Ok(radius);
    }
    let back: Vec<f64> = shift.iter().map(|v| -v / length).collect();
    let along = -oracle_of(inner).minimise(&back, &mut Atom::new())?.floor;
    let square = radius * radius + 2.0 * length * along + length * length;
    Ok(square.max(0.0).sqrt())
}

fn scaled_structure(by: f64, structure: Structure) -> Structure {
    match (structure, structure.as_ball()) {
        (_, Some((p, radius))) => Structure::ball(p, by * radius),
        (Structure::Sparse(atoms), _) => {
            let size = by * atoms.size;
            Structure::Sparse(SparseAtoms { size, ..atoms })
        }
        _ => Structure::General,
    }
}

impl Set for AffineSet {
    fn name(&self) -> &str {
        match self.map {
            Map::Linear(_) => "image",
            _ if self.map.factor().is_some() => "scale",
            _ => "translate",
        }
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn facts(&self) -> Facts {
        let own = self.inner.facts();
        let mut facts = Facts {
            // the curvature is relative to the centre, which the map also moves
            curvature: self.curvature(),
            ..Facts::of_parts([&*self.inner])
        };
        if let Map::Similar { by, shift } = &self.map {
            let corners = |(l, u)| shift.is_empty().then_some((by * l, by * u));
            facts.polytope = own.polytope.map(|p| Polytope {
                facial_distance: p.facial_distance.map(|distance| by * distance),
                corners: p.corners.and_then(corners),
            });
        }
        if let Some(by) = self.map.factor() {
            facts.structure = scaled_structure(by, own.structure);
            facts.gauge = own.gauge;
        }
        facts
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        self.through(oracle_of(&*self.inner))
    }

    fn centre(&self, out: &mut [f64]) {
        self.map.apply(&centre_of(&*self.inner), out);
    }

    fn inspector(&self) -> Option<Inspector> {
        let mut inspect = inspector_of(&self.inner);
        let (map, mut own) = (self.map.clone(), vec![0.0; self.dim()]);
        Some(Box::new(move |x| {
            map.bring_back(x, &mut own);
            inspect(&own)
        }))
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        match (&self.map, self.map.factor()) {
            (_, Some(by)) => self.inner.gauge(x).map(|gauge| gauge / by),
            (Map::Linear(_), _) => {
                let mut own = vec![0.0; x.len()];
                self.map.bring_back(x, &mut own);
                self.inner.gauge(&own)
            }
            _ => None,
        }
    }

    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let by = self.map.factor()?;
        let gauge = self.inner.gauge_gradient(x, out)?;
        out.iter_mut().for_each(|v| *v /= by);
        Some(gauge / by)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        match self.map {
            Map::Similar { .. } => Some(self.through(self.inner.projection()?)),
            Map::Linear(_) => None,
        }
    }

    fn smooth(&self) -> Option<Box<dyn SmoothConstraint>> {
        match self.map {
            Map::Similar { .. } => Some(self.through(self.inner.smooth()?)),
            Map::Linear(_) => None,
        }
    }

    fn grown(&self, dim: usize) -> Option<SharedSet> {
        let by = self.map.factor()?;
        Some(Arc::new(Self::scaled(self.inner.grown(dim)?, by).ok()?))
    }

    fn fingerprint(&self) -> u64 {
        let (by, numbers) = match &self.map {
            Map::Similar { by, shift } => (*by, &**shift),
            Map::Linear(matrix) => (1.0, &*matrix.entries),
        };
        Fingerprint::new(self.name())
            .with_numbers(&[by])
            .with_numbers(numbers)
            .with_part(self.inner.fingerprint())
            .value()
    }
}

/// An oracle, a projection or a smooth constraint of the inner set, applied to the image.
struct Through<T: ?Sized> {
    inner: Box<T>,
    map: Map,
    own: Vec<f64>,
    atom: Atom,
}

impl Oracle for Through<dyn Oracle> {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        let dim = self.own.len();
        let slack = match (&self.map, self.map.factor()) {
            (_, Some(by)) => {
                let found = self.inner.minimise(direction, atom)?;
                atom.scale(by);
                by * found.slack()
            }
            (Map::Similar { shift, .. }, None) => {
                let found = self.inner.minimise(direction, &mut self.atom)?;
                let v = atom.dense_mut(dim);
                v.copy_from_slice(shift);
                self.atom.add_to(1.0, v);
                found.slack()
            }
            (Map::Linear(matrix), None) => {
                check_direction(dim, direction)?;
                let top = kernel::max_abs(direction).max(f64::MIN_POSITIVE);
                // Mᵀ·direction. The direction is first divided by its largest entry, so that no product
                // with the matrix overflows or underflows.
                self.own.fill(0.0);
                for (row, d) in matrix.entries.chunks(dim).zip(direction) {
                    kernel::axpy(d / top, row, &mut self.own);
                }
                let found = self.inner.minimise(&self.own, &mut self.atom)?;
                self.atom.write(&mut self.own);
                multiply(&matrix.entries, &self.own, atom.dense_mut(dim));
                top * found.slack()
            }
        };
        // the value is computed from the atom, because τ times the inner set's value may underflow
        Ok(Minimum::within(atom.dot(direction), slack))
    }
}

impl SmoothConstraint for Through<dyn SmoothConstraint> {
    fn value(&mut self, x: &[f64]) -> f64 {
        self.map.bring_back(x, &mut self.own);
        self.inner.value(&self.own)
    }

    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        self.map.bring_back(x, &mut self.own);
        self.inner.gradient(&self.own, out);
    }

    fn curvature(&self) -> f64 {
        self.inner.curvature() / self.map.stretch()
    }
}

impl Projection for Through<dyn Projection> {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        check_point(self.own.len(), x)?;
        self.map.bring_back(x, &mut self.own);
        self.inner.project(&mut self.own)?;
        self.map.apply(&self.own, x);
        Ok(())
    }
}
