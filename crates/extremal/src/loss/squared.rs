//! The squared loss f(z) = ½(z − y)².

use super::Loss;
use crate::parameter::fields;
use crate::spec::{About, Described};

fields! {
    /// The squared loss ½(z − y)².
    #[derive(Copy)]
    pub struct Squared {}
}

impl Described for Squared {
    const ABOUT: About = About {
        summary: "½(⟨a, x⟩ − y)²",
        cost: "O(1)",
        guarantee: "slope at most |z| + |y|, 1-smooth",
        reference: "textbook",
        citations: &[],
        examples: &["squared"],
    };
}

impl Loss for Squared {
    fn name(&self) -> &'static str {
        "squared"
    }

    fn at(&self, z: f64, label: f64) -> (f64, f64) {
        let r = z - label;
        (0.5 * r * r, r)
    }

    fn slope_bound(&self, reach: f64, label: f64) -> f64 {
        reach + label.abs()
    }

    fn smoothness(&self) -> f64 {
        1.0
    }

    fn is_square(&self) -> bool {
        true
    }

    fn is_nonnegative(&self) -> bool {
        true
    }
}
