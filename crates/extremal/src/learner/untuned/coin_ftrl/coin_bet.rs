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
pub(crate) struct Bettor {
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

impl Bettor {
    /// The bet, with ε = `stake`. It may lie outside the interval that is allowed: the nearest
    /// number inside is played.
    pub(crate) fn bet(&self, stake: f64) -> f64 {
        if self.scale == 0.0 {
            return 0.0;
        }
        let part = (self.sum / (self.total + 2.0 * self.scale)).tanh();
        part * (stake + self.won / self.scale)
    }

    /// Takes q, where this was bet and numbers from 0 to `high` were allowed.
    pub(crate) fn settle(&mut self, q: f64, bet: f64, high: f64) {
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

#[cfg(test)]
mod tests {
    use crate::learner::untuned::coin_ftrl::coin_bet::*;

    /// ln(1 + c·tanh x) and the growth of φ, at L = 1.
    fn growths(theta: f64, total: f64, c: f64) -> (f64, f64) {
        let won = (c * (theta / (total + 2.0)).tanh()).ln_1p();
        let phi = |theta: f64, total: f64| {
            theta * theta / (2.0 * (total + 1.0)) - 0.5 * (total + 1.0).ln()
        };
        (won, phi(theta + c, total + c.abs()) - phi(theta, total))
    }

    #[test]
    fn what_is_owned_grows_as_fast_as_the_potential() {
        let mut closest = f64::INFINITY;
        for exponent in -8..=12 {
            let total = 2f64.powi(exponent);
            for part in -20..=20 {
                for c in -20..=20 {
                    let theta = total * f64::from(part) / 20.0;
                    let (won, needed) = growths(theta, total, f64::from(c) / 20.0);
                    assert!(won >= needed - 1e-9, "θ {theta} A {total} c {c}");
                    if c != 0 {
                        closest = closest.min((won - needed) * (total + 1.0));
                    }
                }
            }
        }
        // it is no bound with room to spare
        assert!(closest < 1e-2, "{closest}");
    }

    /// Regret against 0 and 1, and the largest |q|.
    fn play(stake: f64, losses: impl Fn(usize, f64) -> f64) -> ([f64; 2], Bettor) {
        let mut bettor = Bettor::default();
        let (mut lost, mut sum) = (0.0, 0.0);
        for t in 0..3000 {
            let m = bettor.bet(stake).clamp(0.0, 1.0);
            let q = losses(t, m);
            lost += q * m;
            sum += q;
            bettor.settle(q, bettor.bet(stake), 1.0);
        }
        ([lost, lost - sum], bettor)
    }

    #[test]
    fn its_losses_are_near_those_of_both_ends_whatever_comes() {
        let noise = |t: usize| ((t * 7919 % 1000) as f64 / 500.0 - 1.0) * 0.999;
        type Losses = Box<dyn Fn(usize, f64) -> f64>;
        for size in [1e-100, 1.0, 1e100] {
            let streams: [Losses; 6] = [
                Box::new(move |t, _| size * noise(t)),
                Box::new(move |t, _| size * (noise(t) - 0.1)),
                Box::new(move |t, _| size * (noise(t) + 0.1)),
                Box::new(move |_, m| if m > 0.5 { size } else { -size }),
                Box::new(move |t, _| if t % 2 == 0 { size } else { -size }),
                Box::new(move |t, _| size * noise(t) * (t as f64 + 1.0).powi(2) / 9e6),
            ];
            for (k, losses) in streams.iter().enumerate() {
                for stake in [1.0 / 1024.0, 0.5] {
                    let ([idle, full], bettor) = play(stake, losses);
                    let scale = bettor.scale;
                    assert!(idle <= (1.0 + stake) * scale, "{k} {size:e}: {idle:e}");
                    let bound = bettor.regret_bound(stake);
                    assert!(full <= bound, "{k} {size:e}: {full:e}, bound {bound:e}");
                    assert!(bound < 300.0 * 3000f64.sqrt() * scale, "{k}: {bound:e}");
                }
            }
        }
    }

    #[test]
    fn it_follows_who_is_right() {
        let (_, bettor) = play(1.0 / 1024.0, |_, _| -1.0);
        assert!(bettor.bet(1.0 / 1024.0) >= 1.0);
        let ([idle, _], _) = play(1.0 / 1024.0, |_, _| -1.0);
        assert!(idle < -2900.0, "{idle}");
    }
}
