"""The bounds of the theorems, as functions of their constants."""

import inspect

import numpy as np

from . import _core
from ._registry import python_name

__all__ = []

_ARGUMENTS = {
    "above_least": "The total loss minus a lower bound on the total loss of every decision.",
    "alpha": "α, the set's strong convexity.",
    "apart": "The part of the bound for the distance between decisions and played points.",
    "base": "The regret bound of a base learner after the rounds played.",
    "beta": "β, the weight of the regulariser.",
    "bets": "The part of the bound that betting adds: the value of `coin_betting`.",
    "block": "The number of rounds in a block.",
    "c": "The factor on δ.",
    "delta": "δ. For SO-OGD, the amount by which the set is shrunk. For perturbations, the inverse of their size.",
    "diameter": "D, the set's ℓ2 diameter.",
    "dim": "d, the dimension.",
    "drift": "Σ(δ_{t−1} − δ_t)√(Σ_{<t}‖g‖²) of the run.",
    "entry": "G, an upper bound on the gradients' entries.",
    "eta": "η, the step size.",
    "exp_concavity": "α, the losses' exp-concavity.",
    "experts": "N, the number of experts or learners.",
    "exponent": "The exponent of T in the base learner's bound.",
    "first": "The absolute value of the first non-zero loss.",
    "forgiven": "F, the sum of the losses that the learner did not learn from in full.",
    "gamma": "γ, the learner's curvature.",
    "gap": "Δ, the sum of the run's mixability gaps.",
    "gaps": "Δ for `eg_adaptive`, and 2Δ for `hedge`. Δ is the sum of the run's mixability gaps.",
    "gradient": "G, an upper bound on the gradients' ℓ2 norms.",
    "horizon": "The number of rounds for which the step size is chosen.",
    "inner_radius": "r, the radius of a ball inside the set.",
    "jumps": "J, the part of Gauge-FTRL's bound that comes from increases of the radius.",
    "l": "l, the smoothness of the set's squared gauge.",
    "lambda_": "λ, the losses' strong convexity.",
    "largest": "The largest absolute value of a gradient, an entry or a loss in the run.",
    "left": "The part of the bound that inexact projections add.",
    "mu": "μ, the constant of the set's fast projection.",
    "noise": "The part of the bound that sampling adds: per round for `perturbed`, in total for `perturbed_adaptive`.",
    "q": "q, the exponent of the dual norm.",
    "radius": "R, the set's largest norm.",
    "range": "M, an upper bound on f₁(x₁) − min f_T.",
    "ranges": "The square root of the sum of the losses' squared ranges.",
    "reach": "R, the largest distance from the set's centre.",
    "rho": "ρ, the set's diameter divided by its facial distance.",
    "root": "The square root of a sum of squared norms: of the run's gradients, or of the gradients' sums over blocks.",
    "rounds": "T, the number of rounds.",
    "scale": "The factor on the step size.",
    "shrunk": "Σδ_t‖g_t‖ of the run.",
    "size": "τ, the largest entry of a decision.",
    "slowest": "L, a number such that the sum of the first t gradients has a norm of at least L·t.",
    "smoothness": "β, the losses' smoothness.",
    "stake": "ε, the initial wealth of the betting algorithm.",
    "stretch": "The largest ratio of a gradient's ℓq norm to its ℓ2 norm.",
    "sum": "The sum over the rounds of the run that appears in the bound.",
    "t": "The round, counted from 1.",
    "tolerance": "ε/R², the accuracy of a near-projection.",
    "total": "The sum of the absolute losses.",
    "variation": "V, the sum of max|f_t − f_{t−1}|.",
}


def _bound(name, about, arguments):
    names = [python_name(a) for a in arguments]
    keywords = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(n, keywords) for n in names])

    def function(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        values = [np.asarray(given[n], dtype=np.float64) for n in names]
        if all(value.ndim == 0 for value in values):
            return _core.theorem(name, [float(value) for value in values])
        each = np.broadcast(*values)
        return np.array([_core.theorem(name, list(map(float, some))) for some in each]).reshape(each.shape)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__signature__ = signature
    parameters = [line for n in names for line in (f"{n} : float or array", f"    {_ARGUMENTS[n]}")]
    function.__doc__ = "\n".join([about, "", "Parameters", "----------", *parameters])
    return function


for _name, _about, _arguments in _core.theorems():
    globals()[_name] = _bound(_name, _about, _arguments)
    __all__.append(_name)


def __dir__():
    return sorted(__all__)
