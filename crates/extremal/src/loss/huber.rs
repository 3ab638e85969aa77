//! Huber's loss of the residual r = z − y: ½r² for |r| ≤ δ, and linear for larger |r|.

use super::Loss;
use crate::Result;
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};

fields! {
    /// Huber's loss: ½r² for |r| ≤ δ, and δ(|r| − δ/2) for larger |r|.
    #[derive(Copy)]
    pub struct Huber {
        /// the residual δ beyond which the loss is linear
        pub delta: f64 = 1.0 => Kind::POSITIVE,
    }
}

impl Described for Huber {
    const ABOUT: About = About {
        summary: "½r² for |r| ≤ δ, and δ(|r| − δ/2) for larger |r|, with r = ⟨a, x⟩ − y",
        cost: "O(1)",
        guarantee: "slope at most δ, 1-smooth",
        reference: "Huber, Annals of Mathematical Statistics 1964",
        citations: &[],
        examples: &["huber", "huber:delta=0.1"],
    };
}

impl Loss for Huber {
    fn name(&self) -> &'static str {
        "huber"
    }

    fn at(&self, z: f64, label: f64) -> (f64, f64) {
        let r = z - label;
        let near = r.clamp(-self.delta, self.delta);
        // ½·near² + δ·(|r| − |near|), in both cases
        (near * (r - 0.5 * near), near)
    }

    fn slope_bound(&self, reach: f64, label: f64) -> f64 {
        self.delta.min(reach + label.abs())
    }

    fn smoothness(&self) -> f64 {
        1.0
    }

    fn is_nonnegative(&self) -> bool {
        true
    }
}
