"""The theorems' bounds, as functions of their constants."""

# Written by python/tools/make_stubs.py from the registry.

from typing import Any

from numpy.typing import ArrayLike

__all__ = [
    "ofw",
    "ofw_lemma",
    "ofw_weibel",
    "ofw_weibel_anytime",
    "ofw_ls",
    "ofw_ls_constant",
    "ofw_ls_lemma",
    "sc_ofw_curved",
    "sc_ofw_constant",
    "sc_ofw_general",
    "sc_ofw_general_lemma",
    "dynamic_ofw",
    "gauge_ftrl",
    "gauge_ftrl_uniform",
    "coin_betting",
    "coin_ftrl",
    "unit_free",
    "gauge_wrapper",
    "so_ogd",
    "so_ogd_adaptive",
    "ogd_convex",
    "ogd_strongly_convex",
    "ogd_adagrad",
    "dual_averaging",
    "dual_averaging_anytime",
    "dual_averaging_adaptive",
    "ons",
    "fast_ogd_kappa",
    "fast_ogd",
    "fast_ogd_adaptive",
    "fast_ogd_strongly_convex",
    "adahedge",
    "hedge",
    "eg",
    "eg_anytime",
    "eg_adaptive",
    "ftl",
    "ftl_strongly_convex",
    "perturbation_smoothness",
    "perturbed",
    "perturbed_adaptive",
    "lloo",
    "lloo_anytime",
    "lloo_strongly_convex",
    "loo_bogd",
    "loo_bogd_adaptive",
    "loo_ogd",
    "trivial_regret",
]

def ofw(gradient: ArrayLike, diameter: ArrayLike, rounds: ArrayLike) -> Any: ...
def ofw_lemma(diameter: ArrayLike, t: ArrayLike) -> Any: ...
def ofw_weibel(gradient: ArrayLike, diameter: ArrayLike, rounds: ArrayLike) -> Any: ...
def ofw_weibel_anytime(gradient: ArrayLike, diameter: ArrayLike, rounds: ArrayLike) -> Any: ...
def ofw_ls(
    gradient: ArrayLike,
    diameter: ArrayLike,
    alpha: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def ofw_ls_constant(diameter: ArrayLike, alpha: ArrayLike) -> Any: ...
def ofw_ls_lemma(diameter: ArrayLike, alpha: ArrayLike, t: ArrayLike) -> Any: ...
def sc_ofw_curved(
    gradient: ArrayLike,
    lambda_: ArrayLike,
    diameter: ArrayLike,
    alpha: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def sc_ofw_constant(
    gradient: ArrayLike,
    lambda_: ArrayLike,
    diameter: ArrayLike,
    alpha: ArrayLike,
) -> Any: ...
def sc_ofw_general(
    gradient: ArrayLike,
    lambda_: ArrayLike,
    diameter: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def sc_ofw_general_lemma(
    gradient: ArrayLike,
    lambda_: ArrayLike,
    diameter: ArrayLike,
    t: ArrayLike,
) -> Any: ...
def dynamic_ofw(
    range: ArrayLike,
    variation: ArrayLike,
    smoothness: ArrayLike,
    diameter: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def gauge_ftrl(gradient: ArrayLike, l: ArrayLike, beta: ArrayLike, rounds: ArrayLike) -> Any: ...
def gauge_ftrl_uniform(
    gradient: ArrayLike,
    stretch: ArrayLike,
    q: ArrayLike,
    radius: ArrayLike,
    beta: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def coin_betting(
    stake: ArrayLike,
    first: ArrayLike,
    largest: ArrayLike,
    total: ArrayLike,
) -> Any: ...
def coin_ftrl(beta: ArrayLike, bets: ArrayLike, rounds: ArrayLike) -> Any: ...
def unit_free(
    beta: ArrayLike,
    bets: ArrayLike,
    gap: ArrayLike,
    jumps: ArrayLike,
    forgiven: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def gauge_wrapper(
    scale: ArrayLike,
    radius: ArrayLike,
    root: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def so_ogd(
    eta: ArrayLike,
    delta: ArrayLike,
    gradient: ArrayLike,
    radius: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def so_ogd_adaptive(
    scale: ArrayLike,
    radius: ArrayLike,
    root: ArrayLike,
    drift: ArrayLike,
    shrunk: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def ogd_convex(gradient: ArrayLike, diameter: ArrayLike, rounds: ArrayLike) -> Any: ...
def ogd_strongly_convex(gradient: ArrayLike, lambda_: ArrayLike, rounds: ArrayLike) -> Any: ...
def ogd_adagrad(diameter: ArrayLike, root: ArrayLike, rounds: ArrayLike) -> Any: ...
def dual_averaging(
    gradient: ArrayLike,
    diameter: ArrayLike,
    horizon: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def dual_averaging_anytime(gradient: ArrayLike, diameter: ArrayLike, rounds: ArrayLike) -> Any: ...
def dual_averaging_adaptive(diameter: ArrayLike, root: ArrayLike, rounds: ArrayLike) -> Any: ...
def ons(
    exp_concavity: ArrayLike,
    gamma: ArrayLike,
    gradient: ArrayLike,
    diameter: ArrayLike,
    dim: ArrayLike,
    left: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def fast_ogd_kappa(mu: ArrayLike, diameter: ArrayLike) -> Any: ...
def fast_ogd(gradient: ArrayLike, diameter: ArrayLike, mu: ArrayLike, rounds: ArrayLike) -> Any: ...
def fast_ogd_adaptive(
    diameter: ArrayLike,
    mu: ArrayLike,
    root: ArrayLike,
    largest: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def fast_ogd_strongly_convex(
    gradient: ArrayLike,
    lambda_: ArrayLike,
    diameter: ArrayLike,
    mu: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def adahedge(experts: ArrayLike, ranges: ArrayLike) -> Any: ...
def hedge(base: ArrayLike, exponent: ArrayLike, gaps: ArrayLike, rounds: ArrayLike) -> Any: ...
def eg(
    entry: ArrayLike,
    largest: ArrayLike,
    size: ArrayLike,
    experts: ArrayLike,
    scale: ArrayLike,
    horizon: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def eg_anytime(
    entry: ArrayLike,
    largest: ArrayLike,
    size: ArrayLike,
    experts: ArrayLike,
    scale: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def eg_adaptive(scale: ArrayLike, gaps: ArrayLike, rounds: ArrayLike) -> Any: ...
def ftl(gradient: ArrayLike, alpha: ArrayLike, slowest: ArrayLike, rounds: ArrayLike) -> Any: ...
def ftl_strongly_convex(
    gradient: ArrayLike,
    lambda_: ArrayLike,
    diameter: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def perturbation_smoothness(dim: ArrayLike) -> Any: ...
def perturbed(
    gradient: ArrayLike,
    reach: ArrayLike,
    diameter: ArrayLike,
    dim: ArrayLike,
    delta: ArrayLike,
    block: ArrayLike,
    noise: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def perturbed_adaptive(
    reach: ArrayLike,
    diameter: ArrayLike,
    dim: ArrayLike,
    c: ArrayLike,
    root: ArrayLike,
    noise: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def lloo(
    gradient: ArrayLike,
    diameter: ArrayLike,
    rho: ArrayLike,
    scale: ArrayLike,
    horizon: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def lloo_anytime(
    gradient: ArrayLike,
    diameter: ArrayLike,
    rho: ArrayLike,
    scale: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def lloo_strongly_convex(
    gradient: ArrayLike,
    lambda_: ArrayLike,
    diameter: ArrayLike,
    rho: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def loo_bogd(
    eta: ArrayLike,
    gradient: ArrayLike,
    radius: ArrayLike,
    diameter: ArrayLike,
    tolerance: ArrayLike,
    block: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def loo_bogd_adaptive(
    scale: ArrayLike,
    radius: ArrayLike,
    root: ArrayLike,
    apart: ArrayLike,
    rounds: ArrayLike,
) -> Any: ...
def loo_ogd(sum: ArrayLike, lambda_: ArrayLike, rounds: ArrayLike) -> Any: ...
def trivial_regret(
    gradient: ArrayLike,
    diameter: ArrayLike,
    rounds: ArrayLike,
    above_least: ArrayLike,
) -> Any: ...
