//! One number, learnt by betting: no step size, no horizon, no scale.

use serde::{Deserialize, Serialize};

use crate::theory;

/// Plays a number against linear losses q·m. It bets the part tanh(θ/(A + 2L)) of what it has,
/// θ = −Σq, A = Σ|q|, and owns ε·L and all it has won, L the largest |q| so far. A q larger than
/// all before counts as large as those.
///
/// What it owns is at least εL₁√(L₁/(A + L))·exp(θ²/(2L(A + L))). For one round with L fixed: the
/// logarithm of what it owns grows by ln(1 + c·tanh x), c = −q/L, x = θ/(A + 2L), to be compared
/// with the growth of φ = θ²/(2L(A + L)) − ½ ln((A + L)/L). The former is concave in c, the latter
/// convex on either side of 0, so that c = ±1 remain; there ln(1 ± tanh x) ≥ ±x − x²/2, and φ grows
/// by no more. A larger L lets φ grow by at most ½ ln of the ratio.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct CoinBet {
    /// L₁, the first |q| that is not 0.
    first: f64,
    /// L.
    scale: f64,
    /// θ.
    sum: f64,
    /// A.
    total: f64,
    /// What was won.
    won: f64,
}

impl CoinBet {
    /// The bet, with ε = `stake`. It may lie outside the interval that is allowed: the nearest
    /// number inside is played.
    pub(crate) fn value(&self, stake: f64) -> f64 {
        if self.scale == 0.0 {
            return 0.0;
        }
        let part = (self.sum / (self.total + 2.0 * self.scale)).tanh();
        part * (stake + self.won / self.scale).max(0.0)
    }

    /// Takes q, where this was bet and numbers from 0 to `high` were allowed.
    pub(crate) fn update(&mut self, q: f64, bet: f64, high: f64) {
        if self.scale == 0.0 {
            // nothing was bet yet, so that any size will do
            self.first = q.abs();
            self.scale = self.first;
        }
        let counted = q.clamp(-self.scale, self.scale);
        self.scale = self.scale.max(q.abs());
        // Outside, what drives it further out is no loss of the number played.
        if (bet < 0.0 && q > 0.0) || (bet > high && q < 0.0) {
            return;
        }
        self.sum -= counted;
        self.total += counted.abs();
        self.won -= counted * bet;
    }

    /// The losses of numbers in [0, 1] that it chose exceed those of 1 by at most this.
    pub(crate) fn regret_bound(&self, stake: f64) -> f64 {
        theory::coin_betting(stake, self.first, self.scale, self.total)
    }
}
