//! What is minimised: a convex function that is computed through linear images of its argument.

use crate::kernel;
use crate::rounding::{self, UNIT};
use crate::set::Atom;

/// A convex total f(x) = h(Bx) + (σ/2)‖x‖² of losses, where the *image* Bx of a point is worth
/// keeping: along a segment it changes linearly, so that values there cost no pass over the data.
/// The map may have a constant part.
///
/// [`Sum`](crate::hindsight::Sum) and [`QuadraticSum`](crate::hindsight::QuadraticSum) are such
/// totals; implement it for one of your own. `mu` is the width of smoothing, 0 for none; a total whose
/// [`smoothness`](Total::smoothness) is finite is only ever asked with 0.
pub trait Total {
    /// The dimension of x.
    fn dim(&self) -> usize;

    /// The length of an image.
    fn images(&self) -> usize;

    /// Writes the image of x, and the gradient there.
    fn evaluate(&self, mu: f64, x: &[f64], image: &mut [f64], gradient: &mut [f64]) -> TotalValue;

    /// The same where the image is known.
    fn at_image(&self, mu: f64, x: &[f64], image: &[f64], gradient: &mut [f64]) -> TotalValue;

    /// Writes the image of an atom.
    fn map(&self, atom: &Atom, image: &mut [f64]);

    /// Value and derivative by s at x + s·d, from the images of x and d.
    fn along(&self, mu: f64, s: f64, from: Imaged<'_>, by: Imaged<'_>) -> (f64, f64);

    /// What f proves at x, with every rounding error accounted for; writes its gradient g. The
    /// search itself uses [`Total::evaluate`], which is faster. `reach` bounds ‖u − x‖ over the
    /// points u that the proof is used for.
    ///
    /// The default takes [`TotalValue::rounding`] for a bound of all that rounding does to the
    /// values, and to ⟨gradient, u − x⟩.
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

    /// A guess of the Lipschitz constant of the gradient of f smoothed by `mu`, for the first step;
    /// ∞ at `mu` = 0 where f has kinks that need smoothing.
    fn smoothness(&self, mu: f64) -> f64;

    /// An upper bound of the same, by which rounding is told from progress; the guess where there
    /// is no better one.
    fn smoothness_bound(&self, mu: f64) -> f64 {
        self.smoothness(mu)
    }

    /// σ with f − (σ/2)‖x‖² convex.
    fn strong_convexity(&self) -> f64 {
        0.0
    }

    /// Whether f is linear, so that one oracle call minimises it.
    fn is_linear(&self) -> bool {
        false
    }

    /// Whether f(x) is half the square of the norm of the image of x, so that steps to the minimum on
    /// the way cost next to nothing.
    fn is_square(&self) -> bool {
        false
    }
}

/// A point, or a direction, with its image.
#[derive(Debug, Clone, Copy)]
pub struct Imaged<'a> {
    /// The point.
    pub x: &'a [f64],
    /// Its image.
    pub image: &'a [f64],
}

impl<'a> Imaged<'a> {
    /// A point with its image.
    pub fn of(x: &'a [f64], image: &'a [f64]) -> Self {
        Self { x, image }
    }
}

/// What a total proves at a point x, together with the gradient g that comes with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Minorant {
    /// f(u) ≥ constant + ⟨g, u⟩ + (σ/2)‖u − x‖² for all u within reach, σ the strong convexity.
    pub constant: f64,
    /// f(x) ≤ value.
    pub value: f64,
}

/// What a total says at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TotalValue {
    /// The value of the (smoothed) function that the gradient belongs to.
    pub value: f64,
    /// The value of the function itself.
    pub unsmoothed: f64,
    /// By how much the unsmoothed function lies above the plane that touches the smoothed function, everywhere;
    /// 0 without smoothing.
    pub smoothing_slack: f64,
    /// How far the two values may be off by rounding: an estimate for the search, which no proof
    /// rests on where a total has a [`Total::minorant`] of its own.
    pub rounding: f64,
}
