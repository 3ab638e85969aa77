//! f(z) = |z − y|.

use serde::{Deserialize, Serialize};

use super::Loss;
use crate::spec::{Described, Entry};

/// |z − y|.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absolute {}

impl Described for Absolute {
    const ENTRY: Entry = Entry {
        name: "absolute",
        summary: "|⟨a, x⟩ − y|",
        parameters: &[],
        cost: "O(1)",
        guarantee: "slope 1, not smooth; the median's loss",
        reference: "textbook",
        citations: &[],
        examples: &["absolute"],
    };
}

impl Loss for Absolute {
    fn name(&self) -> &'static str {
        "absolute"
    }

    fn at(&self, z: f64, label: f64) -> (f64, f64) {
        let r = z - label;
        (r.abs(), if r == 0.0 { 0.0 } else { r.signum() })
    }

    fn slope_bound(&self, _reach: f64, _label: f64) -> f64 {
        1.0
    }

    fn smoothness(&self) -> f64 {
        f64::INFINITY
    }

    fn is_nonnegative(&self) -> bool {
        true
    }
}
