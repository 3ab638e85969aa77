//! The ball {‖x‖_p ≤ r} for 1 < p < ∞. It is strongly convex for p ≤ 2, and uniformly convex for
//! larger p.

use std::sync::Arc;

use super::{
    Atom, Curvature, CurvatureKind, Facts, Geometry, MakeSet, Minimum, Oracle, Projection, Set,
    SharedSet, SmoothConstraint, Structure, check_direction, check_point, check_radius, larger,
    settle_dim,
};
use crate::Result;
use crate::kernel::{self, Exponent};
use crate::parameter::fields;
use crate::range::{FAR, SMALLEST_DIRECTION};
use crate::spec::{About, Described, Kind};

fields! {
    /// Spec of [`LpBall`].
    pub struct Lp {
        /// the norm's exponent; use the set l1 for p = 1 and hypercube for p = ∞
        pub p: f64 => Kind::above(1.0),
        /// the radius
        pub radius: f64 = 1.0 => Kind::SIZE,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for Lp {
    const ABOUT: About = About {
        summary: "ball of the ℓp norm, 1 < p < ∞",
        cost: "oracle O(d); projection O(d), with a few dozen powers per entry",
        guarantee: "p ≤ 2: D = 2r, strong-convexity constant (p−1)·d^(1/2−1/p)/r; p > 2: D = 2r·d^(1/2−1/p), uniformly convex",
        reference: "Garber & Hazan, ICML 2015",
        citations: &[],
        examples: &[
            "lp:p=1.5",
            "lp:p=1.1",
            "lp:p=1.3,radius=5",
            "lp:p=2",
            "lp:p=3",
            "lp:p=20",
        ],
    };
}

impl MakeSet for Lp {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("lp", self.dim, dim)?;
        Ok(Arc::new(LpBall::new(dim, self.p, self.radius)?))
    }
}

/// {‖x‖_p ≤ radius}.
#[derive(Debug, Clone, Copy)]
pub struct LpBall {
    pub(super) dim: usize,
    pub(super) p: f64,
    pub(super) radius: f64,
}

impl LpBall {
    /// The ball around 0.
    pub fn new(dim: usize, p: f64, radius: f64) -> Result<Self> {
        Ok(Self {
            dim: settle_dim("lp", Some(dim), None)?,
            p: Kind::above(1.0).admit("lp", "p", p)?,
            radius: check_radius("lp", "radius", radius)?,
        })
    }

    /// d^(1/2 − 1/p). It is at most 1 for p ≤ 2, and at least 1 for p ≥ 2.
    fn factor(&self) -> f64 {
        (self.dim as f64).powf(0.5 - 1.0 / self.p)
    }

    /// The curvature of the support function. Unlike the strong-convexity constant, this curvature does
    /// not depend on the dimension.
    pub(super) fn curvature(&self) -> Curvature {
        let Self { p, radius, .. } = *self;
        let (q, width) = (p / (p - 1.0), 2.0 * radius);
        if p <= 2.0 {
            return Curvature::smooth(radius * radius / (p - 1.0), q, width);
        }
        Curvature {
            kind: CurvatureKind::Uniform { q, radius },
            gradient_norm: q,
            width,
        }
    }

    fn gauge_of(&self, x: &[f64]) -> f64 {
        norm_p(x, self.p) / self.radius
    }
}

/// ‖x‖_p, computed with entries that are divided by the largest entry. p may be ∞.
pub(crate) fn norm_p(x: &[f64], p: f64) -> f64 {
    let top = kernel::max_abs(x);
    if !(top >= SMALLEST_DIRECTION && top.is_finite() && p.is_finite()) {
        return largest(x.iter().copied());
    }
    top * kernel::power_sum(x, 1.0 / top, Exponent::from(p)).powf(1.0 / p)
}

/// The same norm for 1 ≤ p < ∞, of entries that an iterator computes.
pub(crate) fn norm_of(p: f64, entries: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = largest(entries.clone());
    if !(top > 0.0 && top.is_finite()) {
        return top;
    }
    let sizes = entries.map(|v| v.abs() / top);
    match p {
        1.0 => top * sizes.sum::<f64>(),
        2.0 => top * sizes.map(|t| t * t).sum::<f64>().sqrt(),
        p => top * sizes.map(|t| t.powf(p)).sum::<f64>().powf(1.0 / p),
    }
}

/// The largest absolute value of an entry. It is NaN if an entry is NaN.
fn largest(entries: impl Iterator<Item = f64>) -> f64 {
    entries.fold(0.0, |top, v| larger(top, v.abs()))
}

impl Set for LpBall {
    fn name(&self) -> &str {
        "lp"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn geometry(&self) -> Geometry {
        let Self { p, radius, .. } = *self;
        let factor = self.factor();
        Geometry {
            diameter: 2.0 * radius * factor.max(1.0),
            norm_bound: radius * factor.max(1.0),
            inner_radius: Some(radius * factor.min(1.0)),
            strong_convexity: (p <= 2.0).then(|| (p - 1.0) * factor / radius),
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            structure: Structure::ball(self.p, self.radius),
            curvature: Some(self.curvature()),
            gauge: true,
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(*self)
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        Some(self.gauge_of(x))
    }

    /// s_i = sgn(x_i)(|x_i|/‖x‖_p)^(p−1)/r.
    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let Self { p, radius, .. } = *self;
        let top = kernel::max_abs(x);
        let gauge = self.gauge_of(x);
        if !(top >= SMALLEST_DIRECTION && gauge.is_finite()) {
            out.fill(0.0);
            return Some(gauge);
        }
        let sum = kernel::power_map(x, 1.0 / top, Exponent::from(p - 1.0), out);
        let factor = 1.0 / sum.powf((p - 1.0) / p) / radius;
        out.iter_mut().for_each(|v| *v *= factor);
        Some(gauge)
    }

    fn grown(&self, dim: usize) -> Option<SharedSet> {
        (self.p <= 2.0).then(|| Arc::new(Self { dim, ..*self }) as SharedSet)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(LpProjection {
            ball: *self,
            size: Vec::with_capacity(self.dim),
            moved: vec![0.0; self.dim],
        }))
    }

    fn smooth(&self) -> Option<Box<dyn SmoothConstraint>> {
        (self.p >= 2.0).then(|| Box::new(*self) as Box<dyn SmoothConstraint>)
    }
}

/// h = ‖x/r‖_p² − 1, which is smooth for p ≥ 2 only.
impl SmoothConstraint for LpBall {
    fn value(&mut self, x: &[f64]) -> f64 {
        let level = self.gauge_of(x);
        (level - 1.0) * (level + 1.0)
    }

    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        let top = kernel::max_abs(x).max(SMALLEST_DIRECTION);
        kernel::power_map(x, 1.0 / top, Exponent::from(self.p - 1.0), out);
    }

    /// ‖·‖_p² is 2(p−1)-smooth in the ℓp norm, and the ℓp norm is at most the ℓ2 norm. On the boundary
    /// the gradient of ‖·‖_p² has the ℓ_q norm 2r, and therefore an ℓ2 norm of at least 2r·d^(1/p − 1/2).
    fn curvature(&self) -> f64 {
        (self.p - 1.0) * self.factor() / self.radius
    }
}

impl Oracle for LpBall {
    /// v_i = −r·sgn(d_i)|d_i|^(q−1)/‖d‖_q^(q−1). The direction d is first divided by its largest
    /// entry: powers of small numbers would underflow, and the atom would be wrong.
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        check_direction(self.dim, direction)?;
        let Self { dim, p, radius } = *self;
        let top = kernel::max_abs(direction);
        if top < SMALLEST_DIRECTION {
            atom.set_coordinate(0, radius);
            return Ok(Minimum::exact(0.0));
        }
        let exponent = Exponent::from(1.0 / (p - 1.0));
        let v = atom.dense_mut(dim);
        let sum = kernel::power_map(direction, 1.0 / top, exponent, v);
        let kappa = -radius / sum.powf(1.0 / p);
        v.iter_mut().for_each(|v| *v *= kappa);
        Ok(Minimum::exact(kappa * sum * top))
    }
}

/// The projection onto an ℓp ball. The projection solves x_i + m·x_i^(p−1) = |y_i| for every coordinate,
/// with the m for which the point lies on the sphere. Each Newton step for m contains a Newton iteration
/// for each x_i. The equations for m and for x_i are convex, so that Newton's method converges from one
/// side.
struct LpProjection {
    ball: LpBall,
    size: Vec<f64>,
    moved: Vec<f64>,
}

impl LpProjection {
    /// Writes the solutions for the multiplier m into `moved`. Returns Σ z^p − 1 and its derivative
    /// in m.
    fn excess(&mut self, m: f64) -> (f64, f64) {
        let p = self.ball.p;
        let (mut sum, mut slope) = (-1.0, 0.0);
        for (z, &a) in self.moved.iter_mut().zip(&self.size) {
            *z = coordinate(a, m, p);
            if *z > 0.0 {
                let power = z.powf(p - 1.0);
                sum += power * *z;
                slope -= p * power * power / (1.0 + m * (p - 1.0) * power / *z);
            }
        }
        (sum, slope)
    }
}

/// The solution z ≥ 0 of z + m·z^(p−1) = a.
fn coordinate(a: f64, m: f64, p: f64) -> f64 {
    if a == 0.0 || m == 0.0 {
        return a;
    }
    if p == 1.5 {
        let half = 0.5 * m;
        let root = a / (half + half.hypot(a.sqrt()));
        return root * root;
    }
    // The unknown is u = z^(p−1) for p < 2, and z for p ≥ 2. In both cases the equation is convex and
    // increasing.
    let (inner, outer, e) = if p < 2.0 {
        (m, 1.0, 1.0 / (p - 1.0))
    } else {
        (1.0, m, p - 1.0)
    };
    let mut u = (a / inner).min((a / outer).powf(1.0 / e));
    for _ in 0..60 {
        let power = u.powf(e - 1.0);
        let value = inner * u + outer * power * u - a;
        let next = u - value / (inner + outer * e * power);
        if !(next < u) {
            break;
        }
        u = next.max(0.0);
    }
    if p < 2.0 { u.powf(1.0 / (p - 1.0)) } else { u }
}

impl Projection for LpProjection {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        check_point(self.ball.dim, x)?;
        let radius = self.ball.radius;
        if self.ball.gauge_of(x) <= 1.0 {
            return Ok(());
        }
        // Points that are farther away are moved closer: only their direction matters, and powers would
        // overflow.
        let top = kernel::max_abs(x);
        let reach = (top / radius).min(FAR);
        self.size.clear();
        self.size.extend(x.iter().map(|v| (v.abs() / top) * reach));
        // z ≤ (a/m)^(1/(p−1)), so that the m of the solution is at most ‖a‖_q.
        let p = self.ball.p;
        let (mut low, mut high) = (0.0, norm_p(&self.size, p / (p - 1.0)));
        let mut m = 0.5 * high;
        for _ in 0..200 {
            let (excess, slope) = self.excess(m);
            if excess > 0.0 {
                low = m
            } else {
                high = m
            }
            if excess.abs() <= 1e-14 || high - low <= 1e-15 * high {
                break;
            }
            let newton = m - excess / slope;
            m = if newton > low && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
        }
        // Scaling removes the remaining error of the iteration, so that the point lies inside.
        let norm = norm_p(&self.moved, self.ball.p);
        let scale = radius / norm.max(1.0);
        for (x, z) in x.iter_mut().zip(&self.moved) {
            *x = (z * scale).copysign(*x);
        }
        Ok(())
    }
}
