"""Functions that make learners, one per registered learner. The first argument is the set, and parameters
are keywords.

Parameters have the same names as in specs, except that ``_`` replaces ``-`` and ``lambda_`` replaces
``lambda``.
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
    """Makes a learner from its spec.

    Parameters
    ----------
    spec : str
        The spec, for example ``"ofw-ls:horizon=1000,gradient-bound=1"``. `extremal list learners` shows
        all learners.
    set : Set or spec
        The constraint set. A spec must include the dimension, for example ``"l2:dim=3"``.
    storage : "dense", "lazy" or "sparse", default "dense"
        How to store decisions. "lazy" (ℓ2 balls) and "sparse" (ℓ1 balls, simplices) are for sparse rows.
    """
    return Learner(spec, _on(set), storage)


def default(set, loss, l2=0.0, storage="dense"):
    """Makes the default learner for a set and a loss.

    The default needs neither a horizon nor a bound on the gradients, if the set and the loss allow such
    a learner.

    Parameters
    ----------
    set : Set or spec
        The constraint set. A spec must include the dimension, for example ``"l2:dim=3"``.
    loss : Loss or spec
        The loss function.
    l2 : float, default 0
        λ of the ridge term (λ/2)‖x‖², which is added to the loss.
    storage : "dense", "lazy" or "sparse", default "dense"
        How to store decisions. "lazy" (ℓ2 balls) and "sparse" (ℓ1 balls, simplices) are for sparse rows.

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
    about={"set": ("Set or spec", "The constraint set. A spec must include the dimension, for example ``\"l2:dim=3\"``."),
           "storage": ('"dense", "lazy" or "sparse", default "dense"',
                       "How to store decisions. For sparse gradients, \"lazy\" (ℓ2 balls) and \"sparse\" "
                       "(ℓ1 balls, simplices) take O(non-zeros) per round.")},
)
globals().update(_made)
__all__ += list(_made)


def __dir__():
    return sorted(__all__)
