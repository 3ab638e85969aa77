"""Functions that make constraint sets: one per registered set, and `custom` for an oracle in Python."""

import numpy as np

from . import _registry
from ._arrays import vector
from ._core import Set

__all__ = ["Set", "custom", "from_spec"]


def from_spec(spec, dim=None):
    """Makes a set from its spec.

    Parameters
    ----------
    spec : str
        The spec, for example ``"lp:p=1.5,dim=10"``. `extremal list sets` shows all sets.
    dim : int, optional
        The dimension, if the spec does not include it.
    """
    return Set(spec, dim)


def custom(oracle, *, dim, diameter, norm_bound=None, inner_radius=None, strong_convexity=None,
           centre=None, violation=None, name="custom"):
    """Makes a set from a Python function.

    Parameters
    ----------
    oracle : callable
        A function of a direction, which is a float64 array. The function returns a point v of the set
        that minimises ``direction @ v``, as an array of the same length. An approximate oracle returns
        ``(v, floor)``, where ``floor`` is a lower bound on ``direction @ u`` for all points u of the
        set. Certificates use this bound. If the oracle raises an exception, the learner's method raises
        it too, and the learner does not change.
    dim : int
        The dimension.
    diameter : float
        The ℓ2 diameter D, or an upper bound.
    norm_bound : float, optional
        The largest ℓ2 norm of a point, or an upper bound; the diameter D by default.
    inner_radius, strong_convexity : float, optional
        The radius of a ball around the centre that lies inside the set, and the set's constant of
        strong convexity. Leave them out if they are unknown.
    centre : array, optional
        The point of the set that learners start from; 0 by default.
    violation : callable, optional
        A function of a point. It returns how far the point lies outside the set, relative to the set's
        size, and 0 for a point inside.
    name : str, default "custom"
        The name of the set in messages.

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
    """Makes a composite set if one of the combined sets calls a Python function and has no spec.
    Otherwise returns None."""
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
    about={"dim": ("int, optional", "The dimension; required unless another parameter determines it.")},
    instead=lambda name, given: _composed(name, given) if "set" in given or "sets" in given else None,
)
globals().update(_made)
__all__ += list(_made)


def __dir__():
    return sorted(__all__)
