//! OFW, with the book's constants and with tuned ones.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// Regret ≤ 8GDT^(3/4): OFW (Hazan's book, ch. 7).
pub fn ofw(gradient: f64, diameter: f64, rounds: f64) -> f64 {
    8.0 * gradient * diameter * rounds.powf(0.75)
}

/// F_{t−1}(x_t) − min F_{t−1} ≤ 2D²σ_t, σ_t = min(1, 2/√t): the lemma behind [`ofw`].
pub fn ofw_lemma(diameter: f64, t: f64) -> f64 {
    2.0 * diameter * diameter * (2.0 / t.sqrt()).min(1.0)
}

/// Regret ≤ (4/3^(3/4))GDT^(3/4): OFW with tuned constants (Weibel et al. 2026).
pub fn ofw_weibel(gradient: f64, diameter: f64, rounds: f64) -> f64 {
    4.0 / 3f64.powf(0.75) * gradient * diameter * rounds.powf(0.75)
}

/// Regret ≤ (5/3^(3/4))GDT^(3/4) for every T at once: the same without T (Weibel et al. 2026). The
/// guide proves it (docs/src/proofs/ofw-weibel.md).
pub fn ofw_weibel_anytime(gradient: f64, diameter: f64, rounds: f64) -> f64 {
    5.0 / 3f64.powf(0.75) * gradient * diameter * rounds.powf(0.75)
}

/// [`ofw`] for T rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct Ofw {
    pub horizon: f64,
    pub gradient: f64,
    pub diameter: f64,
}

impl Theorem for Ofw {
    fn name(&self) -> &'static str {
        "OFW, 8GDT^(3/4)"
    }

    fn bound(&self, rounds: f64) -> f64 {
        ofw(self.gradient, self.diameter, rounds)
    }

    fn exponent(&self) -> f64 {
        0.75
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![
            Assumption::Gradient(self.gradient),
            Assumption::Horizon(self.horizon),
        ]
    }
}

/// [`ofw_weibel`] for T rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct OfwWeibel {
    pub horizon: f64,
    pub gradient: f64,
    pub diameter: f64,
}

impl Theorem for OfwWeibel {
    fn name(&self) -> &'static str {
        "OFW tuned, (4/3^(3/4))GDT^(3/4)"
    }

    fn bound(&self, rounds: f64) -> f64 {
        ofw_weibel(self.gradient, self.diameter, rounds)
    }

    fn exponent(&self) -> f64 {
        0.75
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![
            Assumption::Gradient(self.gradient),
            Assumption::Horizon(self.horizon),
        ]
    }
}

/// [`ofw_weibel_anytime`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct OfwWeibelAnytime {
    pub gradient: f64,
    pub diameter: f64,
}

impl Theorem for OfwWeibelAnytime {
    fn name(&self) -> &'static str {
        "OFW tuned, any T, (5/3^(3/4))GDT^(3/4)"
    }

    fn bound(&self, rounds: f64) -> f64 {
        ofw_weibel_anytime(self.gradient, self.diameter, rounds)
    }

    fn exponent(&self) -> f64 {
        0.75
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Gradient(self.gradient)]
    }
}
