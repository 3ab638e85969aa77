"""Functions that make synthetic streams, one per registered stream. The first argument is the dimension, and
parameters are keywords. ``extremal.play(learner, stream, rounds=...)`` plays a stream.
"""

import inspect

from . import _registry
from ._core import Stream

__all__ = ["Stream", "from_spec"]


def from_spec(spec, dim, seed=0):
    """Makes a stream from its spec.

    Parameters
    ----------
    spec : str
        The spec, for example ``"drift:noise=0.1"``. `extremal list streams` shows all streams.
    dim : int
        The dimension.
    seed : int, default 0
        The seed of the random numbers, which determines the stream.
    """
    return Stream(spec, dim, seed)


_seed = inspect.Parameter("seed", inspect.Parameter.KEYWORD_ONLY, default=0)
_made = _registry.make(
    "streams", __name__, lambda spec, dim, seed: Stream(spec, dim, seed),
    before=["dim"], after=[_seed],
    about={"dim": ("int", "The dimension."),
           "seed": ("int, default 0", "The seed of the random numbers, which determines the stream.")},
)
globals().update(_made)
__all__ += list(_made)


def __dir__():
    return sorted(__all__)
