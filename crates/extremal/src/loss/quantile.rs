//! The quantile (pinball) loss: level·(y − z) for z < y, and (1 − level)·(z − y) for z > y. The best
//! constant prediction is the quantile of the labels at this level.

use super::Loss;
use crate::Result;
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};

fields! {
    /// The loss whose best constant prediction is a quantile of the labels.
    #[derive(Copy)]
    pub struct Quantile {
        /// the level of the quantile to predict
        pub level: f64 = 0.5 => Kind::inside(0.0, 1.0),
    }
}

impl Described for Quantile {
    const ABOUT: About = About {
        summary: "level·(y − z) if z < y, otherwise (1 − level)·(z − y), with z = ⟨a, x⟩",
        cost: "O(1)",
        guarantee: "slope at most max(level, 1 − level), not smooth",
        reference: "Koenker & Bassett, Econometrica 1978",
        citations: &[],
        examples: &["quantile", "quantile:level=0.9"],
    };
}

impl Loss for Quantile {
    fn name(&self) -> &'static str {
        "quantile"
    }

    fn at(&self, z: f64, label: f64) -> (f64, f64) {
        let r = z - label;
        let slope = if r > 0.0 {
            1.0 - self.level
        } else if r < 0.0 {
            -self.level
        } else {
            0.0
        };
        (slope * r, slope)
    }

    fn slope_bound(&self, _reach: f64, _label: f64) -> f64 {
        self.level.max(1.0 - self.level)
    }

    fn is_nonnegative(&self) -> bool {
        true
    }
}
