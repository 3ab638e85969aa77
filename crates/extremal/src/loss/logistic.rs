//! The logistic loss f(z) = ln(1 + e^(−yz)) with y = ±1.

use super::{Labels, Loss, sign};
use crate::parameter::fields;
use crate::spec::{About, Described};

fields! {
    /// The logistic loss ln(1 + e^(−yz)).
    #[derive(Copy)]
    pub struct Logistic {}
}

impl Described for Logistic {
    const ABOUT: About = About {
        summary: "ln(1 + exp(−y⟨a, x⟩)), labels ±1 or 0/1",
        cost: "O(1), one exponential and one logarithm",
        guarantee: "slope below 1, ¼-smooth",
        reference: "textbook",
        citations: &[],
        examples: &["logistic"],
    };
}

impl Loss for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn at(&self, z: f64, label: f64) -> (f64, f64) {
        let y = sign(label);
        let margin = y * z;
        // e^(−|m|) never overflows, and both signs of m need only this number.
        let e = (-margin.abs()).exp();
        let u = 1.0 + e;
        // ln(1+e) = ln(u)·e/(u−1) is accurate for small e and takes half the time of ln_1p.
        let log = if u > 1.0 { u.ln() * (e / (u - 1.0)) } else { e };
        let value = log + (-margin).max(0.0);
        let chance_wrong = if margin > 0.0 { e } else { 1.0 } / u;
        (value, -y * chance_wrong)
    }

    fn labels(&self) -> Labels {
        Labels::Signs
    }

    fn probability(&self, z: f64) -> Option<f64> {
        Some(1.0 / (1.0 + (-z).exp()))
    }

    fn slope_bound(&self, reach: f64, _label: f64) -> f64 {
        1.0 / (1.0 + (-reach).exp())
    }

    fn smoothness(&self) -> f64 {
        0.25
    }

    fn is_nonnegative(&self) -> bool {
        true
    }
}
