"""Synthetic streams."""

# Written by python/tools/make_stubs.py from the registry.

from typing import Literal

from ._core import Stream

__all__ = [
    "Stream",
    "from_spec",
    "drift",
    "noise",
    "alternating",
    "adversary",
    "regression",
    "classification",
    "zipf",
    "rotating",
    "switching",
    "heavy_tailed",
    "scale_jump",
    "duplicated",
]

def from_spec(spec: str, dim: int, seed: int = 0) -> Stream: ...
def drift(
    dim: int,
    *,
    mean: float | None = None,
    noise: float | None = None,
    seed: int = 0,
) -> Stream: ...
def noise(dim: int, *, seed: int = 0) -> Stream: ...
def alternating(dim: int, *, seed: int = 0) -> Stream: ...
def adversary(
    dim: int,
    *,
    kind: Literal["along", "sign", "orthogonal"] | None = None,
    seed: int = 0,
) -> Stream: ...
def regression(
    dim: int,
    *,
    norm: float | None = None,
    noise: float | None = None,
    seed: int = 0,
) -> Stream: ...
def classification(dim: int, *, norm: float | None = None, seed: int = 0) -> Stream: ...
def zipf(
    dim: int,
    *,
    nonzeros: int | None = None,
    exponent: float | None = None,
    weight: float | None = None,
    seed: int = 0,
) -> Stream: ...
def rotating(
    dim: int,
    *,
    kind: Literal["regression", "linear"] | None = None,
    period: int | None = None,
    norm: float | None = None,
    noise: float | None = None,
    seed: int = 0,
) -> Stream: ...
def switching(
    dim: int,
    *,
    every: int | None = None,
    norm: float | None = None,
    noise: float | None = None,
    seed: int = 0,
) -> Stream: ...
def heavy_tailed(
    dim: int,
    *,
    law: Literal["pareto", "student"] | None = None,
    index: float | None = None,
    seed: int = 0,
) -> Stream: ...
def scale_jump(
    dim: int,
    *,
    factor: float | None = None,
    every: int | None = None,
    seed: int = 0,
) -> Stream: ...
def duplicated(
    dim: int,
    *,
    copies: int | None = None,
    norm: float | None = None,
    noise: float | None = None,
    seed: int = 0,
) -> Stream: ...
