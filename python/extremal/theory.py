"""The theorems' bounds, as functions of their constants."""

import inspect

import numpy as np

from . import _core
from ._registry import python_name

__all__ = []

_ARGUMENTS = {
    "above_least": "The total loss less the least total that the losses allow.",
    "alpha": "α, the set's strong convexity.",
    "apart": "What the distance of the decisions from the played points adds in the run.",
    "base": "The bound of a base after the rounds played.",
    "beta": "β, the weight of the regulariser.",
    "bets": "What betting adds: `coin_betting`.",
    "block": "The number of rounds in a block.",
    "c": "The factor on δ.",
    "delta": "δ: how far SO-OGD shrinks the set, or one over the size of a perturbation.",
    "diameter": "D, the set's ℓ2 diameter.",
    "dim": "d, the dimension.",
    "drift": "Σ(δ_{t−1} − δ_t)√(Σ_{<t}‖g‖²) of the run.",
    "entry": "G, a bound of the gradients' entries.",
    "eta": "η, the step size.",
    "exp_concavity": "α, the losses' exp-concavity.",
    "experts": "N, the number of experts or learners.",
    "exponent": "The exponent of T in the base's bound.",
    "first": "The first loss that is not 0, in size.",
    "gamma": "γ, the learner's curvature.",
    "gaps": "Of the mixability gaps of the run: Δ for `eg_adaptive`, 2Δ for `hedge`.",
    "gradient": "G, a bound of the gradients' ℓ2 norms.",
    "horizon": "The number of rounds that the step size is for.",
    "inner_radius": "r, the radius of a ball inside the set.",
    "l": "l, the smoothness of the set's squared gauge.",
    "lambda_": "λ, the losses' strong convexity.",
    "largest": "The largest of the run, in size: gradient, entry of one, or loss.",
    "left": "What inexact projections add.",
    "mu": "μ, the constant of the set's fast projection.",
    "noise": "What sampling adds: per round for `perturbed`, in all for `perturbed_adaptive`.",
    "q": "q, the exponent of the dual norm.",
    "radius": "R, the set's largest norm.",
    "range": "M, a bound of f₁(x₁) − min f_T.",
    "ranges": "The root of the sum of squares of the losses' ranges.",
    "reach": "R, the largest distance from the set's centre.",
    "rho": "ρ, the diameter over the facial distance.",
    "root": "The root of the sum of squares of the run's gradients, or of its blocks' sums of gradients.",
    "rounds": "T, the number of rounds.",
    "scale": "The factor on the step size.",
    "shrunk": "Σδ_t‖g_t‖ of the run.",
    "size": "τ, the largest entry of a decision.",
    "slowest": "L, where the sum of the first t gradients is at least L·t in norm.",
    "smoothness": "β, the losses' smoothness.",
    "stake": "ε, the share that betting starts with.",
    "stretch": "The largest ratio of a gradient's ℓq norm to its ℓ2 norm.",
    "sum": "The sum that the run has.",
    "t": "The round, from 1.",
    "tolerance": "ε/R², the accuracy of a near-projection.",
    "total": "The sum of the losses, in size.",
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
