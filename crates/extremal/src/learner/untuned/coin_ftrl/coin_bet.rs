//! A number that is learnt by betting, without step size, horizon or scale.

use serde::{Deserialize, Serialize};

use crate::theory;

/// Plays a number m against linear losses q·m. Let θ = −Σq, let A = Σ|q|, and let L be the largest
/// |q| so far. The first L is L₁. The wealth is ε·L plus all winnings, and the bet is the fraction
/// tanh(θ/(A + 2L)) of the wealth. If |q| exceeds all earlier sizes, it is reduced to the old L.
///
/// The wealth is at least εL₁√(L₁/(A + L))·exp(θ²/(2L(A + L))). Proof for one round with L fixed:
/// the logarithm of the wealth grows by ln(1 + c·tanh x) with c = −q/L and x = θ/(A + 2L). Compare
/// this with the growth of φ = θ²/(2L(A + L)) − ½ ln((A + L)/L). The growth of the logarithm is
/// concave in c, and that of φ is convex on either side of 0. Hence it suffices to check c = ±1.
/// There ln(1 ± tanh x) ≥ ±x − x²/2, and φ grows by at most ±x − x²/2. If L grows to L', φ grows by
/// at most ½ ln(L'/L).
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct CoinBet {
    /// L₁, the first |q| that is not 0.
    first: f64,
    /// L, the largest |q| so far.
    scale: f64,
    /// θ = −Σq.
    sum: f64,
    /// A = Σ|q|.
    total: f64,
    /// The sum of the winnings.
    won: f64,
}

impl CoinBet {
    /// The bet, with ε = `stake`. If it lies outside the allowed interval, the learner plays the
    /// nearest number of the interval.
    pub(crate) fn value(&self, stake: f64) -> f64 {
        self.value_at(stake, self.scale)
    }

    /// The bet with a scale L' ≥ L in place of L.
    pub(crate) fn value_at(&self, stake: f64, scale: f64) -> f64 {
        if self.scale == 0.0 {
            return 0.0;
        }
        let part = (self.sum / (self.total + 2.0 * scale)).tanh();
        part * (stake + self.won / scale).max(0.0)
    }

    /// The scale L' for a bet, given a bound on the size of the coming q: the bound if it exceeds
    /// 4L, and L in all other cases.
    pub(crate) fn scale_for(&self, bound: f64) -> f64 {
        if bound > 4.0 * self.scale {
            bound
        } else {
            self.scale
        }
    }

    /// Receives the loss q after this bet. The allowed numbers were 0 to `high`.
    pub(crate) fn update(&mut self, q: f64, bet: f64, high: f64) {
        self.update_at(q, bet, high, self.scale);
    }

    /// The update after a bet with the scale L'. A larger |q| is reduced to L'.
    pub(crate) fn update_at(&mut self, q: f64, bet: f64, high: f64, scale: f64) {
        if self.scale == 0.0 {
            // no bet was made yet, so any scale is valid
            self.first = q.abs();
            self.scale = self.first;
        }
        let counted = q.clamp(-self.scale, self.scale);
        let limit = self.scale.max(scale);
        let paid = q.clamp(-limit, limit);
        self.scale = self.scale.max(q.abs());
        // If the bet is outside the interval, a q that moves it farther outside is ignored.
        if (bet < 0.0 && q > 0.0) || (bet > high && q < 0.0) {
            return;
        }
        self.sum -= counted;
        self.total += counted.abs();
        self.won -= paid * bet;
    }

    /// If all numbers played are in [0, 1], their loss exceeds the loss of the number 1 by at most
    /// this bound.
    pub(crate) fn regret_bound(&self, stake: f64) -> f64 {
        theory::coin_betting(stake, self.first, self.scale, self.total)
    }
}
