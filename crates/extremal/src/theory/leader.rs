//! Follow the leader, and the perturbed leader: FPL with several samples per round, OSPF with
//! blocks of rounds.
//!
//! **The perturbed leader.** Move the set's centre to 0. Let h be the support function of the set, R
//! the largest norm of its points, and v uniform in the unit ball. The gradient of Φ_δ(s) = E h(s + v/δ)
//! is the expectation of a sampled decision. Φ_δ ≥ h, and when δ shrinks to δ', Φ grows by at
//! most R/δ' − R/δ. The gradient of Φ_δ is RLδ-Lipschitz, where L is [`perturbation_smoothness`].
//! Let G_b be the sum of the gradients of block b and S_b the sum of G_1, …, G_b. For decisions
//! x̄_b = ∇Φ_{δ_b}(−S_{b−1}) and a δ that does not grow, the potentials telescope:
//!
//! Σ⟨G_b, x̄_b − u⟩ ≤ R/δ_B + Σ D_b, D_b ≤ min(RLδ_b‖G_b‖²/2, D‖G_b‖).
//!
//! While S = 0, δ is ∞. Every point of the set, including the start, is then a valid decision, because
//! every point is a subgradient of h at 0.
//!
//! A decision x is the mean of m samples, so that E‖x − x̄‖² ≤ R²/m. For losses fixed before the run, a
//! round adds E⟨∇f(x), x − x̄⟩ = E⟨∇f(x) − ∇f(x̄), x − x̄⟩. This is 0 for linear losses, at most βR²/m
//! for β-smooth losses, and always at most GR/√m.

use super::Assumption::{Gradient, InExpectation, Oblivious, StronglyConvexLosses};
use super::Guarantee;
use crate::rounding;

/// Follow the leader for linear losses on an α-strongly convex set: regret ≤ 8G²(1 + ln T)/(αL) if the
/// sums S_t of the gradients have ‖S_t‖ ≥ L·t in every round (Huang et al. 2017, with the constants of
/// Kerdreux et al. 2021). `slowest` is L.
pub fn ftl(gradient: f64, alpha: f64, slowest: f64) -> Guarantee {
    let factor = 8.0 * gradient * (gradient / (alpha * slowest));
    let bound = move |rounds: f64| factor * (1.0 + rounds.max(1.0).ln());
    Guarantee::new("FTL, 8G²(1+ln T)/(αL)", 0.0, bound).assuming([Gradient(gradient)])
}

/// Follow the leader for λ-strongly convex losses: regret ≤ 2(G + λD)²(1 + ln T)/λ.
pub fn ftl_strongly_convex(gradient: f64, lambda: f64, diameter: f64) -> Guarantee {
    let slope = gradient + lambda * diameter;
    let factor = 2.0 * slope * (slope / lambda);
    let bound = move |rounds: f64| factor * (1.0 + rounds.max(1.0).ln());
    Guarantee::new("FTL, 2(G+λD)²(1+ln T)/λ", 0.0, bound)
        .assuming([Gradient(gradient), StronglyConvexLosses(lambda)])
}

/// The smoothness constant L = min(d, √(2(d + 1)/π)) of the perturbed leader in dimension d. L is at
/// least 2V_{d−1}/V_d, where V_d is the volume of the unit ball, because two unit balls whose centres are
/// ε apart differ in a volume of at most 2εV_{d−1}.
pub fn perturbation_smoothness(dim: f64) -> f64 {
    dim.min((2.0 * (dim + 1.0) / std::f64::consts::PI).sqrt())
}

/// The regret that sampling adds in a round: min(βR²/m, GR/√m) for the mean of m samples. A term
/// whose β or G is unknown is treated as ∞. `reach` is R.
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

/// The constants of the perturbed leader's theorems, except for δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Perturbation {
    /// R, the largest distance of a point of the set from its centre.
    pub reach: f64,
    /// D, the set's diameter.
    pub diameter: f64,
    /// d, the dimension.
    pub dim: f64,
    /// The regret from sampling. For [`perturbed`] this is the regret per round, and for
    /// [`perturbed_adaptive`] it is the total regret.
    pub noise: f64,
}

/// The perturbed leader with a fixed δ and blocks of k rounds: mean regret ≤
/// R/δ + RLδkG²T/2 + kGD + nT, where n is [`sampling_noise`]. With δ = 2/(G√(dTk)) the first two terms
/// are at most (3/2)RG√(dTk). If n relies on β-smooth losses, the caller must add the assumption
/// [`Smooth`](super::Assumption::Smooth). If k or the number of samples depends on T, the caller must
/// set the [exponent](Guarantee::with_exponent).
pub fn perturbed(leader: &Perturbation, gradient: f64, delta: f64, block: f64) -> Guarantee {
    let leader = *leader;
    let smoothness = perturbation_smoothness(leader.dim);
    mean_over_seeds(move |rounds| {
        let drift = 0.5 * smoothness * (delta * gradient) * gradient * block * rounds;
        let wait = block * gradient * leader.diameter;
        leader.reach * (1.0 / delta + drift) + wait + leader.noise * rounds
    })
    .assuming([Gradient(gradient)])
}

/// The perturbed leader with δ_b = c/√V_{b−1}: mean regret ≤ √V·(R/c + a + √(a² + D²)) + `noise`, where
/// a = cLR/2 and V = Σ‖G_b‖² of the run. `root` is √V.
///
/// Proof. With r = ‖G_b‖/√V_{b−1}, D_b ≤ √V_{b−1}·min(ar², Dr), and this is at most C(√V_b − √V_{b−1})
/// for C = a + √(a² + D²). To see this, divide both terms by √(1 + r²) − 1: the first quotient rises with
/// r, and the second quotient falls. At r = D/a both quotients are C.
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
