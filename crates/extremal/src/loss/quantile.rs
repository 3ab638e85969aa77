//! The quantile (pinball) loss: level·(y − z) below the label, (1 − level)·(z − y) above it. The
//! best constant prediction is the labels' quantile of that level.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Loss, MakeLoss};
use crate::spec::{Described, Entry, Parameter};
use crate::{Error, Result};

/// Spec of [`QuantileLoss`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Quantile {
    /// Which quantile.
    #[serde(default = "half")]
    pub level: f64,
}

fn half() -> f64 {
    0.5
}

impl Described for Quantile {
    const ENTRY: Entry = Entry {
        name: "quantile",
        summary: "level·(y − z) for z < y, (1 − level)·(z − y) above, with z = ⟨a, x⟩",
        parameters: &[Parameter {
            name: "level",
            about: "which quantile is predicted",
            default: Some("0.5"),
            allowed: "0 < level < 1",
        }],
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
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::parameter(
                "quantile",
                "level",
                level,
                "0 < level < 1",
            ));
        }
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
