//! AdaHedge (de Rooij et al., 2014) with three experts.

use serde::{Deserialize, Serialize};

use crate::range::SQUARES;

/// The total losses of the experts, and the mixability gap.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct AdaHedge {
    losses: [f64; 3],
    pub gap: f64,
}

impl AdaHedge {
    /// The weights of the experts in this round.
    pub fn weights(&self) -> [f64; 3] {
        let least = self.losses.iter().copied().fold(f64::INFINITY, f64::min);
        let eta = 3.0_f64.ln() / self.gap;
        let weights = self.losses.map(|loss| match self.gap > 0.0 {
            _ if loss == least => 1.0,
            true => (-eta * (loss - least)).exp(),
            false => 0.0,
        });
        let sum: f64 = weights.iter().sum();
        weights.map(|w| w / sum)
    }

    /// Adds this round's losses of the three experts, given the experts' weights in this round.
    pub fn add(&mut self, weights: &[f64; 3], losses: [f64; 3]) {
        let pairs = || weights.iter().zip(losses);
        let mean: f64 = pairs().map(|(w, l)| w * l).sum();
        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let eta = 3.0_f64.ln() / self.gap;
        let mixed = if self.gap > 0.0 {
            let parts = pairs().map(|(w, l)| match l == least {
                true => *w,
                false => w * (-eta * (l - least)).exp(),
            });
            let sum: f64 = parts.sum();
            // a smaller sum has lost digits to underflow
            match sum >= *SQUARES.start() {
                true => least - sum.ln() / eta,
                false => self.leader_growth(&losses, eta),
            }
        } else {
            let played = pairs().filter(|(w, _)| **w > 0.0).map(|(_, l)| l);
            played.fold(f64::INFINITY, f64::min)
        };
        self.gap += (mean - mixed).max(0.0);
        for (sum, loss) in self.losses.iter_mut().zip(losses) {
            *sum += loss;
        }
    }

    /// −ln(Σexp(−η(L + l))/Σexp(−ηL))/η for the total losses L. It is used if the terms of the usual
    /// formula would underflow. Each sum is divided by its largest term, so the quotient is at least 1.
    fn leader_growth(&self, losses: &[f64; 3], eta: f64) -> f64 {
        let after: [f64; 3] = std::array::from_fn(|k| self.losses[k] + losses[k]);
        let [before, after] = [self.losses, after].map(|totals| {
            let least = totals.iter().copied().fold(f64::INFINITY, f64::min);
            let parts = totals.map(|total| (-eta * (total - least)).exp());
            (least, parts.iter().sum::<f64>().ln())
        });
        (after.0 - before.0) - (after.1 - before.1) / eta
    }
}
