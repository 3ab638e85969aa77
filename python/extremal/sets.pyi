"""Constraint sets."""

# Written by python/tools/make_stubs.py from the registry.

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import Set

__all__ = [
    "Set",
    "custom",
    "from_spec",
    "l2",
    "lp",
    "l1",
    "box",
    "simplex",
    "capped_simplex",
    "k_sparse",
    "k_support",
    "hypercube",
    "permutahedron",
    "ellipsoid",
    "group",
    "elastic_net",
    "hull",
    "product",
    "translate",
    "scale",
    "sum",
    "image",
    "unit_free",
]

def from_spec(spec: str, dim: int | None = None) -> Set: ...
def custom(
    oracle: Callable[[NDArray[np.float64]], ArrayLike | tuple[ArrayLike, float]],
    *,
    dim: int,
    diameter: float,
    norm_bound: float | None = None,
    inner_radius: float | None = None,
    strong_convexity: float | None = None,
    centre: ArrayLike | None = None,
    violation: Callable[[NDArray[np.float64]], float] | None = None,
    name: str = "custom",
) -> Set: ...
def l2(*, radius: float | None = None, dim: int | None = None) -> Set: ...
def lp(*, p: float | None = None, radius: float | None = None, dim: int | None = None) -> Set: ...
def l1(*, radius: float | None = None, dim: int | None = None) -> Set: ...
def box(
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    dim: int | None = None,
) -> Set: ...
def simplex(
    *,
    total: float | None = None,
    at_most: bool | None = None,
    dim: int | None = None,
) -> Set: ...
def capped_simplex(*, total: float | None = None, dim: int | None = None) -> Set: ...
def k_sparse(
    *,
    k: int | None = None,
    radius: float | None = None,
    dim: int | None = None,
) -> Set: ...
def k_support(
    *,
    k: int | None = None,
    radius: float | None = None,
    dim: int | None = None,
) -> Set: ...
def hypercube(
    *,
    radius: float | None = None,
    centred: bool | None = None,
    dim: int | None = None,
) -> Set: ...
def permutahedron(*, weights: ArrayLike | None = None, dim: int | None = None) -> Set: ...
def ellipsoid(
    *,
    axes: ArrayLike | None = None,
    matrix: ArrayLike | None = None,
    centre: ArrayLike | None = None,
    dim: int | None = None,
) -> Set: ...
def group(
    *,
    s: float | None = None,
    p: float | None = None,
    radius: float | None = None,
    groups: Sequence[Sequence[int]] | None = None,
    size: int | None = None,
    dim: int | None = None,
) -> Set: ...
def elastic_net(
    *,
    omega: float | None = None,
    tau: float | None = None,
    dim: int | None = None,
) -> Set: ...
def hull(*, points: ArrayLike | None = None) -> Set: ...
def product(*, sets: Sequence[Set | str] | None = None) -> Set: ...
def translate(*, by: ArrayLike | None = None, set: Set | str | None = None) -> Set: ...
def scale(*, by: float | None = None, set: Set | str | None = None) -> Set: ...
def sum(*, sets: Sequence[Set | str] | None = None) -> Set: ...
def image(*, matrix: ArrayLike | None = None, set: Set | str | None = None) -> Set: ...
def unit_free(*, radius: float | None = None, dim: int | None = None) -> Set: ...
