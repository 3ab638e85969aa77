//! Restarts for an unknown T, an unknown G, or both.
//!
//! Let a learner's regret over n rounds be at most B(n), which is linear in G. After fewer rounds the
//! regret is at most B(n) too, because rounds with the loss 0 could follow.
//!
//! **T unknown.** The learner restarts in rounds 1, 2, 4, 8, …, each time with a horizon equal to the
//! number of rounds until the next restart. The regrets sum to Σ_{m ≤ log₂T} B(2^m).
//!
//! **G unknown.** The first guess Ĝ is the first ‖g_t‖ > 0. (Earlier decisions have the gradient 0 and
//! are optimal.) Whenever ‖g_t‖ > Ĝ, the learner doubles Ĝ until Ĝ ≥ ‖g_t‖, and restarts. Each guess is
//! at least twice the guess before. All guesses therefore sum to at most twice the last guess, and the
//! last guess is below 2·max‖g_t‖. Each guess is used for at most n rounds. The regrets sum to at most
//! 2B(n), where B uses the last Ĝ as G. This is less than 4B(n) for G = max‖g_t‖.
//!
//! **Both unknown.** The learner restarts for T as above. If a gradient exceeds the guess before the next
//! such restart, the learner restarts with the same horizon 2^m. The guesses between two restarts for T
//! are distinct and sum to at most 2Ĝ. The regret is at most twice Σ_{m ≤ log₂T} B(2^m), where B uses Ĝ
//! as G.

use super::{Assumption, Guarantee};

/// The bound Σ B(2^m) over 2^m ≤ T of a learner that restarts in rounds 1, 2, 4, …. For B(T) = c·T^a this
/// sum is at most 2^a/(2^a − 1) times B(T). For B(T) = c·(T+2)^a the sum can be larger.
///
/// ```
/// use extremal::theory::{doubled, ofw};
/// let bound = |t| ofw(1.0, 2.0, t).bound(t);
/// assert_eq!(doubled(3.0, bound), bound(1.0) + bound(2.0));
/// assert!(doubled(4096.0, bound) <= 2.47 * bound(4096.0));
/// ```
pub fn doubled(rounds: f64, bound: impl Fn(f64) -> f64) -> f64 {
    let lengths = std::iter::successors(Some(1.0), |n| Some(2.0 * n));
    let played = lengths.take_while(|n| *n <= rounds && n.is_finite());
    played.map(bound).sum()
}

/// The theorem of a learner that restarts. `theorem` maps T and G to the theorem between two
/// restarts. `horizon` is T if it is known. `gradient` is G, or the last guess if `guessed` is true.
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
