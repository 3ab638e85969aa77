"""Losses of a prediction ⟨a, x⟩ and a label, made from the registry."""

from functools import lru_cache

from . import _registry
from ._core import Loss

__all__ = ["Loss", "from_spec"]


def from_spec(spec):
    """A loss from its spec.

    Parameters
    ----------
    spec : str or Loss
        As `extremal list losses` has it, ``"huber:delta=1"``. A loss is given back as it is.
    """
    if isinstance(spec, Loss):
        return spec
    if not isinstance(spec, str):
        raise TypeError(f"a loss or its spec, not {spec!r}")
    return _kept(spec) if len(spec) < 100 else Loss(spec)


_kept = lru_cache(maxsize=64)(Loss)  # nobody can change one


_made = _registry.make("losses", __name__, Loss)
globals().update(_made)
__all__ += list(_made)


def __dir__():
    return sorted(__all__)
