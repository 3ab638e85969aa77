//! Sets {x : h(x) ≤ 0} of a convex and smooth h, and a projection onto them that asks for nothing
//! but values and gradients of h: not the nearest point, but one that serves gradient descent
//! almost as well.

use super::{Set, centre_of};
use crate::{Error, Result, kernel};

/// h, of a set {x : h(x) ≤ 0}.
pub trait SmoothConstraint: Send + Sync {
    /// h(x), or another number of the same sign: at most 0 in the set and only there.
    fn value(&mut self, x: &[f64]) -> f64;

    /// Writes ∇h(x), or a positive multiple of it, into `out`.
    fn gradient(&mut self, x: &[f64], out: &mut [f64]);

    /// μ = β/min ‖∇h(x)‖, the minimum over the set's boundary, for a β-smooth h. The ball of
    /// radius r has 1/r.
    fn curvature(&self) -> f64;
}

/// How exact a point of the boundary need be, in parts of μ‖v‖².
const PRECISION: f64 = 1e-3;

/// The fast projection of Levy & Krause: z = Π̃(x + v) is a point of the set with
/// ‖z − u‖ ≤ ‖x + v − u‖ + μ‖v‖² for every other point u, where x is in the set and
/// ‖v‖ ≤ 1/(2μ).
///
/// A point outside is brought to the tangent plane where the way leaves the set, and from there
/// along the normal into the set. The plane brings it no farther from any u; the last step has at
/// most the length a with a = (μ/2)(‖v‖² + a²), which is 0.54·μ‖v‖², and the rest of μ‖v‖² makes
/// up for points of the boundary that are found by bisection.
///
/// ```
/// use extremal::set::{FastProjection, SetSpec};
/// let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
/// let mut x = [1.0, 0.0];
/// FastProjection::new(&*set)?.step(&mut x, &[0.1, 0.1]);
/// // the nearest point to (1.1, 0.1) is (0.996, 0.091)
/// assert!((x[0] - 0.995).abs() < 1e-3 && (x[1] - 0.1).abs() < 1e-3);
/// assert_eq!(set.violation(&x), Some(0.0));
/// # Ok::<(), extremal::Error>(())
/// ```
pub struct FastProjection {
    h: Box<dyn SmoothConstraint>,
    mu: f64,
    centre: Vec<f64>,
    way: Vec<f64>,
    /// The last point in the set.
    inside: Vec<f64>,
    /// The point under test.
    trial: Vec<f64>,
    normal: Vec<f64>,
    /// Where the way starts.
    origin: Vec<f64>,
}

impl FastProjection {
    /// The projection onto a set that has an h.
    pub fn new(set: &dyn Set) -> Result<Self> {
        let refused = |why: &str| Err(Error::Unsupported(format!("set {} {why}", set.name())));
        let Some(mut h) = set.smooth() else {
            return refused(
                "is not given as h(x) ≤ 0 with a smooth h; ogd and ofw-ls don't need h",
            );
        };
        let mu = h.curvature();
        if !(mu > 0.0 && mu.is_finite()) {
            return refused(&format!("has an h of curvature {mu}, not a number > 0"));
        }
        let centre = centre_of(set);
        if !(h.value(&centre) <= 0.0) {
            return refused("has an h above 0 at its centre");
        }
        let zeros = || vec![0.0; set.dim()];
        Ok(Self {
            mu,
            way: zeros(),
            inside: zeros(),
            trial: zeros(),
            normal: zeros(),
            origin: zeros(),
            centre,
            h,
        })
    }

    /// μ.
    pub fn curvature(&self) -> f64 {
        self.mu
    }

    /// Moves a point that is outside towards the centre, into the set.
    pub fn enter(&mut self, x: &mut [f64]) {
        if self.h.value(x) <= 0.0 {
            return;
        }
        add(x, -1.0, &self.centre, &mut self.way);
        self.inside.copy_from_slice(&self.centre);
        self.leave(f64::EPSILON);
        x.copy_from_slice(&self.inside);
    }

    /// x ← Π̃(x + v), v shortened to 1/(2μ) where it is longer. x comes to lie in the set, whatever
    /// it was.
    pub fn step(&mut self, x: &mut [f64], v: &[f64]) {
        self.enter(x);
        let most = 0.5 / self.mu;
        let length = kernel::norm(v);
        if !(length > 0.0 && length.is_finite()) {
            return;
        }
        let factor = (most / length).min(1.0);
        for (way, v) in self.way.iter_mut().zip(v) {
            *way = factor * v;
        }
        self.inside.copy_from_slice(x);
        let length = length.min(most);
        let share = self.leave((PRECISION * self.mu * length).max(f64::EPSILON));
        if share < 1.0 {
            self.slide(1.0 - share, PRECISION * self.mu * length * length);
        }
        x.copy_from_slice(&self.inside);
    }

    /// The largest s ≤ 1, up to a precision, for which `inside` + s·`way` is in the set. `inside`
    /// moves to that point.
    fn leave(&mut self, precision: f64) -> f64 {
        self.origin.copy_from_slice(&self.inside);
        if self.enters_at(1.0) {
            return 1.0;
        }
        self.bisect(0.0, 1.0, precision)
    }

    /// From a point of the boundary the rest of the way: along the tangent plane, then back into
    /// the set, to the nearest point up to a precision. Where none is found, which takes a wrong
    /// μ or rounding, it stays.
    fn slide(&mut self, rest: f64, precision: f64) {
        self.h.gradient(&self.inside, &mut self.normal);
        let norm = kernel::norm(&self.normal);
        if !(norm > 0.0 && norm.is_finite()) {
            return;
        }
        self.normal.iter_mut().for_each(|n| *n /= norm);
        let outward = (rest * kernel::dot(&self.normal, &self.way)).max(0.0);
        // the way becomes its part in the plane, and then the normal
        for (w, n) in self.way.iter_mut().zip(&self.normal) {
            *w = rest * *w - outward * n;
        }
        add(&self.inside, 1.0, &self.way, &mut self.origin);
        let along = kernel::norm(&self.way);
        std::mem::swap(&mut self.way, &mut self.normal);
        if self.enters_at(0.0) {
            return;
        }
        // μ‖v̂‖² is enough, but for steps that are lost in rounding
        let (mut low, mut high) = (0.0, (self.mu * along * along).max(1e-18 / self.mu));
        while !self.enters_at(-high) {
            low = high;
            high *= 4.0;
            if !(high * self.mu <= 1.0) {
                return;
            }
        }
        self.bisect(-high, -low, precision);
    }

    /// Halves the way between a point in the set and one outside it down to a precision; returns
    /// the end that is in the set.
    fn bisect(&mut self, mut good: f64, mut bad: f64, precision: f64) -> f64 {
        loop {
            let middle = 0.5 * (good + bad);
            if !((good - bad).abs() > precision && middle != good && middle != bad) {
                return good;
            }
            if self.enters_at(middle) {
                good = middle;
            } else {
                bad = middle;
            }
        }
    }

    /// Whether `origin` + s·`way` is in the set. If so, it is stored in `inside`.
    fn enters_at(&mut self, s: f64) -> bool {
        add(&self.origin, s, &self.way, &mut self.trial);
        let enters = self.h.value(&self.trial) <= 0.0;
        if enters {
            std::mem::swap(&mut self.inside, &mut self.trial);
        }
        enters
    }
}

/// out = a + k·b.
fn add(a: &[f64], k: f64, b: &[f64], out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a + k * b;
    }
}
