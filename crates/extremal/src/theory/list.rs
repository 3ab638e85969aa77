//! The list of bounds, for programs that offer bounds by name.

use super::*;

/// A bound as a function of numbers.
#[derive(Debug)]
#[non_exhaustive]
pub struct Bound {
    /// The name of the function.
    pub name: &'static str,
    /// A sentence that describes the bound.
    pub about: &'static str,
    /// The names of the numbers, in the order of the arguments.
    pub parameters: &'static [&'static str],
    value: fn(&[f64]) -> Option<f64>,
}

impl Bound {
    /// The value of the bound. It is `None` unless there is exactly one number for each parameter.
    pub fn value(&self, numbers: &[f64]) -> Option<f64> {
        (self.value)(numbers)
    }
}

/// Makes a [`Bound`] from a function that returns a `number`, a `theorem` for any T, or a theorem `tuned`
/// for T.
macro_rules! bound {
    (number $name:ident($($p:ident),*), $about:literal) => {
        bound!($name, $about, [$($p),*], $name($($p),*))
    };
    (theorem $name:ident($($p:ident),*), $about:literal) => {
        bound!($name, $about, [$($p,)* rounds], $name($($p),*).bound(rounds))
    };
    (tuned $name:ident($($p:ident),*), $about:literal) => {
        bound!($name, $about, [$($p,)* rounds], $name($($p,)* rounds).bound(rounds))
    };
    ($name:ident, $about:literal, [$($p:ident),*], $value:expr) => {
        Bound {
            name: stringify!($name),
            about: $about,
            parameters: &[$(stringify!($p)),*],
            value: |numbers| {
                let [$($p),*] = *numbers else { return None };
                Some($value)
            },
        }
    };
}

/// Every bound of this module that is a function of constants or of the sums of a run.
///
/// ```
/// use extremal::theory::BOUNDS;
/// let ofw = BOUNDS.iter().find(|bound| bound.name == "ofw").unwrap();
/// assert_eq!(ofw.parameters, ["gradient", "diameter", "rounds"]);
/// assert_eq!(ofw.value(&[1.0, 2.0, 16.0]), Some(128.0));
/// ```
#[rustfmt::skip] // a table
pub const BOUNDS: &[Bound] = &[
    bound!(tuned ofw(gradient, diameter), "OFW on any set: 8GDT^(3/4)."),
    bound!(number ofw_lemma(diameter, t), "The bound of OFW's lemma on the surrogate gap in round t."),
    bound!(tuned ofw_weibel(gradient, diameter), "OFW with tuned constants, for a known T."),
    bound!(theorem ofw_weibel_anytime(gradient, diameter),
        "OFW with tuned constants, for an unknown T."),
    bound!(tuned ofw_ls(gradient, diameter, alpha),
        "OFW with line search on α-strongly convex sets (Theorem 1)."),
    bound!(number ofw_ls_constant(diameter, alpha), "The constant C of Theorem 1."),
    bound!(number ofw_ls_lemma(diameter, alpha, t),
        "The bound of Theorem 1's lemma on the surrogate gap in round t."),
    bound!(theorem sc_ofw_curved(gradient, lambda, diameter, alpha),
        "SC-OFW on strongly convex sets (Theorem 2)."),
    bound!(number sc_ofw_constant(gradient, lambda, diameter, alpha),
        "The bound of Theorem 2's lemma on the surrogate gap in any round."),
    bound!(theorem sc_ofw_general(gradient, lambda, diameter), "SC-OFW on any set (Theorem 3)."),
    bound!(number sc_ofw_general_lemma(gradient, lambda, diameter, t),
        "The bound of Theorem 3's lemma on the surrogate gap in round t."),
    bound!(number dynamic_ofw(range, variation, smoothness, diameter, rounds),
        "Dynamic regret of a Frank-Wolfe step on each smooth loss."),
    bound!(theorem gauge_ftrl(gradient, l, beta),
        "Gauge-FTRL with a fixed β, on a set whose squared gauge is l-smooth."),
    bound!(theorem gauge_ftrl_uniform(gradient, stretch, q, radius, beta),
        "Gauge-FTRL with a fixed β on ℓp balls with p > 2; stretch bounds the ratio of ℓq and ℓ2 norms."),
    bound!(number coin_betting(stake, first, largest, total),
        "Coin betting with a number in [0, 1]: the regret against the number 1."),
    bound!(theorem coin_ftrl(beta, bets), "Coin-FTRL, from the β of a run and the bound on its bets."),
    bound!(theorem unit_free(beta, bets, gap, jumps, forgiven), "unit-free with the sums of a run."),
    bound!(theorem gauge_wrapper(scale, radius, root),
        "The gauge wrapper; root is √(Σ‖g‖²) of its surrogate gradients."),
    bound!(theorem so_ogd(eta, delta, gradient, radius), "SO-OGD with a fixed step and a fixed δ."),
    bound!(theorem so_ogd_adaptive(scale, radius, root, drift, shrunk),
        "SO-OGD with the sums of a run; root is √(Σ‖g‖²)."),
    bound!(theorem ogd_convex(gradient, diameter), "Projected OGD for convex losses."),
    bound!(theorem ogd_strongly_convex(gradient, lambda),
        "Projected OGD for λ-strongly convex losses."),
    bound!(theorem ogd_adagrad(diameter, root), "Projected OGD with adaptive steps; root is √(Σ‖g‖²)."),
    bound!(theorem dual_averaging(gradient, diameter, horizon),
        "Dual averaging with η fixed for a horizon."),
    bound!(theorem dual_averaging_anytime(gradient, diameter), "Dual averaging without a horizon."),
    bound!(theorem dual_averaging_adaptive(diameter, root),
        "Dual averaging with adaptive steps; root is √(Σ‖g‖²)."),
    bound!(theorem ons(exp_concavity, gamma, gradient, diameter, dim, left),
        "The online Newton step; left is the cost of inexact projections."),
    bound!(number fast_ogd_kappa(mu, diameter), "The factor κ of fast projections."),
    bound!(theorem fast_ogd(gradient, diameter, mu), "OGD with fast projections for convex losses."),
    bound!(theorem fast_ogd_adaptive(diameter, mu, root, largest),
        "OGD with fast projections and adaptive steps; root is √(Σ‖g‖²), largest is max ‖g‖."),
    bound!(theorem fast_ogd_strongly_convex(gradient, lambda, diameter, mu),
        "OGD with fast projections for λ-strongly convex losses."),
    bound!(number adahedge(experts, ranges), "AdaHedge against the best of several learners."),
    bound!(theorem hedge(base, exponent, gaps), "Hedge: the bound of a base learner plus 2Δ."),
    bound!(theorem eg(entry, largest, size, experts, scale, horizon),
        "Exponentiated gradient with η fixed for a horizon; largest is the largest entry of a gradient."),
    bound!(theorem eg_anytime(entry, largest, size, experts, scale),
        "Exponentiated gradient without a horizon; largest is the largest entry of a gradient."),
    bound!(theorem eg_adaptive(scale, gaps), "Exponentiated gradient with the Δ of a run."),
    bound!(theorem ftl(gradient, alpha, slowest),
        "Follow the leader for linear losses on α-strongly convex sets."),
    bound!(theorem ftl_strongly_convex(gradient, lambda, diameter),
        "Follow the leader for λ-strongly convex losses."),
    bound!(number perturbation_smoothness(dim), "The smoothness L of the perturbed leader."),
    bound!(perturbed, "The perturbed leader with a fixed δ and blocks, as a mean over seeds.",
        [gradient, reach, diameter, dim, delta, block, noise, rounds],
        perturbed(&Perturbation { reach, diameter, dim, noise }, gradient, delta, block).bound(rounds)),
    bound!(perturbed_adaptive,
        "The perturbed leader with the sums of a run; root is √(Σ‖G‖²) over blocks.",
        [reach, diameter, dim, c, root, noise, rounds],
        perturbed_adaptive(&Perturbation { reach, diameter, dim, noise }, c, root).bound(rounds)),
    bound!(theorem lloo(gradient, diameter, rho, scale, horizon),
        "Local linear optimisation with a regulariser fixed for a horizon."),
    bound!(theorem lloo_anytime(gradient, diameter, rho, scale),
        "Local linear optimisation without a horizon."),
    bound!(theorem lloo_strongly_convex(gradient, lambda, diameter, rho),
        "Local linear optimisation for λ-strongly convex losses."),
    bound!(theorem loo_bogd(eta, gradient, radius, diameter, tolerance, block),
        "LOO-BOGD with a fixed step and blocks."),
    bound!(theorem loo_bogd_adaptive(scale, radius, root, apart),
        "LOO-BOGD with the sums of a run; root is √(Σ‖S‖²) over blocks."),
    bound!(theorem loo_ogd(sum, lambda), "LOO-OGD with the sum of a run, for λ-strongly convex losses."),
    bound!(number trivial_regret(gradient, diameter, rounds, above_least),
        "A bound on the regret of every learner."),
];
