//! The sizes of numbers that the library accepts.
//!
//! - A gradient counts as 0 if its norm is below 1e-100, and is refused above 1e100
//!   ([`Error::Range`]). The same holds for the row that it is a multiple of.
//! - Radii, axes and entries of sets are from 1e-50 to 1e50 (sets made of sets have diameters and
//!   norms from 1e-60 to 1e60), and so is the curvature of a ridge term.
//! - A direction whose largest entry is below 1e-140 counts as 0. A gradient times its step size
//!   is refused above 1e140.
//!
//! Learners, the [`Meter`](crate::hindsight::Meter) and the solver check each gradient by
//! [`Gradient::admit`](crate::Gradient), before they change anything. Behind the door
//! squares, and products with points of the set, are numbers.

use std::ops::RangeInclusive;

use crate::{Error, Result};

/// Norms of gradients.
pub(crate) const GRADIENTS: RangeInclusive<f64> = 1e-100..=1e100;

/// Radii, diameters and entries of sets; curvatures λ.
pub(crate) const SETS: RangeInclusive<f64> = 1e-50..=1e50;

/// Diameters and norms of sets made of sets, whose dimension and number add to their parts' size.
pub(crate) const COMPOSITES: RangeInclusive<f64> = 1e-60..=1e60;

/// Below, a direction counts as 0.
pub(crate) const SMALLEST_DIRECTION: f64 = 1e-140;

/// Above, a gradient times its step size is refused.
const LARGEST_DIRECTION: f64 = 1e140;

/// In radii of the set: a point farther away is projected as if it lay here.
pub(crate) const FAR: f64 = 1e100;

/// A common factor of a vector's entries stays in this range.
pub(crate) const SCALES: RangeInclusive<f64> = 1e-100..=1e100;

/// Squares inside this range lose nothing to underflow or overflow.
pub(crate) const SQUARES: RangeInclusive<f64> = 1e-280..=1e280;

/// Whether a direction counts as 0.
pub(crate) fn is_zero(direction: &[f64]) -> bool {
    direction.iter().all(|d| d.abs() < SMALLEST_DIRECTION)
}

/// An error if a gradient times its step size is too large to be squared.
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

/// Whether a number of this size counts, or is treated as 0; an error if it is too large.
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
