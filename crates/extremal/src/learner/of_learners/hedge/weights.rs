//! AdaHedge: weights that need neither the horizon nor the scale of the losses.

use serde::{Deserialize, Serialize};

/// Weights over N learners, computed from their losses.
#[derive(Serialize, Deserialize)]
pub(crate) struct Weights {
    /// The total loss of each learner minus that of the best learner.
    excess: Vec<f64>,
    /// Δ, the sum of the mixability gaps. The learning rate is η = ln(N)/Δ.
    delta: f64,
    #[serde(skip)]
    weights: Vec<f64>,
    /// Σ exp(−η·excess).
    #[serde(skip)]
    sum: f64,
    /// ln N.
    #[serde(skip)]
    log_count: f64,
}

impl Weights {
    pub(crate) fn new(n: usize) -> Self {
        let even = Self {
            excess: vec![0.0; n],
            delta: 0.0,
            weights: Vec::new(),
            sum: 0.0,
            log_count: 0.0,
        };
        even.weighed()
    }

    pub(crate) fn get(&self) -> &[f64] {
        &self.weights
    }

    /// An upper bound on the total loss of the mixture minus that of the best learner.
    pub(crate) fn regret_bound(&self) -> f64 {
        2.0 * self.delta
    }

    /// Updates the weights with the losses of a round.
    pub(crate) fn step(&mut self, losses: &[f64]) {
        let low = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let (mut range, mut played, mut best) = (0.0, 0.0, f64::INFINITY);
        let members = losses.iter().zip(&self.weights).zip(&mut self.excess);
        for ((loss, weight), excess) in members {
            let over = loss - low;
            range = f64::max(range, over);
            played += weight * over;
            *excess += over;
            best = f64::min(best, *excess);
        }
        self.excess.iter_mut().for_each(|e| *e -= best);
        let before = self.sum;
        self.weigh();
        // The mixability gap is the mixture's loss minus the mix loss −(1/η) ln Σ w exp(−η·loss).
        // For η = ∞ the mix loss is the smallest loss among the learners whose earlier total loss
        // is smallest.
        let mix = match self.delta {
            0.0 => best,
            delta => best - delta * ((self.sum / before).ln() / self.log_count),
        };
        self.delta += (played - mix).clamp(0.0, range);
        self.weigh();
    }

    /// w_i ∝ exp(−η·excess_i), computed with the quotient excess/Δ because η may be infinite.
    fn weigh(&mut self) {
        let (log_count, delta) = (self.log_count, self.delta);
        self.weights.clear();
        self.weights.extend(self.excess.iter().map(|e| match e {
            0.0 => 1.0,
            e => (-log_count * (e / delta)).exp(),
        }));
        self.sum = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|w| *w /= self.sum);
    }

    /// The number of learners.
    pub(crate) fn len(&self) -> usize {
        self.excess.len()
    }

    /// Computes the weights of a loaded state. The weights themselves are not saved.
    pub(crate) fn weighed(mut self) -> Self {
        self.log_count = (self.excess.len() as f64).ln();
        self.weigh();
        self
    }
}
