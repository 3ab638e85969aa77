//! The absolute loss f(z) = |z − y|.

use super::Loss;
use crate::parameter::fields;
use crate::spec::{About, Described};

fields! {
    /// The absolute loss |z − y|.
    #[derive(Copy)]
    pub struct Absolute {}
}

impl Described for Absolute {
    const ABOUT: About = About {
        summary: "|⟨a, x⟩ − y|",
        cost: "O(1)",
        guarantee: "slope at most 1, not smooth; the median of the labels is the best constant prediction",
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

    fn is_nonnegative(&self) -> bool {
        true
    }
}
