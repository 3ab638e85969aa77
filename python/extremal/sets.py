"""Constraint sets, made from the registry; and sets of your own, from an oracle in Python."""

import numpy as np

from . import _registry
from ._arrays import vector
from ._core import Set

__all__ = ["Set", "custom", "from_spec"]


def from_spec(spec, dim=None):
    """A set from its spec.

    Parameters
    ----------
    spec : str
        As `extremal list sets` has it, ``"lp:p=1.5,dim=10"``.
    dim : int, optional
        The dimension, where the spec does not tell it.
    """
    return Set(spec, dim)


def custom(oracle, *, dim, diameter, norm_bound=None, inner_radius=None, strong_convexity=None,
           centre=None, violation=None, name="custom"):
    """A set from a Python function.

    Parameters
    ----------
    oracle : callable
        Given a direction, a float64 array, returns a point v of the set that minimises
        ``direction @ v``: any array of that length. An oracle that only comes near the minimum
        returns ``(v, floor)``, where no point of the set is below ``floor``; certificates then use
        the floor. What it raises comes out of the learner's call, which then has changed nothing.
    dim : int
        The dimension.
    diameter : float
        The ℓ2 diameter D, or more.
    norm_bound : float, optional
        The largest ℓ2 norm of a point; D if left out.
    inner_radius, strong_convexity : float, optional
        Where they are known.
    centre : array, optional
        A point of the set to start from; 0 if left out.
    violation : callable, optional
        Given a point, how far outside it is, relative to the set's size.
    name : str, default "custom"
        What it is called in messages.

    Examples
    --------
    >>> import extremal as ex
    >>> import numpy as np
    >>> def corner(direction):
    ...     return np.eye(4)[direction.argmin()]
    >>> simplex = ex.sets.custom(corner, dim=4, diameter=2**0.5, centre=np.full(4, 0.25))
    >>> simplex.minimise(np.array([3.0, 1.0, 2.0, 0.0]))
    array([0., 0., 0., 1.])
    """
    return Set.custom(oracle, dim=dim, diameter=diameter, norm_bound=norm_bound,
                      inner_radius=inner_radius, strong_convexity=strong_convexity, centre=centre,
                      violation=violation, name=name)


def _composed(name, given):
    """A set made of others of which some have no spec, as a Python function is in them."""
    parts = given["set"] if given.get("sets") is None else given["sets"]
    parts = parts if isinstance(parts, (list, tuple)) else [parts]
    if not any(isinstance(part, Set) and part.spec is None for part in parts):
        return None
    parts = [part if isinstance(part, Set) else Set(part.removeprefix("(").removesuffix(")")) for part in parts]
    numbers = given.get("by") if given.get("matrix") is None else given["matrix"]
    numbers = vector(np.ravel([] if numbers is None else numbers), "numbers")
    if name == "translate" and len(numbers) == 1:
        numbers = np.full(parts[0].dim, numbers[0])
    return Set.composed(name, parts, numbers)


_made = _registry.make(
    "sets", __name__, lambda spec: Set(spec),
    about={"dim": ("int, optional", "The dimension; needed where nothing else tells it.")},
    instead=lambda name, given: _composed(name, given) if "set" in given or "sets" in given else None,
)
globals().update(_made)
__all__ += list(_made)


def __dir__():
    return sorted(__all__)
