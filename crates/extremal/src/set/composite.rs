//! Functions for sets that are made of other sets.

use crate::range::COMPOSITES;
use crate::set::{Geometry, larger};
use crate::{Error, Result};

/// Returns an error unless the set's sizes are in [`COMPOSITES`]. Squares of such sizes, times squares of
/// gradients, don't overflow.
pub(crate) fn check_size(
    owner: &'static str,
    name: &'static str,
    value: impl ToString,
    geometry: Geometry,
) -> Result<Geometry> {
    let (least, most) = COMPOSITES.into_inner();
    let d = geometry.diameter;
    if geometry.norm_bound <= most && (d == 0.0 || d >= least) {
        return Ok(geometry);
    }
    let allowed = "such that the set's diameter and norms stay between 1e-60 and 1e60";
    Err(Error::parameter(owner, name, value, allowed))
}

/// The smallest of some numbers. It is `None` if one of them is unknown.
pub(crate) fn least(parts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    parts.reduce(|a, b| Some(a?.min(b?))).flatten()
}

/// The largest of some numbers ≥ 0. It is `None` if one of them is unknown.
pub(crate) fn largest(mut parts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    parts.try_fold(0.0, |most, part| Some(larger(most, part?)))
}
