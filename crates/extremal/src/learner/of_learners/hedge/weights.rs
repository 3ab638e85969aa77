//! AdaHedge: weights that need neither the horizon nor the scale of the losses.

use serde::{Deserialize, Serialize};

/// Weights over N, by what each has lost.
#[derive(Serialize, Deserialize)]
pub(crate) struct Weights {
    /// By how much each has lost more than the best.
    excess: Vec<f64>,
    /// Δ, the sum of the mixability gaps; the rate is η = ln(N)/Δ.
    delta: f64,
    #[serde(skip)]
    weights: Vec<f64>,
    /// Σ exp(−η excess).
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

    /// The mixture's losses exceed those of the best by at most this.
    pub(crate) fn regret_bound(&self) -> f64 {
        2.0 * self.delta
    }

    /// Takes the losses of a round.
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
        // What was played less the mix loss, which is −(1/η) ln Σ w exp(−η loss). At η = ∞ that is
        // the least loss of those that have not lost more than the best.
        let mix = match self.delta {
            0.0 => best,
            delta => best - delta * ((self.sum / before).ln() / self.log_count),
        };
        self.delta += (played - mix).clamp(0.0, range);
        self.weigh();
    }

    /// w_i ∝ exp(−η excess_i), through the quotient: η itself may be no number.
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

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.excess.len()
    }

    /// What was loaded, with the weights that are not saved.
    pub(crate) fn weighed(mut self) -> Self {
        self.log_count = (self.excess.len() as f64).ln();
        self.weigh();
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::learner::of_learners::hedge::weights::*;

    /// The losses of a round, by a generator too simple to be worth a crate.
    fn losses(state: &mut u64, n: usize, scale: f64) -> Vec<f64> {
        let mut one = || {
            *state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (*state >> 11) as f64 / 2f64.powi(53) - 0.5
        };
        (0..n).map(|i| scale * (one() + 0.02 * i as f64)).collect()
    }

    /// What the mixture lost more than the best, and √((4 + ln N)Σ range²).
    fn play(weights: &mut Weights, rounds: usize, scale: impl Fn(usize) -> f64) -> (f64, f64) {
        let n = weights.excess.len();
        let (mut state, mut lost, mut each, mut squares) = (7, 0.0, vec![0.0; n], 0.0_f64);
        for t in 0..rounds {
            let l = losses(&mut state, n, scale(t));
            lost += l.iter().zip(weights.get()).map(|(l, w)| l * w).sum::<f64>();
            each.iter_mut().zip(&l).for_each(|(e, l)| *e += l);
            let (low, high) = l
                .iter()
                .fold((f64::MAX, f64::MIN), |(a, b), l| (a.min(*l), b.max(*l)));
            squares = squares.hypot(high - low);
            weights.step(&l);
        }
        let best = each.into_iter().fold(f64::INFINITY, f64::min);
        (lost - best, crate::theory::adahedge(n as f64, squares))
    }

    #[test]
    fn the_mixture_loses_little_more_than_the_best_at_every_scale() {
        for n in [1, 2, 5, 40] {
            for size in [1e-150, 1e-100, 1e-8, 1.0, 1e8, 1e150] {
                let mut weights = Weights::new(n);
                let (regret, theory) = play(&mut weights, 2000, |_| size);
                let bound = weights.regret_bound();
                let rounding = 1e-12 * 2000.0 * size;
                assert!(
                    regret <= bound + rounding,
                    "{n} at {size:e}: {regret:e} {bound:e}"
                );
                assert!(
                    bound <= theory + rounding,
                    "{n} at {size:e}: {bound:e} {theory:e}"
                );
                assert!(
                    n == 1 || regret > 0.02 * bound,
                    "{n} at {size:e}: {regret:e} {bound:e}"
                );
                let sum: f64 = weights.get().iter().sum();
                assert!((sum - 1.0).abs() < 1e-12 && weights.get().iter().all(|w| *w >= 0.0));
            }
        }
    }

    #[test]
    fn scales_that_jump_leave_numbers_numbers() {
        let mut weights = Weights::new(3);
        let (regret, _) = play(&mut weights, 300, |t| [1e-150, 1.0, 1e150][t % 3]);
        assert!(
            regret <= weights.regret_bound() * (1.0 + 1e-9),
            "{regret:e}"
        );
        let sum: f64 = weights.get().iter().sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    }

    #[test]
    fn a_leader_that_is_always_right_gets_all_the_weight() {
        let mut weights = Weights::new(4);
        for _ in 0..200 {
            weights.step(&[1.0, 1.0, 0.0, 1.0]);
        }
        assert!(weights.get()[2] > 1.0 - 1e-12, "{:?}", weights.get());
        assert!(weights.regret_bound() < 4.0, "{}", weights.regret_bound());
    }
}
