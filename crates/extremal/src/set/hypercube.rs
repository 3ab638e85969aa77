//! The hypercube [0, r]^d, or the ℓ∞ ball [−r, r]^d with `centred`: a [`BoxSet`] with the same
//! bounds everywhere.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::boxes::BoxSet;
use super::l2::{DIM, one};
use super::{MakeSet, SharedSet, check_radius, settle_dim};
use crate::Result;
use crate::spec::{Described, Entry, Parameter};

/// Spec of the hypercube.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hypercube {
    /// r
    #[serde(default = "one")]
    pub radius: f64,
    /// From −r rather than from 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub centred: bool,
    /// The dimension, if the data does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dim: Option<usize>,
}

impl Described for Hypercube {
    const ENTRY: Entry = Entry {
        name: "hypercube",
        summary: "hypercube: entries from 0 to r, or from −r to r (ball of the ℓ∞ norm)",
        parameters: &[
            Parameter {
                name: "radius",
                about: "the largest entry r",
                default: Some("1"),
                allowed: "1e-50 to 1e50",
            },
            Parameter {
                name: "centred",
                about: "from −r rather than from 0",
                default: Some("false"),
                allowed: "true or false",
            },
            DIM,
        ],
        cost: "oracle O(d); projection O(d)",
        guarantee: "D = r√d, or 2r√d; a polytope, not strongly convex",
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
