"""The theorems' bounds, as functions of their constants."""

import inspect

import numpy as np

from . import _core
from ._registry import python_name

__all__ = []

_ARGUMENTS = {
    "gradient": "G, a bound of the gradients' ℓ2 norms.",
    "diameter": "D, the set's ℓ2 diameter.",
    "alpha": "α, the set's strong convexity.",
    "lambda_": "λ, the losses' strong convexity.",
    "l": "l, the smoothness of the set's squared gauge.",
    "beta": "β, the weight of the regulariser.",
    "rounds": "T, the number of rounds.",
    "t": "The round, from 1.",
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
