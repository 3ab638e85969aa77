//! Every theorem's bound as a function, with its assumptions, and a check of a run against them.
//! A curve is only worth drawing where the assumptions were verified, and says nothing where it
//! is [vacuous](is_vacuous).
//!
//! A theorem is one [`Theorem`] in one file of this module, and its name in the list below, which
//! makes it a [`Guarantee`].

use serde::{Deserialize, Serialize};

/// A theorem whose bound follows from the run itself, for the rounds played, and takes nothing
/// for granted.
macro_rules! as_played {
    ($(#[$about:meta])* $name:ident { $(#[$what:meta])* bound }, $title:literal, $exponent:expr) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $(#[$what])*
            pub bound: f64,
        }

        impl super::Theorem for $name {
            fn name(&self) -> &'static str {
                $title
            }

            fn bound(&self, rounds: f64) -> f64 {
                self.bound * $crate::rounding::of_run(rounds)
            }

            fn exponent(&self) -> f64 {
                $exponent
            }

            fn assumptions(&self) -> Vec<super::Assumption> {
                Vec::new()
            }
        }
    };
}

mod adahedge;
mod coin_ftrl;
mod doubling;
mod dual_averaging;
mod dynamic_ofw;
mod eg;
mod fast_ogd;
mod ftl;
mod gauge_ftrl;
mod gauge_wrapper;
mod lloo;
mod loo_bogd;
mod ofw;
mod ofw_free;
mod ofw_ls;
mod ogd;
mod ons;
mod perturbed;
mod sc_ofw;
mod so_ogd;
mod vacuous;

pub use adahedge::{AdaHedge, adahedge};
pub use coin_ftrl::{CoinFtrl, coin_betting};
pub use doubling::{Doubled, Restarted, doubled, doubling_factor};
pub use dual_averaging::{
    DualAveraging, DualAveragingAdaptive, dual_averaging, dual_averaging_adaptive,
    dual_averaging_anytime,
};
pub use dynamic_ofw::dynamic_ofw;
pub use eg::{Eg, EgAdaptive, eg, eg_adaptive, eg_anytime};
pub use fast_ogd::{
    FastOgd, FastOgdAdaptive, FastOgdStronglyConvex, fast_ogd, fast_ogd_adaptive, fast_ogd_kappa,
    fast_ogd_strongly_convex,
};
pub use ftl::{Ftl, FtlStronglyConvex, ftl, ftl_strongly_convex};
pub use gauge_ftrl::{GaugeFixed, GaugeOnline, GaugeUniform, gauge_ftrl, gauge_ftrl_uniform};
pub use gauge_wrapper::{GaugeWrapper, gauge_wrapper};
pub(crate) use lloo::{AHEAD, kappa, kappa_anytime};
pub use lloo::{Lloo, LlooStronglyConvex, lloo, lloo_anytime, lloo_lemma, lloo_strongly_convex};
pub use loo_bogd::{LooBogd, LooBogdPlayed, LooOgdPlayed, loo_bogd, loo_ogd};
pub use ofw::{Ofw, OfwWeibel, OfwWeibelAnytime, ofw, ofw_lemma, ofw_weibel, ofw_weibel_anytime};
pub use ofw_free::OfwFree;
pub use ofw_ls::{OfwLs, ofw_ls, ofw_ls_constant, ofw_ls_lemma};
pub use ogd::{OgdAdagrad, OgdConvex, OgdStronglyConvex, ogd_convex, ogd_strongly_convex};
pub use ons::{Ons, ons, ons_book};
pub use perturbed::{
    Losses, PerturbedAdaptive, PerturbedFixed, perturbation_smoothness, perturbed,
    perturbed_adaptive, sampling_noise,
};
pub use sc_ofw::{
    ScOfw, sc_ofw_constant, sc_ofw_curved, sc_ofw_general, sc_ofw_general_constant,
    sc_ofw_general_lemma,
};
pub use so_ogd::{SoOgd, SoOgdPlayed, so_ogd, so_ogd_separations};
pub use vacuous::{Trivial, is_vacuous};

/// A theorem about a learner's regret, with its constants filled in.
pub trait Theorem {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// The bound after `rounds` rounds.
    fn bound(&self, rounds: f64) -> f64;

    /// a, where the bound grows like T^a; 0 for log T.
    fn exponent(&self) -> f64;

    /// What it takes for granted; that the losses are convex and the set as declared goes
    /// without saying.
    fn assumptions(&self) -> Vec<Assumption>;
}

/// Makes [`Guarantee`] from the theorems' names.
macro_rules! theorems {
    ($($theorem:ident),* $(,)?) => {
        /// Any of the theorems.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Guarantee {
            $(#[doc = concat!("[`", stringify!($theorem), "`]")] $theorem($theorem)),*
        }

        impl Guarantee {
            fn inner(&self) -> &dyn Theorem {
                match self { $(Self::$theorem(theorem) => theorem),* }
            }
        }

        $(impl From<$theorem> for Guarantee {
            fn from(theorem: $theorem) -> Self { Self::$theorem(theorem) }
        })*
    };
}

theorems!(
    Ofw,
    OfwWeibel,
    OfwLs,
    ScOfw,
    GaugeFixed,
    GaugeUniform,
    OgdConvex,
    OgdStronglyConvex,
    GaugeOnline,
    OgdAdagrad,
    DualAveraging,
    DualAveragingAdaptive,
    Doubled,
    OfwFree,
    AdaHedge,
    CoinFtrl,
    Ftl,
    FtlStronglyConvex,
    Lloo,
    LlooStronglyConvex,
    FastOgd,
    FastOgdAdaptive,
    FastOgdStronglyConvex,
    PerturbedFixed,
    PerturbedAdaptive,
    Eg,
    EgAdaptive,
    Ons,
    LooBogd,
    LooBogdPlayed,
    LooOgdPlayed,
    GaugeWrapper,
    SoOgd,
    SoOgdPlayed,
    OfwWeibelAnytime,
);

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
    /// Every decision lies in the set, but for this violation.
    Feasible(f64),
    /// The bound is one of the mean over seeds: no single run can be held against it.
    InExpectation,
    /// The losses are fixed beforehand: none depends on a decision.
    Oblivious,
    /// The losses are linear.
    Linear,
    /// The losses are β-smooth.
    Smooth(f64),
    /// No entry of a gradient is larger than this in size.
    Entries {
        /// G.
        bound: f64,
        /// The largest that the learner saw.
        largest: f64,
    },
    /// The losses are α-exp-concave. Strongly convex ones are known to be, with λ/G².
    ExpConcaveLosses(f64),
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

/// What is known of the losses of a run, to hold against the assumptions of a theorem. By default
/// only that they are convex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossFacts {
    /// The λ that they have, 0 where none is known.
    pub strong_convexity: f64,
    /// A bound β of their second derivatives: 0 for linear losses, ∞ where no bound is known.
    pub smoothness: f64,
    /// Whether they were fixed beforehand, so that none depends on a decision.
    pub oblivious: bool,
}

impl Default for LossFacts {
    fn default() -> Self {
        Self {
            strong_convexity: 0.0,
            smoothness: f64::INFINITY,
            oblivious: false,
        }
    }
}

impl LossFacts {
    /// Losses of which only their λ is known.
    pub fn strongly_convex(lambda: f64) -> Self {
        Self {
            strong_convexity: lambda,
            ..Self::default()
        }
    }
}

/// The largest violation of a set's constraints that counts as none.
const FEASIBLE: f64 = 1e-9;

/// A run as it was watched, to hold a theorem against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Watched {
    /// What the learner saw.
    pub seen: Seen,
    /// What is known of the losses.
    pub losses: LossFacts,
    /// The largest violation of any decision; `None` where the set can't tell.
    pub violation: Option<f64>,
    /// The set's ℓ2 diameter.
    pub diameter: f64,
    /// How far the total loss is above the least total that the losses allow:
    /// [`Objective::above_least`](crate::loss::Objective::above_least).
    pub above_least: f64,
}

/// What a theorem is worth for a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The bound for the rounds played.
    pub bound: f64,
    /// Whether it says nothing that does not hold for every run: [`is_vacuous`].
    pub vacuous: bool,
    /// Each assumption, and that decisions were feasible where that is known.
    pub checks: Vec<Check>,
}

impl Report {
    /// The assumptions that the run did not keep to; a bound counts only if there are none.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds)
    }
}

impl Guarantee {
    /// The bound after `rounds` rounds.
    pub fn bound(&self, rounds: f64) -> f64 {
        self.inner().bound(rounds)
    }

    /// a, where the bound grows like T^a; 0 for log T.
    pub fn exponent(&self) -> f64 {
        self.inner().exponent()
    }

    /// The theorem's name.
    pub fn theorem(&self) -> &'static str {
        self.inner().name()
    }

    /// What it takes for granted; that the losses are convex and the set as declared goes
    /// without saying.
    pub fn assumptions(&self) -> Vec<Assumption> {
        self.inner().assumptions()
    }

    /// Holds a run against the assumptions.
    pub fn check(&self, seen: &Seen, losses: &LossFacts) -> Vec<Check> {
        let watched = Watched {
            seen: *seen,
            losses: *losses,
            violation: None,
            diameter: f64::INFINITY,
            above_least: f64::INFINITY,
        };
        let assumptions = self.assumptions().into_iter();
        assumptions.map(|a| watched.check(a)).collect()
    }

    /// What the theorem is worth for a run.
    ///
    /// ```
    /// use extremal::theory::{OgdConvex, Guarantee, LossFacts, Seen, Watched};
    /// let theorem = Guarantee::from(OgdConvex { gradient: 1.0, diameter: 2.0 });
    /// let mut run = Watched {
    ///     seen: Seen { rounds: 100, largest_gradient: 1.0, oracle_calls: 0 },
    ///     losses: LossFacts::default(),
    ///     violation: Some(0.0),
    ///     diameter: 2.0,
    ///     above_least: 80.0,
    /// };
    /// let report = theorem.report(&run);
    /// assert_eq!((report.bound, report.vacuous, report.failed().count()), (30.0, false, 0));
    /// run.seen.largest_gradient = 1.5;
    /// assert_eq!(theorem.report(&run).failed().count(), 1);
    /// ```
    pub fn report(&self, run: &Watched) -> Report {
        let rounds = run.seen.rounds as f64;
        let bound = self.bound(rounds);
        let feasible = run.violation.map(|_| Assumption::Feasible(FEASIBLE));
        let assumptions = self.assumptions().into_iter().chain(feasible);
        Report {
            bound,
            vacuous: is_vacuous(bound, run.trivial().regret()),
            checks: assumptions.map(|a| run.check(a)).collect(),
        }
    }
}

impl Watched {
    /// What holds for this run whatever the learner does.
    pub fn trivial(&self) -> Trivial {
        Trivial {
            gradient: self.seen.largest_gradient,
            diameter: self.diameter,
            rounds: self.seen.rounds as f64,
            above_least: self.above_least,
        }
    }

    fn check(&self, assumption: Assumption) -> Check {
        let Seen {
            rounds,
            largest_gradient,
            ..
        } = self.seen;
        let (holds, detail) = match assumption {
            Assumption::Gradient(g) => {
                let holds = largest_gradient <= g * (1.0 + 1e-12);
                let sign = if holds { "≤" } else { ">" };
                let detail = format!("largest gradient {largest_gradient:.6} {sign} G = {g:.6}");
                (holds, detail)
            }
            Assumption::Horizon(t) => (
                rounds as f64 == t,
                format!("{rounds} rounds played, T = {t}"),
            ),
            Assumption::StronglyConvexLosses(l) => {
                let lambda = self.losses.strong_convexity;
                let holds = lambda >= l * (1.0 - 1e-12);
                let sign = if holds { "≥" } else { "<" };
                (
                    holds,
                    format!("losses strongly convex with {lambda} {sign} λ = {l}"),
                )
            }
            Assumption::Feasible(most) => {
                let violation = self.violation.unwrap_or(f64::NAN);
                let holds = violation <= most;
                let sign = if holds { "≤" } else { ">" };
                (
                    holds,
                    format!("largest violation {violation:e} {sign} {most:e}"),
                )
            }
            Assumption::InExpectation => (
                false,
                "the bound is for the mean over seeds, not for one run".into(),
            ),
            Assumption::Oblivious => {
                let holds = self.losses.oblivious;
                let detail = if holds {
                    "losses fixed beforehand"
                } else {
                    "losses may depend on decisions, and the theorem needs losses fixed beforehand"
                };
                (holds, detail.into())
            }
            Assumption::Linear => {
                let holds = self.losses.smoothness == 0.0;
                let detail = if holds {
                    "linear losses"
                } else {
                    "losses not linear, and the theorem needs linear ones"
                };
                (holds, detail.into())
            }
            Assumption::Smooth(beta) => {
                let known = self.losses.smoothness;
                let holds = known <= beta * (1.0 + 1e-12);
                let detail = if known.is_finite() {
                    let sign = if holds { "≤" } else { ">" };
                    format!("losses smooth with {known} {sign} β = {beta}")
                } else {
                    format!("losses not known to be smooth, and the theorem needs β = {beta}")
                };
                (holds, detail)
            }
            Assumption::Entries { bound, largest } => {
                let holds = largest <= bound * (1.0 + 1e-12);
                let sign = if holds { "≤" } else { ">" };
                let detail = format!("largest entry of a gradient {largest:.6} {sign} {bound:.6}");
                (holds, detail)
            }
            Assumption::ExpConcaveLosses(alpha) => {
                let lambda = self.losses.strong_convexity;
                let known = lambda / largest_gradient / largest_gradient;
                let holds = known >= alpha * (1.0 - 1e-12);
                let sign = if holds { "≥" } else { "<" };
                (
                    holds,
                    format!("losses known to be exp-concave with {known} {sign} α = {alpha}"),
                )
            }
        };
        Check {
            assumption,
            holds,
            detail,
        }
    }
}
