//! The sizes of numbers that the library accepts.
//!
//! - A gradient with a norm below 1e-100 is treated as 0. A norm above 1e100 is an error
//!   ([`Error::Range`]). The same holds for the gradient's row.
//! - Radii, axes and entries of sets, and the curvature of a ridge term, lie between 1e-50 and 1e50. The
//!   diameters and norms of composite sets, which are made of other sets, lie between 1e-60 and 1e60.
//! - A direction whose largest entry is below 1e-140 is treated as 0. A gradient times its step
//!   size may have a norm of at most 1e140.
//!
//! Learners, the [`Meter`](crate::hindsight::Meter) and the solver check each gradient with
//! [`Gradient::admit`](crate::Gradient) before they change anything. After this check, squares of
//! entries and inner products with points of the set can't overflow.

use std::ops::RangeInclusive;

use crate::{Error, Result};

/// The norms of gradients that are not treated as 0.
pub(crate) const GRADIENTS: RangeInclusive<f64> = 1e-100..=1e100;

/// The radii, diameters and entries of sets, and the curvatures λ.
pub(crate) const SETS: RangeInclusive<f64> = 1e-50..=1e50;

/// The diameters and norms of sets made of other sets. These may be larger than the sizes of the parts.
pub(crate) const COMPOSITES: RangeInclusive<f64> = 1e-60..=1e60;

/// A direction whose entries are all smaller than this is treated as 0.
pub(crate) const SMALLEST_DIRECTION: f64 = 1e-140;

/// The largest norm of a gradient times its step size.
const LARGEST_DIRECTION: f64 = 1e140;

/// A distance, in radii of the set. A point that is farther away is moved to this distance before it is
/// projected.
pub(crate) const FAR: f64 = 1e100;

/// The range of a factor that is stored separately from a vector's entries.
pub(crate) const SCALES: RangeInclusive<f64> = 1e-100..=1e100;

/// The range in which sums of squares lose no accuracy by underflow or overflow.
pub(crate) const SQUARES: RangeInclusive<f64> = 1e-280..=1e280;

/// The squares of sizes that are far from every limit of a gradient, a curvature or a step.
pub(crate) const MODERATE: RangeInclusive<f64> = 1e-80..=1e80;

/// √(a² + b²). `hypot` takes much longer, and is needed only for numbers of extreme size.
pub(crate) fn root_of_squares(a: f64, b: f64) -> f64 {
    let square = a * a + b * b;
    if SQUARES.contains(&square) {
        square.sqrt()
    } else {
        a.hypot(b)
    }
}

/// Whether a direction is treated as 0.
pub(crate) fn is_zero(direction: &[f64]) -> bool {
    direction.iter().all(|d| d.abs() < SMALLEST_DIRECTION)
}

/// Returns an error if a gradient times its step size is too large to be squared.
pub(crate) fn check_step(size: f64) -> Result<()> {
    if size <= LARGEST_DIRECTION {
        return Ok(());
    }
    Err(Error::Range {
        what: "gradient times the step size",
        size,
        largest: LARGEST_DIRECTION,
    })
}

/// Returns false if a number of this size is treated as 0. A number that is too large is an error.
pub(crate) fn check_size(what: &'static str, size: f64) -> Result<bool> {
    if size <= *GRADIENTS.end() {
        return Ok(size >= *GRADIENTS.start());
    }
    Err(Error::Range {
        what,
        size,
        largest: *GRADIENTS.end(),
    })
}
