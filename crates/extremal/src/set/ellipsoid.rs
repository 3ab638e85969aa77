//! The ellipsoid {(x − c)ᵀA⁻¹(x − c) ≤ 1}: the image of a ball under an affine map. The ellipsoid is
//! given by its semi-axes along the coordinates, or by A.
//!
//! ```
//! use extremal::set::{Atom, Set, ellipsoid::EllipsoidSet};
//! let set = EllipsoidSet::with_matrix(&[vec![2.0, 1.0], vec![1.0, 3.0]], &[0.0, 0.0])?;
//! // min ⟨d, x⟩ = −√(dᵀAd)
//! let found = set.oracle().minimise(&[1.0, 1.0], &mut Atom::new())?;
//! assert!((found.value + 7f64.sqrt()).abs() < 1e-14);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::sync::Arc;

use super::boxes::Bound;
use super::identity::Fingerprint;
use super::{
    Atom, Curvature, Facts, Geometry, MakeSet, Minimum, Oracle, Projection, Set, SharedSet,
    SmoothConstraint, check_direction, check_len, check_point, check_radius, excess, settle_dim,
};
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};
use crate::{Error, Result, kernel, range};

fields! {
    /// Spec of [`EllipsoidSet`].
    pub struct Ellipsoid {
        /// the semi-axes along the coordinates; the longest is at most 1e8 times the shortest;
        /// default: 1
        pub axes: Option<Bound> = None => Kind::Each(&Kind::SIZE),
        /// the rows of a symmetric positive definite A, given instead of axes; the longest semi-axis is
        /// at most 1e5 times the shortest
        pub matrix: Option<Vec<Vec<f64>>> = None => Kind::MATRIX,
        /// the centre c, up to ±1e6 semi-axes
        pub centre: Bound = Bound::All(0.0) => Kind::Each(&Kind::NUMBER),
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for Ellipsoid {
    const ABOUT: About = About {
        summary: "ellipsoid (x − c)ᵀA⁻¹(x − c) ≤ 1, given by its semi-axes or by A",
        cost: "oracle O(d), or O(d²) with a matrix; projection: a few iterations, each as costly as the oracle",
        guarantee: "D = 2·a_max, strong-convexity constant a_min/a_max², where a are the semi-axes",
        reference: "Journée et al., JMLR 2010 (strong-convexity constant)",
        citations: &[],
        examples: &[
            "ellipsoid",
            "ellipsoid:axes=2,centre=0.5",
            "ellipsoid:axes=[1,2,0.5,3,1,0.2,1,1.5,4,1]",
            "ellipsoid:matrix=[[2,1,0.5],[1,3,-1],[0.5,-1,1]],centre=[1,0,-2]",
            "ellipsoid:matrix=[[2,1],[1,3]]",
        ],
    };
}

impl MakeSet for Ellipsoid {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let axes_len = self.axes.as_ref().and_then(Bound::len);
        let own = self.matrix.as_ref().map(Vec::len).or(axes_len);
        let dim = settle_dim("ellipsoid", self.dim.or(own).or(self.centre.len()), dim)?;
        check_len("matrix", dim, self.matrix.as_ref().map_or(dim, Vec::len))?;
        let centre = self.centre.expand("centre", dim)?;
        let axes = self.axes.as_ref().unwrap_or(&Bound::All(1.0));
        let axes = axes.expand("axes", dim)?;
        Ok(Arc::new(match &self.matrix {
            None => EllipsoidSet::with_axes(&axes, &centre)?,
            Some(matrix) if self.axes.is_none() => EllipsoidSet::with_matrix(matrix, &centre)?,
            Some(_) => {
                let allowed = "absent if matrix is given";
                return Err(Error::parameter("ellipsoid", "axes", axes[0], allowed));
            }
        }))
    }
}

/// {(x − centre)ᵀA⁻¹(x − centre) ≤ 1}.
#[derive(Debug, Clone)]
pub struct EllipsoidSet {
    shape: Arc<Shape>,
}

#[derive(Debug)]
struct Shape {
    axes: Vec<f64>,
    longest: f64,
    centre: Vec<f64>,
    /// The directions of the axes, one after the other. The list is `None` if the axes are parallel
    /// to the coordinates.
    frame: Option<Vec<f64>>,
    /// The centre's coordinates along the axes.
    offset: Vec<f64>,
    /// The distance of the centre from 0, with each coordinate divided by its semi-axis. The point 0 is
    /// inside the ellipsoid if `reach` is below 1.
    reach: f64,
    geometry: Geometry,
}

/// Beyond these limits, rounding errors would move points out of the set. A coordinate along a short axis
/// is only as exact as the centre's coordinate. If the axes are rotated, this coordinate is only as exact
/// as the coordinates along the longer axes.
const FARTHEST_CENTRE: f64 = 1e6;
const LARGEST_RATIO: f64 = 1e8;
const LARGEST_TURNED_RATIO: f64 = 1e5;

impl EllipsoidSet {
    /// The ellipsoid Σ ((x_i − centre_i)/axes_i)² ≤ 1.
    pub fn with_axes(axes: &[f64], centre: &[f64]) -> Result<Self> {
        settle_dim("ellipsoid", Some(axes.len()), None)?;
        for &axis in axes {
            check_radius("ellipsoid", "axes", axis)?;
        }
        let ratio = kernel::max(axes) / kernel::min(axes);
        if ratio > LARGEST_RATIO {
            let value = format!("… with a ratio of {ratio:e}");
            let allowed = "such that the longest is at most 1e8 times the shortest";
            return Err(Error::parameter("ellipsoid", "axes", value, allowed));
        }
        Self::new(axes.to_vec(), None, centre)
    }

    /// The ellipsoid (x − centre)ᵀA⁻¹(x − centre) ≤ 1, where `rows` are the rows of a symmetric and
    /// positive definite A.
    pub fn with_matrix(rows: &[Vec<f64>], centre: &[f64]) -> Result<Self> {
        let n = settle_dim("ellipsoid", Some(rows.len()), None)?;
        let refused = |value: String| {
            let allowed = "symmetric and positive definite, with semi-axes from 1e-50 to 1e50, the longest at most 1e5 times the shortest";
            Error::parameter("ellipsoid", "matrix", value, allowed)
        };
        for row in rows {
            check_len("a row of matrix", n, row.len())?;
        }
        let a = kernel::symmetric(rows).map_err(|(i, j)| {
            let (here, there) = (rows[i][j], rows[j][i]);
            refused(format!("… with {here} in row {i} and {there} in row {j}"))
        })?;
        let indefinite = || refused("… that is not positive definite".into());
        let axes = kernel::principal_axes(n, &a).ok_or_else(indefinite)?;
        let (short, long) = (kernel::min(&axes.lengths), kernel::max(&axes.lengths));
        let fits = |axis| check_radius("ellipsoid", "matrix", axis).is_ok();
        if !(fits(short) && fits(long) && long / short <= LARGEST_TURNED_RATIO) {
            let value = format!("… with semi-axes from {short:e} to {long:e}");
            return Err(refused(value));
        }
        Self::new(axes.lengths, Some(axes.directions), centre)
    }

    fn new(axes: Vec<f64>, frame: Option<Vec<f64>>, centre: &[f64]) -> Result<Self> {
        check_len("centre", axes.len(), centre.len())?;
        let (short, long) = (kernel::min(&axes), kernel::max(&axes));
        for (c, axis) in centre.iter().zip(&axes) {
            let axis = if frame.is_some() { short } else { *axis };
            if !(c.abs() <= FARTHEST_CENTRE * axis) {
                let allowed = "at most 1e6 semi-axes in size";
                return Err(Error::parameter("ellipsoid", "centre", c, allowed));
            }
        }
        let mut shape = Shape {
            longest: long,
            offset: centre.to_vec(),
            reach: 0.0,
            centre: centre.to_vec(),
            geometry: Geometry {
                diameter: 2.0 * long,
                norm_bound: long,
                inner_radius: Some(short),
                strong_convexity: Some(short / long / long),
            },
            axes,
            frame,
        };
        shape.offset = (0..centre.len()).map(|i| shape.along(i, centre)).collect();
        shape.reach = length(shape.offset.iter().zip(&shape.axes).map(|(c, a)| c / a));
        shape.geometry.norm_bound = shape.norm_bound();
        Ok(Self {
            shape: Arc::new(shape),
        })
    }
}

/// √Σv², where each value v is computed when it is needed and is not stored.
fn length(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}

impl Shape {
    fn dim(&self) -> usize {
        self.axes.len()
    }

    /// ⟨x, the direction of the i-th axis⟩.
    fn along(&self, i: usize, x: &[f64]) -> f64 {
        match &self.frame {
            None => x[i],
            Some(frame) => kernel::dot(&frame[i * x.len()..][..x.len()], x),
        }
    }

    /// out += Σ u_i·(the direction of the i-th axis).
    fn add(&self, u: impl Iterator<Item = f64>, out: &mut [f64]) {
        for (i, u) in u.enumerate() {
            match &self.frame {
                None => out[i] += u,
                Some(frame) => kernel::axpy(u, &frame[i * out.len()..][..out.len()], out),
            }
        }
    }

    /// Writes the point whose coordinates along the axes, relative to the centre, are u.
    fn write(&self, u: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.centre);
        self.add(u.iter().copied(), out);
    }

    /// √((x − c)ᵀA⁻¹(x − c)).
    fn level(&self, x: &[f64]) -> f64 {
        length((0..x.len()).map(|i| (self.along(i, x) - self.offset[i]) / self.axes[i]))
    }

    /// max ‖c + au‖ over ‖u‖ ≤ 1, where c is the centre along the axes and all lengths are in units of
    /// the longest semi-axis. By duality this maximum is the minimum of μ + Σ c²μ/(μ − a²) over μ ≥
    /// a_max², and the best u is ac/(μ − a²). Any μ gives an upper bound.
    fn norm_bound(&self) -> f64 {
        let pairs = self.offset.iter().zip(&self.axes);
        let terms = pairs.map(|(c, a)| (c / self.longest, a / self.longest));
        // a tiny c adds nothing, and the term of a tiny c could divide 0 by 0
        let terms = || terms.clone().filter(|(c, _)| c * c > 0.0);
        let gap = |nu: f64, a: f64| nu + (1.0 - a) * (1.0 + a);
        // ν = μ − 1 is the number with ‖u‖ = 1, or 0 if ‖u‖ < 1 for every ν > 0
        let (mut low, mut high) = (0.0, length(terms().map(|(c, a)| a * c)));
        for _ in 0..300 {
            let nu = 0.5 * (low + high);
            let u = terms().map(|(c, a)| a * c / gap(nu, a));
            if length(u) > 1.0 {
                low = nu;
            } else {
                high = nu;
            }
        }
        let mu = 1.0 + high;
        let rest: f64 = terms().map(|(c, a)| c * c * mu / gap(high, a)).sum();
        self.longest * (mu + rest).sqrt()
    }
}

impl Set for EllipsoidSet {
    fn name(&self) -> &str {
        "ellipsoid"
    }

    fn dim(&self) -> usize {
        self.shape.dim()
    }

    fn geometry(&self) -> Geometry {
        self.shape.geometry
    }

    fn facts(&self) -> Facts {
        // If the centre is moved to 0, then h² = dᵀAd. The curvature is therefore at most that of the
        // ball whose radius is the longest axis.
        Facts {
            curvature: Some(Curvature::euclidean(self.shape.longest)),
            gauge: self.shape.reach < 1.0,
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(Worker::new(&self.shape))
    }

    fn centre(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.shape.centre);
    }

    fn fingerprint(&self) -> u64 {
        let shape = &*self.shape;
        Fingerprint::new("ellipsoid")
            .with_numbers(&shape.centre)
            .with_numbers(&shape.axes)
            .with_numbers(shape.frame.as_deref().unwrap_or(&[]))
            .value()
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        Some(excess(self.shape.level(x)))
    }

    /// The gauge s solves N(x/s − c) = 1, where N is the norm whose unit ball is the centred
    /// ellipsoid.
    fn gauge(&self, x: &[f64]) -> Option<f64> {
        let Shape { axes, reach, .. } = &*self.shape;
        if !(*reach < 1.0) {
            return None;
        }
        let point = || (0..x.len()).map(|i| self.shape.along(i, x) / axes[i]);
        let size = length(point());
        if size == 0.0 {
            return Some(0.0);
        }
        let inside = (1.0 - reach) * (1.0 + reach);
        let centre = self.shape.offset.iter().zip(axes).map(|(c, a)| c / a);
        let cosine: f64 = point().zip(centre).map(|(x, c)| x / size * c).sum();
        let root = (cosine * cosine + inside).sqrt();
        Some(if cosine >= 0.0 {
            size / (cosine + root)
        } else {
            size * (root - cosine) / inside
        })
    }

    /// s = n/⟨n, p⟩, where p = x/gauge is on the surface and n = A⁻¹(p − c) is the normal at p.
    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let gauge = self.gauge(x)?;
        out.fill(0.0);
        if !(gauge > 0.0 && gauge.is_finite()) {
            return Some(gauge);
        }
        let Shape { axes, offset, .. } = &*self.shape;
        // the coordinates of p and of p − c along an axis, in units of the semi-axis
        let part = |i: usize| {
            let p = self.shape.along(i, x) / gauge;
            (p / axes[i], (p - offset[i]) / axes[i])
        };
        let along: f64 = (0..axes.len()).map(part).map(|(p, u)| p * u).sum();
        let normal = axes.iter().enumerate();
        self.shape
            .add(normal.map(|(i, axis)| part(i).1 / along / axis), out);
        Some(gauge)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(Worker::new(&self.shape)))
    }

    fn smooth(&self) -> Option<Box<dyn SmoothConstraint>> {
        Some(Box::new(Worker::new(&self.shape)))
    }
}

/// The oracle, the projection and the smooth constraint, with their memory.
struct Worker {
    shape: Arc<Shape>,
    /// A point relative to the centre, divided by its largest entry.
    unit: Vec<f64>,
    /// Coordinates along the axes.
    along: Vec<f64>,
}

impl Worker {
    fn new(shape: &Arc<Shape>) -> Self {
        Self {
            shape: shape.clone(),
            unit: vec![0.0; shape.dim()],
            along: vec![0.0; shape.dim()],
        }
    }
}

impl Oracle for Worker {
    /// c − Ad/√(dᵀAd).
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        let shape = &*self.shape;
        check_direction(shape.dim(), direction)?;
        for (i, w) in self.along.iter_mut().enumerate() {
            // In units of the longest axis, only negligible entries can underflow.
            *w = shape.along(i, direction) * (shape.axes[i] / shape.longest);
        }
        let norm = kernel::norm(&self.along);
        if norm < f64::MIN_POSITIVE {
            // every point is a minimiser
            self.along.fill(0.0);
            self.along[0] = -f64::MIN_POSITIVE;
        }
        let length = norm.max(f64::MIN_POSITIVE);
        for (w, axis) in self.along.iter_mut().zip(&shape.axes) {
            *w = *w / length * -axis;
        }
        shape.write(&self.along, atom.dense_mut(shape.dim()));
        let middle = kernel::dot(direction, &shape.centre);
        Ok(Minimum::exact(middle - norm * shape.longest))
    }
}

/// h = (x − c)ᵀA⁻¹(x − c) − 1.
impl SmoothConstraint for Worker {
    fn value(&mut self, x: &[f64]) -> f64 {
        let level = self.shape.level(x);
        (level - 1.0) * (level + 1.0)
    }

    /// A⁻¹(x − c), with its coordinates along the axes in units of the shortest axis.
    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        let shape = &*self.shape;
        let short = kernel::min(&shape.axes);
        out.fill(0.0);
        let part = |(i, axis): (usize, &f64)| {
            (shape.along(i, x) - shape.offset[i]) / axis * (short / axis)
        };
        shape.add(shape.axes.iter().enumerate().map(part), out);
    }

    /// β = 2/a_min², and ‖∇h‖ is at least 2/a_max on the boundary.
    fn curvature(&self) -> f64 {
        let short = kernel::min(&self.shape.axes);
        self.shape.longest / short / short
    }
}

impl Projection for Worker {
    /// Let y be the coordinates of the point along the axes. Then u_i = a_i·y_i/(a_i² + m), where m is
    /// such that ‖u‖ = 1. As a function of m, 1/‖u‖ is concave and nearly linear. Newton's method
    /// therefore converges from the left in a few steps.
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        let shape = &*self.shape;
        check_point(shape.dim(), x)?;
        if shape.level(x) <= 1.0 {
            return Ok(());
        }
        for (u, (x, c)) in self.unit.iter_mut().zip(x.iter().zip(&shape.centre)) {
            *u = x - c;
        }
        let top = kernel::max_abs(&self.unit);
        self.unit.iter_mut().for_each(|u| *u /= top);
        // all lengths are in units of the longest axis
        let reach = (top / shape.longest).min(range::FAR);
        let relative = |i: usize| shape.axes[i] / shape.longest;
        for (i, w) in self.along.iter_mut().enumerate() {
            *w = shape.along(i, &self.unit) * reach * relative(i);
        }
        let mut m = (kernel::norm(&self.along) - 1.0).max(0.0);
        for _ in 0..100 {
            let (mut square, mut slope) = (0.0, 0.0);
            for (i, w) in self.along.iter().enumerate() {
                let below = relative(i) * relative(i) + m;
                let u = w / below;
                square += u * u;
                slope += u * u / below;
            }
            let next = m + square / slope * (square.sqrt() - 1.0);
            if !(next > m) {
                break;
            }
            m = next;
        }
        for (i, w) in self.along.iter_mut().enumerate() {
            *w /= relative(i) * relative(i) + m;
        }
        let norm = kernel::norm(&self.along).max(1.0);
        for (w, axis) in self.along.iter_mut().zip(&shape.axes) {
            *w *= axis / norm;
        }
        shape.write(&self.along, x);
        Ok(())
    }
}
