//! The quantile (pinball) loss: level·(y − z) below the label, (1 − level)·(z − y) above it. The
//! best constant prediction is the labels' quantile of that level.

use std::sync::Arc;

use super::{Loss, MakeLoss};
use crate::Result;
use crate::parameter::fields;
use crate::spec::{Described, Entry, Kind, Limits};

/// Between 0 and 1.
const LEVEL: Kind = Kind::Number(Limits {
    low: 0.0,
    high: 1.0,
    open: true,
});

fields! {
    /// Spec of [`QuantileLoss`].
    pub struct Quantile {
        /// which quantile is predicted
        pub level: f64 = 0.5 => LEVEL,
    }
}

impl Described for Quantile {
    const ENTRY: Entry = Entry {
        name: "quantile",
        summary: "level·(y − z) for z < y, (1 − level)·(z − y) above, with z = ⟨a, x⟩",
        parameters: Self::PARAMETERS,
        cost: "O(1)",
        guarantee: "slope max(level, 1 − level), not smooth",
        reference: "Koenker & Bassett, Econometrica 1978",
        citations: &[],
        examples: &["quantile", "quantile:level=0.9"],
    };
}

impl MakeLoss for Quantile {
    fn make(&self) -> Result<Arc<dyn Loss>> {
        Ok(Arc::new(QuantileLoss::new(self.level)?))
    }
}

/// The loss whose best constant prediction is a quantile of the labels.
#[derive(Debug, Clone)]
pub struct QuantileLoss {
    level: f64,
}

impl QuantileLoss {
    /// For the quantile of this level, between 0 and 1.
    pub fn new(level: f64) -> Result<Self> {
        let level = LEVEL.admit("quantile", "level", level)?;
        Ok(Self { level })
    }
}

impl Loss for QuantileLoss {
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

    fn smoothness(&self) -> f64 {
        f64::INFINITY
    }

    fn is_nonnegative(&self) -> bool {
        true
    }
}
