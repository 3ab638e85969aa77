"""Learners, made from the registry. Each takes the set first, and its keys by name.

A key is called as in specs, with ``_`` for ``-``; ``lambda`` is ``lambda_``.
"""

import inspect

from . import _registry
from ._core import Learner, Set
from .losses import from_spec as as_loss

__all__ = ["Learner", "default", "from_spec"]


def _on(set):
    if isinstance(set, str):
        return Set(set)
    if not isinstance(set, Set):
        raise TypeError(f"set must be a set or its spec, not {set!r}")
    return set


def from_spec(spec, set, storage="dense"):
    """A learner from its spec.

    Parameters
    ----------
    spec : str
        As `extremal list learners` has it, ``"ofw-ls:horizon=1000,gradient-bound=1"``.
    set : Set or spec
        Where decisions lie; a spec with its dimension, ``"l2:dim=3"``.
    storage : "dense", "lazy" or "sparse", default "dense"
        How decisions are stored.
    """
    return Learner(spec, _on(set), storage)


def default(set, loss, l2=0.0, storage="dense"):
    """The learner that is taken when only the set and the loss are known.

    It needs no horizon and no bound of the gradients, on the sets and losses where such a learner
    is known.

    Parameters
    ----------
    set : Set or spec
        Where decisions lie; a spec with its dimension, ``"l2:dim=3"``.
    loss : Loss or spec
        The loss that will be played.
    l2 : float, default 0
        λ of (λ/2)‖x‖², added to the loss.
    storage : "dense", "lazy" or "sparse", default "dense"
        How decisions are stored.

    Examples
    --------
    >>> import extremal as ex
    >>> ex.learners.default(ex.sets.l2(dim=3), "logistic").name
    'hedge'
    >>> ex.learners.default(ex.sets.l2(dim=3), "logistic", storage="lazy").name
    'coin-ftrl'
    """
    set, loss = _on(set), as_loss(loss)
    return Learner(Learner.default_spec(set, loss, l2, storage), set, storage)


_storage = inspect.Parameter("storage", inspect.Parameter.KEYWORD_ONLY, default="dense")
_made = _registry.make(
    "learners", __name__, lambda spec, set, storage: Learner(spec, _on(set), storage),
    before=["set"], after=[_storage], guarantee="Regret",
    about={"set": ("Set or spec", "Where decisions lie; a spec with its dimension, ``\"l2:dim=3\"``."),
           "storage": ('"dense", "lazy" or "sparse", default "dense"',
                       "How decisions are stored: for gradients with few non-zeros, lazily on ℓ2 balls "
                       "and sparsely on ℓ1 balls and simplices, at O(non-zeros) per round.")},
)
globals().update(_made)
__all__ += list(_made)


def __dir__():
    return sorted(__all__)
