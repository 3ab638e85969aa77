//! Faults of losses.

use extremal::Error;
use extremal::loss::{Labels, Loss};

/// What may be wrong with the loss ln(1 + e^(−yz)), by hand.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Off {
    Nothing,
    Slope,
    Concave,
    Smoothness,
    Bound,
    Far,
    Negative,
    Probability,
    Label,
    Labels,
}

struct Softplus(Off);

impl Loss for Softplus {
    fn name(&self) -> &'static str {
        "softplus"
    }

    fn at(&self, z: f64, label: f64) -> (f64, f64) {
        let y = if label > 0.0 { 1.0 } else { -1.0 };
        let m = y * z;
        let sigmoid = 1.0 / (1.0 + m.exp());
        let value = m.abs().neg_exp().ln_1p() + (-m).max(0.0);
        match self.0 {
            Off::Slope => (value, -1.001 * y * sigmoid),
            Off::Concave => (-value, y * sigmoid),
            Off::Far => (
                (-m).exp().ln_1p() * (1.0),
                -y * (-m).exp() / (1.0 + (-m).exp()),
            ),
            Off::Negative => (value - 0.1, -y * sigmoid),
            _ => (value, -y * sigmoid),
        }
    }

    fn labels(&self) -> Labels {
        match self.0 {
            Off::Labels => Labels::Any,
            _ => Labels::Signs,
        }
    }

    fn check_label(&self, label: f64) -> extremal::Result<()> {
        if self.0 == Off::Label || label.abs() == 1.0 || label == 0.0 {
            return Ok(());
        }
        Err(Error::Label {
            loss: self.name(),
            label,
            allowed: "-1 or 1 (or 0 and 1)",
        })
    }

    fn slope_bound(&self, reach: f64, _label: f64) -> f64 {
        let exact = 1.0 / (1.0 + reach.neg_exp());
        if self.0 == Off::Bound {
            0.99 * exact
        } else {
            exact
        }
    }

    fn smoothness(&self) -> f64 {
        if self.0 == Off::Smoothness { 0.2 } else { 0.25 }
    }

    fn is_nonnegative(&self) -> bool {
        true
    }

    fn probability(&self, z: f64) -> Option<f64> {
        let sign = if self.0 == Off::Probability {
            1.0
        } else {
            -1.0
        };
        Some(1.0 / (1.0 + (sign * z).exp()))
    }
}

trait NegExp {
    fn neg_exp(self) -> f64;
}

impl NegExp for f64 {
    fn neg_exp(self) -> f64 {
        (-self).exp()
    }
}

#[test]
fn every_fault_of_a_loss_breaks_the_law_that_names_it() {
    extremal_check::loss(&Softplus(Off::Nothing)).unwrap();
    let exact = extremal_check::LossCheck { exact: true };
    exact.run(&Softplus(Off::Nothing)).unwrap();
    for (off, law) in [
        (Off::Slope, "the slope agrees with finite differences"),
        (Off::Concave, "the loss is convex: no tangent lies above it"),
        (
            Off::Smoothness,
            "no slope grows faster than the smoothness allows",
        ),
        (Off::Bound, "no slope exceeds its bound"),
        (
            Off::Far,
            "for large predictions, no value is NaN and every slope is finite",
        ),
        (
            Off::Negative,
            "a loss that declares itself nonnegative, linear or a square has this property",
        ),
        (
            Off::Probability,
            "a probability is between 0 and 1 and increases with the prediction",
        ),
        (
            Off::Label,
            "NaN, ∞ and labels that are not allowed are errors",
        ),
        (
            Off::Labels,
            "a loss that admits any label depends on more than the label's sign",
        ),
    ] {
        let failures = extremal_check::loss(&Softplus(off)).unwrap_err();
        assert!(failures.of(law).is_some(), "{off:?}: {failures}");
    }
}
