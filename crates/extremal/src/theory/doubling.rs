//! Restarts for an unknown T, an unknown G, or both.
//!
//! Take a learner whose regret over n rounds is at most B(n), linear in G. After fewer rounds it
//! is no larger: rounds without a loss may follow, and change nothing.
//!
//! **T unknown.** It starts anew in rounds 1, 2, 4, 8, …, each time for as many rounds as have
//! been played. The regrets add up to Σ_{m ≤ log₂T} B(2^m).
//!
//! **G unknown.** It starts anew with a guess Ĝ doubled until it is at least ‖g_t‖, whenever it is
//! not; the first guess is the first ‖g_t‖ > 0. (Where the gradient is 0, the decision was
//! optimal.) Each guess is at least twice the one before, so that all of them add up to 2Ĝ at
//! most, Ĝ the last; and Ĝ < 2·max‖g_t‖. Each has its own stretch of at most n rounds, and the
//! regrets add up to twice B(n) for Ĝ, less than four times B(n) for G.
//!
//! **Both.** Restarts for T as above; a guess outgrown in between starts anew for 2^m rounds
//! again. The guesses within one such stretch are distinct and add up to 2Ĝ at most, so that the
//! regret is at most twice Σ_{m ≤ log₂T} B(2^m) for Ĝ.

use super::{Assumption, Guarantee};

/// Σ B(2^m) over 2^m ≤ T: the bound of restarts in rounds 1, 2, 4, …. For B = c·T^a it is at most
/// 2^a/(2^a − 1) times B(T). For c·(T+2)^a it can be more.
///
/// ```
/// use extremal::theory::{doubled, ofw};
/// let bound = |t| ofw(1.0, 2.0, t).bound(t);
/// assert_eq!(doubled(3.0, bound), bound(1.0) + bound(2.0));
/// assert!(doubled(4096.0, bound) <= 2.47 * bound(4096.0));
/// ```
pub fn doubled(rounds: f64, bound: impl Fn(f64) -> f64) -> f64 {
    let stretches = std::iter::successors(Some(1.0), |n| Some(2.0 * n));
    stretches
        .take_while(|n| *n <= rounds && n.is_finite())
        .map(bound)
        .sum()
}

/// The theorem of a learner that starts anew. `theorem` maps T and G to the theorem of one
/// stretch. `horizon` is T where it is known. `gradient` is G, or the present guess of it where
/// `guessed`.
pub fn restarted(
    horizon: Option<f64>,
    gradient: f64,
    guessed: bool,
    theorem: impl Fn(f64, f64) -> Guarantee + Send + Sync + 'static,
) -> Guarantee {
    let one = theorem(horizon.unwrap_or(1.0), gradient);
    let assumptions = one.assumptions().to_vec().into_iter();
    let kept = assumptions.filter(|a| horizon.is_some() || !matches!(a, Assumption::Horizon(_)));
    let name = format!("{}, with restarts", one.theorem());
    let guesses = if guessed { 2.0 } else { 1.0 };
    let bound = move |rounds| match horizon {
        Some(horizon) => guesses * theorem(horizon, gradient).bound(rounds),
        None => guesses * doubled(rounds, |n| theorem(n, gradient).bound(n)),
    };
    Guarantee::new(name, one.exponent(), bound).assuming(kept)
}
