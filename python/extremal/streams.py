"""Synthetic streams, made from the registry. Each takes the dimension and the seed first."""

import inspect

from . import _registry
from ._core import Stream

__all__ = ["Stream", "from_spec"]


def from_spec(spec, dim, seed=0):
    """A stream from its spec, ``"drift:noise=0.1"``."""
    return Stream(spec, dim, seed)


_seed = inspect.Parameter("seed", inspect.Parameter.KEYWORD_ONLY, default=0)
_made = _registry.make(
    "streams", __name__, lambda spec, dim, seed: Stream(spec, dim, seed),
    before=["dim"], after=[_seed],
    about=["dim : int", "    The dimension.", "seed : int, default 0", "    Chooses the stream."],
)
globals().update(_made)
__all__ += list(_made)
