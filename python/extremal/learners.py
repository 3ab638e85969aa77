"""Learners, made from the registry. Each takes the set first, and its keys by name."""

import inspect

from . import _registry
from ._core import Learner, Loss

__all__ = ["Learner", "default", "from_spec"]


def from_spec(spec, set, storage="dense"):
    """A learner from its spec, ``"ofw-ls:horizon=1000,gradient-bound=1"``."""
    return Learner(spec, set, storage)


def default(set, loss, l2=0.0, storage="dense"):
    """The learner that is taken when only the set and the loss are known."""
    loss = loss if isinstance(loss, Loss) else Loss(loss)
    return Learner(Learner.default_spec(set, loss, l2, storage), set, storage)


_storage = inspect.Parameter("storage", inspect.Parameter.KEYWORD_ONLY, default="dense")
_made = _registry.make(
    "learners", __name__, lambda spec, set, storage: Learner(spec, set, storage),
    before=["set"], after=[_storage],
    about=["set : Set", "    Where decisions lie.",
           "storage : 'dense', 'lazy' or 'sparse', default 'dense'",
           "    How decisions are stored: for gradients with few non-zeros, lazily on ℓ2 balls and",
           "    sparsely on ℓ1 balls and simplices, at O(non-zeros) per round."],
)
globals().update(_made)
__all__ += list(_made)
