//! The objective of a search.

use crate::kernel;
use crate::rounding::{self, UNIT};
use crate::set::Atom;

/// A convex total loss f(x) = h(Bx) + (σ/2)‖x‖². The search stores the *image* Bx of a point. Along a
/// segment the image changes linearly, so that a line search needs no pass over the data. The map B
/// may be affine.
///
/// [`Sum`](crate::hindsight::Sum) and [`QuadraticSum`](crate::hindsight::QuadraticSum) implement this
/// trait, and you can implement it for your own total. `mu` is the width of smoothing (0 for none). If
/// [`smoothness`](Total::smoothness) is finite for `mu` = 0, `mu` is always 0.
pub trait Total {
    /// The dimension of x.
    fn dim(&self) -> usize;

    /// The length of the image of a point.
    fn images(&self) -> usize;

    /// Writes the image of x and the gradient at x.
    fn evaluate(&self, mu: f64, x: &[f64], image: &mut [f64], gradient: &mut [f64]) -> TotalValue;

    /// Does the same as [`Total::evaluate`] for a point whose image is known.
    fn at_image(&self, mu: f64, x: &[f64], image: &[f64], gradient: &mut [f64]) -> TotalValue;

    /// Writes the image of an atom.
    fn map(&self, atom: &Atom, image: &mut [f64]);

    /// The value at x + s·d and its derivative with respect to s, from the images of x and d.
    fn along(&self, mu: f64, s: f64, from: Imaged<'_>, by: Imaged<'_>) -> (f64, f64);

    /// A proven lower bound on f from its gradient at x. The bound allows for every rounding error.
    /// The method also writes the gradient. The bound must hold for all points u with
    /// ‖u − x‖ ≤ `reach`. The search itself uses [`Total::evaluate`], which is faster.
    ///
    /// The default implementation assumes that [`TotalValue::rounding`] bounds the rounding errors of
    /// the values and of ⟨gradient, u − x⟩.
    fn minorant(&self, mu: f64, x: &[f64], reach: f64, gradient: &mut [f64]) -> Minorant {
        let mut image = vec![0.0; self.images()];
        let reading = self.evaluate(mu, x, &mut image, gradient);
        let slope = rounding::dot(gradient, x).value();
        let size = reading.value.abs()
            + reading.smoothing_slack
            + kernel::norm(gradient) * (kernel::norm(x) + reach);
        Minorant {
            constant: reading.value + reading.smoothing_slack
                - slope
                - reading.rounding
                - 8.0 * UNIT * size,
            value: reading.unsmoothed + reading.rounding,
        }
    }

    /// An estimate of the curvature of the smoothed f, for the first step. The curvature is the
    /// Lipschitz constant of the gradient. If f has kinks, it is ∞ for `mu` = 0.
    fn smoothness(&self, mu: f64) -> f64;

    /// An upper bound on this curvature. The search uses it to distinguish progress from rounding
    /// errors. The default is the estimate.
    fn smoothness_bound(&self, mu: f64) -> f64 {
        self.smoothness(mu)
    }

    /// A σ for which f(x) − (σ/2)‖x‖² is convex.
    fn strong_convexity(&self) -> f64 {
        0.0
    }

    /// Whether f is linear. Then one oracle call minimises it.
    fn is_linear(&self) -> bool {
        false
    }

    /// Whether f(x) is half the squared norm of the image of x. Then exact line searches are cheap.
    fn is_square(&self) -> bool {
        false
    }
}

/// A point or a direction, with its image.
#[derive(Debug, Clone, Copy)]
pub struct Imaged<'a> {
    /// The point or the direction.
    pub x: &'a [f64],
    /// The image of `x`.
    pub image: &'a [f64],
}

impl<'a> Imaged<'a> {
    /// A point with its image.
    pub fn of(x: &'a [f64], image: &'a [f64]) -> Self {
        Self { x, image }
    }
}

/// A proven lower bound on a total f from its gradient g at a point x, and an upper bound on f(x).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Minorant {
    /// f(u) ≥ `constant` + ⟨g, u⟩ + (σ/2)‖u − x‖² for all u with ‖u − x‖ ≤ `reach`, where σ is the
    /// strong convexity.
    pub constant: f64,
    /// f(x) ≤ `value`.
    pub value: f64,
}

/// The value of a total at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TotalValue {
    /// The value of the smoothed function. The gradient is the gradient of this function.
    pub value: f64,
    /// The value of the function without smoothing.
    pub unsmoothed: f64,
    /// The function lies above every tangent plane of the smoothed function by at least this much. The
    /// slack is 0 without smoothing.
    pub smoothing_slack: f64,
    /// An estimate of the rounding error of both values, for the search. Proofs use it only if the
    /// total has no [`Total::minorant`] of its own.
    pub rounding: f64,
}
