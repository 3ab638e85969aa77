//! Every theorem's bound as a function, with its assumptions, and a check of a run against them.
//! A curve is only worth drawing where the assumptions were verified, and says nothing where it
//! exceeds the trivial G·D·T.

use serde::{Deserialize, Serialize};

mod adahedge;
mod ofw_free;

pub use adahedge::{AdaHedge, adahedge};
pub use ofw_free::OfwFree;

/// Regret ≤ 8GDT^(3/4): OFW (Hazan's book, ch. 7).
pub fn ofw(gradient: f64, diameter: f64, rounds: f64) -> f64 {
    8.0 * gradient * diameter * rounds.powf(0.75)
}

/// Regret ≤ (4/3^(3/4))GDT^(3/4): OFW with tuned constants (Weibel et al. 2025).
pub fn ofw_weibel(gradient: f64, diameter: f64, rounds: f64) -> f64 {
    4.0 / 3f64.powf(0.75) * gradient * diameter * rounds.powf(0.75)
}

/// C = max(4D², 4096/(3α²)) of Theorem 1.
pub fn ofw_ls_constant(diameter: f64, alpha: f64) -> f64 {
    (4.0 * diameter * diameter).max(4096.0 / (3.0 * alpha * alpha))
}

/// Regret ≤ (11/4)G√C(T+2)^(2/3): OFW with line search (Wan & Zhang, Theorem 1).
pub fn ofw_ls(gradient: f64, diameter: f64, alpha: f64, rounds: f64) -> f64 {
    11.0 / 4.0 * gradient * ofw_ls_constant(diameter, alpha).sqrt() * (rounds + 2.0).powf(2.0 / 3.0)
}

/// F_{t−1}(x_t) − min F_{t−1} ≤ C(t+2)^(−2/3): the lemma behind Theorem 1.
pub fn ofw_ls_lemma(diameter: f64, alpha: f64, t: f64) -> f64 {
    ofw_ls_constant(diameter, alpha) * (t + 2.0).powf(-2.0 / 3.0)
}

/// F_{t−1}(x_t) − min F_{t−1} ≤ C = max(4(G+λD)²/λ, 288λ/α²): the lemma behind Theorem 2.
pub fn sc_ofw_constant(gradient: f64, lambda: f64, diameter: f64, alpha: f64) -> f64 {
    let slope = gradient + lambda * diameter;
    (4.0 * slope * slope / lambda).max(288.0 * lambda / (alpha * alpha))
}

/// Regret ≤ C√(2T) + (C/2)ln T + GD: SC-OFW on strongly convex sets (Wan & Zhang, Theorem 2).
pub fn sc_ofw_curved(gradient: f64, lambda: f64, diameter: f64, alpha: f64, rounds: f64) -> f64 {
    let c = sc_ofw_constant(gradient, lambda, diameter, alpha);
    c * (2.0 * rounds).sqrt() + 0.5 * c * rounds.max(1.0).ln() + gradient * diameter
}

/// Regret ≤ (3√2/8)CT^(2/3) + (C/8)ln T + GD, C = 16(G+λD)²/λ: SC-OFW on any set (Theorem 3).
pub fn sc_ofw_general(gradient: f64, lambda: f64, diameter: f64, rounds: f64) -> f64 {
    let slope = gradient + lambda * diameter;
    let c = 16.0 * slope * slope / lambda;
    3.0 * 2f64.sqrt() / 8.0 * c * rounds.powf(2.0 / 3.0)
        + c * rounds.max(1.0).ln() / 8.0
        + gradient * diameter
}

/// Regret ≤ β + LG²T/(2β): Gauge-FTRL with a fixed β; G√(2LT) at the best β = G√(LT/2).
pub fn gauge_ftrl(gradient: f64, l: f64, beta: f64, rounds: f64) -> f64 {
    beta + 0.5 * l * gradient * (gradient / beta) * rounds
}

/// Regret ≤ β + 2^(2−q)(rG)^q T/(qβ^(q−1)): Gauge-FTRL on ℓp balls with p > 2 and a fixed β.
pub fn gauge_ftrl_uniform(gradient: f64, q: f64, radius: f64, beta: f64, rounds: f64) -> f64 {
    beta + (2.0 - q).exp2() * (radius * gradient).powf(q) / (q * beta.powf(q - 1.0)) * rounds
}

/// Regret ≤ (3/2)GD√T: online gradient descent with η = D/(G√t) (Zinkevich; Hazan's book).
pub fn ogd_convex(gradient: f64, diameter: f64, rounds: f64) -> f64 {
    1.5 * gradient * diameter * rounds.sqrt()
}

/// Regret ≤ G²(1 + ln T)/(2λ): online gradient descent with η = 1/(λt).
pub fn ogd_strongly_convex(gradient: f64, lambda: f64, rounds: f64) -> f64 {
    gradient * gradient * (1.0 + rounds.max(1.0).ln()) / (2.0 * lambda)
}

/// A theorem about a learner on a set, with its constants filled in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[allow(missing_docs)] // the constants are those of the functions above
pub enum Guarantee {
    /// [`ofw`]
    Ofw {
        horizon: f64,
        gradient: f64,
        diameter: f64,
    },
    /// [`ofw_weibel`]
    OfwWeibel {
        horizon: f64,
        gradient: f64,
        diameter: f64,
    },
    /// [`ofw_ls`]
    OfwLs {
        horizon: f64,
        gradient: f64,
        diameter: f64,
        alpha: f64,
    },
    /// The smaller of [`sc_ofw_curved`] and [`sc_ofw_general`]; the latter where the set has no α
    ScOfw {
        gradient: f64,
        lambda: f64,
        diameter: f64,
        alpha: Option<f64>,
    },
    /// [`gauge_ftrl`]
    GaugeFixed { gradient: f64, l: f64, beta: f64 },
    /// [`gauge_ftrl_uniform`], with ‖g‖_q ≤ stretch·‖g‖₂
    GaugeUniform {
        gradient: f64,
        stretch: f64,
        q: f64,
        radius: f64,
        beta: f64,
    },
    /// [`ogd_convex`]
    OgdConvex { gradient: f64, diameter: f64 },
    /// [`ogd_strongly_convex`]
    OgdStronglyConvex { gradient: f64, lambda: f64 },
    /// 2β as the run balanced it; for the rounds played.
    GaugeOnline {
        bound: f64,
        exponent: f64,
        gradient: Option<f64>,
    },
    /// √2·D·√(Σ‖g‖²) with the gradients of the run; for the rounds played.
    OgdAdagrad { bound: f64 },
    /// [`OfwFree`]
    OfwFree(OfwFree),
    /// [`AdaHedge`]
    AdaHedge(AdaHedge),
}

/// What a learner has seen, to hold against the assumptions of a theorem.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Seen {
    /// T so far.
    pub rounds: u64,
    /// max ‖g_t‖.
    pub largest_gradient: f64,
    /// Oracle calls made to play.
    pub oracle_calls: u64,
}

/// What a theorem takes for granted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Assumption {
    /// ‖g_t‖ ≤ G.
    Gradient(f64),
    /// The run has exactly T rounds.
    Horizon(f64),
    /// The losses are λ-strongly convex.
    StronglyConvexLosses(f64),
}

/// Whether a run kept to an assumption.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Which one.
    pub assumption: Assumption,
    /// Whether it was kept.
    pub holds: bool,
    /// With the figures.
    pub detail: String,
}

impl Guarantee {
    /// The bound after `rounds` rounds.
    pub fn bound(&self, rounds: f64) -> f64 {
        match *self {
            Self::Ofw {
                gradient, diameter, ..
            } => ofw(gradient, diameter, rounds),
            Self::OfwWeibel {
                gradient, diameter, ..
            } => ofw_weibel(gradient, diameter, rounds),
            Self::OfwLs {
                gradient,
                diameter,
                alpha,
                ..
            } => ofw_ls(gradient, diameter, alpha, rounds),
            Self::ScOfw {
                gradient,
                lambda,
                diameter,
                alpha,
            } => {
                let general = sc_ofw_general(gradient, lambda, diameter, rounds);
                alpha.map_or(general, |a| {
                    sc_ofw_curved(gradient, lambda, diameter, a, rounds).min(general)
                })
            }
            Self::GaugeFixed { gradient, l, beta } => gauge_ftrl(gradient, l, beta, rounds),
            Self::GaugeUniform {
                gradient,
                stretch,
                q,
                radius,
                beta,
            } => gauge_ftrl_uniform(stretch * gradient, q, radius, beta, rounds),
            Self::OgdConvex { gradient, diameter } => ogd_convex(gradient, diameter, rounds),
            Self::OgdStronglyConvex { gradient, lambda } => {
                ogd_strongly_convex(gradient, lambda, rounds)
            }
            Self::GaugeOnline { bound, .. }
            | Self::OgdAdagrad { bound }
            | Self::OfwFree(OfwFree { bound, .. })
            | Self::AdaHedge(AdaHedge { bound, .. }) => bound,
        }
    }

    /// a, where the bound grows like T^a; 0 for log T.
    pub fn exponent(&self) -> f64 {
        match *self {
            Self::Ofw { .. } | Self::OfwWeibel { .. } => 0.75,
            Self::OfwLs { .. } | Self::ScOfw { alpha: None, .. } => 2.0 / 3.0,
            Self::ScOfw { alpha: Some(_), .. }
            | Self::GaugeFixed { .. }
            | Self::OgdConvex { .. }
            | Self::OgdAdagrad { .. } => 0.5,
            Self::GaugeUniform { q, .. } => 1.0 / q,
            Self::OgdStronglyConvex { .. } => 0.0,
            Self::GaugeOnline { exponent, .. } | Self::AdaHedge(AdaHedge { exponent, .. }) => {
                exponent
            }
            Self::OfwFree(theorem) => theorem.exponent(),
        }
    }

    /// The theorem's name.
    pub fn theorem(&self) -> &'static str {
        match *self {
            Self::Ofw { .. } => "OFW, 8GDT^(3/4)",
            Self::OfwWeibel { .. } => "OFW tuned, (4/3^(3/4))GDT^(3/4)",
            Self::OfwLs { .. } => "Wan & Zhang, Theorem 1",
            Self::ScOfw { alpha: Some(_), .. } => "Wan & Zhang, Theorems 2 and 3",
            Self::ScOfw { alpha: None, .. } => "Wan & Zhang, Theorem 3",
            Self::GaugeFixed { .. } | Self::GaugeUniform { .. } => "Gauge-FTRL, fixed β",
            Self::OgdConvex { .. } => "OGD, (3/2)GD√T",
            Self::OgdStronglyConvex { .. } => "OGD, G²(1+ln T)/(2λ)",
            Self::GaugeOnline { .. } => "Gauge-FTRL, 2β",
            Self::OgdAdagrad { .. } => "OGD, √2·D·√(Σ‖g‖²)",
            Self::OfwFree(_) => "OFW without constants, (D²/2)Σμ + Σp + h",
            Self::AdaHedge(_) => "Hedge, a base's bound + 2Δ",
        }
    }

    /// The same with another G.
    pub(crate) fn with_gradient(mut self, g: f64) -> Self {
        match &mut self {
            Self::Ofw { gradient, .. }
            | Self::OfwWeibel { gradient, .. }
            | Self::OfwLs { gradient, .. }
            | Self::ScOfw { gradient, .. }
            | Self::GaugeFixed { gradient, .. }
            | Self::GaugeUniform { gradient, .. }
            | Self::OgdConvex { gradient, .. }
            | Self::OgdStronglyConvex { gradient, .. } => *gradient = g,
            Self::GaugeOnline { .. }
            | Self::OgdAdagrad { .. }
            | Self::OfwFree(_)
            | Self::AdaHedge(_) => {}
        }
        self
    }

    /// What it takes for granted; that the losses are convex and the set as declared goes
    /// without saying.
    pub fn assumptions(&self) -> Vec<Assumption> {
        use Assumption::{Gradient, Horizon, StronglyConvexLosses};
        match *self {
            Self::Ofw {
                horizon, gradient, ..
            }
            | Self::OfwWeibel {
                horizon, gradient, ..
            }
            | Self::OfwLs {
                horizon, gradient, ..
            } => vec![Gradient(gradient), Horizon(horizon)],
            Self::ScOfw {
                gradient, lambda, ..
            }
            | Self::OgdStronglyConvex { gradient, lambda } => {
                vec![Gradient(gradient), StronglyConvexLosses(lambda)]
            }
            Self::GaugeFixed { gradient, .. }
            | Self::GaugeUniform { gradient, .. }
            | Self::OgdConvex { gradient, .. } => {
                vec![Gradient(gradient)]
            }
            Self::GaugeOnline {
                gradient: Some(g), ..
            } => vec![Gradient(g)],
            Self::AdaHedge(theorem) => theorem.assumptions(),
            Self::OfwFree(theorem) => theorem.assumptions(),
            Self::GaugeOnline { gradient: None, .. } | Self::OgdAdagrad { .. } => vec![],
        }
    }

    /// Holds a run against the assumptions. `strong_convexity` is what the losses have.
    pub fn check(&self, seen: &Seen, strong_convexity: f64) -> Vec<Check> {
        let one = |assumption| {
            let (holds, detail) = match assumption {
                Assumption::Gradient(g) => (
                    seen.largest_gradient <= g * (1.0 + 1e-12),
                    format!("largest gradient {:.6} ≤ G = {g:.6}", seen.largest_gradient),
                ),
                Assumption::Horizon(t) => (
                    seen.rounds as f64 == t,
                    format!("{} rounds played, T = {t}", seen.rounds),
                ),
                Assumption::StronglyConvexLosses(l) => (
                    strong_convexity >= l * (1.0 - 1e-12),
                    format!("losses strongly convex with {strong_convexity} ≥ λ = {l}"),
                ),
            };
            Check {
                assumption,
                holds,
                detail,
            }
        };
        self.assumptions().into_iter().map(one).collect()
    }
}

/// Whether a bound says less than G·D·T, which every feasible learner keeps.
pub fn is_vacuous(bound: f64, gradient: f64, diameter: f64, rounds: f64) -> bool {
    !(bound < gradient * diameter * rounds)
}
