//! f(z) = ln(1 + e^(−yz)) with y = ±1.

use serde::{Deserialize, Serialize};

use super::Loss;
use crate::spec::{Described, Entry};
use crate::{Error, Result};

/// ln(1 + e^(−yz)).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logistic {}

impl Described for Logistic {
    const ENTRY: Entry = Entry {
        name: "logistic",
        summary: "ln(1 + exp(−y⟨a, x⟩)), labels ±1 or 0/1",
        parameters: &[],
        cost: "O(1), one exponential and one logarithm",
        guarantee: "slope below 1, smooth with 1/4",
        reference: "textbook",
        examples: &["logistic"],
    };
}

impl Loss for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn at(&self, z: f64, label: f64) -> (f64, f64) {
        let y = if label > 0.0 { 1.0 } else { -1.0 };
        let margin = y * z;
        // e^(−|m|) never overflows, and serves both signs.
        let e = (-margin.abs()).exp();
        let u = 1.0 + e;
        // ln(1+e) = ln(u)·e/(u−1) keeps its digits for small e, in half the time of ln_1p.
        let log = if u > 1.0 { u.ln() * (e / (u - 1.0)) } else { e };
        let value = log + (-margin).max(0.0);
        let chance_wrong = if margin > 0.0 { e } else { 1.0 } / u;
        (value, -y * chance_wrong)
    }

    fn check_label(&self, label: f64) -> Result<()> {
        if label == 1.0 || label == -1.0 || label == 0.0 {
            Ok(())
        } else {
            Err(Error::Label {
                loss: "logistic",
                label,
                allowed: "-1 or 1 (or 0 and 1)",
            })
        }
    }

    fn slope_bound(&self, reach: f64, _label: f64) -> f64 {
        1.0 / (1.0 + (-reach).exp())
    }

    fn smoothness(&self) -> f64 {
        0.25
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_keeps_its_digits_at_every_margin() {
        for i in -800..800 {
            let z = f64::from(i) * 0.93;
            let exact = if z > 0.0 {
                (-z).exp().ln_1p()
            } else {
                z.exp().ln_1p() - z
            };
            let (value, _) = Logistic {}.at(z, 1.0);
            assert!(
                (value - exact).abs() <= 4.0 * f64::EPSILON * exact,
                "{z}: {value} {exact}"
            );
        }
    }
}
