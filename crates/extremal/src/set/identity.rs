//! Checks that a saved state belongs to the set that the user supplies on load.

use serde::{Deserialize, Serialize};

use super::{Geometry, Set, SharedSet};
use crate::saved::{check_shape, damaged, mismatch};
use crate::{Result, kernel};

/// The record of a set in a saved state. It has the set's name, dimension, constants and
/// fingerprint, but not the set itself: the user supplies the set again on load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Identity {
    name: String,
    dim: usize,
    geometry: Geometry,
    fingerprint: u64,
}

impl Identity {
    pub(crate) fn of(set: &dyn Set) -> Self {
        Self {
            name: set.name().into(),
            dim: set.dim(),
            geometry: set.geometry(),
            fingerprint: set.fingerprint(),
        }
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// Returns an error unless this record describes `set`.
    pub(crate) fn check(&self, set: &dyn Set) -> Result<()> {
        let here = Self::of(set);
        if *self == here {
            return Ok(());
        }
        let describe = |of: &Self| {
            let (name, dim, diameter) = (&of.name, of.dim, of.geometry.diameter);
            format!("{name} in dimension {dim} with diameter {diameter}")
        };
        let (there, here) = (describe(self), describe(&here));
        Err(mismatch(if there == here {
            format!("it belongs to a different set {there}")
        } else {
            format!("it belongs to set {there}, but set {here} was given")
        }))
    }
}

/// Returns an error if `x` lies outside the set. A set without `violation` accepts every point.
pub(crate) fn check_saved_point(set: &dyn Set, x: &[f64]) -> Result<()> {
    check_shape(x.len() == set.dim() && kernel::find_not_finite(x).is_none())?;
    match set.violation(x) {
        Some(v) if !(v <= 1e-8) => Err(damaged(format!(
            "the decision lies outside the set (violation {v:e})"
        ))),
        _ => Ok(()),
    }
}

/// A 64-bit FNV-1a hash of the numbers and names that define a set.
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new(name: &str) -> Self {
        Self(0xcbf2_9ce4_8422_2325).with_bytes(name.as_bytes())
    }

    fn with_bytes(self, bytes: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(self.0, step))
    }

    /// The fingerprint of a set that is fully determined by its name and its parts.
    pub(crate) fn of_parts<'a>(name: &str, parts: impl IntoIterator<Item = &'a SharedSet>) -> u64 {
        let parts = parts.into_iter().map(|part| part.fingerprint());
        parts.fold(Self::new(name), Self::with_part).value()
    }

    pub(crate) fn with_part(self, part: u64) -> Self {
        self.with_bytes(&part.to_le_bytes())
    }

    pub(crate) fn with_numbers(self, numbers: &[f64]) -> Self {
        // −0 is 0
        let bits = |v: &f64| (v + 0.0).to_bits();
        numbers.iter().map(bits).fold(self, Self::with_part)
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}
