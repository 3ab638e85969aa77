"""Functions that make losses, one per registered loss. A loss depends on a prediction ⟨a, x⟩ and a label."""

from functools import lru_cache

from . import _registry
from ._core import Loss

__all__ = ["Loss", "from_spec"]


def from_spec(spec):
    """Makes a loss from its spec.

    Parameters
    ----------
    spec : str or Loss
        The spec, for example ``"huber:delta=1"``. `extremal list losses` shows all losses. A Loss is
        returned unchanged.
    """
    if isinstance(spec, Loss):
        return spec
    if not isinstance(spec, str):
        raise TypeError(f"loss must be a Loss or its spec, not {spec!r}")
    return _kept(spec) if len(spec) < 100 else Loss(spec)


_kept = lru_cache(maxsize=64)(Loss)  # losses are immutable


_made = _registry.make("losses", __name__, Loss)
globals().update(_made)
__all__ += list(_made)


def __dir__():
    return sorted(__all__)
