//! What sets made of other sets share.

use super::{Geometry, larger};
use crate::range::COMPOSITES;
use crate::{Error, Result};

/// Errors unless squares of the set's sizes are numbers, with room for those of gradients.
pub(crate) fn check_size(
    owner: &'static str,
    name: &'static str,
    value: impl ToString,
    geometry: Geometry,
) -> Result<Geometry> {
    let Geometry {
        diameter,
        norm_bound,
        ..
    } = geometry;
    let fits =
        norm_bound <= *COMPOSITES.end() && (diameter == 0.0 || diameter >= *COMPOSITES.start());
    if fits {
        Ok(geometry)
    } else {
        Err(Error::parameter(
            owner,
            name,
            value,
            "such that the set's size stays between 1e-60 and 1e60",
        ))
    }
}

/// The largest of some numbers ≥ 0, if all of them are known.
pub(crate) fn largest(mut parts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    parts.try_fold(0.0, |most, part| Some(larger(most, part?)))
}

/// FNV-1a over what makes a set the one it is.
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new(name: &str) -> Self {
        let mut this = Self(0xcbf2_9ce4_8422_2325);
        name.bytes().for_each(|b| this.byte(b));
        this
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    pub(crate) fn with_part(mut self, part: u64) -> Self {
        part.to_le_bytes().into_iter().for_each(|b| self.byte(b));
        self
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
