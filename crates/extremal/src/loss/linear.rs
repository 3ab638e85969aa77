//! The linear loss f(z) = z, whose gradient is the row a. The label is ignored.

use super::{Labels, Loss};
use crate::parameter::fields;
use crate::spec::{About, Described};

fields! {
    /// The linear loss f(z) = z.
    #[derive(Copy)]
    pub struct Linear {}
}

impl Described for Linear {
    const ABOUT: About = About {
        summary: "⟨a, x⟩",
        cost: "O(1)",
        guarantee: "slope 1 and smoothness 0; the regret is computed exactly",
        reference: "textbook",
        citations: &[],
        examples: &["linear"],
    };
}

impl Loss for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn at(&self, z: f64, _label: f64) -> (f64, f64) {
        (z, 1.0)
    }

    fn labels(&self) -> Labels {
        Labels::None
    }

    fn slope_bound(&self, _reach: f64, _label: f64) -> f64 {
        1.0
    }

    fn smoothness(&self) -> f64 {
        0.0
    }
}
