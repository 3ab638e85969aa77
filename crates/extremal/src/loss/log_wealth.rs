//! The loss f(z) = −ln z of a portfolio, for z > 0. The row a holds the price relatives of a period,
//! which are the new prices divided by the old prices. The decision x holds the shares of the wealth. A
//! period multiplies the wealth by ⟨a, x⟩, so that the total loss is minus the logarithm of the final
//! wealth. The label is ignored.
//!
//! The slope 1/z is bounded only if ⟨a, x⟩ is bounded away from 0. The bounds of this example are for the
//! simplex:
//!
//! ```
//! use extremal::loss::{Loss, LossSpec, Objective};
//! let objective = Objective::new("log-wealth".parse::<LossSpec>()?.build()?, 0.0)?;
//! assert_eq!(objective.gradient_bound(1.5, 0.0, 1.0), f64::INFINITY);
//! // every relative is at least 1/2, so that a portfolio loses at most half of its wealth
//! assert_eq!(objective.gradient_bound_between(1.5, 0.5, 1.5, 0.0, 1.0), 3.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use super::{Labels, Loss};
use crate::parameter::fields;
use crate::spec::{About, Described};
use crate::{Error, Result};

fields! {
    /// The loss −ln z.
    #[derive(Copy)]
    pub struct LogWealth {}
}

/// The smallest allowed prediction. At a smaller prediction, the slope 1/z could be infinite.
const SMALLEST: f64 = f64::MIN_POSITIVE;

impl Described for LogWealth {
    const ABOUT: About = About {
        summary: "−ln⟨a, x⟩ with the price relatives a, for ⟨a, x⟩ > 0",
        cost: "O(1), one logarithm",
        guarantee: "slope 1/z, unbounded unless ⟨a, x⟩ is bounded away from 0 on the set; not smooth; 1-exp-concave",
        reference: "Cover, Mathematical Finance 1991",
        citations: &[],
        examples: &["log-wealth"],
    };
}

impl Loss for LogWealth {
    fn name(&self) -> &'static str {
        "log-wealth"
    }

    fn at(&self, z: f64, _label: f64) -> (f64, f64) {
        if z >= SMALLEST {
            (-z.ln(), -1.0 / z)
        } else {
            (f64::INFINITY, f64::NEG_INFINITY)
        }
    }

    fn check_prediction(&self, z: f64) -> Result<()> {
        if z >= SMALLEST {
            return Ok(());
        }
        Err(Error::Prediction {
            loss: "log-wealth",
            prediction: z,
            allowed: "a number > 0: the wealth of a period must be positive",
        })
    }

    fn labels(&self) -> Labels {
        Labels::None
    }

    fn slope_bound_between(&self, low: f64, _high: f64, _label: f64) -> f64 {
        if low >= SMALLEST {
            1.0 / low
        } else {
            f64::INFINITY
        }
    }
}
