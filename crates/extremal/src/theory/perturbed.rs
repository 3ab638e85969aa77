//! The perturbed leader: FPL with several samples per round, OSPF with blocks of rounds.
//!
//! With h the support function of the set moved to its centre, R its largest norm there, and v
//! drawn evenly from the unit ball, Φ_δ(s) = E h(s + v/δ) has the mean of a sample as its gradient.
//! It lies above h, by no more than R/δ more for a smaller δ than for a larger one, and its gradient
//! changes by no more than RLδ times the way, L = [`perturbation_smoothness`]. Let block b have the
//! sum of gradients G_b, and S_b be the sum up to it. For decisions x̄_b = ∇Φ_{δ_b}(−S_{b−1}),
//! δ not growing, the potentials telescope:
//!
//! Σ⟨G_b, x̄_b − u⟩ ≤ R/δ_B + Σ D_b, D_b ≤ min(RLδ_b‖G_b‖²/2, D‖G_b‖).
//!
//! As long as S = 0 every point of the set is a ∇h(0), that is δ = ∞, and the start is one.
//!
//! A decision is a mean x of m samples, E‖x − x̄‖² ≤ R²/m. For losses that were fixed beforehand
//! E⟨∇f(x), x − x̄⟩ = E⟨∇f(x) − ∇f(x̄), x − x̄⟩ is 0 if they are linear, at most βR²/m if they are
//! β-smooth, and in any case at most GR/√m. That is what a round adds.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// L = min(d, √(2(d + 1)/π)): no less than 2V_{d−1}/V_d, V the volume of the unit ball. Two balls
/// that are ε apart differ in no more than 2εV_{d−1} of their volume.
pub fn perturbation_smoothness(dim: f64) -> f64 {
    dim.min((2.0 * (dim + 1.0) / std::f64::consts::PI).sqrt())
}

/// Mean regret ≤ R/δ + RLδkG²T/2 + kGD + nT, for blocks of k rounds, n from [`sampling_noise`].
/// With δ = 2/(G√(dTk)) the first two are at most (3/2)RG√(dTk).
pub fn perturbed(law: &PerturbedFixed, rounds: f64) -> f64 {
    let PerturbedFixed {
        gradient,
        reach,
        diameter,
        dim,
        delta,
        block,
        noise,
        ..
    } = *law;
    let smoothness = perturbation_smoothness(dim);
    let drift = 0.5 * smoothness * (delta * gradient) * gradient * block * rounds;
    reach * (1.0 / delta + drift) + block * gradient * diameter + noise * rounds
}

/// Mean regret ≤ √V·(R/c + a + √(a² + D²)) with a = cLR/2, V = Σ‖G_b‖² and δ_b = c/√V_{b−1},
/// and what sampling adds.
///
/// With r = ‖G_b‖/√V_{b−1}, D_b ≤ √V_{b−1}·min(ar², Dr), which is at most
/// C(√V_b − √V_{b−1}) for C = a + √(a² + D²): the quotient of ar² and √(1 + r²) − 1 rises with r,
/// that of Dr falls, and where they meet, at r = D/a, both are C.
pub fn perturbed_adaptive(reach: f64, diameter: f64, dim: f64, c: f64, root: f64) -> f64 {
    let a = 0.5 * c * perturbation_smoothness(dim) * reach;
    root * (reach / c + a + a.hypot(diameter))
}

/// What a round with the mean of m samples adds: min(βR²/m, GR/√m), as far as β and G are known;
/// ∞ if neither is.
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

/// What is taken for granted of the losses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Losses {
    /// Linear ones.
    Linear,
    /// Those of smoothness β.
    Smooth(f64),
    /// Any convex ones.
    Convex,
}

impl Losses {
    /// Those of smoothness β.
    pub fn of(smoothness: Option<f64>) -> Self {
        match smoothness {
            Some(0.0) => Self::Linear,
            Some(beta) => Self::Smooth(beta),
            None => Self::Convex,
        }
    }

    fn theorem(self) -> &'static str {
        match self {
            Self::Linear => "Perturbed leader, mean over seeds, linear losses",
            Self::Smooth(_) => "Perturbed leader, mean over seeds, smooth losses",
            Self::Convex => "Perturbed leader, mean over seeds",
        }
    }

    fn assumptions(self, gradient: Option<f64>) -> Vec<Assumption> {
        let kind = match self {
            Self::Linear => Some(Assumption::Linear),
            Self::Smooth(beta) => Some(Assumption::Smooth(beta)),
            Self::Convex => None,
        };
        let gradient = gradient.map(Assumption::Gradient).into_iter();
        gradient
            .chain(kind)
            .chain([Assumption::Oblivious, Assumption::InExpectation])
            .collect()
    }
}

/// [`perturbed`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PerturbedFixed {
    /// G.
    pub gradient: f64,
    /// R, from the centre.
    pub reach: f64,
    /// D.
    pub diameter: f64,
    /// d.
    pub dim: f64,
    /// δ.
    pub delta: f64,
    /// k.
    pub block: f64,
    /// n.
    pub noise: f64,
    /// Of which kind.
    pub losses: Losses,
    /// a, with k or m as they are chosen.
    pub exponent: f64,
}

impl Theorem for PerturbedFixed {
    fn name(&self) -> &'static str {
        self.losses.theorem()
    }

    fn bound(&self, rounds: f64) -> f64 {
        perturbed(self, rounds)
    }

    fn exponent(&self) -> f64 {
        self.exponent
    }

    fn assumptions(&self) -> Vec<Assumption> {
        self.losses.assumptions(Some(self.gradient))
    }
}

/// [`perturbed_adaptive`] and the noise, for the rounds played.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PerturbedAdaptive {
    /// The bound.
    pub bound: f64,
    /// G, where it was given.
    pub gradient: Option<f64>,
    /// Of which kind.
    pub losses: Losses,
    /// a, with k or m as they are chosen.
    pub exponent: f64,
}

impl Theorem for PerturbedAdaptive {
    fn name(&self) -> &'static str {
        self.losses.theorem()
    }

    fn bound(&self, _rounds: f64) -> f64 {
        self.bound
    }

    fn exponent(&self) -> f64 {
        self.exponent
    }

    fn assumptions(&self) -> Vec<Assumption> {
        self.losses.assumptions(self.gradient)
    }
}
