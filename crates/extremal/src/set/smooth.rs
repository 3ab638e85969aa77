//! Sets {x : h(x) ≤ 0} with a convex and smooth h, and a projection onto these sets that needs only
//! values and gradients of h. The projection does not return the nearest point. For gradient descent, the
//! returned point is almost as good.

use super::{Set, centre_of};
use crate::{Error, Result, kernel};

/// The function h of a set {x : h(x) ≤ 0}.
pub trait SmoothConstraint: Send + Sync {
    /// h(x), or another number with the same sign. The result is at most 0 if and only if x is in the
    /// set.
    fn value(&mut self, x: &[f64]) -> f64;

    /// Writes ∇h(x), or a positive multiple of it, into `out`.
    fn gradient(&mut self, x: &[f64], out: &mut [f64]);

    /// μ = β/min ‖∇h(x)‖ for a β-smooth h, where the minimum is over the set's boundary. For the
    /// ball of radius r, μ = 1/r.
    fn curvature(&self) -> f64;
}

/// The precision with which a boundary point is found, as a share of μ‖v‖².
const PRECISION: f64 = 1e-3;

/// The fast projection Π̃ of Levy & Krause. For a point x of the set and a step v with ‖v‖ ≤ 1/(2μ), the
/// projection returns a point z = Π̃(x + v) of the set with ‖z − u‖ ≤ ‖x + v − u‖ + μ‖v‖² for every point
/// u of the set.
///
/// The segment from x to x + v leaves the set at a boundary point. The end x + v is first projected onto
/// the tangent plane at this point. This does not increase the distance to any u. The point is then moved
/// along the normal into the set. This last move has at most the length a with a = (μ/2)(‖v‖² + a²),
/// which is at most 0.54·μ‖v‖². The remainder of μ‖v‖² covers the error of the bisection that finds
/// boundary points.
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
    /// The last tested point that was inside the set.
    inside: Vec<f64>,
    /// The point that is being tested.
    trial: Vec<f64>,
    normal: Vec<f64>,
    /// The start of the segment `origin` + s·`way`.
    origin: Vec<f64>,
}

impl FastProjection {
    /// The projection onto a set that has a smooth constraint h.
    pub fn new(set: &dyn Set) -> Result<Self> {
        let refused = |why: &str| Err(Error::Unsupported(format!("set {} {why}", set.name())));
        let Some(mut h) = set.smooth() else {
            return refused(
                "has no known form h(x) ≤ 0 with a smooth h; use a learner that needs no h, such as ogd or ofw-ls",
            );
        };
        let mu = h.curvature();
        if !(mu > 0.0 && mu.is_finite()) {
            return refused(&format!(
                "has a smooth h whose curvature {mu} is not positive and finite"
            ));
        }
        let centre = centre_of(set);
        if !(h.value(&centre) <= 0.0) {
            return refused("has a smooth h that is positive at its centre");
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

    /// The curvature μ.
    pub fn curvature(&self) -> f64 {
        self.mu
    }

    /// Moves an x outside the set towards the centre until x lies inside. Any other x is not changed.
    pub fn enter(&mut self, x: &mut [f64]) {
        if self.h.value(x) <= 0.0 {
            return;
        }
        add(x, -1.0, &self.centre, &mut self.way);
        self.inside.copy_from_slice(&self.centre);
        self.leave(f64::EPSILON);
        x.copy_from_slice(&self.inside);
    }

    /// x ← Π̃(x + v), where a v that is longer than 1/(2μ) is first shortened to this length. An x
    /// outside the set is first moved inside.
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

    /// Returns the largest s ≤ 1, up to a precision, for which `inside` + s·`way` is in the set.
    /// Moves `inside` to `inside` + s·`way`.
    fn leave(&mut self, precision: f64) -> f64 {
        self.origin.copy_from_slice(&self.inside);
        if self.enters_at(1.0) {
            return 1.0;
        }
        self.bisect(0.0, 1.0, precision)
    }

    /// Moves `inside` from the boundary by the rest of the segment. The move first follows the tangent
    /// plane and then returns to the set, up to a precision. If no point of the set is found, because μ
    /// is wrong or because of rounding, `inside` does not change.
    fn slide(&mut self, rest: f64, precision: f64) {
        self.h.gradient(&self.inside, &mut self.normal);
        let norm = kernel::norm(&self.normal);
        if !(norm > 0.0 && norm.is_finite()) {
            return;
        }
        self.normal.iter_mut().for_each(|n| *n /= norm);
        let outward = (rest * kernel::dot(&self.normal, &self.way)).max(0.0);
        // `way` first becomes its component in the tangent plane, and then the normal
        for (w, n) in self.way.iter_mut().zip(&self.normal) {
            *w = rest * *w - outward * n;
        }
        add(&self.inside, 1.0, &self.way, &mut self.origin);
        let along = kernel::norm(&self.way);
        std::mem::swap(&mut self.way, &mut self.normal);
        if self.enters_at(0.0) {
            return;
        }
        // μ‖way‖² is long enough, except for steps that are smaller than rounding errors
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

    /// Bisects between `good`, whose point is in the set, and `bad`, whose point is outside, up to a
    /// precision. Returns the end whose point is in the set.
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

    /// Whether `origin` + s·`way` is in the set. If so, the point is stored in `inside`.
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
