"""Synthetic streams, made from the registry. Each takes the dimension first, and its keys by name. They are
played by ``extremal.play(learner, stream, rounds=...)``.
"""

import inspect

from . import _registry
from ._core import Stream

__all__ = ["Stream", "from_spec"]


def from_spec(spec, dim, seed=0):
    """A stream from its spec.

    Parameters
    ----------
    spec : str
        As `extremal list streams` has it, ``"drift:noise=0.1"``.
    dim : int
        The dimension.
    seed : int, default 0
        Chooses the stream; the same seed gives the same one.
    """
    return Stream(spec, dim, seed)


_seed = inspect.Parameter("seed", inspect.Parameter.KEYWORD_ONLY, default=0)
_made = _registry.make(
    "streams", __name__, lambda spec, dim, seed: Stream(spec, dim, seed),
    before=["dim"], after=[_seed],
    about={"dim": ("int", "The dimension."),
           "seed": ("int, default 0", "Chooses the stream; the same seed gives the same one.")},
)
globals().update(_made)
__all__ += list(_made)


def __dir__():
    return sorted(__all__)
