//! Betting, and what it adds to Gauge-FTRL.

/// A number in [0, 1] played by betting against linear losses loses at most this more than 1 does:
/// (1 + ε)L + √(S ln(1 + S/K²)) with S = L(A + L) and K = εL₁√(L₁/(A + L)), where L is the largest
/// |q_t|, L₁ the first that is not 0, A = Σ|q_t| and ε the stake. As A ≤ LT, that is of order
/// L√(T ln(T·L/L₁)). The ratio L/L₁ may be large: after a first loss of 1e-90 the bound is several
/// times what it is without.
///
/// Proof. It owns at least K·exp(θ²/(2S)), θ = −Σq_t (see `learner/bettor.rs`, after Orabona &
/// Tommasi, NeurIPS 2017), and was given εL: its regret is at most εL + θ − K·exp(θ²/(2S)). Up to
/// B = √(S ln(1 + S/K²)) that is at most εL + B, and beyond B it falls, as its slope there is
/// 1 − √((1 + z) ln(1 + z)/z) ≤ 0, z = S/K². What exceeds all before is counted as large as those:
/// L at most over all rounds.
///
/// ```
/// let bound = |rounds| extremal::theory::coin_betting(0.001, 1.0, 1.0, rounds);
/// assert!(bound(1e6) < 12.0 * bound(1e4));
/// ```
pub fn coin_betting(stake: f64, first: f64, scale: f64, total: f64) -> f64 {
    if scale == 0.0 {
        return 0.0;
    }
    // ln(S/K²), by parts: neither need be a number
    let z =
        (scale.ln() - first.ln()) + 2.0 * ((total + scale).ln() - first.ln()) - 2.0 * stake.ln();
    let log = if z > 40.0 { z } else { z.exp().ln_1p() };
    (1.0 + stake) * scale + scale * ((1.0 + total / scale) * log).sqrt()
}

as_played!(
    /// Gauge-FTRL's 2β and the betting for its share, as the run has them; for the rounds played.
    CoinFtrl {
        /// The sum of both.
        bound
    }, "Coin-FTRL, 2β and the bets", 0.5
);
