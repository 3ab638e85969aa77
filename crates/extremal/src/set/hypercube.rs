//! The hypercube [0, r]^d, or the ℓ∞ ball [−r, r]^d with `centred`. It is a [`BoxSet`] with equal
//! bounds for all coordinates.

use std::sync::Arc;

use super::boxes::BoxSet;
use super::{MakeSet, SharedSet, check_radius, settle_dim};
use crate::Result;
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};

fields! {
    /// Spec of a hypercube.
    pub struct Hypercube {
        /// the largest entry r
        pub radius: f64 = 1.0 => Kind::SIZE,
        /// whether entries range from −r to r instead of from 0 to r
        pub centred: bool = false => Kind::Flag,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for Hypercube {
    const ABOUT: About = About {
        summary: "hypercube: entries from 0 to r, or from −r to r (ball of the ℓ∞ norm)",
        cost: "oracle O(d); projection O(d)",
        guarantee: "D = r√d, or 2r√d if centred; a polytope, not strongly convex",
        reference: "textbook",
        citations: &[],
        examples: &["hypercube", "hypercube:centred=true,radius=2"],
    };
}

impl MakeSet for Hypercube {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("hypercube", self.dim, dim)?;
        let upper = check_radius("hypercube", "radius", self.radius)?;
        let lower = if self.centred { -upper } else { 0.0 };
        let cube = BoxSet::new(&vec![lower; dim], &vec![upper; dim])?;
        Ok(Arc::new(cube.named("hypercube")))
    }
}
