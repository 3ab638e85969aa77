"""Learners, made from the registry. Each takes the set first, and its keys by name.

A key is called as in specs, with ``_`` for ``-``; ``lambda`` is ``lambda_``.
"""

import inspect

from . import _registry
from ._core import Learner
from .losses import from_spec as as_loss

__all__ = ["Learner", "default", "from_spec"]


def from_spec(spec, set, storage="dense"):
    """A learner from its spec.

    Parameters
    ----------
    spec : str
        As `extremal list learners` has it, ``"ofw-ls:horizon=1000,gradient-bound=1"``.
    set : Set
        Where decisions lie.
    storage : "dense", "lazy" or "sparse", default "dense"
        How decisions are stored.
    """
    return Learner(spec, set, storage)


def default(set, loss, l2=0.0, storage="dense"):
    """The learner that is taken when only the set and the loss are known.

    It needs no horizon and no bound of the gradients, on the sets and losses where such a learner
    is known.

    Parameters
    ----------
    set : Set
        Where decisions lie.
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
    loss = as_loss(loss)
    return Learner(Learner.default_spec(set, loss, l2, storage), set, storage)


_storage = inspect.Parameter("storage", inspect.Parameter.KEYWORD_ONLY, default="dense")
_made = _registry.make(
    "learners", __name__, lambda spec, set, storage: Learner(spec, set, storage),
    before=["set"], after=[_storage], guarantee="Regret",
    about={"set": ("Set", "Where decisions lie."),
           "storage": ('"dense", "lazy" or "sparse", default "dense"',
                       "How decisions are stored: for gradients with few non-zeros, lazily on ℓ2 balls "
                       "and sparsely on ℓ1 balls and simplices, at O(non-zeros) per round.")},
)
globals().update(_made)
__all__ += list(_made)


def __dir__():
    return sorted(__all__)
