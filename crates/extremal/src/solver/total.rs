//! The objective of a search: a convex function of a linear image of its argument.

use crate::kernel;
use crate::rounding::{self, UNIT};
use crate::set::Atom;

/// A convex total f(x) = h(Bx) + (σ/2)‖x‖² of losses, where the *image* Bx of a point is worth
/// keeping: along a segment it changes linearly, so that values there cost no pass over the data.
/// The map may have a constant part.
///
/// [`Sum`](crate::hindsight::Sum) and [`QuadraticSum`](crate::hindsight::QuadraticSum) are such
/// totals; implement the trait for your own. `mu` is the width of smoothing, 0 for no smoothing. A
/// total whose [`smoothness`](Total::smoothness) is finite is only evaluated with 0.
pub trait Total {
    /// The dimension of x.
    fn dim(&self) -> usize;

    /// The length of an image.
    fn images(&self) -> usize;

    /// Writes the image of x, and the gradient there.
    fn evaluate(&self, mu: f64, x: &[f64], image: &mut [f64], gradient: &mut [f64]) -> TotalValue;

    /// Like [`Total::evaluate`], for a point whose image is known.
    fn at_image(&self, mu: f64, x: &[f64], image: &[f64], gradient: &mut [f64]) -> TotalValue;

    /// Writes the image of an atom.
    fn map(&self, atom: &Atom, image: &mut [f64]);

    /// Value and derivative by s at x + s·d, from the images of x and d.
    fn along(&self, mu: f64, s: f64, from: Imaged<'_>, by: Imaged<'_>) -> (f64, f64);

    /// A lower bound of f from its gradient g at x, which it writes, with every rounding error
    /// accounted for. The search itself uses [`Total::evaluate`], which is faster. `reach` bounds
    /// ‖u − x‖ over the points u that the proof is used for.
    ///
    /// The default assumes that [`TotalValue::rounding`] bounds the rounding errors of the values
    /// and of ⟨gradient, u − x⟩.
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

    /// An upper bound of this constant, which separates rounding from progress. By default it is
    /// the guess.
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

    /// Whether f(x) is half the squared norm of the image of x, which makes exact line searches
    /// cheap.
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

/// A proven lower bound of a total from its gradient g at a point x, and its value there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Minorant {
    /// f(u) ≥ constant + ⟨g, u⟩ + (σ/2)‖u − x‖² for all u within reach, σ the strong convexity.
    pub constant: f64,
    /// f(x) ≤ value.
    pub value: f64,
}

/// The value of a total at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TotalValue {
    /// The value of the (smoothed) function that the gradient belongs to.
    pub value: f64,
    /// The value of the function itself.
    pub unsmoothed: f64,
    /// The unsmoothed function lies at least this far above the tangent plane of the smoothed one,
    /// everywhere; 0 without smoothing.
    pub smoothing_slack: f64,
    /// An estimate of the rounding error of both values, for the search. Proofs do not use it where
    /// a total has its own [`Total::minorant`].
    pub rounding: f64,
}
