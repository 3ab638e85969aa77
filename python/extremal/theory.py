"""The theorems' bounds, as functions of their constants."""

import inspect

from . import _core
from ._registry import python_name

__all__ = []


def _bound(name, about, arguments):
    names = [python_name(a) for a in arguments]
    keywords = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(n, keywords) for n in names])

    def function(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        return _core.theorem(name, [float(given[n]) for n in names])

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__signature__ = signature
    function.__doc__ = about
    return function


for _name, _about, _arguments in _core.theorems():
    globals()[_name] = _bound(_name, _about, _arguments)
    __all__.append(_name)
