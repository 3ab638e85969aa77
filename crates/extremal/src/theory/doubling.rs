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

use serde::{Deserialize, Serialize};

use super::{Assumption, Guarantee, Ofw, OfwLs, OfwWeibel, Theorem};

/// 2^a/(2^a − 1): what a bound c·T^a is multiplied by at most when T is unknown. It is no such
/// factor for c·(T+2)^a, whose sum over the stretches is larger: [`doubled`] has that.
pub fn doubling_factor(exponent: f64) -> f64 {
    let grown = exponent.exp2();
    grown / (grown - 1.0)
}

/// Σ B(2^m) over 2^m ≤ T: what restarts in rounds 1, 2, 4, … are held to.
///
/// ```
/// use extremal::theory::{doubled, doubling_factor, ofw};
/// let bound = |t| ofw(1.0, 2.0, t);
/// assert_eq!(doubled(3.0, bound), bound(1.0) + bound(2.0));
/// assert!(doubled(4096.0, bound) <= doubling_factor(0.75) * bound(4096.0));
/// ```
pub fn doubled(rounds: f64, bound: impl Fn(f64) -> f64) -> f64 {
    let stretches = std::iter::successors(Some(1.0), |n| Some(2.0 * n));
    stretches
        .take_while(|n| *n <= rounds && n.is_finite())
        .map(bound)
        .sum()
}

/// The theorem of a learner that starts anew. Saved states hold their places in this list: new
/// ones go to its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // each bears its theorem's name
pub enum Restarted {
    Ofw(Ofw),
    OfwWeibel(OfwWeibel),
    OfwLs(OfwLs),
}

impl Restarted {
    fn inner(&self) -> &dyn Theorem {
        match self {
            Self::Ofw(theorem) => theorem,
            Self::OfwWeibel(theorem) => theorem,
            Self::OfwLs(theorem) => theorem,
        }
    }

    /// The same for another G.
    pub fn with_gradient(mut self, g: f64) -> Self {
        match &mut self {
            Self::Ofw(Ofw { gradient, .. })
            | Self::OfwWeibel(OfwWeibel { gradient, .. })
            | Self::OfwLs(OfwLs { gradient, .. }) => *gradient = g,
        }
        self
    }
}

impl From<Restarted> for Guarantee {
    fn from(theorem: Restarted) -> Self {
        match theorem {
            Restarted::Ofw(theorem) => theorem.into(),
            Restarted::OfwWeibel(theorem) => theorem.into(),
            Restarted::OfwLs(theorem) => theorem.into(),
        }
    }
}

/// A theorem with restarts for what is unknown: see [`doubled`], and twice it for an unknown G.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Doubled {
    /// The theorem of one stretch, with the present guess where G is unknown.
    pub theorem: Restarted,
    /// Whether T is unknown.
    pub rounds: bool,
    /// Whether G is unknown.
    pub gradient: bool,
}

impl Theorem for Doubled {
    fn name(&self) -> &'static str {
        match self.theorem {
            Restarted::Ofw(_) => "OFW, 8GDT^(3/4), with restarts",
            Restarted::OfwWeibel(_) => "OFW tuned, (4/3^(3/4))GDT^(3/4), with restarts",
            Restarted::OfwLs(_) => "Wan & Zhang, Theorem 1, with restarts",
        }
    }

    fn bound(&self, rounds: f64) -> f64 {
        let theorem = self.theorem.inner();
        let guesses = if self.gradient { 2.0 } else { 1.0 };
        guesses
            * if self.rounds {
                doubled(rounds, |n| theorem.bound(n))
            } else {
                theorem.bound(rounds)
            }
    }

    fn exponent(&self) -> f64 {
        self.theorem.inner().exponent()
    }

    fn assumptions(&self) -> Vec<Assumption> {
        let mut all = self.theorem.inner().assumptions();
        all.retain(|a| !(self.rounds && matches!(a, Assumption::Horizon(_))));
        all
    }
}
