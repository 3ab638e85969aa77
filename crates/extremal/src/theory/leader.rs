//! Follow the leader, and the perturbed leader: FPL with several samples per round, OSPF with
//! blocks of rounds.
//!
//! **The perturbed leader.** With h the support function of the set moved to its centre, R its
//! largest norm there, and v drawn evenly from the unit ball, Φ_δ(s) = E h(s + v/δ) has the mean of
//! a sample as its gradient. It lies above h, by no more than R/δ more for a smaller δ than for a
//! larger one, and its gradient changes by no more than RLδ times the way,
//! L = [`perturbation_smoothness`]. Let block b have the sum of gradients G_b, and S_b be the sum
//! up to it. For decisions x̄_b = ∇Φ_{δ_b}(−S_{b−1}), δ not growing, the potentials telescope:
//!
//! Σ⟨G_b, x̄_b − u⟩ ≤ R/δ_B + Σ D_b, D_b ≤ min(RLδ_b‖G_b‖²/2, D‖G_b‖).
//!
//! As long as S = 0 every point of the set is a ∇h(0), that is δ = ∞, and the start is one.
//!
//! A decision is a mean x of m samples, E‖x − x̄‖² ≤ R²/m. For losses that were fixed beforehand
//! E⟨∇f(x), x − x̄⟩ = E⟨∇f(x) − ∇f(x̄), x − x̄⟩ is 0 if they are linear, at most βR²/m if they are
//! β-smooth, and in any case at most GR/√m. That is what a round adds.

use super::Assumption::{Gradient, InExpectation, Oblivious, StronglyConvexLosses};
use super::Guarantee;
use crate::rounding;

/// Regret ≤ 8G²(1 + ln T)/(αL): linear losses over an α-strongly convex set, ‖S_t‖ ≥ L·t in every
/// round (Huang et al. 2017 with the constants of Kerdreux et al. 2021). `slowest` is L.
pub fn ftl(gradient: f64, alpha: f64, slowest: f64) -> Guarantee {
    let factor = 8.0 * gradient * (gradient / (alpha * slowest));
    let bound = move |rounds: f64| factor * (1.0 + rounds.max(1.0).ln());
    Guarantee::new("FTL, 8G²(1+ln T)/(αL)", 0.0, bound).assuming([Gradient(gradient)])
}

/// Regret ≤ 2(G + λD)²(1 + ln T)/λ: λ-strongly convex losses.
pub fn ftl_strongly_convex(gradient: f64, lambda: f64, diameter: f64) -> Guarantee {
    let slope = gradient + lambda * diameter;
    let factor = 2.0 * slope * (slope / lambda);
    let bound = move |rounds: f64| factor * (1.0 + rounds.max(1.0).ln());
    Guarantee::new("FTL, 2(G+λD)²(1+ln T)/λ", 0.0, bound)
        .assuming([Gradient(gradient), StronglyConvexLosses(lambda)])
}

/// L = min(d, √(2(d + 1)/π)): no less than 2V_{d−1}/V_d, V the volume of the unit ball. Two balls
/// that are ε apart differ in no more than 2εV_{d−1} of their volume.
pub fn perturbation_smoothness(dim: f64) -> f64 {
    dim.min((2.0 * (dim + 1.0) / std::f64::consts::PI).sqrt())
}

/// The regret that a round with the mean of m samples adds: min(βR²/m, GR/√m), as far as β and G
/// are known; ∞ if neither is.
pub fn sampling_noise(
    smoothness: Option<f64>,
    gradient: Option<f64>,
    reach: f64,
    samples: f64,
) -> f64 {
    let smooth = smoothness.map_or(f64::INFINITY, |beta| (beta * reach) * (reach / samples));
    let convex = gradient.map_or(f64::INFINITY, |g| g * (reach / samples.sqrt()));
    smooth.min(convex)
}

/// The constants of the perturbed leader's theorems besides δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Perturbation {
    /// R, the set's largest norm from its centre.
    pub reach: f64,
    /// D.
    pub diameter: f64,
    /// d.
    pub dim: f64,
    /// The regret from sampling: per round for [`perturbed`], in total for [`perturbed_adaptive`].
    pub noise: f64,
}

/// Mean regret ≤ R/δ + RLδkG²T/2 + kGD + nT, for blocks of k rounds, n from [`sampling_noise`].
/// With δ = 2/(G√(dTk)) the first two are at most (3/2)RG√(dTk). A
/// caller whose n relies on β-smooth losses adds [`Smooth`](super::Assumption::Smooth), and one that chooses k or m by
/// T the [exponent](Guarantee::with_exponent) that follows.
pub fn perturbed(leader: &Perturbation, gradient: f64, delta: f64, block: f64) -> Guarantee {
    let Perturbation {
        reach,
        diameter,
        dim,
        noise,
    } = *leader;
    let smoothness = perturbation_smoothness(dim);
    mean_over_seeds(move |rounds| {
        let drift = 0.5 * smoothness * (delta * gradient) * gradient * block * rounds;
        reach * (1.0 / delta + drift) + block * gradient * diameter + noise * rounds
    })
    .assuming([Gradient(gradient)])
}

/// Mean regret ≤ √V·(R/c + a + √(a² + D²)) with a = cLR/2, V = Σ‖G_b‖² of the run and
/// δ_b = c/√V_{b−1}, and what sampling adds, `noise` over all rounds. `root` is √V.
///
/// With r = ‖G_b‖/√V_{b−1}, D_b ≤ √V_{b−1}·min(ar², Dr), which is at most
/// C(√V_b − √V_{b−1}) for C = a + √(a² + D²): the quotient of ar² and √(1 + r²) − 1 rises with r,
/// that of Dr falls, and where they meet, at r = D/a, both are C.
pub fn perturbed_adaptive(leader: &Perturbation, c: f64, root: f64) -> Guarantee {
    let reach = leader.reach;
    let a = 0.5 * c * perturbation_smoothness(leader.dim) * reach;
    let bound = root * (reach / c + a + a.hypot(leader.diameter)) + leader.noise;
    mean_over_seeds(move |rounds| bound * rounding::of_run(rounds))
}

fn mean_over_seeds(bound: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Guarantee {
    Guarantee::new("Perturbed leader, mean over seeds", 0.5, bound)
        .assuming([Oblivious, InExpectation])
}
